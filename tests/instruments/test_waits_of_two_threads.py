"""A ring between two warps in which nobody waits for free slots: found whichever warp comes first in the code."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.kernel import Kernel
from tests.sampled import each

_WRITE = """for (int i = 0; i < n; ++i) {
      while (FREED) {}
      slots[i % 2][lane] = x[i * 32 + lane];
      __syncwarp();
      if (lane == 0) full.store(i + 1, cuda::memory_order_release);
    }"""
_READ = """for (int i = 0; i < n; ++i) {
      while (full.load(cuda::memory_order_acquire) <= i) {}
      y[i * 32 + lane] = slots[i % 2][31 - lane];
      __syncwarp();
      if (lane == 0) free.store(i + 1, cuda::memory_order_release);
    }"""
_SOURCE = """
#include <cuda/atomic>
extern "C" __global__ void ring(const int* x, int* y, int n) {
  __shared__ int slots[2][32], head, tail;
  int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) head = tail = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> full(head), free(tail);
  if (threadIdx.x < 32) {
    FIRST
  } else {
    SECOND
  }
}
"""


def _kinds(writer_first: bool, freed: str, turns: int) -> set[str]:
    first, second = (_WRITE, _READ) if writer_first else (_READ, _WRITE)
    source = _SOURCE.replace("FIRST", first).replace("SECOND", second).replace("FREED", freed)
    x, y = np.arange(32 * turns, dtype=np.int32), np.zeros(32 * turns, np.int32)
    return {f.kind for f in Kernel(source, "ring").run(1, 64, (x, y, turns), check="collect", record=False).findings}


@pytest.mark.parametrize("writer_first", each(2, [True, False]))
def test_slots_that_are_not_waited_for(writer_first: bool) -> None:
    assert _kinds(writer_first, "false", 9) == {"race"}


@pytest.mark.parametrize("writer_first", [True, False])
def test_slots_that_are_waited_for(writer_first: bool) -> None:
    assert _kinds(writer_first, "free.load(cuda::memory_order_acquire) < i - 1", 9) == set()


@pytest.mark.parametrize("writer_first", [True, False])
def test_as_many_turns_as_slots_need_no_waiting(writer_first: bool) -> None:
    assert _kinds(writer_first, "false", 2) == set()
