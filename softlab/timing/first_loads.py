"""Which loads bring a sector that their warp has not loaded before."""

from __future__ import annotations

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import Bytes, CompiledFunction, Int64s

#: What NumPy takes for a sector, in units of 100 microseconds.
_SECTOR = 0.002
#: A factor that spreads the numbers of sectors, which have 43 bits, over a table without leaving 64 bits.
_SPREAD = 40503


def find(
    sectors: Int64s, counts: Int64s, owner: Int64s, wanted: Bytes, requests: int,
    keys: Int64s, owners: Int64s, mask: int, out: Int64s,
) -> int:  # fmt: skip
    """Write the requests that have a sector which is new to their owner to ``out``; how many there are.

    ``keys`` and ``owners``: a table of ``mask + 1`` places, the owners -1: the sectors that an owner has loaded.
    """
    found, at = 0, 0
    for request in range(requests):
        first, at = at, at + counts[request]
        if wanted[request]:
            mine, new = owner[request], 0
            for k in range(first, at):
                sector = sectors[k]
                place = (sector * _SPREAD ^ sector * _SPREAD >> 16) & mask
                while owners[place] == mine and keys[place] != sector:
                    place = place + 1 & mask
                if owners[place] != mine:
                    owners[place], keys[place] = mine, sector
                    new = 1
            if new:
                out[found] = request
                found += 1
    return found


_FIND = CompiledFunction(find)


def first_loads(sectors: np.ndarray, counts: np.ndarray, owner: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The wanted requests that have a sector which no earlier one of their owner has, ascending: int64.

    Arguments:
        sectors: int64, of all requests one after the other. counts, owner: int64 (m,), the sectors of each request, and
            whose it is; owners ascend. wanted: bool (m,).
    """
    if not _FIND.ready(compiled_blocks(), _SECTOR * len(sectors)):
        return by_numpy(sectors, counts, owner, wanted)
    most = int(np.bincount(owner, counts * wanted, 1).max())
    places = 1 << (2 * most).bit_length()
    keys, owners = np.zeros(places, np.int64), np.full(places, -1)
    given = tuple(map(np.ascontiguousarray, (sectors, counts, owner, wanted)))
    out = np.empty(len(counts), np.int64)
    found = _FIND.call(*map(id, given), len(counts), id(keys), id(owners), places - 1, id(out))
    return out[:found].copy()


def by_numpy(sectors: np.ndarray, counts: np.ndarray, owner: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """As :func:`first_loads`, by sorting."""
    request = np.repeat(np.flatnonzero(wanted), counts[wanted])
    sectors, owner = sectors[np.repeat(wanted, counts)], owner[request]
    by_sector = np.lexsort((request, sectors, owner))
    first = np.ones(len(sectors), bool)
    first[1:] = (np.diff(sectors[by_sector]) != 0) | (np.diff(owner[by_sector]) != 0)
    return np.unique(request[by_sector][first])
