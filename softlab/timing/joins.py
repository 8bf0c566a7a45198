"""What other SMs have asked DRAM for when a warp of the simulated SM comes to it.

Blocks that share an array often load it with the same access of their warps: each warp looks up row after row of a
table, say. The warps of an SM come to that access one after the other, and so do those of all other SMs. When n of W
warps have been there, a sector that k other blocks want, too, is still nobody's with the probability
``exp(-k n / W)``. Else it is on its way since the first ones came.
"""

from __future__ import annotations

from math import exp, expm1


class Access:
    """An access of an array: when the data of its first load is there, and how many warps came before the current."""

    def __init__(self, warp: int) -> None:
        self.warp, self.before = warp, 0
        self.there = 0.0


class Joins:
    """The accesses of the simulated SM, which has ``warps`` at work at one time."""

    def __init__(self, warps: int) -> None:
        self.warps = max(1, warps)
        self._accesses: dict[tuple[int, int], Access] = {}

    def come(self, array: int, number: int, warp: int) -> Access:
        """A warp loads of an array with its access of that number. Behind all warps at work others begin anew."""
        found = self._accesses.get((array, number))
        if found is None or (found.warp != warp and found.before + 1 >= self.warps):
            found = self._accesses[array, number] = Access(warp)
        elif found.warp != warp:
            found.warp = warp
            found.before += 1
        return found

    def asked(self, access: Access, others: float) -> float:
        """The probability that one of the other blocks that want a sector has asked for it."""
        return 1 - exp(-others * access.before / self.warps)

    def first(self, others: float) -> float:
        """The share of its sectors that an SM asks for itself: the mean of the others over its warps."""
        return expm1(-others) / (expm1(-others / self.warps) * self.warps)
