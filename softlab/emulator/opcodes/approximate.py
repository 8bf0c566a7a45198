"""Division, roots and the approximate functions.

Source: PTX ISA, "Floating-Point Instructions", for special values and error bounds. ``ex2`` and ``rcp`` (and with it
``div.approx``) are the hardware's own (:mod:`softlab.emulator.opcodes.special_functions`). Every other ``.approx``
function is the float64 result, in part of :mod:`softlab.emulator.opcodes.series`, brought to float32 by the rule that
agrees best with an H200, within the documented bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from softlab.emulator.opcodes import series
from softlab.emulator.opcodes.emitter import Emitter, Native, NativeForm
from softlab.emulator.opcodes.floats import FLOATS, canonical, finish, finish_native, flush
from softlab.emulator.opcodes.forms import Form, binary, pure, ternary, unary
from softlab.emulator.opcodes.registry import Semantics, SharedPart
from softlab.emulator.opcodes.rounding import MODES, cut_f32, div_f32, div_f64, sqrt_f32, sqrt_f64
from softlab.emulator.opcodes.special_functions import (
    exp2,
    exp2_flushed,
    native_exp2,
    native_exp2_flushed,
    native_reciprocal,
    native_scale,
    native_scaled_reciprocal,
    reciprocal,
    scale_of,
    scaled_reciprocal,
)
from softlab.emulator.ptx.syntax import Immediate, Operand

_ONE = {"f32": np.float32(1), "f64": np.float64(1)}
_DIV = {"f32": div_f32, "f64": div_f64}
_SQRT = {"f32": sqrt_f32, "f64": sqrt_f64}
_LEAST_NORMAL = np.float32(2.0**-126)
_NAN = 0x7FFFFFFF
# A reciprocal beyond this is of a divisor that is 0 or subnormal; one below 1 / this is subnormal, and 0 on hardware.
_LARGE = np.float32(2.0**126)
_UP, _DOWN = np.float32(2.0**24), np.float32(0.25)
#: An interpolation of the special function unit takes about as long as this many opcodes, in NumPy and to compile.
INTERPOLATION = 10
#: The same of a function of :mod:`softlab.emulator.opcodes.series`.
_SERIES = 6


def quotient_factors(scales: bool) -> Callable:
    """``(a, b, inverse) -> two factors whose product is a / b`` as the hardware has it; ``inverse`` is
    :func:`scaled_reciprocal` of b.

    ``scales``: whether it scales a large divisor first (``.full``). Where not (``.approx``), a divisor beyond 2**126
    has a reciprocal of 0: the quotient is 0, and NaN for an infinite dividend.
    """

    def factors(a, b, inverse):
        scale = scale_of(b)
        if scale is None:
            return a, inverse
        whole = inverse * scale
        size = np.abs(whole)
        ordinary = (size <= _LARGE) & (size >= _LEAST_NORMAL)  # NaN fails
        # Where the reciprocal is not, the dividend is scaled as the divisor is.
        scaled = a * np.where(size > _LARGE, _UP, _DOWN)
        dividend, factor = np.where(ordinary, a, scaled), np.where(ordinary, whole, inverse)
        if scales:
            return dividend[()], factor[()]
        large = np.abs(b) > _LARGE
        zero = np.copysign(np.float32(0), b)
        return np.where(large, a, dividend)[()], np.where(large, zero, factor)[()]

    return factors


def native_quotient_factors(scales: bool) -> Callable[[Emitter, Native, Native, Native], tuple[Native, Native]]:
    """The compiled form of :func:`quotient_factors`."""

    def factors(e: Emitter, a: Native, b: Native, inverse: Native) -> tuple[Native, Native]:
        least, largest = b.type(float(_LEAST_NORMAL)), b.type(float(_LARGE))
        whole = e.fmul(inverse, native_scale(e, b))
        size = e.magnitude(whole)
        ordinary = e.and_(e.fcmp_ordered("<=", size, largest), e.fcmp_ordered(">=", size, least))
        scale = e.select(e.fcmp_ordered(">", size, largest), b.type(float(_UP)), b.type(float(_DOWN)))
        dividend, factor = e.select(ordinary, a, e.fmul(a, scale)), e.select(ordinary, whole, inverse)
        if scales:
            return dividend, factor
        large = e.fcmp_ordered(">", e.magnitude(b), largest)
        zero = e.as_float(e.and_(e.bits(b), e.integer(32)(0x80000000)))
        return e.select(large, a, dividend), e.select(large, zero, factor)

    return factors


def _rounded_reciprocal(b):
    """:func:`scaled_reciprocal` of a number in the PTX: the assembler computes it, rounded to nearest."""
    scale = scale_of(b)
    return np.reciprocal(b if scale is None else b * scale)


def _native_rounded_reciprocal(e: Emitter, b: Native) -> Native:
    return e.fdiv(b.type(1.0), e.fmul(b, native_scale(e, b)))


def reciprocals(divisor: Operand) -> tuple[Callable, Callable[[Emitter, Native], Native]]:
    """What gives the scaled reciprocal of this divisor of an approximate division, and its compiled form.

    ptxas 12.9 and 13.0 multiply by a rounded reciprocal where the divisor is a number, as their machine code shows.
    """
    if isinstance(divisor, Immediate):
        return _rounded_reciprocal, _native_rounded_reciprocal
    return scaled_reciprocal, native_scaled_reciprocal


def _divide_approximately(form: Form) -> Semantics:
    """A reciprocal and a quotient. Instructions with one divisor share its reciprocal; with .ftz each makes its own."""
    scales = form.one_of("approx", "full") == "full"
    inverse_of, native_inverse_of = reciprocals(form.operands[2])
    factors, native_factors = quotient_factors(scales), native_quotient_factors(scales)

    def quotient(a, b, inverse):
        return np.multiply(*factors(a, b, inverse))[()]

    def native_quotient(e: Emitter, a: Native, b: Native, inverse: Native) -> Native:
        return e.fmul(*native_factors(e, a, b, inverse))

    def native(e: Emitter, a: Native, b: Native) -> Native:
        return native_quotient(e, a, b, native_inverse_of(e, b))

    whole = finish(form, lambda a, b: quotient(a, b, inverse_of(b)), np.divide)
    semantics = replace(binary(whole, "f32", native=finish_native(form, native, _native_divide)), weight=INTERPOLATION)
    if {"ftz", "sat"}.intersection(form.instruction.modifiers):
        return semantics
    first = unary(inverse_of, "f32", native=native_inverse_of)
    rest = ternary(finish(form, quotient), "f32", native=finish_native(form, native_quotient))
    return replace(semantics, shared=SharedPart(1, replace(first, weight=INTERPOLATION), rest))


@pure("div", types=FLOATS)
def _div(form: Form) -> Semantics:
    name = form.one_type()
    if name == "f32" and {"approx", "full"}.intersection(form.instruction.modifiers):
        return _divide_approximately(form)
    mode = form.one_of(*MODES)
    native = finish_native(form, _native_divide, _native_divide) if mode == "rn" else None
    return binary(finish(form, _DIV[name](mode), np.divide), name, native=native)


@pure("rcp", types=FLOATS)
def _rcp(form: Form) -> Semantics:
    name = form.one_type()
    one = _ONE[name]
    mode = form.one_of("approx", *MODES)
    if mode in MODES:
        divide = _DIV[name](mode)
        native = finish_native(form, _native_inverse, _native_inverse) if mode == "rn" else None
        return unary(finish(form, lambda a: divide(one, a), np.reciprocal), name, native=native)
    if name == "f64":
        form.one_of("ftz")
        return unary(upper_word(np.reciprocal), name, native=native_upper_word(root=False))
    semantics = unary(finish(form, reciprocal), name, native=finish_native(form, native_reciprocal))
    return replace(semantics, weight=INTERPOLATION)


def _native_divide(e: Emitter, a: Native, b: Native) -> Native:
    return e.fdiv(a, b)


def _native_inverse(e: Emitter, a: Native) -> Native:
    return e.fdiv(a.type(1.0), a)


def upper_word(function: Callable) -> Callable:
    """The ``.approx.ftz.f64`` forms read the upper 32 bits of their source and give a result whose lower 32 bits are 0.

    Subnormal sources and results are zeros of their sign.
    """
    upper, sign = np.uint64(0xFFFFFFFF00000000), np.uint64(0x8000000000000000)
    least = np.finfo(np.float64).smallest_normal

    def flushed(a):
        return np.where(np.abs(a) < least, (a.view(np.uint64) & sign).view(np.float64), a)[()]

    def apply(a):
        result = flushed(function(flushed((a.view(np.uint64) & upper).view(np.float64))))
        # Hardware cuts the result: 93 % of the lanes are the same on an H200. Its NaN has these bits.
        bits = np.where(np.isnan(result), np.uint64(0x7FFFFFFF00000000), result.view(np.uint64) & upper)
        return bits.view(np.float64)[()]

    return apply


@lru_cache(maxsize=2)
def native_upper_word(*, root: bool) -> NativeForm:
    """The compiled form of what :func:`upper_word` gives, of 1 / a or, with ``root``, of that of the root."""

    def apply(e: Emitter, a: Native) -> Native:
        word = e.integer(64)

        def flushed(value: Native) -> Native:
            small = e.fcmp_ordered("<", e.magnitude(value), value.type(2.0**-1022))
            return e.as_float(e.select(small, e.and_(e.bits(value), word(1 << 63)), e.bits(value)))

        a = flushed(e.as_float(e.and_(e.bits(a), word(-1 << 32))))
        found = flushed(e.fdiv(a.type(1.0), e.intrinsic("sqrt", a) if root else a))
        none = e.fcmp_unordered("<", a, a.type(0.0)) if root else e.is_nan(a)
        return e.as_float(e.select(none, word(0x7FFFFFFF00000000), e.and_(e.bits(found), word(-1 << 32))))

    return apply


def native_root(e: Emitter, a: Native) -> Native:
    """The compiled form of a root."""
    return _of_numbers_with_roots(e, a, lambda size: e.intrinsic("sqrt", size))


def native_reciprocal_root(e: Emitter, a: Native) -> Native:
    """The compiled form of the reciprocal of a root, rounded once."""

    def of_root(size: Native) -> Native:
        root = e.intrinsic("sqrt", e.fpext(size, e.double()))
        return e.fptrunc(e.fdiv(root.type(1.0), root), e.float())

    return _of_numbers_with_roots(e, a, of_root)


def _of_numbers_with_roots(e: Emitter, a: Native, function: Callable[[Native], Native]) -> Native:
    """A function of numbers that are not below 0; of all others it is NaN. LLVM leaves out the question whether a root
    is NaN, so the number is asked."""
    none = e.fcmp_unordered("<", a, a.type(0.0))
    return e.select(none, e.as_float(e.integer(32)(_NAN)), function(a))


@pure("sqrt", types=FLOATS)
def _sqrt(form: Form) -> Semantics:
    name = form.one_type()
    mode = form.one_of("approx", *MODES)
    if mode in MODES:
        native = finish_native(form, native_root) if mode == "rn" else None
        return unary(finish(form, _SQRT[name](mode)), name, native=native)
    if name != "f32":
        raise NotImplementedError("sqrt.approx is for f32")
    return unary(finish(form, np.sqrt), name, native=finish_native(form, native_root))


def _reciprocal_root(a):
    return 1.0 / np.sqrt(a, dtype=np.float64)


@pure("rsqrt", types=FLOATS)
def _rsqrt(form: Form) -> Semantics:
    name = form.one_type()
    form.one_of("approx")
    if name == "f64":
        if not form.flag("ftz"):
            return unary(_reciprocal_root, name)
        return unary(upper_word(_reciprocal_root), name, native=native_upper_word(root=True))
    native = finish_native(form, native_reciprocal_root)
    return unary(finish(form, lambda a: _reciprocal_root(a).astype(np.float32)), name, native=native)


@pure("ex2", types=("f32",))
def _ex2(form: Form) -> Semantics:
    form.one_of("approx")
    flushed = form.flag("ftz")
    function, native = (exp2_flushed, native_exp2_flushed) if flushed else (exp2, native_exp2)
    semantics = unary(lambda a: canonical(function(a)), form.one_type(), native=lambda e, a: e.canonical(native(e, a)))
    return replace(semantics, weight=INTERPOLATION)


# Measured on an H200: the logarithm is this much too high, before it is cut.
_LOG2_EXCESS = 2.0**-24
# As bits, less 1: no number from there on is positive and finite.
_INFINITY_LESS_ONE = np.uint32(0x7F7FFFFF)


def log2(a):
    """log2(a) with hardware's excess, cut to float32: on an H200 90 % of the lanes are the same; 0 of 1, as there."""
    result = series.log2(series.LANES, a.astype(np.float64))
    result += _LOG2_EXCESS
    result = cut_f32(result).astype(np.float32)
    if (a.view(np.uint32) - np.uint32(1)).max() >= _INFINITY_LESS_ONE:
        positive, infinity = a > 0, np.float32(np.inf)
        other = np.where(positive, infinity, np.where(a == 0, -infinity, np.float32(np.nan)))
        result = np.where(positive & (a < infinity), result, other)[()]
    one = a == 1
    return np.where(one, np.float32(0), result)[()] if one.any() else result


