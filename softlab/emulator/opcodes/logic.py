"""Logic and shifts. Source: PTX ISA, "Logic and Shift Instructions"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.emitter import Emitter, Native, NativeForm, invert
from softlab.emulator.opcodes.forms import BITS, Form, binary, dtype_of, pure, ternary, unary, width
from softlab.emulator.opcodes.registry import Semantics

_LOGIC = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
_NATIVE_LOGIC: dict[str, NativeForm] = {
    "and": lambda e, a, b: e.and_(a, b),
    "or": lambda e, a, b: e.or_(a, b),
    "xor": lambda e, a, b: e.xor(a, b),
}


@pure("and", "or", "xor", types=(*BITS, "pred"))
def _logic(form: Form) -> Semantics:
    return binary(_LOGIC[form.opcode], form.one_type(), native=_NATIVE_LOGIC[form.opcode])


@pure("not", types=(*BITS, "pred"))
def _not(form: Form) -> Semantics:
    return unary(np.invert, form.one_type(), native=invert)


@pure("cnot", types=BITS)
def _cnot(form: Form) -> Semantics:
    name = form.one_type()
    dtype = dtype_of(name)
    return unary(
        lambda a: (a == 0).astype(dtype), name, native=lambda e, a: e.zext(e.icmp_unsigned("==", a, a.type(0)), a.type)
    )


# NumPy's shifts by the width of the type or more give 0, or the sign where it is signed: PTX's clamped shifts.
_SHIFT_TYPES = {"shl": BITS, "shr": (*BITS, "s16", "s32", "s64", "u16", "u32", "u64")}


@pure("shl", types=_SHIFT_TYPES["shl"])
@pure("shr", types=_SHIFT_TYPES["shr"])
def _shift(form: Form) -> Semantics:
    name = form.one_type()
    dtype = dtype_of(name)
    shift = np.left_shift if form.opcode == "shl" else np.right_shift
    constant = form.constant(2)
    if constant is not None:
        by = dtype(min(constant & 0xFFFFFFFF, width(name)))
        return Semantics(lambda a, _: shift(a, by), (name, "u32"), (name,), native=_native_shift(form.opcode, name))
    if name in ("b32", "u32"):
        return Semantics(shift, (name, "u32"), (name,), native=_native_shift(form.opcode, name))
    most = np.uint32(width(name))
    return Semantics(
        lambda a, b: shift(a, np.minimum(b, most).astype(dtype)),
        (name, "u32"),
        (name,),
        native=_native_shift(form.opcode, name),
    )


def _native_shift(opcode: str, name: str) -> NativeForm:
    """LLVM leaves a shift by the width or more open: there it is 0, or the sign."""
    signed, bits = opcode == "shr" and name[0] == "s", width(name)

    def shift(e: Emitter, a: Native, b: Native) -> Native:
        beyond = e.icmp_unsigned(">=", b, b.type(bits))
        by = e.resized(e.select(beyond, b.type(bits - 1), b), bits, False)
        if signed:
            return e.ashr(a, by)
        return e.select(beyond, a.type(0), e.shl(a, by) if opcode == "shl" else e.lshr(a, by))

    return shift


@pure("shf", types=("b32",))
def _funnel(form: Form) -> Semantics:
    form.one_type()
    left = form.one_of("l", "r") == "l"
    wrap = form.one_of("wrap", "clamp") == "wrap"
    bits = np.uint64(32)

    def shift(a, b, c):
        whole = b.astype(np.uint64) << bits | a
        by = (c & np.uint32(31) if wrap else np.minimum(c, np.uint32(32))).astype(np.uint64)
        return ((whole << by) >> bits if left else whole >> by).astype(np.uint32)

    def native(e: Emitter, a: Native, b: Native, c: Native) -> Native:
        wide, thirty_two = e.integer(64), c.type(32)
        whole = e.or_(e.shl(e.zext(b, wide), wide(32)), e.zext(a, wide))
        least = e.select(e.icmp_unsigned("<", c, thirty_two), c, thirty_two)
        by = e.zext(e.and_(c, c.type(31)) if wrap else least, wide)
        return e.trunc(e.lshr(e.shl(whole, by), wide(32)) if left else e.lshr(whole, by), a.type)

    return ternary(shift, "b32", native=native)


# Two-input logic by truth table; bit 2 * a + b of the index is the value at (a, b).
_TWO_INPUTS: tuple[Callable, ...] = (
    lambda a, b: a ^ a,
    lambda a, b: ~(a | b),
    lambda a, b: ~a & b,
    lambda a, b: ~a,
    lambda a, b: a & ~b,
    lambda a, b: ~b,
    lambda a, b: a ^ b,
    lambda a, b: ~(a & b),
    lambda a, b: a & b,
    lambda a, b: ~(a ^ b),
    lambda a, b: b,
    lambda a, b: ~a | b,
    lambda a, b: a,
    lambda a, b: a | ~b,
    lambda a, b: a | b,
    lambda a, b: ~(a ^ a),
)


def three_input_logic(table: int) -> Callable:
    """The function of (a, b, c) whose value at bits (a, b, c) is bit ``4 * a + 2 * b + c`` of ``table``."""
    clear = sum((table >> 2 * index & 1) << index for index in range(4))  # where c is 0
    differs = clear ^ sum((table >> 2 * index + 1 & 1) << index for index in range(4))  # where c changes the value
    base, change = _TWO_INPUTS[clear], _TWO_INPUTS[differs]
    if differs == 0:
        return lambda a, b, c: base(a, b)
    if differs == 15:
        return lambda a, b, c: base(a, b) ^ c
    if clear == 0:
        return lambda a, b, c: change(a, b) & c
    return lambda a, b, c: base(a, b) ^ (change(a, b) & c)


def _native_logic(table: int) -> NativeForm:
    """The table's rows that are true, each as the and of its three inputs."""

    def logic(e: Emitter, a: Native, b: Native, c: Native, _: Native) -> Native:
        result = a.type(0)
        for row in range(8):
            if table >> row & 1:
                inputs = ((a, row & 4), (b, row & 2), (c, row & 1))
                x, y, z = (value if wanted else e.not_(value) for value, wanted in inputs)
                result = e.or_(result, e.and_(e.and_(x, y), z))
        return result

    return logic


@pure("lop3", types=("b32",))
def _lop3(form: Form) -> Semantics:
    form.one_type()
    table = form.constant(4)
    if table is None:
        raise NotImplementedError("lop3 needs an immediate table")
    logic = three_input_logic(table & 0xFF)
    join = {"or": np.logical_or, "and": np.logical_and, "": None}[form.one_of("or", "and", default="")]
    if join is None:
        return Semantics(lambda a, b, c, _: logic(a, b, c), ("b32",) * 4, ("b32",), native=_native_logic(table))

    def with_predicate(a, b, c, _, q):
        value = logic(a, b, c)
        return value, join(value != 0, q)

    return Semantics(with_predicate, ("b32", "b32", "b32", "b32", "pred"), ("b32", "pred"))
