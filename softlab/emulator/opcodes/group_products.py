"""What a form of ``wgmma.mma_async`` computes: its shape, its types and its arithmetic.

A warpgroup is four warps. Warp i of it has rows 16 i to 16 i + 15 of A and of D, and all of B. So a product of a
warpgroup is four products of 16 rows. Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".

The arithmetic is that of ``mma.sync`` with one sum over all of k, except for floats of 8 bits: their unit is 2 to the
power of the largest exponent, less 13, and a result of f32 keeps 13 bits of fraction (Xie and others, MMA-Sim, arXiv
2511.10909). ``tests/hardware/group_matrices.py`` compared it with an H200.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from softlab.emulator.opcodes.fragments import Fragment, left, result
from softlab.emulator.opcodes.matrix_products import BITS, MatrixProduct
from softlab.emulator.opcodes.tensor_numbers import cut_to_f32, fused_sum, number, round_to_f16

#: Rows of A and D that a warp has.
ROWS = 16
#: The least n, and the greatest; n is a multiple of the least.
LEAST_N, MOST_N = 8, 256
#: Bytes of a row of A or B along k, in every form.
K_BYTES = 32
_FP8 = ("e4m3", "e5m2")
_UNIT_BITS_OF_FP8 = 13
#: Bits of the fraction of f32 that an accumulator of such a sum lacks.
_F8_CUT = np.uint32(0xFFFFFFFF << 23 - _UNIT_BITS_OF_FP8 & 0xFFFFFFFF)
#: Types of A and B -> the shape of ``mma.sync`` with the same k, and the types of D.
_FORMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "f16": ("m16n8k16", ("f16", "f32")),
    "bf16": ("m16n8k16", ("f32",)),
    "tf32": ("m16n8k8", ("f32",)),
    **dict.fromkeys(_FP8, ("m16n8k32", ("f16", "f32"))),
    **dict.fromkeys(("s8", "u8"), ("m16n8k32", ("s32",))),
    "b1": ("m16n8k256", ("s32",)),
}


@dataclass(frozen=True)
class GroupProduct:
    """D = A B + D of a warpgroup: the columns ``n`` of D, and the types of D, A and B."""

    n: int
    kinds: tuple[str, str, str]
    saturate: bool = False

    @cached_property
    def _warp(self) -> MatrixProduct:
        """The product of ``mma.sync`` with the same arithmetic."""
        d, a, b = self.kinds
        operation = "and" if a == "b1" else ""
        return MatrixProduct(_FORMS[a][0], (d, a, b, d), saturate=self.saturate, operation=operation)

    @cached_property
    def left(self) -> Fragment:
        """A of a warp, where it is in registers."""
        words = K_BYTES * 8 // BITS[self.kinds[1]] if self.kinds[1] != "b1" else K_BYTES // 4
        return left(ROWS, words, 4 * words // K_BYTES)

    @cached_property
    def result(self) -> Fragment:
        """D of a warp."""
        return result(ROWS, self.n, 2 if self.kinds[0] == "f16" else 1)

    @property
    def element_types(self) -> tuple[np.dtype, np.dtype, np.dtype]:
        """The unsigned dtypes of the elements of D, A and B as matrices; 32 elements of b1 are one."""
        d, a, b, _ = self._warp.element_types
        return d, a, b

    def multiply(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """a (..., 16, k), b (..., n, k) and c (..., 16, n), unsigned bits -> d (..., 16, n), unsigned bits."""
        d_kind, a_kind, b_kind = self.kinds
        if a_kind not in _FP8:
            found: np.ndarray = self._warp.multiply(a, b, c)
            return found
        values = number(a_kind, a), number(b_kind, b), number(d_kind, c)
        total = fused_sum(*values, (a_kind, b_kind, d_kind), _UNIT_BITS_OF_FP8)
        if d_kind == "f16":
            return np.asarray(round_to_f16(total))
        bits = cut_to_f32(total)
        return np.where(np.isnan(total), bits, bits & _F8_CUT)

    def negative(self, operand: int, bits: np.ndarray) -> np.ndarray:
        """The elements of A (1) or B (2) with the other sign."""
        width = bits.dtype.itemsize * 8
        return bits ^ bits.dtype.type(1 << (width - 1))


def group_product_of(modifiers: Sequence[str]) -> GroupProduct:
    """The product that these modifiers of ``wgmma`` ask for.

    Raises:
        NotImplementedError: PTX has no such product, or the emulator has not.
    """
    words = [m for m in modifiers if m not in ("mma_async", "sync", "aligned", "satfinite")]
    bits = words[4:] == ["and", "popc"]
    shape = re.fullmatch(r"m64n(\d+)k(\d+)", words[0]) if words else None
    if shape is None or (len(words) != 4 and not bits) or words[2] not in _FORMS:
        raise NotImplementedError(f"wgmma.{'.'.join(modifiers)}")
    n, d, a, b = int(shape[1]), *words[1:4]
    of_mma, results = _FORMS[a]
    same = b == a or {a, b} <= set(_FP8) or {a, b} <= {"s8", "u8"}
    fits = LEAST_N <= n <= MOST_N and n % LEAST_N == 0 and of_mma.endswith(f"k{shape[2]}")
    narrow = results != ("s32",) or n % 16 == 0 or n <= 24  # integers have fewer widths
    saturates = "satfinite" in modifiers
    if not (fits and narrow and same and d in results and bits == (a == "b1")) or saturates > (a in ("s8", "u8")):
        raise NotImplementedError(f"wgmma {words[0]} of {d}, {a}, {b}")
    return GroupProduct(n, (d, a, b), saturates)
