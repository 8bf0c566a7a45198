"""Work that blocks take from a counter: which atomics do so, and the part of it that a few blocks get."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.cuda.disassembly import disassemble, find_nvdisasm
from softlab.kernel import Kernel
from softlab.sass import interpret
from softlab.sass.taking import Dealing, takers, without_period

needs_machine_code = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")
SOURCE = r"""
extern "C" __global__ void by_warp(int* next, int* out, int n) {
  while (true) {
    int k = 0;
    if (threadIdx.x % 32 == 0) k = atomicAdd(next, 32);
    k = __shfl_sync(0xffffffffu, k, 0) + threadIdx.x % 32;
    if (k >= n) break;
    out[k] = blockIdx.x + 1;
  }
}
extern "C" __global__ void by_thread(int* next, int* out, int n) {
  int k;
  while ((k = atomicAdd(next, 1)) < n) out[k] = blockIdx.x + 1;
}
extern "C" __global__ void downwards(int* next, int* out, int n) {
  for (int k; (k = n - 1 + atomicSub(next, 1)) >= 0;) out[k] = blockIdx.x + 1;
}
extern "C" __global__ void by_block(int* next, int* out, int n) {
  __shared__ int mine;
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) mine = atomicAdd(next, 1);
    __syncthreads();
    if (mine >= n) return;
    if (threadIdx.x == 0) out[mine] = blockIdx.x + 1;
  }
}
extern "C" __global__ void places(int* next, int* out, int n) {
  for (int turn = 0; turn < n; ++turn) out[atomicAdd(next, 1)] = blockIdx.x + 1;
}
extern "C" __global__ void by_key(int* counts, int* out, int n) {
  for (int k = threadIdx.x; k < n; k = k + 1 + atomicAdd(counts + k % 8, 1)) out[k] = 1;
}
extern "C" __global__ void once(int* next, int* out, int n) {
  if (atomicAdd(next, 1) == n) for (int k = 0; k < n; ++k) out[k] = 1;
}
extern "C" __global__ void waits(int* next, int* out, int n) {
  while (atomicAdd(next, 0) != n) {}
}
extern "C" __global__ void of_floats(float* next, int* out, int n) {
  while (atomicAdd(next, 1.0f) < n) out[threadIdx.x] = 1;
}
"""
QUEUES = "by_warp", "by_thread", "downwards", "by_block"


@needs_machine_code
@pytest.mark.parametrize("name", QUEUES)
def test_loops_that_end_by_what_an_atomic_gives_take_work(name):
    code = disassemble(Kernel(SOURCE, name).program, alone=True).kernel.instructions
    sums = {n for n, one in enumerate(code) if one.opcode == "ATOMG"}
    assert len(sums) == (2 if name in ("by_thread", "downwards") else 1)  # the first turn is in front of the loop
    assert takers(code) == sums


@needs_machine_code
@pytest.mark.parametrize("name", ["places", "by_key", "once", "waits", "of_floats"])
def test_atomics_for_something_else_do_not(name):
    code = disassemble(Kernel(SOURCE, name).program, alone=True).kernel.instructions
    assert any(one.opcode.startswith(("ATOM", "RED")) for one in code)
    assert not takers(code)


@needs_machine_code
@pytest.mark.parametrize("name", QUEUES)
def test_some_blocks_get_their_part_of_the_work(name):
    """Pieces from everywhere, and as many for each block."""
    n, own, sharers = 3200, [2, 5, 11, 17, 30], 32
    args = np.zeros(1, np.int32), np.zeros(n, np.int32), n
    every = interpret(Kernel(SOURCE, name), sharers, 32, args, blocks=own).output(1)
    assert (every > 0).all()
    found = interpret(Kernel(SOURCE, name), sharers, 32, args, blocks=own, sharers=sharers).output(1)
    got = np.flatnonzero(found)
    assert len(got) == pytest.approx(n * len(own) / sharers, rel=0.1)
    assert np.count_nonzero(got < n // 2) == pytest.approx(len(got) / 2, rel=0.1)
    pieces = np.bincount(found[found > 0], minlength=32)[np.array(own) + 1]
    assert pieces.max() - pieces.min() <= 32  # of those that a warp takes at once


def test_the_steps_of_a_counter_are_those_of_all_blocks_together():
    dealing = Dealing(3, 10)
    found = np.concatenate([dealing.steps(5, 2), dealing.steps(5, 1), dealing.steps(5, 6)])
    assert found.tolist() == [3, 3, 4, 3, 3, 4, 3, 3, 4]
    assert dealing.steps(9, 3).sum() == 10  # of another counter
    assert Dealing(4, 4).steps(0, 3).tolist() == [1, 1, 1]


def test_the_pieces_of_some_blocks_have_no_period():
    own = without_period(range(0, 264, 11), 264)
    assert len(own) == 25
    assert set(range(0, 264, 11)) < set(own)
    taken = np.concatenate(([0], np.cumsum(Dealing(len(own), 264).steps(0, 199))))
    of_columns = np.bincount(taken % 11, minlength=11)  # every eleventh piece would be of one column
    assert of_columns.min() >= 16
    assert without_period([4], 7) == [4]
    assert without_period([0, 1], 2) == [0, 1]
