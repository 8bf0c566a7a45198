// The kernels of the tenth set as they should be, and others that look suspicious and are correct.
#include "asm.cuh"

// == pages_of_a_sequence_rounded_up
extern "C" __global__ void pages_of_a_sequence_rounded_up(const int* lengths, const int* pages, const float* cache,
                                                          float* y) {
  int sequence = blockIdx.x, d = threadIdx.x, length = lengths[sequence];
  float sum = 0;
  for (int p = 0; p < (length + 3) / 4; ++p) {
    int page = pages[sequence * 4 + p];
    for (int k = 0; k < 4; ++k) sum += p * 4 + k < length ? cache[(page * 4 + k) * 8 + d] : 0;
  }
  y[sequence * 8 + d] = sum;
}

// == nearest_pixel_rounded_down
extern "C" __global__ void nearest_pixel_rounded_down(const float* row, float* y, int from, int to) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < to) y[i] = row[static_cast<int>((i + 0.5f) * from / to)];
}

// == ties_counted_and_not_stored
extern "C" __global__ void ties_counted_and_not_stored(const int* x, int* count, int* largest, int threshold, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    if (x[i] >= threshold) {
      int place = atomicAdd(count, 1);
      if (place < 8) largest[place] = i;
    }
}

// == padding_of_an_ell_row_is_skipped
extern "C" __global__ void padding_of_an_ell_row_is_skipped(const int* columns, const float* values, const float* x,
                                                            float* y, int rows, int width) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = 0; k < width; ++k) {
    int column = columns[k * rows + row];
    sum += column < 0 ? 0 : values[k * rows + row] * x[column];
  }
  y[row] = sum;
}

// == sample_that_falls_back_to_the_last_word
extern "C" __global__ void sample_that_falls_back_to_the_last_word(const float* shares, const float* draws,
                                                                   const int* words, int* y, int n) {
  int s = threadIdx.x, token = 0;
  float sum = shares[0];
  while (sum < draws[s] && token < n - 1) sum += shares[++token];
  y[s] = words[token];
}

// == queue_whose_counter_ends_beyond_the_tiles
extern "C" __global__ void queue_whose_counter_ends_beyond_the_tiles(const float* x, float* y, int* next, int tiles) {
  __shared__ int tile;
  int t = threadIdx.x;
  while (true) {
    __syncthreads();
    if (t == 0) tile = atomicAdd(next, 1);
    __syncthreads();
    if (tile >= tiles) return;
    y[tile * 32 + t] = 2 * x[tile * 32 + t];
  }
}

// == rows_taken_by_warps_from_one_counter
extern "C" __global__ void rows_taken_by_warps_from_one_counter(const int* starts, const int* x, int* y, int* next,
                                                                int rows) {
  int lane = threadIdx.x % 32;
  for (;;) {
    int row = lane == 0 ? atomicAdd(next, 1) : 0;
    row = __shfl_sync(FULL, row, 0);
    if (row >= rows) break;
    int sum = 0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += x[i];
    sum = __reduce_add_sync(FULL, sum);
    if (lane == 0) y[row] = sum;
  }
}

// == pattern_compared_until_it_differs_at_the_end_mark
extern "C" __global__ void pattern_compared_until_it_differs_at_the_end_mark(const char* text, const char* pattern,
                                                                             int* hits, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
  while (k < m && text[i + k] == pattern[k]) ++k;
  hits[i] = k == m;
}

// == last_page_copied_as_far_as_it_goes
extern "C" __global__ void last_page_copied_as_far_as_it_goes(const float* cache, float* y, int n) {
  __shared__ alignas(128) float page[64];
  __shared__ unsigned long long full;
  int t = threadIdx.x, i = blockIdx.x * 64 + t, bytes = 4 * min(64, n - int(blockIdx.x) * 64);
  if (t == 0) {
    MBAR_INIT(&full, 1);
    MBAR_EXPECT(&full, bytes);
    BULK_LOAD(page, cache + blockIdx.x * 64, bytes, &full);
  }
  __syncthreads();
  MBAR_WAIT(&full, 0);
  if (i < n) y[i] = 0.5f * page[t];
}

// == tiles_of_a_worker_with_a_fix_up
extern "C" __global__ void tiles_of_a_worker_with_a_fix_up(const float* a, float* c, float* parts, int* flags,
                                                           int tiles, int depth) {
  int all = tiles * depth, each = (all + gridDim.x - 1) / gridDim.x, t = threadIdx.x, b = blockIdx.x;
  int step = b * each, end = min(step + each, all);
  while (step < end) {
    int tile = step / depth, first = tile * depth, stop = min(first + depth, end);
    bool owns = step == first;
    float sum = 0;
    for (; step < stop; ++step) sum += a[step * 32 + t];
    if (!owns) {
      parts[b * 32 + t] = sum;
      __syncthreads();
      if (t == 0) {
        __threadfence();
        atomicExch(&flags[b], 1);
      }
      continue;
    }
    for (int reached = stop, helper = b + 1; reached < first + depth; ++helper) {
      if (t == 0) {
        while (atomicAdd(&flags[helper], 0) == 0) {}
        __threadfence();
      }
      __syncthreads();
      sum += parts[helper * 32 + t];
      reached = min(reached + each, all);
    }
    c[tile * 32 + t] = sum;
  }
}

// == matrix_rows_of_twenty_four_halves
extern "C" __global__ void matrix_rows_of_twenty_four_halves(const unsigned short* x, unsigned* y) {
  __shared__ alignas(16) unsigned short tile[8][24];
  int lane = threadIdx.x;
  for (int i = lane; i < 64; i += 32) tile[i / 8][i % 8] = x[i];
  __syncwarp();
  unsigned r, at = SMEM(&tile[lane % 8][0]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(at) : "memory");
  y[lane] = r;
}

// == addresses_of_lanes_that_ldmatrix_ignores
extern "C" __global__ void addresses_of_lanes_that_ldmatrix_ignores(const unsigned short* x, unsigned* y) {
  __shared__ alignas(16) unsigned short tile[8][8];
  int lane = threadIdx.x;
  for (int i = lane; i < 64; i += 32) tile[i / 8][i % 8] = x[i];
  __syncwarp();
  unsigned r, at = SMEM(&tile[0][0]) + 16 * lane;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(at) : "memory");
  y[lane] = r;
}

