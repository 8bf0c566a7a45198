"""Rows of megabytes in the policy "fast": how the ring kernel lies over the rows, and where it beats the grid kernel.

A group of blocks that shares a row takes, for each of its rows, the longest of

- what memory takes for the rows of all groups, in and out;
- what the group's threads take: ``ROW_MICROSECONDS`` to start a row and to exchange its statistic, and
  ``PACK_MICROSECONDS`` for each pack of a thread, whole steps counted;

and what it waits for the answer to the row's statistic. Results begin ``lag`` packs behind the loads: that long memory
only reads, and at the end it only writes, which costs the part ``ONE_WAY`` of this time. So the ring holds a row and
the packs that are loaded until the answer comes, and no more. The groups work side by side. The plan takes the number
of groups with the least time for all rows: few groups on many blocks each have short rows, and a short lag.

Where the ring does not hold the row and the answer, all blocks share a row, and they may keep packs in registers, too
(``KEPT``). Where that is not enough for the row, the ring keeps as many of the row's last packs as it can, and the
others are read again. Then all wait for the answer, which is cheaper than to read more packs again: 1 to 5 % (H100,
2026-11-27, 13 rows). A pack that is only read takes half the time of one that is read and written.

Threads without a pack take as long as those with one. Where memory is fast, that is what a step costs. There
:func:`fitted` looks for blocks whose threads the row fills, and :func:`stepped` for rows of fewer and larger steps. The
kernel is chosen before, for blocks of ``GRID_BLOCK`` threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from softlab.hardware.devices import Device
from softlab.plans.fast_cuts import GridShape
from softlab.plans.fast_limits import (
    GRID_BLOCK,
    GRID_MAILBOX_THREADS,
    GRID_STATIC_BYTES,
    MAILBOX_HEADER_WORDS,
    Cut,
)
from softlab.plans.fast_rows import RING, Row, kernel_of
from softlab.plans.instantiations import WIDEST_PACK_BYTES
from softlab.plans.planner import Choice, PlanRequest, StepLog

#: Inputs -> (packs of a step, steps of copies ahead).
STEPS = {1: (2, 1), 2: (1, 1)}
#: Steps of prefetches ahead of the copies. With more rows at once, memory has enough to do while a row waits: one step
#: is then 0.5 % faster, and up to 2 % (H100, 2026-11-27, 57 lengths; with none 4 to 10 % slower, with three 2 to 4 %).
FETCHED, FETCHED_OF_SEVERAL, SEVERAL_GROUPS = 2, 1, 3
#: Inputs -> packs of each that a thread keeps in registers at most: as many as 128 registers hold. ``KEPT_BLOCK``
#: threads and the two warps of the mailbox may have that many. Softmax of doubles keeps none: it would compute their
#: exponentials all at once, while memory waits.
KEPT, KEPT_BLOCK = {1: 16, 2: 7}, 448
#: Prefetches are then as many steps ahead as memory takes this time for, and one at least. An H100 has one: 1 to 2 %
#: faster than two, and four are 5 % slower (2026-11-27, 13 lengths). An H200 has one step forward, where two gain
#: nothing, and two in gradients, where they gain 0.5 to 2.3 % in 24 of 25 cells (2026-11-29; kernels/FAST.md).
FETCH_MICROSECONDS = 1.5
#: Blocks with packs in registers take a row in stripes, where memory has this bandwidth: 0.5 to 24 % faster in 46 cells
#: (H200, 4.8 TB/s; 2026-11-29). With slower memory stripes were not measured. Without packs in registers they
#: gain 0.5 % in the mean of 15 cells, and lose up to 0.7 %.
STRIPES_BANDWIDTH = 4e12
#: What packs in registers cost per row, as packs that a row waits for its answer. In 46 lengths they were faster in all
#: 30 where the row would wait longer, and slower in all 16 others (the same day).
KEPT_PACKS = 4
#: The same by inputs, where blocks with packs in registers take stripes (H200, 2026-11-30, 22 lengths): a gradient that
#: would wait 2.7 packs or more gained 2 to 6 %, one that would wait 1.7 lost 2 to 9 %. A forward row that would wait 4
#: gained 3 %, one that would wait 3 or fewer lost up to 11 %. No more packs are kept than shorten the wait: each costs.
KEPT_PACKS_OF_STRIPES = {1: 3, 2: 2}
#: Bytes that an SM moves until the answer to a row's statistic comes. Between 100 and 200 KiB the time differs by less
#: than 1 % (H100, 2026-11-27, 1400 launches of 69 lengths; with less the threads wait). On an H200 gradients in one
#: group lose 1 to 3 % with 144 KiB. Several groups of a fitting length lose less: where the times of steps promise
#: ``SHORT_ANSWER`` of the time or more, 9 of 9 cells gained 0.2 to 2.1 %, and where they promised less, 32 cells lost
#: 0.2 % in the mean (2026-12-01; doubles were not measured).
ANSWER_BYTES, ANSWER_BYTES_OF_GROUPS, SHORT_ANSWER = 160 * 1024, 144 * 1024, 0.0025
#: What a row and a pack of it cost a group's threads at least (H100, 2026-11-27; 31 lengths with 1 to 13 groups). Where
#: rows begin anywhere, the two warps that exchange statistics have a head and a tail to move before they poll, and each
#: 32 statistics take longer. The pack by the bytes of an element.
ROW_MICROSECONDS, UNALIGNED_MICROSECONDS, POLL_MICROSECONDS = 0.25, 0.15, 0.08
PACK_MICROSECONDS = {2: 0.4, 4: 0.3, 8: 0.65}
#: What each further group costs: memory is slower where more rows are read and written at once (the same launches).
FURTHER_GROUP = 0.006
#: The first packs of a row that fill no line of 128 bytes may be as many as one less than these.
PACKS_OF_LINE = 128 // WIDEST_PACK_BYTES
#: The part of the time that memory loses while it only reads or only writes.
ONE_WAY = 0.3
#: The part of its bandwidth that a copy reaches, and the bandwidth where it is not known (an H200's).
COPY_SHARE, MEMORY_BANDWIDTH = 0.88, 4.8e12
#: What a row costs the grid kernel beside its packs, in packs, by whether rows begin anywhere. Then one block of the
#: group has a head and a tail, and the others wait for it.
GRID_START = {False: 0.2, True: 0.6}
#: One row is written, two wait for their statistic, one is loaded.
GRID_ROWS_OF_DOUBLES = 4
#: The fewest rows per group, where the grid kernel or another group could take them: steps of several rows must
#: overlap, or only the ring's start and end remain.
FEWEST_ITERATIONS = 3
#: The kernel counts the packs of a thread in an int.
MOST_PACKS = 2**31 - 1


@dataclass(frozen=True)
class ThreadTime:
    """Microseconds of a block's threads.

    ``row`` for each row. For each pack of a thread: ``pack``, and ``further`` per ``GRID_BLOCK`` threads of the
    block, which share the schedulers. ``steps``: the fewest steps of a row for which this holds. Rows with fewer
    start more often, and take up to 9 % longer. ``gain``: the least part of the time that other blocks must save by
    this prediction. Where it promised less, some launches became slower.
    """

    row: float
    pack: float
    further: float
    steps: int
    gain: float

    def of_packs(self, packs: int, block_size: int) -> float:
        """The time for ``packs`` packs of each thread, without that of the row."""
        return packs * (self.pack + self.further * block_size / GRID_BLOCK)


#: (Bytes of an element, inputs) -> the time of its threads (H200, 2026-11-28, 36 lengths from 2^18 to 2^20.7 columns,
#: 271 launches with 384 to 768 threads per block; kernels/FAST.md). Doubles were not measured.
THREAD_TIMES = {
    (2, 1): ThreadTime(0.65, 0.13, 0.07, 3, 0.03),
    (4, 1): ThreadTime(0.0, 0.10, 0.155, 2, 0.02),
    (2, 2): ThreadTime(0.0, 0.28, 0.10, 2, 0.03),
    (4, 2): ThreadTime(0.0, 0.18, 0.165, 2, 0.02),
}
#: Memory and threads work side by side, but each waits for the other at times: their times are added as the powers of
#: this exponent (the same launches).
OVERLAP = 3
#: The threads of a fitted block: warps of all four schedulers, and with the two warps of the mailbox registers for
#: each, at most as many as spill nothing.
FITTED_BLOCKS = range(384, 769, 64)
#: Fitted blocks take at most this many more rows at once: more were not measured beside the chosen number.
MORE_GROUPS = 2
#: Threads count where ``GRID_BLOCK`` of them take more than this part of memory's time for their packs. An H200 has
#: 0.39 to 0.50 for the four types of ``THREAD_TIMES``. An H100 has 0.28 to 0.36: there blocks that fit were no faster.
THREADS_COUNT = 0.375
#: The fewest rows per group: of fewer the start and the end decide, and some were 3 to 6 % slower (the same lengths).
FITTED_ITERATIONS = 8


#: Microseconds per pack of ``GRID_BLOCK`` threads, of all types but doubles (``STEP_TIMES``).
PACK_OF_STEP = 0.215
#: The part of their time that gradients lose whose rows have several steps (H200, 2026-11-30, 285 launches of 19
#: lengths; kernels/FAST.md).
SEVERAL_STEPS = 0.01


@dataclass(frozen=True)
class StepTime:
    """What a type's rows take beside ``STEP_MICROSECONDS``: microseconds per ``row``, and per ``pack`` of
    ``GRID_BLOCK`` threads. In log_softmax a pack takes the part ``logarithm`` of this time: its results need no
    exponentials, and those of a gradient need more of them. Rows of several steps lose the part ``several`` of their
    time.
    """

    row: float
    logarithm: float
    pack: float = PACK_OF_STEP
    several: float = 0.0

    def of_pack(self, request: PlanRequest) -> float:
        """The time of a pack in the request's operator."""
        return self.pack * (self.logarithm if request.operator.name.startswith("log_softmax") else 1)


