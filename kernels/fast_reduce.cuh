// Reductions of the fast kernels: lanes by shuffles, warps and blocks by one exchange of statistics.
//
// Idea     Every warp leaves its statistic in shared memory, all meet at one barrier, and every warp merges all of them for
//          itself: no broadcast back, no second barrier. In a cluster each warp leaves its statistic in the shared memory
//          of every block (distributed shared memory), and the one barrier is the cluster's.
// Traffic  Shared memory: a statistic a warp; in a cluster one a warp and block.
// Launch   Blocks are one-dimensional, a multiple of 32 threads, and a power of two of warps.
// Limits   Two sets of places are used in turn: the barrier of a row keeps every warp within one row of the others, so a
//          place is written again only when all have read it. Clusters need sm_90.
// Source   PTX ISA, "mapa", "st", "barrier.cluster"; CUDA C++ Programming Guide, "Distributed Shared Memory".
#pragma once

#include "arithmetic.cuh"

// Blocks of a kernel come in clusters of `blocks`, where the GPU has clusters; elsewhere there are only those of one.
#if __CUDA_ARCH__ >= 900
#define CLUSTER_OF(blocks) __cluster_dims__(blocks, 1, 1)
#else
#define CLUSTER_OF(blocks)
#endif

template<template<typename> class Reduction, int width, typename Compute>
__device__ Compute reduce_lanes(Compute value) {
#pragma unroll
  for (int mask = width / 2; mask > 0; mask /= 2) {
    value = Reduction<Compute>()(value, __shfl_xor_sync(0xffffffff, value, mask));
  }
  return value;
}

// One set of places a parity; `turn` alternates from row to row.
template<class Operator, int warps>
struct BlockExchange {
  using Statistic = typename Operator::Statistic;
  Statistic (*places)[warps];

  __device__ Statistic operator()(const Statistic& own, int turn) const {
    if (threadIdx.x % 32 == 0) { places[turn][threadIdx.x / 32] = own; }
    __syncthreads();
    return Operator::template of_parts<warps>(places[turn]);
  }
};

// Writes to the same variable in the shared memory of another block of the cluster.
__device__ inline void write_in_block(float* variable, int block, float value) {
  asm volatile(
      "{ .reg .u32 there; mapa.shared::cluster.u32 there, %0, %1; st.shared::cluster.f32 [there], %2; }" ::"r"(
          static_cast<unsigned int>(__cvta_generic_to_shared(variable))),
      "r"(block), "f"(value)
      : "memory");
}
__device__ inline void write_in_block(double* variable, int block, double value) {
  asm volatile(
      "{ .reg .u32 there; mapa.shared::cluster.u32 there, %0, %1; st.shared::cluster.f64 [there], %2; }" ::"r"(
          static_cast<unsigned int>(__cvta_generic_to_shared(variable))),
      "r"(block), "d"(value)
      : "memory");
}

// The two halves of the cluster's barrier. Between them a thread may do what no other waits for.
__device__ inline void arrive_at_cluster() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ inline void await_cluster() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

// Cluster: all blocks of it have begun (a barrier since the launch) before the first call.
template<class Operator, int warps, int cluster>
struct ClusterExchange {
  using Statistic = typename Operator::Statistic;
  using Compute = typename Operator::Compute;
  Statistic (*places)[cluster * warps];
  int rank;

  __device__ Statistic operator()(const Statistic& own, int turn) const {
    static_assert(cluster <= 32, "one lane writes to one block");
    const int lane = threadIdx.x % 32;
    Statistic& place = places[turn][rank * warps + threadIdx.x / 32];
    if (lane < cluster) {
      constexpr int words = sizeof(Statistic) / sizeof(Compute);
#pragma unroll
      for (int i = 0; i < words; ++i) {
        write_in_block(reinterpret_cast<Compute*>(&place) + i, lane, reinterpret_cast<const Compute*>(&own)[i]);
      }
    }
    arrive_at_cluster();
    await_cluster();
    return Operator::template of_parts<cluster * warps>(places[turn]);
  }
};
