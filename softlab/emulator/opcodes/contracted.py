"""Opcodes that no PTX has: what the assembler makes of a product and what follows it (``machine/contraction.py``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from softlab.emulator.opcodes import rounding
from softlab.emulator.opcodes.approximate import INTERPOLATION, native_quotient_factors, quotient_factors, reciprocals
from softlab.emulator.opcodes.emitter import Emitter, Native, NativeForm
from softlab.emulator.opcodes.floats import finish, finish_native, flush
from softlab.emulator.opcodes.forms import Form, binary, pure
from softlab.emulator.opcodes.registry import PURE, Semantics
from softlab.emulator.ptx.syntax import Instruction

#: Divisions that are the product of the dividend and the divisor's reciprocal.
QUOTIENTS = ("approx", "full")
#: By what the machine code's FMUL multiplies a product before it rounds it.
SCALES = {"D8": 1 / 8, "D4": 1 / 4, "D2": 1 / 2, "M2": 2.0, "M4": 4.0, "M8": 8.0}
#: Types that are held as bits, and their signs.
_SIGNS = {"f16x2": np.uint32(0x80008000), "bf16x2": np.uint32(0x80008000), "bf16": np.uint16(0x8000)}
#: Kind -> whether a and c have their signs changed in ``a * b + c``.
_CHANGED = {"sum": (False, False), "minuend": (False, True), "subtrahend": (True, False), "negative": (True, True)}


@PURE.opcode("contracted")
def _contracted(instruction: Instruction) -> Semantics:
    """``a * b + c``, ``a * b - c``, ``c - a * b`` or ``-a * b - c``, rounded once.

    With ``.approx`` or ``.full`` the product is a quotient, whose second factor is a reciprocal.
    """
    kind, *modifiers = instruction.modifiers
    division = next((modifier for modifier in modifiers if modifier in QUOTIENTS), None)
    modifiers = [modifier for modifier in modifiers if modifier not in QUOTIENTS]
    fused = PURE.lower(replace(instruction, opcode="fma", modifiers=("rn", *modifiers)))
    sign = _SIGNS.get(modifiers[-1])
    negative = np.negative if sign is None else lambda a: a ^ sign
    change_a, change_c = _CHANGED[kind]
    function = _with_signs(fused.function, negative if change_a else None, negative if change_c else None)
    native = _native_with_signs(fused.native, change_a, change_c)
    if division is None:
        return replace(fused, function=function, native=native)
    flushes = "ftz" in modifiers
    inverse_of, native_inverse_of = reciprocals(instruction.operands[2])
    function = _of_quotient(function, division, flushes, inverse_of)
    native = _native_of_quotient(native, division, flushes, native_inverse_of)
    return replace(fused, function=function, native=native, weight=INTERPOLATION)


def _of_quotient(function: Callable, division: str, flushes: bool, inverse_of: Callable) -> Callable:
    factors = quotient_factors(division == "full")

    def apply(a, b, c):
        if flushes:
            a, b = flush(a), flush(b)
        return function(*factors(a, b, inverse_of(b)), c)

    return apply


def _native_of_quotient(
    native: NativeForm | None, division: str, flushes: bool, inverse_of: Callable[[Emitter, Native], Native]
) -> NativeForm | None:
    if native is None:
        return None
    factors = native_quotient_factors(division == "full")

    def apply(e: Emitter, a: Native, b: Native, c: Native) -> Native:
        if flushes:
            a, b = e.flush(a), e.flush(b)
        return native(e, *factors(e, a, b, inverse_of(e, b)), c)

    return apply


def _with_signs(function: Callable, change_a: Callable | None, change_c: Callable | None) -> Callable:
    if change_a is None and change_c is None:
        return function
    if change_a is None:
        return lambda a, b, c: function(a, b, change_c(c))  # type: ignore[misc]
    if change_c is None:
        return lambda a, b, c: function(change_a(a), b, c)
    return lambda a, b, c: function(change_a(a), b, change_c(c))


def _native_with_signs(native: NativeForm | None, change_a: bool, change_c: bool) -> NativeForm | None:
    if native is None or not (change_a or change_c):
        return native
    return lambda e, a, b, c: native(e, e.fneg(a) if change_a else a, b, e.fneg(c) if change_c else c)


@pure("scaled", types=("f32",))
def _scaled(form: Form) -> Semantics:
    """A product of a power of two and two floats, rounded once (``machine/contraction.py``): exact in float64."""
    scale = SCALES[form.one_of(*SCALES)]

    def native(e: Emitter, a: Native, b: Native) -> Native:
        a, b = (e.fpext(value, e.double()) for value in (a, b))
        return e.fptrunc(e.fmul(e.fmul(a, b), a.type(scale)), e.float())

    function = finish(form, rounding.scaled_mul_f32("rn", scale), lambda a, b: a * b * scale)
    compiled = None if "ftz" in form.instruction.modifiers else finish_native(form, native)
    return binary(function, "f32", native=compiled)