// == carved_with_offsets_rounded_up
extern "C" __global__ void carved_with_offsets_rounded_up(const int* x, long long* y) {
  extern __shared__ __align__(16) unsigned char memory[];
  int t = threadIdx.x, n = blockDim.x;
  short* ranks = reinterpret_cast<short*>(memory);
  long long* sums = reinterpret_cast<long long*>(memory + (2 * n + 7) / 8 * 8);
  char* flags = reinterpret_cast<char*>(sums + n);
  ranks[t] = n - 1 - t;
  sums[t] = 1000 * x[t];
  flags[t] = x[t] % 2;
  __syncthreads();
  y[t] = sums[ranks[t]] + flags[ranks[t]];
}

// == swizzle_of_a_row_of_sixteen
extern "C" __global__ void swizzle_of_a_row_of_sixteen(const int* x, int* y) {
  __shared__ int tile[8][16];
  int c = threadIdx.x, r = threadIdx.y;
  tile[r][c ^ (2 * r + 1)] = x[r * 16 + c];
  __syncthreads();
  int i = r * 16 + c, row = i % 8, column = i / 8;
  y[i] = tile[row][column ^ (2 * row + 1)];
}

// == columns_of_a_lane_counted_up
extern "C" __global__ void columns_of_a_lane_counted_up(const float* x, float* y, int n) {
  float kept[3], sum = 0;
  int lane = threadIdx.x, count = 0;
#pragma unroll 1
  for (int c = lane; c < n; c += 32) sum += kept[count++] = x[c];
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(FULL, sum, o);
#pragma unroll 1
  for (int k = count - 1; k >= 0; --k) y[lane + 32 * k] = kept[k] - sum / n;
}

// == start_of_the_first_row_by_the_first_lane
extern "C" __global__ void start_of_the_first_row_by_the_first_lane(const int* lengths, const int* x, int* y) {
  __shared__ int starts[33];
  int lane = threadIdx.x, end = lengths[lane];
  for (int o = 1; o < 32; o *= 2) {
    int before = __shfl_up_sync(FULL, end, o);
    if (lane >= o) end += before;
  }
  starts[lane + 1] = end;
  if (lane == 0) starts[0] = 0;
  __syncwarp();
  int sum = 0;
  for (int i = starts[lane]; i < end; ++i) sum += x[i];
  y[lane] = sum;
}

// == slots_reserved_for_those_that_come
extern "C" __global__ void slots_reserved_for_those_that_come(const int* x, int* y) {
  __shared__ int list[32];
  int lane = threadIdx.x, v = x[lane];
  unsigned kept = __ballot_sync(FULL, v > 20 && v % 3);
  if (kept >> lane & 1) list[__popc(kept & ((1u << lane) - 1))] = v;
  __syncwarp();
  y[lane] = lane < __popc(kept) ? list[lane] : 0;
}

// == slots_of_the_peer_as_far_as_they_are_filled
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) slots_of_the_peer_as_far_as_they_are_filled(const int* lengths,
                                                                                          const int* x, int* y) {
  __shared__ int slots[32], filled;
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, b = blockIdx.x;
  if (t < lengths[b]) slots[t] = x[b * 32 + t];
  if (t == 0) filled = lengths[b];
  cluster.sync();
  int theirs = *cluster.map_shared_rank(&filled, b ^ 1);
  y[b * 32 + t] = t < theirs ? cluster.map_shared_rank(slots, b ^ 1)[t] : -1;
  cluster.sync();
}

// == two_steps_with_a_halo_of_two
extern "C" __global__ void two_steps_with_a_halo_of_two(const float* x, float* y) {
  __shared__ float first[36], second[34];
  int t = threadIdx.x, base = blockIdx.x * 32;
  for (int i = t; i < 36; i += 32) first[i] = x[base + i];
  __syncthreads();
  for (int i = t; i < 34; i += 32) second[i] = (first[i] + first[i + 1] + first[i + 2]) / 3;
  __syncthreads();
  y[base + t] = (second[t] + second[t + 1] + second[t + 2]) / 3;
}

// == prefix_of_forty_bins_by_one_warp
extern "C" __global__ void prefix_of_forty_bins_by_one_warp(const int* x, int* y) {
  __shared__ int bins[40], starts[40];
  int t = threadIdx.x, bin = x[t] % 40;
  for (int i = t; i < 40; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  atomicAdd(&bins[bin], 1);
  __syncthreads();
  if (t < 32)
    for (int base = 0, carry = 0; base < 40; base += 32) {
      int v = base + t < 40 ? bins[base + t] : 0, sum = v;
      for (int o = 1; o < 32; o *= 2) {
        int before = __shfl_up_sync(FULL, sum, o);
        if (t >= o) sum += before;
      }
      if (base + t < 40) starts[base + t] = carry + sum - v;
      carry += __shfl_sync(FULL, sum, 31);
    }
  __syncthreads();
  y[t] = starts[bin];
}

// == accumulators_of_every_part_begin_at_zero
extern "C" __global__ void accumulators_of_every_part_begin_at_zero(const float* x, const int* order, float* y,
                                                                   int pages) {
  float sums[4];
  int part = threadIdx.x / 8, d = threadIdx.x % 8;
#pragma unroll 1
  for (int p = part; p < pages; p += 4) {
    if (p == part)
      for (int k = 0; k < 4; ++k) sums[(order[p] + k) & 3] = 0;
    sums[order[p] & 3] += x[p * 8 + d];
  }
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 4; ++k) sum += (k + 1) * sums[k];
  y[threadIdx.x] = sum;
}

// == bitonic_barriers_by_the_distance
extern "C" __global__ void bitonic_barriers_by_the_distance(const int* x, int* y) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = x[t];
  s[t + 64] = x[t + 64];
  __syncthreads();
  for (int k = 2; k <= 128; k *= 2)
    for (int j = k / 2; j; j /= 2) {
      int i = 2 * j * (t / j) + t % j;
      int a = s[i], b = s[i + j];
      if ((a > b) == ((i & k) == 0)) {
        s[i] = b;
        s[i + j] = a;
      }
      if (max(j, j > 1 ? j / 2 : k) > 32) __syncthreads();
      else __syncwarp();
    }
  __syncthreads();
  y[t] = s[t];
  y[t + 64] = s[t + 64];
}

