"""Atomics on global memory: what of their places is chance, and sums of floats."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from softlab.timing.atomics import AtomicUnits, evened
from softlab.timing.sharing import Region, Sharing
from tests.timing.hand_made import BARE

#: An array of 62 pairs of lines, and figures with ten units for it.
ARRAY = Region(0, 62 * 8 - 1, 100.0, 100.0, 62 * 8.0)
FIGURES = replace(BARE, atomic_spread=((7.0, 1.0), (10.0, 10.0)))


def drawn(hot: int = 0) -> np.ndarray:
    """1500 sectors of the array at random, and ``hot`` times the 100th."""
    return np.append(np.random.default_rng(3).integers(0, 62 * 8, 1500), np.full(hot, 100))


def test_lines_that_lanes_want_at_random_count_as_the_mean_one():
    passes = drawn()
    factors = evened(passes, Sharing((ARRAY,), 0.0, 0.0))
    lines, counts = np.unique(passes >> 3, return_counts=True)
    assert counts.max() > 1.3 * counts.mean()
    weighted = [factors[line] * count for line, count in zip(lines.tolist(), counts.tolist(), strict=True)]
    assert weighted == pytest.approx([counts.mean()] * len(lines))


def test_a_line_that_is_wanted_more_than_by_chance_counts_as_it_does():
    factors = evened(drawn(100), Sharing((ARRAY,), 0.0, 0.0))
    assert factors[100 >> 3] == 1.0
    assert [line for line, factor in factors.items() if factor == 1.0] == [100 >> 3]


def test_an_array_with_one_line_is_as_it_is():
    assert evened(np.zeros(50, np.int64), Sharing((ARRAY,), 0.0, 0.0)) == {}


def test_all_sms_together_want_an_evened_line_as_often_as_the_mean_one():
    units = AtomicUnits(FIGURES, {~0: 0.5})  # a small array: lines
    whole = AtomicUnits(FIGURES)
    array = Region(0, 7, 1.0, 0.0, 8.0)
    assert units.take(0.0, 0.0, 0, 10.0, 20.0, 1, array) == pytest.approx(100.0)
    assert whole.take(0.0, 0.0, 0, 10.0, 20.0, 1, array) == pytest.approx(200.0)


def test_lines_of_a_small_array_are_not_pairs_of_lines_of_a_large_one():
    """Line 32 is free, though pair 32 is at work for long."""
    units, large, small = AtomicUnits(FIGURES), replace(ARRAY, first=0, last=8191), Region(128, 131, 1.0, 0.0, 4.0)
    units.take(0.0, 0.0, 32 << 3, 1.0, 1000.0, 1, large)
    assert units.take(0.0, 0.0, 128, 1.0, 1.0, 1, small) < 10


def test_the_unit_does_others_while_a_sum_of_floats_is_not_there():
    def time(chain: float) -> float:
        units, end = AtomicUnits(FIGURES), 0.0
        for k in range(100):
            end = max(
                units.take(0.0, 0.0, 0, 10.0, 1.0, 1, ARRAY, chain),
                units.take(0.0, 0.0, 8 + 8 * (k % 60), 10.0, 1.0, 1, ARRAY),
            )
        return end

    assert time(30.0) == pytest.approx(100 * 30.0)
    assert time(0.0) < 100 * 30.0
    assert time(0.0) > 100 * 10.0  # the unit's part of the others comes on top


def test_different_sectors_of_a_line_do_not_wait_for_each_others_sums():
    def time(sectors: int) -> float:
        units = AtomicUnits(FIGURES)
        return max(units.take(0.0, 0.0, k % sectors, 1.0, 1.0, 1, ARRAY, 30.0) for k in range(120))

    assert time(1) == pytest.approx(120 * 30.0)
    assert time(4) == pytest.approx(30 * 30.0)
