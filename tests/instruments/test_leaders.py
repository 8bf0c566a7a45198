"""A lane that tells for its warp tells what the others did before they synchronised with anybody, and no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softlab.kernel import Kernel
from tests.sampled import each

_WRITTEN = """
#include <cooperative_groups.h>
extern "C" __global__ void rows_of_warps(const int* x, int* rows, int* flags, int* y) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  MEMORY
  if (FIRST) {
    row[threadIdx.x] = x[threadIdx.x];
    MEET;
    if (lane == 0) {
      FENCE;
      atomicExch(&flag[warp], 1);
    }
  } else {
    while (atomicAdd(&flag[warp OTHER], 0) == 0) {}
    FENCE;
    y[threadIdx.x] = row[threadIdx.x OTHER * 32];
  }
}
"""
_READ = """
extern "C" __global__ void rows_of_warps(const int* x, int* rows, int* flags, int* y) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  MEMORY
  if (FIRST) {
    int v = row[threadIdx.x];
    MEET;
    if (lane == 0) {
      FENCE;
      atomicExch(&flag[warp], 1);
    }
    y[threadIdx.x] = v;
  } else {
    while (atomicAdd(&flag[warp OTHER], 0) == 0) {}
    FENCE;
    row[threadIdx.x OTHER * 32] = 1;
  }
}
"""
_SHARED = """__shared__ int row[32], flag[1];
  if (threadIdx.x < 32) row[lane] = x[lane];
  if (threadIdx.x == 0) flag[0] = 0;
  __syncthreads();"""
_ORDERED = (
    "__syncwarp()",
    "__syncwarp(0xffffffffu)",
    "__syncwarp(lane < 16 ? 0xffffu : 0xffff0000u); __syncwarp()",
    "cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block()).sync()",
    "FENCE; __syncwarp()",
    "FENCE",  # each lane has made what it did visible
)


def _findings(source: str, meet: str, shared: bool, compiled: Any) -> set[tuple]:
    memory = _SHARED if shared else "int *row = rows, *flag = flags;"
    text = source.replace("MEMORY", memory.replace("\n", " ")).replace("MEET", meet)
    text = text.replace("FENCE", "__threadfence_block()" if shared else "__threadfence()")
    text = text.replace("FIRST", "warp == 0" if shared else "blockIdx.x == 0").replace("OTHER", "- 1" if shared else "")
    arguments = [np.arange(64, dtype="i4"), *(np.zeros(64, "i4") for _ in range(3))]
    size = (1, 64) if shared else (2, 64)
    text = text.replace("threadIdx.x - 1 * 32", "threadIdx.x - 32").replace("threadIdx.x  * 32", "threadIdx.x")
    run = Kernel(text, "rows_of_warps").run(*size, arguments, check="collect", record=False, compiled=compiled)
    return {(f.kind, f.line, f.other_line) for f in run.findings}


@pytest.mark.parametrize("compiled", ["none", "all"])
@pytest.mark.parametrize("shared", [False, True], ids=["global", "shared"])
class TestLeaders:
    """In global and in shared memory, in NumPy and in compiled code."""

    @pytest.mark.parametrize("meet", ["", "__shfl_sync(~0u, lane, 0)"])
    def test_what_the_others_wrote_is_not_told(self, meet: str, shared: bool, compiled: Any) -> None:
        assert _findings(_WRITTEN, meet, shared, compiled) == {("race", 16, 7)}

    @pytest.mark.parametrize("meet", each(2, _ORDERED))
    def test_it_is_behind_a_warp_barrier(self, meet: str, shared: bool, compiled: Any) -> None:
        assert _findings(_WRITTEN, meet, shared, compiled) == set()

    @pytest.mark.parametrize("meet", ["", "__syncwarp()", "__reduce_add_sync(~0u, v)"])
    def test_what_the_others_read_is_told_by_an_exchange_too(self, meet: str, shared: bool, compiled: Any) -> None:
        found = _findings(_READ, meet, shared, compiled)
        assert found == (set() if meet else {("race", 16, 6)})
