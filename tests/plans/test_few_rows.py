"""Few rows under the policy "fast": what a row's time is made of, and that a plan takes what holds it in the least."""

from __future__ import annotations

from itertools import product
from math import ceil, log2

import pytest

from softlab import plans
from softlab.dtypes import element_type
from softlab.hardware.devices import Device
from softlab.plans import Plan, few_rows
from softlab.plans.fast_limits import LIMITS, Cut
from softlab.plans.fast_rows import row_of
from softlab.plans.planner import OPERATORS, PlanRequest, StepLog
from softlab.plans.resources import Resources

H200 = Device.named("H200")


def made(rows: int, cols: int, dtype: str = "float16", *, policy: str = "fast", **more: object) -> Plan:
    """A plan without compiling anything."""
    lookup = lambda *_: Resources(64, 0, 0, 0, "")  # noqa: E731
    return plans.forced(rows, cols, dtype, **{"policy": policy, "device": H200, "lookup": lookup, **more})


def time_of(
    rows: int, cols: int, dtype: str, kernel: str, threads: int, pack_size: int | None = None, op="softmax", blocks=1
):
    request = PlanRequest(rows, cols, element_type(dtype), OPERATORS[op], H200, policy="fast", pack_size=pack_size)
    return few_rows.time_of(request, row_of(request, StepLog()), kernel, Cut(blocks, threads, 99))


@pytest.mark.parametrize(
    ("rows", "cols", "dtype", "kernel", "threads", "pack_size", "wanted"),
    [
        (1, 1024, "float16", "fast_block", 64, None, 2 * 4 + 1 + 2),
        (1, 1024, "float16", "fast_block", 128, None, 4 + 1 + 4),
        (1, 1024, "float32", "fast_block", 128, None, 2 * 2 + 1 + 4),
        (1, 512, "float64", "fast_block", 64, None, 4 * 2 * 2.33 + 1 + 2),
        (1, 256, "bfloat16", "fast_warp", 32, None, 4 + 0.5),
        (1, 256, "bfloat16", "fast_warp", 16, None, 2 * 4 + 0.4),
        # Two packs of 8, one of the 22 elements of head and tail, and where they begin.
        (13, 1145, "float16", "fast_block", 128, None, 2 * 4 + 1 + 3 + 1 + 4),
        (13, 1145, "float16", "fast_block", 256, 1, 5 * 1.2 + 1 + 8),
        (13, 1146, "float16", "fast_block", 128, 2, 5 * 1.2 + 1 + 4),
        (13, 1148, "float16", "fast_block", 128, 4, 3 * 2 + 1 + 4),
        (5, 63, "float32", "fast_warp", 16, None, 2 + 1 + 3 + 0.4),
        (5, 63, "float32", "fast_warp", 8, None, 2 * 2 + 2 + 3 + 0.3),
        (5, 63, "float64", "fast_warp", 4, 1, 16 * 2.9 * 1.2 + 2 * 0.35),
        # Four blocks of 512 threads are 64 warps of an SM, four times as many as its schedulers keep busy.
        (4 * 132, 4096, "float16", "fast_block", 512, None, 4 * 4 + 1 + 16),
        (3 * 132 + 1, 4096, "float16", "fast_block", 512, None, 4 * 4 + 1 + 16),
        (3 * 132, 4096, "float16", "fast_block", 512, None, 3 * 4 + 1 + 16),
        (4 * 132, 256, "float16", "fast_warp", 32, None, 4 + 0.5),
    ],
)
def test_what_the_time_of_a_row_is_made_of(
    rows: int, cols: int, dtype: str, kernel: str, threads: int, pack_size: int | None, wanted: float
) -> None:
    """Beside the bytes that an SM moves: 0.65 for each KiB."""
    moved = ceil(rows / 132) * 2 * cols * element_type(dtype).itemsize / 1024
    assert time_of(rows, cols, dtype, kernel, threads, pack_size) == pytest.approx(wanted + 0.65 * moved)


@pytest.mark.parametrize(
    ("rows", "cols", "op", "threads", "blocks", "wanted"),
    [
        # Two packs of a thread, two exchanges, four blocks; an SM moves a fourth of a row.
        (1, 8192, "softmax", 128, 4, 2 * 4 + (1 + 4) + 12 + 1.35 * 4 + 0.65 * 8),
        (31, 8192, "softmax", 128, 4, 2 * 4 + (1 + 4) + 12 + 1.35 * 4 + 0.65 * 8),
        # A gradient has two inputs. Its 16 packs of a block are two lines, so one warp of four has none.
        (1, 1024, "softmax_backward", 128, 8, 4 + (1 + 4) + 12 + 1.35 * 8 + 0.65 * 6 / 8),
        # Five clusters of four on an SM: 20 warps for 16 that are kept busy.
        (132, 8192, "softmax", 128, 4, 2 * 4 * 1.25 + (1 + 4) + 12 + (1 + 5 * 0.35) * 4 + 5 * 0.65 * 8),
        (1, 8193, "softmax", 256, 4, (4 + 1 + 3) + (1 + 8) + 12 + 1.35 * 4 + 0.65 * 2 * 2 * 8193 / 4 / 1024),
    ],
)
def test_the_time_of_clusters_by_hand(rows: int, cols: int, op: str, threads: int, blocks: int, wanted: float) -> None:
    time = time_of(rows, cols, "float16", "fast_cluster", threads, None, op, blocks)
    assert time == pytest.approx(wanted)


