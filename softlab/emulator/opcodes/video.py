"""Video instructions: on parts of a register, and SIMD ones on four bytes or two halves at once.

Source: PTX ISA, "Video Instructions". NVRTC emits ``vabsdiff4``; SIMD forms with masks and selectors are not here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.forms import Form, dtype_of, pure
from softlab.emulator.opcodes.parts import parts
from softlab.emulator.opcodes.registry import Semantics
from softlab.emulator.ptx.syntax import REGISTER_PARTS

_OPERATIONS: dict[str, Callable] = {
    "vadd": np.add,
    "vsub": np.subtract,
    "vavrg": lambda a, b: (a + b + (a + b >= 0)) >> 1,
    "vabsdiff": lambda a, b: np.abs(a - b),
    "vmin": np.minimum,
    "vmax": np.maximum,
}
_OPCODES = tuple(f"{name}{count}" for name in _OPERATIONS for count in (2, 4))


@pure(*_OPCODES, types=("s32", "u32"))
def _simd(form: Form) -> Semantics:
    """``vabsdiff4.u32.u32.u32 d, a, b, c``: with .add the sum of all parts and c, else the parts side by side."""
    if len(form.types) != 3:
        raise NotImplementedError(f"{form.opcode} needs three types")
    result, a_type, b_type = form.types
    operation, count = _OPERATIONS[form.opcode[:-1]], int(form.opcode[-1])
    bits = 32 // count
    split_a, split_b = parts(a_type, count), parts(b_type, count)
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if result == "s32" else (0, (1 << bits) - 1)
    mask = np.int64((1 << bits) - 1)
    saturate, accumulate = form.flag("sat"), form.flag("add")
    dtype = dtype_of(result)

    def apply(a, b, c):
        lanes = [operation(x, y) for x, y in zip(split_a(a), split_b(b), strict=True)]
        if accumulate:
            return sum(lanes, c.astype(np.int64)).astype(dtype)
        if saturate:
            lanes = [np.minimum(np.maximum(lane, low), high) for lane in lanes]
        joined = np.int64(0)
        for index, lane in enumerate(lanes):
            joined = joined | (lane & mask) << np.int64(bits * index)
        return joined.astype(dtype)

    return Semantics(apply, (a_type, b_type, result), (result,))


_WHOLE = (0, 32)
_SCALAR: dict[str, Callable] = {
    **{name: _OPERATIONS[name] for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax")},
    "vshl": lambda a, b: a << b,
    "vshr": lambda a, b: a >> b,
}
_SECOND: dict[str, Callable] = {"add": np.add, "min": np.minimum, "max": np.maximum}


def _part(form: Form, position: int) -> tuple[int, int]:
    """(lowest bit, bits) of the part that an operand names."""
    return next((REGISTER_PARTS[name] for name in REGISTER_PARTS if form.flag(f"{position}.{name}")), _WHOLE)


def _taken(kind: str, part: tuple[int, int]) -> Callable:
    """What takes a part of a register as a number of 64 bits."""
    low, bits = part
    if kind == "u32":
        return lambda a: (a.astype(np.int64) >> np.int64(low)) & np.int64((1 << bits) - 1)
    return lambda a: (a.astype(np.int64) << np.int64(64 - low - bits)) >> np.int64(64 - bits)


def _clamped(kind: str, bits: int) -> Callable:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind == "s32" else (0, (1 << bits) - 1)
    return lambda value: np.minimum(np.maximum(value, np.int64(low)), np.int64(high))


@pure(*_SCALAR, types=("s32", "u32"))
def _scalar(form: Form) -> Semantics:
    """``vadd.s32.u32.s32.sat d.h0, a.b1, b.h1, c``: d is c with a part replaced, or a second operation on c."""
    if len(form.types) != 3:
        raise NotImplementedError(f"{form.opcode} needs three types")
    result, a_type, b_type = form.types
    operation, (low, bits) = _SCALAR[form.opcode], _part(form, 0)
    take_a, take_b = _taken(a_type, _part(form, 1)), _taken(b_type, _part(form, 2))
    limit = _clamped(result, bits) if form.flag("sat") else lambda value: value
    shift = form.one_of("clamp", "wrap") if form.opcode in ("vshl", "vshr") else ""
    second = _SECOND.get(form.one_of(*_SECOND, default=""))
    dtype, wide = dtype_of(result), _taken(result, _WHOLE)
    mask = np.int64((1 << bits) - 1 << low)

    def amount(b):
        return np.minimum(b, 32) if shift == "clamp" else b & 31 if shift else b

    def apply(a, b, *c):
        value = limit(operation(take_a(a), amount(take_b(b))))
        if second is not None:
            value = second(value, wide(c[0]))
        elif c and bits < 32:
            value = (wide(c[0]) & ~mask) | (value << np.int64(low) & mask)
        return (value & np.int64(0xFFFFFFFF)).astype(np.uint32).view(dtype)

    count = len(form.operands) - 1
    if count != (3 if second is not None or bits < 32 else 2):
        raise NotImplementedError(f"{form.opcode} with {count} sources")
    return Semantics(apply, (a_type, b_type, result)[:count], (result,))


@pure("vmad", types=("s32", "u32"))
def _multiply_add(form: Form) -> Semantics:
    """``vmad.s32.s32.u32.shr7 d, -a.h0, b.b1, c``: a product and a sum in 64 bits, scaled."""
    if len(form.types) != 3 or len(form.operands) != 4:
        raise NotImplementedError("vmad needs three types and three sources")
    result, a_type, b_type = form.types
    take_a, take_b = _taken(a_type, _part(form, 1)), _taken(b_type, _part(form, 2))
    minus = [form.flag(f"{position}.minus") for position in (1, 2, 3)]
    one_more = np.int64(form.flag("po"))
    scale = np.int64({"shr7": 7, "shr15": 15, "": 0}[form.one_of("shr7", "shr15", default="")])
    limit = _clamped(result, 32) if form.flag("sat") else lambda value: value
    if _part(form, 0) != _WHOLE or (a_type == b_type == "u32" and minus == [False] * 3 and scale):
        raise NotImplementedError("vmad of these operands")
    take_c = _taken("u32" if a_type == b_type == "u32" and not any(minus) else "s32", _WHOLE)
    dtype = dtype_of(result)

    def apply(a, b, c):
        product, third = take_a(a) * take_b(b), take_c(c)
        if minus[0] != minus[1]:
            product = -product
        if minus[2]:
            third = -third
        value = limit((product + third + one_more) >> scale)
        return (value & np.int64(0xFFFFFFFF)).astype(np.uint32).view(dtype)

    return Semantics(apply, (a_type, b_type, result), (result,))
