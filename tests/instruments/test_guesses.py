"""The first read of a loop of compare-and-swaps is no race; any other plain read beside atomics is."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.errors import KernelFault
from softlab.kernel import Kernel

#: Threads add to one double, and keep the greatest of some floats, by compare-and-swap.
SOURCE = """extern "C" __global__ void k(const float* x, double* sum, int* most, int* seen) {
  SPACE
  float v = x[blockIdx.x * blockDim.x + threadIdx.x];
  unsigned long long* total = (unsigned long long*)sum; unsigned long long old = *total, assumed;
  do {
    assumed = old;
    old = atomicCAS(total, assumed, __double_as_longlong(v + __longlong_as_double(assumed)));
  } while (assumed != old);
  int best = *most;
  while (v > __int_as_float(best)) {
    int guess = best;
    best = atomicCAS(most, guess, __float_as_int(v));
    if (best == guess) break;
  }
  END
}"""
SHARED = """__shared__ double s; __shared__ int m; double* whole = sum; int* greatest = most;
  if (threadIdx.x == 0) { s = 0; m = 0; } __syncthreads(); sum = &s; most = &m;"""


def run(blocks: int, **parts: str) -> tuple[float, float]:
    source = SOURCE
    for name in ("SPACE", "END"):
        source = source.replace(name, parts.get(name, ""))
    x = np.random.default_rng(0).integers(1, 99, 64 * blocks).astype(np.float32)
    total, most, seen = np.zeros(1), np.zeros(1, np.int32), np.zeros(64 * blocks, np.int32)
    assert Kernel(source, "k").run(blocks, 64, (x, total, most, seen)).findings == ()
    return total[0] - x.sum(), most.view(np.float32)[0] - x.max()


def test_the_first_read_of_a_loop_of_swaps() -> None:
    assert run(2) == (0, 0)


def test_the_same_in_shared_memory() -> None:
    end = "__syncthreads(); if (threadIdx.x == 0) { *whole = s; *greatest = m; }"
    assert run(1, SPACE=SHARED, END=end) == (0, 0)


@pytest.mark.parametrize("end", ["seen[threadIdx.x + blockIdx.x * 64] = *most;", "if (*most == 5) seen[0] = 1;"])
def test_a_read_that_no_swap_checks_is_a_race(end: str) -> None:
    with pytest.raises(KernelFault) as caught:
        run(2, END=end)
    assert caught.value.kind == "race"


def test_a_lock_that_is_looked_at_first_is_a_race() -> None:
    source = """extern "C" __global__ void k(int* lock, int* x) {
  if (*lock == 0 && atomicCAS(lock, 0, 1) == 0) x[0] += 1;
}"""
    with pytest.raises(KernelFault) as caught:
        Kernel(source, "k").run(2, 32, (np.zeros(1, np.int32), np.zeros(1, np.int32)))
    assert caught.value.kind == "race"
