"""The state of the simulated SM as two arrays, for :func:`softlab.timing.issue.issue`."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate, chain
from math import inf
from typing import Any

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import CompiledFunction
from softlab.sass.streams import Kind, Space
from softlab.timing import issue as loop
from softlab.timing.blocks import BlockClock
from softlab.timing.code import PER_LINE, CodeCaches
from softlab.timing.memory import SOURCES, Memory
from softlab.timing.memory_arrays import Asked, MemoryArrays
from softlab.timing.parameters import Parameters
from softlab.timing.program import TimedProgram
from softlab.timing.stalls import REASONS
from softlab.timing.work import BlockWork, MemoryRequest

COMPILED = CompiledFunction(loop.issue)
_SHARED, _ATOMIC = int(Space.SHARED), int(Kind.ATOMIC)
#: What an instruction and a request take in Python, in units of 100 microseconds.
_INSTRUCTION, _REQUEST = 0.08, 0.2
#: The arrays of a memory system that Python has.
_NO_MEMORY = np.zeros(0, np.int64), np.zeros(0)


def _cut(block: BlockWork) -> Iterable[int]:
    """Of each warp of a block whether it executes more than what is here."""
    return [0] * len(block.barriers) if block.further is None else (block.further > 0).tolist()


class State:
    """The arrays of one simulation; the other attributes are parts of them, by warp or by scheduler.

    ``asked``: how many requests there are. ``constant_lines``: line of constant memory -> its number. ``block_of`` and
    ``schedulers``: of each warp. code: of the caches. journal: whether there is room for what each warp does when.
    """

    def __init__(
        self, program: TimedProgram, blocks: Sequence[BlockWork], p: Parameters, memory: Memory, clock: BlockClock,
        code: CodeCaches, journal: bool = False,
    ) -> None:  # fmt: skip
        n, count = len(program.rows), sum(len(block.barriers) for block in blocks)
        self._asked = Asked(blocks)
        self.asked = len(self._asked.requests)
        self.constant_lines = lines = program.constant_lines
        of_code = code.tables(0 if code.kept else (n >> PER_LINE) + 1)
        depth = max((second for _, second in program.details.values()), default=0) + 1
        whole = (
            loop.ROW * n, count, count, 6 * count, count, count, 4 * count, 4 * count, count,
            3 * self.asked, 4 * ((n >> PER_LINE) + 1), n, loop.WAIT_ROW * loop.MOST_WAITS, count, count,
            len(blocks) + 1, len(blocks), len(blocks), loop.OF_BLOCK * len(blocks),
            loop.BARRIER_ROW * loop.OF_BLOCK * len(blocks), count, len(blocks), count,
            sum(sum(map(len, block.barriers)) for block in blocks), count, count, len(of_code[0]),
        )  # fmt: skip
        real = (
            loop.FIGURE * n, count, count, count, count, count, count,
            4 * loop.REFUSAL * loop.PIPES, 6 * count, len(REASONS) * n, len(lines), depth * count,
            8 * loop.QUEUE_ROOM, loop.MOST_WAITS, 5 * loop.MOST_NOTES * journal, 4 * ((n >> PER_LINE) + 1), count,
            loop.OF_BLOCK * len(blocks), len(blocks), len(blocks), len(blocks), len(blocks), len(of_code[1]),
        )  # fmt: skip
        starts = list(accumulate(whole, initial=loop.INTS)), list(accumulate(real, initial=loop.FLOATS))
        self.ints, self.floats = array("q", [0]) * starts[0][-1], array("d", [0.0]) * starts[1][-1]
        self.ints[loop.JOURNAL], self.ints[loop.KEPT] = journal, code.kept
        self._names = [*starts[0][:-1], *starts[1][:-1]]
        self.ints[loop.ROWS : loop.INTS] = array("q", self._names)
        self._sizes = [*whole, *real]
        self._fill_code(blocks)
        self.table(loop.ROWS)[:], self.table(loop.FIGURES)[:] = program.whole, program.figures
        self.table(loop.CODE)[:], self.table(loop.CODE_TIMES)[:] = array("q", of_code[0]), array("d", of_code[1])
        self.ints[loop.LENGTH : loop.SPACING + 1] = array("q", [n, depth, count])
        self._fill_figures(p)
        self._fill_blocks(blocks, clock)
        self._forget_waits()
        for name, size in ((loop.REFUSED_LAST, count), (loop.CONSTANTS, len(lines))):
            self.table(name)[:] = array("d", [-1.0] * size)
        self._show_parts()
        self._compile(program, memory)

    def _show_parts(self) -> None:
        """The tables that Python looks at."""
        self.now: Any = memoryview(self.floats)[loop.NOW : loop.NOW + 4]
        self.ready, self.turns, self.firsts = map(self.table, (loop.READY, loop.TURNS, loop.FIRSTS))
        self.release, self.setters = self.table(loop.RELEASE), self.table(loop.SETTERS)
        self.positions, self.asks = self.table(loop.POSITIONS), self.table(loop.REQUESTS)
        self.block_of, self.schedulers = self.table(loop.BLOCK_OF), self.table(loop.SCHEDULERS)
        self.groups, self.commits = self.table(loop.GROUPS), self.table(loop.COMMITS)
        self.states, self.constants = self.table(loop.STATES), self.table(loop.CONSTANTS)

    def _compile(self, program: TimedProgram, memory: Memory) -> None:
        """The compiled loop, if it is worth it, for it the memory system, and the arrays as NumPy has them."""
        work = _INSTRUCTION * len(self.code) + _REQUEST * self.asked
        self._compiled = COMPILED.call if COMPILED.ready(compiled_blocks(), work) else None
        self.memory = MemoryArrays.of(program, self._asked, memory) if self._compiled else None
        self.ints[loop.MEMORY] = self.memory is not None
        of_memory = _NO_MEMORY if self.memory is None else (self.memory.m, self.memory.f)
        shown = [np.frombuffer(one, one.typecode) for one in (self.ints, self.floats, self.code, self._splits)]
        self._shown = [*shown, *of_memory]
        self._places = tuple(map(id, self._shown))

    @cached_property
    def requests(self) -> list[MemoryRequest]:
        """The requests of all warps, one warp after the other."""
        return self._asked.requests.tuples

    def _fill_figures(self, p: Parameters) -> None:
        """What the loop needs of the GPU, and the schedulers as they are before the first cycle."""
        ints, floats = self.ints, self.floats
        assert max(p.mio_queue, p.lg_queue) <= loop.QUEUE_ROOM
        ints[loop.QUEUE_LENGTHS], ints[loop.QUEUE_LENGTHS + 1] = p.mio_queue, p.lg_queue
        for s in range(4):
            ints[loop.GREEDY + s] = ints[loop.LAST + s] = -1
            floats[loop.NOW + s] = floats[loop.SOONEST + s] = inf
        figures = (p.mio_interval, p.branch_taken, p.constant_miss, SOURCES, p.divergence, *p.parted, *p.yielded)
        for place, value in enumerate(figures, loop.MIO_INTERVAL):
            floats[place] = value
        of_barriers = (p.barrier_latency, p.cluster_barrier, p.barrier_stagger, p.cluster_message)
        for place, value in enumerate(of_barriers, loop.BARRIER_LATENCY):
            floats[place] = value

    def _fill_blocks(self, blocks: Sequence[BlockWork], clock: BlockClock) -> None:
        """The blocks, none of which has begun: their warps, and what these have in registers for barriers."""
        ints, floats, starts = self.ints, self.floats, clock.first(len(blocks))
        ints[loop.PHASE], ints[loop.BEHIND] = loop.START, loop.CHOOSE
        ints[loop.BLOCKS], ints[loop.DUE] = len(blocks), len(starts)
        floats[loop.INTERVAL], floats[loop.LAST_START] = clock.interval, starts[-1] if starts else 0.0
        sizes = [len(block.barriers) for block in blocks]
        operands = [one for block in blocks for one in block.barriers]
        of_blocks = [number for number, size in enumerate(sizes) for _ in range(size)]
        for name, values in (
            (loop.BLOCK_OF, of_blocks), (loop.FIRST_WARPS, accumulate(sizes, initial=0)), (loop.ALIVE, sizes),
            (loop.OPERANDS, chain.from_iterable(operands)),
            (loop.NEXT_OPERAND, accumulate(map(len, operands[:-1]), initial=0)),
            (loop.CUT, chain.from_iterable(map(_cut, blocks))),
        ):  # fmt: skip
            self.table(name)[:] = array("q", values)
        self.table(loop.BEGINS)[: len(starts)] = array("d", starts)
        self.table(loop.TURNAROUNDS)[:] = array("d", clock.turnarounds(len(blocks)))

    def table(self, name: int) -> Any:
        """A table, as something that Python reads quickly."""
        number = name - loop.ROWS
        first, size = self._names[number], self._sizes[number]
        return memoryview(self.ints if name < loop.FIGURES else self.floats)[first : first + size]

    def _fill_code(self, blocks: Sequence[BlockWork]) -> None:
        """What the warps execute, and their requests."""
        # Nothing stands behind the last instruction, but the loop reads it.
        code = np.concatenate([*(block.code for block in blocks), np.zeros(1, np.int32)])
        splits = np.concatenate([*(block.splits for block in blocks), np.zeros(1, np.uint8)])
        ends = np.cumsum(np.concatenate([np.zeros(1, np.int64), *(block.lengths for block in blocks)]))
        begins, ends = ends[:-1], ends[1:]
        self.code, self._splits = array("i", code.tobytes()), array("B", splits.tobytes())
        numbers, counts = self._asked.requests.numbers, self._asked.warps
        last = counts.cumsum()
        for name, values in (
            (loop.POSITIONS, begins), (loop.ENDS, ends), (loop.REQUESTS, last - counts), (loop.REQUEST_ENDS, last),
        ):  # fmt: skip
            np.asarray(self.table(name))[:] = values
        asked = np.asarray(self.table(loop.ASKED)).reshape(-1, 3)
        asked[:, 0] = numbers[:, 0] + begins.repeat(counts)
        # An atomic of shared memory takes more than its passes.
        outside = (numbers[:, 1] == _SHARED) & (numbers[:, 2] == _ATOMIC)
        asked[:, 1] = np.where(outside, loop.OUTSIDE, numbers[:, 1])
        asked[:, 2] = numbers[:, 3]

    def go_on(self) -> int:
        """Let the loop run until it wants something."""
        if self._compiled is None:
            return loop.issue(self.ints, self.floats, self.code, self._splits, *_NO_MEMORY)  # type: ignore[arg-type]
        return self._compiled(*self._places)

    def waits(self) -> list[tuple[int, int, float]]:
        """(waiting instruction, instruction that it waits for, cycles of all these waits) since the last call."""
        count, self.ints[loop.LOGGED] = self.ints[loop.LOGGED], 0
        rows, cycles = (
            self.table(loop.WAITS)[: loop.WAIT_ROW * count].tolist(),
            self.table(loop.WAITED)[:count].tolist(),
        )
        self._forget_waits()
        return list(zip(rows[:: loop.WAIT_ROW], rows[1 :: loop.WAIT_ROW], cycles, strict=True))

    def _forget_waits(self) -> None:
        last = self.table(loop.LAST_WAITS)
        last[:] = array("q", [-1]) * len(last)

    def notes(self) -> list[tuple[int, int, int, float, float]]:
        """The entries of the journal since this was asked for last."""
        count, self.ints[loop.WRITTEN] = self.ints[loop.WRITTEN], 0
        values = self.table(loop.NOTES)[: 5 * count].tolist()
        return list(
            zip(*(map(int, values[k::5]) for k in range(3)), *(values[k::5] for k in (3, 4)), strict=True)
        )  # fmt: skip
