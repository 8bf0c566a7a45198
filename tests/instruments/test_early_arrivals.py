"""Accesses behind an early arrival at a barrier, and how long they count."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.lanes import WARP, lanes_of
from softlab.instruments.early_arrivals import EarlyArrivals
from softlab.instruments.shadow import CODE_BITS, MANY_WARPS

BLOCKS, THREADS = 2, 96


def mask(*warps: int, rows: tuple[int, ...] = (0, 1)) -> np.ndarray:
    made = np.zeros((BLOCKS, THREADS), bool)
    made[np.ix_(rows, np.flatnonzero(np.isin(np.arange(THREADS) // WARP, warps)))] = True
    return made


def clashes(early: EarlyArrivals, row: int, thread: int, stamp: int) -> bool:
    stamps = np.zeros((BLOCKS, 4), np.int64)
    stamps[row, 2] = stamp
    at = np.array([row]), np.array([[0, 2]]), np.array([thread])
    return bool(early.clashes(stamps, *at)[0])


@pytest.mark.parametrize("rows", [(0,), (1,), (0, 1)])
def test_who_waited_has_not_seen_what_came_behind_an_early_arrival(rows: tuple[int, ...]) -> None:
    """Warp 0 arrives at time 5 and goes on; warps 1 and 2 wait until time 9. A later barrier orders it all."""
    early, one, two = EarlyArrivals(), 3, 32
    assert not early
    early.arrive(1, lanes_of(mask(0)), 5)
    assert not early, "nobody has waited yet"
    early.barrier(lanes_of(mask(0, 1, 2, rows=rows)))
    early.complete(1, lanes_of(mask(0, 1, 2)), lanes_of(mask(0)), 9)
    assert early

    def stamp(time: int, who: int) -> int:
        return time << CODE_BITS | (MANY_WARPS if who < 0 else who // WARP << 6 | who % WARP)

    def expect(row: int, over: bool) -> None:
        for time in (4, 5, 6, 8, 9, 10):
            assert clashes(early, row, two, stamp(time, one)) == (5 < time < 9 and not over), (row, time)
            assert not clashes(early, row, one, stamp(time, one)), "it has not waited"
            assert not clashes(early, row, two, stamp(time, 64)), "no early arrival"
            assert not clashes(early, row, two, stamp(time, -1)), "nobody knows who"

    for row in range(BLOCKS):
        expect(row, over=False)
    early.barrier(lanes_of(mask(0, 1, 2, rows=rows)))
    if len(rows) == BLOCKS:
        assert not early
        return
    assert early
    for row in range(BLOCKS):
        expect(row, over=row in rows)
    early.barrier(lanes_of(mask(0, 1, 2)))
    assert not early


def test_of_a_warp_each_lane_arrives_by_itself() -> None:
    early, some = EarlyArrivals(), mask(1)
    some[:, 48:] = False
    early.arrive(1, lanes_of(some), 5)
    early.complete(1, lanes_of(mask(0)), lanes_of(some), 9)
    found = [clashes(early, 0, 3, 6 << CODE_BITS | 1 << 6 | lane) for lane in range(WARP)]
    assert found == [lane < 16 for lane in range(WARP)]
