"""The opcodes that end a basic block: each function sends the lanes of the block on.

A function gets the schedule, the fault reporter, the block, its lanes, and what the block's code decided: its guard
where the terminator reads no operands, else (guard, values of those operands). A guard of None means all lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, Protocol

import numpy as np

from softlab.emulator.host import FaultReporter
from softlab.emulator.lanes import WARP, Lanes, Value
from softlab.emulator.opcodes.registry import OPCODES, OpcodeTable
from softlab.emulator.ptx.blocks import Block
from softlab.emulator.ptx.syntax import Instruction, Operand
from softlab.errors import Error

#: Barriers of a block (PTX ISA, "bar, barrier").
_BARRIERS = 16


class ControlFlow(Protocol):
    """What a terminator may do with lanes."""

    def add(self, index: int, lanes: Lanes) -> None:
        """These lanes go on with the block of this index."""

    def exit(self, lanes: Lanes) -> None:
        """These lanes have ended."""

    def arrive(
        self,
        barrier: int,
        count: int | None,
        block: Block,
        lanes: Lanes,
        *,
        waits: bool,
        predicate: Value | None = None,
    ) -> None:
        """These lanes arrive at the barrier that ends ``block``; ``count`` is the number of threads it is for.

        ``predicate`` is what they vote at ``bar.red``, None at other barriers.
        """


#: Called as function(schedule, faults, block, lanes, decision).
Terminator = Callable[[ControlFlow, FaultReporter, Block, Lanes, Any], None]
TERMINATORS: OpcodeTable[Terminator] = OpcodeTable("terminator", OPCODES)


def fall(schedule: ControlFlow, faults: FaultReporter, block: Block, lanes: Lanes, decision: Any) -> None:
    """The end of a block that has no terminator."""
    schedule.add(block.index + 1, lanes)


def terminator_of(block: Block) -> Terminator:
    """What sends the lanes of a block on."""
    opcode = OPCODES.find(block.terminator) if block.terminator is not None else None
    return opcode.function if opcode is not None else fall


def _first_operand(instruction: Instruction) -> tuple[Operand, ...]:
    return instruction.operands[:1]


def _all_operands(instruction: Instruction) -> tuple[Operand, ...]:
    return instruction.operands


@TERMINATORS.opcode("bra", ends="branch", has_result=False)
def _branch(schedule: ControlFlow, faults: FaultReporter, block: Block, lanes: Lanes, decision: Any) -> None:
    if decision is None:
        schedule.add(block.targets[0], lanes)
        return
    taken, rest = lanes.split(decision)
    if taken is not None:
        schedule.add(block.targets[0], taken)
    if rest is not None:
        schedule.add(block.index + 1, rest)


@TERMINATORS.opcode("brx", ends="table", has_result=False, reads=_first_operand)
def _table(schedule: ControlFlow, faults: FaultReporter, block: Block, lanes: Lanes, decision: Any) -> None:
    guard, (choice,) = decision
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
    assert block.terminator is not None
    raise Error(f"`{block.terminator.text}` jumps beyond its table")


@TERMINATORS.opcode("ret", "exit", ends="exit", has_result=False)
def _exit(schedule: ControlFlow, faults: FaultReporter, block: Block, lanes: Lanes, decision: Any) -> None:
    taken, rest = (lanes, None) if decision is None else lanes.split(decision)
    if rest is not None:
        schedule.add(block.index + 1, rest)
    if taken is not None:
        schedule.exit(taken)


@TERMINATORS.opcode("bar", "barrier", ends="barrier", has_result=False, reads=_all_operands)
def _barrier(schedule: ControlFlow, faults: FaultReporter, block: Block, lanes: Lanes, decision: Any) -> None:
    guard, numbers = decision
    instruction = block.terminator
    assert instruction is not None
    taken, rest = (lanes, None) if guard is None else lanes.split(guard)
    if rest is not None:
        schedule.add(block.index + 1, rest)
    if taken is None:
        return
    whole = [lanes.put(n, n, True) for n in numbers]
    predicates = whole.pop() if instruction.has("red") else None
    left: Lanes | None = taken
    while left is not None:
        local = [left.take(n) for n in whole]
        first = [int(n.flat[0]) if isinstance(n, np.ndarray) else int(n) for n in local]
        same, left = left.split(
            reduce(np.logical_and, (n == f for n, f in zip(local, first, strict=True)), np.bool_(True))
        )
        if same is None:
            raise Error(f"`{instruction.text}`: the barrier's number is not known")
        barrier, count = first[0] if first else 0, first[1] if len(first) > 1 else None
        _check_barrier(faults, instruction, same, barrier, count)
        predicate = None if predicates is None else same.take(predicates) != 0
        schedule.arrive(barrier, count, block, same, waits=not instruction.has("arrive"), predicate=predicate)


def _check_barrier(
    faults: FaultReporter, instruction: Instruction, lanes: Lanes, barrier: int, count: int | None
) -> None:
    """Report numbers that no GPU takes (PTX ISA, "bar, barrier")."""
    wrong = ""
    if not 0 <= barrier < _BARRIERS:
        wrong = f"comes to barrier {barrier}: a block has the barriers 0 to {_BARRIERS - 1}"
    elif count is not None and (count <= 0 or count % WARP):
        wrong = f"comes to a barrier for {count} threads, which is no multiple of {WARP} above 0: it counts whole warps"
    if wrong:
        faults.report(
            faults.fault("barrier-divergence", f"the thread {wrong}", instruction, lanes, np.bool_(True)),
            count=lanes.count,
        )


def _stop(kind: str, what: str) -> Terminator:
    """A terminator that stops the kernel."""

    def stop(schedule: ControlFlow, faults: FaultReporter, block: Block, lanes: Lanes, decision: Any) -> None:
        taken, _ = (lanes, None) if decision is None else lanes.split(decision)
        if taken is None:
            schedule.add(block.index + 1, lanes)
            return
        raise faults.fault(kind, what, block.terminator, taken, np.bool_(True))

    return stop


TERMINATORS.opcode("trap", ends="trap", has_result=False)(_stop("trap", "the thread executes a trap"))
TERMINATORS.opcode("call.nothing", ends="trap")(
    _stop("trap", "the thread calls an address where no function with such parameters is")
)
TERMINATORS.opcode("__assertfail", ends="assert")(_stop("assert", "the thread fails an assertion"))
