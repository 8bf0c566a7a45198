"""Matrix instructions of a warp: products, and loads, stores and transposes of matrices of 8 x 8 elements of 16 bits.

The arithmetic is that of ``mma.sync`` in the emulator (:mod:`softlab.emulator.opcodes.matrix_products`), and a
register of a fragment has the elements that PTX says.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.matrix_unit import registers_of, rows_of
from softlab.sass.access import Access
from softlab.sass.form import U32, U64, Form, Reader
from softlab.sass.lanes import WARP
from softlab.sass.machine import Machine
from softlab.sass.memory import ITEMS
from softlab.sass.opcodes.warps import executing, writer
from softlab.sass.products import SHAPES, product_of, registers_of_operands
from softlab.sass.registry import Action, effect
from softlab.sass.streams import Kind

#: Lanes that give the addresses of the rows of a matrix, and the bytes of a row.
_ROWS, _ROW_BYTES = 8, 16


@effect(*SHAPES)
def _product(form: Form, machine: Machine) -> Action:
    """D = A B + C: the operands D, A, B and C, the first register of each."""
    opcode, modifiers = form.instruction.opcode, form.modifiers
    product, counts = product_of(opcode, modifiers), registers_of_operands(opcode, modifiers)
    if len(form.operands) != 4 or any(o.negated or o.absolute or o.inverted for o in form.operands):
        raise NotImplementedError("other operands than D, A, B and C")
    if [s for o in form.operands for s in o.suffixes if s != "reuse"] not in ([], ["ROW", "COL"]):
        raise NotImplementedError("the layout of a matrix")
    destinations = form.destinations(0, counts[0])
    given = [_fragment(form, number, count) for number, count in enumerate(counts[1:], 1)]
    masks, writes = executing(form, machine), [writer(form, machine, one) for one in destinations]

    def step(r: list) -> None:
        if not masks(r).any():
            return
        parts = (np.stack([machine.now.members(read(r)) for read in readers], axis=-1) for readers in given)
        a, b, c = (part.view(U64) if product.kinds[0] == "f64" else part for part in parts)
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
        registers = np.stack([machine.now.members(read(r)) for read in readers], axis=1)[warps]
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
            words = np.ascontiguousarray(machine.now.members(read(r)))
            write(r, registers_of(words.view(np.uint16).reshape(-1, 1, _ROWS, _ROWS), True)[:, 0])

    return step
