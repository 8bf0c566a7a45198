"""The compiled order of events beside the one in NumPy: random events, and after each which lanes are in order."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import WARP, lanes_of
from softlab.emulator.machine.native import available
from softlab.instruments import happens_before, native_order
from softlab.instruments import node_layout as layout
from softlab.instruments.happens_before import HappensBefore, OwnWords
from softlab.instruments.native_order import (
    KeyedAccess,
    NativeOrder,
    cluster_keys,
    mbarrier_keys,
    run_starts,
    shared_keys,
)
from softlab.instruments.strong_access import StrongAccess
from tests.sampled import each, sampled, turns

BLOCKS, WARPS, EVENTS = 6, 3, 60
THREADS = WARPS * WARP
EVERY = np.arange(BLOCKS * THREADS)
SCOPES = ("cta", "gpu")

pytestmark = pytest.mark.skipif(not available(), reason="needs llvmlite")


@pytest.mark.parametrize("count", [1, 9, 16, 17, 31, WARP])
def test_lanes_that_do_not_arrive_tell_nothing(count: int) -> None:
    """Of two warps some lanes arrive at the mbarrier of their block, for which the third warp waits."""
    order = HappensBefore(BLOCKS, THREADS, {}, of_reads=False)
    words, others = (tuple(mbarrier_keys(np.zeros(1, int), np.full(1, 8), of).tolist()) for of in (0, 1))
    warps = np.array([[0, 1]])
    arrive = (warps[:, :, None] * WARP + np.arange(count)).reshape(1, -1)
    order.publish_own(OwnWords(words, others, (0,), warps, arrive, WARPS), 5)
    wait = np.arange(2 * WARP, 3 * WARP)
    order.read_own(OwnWords(words, others, (0,), np.array([[2]]), wait[None], WARPS))
    other = np.arange(2 * WARP)
    found = order.ordered(np.full(2 * WARP, 3), other, np.full(2 * WARP, 2 * WARP), reads=False)
    np.testing.assert_array_equal(found, other % WARP < count)


class Both:
    """The two orders of a batch, told the same."""

    def __init__(self, earlier: dict, native: dict | NativeOrder, of_reads: bool, words_grow: bool = False) -> None:
        self.words_grow = words_grow
        self.plain = HappensBefore(BLOCKS, THREADS, dict(earlier), of_reads=of_reads)
        self.native = NativeOrder(BLOCKS, THREADS, native, of_reads=of_reads, words_grow=words_grow)
        self.orders: tuple[Any, Any] = self.plain, self.native

    def begin_again(self, published: dict, of_reads: bool, same: bool) -> None:
        """The next batch, with the ``same`` compiled order or with another one."""
        self.plain = HappensBefore(BLOCKS, THREADS, dict(published), of_reads=of_reads)
        assert not self.native.begins_again(BLOCKS + 1, THREADS)
        if not same or not self.native.begins_again(BLOCKS, THREADS):
            grow = self.words_grow
            self.native = NativeOrder(BLOCKS, THREADS, self.native, of_reads=of_reads, words_grow=grow)
        self.orders = self.plain, self.native

    def event(self, random: np.random.Generator, now: int) -> None:
        """An event of any kind."""
        kind = random.choice(["access", "publish", "barrier", "warp_sync", "cluster", "fence"], p=KINDS)
        if kind == "fence":
            lane, scope = some_lanes(random), str(random.choice(SCOPES))
            for order in self.orders:
                order.fence(lane, now, scope)
        else:
            getattr(self, kind)(random, now)

    def compare(self, random: np.random.Generator, now: int) -> None:
        mine, other = random.integers(0, len(EVERY), (2, 400))
        other = np.where(random.random(400) < 0.1, -1, other)
        time = random.integers(0, now, 400)
        reads = bool(random.random() < 0.5)
        found = [order.ordered(time, other, mine, reads=reads) for order in self.orders]
        np.testing.assert_array_equal(found[0], found[1])
        assert self.plain.has_far == self.native.has_far
        assert self.plain.needs_words == self.native.needs_words

    def access(self, random: np.random.Generator, now: int) -> None:
        lane = some_lanes(random)
        kind, scope = random.choice(["read", "write", "exchange"]), str(random.choice(SCOPES))
        many, mixed = random.random() < 0.5, random.random() < 0.2
        keys = lane // int(random.choice([8, 99]))
        if many:  # also words in rows of 32, of their own warps and of others
            keys = (lane + int(random.choice([96, 128, 100]))) % len(EVERY)
        elif mixed:
            keys = random.integers(0, 3, len(lane))
        of_shared = random.random() < 0.2
        keys = shared_keys(lane // THREADS, keys % 3) if of_shared else keys
        if self.words_grow and kind == "write" and not of_shared:
            kind = "exchange"
        for order, access in zip(self.orders, accesses(keys, lane, of_shared), strict=True):
            if kind == "read":
                order.read(access)
            else:
                getattr(order, kind)(access, scope, now)

    def publish(self, random: np.random.Generator, now: int) -> None:
        rows = np.flatnonzero(random.random(BLOCKS) < 0.7) if random.random() < 0.5 else np.arange(BLOCKS)
        warps = np.flatnonzero(random.random(WARPS) < 0.6)
        if not len(rows) or not len(warps):
            return
        parity, offset = random.integers(0, 2, 2).tolist()
        if random.random() < 0.5:
            words, others = (tuple(mbarrier_keys(rows, offset, of).tolist()) for of in (parity, 1 - parity))
            of_warps = rows[:, None] * WARPS + warps
            some = np.arange(int(random.choice([1, 5, 9, 17, WARP])))
            lanes = (of_warps[:, :, None] * WARP + some).reshape(len(rows), -1)
            own = OwnWords(words, others, tuple(rows.tolist()), of_warps, lanes, WARPS)
            for order in self.orders:
                if random.bit_generator.state["state"]["state"] % 2:
                    order.read_own(own)
                else:
                    order.publish_own(own, now)
            return
        lane = some_lanes(random)
        keys = mbarrier_keys(lane // THREADS, offset, parity)
        before = mbarrier_keys(lane // THREADS, offset, 1 - parity)
        (plain, keyed), (earlier, _) = accesses(keys, lane, True), accesses(before, lane, True)
        self.plain.publish(plain, now, earlier.words)
        self.native.publish(keyed, now, before)

    def barrier(self, random: np.random.Generator, now: int) -> None:
        mask = np.repeat(random.random((BLOCKS, WARPS)) < random.choice([0.5, 1]), WARP, axis=1)
        if not mask.any():
            return
        live = mask | (random.random((BLOCKS, 1)) < 0.5)
        for order in self.orders:
            order.barrier(lanes_of(mask), live, now)

    def warp_sync(self, random: np.random.Generator, now: int) -> None:
        mask = np.zeros(len(EVERY), bool)
        mask[some_lanes(random)] = True
        lanes = lanes_of(mask.reshape(BLOCKS, THREADS))
        for order in self.orders:
            if now % 2:
                order.lanes_exchange(lanes, now)
            else:
                order.warp_sync(lanes, np.uint32(0xFFFFFFFF if now % 4 else 0xFFFF), now)

    def cluster(self, random: np.random.Generator, now: int) -> None:
        row, released = int(random.integers(0, 2)) * 2, bool(random.random() < 0.5)
        passing = np.arange(row * THREADS, (row + 2) * THREADS)
        for order in self.orders:
            order.complete_cluster(row, 2, now, released)
            order.pass_cluster(passing, 2)


def accesses(keys: np.ndarray, lane: np.ndarray, as_runs: bool) -> tuple[StrongAccess, KeyedAccess]:
    first = run_starts(keys, lane) if as_runs else slice(None)
    return StrongAccess(keys[first].tolist(), lane[first], lane), KeyedAccess(keys, lane, as_runs)


def some_lanes(random: np.random.Generator) -> np.ndarray:
    warps = random.random(BLOCKS * WARPS) < random.choice([0.2, 0.6, 1])
    lanes = random.random(WARP) < random.choice([0.05, 0.5, 1])
    found = EVERY[(warps[:, None] & lanes).reshape(-1)]
    return found if len(found) else EVERY[:1]


#: Of the settings of the order, and of the kinds of rows, each value once or twice.
ONE_OF_EACH = {(False, True, 0, False), (True, False, 64, False), (True, True, 0, True)}


@pytest.mark.parametrize(
    ("per_block", "of_reads", "widest_rows", "words_grow"),
    sampled(
        [(*one, *two) for one in product((False, True), repeat=2) for two in ((0, False), (64, False), (0, True))],
        lambda per_block, of_reads, widest_rows, words_grow: (
            (per_block, of_reads, widest_rows, words_grow) in ONE_OF_EACH
        ),
    ),
)
def test_events_order_lanes_as_in_numpy(
    per_block: bool, of_reads: bool, widest_rows: int, words_grow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`.ci/run` takes a quarter of the cases: each setting is among them. `make test` takes all."""
    monkeypatch.setattr(native_order, "_WIDEST_ROWS", widest_rows)
    monkeypatch.setattr(happens_before, "_MOST_COLUMNS", 0 if per_block else 100)
    answers = 0
    for seed in range(8):
        random = np.random.default_rng(seed)
        both, now = Both({7: 3, 101: 2}, {7: 3, 101: 2}, of_reads, words_grow), 5
        for batch in range(2):
            for _ in range(EVENTS):
                now += 1
                both.event(random, now)
                if random.random() < 0.05:
                    both.native.make_room()
                both.compare(random, now)
                answers += 1
            published = both.plain.published()
            assert both.native.published() == published
            if batch == 0:
                both.begin_again(published, of_reads, random.random() < 0.5)
    assert answers == 8 * 2 * EVENTS


