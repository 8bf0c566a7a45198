// Promises of __restrict__, peers, phases, groups, masks, indices, vectors, buffers, scopes, carved memory: each with a
// fault.
#include "asm.cuh"

// == output_raised_twice_by_a_promised_input
extern "C" __global__ void output_raised_twice_by_a_promised_input(const float* __restrict__ x, float* __restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] + 1;  // BUG
  y[i] += x[i];  // BUG
}

// == smoothed_over_a_promised_input
extern "C" __global__ void smoothed_over_a_promised_input(const float* __restrict__ x, float* __restrict__ y, int n) {
  int i = threadIdx.x;
  float v = 0.5f * (x[i] + x[(i + 1) % n]);  // BUG
  __syncthreads();
  y[i] = v;  // BUG
}

// == weights_of_the_module_read_as_fixed
__device__ int weights[64];
extern "C" __global__ void weights_of_the_module_read_as_fixed(const int* x, int* y) {
  int t = threadIdx.x;
  weights[t] = 3 * x[t];  // BUG
  __syncthreads();
  y[t] = __ldg(&weights[63 - t]);  // BUG
}

// == promised_rows_normalised_onto_themselves
template <typename T>
__device__ T row_sum(const T* __restrict__ row, int cols) {
  T sum = 0;
  for (int c = 0; c < cols; ++c) sum += row[c];  // BUG
  return sum;
}
extern "C" __global__ void promised_rows_normalised_onto_themselves(const float* __restrict__ x, float* __restrict__ y,
                                                                    int cols) {
  int row = blockIdx.x;
  float sum = row_sum(x + row * cols, cols);
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[row * cols + c] = x[row * cols + c] / sum;  // BUG
}

// == overlapping_windows_with_a_promise
extern "C" __global__ void overlapping_windows_with_a_promise(const int* __restrict__ from, int* __restrict__ to) {
  int i = threadIdx.x;
  to[i] = 2 * from[i];  // BUG
}

// == peers_counter_reset_by_its_reader
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ __cluster_dims__(2) void peers_counter_reset_by_its_reader(const int* x, int* y) {
  __shared__ int count;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, x[blockIdx.x * blockDim.x + threadIdx.x]);
  cluster.sync();
  if (threadIdx.x == 0) {
    int* peer = cluster.map_shared_rank(&count, cluster.block_rank() ^ 1);
    y[blockIdx.x] = *peer + count;  // BUG
    *peer = 0;  // BUG
  }
  cluster.sync();
}

// == ring_of_a_cluster_with_one_meeting_per_turn
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ __cluster_dims__(2) void ring_of_a_cluster_with_one_meeting_per_turn(const int* x, int* y,
                                                                                           int turns) {
  __shared__ int held[64];
  cg::cluster_group cluster = cg::this_cluster();
  int t = threadIdx.x;
  held[t] = x[blockIdx.x * 64 + t];
  for (int turn = 0; turn < turns; ++turn) {
    cluster.sync();
    int v = cluster.map_shared_rank(held, cluster.block_rank() ^ 1)[t];  // BUG
    held[t] = v + 1;  // BUG
  }
  cluster.sync();
  y[blockIdx.x * 64 + t] = held[t];
}

// == peer_tile_read_at_the_index_of_the_cluster
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ __cluster_dims__(2) void peer_tile_read_at_the_index_of_the_cluster(const int* x, int* y) {
  __shared__ int tile[32];
  cg::cluster_group cluster = cg::this_cluster();
  tile[threadIdx.x] = x[cluster.thread_rank()];
  cluster.sync();
  y[cluster.thread_rank()] = cluster.map_shared_rank(tile, 1)[cluster.thread_rank()];  // BUG
  cluster.sync();
}

// == one_group_may_stay_when_there_is_one
#include <cuda_pipeline.h>
extern "C" __global__ void one_group_may_stay_when_there_is_one(const int* x, int* y) {
  __shared__ int tile[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &x[t], 4);  // BUG
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  y[t] = tile[63 - t];  // BUG
}

// == barrier_ahead_of_the_wait_for_the_copy
extern "C" __global__ void barrier_ahead_of_the_wait_for_the_copy(const int* x, int* y) {
  __shared__ int tile[96];
  int t = threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(SMEM(&tile[t])), "l"(x + t) : "memory");  // BUG
  __syncthreads();
  asm volatile("cp.async.wait_all;" ::: "memory");
  y[t] = tile[(t + 32) % 96];  // BUG
}

