"""Few rows: the lanes, or the block, in which one row takes the least time.

Few rows leave an SM idle most of the time, so bytes in flight decide nothing. What counts is how long a row takes once
its data have come. More threads make that shorter, until their exchange takes longer than their elements. The unit is
the time that one more warp adds to a block's exchange, about 20 ns on an H200:

    lanes of a warp    instructions of a lane * load + steps between lanes
    block              instructions of a thread * load + exchange + warps

The instructions are those of :mod:`softlab.plans.short_rows`: a pack of 16 bytes takes 4 units with 16-bit elements, 2
with float32 and 4.7 with float64. A row that does not begin at 16 bytes also takes where its head, body and tail begin.
Packs that divide it need none of that, but more of them hold the row. ``load`` is 1 while a scheduler has at most
``BUSY_WARPS`` warps, and more warps take turns (kernels/FAST.md, "Few short rows").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, log2

from softlab.plans import flight
from softlab.plans.fast_cuts import most_blocks
from softlab.plans.fast_limits import BLOCK_SIZES, FEW_ROWS_PACKS, FEW_ROWS_PER_SM, GROUP_WIDTHS
from softlab.plans.fast_rows import BLOCK, INVARIANT, WARP, Row, is_wide, row_of
from softlab.plans.instantiations import WARP_SIZE
from softlab.plans.planner import PlanRequest, StepLog
from softlab.plans.short_rows import Problem, Weights, most_head_tail

#: Units of an exchange among the warps of a block, beside one per warp: the barrier, and a second butterfly.
EXCHANGE = 3
#: Units of a row with a head and a tail: where these and the body begin. Their elements come on top.
EDGES = 3
#: How many times the instructions of a lone element a pack takes that is narrower than 16 bytes.
NARROW = 1.2
#: The most packs of a thread that were measured where they are narrower than 16 bytes.
NARROW_PACKS = 12


def are_few(request: PlanRequest) -> bool:
    """Whether no scheduler has more than one row. Exact sums exchange twice, and few rows were not measured there."""
    return request.policy != INVARIANT and request.rows <= flight.SCHEDULERS * request.device.sm_count


def have_several_sms(request: PlanRequest, row: Row) -> bool:
    """Whether every second SM has a row at most, and a row is worth a cluster, if the GPU has clusters."""
    few = request.rows <= FEW_ROWS_PER_SM * request.device.sm_count
    return few and row.packs >= FEW_ROWS_PACKS and most_blocks(request.device) > 0


def quickest(request: PlanRequest) -> tuple[Row, str, int] | None:
    """The row in its packs, its kernel and the threads that share it; None if neither lanes nor a block hold it.

    Of those that take the same time, the one of fewer threads, then of wider packs.
    """
    row = row_of(request, StepLog())
    if row.packs > row.limits.block * row.limits.largest or have_several_sms(request, row):
        return None

    def order(found: tuple[Row, str, int]) -> tuple[float, int, int]:
        held, kernel, threads = found
        return round(time_of(request, held, kernel, threads), 3), threads, -held.pack_size

    return min(_candidates(request, row), key=order, default=None)


def _candidates(request: PlanRequest, widest: Row) -> Iterator[tuple[Row, str, int]]:
    sizes = [size for size in (1, 2, 4) if request.cols % size == 0] if widest.unaligned else []
    for row in (widest, *(row_of(replace(request, pack_size=size), StepLog()) for size in sizes)):
        wide = is_wide(request, row)
        most = flight.most_packs(request.element.itemsize, row.inputs) if wide else NARROW_PACKS
        lanes = min(most, flight.WARP_PACKS) if wide else NARROW_PACKS
        yield from ((row, WARP, width) for width in GROUP_WIDTHS if row.packs <= width * lanes)
        sizes_of_blocks = (size for size in BLOCK_SIZES if size <= row.limits.block)
        yield from ((row, BLOCK, size) for size in sizes_of_blocks if row.packs <= size * most)


def time_of(request: PlanRequest, row: Row, kernel: str, threads: int) -> float:
    """Units of time of a row that ``threads`` threads share, with the other rows on its SM."""
    weights, sms = _weights(request), request.device.sm_count
    rows = ceil(request.rows / sms) if kernel == BLOCK else request.rows / sms
    load = max(1.0, rows * threads / WARP_SIZE / (flight.BUSY_WARPS * flight.SCHEDULERS))
    together = EXCHANGE + threads / WARP_SIZE if kernel == BLOCK else weights.step * log2(threads)
    return _instructions(request, row, threads) * load + together


def _instructions(request: PlanRequest, row: Row, threads: int) -> float:
    """Units of a thread's packs, and of its part of head and tail."""
    weights = _weights(request)
    least = weights.single * (1 if is_wide(request, row) else NARROW)
    units = ceil(row.packs / threads) * max(least, weights.packed * row.pack_size)
    if row.unaligned:
        elements = most_head_tail(request.element.itemsize, row.pack_size)
        units += ceil(elements / threads) * weights.single + EDGES
    return units


def _weights(request: PlanRequest) -> Weights:
    operator = request.operator
    return Problem(request.cols, request.element.itemsize, operator.rows_kept, operator.name).weights
