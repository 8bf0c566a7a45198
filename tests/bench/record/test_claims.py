"""The recorder without a GPU: NumPy takes CuPy's role, and a softmax in NumPy for the launch of a kernel."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from softlab.bench import cases, recordings
from softlab.bench.cases import ReadyCase, TimedCase
from softlab.bench.record import claims as recorder
from softlab.bench.record import live
from softlab.bench.record.timing import microseconds
from softlab.cuda.compile import Program
from softlab.plans import plan


class Clock:
    """A GPU that takes 7 microseconds for each thing it is given."""

    def __init__(self) -> None:
        self.now = 0.0

    def work(self) -> None:
        self.now += 0.007


class FakeEvent:
    clock: Clock

    def record(self) -> None:
        self.at = self.clock.now

    def synchronize(self) -> None:
        pass


@pytest.fixture
def cupy(monkeypatch):
    """NumPy under CuPy's name, with events on a clock of their own."""
    clock = Clock()
    monkeypatch.setattr(FakeEvent, "clock", clock, raising=False)
    cuda = SimpleNamespace(Event=FakeEvent, get_elapsed_time=lambda start, stop: stop.at - start.at)
    names = ("roll", "concatenate", "asarray", "empty", "abs", "exp", "argmax", "where", "isnan", "isfinite")
    stand_in = SimpleNamespace(cuda=cuda, clock=clock, **{name: getattr(np, name) for name in names})
    stand_in.float16, stand_in.float64, stand_in.uint8 = np.float16, np.float64, np.uint8
    stand_in.copyto = lambda target, source: (clock.work(), np.copyto(target, source))
    monkeypatch.setitem(sys.modules, "cupy", stand_in)
    monkeypatch.setattr(cases, "INPUT_BYTES", 1 << 14)
    return stand_in


def prepared(dtype: str, cols: int, block_size: int = 128, counted: bool = False) -> ReadyCase:
    case = TimedCase("block_smem", block_size, 2, "column", dtype, cols, cases.rows_of(cols, dtype))
    program = Program("", "softmax<1>", "k.cuh", "sm_90", (), "12.9", "k", "", b"\x7fELF", 32, 64, 0, 0)
    return ReadyCase(case, program, 3, (block_size, 1), 4 * cols, counted)


def numpy_launch(clock, wrong=()):
    def launch(program, grid, block, args, smem):
        clock.work()
        x, y, rows, cols = args
        assert x.shape == (rows, cols)
        assert grid == (3, 1, 1)
        e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
        y[...] = e / e.sum(axis=1, keepdims=True)
        if block[0] in wrong:
            y[1, 2] *= 1.01

    return launch


def test_times_are_of_one_launch(cupy):
    turns = []
    found = microseconds(lambda turn: (turns.append(turn), cupy.clock.work()))
    assert found == pytest.approx(7)
    assert turns[3 : 3 + 16] == list(range(16)), "each turn takes other memory than the one before"


def test_every_case_is_timed_twice_and_wrong_results_are_left_out(cupy, monkeypatch, capsys):
    monkeypatch.setattr(recorder.gpu, "launch", numpy_launch(cupy.clock, wrong=(256,)))
    monkeypatch.setattr(recorder.peers, "found", lambda: ({"torch": lambda x, y: peer(x, y)}, {"PyTorch": "1"}))
    monkeypatch.setattr(recorder.time, "perf_counter", iter(range(1000)).__next__)

    def peer(x, y):
        return lambda: numpy_launch(cupy.clock)(None, (3, 1, 1), (0, 0), (x, y, *x.shape), 0)

    launches = [prepared("float32", 32), prepared("float32", 32, 256), prepared("float16", 64)]
    tables, versions = recorder.timings([*launches, prepared("float32", 128, counted=True)])
    timed = tables["timings"]
    assert list(zip(timed["kernel"], timed["dtype"], timed["block_size"], strict=True)) == [
        ("block_smem", "float16", 128),
        ("torch", "float16", 0),
        ("block_smem", "float32", 128),
        ("torch", "float32", 0),
    ]
    assert np.allclose(timed["microseconds"], 7)
    assert np.allclose(timed["again"], 7)
    assert len(tables["copies"]["microseconds"]) == 2
    assert versions == {"PyTorch": "1"}
    said = capsys.readouterr().out
    assert said.count("FAILED") == 1
    assert "block_size=256" in said
    assert "(1, 2)" in said


