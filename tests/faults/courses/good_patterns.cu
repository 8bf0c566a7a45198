// Well-known patterns as they should be: tiles, pipelines, private histograms, look-back, partitions, clusters, barriers.
#define FULL 0xffffffffu

// == tile_exchange
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tile_exchange(const int* x, int* y) {
  __shared__ int s[64];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int first = threadIdx.x - tile.thread_rank();
  for (int turn = 0; turn < 3; ++turn) {
    s[threadIdx.x] = x[threadIdx.x] + turn;
    tile.sync();
    y[turn * 64 + threadIdx.x] = s[first + 7 - tile.thread_rank()];
    tile.sync();
  }
}

// == tile_sums_in_divergent_code
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tile_sums_in_divergent_code(const int* x, int* y) {
  __shared__ int sums[8];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int v = x[threadIdx.x];
  if (tile.meta_group_rank() % 2) {
    for (int o = 4; o; o /= 2) v += tile.shfl_down(v, o);
  } else {
    for (int o = 4; o; o /= 2) v = max(v, tile.shfl_down(v, o));
  }
  if (tile.thread_rank() == 0) sums[threadIdx.x / 8] = v;
  __syncthreads();
  if (threadIdx.x < 8) y[threadIdx.x] = sums[threadIdx.x];
}

// == labeled_groups_of_a_key
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void labeled_groups_of_a_key(const int* x, int* y) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int key = x[threadIdx.x] % 3;
  auto same = cg::labeled_partition(warp, key);
  int base = 0;
  if (same.thread_rank() == 0) base = atomicAdd(&y[key], same.size());
  base = same.shfl(base, 0);
  y[3 + key * 64 + base + same.thread_rank()] = threadIdx.x;
}

// == aggregated_base_in_shared
extern "C" __global__ void aggregated_base_in_shared(const int* x, int* list, int* count) {
  __shared__ int base[2];
  int i = blockIdx.x * 64 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned keep = __ballot_sync(FULL, x[i] > 50);
  if (lane == 0) base[warp] = atomicAdd(count, __popc(keep));
  __syncwarp();
  if (x[i] > 50) list[base[warp] + __popc(keep & ((1u << lane) - 1))] = x[i];
}

// == aggregated_by_the_active_lanes
extern "C" __global__ void aggregated_by_the_active_lanes(const int* x, int* list, int* count) {
  int i = blockIdx.x * 64 + threadIdx.x, lane = threadIdx.x % 32;
  if (x[i] > 50) {
    unsigned here = __activemask();
    int leader = __ffs(here) - 1, base = 0;
    if (lane == leader) base = atomicAdd(count, __popc(here));
    base = __shfl_sync(here, base, leader);
    list[base + __popc(here & ((1u << lane) - 1))] = x[i];
  }
}

// == look_back_of_warps
// The state of a block is its status in the upper half and its sum in the lower: one atomic store publishes both.
extern "C" __global__ void look_back_of_warps(const int* x, unsigned long long* state, int* y) {
  int b = blockIdx.x, lane = threadIdx.x, v = x[b * 32 + lane];
  for (int o = 1; o < 32; o *= 2) {
    int left = __shfl_up_sync(FULL, v, o);
    if (lane >= o) v += left;
  }
  int sum = __shfl_sync(FULL, v, 31), before = 0;
  if (lane == 0) atomicExch(&state[b], (1ull << 32) | static_cast<unsigned>(sum));
  for (int last = b - 1; last >= 0; last -= 32) {
    int p = last - lane;
    unsigned long long found = 2ull << 32;
    if (p >= 0) do found = atomicAdd(&state[p], 0ull); while (found == 0);
    unsigned complete = __ballot_sync(FULL, (found >> 32) == 2);
    int until = complete ? __ffs(complete) - 1 : 31;
    int part = lane <= until ? static_cast<int>(found) : 0;
    for (int o = 16; o; o /= 2) part += __shfl_xor_sync(FULL, part, o);
    before += part;
    if (complete) break;
  }
  if (lane == 0) atomicExch(&state[b], (2ull << 32) | static_cast<unsigned>(before + sum));
  y[b * 32 + lane] = before + v;
}

