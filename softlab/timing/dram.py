"""DRAM as one SM sees it: its share of the rate, and what reads and writes cost that do not use whole neighbourhoods.

DRAM moves 64 bytes at once, and it is quickest where neighbouring pieces of 64 bytes are wanted together. The rows
``bandwidth.DRAM.stride.N`` say what a sector costs whose neighbours in 256 bytes are not wanted, and the rows
``bandwidth.DRAM.write_stride.N`` say the same of stores. All costs are in bytes that could be read in the same time.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import pairwise
from statistics import NormalDist

from softlab.timing.loads import Load, later
from softlab.timing.parameters import Parameters, interpolated

#: Cycles over which the load of the DRAM is averaged: about the time that a fetch takes.
_WINDOW = 1000.0
#: Sectors of 256 bytes, and how many of these are remembered as read just now.
_PIECE, REMEMBERED = 3, 512
#: The middles of 32 equal parts of the normal distribution, and an odd factor that mixes the number of a piece.
_SPREAD = tuple(NormalDist().inv_cdf((k + 0.5) / 32) for k in range(32))
HASH = 0x9E3779B1
#: Sectors of 256 bytes from which on all of them count as wanted together.
DENSE_FROM = 7.5
#: Sectors of a row of DRAM, 1 KiB (JEDEC, JESD238: the page of HBM3), and of a page of memory, 2 MiB: as powers of two.
ROW, _PAGE = 5, 16
#: Of how late a row is, the part that stays when it is wanted again later, and the part that does not: a warp that
#: loads 8 or 16 sectors one after the other, 128 bytes or 4 KiB apart, is late by 3.5 and 6.9 or 2.6 and 3.1 times as
#: much as by one (H200, 2026-11-29).
AGAIN, ANEW = 0.47, 0.88


class Dram:
    """The queue in front of the DRAM: one SM's share of it."""

    def __init__(self, p: Parameters, active: int, alike: float | None = None):
        self.p = p
        self.rate = min(interpolated(p.dram_sm_bytes, alike or active), p.dram_bytes / (alike or active))
        self.free = 0.0
        #: Bytes that were moved, and the cost of all of them.
        self.moved = self.busy = 0.0
        self.read = self.written = 0.0
        self.window = _WINDOW
        self._load = Load(self.window)
        #: What the first, second and further pairs of 256 bytes cost, and each where all are wanted together.
        costs = p.dram_pieces
        self.costs, self.dense = [high - low for low, high in pairwise(costs)], costs[-1] / 4
        #: Cycles by which a pair of sectors comes later than others: with its row of DRAM, and by itself.
        pair, row = p.dram_spread
        self.rows, self.pairs = [row * one for one in _SPREAD], [pair * one for one in _SPREAD]
        #: Row -> how often it was wanted, and when what was wanted last comes.
        self._wanted: dict[int, tuple[int, float]] = {}
        self._recent: OrderedDict[int, int] = OrderedDict()
        #: When the address of each page is known that was loaded from.
        self._pages: dict[int, float] = {}

    def fetch(self, start: float, sector: int, share: float, dense: float) -> float:
        """When a pair of sectors is there that ``share`` blocks bring for each other.

        dense: sectors of 256 bytes that are wanted by other blocks, too, 1 to 8.
        """
        piece, recent = sector >> _PIECE, self._recent
        seen = recent.pop(piece, 0)
        recent[piece] = seen + 1
        if len(recent) > REMEMBERED:
            recent.popitem(last=False)
        cost = (self.dense if dense >= DENSE_FROM else self.costs[min(seen, len(self.costs) - 1)]) / share
        self.read += cost
        self.moved += 64 / share
        busy = self._load.count(start, cost / self.rate)
        waits = max(0.0, self.free - start)
        apart = self._late(sector >> ROW, start) + self.pairs[(sector >> 1) * HASH >> 16 & 31]
        # The first load of a page looks its address up, and others come in the meantime.
        known = self._pages.get(sector >> _PAGE)
        if known is None:
            known = self._pages[sector >> _PAGE] = start + self.p.dram_new_page
        latency = self.p.dram_latency + apart + (known if known > start else start) - start
        return self._queued(start, cost) + latency + self._later(busy, waits)

    def _late(self, row: int, start: float) -> float:
        """Cycles by which a row is late; what is wanted of it while it comes, comes together."""
        times, until = self._wanted.get(row, (0, 0.0))
        if start >= until:
            times += 1
            self._wanted[row] = times, start + self.p.dram_latency
        rows = self.rows
        return AGAIN * rows[row * HASH >> 16 & 31] + ANEW * rows[(row * 64 + times) * HASH >> 16 & 31]

    def fetch_whole(self, start: float, nbytes: float) -> float:
        """When bytes are there whose neighbours are wanted, too, and that nobody else brings."""
        self.read += nbytes
        self.moved += nbytes
        busy = self._load.count(start, nbytes / self.rate)
        waits = max(0.0, self.free - start)
        return self._queued(start, nbytes) + self.p.dram_latency + self._later(busy, waits)

    def write(self, start: float, nbytes: float, sectors_of_8: float, whole: bool) -> float:
        """When the DRAM has taken the bytes of stored sectors. ``sectors_of_8``: of 8 neighbours, how many are."""
        p = self.p
        self.written += nbytes
        each = self.sparse(sectors_of_8, whole)
        if whole:
            each *= p.dram_write + p.dram_turn * min(1.0, self.read / self.written)
        self.moved += nbytes
        self._load.count(start, nbytes * each / self.rate)
        return self._queued(start, nbytes * each)

    def sparse(self, sectors_of_8: float, whole: bool) -> float:
        """The cost per byte where as many of 8 neighbours are stored; of whole ones how many times as much as of 8."""
        costs = self.p.dram_sparse_write
        each = _between(costs, sectors_of_8)
        return max(1.0, each / costs[-1]) if whole else each

    def _queued(self, start: float, cost: float) -> float:
        begin = start if start > self.free else self.free
        self.free = begin + cost / self.rate
        self.busy += cost
        return self.free

    def _later(self, busy: float, waits: float) -> float:
        """Cycles that a load takes longer, since the DRAM is busy: more where it is written, too. What Little's law
        says of the bandwidth has the cycles in it that the load ``waits`` for its turn."""
        if not self.written:
            return max(0.0, interpolated(self.p.loaded, busy) - waits)
        return max(0.0, later(self.p.loaded, self.p.loaded_copy, busy, min(1.0, self.written / self.read)) - waits)


def _between(costs: tuple[float, ...], sectors: float) -> float:
    """The cost per byte where ``sectors`` of 8 neighbours are stored: between those of 1, 2, 4 and 8."""
    for k, cost in enumerate(costs[1:]):
        low, high = 1 << k, 2 << k
        if sectors <= high:
            return costs[k] + (cost - costs[k]) * max(0.0, (sectors - low) / (high - low))
    return costs[-1]
