"""Sectors of atomics on global memory as a compiled loop: what :func:`.atomics.atomic_sectors` says in NumPy."""

from __future__ import annotations

import numpy as np

from softlab.emulator.lanes import WARP
from softlab.emulator.machine.native_python import Bytes, CompiledFunction, Int64s
from softlab.instruments.atomics import TURN_PERIOD
from softlab.instruments.coalescing import SECTOR_BYTES

#: Places for the sectors of a warp, a power of two: twice as many as lanes, so that few meet at one place.
_PLACES = 2 * WARP


def sectors_in_order(address: Int64s, active: Bytes, first: int) -> int:
    """Sectors of a warp whose addresses rise from lane to lane and are near, so that no lane waits; else -1.

    ``first``: the place of its first lane.
    """
    found, before, begin = 0, -1, -1
    for i in range(first, first + WARP):
        if active[i]:
            if address[i] <= before:
                return -1
            if begin < 0:
                begin = address[i]
            if before < 0 or address[i] // SECTOR_BYTES != before // SECTOR_BYTES:
                found += 1
            before = address[i]
    return found if before - begin < TURN_PERIOD else -1


def sectors_in_turns(address: Int64s, active: Bytes, first: int, taken: Int64s, found: Int64s) -> int:
    """Sectors of any warp. ``taken``: zeros, one for each address of a period; ``found`` (64,) is for its own use."""
    count = 0
    for place in range(_PLACES):
        found[place] = -1
    for i in range(first, first + WARP):
        if active[i]:
            key = address[i] // SECTOR_BYTES * WARP + taken[address[i] % TURN_PERIOD]
            taken[address[i] % TURN_PERIOD] += 1
            place = (key ^ key // WARP) % _PLACES
            while found[place] >= 0 and found[place] != key:
                place = (place + 1) % _PLACES
            count += found[place] < 0
            found[place] = key
    for i in range(first, first + WARP):
        if active[i]:
            taken[address[i] % TURN_PERIOD] = 0
    return count


def sectors(address: Int64s, active: Bytes, taken: Int64s, found: Int64s, warps: int) -> int:
    """The sum over warps; addresses and what is active of each warp one behind the other."""
    total = 0
    for warp in range(warps):
        count = sectors_in_order(address, active, warp * WARP)
        if count < 0:
            count = sectors_in_turns(address, active, warp * WARP, taken, found)
        total += count
    return total


_SECTORS = CompiledFunction(sectors)


class NativeSectors:
    """Asks :func:`sectors` in a run that compiles "none", "hot" or "all" blocks."""

    def __init__(self) -> None:
        self._taken, self._found = np.zeros(TURN_PERIOD, np.int64), np.zeros(_PLACES, np.int64)

    @staticmethod
    def ready(compiled: str) -> bool:
        """Whether to use it."""
        return _SECTORS.ready(compiled)

    def total(self, address: np.ndarray, active: np.ndarray) -> int:
        """The sectors of all warps. ``address`` (n, 32) bytes, ``active`` (n, 32) bool."""
        if address.dtype == np.uint64:  # no address uses the highest bit
            address = address.view(np.int64)
        address, active = np.ascontiguousarray(address, np.int64), np.ascontiguousarray(active)
        return _SECTORS.call(id(address), id(active), id(self._taken), id(self._found), len(address))
