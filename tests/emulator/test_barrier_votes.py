"""Votes of a block: the result is that of all threads that came to the barrier, and of no other, in any order."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.kernel import Kernel

GRID, THREADS = 3, 96
ORDERS = (None, (0, 1, 2), (2, 0, 1))
VOTES = """
extern "C" __global__ void votes(const int* in, int* out) {
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  ENDS
  out[3 * i] = __syncthreads_count(in[i] > 0);
  out[3 * i + 1] = __syncthreads_and(in[i] < 2) != 0;
  out[3 * i + 2] = __syncthreads_or(in[i] > 1) != 0;
}
"""
# Each half of a block has a barrier of its own, whose number is in a register. Both complete in one step.
TWO_BARRIERS = """
extern "C" __global__ void two(const int* in, int* out) {
  int t = threadIdx.x, i = blockIdx.x * 128 + t, number = t / 64 + 1, count, all, any;
  asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, 0; bar.red.popc.u32 %0, %2, 64, p; }"
    : "=r"(count) : "r"(in[i]), "r"(number));
  asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, 0; bar.red.and.pred q, %2, 64, p; selp.s32 %0, 1, 0, q; }"
    : "=r"(all) : "r"(in[i]), "r"(number));
  asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, 0; bar.red.or.pred q, %2, 64, !p; selp.s32 %0, 1, 0, q; }"
    : "=r"(any) : "r"(in[i]), "r"(number));
  out[3 * i] = count; out[3 * i + 1] = all; out[3 * i + 2] = any;
}
"""
# barrier.red, unlike bar.red, may be executed by a part of a warp.
TWO_PATHS = """
extern "C" __global__ void paths(const int* in, int* out) {
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, count;
  if (t % 3) {
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 0; barrier.red.popc.u32 %0, 0, p; }" : "=r"(count) : "r"(in[i]));
    out[i] = count;
  } else {
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 0; barrier.red.popc.u32 %0, 0, p; }" : "=r"(count) : "r"(in[i]));
    out[i] = -count;
  }
}
"""
# The order of the warps decides which one brings the last vote; each warp then votes again at once.
ROUNDS = """
extern "C" __global__ void rounds(int* out) {
  int t = threadIdx.x, left = t + blockIdx.x, number = 0;
  while (__syncthreads_or(left > 0)) { left -= 7; ++number; }
  out[blockIdx.x * blockDim.x + t] = number;
}
"""


def numbers(high: int = 3) -> np.ndarray:
    """Random numbers of each thread, (blocks, threads), and other ones for each block."""
    values = np.random.default_rng(high).integers(0, high, (GRID, THREADS)).astype(np.int32)
    values[0, values[0] == 2] = 1
    return values


def votes(values: np.ndarray) -> list[int]:
    """What the votes of a set of threads give."""
    return [np.count_nonzero(values > 0), int((values < 2).all()), int((values > 1).any())]


@pytest.mark.parametrize("order", ORDERS)
def test_all_threads_of_a_block_vote(order):
    values, out = numbers(), np.zeros((GRID, THREADS, 3), np.int32)
    Kernel(VOTES.replace("ENDS", ""), "votes").run(GRID, THREADS, (values, out), warp_order=order)
    for block in range(GRID):
        assert out[block].tolist() == [votes(values[block])] * THREADS
    assert votes(values[0]) != votes(values[1])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("ends", ["t >= 50", "t % 4 == 1", "t / 32 == 1", "t < 20 + 30 * blockIdx.x"])
def test_a_thread_that_has_ended_has_no_vote(order, ends):
    thread, block = np.arange(THREADS), np.arange(GRID)[:, None]
    ended = {
        "t >= 50": (thread >= 50) & (block >= 0),
        "t % 4 == 1": (thread % 4 == 1) & (block >= 0),
        "t / 32 == 1": (thread // 32 == 1) & (block >= 0),
        "t < 20 + 30 * blockIdx.x": thread < 20 + 30 * block,
    }[ends]
    values, out = numbers(), np.full((GRID, THREADS, 3), -1, np.int32)
    kernel = Kernel(VOTES.replace("ENDS", f"if ({ends}) return;"), "votes")
    kernel.run(GRID, THREADS, (values, out), warp_order=order)
    for block in range(GRID):
        voters = ~ended[block]
        assert out[block][voters].tolist() == [votes(values[block][voters])] * voters.sum()
        assert (out[block][~voters] == -1).all()


@pytest.mark.parametrize("order", [None, (0, 1, 2, 3), (3, 0, 2, 1)])
def test_two_barriers_that_complete_together_count_their_own_threads(order):
    values, out = np.ones((GRID, 2, 64), np.int32), np.zeros((GRID, 2, 64, 3), np.int32)
    values[:, 0, 5] = 0
    values[1, 1, :9] = 0
    Kernel(TWO_BARRIERS, "two").run(GRID, 128, (values, out), check=order is None, warp_order=order)
    for block in range(GRID):
        for half in range(2):
            positive = values[block, half] > 0
            expected = [positive.sum(), int(positive.all()), int((~positive).any())]
            assert out[block, half].tolist() == [expected] * 64


@pytest.mark.parametrize("order", ORDERS)
def test_threads_bring_their_votes_from_two_paths(order):
    values, out = numbers(), np.zeros((GRID, THREADS), np.int32)
    Kernel(TWO_PATHS, "paths").run(GRID, THREADS, (values, out), check=False, warp_order=order)
    sign = np.where(np.arange(THREADS) % 3, 1, -1)
    assert (out == sign * np.count_nonzero(values > 0, axis=1)[:, None]).all()


@pytest.mark.parametrize("order", ORDERS)
def test_a_loop_ends_for_all_threads_by_their_votes(order):
    out = np.zeros((GRID, THREADS), np.int32)
    Kernel(ROUNDS, "rounds").run(GRID, THREADS, (out,), warp_order=order)
    for block in range(GRID):
        assert (out[block] == -(-(THREADS - 1 + block) // 7)).all()
