"""The explorer of Little's law: bytes on the way, the law, and the recorded curve of the atlas."""

from __future__ import annotations

import pytest
from traitlets import TraitError

from softlab.explorers import LittlesLawExplorer
from softlab.hardware import atlas


def test_bytes_on_the_way_and_the_law():
    recorded = atlas.load("H200")
    found = LittlesLawExplorer(warps=8, loads=2, bytes=4).summary
    assert found["in_flight"] == 8 * 2 * 4 * 32
    expected = 2048 * 132 / recorded["latency.DRAM"] * recorded.clocks["SM"] / 1000
    assert found["law"] == round(expected)
    assert found["recorded"] < found["law"]


def test_a_recorded_point_is_shown_as_it_is():
    at, rate = atlas.load("H200").series("bandwidth.L2.read")
    k = at.tolist().index(4096)
    found = LittlesLawExplorer(warps=8, bytes=16, memory="L2").summary
    assert found["recorded"] == round(float(rate[k]) * atlas.load("H200").clocks["SM"] / 1000)


def test_the_law_ends_at_the_peak_and_the_recording_at_its_last_point():
    explorer = LittlesLawExplorer(warps=64, loads=16, bytes=16)
    assert explorer.summary["law"] == explorer.summary["peak"]
    assert "the recording ends at" in explorer.message.value
    assert 10_000 < explorer.summary["needed"] < 13_000


def test_controls():
    explorer = LittlesLawExplorer()
    explorer.warps_slider.value = 40
    explorer.bytes_buttons.value = 16
    assert explorer.summary["in_flight"] == 40 * 16 * 32
    assert "40 warps x 1 load x 32 lanes x 16 bytes" in explorer.message.value
    assert 'data-curve="bandwidth.DRAM.read"' in explorer.picture.value
    assert "copy" not in explorer.picture.value
    explorer.warps = 900
    assert explorer.warps == 64
    with pytest.raises(TraitError):
        explorer.memory = "tape"
