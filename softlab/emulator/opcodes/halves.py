"""f16, bf16 and their packed pairs: arithmetic in a wider format, rounded once.

Source: PTX ISA, "Half Precision Floating-Point Instructions" and the half forms of min, max, ex2 and tanh.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from softlab.emulator.opcodes.emitter import Emitter, Native, NativeForm
from softlab.emulator.opcodes.floats import extreme, native_extreme, saturate
from softlab.emulator.opcodes.formats import NARROW, WIDEN, cut_bf16, cut_f16, nudged, relu
from softlab.emulator.opcodes.forms import Form, binary, pure, select, ternary, unary
from softlab.emulator.opcodes.native_formats import (
    NATIVE_NARROW,
    NATIVE_WIDEN,
    native_flush_f16,
    native_nudged,
    native_pair,
    native_relu,
)
from softlab.emulator.opcodes.parts import packed
from softlab.emulator.opcodes.registry import Semantics

_HALF_AND_PAIRS = ("f16", "bf16", "f16x2", "bf16x2")
_U16 = np.uint16
_MAGNITUDE, _SIGN = np.uint16(0x7FFF), np.uint16(0x8000)
_INFINITY = {"f16": np.uint16(0x7C00), "bf16": np.uint16(0x7F80)}


def flush_f16(a):
    """A float16 with subnormals as zeros of their sign."""
    bits = a.view(_U16)
    normal = (bits & _U16(0x7C00)) != 0
    return (np.multiply(bits & _U16(0x7FFF), normal) | (bits & _U16(0x8000))).view(np.float16)


def _flush_bf16(a):
    normal = (a & _INFINITY["bf16"]) != 0
    return np.multiply(a & _MAGNITUDE, normal) | (a & _SIGN)


def _add(a, b):
    # 24 bits are more than twice 11, or 8, and two: rounding twice is rounding once.
    return a + b


def _sub(a, b):
    return a - b


def _mul(a, b):
    # Not in float32: there a product of two small bf16 may be subnormal and round.
    return nudged(np.multiply(a, b, dtype=np.float64))


def _fma(a, b, c):
    return nudged(np.multiply(a, b, dtype=np.float64), c)


#: Functions of float32 that hold f16 or bf16, giving float32 that rounds to those formats as the exact result does.
_ARITHMETIC: dict[str, Callable] = {"add": _add, "sub": _sub, "mul": _mul, "fma": _fma}


def _native_mul(e: Emitter, a: Native, b: Native) -> Native:
    return native_nudged(e, e.fmul(e.fpext(a, e.double()), e.fpext(b, e.double())))


def _native_fma(e: Emitter, a: Native, b: Native, c: Native) -> Native:
    a, b, c = (e.fpext(one, e.double()) for one in (a, b, c))
    return native_nudged(e, e.fmul(a, b), c)


#: The compiled forms of ``_ARITHMETIC``.
NATIVE_ARITHMETIC: dict[str, NativeForm] = {
    "add": lambda e, a, b: e.fadd(a, b), "sub": lambda e, a, b: e.fsub(a, b), "mul": _native_mul, "fma": _native_fma,
}  # fmt: skip


def _in_float32(function: Callable, element: str) -> Callable:
    """``function`` of float32, on a 16-bit format."""
    widen, narrow = WIDEN[element], NARROW[element]
    return lambda *sources: narrow(function(*(widen(source) for source in sources)))


def _native_in_float32(native: NativeForm, element: str) -> NativeForm:
    """The compiled form of :func:`_in_float32`."""
    widen, narrow = NATIVE_WIDEN[element], NATIVE_NARROW[element]
    return lambda e, *sources: narrow(e, native(e, *(widen(e, source) for source in sources)))


def finish_half(form: Form, function: Callable, element: str) -> Callable:
    """Wrap ``function`` in what the instruction's .ftz, .sat and .relu ask for."""
    if form.flag("ftz"):
        if element != "f16":
            raise NotImplementedError(".ftz is for f16")
        inner = function

        def function(*sources):
            return flush_f16(inner(*(flush_f16(source) for source in sources)))

    if form.flag("sat"):
        if element == "bf16":
            raise NotImplementedError(".sat is for f16")
        unclamped = function

        def function(*sources):
            return saturate(unclamped(*sources))

    return relu(function) if form.flag("relu") else function


def _finish_native(form: Form, native: NativeForm, element: str) -> NativeForm:
    """The compiled form of what :func:`finish_half` gives; it reads the modifiers and takes none."""
    ftz, sat, positive = (name in form.instruction.modifiers for name in ("ftz", "sat", "relu"))

    def apply(e: Emitter, *sources: Native) -> Native:
        result = native(e, *(native_flush_f16(e, source) if ftz else source for source in sources))
        result = native_flush_f16(e, result) if ftz else result
        if sat:
            result = NATIVE_NARROW[element](e, e.saturate(NATIVE_WIDEN[element](e, result)))
        return native_relu(e, result) if positive else result

    return apply


_HalfMeaning = Callable[[Form, str], Semantics]
#: An operation that widens, computes and rounds takes about as long as this many opcodes to compile, and longer in
#: NumPy; abs and neg only change bits.
_WEIGHT, _WEIGHT_OF_SIGN = 10, 2


