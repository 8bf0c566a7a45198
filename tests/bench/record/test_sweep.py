"""The sweep over random lengths, without a GPU: its cells, what it carries to the GPU, and the recording."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import pytest

from softlab.bench import recordings
from softlab.bench.record.fast_workloads import Workload
from softlab.bench.record.sweep import cells, collect, prepare
from softlab.cuda.compile import sources_digest


def test_lengths_are_log_uniform_and_the_seed_decides_them() -> None:
    drawn = cells.lengths(3)
    assert drawn == cells.lengths(3) != cells.lengths(4)
    assert len(drawn) >= 400
    assert min(drawn) >= 1
    assert max(drawn) < 1 << 24
    octaves = [sum(k <= math.log2(cols) < k + 6 for cols in drawn) for k in (0, 6, 12, 18)]
    assert min(octaves) > len(drawn) / 6


def test_each_length_has_an_operator_and_a_gradient() -> None:
    work = [work for work, _ in cells.workloads()]
    assert {w.cols for w in work if w.inputs == 1} == {w.cols for w in work if w.inputs == 2} == set(cells.lengths())
    assert {w.dtype for w in work} == set(cells.DTYPES)
    assert all(0 < w.rows * w.cols * 2 <= cells.INPUT_BYTES for w in work)
    kinds = [(w.dtype, w.inputs) for w in work]
    assert sum(a != b for a, b in pairwise(kinds)) == len(set(kinds)) - 1
    assert 0.25 < sum(torch for _, torch in cells.workloads()) / len(work) < 0.42


@pytest.mark.further
def test_what_is_prepared_is_what_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    work = [Workload("sweep", op, "float32", 1000, 700) for op in ("softmax", "softmax_backward")]
    prepare.write(tmp_path, [cells.SweepCell(one, "fast", True) for one in work], 7)
    about, jobs, programs = prepare.read(tmp_path)
    assert (about["seed"], about["sources"]) == (7, sources_digest())
    assert [job.work for job in jobs] == work
    assert [(job.kernel, job.grid, job.torch) for job in jobs] == [("fast_block", 1000, True)] * 2
    assert [programs[job.program]["name"].partition("<")[0] for job in jobs] == ["fast_block", "fast_block_backward"]
    assert bytes.fromhex(programs[0]["cubin"]).startswith(b"\x7fELF")
    assert capsys.readouterr().out.startswith("2 jobs, 2 kernels")


def raw(failed: list[str]) -> dict[str, object]:
    cell = {"op": "softmax", "dtype": "float16", "rows": 1000, "cols": 1000, "kernel": "fast_block"}
    return {
        "failed": failed, "copies": [{"dtype": "float16", "copy": 900.0, "sum": 1.0}, {"copy": 1000.0, "sum": 2.0}],
        "times": [{**cell, "label": "fast", "us": [4.0, 5.0, 90.0]}, {**cell, "label": "torch", "us": [8.0]}],
        "device": "a GPU", "date": "2026-01-01", "seed": 3, "versions": {}, "sources": "abc",
    }  # fmt: skip


def test_shares_are_of_the_fastest_copy(tmp_path: Path) -> None:
    (tmp_path / "sweep.json").write_text(json.dumps(raw([])))
    collect.collect(tmp_path, tmp_path / "found.json")
    table = recordings.read(tmp_path / "found.json").tables["cells"]
    assert (table["share"].tolist(), table["torch_share"].tolist()) == ([0.8], [0.5])


def test_a_failed_job_makes_no_recording(tmp_path: Path) -> None:
    (tmp_path / "sweep.json").write_text(json.dumps(raw(["fast on x: WrongResult"])))
    with pytest.raises(SystemExit, match="fast on x: WrongResult"):
        collect.collect(tmp_path, tmp_path / "found.json")


RECORDED = [name for name in recordings.names() if name.startswith("sweep_")]


@pytest.mark.parametrize("name", RECORDED)
def test_a_recording_has_every_cell(name: str) -> None:
    recording = recordings.load(name)
    table, seed = recording.tables["cells"], int(recording.command.split()[5])
    listed = zip(*(table[key].tolist() for key in ("op", "dtype", "cols", "rows")), strict=True)
    assert set(listed) == {(w.op, w.dtype, w.cols, w.rows) for w, _ in cells.workloads(seed)}
