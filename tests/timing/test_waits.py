"""Blocks that wait for a lock or a flag, threads that sleep or look at a clock, and what atomics are used for."""

from __future__ import annotations

import re

import numpy as np
import pytest

from softlab import EstimateError, Kernel, KernelFault
from softlab.cuda import disassembly
from softlab.kernel import estimation
from softlab.timing import model, queues
from softlab.timing.estimates import BOUNDS, Estimate

pytestmark = pytest.mark.skipif(not disassembly.find_nvdisasm(), reason="needs nvdisasm")

SOURCE = r"""
extern "C" __global__ void lock(int* lock, float* total) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *total += blockIdx.x;
    __threadfence();
    atomicExch(lock, 0);
  }
}
extern "C" __global__ void exchanged(int* lock, float* total) {
  if (threadIdx.x == 0) {
    while (atomicExch(lock, 1)) {}
    *total += blockIdx.x;
    __threadfence();
    atomicExch(lock, 0);
  }
}
extern "C" __global__ void flag(volatile int* flag, volatile int* data, int* out) {
  if (blockIdx.x == 0) {
    *data = 5;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {}
    out[blockIdx.x * blockDim.x + threadIdx.x] = *data;
  }
}
extern "C" __global__ void counted(volatile int* flag, int* out, int who) {
  if (blockIdx.x == who) *flag = 1;
  int looks = 0;
  while (*flag == 0) ++looks;
  out[blockIdx.x] = looks;
}
extern "C" __global__ void asked(int* flag, int* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) atomicExch(flag, 1);
  else while (atomicAdd(flag, 0) == 0) {}
  out[blockIdx.x] = 1;
}
extern "C" __global__ void greatest(const int* x, int* most) {
  const int own = x[blockIdx.x * blockDim.x + threadIdx.x];
  int old = *most;
  while (old < own) {
    const int seen = atomicCAS(most, old, own);
    if (seen == old) break;
    old = seen;
  }
}
extern "C" __global__ void insert(const int* x, int* table) {
  const int own = x[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned slot = own;; ++slot) {
    const int seen = atomicCAS(table + slot % 4096, 0, own);
    if (seen == 0 || seen == own) break;
  }
}
extern "C" __global__ void by_warp(int* lock, float* total) {
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *total += threadIdx.x;
    __threadfence();
    atomicExch(lock, 0);
  }
}
extern "C" __global__ void in_shared(float* out) {
  __shared__ int lock;
  __shared__ float total;
  if (threadIdx.x == 0) lock = total = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence_block();
    total += threadIdx.x;
    __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}
extern "C" __global__ void by_lane(float* out) {
  __shared__ int lock;
  __shared__ volatile float total;
  if (threadIdx.x == 0) lock = total = 0;
  __syncthreads();
  while (atomicCAS(&lock, 0, 1) != 0) {}
  total += threadIdx.x;
  __threadfence_block();
  atomicExch(&lock, 0);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}
extern "C" __global__ void added(float* out) {
  __shared__ float total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, 1.5f);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}
extern "C" __global__ void nap(int* out) { __nanosleep(1000); out[threadIdx.x] = 1; }
extern "C" __global__ void spin(int* out) {
  const long long start = clock64();
  while (clock64() - start < 1000) {}
  out[threadIdx.x] = 1;
}
extern "C" __global__ void timed(int* out) {
  const long long start = clock64();
  const int own = out[threadIdx.x] * 3;
  out[threadIdx.x] = own + (int)(clock64() - start);
}
extern "C" __global__ void total(const float* x, float* out, int n) {
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += x[(blockIdx.x * n + k) * 32 + threadIdx.x];
  if (threadIdx.x == 0) atomicAdd(out, sum);
}
extern "C" __global__ void adds(float* out, int n) {
  for (int k = 0; k < n; ++k) atomicAdd(out, 1.0f);
}
"""


def words(count: int = 1, kind: type = np.int32) -> np.ndarray:
    return np.zeros(count, kind)


def estimate(name: str, *args: object, grid: int, block: int = 32) -> Estimate:
    return Kernel(SOURCE, name).estimate(grid, block, args)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("lock", (words(), words(1, np.float32))),
        ("exchanged", (words(), words(1, np.float32))),
        ("flag", (words(), words(), words(32 * 20))),
        ("asked", (words(), words(20))),
    ],
)
def test_who_waits_for_other_blocks_looks_as_often_as_time_lets_him(name, args):
    """Few blocks, all of which are interpreted at first, and more, of which some are."""
    for grid in (2, 20):
        found = estimate(name, *args, grid=grid)
        assert found.validated.startswith("not validated: blocks wait for others of the grid")
        # A turn of a lock takes two fences and some accesses, about a microsecond.
        assert found.microseconds < 2 + grid


def test_a_lock_of_more_blocks_than_are_interpreted_says_so(monkeypatch):
    monkeypatch.setattr("softlab.kernel.estimation.more_blocks", lambda *_: ())
    found = estimate("lock", words(), words(1, np.float32), grid=20_000)
    assert "of these 20000 blocks were interpreted, so the waits may be too short" in found.validated


def test_a_lock_of_very_many_blocks_is_interpreted_in_part(monkeypatch):
    """Blocks differ, since some wait longer. But the more are interpreted, the longer all of them wait."""
    interpreted = []
    inner = estimation._Blocks._interpret
    monkeypatch.setattr(queues, "_TOGETHER", 200_000)
    monkeypatch.setattr(
        estimation._Blocks, "_interpret", lambda self, blocks: interpreted.append(len(blocks)) or inner(self, blocks)
    )
    found = estimate("lock", words(), words(1, np.float32), grid=3000)
    assert 60 < max(interpreted) < 600
    assert re.search(r"only \d+ of these 3000 blocks were interpreted", found.validated)


