"""How often each machine instruction of a kernel runs, from what its PTX does.

The blocks of the machine code are not those of the PTX: the assembler turns short branches into predicates, unrolls
loops, moves code out of loops and adds instructions that the PTX does not have. But each conditional jump of the
machine code has the PTX line of a conditional branch, so a warp takes it as often as it takes that branch in the PTX.
All other counts follow from these, because what goes into a block comes out of it:

1. The first block runs once per warp.
2. A conditional jump with the line of a PTX branch sends as many warps to each side as that branch does. A warp whose
   lanes part counts on both sides. The side that leads to the code of the PTX target is the PTX branch that is taken.
3. A block runs as often as control comes to it. Behind a ``BSYNC`` the lanes that parted are one warp again, so that
   block runs as often as the one with the ``BSSY``.
4. An unrolled loop has several jumps with the line of one PTX branch. They follow from the iterations of each lane
   (:mod:`softlab.instruments.trips`) and from the iterations that each stage holds
   (:mod:`softlab.instruments.copies`).
5. A jump that the assembler adds inside one PTX instruction leads to code for rare operands, as those of a division of
   zero. It counts as never taken, and the run remarks it (``rare``). ``BRA.U.ANY`` repeats an instruction that takes
   one operand per warp, such as a copy by a tensor map, where lanes have different ones. It counts as never taken, too.
   A loop that the assembler adds repeats an atomic until each lane had its turn. Other warps at the same address cost
   more turns on a GPU, in every run others, so these turns are ``estimated``.
6. A block that is entered through a jump table, or about which these rules say nothing, runs as often as the PTX block
   from which most of its instructions come. Instructions of such blocks are ``estimated``, and so is what follows.
7. Of a loop that waits at an mbarrier the first question stands apart. Where the emulator asks again, each question is
   one of the loop behind it, and ``estimated``: on a GPU their number depends on the time.

A predicated instruction counts for the whole warp, as ``smsp__inst_executed`` counts it.

``tests/instruments/test_unrolled_executions.py`` holds loops of many kinds to the interpreted machine code.

Evidence (``tests/hardware``): Nsight Compute's ``smsp__inst_executed`` on an H200. Of 198 launches 178 are equal and 2
differ by 0.01 and 0.7 %. The other 18 repeat a compare-and-swap: how often depends on other warps and on the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from softlab.cuda.machine_instructions import Disassembly, MachineInstruction
from softlab.emulator.machine.flow import Block
from softlab.emulator.ptx.linker import Image
from softlab.instruments.branches import PtxBranches
from softlab.instruments.copies import likely_copies, told_copies
from softlab.instruments.machine_graph import MachineBlock, MachineGraph
from softlab.instruments.tensor_instructions import TENSOR_OPCODES
from softlab.instruments.trips import Loop, Stage


@dataclass(frozen=True)
class Runs:
    """Warps that run a block of the PTX."""

    block: int


@dataclass(frozen=True)
class Edge:
    """Warps that go from one block of the PTX to another."""

    block: int
    target: int


@dataclass(frozen=True)
class Turns:
    """How often warps repeat an atomic of the PTX until each lane had its turn, more than once."""

    instruction: int


#: Counter -> the opcodes that it counts.
_COUNTED: Mapping[str, tuple[str, ...]] = {"shared_atomic_instructions": ("ATOMS",), **TENSOR_OPCODES}

Source = Runs | Edge | Stage | Turns
#: A count as a sum: source -> how many times it is added.
_Sum = Mapping[Source, int]


@dataclass(frozen=True)
class Sums:
    """Sums of few sources each: ``rows`` are those that have any, and their terms begin at ``starts``."""

    count: int
    rows: np.ndarray
    starts: np.ndarray
    source: np.ndarray
    times: np.ndarray

    @classmethod
    def of(cls, terms: np.ndarray) -> Sums:
        """Of (rows, sources) factors, most of which are 0."""
        row, source = np.nonzero(terms)
        rows, starts = np.unique(row, return_index=True)
        return cls(len(terms), rows, starts, source, terms[row, source])

    def total(self, values: np.ndarray) -> np.ndarray:
        """The sum of each row: the matrix times ``values`` (sources,)."""
        found = np.zeros(self.count, np.int64)
        if len(self.rows):
            found[self.rows] = np.add.reduceat(values[self.source] * self.times, self.starts)
        return found


@dataclass(frozen=True)
class Executions:
    """Executed machine instructions as sums of what a run counts.

    ``sources``: what is counted; ``terms``: counter -> (instructions of the PTX, sources), how often each source is
    added to the machine instructions made from a PTX instruction; ``estimated`` (sources,): the part of all
    instructions that is not certain; ``rare``: the instructions of the PTX whose code for rare operands counts as never
    run (rule 5).
    """

    sources: tuple[Source, ...]
    terms: Mapping[str, np.ndarray]
    estimated: np.ndarray
    rare: tuple[int, ...]

    @cached_property
    def answers(self) -> dict[tuple[Loop, bytes], tuple[int, ...]]:
        """What the stages of loops answered for iterations that came before: of all runs."""
        return {}

    @cached_property
    def sums(self) -> dict[str, Sums]:
        """The terms that are not 0."""
        return {name: Sums.of(terms) for name, terms in self.terms.items()}

    @cached_property
    def loops(self) -> dict[Loop, list[Stage]]:
        """The unrolled loops and what is asked about each."""
        found: dict[Loop, list[Stage]] = {}
        for source in self.sources:
            if isinstance(source, Stage):
                found.setdefault(source.loop, []).append(source)
        return found


def executions(image: Image, blocks: Sequence[Block], code: Disassembly) -> Executions:
    """The executions of every machine instruction of the kernel. ``code`` is of the same compilation as the PTX."""
    solver = _Solver(image, blocks, MachineGraph(code.kernel))
    counts = solver.solve()
    sources = tuple(dict.fromkeys(source for count in counts.values() for source in count))
    column = {source: number for number, source in enumerate(sources)}
    terms = {name: np.zeros((len(image.instructions), len(sources)), np.int64) for name in ("instructions", *_COUNTED)}
    estimated = np.zeros(len(sources), np.int64)
    index_of = {i.line: n for n, i in reversed(list(enumerate(image.instructions))) if i.text}
    for block in solver.graph.blocks:
        count = counts.get(block.index, {})
        uncertain = block.index in solver.estimated or any(isinstance(source, Turns) for source in count)
        for source, times in count.items():
            for instruction in block.instructions:
                for name in _counters_of(instruction):
                    terms[name][index_of.get(instruction.ptx_line, 0), column[source]] += times
            if uncertain:
                estimated[column[source]] += times * len(block.instructions)
    for line, source, times in solver.repeated_jumps():
        terms["instructions"][index_of.get(line, 0), column[source]] += times
    rare = tuple(sorted({index_of[line] for line in solver.rare if line in index_of}))
    return Executions(sources, terms, estimated, rare)


def _counters_of(instruction: MachineInstruction) -> tuple[str, ...]:
    return "instructions", *(name for name, opcodes in _COUNTED.items() if instruction.opcode in opcodes)


class _Solver:
    """Finds the count of each block and of each edge between blocks."""

    def __init__(self, image: Image, blocks: Sequence[Block], graph: MachineGraph) -> None:
        self.graph = graph
        #: Blocks whose count is not certain.
        self.estimated: set[int] = set()
        #: PTX lines of instructions with a jump to code for rare operands.
        self.rare: set[int] = set()
        self._branches = PtxBranches(image, blocks)
        self._counts: dict[int, _Sum] = {}
        self._edges: dict[tuple[int, int], _Sum] = {}
        #: Edges whose count is that of the block where they begin.
        self._passed_on: set[tuple[int, int]] = set()
        #: First blocks of last stages that are loops.
        self._tails: set[int] = set()
        self._atomics = {i.line: n for n, i in enumerate(image.instructions) if i.opcode in ("atom", "red")}
        self._parts = [self._branches.blocks_of(block.instructions) for block in graph.blocks]

    def solve(self) -> dict[int, _Sum]:
        """Block of the machine code -> its count. A block that nothing reaches is left out."""
        waits = self._waits()
        found = self._jumps(waits)
        for line, copies in found.items():
            if len(copies) == 1:
                self._branch(self._branches.at(line), copies[0])
            else:
                self._unrolled(line, copies)
        for block in self.graph.blocks:
            if block.branches and not self._branches.has(block.last.ptx_line) and block.index not in waits:
                self._other_jump(block, found)
        self._counts[0] = {Runs(0): 1}
        while self._propagate() or self._estimate():
            pass
        self._spread_doubt()
        return self._counts

    def repeated_jumps(self) -> list[tuple[int, Source, int]]:
        """(PTX line, source, times) of what jumps by table add: they run once per target that lanes of a warp take."""
        jumps = [b for b in self.graph.blocks if b.by_table and b.index in self._counts]
        if not jumps:
            return []
        line = jumps[0].last.ptx_line
        targets = [b for b in sorted(self.estimated) if not self.graph.before[b]]
        once = [(line, source, -times) for b in jumps for source, times in self._counts[b.index].items()]
        return once + [(line, source, times) for b in targets for source, times in self._counts[b].items()]

    def _jumps(self, known: Set[int]) -> dict[int, list[MachineBlock]]:
        """PTX line of a conditional branch -> the blocks that end with a jump made from it, and are not known."""
        found: dict[int, list[MachineBlock]] = {}
        for block in self.graph.blocks:
            if block.branches and self._branches.has(block.last.ptx_line) and block.index not in known:
                found.setdefault(block.last.ptx_line, []).append(block)
        return found

    def _branch(self, branch: int, block: MachineBlock) -> None:
        """Rule 2."""
        same = self._same_sense(block, branch)
        if same is None or block.fall is None:
            return
        alike = self._branches.alike(branch)
        taken: _Sum = {Edge(b, self._branches.taken(b)): 1 for b in alike}
        other: _Sum = {Edge(b, b + 1): 1 for b in alike}
        size = self._copies(block.index, branch)
        loop = self._branches.loop(branch)
        if size > 1 and loop is not None and block.taken is not None and self.graph.dominates(block.taken, block.index):
            self._edges[block.index, block.taken] = self._stage(branch, "again", size)
            self._edges[block.index, block.fall] = self._stage(branch, "leaves", size)
            return
        if not same:
            taken, other = other, taken
        if block.taken is not None:
            self._edges[block.index, block.taken] = taken
        self._edges[block.index, block.fall] = other

    def _same_sense(self, block: MachineBlock, branch: int) -> bool | None:
        """Whether the jump is taken where the PTX branch is; None if that cannot be told."""
        target, behind = self._branches.taken(branch), branch + 1
        if block.leaves:
            ends = self._branches.is_end(target), self._branches.is_end(behind)
            if ends[0] != ends[1]:
                return ends[0]
        else:
            back = self._branches.is_back(branch, target), self._branches.is_back(branch, behind)
            machine_back = [t is not None and self.graph.dominates(t, block.index) for t in (block.taken, block.fall)]
            if sum(back) == 1 and sum(machine_back) == 1:
                return back[0] == machine_back[0]
        only_taken, only_behind = (
            self._branches.only_through(branch, target),
            self._branches.only_through(branch, behind),
        )
        score = 0
        for sign, side in ((1, block.taken), (-1, block.fall)):
            for inner in self.graph.dominated(side, block.index) if side is not None else ():
                for part, times in self._parts[inner].items():
                    score += sign * times * ((part in only_taken) - (part in only_behind))
        return score > 0 if score else None

    def _unrolled(self, line: int, copies: Sequence[MachineBlock]) -> None:
        """Rule 4: the jump that repeats the first stage, and those that skip a stage, in the order of the code."""
        branch = self._branches.at(line)
        loop = self._branches.loop(branch)
        back = [c for c in copies if c.taken is not None and self.graph.dominates(c.taken, c.index)]
        if loop is None or not back:
            return
        first = back[0]
        if first.taken is None or first.fall is None:
            return
        size = self._copies(first.index, branch)
        if not size:
            size = likely_copies(self.graph.blocks[first.index].instructions, branch, self._branches)
            self.estimated |= {first.index, *(c.fall for c in copies if c.fall is not None)}
        self._edges[first.index, first.taken] = self._stage(branch, "again", size)
        self._edges[first.index, first.fall] = self._stage(branch, "leaves", size)
        before = 0
        for last in back[1:]:  # the last stage is a loop again, though one iteration is all that can be left
            if last.taken is not None:
                self._edges[last.index, last.taken] = {}
                self._tails.add(last.taken)
        for guard in (c for c in copies if c not in back):
            before = before and (self._copies(guard.index, branch) or before)  # a stage of predicated instructions
            if guard.fall is not None:
                behind = self._behind_joins(guard.fall)
                stage = size if not before else self._copies(behind, branch) or max(1, before // 2)
                self._edges[guard.index, guard.fall] = self._stage(branch, "enters", stage, before)
                if guard.taken is not None:
                    self._edges[guard.index, guard.taken] = self._stage(branch, "skips", stage, before)
                before = stage

    def _waits(self) -> set[int]:
        """Rule 7. The blocks whose jumps it explains."""
        found: set[int] = set()
        asking = {b.index for b in self.graph.blocks if any("TRYWAIT" in i.modifiers for i in b.instructions)}
        for again in self.graph.blocks:
            firsts = [b for b in self.graph.before[again.index] if b != again.index]
            if again.taken != again.index or not {again.index, *firsts} <= asking or len(firsts) != 1:
                continue
            first = self.graph.blocks[firsts[0]]
            if first.fall is None or again.fall is None or not self._branches.has(again.last.ptx_line):
                continue
            repeats: Counter[Source] = Counter()
            ends: Counter[Source] = Counter()
            for one in self._branches.alike(self._branches.at(again.last.ptx_line)):
                for target in (self._branches.taken(one), one + 1):
                    (repeats if self._branches.is_back(one, target) else ends)[Edge(one, target)] += 1
            ends.subtract(repeats)
            self._edges[first.index, again.index] = self._edges[again.index, again.fall] = repeats
            self._edges[first.index, first.fall] = ends
            self._edges[again.index, again.index] = {}
            self.estimated.add(again.index)
            found |= {first.index, again.index}
        return found

    def _behind_joins(self, index: int) -> int:
        """The block where work begins: behind blocks that only join lanes or begin a part that will be joined."""
        block = self.graph.blocks[index]
        while all(i.opcode in ("BSYNC", "BSSY") for i in block.instructions) and block.fall is not None:
            block = self.graph.blocks[block.fall]
        return block.index

    def _stage(self, branch: int, question: str, size: int, before: int = 0) -> _Sum:
        loops = [self._branches.loop(b) for b in self._branches.alike(branch)]
        return {Stage(loop, question, size, before): 1 for loop in loops if loop is not None}

    def _copies(self, index: int, branch: int) -> int:
        """How many iterations of the branch's loop a block of the machine code holds; 0 if that cannot be told."""
        return told_copies(self.graph.blocks[index].instructions, branch, self._branches)

    def _other_jump(self, block: MachineBlock, known: Mapping[int, object]) -> None:
        """A jump without the line of a PTX branch."""
        if not self._internal(block):
            self._merged(block, known)

    def _internal(self, block: MachineBlock) -> bool:
        """Rule 5. Whether it applies."""
        taken, fall = block.taken, block.fall
        if fall is not None and any(i.opcode == "ATOM" for i in block.instructions):
            self._edges[block.index, fall] = {}  # what follows is for addresses that are not global
            return True
        if taken is None or fall is None:
            return False
        index = self._atomics.get(block.last.ptx_line)
        if {"DIV", "ANY"} & set(block.last.modifiers) or self._behind_joins(taken) in self._tails:
            self._edges[block.index, taken] = {}
        elif index is not None and self.graph.dominates(taken, block.index) and not self._generic(block):
            self._edges[block.index, taken] = {Turns(index): 1}
            # In each turn the lanes that succeed leave the loop.
            self._edges[block.index, fall] = {Turns(index): 1, Runs(self._branches.block_of(index)): 1}
        elif (called := next((side for side in (fall, taken) if self._calls(side, block.index)), None)) is not None:
            self._edges[block.index, called] = {}
            self.rare.add(block.last.ptx_line)
        else:
            return False
        return True

    def _generic(self, block: MachineBlock) -> bool:
        """Whether the block ends in an atomic on an address that may be global."""
        line = block.last.ptx_line
        return any(i.opcode == "ATOM" and i.ptx_line == line for b in self.graph.blocks for i in b.instructions)

    def _merged(self, block: MachineBlock, known: Mapping[int, object]) -> None:
        """A jump whose condition comes from other code: it may be the PTX branch of its block that has no jump."""
        for branch in self._branches.branches():
            if branch in self._parts[block.index] and self._branches.line(branch) not in known:
                self._branch(branch, block)
                if any((block.index, t) in self._edges for t in block.follow):
                    return

    def _calls(self, start: int, after: int) -> bool:
        """Whether the code that only this edge leads to calls a function."""
        return any(self.graph.blocks[b].calls is not None for b in self.graph.dominated(start, after))

    def _propagate(self) -> bool:
        """Rule 3, once over all blocks. Whether anything new is known."""
        changed = False
        for block in self.graph.blocks:
            if block.index not in self._counts:
                found = self._arriving(block)
                if found is not None:
                    self._counts[block.index] = found
                    changed = True
            if block.index in self._counts:
                changed |= self._leaving(block)
        return changed

    def _arriving(self, block: MachineBlock) -> _Sum | None:
        before = self.graph.before[block.index]
        together = self.graph.joined.get(block.index)
        if together is not None:
            before = [b for b in before if not self.graph.blocks[b].synchronizes]
            if together not in self._counts:
                return None
            if self._leaks(together, block.index) and self._parts[block.index]:
                return self._leaked(block)
        edges = [self._edges.get((b, block.index)) for b in before]
        if together is not None:
            edges.append(self._counts[together])
        callers = [b.index for b in self.graph.blocks if b.calls == block.index] if not before else []
        edges += [self._counts.get(b) for b in callers]
        known = [edge for edge in edges if edge is not None]
        if before and together is None and not any(known) and len(known) < len(edges):
            entries = [b for b in before if not self.graph.dominates(block.index, b)]
            if all((b, block.index) in self._edges for b in entries):
                return {}  # a loop that is never entered
        return _total(known) if edges and len(known) == len(edges) else None

    def _leaked(self, block: MachineBlock) -> _Sum | None:
        """The count of a block that joins lanes some of which never come.

        Where all that come do so over one edge they are together already. Elsewhere most of its code tells.
        """
        entries = [b for b in self.graph.before[block.index] if not self.graph.dominates(block.index, b)]
        if len(entries) == 1 and self.graph.blocks[entries[0]].synchronizes:
            arriving = [self._edges.get((b, entries[0])) for b in self.graph.before[entries[0]]]
            if None in arriving:
                return None
            if len(used := [edge for edge in arriving if edge]) == 1:
                return used[0]
        return {Runs(self._parts[block.index].most_common(1)[0][0]): 1}

    def _leaks(self, start: int, join: int) -> bool:
        """Whether lanes that part behind the first block may never come to the join."""
        address = self.graph.blocks[join].instructions[0].address
        begins = [i for i in self.graph.blocks[start].instructions if i.opcode == "BSSY" and address in i.targets]
        barriers = {i.operands[0] for i in begins}
        return any(
            any(i.opcode == "EXIT" or (i.opcode == "BREAK" and i.operands[0] in barriers) for i in block.instructions)
            for block in self.graph.blocks
            if self.graph.dominates(start, block.index) and not self.graph.dominates(join, block.index)
        )

    def _leaving(self, block: MachineBlock) -> bool:
        """What goes out of a block without a choice, or with one side that is never taken."""
        missing = [t for t in block.follow if (block.index, t) not in self._edges]
        if missing and not self._counts[block.index]:  # never runs, so whatever follows does not either
            self._edges.update({(block.index, t): {} for t in missing})
            return True
        other = [self._edges[block.index, t] for t in block.follow if t not in missing]
        if len(missing) != 1 or any(other) or (block.branches and not other):
            return False
        self._edges[block.index, missing[0]] = self._counts[block.index]
        self._passed_on.add((block.index, missing[0]))
        return True

    def _estimate(self) -> bool:
        """Rule 6, for one block. False if there is none left."""
        called = {b.calls for b in self.graph.blocks}
        unknown = [b.index for b in self.graph.blocks if b.index not in self._counts and self._parts[b.index]]
        entered = [b for b in unknown if not self.graph.before[b] and b not in called]
        reached = [b for b in unknown if any(a in self._counts for a in self.graph.before[b])]
        for index in (*entered, *reached):
            part = self._parts[index].most_common(1)[0][0]
            self._counts[index] = {Runs(part): 1}
            self.estimated.add(index)
            return True
        return False

    def _spread_doubt(self) -> None:
        """What comes from a block whose count is not certain is not either, up to where lanes are one warp again."""
        waiting = list(self.estimated)
        while waiting:
            index = waiting.pop()
            for other in self.graph.blocks[index].follow:
                known = other in self.estimated or other in self.graph.joined
                if not known and (index, other) in self._passed_on:
                    self.estimated.add(other)
                    waiting.append(other)


def _total(counts: Iterable[_Sum]) -> _Sum:
    total: Counter[Source] = Counter()
    for count in counts:
        total.update(count)
    return total
