"""What words tell that threads write by strong accesses, and which warps have learnt it already.

What a warp knows is a vector of times, as :mod:`softlab.instruments.happens_before` has it. A word tells a vector to
everybody, and one more per block to the warps of this block. Warps that poll a word read the same again and again. They
have nothing to learn then, and that is quick to see.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import numpy as np

from softlab.instruments.warp_syncs import distinct


class _Told:
    """What one word tells. ``to_all`` (columns,) int64; ``to_block`` (lines, columns), a line per block that told."""

    def __init__(self, blocks: int, warps: int, nothing: np.ndarray) -> None:
        self.to_all = nothing
        self.to_block = np.zeros((0, len(nothing)), np.int64)
        #: The line of each block; -1 for none.
        self.line = np.full(blocks, -1)
        #: Warps of the batch for which there is news, of everybody and of their own block.
        self.news = np.zeros(blocks * warps, bool)
        self.news_of_block = np.zeros((blocks, warps), bool)

    def lines(self, rows: np.ndarray) -> np.ndarray:
        """The lines of different blocks; new ones where a block has none."""
        new = rows[self.line[rows] < 0]
        if len(new):
            self.line[new] = np.arange(len(self.to_block), len(self.to_block) + len(new))
            self.to_block = np.concatenate((self.to_block, np.zeros((len(new), len(self.to_all)), np.int64)))
        return self.line[rows]


class ToldWords:
    """The words of one batch. ``columns``: of a vector. Warps are those of the batch."""

    def __init__(self, blocks: int, warps: int, columns: int) -> None:
        self._size = blocks, warps
        #: The vector of words that tell nothing to all. Nobody writes into it.
        self._nothing = np.zeros(columns, np.int64)
        self._words: dict[Hashable, _Told] = {}

    def __contains__(self, word: Hashable) -> bool:
        """Whether anybody has told a word anything."""
        return word in self._words

    def to_all(self, word: Hashable) -> np.ndarray | None:
        """What a word tells everybody, (columns,); None for a word that nobody has told anything."""
        told = self._words.get(word)
        return told.to_all if told is not None else None

    def published(self) -> dict[Hashable, int]:
        """The latest time that each word of global memory tells everybody."""
        times = {word: int(told.to_all.max()) for word, told in self._words.items() if isinstance(word, int)}
        return {word: time for word, time in times.items() if time > 0}

    def overwrite(self, word: Hashable) -> None:
        """A word is stored to: what it told everybody before is gone."""
        if (told := self._words.get(word)) is not None:
            told.to_all = self._nothing
            told.news.fill(False)

    def tell_all(self, word: Hashable, vector: np.ndarray) -> None:
        """A word tells everybody a vector, too."""
        if (told := self._told(word, vector)) is not None:
            self._tell_all(told, vector)

    def tell(self, word: Hashable, warps: np.ndarray, to_all: np.ndarray | None, to_block: np.ndarray) -> None:
        """Different warps tell a word their vectors, (warps, columns). ``to_all``: None for only their own blocks."""
        if (told := self._told(word, to_block)) is None:
            return
        if to_all is not None:
            self._tell_all(told, to_all.max(axis=0))
        for _ in self._in_blocks(told, warps, to_block):
            pass

    def _told(self, word: Hashable, vectors: np.ndarray) -> _Told | None:
        """What a word tells; None for one that tells nothing, nor does from now on, when it is told these vectors."""
        told = self._words.get(word)
        if told is None and vectors.any():
            told = self._words[word] = _Told(*self._size, self._nothing)
        return told

    @staticmethod
    def _tell_all(told: _Told, vector: np.ndarray) -> None:
        if (vector > told.to_all).any():
            told.to_all = np.maximum(told.to_all, vector)
            told.news.fill(True)

    def learn_one(self, word: Hashable, warp: int) -> Iterator[np.ndarray]:
        """One warp reads a word: the vectors that are news for it."""
        told, (row, own) = self._words.get(word), divmod(warp, self._size[1])
        if told is None:
            return
        if told.news[warp]:
            told.news[warp] = False
            yield told.to_all
        if told.news_of_block[row, own]:
            told.news_of_block[row, own] = False
            yield told.to_block[told.line[row]]

    def tell_one(self, word: Hashable, warp: int, to_all: np.ndarray | None, to_block: np.ndarray) -> None:
        """As :meth:`tell`, of one warp: (columns,). All of it counts as news: to look would take longer."""
        if (told := self._told(word, to_block)) is None:
            return
        if to_all is not None:
            told.to_all = np.maximum(told.to_all, to_all)
            told.news.fill(True)
        row = warp // self._size[1]
        if told.line[row] < 0:
            told.lines(np.array([row]))
        line = told.to_block[told.line[row]]
        np.maximum(line, to_block, out=line)
        told.news_of_block[row] = True

    def learn(self, word: Hashable, warps: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Different warps read a word that tells something.

        Gives those that it has news for, with one vector for all of them or one for each.
        """
        told = self._words[word]
        new = warps[told.news[warps]]
        if len(new):
            told.news[new] = False
            yield new, told.to_all
        new = warps[told.news_of_block.reshape(-1)[warps]]
        if len(new):
            told.news_of_block.reshape(-1)[new] = False
            yield new, told.to_block[told.line[new // self._size[1]]]

    def pass_on(
        self, word: Hashable, warps: np.ndarray, to_all: np.ndarray | None, to_block: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Different warps learn what a word tells and then tell it their vectors, (warps, columns), one by one.

        Gives the warps that learn, each with its vector. ``to_all``: None where the warps tell only their own blocks.
        """
        if (told := self._told(word, to_block)) is None:
            return
        if to_all is None:
            yield warps, told.to_all
        elif told.news[warps].any() or (to_all > told.to_all).any():
            found = np.maximum.accumulate(np.concatenate((told.to_all[None], to_all)))
            told.news[warps] = False
            self._tell_all(told, found[-1])
            yield warps, found[:-1]
        yield from self._in_blocks(told, warps, to_block)

    def _in_blocks(
        self, told: _Told, warps: np.ndarray, vectors: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Warps learn what their own blocks told, and tell them their vectors: those of one block one by one."""
        rows = warps // self._size[1]
        if len(distinct(rows)) == len(rows):
            yield self._in_block(told, warps, rows, vectors)
            return
        for one in range(len(rows)):
            at = slice(one, one + 1)
            yield self._in_block(told, warps[at], rows[at], vectors[at])

    @staticmethod
    def _in_block(
        told: _Told, warps: np.ndarray, rows: np.ndarray, vectors: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Warps of different blocks learn and tell; gives what they learn."""
        lines = told.lines(rows)
        before = told.to_block[lines]
        tells = (vectors > before).any(axis=1)
        if tells.any():
            told.to_block[lines] = np.maximum(before, vectors)
            told.news_of_block[rows[tells]] = True
        return warps, before
