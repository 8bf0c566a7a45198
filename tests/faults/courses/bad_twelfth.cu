// Templates, references, leases, drains, packed words, lists, rings of messages: each with a fault.
#include "asm.cuh"

// == template_scan_adds_where_it_still_reads
template <int N>
__device__ void scan(int* s, int t) {
#pragma unroll 1
  for (int d = 1; d < N; d *= 2) {
    if (t >= d) s[t] += s[t - d];  // BUG
    __syncthreads();
  }
}

extern "C" __global__ void template_scan_adds_where_it_still_reads(const int* x, int* y) {
  __shared__ int s[96];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  scan<96>(s, threadIdx.x);
  y[threadIdx.x] = s[threadIdx.x];
}

// == reducer_struct_without_its_inner_barrier
struct Reducer {
  float* scratch;
  template <class Op>
  __device__ float all(float v, Op op) {
    int t = threadIdx.x;
    scratch[t] = v;
    __syncthreads();
    for (int h = blockDim.x / 2; h > 0; h /= 2) {
      if (t < h) {
        scratch[t] = op(scratch[t], scratch[t + h]);  // BUG
      }
    }
    __syncthreads();
    return scratch[0];
  }
};

extern "C" __global__ void reducer_struct_without_its_inner_barrier(const float* x, float* y) {
  __shared__ float memory[128];
  Reducer reducer{memory};
  y[threadIdx.x] = reducer.all(x[threadIdx.x], [](float a, float b) { return fmaxf(a, b); });
}

// == two_reductions_through_one_scratch
template <class T, class Op>
__device__ T reduce(T v, T* scratch, Op op) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int d = 16; d; d /= 2) v = op(v, __shfl_xor_sync(FULL, v, d));
  if (lane == 0) scratch[warp] = v;  // BUG
  __syncthreads();
  v = scratch[0];  // BUG
  for (int w = 1; w < blockDim.x / 32; ++w) v = op(v, scratch[w]);  // BUG
  return v;
}

extern "C" __global__ void two_reductions_through_one_scratch(const float* x, float* y) {
  __shared__ float scratch[32];
  float v = x[threadIdx.x];
  float top = reduce(v, scratch, [](float a, float b) { return a > b ? a : b; });
  float sum = reduce(v - top, scratch, [](float a, float b) { return a + b; });
  y[threadIdx.x] = (v - top) / sum;
}

// == ping_pong_with_one_hand
extern "C" __global__ void ping_pong_with_one_hand(const int* x, int* y, int rounds) {
  __shared__ int buffer[2][160];
  int t = threadIdx.x, n = blockDim.x, now = 0;
  buffer[0][t] = x[t];
  buffer[1][t] = 0;
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    buffer[now][t] = buffer[now][(t + 33) % n] + 1;  // BUG
    __syncthreads();
    now ^= r & 2;
  }
  y[t] = buffer[now][t];
}

// == count_of_a_round_cleared_while_it_is_read
extern "C" __global__ void count_of_a_round_cleared_while_it_is_read(const int* x, int* y, int rounds) {
  __shared__ int count;
  int t = threadIdx.x;
  if (t == 0) count = 0;
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    if (x[r * blockDim.x + t] > 50) atomicAdd(&count, 1);
    __syncthreads();
    y[r * blockDim.x + t] = count;  // BUG
    if (t == 0) count = 0;  // BUG
    __syncthreads();
  }
}

// == slot_for_a_broadcast_written_in_the_next_turn
struct Job {
  int first, last;
};

extern "C" __global__ void slot_for_a_broadcast_written_in_the_next_turn(const int* starts, int* y, int jobs) {
  __shared__ Job job;
  for (int j = 0; j < jobs; ++j) {
    if (threadIdx.x == 0) {
      job = {starts[j], starts[j + 1]};  // BUG
    }
    __syncthreads();
    int last = job.last;  // BUG
    for (int i = job.first + threadIdx.x; i < last; i += blockDim.x) y[i] = j;  // BUG
  }
}

// == bins_read_before_all_have_voted
extern "C" __global__ void bins_read_before_all_have_voted(const unsigned* x, unsigned* y, int n) {
  __shared__ unsigned bins[13];
  for (int b = threadIdx.x; b < 13; b += blockDim.x) bins[b] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[x[i] % 13], 1u);  // BUG
  if (threadIdx.x < 13) y[threadIdx.x] = bins[threadIdx.x];  // BUG
}

// == bytes_of_words_that_others_write
union Mixed {
  unsigned words[40];
  unsigned char bytes[160];
};

extern "C" __global__ void bytes_of_words_that_others_write(const unsigned* x, unsigned* y) {
  __shared__ Mixed mixed;
  int t = threadIdx.x;
  if (t < 40) mixed.words[t] = x[t];  // BUG
  y[t] = mixed.bytes[t];  // BUG
}

