"""Few rows: the lanes, the block or the cluster in which one row takes the least time.

Few rows leave an SM idle most of the time, so bytes in flight decide nothing. What counts is how long a row takes once
its data have come. More threads make that shorter, until their exchange takes longer than their elements. More SMs
make it shorter, too, as each moves less of the row. The unit is the time that one more warp adds to a block's exchange,
about 20 ns on an H200:

    lanes of a warp    instructions of a lane * load + steps between lanes + moved
    block              instructions of a thread * load + exchange + warps + moved
    cluster            the same, + exchange of the cluster + blocks of the cluster * what one takes

The instructions are those of :mod:`softlab.plans.short_rows`: a pack of 16 bytes takes 4 units with 16-bit elements, 2
with float32 and 4.7 with float64. A row that does not begin at 16 bytes also takes where its head, body and tail begin.
Packs that divide it need none of that, but more of them hold the row. ``load`` is 1 while a scheduler has at most
``BUSY_WARPS`` warps, and more warps take turns. ``moved`` are the bytes that an SM reads and writes (kernels/FAST.md,
"Few short rows" and "Clusters of few rows").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, log2

from softlab.plans import flight
from softlab.plans.fast_cuts import clusters_of, most_blocks
from softlab.plans.fast_limits import BLOCK_SIZES, CLUSTERS, FEW_ROWS_PACKS, FEW_ROWS_PER_SM, GROUP_WIDTHS, Cut
from softlab.plans.fast_rows import BLOCK, CLUSTER, INVARIANT, WARP, Row, is_wide, row_of
from softlab.plans.instantiations import WARP_SIZE
from softlab.plans.planner import PlanRequest, StepLog
from softlab.plans.short_rows import Problem, Weights, most_head_tail

#: Units of an exchange among the warps of a block, beside one per warp: the barrier, and a second butterfly.
EXCHANGE = 1
#: Units of an exchange among the blocks of a cluster beside that of each block.
CLUSTER_EXCHANGE = 12
#: More for each block of the cluster, which starts and sends to all others: once, and for each cluster on its SM.
CLUSTER_BLOCK, CLUSTER_ON_SM = 1, 0.35
#: Threads of the blocks of a cluster, where such blocks hold the row: larger ones start later and wait for more warps.
CLUSTER_THREADS = 256
#: Units of each KiB that an SM reads and writes: 80 bytes in a nanosecond.
MOVED_KIB = 0.65
#: The longest rows, in packs, of which the weights were fitted. Beyond them packs and warps of a cluster take three
#: times as long, and the order of clusters was right only for rows that have several SMs.
MEASURED_PACKS = 2600
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


def quickest(request: PlanRequest) -> tuple[Row, str, Cut] | None:
    """The row in its packs, its kernel and the threads that share it; None if other rules take the row.

    The cut of ``fast_warp`` is a block of as many threads as share a row. Of those that take the same time, the one of
    fewer threads, then of wider packs.
    """
    row = row_of(request, StepLog())
    if row.packs > _most_packs(request, row):
        return None

    def order(found: tuple[Row, str, Cut]) -> tuple[float, int, int]:
        held, kernel, cut = found
        return round(time_of(request, held, kernel, cut), 3), cut.cluster * cut.block_size, -held.pack_size

    return min(_candidates(request, row), key=order, default=None)


def _may_share(request: PlanRequest, row: Row) -> bool:
    """Whether a cluster may hold a row. Doubles were measured with one row for each SM at most."""
    measured = request.element.itemsize < 8 or request.rows <= request.device.sm_count
    return most_blocks(request.device) > 0 and is_wide(request, row) and measured


def _most_packs(request: PlanRequest, row: Row) -> int:
    """The longest row of which the time is compared, in packs.

    Where an SM has several rows, registers decide how many long ones it holds at once, and the time says nothing of
    that. Of the exponentials of many doubles it says too little.
    """
    alone = row.limits.block * row.limits.largest
    if not _may_share(request, row):
        return FEW_ROWS_PACKS - 1 if have_several_sms(request, row) else alone
    if request.rows > request.device.sm_count:
        return alone
    exponentials = request.element.itemsize == 8 and row.inputs == 1
    in_order = request.rows <= FEW_ROWS_PER_SM * request.device.sm_count and not exponentials
    return row.limits.grid.beyond if in_order else MEASURED_PACKS


def _candidates(request: PlanRequest, widest: Row) -> Iterator[tuple[Row, str, Cut]]:
    sizes = [size for size in (1, 2, 4) if request.cols % size == 0] if widest.unaligned else []
    for row in (widest, *(row_of(replace(request, pack_size=size), StepLog()) for size in sizes)):
        wide = is_wide(request, row)
        most = flight.most_packs(request.element.itemsize, row.inputs) if wide else NARROW_PACKS
        lanes = min(most, flight.WARP_PACKS) if wide else NARROW_PACKS
        yield from ((row, WARP, Cut(1, width, lanes)) for width in GROUP_WIDTHS if row.packs <= width * lanes)
        cuts = [Cut(1, size, most) for size in BLOCK_SIZES if size <= row.limits.block]
        yield from ((row, BLOCK, cut) for cut in cuts if row.packs <= cut.most)
        if _may_share(request, row):
            yield from ((row, CLUSTER, cut) for cut in _clusters(request, row, cuts))


def _clusters(request: PlanRequest, row: Row, cuts: list[Cut]) -> list[Cut]:
    """Clusters of these blocks that hold the row, and whose blocks all have a part of it."""
    several = [blocks for blocks in CLUSTERS if blocks <= most_blocks(request.device)]
    shared = [replace(cut, cluster=blocks) for blocks in several for cut in cuts]
    holding = [c for c in shared if row.packs <= c.most and (c.cluster - 1) * c.per_block(row.packs) < row.packs]
    return [cut for cut in holding if cut.block_size <= CLUSTER_THREADS] or holding


def time_of(request: PlanRequest, row: Row, kernel: str, cut: Cut) -> float:
    """Units of time of a row that the threads of a cut share, with the other rows on its SM."""
    weights, threads = _weights(request), cut.block_size
    on_sm = ceil(request.rows / clusters_of(request.device, cut.cluster))
    rows = request.rows / request.device.sm_count if kernel == WARP else on_sm
    load = max(1.0, rows * threads / WARP_SIZE / (flight.BUSY_WARPS * flight.SCHEDULERS))
    together = weights.step * log2(threads) if kernel == WARP else EXCHANGE + threads / WARP_SIZE
    if cut.cluster > 1:
        together += CLUSTER_EXCHANGE + (CLUSTER_BLOCK + CLUSTER_ON_SM * on_sm) * cut.cluster
    moved = on_sm * (row.inputs + 1) * request.cols * request.element.itemsize / cut.cluster
    return _instructions(request, row, cut) * load + together + MOVED_KIB * moved / 1024


def _instructions(request: PlanRequest, row: Row, cut: Cut) -> float:
    """Units of a thread's packs, and of its part of head and tail."""
    weights = _weights(request)
    least = weights.single * (1 if is_wide(request, row) else NARROW)
    units = cut.taken(row.packs) * max(least, weights.packed * row.pack_size)
    if row.unaligned:
        elements = most_head_tail(request.element.itemsize, row.pack_size)
        units += ceil(elements / cut.block_size) * weights.single + EDGES
    return units


def _weights(request: PlanRequest) -> Weights:
    operator = request.operator
    return Problem(request.cols, request.element.itemsize, operator.rows_kept, operator.name).weights
