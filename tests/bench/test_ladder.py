"""The ladder: launches cut short compute the same, and what is said of a recording is what it holds."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import softlab
from softlab.bench import curves, ladder
from softlab.bench.recordings import Recording, table_of
from softlab.explorers import bandwidth
from softlab.operators import trace_plan
from tests.reference import assert_within, reference
from tests.sampled import each, turns


def row(table: str, peer: str, cols: int, speed: float, dtype: str = "float32", op: str = "softmax", rows: int = 9):
    kernel = f"kernel of {cols}" if peer == "fast" else ""
    record = {"op": op, "dtype": dtype, "peer": peer, "kernel": kernel, "cols": cols, "rows": rows,
              "microseconds": 7.0 * speed, "gigabytes_per_second": speed}  # fmt: skip
    return table, record


ROWS = (
    row("forward", "copy", 32, 4000), row("forward", "fast", 32, 3900), row("forward", "torch", 32, 4100),
    row("forward", "copy", 64, 4200), row("forward", "fast", 64, 2100), row("forward", "torch", 64, 1050),
    row("forward", "quack", 64, 700), row("forward", "oneflow", 64, 4199),
    row("forward", "copy", 64, 4000, "float16"), row("forward", "fast", 64, 1000, "float16"),
    row("forward", "copy", 64, 3000, op="log_softmax"), row("forward", "fast", 64, 2999, op="log_softmax"),
    row("few", "fast", 64, 11, rows=1), row("few", "fast", 64, 12, rows=8), row("few", "copy", 64, 13, rows=8),
)  # fmt: skip


@pytest.fixture
def recording() -> Recording:
    tables = {name: table_of([record for of, record in ROWS if of == name]) for name in ("forward", "few")}
    return Recording("fast_test", "about", "NVIDIA H200", "2026-01-01", "command", "method", {}, "sources", tables)


def test_measured_are_the_rows_of_a_problem(recording):
    assert ladder.measured(recording, "float32", 64) == {
        "copy": 4200, "fast": 2100, "torch": 1050, "quack": 700, "oneflow": 4199
    }  # fmt: skip
    assert ladder.measured(recording, "float32", 64, rows=8) == {"fast": 84, "copy": 91}
    assert ladder.measured(recording, "float64", 64) == {}


def test_below_names_the_cells_that_miss_the_copy(recording):
    slow = ladder.below(recording, "forward", 0.97)
    assert [found[:4] for found in slow] == [
        ("softmax", "float16", 64, "kernel of 64"),
        ("softmax", "float32", 64, "kernel of 64"),
        ("log_softmax", "float32", 64, "kernel of 64"),
    ]
    assert slow[1][4:] == (0.525, 2.0)
    assert slow[0][4] == 0.25
    assert np.isnan(slow[0][5])
    assert len(ladder.below(recording, "forward", 0.98)) == 4, "3900 of 4000 are less than 98 %"


def test_a_slow_copy_is_no_ceiling(recording):
    assert ladder.ceiling(recording, "forward", "float32") == 4000, "the median of 4000, 4200 and 3000"
    slow = ladder.below(recording, "forward", 0.76)
    assert ("log_softmax", "float32", 64) in [found[:3] for found in slow], "0.9997 of its own copy, 0.75 of others"


def test_the_rungs_are_those_of_the_page():
    page = (Path(__file__).parents[2] / "kernels" / "FAST.md").read_text()
    for rung in ladder.RUNGS:
        for number in filter(None, (rung.before, rung.predicted, rung.measured)):
            assert re.search(rf"\b{number:g}\b", page), f"{rung.idea}: {number:g} is not in FAST.md"


@pytest.mark.parametrize(("cols", "policy"), turns(3, [32, 1023, 8192, 40_001], ["oneflow", "fast"]))
def test_the_first_rows_are_those_of_the_whole_launch(policy, cols):
    whole = softlab.plan(5000, cols, policy=policy, device="H200")
    rows = 3 if cols % 32 else 4
    short = ladder.first_rows(whole, rows)
    assert (short.name, short.rows) == (whole.name, rows)
    assert short.grid % (whole.cluster or 1) == 0
    x = np.random.default_rng(cols).standard_normal((rows, cols), dtype=np.float32)
    expected = reference(x, "softmax")
    assert_within(trace_plan(short, x).output, expected.value, 16 * expected.tolerance, f"{policy} {cols}")


@pytest.mark.parametrize("rows", each(2, [1, 4]))
def test_blocks_all_over_the_gpu_meet_for_the_first_rows_too(rows):
    whole = softlab.plan(5000, 170_001, policy="fast", device="H200")
    short = ladder.first_rows(whole, rows)
    assert (whole.cooperative, short.rows) == (True, rows)
    assert (short.name, short.grid, short.workspace_bytes) == (whole.name, whole.grid, whole.workspace_bytes)
    x = np.random.default_rng(rows).standard_normal((rows, 170_001), dtype=np.float32)
    expected = reference(x, "softmax")
    assert_within(trace_plan(short, x).output, expected.value, 16 * expected.tolerance, f"{rows} rows")


def test_rows_that_are_taken_together_are_not_parted():
    whole = softlab.plan(5000, 32, policy="oneflow", device="H200")
    assert whole.rows_per_access == 2
    with pytest.raises(ValueError, match="2 at a time"):
        ladder.first_rows(whole, 3)


@pytest.mark.further
def test_counted_is_of_one_row_of_many():
    counts = ladder.counted(8192, policy="fast", rows=5000, first=2)
    assert counts["global_load_sectors"] == counts["global_store_sectors"] == 8192 * 4 / 32
    assert ladder.counted(65_536, policy="oneflow", rows=5000, first=1)["global_load_sectors"] == 3 * 65_536 * 4 / 32


def test_curves_and_explorer_of_peers_side_by_side(recording, monkeypatch):
    assert curves.dtypes(recording) == ("float32", "float16")
    found = {curve.label: curve for curve in curves.curves(recording, "float32")}
    assert set(found) == {"softlab, fast", "softlab, oneflow", "PyTorch", "QuACK", "device copy"}
    sample = found["softlab, fast"].at(64)
    assert (sample.gb_per_second, sample.microseconds, sample.what) == (2100, 14_700, "kernel of 64")
    assert curves.ceiling(recording) == 4000
    monkeypatch.setattr(bandwidth.recordings, "load", lambda name: recording)
    explorer = bandwidth.BandwidthExplorer(cols=64, recording="fast_test")
    assert explorer.shown == ("softlab, fast", "softlab, oneflow", "PyTorch")
    assert explorer.summary["fastest"] == "softlab, oneflow", "a copy is no softmax"
    assert 'data-curve="QuACK"' not in explorer.picture.value
    assert explorer.switches["QuACK"].layout.display is None
    explorer.cols = 32
    explorer.dtype = "float16"
    assert explorer.cols == 64, "32 was not recorded of it"
    assert explorer.switches["QuACK"].layout.display == "none"
    assert explorer.summary["speeds"] == {"softlab, fast": 1000, "device copy": 4000}
    with pytest.raises(ValueError, match="float32, float16 were recorded"):
        explorer.dtype = "float64"
