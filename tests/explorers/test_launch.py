"""The explorer of a launch: who works on which number is what the kernel wrote."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.explorers import LaunchExplorer


@pytest.mark.parametrize(("numbers", "block", "grid", "idle"), [(100, 32, 4, 28), (128, 128, 1, 0), (129, 64, 3, 63)])
def test_the_grid_is_as_large_as_the_numbers_need(numbers, block, grid, idle):
    found = LaunchExplorer(numbers, block, 0).summary
    assert (found["grid"], found["threads"], found["idle"]) == (grid, grid * block, idle)


def test_the_coordinates_are_those_of_the_run():
    explorer = LaunchExplorer(numbers=100, block=64)
    blocks, threads = explorer.found
    assert np.array_equal(blocks * 64 + threads, np.arange(100))
    for i in (0, 31, 63, 64, 99):
        explorer.thread_slider.value = i
        found = explorer.summary
        assert (found["blockIdx"], found["threadIdx"]) == (blocks[i], threads[i])
        assert f"= {blocks[i]} * 64 + {threads[i]} = {i}." in explorer.message.value
        assert explorer.diagram.lane == i


def test_a_thread_past_the_end_ends():
    explorer = LaunchExplorer(numbers=100, block=64, thread=127)
    assert not explorer.summary["works"]
    assert "not less than n = 100" in explorer.message.value
    explorer.numbers = 60
    assert explorer.thread == 63, "the last thread of the smaller grid"


def test_each_thread_is_a_cell_and_a_click_chooses_it():
    explorer = LaunchExplorer(numbers=100, block=32)
    (panel,) = explorer.diagram.data["panels"]
    assert [cell["text"] for cell in panel["cells"]] == [str(i) if i < 100 else "" for i in range(128)]
    assert len(panel["rows"]) == 4
    explorer.diagram.lane = 70
    assert (explorer.thread, explorer.summary["blockIdx"], explorer.summary["threadIdx"]) == (70, 2, 6)


@pytest.mark.parametrize("block", [32, 64, 128])
def test_the_page_keeps_space_for_the_largest_grid(block):
    explorer = LaunchExplorer(numbers=256, block=block)
    (panel,) = explorer.diagram.data["panels"]
    assert explorer.diagram.data["leastRows"] == len(panel["rows"])
    explorer.numbers = 1
    assert explorer.diagram.data["leastRows"] == len(panel["rows"])
