"""Lanes that all use the mbarrier at one offset of their own blocks: one look for all gives what one per lane gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softlab.emulator.machine.native import available
from softlab.emulator.memory.mbarriers import Mbarriers
from softlab.instruments.cluster_hazards import ClusterHazards
from softlab.instruments.global_hazards import GlobalHazards
from softlab.kernel import Kernel
from tests.sampled import turns

SOURCE = r"""
__device__ unsigned long long arrive(unsigned at, unsigned count) {
  unsigned long long state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;" : "=l"(state) : "r"(at), "r"(count) : "memory");
  return state;
}
__device__ void wait(unsigned at, unsigned long long state) {
  unsigned over;
  do asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                  : "=r"(over) : "r"(at), "l"(state) : "memory");
  while (!over);
}
template <int kind> __global__ void phases(int* out, int* global, int turns) {
  __shared__ __align__(8) unsigned long long objects[2];
  __shared__ int x[96];
  unsigned at = (unsigned)__cvta_generic_to_shared(objects), t = threadIdx.x, n = blockDim.x;
  if (t < 2) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at + 8 * t), "r"(n * (1 + t)) : "memory");
  if (kind != 1) __syncthreads();
  int sum = 0;
  for (int i = 0; i < turns; ++i) {
    x[t] = i + t;
    global[blockIdx.x * n + t] = i * t;
    unsigned long long state = arrive(at, 1);
    if (kind != 2) wait(at, state);
    sum += x[(t + 40) % n] + global[blockIdx.x * n + (t + 40) % n];
    if (kind == 2) wait(at, state);
    state = arrive(at + 8, 2);
    wait(at + 8, state);
    if (t >= 32) { state = arrive(at, 1); sum += (int)(state >> 20); }
    else { state = arrive(at, 1); sum -= (int)(state & 1023); }
    wait(at, state);
  }
  out[blockIdx.x * n + t] = sum;
}
"""


GENERIC = (
    SOURCE.replace(".shared.b64", ".b64")
    .replace("unsigned at = (unsigned)__cvta_generic_to_shared(objects),", "ADDRESS at = (ADDRESS)objects; unsigned")
    .replace("unsigned at", "ADDRESS at")
    .replace('"r"(at', '"l"(at')
    .replace("ADDRESS", "unsigned long long")
)


def _run(kind: int, together: bool, compiled: Any, source: str = SOURCE) -> tuple[Any, np.ndarray, list[Any]]:
    out, scratch, turns = np.zeros(288, np.int32), np.zeros(288, np.int32), 5
    with pytest.MonkeyPatch.context() as patch:
        if not together:
            patch.setattr(Mbarriers, "_one_of_each", lambda *_: None)
            patch.setattr(ClusterHazards, "_use_own", lambda *_: False)
            patch.setattr(GlobalHazards, "_own_words", lambda *_: None)
        kernel = Kernel(source, f"phases<{kind}>")
        run = kernel.run(3, 96, (out, scratch, turns), check="collect", compiled=compiled)
    found = [
        (f.kind, f.severity, f.line, f.other_line, f.thread, f.other_thread, f.count, f.symbol) for f in run.findings
    ]
    return run, out, found


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_one_look_for_all_lanes_is_as_good_as_one_per_lane(kind: int) -> None:
    alone, expected, found = _run(kind, False, "none")
    assert {f[0] for f in found} == ({"race"} if kind else set())
    for compiled in ("none", "all" if available() else None):
        run, out, findings = _run(kind, True, compiled)
        np.testing.assert_array_equal(out, expected)
        assert run.counters == alone.counters
        assert run.lane_instructions == alone.lane_instructions
        assert findings == found


@pytest.mark.parametrize(("kind", "together"), turns(2, [0, 2], [False, True]))
def test_a_generic_address_leads_to_the_same_object(kind: int, together: bool) -> None:
    _, expected, found = _run(kind, together, "none")
    _, out, findings = _run(kind, together, "none", GENERIC)
    np.testing.assert_array_equal(out, expected)
    assert findings == found


def test_lanes_of_blocks_use_one_object_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes by themselves are looked at only where they come too early: in 20 turns of nine uses each."""
    looks = []
    original = Mbarriers._find
    monkeypatch.setattr(Mbarriers, "_find", lambda *given, **how: looks.append(1) or original(*given, **how))
    out, scratch = np.zeros(288, np.int32), np.zeros(288, np.int32)
    Kernel(SOURCE, "phases<0>").run(3, 96, (out, scratch, 20))
    assert len(looks) < 3 * 20  # those that come before a phase is over are looked at


TWO_OBJECTS = """
__device__ void init(unsigned at, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at), "r"(count) : "memory");
}
__device__ unsigned long long arrive(unsigned at) {
  unsigned long long state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
  return state;
}
extern "C" __global__ void k(int* y) {
  __shared__ __align__(8) unsigned long long objects[2];
  unsigned at = (unsigned)__cvta_generic_to_shared(objects), t = threadIdx.x, half = blockDim.x / 2;
  if (t == 0) { init(at, half); init(at + 8, half); }
  __syncthreads();
  if (t < half) arrive(at + 8);
  __syncthreads();
  y[blockIdx.x * blockDim.x + t] = (int)(arrive(t < half ? at : at + 8) >> 20);
}
"""


@pytest.mark.parametrize("threads", [32, 64])
def test_lanes_of_a_warp_at_two_objects_are_in_two_phases(threads: int) -> None:
    """Each object has a phase of its own, also where one warp is all of the block."""
    y = np.zeros(2 * threads, np.int32)
    Kernel(TWO_OBJECTS, "k").run(2, threads, (y,), check=True)
    assert y.reshape(2, 2, -1).tolist() == [[[0] * (threads // 2), [1] * (threads // 2)]] * 2
