"""Barriers, clusters and asynchronous copies in machine code: results are those of the PTX emulator."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.cuda.disassembly import find_nvdisasm
from softlab.kernel import Kernel
from softlab.sass import Kind, Space, interpret

pytestmark = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")


def outputs(source: str, name: str, grid: int, block: int, *args: np.ndarray) -> list[np.ndarray]:
    """What the interpreter leaves in the arrays, which must be what the PTX emulator leaves."""
    kernel = Kernel(source, name)
    found = interpret(kernel, grid, block, args)
    expected = [a.copy() for a in args]
    kernel.run(grid, block, expected)
    for number, array in enumerate(expected):
        np.testing.assert_array_equal(found.output(number), array)
    return [found.output(number) for number in range(len(args))]


def test_barriers_whose_number_is_in_a_register_count_their_own_threads():
    source = """
extern "C" __global__ void halves(const int* in, int* out) {
  int t = threadIdx.x, number = t / 64 + 1, count, all;
  asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 0; bar.red.popc.u32 %0, %2, 64, p; }"
    : "=r"(count) : "r"(in[t]), "r"(number));
  asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, 0; bar.red.and.pred q, %2, 64, p; selp.s32 %0, 1, 0, q; }"
    : "=r"(all) : "r"(in[t]), "r"(number));
  out[2 * t] = count; out[2 * t + 1] = all;
}"""
    values = np.ones(128, np.int32)
    values[5] = 0
    _, out = outputs(source, "halves", 1, 128, values, np.zeros((128, 2), np.int32))
    assert out[:64].tolist() == [[63, 0]] * 64
    assert out[64:].tolist() == [[64, 1]] * 64


def test_warps_that_come_one_after_the_other_vote_anew_each_time():
    source = """
extern "C" __global__ void votes(const int* in, int* out) {
  int t = threadIdx.x, turns = 0, sum = 0;
  for (int k = 0; k < 9; k++) {
    for (int j = 0; j < t / 32; j++) sum += in[j] * k;
    int count = __syncthreads_count(in[t] > 7 * k);
    if (!__syncthreads_or(in[t] > 7 * k)) break;
    turns = 100 * turns + count;
  }
  out[blockIdx.x * blockDim.x + t] = turns + (sum == -1);
}"""
    _, out = outputs(source, "votes", 2, 96, np.arange(96, dtype=np.int32) % 24, np.zeros((2, 96), np.int32))
    assert set(out.reshape(-1).tolist()) == {((92 * 100 + 64) * 100 + 36) * 100 + 8}


def test_a_warp_synchronous_barrier_joins_two_paths():
    source = """
extern "C" __global__ void paths(const int* in, int* out) {
  int t = threadIdx.x, other;
  if (t % 3 == 0) other = in[t] + 1; else other = in[t] * 2;
  __syncwarp();
  out[t] = __shfl_xor_sync(~0u, other, 1);
}"""
    outputs(source, "paths", 1, 64, np.arange(64, dtype=np.int32), np.zeros(64, np.int32))


def test_an_mbarrier_ends_its_phase_with_the_last_arrival():
    source = """
#include <cuda/barrier>
extern "C" __global__ void phases(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int data[64];
  if (threadIdx.x == 0) init(&barrier, 64);
  __syncthreads();
  for (int k = 0; k < 3; ++k) {
    data[threadIdx.x] = 10 * k + threadIdx.x;
    barrier.arrive_and_wait();
    out[64 * k + threadIdx.x] = data[63 - threadIdx.x];
    barrier.arrive_and_wait();
  }
}"""
    (out,) = outputs(source, "phases", 1, 64, np.zeros((3, 64), np.int32))
    assert out.tolist() == [[10 * k + 63 - t for t in range(64)] for k in range(3)]


def test_blocks_of_a_cluster_read_each_others_shared_memory_and_are_interpreted_together():
    source = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 1, 1) swap(int* out) {
  __shared__ int mine[32];
  cg::cluster_group cluster = cg::this_cluster();
  mine[threadIdx.x] = 100 * blockIdx.x + threadIdx.x;
  cluster.sync();
  out[32 * blockIdx.x + threadIdx.x] = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1)[threadIdx.x];
  cluster.sync();
}"""
    (out,) = outputs(source, "swap", 4, 32, np.zeros((4, 32), np.int32))
    assert out[:, 0].tolist() == [100, 0, 300, 200]
    part = interpret(Kernel(source, "swap"), 4, 32, (np.zeros((4, 32), np.int32),), blocks=[3])
    assert part.blocks == (2, 3)
    requests = part.streams[0].accesses
    remote = (requests.space == Space.DISTRIBUTED_SHARED) & (requests.kind == Kind.LOAD)
    assert remote.sum() == 1


