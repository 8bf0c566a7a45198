// Kernels with a fault: pages and batches, work lists, carved memory, tiles of several steps, tickets and fix-ups.
// "// BUG" ends each line to blame.
#include "asm.cuh"

// == entry_of_the_page_after_the_last
extern "C" __global__ void entry_of_the_page_after_the_last(const int* lengths, const int* pages, const float* cache,
                                                            float* y) {
  int sequence = blockIdx.x, d = threadIdx.x, length = lengths[sequence];
  float sum = 0;
  for (int p = 0; p < length / 4 + 1; ++p) {
    int page = pages[sequence * 4 + p];  // BUG
    for (int k = 0; k < 4; ++k) sum += p * 4 + k < length ? cache[(page * 4 + k) * 8 + d] : 0.01f * page;
  }
  y[sequence * 8 + d] = sum;
}

// == nearest_pixel_rounded_up
extern "C" __global__ void nearest_pixel_rounded_up(const float* row, float* y, int from, int to) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= to) return;
  int nearest = roundf((i + 0.5f) * from / to);
  y[i] = row[nearest];  // BUG
}

// == ties_beyond_the_k_largest
extern "C" __global__ void ties_beyond_the_k_largest(const int* x, int* count, int* largest, int threshold, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    if (x[i] >= threshold) largest[atomicAdd(count, 1)] = x[i];  // BUG
}

// == padding_columns_of_an_ell_row
extern "C" __global__ void padding_columns_of_an_ell_row(const int* columns, const float* values, const float* x,
                                                         float* y, int rows, int width) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = 0; k < width; ++k) sum += values[k * rows + row] * x[columns[k * rows + row]];  // BUG
  y[row] = sum;
}

// == rows_to_the_longest_of_the_batch
extern "C" __global__ void rows_to_the_longest_of_the_batch(const int* starts, const float* tokens, float* y,
                                                            int longest) {
  int begin = starts[blockIdx.x], d = threadIdx.x;
  float most = -1e30f;
  for (int t = 0; t < longest; ++t) most = fmaxf(most, tokens[(begin + t) * 4 + d]);  // BUG
  y[blockIdx.x * 4 + d] = most;
}

// == sample_above_the_last_sum
extern "C" __global__ void sample_above_the_last_sum(const float* shares, const float* draws, const int* words, int* y,
                                                     int n) {
  int s = threadIdx.x, token = n;
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    sum += shares[k];
    if (sum >= draws[s]) {
      token = k;
      break;
    }
  }
  y[s] = words[token];  // BUG
}

// == tile_after_the_last_of_the_queue
extern "C" __global__ void tile_after_the_last_of_the_queue(const float* x, float* y, int* next, int tiles) {
  __shared__ int tile;
  int t = threadIdx.x;
  while (true) {
    if (t == 0) tile = atomicAdd(next, 1);
    __syncthreads();
    int mine = tile;
    if (mine > tiles) break;
    float v = x[mine * 32 + t];  // BUG
    y[mine * 32 + t] = 2 * v;
    __syncthreads();
  }
}

// == pattern_compared_at_the_last_letters
extern "C" __global__ void pattern_compared_at_the_last_letters(const char* text, const char* pattern, int* hits, int n,
                                                                int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int k = 0;
  while (k < m && text[i + k] == pattern[k]) ++k;  // BUG
  hits[i] = k == m;
}

// == window_of_stride_two_at_the_right_edge
extern "C" __global__ void window_of_stride_two_at_the_right_edge(const float* x, const float* taps, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (n + 1) / 2) return;
  float sum = 0;
  for (int k = 0; k < 3; ++k) {
    int from = 2 * i + k - 1;
    if (from >= 0) sum += taps[k] * x[from];  // BUG
  }
  y[i] = sum;
}

// == last_page_copied_whole
extern "C" __global__ void last_page_copied_whole(const float* cache, float* y, int n) {
  __shared__ alignas(128) float page[64];
  __shared__ unsigned long long full;
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (t == 0) {
    MBAR_INIT(&full, 1);
    MBAR_EXPECT(&full, 256);
    BULK_LOAD(page, cache + blockIdx.x * 64, 256, &full);  // BUG
  }
  __syncthreads();
  MBAR_WAIT(&full, 0);
  if (i < n) y[i] = 0.5f * page[t];
}

// == iterations_of_the_last_worker
extern "C" __global__ void iterations_of_the_last_worker(const float* a, float* sums, int tiles, int depth) {
  int all = tiles * depth, each = (all + gridDim.x - 1) / gridDim.x, begin = blockIdx.x * each, t = threadIdx.x;
  float sum = 0;
  for (int step = begin; step < begin + each; ++step) {
    sum += a[step * 32 + t];  // BUG
    if (step % depth == depth - 1 || step == begin + each - 1) {
      atomicAdd(&sums[min(step / depth, tiles - 1) * 32 + t], sum);
      sum = 0;
    }
  }
}

// == grid_for_blocks_of_half_the_size
extern "C" __global__ void grid_for_blocks_of_half_the_size(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] * x[i];  // BUG
}

// == router_counts_a_shared_expert
extern "C" __global__ void router_counts_a_shared_expert(const int* choices, int* loads, int tokens, int experts) {
  int token = threadIdx.x;
  if (token >= tokens) return;
  atomicAdd(&loads[choices[token]], 1);
  atomicAdd(&loads[experts], 1);  // BUG
}