// == marks_of_a_bitmap_without_atomics
extern "C" __global__ void marks_of_a_bitmap_without_atomics(const int* x, unsigned* y, int n) {
  __shared__ unsigned map[8];
  if (threadIdx.x < 8) map[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int bit = x[i];
    map[bit / 32] |= 1u << bit % 32;  // BUG
  }
  __syncthreads();
  if (threadIdx.x < 8) y[threadIdx.x] = map[threadIdx.x];
}

// == group_of_eight_meets_and_reads_sixteen
#include <cooperative_groups.h>

extern "C" __global__ void group_of_eight_meets_and_reads_sixteen(const int* x, int* y) {
  namespace cg = cooperative_groups;
  __shared__ int s[64];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int t = threadIdx.x;
  s[t] = x[t] * 3;  // BUG
  tile.sync();
  y[t] = s[t ^ 8];  // BUG
}

// == active_threads_meet_and_read_the_other_branch
#include <cooperative_groups.h>

extern "C" __global__ void active_threads_meet_and_read_the_other_branch(const int* x, int* y) {
  __shared__ int s[32];
  int lane = threadIdx.x;
  if (lane & 1) {
    s[lane] = x[lane];  // BUG
    cooperative_groups::coalesced_threads().sync();
    y[lane] = s[lane - 1];  // BUG
  } else {
    s[lane] = -x[lane];  // BUG
    cooperative_groups::coalesced_threads().sync();
    y[lane] = s[lane + 1];  // BUG
  }
}

// == neighbours_of_a_warp_by_volatile_alone
extern "C" __global__ void neighbours_of_a_warp_by_volatile_alone(const float* x, float* y) {
  volatile __shared__ float s[192];
  int t = threadIdx.x;
  s[t] = x[t];  // BUG
  float mean = 0.5f * (s[t] + s[t ^ 3]);  // BUG
  y[t] = mean;
}

// == warp_tells_another_by_a_volatile_word
extern "C" __global__ void warp_tells_another_by_a_volatile_word(const int* x, int* y) {
  __shared__ int data[32];
  __shared__ volatile int ready;
  int t = threadIdx.x, lane = t % 32;
  if (t == 0) ready = 0;
  __syncthreads();
  if (t < 32) {
    data[lane] = x[lane];  // BUG
    __syncwarp();
    if (lane == 0) ready = 1;  // BUG
  } else {
    while (!ready) __nanosleep(20);  // BUG
    __syncwarp();
    y[lane] = data[31 - lane];  // BUG
  }
}

// == last_warp_in_the_block_adds_without_a_fence
extern "C" __global__ void last_warp_in_the_block_adds_without_a_fence(const int* x, int* y) {
  __shared__ int partial[6], arrived;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  if (threadIdx.x == 0) arrived = 0;
  __syncthreads();
  int sum = __reduce_add_sync(FULL, x[threadIdx.x]);
  if (lane == 0) {
    partial[warp] = sum;  // BUG
    if (atomicAdd(&arrived, 1) == warps - 1) {
      int total = 0;
      for (int w = 0; w < warps; ++w) total += partial[w];  // BUG
      y[0] = total;
    }
  }
}

// == rolled_by_a_block_in_place
extern "C" __global__ void rolled_by_a_block_in_place(int* x, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int v = x[(i + by) % n];  // BUG
    x[i] = v;  // BUG
  }
}

// == columns_summed_by_bands_of_rows
extern "C" __global__ void columns_summed_by_bands_of_rows(const float* x, float* y, int rows, int cols, int band) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  float sum = 0;
  int end = min(rows, (int)(blockIdx.y + 1) * band);
  for (int r = blockIdx.y * band; r < end; ++r) sum += x[r * cols + c];
  y[c] += sum;  // BUG
}

// == windows_of_one_array_that_overlap
extern "C" __global__ void windows_of_one_array_that_overlap(const int* from, int* to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i] + 1;  // BUG
}

// == best_so_far_checked_and_then_stored
extern "C" __global__ void best_so_far_checked_and_then_stored(const int* x, int* best, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    if (x[i] > *best) {  // BUG
      *best = x[i];  // BUG
    }
  }
}

// == next_row_from_a_variable_of_the_module
__device__ int next_row;

extern "C" __global__ void next_row_from_a_variable_of_the_module(const int* x, int* y, int rows) {
  __shared__ int row;
  while (true) {
    if (threadIdx.x == 0) {
      row = next_row++;  // BUG
    }
    __syncthreads();
    if (row >= rows) return;
    y[row * blockDim.x + threadIdx.x] = x[row * blockDim.x + threadIdx.x] + row;
    __syncthreads();
  }
}

// == rows_then_columns_with_a_barrier_of_the_block
#include <cooperative_groups.h>

