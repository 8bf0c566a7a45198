"""The picture of one SM: pieces are where their cycles are, in the colour of what takes most of them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from softlab.timing.journal import SmTimeline
from softlab.timing.stalls import REASONS
from softlab.views.sm_timeline import MOST_TIPS, slots, sm_timeline, states_table
from softlab.views.warps import Window
from tests.views.drawn import marks, words

SOURCE = "a\nfloat v = x[0];\ny[0] = v;\n"


def made(rows: list[tuple[int, str, int, float, float]], blocks: tuple[int, ...], complete: bool = True) -> SmTimeline:
    warp, state, line, start, stop = zip(*rows, strict=True)
    codes = np.array([REASONS.index(name) for name in state], np.int32)
    return SmTimeline(
        np.array(warp, np.int32), codes, np.array(line, np.int32), np.array(start, float), np.array(stop, float),
        blocks, max(stop), complete,
    )  # fmt: skip


#: Two warps side by side, and a third that starts when the first has ended.
THREE = made(
    [
        (0, "selected", 1, 0, 100), (0, "long_scoreboard", 3, 100, 400),
        (1, "barrier", 2, 0, 800),
        (2, "selected", 1, 500, 700), (2, "short_scoreboard", 3, 700, 1000),
    ],
    (4, 4, 9),
)  # fmt: skip


def test_a_warp_takes_the_row_of_one_that_has_ended():
    assert slots(THREE) == [0, 1, 0]
    assert {"slot 0", "slot 1"} <= set(words(sm_timeline(THREE)))


def test_pieces_are_as_long_as_their_cycles():
    found = {(one["slot"], one["group"]): one for one in marks(sm_timeline(THREE, source=SOURCE), slot=None)}
    wide = {key: float(one["width"]) for key, one in found.items()}
    assert wide["0", "L1, L2, DRAM"] == pytest.approx(0.3 * 708, abs=2)
    assert wide["1", "barrier"] == pytest.approx(0.8 * 708, abs=2)
    assert float(found["0", "shared memory, shuffles, special functions"]["x"]) == pytest.approx(70 + 0.7 * 708, abs=2)
    tip = found["0", "L1, L2, DRAM"]["tip"]
    first, last = map(int, re.search(r"about cycles (\d+) to (\d+)", tip).groups())
    assert (first, last) == pytest.approx((100, 400), abs=2), "to a pixel"
    assert tip.startswith("warp 0 of block 4, ")
    assert ": mostly long_scoreboard: L1, L2 or DRAM" in tip
    assert tip.endswith("line 3 (y[0] = v;)")


def test_a_window_shows_its_cycles_alone():
    picture = sm_timeline(THREE, window=Window(600, 700), clock=650)
    assert {(one["slot"], one["group"]) for one in marks(picture, slot=None)} == {("0", "issues"), ("1", "barrier")}
    assert "600" in words(picture)
    assert "-0" not in words(sm_timeline(THREE))


def test_the_legend_has_the_names_of_nsight_compute():
    shown = words(sm_timeline(THREE))
    assert "L1, L2, DRAM (long_scoreboard)" in shown
    assert "issues (selected)" in shown
    assert not any("mio_throttle" in one for one in shown)


def test_many_pieces_become_one_shape_per_group_and_an_end_is_said():
    rows = [
        (warp, ("selected", "wait")[k % 2], 1, 10.0 * k, 10.0 * k + 10)
        for warp in range(64)
        for k in range(70)
    ]  # fmt: skip
    picture = sm_timeline(made(rows, (0,) * 64, complete=False))
    assert MOST_TIPS < 64 * 70
    assert not marks(picture, slot=None)
    assert picture.count("<path") == 2
    assert "The record ends at cycle 700; the simulation went on." in words(picture)


def test_a_cycle_without_warps_says_so():
    assert "no warp is at work" in states_table([], 0, "")