// == matrix_rows_of_twenty_halves
extern "C" __global__ void matrix_rows_of_twenty_halves(const unsigned short* x, unsigned* y) {
  __shared__ alignas(16) unsigned short tile[8][20];
  int lane = threadIdx.x;
  for (int i = lane; i < 160; i += 32) tile[i / 20][i % 20] = x[i];
  __syncwarp();
  unsigned r, at = SMEM(&tile[lane % 8][0]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(at) : "memory");  // BUG
  y[lane] = r;
}

// == head_of_twelve_halves_in_vectors
extern "C" __global__ void head_of_twelve_halves_in_vectors(const unsigned short* queries, unsigned* y) {
  int head = threadIdx.x;
  uint4 first = *reinterpret_cast<const uint4*>(queries + head * 12);  // BUG
  y[head] = first.x ^ first.y ^ first.z ^ first.w;
}

// == bytes_of_two_arrays_for_three
extern "C" __global__ void bytes_of_two_arrays_for_three(const int* x, int* y) {
  extern __shared__ int memory[];
  int t = threadIdx.x, n = blockDim.x;
  short* ranks = reinterpret_cast<short*>(memory + n);
  int* order = reinterpret_cast<int*>(ranks + n);
  memory[t] = x[t];
  __syncthreads();
  int rank = 0;
  for (int k = 0; k < n; ++k) rank += memory[k] < memory[t] || (memory[k] == memory[t] && k < t);
  ranks[t] = rank;
  order[rank] = t;  // BUG
  __syncthreads();
  y[t] = order[t] + 100 * ranks[t];
}

// == dilated_taps_with_the_halo_of_the_radius
extern "C" __global__ void dilated_taps_with_the_halo_of_the_radius(const float* x, float* y, int dilation) {
  __shared__ float tile[32 + 2 * 2];
  int t = threadIdx.x;
  for (int i = t; i < 36; i += 32) tile[i] = x[blockIdx.x * 32 + i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 5; ++k) sum += tile[t + k * dilation];  // BUG
  y[blockIdx.x * 32 + t] = sum;
}

// == swizzle_of_a_row_of_twelve
extern "C" __global__ void swizzle_of_a_row_of_twelve(const int* x, int* y) {
  __shared__ int row[12];
  int c = threadIdx.x, r = blockIdx.x;
  row[c ^ (r & 7)] = x[r * 12 + c];  // BUG
  __syncthreads();
  y[r * 12 + c] = row[(11 - c) ^ (r & 7)];
}

// == columns_of_a_lane_counted_down
extern "C" __global__ void columns_of_a_lane_counted_down(const float* x, float* y, int n) {
  float kept[72 / 32], sum = 0;
  int lane = threadIdx.x, count = 0;
#pragma unroll 1
  for (int c = lane; c < n; c += 32) {
    kept[count] = x[c];  // BUG
    sum += kept[count++];
  }
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(FULL, sum, o);
#pragma unroll 1
  for (int k = count - 1; k >= 0; --k) y[lane + 32 * k] = kept[k] - sum / n;
}

// == start_of_the_first_row_left_out
extern "C" __global__ void start_of_the_first_row_left_out(const int* lengths, const int* x, int* y) {
  __shared__ int starts[33];
  int lane = threadIdx.x, end = lengths[lane];
  for (int o = 1; o < 32; o *= 2) {
    int before = __shfl_up_sync(FULL, end, o);
    if (lane >= o) end += before;
  }
  starts[lane + 1] = end;
  __syncwarp();
  int sum = 0;
  for (int i = starts[lane]; i < end; ++i) sum += x[i];  // BUG
  y[lane] = sum;
}

// == slots_reserved_for_those_that_do_not_come
extern "C" __global__ void slots_reserved_for_those_that_do_not_come(const int* x, int* y) {
  __shared__ int list[32];
  int lane = threadIdx.x, v = x[lane];
  unsigned large = __ballot_sync(FULL, v > 20);
  int slot = __popc(large & ((1u << lane) - 1));
  if (v > 20 && v % 3) list[slot] = v;
  __syncwarp();
  y[lane] = lane < __popc(large) ? list[lane] : 0;  // BUG
}

// == peer_that_filled_fewer_slots
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) peer_that_filled_fewer_slots(const int* lengths, const int* x, int* y) {
  __shared__ int slots[32];
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, b = blockIdx.x;
  if (t < lengths[b]) slots[t] = x[b * 32 + t];
  cluster.sync();
  const int* other = cluster.map_shared_rank(slots, b ^ 1);
  if (t < lengths[b]) y[b * 32 + t] = other[t];  // BUG
  cluster.sync();
}

// == second_step_with_a_halo_of_one
extern "C" __global__ void second_step_with_a_halo_of_one(const float* x, float* y) {
  __shared__ float first[34], second[34];
  int t = threadIdx.x, base = blockIdx.x * 32;
  for (int i = t; i < 34; i += 32) first[i] = x[base + i];
  __syncthreads();
  second[t + 1] = (first[t] + first[t + 1] + first[t + 2]) / 3;
  __syncthreads();
  y[base + t] = (second[t] + second[t + 1] + second[t + 2]) / 3;  // BUG
}

