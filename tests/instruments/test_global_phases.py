"""Global memory that warps publish at an mbarrier: who waits for a phase learns of the arrivals up to this phase."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.errors import KernelFault
from softlab.kernel import Kernel

SOURCE = """#define AT(bar) static_cast<unsigned>(__cvta_generic_to_shared(bar))
#define INIT(bar, count) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(AT(bar)), "r"(count) : "memory")
#define ARRIVE(bar) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(AT(bar)) : "memory")
#define WAIT(bar, parity) \\
  asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra w; }" \\
               ::"r"(AT(bar)), "r"(parity) : "memory")
extern "C" __global__ void phases(int* scratch, int* y, int rounds, int late) {
  __shared__ unsigned long long both;
  int lane = threadIdx.x % 32, *mine = scratch + blockIdx.x * 32;
  if (threadIdx.x == 0) INIT(&both, 64);
  __syncthreads();
  for (int r = 0; r < rounds; r += 2) {
    if (threadIdx.x < 32) {
      if (!late) mine[lane] = r + lane;
      ARRIVE(&both);
      WAIT(&both, 0);
      if (late) mine[lane] = r + lane;
      ARRIVE(&both);
      WAIT(&both, 1);
    } else {
      ARRIVE(&both);
      WAIT(&both, 0);
      y[(blockIdx.x * rounds + r) * 32 + lane] = mine[31 - lane];
      ARRIVE(&both);
      WAIT(&both, 1);
    }
  }
}
extern "C" __global__ void stages(const int* x, int* scratch, int* y, int tiles, int early) {
  __shared__ unsigned long long full[2], empty[2];
  int lane = threadIdx.x % 32;
  if (threadIdx.x < 2) {
    INIT(&full[threadIdx.x], 1);
    INIT(&empty[threadIdx.x], 1);
  }
  __syncthreads();
  for (int i = 0; i < tiles; ++i) {
    int s = i % 2, turn = i / 2 % 2, *stage = scratch + (blockIdx.x * 2 + s) * 32;
    if (threadIdx.x < 32) {
      WAIT(&empty[s], turn ^ 1);
      stage[lane] = 2 * x[i * 32 + lane];
      __syncwarp();
      if (lane == 0) ARRIVE(&full[s]);
    } else {
      WAIT(&full[s], turn);
      if (early && lane == 0) ARRIVE(&empty[s]);
      y[(blockIdx.x * tiles + i) * 32 + lane] = stage[31 - lane];
      __syncwarp();
      if (!early && lane == 0) ARRIVE(&empty[s]);
    }
  }
}
"""


@pytest.mark.parametrize("blocks", [1, 3])
def test_a_store_before_the_next_phase_is_not_told_at_this_one(blocks: int) -> None:
    kernel, arguments = Kernel(SOURCE, "phases"), [np.zeros(32 * blocks, np.int32), np.zeros(128 * blocks, np.int32)]
    kernel.run(blocks, 64, [*arguments, 4, 0], record=False)
    assert (arguments[1].reshape(blocks, 4, 32)[:, 2] == 2 + np.arange(32)[::-1]).all()
    with pytest.raises(KernelFault) as caught:
        kernel.run(blocks, 64, [*arguments, 4, 1], record=False)
    assert caught.value.kind == "race"
    assert {caught.value.line, caught.value.other_line} == {17, 23}


@pytest.mark.parametrize("blocks", [1, 3])
def test_stages_in_global_memory(blocks: int) -> None:
    x, scratch, y = np.arange(160, dtype=np.int32), np.zeros(64 * blocks, np.int32), np.zeros(160 * blocks, np.int32)
    kernel = Kernel(SOURCE, "stages")
    kernel.run(blocks, 64, [x, scratch, y, 5, 0], record=False)
    assert (y.reshape(blocks, 5, 32) == 2 * x.reshape(5, 32)[:, ::-1]).all()
    with pytest.raises(KernelFault) as caught:
        kernel.run(blocks, 64, [x, scratch, y, 5, 1], record=False)
    assert caught.value.kind == "race"
    assert {caught.value.line, caught.value.other_line} == {41, 47}