// == rows_then_columns_in_two_tiles
extern "C" __global__ void rows_then_columns_in_two_tiles(const int* image, int* y) {
  __shared__ int tile[8][8], wide[8][8];
  int c = threadIdx.x, r = threadIdx.y;
  int v = image[r * 8 + c];
  for (int step = 0; step < 2; ++step) {
    tile[r][c] = v;
    __syncthreads();
    wide[r][c] = max(max(tile[r][max(c - 1, 0)], tile[r][c]), tile[r][min(c + 1, 7)]);
    __syncthreads();
    v = max(max(wide[max(r - 1, 0)][c], wide[r][c]), wide[min(r + 1, 7)][c]);
  }
  y[r * 8 + c] = v;
}

// == private_bins_cleared_by_their_warp
extern "C" __global__ void private_bins_cleared_by_their_warp(const int* x, int* y) {
  __shared__ int bins[2][16];
  int t = threadIdx.x, warp = t / 32, lane = t % 32;
  if (lane < 16) bins[warp][lane] = 0;
  __syncwarp();
  atomicAdd(&bins[warp][x[t] % 16], 1);
  __syncthreads();
  if (t < 16) y[t] = bins[0][t] + bins[1][t];
}

// == search_stopped_by_a_minimum_of_the_block
extern "C" __global__ void search_stopped_by_a_minimum_of_the_block(const int* x, int* y, int key, int n) {
  __shared__ int place;
  int t = threadIdx.x;
  if (t == 0) place = n;
  __syncthreads();
  for (int base = 0; base < n; base += blockDim.x) {
    if (base + t < n && x[base + t] == key) atomicMin(&place, base + t);
    __syncthreads();
    if (place < n) break;
    __syncthreads();
  }
  y[t] = place;
}

// == flag_of_a_search_by_relaxed_loads
#include <cuda/atomic>
extern "C" __global__ void flag_of_a_search_by_relaxed_loads(const int* x, int* y, int key, int n) {
  __shared__ int place;
  cuda::atomic_ref<int, cuda::thread_scope_block> seen(place);
  int t = threadIdx.x;
  if (t == 0) seen.store(-1, cuda::memory_order_relaxed);
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) {
    if (seen.load(cuda::memory_order_relaxed) >= 0) break;
    if (x[i] == key) seen.store(i, cuda::memory_order_relaxed);
  }
  __syncthreads();
  y[t] = place;
}

// == maxima_of_the_warps_in_two_buffers
extern "C" __global__ void maxima_of_the_warps_in_two_buffers(const int* scores, int* y, int tiles) {
  __shared__ int most[2][2];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < tiles; ++k) {
    int v = scores[k * 64 + t], top = __reduce_max_sync(FULL, v);
    if (t % 32 == 0) most[k % 2][t / 32] = top;
    __syncthreads();
    sum += max(most[k % 2][0], most[k % 2][1]) - v;
  }
  y[t] = sum;
}

// == maximum_of_a_tile_between_two_barriers
extern "C" __global__ void maximum_of_a_tile_between_two_barriers(const int* scores, int* y, int tiles) {
  __shared__ int most[2], top;
  int t = threadIdx.x, sum = 0;
  if (t == 0) top = -1;
  for (int k = 0; k < tiles; ++k) {
    int v = scores[k * 64 + t], mine = __reduce_max_sync(FULL, v);
    if (t % 32 == 0) most[t / 32] = mine;
    __syncthreads();
    if (t == 0) top = max(top, max(most[0], most[1]));
    __syncthreads();
    sum += top - v;
  }
  y[t] = sum;
}

// == dropped_threads_stay_away
#include <cuda/barrier>
extern "C" __global__ void dropped_threads_stay_away(const int* x, int* y) {
  __shared__ int s[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  __syncthreads();
  s[t] = x[t];
  if (t >= 32) {
    bar.arrive_and_drop();
    return;
  }
  bar.arrive_and_wait();
  int sum = s[t] + s[63 - t];
  bar.arrive_and_wait();
  s[t] = sum;
  bar.wait(bar.arrive());
  y[t] = s[31 - t];
}

// == cluster_count_in_the_scope_of_the_device
#include <cooperative_groups.h>
#include <cuda/atomic>
extern "C" __global__ void __cluster_dims__(2) cluster_count_in_the_scope_of_the_device(const int* x, int* y) {
  __shared__ int count;
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x;
  if (t == 0) count = 0;
  cluster.sync();
  cuda::atomic_ref<int, cuda::thread_scope_device> sum(*cluster.map_shared_rank(&count, 0));
  if (x[blockIdx.x * 32 + t] > 50) sum.fetch_add(1, cuda::memory_order_relaxed);
  cluster.sync();
  if (t == 0 && blockIdx.x == 0) y[0] = count;
}

// == tile_of_eight_exchanges_within_itself
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tile_of_eight_exchanges_within_itself(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int v = x[t];
  if (tile.meta_group_rank() % 2)
    for (int k = 0; k < 2; ++k) {
      s[t] = v;
      tile.sync();
      v += s[t ^ 5];
      tile.sync();
    }
  y[t] = v;
}

// == flags_set_in_bytes_behind_a_barrier_and_read_as_words
extern "C" __global__ void flags_set_in_bytes_behind_a_barrier_and_read_as_words(const int* x, unsigned* y) {
  __shared__ alignas(4) unsigned char flags[96];
  int t = threadIdx.x;
  if (t < 24) reinterpret_cast<unsigned*>(flags)[t] = 0;
  __syncthreads();
  if (x[t] > 30) flags[t] = 1;
  __syncthreads();
  if (t < 24) y[t] = reinterpret_cast<unsigned*>(flags)[t];
}

// == threads_beyond_the_row_return_before_the_barriers
extern "C" __global__ void threads_beyond_the_row_return_before_the_barriers(const int* x, int* y, int n) {
  __shared__ int s[96];
  int t = threadIdx.x;
  if (t >= n) return;
  int v = x[t];
  for (int o = 1; o < n; o *= 2) {
    s[t] = v;
    __syncthreads();
    if (t >= o) v += s[t - o];
    __syncthreads();
  }
  y[t] = v;
}

// == barrier_expects_the_threads_that_stay
#include <cuda/barrier>
extern "C" __global__ void barrier_expects_the_threads_that_stay(const int* x, int* y, int n) {
  __shared__ int s[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, n);
  __syncthreads();
  if (t >= n) return;
  s[t] = x[t];
  bar.arrive_and_wait();
  y[t] = s[n - 1 - t];
}

// == empty_barriers_waited_for_with_the_other_parity
extern "C" __global__ void empty_barriers_waited_for_with_the_other_parity(const int* x, int* y, int tiles) {
  __shared__ int stage[2][32];
  __shared__ unsigned long long full[2], empty[2];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x < 2) {
    MBAR_INIT(&full[threadIdx.x], 32);
    MBAR_INIT(&empty[threadIdx.x], 32);
  }
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < tiles; ++k) {
    int s = k % 2, parity = k / 2 % 2;
    if (warp == 0) {
      MBAR_WAIT(&empty[s], parity ^ 1);
      stage[s][lane] = x[k * 32 + lane];
      MBAR_ARRIVE(&full[s]);
    } else {
      MBAR_WAIT(&full[s], parity);
      sum += (k + 1) * stage[s][31 - lane];
      MBAR_ARRIVE(&empty[s]);
    }
  }
  if (warp == 1) y[lane] = sum;
}

