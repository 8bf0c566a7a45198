"""The explorer of the cache: its arithmetic by hand, its recorded numbers out of the file itself."""

from __future__ import annotations

import json

import pytest
from traitlets import TraitError

from softlab.bench import recordings
from softlab.explorers import CacheExplorer


@pytest.fixture(scope="module")
def explorer():
    return CacheExplorer(cols=65_536, block_size=1024)


def row_of_the_file(block_size: int, fewer: bool, cols: int, grid: int) -> dict[str, float]:
    """A row of the JSON, read without the package's reader."""
    table = json.loads((recordings.folder() / "cache_h200.json").read_text())["tables"]["cache"]
    (series,) = (s for s in table["series"] if s["of"] == [block_size, fewer])
    names = table["fields"]
    (row,) = (row for row in series["rows"] if row[:3:2] == [cols, grid])
    return dict(zip(names, row, strict=True))


def test_in_flight(explorer):
    explorer.cols, explorer.block_size, explorer.blocks = 65_536, 1024, 0
    assert (explorer.summary["rows"], explorer.summary["in_flight_mib"]) == (264, 66.0)
    assert not explorer.summary["fits"]
    explorer.blocks = 132
    assert (explorer.summary["rows"], explorer.summary["in_flight_mib"]) == (132, 33.0)
    assert explorer.summary["fits"]


@pytest.mark.parametrize(("blocks", "fewer", "grid"), [(0, False, 1024), (132, True, 132)])
def test_recorded_numbers_are_those_of_the_file(explorer, blocks, fewer, grid):
    explorer.cols, explorer.block_size, explorer.blocks = 65_536, 1024, blocks
    row, found = row_of_the_file(1024, fewer, 65_536, grid), explorer.summary["recorded"]
    nbytes = 65_536 * 1024 * 4
    seconds = (row["microseconds"] + row["again"]) / 2e6
    assert found["dram_read"] == pytest.approx(row["dram_read_bytes"] / nbytes, abs=0.006)
    moved = row["dram_read_bytes"] + row["dram_write_bytes"]
    assert found["dram_gb_per_second"] == pytest.approx(moved / seconds / 1e9, abs=1)
    assert f"{found['dram_read']:.2f} inputs read from DRAM" in explorer.message.value


def test_what_was_not_recorded_is_said(explorer):
    explorer.cols, explorer.block_size, explorer.blocks = 98_304, 1024, 33
    assert explorer.summary["recorded"] is None
    assert "not recorded" in explorer.message.value
    assert "now" in explorer.picture.value


def test_values_become_recorded_ones(explorer):
    explorer.cols = 30_000
    assert explorer.cols == 28_672
    explorer.blocks = 140
    assert explorer.blocks == 132
    explorer.blocks = -5
    assert explorer.blocks == 0
    with pytest.raises(TraitError):
        explorer.block_size = 128


def test_controls_move_the_traits(explorer):
    explorer.cols_slider.value = 16_384
    explorer.blocks_slider.value = 66
    explorer.size_buttons.value = 512
    assert (explorer.cols, explorer.blocks, explorer.block_size) == (16_384, 66, 512)
