"""Copies into and out of the shared memory of a cluster's blocks, and who must be done before they begin."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.instruments.blocks_heard import BlocksHeard
from tests.faults.outcome import outcome
from tests.faults.registry import good_cases, planted_cases
from tests.sampled import each

_PAIRS = {
    "multicast_into_a_stage_the_peer_still_reads": "multicast_into_a_stage_that_both_have_left",
    "tile_changed_on_its_way_to_the_peer": "tile_sent_to_the_peer_and_then_changed",
}


@pytest.mark.parametrize("name", each(2, _PAIRS))
def test_a_copy_to_a_peer_and_its_good_form(name: str) -> None:
    bad = outcome(next(case for case in planted_cases() if case.name == f"ninth/{name}"))
    good = outcome(next(case for case in good_cases() if case.name == f"ninth/{_PAIRS[name]}"))
    assert (bad.in_place, bad.raised) == (True, True), bad.findings
    assert good.findings == ()


def test_a_copy_to_a_block_that_may_not_have_begun() -> None:
    """A row goes to both blocks of a cluster; the blocks did not wait for each other before."""
    case = next(case for case in planted_cases() if case.name.endswith("a row for a block that may not have begun"))
    found = outcome(case).findings[0]
    assert found.message.startswith(
        "race: the thread's copy goes to another block, which may not have begun. Let the blocks of the cluster wait "
        "for each other at a barrier of the cluster first\n"
    )
    assert (found.kind, found.thread, found.block) == ("race", (0, 0, 0), (0, 0, 0))
    assert found.line in case.lines


def _one(*numbers: int) -> list[np.ndarray]:
    return [np.array([number]) for number in numbers]


def test_a_block_hears_of_a_third_one_only_what_that_one_told() -> None:
    """Four blocks of one warp in one cluster: block 1 tells block 0, then block 2 tells block 1, which tells again."""
    heard = BlocksHeard(4, 1, 4)
    heard.release(*_one(0, 7, 1, 3, 10))
    heard.acquire(*_one(0, 7, 0, 0))
    assert heard.heard[0, 0].tolist() == [0, 10, 0, 0]
    heard.release(*_one(1, 5, 2, 0, 20))
    heard.acquire(*_one(1, 5, 1, 31))
    heard.release(*_one(0, 7, 1, 3, 30))
    heard.acquire(*_one(0, 7, 0, 0))
    assert heard.heard[0, 0].tolist() == [0, 30, 20, 0]
    assert heard.of(*_one(0, 9, 2)).tolist() == [20]


def test_warps_that_wait_at_a_barrier_learn_what_all_of_them_know() -> None:
    heard = BlocksHeard(2, 3, 2)
    heard.heard[0] = [[5, 0], [0, 9], [1, 1]]
    heard.meet(0, np.array([True, True, False]), np.array([True, False, False]))
    assert heard.heard[0].tolist() == [[5, 9], [0, 9], [1, 1]]
    heard.hear_all(np.repeat([[True], [False]], 96, axis=1), np.array([7, 8]))
    assert heard.heard.tolist() == [[[7, 9], [7, 9], [7, 7]], [[0, 0]] * 3]
