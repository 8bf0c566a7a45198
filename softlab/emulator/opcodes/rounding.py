"""Exact sums and products of floats, and their rounding: the arithmetic beneath add, mul and fma.

Sources: T. J. Dekker, "A floating-point technique for extending the available precision" (1971), for the error of a
product; D. E. Knuth, TAOCP 2, 4.2.2, for the error of a sum; S. Boldo and G. Melquiond, "Emulation of FMA and correctly
rounded sums: proved algorithms using rounding to odd" (2008).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from softlab.emulator.opcodes.forms import select

#: PTX's rounding modes: nearest even, towards zero, down, up.
MODES = ("rn", "rz", "rm", "rp")

_F64 = np.float64
_U64 = np.uint64
_ONE = np.uint64(1)
# A float64 is about to be rounded to 24 bits: it may be halfway between two float32 only where its low 28 bits are 0.
_BELOW_TIE = np.uint64((1 << 28) - 1)
_TIE = np.uint64(1 << 28)
_BELOW_FLOAT32 = np.uint64((1 << 29) - 1)
_LEAST_NORMAL = 2.0**-126


def two_sum(a, b):
    """``a + b`` rounded, and what rounding lost; exact barring overflow."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def add_to_odd(a, b):
    """``a + b`` in float64, rounded to the neighbour with an odd last bit where it is inexact.

    Rounding that once more, to two bits or more fewer, gives the correctly rounded sum.
    """
    total, error = two_sum(a, b)
    bits = total.view(_U64)
    # An inexact sum that is even has its odd neighbour on the side of the error.
    step = np.where((error > 0) == (total > 0), _ONE, ~np.uint64(0))
    odd = np.where((error != 0) & ((bits & _ONE) == 0) & np.isfinite(error), bits + step, bits)
    return odd.view(_F64)[()]


def fma_f32(a, b, c):
    """``a * b + c`` of float32, rounded once to nearest even.

    In float64 the product is exact and only the sum rounds; rounding it again to float32 goes wrong only where the
    first rounding lands exactly halfway between two float32.
    """
    total = a.astype(_F64) * b.astype(_F64) + c.astype(_F64)  # for few lanes faster than multiply(dtype=...)
    bits = total.view(_U64) & _BELOW_TIE
    if np.count_nonzero(bits) == bits.size:
        return total.astype(np.float32)
    return _round_suspects(total, a, b, c)


def _round_suspects(total, a, b, c):
    result = total.astype(np.float32)
    bits = total.view(_U64)
    suspect = (bits & _BELOW_FLOAT32) == _TIE
    # Below the least normal float32 a tie can have its last bit anywhere.
    suspect |= (np.abs(total) < _LEAST_NORMAL) & ((bits & _BELOW_TIE) == 0) & (total != 0)
    if not suspect.any():
        return result
    if np.ndim(total) == 0:
        return add_to_odd(np.multiply(a, b, dtype=_F64), _F64(c)).astype(np.float32)
    a, b, c = (np.broadcast_to(value, total.shape)[suspect].astype(_F64) for value in (a, b, c))
    result[suspect] = add_to_odd(a * b, c).astype(np.float32)
    return result


def _step(value, upwards):
    """The next float up where ``upwards`` (a bool), else down; not for NaN."""
    unsigned = np.dtype(f"u{value.dtype.itemsize}").type
    bits = value.view(unsigned)
    grows = np.signbit(value) != upwards
    # Neighbouring floats have neighbouring bits.
    stepped = bits + (np.multiply(grows, unsigned(2)) - unsigned(1))
    zero = value == 0
    if zero.any():
        sign = np.multiply(~upwards, unsigned(1 << 8 * value.dtype.itemsize - 1))
        stepped = select(zero, sign | unsigned(1), stepped)
    return stepped.view(value.dtype)


