"""Records atomics on global memory that repeat others: once per cell, not once per lane.

Two atomics on a cell are no race, whichever lanes make them, and the last lane's stamp stays. So where the lanes of all
blocks use the same addresses again, their cells and last lanes are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from softlab.emulator.lanes import Box, Lanes, Value
from softlab.emulator.machine.native_python import CompiledFunction, Int64s
from softlab.emulator.memory.known_addresses import Addresses, KnownAddresses
from softlab.emulator.sites import Site
from softlab.instruments.global_shadow import FLAGS_OF_ATOMICS, TIME_SHIFT, GlobalShadow

#: Accesses kept. Without a limit, memory would grow with the run.
_MOST_FOUND = 4096
#: Bytes per lane, the addresses (a number where all lanes have the same), and the columns of the lanes.
_Key = tuple[int, Addresses | int, bytes]


def record_again(written: Int64s, read: Int64s, other_read: Int64s, given: Int64s, now: int) -> int:
    """Record atomics on cells that nothing but atomics of the whole GPU has accessed; 0 where that is not so.

    ``given``: how many cells and the flags of these atomics, then per cell its number and its last lane.
    """
    flags = given[1]
    for i in range(2, 2 + 2 * given[0], 2):
        cell = given[i]
        if written[cell] & FLAGS_OF_ATOMICS != flags or read[cell] or other_read[cell]:
            return 0
    for i in range(2, 2 + 2 * given[0], 2):
        written[given[i]] = now << TIME_SHIFT | flags | given[i + 1]
    return 1


_AGAIN = CompiledFunction(record_again)


@dataclass(frozen=True)
class CellsOfLanes:
    """Each cell that an instruction's lanes access, and the last lane that does: (cells,) int64 each.

    ``flags``: those of the stamps.
    """

    shadow: GlobalShadow
    cell: np.ndarray
    lane: np.ndarray
    flags: int


class RepeatedAtomics:
    """Those of one batch that compiles "none", "hot" or "all" blocks."""

    def __init__(self, known: KnownAddresses, compiled: str) -> None:
        self._known = known
        self._compiled = compiled
        #: None for what came once.
        self._found: dict[_Key, Callable[[int], int] | None] = {}

    def record(
        self, site: Site, lanes: Lanes, address: Value, now: int, find: Callable[[], CellsOfLanes | None]
    ) -> bool:
        """Record an atomic of the whole GPU; False, and nothing is recorded, where it does not repeat others.

        ``find`` gives its cells, None where they are in several arrays.
        """
        if not isinstance(lanes, Box) or lanes.rows is not None:
            return False
        known = self._known.of(address)
        if known is None and isinstance(address, np.ndarray):
            return False
        key = site.width, int(address) if known is None else known, lanes.column_key
        record = self._found.get(key)
        if record is None:
            if len(self._found) >= _MOST_FOUND:
                self._found.clear()
            cells = find() if key in self._found else None
            record = self._found[key] = None if cells is None else self._recorder(cells)
        return record is not None and record(now) != 0

    def _recorder(self, cells: CellsOfLanes) -> Callable[[int], int]:
        """What records atomics on these cells at a time."""
        shadow, cell, lane, flags = cells.shadow, cells.cell, cells.lane, cells.flags
        if not _AGAIN.ready(self._compiled):
            return lambda now: shadow.write_again(cell, lane, now, flags)
        given = np.concatenate(([len(cell), flags], np.stack((cell, lane), axis=1).ravel()))
        written, read, other_read = shadow.tables()
        call = _AGAIN.call
        return lambda now: call(id(written), id(read), id(other_read), id(given), now)
