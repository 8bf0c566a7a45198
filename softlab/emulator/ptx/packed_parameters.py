"""Results of calls at odd offsets: the compiler packs what the callers use of a packed struct that is returned.

The assembler keeps such a result in registers, so that no store to it is misaligned. Here it stands in local memory,
and each of its bytes is stored by itself. The compiler lets the callers load bytes anyhow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from softlab.emulator.ptx.syntax import DTYPES, Address, Immediate, Instruction, Operand, Register, Symbol, Variable

#: Bytes of the widest vector.
_WIDEST = 16


def aligned(parameter: Variable) -> Variable:
    """A parameter of a call, at a multiple of the widest access that it has room for."""
    most = min(_WIDEST, 1 << max(1, parameter.size or 0).bit_length() - 1)
    return replace(parameter, align=max(parameter.align, most))


def stores_at_odd_offset(instruction: Instruction) -> bool:
    """Whether it stores one element to a parameter at an offset that is no multiple of the element's size."""
    if instruction.opcode != "st" or not instruction.has("param") or instruction.has("v2", "v4"):
        return False
    address = instruction.operands[0]
    by_name = isinstance(address, Address) and isinstance(address.base, Symbol)
    return by_name and address.offset % _size(instruction) != 0  # type: ignore[union-attr]


def byte_by_byte(instruction: Instruction, name: str) -> tuple[dict[str, str], list[Instruction]]:
    """(new registers with their types, instructions that do the same). The registers' names begin with ``name``."""
    value = instruction.operands[1]
    size = DTYPES[value.type].itemsize if isinstance(value, Register) else _size(instruction)
    registers = (
        Register(f"{name}.whole", f"b{8 * size}"),
        Register(f"{name}.wide", "b64"),
        Register(f"{name}.byte", "b64"),
    )
    lines = [
        replace(instruction, opcode=opcode, modifiers=modifiers, operands=operands, text="")
        for opcode, modifiers, operands in _lines(instruction, *registers)
    ]
    return {register.name: register.type for register in registers}, lines


def _lines(
    instruction: Instruction, whole: Register, wide: Register, byte: Register
) -> Iterator[tuple[str, tuple[str, ...], tuple[Operand, ...]]]:
    address, value = instruction.operands
    assert isinstance(address, Address)
    yield "mov", (whole.type,), (whole, value)
    opcode, types = ("mov", ("b64",)) if whole.type == "b64" else ("cvt", ("u64", f"u{whole.type[1:]}"))
    yield opcode, types, (wide, whole)
    for number in range(_size(instruction)):
        yield "shr", ("u64",), (byte, wide, Immediate(8 * number))
        yield "st", ("param", "b8"), (replace(address, offset=address.offset + number), byte)


def _size(instruction: Instruction) -> int:
    return DTYPES[instruction.types[-1]].itemsize