#: (Bytes of an element, inputs) -> its times (H200, 2026-11-29, 228 cells of 2^18 to 2^22 columns, 3100 launches
#: with 384 to 896 threads and 1 to 4 packs per step; kernels/FAST.md). Doubles: 102 and 93 launches of 18 lengths from
#: 2^16 to 2^21 columns, with 384 to 768 threads and 1 to 4 packs per step (the same day). Forward doubles: 156 launches
#: of 40 lengths from 2^17 to 2^21 columns (2026-12-01; from half of the lengths they are 3.5 % off on the other half).
STEP_TIMES = {
    (2, 1): StepTime(0.25, 0.77),
    (4, 1): StepTime(0.0, 1.0),
    (2, 2): StepTime(0.0, 1.0, several=SEVERAL_STEPS),
    (4, 2): StepTime(0.0, 1.0, several=SEVERAL_STEPS),
    (8, 1): StepTime(0.78, 0.62, 0.42),
    (8, 2): StepTime(0.0, 1.29, 0.256),
}
#: What all types take (the same launches): microseconds per step. Where rows begin anywhere, a row takes the sum of
#: ``ENDS_MICROSECONDS`` at least, the second of them per ``GRID_BLOCK`` threads (the same day, head and tail loaded a
#: row ahead, 402 launches of 36 lengths).
STEP_MICROSECONDS, ENDS_MICROSECONDS = 0.27, (0.5, 0.3)
#: The least part of the time that other steps must save by this prediction.
STEP_GAIN = 0.005
#: The exponent for these times and that of memory, what each further row at once costs memory, and the part of its
#: bandwidth that memory gives between start and end (the same launches).
STEP_OVERLAP, STEP_GROUP, STEADY_SHARE = 6, 0.002, 0.906
#: Inputs -> packs of a step, threads of a block, and the most steps of a row. A forward row is one step: with more, the
#: prediction was up to 3 % too good. A gradient's row has two packs per thread at least, for the same reason.
STEP_PACKS = {1: range(2, 7), 2: range(1, 5)}
STEP_BLOCKS = {1: range(384, 769, 64), 2: range(320, 833, 32)}
STEP_COUNTS, FEWEST_PACKS = {1: 1, 2: 8}, 2
#: More rows at once were not measured, nor fewer rows per group with a gain, nor shorter rows (by the bytes of an
#: element).
STEP_GROUPS, STEP_ITERATIONS, STEP_COLUMNS = 14, 20, {2: 1 << 17, 4: 1 << 17, 8: 1 << 16}
#: Bytes that an SM waits for at most: copies and prefetches under way. With 132 KiB and more rows took 8 to 15 %
#: longer than predicted (the same launches).
MOST_UNDER_WAY = 76 * 1024
#: Inputs -> the same for other steps. Forward rows with 80 to 100 KiB took 3 us longer than others. Gradients with 80
#: to 96 KiB did not, where the answer comes in time (H200, 2026-11-29, 220 lengths; kernels/FAST.md).
STEP_UNDER_WAY = {1: MOST_UNDER_WAY, 2: 96 * 1024}
#: Doubles: inputs -> packs of a step, threads of a block, the most steps of a row. Others, and more under way than
#: ``MOST_UNDER_WAY``, were not measured.
STEP_PACKS_OF_DOUBLES = {1: range(2, 5), 2: range(1, 4)}
STEP_BLOCKS_OF_DOUBLES = {1: range(384, 577, 64), 2: range(384, 833, 64)}
STEP_COUNTS_OF_DOUBLES = {1: 8, 2: 8}
#: Inputs -> the fewest rows per group, for doubles.
STEP_ITERATIONS_OF_DOUBLES = {1: 16, 2: STEP_ITERATIONS}
#: Registers that forward doubles with these packs of a step must have (NVRTC 12.9, sm_90). With fewer they spill 32
#: bytes and more, and take a tenth to a third longer (H200, 2026-12-01, 250 launches).
STEP_REGISTERS_OF_DOUBLES = {2: 96, 3: 96, 4: 120}
#: An SM gives a thread registers in such portions.
REGISTERS_PORTION = 8


