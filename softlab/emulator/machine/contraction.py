"""Products that the assembler fuses with the addition or subtraction that takes them.

PTX leaves that open where neither instruction has a rounding modifier (PTX ISA, "Floating-Point Instructions", mul).
NVRTC writes ``fma`` for ``a * b + c`` itself and leaves ``a * b - c`` to the assembler. What ptxas does is taken from
its machine code (12.9, sm_90): it fuses a product all of whose uses are such additions and subtractions, also from one
basic block to another; of two products in one subtraction it fuses the first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from softlab.emulator.machine.flow import uses_and_definitions
from softlab.emulator.opcodes.emitter import NativeForm
from softlab.emulator.opcodes.registry import PURE, Semantics
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Immediate, Instruction, Register

_FREE = ({"f32"}, {"ftz", "f32"}, {"f64"}, {"f16"}, {"ftz", "f16"}, {"f16x2"}, {"ftz", "f16x2"}, {"bf16"}, {"bf16x2"})
#: Types that are held as bits, and their signs.
_SIGNS = {"f16x2": np.uint32(0x80008000), "bf16x2": np.uint32(0x80008000), "bf16": np.uint16(0x8000)}


def contracted(image: Image) -> Image:
    """The image with such additions and subtractions as ``contracted``: a, b and what is added or subtracted."""
    products = _products(image.instructions)
    if not products:
        return image
    return replace(image, instructions=tuple(_fused(i, products) for i in image.instructions))


def _products(instructions: tuple[Instruction, ...]) -> dict[str, Instruction]:
    """Register -> the multiplication whose result it is, of those that are fused."""
    found = {i.operands[0].name: i for i in instructions if _is_free(i, "mul") and i.guard is None}  # type: ignore[union-attr]
    if not found:
        return found
    written: Counter[str] = Counter()
    for instruction in instructions:
        uses, definitions = uses_and_definitions(instruction)
        written.update(definitions)
        for name in set(uses) & found.keys():
            takes = _is_free(instruction, "add", "sub") and uses.count(name) == 1
            if not takes or set(instruction.modifiers) - {"sat"} != set(found[name].modifiers):
                del found[name]
    return {
        name: product
        for name, product in found.items()
        if written[name] == 1 and all(written[o.name] <= 1 for o in product.operands if isinstance(o, Register))
    }


def _is_free(instruction: Instruction, *opcodes: str) -> bool:
    """Whether it is one of these, of three floats, and the assembler may change its rounding."""
    if instruction.opcode not in opcodes or len(instruction.operands) != 3:
        return False
    allowed = {"sat"} if instruction.opcode != "mul" else set()
    registers = all(isinstance(operand, Register | Immediate) for operand in instruction.operands)
    return set(instruction.modifiers) - allowed in _FREE and registers and isinstance(instruction.operands[0], Register)


def _fused(instruction: Instruction, products: dict[str, Instruction]) -> Instruction:
    if not _is_free(instruction, "add", "sub"):
        return instruction
    destination, *sources = instruction.operands
    for position, source in enumerate(sources):
        if isinstance(source, Register) and source.name in products:
            kind = "sum" if instruction.opcode == "add" else ("minuend", "subtrahend")[position]
            operands = (destination, *products[source.name].operands[1:], sources[1 - position])
            return replace(
                instruction, opcode="contracted", modifiers=(kind, *instruction.modifiers), operands=operands
            )
    return instruction


@PURE.opcode("contracted")
def _contracted(instruction: Instruction) -> Semantics:
    """``a * b + c``, ``a * b - c`` or ``c - a * b``, rounded once."""
    kind, *modifiers = instruction.modifiers
    fused = PURE.lower(replace(instruction, opcode="fma", modifiers=("rn", *modifiers)))
    function = fused.function
    sign = _SIGNS.get(modifiers[-1])
    negative = np.negative if sign is None else lambda a: a ^ sign
    signed = {
        "sum": function,
        "minuend": lambda a, b, c: function(a, b, negative(c)),
        "subtrahend": lambda a, b, c: function(negative(a), b, c),
    }
    native = fused.native
    native_signed: dict[str, NativeForm | None] = {
        "sum": native,
        "minuend": native and (lambda e, a, b, c: native(e, a, b, e.fneg(c))),
        "subtrahend": native and (lambda e, a, b, c: native(e, e.fneg(a), b, c)),
    }
    return replace(fused, function=signed[kind], native=native_signed[kind])
