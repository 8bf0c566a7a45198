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
from dataclasses import dataclass

from softlab.plans.fast_cuts import GridShape
from softlab.plans.fast_limits import GRID_BLOCK
from softlab.plans.fast_ring import (
    GRID_ROWS_OF_DOUBLES,
    ONE_WAY,
    PACKS_OF_LINE,
    RingShape,
    StepTime,
    doubles_wait,
    grid_stages,
    needs_grid,
    side_by_side,
    steady_microseconds,
    stepped,
    stepped_microseconds,
)
from softlab.plans.fast_rows import Row
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
