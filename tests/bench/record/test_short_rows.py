"""The recording of short rows: how often the plan takes the faster kernel, and the recorder without a GPU."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from itertools import pairwise

import pytest

from softlab.bench import recordings
from softlab.bench.record import short_rows
from softlab.bench.record.fast_workloads import Workload
from softlab.plans import plan

RECORDED = recordings.load("short_rows_h200")
TABLE = RECORDED.tables["short"]
CEILING = dict(
    zip(
        zip(*(RECORDED.tables["ceiling"][name].tolist() for name in ("inputs", "dtype")), strict=True),
        RECORDED.tables["ceiling"]["gigabytes_per_second"].tolist(),
        strict=True,
    )
)


@lru_cache(maxsize=1)
def shares() -> dict[Workload, dict[str, float]]:
    """Workload -> kernel, or torch -> fraction of the ceiling."""
    found: dict[Workload, dict[str, float]] = defaultdict(dict)
    names = ("op", "dtype", "rows", "cols", "kernel", "gigabytes_per_second")
    for op, dtype, rows, cols, kernel, speed in zip(*(TABLE[name].tolist() for name in names), strict=True):
        work = Workload("short", op, dtype, rows, cols)
        found[work][kernel] = speed / CEILING[work.inputs, dtype]
    return dict(found)


@lru_cache(maxsize=1)
def taken() -> dict[Workload, str]:
    """Workload -> the kernel that the plan takes now."""
    return {
        work: plan(
            work.rows, work.cols, work.dtype, op=work.op, policy="fast", device="H200", lookup=nothing_compiled
        ).kernel
        for work in shares()
    }


def test_every_cell_is_recorded() -> None:
    assert set(shares()) == {work for work in short_rows.workloads() if work.table == "short"}


def test_short_rows_reach_the_speed_that_the_page_says() -> None:
    """All rows of 16- and 32-bit elements up to 64 columns, forward and backward, even and odd numbers of rows."""
    reached = [
        shares()[work][kernel] for work, kernel in taken().items() if work.dtype != "float64" and work.cols <= 64
    ]
    assert len(reached) == 960
    assert min(reached) > 0.94


def test_the_plan_takes_the_faster_kernel_as_often_as_the_page_says() -> None:
    losses = {}
    for work, kernel in taken().items():
        own = {name: share for name, share in shares()[work].items() if name != "torch"}
        losses[work] = max(own.values()) / own[kernel] - 1
    assert sum(loss > 0.03 for loss in losses.values()) == 63
    assert max(loss for work, loss in losses.items() if work.cols <= 64) < 0.07
    assert max(losses.values()) < 0.2


def test_the_choice_is_the_recorded_one() -> None:
    """The recording has all kernels in each cell, so that a change of the costs can be compared with it."""
    names = ("op", "dtype", "rows", "cols", "kernel", "chosen")
    rows = zip(*(TABLE[name].tolist() for name in names), strict=True)
    recorded = {Workload("short", op, dtype, n, cols): kernel for op, dtype, n, cols, kernel, chosen in rows if chosen}
    assert sum(taken()[work] != kernel for work, kernel in recorded.items()) == 0


def nothing_compiled(*_: object) -> object:
    from softlab.plans.resources import Resources

    return Resources(64, 0, 0, 0, "")


@pytest.mark.parametrize("cols", [1, 3, 5, 10])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_tiles_are_faster_than_lanes(dtype: str, cols: int) -> None:
    for work, kernels in shares().items():
        if (work.dtype, work.cols, work.op) == (dtype, cols, "softmax"):
            assert taken()[work] == "fast_tile"
            assert kernels["fast_tile"] > 1.2 * max(kernels["warp"], kernels["fast_warp"])


def test_cells_keep_the_buffers_of_one_dtype_together() -> None:
    kinds = [(work.dtype, work.inputs) for work in short_rows.workloads()]
    changes = sum(one != other for one, other in pairwise(kinds))
    assert changes == len(set(kinds)) - 1
    assert all(work.rows * work.cols * 8 <= short_rows.INPUT_BYTES * 4 for work in short_rows.workloads())


def test_all_kernels_are_measured_where_they_hold_the_row() -> None:
    made = short_rows.plans_of(Workload("short", "softmax", "float16", 1000, 3))
    assert {kernel: one.policy for kernel, one in made.items()} == {
        "warp": "fast", "fast_tile": "fast", "fast_warp": "fast"
    }  # fmt: skip
    assert made["warp"].name == "softmax_warp<__half, Algorithm::softmax, 1, 1, 4, 2, true>"
