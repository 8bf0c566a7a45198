"""Carries out matrix instructions: gathers fragments from the lanes of whole warps, and spreads results over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from softlab.emulator.host import FaultReporter
from softlab.emulator.lanes import WARP, Lanes, Value
from softlab.emulator.memory.elements import Memory
from softlab.emulator.opcodes.matrix_products import MatrixProduct
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import InstructionSite, Site

#: Matrices of an ``ldmatrix`` or ``stmatrix``.
MATRICES = {"x1": 1, "x2": 2, "x4": 4}


class Matrices:
    """The matrix instructions of one batch. ``memories``: of the state spaces."""

    def __init__(self, faults: FaultReporter, memories: Mapping[str, Memory]) -> None:
        self._faults = faults
        self._memories = memories

    def multiply(self, product: MatrixProduct, lanes: Lanes, site: InstructionSite, *values: Value) -> Any:
        """``mma.sync``: the registers of A, B and C -> those of D."""
        self.check_whole(lanes, site.instruction)
        registers = self.gather(lanes, values)
        counts = [one.registers for one in product.fragments[1:]]
        a, b, c = np.split(registers, np.cumsum(counts)[:-1], axis=-1)
        return self.scatter(lanes, product.of_registers(*(np.ascontiguousarray(part) for part in (a, b, c))))

    def load(self, trans: bool, lanes: Lanes, site: Site, address: Value) -> Any:
        """``ldmatrix``: the rows of 16 bytes at the addresses of 8 lanes per matrix -> a register per matrix."""
        self.check_whole(lanes, site.instruction)
        count = matrix_count(site.instruction)
        givers = lanes.split(_gives_address(lanes, count))[0]
        assert givers is not None, "whole warps have lanes that give addresses"
        rows = self._memories[site.space].load(givers, site, _cut(lanes, givers, address))
        words = self.gather(givers, rows)[..., : 8 * count, :]
        matrices = np.ascontiguousarray(words).view(np.uint16).reshape(*words.shape[:-2], count, 8, 8)
        return self.scatter(lanes, np.swapaxes(registers_of(matrices, trans), -1, -2))

    def store(self, trans: bool, lanes: Lanes, site: Site, address: Value, *values: Value) -> None:
        """``stmatrix``: a register per matrix -> the rows of 16 bytes at the addresses of 8 lanes per matrix."""
        self.check_whole(lanes, site.instruction)
        count = matrix_count(site.instruction)
        givers = lanes.split(_gives_address(lanes, count))[0]
        assert givers is not None, "whole warps have lanes that give addresses"
        registers = np.swapaxes(self.gather(lanes, values), -1, -2)
        rows = rows_of(np.ascontiguousarray(registers), trans)
        words = np.zeros((*rows.shape[:-2], WARP, 4), np.uint32)
        words[..., : 8 * count, :] = rows
        pieces = (givers.collect(np.ascontiguousarray(words[..., word])) for word in range(4))
        self._memories[site.space].store(givers, site, _cut(lanes, givers, address), *pieces)

    def move(self, lanes: Lanes, site: InstructionSite, value: Value) -> Value:
        """``movmatrix``: a matrix of 8 x 8 elements of 16 bits, transposed."""
        self.check_whole(lanes, site.instruction)
        words = self.gather(lanes, (value,))[..., 0]
        matrix = np.ascontiguousarray(words).view(np.uint16).reshape(*words.shape[:-1], 1, 8, 8)
        return self.scatter(lanes, np.swapaxes(registers_of(matrix, True), -1, -2))

    def memory(self, space: str) -> Memory:
        """A state space."""
        return self._memories[space]

    def check_whole(self, lanes: Lanes, instruction: Instruction) -> None:
        """All 32 lanes of a warp take part.

        Raises:
            KernelFault: some lanes have ended, do not exist, or are elsewhere.
        """
        if lanes.full:
            return
        mask = lanes.warp_mask
        part = np.asarray(mask.any(axis=2) & ~mask.all(axis=2))
        if part.any():
            bad = lanes.collect(np.repeat(part[:, :, None], WARP, axis=2))
            sentence = (
                f"{instruction.opcode} needs all 32 lanes of a warp, and some have ended, do not exist, or went another"
                " way. Start blocks of whole warps, and let all lanes of the warp come to it"
            )
            fault = self._faults.fault("inactive-lane", sentence, instruction, lanes, bad)
            self._faults.report(fault, count=int(part.sum()))

    @staticmethod
    def gather(lanes: Lanes, values: Sequence[Value]) -> np.ndarray:
        """Values of the set -> (rows, warps, 32, values); rows is 1 where all blocks share all of them."""
        spread = [lanes.spread(value) for value in values]
        rows = max(len(one) for one in spread)
        found = np.empty((rows, *spread[0].shape[1:], len(spread)), spread[0].dtype)
        for number, one in enumerate(spread):
            found[..., number] = one
        return found

    @staticmethod
    def scatter(lanes: Lanes, registers: np.ndarray) -> Any:
        """The inverse of :meth:`gather`: one value, or a tuple of several."""
        apart = np.ascontiguousarray(np.moveaxis(registers, -1, 0))
        values = tuple(lanes.collect(one) for one in apart)
        return values if len(values) > 1 else values[0]


def matrix_count(instruction: Instruction) -> int:
    """How many matrices it moves."""
    return next(MATRICES[m] for m in instruction.modifiers if m in MATRICES)


def _gives_address(lanes: Lanes, count: int) -> np.ndarray:
    """Of the set: the first 8 lanes per matrix of each warp."""
    return lanes.column_index % WARP < 8 * count


def _cut(lanes: Lanes, part: Lanes, value: Value) -> Value:
    """A value of the set, for a part of its lanes."""
    return value if part is lanes else part.take(lanes.put(value, value, True))


def registers_of(matrices: np.ndarray, trans: bool) -> np.ndarray:
    """(..., count, 8, 8) u16 -> (..., count, 32) u32: lane l has elements 2 (l % 4) and the next one of row l / 4."""
    if trans:
        matrices = np.swapaxes(matrices, -1, -2)
    flat = np.ascontiguousarray(matrices).reshape(*matrices.shape[:-2], 64)
    return flat.view(np.uint32)


def rows_of(registers: np.ndarray, trans: bool) -> np.ndarray:
    """(..., count, 32) u32 -> (..., 8 * count, 4) u32: the rows of the matrices, 16 bytes each."""
    matrices = registers.view(np.uint16).reshape(*registers.shape[:-1], 8, 8)
    if trans:
        matrices = np.swapaxes(matrices, -1, -2)
    words = np.ascontiguousarray(matrices).view(np.uint32)
    return words.reshape(*words.shape[:-3], -1, 4)
