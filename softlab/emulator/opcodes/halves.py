"""f16, bf16 and their packed pairs: arithmetic in a wider format, rounded once.

Source: PTX ISA, "Half Precision Floating-Point Instructions" and the half forms of min, max, ex2 and tanh.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.floats import canonical, extreme, saturate
from softlab.emulator.opcodes.formats import ROUND, WIDEN, narrow_bf16, relu, widen_bf16
from softlab.emulator.opcodes.forms import Form, binary, pure, ternary, unary
from softlab.emulator.opcodes.parts import packed
from softlab.emulator.opcodes.rounding import two_sum
from softlab.emulator.registry import Semantics

HALVES = ("f16", "bf16")
_HALF_AND_PAIRS = ("f16", "bf16", "f16x2", "bf16x2")
_U16 = np.uint16
_LOW_HALF, _TIE = np.uint32(0xFFFF), np.uint32(0x8000)


def flush_f16(a):
    """A float16 with subnormals as zeros of their sign."""
    bits = a.view(_U16)
    normal = (bits & _U16(0x7C00)) != 0
    return np.where(normal, bits, bits & _U16(0x8000)).astype(_U16).view(np.float16)[()]


def _narrow_sum_bf16(total, error: Callable):
    """float64 ``total`` plus ``error()``, rounded once to bf16 bits.

    Going through float32 is wrong only where that lands halfway between two bf16; there the rest decides.
    """
    near = total.astype(np.float32)
    bits = near.view(np.uint32)
    suspect = (bits & _LOW_HALF) == _TIE
    if suspect.any():
        rest = total - near
        rest = np.where(rest != 0, rest, error())
        step = np.sign(rest) * np.sign(near)
        bits = bits + np.where(suspect & np.isfinite(step), step, 0).astype(np.int32).view(np.uint32)
    return narrow_bf16(bits.view(np.float32))


def _zero():
    return 0.0


def _mul_bf16(a, b):
    return _narrow_sum_bf16(np.multiply(widen_bf16(a), widen_bf16(b), dtype=np.float64), _zero)


def _fma_bf16(a, b, c):
    product, c = np.multiply(widen_bf16(a), widen_bf16(b), dtype=np.float64), widen_bf16(c)
    return _narrow_sum_bf16(product + c, lambda: two_sum(product, c)[1])


def _fma_f16(a, b, c):
    # The product is exact. Where the sum is not, it lies far from halfway between two float16.
    return (np.multiply(a, b, dtype=np.float64) + c).astype(np.float16)


_ARITHMETIC: dict[tuple[str, str], Callable] = {
    # 24 bits are more than twice 11, or 8, and two: adding in float32 and rounding again is rounding once.
    ("add", "f16"): np.add,
    ("sub", "f16"): np.subtract,
    ("mul", "f16"): np.multiply,
    ("fma", "f16"): _fma_f16,
    ("add", "bf16"): lambda a, b: narrow_bf16(widen_bf16(a) + widen_bf16(b)),
    ("sub", "bf16"): lambda a, b: narrow_bf16(widen_bf16(a) - widen_bf16(b)),
    ("mul", "bf16"): _mul_bf16,
    ("fma", "bf16"): _fma_bf16,
}


def finish_half(form: Form, function: Callable, element: str) -> Callable:
    """Wrap ``function`` in what the instruction's .ftz, .sat and .relu ask for, and hardware's NaN."""
    if form.flag("ftz") and element == "f16":
        inner = function

        def function(*sources):
            return flush_f16(inner(*(flush_f16(source) for source in sources)))

    if form.flag("sat"):
        if element == "bf16":
            raise NotImplementedError(".sat is for f16")
        unclamped = function

        def function(*sources):
            return saturate(unclamped(*sources))

    if element == "f16":
        function = canonical(function, "f16")
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
    return binary(finish_half(form, _ARITHMETIC[form.opcode, element], element), element)


@for_halves("fma")
def _fused(form: Form, element: str) -> Semantics:
    form.one_of("rn")
    return ternary(finish_half(form, _ARITHMETIC["fma", element], element), element)


def _on_bits(function: Callable) -> Callable:
    return lambda a: function(a.view(_U16)).view(a.dtype)


@for_halves("abs", "neg")
def _sign(form: Form, element: str) -> Semantics:
    change: Callable = (lambda a: a & _U16(0x7FFF)) if form.opcode == "abs" else (lambda a: a ^ _U16(0x8000))
    function = _on_bits(change)
    if form.flag("ftz") and element == "f16":
        return unary(lambda a: function(flush_f16(a)), element)
    return unary(function, element)


@for_halves("min", "max")
def _extreme(form: Form, element: str) -> Semantics:
    propagate = form.flag("NaN")
    if element == "f16":
        function = extreme(form.opcode, "f16", propagate)
    else:
        of_float = extreme(form.opcode, "f32", propagate)

        def function(a, b):
            return narrow_bf16(of_float(widen_bf16(a), widen_bf16(b)))

    if form.flag("xorsign"):
        form.one_of("abs")
        magnitude = function

        def function(a, b):
            a_bits, b_bits = a.view(_U16), b.view(_U16)
            size = magnitude((a_bits & _U16(0x7FFF)).view(a.dtype), (b_bits & _U16(0x7FFF)).view(b.dtype))
            return (size.view(_U16) | ((a_bits ^ b_bits) & _U16(0x8000))).view(a.dtype)

    return binary(finish_half(form, function, element), element)


_APPROXIMATE: dict[str, Callable] = {"ex2": np.exp2, "tanh": np.tanh}


@for_halves("ex2", "tanh")
def _approximate(form: Form, element: str) -> Semantics:
    form.one_of("approx")
    function, widen, narrow = _APPROXIMATE[form.opcode], WIDEN[element], ROUND[element]
    return unary(finish_half(form, lambda a: narrow(function(widen(a)), 0.0, "rn"), element), element)
