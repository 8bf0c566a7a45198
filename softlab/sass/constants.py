"""The constant banks of one launch: parameters and launch dimensions, the compiler's constants, ``__constant__``.

Bank 0 of sm_90, as its machine code reads it: threads per block from byte 0, blocks of the grid from 0xc, the window of
local memory at 0x20, the first stack pointer at 0x28, dynamic shared memory at 0x2c, the number of the grid at 0x30,
the workspace of a cooperative launch at 0x44, the upper half first, the place of cooperative groups in reserved shared
memory at 0x6c, the window of constant memory at 0xd0, the SMs at 0x10c, the reserved shared memory at 0x114, the
size of a cluster and the grid in clusters from 0x140 to 0x167, the blocks of a cluster at 0x188, the address of the
parameters at 0x198, a descriptor of global memory at 0x208 that means nothing here, and the parameters from 0x210. What
else stands there is not known, and reading it is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod

import numpy as np

from softlab.emulator.ptx.linker import LOCAL_WINDOW
from softlab.sass.decode import Instruction
from softlab.sass.lanes import Value

#: The parameters, and their address.
PARAMETERS, PARAMETERS_ADDRESS = 0x210, 0x198
_DESCRIPTOR = 0x208
_WINDOW, _STACK, _GRID_NUMBER = 0x20, 0x28, 0x30
_WORKSPACE, _GROUPS, _CONSTANT_WINDOW, _SMS, _RESERVED = 0x44, 0x6C, 0xD0, 0x10C, 0x114
#: Of shared memory, the bytes that sm_90 keeps for itself: the first ones of a block.
RESERVED_SHARED = 1024
#: Where the window of constant memory begins if no address may lie in it: behind all of them.
_NOWHERE = (1 << 64) - 1
_CLUSTER, _CLUSTER_BLOCKS = 0x140, 0x188
_TYPES = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class Constants:
    """``banks``: number -> bytes. ``known`` for bank 0: for each of its bytes 1 if it is known, else 0."""

    def __init__(self, banks: Mapping[int, bytes | bytearray], known: bytes) -> None:
        # Whole items of 8 bytes, so that a view of any width fits.
        self._banks = {
            number: np.frombuffer(bytes(data) + bytes(-len(data) % 8 + 8), np.uint8) for number, data in banks.items()
        }
        self._known = known + bytes(-len(known) % 8 + 8)

    def read(self, instruction: Instruction, bank: int, offset: int, width: int) -> np.generic:
        """``width`` bytes at an offset, as an unsigned integer."""
        self._check(instruction, bank, offset, offset + width)
        raw = self._banks[bank][offset : offset + width].tobytes()
        return np.frombuffer(raw, _TYPES[max(1, width)])[0]

    def gather(self, instruction: Instruction, bank: int, where: Value, offset: int, width: int) -> Value:
        """``width`` bytes at ``where`` + offset of each lane. where: uint32 (taken as signed)."""
        index = np.asarray(where).astype(np.uint32).view(np.int32).astype(np.int64) + offset
        data = self._banks.get(bank, np.zeros(0, np.uint8))
        self._check(instruction, bank, 0, width)
        # Lanes that do not execute it hold anything.
        index = np.clip(index, 0, len(data) - width)
        parts = data[index[..., None] + np.arange(width)]
        return np.ascontiguousarray(parts).view(_TYPES[width])[..., 0][()]

    def _check(self, instruction: Instruction, bank: int, first: int, end: int) -> None:
        data = self._banks.get(bank)
        if data is None or first < 0 or end > len(data):
            raise instruction.unsupported(f"constant bank {bank} has nothing at {first:#x}")
        if bank == 0 and 0 in self._known[first:end]:
            raise instruction.unsupported(f"what c[0x0][{first:#x}] holds is not known")


@dataclass(frozen=True)
class Given:
    """What the driver gives to a launch.

    ``stack``: bytes of a thread's stack. ``dynamic_bytes``: of shared memory. ``sm_count``: of the GPU. ``workspace``:
    the address of cooperative groups' data of the grid. ``constant_variables``: whether there are any. ``parameters``:
    where the parameters are; None where no instruction asks for it.
    """

    stack: int
    dynamic_bytes: int
    sm_count: int
    workspace: int
    constant_variables: bool
    parameters: int | None = None


def first_bank(
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    cluster: tuple[int, int, int] | None,
    parameters: bytes,
    given: Given,
) -> tuple[bytearray, bytes]:
    """Bank 0 of a launch, and for each of its bytes 1 if it is known, else 0."""
    inner = cluster or (1, 1, 1)
    clusters = [
        _words(cluster is not None, *inner),
        np.array([_inverse(n) for n in inner], np.float32).tobytes(),
        _words(*(n // c for n, c in zip(grid, inner, strict=True))),
    ]
    data = bytearray(PARAMETERS + len(parameters))
    known = bytearray(len(data))
    for offset, raw in (
        (0, _words(*block, *grid)),
        (_WINDOW, LOCAL_WINDOW.to_bytes(8, "little")),
        (_STACK, _words(given.stack, given.dynamic_bytes)),
        (_GRID_NUMBER, bytes(8)),
        (_WORKSPACE, _words(given.workspace >> 32, given.workspace & 0xFFFFFFFF)),
        (_GROUPS, bytes(4)),
        (_CONSTANT_WINDOW, b"" if given.constant_variables else _NOWHERE.to_bytes(8, "little")),
        (_SMS, _words(given.sm_count)),
        (_RESERVED, _words(RESERVED_SHARED)),
        (_CLUSTER, b"".join(clusters)),
        (_CLUSTER_BLOCKS, _words(prod(inner))),
        (PARAMETERS_ADDRESS, b"" if given.parameters is None else given.parameters.to_bytes(8, "little")),
        (_DESCRIPTOR, bytes(8)),
        (PARAMETERS, parameters),
    ):
        data[offset : offset + len(raw)] = raw
        known[offset : offset + len(raw)] = b"\1" * len(raw)
    return data, bytes(known)


def _words(*values: int) -> bytes:
    """Words of 32 bits, one behind the other."""
    return b"".join(value.to_bytes(4, "little") for value in values)


@lru_cache(maxsize=64)
def _inverse(number: int) -> np.float32:
    """The least float32 that is not below 1 / number: a block's index times it, cut, is its cluster's index."""
    near = np.float32(1 / number)
    return near if Fraction(float(near)) * number >= 1 else np.nextafter(near, np.float32(2))
