"""The arithmetic of tensor cores, with the rules of Hopper (H100, H200).

**Floats.** A tensor core adds all products of a block of k and the accumulator at once:

1. Products are exact. Their exponent is the sum of the factors' exponents; they are not normalised.
2. The largest exponent of all terms, the accumulator's too, decides the unit: 2 to the power of it, less 25. Each term
   is cut to a multiple of the unit, towards zero. A term that is zero has no exponent. The largest exponent is at least
   -133 with an accumulator of f32, and -21 with one of f16: 7 less than that of subnormals.
3. The sum of the cut terms is exact. It is cut to f32 towards zero, or rounded to f16, to nearest and even.

Subnormals count in full. A NaN, or a sum of infinities of both signs, gives one NaN (0x7fffffff, in f16 0x7fff).
f64 is a chain of fused multiply-adds. Integers are exact and wrap, or are clamped with ``.satfinite``.

The functions work on arrays of NumPy, and on those of CuPy, which follows NumPy's protocols. Sources: see
``docs/tensor_cores.md``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from softlab.emulator.opcodes.floats import canonical
from softlab.emulator.opcodes.rounding import fma_f32, fused_f64

#: Bits of the unit below the largest exponent.
UNIT_BITS = 25
#: How far below the least exponent of the accumulator's format the largest exponent of a sum counts at least.
_BELOW_LEAST = 7
#: The exponent of a zero: below every other.
_NO_EXPONENT = -600
_LEAST_EXPONENT = {"f16": -14, "bf16": -126, "tf32": -126, "f32": -126, "e4m3": -6, "e5m2": -14}
_F32_CUT = np.uint64(0xFFFFFFFF_E0000000)
_QUIET = np.uint64(1 << 51)


def number(kind: str, bits: Any) -> Any:
    """The values of these bits, float32: unsigned integers of the type's width, of any shape."""
    if kind == "f16":
        return bits.view(np.float16).astype(np.float32)
    if kind == "bf16":
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if kind == "tf32":
        return (bits & np.uint32(0xFFFFE000)).view(np.float32)
    if kind == "f32":
        return bits.view(np.float32)
    wide = bits.astype(np.uint16)
    if kind == "e5m2":
        return (wide << np.uint16(8)).view(np.float16).astype(np.float32)
    # e4m3 as f16 with the same fields is too small by 2**8; all ones are NaN.
    magnitude = wide & np.uint16(0x7F)
    fields = (wide & np.uint16(0x80)) << np.uint16(8) | magnitude << np.uint16(7)
    value = fields.view(np.float16).astype(np.float32) * np.float32(256)
    return np.where(magnitude == 0x7F, np.float32(np.nan), value)


def exponent(kind: str, value: Any) -> Any:
    """The exponent of each float32 in this format, int16: subnormals have the least one."""
    field = (value.view(np.uint32) >> np.uint32(23)) & np.uint32(255)
    found = np.maximum(field.astype(np.int16) - np.int16(127), np.int16(_LEAST_EXPONENT[kind]))
    return np.where(value == 0, np.int16(_NO_EXPONENT), found)


def power_of_two(power: Any) -> Any:
    """2 to these integers, float64."""
    return ((power.astype(np.int64) + 1023) << 52).view(np.float64)


def fused_sum(a: Any, b: Any, c: Any, kinds: tuple[str, str, str], unit_bits: int = UNIT_BITS) -> Any:
    """The sum of the products along k and of c, with its terms cut; float64, exact.

    a: (..., m, k), b: (..., n, k), c: (..., m, n), float32; ``kinds``: their formats.
    """
    left, right = (exponent(kind, value) for kind, value in zip(kinds, (a, b), strict=False))
    top = (left[..., :, None, :] + right[..., None, :, :]).max(axis=-1)
    least = np.int16(_LEAST_EXPONENT[kinds[2]] - _BELOW_LEAST)
    top = np.maximum(np.maximum(top, exponent(kinds[2], c)), least)
    scale = power_of_two(unit_bits - top)
    terms = a.astype(np.float64)[..., :, None, :] * b.astype(np.float64)[..., None, :, :]
    terms *= scale[..., None]
    np.trunc(terms, out=terms)
    total = terms.sum(axis=-1) + np.trunc(c.astype(np.float64) * scale)
    return total / scale


