"""How busy a part of the memory system was of late, and by how much its answers then come later."""

from __future__ import annotations

from math import exp

from softlab.timing.parameters import Curve, interpolated


class Load:
    """A server's work over the last ``window`` cycles, as a mean that fades."""

    def __init__(self, window: float):
        self.window = window
        self._work = self._time = 0.0

    def count(self, start: float, cycles: float) -> float:
        """Add work that begins at ``start``; the share of the window that is busy, from 0."""
        passed = start - self._time
        if passed > 0:
            self._work *= exp(-passed / self.window)
            self._time = start
        self._work += cycles
        return self._work / self.window


def later(idle: Curve, mixed: Curve, busy: float, share: float) -> float:
    """Cycles by which an answer comes later at a share of the bandwidth, where ``share`` of what is read is written,
    too: between the curve of reads and that of copies."""
    alone = interpolated(idle, busy)
    return alone + (interpolated(mixed, busy) - alone) * share if share else alone
