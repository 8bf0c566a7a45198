// Promises of __restrict__, peers, phases, groups, masks, indices, vectors, buffers, scopes, carved memory: right, though
// some look suspicious.
#include "asm.cuh"

// == two_halves_of_one_array_with_a_promise
extern "C" __global__ void two_halves_of_one_array_with_a_promise(const float* __restrict__ x, float* __restrict__ y) {
  int i = threadIdx.x;
  float v = 0.5f * (x[i] + x[i + 1]);
  __syncthreads();
  y[i] = v;
  y[i] += x[i];
}

// == one_array_smoothed_in_place_without_a_promise
extern "C" __global__ void one_array_smoothed_in_place_without_a_promise(const float* x, float* y, int n) {
  int i = threadIdx.x;
  float v = 0.5f * (x[i] + x[(i + 1) % n]);
  __syncthreads();
  y[i] = v;
}

// == weights_of_the_module_read_as_they_are
__device__ int weights[64];
extern "C" __global__ void weights_of_the_module_read_as_they_are(const int* x, int* y) {
  int t = threadIdx.x;
  weights[t] = 3 * __ldg(x + t);
  __syncthreads();
  y[t] = weights[63 - t];
}

// == even_elements_fixed_and_odd_ones_written
extern "C" __global__ void even_elements_fixed_and_odd_ones_written(int* x) {
  int t = threadIdx.x;
  x[2 * t + 1] = __ldg(x + 2 * t) + __ldg(x + 2 * ((t + 1) % 64));
}

// == two_counters_of_a_cluster_added_by_each
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ __cluster_dims__(2) void two_counters_of_a_cluster_added_by_each(const int* x, int* y) {
  __shared__ int count;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) count = 0;
  cluster.sync();
  int v = x[blockIdx.x * blockDim.x + threadIdx.x];
  atomicAdd(&count, v);
  atomicAdd(cluster.map_shared_rank(&count, cluster.block_rank() ^ 1), v);
  cluster.sync();
  if (threadIdx.x == 0) y[blockIdx.x] = count;
}

// == ring_of_a_cluster_in_two_buffers
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ __cluster_dims__(2) void ring_of_a_cluster_in_two_buffers(const int* x, int* y, int turns) {
  __shared__ int held[2][64];
  cg::cluster_group cluster = cg::this_cluster();
  int t = threadIdx.x;
  held[0][t] = x[blockIdx.x * 64 + t];
  for (int turn = 0; turn < turns; ++turn) {
    cluster.sync();
    held[1 - turn % 2][t] = cluster.map_shared_rank(held[turn % 2], cluster.block_rank() ^ 1)[t] + 1;
  }
  y[blockIdx.x * 64 + t] = held[turns % 2][t];
  cluster.sync();
}

// == newest_of_two_groups_may_stay
#include <cuda_pipeline.h>
extern "C" __global__ void newest_of_two_groups_may_stay(const int* x, int* y) {
  __shared__ int tile[2][64];
  int t = threadIdx.x;
  for (int i = 0; i < 2; ++i) {
    __pipeline_memcpy_async(&tile[i][t], &x[64 * i + t], 4);
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __syncthreads();
  y[t] = tile[0][63 - t];
  __pipeline_wait_prior(0);
  __syncthreads();
  y[t] += tile[1][63 - t];
}

// == empty_groups_count_as_groups
#include <cuda_pipeline.h>
extern "C" __global__ void empty_groups_count_as_groups(const int* x, int* y, int tiles) {
  __shared__ int tile[2][64];
  int t = threadIdx.x, sum = 0;
  __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
  __pipeline_commit();
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) __pipeline_memcpy_async(&tile[(i + 1) % 2][t], &x[64 * (i + 1) + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += tile[i % 2][63 - t];
    __syncthreads();
  }
  y[t] = sum;
}

// == parity_of_each_stage_turned_with_it
extern "C" __global__ void parity_of_each_stage_turned_with_it(const float* x, float* y, int turns) {
  __shared__ __align__(16) float tile[2][64];
  __shared__ unsigned long long full[2];
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&full[0], 1);
    MBAR_INIT(&full[1], 1);
  }
  __syncthreads();
  float sum = 0;
  unsigned phases = 0;
  for (int i = 0; i < turns; ++i) {
    int s = i % 2;
    if (t == 0) {
      MBAR_EXPECT(&full[s], 256);
      BULK_LOAD(tile[s], x + 64 * i, 256, &full[s]);
    }
    MBAR_WAIT(&full[s], phases >> s & 1);
    phases ^= 1u << s;
    sum += tile[s][t];
    __syncthreads();
  }
  y[t] = sum;
}

