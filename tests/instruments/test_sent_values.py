"""Blocks of a cluster send each other values by ``st.async``: who waits for all of them comes after all senders."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.kernel import Kernel

_SOURCE = """
#define SMEM(p) static_cast<unsigned>(__cvta_generic_to_shared(p))
#define MEET() asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory")
extern "C" __global__ void __cluster_dims__(2) exchange(const float* x, float* y, int turns) {
  __shared__ float slots[2][4];
  __shared__ unsigned long long arrived[2];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, me = blockIdx.x * 2 + warp;
  if (threadIdx.x < 2)
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(SMEM(&arrived[threadIdx.x])) : "memory");
  MEET();
  for (int i = 0; i < turns; ++i) {
    int set = i % 2, slot = SLOT;
    if (threadIdx.x == 0)
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;" ::"r"(SMEM(&arrived[set])) : "memory");
    if (lane < 2) {
      unsigned to, at;
      asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(SMEM(&slots[slot][me])), "r"(lane));
      asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(SMEM(&arrived[set])), "r"(lane));
      asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];"
                   ::"r"(to), "f"(x[4 * i + me]), "r"(at) : "memory");
    }
    asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra w; }"
                 ::"r"(SMEM(&arrived[set])), "r"(i / 2 % 2) : "memory");
    float sum = slots[slot][0] + slots[slot][1] + slots[slot][2] + slots[slot][3];
    if (lane == 0) y[4 * i + me] = sum;
  }
  MEET();
}
"""


def _run(slot: str, order: tuple[int, ...] | None) -> tuple[set[str], np.ndarray, np.ndarray]:
    x, y = np.arange(24, dtype=np.float32), np.zeros(24, np.float32)
    kernel = Kernel(_SOURCE.replace("SLOT", slot), "exchange")
    run = kernel.run(2, 64, (x, y, 6), check="collect", record=False, warp_order=order)
    return {finding.kind for finding in run.findings}, x, y


@pytest.mark.parametrize("order", [None, (0, 1), (1, 0)])
def test_two_sets_of_slots_need_no_other_barrier(order: tuple[int, ...] | None) -> None:
    found, x, y = _run("set", order)
    assert found == set()
    assert (y.reshape(6, 4) == x.reshape(6, 4).sum(axis=1, keepdims=True)).all()


@pytest.mark.parametrize("order", [None, (0, 1), (1, 0)])
def test_one_set_is_written_while_others_read(order: tuple[int, ...] | None) -> None:
    assert _run("0", order)[0] == {"race"}
