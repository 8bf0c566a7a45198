"""The stages of an unrolled loop, against warps that go through them lane by lane."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from softlab.instruments import trips
from softlab.instruments.trips import Loop, Stage, TripCounter

LOOP = Loop((0,), 1)
SIZES = (8, 4, 2, 1)
STAGES = [
    *(Stage(LOOP, question, SIZES[0]) for question in ("again", "leaves", "enters", "skips")),
    *(Stage(LOOP, question, size, before) for before, size in pairwise(SIZES)
      for question in ("enters", "skips")),
]  # fmt: skip


def went(trips: list[int]) -> Counter[Stage]:
    """What one warp does whose lanes run this often; a lane of 0 is not in the loop."""
    found: Counter[Stage] = Counter()
    left = {lane: times for lane, times in enumerate(trips) if times}
    for before, size in zip((0, *SIZES), SIZES, strict=False):
        runs = {lane for lane, times in left.items() if times >= size}
        found[Stage(LOOP, "enters", size, before)] = int(bool(runs))
        found[Stage(LOOP, "skips", size, before)] = int(len(runs) < len(left))
        turns = leaves = 0
        while runs:
            turns += 1
            for lane in runs:
                left[lane] -= size
            stay = {lane for lane in runs if left[lane] >= size}
            leaves += stay != runs
            runs = stay
        found[Stage(LOOP, "again", size, before)] = max(0, turns - 1)
        found[Stage(LOOP, "leaves", size, before)] = leaves
    return found


@pytest.mark.parametrize("most", [1, 7, 40])
def test_stages_are_those_of_lanes_that_go_through_them(most: int) -> None:
    random = np.random.default_rng(most)
    known: dict[tuple[Loop, bytes], tuple[int, ...]] = {}
    counter, expected = TripCounter(LOOP, STAGES, known), Counter[Stage]()
    others = TripCounter(Loop((7,), 8), STAGES[:1], known)
    for number in range(5):
        if number == 2:  # another run asks for the same and more
            before, counter = counter.answers, TripCounter(LOOP, STAGES, known)
            counter.answers.update(before)
        turns = random.integers(0, most + 1, (2, 64))
        turns[0, :32] = random.integers(0, 2) * most  # a warp whose lanes are alike, or that is not there
        turns[1, 32:] = turns[1, :32]  # two warps that do the same
        masks: dict[bytes, SimpleNamespace] = {}
        for turn in range(most):
            mask = turns > turn
            if mask.any():
                lanes = masks.setdefault(mask.tobytes(), SimpleNamespace(mask=mask, blocks=2))
                counter.iteration(lanes)
                others.iteration(lanes)
        others.settle()
        counter.settle()
        for warp in turns.reshape(-1, 32).tolist():
            expected.update(went(warp))
    assert counter.answers == {stage: expected[stage] for stage in STAGES}


def test_iterations_that_come_again_have_the_same_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few are kept, and none of many lanes."""
    monkeypatch.setattr(trips, "_MOST_KNOWN", 2)
    monkeypatch.setattr(trips, "_MOST_LANES", 64)
    known: dict[tuple[Loop, bytes], tuple[int, ...]] = {}
    for number in (3, 4, 3, 5, 6, 3):
        for blocks in (1, 2, 3):
            counter = TripCounter(LOOP, STAGES, known)
            for turn in range(number):
                mask = np.repeat(np.arange(32)[None] % 7 + number > turn + 3, blocks, axis=0)
                counter.iteration(SimpleNamespace(mask=mask, blocks=blocks))
            counter.settle()
            alone = went((np.arange(32) % 7 + number - 3).clip(0, number).tolist())
            assert counter.answers == {stage: blocks * alone[stage] for stage in STAGES}
            assert len(known) <= 2


def test_a_loop_that_nobody_ran_has_no_answers() -> None:
    counter = TripCounter(LOOP, STAGES)
    counter.settle()
    assert set(counter.answers.values()) == {0}


def test_more_sets_of_lanes_than_are_kept_count_all() -> None:
    """Each turn has lanes of its own: 200 sets of one execution."""
    turns = np.arange(200, 200 + 32)[None]
    counter = TripCounter(LOOP, STAGES)
    kept = [SimpleNamespace(mask=turns > turn, blocks=1) for turn in range(turns.max())]
    for lanes in kept:
        counter.iteration(lanes)
    counter.settle()
    assert counter.answers == {stage: went(turns[0].tolist())[stage] for stage in STAGES}
