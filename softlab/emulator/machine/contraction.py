"""Floating-point instructions that the assembler makes one of, so that they are rounded once.

PTX leaves that open where the instructions have no rounding modifier (PTX ISA, "Floating-Point Instructions", mul).
NVRTC writes ``fma`` for ``a * b + c`` itself and leaves ``a * b - c`` to the assembler. What ptxas does is taken from
its machine code for sm_90 (12.9 and 13.0, some 90 short programs):

- It fuses a product all of whose uses are additions and subtractions, also behind a ``neg``. Of two products in one
  subtraction it fuses the first.
- Product and uses stand in one basic block, or a factor is a constant or a parameter. What the assembler expands to
  code with branches ends a block, too: most divisions, roots and fences, and accesses to memory under a guard.
- A quotient by ``div.approx`` or ``div.full`` is such a product, too: of the dividend and the divisor's reciprocal.
- It computes the reciprocal of a divisor that ``mov`` makes a number.
- A product whose one use is a multiplication by a power of two from 1/8 to 8 is scaled before it is rounded
  (``FMUL.D2``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from softlab.emulator.machine.flow import uses_and_definitions
from softlab.emulator.opcodes.contracted import QUOTIENTS, SCALES
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Address, Immediate, Instruction, Register, Symbol

_FREE = ({"f32"}, {"ftz", "f32"}, {"f64"}, {"f16"}, {"ftz", "f16"}, {"f16x2"}, {"ftz", "f16x2"}, {"bf16"}, {"bf16x2"})
_ROUNDED = ("rn", "rz", "rm", "rp")
#: What may leave the straight line, and what does so where it has a guard.
_LEAVES, _LEAVES_UNDER_GUARD = ("bra", "brx", "call", "ret", "exit", "trap"), ("ld", "st", "red", "atom")


def contracted(image: Image) -> Image:
    """The image with the additions and subtractions of products as ``contracted``, and with ``scaled`` products."""
    image = _with_known_divisors(image)
    flow = _Flow(image)
    products = flow.products()
    scaled = flow.scaled(products)
    if not products and not scaled:
        return image
    fused = (_fused(i, products, scaled.get(index)) for index, i in enumerate(image.instructions))
    return replace(image, instructions=tuple(fused))


def _with_known_divisors(image: Image) -> Image:
    """The image in which the divisor of an approximate division is a number, where its register holds always one."""
    divisors = {i.operands[2].name for i in image.instructions if _divides_by_register(i)}  # type: ignore[union-attr]
    writes: dict[str, list[Instruction]] = {name: [] for name in divisors}
    for instruction in image.instructions if divisors else ():
        for name in divisors.intersection(uses_and_definitions(instruction)[1]):
            writes[name].append(instruction)
    numbers = {
        name: found[0].operands[1]
        for name, found in writes.items()
        if len(found) == 1 and found[0].opcode == "mov" and _is_constant(found[0])
    }
    if not numbers:
        return image

    def changed(instruction: Instruction) -> Instruction:
        if not _divides_by_register(instruction) or instruction.operands[2].name not in numbers:  # type: ignore[union-attr]
            return instruction
        *operands, divisor = instruction.operands
        return replace(instruction, operands=(*operands, numbers[divisor.name]))  # type: ignore[union-attr]

    return replace(image, instructions=tuple(map(changed, image.instructions)))


def _divides_by_register(instruction: Instruction) -> bool:
    return instruction.opcode == "div" and instruction.has(*QUOTIENTS) and isinstance(instruction.operands[2], Register)


@dataclass(frozen=True)
class _Product:
    """A multiplication, its index, and whether a register holds its result or that with the other sign."""

    multiplication: Instruction
    at: int
    negative: bool = False


class _Flow:
    """Where registers are written and used, and the assembler's basic blocks."""

    def __init__(self, image: Image) -> None:
        self._instructions = image.instructions
        self._block_starts = _block_starts(image)
        self._written: dict[str, list[int]] = {}
        self._uses: dict[str, list[int]] = {}
        self._constants: set[str] = set()
        if not any(_is_product(i) for i in image.instructions):
            return
        for index, instruction in enumerate(image.instructions):
            uses, definitions = uses_and_definitions(instruction)
            for name in definitions:
                self._written.setdefault(name, []).append(index)
            for name in uses:
                self._uses.setdefault(name, []).append(index)
            if _is_constant(instruction):
                self._constants.update(definitions)

    def products(self) -> dict[str, _Product]:
        """Register -> the product that it holds, of those that are fused."""
        found: dict[str, _Product] = {}
        block_of: dict[str, int | None] = {}
        sources: dict[str, str] = {}
        for index, instruction in enumerate(self._instructions):
            name = self._single_result(instruction)
            if name is None:
                continue
            source = _negated(instruction)
            if _is_product(instruction):
                found[name] = _Product(instruction, index)
                anywhere = self._has_constant(instruction) and self._keeps_factors(instruction)
                block_of[name] = None if anywhere else self._block(index)
            elif source in found:
                sources[name] = source
                found[name] = replace(found[source], negative=not found[source].negative)
                block_of[name] = block_of[source]
        refused = [name for name in found if not all(self._takes(name, found, block_of[name], sources))]
        while refused:  # a register and the one that has the other sign go together
            name = refused.pop()
            if found.pop(name, None):
                refused += [n for n, source in sources.items() if source == name]
                refused += [sources[name]] if name in sources else []
        return found

    def _takes(
        self, name: str, found: dict[str, _Product], block: int | None, sources: dict[str, str]
    ) -> Iterator[bool]:
        """For each use of a product, whether the assembler fuses it there."""
        kinds = set(found[name].multiplication.modifiers).difference(QUOTIENTS)
        for index in self._uses.get(name, ()):
            use = self._instructions[index]
            if _negated(use) == name:
                yield sources.get(use.operands[0].name) == name  # type: ignore[union-attr]
            else:
                fits = _is_free(use, "add", "sub") and set(use.modifiers) - {"sat"} == kinds
                once = self._uses[name].count(index) == 1
                near = block in (None, self._block(index))
                yield fits and once and near and self._keeps_factors(found[name].multiplication, found[name].at, index)

    def scaled(self, products: dict[str, _Product]) -> dict[int, Instruction]:
        """Index of a multiplication by a power of two -> the multiplication that it is made one with."""
        found: dict[int, Instruction] = {}
        for at, first in enumerate(self._instructions):
            name = self._single_result(first)
            if name is None or at in found or not _is_free(first, "mul"):
                continue
            uses = self._uses.get(name, [])
            use = self._instructions[uses[0]] if len(uses) == 1 else None
            result = _scale_result(use, first) if use else None
            if result and result not in products and self._keeps_factors(first, at, uses[0]):
                found[uses[0]] = first
        return found

    def _single_result(self, instruction: Instruction) -> str | None:
        """The register that it writes, if nothing else does so and it has no guard."""
        result = instruction.operands[0] if instruction.operands and instruction.guard is None else None
        return result.name if isinstance(result, Register) and len(self._written.get(result.name, ())) == 1 else None

    def _keeps_factors(self, product: Instruction, first: int = 0, last: int | None = None) -> bool:
        """Whether no factor changes between both instructions of one block; without them, whether none ever does."""
        factors = [o.name for o in product.operands[1:] if isinstance(o, Register)]
        writes = [write for name in factors if len(self._written.get(name, ())) > 1 for write in self._written[name]]
        if not writes or last is None:
            return not writes
        return self._block(first) == self._block(last) and not any(first <= write < last for write in writes)

    def _has_constant(self, product: Instruction) -> bool:
        return any(
            isinstance(o, Immediate) or (isinstance(o, Register) and o.name in self._constants)
            for o in product.operands[1:]
        )

    def _block(self, index: int) -> int:
        return int(np.searchsorted(self._block_starts, index, side="right"))


