"""``check="collect"``: the run goes on, and everything that is wrong is a finding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from softlab.emulator.machine.reports import FaultReports
from softlab.errors import FaultSite, KernelFault
from softlab.findings import FaultSink, Finding
from softlab.kernel import Kernel
from softlab.traces import Run
from tests.faults.planted.global_races import GLOBAL_RACES, GlobalRace
from tests.sampled import each


def collected(source: str, grid: int, block: int, *args, **how) -> tuple[Run, tuple[Finding, ...]]:
    run = Kernel(f'extern "C" __global__ void k{source}', "k").run(grid, block, args, check="collect", **how)
    return run, run.findings


def test_a_run_without_faults_has_no_findings() -> None:
    x = np.arange(64, dtype=np.float32)
    run, findings = collected("(float* x) { x[threadIdx.x] *= 2; }", 1, 64, x)
    assert findings == ()
    assert run.counters["global_load_requests"] == 2
    assert x[3] == 6


def test_a_load_out_of_bounds_gives_0_and_a_store_is_left_out() -> None:
    x, y = np.ones(40, np.float32), np.zeros(100, np.float32)
    _, findings = collected(
        "(const float* x, float* y) {\n  float v = x[threadIdx.x];\n  y[2 * threadIdx.x] = v + 1;\n}", 1, 64, x, y
    )
    assert [(f.kind, f.severity, f.line, f.count) for f in findings] == [
        ("global-out-of-bounds", "error", 2, 24),
        ("global-out-of-bounds", "error", 3, 14),
    ]
    assert (y[:80:2] == 2).all()
    assert (y[80::2] == 1).all()
    assert (y[1::2] == 0).all()


@pytest.mark.parametrize("space", ["__shared__", "volatile __shared__"])
def test_shared_memory_out_of_bounds(space: str) -> None:
    y = np.zeros(64, np.int32)
    _, findings = collected(
        f"(int* y) {{ {space} int s[32];\n  s[threadIdx.x] = 1;\n  __syncthreads();\n"
        "  y[threadIdx.x] = s[threadIdx.x];\n}",
        1, 64, y,
    )  # fmt: skip
    assert [(f.kind, f.line, f.count) for f in findings] == [
        ("shared-out-of-bounds", 2, 32),
        ("shared-out-of-bounds", 4, 32),
    ]
    assert (y == np.repeat([1, 0], 32)).all()


def test_atomics_out_of_bounds_are_left_out() -> None:
    x, y = np.zeros(20, np.int32), np.full(32, 9, np.int32)
    _, findings = collected("(int* x, int* y) { y[threadIdx.x] = atomicAdd(&x[threadIdx.x], 1); }", 1, 32, x, y)
    assert [(f.kind, f.count) for f in findings] == [("global-out-of-bounds", 12)]
    assert (x == 1).all()
    assert (y == 0).all()


def test_a_misaligned_vector() -> None:
    x, y = np.ones(64, np.float32), np.zeros(32, np.float32)
    _, findings = collected(
        "(float* x, float* y) { float2 v = *(float2*)(x + threadIdx.x);\n y[threadIdx.x] = v.x + v.y; }", 1, 32, x, y
    )
    assert [(f.kind, f.count) for f in findings] == [("misaligned", 16)]
    assert (y == np.tile([2, 0], 16)).all()


def test_findings_of_one_place_are_one_with_a_count() -> None:
    c = np.zeros(1, np.float32)
    _, findings = collected("(float* c) {\n  for (int i = 0; i < 3; ++i)\n    c[0] += 1;\n}", 4, 32, c)
    races = [f for f in findings if f.severity == "error"]
    assert {(f.line, f.other_line) for f in races} == {(3, 3)}
    assert len(races) == 1
    assert races[0].count > 100
    assert races[0].symbol == "c[0]"


def test_writes_of_one_value_are_a_warning() -> None:
    c = np.zeros(1, np.int32)
    _, findings = collected("(int* c) {\n  c[0] = 1;\n}", 4, 64, c)
    assert {(f.kind, f.severity, f.line, f.other_line, f.symbol) for f in findings} == {
        ("race", "warning", 2, 2, "c[0]")
    }
    Kernel('extern "C" __global__ void k(int* c) { c[0] = 1; }', "k").run(4, 64, (c,))  # raises nothing
    y = np.zeros(64, np.int32)
    _, findings = collected(
        "(int* y) { __shared__ volatile int s;\n s = 5;\n __syncthreads();\n y[threadIdx.x] = s; }", 1, 64, y
    )
    assert {(f.kind, f.severity, f.line) for f in findings} == {("race", "warning", 2)}


def test_races_in_shared_memory_go_on() -> None:
    y = np.zeros(64, np.int32)
    _, findings = collected(
        "(int* y) { __shared__ int s[64];\n s[threadIdx.x] = threadIdx.x;\n y[threadIdx.x] = s[63 - threadIdx.x]; }",
        1, 64, y,
    )  # fmt: skip
    assert [(f.kind, f.severity, f.line) for f in findings] == [("race", "error", 3)]
    assert (y == 63 - np.arange(64)).all()


def test_an_infinite_loop_ends_its_blocks_only() -> None:
    x = np.zeros(64, np.int32)
    _, findings = collected("(int* x) { while (threadIdx.x == 5) {}\n x[threadIdx.x] = 1; }", 1, 64, x)
    assert [f.kind for f in findings] == ["infinite-loop"]
    assert "the run of the blocks 0 to 0 ends here" in findings[0].message


def test_barriers_and_lanes_go_on() -> None:
    x = np.zeros(64, np.int32)
    _, findings = collected(
        "(int* x) {\n if (threadIdx.x < 32) __syncthreads();\n else __syncthreads();\n x[threadIdx.x] = 1; }", 1, 64, x
    )
    assert {f.kind for f in findings} <= {"barrier-divergence"}
    assert (x == 1).all()
    _, findings = collected(
        "(int* x) { int v = 1;\n if (threadIdx.x < 8) v = __shfl_xor_sync(0xffffffff, v, 1);\n"
        " else x[threadIdx.x] = 2;\n if (v) x[threadIdx.x] = v; }", 1, 32, x,
    )  # fmt: skip
    assert "inactive-lane" in {f.kind for f in findings}


def test_findings_are_saved(tmp_path: Path) -> None:
    run, findings = collected("(int* c) {\n c[0] += threadIdx.x;\n}", 2, 64, np.zeros(1, np.int32))
    assert findings
    run.save(tmp_path / "run.npz")
    assert Run.load(tmp_path / "run.npz").findings == findings


def test_check_is_true_false_or_collect() -> None:
    with pytest.raises(ValueError, match="it must be True, False or"):
        Kernel('extern "C" __global__ void k() {}', "k").run(1, 1, check="all")


@pytest.mark.parametrize("planted", each(2, GLOBAL_RACES[::5]), ids=lambda p: f"{p.kernel}: {p.name}")
def test_a_planted_race_is_collected(planted: GlobalRace) -> None:
    case = planted.good
    kernel = Kernel.from_program(case.compile(planted.source))
    grid, block = planted.grid or case.grid, planted.block or case.block
    run = kernel.run(grid, block, case.arguments(), cooperative=case.cooperative, record=False, check="collect")
    assert any({f.line, f.other_line} == planted.lines for f in run.findings if f.kind == "race")
    with pytest.raises(KernelFault):
        kernel.run(grid, block, case.arguments(), cooperative=case.cooperative, record=False)


def test_a_fault_that_repeats_is_described_once(monkeypatch: pytest.MonkeyPatch) -> None:
    described = []
    describe = FaultReports._describe
    monkeypatch.setattr(FaultReports, "_describe", lambda *a: described.append(a) or describe(*a))
    body = "(volatile float* x, int n) {\n for (int i = 0; i < n; ++i)\n x[32 + threadIdx.x] = 1; }"
    _, findings = collected(body, 1, 32, np.zeros(40, np.float32), 200)
    assert [(f.kind, f.address, f.thread, f.line) for f in findings] == [("global-out-of-bounds", 160, (8, 0, 0), 3)]
    assert findings[0].count == 24 * 200
    assert len(described) <= 10


SEVERAL = """
extern "C" __global__ void several(const int* x, int* y, float* z) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t + 1];
  y[t] = s[t ^ 32];
  if (t == 3) z[100] = 1.0f;
  if (blockIdx.x == 1) z[8] = t;
  if (t < 16) y[t + 64] = __shfl_sync(0xff, t, 3);
}
"""


def test_one_launch_with_several_faults() -> None:
    arrays = np.zeros(64, np.int32), np.zeros(80, np.int32), np.zeros(64, np.float32)
    run = Kernel(SEVERAL, "several").run(2, 64, arrays, check="collect")
    first, last = (0, 0, 0), (63, 0, 0)
    assert [
        (f.kind, f.severity, f.line, f.other_line, f.thread, f.block, f.other_thread, f.other_block, f.argument,
         f.address, f.symbol, f.count)
        for f in run.findings
    ] == [
        ("global-out-of-bounds", "error", 5, None, last, first, None, None, 0, 256, "x[64]", 2),
        ("race", "error", 6, 5, first, first, (32, 0, 0), first, None, 128, "s[32]", 64),
        ("race", "warning", 6, 6, first, first, first, (1, 0, 0), 1, 0, "y[0]", 64),
        ("global-out-of-bounds", "error", 7, None, (3, 0, 0), first, None, None, 2, 400, "z[100]", 2),
        ("race", "error", 8, 8, first, (1, 0, 0), last, (1, 0, 0), 2, 32, "z[8]", 63),
        ("inactive-lane", "error", 9, None, (8, 0, 0), first, None, None, None, None, None, 16),
        ("race", "warning", 9, 9, first, first, first, (1, 0, 0), 1, 256, "y[64]", 16),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "header", ["line 7 of cooperative_groups/details/reduce.h", "line 7 of cub/warp/warp_scan.cuh"]
)
def test_what_cudas_libraries_do_is_no_warning(header: str) -> None:
    site, own = FaultSite(line=3, header=header, other_header=header), FaultSite(line=3, header="line 7 of tile.cuh")
    for places, severity, count in ((site, "warning", 0), (site, "error", 1), (own, "warning", 1)):
        sink = FaultSink(collects=True)
        sink.report(KernelFault("race", "race", places), severity=severity)
        assert len(sink.findings) == count
