"""Threads that arrive at a barrier and go on (``bar.arrive``): what they do next does not come before the barrier.

A thread that waits at the barrier comes after what the others did before they arrived. The machine runs in lock step,
so a thread may have stored more before the barrier was complete. The words of such a race say so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softlab.emulator.lanes import WARP, Lanes
from softlab.instruments.shadow import CODE_BITS, LANE_MASK, MANY_WARPS, WHO_MASK


@dataclass
class _Passed:
    """A barrier that some threads passed: (blocks, threads) bool and int64.

    ``waited``: threads that waited at it; ``early``: threads that had arrived at the time ``since`` and gone on. The
    barrier was complete at the time ``until``.
    """

    waited: np.ndarray
    early: np.ndarray
    since: np.ndarray
    until: int


class EarlyArrivals:
    """The arrivals of one batch, and the barriers since which no other one was passed."""

    def __init__(self) -> None:
        self._since: dict[int, np.ndarray] = {}
        self._passed: list[_Passed] = []

    def __bool__(self) -> bool:
        return bool(self._passed)

    def arrive(self, barrier: int, lanes: Lanes, time: int) -> None:
        """These lanes arrive and go on."""
        since = self._since.setdefault(barrier, np.zeros((lanes.blocks, lanes.threads), np.int64))
        since[lanes.mask] = time

    def barrier(self, lanes: Lanes) -> None:
        """These lanes pass a barrier. It orders what their blocks did before."""
        if self._since:
            rows = np.asarray(lanes.mask.any(axis=1))
            for passed in self._passed:
                passed.waited = passed.waited & ~rows[:, None]
            self._passed = [passed for passed in self._passed if passed.waited.any()]

    def complete(self, barrier: int, lanes: Lanes, ahead: Lanes, time: int) -> None:
        """The barrier that lanes just passed is one at which some of them had arrived ``ahead``."""
        early = ahead.mask.copy()
        self._passed.append(_Passed(lanes.mask & ~early, early, self._since[barrier].copy(), time))

    def clashes(self, stamps: np.ndarray, row: np.ndarray, word: np.ndarray, thread: np.ndarray) -> np.ndarray:
        """Whether each lane accesses words that a thread accessed after its early arrival: (lanes,) bool."""
        stamp = stamps[row[:, None], word]
        who, time = stamp & WHO_MASK, stamp >> CODE_BITS
        other = np.minimum((who >> 6) * WARP + (who & LANE_MASK), self._passed[0].early.shape[1] - 1)
        found = np.zeros(stamp.shape, bool)
        for passed in self._passed:
            late = passed.early[row[:, None], other] & (time > passed.since[row[:, None], other])
            found |= late & (time < passed.until) & passed.waited[row, thread][:, None]
        return np.asarray((found & (stamp > 0) & (who != MANY_WARPS)).any(axis=1))
