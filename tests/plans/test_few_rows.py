"""Few rows under the policy "fast": what a row's time is made of, and that a plan takes what holds it in the least."""

from __future__ import annotations

from itertools import product
from math import ceil, log2

import pytest

from softlab import plans
from softlab.dtypes import element_type
from softlab.hardware.devices import Device
from softlab.plans import Plan, few_rows
from softlab.plans.fast_limits import LIMITS
from softlab.plans.fast_rows import row_of
from softlab.plans.planner import OPERATORS, PlanRequest, StepLog
from softlab.plans.resources import Resources

H200 = Device.named("H200")


def made(rows: int, cols: int, dtype: str = "float16", *, policy: str = "fast", **more: object) -> Plan:
    """A plan without compiling anything."""
    lookup = lambda *_: Resources(64, 0, 0, 0, "")  # noqa: E731
    return plans.forced(rows, cols, dtype, **{"policy": policy, "device": H200, "lookup": lookup, **more})


def time_of(rows: int, cols: int, dtype: str, kernel: str, threads: int, pack_size: int | None = None, op="softmax"):
    request = PlanRequest(rows, cols, element_type(dtype), OPERATORS[op], H200, policy="fast", pack_size=pack_size)
    return few_rows.time_of(request, row_of(request, StepLog()), kernel, threads)


@pytest.mark.parametrize(
    ("rows", "cols", "dtype", "kernel", "threads", "pack_size", "wanted"),
    [
        (1, 1024, "float16", "fast_block", 64, None, 2 * 4 + 3 + 2),
        (1, 1024, "float16", "fast_block", 128, None, 4 + 3 + 4),
        (1, 1024, "float32", "fast_block", 128, None, 2 * 2 + 3 + 4),
        (1, 512, "float64", "fast_block", 64, None, 4 * 2 * 2.33 + 3 + 2),
        (1, 256, "bfloat16", "fast_warp", 32, None, 4 + 0.5),
        (1, 256, "bfloat16", "fast_warp", 16, None, 2 * 4 + 0.4),
        # Two packs of 8, one of the 22 elements of head and tail, and where they begin.
        (13, 1145, "float16", "fast_block", 128, None, 2 * 4 + 1 + 3 + 3 + 4),
        (13, 1145, "float16", "fast_block", 256, 1, 5 * 1.2 + 3 + 8),
        (13, 1146, "float16", "fast_block", 128, 2, 5 * 1.2 + 3 + 4),
        (13, 1148, "float16", "fast_block", 128, 4, 3 * 2 + 3 + 4),
        (5, 63, "float32", "fast_warp", 16, None, 2 + 1 + 3 + 0.4),
        (5, 63, "float32", "fast_warp", 8, None, 2 * 2 + 2 + 3 + 0.3),
        (5, 63, "float64", "fast_warp", 4, 1, 16 * 2.9 * 1.2 + 2 * 0.35),
        # Four blocks of 512 threads are 64 warps of an SM, four times as many as its schedulers keep busy.
        (4 * 132, 4096, "float16", "fast_block", 512, None, 4 * 4 + 3 + 16),
        (3 * 132 + 1, 4096, "float16", "fast_block", 512, None, 4 * 4 + 3 + 16),
        (3 * 132, 4096, "float16", "fast_block", 512, None, 3 * 4 + 3 + 16),
        (4 * 132, 256, "float16", "fast_warp", 32, None, 4 + 0.5),
    ],
)
def test_what_the_time_of_a_row_is_made_of(
    rows: int, cols: int, dtype: str, kernel: str, threads: int, pack_size: int | None, wanted: float
) -> None:
    assert time_of(rows, cols, dtype, kernel, threads, pack_size) == pytest.approx(wanted)


def least(rows: int, cols: int, dtype: str, op: str) -> tuple[float, int, int]:
    """(time, threads, -pack size) of the best of all that hold a row."""
    itemsize = element_type(dtype).itemsize
    limits = LIMITS[itemsize, 2 if "backward" in op else 1]
    wide = 16 // itemsize
    packs = [wide] + [size for size in (1, 2, 4) if size < wide and cols % wide and cols % size == 0]
    found = []
    for size, (kernel, threads) in product(
        packs, [*(("fast_warp", 2**k) for k in range(6)), *(("fast_block", 2**k) for k in range(6, 10))]
    ):
        held = ceil(max(1, cols // size) / threads)
        most = 12 if size < wide else 6 if "backward" in op or kernel == "fast_warp" else 10
        most = 7 if size == wide and (itemsize, kernel) == (8, "fast_block") and "backward" in op else most
        if held > most or (kernel == "fast_block" and threads > limits.block):
            continue
        time = time_of(rows, cols, dtype, kernel, threads, size if size < wide else None, op)
        found.append((round(time, 3), threads, -size))
    return min(found)


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_plan_takes_the_least_time(dtype: str, op: str) -> None:
    for rows, cols in product((1, 67, 133, 528), (1, 3, 7, 8, 31, 64, 65, 100, 255, 336, 818, 1000, 1145, 2000)):
        plan = made(rows, cols, dtype, op=op)
        time, threads, pack_size = least(rows, cols, dtype, op)
        shared = plan.thread_group_width if plan.kernel == "fast_warp" else plan.block_size
        assert (shared, plan.pack_size) == (threads, -pack_size), (rows, cols, plan.name)
        pack = None if plan.pack_size * element_type(dtype).itemsize == 16 else plan.pack_size
        assert time_of(rows, cols, dtype, plan.kernel, shared, pack, op) == pytest.approx(time, abs=1e-3)


def test_rows_are_few_while_no_scheduler_has_two() -> None:
    """bfloat16 4 x 1998 took 2.48 us in blocks of 64 threads, 1.75 in blocks of 256 (H200)."""
    few, many = (made(rows, 1998, "bfloat16") for rows in (528, 529))
    assert few.steps[0].answer is True
    assert many.steps[0].answer is False
    assert few.block_size > many.block_size == 64
    assert made(4, 1998, "bfloat16", policy="invariant").block_size == 128


def test_long_rows_of_few_stay_with_clusters() -> None:
    """Rows of 1024 packs where every second SM has one at most, and rows that are too long for a block alone."""
    assert made(67, 8192).kernel == "fast_block"
    assert made(66, 8192).kernel == "fast_cluster"
    assert made(66, 8191).kernel == "fast_block"
    assert made(300, 16_384).kernel == "fast_block"
    assert made(300, 16_392).kernel == "fast_cluster"
    assert made(66, 8192, device="sm_80").kernel == "fast_block"


def test_a_caller_may_still_ask_for_a_kernel_or_for_packs() -> None:
    assert made(4, 96, kernel="fast_tile").kernel == "fast_tile"
    assert made(4, 272, kernel="fast_warp").thread_group_width == 16
    assert made(4, 272).thread_group_width == 32
    assert made(4, 272, pack_size=2).pack_size == 2
    assert log2(made(4, 272, pack_size=1).block_size) == 7
