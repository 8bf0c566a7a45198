"""f16, bf16 and their packed pairs: arithmetic in a wider format, rounded once.

Source: PTX ISA, "Half Precision Floating-Point Instructions" and the half forms of min, max, ex2 and tanh.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.floats import extreme, saturate
from softlab.emulator.opcodes.formats import NARROW, WIDEN, cut_bf16, cut_f16, nudged, relu
from softlab.emulator.opcodes.forms import Form, binary, pure, select, ternary, unary
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


def _in_float32(function: Callable, element: str) -> Callable:
    """``function`` of float32, on a 16-bit format."""
    widen, narrow = WIDEN[element], NARROW[element]
    return lambda *sources: narrow(function(*(widen(source) for source in sources)))


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


_HalfMeaning = Callable[[Form, str], Semantics]


def for_halves(*opcodes: str) -> Callable[[_HalfMeaning], _HalfMeaning]:
    """Register a meaning for f16 and bf16, and, packed, for f16x2 and bf16x2."""

    def register(meaning: _HalfMeaning) -> _HalfMeaning:
        def lower(form: Form) -> Semantics:
            name = form.one_type()
            element = name.removesuffix("x2")
            semantics = meaning(form, element)
            if name == element:
                return semantics
            return Semantics(
                packed(semantics.function, element),
                ("b32",) * len(semantics.sources),
                ("b32",) * len(semantics.results),
            )

        pure(*opcodes, types=_HALF_AND_PAIRS)(lower)
        return meaning

    return register


@for_halves("add", "sub", "mul")
def _arithmetic(form: Form, element: str) -> Semantics:
    form.one_of("rn", default="rn")
    return binary(finish_half(form, _in_float32(_ARITHMETIC[form.opcode], element), element), element)


@for_halves("fma")
def _fused(form: Form, element: str) -> Semantics:
    form.one_of("rn")
    return ternary(finish_half(form, _in_float32(_fma, element), element), element)


@for_halves("abs", "neg")
def _sign(form: Form, element: str) -> Semantics:
    change: Callable = (lambda a: a & _MAGNITUDE) if form.opcode == "abs" else (lambda a: a ^ _SIGN)
    infinity = _INFINITY[element]

    def function(a):
        bits = a.view(_U16)
        size = bits & _MAGNITUDE
        result = change(bits)
        return (select(size > infinity, _MAGNITUDE, result) if size.max() > infinity else result).view(a.dtype)

    if form.flag("ftz") and element == "f16":
        return unary(lambda a: function(flush_f16(a)), element)
    return unary(function, element)


@for_halves("min", "max")
def _extreme(form: Form, element: str) -> Semantics:
    function = _in_float32(extreme(form.opcode, "f32", form.flag("NaN")), element)
    if form.flag("xorsign"):
        form.one_of("abs")
        magnitude = function

        def function(a, b):
            a_bits, b_bits = a.view(_U16), b.view(_U16)
            size = magnitude((a_bits & _U16(0x7FFF)).view(a.dtype), (b_bits & _U16(0x7FFF)).view(b.dtype))
            return (size.view(_U16) | ((a_bits ^ b_bits) & _U16(0x8000))).view(a.dtype)

    return binary(finish_half(form, function, element), element)


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