// == prefix_of_the_bins_of_one_warp
extern "C" __global__ void prefix_of_the_bins_of_one_warp(const int* x, int* y) {
  __shared__ int bins[40], starts[40];
  int t = threadIdx.x, bin = x[t] % 40;
  for (int i = t; i < 40; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  int place = atomicAdd(&bins[bin], 1);
  __syncthreads();
  if (t < 32) {
    int sum = bins[t];
    for (int o = 1; o < 32; o *= 2) {
      int before = __shfl_up_sync(FULL, sum, o);
      if (t >= o) sum += before;
    }
    starts[t] = sum - bins[t];
  }
  __syncthreads();
  y[t] = starts[bin] + place;  // BUG
}

// == accumulators_set_at_the_first_page
extern "C" __global__ void accumulators_set_at_the_first_page(const float* x, const int* order, float* y, int pages) {
  float sums[4];
  int part = threadIdx.x / 8, d = threadIdx.x % 8;
#pragma unroll 1
  for (int p = part; p < pages; p += 4) {
    int group = order[p] & 3;
    float v = x[p * 8 + d];
    if (p == 0)
      for (int k = 0; k < 4; ++k) sums[(group + k) & 3] = 0;
    sums[group] += v;  // BUG
  }
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 4; ++k) sum += sums[order[k] & 3];  // BUG
  y[threadIdx.x] = sum;  // BUG
}

// == bitonic_steps_of_a_warp_taken_twice_as_wide
extern "C" __global__ void bitonic_steps_of_a_warp_taken_twice_as_wide(const int* x, int* y) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = x[t];
  s[t + 64] = x[t + 64];
  __syncthreads();
  for (int k = 2; k <= 128; k *= 2)
    for (int j = k / 2; j; j /= 2) {
      int i = 2 * j * (t / j) + t % j;
      int a = s[i], b = s[i + j];  // BUG
      if ((a > b) == ((i & k) == 0)) {
        s[i] = b;      // BUG
        s[i + j] = a;  // BUG
      }
      if (max(j, j > 1 ? j / 2 : k) > 64) __syncthreads();
      else __syncwarp();
    }
  __syncthreads();
  y[t] = s[t];
  y[t + 64] = s[t + 64];
}

// == columns_follow_rows_without_a_barrier
extern "C" __global__ void columns_follow_rows_without_a_barrier(const int* image, int* y) {
  __shared__ int tile[8][8], wide[8][8];
  int c = threadIdx.x, r = threadIdx.y;
  tile[r][c] = image[r * 8 + c];
  __syncthreads();
  wide[r][c] = max(max(tile[r][max(c - 1, 0)], tile[r][c]), tile[r][min(c + 1, 7)]);  // BUG
  y[r * 8 + c] = max(max(wide[max(r - 1, 0)][c], wide[r][c]), wide[min(r + 1, 7)][c]);  // BUG
}

// == private_bins_cleared_by_all_and_used_by_one
extern "C" __global__ void private_bins_cleared_by_all_and_used_by_one(const int* x, int* y) {
  __shared__ int bins[2][16];
  int t = threadIdx.x, warp = t / 32;
  for (int i = t; i < 32; i += 64) bins[i % 2][i / 2] = 0;  // BUG
  __syncwarp();
  atomicAdd(&bins[warp][x[t] % 16], 1);  // BUG
  __syncthreads();
  if (t < 16) y[t] = bins[0][t] + bins[1][t];
}

// == warp_barrier_ahead_of_the_store
extern "C" __global__ void warp_barrier_ahead_of_the_store(const int* x, int* y) {
  __shared__ int s[96];
  int t = threadIdx.x, v = x[t];
  __syncwarp();
  s[t] = v;         // BUG
  y[t] = s[t ^ 1];  // BUG
}

// == search_stopped_by_a_plain_flag
extern "C" __global__ void search_stopped_by_a_plain_flag(const int* x, int* y, int key, int n) {
  __shared__ int place;
  int t = threadIdx.x, turns = 0;
  if (t == 0) place = -1;
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) {
    if (place >= 0) break;       // BUG
    if (x[i] == key) place = i;  // BUG
    ++turns;
    asm volatile("" ::: "memory");
  }
  __syncthreads();
  y[t] = turns + place;
}

// == maxima_of_the_warps_with_one_barrier
extern "C" __global__ void maxima_of_the_warps_with_one_barrier(const int* scores, int* y, int tiles) {
  __shared__ int most[2];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < tiles; ++k) {
    int v = scores[k * 64 + t], top = __reduce_max_sync(FULL, v);
    if (t % 32 == 0) most[t / 32] = top;  // BUG
    __syncthreads();
    sum += max(most[0], most[1]) - v;  // BUG
  }
  y[t] = sum;
}

// == dropped_threads_arrive_again
#include <cuda/barrier>
extern "C" __global__ void dropped_threads_arrive_again(const int* x, int* y) {
  __shared__ int s[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  __syncthreads();
  if (t >= 32) bar.arrive_and_drop();
  else bar.arrive_and_wait();
  s[t] = x[t];  // BUG
  bar.wait(bar.arrive());
  y[t] = s[63 - t];  // BUG
}

// == cluster_count_in_the_scope_of_a_block
#include <cooperative_groups.h>
#include <cuda/atomic>
extern "C" __global__ void __cluster_dims__(2) cluster_count_in_the_scope_of_a_block(const int* x, int* y) {
  __shared__ int count;
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x;
  if (t == 0) count = 0;
  cluster.sync();
  cuda::atomic_ref<int, cuda::thread_scope_block> sum(*cluster.map_shared_rank(&count, 0));
  if (x[blockIdx.x * 32 + t] > 50) sum.fetch_add(1, cuda::memory_order_relaxed);  // BUG
  cluster.sync();
  if (t == 0 && blockIdx.x == 0) y[0] = count;
}

// == halves_of_a_tile_meet_alone
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void halves_of_a_tile_meet_alone(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  s[t] = x[t];  // BUG
  tile.sync();
  y[t] = s[t ^ 12];  // BUG
}

// == tallies_by_lane_alone
extern "C" __global__ void tallies_by_lane_alone(const float* draws, int* inside, int n) {
  __shared__ int tally[32];
  int t = threadIdx.x, lane = t % 32;
  if (t < 32) tally[t] = 0;
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x)
    if (draws[2 * i] * draws[2 * i] + draws[2 * i + 1] * draws[2 * i + 1] < 1) tally[lane] += 1;  // BUG
  __syncthreads();
  if (t < 32) inside[t] = tally[t];
}

