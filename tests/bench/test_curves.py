"""Curves of the recording: every sample is a row of it, and the best is the best."""

from __future__ import annotations

import json

import pytest

from softlab.bench import curves, recordings
from softlab.plans import plan


@pytest.fixture(scope="module")
def recording():
    return recordings.load()


@pytest.fixture(scope="module")
def rows():
    """(kernel, block size, pack, layout, dtype) -> {cols: GB/s}, straight from the file."""
    table = json.loads((recordings.folder() / "claims_h200.json").read_text())["tables"]["timings"]
    item = {"float32": 4, "float16": 2}
    return {
        tuple(series["of"]): {
            cols: 2 * rows * cols * item[series["of"][4]] / ((first + again) / 2) / 1e3
            for cols, rows, first, again in series["rows"]
        }
        for series in table["series"]
    }


def curve(recording, label, dtype):
    return next(found for found in curves.curves(recording, dtype) if found.label == label)


def test_peers_and_plans_are_rows_of_the_file(recording, rows):
    found = curve(recording, "cuDNN", "float16")
    assert {s.cols: pytest.approx(s.gb_per_second) for s in found.samples} == rows["cudnn", 0, 0, "", "float16"]
    for cols in (32, 1023, 1024, 8192, 65_536):
        made = plan(4096, cols, "float32", device="H200")
        of = (made.kernel, made.block_size, made.pack_size, made.layout or "", "float32")
        sample = curve(recording, "softlab, as planned", "float32").at(cols)
        assert sample.gb_per_second == pytest.approx(rows[of][cols])
        assert sample.what == f"{made.kernel}, blocks of {made.block_size}"


def test_the_best_block_is_the_fastest_of_those_recorded(recording, rows):
    found = curve(recording, "block_uncached, best", "float32")
    for cols in (1023, 16_384, 262_144):
        pack = 1 if cols % 2 else 2
        speeds = {size: rows["block_uncached", size, pack, "", "float32"][cols] for size in (128, 256, 512, 1024)}
        assert found.at(cols).gb_per_second == pytest.approx(max(speeds.values()))
        assert found.at(cols).what == f"block_uncached, blocks of {max(speeds, key=speeds.__getitem__)}"


def test_samples_ascend_and_speeds_are_bytes_over_time(recording):
    for dtype in ("float32", "float16"):
        for found in curves.curves(recording, dtype):
            cols = [sample.cols for sample in found.samples]
            assert cols == sorted(set(cols))
            for sample in found.samples:
                nbytes = sample.gb_per_second * sample.microseconds * 1e3
                assert nbytes == pytest.approx(2**29, rel=0.01), "256 MiB read, 256 MiB written"


@pytest.mark.further
def test_planned_is_never_faster_than_the_best_of_its_kernel(recording):
    for dtype in ("float32", "float16"):
        for sample in curve(recording, "softlab, as planned", dtype).samples:
            kernel = sample.what.partition(",")[0]
            best = curve(recording, kernel if kernel == "warp" else f"{kernel}, best", dtype).at(sample.cols)
            assert sample.gb_per_second <= best.gb_per_second * 1.0001
