"""Registers of 128 bits as two of 64: what loads, stores and moves of them become."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from softlab.emulator.ptx.syntax import Instruction, Operand, Register, Vector

#: The type of such a register, and the opcodes that may have it.
WIDE = "b128"
_ACCESSES = {"v2": "v4", "": "v2"}
OPCODES = ("ld", "st", "mov", "atom")


def halves(name: str) -> tuple[Register, Register]:
    """The registers of the lower and the upper half."""
    return Register(f"{name}.low", "b64"), Register(f"{name}.high", "b64")


def split_wide(instruction: Instruction) -> Iterator[Instruction]:
    """The instructions that do the same with halves; atomics keep their name and take pairs."""
    operands = tuple(_split(operand) for operand in instruction.operands)
    if instruction.opcode == "mov":
        target, source = operands
        if isinstance(target, Vector) and isinstance(source, Vector):
            for one, other in zip(target.elements, source.elements, strict=True):
                if one is not None:
                    yield replace(instruction, modifiers=("b64",), operands=(one, other))
            return
    if instruction.opcode in ("ld", "st"):
        *modifiers, _ = instruction.modifiers
        count = "v2" if "v2" in modifiers else ""
        kept = [m for m in modifiers if m != "v2"]
        yield replace(instruction, modifiers=(*kept, _ACCESSES[count], "b64"), operands=operands)
        return
    yield replace(instruction, operands=operands)


def _split(operand: Operand) -> Operand:
    if isinstance(operand, Register) and operand.type == WIDE:
        return Vector(halves(operand.name))
    if isinstance(operand, Vector):
        parts = (_split(element) for element in operand.elements)
        return Vector(tuple(e for part in parts for e in (part.elements if isinstance(part, Vector) else (part,))))
    return operand