def native_log2(e: Emitter, a: Native) -> Native:
    """The compiled form of :func:`log2`."""
    found = series.native(series.log2, e, e.fpext(a, e.double()))
    result = e.fptrunc(_native_cut(e, e.fadd(found, found.type(_LOG2_EXCESS))), e.float())
    word, zero = e.integer(32), a.type(0.0)
    result = e.select(e.fcmp_ordered("==", a, a.type(1.0)), zero, result)
    result = e.select(e.fcmp_ordered("==", a, e.as_float(word(0x7F800000))), a, result)
    result = e.select(e.fcmp_ordered("==", a, zero), e.as_float(word(0xFF800000)), result)
    return e.select(e.fcmp_unordered("<", a, zero), e.as_float(word(_NAN)), result)


def _native_cut(e: Emitter, total: Native) -> Native:
    """The compiled form of :func:`cut_f32`."""
    bits = e.bits(total)
    return e.as_float(e.and_(bits, bits.type(-1 << 29)))


def _log2_of_any(a):
    """:func:`log2` where a may be subnormal: the assembler scales it by 2**24, and subtracts 24 with a rounding."""
    subnormal = np.abs(a) < _LEAST_NORMAL
    if not np.any(subnormal):
        return log2(a)
    result = log2(np.where(subnormal, a * _UP, a)[()])
    return np.where(subnormal, result - np.float32(24), result)[()]


