"""The source explorer's state: the chosen line and counter, what is said of them, and what the panes are given."""

from __future__ import annotations

import numpy as np
import pytest

from softlab import Kernel
from softlab.explorers import SourceExplorer

SOURCE = """
extern "C" __global__ void triple(const float* x, float* y) {
  y[threadIdx.x] = 3 * x[threadIdx.x];
}
"""


@pytest.fixture
def explorer() -> SourceExplorer:
    kernel = Kernel(SOURCE, "triple")
    arrays = np.ones(64, np.float32), np.zeros(64, np.float32)
    return SourceExplorer(kernel, kernel.run(1, 64, arrays))


def test_a_line_in_all_three(explorer):
    explorer.line = 3
    assert explorer.summary["code"] == "y[threadIdx.x] = 3 * x[threadIdx.x];"
    assert sum(text.startswith("ld.global.f32") for text in explorer.summary["ptx"]) == 1
    assert explorer.panes.line == 3
    assert "Line 3" in explorer.message.value


def test_the_counter_is_the_heat(explorer):
    explorer.line = 3
    explorer.counter_menu.value = "global_load_sectors"
    assert (explorer.counter, explorer.panes.counter) == ("global_load_sectors",) * 2
    assert explorer.summary["count"] == 8  # 64 floats of 4 bytes in sectors of 32
    assert explorer.message.value.startswith("<div")
    assert "8 global load sectors in all" in explorer.message.value


def test_a_click_in_a_pane_chooses_the_line(explorer):
    explorer.panes.line = 3
    assert explorer.line == 3
    explorer.panes.line = 0
    assert explorer.summary["line"] == 0
    assert "Line 3 has the most" in explorer.message.value


def test_the_menu_offers_what_the_run_counted(explorer):
    offered = [name for _, name in explorer.counter_menu.options]
    assert offered == [
        "global_load_requests",
        "global_load_sectors",
        "global_store_requests",
        "global_store_sectors",
        "instructions",
        "ptx_instructions",
    ]
    with pytest.raises(ValueError, match="'barriers': this run counted"):
        explorer.counter = "barriers"


def test_a_line_that_is_not_there(explorer):
    explorer.line = 99
    assert explorer.line == 4


def test_a_run_without_counters():
    kernel = Kernel(SOURCE, "triple")
    run = kernel.run(1, 64, (np.ones(64, np.float32), np.zeros(64, np.float32)), record=False)
    explorer = SourceExplorer(kernel, run, line=3)
    assert explorer.summary["ptx"]
    assert repr(explorer) == "SourceExplorer(counter='instructions', line=3)"
