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

from softlab.emulator.opcodes.emitter import Emitter, Native

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
        self._name = name
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

    def native(self, e: Emitter, mantissa: Native) -> Native:
        """The compiled form: a mantissa (int32) -> a 24-bit result (int32)."""
        word = mantissa.type
        segment = e.lshr(mantissa, word(self._shift))
        distance = e.shl(e.and_(mantissa, word(self._mask)), word(self._align))
        square = e.shl(
            _native_square(e, e.lshr(distance, word(_DISTANCE_BITS - _SQUARE_BITS))),
            word(_DISTANCE_BITS - _SQUARE_BITS),
        )
        total = e.look_up(f"{self._name}_0", self._c0, segment)
        for number, coefficients, power in ((1, self._c1, distance), (2, self._c2, square)):
            factor = e.resized(e.look_up(f"{self._name}_{number}", coefficients.astype(np.int32), segment), 64, True)
            total = e.add(total, e.mul(factor, e.resized(power, 64, False)))
        return e.resized(e.lshr(total, total.type(_DISTANCE_BITS)), 32, False)


def _native_square(e: Emitter, distance: Native) -> Native:
    """The compiled form of :func:`_square`, without a table: (int32) in units of 2**-15.

    Bit i meets the bits below it. Of those the unit keeps the ones whose product with it weighs at least 2**-15.
    """
    word, total = distance.type, distance.type(0)
    for i in range(1, _SQUARE_BITS // 2 + 1):
        place = _SQUARE_BITS - i
        below = e.lshr(e.and_(distance, word((1 << place) - 1)), word(i - 1))
        products = e.add(below, word(1 << (place - i)))
        is_set = e.trunc(e.lshr(distance, word(place)), e.integer(1))
        total = e.add(total, e.select(is_set, products, word(0)))
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
    lowest, highest = x.min(), x.max()
    size = np.minimum(np.abs(x), _FARTHEST)  # NaN stays, and is put back below
    fixed = (size * _POINT).astype(np.int32)
    fixed ^= x.view(np.int32) >> 31
    mantissa = fixed & np.int32(_MANTISSA_MASK)
    exponent = fixed >> _MANTISSA
    bits = _interpolation("ex2")(mantissa.astype(np.int64)).astype(np.int32)
    bits += (exponent + np.int32(126)) << _MANTISSA  # the result's own leading bit is the 127th
    result = bits.view(np.float32)
    # The bits of a whole negative number are all ones, too: those results are exact.
    ones = mantissa == _MANTISSA_MASK
    if ones.any():
        whole = ones & (x < 0) & (np.trunc(x) == x)
        result = np.where(whole, np.exp2(x), result)
        near = ones & (x <= 0) & (np.abs(x) * _POINT < 1)  # rounds to a fixed-point 0, whose power is 1
        result = np.where(near, np.float32(1), result)
    if not lowest > -126:  # or NaN
        result = np.where(exponent < -126, np.float32(0), result)
        result = np.where(x == -126, _LEAST_NORMAL, result)
    if not highest < 128:
        result = np.where(exponent > 127, np.float32(np.inf), result)
    if np.isnan(highest):
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


def native_exp2_flushed(e: Emitter, x: Native) -> Native:
    """The compiled form of :func:`exp2_flushed`; a NaN stays."""
    word, size = e.integer(32), e.magnitude(x)
    near = e.fcmp_ordered("<", size, size.type(float(_FARTHEST)))
    scaled = e.fmul(e.select(near, size, size.type(float(_FARTHEST))), size.type(float(_POINT)))
    bits = e.bits(x)
    fixed = e.xor(e.fptosi(scaled, word), e.ashr(bits, word(31)))
    mantissa = e.and_(fixed, word(_MANTISSA_MASK))
    exponent = e.ashr(fixed, word(_MANTISSA))
    found = _interpolation("ex2").native(e, mantissa)
    bias = e.shl(e.add(exponent, word(126)), word(_MANTISSA))
    result = e.add(found, bias)
    # A whole negative power, or one that rounds to a fixed-point 0: exact, one exponent up.
    ones = e.icmp_signed("==", mantissa, word(_MANTISSA_MASK))
    negative = e.icmp_signed("<", bits, word(0))
    tiny = e.fcmp_ordered("<", scaled, size.type(1.0))
    whole = e.fcmp_ordered("==", e.intrinsic("trunc", x), x)
    exact = e.shl(e.add(exponent, word(128)), word(_MANTISSA))
    result = e.select(e.and_(e.and_(ones, negative), e.or_(tiny, whole)), exact, result)
    result = e.select(e.icmp_signed("<", exponent, word(-126)), word(0), result)
    result = e.select(e.fcmp_ordered("==", x, x.type(-126.0)), word(1 << _MANTISSA), result)
    result = e.select(e.icmp_signed(">", exponent, word(127)), word(_INFINITY), result)
    return e.select(e.is_nan(x), x, e.as_float(result))


def native_exp2(e: Emitter, x: Native) -> Native:
    """The compiled form of :func:`exp2`; a NaN stays."""
    low = e.fcmp_ordered("<", x, x.type(-126.0))
    result = native_exp2_flushed(e, e.select(low, e.fmul(x, x.type(0.5)), x))
    return e.select(low, e.fmul(result, result), result)


_INFINITY = 0x7F800000
_EXPONENT = np.int32(_INFINITY)
_SIGN = np.int32(-0x80000000)
#: Exponents from here on have a subnormal reciprocal.
_LARGE = np.int32(253 << _MANTISSA)
_UP, _DOWN = np.float32(2.0**24), np.float32(0.25)


def reciprocal(x: np.ndarray) -> np.ndarray:
    """``rcp.approx.f32``: 1/x; 0, infinity and NaN as usual. x: float32, any shape.

    A divisor that is subnormal, or has a subnormal reciprocal, is scaled by a power of two first, and the result after.
    """
    scale = scale_of(x)
    result = scaled_reciprocal(x)
    return result if scale is None else (result * scale)[()]


def scale_of(x: np.ndarray) -> np.ndarray | None:
    """The power of two by which a divisor is scaled; None where it is 1 for all."""
    exponent = np.asarray(x).view(np.int32) & _EXPONENT
    if exponent.min() > 0 and exponent.max() < _LARGE:
        return None
    return np.where(exponent == 0, _UP, np.where(exponent < _LARGE, np.float32(1), _DOWN))


def scaled_reciprocal(x: np.ndarray) -> np.ndarray:
    """:func:`reciprocal` divided by :func:`scale_of`; 0, infinity and NaN give their reciprocals."""
    x = np.asarray(x)
    scale = scale_of(x)
    scaled = x if scale is None else x * scale
    exponent = scaled.view(np.int32) & _EXPONENT
    result = ordinary_reciprocal(scaled, exponent)
    if scale is None:
        return result
    return np.where((x == 0) | (exponent == _EXPONENT), np.reciprocal(x), result)[()]


def ordinary_reciprocal(x: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """1/x where x and 1/x are normal; anything elsewhere. exponent: that of x in its bits, int32."""
    bits = x.view(np.int32)
    # 1/m of a mantissa m is from 0.5 to 1, with 24 bits: less its leading bit, half an exponent down.
    found = _interpolation("rcp")((bits & np.int32(_MANTISSA_MASK)).astype(np.int64))
    found += (_LARGE - exponent) - _WHOLE
    return (found.astype(np.int32) | (bits & _SIGN)).view(np.float32)


def native_scale(e: Emitter, x: Native) -> Native:
    """The compiled form of :func:`scale_of`."""
    exponent = e.and_(e.bits(x), e.integer(32)(_INFINITY))
    subnormal = e.icmp_signed("==", exponent, exponent.type(0))
    large = e.icmp_signed(">=", exponent, exponent.type(int(_LARGE)))
    return e.select(subnormal, x.type(float(_UP)), e.select(large, x.type(float(_DOWN)), x.type(1.0)))


def native_scaled_reciprocal(e: Emitter, x: Native) -> Native:
    """The compiled form of :func:`scaled_reciprocal`."""
    word = e.integer(32)
    bits = e.bits(e.fmul(x, native_scale(e, x)))
    exponent = e.and_(bits, word(_INFINITY))
    found = _interpolation("rcp").native(e, e.and_(bits, word(_MANTISSA_MASK)))
    found = e.add(found, e.sub(word(int(_LARGE) - int(_WHOLE)), exponent))
    ordinary = e.as_float(e.or_(found, e.and_(bits, word(int(_SIGN)))))
    special = e.or_(e.fcmp_ordered("==", x, x.type(0.0)), e.icmp_signed("==", exponent, word(_INFINITY)))
    return e.select(special, e.fdiv(x.type(1.0), x), ordinary)


def native_reciprocal(e: Emitter, x: Native) -> Native:
    """The compiled form of :func:`reciprocal`."""
    return e.fmul(native_scaled_reciprocal(e, x), native_scale(e, x))
