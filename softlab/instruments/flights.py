"""The cells of global memory that asynchronous copies in flight may still read or write.

A copy is in flight until its thread waits for it, or until a thread asks the mbarrier that it is bound to. Until then
nothing orders it with other accesses, not even with later ones of the thread that issued it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from softlab.emulator.memory.copies import Copy, Pieces
from softlab.instruments.global_shadow import NO_CLASH, Clash, Stamps

#: What a copy, or another access, does in global memory, and what each of them clashes with.
READING, WRITING, REDUCING = "reading", "writing", "adding to"
_AGAINST = {READING: (WRITING, REDUCING), WRITING: (READING, WRITING, REDUCING), REDUCING: (READING, WRITING)}


@dataclass(frozen=True)
class _Flight:
    """The copies of one instruction to an array; ``pieces`` are those of a bulk copy."""

    base: int
    site: int
    stamps: Stamps
    does: str
    pieces: Pieces | None


class Flights:
    """The copies of one batch that are in flight. Arrays are named by their bases."""

    def __init__(self) -> None:
        #: Those of ``cp.async``, the earliest first: several lanes each. Bulk copies by the identity of their pieces.
        self._fetches: list[_Flight] = []
        self._bulk: dict[int, _Flight] = {}
        #: For (array, what copies do): how many copies in flight do it with each cell.
        self._counts: dict[tuple[int, str], np.ndarray] = {}

    def __bool__(self) -> bool:
        return bool(self._fetches or self._bulk)

    def begin(
        self, base: int, cells: int, site: int, stamps: Stamps, does: str = READING, pieces: Pieces | None = None
    ) -> None:
        """Copies of an instruction begin in an array of ``cells`` cells."""
        flight = _Flight(base, site, stamps, does, pieces)
        if pieces is None:
            self._fetches.append(flight)
        else:
            self._bulk[id(pieces)] = flight
        if (base, does) not in self._counts:
            self._counts[base, does] = np.zeros(cells, np.int32)
        np.add.at(self._counts[base, does], stamps.cell, 1)

    def end(self, copy: Copy) -> None:
        """Copies have ended. Those of one ``cp.async`` end in the order in which a lane issued them."""
        if copy.pieces is not None:
            flight = self._bulk.pop(id(copy.pieces), None)
            if flight is not None:
                self._lands(flight, flight.stamps.cell)
            return
        lanes, left = copy.lane, []
        for flight in self._fetches:
            if flight.site == copy.site.index and len(lanes):
                mine = flight.stamps.lane
                gone = np.isin(mine, lanes)
                lanes = lanes[~np.isin(lanes, mine)]
                self._lands(flight, flight.stamps.cell[gone])
                if gone.all():
                    continue
                flight = replace(flight, stamps=flight.stamps.where(~gone))
            left.append(flight)
        self._fetches = left

    def _lands(self, flight: _Flight, cells: np.ndarray) -> None:
        np.subtract.at(self._counts[flight.base, flight.does], cells, 1)

    def clash(self, base: int, access: Stamps, does: str) -> tuple[Clash, str]:
        """The accesses that clash with copies in flight, and what these do: ``NO_CLASH`` where none does."""
        for other in _AGAINST[does]:
            counts = self._counts.get((base, other))
            if counts is not None and len(found := np.flatnonzero(counts[access.cell])):
                return Clash(found, self._stamps(base, other, access.cell[found])), other
        return NO_CLASH, ""

    def _stamps(self, base: int, does: str, cells: np.ndarray) -> np.ndarray:
        """The stamp of a copy in flight that does this with each of the cells."""
        stamps = np.zeros(len(cells), np.int64)
        flights: Iterable[_Flight] = (*self._fetches, *self._bulk.values())
        for flight in flights:
            if (flight.base, flight.does) == (base, does):
                order = np.argsort(flight.stamps.cell, kind="stable")
                cell = flight.stamps.cell[order]
                at = np.minimum(np.searchsorted(cell, cells), len(cell) - 1)
                stamps = np.where(cell[at] == cells, flight.stamps.stamp[order[at]], stamps)
        return stamps
