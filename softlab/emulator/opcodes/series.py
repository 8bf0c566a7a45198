"""Sine, cosine, logarithm and hyperbolic tangent of float64 by plain arithmetic: the same bits on every machine.

The functions of a C library, and those of NumPy, give bits that depend on the build and on the processor. These here
consist of additions, products, quotients, choices and shifts of bits alone, so NumPy and LLVM give the same bits. Each
function is written once: its first argument is the arithmetic, :data:`LANES` of NumPy's arrays and scalars or
:func:`native` of LLVM's values. Results are within 6 units in the last place of the true value (the largest error of
millions of values is 4.8). NaN gives NaN, but for :func:`log2`.

The polynomials interpolate a function of the square at the Chebyshev nodes of its range. They were worked out with
fractions and then rounded to float64: ``tests/emulator/opcodes/test_series.py`` does it again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from softlab.emulator.opcodes.emitter import Emitter, Native, NativeForm

#: A NumPy array or scalar, or a :class:`_Number`.
Value = Any

#: sin(2 pi t) / t of t**2, where t is at most a quarter of a turn.
SINE = (
    6.283185307179585, -41.341702240398284, 81.60524927557977, -76.70585968962867, 42.05868995395094,
    -15.09450614073429, 3.817365633469135, -0.6925067010720717,
)  # fmt: skip
#: log2((1 + s) / (1 - s)) / s of s**2, for mantissas from the root of 1/2 to the root of 2.
LOGARITHM = (
    2.885390081777927, 0.9617966939243345, 0.5770780172463286, 0.4121984020482752, 0.32061638813224547,
    0.2614442493522915, 0.24291608539875345,
)  # fmt: skip
#: tanh(u) / u of u**2, where u is at most a quarter of the logarithm of 2.
TANGENT = (
    1.0, -0.3333333333333211, 0.13333333332680422, -0.05396825266214085, 0.021869363996547007, -0.008857128654171043,
    0.0034429842565995884,
)  # fmt: skip


def _known(number: float | int) -> np.ndarray:
    """A constant as NumPy takes it fastest."""
    return np.array(number, np.int64 if isinstance(number, int) else np.float64)


class Arithmetic(Protocol):
    """What the functions need beyond + - * / << >> of their values."""

    def size(self, a: Value) -> Value:
        """Without its sign."""

    def whole(self, a: Value) -> Value:
        """The nearest whole number; of two the even one."""

    def cut(self, a: Value) -> Value:
        """The next whole number toward 0."""

    def signed(self, a: Value, b: Value) -> Value:
        """The size of a with the sign of b."""

    def smaller(self, a: Value, b: Value) -> Value:
        """The smaller number; NaN where a is NaN."""

    def larger(self, a: Value, b: Value) -> Value:
        """The larger number; NaN where a is NaN."""

    def bits(self, a: Value) -> Value:
        """The bits of a number, as an integer."""

    def number(self, bits: Value) -> Value:
        """The number with these bits."""

    def converted(self, integer: Value) -> Value:
        """An integer as a number."""


class _Lanes:
    """Of NumPy's float64 arrays and scalars."""

    size, whole, cut = staticmethod(np.abs), staticmethod(np.rint), staticmethod(np.trunc)
    signed, smaller, larger = staticmethod(np.copysign), staticmethod(np.minimum), staticmethod(np.maximum)

    def bits(self, a: Value) -> Value:
        return a.view(np.int64)

    def number(self, bits: Value) -> Value:
        return bits.view(np.float64)

    def converted(self, integer: Value) -> Value:
        return integer.astype(np.float64)


class _Number:
    """A float64 or an integer of 64 bits of LLVM, with operators."""

    __array_ufunc__ = None  # so NumPy's constants leave the operators to this class
    __slots__ = ("emitter", "value")

    def __init__(self, emitter: Emitter, value: Native) -> None:
        self.emitter, self.value = emitter, value

    def other(self, b: Value) -> Native:
        """The other operand in LLVM's terms."""
        return b.value if isinstance(b, _Number) else self.value.type(b.item())

    def _with(self, value: Native) -> _Number:
        return _Number(self.emitter, value)

    def _is_integer(self) -> bool:
        return self.value.type == self.emitter.integer(64)

    def __add__(self, b: Value) -> _Number:
        return self._with((self.emitter.add if self._is_integer() else self.emitter.fadd)(self.value, self.other(b)))

    def __sub__(self, b: Value) -> _Number:
        return self._with((self.emitter.sub if self._is_integer() else self.emitter.fsub)(self.value, self.other(b)))

    def __rsub__(self, b: Value) -> _Number:
        return self._with(self.emitter.fsub(self.other(b), self.value))

    def __mul__(self, b: Value) -> _Number:
        return self._with(self.emitter.fmul(self.value, self.other(b)))

    def __truediv__(self, b: Value) -> _Number:
        return self._with(self.emitter.fdiv(self.value, self.other(b)))

    def __lshift__(self, b: Value) -> _Number:
        return self._with(self.emitter.shl(self.value, self.other(b)))

    def __rshift__(self, b: Value) -> _Number:
        return self._with(self.emitter.ashr(self.value, self.other(b)))


