"""The explorer of speeds: numbers of the recording, curves on and off, live ones only where they were measured."""

from __future__ import annotations

import pytest

from softlab.bench import claims, curves, recordings
from softlab.bench.record import live
from softlab.explorers import BandwidthExplorer
from softlab.plans import plan


@pytest.fixture
def explorer():
    return BandwidthExplorer(cols=4096)


def test_speeds_are_those_that_the_claims_are_judged_by(explorer):
    recording = recordings.load()
    for dtype, cols in (("float32", 4096), ("float16", 1024), ("float32", 262_144)):
        explorer.dtype, explorer.cols = dtype, cols
        made = next(p for p in claims.planned(recording, dtype) if p.cols == cols)
        found = explorer.summary
        assert found["speeds"]["softlab, as planned"] == round(claims.speed(recording, made))
        assert found["of_copy"]["cuDNN"] == pytest.approx(
            dict(zip(*claims.peer_speeds(recording, "cudnn", dtype), strict=True))[cols] / found["copied"], abs=1e-3
        )
        assert found["speeds"][found["fastest"]] == max(found["speeds"].values())


def test_curves_are_switched_by_trait_and_by_button(explorer):
    assert 'data-curve="warp"' not in explorer.picture.value
    explorer.switches["warp"].value = True
    assert "warp" in explorer.shown
    assert 'data-curve="warp"' in explorer.picture.value
    explorer.shown = ("cuDNN",)
    assert [label for label, switch in explorer.switches.items() if switch.value] == ["cuDNN"]
    assert 'data-curve="PyTorch"' not in explorer.picture.value
    with pytest.raises(ValueError, match="there are 'softlab, as planned'"):
        explorer.shown = ("cudnn",)


def test_values_become_recorded_ones(explorer):
    explorer.cols = 4000
    assert explorer.cols == 4096
    explorer.cols_slider.value = 32
    assert explorer.cols == 32
    assert "Rows of 32 columns" in explorer.numbers.value


def test_nothing_is_live_without_a_gpu(explorer, monkeypatch):
    monkeypatch.setattr(live.Device, "present", staticmethod(lambda: None))
    assert explorer.measure() == {}
    assert 'data-role="live"' not in explorer.picture.value


def test_what_was_measured_is_drawn_as_live(explorer, monkeypatch):
    asked = []
    monkeypatch.setattr(live, "speeds", lambda plans: asked.extend(plans) or [1234.0, 2345.0, 4000.0])
    assert explorer.measure((256, 4096)) == {256: 1234.0, 4096: 2345.0}
    assert [made.cols for made in asked] == [256, 4096]
    assert asked[0] == plan(asked[0].rows, 256, policy="oneflow")
    assert explorer.picture.value.count('data-role="live"') == 2
    assert "softlab, on this machine" in explorer.numbers.value


def test_every_curve_there_is_can_be_shown(explorer):
    explorer.shown = curves.labels(recordings.load())
    for label in curves.labels(recordings.load()):
        assert f'data-curve="{label}"' in explorer.picture.value
    assert len(explorer.picture.value) < 200_000