// == flags_cleared_as_words_while_bytes_are_set
extern "C" __global__ void flags_cleared_as_words_while_bytes_are_set(const int* x, unsigned char* y) {
  __shared__ alignas(4) unsigned char flags[96];
  int t = threadIdx.x;
  if (t < 24) reinterpret_cast<unsigned*>(flags)[t] = 0;  // BUG
  __syncwarp();
  if (x[t] > 30) flags[t] = 1;  // BUG
  __syncthreads();
  y[t] = flags[t];
}

// == warp_that_returns_before_the_cuda_barrier
#include <cuda/barrier>
extern "C" __global__ void warp_that_returns_before_the_cuda_barrier(const int* x, int* y, int n) {
  __shared__ int s[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, blockDim.x);
  __syncthreads();
  if (t >= n) return;
  s[t] = x[t];
  bar.arrive_and_wait();  // BUG
  y[t] = s[n - 1 - t];
}

// == producer_begins_with_parity_zero
extern "C" __global__ void producer_begins_with_parity_zero(const int* x, int* y, int tiles) {
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
      MBAR_WAIT(&empty[s], parity);  // BUG
      stage[s][lane] = x[k * 32 + lane];
      MBAR_ARRIVE(&full[s]);
    } else {
      MBAR_WAIT(&full[s], parity);  // BUG
      sum += stage[s][31 - lane];
      MBAR_ARRIVE(&empty[s]);
    }
  }
  if (warp == 1) y[lane] = sum;
}

// == ping_pong_without_the_first_arrival
extern "C" __global__ void ping_pong_without_the_first_arrival(const int* x, int* y, int turns) {
  __shared__ int shared;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) shared = 0;
  __syncthreads();
  for (int k = 0; k < turns; ++k) {
    BAR_SYNC(1 + warp, 64);  // BUG
    if (lane == 0) shared = 3 * shared + x[2 * k + warp];
    BAR_ARRIVE(2 - warp, 64);
  }
  __syncthreads();
  if (threadIdx.x == 0) y[0] = shared;
}

// == steps_of_a_tenth_until_exactly_one
extern "C" __global__ void steps_of_a_tenth_until_exactly_one(const float* x, float* y) {
  float sum = 0;
#pragma unroll 1
  for (float at = 0; at != 1.0f; at += 0.1f) sum += at * x[threadIdx.x];  // BUG
  y[threadIdx.x] = sum;
}

// == permits_taken_by_all_and_given_back_by_one
#include <cuda/semaphore>
using Permits = cuda::counting_semaphore<cuda::thread_scope_block, 64>;
extern "C" __global__ void permits_taken_by_all_and_given_back_by_one(const int* x, int* y) {
  __shared__ alignas(Permits) unsigned char storage[sizeof(Permits)];
  Permits& permits = *reinterpret_cast<Permits*>(storage);
  int t = threadIdx.x;
  if (t == 0) new (&permits) Permits(40);
  __syncthreads();
  permits.acquire();  // BUG
  y[t] = 2 * x[t];
  if (t == 0) permits.release();
}

// == status_and_sum_stored_by_halves
extern "C" __global__ void status_and_sum_stored_by_halves(const int* x, unsigned* status, int* y) {
  int b = blockIdx.x, sum = __reduce_add_sync(FULL, x[b * 32 + threadIdx.x]);
  if (threadIdx.x != 0) return;
  int before = 0;
  if (b > 0) {
    unsigned long long word;
    do word = *reinterpret_cast<volatile unsigned long long*>(status + 2 * (b - 1));  // BUG
    while (word >> 32 == 0);
    before = static_cast<int>(word);
  }
  volatile unsigned* mine = status + 2 * b;
  mine[0] = before + sum;  // BUG
  mine[1] = 1;             // BUG
  y[b] = before;
}

// == ticket_of_another_tile
extern "C" __global__ void ticket_of_another_tile(const int* x, int* parts, int* tickets, int* y) {
  __shared__ bool last;
  int tile = blockIdx.y, split = blockIdx.x, t = threadIdx.x;
  parts[(tile * 2 + split) * 32 + t] = 3 * x[(tile * 2 + split) * 32 + t];  // BUG
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicAdd(&tickets[split], 1) == 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  y[tile * 32 + t] = parts[tile * 64 + t] + parts[tile * 64 + 32 + t];  // BUG
}

// == fence_ahead_of_the_partial
extern "C" __global__ void fence_ahead_of_the_partial(const int* x, int* parts, unsigned* ticket, int* y) {
  int b = blockIdx.x, sum = __reduce_add_sync(FULL, x[b * 32 + threadIdx.x]);
  if (threadIdx.x != 0) return;
  __threadfence();
  parts[b] = sum;  // BUG
  if (atomicAdd(ticket, 1) == gridDim.x - 1) {
    int all = 0;
    for (int k = 0; k < gridDim.x; ++k) all += parts[k];  // BUG
    y[0] = all;
  }
}

