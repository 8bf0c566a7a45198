// Kernels with a fault: types, intrinsics, library calls, edges of rows, wide tiles, barriers of other kinds.
// "// BUG" ends each line to blame.
#include "asm.cuh"

// == highest_bit_of_zero
extern "C" __global__ void highest_bit_of_zero(const unsigned* x, int* y, int n) {
  __shared__ int levels[32];
  int t = threadIdx.x;
  if (t < 32) levels[t] = 0;
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) atomicAdd(&levels[31 - __clz(x[i])], 1);  // BUG
  __syncthreads();
  if (t < 32) y[t] = levels[t];
}

// == first_set_bit_of_an_empty_mask
extern "C" __global__ void first_set_bit_of_an_empty_mask(const unsigned* masks, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i / 32 * 32 + __ffs(masks[i]) - 1];  // BUG
}

// == bin_of_a_number_that_is_none
extern "C" __global__ void bin_of_a_number_that_is_none(const float* x, int* bins, float low, float width, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float at = (x[i] - low) / width;
  int bin = at < 0 ? 0 : static_cast<int>(at);
  if (isnan(at)) bin = -1;
  atomicAdd(&bins[bin], 1);  // BUG
}

// == last_of_an_empty_row
extern "C" __global__ void last_of_an_empty_row(const unsigned* lengths, const float* rows, float* y, unsigned pitch) {
  unsigned row = threadIdx.x, last = lengths[row] - 1;
  float sum = 0;
  for (unsigned i = 0; i < pitch; ++i)
    if (i <= last) sum += rows[row * pitch + i];
  y[row] = sum * rows[size_t(row) * pitch + last];  // BUG
}

// == clamped_to_the_length
__device__ int clamp(int v, int low, int high) { return min(max(v, low), high); }
extern "C" __global__ void clamped_to_the_length(const float* x, float* y, int n, int shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[clamp(i + shift, 0, n)] - x[clamp(i - shift, 0, n)];  // BUG
}

// == dimensions_of_the_volume_exchanged
struct Extent {
  int x, y, z;
};
struct Volume {
  const float* data;
  Extent size;
  __device__ size_t at(int x, int y, int z) const { return (size_t(z) * size.x + y) * size.y + x; }
};
extern "C" __global__ void dimensions_of_the_volume_exchanged(const float* x, float* y, int nx, int ny, int nz) {
  Volume volume{x, {nx, ny, nz}};
  int i = threadIdx.x, j = threadIdx.y, k = threadIdx.z;
  if (i < nx && j < ny && k < nz) y[(k * ny + j) * nx + i] = 2 * volume.data[volume.at(i, j, k)];  // BUG
}

// == structure_copied_past_the_last
struct Particle {
  float4 place, speed;
};
extern "C" __global__ void structure_copied_past_the_last(const Particle* from, Particle* to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > n) return;
  Particle p = from[i];  // BUG
  p.place.x += p.speed.x;
  to[i] = p;  // BUG
}

// == odd_values_kept_in_eight_places
extern "C" __global__ void odd_values_kept_in_eight_places(const int* x, int* y, int n) {
  int kept[8], count = 0;
  for (int k = 0; k < 8; ++k) kept[k] = 0;
  const int* mine = x + threadIdx.x * n;
#pragma unroll 1
  for (int i = 0; i < n; ++i)
    if (mine[i] % 2) kept[count++] = mine[i];  // BUG
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum += (k + 1) * kept[k];
  y[threadIdx.x] = sum;
}

// == digits_counted_with_signed_bytes
extern "C" __global__ void digits_counted_with_signed_bytes(const signed char* text, int* y, int n) {
  __shared__ int counts[128];
  int t = threadIdx.x;
  for (int k = t; k < 128; k += blockDim.x) counts[k] = 0;
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) atomicAdd(counts + text[i], 1);  // BUG
  __syncthreads();
  for (int k = t; k < 128; k += blockDim.x) y[k] = counts[k];
}

// == function_of_a_code_beyond_the_table
__device__ float halved(float v) { return v / 2; }
__device__ float squared(float v) { return v * v; }
extern "C" __global__ void function_of_a_code_beyond_the_table(const int* codes, const float* x, float* y) {
  int i = threadIdx.x;
  float factors[3] = {1.0f, x[0], x[1]};
  float v = codes[i] % 2 ? halved(x[i]) : squared(x[i]);
  y[i] = v * factors[codes[i]];  // BUG
}

