"""Global memory that a launch reads as read-only data (``ld.global.nc``): nobody may write it in the same launch.

The compiler takes such loads for ``__ldg()``, and where a pointer is ``const`` with ``__restrict__``. It relies on the
promise: it may merge two loads around a store, and move a load past a barrier (PTX ISA, "ld.global.nc"; CUDA C++
Programming Guide, "__restrict__").
"""

from __future__ import annotations

import numpy as np

from softlab.instruments.global_shadow import LANE_MASK, TIME_SHIFT, Clash, Ordered, Stamps


class PromisedReads:
    """The reads of one array, of ``cells`` cells, as read-only data. Two threads are kept per cell."""

    def __init__(self, cells: int) -> None:
        self._first = np.zeros(cells, np.int64)
        #: Of each cell a read by another thread than the first.
        self._other = np.zeros(cells, np.int64)

    def record(self, access: Stamps, batch: int) -> None:
        """Record loads. ``batch``: the time when the batch began, before which all lanes are others."""
        cell, stamp = access.cell, access.stamp
        new = self._first[cell] == 0
        self._first[cell[new]] = stamp[new]
        other = self._apart(self._first[cell], access.lane, batch)
        self._other[cell[other]] = stamp[other]

    @staticmethod
    def _apart(stamp: np.ndarray, lane: np.ndarray, batch: int) -> np.ndarray:
        """Whether reads are of other threads than the lanes: (n,) each."""
        return (stamp < batch << TIME_SHIFT) | (stamp & LANE_MASK != lane)

    def broken(self, access: Stamps, batch: int, ordered: Ordered) -> tuple[Clash, Clash]:
        """Reads of what an access writes: by the thread itself alone, and by others that the write comes after.

        Reads by others with nothing that orders the two are races, which are reported as such.
        """
        position = np.flatnonzero(self._first[access.cell])
        cell, lane = access.cell[position], access.lane[position]
        first, other = self._first[cell], self._other[cell]
        by_other = np.where(self._apart(first, lane, batch), first, other)
        own = by_other == 0
        lanes = np.where(by_other >= batch << TIME_SHIFT, by_other & LANE_MASK, -1)
        after = ~own & ordered(by_other >> TIME_SHIFT, lanes, lane)
        return Clash(position[own], first[own]), Clash(position[after], by_other[after])
