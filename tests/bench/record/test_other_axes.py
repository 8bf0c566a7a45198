"""The cells of rows along other axes."""

from __future__ import annotations

from itertools import pairwise

from softlab.bench.record import other_axes
from softlab.dtypes import element_type


def test_cells_are_drawn_from_the_whole_range() -> None:
    cells = other_axes.drawn(100, 18)
    assert len(set(cells)) == 100
    assert cells == other_axes.drawn(100, 18) != other_axes.drawn(100, 19)
    assert {cell.op for cell in cells} == set(other_axes.OPS)
    assert {cell.dtype for cell in cells} == set(other_axes.DTYPES)
    assert 2 <= min(cell.cols for cell in cells) < 4
    assert other_axes.MOST_COLS / 2 < max(cell.cols for cell in cells) <= other_axes.MOST_COLS
    whole = [cell.stride * element_type(cell.dtype).itemsize % 16 == 0 for cell in cells]
    assert 50 <= sum(whole) < 90, "half of them, and others by chance"
    assert sum(cell.outer == 1 for cell in cells) > 30
    for cell in cells:
        used = cell.outer * cell.cols * cell.stride * element_type(cell.dtype).itemsize
        assert other_axes.INPUT_BYTES / 2 < used <= other_axes.INPUT_BYTES
        assert cell.nbytes == (cell.inputs + 1) * used
    kinds = [(cell.dtype, cell.inputs) for cell in cells]
    assert len({*kinds}) == 1 + sum(a != b for a, b in pairwise(kinds))