// == bytes_of_a_word_at_odd_places
extern "C" __global__ void bytes_of_a_word_at_odd_places(const unsigned char* text, unsigned* hashes, int length) {
  int i = threadIdx.x;
  const unsigned char* word = text + i * length;
  unsigned hash = 2166136261u;
  int k = 0;
  for (; k + 4 <= length; k += 4) hash = (hash ^ *reinterpret_cast<const unsigned*>(word + k)) * 16777619u;  // BUG
  for (; k < length; ++k) hash = (hash ^ word[k]) * 16777619u;
  hashes[i] = hash;
}

// == brain_floats_in_pairs_from_the_second
#include <cuda_bf16.h>
extern "C" __global__ void brain_floats_in_pairs_from_the_second(const __nv_bfloat16* x, float* y, int n) {
  int i = threadIdx.x;
  if (2 * i + 2 < n) {
    float2 v = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(&x[2 * i + 1]));  // BUG
    y[i] = v.x - v.y;
  }
}

// == words_cleared_through_a_wider_pointer
extern "C" __global__ void words_cleared_through_a_wider_pointer(const int* x, int* y, int n) {
  __shared__ alignas(16) int bins[36];
  __shared__ int most;
  int t = threadIdx.x;
  if (t == 0) most = 0;
  if (t < 10) reinterpret_cast<int4*>(bins)[t] = make_int4(0, 0, 0, 0);  // BUG
  __syncthreads();
  atomicMax(&most, atomicAdd(&bins[x[t] % 36], 1));
  __syncthreads();
  if (t < 36) y[t] = bins[t] + most;
}

// == warp_sums_in_one_storage
#include <cub/warp/warp_reduce.cuh>
extern "C" __global__ void warp_sums_in_one_storage(const int* x, int* y) {
  using Reduce = cub::WarpReduce<int, 16>;
  __shared__ int offsets[8];
  __shared__ typename Reduce::TempStorage storage;
  int t = threadIdx.x, sum = Reduce(storage).Sum(x[t]);
  if (t % 16 == 0) offsets[0] = sum;  // BUG
  __syncthreads();
  y[t] = offsets[0] + t;
}

// == sorted_keys_written_over_the_storage
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
extern "C" __global__ void sorted_keys_written_over_the_storage(const int* x, int* y) {
  using Scan = cub::BlockScan<int, 64>;
  __shared__ union {
    typename Scan::TempStorage scan;
    int ranked[64];
  } shared;
  int t = threadIdx.x, odd = x[t] % 2, rank;
  Scan(shared.scan).ExclusiveSum(odd, rank);  // BUG
  if (odd) shared.ranked[rank] = x[t];  // BUG
  else shared.ranked[63 - (t - rank)] = x[t];  // BUG
  __syncthreads();
  y[t] = shared.ranked[t];
}

// == wide_tile_reads_before_it_meets
#define _CG_ABI_EXPERIMENTAL
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void wide_tile_reads_before_it_meets(const int* x, int* y) {
  __shared__ cg::block_tile_memory<128> memory;
  __shared__ int s[128];
  auto block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<64>(block);
  int t = block.thread_rank(), first = tile.meta_group_rank() * 64;
  s[t] = x[t];  // BUG
  int v = s[first + 63 - tile.thread_rank()];  // BUG
  tile.sync();
  y[t] = v;
}

// == odd_warps_go_around_a_barrier
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void odd_warps_go_around_a_barrier(const int* x, int* y) {
  __shared__ int s[128];
  auto block = cg::this_thread_block();
  int t = block.thread_rank();
  auto warp = cg::tiled_partition<32>(block);
  s[t] = x[t];
  if (warp.meta_group_rank() % 2 == 0) {
    block.sync();  // BUG
    y[t] = s[127 - t];
  }
  if (warp.meta_group_rank() % 2) y[t] = s[127 - t];
  block.sync();
}

// == lane_elected_twice
extern "C" __global__ void lane_elected_twice(const int* x, int* y) {
  __shared__ int total;
  auto elected = [] {
    unsigned yes;
    asm volatile("{ .reg .pred q; elect.sync _|q, 0xffffffff; selp.u32 %0, 1, 0, q; }" : "=r"(yes));
    return yes != 0;
  };
  int sum = __reduce_add_sync(FULL, x[threadIdx.x]);
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  if (elected()) total += sum;  // BUG
  __syncthreads();
  if (elected() && threadIdx.x < 32) *y = total;
}

