"""f32 and f64 arithmetic with rounding modes, .ftz and .sat.

Source: PTX ISA, "Floating-Point Instructions". A NaN that f32 arithmetic gives has the bits that
NVIDIA GPUs give it; f64 keeps the bits of a source's NaN on both.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes import rounding
from softlab.emulator.opcodes.emitter import Emitter, Native, NativeForm
from softlab.emulator.opcodes.forms import Form, binary, pure, select, ternary, unary, width
from softlab.emulator.opcodes.registry import Semantics

FLOATS = ("f32", "f64")
_LEAST_NORMAL = np.float32(2.0**-126)
_LEAST_NORMAL_BITS = np.uint32(0x00800000)
_MAGNITUDE, _SIGN = np.uint32(0x7FFFFFFF), np.uint32(0x80000000)
_EXPONENT = np.uint32(0x7F800000)
_ONE = np.uint32(1)
_NAN_F32 = np.uint32(0x7FFFFFFF).view(np.float32)


def _least_magnitude(a):
    """Twice the least magnitude among the lanes, as bits less one; zeros count as the largest.

    Twice the bits loses the sign, and less one 0 wraps around.
    """
    bits = a.view(np.uint32)
    return ((bits + bits) - _ONE).min()


def flush(a):
    """A float32 with subnormals as zeros of their sign: what .ftz does to sources."""
    if _least_magnitude(a) >= 2 * _LEAST_NORMAL_BITS - _ONE:
        return a
    bits = a.view(np.uint32)
    normal = (bits & _EXPONENT) != 0
    return (np.multiply(bits & _MAGNITUDE, normal) | (bits & _SIGN)).view(np.float32)


def saturate(a):
    """A float clamped to [0, 1]; NaN and -0 give +0."""
    dtype = a.dtype.type
    return np.fmin(np.fmax(a, dtype(0)), dtype(1)) + dtype(0)


def has_nan(a) -> bool:
    """Whether any lane is NaN."""
    return bool(np.count_nonzero(np.isnan(a)))


def canonical(a):
    """A float32 result, its NaN with the bits that NVIDIA GPUs give it: 0x7fffffff."""
    nan = np.isnan(a)
    return select(nan, _NAN_F32, a) if np.count_nonzero(nan) else a


def flushing(function: Callable, wide: Callable | None) -> Callable:
    """``function`` of float32 with flushed sources and result.

    Hardware flushes a result that is subnormal before it is rounded: one that rounds up to the least normal, too.
    ``wide`` gives the result in float64 to tell by; None where such a result is exact.
    """

    def apply(*sources):
        sources = tuple(flush(source) for source in sources)
        result = function(*sources)
        if _least_magnitude(result) > 2 * _LEAST_NORMAL_BITS - _ONE:
            return result
        result = flush(result)
        if wide is None:
            return result
        below = np.abs(wide(*(source.astype(np.float64) for source in sources))) < _LEAST_NORMAL
        below &= np.abs(result) <= _LEAST_NORMAL
        return select(below, np.copysign(np.float32(0), result), result)

    return apply


def finish(form: Form, function: Callable, wide: Callable | None = None) -> Callable:
    """Wrap ``function`` in what the instruction's .ftz and .sat ask for, and give its NaN hardware's bits (f32).

    ``wide`` is the operation in float64, where it may round a subnormal result up to the least normal.
    """
    ftz, sat = form.flag("ftz"), form.flag("sat")
    if form.type != "f32":
        if ftz or sat:
            raise NotImplementedError(f".ftz and .sat are for f32, not {form.type}")
        return function
    if ftz:
        function = flushing(function, wide)
    if sat:
        return lambda *sources: saturate(function(*sources))
    return lambda *sources: canonical(function(*sources))


def finish_native(form: Form, native: NativeForm, wide: NativeForm | None = None) -> NativeForm | None:
    """The compiled form of what :func:`finish` gives; it reads the modifiers and takes none."""
    if form.type != "f32":
        return None
    ftz, sat = (name in form.instruction.modifiers for name in ("ftz", "sat"))
    return finished_native(native, wide, ftz=ftz, sat=sat)


def finished_native(native: NativeForm, wide: NativeForm | None, *, ftz: bool, sat: bool) -> NativeForm:
    """The compiled form of a float32 operation with flushed values, clamped, and with hardware's NaN.

    ``wide`` as for :func:`finish`.
    """

    def apply(e: Emitter, *sources: Native) -> Native:
        sources = tuple(e.flush(source) for source in sources) if ftz else sources
        result = native(e, *sources)
        if ftz:
            result = e.flush(result)
            if wide is not None:
                size = e.magnitude(wide(e, *(e.fpext(source, e.double()) for source in sources)))
                least = float(_LEAST_NORMAL)
                below = e.fcmp_ordered("<", size, size.type(least))
                below = e.and_(below, e.fcmp_ordered("<=", e.magnitude(result), result.type(least)))
                bits = e.bits(result)
                zero = e.as_float(e.and_(bits, bits.type(0x80000000)))
                result = e.select(below, zero, result)
        return e.saturate(result) if sat else e.canonical(result)

    return apply


NATIVE: dict[str, NativeForm] = {
    "add": lambda e, a, b: e.fadd(a, b),
    "sub": lambda e, a, b: e.fsub(a, b),
    "mul": lambda e, a, b: e.fmul(a, b),
    "fma": lambda e, a, b, c: e.intrinsic("fma", a, b, c),
}
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
    wide = np.multiply if form.opcode == "mul" else None
    native = finish_native(form, NATIVE[form.opcode], NATIVE["mul"] if wide else None) if mode == "rn" else None
    return binary(finish(form, _BY_MODE[form.opcode, name](mode), wide), name, native=native)


@pure("sub", types=FLOATS)
def _subtract(form: Form) -> Semantics:
    name = form.one_type()
    mode = form.one_of(*rounding.MODES, default="rn")
    if mode == "rn":
        return binary(finish(form, np.subtract), name, native=finish_native(form, NATIVE["sub"]))
    add = _BY_MODE["add", name](mode)
    return binary(finish(form, lambda a, b: add(a, np.negative(b))), name)


@pure("fma", "mad", types=FLOATS)
def _fused(form: Form) -> Semantics:
    name = form.one_type()
    mode = form.one_of(*rounding.MODES, default="rn")
    function = rounding.fma_f64 if (name, mode) == ("f64", "rn") else _BY_MODE["fma", name](mode)
    native = finish_native(form, NATIVE["fma"], lambda e, a, b, c: e.fadd(e.fmul(a, b), c)) if mode == "rn" else None
    return ternary(finish(form, function, lambda a, b, c: a * b + c), name, native=native)


@pure("abs", types=FLOATS)
def _abs(form: Form) -> Semantics:
    native = finish_native(form, lambda e, a: e.magnitude(a))
    return unary(finish(form, np.abs), form.one_type(), native=native)


@pure("neg", types=FLOATS)
def _neg(form: Form) -> Semantics:
    return unary(finish(form, np.negative), form.one_type(), native=finish_native(form, lambda e, a: e.fneg(a)))


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
        if not propagate and has_nan(result):
            # A signalling NaN beside a number: fmin of some C libraries is NaN there.
            result = select(np.isnan(a), b, select(np.isnan(b), a, result))
        if not (result == 0).any():
            return result
        # NumPy takes either of two zeros; their signs decide.
        zeros = (a == 0) & (b == 0)
        return select(zeros, join(a.view(bits), b.view(bits)).view(result.dtype), result)

    return choose


@pure("min", "max", types=FLOATS)
def _extreme(form: Form) -> Semantics:
    name = form.one_type()
    propagate = form.flag("NaN")
    function = extreme(form.opcode, name, propagate)
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
    plain_form = "xorsign" not in form.instruction.modifiers
    native = finish_native(form, native_extreme(form.opcode, propagate)) if plain_form else None
    return binary(finish(form, function), name, native=native)


def native_extreme(opcode: str, propagate: bool) -> NativeForm:
    """The compiled form of :func:`extreme` of two float32."""
    sign = "<" if opcode == "min" else ">"

    def choose(e: Emitter, a: Native, b: Native) -> Native:
        result = e.select(e.or_(e.fcmp_ordered(sign, a, b), e.is_nan(b)), a, b)
        # Equal numbers have the same bits, zeros apart: there the signs decide.
        join = e.or_ if opcode == "min" else e.and_
        result = e.select(e.fcmp_ordered("==", a, b), e.as_float(join(e.bits(a), e.bits(b))), result)
        if propagate:
            result = e.select(e.is_nan(a), a, e.select(e.is_nan(b), b, result))
        return result

    return choose


def _is_subnormal(a):
    return (np.abs(a) < np.finfo(a.dtype).smallest_normal) & (a != 0)


_CLASSES: dict[str, Callable] = {
    "finite": np.isfinite,
    "infinite": np.isinf,
    "notanumber": np.isnan,
    "number": lambda a: a == a,
    # Zeros count as normal.
    "normal": lambda a: np.isfinite(a) & ~_is_subnormal(a),
    "subnormal": _is_subnormal,
}


@pure("testp", types=FLOATS)
def _testp(form: Form) -> Semantics:
    return unary(_CLASSES[form.one_of(*_CLASSES)], form.one_type(), "pred")