// == producer_waits_for_the_phase_before_the_first
extern "C" __global__ void producer_waits_for_the_phase_before_the_first(const int* x, int* y, int turns) {
  __shared__ unsigned long long full, empty;
  __shared__ int slot[32];
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&full, 32);
    MBAR_INIT(&empty, 32);
  }
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < turns; ++i) {
      MBAR_WAIT(&empty, (i & 1) ^ 1);
      slot[t] = x[32 * i + t];
      MBAR_ARRIVE(&full);
    }
  } else {
    int sum = 0;
    for (int i = 0; i < turns; ++i) {
      MBAR_WAIT(&full, i & 1);
      sum += slot[63 - t];
      MBAR_ARRIVE(&empty);
    }
    y[t - 32] = sum;
  }
}

// == group_of_those_that_are_here
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void group_of_those_that_are_here(const int* x, int* y, int* n) {
  int v = x[threadIdx.x];
  if (v % 3 == 0) {
    auto here = cg::coalesced_threads();
    int base = 0;
    if (here.thread_rank() == 0) base = atomicAdd(n, (int)here.size());
    y[here.shfl(base, 0) + here.thread_rank()] = v;
  }
}

// == tiles_of_four_in_a_branch_of_four
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tiles_of_four_in_a_branch_of_four(const int* x, int* y) {
  auto tile = cg::tiled_partition<4>(cg::this_thread_block());
  int v = x[threadIdx.x];
  if (tile.meta_group_rank() % 3 == 1) v = tile.shfl_xor(v, 2) + tile.shfl_down(v, 1);
  y[threadIdx.x] = v;
}

// == both_branches_meet_by_their_own_masks
extern "C" __global__ void both_branches_meet_by_their_own_masks(const int* x, int* y) {
  int t = threadIdx.x, v = x[t];
  bool odd = v & 1;
  unsigned mask = __ballot_sync(FULL, odd);
  if (odd)
    v = __reduce_max_sync(mask, v);
  else
    v = -__reduce_min_sync(~mask, v);
  y[t] = v;
}

// == source_lane_taken_modulo_its_width
extern "C" __global__ void source_lane_taken_modulo_its_width(const int* x, int* y) {
  int t = threadIdx.x, v = x[t];
  if (t < 16) v = __shfl_sync(0x0000ffffu, v, t + 19, 16);
  y[t] = v;
}

// == tile_turned_by_one_warp_that_meets
extern "C" __global__ void tile_turned_by_one_warp_that_meets(const int* x, int* y) {
  __shared__ int tile[2][8][5];
  int w = threadIdx.x / 32, l = threadIdx.x % 32;
  tile[w][l % 8][l / 8] = x[threadIdx.x];
  __syncwarp();
  y[threadIdx.x] = tile[w][l / 4][l % 4];
}

// == each_lane_reads_the_word_it_wrote
extern "C" __global__ void each_lane_reads_the_word_it_wrote(const int* x, int* y, int turns) {
  __shared__ int own[64];
  int t = threadIdx.x;
  own[t] = x[t];
  for (int i = 0; i < turns; ++i) own[t] = own[t] * 3 + __shfl_xor_sync(FULL, own[t], 1);
  y[t] = own[t];
}

// == heap_that_may_have_no_room
extern "C" __global__ void heap_that_may_have_no_room(const int* x, int* y, int mebibytes) {
  int* scratch = (int*)malloc((size_t)mebibytes << 20);
  if (scratch == nullptr) {
    y[threadIdx.x] = -1;
    return;
  }
  scratch[0] = x[threadIdx.x];
  y[threadIdx.x] = scratch[0] + 1;
  free(scratch);
}

// == asserted_and_printed_by_one_thread
#include <assert.h>
#include <stdio.h>
extern "C" __global__ void asserted_and_printed_by_one_thread(const int* begin, int* y, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  assert(begin[r] <= begin[r + 1] && "rows are sorted");
  y[r] = begin[r + 1] - begin[r];
  if (r == 3) printf("%d of %s: %5.2f %lld%%\n", y[r], "rows", 0.5f * y[r], 10LL);
}

// == memory_of_the_block_freed_by_another_thread
extern "C" __global__ void memory_of_the_block_freed_by_another_thread(const int* x, int* y) {
  __shared__ int* scratch;
  int t = threadIdx.x;
  if (t == 63) scratch = (int*)malloc(64 * sizeof(int));
  __syncthreads();
  scratch[t] = x[t];
  __syncthreads();
  y[t] = scratch[63 - t];
  __syncthreads();
  if (t == 0) free(scratch);
}

// == index_that_wraps_and_comes_back
extern "C" __global__ void index_that_wraps_and_comes_back(const int* x, int* y, unsigned n) {
  unsigned i = threadIdx.x - 5u;
  y[threadIdx.x] = i < n ? x[i] : x[i + 5u];
}

// == pointer_rounded_down_by_a_wide_mask
#include <stdint.h>
extern "C" __global__ void pointer_rounded_down_by_a_wide_mask(const float* x, float* y) {
  const float4* aligned = (const float4*)((uintptr_t)(x + threadIdx.x) & ~(uintptr_t)15);
  y[threadIdx.x] = aligned->x;
}