// == tile_multicast_and_awaited_by_one
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) tile_multicast_and_awaited_by_one(const float* x, float* y) {
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
  if (rank == 0 && t == 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "  // BUG
                 "[%0], [%1], 256, [%2], %3;"
                 ::"r"(SMEM(tile)), "l"(x), "r"(SMEM(&full)), "h"((short)3) : "memory");  // BUG
  if (rank == 0) MBAR_WAIT(&full, 0);
  __syncthreads();
  y[rank * 64 + t] = tile[63 - t];  // BUG
  cluster.sync();
}

// == relaxed_arrival_at_the_cluster
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) relaxed_arrival_at_the_cluster(const int* x, int* y) {
  __shared__ int mine[32];
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  mine[t] = x[i];  // BUG
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  y[i] = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1)[31 - t];  // BUG
  cluster.sync();
}

// == sums_sent_to_the_peer_and_read_at_once
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) sums_sent_to_the_peer_and_read_at_once(const unsigned* x, unsigned* y) {
  __shared__ unsigned bins[32];
  __shared__ unsigned long long full;
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  bins[t] = 1;
  if (t == 0) {
    MBAR_INIT(&full, 1);
    MBAR_EXPECT(&full, 128);
  }
  cluster.sync();
  unsigned to, at, peer = cluster.block_rank() ^ 1;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(SMEM(&bins[t])), "r"(peer));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(SMEM(&full)), "r"(peer));
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];"  // BUG
               ::"r"(to), "r"(x[i]), "r"(at) : "memory");  // BUG
  __syncthreads();
  y[i] = bins[31 - t];  // BUG
  MBAR_WAIT(&full, 0);
  cluster.sync();
}

// == copies_bound_to_the_barrier_after_the_arrival
extern "C" __global__ void copies_bound_to_the_barrier_after_the_arrival(const float* x, float* y) {
  __shared__ float tile[64];
  __shared__ unsigned long long full;
  int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&full, 64);
  __syncthreads();
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(SMEM(&tile[t])), "l"(x + t) : "memory");  // BUG
  MBAR_ARRIVE(&full);
  MBAR_WAIT(&full, 0);
  y[t] = tile[63 - t];  // BUG
  asm volatile("cp.async.wait_all;" ::: "memory");
}

// == copies_that_arrive_once_more
extern "C" __global__ void copies_that_arrive_once_more(const float* x, float* y) {
  __shared__ float tile[64];
  __shared__ unsigned long long full;
  int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&full, 128);
  __syncthreads();
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(SMEM(&tile[t])), "l"(x + t) : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(SMEM(&full)) : "memory");
  MBAR_WAIT(&full, 0);  // BUG
  y[t] = tile[63 - t];
}

// == grid_told_and_not_awaited
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void grid_told_and_not_awaited(const int* x, int* middle, int* y) {
  auto grid = cg::this_grid();
  int i = grid.thread_rank(), n = grid.size();
  middle[i] = x[i] + 1;  // BUG
  auto token = grid.barrier_arrive();
  y[i] = middle[n - 1 - i];  // BUG
  grid.barrier_wait(cuda::std::move(token));
}

// == word_awaited_and_the_others_read
#include <cuda/atomic>
extern "C" __global__ void word_awaited_and_the_others_read(const int* x, int* ready, int* data, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(*ready);
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = 7 * x[t];  // BUG
    __syncthreads();
    if (t == 0) {
      flag.store(1, cuda::memory_order_relaxed);
      flag.notify_all();
    }
  } else {
    if (t == 0) flag.wait(0, cuda::memory_order_acquire);
    __syncthreads();
    y[t] = data[31 - t];  // BUG
  }
}

// == sums_of_doubles_in_a_plain_loop
extern "C" __global__ void sums_of_doubles_in_a_plain_loop(const double* x, const int* owner, double* sums, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sums[owner[i]] += x[i];  // BUG
}

// == pair_of_halves_added_by_two_threads
#include <cuda_fp16.h>
extern "C" __global__ void pair_of_halves_added_by_two_threads(const __half* x, __half2* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half2 old = y[i / 2];  // BUG
  y[i / 2] = __hadd2(old, i % 2 ? __halves2half2(__half(0), x[i]) : __halves2half2(x[i], __half(0)));  // BUG
}

// == short_words_claimed_beside_plain_ones
extern "C" __global__ void short_words_claimed_beside_plain_ones(const int* x, unsigned short* slots, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned short mine = i + 1;
  bool won = atomicCAS(&slots[x[i] % 16], static_cast<unsigned short>(0), mine) == 0;  // BUG
  y[i] = won;
  if (won && x[i] % 16 == 0) slots[(x[i] + 1) % 16] = 0;  // BUG
}

