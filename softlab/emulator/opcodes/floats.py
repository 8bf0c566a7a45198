"""f32 and f64 arithmetic with rounding modes, .ftz and .sat.

Source: PTX ISA, "Floating-Point Instructions". What is NaN here is NaN on hardware; its bits are
the host's choice until :func:`canonical` makes them hardware's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes import rounding
from softlab.emulator.opcodes.forms import Form, binary, pure, select, ternary, unary, width
from softlab.emulator.registry import Semantics

FLOATS = ("f32", "f64")
_MIN_SUBNORMAL_GAP = np.uint32(0x00FFFFFF)
_MAGNITUDE, _SIGN = np.uint32(0x7FFFFFFF), np.uint32(0x80000000)
_EXPONENT = np.uint32(0x7F800000)
_ONE = np.uint32(1)
#: The NaN that arithmetic makes on NVIDIA GPUs, by result type, as bits.
CANONICAL_NAN = {
    "f32": np.uint32(0x7FFFFFFF),
    "f64": np.uint64(0x7FF8000000000000),
}


def flush(a):
    """A float32 with subnormals as zeros of their sign: what .ftz does to sources and results."""
    bits = a.view(np.uint32)
    # Twice the bits loses the sign; less one, 0 wraps to the largest, so that only subnormals are small.
    if ((bits + bits) - _ONE).min() >= _MIN_SUBNORMAL_GAP:
        return a
    normal = (bits & _EXPONENT) != 0
    return (np.multiply(bits & _MAGNITUDE, normal) | (bits & _SIGN)).view(np.float32)


def saturate(a):
    """A float clamped to [0, 1]; NaN and -0 give +0."""
    dtype = a.dtype.type
    return np.fmin(np.fmax(a, dtype(0)), dtype(1)) + dtype(0)


def finish(form: Form, function: Callable) -> Callable:
    """Wrap ``function`` in what the instruction's .ftz and .sat ask for."""
    ftz, sat = form.flag("ftz"), form.flag("sat")
    if (ftz or sat) and form.type != "f32":
        raise NotImplementedError(f".ftz and .sat are for f32, not {form.type}")
    if ftz:
        inner = function

        def function(*sources):
            return flush(inner(*(flush(source) for source in sources)))

    if not sat:
        return function
    return lambda *sources: saturate(function(*sources))


def has_nan(a) -> bool:
    """Whether any lane is NaN: the largest of the lanes is NaN then."""
    return bool(np.isnan(a.max()))


def canonical(function: Callable, name: str) -> Callable:
    """``function``, its NaN results of type ``name`` given the bits that hardware gives them."""
    bits = CANONICAL_NAN[name]

    def with_hardware_nan(*sources):
        result = function(*sources)
        if not has_nan(result):
            return result
        return select(result != result, bits.view(result.dtype), result)

    return with_hardware_nan


_BY_MODE = {
    ("add", "f32"): rounding.add_f32,
    ("add", "f64"): rounding.add_f64,
    ("mul", "f32"): rounding.mul_f32,
    ("mul", "f64"): rounding.mul_f64,
    ("fma", "f32"): rounding.fused_f32,
    ("fma", "f64"): rounding.fused_f64,
    ("div", "f32"): rounding.div_f32,
    ("div", "f64"): rounding.div_f64,
    ("sqrt", "f32"): rounding.sqrt_f32,
    ("sqrt", "f64"): rounding.sqrt_f64,
}


@pure("add", "mul", types=FLOATS)
def _add_or_multiply(form: Form) -> Semantics:
    name = form.one_type()
    mode = form.one_of(*rounding.MODES, default="rn")
    return binary(finish(form, _BY_MODE[form.opcode, name](mode)), name)


@pure("sub", types=FLOATS)
def _subtract(form: Form) -> Semantics:
    name = form.one_type()
    mode = form.one_of(*rounding.MODES, default="rn")
    if mode == "rn":
        return binary(finish(form, np.subtract), name)
    add = _BY_MODE["add", name](mode)
    return binary(finish(form, lambda a, b: add(a, np.negative(b))), name)


@pure("fma", "mad", types=FLOATS)
def _fused(form: Form) -> Semantics:
    name = form.one_type()
    mode = form.one_of(*rounding.MODES, default="rn")
    function = rounding.fma_f64 if (name, mode) == ("f64", "rn") else _BY_MODE["fma", name](mode)
    return ternary(finish(form, function), name)


@pure("abs", types=FLOATS)
def _abs(form: Form) -> Semantics:
    return unary(finish(form, np.abs), form.one_type())


@pure("neg", types=FLOATS)
def _neg(form: Form) -> Semantics:
    return unary(finish(form, np.negative), form.one_type())


@pure("copysign", types=FLOATS)
def _copysign(form: Form) -> Semantics:
    # The sign is the first source's.
    return binary(lambda a, b: np.copysign(b, a), form.one_type())


def extreme(opcode: str, name: str, propagate: bool = False) -> Callable:
    """Smaller or larger of two floats of a NumPy float type: -0 < +0; of a NaN and a number the number.

    ``propagate``: NaN where either is.
    """
    larger = opcode == "max"
    operation = {
        (False, False): np.fmin,
        (False, True): np.minimum,
        (True, False): np.fmax,
        (True, True): np.maximum,
    }[larger, propagate]
    join = np.bitwise_and if larger else np.bitwise_or
    bits = np.dtype(f"u{width(name) // 8}")

    def choose(a, b):
        result = operation(a, b)
        if not (result == 0).any():
            return result
        # NumPy takes either of two zeros; their signs decide.
        zeros = (a == 0) & (b == 0)
        return select(zeros, join(a.view(bits), b.view(bits)).view(result.dtype), result)

    return canonical(choose, name)


@pure("min", "max", types=FLOATS)
def _extreme(form: Form) -> Semantics:
    name = form.one_type()
    function = extreme(form.opcode, name, form.flag("NaN"))
    if form.flag("xorsign"):
        if not form.flag("abs"):
            raise NotImplementedError(".xorsign needs .abs")
        plain = function

        def function(a, b):
            size = plain(np.abs(a), np.abs(b))
            return np.where(np.signbit(a) ^ np.signbit(b), np.negative(size), size)[()]

    if len(form.operands) == 4:
        two = function
        return ternary(finish(form, lambda a, b, c: two(two(a, b), c)), name)
    return binary(finish(form, function), name)


def _is_subnormal(a):
    return (np.abs(a) < np.finfo(a.dtype).smallest_normal) & (a != 0)


_CLASSES: dict[str, Callable] = {
    "finite": np.isfinite,
    "infinite": np.isinf,
    "notanumber": np.isnan,
    "number": lambda a: a == a,
    "normal": lambda a: np.isfinite(a) & (np.abs(a) >= np.finfo(a.dtype).smallest_normal),
    "subnormal": _is_subnormal,
}


@pure("testp", types=FLOATS)
def _testp(form: Form) -> Semantics:
    return unary(_CLASSES[form.one_of(*_CLASSES)], form.one_type(), "pred")