def test_lanes_at_their_own_block_ask_another_memory_than_those_at_other_blocks():
    """Even lanes read the neighbour's words, odd lanes their own block's, in one instruction."""
    source = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 1, 1) mixed(int* out) {
  __shared__ int mine[32];
  cg::cluster_group cluster = cg::this_cluster();
  mine[threadIdx.x] = 100 * blockIdx.x + threadIdx.x;
  cluster.sync();
  out[32 * blockIdx.x + threadIdx.x] =
      cluster.map_shared_rank(mine, cluster.block_rank() ^ (threadIdx.x % 2 == 0))[threadIdx.x];
  cluster.sync();
}"""
    (out,) = outputs(source, "mixed", 2, 32, np.zeros((2, 32), np.int32))
    assert out[0].tolist() == [100 * (lane % 2 == 0) + lane for lane in range(32)]
    part = interpret(Kernel(source, "mixed"), 2, 32, (np.zeros((2, 32), np.int32),), blocks=[0])
    requests = part.streams[0].accesses
    loads = requests.kind == Kind.LOAD
    assert (loads & (requests.space == Space.DISTRIBUTED_SHARED)).sum() == 1
    assert (loads & (requests.space == Space.SHARED)).sum() == 1


def test_a_wide_load_of_the_assembler_may_read_behind_the_last_array():
    """Of 402 words it loads the last two by 16 bytes. What it reads behind them changes nothing."""
    source = """
extern "C" __global__ void differences(const float* __restrict__ in, float* __restrict__ out, int columns) {
  extern __shared__ float row[];
  for (int j = threadIdx.x; j < columns; j += blockDim.x) row[j] = in[j];
  __syncthreads();
  float sum = 0;
  for (int j = threadIdx.x; j < columns; j += blockDim.x)
    for (int k = 0; k < columns; k++) sum += fabsf(row[j] - row[k]);
  out[threadIdx.x] = sum;
}"""
    kernel = Kernel(source, "differences")
    given = (np.arange(402, dtype=np.float32), np.zeros(32, np.float32), 402)
    found = interpret(kernel, 1, 32, given, smem=4 * 402)
    out = np.zeros(32, np.float32)
    kernel.run(1, 32, (given[0], out, 402), smem=4 * 402)
    np.testing.assert_array_equal(found.output(1), out)
    assert out.sum() == np.abs(np.subtract.outer(np.arange(402), np.arange(402))).sum()


def test_asynchronous_copies_of_a_warp_have_two_requests():
    source = """
#include <cuda_pipeline.h>
extern "C" __global__ void copy(const float4* in, float4* out) {
  __shared__ float4 tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}"""
    values = np.arange(256, dtype=np.float32)
    _, out = outputs(source, "copy", 1, 64, values, np.zeros(256, np.float32))
    np.testing.assert_array_equal(out.reshape(64, 4), values.reshape(64, 4)[::-1])
    found = interpret(Kernel(source, "copy"), 1, 64, (values, np.zeros(256, np.float32)))
    requests = found.streams[0].accesses
    copies = requests.kind == Kind.ASYNC_COPY
    assert requests.space[copies].tolist() == [Space.GLOBAL, Space.SHARED]
    assert np.diff(requests.offsets)[copies].tolist() == [16, 16]
    assert len(set(requests.position[copies].tolist())) == 1


def test_a_bulk_copy_counts_its_bytes_on_an_mbarrier():
    source = """
