// Kernels that look suspicious and are correct: types, intrinsics, library calls, wide tiles, barriers of other kinds.
#include "asm.cuh"

// == highest_bit_with_a_place_for_zero
extern "C" __global__ void highest_bit_with_a_place_for_zero(const unsigned* x, int* y, int n) {
  __shared__ int levels[33];
  int t = threadIdx.x;
  if (t < 33) levels[t] = 0;
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) atomicAdd(&levels[32 - __clz(x[i])], 1);
  __syncthreads();
  if (t < 33) y[t] = levels[t];
}

// == pointer_before_the_first_that_is_never_read
extern "C" __global__ void pointer_before_the_first_that_is_never_read(const float* x, float* y, int n) {
  const float* p = x - 1;
  float sum = 0;
  for (int i = threadIdx.x + 1; i <= n; i += blockDim.x) sum += p[i];
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(FULL, sum, o);
  if (threadIdx.x == 0) *y = sum;
}

// == both_halves_of_a_select_are_loaded_inside
extern "C" __global__ void both_halves_of_a_select_are_loaded_inside(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float left = x[max(i - 1, 0)], right = x[min(i + 1, n - 1)];
  y[i] = i == 0 ? right : i == n - 1 ? left : left + right;
}

// == function_by_a_table_of_pointers
__device__ float halved(float v) { return v / 2; }
__device__ float doubled(float v) { return v * 2; }
extern "C" __global__ void function_by_a_table_of_pointers(const int* codes, const float* x, float* y) {
  int i = threadIdx.x;
  const float factors[4] = {0.5f, 1.5f, 2.5f, 3.5f};
  float v = codes[i] % 2 ? halved(x[i]) : doubled(x[i]);
  y[i] = v * factors[codes[i] & 3];
}

// == bytes_until_the_word_is_whole
extern "C" __global__ void bytes_until_the_word_is_whole(const unsigned char* text, unsigned* sums, int length) {
  const unsigned char *p = text + threadIdx.x * length, *end = p + length;
  unsigned sum = 0;
  for (; p < end && reinterpret_cast<size_t>(p) % 4; ++p) sum += *p;
  for (; p + 4 <= end; p += 4) sum = __vsadu4(*reinterpret_cast<const unsigned*>(p), 0) + sum;
  for (; p < end; ++p) sum += *p;
  sums[threadIdx.x] = sum;
}

// == storage_of_cub_behind_a_barrier
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
extern "C" __global__ void storage_of_cub_behind_a_barrier(const int* x, int* y) {
  using Scan = cub::BlockScan<int, 64>;
  using Reduce = cub::BlockReduce<int, 64>;
  __shared__ union {
    typename Scan::TempStorage scan;
    typename Reduce::TempStorage reduce;
    int ranked[64];
  } shared;
  __shared__ int total;
  int t = threadIdx.x, odd = x[t] % 2, rank;
  Scan(shared.scan).ExclusiveSum(odd, rank);
  __syncthreads();
  int sum = Reduce(shared.reduce).Sum(odd);
  if (t == 0) total = sum;
  __syncthreads();
  shared.ranked[odd ? rank : total + t - rank] = x[t];
  __syncthreads();
  y[t] = shared.ranked[t];
}

// == sums_of_half_warps_with_a_storage_each
#include <cub/warp/warp_reduce.cuh>
extern "C" __global__ void sums_of_half_warps_with_a_storage_each(const int* x, int* y) {
  using Reduce = cub::WarpReduce<int, 16>;
  __shared__ typename Reduce::TempStorage storage[4];
  __shared__ int sums[4];
  int t = threadIdx.x, sum = Reduce(storage[t / 16]).Sum(x[t]);
  if (t % 16 == 0) sums[t / 16] = sum;
  __syncthreads();
  if (t < 4) y[t] = sums[t];
}

// == wide_tiles_meet_by_themselves
#define _CG_ABI_EXPERIMENTAL
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void wide_tiles_meet_by_themselves(const int* x, int* y) {
  __shared__ cg::block_tile_memory<128> memory;
  __shared__ int s[128];
  auto block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<64>(block);
  int t = block.thread_rank(), first = tile.meta_group_rank() * 64;
  s[t] = x[t];
  tile.sync();
  int v = s[first + 63 - tile.thread_rank()];
  int most = cg::reduce(tile, v, cg::greater<int>());
  if (tile.meta_group_rank() == 1) {
    tile.sync();
    s[t] = v + most;
    tile.sync();
    v = s[first + 63 - tile.thread_rank()];
  }
  y[t] = v + most;
}