def _native_log2_of_any(e: Emitter, a: Native) -> Native:
    """The compiled form of :func:`_log2_of_any`."""
    subnormal = e.fcmp_ordered("<", e.magnitude(a), a.type(float(_LEAST_NORMAL)))
    result = native_log2(e, e.select(subnormal, e.fmul(a, a.type(float(_UP))), a))
    return e.select(subnormal, e.fsub(result, a.type(24.0)), result)


@pure("lg2", types=("f32",))
def _lg2(form: Form) -> Semantics:
    form.one_of("approx")
    # A logarithm is never subnormal: only the source is flushed.
    function: Callable = _log2_of_any
    native: NativeForm = _native_log2_of_any
    if form.flag("ftz"):
        function, native = lambda a: log2(flush(a)), lambda e, a: native_log2(e, e.flush(a))
    semantics = unary(lambda a: canonical(function(a)), form.one_type(), native=lambda e, a: e.canonical(native(e, a)))
    return replace(semantics, weight=_SERIES)


_tanh, _native_tanh = series.rounded(series.tanh), series.native_rounded(series.tanh)


@pure("tanh", types=("f32",))
def _hyperbolic_tangent(form: Form) -> Semantics:
    form.one_of("approx")
    semantics = unary(
        lambda a: canonical(_tanh(a)), form.one_type(), native=lambda e, a: e.canonical(_native_tanh(e, a))
    )
    return replace(semantics, weight=_SERIES)


