"""Rows of doubles in the policy "fast": the grid kernel or the ring kernel, where threads take longer than memory.

In softmax the grid kernel keeps the exponentials of doubles, and the ring kernel computes them twice. Where memory is
fast, that decides. A row of a group takes the sixth root of the sum of sixth powers of memory's and the threads' times,
as in :func:`softlab.plans.fast_ring.side_by_side`. In the grid kernel a thread has no steps. It starts a row,
works on its packs, and waits for the answers of all blocks that share the row. The more rows wait for theirs, the less
each answer costs.

The grid kernel moves whole rows through its stages: one row is written, two wait, one is loaded. So a thread has at
most a fourth of the stages for a row (:func:`grid_packs`). Where all blocks share a row and it still has more, memory
works one way only for the packs that do not fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from softlab.hardware import occupancies
from softlab.plans.fast_cuts import GridShape, clusters_of
from softlab.plans.fast_limits import GRID_BLOCK, GROUP_WIDTHS, WARP_BLOCK, Cut
from softlab.plans.fast_ring import (
    COPY_SHARE,
    GRID_ROWS_OF_DOUBLES,
    ONE_WAY,
    PACKS_OF_LINE,
    STEP_GAIN,
    RingShape,
    StepTime,
    best_of_steps,
    doubles_wait,
    grid_stages,
    memory_microseconds,
    needs_grid,
    side_by_side,
    steady_microseconds,
    stepped,
    stepped_microseconds,
    steps_are_known,
)
from softlab.plans.fast_rows import INVARIANT, Row, is_wide
from softlab.plans.planner import PlanRequest


@dataclass(frozen=True)
class GridTime:
    """Microseconds of the grid kernel's threads.

    ``step`` for each row and for each pack of a thread, ``unaligned`` more where rows begin anywhere. ``answer`` for
    each ``MERGED_BLOCKS`` blocks that share a row, divided by the rows in flight.
    """

    step: StepTime
    unaligned: float
    answer: float


#: Inputs -> its times (H200, 2026-11-29, half of 32 lengths from 2^16 to 2^24 columns: 58 and 16 launches;
#: kernels/FAST.md).
GRID_TIMES = {1: GridTime(StepTime(0.52, 0.91, 0.42), 0.23, 0.25), 2: GridTime(StepTime(0.12, 1.7, 0.17), 0.35, 0.17)}
#: Blocks whose statistics a warp merges at once.
MERGED_BLOCKS = 32
#: Inputs -> the fewest rows in flight with which these times hold.
GRID_IN_FLIGHT = {1: 2, 2: 4}
#: Inputs -> the least part of the time that the grid kernel must save by this prediction. Of forward rows,
#: what it promised below this was nothing in some launches.
GRID_GAIN = {1: 0.015, 2: 0.0}
#: Forward rows in lanes of a warp: packs of a lane -> KiB of rows in flight per SM at which memory has enough to do
#: (the same day, 22 lengths from 69 to 2386 columns; kernels/FAST.md, as for all constants below). Beyond four packs
#: a lane computes so long that other warps must bring far more.
NEEDED_OF_LANES = {2: 52, 3: 52, 4: 56, 5: 88, 6: 116}
#: Registers of one of 16 or 32 lanes with these packs, by whether logarithms are taken and rows begin anywhere:
#: the most that NVRTC 12.9 and 13.0 take for sm_90.
REGISTERS_OF_LANES = {
    (False, False): {2: 40, 3: 48, 4: 56, 5: 64, 6: 72},
    (False, True): {2: 40, 3: 56, 4: 56, 5: 64, 6: 72},
    (True, False): {2: 40, 3: 48, 4: 48, 5: 56, 6: 56},
    (True, True): {2: 40, 3: 48, 4: 48, 5: 56, 6: 56},
}
#: The shortest rows that were measured, in packs, and the longest of log_softmax that a warp takes: five packs of a
#: lane are fuller than three of each of two warps.
FEWEST_PACKS_OF_LANES, LOGARITHMS_OF_A_WARP = 32, 160
#: The gradient of log_softmax in clusters: (unaligned, threads of a block, packs of each input) -> blocks that an SM
#: must hold. Elsewhere the compiler's own choice is as fast, and 3 % faster with 4 packs of 256 threads.
RESIDENT = {
    (True, 512, 4): 2,
    (True, 512, 5): 2,
    **{(unaligned, 256, packs): 3 for unaligned in (False, True) for packs in (5, 6, 7, 8)},
}
#: The largest cluster: blocks, threads of a block, packs of a thread.
MOST_BLOCKS_OF_CLUSTER, THREADS_OF_CLUSTERS, MOST_OF_CLUSTERS = 16, 256, 8
#: The time of a row in a cluster of that gradient: microseconds per pack of a thread, per 256 threads of a block and
#: per doubling of the cluster. The part of a block that is not in flight, the part of its bandwidth that memory gives,
#: and what a launch takes beside its rows, with clusters and with a ring.
CLUSTER_PACK, CLUSTER_THREADS, CLUSTER_DOUBLING = 0.1, 0.19, 0.29
IDLE_CLUSTERS, CLUSTER_SHARE, CLUSTER_START, RING_START = 0.4, 0.95, 5.0, 9.0
#: Of fewer rows the start and the end of a launch decide, which these times do not know.
FEWEST_ROWS = 140


def are_timed(request: PlanRequest) -> bool:
    """Whether the times of this module choose between grid and ring."""
    return request.element.itemsize == 8 and doubles_wait(request)


def grid_packs(request: PlanRequest, row: Row) -> int | None:
    """Packs of a thread of the grid kernel for a row, at most; None where its table of limits has the number."""
    if not are_timed(request) or needs_grid(request, row):
        return None
    return max(1, min(row.limits.grid.packs, grid_stages(request, row) // GRID_ROWS_OF_DOUBLES))


def ring_is_faster(ring: RingShape, grid: GridShape | None, request: PlanRequest, row: Row) -> bool:
    """Whether the ring kernel takes less time than the grid kernel, by the times of both."""
    if grid is None:
        return True
    if needs_grid(request, row):
        return False
    # Where a gradient's rows begin in the middle of a line of 128 bytes, these times are too short by up to 13 %.
    lines = row.inputs == 1 or request.cols % (PACKS_OF_LINE * row.pack_size) == 0
    if grid.rows_in_flight < GRID_IN_FLIGHT[row.inputs] or not lines:
        return True
    ours = stepped_microseconds(request, row, stepped(request, row, ring))
    return grid_microseconds(request, row, grid) > (1 - GRID_GAIN[row.inputs]) * ours


def grid_microseconds(request: PlanRequest, row: Row, grid: GridShape) -> float:
    """The time of all rows in the grid kernel, beside what every launch takes."""
    times = GRID_TIMES[row.inputs]
    answer = times.answer * math.ceil((grid.blocks_per_row + row.unaligned) / MERGED_BLOCKS) / grid.rows_in_flight
    threads = times.step.row + times.unaligned * row.unaligned + grid.packs * times.step.of_pack(request) + answer
    row_time = side_by_side(steady_microseconds(request, row, row.packs, grid.groups), threads)
    lacking = max(0, GRID_ROWS_OF_DOUBLES * grid.packs - grid_stages(request, row)) * GRID_BLOCK
    row_time += ONE_WAY * steady_microseconds(request, row, lacking * request.device.sm_count)
    # Half of the stages are full when the first results are written, and when the last row is loaded.
    lag = grid.stages * GRID_BLOCK * request.device.sm_count / 2
    return math.ceil(request.rows / grid.groups) * row_time + ONE_WAY * steady_microseconds(request, row, lag)


def lanes(request: PlanRequest, row: Row) -> tuple[int, int] | None:
    """Lanes of a warp and packs of each for a forward row: what brings most of the bytes that it needs in flight.

    None where memory is slower than threads, and for rows that were not measured.
    """
    forward = row.inputs == 1 and request.policy != INVARIANT
    if not (forward and are_timed(request) and is_wide(request, row)) or row.packs < FEWEST_PACKS_OF_LANES:
        return None
    shapes = [(width, -(-row.packs // width)) for width in GROUP_WIDTHS]
    return max(
        (shape for shape in shapes if shape[1] in NEEDED_OF_LANES),
        key=lambda shape: (min(1.0, _lanes_in_flight(request, row, *shape)), shape),
        default=None,
    )


def _lanes_in_flight(request: PlanRequest, row: Row, width: int, packs: int) -> float:
    """The part of the needed bytes in flight that lanes with these packs bring."""
    registers = REGISTERS_OF_LANES[request.operator.name == "log_softmax", row.unaligned][packs]
    blocks = occupancies.occupancy(request.device, threads=WARP_BLOCK, registers=registers).blocks_per_sm
    rows = blocks * WARP_BLOCK // width
    return rows * request.cols * request.element.itemsize / (1024 * NEEDED_OF_LANES[packs])


def packs_of_a_warp(request: PlanRequest, row: Row) -> int:
    """The longest row of a warp, in packs."""
    if request.operator.name == "log_softmax" and request.policy != INVARIANT and are_timed(request):
        return LOGARITHMS_OF_A_WARP
    return row.limits.warp


def bounds_registers(request: PlanRequest) -> bool:
    """Whether the clusters of this operator keep to the registers of :data:`RESIDENT`."""
    gradient = request.operator.name == "log_softmax_backward" and request.policy != INVARIANT
    return gradient and are_timed(request)


def with_more_packs(cuts: list[Cut]) -> list[Cut]:
    """The cuts, the largest cluster with the packs that only :data:`RESIDENT` has."""
    more = MOST_BLOCKS_OF_CLUSTER, THREADS_OF_CLUSTERS
    return [replace(cut, packs=MOST_OF_CLUSTERS) if (cut.cluster, cut.block_size) == more else cut for cut in cuts]


def bounded(row: Row, cut: Cut) -> Cut:
    """The cut with the blocks that an SM must hold."""
    return replace(cut, resident=RESIDENT.get((row.unaligned, cut.block_size, cut.taken(row.packs)), 0))


def cluster_or_ring(request: PlanRequest, row: Row, found: Cut | RingShape) -> Cut | RingShape:
    """The ring of least time where it saves enough over a cluster for the gradient of log_softmax; else what was found.

    In clusters rows of the other gradient are faster than in a ring, at all lengths that these hold, and so are rows
    that begin at 16 bytes.
    """
    if isinstance(found, RingShape):
        return stepped(request, row, found)
    compared = row.unaligned and bounds_registers(request) and steps_are_known(request, row)
    if not (compared and found.resident) or request.rows < FEWEST_ROWS:
        return found
    ring = best_of_steps(request, row)
    if ring is None:
        return found
    ours = stepped_microseconds(request, row, ring) + RING_START
    return ring if ours < (1 - STEP_GAIN) * cluster_microseconds(request, row, found) else found


def cluster_microseconds(request: PlanRequest, row: Row, cut: Cut) -> float:
    """The time of all rows of log_softmax's gradient in clusters of :data:`RESIDENT`."""
    of_row = CLUSTER_PACK * cut.taken(row.packs) + CLUSTER_THREADS * cut.block_size / 256
    of_row += CLUSTER_DOUBLING * math.log2(cut.cluster)
    at_once = clusters_of(request.device, cut.cluster) * (cut.resident - IDLE_CLUSTERS)
    memory = memory_microseconds(request, row, request.rows * row.packs) * COPY_SHARE / CLUSTER_SHARE
    return math.hypot(memory, request.rows / at_once * of_row) + CLUSTER_START