def least(rows: int, cols: int, dtype: str, op: str) -> tuple[float, int, int]:
    """(time, threads, -pack size) of the best of all that hold a row."""
    itemsize = element_type(dtype).itemsize
    limits = LIMITS[itemsize, 2 if "backward" in op else 1]
    wide = 16 // itemsize
    found = []
    for size in [wide] + [size for size in (1, 2, 4) if size < wide and cols % wide and cols % size == 0]:
        packs = max(1, cols // size)
        kernels = [*(("fast_warp", 2**k, 1) for k in range(6)), *(("fast_block", 2**k, 1) for k in range(6, 10))]
        if size == wide and (itemsize < 8 or rows <= 132):
            kernels += [("fast_cluster", 2**k, 2**c) for k, c in product((6, 7, 8), (1, 2, 3, 4))]
        for kernel, threads, blocks in kernels:
            part = packs if blocks == 1 else ceil(packs / blocks / 8) * 8  # whole lines of 128 bytes
            most = 12 if size < wide else 6 if "backward" in op or kernel == "fast_warp" else 10
            most = 7 if size == wide and itemsize == 8 and kernel != "fast_warp" and "backward" in op else most
            alone = blocks == 1 and (kernel == "fast_warp" or threads <= limits.block)
            if ceil(part / threads) > most or not (alone or (part * (blocks - 1) < packs and threads <= limits.block)):
                continue
            time = time_of(rows, cols, dtype, kernel, threads, size if size < wide else None, op, blocks)
            found.append((round(time, 3), threads * blocks, -size))
    return min(found)


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_plan_takes_the_least_time(dtype: str, op: str) -> None:
    lengths = (1, 3, 7, 8, 31, 64, 65, 100, 255, 336, 818, 1000, 1145, 2000, 4100, 7777)
    for rows, cols in product((1, 67, 133, 528), lengths):
        itemsize = element_type(dtype).itemsize
        limits = LIMITS[itemsize, 2 if "backward" in op else 1]
        if cols * itemsize / 16 > (2600 if rows <= 132 else limits.block * limits.largest):  # other rules take the row
            continue
        plan = made(rows, cols, dtype, op=op)
        time, threads, pack_size = least(rows, cols, dtype, op)
        shared = plan.thread_group_width if plan.kernel == "fast_warp" else plan.block_size
        blocks = plan.cluster or 1
        assert (shared * blocks, plan.pack_size) == (threads, -pack_size), (rows, cols, plan.name)
        pack = None if plan.pack_size * element_type(dtype).itemsize == 16 else plan.pack_size
        taken = time_of(rows, cols, dtype, plan.kernel.removesuffix("_backward"), shared, pack, op, blocks)
        assert taken == pytest.approx(time, abs=1e-3)


def test_rows_are_few_while_no_scheduler_has_two() -> None:
    """bfloat16 4 x 1998 took 2.48 us in blocks of 64 threads, 1.75 in blocks of 256 (H200)."""
    few, many = (made(rows, 1998, "bfloat16") for rows in (528, 529))
    assert few.steps[0].answer is True
    assert many.steps[0].answer is False
    assert few.block_size > many.block_size == 64
    assert made(4, 1998, "bfloat16", policy="invariant").block_size == 128


def test_the_longest_rows_whose_time_is_compared() -> None:
    """In packs of 16 bytes, where the rows have one SM each, several, or share them."""

    def compared(rows: int, packs: int, dtype: str, op: str = "softmax", device: Device = H200) -> bool:
        cols = packs * 16 // element_type(dtype).itemsize
        request = PlanRequest(rows, cols, element_type(dtype), OPERATORS[op], device, policy="fast")
        return few_rows.quickest(request) is not None

    def longest(rows: int, *given: object) -> int:
        fits = [packs for packs in (1023, 1024, 2048, 2600, 40_960, 65_536) if compared(rows, packs, *given)]
        assert fits == [packs for packs in (1023, 1024, 2048, 2600, 40_960) if packs <= fits[-1]]
        assert not compared(rows, fits[-1] + 1, *given)
        return fits[-1]

    assert [longest(rows, "float16") for rows in (1, 66, 67, 132, 133, 528)] == [40_960] * 2 + [2600] * 2 + [2048] * 2
    assert [longest(rows, "float32", "softmax_backward") for rows in (66, 132, 133)] == [40_960, 2600, 1024]
    assert [longest(rows, "float64", "softmax_backward") for rows in (66, 132, 133)] == [40_960, 2600, 1024]
    assert [longest(rows, "float64") for rows in (1, 66, 132, 133)] == [2600] * 3 + [1024]
    without = Device.named("A100")
    assert [longest(rows, "float16", "softmax", without) for rows in (54, 55)] == [2048, 2048]


def test_clusters_share_few_rows() -> None:
    """Times on an H200: half 9 x 5904 2.16 us in a block, 2.01 so; bfloat16 147 x 16 063 6.53 and 5.58."""
    assert made(9, 5904).cluster == 8
    assert made(147, 16_063, "bfloat16").cluster == 4
    assert made(528, 16_384).kernel == "fast_block"
    assert made(66, 8192, device="sm_80").kernel == "fast_block"


def test_blocks_of_a_cluster_are_small_where_these_hold_the_row() -> None:
    """bfloat16 2 x 198 424 took 4.82 us in 16 blocks of 512 threads, 4.30 in 16 of 256 (H200)."""
    assert made(2, 198_424, "bfloat16").block == (256, 1)
    assert made(2, 198_424, "bfloat16", op="softmax_backward").block == (512, 1)


def test_a_caller_may_still_ask_for_a_kernel_or_for_packs() -> None:
    assert made(4, 96, kernel="fast_tile").kernel == "fast_tile"
    assert made(4, 200, kernel="fast_warp").thread_group_width == 16
    assert made(4, 200).thread_group_width == 32
    assert made(4, 272, pack_size=2).pack_size == 2
    assert log2(made(4, 272, pack_size=1).block_size) == 7
