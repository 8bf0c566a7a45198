// Well-known patterns with a fault: tiles, pipelines, private histograms, look-back, partitions, clusters, named barriers.
// "// BUG" ends each line to blame.
#define FULL 0xffffffffu

// == tile_exchange_without_sync
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tile_exchange_without_sync(const int* x, int* y) {
  __shared__ int s[64];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int first = threadIdx.x - tile.thread_rank();
  s[threadIdx.x] = x[threadIdx.x];  // BUG
  y[threadIdx.x] = s[first + 7 - tile.thread_rank()];  // BUG
}

// == tile_sums_in_one_slot_per_warp
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tile_sums_in_one_slot_per_warp(const int* x, int* y) {
  __shared__ int sums[8];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int v = x[threadIdx.x];
  for (int o = 4; o; o /= 2) v += tile.shfl_down(v, o);
  if (tile.thread_rank() == 0) sums[threadIdx.x / 32] = v;  // BUG
  __syncthreads();
  if (threadIdx.x < 2) y[threadIdx.x] = sums[threadIdx.x];
}

// == aggregated_base_in_shared_without_sync
extern "C" __global__ void aggregated_base_in_shared_without_sync(const int* x, int* list, int* count) {
  __shared__ int base[2];
  int i = blockIdx.x * 64 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned keep = __ballot_sync(FULL, x[i] > 50);
  if (lane == 0) base[warp] = atomicAdd(count, __popc(keep));  // BUG
  if (x[i] > 50) list[base[warp] + __popc(keep & ((1u << lane) - 1))] = x[i];  // BUG
}

// == aggregated_by_a_plain_counter
extern "C" __global__ void aggregated_by_a_plain_counter(const int* x, int* list, int* count) {
  int i = blockIdx.x * 64 + threadIdx.x, lane = threadIdx.x % 32;
  unsigned keep = __ballot_sync(FULL, x[i] > 50);
  int base = 0;
  if (lane == 0) {
    base = *count;  // BUG
    *count = base + __popc(keep);  // BUG
  }
  base = __shfl_sync(FULL, base, 0);
  if (x[i] > 50) list[128 * i + base] = x[i];
}

// == look_back_aggregate_of_another_lane
extern "C" __global__ void look_back_aggregate_of_another_lane(const int* x, int* sum, volatile int* flag, int* y) {
  int b = blockIdx.x, lane = threadIdx.x, v = x[b * 32 + lane];
  for (int o = 1; o < 32; o *= 2) {
    int left = __shfl_up_sync(FULL, v, o);
    if (lane >= o) v += left;
  }
  if (lane == 31) sum[b] = v;  // BUG
  if (lane == 0) {
    __threadfence();
    flag[b] = 1;
  }
  int before = 0;
  if (lane == 0)
    for (int p = b - 1; p >= 0; --p) {
      while (flag[p] == 0) {}
      __threadfence();
      before += sum[p];  // BUG
    }
  before = __shfl_sync(FULL, before, 0);
  y[b * 32 + lane] = before + v;
}

// == look_back_waits_for_itself
extern "C" __global__ void look_back_waits_for_itself(const int* x, int* sum, volatile int* flag, int* y) {
  int b = blockIdx.x;
  if (threadIdx.x == 0) {
    int before = 0;
    for (int p = b; p >= 0; --p) {
      while (flag[p] == 0) {}  // BUG
      __threadfence();
      before += sum[p];
    }
    sum[b] = x[b];
    __threadfence();
    flag[b] = 1;
    y[b] = before;
  }
}

// == prefetch_two_ahead_into_two_buffers
extern "C" __global__ void prefetch_two_ahead_into_two_buffers(const float* x, float* y, int tiles) {
  __shared__ float buf[2][64];
  int t = threadIdx.x;
  buf[0][t] = x[t];
  buf[1][t] = x[64 + t];
  float sum = 0;
  __syncthreads();
  for (int i = 0; i < tiles; ++i) {
    sum += buf[i % 2][63 - t];  // BUG
    if (i + 2 < tiles) buf[i % 2][t] = x[(i + 2) * 64 + t];  // BUG
    __syncthreads();
  }
  y[t] = sum;
}

// == double_buffer_index_not_wrapped
extern "C" __global__ void double_buffer_index_not_wrapped(const float* x, float* y, int tiles) {
  __shared__ float buf[2][64];
  int t = threadIdx.x;
  float sum = 0;
  buf[0][t] = x[t];
  __syncthreads();
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) buf[i + 1][t] = x[(i + 1) * 64 + t];  // BUG
    sum += buf[i % 2][63 - t];
    __syncthreads();
  }
  y[t] = sum;
}

