"""What words tell and which warps learn it, beside a model that looks at each warp and never skips any."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable

import numpy as np
import pytest

from softlab.instruments.told_words import ToldWords
from tests.sampled import each

BLOCKS, WARPS, COLUMNS, WORDS = 3, 3, 10, 3


class Model:
    """``known`` (warps, columns): what each warp has learnt. Words tell a vector to all, and one per block."""

    def __init__(self) -> None:
        self.known = np.zeros((BLOCKS * WARPS, COLUMNS), np.int64)
        self.to_all = np.zeros((WORDS, COLUMNS), np.int64)
        self.to_block = np.zeros((WORDS, BLOCKS, COLUMNS), np.int64)

    def access(self, kind: str, word: int, warps: np.ndarray, to_all: np.ndarray | None, to_block: np.ndarray) -> None:
        """Warps read a word, store to it, or do both, one after the other."""
        if kind == "store":
            self.to_all[word] = 0
        for n, warp in enumerate(warps.tolist()):
            of_block = self.to_block[word, warp // WARPS]
            if kind != "store":
                self.known[warp] = np.maximum(self.known[warp], np.maximum(self.to_all[word], of_block))
            if kind != "read":
                np.maximum(of_block, to_block[n], out=of_block)
                if to_all is not None:
                    self.to_all[word] = np.maximum(self.to_all[word], to_all[n])


Learnt = Iterable[tuple[np.ndarray, np.ndarray]]


def _of_several(
    told: ToldWords, kind: str, word: int, warps: np.ndarray, to_all: np.ndarray | None, to_block: np.ndarray
) -> Learnt:
    if kind == "read":
        return told.learn(word, warps)
    if kind == "exchange":
        return told.pass_on(word, warps, to_all, to_block)
    told.overwrite([word])
    told.tell(word, warps, to_all, to_block)
    return ()


def _of_one(
    told: ToldWords, kind: str, words: list[int], warps: np.ndarray, to_all: np.ndarray | None, to_block: np.ndarray
) -> Learnt:
    if kind != "store":
        for vector in told.learn_one(words, int(warps[0])):
            yield warps, vector
    if kind != "read":
        vectors = None if to_all is None else to_all[0].copy(), to_block[0].copy()
        told.tell_one(words, int(warps[0]), *vectors, overwrite=kind == "store")


@pytest.mark.parametrize("in_turn", [0.3, 0.97])
@pytest.mark.parametrize("seed", each(4, range(10)))
def test_all_learn_what_a_model_says(seed: int, in_turn: float) -> None:
    """``in_turn``: how often one warp accesses several words, and not several warps one word.

    Earlier batches have told some of the words a time, which stands in the last column.
    """
    random = np.random.default_rng(seed)
    earlier = {word: int(random.integers(1, 3)) for word in range(seed % (WORDS + 1))}
    told, model = ToldWords(BLOCKS, WARPS, COLUMNS, dict(earlier)), Model()
    model.to_all[list(earlier), -1] = list(earlier.values())
    assert told.published() == earlier
    known = np.zeros_like(model.known)
    fenced = np.zeros((2, BLOCKS * WARPS, COLUMNS), np.int64)
    for now in range(1, 150):
        alone = random.random() < in_turn
        words = random.permutation(WORDS)[: random.integers(1, WORDS + 1) if alone else 1].tolist()
        warps = random.permutation(BLOCKS * WARPS)[: 1 if alone else random.integers(1, BLOCKS * WARPS + 1)]
        if random.random() < 0.3:  # fences, of the scope of the block or of the GPU
            times = random.integers(0, now, (len(warps), COLUMNS))
            for of in fenced if random.random() < 0.5 else fenced[1:]:
                of[warps] = np.maximum(of[warps], times)
        to_all = fenced[0, warps] if random.random() < 0.7 else None
        kind = ("read", "exchange", "store")[random.integers(3)]
        for word in words:
            model.access(kind, word, warps, to_all, fenced[1, warps])
        given = warps, to_all, fenced[1, warps]
        for who, vectors in _of_one(told, kind, words, *given) if alone else _of_several(told, kind, words[0], *given):
            known[who] = np.maximum(known[who], vectors)
        np.testing.assert_array_equal(known, model.known)
        assert told.published() == {n: int(v.max()) for n, v in enumerate(model.to_all) if v.any()}


def test_a_warp_that_polls_learns_once() -> None:
    """The next one is news again only where a word tells something that it did not tell before."""
    told, both = ToldWords(BLOCKS, WARPS, COLUMNS, {}), np.array([0, 2])
    told.tell_all("flag", np.arange(COLUMNS))
    assert [who.tolist() for who, _ in told.learn("flag", both)] == [[0, 2]]
    assert not list(told.learn("flag", both))
    told.tell_all("flag", np.minimum(np.arange(COLUMNS), 3))
    assert not list(told.learn("flag", both))
    told.tell_all("flag", np.full(COLUMNS, 3))
    assert [who.tolist() for who, _ in told.learn("flag", both[:1])] == [[0]]
    assert [who.tolist() for who, _ in told.learn("flag", both)] == [[2]]


def test_a_word_of_an_earlier_batch_has_no_vector_before_it_is_accessed() -> None:
    """A launch of many batches has very many such words: what a batch costs must not grow with them."""
    told = ToldWords(BLOCKS, WARPS, COLUMNS, dict.fromkeys(range(100_000), 5))
    tracemalloc.start()
    try:
        assert told.any_tells([7, 8])
        (vector,) = told.learn_one([7, 8], 0)
        assert not told.learn_one([7, 8], 0)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert vector.tolist() == [0] * (COLUMNS - 1) + [5]
    assert taken < 100_000
    told.overwrite([7])
    assert told.published() == {word: 5 for word in range(100_000) if word != 7}
