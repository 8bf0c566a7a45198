"""The recorder of the cache without a GPU: which launches it makes, and what a row of its table says."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from softlab.bench import cases, recordings
from softlab.bench.record import cache, case_buffers


def launches():
    """What would be launched on an H200, without compiling it."""
    found = []
    for made, grid in cache.plans("H200"):
        found.append(SimpleNamespace(case=cases.case_of(made), grid=grid or made.grid, fewer=grid is not None))
    return found


def test_every_launch_reads_much_more_than_the_cache_holds():
    for launch in launches():
        assert launch.case.kernel == "block_uncached"
        assert 0.98 < launch.case.nbytes / 2**29 <= 1
        assert launch.grid <= launch.case.rows


def test_the_rows_in_flight_reach_from_far_below_the_cache_to_far_above_it():
    """132 SMs hold 2048 / block_size blocks each: the bytes of their rows, computed here without the plan."""
    flight = {(entry.fewer, entry.case.block_size): set() for entry in launches()}  # whether by hand, block size -> MiB
    for entry in launches():
        resident = min(132 * 2048 // entry.case.block_size, entry.grid)
        flight[entry.fewer, entry.case.block_size].add(resident * entry.case.cols / 2**18)
    assert set(flight) == {(False, 256), (False, 512), (False, 1024), (True, 1024)}
    assert all(min(sizes) < 60 < max(sizes) for sizes in flight.values())
    # A grid made smaller by hand leads down where no block size can: rows of 1 MiB.
    assert min(flight[True, 1024]) < 10


def test_times_and_grids_are_put_into_one_table(monkeypatch):
    made, grid = next((made, grid) for made, grid in cache.plans("H200") if grid)
    case = cases.case_of(made)
    prepared = [SimpleNamespace(case=case, grid=grid), SimpleNamespace(case=case, grid=made.grid)]
    bench = SimpleNamespace(copies=[], copy=lambda: bench.copies.append(130.0), check=lambda case, launch: None)
    monkeypatch.setattr(case_buffers, "CaseBuffers", lambda: bench)
    monkeypatch.setattr(case_buffers, "warm_up", lambda bench: None)
    monkeypatch.setattr(case_buffers, "kernel_launch", lambda bench, launch: launch.grid)
    monkeypatch.setattr(cache, "microseconds", lambda launch: 10.0 * launch)
    table, copies = cache.timings(prepared)
    assert table["grid"].tolist() == [grid, made.grid]
    assert table["fewer"].tolist() == [True, False]
    assert table["microseconds"].tolist() == [10 * grid, 10 * made.grid]
    assert copies["microseconds"].tolist() == [130, 130]


def test_the_recording_keeps_what_is_true_of_a_row(tmp_path):
    rows = [
        {"block_size": 1024, "fewer": fewer, "cols": 65_536, "rows": 1024, "grid": grid, "microseconds": 1.0}
        for fewer, grid in ((False, 1024), (True, 132), (True, 33))
    ]
    tables = {"cache": recordings.table_of(rows)}
    written = recordings.Recording("c", "about", "GPU", "2026-01-01", "command", "method", {}, "digest", tables)
    recordings.write(tmp_path / "c.json", written, cache.TABLE_KEYS)
    back = recordings.read(tmp_path / "c.json").tables["cache"]
    by_hand = recordings.select(back, fewer=True)
    assert sorted(by_hand["grid"].tolist()) == [33, 132]
    assert back["fewer"].dtype == np.bool_
