"""How a basic block ends: where its lanes go on. ``END`` has one function for each kind of end that ``Block`` names.

Each takes the batch, the schedule, the block, its lanes, and what the block's code decided: a branch's predicate, a
table's (guard, choice), a barrier's (guard, numbers).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from softlab.emulator.faults import first_lane, source_line
from softlab.emulator.flow import Block
from softlab.emulator.lanes import Lanes
from softlab.emulator.schedule import Schedule
from softlab.errors import Error

if TYPE_CHECKING:
    from softlab.emulator.machine import Batch


def _fall(batch: Batch, schedule: Schedule, block: Block, lanes: Lanes, decision: Any) -> None:
    schedule.add(block.index + 1, lanes)


def _branch(batch: Batch, schedule: Schedule, block: Block, lanes: Lanes, decision: Any) -> None:
    if decision is None:
        schedule.add(block.targets[0], lanes)
        return
    taken, rest = lanes.split(decision)
    if taken is not None:
        schedule.add(block.targets[0], taken)
    if rest is not None:
        schedule.add(block.index + 1, rest)


def _table(batch: Batch, schedule: Schedule, block: Block, lanes: Lanes, decision: Any) -> None:
    guard, choice = decision
    if guard is not None:
        taken, rest = lanes.split(guard)
        if rest is not None:
            schedule.add(block.index + 1, rest)
        if taken is None:
            return
        choice = taken.take(lanes.put(choice, choice, True))
        lanes = taken
    whole = lanes.put(choice, choice, True)
    left: Lanes | None = lanes
    for number, target in enumerate(block.targets):
        assert left is not None
        taken, left = left.split(left.take(whole) == number)
        if taken is not None:
            schedule.add(target, taken)
        if left is None:
            return
    instruction = batch.launch.program.image.instructions[block.stop - 1]
    raise Error(f"`{instruction.text}` jumps beyond its table")


def _exit(batch: Batch, schedule: Schedule, block: Block, lanes: Lanes, decision: Any) -> None:
    taken, rest = (lanes, None) if decision is None else lanes.split(decision)
    if rest is not None:
        schedule.add(block.index + 1, rest)
    if taken is not None:
        schedule.exit(taken)


def _barrier(batch: Batch, schedule: Schedule, block: Block, lanes: Lanes, decision: Any) -> None:
    guard, numbers = decision
    instruction = batch.launch.program.image.instructions[block.stop - 1]
    taken, rest = (lanes, None) if guard is None else lanes.split(guard)
    if rest is not None:
        schedule.add(block.index + 1, rest)
    if taken is None:
        return
    whole = [lanes.put(n, n, True) for n in numbers]
    left: Lanes | None = taken
    while left is not None:
        local = [left.take(n) for n in whole]
        first = [int(n.flat[0]) if isinstance(n, np.ndarray) else int(n) for n in local]
        same, left = left.split(
            reduce(np.logical_and, (n == f for n, f in zip(local, first, strict=True)), np.bool_(True))
        )
        if same is None:
            raise Error(f"`{instruction.text}`: the barrier's number cannot be told")
        barrier, count = first[0] if first else 0, first[1] if len(first) > 1 else None
        schedule.arrive(barrier, count, block, same, waits=not instruction.has("arrive"))


def _trap(batch: Batch, schedule: Schedule, block: Block, lanes: Lanes, decision: Any) -> None:
    taken, _ = (lanes, None) if decision is None else lanes.split(decision)
    if taken is None:
        schedule.add(block.index + 1, lanes)
        return
    row, column = first_lane(taken, np.bool_(True))
    instruction = batch.launch.program.image.instructions[block.stop - 1]
    what = "fails an assertion" if block.end == "assert" else "executes a trap"
    line = source_line(instruction.frames, batch.launch.file)
    raise Error(
        f"thread {batch.geometry.thread(column)} of block {batch.geometry.place(row)} {what}"
        + (f" at line {line} of {batch.launch.file}" if line else "")
    )


END: dict[str, Callable[[Batch, Schedule, Any, Lanes, Any], None]] = {
    "fall": _fall,
    "branch": _branch,
    "table": _table,
    "exit": _exit,
    "barrier": _barrier,
    "trap": _trap,
    "assert": _trap,
}
