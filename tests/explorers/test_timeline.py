"""The timeline's explorer: its numbers are those of the run, however the sum is computed."""

from __future__ import annotations

import numpy as np
import pytest
from traitlets import TraitError

import softlab
from softlab.explorers import TimelineExplorer
from softlab.explorers.timeline import BLOCK_SIZES, COLS, SUBJECTS
from tests.sampled import each


@pytest.fixture(scope="module")
def explorer():
    return TimelineExplorer("sum: tree", block_size=128)


@pytest.mark.parametrize("name", each(2, SUBJECTS))
def test_every_kernel_is_right_and_has_as_many_barriers_as_were_counted(name):
    subject = SUBJECTS[name](128)
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in subject.args]
    run = subject.kernel.run(1, 128, args, subject.smem)
    x = args[0].astype(np.float64)
    wanted = x / x.sum() if name.startswith("sum") else np.exp(x - x.max()) / np.exp(x - x.max()).sum()
    assert np.allclose(args[1], wanted, rtol=1e-5)
    found = TimelineExplorer(name, 128).summary
    assert found["issued"] == run.counters["ptx_instructions"]
    assert found["barriers"] * 4 == run.counters["barriers"], "each of four warps comes to each of them"


def test_a_tree_has_a_barrier_for_each_level_and_one_more(explorer):
    for size, levels in ((128, 7), (512, 9)):
        explorer.block_size = size
        assert explorer.summary["barriers"] == levels + 1
    explorer.block_size = 128


def test_step_and_zoom_redraw_the_picture_and_nothing_else_runs(explorer, monkeypatch):
    timeline = explorer.timeline
    pictures = set()
    for step, zoom in ((0, 1), (40, 1), (40, 8), (41, 8)):
        explorer.step, explorer.zoom = step, zoom
        pictures.add(explorer.picture.value)
        assert f"step {step}" in explorer.picture.value
        assert f"Step {step}:" in explorer.activities.value
    assert len(pictures) == 4
    assert explorer.timeline is timeline


def test_what_waits_at_a_step_is_what_the_record_says(explorer):
    explorer.kernel = "sum: thread 0 adds"
    stop = explorer.timeline.passes[1]
    explorer.step = stop.at - 1
    assert explorer.summary["waits"] == [1, 2, 3]
    assert explorer.summary["share"] > 0.6
    explorer.kernel = "sum: tree"
    assert explorer.step < explorer.summary["length"], "a shorter run has fewer steps"


def test_values_that_cannot_be_are_replaced_or_refused(explorer):
    explorer.step = 10**6
    assert explorer.step == explorer.summary["length"] - 1
    explorer.zoom = 7
    assert explorer.zoom == 4
    with pytest.raises((TraitError, ValueError), match="there are 'sum: thread 0 adds'"):
        explorer.kernel = "sum"
    with pytest.raises((TraitError, ValueError), match=", ".join(map(str, BLOCK_SIZES))):
        explorer.block_size = 96


def test_controls_and_traits_follow_each_other(explorer):
    explorer.kernel_menu.value = "sum: shuffles"
    explorer.size_buttons.value = 256
    assert (explorer.kernel, explorer.block_size, explorer.timeline.warps) == ("sum: shuffles", 256, 8)
    explorer.step_slider.value = 5
    assert explorer.step == 5
    explorer.zoom = 2
    assert explorer.zoom_slider.value == 2


def test_a_kernel_of_ones_own():
    kernel = softlab.Kernel(
        'extern "C" __global__ void meet(float* x) { x[threadIdx.x] += 1; __syncthreads(); x[threadIdx.x] *= 2; }',
        "meet",
    )
    x = np.zeros(64, np.float32)
    explorer = TimelineExplorer.of(kernel, 64, (x,))
    assert (explorer.kernel, explorer.block_size, explorer.summary["barriers"]) == ("meet", 64, 1)
    assert not x.any(), "the arrays stay as they are"
    assert repr(explorer) == "TimelineExplorer(block_size=64, kernel='meet', step=0, zoom=1)"


def test_the_row_is_as_long_as_the_docstring_says():
    assert SUBJECTS["sum: tree"](128).args[0].shape == (COLS,)


def test_the_same_block_in_cycles_is_the_estimate_of_the_model(explorer):
    explorer.kernel, explorer.block_size, explorer.axis = "sum: tree", 128, "cycles"
    subject = SUBJECTS["sum: tree"](128)
    found = subject.kernel.estimate(1, 128, subject.args, timeline=True)
    assert explorer.summary["cycles"] == round(found.timeline.cycles)
    assert explorer.summary["stalls"] == {name: round(share, 3) for name, share in found.stalls.items()}
    assert "cycles of the SM since the start of the launch, estimated" in explorer.picture.value
    waiting = next(one for one in found.timeline.stretches(2) if one.state == "barrier")
    explorer.step = int(waiting.start)
    assert 2 in explorer.summary["states"]["barrier"]
    assert f"line {waiting.line}:" in explorer.activities.value
    assert "other warps at a barrier" in explorer.activities.value
    explorer.step = 10**9
    assert explorer.step == explorer.step_slider.max
    explorer.axis = "order"
    assert explorer.step < explorer.timeline.length
    assert "order, not time" in explorer.picture.value
    assert "issued" in explorer.summary


def test_a_kernel_without_an_estimate_says_why():
    kernel = softlab.Kernel('extern "C" __global__ void k(float* x) { x[threadIdx.x] = 1; }', "k", arch="sm_80")
    found = TimelineExplorer.of(kernel, 32, (np.zeros(32, np.float32),))
    found.axis = "cycles"
    assert "No timeline in cycles" in found.message.value
    assert "sm_80" in found.summary["missing"]
    found.axis = "order"
    assert found.summary["issued"] > 0