def test_counters_need_one_value_a_launch(cupy, monkeypatch, tmp_path):
    report = '==PROF==\n"ID","Kernel Name","{m}"\n"","","%"\n"0","softmax_a(x)","1,234"\n"1","softmax_b","50.126"\n'
    short = '"ID","Kernel Name","{m}"\n"0","softmax_a(x)","1"\n'
    monkeypatch.setattr(
        recorder.ncu, "_report", lambda metric, module: (short if "dram" in metric else report).replace("{m}", metric)
    )
    launches = [prepared("float32", 32), prepared("float32", 32, counted=True), prepared("float32", 64, counted=True)]
    table = recorder.counters(launches, tmp_path)
    assert table["cols"].tolist() == [32, 64]
    assert table["l2_hit_percent"].tolist() == [1234, 50.13]
    assert "dram_read_bytes" not in table


def test_launches_come_back_as_they_were_saved(cupy, tmp_path):
    launches = [prepared("float32", 32), prepared("float16", 64, counted=True)]
    cases.save(launches, tmp_path)
    assert cases.read(tmp_path) == launches


def test_a_recording_comes_back_as_it_was_written(cupy, tmp_path):
    rows = [
        {"kernel": kernel, "dtype": "float32", "cols": cols, "microseconds": 1.5 * cols}
        for kernel in ("warp", "block_smem")
        for cols in (64, 32)
    ]
    written = recordings.Recording(
        "small", "about", "GPU", "2026-01-01", "command", "method", {"driver": "1"}, "digest",
        {"timings": recordings.table_of(rows)},
    )  # fmt: skip
    path = tmp_path / "small.json"
    recordings.write(path, written, {"timings": ("kernel", "dtype")})
    back = recordings.read(path)
    assert back.stamp == "recorded on GPU, 2026-01-01 (driver 1)"
    some = recordings.select(back.tables["timings"], kernel="warp", cols=[32, 128])
    assert {name: column.tolist() for name, column in some.items()} == {
        "kernel": ["warp"], "dtype": ["float32"], "cols": [32], "microseconds": [48.0],
    }  # fmt: skip
    assert len(back.tables["timings"]["cols"]) == 4


def test_an_unknown_recording_is_named():
    with pytest.raises(ValueError, match="no recording 'missing'"):
        recordings.load("missing")


@pytest.mark.further
def test_the_cases_cover_the_dispatch():
    """The cases contain each plan over the columns and each of its alternatives."""
    found = {cases.case_of(made) for made in cases.timed_plans("H200")}
    for dtype, cols in (("float32", 1023), ("float16", 1024), ("float32", 12_274), ("float16", 262_144)):
        made = cases.plan(cases.rows_of(cols, dtype), cols, dtype, device="H200")
        assert cases.case_of(made) in found
    assert {case.pack_size for case in found} == {1, 2, 4, 8}
    assert {case.layout for case in found} == {"", *cases.LAYOUTS}
    assert all(0.99 < case.nbytes / (2 * cases.INPUT_BYTES) <= 1 for case in found)


def test_live_speeds_are_those_of_the_plans_and_a_copy(cupy, monkeypatch):
    monkeypatch.setattr(recorder.gpu, "launch", numpy_launch(cupy.clock))
    monkeypatch.setattr(live.cases, "prepared", lambda case, made: replace(prepared(case.dtype, case.cols), case=case))
    monkeypatch.setattr(live.Device, "present", staticmethod(lambda: live.Device.named("H200")))
    plans = [plan(cases.rows_of(cols, "float32"), cols, device="H200") for cols in (64, 1024)]
    found = live.speeds(plans)
    assert found == [pytest.approx(2 * cases.INPUT_BYTES / 7e-6 / 1e9)] * 3, "all take 7 microseconds here"
    monkeypatch.setattr(live.Device, "present", staticmethod(lambda: None))
    assert live.speeds(plans) == []


@pytest.mark.gpu
def test_live_speeds_on_a_gpu():
    """No faster than a copy, within what a measurement may be off."""
    plans = [plan(cases.rows_of(cols, "float32"), cols) for cols in (256, 4096, 16_384)]
    *found, copied = live.speeds(plans)
    assert all(0.05 * copied < speed < 1.1 * copied for speed in found)
