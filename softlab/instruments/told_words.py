"""What words tell that threads write by strong accesses, and which warps have learnt it already.

What a warp knows is a vector of times, as :mod:`softlab.instruments.happens_before` has it. A word tells a vector to
everybody, and one more per block to the warps of this block. Warps that poll a word read the same again and again. They
have nothing to learn then, and that is quick to see. Words that one warp tells the same at one time count as one until
they are told different things: many threads have words of their own.

A word that an earlier batch told something tells everybody one time. It has no vector before the batch accesses it: a
launch of many batches may have very many of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from softlab.instruments.warp_syncs import distinct

#: What adds a warp's vector to another one, or to none.
_Join: TypeAlias = Callable[[np.ndarray | None], np.ndarray]
#: Different vectors by their ``id``.
_Found: TypeAlias = dict[int, np.ndarray]


class _Vector:
    """A vector (columns,) that words tell, and the warps that know it. Nobody writes into the array."""

    __slots__ = ("known_by", "times")

    def __init__(self, times: np.ndarray) -> None:
        self.becomes(times)

    def copy(self) -> _Vector:
        """The same, for other words."""
        other = _Vector(self.times)
        other.known_by = self.known_by.copy()
        return other

    def becomes(self, times: np.ndarray) -> None:
        """The word tells something else, which is news for all warps."""
        self.times = times
        self.known_by: set[int] = set()

    def learn(self, warp: int, found: _Found) -> None:
        """Add the vector to what a warp finds, if the warp does not know it yet."""
        if warp not in self.known_by:
            self.known_by.add(warp)
            found[id(self.times)] = self.times


class _InTurn:
    """What words tell that no two warps have accessed at one time. ``count``: how many words it is."""

    __slots__ = ("_to_all", "_to_block", "count")

    def __init__(self, to_all: np.ndarray, count: int) -> None:
        self.count = count
        self._to_all = _Vector(to_all)
        self._to_block: dict[int, _Vector] = {}

    def split(self, count: int) -> _InTurn:
        """The same for that many of the words, which are told something else from now on."""
        part = _InTurn(self.to_all, count)
        part._to_all = self._to_all.copy()
        part._to_block = {row: vector.copy() for row, vector in self._to_block.items()}
        self.count -= count
        return part

    @property
    def to_all(self) -> np.ndarray:
        """What the word tells everybody, (columns,)."""
        return self._to_all.times

    def overwrite(self, nothing: np.ndarray) -> None:
        """What it told everybody before is gone."""
        self._to_all.becomes(nothing)

    def learn_one(self, row: int, warp: int, found: _Found) -> None:
        """Add the vectors that are news for a warp of the block ``row`` to what it finds."""
        self._to_all.learn(warp, found)
        if row in self._to_block:
            self._to_block[row].learn(warp, found)

    def tell_one(self, row: int, all_join: _Join | None, block_joins: _Join) -> None:
        """A warp of the block ``row`` tells what the functions add."""
        if all_join is not None:
            self._to_all.becomes(all_join(self.to_all))
        if row in self._to_block:
            self._to_block[row].becomes(block_joins(self._to_block[row].times))
        else:
            self._to_block[row] = _Vector(block_joins(None))

    def together(self, blocks: int, warps: int) -> _Together:
        """The same, for a word that several warps access at one time."""
        told = _Together(blocks, warps, self.to_all)
        told.news.fill(True)
        told.news[list(self._to_all.known_by)] = False
        rows = np.array(list(self._to_block), int)
        told.lines(rows)
        for line, vector in zip(told.to_block, self._to_block.values(), strict=True):
            line[:] = vector.times
        told.news_of_block[rows] = True
        told.news_of_block.reshape(-1)[[warp for of in self._to_block.values() for warp in of.known_by]] = False
        return told


class _Together:
    """What a word tells. ``to_all`` (columns,) int64; ``to_block`` (lines, columns), a line per block that told."""

    def __init__(self, blocks: int, warps: int, to_all: np.ndarray) -> None:
        self.to_all = to_all
        self.to_block = np.zeros((0, len(to_all)), np.int64)
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

    def overwrite(self, nothing: np.ndarray) -> None:
        """What it told everybody before is gone."""
        self.to_all = nothing
        self.news.fill(False)

    def learn_one(self, row: int, warp: int, found: _Found) -> None:
        """Add the vectors that are news for a warp of the block ``row`` to what it finds."""
        if self.news[warp]:
            self.news[warp] = False
            found[id(self.to_all)] = self.to_all
        of_block = self.news_of_block[row]
        own = warp % len(of_block)
        if of_block[own]:
            of_block[own] = False
            line = self.to_block[self.line[row]]
            found[id(line)] = line

    def tell_one(self, row: int, all_join: _Join | None, block_joins: _Join) -> None:
        """A warp of the block ``row`` tells what the functions add. It counts as news: to look would take longer."""
        if all_join is not None:
            self.to_all = all_join(self.to_all)
            self.news.fill(True)
        if self.line[row] < 0:
            self.lines(np.array([row]))
        line = self.to_block[self.line[row]]
        line[:] = block_joins(line)
        self.news_of_block[row] = True

    def tell_all(self, vector: np.ndarray) -> None:
        """The word tells everybody a vector, too."""
        if (vector > self.to_all).any():
            self.to_all = np.maximum(self.to_all, vector)
            self.news.fill(True)

    def in_block(self, warps: np.ndarray, rows: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Warps of different blocks learn and tell; gives what they learn."""
        lines = self.lines(rows)
        before = self.to_block[lines]
        tells = (vectors > before).any(axis=1)
        if tells.any():
            self.to_block[lines] = np.maximum(before, vectors)
            self.news_of_block[rows[tells]] = True
        return warps, before


