"""Warps one after the other, in any order: a kernel without a race gives the same, whatever the order; one with a race
does not."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import softlab

# Each thread gets what the thread of the next warp wrote; the barrier may be missing.
NEIGHBOUR = """
extern "C" __global__ void neighbour(const int* x, int* y) {{
  __shared__ int part[128];
  part[threadIdx.x] = -1;
  __syncthreads();
  part[threadIdx.x] = x[threadIdx.x];
  {barrier}
  y[threadIdx.x] = part[(threadIdx.x + 32) % 128];
}}
"""
# Warps diverge, meet in shuffles, exit early and come to two barriers.
MIXED = """
extern "C" __global__ void mixed(const int* x, int* y, int n) {
  __shared__ int part[4];
  __shared__ int total;
  int value = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) value += i % 3 ? x[i] : 2 * x[i];
  if (threadIdx.x % 2) value += __popc(threadIdx.x);
  for (int far = 16; far; far /= 2) value += __shfl_xor_sync(0xffffffff, value, far);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0) total = part[0] + part[1] + part[2] + part[3];
  __syncthreads();
  if (threadIdx.x >= 70) return;
  y[threadIdx.x] = total + threadIdx.x;
}
"""


def neighbours(barrier: str, order, check: bool = False) -> np.ndarray:
    """What each of four warps got: the number of the warp it came from, or -1."""
    kernel = softlab.Kernel(NEIGHBOUR.format(barrier=barrier), "neighbour")
    x, y = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    kernel.run(1, 128, (x, y), check=check, warp_order=order)
    return np.where(y < 0, -1, y // 32)[::32]


@pytest.mark.parametrize("order", tuple(permutations(range(4))))
def test_a_race_reads_what_the_order_left_there(order):
    """A warp finds the next one's numbers if that one ran before it: nothing else decides."""
    wanted = [(w + 1) % 4 if order.index((w + 1) % 4) < order.index(w) else -1 for w in range(4)]
    assert neighbours("", order).tolist() == wanted
    assert neighbours("__syncthreads();", order, check=True).tolist() == [1, 2, 3, 0]


def test_lock_step_hides_the_race():
    assert neighbours("", None).tolist() == [1, 2, 3, 0]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_the_race_is_found_in_every_order(order):
    with pytest.raises(softlab.KernelFault) as fault:
        neighbours("", order, check=True)
    assert fault.value.kind == "race"
    assert fault.value.line in (6, 8), "the write or the read, whichever comes second in this order"


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2)])
def test_divergence_shuffles_and_early_exits(order):
    kernel = softlab.Kernel(MIXED, "mixed")
    x = np.random.default_rng(0).integers(-100, 100, 1000, dtype=np.int32)
    i = np.arange(1000)
    thread = np.arange(128)
    total = (x * np.where(i % 3, 1, 2)).sum() + sum(int(t).bit_count() for t in thread if t % 2)
    y = np.full(128, -7, np.int32)
    run = kernel.run(1, 128, (x, y, 1000), warp_order=order)
    assert y.tolist() == [total + t if t < 70 else -7 for t in thread]
    y = np.zeros(128, np.int32)
    assert run.counters == kernel.run(1, 128, (x, y, 1000)).counters, "what is counted does not depend on the order"


def test_softmax_does_not_depend_on_the_order():
    """The block kernel of the course, over several blocks at once."""
    from softlab.operators.executors import program_of
    from softlab.plans import forced

    made = forced(3, 515, kernel="block_smem", block_size=128, device="H200")
    kernel = softlab.Kernel.from_program(program_of(made))
    x = np.random.default_rng(1).standard_normal((3, 515), dtype=np.float32)
    results = []
    for order in (None, (3, 1, 0, 2)):
        y = np.full_like(x, np.nan)
        kernel.run(made.grid, made.block, (x, y, 3, 515), made.smem_bytes, warp_order=order)
        results.append(y)
    assert np.array_equal(*results)


@pytest.mark.parametrize("order", [(0, 1), (0, 1, 2, 2), (1, 2, 3, 4), ()])
def test_an_order_names_every_warp_once(order):
    with pytest.raises(ValueError, match="the warps 0 to 3"):
        neighbours("", order)
