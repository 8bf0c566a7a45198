"""The shuffle explorer on the real kernel: masks, groups and values held to what a butterfly must be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from softlab.explorers import ShuffleExplorer
from softlab.explorers.shuffles import group_plan, numbers
from tests.sampled import turns

WIDTHS = (1, 2, 4, 8, 16, 32)


@pytest.fixture(scope="module")
def explorer() -> ShuffleExplorer:
    return ShuffleExplorer(32)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("rows_per_access", [1, 2])
def test_the_plan_is_the_one_that_was_chosen(width, rows_per_access):
    plan = group_plan(width, rows_per_access)
    assert (plan.thread_group_width, plan.rows_per_access, plan.padding) == (width, rows_per_access, False)
    assert plan.rows >= 128 // width * rows_per_access, "every group of the first block has a row"


@pytest.mark.parametrize(("op", "rows_per_access", "width"), turns(2, ["max", "sum"], [1, 2], WIDTHS))
def test_every_lane_ends_with_the_result_of_its_row(explorer, width, rows_per_access, op):
    explorer.width, explorer.rows_per_access, explorer.op = width, rows_per_access, op
    x = numbers(op, explorer.trace.plan.rows, width).astype(float)
    steps = int(math.log2(width))
    groups = 32 // width
    assert explorer.summary["shuffles"] == 2 * steps * rows_per_access
    assert explorer.summary["rows"] == groups * rows_per_access
    assert explorer.summary["barriers"] == 0
    for row in range(rows_per_access):
        explorer.row = row
        explorer.step = steps
        assert explorer.summary["masks"] == [width // 2**k for k in range(1, steps + 1)]
        if not steps:
            assert explorer.summary["values"] == []
            continue
        assert explorer.summary["holders"] == 32
        for lane, value in enumerate(explorer.summary["values"]):
            mine = x[lane // width * rows_per_access + row]
            expected = mine.max() if op == "max" else np.exp(mine - mine.max()).sum()
            assert value == pytest.approx(expected, rel=1e-6)
    explorer.row = 0


def test_what_a_cell_holds_is_of_the_lanes_that_it_names(explorer):
    explorer.width, explorer.rows_per_access, explorer.op = 16, 1, "max"
    x = numbers("max", explorer.trace.plan.rows, 16)[:2].ravel()
    for number, level in enumerate(explorer.diagram.data["levels"]):
        for lane, cell in enumerate(level["cells"]):
            assert len(cell["lanes"]) == 2**number
            assert {other // 16 for other in cell["lanes"]} == {lane // 16}, "no lane of another row"
            assert float(cell["text"]) == x[cell["lanes"]].max()
            assert f"lane {lane} holds" in cell["tip"]
    for step, mask in zip(explorer.diagram.data["steps"], (8, 4, 2, 1), strict=True):
        assert sorted(map(tuple, step["edges"])) == sorted((lane ^ mask, lane) for lane in range(32))
        assert f"bit of value {mask} " in step["note"]


def test_bands_name_the_rows(explorer):
    explorer.width, explorer.rows_per_access, explorer.row = 8, 2, 1
    assert [band["text"] for band in explorer.diagram.data["bands"]] == ["row 1", "row 3", "row 5", "row 7"]
    assert [band["first"] for band in explorer.diagram.data["bands"]] == [0, 8, 16, 24]
    explorer.rows_per_access = 1
    assert explorer.row == 0
    assert [band["text"] for band in explorer.diagram.data["bands"]] == ["row 0", "row 1", "row 2", "row 3"]


def test_steps_show_more_of_the_same_picture(explorer):
    explorer.width, explorer.rows_per_access, explorer.op = 32, 1, "max"
    explorer.step = 0
    before = explorer.diagram.data
    assert explorer.summary["mask"] is None
    assert explorer.summary["holders"] == 0
    explorer.step_slider.value = 1
    assert (explorer.step, explorer.diagram.step, explorer.play.value) == (1, 1, 1)
    assert explorer.summary["mask"] == 16
    explorer.play.value = 2
    assert (explorer.step, explorer.step_slider.value, explorer.summary["mask"]) == (2, 2, 8)
    assert explorer.diagram.data is before
    explorer.step = 99
    assert explorer.step == 5


def test_fewer_steps_take_the_slider_along(explorer):
    explorer.width = 32
    explorer.step = 5
    explorer.width = 4
    assert (explorer.step, explorer.step_slider.max, explorer.play.max, explorer.diagram.step) == (2, 2, 2, 2)
    explorer.width = 1
    assert explorer.step == 0
    assert explorer.step_slider.disabled
    assert "no shuffle is executed" in explorer.message.value
    assert [cell["text"] for cell in explorer.diagram.data["levels"][0]["cells"]] == [""] * 32
    explorer.width = 2
    assert not explorer.step_slider.disabled


def test_it_says_which_run_it_shows(explorer):
    explorer.width, explorer.op = 32, "sum"
    assert "emulator" in explorer.text.value
    assert "group_all_reduce&lt;Sum" in explorer.text.value
    assert "shfl.sync.bfly" in explorer.text.value
    assert repr(explorer) == "ShuffleExplorer(op='sum', rows_per_access=1, step=0, width=32)"
