"""What warps learn of each other at mbarriers, phase by phase, beside a model; and kernels in which it matters."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.lanes import Box
from softlab.errors import KernelFault
from softlab.instruments.warp_knowledge import _PHASES, WarpKnowledge
from softlab.kernel import Kernel

ROWS, WARPS, WORD = 3, 3, 5


class Model:
    """``heard[row, a, b]``: until when warp a comes after warp b; ``told``: what the arrivals of each phase said."""

    def __init__(self) -> None:
        self.heard = np.zeros((ROWS, WARPS, WARPS), np.int64)
        self.told: list[list[tuple[int, np.ndarray]]] = [[] for _ in range(ROWS)]

    def arrive(self, owner: int, row: int, warp: int, phase: int, time: int) -> None:
        """A warp arrives at the mbarrier of a block."""
        known = self.heard[row, warp].copy()
        known[warp] = time
        self.told[owner].append((phase, known if owner == row else np.full(WARPS, time)))

    def wait(self, row: int, warp: int, phase: int) -> None:
        """A warp has waited for a phase of the mbarrier of its block."""
        for of, known in self.told[row]:
            if of <= phase:
                self.heard[row, warp] = np.maximum(self.heard[row, warp], known)


@pytest.mark.parametrize("seed", range(20))
def test_a_wait_learns_of_the_arrivals_up_to_its_phase(seed: int) -> None:
    random = np.random.default_rng(seed)
    knowledge, model, newest = WarpKnowledge(ROWS, WARPS, 8), Model(), np.zeros(ROWS, np.int64)
    knowledge.begin(np.arange(ROWS), np.full(ROWS, WORD))
    box = Box(ROWS, WARPS * 32, None, None)
    for time in range(1, 40):
        row, warp = int(random.integers(ROWS)), int(random.integers(WARPS))
        one = [np.array([n]) for n in (row, warp * 32)]
        match random.integers(7):
            case 0:  # several arrive, from the own block or another one
                owner = int(random.integers(ROWS))
                newest[owner] += random.integers(0, 3)
                knowledge.arrive(np.array([owner]), np.array([WORD]), *one, newest[owner : owner + 1], time, None)
                model.arrive(owner, row, warp, int(newest[owner]), time)
            case 1 | 2:
                phase = max(int(newest[row]) - int(random.integers(0, 4)), 0)
                knowledge.wait(one[0], np.array([WORD]), *one, np.array([phase]))
                model.wait(row, warp, phase)
            case 3:
                newest += random.integers(0, 3, ROWS)
                knowledge.arrive_own(box, WORD, newest[:, None], time, None)
                for at in np.ndindex(ROWS, WARPS):
                    model.arrive(at[0], *at, int(newest[at[0]]), time)
            case 4:
                phases = np.maximum(newest - random.integers(0, 4, ROWS), 0)
                knowledge.wait_own(box, WORD, phases[:, None])
                for at in np.ndindex(ROWS, WARPS):
                    model.wait(*at, int(phases[at[0]]))
            case 5:  # the other warps of one block, or of all
                rows = None if random.integers(2) else np.arange(ROWS) == row
                part, newest = Box(ROWS, WARPS * 32, rows, np.arange(WARPS * 32) // 32 != warp), newest + 1
                here = range(ROWS) if rows is None else [row]
                knowledge.arrive_own(part, WORD, newest[here][:, None], time, None)
                for owner in here:
                    for other in set(range(WARPS)) - {warp}:
                        model.arrive(owner, owner, other, int(newest[owner]), time)
            case 6:  # two warps meet at a named barrier, at which one of them, or both, wait
                warps = random.permutation(WARPS)[:2]
                waiting = warps[: random.integers(1, 3)]
                knowledge.join(row, warps, waiting)
                model.heard[row, waiting] = model.heard[row, warps].max(axis=0)
        np.testing.assert_array_equal(knowledge.heard, model.heard)


def test_a_block_that_stood_for_all_is_repeated() -> None:
    one, every = WarpKnowledge(1, WARPS, 8), WarpKnowledge(ROWS, WARPS, 8)
    for knowledge, count in ((one, 1), (every, ROWS)):
        rows = np.arange(count)
        knowledge.begin(rows, np.full(count, WORD))
        for warp, word, time in ((0, 1, 5), (1, 3, 7)):
            knowledge.fence(rows, np.full(count, 32 * warp), time, None)
            knowledge.release(rows, np.full((count, 1), word), rows, np.full(count, 32 * warp))
        knowledge.arrive(rows, np.full(count, WORD), rows, np.zeros(count, int), np.zeros(count, int), 9, None)
    one.repeat(ROWS)
    rows, second = np.arange(ROWS), np.array([1])
    for knowledge in (one, every):  # what the second block alone releases then is its own
        knowledge.fence(second, np.array([64]), 11, None)
        knowledge.release(second, np.array([[3]]), second, np.array([64]))
    for word in (1, 3):
        for knowledge in (one, every):
            knowledge.acquire(rows, np.full((ROWS, 1), word), rows, np.full(ROWS, 64))
        np.testing.assert_array_equal(one.heard, every.heard)
    assert one.heard[:, 2].tolist() == [[5, 7, 0], [5, 7, 11], [5, 7, 0]]
    for knowledge in (one, every):
        knowledge.wait(rows, np.full(ROWS, WORD), rows, np.full(ROWS, 32), np.zeros(ROWS, int))
    np.testing.assert_array_equal(one.heard, every.heard)
    assert one.heard[:, 1, 0].tolist() == [9] * ROWS


def test_of_phases_long_past_a_late_one_learns_too_much_and_never_too_little() -> None:
    knowledge = WarpKnowledge(1, WARPS, 8)
    zero, word = np.zeros(1, np.int64), np.array([WORD])
    knowledge.begin(zero, word)
    for phase in range(10):
        knowledge.arrive(zero, word, zero, np.array([phase % 2 * 32]), np.array([phase]), phase + 1, None)
    knowledge.wait(zero, word, zero, np.array([64]), np.array([1]))
    assert (knowledge.heard[0, 2] >= [1, 2, 0]).all()
    knowledge.wait(zero, word, zero, np.array([0]), np.array([-1]))
    assert not knowledge.heard[0, 0].any()


SOURCE = """#include <cuda/barrier>
#define NOTE _Pragma("nv_diag_suppress static_var_with_dynamic_init")
extern "C" __global__ void counted(const int* x, int* y, int count) {
  __shared__ int s[64];
  NOTE __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, count);
  __syncthreads();
  s[threadIdx.x] = x[threadIdx.x];
  bar.arrive_and_wait();
  y[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void flag_of_one_warp(int* y) {
  __shared__ int s[96];
  __shared__ volatile int flags[2];
  int t = threadIdx.x;
  if (t < 2) flags[t] = 0;
  __syncthreads();
  if (t < 64) {
    s[t] = t;
    __threadfence_block();
    __syncwarp();
    if (t % 32 == 0) flags[t / 32] = 1;
  } else {
    while (flags[0] == 0) {}
    y[t - 64] = s[t - 64];
    FIRST
    y[t - 64] += s[t - 32];
  }
}
extern "C" __global__ void exchanged(int* y) {
  __shared__ int s[32];
  int old = atomicExch(&s[threadIdx.x], 1);
  y[threadIdx.x] = s[31 - threadIdx.x] RESULT;
}
"""


def _run(kernel: str, arguments: list, threads: int, **text: str) -> None:
    source = SOURCE
    for name in ("FIRST", "RESULT"):
        source = source.replace(name, text.get(name, ""))
    Kernel(source, kernel).run(1, threads, arguments, record=False)


def _words(count: int = 64) -> np.ndarray:
    return np.zeros(count, np.int32)


def test_an_mbarrier_for_half_of_the_block_lets_a_warp_pass_early() -> None:
    _run("counted", [_words(), _words(), 64], 64)
    with pytest.raises(KernelFault, match="wrote") as caught:
        _run("counted", [_words(), _words(), 32], 64)
    assert (caught.value.line, caught.value.other_line) == (10, 8)


def test_lanes_of_a_warp_that_arrive_in_two_phases_are_reported() -> None:
    with pytest.raises(KernelFault, match="fewer arrivals than come") as caught:
        _run("counted", [_words(), _words(), 16], 64)
    assert caught.value.kind == "mbarrier-misuse"
    assert caught.value.line == 9


def test_the_flag_of_a_warp_says_nothing_of_another_warp() -> None:
    _run("flag_of_one_warp", [_words(32)], 96, FIRST="while (flags[1] == 0) {}")
    with pytest.raises(KernelFault) as caught:
        _run("flag_of_one_warp", [_words(32)], 96, FIRST="")
    assert caught.value.kind == "race"
    assert caught.value.thread == (64, 0, 0)
    assert caught.value.other_thread == (32, 0, 0)


def test_an_exchange_reads_where_its_old_value_is_used() -> None:
    with pytest.raises(KernelFault) as caught:
        _run("exchanged", [_words(32)], 32, RESULT="+ old")
    assert caught.value.kind == "uninitialized-shared"
    assert caught.value.line == 32
    with pytest.raises(KernelFault) as caught:
        _run("exchanged", [_words(32)], 32, RESULT="")
    assert caught.value.kind == "race"  # only the missing warp barrier


@pytest.mark.parametrize("seed", range(6))
def test_arrivals_of_any_phase_count_for_theirs_and_all_later_ones(seed: int) -> None:
    """Of each mbarrier the latest four phases are told apart: one that came late counts for those up to the newest."""
    random = np.random.default_rng(seed)
    rows, warps, objects = 2, 3, 3
    knowledge = WarpKnowledge(rows, warps, 9)
    knowledge._phases = np.zeros((rows, objects, _PHASES, warps), np.int64)
    knowledge._newest = np.zeros((rows, objects), np.int64)
    told: dict[tuple[int, int], list[tuple[int, list[int]]]] = {}
    newest = np.zeros((rows, objects), int)
    for _ in range(60):
        count = int(random.integers(1, 5))
        owner, column = random.integers(0, rows, count), random.integers(0, objects, count)
        phase = np.maximum(newest[owner, column] + random.integers(1 - _PHASES, 3, count), 0)
        vector = random.integers(0, 100, (count, warps))
        knowledge._publish(owner, column, phase, vector)
        for row, of, at, values in zip(owner.tolist(), column.tolist(), phase.tolist(), vector.tolist(), strict=True):
            told.setdefault((row, of), []).append((at, values))
            newest[row, of] = max(newest[row, of], at)
        np.testing.assert_array_equal(knowledge._newest, newest)
        for (row, of), arrivals in told.items():
            for asked in range(max(0, newest[row, of] - _PHASES + 1), newest[row, of] + 1):
                counted = [values for at, values in arrivals if at <= asked]
                wanted = np.max(counted, axis=0) if counted else np.zeros(warps, int)
                found = knowledge._of_phase(np.array([row]), np.array([of]), np.array([asked]))[0]
                np.testing.assert_array_equal(found, wanted)
    assert (knowledge._of_phase(np.array([0]), np.array([0]), np.array([-1])) == 0).all()
    assert newest.max() > 8