// == sixteen_bytes_copied_from_the_second_element
extern "C" __global__ void sixteen_bytes_copied_from_the_second_element(const float* x, float4* y) {
  __shared__ float4 tile[32];
  int t = threadIdx.x;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(SMEM(&tile[t])), "l"(x + 4 * t + 1) : "memory");  // BUG
  asm volatile("cp.async.wait_all;" ::: "memory");
  y[t] = tile[t];
}

// == parity_of_the_turn_where_stages_are_two
extern "C" __global__ void parity_of_the_turn_where_stages_are_two(const float* x, float* y, int turns) {
  __shared__ __align__(16) float tile[2][64];
  __shared__ unsigned long long full[2];
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&full[0], 1);
    MBAR_INIT(&full[1], 1);
  }
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < turns; ++i) {
    int s = i % 2;
    if (t == 0) {
      MBAR_EXPECT(&full[s], 256);
      BULK_LOAD(tile[s], x + 64 * i, 256, &full[s]);  // BUG
    }
    MBAR_WAIT(&full[s], i & 1);
    sum += tile[s][t];  // BUG
    __syncthreads();
  }
  y[t] = sum;
}

// == arrivals_of_a_warp_where_the_block_is_expected
extern "C" __global__ void arrivals_of_a_warp_where_the_block_is_expected(const int* x, int* y) {
  __shared__ unsigned long long done;
  __shared__ int sum;
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&done, blockDim.x);
    sum = 0;
  }
  __syncthreads();
  if (t < 32) {
    atomicAdd(&sum, x[t]);
    MBAR_ARRIVE(&done);
  }
  MBAR_WAIT(&done, 0);  // BUG
  y[t] = sum;
}

// == mbarrier_set_up_again_for_each_tile
extern "C" __global__ void mbarrier_set_up_again_for_each_tile(const int* x, int* y, int tiles) {
  __shared__ unsigned long long bar;
  __shared__ int tile[64];
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (t == 0) MBAR_INIT(&bar, 64);  // BUG
    __syncthreads();
    tile[t] = x[64 * i + t];
    MBAR_ARRIVE(&bar);  // BUG
    MBAR_WAIT(&bar, 0);  // BUG
    sum += tile[63 - t];
  }
  y[t] = sum;
}

// == tile_of_a_branch_that_half_of_it_takes
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tile_of_a_branch_that_half_of_it_takes(const int* x, int* y) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int v = x[threadIdx.x];
  if (tile.thread_rank() < 20) v += tile.shfl_xor(v, 1);  // BUG
  y[threadIdx.x] = v;
}

