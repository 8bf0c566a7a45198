"""What the assembler made of each memory access of the PTX: the width and the warps that issue it.

``ptxas`` turns PTX into machine code, and a load or store may come out different. Seen in the cubins of NVRTC 12.9 for
sm_90, and in Nsight Compute's counters of the same cubins on an H200:

*Fusion.* Loads (or stores) of one block of straight code whose addresses lie in one aligned run of 8 or 16 bytes become
one access: 32 shared loads of a 16 x 16 matrix product become 16 ``LDS`` and 4 ``LDS.128``, and eight ``st.shared.f32``
side by side two ``STS.128``. It may even read a word that nobody asked for, to reach an aligned start. The wide
access keeps the PTX line of one of its parts (the first load, the last store); the others have no machine code left.
Since a wide access must be aligned to its width, its address is that part's rounded down.

*If-conversion.* A short block behind a branch becomes predicated instructions in the block before it. The hardware
counts an instruction once for each warp that issues it, also where the predicate leaves no lane; wavefronts, requests
and sectors come from lanes alone. So ``if (thread < 16) partial[thread] += ...`` counts as a shared load in all eight
warps of a block, although seven have nothing to load.

*Removal.* A load whose value is known already, or that nobody needs, is left out.

The cubin says for every machine instruction which PTX line it was made from (:mod:`softlab.disassembly`), so that none
of this is guessed: an access has the widths of the instructions of its line; one without any costs nothing. Which warps
issue a predicated instruction follows from control dependence: going outwards from the block that the PTX has it in,
each branch on which the machine instruction does not depend any more was if-converted, and the warps that come to that
branch issue it. Where copies of one access (unrolled loops) disagree, the PTX stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from softlab.disassembly import Disassembly, MachineFunction, MachineInstruction
from softlab.emulator.flow import Block, uses_and_definitions
from softlab.emulator.lanes import Value
from softlab.emulator.linker import Image
from softlab.emulator.memory import Site
from softlab.emulator.ptx import DTYPES, Address, Instruction, Operand, Register, Symbol
from softlab.traces import FusedAccess

#: Opcodes of SASS after which control does not come to the next instruction, and those that leave the function.
_JUMPS = ("BRA", "BRX", "JMP", "JMX", "BRXU", "JMXU", "RET", "EXIT", "KILL", "BREAK")
_LEAVING = ("RET", "EXIT", "KILL")
_PREDICATE = re.compile(r"!?U?P\d+")
#: Machine spaces that an access of the PTX may come out in: an address of unknown space may be found out.
_SPACES = {
    "shared": ("shared",),
    "global": ("global",),
    "generic": ("generic", "shared", "global"),
}


@dataclass(frozen=True)
class MachineAccess:
    """What became of one load or store of the PTX.

    ``index`` of the PTX instruction and ``ptx_width``, the bytes a lane that it moves; ``machine`` the instructions
    made from it; ``width`` the bytes a lane that they move, 0 where there is none; ``carrier`` the index of the PTX
    instruction whose machine access moves its data: its own, that of the access it was fused into, or None where it
    was left out; ``issued_with`` the index of the block of the PTX whose warps issue it.
    """

    index: int
    ptx_width: int
    machine: tuple[MachineInstruction, ...]
    width: int
    carrier: int | None
    issued_with: int


@dataclass(frozen=True)
class MachineCode:
    """The accesses of a kernel as machine code: index of the PTX instruction -> :class:`MachineAccess`.

    An access that is not in it could not be told, and counts as the PTX has it.
    """

    accesses: Mapping[int, MachineAccess]

    def access(self, site: Site, address: Value) -> tuple[Site, Value] | None:
        """(site, address) of the machine's access for one of the PTX; None where the machine makes none of it."""
        found = self.accesses.get(site.index)
        if found is None or found.width == site.width:
            return site, address
        if not found.width:
            return None
        wide = replace(site, elements=found.width // site.dtype.itemsize)
        return wide, address & ~address.dtype.type(found.width - 1)

    @cached_property
    def fused(self) -> tuple[FusedAccess, ...]:
        """The accesses that move the data of several of the PTX, in order."""
        groups: dict[int, list[int]] = {}
        for access in self.accesses.values():
            if access.carrier is not None:
                groups.setdefault(access.carrier, []).append(access.index)
        return tuple(
            FusedAccess(carrier, tuple(sorted(parts)), found.width, found.machine[0].text)
            for carrier, parts in sorted(groups.items())
            if len(parts) > 1 and (found := self.accesses[carrier])
        )


def machine_code(image: Image, blocks: Sequence[Block], code: Disassembly) -> MachineCode:
    """Match the loads and stores of a kernel's PTX to its machine code.

    ``image`` and ``blocks`` are the kernel's PTX in the emulator; ``code`` the machine code of the same compilation.
    """
    made_from: dict[int, list[tuple[MachineInstruction, frozenset[int]]]] = {}
    for function in code.functions:
        for machine, branches in _with_branches(function):
            if machine.space in _SPACES:
                made_from.setdefault(machine.ptx_line, []).append((machine, branches))
    graph = ControlGraph(_ptx_successors(image, blocks))
    accesses: dict[int, MachineAccess] = {}
    for block in blocks:
        for index in range(block.start, block.stop):
            instruction = image.instructions[index]
            space = _space_of(instruction)
            if space is None or not instruction.line:
                continue
            store = instruction.opcode == "st"
            copies = [
                (machine, branches)
                for machine, branches in made_from.get(instruction.line, ())
                if machine.store == store and machine.space in _SPACES[space]
            ]
            own_width = _width(instruction)
            widths = {machine.width for machine, _ in copies}
            if len(widths) > 1 or (widths and min(widths) < own_width):
                continue
            issued = {_issued_with(block.index, m, b, graph, image, blocks) for m, b in copies} or {block.index}
            accesses[index] = MachineAccess(
                index,
                own_width,
                tuple(machine for machine, _ in copies),
                widths.pop() if widths else 0,
                index if copies else None,
                issued.pop() if len(issued) == 1 else block.index,
            )
    return MachineCode(_with_carriers(image, blocks, accesses))


def _space_of(instruction: Instruction) -> str | None:
    """The space of a load or store, None for other instructions and other spaces."""
    if instruction.opcode not in ("ld", "st"):
        return None
    names = {modifier.split("::")[0] for modifier in instruction.modifiers}
    if names & {"local", "param", "const"}:
        return None
    return next((space for space in ("shared", "global") if space in names), "generic")


def _width(instruction: Instruction) -> int:
    """Bytes a lane that a load or store of the PTX moves."""
    elements = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)
    return elements * DTYPES[instruction.modifiers[-1]].itemsize