// == double_buffer_without_prologue
extern "C" __global__ void double_buffer_without_prologue(const float* x, float* y, int tiles) {
  __shared__ float buf[2][64];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) buf[(i + 1) & 1][t] = x[(i + 1) * 64 + t];
    sum += buf[i & 1][63 - t];  // BUG
    __syncthreads();
  }
  y[t] = sum;
}

// == tile_reused_for_the_result
extern "C" __global__ void tile_reused_for_the_result(const float* a, const float* b, float* c) {
  __shared__ float s[2][8][8];
  int x = threadIdx.x, y = threadIdx.y;
  s[0][y][x] = a[y * 8 + x];
  s[1][y][x] = b[y * 8 + x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += s[0][y][k] * s[1][k][x];  // BUG
  s[0][x][y] = sum;  // BUG
  __syncthreads();
  c[y * 8 + x] = s[0][y][x];
}

// == private_histograms_merged_too_soon
extern "C" __global__ void private_histograms_merged_too_soon(const int* x, int* bins, int n) {
  __shared__ int mine[2][16];
  int t = threadIdx.x, warp = t / 32;
  if (t % 32 < 16) mine[warp][t % 32] = 0;
  __syncwarp();
  for (int i = t; i < n; i += 64) atomicAdd(&mine[warp][x[i] % 16], 1);  // BUG
  if (t < 16) bins[t] = mine[0][t] + mine[1][t];  // BUG
}

// == histogram_columns_of_two_warps
extern "C" __global__ void histogram_columns_of_two_warps(const int* x, int* bins, int n) {
  __shared__ int column[8 * 32];
  int t = threadIdx.x;
  for (int i = t; i < 256; i += 64) column[i] = 0;
  __syncthreads();
  for (int i = t; i < n; i += 64) column[x[i] % 8 * 32 + t % 32] += 1;  // BUG
  __syncthreads();
  if (t < 8) {
    int sum = 0;
    for (int i = 0; i < 32; ++i) sum += column[t * 32 + i];
    bins[t] = sum;
  }
}

// == vector_store_then_scalar_reads
extern "C" __global__ void vector_store_then_scalar_reads(const float4* x, float* y) {
  __shared__ alignas(16) float s[128];
  reinterpret_cast<float4*>(s)[threadIdx.x] = x[threadIdx.x];  // BUG
  float sum = 0;
  for (int i = 0; i < 4; ++i) sum += s[i * 32 + threadIdx.x];  // BUG
  y[threadIdx.x] = sum;
}

// == vector_and_scalar_write_one_element
extern "C" __global__ void vector_and_scalar_write_one_element(const float4* x, float* y) {
  int i = threadIdx.x;
  reinterpret_cast<float4*>(y)[i] = x[i];  // BUG
  if (i % 4 == 3) y[4 * i - 1] = i;  // BUG
}

// == dynamic_partitions_overlap
extern "C" __global__ void dynamic_partitions_overlap(const float* x, const int* keys, float* y, int n) {
  extern __shared__ float smem[];
  float* values = smem;
  int* order = reinterpret_cast<int*>(smem + n / 2);
  values[threadIdx.x] = x[threadIdx.x];  // BUG
  order[threadIdx.x] = keys[threadIdx.x] % n;  // BUG
  __syncthreads();
  y[threadIdx.x] = values[order[threadIdx.x] % 8];
}

// == dynamic_partition_offset_in_elements
extern "C" __global__ void dynamic_partition_offset_in_elements(const float* x, float* y, int n) {
  extern __shared__ char raw[];
  float* first = reinterpret_cast<float*>(raw);
  float* second = reinterpret_cast<float*>(raw + n);
  int t = threadIdx.x;
  first[t] = x[t];  // BUG
  second[t] = 2 * x[t];  // BUG
  __syncthreads();
  y[t] = first[0] + second[n - 1 - t];
}

// == warp_scan_without_syncwarp
extern "C" __global__ void warp_scan_without_syncwarp(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x, lane = t % 32;
  s[t] = x[t];
  __syncwarp();
  for (int o = 1; o < 32; o *= 2) {
    int left = lane >= o ? s[t - o] : 0;  // BUG
    s[t] += left;  // BUG
    __syncwarp();
  }
  y[t] = s[t];
}

// == segmented_scan_with_one_syncwarp
extern "C" __global__ void segmented_scan_with_one_syncwarp(const int* x, const int* head, int* y) {
  __shared__ int value[32], flag[32];
  int lane = threadIdx.x;
  value[lane] = x[lane];
  flag[lane] = head[lane] % 2;
  for (int o = 1; o < 32; o *= 2) {
    __syncwarp();
    int f = flag[lane], v = value[lane];
    int left = lane >= o ? value[lane - o] : 0, before = lane >= o ? flag[lane - o] : 1;  // BUG
    value[lane] = f ? v : v + left;  // BUG
    flag[lane] = f | before;  // BUG
  }
  y[lane] = value[lane];
}

// == syncwarp_of_all_but_one
extern "C" __global__ void syncwarp_of_all_but_one(const int* x, int* y) {
  __shared__ int s[32];
  int lane = threadIdx.x;
  s[lane] = x[lane];  // BUG
  if (lane < 31) {
    __syncwarp(0x7fffffffu);
    y[lane] = s[lane + 1];  // BUG
  }
}

// == cluster_counts_read_without_cluster_sync
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2)
cluster_counts_read_without_cluster_sync(const int* x, int* y) {
  __shared__ int count[4];
  auto cluster = cg::this_cluster();
  if (threadIdx.x < 4) count[threadIdx.x] = 0;
  cluster.sync();
  int* first = cluster.map_shared_rank(count, 0);
  atomicAdd(&first[x[blockIdx.x * 32 + threadIdx.x] % 4], 1);  // BUG
  __syncthreads();
  if (cluster.block_rank() == 0 && threadIdx.x < 4) y[threadIdx.x] = count[threadIdx.x];  // BUG
  cluster.sync();
}

