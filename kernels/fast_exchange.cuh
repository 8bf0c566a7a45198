// How the threads that share a row agree on its statistic: lanes by shuffles, warps and blocks by one exchange.
//
// Idea     Every warp leaves its statistic in shared memory, all meet once, and every warp merges all of them for
//          itself: no broadcast back, no second barrier.
// Idea     In a cluster each warp sends its statistic to every block (distributed shared memory) by st.async, a store
//          that an mbarrier of the receiving block counts in bytes. Who has counted all bytes of the row goes on:
//          nobody waits for stores to global memory, as the cluster's own barrier does where it releases
//          (MEMBAR.ALL.GPU in the machine code). The cluster's barrier is used once, relaxed, so that no block is sent
//          anything before it has begun.
// Traffic  Shared memory: a statistic a warp; in a cluster one a warp and block.
// Limits   Blocks are one-dimensional, a power of two of warps. Clusters take sm_90.
// Limits   Two sets of places are used in turn. Nobody gets more than one exchange ahead of the others, and who sends
//          for the next exchange has read the places of this one; so a place is written again only when all have read
//          it.
// Source   PTX ISA, "mapa", "st.async", "mbarrier", "barrier.cluster".
#pragma once

#include "arithmetic.cuh"
#include "fast_barrier.cuh"

// Blocks of a kernel come in clusters of so many, where the GPU has clusters.
#if __CUDA_ARCH__ >= 900
#define SOFTLAB_CLUSTER(blocks) __cluster_dims__(blocks, 1, 1)
#else
#define SOFTLAB_CLUSTER(blocks)
#endif

template<template<typename> class Reduction, int width, typename Compute>
__device__ Compute reduce_lanes(Compute value) {
#pragma unroll
  for (int mask = width / 2; mask > 0; mask /= 2) {
    value = Reduction<Compute>()(value, __shfl_xor_sync(0xffffffff, value, mask));
  }
  return value;
}

// Among the `block_size / 32` warps of each of `cluster` blocks. A kernel calls announce() first, begin() before the
// first exchange, and exchange() with 0, 1, 2, ...
template<class Operator, int block_size, int cluster>
class Exchange {
 public:
  using Statistic = typename Operator::Statistic;
  using Compute = typename Operator::Compute;

  __device__ Exchange() : rank_(blockIdx.x % cluster) {}

  // Prepares the barriers, and tells the cluster that this block has begun, without waiting for the others.
  __device__ void announce() const {
    if constexpr (cluster > 1) {
      if (threadIdx.x == 0) {
        barrier_init(arrived(), 1);
        barrier_init(arrived() + 1, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      }
      __syncwarp();
      asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    }
  }

  // Waits until all blocks of the cluster have begun.
  __device__ void begin() const {
    if constexpr (cluster > 1) { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
  }

  // The statistic of the row, from that of each warp.
  __device__ Statistic exchange(const Statistic& own, int turn) const {
    Statistic* const places = places_of(turn % 2);
    if constexpr (cluster == 1) {
      if (threadIdx.x % 32 == 0) { places[threadIdx.x / 32] = own; }
      __syncthreads();
    } else {
      send(own, places + rank_ * warps + threadIdx.x / 32, arrived() + turn % 2);
      barrier_await(arrived() + turn % 2, turn / 2 % 2);
    }
    return Operator::template of_parts<parts>(places);
  }

 private:
  static constexpr int warps = block_size / 32;
  static constexpr int parts = cluster * warps;
  static_assert(cluster <= 32, "one lane sends to one block");
  static_assert((parts & (parts - 1)) == 0, "the parts are merged by a butterfly");

  int rank_;

  static __device__ Statistic* places_of(int set) {
    __shared__ Statistic places[2][parts];
    return places[set];
  }
  static __device__ unsigned long long* arrived() {
    __shared__ __align__(8) unsigned long long barriers[2];
    return barriers;
  }
  // The same variable in another block of the cluster.
  static __device__ unsigned int in_block(const void* variable, int block) {
    unsigned int there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(variable)), "r"(block));
    return there;
  }
  static __device__ void store_async(unsigned int variable, float value, unsigned int barrier) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(variable),
                 "f"(value), "r"(barrier)
                 : "memory");
  }
  static __device__ void store_async(unsigned int variable, double value, unsigned int barrier) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(variable),
                 "d"(value), "r"(barrier)
                 : "memory");
  }

  static __device__ void send(const Statistic& own, Statistic* place, unsigned long long* barrier) {
    if (threadIdx.x == 0) { barrier_arrive(barrier, parts * sizeof(Statistic)); }
    const int block = threadIdx.x % 32;
    if (block < cluster) {
      constexpr int words = sizeof(Statistic) / sizeof(Compute);
#pragma unroll
      for (int i = 0; i < words; ++i) {
        store_async(in_block(reinterpret_cast<Compute*>(place) + i, block), reinterpret_cast<const Compute*>(&own)[i],
                    in_block(barrier, block));
      }
    }
  }
};