# Hardware turns the angle into revolutions in float32 first, cutting: there a large angle loses its accuracy.
# Whole quarters of a revolution have the sines and cosines 0, 1 and -1 exactly, as here (H200, 2026-12-01, driver
# 580.159.04: all of 8046 angles up to 4 million revolutions). The sign of a 0 is another one in half of them.
_PER_REVOLUTION = np.float32(0.15915494)
# The sine cuts the angle to this part of a revolution: a smaller angle has the sine 0 on an H100, and in the record of
# an H200 (tests/data/opcodes_h200.npz) 41 % of the sines are the same instead of 26 %. Cosines show no such steps.
_STEPS = 2.0**25


def _of_revolutions(function: Callable, steps: float | None = None) -> tuple[Callable, NativeForm]:
    """A function of an angle in radians as the hardware has it, and its compiled form.

    Arguments:
        function: of revolutions, in :mod:`softlab.emulator.opcodes.series`. steps: of a revolution, to which it is cut.
    """

    def apply(a):
        turns = cut_f32(np.multiply(a, _PER_REVOLUTION, dtype=np.float64))
        if steps is not None:
            turns *= steps
            turns = np.trunc(turns)
            turns *= 1 / steps
        return function(series.LANES, turns).astype(np.float32)

    def native(e: Emitter, a: Native) -> Native:
        wide = e.fpext(a, e.double())
        turns = _native_cut(e, e.fmul(wide, wide.type(float(_PER_REVOLUTION))))
        if steps is not None:
            turns = e.fmul(e.intrinsic("trunc", e.fmul(turns, turns.type(steps))), turns.type(1 / steps))
        return e.fptrunc(series.native(function, e, turns), e.float())

    return apply, native


_SINE, _COSINE = _of_revolutions(series.sine, _STEPS), _of_revolutions(series.cosine)


@pure("sin", "cos", types=("f32",))
def _sine(form: Form) -> Semantics:
    form.one_of("approx")
    function, native = _SINE if form.opcode == "sin" else _COSINE
    semantics = unary(finish(form, function), form.one_type(), native=finish_native(form, native))
    return replace(semantics, weight=_SERIES)