// == look_back_with_fences
extern "C" __global__ void look_back_with_fences(const int* x, int* sum, volatile int* flag, int* y) {
  int b = blockIdx.x, lane = threadIdx.x, v = x[b * 32 + lane];
  for (int o = 1; o < 32; o *= 2) {
    int left = __shfl_up_sync(FULL, v, o);
    if (lane >= o) v += left;
  }
  if (lane == 31) {
    sum[b] = v;
    __threadfence();
    flag[b] = 1;
  }
  int before = 0;
  if (lane == 0)
    for (int p = b - 1; p >= 0; --p) {
      while (flag[p] == 0) {}
      __threadfence();
      before += sum[p];
    }
  before = __shfl_sync(FULL, before, 0);
  y[b * 32 + lane] = before + v;
}

// == look_back_published_by_another_lane
// Lane 31 stores, lane 0 publishes: a barrier of the warp orders the two, and the fence of lane 0 is cumulative.
extern "C" __global__ void look_back_published_by_another_lane(const int* x, int* sum, volatile int* flag, int* y) {
  int b = blockIdx.x, lane = threadIdx.x;
  if (lane == 31) sum[b] = x[b];
  __syncwarp();
  if (lane == 0) {
    __threadfence();
    flag[b] = 1;
    int before = 0;
    for (int p = b - 1; p >= 0; --p) {
      while (flag[p] == 0) {}
      __threadfence();
      before += sum[p];
    }
    y[b] = before;
  }
}

// == prefetch_in_registers
extern "C" __global__ void prefetch_in_registers(const float* x, float* y, int tiles) {
  __shared__ float buf[64];
  int t = threadIdx.x;
  float next = x[t], sum = 0;
  for (int i = 0; i < tiles; ++i) {
    __syncthreads();
    buf[t] = next;
    __syncthreads();
    if (i + 1 < tiles) next = x[(i + 1) * 64 + t];
    sum += buf[63 - t];
  }
  y[t] = sum;
}

// == double_buffer_one_barrier
extern "C" __global__ void double_buffer_one_barrier(const float* x, float* y, int tiles) {
  __shared__ float buf[2][64];
  int t = threadIdx.x;
  float sum = 0;
  buf[0][t] = x[t];
  for (int i = 0; i < tiles; ++i) {
    __syncthreads();
    if (i + 1 < tiles) buf[(i + 1) & 1][t] = x[(i + 1) * 64 + t];
    sum += buf[i & 1][63 - t];
  }
  y[t] = sum;
}

// == three_buffers_two_ahead
extern "C" __global__ void three_buffers_two_ahead(const float* x, float* y, int tiles) {
  __shared__ float buf[3][64];
  int t = threadIdx.x;
  float sum = 0;
  buf[0][t] = x[t];
  buf[1][t] = x[64 + t];
  for (int i = 0; i < tiles; ++i) {
    __syncthreads();
    if (i + 2 < tiles) buf[(i + 2) % 3][t] = x[(i + 2) * 64 + t];
    sum += buf[i % 3][63 - t];
  }
  y[t] = sum;
}

