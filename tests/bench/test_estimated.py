"""The table of estimates that explorers show: what it has, what it lacks, and whether its model is today's."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import softlab
from softlab.bench import estimated
from softlab.bench.fusing import FusionCase
from softlab.plans import forced


def smem(cols: int, dtype: str = "float32", **choices) -> softlab.Plan:
    return forced(1, cols, dtype, kernel="block_smem", device=choices.pop("device", "H200"), **choices)


def test_the_nearest_row_length_speaks_and_says_which_it_is():
    found = estimated.estimated(smem(1024, block_size=128, pack_size=2))
    assert (found.cols, found.bound) == (1024, "dram")
    near = estimated.estimated(smem(1030, block_size=128, pack_size=2))
    assert near == found
    assert estimated.estimated(smem(32, block_size=128, pack_size=2)) is None


def test_other_gpus_and_operators_have_none():
    assert estimated.estimated(smem(1024, block_size=128, device="A100")) is None
    assert estimated.estimated(softlab.plan(4096, 1024, op="log_softmax", device="H200")) is None
    assert estimated.estimated(smem(1024, "float64", block_size=128)) is None


@pytest.mark.further
def test_the_figures_are_those_of_the_model_or_the_stamp_says_that_it_has_changed():
    made = estimated.INPUT_BYTES // (1024 * 4)
    plan = forced(made, 1024, kernel="block_smem", block_size=512, pack_size=2, device="H200")
    if estimated.stale():
        assert "has changed since" in estimated.stamp()
        return
    found = softlab.estimate(plan, device="H200")
    shipped = estimated.estimated(plan)
    assert shipped.microseconds == pytest.approx(found.microseconds, rel=1e-3)
    assert (shipped.bound, shipped.reason) == (found.bound, next(n for n in found.stalls if n != "selected"))


def test_what_has_changed_is_named(monkeypatch):
    fresh = dataclasses.replace(estimated.table(), versions={"model": "a"}, sources="b")
    monkeypatch.setattr(estimated, "table", lambda: fresh)
    monkeypatch.setattr(estimated, "model_digest", lambda: "a")
    monkeypatch.setattr(estimated, "kernels_digest", lambda: "b")
    assert estimated.stale() == ""
    monkeypatch.setattr(estimated, "model_digest", lambda: "other")
    assert estimated.stale() == "the model has changed since"
    monkeypatch.setattr(estimated, "kernels_digest", lambda: "other")
    assert estimated.stale() == "the model and a kernel has changed since"


def test_fused_kernels_have_their_separate_ones():
    one, apart = estimated.fused(FusionCase(1, 64, 64, "float32", ("scale", "mask")))
    assert set(apart) == {"scale", "mask", "softmax"}
    assert one.microseconds < sum(kernel.microseconds for kernel in apart.values())
    alone, kernels = estimated.fused(FusionCase(1, 64, 64, "float32", ()))
    assert kernels == {"softmax": alone}
    assert estimated.fused(FusionCase(1, 64, 4096, "float32", ())) is None
    assert estimated.fused(FusionCase(1, 64, 64, "float32", (), "A100")) is None


def test_more_warps_copy_hardly_slower():
    """The model has a dip of 9 % between 16 and 24 warps with packs of 16 bytes (docs/estimates.md, known misses)."""
    for size in (4, 16):
        warps, speed = estimated.copies(size)
        assert (np.diff(warps) > 0).all()
        assert (np.diff(speed) > -0.1 * speed[:-1]).all()
        assert 200 < speed[0] < speed[-1] < 4600
