"""What threads of a cluster learn from each other, and what copies may not see, beside a model of single threads."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.lanes import WARP, Box, lanes_of
from softlab.instruments.blocks_heard import BlocksHeard
from softlab.instruments.cluster_shadow import ClusterShadow
from softlab.instruments.remote_accesses import Accessors
from tests.sampled import each

SIZE, BLOCKS, THREADS, WORDS, LANES = 3, 6, 96, 7, 5
WARPS = THREADS // WARP
EVERY = np.uint32(0xFFFFFFFF)


class Model:
    """What each thread has learnt from others, the words where it is told, and the last accesses to words."""

    def __init__(self) -> None:
        self.fenced = np.zeros((BLOCKS, THREADS), np.int64)
        self.proxy_fenced = np.zeros((BLOCKS, THREADS), np.int64)
        #: From others alone.
        self.until = np.zeros((BLOCKS, THREADS), np.int64)
        self.told: dict[tuple[int, int], int] = {}
        self.tellers: dict[tuple[int, int], set[tuple[int, int]]] = {}
        self.blocks = BlocksHeard(BLOCKS, WARPS, SIZE)
        #: (row, word) -> (thread, time, whether it is an atomic).
        self.written: dict[tuple[int, int], tuple[int, int, bool]] = {}

    def release(self, at: tuple[int, int], who: tuple[int, int], time: int) -> None:
        """A thread tells a word what it did until a time."""
        self.told[at] = max(self.told.get(at, 0), time)
        self.tellers.setdefault(at, set()).add(who)
        self.blocks.release(*(np.array([n]) for n in (*at, *who, time)))

    def acquire(self, at: tuple[int, int], who: tuple[int, int]) -> None:
        """A thread learns what others have told; a word that it alone has told says nothing to it."""
        if self.tellers.get(at, set()) - {who}:
            self.until[who] = max(self.until[who], self.told[at])
        self.blocks.acquire(*(np.array([n]) for n in (*at, *who)))

    def join(self, row: int, threads: np.ndarray, waiting: np.ndarray) -> None:
        """Those that wait learn what one of the threads has learnt."""
        self.until[row, waiting] = self.until[row, threads].max()


def _mask(row: int, warps: np.ndarray) -> np.ndarray:
    mask = np.zeros((BLOCKS, THREADS), bool)
    mask[row] = warps.repeat(WARP)
    return mask


def _event(random: np.random.Generator, shadow: ClusterShadow, model: Model) -> None:
    """One of the events by which threads learn of others."""
    row, owner = random.integers(0, BLOCKS, (2, LANES))
    word, thread = random.integers(0, WORDS, LANES), random.choice([0, 1, 33, 40], LANES)
    lanes = list(zip(zip(owner.tolist(), word.tolist(), strict=True), zip(row.tolist(), thread.tolist(), strict=True),
                     strict=True))  # fmt: skip
    one, warps = int(row[0]), random.random(WARPS) < 0.6
    match random.integers(0, 9):
        case 0 | 1:
            shadow.fence(row, thread)
            model.fenced[row, thread] = shadow.time
        case 2 | 3:
            shadow.release_to(owner, word[:, None], row, thread)
            for at, who in lanes:
                if model.fenced[who]:
                    model.release(at, who, int(model.fenced[who]))
        case 4 | 5:
            shadow.acquire_from(owner, word[:, None], row, thread)
            for at, who in lanes:
                model.acquire(at, who)
        case 6 if warps.any():
            ahead = warps & (random.random(WARPS) < 0.3)
            if ahead.any() and not ahead.all():
                shadow.arrive_ahead(1, lanes_of(_mask(one, ahead)))
                shadow.barrier(lanes_of(_mask(one, warps)), None, lanes_of(_mask(one, ahead)), 1)
            else:
                ahead[:] = False
                shadow.barrier(lanes_of(_mask(one, warps)), np.ones((BLOCKS, THREADS), bool))
            waiting = warps & ~ahead
            if waiting.any():
                model.join(one, warps.repeat(WARP), waiting.repeat(WARP))
            model.blocks.meet(one, warps, waiting)
        case 7 if warps.any():
            (shadow.warp_sync if random.random() < 0.5 else shadow.lanes_exchange)(lanes_of(_mask(one, warps)), EVERY)
            for warp in np.flatnonzero(warps):
                lanes_of_warp = np.arange(THREADS) // WARP == warp
                model.join(one, lanes_of_warp, lanes_of_warp)
        case 8:
            rows = np.arange(BLOCKS) // SIZE == one // SIZE
            released = random.random() < 0.5
            shadow.cluster_complete(rows, np.full(BLOCKS, released), SIZE)
            mask = rows[:, None] & np.ones(THREADS, bool)
            shadow.cluster_wait(mask, np.ones_like(mask))
            until = shadow.time if released else int(model.fenced[rows].max())
            model.until[mask] = np.maximum(model.until[mask], until)
            model.blocks.hear_all(mask, np.full(BLOCKS, until))
        case _:
            lane = row * THREADS + thread
            shadow.tell_by_copies(int(owner[0]), word[:1], lane)
            for who in zip(row.tolist(), thread.tolist(), strict=True):
                model.release((int(owner[0]), int(word[0])), who, shadow.time)


@pytest.mark.parametrize("seed", each(4, range(16)))
def test_what_copies_may_not_touch(seed: int) -> None:
    """Threads of another block wrote or read the words, and the thread that issues a copy has not heard of it."""
    random, model = np.random.default_rng(seed), Model()
    shadow = ClusterShadow(4 * WORDS, BLOCKS, THREADS, 4)
    shadow.expect_cluster(SIZE)
    shadow.tell_apart()
    shadow.expect_meetings()
    shadow.fence(np.array([0]), np.array([0]))
    shadow.release_to(np.array([0]), np.array([[WORDS]]), np.array([0]), np.array([0]))
    model.fenced[0, 0] = shadow.time
    stamps: dict[bool, dict[tuple[int, int], tuple[int, bool]]] = {True: {}, False: {}}
    found, knowing = set[bool](), set[bool]()
    for number in range(120):
        _event(random, shadow, model)
        shadow.begin_access(number)
        at, who = (int(random.integers(BLOCKS)), int(random.integers(WORDS))), int(random.choice([0, 1, 33, 40]))
        row, word, thread = np.array([at[0]]), np.array([[at[1]]]), np.array([who])
        match random.integers(0, 4):
            case 0:
                shadow.write(row, word, thread)
                stamps[True][at], model.written[at] = (shadow.time, False), (who, shadow.time, False)
            case 1:
                shadow.read(row, word, thread)
                stamps[False][at] = shadow.time, False
            case 2:
                shadow.fence_proxy(row, thread)
                model.proxy_fenced[at[0], who] = shadow.time
            case _:
                if model.written.get(at, (-1, 0, False))[0] != who:  # its own plain write stays a plain one
                    shadow.write_strong(row, word, thread)
                    stamps[True][at] = shadow.time, True
                    model.written[at] = -1, shadow.time, True
        owner, rows = random.integers(0, BLOCKS, (2, LANES))
        words, threads = random.integers(0, WORDS, (LANES, 2)), random.choice([0, 1, 33, 40], LANES)
        asked = Accessors(rows, threads, rows % SIZE)
        known = model.blocks.of(rows, threads, owner)
        for wrote, strong in ((True, False), (True, True), (False, False)):
            used = shadow.used_in_another_block(owner, words, asked, wrote=wrote, strong=strong)
            wanted = [
                any(of[0] >= until and not (strong and of[1]) for w in two if (of := stamps[wrote].get((o, w))))
                for o, two, until in zip(owner.tolist(), words.tolist(), known.tolist(), strict=True)
            ]
            assert used.tolist() == wanted
            found.update(wanted)
        hidden = shadow.hidden_from_copies(owner, words, rows, threads)
        assert hidden.tolist() == [
            any(not by[2] and max(model.proxy_fenced[o, by[0]], model.proxy_fenced[r, t]) <= by[1]
                for w in two if (by := model.written.get((o, w))))
            for o, two, r, t in zip(owner.tolist(), words.tolist(), rows.tolist(), threads.tolist(), strict=True)
        ]  # fmt: skip
        its_threads, times = random.choice([0, 1, 33, 40], LANES), random.integers(0, shadow.time + 1, LANES)
        met, acquired = shadow.met, shadow.acquired(rows, threads).tolist()
        assert met is not None
        wanted = [
            (r == o and (t // WARP == u // WARP or time < max(shadow._barrier[r], met[r, t // WARP, u // WARP])))
            or time < until
            for r, t, o, u, time, until in zip(*(a.tolist() for a in (rows, threads, owner, its_threads, times)),
                                               acquired, strict=True)
        ]  # fmt: skip
        assert shadow.knows(rows, threads, owner, its_threads, times).tolist() == wanted
        knowing.update(wanted)
        assert shadow._heard is not None
        np.testing.assert_array_equal(shadow._heard.until, model.until)
    assert found == knowing == {True, False}


def test_without_a_cluster_no_other_block_uses_words() -> None:
    shadow = ClusterShadow(4 * WORDS, BLOCKS, THREADS, 4)
    shadow.begin_access(0)
    shadow.write(np.zeros(1, np.int64), np.zeros((1, 1), np.int64), np.zeros(1, np.int64))
    rows = np.arange(BLOCKS)
    asked = Accessors(rows, rows, rows % SIZE)
    used = shadow.used_in_another_block(rows, np.zeros((BLOCKS, 1), np.int64), asked, wrote=True)
    assert used.tolist() == [False] * BLOCKS


@pytest.mark.parametrize("threads", [[5], [33], [5, 6], [0]])
def test_who_arrives_alone_learns_nothing_of_itself(threads: list[int]) -> None:
    """One thread of each block arrives at its mbarrier and waits there; or two do, who learn of each other."""
    blocks, count = 3, 64
    shadow = ClusterShadow(256, blocks, count, 4)
    shadow.tell_apart()

    def box(columns: list[int]) -> Box:
        mask = np.zeros((blocks, count), bool)
        mask[:, columns] = True
        lanes = lanes_of(mask)
        assert isinstance(lanes, Box)
        return lanes

    words, phase = np.array([8, 9]), np.zeros((blocks, 1), np.int64)
    shadow.mbarriers_begin(np.arange(blocks), np.full(blocks, words[0]))
    shadow.release_own(box(threads), words, phase)
    now = shadow.time
    assert shadow._heard is not None
    shadow.acquire_own(box(threads), words, phase)
    until = shadow._heard.until[:, threads]
    assert (until == (0 if len(threads) == 1 else now)).all()
    shadow.acquire_own(box([40, 41]), words, phase)
    assert (shadow._heard.until[:, [40, 41]] == now).all()
    assert (shadow._heard.until[:, [1, 20]] == 0).all()
