"""mbarriers against a model of one in Python, copies in every form, and what waits for what."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
import pytest

from softlab.errors import KernelFault
from softlab.kernel import Kernel

PRELUDE = """
typedef unsigned int u32; typedef unsigned long long u64;
__device__ u32 address_of(const void* p) { return (u32)__cvta_generic_to_shared(p); }
#define ASKED(wait, phase_of, constraint)                                                                  \\
  u32 done;                                                                                                \\
  asm volatile("{ .reg .pred p; mbarrier." wait ".shared" phase_of " p, [%1], %2; selp.u32 %0, 1, 0, p; }" \\
               : "=r"(done) : "r"(a), constraint(phase) : "memory");                                       \\
  return done;
#if __CUDA_ARCH__ >= 900
__device__ bool is_over(u32 a, u32 phase) { ASKED("try_wait.parity", "::cta.b64", "r") }
__device__ bool is_past(u32 a, u64 phase) { ASKED("try_wait", "::cta.b64", "l") }
#else
__device__ bool is_past(u32 a, u64 phase) { ASKED("test_wait", ".b64", "l") }
#endif
__device__ u32 was_over(u32 a, u32 phase) { ASKED("test_wait.parity", ".b64", "r") }
__device__ void init(u32 a, u32 n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(a), "r"(n) : "memory"); }
__device__ u64 arrive(u32 a) {
  u64 state; asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(a) : "memory"); return state; }