def direct(result, sign, mode: str):
    """A result rounded to nearest, put right for a directed mode.

    Arguments:
        result: the rounded value; float32 or float64.
        sign: a number with the sign of (exact value - result); NaN or 0 where the result stays.
        mode: "rz", "rm" or "rp".
    """
    upwards = sign > 0
    if mode == "rp":
        wrong = upwards
    elif mode == "rm":
        wrong = sign < 0
    else:
        wrong = (upwards | (sign < 0)) & (upwards == np.signbit(result))
    return select(wrong, _step(result, upwards), result) if wrong.any() else result


def _signed_zero(result, total, a, b, mode: str):
    """Downwards, an exact sum ``total`` of 0 is -0 unless both parts are +0."""
    if mode != "rm" or not (total == 0).any():
        return result
    negative = (total == 0) & (np.signbit(a) | np.signbit(b))
    return select(negative, np.negative(np.abs(result)), result)


def round_f32(total, error, mode: str):
    """float64 ``total`` plus its ``error`` (two_sum's), as float32 in this mode (not "rn")."""
    return _round_sum_f32(total, lambda: error, mode)


def cut_f32(total):
    """float64 cut to the 24 bits of a float32 (towards zero), still float64."""
    return (total.view(_U64) & ~_BELOW_FLOAT32).view(_F64)


def _round_sum_f32(total, error: Callable, mode: str):
    """``round_f32``, the error asked for only where the total alone does not show the direction of rounding."""
    result = total.astype(np.float32)
    sign = total - result
    settled = sign != 0
    if not settled.all():
        sign = np.where(settled, sign, error())[()]
    return direct(result, sign, mode)


def add_f32(mode: str) -> Callable:
    """``a + b`` of float32 in this mode."""
    if mode == "rn":
        return np.add

    def add(a, b):
        a, b = a.astype(_F64), b.astype(_F64)
        total = a + b
        return _signed_zero(_round_sum_f32(total, lambda: two_sum(a, b)[1], mode), total, a, b, mode)

    return add


def mul_f32(mode: str) -> Callable:
    """``a * b`` of float32 in this mode."""
    if mode == "rn":
        return np.multiply
    return lambda a, b: round_f32(np.multiply(a, b, dtype=_F64), _F64(0), mode)


def scaled_mul_f32(mode: str, scale: float) -> Callable:
    """``a * b * scale`` of float32, rounded once in this mode. float64 is exact, since ``scale`` is a power of two."""
    scale = _F64(scale)
    if mode == "rn":
        return lambda a, b: (np.multiply(a, b, dtype=_F64) * scale).astype(np.float32)
    return lambda a, b: round_f32(np.multiply(a, b, dtype=_F64) * scale, _F64(0), mode)


def fused_f32(mode: str) -> Callable:
    """``a * b + c`` of float32, rounded once in this mode."""
    if mode == "rn":
        return fma_f32

    def fma(a, b, c):
        product, c = np.multiply(a, b, dtype=_F64), c.astype(_F64)
        total = product + c
        result = _round_sum_f32(total, lambda: two_sum(product, c)[1], mode)
        return _signed_zero(result, total, product, c, mode)

    return fma


def div_f32(mode: str) -> Callable:
    """``a / b`` of float32 in this mode."""
    if mode == "rn":
        return np.divide

    def div(a, b):
        result = np.divide(a, b)
        # The remainder of a rounded quotient is exact in float64.
        remainder = a - np.multiply(result, b, dtype=_F64)
        return direct(result, remainder * np.where(np.signbit(b), -1.0, 1.0)[()], mode)

    return div


def sqrt_f32(mode: str) -> Callable:
    """The square root of a float32 in this mode."""
    if mode == "rn":
        return np.sqrt

    def sqrt(a):
        result = np.sqrt(a)
        return direct(result, a - np.multiply(result, result, dtype=_F64), mode)

    return sqrt


# float64: the error of a product by splitting factors in halves of 26 bits.
_SPLIT = 2.0**27 + 1
# Exponents between which neither a product of two floats, nor its error, nor a sum with it over- or underflows.
_SAFE_LOW, _SAFE_HIGH = 2.0**-450, 2.0**450


