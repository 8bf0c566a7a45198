"""The warps and blocks that an SM holds: where each is, what it waits for, and when blocks start and end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from softlab.sass.streams import Kind, Space
from softlab.timing import issue as loop
from softlab.timing.blocks import BlockClock
from softlab.timing.code import PER_LINE, CodeCaches
from softlab.timing.journal import Journal
from softlab.timing.memory import Memory, is_bulk
from softlab.timing.parameters import Parameters, interpolated
from softlab.timing.program import CLUSTER, IN_REGISTER, Action, Pipe, TimedProgram
from softlab.timing.stalls import BARRIER, IMC_MISS, NO_INSTRUCTION
from softlab.timing.state import State
from softlab.timing.work import BlockWork

_COPY, _CONSTANT = int(Kind.ASYNC_COPY), int(Pipe.CONSTANT)
_LOAD, _STORE = int(Kind.LOAD), int(Kind.STORE)
_GLOBAL, _SHARED, _DISTRIBUTED = int(Space.GLOBAL), int(Space.SHARED), int(Space.DISTRIBUTED_SHARED)
_ATOMIC, _REDUCTION = int(Kind.ATOMIC), int(Kind.REDUCTION)
_MBARRIER, _BULK = int(Action.MBARRIER), int(Action.BULK)


class Warp:
    """A resident warp: its block, its scheduler, its next barriers, how often it came to the cluster's barrier, and its
    asynchronous copies and stores."""

    __slots__ = ("barriers", "block", "came", "copies", "groups", "moved", "scheduler", "stored")

    def __init__(self, block: Block, scheduler: int, barriers: Sequence[int] = ()):
        self.block, self.scheduler = block, scheduler
        self.barriers = iter(barriers)
        self.came = self.groups = 0
        self.copies = self.moved = 0.0
        self.stored = False


class Block:
    """A resident block: warps that are not at their end, and its barriers: arrivals and those who wait.

    ``opened``: how often the barrier of its cluster has opened, and when it did so last.
    """

    __slots__ = ("alive", "arrived", "copies", "expected", "latest", "number", "opened", "waiting")

    def __init__(self, warps: int, number: int = 0):
        self.alive, self.number = warps, number
        self.copies = 0.0
        self.arrived: dict[int, int] = {}
        self.expected: dict[int, int] = {}
        self.latest: dict[int, float] = {}
        self.waiting: dict[int, list[int]] = {}
        self.opened = (0, 0.0)


@dataclass
class SmRun:
    """What one SM did.

    ``cycles`` from the start of the launch to the end of its last block, and ``drained`` to the last store or
    reduction that has arrived at L2; ``finished``: when each block ended, in order;
    ``states``: reason -> cycles of warps, by instruction; ``waits``: (waiting instruction, instruction that it waits
    for) -> cycles; ``issued`` instructions; ``busy``: pipe -> cycles in use, summed over the schedulers; ``complete``:
    whether the run came to its end within the budget; ``progress``: (cycle, instructions issued) samples.
    """

    cycles: float = 0.0
    drained: float = 0.0
    finished: list[float] = field(default_factory=list)
    states: list[list[float]] = field(default_factory=list)
    waits: dict[tuple[int, int], float] = field(default_factory=dict)
    issued: int = 0
    busy: list[float] = field(default_factory=list)
    complete: bool = True
    progress: list[tuple[float, int]] = field(default_factory=list)
    warp_cycles: float = 0.0


def _lines_of(blocks: Sequence[BlockWork]) -> int:
    """Lines of code that the first block executes."""
    warps = blocks[0].warps if blocks else ()
    return len(np.unique(np.asarray(warps[0].code, np.int64) >> PER_LINE)) if warps else 0


class Residents:
    """The blocks that one SM holds, their barriers, and the code and constants that are there. A warp is a number."""

    def __init__(
        self, program: TimedProgram, blocks: Sequence[BlockWork], parameters: Parameters, memory: Memory,
        clock: BlockClock, journal: Journal | None = None,
    ):  # fmt: skip
        self.program, self.blocks, self.p, self.memory, self.clock = program, blocks, parameters, memory, clock
        self.result = SmRun()
        self.state = State(program, blocks, parameters, memory)
        self.arrays = self.state.memory
        self.resident = [0] * 4
        self.started = 0
        self.warps: list[Warp] = []
        cold = interpolated(parameters.icache_cold, memory.active) if memory.cold else 0.0
        self.code = CodeCaches(parameters, _lines_of(blocks), cold)
        self.state.ints[loop.KEPT] = self.code.kept
        self.constants: dict[int, float] = {}
        self.barrier_free = self.fence_free = 0.0
        #: Until when the SM loads from global memory, and of each block from shared memory of other SMs.
        self.loads_until = 0.0
        self.loading: dict[Block, float] = {}
        self.journal = journal
        #: Of each warp the first place among all instructions, and among all requests; of the last one the end, too.
        self.first_position = [*self.state.positions]
        self.first_ask = [*self.state.asks, self.state.asked]

    # Blocks

    def start(self, at: float) -> None:
        """The next block of the list starts at that cycle."""
        work, state = self.blocks[self.started], self.state
        self.started += 1
        block = Block(len(work.warps), self.started)
        # Warps take their places in a row, and a scheduler has every fourth one: it has a warp more at most.
        first = min(range(4), key=self.resident.__getitem__)
        for number, warp in enumerate(work.warps):
            scheduler = (first + number) % 4
            self.resident[scheduler] += 1
            w = len(self.warps)
            self.warps.append(Warp(block, scheduler, warp.barriers))
            state.firsts[w] = state.turns[w] = self.started * loop.TURN_BLOCK + number
            if not len(warp.code):
                self.end(w, at)
                continue
            self.wake(w, self.fetched(w, -9, at + number, at + number))

    def wake(self, w: int, at: float) -> None:
        """Put a warp in the queue of its scheduler."""
        state, scheduler = self.state, self.warps[w].scheduler
        state.ready[w] = at = float(ceil(at))
        loop.wait(state.ints, state.floats, scheduler, w)  # type: ignore[arg-type]
        if at < state.now[scheduler]:
            state.now[scheduler] = at

    def end(self, w: int, at: float) -> None:
        """A warp has come to its end; perhaps its block, too."""
        warp = self.warps[w]
        block = warp.block
        block.alive -= 1
        self.resident[warp.scheduler] -= 1
        for barrier in list(block.waiting):
            self.release(block, barrier)
        if not block.alive:
            self.result.finished.append(at)
            self.loading.pop(block, None)
            self.memory.done = len(self.result.finished) / len(self.blocks)
            if self.arrays is not None:
                self.arrays.ended(self.memory.done)
            if self.started < len(self.blocks):
                self.start(self.clock.following(at))

    # Barriers

    def arrive(self, w: int, at: float, index: int, waits: bool) -> None:
        """A warp arrives at a block barrier; it could go on without when it is ready."""
        barrier, warps = self.program.details.get(index, (0, 0))
        warp = self.warps[w]
        block = warp.block
        if barrier == CLUSTER:
            if waits:
                self._wait_for_cluster(w, at)
                return
            warp.came += 1
        elif barrier == IN_REGISTER:
            operand = next(warp.barriers)
            if operand < 0:  # the guard was off
                if waits:
                    self.wake(w, at)
                return
            barrier, warps = operand & 15, warps or (operand >> 16 & 0xFFF) // 32
        block.arrived[barrier] = block.arrived.get(barrier, 0) + 1
        block.expected[barrier] = warps
        block.latest[barrier] = max(block.latest.get(barrier, 0.0), at)
        waiting = block.waiting.setdefault(barrier, [])
        if waits:
            waiting.append(w)
        self.release(block, barrier)

    def _wait_for_cluster(self, w: int, at: float) -> None:
        """A warp waits until all of its block have arrived at the barrier of the cluster. The other blocks of a cluster
        are on other SMs: they come when this one does."""
        warp, ready = self.warps[w], self.state.ready
        times, opened = warp.block.opened
        if times < warp.came:
            warp.block.waiting[CLUSTER].append(w)
            return
        if (opened := float(ceil(opened))) > ready[w]:
            self.spent(BARRIER, w, ready[w], opened)
            ready[w] = opened
        self.wake(w, max(at, ready[w]))

    def release(self, block: Block, barrier: int) -> None:
        """Let the warps of a barrier go on if all have arrived: one after the other."""
        if block.arrived.get(barrier, 0) < (block.expected.get(barrier, 0) or block.alive) or not block.alive:
            return
        stagger, ready = self.p.barrier_stagger, self.state.ready
        # The SM has one unit for the barriers of all its blocks, which takes each warp for some cycles.
        latency = self.p.cluster_barrier if barrier == CLUSTER else self.p.barrier_latency
        at = max(block.latest.pop(barrier, 0.0) + latency, self.barrier_free)
        if barrier == CLUSTER:
            block.opened = block.opened[0] + 1, at
        block.arrived[barrier] = 0
        waiting, block.waiting[barrier] = block.waiting.get(barrier, []), []
        for turn, w in enumerate(waiting):
            free = float(ceil(at + turn * stagger))
            if free > ready[w]:
                self.spent(BARRIER, w, ready[w], free)
                ready[w] = free
            self.wake(w, ready[w])
        spent = len(waiting) * stagger
        if barrier == CLUSTER:  # it takes arrivals, too, and a message
            spent = max(self.p.cluster_message, 2 * block.alive * stagger)
        self.barrier_free = at + spent

    def spent(self, reason: int, w: int, since: float, until: float) -> None:
        """Cycles of a warp that waits to issue its next instruction."""
        index = self.following(w)
        self.state.states[reason * len(self.program.rows) + index] += until - since
        if self.journal is not None:
            self.journal.append((w, reason, index, since, until))

    def following(self, w: int) -> int:
        """The next instruction of a warp."""
        return self.state.code[self.state.positions[w]]

    def fenced(self, w: int, t: float) -> float:
        """When a fence of the whole GPU is done. The SM begins one after the other, and L1 holds nothing behind it. It
        waits for the stores and atomics of all warps of the SM: 24 warps of each SM, each with an atomic on one word
        and a fence, have fences of 2170 cycles in the mean and 4562 at most (H200, 2026-11-29). It begins when loads
        from global memory have come, and it ends when other blocks do not load from shared memory of other SMs. Their
        loads at its end are not known yet, and those at its beginning stand for them."""
        p, warp = self.p, self.warps[w]
        if self.arrays is not None:
            warp.stored, self.loads_until, self.memory.answered = self.arrays.fenced(w)
        stored, warp.stored = warp.stored, False
        begin = max(t, self.fence_free)
        self.fence_free = begin + (p.membar_stored_interval if stored else p.membar_interval)
        self.memory.forget()
        begin = max(begin, self.loads_until)
        done = begin + (interpolated(p.membar_stored, self.memory.active) if stored else p.membar_gpu)
        done = max(done, self.memory.answered)
        if self.loading:
            others = (until for block, until in self.loading.items() if block is not warp.block)
            done = max(done, self.loading.get(warp.block, 0.0)) + max(0.0, max(others, default=0.0) - t)
        return done

    # Code and constants

    def fetched(self, w: int, before: int, now: float, ready: float) -> float:
        """When the next instruction's code and constant operand are there, at least ``ready``; counts the waits."""
        index = self.following(w)
        row = self.program.rows[index]
        if index >> PER_LINE != before >> PER_LINE:
            there = self.code.fetch(index >> PER_LINE, now)
            if there > ready:
                self.spent(NO_INSTRUCTION, w, ready, there)
                ready = there
        if row[12] >= 0 and row[1] != _CONSTANT:
            there = self.constant_line(row[12], ready)
            if there > ready:
                self.spent(IMC_MISS, w, ready, there)
                ready = there
        return ready

    def constant_line(self, line: int, now: float) -> float:
        """When a line of constant memory that an instruction names is there."""
        number, constants = self.state.constant_lines[line], self.state.constants
        if constants[number] < 0:
            constants[number] = now + self.p.constant_miss
        return constants[number]

    def constant(self, line: int, now: float) -> float:
        """When a line of constant memory that a register points to is there."""
        there = self.constants.get(line)
        if there is None:
            there = self.constants[line] = now + self.p.constant_miss
        return there

    def request(self, w: int, t: float, latency: float, unit: float, action: int) -> tuple[float, float, float]:
        """An instruction of the load and store unit: when the unit takes it, has read its sources, has its result."""
        memory, warp, state, floats = self.memory, self.warps[w], self.state, self.state.floats
        memory.lsu_free, memory.lsu_busy, memory.shared_busy = floats[loop.LSU_FREE : loop.LSU_FREE + 3]
        begin, drained, done = max(t, memory.lsu_free), 0.0, 0.0
        requests, k, first, last = state.requests, state.asks[w], self.first_ask[w], self.first_ask[w + 1]
        position = state.positions[w] - self.first_position[w]
        found = False
        memory.scheduler, memory.block, memory.owner = warp.scheduler, warp.block.number, w
        while k < last and requests[k][0] == position:
            _, space, kind, wavefronts, sectors, lanes, width, bypass, lines, looked_up = requests[k]
            memory.number = k - first
            k += 1
            found = True
            start, source, result = memory.access(
                t, space, kind, wavefronts, sectors, latency, lanes, width, bypass, lines, looked_up, w
            )
            begin, drained, done = start, max(drained, source), max(done, result)
            self._note(warp, space, kind, start, result, len(sectors), lanes)
        state.asks[w] = k
        if not found:
            memory.lsu_free = begin + unit
            memory.lsu_busy += unit
            drained, done = begin + unit + 4, begin + latency
        if action == _MBARRIER:
            done = max(done, warp.block.copies)
        elif action == _BULK:
            drained = max(drained, warp.moved)
        floats[loop.LSU_FREE], floats[loop.LSU_BUSY], floats[loop.SHARED_BUSY] = (
            memory.lsu_free, memory.lsu_busy, memory.shared_busy
        )  # fmt: skip
        return begin, drained, done

    def _note(self, warp: Warp, space: int, kind: int, start: float, result: float, sectors: int, lanes: int) -> None:
        """What later instructions ask of a request that is on its way."""
        if space == _SHARED:
            return
        if kind == _COPY:
            warp.copies = max(warp.copies, result)
            warp.block.copies = max(warp.block.copies, result)
        elif kind == _LOAD and space == _DISTRIBUTED:
            self.loading[warp.block] = max(self.loading.get(warp.block, 0.0), result)
        elif kind == _LOAD and space == _GLOBAL:
            self.loads_until = max(self.loads_until, result)
        elif kind in (_ATOMIC, _REDUCTION):
            warp.stored = True
        elif kind == _STORE:
            warp.stored = True
            if is_bulk(lanes, sectors):
                warp.moved = max(warp.moved, self.memory.moved(start, sectors))

    def constants_of(self, w: int, line: int, t: float, each: float) -> float:
        """When the constants of a load with a register in its address are there, without the load's own latency. The
        pipe of the scheduler takes its words one after the other, ``each`` as a load."""
        state, k, last = self.state, self.state.asks[w], self.first_ask[w + 1]
        requests, position = state.requests, state.positions[w] - self.first_position[w]
        there, words = t if line < 0 else self.constant_line(line, t), 1
        while k < last and requests[k][0] == position:
            if line < 0:
                there = max(there, *(self.constant(1 << 40 | sector >> 1, t) for sector in requests[k][4]), t)
            words = max(words, requests[k][3])
            k += 1
        state.asks[w] = k
        for place in (loop.FREE + loop.PIPES * self.warps[w].scheduler + _CONSTANT, loop.BUSY + _CONSTANT):
            state.floats[place] += (words - 1) * each
        return there + (words - 1) * self.p.constant_word
