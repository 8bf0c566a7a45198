"""Fused against separate kernels: both compute the same; the recorder, with the emulator instead of the GPU."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from softlab.bench import fusing, recordings
from softlab.bench.fusing import PARTS, FusionCase
from softlab.bench.record import fusing as recorder
from softlab.bench.record.case_buffers import WrongResult
from softlab.hardware.devices import Device
from softlab.kernel import Kernel
from tests.bench.record.test_claims import Clock, FakeEvent
from tests.sampled import turns

SECTOR = 32


@pytest.mark.parametrize(
    ("parts", "dtype"),
    turns(2, map(pytest.param, [(), ("scale", "mask"), ("bias", "causal"), PARTS]), ["float32", "float16"]),
)
def test_fused_and_separate_agree_and_move_what_they_must(dtype: str, parts: tuple[str, ...]) -> None:
    """``counters`` compares the results. The sectors are the least bytes, where no matrix is shared."""
    problem = FusionCase(1, 32, 64, dtype, parts)
    one, apart = fusing.counters(problem)
    assert list(apart) == [
        *(p for p in PARTS if p in parts and p != "dropout"),
        "softmax",
        *(["dropout"] * ("dropout" in parts)),
    ]
    moved = [(c["global_load_sectors"] + c["global_store_sectors"]) * SECTOR for c in (one, *apart.values())]
    least, least_apart = problem.least_bytes()
    assert sum(moved[1:]) == least_apart
    if "causal" in parts:
        assert moved[0] < least
    else:
        assert moved[0] == least


def test_what_must_be_moved() -> None:
    """By hand: 4 bytes in, 4 out for each kernel; the mask's byte for each of its own elements."""
    assert FusionCase(3, 8, 16, parts=()).least_bytes() == (3 * 8 * 16 * 8,) * 2
    assert FusionCase(1, 8, 16, parts=("scale", "mask")).least_bytes() == (8 * 16 * 9, 8 * 16 * 25)
    assert FusionCase(4, 8, 16, "float16", ("mask",)).least_bytes() == (4 * 8 * 16 * 4 + 128, 4 * 8 * 16 * 8 + 128)
    assert FusionCase(1, 8, 16, parts=("dropout",)).least_bytes() == (8 * 16 * 12, 8 * 16 * 16)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"parts": ("relu",)}, "parts .'relu'. are not among scale, bias"),
        ({"cols": 6}, "multiple of 4"),
        ({"dtype": "float64"}, "not float64"),
    ],
)
def test_wrong_problems(keywords, message) -> None:
    with pytest.raises(ValueError, match=message):
        FusionCase(**{"matrices": 1, "rows": 2, "cols": 8, **keywords})


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The emulator instead of the GPU; ``calls`` are the kernels that were launched."""
    cupy = pytest.importorskip("cupy")
    clock, calls = Clock(), []
    monkeypatch.setattr(FakeEvent, "clock", clock, raising=False)
    kernels: dict[object, Kernel] = {}

    def launch(program, grid, block, args, smem):
        clock.work()
        calls.append(program.name)
        kernels.setdefault(program, Kernel.from_program(program)).run(grid, block, args, smem, record=False)

    for name in ("asarray", "full_like", "allclose", "zeros"):
        monkeypatch.setattr(cupy, name, getattr(np, name))
    monkeypatch.setattr(cupy, "copyto", lambda to, x: clock.work())
    monkeypatch.setattr(cupy.cuda, "Event", FakeEvent)
    monkeypatch.setattr(cupy.cuda, "get_elapsed_time", lambda start, stop: stop.at - start.at)
    monkeypatch.setattr(recorder.gpu, "launch", launch)
    monkeypatch.setattr(recorder, "resolve", lambda device: Device.named("H200"))
    monkeypatch.setattr(recorder, "COLS", (64,))
    monkeypatch.setattr(recorder, "FUSIONS", ((), ("scale", "mask", "dropout")))
    return SimpleNamespace(calls=calls)


@pytest.mark.further
def test_a_recording(gpu: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    def described(out, module, *, about, method, nvrtc, versions, tables):
        return recordings.Recording(out.stem, about, "an emulator", "today", module, method, versions, "", tables)

    monkeypatch.setattr(recorder, "described", described)
    assert recorder.main([str(tmp_path / "fusing_h200.json"), "--elements", "2048", "--processes", "0"]) == 0
    read = recordings.read(tmp_path / "fusing_h200.json")
    times = recordings.select(read.tables["times"], dtype="float32", parts="scale+mask+dropout")
    taken = dict(zip(times["way"], times["microseconds"], strict=True))
    assert taken == {"fused": 7, "separate": 28}  # one launch, and four
    assert dict(zip(times["way"], times["bytes"], strict=True)) == {"fused": 2048 * 13, "separate": 2048 * 33}
    assert len(read.tables["times"]["cols"]) == 2 * 2 * 2
    assert list(recordings.select(read.tables["copies"], dtype="float16")["microseconds"]) == [7, 7]


def test_all_that_is_timed_is_compiled_before(gpu: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = FusionCase(1, 32, 64, parts=("scale", "mask", "dropout"))
    recorder.compiled(problem)
    monkeypatch.setattr("softlab.cuda.compile._compile", None)  # what is not in the cache by now cannot be had
    bench = recorder.FusionBuffers(problem)
    bench.fused()(0)
    bench.separate()(0)
    assert len(gpu.calls) == 5


def test_a_wrong_result_is_not_timed(gpu: SimpleNamespace) -> None:
    bench = recorder.FusionBuffers(FusionCase(1, 32, 64))
    with pytest.raises(WrongResult, match="disagree"):
        bench.check(bench.fused(), lambda turn: (bench.separate()(turn), bench.last.fill(0)))


@pytest.mark.gpu
def test_on_the_gpu() -> None:
    for problem in recorder.problems(1 << 18)[::7]:
        assert all(row["microseconds"] > 0 for row in recorder.measured(problem))