extern "C" __global__ void rows_then_columns_with_a_barrier_of_the_block(float* a, float* sums, int n) {
  auto grid = cooperative_groups::this_grid();
  int i = grid.thread_rank();
  if (i < n) {
    for (int c = 0; c < n; ++c) a[i * n + c] *= 2;  // BUG
  }
  cooperative_groups::this_thread_block().sync();
  if (i < n) {
    float sum = 0;
    for (int r = 0; r < n; ++r) sum += a[r * n + i];  // BUG
    sums[i] = sum;
  }
}

// == third_phase_begins_without_the_grid
#include <cooperative_groups.h>

extern "C" __global__ void third_phase_begins_without_the_grid(const int* x, int* a, int* b, int* c, int n) {
  auto grid = cooperative_groups::this_grid();
  int i = grid.thread_rank();
  if (i < n) a[i] = x[i];
  grid.sync();
  if (i < n) b[i] = a[n - 1 - i];  // BUG
  if (i < n) c[i] = b[n - 1 - i] + a[i];  // BUG
}

// == queue_is_emptied_while_others_pop
extern "C" __global__ void queue_is_emptied_while_others_pop(const int* items, int* taken, int* y, int n) {
  int k;
  while ((k = atomicAdd(taken, 1)) < n) {  // BUG
    y[k] = items[k];
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *taken = 0;  // BUG
}

// == packed_elements_counted_by_whoever_is_first
extern "C" __global__ void packed_elements_counted_by_whoever_is_first(const int* x, int* y, int* count, int* sizes,
                                                                       int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] % 3 == 0) y[atomicAdd(count, 1)] = x[i];  // BUG
  __syncthreads();
  if (threadIdx.x == 0) sizes[blockIdx.x] = *count;  // BUG
}

// == flag_released_ahead_of_the_message
#include <cuda/atomic>

extern "C" __global__ void flag_released_ahead_of_the_message(const int* x, int* message, int* flag, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    ready.store(1, cuda::memory_order_release);
    *message = *x;  // BUG
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {}
    *y = *message;  // BUG
  }
}

// == writer_of_the_ring_ignores_the_reader
#include <cuda/atomic>

extern "C" __global__ void writer_of_the_ring_ignores_the_reader(const int* x, int* ring, int* head, int* y, int n) {
  cuda::atomic_ref<int, cuda::thread_scope_device> written(*head);
  if (blockIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      ring[i % 3] = x[i];  // BUG
      written.store(i + 1, cuda::std::memory_order_release);
    }
  } else {
    for (int i = 0; i < n; ++i) {
      while (written.load(cuda::std::memory_order_acquire) <= i) {}
      y[i] = ring[i % 3];  // BUG
    }
  }
}

// == node_linked_after_the_head_has_moved
extern "C" __global__ void node_linked_after_the_head_has_moved(int* next, int* head, int* y, int nodes) {
  int node = threadIdx.x;
  if (blockIdx.x == 0) {
    if (node < nodes) {
      int before = atomicExch(head, node);
      next[node] = before;  // BUG
    }
  } else if (node == 0) {
    int at;
    while ((at = atomicAdd(head, 0)) < 0) {}
    __threadfence();
    y[0] = next[at];  // BUG
  }
}

// == key_claimed_and_its_value_stored_later
__device__ int place_of(int* keys, int key) {
  int at = key * 7 % 37;
  while (true) {
    int seen = atomicCAS(&keys[at], -1, key);
    if (seen == -1 || seen == key) return at;
    at = (at + 1) % 37;
  }
}

extern "C" __global__ void key_claimed_and_its_value_stored_later(const int* x, int* keys, int* values, int* y) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int at = place_of(keys, x[t]);
  values[at] = t;  // BUG
  y[t] = values[place_of(keys, x[(t + 5) % (gridDim.x * blockDim.x)])];  // BUG
}

// == status_of_a_tile_ahead_of_its_sum
extern "C" __global__ void status_of_a_tile_ahead_of_its_sum(const int* x, volatile int* status, int* sums, int* y) {
  int b = blockIdx.x, lane = threadIdx.x;
  int sum = __reduce_add_sync(FULL, x[b * 32 + lane]);
  if (lane == 0) {
    status[b] = 1;
    __threadfence();
    sums[b] = sum;  // BUG
    int before = 0;
    for (int k = 0; k < b; ++k) {
      while (status[k] == 0) {}
      __threadfence();
      before += sums[k];  // BUG
    }
    y[b] = before;
  }
}

// == elements_packed_to_the_front_in_place
extern "C" __global__ void elements_packed_to_the_front_in_place(int* x, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 49) {  // BUG
    int v = x[i];  // BUG
    x[atomicAdd(count, 1)] = v;  // BUG
  }
}

