"""2**x and 1/x as the GPU's special function unit computes them: bit for bit.

The unit splits a mantissa into a segment (its upper bits) and a distance d into it (the rest), looks up three
coefficients and takes c0 + c1 d + c2 d**2. The square is a truncated one: of the products of d's bits it keeps those
that weigh at least 2**-15. The result is cut to 24 bits. That form is published (S. Oberman and M. Siu, "A
High-Performance Area-Efficient Multifunction Interpolator", ARITH 2005); the coefficients in
``softlab/emulator/opcodes/data/special_functions.json`` and the rest of what is here were recovered from the results of
an H200 (``tests/hardware/special_functions.py``), and meet them at each of the 2**23 mantissas exactly.

2**x first makes x a fixed-point number with 23 bits behind the point, cut toward zero. A negative one is negated by
inverting its bits, which is too little by 2**-23: so 2**x of negative x is up to an ulp low, unless x is whole.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files

import numpy as np

#: Bits of a float32 behind the point of its mantissa.
_MANTISSA = 23
_MANTISSA_MASK = (1 << _MANTISSA) - 1
_LEAST_NORMAL = np.float32(2.0**-126)
#: The square of a distance has this many bits behind the point, and looks at as many bits of the distance.
_SQUARE_BITS = 15
#: A distance of the longest segment has this many bits; sums are kept in units of 2**-17 of the last bit.
_DISTANCE_BITS = 17


@lru_cache(maxsize=1)
def _square() -> np.ndarray:
    """The unit's square of each distance, by its upper 15 bits: (32768,) int64 in units of 2**-17."""
    distance = np.arange(1 << _SQUARE_BITS)
    bit = {i: distance >> (_SQUARE_BITS - i) & 1 for i in range(1, _SQUARE_BITS + 1)}  # bit i weighs 2**-i
    square = np.zeros(len(distance), np.int64)
    for i in bit:
        if 2 * i <= _SQUARE_BITS:  # times itself it weighs 2**-2i
            square += bit[i] << (_SQUARE_BITS - 2 * i)
        for j in range(i + 1, _SQUARE_BITS + 2 - i):  # bits i and j meet twice: 2**(1 - i - j)
            square += (bit[i] & bit[j]) << (_SQUARE_BITS + 1 - i - j)
    return square << (_DISTANCE_BITS - _SQUARE_BITS)


class _Interpolation:
    """One function's segments. Called with mantissas (int64, any shape), it gives 24-bit results as int64."""

    def __init__(self, name: str) -> None:
        table = json.loads(files("softlab.emulator.opcodes").joinpath("data/special_functions.json").read_text())[name]
        rows = np.array(table["rows"], np.int64)
        # c0 counts quarters of the last bit; the bias, less than a quarter, is the unit's rounding.
        self._c0 = (rows[:, 0] << (_DISTANCE_BITS - 2)) + table["bias"]
        self._c1, self._c2 = rows[:, 1], rows[:, 2]
        segment_bits = len(rows).bit_length() - 1
        self._shift = _MANTISSA - segment_bits
        self._mask = (1 << (_MANTISSA - segment_bits)) - 1
        self._align = _DISTANCE_BITS - (_MANTISSA - segment_bits)
        self._square = _square()

    def __call__(self, mantissa: np.ndarray) -> np.ndarray:
        segment = mantissa >> self._shift
        distance = (mantissa & self._mask) << self._align
        total = self._c1.take(segment)
        total *= distance
        total += self._c0.take(segment)
        distance >>= _DISTANCE_BITS - _SQUARE_BITS
        square = self._square.take(distance)
        square *= self._c2.take(segment)
        total += square
        total >>= _DISTANCE_BITS
        return total


@lru_cache(maxsize=2)
def _interpolation(name: str) -> _Interpolation:
    return _Interpolation(name)


#: Beyond this 2**x is infinite or 0 in any case, and the fixed-point number would leave 32 bits.
_FARTHEST = np.float32(250)
_POINT = np.float32(1 << _MANTISSA)
_WHOLE = np.int32(1 << _MANTISSA)


def exp2_flushed(x: np.ndarray) -> np.ndarray:
    """``ex2.approx.ftz.f32``: 2**x, subnormal results are 0. x: float32, any shape."""
    x = np.asarray(x)
    size = np.minimum(np.abs(x), _FARTHEST)  # NaN stays, and is put back below
    fixed = (size * _POINT).astype(np.int64)
    fixed ^= x.view(np.int32) >> 31
    mantissa = fixed & _MANTISSA_MASK
    exponent = fixed >> _MANTISSA
    bits = _interpolation("ex2")(mantissa)
    bits += (exponent + 126) << _MANTISSA  # the result's own leading bit is the 127th
    result = bits.astype(np.int32).view(np.float32)
    lowest, highest = exponent.min(), exponent.max()
    # The bits of a whole negative number are all ones, too: those results are exact.
    ones = mantissa == _MANTISSA_MASK
    if ones.any():
        whole = ones & (x < 0) & (np.trunc(x) == x)
        result = np.where(whole, np.exp2(x), result)
        near = ones & (x <= 0) & (np.abs(x) * _POINT < 1)  # rounds to a fixed-point 0, whose power is 1
        result = np.where(near, np.float32(1), result)
    if lowest < -126:
        result = np.where(exponent < -126, np.float32(0), result)
        result = np.where(x == -126, _LEAST_NORMAL, result)
    if highest > 127:
        result = np.where(exponent > 127, np.float32(np.inf), result)
    if np.isnan(size.max()):
        result = np.where(np.isnan(x), x, result)
    return result[()]


_HALF = np.float32(0.5)


def exp2(x: np.ndarray) -> np.ndarray:
    """``ex2.approx.f32``: below -126 the assembler halves x and squares the result, which can so be subnormal."""
    x = np.asarray(x)
    low = x < -126
    if not low.any():
        return exp2_flushed(x)
    result = exp2_flushed(np.where(low, x * _HALF, x))
    return np.where(low, result * result, result)[()]


_EXPONENT = np.int32(0x7F800000)
_SIGN = np.int32(-0x80000000)
#: Exponents from here on have a subnormal reciprocal.
_LARGE = np.int32(253 << _MANTISSA)
_UP, _DOWN = np.float32(2.0**24), np.float32(0.25)


def reciprocal(x: np.ndarray) -> np.ndarray:
    """``rcp.approx.f32``: 1/x; 0, infinity and NaN as usual. x: float32, any shape.

    A divisor that is subnormal, or has a subnormal reciprocal, is scaled by a power of two first, and the result after.
    """
    x = np.asarray(x)
    exponent = x.view(np.int32) & _EXPONENT
    result = ordinary_reciprocal(x, exponent)
    if exponent.min() > 0 and exponent.max() < _LARGE:
        return result
    scale = np.where(exponent == 0, _UP, np.where(exponent < _LARGE, np.float32(1), _DOWN))
    scaled = x * scale
    result = ordinary_reciprocal(scaled, scaled.view(np.int32) & _EXPONENT) * scale
    return np.where((x == 0) | (exponent == _EXPONENT), np.reciprocal(x), result)[()]


def ordinary_reciprocal(x: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """1/x where x and 1/x are normal; anything elsewhere. exponent: that of x in its bits, int32."""
    bits = x.view(np.int32)
    # 1/m of a mantissa m is from 0.5 to 1, with 24 bits: less its leading bit, half an exponent down.
    found = _interpolation("rcp")((bits & np.int32(_MANTISSA_MASK)).astype(np.int64))
    found += (_LARGE - exponent) - _WHOLE
    return (found.astype(np.int32) | (bits & _SIGN)).view(np.float32)
