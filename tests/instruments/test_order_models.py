"""The order of events beside clocks in plain Python: a dictionary per warp, and loops over warps.

Whole warps take part in each event, so that what a warp knows is one time for each other warp. Both orders must know
these times and no others: a moment earlier is in order, the time itself is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import WARP, lanes_of
from softlab.emulator.machine.native import available
from softlab.instruments import happens_before, native_order
from softlab.instruments import node_layout as layout
from softlab.instruments.happens_before import HappensBefore, OwnWords
from softlab.instruments.native_order import KeyedAccess, NativeOrder, mbarrier_keys, run_starts
from softlab.instruments.strong_access import StrongAccess
from tests.sampled import turns

BLOCKS, WARPS, EVENTS, BATCHES = 6, 3, 60, 2
THREADS, ALL = WARPS * WARP, BLOCKS * WARPS
BEFORE = -1
KINDS = ("fence", "write", "read", "exchange", "arrive", "wait", "barrier", "warp_sync", "exchange_lanes", "cluster")
Clock = dict[int, int]


def join(clock: Clock, *others: Clock) -> None:
    for other in others:
        for warp, time in other.items():
            clock[warp] = max(time, clock.get(warp, 0))


class Clocks:
    """What each warp knows, what it knew at its last fences (of any scope, of the GPU's), and what words tell."""

    def __init__(self, earlier: dict[int, int], of_reads: bool) -> None:
        self.known: list[Clock] = [{} for _ in range(ALL)]
        self.fenced: list[Clock] = [{} for _ in range(ALL)]
        self.fenced_in_block: list[Clock] = [{} for _ in range(ALL)]
        self.to_all: dict[Any, Clock] = {word: {BEFORE: time} for word, time in earlier.items()}
        self.to_block: dict[tuple[Any, int], Clock] = {}
        self.of_reads = of_reads

    def did(self, warp: int, now: int) -> Clock:
        return {**self.known[warp], warp: now}

    def fence(self, warps: Iterable[int], scope: str, now: int) -> None:
        for warp in warps:
            self.fenced_in_block[warp] = self.did(warp, now)
            if scope == "gpu":
                self.fenced[warp] = self.did(warp, now)

    def learn(self, word: Any, warp: int) -> None:
        join(self.known[warp], self.to_all.get(word, {}), self.to_block.get((word, warp // WARPS), {}))

    def tell(self, word: Any, warp: int, scope: str) -> None:
        if scope == "gpu":
            join(self.to_all.setdefault(word, {}), self.fenced[warp])
        join(self.to_block.setdefault((word, warp // WARPS), {}), self.fenced_in_block[warp])

    def access(self, kind: str, pairs: list[tuple[int, int]], scope: str, now: int) -> None:
        """(word, warp) of each access, in their order."""
        if self.of_reads and kind != "read":
            self.fence([warp for _, warp in pairs], scope, now)
        if kind == "write":
            for word, _ in pairs:
                self.to_all.pop(word, None)
        for word, warp in pairs:
            if kind != "write":
                self.learn(word, warp)
            if kind != "read":
                self.tell(word, warp, scope)

    def arrive(self, word: int, before: int, warps: Iterable[int], now: int) -> None:
        """All that warps did; and what the word before tells."""
        join(self.to_all.setdefault(word, {}), self.to_all.get(before, {}), *(self.did(warp, now) for warp in warps))

    def barrier(self, warps: list[int], now: int) -> None:
        """Warps of one block meet: each knows what all knew and did. Of fences the same, where all of it meet."""
        for warp in warps:
            self.known[warp][warp] = now
        for table in (self.known, self.fenced, self.fenced_in_block):
            together: Clock = {}
            join(together, *(table[warp] for warp in warps))
            for warp in warps:
                table[warp] = dict(together)

    def cluster(self, warps: list[int], released: bool, now: int) -> None:
        """All arrive and pass. Without a release only what came before their fences counts."""
        told: Clock = {}
        join(told, *(self.did(warp, now) if released else self.fenced[warp] for warp in warps))
        for warp in warps:
            join(self.known[warp], told)

    def published(self) -> dict[int, int]:
        return {word: max(clock.values()) for word, clock in self.to_all.items() if clock and word >= 0}


class Orders:
    """The order under test and the clocks, told the same."""

    def __init__(self, order: Any, earlier: dict[int, int], of_reads: bool) -> None:
        self.order, self.clocks = order, Clocks(earlier, of_reads)

    def access_of(self, keys: np.ndarray, lane: np.ndarray) -> Any:
        if isinstance(self.order, NativeOrder):
            return KeyedAccess(keys, lane, True)
        first = run_starts(keys, lane)
        return StrongAccess(keys[first].tolist(), lane[first], lane)

    def event(self, random: np.random.Generator, now: int) -> None:
        order, clocks, kind = self.order, self.clocks, str(random.choice(KINDS))
        scope = str(random.choice(["cta", "gpu", "gpu"]))
        warps = np.flatnonzero(random.random(ALL) < random.choice([0.15, 0.5, 1])).tolist() or [int(now % ALL)]
        lane = (np.array(warps)[:, None] * WARP + np.arange(WARP)).reshape(-1)
        mask = np.isin(np.arange(ALL), warps).repeat(WARP).reshape(BLOCKS, THREADS)
        if kind == "fence":
            order.fence(lane, now, scope)
            clocks.fence(warps, scope, now)
        elif kind in ("write", "read", "exchange"):
            words = random.integers(0, int(random.choice([1, 3, 9])), len(warps))
            access = self.access_of(words.repeat(WARP), lane)
            getattr(order, kind)(access, *() if kind == "read" else (scope, now))
            clocks.access(kind, list(zip(words.tolist(), warps, strict=True)), scope, now)
        elif kind in ("arrive", "wait"):
            self.mbarrier(random, kind, warps, lane, now)
        elif kind == "barrier":
            whole = random.random() < 0.5
            self.barrier(np.broadcast_to(mask.any(axis=1)[:, None], mask.shape) if whole else mask, now)
        elif kind == "warp_sync":
            order.warp_sync(lanes_of(mask), np.uint32(0xFFFFFFFF), now)
            for warp in warps:
                clocks.known[warp][warp] = now
        elif kind == "exchange_lanes":
            order.lanes_exchange(lanes_of(mask), now)
            for warp in warps:
                join(clocks.known[warp], {warp: clocks.fenced_in_block[warp].get(warp, 0)})
        else:
            first, released = 2 * int(random.integers(BLOCKS // 2)), bool(random.random() < 0.5)
            order.complete_cluster(first, 2, now, released)
            order.pass_cluster(np.arange(first * THREADS, (first + 2) * THREADS), 2)
            clocks.cluster(list(range(first * WARPS, (first + 2) * WARPS)), released, now)

    def mbarrier(self, random: np.random.Generator, kind: str, warps: list[int], lane: np.ndarray, now: int) -> None:
        """An mbarrier per block, or one of block 0 for all. Where all warps use their own: by ``OwnWords``."""
        parity, far = int(random.integers(2)), bool(random.random() < 0.3)
        rows = np.zeros_like(lane) if far else lane // THREADS
        words, before = (mbarrier_keys(rows, 8, of) for of in (parity, 1 - parity))
        pairs = dict.fromkeys(zip(words.tolist(), before.tolist(), (lane // WARP).tolist(), strict=True))
        native, order = isinstance(self.order, NativeOrder), self.order
        of_blocks = np.array(warps).reshape(-1, WARPS) if len(warps) == ALL else None
        if of_blocks is not None and not far:
            own = OwnWords(tuple(words[::THREADS].tolist()), tuple(before[::THREADS].tolist()), tuple(range(BLOCKS)),
                           of_blocks, lane.reshape(BLOCKS, -1), WARPS)  # fmt: skip
            order.read_own(own) if kind == "wait" else order.publish_own(own, now)
        elif kind == "wait":
            order.read(self.access_of(words, lane))
        else:
            taken = before if native else self.access_of(before, lane).words
            order.publish(self.access_of(words, lane), now, taken)
        for word, other, warp in pairs:
            if kind == "wait":
                join(self.clocks.known[warp], self.clocks.to_all.get(word, {}))
            else:
                self.clocks.arrive(word, other, [warp], now)

    def barrier(self, mask: np.ndarray, now: int) -> None:
        self.order.barrier(lanes_of(mask), np.ones_like(mask), now)
        for row in range(BLOCKS):
            warps = [row * WARPS + own for own in range(WARPS) if mask[row, own * WARP]]
            if warps:
                self.clocks.barrier(warps, now)

    def check(self, exact: bool = True) -> None:
        """Each warp knows of each other one, and of earlier batches, what is before the clock's time, and no more.

        Without ``exact`` it may know more: what is kept per block says for each warp what any of the block did.
        """
        mine = np.repeat(np.arange(ALL), ALL + 1)
        other = np.tile(np.arange(-1, ALL), ALL)
        until = np.array([self.clocks.known[m].get(o, 0) for m, o in zip(mine.tolist(), other.tolist(), strict=True)])
        lanes = np.where(other < 0, -1, other * WARP + 5), mine * WARP + 3
        before, at = (self.order.ordered(np.maximum(until - one, 0), *lanes) for one in (1, 0))
        if exact:
            np.testing.assert_array_equal(before, until > 0)
            assert not at.any()
        else:
            assert before[until > 0].all()


@pytest.mark.parametrize(
    ("kind", "per_block", "of_reads"), turns(2, ["NumPy", "compiled", "compiled, lazy"], [False, True], [False, True])
)
def test_warps_know_what_clocks_say(
    kind: str, per_block: bool, of_reads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind != "NumPy" and not available():
        pytest.skip("llvmlite is not installed")
    monkeypatch.setattr(native_order, "_WIDEST_ROWS", 0 if "lazy" in kind else 64)
    monkeypatch.setattr(happens_before, "_MOST_COLUMNS", 0 if per_block else 100)
    make = HappensBefore if kind == "NumPy" else NativeOrder
    for seed in range(6):
        random, now, earlier = np.random.default_rng(seed), 5, {1: 3, 7: 2}
        for _ in range(BATCHES):
            both = Orders(make(BLOCKS, THREADS, dict(earlier), of_reads=of_reads), earlier, of_reads)
            for _ in range(EVENTS):
                now += 1
                both.event(random, now)
                if random.random() < 0.1:
                    both.order.make_room()
                both.check(not per_block)
            found, earlier = both.order.published(), both.clocks.published()
            assert found == earlier if not per_block else found.keys() == earlier.keys()
            now += 1


@pytest.mark.parametrize(
    "numbers",
    [[3], [0], [2, 3], [2, 5], [1, 3, 5, 7], [1, 3, 5, 8], [0, 1, 2, 4], [0, 2, 3, 4], [5, 3, 1], [4, 4], [4, 4, 5],
     [2, 2, 4], [6, 2, 4], [0, 3, 7, 9], [9, 0], [0, 9]],
)  # fmt: skip
def test_rows_that_rise_by_equal_steps_are_a_slice(numbers: list[int]) -> None:
    """A slice takes the same rows as the numbers do; where no slice can, the numbers stay."""
    table, steps = np.arange(10) * 7, set(np.diff(numbers).tolist())
    found = happens_before._spaced(np.array(numbers))
    assert table[found].tolist() == table[numbers].tolist()
    assert isinstance(found, slice) == (len(numbers) == 1 or (len(steps) == 1 and min(steps) > 0))


@pytest.mark.parametrize(
    ("blocks", "warps", "per_block"),
    [
        (64, 32, False),
        (65, 32, True),
        (2048, 1, False),
        (2049, 1, True),
        (683, 3, True),
        (682, 3, False),
        (1, 32, False),
    ],
)
def test_what_is_kept_per_block_where_warps_are_many(blocks: int, warps: int, per_block: bool) -> None:
    """Up to 2048 columns of times there is one for each warp."""
    order = HappensBefore(blocks, warps * WARP, {})
    assert order.per_block == per_block
    assert order.columns == (blocks if per_block else blocks * warps)


@pytest.mark.skipif(not available(), reason="llvmlite is not installed")
@pytest.mark.parametrize("words", [[], [40], [63], [64], [31], [40, 41, 50], [-1], [-5, 40], [1 << 59]])
def test_words_that_earlier_batches_told_are_single_words(words: list[int]) -> None:
    """A warp reads the row of words from 32 on: it comes after what one of them tells, and nothing else."""
    order = NativeOrder(2, THREADS, {word: 5 + number for number, word in enumerate(words)})
    assert order._s[layout.LINES] == 0
    assert order._s[layout.SINGLES] == len(words)
    order.read(KeyedAccess(32 + np.arange(WARP), np.arange(WARP)))
    until = max([5 + number for number, word in enumerate(words) if 32 <= word < 64], default=0)
    for lane in (0, 31):
        times = np.arange(20)
        found = order.ordered(times, np.full(20, -1), np.full(20, lane))
        assert found.tolist() == [time < until for time in range(20)]
    assert order.published() == {word: 5 + number for number, word in enumerate(words) if word >= 0}


def test_lanes_of_a_word_come_one_after_the_other() -> None:
    """Of the lanes of a warp that access one word, each names itself and those after it."""
    random, together = np.random.default_rng(6), 0
    for _ in range(300):
        lane = np.flatnonzero(random.random(3 * WARP) < random.choice([0.02, 0.3, 1]))
        words = random.choice([1, 1, 3]) * random.integers(0, random.choice([1, 4]), len(lane)) + 7
        if random.random() < 0.3:
            lane = random.permutation(lane)
        expected: dict[int, np.ndarray] = {}
        for at, one in enumerate(lane.tolist()):
            after = [k for k in range(at, len(lane)) if words[k] == words[at] and lane[k] // WARP == one // WARP]
            alone = sum(words[k] == words[at] and lane[k] // WARP == one // WARP for k in range(len(lane))) == 1
            if not alone:
                masks = expected.setdefault(one // WARP, np.zeros(WARP, np.uint32))
                masks[one % WARP] |= np.bitwise_or.reduce([np.uint32(1 << lane[k] % WARP) for k in after])
        found: dict[int, np.ndarray] = {}
        for warp, masks in happens_before._later_lanes(words.tolist(), lane):
            found[warp] = found.get(warp, np.zeros(WARP, np.uint32)) | masks
        assert {warp: masks.tolist() for warp, masks in found.items()} == {
            warp: masks.tolist() for warp, masks in expected.items()
        }
        together += len(found)
    assert together > 200