// == pairs_of_a_sort_that_share_an_element
extern "C" __global__ void pairs_of_a_sort_that_share_an_element(int* x, int n) {
  int t = threadIdx.x;
  for (int step = 0; step < n; ++step) {
    if (t + 1 < n) {
      int a = x[t], b = x[t + 1];  // BUG
      if (a > b) {
        x[t] = b;  // BUG
        x[t + 1] = a;  // BUG
      }
    }
    __syncthreads();
  }
}

// == reversed_in_place_by_twice_as_many
extern "C" __global__ void reversed_in_place_by_twice_as_many(int* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int a = x[i], b = x[n - 1 - i];  // BUG
    x[i] = b;  // BUG
    x[n - 1 - i] = a;  // BUG
  }
}

// == warp_leader_adds_with_a_plus
extern "C" __global__ void warp_leader_adds_with_a_plus(const int* x, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned odd = __ballot_sync(FULL, i < n && (x[i] & 1));
  if (threadIdx.x % 32 == 0) {
    *total += __popc(odd);  // BUG
  }
}

// == reference_beside_a_plain_look
#include <cuda/atomic>

extern "C" __global__ void reference_beside_a_plain_look(const int* x, int* total, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> sum(*total);
  sum.fetch_add(x[blockIdx.x * blockDim.x + threadIdx.x], cuda::memory_order_relaxed);  // BUG
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = *total;  // BUG
}

// == each_writes_its_place_and_the_next
extern "C" __global__ void each_writes_its_place_and_the_next(const short* x, short* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) {
    y[i] = x[i];  // BUG
    y[i + 1] = x[i] + 1;  // BUG
  }
}

// == both_corners_of_a_matrix_by_both_threads
extern "C" __global__ void both_corners_of_a_matrix_by_both_threads(double* a, int n) {
  int r = threadIdx.y, c = threadIdx.x;
  if (r < n && c < n && r != c) {
    a[r * n + c] = r - 2.0 * c;  // BUG
    a[c * n + r] = r - 2.0 * c;  // BUG
  }
}

// == everybody_who_finds_it_says_yes
extern "C" __global__ void everybody_who_finds_it_says_yes(const int* x, int* found, int key, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] % 4 == key) *found = 1;  // BUG
}

// == every_warp_writes_the_same_scale
extern "C" __global__ void every_warp_writes_the_same_scale(const float* x, float* scale, float* y) {
  __shared__ float factor;
  if (threadIdx.x % 32 == 0) {
    factor = x[0] * 0.25f;  // BUG
  }
  __syncthreads();
  y[threadIdx.x] = x[threadIdx.x] * factor;
}

// == place_of_a_match_by_whoever_is_last
extern "C" __global__ void place_of_a_match_by_whoever_is_last(const int* x, int* where, int key, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] % 4 == key) *where = i;  // BUG
}

// == last_thread_out_adds_what_the_others_left
extern "C" __global__ void last_thread_out_adds_what_the_others_left(const int* x, int* parts, int* users, int* y,
                                                                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  parts[i] = x[i] * x[i];  // BUG
  if (atomicSub(users, 1) == 1) {
    int sum = 0;
    for (int k = 0; k < n; ++k) sum += parts[k];  // BUG
    *y = sum;
  }
}

// == lease_returned_before_the_last_write
#include <cuda/atomic>

struct Lease {
  cuda::atomic_ref<int, cuda::thread_scope_device> word;
  __device__ explicit Lease(int* p) : word(*p) {
    int free = 0;
    while (!word.compare_exchange_weak(free, 1, cuda::memory_order_acquire)) free = 0;
  }
  __device__ void end() { word.store(0, cuda::memory_order_release); }
};

extern "C" __global__ void lease_returned_before_the_last_write(int* lease, int* sum, int* calls) {
  if (threadIdx.x == 0) {
    Lease mine(lease);
    *sum += blockIdx.x + 1;
    mine.end();
    *calls += 1;  // BUG
  }
}

// == lanes_leave_a_loop_that_shuffles
extern "C" __global__ void lanes_leave_a_loop_that_shuffles(const int* x, int* y) {
  int lane = threadIdx.x, sum = 0;
#pragma unroll 1
  for (int k = 0; k < x[lane] % 5; ++k) {
    sum += __shfl_sync(FULL, x[lane] + k, (lane + 1) % 32);  // BUG
  }
  __syncwarp();
  y[lane] = sum;
}

// == equal_keys_of_a_tail_with_a_full_mask
extern "C" __global__ void equal_keys_of_a_tail_with_a_full_mask(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, same = 0;
  if (i < n) {
    same = __popc(__match_any_sync(FULL, x[i]));  // BUG
  }
  y[i] = same;
}

// == halves_with_each_others_masks
extern "C" __global__ void halves_with_each_others_masks(const unsigned* x, unsigned* y) {
  unsigned mask = threadIdx.x % 32 < 16 ? 0xffff0000u : 0x0000ffffu;
  y[threadIdx.x] = __reduce_max_sync(mask, x[threadIdx.x]);  // BUG
}