def _block_starts(image: Image) -> list[int]:
    """The indices of instructions before which the assembler ends a basic block, in order."""
    targets = {o.name for i in image.instructions for o in i.operands if isinstance(o, Symbol)}
    targets.update(name for names in image.tables.values() for name in names)
    starts = {index for name, index in image.labels.items() if name in targets}
    starts.update(index + 1 for index, i in enumerate(image.instructions) if _ends_block(i))
    return sorted(starts)


def _ends_block(instruction: Instruction) -> bool:
    opcode, has = instruction.opcode, instruction.has
    if opcode in ("div", "rem") and not has("f32", "f64"):
        return not has("u32")
    if opcode in ("div", "rcp", "sqrt"):
        return has(*_ROUNDED)
    if opcode in ("membar", "fence"):
        return not has("proxy")
    if opcode == "rsqrt":
        return has("f64")
    return opcode in _LEAVES or (opcode in _LEAVES_UNDER_GUARD and instruction.guard is not None)


def _is_constant(instruction: Instruction) -> bool:
    """Whether its result is an operand of the machine code itself: a number, or a parameter of the kernel."""
    if instruction.guard is not None or len(instruction.operands) != 2:
        return False
    source = instruction.operands[1]
    if instruction.opcode == "mov":
        return isinstance(source, Immediate)
    of_parameter = instruction.opcode == "ld" and instruction.has("param")
    return of_parameter and isinstance(source, Address) and not isinstance(source.base, Register)


