"""Rows of doubles in the policy "fast", where threads take longer than memory.

Short forward rows take the lanes or the block that bring most of the bytes that they need in flight. Longer ones take
the first pipeline that holds them. Of rows that no pipeline holds, and of long gradients, the times of the grid kernel
and of the ring kernel decide.

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

from softlab.hardware import occupancies
from softlab.plans import flight
from softlab.plans.fast_cuts import GridShape
from softlab.plans.fast_limits import GRID_BLOCK, GROUP_WIDTHS, WARP_BLOCK, Cut
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


#: Inputs -> its times (H200; forward 2026-12-01, 61 launches of 40 lengths from 2^17 to 2^21 columns; gradients
#: 2026-11-29, 16 launches of 16 lengths from 2^16 to 2^24; kernels/FAST.md).
GRID_TIMES = {1: GridTime(StepTime(0.56, 0.92, 0.34), 0.0, 0.26), 2: GridTime(StepTime(0.12, 1.7, 0.17), 0.35, 0.17)}
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
#: Idle lanes compute exponentials, too: where all have packs, memory takes 1.3 times as long as instructions may (H200,
#: 2026-12-01, 58 cells of 64 to 320 columns: the chosen lanes have 0.998 of the best in the mean, 0.96 at least).
FULL_LANES = 1.3
#: Registers of one of 16 or 32 lanes with these packs, by whether logarithms are taken and rows begin anywhere:
#: the most that NVRTC 12.9 and 13.0 take for sm_90.
REGISTERS_OF_LANES = {
    (False, False): {2: 40, 3: 48, 4: 56, 5: 56, 6: 56},
    (False, True): {2: 32, 3: 40, 4: 40, 5: 40, 6: 48},
    (True, False): {2: 32, 3: 40, 4: 48, 5: 48, 6: 48},
    (True, True): {2: 40, 3: 48, 4: 48, 5: 48, 6: 56},
}
#: The shortest rows that were measured, in packs, and the longest that a warp takes: five packs of a lane are fuller
#: than three of each of two warps.
FEWEST_PACKS_OF_LANES, PACKS_OF_A_WARP = 32, 160
#: Forward rows in a block: its threads, and the most packs of a thread (H200, 2026-11-30, 76 lengths from 224 to
#: 131 000 columns; kernels/FAST.md). Idle threads compute exponentials, too: where all have packs, memory takes 1.4
#: times as long as instructions may. The KiB of ``NEEDED_OF_LANES`` for packs of a thread; five have less to wait for.
BLOCKS, FULL_THREADS, NEEDED_OF_BLOCKS = (64, 128), 1.4, {1: 52, 2: 52, 3: 52, 4: 56, 5: 75}
#: A larger block, for rows that those do not hold, where all threads have equally many packs.
LARGER_BLOCK = Cut(1, 256, 4)
#: Bytes of rows that an SM holds at once, in blocks of many packs.
HELD_BYTES = 96 * 1024
#: Longer forward rows in pipelines: the first that holds the row (the same launches). A thread merges the statistics of
#: all warps of the row, so the more warps, the more packs it must have. With more packs yet, an SM holds fewer rows.
PIPELINES = (
    Cut(1, 128, 10), Cut(1, 256, 7), Cut(2, 128, 10), Cut(2, 256, 8), Cut(4, 128, 12), Cut(4, 256, 8), Cut(8, 128, 15),
    Cut(8, 256, 11), Cut(16, 128, 16), Cut(16, 256, 16),
)  # fmt: skip


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
    if not are_forward(request, row) or row.packs < FEWEST_PACKS_OF_LANES:
        return None
    shapes = [(width, -(-row.packs // width)) for width in GROUP_WIDTHS]
    return max(
        (shape for shape in shapes if shape[1] in NEEDED_OF_LANES),
        key=lambda shape: (min(1.0, _lanes_in_flight(request, row, *shape), FULL_LANES * _filled(row, *shape)), shape),
        default=None,
    )


def are_forward(request: PlanRequest, row: Row) -> bool:
    """Whether this module has times of forward rows that go to lanes, blocks and pipelines."""
    return row.inputs == 1 and request.policy != INVARIANT and are_timed(request) and is_wide(request, row)


def are_many(request: PlanRequest, row: Row) -> bool:
    """Whether SMs hold only a part of these forward rows at once, so that the bytes in flight decide.

    Of fewer rows the time of one decides, and more threads are faster.
    """
    held = request.device.sm_count * HELD_BYTES
    return are_forward(request, row) and request.rows * request.cols * request.element.itemsize >= held


def block(request: PlanRequest, row: Row) -> Cut | None:
    """The block of a forward row: what brings most of the bytes that it needs in flight, with few idle threads.

    None where no block holds the row in a few packs of a thread.
    """
    cuts = [Cut(1, threads, max(NEEDED_OF_BLOCKS)) for threads in BLOCKS]
    if row.packs > cuts[-1].most:
        full = row.packs <= LARGER_BLOCK.most and LARGER_BLOCK.fill(row.packs) == 1 and not row.unaligned
        return LARGER_BLOCK if full else None
    return max(
        (cut for cut in cuts if row.packs <= cut.most),
        key=lambda cut: min(_block_in_flight(request, row, cut), FULL_THREADS * cut.fill(row.packs)),
    )


def pipelines(request: PlanRequest, row: Row) -> tuple[Cut, ...]:
    """The pipelines that may hold a row, in the order in which they are asked."""
    return PIPELINES if are_many(request, row) else row.limits.pipelines


def _block_in_flight(request: PlanRequest, row: Row, cut: Cut) -> float:
    """The part of the needed bytes in flight that blocks bring."""
    packs = cut.taken(row.packs)
    registers = flight.REGISTERS[8, 1, row.unaligned][packs - 1]
    rows = occupancies.occupancy(request.device, threads=cut.block_size, registers=registers).blocks_per_sm
    return rows * request.cols * request.element.itemsize / (1024 * NEEDED_OF_BLOCKS[packs])


def _filled(row: Row, width: int, packs: int) -> float:
    """The part of the lanes' packs that the row fills."""
    return row.packs / (width * packs)


def _lanes_in_flight(request: PlanRequest, row: Row, width: int, packs: int) -> float:
    """The part of the needed bytes in flight that lanes with these packs bring."""
    registers = REGISTERS_OF_LANES[request.operator.name == "log_softmax", row.unaligned][packs]
    blocks = occupancies.occupancy(request.device, threads=WARP_BLOCK, registers=registers).blocks_per_sm
    rows = blocks * WARP_BLOCK // width
    return rows * request.cols * request.element.itemsize / (1024 * NEEDED_OF_LANES[packs])


def packs_of_a_warp(request: PlanRequest, row: Row) -> int:
    """The longest row of a warp, in packs."""
    return PACKS_OF_A_WARP if are_forward(request, row) else row.limits.warp
