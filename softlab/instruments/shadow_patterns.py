"""Patterns of accesses to shared memory: what a shadow records of one, known before it happens.

An access repeats its pattern in every turn of a loop, often some words further on. Where no thread has accessed its
words since the last barrier, its stamps follow from the pattern alone, and nothing can clash.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from softlab.emulator.lanes import Box, Lanes, Value
from softlab.emulator.sites import Site

#: Patterns kept. Without a limit, memory would grow with the run.
_MOST_PATTERNS = 2048
Key = tuple[int, bytes, int, bytes]


@dataclass(frozen=True)
class AccessPattern:
    """One access of the lanes of a block.

    ``words`` (n,): each word once, counted from the word of the first lane's address. ``codes`` (n,): who accesses it.
    ``distinct``: no word is accessed by several lanes. Else two of their threads are known for some words: ``threads``
    has, for the first and for the second, (words, threads).
    """

    words: np.ndarray
    codes: np.ndarray
    distinct: bool
    threads: tuple[tuple[np.ndarray, np.ndarray], ...]

    def at(self, first: int) -> np.ndarray | slice:
        """The words, where the first lane's address is in the word ``first``."""
        if len(self.words) and self.words[-1] - self.words[0] + 1 == len(self.words):
            return slice(first + int(self.words[0]), first + int(self.words[-1]) + 1)
        return self.words + first


class AccessPatterns:
    """The patterns that one run has met."""

    def __init__(self) -> None:
        self._known: dict[Key, AccessPattern] = {}

    @staticmethod
    def key(site: Site, lanes: Lanes, address: Value, granule: int) -> Key | None:
        """What tells the pattern of an access that all blocks share; None for another one."""
        if not isinstance(lanes, Box) or lanes.rows is not None:
            return None
        if not isinstance(address, np.ndarray):
            return site.index, lanes.column_key, int(address) % granule, b""
        if len(address) != 1:
            return None
        first = address[:, :1]
        return site.index, lanes.column_key, int(first[0, 0]) % granule, (address - first).tobytes()

    def find(self, key: Key, make: Callable[[], AccessPattern]) -> AccessPattern:
        """The pattern of that key; ``make`` gives one that is not known yet."""
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_PATTERNS:
                self._known.clear()
            found = self._known[key] = make()
        return found