def cut_to_f32(total: Any) -> Any:
    """float64 (sums of tensor cores) -> the bits of float32, cut towards zero; one NaN."""
    cut = (total.view(np.uint64) & _F32_CUT).view(np.float64)
    small = np.abs(total) < 2.0**-126
    cut = np.where(small, np.trunc(total * 2.0**149) * 2.0**-149, cut)
    bits = (cut.astype(np.float32) + np.float32(0)).view(np.uint32)  # no negative zero
    return np.where(np.isnan(total), np.uint32(0x7FFFFFFF), bits)


def round_to_f16(total: Any) -> Any:
    """float64 (sums of tensor cores) -> the bits of float16, rounded to nearest and even; one NaN."""
    field = ((total.view(np.uint64) >> np.uint64(52)) & np.uint64(0x7FF)).astype(np.int64)
    step = power_of_two(np.minimum(np.maximum(field - 1023, -14), 16) - 10)
    bits = (np.rint(total / step) * step + 0.0).astype(np.float16).view(np.uint16)  # no negative zero
    return np.where(np.isnan(total), np.uint16(0x7FFF), bits)


def chain_f64(a: Any, b: Any, c: Any, rounding: str) -> Any:
    """f64: one fused multiply-add after the other, from k = 0 on. a (..., m, k), b (..., n, k), c (..., m, n).

    Of several NaNs that of B goes on, then the accumulator's, then A's; it becomes quiet.
    """
    fused = fused_f64(rounding)
    total = c
    for k in range(a.shape[-1]):
        left, right, before = np.broadcast_arrays(a[..., :, None, k], b[..., None, :, k], total)
        total = fused(left, right, before)
        if np.isnan(total).any():
            for value in (left, before, right):
                total = np.where(np.isnan(value), (value.view(np.uint64) | _QUIET).view(np.float64), total)
    return total


def chain_f32(a: Any, b: Any, c: Any, in_pairs: bool) -> Any:
    """``m8n8k4`` of f16, which the assembler makes of ordinary instructions of f32; float32.

    For an f32 result the products are added in the order of k, then c. For an f16 result (``in_pairs``) c, the sum of
    the first two products and that of the other two are added.
    """
    left, right, products = [], [], []
    for k in range(4):
        a_k, b_k, _ = np.broadcast_arrays(a[..., :, None, k], b[..., None, :, k], c)
        left.append(a_k)
        right.append(b_k)
        products.append(a_k * b_k)
    if in_pairs:
        pairs = [fma_f32(left[k + 1], right[k + 1], products[k]) for k in (0, 2)]
        return canonical(c + pairs[0] + pairs[1])
    total = products[0] + np.float32(0)
    for k in (1, 2, 3):
        total = fma_f32(left[k], right[k], total)
    return canonical(total + c)


def whole_sum(a: Any, b: Any, c: Any, saturate: bool) -> Any:
    """Integers: a (..., m, k), b (..., n, k), c (..., m, n) int32 -> int32, wrapped or clamped."""
    # Products of bytes are below 2**16 and k is at most 64: float32 is exact.
    product = np.matmul(a.astype(np.float32), np.swapaxes(b.astype(np.float32), -1, -2))
    total = product.astype(np.int64) + c
    if saturate:
        total = np.minimum(np.maximum(total, -(2**31)), 2**31 - 1)
    return total.astype(np.int32)


def bit_sum(a: Any, b: Any, c: Any, operation: str) -> Any:
    """``.b1``: the ones in a ^ b or a & b, plus c. a: (..., m, words), b: (..., n, words) uint32."""
    combine = np.bitwise_xor if operation == "xor" else np.bitwise_and
    both = combine(a[..., :, None, :], b[..., None, :, :])
    return np.bitwise_count(both).sum(axis=-1, dtype=np.int32) + c
