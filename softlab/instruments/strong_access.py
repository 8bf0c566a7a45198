"""Which warps access which words by one strong access."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from softlab.emulator.lanes import WARP


class StrongAccess:
    """An instruction's lanes and the words that they access, (n,) each, in the order of the accesses.

    A lane may access several words. Warps are those of the batch. ``every``: all lanes that take part, where ``lane``
    has only one of those of a warp that access the same word.
    """

    def __init__(self, words: Sequence[Hashable], lane: np.ndarray, every: np.ndarray | None = None) -> None:
        self.words = words
        self.lane = lane
        self.every = lane if every is None else every

    @cached_property
    def warps(self) -> list[int]:
        """The warps of the lanes, (n,)."""
        return (self.lane // WARP).tolist()

    @cached_property
    def lanes_of_warps(self) -> dict[int, int]:
        """The lanes of each warp that take part, one bit each."""
        warps, where = np.unique(self.every // WARP, return_inverse=True)
        masks = np.zeros(len(warps), np.int64)
        np.bitwise_or.at(masks, where, 1 << self.every % WARP)
        return dict(zip(warps.tolist(), masks.tolist(), strict=True))

    @cached_property
    def _warps_of_words(self) -> dict[Hashable, dict[int, None]]:
        """The different warps that access each word, in their order; nothing where no word is accessed twice."""
        if len(set(self.words)) == len(self.words):
            return {}
        groups: dict[Hashable, dict[int, None]] = {word: {} for word in self.words}
        for word, warp in zip(self.words, self.warps, strict=True):
            groups[word][warp] = None
        return groups

    @cached_property
    def alone(self) -> dict[int, list[Hashable]]:
        """For each warp the words that no other warp accesses."""
        groups: dict[int, list[Hashable]] = {}
        if self._warps_of_words:
            for word, warps in self._warps_of_words.items():
                if len(warps) == 1:
                    groups.setdefault(next(iter(warps)), []).append(word)
            return groups
        begins = (np.flatnonzero(np.diff(self.lane // WARP)) + 1).tolist()
        for begin, end in pairwise([0, *begins, len(self.words)]):
            if begin < end:
                groups.setdefault(self.warps[begin], []).extend(self.words[begin:end])
        return groups

    @cached_property
    def together(self) -> dict[Hashable, np.ndarray]:
        """The warps that access each of the other words, in their order."""
        return {word: np.array(list(warps)) for word, warps in self._warps_of_words.items() if len(warps) > 1}

    @cached_property
    def lanes_share(self) -> bool:
        """Whether lanes of one warp access one word."""
        groups = self._warps_of_words
        return bool(groups) and sum(map(len, groups.values())) < len(self.words)
