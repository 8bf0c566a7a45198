"""The lanes that a compare-and-swap of shared memory serves: the first one of its warp at each bank."""

from __future__ import annotations

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import Bytes, CompiledFunction, Int64s
from softlab.instruments.banks import BANK_BYTES, BANKS, WARP

#: What NumPy takes for an access and for a warp of it, in units of 100 microseconds.
_ACCESS, _WARP = 0.5, 0.05
_BANKS, _LANES, _LINE = BANKS, WARP, BANKS * BANK_BYTES


def mark(address: Int64s, active: Bytes, warps: int, shift: int, found: Bytes, seen: Int64s) -> int:
    """Write ones into ``found`` where a lane is the first of its warp at its bank.

    Arguments:
        shift: log2 of the bytes per lane; of 8 bytes, half a warp comes after the other, and each has all banks.
        seen: zeros, 64 of them: scratch.
    """
    for warp in range(warps):
        for lane in range(_LANES):
            at = _LANES * warp + lane
            if active[at]:
                bank = (address[at] >> shift) & ((_LINE >> shift) - 1)
                if shift == 3:
                    bank += lane // (_LANES // 2) * _BANKS
                if seen[bank] <= warp:
                    seen[bank] = warp + 1
                    found[at] = 1
    return 0


_MARK = CompiledFunction(mark)


def first_of_banks(address: np.ndarray, active: np.ndarray, width: int) -> np.ndarray:
    """The lanes that are the first ones of their warp at their bank of shared memory: (k, 32) bool.

    Arguments:
        address: int64 (k, 32). active: bool (k, 32). width: bytes per lane; 8 bytes take two banks.
    """
    if not _MARK.ready(compiled_blocks(), _ACCESS + _WARP * len(address)):
        return by_numpy(address, active, width)
    found, seen = np.zeros(address.shape, bool), np.zeros(2 * _BANKS, np.int64)
    given, on = np.ascontiguousarray(address), np.ascontiguousarray(active)
    _MARK.call(id(given), id(on), len(given), width.bit_length() - 1, id(found), id(seen))
    return found


def by_numpy(address: np.ndarray, active: np.ndarray, width: int) -> np.ndarray:
    """As :func:`first_of_banks`, by sorting."""
    bank = address // width % (BANKS * BANK_BYTES // width)
    if width == 2 * BANK_BYTES:  # half a warp after the other
        bank += np.arange(WARP) // (WARP // 2) * BANKS
    bank = np.where(active, bank, np.arange(-WARP, 0))
    order = np.argsort(bank, axis=1, kind="stable")
    ordered = np.take_along_axis(bank, order, axis=1)
    first = np.ones(bank.shape, bool)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    found = np.empty_like(first)
    np.put_along_axis(found, order, first, axis=1)
    return found & active