// == cluster_push_before_the_peer_clears
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) cluster_push_before_the_peer_clears(const int* x, int* y) {
  __shared__ int inbox[32];
  auto cluster = cg::this_cluster();
  inbox[threadIdx.x] = 0;  // BUG
  __syncthreads();
  int* other = cluster.map_shared_rank(inbox, cluster.block_rank() ^ 1);
  other[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];  // BUG
  cluster.sync();
  y[blockIdx.x * 32 + threadIdx.x] = inbox[31 - threadIdx.x];
}

// == finer_locks_than_buckets
extern "C" __global__ void finer_locks_than_buckets(const int* keys, int* lock, int* bucket) {
  if (threadIdx.x != 0) return;
  int key = keys[blockIdx.x], *mine = &lock[key % 16];
  while (atomicCAS(mine, 0, 1) != 0) {}
  __threadfence();
  bucket[key % 4] += 1;  // BUG
  __threadfence();
  atomicExch(mine, 0);
}

// == winner_stores_its_index_plainly
extern "C" __global__ void winner_stores_its_index_plainly(const int* x, int* best, int* where) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (atomicMax(best, x[i]) < x[i]) *where = i;  // BUG
}

// == box_refilled_before_the_answer
extern "C" __global__ void box_refilled_before_the_answer(const int* x, int* y, int n) {
  __shared__ int box;
  __shared__ volatile int turn;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i <= n; ++i) {
      box = x[i];  // BUG
      __threadfence_block();
      turn = i;
    }
  } else if (threadIdx.x == 32) {
    for (int i = 1; i <= n; ++i) {
      while (turn < i) {}
      __threadfence_block();
      y[i] = box;  // BUG
    }
  }
}

// == named_barriers_of_the_wrong_pairs
extern "C" __global__ void named_barriers_of_the_wrong_pairs(const int* x, int* y) {
  __shared__ int s[128];
  int t = threadIdx.x, warp = t / 32, pair = warp / 2, name = 1 + warp % 2;
  s[t] = x[t];  // BUG
  asm volatile("bar.sync %0, 64;" ::"r"(name) : "memory");
  y[t] = s[pair * 64 + 63 - t % 64];  // BUG
}

// == grid_tree_synchronised_every_second_step
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void grid_tree_synchronised_every_second_step(int* part) {
  auto grid = cg::this_grid();
  int b = blockIdx.x;
  for (int step = 0, stride = 4; stride; ++step, stride /= 2) {
    if (threadIdx.x == 0 && b < stride) part[b] += part[b + stride];  // BUG
    if (step % 2) grid.sync();
  }
}

// == cp_async_into_the_stage_being_read
extern "C" __global__ void cp_async_into_the_stage_being_read(const float* x, float* y, int tiles) {
  __shared__ alignas(16) float stage[2][128];
  int t = threadIdx.x;
  auto fetch = [&](int i) {
    unsigned to = __cvta_generic_to_shared(&stage[i % 2][4 * t]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(x + i * 128 + 4 * t) : "memory");  // BUG
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  fetch(0);
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) fetch(i + 1);
    else asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    sum += stage[i % 2][127 - t] + stage[i % 2][63 - t];  // BUG
  }
  y[t] = sum;
}

// == bulk_ring_without_empty_barriers
__device__ unsigned at(const void* p) { return __cvta_generic_to_shared(p); }
__device__ void wait(unsigned long long* bar, int parity) {
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" ::"r"(at(bar)),
               "r"(parity)
               : "memory");
}
extern "C" __global__ void bulk_ring_without_empty_barriers(const float* x, float* y, int tiles) {
  __shared__ alignas(128) float stage[2][64];
  __shared__ unsigned long long full[2];
  int t = threadIdx.x;
  if (t < 2) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&full[t])) : "memory");
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (t == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(at(&full[i % 2])) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(at(stage[i % 2])), "l"(x + i * 64), "r"(at(&full[i % 2])) : "memory");  // BUG
    }
    wait(&full[i % 2], i / 2 % 2);
    sum += stage[i % 2][63 - t];  // BUG
  }
  y[t] = sum;
}

