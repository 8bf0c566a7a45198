"""Barriers of PTX: numbers, thread counts and places (PTX ISA, "bar, barrier")."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softlab.errors import KernelFault
from softlab.kernel import Kernel
from softlab.traces import Run


def launch(body: str, block: int, *args: Any, **how: Any) -> Run:
    source = f'extern "C" __global__ void k(const int* x, int* y) {{\n{body}\n}}'
    return Kernel(source, "k").run(
        1, block, args or (np.arange(block, dtype=np.int32), np.zeros(block, np.int32)), **how
    )


def fault(body: str, block: int, **how: Any) -> KernelFault:
    with pytest.raises(KernelFault) as caught:
        launch(body, block, **how)
    assert caught.value.kind == "barrier-divergence"
    return caught.value


BAR, BARRIER = "bar.sync", "barrier.sync"
#: Two warps meet at barrier 1, each at a place of its own.
TWO_PLACES = """int t = threadIdx.x;
__shared__ int s[64];
s[t] = x[t];
if (t < 32) {{
  asm volatile("{opcode} 1, 64;" ::: "memory");
  y[t] = s[t + 32];
}} else {{
  asm volatile("{opcode} 1, 64;" ::: "memory");
  y[t] = -s[t - 32];
}}"""


@pytest.mark.parametrize("order", [None, (0, 1), (1, 0)])
@pytest.mark.parametrize("opcode", [BAR, BARRIER])
def test_warps_reach_a_named_barrier_from_two_places(opcode: str, order: tuple[int, ...] | None) -> None:
    x, y = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    run = launch(TWO_PLACES.format(opcode=opcode), 64, x, y, warp_order=order)
    assert run.findings == ()
    assert y.tolist() == [*range(32, 64), *(-i for i in range(32))]


def test_a_warp_that_is_torn_names_its_own_threads() -> None:
    """Warp 0 comes to the second place alone: it is not to blame."""
    body = """int t = threadIdx.x;
if (t >= 32 && t < 48) {
  asm volatile("bar.sync 1, 64;" ::: "memory");
  y[t] = 1;
} else {
  asm volatile("bar.sync 1, 64;" ::: "memory");
  y[t] = 2;
}"""
    found = fault(body, 64)
    assert {found.thread, found.other_thread} == {(32, 0, 0), (48, 0, 0)}
    assert {found.line, found.other_line} == {4, 7}


@pytest.mark.parametrize("order", [(0, 2, 1, 3), (0, 2, 3, 1), (3, 1, 0, 2)])
def test_the_number_of_a_barrier_is_in_a_register(order: tuple[int, ...]) -> None:
    """One pair of warps passes the instruction while a warp of the other pair waits there for its own barrier."""
    body = """int t = threadIdx.x, pair = t / 64 + 1;
__shared__ int s[128];
s[t] = x[t];
asm volatile("bar.sync %0, 64;" :: "r"(pair) : "memory");
y[t] = s[t ^ 32];"""
    x, y = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    run = launch(body, 128, x, y, warp_order=order)
    assert run.findings == ()
    assert (y == x ^ 32).all()


def test_a_warp_has_arrived_when_all_its_threads_have() -> None:
    """Half of warp 0 waits while the other half still writes what it reads: the count is of whole warps."""
    body = """int t = threadIdx.x;
__shared__ int s[64];
if (t < 16) {
  asm volatile("barrier.sync 1, 64;" ::: "memory");
  y[t] = s[t + 16];
} else {
  s[t] = x[t];
  asm volatile("barrier.sync 1, 64;" ::: "memory");
  y[t] = s[t];
}"""
    x, y = np.arange(64, dtype=np.int32) + 5, np.zeros(64, np.int32)
    launch(body, 64, x, y, warp_order=(1, 0))
    assert (y[:16] == x[16:32]).all()


def test_threads_that_have_exited_are_not_waited_for_in_their_warp() -> None:
    body = """int t = threadIdx.x;
