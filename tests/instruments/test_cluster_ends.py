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