// == lane_elected_of_the_first_warp
extern "C" __global__ void lane_elected_of_the_first_warp(const int* x, int* y) {
  __shared__ int total;
  auto elected = [] {
    unsigned yes;
    asm volatile("{ .reg .pred q; elect.sync _|q, 0xffffffff; selp.u32 %0, 1, 0, q; }" : "=r"(yes));
    return yes != 0;
  };
  int sum = __reduce_add_sync(FULL, x[threadIdx.x]);
  if (threadIdx.x < 32 && elected()) total = 0;
  __syncthreads();
  if (elected()) atomicAdd(&total, sum);
  __syncthreads();
  if (threadIdx.x < 32 && elected()) *y = total;
}

// == tile_multicast_and_awaited_by_both
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) tile_multicast_and_awaited_by_both(const float* x, float* y) {
  __shared__ alignas(16) float tile[64];
  __shared__ unsigned long long full;
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, rank = cluster.block_rank();
  if (t == 0) {
    MBAR_INIT(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    MBAR_EXPECT(&full, 256);
  }
  cluster.sync();
  if (t == 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1], 128, [%2], %3;"
                 ::"r"(SMEM(tile + rank * 32)), "l"(x + rank * 32), "r"(SMEM(&full)), "h"((short)3) : "memory");
  MBAR_WAIT(&full, 0);
  y[rank * 64 + t] = tile[63 - t];
  cluster.sync();
}

// == relaxed_arrival_behind_a_fence
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) relaxed_arrival_behind_a_fence(const int* x, int* y) {
  __shared__ int mine[32];
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  mine[t] = x[i];
  asm volatile("fence.acq_rel.cluster;" ::: "memory");
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  y[i] = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1)[31 - t];
  cluster.sync();
}

// == sums_sent_to_the_peer_and_awaited
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) sums_sent_to_the_peer_and_awaited(const unsigned* x, unsigned* y) {
  __shared__ unsigned bins[8];
  __shared__ unsigned long long full;
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  if (t < 8) bins[t] = 1;
  if (t == 0) {
    MBAR_INIT(&full, 1);
    MBAR_EXPECT(&full, 128);
  }
  cluster.sync();
  unsigned to, at, peer = cluster.block_rank() ^ 1;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(SMEM(&bins[x[i] % 8])), "r"(peer));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(SMEM(&full)), "r"(peer));
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];"
               ::"r"(to), "r"(x[i]), "r"(at) : "memory");
  MBAR_WAIT(&full, 0);
  if (t < 8) y[blockIdx.x * 8 + t] = bins[t];
  cluster.sync();
}

// == copies_that_arrive_for_their_threads
extern "C" __global__ void copies_that_arrive_for_their_threads(const float* x, float* y, int tiles) {
  __shared__ float tile[2][32];
  __shared__ unsigned long long full[2], empty[2];
  int lane = threadIdx.x % 32;
  if (threadIdx.x < 2) {
    MBAR_INIT(&full[threadIdx.x], 32);
    MBAR_INIT(&empty[threadIdx.x], 32);
  }
  __syncthreads();
  for (int i = 0; i < tiles; ++i) {
    int s = i % 2, parity = i / 2 % 2;
    if (threadIdx.x < 32) {
      MBAR_WAIT(&empty[s], parity ^ 1);
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(SMEM(&tile[s][lane])), "l"(x + i * 32 + lane)
                   : "memory");
      asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(SMEM(&full[s])) : "memory");
    } else {
      MBAR_WAIT(&full[s], parity);
      y[i * 32 + lane] = tile[s][31 - lane];
      MBAR_ARRIVE(&empty[s]);
    }
  }
}

// == grid_told_then_own_work_then_awaited
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void grid_told_then_own_work_then_awaited(const int* x, int* middle, int* y) {
  auto grid = cg::this_grid();
  int i = grid.thread_rank(), n = grid.size();
  middle[i] = x[i] + 1;
  auto token = grid.barrier_arrive();
  int v = 3 * x[i];
  grid.barrier_wait(cuda::std::move(token));
  y[i] = middle[n - 1 - i] + v;
}

