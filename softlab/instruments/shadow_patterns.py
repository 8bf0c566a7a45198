"""Patterns of accesses to shared memory: what a shadow records of one, known before it happens.

An access repeats its pattern in every turn of a loop, often some words further on. Where no thread has accessed its
words since the last barrier, its stamps follow from the pattern alone, and nothing can clash.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from softlab.emulator.ptx.linker import Image

#: Patterns kept. Without a limit, memory would grow with the run.
_MOST_PATTERNS = 2048
#: The addresses (nothing where all lanes have the same), the words of each lane, the lanes, their number, and where in
#: its word the first address is.
Key = tuple[bytes, bytes, bytes, int, int]


@dataclass(frozen=True)
class AccessPattern:
    """One access of the lanes of a block.

    ``words`` (n,): each word once, counted from the word of the first lane's address. ``codes`` (n,): who accesses it.
    ``last`` (n,) int16: the last thread that does.
    ``distinct``: no word is accessed by several lanes. Else two of their threads are known for some words: ``threads``
    has, for the first and for the second, (words, threads).
    """

    words: np.ndarray
    codes: np.ndarray
    last: np.ndarray
    distinct: bool
    threads: tuple[tuple[np.ndarray, np.ndarray], ...]

    @cached_property
    def threads_of_words(self) -> np.ndarray:
        """The same threads for each of ``words``, -1 where none is known: (2, n) int16."""
        found = np.full((2, len(self.words)), -1, np.int16)
        for row, (words, threads) in zip(found, self.threads, strict=False):
            row[np.searchsorted(self.words, words)] = threads
        return found

    @cached_property
    def places(self) -> tuple[int, int, int, int]:
        """As compiled code takes it: the words, who accesses them, and the threads, as arrays; how many words."""
        return id(self.words), id(self.codes), id(self.threads_of_words), len(self.words)

    def at(self, first: int) -> np.ndarray | slice:
        """The words, where the first lane's address is in the word ``first``."""
        if len(self.words) and self.words[-1] - self.words[0] + 1 == len(self.words):
            return slice(first + int(self.words[0]), first + int(self.words[-1]) + 1)
        return self.words + first


class AccessPatterns:
    """The patterns that the runs of one kernel have met."""

    def __init__(self, image: Image) -> None:
        self._known: dict[Key, AccessPattern] = {}

    def find(self, key: Key, make: Callable[[], AccessPattern]) -> AccessPattern:
        """The pattern of that key; ``make`` gives one that is not known yet."""
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_PATTERNS:
                self._known.clear()
            found = self._known[key] = make()
        return found