// == tile_reused_after_a_barrier
extern "C" __global__ void tile_reused_after_a_barrier(const float* a, const float* b, float* c) {
  __shared__ float s[2][8][8];
  int x = threadIdx.x, y = threadIdx.y;
  s[0][y][x] = a[y * 8 + x];
  s[1][y][x] = b[y * 8 + x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += s[0][y][k] * s[1][k][x];
  __syncthreads();
  s[0][x][y] = sum;
  __syncthreads();
  c[y * 8 + x] = s[0][y][x];
}

// == own_element_reused
// A thread writes over the element that only it has read.
extern "C" __global__ void own_element_reused(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  float v = s[t] * 2;
  s[t] = v + 1;
  __syncthreads();
  y[t] = s[63 - t];
}

// == private_histograms_per_warp
extern "C" __global__ void private_histograms_per_warp(const int* x, int* bins, int n) {
  __shared__ int mine[2][16];
  int t = threadIdx.x, warp = t / 32;
  if (t % 32 < 16) mine[warp][t % 32] = 0;
  __syncwarp();
  for (int i = t; i < n; i += 64) atomicAdd(&mine[warp][x[i] % 16], 1);
  __syncthreads();
  if (t < 16) atomicAdd(&bins[t], mine[0][t] + mine[1][t]);
}

// == private_columns_per_thread
extern "C" __global__ void private_columns_per_thread(const int* x, int* bins, int n) {
  __shared__ unsigned char column[8 * 64];
  int t = threadIdx.x;
  for (int k = 0; k < 8; ++k) column[k * 64 + t] = 0;
  for (int i = t; i < n; i += 64) column[x[i] % 8 * 64 + t] += 1;
  __syncthreads();
  if (t < 8) {
    int sum = 0;
    for (int i = 0; i < 64; ++i) sum += column[t * 64 + i];
    bins[t] = sum;
  }
}

// == matched_lanes_add_once
extern "C" __global__ void matched_lanes_add_once(const int* x, int* bins) {
  __shared__ int s[8];
  int t = threadIdx.x, key = x[t] % 8;
  if (t < 8) s[t] = 0;
  __syncthreads();
  unsigned same = __match_any_sync(FULL, key);
  if (t % 32 == __ffs(same) - 1) atomicAdd(&s[key], __popc(same));
  __syncthreads();
  if (t < 8) bins[t] = s[t];
}

// == vector_store_scalar_reads
extern "C" __global__ void vector_store_scalar_reads(const float4* x, float* y) {
  __shared__ alignas(16) float s[128];
  reinterpret_cast<float4*>(s)[threadIdx.x] = x[threadIdx.x];
  __syncwarp();
  float sum = 0;
  for (int i = 0; i < 4; ++i) sum += s[i * 32 + threadIdx.x];
  y[threadIdx.x] = sum;
}

// == vector_body_and_scalar_tail
extern "C" __global__ void vector_body_and_scalar_tail(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i + 3 < n) {
    float4 v = reinterpret_cast<const float4*>(x)[i];
    reinterpret_cast<float4*>(y)[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
  } else
    for (int k = 4 * i; k < n; ++k) y[k] = 2 * x[k];
}

// == bytes_of_one_word_by_four_threads
extern "C" __global__ void bytes_of_one_word_by_four_threads(const unsigned char* x, unsigned char* y) {
  __shared__ unsigned char s[64];
  s[threadIdx.x] = x[threadIdx.x] + 1;
  y[threadIdx.x] = s[threadIdx.x];
}

// == dynamic_partitions
extern "C" __global__ void dynamic_partitions(const float* x, const int* keys, float* y, int n) {
  extern __shared__ float smem[];
  float* values = smem;
  int* order = reinterpret_cast<int*>(smem + n);
  values[threadIdx.x] = x[threadIdx.x];
  order[threadIdx.x] = keys[threadIdx.x] % n;
  __syncthreads();
  y[threadIdx.x] = values[order[threadIdx.x]];
}

// == dynamic_partitions_that_take_turns
// The second array lies over the first, after a barrier.
extern "C" __global__ void dynamic_partitions_that_take_turns(const float* x, float* y) {
  extern __shared__ double raw[];
  double* wide = raw;
  float* narrow = reinterpret_cast<float*>(raw);
  int t = threadIdx.x;
  wide[t] = x[t];
  __syncthreads();
  double v = wide[63 - t];
  __syncthreads();
  narrow[t] = static_cast<float>(v);
  __syncthreads();
  y[t] = narrow[t ^ 1];
}

// == warp_scan_in_shared
extern "C" __global__ void warp_scan_in_shared(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x, lane = t % 32;
  s[t] = x[t];
  for (int o = 1; o < 32; o *= 2) {
    __syncwarp();
    int left = lane >= o ? s[t - o] : 0;
    __syncwarp();
    s[t] += left;
  }
  y[t] = s[t];
}

// == segmented_scan_of_a_warp
extern "C" __global__ void segmented_scan_of_a_warp(const int* x, const int* head, int* y) {
  int lane = threadIdx.x, v = x[lane], f = head[lane] % 2;
  for (int o = 1; o < 32; o *= 2) {
    int left = __shfl_up_sync(FULL, v, o), before = __shfl_up_sync(FULL, f, o);
    if (lane >= o && !f) {
      v += left;
      f = before;
    }
  }
  y[lane] = v;
}

// == syncwarp_of_half_a_warp
extern "C" __global__ void syncwarp_of_half_a_warp(const int* x, int* y) {
  __shared__ int s[32];
  int lane = threadIdx.x;
  if (lane < 16) {
    s[lane] = x[lane];
    __syncwarp(0x0000ffffu);
    y[lane] = s[15 - lane];
  } else {
    s[lane] = 3 * x[lane];
    __syncwarp(0xffff0000u);
    y[lane] = s[47 - lane];
  }
}

// == cluster_counts
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) cluster_counts(const int* x, int* y) {
  __shared__ int count[4];
  auto cluster = cg::this_cluster();
  if (threadIdx.x < 4) count[threadIdx.x] = 0;
  cluster.sync();
  int* first = cluster.map_shared_rank(count, 0);
  atomicAdd(&first[x[blockIdx.x * 32 + threadIdx.x] % 4], 1);
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x < 4) y[threadIdx.x] = count[threadIdx.x];
}

