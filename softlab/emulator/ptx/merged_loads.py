"""Lines for loads that have none.

Where the compiler merges two loads of the source, it gives the one that is left line 0.
Such a load gets the line of the first instruction, in the order of the text, that uses its value. Values that are
computed without a line on the way are followed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from softlab.emulator.ptx.syntax import Address, Frame, Instruction, Operand, Pair, Register, Vector


def with_lines_of_uses(instructions: Sequence[Instruction], without_line: Collection[int]) -> tuple[Instruction, ...]:
    """The instructions, with loads of memory that are ``without_line`` (their numbers) at the lines of their uses."""
    found = list(instructions)
    if not without_line:
        return tuple(found)
    used_at: dict[str, tuple[Frame, ...]] = {}
    for number in reversed(range(len(found))):
        instruction = found[number]
        written, read = _registers(instruction)
        frames = instruction.frames
        if number in without_line:
            frames = next((used_at[name] for name in written if name in used_at), frames)
            if instruction.opcode == "ld" and not instruction.has("param"):
                found[number] = replace(instruction, frames=frames)
        used_at.update(dict.fromkeys(read, frames))
    return tuple(found)


def _registers(instruction: Instruction) -> tuple[list[str], list[str]]:
    """The registers that it writes, as far as its first operand says so, and those that it reads."""
    first, *others = instruction.operands or (None,)
    written = list(_names(first))
    read = [name for operand in others for name in _names(operand)]
    if isinstance(first, Address):
        written, read = [], written + read
    if instruction.guard is not None:
        read.append(instruction.guard.name)
    return written, read


def _names(operand: Operand | None) -> Iterator[str]:
    match operand:
        case Register():
            yield operand.name
        case Address():
            yield from _names(operand.base)
        case Vector():
            for element in operand.elements:
                yield from _names(element)
        case Pair():
            yield from _names(operand.first)
            yield from _names(operand.second)
