"""A block of a cluster may end only when nobody accesses its shared memory any more."""

from __future__ import annotations

import numpy as np
import pytest

import softlab

SOURCE = r"""
__device__ void meet() {
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) neighbours(int* out, int store, int last) {
  __shared__ int word[32];
  word[threadIdx.x] = threadIdx.x;
  meet();
  unsigned there;
  int got = 0;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(word + threadIdx.x)), "r"(1 - (int)blockIdx.x));
  if (store)
    asm volatile("st.shared::cluster.s32 [%0], %1;" :: "r"(there), "r"(7) : "memory");
  else
    asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(got) : "r"(there) : "memory");
  if (last) meet();
  out[blockIdx.x * 32 + threadIdx.x] = got;
}
"""
LOAD_LINE, STORE_LINE = 16, 14


@pytest.mark.parametrize("store", [0, 1])
def test_a_block_that_ends_while_others_access_its_memory_is_a_race(store: int) -> None:
    kernel = softlab.Kernel(SOURCE, "neighbours")
    arguments = np.zeros(64, np.int32), np.int32(store)
    assert kernel.run(2, 32, (*arguments, np.int32(1)), check="collect").findings == ()
    run = kernel.run(2, 32, (*arguments, np.int32(0)), check="collect")
    (finding,) = run.findings
    assert (finding.kind, finding.severity, finding.line) == ("race", "error", STORE_LINE if store else LOAD_LINE)
    verb = "writes" if store else "reads"
    assert f"{verb} shared memory of block (0, 0, 0), which may have ended before" in finding.message
    assert finding.block == (1, 0, 0)


ONE = r"""
extern "C" __global__ void __cluster_dims__(4, 1, 1) one(int* out, int who, int thread, int peer) {
  __shared__ int word[64];
  word[threadIdx.x] = 0;
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  if (blockIdx.x == who && threadIdx.x == thread) {
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(word + 9)), "r"(peer));
    asm volatile("st.shared::cluster.s32 [%0], %1;" :: "r"(there), "r"(7) : "memory");
  }
  if (who < 0) out[threadIdx.x] = word[threadIdx.x];
}
"""


@pytest.mark.parametrize(("who", "thread", "peer"), [(0, 0, 3), (6, 63, 1), (11, 33, 0), (5, 32, 2)])
def test_the_message_names_the_thread_and_the_other_block(who: int, thread: int, peer: int) -> None:
    arguments = np.zeros(64, np.int32), *(np.int32(n) for n in (who, thread, peer))
    (finding,) = softlab.Kernel(ONE, "one").run(12, 64, arguments, check="collect").findings
    assert (finding.kind, finding.block, finding.thread) == ("race", (who, 0, 0), (thread, 0, 0))
    assert f"of block ({who // 4 * 4 + peer}, 0, 0), which may have ended" in finding.message


@pytest.mark.parametrize("who", [0, 7])
def test_a_block_may_access_its_own_memory_through_the_cluster_to_its_end(who: int) -> None:
    arguments = np.zeros(64, np.int32), *(np.int32(n) for n in (who, 5, who % 4))
    assert softlab.Kernel(ONE, "one").run(12, 64, arguments, check="collect").findings == ()