# Which access carries a fused one


def _with_carriers(
    image: Image, blocks: Sequence[Block], accesses: dict[int, MachineAccess]
) -> dict[int, MachineAccess]:
    """Find for each access without machine code the wide one of its block that covers it."""
    places = _places(image)
    result = dict(accesses)
    for block in blocks:
        alike: dict[object, list[MachineAccess]] = {}
        for index in range(block.start, block.stop):
            if index in accesses:
                instruction = image.instructions[index]
                alike.setdefault(
                    (instruction.opcode, instruction.guard, instruction.negated, places[index][0]), []
                ).append(accesses[index])
        for group in alike.values():
            for width in (32, 16, 8, 4, 2):
                left = [a for a in group if result[a.index].carrier is None]
                wide = [a for a in group if a.width == width > a.ptx_width]
                for access, carrier in _carried(left, wide, width, places).items():
                    found = result[access]
                    result[access] = replace(found, carrier=carrier, issued_with=result[carrier].issued_with)
    return result


def _carried(
    left: Sequence[MachineAccess],
    wide: Sequence[MachineAccess],
    width: int,
    places: Mapping[int, tuple[object, int]],
) -> dict[int, int]:
    """Index of each access of ``left`` -> that of the wide one which lies in the same aligned run of ``width`` bytes.

    Where the runs begin is not known from the offsets alone, but all of one base begin alike: the phase that explains
    the most is taken.
    """
    best: dict[int, int] = {}
    for phase in range(width) if wide and left else ():
        runs = {(places[a.index][1] - phase) // width: a.index for a in reversed(wide)}
        found = {a.index: runs.get((places[a.index][1] - phase) // width) for a in left}
        explained = {index: carrier for index, carrier in found.items() if carrier is not None}
        if len(explained) > len(best):
            best = explained
    return best


def _places(image: Image) -> dict[int, tuple[object, int]]:
    """Index of each load and store -> (what its address starts from, constant bytes added), through additions."""
    definitions: dict[str, Instruction | None] = {}
    for instruction in image.instructions:
        for name in uses_and_definitions(instruction)[1]:
            definitions[name] = None if name in definitions else instruction

    def place(operand: Operand) -> tuple[object, int]:
        base, offset = operand, 0
        while True:
            if isinstance(base, Address):
                base, offset = base.base, offset + base.offset
            made = definitions.get(base.name) if isinstance(base, Register) else None
            if made is None or made.guard is not None or made.opcode not in ("add", "mov", "cvta"):
                break
            values = [getattr(o, "value", None) for o in made.operands[2:]]
            if any(not isinstance(v, int) for v in values):
                break
            base, offset = made.operands[1], offset + sum(values)  # type: ignore[arg-type]
        if isinstance(base, Symbol):
            return "symbol", offset + image.addresses.get(base.name, 0)
        return base, offset

    result = {}
    for index, instruction in enumerate(image.instructions):
        if _space_of(instruction) is not None:
            result[index] = place(instruction.operands[0 if instruction.opcode == "st" else 1])
    return result


# Which warps issue it


def _issued_with(
    block: int,
    machine: MachineInstruction,
    branches: frozenset[int],
    graph: ControlGraph,
    image: Image,
    blocks: Sequence[Block],
) -> int:
    """The outermost block whose warps all issue the instruction: past every branch that became a predicate."""
    if not machine.guard:
        return block
    while True:
        parents = graph.parents(block)
        if not parents or any(image.instructions[blocks[p].stop - 1].line in branches for p in parents):
            return block
        first = next((p for p in parents if all(graph.dominates(p, other) for other in parents)), None)
        if first is None or first == block or not graph.dominates(first, block):
            return block
        block = first


def _ptx_successors(image: Image, blocks: Sequence[Block]) -> list[tuple[int, ...]]:
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


def _with_branches(function: MachineFunction) -> Iterator[tuple[MachineInstruction, frozenset[int]]]:
    """Each instruction of a function with the PTX lines of all branches that decide whether it is issued."""
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
        yield from ((instruction, branches) for instruction in instructions[start:stop])


def _conditional(jump: MachineInstruction) -> bool:
    """A guard, or a predicate as an operand (``BRA.U UP0, label``)."""
    return bool(jump.guard) or any(_PREDICATE.fullmatch(operand) for operand in jump.operands)


class ControlGraph:
    """Dominance and control dependence of a graph of blocks.

    ``follow`` are the blocks that control may go to after each block; it begins at block 0, and ``len(follow)`` stands
    for the end. A block depends on a branch when one way out of the branch always leads to it and another may not.
    J. Ferrante, K. Ottenstein, J. Warren, The program dependence graph and its use in optimization, ACM TOPLAS 9, 1987.
    """

    def __init__(self, follow: Sequence[Sequence[int]]) -> None:
        follow = [*follow, ()]
        before: list[list[int]] = [[] for _ in follow]
        for block, targets in enumerate(follow):
            for target in targets:
                before[target].append(block)
        self._dominators = _dominators(before, 0)
        after = _dominators(follow, len(follow) - 1)
        self._parents: list[set[int]] = [set() for _ in follow]
        for branch, targets in enumerate(follow):
            for target in targets if len(targets) > 1 else ():
                for block in _members(after[target] & ~(after[branch] & ~(1 << branch))):
                    self._parents[block].add(branch)

    def parents(self, block: int) -> set[int]:
        """The blocks whose branch decides directly whether this one runs."""
        return self._parents[block]

    def all_parents(self, block: int) -> set[int]:
        """Those, and those that decide whether they run, and so on."""
        found: set[int] = set()
        waiting = [block]
        while waiting:
            new = self._parents[waiting.pop()] - found
            found |= new
            waiting += new
        return found

    def dominates(self, block: int, other: int) -> bool:
        """Whether every way to ``other`` leads through ``block``."""
        return bool(self._dominators[other] >> block & 1)


def _dominators(before: Sequence[Sequence[int]], root: int) -> list[int]:
    """For each block the set, as bits, of blocks that every way from the root to it passes, itself among them.

    A block that no way leads to has itself alone.
    """
    everything = (1 << len(before)) - 1
    found = [everything] * len(before)
    found[root] = 1 << root
    changed = True
    while changed:
        changed = False
        for block, sources in enumerate(before):
            if block == root:
                continue
            common = everything
            for source in sources:
                common &= found[source]
            common |= 1 << block
            if common != found[block]:
                found[block] = common
                changed = True
    return [1 << block if bits == everything else bits for block, bits in enumerate(found)]


def _members(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