// == source_lane_behind_the_mask
extern "C" __global__ void source_lane_behind_the_mask(const int* x, int* y) {
  int lane = threadIdx.x, v = x[lane];
  if (lane < 24) {
    v = __shfl_sync(0x00ffffffu, v, lane + 8);  // BUG
  }
  y[lane] = v;
}

// == any_lane_asked_in_a_short_circuit
extern "C" __global__ void any_lane_asked_in_a_short_circuit(const int* x, int* y) {
  int v = x[threadIdx.x];
  bool go = v > 20 && __any_sync(FULL, v > 90);  // BUG
  y[threadIdx.x] = go;
}

// == barrier_behind_a_break_of_some_threads
extern "C" __global__ void barrier_behind_a_break_of_some_threads(const int* x, int* y, int rounds) {
  __shared__ int s[73];
  int t = threadIdx.x, sum = 0;
  s[t] = x[t];
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    if (s[(t + r) % 73] < 30) break;
    sum += s[(t + r) % 73];
    __syncthreads();  // BUG
  }
  __syncthreads();  // BUG
  y[t] = sum + s[0];
}

// == vote_of_the_block_in_a_short_circuit
extern "C" __global__ void vote_of_the_block_in_a_short_circuit(const int* x, int* y) {
  int v = x[threadIdx.x];
  y[threadIdx.x] = v > 40 && __syncthreads_or(v > 97);  // BUG
  __syncthreads();  // BUG
  y[threadIdx.x] += y[(threadIdx.x + 1) % blockDim.x] & 0;
}

// == named_barrier_for_a_warp_and_a_half
extern "C" __global__ void named_barrier_for_a_warp_and_a_half(const int* x, int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  BAR_SYNC(2, 48);  // BUG
  y[threadIdx.x] = s[63 - threadIdx.x];
}

// == named_barrier_that_waits_for_a_third_warp
extern "C" __global__ void named_barrier_that_waits_for_a_third_warp(const int* x, int* y) {
  __shared__ int s[32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0) {
    s[lane] = x[lane];
    BAR_ARRIVE(3, 96);
  } else {
    BAR_SYNC(3, 96);  // BUG
    y[lane] = s[lane];
  }
}

// == named_barriers_without_the_way_back
extern "C" __global__ void named_barriers_without_the_way_back(const int* x, int* y, int rounds) {
  __shared__ int s[32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int r = 0; r < rounds; ++r) {
    if (warp == 0) {
      s[lane] = x[r * 32 + lane];  // BUG
      BAR_ARRIVE(1, 64);
    } else {
      BAR_SYNC(1, 64);
      y[r * 32 + lane] = s[31 - lane];  // BUG
    }
  }
}

// == pipeline_waits_for_all_but_the_newest
#include <cuda_pipeline.h>

extern "C" __global__ void pipeline_waits_for_all_but_the_newest(const float* x, float* y, int tiles) {
  __shared__ float s[2][64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[0][t], &x[t], 4);
  __pipeline_commit();
  for (int k = 0; k < tiles; ++k) {
    if (k + 1 < tiles) {
      __pipeline_memcpy_async(&s[(k + 1) % 2][t], &x[(k + 1) * 64 + t], 4);  // BUG
      __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    y[k * 64 + t] = s[k % 2][63 - t];  // BUG
    __syncthreads();
  }
}

// == bytes_of_one_row_too_many_expected
extern "C" __global__ void bytes_of_one_row_too_many_expected(const float* x, float* y, int rows) {
  __shared__ alignas(16) float tile[5][24];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) MBAR_INIT(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    MBAR_EXPECT(&bar, (rows + 1) * 96);
    for (int r = 0; r < rows; ++r) BULK_LOAD(tile[r], x + r * 24, 96, &bar);
  }
  MBAR_WAIT(&bar, 0);  // BUG
  for (int i = threadIdx.x; i < rows * 24; i += blockDim.x) y[i] = tile[i / 24][i % 24];
}

// == bulk_copy_of_thirteen_floats
extern "C" __global__ void bulk_copy_of_thirteen_floats(const float* x, float* y) {
  __shared__ alignas(16) float tile[16];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    MBAR_INIT(&bar, 1);
    MBAR_EXPECT(&bar, 52);
    BULK_LOAD(tile, x, 52, &bar);  // BUG
  }
  __syncthreads();
  MBAR_WAIT(&bar, 0);
  if (threadIdx.x < 13) y[threadIdx.x] = tile[threadIdx.x];
}

// == barrier_wiped_with_the_scratch_in_front_of_it
struct Stage {
  float data[28];
  unsigned long long bar;
};