// == two_of_three_blocks_meet_as_a_grid
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void two_of_three_blocks_meet_as_a_grid(int* x, int* y) {
  x[blockIdx.x * 32 + threadIdx.x] += 1;
  if (blockIdx.x < 2) cg::this_grid().sync();  // BUG
  y[blockIdx.x * 32 + threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
}

// == leaders_of_tiles_meet_as_a_block
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void leaders_of_tiles_meet_as_a_block(const int* x, int* y) {
  __shared__ int sums[2];
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  if (tile.thread_rank() == 0) {
    sums[tile.meta_group_rank()] = x[threadIdx.x];
    block.sync();  // BUG
  }
  block.sync();  // BUG
  y[threadIdx.x] = sums[threadIdx.x / 32];
}

// == mask_that_does_not_name_its_own_lane
extern "C" __global__ void mask_that_does_not_name_its_own_lane(const unsigned* x, unsigned* y) {
  int t = threadIdx.x;
  if (t >= 8 && t < 24) y[t] = __reduce_add_sync(0x0000ffffu, x[t]);  // BUG
}

// == source_lane_of_the_other_half
extern "C" __global__ void source_lane_of_the_other_half(const int* x, int* y) {
  int t = threadIdx.x, v = x[t];
  if (t < 16) v = __shfl_sync(0x0000ffffu, v, t + 16);  // BUG
  y[t] = v;
}

// == active_lanes_of_before_the_branch
extern "C" __global__ void active_lanes_of_before_the_branch(const int* x, int* y) {
  int t = threadIdx.x, v = x[t];
  unsigned mask = __activemask();
  if (v % 3 != 0) v += __shfl_sync(mask, v, __ffs(mask) - 1);  // BUG
  y[t] = v;
}

// == nonzero_keys_matched_by_all
extern "C" __global__ void nonzero_keys_matched_by_all(const int* keys, int* y) {
  int t = threadIdx.x, key = keys[t] % 4;
  if (key == 0) return;
  if (t & 1)
    y[t] = __popc(__match_any_sync(0xaaaaaaaau, key));  // BUG
  else
    y[t] = __popc(__match_any_sync(0xffffffffu, key));  // BUG
}

// == columns_turned_to_rows_by_one_warp
extern "C" __global__ void columns_turned_to_rows_by_one_warp(const int* x, int* y) {
  __shared__ int tile[2][8][4];
  int w = threadIdx.x / 32, l = threadIdx.x % 32;
  tile[w][l % 8][l / 8] = x[threadIdx.x];  // BUG
  y[threadIdx.x] = tile[w][l / 4][l % 4];  // BUG
}

// == prefix_of_a_warp_in_shared_words
extern "C" __global__ void prefix_of_a_warp_in_shared_words(const int* x, int* y) {
  __shared__ int s[64];
  int lane = threadIdx.x % 32;
  int* mine = s + threadIdx.x;
  *mine = x[threadIdx.x];
  __syncwarp();
#pragma unroll 1
  for (int d = 1; d < 32; d <<= 1) {
    int left = lane >= d ? mine[-d] : 0;  // BUG
    *mine += left;  // BUG
    __syncwarp();
  }
  y[threadIdx.x] = *mine;
}

// == sum_of_a_warp_spread_by_its_first_lane
extern "C" __global__ void sum_of_a_warp_spread_by_its_first_lane(const unsigned* x, unsigned* y) {
  __shared__ unsigned all[4];
  int w = threadIdx.x / 32;
  unsigned sum = __reduce_add_sync(FULL, x[threadIdx.x]);
  if (threadIdx.x < 4) all[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x % 32 == 0) all[w] = sum;  // BUG
  y[threadIdx.x] = x[threadIdx.x] * 100 / all[w];  // BUG
}

// == heap_that_has_no_room
extern "C" __global__ void heap_that_has_no_room(const int* x, int* y, int mebibytes) {
  int* scratch = (int*)malloc((size_t)mebibytes << 20);
  scratch[threadIdx.x] = x[threadIdx.x];  // BUG
  y[threadIdx.x] = scratch[threadIdx.x] + 1;
  free(scratch);
}

// == asserted_that_rows_are_sorted
#include <assert.h>
extern "C" __global__ void asserted_that_rows_are_sorted(const int* begin, int* y, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  assert(begin[r] <= begin[r + 1]);  // BUG
  y[r] = begin[r + 1] - begin[r];
}

// == memory_of_the_block_handed_out_too_soon
extern "C" __global__ void memory_of_the_block_handed_out_too_soon(const int* x, int* y) {
  __shared__ int* scratch;
  if (threadIdx.x == 0) scratch = nullptr;
  __syncthreads();
  if (threadIdx.x == 63) scratch = (int*)malloc(64 * sizeof(int));  // BUG
  y[threadIdx.x] = scratch != nullptr ? x[threadIdx.x] : 0;  // BUG
  __syncthreads();
  if (threadIdx.x == 63) free(scratch);
}

// == plane_times_pitch_in_an_int
extern "C" __global__ void plane_times_pitch_in_an_int(const float* x, float* y, int plane, int height, int pitch) {
  int at = plane * height * pitch + (int)threadIdx.x;
  y[threadIdx.x] = x[at];  // BUG
}

// == rounded_down_by_a_mask_of_32_bits
#include <stdint.h>
extern "C" __global__ void rounded_down_by_a_mask_of_32_bits(const float* x, float* y) {
  const float4* aligned = (const float4*)((uintptr_t)(x + threadIdx.x) & 0xfffffff0u);
  y[threadIdx.x] = aligned->x;  // BUG
}

// == back_by_one_with_an_unsigned_minus_one
extern "C" __global__ void back_by_one_with_an_unsigned_minus_one(const int* x, int* y) {
  size_t i = threadIdx.x + 1;
  unsigned back = (unsigned)-1;
  y[threadIdx.x] = x[i + back];  // BUG
}

// == four_columns_at_once_of_thirty
extern "C" __global__ void four_columns_at_once_of_thirty(const float* x, float* y, int cols) {
  const float* row = x + threadIdx.y * cols;
  int c = 4 * threadIdx.x;
  if (c + 4 <= cols) {
    float4 v = *reinterpret_cast<const float4*>(row + c);  // BUG
    y[threadIdx.y * 8 + threadIdx.x] = v.x + v.y + v.z + v.w;
  }
}

// == length_of_a_message_behind_one_byte
extern "C" __global__ void length_of_a_message_behind_one_byte(const unsigned char* bytes, int* y) {
  const unsigned char* message = bytes + 8 * threadIdx.x;
  y[threadIdx.x] = message[0] ? *reinterpret_cast<const unsigned short*>(message + 1) : 0;  // BUG
}

// == next_tile_stored_into_the_present_half
extern "C" __global__ void next_tile_stored_into_the_present_half(const float* x, float* y, int tiles) {
  __shared__ float half[2][64];
  int t = threadIdx.x, now = 0;
  float sum = 0, next = x[t];
  half[0][t] = next;
  __syncthreads();
  for (int i = 1; i <= tiles; ++i) {
    if (i < tiles) next = x[64 * i + t];
    sum += half[now][63 - t];  // BUG
    if (i < tiles) half[now][t] = next;  // BUG
    __syncthreads();
  }
  y[t] = sum;
}

// == buffers_swapped_by_one_thread
extern "C" __global__ void buffers_swapped_by_one_thread(const int* x, int* y, int turns) {
  __shared__ int store[2][64];
  __shared__ int now;
  int t = threadIdx.x;
  if (t == 0) now = 0;
  store[0][t] = x[t];
  __syncthreads();
  for (int i = 0; i < turns; ++i) {
    store[1 - now][t] = store[now][(t + 1) % 64] + 1;  // BUG
    if (t == 0) now = 1 - now;  // BUG
    __syncthreads();
  }
  y[t] = store[now][t];
}

// == count_of_all_blocks_by_atomics_of_one
extern "C" __global__ void count_of_all_blocks_by_atomics_of_one(const int* x, int* y) {
  if (x[blockIdx.x * blockDim.x + threadIdx.x] > 50) atomicAdd_block(y, 1);  // BUG
}

// == volatile_total_raised_by_all
extern "C" __global__ void volatile_total_raised_by_all(const int* x, volatile int* total) {
  total[0] = total[0] + x[threadIdx.x];  // BUG
}

// == ready_told_in_the_scope_of_the_own_block
#include <cuda/atomic>
extern "C" __global__ void ready_told_in_the_scope_of_the_own_block(const int* x, int* data, int* ready, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_block> flag(*ready);
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      data[0] = x[0] + 1;  // BUG
      flag.store(1, cuda::memory_order_release);  // BUG
    }
  } else if (threadIdx.x == 0) {
    while (flag.load(cuda::memory_order_acquire) == 0) {  // BUG
    }
    y[blockIdx.x] = data[0];  // BUG
  }
}

