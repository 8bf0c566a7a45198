"""The warps and blocks that an SM holds: what they have asked of memory, and the code and constants that are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from softlab.sass.streams import Kind, Space
from softlab.timing import issue as loop
from softlab.timing.blocks import BlockClock
from softlab.timing.code import PER_LINE, CodeCaches
from softlab.timing.journal import Journal
from softlab.timing.memory import Memory, is_bulk
from softlab.timing.parameters import Parameters, interpolated
from softlab.timing.program import Action, Pipe, TimedProgram
from softlab.timing.stalls import REASONS
from softlab.timing.state import State
from softlab.timing.work import BlockWork

_COPY, _CONSTANT = int(Kind.ASYNC_COPY), int(Pipe.CONSTANT)
_LOAD, _STORE = int(Kind.LOAD), int(Kind.STORE)
_GLOBAL, _SHARED, _DISTRIBUTED = int(Space.GLOBAL), int(Space.SHARED), int(Space.DISTRIBUTED_SHARED)
_ATOMIC, _REDUCTION = int(Kind.ATOMIC), int(Kind.REDUCTION)
_MBARRIER, _BULK = int(Action.MBARRIER), int(Action.BULK)


class Warp:
    """The asynchronous copies and stores of a warp."""

    __slots__ = ("copies", "groups", "moved", "stored")

    def __init__(self) -> None:
        self.groups = 0
        self.copies = self.moved = 0.0
        self.stored = False


@dataclass
class SmRun:
    """What one SM did.

    ``cycles`` from the start of the launch to the end of its last block, and ``drained`` to the last store or
    reduction that has arrived at L2; ``finished``: when each block ended, in order; ``states`` float64 (reasons,
    instructions): cycles of warps; ``waits``: (waiting instruction, instruction that it waits for) -> cycles;
    ``issued`` instructions; ``busy``: pipe -> cycles in use, summed over the schedulers; ``complete``: whether the run
    came to its end within the budget; ``progress``: (cycle, instructions issued) samples.
    """

    cycles: float = 0.0
    drained: float = 0.0
    finished: list[float] = field(default_factory=list)
    states: np.ndarray = field(default_factory=lambda: np.zeros((len(REASONS), 0)))
    waits: dict[tuple[int, int], float] = field(default_factory=dict)
    issued: int = 0
    busy: list[float] = field(default_factory=list)
    complete: bool = True
    progress: list[tuple[float, int]] = field(default_factory=list)
    warp_cycles: float = 0.0

    @cached_property
    def spent(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of ``states`` the reasons, instructions and cycles that are not 0: (n,) each. When the run has ended."""
        reasons, places = np.nonzero(self.states)
        return reasons, places, self.states[reasons, places]

    @cached_property
    def by_reason(self) -> list[float]:
        """The cycles of each reason."""
        reasons, _, cycles = self.spent
        return np.bincount(reasons, cycles, len(REASONS)).tolist()  # type: ignore[no-any-return]


def _lines_of(blocks: Sequence[BlockWork]) -> int:
    """Lines of code that the first warp executes."""
    code = blocks[0].code[: blocks[0].lengths[0]] if blocks and len(blocks[0].lengths) else np.zeros(0, np.int32)
    return int(np.count_nonzero(np.bincount(code >> PER_LINE)))


