"""Loops of machine code in one compiled function: which they are, and when they are compiled.

A loop is a set of straight runs that can come to each other. Those of its runs are compiled that are executed often and
that the compiler knows (:mod:`.loop_blocks`). The others are left to the machine, which comes back to the compiled
ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from softlab.cuda.cache import read_record, write_record
from softlab.emulator.machine.native import loops_folder, started
from softlab.emulator.machine.native_python import arrays_are_as_known
from softlab.emulator.machine.spent import Spent, name_of
from softlab.sass import compiled, native_requests
from softlab.sass.compiled import key
from softlab.sass.decode import Code
from softlab.sass.form import SINK
from softlab.sass.log import unit_of
from softlab.sass.loop_blocks import Describer
from softlab.sass.loop_code import Block, LoopCode, names_of
from softlab.sass.loop_runner import runner
from softlab.sass.steps import Steps
from softlab.sass.streams import Space
from softlab.sass.traces import Untraced

#: Executions of a run after which somebody looks whether its loop is compiled, and again after as many; and after which
#: somebody looks whether it is on the disk.
_LOOK, _FIRST_LOOK = 32, 8
#: Seconds that the machine may take before a loop is compiled, in all processes together: per block, per instruction,
#: and for LLVM's start.
#: Compiling takes some three times as long, but what it makes stays on the disk for all later processes. With less than
#: segments of the same instructions (:mod:`.segments`) may take together, the loop is compiled and they are not.
_BLOCK, _INSTRUCTION, _START = 0.002, 0.001, 0.05
#: Seconds that count of one run at most: the first ones have compiled their steps.
_MOST_SECONDS = 0.005
#: Blocks of a loop that are executed less than this part of the most frequent one are left to the machine.
_RARE = 32
#: Blocks and instructions of a loop at most.
_MOST_BLOCKS, _MOST_INSTRUCTIONS = 96, 1500
#: Calls before anybody asks whether entering a loop pays.
_CALLS = 16


class Loop:
    """A compiled loop. ``starts``: where its runs begin. ``pays``: whether entering it does."""

    def __init__(self, blocks: Sequence[Block], steps: Steps, seconds: Callable[[int], tuple[float, float]]) -> None:
        """``seconds``: what the machine takes for the run that begins at an instruction: once, and for each warp."""
        self.blocks = _numbered(sorted(blocks, key=lambda one: one.start))
        self.starts = tuple(block.start for block in self.blocks)
        self.starts_as_set = frozenset(self.starts)
        self.number_of = {start: number for number, start in enumerate(self.starts)}
        self.accesses = [access for block in self.blocks for access in block.accesses]
        self.stores = any(access.stores and access.space == Space.GLOBAL for access in self.accesses)
        named = tuple(dict.fromkeys(one for block in self.blocks for one in block.constants))
        self.constants = tuple(one for one in named if one[0] >= 0)
        #: The special registers, as :class:`.loop_code.Block` names them.
        self.specials = tuple(sorted(one for one in named if one[0] < 0))
        read = frozenset[int]().union(*(block.reads for block in self.blocks))
        self.written = frozenset[int]().union(*(block.writes for block in self.blocks))
        self.registers = tuple(sorted((read | self.written) - {SINK}))
        self._steps = steps
        #: Where its machine code is.
        self.address = 0
        self._run: Callable[..., int] | None = None
        #: How many calls there were, and how many seconds more the machine would have taken.
        self._calls, self._gain = 0, 0.0
        self._once, self._per_warp = np.array([seconds(start) for start in self.starts]).T
        self.pays = True

    @property
    def seconds(self) -> float:
        """What the machine may take before it is compiled."""
        return sum(_BLOCK + _INSTRUCTION * block.length for block in self.blocks)

    @property
    def name(self) -> str:
        """Under which its machine code is kept."""
        return key(tuple(names_of(self.blocks)), ("loop", self.registers, self.constants, self.specials))

    def compile(self) -> None:
        """Make the function.

        Raises:
            Untraced: a step of a run does what cannot be written down; where the run begins.
        """
        code = LoopCode(self.blocks, self._steps.slots.of, self.constants, self.registers, self.specials)
        self.address = compiled.function(self.name, code.text)
        self._run = runner()  # compiled here, not in the first call, which says whether the loop pays

    @cached_property
    def about(self) -> np.ndarray:
        """The numbers of all blocks, int64."""
        rows, part = [], 0
        for b in self.blocks:
            about = b.start, b.length, b.end, b.target, b.begins, b.barrier, b.guards, len(b.accesses)
            rows.append((*about, part, len(b.parts), b.alone))
            part += len(b.parts)
        return np.array(rows, np.int64)

    @cached_property
    def counting(self) -> np.ndarray:
        """How requests of its accesses are counted: int64 (accesses, ``ABOUT``) of :mod:`.native_requests`."""
        rows = []
        for one in self.accesses:
            rule, unit = native_requests.rule_of(one.space, one.kind, False), unit_of(one.space, one.kind)
            local = one.space == Space.LOCAL
            rows.append((rule, one.width // one.pieces, unit.bit_length() - 1, one.pieces, local))
        return np.array(rows, np.int64)

    @cached_property
    def asking(self) -> np.ndarray:
        """The instruction of each access in its block, its space and its kind: int64 (accesses, 3)."""
        return np.array([(one.offset, one.space, one.kind) for one in self.accesses], np.int64)

    def note(self, seconds: float, blocks: np.ndarray, warps: np.ndarray) -> None:
        """Add the seconds that a call has taken for runs of these blocks, each with its number of warps."""
        self._calls += 1
        self._gain += float((self._once[blocks] + self._per_warp[blocks] * warps).sum()) - seconds
        self.pays = self._calls < _CALLS or self._gain > 0

    def call(self, *arguments: int) -> int:
        """:func:`softlab.sass.native_loops.run`."""
        assert self._run is not None
        return self._run(*arguments)


class Line:
    """Seconds of runs as a straight line over the number of their warps."""

    def __init__(self) -> None:
        #: Sums: of ones, warps, their squares, seconds, and warps times seconds.
        self._sums = [0.0] * 5

    def add(self, warps: int, seconds: float) -> None:
        """One run more."""
        for k, value in enumerate((1.0, warps, warps * warps, seconds, warps * seconds)):
            self._sums[k] += value

    def join(self, other: Line) -> None:
        """All runs of another line more."""
        self._sums = [one + more for one, more in zip(self._sums, other._sums, strict=True)]

    @property
    def found(self) -> tuple[float, float]:
        """Seconds of a run, and of each of its warps, none below 0: the line with the least squares."""
        count, warps, squares, seconds, products = self._sums
        if not count:
            return 0.0, 0.0
        spread = count * squares - warps * warps
        slope = (count * products - warps * seconds) / spread if spread > 0 else 0.0
        slope = min(max(slope, 0.0), seconds / warps)
        return (seconds - slope * warps) / count, slope


def _numbered(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, their accesses numbered in the loop."""
    found, number = [], 0
    for block in blocks:
        sections = []
        for section in block.sections:
            if section.access is not None:
                section = replace(section, last=replace(section.access, number=number))
                number += 1
            sections.append(section)
        found.append(replace(block, sections=tuple(sections)))
    return found