// == exchanged_flag_and_no_fence_before
extern "C" __global__ void exchanged_flag_and_no_fence_before(const int* x, int* data, int* ready, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = x[t];  // BUG
    __syncthreads();
    if (t == 0) atomicExch(ready, 1);
  } else {
    if (t == 0)
      while (atomicAdd(ready, 0) == 0) {
      }
    __syncthreads();
    y[t] = data[63 - t];  // BUG
  }
}

// == third_warp_at_another_barrier
extern "C" __global__ void third_warp_at_another_barrier(const int* x, int* y) {
  __shared__ int tile[96];
  int t = threadIdx.x;
  tile[t] = x[t];
  if (t < 64)
    BAR_SYNC(1, 96);  // BUG
  else
    BAR_SYNC(2, 96);  // BUG
  y[t] = tile[95 - t];
}

// == second_array_begins_in_the_middle_of_the_first
extern "C" __global__ void second_array_begins_in_the_middle_of_the_first(const float* x, const int* k, float* y,
                                                                           int n) {
  extern __shared__ __align__(16) unsigned char memory[];
  float* values = (float*)memory;
  int* keys = (int*)(memory + n * 2);
  int t = threadIdx.x;
  values[t] = x[t];  // BUG
  keys[t] = k[t];  // BUG
  __syncthreads();
  y[t] = values[t] + keys[t];
}

// == memory_asked_for_the_first_array_alone
extern "C" __global__ void memory_asked_for_the_first_array_alone(const float* x, float* y, int n) {
  extern __shared__ float both[];
  float *sums = both, *squares = both + n;
  int t = threadIdx.x;
  sums[t] = x[t];
  squares[t] = x[t] * x[t];  // BUG
  __syncthreads();
  y[t] = sums[n - 1 - t] + squares[n - 1 - t];
}

