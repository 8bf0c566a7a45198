"""The conditional branches of a kernel's PTX, as the machine code refers to them by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from softlab.cuda.machine_instructions import MachineInstruction
from softlab.emulator.machine.flow import Block
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Immediate
from softlab.instruments.control import ControlGraph
from softlab.instruments.issue import successors
from softlab.instruments.trips import Loop


class PtxBranches:
    """Lines, blocks, branches and loops of the PTX of one kernel. A branch is the index of the block that it ends."""

    def __init__(self, image: Image, blocks: Sequence[Block]) -> None:
        self._blocks = blocks
        self._instructions = image.instructions
        self._graph = ControlGraph(successors(image, blocks))
        self._block_of = [b.index for b in blocks for _ in range(b.start, b.stop)]
        self._block_at: dict[int, int] = {}
        self._branch_at: dict[int, int] = {}
        #: Branch -> the branches with the same line: a function that is called several times is there several times.
        self._alike: dict[int, list[int]] = {}
        for block in blocks:
            for instruction in image.instructions[block.start : block.stop]:
                if instruction.text:
                    self._block_at.setdefault(instruction.line, block.index)
            last = image.instructions[block.stop - 1]
            if block.end == "branch" and last.guard is not None:
                first = self._branch_at.setdefault(last.line, block.index)
                self._alike.setdefault(first, []).append(block.index)
        for block in blocks:
            last = image.instructions[block.stop - 1]
            before = self._graph.before[block.index]
            alone = block.end == "branch" and last.guard is None and block.stop - block.start == 1
            if alone and len(before) == 1 and before[0] in self._branch_at.values():
                # A branch that jumps to a jump: the assembler makes one of both, which may have either line.
                self._branch_at.setdefault(last.line, before[0])

    def has(self, line: int) -> bool:
        """Whether the line is that of a conditional branch."""
        return line in self._branch_at

    def at(self, line: int) -> int:
        """The branch with this line."""
        return self._branch_at[line]

    def alike(self, branch: int) -> list[int]:
        """The branch and its copies in other inlined calls of the same function."""
        return self._alike[branch]

    def branches(self) -> list[int]:
        """All branches, without copies."""
        return list(self._alike)

    def line(self, branch: int) -> int:
        """The line of the branch."""
        return next(line for line, found in self._branch_at.items() if found == branch)

    def block_at(self, line: int) -> int | None:
        """The block that has the line."""
        return self._block_at.get(line)

    def block_of(self, index: int) -> int:
        """The block of the instruction with this index."""
        return self._block_of[index]

    def blocks_of(self, instructions: Iterable[MachineInstruction]) -> Counter[int]:
        """Block of the PTX -> how many of the machine instructions come from it."""
        return Counter(self._block_at[i.ptx_line] for i in instructions if i.ptx_line in self._block_at)

    def taken(self, branch: int) -> int:
        """The block to which the branch jumps."""
        return self._blocks[branch].targets[0]

    def is_end(self, block: int) -> bool:
        """Whether a thread that comes to the block does nothing more."""
        if block == len(self._blocks):
            return True
        found = self._blocks[block]
        return found.end == "exit" and found.stop - found.start == 1

    def is_back(self, branch: int, target: int) -> bool:
        """Whether the branch goes back to the beginning of a loop if it goes to the target."""
        return target < len(self._blocks) and self._graph.dominates(target, branch)

    def only_through(self, branch: int, target: int) -> set[int]:
        """The blocks to which a thread comes only if the branch goes to the target."""
        if target >= len(self._blocks):
            return set()
        others = [b for b in self._graph.before[target] if b != branch and not self._graph.dominates(target, b)]
        if others:
            return set()
        return {b.index for b in self._blocks if self._graph.dominates(target, b.index)}

    def body(self, branch: int) -> set[int]:
        """The blocks of the loop that the branch repeats; none if it repeats no loop."""
        head = self._head(branch)
        if head is None:
            return set()
        return {b.index for b in self._blocks if self._graph.dominates(head, b.index) and b.index <= branch}

    def steps(self, branch: int) -> dict[int, int]:
        """Line of an addition in the loop's body -> the constant by which it steps a register per iteration."""
        found: dict[int, int] = {}
        inside = [
            i for b in self.body(branch) for i in self._instructions[self._blocks[b].start : self._blocks[b].stop]
        ]
        moved = {(i.operands[0], i.operands[1]) for i in inside if i.opcode == "mov"}
        for instruction in inside:
            if instruction.opcode != "add" or instruction.guard is not None:
                continue
            to, register, step = instruction.operands
            whole = isinstance(step, Immediate) and isinstance(step.value, int) and step.value
            if whole and register in (to, *(kept for kept, value in moved if value == to)):
                found[instruction.line] = whole
        return found

    def loop(self, branch: int) -> Loop | None:
        """The loop that the branch repeats."""
        head = self._head(branch)
        if head is None:
            return None
        entries = tuple(b for b in self._graph.before[head] if not self._graph.dominates(head, b))
        return Loop(entries, branch)

    def _head(self, branch: int) -> int | None:
        return next((t for t in (self.taken(branch), branch + 1) if self.is_back(branch, t)), None)