// == ping_pong_with_a_first_arrival
extern "C" __global__ void ping_pong_with_a_first_arrival(const int* x, int* y, int turns) {
  __shared__ int shared;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) shared = 0;
  __syncthreads();
  if (warp == 1) BAR_ARRIVE(1, 64);
  for (int k = 0; k < turns; ++k) {
    BAR_SYNC(1 + warp, 64);
    if (lane == 0) shared = 3 * shared + x[2 * k + warp];
    if (k < turns - 1 || warp == 0) BAR_ARRIVE(2 - warp, 64);
  }
  __syncthreads();
  if (threadIdx.x == 0) y[0] = shared;
}

// == steps_of_a_quarter_until_exactly_one
extern "C" __global__ void steps_of_a_quarter_until_exactly_one(const float* x, float* y) {
  float sum = 0;
#pragma unroll 1
  for (float at = 0; at != 1.0f; at += 0.25f) sum += at * x[threadIdx.x];
  y[threadIdx.x] = sum;
}

// == permits_of_a_block_given_back_by_all
#include <cuda/semaphore>
using Permits = cuda::counting_semaphore<cuda::thread_scope_block, 64>;
extern "C" __global__ void permits_of_a_block_given_back_by_all(const int* x, int* y) {
  __shared__ alignas(Permits) unsigned char storage[sizeof(Permits)];
  Permits& permits = *reinterpret_cast<Permits*>(storage);
  int t = threadIdx.x;
  if (t == 0) new (&permits) Permits(40);
  __syncthreads();
  permits.acquire();
  y[t] = 2 * x[t];
  permits.release();
}

// == status_and_sum_in_one_word
#include <cuda/atomic>
extern "C" __global__ void status_and_sum_in_one_word(const int* x, unsigned long long* status, int* y) {
  int b = blockIdx.x, lane = threadIdx.x, sum = __reduce_add_sync(FULL, x[b * 32 + lane]), before = 0;
  using Word = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;
  if (lane == 0)
    Word(status[b]).store((b ? 1ull : 2ull) << 32 | static_cast<unsigned>(sum), cuda::memory_order_relaxed);
  for (int look = b - 1; look >= 0;) {
    unsigned long long word = 2ull << 32;
    if (look >= lane)
      do word = Word(status[look - lane]).load(cuda::memory_order_relaxed);
      while (word >> 32 == 0);
    unsigned whole = __ballot_sync(FULL, word >> 32 == 2);
    int last = whole ? __ffs(whole) - 1 : 31;
    before += __reduce_add_sync(FULL, lane <= last ? static_cast<int>(word) : 0);
    if (whole) break;
    look -= 32;
  }
  if (lane == 0) {
    if (b) Word(status[b]).store(2ull << 32 | static_cast<unsigned>(before + sum), cuda::memory_order_relaxed);
    y[b] = before;
  }
}

// == ticket_of_its_own_tile
extern "C" __global__ void ticket_of_its_own_tile(const int* x, int* parts, int* tickets, int* y) {
  __shared__ bool last;
  int tile = blockIdx.y, split = blockIdx.x, t = threadIdx.x;
  parts[(tile * 2 + split) * 32 + t] = 3 * x[(tile * 2 + split) * 32 + t];
  __threadfence();
  __syncthreads();
  if (t == 0) {
    last = atomicAdd(&tickets[tile], 1) == 1;
    if (last) atomicExch(&tickets[tile], 0);
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  y[tile * 32 + t] = parts[tile * 64 + t] + parts[tile * 64 + 63 - t];
}

// == fence_behind_the_partial
extern "C" __global__ void fence_behind_the_partial(const int* x, int* parts, unsigned* ticket, int* y) {
  int b = blockIdx.x, sum = __reduce_add_sync(FULL, x[b * 32 + threadIdx.x]);
  if (threadIdx.x != 0) return;
  parts[b] = sum;
  __threadfence();
  if (atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1) {
    __threadfence();
    int all = 0;
    for (int k = 0; k < gridDim.x; ++k) all += parts[k];
    y[0] = all;
  }
}

// == slot_that_is_full_when_it_is_not_zero
extern "C" __global__ void slot_that_is_full_when_it_is_not_zero(const int* x, int* slots, int* tail, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    int place = atomicAdd(tail, 1);
    atomicExch(&slots[place], 2 * x[t] + 1);
    return;
  }
  int v;
  while ((v = atomicExch(&slots[31 - t], 0)) == 0) {}
  int sum = __reduce_add_sync(FULL, v);
  if (t == 0) y[0] = sum;
}

// == lock_freed_after_the_store
extern "C" __global__ void lock_freed_after_the_store(const int* x, int* lock, int* sum) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) __nanosleep(20);
  __threadfence();
  *sum = *sum + x[blockIdx.x];
  __threadfence();
  atomicExch(lock, 0);
}

