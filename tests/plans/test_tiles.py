"""Tiles of short rows: the shape fits the kernel's limits for every row, and few rows stay with the other kernels."""

from __future__ import annotations

import pytest

from softlab import plans
from softlab.dtypes import ELEMENT_TYPES, element_type
from softlab.errors import PlanError
from softlab.plans import short_rows, tiles
from softlab.plans.planner import OPERATORS
from softlab.plans.resources import Resources


def made(rows: int, cols: int, dtype: str = "float16", **more: object) -> plans.Plan:
    lookup = lambda *_: Resources(64, 0, 0, 0, "")  # noqa: E731
    return plans.forced(rows, cols, dtype, policy="fast", **{"device": "H200", "lookup": lookup, **more})


@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
@pytest.mark.parametrize("op", OPERATORS)
def test_lanes_hold_the_row_and_the_block_fits(op: str, dtype: str) -> None:
    itemsize, inputs = element_type(dtype).itemsize, 2 if op.endswith("_backward") else 1
    for cols in range(1, 512 // itemsize + 1):
        problem = short_rows.Problem(cols, itemsize, inputs, op)
        for rows in (1, 1 << 24):
            shape = tiles.shape(problem, rows, 132, 228 * 1024)
            assert shape, cols
            vectors = (cols - shape.odd) // shape.vector_size
            assert cols == vectors * shape.vector_size + shape.odd
            assert shape.width * (shape.vectors - 1) < vectors <= shape.width * shape.vectors
            held = shape.rows * shape.width * shape.row_elements * itemsize * inputs
            assert shape.block_size // 32 * held <= 48 * 1024
            assert shape.rows == 32 or rows > 32
    assert tiles.shape(short_rows.Problem(512 // itemsize + 1, itemsize, inputs, op), 1 << 24, 132, 228 * 1024) is None


def test_many_rows_take_tiles_and_few_do_not() -> None:
    assert made(1 << 20, 10).name == "fast_tile<__half, Algorithm::softmax, 8, 2, 5, false, 1, 4, 128, 8>"
    assert made(1 << 20, 10).grid == (1 << 20) // (4 * 4 * 32)
    assert made(1024, 10).kernel == "warp"
    assert made(1024, 61).kernel == "fast_warp"
    assert made(1 << 20, 64).kernel == "fast_warp"
    step = made(1024, 61).steps[1]
    assert step.answer is False
    assert step.values["saved"] < step.values["needed"]


def test_what_tiles_do_not_take_is_an_error() -> None:
    with pytest.raises(PlanError, match="rows of at most 512 bytes"):
        made(64, 257, kernel="fast_tile")
    with pytest.raises(PlanError, match=r"compute capability 8\.0"):
        made(64, 10, kernel="fast_tile", device="sm_75")
    assert made(1 << 20, 10, device="sm_75").kernel != "fast_tile"


@pytest.mark.parametrize(
    ("sm_count", "cols", "most"), [(132, 4, 8), (132, 16, 2), (132, 32, 1), (80, 3, 16), (1, 8, 4)]
)
def test_a_tile_grows_once_each_sm_has_four_warps(sm_count: int, cols: int, most: int) -> None:
    """Of float16, until 32 lanes have 2 KiB in flight: a row of 4 has 8 bytes, so 32 rows have 256, and 8 slabs 2 KiB.

    Twice as many slabs need 4 warps of 2 x 32 x slabs rows for each SM.
    """
    problem = short_rows.Problem(cols, 2, 1, "softmax")

    def slabs(rows: int) -> int:
        shape = tiles.shape(problem, rows, sm_count, 228 * 1024)
        assert shape is not None
        return shape.slabs

    grown = 1
    while grown < most:
        needed = 4 * sm_count * 32 * 2 * grown
        assert (slabs(needed - 1), slabs(needed)) == (grown, 2 * grown)
        grown *= 2
    assert slabs(1) == 1
    assert slabs(1 << 30) == most
