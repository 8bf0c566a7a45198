"""The stages of an unrolled loop, against warps that go through them lane by lane."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

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
    counter, expected = TripCounter(LOOP, STAGES), Counter[Stage]()
    for _ in range(5):
        trips = random.integers(0, most + 1, (2, 64))
        trips[0, :32] = random.integers(0, 2) * most  # a warp whose lanes are alike, or that is not there
        trips[1, 32:] = trips[1, :32]  # two warps that do the same
        masks: dict[bytes, SimpleNamespace] = {}
        for turn in range(most):
            mask = trips > turn
            if mask.any():
                counter.iteration(masks.setdefault(mask.tobytes(), SimpleNamespace(mask=mask, blocks=2)))
        counter.settle()
        for warp in trips.reshape(-1, 32).tolist():
            expected.update(went(warp))
    assert counter.answers == {stage: expected[stage] for stage in STAGES}


def test_a_loop_that_nobody_ran_has_no_answers() -> None:
    counter = TripCounter(LOOP, STAGES)
    counter.settle()
    assert set(counter.answers.values()) == {0}


def test_more_sets_of_lanes_than_are_kept_count_all() -> None:
    """Each turn has lanes of its own: 200 sets of one execution."""
    trips = np.arange(200, 200 + 32)[None]
    counter = TripCounter(LOOP, STAGES)
    kept = [SimpleNamespace(mask=trips > turn, blocks=1) for turn in range(trips.max())]
    for lanes in kept:
        counter.iteration(lanes)
    counter.settle()
    assert counter.answers == {stage: went(trips[0].tolist())[stage] for stage in STAGES}
