"""Which warps issue a machine instruction that was made from a PTX instruction.

The answer follows from the branches that decide about each of the two. :mod:`softlab.instruments.machine_code` has the
rules and the evidence for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from softlab.cuda.machine_instructions import MachineFunction, MachineInstruction
from softlab.emulator.machine.flow import Block
from softlab.emulator.ptx.linker import Image
from softlab.instruments.control import ControlGraph
from softlab.instruments.machine_graph import JUMPS, LEAVING, is_conditional


@dataclass(frozen=True)
class MachineSite:
    """One machine instruction, and what surrounds it.

    ``branches``: PTX lines of all branches that decide whether it is issued; ``group``: address of the first
    instruction of its basic block; ``near``: PTX lines of the instructions of that block.
    """

    instruction: MachineInstruction
    branches: frozenset[int]
    group: int
    near: frozenset[int]


@dataclass(frozen=True)
class UnrolledLoop:
    """A loop of the PTX that the machine code runs in stages.

    ``entry``: the block before the loop; ``body``: a block that runs in every iteration; ``stages``: iterations per
    stage, such as (4, 2, 1), of which the first repeats and the others run once; ``predicated``: the last stage is
    always issued, needed or not.
    """

    entry: int
    body: int
    stages: tuple[int, ...]
    predicated: bool


@dataclass(frozen=True)
class Issue:
    """Who issues an access: the warps of block ``block`` of the PTX.

    ``sunk``: the lanes of that block take part, too, and not those of the block in which the PTX has the access;
    ``loop``: the unrolled loop around the access, if there is one.
    """

    block: int
    sunk: bool = False
    loop: UnrolledLoop | None = None


class IssueFinder:
    """Finds the warps that issue each access of one kernel."""

    def __init__(self, image: Image, blocks: Sequence[Block]) -> None:
        self._graph = ControlGraph(successors(image, blocks))
        self._branch = [image.instructions[b.stop - 1].line for b in blocks]
        self._blocks_at: dict[int, set[int]] = {}
        for block in blocks:
            for instruction in image.instructions[block.start : block.stop]:
                self._blocks_at.setdefault(instruction.line, set()).add(block.index)

    def issue(self, block: int, copies: Sequence[MachineSite], store: bool) -> Issue:
        """Who issues an access of that PTX block: ``copies`` are the machine instructions made from it."""
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

    def _outermost(self, block: int, copy: MachineSite) -> int:
        """The outermost block whose warps all issue the instruction: outside every branch that became a predicate."""
        graph = self._graph
        while True:
            parents = graph.parents(block)
            if not parents or any(self._branch[parent] in copy.branches for parent in parents):
                return block
            first = next((p for p in parents if all(graph.dominates(p, other) for other in parents)), None)
            if first is None or first == block or not graph.dominates(first, block):
                return block
            block = first

    def _arm(self, block: int, copy: MachineSite) -> int | None:
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

    def _unrolled(
        self, block: int, plain: Sequence[MachineSite], predicated: Sequence[MachineSite]
    ) -> UnrolledLoop | None:
        """The loop, if the copies are its stages: each stage is a basic block with half the iterations of the last."""
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
        around = self._lines(head) - {self._branch[latch]}
        if len(entries) != 1 or any(not copy.branches <= around for copy in predicated):
            return None
        return UnrolledLoop(entries[0], block, tuple(sizes), bool(predicated))


def successors(image: Image, blocks: Sequence[Block]) -> list[tuple[int, ...]]:
    """Where control may go after each block. The number after the last block stands for the end."""
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


def machine_sites(function: MachineFunction) -> Iterator[MachineSite]:
    """Every instruction of a function, with what surrounds it."""
    instructions = function.instructions
    number = {instruction.address: n for n, instruction in enumerate(instructions)}
    starts = {0, *(number[t] for i in instructions for t in i.targets if t in number)}
    starts |= {n + 1 for n, instruction in enumerate(instructions) if instruction.opcode in JUMPS}
    ordered = sorted(start for start in starts if start < len(instructions))
    stops = [*ordered[1:], len(instructions)]
    at = {start: block for block, start in enumerate((*ordered, len(instructions)))}
    follow = []
    for stop in stops:
        last = instructions[stop - 1]
        targets = [at[number[t]] for t in last.targets if t in number] if last.opcode in JUMPS else []
        if last.opcode in LEAVING:
            targets = [len(ordered)]
        if last.opcode not in JUMPS or is_conditional(last):
            targets.append(at[stop])
        follow.append(tuple(dict.fromkeys(targets)))
    graph = ControlGraph(follow)
    for block, (start, stop) in enumerate(zip(ordered, stops, strict=True)):
        branches = frozenset(instructions[stops[b] - 1].ptx_line for b in graph.all_parents(block))
        near = frozenset(instruction.ptx_line for instruction in instructions[start:stop])
        yield from (
            MachineSite(instruction, branches, instructions[start].address, near)
            for instruction in instructions[start:stop]
        )
