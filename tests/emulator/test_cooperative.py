"""Blocks that wait for each other: all of a grid at once, through global memory."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from softlab.errors import Error, KernelFault
from softlab.instruments.native_access import STEP, NativeAccess
from softlab.kernel import Kernel
from tests.sampled import sampled, turns

PRELUDE = """
typedef unsigned int u32; typedef unsigned long long u64;
__device__ u32 acquire(const u32* at) {
  u32 v; asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory"); return v; }
__device__ u32 relaxed(const u32* at) {
  u32 v; asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory"); return v; }
__device__ void release(u32* at, u32 v) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" :: "l"(at), "r"(v) : "memory"); }
__device__ void add_release(u32* at, u32 v) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" :: "l"(at), "r"(v) : "memory"); }
__device__ void write_tagged(u64* at, u64 a, u64 b) {
  asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" :: "l"(at), "l"(a), "l"(b) : "memory"); }
__device__ void read_tagged(const u64* at, u64& a, u64& b) {
  asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(at) : "memory"); }
__device__ u32 address_of(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ void wait(u64* barrier, u32 phase) {
  u32 over = 0;
  while (!over) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
                             "selp.u32 %0, 1, 0, p; }" : "=r"(over) : "r"(address_of(barrier)), "r"(phase) : "memory");
}
__device__ void init(u64* barrier, u32 n) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(address_of(barrier)), "r"(n) : "memory"); }
__device__ void arrive(u64* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(address_of(barrier)) : "memory"); }
__device__ void copy(void* to, const void* from, u32 bytes, u64* barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(address_of(barrier)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :: "r"(address_of(to)), "l"(from), "r"(bytes), "r"(address_of(barrier)) : "memory"); }
__device__ void grid_barrier(u32* arrived, u32 phase) {
  __syncthreads();
  if (threadIdx.x == 0) { add_release(arrived, 1); while (acquire(arrived) < gridDim.x * phase) {} }
  __syncthreads();
}
"""
#: Each block takes over its right neighbour's number, many times.
ROTATE = """(u32* x, u32* arrived, int rounds) {
  const int right = (blockIdx.x + 1) % gridDim.x;
  u32 phase = 0;
  for (int t = 0; t < rounds; ++t) {
    const u32 mine = relaxed(&x[right * blockDim.x + threadIdx.x]);
    grid_barrier(arrived, ++phase);
    x[blockIdx.x * blockDim.x + threadIdx.x] = mine + 1;
    grid_barrier(arrived, ++phase);
  } }"""
#: More blocks of 1024 threads than a batch has.
MANY = 40


def kernel(body: str, arch: str = "sm_90") -> Kernel:
    return Kernel(f'{PRELUDE}\nextern "C" __global__ void k{body}', "k", arch=arch)


@pytest.mark.parametrize(("grid", "block"), [(8, 32), (8, 96), (MANY, 1024), ((2, 2, 2), 33), (264, 64)])
def test_a_barrier_of_the_grid(grid, block):
    count = int(np.prod(grid))
    flat = """(u32* x, u32* arrived) {
      const u32 blocks = gridDim.x * gridDim.y * gridDim.z;
      const u32 own = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
      const u32 mine = relaxed(&x[(own + 1) % blocks * blockDim.x + threadIdx.x]);
      __syncthreads();
      if (threadIdx.x == 0) { atomicAdd(arrived, 1); while (acquire(arrived) < blocks) {} }
      __syncthreads();
      x[own * blockDim.x + threadIdx.x] = mine; }"""
    x = np.arange(count * block, dtype=np.uint32).reshape(count, block)
    expected = np.roll(x, -1, axis=0)
    kernel(flat).run(grid, block, (x, np.zeros(1, np.uint32)), cooperative=True)
    assert (x == expected).all()


def test_many_barriers_one_after_another():
    x, arrived = np.arange(8 * 64, dtype=np.uint32).reshape(8, 64), np.zeros(1, np.uint32)
    expected = np.roll(x, -11, axis=0) + 11
    kernel(ROTATE).run(8, 64, (x, arrived, 11), cooperative=True)
    assert (x == expected).all()
    assert arrived == 8 * 22


def test_a_first_release_tells_orders_that_are_not_compiled_where_accesses_are(monkeypatch):
    """As in a process that has compiled the search for races, and not yet the orders."""
    monkeypatch.setattr(NativeAccess, "ready", lambda self, compiled: True)
    monkeypatch.setattr(STEP, "ready", lambda compiled, work=1.0: False)
    x, arrived = np.arange(8 * 64, dtype=np.uint32).reshape(8, 64), np.zeros(1, np.uint32)
    kernel(ROTATE).run(8, 64, (x, arrived, 3), cooperative=True)
    assert (x == np.roll(np.arange(8 * 64).reshape(8, 64), -3, axis=0) + 3).all()


@pytest.mark.parametrize("order", [(1, 0), (0, 1)])
def test_in_another_order_of_warps(order):
    x, arrived = np.arange(8 * 64, dtype=np.uint32).reshape(8, 64), np.zeros(1, np.uint32)
    expected = np.roll(x, -3, axis=0) + 3
    kernel(ROTATE).run(8, 64, (x, arrived, 3), cooperative=True, warp_order=order)
    assert (x == expected).all()


#: In each block one warp copies a row, four add it up, one writes the sum to the mailbox, and one adds up the sums of
#: all blocks. While the last one spins on global memory, the others wait at mbarriers of their blocks, some for copies.
TAGGED_PARTIALS = """(const u32* x, u32* y, u64* mailbox, int rows) {
  __shared__ __align__(128) u32 row[2][256];
  __shared__ u32 total[2];
  __shared__ __align__(8) u64 full[2], added[2], empty[2];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) { init(&full[s], 1); init(&added[s], 128); init(&empty[s], 1); total[s] = 0; }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  for (int r = 0; r < rows; ++r) {
    const int slot = r % 2, phase = r / 2 % 2;
    if (warp < 4) {
      wait(&full[slot], phase);
      atomicAdd(&total[slot], row[slot][threadIdx.x] + row[slot][threadIdx.x + 128]);
      arrive(&added[slot]);
    } else if (warp == 4) {
      if (lane == 0) {
        if (r >= 2) wait(&empty[slot], phase ^ 1);
        copy(row[slot], x + (r * gridDim.x + blockIdx.x) * 256, 1024, &full[slot]);
      }
    } else if (warp == 5) {
      wait(&added[slot], phase);
      if (lane == 0) {
        const u64 tag = (u64)(r + 1) << 32;
        write_tagged(mailbox + (r * gridDim.x + blockIdx.x) * 2, tag | total[slot], tag | 77);
        total[slot] = 0;
        arrive(&empty[slot]);
      }
      __syncwarp();
    } else {
      u32 all = 0;
      for (int b = lane; b < gridDim.x; b += 32) {
        u64 one, two;
        do read_tagged(mailbox + (r * gridDim.x + b) * 2, one, two); while (one >> 32 != r + 1 || two >> 32 != r + 1);
        all += (u32)one;
      }
      all = __reduce_add_sync(~0u, all);
      if (lane == 0) y[r * gridDim.x + blockIdx.x] = all;
    }
  } }"""


#: `.ci/run` runs a hundred blocks with all warps in lock step, `make test` also in other orders of the warps.
TAGGED_CASES = sampled(
    product([1, 8, 100], [None, (6, 5, 4, 3, 2, 1, 0), (4, 0, 6, 1, 5, 2, 3)]),
    lambda grid, order: grid < 100 or order is None,
)


@pytest.mark.parametrize(("grid", "order"), TAGGED_CASES)
def test_tagged_partials_between_blocks_while_others_wait_for_copies(grid, order):
    rows = 5
    x = np.random.default_rng(grid).integers(0, 1000, (rows, grid, 256), dtype=np.uint32)
    y = np.zeros((rows, grid), np.uint32)
    mailbox = np.zeros((rows, grid, 2), np.uint64)
    kernel(TAGGED_PARTIALS).run(grid, 7 * 32, (x, y, mailbox, rows), cooperative=True, warp_order=order)
    assert (y == x.sum(axis=(1, 2))[:, None]).all()
    tags = np.arange(1, rows + 1, dtype=np.uint64)[:, None] << np.uint64(32)
    assert (mailbox[..., 0] == tags + x.sum(axis=2, dtype=np.uint64)).all()
    assert (mailbox[..., 1] == tags + np.uint64(77)).all()


#: Sums over all blocks up to the own one, and over all. In each block one warp spins until its left neighbour's partial
#: comes, another until the last block's comes. A third adds up a copy, waits at an mbarrier for the first warp's value
#: and writes the block's own partial. When a partial comes, all other blocks still spin, at two instructions.
CHAIN = """(const u32* x, u32* y, u32* all, u64* mailbox, int rows) {
  __shared__ __align__(128) u32 row[2][32];
  __shared__ u32 before[2];
  __shared__ __align__(8) u64 full[2], known[2], empty[2];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) { init(&full[s], 1); init(&known[s], 1); init(&empty[s], 1); }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  for (int r = 0; r < rows; ++r) {
    const int slot = r % 2, phase = r / 2 % 2;
    const u64 tag = (u64)(r + 1) << 32;
    u64* const first = mailbox + r * gridDim.x * 2;
    u64 one = tag, two = tag;
    if (warp == 0) {
      wait(&full[slot], phase);
      u32 sum = __reduce_add_sync(~0u, row[slot][lane]);
      wait(&known[slot], phase);
      sum += before[slot];
      if (lane == 0) {
        write_tagged(first + blockIdx.x * 2, tag | sum, tag);
        y[r * gridDim.x + blockIdx.x] = sum;
        arrive(&empty[slot]);
      }
      __syncwarp();
    } else if (lane == 0) {
      if (r >= 2 && warp < 3) wait(&empty[slot], phase ^ 1);
      if (warp == 1) {
        copy(row[slot], x + (r * gridDim.x + blockIdx.x) * 32, 128, &full[slot]);
      } else if (warp == 2) {
        if (blockIdx.x > 0) do read_tagged(first + (blockIdx.x - 1) * 2, one, two); while ((one ^ tag) >> 32);
        before[slot] = (u32)one;
        arrive(&known[slot]);
      } else {
        do read_tagged(first + (gridDim.x - 1) * 2, one, two); while ((two ^ tag) >> 32);
        all[r * gridDim.x + blockIdx.x] = (u32)one;
      }
    }
  } }"""


@pytest.mark.parametrize(
    ("order", "grid"), turns(3, [None, *map(pytest.param, [(3, 2, 1, 0), (0, 2, 3, 1)])], [1, 8, 40])
)
def test_a_chain_of_tagged_partials(grid, order):
    """Threads at an mbarrier are asked again before the others' spinning counts as an infinite loop."""
    rows = 4
    x = np.random.default_rng(grid).integers(0, 1000, (rows, grid, 32), dtype=np.uint32)
    y, total = np.zeros((2, rows, grid), np.uint32)
    mailbox = np.zeros((rows, grid, 2), np.uint64)
    kernel(CHAIN).run(grid, 128, (x, y, total, mailbox, rows), cooperative=True, warp_order=order)
    assert (y == x.sum(axis=2).cumsum(axis=1)).all()
    assert (total == x.sum(axis=(1, 2))[:, None]).all()