def _two_product(a, b):
    product = a * b
    part = a * _SPLIT
    a_high = part - (part - a)
    part = b * _SPLIT
    b_high = part - (part - b)
    a_low, b_low = a - a_high, b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def fma_f64(a, b, c):
    """``a * b + c`` of float64, rounded once to nearest even.

    The sum of the product, its error and c is known to about 106 bits; where rounding it up or down by that uncertainty
    gives two answers, or where a part may have over- or underflowed, the lane is worked out exactly.
    """
    product, low = _two_product(a, b)
    total, rest = two_sum(product, c)
    rest = rest + low
    result = total + rest * _ABOVE
    sure = (result == total + rest * _BELOW) & (np.abs(product) > _LEAST_PRODUCT) & (result != 0) & np.isfinite(result)
    if sure.all():
        return result
    doubtful = ~sure
    if np.ndim(result) == 0:
        return _fused_f64(a, b, c, "rn")
    a, b, c = (np.broadcast_to(value, result.shape)[doubtful] for value in (a, b, c))
    result[doubtful] = _fused_f64(a, b, c, "rn")
    return result


# The uncertainty of a sum of two float64 that was rounded to nearest, with a margin.
_ABOVE, _BELOW = 1 + 2.0**-51, 1 - 2.0**-51
# Above this the error of a product does not underflow.
_LEAST_PRODUCT = 2.0**-900


def _fused_f64(a, b, c, mode: str):
    product, low = _two_product(a, b)
    high_sum, low_sum = two_sum(c, low)
    total, rest = two_sum(product, high_sum)
    if mode == "rn":
        result = total + add_to_odd(rest, low_sum)
    else:
        rest, lost = two_sum(rest, low_sum)
        result, difference = two_sum(total, rest)
        result = direct(result, np.where(difference != 0, difference, lost)[()], mode)
    # An exact 0 needs the sign that plain arithmetic gives it.
    plain = product + c
    result = np.where(result == 0, _signed_zero(plain, plain, product, c, mode), result)[()]
    safe = _is_safe(a) & _is_safe(b) & _is_safe(c)
    if safe.all():
        return result
    return _patch(result, ~safe, mode, a, b, c)


def _is_safe(value):
    size = np.abs(value)
    return ((size > _SAFE_LOW) & (size < _SAFE_HIGH)) | (size == 0)


def _patch(result, where, mode: str, a, b, c):
    """Put right, lane by lane, those for which the error-free transformations may over- or underflow."""
    if np.ndim(result) == 0:
        return _F64(_exact_fma(float(a), float(b), float(c), mode))
    shape = result.shape
    a, b, c = (np.broadcast_to(value, shape) for value in (a, b, c))
    # Infinities and NaN need no care: plain arithmetic is right for them.
    plain = where & ~(np.isfinite(a) & np.isfinite(b) & np.isfinite(c))
    result = np.array(result)
    result[plain] = np.where(np.isfinite(a) & np.isfinite(b), c, a * b + c)[plain]
    where = where & ~plain
    for index in zip(*np.nonzero(where), strict=True):
        result[index] = _exact_fma(float(a[index]), float(b[index]), float(c[index]), mode)
    return result


def _exact_fma(a: float, b: float, c: float, mode: str) -> float:
    if not (math.isfinite(a) and math.isfinite(b)):
        return float(_F64(a) * _F64(b) + _F64(c))
    if not math.isfinite(c):
        return c  # a * b may overflow, but is finite
    (a_whole, a_parts), (b_whole, b_parts), (c_whole, c_parts) = (x.as_integer_ratio() for x in (a, b, c))
    # Denominators are powers of two: both parts become whole numbers times 2**last.
    product_last = 2 - a_parts.bit_length() - b_parts.bit_length()
    c_last = 1 - c_parts.bit_length()
    last = min(product_last, c_last)
    exact = (a_whole * b_whole << product_last - last) + (c_whole << c_last - last)
    if exact == 0:
        product_sign = math.copysign(1, a) * math.copysign(1, b)
        if product_sign == math.copysign(1, c):
            return math.copysign(0.0, c)
        return -0.0 if mode == "rm" else 0.0
    return round_scaled(exact, last, mode)