// == records_with_gaps_copied_as_words
struct Entry {
  char kind;
  int value;
};
extern "C" __global__ void records_with_gaps_copied_as_words(const int* x, int* y) {
  __shared__ Entry entries[32];
  int t = threadIdx.x;
  entries[t].kind = (char)x[t];
  entries[t].value = x[t];
  __syncwarp();
  const int* words = reinterpret_cast<const int*>(entries);
  y[2 * t] = words[2 * t];  // BUG
  y[2 * t + 1] = words[2 * t + 1];
}

// == cluster_arrives_relaxed_and_reads_its_peer
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ __cluster_dims__(2) void cluster_arrives_relaxed_and_reads_its_peer(const int* x, int* y) {
  __shared__ int tile[64];
  cg::cluster_group cluster = cg::this_cluster();
  int t = threadIdx.x;
  tile[t] = x[blockIdx.x * 64 + t];  // BUG
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  y[blockIdx.x * 64 + t] = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1)[t];  // BUG
  cluster.sync();
}

// == copies_told_to_an_mbarrier_before_they_are_made
extern "C" __global__ void copies_told_to_an_mbarrier_before_they_are_made(const int* x, int* y) {
  __shared__ unsigned long long full;
  __shared__ int tile[64];
  int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&full, 64);
  __syncthreads();
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(SMEM(&full)) : "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(SMEM(&tile[t])), "l"(x + t) : "memory");  // BUG
  MBAR_WAIT(&full, 0);
  y[t] = tile[63 - t];  // BUG
}

// == totals_of_lanes_in_a_union_of_two_types
union Cell {
  int whole[2];
  double wide;
};
extern "C" __global__ void totals_of_lanes_in_a_union_of_two_types(const int* x, double* y) {
  __shared__ Cell cells[32];
  int t = threadIdx.x;
  if (t < 32) cells[t].whole[0] = x[t];
  __syncthreads();
  y[t] = cells[t % 32].wide;  // BUG
}

// == product_of_two_shorts_as_an_index
extern "C" __global__ void product_of_two_shorts_as_an_index(const short* rows, const short* cols, int* y) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  short at = (short)(rows[threadIdx.x] * cols[threadIdx.x]);
  y[threadIdx.x] = tile[at];  // BUG
}

// == tile_of_eight_meets_in_one_branch_of_sixteen
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tile_of_eight_meets_in_one_branch_of_sixteen(const int* x, int* y) {
  __shared__ int s[64];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int t = threadIdx.x;
  s[t] = x[t];  // BUG
  if (t % 16 < 8) tile.sync();
  y[t] = s[t ^ 1];  // BUG
}

// == counted_by_a_volatile_shared_word
extern "C" __global__ void counted_by_a_volatile_shared_word(const int* x, int* y) {
  __shared__ volatile int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (x[threadIdx.x] > 20) count = count + 1;  // BUG
  __syncthreads();
  if (threadIdx.x == 0) *y = count;
}

// == promise_of_a_lookup_table_that_is_sorted_meanwhile
extern "C" __global__ void promise_of_a_lookup_table_that_is_sorted_meanwhile(const int* __restrict__ ranks,
                                                                              int* __restrict__ order, int n) {
  __shared__ int s[64];
  int t = threadIdx.x, rank = 0, mine = ranks[t];  // BUG
  for (int i = 0; i < n; ++i) rank += ranks[i] < mine;  // BUG
  s[t] = mine;
  __syncthreads();
  order[rank] = s[t];  // BUG
}

// == printed_array_beyond_its_length
#include <stdio.h>
extern "C" __global__ void printed_array_beyond_its_length(const int* x, int n) {
  if (threadIdx.x == 0)
    for (int i = 0; i <= n; ++i) printf("%d ", x[i]);  // BUG
}

// == halves_added_by_pairs_at_an_odd_half
#include <cuda_fp16.h>
extern "C" __global__ void halves_added_by_pairs_at_an_odd_half(__half* y, const float* x) {
  atomicAdd(reinterpret_cast<__half2*>(y + 2 * threadIdx.x + 1), __float2half2_rn(x[threadIdx.x]));  // BUG
}

// == scratch_of_the_heap_returned_ahead_of_its_last_use
extern "C" __global__ void scratch_of_the_heap_returned_ahead_of_its_last_use(const int* x, int* y) {
  __shared__ int* scratch;
  int t = threadIdx.x;
  if (t == 0) scratch = (int*)malloc(64 * sizeof(int));
  __syncthreads();
  scratch[t] = x[t];
  __syncthreads();
  if (t == 0) free(scratch);
  __syncthreads();
  y[t] = scratch[63 - t];  // BUG
}
