"""Bulk copies that many lanes begin at once: what happens, and what is told, is as if they came one by one."""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from softlab.emulator.lanes import lanes_of
from softlab.emulator.memory.bulk_copies import BulkCopies, each_lane
from tests.sampled import each

SOURCE = """
#include <cuda/barrier>
#include <cuda/ptx>
__device__ void copy(void* into, const void* from, unsigned bytes, unsigned long long* bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
    :: "r"((unsigned)__cvta_generic_to_shared(into)), "l"(__cvta_generic_to_global(from)), "r"(bytes),
       "r"((unsigned)__cvta_generic_to_shared(bar)) : "memory");
}
extern "C" __global__ void k(const float4* x, const float4* other, float4* y, const int* where, const int* bytes,
                             int early, int bars, int mine, int half) {
  __shared__ alignas(16) float4 tile[80];
  __shared__ alignas(8) unsigned long long bar[4];
  int t = threadIdx.x, b = bars == 1 ? 0 : t % 2;
  if (t < bars && t < 2) asm volatile("mbarrier.init.shared.b64 [%0], %1;"
    :: "r"((unsigned)__cvta_generic_to_shared(&bar[t])), "r"(blockDim.x / (bars == 1 ? 1 : 2)));
  __syncthreads();
  for (int turn = 0; turn < 2; ++turn) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }"
      :: "r"((unsigned)__cvta_generic_to_shared(&bar[b])), "r"(t % mine || t >= half ? 0 : bytes[t]) : "memory");
    if (t % mine == 0)
      copy((char*)(tile + t) + where[2 * t], (t % 7 == 6 ? other : x) + (turn * gridDim.x + blockIdx.x) * 64 + t
           + where[2 * t + 1], bytes[t], &bar[bars == 3 && t == 9 ? 3 : b]);
    if (early && turn) y[(turn * gridDim.x + blockIdx.x) * 64 + t] = tile[t];
    if (early == 2) return;
    for (unsigned done = 0; !done;)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done) : "r"((unsigned)__cvta_generic_to_shared(&bar[b])), "r"(turn) : "memory");
    __syncthreads();
    if (t % mine == 0) y[(turn * gridDim.x + blockIdx.x) * 64 + t] = tile[t];
    __syncthreads();
  }
}"""
#: lane -> (bytes further on in shared memory, elements further on in global memory, size), and other arguments.
CASES = {
    "all lanes": {},
    "every third lane": {"mine": 3},
    "two mbarriers": {"bars": 2},
    "sources in two arrays": {"two": True},
    "two copies to one place": {"lanes": {9: (-16, 0, 16)}},
    "longer copies": {"lanes": {63: (0, 0, 48)}},
    "a place that a copy of no bytes leaves": {"lanes": {9: (0, 0, 0)}},
    "half of the bytes are expected": {"half": 32},
    "sizes that go no whole times into what is expected": {"half": 30, "lanes": {0: (0, 0, 32)}},
    "read early": {"early": 1},
    "nobody waits": {"early": 2},
    "an odd place in shared memory": {"lanes": {40: (4, 0, 16)}},
    "an odd size": {"lanes": {41: (0, 0, 12)}},
    "beyond the array": {"lanes": {50: (0, 4000, 16)}},
    "before the array": {"lanes": {50: (0, -4000, 16)}},
    "beyond shared memory": {"lanes": {51: (4096, 0, 16)}},
    "an mbarrier that is none": {"bars": 3},
}


def run(kernel: softlab.Kernel, case: dict, check: bool | str) -> tuple:
    random = np.random.default_rng(1)
    x, y = random.random((256 + 4, 4), np.float32), np.zeros((256, 4), np.float32)
    other = random.random((256 + 4, 4), np.float32) if case.get("two") else x
    where, nbytes = np.zeros((64, 2), np.int32), np.full(64, 16, np.int32)
    for lane, (into, out_of, size) in case.get("lanes", {}).items():
        where[lane], nbytes[lane] = (into, out_of), size
    arguments = (
        x,
        other,
        y,
        where,
        nbytes,
        case.get("early", 0),
        case.get("bars", 1),
        case.get("mine", 1),
        case.get("half", 64),
    )
    found: list = []
    try:
        of_run = kernel.run(2, 64, arguments, check=check)
        found = [of_run.counters, of_run.findings]
    except softlab.KernelFault as fault:
        found = [str(fault)]
    return found, y.tobytes()


@pytest.mark.parametrize("name", each(2, CASES))
def test_copies_that_begin_together_are_those_of_one_lane_after_the_other(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = softlab.Kernel(SOURCE, "k")
    checks = (
        (True, "collect")
        if name in ("read early", "nobody waits", "two copies to one place", "beyond the array")
        else (True,)
    )
    together = [run(kernel, CASES[name], check) for check in checks]
    begun: list[int] = []
    monkeypatch.setattr(BulkCopies, "_load_together", lambda self, lanes, *values: begun.append(lanes.count))
    assert [run(kernel, CASES[name], check) for check in checks] == together
    assert max(begun) > 1
    is_good = name in [*list(CASES)[:4], "longer copies"]
    assert (len(together[0][0]) == 2 and not together[0][0][1]) == is_good


def test_lanes_that_come_one_by_one() -> None:
    random = np.random.default_rng(0)
    for mask in (random.random((3, 64)) < 0.4, np.ones((2, 32), bool), np.arange(64)[None] == 5):
        lanes = lanes_of(mask)
        number = np.flatnonzero(mask)
        ones = list(each_lane(lanes, number.reshape(lanes.extent), np.uint64(7)))
        assert [values for _, values in ones] == [(one, 7) for one in number]
        assert [np.flatnonzero(one.mask).tolist() for one, _ in ones] == [[one] for one in number]
