"""What the warps of a cluster know of each of its blocks: until when they come after what the block's threads did.

A thread that issues a copy into another block's shared memory must have heard of that block itself: an arrival at an
mbarrier, a flag, or a barrier of the cluster. That a third block has told of its own work says nothing of it, and
neither does the end of an earlier copy. Times are those of :mod:`softlab.instruments.shadow`, and exclusive.
"""

from __future__ import annotations

import numpy as np

from softlab.emulator.lanes import WARP


class BlocksHeard:
    """``heard`` (rows, warps, ranks): until when a warp comes after the block of each rank of its cluster."""

    def __init__(self, rows: int, warps: int, size: int) -> None:
        self.heard = np.zeros((rows, warps, size), np.int64)
        self._size = size
        #: (row of the block, word) -> what has been released there: (ranks,).
        self._told: dict[tuple[int, int], np.ndarray] = {}

    def release(
        self, owner: np.ndarray, word: np.ndarray, row: np.ndarray, thread: np.ndarray, time: np.ndarray
    ) -> None:
        """Threads tell words of the blocks ``owner`` what they know, and what they did until a time; (lanes,) each."""
        tellers = np.stack((owner, word, row, thread // WARP, time), axis=1)
        for at, cell, mine, warp, until in np.unique(tellers, axis=0).tolist():
            known = self.heard[mine, warp].copy()
            known[mine % self._size] = max(until, int(known[mine % self._size]))
            before = self._told.get((at, cell))
            self._told[at, cell] = known if before is None else np.maximum(before, known)

    def acquire(self, owner: np.ndarray, word: np.ndarray, row: np.ndarray, thread: np.ndarray) -> None:
        """Threads learn what has been told to words; (lanes,) each."""
        for at, cell, mine, warp in np.unique(np.stack((owner, word, row, thread // WARP), axis=1), axis=0).tolist():
            told = self._told.get((at, cell))
            if told is not None:
                np.maximum(self.heard[mine, warp], told, out=self.heard[mine, warp])

    def meet(self, row: int, warps: np.ndarray, waiting: np.ndarray) -> None:
        """Warps of a block pass a barrier, (warps,) bool each: those that wait learn what all of them know."""
        self.heard[row, waiting] = self.heard[row, warps].max(axis=0)

    def hear_all(self, mask: np.ndarray, time: np.ndarray) -> None:
        """The warps of these lanes, (rows, threads), come after all that was done before these times, (rows,)."""
        here = np.asarray(mask.reshape(*self.heard.shape[:2], WARP).any(axis=2))
        np.maximum(self.heard, np.where(here[:, :, None], time[:, None, None], 0), out=self.heard)

    def of(self, row: np.ndarray, thread: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Until when threads come after the blocks in the rows ``other`` of their clusters; (lanes,) each."""
        return np.asarray(self.heard[row, thread // WARP, other % self._size])
