"""Matrix descriptors of ``wgmma``: where in shared memory the pieces of a matrix are.

A piece is 16 bytes, neighbours along the dimension in which the matrix is stored: along k ("K-major"), or along the
rows of A or the columns of B ("MN-major"). Source: PTX ISA, "Shared Memory Matrix Layout" and "Matrix Descriptor
Format".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Bytes of a piece.
PIECE = 16
#: What the descriptor's two bits say -> bytes of a row of the swizzled pattern; 16 is a matrix without a swizzle.
_WIDTHS = np.array([16, 128, 64, 32], np.int64)
_FIELD = np.uint64(0x3FFF)
#: A pattern repeats after 8 rows. The bits of an address from this one on say in which of them it is, for 128 bytes.
_ROW_SHIFT, _ROWS = 7, 8


@dataclass(frozen=True)
class Descriptors:
    """Several descriptors: (n,) int64 each, in bytes. ``base`` is the base offset, 0 to 7."""

    start: np.ndarray
    leading: np.ndarray
    stride: np.ndarray
    base: np.ndarray
    width: np.ndarray

    @classmethod
    def of(cls, bits: np.ndarray) -> Descriptors:
        """Of (n,) uint64."""

        def field(shift: int) -> np.ndarray:
            return (bits >> np.uint64(shift) & _FIELD).astype(np.int64) * PIECE

        base = (bits >> np.uint64(49) & np.uint64(7)).astype(np.int64)
        width = _WIDTHS[(bits >> np.uint64(62)).astype(np.int64)]
        return cls(field(0), field(16), field(32), base, width)

    def pieces(self, first: np.ndarray, count: int, k: int, along_k: bool) -> np.ndarray:
        """The addresses of the pieces of some rows of A, or columns of B, called lines here.

        Arguments:
            first: the first line of each matrix, (n,).
            count: how many lines; with ``first`` a multiple of 8.
            k: elements along k where the matrix is MN-major.
            along_k: whether it is K-major.

        Returns:
            (n, lines, 2) for a K-major matrix, (n, lines / 8, k) else, int64.
        """
        start, leading, stride, width = (
            part[:, None, None] for part in (self.start, self.leading, self.stride, self.width)
        )
        plain = width == PIECE
        if along_k:
            line, chunk = first[:, None, None] + np.arange(count)[:, None], np.arange(2)
            offset = line % 8 * width + line // 8 * stride + chunk * np.where(plain, leading, PIECE)
        else:
            unit, at = first[:, None, None] // 8 + np.arange(count // 8)[:, None], np.arange(k)
            whole = width // PIECE
            inside = unit % whole * PIECE + unit // whole * np.where(plain, stride, leading)
            offset = inside + at % 8 * width + at // 8 * np.where(plain, leading, stride)
        return self._swizzled(start + offset)

    def _swizzled(self, address: np.ndarray) -> np.ndarray:
        """The bits that number the piece in a row, each combined with those that number the row."""
        row = (address >> _ROW_SHIFT) - self.base[:, None, None] & _ROWS - 1
        mask = self.width[:, None, None] // PIECE - 1
        return address ^ (row & mask) * PIECE
