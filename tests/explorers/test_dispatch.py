"""The explorer of the dispatch: the axis, choices of one's own, refusals, recorded consequences."""

from __future__ import annotations

import pytest
from traitlets import TraitError

from softlab.explorers import DispatchExplorer
from softlab.explorers.dispatch import AUTO
from softlab.plans import forced, plan


@pytest.fixture
def explorer() -> DispatchExplorer:
    return DispatchExplorer(rows=4096, cols=8192)


def test_summary_is_the_plans(explorer):
    made = plan(4096, 8192, device="H200")
    assert explorer.summary["kernel"] == made.kernel
    assert explorer.summary["grid"] == made.grid
    assert explorer.summary["steps"][2:] == [step.question for step in made.steps]
    assert explorer.summary["waves"] == pytest.approx(made.waves, abs=0.005)


def test_another_axis_swaps_rows_and_columns(explorer):
    explorer.axis_buttons.value = "first"
    assert (explorer.plan.rows, explorer.plan.cols) == (8192, 4096)
    assert "axis=0" in explorer.ladder.value
    assert "4096 x 8192" in explorer.ladder.value, "the shape of x stays"


def test_every_control_moves_the_plan(explorer):
    explorer.rows_slider.value, explorer.cols_slider.value = 100, 500
    explorer.dtype_menu.value, explorer.device_menu.value = "float16", "T4"
    explorer.op_buttons.value = "log_softmax"
    wanted = plan(100, 500, "float16", op="log_softmax", device="T4")
    assert explorer.plan.name == wanted.name
    assert explorer.plan.grid == wanted.grid


def test_choices_of_ones_own(explorer):
    explorer.kernel_menu.value, explorer.block_menu.value, explorer.pack_menu.value = "block_uncached", "512", "1"
    wanted = forced(4096, 8192, kernel="block_uncached", block_size=512, pack_size=1, device="H200")
    assert explorer.plan.name == wanted.name
    assert explorer.summary["planned"] == "block_smem"
    assert explorer.note == ""
    assert "your choice" in explorer.facts.value
    explorer.kernel, explorer.block, explorer.pack = AUTO, AUTO, AUTO
    assert explorer.plan == plan(4096, 8192, device="H200")
    assert "your choice" not in explorer.facts.value


def test_what_cannot_be_had_is_refused_with_the_reason(explorer):
    explorer.kernel = "warp"
    assert "7168 too many" in explorer.note
    assert explorer.note.split(".")[0] in explorer.message.value
    assert explorer.plan.kernel == "block_smem", "the plan is shown"
    explorer.kernel = AUTO
    assert explorer.note == ""
    assert explorer.message.value == ""
    with pytest.raises(TraitError):
        explorer.kernel = "fastest"


def test_recorded_consequences(explorer):
    planned = explorer.summary["recorded"]
    explorer.kernel = "block_uncached"
    assert 0 < explorer.summary["recorded"] < planned <= 1
    assert "GB/s" in explorer.facts.value
    explorer.device = "T4"
    assert explorer.summary["recorded"] is None
    assert explorer.others.value == ""
    assert "not recorded" in explorer.facts.value


def test_shapes_beyond_the_sliders(explorer):
    explorer.rows, explorer.cols = 10**6, 0
    assert (explorer.rows, explorer.cols) == (10**6, 1)
    assert explorer.plan.rows == 10**6
    assert explorer.rows_slider.value == 10**6
