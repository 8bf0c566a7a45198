"""Lanes, warps and blocks that look at memory until another one has written it."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.cuda.disassembly import find_nvdisasm
from softlab.errors import Error, KernelFault
from softlab.kernel import Kernel
from softlab.sass import interpret, pace
from softlab.sass.lanes import Lanes
from tests.sampled import each

pytestmark = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")
LOCK = """extern "C" __global__ void lock(int* x) {
  while (atomicCAS(x, 0, 1) != 0);
  ((volatile int*)x)[1] += 1;
  __threadfence();
  atomicExch(x, 0);
}"""
CHAIN = """extern "C" __global__ void chain(volatile int* done, int* out) {
  const int block = gridDim.x - 1 - blockIdx.x;
  if (block > 0 && threadIdx.x == 0) while (done[block - 1] == 0);
  __syncthreads();
  out[block * blockDim.x + threadIdx.x] = block;
  __syncthreads();
  __threadfence();
  if (threadIdx.x == 0) done[block] = 1;
}"""
GRID = """
#include <cooperative_groups.h>
extern "C" __global__ void rounds(float* x, float* y) {
  auto grid = cooperative_groups::this_grid();
  const int t = grid.thread_rank();
  for (int k = 0; k < 3; ++k) {
    y[t] = x[(t + 33) % grid.size()] + 1;
    grid.sync();
    x[t] = y[t];
    grid.sync();
  }
}"""


def test_lanes_of_a_warp_that_wait_for_a_lock_let_its_holder_go_on():
    found = interpret(Kernel(LOCK, "lock"), 1, 40, (np.zeros(2, np.int32),))
    assert found.output(0).tolist() == [0, 40]


@pytest.mark.parametrize(("blocks", "threads"), each(2, [(1, 64), (4, 32)]))
def test_the_holder_goes_on_in_turns_by_time_too(blocks, threads):
    """The lanes that look share their warp's time with it."""
    found = interpret(Kernel(LOCK, "lock"), blocks, threads, (np.zeros(2, np.int32),), paced=True)
    assert found.output(0).tolist() == [0, blocks * threads]


def test_a_lock_whose_holder_waits_for_the_others_is_named():
    source = LOCK.replace("__threadfence", "__syncwarp")
    for threads in (32, 64):
        with pytest.raises(KernelFault, match="wait for what none of them does") as caught:
            Kernel(source, "lock").estimate(1, threads, (np.zeros(2, np.int32),))
        assert (caught.value.kind, caught.value.line) == ("infinite-loop", 2)


def test_paths_of_a_warp_take_turns_and_others_go_by_their_clocks():
    turns, live = pace.Pace(3), np.full(3, 15, np.uint32)
    both, late, early = (Lanes(np.array(w), np.full(len(w), 1, np.uint32), live) for w in ([0, 1], [0], [1, 2]))
    turns.clock[:] = 50, 10, 40
    assert turns.choose({9: [late], 4: [both]}) == 9  # warp 0 stands at both
    assert turns.choose({4: [both], 9: [late]}) == 4
    turns.clock[0] = 500
    assert turns.choose({9: [late], 4: [both]}) == 4  # warp 0 does not go on with 1
    turns.clock[:] = 50, 60, 40
    assert turns.choose({9: [late], 4: [early]}) == 4


def test_blocks_that_wait_for_earlier_ones_go_on_in_their_order():
    args = np.zeros(12, np.int32), np.zeros((12, 32), np.int32)
    found = interpret(Kernel(CHAIN, "chain"), 12, 32, args)
    assert (found.output(1) == np.arange(12)[:, None]).all()


def test_a_block_without_the_one_that_it_waits_for_is_found_at_once():
    args = np.zeros(12, np.int32), np.zeros((12, 32), np.int32)
    with pytest.raises(KernelFault, match="wait for what none of them does") as caught:
        interpret(Kernel(CHAIN, "chain"), 12, 32, args, blocks=[3], budget=100_000)
    assert (caught.value.kind, caught.value.line) == ("infinite-loop", 3)
    assert "waits for one that is not interpreted" in str(caught.value)


def test_turns_by_time_end_after_a_time(monkeypatch):
    """Blocks that store in each turn of a loop without end never look in vain, and their turns take long."""
    source = 'extern "C" __global__ void on(volatile int* x) {\n  while (x[0] == 0) x[1] += 1;\n}'
    monkeypatch.setattr(pace, "MOST_CYCLES", 300_000)
    with pytest.raises(KernelFault, match="have taken more than 50 ms of a GPU and have not ended") as caught:
        Kernel(source, "on").estimate(2, 32, (np.zeros(2, np.int32),))
    assert (caught.value.kind, caught.value.line) == ("infinite-loop", 2)


def test_a_loop_without_end_of_the_only_block_is_not_laid_to_others():
    source = 'extern "C" __global__ void on(volatile int* x) {\n  while (x[0] == 0) {}\n  x[1] = 1;\n}'
    with pytest.raises(KernelFault, match=r"Check what should end the loop\n") as caught:
        Kernel(source, "on").estimate(1, 32, (np.zeros(2, np.int32),))
    assert (caught.value.kind, caught.value.line) == ("infinite-loop", 2)


@pytest.mark.further
def test_all_blocks_are_interpreted_where_they_wait_for_each_other():
    kernel, x = Kernel(GRID, "rounds"), np.arange(40 * 64, dtype=np.float32)
    y = np.zeros_like(x)
    expected = x.copy(), y.copy()
    kernel.run(40, 64, expected, cooperative=True, record=False)
    np.testing.assert_array_equal(interpret(kernel, 40, 64, (x, y)).output(0), expected[0])
    assert "blocks wait for others of the grid" in kernel.estimate(40, 64, (x, y)).validated
    many = np.zeros(64 * 10_000, np.float32)
    with pytest.raises(Error, match="all 10000 would have to be interpreted together"):
        kernel.estimate(10_000, 64, (many, many.copy()))
