"""Integer arithmetic. It wraps, as two's complement does.

Source: PTX ISA, "Integer Arithmetic Instructions". Operations whose low bits do not depend on the sign (add, sub,
mul.lo, mad.lo, neg) are stated on untyped registers, so that no reinterpretation is needed between them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.carry import multiply_add_with_carry, with_carry_out
from softlab.emulator.opcodes.emitter import Emitter, Native, NativeForm
from softlab.emulator.opcodes.forms import (
    INTEGER_PAIRS,
    INTEGERS,
    Form,
    binary,
    bits_type,
    dtype_of,
    pure,
    ternary,
    unary,
    width,
)
from softlab.emulator.opcodes.parts import WIDE, high_product, packed, parts
from softlab.emulator.opcodes.registry import Semantics

_S32 = np.iinfo(np.int32)
_WRAPPING = {"add": np.add, "sub": np.subtract}
_EXTREMES = {"min": np.minimum, "max": np.maximum}
_NATIVE_WRAPPING: dict[str, NativeForm] = {
    "add": lambda e, a, b: e.add(a, b),
    "sub": lambda e, a, b: e.sub(a, b),
}


def _saturated(wide: np.ndarray) -> np.ndarray:
    """64-bit sums as s32, clamped."""
    return np.minimum(np.maximum(wide, _S32.min), _S32.max).astype(np.int32)


@pure("add", "sub", types=INTEGERS)
def _add(form: Form) -> Semantics:
    if form.flag("cc"):
        return with_carry_out(form)
    operation = _WRAPPING[form.opcode]
    if form.flag("sat"):
        if form.one_type() != "s32":
            raise NotImplementedError(".sat is for s32")
        return binary(lambda a, b: _saturated(operation(a, b, dtype=np.int64)), "s32")
    return binary(operation, bits_type(form.one_type()), native=_NATIVE_WRAPPING[form.opcode])


@pure("add", "sub", types=INTEGER_PAIRS)
def _add_pairs(form: Form) -> Semantics:
    return binary(packed(_WRAPPING[form.opcode], "u16"), "b32")


@pure("mul", types=INTEGERS)
def _mul(form: Form) -> Semantics:
    name = form.one_type()
    part = form.one_of("lo", "hi", "wide")
    if part == "lo":
        return binary(np.multiply, bits_type(name), native=lambda e, a, b: e.mul(a, b))
    if part == "hi":
        return binary(high_product(name), name, native=_native_high(name))
    wide = _wide_type(name)
    dtype = dtype_of(wide)
    return binary(lambda a, b: np.multiply(a, b, dtype=dtype), name, wide, native=_native_wide(name))


def _native_wide(name: str) -> NativeForm:
    """The full product."""
    bits, signed = width(name), name[0] == "s"
    return lambda e, a, b: e.mul(e.resized(a, 2 * bits, signed), e.resized(b, 2 * bits, signed))


def _native_high(name: str) -> NativeForm:
    """The upper half of the product."""
    bits, wide = width(name), _native_wide(name)

    def high(e: Emitter, a: Native, b: Native) -> Native:
        product = wide(e, a, b)
        return e.trunc(e.lshr(product, product.type(bits)), a.type)

    return high


def _wide_type(name: str) -> str:
    if name not in WIDE:
        raise NotImplementedError(f".wide has no {name}")
    return WIDE[name]


@pure("mad", types=INTEGERS)
def _mad(form: Form) -> Semantics:
    if form.flag("cc"):
        return multiply_add_with_carry(form, carry_in=False, carry_out=True)
    name = form.one_type()
    part = form.one_of("lo", "hi", "wide")
    if part == "lo":
        return ternary(
            lambda a, b, c: np.multiply(a, b) + c, bits_type(name), native=lambda e, a, b, c: e.add(e.mul(a, b), c)
        )
    if part == "hi":
        high = high_product(name)
        if form.flag("sat"):
            if name != "s32":
                raise NotImplementedError(".sat is for s32")
            return ternary(lambda a, b, c: _saturated(np.add(high(a, b), c, dtype=np.int64)), name)
        native_high = _native_high(name)
        return ternary(lambda a, b, c: high(a, b) + c, name, native=lambda e, a, b, c: e.add(native_high(e, a, b), c))
    wide = _wide_type(name)
    dtype = dtype_of(wide)
    native_wide = _native_wide(name)
    return Semantics(
        lambda a, b, c: np.multiply(a, b, dtype=dtype) + c,
        (name, name, wide),
        (wide,),
        native=lambda e, a, b, c: e.add(native_wide(e, a, b), c),
    )


@pure("mul24", "mad24", types=("s32", "u32"))
def _mul24(form: Form) -> Semantics:
    name = form.one_type()
    dtype, wide, eight = dtype_of(name), dtype_of(WIDE[name]), dtype_of(name)(8)
    shift = wide(0 if form.one_of("lo", "hi") == "lo" else 16)

    def product(a, b):
        # Shifting up and down by 8 keeps 24 bits, with their sign where the type has one.
        return (np.multiply((a << eight) >> eight, (b << eight) >> eight, dtype=wide) >> shift).astype(dtype)

    if form.opcode == "mul24":
        return binary(product, name)
    if form.flag("sat"):
        if name != "s32":
            raise NotImplementedError(".sat is for s32")
        return ternary(lambda a, b, c: _saturated(np.add(product(a, b), c, dtype=np.int64)), name)
    return ternary(lambda a, b, c: product(a, b) + c, name)


@pure("sad", types=INTEGERS)
def _sad(form: Form) -> Semantics:
    # The difference of the larger and the smaller wraps to the right bits for every type.
    return ternary(lambda a, b, c: c + (np.maximum(a, b) - np.minimum(a, b)), form.one_type())


def _narrow_quotient(dtype: type[np.generic]) -> Callable:
    # A float64 holds both exactly, and no quotient of integers below 2**32 is within 2**-53 of the next integer.
    return lambda a, b: np.trunc(np.true_divide(a, b, dtype=np.float64)).astype(np.int64).astype(dtype)


def _wide_signed_quotient(a, b):
    return np.floor_divide(a - np.fmod(a, b), b)


@pure("div", "rem", types=INTEGERS)
def _div(form: Form) -> Semantics:
    """Quotient towards zero; the remainder has the dividend's sign.

    By zero PTX leaves the result open. Hardware (H200) gives all ones, for a quotient and for a remainder.
    """
    name = form.one_type()
    dtype = dtype_of(name)
    ones = np.array(-1).astype(dtype)[()]
    if name == "u64":
        quotient: Callable = np.floor_divide
    elif name == "s64":
        quotient = _wide_signed_quotient
    else:
        quotient = _narrow_quotient(dtype)
    remainder = form.opcode == "rem"

    def divide(a, b):
        zero = b == 0
        if not zero.any():
            return np.fmod(a, b) if remainder else quotient(a, b)
        safe = b + zero.astype(dtype)
        return np.where(zero, ones, np.fmod(a, safe) if remainder else quotient(a, safe))[()]

    return binary(divide, name)


@pure("abs", types=("s16", "s32", "s64"))
def _abs(form: Form) -> Semantics:
    return unary(np.abs, form.one_type(), native=lambda e, a: e.select(e.icmp_signed("<", a, a.type(0)), e.neg(a), a))


@pure("neg", types=("s16", "s32", "s64"))
def _neg(form: Form) -> Semantics:
    return unary(np.negative, bits_type(form.one_type()), native=lambda e, a: e.neg(a))


@pure("min", "max", types=INTEGERS)
def _extreme(form: Form) -> Semantics:
    name = form.one_type()
    operation = _EXTREMES[form.opcode]
    if form.flag("relu"):
        if name != "s32":
            raise NotImplementedError(".relu is for s32")
        zero = np.int32(0)
        return binary(lambda a, b: np.maximum(operation(a, b), zero), name)
    order, signed = "lt" if form.opcode == "min" else "gt", name[0] == "s"
    return binary(operation, name, native=lambda e, a, b: e.select(e.compare(order, a, b, signed), a, b))


@pure("min", "max", types=INTEGER_PAIRS)
def _extreme_pairs(form: Form) -> Semantics:
    element = form.one_type().removesuffix("x2")
    operation = _EXTREMES[form.opcode]
    if form.flag("relu"):
        if element != "s16":
            raise NotImplementedError(".relu is for s16x2")
        zero = np.int16(0)
        return binary(packed(lambda a, b: np.maximum(operation(a, b), zero), element), "b32")
    return binary(packed(operation, element), "b32")


@pure("dp4a", "dp2a", types=("s32", "u32"))
def _dot(form: Form) -> Semantics:
    if len(form.types) != 2:
        raise NotImplementedError(f"{form.opcode} needs two types")
    a_type, b_type = form.types
    result = "u32" if (a_type, b_type) == ("u32", "u32") else "s32"
    bytes_of_b = parts(b_type, 4)
    if form.opcode == "dp4a":
        parts_of_a, chosen = parts(a_type, 4), slice(0, 4)
    else:
        parts_of_a = parts(a_type, 2)
        chosen = slice(0, 2) if form.one_of("lo", "hi") == "lo" else slice(2, 4)
    dtype = dtype_of(result)

    def dot(a, b, c):
        total = c.astype(np.int64)
        for left, right in zip(parts_of_a(a), bytes_of_b(b)[chosen], strict=True):
            total = total + left * right
        return total.astype(dtype)

    return Semantics(dot, (a_type, b_type, result), (result,))
