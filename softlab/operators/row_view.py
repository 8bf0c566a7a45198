"""How an array of any shape becomes rows: one axis is put last and gives the columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from softlab.dtypes import ElementType
from softlab.operators.arrays import aligned


@dataclass(frozen=True)
class RowView:
    """An array of ``shape`` as (rows, cols): ``axis`` and the last axis are exchanged, and ``axis`` gives the columns.

    A scalar is one row of one column.
    """

    shape: tuple[int, ...]
    axis: int

    @property
    def axis_is_last(self) -> bool:
        """Whether the array has its axis last already."""
        return self.axis >= len(self.shape) - 1

    @property
    def keeps_order(self) -> bool:
        """Whether rows lie in memory as the array does."""
        return self.axis_is_last

    @property
    def stride(self) -> int:
        """From one element of a row to the next, in the rows of :meth:`rows_of`."""
        return 1

    @property
    def swapped_shape(self) -> tuple[int, ...]:
        """The array's shape with the axis last."""
        return self.swapped(self.shape)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return prod(self.swapped_shape[:-1])

    @property
    def cols(self) -> int:
        """Number of columns: the size of the axis."""
        return self.swapped_shape[-1]

    def swapped(self, shape: Sequence[int]) -> tuple[int, ...]:
        """A shape that broadcasts to the array's, in as many dimensions, with the axis last."""
        full = [1] * (len(self.shape) - len(shape)) + list(shape)
        if full:
            full[self.axis], full[-1] = full[-1], full[self.axis]
        return tuple(full or (1,))

    def rows_of(self, xp: Any, x: Any, element: ElementType) -> Any:
        """x, of the array's shape, as a C-contiguous (rows, cols) array of that type; ``xp`` is NumPy or CuPy."""
        swapped = x.swapaxes(self.axis, -1) if self.shape else x
        rows = xp.ascontiguousarray(swapped, dtype=element.numpy).reshape(self.rows, self.cols)
        return rows if aligned(rows, element.itemsize) else rows.copy()

    def operand(self, array: Any) -> Any:
        """An array that broadcasts to the array's shape, with the axis last, C-contiguous: itself if it is so."""
        full = array.reshape((1,) * (len(self.shape) - array.ndim) + array.shape)
        swapped = full.swapaxes(self.axis, -1) if full.ndim else full
        return swapped if swapped.flags.c_contiguous else swapped.copy(order="C")

    def restored(self, xp: Any, rows: Any) -> Any:
        """A (rows, cols) array in the array's own shape, C-contiguous."""
        if not self.shape:
            return rows.reshape(())
        return xp.ascontiguousarray(rows.reshape(self.swapped_shape).swapaxes(self.axis, -1))

    def empty(self, xp: Any, element: ElementType) -> Any:
        """A new (rows, cols) array of that type."""
        return xp.empty((self.rows, self.cols), element.numpy)


class StridedView(RowView):
    """The same rows where they lie: the elements of a row are ``stride`` apart, and no array is turned round."""

    @property
    def keeps_order(self) -> bool:
        """True: nothing is exchanged."""
        return True

    @property
    def stride(self) -> int:
        """The product of the dimensions behind the axis."""
        return prod(self.shape[self.axis + 1 :])

    def rows_of(self, xp: Any, x: Any, element: ElementType) -> Any:
        """x as a C-contiguous array of that type, as :meth:`empty`."""
        flat = xp.ascontiguousarray(x, dtype=element.numpy).reshape(self.rows, self.cols)
        return flat if aligned(flat, element.itemsize) else flat.copy()

    def restored(self, xp: Any, rows: Any) -> Any:
        """The array in its own shape."""
        return rows.reshape(self.shape)
