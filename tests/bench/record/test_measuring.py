"""The recorder of measuring without a GPU: NumPy takes CuPy's role, and every launch takes 7 microseconds."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from softlab.bench.record import measuring as recorder
from softlab.bench.record.case_buffers import WrongResult
from softlab.bench.recordings import select
from softlab.plans import plan
from tests.bench.record.test_claims import Clock, FakeEvent

LARGEST = 1 << 20


@pytest.fixture
def bench(monkeypatch):
    """A bench on small memory; ``bench.seen`` are the addresses that the launches read, in order."""
    made = plan(32, recorder.COLS, device="H200")
    monkeypatch.setattr(recorder, "plan", lambda rows, cols: made)
    clock = Clock()
    monkeypatch.setattr(FakeEvent, "clock", clock, raising=False)
    seen: list[int] = []
    capturing: list[list] = []

    class Stream:
        def synchronize(self):
            pass

        def begin_capture(self):
            capturing.append([])

        def end_capture(self):
            recorded = capturing.pop()
            return SimpleNamespace(launch=lambda: [run(*entry) for entry in recorded])

    def run(x, y, rows, cols):
        clock.work()
        seen.append(x.__array_interface__["data"][0])
        e = np.exp(x.reshape(rows, cols).astype(np.float64))
        y.reshape(rows, cols)[...] = e / e.sum(axis=1, keepdims=True)

    def launch(program, grid, block, args, smem):
        capturing[-1].append(args) if capturing else run(*args)

    cuda = SimpleNamespace(
        Event=FakeEvent,
        get_elapsed_time=lambda start, stop: stop.at - start.at,
        get_current_stream=Stream,
    )
    names = ("asarray", "empty_like", "exp", "abs")
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda, **{name: getattr(np, name) for name in names}))
    monkeypatch.setattr(recorder.gpu, "launch", launch)
    shape = {"program": None, "grid": 1, "block": (128, 1), "smem_bytes": 0}
    monkeypatch.setattr(recorder, "prepared", lambda case, made: SimpleNamespace(**shape))
    monkeypatch.setattr(recorder, "LARGEST", LARGEST)
    monkeypatch.setattr(recorder, "ROTATED_BYTES", LARGEST)
    monkeypatch.setattr(recorder, "SIZES", (1 << 18, 1 << 19, LARGEST))
    monkeypatch.setattr(recorder, "LARGE_ROWS", 64)
    monkeypatch.setattr(recorder, "TURNS", 3)
    monkeypatch.setattr(recorder, "WAYS_REPEATS", 25)
    monkeypatch.setattr(recorder.time, "sleep", lambda seconds: None)
    bench = recorder.KernelBuffers()
    bench.seen = seen
    return bench


def test_a_wrong_softmax_is_not_measured(bench):
    bench.check()
    bench.launch = lambda nbytes: lambda turn: None  # a kernel that writes nothing
    with pytest.raises(WrongResult):
        bench.check()


def test_rotating_buffers_read_other_memory_each_time(bench):
    launch = bench.launch(1 << 18, 4)
    for turn in range(8):
        launch(turn)
    assert len(set(bench.seen[:4])) == 4
    assert bench.seen[:4] == bench.seen[4:]
    assert np.diff(sorted(set(bench.seen))).min() == 1 << 18, "the buffers do not overlap"


@pytest.mark.further
def test_every_stopwatch_gives_the_time_of_one_launch(bench):
    table = recorder.sizes(bench)
    assert len(table["bytes"]) == 3 * 2 * 2
    assert np.allclose(table["microseconds"], 7)
    table = recorder.ways(bench)
    on_gpu = select(table, way=["events, 1 launch", "events, 20 launches", "graph of 20"])
    assert len(on_gpu["rows"]) == 6
    assert np.allclose([on_gpu[name] for name in ("microseconds", "low", "high")], 7)
    assert (select(table, way=["host, no wait", "host, with wait"])["microseconds"] > 0).all()


def test_turns_begin_with_the_first_use(bench):
    table = recorder.turns(bench)
    assert table["start"].tolist() == ["first use"] * 3 + ["after a rest"] * 3
    assert table["turn"].tolist() == [0, 1, 2] * 2
    assert np.allclose(table["events"], 7)


@pytest.mark.parametrize("data", recorder.CONTENTS)
def test_every_kind_of_data_has_a_softmax(bench, data):
    bench.fill(data)
    values = bench.source
    assert np.isfinite(np.exp(values)).all()
    assert (np.unique(values).size == 1) == (data == "zeros")


def test_contents_say_what_the_gpu_did_meanwhile(bench, monkeypatch):
    answer = SimpleNamespace(poll=lambda: 0, communicate=lambda: ("1980, 3201, 512.30\n", None))
    monkeypatch.setattr(recorder.subprocess, "Popen", lambda *arguments, **options: answer)
    monkeypatch.setattr(recorder, "WAYS_REPEATS", 2)
    table = recorder.contents(bench)
    assert table["data"].tolist() == list(recorder.CONTENTS) * 2
    assert np.allclose(table["microseconds"], 7)
    assert table["watts"].tolist() == [512.3] * 6