"""


def kernel(body: str, arch: str = "sm_90") -> Kernel:
    return Kernel(f'{PRELUDE}\nextern "C" __global__ void k{body}', "k", arch=arch)


# mbarriers


@dataclass
class Model:
    """One mbarrier, as the PTX ISA describes it."""

    expected: int
    pending: int
    phase: int = 0
    nbytes: int = 0

    def settle(self) -> None:
        if self.pending == 0 and self.nbytes == 0:
            self.phase += 1
            self.pending = self.expected

    def apply(self, operation: int, number: int) -> int:
        """What the operation gives: the pending count before an arrival, whether a phase is over for a test."""
        if operation == 0:  # arrive
            before = self.pending
            self.pending -= number
            self.settle()
            return before
        if operation == 1:  # expect_tx
            self.nbytes += number
            return 0
        if operation == 2:  # complete_tx
            self.nbytes -= number
            self.settle()
            return 0
        if operation == 3:  # test_wait.parity
            return int(self.phase % 2 != number % 2)
        before = self.pending  # arrive_drop
        self.pending -= number
        self.expected -= number
        self.settle()
        return before


#: Operations on an mbarrier: text of the switch, and whether it gives a state.
_CASES = ("arrive.shared::cta.b64 %0, [%1], %2", "expect_tx.relaxed.cta.shared::cta.b64 [%0], %1",
          "complete_tx.relaxed.cta.shared::cta.b64 [%0], %1", "",
          "arrive_drop.shared::cta.b64 %0, [%1], %2")  # fmt: skip


def _case(number: int, text: str) -> str:
    if not text:
        return f"case {number}: result = was_over(a, number & 1); break;"
    if "%2" not in text:
        return f'case {number}: asm volatile("mbarrier.{text};" :: "r"(a), "r"(number) : "memory"); break;'
    return f"""case {number}: asm volatile("mbarrier.{text};" : "=l"(state) : "r"(a), "r"(number) : "memory");
      asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(result) : "l"(state)); break;"""


RANDOM_WALK = f"""(const int* operations, int* results, int n, int count) {{
  __shared__ u64 object; u32 a = address_of(&object);
  init(a, count);
  const int* mine = operations + blockIdx.x * 2 * n;
  for (int i = 0; i < n; ++i) {{
    u64 state = 0; u32 result = 0; int number = mine[2 * i + 1];
    switch (mine[2 * i]) {{ {" ".join(_case(*case) for case in enumerate(_CASES))} }}
    results[blockIdx.x * n + i] = result; }} }}"""


def random_walk(rng: np.random.Generator, steps: int, count: int) -> tuple[list[tuple[int, int]], list[int]]:
    """Operations that are allowed, and what they give."""
    model, operations, results = Model(count, count), [], []
    outstanding: deque[int] = deque()
    while len(operations) < steps:
        operation = int(rng.integers(0, 5))
        number = int(rng.integers(1, 4))
        if operation in (0, 4) and number > model.pending:
            continue
        if operation == 4 and model.expected - number < 1:
            continue
        if operation == 1:
            number *= 16
            outstanding.append(number)
        if operation == 2:
            if not outstanding:
                continue
            number = outstanding.popleft()
        operations.append((operation, number))
        results.append(model.apply(operation, number))
    return operations, results


def test_random_walks_of_an_mbarrier():
    rng = np.random.default_rng(5)
    walks = [random_walk(rng, 120, 9) for _ in range(12)]
    operations = np.array([walk[0] for walk in walks], np.int32)
    results = np.full((12, 120), -1, np.int32)
    kernel(RANDOM_WALK).run(12, 1, (operations, results, 120, 9), check=False)
    assert results.tolist() == [walk[1] for walk in walks]


def test_states_name_phases():
    """A thread waits by the state of its own arrival; the block is in step after each turn."""
    body = """(int* out, int turns) {
      __shared__ u64 object; __shared__ int value; u32 a = address_of(&object);
      if (threadIdx.x == 0) { init(a, 96); value = 0; }
      __syncthreads(); int sum = 0;
      for (int t = 0; t < turns; ++t) {
        if (threadIdx.x == 32 * (t % 3)) value += t + 1;
        u64 written = arrive(a);
        while (!is_past(a, written)) { }
        sum = 7 * sum + value;
        u64 read = arrive(a);
        while (!is_past(a, read)) { } }
      out[blockIdx.x * 96 + threadIdx.x] = sum; }"""
    for arch in ("sm_80", "sm_90"):
        out = np.zeros((3, 96), np.int32)
        kernel(body, arch).run(3, 96, (out, 5))
        expected = 0
        for t in range(5):
            expected = 7 * expected + sum(range(1, t + 2))
        assert (out == expected).all()


@pytest.mark.further
def test_the_standard_librarys_barrier_and_pipeline():
    """cuda::barrier waits by asking with time-outs, cuda::pipeline counts copies."""
    source = """
    #include <cuda/barrier>
    #include <cuda/pipeline>
    extern "C" __global__ void k(const float* x, float* y) {
      __shared__ cuda::barrier<cuda::thread_scope_block> barrier; __shared__ __align__(16) float part[128];
      if (threadIdx.x == 0) init(&barrier, blockDim.x);
      __syncthreads();
      cuda::memcpy_async(part + threadIdx.x, x + blockIdx.x * 128 + threadIdx.x, sizeof(float), barrier);
      barrier.arrive_and_wait();
      y[blockIdx.x * 128 + threadIdx.x] = part[127 - threadIdx.x]; }"""
    x, y = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    for arch in ("sm_80", "sm_90"):
        Kernel(source, "k", arch=arch).run(2, 128, (x, y))
        assert (y.reshape(2, 128) == x.reshape(2, 128)[:, ::-1]).all()


def test_a_phase_that_nobody_ends():
    body = """(int* out) { __shared__ u64 object; u32 a = address_of(&object);
      if (threadIdx.x == 0) init(a, 33);
      __syncthreads();
      arrive(a);
      while (!is_over(a, 0)) { } }"""
    with pytest.raises(KernelFault) as caught:
        kernel(body).run(1, 32, (np.zeros(1, np.int32),))
    assert caught.value.kind == "infinite-loop"


def test_a_thread_that_asks_once_and_goes_on():
    """try_wait may say "not yet": a loop with an end of its own comes to it."""
    body = """(int* out) { __shared__ u64 object; u32 a = address_of(&object); bool done = false; int asked = 0;
      if (threadIdx.x == 0) init(a, 2);
      __syncthreads();
      for (; asked < 5 && !done; ++asked) done = is_over(a, 0);
      out[threadIdx.x] = 10 * asked + done; }"""
    out = np.zeros(32, np.int32)
    kernel(body).run(1, 32, (out,))
    assert (out == 50).all()


# Copies


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize(("width", "cache"), [(4, "ca"), (8, "ca"), (16, "ca"), (16, "cg")])
def test_every_source_size(width, cache, arch):
    """Lane t copies t % (width + 1) bytes of each copy; the rest is zero. Nothing behind the array is read."""
    body = f"""(const char* x, char* y) {{
      __shared__ __align__(16) char slot[32 * {width}]; u32 a = address_of(slot + {width} * threadIdx.x);
      u64 policy; asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 0.5;" : "=l"(policy));
      asm volatile("cp.async.{cache}.shared.global.L2::cache_hint.L2::128B [%0], [%1], {width}, %2, %3;"
                   :: "r"(a), "l"(x + {width} * threadIdx.x), "r"((31 - threadIdx.x) % {width + 1}), "l"(policy)
                   : "memory");
      asm volatile("cp.async.commit_group;\\ncp.async.wait_group 0;" ::: "memory");
      for (int i = 0; i < {width}; ++i) y[{width} * threadIdx.x + i] = slot[{width} * threadIdx.x + i]; }}"""
    x = np.random.default_rng(width).integers(1, 256, 31 * width).astype(np.uint8)  # the last lane copies nothing
    y = np.full(32 * width, 99, np.uint8)
    kernel(body, arch).run(1, 32, (x, y))
    for lane in range(32):
        size = (31 - lane) % (width + 1)
        expected = [*x[lane * width : lane * width + size], *[0] * (width - size)]
        assert y[lane * width : (lane + 1) * width].tolist() == expected


def test_a_predicate_leaves_copies_out():
    body = """(const int* x, int* y) { __shared__ int slot[64]; u32 a = address_of(slot + threadIdx.x);
      asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; cp.async.ca.shared.global [%0], [%1], 4, p; }"
                   :: "r"(a), "l"(x + threadIdx.x), "r"(threadIdx.x % 3) : "memory");
      asm volatile("cp.async.wait_all;" ::: "memory"); y[threadIdx.x] = slot[threadIdx.x]; }"""
    x, y = np.arange(1, 65, dtype=np.int32), np.zeros(64, np.int32)
    kernel(body).run(1, 64, (x, y))
    assert y.tolist() == [v if (v - 1) % 3 == 0 else 0 for v in range(1, 65)]


def test_groups_of_each_thread_are_its_own():
    """Warps commit different numbers of groups; each finds the copies that it waited for, and the old data else."""
    body = """(const int* x, int* y) { __shared__ int slot[4][64];
      for (int g = 0; g < 4; ++g) slot[g][threadIdx.x] = -1;
      int groups = 1 + threadIdx.x / 32 * 3;
      for (int g = 0; g < groups; ++g) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(address_of(&slot[g][threadIdx.x])),
                     "l"(x + 64 * g + threadIdx.x) : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory"); }
      asm volatile("cp.async.wait_group 2;" ::: "memory");
      for (int g = 0; g < 4; ++g) y[64 * g + threadIdx.x] = slot[g][threadIdx.x];
      asm volatile("cp.async.wait_all;" ::: "memory"); }"""
    x, y = np.arange(256, dtype=np.int32), np.zeros((4, 64), np.int32)
    kernel(body).run(1, 64, (x, y), check=False)
    expected = np.full((4, 64), -1)
    expected[:2, 32:] = x.reshape(4, 64)[:2, 32:]
    assert (y == expected).all()


def test_nothing_is_there_before_it_is_waited_for():
    """Without checks the old data is read; with checks it is a fault at that line."""
    body = """(const float* x, float* y) { __shared__ __align__(16) float row[64]; __shared__ u64 object;
      row[threadIdx.x] = -1;
      if (threadIdx.x == 0) init(address_of(&object), 1);
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
      if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" :: "r"(address_of(&object)) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                     "[%0], [%1], 256, [%2], %3;" :: "r"(address_of(row)), "l"(x),
                     "r"(address_of(&object)), "l"(0ull) : "memory"); }
      __syncthreads();
      y[threadIdx.x] = row[threadIdx.x];
      while (!is_over(address_of(&object), 0)) { }
      y[64 + threadIdx.x] = row[threadIdx.x]; }"""
    x, y = np.arange(64, dtype=np.float32), np.zeros(128, np.float32)
    k = kernel(body)
    k.run(1, 64, (x, y), check=False)
    assert y.tolist() == [-1.0] * 64 + x.tolist()
    with pytest.raises(KernelFault, match="asynchronous copy may still be writing") as caught:
        k.run(1, 64, (x, y))
    assert caught.value.kind == "race"
    lines = (PRELUDE + '\nextern "C" __global__ void k' + body).splitlines()
    assert "y[threadIdx.x] = row[threadIdx.x];" in lines[caught.value.line - 1]


def test_from_one_blocks_shared_memory_to_anothers():
    source = f"""{PRELUDE}
    extern "C" __global__ void __cluster_dims__(2) k(int* y) {{
      __shared__ __align__(16) int mine[64], theirs[64]; __shared__ u64 object; u32 rank, there, bar;
      asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
      mine[threadIdx.x] = 100 * rank + threadIdx.x;
      if (threadIdx.x == 0) {{
        init(address_of(&object), 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;"
                     :: "r"(address_of(&object)) : "memory"); }}
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      asm volatile("barrier.cluster.arrive.aligned;\\nbarrier.cluster.wait.aligned;" ::: "memory");
      asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address_of(theirs)), "r"(rank ^ 1));
      asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bar) : "r"(address_of(&object)), "r"(rank ^ 1));
      if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                     :: "r"(there), "r"(address_of(mine)), "r"(bar) : "memory");
      while (!is_over(address_of(&object), 0)) {{ }}
      y[blockIdx.x * 64 + threadIdx.x] = theirs[threadIdx.x]; }}"""
    y = np.zeros((4, 64), np.int32)
    Kernel(source, "k").run(4, 64, (y,))
    assert (y == 100 * (1 - np.arange(4)[:, None] % 2) + np.arange(64)).all()


def test_what_a_misaligned_bulk_copy_says():
    """An address is that in its array, or in the block's shared memory."""
    body = """(const char* x, int to, int from, int nbytes) {
      __shared__ alignas(128) char filled[256]; __shared__ alignas(16) char s[256];
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        :: "r"(address_of(filled + to)), "l"(x + from), "r"(nbytes), "r"(address_of(s)) : "memory"); }"""
    copies, x = kernel(body), np.zeros(512, np.uint8)
    for to, start, nbytes, words, address, argument in (
        (24, 32, 64, "goes to byte 24", 24, None),
        (32, 40, 64, "comes from byte 40", 40, 0),
        (32, 48, 72, "has a size of 72 bytes", 72, None),
    ):
        with pytest.raises(KernelFault, match=words) as caught:
            copies.run(1, 1, (x, to, start, nbytes))
        fault = caught.value
        assert (fault.kind, fault.address, fault.argument) == ("misaligned", address, argument)


