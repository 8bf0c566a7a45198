"""Blocks of several clusters: whose access a race names, and which lanes arrive at an mbarrier together."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.instruments.cluster_shadow import _Heard
from softlab.kernel import Kernel
from tests.sampled import turns

SOURCE = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 1, 1) k(int* y, int which, int writes) {
  __shared__ int s[64];
  cg::cluster_group g = cg::this_cluster();
  int t = threadIdx.x;
  s[t] = t;
  g.sync();
  if (blockIdx.x == which + 1 && t == 37) {
    if (writes) *g.map_shared_rank(&s[5], 0) = 1; else y[1] = *g.map_shared_rank(&s[5], 0);
  }
  if (blockIdx.x == which && t == 9) s[5] = 7;
  g.sync();
  if (t == 0) y[2 + blockIdx.x] = s[5];
}"""


@pytest.mark.parametrize(("which", "writes", "did"), turns(2, [0, 2, 4], [(0, "read"), (1, "wrote")]))
def test_a_race_names_the_block_of_its_own_cluster(which: int, writes: int, did: str) -> None:
    run = Kernel(SOURCE, "k").run(6, 64, (np.zeros(8, np.int32), which, writes), check="collect", record=False)
    (finding,) = run.findings
    assert f"that thread (37, 0, 0) of block ({which + 1}, 0, 0) {did}, with nothing" in finding.message
    assert (finding.thread, finding.block) == ((9, 0, 0), (which, 0, 0))
    assert (finding.other_thread, finding.other_block) == ((37, 0, 0), (which + 1, 0, 0))


PHASES = """extern "C" __global__ void k(int* y, int stride) {
  __shared__ unsigned long long bars[8];
  int t = threadIdx.x, warp = t / 32, late = 3 - 2 * (int)blockIdx.x - warp;
  unsigned bar = (unsigned)__cvta_generic_to_shared(bars + warp * stride);
  if (t % 32 == 0) asm volatile("mbarrier.init.shared.b64 [%0], COUNT;" :: "r"(bar));
  __syncthreads();
  for (int k = 0; k < 4; ++k)
    if (k >= late) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(bar) : "memory");
  y[blockIdx.x * 64 + t] = late;
}"""


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("count", [32, 16])
def test_lanes_of_other_warps_and_blocks_may_arrive_in_another_phase(stride: int, count: int) -> None:
    """Each warp has an mbarrier of its own, and one round less or more behind it. Half a warp ends a phase of 16."""
    kernel = Kernel(PHASES.replace("COUNT", str(count)), "k")
    run = kernel.run(2, 64, (np.zeros(128, np.int32), stride), check="collect", record=False)
    kinds = {finding.kind for finding in run.findings}
    assert kinds == (set() if count == 32 else {"mbarrier-misuse"})


def test_who_waits_learns_nothing_of_its_own_release() -> None:
    """Of several that released a word, each learns what the others did."""
    at = np.array([0]), np.array([[1]])

    def learnt(*releases: tuple[int, int], by: int) -> int:
        heard = _Heard(1, 64, 4)
        for thread, time in releases:
            heard.release(*at, np.array([thread]), np.array([time]))
        heard.acquire(*at, np.array([0]), np.array([by]))
        return int(heard.until[0, by])

    assert learnt((5, 3), by=9) == 3
    assert learnt((5, 3), by=5) == learnt((0, 3), by=0) == 0
    assert learnt((5, 3), (5, 4), by=5) == 0
    assert learnt((5, 3), (9, 4), by=9) == learnt((0, 3), (9, 4), by=9) == learnt((9, 4), (0, 3), by=0) == 4
    assert learnt((5, 3), (9, 4), (9, 6), by=9) == 6
    assert learnt(by=5) == 0


def test_in_a_cluster_global_memory_and_the_own_shared_memory_have_their_spaces() -> None:
    source = """#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2, 1, 1) k(int* y) {
  __shared__ int s[4];
  auto g = cooperative_groups::this_cluster();
  int* other = g.map_shared_rank(&s[1], 1 - g.block_rank());
  int spaces = __isGlobal(y) + 2 * __isShared(&s[1]) + 4 * __isShared(other) + 8 * __isGlobal(&s[1]);
  y[blockIdx.x] = spaces + 16 * __isLocal(y) + 32 * __isGlobal(other);
  g.sync();
}"""
    y = np.zeros(2, np.int32)
    Kernel(source, "k").run(2, 1, (y,))
    assert y.tolist() == [3, 3]
