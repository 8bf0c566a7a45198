"""Runs of pure opcodes as compiled functions: what the emulator does with hot blocks where llvmlite is installed.

Why: a block is a list of NumPy calls, and for few lanes a call costs more than its lanes (about 1 microsecond; a
correctly rounded fma of float32 takes six calls). Profiles of one warp in an arithmetic loop show three quarters of the
time in such calls. LLVM compiles a run of opcodes to one loop over the lanes in some milliseconds, and one call then
does what dozens did. Effects (memory, warp-wide instructions) stay calls of Python: observers hear of each.

A pure opcode waits until an effect, or the end of the block, needs its result; all that are needed then become one
function. It is compiled for the shapes that come: what all blocks, or all threads, share is computed once for all of
them, as NumPy does by broadcasting.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from softlab.emulator.machine.native import MOST_OPERANDS, NativeFunction, started
from softlab.emulator.machine.operations import Operation

#: Seconds of one opcode in NumPy, and of one lane in it: a mean of integer opcodes, one call each, and fma with six.
_CALL, _LANE = 4e-6, 2e-9
#: Seconds of compiling a run of opcodes, of each opcode in it, and of loading LLVM. A block is compiled when running it
#: has cost as much as compiling it. So waiting costs at most as much again as the better choice would have.
_COMPILE_RUN, _COMPILE_OPCODE, _START = 13e-3, 1.5e-3, 1e-1
#: A run of at most that many opcodes of one NumPy call each is left to NumPy: a ufunc's own overhead is about as much.
_TOO_SHORT = 2
#: Shapes that a run of opcodes remembers: sets of lanes that branches on data make have any size.
_MOST_SHAPES = 512


@dataclass(frozen=True)
class Heat:
    """Seconds that a run of a block's pure opcodes takes in NumPy, as parts of what compiling them takes."""

    run: float
    lane: float
    start: float

    def of(self, lanes: int) -> float:
        """Of one run for that many lanes."""
        return self.run + self.lane * lanes

    def compiles_from(self) -> float:
        """The heat from which it is compiled: as much as compiling costs, LLVM's start included."""
        return 1 if started() else 1 + self.start


def heat_of(operations: Sequence[Operation]) -> Heat | None:
    """What running a block costs; None where too little of it can be compiled."""
    if sum(operation.native is not None for operation in operations) <= _TOO_SHORT:
        return None
    return _heat(operations)


def _heat(operations: Sequence[Operation]) -> Heat:
    native = [operation.native is not None for operation in operations]
    count = sum(operation.weight for operation in operations if operation.native is not None)
    runs = 1 + sum(a and not b for a, b in pairwise(native))
    compiling = runs * _COMPILE_RUN + count * _COMPILE_OPCODE
    return Heat(count * _CALL / compiling, count * _LANE / compiling, _START / compiling)


@dataclass(frozen=True)
class Variables:
    """The variables of a block's code.

    ``dtypes`` has the dtype of each. ``constants`` are the scalars that are known now, by name. ``namespace`` is what
    the code finds by name: functions, sites and constants.
    """

    dtypes: dict[str, np.dtype]
    constants: dict[str, np.generic]
    namespace: dict[str, Any]


def fused(
    operations: Sequence[Operation], needed: Iterable[str], variables: Variables, *, patient: bool = False
) -> list[str]:
    """The lines of a block, each run of its pure opcodes as one call.

    Arguments:
        operations: the block's, in order.
        needed: the variables that are read after them.
        variables: what is known of them; functions and constants that the lines need are added.
        patient: for shapes of another kind than the first, a run is compiled when it is hot for these.
    """
    needed = set(needed)
    operations = _without_known(operations, variables)
    pending: list[Operation] = []
    lines: list[str] = []

    def settle(wanted: Iterable[str]) -> None:
        nonlocal pending
        run, pending = _needed_for(wanted, pending)
        if not run:
            return
        inside = set(map(id, run))
        outside = {s for o in operations if id(o) not in inside for s in o.sources}
        for piece in _pieces(run, needed | outside, variables):
            lines.append(piece.line(variables, patient))

    for operation in operations:
        if operation.native is not None:
            pending.append(operation)
        else:
            settle(operation.sources)
            lines.append(operation.line)
    settle(needed)
    return lines


