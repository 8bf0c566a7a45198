"""The warps and blocks that an SM holds: where each is, what it waits for, and when blocks start and end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappush
from math import ceil, inf

from softlab.sass.streams import Kind
from softlab.timing.blocks import BlockClock
from softlab.timing.code import PER_LINE, CodeCaches
from softlab.timing.journal import Journal
from softlab.timing.memory import Memory
from softlab.timing.parameters import Parameters, interpolated
from softlab.timing.program import Action, Pipe, Row, TimedProgram
from softlab.timing.stalls import BARRIER, IMC_MISS, NO_INSTRUCTION, REASONS
from softlab.timing.work import BlockWork, WarpWork

_COPY, _MBARRIER, _CONSTANT = int(Kind.ASYNC_COPY), int(Action.MBARRIER), int(Pipe.CONSTANT)
#: Bits of a turn below the number of its block, and below the cycle.
_BLOCK_BITS, CYCLE_BITS = 64, 24
EMPTY: Row = (0, 0, 0.0, 0, (), -1, -1, 0.0, 0, 0, 0, 0, -1)


class Warp:
    """A resident warp: where it is, when its next instruction is ready, and why then."""

    __slots__ = (
        "block", "blocked", "code", "copies", "first", "groups", "index", "next", "position", "ready", "release",
        "request", "requests", "row", "scheduler", "setters", "splits", "stored", "turn",
    )  # fmt: skip

    def __init__(self, block: Block, scheduler: int, work: WarpWork):
        self.block, self.scheduler, self.code, self.requests = block, scheduler, work.code, work.requests
        self.splits = work.splits
        self.position = self.request = 0
        self.release = [0.0] * 6
        self.setters = [0] * 6
        self.groups: list[float] = []
        self.copies = 0.0
        self.stored = False
        self.index = self.blocked = 0
        #: Whose turn it is: the number of its block, when it issued last, and its own number.
        self.first = self.turn = 0
        self.next = work.code[0] if work.code else 0
        self.row: Row = EMPTY
        self.ready = 0.0


class Block:
    """A resident block: warps that are not at their end, and its barriers: arrivals and those who wait."""

    __slots__ = ("alive", "arrived", "copies", "expected", "latest", "waiting")

    def __init__(self, warps: int):
        self.alive = warps
        self.copies = 0.0
        self.arrived: dict[int, int] = {}
        self.expected: dict[int, int] = {}
        self.latest: dict[int, float] = {}
        self.waiting: dict[int, list[tuple[int, Warp]]] = {}


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
    return len({index >> PER_LINE for warp in warps[:1] for index in set(warp.code)})


class Residents:
    """The blocks that one SM holds, their barriers, and the code and constants that are there."""

    def __init__(
        self, program: TimedProgram, blocks: Sequence[BlockWork], parameters: Parameters, memory: Memory,
        clock: BlockClock, journal: Journal | None = None,
    ):  # fmt: skip
        self.program, self.blocks, self.p, self.memory, self.clock = program, blocks, parameters, memory, clock
        n = len(program.rows)
        self.result = SmRun(states=[[0.0] * n for _ in REASONS], busy=[0.0] * len(Pipe))
        self.now = [inf] * 4
        self.heaps: list[list[tuple[float, int, Warp]]] = [[] for _ in range(4)]
        self.resident = [0] * 4
        self.started = self.warps = 0
        self.code = CodeCaches(parameters, _lines_of(blocks))
        self.constants: dict[int, float] = {}
        self.barrier_free = self.fence_free = 0.0
        self.journal = journal

    # Blocks

    def start(self, at: float) -> None:
        """The next block of the list starts at that cycle."""
        work = self.blocks[self.started]
        self.started += 1
        block = Block(len(work.warps))
        # Warps take their places in a row, and a scheduler has every fourth one: it has a warp more at most.
        first = min(range(4), key=self.resident.__getitem__)
        for number, warp in enumerate(work.warps):
            scheduler = (first + number) % 4
            self.resident[scheduler] += 1
            new = Warp(block, scheduler, warp)
            new.index = self.warps
            new.first = self.started << _BLOCK_BITS | new.index
            new.turn = new.first
            self.warps += 1
            if not warp.code:
                self.end(new, at)
                continue
            new.next = warp.code[0]
            new.row = self.program.rows[new.next]
            self.wake(new, self.fetched(new, -9, at + number, at + number))

    def wake(self, warp: Warp, at: float) -> None:
        """Put a warp in the queue of its scheduler."""
        warp.ready = at = float(ceil(at))
        heappush(self.heaps[warp.scheduler], (at, warp.index, warp))
        if at < self.now[warp.scheduler]:
            self.now[warp.scheduler] = at

    def end(self, warp: Warp, at: float) -> None:
        """A warp has come to its end; perhaps its block, too."""
        block = warp.block
        block.alive -= 1
        self.resident[warp.scheduler] -= 1
        for barrier in list(block.waiting):
            self.release(block, barrier)
        if not block.alive:
            self.result.finished.append(at)
            if self.started < len(self.blocks):
                self.start(self.clock.following(at))

    # Barriers

    def arrive(self, warp: Warp, at: float, index: int, waits: bool) -> None:
        """A warp arrives at a block barrier; ``warp.ready`` is when it could go on without."""
        barrier, warps = self.program.details.get(index, (0, 0))
        block = warp.block
        block.arrived[barrier] = block.arrived.get(barrier, 0) + 1
        block.expected[barrier] = warps
        block.latest[barrier] = max(block.latest.get(barrier, 0.0), at)
        waiting = block.waiting.setdefault(barrier, [])
        if waits:
            waiting.append((index, warp))
        self.release(block, barrier)

    def release(self, block: Block, barrier: int) -> None:
        """Let the warps of a barrier go on if all have arrived: one after the other."""
        if block.arrived.get(barrier, 0) < (block.expected.get(barrier, 0) or block.alive) or not block.alive:
            return
        stagger = self.p.barrier_stagger
        # The SM has one unit for the barriers of all its blocks, which takes each warp for some cycles.
        at = max(block.latest.pop(barrier, 0.0) + self.p.barrier_latency, self.barrier_free)
        block.arrived[barrier] = 0
        waiting, block.waiting[barrier] = block.waiting.get(barrier, []), []
        states = self.result.states[BARRIER]
        for turn, (_, warp) in enumerate(waiting):
            free = float(ceil(at + turn * stagger))
            if free > warp.ready:
                states[warp.next] += free - warp.ready
                if self.journal is not None:
                    self.journal.append((warp.index, BARRIER, warp.next, warp.ready, free))
                warp.ready = free
            self.wake(warp, warp.ready)
        self.barrier_free = at + len(waiting) * stagger

    def fenced(self, warp: Warp, t: float) -> float:
        """When a fence of the whole GPU is done. The SM begins one after the other, and L1 holds nothing behind it."""
        p = self.p
        stored, warp.stored = warp.stored, False
        begin = max(t, self.fence_free)
        self.fence_free = begin + (p.membar_stored_interval if stored else p.membar_interval)
        self.memory.forget()
        return begin + (interpolated(p.membar_stored, self.memory.active) if stored else p.membar_gpu)

    # Code and constants

    def fetched(self, warp: Warp, before: int, now: float, ready: float) -> float:
        """When the next instruction's code and constant operand are there, at least ``ready``; counts the waits."""
        index = warp.next
        if index >> PER_LINE != before >> PER_LINE:
            there = self.code.fetch(index >> PER_LINE, now)
            if there > ready:
                self.result.states[NO_INSTRUCTION][index] += there - ready
                if self.journal is not None:
                    self.journal.append((warp.index, NO_INSTRUCTION, index, ready, there))
                ready = there
        line = warp.row[12]
        if line >= 0 and warp.row[1] != _CONSTANT:
            there = self.constant(line, ready)
            if there > ready:
                self.result.states[IMC_MISS][index] += there - ready
                if self.journal is not None:
                    self.journal.append((warp.index, IMC_MISS, index, ready, there))
                ready = there
        return ready

    def constant(self, line: int, now: float) -> float:
        """When a line of constant memory is there."""
        there = self.constants.get(line)
        if there is None:
            there = self.constants[line] = now + self.p.constant_miss
        return there

    def request(
        self, warp: Warp, t: float, index: int, position: int, latency: float, unit: float, action: int
    ) -> tuple[float, float, float]:
        """An instruction of the load and store unit: when the unit takes it, has read its sources, has its result."""
        memory = self.memory
        begin, drained, done = max(t, memory.lsu_free), 0.0, 0.0
        requests, k = warp.requests, warp.request
        found = False
        while k < len(requests) and requests[k][0] == position:
            _, space, kind, wavefronts, sectors, lanes, width, bypass, lines, looked_up = requests[k]
            memory.number = k
            k += 1
            found = True
            start, source, result = memory.access(
                t, space, kind, wavefronts, sectors, latency, lanes, width, bypass, lines, looked_up, warp.index
            )
            begin, drained, done = start, max(drained, source), max(done, result)
            if kind == _COPY and space != 1:
                warp.copies = max(warp.copies, result)
                warp.block.copies = max(warp.block.copies, result)
            elif kind == 1 and space != 1:
                warp.stored = True
        warp.request = k
        if not found:
            memory.lsu_free = begin + unit
            memory.lsu_busy += unit
            drained, done = begin + unit + 4, begin + latency
        if action == _MBARRIER:
            done = max(done, warp.block.copies)
        return begin, drained, done

    def constants_of(self, warp: Warp, position: int, t: float) -> float:
        """When the constants of a load are there, without the load's own latency."""
        requests, k = warp.requests, warp.request
        line = warp.row[12]
        there = t if line < 0 else self.constant(line, t)
        if line >= 0:
            while k < len(requests) and requests[k][0] == position:
                k += 1
        while k < len(requests) and requests[k][0] == position:
            there = max(there, *(self.constant(1 << 40 | sector >> 1, t) for sector in requests[k][4]), t)
            k += 1
        warp.request = k
        return there
