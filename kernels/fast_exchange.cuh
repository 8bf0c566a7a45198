// How the threads that share a row agree on its statistic: lanes by shuffles, warps and blocks by one exchange.
//
// Idea     Every warp writes its partial statistic to shared memory. Then every warp merges all of them for itself. So
//          nothing is sent back, and there is no second barrier.
// Idea     In a cluster, each warp sends its partial statistic to every block (distributed shared memory) by st.async.
//          An mbarrier of the receiving block counts the bytes. A thread continues when all bytes of the row have come.
//          Nobody waits for stores to global memory. The cluster's own barrier with release semantics does wait for
//          them (MEMBAR.ALL.GPU in the machine code). So that barrier is used once, relaxed: no block sends before all
//          blocks have started.
// Traffic  Shared memory: one statistic per warp; in a cluster one per warp and block.
// Limits   Blocks are one-dimensional, with a power of two of warps. Clusters need sm_90.
// Limits   Two sets of slots alternate. No thread is more than one exchange ahead of the others, and a warp that sends
//          for the next exchange has read the slots of this one. So a slot is overwritten only after all have read it.
// Source   PTX ISA, "mapa", "st.async", "mbarrier", "barrier.cluster".
#pragma once

#include "arithmetic.cuh"
#include "fast_barrier.cuh"
#include "larger.cuh"

// Gives a kernel clusters of `blocks` blocks, where the GPU has clusters.
#if __CUDA_ARCH__ >= 900
#define SOFTLAB_CLUSTER(blocks) __cluster_dims__(blocks, 1, 1)
#else
#define SOFTLAB_CLUSTER(blocks)
#endif

template<template<typename> class Reduction, int width, typename Compute>
struct LanesReduction {
  static __device__ Compute of(Compute value) {
#pragma unroll
    for (int mask = width / 2; mask > 0; mask /= 2) {
      value = Reduction<Compute>()(value, __shfl_xor_sync(0xffffffff, value, mask));
    }
    return value;
  }
};

#if __CUDA_ARCH__ >= 800
// One instruction takes the maximum of 32 integers. Floats are in the order of their bits as integers, if the bits
// behind the sign of negative ones are inverted. No value is NaN: larger_of() lets the number win.
template<>
struct LanesReduction<Larger, 32, float> {
  static __device__ float of(float value) {
    return __int_as_float(in_order(__reduce_max_sync(0xffffffff, in_order(__float_as_int(value)))));
  }

 private:
  static __device__ int in_order(int bits) { return bits ^ (bits >> 31 & 0x7fffffff); }
};
#endif

template<template<typename> class Reduction, int width, typename Compute>
__device__ Compute reduce_lanes(Compute value) {
  return LanesReduction<Reduction, width, Compute>::of(value);
}

// The exchange among the `block_size / 32` warps of each of `cluster` blocks. A kernel calls cluster_arrive() first,
// cluster_wait() before the first exchange, and then exchange() with the iterations 0, 1, 2, ...
template<class Operator, int block_size, int cluster>
class Exchange {
 public:
  using Statistic = typename Operator::Statistic;
  using Word = typename Operator::Word;
  static constexpr int warps = block_size / 32;
  static constexpr int partials = cluster * warps;

  __device__ Exchange() : rank_(blockIdx.x % cluster) {}

  // Prepares the mbarriers and tells the cluster that this block has started. It does not wait.
  __device__ void cluster_arrive() const {
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

  // Waits until all blocks of the cluster have started.
  __device__ void cluster_wait() const {
    if constexpr (cluster > 1) { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
  }

  // The statistic of the row. `own` is the partial statistic of this warp.
  __device__ Statistic exchange(const Statistic& own, int iteration) const {
    return Operator::template merge_partials<partials>(gather(own, iteration));
  }

  // The partial statistics of all warps that share the row.
  __device__ const Statistic* gather(const Statistic& own, int iteration) const {
    Statistic* const slots = slots_of(iteration % 2);
    if constexpr (cluster == 1) {
      if (threadIdx.x % 32 == 0) { slots[threadIdx.x / 32] = own; }
      __syncthreads();
    } else {
      send(own, slots + rank_ * warps + threadIdx.x / 32, arrived() + iteration % 2);
      barrier_wait(arrived() + iteration % 2, iteration / 2 % 2);
    }
    return slots;
  }

 private:
  static_assert(cluster <= 32, "each lane sends to at most one block");
  static_assert((partials & (partials - 1)) == 0, "a butterfly merges the partial statistics");

  int rank_;

  static __device__ Statistic* slots_of(int set) {
    __shared__ Statistic slots[2][partials];
    return slots[set];
  }
  static __device__ unsigned long long* arrived() {
    __shared__ __align__(8) unsigned long long barriers[2];
    return barriers;
  }
  // The address of the same variable in another block of the cluster.
  static __device__ unsigned int remote_address(const void* variable, int block) {
    unsigned int address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_address(variable)), "r"(block));
    return address;
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

  static __device__ void store_async(unsigned int variable, long long value, unsigned int barrier) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(variable),
                 "l"(value), "r"(barrier)
                 : "memory");
  }

  static __device__ void send(const Statistic& own, Statistic* slot, unsigned long long* barrier) {
    if (threadIdx.x == 0) { barrier_arrive(barrier, partials * sizeof(Statistic)); }
    const int block = threadIdx.x % 32;
    if (block < cluster) {
      constexpr int words = sizeof(Statistic) / sizeof(Word);
#pragma unroll
      for (int i = 0; i < words; ++i) {
        store_async(remote_address(reinterpret_cast<Word*>(slot) + i, block),
                    reinterpret_cast<const Word*>(&own)[i], remote_address(barrier, block));
      }
    }
  }
};

// Whether the threads of a block exchange their own sums: a few more words in shared memory, and fewer shuffles.
template<class Operator, int block_size>
constexpr bool exchanges_threads = !Operator::exact && block_size <= 256 && sizeof(typename Operator::Compute) == 4;

// The sums of all threads of a block, and one maximum per warp. Afterwards each lane reads the sums of 16 threads.
template<int block_size>
struct ThreadSums {
  static constexpr int lanes = block_size / 16;
  static constexpr int warps = block_size / 32;

  float4 sums[block_size / 4];
  float4 largest[(warps + 3) / 4];

  __device__ void put_sum(float sum) { reinterpret_cast<float*>(sums)[threadIdx.x] = sum; }
  __device__ void put_largest(float value) {
    if (threadIdx.x % 32 == 0) { reinterpret_cast<float*>(largest)[threadIdx.x / 32] = value; }
  }
  __device__ float largest_of_warp(int warp) const { return reinterpret_cast<const float*>(largest)[warp]; }

  // The lanes 2 i and 2 i + 1 read the sums of warp i. Eight neighbouring lanes read all banks at once.
  static __device__ int lane() { return threadIdx.x % lanes; }
  static __device__ int warp_of_lane() { return lane() / 2; }
  __device__ float sum_of_lane() const {
    float sum[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float4 part = sums[lane() / 2 * 8 + (lane() + 2 * i) % 8];
      sum[i] = (part.x + part.y) + (part.z + part.w);
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
};

// The statistic of the row that a block keeps. `own` has the maximum of the thread's warp and the thread's own sum.
template<class Operator, int block_size>
__device__ typename Operator::Statistic exchange_threads(const typename Operator::Statistic& own) {
  __shared__ ThreadSums<block_size> shared;
  Operator::put(shared, own);
  __syncthreads();
  return Operator::merge_threads(shared);
}