# What else fast kernels say


def test_hints_change_nothing():
    body = """(const float* x, float* y) {
      const float* from = x + 4 * threadIdx.x; float a, b, c, d; u64 policy;
      asm volatile("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %0, 1.0;" : "=l"(policy));
      asm volatile("prefetch.global.L2 [%0];\\nprefetch.global.L2::evict_last [%0];" :: "l"(from));
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], 16;" :: "l"(x));
      asm volatile("griddepcontrol.wait;\\ngriddepcontrol.launch_dependents;\\nnanosleep.u32 20;" ::: "memory");
      asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(from));
      asm volatile("st.global.L1::evict_first.L2::cache_hint.v2.f32 [%0], {%1, %2}, %3;"
                   :: "l"(y + 4 * threadIdx.x), "f"(d), "f"(c), "l"(policy) : "memory");
      asm volatile("ld.global.L1::evict_last.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(a) : "l"(from + 1), "l"(policy));
      u32 leader;
      asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(leader));
      y[4 * threadIdx.x + 2] = a; y[4 * threadIdx.x + 3] = leader; }"""
    x, y = np.arange(128, dtype=np.float32), np.zeros((32, 4), np.float32)
    kernel(body).run(1, 32, (x, y))
    assert y.tolist() == [[4 * t + 3, 4 * t + 2, 4 * t + 1, t == 0] for t in range(32)]