// == grid_barrier_of_relaxed_counts_between_fences
#include <cuda/atomic>
extern "C" __global__ void grid_barrier_of_relaxed_counts_between_fences(const int* x, int* middle, int* count,
                                                                        int* y) {
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, n = gridDim.x * blockDim.x;
  middle[i] = x[i] * x[i];
  __syncthreads();
  if (t == 0) {
    cuda::atomic_ref<int, cuda::thread_scope_device> came(*count);
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    came.fetch_add(1, cuda::memory_order_relaxed);
    while (came.load(cuda::memory_order_relaxed) < gridDim.x) {}
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
  }
  __syncthreads();
  y[i] = middle[n - 1 - i];
}

// == key_head_rotated_by_the_first_of_its_group
extern "C" __global__ void key_head_rotated_by_the_first_of_its_group(float* q, float* k, int group) {
  int head = blockIdx.x, d = threadIdx.x;
  float c = cosf(0.1f * d), s = sinf(0.1f * d);
  float *a = q + head * 16, *b = k + head / group * 16;
  float a0 = a[d], a1 = a[d + 8];
  a[d] = a0 * c - a1 * s;
  a[d + 8] = a0 * s + a1 * c;
  if (head % group) return;
  float b0 = b[d], b1 = b[d + 8];
  b[d] = b0 * c - b1 * s;
  b[d + 8] = b0 * s + b1 * c;
}

// == newest_key_kept_in_registers
extern "C" __global__ void newest_key_kept_in_registers(const float* q, const float* newest, float* cache, float* y,
                                                        int length, int group) {
  int head = blockIdx.x, lane = threadIdx.x, kv = head / group;
  float* keys = cache + kv * 8 * 32;
  float k = newest[kv * 32 + lane], mine = q[head * 32 + lane];
  if (head % group == 0) keys[length * 32 + lane] = k;
  for (int t = 0; t <= length; ++t) {
    float dot = mine * (t < length ? keys[t * 32 + lane] : k);
    for (int o = 16; o; o /= 2) dot += __shfl_xor_sync(FULL, dot, o);
    if (lane == 0) y[head * 8 + t] = dot;
  }
}

// == expert_outputs_added_by_atomics
extern "C" __global__ void expert_outputs_added_by_atomics(const int* tokens, const float* weights,
                                                           const float* outputs, float* y) {
  int pair = blockIdx.x, d = threadIdx.x;
  atomicAdd(&y[tokens[pair] * 16 + d], weights[pair] * outputs[pair * 16 + d]);
}

// == scale_read_behind_a_grid_barrier
#include <cooperative_groups.h>
extern "C" __global__ void scale_read_behind_a_grid_barrier(const float* x, int* largest, signed char* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  int top = __reduce_max_sync(FULL, __float_as_int(fabsf(v)));
  if (threadIdx.x % 32 == 0) atomicMax(largest, top);
  cooperative_groups::this_grid().sync();
  y[i] = rintf(v / __int_as_float(*largest) * 127);
}

// == offsets_made_by_the_last_block_that_counted
extern "C" __global__ void offsets_made_by_the_last_block_that_counted(const int* choices, int* loads, int* offsets,
                                                                      unsigned* ticket, int experts) {
  __shared__ unsigned came;
  int t = threadIdx.x;
  atomicAdd(&loads[choices[blockIdx.x * blockDim.x + t] % experts], 1);
  __threadfence();
  __syncthreads();
  if (t == 0) came = atomicAdd(ticket, 1);
  __syncthreads();
  if (came == gridDim.x - 1 && t < experts) {
    __threadfence();
    int sum = 0;
    for (int e = 0; e < t; ++e) sum += loads[e];
    offsets[t] = sum;
  }
}

// == generator_of_a_pair_written_by_one
extern "C" __global__ void generator_of_a_pair_written_by_one(unsigned* states, int* inside, int turns) {
  int t = threadIdx.x, count = 0;
  unsigned state = states[t / 2] + t % 2;
  __syncwarp();
  for (int k = 0; k < turns; ++k) {
    state = state * 1664525u + 1013904223u;
    count += (state >> 16) % 100 < 50;
  }
  if (t % 2) states[t / 2] = state;
  inside[t] = count;
}

// == helper_and_owner_both_add
extern "C" __global__ void helper_and_owner_both_add(const float* a, float* c, int steps) {
  int t = threadIdx.x, share = steps / gridDim.x, begin = blockIdx.x * share;
  float sum = 0;
  for (int k = begin; k < begin + share; ++k) sum += a[k * 32 + t];
  atomicAdd(&c[t], sum);
}

// == occurrences_counted_in_a_claimed_slot
extern "C" __global__ void occurrences_counted_in_a_claimed_slot(const int* words, int* keys, int* counts, int* y) {
  int word = words[blockIdx.x * blockDim.x + threadIdx.x] + 1, slot = word * 7 % 64;
  while (true) {
    int known = atomicCAS(&keys[slot], 0, word);
    if (known == 0 || known == word) break;
    slot = (slot + 1) % 64;
  }
  atomicAdd(&counts[slot], 1);
  atomicAdd(&y[word - 1], 1);
}

// == parent_kept_by_the_first_that_finds_it
extern "C" __global__ void parent_kept_by_the_first_that_finds_it(const int* from, const int* to, int* parent,
                                                                 int* next, int* size) {
  int edge = blockIdx.x * blockDim.x + threadIdx.x, u = from[edge], v = to[edge];
  if (atomicCAS(&parent[v], -1, u) == -1) next[atomicAdd(size, 1)] = v;
}

// == failure_table_behind_a_barrier
extern "C" __global__ void failure_table_behind_a_barrier(const char* pattern, int* table, int* y, int m) {
  int t = threadIdx.x;
  if (t == 0) {
    int k = 0;
    table[0] = 0;
    for (int i = 1; i < m; ++i) {
      while (k > 0 && pattern[i] != pattern[k]) k = table[k - 1];
      if (pattern[i] == pattern[k]) ++k;
      table[i] = k;
    }
  }
  __syncthreads();
  y[t] = table[t % m];
}

// == stride_of_all_threads_of_a_grid_of_two_dimensions
extern "C" __global__ void stride_of_all_threads_of_a_grid_of_two_dimensions(const float* x, float* y, int n) {
  int block = blockIdx.y * gridDim.x + blockIdx.x, blocks = gridDim.x * gridDim.y;
  for (int i = block * blockDim.x + threadIdx.x; i < n; i += blocks * blockDim.x) y[i] += 2 * x[i];
}

