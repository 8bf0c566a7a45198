"""When the blocks of one SM start."""

from __future__ import annotations

from dataclasses import replace

import pytest

from softlab.timing.blocks import BlockClock
from tests.timing.hand_made import BARE

FIGURES = replace(BARE, block_intervals=((1.0, 1.0),), block_turnarounds=((1.0, 300.0),), second_wave=240.0)


def test_the_first_wave_starts_one_block_per_interval():
    assert BlockClock(FIGURES, 3, 100).first(5) == [100, 200, 300]
    assert BlockClock(FIGURES, 3, 100).first(2) == [100, 200]


@pytest.mark.parametrize(("resident", "later"), [(1, (300, 300, 300, 300)), (2, (540, 540, 300, 300))])
def test_the_second_wave_of_an_sm_with_several_blocks_comes_later(resident, later):
    clock = BlockClock(FIGURES, resident, 1)
    clock.first(8)
    starts = [clock.following(1000.0 * turn) - 1000.0 * turn for turn in range(1, 5)]
    assert starts == list(later)


def test_places_that_come_free_together_are_taken_one_after_the_other():
    clock = BlockClock(FIGURES, 2, 100)
    clock.first(4)
    assert [clock.following(5000.0), clock.following(5000.0)] == [5540, 5640]
