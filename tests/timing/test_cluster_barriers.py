"""The barrier of a cluster: warps arrive, and wait later until all of their block have come."""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from softlab.cuda.disassembly import find_nvdisasm
from softlab.hardware.atlas import load

pytestmark = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")

ROUNDS = """
extern "C" __global__ void __cluster_dims__(4, 1, 1) rounds(int* out, int n) {
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  }
  out[blockIdx.x] = n;
}
"""
#: The first warp works; the others work when it has ended its part.
IN_TURN = """
extern "C" __global__ void __cluster_dims__(2, 1, 1) in_turn(float* out, int n) {
  float x = threadIdx.x;
#pragma unroll 1
  for (int i = 0; threadIdx.x < 32 && i < n; ++i) x = x * 0.5f + 1.0f;
  BARRIER
#pragma unroll 1
  for (int i = 0; threadIdx.x >= 32 && i < n; ++i) x = x * 0.5f + 1.0f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
"""


def test_a_round_takes_what_the_atlas_has_measured() -> None:
    kernel = softlab.Kernel(ROUNDS, "rounds")
    short, long = (
        kernel.estimate(4, 128, (np.zeros(4, np.int32), np.int32(n)), device="H200", cache="warm").cycles
        for n in (64, 192)
    )
    assert (long - short) / 128 == pytest.approx(load("H200")["latency.CLUSTER.BARRIER.relaxed.4"], rel=0.02)


@pytest.mark.parametrize("warps", [2, 3, 5, 8])
def test_it_keeps_warps_back_as_a_block_barrier_does(warps: int) -> None:
    threads, n = 32 * warps, 2000
    spent = [
        softlab.Kernel(IN_TURN.replace("BARRIER", barrier), "in_turn")
        .estimate(2, threads, (np.zeros(2 * threads, np.float32), np.int32(n)), device="H200", cache="warm")
        .microseconds
        for barrier in (
            "__syncthreads();",
            'asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");',
        )
    ]
    assert spent[1] == pytest.approx(spent[0], rel=0.06)
    assert spent[0] > 2 * n * 4 / 1980  # both parts, 4 cycles per step at least


def test_the_wait_counts_as_barrier() -> None:
    kernel = softlab.Kernel(IN_TURN.replace("BARRIER", 'asm volatile("barrier.cluster.arrive.aligned; '
                            'barrier.cluster.wait.aligned;" ::: "memory");'), "in_turn")  # fmt: skip
    found = kernel.estimate(2, 224, (np.zeros(448, np.float32), np.int32(3000)), device="H200", cache="warm")
    assert found.stalls["barrier"] > 0.4
