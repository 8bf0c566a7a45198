"""Loops that wait: for an mbarrier, a lock, a flag or a time. Lanes that only others can let go on make room for them,
waits that never end are found at once, and long loops that end are left alone."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.cuda import assembler
from softlab.errors import KernelFault
from softlab.kernel import Kernel

#: Far less than such a wait takes if it is not understood, and more than a batch of these kernels needs.
BUDGET = 20_000

BARRIER = "#include <cuda/barrier>\nusing B = cuda::barrier<cuda::thread_scope_block>;\n"
SHARED_BARRIER = "__shared__ B b; if (threadIdx.x == 0) init(&b, blockDim.x + x[511]); __syncthreads();\n"
RAW = """__shared__ unsigned long long b; unsigned a = __cvta_generic_to_shared(&b);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(a), "r"(129));
  __syncthreads();
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(a));
  int p = 0;
  while (!p) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
    : "=r"(p) : "r"(a));"""
BULK = """__shared__ alignas(128) int copy[128]; B::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(copy, x, cuda::aligned_size_t<16>(256), b);
    token = cuda::device::barrier_arrive_tx(b, 1, 512);
  } else token = b.arrive();
  b.wait(std::move(token)); x[threadIdx.x] = copy[threadIdx.x];"""


def kernel(body: str, before: str = "") -> Kernel:
    return Kernel(f'{before}extern "C" __global__ void k(int* x) {{ {body} }}', "k")


@pytest.mark.parametrize(
    ("body", "before", "more", "missing"),
    [
        (SHARED_BARRIER + "b.arrive_and_wait();", BARRIER, 1, "1 of 129 arrivals are missing"),
        (SHARED_BARRIER + "if (threadIdx.x >= 32) b.arrive_and_wait();", BARRIER, 0, "32 of 128 arrivals are missing"),
        (RAW, "", 0, "1 of 129 arrivals are missing"),
        (SHARED_BARRIER + BULK, BARRIER, 0, "256 bytes of copies are missing"),
    ],
    ids=["cuda::barrier", "one warp", "try_wait", "bulk copy"],
)
def test_a_forgotten_arrival_is_found_at_once(body, before, more, missing):
    x = np.zeros(512, np.int32)
    x[511] = more
    with pytest.raises(KernelFault, match=rf"a loop that cannot end.*{missing}") as caught:
        kernel(body, before).run(4, 128, (x,), budget=BUDGET)
    assert caught.value.kind == "infinite-loop"


def test_a_wait_with_a_timeout_ends():
    waits = kernel(
        SHARED_BARRIER
        + "bool over = b.try_wait_for(b.arrive(), cuda::std::chrono::seconds(2)); x[threadIdx.x] = over ? 1 : 2;",
        BARRIER,
    )
    for more, expected in ((1, 2), (0, 1)):
        x = np.zeros(512, np.int32)
        x[511] = more
        waits.run(1, 128, (x,), budget=BUDGET)
        assert (x[:128] == expected).all()


@pytest.mark.parametrize(
    "body",
    [
        "long long begin = clock64(); while (clock64() - begin < 100000000ll) {} x[0] = 1;",
        "unsigned begin = clock(); while (clock() - begin < 4000000000u) {} x[0] = 1;",
        "long long t = clock64(); for (int i = 0; i < 5; ++i) { while (clock64() < t + i * 1000000) {} } x[0] = 1;",
    ],
)
def test_a_wait_for_a_time_ends(body):
    x = np.zeros(1, np.int32)
    kernel(body).run(1, 1, (x,), budget=BUDGET)
    assert x[0] == 1


def test_lanes_that_wait_for_a_time_do_not_hold_up_the_others():
    """The lanes that wait come first in the code, and the time does not pass before the others have done their work."""
    x = np.zeros(64, np.int32)
    kernel("""if (threadIdx.x < 32) {
        long long begin = clock64();
        while (((volatile int*)x)[63] == 0 && clock64() - begin < 1000000000ll) {}
        x[threadIdx.x] = x[63];
      } else { for (int i = 0; i < 500; ++i) __nanosleep(100); __threadfence(); atomicExch(&x[63], 7); }""").run(
        1, 64, (x,), check=False, budget=BUDGET
    )
    assert (x[:32] == 7).all()


def test_a_lock_is_polled_only_when_it_may_be_free():
    body = """if (threadIdx.x % 32 == 0) for (int i = 0; i < 4; ++i) {
        while (atomicCAS(x, 0, 1) != 0) {}
        __threadfence(); *(volatile int*)(x + 1) = *(volatile int*)(x + 1) + 1; __threadfence();
        atomicExch(x, 0); }"""
    x = np.zeros(2, np.int32)
    run = kernel(body).run(8, 256, (x,))
    assert x.tolist() == [0, 256]
    # 64 warps: each waits until all before it are done, and looks twice each time.
    assert run.counters["ptx_instructions"] < 64 * 64 / 2 * 20


@pytest.mark.further
def test_a_semaphore():
    """libcu++ waits with a pause that grows with the time."""
    source = """#include <cuda/semaphore>
    extern "C" __global__ void k(int* x) {
      __shared__ cuda::binary_semaphore<cuda::thread_scope_block> free; __shared__ int n;
      if (threadIdx.x == 0) { new (&free) cuda::binary_semaphore<cuda::thread_scope_block>(1); n = 0; }
      __syncthreads();
      for (int i = 0; i < 4; ++i) if (threadIdx.x % 32 == 0) { free.acquire(); n += 1; free.release(); }
      __syncthreads();
      x[threadIdx.x] = n; }"""
    x = np.zeros(256, np.int32)
    Kernel(source, "k").run(1, 256, (x,), budget=BUDGET)
    assert (x == 32).all()


@pytest.mark.parametrize(
    "body",
    [
        "while (true) *(volatile int*)x = 1;",
        "int n = 0; while (true) *(volatile int*)x = ++n;",
        "int i = threadIdx.x, sum = 0; while (i < 100) { sum += x[i]; x[101] = sum; }",
        "for (unsigned i = 9; i >= 0; --i) x[i % 8] = i;",
        "int n = 0; while (*(volatile int*)x == 0) ++n; x[1] = n;",
        "unsigned pause = 8; while (atomicCAS(x, 7, 8) != 7) { __nanosleep(pause); if (pause < 256) pause *= 2; }",
    ],
)
def test_a_loop_that_cannot_end_is_found_at_once(body):
    """Also where it stores, sums up, or changes its addresses."""
    with pytest.raises(KernelFault, match="a loop that cannot end") as caught:
        kernel(body).run(1, 1, (np.zeros(128, np.int32),), budget=50_000)
    assert caught.value.kind == "infinite-loop"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (int i = 0; i < 9000; ++i) *(volatile int*)x = i;", 8999),
        ("volatile int* v = x; while (v[0] < 4000) v[0] = v[0] + 1;", 4000),
        ("volatile int* v = x; while (v[0] < 3) { v[1] = v[1] + 1; v[0] = v[1] / 2000; }", 3),
        ("unsigned r = 1; int n = 0; do { r = r * 69069u + 1u; ++n; } while (r % 8192 != 7u); x[0] = n;", 3698),
    ],
)
def test_a_long_loop_that_ends(body, expected):
    """What decides changes in memory or in a register, sometimes only after many turns."""
    x = np.zeros(2, np.int32)
    kernel(body).run(1, 1, (x,), check=False, record=False)
    assert x[0] == expected


@pytest.mark.parametrize("before", [0, 1])
def test_a_block_of_a_loop_that_changes_nothing_is_no_repetition(before, monkeypatch):
    """Whichever of the loop's blocks is looked at, after an even or an odd number of steps."""
    ptx = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 before) {
  .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [before];
  mov.u32 %r2, 0;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra LOOP;
  mov.u32 %r3, 0;
LOOP:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 4000;
  setp.eq.u32 %p3, %r2, 0;
  @%p3 bra END;
  @%p2 bra LOOP;
END:
  st.global.u32 [%rd1], %r2;
  ret;
}
"""
    monkeypatch.setattr(assembler, "find_tool", lambda name: None)  # no machine code is needed
    x = np.zeros(1, np.uint32)
    Kernel.from_ptx(ptx, "k").run(1, 1, (x, np.uint32(before)), check=False, record=False, compiled="none")
    assert x[0] == 4000


def test_a_loop_that_only_its_own_stores_could_end():
    """It stores to one word and waits for another: a larger budget is patience."""
    body = "volatile int* v = x; int n = 0; while (v[0] == 0) v[1] = ++n;"
    with pytest.raises(KernelFault, match=r"has not changed for a long time.*raise budget=\n") as caught:
        kernel(body).run(1, 1, (np.zeros(2, np.int32),), check=False, budget=2_000_000)
    assert caught.value.kind == "infinite-loop"
    slow = "volatile int* v = x; while (v[0] == 0) { v[1] = v[1] + 1; v[0] = v[1] / 9000; }"
    x = np.zeros(2, np.int32)
    kernel(slow).run(1, 1, (x,), check=False, record=False, budget=10_000_000)
    assert x[0] == 1


@pytest.mark.further
@pytest.mark.slow
def test_a_loop_of_two_million_turns():
    x = np.ones(1, np.int32)
    kernel("int y = x[0]; for (int i = 0; i < 2000000; ++i) y = y * 3 + (y >> 5) + i; x[0] = y;").run(
        1, 1, (x,), check=False, record=False
    )
    y = np.int64(1)
    for i in range(2_000_000):
        y = (int(y) * 3 + (int(y) >> 5) + i + 2**31) % 2**32 - 2**31
    assert x[0] == y


@pytest.mark.parametrize("first", [0, 32])
@pytest.mark.parametrize("poll", ["try_wait", "test_wait"])
def test_a_poll_that_fails_lets_those_go_on_who_wait_for_its_answer(poll: str, first: int):
    """One warp asks once for a phase that never ends and says so in a flag, for which another warp waits."""
    body = f"""__shared__ unsigned long long b; unsigned a = __cvta_generic_to_shared(&b); volatile int* flag = x + 64;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 2;" :: "r"(a));
  __syncthreads();
  if (threadIdx.x / 32 == {first // 32}) {{
    int p;
    asm volatile("{{ .reg .pred p; mbarrier.{poll}.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }}"
      : "=r"(p) : "r"(a));
    *flag = 7 + p;
  }} else while (*flag == 0);
  x[threadIdx.x] = *flag;"""
    x = np.zeros(65, np.int32)
    kernel(body).run(1, 64, (x,), budget=BUDGET, check=False)
    assert x.tolist() == [7] * 65


@pytest.mark.parametrize("stores", [1, 400])
def test_two_loops_that_wait_for_flags_of_nobody_are_found_at_once(stores: int):
    """However much was written before."""
    body = f"""volatile int* flag = x;
  for (int k = 0; k < {stores}; ++k) flag[threadIdx.x] = k;
  if (threadIdx.x < 32) while (flag[100] == 0); else while (flag[101] == 0);"""
    with pytest.raises(KernelFault, match="a loop that cannot end") as caught:
        kernel(body).run(1, 64, (np.zeros(128, np.int32),), budget=BUDGET, check=False)
    assert caught.value.kind == "infinite-loop"


@pytest.mark.parametrize("waits_first", [True, False])
@pytest.mark.parametrize("check", [True, False])
def test_who_waits_in_a_loop_looks_as_soon_as_memory_changes(waits_first: bool, check: bool):
    """And not only when all others wait, too: it sees each turn of a writer that waits for nobody."""
    write = '_Pragma("unroll 1") for (int i = 1; i <= n; ++i) { *turn = i; __threadfence(); }'
    read = "for (int i = 1; i <= n; ++i) { while (*turn < i); x[i] = *turn; }"
    body = f"""volatile int* turn = x; int n = x[7];
  if (threadIdx.x == 0) {{ {read if waits_first else write} }}
  else if (threadIdx.x == 32) {{ {write if waits_first else read} }}"""
    x = np.array([0, 0, 0, 0, 0, 0, 0, 5], np.int32)
    kernel(body).run(1, 64, (x,), budget=BUDGET, check=check)
    assert x.tolist() == [5, 1, 2, 3, 4, 5, 0, 5]
