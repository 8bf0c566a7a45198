"""cvt of pairs of 8-bit floats, e4m3 and e5m2: to f16 and back, and from f32.

Source: PTX ISA, "Data Movement and Conversion Instructions: cvt". e4m3 has no infinity, and one magnitude is NaN (all
ones). Results are rounded to nearest even, and clamped to the greatest number (``.satfinite``). A NaN becomes 0x7f.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softlab.emulator.opcodes.forms import Form, pure
from softlab.emulator.opcodes.registry import Semantics

_NAN_8, _NAN_16 = np.uint8(0x7F), np.uint16(0x7FFF)
_SIGN_16 = np.uint16(0x8000)
_INFINITY_16 = np.uint16(0x7C00)


@dataclass(frozen=True)
class _Format:
    """``fraction_bits``, the exponent of subnormals, the greatest number, and ``scale``: how much less the float16 is
    that has its fields."""

    fraction_bits: int
    least_exponent: int
    greatest: float
    scale: float


_FORMATS = {"e4m3x2": _Format(3, -6, 448.0, 2.0**8), "e5m2x2": _Format(2, -14, 57344.0, 1.0)}


def narrow_fp8(a, name: str):
    """float32 -> 8 bits, uint8. ``name``: "e4m3x2" or "e5m2x2"."""
    form = _FORMATS[name]
    size = np.minimum(np.abs(a).astype(np.float64), form.greatest)
    exponent = np.maximum(np.frexp(size)[1] - 1, form.least_exponent)
    step = np.ldexp(1.0, exponent - form.fraction_bits)
    # Rounding up may give the next power of two, beyond the greatest number too.
    rounded = np.minimum(np.rint(size / step) * step, form.greatest)
    fields = (rounded / form.scale).astype(np.float16).view(np.uint16) >> np.uint16(10 - form.fraction_bits)
    bits = (fields | (np.signbit(a).astype(np.uint16) << np.uint16(7))).astype(np.uint8)
    return np.where(np.isnan(a), _NAN_8, bits)


def widen_fp8(a, name: str):
    """8 bits, uint16 -> the bits of float16, uint16; exact."""
    form = _FORMATS[name]
    sign = (a & np.uint16(0x80)) << np.uint16(8)
    fields = (a & np.uint16(0x7F)) << np.uint16(10 - form.fraction_bits)
    if form.scale == 1:
        nan = fields > _INFINITY_16
    else:
        nan = fields == np.uint16(0x7F << 7)
        fields = (fields.view(np.float16) * np.float16(form.scale)).view(np.uint16)
    return np.where(nan, _NAN_16, fields | sign)


def to_fp8(form: Form) -> Semantics:
    """``cvt.rn.satfinite.e4m3x2.f32 d, a, b`` (a becomes the upper byte) and ``cvt.rn.satfinite.e4m3x2.f16x2 d, a``."""
    if len(form.types) != 2 or form.types[0] not in _FORMATS:
        raise NotImplementedError(f"cvt from {form.types[-1]} to {form.types[0]}")
    name, source = form.types
    form.one_of("rn")
    form.one_of("satfinite")
    positive = form.flag("relu")

    def narrow(a):
        if positive:
            a = np.where(np.signbit(a) & ~np.isnan(a), np.float32(0), a)
        return narrow_fp8(a, name).astype(np.uint16)

    def both(a, b):
        return ((narrow(a) << np.uint16(8)) | narrow(b))[()]

    if source == "f32":
        return Semantics(both, ("f32", "f32"), ("b16",))
    return Semantics(lambda a: both(*_halves(a)), ("b32",), ("b16",))


def _halves(a):
    """A pair of float16 as two float32, the upper one first."""
    bits = (a >> np.uint32(16)).astype(np.uint16), a.astype(np.uint16)
    return tuple(half.view(np.float16).astype(np.float32) for half in bits)


@pure("cvt", types=("f16x2",))
def _cvt_pair(form: Form) -> Semantics:
    return to_fp8(form)


@pure("cvt", types=("e4m3x2", "e5m2x2"))
def _cvt_from_fp8(form: Form) -> Semantics:
    """``cvt.rn.f16x2.e4m3x2 d, a``."""
    result, name = form.types[0], form.types[-1]
    if len(form.types) != 2 or result != "f16x2":
        raise NotImplementedError(f"cvt from {name} to {result}")
    form.one_of("rn")
    positive = form.flag("relu")

    def widen(a) -> np.ndarray:
        found = widen_fp8(a, name)
        if positive:
            found = np.where((found & _SIGN_16) != 0, np.uint16(0), found)
        return found.astype(np.uint32)

    def both(a):
        return ((widen(a >> np.uint16(8)) << np.uint32(16)) | widen(a & np.uint16(0xFF)))[()]

    return Semantics(both, ("b16",), ("b32",))
