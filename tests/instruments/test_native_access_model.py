"""The loop for accesses where only times change, beside a model that keeps times, warps and lanes apart."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import pytest

from softlab.instruments.global_shadow import LANE_MASK, TIME_SHIFT
from softlab.instruments.native_global import is_own
from softlab.instruments.native_shadow import code_of, is_unordered, record_again
from softlab.instruments.shadow import ATOMIC, CODE_BITS, MANY_LANES, MANY_WARPS, WHO_MASK
from tests.sampled import turns

ROWS, WORDS, WARPS = 3, 7, 3
THREADS, NOW = 32 * WARPS, 60


@dataclass
class Stamp:
    """An access of one word: when, whether by an atomic, and by whom: "lane", "lanes" of a warp, or "warps"."""

    time: int
    atomic: bool
    by: str
    thread: int

    def packed(self) -> int:
        who = {"lane": code_of(self.thread), "lanes": self.thread // 32 << 6 | MANY_LANES, "warps": MANY_WARPS}[self.by]
        return self.time << CODE_BITS | (ATOMIC if self.atomic else 0) | who


@dataclass
class State:
    """What is known of the words and threads of some blocks, (rows, ...)."""

    stamps: list[list[Stamp]]
    others: list[list[int]]
    barrier: list[int]
    synced: np.ndarray
    acquired: np.ndarray
    held: np.ndarray

    def tables(self) -> list[np.ndarray]:
        stamps = np.array([[one.packed() for one in row] for row in self.stamps], np.int64).reshape(-1)
        others = np.array([[time << CODE_BITS for time in row] for row in self.others], np.int64).reshape(-1)
        return [stamps, others, np.array(self.barrier, np.int64)]


def _state(random: np.random.Generator) -> tuple[State, bool]:
    """A state, and the kind of most stamps: of atomics, or of reads."""
    atomic = bool(random.random() < 0.5)

    def stamp() -> Stamp:
        by = str(random.choice(["lanes", "warps", "lane"], p=[0.6, 0.37, 0.03]))
        kind = atomic if random.random() < 0.98 else not atomic
        return Stamp(
            int(random.integers(14, 50) if random.random() < 0.97 else 5), kind, by, int(random.integers(0, THREADS))
        )

    return State(
        [[stamp() for _ in range(WORDS)] for _ in range(ROWS)],
        [
            [int(random.choice([3, 3, 3, 3, 3, 3, 0, 45], p=[0.16] * 6 + [0.02, 0.02])) for _ in range(WORDS)]
            for _ in range(ROWS)
        ],
        [int(random.integers(8, 13)) for _ in range(ROWS)],
        random.integers(0, 40, (ROWS, WARPS)) * (random.random((ROWS, WARPS)) < 0.5),
        random.integers(0, 60, (ROWS, THREADS)) * (random.random((ROWS, THREADS)) < 0.2),
        (random.random((ROWS, WORDS)) < 0.03).astype(np.uint8),
    ), atomic


def _may(state: State, row: int, word: int, thread: int, atomic: bool, has_order: bool, has_held: bool) -> bool:
    """Whether one lane's access changes nothing but the time of its word's stamp."""
    one, other = state.stamps[row][word], state.others[row][word]
    recent = one.time >= state.barrier[row] and other < state.barrier[row]
    alike = one.by != "lane" and one.atomic == atomic
    written = atomic or other > 0
    free = not (has_held and state.held[row, word])
    unordered = not (has_order and one.time < state.acquired[row, thread])
    mine = one.by == "warps" or (one.thread // 32 == thread // 32 and one.time >= state.synced[row, thread // 32])
    return recent and alike and written and free and unordered and mine


@pytest.mark.parametrize(("has_held", "has_order"), turns(2, [False, True], [False, True]))
def test_an_access_that_changes_times_alone(has_order: bool, has_held: bool) -> None:
    answers = {0: 0, 1: 0}
    for seed in range(400):
        random = np.random.default_rng(seed)
        state, atomic = _state(random)
        row, warp = int(random.integers(0, ROWS)), int(random.integers(0, WARPS))
        lanes = int(random.integers(1, 4))
        mine = [
            w for w in range(WORDS) if state.stamps[row][w].by == "warps" or state.stamps[row][w].thread // 32 == warp
        ]
        words = random.choice(mine if mine and random.random() < 0.9 else WORDS, lanes)
        threads = warp * 32 + random.choice(32, lanes, replace=False)
        offset = int(random.integers(0, words.min() + 1))
        stamps, others, barrier = state.tables()
        known, cells = np.full(2 * stamps.size, -1, np.int16), stamps.size
        answer = record_again(
            stamps, others, known, barrier, state.synced.reshape(-1), state.acquired.reshape(-1),
            state.held.reshape(-1), WORDS, WARPS, cells, 2, has_order, has_held, np.full(lanes, row), threads, lanes,
            4 * (words - offset) + random.integers(0, 4, lanes), offset, NOW, atomic,
        )  # fmt: skip
        expected = all(
            _may(state, row, int(word), int(thread), atomic, has_order, has_held)
            for word, thread in zip(words, threads, strict=True)
        )
        assert answer == expected, seed
        answers[answer] += 1
        after, last = copy.deepcopy(state), np.full((2, ROWS, WORDS), -1)
        for word, thread in zip(words, threads, strict=True):
            if expected:
                after.stamps[row][word].time = NOW
                last[1, row, word] = thread
        np.testing.assert_array_equal(stamps, after.tables()[0])
        np.testing.assert_array_equal(known, last.reshape(-1))
    assert min(answers.values()) >= 50, answers


def test_who_comes_after_a_stamp() -> None:
    """By itself, by its warp's barrier, or by what it acquired, its warp has heard, and the other lane told."""
    random, found = np.random.default_rng(5), {0: 0, 1: 0}
    for _ in range(1500):
        synced, tells = random.integers(0, 9, (ROWS, WARPS)), random.integers(0, 9, (ROWS, THREADS))
        heard = random.integers(0, 9, (ROWS, WARPS, WARPS))
        acquired, row, thread = (
            int(random.integers(0, 9)),
            int(random.integers(0, ROWS)),
            int(random.integers(0, THREADS)),
        )
        near = int(random.integers(0, 32)) + thread // 32 * 32
        by = str(random.choice(["lane", "lanes", "warps"]))
        its_thread = (thread, near, int(random.integers(0, THREADS)))[int(random.integers(0, 3))]
        one = Stamp(int(random.integers(0, 9)), bool(random.integers(0, 2)), by, its_thread)
        warp, other = thread // 32, one.thread // 32
        same = one.by != "warps" and warp == other
        itself = one.by == "lane" and one.thread == thread
        listens = one.time < acquired and (one.by == "warps" or one.time < heard[row, warp, other])
        told = same or one.by != "lane" or one.time < max(tells[row, one.thread], synced[row, other])
        ordered = itself or (same and one.time < synced[row, warp]) or (listens and told)
        answer = is_unordered(
            one.packed(), code_of(thread), synced.reshape(-1), acquired, heard.reshape(-1), tells.reshape(-1),
            row * WARPS, WARPS,
        )  # fmt: skip
        assert bool(answer) == (not ordered), one
        found[int(not ordered)] += 1
    assert min(found.values()) >= 300
    assert code_of(70) == 2 << 6 | 6
    assert code_of(70) & WHO_MASK == code_of(70)


def test_whether_a_cell_of_global_memory_is_a_lanes_own() -> None:
    """Nobody has accessed it, or this lane has, in this batch."""
    begin = 9
    for time in (0, 5, 8, 9, 12):
        for lane in (0, 1, 31, 32, 70, LANE_MASK):
            for mine in (0, 1, 31, 32, 70, LANE_MASK):
                stamp = time << TIME_SHIFT | lane
                expected = (time == 0 and lane == 0) or (time >= begin and lane == mine)
                assert bool(is_own(stamp, begin << TIME_SHIFT, mine)) == expected, (time, lane, mine)