def _is_free(instruction: Instruction, *opcodes: str) -> bool:
    """Whether it is one of these, of three floats, and the assembler may change its rounding."""
    if instruction.opcode not in opcodes or len(instruction.operands) != 3:
        return False
    allowed = {"sat"} if instruction.opcode != "mul" else set()
    registers = all(isinstance(operand, Register | Immediate) for operand in instruction.operands)
    return set(instruction.modifiers) - allowed in _FREE and registers and isinstance(instruction.operands[0], Register)


def _is_product(instruction: Instruction) -> bool:
    """Whether it is a multiplication that the assembler may change the rounding of, or a division that is one."""
    if instruction.opcode != "div" or not instruction.has(*QUOTIENTS):
        return _is_free(instruction, "mul")
    product = replace(
        instruction, opcode="mul", modifiers=tuple(m for m in instruction.modifiers if m not in QUOTIENTS)
    )
    return _is_free(product, "mul")


def _negated(instruction: Instruction) -> str | None:
    """The register of a float whose sign it changes."""
    plain = instruction.opcode == "neg" and instruction.modifiers in (("f32",), ("f64",)) and instruction.guard is None
    source = instruction.operands[1] if plain else None
    return source.name if isinstance(source, Register) else None


def _scale_result(use: Instruction, first: Instruction) -> str | None:
    """The result of a multiplication of ``first`` by a power of two that is made one with it."""
    if use.opcode != "mul" or "f32" not in first.modifiers:
        return None
    same = set(use.modifiers) - {"sat", "rn"} == set(first.modifiers)
    return use.operands[0].name if same and _scale(use) else None  # type: ignore[union-attr]


def _scale(multiplication: Instruction) -> str | None:
    """The name of the power of two that it multiplies by."""
    numbers = [o.value for o in multiplication.operands[1:] if isinstance(o, Immediate)]
    return next((name for name, scale in SCALES.items() if numbers == [scale]), None)


def _fused(instruction: Instruction, products: dict[str, _Product], first: Instruction | None) -> Instruction:
    """``first``: the multiplication whose product it scales, if it is one with that."""
    if not instruction.operands:
        return instruction
    destination, *sources = instruction.operands
    if first is not None:
        modifiers = (str(_scale(instruction)), *(m for m in instruction.modifiers if m != "rn"))
        return replace(instruction, opcode="scaled", modifiers=modifiers, operands=(destination, *first.operands[1:]))
    if not _is_free(instruction, "add", "sub"):
        return instruction
    for position, source in enumerate(sources):
        if isinstance(source, Register) and source.name in products:
            product = products[source.name]
            kind = _KINDS[instruction.opcode, position, product.negative]
            operands = (destination, *product.multiplication.operands[1:], sources[1 - position])
            division = [m for m in product.multiplication.modifiers if m in QUOTIENTS]
            return replace(
                instruction, opcode="contracted", modifiers=(kind, *division, *instruction.modifiers), operands=operands
            )
    return instruction


#: (opcode, position of the product, whether its sign is changed) -> what is computed of a, b and c.
_KINDS = {
    ("add", 0, False): "sum", ("add", 0, True): "subtrahend",
    ("add", 1, False): "sum", ("add", 1, True): "subtrahend",
    ("sub", 0, False): "minuend", ("sub", 0, True): "negative",
    ("sub", 1, False): "subtrahend", ("sub", 1, True): "sum",
}  # fmt: skip
