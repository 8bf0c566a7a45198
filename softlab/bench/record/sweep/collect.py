"""Make the recording of what ``measure`` wrote: ``collect OUT FILE.json``."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

from softlab.bench import recordings
from softlab.bench.record.describing import short
from softlab.bench.record.sweep.cells import INPUT_BYTES, LENGTHS, TORCH_SHARE
from softlab.bench.record.sweep.measure import BUFFERS, LAUNCHES, REPLAYS

METHOD = (
    f"Median of {REPLAYS} replays of a CUDA graph of {LAUNCHES} launches, {INPUT_BYTES >> 20} MiB of each input, "
    f"{BUFFERS} buffers in turn. Results agree with higher precision. {LENGTHS} row lengths, log-uniform from 1 to "
    "2^24; each has an operator and a gradient, of types drawn at random. GB/s count each input read once and the "
    "result written once. 'share' divides by the fastest device copy of the run, for gradients by the fastest sum of "
    f"two arrays into a third. PyTorch is measured on one of {TORCH_SHARE} cells; 0 where it is not."
)
TABLE_KEYS = {"cells": ("op", "dtype", "kernel"), "ceiling": ("what",)}


def collect(out: Path, file: Path) -> None:
    """Write the recording of a sweep."""
    raw = json.loads((out / "sweep.json").read_text())
    if raw["failed"]:
        raise SystemExit("\n".join(["these jobs failed, so there is no recording:", *raw["failed"]]))
    best = {name: max(copy[name] for copy in raw["copies"]) for name in ("copy", "sum")}
    torch = {_cell(row): _speed(row) for row in raw["times"] if row["label"] == "torch"}
    cells = []
    for row in raw["times"]:
        if row["label"] != "fast":
            continue
        ceiling = best["sum" if row["op"].endswith("_backward") else "copy"]
        cells.append({
            "op": row["op"], "dtype": row["dtype"], "kernel": row["kernel"], "cols": row["cols"], "rows": row["rows"],
            "share": round(_speed(row) / ceiling, 4), "torch_share": round(torch.get(_cell(row), 0.0) / ceiling, 4),
        })  # fmt: skip
    tables = {"cells": cells, "ceiling": [{"what": name, "gigabytes_per_second": short(v)} for name, v in best.items()]}
    recording = recordings.Recording(
        name=file.stem,
        about='Policy "fast" at row lengths drawn at random.',
        device=raw["device"],
        date=raw["date"],
        command=f"python -m softlab.bench.record.sweep prepare FOLDER {raw['seed']} | measure | collect",
        method=METHOD,
        versions=raw["versions"],
        sources=raw["sources"],
        tables={name: recordings.table_of(rows) for name, rows in tables.items()},
    )
    recordings.write(file, recording, TABLE_KEYS)


def _cell(row: dict) -> tuple:
    return row["op"], row["dtype"], row["rows"], row["cols"]


def _speed(row: dict) -> float:
    """GB/s of a row of ``measure``."""
    inputs = 2 if row["op"].endswith("_backward") else 1
    size = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}[row["dtype"]]
    return (inputs + 1) * row["rows"] * row["cols"] * size / statistics.median(row["us"]) / 1e3