// == slot_counted_when_it_is_reserved
extern "C" __global__ void slot_counted_when_it_is_reserved(const int* x, int* slots, int* tail, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    int place = atomicAdd(tail, 1);
    slots[place] = 2 * x[t];  // BUG
    __threadfence();
    return;
  }
  while (atomicAdd(tail, 0) < 32) {}
  __threadfence();
  y[t] = slots[31 - t];  // BUG
}

// == written_after_the_lock_is_freed
extern "C" __global__ void written_after_the_lock_is_freed(const int* x, int* lock, int* sum) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  int v = *sum + x[blockIdx.x];  // BUG
  __threadfence();
  atomicExch(lock, 0);
  *sum = v;  // BUG
}

// == grid_barrier_of_relaxed_counts
#include <cuda/atomic>
extern "C" __global__ void grid_barrier_of_relaxed_counts(const int* x, int* middle, int* count, int* y) {
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, n = gridDim.x * blockDim.x;
  middle[i] = x[i] * x[i];  // BUG
  __syncthreads();
  if (t == 0) {
    cuda::atomic_ref<int, cuda::thread_scope_device> came(*count);
    came.fetch_add(1, cuda::memory_order_relaxed);
    while (came.load(cuda::memory_order_relaxed) < gridDim.x) {}
  }
  __syncthreads();
  y[i] = middle[n - 1 - i];  // BUG
}

// == token_slots_that_repeat
extern "C" __global__ void token_slots_that_repeat(const int* slots, const float* keys, float* cache) {
  int token = blockIdx.x, d = threadIdx.x;
  if (slots[token] < 0) return;
  cache[slots[token] * 16 + d] = keys[token * 16 + d];  // BUG
}

// == key_head_rotated_by_each_query_head
extern "C" __global__ void key_head_rotated_by_each_query_head(float* q, float* k, int group) {
  int head = blockIdx.x, d = threadIdx.x;
  float c = cosf(0.1f * d), s = sinf(0.1f * d);
  float *a = q + head * 16, *b = k + head / group * 16;
  float a0 = a[d], a1 = a[d + 8], b0 = b[d], b1 = b[d + 8];  // BUG
  a[d] = a0 * c - a1 * s;
  a[d + 8] = a0 * s + a1 * c;
  b[d] = b0 * c - b1 * s;      // BUG
  b[d + 8] = b0 * s + b1 * c;  // BUG
}

// == expert_outputs_added_plainly
extern "C" __global__ void expert_outputs_added_plainly(const int* tokens, const float* weights, const float* outputs,
                                                        float* y) {
  int pair = blockIdx.x, d = threadIdx.x;
  y[tokens[pair] * 16 + d] += weights[pair] * outputs[pair * 16 + d];  // BUG
}

// == scale_read_while_others_raise_it
extern "C" __global__ void scale_read_while_others_raise_it(const float* x, int* largest, signed char* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  int top = __reduce_max_sync(FULL, __float_as_int(fabsf(v)));
  if (threadIdx.x % 32 == 0) atomicMax(largest, top);  // BUG
  __syncthreads();
  y[i] = rintf(v / __int_as_float(*largest) * 127);  // BUG
}

// == offsets_made_while_tokens_are_counted
extern "C" __global__ void offsets_made_while_tokens_are_counted(const int* choices, int* loads, int* offsets,
                                                                 int experts) {
  int t = threadIdx.x;
  atomicAdd(&loads[choices[blockIdx.x * blockDim.x + t] % experts], 1);  // BUG
  __threadfence();
  __syncthreads();
  if (blockIdx.x == gridDim.x - 1 && t < experts) {
    int sum = 0;
    for (int e = 0; e < t; ++e) sum += loads[e];  // BUG
    offsets[t] = sum;
  }
}

// == one_generator_for_two_threads
extern "C" __global__ void one_generator_for_two_threads(unsigned* states, int* inside, int turns) {
  int t = threadIdx.x, count = 0;
  unsigned state = states[t / 2];  // BUG
  for (int k = 0; k < turns; ++k) {
    state = state * 1664525u + 1013904223u;
    count += (state >> 16) % 100 < 50;
  }
  states[t / 2] = state + t;  // BUG
  inside[t] = count;
}

// == helper_adds_before_the_owner_stores
extern "C" __global__ void helper_adds_before_the_owner_stores(const float* a, float* c, int steps) {
  int t = threadIdx.x, owner = blockIdx.x == 0, begin = owner ? 0 : steps / 2, end = owner ? steps / 2 : steps;
  float sum = 0;
  for (int k = begin; k < end; ++k) sum += a[k * 32 + t];
  if (owner) c[t] = sum;  // BUG
  else atomicAdd(&c[t], sum);  // BUG
}

// == partial_of_one_helper_and_flag_of_the_other
extern "C" __global__ void partial_of_one_helper_and_flag_of_the_other(const int* x, int* parts, int* flags, int* y) {
  int b = blockIdx.x, t = threadIdx.x, v = 3 * x[b * 32 + t];
  if (b > 0) {
    parts[b * 32 + t] = v;  // BUG
    __threadfence();
    __syncthreads();
    if (t == 0) atomicExch(&flags[b], 1);
    return;
  }
  for (int helper = 1; helper < gridDim.x; ++helper) {
    if (t == 0)
      while (atomicAdd(&flags[1], 0) == 0) {}
    __syncthreads();
    __threadfence();
    v += parts[helper * 32 + 31 - t];  // BUG
  }
  y[t] = v;
}

