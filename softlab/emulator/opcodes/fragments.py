"""Which elements of a matrix the lanes of a warp hold: the fragments of ``mma.sync``.

A fragment is spread over 32 lanes. Each lane has some registers, and each register one or more elements, the first in
the lowest bits. Source: PTX ISA, "Matrix Fragments for mma.m8n8k4" and the sections on the other shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from softlab.emulator.lanes import WARP

#: (lane, register, element of the register) -> (row, column) of a matrix.
Spot = Callable[[Any, Any, Any], tuple[Any, Any]]


@dataclass(frozen=True, eq=False)
class Fragment:
    """A matrix that is spread over a warp.

    ``rows``, ``columns``: of the matrix; ``registers`` per lane; ``elements`` per register. ``position``, (rows,
    columns) int64: where each element is, as (lane * registers + register) * elements + element. ``element``, (32 *
    registers * elements,) int64: which element of the matrix, row by row, is at each position.
    """

    rows: int
    columns: int
    registers: int
    elements: int
    position: np.ndarray
    element: np.ndarray

    def matrix(self, values: np.ndarray) -> np.ndarray:
        """(..., 32, registers * elements) elements -> (..., rows, columns)."""
        return values.reshape(*values.shape[:-2], -1)[..., self.position]

    def spread(self, matrix: np.ndarray) -> np.ndarray:
        """The inverse of :meth:`matrix`."""
        flat = matrix.reshape(*matrix.shape[:-2], -1)[..., self.element]
        return flat.reshape(*flat.shape[:-1], WARP, self.registers * self.elements)


def fragment(rows: int, columns: int, registers: int, elements: int, place: Spot) -> Fragment:
    """The fragment in which each (lane, register, element) is at this place."""
    lane, register, element = np.meshgrid(np.arange(WARP), np.arange(registers), np.arange(elements), indexing="ij")
    row, column = place(lane, register, element)
    of_position = np.broadcast_to(row * columns + column, lane.shape).reshape(-1)
    position = np.full(rows * columns, -1, np.int64)
    position[of_position] = np.arange(len(of_position))
    assert (position >= 0).all(), "an element of the matrix is in no lane"
    return Fragment(rows, columns, registers, elements, position.reshape(rows, columns), of_position)


@lru_cache(maxsize=64)
def left(rows: int, columns: int, elements: int) -> Fragment:
    """A of ``mma.m8n8k*`` and ``mma.m16n8k*``, all shapes but m8n8k4 of f16; ``elements`` per register."""
    halves = rows // 8

    def place(lane: Any, register: Any, element: Any) -> tuple[Any, Any]:
        row = lane // 4 + 8 * (register % halves)
        return row, lane % 4 * elements + register // halves * 4 * elements + element

    return fragment(rows, columns, rows * columns // (WARP * elements), elements, place)


@lru_cache(maxsize=64)
def right(rows: int, columns: int, elements: int) -> Fragment:
    """B of ``mma.m*n8k*``, all shapes but m8n8k4 of f16."""

    def place(lane: Any, register: Any, element: Any) -> tuple[Any, Any]:
        return lane % 4 * elements + register * 4 * elements + element, lane // 4

    return fragment(rows, columns, rows * columns // (WARP * elements), elements, place)


@lru_cache(maxsize=64)
def result(rows: int, columns: int, elements: int) -> Fragment:
    """C and D of ``mma.m*n8k*``, all shapes but m8n8k4 of f16; ``elements`` is 2 for f16, else 1.

    The rows of a warp in D of ``wgmma`` lie likewise, each 8 columns after the other.
    """
    halves = rows // 8

    def place(lane: Any, register: Any, element: Any) -> tuple[Any, Any]:
        number = register * elements + element
        row = lane // 4 + number // 2 % halves * 8
        return row, number // (2 * halves) * 8 + lane % 4 * 2 + number % 2

    return fragment(rows, columns, rows * columns // (WARP * elements), elements, place)


# m8n8k4 of f16: four products at once. Product p belongs to lanes 4p to 4p + 3 and 16 + 4p to 16 + 4p + 3. The matrices
# of the four products are stacked: rows 8p to 8p + 7 of A, C and D and rows 4p to 4p + 3 of B belong to product p.


@lru_cache(maxsize=8)
def quad_left(by_row: bool) -> Fragment:
    """A of ``mma.m8n8k4`` of f16: (32, 4)."""

    def place(lane: Any, register: Any, element: Any) -> tuple[Any, Any]:
        number, upper = register * 2 + element, lane // 16 * 4
        row, column = (lane % 4, number) if by_row else (number, lane % 4)
        return lane % 16 // 4 * 8 + row + upper, column

    return fragment(32, 4, 2, 2, place)


@lru_cache(maxsize=8)
def quad_right(by_row: bool) -> Fragment:
    """B of ``mma.m8n8k4`` of f16: (16, 8)."""

    def place(lane: Any, register: Any, element: Any) -> tuple[Any, Any]:
        number, upper = register * 2 + element, lane // 16 * 4
        row, column = (lane % 4, number) if by_row else (number, lane % 4)
        return lane % 16 // 4 * 4 + row, column + upper

    return fragment(16, 8, 2, 2, place)


@lru_cache(maxsize=8)
def quad_result(elements: int) -> Fragment:
    """C and D of ``mma.m8n8k4`` of f16: (32, 8). f16 (two elements per register) and f32 differ."""

    def place(lane: Any, register: Any, element: Any) -> tuple[Any, Any]:
        number, upper = register * elements + element, lane // 16 * 4
        if elements == 2:
            row, column = lane % 4, number
        else:
            row, column = (lane & 1) + (number & 2), (number & 4) + (lane & 2) + (number & 1)
        return lane % 16 // 4 * 8 + row + upper, column

    return fragment(32, 8, 8 // elements, elements, place)
