"""Division, roots and the approximate functions.

Source: PTX ISA, "Floating-Point Instructions", for special values and error bounds. An ``.approx`` function here is the
float64 result rounded to float32, so within half a ulp of the truth; hardware is within its documented bound of it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.floats import FLOATS, finish, flush
from softlab.emulator.opcodes.forms import Form, binary, pure, unary
from softlab.emulator.opcodes.rounding import MODES, div_f32, div_f64, sqrt_f32, sqrt_f64
from softlab.emulator.registry import Semantics

_ONE = {"f32": np.float32(1), "f64": np.float64(1)}
_DIV = {"f32": div_f32, "f64": div_f64}
_SQRT = {"f32": sqrt_f32, "f64": sqrt_f64}
_LEAST_NORMAL = np.float32(2.0**-126)
# div.approx takes the reciprocal first, which is flushed to 0 for a divisor beyond this.
_LARGEST_DIVISOR = np.float32(2.0**126)


def _divide_approximately(a, b):
    result = np.divide(a, b)
    large = np.abs(b) > _LARGEST_DIVISOR
    if not large.any():
        return result
    # 0 (of the quotient's sign) for a finite dividend, NaN for an infinite one.
    beyond = np.multiply(a, np.copysign(np.float32(0), b))
    return np.where(large, beyond, result)[()]


@pure("div", types=FLOATS)
def _div(form: Form) -> Semantics:
    name = form.one_type()
    mode = form.one_of("approx", "full", *MODES)
    if mode in MODES:
        return binary(finish(form, _DIV[name](mode)), name)
    if name != "f32":
        raise NotImplementedError(f"div.{mode} is for f32")
    return binary(finish(form, _divide_approximately if mode == "approx" else np.divide), name)


@pure("rcp", types=FLOATS)
def _rcp(form: Form) -> Semantics:
    name = form.one_type()
    one = _ONE[name]
    mode = form.one_of("approx", *MODES)
    if mode in MODES:
        divide = _DIV[name](mode)
        return unary(finish(form, lambda a: divide(one, a)), name)
    if name == "f64":
        form.one_of("ftz")
        return unary(_upper_word(np.reciprocal), name)
    return unary(finish(form, np.reciprocal), name)


def _upper_word(function: Callable) -> Callable:
    """The ``.approx.ftz.f64`` forms read the upper 32 bits of their source and give a result whose lower 32 bits are 0.

    Subnormal sources and results are zeros of their sign.
    """
    upper, sign = np.uint64(0xFFFFFFFF00000000), np.uint64(0x8000000000000000)
    least = np.finfo(np.float64).smallest_normal

    def flushed(a):
        return np.where(np.abs(a) < least, (a.view(np.uint64) & sign).view(np.float64), a)[()]

    def apply(a):
        result = flushed(function(flushed((a.view(np.uint64) & upper).view(np.float64))))
        bits = result.view(np.uint64)
        # To the nearest value of 21 bits; a carry into the exponent is right too. Infinities and NaN stay.
        rounded = (bits + np.uint64(0x80000000)) & upper
        return np.where(np.isfinite(result), rounded, bits & upper).view(np.float64)[()]

    return apply


@pure("sqrt", types=FLOATS)
def _sqrt(form: Form) -> Semantics:
    name = form.one_type()
    mode = form.one_of("approx", *MODES)
    if mode in MODES:
        return unary(finish(form, _SQRT[name](mode)), name)
    if name != "f32":
        raise NotImplementedError("sqrt.approx is for f32")
    return unary(finish(form, np.sqrt), name)


def _reciprocal_root(a):
    return 1.0 / np.sqrt(a, dtype=np.float64)


@pure("rsqrt", types=FLOATS)
def _rsqrt(form: Form) -> Semantics:
    name = form.one_type()
    form.one_of("approx")
    if name == "f64":
        return unary(_upper_word(_reciprocal_root) if form.flag("ftz") else _reciprocal_root, name)
    return unary(finish(form, lambda a: _reciprocal_root(a).astype(np.float32)), name)


def _through_float64(function: Callable) -> Callable:
    return lambda a: function(a, dtype=np.float64).astype(np.float32)


_exp2 = _through_float64(np.exp2)
_log2 = _through_float64(np.log2)
_tanh = _through_float64(np.tanh)


def _exp2_flushed(a):
    # A subnormal source gives 1 with and without flushing.
    result = _exp2(a)
    return np.multiply(result, result >= _LEAST_NORMAL)


@pure("ex2", types=("f32",))
def _ex2(form: Form) -> Semantics:
    form.one_of("approx")
    return unary(_exp2_flushed if form.flag("ftz") else _exp2, form.one_type())


@pure("lg2", types=("f32",))
def _lg2(form: Form) -> Semantics:
    form.one_of("approx")
    # A logarithm is never subnormal: only the source is flushed.
    return unary((lambda a: _log2(flush(a))) if form.flag("ftz") else _log2, form.one_type())


@pure("tanh", types=("f32",))
def _tanh_f32(form: Form) -> Semantics:
    form.one_of("approx")
    return unary(_tanh, form.one_type())


# Hardware turns the angle into revolutions in float32 first, which is where a large angle loses its accuracy.
_PER_REVOLUTION = np.float32(0.15915494)
_REVOLUTION = 2 * np.pi
# Up to here turns times 2 pi is exact to 2**-30 of a revolution in float64.
_MANY_TURNS = np.float32(2.0**20)


def _of_revolutions(function: Callable) -> Callable:
    def apply(a):
        turns = np.multiply(a, _PER_REVOLUTION)
        if np.abs(turns).max() > _MANY_TURNS:
            turns = np.fmod(turns, np.float32(1))
        return function(np.multiply(turns, _REVOLUTION, dtype=np.float64)).astype(np.float32)

    return apply


@pure("sin", "cos", types=("f32",))
def _sine(form: Form) -> Semantics:
    form.one_of("approx")
    function = _of_revolutions({"sin": np.sin, "cos": np.cos}[form.opcode])
    return unary(finish(form, function), form.one_type())
