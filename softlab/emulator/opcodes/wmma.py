"""``wmma.load``, ``wmma.mma`` and ``wmma.store``.

PTX does not say which lane holds which element of a fragment of ``wmma``. On an H200 such a fragment is made of
fragments of ``mma.sync``, and a product is one of ``mma.sync`` per tile:

- m16n16k16, m16n16k8: two tiles of B and of C side by side.
- m32n8k16: two tiles of A and of C, one above the other.
- m8n32k16: the transposed product; the tiles of C's transpose come from B's transpose on the left and A's on the right.
- m8n8k4, m8n8k32, m8n8k128: one tile.

A fragment with more registers than its tiles need (f16) has them repeatedly.
Source: PTX ISA, "Matrix multiply-accumulate operation using wmma instructions"; loads of an H200, see
``docs/tensor_cores.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from softlab.emulator.lanes import WARP, Lanes, Value
from softlab.emulator.memory.elements import Memory
from softlab.emulator.opcodes.effects import EFFECTS, Effect, space_of
from softlab.emulator.opcodes.fragments import Fragment, left, result, right
from softlab.emulator.opcodes.matrices import elements_of
from softlab.emulator.opcodes.matrix_products import BITS, MatrixProduct
from softlab.emulator.opcodes.matrix_unit import Matrices
from softlab.emulator.opcodes.registry import counted
from softlab.emulator.opcodes.units import Units
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Immediate, Instruction, Operand
from softlab.emulator.sites import InstructionSite, Site

#: Shape -> (tiles of A, tiles of B, whether the product is transposed, shape of a tile).
_SHAPES = {
    "m16n16k16": (1, 2, False, "m16n8k16"),
    "m32n8k16": (2, 1, False, "m16n8k16"),
    "m8n32k16": (1, 2, True, "m16n8k16"),
    "m16n16k8": (1, 2, False, "m16n8k8"),
    "m8n8k4": (1, 1, False, "m8n8k4"),
    "m8n8k32": (1, 1, False, "m8n8k32"),
    "m8n8k128": (1, 1, False, "m8n8k128"),
}
_TYPES = {
    "m16n16k16": ("f16", "bf16", "s8", "u8"), "m32n8k16": ("f16", "bf16", "s8", "u8"),
    "m8n32k16": ("f16", "bf16", "s8", "u8"), "m16n16k8": ("tf32",), "m8n8k4": ("f64",), "m8n8k32": ("s4", "u4"),
    "m8n8k128": ("b1",),
}  # fmt: skip
#: Registers of A and B of f16, whatever their size.
_REGISTERS_OF_F16 = 8


def _held(kind: str) -> int:
    """Elements of a register; those of b1 are words."""
    return 1 if kind in ("f64", "b1") else 32 // BITS[kind]


@dataclass(frozen=True)
class Places:
    """Where the elements of a fragment lie in its matrix.

    ``row`` and ``column``, (32, registers, elements per register); ``registers``: those that PTX has, maybe more.
    """

    row: np.ndarray
    column: np.ndarray
    registers: int


@lru_cache(maxsize=128)
def places(operand: str, shape: str, kind: str) -> Places:
    """Of a matrix ``operand`` ("a", "b" or "c"; "d" is as "c")."""
    if shape not in _SHAPES:
        raise NotImplementedError(f"wmma of the shape {shape}")
    a_tiles, b_tiles, transposed, tile = _SHAPES[shape]
    m, n, k = MatrixProduct(tile, ("", "", "", "")).sizes
    held = 2 if operand == "c" and kind == "f16" else 1 if operand == "c" else _held(kind)
    k = k // 32 if kind == "b1" else k
    one: Fragment
    if operand == "c":
        one, count, down = result(m, n, held), max(a_tiles, b_tiles), a_tiles > 1 or transposed
    elif (operand == "a") != transposed:
        one, count, down = left(m, k, held), b_tiles if transposed else a_tiles, True
    else:
        one, count, down = right(k, n, held), 1 if transposed else b_tiles, False
    element = one.element.reshape(WARP, one.registers, one.elements)
    row, column = element // one.columns, element % one.columns
    rows = np.concatenate([row + (down * tile * one.rows) for tile in range(count)], axis=1)
    columns = np.concatenate([column + ((not down) * tile * one.columns) for tile in range(count)], axis=1)
    if transposed:
        rows, columns = columns, rows
    registers = _REGISTERS_OF_F16 if kind == "f16" and operand != "c" else rows.shape[1]
    return Places(rows, columns, registers)


@dataclass(frozen=True)
class TiledProduct:
    """``wmma.mma`` as products of tiles."""

    shape: str
    tile: MatrixProduct

    @cached_property
    def counts(self) -> tuple[int, int, int, int]:
        """Registers of D, A, B and C."""
        d, a, b, c = self.tile.kinds
        swapped = _SHAPES[self.shape][2]
        kinds = (d, b, a, c) if swapped else (d, a, b, c)
        found = (places(o, self.shape, kind).registers for o, kind in zip("cabc", kinds, strict=True))
        return tuple(found)  # type: ignore[return-value]

    def of_registers(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """(..., 32, registers) of A, B and C -> those of D."""
        if _SHAPES[self.shape][2]:
            a, b = b, a
        _, a_held, b_held, c_held = (one.registers for one in self.tile.fragments)
        a_tiles, b_tiles = (2, 1) if _SHAPES[self.shape][2] else _SHAPES[self.shape][:2]
        parts = []
        for number in range(max(a_tiles, b_tiles)):
            pieces = (
                _piece(a, a_held, number % a_tiles),
                _piece(b, b_held, number % b_tiles),
                _piece(c, c_held, number),
            )
            parts.append(self.tile.of_registers(*pieces))
        return np.concatenate(parts, axis=-1)


def _piece(registers: np.ndarray, held: int, number: int) -> np.ndarray:
    return np.ascontiguousarray(registers[..., number * held : (number + 1) * held])


def _multiply(product: TiledProduct, unit: Matrices, lanes: Lanes, site: InstructionSite, *values: Value) -> Any:
    unit.check_whole(lanes, site.instruction)
    registers = unit.gather(lanes, values)
    a, b, c = np.split(registers, np.cumsum(product.counts[1:])[:-1], axis=-1)
    return unit.scatter(lanes, product.of_registers(a, b, c))


@dataclass(frozen=True)
class _Transfer:
    """A load or store of a fragment: ``by_row`` says how the matrix lies in memory; ``whole``: the site of an access to
    a register whose elements are neighbours there, ``single`` of one to an element."""

    places: Places
    by_row: bool
    bits: int
    whole: Site
    single: Site

    @property
    def in_pieces(self) -> bool:
        """Whether the elements of a register are no neighbours in memory."""
        return self.places.row.shape[2] > 1 and not (np.diff(self._along[0, 0]) == 1).all()

    @property
    def _along(self) -> np.ndarray:
        """The coordinate that grows from one element in memory to the next."""
        return self.places.column if self.by_row else self.places.row

    @property
    def _across(self) -> np.ndarray:
        return self.places.row if self.by_row else self.places.column

    def address(self, lanes: Lanes, base: Value, offset: int, stride: Value, register: int, element: int) -> Value:
        """Of each lane; ``stride`` in elements."""
        lane = lanes.column_index % WARP
        across, along = (part[lane, register, element] for part in (self._across, self._along))
        # Elements of less than a byte are counted in words, as the fragment has them.
        per = 1 if self.bits >= 8 else 32 // self.bits
        size = self.bits // 8 if self.bits >= 8 else 4
        if self.bits < 8:
            along = along if self.bits == 1 else along // per
        bytes_ = across * (np.asarray(stride).astype(np.int64) // per) * size + along * size + offset
        return base + bytes_.astype(base.dtype)


def _load(transfer: _Transfer, units: Units, lanes: Lanes, site: Site, base: Value, *stride: Value) -> Any:
    units.matrices.check_whole(lanes, site.instruction)
    memory = units.matrices.memory(site.space)
    values = [
        _load_register(transfer, memory, lanes, site, base, stride[0], register)
        for register in range(transfer.places.row.shape[1])
    ]
    found = tuple(values[number % len(values)] for number in range(transfer.places.registers))
    return found if len(found) > 1 else found[0]


def _load_register(
    transfer: _Transfer, memory: Memory, lanes: Lanes, site: Site, base: Value, stride: Value, register: int
) -> Value:
    if not transfer.in_pieces:
        return memory.load(lanes, transfer.whole, transfer.address(lanes, base, site.offset, stride, register, 0))
    width = transfer.single.width * 8
    total: Value = np.uint32(0)
    for element in range(transfer.places.row.shape[2]):
        address = transfer.address(lanes, base, site.offset, stride, register, element)
        total = total | memory.load(lanes, transfer.single, address).astype(np.uint32) << np.uint32(width * element)
    return total


def _store(transfer: _Transfer, units: Units, lanes: Lanes, site: Site, base: Value, *rest: Value) -> None:
    units.matrices.check_whole(lanes, site.instruction)
    memory = units.matrices.memory(site.space)
    *values, stride = rest
    for register, value in enumerate(values):
        if not transfer.in_pieces:
            address = transfer.address(lanes, base, site.offset, stride, register, 0)
            memory.store(lanes, transfer.whole, address, value)
            continue
        width = transfer.single.width * 8
        for element in range(transfer.places.row.shape[2]):
            address = transfer.address(lanes, base, site.offset, stride, register, element)
            part = (value >> np.uint32(width * element)).astype(transfer.single.dtype)
            memory.store(lanes, transfer.single, address, part)


_KNOWN = {"sync", "aligned", "row", "col", "shared", "shared::cta", "global"}


def _transfer(instruction: Instruction, index: int, store: bool) -> tuple[_Transfer, Site, str]:
    """(what is moved, the site of the instruction, type of a register)."""
    operand = instruction.modifiers[1] if len(instruction.modifiers) > 1 else ""
    shape = next((m for m in instruction.modifiers if m in _SHAPES), "")
    kind = instruction.modifiers[-1]
    words = {*instruction.modifiers[2:-1]} - {shape}
    by_row = instruction.has("row")
    if operand not in ("a", "b", "c", "d") or kind not in BITS or not _KNOWN.issuperset(words):
        raise NotImplementedError(instruction.text)
    accumulator = operand in ("c", "d")
    if not accumulator and (kind not in _TYPES.get(shape, ()) or (BITS[kind] < 8 and by_row != (operand == "a"))):
        raise NotImplementedError(instruction.text)
    found = places("c" if accumulator else operand, shape, kind)
    register = "b64" if kind == "f64" else "b32"
    size = max(8, BITS[kind]) // 8 if BITS[kind] >= 8 else 4
    dtype = np.dtype("u8" if kind == "f64" else "u4")
    site = Site(index, instruction, space_of(instruction), dtype, store=store)
    single = replace(site, dtype=np.dtype(f"u{size}"))
    return _Transfer(found, by_row, BITS[kind], site, single), site, register


def _stride(operands: tuple[Operand, ...], instruction: Instruction, transfer: _Transfer) -> Operand:
    """The operand, or what it is without one: the rows are dense."""
    if operands:
        return operands[0]
    along = transfer.places.column if transfer.by_row else transfer.places.row
    return Immediate(int(along.max() + 1) * (32 if transfer.bits == 1 else 1))


@EFFECTS.opcode("wmma.load", warp_synchronous=True, masked=False)
def _wmma_load(instruction: Instruction, index: int, image: Image) -> Effect:
    transfer, site, register = _transfer(instruction, index, False)
    destination, address, *stride = counted(instruction.operands, 2, 3)
    return Effect(
        lambda units: partial(_load, transfer, units),
        site,
        ((address, "address"), (_stride(tuple(stride), instruction, transfer), "u32")),
        counted(elements_of(destination), transfer.places.registers),
        (register,) * transfer.places.registers,
    )


@EFFECTS.opcode("wmma.store", has_result=False, warp_synchronous=True, masked=False)
def _wmma_store(instruction: Instruction, index: int, image: Image) -> Effect:
    transfer, site, register = _transfer(instruction, index, True)
    address, values, *stride = counted(instruction.operands, 2, 3)
    registers = counted(elements_of(values), transfer.places.registers)
    sources = ((address, "address"), *((value, register) for value in registers))
    return Effect(
        lambda units: partial(_store, transfer, units),
        site,
        (*sources, (_stride(tuple(stride), instruction, transfer), "u32")),
    )


def tiled_product(modifiers: tuple[str, ...]) -> TiledProduct:
    """The product that these modifiers of ``wmma`` ask for."""
    operation = next((m for m in modifiers if m in ("xor", "and")), "")
    rounding = next((m for m in modifiers if m in ("rn", "rz", "rm", "rp")), "rn")
    left_out = ("mma", "sync", "aligned", "row", "col", "satfinite", "popc", operation, rounding)
    shape, *kinds = [m for m in modifiers if m not in left_out]
    if len(kinds) == 2:  # of f16, PTX names only D and C
        kinds = [kinds[0], "f16", "f16", kinds[1]]
    if shape not in _SHAPES or len(kinds) != 4 or kinds[1] not in _TYPES[shape]:
        raise NotImplementedError(f"wmma.{'.'.join(modifiers)}")
    d, a, b, c = kinds
    _, _, swapped, tile = _SHAPES[shape]
    order = (d, b, a, c) if swapped else (d, a, b, c)
    product = MatrixProduct(tile, order, ("row", "col"), "satfinite" in modifiers, operation, rounding)
    product.check(mixed=True)
    return TiledProduct(shape, product)


@EFFECTS.opcode("wmma.mma", warp_synchronous=True, masked=False)
def _wmma_mma(instruction: Instruction, index: int, image: Image) -> Effect:
    product = tiled_product(tuple(instruction.modifiers))
    destination, *matrices = counted(instruction.operands, 4)
    kind = "b64" if product.tile.kinds[0] == "f64" else "b32"
    sources: list[tuple[Operand, str]] = []
    for count, operand in zip(product.counts[1:], matrices, strict=True):
        sources += [(element, kind) for element in counted(elements_of(operand), count)]
    return Effect(
        lambda units: partial(_multiply, product, units.matrices),
        InstructionSite(index, instruction),
        tuple(sources),
        counted(elements_of(destination), product.counts[0]),
        (kind,) * product.counts[0],
    )