@dataclass(frozen=True)
class RingShape:
    """How the ring kernel lies over the rows.

    ``blocks_per_row`` blocks of ``block_size`` threads, and those of the mailbox, share a row. ``groups`` rows run at
    once. A thread holds ``packs`` packs of each input per row, in a ring of ``stages`` packs. A step has ``per_step``
    packs; copies are ``ahead`` steps ahead, prefetches ``fetched`` steps more. The first ``again`` steps of a row are
    read a second time: the ring holds the others. ``kept`` more packs of a thread stay in registers. ``stripes``: in
    each step the blocks take pieces side by side; otherwise each block has a slice of the row. A row waits ``late``
    packs for its answer. ``time`` is that of all rows, in packs of ``GRID_BLOCK`` threads.
    """

    blocks_per_row: int
    groups: int
    block_size: int
    packs: int
    per_step: int
    stages: int
    ahead: int
    fetched: int
    again: int
    kept: int
    stripes: bool
    late: float
    time: float

    @property
    def slots(self) -> int:
        """Rows whose statistics a block keeps (kernels/fast_ring.cuh, invariant 1)."""
        return -(-(self.stages // self.per_step - self.ahead) // (self.row_steps + self.again))

    @property
    def lag(self) -> int:
        """Packs of a thread by which results are behind loads."""
        return self.stages - self.ahead * self.per_step

    @property
    def row_steps(self) -> int:
        """Steps of a row."""
        return -(-self.packs // self.per_step)

    def pack_bytes(self, row: Row) -> int:
        """Bytes of one pack of each thread of a block, of all inputs."""
        return row.inputs * self.block_size * WIDEST_PACK_BYTES

    def filled(self, row: Row) -> float:
        """The part of the threads' packs that the row fills."""
        threads = self.blocks_per_row * self.block_size
        return row.packs / threads / (self.row_steps * self.per_step + self.kept)

    def packs_read_again(self, row: Row) -> int:
        """Packs of a row, of each input, that are read a second time."""
        if self.stripes:
            threads = self.blocks_per_row * self.block_size
            return max(0, min(row.packs - self.kept * threads, self.again * self.per_step * threads))
        cut = Cut(self.blocks_per_row, self.block_size, self.packs + self.kept)
        most, kept = cut.per_block(row.packs + PACKS_OF_LINE - 1), self.kept * self.block_size
        slices = (min(most, row.packs - block * most) - kept for block in range(self.blocks_per_row))
        return sum(max(0, min(packs, self.again * self.per_step * self.block_size)) for packs in slices)


def ring_shape(request: PlanRequest, row: Row) -> RingShape | None:
    """The fastest shape; None where packs are narrower than 16 bytes, or the GPU has no clusters."""
    width = row.pack_size * request.element.itemsize
    if request.device.compute_capability < (9, 0) or width < WIDEST_PACK_BYTES:
        return None
    return min(_shapes(request, row), key=lambda shape: shape.time, default=None)


def _shapes(request: PlanRequest, row: Row) -> Iterator[RingShape]:
    keeps = request.element.itemsize < 8 or row.inputs > 1
    for groups in range(1, max(1, min(request.rows // FEWEST_ITERATIONS, request.device.sm_count)) + 1):
        shape = _shape(request, row, groups, 0)
        if shape and groups == 1 and keeps and shape.late > _kept_packs(request, row):
            yield _with_registers(request, row) or shape
        elif shape and (not shape.again or groups == 1):
            yield shape


def _kept_packs(request: PlanRequest, row: Row) -> int:
    """Packs that a row must wait for its answer before packs in registers are faster."""
    return KEPT_PACKS_OF_STRIPES[row.inputs] if _takes_stripes(request) else KEPT_PACKS


def _with_registers(request: PlanRequest, row: Row) -> RingShape | None:
    """All blocks share a row, and keep packs in registers: as many as fit; with stripes as few as wait the least."""
    most = KEPT[row.inputs]
    if not _takes_stripes(request):
        return _shape(request, row, 1, most)
    shapes = (_shape(request, row, 1, kept) for kept in range(STEPS[row.inputs][0], most + 1))
    return min(filter(None, shapes), key=lambda shape: (shape.again, shape.late, shape.kept), default=None)


def _takes_stripes(request: PlanRequest) -> bool:
    """Whether blocks with packs in registers take a row in stripes."""
    return _bandwidth(request) >= STRIPES_BANDWIDTH


def _shape(
    request: PlanRequest,
    row: Row,
    groups: int,
    most_kept: int,
    size: int = 0,
    step: int = 0,
    answer_bytes: int = ANSWER_BYTES,
) -> RingShape | None:
    """The shape for a number of groups and the most packs that a thread keeps in registers; None if a row is too long.

    Less than half of a thread's packs are in registers: they are written and computed at once, while memory waits.
    """
    device, (per_step, ahead) = request.device, STEPS[row.inputs]
    per_step, block_size = step or per_step, size or (KEPT_BLOCK if most_kept else GRID_BLOCK)
    bytes_per_pack = row.inputs * block_size * WIDEST_PACK_BYTES
    blocks_per_row = device.sm_count // groups
    packs = Cut(blocks_per_row, block_size, MOST_PACKS).taken(row.packs + PACKS_OF_LINE - 1)
    if packs > MOST_PACKS:
        return None
    kept = min(most_kept, packs // 2 - 1) // per_step * per_step if most_kept else 0
    packs -= kept
    most_stages = (device.smem_per_block_optin - GRID_STATIC_BYTES) // bytes_per_pack // per_step * per_step
    answer = answer_bytes / (bytes_per_pack * (row.inputs + 1) / row.inputs)
    microseconds = memory_microseconds(request, row, block_size * device.sm_count)
    most_fetched = MOST_UNDER_WAY // (per_step * bytes_per_pack) - ahead
    fetched = _fetched(groups, most_fetched, per_step * microseconds if most_kept else 0.0)
    stripes = kept > 0 and _takes_stripes(request)
    row_steps = math.ceil(packs / per_step)
    lag, again, late = _lag(packs, per_step, most_stages // per_step - ahead, answer, kept)
    moved = row.packs * groups / (device.sm_count * block_size) + again * per_step / 2
    steps_microseconds = PACK_MICROSECONDS[request.element.itemsize] * (row_steps * per_step + kept)
    issued = (_row_microseconds(row, blocks_per_row) + steps_microseconds) / microseconds
    row_time = max(moved * (1 + FURTHER_GROUP * (groups - 1)), issued) + late
    time = math.ceil(request.rows / groups) * row_time + ONE_WAY * lag
    return RingShape(
        blocks_per_row, groups, block_size, packs, per_step, lag + ahead * per_step, ahead, fetched, again, kept,
        stripes, late, time * block_size / GRID_BLOCK,
    )  # fmt: skip


def _lag(packs: int, per_step: int, most_steps: int, answer: float, kept: int) -> tuple[int, int, float]:
    """Packs by which results are behind loads, steps that are read again, and packs that a row waits for its answer.

    At most ``most_steps`` steps of ``per_step`` packs lie between; the answer takes ``answer`` packs.
    """
    row_steps = math.ceil(packs / per_step)
    if row_steps > most_steps:
        return most_steps * per_step, row_steps - most_steps, answer
    most_steps = min(most_steps, 2 * row_steps - 1) if kept else most_steps  # kernel's invariant 8
    lag = min(most_steps, row_steps + math.ceil(answer / per_step)) * per_step
    return lag, 0, max(0.0, answer - (lag - packs)) / (lag // packs)


def _fetched(groups: int, most: int, step_microseconds: float) -> int:
    """Steps of prefetches ahead of the ring. step_microseconds: memory's for a step with packs in registers, else 0."""
    if step_microseconds:
        return max(1, min(most, math.floor(FETCH_MICROSECONDS / step_microseconds)))
    return FETCHED if groups < SEVERAL_GROUPS and most >= FETCHED else FETCHED_OF_SEVERAL


def fitted(request: PlanRequest, row: Row, shape: RingShape) -> RingShape:
    """The shape whose blocks fit the row, or the given one where that saves too little.

    Rows that the ring does not hold with their answer stay as they are, and few rows, and all rows where memory is so
    slow that threads do not count.
    """
    times = THREAD_TIMES.get((request.element.itemsize, row.inputs))
    many = request.rows >= FITTED_ITERATIONS * shape.groups
    if times is None or shape.kept or shape.again or not many or not _threads_count(request, row, times):
        return shape
    most = min(request.rows // FITTED_ITERATIONS, request.device.sm_count, shape.groups + MORE_GROUPS)
    candidates = [
        other
        for block_size in FITTED_BLOCKS
        for groups in range(1, most + 1)
        if (other := _shape(request, row, groups, 0, block_size)) and _holds_answer(other, times.steps)
    ]
    best = min(candidates, key=lambda other: _microseconds(request, row, other, times), default=shape)
    gains = _microseconds(request, row, best, times) < (1 - times.gain) * _microseconds(request, row, shape, times)
    return best if gains else shape


def stepped(request: PlanRequest, row: Row, shape: RingShape) -> RingShape:
    """The shape whose steps suit the row, or the given one where that saves too little.

    A step takes a time of its own. So fewer, larger steps are faster while memory has not too much to bring at once. Of
    rows of one pack the prediction is too good (``FEWEST_PACKS``), so any other shape is taken instead.
    """
    many = request.rows >= _step_iterations(request, row) * shape.groups
    if shape.kept or shape.again or not many or not steps_are_known(request, row):
        return shape
    best = best_of_steps(request, row)
    if best is None:
        return shape
    if shape.row_steps * shape.per_step < FEWEST_PACKS:
        return best
    now, new = (stepped_microseconds(request, row, one) for one in (shape, best))
    return best if new < (1 - STEP_GAIN) * now else shape


def steps_are_known(request: PlanRequest, row: Row) -> bool:
    """Whether the times of steps were measured for such rows, and count beside memory's."""
    return request.cols >= STEP_COLUMNS[request.element.itemsize] and memory_is_fast(request, row)


def memory_is_fast(request: PlanRequest, row: Row) -> bool:
    """Whether the times of threads count beside memory's, for rows whose times were measured."""
    if request.element.itemsize == 8:
        return doubles_wait(request)
    return _threads_count(request, row, THREAD_TIMES[request.element.itemsize, row.inputs])


def best_of_steps(request: PlanRequest, row: Row) -> RingShape | None:
    """The ring with the least time by the times of steps; None where none suits the row."""
    most = min(request.rows // _step_iterations(request, row), request.device.sm_count, STEP_GROUPS)
    doubles, inputs = request.element.itemsize == 8, row.inputs
    under_way, steps = (
        (MOST_UNDER_WAY, STEP_COUNTS_OF_DOUBLES[inputs]) if doubles else (STEP_UNDER_WAY[inputs], STEP_COUNTS[inputs])
    )
    candidates = [
        shape
        for block_size in (STEP_BLOCKS_OF_DOUBLES if doubles else STEP_BLOCKS)[inputs]
        for packs in (STEP_PACKS_OF_DOUBLES if doubles else STEP_PACKS)[inputs]
        if not (doubles and _spills(request, row, block_size, packs))
        for groups in range(1, most + 1)
        for answer in _step_answers(request, row, groups)
        if (shape := _shape(request, row, groups, 0, block_size, packs, answer))
        and _suits(shape, row, under_way, steps, answer)
    ]

    def time(shape: RingShape) -> float:
        short = 0.0 if _answered(shape, row, ANSWER_BYTES) else SHORT_ANSWER
        return (1 + short) * stepped_microseconds(request, row, shape)

    return min(candidates, key=time, default=None)


def _step_answers(request: PlanRequest, row: Row, groups: int) -> tuple[int, ...]:
    """The bytes that an SM may move until the answer comes, where ``groups`` rows run at once."""
    several = groups > 1 and row.inputs > 1 and request.element.itemsize < 8
    return (ANSWER_BYTES, ANSWER_BYTES_OF_GROUPS) if several else (ANSWER_BYTES,)


def _step_iterations(request: PlanRequest, row: Row) -> int:
    """The fewest rows per group for which the times of steps were measured."""
    return STEP_ITERATIONS_OF_DOUBLES[row.inputs] if request.element.itemsize == 8 else STEP_ITERATIONS


def _spills(request: PlanRequest, row: Row, block_size: int, per_step: int) -> bool:
    """Whether a step of forward doubles needs more registers than a thread of the block can have."""
    given = registers_given(request.device, block_size + GRID_MAILBOX_THREADS)
    return row.inputs == 1 and given < STEP_REGISTERS_OF_DOUBLES[per_step]


def registers_given(device: Device, threads: int) -> int:
    """Registers of each thread, where an SM holds as many."""
    return device.registers_per_sm // threads // REGISTERS_PORTION * REGISTERS_PORTION


def _suits(shape: RingShape, row: Row, most_under_way: int, most_steps: int, answer_bytes: int) -> bool:
    """Whether the ring holds a row and its answer in few steps, and memory has not too much to bring at once."""
    under_way = (shape.ahead + shape.fetched) * shape.per_step * shape.pack_bytes(row)
    few = shape.row_steps <= most_steps and shape.row_steps * shape.per_step >= FEWEST_PACKS
    held = _answered(shape, row, answer_bytes) and _holds_answer(shape, 1)
    return few and held and under_way <= most_under_way


def _answered(shape: RingShape, row: Row, answer_bytes: int) -> bool:
    """Whether an SM moves these bytes from a row's last step to its first result.

    Steps are whole: results begin with the step that the answer has come for.
    """
    waited = shape.lag - shape.row_steps * shape.per_step
    return waited >= answer_bytes / (shape.pack_bytes(row) * (row.inputs + 1) / row.inputs)


def stepped_microseconds(request: PlanRequest, row: Row, shape: RingShape) -> float:
    """The time of all rows, beside what every launch takes, by the times of steps."""
    times, width = STEP_TIMES[request.element.itemsize, row.inputs], shape.block_size / GRID_BLOCK
    threads = times.row + shape.row_steps * (STEP_MICROSECONDS + shape.per_step * width * times.of_pack(request))
    ends = ENDS_MICROSECONDS[0] + ENDS_MICROSECONDS[1] * width if row.unaligned else 0
    row_time = side_by_side(steady_microseconds(request, row, row.packs, shape.groups), threads, ends)
    row_time *= 1 + (times.several if shape.row_steps > 1 else 0)
    lag = shape.lag * shape.block_size * request.device.sm_count
    return math.ceil(request.rows / shape.groups) * row_time + ONE_WAY * steady_microseconds(request, row, lag)


def steady_microseconds(request: PlanRequest, row: Row, packs: float, groups: int = 1) -> float:
    """How long memory takes for as many packs of each group's row, between start and end of a launch."""
    memory = memory_microseconds(request, row, packs * groups)
    return COPY_SHARE / STEADY_SHARE * memory * (1 + STEP_GROUP * (groups - 1))


def side_by_side(*microseconds: float) -> float:
    """The time of what works side by side: mostly that of the slowest."""
    return float(sum(time**STEP_OVERLAP for time in microseconds) ** (1 / STEP_OVERLAP))


def _holds_answer(shape: RingShape, steps: int) -> bool:
    """Whether a row has at least ``steps`` steps, and the ring holds it and what is loaded until its answer comes."""
    return not shape.again and not shape.late and shape.row_steps >= steps


def _threads_count(request: PlanRequest, row: Row, times: ThreadTime) -> bool:
    """Whether threads take so long, beside memory, that it matters whether they have a pack."""
    packs = GRID_BLOCK * request.device.sm_count
    return times.of_packs(1, GRID_BLOCK) > THREADS_COUNT * memory_microseconds(request, row, packs)


def doubles_wait(request: PlanRequest) -> bool:
    """Whether a softmax of doubles in the ring waits for its threads, and not for memory."""
    step = STEP_MICROSECONDS / STEPS[1][0] + STEP_TIMES[8, 1].pack
    bytes_moved = 2 * GRID_BLOCK * request.device.sm_count * WIDEST_PACK_BYTES
    return step > 1e6 * bytes_moved / (COPY_SHARE * _bandwidth(request))


def memory_microseconds(request: PlanRequest, row: Row, packs: float) -> float:
    """How long memory takes to read packs of each input and to write as many."""
    bandwidth = COPY_SHARE * _bandwidth(request)
    return 1e6 * packs * (row.inputs + 1) * WIDEST_PACK_BYTES / bandwidth


def _bandwidth(request: PlanRequest) -> float:
    """The memory's bytes per second, by its datasheet."""
    return request.device.memory_bandwidth or MEMORY_BANDWIDTH


def _microseconds(request: PlanRequest, row: Row, shape: RingShape, times: ThreadTime) -> float:
    """The time of all rows, beside what every launch takes."""
    memory = memory_microseconds(request, row, row.packs * shape.groups) * (1 + FURTHER_GROUP * (shape.groups - 1))
    threads = times.row + times.of_packs(shape.row_steps * shape.per_step, shape.block_size)
    threads += UNALIGNED_MICROSECONDS if row.unaligned else 0
    row_time = (memory**OVERLAP + threads**OVERLAP) ** (1 / OVERLAP)
    lag = shape.lag * shape.block_size * request.device.sm_count
    one_way = ONE_WAY * memory_microseconds(request, row, lag)
    return math.ceil(request.rows / shape.groups) * row_time + one_way


def _row_microseconds(row: Row, blocks_per_row: int) -> float:
    """What a row costs a group's threads beside its packs."""
    if not row.unaligned:
        return ROW_MICROSECONDS
    return ROW_MICROSECONDS + UNALIGNED_MICROSECONDS + POLL_MICROSECONDS * math.ceil((blocks_per_row + 1) / 32)


def is_faster(ring: RingShape, grid: GridShape | None, request: PlanRequest, row: Row) -> bool:
    """Whether the ring kernel takes less time than the grid kernel.

    The grid kernel is at its best while it has as many rows in flight as it wants; with fewer it waits for answers. In
    softmax it keeps the exponentials of doubles, and the ring kernel computes them twice. So it takes doubles while
    its stages hold ``GRID_ROWS_OF_DOUBLES`` rows. :mod:`softlab.plans.fast_doubles` chooses where threads take longer
    than memory.
    """
    if grid is None:
        return True
    if needs_grid(request, row):
        return False
    stages = grid_stages(request, row)
    if request.element.itemsize == 8 and request.operator.name == "softmax":
        return stages < GRID_ROWS_OF_DOUBLES * grid.packs
    if grid.rows_in_flight < row.limits.grid.rows_in_flight:
        return True
    return ring.time < -(-request.rows // grid.groups) * (grid.packs + GRID_START[row.unaligned])


def needs_grid(request: PlanRequest, row: Row) -> bool:
    """Whether rows are too few for the ring, or fit the chip together: the grid kernel then asks for all at once."""
    stages = grid_stages(request, row)
    few = request.rows < FEWEST_ITERATIONS
    return few or request.rows * row.packs <= request.device.sm_count * stages * GRID_BLOCK


def grid_stages(request: PlanRequest, row: Row) -> int:
    """Packs of each input that a thread of the grid kernel has room for in shared memory."""
    return (request.device.smem_per_block_optin - GRID_STATIC_BYTES) // (row.inputs * GRID_BLOCK * WIDEST_PACK_BYTES)


def around_ring(request: PlanRequest, log: StepLog, row: Row, shape: RingShape) -> Choice:
    """Blocks on all SMs hold the row in a ring."""
    rows, sms = request.rows, request.device.sm_count
    rule = "as many as take the least time for all rows"
    groups = log.note("How many rows at once?", shape.groups, rule, rows=rows, sms=sms, packs=round(shape.time, 1))
    rule = "the SMs divided by the rows at once"
    blocks_per_row = log.note("How many blocks share a row?", shape.blocks_per_row, rule, sms=sms, groups=groups)
    rule = "as many as the row fills, where threads without a pack take time that memory does not need"
    log.note("How many threads of a block share a row?", shape.block_size, rule, filled=round(shape.filled(row), 2))
    packs = log.note("How many packs does a thread hold?", shape.packs, "as few as hold the row")
    rule = "one row in as few steps as memory can follow, where steps take time that memory does not need"
    log.note("How many of them are a step?", shape.per_step, rule, steps=shape.row_steps)
    rule = "those of a row, and those that are loaded until its statistic is known"
    stages = log.note("How many packs does the ring have per thread?", shape.stages, rule, packs=packs)
    if shape.kept:
        rule = "as many as registers hold: the ring has no room for the row and its answer"
        log.note("How many more packs does a thread keep in registers?", shape.kept, rule, packs=packs + shape.kept)
        rule = "stripes where memory is as fast as an H200's: it is faster where all blocks move along a row together"
        log.note("How do the blocks divide the row?", "stripes" if shape.stripes else "slices", rule)
    if shape.again:
        rule = "those that the ring does not hold"
        log.note("How many steps of a row are read again?", shape.again, rule, steps=shape.row_steps)
    arguments = (
        row.pack_size, shape.packs, shape.per_step, stages, shape.ahead, shape.fetched, shape.again, shape.kept,
        shape.block_size, blocks_per_row, str(shape.stripes).lower(),
    )  # fmt: skip
    kernel = kernel_of(request, RING, arguments, row.unaligned)
    itemsize = request.element.itemsize
    words = max(2, (1 if row.inputs > 1 else 2) * max(4, itemsize) // 4)
    mailbox = MAILBOX_HEADER_WORDS + 2 * shape.slots * (blocks_per_row + row.unaligned) * words
    blocks = log.note("How many blocks?", groups * blocks_per_row, "all of them at once, one per SM", rows=rows)
    return Choice(
        RING, row.pack_size, (shape.block_size + GRID_MAILBOX_THREADS, 1), blocks, kernel,
        stages * row.inputs * shape.block_size * WIDEST_PACK_BYTES, cooperative=True,
        workspace_bytes=8 * groups * mailbox, read_again=shape.packs_read_again(row) * row.pack_size,
    )  # fmt: skip
