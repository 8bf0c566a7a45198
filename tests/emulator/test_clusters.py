"""Thread-block clusters: geometry, distributed shared memory and the barrier, against the same in Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from softlab.emulator.machine.compiler import EmulatedProgram
from softlab.emulator.machine.prepare import prepare
from softlab.emulator.ptx.parser import parse
from softlab.errors import CompileError, Error, KernelFault
from softlab.kernel import Kernel

#: What the kernels below share: inline PTX, as a kernel without cooperative groups has it.
PRELUDE = """
typedef unsigned int u32; typedef unsigned long long u64;
#define INFINITY __int_as_float(0x7f800000)
__device__ u32 address_of(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ u32 rank() { u32 r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ u32 ranks() { u32 r; asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(r)); return r; }
__device__ void arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ void wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ void cluster_sync() { arrive(); wait(); }
__device__ u32 map(const void* p, u32 r) {
  u32 a; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(address_of(p)), "r"(r)); return a; }
__device__ float load(u32 a) {
  float v; asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(a) : "memory"); return v; }
__device__ void store(u32 a, float v) { asm volatile("st.shared::cluster.f32 [%0], %1;" :: "r"(a), "f"(v) : "memory"); }
"""


def kernel(body: str, cluster: str = "4", prelude: str = PRELUDE) -> Kernel:
    """A kernel ``k`` with these cluster sizes."""
    return Kernel(f'{prelude}\nextern "C" __global__ void __cluster_dims__({cluster}) k{body}', "k")


@pytest.mark.parametrize(("cluster", "grid"), [((2, 1, 1), (6, 2, 1)), ((2, 3, 1), (4, 6, 2)), ((1, 2, 2), (3, 4, 4))])
def test_special_registers(cluster, grid):
    names = [f"{n}.{a}" for n in ("ctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid") for a in "xyz"]
    names += ["cluster_ctarank", "cluster_nctarank"]
    reads = "\n".join(
        f'asm volatile("mov.u32 %0, %%{name};" : "=r"(v)); out[(long)b * {len(names) + 1} + {i}] = v;'
        for i, name in enumerate(names)
    )
    body = f"""(unsigned* out) {{ unsigned v;
      int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; {reads}
      asm volatile("{{.reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p;}}" : "=r"(v));
      out[(long)b * {len(names) + 1} + {len(names)}] = v; }}"""
    out = np.zeros((grid[2], grid[1], grid[0], len(names) + 1), np.uint32)
    kernel(body, ", ".join(map(str, cluster))).run(grid, 1, (out,))
    for z, y, x in itertools.product(*(range(n) for n in reversed(grid))):
        block = np.array([x, y, z])
        size = np.array(cluster)
        inner = block % size
        rank = inner[0] + size[0] * (inner[1] + size[1] * inner[2])
        expected = [*block, *(block // size), *(np.array(grid) // size), *inner, *size, rank, size.prod(), 1]
        assert out[z, y, x].tolist() == expected


@pytest.mark.parametrize(("cluster", "grid"), [("4", (8,)), ("2, 2", (2, 4))])
def test_blocks_read_each_other(cluster, grid):
    """Each block adds up what all blocks of its cluster have, and finds it by rank."""
    body = """(int* out) {
      __shared__ float mine[32]; int b = blockIdx.y * gridDim.x + blockIdx.x;
      mine[threadIdx.x] = 100 * b + threadIdx.x;
      cluster_sync();
      float sum = 0;
      for (u32 r = 0; r < ranks(); ++r) sum = 3 * sum + load(map(mine + (threadIdx.x + r) % 32, r));
      cluster_sync();
      out[b * 32 + threadIdx.x] = sum; }"""
    blocks = int(np.prod(grid))
    out = np.zeros((blocks, 32), np.int32)
    kernel(body, cluster).run(grid, 32, (out,))
    along_x = cluster == "4"
    for b in range(blocks):
        x, y = (b, 0) if along_x else (b % 2, b // 2)
        members = (
            [x // 4 * 4 + r for r in range(4)] if along_x else [(y // 2 * 2 + r // 2) * 2 + r % 2 for r in range(4)]
        )
        for t in range(32):
            total = 0
            for r, member in enumerate(members):
                total = 3 * total + 100 * member + (t + r) % 32
            assert out[b, t] == total


def test_stores_and_atomics_into_another_block():
    body = """(int* out) {
      __shared__ float from_left[64]; __shared__ int count;
      if (threadIdx.x == 0) count = 0;
      cluster_sync();
      store(map(from_left + threadIdx.x, (rank() + 1) % ranks()), 64 * rank() + threadIdx.x);
      int before;
      asm volatile("atom.shared::cluster.add.u32 %0, [%1], %2;"
                   : "=r"(before) : "r"(map(&count, threadIdx.x % ranks())), "r"(rank() + 1) : "memory");
      if (threadIdx.x < 3)
        asm volatile("red.shared::cluster.max.s32 [%0], %1;" :: "r"(map(&count, rank())), "r"(-5) : "memory");
      cluster_sync();
      out[blockIdx.x * 65 + threadIdx.x] = from_left[threadIdx.x];
      if (threadIdx.x == 0) out[blockIdx.x * 65 + 64] = count; }"""
    out = np.zeros((8, 65), np.int32)
    kernel(body).run(8, 64, (out,))
    for b in range(8):
        left = (b % 4 - 1) % 4
        assert out[b, :64].tolist() == [64 * left + t for t in range(64)]
        assert out[b, 64] == sum(16 * (r + 1) for r in range(4))


COOPERATIVE = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
"""


