"""The explorer of fusing: what is ticked is run, fused and separately, and counted."""

from __future__ import annotations

import pytest

from softlab.explorers import FusingExplorer
from tests.views.drawn import marks


def test_nothing_fused_is_softmax_alone() -> None:
    explorer = FusingExplorer(cols=32)
    assert explorer.summary["kernels"] == 1
    assert explorer.summary["ratio"] == 1
    assert explorer.summary["load"] == "DirectLoad<float, float>"
    assert "Tick something" in explorer.message.value


@pytest.mark.further
def test_ticks_are_fused() -> None:
    """By hand: 32 x 32 numbers are 128 sectors of float32, the mask 32."""
    explorer = FusingExplorer(cols=32)
    explorer.ticks["scale"].value = True
    assert (explorer.summary["fused"], explorer.summary["separate"]) == (256, 512)
    explorer.ticks["mask"].value = True
    assert (explorer.summary["fused"], explorer.summary["separate"]) == (288, 800)
    assert explorer.summary["ratio"] == 2.78
    assert "MaskLoad&lt;float, ScaleLoad&lt;" in explorer.types.value
    assert "3 kernels move 2.78 times as much as one" in explorer.message.value
    assert [mark["kernel"] for mark in marks(explorer.bars.value, form="separate", role="load")] == [
        "scale", "mask", "softmax",
    ]  # fmt: skip
    explorer.dropout = True
    assert explorer.ticks["dropout"].value
    assert explorer.summary["kernels"] == 4
    assert explorer.summary["store"].startswith("DropoutStore<")


@pytest.mark.further
def test_other_problems() -> None:
    explorer = FusingExplorer(cols=32, causal=True)
    whole = explorer.summary["fused"]
    assert whole < 256  # nothing beyond the diagonal is read
    explorer.dtype_menu.value = "float16"
    assert explorer.summary["fused"] < whole
    explorer.cols_menu.value = 64
    assert explorer.problem.shape == (1, 64, 64)
    with pytest.raises(Exception, match="cols"):
        explorer.cols = 33


def test_the_example_has_something_to_see() -> None:
    assert FusingExplorer.example().summary["kernels"] == 3


def test_one_kernel_and_several_are_estimated_at_full_size():
    explorer = FusingExplorer(cols=64, scale=True, mask=True)
    found = explorer.summary["estimated"]
    assert found["fused"] < found["separate"]
    assert "separate: 3 kernels" in explorer.times.value
    assert "Recorded for rows of 128" in explorer.times.value