// == four_columns_at_once_where_rows_allow_it
extern "C" __global__ void four_columns_at_once_where_rows_allow_it(const float* x, float* y, int cols) {
  const float* row = x + threadIdx.y * cols;
  float sum = 0;
  int head = ((16 - (int)(reinterpret_cast<size_t>(row) % 16)) % 16) / 4;
  int c = head + 4 * threadIdx.x;
  if (threadIdx.x < head) sum += row[threadIdx.x];
  if (c + 4 <= cols) {
    float4 v = *reinterpret_cast<const float4*>(row + c);
    sum += v.x + v.y + v.z + v.w;
  } else {
    for (; c < cols; ++c) sum += row[c];
  }
  y[threadIdx.y * 8 + threadIdx.x] = sum;
}

// == next_tile_stored_into_the_other_half
extern "C" __global__ void next_tile_stored_into_the_other_half(const float* x, float* y, int tiles) {
  __shared__ float half[2][64];
  int t = threadIdx.x;
  float sum = 0, next = x[t];
  half[0][t] = next;
  __syncthreads();
  for (int i = 1; i <= tiles; ++i) {
    if (i < tiles) half[i % 2][t] = x[64 * i + t];
    sum += half[1 - i % 2][63 - t];
    __syncthreads();
  }
  y[t] = sum;
}

// == buffers_swapped_by_everybody_for_itself
extern "C" __global__ void buffers_swapped_by_everybody_for_itself(const int* x, int* y, int turns) {
  __shared__ int store[2][64];
  int t = threadIdx.x, *from = store[0], *to = store[1];
  from[t] = x[t];
  __syncthreads();
  for (int i = 0; i < turns; ++i) {
    to[t] = from[(t + 1) % 64] + 1;
    int* other = from;
    from = to;
    to = other;
    __syncthreads();
  }
  y[t] = from[t];
}

// == counts_of_each_block_in_its_own_scope
extern "C" __global__ void counts_of_each_block_in_its_own_scope(const int* x, int* y) {
  if (x[blockIdx.x * blockDim.x + threadIdx.x] > 50) atomicAdd_block(y + blockIdx.x, 1);
}

// == ready_told_in_the_scope_of_the_device
#include <cuda/atomic>
extern "C" __global__ void ready_told_in_the_scope_of_the_device(const int* x, int* data, int* ready, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(*ready);
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = x[t] + 1;
    __syncthreads();
    if (t == 0) flag.store(1, cuda::memory_order_release);
  } else {
    if (t == 0)
      while (flag.load(cuda::memory_order_acquire) == 0) {
      }
    __syncthreads();
    y[t] = data[31 - t];
  }
}

// == exchanged_flag_behind_a_fence
extern "C" __global__ void exchanged_flag_behind_a_fence(const int* x, int* data, int* ready, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = x[t];
    __threadfence();
    __syncthreads();
    if (t == 0) atomicExch(ready, 1);
  } else {
    if (t == 0)
      while (atomicAdd(ready, 0) == 0) {
      }
    __syncthreads();
    __threadfence();
    y[t] = data[63 - t];
  }
}

// == warps_arrive_at_the_barrier_of_the_next
extern "C" __global__ void warps_arrive_at_the_barrier_of_the_next(const int* x, int* y) {
  __shared__ int sum[4];
  int t = threadIdx.x, w = t / 32, v = __reduce_add_sync(FULL, x[t]);
  if (w > 0) BAR_SYNC(w, 64);
  if (t % 32 == 0) sum[w] = v + (w > 0 ? sum[w - 1] : 0);
  __syncwarp();
  if (w < 3) BAR_ARRIVE(w + 1, 64);
  y[t] = sum[w];
}

// == second_array_begins_where_the_first_is_no_more_used
extern "C" __global__ void second_array_begins_where_the_first_is_no_more_used(const float* x, const int* k, float* y,
                                                                                int n) {
  extern __shared__ __align__(16) unsigned char memory[];
  float* values = (float*)memory;
  int* keys = (int*)(memory + n * 2);
  int t = threadIdx.x;
  values[t] = x[t];
  __syncthreads();
  float v = values[n - 1 - t];
  __syncthreads();
  keys[t] = k[t];
  __syncthreads();
  y[t] = v + keys[n - 1 - t];
}

// == records_with_gaps_cleared_as_words
struct Entry {
  char kind;
  int value;
};
extern "C" __global__ void records_with_gaps_cleared_as_words(const int* x, int* y) {
  __shared__ Entry entries[32];
  int t = threadIdx.x;
  int* words = reinterpret_cast<int*>(entries);
  words[t] = words[t + 32] = 0;
  __syncwarp();
  entries[t].kind = (char)x[t];
  entries[t].value = x[t];
  __syncwarp();
  y[2 * t] = words[2 * t];
  y[2 * t + 1] = words[2 * t + 1];
}

// == table_of_the_module_indexed_within_its_end
__constant__ int table[8] = {1, 1, 2, 3, 5, 8, 13, 21};
extern "C" __global__ void table_of_the_module_indexed_within_its_end(const int* x, int* y) {
  int t = threadIdx.x;
  y[t] = table[x[t] & 7] + table[t % 8];
}