def test_four_that_pass_a_flag_on():
    """In every order, at four instructions: a warp that read before a write reads again after it."""
    body = """(u32* flags, const u32* next, u32 first) {
      __shared__ __align__(8) u64 round;
      const u32 warp = threadIdx.x / 32;
      if (threadIdx.x == 0) init(&round, 128);
      __syncthreads();
    #define PASS_ON(w) asm volatile("// warp " #w); \\
      if (warp == w) for (u32 r = 0; r < 3; ++r) { \\
        if (r) wait(&round, (r - 1) % 2); \\
        if (first != w) while (relaxed(flags + w) <= r) {} \\
        release(flags + next[w], r + 1); \\
        arrive(&round); }
      PASS_ON(0) PASS_ON(1) PASS_ON(2) PASS_ON(3) }"""
    k = kernel(body)
    for order in permutations(range(4)):
        following = np.zeros(4, np.uint32)
        following[list(order)] = np.roll(order, -1)
        flags = np.zeros(4, np.uint32)
        k.run(1, 128, (flags, following, order[0]))
        assert (flags == 3).all()


def test_accesses_that_name_their_order():
    """Loads, stores and reductions with an order and a scope do what the plain ones do."""
    body = """(u64* x, u32* n, float* f) {
      u64 a, b;
      asm volatile("ld.acquire.gpu.global.v2.b64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(x + 2 * threadIdx.x));
      asm volatile("st.release.gpu.global.v2.b64 [%0], {%1, %2};" :: "l"(x + 2 * threadIdx.x), "l"(b), "l"(a)
                   : "memory");
      asm volatile("st.relaxed.sys.global.b64 [%0], %1;" :: "l"(x + 128 + threadIdx.x), "l"(a ^ b) : "memory");
      asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" :: "l"(n), "r"(threadIdx.x) : "memory");
      asm volatile("red.release.gpu.global.max.u32 [%0], %1;" :: "l"(n + 1), "r"(threadIdx.x) : "memory");
      asm volatile("red.release.gpu.global.add.u64 [%0], %1;" :: "l"(x + 192), "l"(a) : "memory");
      asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" :: "l"(f), "f"(0.5f) : "memory");
      u32 old; asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 3;" : "=r"(old) : "l"(n + 2) : "memory");
      n[3 + old / 3] = threadIdx.x + 1; }"""
    before = np.random.default_rng(0).integers(0, 2**62, 193, dtype=np.uint64)
    x, n, f = before.copy(), np.zeros(67, np.uint32), np.zeros(1, np.float32)
    kernel(body).run(1, 64, (x, n, f))
    pairs = before[:128].reshape(64, 2)
    assert (x[:128].reshape(64, 2) == pairs[:, ::-1]).all()
    assert (x[128:192] == pairs[:, 0] ^ pairs[:, 1]).all()
    assert int(x[192]) == sum(map(int, [before[192], *pairs[:, 0]])) % 2**64
    assert n[:3].tolist() == [64 * 63 // 2, 63, 3 * 64]
    assert sorted(n[3:].tolist()) == list(range(1, 65))
    assert f == 32


def test_clusters_meet_in_the_grid():
    source = """(u32* x, u32* arrived) {
      __shared__ u32 rank;
      asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
      grid_barrier(arrived, 1);
      x[blockIdx.x] = acquire(arrived) + rank; }"""
    x = np.zeros(80, np.uint32)
    Kernel(f'{PRELUDE}\nextern "C" __global__ void __cluster_dims__(4) k{source}', "k").run(
        80, 512, (x, np.zeros(1, np.uint32)), cooperative=True
    )
    assert x.tolist() == [80, 81, 82, 83] * 20


def test_an_ordinary_kernel_gives_the_same_and_counts_the_same():
    body = """(const float* x, float* y) { __shared__ float s[1024];
      s[threadIdx.x] = x[blockIdx.x * 1024 + threadIdx.x]; __syncthreads();
      if (threadIdx.x < 512 || blockIdx.x % 3) y[blockIdx.x * 1024 + threadIdx.x] = s[1023 - threadIdx.x]; }"""
    x = np.random.default_rng(0).random((MANY, 1024), np.float32)
    results, runs = [], []
    for cooperative in (False, True):
        results.append(np.zeros_like(x))
        runs.append(kernel(body).run(MANY, 1024, (x, results[-1]), cooperative=cooperative, blocks=(0, 39)))
    assert (results[0] == results[1]).all()
    assert results[0].any()
    assert runs[0].counters == runs[1].counters
    assert runs[0].lane_instructions == runs[1].lane_instructions


# What ends badly


def test_without_a_cooperative_launch_the_fault_names_it():
    x = np.zeros(MANY * 1024, np.uint32)
    with pytest.raises(
        KernelFault, match=r"40 blocks of the grid 16 run at a time.* 24 have not begun.*cooperative=True"
    ):
        kernel(ROTATE).run(MANY, 1024, (x, np.zeros(1, np.uint32), 1))
    long = kernel("(u32* x) { for (u32 n = 0; relaxed(x) == 0; ++n) { if (n == ~0u) x[1] = n; } }")
    hint = r"raise budget=\. If it waits for another block: .*have not begun.*cooperative=True"
    for grid, words in ((MANY, hint), (1, r"if it is only long, raise budget=\n")):
        with pytest.raises(KernelFault, match=words) as caught:
            long.run(grid, 1024, (x,), budget=10_000)
        assert caught.value.kind == "infinite-loop"


def test_the_last_blocks_get_no_such_hint():
    body = "(u32* flag) { if (blockIdx.x == gridDim.x - 1) while (relaxed(flag) == 0) {} }"
    for cooperative in (False, True):
        with pytest.raises(KernelFault, match=r"Check what should end the loop\n") as caught:
            kernel(body).run(MANY, 1024, (np.zeros(1, np.uint32),), cooperative=cooperative)
        assert caught.value.kind == "infinite-loop"
        assert caught.value.block == (MANY - 1, 0, 0)


def test_two_blocks_that_wait_for_each_other():
    body = """(u32* flags) {
      while (relaxed(&flags[1 - blockIdx.x]) == 0) {}
      release(&flags[blockIdx.x], 1); }"""
    with pytest.raises(KernelFault, match="a loop that cannot end") as caught:
        kernel(body).run(2, 32, (np.zeros(2, np.uint32),), cooperative=True)
    assert caught.value.kind == "infinite-loop"


def test_a_partial_that_never_comes_while_others_wait_for_a_copy():
    """The copy comes, but the block that should write the partial waits for another phase, which never ends."""
    body = """(const u32* x, u32* flag, u32* y) {
      __shared__ __align__(128) u32 row[32];
      __shared__ __align__(8) u64 full;
      if (threadIdx.x == 0) { init(&full, 1); asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
      __syncthreads();
      if (threadIdx.x < 32) { while (relaxed(flag) == 0) {} }
      else {
        if (threadIdx.x == 32) copy(row, x, 128, &full);
        wait(&full, 0);
        y[threadIdx.x - 32] = row[threadIdx.x - 32];
        wait(&full, 1);
        release(flag, 1);
      } }"""
    x, y = np.arange(32, dtype=np.uint32), np.zeros(32, np.uint32)
    with pytest.raises(KernelFault) as caught:
        kernel(body).run(3, 64, (x, np.zeros(1, np.uint32), y), cooperative=True)
    assert caught.value.kind == "infinite-loop"
    assert (y == x).all()


# What does not fit


@pytest.mark.parametrize(
    ("arch", "block", "smem", "most"),
    [
        ("sm_90", 1024, 0, 2 * 132),  # 2048 threads per SM
        ("sm_90", 32, 0, 32 * 132),  # 32 blocks per SM
        ("sm_90", 64, 100_000, 2 * 132),  # 228 KiB per SM
        ("sm_75", 1024, 0, 40),  # 1024 threads per SM, 40 SMs
    ],
)
def test_all_blocks_must_fit_on_the_gpu(arch, block, smem, most):
    body = "(unsigned* x) { if (threadIdx.x == 0) atomicAdd(x, 1); }"
    k = Kernel(f'extern "C" __global__ void k{body}', "k", arch=arch)
    x = np.zeros(1, np.uint32)
    k.run(most, block, (x,), smem, cooperative=True, record=False)
    assert x == most
    with pytest.raises(Error, match=rf"has {most + 1} blocks.*holds {most}: .*Launch fewer blocks"):
        k.run(most + 1, block, (x,), smem, cooperative=True)
    k.run(most + 1, block, (x,), smem, record=False)
    assert x == 2 * most + 1


def test_more_local_memory_than_the_emulator_gives():
    body = """(int* x) { int a[30000]; for (int i = 0; i < 30000; ++i) a[i] = x[i % 7] * i; x[0] = a[x[1]]; }"""
    with pytest.raises(
        Error, match=r"runs all 264 blocks at once.* bytes of shared and local memory .*at most 2147483648"
    ):
        kernel(body).run(264, 1024, (np.zeros(8, np.int32),), cooperative=True)