def test_cooperative_groups():
    """What this_cluster() compiles to: mapa and getctarank of generic addresses, and generic loads."""
    body = """(const float* x, float* y, int n) {
      __shared__ float part;
      auto cluster = cg::this_cluster();
      float s = 0;
      for (int i = cluster.block_rank() * 32 + threadIdx.x; i < n; i += cluster.num_blocks() * 32) s += x[i];
      for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
      if (threadIdx.x == 0) part = s;
      cluster.sync();
      float* theirs = cluster.map_shared_rank(&part, (cluster.block_rank() + 1) % cluster.num_blocks());
      if (threadIdx.x == 0) {
        y[3 * blockIdx.x] = *theirs;
        y[3 * blockIdx.x + 1] = cluster.query_shared_rank(theirs);
        y[3 * blockIdx.x + 2] = cluster.query_shared_rank(&part); }
      cluster.sync(); }"""
    x = np.arange(1000, dtype=np.float32)
    y = np.zeros((8, 3), np.float32)
    kernel(body, prelude=COOPERATIVE).run(8, 32, (x, y, 1000))
    parts = [sum(i for i in range(1000) if i // 32 % 4 == r) for r in range(4)]
    assert y.tolist() == [[parts[(b + 1) % 4], (b + 1) % 4, b % 4] for b in range(8)]


def test_what_addresses_are_of():
    """isspacep and getctarank, of an address of its own, of another block's and of its own by its rank."""
    asks = "".join(
        f"""asm volatile("{{ .reg .pred p; isspacep.{space} p, %1; selp.u32 %0, 1, 0, p; }}" : "=r"(v) : "l"(there[i]));
        out[blockIdx.x * 12 + 4 * i + {number}] = v;"""
        for number, space in enumerate(("shared", "shared::cluster", "global"))
    )
    body = f"""(unsigned* out) {{ __shared__ int here; u64 there[3]; u32 v; there[0] = (u64)&here;
      asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there[1]) : "l"(&here), "r"(rank() ^ 1));
      asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there[2]) : "l"(&here), "r"(rank()));
      for (int i = 0; i < 3; ++i) {{ {asks}
        asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(v) : "r"(address_of((void*)there[i])));
        out[blockIdx.x * 12 + 4 * i + 3] = v; }} }}"""
    out = np.full((4, 3, 4), 9, np.uint32)
    kernel(body).run(4, 1, (out,))
    assert out.tolist() == [[[1, 1, 0, b], [0, 1, 0, b ^ 1], [1, 1, 0, b]] for b in range(4)]


SOFTMAX = """(const float* x, float* y, long long cols) {
  __shared__ float2 partial; __shared__ float2 in_warps[4];
  const float* row = x + (blockIdx.x / ranks()) * cols; float* out = y + (blockIdx.x / ranks()) * cols;
  float m = -INFINITY, s = 0;
  for (long long c = rank() * blockDim.x + threadIdx.x; c < cols; c += ranks() * blockDim.x) {
    float v = row[c], n = fmaxf(m, v); s = s * __expf(m - n) + __expf(v - n); m = n; }
  for (int o = 16; o; o >>= 1) {
    float m2 = __shfl_xor_sync(~0u, m, o), s2 = __shfl_xor_sync(~0u, s, o), n = fmaxf(m, m2);
    s = (m == n ? s : s * __expf(m - n)) + (m2 == n ? s2 : s2 * __expf(m2 - n)); m = n; }
  if (threadIdx.x % 32 == 0) in_warps[threadIdx.x / 32] = make_float2(m, s);
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) { float2 o = in_warps[w]; float n = fmaxf(m, o.x);
      s = (m == n ? s : s * __expf(m - n)) + (o.x == n ? o.y : o.y * __expf(o.x - n)); m = n; }
    partial = make_float2(m, s); }
  cluster_sync();
  m = -INFINITY; s = 0;
  for (u32 r = 0; r < ranks(); ++r) {
    u32 a = map(&partial, r); float m2 = load(a), s2 = load(a + 4), n = fmaxf(m, m2);
    s = (m == n ? s : s * __expf(m - n)) + (m2 == n ? s2 : s2 * __expf(m2 - n)); m = n; }
  arrive();
  for (long long c = rank() * blockDim.x + threadIdx.x; c < cols; c += ranks() * blockDim.x)
    out[c] = __expf(row[c] - m) / s;
  wait(); }"""


@pytest.mark.parametrize("size", [2, 8, 16])
def test_softmax_of_rows_split_over_a_cluster(size):
    x = np.random.default_rng(size).standard_normal((3, 5000)).astype(np.float32) * 4
    y = np.zeros_like(x)
    kernel(SOFTMAX, str(size)).run(3 * size, 128, (x, y, 5000))
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(axis=1, keepdims=True), rtol=2e-5, atol=1e-9)


def test_batches_hold_whole_clusters():
    """More blocks than fit into a batch, in clusters whose size does not divide a batch's."""
    body = """(int* out) { __shared__ float mine; if (threadIdx.x == 0) mine = blockIdx.x;
      cluster_sync();
      if (threadIdx.x == 0) out[blockIdx.x] = load(map(&mine, (rank() + 1) % 3));
      cluster_sync(); }"""
    out = np.zeros(99, np.int32)
    kernel(body, "3").run(99, 512, (out,))
    assert out.tolist() == [b // 3 * 3 + (b + 1) % 3 for b in range(99)]


def test_clusters_go_at_their_own_pace():
    """The trips of a loop with a barrier differ between clusters; a block that ends counts as arrived."""
    body = """(int* out, int turns) {
      __shared__ float mine; int sum = 0;
      if (rank() == 3) return;
      for (int i = 0; i < turns + (int)(blockIdx.x / 4); ++i) {
        if (threadIdx.x == 0) mine = 10 * i + rank();
        cluster_sync(); sum += load(map(&mine, (rank() + 1) % 3)); cluster_sync(); }
      out[blockIdx.x * 32 + threadIdx.x] = sum; }"""
    out = np.zeros((12, 32), np.int32)
    kernel(body).run(12, 32, (out, 2))
    for b in range(12):
        expected = sum(10 * i + (b % 4 + 1) % 3 for i in range(2 + b // 4)) if b % 4 < 3 else 0
        assert (out[b] == expected).all()


def test_half_the_threads_work_between_arrival_and_wait():
    body = """(int* out) {
      __shared__ float mine[64];
      mine[threadIdx.x] = threadIdx.x; int extra = 0;
      arrive();
      if (threadIdx.x < 32) for (int i = 0; i < 5; ++i) extra += i;
      wait();
      out[blockIdx.x * 64 + threadIdx.x] = load(map(mine + 63 - threadIdx.x, rank() ^ 1)) + extra;
      cluster_sync(); }"""
    out = np.zeros((4, 64), np.int32)
    kernel(body).run(4, 64, (out,))
    assert (out == [63 - t + (10 if t < 32 else 0) for t in range(64)]).all()


# Errors


def test_a_grid_of_broken_clusters():
    k = kernel("(int* out) { }", "4, 2")
    assert k.cluster == (4, 2, 1)
    with pytest.raises(ValueError, match=r"grid.x is 6, no multiple of 4.*8 blocks"):
        k.run((6, 2), 32, (np.zeros(1, np.int32),))
    with pytest.raises(ValueError, match=r"grid.y is 3, no multiple of 2"):
        k.run((4, 3), 32, (np.zeros(1, np.int32),))


def test_clusters_that_are_too_large():
    k = kernel("(int* out) { }", "32")
    with pytest.raises(ValueError, match="at most 16"):
        k.run(32, 32, (np.zeros(1, np.int32),))


def test_clusters_on_an_older_gpu():
    source = 'extern "C" __global__ void __cluster_dims__(2) k(int* out) { }'
    with pytest.raises(CompileError, match="not supported for this GPU architecture"):
        Kernel(source, "k", arch="sm_80")
    ptx = Kernel(source, "k").program.ptx.replace("sm_90", "sm_80")
    with pytest.raises(Error, match="sm_80 has none"):
        prepare(EmulatedProgram(parse(ptx), "k"), (2, 1, 1), (32, 1, 1), (np.zeros(1, np.int32),))


@pytest.mark.parametrize(
    ("cluster", "why"), [("0, 1, 1", "1 to 16"), ("5, 5, 1", "1 to 16"), ("3, 1, 1", "no multiple")]
)
def test_damaged_cluster_sizes(cluster, why):
    ptx = Kernel('extern "C" __global__ void __cluster_dims__(2) k(int* out) { }', "k").program.ptx
    damaged = ptx.replace(".reqnctapercluster 2, 1, 1", f".reqnctapercluster {cluster}")
    assert damaged != ptx
    with pytest.raises(Error, match=why):
        prepare(EmulatedProgram(parse(damaged), "k"), (2, 1, 1), (32, 1, 1), (np.zeros(1, np.int32),))


def fault_of(body: str, *args, cluster: str = "4", grid: int = 4, block: int = 32) -> KernelFault:
    with pytest.raises(KernelFault) as caught:
        kernel(body, cluster).run(grid, block, args or (np.zeros(grid * block, np.int32),), budget=20_000)
    return caught.value


def test_a_rank_that_the_cluster_does_not_have():
    fault = fault_of("""(int* out) { __shared__ float m; m = 1; cluster_sync();
      out[threadIdx.x] = load(map(&m, rank() + 1)); cluster_sync(); }""")
    assert fault.kind == "shared-out-of-bounds"
    assert fault.block == (3, 0, 0)
    assert "rank 4 of its cluster, which has 4" in str(fault)


def test_out_of_bounds_in_another_block():
    fault = fault_of("""(int* out) { __shared__ float m[32]; m[threadIdx.x] = 1; cluster_sync();
      out[threadIdx.x] = load(map(m, rank() ^ 1) + 4 * threadIdx.x + 4); cluster_sync(); }""")
    assert (fault.kind, fault.thread, fault.address) == ("shared-out-of-bounds", (31, 0, 0), 128)


def test_a_mapped_address_in_an_access_of_the_own_block():
    fault = fault_of("""(int* out) { __shared__ float m; m = 1; cluster_sync(); float v;
      asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(map(&m, 2)) : "memory"); out[threadIdx.x] = v; }""")
    assert fault.kind == "shared-out-of-bounds"
    assert "block 2 of the cluster, which only shared::cluster" in str(fault)


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ("arrive(); arrive(); wait();", "arrives"),
        ("wait();", "without having arrived"),
        ("cluster_sync(); wait();", "without"),
    ],
)
def test_arrive_and_wait_take_turns(steps, words):
    fault = fault_of(f"(int* out) {{ {steps} }}")
    assert fault.kind == "barrier-divergence"
    assert words in str(fault)


@pytest.mark.parametrize(
    ("body", "whole"),
    [
        ('if (rank() == 0) { arrive(); wait(); } else asm volatile("bar.sync 1, 96;");', "cluster"),
        ('if (threadIdx.x < 32) __syncthreads(); else asm volatile("bar.sync 1;");', "block"),
    ],
)
def test_whose_threads_never_come(body, whole):
    fault = fault_of(f"(int* out) {{ {body} }}", block=64)
    assert fault.kind == "barrier-divergence"
    assert f"other threads of its {whole} never reach" in str(fault)


def test_what_a_relaxed_arrival_does_not_tell():
    body = """(int* out) { __shared__ float m[32]; m[threadIdx.x] = threadIdx.x; %s
      asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); wait();
      out[threadIdx.x] = load(map(m + threadIdx.x, rank() ^ 1)); cluster_sync(); }"""
    assert fault_of(body % "").kind == "race"
    out = np.zeros(32, np.int32)
    kernel(body % 'asm volatile("fence.acq_rel.cluster;" ::: "memory");').run(4, 32, (out,))
    assert out.tolist() == list(range(32))


def test_a_relaxed_barrier_tells_that_all_have_begun():
    body = """(int* out) { __shared__ float m[32];
      asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); wait();
      store(map(m + threadIdx.x, rank() ^ 1), threadIdx.x); cluster_sync();
      out[threadIdx.x] = m[threadIdx.x]; }"""
    out = np.zeros(32, np.int32)
    kernel(body).run(4, 32, (out,))
    assert out.tolist() == list(range(32))


def test_what_is_done_between_arrival_and_wait_is_not_ordered():
    fault = fault_of("""(int* out) { __shared__ float m[32]; m[threadIdx.x] = 1; arrive();
      m[threadIdx.x] = 2;
      wait(); out[threadIdx.x] = load(map(m + threadIdx.x, rank() ^ 1)); cluster_sync(); }""")
    assert fault.kind == "race"