extern "C" __global__ void barrier_wiped_with_the_scratch_in_front_of_it(const float* x, float* y) {
  __shared__ Stage stage;
  int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&stage.bar, blockDim.x);
  __syncthreads();
  float* words = reinterpret_cast<float*>(&stage);
  if (t < sizeof(Stage) / 4) words[t] = 0;  // BUG
  __syncthreads();
  if (t < 28) stage.data[t] = x[t];
  MBAR_ARRIVE(&stage.bar);  // BUG
  MBAR_WAIT(&stage.bar, 0);  // BUG
  if (t < 28) y[t] = stage.data[27 - t];
}

// == parity_of_the_first_tile_for_the_second
extern "C" __global__ void parity_of_the_first_tile_for_the_second(const float* x, float* y, int tiles) {
  __shared__ alignas(16) float tile[40];
  __shared__ unsigned long long bar;
  int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&bar, 1);
  __syncthreads();
  for (int k = 0; k < tiles; ++k) {
    if (t == 0) {
      MBAR_EXPECT(&bar, 160);
      BULK_LOAD(tile, x + k * 40, 160, &bar);  // BUG
    }
    MBAR_WAIT(&bar, 0);
    for (int i = t; i < 40; i += blockDim.x) y[k * 40 + i] = tile[39 - i];  // BUG
    __syncthreads();
  }
}

// == source_changed_while_a_bulk_copy_reads_it
extern "C" __global__ void source_changed_while_a_bulk_copy_reads_it(float* x, float* y) {
  __shared__ alignas(16) float tile[64];
  __shared__ unsigned long long bar;
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&bar, 1);
    MBAR_EXPECT(&bar, 256);
    BULK_LOAD(tile, x, 256, &bar);  // BUG
  }
  __syncthreads();
  x[t] = 0;  // BUG
  MBAR_WAIT(&bar, 0);
  y[t] = tile[t];
}

// == stored_in_bulk_without_a_fence_between_proxies
extern "C" __global__ void stored_in_bulk_without_a_fence_between_proxies(const float* x, float* y) {
  __shared__ alignas(16) float tile[96];
  tile[threadIdx.x] = x[threadIdx.x] * 2;  // BUG
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(y, tile, 384);  // BUG
    BULK_COMMIT;
    BULK_WAIT_READ;
  }
}

// == token_of_a_barrier_thrown_away
#include <cuda/barrier>

extern "C" __global__ void token_of_a_barrier_thrown_away(const int* x, int* y) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(8) unsigned char memory[sizeof(Barrier)];
  __shared__ int s[128];
  Barrier* bar = reinterpret_cast<Barrier*>(memory);
  int t = threadIdx.x;
  if (t == 0) init(bar, blockDim.x);
  __syncthreads();
  s[t] = x[t];  // BUG
  (void)bar->arrive();
  y[t] = s[127 - t];  // BUG
}

// == peer_of_a_cluster_beyond_its_end
#include <cooperative_groups.h>

extern "C" __global__ void __cluster_dims__(2) peer_of_a_cluster_beyond_its_end(const int* x, int* y) {
  auto cluster = cooperative_groups::this_cluster();
  __shared__ int s[32];
  s[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  cluster.sync();
  int* peer = cluster.map_shared_rank(s, cluster.block_rank() + 1);
  y[blockIdx.x * 32 + threadIdx.x] = peer[threadIdx.x];  // BUG
  cluster.sync();
}

// == bins_of_the_first_block_raised_by_all
#include <cooperative_groups.h>

extern "C" __global__ void __cluster_dims__(3) bins_of_the_first_block_raised_by_all(const int* x, int* y) {
  auto cluster = cooperative_groups::this_cluster();
  __shared__ int bins[7];
  if (threadIdx.x < 7) bins[threadIdx.x] = 0;
  cluster.sync();
  int* first = cluster.map_shared_rank(bins, 0);
  first[x[blockIdx.x * blockDim.x + threadIdx.x] % 7] += 1;  // BUG
  cluster.sync();
  if (blockIdx.x == 0 && threadIdx.x < 7) y[threadIdx.x] = bins[threadIdx.x];
}

// == block_leaves_while_its_peer_reads
#include <cooperative_groups.h>

extern "C" __global__ void __cluster_dims__(2) block_leaves_while_its_peer_reads(const int* x, int* y) {
  auto cluster = cooperative_groups::this_cluster();
  __shared__ int s[64];
  s[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  cluster.sync();
  if (cluster.block_rank() == 0) y[threadIdx.x] = cluster.map_shared_rank(s, 1)[63 - threadIdx.x];  // BUG
}

// == periodic_border_with_a_negative_remainder
extern "C" __global__ void periodic_border_with_a_negative_remainder(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[(i - 1) % n] + x[(i + 1) % n];  // BUG
}

// == index_in_sixteen_bits
extern "C" __global__ void index_in_sixteen_bits(const unsigned char* x, int* y, int stride) {
  short at = threadIdx.x * stride;
  y[threadIdx.x] = x[at];  // BUG
}

// == countdown_of_an_unsigned_below_zero
extern "C" __global__ void countdown_of_an_unsigned_below_zero(const int* x, int* y, unsigned n) {
  int seen = 0;
  for (unsigned i = n - 1 - threadIdx.x; i < 0xfffffff0u; i -= blockDim.x) {
    seen += x[i - 5];  // BUG
  }
  y[threadIdx.x] = seen;
}

// == tile_of_rows_read_one_row_lower
extern "C" __global__ void tile_of_rows_read_one_row_lower(const int* x, int* y) {
  __shared__ int tile[6][9];
  __shared__ int other[9];
  int t = threadIdx.x;
  if (t < 54) tile[t / 9][t % 9] = x[t];
  if (t < 9) other[t] = 1000 + t;
  __syncthreads();
  if (t < 54) y[t] = tile[t / 9][t % 9] + (&tile[0][0])[t + 9] + other[t % 9];  // BUG
}

// == digit_of_a_system_with_twelve
extern "C" __global__ void digit_of_a_system_with_twelve(const int* x, int* y, int n) {
  int counts[10];
  for (int d = 0; d < 10; ++d) counts[d] = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    counts[x[i] % 12]++;  // BUG
  }
  for (int d = 0; d < 10; ++d) y[threadIdx.x * 10 + d] = counts[d];
}

// == optional_bias_that_was_not_given
template <class T>
struct Epilogue {
  const T* bias;
  T slope;
  __device__ T operator()(T v, int column) const {
    v += bias[column];  // BUG
    return v > T(0) ? v : v * slope;
  }
};

extern "C" __global__ void optional_bias_that_was_not_given(const float* x, float* y, const float* bias, int cols) {
  Epilogue<float> epilogue{bias, 0.1f};
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[c] = epilogue(x[c], c);
}

// == missing_neighbour_marked_by_minus_one
extern "C" __global__ void missing_neighbour_marked_by_minus_one(const float* x, const int* neighbours, float* y,
                                                                 int n, int each) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float sum = 0;
    for (int k = 0; k < each; ++k) sum += x[neighbours[i * each + k]];  // BUG
    y[i] = sum / each;
  }
}