// == store_after_the_mbarrier_arrival
__device__ unsigned at(const void* p) { return __cvta_generic_to_shared(p); }
extern "C" __global__ void store_after_the_mbarrier_arrival(const int* x, int* y) {
  __shared__ unsigned long long bar;
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at(&bar)) : "memory");
  __syncthreads();
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at(&bar)) : "memory");
  s[t] = x[t];  // BUG
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }" ::"r"(at(&bar))
               : "memory");
  y[t] = s[63 - t];  // BUG
}

// == maximum_shared_by_one_warp
extern "C" __global__ void maximum_shared_by_one_warp(const float* x, float* y) {
  __shared__ float most;
  int t = threadIdx.x;
  float v = x[t];
  if (t == 0) most = 0;
  __syncthreads();
  if (t < 32) {
    v = fmaxf(v, x[t + 32]);
    for (int o = 16; o; o /= 2) v = fmaxf(v, __shfl_xor_sync(FULL, v, o));
    if (t == 0) most = v;  // BUG
    __syncwarp();
  }
  y[t] = x[t] - most;  // BUG
}

// == transposed_under_a_warp_barrier
extern "C" __global__ void transposed_under_a_warp_barrier(const float* x, float* y) {
  __shared__ float tile[32][33];
  for (int r = threadIdx.y; r < 32; r += 4) tile[r][threadIdx.x] = x[r * 32 + threadIdx.x];  // BUG
  __syncwarp();
  for (int r = threadIdx.y; r < 32; r += 4) y[r * 32 + threadIdx.x] = tile[threadIdx.x][r];  // BUG
}

// == wavefront_waits_for_the_left_only
extern "C" __global__ void wavefront_waits_for_the_left_only(int* table, volatile int* done, int w) {
  if (threadIdx.x != 0) return;
  int i = blockIdx.y, j = blockIdx.x;
  if (j > 0) while (done[i * w + j - 1] == 0) {}
  __threadfence();
  int left = j > 0 ? table[i * w + j - 1] : 1, up = i > 0 ? table[(i - 1) * w + j] : 1;  // BUG
  table[i * w + j] = left + up;  // BUG
  __threadfence();
  done[i * w + j] = 1;
}

// == offsets_read_before_the_scan_ends
extern "C" __global__ void offsets_read_before_the_scan_ends(const int* x, int* list) {
  __shared__ int counts[4];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  unsigned keep = __ballot_sync(FULL, x[t] % 3 == 0);
  if (lane == 0) counts[warp] = __popc(keep);
  __syncthreads();
  if (t == 0)
    for (int w = 0, sum = 0; w < 4; ++w) {
      int c = counts[w];
      counts[w] = sum;  // BUG
      sum += c;
    }
  if (x[t] % 3 == 0) list[counts[warp] + __popc(keep & ((1u << lane) - 1))] = x[t];  // BUG
}

// == queue_read_before_it_is_filled
extern "C" __global__ void queue_read_before_it_is_filled(const int* x, int* y) {
  __shared__ int queue[64];
  __shared__ int tail;
  if (threadIdx.x == 0) tail = 0;
  queue[threadIdx.x] = -1;
  __syncthreads();
  int at = atomicAdd(&tail, 1);
  queue[at] = x[threadIdx.x];  // BUG
  y[threadIdx.x] = queue[63 - at];  // BUG
}

// == rows_that_skip_the_barrier
extern "C" __global__ void rows_that_skip_the_barrier(const float* x, float* y, int rows) {
  __shared__ float s[64];
  for (int r = threadIdx.y; r < rows; r += 2) {
    s[threadIdx.y * 32 + threadIdx.x] = x[r * 32 + threadIdx.x];
    __syncthreads();  // BUG
    y[r * 32 + threadIdx.x] = s[threadIdx.y * 32 + 31 - threadIdx.x];
    __syncthreads();  // BUG
  }
  __syncthreads();  // BUG
  if (threadIdx.y == 0) y[rows * 32 + threadIdx.x] = s[threadIdx.x];
}

// == vote_of_lanes_that_left_the_loop
extern "C" __global__ void vote_of_lanes_that_left_the_loop(const int* x, int* y) {
  int v = x[threadIdx.x], turns = 0;
  while (v > 10) {
    v /= 2;
    ++turns;
    if (__all_sync(FULL, v < 20)) break;  // BUG
  }
  y[threadIdx.x] = turns;
}
