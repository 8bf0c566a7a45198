"""What the assembler made of each memory access of the PTX: the width and the warps that issue it.

``ptxas`` turns PTX into machine code, and a load or store may come out different. Seen in the cubins of NVRTC 12.9 for
sm_90, and in Nsight Compute's counters of the same cubins on an H200:

*Fusion.* Loads (or stores) of one block of straight code whose addresses lie in one aligned run of 8 or 16 bytes become
one access: 32 shared loads of a 16 x 16 matrix product become 16 ``LDS`` and 4 ``LDS.128``, and eight ``st.shared.f32``
side by side two ``STS.128``. It may even read a word that nobody asked for, to reach an aligned start. The wide
access keeps the PTX line of one of its parts (the first load, the last store); the others have no machine code left.
Since a wide access must be aligned to its width, its address is that part's rounded down.

*Parting.* Where the wide access would not be aligned after all, two narrow ones are made of it again.

*If-conversion.* A short block behind a branch becomes predicated instructions in the block before it. The hardware
counts an instruction once for each warp that issues it, also where the predicate leaves no lane; wavefronts, requests
and sectors come from lanes alone. So ``if (thread < 16) partial[thread] += ...`` counts as a shared load in all eight
warps of a block, although seven have nothing to load.

*Sinking.* A load whose value only one side of a later branch uses moves there: then the warps and lanes that take this
side load it, and no others.

*Unrolling.* A loop is unrolled by 4, by 2 and by 1, one after another (:mod:`softlab.instruments.unrolled`): lanes of
one warp that take different numbers of turns go together in another way, and a predicated last turn is issued once by
each warp that comes to the loop, needed or not.

*Removal.* A load whose value is known already, or that nobody needs, is left out.

The cubin says for every machine instruction which PTX line it was made from (:mod:`softlab.disassembly`), so that none
of this is guessed: an access has the widths of the instructions of its line; one without any costs nothing. Which warps
issue a predicated instruction follows from control dependence: going outwards from the block that the PTX has it in,
each branch on which the machine instruction does not depend any more was if-converted, and the warps that come to that
branch issue it. Likewise a load that depends on a branch behind it was sunk. Where copies of one access (unrolled
loops) disagree in another way, the PTX stands.

Evidence: the counters that Nsight Compute gave on an H200 for 219 launches are, every one, those that follow from these
rules; wavefronts as it counts them by instruction (``tests/hardware``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from softlab.disassembly import Disassembly, MachineInstruction
from softlab.emulator.flow import Block
from softlab.emulator.lanes import Value
from softlab.emulator.linker import Image
from softlab.emulator.memory import Site
from softlab.emulator.ptx import DTYPES, Instruction
from softlab.instruments.fusion import carriers, parted
from softlab.instruments.issue import Copy, Issue, IssueFinder, copies_in
from softlab.traces import FusedAccess

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
    was left out; ``issue`` who issues it.
    """

    index: int
    ptx_width: int
    machine: tuple[MachineInstruction, ...]
    width: int
    carrier: int | None
    issue: Issue


@dataclass(frozen=True)
class MachineCode:
    """The accesses of a kernel as machine code: index of the PTX instruction -> :class:`MachineAccess`.

    An access that is not in it could not be told, and counts as the PTX has it. ``beside_copies``: index of a
    ``cp.async`` -> (shared loads that the assembler puts beside each, which no lane executes but every warp issues; who
    issues it). For sm_90 there are three, and Nsight Compute counts them.
    """

    accesses: Mapping[int, MachineAccess]
    beside_copies: Mapping[int, tuple[int, Issue]] = field(default_factory=dict)

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
    made_from: dict[int, list[Copy]] = {}
    asynchronous: dict[int, list[Copy]] = {}
    for function in code.functions:
        for copy in copies_in(function):
            if copy.instruction.opcode == "LDGSTS":
                asynchronous.setdefault(copy.instruction.ptx_line, []).append(copy)
            elif copy.instruction.space in _SPACES:
                made_from.setdefault(copy.instruction.ptx_line, []).append(copy)
    finder = IssueFinder(image, blocks)
    accesses: dict[int, MachineAccess] = {}
    beside: dict[int, tuple[int, Issue]] = {}
    for block in blocks:
        for index in range(block.start, block.stop):
            instruction = image.instructions[index]
            space = _space_of(instruction)
            if instruction.opcode == "cp" and (copies := asynchronous.get(instruction.line)):
                loads = sum(copy.instruction.opcode == "LDS" for copy in made_from.get(instruction.line, ()))
                beside[index] = (loads // len(copies), replace(finder.issue(block.index, copies, True), loop=None))
            if space is None or not instruction.line:
                continue
            store = instruction.opcode == "st"
            copies = [
                copy
                for copy in made_from.get(instruction.line, ())
                if copy.instruction.store == store and copy.instruction.space in _SPACES[space]
            ]
            own_width = _width(instruction)
            widths = {copy.instruction.width for copy in copies}
            if len(widths) > 1 or (widths and min(widths) < own_width):
                continue
            accesses[index] = MachineAccess(
                index,
                own_width,
                tuple(copy.instruction for copy in copies),
                widths.pop() if widths else 0,
                index if copies else None,
                finder.issue(block.index, copies, store),
            )
    made = {index: access.machine for index, access in accesses.items()}
    for index, neighbour in parted(image, blocks, made, {i: a.ptx_width for i, a in accesses.items()}).items():
        first, second = made[neighbour]
        own, issue = accesses[neighbour].width, accesses[neighbour].issue
        accesses[neighbour] = replace(accesses[neighbour], machine=(first,))
        accesses[index] = replace(accesses[index], machine=(second,), width=own, carrier=index, issue=issue)
    fused = carriers(image, blocks, {i: (a.ptx_width, a.width) for i, a in accesses.items()})
    for index, carrier in fused.items():
        accesses[index] = replace(accesses[index], carrier=carrier, issue=accesses[carrier].issue)
    return MachineCode(accesses, beside)


def _space_of(instruction: Instruction) -> str | None:
    """The space of a load or store, None for other instructions, other spaces and types of unknown size."""
    if instruction.opcode not in ("ld", "st") or instruction.modifiers[-1] not in DTYPES:
        return None
    names = {modifier.split("::")[0] for modifier in instruction.modifiers}
    if names & {"local", "param", "const"} or instruction.has("async"):
        return None
    if instruction.has("shared::cluster"):
        return "generic"
    return next((space for space in ("shared", "global") if space in names), "generic")


def _width(instruction: Instruction) -> int:
    """Bytes a lane that a load or store of the PTX moves."""
    elements = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)
    return elements * DTYPES[instruction.modifiers[-1]].itemsize