// == word_awaited_that_was_released
#include <cuda/atomic>
extern "C" __global__ void word_awaited_that_was_released(const int* x, int* ready, int* data, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(*ready);
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = 7 * x[t];
    __syncthreads();
    if (t == 0) {
      flag.store(1, cuda::memory_order_release);
      flag.notify_all();
    }
  } else {
    if (t == 0) flag.wait(0, cuda::memory_order_acquire);
    __syncthreads();
    y[t] = data[31 - t];
  }
}

// == pair_of_halves_added_by_one_thread
#include <cuda_fp16.h>
extern "C" __global__ void pair_of_halves_added_by_one_thread(const __half2* x, __half2* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&y[i % 8], x[i]);
    reinterpret_cast<__half*>(y)[16 + i] = x[i].x;
  }
}

// == short_words_claimed_by_compare_and_swap
extern "C" __global__ void short_words_claimed_by_compare_and_swap(const int* x, unsigned short* slots, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = atomicCAS(&slots[2 * (x[i] % 16)], static_cast<unsigned short>(0), 7) == 0;
  else if (i < n + 16) slots[2 * (i - n) + 1] = 9;
}

// == fields_of_a_byte_each
struct Flags {
  unsigned char visited, depth, colour, weight;
};
extern "C" __global__ void fields_of_a_byte_each(const int* x, Flags* flags, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Flags& mine = flags[i / 4];
  switch (i % 4) {
    case 0: mine.visited = x[i]; break;
    case 1: mine.depth = x[i]; break;
    case 2: mine.colour = x[i]; break;
    default: mine.weight = x[i];
  }
}

// == object_made_by_one_thread
struct Counter {
  int hits, misses;
  __device__ Counter() : hits(0), misses(0) {}
  __device__ void count(bool hit) { atomicAdd(hit ? &hits : &misses, 1); }
  __device__ ~Counter() { hits = misses = -1; }
};
extern "C" __global__ void object_made_by_one_thread(const int* x, int* y) {
  __shared__ alignas(Counter) unsigned char storage[sizeof(Counter)];
  Counter* counter = reinterpret_cast<Counter*>(storage);
  if (threadIdx.x == 0) new (counter) Counter();
  __syncthreads();
  counter->count(x[threadIdx.x] > 50);
  __syncthreads();
  if (threadIdx.x == 0) {
    y[0] = counter->hits;
    y[1] = counter->misses;
    counter->~Counter();
  }
}

// == any_thread_of_the_block_decides_for_all
extern "C" __global__ void any_thread_of_the_block_decides_for_all(const int* x, int* y) {
  int v = x[threadIdx.x] + 2, steps = 0;
  do {
    if (v > 1) {
      v = v % 2 ? 3 * v + 1 : v / 2;
      ++steps;
    }
  } while (__syncthreads_or(v > 1));
  y[threadIdx.x] = steps;
}

// == barrier_for_all_inside_and_outside
extern "C" __global__ void barrier_for_all_inside_and_outside(const float* x, float* y, int height, int width) {
  __shared__ float tile[8][8];
  int tx = threadIdx.x, ty = threadIdx.y;
  bool inside = ty < height && tx < width;
  if (inside) tile[ty][tx] = x[ty * width + tx];
  __syncthreads();
  float v = inside ? tile[height - 1 - ty][tx] : 0;
  __syncthreads();
  if (inside) tile[ty][tx] = v;
  __syncthreads();
  if (inside) y[ty * width + tx] = tile[ty][width - 1 - tx];
}

// == lanes_up_to_the_caller
extern "C" __global__ void lanes_up_to_the_caller(const int* x, int* y) {
  int lane = threadIdx.x, v = x[lane], most = v;
  for (int o = 1; o < 32; o *= 2) {
    int other = __shfl_up_sync(FULL, most, o);
    if (lane >= o) most = max(most, other);
  }
  unsigned equal = __match_any_sync(FULL, most);
  y[lane] = __shfl_sync(equal, v, __ffs(equal) - 1) + __popc(equal);
}

// == told_by_the_warp_that_wrote
extern "C" __global__ void told_by_the_warp_that_wrote(const int* x, int* data, int* flag, int* y) {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (blockIdx.x == 0) {
    if (warp == 1) {
      data[lane] = 5 * x[lane];
      __threadfence();
      __syncwarp();
      if (lane == 7) atomicExch(flag, 1);
    }
  } else if (warp == 0) {
    if (lane == 3)
      while (atomicAdd(flag, 0) == 0) {}
    __syncwarp();
    __threadfence();
    y[lane] = data[31 - lane];
  }
}