if (t >= 40) return;
asm volatile("barrier.sync 1, 64;" ::: "memory");
y[t] = x[t];"""
    x, y = np.ones(64, np.int32), np.zeros(64, np.int32)
    launch(body, 64, x, y)
    assert y.sum() == 40


def test_a_barrier_releases_as_many_warps_as_it_counts() -> None:
    """Three warps come to a barrier for two: the third one waits for ever."""
    found = fault('asm volatile("bar.sync 1, 64;" ::: "memory");\ny[threadIdx.x] = 1;', 96)
    assert (found.line, found.thread) == (2, (64, 0, 0))
    assert "barrier 1" in str(found)
    assert "64 threads" in str(found)
    assert "32 have come" in str(found)


def test_a_count_beyond_the_block() -> None:
    found = fault('asm volatile("bar.sync 1, 128;" ::: "memory");', 64)
    assert found.line == 2
    assert "128 threads" in str(found)
    assert "64 have come" in str(found)


@pytest.mark.parametrize(
    ("barrier", "words"),
    [
        ("bar.sync 1, 48;", "48 threads, which is no multiple of 32"),
        ("bar.sync 1, 0;", "0 threads, which is no multiple of 32 above 0"),
        ("bar.sync 16, 64;", "barrier 16: a block has the barriers 0 to 15"),
    ],
)
def test_numbers_and_counts_that_no_gpu_takes(barrier: str, words: str) -> None:
    number, *count = barrier.removeprefix("bar.sync ").rstrip(";").split(", ")
    register = f"int number = {number} + (x[0] - x[0]), count = {count[0]} + (x[1] - x[1]);\n"
    found = fault(register + 'asm volatile("bar.sync %0, %1;" :: "r"(number), "r"(count) : "memory");', 64, check=False)
    assert found.line == 3
    assert words in str(found)


def test_two_thread_counts_at_one_barrier() -> None:
    body = """if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;" ::: "memory");
else asm volatile("bar.sync 1, 32;" ::: "memory");
y[threadIdx.x] = x[threadIdx.x];"""
    found = fault(body, 64)
    assert "64 and 32" in str(found) or "32 and 64" in str(found)
    assert {found.line, found.other_line} == {2, 3}


def test_a_warp_arrives_twice_before_the_barrier_completes() -> None:
    body = """if (threadIdx.x < 32) {
  asm volatile("bar.arrive 1, 64;" ::: "memory");
  asm volatile("bar.arrive 1, 64;" ::: "memory");
} else asm volatile("bar.sync 1, 64;" ::: "memory");
y[threadIdx.x] = x[threadIdx.x];"""
    found = fault(body, 64)
    assert (found.line, found.thread) == (4, (0, 0, 0))
    assert "twice" in str(found)


def test_a_vote_does_not_mix_with_a_plain_barrier() -> None:
    body = """int t = threadIdx.x;
if (t < 32)
  y[t] = __syncthreads_count(x[t] > 3);
else {
  __syncthreads();
  y[t] = 7;
}"""
    found = fault(body, 64)
    assert {found.line, found.other_line} == {4, 6}
    assert "votes" in str(found)


HALVES = """int t = threadIdx.x;
__shared__ int s[128];
s[t] = x[t];
if (t < 64) {
  __syncthreads();
  y[t] = s[t + 64];
} else {
  __syncthreads();
  y[t] = s[t - 64];
}"""


@pytest.mark.parametrize("check", [True, "collect"])
def test_halves_of_a_block_at_two_syncthreads_are_a_warning(check: bool | str) -> None:
    x, y = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    run = launch(HALVES, 128, x, y, check=check)
    assert (y == x ^ 64).all()
    (found,) = run.findings
    assert (found.kind, found.severity) == ("barrier-divergence", "warning")
    assert {found.line, found.other_line} == {6, 9}
    assert {found.thread, found.other_thread} == {(0, 0, 0), (64, 0, 0)}
    assert found.block == found.other_block == (0, 0, 0)
    assert "CUDA C++ Programming Guide" in found.message
    assert found.count == 1


def test_one_warning_per_pair_of_places_says_how_often() -> None:
    body = """for (int i = 0; i < 5; ++i)
  if (threadIdx.x < 32) {
    __syncthreads();
    y[threadIdx.x] += i;
  } else {
    __syncthreads();
    y[threadIdx.x] -= i;
  }"""
    run = launch(body, 64)
    assert [(f.severity, f.count) for f in run.findings] == [("warning", 5)]


def test_threads_of_one_warp_at_two_syncthreads_are_an_error() -> None:
    body = """int t = threadIdx.x;