class Loops:
    """The loops of a code, for one machine. ``at``: the loop of the run that begins at an instruction."""

    def __init__(
        self, code: Code, heads: frozenset[int], steps: Steps, choice: str, left: frozenset[int] = frozenset()
    ) -> None:
        """``left``: instructions that are left to the machine."""
        self._describer = Describer(code, heads, steps, left)
        self._steps, self.choice = steps, choice
        self._size = len(code.instructions)
        self._times: dict[int, int] = {}
        self._seconds: dict[int, float] = {}
        #: The seconds of the first execution of each run, and of a loop, whose runs are compiled in part, what all
        #: processes have taken for the others.
        self._first: dict[int, float] = {}
        self._spent: dict[tuple[frozenset[int], frozenset[int]], Spent] = {}
        self._lines: dict[int, Line] = {}
        #: How often the runs of a loop have to be executed before somebody looks at it again.
        self._next: dict[frozenset[int], int] = {}
        #: The runs of each loop that are compiled. More are added where the machine has to do others often.
        self._made: dict[frozenset[int], frozenset[int]] = {}
        self._loop_at: dict[int, frozenset[int]] = {}
        self.at: dict[int, Loop] = {}
        self.usable = choice != "none" and arrays_are_as_known()

    def count(self, start: int, warps: int, seconds: float) -> None:
        """Add the seconds of the processor that the machine has taken for the run that begins at ``start``."""
        if start in self._times:  # the first one has compiled its steps
            self._lines.setdefault(start, Line()).add(warps, seconds)
        counted = min(seconds, _MOST_SECONDS)
        self._first.setdefault(start, counted)
        self._seconds[start] = self._seconds.get(start, 0.0) + counted
        times = self._times[start] = self._times.get(start, 0) + 1
        if (times % _LOOK == 0 or times == _FIRST_LOOK) and self.usable and start not in self.at:
            self._look(start)

    def _look(self, start: int) -> None:
        """Compile the loop of a run, if that pays."""
        if self._describer.block(start, self.choice) is None:
            return
        loop = self._loop_of(start)
        if len(loop) < 2 and start not in self._describer.following(start):
            return
        times = sum(self._times.get(one, 0) for one in loop)
        if times < self._next.get(loop, 0):
            return
        self._next[loop] = times + times // 4
        known = self._made.get(loop, frozenset())
        codes = self._encodings(loop)
        name = name_of(codes, ("blocks of a loop", self.choice))
        record = read_record(loops_folder() / f"{name}.json")
        kept = frozenset(record["blocks"]) if record is not None else frozenset()
        made = self._of(known | kept if kept - known else known | self._often(loop))
        if made is None or known >= made.starts_as_set:
            return
        if not kept >= made.starts_as_set:
            taken = self._taken(loop, codes, known, made.starts_as_set - known)
            if self.choice != "all" and taken < made.seconds + (0 if started() else _START):
                return
        try:
            made.compile()
        except Untraced as error:
            self._describer.forget(error.args[0])
            self._next[loop] = 0  # the others may be compiled without it
            return
        if not kept >= made.starts_as_set:
            write_record(loops_folder() / f"{name}.json", {"blocks": list(made.starts)})
        self._made[loop] = made.starts_as_set
        for one in made.starts:
            self.at[one] = made

    def _taken(
        self, loop: frozenset[int], codes: Sequence[str], known: frozenset[int], runs: frozenset[int]
    ) -> float:  # fmt: skip
        """The seconds of all processes for these runs of a loop, of which ``known`` are compiled."""
        own, first = (sum(of.get(one, 0.0) for one in runs) for of in (self._seconds, self._first))
        spent = self._spent.setdefault((loop, known), Spent())
        return spent.of_all(own, own - first, lambda: name_of(codes, ("loop", self.choice, sorted(known))))

    def _often(self, loop: Iterable[int]) -> frozenset[int]:
        """The runs of a loop that the machine executes often, or all of them where all is compiled."""
        most = max(self._times.get(one, 0) for one in loop)
        least = 0 if self.choice == "all" else most / _RARE
        return frozenset(one for one in loop if self._times.get(one, 0) >= least)

    def _of(self, starts: Iterable[int]) -> Loop | None:
        """The loop of those runs that the compiler knows; None where there are none, or too many."""
        chosen = [self._describer.block(one, self.choice) for one in sorted(starts)]
        blocks = [one for one in chosen if one is not None][:_MOST_BLOCKS]
        if not blocks or sum(one.length for one in blocks) > _MOST_INSTRUCTIONS:
            return None
        return Loop(blocks, self._steps, self._of_machine)

    def _of_machine(self, start: int) -> tuple[float, float]:
        """What the machine takes for a run, once and for each warp; if it does not know it, as for the others."""
        line = self._lines.get(start)
        if line is None:
            line = Line()
            for one in self._lines.values():
                line.join(one)
        return line.found

    def _encodings(self, loop: Iterable[int]) -> tuple[str, ...]:
        found = []
        for one in sorted(loop):
            block = self._describer.block(one, self.choice)
            found.append(f"{one}" if block is None else " ".join(names_of([block])))
        return tuple(found)

    def _loop_of(self, start: int) -> frozenset[int]:
        """All runs that this one can come to and that can come to it."""
        if start in self._loop_at:
            return self._loop_at[start]
        forward: dict[int, tuple[int, ...]] = {}
        left = [start]
        while left:
            one = left.pop()
            if one not in forward and one < self._size:
                forward[one] = self._describer.following(one)
                left += forward[one]
        back: dict[int, list[int]] = {}
        for one, others in forward.items():
            for other in others:
                back.setdefault(other, []).append(one)
        found, left = set[int](), [start]
        while left:
            one = left.pop()
            if one not in found:
                found.add(one)
                left += back.get(one, [])
        self._loop_at[start] = frozenset(found)
        return self._loop_at[start]