def for_halves(*opcodes: str) -> Callable[[_HalfMeaning], _HalfMeaning]:
    """Register a meaning for f16 and bf16, and, packed, for f16x2 and bf16x2."""

    def register(meaning: _HalfMeaning) -> _HalfMeaning:
        def lower(form: Form) -> Semantics:
            name = form.one_type()
            element = name.removesuffix("x2")
            weight = _WEIGHT_OF_SIGN if form.opcode in ("abs", "neg") else _WEIGHT
            semantics = replace(meaning(form, element), weight=weight)
            if name == element:
                return semantics
            return Semantics(
                packed(semantics.function, element),
                ("b32",) * len(semantics.sources),
                ("b32",) * len(semantics.results),
                native=None if semantics.native is None else native_pair(semantics.native),
                weight=weight,
            )

        pure(*opcodes, types=_HALF_AND_PAIRS)(lower)
        return meaning

    return register


@for_halves("add", "sub", "mul")
def _arithmetic(form: Form, element: str) -> Semantics:
    form.one_of("rn", default="rn")
    native = _finish_native(form, _native_in_float32(NATIVE_ARITHMETIC[form.opcode], element), element)
    return binary(finish_half(form, _in_float32(_ARITHMETIC[form.opcode], element), element), element, native=native)


@for_halves("fma")
def _fused(form: Form, element: str) -> Semantics:
    form.one_of("rn")
    native = _finish_native(form, _native_in_float32(_native_fma, element), element)
    return ternary(finish_half(form, _in_float32(_fma, element), element), element, native=native)


@for_halves("abs", "neg")
def _sign(form: Form, element: str) -> Semantics:
    change: Callable = (lambda a: a & _MAGNITUDE) if form.opcode == "abs" else (lambda a: a ^ _SIGN)
    infinity = _INFINITY[element]

    def function(a):
        bits = a.view(_U16)
        size = bits & _MAGNITUDE
        result = change(bits)
        return (select(size > infinity, _MAGNITUDE, result) if size.max() > infinity else result).view(a.dtype)

    ftz = form.flag("ftz") and element == "f16"
    native = _native_sign(form.opcode, int(infinity), ftz)
    return unary((lambda a: function(flush_f16(a))) if ftz else function, element, native=native)


def _native_sign(opcode: str, infinity: int, ftz: bool) -> NativeForm:
    """The compiled form of abs and neg."""

    def apply(e: Emitter, a: Native) -> Native:
        bits = native_flush_f16(e, a) if ftz else a
        size = e.and_(bits, bits.type(0x7FFF))
        result = size if opcode == "abs" else e.xor(bits, bits.type(0x8000))
        return e.select(e.icmp_unsigned(">", size, bits.type(infinity)), bits.type(0x7FFF), result)

    return apply


@for_halves("min", "max")
def _extreme(form: Form, element: str) -> Semantics:
    propagates = form.flag("NaN")
    function = _in_float32(extreme(form.opcode, "f32", propagates), element)
    native = _native_in_float32(native_extreme(form.opcode, propagates), element)
    if form.flag("xorsign"):
        form.one_of("abs")
        magnitude, native = function, _native_signed(native)

        def function(a, b):
            a_bits, b_bits = a.view(_U16), b.view(_U16)
            size = magnitude((a_bits & _U16(0x7FFF)).view(a.dtype), (b_bits & _U16(0x7FFF)).view(b.dtype))
            return (size.view(_U16) | ((a_bits ^ b_bits) & _U16(0x8000))).view(a.dtype)

    finished = _finish_native(form, native, element)
    return binary(finish_half(form, function, element), element, native=finished)


def _native_signed(native: NativeForm) -> NativeForm:
    """The compiled form of .xorsign.abs: of magnitudes, with the signs' product."""

    def apply(e: Emitter, a: Native, b: Native) -> Native:
        size = native(e, *(e.and_(one, one.type(0x7FFF)) for one in (a, b)))
        return e.or_(size, e.and_(e.xor(a, b), a.type(0x8000)))

    return apply


# The bits after the point of a source that hardware sees in ex2.
_EX2_UNIT = 2.0**23


def _ex2(a):
    return np.exp2(np.trunc(a.astype(np.float64) * _EX2_UNIT) / _EX2_UNIT)


def _tanh(a):
    return np.tanh(a, dtype=np.float64).astype(np.float32).astype(np.float64)


_APPROXIMATE: dict[str, Callable] = {"ex2": _ex2, "tanh": _tanh}
_CUT: dict[str, Callable] = {"f16": cut_f16, "bf16": cut_bf16}
_FLUSH: dict[str, Callable] = {"f16": flush_f16, "bf16": _flush_bf16}


@for_halves("ex2", "tanh")
def _approximate(form: Form, element: str) -> Semantics:
    """Cut to 16 bits, as hardware does: on an H200 ex2 is the same in all lanes, tanh in 99 %."""
    form.one_of("approx")
    function, widen, cut = _APPROXIMATE[form.opcode], WIDEN[element], _CUT[element]
    if form.flag("ftz"):
        flushed = _FLUSH[element]
        return unary(lambda a: flushed(cut(function(widen(flushed(a))))), element)
    return unary(lambda a: cut(function(widen(a))), element)
