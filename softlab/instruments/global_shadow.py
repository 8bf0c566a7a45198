"""Who accessed each cell of an array last: what the search for races in global memory remembers.

A cell is as wide as the narrowest access of the kernel to global memory. A stamp is ``time << 28 | flags | lane``. The
time is the number of the access in the launch. The lane is ``row * threads + column`` in the batch of that time, below
1 << 20; the flags are above it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.instruments.arenas import ARENAS

TIME_SHIFT = 28
LANE_MASK = (1 << 20) - 1
#: The access is strong: an atomic, or volatile, relaxed, acquire or release.
STRONG = 1 << 20
#: A volatile access: strong, but two volatile writes of different values are a race.
VOLATILE = 1 << 21
#: A strong access of the scope of its block: for other blocks it is an ordinary one.
IN_BLOCK = 1 << 22

#: A strong access of 1, 2, 4, 8 or 16 cells: one bit for each. Strong accesses synchronise only where they access the
#: same bytes (PTX ISA, "Morally Strong Operations"). A copy that reduces has none.
ONE_CELL, WIDTHS = 1 << 23, 31 << 23
#: What tells atomics apart.
FLAGS_OF_ATOMICS = STRONG | IN_BLOCK | WIDTHS

#: The tables of a shadow.
_WRITTEN, _READ, _OTHER_READ = range(3)
_NO_CELLS = np.zeros(0, np.int64)
#: (times, lanes of earlier accesses or -1 for earlier batches, lanes of this access) -> whether each pair is ordered.
Ordered = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class Stamps:
    """The accesses of one instruction, (n,) each: the cells, the stamps, and which threads made them."""

    def __init__(self, cell: np.ndarray, lane: np.ndarray, time: int, flags: int) -> None:
        self.cell = cell
        self.lane = lane
        self.flags = flags
        self.stamp = lane + (time << TIME_SHIFT | flags)
        self.distinct = len(cell) < 2 or bool((cell[1:] > cell[:-1]).all())

    def where(self, keep: np.ndarray) -> Stamps:
        """Those of the accesses for which ``keep`` holds."""
        found = Stamps(self.cell[keep], self.lane[keep], 0, self.flags)
        found.stamp = self.stamp[keep]
        return found


class Clash:
    """Accesses that clash with earlier ones: their positions in :class:`Stamps`, and the earlier stamps."""

    def __init__(self, position: np.ndarray, stamp: np.ndarray) -> None:
        self.position = position
        self.stamp = stamp

    def __len__(self) -> int:
        return len(self.position)

    def where(self, keep: np.ndarray) -> Clash:
        """The clashes for which ``keep`` holds."""
        return Clash(self.position[keep], self.stamp[keep])


def time_of(stamp: np.ndarray) -> np.ndarray:
    """The time of each stamp."""
    return stamp >> TIME_SHIFT


def lane_of(stamp: np.ndarray) -> np.ndarray:
    """The lane of each stamp, in the batch of its time."""
    return stamp & LANE_MASK


class GlobalShadow:
    """The cells of one array. Two reads are kept: the last one, and one by another thread that it does not follow."""

    def __init__(self, cells: int, threads: int) -> None:
        self._written = ARENAS.zeros(cells)
        self._read = self._other_read = _NO_CELLS
        self._threads = threads
        #: Whether any cell has a stamp of each table. Compiled code writes it, too.
        self.has = np.zeros(3, np.int64)
        #: Where the items of these arrays are: of the three tables, and of ``has``. Compiled code looks here each time.
        self.places = np.array([self._written.ctypes.data, 0, 0, self.has.ctypes.data])
        self.place = self.places.ctypes.data

    def track_reads(self) -> None:
        """Make the tables of reads, before the first one."""
        if self._read is _NO_CELLS:
            self._read, self._other_read = (ARENAS.zeros(len(self._written)) for _ in range(2))
            self.places[_READ:] = self._read.ctypes.data, self._other_read.ctypes.data, self.has.ctypes.data

    @property
    def written(self) -> np.ndarray:
        """The stamp of the last write of each cell."""
        return self._written

    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The stamps of each cell: written, read, and the other read."""
        self.track_reads()
        return self._written, self._read, self._other_read

    def release(self) -> None:
        """Nobody asks any more: leave the tables to others."""
        for table in (self._written, self._read, self._other_read):
            ARENAS.give_zeros(table)
        self._written = self._read = self._other_read = _NO_CELLS

    # Questions

    def clashing_writes(self, access: Stamps, batch: int, ordered: Ordered) -> Clash:
        """Earlier writes by other threads with nothing that orders the two. ``batch``: the time when it began."""
        return self._clashes(self._written, access, batch, ordered) if self.has[_WRITTEN] else NO_CLASH

    def ordered_writes(self, access: Stamps, batch: int, ordered: Ordered) -> Clash:
        """Earlier writes of the launch that the access comes after, those of its own thread among them."""
        stamp = self._written[access.cell]
        position = np.flatnonzero(stamp)
        if not self.has[_WRITTEN] or not len(position):
            return NO_CLASH
        unordered = self._clashes(self._written, access, batch, ordered).position
        position = position[~np.isin(position, unordered)]
        return Clash(position, stamp[position])

    def clashing_reads(self, access: Stamps, batch: int, ordered: Ordered) -> Clash:
        """Earlier reads by other threads with nothing that orders the two."""
        if not self.has[_READ]:
            return NO_CLASH
        found = self._clashes(self._read, access, batch, ordered)
        if not len(found) and self.has[_OTHER_READ]:
            return self._clashes(self._other_read, access, batch, ordered)
        return found

    def _clashes(self, stamps: np.ndarray, access: Stamps, batch: int, ordered: Ordered) -> Clash:
        stamp = stamps[access.cell]
        position = np.flatnonzero(stamp)
        if not len(position):
            return NO_CLASH
        if len(position) < len(stamp):
            stamp = stamp[position]
        mine = access.lane[position]
        here = stamp >= batch << TIME_SHIFT
        other = stamp & LANE_MASK
        differs = ~here | (other != mine)
        if access.flags & STRONG:  # two strong accesses are no race, if the scope of each has the other in it
            widths = (stamp | access.flags) & WIDTHS
            strong = (stamp & STRONG != 0) & (widths & widths - 1 == 0)
            if access.flags & IN_BLOCK or (stamp & IN_BLOCK).any():
                same_block = here & (other // self._threads == mine // self._threads)
                strong &= same_block | (not access.flags & IN_BLOCK) & (stamp & IN_BLOCK == 0)
            differs &= ~strong
        if not differs.any():
            return NO_CLASH
        position, stamp, mine = position[differs], stamp[differs], mine[differs]
        other = np.where(here[differs], other[differs], -1)
        clash = ~ordered(stamp >> TIME_SHIFT, other, mine)
        return Clash(position[clash], stamp[clash])

    def volatile_writes(self, access: Stamps, batch: int, ordered: Ordered) -> Clash:
        """Earlier volatile writes by other threads, for a volatile write: volatile makes nothing of them atomic."""
        if not self.has[_WRITTEN]:
            return NO_CLASH
        plain = Stamps(access.cell, access.lane, 0, 0)
        found = self._clashes(self._written, plain, batch, ordered)
        return found.where(found.stamp & VOLATILE != 0)

    # Records

    def write(self, access: Stamps) -> np.ndarray | None:
        """Record writes. Positions that another lane overwrites in the same instruction; None if there are none."""
        self.has[_WRITTEN] = True
        self._written[access.cell] = access.stamp
        if access.distinct:
            return None
        lost = np.flatnonzero(self._written[access.cell] != access.stamp)
        return lost if len(lost) else None

    def write_again(self, cell: np.ndarray, lane: np.ndarray, now: int, flags: int) -> bool:
        """Record atomics of the whole GPU on cells that nothing else has accessed; False where that is not so.

        ``lane``: the last one that accesses each cell. ``flags``: those of all these atomics.
        """
        if ((self._written[cell] & FLAGS_OF_ATOMICS) != flags).any():
            return False
        if self.has[_READ] and (self._read[cell].any() or self._other_read[cell].any()):
            return False
        self._written[cell] = lane | (now << TIME_SHIFT | flags)
        return True

    def winners(self, access: Stamps, position: np.ndarray) -> np.ndarray:
        """The lanes whose writes of the same instruction stay at the cells of these positions."""
        return self._written[access.cell[position]] & LANE_MASK

    def read(self, access: Stamps, batch: int, ordered: Ordered) -> None:
        """Record reads."""
        self.track_reads()
        if self.has[_READ]:
            found = self._clashes(self._read, Stamps(access.cell, access.lane, 0, 0), batch, ordered)
            if len(found):
                self._keep(access, found, batch, ordered)
        self.has[_READ] = True
        self._read[access.cell] = access.stamp
        if access.distinct:
            return
        lost = np.flatnonzero(self._read[access.cell] != access.stamp)
        if len(lost):  # of the lanes that read a cell together, keep the first one, too
            self._other_read[access.cell[lost[::-1]]] = access.stamp[lost[::-1]]
            self.has[_OTHER_READ] = True

    def _keep(self, access: Stamps, found: Clash, batch: int, ordered: Ordered) -> None:
        """Keep earlier reads that the new ones do not follow; those of other blocks first."""
        cell = access.cell[found.position]
        lane = access.lane[found.position]
        near = (found.stamp >= batch << TIME_SHIFT) & (
            (found.stamp & LANE_MASK) // self._threads == lane // self._threads
        )
        kept = self._other_read[cell]
        kept_lane = np.where(kept >= batch << TIME_SHIFT, kept & LANE_MASK, -1)
        keep = ~near | (kept == 0) | ordered(kept >> TIME_SHIFT, kept_lane, lane)
        self._other_read[cell[keep]] = found.stamp[keep]
        self.has[_OTHER_READ] = True


NO_CLASH = Clash(np.zeros(0, np.int64), np.zeros(0, np.int64))
