"""The barrier of a cluster: warps arrive, and wait later until all of their block have come."""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from softlab.cuda.disassembly import find_nvdisasm
from softlab.hardware.atlas import load
from tests.sampled import each

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


@pytest.mark.parametrize("warps", each(2, [2, 3, 5, 8]))
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


#: Words go round a ring of eight blocks. An H200 (2026-11-29) took these cycles per round with one cluster, and with
#: as many as it holds at once: without fences and loads, and with both.
RING = """
extern "C" __global__ void __cluster_dims__(8, 1, 1) ring(unsigned* out, int n) {
  __shared__ unsigned words[2][1024];
  const unsigned t = threadIdx.x; unsigned rank, there, x = t;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  words[0][t] = words[1][t] = t;
  const unsigned own = (unsigned)__cvta_generic_to_shared(&words[0][t]);
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"((rank + 7) % 8));
  unsigned long long left;
  asm volatile("cvta.shared::cluster.u64 %0, %1;" : "=l"(left) : "l"((unsigned long long)there));
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
#pragma unroll 1
  for (int r = 0; r < n; ++r) {
    asm volatile("barrier.cluster.arrive.KIND.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    LOAD
  }
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  out[blockIdx.x * blockDim.x + t] = x;
}
"""
LOAD = """asm volatile("ld.u32 %0, [%1];" : "=r"(x) : "l"(left + (r & 1) * 4096) : "memory");
    asm volatile("st.shared.u32 [%0], %1;" :: "r"(own + ((r + 1) & 1) * 4096), "r"(x * 5 + rank) : "memory");"""


@pytest.mark.parametrize(
    ("threads", "clusters", "cycles"), [(32, 1, (89, 563)), (32, 124, (131, 795)), (256, 1, (104, 634)),
                                        (256, 124, (240, 1133)), (1024, 1, (156, 921)), (1024, 30, (260, 1145))]
)  # fmt: skip
def test_rounds_take_longer_where_an_sm_has_more_blocks_of_clusters(threads, clusters, cycles):
    found = []
    for kind, body in (("relaxed", ""), ("release", LOAD)):
        kernel = softlab.Kernel(RING.replace("KIND", kind).replace("LOAD", body), "ring")
        out = np.zeros(8 * clusters * threads, np.uint32)
        few, many = (kernel.estimate(8 * clusters, threads, (out, np.int32(n)), device="H200", cache="warm").cycles
                     for n in (10, 30))  # fmt: skip
        found.append((many - few) / 20)
    assert found == [pytest.approx(cycles[0], rel=0.15), pytest.approx(cycles[1], rel=0.17)]
