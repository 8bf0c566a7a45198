"""The order in which a warp executes what its lanes do apart from each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from softlab.sass import order
from softlab.sass.order import as_executed

#: A run: warp, lanes, first instruction, how many instructions.
Run = tuple[int, int, int, int]


def executed(runs: Sequence[Run]) -> list[int]:
    warp, lanes, start, length = zip(*runs, strict=True)
    whole = (np.array(one, np.int64) for one in (start, length))
    return as_executed(np.array(warp, np.int64), np.array(lanes, np.uint32), *whole).tolist()


def test_some_lanes_go_on_until_they_wait_for_others():
    """Both sides of a branch have two runs, and the interpreter has them in turn."""
    runs = [(0, 15, 0, 2), (0, 3, 2, 1), (0, 12, 3, 1), (0, 3, 4, 1), (0, 12, 5, 1), (0, 15, 6, 1)]
    assert executed(runs) == [0, 1, 3, 2, 4, 5]


def test_the_fewest_lanes_go_on_first():
    runs = [(0, 15, 0, 2), (0, 7, 2, 1), (0, 8, 4, 1), (0, 15, 6, 1)]
    assert executed(runs) == [0, 2, 1, 3]
    runs[1], runs[2] = (0, 1, 2, 1), (0, 14, 4, 1)
    assert executed(runs) == [0, 1, 2, 3]


def test_of_as_many_those_go_on_first_that_do_not_jump():
    backwards = [(0, 15, 4, 2), (0, 3, 0, 1), (0, 12, 6, 1), (0, 15, 8, 1)]
    assert executed(backwards) == [0, 2, 1, 3]


def test_those_that_were_left_last_go_on_before_others():
    runs = [(0, 15, 0, 1), (0, 1, 1, 1), (0, 14, 2, 1), (0, 2, 3, 1), (0, 12, 4, 1), (0, 14, 5, 1), (0, 15, 6, 1)]
    three = [(0, 7, 0, 1), (0, 3, 1, 1), (0, 1, 2, 1), (0, 2, 3, 1), (0, 4, 4, 1), (0, 7, 9, 1)]
    assert executed(runs) == list(range(7))
    assert executed(three) == [0, 4, 1, 2, 3, 5]


def test_warps_do_not_change_each_others_order():
    """Two warps in turn: one parts, the other does not."""
    runs = [(0, 15, 0, 2), (1, 15, 0, 2), (0, 7, 2, 1), (1, 15, 2, 1), (0, 8, 4, 1), (1, 15, 6, 1), (0, 15, 6, 1)]
    found = executed(runs)
    assert [k for k in found if runs[k][0] == 1] == [1, 3, 5]
    assert [k for k in found if runs[k][0] == 0] == [0, 4, 2, 6]
    assert executed([run for run in runs if run[0]]) == [0, 1, 2]


@pytest.mark.parametrize("seed", range(20))
def test_every_lane_keeps_its_own_order_and_compiled_code_agrees(seed: int, monkeypatch: pytest.MonkeyPatch):
    """Random runs: any order of sets of lanes is one that lanes with own ends could have."""
    lot = np.random.default_rng(seed)
    runs = [(int(lot.integers(3)), int(lot.integers(1, 256)), int(lot.integers(40)), 1) for _ in range(60)]
    found = executed(runs)
    assert sorted(found) == list(range(60))
    for warp in range(3):
        for lane in range(8):
            own = [k for k, run in enumerate(runs) if run[0] == warp and run[1] >> lane & 1]
            assert [k for k in found if k in own] == own
    pytest.importorskip("llvmlite")
    monkeypatch.setattr(order, "compiled_blocks", lambda: "all")
    assert executed(runs) == found
