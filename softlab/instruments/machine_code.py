"""What the assembler made of each memory access of the PTX: its width, and the warps that issue it.

``ptxas`` turns PTX into machine code, and may change a load or store. The cubins of NVRTC 12.9 for sm_90, and Nsight
Compute's counters of the same cubins on an H200, show these changes:

*Fusion.* Loads (or stores) of one block of straight code whose addresses lie in one aligned run of 8 or 16 bytes become
one access: 32 shared loads of a 16 x 16 matrix product become 16 ``LDS`` and 4 ``LDS.128``, and eight ``st.shared.f32``
side by side two ``STS.128``. The access may even include a word that the PTX does not load, to start at an aligned
address. It keeps the PTX line of one of its parts (the first load, the last store); the others have no machine code.
Its address is that of this part, rounded down to a multiple of its width.

*Splitting.* If the wide access would not be aligned after all, the assembler splits it into two narrow ones again.

*If-conversion.* A short block behind a branch becomes predicated instructions in the block before it. The hardware
counts an instruction once for each warp that issues it, even if the predicate leaves no lane active. Wavefronts,
requests and sectors come from active lanes only. So ``if (thread < 16) partial[thread] += ...`` counts as a shared load
in all eight warps of a block, although seven have nothing to load.

*Sinking.* A load whose value only one side of a later branch uses moves to that side. Then only the warps and lanes
that take this side load it.

*Unrolling.* A loop is unrolled by 4, then by 2, then by 1 (:mod:`softlab.instruments.unrolled`). Lanes of one warp that
run different numbers of iterations are then joined in another way, and each warp that comes to the loop issues a
predicated last iteration once, needed or not.

*Removal.* A load whose value is known already, or is not used, is removed.

The cubin names the PTX line of every machine instruction (:mod:`softlab.cuda.disassembly`), so nothing here is a guess.
An access has the width of the instructions of its line. An access without any costs nothing. Control dependence shows
which warps issue a predicated instruction: start at the block in which the PTX has it and go outwards. Each branch on
which the machine instruction no longer depends was if-converted, and the warps that come to that branch issue it. A
load that depends on a branch behind it was sunk. If the copies of one access in an unrolled loop disagree in another
way, the access counts as the PTX has it.

Atomics follow :mod:`softlab.instruments.atomics`; executed instructions of all kinds follow
:mod:`softlab.instruments.executions`.

Evidence: Nsight Compute's counters of 219 launches on an H200 are all equal to those that follow from these rules, with
wavefronts as it counts them per instruction (``tests/hardware``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from softlab.cuda.machine_instructions import Disassembly, MachineInstruction
from softlab.emulator.lanes import Value
from softlab.emulator.machine.flow import Block
from softlab.emulator.memory.known_addresses import KnownAddresses
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import DTYPES, Instruction
from softlab.emulator.sites import Site
from softlab.instruments.atomics import MachineAtomic, machine_atomics
from softlab.instruments.executions import Executions, executions
from softlab.instruments.fusion import carriers, split_pairs
from softlab.instruments.issue import Issue, IssueFinder, MachineSite, machine_sites
from softlab.traces import FusedAccess

#: Machine spaces that an access of the PTX may get. The assembler may find the space of a generic address.
_SPACES = {
    "shared": ("shared",),
    "global": ("global",),
    "generic": ("generic", "shared", "global"),
}


@dataclass(frozen=True)
class MachineAccess:
    """What the assembler made of one load or store of the PTX.

    ``index`` of the PTX instruction; ``ptx_width``: bytes per lane that it moves; ``machine``: the instructions made
    from it; ``width``: bytes per lane that they move, 0 if there is none; ``carrier``: index of the PTX instruction
    whose machine access moves its data, which is its own, that of the access into which it was fused, or None if it was
    removed; ``issue``: who issues it.
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

    An access that is not in it could not be matched, and counts as the PTX has it. ``beside_copies``: index of a
    ``cp.async`` -> (number of shared loads that the assembler puts beside it, who issues them). No lane executes these
    loads, but every warp issues them: for sm_90 there are three, and Nsight Compute counts them. ``atomics``: index of
    each atomic that the machine has -> what it is there. ``executions``: how often all machine instructions run. Both
    are None where the machine code is not known.
    """

    accesses: Mapping[int, MachineAccess]
    beside_copies: Mapping[int, tuple[int, Issue]] = field(default_factory=dict)
    atomics: Mapping[int, MachineAtomic] | None = None
    executions: Executions | None = None

    def access(self, site: Site, address: Value, known: KnownAddresses | None = None) -> tuple[Site, Value] | None:
        """(site, address) of the machine's access for one of the PTX; None if the machine has no such access.

        With ``known`` the address is the same array whenever the same access comes again.
        """
        found = self.accesses.get(site.index)
        if found is None or found.width == site.width:
            return site, address
        if not found.width:
            return None
        key = (site.index, site.space, site.offset)
        wide = self._wide.get(key)
        if wide is None:
            wide = self._wide[key] = replace(site, elements=found.width // site.dtype.itemsize)
        before = known.of(address) if known is not None else None
        aligned = known.aligned(before, found.width) if known is not None and before is not None else None
        if aligned is not None:
            return wide, aligned.array
        return wide, address & ~address.dtype.type(found.width - 1)

    def has(self, site: Site) -> bool:
        """Whether the machine has an access for one of the PTX."""
        found = self.accesses.get(site.index)
        return found is None or found.width > 0

    def is_alike(self, site: Site) -> bool:
        """Whether the machine's access for one of the PTX is as wide."""
        found = self.accesses.get(site.index)
        return found is None or found.width == site.width

    def widths(self, sites: Sequence[Site]) -> tuple[int, ...]:
        """Bytes per lane of the machine's access for each of the PTX, 0 where it has none."""
        found = (self.accesses.get(site.index) for site in sites)
        return tuple(site.width if one is None else one.width for site, one in zip(sites, found, strict=True))

    @cached_property
    def _wide(self) -> dict[tuple[int, str, int], Site]:
        """(index of the PTX instruction, space, offset) -> the site of its machine access."""
        return {}

    @cached_property
    def lines(self) -> dict[int, int]:
        """Index of a PTX instruction -> its line of the source, as far as anybody has asked."""
        return {}

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

    ``image`` and ``blocks`` are the kernel's PTX in the emulator; ``code`` is the machine code of the same compilation.
    """
    sites = _MachineSites.of(code)
    finder = IssueFinder(image, blocks)
    accesses: dict[int, MachineAccess] = {}
    beside: dict[int, tuple[int, Issue]] = {}
    for block in blocks:
        for index in range(block.start, block.stop):
            instruction = image.instructions[index]
            if instruction.opcode == "cp" and (found := sites.asynchronous.get(instruction.line)):
                issue = replace(finder.issue(block.index, found, True), loop=None)
                beside[index] = (sites.shared_loads(instruction.line) // len(found), issue)
            if (access := _access(index, instruction, block, sites, finder)) is not None:
                accesses[index] = access
    accesses |= _split(image, blocks, accesses)
    fused = carriers(image, blocks, {i: (a.ptx_width, a.width) for i, a in accesses.items()})
    for index, carrier in fused.items():
        accesses[index] = replace(accesses[index], carrier=carrier, issue=accesses[carrier].issue)
    return MachineCode(accesses, beside, machine_atomics(image, code), executions(image, blocks, code))


@dataclass(frozen=True)
class _MachineSites:
    """The memory accesses of the machine code by their PTX line, those of ``cp.async`` apart."""

    accesses: Mapping[int, list[MachineSite]]
    asynchronous: Mapping[int, list[MachineSite]]

    @classmethod
    def of(cls, code: Disassembly) -> _MachineSites:
        accesses: dict[int, list[MachineSite]] = {}
        asynchronous: dict[int, list[MachineSite]] = {}
        for function in code.functions:
            for site in machine_sites(function):
                if site.instruction.opcode == "LDGSTS":
                    asynchronous.setdefault(site.instruction.ptx_line, []).append(site)
                elif site.instruction.space in _SPACES:
                    accesses.setdefault(site.instruction.ptx_line, []).append(site)
        return cls(accesses, asynchronous)

    def shared_loads(self, line: int) -> int:
        return sum(site.instruction.opcode == "LDS" for site in self.accesses.get(line, ()))


def _access(
    index: int, instruction: Instruction, block: Block, sites: _MachineSites, finder: IssueFinder
) -> MachineAccess | None:
    """What became of a PTX instruction; None if it is no load or store, or its machine code cannot be matched."""
    space = _space_of(instruction)
    if space is None or not instruction.line:
        return None
    store = instruction.opcode == "st"
    copies = [
        site
        for site in sites.accesses.get(instruction.line, ())
        if site.instruction.store == store and site.instruction.space in _SPACES[space]
    ]
    ptx_width = _width(instruction)
    widths = {site.instruction.width for site in copies}
    if len(widths) > 1 or (widths and min(widths) < ptx_width):
        return None
    machine = tuple(site.instruction for site in copies)
    width = widths.pop() if widths else 0
    issue = finder.issue(block.index, copies, store)
    return MachineAccess(index, ptx_width, machine, width, index if copies else None, issue)


def _split(image: Image, blocks: Sequence[Block], accesses: Mapping[int, MachineAccess]) -> dict[int, MachineAccess]:
    """The accesses that were fused in pairs and split again, each with its own machine instruction."""
    machine = {index: access.machine for index, access in accesses.items()}
    found: dict[int, MachineAccess] = {}
    for index, neighbour in split_pairs(image, blocks, machine, {i: a.ptx_width for i, a in accesses.items()}).items():
        whole = found.get(neighbour, accesses[neighbour])
        first, second = machine[neighbour]
        found[neighbour] = replace(whole, machine=(first,))
        own = replace(accesses[index], machine=(second,), width=whole.width, carrier=index, issue=whole.issue)
        found[index] = own
    return found


def _space_of(instruction: Instruction) -> str | None:
    """The space of a load or store; None for other instructions, other spaces and types of unknown size."""
    if instruction.opcode not in ("ld", "st") or instruction.modifiers[-1] not in DTYPES:
        return None
    names = {modifier.split("::")[0] for modifier in instruction.modifiers}
    if names & {"local", "param", "const"} or instruction.has("async"):
        return None
    if instruction.has("shared::cluster"):
        return "generic"
    return next((space for space in ("shared", "global") if space in names), "generic")


def _width(instruction: Instruction) -> int:
    """Bytes per lane that a load or store of the PTX moves."""
    elements = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)
    return elements * DTYPES[instruction.modifiers[-1]].itemsize