// == occurrences_counted_plainly_in_a_claimed_slot
extern "C" __global__ void occurrences_counted_plainly_in_a_claimed_slot(const int* words, int* keys, int* counts) {
  int word = words[blockIdx.x * blockDim.x + threadIdx.x] + 1, slot = word * 7 % 64;
  while (true) {
    int known = atomicCAS(&keys[slot], 0, word);
    if (known == 0 || known == word) break;
    slot = (slot + 1) % 64;
  }
  counts[slot] += 1;  // BUG
}

// == parent_stored_by_all_that_find_it
extern "C" __global__ void parent_stored_by_all_that_find_it(const int* from, const int* to, const int* level,
                                                             int* parent, int depth) {
  int edge = blockIdx.x * blockDim.x + threadIdx.x, u = from[edge], v = to[edge];
  if (level[u] == depth && level[v] == depth + 1) parent[v] = u;  // BUG
}

// == failure_table_used_while_it_is_built
extern "C" __global__ void failure_table_used_while_it_is_built(const char* pattern, int* table, int* y, int m) {
  int t = threadIdx.x;
  if (t == 0) {
    int k = 0;
    for (int i = 1; i < m; ++i) {
      while (k > 0 && pattern[i] != pattern[k]) k = table[k - 1];
      if (pattern[i] == pattern[k]) ++k;
      table[i] = k;  // BUG
    }
  }
  __syncwarp();
  y[t] = table[t % m];  // BUG
}

// == fence_object_in_the_scope_of_the_block
#include <cuda/atomic>
extern "C" __global__ void fence_object_in_the_scope_of_the_block(const int* x, int* parts, int* count, int* y) {
  int b = blockIdx.x, sum = __reduce_add_sync(FULL, x[b * 32 + threadIdx.x]);
  if (threadIdx.x != 0) return;
  parts[b] = sum;  // BUG
  cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_block);
  cuda::atomic_ref<int, cuda::thread_scope_device> came(*count);
  if (came.fetch_add(1, cuda::memory_order_relaxed) == gridDim.x - 1) {
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    for (int k = 0; k < gridDim.x; ++k) y[0] += parts[k];  // BUG
  }
}

// == stride_of_one_dimension_in_a_grid_of_two
extern "C" __global__ void stride_of_one_dimension_in_a_grid_of_two(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += 2 * x[i];  // BUG
}

// == bulk_sum_read_after_its_source_was
#define BULK_ADD(to, from, bytes) \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" \
               ::"l"(to), "r"(SMEM(from)), "r"(bytes) : "memory")
extern "C" __global__ void bulk_sum_read_after_its_source_was(const float* x, float* sum, float* y) {
  alignas(128) __shared__ float tile[64];
  int t = threadIdx.x;
  tile[t] = x[t];
  PROXY_FENCE;
  __syncthreads();
  if (t == 0) {
    BULK_ADD(sum, tile, 256);  // BUG
    BULK_COMMIT;
    BULK_WAIT_READ;
  }
  __syncthreads();
  y[t] = sum[63 - t];  // BUG
}

// == last_of_the_active_by_its_lane
extern "C" __global__ void last_of_the_active_by_its_lane(const int* x, int* y) {
  int lane = threadIdx.x, v = x[lane];
  y[lane] = 0;
  if (v % 3 != 1) {
    unsigned active = __activemask();
    y[lane] = __shfl_sync(active, v, __popc(active) - 1);  // BUG
  }
  y[lane] += __popc(__ballot_sync(FULL, v > 9));
}

// == rows_reduced_by_lanes_of_the_next_row
extern "C" __global__ void rows_reduced_by_lanes_of_the_next_row(const int* x, int* y) {
  int lane = threadIdx.x, row = lane / 8, v = x[lane];
  unsigned mask = 0xffu << 8 * row;
  if (row % 2 == 0) {
    for (int o = 4; o; o /= 2) v += __shfl_down_sync(mask, v, o);  // BUG
    y[lane] = v;
  } else {
    y[lane] = -v;
  }
  __syncwarp();
}

// == block_vote_while_a_row_is_left
extern "C" __global__ void block_vote_while_a_row_is_left(const int* lengths, const int* x, int* y) {
  int row = threadIdx.x, sum = 0;
  for (int k = 0; k < lengths[row]; ++k) {
    sum += x[row * 4 + k];
    if (__syncthreads_or(sum > 1000)) break;  // BUG
  }
  __syncthreads();  // BUG
  y[row] = sum;
}

// == producer_waits_for_what_it_fills
extern "C" __global__ void producer_waits_for_what_it_fills(const float* x, float* y, int tiles) {
  __shared__ alignas(128) float stage[2][32];
  __shared__ unsigned long long full[2];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x < 2) MBAR_INIT(&full[threadIdx.x], 1);
  __syncthreads();
  float sum = 0;
  if (warp == 1) {
    for (int k = 0; k < tiles && lane == 0; ++k) {
      int s = k % 2;
      if (k >= 2) MBAR_WAIT(&full[s], (k / 2 - 1) % 2);
      MBAR_EXPECT(&full[s], 128);
      BULK_LOAD(stage[s], x + k * 32, 128, &full[s]);  // BUG
    }
  } else {
    for (int k = 0; k < tiles; ++k) {
      MBAR_WAIT(&full[k % 2], k / 2 % 2);
      sum += stage[k % 2][31 - lane];  // BUG
    }
    y[lane] = sum;
  }
}