class ToldWords:
    """The words of one batch. Warps are those of the batch."""

    def __init__(self, blocks: int, warps: int, columns: int, earlier: dict[Hashable, int]) -> None:
        """``columns``: of a vector. ``earlier``: what words tell of earlier batches, a time in the last column.

        The dictionary belongs to this object from now on.
        """
        self._size = blocks, warps
        #: Words that nobody of this batch has accessed yet.
        self._earlier = earlier
        #: The vector of words that tell nothing to all. Nobody writes into it.
        self._nothing = np.zeros(columns, np.int64)
        self._words: dict[Hashable, _InTurn | _Together] = {}

    def any_tells(self, words: Sequence[Hashable]) -> bool:
        """Whether anybody has told one of the words anything."""
        self._recall(words)
        return not self._words.keys().isdisjoint(words)

    def _recall(self, words: Sequence[Hashable]) -> None:
        """The batch accesses different words: those that earlier batches told something have vectors from now on."""
        if not self._earlier or self._earlier.keys().isdisjoint(words):
            return
        alike: dict[int, list[Hashable]] = {}
        for word in words:
            if word in self._earlier:
                alike.setdefault(self._earlier.pop(word), []).append(word)
        for time, same in alike.items():
            vector = self._nothing.copy()
            vector[-1] = time
            self._words.update(dict.fromkeys(same, _InTurn(vector, len(same))))

    def to_all(self, word: Hashable) -> np.ndarray | None:
        """What a word tells everybody, (columns,); None for a word that nobody has told anything."""
        self._recall([word])
        told = self._words.get(word)
        return told.to_all if told is not None else None

    def published(self) -> dict[Hashable, int]:
        """The latest time that each word of global memory tells everybody."""
        vectors = {word: told.to_all for word, told in self._words.items() if isinstance(word, int) and word >= 0}
        latest = {at: int(vector.max()) for at, vector in {id(one): one for one in vectors.values()}.items()}
        return self._earlier | {word: time for word, one in vectors.items() if (time := latest[id(one)]) > 0}

    def overwrite(self, words: Sequence[Hashable]) -> None:
        """Different words are stored to: what they told everybody before is gone."""
        for told in self._apart(words):
            told.overwrite(self._nothing)

    def _apart(self, words: Sequence[Hashable]) -> list[_InTurn | _Together]:
        """What different words tell, apart from all others; those that tell nothing are left out."""
        self._recall(words)
        different = set(map(self._words.get, words))
        alike = len(different) == 1  # as the words of a warp mostly are: no need to count each
        counts = dict.fromkeys(different, len(words)) if alike else Counter(map(self._words.get, words))
        found: list[_InTurn | _Together] = []
        for told, count in counts.items():
            if isinstance(told, _InTurn) and count < told.count:
                part = told.split(count)
                self._words.update([(word, part) for word in words if self._words.get(word) is told])
                found.append(part)
            elif told is not None:
                found.append(told)
        return found

    # One warp and several words

    def learn_one(self, words: Sequence[Hashable], warp: int) -> list[np.ndarray]:
        """One warp reads different words: the different vectors that are news for it."""
        self._recall(words)
        row = warp // self._size[1]
        found: _Found = {}
        for told in set(map(self._words.get, words)):
            if told is not None:
                told.learn_one(row, warp, found)
        return list(found.values())

    def tell_one(
        self,
        words: Sequence[Hashable],
        warp: int,
        to_all: np.ndarray | None,
        to_block: np.ndarray,
        *,
        overwrite: bool = False,
    ) -> None:
        """As :meth:`tell`, of one warp that tells different words the same: (columns,).

        The vectors must not change any more. ``overwrite``: as :meth:`overwrite` before it.
        """
        self._recall(words)
        if not all(map(self._words.__contains__, words)) and to_block.any():
            new = [word for word in words if word not in self._words]
            self._words.update(dict.fromkeys(new, _InTurn(self._nothing, len(new))))
        row = warp // self._size[1]
        all_join = None if to_all is None else self._join(to_all)
        block_joins = self._join(to_block)
        for told in self._apart(words):
            if overwrite:
                told.overwrite(self._nothing)
            told.tell_one(row, all_join, block_joins)

    def _join(self, vector: np.ndarray) -> _Join:
        """What joins a vector to others, and to none: the same array for the same one."""
        joined: dict[int, tuple[np.ndarray, np.ndarray]] = {}

        def join(other: np.ndarray | None) -> np.ndarray:
            if other is None or other is self._nothing:
                return vector
            found = joined.get(id(other))
            if found is None:
                found = joined[id(other)] = other, np.maximum(other, vector)
            return found[1]

        return join

    # Several warps and one word

    def _told(self, word: Hashable, vectors: np.ndarray | None = None) -> _Together | None:
        """What a word tells; None for one that tells nothing, nor does from now on, when it is told these vectors."""
        self._recall([word])
        told = self._words.get(word)
        if isinstance(told, _InTurn):
            told.count -= 1
            told = self._words[word] = told.together(*self._size)
        elif told is None and vectors is not None and vectors.any():
            told = self._words[word] = _Together(*self._size, self._nothing)
        return told

    def tell_all(self, word: Hashable, vector: np.ndarray) -> None:
        """A word tells everybody a vector, too."""
        if (told := self._told(word, vector)) is not None:
            told.tell_all(vector)

    def tell(self, word: Hashable, warps: np.ndarray, to_all: np.ndarray | None, to_block: np.ndarray) -> None:
        """Different warps tell a word their vectors, (warps, columns). ``to_all``: None for only their own blocks."""
        if (told := self._told(word, to_block)) is None:
            return
        if to_all is not None:
            told.tell_all(to_all.max(axis=0))
        for _ in self._in_blocks(told, warps, to_block):
            pass

    def learn(self, word: Hashable, warps: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Different warps read a word.

        Gives those that it has news for, with one vector for all of them or one for each.
        """
        if (told := self._told(word)) is None:
            return
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
            told.tell_all(found[-1])
            yield warps, found[:-1]
        yield from self._in_blocks(told, warps, to_block)

    def _in_blocks(
        self, told: _Together, warps: np.ndarray, vectors: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Warps learn what their own blocks told, and tell them their vectors: those of one block one by one."""
        rows = warps // self._size[1]
        if len(distinct(rows)) == len(rows):
            yield told.in_block(warps, rows, vectors)
            return
        for one in range(len(rows)):
            at = slice(one, one + 1)
            yield told.in_block(warps[at], rows[at], vectors[at])
