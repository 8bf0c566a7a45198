"""Sectors of atomics on global memory as a compiled loop: what :func:`.atomics.atomic_sectors` says in NumPy."""

from __future__ import annotations

import numpy as np

from softlab.emulator.lanes import WARP, Lanes, Value
from softlab.emulator.machine.native_python import Bytes, CompiledFunction, Int64s
from softlab.emulator.sites import Site
from softlab.instruments.atomics import TURN_PERIOD
from softlab.instruments.coalescing import SECTOR_BYTES
from softlab.instruments.known_steps import is_whole_warp
from softlab.instruments.native_global import is_run

#: Places for the sectors of a warp, a power of two: twice as many as lanes, so that few meet at one place.
_PLACES = 2 * WARP


def is_even(address: Int64s, active: Bytes, first: int, step: int) -> int:
    """Whether all lanes of a warp are active, and their addresses rise by a step."""
    differs = 0
    for k in range(WARP):
        differs |= (address[first + k] - address[first] - k * step) | (active[first + k] - 1)
    return differs == 0


def sectors_in_order(address: Int64s, active: Bytes, first: int) -> int:
    """Sectors of a warp whose addresses rise from lane to lane and are near, so that no lane waits; else -1.

    ``first``: the place of its first lane.
    """
    step = address[first + 1] - address[first]
    if step > 0 and step <= SECTOR_BYTES and is_even(address, active, first, step):
        return address[first + WARP - 1] // SECTOR_BYTES - address[first] // SECTOR_BYTES + 1
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


def sectors_of_lanes(address: Int64s, lanes: Int64s, count: int, width: int, found: Int64s) -> int:
    """The sectors that the warps of lanes touch, each once per warp, by accesses of ``width`` bytes of one sector each.

    ``found`` (32,) is for its own use.
    """
    total, known, warp, lowest, highest, i = 0, 0, -1, 0, 0, 0
    while i < count:
        if is_whole_warp(lanes, i, count, 1) and is_run(address, i, count, width):
            total += address[i + WARP - 1] // SECTOR_BYTES - address[i] // SECTOR_BYTES + 1
            warp = lanes[i] // WARP
            i += WARP
            continue
        sector, is_new = address[i] // SECTOR_BYTES, 1
        if lanes[i] // WARP != warp:
            warp, known = lanes[i] // WARP, 0
        elif sector >= lowest and sector <= highest:
            for k in range(known):
                is_new &= found[k] != sector
        if known == 0:
            lowest, highest = sector, sector
        if is_new:
            found[known] = sector
            lowest, highest = min(lowest, sector), max(highest, sector)
            known += 1
            total += 1
        i += 1
    return total


def sectors_of_whole_warps(address: Int64s, lanes: Int64s, count: int) -> int:
    """The sum of :func:`sectors_in_order` over whole warps, the addresses of each of which rise by a step; else -1."""
    total, i = 0, 0
    while i < count:
        step = 0
        if is_whole_warp(lanes, i, count, 1):
            step = address[i + 1] - address[i]
        if step <= 0 or step > SECTOR_BYTES or not is_run(address, i, count, step):
            return -1
        total += address[i + WARP - 1] // SECTOR_BYTES - address[i] // SECTOR_BYTES + 1
        i += WARP
    return total


_SECTORS, _OF_LANES, _OF_WHOLE_WARPS = (
    CompiledFunction(function) for function in (sectors, sectors_of_lanes, sectors_of_whole_warps)
)


class NativeSectors:
    """Asks :func:`sectors` in a run that compiles "none", "hot" or "all" blocks."""

    def __init__(self) -> None:
        self._taken, self._found = np.zeros(TURN_PERIOD, np.int64), np.zeros(_PLACES, np.int64)

    @staticmethod
    def ready(compiled: str) -> bool:
        """Whether to use it."""
        return _SECTORS.ready(compiled)

    @staticmethod
    def total_in_steps(lanes: Lanes, address: Value) -> int:
        """The sectors of whole warps whose addresses rise by a step; -1 for others."""
        flat = np.ascontiguousarray(lanes.full_extent(address))
        return _OF_WHOLE_WARPS.call(id(flat), id(lanes.numbers), len(flat)) if flat.itemsize == 8 else -1

    def total(self, address: np.ndarray, active: np.ndarray) -> int:
        """The sectors of all warps. ``address`` (n, 32) bytes, ``active`` (n, 32) bool."""
        if address.dtype == np.uint64:  # no address uses the highest bit
            address = address.view(np.int64)
        address, active = np.ascontiguousarray(address, np.int64), np.ascontiguousarray(active)
        return _SECTORS.call(id(address), id(active), id(self._taken), id(self._found), len(address))


class NativeLoads:
    """Asks :func:`sectors_of_lanes` in a run that compiles "none", "hot" or "all" blocks."""

    def __init__(self) -> None:
        self._found = np.zeros(WARP, np.int64)

    @staticmethod
    def ready(compiled: str) -> bool:
        """Whether to use it."""
        return _OF_LANES.ready(compiled)

    def total(self, site: Site, lanes: Lanes, address: Value) -> int:
        """The sectors that a plain access to global memory touches."""
        flat = np.ascontiguousarray(lanes.full_extent(address)).view(np.int64)
        return _OF_LANES.call(id(flat), id(lanes.numbers), len(flat), site.width, id(self._found))
