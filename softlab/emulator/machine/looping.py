"""Loops of one basic block without effects: many turns in one call.

Such a block branches to itself while a predicate holds that all lanes share. What a turn costs beside its opcodes is
then much of the time of few lanes. In NumPy a Python loop runs the turns. Compiled, the shared values (the counter, the
predicate) run first, to know the turns; then each lane runs them all. What observers hear, and the number of
instructions, stay those of single turns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.machine.code import CompiledBlock
from softlab.emulator.machine.native import MOST_OPERANDS, NativeFunction
from softlab.emulator.machine.operations import Operation, Turns

#: Turns of one call at most: an interrupt of the user, and the search for infinite loops, come in between.
_MOST_TURNS, _MOST_TURNS_IN_NUMPY = 4096, 64
#: Lanes up to which turns run lane by lane. With more, a vector of lanes per turn is faster than a lane with its turns.
_MOST_LANES = 1024
_LIMIT, _MADE = "limit", "made"


@dataclass(frozen=True)
class _Plan:
    """The two functions of a loop, for the sources that all lanes share: ``shared`` and then ``own``.

    Each has its sources; ``results`` says where each register's value comes from: (0 or 1, position), or (-1, 0) for
    a constant.
    """

    shared: NativeFunction
    shared_sources: tuple[int, ...]
    own: NativeFunction | None
    own_sources: tuple[int, ...]
    results: tuple[tuple[int, Any], ...]


class Turning(Protocol):
    """A block that branches to itself and has no effects."""

    #: Whether the search for infinite loops counts each turn as a step.
    steps_are_turns: bool

    def run(self, once: Callable[..., tuple], limit: int, lanes: Lanes, *values: Value) -> tuple:
        """What the last turn writes, then what it decides and how many turns were run, 1 to ``limit``.

        ``once(lanes, *values)`` runs one turn.
        """


class NumPyLoop:
    """Turns as a Python loop of NumPy calls. The last one is that after which lanes part, or leave the loop."""

    steps_are_turns = True

    def __init__(self, code: CompiledBlock) -> None:
        steps = code.code
        written = dict(zip(code.writes, steps.results, strict=True))
        carried = {a: written[r] for r, a in zip(code.reads, steps.arguments, strict=True) if r in written}
        (condition,) = steps.decided
        lines = [
            f"def turns({', '.join(['limit', *steps.arguments])}):",
            "    for made in range(1, limit + 1):",
            *(f"        {operation.line}" for operation in steps.operations),
            f"        if made == limit or type({condition}) is ndarray or not {condition}: break",
            *([f"        {', '.join(carried)} = {', '.join(carried.values())}"] if carried else []),
            f"    return {', '.join([*steps.results, f'({steps.decision}, made)'])},",
        ]
        namespace = {**steps.variables.namespace, "ndarray": np.ndarray}
        exec(compile("\n".join(lines), f"{steps.title}, a loop", "exec"), namespace)
        self._turns = namespace["turns"]

    def run(self, once: Callable[..., tuple], limit: int, lanes: Lanes, *values: Value) -> tuple:
        """As :class:`Turning` says."""
        found: tuple = self._turns(min(limit, _MOST_TURNS_IN_NUMPY), *values)
        return found


class Loop:
    """The same with all operations compiled."""

    steps_are_turns = False

    def __init__(self, code: CompiledBlock) -> None:
        self._code = code.code
        written = dict(zip(code.writes, code.code.results, strict=True))
        #: Argument -> what it is in the next turn.
        self._carried = {
            argument: written[register]
            for register, argument in zip(code.reads, code.code.arguments, strict=True)
            if register in written
        }
        self._plans: dict[tuple[bool, ...], _Plan | None] = {}

    def run(self, once: Callable[..., tuple], limit: int, lanes: Lanes, *values: Value) -> tuple:
        """As :class:`Turning` says."""
        plan = self._found(values) if lanes.count <= _MOST_LANES and limit > 1 else None
        if plan is None:
            *written, decision = once(lanes, *values)
            return *written, (decision, 1)
        first = plan.shared.ufunc(*[values[i] for i in plan.shared_sources], np.int64(min(limit, _MOST_TURNS)))
        made = first[0]
        second: Any = ()
        if plan.own is not None:
            second = plan.own.ufunc(*[values[i] for i in plan.own_sources], made)
            second = second if isinstance(second, tuple) else (second,)
        found = [first[at] if part == 0 else second[at] if part == 1 else at for part, at in plan.results]
        return *found, (first[1], int(made))

    def _found(self, values: tuple[Value, ...]) -> _Plan | None:
        shared = tuple([not isinstance(value, np.ndarray) for value in values])
        if shared not in self._plans:
            self._plans[shared] = self._plan(shared)
        return self._plans[shared]

    def _plan(self, shared: tuple[bool, ...]) -> _Plan | None:
        """How to run the turns where these sources are shared by all lanes; None where the first turn changes that."""
        code, constants = self._code, self._code.variables.constants
        same = dict(zip(code.arguments, shared, strict=True)) | dict.fromkeys(constants, True)
        operations: tuple[list[Operation], list[Operation]] = ([], [])
        for operation in code.operations:
            is_shared = all(same[source] for source in operation.sources)
            same.update(dict.fromkeys(operation.results, is_shared))
            operations[not is_shared].append(operation)
        (condition,) = code.decided
        steady = all(same[argument] == same[following] for argument, following in self._carried.items())
        moved = any(result in code.arguments for result in code.results)
        if not same[condition] or condition in constants or not steady or moved:
            return None
        changing = [result for result in dict.fromkeys(code.results) if result not in constants]
        given = (_MADE, condition, *(r for r in changing if same[r] and r != condition))
        taken = tuple(r for r in changing if not same[r])
        first = self._native(operations[0], given, condition, same, shared=True)
        second = self._native(code.operations, taken, None, same, shared=False) if taken else (None, ())
        if first is None or second is None:
            return None
        results: list[tuple[int, Any]] = []
        for result in code.results:
            if result in constants:
                results.append((-1, constants[result]))
            else:
                results.append((0, given.index(result)) if same[result] else (1, taken.index(result)))
        return _Plan(first[0], first[1], second[0], second[1], tuple(results))

    def _native(
        self,
        operations: Sequence[Operation],
        results: tuple[str, ...],
        condition: str | None,
        same: dict[str, bool],
        *,
        shared: bool,
    ) -> tuple[NativeFunction, tuple[int, ...]] | None:
        """The function that runs the turns of these operations, and the numbers of the values that it takes."""
        code = self._code
        carried = {a: f for a, f in self._carried.items() if same[a] or not shared}
        used = {s for o in operations for s in o.sources} | set(carried)
        numbers = tuple(n for n, a in enumerate(code.arguments) if a in used and (same[a] or not shared))
        sources = (*(code.arguments[n] for n in numbers), _LIMIT)
        if len(sources) + len(results) > MOST_OPERANDS:
            return None
        dtypes = code.variables.dtypes | {_LIMIT: np.dtype(np.int64), _MADE: np.dtype(np.int64)}
        turns = Turns(carried, _LIMIT, condition, _MADE if shared else "")
        spread = [s for s in sources if s != _LIMIT and not same[s]]
        native = NativeFunction(operations, sources, results, dtypes, code.variables.constants, spread, turns)
        return native, numbers


def is_loop(code: CompiledBlock) -> bool:
    """Whether a block is a loop by itself, without effects."""
    block, steps = code.block, code.code
    branches = block.end == "branch" and block.targets == (block.index,) and len(steps.decided) == 1
    return branches and all(operation.native is not None for operation in steps.operations)
