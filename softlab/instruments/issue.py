"""Which warps issue a machine instruction that was made from one of the PTX: by the branches that decide about each.

The rules and what they rest on stand in :mod:`softlab.instruments.machine_code`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from softlab.disassembly import MachineFunction, MachineInstruction
from softlab.emulator.flow import Block
from softlab.emulator.linker import Image
from softlab.instruments.control import ControlGraph

#: Opcodes of SASS after which control does not come to the next instruction, and those that leave the function.
_JUMPS = ("BRA", "BRX", "JMP", "JMX", "BRXU", "JMXU", "RET", "EXIT", "KILL", "BREAK")
_LEAVING = ("RET", "EXIT", "KILL")
_PREDICATE = re.compile(r"!?U?P\d+")


@dataclass(frozen=True)
class Copy:
    """One machine instruction in its surroundings.

    ``branches``: PTX lines of all branches that decide whether it is issued; ``group``: address of the first
    instruction of its basic block; ``near``: PTX lines of the instructions of that block.
    """

    instruction: MachineInstruction
    branches: frozenset[int]
    group: int
    near: frozenset[int]


@dataclass(frozen=True)
class UnrolledLoop:
    """A loop of the PTX that the machine code takes in stages.

    ``entry``: the block before it; ``turn``: a block that every turn runs; ``stages``: turns that each stage takes, the
    first of them in a loop, the others once: (4, 2, 1); ``predicated``: the last one is issued whether needed or not.
    """

    entry: int
    turn: int
    stages: tuple[int, ...]
    predicated: bool


@dataclass(frozen=True)
class Issue:
    """Who issues an access: the warps of block ``block`` of the PTX.

    ``sunk``: it is also their lanes that take part, and not those of the block that the PTX has it in; ``loop``: the
    unrolled loop that it stands in, if it does.
    """

    block: int
    sunk: bool = False
    loop: UnrolledLoop | None = None


class IssueFinder:
    """Finds out for the accesses of one kernel who issues them."""

    def __init__(self, image: Image, blocks: Sequence[Block]) -> None:
        self._graph = ControlGraph(_successors(image, blocks))
        self._branch = [image.instructions[b.stop - 1].line for b in blocks]
        self._blocks_at: dict[int, set[int]] = {}
        for block in blocks:
            for instruction in image.instructions[block.start : block.stop]:
                self._blocks_at.setdefault(instruction.line, set()).add(block.index)

    def issue(self, block: int, copies: Sequence[Copy], store: bool) -> Issue:
        """Who issues the access of that block of the PTX which came out as these copies."""
        if not copies:
            return Issue(block)
        arms = {None if store else self._arm(block, copy) for copy in copies}
        arm = arms.pop()
        if not arms and arm is not None:
            return Issue(arm, sunk=True)
        plain = [copy for copy in copies if not copy.instruction.guard]
        predicated = [copy for copy in copies if copy.instruction.guard]
        if plain:
            return Issue(block, loop=self._unrolled(block, plain, predicated))
        outermost = {self._outermost(block, copy) for copy in predicated}
        return Issue(outermost.pop()) if len(outermost) == 1 else Issue(block)

    def _lines(self, block: int) -> set[int]:
        """PTX lines of the branches that decide about a block."""
        return {self._branch[parent] for parent in self._graph.all_parents(block)}

    def _outermost(self, block: int, copy: Copy) -> int:
        """The outermost block whose warps all issue the instruction: past every branch that became a predicate."""
        graph = self._graph
        while True:
            parents = graph.parents(block)
            if not parents or any(self._branch[parent] in copy.branches for parent in parents):
                return block
            first = next((p for p in parents if all(graph.dominates(p, other) for other in parents)), None)
            if first is None or first == block or not graph.dominates(first, block):
                return block
            block = first

    def _arm(self, block: int, copy: Copy) -> int | None:
        """The block behind a later branch that the instruction was sunk into, if it was."""
        graph = self._graph
        later = copy.branches - self._lines(block)
        branches = [b for b, line in enumerate(self._branch) if line in later and graph.dominates(block, b)]
        if not branches:
            return None
        last = max(branches, key=lambda b: len(graph.all_parents(b).intersection(branches)))
        arms = [
            arm
            for arm in graph.follow[last]
            if last in graph.parents(arm) and graph.dominates(last, arm) and not graph.dominates(arm, last)
        ]
        near = [b for line in copy.near for b in self._blocks_at.get(line, ())]
        return max(arms, key=lambda arm: sum(graph.dominates(arm, b) for b in near), default=None)

    def _unrolled(self, block: int, plain: Sequence[Copy], predicated: Sequence[Copy]) -> UnrolledLoop | None:
        """The loop, if the copies are the stages of one: each a basic block, with half the turns of the one before."""
        graph = self._graph
        sizes = sorted(Counter(copy.group for copy in plain).values(), reverse=True) + [1] * len(predicated)
        if len(sizes) < 2 or sizes[-1] != 1 or any(a != 2 * b for a, b in pairwise(sizes)):
            return None
        loops = [
            (head, latch)
            for latch, targets in enumerate(graph.follow)
            for head in targets
            if graph.dominates(head, latch) and graph.dominates(head, block) and graph.dominates(block, latch)
        ]
        if not loops:
            return None
        head, latch = max(loops, key=lambda loop: loop[0])
        entries = [b for b in graph.before[head] if not graph.dominates(head, b)]
        outside = self._lines(head) - {self._branch[latch]}
        if len(entries) != 1 or any(not copy.branches <= outside for copy in predicated):
            return None
        return UnrolledLoop(entries[0], block, tuple(sizes), bool(predicated))


def _successors(image: Image, blocks: Sequence[Block]) -> list[tuple[int, ...]]:
    """Where control may go after each block; the number after the last stands for the end."""
    follow = []
    for block in blocks:
        guarded = image.instructions[block.stop - 1].guard is not None
        targets = list(block.targets)
        if block.end in ("exit", "trap"):
            targets.append(len(blocks))
        if block.end in ("fall", "barrier", "assert") or guarded:
            targets.append(block.index + 1)
        follow.append(tuple(dict.fromkeys(targets)))
    return follow


def copies_in(function: MachineFunction) -> Iterator[Copy]:
    """Every instruction of a function, in its surroundings."""
    instructions = function.instructions
    number = {instruction.address: n for n, instruction in enumerate(instructions)}
    starts = {0, *(number[t] for i in instructions for t in i.targets if t in number)}
    starts |= {n + 1 for n, instruction in enumerate(instructions) if instruction.opcode in _JUMPS}
    ordered = sorted(start for start in starts if start < len(instructions))
    stops = [*ordered[1:], len(instructions)]
    at = {start: block for block, start in enumerate((*ordered, len(instructions)))}
    follow = []
    for stop in stops:
        last = instructions[stop - 1]
        targets = [at[number[t]] for t in last.targets if t in number] if last.opcode in _JUMPS else []
        if last.opcode in _LEAVING:
            targets = [len(ordered)]
        if last.opcode not in _JUMPS or _conditional(last):
            targets.append(at[stop])
        follow.append(tuple(dict.fromkeys(targets)))
    graph = ControlGraph(follow)
    for block, (start, stop) in enumerate(zip(ordered, stops, strict=True)):
        branches = frozenset(instructions[stops[b] - 1].ptx_line for b in graph.all_parents(block))
        near = frozenset(instruction.ptx_line for instruction in instructions[start:stop])
        yield from (
            Copy(instruction, branches, instructions[start].address, near) for instruction in instructions[start:stop]
        )


def _conditional(jump: MachineInstruction) -> bool:
    """A guard, or a predicate as an operand (``BRA.U UP0, label``)."""
    return bool(jump.guard) or any(_PREDICATE.fullmatch(operand) for operand in jump.operands)