// == bulk_sum_read_when_it_is_complete
#define BULK_ADD(to, from, bytes) \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" \
               ::"l"(to), "r"(SMEM(from)), "r"(bytes) : "memory")
extern "C" __global__ void bulk_sum_read_when_it_is_complete(const float* x, float* sum, float* y) {
  alignas(128) __shared__ float tile[64];
  int t = threadIdx.x;
  tile[t] = x[t];
  PROXY_FENCE;
  __syncthreads();
  if (t == 0) {
    BULK_ADD(sum, tile, 256);
    BULK_COMMIT;
    BULK_WAIT_READ;
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
  __syncthreads();
  y[t] = sum[63 - t];
}

// == last_of_the_active_by_its_bit
extern "C" __global__ void last_of_the_active_by_its_bit(const int* x, int* y) {
  int lane = threadIdx.x, v = x[lane];
  y[lane] = 0;
  if (v % 3 != 1) {
    unsigned active = __activemask();
    y[lane] = __shfl_sync(active, v, 31 - __clz(active)) == v;
  }
  y[lane] += 2 * __popc(__ballot_sync(FULL, v > 9));
}

// == rows_reduced_within_a_width_of_eight
extern "C" __global__ void rows_reduced_within_a_width_of_eight(const int* x, int* y) {
  int lane = threadIdx.x, row = lane / 8, v = x[lane];
  if (row % 2 == 0) {
    for (int o = 4; o; o /= 2) v += __shfl_down_sync(0xffu << 8 * row, v, o, 8);
    if (lane % 8 == 0) y[row] = v;
  } else if (lane % 8 == 0) {
    y[row] = -v;
  }
}

// == block_vote_as_often_as_the_longest_row
extern "C" __global__ void block_vote_as_often_as_the_longest_row(const int* lengths, const int* x, int* y) {
  int row = threadIdx.x, sum = 0;
  for (int k = 0; __syncthreads_or(k < lengths[row]); ++k)
    if (k < lengths[row]) sum += x[row * 4 + k];
  y[row] = sum;
}

// == ring_of_four_copies_with_one_barrier
#define COPY_WORD(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(SMEM(to)), "l"(from) : "memory")
extern "C" __global__ void ring_of_four_copies_with_one_barrier(const float* x, float* y, int tiles) {
  __shared__ float ring[4][64];
  int t = threadIdx.x;
  for (int k = 0; k < 3; ++k) {
    if (k < tiles) COPY_WORD(&ring[k][t], x + k * 64 + t);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    __syncthreads();
    if (k + 3 < tiles) COPY_WORD(&ring[(k + 3) % 4][t], x + (k + 3) * 64 + t);
    asm volatile("cp.async.commit_group;" ::: "memory");
    sum += (k + 1) * ring[k % 4][63 - t];
  }
  y[t] = sum;
}

// == radix_select_in_four_passes
extern "C" __global__ void radix_select_in_four_passes(const unsigned* x, unsigned* y, int n, int k) {
  __shared__ int bins[16];
  __shared__ unsigned prefix;
  __shared__ int rest;
  int t = threadIdx.x;
  if (t == 0) prefix = 0, rest = k;
  for (int shift = 12; shift >= 0; shift -= 4) {
    if (t < 16) bins[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x)
      if (x[i] >> (shift + 4) == prefix) atomicAdd(&bins[x[i] >> shift & 15], 1);
    __syncthreads();
    if (t < 32) {
      int count = t < 16 ? bins[15 - t] : 0, sum = count;
      for (int o = 1; o < 16; o *= 2) {
        int before = __shfl_up_sync(FULL, sum, o);
        if (t >= o) sum += before;
      }
      int above = sum - count, wanted = rest;
      unsigned high = prefix;
      __syncwarp();
      if (t < 16 && above < wanted && sum >= wanted) {
        prefix = high << 4 | (15 - t);
        rest = wanted - above;
      }
    }
    __syncthreads();
  }
  if (t == 0) y[0] = prefix;
}

// == bits_packed_by_ballots_of_two_blocks
extern "C" __global__ void bits_packed_by_ballots_of_two_blocks(const int* x, unsigned* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned bits = __ballot_sync(FULL, x[i] > 30) & 0xffffu << 16 * (threadIdx.x / 32);
  if (threadIdx.x % 32 == 0) atomicOr(&y[blockIdx.x], bits);
}

// == online_softmax_over_pages_by_two_warps
extern "C" __global__ void online_softmax_over_pages_by_two_warps(const float* scores, const int* pages, float* y,
                                                                  int count) {
  __shared__ float tops[2], sums[2];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float top = __int_as_float(0xff800000), sum = 0;
  for (int p = warp; p < count; p += 2) {
    float s = scores[pages[p] * 32 + lane], most = s;
    for (int o = 16; o; o /= 2) most = fmaxf(most, __shfl_xor_sync(FULL, most, o));
    float next = fmaxf(top, most), part = expf(s - next);
    for (int o = 16; o; o /= 2) part += __shfl_xor_sync(FULL, part, o);
    sum = sum * expf(top - next) + part;
    top = next;
  }
  if (lane == 0) tops[warp] = top, sums[warp] = sum;
  __syncthreads();
  float most = fmaxf(tops[0], tops[1]);
  if (threadIdx.x == 0) y[0] = most + logf(sums[0] * expf(tops[0] - most) + sums[1] * expf(tops[1] - most));
}

// == frontier_appended_by_the_leader_of_a_warp
extern "C" __global__ void frontier_appended_by_the_leader_of_a_warp(const int* candidates, int* seen, int* next,
                                                                    int* size) {
  int v = candidates[blockIdx.x * blockDim.x + threadIdx.x], lane = threadIdx.x % 32;
  bool first = (atomicOr(&seen[v / 32], 1 << v % 32) >> v % 32 & 1) == 0;
  unsigned mine = __ballot_sync(FULL, first);
  int base = 0;
  if (lane == 0 && mine) base = atomicAdd(size, __popc(mine));
  base = __shfl_sync(FULL, base, 0);
  if (first) next[base + __popc(mine & ((1u << lane) - 1))] = v;
}

// == stage_of_one_union_between_barriers
extern "C" __global__ void stage_of_one_union_between_barriers(const float* x, const int* places, float* y) {
  __shared__ union {
    float values[64];
    int order[64];
  } stage;
  int t = threadIdx.x;
  for (int k = 0; k < 2; ++k) {
    stage.order[places[t]] = t;
    __syncthreads();
    int from = stage.order[t];
    __syncthreads();
    stage.values[t] = x[k * 64 + t];
    __syncthreads();
    y[k * 64 + t] = stage.values[from];
    __syncthreads();
  }
}

// == first_element_read_by_all_and_written_by_its_owner
extern "C" __global__ void first_element_read_by_all_and_written_by_its_owner(int* x, int* y) {
  __shared__ int first;
  int t = threadIdx.x;
  if (t == 0) first = x[0];
  __syncthreads();
  int v = x[t] - first;
  x[t] = v;
  y[t] = v + first;
}

// == release_by_a_reduction_and_acquire_by_a_load
extern "C" __global__ void release_by_a_reduction_and_acquire_by_a_load(const int* x, int* data, int* count, int* y) {
  int t = threadIdx.x, b = blockIdx.x;
  if (b < 2) {
    data[b * 32 + t] = 5 * x[b * 32 + t];
    __syncthreads();
    if (t == 0) asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(count) : "memory");
    return;
  }
  int came;
  do asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(came) : "l"(count) : "memory");
  while (came < 2);
  y[t] = data[31 - t] + data[63 - t];
}

