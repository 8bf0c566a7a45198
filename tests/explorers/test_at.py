"""``explorer.at``: data for other values of the controls, while the picture stays as its cell left it."""

from __future__ import annotations

import pytest

from softlab.explorers import BandwidthExplorer, DispatchExplorer, OccupancyExplorer


def test_at_gives_what_the_controls_would_and_leaves_them_alone():
    explorer = OccupancyExplorer(threads=256, registers=32)
    picture = explorer.picture.value
    found = explorer.at(registers=33)
    assert (explorer.registers, explorer.registers_slider.value, explorer.picture.value) == (32, 32, picture)
    explorer.registers = 33
    assert found == explorer.summary


def test_at_begins_each_time_with_the_arguments_of_the_cell():
    explorer = OccupancyExplorer(threads=256, registers=32)
    explorer.at(threads=64)
    explorer.registers = 200  # a learner moves the slider
    assert explorer.at() == OccupancyExplorer(threads=256, registers=32).summary


def test_at_takes_controls_only():
    with pytest.raises(TypeError, match="no control regs: there are device, threads, registers, smem"):
        OccupancyExplorer().at(regs=3)


def test_controls_that_are_no_arguments_go_back_as_well():
    explorer = DispatchExplorer(rows=4096, cols=8192)
    assert explorer.at(kernel="block_uncached")["kernel"] == "block_uncached"
    assert explorer.at()["kernel"] == "block_smem"
    assert explorer.at(axis="first")["rows"] == 8192


def test_each_recorded_length_of_a_bandwidth_explorer():
    explorer = BandwidthExplorer(cols=4096)
    lengths = [cols for _, cols in explorer.cols_slider.options]
    assert len({str(explorer.at(cols=cols)["speeds"]) for cols in lengths}) == len(lengths)
    assert explorer.cols == 4096


def test_an_explorer_knows_what_its_cell_displayed():
    explorer = OccupancyExplorer(threads=256, registers=32)
    assert explorer.displayed is None
    explorer._repr_mimebundle_()
    explorer.registers = 33
    assert explorer.displayed == explorer.state | {"registers": 32}
