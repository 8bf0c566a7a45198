"""Which loads or stores of the PTX share one wide access of the machine code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from softlab.cuda.machine_instructions import MachineInstruction
from softlab.emulator.machine.flow import Block, uses_and_definitions
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Address, Instruction, Operand, Register, Symbol

_OFFSET = re.compile(r"\+(-?0x[0-9a-f]+)\]$")


def carriers(image: Image, blocks: Sequence[Block], widths: Mapping[int, tuple[int, int]]) -> dict[int, int]:
    """Index of each access without machine code of its own -> index of the wide access of its block that covers it.

    ``widths``: index of each load and store -> bytes per lane that it moves in the PTX, and in the machine code (0: it
    has none there). An access that no wide one covers is left out.
    """
    addresses = _addresses(image, widths)
    found: dict[int, int] = {}
    for block in blocks:
        alike: dict[object, list[int]] = {}
        for index in range(block.start, block.stop):
            if index in widths:
                i = image.instructions[index]
                alike.setdefault((i.opcode, i.guard, i.negated, addresses[index][0]), []).append(index)
        for group in alike.values():
            for width in sorted({widths[index][1] for index in group}, reverse=True):
                left = [index for index in group if not widths[index][1] and index not in found]
                wide = [index for index in group if widths[index][1] == width > widths[index][0]]
                found |= _carried(left, wide, width, addresses)
    return found


def split_pairs(
    image: Image, blocks: Sequence[Block], machine: Mapping[int, Sequence[MachineInstruction]], width: Mapping[int, int]
) -> dict[int, int]:
    """Index of each access that was fused with its neighbour and split from it again -> index of that neighbour.

    The assembler fuses two accesses before it knows the address of the memory. If the wide access would not be aligned,
    it splits it again, and both parts keep the PTX line of one of them. ``machine``: index of each load and store ->
    the machine instructions made from it, in the order of the code; ``width``: bytes per lane that it moves in the PTX.
    """
    addresses = _addresses(image, machine)
    found: dict[int, int] = {}
    for block in blocks:
        at = {(image.instructions[i].opcode, *addresses[i]): i for i in range(block.start, block.stop) if i in machine}
        for (opcode, base, offset), index in at.items():
            parts = sorted(_machine_offset(made) for made in machine[index])
            apart = len(parts) == 2 and parts[0][0] == parts[1][0] and parts[1][1] - parts[0][1] == width[index]
            for step in (-width[index], width[index]) if apart else ():
                other = at.get((opcode, base, offset + step))
                if other is not None and not machine[other] and width[other] == width[index]:
                    found[other] = index
    return found


def _machine_offset(instruction: MachineInstruction) -> tuple[str, int]:
    """(registers, offset) of the address of a load or store."""
    text = next((operand for operand in instruction.operands if operand.endswith("]")), "")
    found = _OFFSET.search(text)
    return (text[: found.start()], int(found[1], 16)) if found else (text.rstrip("]"), 0)


def _carried(
    left: Sequence[int], wide: Sequence[int], width: int, addresses: Mapping[int, tuple[object, int]]
) -> dict[int, int]:
    """For each access of ``left`` the wide access in the same aligned run of ``width`` bytes, if there is one.

    The offsets alone do not tell where the runs begin, but all runs of one base have the same phase. The phase that
    covers the most accesses is taken.
    """
    best: dict[int, int] = {}
    for phase in range(width) if wide and left else ():
        runs = {(addresses[index][1] - phase) // width: index for index in reversed(wide)}
        found = {index: runs.get((addresses[index][1] - phase) // width) for index in left}
        covered = {index: carrier for index, carrier in found.items() if carrier is not None}
        if len(covered) > len(best):
            best = covered
    return best


def _addresses(image: Image, accesses: Iterable[int]) -> dict[int, tuple[object, int]]:
    """Index of each load and store -> (base of its address, bytes added to it), followed through additions."""
    definitions: dict[str, Instruction | None] = {}
    for instruction in image.instructions:
        for name in uses_and_definitions(instruction)[1]:
            definitions[name] = None if name in definitions else instruction

    def address(operand: Operand) -> tuple[object, int]:
        base: Operand = operand
        offset = 0
        seen: set[str] = set()
        while True:
            if isinstance(base, Address):
                offset += base.offset
                base = base.base
            made = definitions.get(base.name) if isinstance(base, Register) else None
            if made is None or made.guard is not None or made.opcode not in ("add", "mov", "cvta"):
                break
            if base.name in seen:  # type: ignore[union-attr] # a register computed from itself, in a loop
                break
            seen.add(base.name)  # type: ignore[union-attr]
            values = [getattr(o, "value", None) for o in made.operands[2:]]
            if any(not isinstance(v, int) for v in values):
                break
            base, offset = made.operands[1], offset + sum(values)  # type: ignore[arg-type]
        if isinstance(base, Symbol):
            return "symbol", offset + image.addresses.get(base.name, 0)
        return base, offset

    instructions = {index: image.instructions[index] for index in accesses}
    return {index: address(i.operands[0 if i.opcode == "st" else 1]) for index, i in instructions.items()}