// == conv_row_with_both_edges_tested
extern "C" __global__ void conv_row_with_both_edges_tested(const float* x, const float* taps, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (n + 1) / 2) return;
  float sum = 0;
  for (int k = 0; k < 3; ++k) {
    unsigned from = 2 * i + k - 1;
    if (from < n) sum += taps[k] * x[from];
  }
  y[i] = sum;
}

// == producer_waits_for_what_was_emptied
extern "C" __global__ void producer_waits_for_what_was_emptied(const float* x, float* y, int tiles) {
  __shared__ alignas(128) float stage[2][32];
  __shared__ unsigned long long full[2], empty[2];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x < 2) {
    MBAR_INIT(&full[threadIdx.x], 1);
    MBAR_INIT(&empty[threadIdx.x], 1);
  }
  __syncthreads();
  float sum = 0;
  if (warp == 1) {
    for (int k = 0; k < tiles && lane == 0; ++k) {
      int s = k % 2;
      if (k >= 2) MBAR_WAIT(&empty[s], (k / 2 - 1) % 2);
      MBAR_EXPECT(&full[s], 128);
      BULK_LOAD(stage[s], x + k * 32, 128, &full[s]);
    }
  } else {
    for (int k = 0; k < tiles; ++k) {
      MBAR_WAIT(&full[k % 2], k / 2 % 2);
      sum += (k + 1) * stage[k % 2][31 - lane];
      __syncwarp();
      if (lane == 0) MBAR_ARRIVE(&empty[k % 2]);
    }
    y[lane] = sum;
  }
}

// == result_put_where_the_last_copy_has_come
#define COPY_WORD(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(SMEM(to)), "l"(from) : "memory")
extern "C" __global__ void result_put_where_the_last_copy_has_come(const float* x, float* y, int tiles) {
  __shared__ float stage[2][64];
  int t = threadIdx.x;
  float sum = 0;
  COPY_WORD(&stage[0][t], x + t);
  asm volatile("cp.async.commit_group;" ::: "memory");
  for (int k = 0; k < tiles; ++k) {
    int next = min(k + 1, tiles - 1);
    COPY_WORD(&stage[(k + 1) % 2][t], x + next * 64 + t);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    sum += stage[k % 2][63 - t];
    __syncthreads();
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  float* result = stage[tiles % 2];
  result[63 - t] = sum;
  __syncthreads();
  y[t] = 2 * result[t];
}

// == leaders_of_a_label_add_by_atomics
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void leaders_of_a_label_add_by_atomics(const int* labels, const int* x, int* y) {
  __shared__ int sums[4];
  int t = threadIdx.x, label = labels[t] % 4;
  if (t < 4) sums[t] = 0;
  __syncthreads();
  auto group = cg::labeled_partition(cg::tiled_partition<32>(cg::this_thread_block()), label);
  int sum = cg::reduce(group, x[t], cg::plus<int>());
  if (group.thread_rank() == 0) atomicAdd(&sums[label], sum);
  __syncthreads();
  if (t < 4) y[t] = sums[t];
}

// == window_tested_with_a_sum
extern "C" __global__ void window_tested_with_a_sum(const int* starts, const float* tokens, float* y,
                                                    unsigned window) {
  unsigned begin = starts[threadIdx.x], length = starts[threadIdx.x + 1] - begin;
  float most = 0;
  for (unsigned i = 0; i + window <= length; i += window)
    for (unsigned k = 0; k < window; ++k) most = fmaxf(most, tokens[begin + i + k]);
  y[threadIdx.x] = most;
}

// == arrival_by_all_lanes_behind_a_branch
extern "C" __global__ void arrival_by_all_lanes_behind_a_branch(const int* x, int* y) {
  __shared__ int s[32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0) {
    if (lane % 2) s[lane] = x[lane];
    else s[lane] = -x[lane];
    __syncwarp();
    BAR_ARRIVE(1, 64);
    y[32 + lane] = x[32 + lane];
  } else {
    BAR_SYNC(1, 64);
    y[lane] = s[31 - lane];
  }
}

// == group_of_a_key_among_those_that_stay
extern "C" __global__ void group_of_a_key_among_those_that_stay(const int* keys, const int* x, int* y) {
  int lane = threadIdx.x, v = x[lane];
  unsigned stay = __ballot_sync(FULL, v > 30);
  y[lane] = -1;
  if (v > 30) {
    unsigned group = __match_any_sync(stay, keys[lane] % 3);
    y[lane] = __reduce_add_sync(group, v);
  }
}

// == last_stage_expects_what_comes
extern "C" __global__ void last_stage_expects_what_comes(const float* x, float* y, int n) {
  __shared__ alignas(128) float stage[2][32];
  __shared__ unsigned long long full[2];
  int lane = threadIdx.x, tiles = (n + 31) / 32;
  if (lane < 2) MBAR_INIT(&full[lane], 1);
  __syncwarp();
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    int s = k % 2, rest = min(32, n - k * 32);
    if (lane == 0) {
      MBAR_EXPECT(&full[s], rest * 4);
      BULK_LOAD(stage[s], x + k * 32, rest * 4, &full[s]);
    }
    __syncwarp();
    MBAR_WAIT(&full[s], k / 2 % 2);
    if (lane < rest) sum += stage[s][lane];
    __syncwarp();
  }
  y[lane] = sum;
}

