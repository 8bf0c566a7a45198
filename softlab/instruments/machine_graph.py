"""The basic blocks of a kernel's machine code and where control goes after each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from softlab.cuda.machine_instructions import MachineFunction, MachineInstruction
from softlab.instruments.control import ControlGraph

#: SASS opcodes after which control does not go to the next instruction, and those that leave the function. BREAK is
#: none: lanes that execute it go on, and the BSYNC of its barrier does not wait for them.
JUMPS = ("BRA", "BRX", "JMP", "JMX", "BRXU", "JMXU", "RET", "EXIT", "KILL")
LEAVING = ("RET", "EXIT", "KILL")
_TABLE_JUMPS = ("BRX", "BRXU", "JMX", "JMXU")
_ENDS = (*JUMPS, "BSYNC", "CALL")
_PREDICATE = re.compile(r"!?U?P\d+")


def is_conditional(jump: MachineInstruction) -> bool:
    """Whether control may go on behind a jump: it has a guard or a predicate, or it is ``BRA.DIV``."""
    divergent = "DIV" in jump.modifiers
    return divergent or bool(jump.guard) or any(_PREDICATE.fullmatch(operand) for operand in jump.operands)


@dataclass(frozen=True)
class MachineBlock:
    """Instructions that run one after the other.

    ``taken``: the block to which its last instruction jumps; ``fall``: the block behind it if control may go there;
    ``leaves``: it may end the thread or return; ``calls``: the block where the function begins that it calls;
    ``joins``: for each ``BSSY`` in it, the block at which the warp's lanes are together again.
    """

    index: int
    instructions: tuple[MachineInstruction, ...]
    taken: int | None
    fall: int | None
    leaves: bool
    calls: int | None
    joins: tuple[int, ...]

    @property
    def last(self) -> MachineInstruction:
        """The instruction that ends it."""
        return self.instructions[-1]

    @property
    def branches(self) -> bool:
        """Whether it ends in a conditional jump or exit."""
        return self.last.opcode in JUMPS and is_conditional(self.last)

    @property
    def synchronizes(self) -> bool:
        """Whether its end waits for the other lanes of the warp."""
        return self.last.opcode == "BSYNC"

    @property
    def by_table(self) -> bool:
        """Whether its last instruction jumps by a table."""
        return self.last.opcode in _TABLE_JUMPS

    @property
    def follow(self) -> tuple[int, ...]:
        """The blocks that may run next."""
        return tuple(dict.fromkeys(b for b in (self.taken, self.fall) if b is not None))


class MachineGraph:
    """The blocks of a function, their predecessors, and who dominates whom."""

    def __init__(self, function: MachineFunction) -> None:
        self.blocks = _blocks(function.instructions)
        self.before: list[list[int]] = [[] for _ in self.blocks]
        for block in self.blocks:
            for target in block.follow:
                self.before[target].append(block.index)

    @cached_property
    def _control(self) -> ControlGraph:
        end = len(self.blocks)
        return ControlGraph([(*b.follow, end) if b.leaves or not b.follow else b.follow for b in self.blocks])

    def dominates(self, block: int, other: int) -> bool:
        """Whether every path to ``other`` passes ``block``."""
        return self._control.dominates(block, other)

    def dominated(self, block: int, after: int) -> list[int]:
        """The blocks to which all control comes through the edge ``after`` -> ``block``."""
        if any(b != after and not self.dominates(block, b) for b in self.before[block]):
            return []
        return [b.index for b in self.blocks if self.dominates(block, b.index)]

    @cached_property
    def joined(self) -> dict[int, int]:
        """Block at which lanes are together again -> block of the ``BSSY`` at which they were together before."""
        return {join: block.index for block in self.blocks for join in block.joins}


def _blocks(instructions: Sequence[MachineInstruction]) -> tuple[MachineBlock, ...]:
    while len(instructions) > 1 and instructions[-1].opcode == "NOP":  # filling behind the end
        instructions = instructions[:-1]
    number = {instruction.address: n for n, instruction in enumerate(instructions)}
    starts = {0, *(number[t] for i in instructions for t in i.targets if t in number)}
    starts |= {n + 1 for n, instruction in enumerate(instructions) if instruction.opcode in _ENDS}
    starts |= {n for n, instruction in enumerate(instructions) if instruction.opcode == "BSYNC"}
    ordered = sorted(start for start in starts if start < len(instructions))
    at = {start: index for index, start in enumerate(ordered)}
    found = []
    for index, start in enumerate(ordered):
        stop = ordered[index + 1] if index + 1 < len(ordered) else len(instructions)
        body, last = tuple(instructions[start:stop]), instructions[stop - 1]
        targets = [at[number[t]] for t in last.targets if t in number]
        jumps, leaves = last.opcode in JUMPS, last.opcode in LEAVING
        taken = targets[0] if jumps and targets and not leaves else None
        fall = at.get(stop) if not jumps or is_conditional(last) else None
        calls = targets[0] if last.opcode == "CALL" and targets else None
        joins = tuple(at[number[i.targets[0]]] for i in body if i.opcode == "BSSY" and i.targets)
        found.append(MachineBlock(index, body, taken, fall, leaves, calls, joins))
    return tuple(found)
