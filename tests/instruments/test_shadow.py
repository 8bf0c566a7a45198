"""The shadow of shared memory beside a model that knows of each thread what it comes after.

Each word has one or two accesses, then random barriers, warp barriers, groups of lanes, fences and flags, then one
more access. The model holds for each pair of threads whether one comes after what the other did.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from softlab.emulator.lanes import WARP, lanes_of
from softlab.emulator.machine.native import available
from softlab.instruments.native_shadow import READS, STORES, UNKNOWN, NativeShadow
from softlab.instruments.native_shadow import STRONG as BY_ATOMIC
from softlab.instruments.shadow import ATOMIC, Shadow

BLOCKS, THREADS, WORDS = 3, 96, 131
READ, WRITE, STRONG = range(3)
#: Instructions of the first accesses: one per kind, and those of the second round.
FIRST, SECOND = 10, 20


class Model:
    """``after[row, a, b]``: thread a of a block comes after what thread b did in a round of accesses.

    ``of_warps``: what one thread tells or learns at a flag, its whole warp does. The shadow orders at least what
    follows from each thread, and at most what follows from warps.
    """

    def __init__(self, of_warps: bool = False) -> None:
        self._of_warps = of_warps
        self.rounds: list[np.ndarray] = []
        self._told: list[np.ndarray] = []

    def begin_round(self) -> None:
        """Accesses follow, which each thread knows of itself alone."""
        self.rounds.append(np.repeat(np.eye(THREADS, dtype=bool)[None], BLOCKS, axis=0))
        self._told.append(np.zeros((BLOCKS, THREADS), bool))

    def join(self, row: int, threads: np.ndarray, ahead: np.ndarray | None = None) -> None:
        """These threads learn all that one of them knows; those ``ahead`` learn nothing, as they do not wait."""
        waiting = threads if ahead is None else np.setdiff1d(threads, ahead)
        for after in self.rounds:
            after[row, waiting] = after[row, threads].any(axis=0)
            if ahead is not None:  # the lanes of a warp arrive together
                for warp in np.unique(ahead // WARP):
                    lanes = ahead[ahead // WARP == warp]
                    after[row, lanes] = after[row, lanes].any(axis=0)

    def tell(self, row: int, one: int, other: int) -> None:
        """A thread makes a fence and sets a flag, at which the other one waits."""
        tellers, readers = (np.arange(n, n + 1) for n in (one, other))
        if self._of_warps:
            tellers, readers = (n // WARP * WARP + np.arange(WARP) for n in (one, other))
        for after, told in zip(self.rounds, self._told, strict=True):
            told[row] |= after[row, tellers].any(axis=0)
            told[row, tellers] = True
            after[row, readers] |= told[row]


class Models(tuple[Model, Model]):
    """A model of threads and one of warps. ``flagged``: threads that have waited at a flag since the last
    accesses, or have met one that has."""

    flagged: np.ndarray

    def __new__(cls) -> Models:
        """No access yet."""
        return super().__new__(cls, (Model(), Model(of_warps=True)))

    def begin_round(self) -> None:
        """Accesses follow."""
        self.flagged = np.zeros((BLOCKS, THREADS), bool)
        for model in self:
            model.begin_round()

    def unordered(self, number: int, row: np.ndarray, later: np.ndarray, earlier: np.ndarray) -> list[np.ndarray]:
        """Whether threads do not come after what earlier ones did in a round, by each model."""
        return [~model.rounds[number][row, later, earlier] for model in self]


def _mask(row: int, threads: np.ndarray) -> np.ndarray:
    mask = np.zeros((BLOCKS, THREADS), bool)
    mask[row, threads] = True
    return mask


def _event(random: np.random.Generator, shadow: Shadow, models: Models) -> None:
    row, warp = int(random.integers(BLOCKS)), int(random.integers(THREADS // WARP))
    lanes = warp * WARP + np.arange(WARP)
    match random.integers(7):
        case 0:
            shadow.barrier(lanes_of(_mask(row, np.arange(THREADS))), np.ones((BLOCKS, THREADS), bool))
            _join(models, row, np.arange(THREADS))
        case 1 | 2:  # a barrier of all warps but one
            threads = np.flatnonzero(np.arange(THREADS) // WARP != warp)
            shadow.barrier(lanes_of(_mask(row, threads)), np.ones((BLOCKS, THREADS), bool))
            _join(models, row, threads)
        case 6:  # a warp arrives and goes on, the others wait
            ahead, threads = lanes_of(_mask(row, lanes)), np.arange(THREADS)
            shadow.arrive_ahead(1, ahead)
            shadow.barrier(lanes_of(_mask(row, threads)), np.ones((BLOCKS, THREADS), bool), ahead, 1)
            _join(models, row, threads, lanes)
        case 3:
            shadow.warp_sync(lanes_of(_mask(row, lanes)), np.uint32(0xFFFFFFFF))
            _join(models, row, lanes)
        case 4:
            chosen = lanes[random.random(WARP) < 0.5]
            if len(chosen):
                members = np.uint32(sum(1 << int(lane % WARP) for lane in chosen))
                shadow.warp_sync(lanes_of(_mask(row, chosen)), members)
                _join(models, row, chosen)
        case _:
            flag, (one, other) = np.array([[WORDS]]), random.integers(0, THREADS, 2)
            shadow.fence(np.array([row]), np.array([one]))
            shadow.release(np.array([row]), flag, np.array([one]))
            shadow.acquire(np.array([row]), flag, np.array([other]))
            models.flagged[row, other] = True
            for model in models:
                model.tell(row, int(one), int(other))


def _join(models: Models, row: int, threads: np.ndarray, ahead: np.ndarray | None = None) -> None:
    waiting = threads if ahead is None else np.setdiff1d(threads, ahead)
    models.flagged[row, waiting] |= models.flagged[row, threads].any()
    for model in models:
        model.join(row, threads, ahead)


def _access(shadow: Shadow, kind: np.ndarray, row: np.ndarray, thread: np.ndarray, first: int) -> None:
    methods: dict[int, Callable[..., object]] = {READ: shadow.read, WRITE: shadow.write, STRONG: shadow.write_strong}
    for of_kind, record in methods.items():
        at = np.flatnonzero(kind == of_kind)
        shadow.begin_access(first + of_kind)
        record(row[at], at[:, None], thread[at])


def _found(shadow: Shadow, kind: np.ndarray, row: np.ndarray, thread: np.ndarray) -> np.ndarray:
    """(2, words): whether the next access clashes with a write, and with a read."""
    found = np.zeros((2, WORDS), bool)
    for of_kind in (READ, WRITE, STRONG):
        at = np.flatnonzero(kind == of_kind)
        words = at[:, None]
        found[0, at] = shadow.written_by_another(row[at], words, thread[at], of_kind == STRONG)
        if of_kind != READ:
            found[1, at] = shadow.read_by_another(row[at], words, thread[at])
    return found


def _threads(random: np.random.Generator) -> np.ndarray:
    """A thread for each word, often one of few."""
    any_thread, few = random.integers(0, THREADS, WORDS), random.choice([0, 1, 33, 70], WORDS)
    return np.where(random.random(WORDS) < 0.5, any_thread, few)


def _clash(earlier: np.ndarray, now: np.ndarray) -> np.ndarray:
    """(2, words): whether accesses of these kinds by two threads clash, an earlier write and an earlier read."""
    both_strong = (earlier == STRONG) & (now == STRONG)
    return np.stack([(earlier != READ) & ~both_strong, (earlier == READ) & (now != READ)])


@pytest.mark.parametrize("seed", range(40))
def test_two_accesses_clash_where_nothing_orders_them(seed: int) -> None:
    random, models = np.random.default_rng(seed), Models()
    shadow = Shadow(4 * (WORDS + 1), BLOCKS, THREADS, 4)
    shadow.tell_apart()
    shadow.expect_meetings()
    row, one, other = random.integers(0, BLOCKS, WORDS), _threads(random), _threads(random)
    earlier, now = random.integers(0, 3, (2, WORDS))
    models.begin_round()
    _access(shadow, earlier, row, one, FIRST)
    for _ in range(random.integers(0, 4)):
        _event(random, shadow, models)
    of_threads, of_warps = (_clash(earlier, now) & apart for apart in models.unordered(0, row, other, one))
    clash = _found(shadow, now, row, other)
    assert not (clash & ~of_threads).any()
    assert not (of_warps & ~clash).any()
    for wrote, word in zip(*np.nonzero(clash), strict=True):
        known = shadow.earlier(not wrote, int(row[word]), np.array([word]), int(other[word]))
        assert known == (one[word], FIRST + earlier[word])
    for word in np.flatnonzero(clash[0]):
        by = shadow.last_writer(row, np.arange(WORDS)[:, None], np.arange(WORDS) == word)
        assert by == (ATOMIC if earlier[word] == STRONG else one[word])
    for word in np.flatnonzero(clash[1]):
        assert shadow.last_reader(row, np.arange(WORDS)[:, None], np.arange(WORDS) == word) == one[word]


@pytest.mark.parametrize("seed", range(40))
def test_of_two_reads_or_atomics_none_is_forgotten(seed: int) -> None:
    """Two threads read a word, or write it by atomics, then a third one writes it."""
    random, models = np.random.default_rng(1000 + seed), Models()
    shadow = Shadow(4 * (WORDS + 1), BLOCKS, THREADS, 4)
    shadow.tell_apart()
    shadow.expect_meetings()
    row, threads = random.integers(0, BLOCKS, WORDS), [_threads(random) for _ in range(3)]
    kind = np.where(random.random(WORDS) < 0.5, READ, STRONG)
    for number in range(2):
        apart = models.unordered(0, row, threads[1], threads[0])[0] if number else None
        models.begin_round()
        _access(shadow, kind, row, threads[number], (FIRST, SECOND)[number])
        for _ in range(random.integers(0, 3)):
            _event(random, shadow, models)
    now = np.full(WORDS, WRITE)
    apart_from = [models.unordered(number, row, threads[2], threads[number]) for number in range(2)]
    of_threads, of_warps = (_clash(kind, now) & (one | other) for one, other in zip(*apart_from, strict=True))
    found = _found(shadow, now, row, threads[2])
    # One stamp with the later time stands for two threads that nothing orders: the first may have been in order before,
    # and a flag that tells of that time counts for both.
    assert not (of_warps & ~found & ~(apart & models.flagged[row, threads[2]])).any()
    assert not (found & ~of_threads & ~apart).any()


@pytest.mark.parametrize("seed", range(4))
def test_which_writes_have_only_an_exchange_behind_them(seed: int) -> None:
    """Another lane of the warp wrote the word, and then the warp's lanes exchanged values."""
    random = np.random.default_rng(2000 + seed)
    shadow = Shadow(4 * (WORDS + 1), BLOCKS, THREADS, 4)
    shadow.tell_apart()
    row, thread = random.integers(0, BLOCKS, WORDS), _threads(random)
    unwritten = random.random(WORDS) < 0.2
    rounds = random.integers(0, 2, WORDS)
    exchanged = np.zeros((2, BLOCKS, THREADS // WARP), bool)
    for number in range(2):
        at = np.flatnonzero((rounds == number) & ~unwritten)
        shadow.begin_access(number)
        shadow.write(row[at], at[:, None], thread[at])
        mask = np.repeat(random.random((BLOCKS, THREADS // WARP)) < 0.5, WARP, axis=1)
        shadow.lanes_exchange(lanes_of(mask), np.uint32(0xFFFFFFFF))
        exchanged[: number + 1] |= mask[:, ::WARP]
    found: set[bool] = set()
    for _ in range(5):
        reader, words = _threads(random), np.stack((np.arange(WORDS), random.integers(0, WORDS, WORDS)), axis=1)
        wanted = [
            any(
                row[word] == row[lane] and not unwritten[word] and thread[word] != reader[lane]
                and thread[word] // WARP == reader[lane] // WARP
                and exchanged[rounds[word], row[word], reader[lane] // WARP]
                for word in words[lane]
            )
            for lane in range(WORDS)
        ]  # fmt: skip
        assert shadow.only_exchanged(row, words, reader).tolist() == wanted
        found.update(wanted)
    assert found == {True, False}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("synchronises", ["warp", "half", "not"])
def test_a_plain_store_then_atomics(synchronises: str, compiled: bool) -> None:
    """Thread 9 stores to a word, the warp synchronises or not, and threads 9 and 3 access the word by atomics."""
    if compiled and not available():
        pytest.skip("llvmlite is not installed")
    shadow = Shadow(4 * (WORDS + 1), 1, THREADS, 4)
    row, word = np.array([0]), np.array([[5]])
    mask = np.zeros((1, THREADS), bool)
    mask[0, 9] = True
    shadow.begin_access(1)
    shadow.write(row, word, np.array([9]))
    if synchronises == "warp":
        shadow.warp_sync(lanes_of(np.arange(THREADS)[None] < WARP), np.uint32(0xFFFFFFFF))
    elif synchronises == "half":
        shadow.warp_sync(lanes_of(np.arange(THREADS)[None] < 16), np.uint32(0xFFFF))
    shadow.begin_access(2)
    done = compiled and NativeShadow(shadow).record(
        lanes_of(mask), np.uint64(20), np.array([0]), READS | STORES | BY_ATOMIC
    )
    if not compiled or done == UNKNOWN:
        shadow.write_strong(row, word, np.array([9]))
    assert shadow.written_by_another(row, word, np.array([3]), True)[0] == (synchronises == "not")
    assert shadow.written_by_another(row, word, np.array([40]), False)[0]


@pytest.mark.parametrize("seed", range(20))
def test_threads_that_exchange_a_word_learn_of_those_before_them(seed: int) -> None:
    """Beside a model that lets them come one after the other: each learns the last fence told at its own word."""
    random, shadow = np.random.default_rng(seed), Shadow(WORDS * 4, BLOCKS, THREADS, 4)
    shadow.tell_apart()
    fenced, acquired = np.zeros((2, BLOCKS, THREADS), np.int64)
    released = np.zeros((BLOCKS, WORDS), np.int64)
    for _ in range(8):
        threads = random.permutation(BLOCKS * THREADS)[: random.integers(1, 40)]
        row, thread = np.divmod(threads, THREADS)
        shadow.fence(row, thread)
        fenced[row, thread] = shadow.time
        threads = random.permutation(BLOCKS * THREADS)[: random.integers(1, 60)]
        (row, thread), word = np.divmod(threads, THREADS), random.integers(0, 5, len(threads))
        shadow.exchange(row, word[:, None], row, thread)
        for block, one, at in zip(row.tolist(), thread.tolist(), word.tolist(), strict=True):
            acquired[block, one] = max(acquired[block, one], released[block, at])
            released[block, at] = max(released[block, at], fenced[block, one])
        assert shadow._order is not None
        np.testing.assert_array_equal(shadow._order.acquired, acquired)
        np.testing.assert_array_equal(shadow._order.released[:, :WORDS], released)


@pytest.mark.parametrize("when", ["before", "with", "after"])
@pytest.mark.parametrize("teller", ["itself", "another lane"])
def test_what_a_lane_did_after_its_warp_met_is_told_by_itself_alone(when: str, teller: str) -> None:
    """A lane writes a word before its warp synchronises, or after; then a lane of the warp tells a thread of another.

    ``with``: the warp synchronises before and after the write.
    """
    shadow = Shadow(4 * (WORDS + 1), BLOCKS, THREADS, 4)
    shadow.tell_apart()
    row, word, flag = np.array([1]), np.array([[7]]), np.array([[WORDS]])
    whole = lanes_of(_mask(1, np.arange(WARP)))
    if when != "before":
        shadow.warp_sync(whole, np.uint32(0xFFFFFFFF))
    shadow.begin_access(FIRST)
    shadow.write(row, word, np.array([5]))
    if when != "after":
        shadow.warp_sync(whole, np.uint32(0xFFFFFFFF))
    who = np.array([5 if teller == "itself" else 9])
    shadow.fence(row, who)
    shadow.release(row, flag, who)
    reader = np.array([40])
    assert shadow.written_by_another(row, word, reader, False).tolist() == [True]
    shadow.acquire(row, flag, reader)
    found = shadow.written_by_another(row, word, reader, False).tolist()
    assert found == [when == "after" and teller == "another lane"]