// == parity_from_the_turn_of_the_block
extern "C" __global__ void parity_from_the_turn_of_the_block(const float* x, float* y, int tiles) {
  __shared__ alignas(128) float stage[2][32];
  __shared__ unsigned long long full[2];
  int t = threadIdx.x;
  if (t < 2) MBAR_INIT(&full[t], 1);
  __syncthreads();
  for (int tile = blockIdx.x, turn = 0; tile < tiles; tile += gridDim.x, ++turn) {
    int s = turn % 2;
    if (t == 0) {
      MBAR_EXPECT(&full[s], 128);
      BULK_LOAD(stage[s], x + tile * 32, 128, &full[s]);
    }
    MBAR_WAIT(&full[s], turn / 2 % 2);
    y[tile * 32 + t] = stage[s][31 - t];
    __syncthreads();
  }
}

// == flag_that_counts_the_rounds
extern "C" __global__ void flag_that_counts_the_rounds(const int* x, int* parts, int* flag, int* y) {
  int t = threadIdx.x;
  for (int round = 0; round < 2; ++round) {
    int v = 3 * x[(round * 2 + blockIdx.x) * 32 + t];
    if (blockIdx.x == 1) {
      parts[round * 32 + t] = v;
      __syncthreads();
      if (t == 0) {
        __threadfence();
        atomicExch(flag, round + 1);
      }
    } else {
      if (t == 0) {
        while (atomicAdd(flag, 0) <= round) {}
        __threadfence();
      }
      __syncthreads();
      y[round * 32 + t] = v + parts[round * 32 + 31 - t];
    }
  }
}

// == first_lane_waits_and_then_its_warp_meets
extern "C" __global__ void first_lane_waits_and_then_its_warp_meets(const int* x, int* data, int* flag, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 1) {
    data[t] = 3 * x[t];
    __syncwarp();
    if (t == 0) {
      __threadfence();
      atomicExch(flag, 1);
    }
    return;
  }
  if (t == 0) {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
  }
  __syncwarp();
  y[t] = data[31 - t];
}

// == matrices_of_a_tile_filled_up_with_zeros
extern "C" __global__ void matrices_of_a_tile_filled_up_with_zeros(const unsigned* x, unsigned* y, int rows) {
  __shared__ alignas(16) unsigned tile[16][4];
  int lane = threadIdx.x;
  for (int i = lane; i < 64; i += 32) tile[i / 4][i % 4] = i / 4 < rows ? x[i] : 0;
  __syncwarp();
  unsigned r[2], at = SMEM(&tile[lane % 16][0]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1]) : "r"(at) : "memory");
  y[lane] = r[0] + r[1];
}

// == queue_of_the_block_reset_between_barriers
extern "C" __global__ void queue_of_the_block_reset_between_barriers(const int* x, int* y, int rows) {
  __shared__ int next;
  int lane = threadIdx.x % 32;
  for (int phase = 0; phase < 2; ++phase) {
    __syncthreads();
    if (threadIdx.x == 0) next = 0;
    __syncthreads();
    for (;;) {
      int row = lane == 0 ? atomicAdd(&next, 1) : 0;
      row = __shfl_sync(FULL, row, 0);
      if (row >= rows) break;
      atomicAdd(&y[row], x[row * 32 + lane] + phase);
    }
  }
}

// == bits_of_this_level_tested_while_the_next_are_set
extern "C" __global__ void bits_of_this_level_tested_while_the_next_are_set(const int* from, const int* to,
                                                                           unsigned* level, unsigned* next) {
  int edge = blockIdx.x * blockDim.x + threadIdx.x, u = from[edge], v = to[edge];
  if (level[u / 32] >> u % 32 & ~(level[v / 32] >> v % 32) & 1) atomicOr(&next[v / 32], 1u << v % 32);
}

// == weights_changed_under_two_plain_names
extern "C" __global__ void weights_changed_under_two_plain_names(const float* weights, const float* steps,
                                                                 float* changed, float* y) {
  int t = threadIdx.x;
  changed[t] = weights[t] - 0.1f * steps[t];
  __syncthreads();
  y[t] = weights[63 - t] + weights[t ^ 1];
}

// == heads_read_between_two_warp_barriers
extern "C" __global__ void heads_read_between_two_warp_barriers(const int* lists, int* y, int n) {
  __shared__ int heads[4];
  int lane = threadIdx.x;
  if (lane < 4) heads[lane] = 0;
  __syncwarp();
  for (int k = 0; k < n; ++k) {
    int list = lane % 4, v = lists[list * 8 + heads[list]];
    int least = __reduce_min_sync(FULL, v * 4 + list);
    __syncwarp();
    if (lane == 0) {
      y[k] = least / 4;
      heads[least % 4] += 1;
    }
    __syncwarp();
  }
}

// == matrix_stored_and_read_behind_a_warp_barrier
extern "C" __global__ void matrix_stored_and_read_behind_a_warp_barrier(const unsigned* x, unsigned* y) {
  __shared__ alignas(16) unsigned tile[8][4];
  int lane = threadIdx.x;
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};"
               ::"r"(SMEM(&tile[lane % 8][0])), "r"(x[lane]) : "memory");
  __syncwarp();
  y[lane] = tile[lane % 8][lane / 8];
}

// == total_of_a_column_behind_a_barrier
extern "C" __global__ void total_of_a_column_behind_a_barrier(const int* x, int* y) {
  __shared__ int totals[16];
  int c = threadIdx.x, r = threadIdx.y;
  if (r == 7) totals[c] = 0;
  __syncthreads();
  atomicAdd(&totals[c], x[r * 16 + c]);
  __syncthreads();
  if (r == 3) y[c] = totals[c];
}
