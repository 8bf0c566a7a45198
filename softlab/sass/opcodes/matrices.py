"""Matrix instructions of a warp: products, and loads, stores and transposes of matrices of 8 x 8 elements of 16 bits.

The arithmetic is that of ``mma.sync`` in the emulator (:mod:`softlab.emulator.opcodes.matrix_products`), and a
register of a fragment has the elements that PTX says.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.matrix_products import MatrixProduct
from softlab.emulator.opcodes.matrix_unit import registers_of, rows_of
from softlab.sass.access import Access
from softlab.sass.form import U32, U64, Form, Reader
from softlab.sass.lanes import WARP
from softlab.sass.machine import Machine
from softlab.sass.memory import ITEMS
from softlab.sass.opcodes.warps import executing, writer
from softlab.sass.registry import Action, effect
from softlab.sass.streams import Kind

#: Lanes that give the addresses of the rows of a matrix, and the bytes of a row.
_ROWS, _ROW_BYTES = 8, 16
_FLOAT_SHAPES = {"1684": "m16n8k4", "1688": "m16n8k8", "16816": "m16n8k16"}
_INTEGER_SHAPES = {"8816": "m8n8k16", "16816": "m16n8k16", "16832": "m16n8k32"}
_BIT_SHAPES = {"88128": "m8n8k128", "168128": "m16n8k128", "168256": "m16n8k256"}
_DOUBLE_SHAPES = {"8x8x4": "m8n8k4", "16x8x4": "m16n8k4", "16x8x8": "m16n8k8", "16x8x16": "m16n8k16"}


@effect("HMMA")
def _product_of_floats(form: Form, machine: Machine) -> Action:
    """Factors of f16, unless it says BF16 or TF32."""
    form.only(*_FLOAT_SHAPES, "F16", "F32", "BF16", "TF32")
    shape, result = form.one_of(*_FLOAT_SHAPES), form.one_of("F32", "F16").lower()
    factor = form.one_of("BF16", "TF32", default="F16").lower()
    return _product(form, machine, MatrixProduct(_FLOAT_SHAPES[shape], (result, factor, factor, result)))


@effect("IMMA")
def _product_of_bytes(form: Form, machine: Machine) -> Action:
    form.only(*_INTEGER_SHAPES, "S8", "U8", "SAT")
    left, right = (m.lower() for m in form.modifiers if m in ("S8", "U8"))
    shape = _INTEGER_SHAPES[form.one_of(*_INTEGER_SHAPES)]
    return _product(form, machine, MatrixProduct(shape, ("s32", left, right, "s32"), saturate=form.has("SAT")))


@effect("BMMA")
def _product_of_bits(form: Form, machine: Machine) -> Action:
    form.only(*_BIT_SHAPES, "AND", "XOR", "POPC")
    shape, operation = _BIT_SHAPES[form.one_of(*_BIT_SHAPES)], form.one_of("AND", "XOR").lower()
    return _product(form, machine, MatrixProduct(shape, ("s32", "b1", "b1", "s32"), operation=operation))


@effect("DMMA")
def _product_of_doubles(form: Form, machine: Machine) -> Action:
    form.only(*_DOUBLE_SHAPES, "RZ", "RM", "RP")
    shape = _DOUBLE_SHAPES[form.one_of(*_DOUBLE_SHAPES)]
    rounding = form.one_of("RZ", "RM", "RP", default="RN").lower()
    return _product(form, machine, MatrixProduct(shape, ("f64", "f64", "f64", "f64"), rounding=rounding))


def _product(form: Form, machine: Machine, product: MatrixProduct) -> Action:
    """D = A B + C: the operands D, A, B and C, the first register of each."""
    product.check()
    if len(form.operands) != 4 or any(o.negated or o.absolute or o.inverted for o in form.operands):
        raise NotImplementedError("other operands than D, A, B and C")
    if [s for o in form.operands for s in o.suffixes if s != "reuse"] not in ([], ["ROW", "COL"]):
        raise NotImplementedError("the layout of a matrix")
    # Registers of 32 bits per register of the fragment.
    words = 2 if product.kinds[0] == "f64" else 1
    counts = [words * one.registers for one in product.fragments]
    destinations = form.destinations(0, counts[0])
    given = [_fragment(form, number, count) for number, count in enumerate(counts[1:], 1)]
    masks, writes = executing(form, machine), [writer(form, machine, one) for one in destinations]

    def step(r: list) -> None:
        if not masks(r).any():
            return
        parts = (np.stack([machine.now.spread(read(r)) for read in readers], axis=-1) for readers in given)
        a, b, c = (part.view(U64) if words == 2 else part for part in parts)
        found = product.of_registers(a, b, c).view(U32)
        for number, write in enumerate(writes):
            write(r, np.ascontiguousarray(found[..., number]))

    return step


def _fragment(form: Form, number: int, count: int) -> list[Reader]:
    return [form.register_after(number, k) for k in range(count)]


def _shape_of_matrices(form: Form) -> tuple[int, bool]:
    """(how many matrices it moves, whether each is transposed)."""
    form.only("16", "M88", "MT88", "2", "4")
    return int(form.one_of("2", "4", default="1")), form.one_of("M88", "MT88") == "MT88"


def _rows(access: Access, count: int) -> Callable[[list], tuple[np.ndarray, np.ndarray] | None]:
    """A function that gives the warps (k,) bool that execute it and the lanes (k, 32) bool that give addresses."""

    def rows(r: list) -> tuple[np.ndarray, np.ndarray] | None:
        active = access.active(r)
        if active is None:
            return None
        warps = np.asarray(active.any(axis=1))
        return warps, warps[:, None] & (np.arange(WARP) < _ROWS * count)

    return rows


@effect("LDSM")
def _load_matrices(form: Form, machine: Machine) -> Action:
    """A register per matrix: lane l gets elements 2 (l % 4) and the next one of row l / 4."""
    count, transposed = _shape_of_matrices(form)
    access = Access(form, machine, 1, Kind.LOAD, _ROW_BYTES)
    access.of_matrices = True
    destinations, rows = form.destinations(0, count), _rows(access, count)
    form.reads.update(destinations)  # warps that do not load keep what they have

    def step(r: list) -> None:
        found = rows(r)
        if found is None:
            return
        warps, givers = found
        (part,) = access.parts(r, givers)
        items = np.ascontiguousarray(access.load(part)).view(np.uint16)
        registers = registers_of(items.reshape(-1, count, _ROWS, _ROWS), transposed)
        for number, destination in enumerate(destinations):
            value = np.array(machine.now.spread(r[destination]))
            value[warps] = registers[:, number]
            r[destination] = machine.now.collect(value)

    return step


@effect("STSM")
def _store_matrices(form: Form, machine: Machine) -> Action:
    """The inverse of LDSM."""
    count, transposed = _shape_of_matrices(form)
    access = Access(form, machine, 0, Kind.STORE, _ROW_BYTES)
    readers, rows = _fragment(form, 1, count), _rows(access, count)

    def step(r: list) -> None:
        found = rows(r)
        if found is None:
            return
        warps, givers = found
        registers = np.stack([machine.now.spread(read(r)) for read in readers], axis=1)[warps]
        (part,) = access.parts(r, givers)
        access.store(part, rows_of(np.ascontiguousarray(registers), transposed).view(ITEMS[_ROW_BYTES]).reshape(-1))

    return step


@effect("MOVM")
def _transpose_matrix(form: Form, machine: Machine) -> Action:
    form.only("16", "MT88")
    destination, read = form.destination(0), form.bits(1)
    masks, write = executing(form, machine), writer(form, machine, destination)

    def step(r: list) -> None:
        if masks(r).any():
            words = np.ascontiguousarray(machine.now.spread(read(r)))
            write(r, registers_of(words.view(np.uint16).reshape(-1, 1, _ROWS, _ROWS), True)[:, 0])

    return step