// == first_lane_releases_what_its_warp_still_reads
extern "C" __global__ void first_lane_releases_what_its_warp_still_reads(const float* x, float* y, int tiles) {
  __shared__ float stage[32];
  __shared__ unsigned long long full, empty;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    MBAR_INIT(&full, 32);
    MBAR_INIT(&empty, 1);
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    if (warp == 1) {
      MBAR_WAIT(&empty, k % 2 ^ 1);
      stage[lane] = x[k * 32 + lane];  // BUG
      MBAR_ARRIVE(&full);
    } else {
      MBAR_WAIT(&full, k % 2);
      sum += stage[31 - lane];  // BUG
      if (lane == 0) MBAR_ARRIVE(&empty);
    }
  }
  if (warp == 0) y[lane] = sum;
}

// == result_put_where_a_copy_is_still_to_come
#define COPY_WORD(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(SMEM(to)), "l"(from) : "memory")
extern "C" __global__ void result_put_where_a_copy_is_still_to_come(const float* x, float* y, int tiles) {
  __shared__ float stage[2][64];
  int t = threadIdx.x;
  float sum = 0;
  COPY_WORD(&stage[0][t], x + t);  // BUG
  asm volatile("cp.async.commit_group;" ::: "memory");
  for (int k = 0; k < tiles; ++k) {
    int next = min(k + 1, tiles - 1);
    COPY_WORD(&stage[(k + 1) % 2][t], x + next * 64 + t);  // BUG
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    sum += stage[k % 2][63 - t];
    __syncthreads();
  }
  float* result = stage[tiles % 2];
  result[63 - t] = sum;  // BUG
  __syncthreads();
  y[t] = 2 * result[t];  // BUG
}

// == leaders_of_a_label_in_two_warps
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void leaders_of_a_label_in_two_warps(const int* labels, const int* x, int* y) {
  __shared__ int sums[4];
  int t = threadIdx.x, label = labels[t] % 4;
  if (t < 4) sums[t] = 0;
  __syncthreads();
  auto group = cg::labeled_partition(cg::tiled_partition<32>(cg::this_thread_block()), label);
  int sum = cg::reduce(group, x[t], cg::plus<int>());
  if (group.thread_rank() == 0) sums[label] += sum;  // BUG
  __syncthreads();
  if (t < 4) y[t] = sums[t];
}

// == window_longer_than_the_sequence
extern "C" __global__ void window_longer_than_the_sequence(const int* starts, const float* tokens, float* y,
                                                           unsigned window) {
  unsigned begin = starts[threadIdx.x], length = starts[threadIdx.x + 1] - begin;
  float most = 0;
  for (unsigned i = 0; i <= length - window; i += window)
    for (unsigned k = 0; k < window; ++k) most = fmaxf(most, tokens[begin + i + k]);  // BUG
  y[threadIdx.x] = most;
}

// == arrival_by_one_lane_of_the_warp
extern "C" __global__ void arrival_by_one_lane_of_the_warp(const int* x, int* y) {
  __shared__ int s[32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0) {
    s[lane] = x[lane];
    __syncwarp();
    if (lane == 0) BAR_ARRIVE(1, 64);  // BUG
    else y[32 + lane] = x[32 + lane];
    __syncwarp();
    y[32 + lane] += s[lane];
  } else {
    BAR_SYNC(1, 64);  // BUG
    y[lane] = s[31 - lane];
  }
}

// == group_of_a_key_after_some_have_left
extern "C" __global__ void group_of_a_key_after_some_have_left(const int* keys, const int* x, int* y) {
  int lane = threadIdx.x, v = x[lane];
  unsigned group = __match_any_sync(FULL, keys[lane] % 3);
  y[lane] = -1;
  if (v > 30) y[lane] = __reduce_add_sync(group, v);  // BUG
  y[lane] += __popc(__ballot_sync(FULL, v > 60));
}

// == last_stage_expects_a_whole_tile
extern "C" __global__ void last_stage_expects_a_whole_tile(const float* x, float* y, int n) {
  __shared__ alignas(128) float stage[2][32];
  __shared__ unsigned long long full[2];
  int lane = threadIdx.x, tiles = (n + 31) / 32;
  if (lane < 2) MBAR_INIT(&full[lane], 1);
  __syncwarp();
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    int s = k % 2, rest = min(32, n - k * 32);
    if (lane == 0) {
      MBAR_EXPECT(&full[s], 128);
      BULK_LOAD(stage[s], x + k * 32, rest * 4, &full[s]);
    }
    __syncwarp();
    MBAR_WAIT(&full[s], k / 2 % 2);  // BUG
    if (lane < rest) sum += stage[s][lane];
    __syncwarp();
  }
  y[lane] = sum;
}

// == parity_from_the_number_of_the_tile
extern "C" __global__ void parity_from_the_number_of_the_tile(const float* x, float* y, int tiles) {
  __shared__ alignas(128) float stage[2][32];
  __shared__ unsigned long long full[2];
  int t = threadIdx.x;
  if (t < 2) MBAR_INIT(&full[t], 1);
  __syncthreads();
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    int s = tile % 2;
    if (t == 0) {
      MBAR_EXPECT(&full[s], 128);
      BULK_LOAD(stage[s], x + tile * 32, 128, &full[s]);  // BUG
    }
    MBAR_WAIT(&full[s], tile / 2 % 2);
    y[tile * 32 + t] = stage[s][31 - t];  // BUG
    __syncthreads();
  }
}

