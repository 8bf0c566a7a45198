"""The slowest warp of all SMs, where DRAM answers early or late by chance."""

from __future__ import annotations

from dataclasses import replace

import pytest

from softlab.timing.dram import AGAIN, ROW, Dram
from softlab.timing.memory import Memory
from softlab.timing.sharing import Region, Sharing
from softlab.timing.slowest import Slowest
from tests.timing.hand_made import BARE, access, load

#: Sectors of a row of DRAM.
OF_ROW = 1 << ROW


def later(waits: int, *, warps: int = 1, sms: float = 100.0, row=lambda k: k, apart: float = 700.0) -> float:
    """Where each warp waits for DRAM as often, 700 cycles each, for these rows."""
    found = Slowest(100.0)
    for warp in range(warps):
        for k in range(waits):
            found.wait(warp, apart * k, apart * k + 700.0, row(k))
    return found.later(sms)


def test_a_wait_that_every_warp_has_is_in_the_time_of_the_first_load():
    assert later(1) == 0.0
    assert Slowest(100.0).later(100.0) == 0.0


def test_waits_one_after_the_other_add_up_by_the_root():
    # The middle of the largest of 100 normal values is 2.5 standard deviations.
    assert later(4) == pytest.approx(100 * 2.5, rel=0.02)
    assert later(9) == pytest.approx(2 * later(4))


def test_loads_that_are_on_their_way_together_are_one_wait():
    assert later(4, apart=10.0) == 0.0


def test_waits_for_one_row_are_late_together():
    assert later(4, row=lambda k: 0) > later(4, row=lambda k: k % 2) > 0.0
    variance = sum(1 + 2 * AGAIN**2 * k for k in range(4))
    assert later(4, row=lambda k: 0) == pytest.approx((variance**0.5 - 1) * later(4))


def test_the_slowest_warp_of_the_simulated_sm_is_known():
    assert later(4, sms=1.0) == 0.0
    assert 0 < later(4, warps=32) < later(4)


def test_a_row_is_late_anew_each_time_but_what_is_wanted_together_comes_together():
    p = replace(BARE, dram_spread=(0.0, 100.0))
    late = [Dram(p, 132).fetch(0.0, OF_ROW * k, 1.0, 8.0) for k in range(64)]
    assert len({round(one) for one in late}) > 16
    one = Dram(p, 132)
    together = [one.fetch(0.0, 2 * k, 1.0, 8.0) for k in range(4)]
    assert max(together) - min(together) < 20  # the queue alone
    apart = [one.fetch(2000.0 * k, 8, 1.0, 8.0) - 2000.0 * k for k in range(1, 9)]
    assert max(apart) - min(apart) > 50


@pytest.mark.parametrize(("share", "own"), [(1.0, True), (50.0, False)])
def test_only_what_no_other_sm_loads_is_late_by_itself(share: float, own: bool):
    array = Region(0, 1 << 20, share, 0.0, 1 << 20)
    memory = Memory(replace(BARE, dram_spread=(0.0, 100.0)), Sharing((array,), 0.0, 0.0), 132, 0.0, 0, cold=True)
    for k in range(8):
        access(memory, 3000.0 * k, load(0, range(100 * k, 100 * k + 4)))
    assert (memory.slowest.later(132.0) > 0) is own