// == bits_cleared_by_an_assignment
struct Flags {
  unsigned visited : 1, depth : 5, colour : 8;
};
extern "C" __global__ void bits_cleared_by_an_assignment(const int* x, Flags* flags, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 2 * n) return;
  if (i % 2) flags[i / 2].colour = x[i];  // BUG
  else flags[i / 2].depth = x[i];  // BUG
}

// == object_made_by_every_thread
struct Counter {
  int hits, misses;
  __device__ Counter() : hits(0), misses(0) {}  // BUG
  __device__ void count(bool hit) { atomicAdd(hit ? &hits : &misses, 1); }  // BUG
};
extern "C" __global__ void object_made_by_every_thread(const int* x, int* y) {
  __shared__ alignas(Counter) unsigned char storage[sizeof(Counter)];
  Counter* counter = new (storage) Counter();  // BUG
  counter->count(x[threadIdx.x] > 50);  // BUG
  __syncthreads();
  if (threadIdx.x == 0) {
    y[0] = counter->hits;
    y[1] = counter->misses;
  }
}

// == any_thread_of_the_block_in_a_loop_of_its_own
extern "C" __global__ void any_thread_of_the_block_in_a_loop_of_its_own(const int* x, int* y) {
  int v = x[threadIdx.x], steps = 0;
  while (v > 1) {
    v = v % 2 ? 3 * v + 1 : v / 2;
    ++steps;
    if (__syncthreads_or(v == 1)) break;  // BUG
  }
  __syncthreads();  // BUG
  y[threadIdx.x] = steps;
}

// == second_barrier_for_those_in_the_image
extern "C" __global__ void second_barrier_for_those_in_the_image(const float* x, float* y, int height, int width) {
  __shared__ float tile[8][8];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 8 + tx;
  bool inside = row < height && col < width;
  tile[ty][tx] = inside ? x[row * width + col] : 0;
  __syncthreads();  // BUG
  if (inside) {
    float v = tile[7 - ty][tx];
    __syncthreads();  // BUG
    tile[ty][tx] = v;
  }
  __syncthreads();  // BUG
  if (inside) y[row * width + col] = tile[ty][7 - tx];
}

// == warps_of_a_block_of_three_dimensions
extern "C" __global__ void warps_of_a_block_of_three_dimensions(const int* x, int* y) {
  __shared__ int slots[4];
  int warp = threadIdx.y, lane = threadIdx.x, t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  int sum = x[t];
  for (int o = 4; o; o /= 2) sum += __shfl_down_sync(FULL, sum, o, 8);
  if (lane == 0) slots[warp] = sum;  // BUG
  __syncthreads();
  if (t < 4) y[t] = slots[t];
}

// == lower_lanes_by_a_mask_without_them
extern "C" __global__ void lower_lanes_by_a_mask_without_them(const int* x, int* y) {
  int lane = threadIdx.x, v = x[lane];
  unsigned below = (1u << lane) - 1;
  y[lane] = lane > 0 ? __reduce_max_sync(below | 1u, v) : v;  // BUG
}

// == value_of_the_lane_that_won
extern "C" __global__ void value_of_the_lane_that_won(const int* x, int* y) {
  int lane = threadIdx.x, v = x[lane], most = __reduce_max_sync(FULL, v);
  if (v < most) {
    unsigned losers = __activemask();
    int winner = __shfl_sync(losers, lane, __ffs(~losers) - 1);  // BUG
    y[lane] = winner;
  } else {
    y[lane] = lane;
  }
}

// == published_by_the_lane_that_has_not_written
extern "C" __global__ void published_by_the_lane_that_has_not_written(const int* x, int* data, int* flag, int* y) {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (blockIdx.x == 0) {
    if (warp == 1) data[lane] = 5 * x[lane];  // BUG
    if (warp == 0 && lane == 0) {
      __threadfence();
      atomicExch(flag, 1);
    }
  } else if (warp == 0) {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
    y[lane] = data[31 - lane];  // BUG
  }
}

// == tail_moved_by_a_store_to_take_work
extern "C" __global__ void tail_moved_by_a_store_to_take_work(volatile int* tail, const int* tasks, int* done, int n) {
  if (threadIdx.x) return;
  for (;;) {
    int mine = *tail;  // BUG
    if (mine >= n) break;
    *tail = mine + 1;  // BUG
    done[mine] = 2 * tasks[mine] + blockIdx.x;  // BUG
  }
}

