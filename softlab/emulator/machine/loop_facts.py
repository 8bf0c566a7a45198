"""What decides where a kernel's lanes go: known from the code alone, before it runs.

A loop repeats itself for ever when everything that decides its course repeats. A sum that only grows decides nothing,
and a clock decides something only where a branch depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from softlab.emulator.machine.clocks import CLOCKS
from softlab.emulator.machine.flow import is_warp_synchronous, mask_of, uses_and_definitions, waits
from softlab.emulator.opcodes.registry import OPCODES
from softlab.emulator.ptx.blocks import Block
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Address, Instruction, Register, Special

#: Loads that say that others may write the word meanwhile.
_STRONG = ("volatile", "relaxed", "acquire", "mmio")
_TRANSFERS = ("ld", "ldu", "st", "atom", "red")
#: Loads of what no lane writes.
_CONSTANT = ("param", "const", "nc")


class LoopFacts:
    """Facts about the loops of one kernel. ``numbers`` maps a register's name to its number."""

    def __init__(self, image: Image, blocks: Sequence[Block], numbers: Mapping[str, int]) -> None:
        self._image = image
        self._blocks = blocks
        self._numbers = numbers

    @cached_property
    def polls(self) -> Mapping[int, int]:
        """First block -> last block of each loop in which lanes may wait for what others write.

        It has a volatile, relaxed or acquire load, an atomic, a wait for an mbarrier or a ``nanosleep``.
        """
        found: dict[int, int] = {}
        for first, last in self._polling_loops:
            found[first] = max(last, found.get(first, 0))
        return found

    @cached_property
    def wait_for_others(self) -> bool:
        """Whether there are such loops that store nothing, wait for no mbarrier, and that memory decides about."""
        others = [block.waits or any(i.opcode == "st" for i in self._instructions(block)) for block in self._blocks]
        return any(
            any(self.reads[first : last + 1]) and not any(others[first : last + 1])
            for first, last in self._polling_loops
        )

    @cached_property
    def _polling_loops(self) -> list[tuple[int, int]]:
        """(first block, last block) of each way back in a loop that polls."""
        polling = [any(map(_polls, self._instructions(block))) for block in self._blocks]
        ways = ((target, block.index) for block in self._blocks for target in block.targets if target <= block.index)
        return [(first, last) for first, last in ways if any(polling[first : last + 1])]

    def _instructions(self, block: Block) -> Sequence[Instruction]:
        return self._image.instructions[block.start : block.stop]

    def waits_for_mbarrier(self, index: int) -> bool:
        """Whether a loop around the block of this index waits for an mbarrier."""
        return any(
            block.waits == "polls"
            for first, last in self.polls.items()
            if first <= index <= last
            for block in self._blocks[first : last + 1]
        )

    @cached_property
    def control(self) -> tuple[int, ...]:
        """The registers that decide where lanes go, but for those that follow from a clock."""
        return self._numbered(self._deciding - self._clocked)

    @cached_property
    def control_and_addresses(self) -> tuple[int, ...]:
        """Also those that decide which memory the lanes access: an access can be a fault."""
        return self._numbered(self._closure(self._deciding | self._addressing) - self._clocked)

    @cached_property
    def time_decides(self) -> bool:
        """Whether a clock decides where lanes go."""
        return bool(self._deciding & self._clocked)

    @cached_property
    def reads(self) -> Sequence[bool]:
        """For each block whether it reads memory, or another thing that lanes change, to decide where they go."""
        return [
            any(
                _reads_memory(self._image.instructions[i]) and not self._deciding.isdisjoint(self._registers[i][1])
                for i in range(block.start, block.stop)
            )
            for block in self._blocks
        ]

    @cached_property
    def _registers(self) -> list[tuple[list[str], list[str]]]:
        """The registers that each instruction reads and writes."""
        return [uses_and_definitions(instruction) for instruction in self._image.instructions]

    @cached_property
    def _deciding(self) -> set[str]:
        found: set[str] = set()
        for block in self._blocks:
            if block.terminator is not None:
                found.update(self._registers[block.stop - 1][0])
            first = self._image.instructions[block.start]
            if is_warp_synchronous(first) and isinstance(mask := mask_of(first), Register):
                found.add(mask.name)
            if waits(first):
                found.update(self._registers[block.start][0])
        return self._closure(found)

    @cached_property
    def _addressing(self) -> set[str]:
        found: set[str] = set()
        for instruction, (uses, _) in zip(self._image.instructions, self._registers, strict=True):
            opcode = OPCODES.find(instruction)
            if opcode is None or opcode.kind != "effect":
                continue
            if instruction.opcode not in _TRANSFERS:
                found.update(uses)
                continue
            bases = (o.base for o in instruction.operands if isinstance(o, Address))
            found.update(base.name for base in bases if isinstance(base, Register))
            if instruction.guard is not None:
                found.add(instruction.guard.name)
        return found

    @cached_property
    def _clocked(self) -> set[str]:
        """The registers whose values follow from a clock."""
        makers: dict[str, list[int]] = {}
        begin: set[str] = set()
        for index, (uses, definitions) in enumerate(self._registers):
            for name in uses:
                makers.setdefault(name, []).append(index)
            operands = self._image.instructions[index].operands
            if any(isinstance(o, Special) and o.name in CLOCKS for o in operands):
                begin.update(definitions)
        return _reached(begin, lambda name: (r for i in makers.get(name, ()) for r in self._registers[i][1]))

    @cached_property
    def _writers(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for index, (_, definitions) in enumerate(self._registers):
            for name in definitions:
                found.setdefault(name, []).append(index)
        return found

    def _closure(self, names: set[str]) -> set[str]:
        """These registers and all that their values follow from."""
        return _reached(names, lambda name: (r for i in self._writers.get(name, ()) for r in self._registers[i][0]))

    def _numbered(self, names: set[str]) -> tuple[int, ...]:
        return tuple(sorted(self._numbers[name] for name in names if name in self._numbers))


def _reached(begin: set[str], step: Callable[[str], Iterable[str]]) -> set[str]:
    found, pending = set(begin), list(begin)
    while pending:
        new = set(step(pending.pop())) - found
        found |= new
        pending += new
    return found


def _polls(instruction: Instruction) -> bool:
    if instruction.opcode == "ld":
        return instruction.has(*_STRONG)
    return instruction.opcode in ("atom", "nanosleep") or waits(instruction) == "polls"


def _reads_memory(instruction: Instruction) -> bool:
    opcode = OPCODES.find(instruction)
    if opcode is None or opcode.kind != "effect" or opcode.warp_synchronous:
        return False
    return not (instruction.opcode in ("ld", "ldu") and instruction.has(*_CONSTANT))