def round_scaled(whole: int, last: int, mode: str) -> float:
    """``whole * 2**last``, not 0, as float64 in this mode; correct for subnormals and overflow."""
    negative, size = whole < 0, abs(whole)
    lost = max(size.bit_length() - 53, -1074 - last)
    if lost > 0:
        rest, half = size & (1 << lost) - 1, 1 << lost - 1
        size >>= lost
        last += lost
        if mode == "rn":
            size += rest > half or (rest == half and size & 1)
        elif mode != "rz":
            size += rest > 0 and negative == (mode == "rm")
    if size.bit_length() + last > 1024:
        grows = mode == "rn" or (mode == "rm" and negative) or (mode == "rp" and not negative)
        result = math.inf if grows else float(np.finfo(_F64).max)
    else:
        result = math.ldexp(size, last)
    return -result if negative else result


def fused_f64(mode: str) -> Callable:
    """``a * b + c`` of float64, rounded once in this mode."""
    return lambda a, b, c: _fused_f64(a, b, c, mode)


def add_f64(mode: str) -> Callable:
    """``a + b`` of float64 in this mode."""
    if mode == "rn":
        return np.add

    def add(a, b):
        total, error = two_sum(a, b)
        # An overflow loses the error; there the sum is beyond every finite number, on its own side.
        overflow = np.isinf(total) & np.isfinite(a) & np.isfinite(b)
        error = np.where(overflow, np.negative(total), error)[()]
        return _signed_zero(direct(total, error, mode), total, a, b, mode)

    return add


def mul_f64(mode: str) -> Callable:
    """``a * b`` of float64 in this mode."""
    if mode == "rn":
        return np.multiply
    sign = np.uint64(1 << 63)

    def mul(a, b):
        # Adding a zero of the product's sign leaves the product alone.
        return _fused_f64(a, b, ((a.view(_U64) ^ b.view(_U64)) & sign).view(_F64), mode)

    return mul


def div_f64(mode: str) -> Callable:
    """``a / b`` of float64 in this mode."""
    if mode == "rn":
        return np.divide

    def div(a, b):
        result = np.divide(a, b)
        finite = np.isfinite(a) & np.isfinite(b) & (b != 0)
        remainder = _fused_f64(np.negative(result), b, a, "rn")
        sign = remainder * np.where(np.signbit(b), -1.0, 1.0)
        # A remainder may underflow to 0, and an overflowed quotient has none: settle those exactly.
        doubtful = finite & (~np.isfinite(result) | ((remainder == 0) & (np.abs(a) < _SAFE_LOW)))
        if doubtful.any():
            sign = np.array(np.broadcast_to(sign, np.shape(result)))
            a, b = np.broadcast_to(a, np.shape(result)), np.broadcast_to(b, np.shape(result))
            for index in zip(*np.nonzero(doubtful), strict=True) if np.ndim(result) else [()]:
                if np.isfinite(result[index]):
                    exact = Fraction(float(a[index])) / Fraction(float(b[index])) - Fraction(float(result[index]))
                    sign[index] = (exact > 0) - (exact < 0)
                else:
                    sign[index] = -np.sign(result[index])
        return direct(result, np.where(finite, sign, 0.0)[()], mode)

    return div


def sqrt_f64(mode: str) -> Callable:
    """The square root of a float64 in this mode."""
    if mode == "rn":
        return np.sqrt

    def sqrt(a):
        # Scaling by an even power of two keeps the remainder from underflow.
        small = a < _SAFE_LOW
        scaled = np.where(small, a * 2.0**600, a)[()]
        result = np.sqrt(scaled)
        rounded = direct(result, _fused_f64(np.negative(result), result, scaled, "rn"), mode)
        return np.where(small, rounded * 2.0**-300, rounded)[()]

    return sqrt
