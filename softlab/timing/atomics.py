"""The units of L2 that execute atomics on global memory.

What follows from the rows ``interval_gpu.RED.*.random.N`` and ``.line.N`` of the atlas, N bytes:

- A unit takes a sector of a request in passes. A pass has at most one lane per word. Its cost is the same for one
  lane and for eight: random lanes in 32, in 128 and in 1024 bytes take equally long per pass. Whole lines take a little
  less.
- 512 bytes lie in one unit: lines in 128 bytes and in 1024 bytes differ by a factor of 2.
- More bytes lie in more units, up to about 80. Which one is not known. The rows say how evenly they are used.
- Passes of one word in a row wait for each other. This is longer for floats.
"""

from __future__ import annotations

from softlab.timing.parameters import Parameters

#: log2 of the sectors in 512 bytes.
_CHUNK = 4
#: An odd factor that mixes the number of a chunk.
_HASH = 0x9E3779B1


class AtomicUnits:
    """When each unit is free, as one SM sees it: the others are taken to do the same."""

    def __init__(self, p: Parameters):
        self.p = p
        self.free: dict[int, float] = {}

    def take(self, begin: float, sector: int, passes: float, others: float, cost: float) -> float:
        """When a sector's passes are done that come at ``begin``. others: SMs that want the same unit."""
        unit = self.unit(sector)
        at = self.free.get(unit, 0.0)
        self.free[unit] = at = (begin if begin > at else at) + cost * passes * others
        return at

    def unit(self, sector: int) -> int:
        """The unit of a sector: chunks that are neighbours lie in different ones."""
        chunk = sector >> _CHUNK
        return (chunk % 8 + 8 * ((chunk >> 3) * _HASH >> 12)) % self.p.atomic_units
