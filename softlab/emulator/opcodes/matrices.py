"""Matrix instructions: ``mma.sync``, ``ldmatrix``, ``stmatrix`` and ``movmatrix``.

Source: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from softlab.emulator.opcodes.effects import EFFECTS, Effect, space_of
from softlab.emulator.opcodes.matrix_products import MatrixProduct
from softlab.emulator.opcodes.matrix_unit import MATRICES, matrix_count
from softlab.emulator.opcodes.registry import counted, operands_of
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Instruction, Operand, Vector
from softlab.emulator.sites import InstructionSite, Site

_WORD: np.dtype = np.dtype(np.uint32)


def elements_of(operand: Operand) -> tuple[Operand, ...]:
    """The registers of an operand that may be a vector."""
    return operand.elements if isinstance(operand, Vector) else (operand,)


def product_of(modifiers: Sequence[str]) -> MatrixProduct:
    """The product that these modifiers of ``mma`` ask for.

    Raises:
        NotImplementedError: PTX has no such product, or the emulator has not.
    """
    words = [m for m in modifiers if m not in ("sync", "aligned")]
    operation = ""
    if words and words[-1] == "popc":
        operation, words = words[-2], words[:-2]
    saturate = "satfinite" in words
    rounding = next((w for w in words if w in ("rn", "rz", "rm", "rp")), "rn")
    words = [w for w in words if w not in ("satfinite", rounding)]
    if len(words) != 7 or words[1] not in ("row", "col") or words[2] not in ("row", "col"):
        raise NotImplementedError(f"mma.{'.'.join(modifiers)}")
    product = MatrixProduct(words[0], tuple(words[3:]), (words[1], words[2]), saturate, operation, rounding)  # type: ignore[arg-type]
    product.check()
    return product


@EFFECTS.opcode("mma", warp_synchronous=True, masked=False)
def _mma(instruction: Instruction, index: int, image: Image) -> Effect:
    product = product_of(instruction.modifiers)
    destination, *matrices = operands_of(instruction, 4)
    kind = "b64" if product.kinds[0] == "f64" else "b32"
    sources: list[tuple[Operand, str]] = []
    for one, operand in zip(product.fragments[1:], matrices, strict=True):
        sources += [(element, kind) for element in counted(elements_of(operand), one.registers)]
    return Effect(
        lambda units: partial(units.matrices.multiply, product),
        InstructionSite(index, instruction),
        tuple(sources),
        counted(elements_of(destination), product.fragments[0].registers),
        (kind,) * product.fragments[0].registers,
    )


def _matrix_site(instruction: Instruction, index: int, store: bool) -> Site:
    """The rows that an ``ldmatrix`` or ``stmatrix`` moves."""
    known = {"sync", "aligned", "m8n8", "trans", "shared", "shared::cta", "b16", *MATRICES}
    if not known.issuperset(instruction.modifiers) or not {"m8n8", "b16"}.issubset(instruction.modifiers):
        raise NotImplementedError(instruction.text)
    return Site(index, instruction, space_of(instruction), _WORD, 4, store=store)


@EFFECTS.opcode("ldmatrix", warp_synchronous=True, masked=False)
def _ldmatrix(instruction: Instruction, index: int, image: Image) -> Effect:
    destination, address = operands_of(instruction, 2)
    count, trans = _count_of(instruction), instruction.has("trans")
    return Effect(
        lambda units: partial(units.matrices.load, trans),
        _matrix_site(instruction, index, False),
        ((address, "address"),),
        counted(elements_of(destination), count),
        ("b32",) * count,
    )


@EFFECTS.opcode("stmatrix", has_result=False, warp_synchronous=True, masked=False)
def _stmatrix(instruction: Instruction, index: int, image: Image) -> Effect:
    address, values = operands_of(instruction, 2)
    count, trans = _count_of(instruction), instruction.has("trans")
    return Effect(
        lambda units: partial(units.matrices.store, trans),
        _matrix_site(instruction, index, True),
        ((address, "address"), *((value, "b32") for value in counted(elements_of(values), count))),
    )


def _count_of(instruction: Instruction) -> int:
    if not any(m in MATRICES for m in instruction.modifiers):
        raise NotImplementedError(instruction.text)
    return matrix_count(instruction)


@EFFECTS.opcode("movmatrix", warp_synchronous=True, masked=False)
def _movmatrix(instruction: Instruction, index: int, image: Image) -> Effect:
    if tuple(instruction.modifiers) != ("sync", "aligned", "m8n8", "trans", "b16"):
        raise NotImplementedError(instruction.text)
    destination, source = operands_of(instruction, 2)
    site = InstructionSite(index, instruction)
    return Effect(lambda units: units.matrices.move, site, ((source, "b32"),), (destination,), ("b32",))