if (t % 2) {
  y[t] = 1;
  __syncthreads();
  y[t] += 3;
} else {
  y[t] = 2;
  __syncthreads();
  y[t] += 5;
}"""
    found = fault(body, 64)
    assert {found.line, found.other_line} == {5, 9}
    assert found.thread is not None
    assert found.other_thread is not None
    assert found.thread[0] // 32 == found.other_thread[0] // 32


def test_threads_of_one_warp_may_part_at_a_barrier_that_is_not_aligned() -> None:
    body = """int t = threadIdx.x;
__shared__ int s[64];
s[t] = x[t];
if (t % 2) {
  asm volatile("barrier.sync 1;" ::: "memory");
  y[t] = s[63 - t];
} else {
  asm volatile("barrier.sync 1;" ::: "memory");
  y[t] = -s[63 - t];
}"""
    run = launch(body, 64)
    assert run.findings == ()


@pytest.mark.parametrize("order", [None, (0, 1)])
def test_a_thread_that_never_comes_is_an_error(order: tuple[int, ...] | None) -> None:
    body = """if (threadIdx.x < 32)
  __syncthreads();
y[threadIdx.x] = 1;"""
    assert fault(body, 64, warp_order=order).line == 3


@pytest.mark.parametrize(("barrier", "found"), [("bar.sync", True), ("barrier.sync", False)])
def test_lanes_that_go_around_a_barrier_of_their_warp(barrier: str, found: bool) -> None:
    """Half of warp 0 waits at a barrier for one warp. An aligned barrier wants the whole warp."""
    body = f"""int t = threadIdx.x;
if (t < 16) {{
  asm volatile("{barrier} 1, 32;" ::: "memory");
  y[t] = x[t];
}}
y[32 + t] = 1;"""
    findings = launch(body, 64, np.zeros(64, np.int32), np.zeros(96, np.int32), check="collect").findings
    assert [(f.kind, f.line, f.thread) for f in findings] == [("barrier-divergence", 4, (16, 0, 0))] * found
    assert all("A warp comes to an aligned barrier (bar.sync) as a whole" in f.message for f in findings)


def test_blocks_that_take_different_branches_do_not_meet() -> None:
    """Each block as a whole is at one barrier; the exits at the end complete both at once."""
    source = """extern "C" __global__ void k(int* y) {
  int t = threadIdx.x;
  if (t >= 32) { if (y[0] == 0) return; }
  if (blockIdx.x == 0) {
    y[t] += 1;
    __syncthreads();
    y[t] += 2;
  } else {
    y[64 + t] += 3;
    __syncthreads();
    y[64 + t] += 4;
  }
}"""
    y = np.zeros(128, np.int32)
    run = Kernel(source, "k").run(2, 64, (y,), check="collect", warp_order=(0, 1))
    assert [f for f in run.findings if f.kind == "barrier-divergence"] == []
    assert y[:32].tolist() == [3] * 32
    assert y[64:96].tolist() == [7] * 32


def test_more_warps_than_the_barrier_counts() -> None:
    """Three of four warps pass, one of which came alone before the others. The fourth begins the next turn."""
    body = """__shared__ volatile int second; int t = threadIdx.x; second = 0; __syncthreads();
      if (t < 32) {
        asm volatile("bar.sync 1, 96;" ::: "memory");
        y[t] = second;
      } else {
        asm volatile("bar.sync 2, 96;" ::: "memory");
        asm volatile("bar.sync 1, 96;" ::: "memory");
        y[t] = second;
      }
      if (t < 64) {
        asm volatile("bar.sync 3, 64;" ::: "memory");
        second = 1;
        asm volatile("bar.arrive 1, 96;" ::: "memory");
      }"""
    y = np.zeros(128, np.int32)
    launch(body, 128, np.zeros(1, np.int32), y, check=False)
    assert y.reshape(4, 32).min(axis=1).tolist() == y.reshape(4, 32).max(axis=1).tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("stay", "barrier", "kinds"),
    [
        (50, "bar.sync 0", []),
        (32, "bar.sync 0", []),
        (64, "bar.sync 0, 64", []),
        (32, "bar.sync 0, 64", ["barrier-divergence"]),
    ],
)
def test_threads_that_returned_before_a_barrier(stay: int, barrier: str, kinds: list[str]) -> None:
    """Only a barrier with a thread count waits for them."""
    body = f"""__shared__ int s[64]; int t = threadIdx.x;
      if (t >= {stay}) return;
      s[t] = x[t];
      asm volatile("{barrier};" ::: "memory");
      y[t] = s[{stay} - 1 - t];"""
    assert [finding.kind for finding in launch(body, 64, check="collect").findings] == kinds


def test_one_barrier_of_a_function_that_is_called_at_two_places_is_two():
    """Warps that come from different calls meet at different instructions, though of one line."""
    source = """__device__ __noinline__ void meet(int* y) { __syncthreads(); y[threadIdx.x] += 1; }