// == cluster_inbox
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(4) cluster_inbox(const int* x, int* y) {
  __shared__ int inbox[2][32];
  auto cluster = cg::this_cluster();
  int* next = cluster.map_shared_rank(&inbox[0][0], (cluster.block_rank() + 1) % 4);
  int v = x[blockIdx.x * 32 + threadIdx.x];
  cluster.sync();
  for (int turn = 0; turn < 3; ++turn) {
    next[turn % 2 * 32 + threadIdx.x] = v;
    cluster.sync();
    v = inbox[turn % 2][threadIdx.x];
  }
  y[blockIdx.x * 32 + threadIdx.x] = v;
}

// == a_lock_per_bucket
extern "C" __global__ void a_lock_per_bucket(const int* keys, int* lock, int* bucket) {
  if (threadIdx.x != 0) return;
  int key = keys[blockIdx.x] % 4;
  while (atomicCAS(&lock[key], 0, 1) != 0) {}
  __threadfence();
  bucket[key] += 1;
  __threadfence();
  atomicExch(&lock[key], 0);
}

// == winner_in_one_word
// The value and its index are one word, so that one atomic decides both.
extern "C" __global__ void winner_in_one_word(const int* x, unsigned long long* best) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicMax(best, (static_cast<unsigned long long>(x[i]) << 32) | i);
}

// == box_refilled_after_the_answer
extern "C" __global__ void box_refilled_after_the_answer(const int* x, int* y, int n) {
  __shared__ int box;
  __shared__ volatile int turn, seen;
  if (threadIdx.x == 0) turn = seen = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i <= n; ++i) {
      while (seen < i - 1) {}
      __threadfence_block();
      box = x[i];
      __threadfence_block();
      turn = i;
    }
  } else if (threadIdx.x == 32) {
    for (int i = 1; i <= n; ++i) {
      while (turn < i) {}
      __threadfence_block();
      y[i] = box;
      __threadfence_block();
      seen = i;
    }
  }
}

// == named_barriers_of_pairs
extern "C" __global__ void named_barriers_of_pairs(const int* x, int* y) {
  __shared__ int s[128];
  int t = threadIdx.x, pair = t / 64;
  for (int turn = 0; turn <= pair; ++turn) {
    s[t] = x[t] + turn;
    asm volatile("bar.sync %0, 64;" ::"r"(1 + pair) : "memory");
    y[t] = s[pair * 64 + 63 - t % 64];
    asm volatile("bar.sync %0, 64;" ::"r"(1 + pair) : "memory");
  }
}

// == grid_tree
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void grid_tree(int* part) {
  auto grid = cg::this_grid();
  int b = blockIdx.x;
  for (int stride = 4; stride; stride /= 2) {
    if (threadIdx.x == 0 && b < stride) part[b] += part[b + stride];
    grid.sync();
  }
}