#include <cuda/barrier>
extern "C" __global__ void bulk(const float* in, float* out) {
  __shared__ alignas(128) float tile[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) { init(&barrier, 64); cuda::device::experimental::fence_proxy_async_shared_cta(); }
  __syncthreads();
  cuda::barrier<cuda::thread_scope_block>::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_global_to_shared(tile, in + 64, sizeof(tile), barrier);
    token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof(tile));
  } else {
    token = barrier.arrive();
  }
  barrier.wait(std::move(token));
  out[threadIdx.x] = tile[63 - threadIdx.x];
}"""
    values = np.arange(128, dtype=np.float32)
    _, out = outputs(source, "bulk", 1, 64, values, np.zeros(64, np.float32))
    np.testing.assert_array_equal(out, values[:63:-1])
    found = interpret(Kernel(source, "bulk"), 1, 64, (values, np.zeros(64, np.float32)))
    requests = found.streams[0].accesses
    copies = requests.kind == Kind.ASYNC_COPY
    assert sorted(requests.space[copies].tolist()) == [Space.GLOBAL, Space.SHARED]
    assert np.diff(requests.offsets)[copies].tolist() == [8, 8]
    assert not (found.streams[1].accesses.kind == Kind.ASYNC_COPY).any()


#: Warp 1 ends the phase that warp 0 sleeps for, and then looks for what warp 0 writes behind it.
SLEEPER = """
#include <cuda/barrier>
extern "C" __global__ void sleeper(volatile int* flag, volatile int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, 2);
  __syncthreads();
  if (threadIdx.x == 0) {
    flag[1] = 1;
    barrier.arrive_and_wait();
    out[0] = 7;
    flag[0] = 1;
  } else if (threadIdx.x == 32) {
    while (!flag[1]) {}
    for (int k = 0; k < 1000; ++k) out[2] += k;
    (void)barrier.arrive();
    while (!flag[0]) {}
    out[1] = 8;
  }
}"""


@pytest.mark.parametrize("paced", [False, True])
def test_a_warp_that_sleeps_at_an_mbarrier_wakes_while_another_one_looks_for_what_it_writes(paced: bool) -> None:
    kernel = Kernel(SLEEPER, "sleeper")
    found = interpret(kernel, 1, 64, (np.zeros(2, np.int32), np.zeros(3, np.int32)), paced=paced)
    assert (found.output(0).tolist(), found.output(1).tolist()) == ([1, 1], [7, 8, 499500])


def test_blocks_that_look_until_a_block_has_left_its_mbarrier() -> None:
    source = """
#include <cuda/barrier>
extern "C" __global__ void meet(volatile int* flag, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int sum;
  if (threadIdx.x == 0) { init(&barrier, blockDim.x); sum = 0; }
  __syncthreads();
  for (int turn = 1; turn < 4 && blockIdx.x == 0; ++turn) {
    for (int k = 0; k < 10 * (threadIdx.x / 32); ++k) atomicAdd(&sum, turn);
    barrier.arrive_and_wait();
  }
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == 0) flag[0] = 5;
  if (threadIdx.x == 0) while (!flag[0]) {}
  __syncthreads();
  out[blockDim.x * blockIdx.x + threadIdx.x] = sum + flag[0];
}"""
    args = np.zeros(1, np.int32), np.zeros((4, 96), np.int32)
    found = interpret(Kernel(source, "meet"), 4, 96, args, paced=True)
    assert found.output(1).tolist() == [[32 * (10 + 20) * 6 + 5] * 96, *[[5] * 96] * 3]


def test_a_warp_that_wakes_at_an_mbarrier_is_not_before_the_warp_that_ended_the_phase() -> None:
    """How often a warp of another block looks until then, by time."""
    source = """
#include <cuda/barrier>
extern "C" __global__ void late(volatile int* flag, volatile int* out, int turns) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, 2);
  __syncthreads();
  if (blockIdx.x == 1) {
    if (threadIdx.x) return;
    int looks = 0;
    while (!*flag) ++looks;
    out[0] = looks;
  } else if (threadIdx.x == 32) {
    for (int k = 0; k < turns; ++k) out[2] = out[2] * 3 + 1;
    (void)barrier.arrive();
  } else if (threadIdx.x == 0) {
    barrier.arrive_and_wait();
    *flag = 1;
  }
}"""
    kernel, looks = Kernel(source, "late"), []
    for turns in (0, 20, 80):
        args = (np.zeros(1, np.int32), np.zeros(3, np.int32), turns)
        looks.append(int(interpret(kernel, 2, 64, args, paced=True).output(1)[0]))
    assert looks[0] < looks[1] < looks[2] <= 20  # of 300 cycles each
