"""By how much the slowest warp of all SMs comes later, since DRAM answers some loads later than others.

One SM is simulated, and a launch whose blocks all run at once ends with the slowest warp of all SMs. An answer of DRAM
is early or late by chance (``Parameters.dram_spread``). A warp that waits for n of them, one after the other, is late
by the root of n, and by more where it comes back to one row. Of 528 warps of an H200 (2026-11-29) that load 16 sectors,
each when the one before has come, the mean one takes 11 637 cycles and the slowest one 13 001 where they lie in 16
rows, and 11 541 and 14 725 where they lie in two; with a warm cache 5450 and 5997.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from softlab.timing.dram import AGAIN


@dataclass
class Waits:
    """Of one warp: until when it waits for DRAM, for which row, how many waits one after the other were for this row,
    and the variance of all of them together, where that of one is 1."""

    until: float = -1.0
    row: int = -1
    of_row: int = 0
    variance: float = 0.0


class Slowest:
    """The waits of an SM's warps for DRAM."""

    def __init__(self, deviation: float):
        """deviation: the standard deviation of an answer, in cycles."""
        self._deviation = deviation
        self.waits: dict[int, Waits] = {}
        self._variances: Sequence[float] | None = None

    def wait(self, warp: int, start: float, done: float, row: int) -> None:
        """A load of a warp that is issued at ``start`` and that DRAM answers at ``done``."""
        one = self.waits.setdefault(warp, Waits())
        if start >= one.until:
            one.of_row = one.of_row + 1 if row == one.row else 1
            one.row = row
            one.variance += 1 + 2 * AGAIN**2 * (one.of_row - 1)
        one.until = max(one.until, done)

    def were(self, variances: Sequence[float]) -> None:
        """The compiled loop has seen the waits. variances: of the warps that waited, in the order of their first
        ones."""
        self._variances = variances

    def later(self, sms: float) -> float:
        """Cycles by which the slowest of all warps of ``sms`` SMs ends behind the slowest one of this SM. That every
        warp waits once is in the time of the first load."""
        variances = self._variances
        if variances is None:
            variances = [one.variance for one in self.waits.values()]
        count = len(variances)
        if not count:
            return 0.0
        deviation = self._deviation * sum(sqrt(variance) - 1 for variance in variances) / count
        return deviation * (_largest(count * sms) - _largest(count))


def _largest(count: float) -> float:
    """The middle of the largest of ``count`` values with a normal distribution, in standard deviations."""
    return NormalDist().inv_cdf((count - 0.375) / (count + 0.25)) if count > 1 else 0.0
