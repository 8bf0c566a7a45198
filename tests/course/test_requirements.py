"""Requirements on a learner's kernel: each is met, or says what is missing with its numbers."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.course.kernels import Attempt, LaunchCase
from softlab.course.requirements import (
    at_least,
    at_most,
    blocks_per_sm,
    no_bank_conflicts,
    no_shared_memory,
    no_spills,
)
from softlab.kernel import Kernel

SOURCE = """
extern "C" __global__ void copy(const float* x, float* y) {
  extern __shared__ float part[];
  y[threadIdx.x] = x[threadIdx.x];
}
extern "C" __global__ void stage(const float* x, float* y) {
  __shared__ float part[8192];
  part[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void strided(const float* x, float* y) {
  __shared__ float part[1024];
  part[4 * threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = part[threadIdx.x / 2 * 4];
}
extern "C" __global__ void unrolled(const float* x, float* y) {
  float held[16];
  for (int i = 0; i < 16; ++i) held[i] = x[i];
  y[threadIdx.x] = held[3] + held[12];
}
extern "C" __global__ void by_index(const float* x, float* y) {
  float held[64], most = 0, sum = 0;
  #pragma unroll 1
  for (int i = 0; i < 64; ++i) most = fmaxf(most, held[i] = x[i]);
  #pragma unroll 1
  for (int i = 0; i < 64; ++i) sum += held[i] / most;
  y[threadIdx.x] = sum;
}
"""


def attempt(name: str, block: int | tuple[int, ...], smem: int = 0) -> Attempt:
    kernel = Kernel(SOURCE, name)
    args = {"x": np.ones(1024, np.float32), "y": np.zeros(1024, np.float32)}
    case = LaunchCase(1, block, args, {}, smem=smem)
    return Attempt(kernel, case, kernel.run(1, block, tuple(case.fresh().values()), smem))


@pytest.mark.parametrize(
    ("name", "block", "smem", "held"),
    [
        ("copy", 128, 0, 16),  # 2048 threads per SM
        ("copy", (32, 4), 0, 16),
        ("copy", (32, 4, 2), 0, 8),  # all three sizes count
        ("copy", 32, 0, 32),  # at most 32 blocks per SM
        ("copy", 32, 50 * 1024, 4),  # of 228 KiB, with 1 KiB per block for the driver
        ("stage", 128, 0, 6),  # 32 KiB static
        ("stage", 128, 32 * 1024, 3),  # static and dynamic together
    ],
)
def test_blocks_per_sm_follow_from_threads_and_shared_memory_of_the_launch(name, block, smem, held) -> None:
    tried = attempt(name, block, smem)
    assert blocks_per_sm(held, "Hint.")(tried) == ""
    lack = blocks_per_sm(held + 1, "Hint.")(tried)
    assert lack.startswith(f"{held} blocks fit on an SM of an H200, {held + 1} are asked for")
    static = tried.kernel.program.static_smem_bytes
    assert f" {static + smem} bytes of shared memory" in lack
    assert lack.endswith("Hint.")


def test_shared_memory_counts_when_it_is_declared_or_used() -> None:
    assert no_shared_memory()(attempt("copy", 32)) == ""
    assert "32768 bytes" in no_shared_memory()(attempt("stage", 32))
    assert "2 instructions" in no_shared_memory()(attempt("stage", 32))


def test_an_array_whose_indices_are_not_known_is_not_in_registers() -> None:
    assert no_spills()(attempt("copy", 32)) == ""
    assert no_spills()(attempt("unrolled", 32)) == ""
    assert no_spills()(attempt("by_index", 32)).startswith("256 bytes per thread lie in memory")


def test_limits_of_counters_are_inclusive() -> None:
    tried = attempt("copy", 64)
    assert at_most("global_load_requests", 2, "")(tried) == ""
    assert at_least("global_load_requests", 2, "")(tried) == ""
    assert at_most("global_load_requests", 1, "Hint.")(tried).startswith("2 global load requests, 1 possible")
    assert at_least("global_load_requests", 3, "Hint.")(tried) == "2 global load requests, 3 expected. Hint."
    assert at_most("global_load_requests", lambda launch: launch.block // 32, "")(tried) == ""


def test_bank_conflicts_are_told_of_the_line_that_has_the_most() -> None:
    assert no_bank_conflicts()(attempt("stage", 64)) == ""
    assert no_bank_conflicts("Hint.")(attempt("strided", 64)) == (
        "bank conflicts are still 4-way: 8 wavefronts, 2 possible, most on line 14: "
        "`part[4 * threadIdx.x] = x[threadIdx.x];`. Hint."
    )


@pytest.mark.parametrize("counter", ["bank_conflicts", "global_load_requests", "global_store_requests"])
@pytest.mark.parametrize("again", ["", "x[0] is read again."])
def test_loads_alone_are_told_to_come_again(counter: str, again: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is loaded again, and for any other counter, the hint stands."""
    monkeypatch.setattr("softlab.course.requirements.read_again", lambda *_: again)
    tried = attempt("copy", 32)
    lack = at_most(counter, -1, "Hint.")(tried)
    assert lack.endswith(again if again and counter == "global_load_requests" else "Hint.")
    assert at_most(counter, tried.run.counters[counter], "Hint.")(tried) == ""
    assert at_least(counter, tried.run.counters[counter], "Hint.")(tried) == ""
    assert at_least(counter, tried.run.counters[counter] + 1, "Hint.")(tried).endswith("Hint.")
