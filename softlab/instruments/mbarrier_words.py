"""The words of shared memory that hold mbarriers in use: only mbarrier instructions may access them."""

from __future__ import annotations

import numpy as np

_MBARRIER_BYTES = 8


class MbarrierWords:
    """The words of one batch. ``granule``: bytes per word."""

    def __init__(self, blocks: int, words: int, granule: int) -> None:
        self._granule = granule
        self._held: np.ndarray | None = None
        self._shape = (blocks, words)
        self._first, self._last = words, -1

    def __bool__(self) -> bool:
        return self._held is not None

    @property
    def held(self) -> np.ndarray | None:
        """(blocks, words) bool: the words of mbarriers in use; None where there has been none."""
        return self._held

    def begin(self, row: np.ndarray, offset: np.ndarray) -> None:
        """Mbarriers at these offsets are initialised."""
        if self._held is None:
            self._held = np.zeros(self._shape, bool)
        words = self._words(offset)
        self._held[row[:, None], words] = True
        self._first, self._last = min(self._first, int(words.min())), max(self._last, int(words.max()))

    def end(self, row: np.ndarray, offset: np.ndarray) -> None:
        """Their use ends (``mbarrier.inval``)."""
        if self._held is not None:
            self._held[row[:, None], self._words(offset)] = False

    def lie_within(self, first: int, end: int) -> bool:
        """Whether any of them may lie between these bytes."""
        return self._held is not None and first // self._granule <= self._last and end > self._first * self._granule

    def hit(self, row: np.ndarray, word: np.ndarray) -> np.ndarray:
        """Whether each lane accesses a word of an mbarrier: (lanes,) bool."""
        if self._held is None or int(word.min()) > self._last or int(word.max()) < self._first:
            return np.zeros(len(word), bool)
        return np.asarray(self._held[row[:, None], word].any(axis=1))

    def _words(self, offset: np.ndarray) -> np.ndarray:
        return offset[:, None] // self._granule + np.arange(_MBARRIER_BYTES // self._granule)
