"""Which product of matrices a machine instruction computes, by its opcode and modifiers."""

from __future__ import annotations

from collections.abc import Sequence

from softlab.emulator.opcodes.matrix_products import MatrixProduct

_FLOATS = {"1684": "m16n8k4", "1688": "m16n8k8", "16816": "m16n8k16"}
_INTEGERS = {"8816": "m8n8k16", "16816": "m16n8k16", "16832": "m16n8k32"}
_BITS = {"88128": "m8n8k128", "168128": "m16n8k128", "168256": "m16n8k256"}
_DOUBLES = {"8x8x4": "m8n8k4", "16x8x4": "m16n8k4", "16x8x8": "m16n8k8", "16x8x16": "m16n8k16"}
#: Opcode -> shape as it is printed -> shape.
SHAPES = {"HMMA": _FLOATS, "IMMA": _INTEGERS, "BMMA": _BITS, "DMMA": _DOUBLES}
#: Opcode -> the other modifiers that are known.
_OTHERS = {
    "HMMA": ("F16", "F32", "BF16", "TF32"),
    "IMMA": ("S8", "U8", "SAT"),
    "BMMA": ("AND", "XOR", "POPC"),
    "DMMA": ("RZ", "RM", "RP"),
}


def product_of(opcode: str, modifiers: Sequence[str]) -> MatrixProduct:
    """The product of an instruction whose opcode is one of ``SHAPES``.

    Raises:
        NotImplementedError: a form that is not known.
    """
    shapes = [m for m in modifiers if m in SHAPES[opcode]]
    others = [m for m in modifiers if m not in shapes]
    if len(shapes) != 1 or not set(others) <= set(_OTHERS[opcode]):
        raise NotImplementedError(f"{opcode} of this form")
    product = _product(opcode, SHAPES[opcode][shapes[0]], [m.lower() for m in others])
    product.check()
    return product


def _product(opcode: str, shape: str, others: Sequence[str]) -> MatrixProduct:
    if opcode == "HMMA":  # the result's type, and that of the factors unless it is f16
        result, factor = (*others, "f16")[:2]
        return MatrixProduct(shape, (result, factor, factor, result))  # type: ignore[arg-type]
    if opcode == "IMMA":
        left, right = (m for m in others if m != "sat")
        return MatrixProduct(shape, ("s32", left, right, "s32"), saturate="sat" in others)
    if opcode == "BMMA":
        operation = next(m for m in others if m != "popc")
        return MatrixProduct(shape, ("s32", "b1", "b1", "s32"), operation=operation)
    return MatrixProduct(shape, ("f64", "f64", "f64", "f64"), rounding=(*others, "rn")[0])


def registers_of_operands(opcode: str, modifiers: Sequence[str]) -> tuple[int, ...]:
    """Registers of 32 bits that the operands D, A, B and C have in each lane."""
    product = product_of(opcode, modifiers)
    words = 2 if product.kinds[0] == "f64" else 1
    return tuple(words * one.registers for one in product.fragments)
