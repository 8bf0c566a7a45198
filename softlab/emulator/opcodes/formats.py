"""Between float formats: f16 (NumPy's), bf16 (raw bits), tf32 (float32 bits), f32 and f64.

Results that are NaN have the bits hardware gives them where the format is 16 bits wide (0x7fff).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.floats import canonical, has_nan
from softlab.emulator.opcodes.forms import select
from softlab.emulator.opcodes.rounding import cut_f32, direct, round_f32, two_sum

_U32 = np.uint32
_SIXTEEN = np.uint32(16)
_UPPER = np.uint32(0xFFFF0000)
_INFINITY = np.uint32(0x7F800000)
_MAGNITUDE = np.uint32(0x7FFFFFFF)
_NAN_16 = np.uint16(0x7FFF)


def widen_bf16(a):
    """bf16 bits as float32; exact."""
    return (a.astype(_U32) << _SIXTEEN).view(np.float32)


def narrow_bf16(a):
    """float32 rounded to nearest even bf16, as bits."""
    bits = a.view(_U32)
    last = (bits >> _SIXTEEN) & _U32(1)
    result = ((bits + (last + _U32(0x7FFF))) >> _SIXTEEN).astype(np.uint16)
    return select(np.isnan(a), _NAN_16, result) if has_nan(a) else result


def widen_f16(a):
    """float16 as float32; exact.

    Not NumPy's cast, which takes 50 ns for a subnormal, and softmax makes many of those.
    """
    # The sign, the exponent and the fraction in their positions; the exponent's bias is 112 short.
    bits = (a.view(np.int16).astype(np.int32) << _THIRTEEN) & _F16_MASK
    result = bits.view(np.float32) * _F16_BIAS
    if (np.abs(result)).max() < _F16_BEYOND:
        return result
    special = np.abs(result) >= _F16_BEYOND
    return canonical(select(special, (bits | _INFINITY.view(np.int32)).view(np.float32), result))


_THIRTEEN = np.int32(13)
_F16_MASK = np.uint32(0x8FFFE000).view(np.int32)
_F16_BIAS = np.float32(2.0**112)
_F16_BEYOND = np.float32(65536)


def narrow_f16(a):
    """float32 rounded to nearest even float16.

    Not NumPy's cast, which takes 100 ns for a subnormal, and softmax makes many of those.
    """
    bits = a.view(_U32)
    size = bits & _MAGNITUDE
    last = (size >> _U32(13)) & _U32(1)
    # Rounded to 10 bits, counted from the least normal; what is below it wraps to the far end, and that to infinity.
    normal = np.minimum((size + (last + _F16_REBIAS)) >> _U32(13), _F16_NORMALS) + _F16_LEAST_NORMAL
    # Next to 0.5 a float32 counts in the unit of the float16 subnormals. For normals this is the larger of the two.
    subnormal = (size.view(np.float32) + _HALF).view(_U32) - _HALF.view(_U32)
    result = (np.minimum(normal, subnormal) | ((bits >> _SIXTEEN) & _U32(0x8000))).astype(np.uint16)
    return (select(np.isnan(a), _NAN_16, result) if has_nan(a) else result).view(np.float16)


_HALF = np.float32(0.5)
_F16_REBIAS = np.uint32((0xFFF - (113 << 23)) & 0xFFFFFFFF)
_F16_LEAST_NORMAL, _F16_NORMALS = np.uint32(0x400), np.uint32(0x7C00 - 0x400)


def cut_f16(total):
    """float64 towards zero to float16; from 2**16 on infinite."""
    cut = round_f16(total, np.float64(0), "rz")
    return np.where(np.abs(total) >= _F16_BEYOND, np.copysign(np.float16(np.inf), total), cut).astype(np.float16)[()]


def cut_bf16(total):
    """float64 towards zero to bf16 bits; from 2**128 on infinite."""
    near = cut_f32(total).astype(np.float32)
    bits = (near.view(_U32) >> _SIXTEEN).astype(np.uint16)
    return select(np.isnan(near), _NAN_16, bits) if has_nan(near) else bits


def nudged(a, b=None):
    """float64 ``a``, or ``a + b``, as a float32 that rounds to a format of 16 bits as the exact value does.

    Rounding twice goes wrong only where float32 is halfway between two of the narrow format, its low 12 bits 0 then;
    one unit towards the exact value puts it on the right side.
    """
    near = (a if b is None else a + b).astype(np.float32)
    suspect = (near.view(_U32) & _U32(0xFFF)) == 0
    if not suspect.any():
        return near
    if np.ndim(near) == 0:
        return _towards(near, *((a, np.float64(0)) if b is None else two_sum(a, b)))
    some = np.broadcast_to(a, near.shape)[suspect]
    exact = (some, np.float64(0)) if b is None else two_sum(some, np.broadcast_to(b, near.shape)[suspect])
    near[suspect] = _towards(near[suspect], *exact)
    return near


def _towards(near, total, error):
    """float32 ``near``, one unit closer to ``total + error`` where it is not that."""
    rest = total - near
    rest = np.where(rest != 0, rest, error)
    step = np.sign(rest) * np.sign(near)
    step = np.where(np.isfinite(step), step, 0).astype(np.int32)
    return (near.view(np.int32) + step).view(np.float32)


def round_bf16(total, error, mode: str):
    """float64 ``total`` plus its ``error``, rounded once to bf16 bits in this mode."""
    cut = round_f32(total, error, "rz")
    inexact = (cut != total) | (error != 0)
    bits = cut.view(_U32)
    if mode == "rn":
        # Cut with a sticky last bit: rounding it again is rounding once.
        return narrow_bf16((bits | inexact).view(np.float32))
    inexact = inexact | ((bits & ~_UPPER) != 0)
    result = (bits >> _SIXTEEN).astype(np.uint16)
    negative = np.signbit(total)
    away = {"rz": False, "rm": inexact & negative, "rp": inexact & ~negative}[mode]
    nan = np.isnan(total)
    return select(nan, _NAN_16, result + np.multiply(np.uint16(1), away & np.isfinite(total), dtype=np.uint16))


def round_f16(total, error, mode: str):
    """float64 ``total`` plus its ``error``, rounded once to float16 in this mode."""
    result = narrow_f16(nudged(total))
    if mode == "rn":
        return result
    difference = total - widen_f16(result)
    return direct(result, np.where(difference != 0, difference, error)[()], mode)


def round_f64(total, error, mode: str):
    """float64 ``total`` plus its ``error``, in this mode."""
    return total if mode == "rn" else direct(total, error, mode)


def _round_f32(total, error, mode: str):
    return total.astype(np.float32) if mode == "rn" else round_f32(total, error, mode)


#: Format -> function of (float64 total, its error, mode): the sum, rounded once. For "rn" only bf16 takes an error.
ROUND: dict[str, Callable] = {"f16": round_f16, "bf16": round_bf16, "f32": _round_f32, "f64": round_f64}

#: 16-bit format -> function that gives the value as float32; exact.
WIDEN: dict[str, Callable] = {"f16": widen_f16, "bf16": widen_bf16}
#: 16-bit format -> function that rounds a float32 to it, to nearest even.
NARROW: dict[str, Callable] = {"f16": narrow_f16, "bf16": narrow_bf16}


def _same(a):
    return a


def float_conversion(result: str, source: str, mode: str) -> Callable:
    """The conversion of a float of one format to another, rounded once in this mode."""
    if source == result:
        return _same
    if mode == "rn" and source == "f32" and result in NARROW:
        return NARROW[result]
    if source in WIDEN:
        widen = WIDEN[source]
        if result == "f32":
            return widen
        if mode == "rn" and result in NARROW:
            narrow = NARROW[result]
            return lambda a: narrow(widen(a))
    else:
        widen = _same
    if mode == "rn" and result in ("f32", "f64"):
        dtype = {"f32": np.float32, "f64": np.float64}[result]
        return lambda a: widen(a).astype(dtype)
    if result not in ROUND:
        raise NotImplementedError(f"a conversion to {result}")
    rounded, zero = ROUND[result], np.float64(0)
    if source == "f64" and result in NARROW:
        return _keeping_nan(lambda a: rounded(a, zero, mode), result)
    return lambda a: rounded(widen(a).astype(np.float64), zero, mode)


def _keeping_nan(function: Callable, result: str) -> Callable:
    """``function`` from f64 to a 16-bit format, a NaN keeping its sign and its highest bits, as on hardware (H200)."""
    infinity, fraction = {"f16": (0x7C00, 10), "bf16": (0x7F80, 7)}[result]
    down, low = np.uint64(52 - fraction), np.uint64((1 << fraction) - 1)
    sign, quiet = np.uint64(0x8000), np.uint64(infinity | 1 << fraction - 1)

    def convert(a):
        value = function(a)
        if not has_nan(a):
            return value
        bits = a.view(np.uint64)
        nan = ((bits >> np.uint64(48)) & sign | (bits >> down) & low | quiet).astype(np.uint16)
        return select(np.isnan(a), nan.view(value.dtype), value)

    return convert


def relu(function: Callable) -> Callable:
    """``function``, whose results are of a 16-bit format with hardware's NaN, its negative results as +0."""
    sign = np.uint16(0x8000)

    def clamped(*sources):
        result = function(*sources)
        bits = result.view(np.uint16)
        return np.multiply(bits, bits < sign).view(result.dtype)

    return clamped


def narrow_tf32(a, mode: str):
    """float32 rounded to 10 bits after the point, as bits; "rna" rounds ties away from zero."""
    bits = a.view(_U32)
    keep = _U32(0xFFFFE000)
    if mode == "rna":
        rounded = bits + _U32(0x1000)
    elif mode == "rn":
        rounded = bits + _U32(0x0FFF) + ((bits >> _U32(13)) & _U32(1))
    else:
        rounded = bits
    special = (bits & _INFINITY) == _INFINITY
    # Hardware (H200) cuts a NaN for "rna", else gives the largest.
    nan = (bits if mode == "rna" else _MAGNITUDE) & keep
    return np.where(np.isnan(a), nan, np.where(special, bits, rounded & keep))[()]
