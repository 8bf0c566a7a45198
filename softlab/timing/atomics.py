"""The units of L2 that execute atomics on global memory.

What follows from the rows ``interval_gpu.RED.*.random.N`` and ``.line.N`` of the atlas, N bytes:

- A unit takes a sector of a request in passes. A pass has at most one lane per word. Its cost is the same for one
  lane and for eight: random lanes in 32, in 128 and in 1024 bytes take equally long per pass. Whole lines take a little
  less.
- A line of 128 bytes lies in one unit. N bytes lie in more units, up to about 80: the rows ``RED.ADD.placed.N``, means
  over many places in memory, say in how many, and beyond 64 KiB the rows ``RED.ADD.random.N``. Which line lies where
  depends on the address. All SMs use all units, whether or not they want the same lines.
- The unit of a line that many want does its part of all other lines, too: where 2, 6 and 16 of 100 lanes want one word
  and the others are at random in 128 KiB, the launch takes as long as both together. Two neighbouring lines lie in one
  unit (row ``RED.ADD.placed.256``; H200, 2026-11-29).
- Passes of one word in a row wait for each other. Floats wait longer for the sector that the one before has added to,
  and meanwhile the unit does others: where 16 of 256 lanes add a float to one word, or to one of 8 words of a sector,
  and the others are at random in 256 KiB, the launch takes as long as these 16 alone, and with integers as long as both
  (H200, 2026-11-29).

All SMs want a line as often as the simulated one does, as far as its blocks show that this is no chance
(:func:`evened`).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log2, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from softlab.timing.distinct import counted
from softlab.timing.parameters import Parameters, interpolated
from softlab.timing.shares import Shares
from softlab.timing.sharing import Region, Sharing

#: log2 of the sectors of a line, its bytes, and the bytes of a small array. Two neighbouring lines lie in one unit; of
#: small arrays their own rows have it.
_LINE, _LINE_BYTES, _SMALL = 2, 128, 4096
#: In how many launches some line may count as wanted more than others, where it is so by chance.
_RARE = 0.01


def is_large(array: Region) -> bool:
    """Whether two neighbouring lines of an array lie in one unit."""
    return array.nbytes > _SMALL


def lines_of(array: Region) -> float:
    """The lines, or pairs of lines, of an array: at least one."""
    return max(1.0, array.nbytes / (_LINE_BYTES << is_large(array)))


def _lines(array: Region, sectors: Any) -> Any:
    """The pairs of lines of sectors, or the complements of their lines: numbers that no two arrays have in common."""
    return sectors >> _LINE + 1 if is_large(array) else ~(sectors >> _LINE)


def evened(passes: np.ndarray, sharing: Sharing) -> Shares:
    """Line, or pair of lines, -> by what factor all SMs want it more than the simulated one does.

    Counts of lanes at random differ by chance. An SM wants some line most often, by chance, and others want others. So
    a line counts as the mean one where it differs from it no more than the most wanted one of all lines would by
    chance.

    Arguments:
        passes: the sectors of all passes of the simulated blocks, int64.
    """
    factors: list[tuple[np.ndarray, np.ndarray]] = []
    for array in sharing.regions if len(passes) else ():
        own = passes[(passes >= array.first) & (passes <= array.last)]
        lines, counts = counted(_lines(array, own))
        if len(lines) < 2:
            continue
        mean = counts.mean()
        chance = 1 + NormalDist().inv_cdf(1 - _RARE / len(lines)) * sqrt(mean)
        factors.append((lines, np.where(abs(counts - mean) <= chance, mean / counts, 1.0)))
    return Shares.joined(factors)


class AtomicUnits:
    """When each line is free, the units of each array, and all units, as one SM sees it: the others are taken to do the
    same."""

    def __init__(self, p: Parameters, evened: Mapping[int, float] | None = None):
        """evened: see :func:`evened`; None: all SMs want what the simulated one wants."""
        self.p = p
        self.evened: Mapping[int, float] = evened or {}
        #: All units, as far as atomics can use them.
        self.every = p.atomic_spread[-1][1]
        #: Line, or pair of lines, -> when it is free, and what its unit had done until then for others.
        self.free: dict[int, tuple[float, float]] = {}
        #: The first sector of an array -> how many units it lies in, and when these are free.
        self.arrays: dict[int, tuple[float, float]] = {}
        #: The share of all units that no array lies in, and when all are free.
        self.idle, self.together = 1.0, 0.0
        #: Cycles that the unit of each line, the units of each array and all of them were at work; and of one unit for
        #: all arrays that lie in all units.
        self._worked: dict[int, float] = {}
        self._worked_arrays: dict[int, float] = {}
        self._worked_together = self._passes = 0.0
        #: When the last sum of each sector is there that floats are added to, and cycles of all of them.
        self._sums: dict[int, float] = {}
        self._worked_sums: dict[int, float] = {}

    def units_of(self, array: Region) -> float:
        """How many units an array lies in."""
        return max(1.0, interpolated(self.p.atomic_spread, log2(array.nbytes)))

    def were(self, done: float, worked: float) -> None:
        """All are free at ``done``, and the one that had the most to do has ``worked``: what a compiled loop found."""
        self.together, self._worked_together = done, worked

    @property
    def busy(self) -> float:
        """Cycles of work of the unit, of the units of an array or of all units that had the most to do."""
        worked = (self._worked_arrays, self._worked, self._worked_sums)
        return max([self._worked_together, *(cycles for one in worked for cycles in one.values())])

    @property
    def done(self) -> float:
        """When all of them are free."""
        lines, arrays = ([free for free, _ in self.free.values()], [free for _, free in self.arrays.values()])
        return max([self.together, *arrays, *lines, *self._sums.values()])

    def take(
        self, begin: float, come: float, sector: int, cost: float, others: float, alike: float, array: Region,
        chain: float = 0.0,
    ) -> float:  # fmt: skip
        """When a sector's passes are done that begin at ``begin`` and take a unit for ``cost`` cycles. Their data are
        there at ``come``, and until then the unit does others.

        chain: cycles until the sector can be added to again.
        others: SMs that want the same line. alike: SMs like this one that have all atomics together. array: that the
        sector belongs to. How evenly its lines use the units is in the rows, so that all units of an array count as one
        that is quicker. What several arrays lie in follows from chance.
        """
        every, line = self.every, _lines(array, sector)
        others *= self.evened.get(line, 1.0)
        found = self.arrays.get(array.first)
        if found is None:
            found = self.units_of(array), 0.0
            self.idle *= 1 - found[0] / every
        units, own = found
        before = self._beside(array, units, every)
        work = cost * alike / units
        own = (begin if begin > own else own) + work
        self._worked_arrays[array.first] = self._worked_arrays.get(array.first, 0.0) + work
        self._passes += cost * alike / every
        self.arrays[array.first] = units, own
        used = every * (1 - self.idle)
        work = cost * alike / used
        self.together = (begin if begin > self.together else self.together) + work
        self._worked_together += work
        free, seen = self.free.get(line, (0.0, before))
        free += before - seen
        alone, work = (begin if begin > free else free), cost * others
        alone += work
        self.free[line] = alone, self._beside(array, units, every)
        self._worked[line] = self._worked.get(line, 0.0) + work
        if chain:
            alone = max(alone, self._added(begin, sector, chain * others))
        return max(alone, own, self.together, come + cost)

    def _added(self, begin: float, sector: int, work: float) -> float:
        """When the sums of a sector are there that take ``work`` cycles one after the other."""
        at = self._sums.get(sector, 0.0)
        self._sums[sector] = at = (begin if begin > at else at) + work
        self._worked_sums[sector] = self._worked_sums.get(sector, 0.0) + work
        return at

    def _beside(self, array: Region, units: float, every: float) -> float:
        """What the unit of a line has done for other lines of its array so far, and for other arrays."""
        own = self._worked_arrays.get(array.first, 0.0)
        alone = units / lines_of(array)
        return own * max(0.0, 1 - alone) + self._passes - own * units / every
