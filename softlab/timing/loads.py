"""How busy a part of the memory system was of late, and by how much its answers then come later."""

from __future__ import annotations

from math import exp

from softlab.timing.parameters import Curve, interpolated


class Load:
    """A server's work over the last ``window`` cycles, as a mean that fades.

    What counts is the work that the server has done, not what waits in front of it: a burst of requests that meets an
    idle server waits for its turn, which the server's queue has, and for nothing else.
    """

    def __init__(self, window: float):
        self.window = window
        self._busy = self._time = self._waiting = 0.0

    def count(self, start: float, cycles: float) -> float:
        """Add work that comes at ``start``; the share of the window in which the server worked until then, 0 to 1."""
        passed = start - self._time
        if passed > 0:
            worked = min(passed, self._waiting)
            faded = exp(-passed / self.window)
            self._busy = self._busy * faded + exp((worked - passed) / self.window) - faded
            self._waiting -= worked
            self._time = start
        self._waiting += cycles
        return self._busy


def later(idle: Curve, mixed: Curve, busy: float, share: float) -> float:
    """Cycles by which an answer comes later at a share of the bandwidth, where ``share`` of what is read is written,
    too: between the curve of reads and that of copies."""
    alone = interpolated(idle, busy)
    return alone + (interpolated(mixed, busy) - alone) * share if share else alone