class Residents:
    """The blocks that one SM holds, and the code and constants that are there. A warp is a number, and so is a block:
    as they stand in the list."""

    def __init__(
        self, program: TimedProgram, blocks: Sequence[BlockWork], parameters: Parameters, memory: Memory,
        clock: BlockClock, journal: Journal | None = None,
    ):  # fmt: skip
        self.program, self.blocks, self.p, self.memory = program, blocks, parameters, memory
        self.result = SmRun()
        cold = interpolated(parameters.icache_cold, memory.active) if memory.cold else 0.0
        code = CodeCaches(parameters, _lines_of(blocks), cold)
        self.state = State(program, blocks, parameters, memory, clock, code, journal is not None)
        self.arrays = self.state.memory
        self.constants: dict[int, float] = {}
        self.fence_free = 0.0
        #: Until when the SM loads from global memory, and of each block from shared memory of other SMs; and when the
        #: asynchronous copies of each are there.
        self.loads_until = 0.0
        self.loading: dict[int, float] = {}
        self.copies: dict[int, float] = {}
        self.journal = journal
        #: Of each warp the first place among all instructions, and among all requests; of the last one the end, too.
        self.first_position = [*self.state.positions]
        self.first_ask = [*self.state.asks, self.state.asked]

    @cached_property
    def warps(self) -> list[Warp]:
        """All warps, those of blocks that have not begun, too."""
        return [Warp() for block in self.blocks for _ in block.barriers]

    def fenced(self, w: int, t: float) -> float:
        """When a fence of the whole GPU is done. The SM begins one after the other, and L1 holds nothing behind it. It
        waits for the stores and atomics of all warps of the SM: 24 warps of each SM, each with an atomic on one word
        and a fence, have fences of 2170 cycles in the mean and 4562 at most (H200, 2026-11-29). It begins when loads
        from global memory have come, and it ends when other blocks do not load from shared memory of other SMs. Their
        loads at its end are not known yet, and those at its beginning stand for them."""
        p, warp = self.p, self.warps[w]
        stored, warp.stored = warp.stored, False
        begin = max(t, self.fence_free)
        self.fence_free = begin + (p.membar_stored_interval if stored else p.membar_interval)
        self.memory.forget()
        begin = max(begin, self.loads_until)
        done = begin + (interpolated(p.membar_stored, self.memory.active) if stored else p.membar_gpu)
        done = max(done, self.memory.answered)
        if self.loading:
            block, alive = self.state.block_of[w], self.state.table(loop.ALIVE)
            others = (until for other, until in self.loading.items() if other != block and alive[other])
            done = max(done, self.loading.get(block, 0.0)) + max(0.0, max(others, default=0.0) - t)
        return done

    # Constants and requests

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
        memory, block, state, floats = self.memory, self.state.block_of[w], self.state, self.state.floats
        memory.lsu_free, memory.lsu_busy, memory.shared_busy = floats[loop.LSU_FREE : loop.LSU_FREE + 3]
        begin, drained, done = max(t, memory.lsu_free), 0.0, 0.0
        requests, k, first, last = state.requests, state.asks[w], self.first_ask[w], self.first_ask[w + 1]
        position = state.positions[w] - self.first_position[w]
        found = False
        memory.scheduler, memory.block, memory.owner = state.schedulers[w], block + 1, w
        memory.done = state.ints[loop.ENDED] / len(self.blocks)
        while k < last and requests[k][0] == position:
            _, space, kind, wavefronts, sectors, lanes, width, bypass, lines, looked_up = requests[k]
            memory.number = k - first
            k += 1
            found = True
            start, source, result = memory.access(
                t, space, kind, wavefronts, sectors, latency, lanes, width, bypass, lines, looked_up, w
            )
            begin, drained, done = start, max(drained, source), max(done, result)
            self._note(w, space, kind, start, result, len(sectors), lanes)
        state.asks[w] = k
        if not found:
            memory.lsu_free = begin + unit
            memory.lsu_busy += unit
            drained, done = begin + unit + 4, begin + latency
        if action == _MBARRIER:
            done = max(done, self.copies.get(block, 0.0))
        elif action == _BULK:
            drained = max(drained, self.warps[w].moved)
        floats[loop.LSU_FREE], floats[loop.LSU_BUSY], floats[loop.SHARED_BUSY] = (
            memory.lsu_free, memory.lsu_busy, memory.shared_busy
        )  # fmt: skip
        return begin, drained, done

    def _note(self, w: int, space: int, kind: int, start: float, result: float, sectors: int, lanes: int) -> None:
        """What later instructions ask of a request that is on its way."""
        if space == _SHARED:
            return
        warp, block = self.warps[w], self.state.block_of[w]
        if kind == _COPY:
            warp.copies = max(warp.copies, result)
            self.copies[block] = max(self.copies.get(block, 0.0), result)
        elif kind == _LOAD and space == _DISTRIBUTED:
            self.loading[block] = max(self.loading.get(block, 0.0), result)
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
        for place in (loop.FREE + loop.PIPES * state.schedulers[w] + _CONSTANT, loop.BUSY + _CONSTANT):
            state.floats[place] += (words - 1) * each
        return there + (words - 1) * self.p.constant_word
