"""How many SMs share L2 with the busiest one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from softlab.timing.company import Company, company
from softlab.timing.memory import Memory
from softlab.timing.sharing import Sharing
from softlab.timing.work import BlockWork, WarpWork
from tests.timing.hand_made import BARE, access, load, shared, store


def blocks(count: int) -> list[BlockWork]:
    """Blocks of two warps with ten stores each; one request in eleven is of shared memory."""
    warp = WarpWork([0], [*(store(k, range(4)) for k in range(10)), shared(10, 1)])
    return [BlockWork.of(number, (warp, warp)) for number in range(count)]


def test_blocks_that_go_evenly_into_the_sms_have_all_of_them_for_company():
    assert company(132, 264, 2, 132.0, blocks(2)) == Company(132.0)


def test_sms_with_a_block_more_are_alone_with_it():
    # 155 blocks: 109 SMs have one block and end after half of the requests of the 23 that have two.
    for count, others in ((155, 23.0), (140, 8.0)):
        found = company(132, count, 2, count / 2, blocks(2))
        assert (found.all, found.requests, found.rest) == (132.0, 20, others)


def test_loads_go_by_the_root_of_how_much_more_an_sm_has_to_do():
    found = company(132, 198, 2, 99.0, blocks(2))
    # 66 SMs with two blocks get 1.41 times what the 66 others get, who end after 0.71 of its requests.
    assert (found.loading, found.loads) == (pytest.approx((132 * 99) ** 0.5), 28)
    assert company(132, 264, 2, 132.0, blocks(2)).loading == 0.0


def test_of_many_waves_the_last_block_alone_has_less_company():
    found = company(132, 8 * 132 + 10, 9, (8 * 132 + 10) / 9, blocks(4))
    assert (found.all, found.requests, found.rest) == (132.0, 60, 10.0)


def test_blocks_that_have_less_to_do_ask_for_less():
    assert company(100, 100, 1, 40.0, blocks(1)) == Company(40.0)
    uneven = company(100, 150, 2, 0.8 * 75, blocks(2))
    assert (uneven.all, uneven.requests, uneven.rest) == (pytest.approx(80.0), 20, pytest.approx(40.0))


def test_l2_serves_all_in_turn_and_then_those_that_are_left_as_fast_as_an_sm_stores():
    figures = replace(BARE, l2_write_bytes=1320.0, l2_sm_write_bytes=32.0, l2_passing_bytes=1320.0)
    memory = Memory(figures, Sharing.none(), 132, 1.0, 0, company=Company(132.0, 50, 10.0))
    for k in range(100):
        access(memory, 0.0, store(0, range(4 * k, 4 * k + 4)))
    # 128 bytes each: 10 bytes per cycle for each of 132, then 32 for each of 10.
    assert memory.l2_write_busy == pytest.approx(50 * 12.8 + 50 * 4, rel=0.02)


def test_loads_share_l2_by_what_they_ask_for_until_l1_has_no_place_for_more():
    p = replace(BARE, l2_bytes=1320.0, l2_sm_bytes=1280.0, l2_latency=100.0, l1_capacity=64 * 128)

    def time(apart: float) -> float:
        memory = Memory(p, Sharing.none(), 132, 1.0, 0, company=Company(132.0, 0, 1.0, 66.0))
        for k in range(100):
            access(memory, apart * k, load(0, range(4 * k, 4 * k + 4)))
        return memory.l2_busy

    assert time(20.0) == pytest.approx(100 * 6.4)  # 66 like this one
    assert time(1.0) > 1.2 * time(20.0)  # behind the first lines in turn, with all 132