// == flags_of_the_first_round_still_set
extern "C" __global__ void flags_of_the_first_round_still_set(const int* x, int* parts, int* flag, int* y) {
  int t = threadIdx.x;
  for (int round = 0; round < 2; ++round) {
    int v = 3 * x[(round * 2 + blockIdx.x) * 32 + t];
    if (blockIdx.x == 1) {
      parts[round * 32 + t] = v;  // BUG
      __syncthreads();
      if (t == 0) {
        __threadfence();
        atomicExch(flag, 1);
      }
    } else {
      if (t == 0) {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
      }
      __syncthreads();
      y[round * 32 + t] = v + parts[round * 32 + 31 - t];  // BUG
    }
  }
}

// == lanes_read_before_the_first_has_waited
extern "C" __global__ void lanes_read_before_the_first_has_waited(const int* x, int* data, int* flag, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 1) {
    data[t] = 3 * x[t];  // BUG
    __syncthreads();
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
  y[t] = data[31 - t];  // BUG
}

// == matrices_of_a_ragged_tile
extern "C" __global__ void matrices_of_a_ragged_tile(const unsigned* x, unsigned* y, int rows) {
  __shared__ alignas(16) unsigned tile[16][4];
  int lane = threadIdx.x;
  for (int i = lane; i < rows * 4; i += 32) tile[i / 4][i % 4] = x[i];
  __syncwarp();
  unsigned r[2], at = SMEM(&tile[lane % 16][0]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"  // BUG
               : "=r"(r[0]), "=r"(r[1]) : "r"(at) : "memory");  // BUG
  y[lane] = r[0] + r[1];
}

// == queue_of_the_block_reset_while_warps_pop
extern "C" __global__ void queue_of_the_block_reset_while_warps_pop(const int* x, int* y, int rows) {
  __shared__ int next;
  int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  for (int phase = 0; phase < 2; ++phase) {
    for (;;) {
      int row = lane == 0 ? atomicAdd(&next, 1) : 0;  // BUG
      row = __shfl_sync(FULL, row, 0);
      if (row >= rows) break;
      atomicAdd(&y[row], x[row * 32 + lane] + phase);
    }
    if (threadIdx.x == 0) next = 0;  // BUG
    __syncthreads();
  }
}

// == bits_of_the_next_level_tested_while_they_are_set
extern "C" __global__ void bits_of_the_next_level_tested_while_they_are_set(const int* from, const int* to,
                                                                           unsigned* level, unsigned* next) {
  int edge = blockIdx.x * blockDim.x + threadIdx.x, u = from[edge], v = to[edge];
  if (level[u / 32] >> u % 32 & 1)
    if (!(next[v / 32] >> v % 32 & 1)) atomicOr(&next[v / 32], 1u << v % 32);  // BUG
}

// == weights_changed_under_a_name_that_promises_not_to
extern "C" __global__ void weights_changed_under_a_name_that_promises_not_to(const float* __restrict__ weights,
                                                                            const float* __restrict__ steps,
                                                                            float* __restrict__ changed, float* y) {
  int t = threadIdx.x;
  changed[t] = weights[t] - 0.1f * steps[t];  // BUG
  __syncthreads();
  y[t] = weights[63 - t] + weights[t ^ 1];  // BUG
}

// == heads_read_while_the_first_lane_advances
extern "C" __global__ void heads_read_while_the_first_lane_advances(const int* lists, int* y, int n) {
  __shared__ int heads[4];
  int lane = threadIdx.x;
  if (lane < 4) heads[lane] = 0;
  __syncwarp();
  for (int k = 0; k < n; ++k) {
    int list = lane % 4, v = lists[list * 8 + heads[list]];  // BUG
    int least = __reduce_min_sync(FULL, v * 4 + list);
    if (lane == 0) {
      y[k] = least / 4;
      heads[least % 4] += 1;  // BUG
    }
  }
}

// == matrix_stored_and_read_by_another_lane_at_once
extern "C" __global__ void matrix_stored_and_read_by_another_lane_at_once(const unsigned* x, unsigned* y) {
  __shared__ alignas(16) unsigned tile[8][4];
  int lane = threadIdx.x;
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};"  // BUG
               ::"r"(SMEM(&tile[lane % 8][0])), "r"(x[lane]) : "memory");  // BUG
  y[lane] = tile[lane % 8][lane / 8];  // BUG
}

// == row_pointer_of_a_row_that_its_owner_builds
extern "C" __global__ void row_pointer_of_a_row_that_its_owner_builds(const int* lengths, int* starts, int* filled,
                                                                      int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int begin = 0;
  for (int r = 0; r < row; ++r) begin += lengths[r];
  starts[row] = begin;  // BUG
  __syncthreads();
  int end = row + 1 < rows ? starts[row + 1] : begin + lengths[row];  // BUG
  for (int i = begin; i < end; ++i) filled[i] = row;
}

// == accumulator_of_the_tile_kept_for_the_next
extern "C" __global__ void accumulator_of_the_tile_kept_for_the_next(const float* x, const int* kinds, float* y,
                                                                    int tiles) {
  float sums[2];
#pragma unroll 1
  for (int k = 0; k < tiles; ++k) {
    int kind = kinds[k] % 2;
    if (k == 0) sums[kind] = 0;
    sums[kind] += x[k * 32 + threadIdx.x];  // BUG
  }
  y[threadIdx.x] = sums[0] - sums[1];  // BUG
}

// == total_of_a_column_kept_by_the_first_row_alone
extern "C" __global__ void total_of_a_column_kept_by_the_first_row_alone(const int* x, int* y) {
  __shared__ int totals[16];
  int c = threadIdx.x, r = threadIdx.y;
  if (r == 0) totals[c] = 0;  // BUG
  atomicAdd(&totals[c], x[r * 16 + c]);  // BUG
  __syncthreads();
  if (r == 0) y[c] = totals[c];
}
