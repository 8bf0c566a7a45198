"""Neighbouring steps of pure opcodes as compiled functions: what NumPy takes a call and more for, each.

The steps are traced (:mod:`softlab.sass.traces`) once for each way in which the registers lie: which values all lanes
share, which warps or lanes have one each. Results that lie alike come from one function. Each has the same bits as that
of the steps, for each lane. A function is compiled when NumPy has taken a part of the time that compiling it takes, in
this process and in those before it (:mod:`softlab.emulator.machine.spent`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np

from softlab.emulator.machine.native import MOST_OPERANDS, NativeFunction, started
from softlab.emulator.machine.spent import Spent, name_of
from softlab.sass import compiled, registry
from softlab.sass.compiled import Compiled, Part
from softlab.sass.form import PAIRS, PREDICATE, SINK, Named, Reader, Slots
from softlab.sass.lanes import Value
from softlab.sass.native_floats import TracedRegisters
from softlab.sass.traces import Trace, Traced, Untraced

#: Seconds that NumPy may take before a segment is compiled: for a function, for an instruction of it, and for LLVM's
#: start. Compiling takes four times as long, but what it makes stays on the disk for all later processes.
_FUNCTION, _INSTRUCTION, _START = 0.005, 0.0006, 0.15
#: Seconds that it takes to find and read a segment on the disk, and LLVM's start.
_STORED, _STORED_START = 0.0004, 0.03
#: Instructions of a segment at most, and operands of a function besides the registers: guards and pairs.
_LONGEST, _ROOM = 48, 12


@dataclass(frozen=True)
class PureStep:
    """A pure opcode's step and its guard, the registers that they read and that the step writes, and the constants that
    they name. ``index``: of the instruction, and ``code`` its encoding; "" where that is not known."""

    index: int
    action: registry.Action
    guard: Reader | None
    reads: frozenset[int]
    writes: frozenset[int]
    constants: tuple[Named, ...]
    code: str = ""


class Segment:
    """Neighbouring steps. ``inputs``: the registers that they take. ``ways``: by how these lie (:func:`way_of`), the
    compiled steps that are there. ``usable``: whether they can be compiled."""

    def __init__(self, steps: Sequence[PureStep], slots: Slots, refuse: Callable[[int], None]) -> None:
        """``refuse`` is told which instruction cannot be traced."""
        self._steps, self._refuse = tuple(steps), refuse
        written: set[int] = set()
        taken: set[int] = set()
        for step in steps:
            taken |= (step.reads | (step.writes if step.guard is not None else frozenset())) - written
            written |= step.writes
        self._written = sorted(written - {SINK})
        self.inputs = tuple(sorted(taken - {SINK}))
        self._named = tuple(sorted({slots.of(one) for step in steps for one in step.constants}))
        self.ways: dict[tuple[int, ...], Compiled] = {}
        #: Of each way the seconds of NumPy, those of the first call, and what all processes have taken.
        self._taken: dict[tuple[int, ...], float] = {}
        self._first: dict[tuple[int, ...], float] = {}
        self._spent: dict[tuple[int, ...], Spent] = {}
        #: Ways of which nothing is on the disk.
        self._unknown: set[tuple[int, ...]] = set()
        #: What says what the steps compute, and where their constants stand; none where this is not known.
        self._codes = tuple(step.code for step in steps) if all(step.code for step in steps) else ()
        self._places = [(one, slots.of(one)) for step in steps for one in step.constants]
        #: Whether the functions are kept, and the step that cannot be traced (-1: none).
        self._kept, self._refused = False, -1
        self.usable = True

    def take(self, way: tuple[int, ...], seconds: float, r: list, choice: str) -> None:
        """NumPy has taken this long."""
        taken = self._taken[way] = self._taken.get(way, 0.0) + seconds
        first = self._first.setdefault(way, seconds)
        if choice == "all":
            self._try(way, r, "")
            return
        name = ""
        if self._codes and way not in self._unknown and taken > _STORED + (0 if started() else _STORED_START):
            name = self._name(way, r)
            if self._found(way, name):
                return
            self._unknown.add(way)
        if way in self._unknown:
            spent = self._spent.setdefault(way, Spent())
            taken = spent.of_all(taken, taken - first, lambda: name_of(self._codes, (self._places, self.inputs, way)))
        if taken > _FUNCTION + _INSTRUCTION * len(self._steps) + (0 if started() else _START):
            self._try(way, r, name or self._name(way, r))

    def _name(self, way: tuple[int, ...], r: list) -> str:
        """What the segment is called on the disk; "" where what it computes is not known."""
        kinds = [r[k].dtype.str for k in self._named]
        return compiled.key(self._codes, (self._places, self.inputs, way, kinds)) if self._codes else ""

    def _found(self, way: tuple[int, ...], name: str) -> bool:
        """Whether it is on the disk; it is there then."""
        found = compiled.read(name)
        if isinstance(found, int):
            self._refuse(self._steps[found].index)
            self.usable = False
        elif found is not None:
            self.ways[way] = found
        return found is not None

    def _try(self, way: tuple[int, ...], r: list, name: str) -> None:
        """Compile it, and keep it under its name, if it has one."""
        self._kept, self._refused = bool(name), -1
        try:
            self.ways[way] = self._compile(way, r)
        except Untraced:
            self.usable = False
            if name and self._refused >= 0:
                compiled.refuse(name, self._refused)
        else:
            if name:
                compiled.write(name, self.ways[way])

    def _compile(self, way: tuple[int, ...], r: list) -> Compiled:
        trace = Trace()
        registers = TracedRegisters([None] * len(r), trace)
        registers[PAIRS] = {}
        for k in self.inputs:
            registers[k] = trace.source(f"s{k}", _dtype(k))
        for k in self._named:
            registers[k] = trace.source(f"s{k}", r[k].dtype)
        guards = list(self._traced(registers))
        pairs = [
            (low, both)
            for low, (one, other, both) in registers[PAIRS].items()
            if low in self._written and registers[low] is one and registers[low + 1] is other
        ]
        wanted = [registers[k] for k in self._written] + [g for _, g in guards] + [both for _, both in pairs]
        names = dict.fromkeys(v.name for v in wanted if isinstance(v, Traced) and v.name[0] == "n")
        lies = dict.fromkeys(map("s{}".format, self._named), 0) | dict(
            zip(map("s{}".format, self.inputs), way, strict=True)
        )
        parts, numbers = _parts(trace, names, lies, kept=self._kept)

        def number(value: Value) -> int:
            return numbers.get(value.name, -1) if isinstance(value, Traced) else -1

        final = [(k, registers[k]) for k in self._written]
        return Compiled(
            parts,
            tuple((k, number(v)) for k, v in final if number(v) >= 0),
            tuple((k, int(v.name[1:])) for k, v in final if isinstance(v, Traced) and number(v) < 0),
            tuple((k, v) for k, v in final if not isinstance(v, Traced)),
            tuple((at, number(g), int(g.name[1:]) if isinstance(g, Traced) else g) for at, g in guards),
            tuple((low, number(both)) for low, both in pairs if number(both) >= 0),
        )

    def _traced(self, registers: TracedRegisters) -> Iterator[tuple[int, Value]]:
        """Let all steps write down what they do: the guards, by the number of their instruction.

        Raises:
            Untraced: a step cannot.
        """
        try:
            yield from traced(self._steps, registers)
        except Untraced as error:
            if error.args:
                self._refused = error.args[0]
                self._refuse(self._steps[self._refused].index)
            raise


def traced(steps: Sequence[PureStep], registers: TracedRegisters) -> Iterator[tuple[int, Value]]:
    """Let steps write down what they do: the guards, by the number of their step.

    Raises:
        Untraced: a step cannot; its number.
    """
    for at, step in enumerate(steps):
        try:
            before = {k: registers[k] for k in step.writes}
            guard = None if step.guard is None else step.guard(registers)
            step.action(registers)
            if guard is not None:
                yield at, guard
                for k, old in before.items():
                    registers[k] = _chosen(guard, registers[k], old)
            if not all(isinstance(registers[k], Traced | np.generic) for k in step.writes):
                raise Untraced
        except Exception as error:
            raise Untraced(at) from error


def _chosen(guard: Value, new: Value, old: Value) -> Value:
    if isinstance(guard, Traced):
        return np.where(guard, new, old)
    return new if guard else old


def _dtype(register: int) -> np.dtype:
    return np.dtype(np.uint32 if register < PREDICATE else np.bool_)


class _Lies(dict[tuple[int, ...], int]):
    """Shape -> how a value of it lies: whether lanes (1) and warps (2) have their own."""

    def __missing__(self, shape: tuple[int, ...]) -> int:
        found = 0
        if shape:
            found = (shape[0] > 1) << 1 | (shape[-1] > 1) if len(shape) > 1 else 3
        self[shape] = found
        return found


_LIES = _Lies()


def way_of(r: list, inputs: Sequence[int]) -> tuple[int, ...]:
    """How registers lie: of each whether lanes (1) and warps (2) have their own."""
    return tuple([_LIES[r[k].shape] for k in inputs])


def _parts(
    trace: Trace, names: Iterable[str], lies: dict[str, int], *, kept: bool
) -> tuple[tuple[Part, ...], dict[str, int]]:
    """A function for the results that lie alike, each, and result -> its number.

    Arguments:
        lies: how each source lies. kept: whether the functions' machine code is kept on the disk.
    """
    lies = dict(lies)
    for name, operation in trace.operations.items():
        lies[name] = reduce(or_, (lies.get(source, 0) for source in operation.sources), 0)
    parts: list[Part] = []
    numbers: dict[str, int] = {}
    for lie in range(4):
        results = [name for name in names if lies[name] == lie]
        if not results:
            continue
        operations = trace.needed(results)
        sources = sorted({one for operation in operations for one in operation.sources if one[0] == "s"})
        if len(sources) + len(results) > MOST_OPERANDS:
            raise Untraced
        spread = [source for source in sources if lies[source]]
        function = NativeFunction(operations, sources, results, trace.dtypes, trace.constants, spread, kept=kept)
        kinds = tuple(trace.dtypes[name] for name in (*sources, *results))
        parts.append(Part(function, tuple(int(source[1:]) for source in sources), kinds))
        for name in results:
            numbers[name] = len(numbers)
    return tuple(parts), numbers


def segments(steps: Sequence[PureStep | None]) -> list[tuple[int, int]]:
    """First and last + 1 of the neighbouring steps that are compiled together. None: a step that is not pure."""
    found: list[tuple[int, int]] = []
    first, operands = 0, frozenset[int]()
    for at, step in enumerate([*steps, None]):
        more = operands if step is None else operands | step.reads | step.writes
        if step is None or len(more) > MOST_OPERANDS - _ROOM or at - first == _LONGEST:
            if at - first > 1:
                found.append((first, at))
            first = at if step is not None else at + 1
            more = frozenset() if step is None else step.reads | step.writes
        operands = more
    return found