def _without_known(operations: Sequence[Operation], variables: Variables) -> list[Operation]:
    """The operations whose sources are not all constants; the results of the others become constants."""
    left = []
    for operation in operations:
        if operation.native is None or any(source not in variables.constants for source in operation.sources):
            left.append(operation)
            continue
        with np.errstate(all="ignore"):
            found = eval(operation.expression, variables.namespace)
        values = found if isinstance(found, tuple) else (found,)
        for name, value in zip(operation.results, values, strict=True):
            variables.constants[name] = variables.namespace[name] = value
    return left


def _needed_for(wanted: Iterable[str], pending: list[Operation]) -> tuple[list[Operation], list[Operation]]:
    """The pending operations that these variables need, and the others; each in order."""
    missing = set(wanted)
    run: list[Operation] = []
    rest: list[Operation] = []
    for operation in reversed(pending):
        if missing.intersection(operation.results):
            run.append(operation)
            missing.update(operation.sources)
        else:
            rest.append(operation)
    return run[::-1], rest[::-1]


@dataclass(frozen=True)
class _Piece:
    """Operations that become one call, with the variables that go in and come out."""

    operations: tuple[Operation, ...]
    sources: tuple[str, ...]
    results: tuple[str, ...]

    def line(self, variables: Variables, patient: bool) -> str:
        """The call."""
        if len(self.operations) <= _TOO_SHORT and all(operation.direct for operation in self.operations):
            return "; ".join(operation.line for operation in self.operations)
        name = f"fused{len(variables.namespace)}"
        variables.namespace[name] = Fused(self, variables, patient)
        return f"{', '.join(self.results)} = {name}({', '.join(self.sources)})"


def _piece(operations: Sequence[Operation], needed: set[str], variables: Variables) -> _Piece:
    made = {result for operation in operations for result in operation.results}
    sources = dict.fromkeys(s for o in operations for s in o.sources if s not in made and s not in variables.constants)
    results = tuple(r for o in operations for r in o.results if r in needed)
    return _Piece(tuple(operations), tuple(sources), results)


def _pieces(run: Sequence[Operation], needed: set[str], variables: Variables) -> Iterator[_Piece]:
    """A run, cut so that no piece has more operands than a ufunc takes; ``needed`` is what others read of it."""
    while run:
        count, piece = len(run), _piece(run, needed, variables)
        while len(piece.sources) + len(piece.results) > MOST_OPERANDS and count > 1:
            count -= 1
            piece = _piece(run[:count], needed | {s for o in run[count:] for s in o.sources}, variables)
        yield piece
        run = run[count:]


