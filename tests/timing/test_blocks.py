"""When the blocks of one SM start."""

from __future__ import annotations

from dataclasses import replace

import pytest

from softlab.timing.blocks import BlockClock
from softlab.timing.memory import Memory
from softlab.timing.program import TimedProgram
from softlab.timing.sharing import Sharing
from softlab.timing.sm import simulate
from softlab.timing.work import BlockWork, WarpWork
from tests.timing.hand_made import BARE, END, row

FIGURES = replace(BARE, block_intervals=((1.0, 1.0),), block_turnarounds=((1.0, 300.0),), second_wave=240.0)


def test_the_first_wave_starts_one_block_per_interval():
    assert BlockClock(FIGURES, 3, 100).first(5) == [100, 200, 300]
    assert BlockClock(FIGURES, 3, 100).first(2) == [100, 200]


@pytest.mark.parametrize(("resident", "later"), [(1, (300, 300, 300, 300)), (2, (540, 540, 300, 300))])
def test_the_second_wave_of_an_sm_with_several_blocks_comes_later(resident, later):
    assert BlockClock(FIGURES, resident, 1).turnarounds(resident + 4)[resident:] == list(later)


@pytest.mark.parametrize(("resident", "later"), [(1, (300, 300, 300)), (2, (540, 540, 300))])
def test_a_block_starts_when_another_one_has_left_its_place(resident, later):
    ends = finished([1000] * (resident + 3), resident, active=100)
    taken = zip(ends[:3], ends[resident:], strict=True)
    assert [following - end for end, following in taken] == [1000 + wait for wait in later]


def test_places_that_come_free_together_are_taken_one_after_the_other():
    first, second, *others = finished([500, 400, 1, 1], 2, active=100)
    assert first == second
    assert [end - first for end in others] == [541, 641]


def finished(lengths: list[int], resident: int, active: int) -> list[float]:
    """When blocks end that are one warp each, and issue this number of instructions, one per cycle."""
    program = TimedProgram((), (row(), END), {}, (1, 2))
    blocks = [BlockWork.of(n, [WarpWork([0] * (length - 1) + [1], [])]) for n, length in enumerate(lengths)]
    memory, clock = Memory(FIGURES, Sharing.none(), active, 1.0, 0), BlockClock(FIGURES, resident, active)
    return simulate(program, blocks, FIGURES, memory, clock).finished
