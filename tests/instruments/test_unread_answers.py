"""A thread that asks an mbarrier and goes on whatever the answer is has not waited."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.kernel import Kernel

_SOURCE = """
#define SMEM(p) static_cast<unsigned>(__cvta_generic_to_shared(p))
__device__ int ask(unsigned long long* full) {
  int done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(SMEM(full)) : "memory");
  return done;
}
extern "C" __global__ void k(const float* x, float* y) {
  __shared__ alignas(16) float tile[64];
  __shared__ unsigned long long full;
  __shared__ int answer;
  int t = threadIdx.x;
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(SMEM(&full)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(SMEM(&full)) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                 ::"r"(SMEM(tile)), "l"(x), "r"(SMEM(&full)) : "memory");
  }
  __syncthreads();
  WAIT
  y[t] = tile[63 - t] + v;
}
"""
_READ = {
    "a loop": "int v = 0; while (!ask(&full)) {}",
    "a branch that leaves": "int v = 0; if (!ask(&full)) return;",
    "a vote": "int v = 0; while (!__all_sync(0xffffffffu, ask(&full))) {}",
    "one thread for its block": "int v = 0; if (t == 0) do answer = ask(&full); while (!answer); __syncthreads();",
    "memory of the block": "int v = 0; if (t == 0) answer = ask(&full); __syncthreads(); if (!answer) return;",
}
_UNREAD = {
    "nobody looks": "int v = 0; ask(&full);",
    "a number": "float v = ask(&full) ? 0 : 0.5f;",
    "a result": "int v = 0; y[64 + t] = ask(&full);",
}


def _kinds(wait: str) -> set[str]:
    arguments = np.arange(64, dtype=np.float32), np.zeros(128, np.float32)
    run = Kernel(_SOURCE.replace("WAIT", wait), "k").run(1, 64, arguments, check="collect", record=False)
    return {finding.kind for finding in run.findings}


@pytest.mark.parametrize("wait", _READ)
def test_an_answer_that_decides_is_a_wait(wait: str) -> None:
    assert _kinds(_READ[wait]) == set()


@pytest.mark.parametrize("wait", _UNREAD)
def test_an_answer_that_decides_nothing_is_none(wait: str) -> None:
    assert _kinds(_UNREAD[wait]) == {"race"}
