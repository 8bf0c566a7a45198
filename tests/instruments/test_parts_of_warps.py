"""One lane of a warp waits for a flag: the others know of it when they have met that lane."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.native import Choice, compiling
from softlab.instruments.parts_of_warps import PartsOfWarps
from softlab.kernel import Kernel
from tests.sampled import turns

#: Block 1 fills the rows that block 0 reads. Of the lanes that WAITERS names, each waits for the flag.
SOURCE = """extern "C" __global__ void hand_over(const float* x, float* rows, int* flag, float* y, int first) {
  int t = threadIdx.x, lane = t % 32;
  if (blockIdx.x == 1) {
    rows[t] = x[t] + 1;
    __syncthreads();
    __threadfence();
    if (t == 5) atomicExch(flag, 1);
    return;
  }
  if (WAITERS) {
    while (LOOK == 0) {}
    __threadfence();
  }
  MEET
  y[t] = rows[(t + first) % 64];
}"""
ATOMIC, VOLATILE = "atomicAdd(flag, 0)", "*(volatile int*)flag"
FLOATS = np.arange(64, dtype=np.float32)


def kinds(
    source: str, name: str, arguments: tuple, compiled: Choice = "hot"
) -> set[tuple[str, int | None, int | None]]:
    with compiling(compiled):
        found = Kernel(source, name).run(2, 64, arguments, check="collect", record=False).findings
    return {(finding.kind, finding.line, finding.other_line) for finding in found}


@pytest.mark.parametrize(("waiters", "meet", "race", "look", "compiled"), turns(2, [
        ("lane == 7", "", True), ("lane == 7", "__syncwarp();", False), ("lane == 7", "__syncthreads();", False),
        ("t == 7", "__syncwarp();", True), ("t == 7", "__syncthreads();", False), ("lane % 4 != 1", "", True),
        ("lane == 7", "if (__shfl_sync(~0u, t, 7) < 0) return;", False), ("lane < 32", "", False),
        ("lane == 7", "if (lane != 7 && LOOK == 0) return;", False),
        ("lane == 7", 'asm volatile("bar.sync 1, 64;" ::: "memory");', False),
    ], [ATOMIC, VOLATILE], ["none", "all"]))  # fmt: skip
def test_who_has_met_the_lane_that_waited_comes_after_the_writer(
    waiters: str, meet: str, race: bool, look: str, compiled: Choice
) -> None:
    source = SOURCE.replace("WAITERS", waiters).replace("MEET", meet).replace("LOOK", look)
    arguments = FLOATS, 0 * FLOATS, np.zeros(1, np.int32), 0 * FLOATS, 3
    assert kinds(source, "hand_over", arguments, compiled) == ({("race", 15, 4)} if race else set())


@pytest.mark.parametrize(("meet", "race"), [("", True), ("__syncwarp();", False)])
def test_a_row_is_filled_again_by_lanes_that_have_not_waited(meet: str, race: bool) -> None:
    """The flag says that the row has been read; one lane per warp waits for it, and all of them write."""
    source = """extern "C" __global__ void again(float* row, volatile int* read, float* y) {
      int t = threadIdx.x;
      if (blockIdx.x == 1) {
        y[t] = row[63 - t];
        __syncthreads();
        if (t < 2) read[t] = 1;
        return;
      }
      if (t % 32 == 0) while (read[t / 32] == 0) {}
      MEET
      row[t] = 2 * t;
    }"""
    arguments = FLOATS.copy(), np.zeros(2, np.int32), 0 * FLOATS
    assert kinds(source.replace("MEET", meet), "again", arguments) == ({("race", 11, 4)} if race else set())


@pytest.mark.parametrize("wait", ["while (*(volatile int*)&flag == 0) {}", "WAIT"])
@pytest.mark.parametrize(("meet", "race"), [("", True), ("__syncwarp();", False)])
def test_a_lane_waits_at_a_flag_or_an_mbarrier_in_shared_memory(wait: str, meet: str, race: bool) -> None:
    """Global memory that warp 0 writes; of warp 1 one lane waits, or all."""
    source = f"""#define AT(p) static_cast<unsigned>(__cvta_generic_to_shared(p))
    #define WAIT asm volatile("{{ .reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra w; }}" \
                              ::"r"(AT(&bar)) : "memory")
    extern "C" __global__ void k(const float* x, float* row, float* y) {{
      __shared__ int flag;
      __shared__ unsigned long long bar;
      int t = threadIdx.x;
      if (t == 0) {{
        flag = 0;
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(AT(&bar)) : "memory");
      }}
      __syncthreads();
      if (t < 32) {{
        row[t] = x[t];
        __threadfence();
        __syncwarp();
        if (t == 0) atomicExch(&flag, 1);
        asm volatile("{{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }}" ::"r"(AT(&bar)) : "memory");
      }} else {{
        if (t == 40) {wait};
        {meet}
        y[t] = row[63 - t];
      }}
    }}"""
    found = Kernel(source, "k").run(1, 64, (FLOATS, 0 * FLOATS, 0 * FLOATS), check="collect", record=False).findings
    lines = {number for number, line in enumerate(source.splitlines(), 1) if "row[" in line}
    assert [(f.kind, {f.line, f.other_line}) for f in found] == [("race", lines)] * race


def test_what_lanes_know_until_all_have_learnt():
    parts = PartsOfWarps()
    near, far = np.array([4, 0]), np.array([0, 6, 0, 9])
    parts.learn(1, 0b0110, near, far)
    parts.learn(2, 0xFFFFFFFF, near, far)
    parts.add({1: 0b0110, 5: 1})
    near[:], far[:] = 99, 99
    parts.learn(1, 0b1000, near, far)
    parts.add({1: 0b1000})
    mine = np.array([32, 33, 34, 35, 36, 36, 36, 64])
    time, is_near = np.array([3, 9, 9, 9, 4, 5, 8, 50]), np.array([1, 1, 0, 0, 1, 0, 0, 0], bool)
    warp, column = np.array([0, 0, 7, 7, 0, 7, 7, 7]), np.array([-1, -1, 1, 1, 0, 1, -1, 0])
    assert parts.know(mine, time, is_near, warp, column).tolist() == [True, True, True, True, False, True, True, True]
    parts.add({1: 0xFFFFFFF1})
    assert not parts
    parts.learn(3, 1, near, far)
    parts.learn(4, 1, near, far)
    parts.join([3, 9])
    assert parts
    parts.join([4])
    assert not parts