// == bin_of_the_greatest_value
extern "C" __global__ void bin_of_the_greatest_value(const float* x, unsigned* bins, int n, int count, float top) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    atomicAdd(&bins[(int)(x[i] / top * count)], 1u);  // BUG
  }
}

// == field_of_a_struct_that_has_three
struct Planes {
  float* base;
  int n;
  __device__ float& at(int plane, int i) const { return base[plane * n + i]; }
};

extern "C" __global__ void field_of_a_struct_that_has_three(float* planes, int n) {
  Planes p{planes, n};
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float length = p.at(0, i) * p.at(0, i) + p.at(1, i) * p.at(1, i) + p.at(2, i) * p.at(2, i);
    planes[3 * n + i] = length;  // BUG
  }
}

// == halves_in_pairs_of_an_odd_row
#include <cuda_fp16.h>

extern "C" __global__ void halves_in_pairs_of_an_odd_row(const __half* x, float* y, int rows, int cols) {
  int r = threadIdx.x;
  if (r < rows) {
    const __half2* row = reinterpret_cast<const __half2*>(x + r * cols);
    float sum = 0;
    for (int c = 0; c < cols / 2; ++c) sum += __low2float(row[c]) + __high2float(row[c]);  // BUG
    y[r] = sum;
  }
}

// == double_behind_a_header_of_four_bytes
template <class To>
__device__ To read(const unsigned char* from, int offset) {
  return *reinterpret_cast<const To*>(from + offset);  // BUG
}

extern "C" __global__ void double_behind_a_header_of_four_bytes(const unsigned char* packet, double* y) {
  int version = read<int>(packet, 0);
  y[threadIdx.x] = version + read<double>(packet, 4 + 8 * threadIdx.x);  // BUG
}

// == wide_swap_at_an_odd_word
extern "C" __global__ void wide_swap_at_an_odd_word(unsigned* words) {
  unsigned long long* pair = reinterpret_cast<unsigned long long*>(words + threadIdx.x * 3);
  atomicAdd(pair, 1ull);  // BUG
}

// == smallest_of_the_block_without_a_start
extern "C" __global__ void smallest_of_the_block_without_a_start(const int* x, int* y, int n) {
  __shared__ int least;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    atomicMin(&least, x[i]);  // BUG
  }
  __syncthreads();
  if (threadIdx.x == 0) y[0] = least;  // BUG
}

// == tail_of_a_tile_that_nobody_fills
template <int Size>
struct Tile {
  float data[Size];
  __device__ void load(const float* x, int from, int n) {
    int t = threadIdx.x;
    if (from + t < n) data[t] = x[from + t];
  }
};