extern "C" __global__ void k(int* y) {
  if (threadIdx.x < 32) { meet(y); y[threadIdx.x] *= 3; }
  else { y[threadIdx.x] = 7; meet(y); }
}"""
    run = Kernel(source, "k").run(1, 64, (np.zeros(64, np.int32),), check="collect", record=False)
    assert [(f.kind, f.severity, f.line) for f in run.findings] == [("barrier-divergence", "warning", 1)]


@pytest.mark.parametrize("order", [None, (0, 1), (1, 0)])
@pytest.mark.parametrize(
    ("arrival", "else_", "found"),
    [
        ("bar.arrive", "y[t] = 1;", True), ("barrier.arrive.aligned", "y[t] = 1;", True), ("bar.arrive", "", True),
        ("bar.arrive", "return;", False), ("barrier.arrive", "y[t] = 1;", False),
    ],
)  # fmt: skip
def test_lanes_that_go_around_an_arrival_of_their_warp(
    arrival: str, else_: str, found: bool, order: tuple[int, ...] | None
) -> None:
    """Some lanes of warp 1 arrive at a barrier. Those that have ended need not; without .aligned nobody must."""
    body = f"""int t = threadIdx.x;
if (t < 32) {{ asm volatile("bar.sync 3, 64;" ::: "memory"); return; }}
if (t > 40) {{
  asm volatile("{arrival} 3, 64;" ::: "memory");
}} else {{ {else_} }}
__syncwarp(__activemask());
y[t] = x[t] + 2;"""
    findings = launch(body, 64, np.ones(64, "i4"), np.zeros(64, "i4"), check="collect", warp_order=order).findings
    assert [(f.kind, f.line, f.thread) for f in findings] == [("barrier-divergence", 5, (32, 0, 0))] * found
    assert all("other threads of its warp have arrived" in f.message for f in findings)


def test_lanes_may_part_before_and_behind_an_arrival() -> None:
    body = """int t = threadIdx.x;
for (int k = 0; k < 3; ++k) {
  if (t < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    y[t] += k;
    asm volatile("bar.sync 2, 64;" ::: "memory");
  } else {
    if (t % 2) y[t] += x[t];
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    if (t % 2) y[t] += 2;
    asm volatile("bar.sync 2, 64;" ::: "memory");
  }
}"""
    assert launch(body, 64, np.ones(64, "i4"), np.zeros(64, "i4")).findings == ()