// == reset_for_the_next_launch_by_each_block
extern "C" __global__ void reset_for_the_next_launch_by_each_block(const int* x, int* total, int* count, int* y) {
  int v = __reduce_add_sync(FULL, x[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x) return;
  atomicAdd(total, v);  // BUG
  __threadfence();
  if (atomicAdd(count, 1) == gridDim.x - 1) *y = atomicAdd(total, 0);  // BUG
  *total = 0;  // BUG
}

// == cells_moved_left_in_place
extern "C" __global__ void cells_moved_left_in_place(int* row, int n, int by) {
  int first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = first; i + by < n; i += gridDim.x * blockDim.x) row[i] = row[i + by];  // BUG
}

// == strings_joined_at_a_counted_place
extern "C" __global__ void strings_joined_at_a_counted_place(const int* lengths, char* out, int* used, int room) {
  int i = threadIdx.x, length = lengths[i], at = atomicAdd(used, length);
  if (at < room)
    for (int k = 0; k < length; ++k) out[at + k] = 'a' + i % 26;  // BUG
}

// == triangle_of_pairs_with_its_diagonal_counted
extern "C" __global__ void triangle_of_pairs_with_its_diagonal_counted(const float* x, float* y, int n, int pairs) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= pairs) return;
  int row = static_cast<int>((sqrtf(8.0f * p + 1) + 1) / 2), col = p - row * (row - 1) / 2;
  y[p] = x[row] - x[col];  // BUG
}

// == coefficients_of_two_orders
template <int ORDER>
__device__ float biquad(const float (&c)[ORDER], const float* history) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k <= ORDER; ++k) sum += c[k] * history[k];  // BUG
  return sum;
}
extern "C" __global__ void coefficients_of_two_orders(const float* x, float* y, int n) {
  float c[4], history[5];
  int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) c[k] = x[k];
  for (int k = 0; k < 5; ++k) history[k] = x[(t + k) % n];
  y[t] = biquad(c, history);
}

// == arena_of_the_block_handed_out_twice
struct Arena {
  char* base;
  int used;
};
extern "C" __global__ void arena_of_the_block_handed_out_twice(const int* x, int* y) {
  extern __shared__ char storage[];
  Arena arena{storage, 0};
  auto take = [&](int count) {
    int* found = reinterpret_cast<int*>(arena.base + arena.used);
    arena.used += count;
    return found;
  };
  int *keys = take(64), *ranks = take(64), t = threadIdx.x;
  keys[t] = x[t];  // BUG
  __syncthreads();
  int rank = 0;
  for (int k = 0; k < 64; ++k) rank += keys[k] < keys[t] || (keys[k] == keys[t] && k < t);  // BUG
  ranks[t] = rank;  // BUG
  __syncthreads();
  y[t] = ranks[63 - t];
}

// == retried_until_the_lock_is_seen_free
extern "C" __global__ void retried_until_the_lock_is_seen_free(int* lock, const int* x, int* sum) {
  if (threadIdx.x) return;
  while (*lock != 0) {}  // BUG
  *lock = 1;  // BUG
  __threadfence();
  *sum += x[blockIdx.x];  // BUG
  __threadfence();
  *lock = 0;  // BUG
}

// == pointers_to_rows_one_too_many
extern "C" __global__ void pointers_to_rows_one_too_many(const float* x, float* y, int cols) {
  __shared__ const float* rows[4];
  int t = threadIdx.x;
  if (t < 4) rows[t] = x + (3 - t) * cols;
  __syncthreads();
  for (int c = t; c < cols; c += blockDim.x) {
    float sum = 0;
    for (const float* const* row = rows; row <= rows + 4; ++row) sum += (*row)[c];  // BUG
    y[c] = sum;
  }
}

// == barrier_ended_while_it_is_used
extern "C" __global__ void barrier_ended_while_it_is_used(const float* x, float* y) {
  __shared__ alignas(16) float tile[64];
  __shared__ unsigned long long full;
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&full, 1);
    MBAR_EXPECT(&full, 256);
    BULK_LOAD(tile, x, 256, &full);
  }
  __syncthreads();
  MBAR_WAIT(&full, 0);
  float v = tile[63 - t];
  __syncthreads();
  if (t == 0) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(SMEM(&full)) : "memory");
  __syncthreads();
  MBAR_ARRIVE(&full);  // BUG
  y[t] = v;
}