extern "C" __global__ void tail_of_a_tile_that_nobody_fills(const float* x, float* y, int n) {
  __shared__ Tile<64> tile;
  tile.load(x, blockIdx.x * 64, n);
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 64; ++k) {
    sum += tile.data[k];  // BUG
  }
  y[blockIdx.x * 64 + threadIdx.x] = sum;
}

// == column_of_padding_added_to_the_row
extern "C" __global__ void column_of_padding_added_to_the_row(const int* x, int* y) {
  __shared__ int tile[32][33];
  for (int r = 0; r < 32; ++r) tile[r][threadIdx.x] = x[r * 32 + threadIdx.x];
  __syncthreads();
  int sum = 0;
  for (int c = 0; c < 33; ++c) {
    sum += tile[threadIdx.x][c];  // BUG
  }
  y[threadIdx.x] = sum;
}

// == list_of_the_best_shorter_than_asked
extern "C" __global__ void list_of_the_best_shorter_than_asked(const int* x, int* y, int n, int want) {
  int best[8], count = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    if (x[i] > 60 && count < 8) best[count++] = x[i];
  }
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < want; ++k) {
    sum += best[k];  // BUG
  }
  y[threadIdx.x] = sum;  // BUG
}

// == moved_under_a_predicate_alone
extern "C" __global__ void moved_under_a_predicate_alone(const int* x, int* y) {
  int v;
  asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 50; @p mov.s32 %0, %1; }" : "=r"(v) : "r"(x[threadIdx.x]));  // BUG
  y[threadIdx.x] = v;  // BUG
}

// == steps_to_one_from_nothing
extern "C" __global__ void steps_to_one_from_nothing(const unsigned* x, int* y) {
  unsigned v = x[threadIdx.x];
  int steps = 0;
  while (v != 1) {  // BUG
    v = v % 2 ? 3 * v + 1 : v / 2;  // BUG
    ++steps;  // BUG
  }  // BUG
  y[threadIdx.x] = steps;
}

// == count_of_warps_of_which_one_has_gone
extern "C" __global__ void count_of_warps_of_which_one_has_gone(const int* x, int* y, int n) {
  __shared__ int done;
  if (threadIdx.x == 0) done = 0;
  __syncthreads();
  if (threadIdx.x / 32 * 32 >= n) return;
  y[threadIdx.x] = x[threadIdx.x];
  __syncwarp();
  if (threadIdx.x % 32 == 0) {
    __threadfence_block();
    atomicAdd(&done, 1);
    while (atomicAdd(&done, 0) < blockDim.x / 32) {  // BUG
    }
  }
}

// == two_accounts_locked_in_both_orders
extern "C" __global__ void two_accounts_locked_in_both_orders(int* locks, int* holding, int* accounts) {
  int mine = blockIdx.x, other = 1 - mine;
  while (atomicCAS(&locks[mine], 0, 1) != 0) {
  }
  atomicAdd(holding, 1);
  while (atomicAdd(holding, 0) < 2) {
  }
  while (atomicCAS(&locks[other], 0, 1) != 0) {  // BUG
  }
  __threadfence();
  accounts[mine] += 1;
  accounts[other] -= 1;
  __threadfence();
  atomicExch(&locks[other], 0);
  atomicExch(&locks[mine], 0);
}

// == permit_given_to_the_wrong_stage
extern "C" __global__ void permit_given_to_the_wrong_stage(const int* x, int* y, int rounds) {
  __shared__ int slot[2][32];
  __shared__ unsigned long long full[2], empty[2];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) {
      MBAR_INIT(&full[s], 32);
      MBAR_INIT(&empty[s], 32);
    }
  }
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    int s = r % 2, phase = r / 2 % 2;
    if (warp == 0) {
      MBAR_WAIT(&empty[s], phase ^ 1);  // BUG
      slot[s][lane] = x[r * 32 + lane];
      MBAR_ARRIVE(&full[s]);
    } else {
      MBAR_WAIT(&full[s], phase);  // BUG
      y[r * 32 + lane] = slot[s][31 - lane];
      MBAR_ARRIVE(&empty[0]);
    }
  }
}

// == drain_of_a_buffer_that_is_filled_again
extern "C" __global__ void drain_of_a_buffer_that_is_filled_again(const int* x, int* spill, int* level, int* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int at = atomicAdd(level, 1) % 16;
    spill[at] = x[i];  // BUG
    if (at == 15) {
      int sum = 0;
      for (int k = 0; k < 16; ++k) sum += spill[k];  // BUG
      atomicAdd(y, sum);
    }
  }
}

// == value_computed_by_one_lane_and_its_copy_stored
extern "C" __global__ void value_computed_by_one_lane_and_its_copy_stored(const int* x, int* y) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  __shared__ int base[5];
  if (threadIdx.x < 5) base[threadIdx.x] = 0;
  __syncthreads();
  if (lane == 0) base[warp] = x[warp];  // BUG
  y[threadIdx.x] = x[threadIdx.x] - base[warp];  // BUG
}
