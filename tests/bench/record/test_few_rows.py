"""The cells of few rows, and which of them a peer wins."""

from __future__ import annotations

from itertools import pairwise

import pytest

from softlab.bench.record import few_rows
from softlab.bench.record.fast_workloads import INPUT_BYTES


def test_cells_are_drawn_from_the_whole_range() -> None:
    cells = few_rows.drawn(100, 18)
    assert len(set(cells)) == 100
    assert cells == few_rows.drawn(100, 18) != few_rows.drawn(100, 19)
    assert {work.op for work in cells} == set(few_rows.OPS)
    assert {work.dtype for work in cells} == set(few_rows.DTYPES)
    assert min(work.rows for work in cells) >= 1
    assert max(work.rows for work in cells) <= few_rows.MOST_ROWS
    assert few_rows.LEAST_COLS <= min(work.cols for work in cells) < 2 * few_rows.LEAST_COLS
    assert few_rows.MOST_COLS // 2 < max(work.cols for work in cells) <= few_rows.MOST_COLS
    assert all(work.nbytes <= (work.inputs + 1) * INPUT_BYTES for work in cells)
    kinds = [(work.dtype, work.inputs) for work in cells]
    assert len({*kinds}) == 1 + sum(a != b for a, b in pairwise(kinds)), "each buffer is made once"


@pytest.mark.parametrize(("fast", "slower"), [(1.0, 0), (1.029, 0), (1.031, 1)])
def test_behind_is_more_than_three_percent(fast: float, slower: int) -> None:
    cell = {"op": "softmax", "dtype": "float32", "memory": "L2", "rows": 2, "cols": 512}
    times = {"fast": fast, "torch": 1.0, "triton": 2.0}
    rows = [{**cell, "peer": peer, "microseconds": spent} for peer, spent in times.items()]
    alone = {**cell, "memory": "device", "peer": "fast", "microseconds": 9.0}
    count, found = few_rows.behind([*rows, alone])
    assert (count, len(found)) == (1, slower)
    assert not found or "torch 1.00 (1.03)" in found[0]


def test_one_buffer_serves_all_launches() -> None:
    class Buffers:
        def views(self, work: object, iteration: int) -> list[int]:
            return [iteration]

    assert few_rows.OneBuffer(Buffers()).views(None, 5) == [0]  # type: ignore[arg-type]
