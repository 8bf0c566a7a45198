"""What the warps of a block know of each other by barriers that only some of them pass (named barriers).

A warp that waits at such a barrier comes after what each of the others did before it arrived. A warp that only arrives
(``bar.arrive``) goes on: what it does next does not come before the barrier, and it comes after nobody.
"""

from __future__ import annotations

import numpy as np


class WarpMeetings:
    """``known`` (rows, warps, warps): until when the first warp comes after the second. Times are exclusive."""

    def __init__(self, rows: int, warps: int) -> None:
        self.known = np.zeros((rows, warps, warps), np.int64)
        #: For each barrier what the warps that arrived at it and went on knew then.
        self._arrived: dict[int, np.ndarray] = {}

    def clear(self) -> None:
        """Forget everything."""
        self.known[...] = 0
        self._arrived.clear()

    def repeat(self, rows: int) -> None:
        """Give each of ``rows`` blocks what the first one has, before any warp has arrived and gone on."""
        self.known = np.repeat(self.known, rows, axis=0)

    def arrive(self, barrier: int, here: np.ndarray, time: int) -> None:
        """Warps, (rows, warps) bool, arrive at a barrier and go on: what they did before this time counts."""
        told = self._arrived.setdefault(barrier, np.zeros_like(self.known))
        rows, warps = np.nonzero(here)
        told[rows, warps] = self.known[rows, warps]
        told[rows, warps, warps] = time

    def meet(self, row: int, warps: np.ndarray, waiting: np.ndarray, time: int, barrier: int | None) -> None:
        """Warps of a block pass a barrier: those that waited come after what all did, and what these came after.

        ``barrier``: its number, where some of the warps had arrived and gone on.
        """
        vectors = self.known[row, waiting]
        vectors[np.arange(len(waiting)), waiting] = time
        early = np.setdiff1d(warps, waiting)
        if len(early):
            assert barrier is not None
            vectors = np.concatenate((vectors, self._arrived[barrier][row, early]))
        self.known[row, waiting] = vectors.max(axis=0)
