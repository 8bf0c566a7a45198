"""Two of the threads for which one stamp of a word of shared memory stands, and when they accessed it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


class KnownAccesses:
    """``threads`` (2, rows, words) int16: the first and the last thread that is known; -1 for none.

    ``times``: those of their accesses, 0 for one that is not known. They are kept only where barriers of some warps
    order accesses: compiled code records the threads alone.
    """

    def __init__(self, rows: int, words: int) -> None:
        self.threads = np.full((2, rows, words), -1, np.int16)
        self.times: np.ndarray | None = None

    def keep_times(self) -> None:
        """From now on."""
        self.times = np.zeros(self.threads.shape, np.int64)

    def repeat(self, rows: int) -> None:
        """Give each of ``rows`` blocks what the first one has."""
        self.threads = np.repeat(self.threads, rows, axis=1)
        if self.times is not None:
            self.times = np.repeat(self.times, rows, axis=1)

    def note(
        self, row: np.ndarray, word: np.ndarray, first: np.ndarray, last: np.ndarray, now: int, before: np.ndarray | int
    ) -> None:
        """Two threads accessed each word, the first ``before`` and the last ``now``; a thread -1 changes nothing."""
        for number, thread, time in ((0, first, before), (1, last, now)):
            known = thread >= 0
            at = number, row[known], word[known]
            self.threads[at] = thread[known]
            if self.times is not None:
                self.times[at] = np.broadcast_to(time, thread.shape)[known]

    def of(self, row: np.ndarray, word: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The (threads, times) of words, the first access and then the last."""
        assert self.times is not None
        for threads, times in zip(self.threads, self.times, strict=True):
            yield threads[row, word].astype(np.int64), times[row, word]

    def latest_first(self, row: int, word: int, time: int) -> list[tuple[int, int]]:
        """The (thread, time) of one word that are known; ``time``: that of accesses whose time is not."""
        times = [0, 0] if self.times is None else self.times[::-1, row, word].tolist()
        both = zip(self.threads[::-1, row, word].tolist(), times, strict=True)
        return [(thread, when or time) for thread, when in both if thread >= 0]
