"""Between float formats: f16 (NumPy's), bf16 (raw bits), tf32 (float32 bits), f32 and f64.

Results that are NaN have the bits hardware gives them where the format is 16 bits wide (0x7fff).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.floats import canonical
from softlab.emulator.opcodes.forms import select
from softlab.emulator.opcodes.rounding import direct, round_f32

_U32 = np.uint32
_SIXTEEN = np.uint32(16)
_UPPER = np.uint32(0xFFFF0000)
_INFINITY = np.uint32(0x7F800000)
_MAGNITUDE = np.uint32(0x7FFFFFFF)
_NAN_BF16 = np.uint16(0x7FFF)


def widen_bf16(a):
    """bf16 bits as float32; exact."""
    return (a.astype(_U32) << _SIXTEEN).view(np.float32)


def narrow_bf16(a):
    """float32 rounded to nearest even bf16, as bits."""
    bits = a.view(_U32)
    last = (bits >> _SIXTEEN) & _U32(1)
    result = ((bits + (last + _U32(0x7FFF))) >> _SIXTEEN).astype(np.uint16)
    nan = (bits & _MAGNITUDE) > _INFINITY
    return select(nan, _NAN_BF16, result) if nan.any() else result


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
    return select(nan, _NAN_BF16, result + np.multiply(np.uint16(1), away & np.isfinite(total), dtype=np.uint16))


def round_f16(total, error, mode: str):
    """float64 ``total`` plus its ``error``, rounded once to float16 in this mode."""
    result = total.astype(np.float16)
    if mode == "rn":
        return result
    difference = total - result
    return direct(result, np.where(difference != 0, difference, error)[()], mode)


def round_f64(total, error, mode: str):
    """float64 ``total`` plus its ``error``, in this mode."""
    return total if mode == "rn" else direct(total, error, mode)


def _round_f32(total, error, mode: str):
    return total.astype(np.float32) if mode == "rn" else round_f32(total, error, mode)


#: Format -> function of (float64 total, its error, mode): the sum, rounded once. For "rn" only bf16 takes an error.
ROUND: dict[str, Callable] = {"f16": round_f16, "bf16": round_bf16, "f32": _round_f32, "f64": round_f64}

#: Format -> function that gives the value as float64; exact.
WIDEN: dict[str, Callable] = {
    "f16": lambda a: a.astype(np.float64),
    "bf16": lambda a: widen_bf16(a).astype(np.float64),
    "f32": lambda a: a.astype(np.float64),
    "f64": lambda a: a,
}


def _direct_narrowing(result: str, source: str) -> Callable | None:
    """Conversions worth a shorter way, to nearest even."""
    if source == result:
        return lambda a: a
    if source == "bf16" and result == "f32":
        return widen_bf16
    if source == "f32" and result == "bf16":
        return narrow_bf16
    if "bf16" in (source, result):
        return None
    dtype = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[result]
    convert: Callable = lambda a: a.astype(dtype)  # noqa: E731 - a named function would say no more
    return canonical(convert, "f16") if result == "f16" else convert


def float_conversion(result: str, source: str, mode: str) -> Callable:
    """The conversion of a float of one format to another, rounded once in this mode."""
    if mode == "rn" and (short := _direct_narrowing(result, source)):
        return short
    widen, narrow, zero = WIDEN[source], ROUND[result], np.float64(0)
    convert: Callable = lambda a: narrow(widen(a), zero, mode)  # noqa: E731
    return canonical(convert, result) if result == "f16" else convert


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
    nan = (bits & _MAGNITUDE) > _INFINITY
    return np.where(nan, _MAGNITUDE, np.where(special, bits, rounded & keep))[()]