def test_thirty_two_bytes_at_once():
    body = """(const float* x, float* y) { float v[8]; const float* from = x + 8 * threadIdx.x;
      asm volatile("ld.global.v8.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];" : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]),
                   "=f"(v[3]), "=f"(v[4]), "=f"(v[5]), "=f"(v[6]), "=f"(v[7]) : "l"(from));
      asm volatile("st.global.v8.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" :: "l"(y + 8 * threadIdx.x), "f"(v[7]),
                   "f"(v[6]), "f"(v[5]), "f"(v[4]), "f"(v[3]), "f"(v[2]), "f"(v[1]), "f"(v[0]) : "memory"); }"""
    x, y = np.arange(256, dtype=np.float32), np.zeros((32, 8), np.float32)
    kernel(body, "sm_100").run(1, 32, (x, y))
    assert (y == x.reshape(32, 8)[:, ::-1]).all()


def test_the_last_block_adds_up():
    source = """__device__ unsigned done;
    extern "C" __global__ void k(const float* x, volatile float* parts, float* y, int n) {
      __shared__ bool last; float sum = 0;
      for (int i = blockIdx.x; i < n; i += gridDim.x) sum += x[i];
      if (threadIdx.x == 0) { parts[blockIdx.x] = sum; __threadfence();
        last = atomicAdd(&done, 1) == gridDim.x - 1; }
      __syncthreads();
      if (last && threadIdx.x == 0) { __threadfence(); float all = 0;
        for (int b = 0; b < gridDim.x; ++b) all += parts[b];
        *y = all; } }"""
    x = np.random.default_rng(0).integers(-50, 50, 3000).astype(np.float32)
    parts, y = np.zeros(700, np.float32), np.zeros(1, np.float32)
    Kernel(source, "k").run(700, 64, (x, parts, y, 3000))
    assert y[0] == x.sum()


def test_a_block_that_waits_for_one_that_has_not_begun():
    source = """extern "C" __global__ void k(volatile int* flag) {
      if (blockIdx.x == gridDim.x - 1) *flag = 1;
      if (blockIdx.x == 0) while (*flag == 0) { } }"""
    flag = np.zeros(1, np.int32)
    Kernel(source, "k").run(16, 1024, (flag,))  # all at a time: fine
    with pytest.raises(KernelFault, match="of the 40 blocks of the grid 16 run at a time") as caught:
        Kernel(source, "k").run(40, 1024, (np.zeros(1, np.int32),))
    assert caught.value.kind == "infinite-loop"