@pytest.mark.parametrize("first", [32, 64, 96, 160, 100])
def test_rows_of_words_are_published_word_by_word(first: int) -> None:
    """A warp writes 32 words in a row. Also a batch that goes on from there, and words that begin within a row."""
    lane = EVERY[WARP : 3 * WARP]
    both = Both({7: 3}, {7: 3}, False)
    for batch in range(2):
        for order, access in zip(
            both.orders, accesses(lane - WARP + first + batch * 2 * WARP, lane, False), strict=True
        ):
            order.fence(lane, 6 + batch, "gpu")
            order.exchange(access, "gpu", 8 + batch)
        published = both.plain.published()
        assert len(published) == 1 + 2 * WARP * (batch + 1)
        assert both.native.published() == published
        before = both.native
        both.begin_again(published, False, first % 3 > 0)
        assert (both.native is before) == (first % 3 > 0)
        assert both.native.published() == published


def lanes_of_warps(warps: list[int]) -> np.ndarray:
    return (np.array(warps)[:, None] * WARP + np.arange(WARP)).reshape(-1)


@pytest.mark.parametrize(("before", "widest_rows"), turns(2, [0, 5], [0, 64]))
def test_words_of_a_row_that_blocks_told_tell_the_same_by_themselves(
    before: int, widest_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Warps of four blocks tell rows of 32 words, in their blocks and to all. Then single words of them are accessed.

    ``before``: words that are there before the rows, so that the numbers of words and rows differ.
    """
    monkeypatch.setattr(native_order, "_WIDEST_ROWS", widest_rows)
    for seed in range(12):
        random, both, now = np.random.default_rng(seed), Both({3: 2}, {3: 2}, False), 5

        def access(kind: str, keys: np.ndarray, lane: np.ndarray, both: Both, now: int, scope: str) -> None:
            for order, one in zip(both.orders, accesses(keys, lane, False), strict=True):
                getattr(order, kind)(one, *() if kind == "read" else (scope, now))

        for order in both.orders:
            order.fence(EVERY, now, "gpu")
        for number in range(before):
            access("exchange", np.full(WARP, 1000 + number), lanes_of_warps([number]), both, now + 1, "gpu")
        rows = (64, 128, 256)
        for step in range(10):
            now += 3
            warp = int(random.integers(BLOCKS * WARPS))
            lane, scope = lanes_of_warps([warp]), str(random.choice(SCOPES))
            for order in both.orders:
                order.fence(lane, now, scope)
            access(str(random.choice(["exchange", "write"], p=[0.8, 0.2])), random.choice(rows) + np.arange(WARP), lane,
                   both, now + 1, scope)  # fmt: skip
            if step > 5:
                both.compare(random, now)
        for _ in range(12):
            now += 3
            warps = random.permutation(BLOCKS * WARPS)[:4].tolist()
            word = int(random.choice(rows)) + int(random.choice([0, 1, 30, 31]))
            kind, scope = str(random.choice(["read", "exchange"])), str(random.choice(SCOPES))
            access(kind, np.full(len(warps), word), np.array(warps) * WARP + 7, both, now + 1, scope)
            both.compare(random, now + 2)
            if random.random() < 0.2:
                both.native.make_room()
        assert both.native.published() == both.plain.published()


def test_room_that_is_left() -> None:
    """Of words and nodes there is room for what one more lane needs, and half of the room for nodes is free."""
    for used in [*range(300), *(2**k + d for k in range(8, 20) for d in (-130, -129, -128, -127, -65, -64, -1, 0, 1))]:
        room = native_order._room_of_words(used)
        assert room & room - 1 == 0
        assert max(1024, used + 2 * layout.SPARE_WORDS + 1) <= room <= max(1024, 2 * (used + 2 * layout.SPARE_WORDS))
        for before in (64, 100, 4096):
            found = native_order._room(before, used)
            assert found % before == 0
            least = 2 * (used + 2 * layout.SPARE)
            assert found >= least
            assert found == before or found < 2 * least


def nodes_held(order: NativeOrder) -> int:
    """How many nodes the warps, their parts and the words have, with the parents of those without a row."""
    s, size = order._s, BLOCKS * WARPS

    def some(segment: int, count: int = size) -> list[int]:
        return s[s[segment] : s[segment] + count].tolist()

    held = {0, *some(layout.KNOWN), *some(layout.FENCED), *some(layout.FENCED_IN_BLOCK)}
    held |= {node for node, lanes in zip(some(layout.PART_NODE), some(layout.PART_LANES), strict=True)
             if lanes != layout.ALL_LANES}  # fmt: skip
    words = np.array(some(layout.WORDS, int(s[layout.WORD_COUNT]) * layout.WORD)).reshape(-1, layout.WORD)
    held |= {*words[:, layout.TELLS].tolist(), *words[:, layout.TELLS_BLOCK].tolist()}
    pending, found = [*held], set()
    while pending:
        node = pending.pop()
        if node in found:
            continue
        found.add(node)
        first = int(s[layout.NODES]) + node * layout.NODE
        item = s[first : first + layout.NODE]
        if item[layout.DENSE] < 0:
            pending += [int(item[of]) for of in (layout.PARENT, layout.OTHER) if item[of] >= 0]
    return len(found)


@pytest.mark.parametrize("widest_rows", each(2, [0, 64]))
def test_nodes_that_nobody_has_are_left_out(widest_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_order, "_WIDEST_ROWS", widest_rows)
    fewer = 0
    for seed in range(10):
        random, now = np.random.default_rng(seed), 5
        both = Both({7: 3, 101: 2}, {7: 3, 101: 2}, False)
        for step in range(60):
            now += 1
            both.event(random, now)
            if step % 9 == 8:
                before, held = int(both.native._s[layout.NODE_COUNT]), nodes_held(both.native)
                both.native.make_room()
                both.native._make_room()
                assert both.native._s[layout.NODE_COUNT] == held
                fewer += held < before
                both.compare(random, now)
    assert fewer > 20


KINDS = [0.5, 0.1, 0.1, 0.08, 0.02, 0.2]


def test_each_word_has_a_key_of_its_own() -> None:
    """Those of global memory are addresses, from 0 on; the others are below 0, whatever they are words of."""
    owner, offset = (one.reshape(-1) for one in np.meshgrid([0, 1, 19, 20, 21, 4095], [0, 4, 8, 1000, (1 << 18) - 4]))
    found = [shared_keys(owner, offset), *(mbarrier_keys(owner, offset, parity) for parity in (0, 1))]
    found.append(cluster_keys(np.arange(4096)))
    keys = np.concatenate(found)
    assert (keys < 0).all()
    assert len(np.unique(keys)) == len(keys)
    assert mbarrier_keys(owner, offset, np.arange(len(owner)) % 2).tolist() == [
        int(found[1 + number % 2][number]) for number in range(len(owner))
    ]


class Fenced(Both):
    """The order of all accesses and that of reads with later writes, where a fence comes before each strong store."""

    def __init__(self) -> None:
        super().__init__({7: 3}, {7: 3}, of_reads=False)
        self.orders = self.plain, HappensBefore(BLOCKS, THREADS, {7: 3}, of_reads=True)
        #: When lanes stored to words: nobody reads at these times.
        self.stores: list[int] = []

    def access(self, random: np.random.Generator, now: int) -> None:
        lane, kind, scope = some_lanes(random), str(random.choice(["read", "write", "exchange"])), random.choice(SCOPES)
        wide, keys = str(random.choice([scope, "gpu"])), lane // int(random.choice([1, 8, 99]))
        for order in self.orders:
            if kind == "read":
                order.read(StrongAccess(keys.tolist(), lane))
            else:
                order.fence(lane, now, wide)
                getattr(order, kind)(StrongAccess(keys.tolist(), lane), str(scope), now + 1)
        self.stores += [now] if kind != "read" else []

    def publish(self, random: np.random.Generator, now: int) -> None:
        lane, parity = some_lanes(random), int(random.integers(0, 2))
        keys, before = (mbarrier_keys(lane // THREADS, np.full(1, 8), of) for of in (parity, 1 - parity))
        for order in self.orders:
            order.publish(accesses(keys, lane, True)[0], now, accesses(before, lane, True)[0].words)

    def compare(self, random: np.random.Generator, now: int) -> None:
        mine, other = random.integers(0, len(EVERY), (2, 400))
        other = np.where(random.random(400) < 0.1, -1, other)
        time = np.setdiff1d(np.arange(now), self.stores)[random.integers(0, now - len(self.stores), 400)]
        found = [order.ordered(time, other, mine, reads=True) for order in self.orders]
        np.testing.assert_array_equal(found[0], found[1])


def test_reads_need_no_order_of_their_own_where_fences_come_before_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for this: with fewer fences a time is longer among the latest, of which more is known."""
    monkeypatch.setattr(layout, "LATEST_TOLD", 4 * EVENTS)
    for seed in range(8):
        random = np.random.default_rng(seed)
        both, now = Fenced(), 5
        for _ in range(EVENTS):
            now += 2
            both.event(random, now)
            both.compare(random, now)