// == cp_async_three_stages
extern "C" __global__ void cp_async_three_stages(const float* x, float* y, int tiles) {
  __shared__ alignas(16) float stage[3][128];
  int t = threadIdx.x;
  auto fetch = [&](int i) {
    if (i < tiles) {
      unsigned to = __cvta_generic_to_shared(&stage[i % 3][4 * t]);
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(x + i * 128 + 4 * t) : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  fetch(0);
  fetch(1);
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    fetch(i + 2);
    sum += stage[i % 3][127 - t] + stage[i % 3][63 - t];
  }
  y[t] = sum;
}

// == cp_async_that_fills_with_zeros
extern "C" __global__ void cp_async_that_fills_with_zeros(const float* x, float* y, int n) {
  __shared__ alignas(16) float s[128];
  int t = threadIdx.x, bytes = min(16, max(0, (n - 4 * t) * 4));
  unsigned to = __cvta_generic_to_shared(&s[4 * t]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(x + (bytes ? 4 * t : 0)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncwarp();
  for (int i = t; i < 128; i += 32) y[i] = s[127 - i];
}

// == bulk_ring_with_empty_barriers
__device__ unsigned at(const void* p) { return __cvta_generic_to_shared(p); }
__device__ void wait(unsigned long long* bar, int parity) {
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" ::"r"(at(bar)),
               "r"(parity)
               : "memory");
}
extern "C" __global__ void bulk_ring_with_empty_barriers(const float* x, float* y, int tiles) {
  __shared__ alignas(128) float stage[2][64];
  __shared__ unsigned long long full[2], empty[2];
  int t = threadIdx.x;
  if (t < 2) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&full[t])) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at(&empty[t])) : "memory");
  }
  __syncthreads();
  if (t == 64) {
    for (int i = 0; i < tiles; ++i) {
      if (i >= 2) wait(&empty[i % 2], (i / 2 - 1) % 2);
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(at(&full[i % 2])) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(
                       at(stage[i % 2])),
                   "l"(x + i * 64), "r"(at(&full[i % 2]))
                   : "memory");
    }
  } else if (t < 64) {
    float sum = 0;
    for (int i = 0; i < tiles; ++i) {
      wait(&full[i % 2], i / 2 % 2);
      sum += stage[i % 2][63 - t];
      asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at(&empty[i % 2])) : "memory");
    }
    y[t] = sum;
  }
}

// == store_before_the_mbarrier_arrival
__device__ unsigned at(const void* p) { return __cvta_generic_to_shared(p); }
extern "C" __global__ void store_before_the_mbarrier_arrival(const int* x, int* y) {
  __shared__ unsigned long long bar;
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at(&bar)) : "memory");
  __syncthreads();
  s[t] = x[t];
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at(&bar)) : "memory");
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }" ::"r"(at(&bar))
               : "memory");
  y[t] = s[63 - t];
}

// == wavefront_waits_for_both
extern "C" __global__ void wavefront_waits_for_both(int* table, volatile int* done, int w) {
  if (threadIdx.x != 0) return;
  int i = blockIdx.y, j = blockIdx.x;
  if (j > 0) while (done[i * w + j - 1] == 0) {}
  if (i > 0) while (done[(i - 1) * w + j] == 0) {}
  __threadfence();
  int left = j > 0 ? table[i * w + j - 1] : 1, up = i > 0 ? table[(i - 1) * w + j] : 1;
  table[i * w + j] = left + up;
  __threadfence();
  done[i * w + j] = 1;
}

// == offsets_read_after_the_scan
extern "C" __global__ void offsets_read_after_the_scan(const int* x, int* list) {
  __shared__ int counts[4];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  unsigned keep = __ballot_sync(FULL, x[t] % 3 == 0);
  if (lane == 0) counts[warp] = __popc(keep);
  __syncthreads();
  int before = 0;
  for (int w = 0; w < warp; ++w) before += counts[w];
  if (x[t] % 3 == 0) list[before + __popc(keep & ((1u << lane) - 1))] = x[t];
}

// == queue_of_a_block
extern "C" __global__ void queue_of_a_block(const int* x, int* y, int* size) {
  __shared__ int queue[64];
  __shared__ int tail;
  if (threadIdx.x == 0) tail = 0;
  __syncthreads();
  if (x[threadIdx.x] % 2) queue[atomicAdd(&tail, 1)] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < tail) y[threadIdx.x] = queue[tail - 1 - threadIdx.x];
  if (threadIdx.x == 0) *size = tail;
}

// == ragged_rows_with_all_at_the_barrier
extern "C" __global__ void ragged_rows_with_all_at_the_barrier(const float* x, float* y, int rows) {
  __shared__ float s[64];
  for (int first = 0; first < rows; first += 2) {
    int r = first + threadIdx.y;
    if (r < rows) s[threadIdx.y * 32 + threadIdx.x] = x[r * 32 + threadIdx.x];
    __syncthreads();
    if (r < rows) y[r * 32 + threadIdx.x] = s[threadIdx.y * 32 + 31 - threadIdx.x];
    __syncthreads();
  }
}

// == vote_of_all_lanes_of_a_loop
extern "C" __global__ void vote_of_all_lanes_of_a_loop(const int* x, int* y) {
  int v = x[threadIdx.x], turns = 0;
  while (__any_sync(FULL, v > 10)) {
    if (v > 10) {
      v /= 2;
      ++turns;
    }
  }
  y[threadIdx.x] = turns;
}
