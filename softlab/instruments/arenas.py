"""Arrays that are used again: to get the same memory from the system for each launch takes longer than to fill it."""

from __future__ import annotations

import numpy as np

#: Bytes that are kept for later, at most.
_MOST_BYTES = 96 << 20
#: Bytes of zeros that are worth it: fewer come quickly anyway, and of more the system gives only what is used.
_LEAST_ZEROS, _MOST_ZEROS = 1 << 15, 1 << 22


class Arenas:
    """Arrays of int64 that nobody uses. What they hold is left of their last use."""

    def __init__(self) -> None:
        self._free: list[np.ndarray] = []

    def take(self, items: int) -> np.ndarray:
        """An array with room for the items: the smallest kept one that is large enough, or a new one."""
        found = min((free for free in self._free if len(free) >= items), key=len, default=None)
        if found is None:
            return np.empty(items, np.int64)
        self._free = [free for free in self._free if free is not found]
        return found[:items]

    def zeros(self, items: int) -> np.ndarray:
        """The same, filled with zeros. What is small or very large is a new one."""
        if not _LEAST_ZEROS <= 8 * items <= _MOST_ZEROS:
            return np.zeros(items, np.int64)
        found = self.take(items)
        found.fill(0)
        return found

    def give_zeros(self, array: np.ndarray) -> None:
        """Nobody uses an array that :meth:`zeros` gave any more, whatever it holds."""
        if _LEAST_ZEROS <= array.nbytes <= _MOST_ZEROS:
            self.give(array)

    def give(self, array: np.ndarray) -> None:
        """Nobody uses an array that :meth:`take` gave any more. The largest ones are kept."""
        whole = array if array.base is None else array.base
        kept: list[np.ndarray] = []
        left = _MOST_BYTES
        for free in sorted([*self._free, whole], key=len, reverse=True):
            if free.nbytes <= left:
                kept.append(free)
                left -= free.nbytes
        self._free = kept


#: Those of the process.
ARENAS = Arenas()