// == tail_moved_by_compare_and_swap
extern "C" __global__ void tail_moved_by_compare_and_swap(int* tail, const int* tasks, int* done, int n) {
  if (threadIdx.x) return;
  for (;;) {
    int mine = *static_cast<volatile int*>(tail);
    if (mine >= n) break;
    if (atomicCAS(tail, mine, mine + 1) == mine) done[mine] = 2 * tasks[mine];
  }
}

// == reset_for_the_next_launch_by_the_last_block
extern "C" __global__ void reset_for_the_next_launch_by_the_last_block(const int* x, int* total, int* count, int* y) {
  int v = __reduce_add_sync(FULL, x[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x) return;
  atomicAdd(total, v);
  __threadfence();
  if (atomicAdd(count, 1) == gridDim.x - 1) {
    __threadfence();
    *y = *total;
    *total = *count = 0;
  }
}

// == cells_moved_left_by_one_block
extern "C" __global__ void cells_moved_left_by_one_block(int* row, int n, int by) {
  for (int base = 0; base + by < n; base += blockDim.x) {
    int i = base + threadIdx.x, v = i + by < n ? row[i + by] : 0;
    __syncthreads();
    if (i + by < n) row[i] = v;
  }
}

// == strings_joined_where_there_is_room
extern "C" __global__ void strings_joined_where_there_is_room(const int* lengths, char* out, int* used, int* kept,
                                                              int room) {
  int i = threadIdx.x, length = lengths[i], at = atomicAdd(used, length);
  bool fits = at + length <= room;
  kept[i] = fits;
  if (fits)
    for (int k = 0; k < length; ++k) out[at + k] = 'a' + i % 26;
}

// == triangle_of_pairs_by_a_square_root
extern "C" __global__ void triangle_of_pairs_by_a_square_root(const float* x, float* y, int pairs) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= pairs) return;
  int row = static_cast<int>((sqrtf(8.0f * p + 1) + 1) / 2), col = p - row * (row - 1) / 2;
  y[p] = x[row] - x[col];
}

// == pointers_to_rows_that_turn
extern "C" __global__ void pointers_to_rows_that_turn(const float* x, float* y, int cols) {
  __shared__ const float* rows[4];
  int t = threadIdx.x;
  if (t < 4) rows[t] = x + (3 - t) * cols;
  __syncthreads();
  for (int turn = 0; turn < 4; ++turn) {
    const float* next = rows[(t + 1) % 4];
    for (int c = t; c < cols; c += blockDim.x) y[turn * cols + c] = rows[0][c];
    __syncthreads();
    if (t < 4) rows[t] = next;
    __syncthreads();
  }
}

// == barrier_ended_and_its_place_used_again
extern "C" __global__ void barrier_ended_and_its_place_used_again(const float* x, float* y) {
  __shared__ alignas(16) float tile[64];
  __shared__ union {
    unsigned long long barrier;
    float factor;
  } place;
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&place.barrier, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    MBAR_EXPECT(&place.barrier, 256);
    BULK_LOAD(tile, x, 256, &place.barrier);
  }
  __syncthreads();
  MBAR_WAIT(&place.barrier, 0);
  __syncthreads();
  if (t == 0) {
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(SMEM(&place.barrier)) : "memory");
    place.factor = 3;
  }
  __syncthreads();
  y[t] = tile[63 - t] * place.factor;
}

// == one_lane_of_the_group_counts_for_all
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void one_lane_of_the_group_counts_for_all(const int* x, int* places, int* count, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];
  if (v % 4 == 1) {
    auto group = cg::coalesced_threads();
    int base = cg::invoke_one_broadcast(group, [&] { return atomicAdd(count, (int)group.num_threads()); });
    places[base + group.thread_rank()] = v;
  }
  y[i] = v % 4 == 1;
}

// == words_of_the_heap_per_thread
extern "C" __global__ void words_of_the_heap_per_thread(const int* x, int* y, int n) {
  int* own = new int[n];
  if (!own) return;
  for (int i = 0; i < n; ++i) own[i] = x[(threadIdx.x + i) % blockDim.x];
  for (int i = 1; i < n; ++i)
    for (int k = i; k > 0 && own[k - 1] > own[k]; --k) {
      int v = own[k];
      own[k] = own[k - 1];
      own[k - 1] = v;
    }
  y[threadIdx.x] = own[n / 2];
  delete[] own;
}

