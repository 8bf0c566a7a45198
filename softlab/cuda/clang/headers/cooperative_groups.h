// Groups of threads that work together: the part of cooperative_groups.h that kernels of the course use.
//
// Blocks, tiles of a warp, active lanes and clusters. grid_group is not here.
#pragma once

namespace cooperative_groups {

#define SOFTLAB_METHOD static __device__ __inline__ __attribute__((always_inline, nodebug))

struct thread_block {
  SOFTLAB_METHOD void sync() { __syncthreads(); }
  SOFTLAB_METHOD unsigned int thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  SOFTLAB_METHOD unsigned int num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  SOFTLAB_METHOD unsigned int size() { return num_threads(); }
  SOFTLAB_METHOD dim3 group_index() { return blockIdx; }
  SOFTLAB_METHOD dim3 thread_index() { return threadIdx; }
  SOFTLAB_METHOD dim3 group_dim() { return blockDim; }
};
SOFTLAB_METHOD thread_block this_thread_block() { return {}; }

// The threads of one warp that `mask` names. `size` of them; `rank` is the thread's place among them.
template <unsigned int lanes> struct thread_block_tile {
  static_assert(lanes <= 32 && (lanes & (lanes - 1)) == 0, "a tile is a power of two of at most 32 lanes");
  SOFTLAB_METHOD unsigned int lane() { return thread_block::thread_rank() % 32; }
  SOFTLAB_METHOD unsigned int mask() {
    return lanes == 32 ? 0xffffffffu : ((1u << lanes % 32) - 1) << (lane() & ~(lanes - 1));
  }
  SOFTLAB_METHOD void sync() { __syncwarp(mask()); }
  SOFTLAB_METHOD unsigned int thread_rank() { return thread_block::thread_rank() % lanes; }
  SOFTLAB_METHOD unsigned int meta_group_rank() { return thread_block::thread_rank() / lanes; }
  SOFTLAB_METHOD unsigned int meta_group_size() { return (thread_block::num_threads() + lanes - 1) / lanes; }
  SOFTLAB_METHOD constexpr unsigned int num_threads() { return lanes; }
  SOFTLAB_METHOD constexpr unsigned int size() { return lanes; }
  template <typename T> SOFTLAB_METHOD T shfl(T value, int from) { return __shfl_sync(mask(), value, from, lanes); }
  template <typename T> SOFTLAB_METHOD T shfl_up(T value, unsigned int by) { return __shfl_up_sync(mask(), value, by, lanes); }
  template <typename T> SOFTLAB_METHOD T shfl_down(T value, unsigned int by) { return __shfl_down_sync(mask(), value, by, lanes); }
  template <typename T> SOFTLAB_METHOD T shfl_xor(T value, int by) { return __shfl_xor_sync(mask(), value, by, lanes); }
  SOFTLAB_METHOD int any(int holds) { return (__ballot_sync(mask(), holds) & mask()) != 0; }
  SOFTLAB_METHOD int all(int holds) { return (__ballot_sync(mask(), holds) & mask()) == mask(); }
  SOFTLAB_METHOD unsigned int ballot(int holds) {
    return (__ballot_sync(mask(), holds) & mask()) >> (lanes == 32 ? 0 : lane() & ~(lanes - 1));
  }
};
template <unsigned int lanes, typename Group> SOFTLAB_METHOD thread_block_tile<lanes> tiled_partition(const Group&) {
  return {};
}

struct coalesced_group {
  unsigned int mask;
  __device__ __inline__ unsigned int lane() const { return thread_block::thread_rank() % 32; }
  __device__ __inline__ unsigned int thread_rank() const { return __popc(mask & ((1u << lane()) - 1)); }
  __device__ __inline__ unsigned int num_threads() const { return __popc(mask); }
  __device__ __inline__ unsigned int size() const { return num_threads(); }
  __device__ __inline__ void sync() const { __syncwarp(mask); }
};
SOFTLAB_METHOD coalesced_group coalesced_threads() { return {__activemask()}; }

#if __CUDA_ARCH__ >= 900
struct cluster_group {
  SOFTLAB_METHOD void barrier_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
  SOFTLAB_METHOD void barrier_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
  SOFTLAB_METHOD void sync() { barrier_arrive(), barrier_wait(); }
  SOFTLAB_METHOD unsigned int block_rank() { return __nvvm_read_ptx_sreg_cluster_ctarank(); }
  SOFTLAB_METHOD unsigned int num_blocks() { return __nvvm_read_ptx_sreg_cluster_nctarank(); }
  template <typename T> SOFTLAB_METHOD T* map_shared_rank(T* at, int rank) {
    T* mapped;
    asm("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(at), "r"(rank));
    return mapped;
  }
};
SOFTLAB_METHOD cluster_group this_cluster() { return {}; }
#endif

template <typename Group> SOFTLAB_METHOD void sync(const Group& group) { group.sync(); }

}  // namespace cooperative_groups
