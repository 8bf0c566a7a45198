"""Loops of several blocks that run as one function give what single steps give: results, counters, records, faults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softlab import KernelFault
from softlab.emulator.machine import region_runs
from softlab.emulator.machine.native import available
from softlab.emulator.machine.native_region import RegionFunction, Status
from softlab.instruments.recorder import Recorder
from softlab.kernel import Kernel
from tests.emulator.test_compiled_blocks import assert_same, results
from tests.sampled import each, turns

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not installed")

TABLE = """
extern "C" __global__ void table(const unsigned* __restrict__ table, unsigned* y, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, value = i * 2654435761u, sum = 0;
  for (int k = 0; k < n; ++k) {
    #pragma unroll
    for (int j = 0; j < 4; ++j)
      if (value >> (k + j & 31) & 1) sum ^= table[k * 4 + j] + table[(value + k) % 64];
    if (sum % 7 == 3) { sum += k; continue; }
    value = value * 1664525u + sum;
  }
  y[i] = sum;
}
"""
WIDE = """
extern "C" __global__ void wide(const float4* x, const unsigned char* flags, float* y, int n) {
  float a = 0, b = 1;
  for (int k = 0; k < n; ++k) {
    float4 v = x[(threadIdx.x * 3 + k) % 40];
    if (flags[(threadIdx.x + k) % 50]) a += v.x * v.y; else if (v.z > 0.5f) b -= v.w; else a -= b;
    if (a > 5.0f) break;
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = a + b;
}
"""
NESTED = """
__constant__ int weights[8] = {3, 1, 4, 1, 5, 9, 2, 6};
extern "C" __global__ void nested(const int* x, long long* y, int n) {
  long long sum = 0;
  for (int k = 0; k < n; ++k) {
    int left = x[(threadIdx.x + k) % 32] & 15;
    while (left > 0) { sum += weights[left & 7]; left -= (sum & 1) ? 1 : 2; }
    if (sum & 4) sum ^= k;
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""
BYTES = np.arange(50, dtype="u1") % 3 % 2
RANDOM = np.random.default_rng(8)
NUMBERS, VECTORS = RANDOM.integers(0, 2**32, 128, "u4"), RANDOM.random(160, "f4")
CASES: dict[str, tuple] = {
    "table": (TABLE, "table", 3, 64, [NUMBERS, np.zeros(192, "u4"), 20]),
    "part of a warp": (TABLE, "table", 2, 40, [NUMBERS, np.zeros(80, "u4"), 9]),
    "several batches": (TABLE, "table", 40, 1024, [NUMBERS, np.zeros(40960, "u4"), 3]),
    "one lane": (TABLE, "table", 1, 1, [NUMBERS, np.zeros(1, "u4"), 30]),
    "wide": (WIDE, "wide", 2, 96, [VECTORS, BYTES, np.zeros(192, "f4"), 60]),
    "nested": (NESTED, "nested", 2, 64, [NUMBERS[:32].view("i4"), np.zeros(128, "i8"), 25]),
}


@pytest.fixture
def statuses(monkeypatch: pytest.MonkeyPatch) -> list[Status]:
    """The status of each call of a region's function."""
    found: list[Status] = []
    run = RegionFunction.run

    def noted(self: RegionFunction, *arguments: Any) -> Status:
        found.append(run(self, *arguments))
        return found[-1]

    monkeypatch.setattr(RegionFunction, "run", noted)
    return found


@pytest.mark.parametrize(("case", "check"), turns(2, CASES, ["collect", False]))
def test_a_run_is_the_same(case: str, check: Any, statuses: list[Status]) -> None:
    source, name, grid, block, args = CASES[case]
    view = {"check": check, "blocks": (0, grid - 1)}
    run, expected = results(source, name, grid, block, args, "none", **view)
    assert not statuses
    compiled, got = results(source, name, grid, block, args, "all", **view)
    for one, two in zip(got, expected, strict=True):
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one.view("u1"), two.view("u1"))
    assert_same(compiled, run)
    assert compiled.estimated_instructions == run.estimated_instructions
    assert compiled.remarks == run.remarks
    if block * min(grid, 16) <= 4096:
        assert set(statuses) == {Status.DONE}


def test_records_end_at_the_same_access(monkeypatch: pytest.MonkeyPatch, statuses: list[Status]) -> None:
    for limit in (1, 37, 100):
        monkeypatch.setattr(Recorder.__init__, "__defaults__", ((0,), limit, None))
        run, _ = results(*CASES["table"], "none")
        compiled, _ = results(*CASES["table"], "all")
        assert_same(compiled, run)
        assert limit <= len(run.global_) <= limit + 2
    assert statuses


def both(source: str, name: str, block: int, arguments: Any, **options: Any) -> list[tuple]:
    told = []
    for how in ("none", "all"):
        with pytest.raises(KernelFault) as caught:
            Kernel(source, name).run(1, block, arguments(), compiled=how, **options)
        fault = caught.value
        told.append((str(fault), fault.kind, fault.line, fault.thread, fault.block, fault.address))
    return told


@pytest.mark.parametrize("many", [0, 1, 5000])
def test_a_bad_address_is_the_same_fault(many: int, statuses: list[Status]) -> None:
    source = """
    extern "C" __global__ void beyond(const unsigned* x, unsigned* y, int from, int size) {
      unsigned sum = threadIdx.x;
      for (int k = 0; k < 100000; ++k) {
        if (sum & 1) sum = sum * 5 + 1; else sum /= 2;
        sum += x[k < from ? k & size - 1 : k - from + threadIdx.x];
      }
      y[threadIdx.x] = sum;
    }
    """
    none, compiled = both(source, "beyond", 64, lambda: (np.ones(64, "u4"), np.zeros(64, "u4"), many, 64))
    assert none == compiled
    assert none[1] == "global-out-of-bounds"
    assert Status.BAD_ADDRESS in statuses


def test_faults_that_are_collected_are_the_same() -> None:
    source = """
    extern "C" __global__ void beyond(const unsigned* x, unsigned* y) {
      unsigned sum = threadIdx.x;
      for (int k = 0; k < 50; ++k) { if (sum & 1) sum = sum * 5 + 1; sum += x[k + threadIdx.x]; }
      y[threadIdx.x] = sum;
    }
    """
    args = [np.arange(80, dtype="u4"), np.zeros(64, "u4")]
    run, expected = results(source, "beyond", 1, 64, args, "none", check="collect")
    compiled, got = results(source, "beyond", 1, 64, args, "all", check="collect")
    np.testing.assert_array_equal(got[1], expected[1])
    assert_same(compiled, run)
    assert run.findings


@pytest.mark.parametrize("budget", each(2, [2000, 2003, 9999, 50_000]))
def test_a_loop_ends_at_the_same_budget(budget: int) -> None:
    arguments = NUMBERS, np.zeros(64, "u4"), 1 << 20
    source = TABLE.replace("table[k * 4 + j]", "table[k * 4 + j & 63]")
    none, compiled = both(source, "table", 64, lambda: arguments, budget=budget)
    assert none == compiled
    assert "instructions" in none[0]


def test_an_endless_loop_is_the_same_fault(statuses: list[Status]) -> None:
    source = """
    extern "C" __global__ void endless(const unsigned* x, unsigned* y) {
      unsigned u = threadIdx.x + 1, turns = 0;
      while (u != 0) { if (u & 1) u = 3 * u + x[0]; else u /= 2; ++turns; }
      y[threadIdx.x] = turns;
    }
    """
    none, compiled = both(source, "endless", 32, lambda: (np.ones(1, "u4"), np.zeros(32, "u4")))
    assert none == compiled
    assert none[1] == "infinite-loop"
    assert Status.REPEATS in statuses


@pytest.mark.further
def test_a_long_loop_whose_state_changes_is_not_taken_for_endless(statuses: list[Status]) -> None:
    """It runs for more steps than until a state is kept, and each later state is another one."""
    numbers = np.random.default_rng(1).integers(0, 2**32, 4 * 3000, "u4")
    args = [numbers, np.zeros(64, "u4"), 3000]
    compiled, got = results(TABLE, "table", 1, 64, args, "all", record=False)
    assert statuses
    assert Status.REPEATS not in statuses
    run, expected = results(TABLE, "table", 1, 64, args, "none", record=False)
    np.testing.assert_array_equal(got[1], expected[1])
    assert compiled.findings == run.findings


def test_a_loop_that_waits_for_another_warp_is_left_to_the_schedule(statuses: list[Status]) -> None:
    source = """
    extern "C" __global__ void flag(volatile int* flag, int* y) {
      int turns = 0;
      if (threadIdx.x < 32) { while (*flag == 0) if (turns < 3) ++turns; }
      else { for (int k = 0; k < 9; ++k) if (k * turns < 5) turns += k; *flag = 1; }
      y[threadIdx.x] = turns;
    }
    """
    args = [np.zeros(1, "i4"), np.zeros(64, "i4")]
    run, expected = results(source, "flag", 1, 64, args, "none", check=False)
    compiled, got = results(source, "flag", 1, 64, args, "all", check=False)
    np.testing.assert_array_equal(got[1], expected[1])
    assert_same(compiled, run)


def test_a_loop_with_a_race_in_what_it_reads_is_reported() -> None:
    source = """
    extern "C" __global__ void race(unsigned* x, unsigned* y) {
      unsigned sum = threadIdx.x;
      if (threadIdx.x == 40) x[3] = 7;
      for (int k = 0; k < 20; ++k) { if (sum & 1) sum += x[k % 8]; else sum = sum * 3 + 1; }
      y[threadIdx.x] = sum;
    }
    """
    none, compiled = both(source, "race", 64, lambda: (np.ones(8, "u4"), np.zeros(64, "u4")))
    assert none == compiled
    assert none[1] == "race"


def test_calls_that_stop_at_a_limit_go_on(monkeypatch: pytest.MonkeyPatch, statuses: list[Status]) -> None:
    run, expected = results(*CASES["table"], "none")
    monkeypatch.setattr(region_runs, "_MOST_AT_ONCE", 700)
    compiled, got = results(*CASES["table"], "all")
    np.testing.assert_array_equal(got[1], expected[1])
    assert_same(compiled, run)
    assert statuses.count(Status.LIMIT) > 10


@pytest.mark.further
def test_a_loop_is_compiled_when_it_is_hot(statuses: list[Status]) -> None:
    kernel = Kernel(TABLE.replace("[k * 4 + j]", "[k * 4 + j & 63]"), "table")
    kernel.run(1, 32, (NUMBERS, np.zeros(32, "u4"), 2), compiled="hot")
    assert not statuses
    kernel.run(1, 32, (NUMBERS, np.zeros(32, "u4"), 6000), compiled="hot")
    assert len(statuses) == 1