class Fused:
    """A run of operations as a function of its sources, compiled for the shapes that come.

    A grid's last batch has fewer blocks than the others, and branches make small sets of lanes. A ``patient`` one takes
    NumPy for such shapes until they have cost as much as compiling does.
    """

    def __init__(self, piece: _Piece, variables: Variables, patient: bool) -> None:
        self._piece = piece
        self._variables = variables
        self._heat = _heat(piece.operations) if patient else None
        self._warming: dict[tuple[_Kind, ...], float] = {}
        self._by_shape: dict[tuple[tuple[int, ...], ...], Any] = {}
        self._by_kind: dict[tuple[_Kind, ...], Any] = {}
        self._natives: list[NativeFunction] = []  # NumPy only points to what they hold

    def __call__(self, *values: Any) -> Any:
        """The results, of the shapes that NumPy gives them."""
        shapes = tuple([value.shape for value in values])
        function = self._by_shape.get(shapes)
        if function is None:
            function = self._find(shapes)
        return function(*values)

    def _find(self, shapes: tuple[tuple[int, ...], ...]) -> Any:
        kinds = tuple(map(_kind, shapes))
        if kinds not in self._by_kind:
            if self._by_kind and self._heat is not None and not self._is_hot(kinds, shapes):
                return self._in_numpy
            self._by_kind[kinds] = self._make(dict(zip(self._piece.sources, kinds, strict=True)))
        if len(self._by_shape) >= _MOST_SHAPES:
            self._by_shape.clear()
        self._by_shape[shapes] = self._by_kind[kinds]
        return self._by_kind[kinds]

    def _is_hot(self, kinds: tuple[_Kind, ...], shapes: tuple[tuple[int, ...], ...]) -> bool:
        assert self._heat is not None
        lanes = max(map(prod, shapes))
        heat = self._warming[kinds] = self._warming.get(kinds, 0) + self._heat.of(lanes)
        return heat >= 1

    @cached_property
    def _in_numpy(self) -> Any:
        piece = self._piece
        lines = [f"    {operation.line}" for operation in piece.operations]
        source = [f"def run({', '.join(piece.sources)}):", *lines, f"    return {', '.join(piece.results)}"]
        namespace = dict(self._variables.namespace)
        exec(compile("\n".join(source), "<a run of opcodes in NumPy>", "exec"), namespace)
        return namespace["run"]

    def _make(self, kinds: dict[str, _Kind]) -> Any:
        """One function after another, from what the fewest lanes share to what is each lane's own."""
        piece, variables = self._piece, self._variables
        groups: dict[_Kind, list[Operation]] = {}
        for operation in piece.operations:
            kind = _joined(kinds[s] for s in operation.sources if s not in variables.constants)
            kinds.update(dict.fromkeys(operation.results, kind))
            groups.setdefault(kind, []).append(operation)
        ordered = [groups[kind] for kind in sorted(groups, key=lambda kind: (len(kind), sum(kind)))]
        ordered = _inlined(ordered, kinds, piece)
        lines: list[str] = []
        namespace: dict[str, Any] = {}
        for number, group in enumerate(ordered):
            needed = {*piece.results, *(s for later in ordered[number + 1 :] for o in later for s in o.sources)}
            for part in _pieces(group, needed, variables):
                if not part.results:
                    continue
                function = _native(part, variables, [s for s in part.sources if any(kinds[s])])
                self._natives.append(function)
                if part.sources == piece.sources and part.results == piece.results:
                    return function.ufunc
                name = f"native{len(namespace)}"
                namespace[name] = function.ufunc
                lines.append(f"    {', '.join(part.results)} = {name}({', '.join(part.sources)})")
        source = "\n".join([f"def run({', '.join(piece.sources)}):", *lines, f"    return {', '.join(piece.results)}"])
        exec(compile(source, "<a run of opcodes>", "exec"), namespace)
        return namespace["run"]


#: () of a scalar; else for each dimension whether it is more than 1.
_Kind = tuple[bool, ...]


def _kind(shape: tuple[int, ...]) -> _Kind:
    return tuple(size != 1 for size in shape)


def _joined(kinds: Iterable[_Kind]) -> _Kind:
    """The kind of what is computed from values of these kinds."""
    found: _Kind = ()
    for kind in kinds:
        found = tuple(a or b for a, b in zip(found, kind, strict=True)) if found and kind else found or kind
    return found


def _inlined(groups: list[list[Operation]], kinds: dict[str, _Kind], piece: _Piece) -> list[list[Operation]]:
    """The groups, scalars computed again by each group that needs them where that saves a call."""
    scalars = [o for group in groups for o in group if not any(kinds[o.results[0]])]
    if not scalars or len(groups) == 1 or any(r in piece.results for o in scalars for r in o.results):
        return groups
    inlined = []
    for group in groups:
        own = [o for o in group if any(kinds[o.results[0]])]
        if own:
            again, _ = _needed_for((s for o in own for s in o.sources), scalars)
            inlined.append([*again, *own])
    return inlined


def _native(piece: _Piece, variables: Variables, spread: Sequence[str]) -> NativeFunction:
    return NativeFunction(piece.operations, piece.sources, piece.results, variables.dtypes, variables.constants, spread)
