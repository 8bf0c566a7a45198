"""The script that runs all cases under compute-sanitizer, with a program in the tool's place."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.faults import sanitizer

#: Case 1 ends the process, case 2 hangs (the process is killed), case 4 gets its report late. With ``old`` in the
#: environment the tool refuses an option.
_TOOL = """#!{python}
import os, sys
if "--version" in sys.argv:
    print("the tool\\nVersion 1")
    sys.exit()
if os.environ["TOOL"] == "old" and "--destroy-on-device-error" in sys.argv:
    sys.exit("unknown option")
tool = sys.argv[sys.argv.index("--tool") + 1]
jobs = [os.path.basename(path)[:-4] for path in sys.argv[sys.argv.index("launch") + 1:]]
late = ""
for job in jobs:
    print("\\nbegin", job)
    if late:
        print(late)
        late = ""
    if job == "case_0001":
        print("========= Invalid __global__ read of size 4 bytes")
        print("=========     at f+0x10 in /somewhere/case_0001.cu:7")
        print("\\nfailed case_0001: cuCtxSynchronize gives CUDA error 719")
        print("========= Program hit CUDA_ERROR_LAUNCH_FAILED on cuCtxSynchronize")
        print("\\nend case_0001")
        sys.exit(3)
    if job == "case_0002":
        sys.exit(-14)
    if job == "case_0004" and tool == "racecheck":
        late = "========= Error: Race reported at f+0x10 in case_0004.cu:3\\n=========     and g+0x20 in help.cuh:5"
    print("\\nend", job)
print("========= ERROR SUMMARY: 1 error")
"""


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "compute-sanitizer"
    path.write_text(_TOOL.format(python=sanitizer.sys.executable))
    path.chmod(0o755)
    monkeypatch.setattr(sanitizer, "COMMAND", str(path))
    monkeypatch.setattr(sanitizer, "BATCH", 4)
    return path


def _jobs(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        (folder / f"{sanitizer.job_name(number)}.npz").touch()
    return folder


@pytest.mark.parametrize("generation", ["new", "old"])
def test_no_job_hides_the_next(tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, generation: str) -> None:
    monkeypatch.setenv("TOOL", generation)
    folder, out = _jobs(tmp_path / "jobs", 7), tmp_path / "out"
    sanitizer.run(folder, out)
    raw = json.loads((out / "sanitizer.json").read_text())
    assert ("kernel" in raw["about"]["command"]) == (generation == "new")
    assert raw["about"]["not run"] == 0
    for job, answers in raw["answers"].items():
        assert set(answers) == set(sanitizer.TOOLS)
        assert all(answer["ended"] == (job != "case_0002") for answer in answers.values())
    entry = {"job": "case_0001", "file": "kernel.cu"}
    memcheck = sanitizer.condensed(raw["answers"]["case_0001"]["memcheck"], entry)
    assert memcheck == {"says": "Invalid __global__ read of size 4 bytes", "places": ["kernel.cu:7"]}
    race = sanitizer.condensed(raw["answers"]["case_0004"]["racecheck"], {"job": "case_0004", "file": "kernel.cu"})
    assert race["places"] == ["kernel.cu:3", "help.cuh:5"]
    assert raw["answers"]["case_0005"]["racecheck"]["log"] == ""
    assert sanitizer.condensed(raw["answers"]["case_0002"]["memcheck"], entry) == {"says": None, "ended": False}


def test_what_the_time_does_not_suffice_for_is_said(
    tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setenv("TOOL", "new")
    folder, out = _jobs(tmp_path / "jobs", 5), tmp_path / "out"
    sanitizer.run(folder, out, whole_limit=0)
    assert "not run: 20" in capsys.readouterr().out
    index = {"a": {"job": "case_0000", "file": "a.cu"}, "b": {"left out": "refused"}}
    (folder / "cases.json").write_text(json.dumps(index))
    sanitizer.collect(out, folder, tmp_path / "record.json")
    record = json.loads((tmp_path / "record.json").read_text())
    assert record["about"]["not run"] == 20
    assert record["cases"] == {"a": {}, "b": {"left out": "refused"}}


@pytest.mark.further
def test_a_process_that_takes_too_long_is_cut_off(tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its last job has no answer; those before have theirs."""
    monkeypatch.setenv("TOOL", "new")
    tool.write_text(tool.read_text().replace("sys.exit(-14)", "sys.stdout.flush(); __import__('time').sleep(60)"))
    jobs = [sanitizer.job_name(number) for number in (3, 2, 5)]
    work = sanitizer._process(_jobs(tmp_path / "jobs", 6), sanitizer.Work("memcheck", jobs), (), 2)
    assert set(work.answers) == {"case_0003"}


def test_a_job_keeps_what_arrays_share(tmp_path: Path) -> None:
    whole = np.arange(10, dtype=np.float32)
    arguments = [np.int32(5), whole[:8], None, np.arange(3, dtype=np.int64), whole[4:], np.float64(1.5)]
    sanitizer.write_job(tmp_path / "job.npz", b"code", "f", (2,), (3, 4), 16, arguments, cooperative=True)
    with np.load(tmp_path / "job.npz") as job:
        about = json.loads(bytes(job["about"]))
        assert (about["grid"], about["block"], about["smem"], about["cooperative"]) == ([2, 1, 1], [3, 4, 1], 16, True)
        assert about["buffers"] == 2
        assert job["buffer 0"].view(np.float32).tolist() == whole.tolist()
        assert job["buffer 1"].tolist() == [0, 1, 2]
        described = about["arguments"]
    assert described[1] == {"buffer": 0, "offset": 0}
    assert described[4] == {"buffer": 0, "offset": 16}
    assert [bytes.fromhex(described[n]["bytes"]) for n in (0, 2, 5)] == [
        b"\5\0\0\0",
        bytes(8),
        np.float64(1.5).tobytes(),
    ]