def test_who_counts_how_often_he_looks_does_not_look_for_ever(monkeypatch):
    """No block of the sample writes the flag, and the registers of those that look are never the same again."""
    monkeypatch.setattr(estimation, "_PATIENCE", 50_000)
    monkeypatch.setattr(estimation, "_PATIENCE_OF_WARP", 1_000)
    found = estimate("counted", words(), words(200), 77, grid=200)
    assert found.validated.startswith("not validated: blocks wait for others of the grid")
    with pytest.raises(EstimateError, match=r"An H200 holds \d+ at once"):
        estimate("counted", words(), words(20_000), 77, grid=20_000)
    with pytest.raises(KernelFault, match="stored nothing for"):
        estimate("counted", words(), words(200), 200, grid=200)


def test_one_block_waits_for_no_other():
    assert estimate("lock", words(), words(1, np.float32), grid=1).validated.startswith("on an H200")


@pytest.mark.parametrize(
    ("name", "args"), [("by_warp", (words(), words(1, np.float32))), ("in_shared", (words(1, np.float32),))]
)
def test_warps_of_a_block_wait_for_each_other_at_a_lock(name, args):
    found = estimate(name, *args, grid=1, block=256)
    assert found.validated.startswith("not validated: threads of a block wait for each other at a lock")
    # Eight turns of a lock take at most about a microsecond each, as in turns of blocks.
    assert found.microseconds < 2 + 8
    assert estimate(name, *args, grid=1, block=32).validated.startswith("on an H200")


def test_lanes_of_a_warp_wait_for_each_other_at_a_lock_in_shared_memory():
    """The compiler copies the address of the lock in each turn."""
    for block in (32, 64):
        found = estimate("by_lane", words(1, np.float32), grid=1, block=block)
        assert found.validated.startswith("not validated: threads of a block wait for each other at a lock")


def test_a_sum_by_attempts_in_shared_memory_is_no_lock():
    assert not model.code_traits(Kernel(SOURCE, "added").program).tries.any()
    assert estimate("added", words(4, np.float32), grid=4, block=256).validated.startswith("on an H200")


@pytest.mark.parametrize("name", ["greatest", "insert"])
def test_an_atomic_that_tries_something_else_in_each_turn_is_no_lock(name):
    assert not model.code_traits(Kernel(SOURCE, name).program).waits_for_blocks
    x = np.arange(1, 257, dtype=np.int32)
    assert estimate(name, x, words(4096), grid=8).validated.startswith("on an H200")


def test_sleep_and_loops_by_the_clock_are_not_validated():
    assert "__nanosleep" in estimate("nap", words(32), grid=1).validated
    assert "a loop reads a clock" in estimate("spin", words(32), grid=1).validated
    assert estimate("timed", words(32), grid=1).validated.startswith("on an H200")


def test_one_atomic_of_each_block_bounds_nothing():
    found = estimate("total", np.zeros(132 * 64 * 32, np.float32), words(1, np.float32), 64, grid=132)
    assert found.bound == "latency"
    assert 0 < found.use["atomics"] < 0.1


def test_atomics_on_one_word_bound_a_launch_though_no_warp_waits_for_them():
    found = estimate("adds", words(1, np.float32), 20, grid=132, block=256)
    assert found.bound == "atomics"
    assert found.use["atomics"] > 0.9
    assert max(found.use, key=found.use.__getitem__) in BOUNDS
    assert {type(share) for share in found.use.values()} == {float}


LOOKING = r"""
extern "C" __global__ void shared_flag(int* x) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 32) { __threadfence_block(); flag = 1; }
  if (threadIdx.x < 32) while (flag == 0) {}
  x[threadIdx.x] = 1;
}
extern "C" __global__ void global_flag(int* x, volatile int* flag) {
  if (threadIdx.x == 32) { __threadfence_block(); *flag = 1; }
  if (threadIdx.x < 32) while (*flag == 0) {}
  x[threadIdx.x] = 1;
}
extern "C" __global__ void table(int* x, int n) {
  __shared__ int jumps[64];
  jumps[threadIdx.x] = (threadIdx.x * 7 + 1) % 64;
  __syncthreads();
  int at = threadIdx.x, steps = 0;
  do { at = jumps[at]; ++steps; } while (at != threadIdx.x && steps < n);
  x[threadIdx.x] = steps;
}
extern "C" __global__ void last_block(const int* x, volatile int* parts, unsigned* ticket, int* sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = x[blockIdx.x];
    __threadfence();
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) for (int k = threadIdx.x; k < gridDim.x; k += blockDim.x) atomicAdd(sum, parts[k]);
}
"""


@pytest.mark.parametrize(("name", "more"), [("shared_flag", ()), ("global_flag", (words(),))])
def test_threads_that_look_until_others_of_their_block_have_written_are_named(name, more):
    found = Kernel(LOOKING, name).estimate(1, 64, (words(64), *more))
    assert found.validated.startswith("not validated: threads of a block look at memory until others have written it")


def test_who_loads_from_other_places_in_each_turn_does_not_wait():
    assert Kernel(LOOKING, "table").estimate(1, 64, (words(64), 50)).validated.startswith("on an H200")


def test_a_loop_over_what_other_blocks_have_written_is_not_called_a_wait():
    found = Kernel(LOOKING, "last_block").estimate(8, 64, (words(8), words(8), words(1, np.uint32), words()))
    assert found.validated.startswith("not validated: a loop loads what other blocks write, so perhaps blocks wait")
