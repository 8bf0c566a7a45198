"""The opcodes of products of warpgroups: ``wgmma.mma_async`` and what orders them.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
"""

from __future__ import annotations

from softlab.emulator.opcodes.effects import EFFECTS, Effect
from softlab.emulator.opcodes.group_products import group_product_of
from softlab.emulator.opcodes.group_unit import GroupSite
from softlab.emulator.opcodes.matrices import elements_of
from softlab.emulator.opcodes.registry import counted, operands_of
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Immediate, Instruction, Operand, Register, Vector
from softlab.emulator.sites import InstructionSite

#: Types whose elements may have the other sign, and those whose tiles may be MN-major.
_SIGNED, _TRANSPOSED = ("f16", "bf16", "tf32", "e4m3", "e5m2"), ("f16", "bf16")


@EFFECTS.opcode("wgmma.mma_async", warp_synchronous=True, masked=False, updates=True)
def _multiply(instruction: Instruction, index: int, image: Image) -> Effect:
    product = group_product_of(instruction.modifiers)
    kind = product.kinds[1]
    has_tile = len(instruction.operands) > 1 and not isinstance(instruction.operands[1], Vector)
    signs = 2 * (kind in _SIGNED)
    orders = (2 if has_tile else 1) * (kind in _TRANSPOSED)
    operands = operands_of(instruction, 4 + signs + orders)
    d = counted(elements_of(operands[0]), product.result.registers)
    a = operands[1:2] if has_tile else counted(elements_of(operands[1]), product.left.registers)
    negative = tuple(_constant(operand, (1, -1)) == -1 for operand in operands[4 : 4 + signs])
    trans = tuple(_constant(operand, (0, 1)) == 1 for operand in operands[4 + signs :])
    orders_of_tiles = (False,) * (2 - len(trans)) + trans
    site = GroupSite(
        index,
        instruction,
        product=product,
        tiles=(has_tile, True),
        along_k=(not orders_of_tiles[0], not orders_of_tiles[1]),
        negative=(negative[0], negative[1]) if negative else (False, False),
        registers=product_registers(instruction),
    )
    sources = (*((one, "b32") for one in d), *((one, "b64" if has_tile else "b32") for one in a))
    return Effect(
        lambda units: units.group_matrices.multiply,
        site,
        (*sources, (operands[2], "b64"), (operands[3], "pred")),
        d,
        ("b32",) * len(d),
    )


def product_registers(instruction: Instruction) -> frozenset[str]:
    """The registers that a product may use until it has been waited for: those of D, and of A where it has some."""
    parts = (part for operand in instruction.operands[:2] if isinstance(operand, Vector) for part in operand.elements)
    return frozenset(part.name for part in parts if isinstance(part, Register))


def _constant(operand: Operand, allowed: tuple[int, ...]) -> int:
    if not isinstance(operand, Immediate) or operand.value not in allowed:
        raise NotImplementedError(f"an operand of wgmma that is not one of {allowed}")
    return int(operand.value)


def _ordering(instruction: Instruction, index: int) -> InstructionSite:
    if not {"sync", "aligned"}.issubset(instruction.modifiers) or len(instruction.modifiers) != 3:
        raise NotImplementedError(instruction.text)
    return InstructionSite(index, instruction)


@EFFECTS.opcode("wgmma.fence", has_result=False, warp_synchronous=True, masked=False)
def _fence(instruction: Instruction, index: int, image: Image) -> Effect:
    return Effect(lambda units: units.group_matrices.fence, _ordering(instruction, index))


@EFFECTS.opcode("wgmma.commit_group", has_result=False, warp_synchronous=True, masked=False)
def _commit(instruction: Instruction, index: int, image: Image) -> Effect:
    return Effect(lambda units: units.group_matrices.commit, _ordering(instruction, index))


@EFFECTS.opcode("wgmma.wait_group", has_result=False, warp_synchronous=True, masked=False)
def _wait(instruction: Instruction, index: int, image: Image) -> Effect:
    (newest,) = operands_of(instruction, 1)
    return Effect(lambda units: units.group_matrices.wait, _ordering(instruction, index), ((newest, "u32"),))