class _Numbers:
    """Of LLVM's values."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter

    def _made(self, name: str, *values: _Number) -> _Number:
        return _Number(self._emitter, self._emitter.intrinsic(name, *(one.value for one in values)))

    def size(self, a: _Number) -> _Number:
        return self._made("fabs", a)

    def whole(self, a: _Number) -> _Number:
        return self._made("rint", a)

    def cut(self, a: _Number) -> _Number:
        return self._made("trunc", a)

    def signed(self, a: Value, b: _Number) -> _Number:
        return _Number(self._emitter, self._emitter.intrinsic("copysign", b.other(a), b.value))

    def _bounded(self, order: str, a: _Number, b: Value) -> _Number:
        e, bound = self._emitter, a.other(b)
        return _Number(e, e.select(e.fcmp_ordered(order, bound, a.value), bound, a.value))

    def smaller(self, a: _Number, b: Value) -> _Number:
        return self._bounded("<", a, b)

    def larger(self, a: _Number, b: Value) -> _Number:
        return self._bounded(">", a, b)

    def bits(self, a: _Number) -> _Number:
        return _Number(self._emitter, self._emitter.bits(a.value))

    def number(self, bits: _Number) -> _Number:
        return _Number(self._emitter, self._emitter.as_float(bits.value))

    def converted(self, integer: _Number) -> _Number:
        return _Number(self._emitter, self._emitter.sitofp(integer.value, self._emitter.double()))


#: The arithmetic of NumPy's arrays and scalars.
LANES: Arithmetic = _Lanes()


def native(function: Any, e: Emitter, a: Native) -> Native:
    """The compiled form of a function of this module: of a float64."""
    return function(_Numbers(e), _Number(e, a)).value


def rounded(function: Any) -> Callable:
    """A function of this module of float32, rounded to float32: by NumPy."""
    return lambda a: function(LANES, a.astype(np.float64)).astype(np.float32)


def native_rounded(function: Any) -> NativeForm:
    """The compiled form of what :func:`rounded` gives."""
    return lambda e, a: e.fptrunc(native(function, e, e.fpext(a, e.double())), e.float())


_QUARTER, _HALF, _ONE = (_known(number) for number in (0.25, 0.5, 1.0))
_SINE, _LOGARITHM, _TANGENT = (tuple(map(_known, numbers)) for numbers in (SINE, LOGARITHM, TANGENT))


def _polynomial(coefficients: tuple[np.ndarray, ...], a: Value) -> Value:
    """With arrays, of one new array."""
    *rest, before, last = coefficients
    total = a * last
    total += before
    for coefficient in reversed(rest):
        total *= a
        total += coefficient
    return total


def _odd(coefficients: tuple[np.ndarray, ...], a: Value) -> Value:
    result = _polynomial(coefficients, a * a)
    result *= a
    return result


def sine(arithmetic: Arithmetic, turns: Value) -> Value:
    """The sine of a number of turns. Of multiples of half a turn it is 0 with their sign; infinities give NaN."""
    part = arithmetic.size(turns)
    part -= arithmetic.cut(part)
    # The differences that are taken are exact: up to 1/4 of a turn, to 3/4, and beyond.
    quarter = arithmetic.larger(arithmetic.smaller(part, _HALF - part), part - _ONE)
    quarter *= arithmetic.signed(_ONE, turns)
    return _odd(_SINE, quarter)


def cosine(arithmetic: Arithmetic, turns: Value) -> Value:
    """The cosine of a number of turns; infinities give NaN."""
    part = turns - arithmetic.whole(turns)
    return _odd(_SINE, _QUARTER - arithmetic.size(part))


_MANTISSA_BITS = _known(52)
_ROOT_OF_HALF = _known(0x3FE6A09E00000000)  # nearly


def log2(arithmetic: Arithmetic, a: Value) -> Value:
    """The logarithm to the base 2 of a positive normal number; of any other one anything."""
    bits = arithmetic.bits(a)
    exponent = bits - _ROOT_OF_HALF
    exponent >>= _MANTISSA_BITS
    mantissa = arithmetic.number(bits - (exponent << _MANTISSA_BITS))
    # log2(m) is log2((1 + s) / (1 - s)) of s = (m - 1) / (m + 1).
    s = mantissa - _ONE
    s /= mantissa + _ONE
    result = _odd(_LOGARITHM, s)
    result += arithmetic.converted(exponent)
    return result


#: From here on tanh is 1 in float64.
_FARTHEST = _known(22.0)
_PER_HALF_LOGARITHM, _HALF_LOGARITHM = _known(2.8853900817779268), _known(0.34657359027997264)
#: A sum with this has the whole number nearest to the other addend, plus the bias of exponents, in its last bits.
_LAST_BITS = _known(1.5 * 2.0**52 + 1023)


def tanh(arithmetic: Arithmetic, a: Value) -> Value:
    """The hyperbolic tangent. A zero keeps its sign, infinities give 1 with theirs."""
    size = arithmetic.smaller(arithmetic.size(a), _FARTHEST)
    # It is that of k log(2) / 2 + u: of the first part it is (2**k - 1) / (2**k + 1), of u it is t.
    biased = size * _PER_HALF_LOGARITHM
    biased += _LAST_BITS
    power = arithmetic.number(arithmetic.bits(biased) << _MANTISSA_BITS)  # 2**k
    biased -= _LAST_BITS
    biased *= _HALF_LOGARITHM
    size -= biased
    t = _odd(_TANGENT, size)
    less, more = power - _ONE, power + _ONE
    divisor = less * t
    divisor += more
    more *= t
    more += less
    more /= divisor
    return arithmetic.signed(more, a)
