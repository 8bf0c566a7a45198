"""Runs the regions of one batch, and tells the observers what single steps would have told them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from softlab.emulator.lanes import WARP, Lanes, Value, lanes_of
from softlab.emulator.machine.loop_records import LoopRun
from softlab.emulator.machine.native_region import Status, state_words
from softlab.emulator.machine.native_region_parts import ALLOCATION_WORDS, ROW_WORDS, Word
from softlab.emulator.machine.observers import Observer
from softlab.emulator.machine.regions import Region, RegionCode
from softlab.emulator.machine.schedule import Schedule
from softlab.emulator.memory.allocations import Allocations

#: With more lanes a vector of them per opcode is faster than one lane after the other.
_MOST_LANES = 4096
#: Lanes times steps of one call at most: an interrupt of the user comes in between.
_MOST_AT_ONCE = 50_000_000
#: Steps before the first state is kept, for the search for endless loops.
_FIRST_STATE = 4096
#: A region whose calls make fewer steps than this on average costs more than it saves.
_FEW_STEPS, _TRIED = 24, 8
_NOWHERE = -1


class Ran(NamedTuple):
    """What a call did: instructions that the batch issued, and instructions times lanes."""

    instructions: int
    lane_instructions: int


@dataclass
class _Calls:
    """How a region has done in this batch."""

    calls: int = 0
    steps: int = 0
    off: bool = False
    #: For each load whether it is told of, and the mask of the machine's addresses.
    told: np.ndarray | None = None


@dataclass(frozen=True)
class _Log:
    """Which warps are recorded, (warps,) uint8, up to how many rows, and where these go."""

    recorded: np.ndarray
    most: int
    rows: np.ndarray


class RegionRuns:
    """The regions of one run of a batch."""

    def __init__(
        self,
        regions: Mapping[int, Region],
        observers: Sequence[Observer],
        memory: Allocations,
        registers: list[Value],
        schedule: Schedule,
        compiled: str,
    ) -> None:
        self._regions = regions
        self._observers = observers
        self._memory = memory
        self._registers = registers
        self._schedule = schedule
        self._hot_only = compiled != "all"
        self._calls: dict[int, _Calls] = {}
        self._table = np.zeros((0, ALLOCATION_WORDS), np.uint64)
        #: The log of a call; between calls it holds zeros.
        self._log = np.zeros((0, ROW_WORDS), np.uint64)

    def run(self, index: int, lanes: Lanes, budget: int) -> Ran | None:
        """Run the region that a block is in, from these lanes on, for at most ``budget`` instructions.

        None, and nothing has changed, where single steps must do it.
        """
        region = self._regions[index]
        calls = self._calls.setdefault(region.first, _Calls())
        if calls.off or lanes.blocks * lanes.threads > _MOST_LANES:
            return None
        if self._hot_only and not region.warm(index):
            return None
        code = region.code
        if code is None:
            calls.off = True
            return None
        if not self._schedule.nobody_waits or not all(o.takes_loop(code.loop) for o in self._observers):
            return None
        if calls.told is None:
            calls.told = self._told(code)
        if len(self._table) != len(self._memory.all):
            table = [(a.base, a.nbytes, a.data.ctypes.data) for a in self._memory.all]
            self._table = np.array(table, np.uint64).reshape(-1, ALLOCATION_WORDS)
        sets = {index: lanes, **self._schedule.take_ready(region.last)}
        recorded, most = self._recorded(lanes)
        room = most + int(np.count_nonzero(recorded)) * max(1, len(calls.told)) if most else 0
        if room > len(self._log):
            self._log = np.zeros((room, ROW_WORDS), np.uint64)
        log = _Log(recorded, most, self._log)
        run = _Call(region, code, sets, self._registers, self._table, calls.told, log)
        status = run.run(budget, None)
        if status is Status.BAD_ADDRESS:
            calls.off = True
            before = run.steps
            run.clear()
            if before:
                run = _Call(region, code, sets, self._registers, self._table, calls.told, log)
                run.run(budget, before)
        if status is Status.REPEATS:  # single steps find the loop again, and where it is
            calls.off = True
            run.clear()
        if not run.steps or status is Status.REPEATS:
            for other, waiting in sets.items():
                if other != index:
                    self._schedule.add(other, waiting)
            return None
        calls.calls += 1
        calls.steps += run.steps
        few = calls.calls == _TRIED and calls.steps < _FEW_STEPS * _TRIED
        calls.off |= self._hot_only and few
        run.finish(self._schedule)
        told = run.told()
        for observer in self._observers:
            observer.loop(told)
        run.clear()
        return Ran(run.word(Word.INSTRUCTIONS), run.word(Word.LANE_INSTRUCTIONS))

    def _recorded(self, lanes: Lanes) -> tuple[np.ndarray, int]:
        """Which warps of the batch are recorded, and up to how many rows."""
        for observer in self._observers:
            wanted = observer.loop_rows()
            if wanted is not None and wanted.most and wanted.blocks.any():
                return np.repeat(wanted.blocks, lanes.threads // WARP).astype(np.uint8), wanted.most
        return np.zeros(lanes.blocks * lanes.threads // WARP, np.uint8), 0

    def _told(self, code: RegionCode) -> np.ndarray:
        """For each load whether observers hear of it, and the mask of its addresses: (loads, 2)."""
        loads = code.loop.loads
        widths = next((w for o in self._observers if (w := o.loop_widths(loads)) is not None), None)
        told = np.zeros((len(loads), 2), np.uint64)
        for number, site in enumerate(loads):
            width = site.width if widths is None else widths[number]
            if site.space != "const" and width:
                told[number] = 1, (1 << 64) - width
        return told


class _Call:
    """One call of a region's function, and the arrays that it works on."""

    def __init__(
        self,
        region: Region,
        code: RegionCode,
        sets: Mapping[int, Lanes],
        registers: list[Value],
        table: np.ndarray,
        told: np.ndarray,
        log: _Log,
    ) -> None:
        self._told = told
        self._region, self._code, self._registers = region, code, registers
        one = next(iter(sets.values()))
        shape = one.blocks, one.threads
        self._at = np.full(shape, _NOWHERE, np.int16)
        for index, lanes in sets.items():
            self._at[lanes.mask] = index
        self._ran = self._at != _NOWHERE
        self._arrays = []
        for number, dtype in zip(code.registers, code.dtypes, strict=True):
            array = np.empty(shape, dtype)
            array[...] = registers[number]
            self._arrays.append(array)
        size = shape[0] * shape[1]
        self._counts = np.zeros(len(region.blocks) * 3 + len(told), np.int64)
        self._log = log
        self._nothing = np.zeros(4, np.uint64)
        self._state = np.zeros(state_words(code.dtypes, code.deciding, size), np.uint64)
        self._words = np.zeros(len(Word), np.int64)
        for word, value in (
            (Word.MOST_LANES, _MOST_AT_ONCE),
            (Word.ALLOCATIONS, len(table)),
            (Word.TABLE, table.ctypes.data),
            (Word.LOG, log.rows.ctypes.data),
            (Word.MOST_ROWS, log.most),
            (Word.RECORDED, log.recorded.ctypes.data),
            (Word.NOTHING, self._nothing.ctypes.data),
            (Word.STATE, self._state.ctypes.data),
            (Word.STATE_BLOCK, _NOWHERE),
            (Word.NEXT_STATE, _FIRST_STATE),
            (Word.COUNTS, self._counts.ctypes.data),
            (Word.TOLD, self._told.ctypes.data),
        ):
            self._words[word] = value

    def run(self, budget: int, steps: int | None) -> Status:
        """Call it, for at most that many instructions and steps."""
        self._words[Word.MOST_INSTRUCTIONS] = budget
        self._words[Word.MOST_STEPS] = np.iinfo(np.int64).max if steps is None else steps
        return self._code.function.run(self._arrays, self._at, self._words)

    def word(self, word: Word) -> int:
        """What the function left in a word."""
        return int(self._words[word])

    @property
    def steps(self) -> int:
        """The steps that it made; at a bad address without the one that it could not make."""
        return self.word(Word.STEPS) - (1 if self.word(Word.BAD) else 0)

    def finish(self, schedule: Schedule) -> None:
        """The registers and the lanes are where the steps left them."""
        assert schedule.live is not None
        whole = int(np.count_nonzero(self._ran)) == schedule.live.count
        for position in self._code.written:
            value = self._arrays[position]
            self._registers[self._code.registers[position]] = _shared(value, self._ran) if whole else value
        for index in np.unique(self._at[self._ran]).tolist():
            schedule.add(index, lanes_of(self._at == index))

    def told(self) -> LoopRun:
        """What observers hear."""
        code, blocks = self._code, self._region.blocks
        counts = self._counts[: len(blocks) * 3].reshape(-1, 3)
        edges: dict[tuple[int, int], int] = {}
        for block, (_, taken, others) in zip(blocks, counts.tolist(), strict=True):
            target = block.targets[0] if block.end == "branch" else block.index + 1
            for to, warps in ((target, taken), (block.index + 1, others)):
                if warps:
                    edges[block.index, to] = edges.get((block.index, to), 0) + warps
        told = self._told[:, 0].astype(bool)
        return LoopRun(
            code.loop,
            counts[:, 0],
            edges,
            np.where(told, counts[code.load_blocks, 0], 0),
            self._counts[len(blocks) * 3 :],
            self.word(Word.ACCESSES),
            self._log.rows[: self.word(Word.ROWS)],
        )

    def clear(self) -> None:
        """The log holds zeros again."""
        self._log.rows[: self.word(Word.ROWS)] = 0


def _shared(value: np.ndarray, ran: np.ndarray) -> Value:
    """A value without the dimensions that all lanes share; the lanes that did not run never read it."""
    bits = value if value.dtype == np.bool_ else value.view(f"u{value.dtype.itemsize}")
    some = bits[ran]
    if (some == some[0]).all():
        return value[ran][0]
    if len(bits) > 1 and ran.all() and (bits == bits[0]).all():
        return value[:1]
    return value
