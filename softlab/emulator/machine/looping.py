"""Loops of one basic block without effects: many turns in one compiled call.

Such a block branches to itself while a predicate holds that all lanes share. A call of Python and of NumPy per turn is
then most of the cost of few lanes. The shared values (the counter, the predicate) run first, to know the turns; then
each lane runs them all. What observers hear, and the number of instructions, stay those of single turns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.machine.code import CompiledBlock
from softlab.emulator.machine.native import MOST_OPERANDS, NativeFunction
from softlab.emulator.machine.operations import Operation, Turns

#: Turns of one call at most: an interrupt of the user, and the search for infinite loops, come in between.
_MOST_TURNS = 4096
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


class Loop:
    """A block that branches to itself and has no effects."""

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
        """What the last turn writes, then what it decides and how many turns were run, 1 to ``limit``.

        ``once(lanes, *values)`` runs one turn.
        """
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


def loop_of(code: CompiledBlock) -> Loop | None:
    """The loop that a block is by itself; None where it has effects or goes on elsewhere."""
    block, steps = code.block, code.code
    branches = block.end == "branch" and block.targets == (block.index,) and len(steps.decided) == 1
    if not branches or any(operation.native is None for operation in steps.operations):
        return None
    return Loop(code)
