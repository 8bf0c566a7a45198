// Kernels that look suspicious and are correct: searches, fragments, tensor maps, tagged words, scopes, hand-overs.
#include <cuda.h>
#include "asm.cuh"

// == upper_bound_with_a_test
__device__ int upper_bound(const int* keys, int n, int key) {
  int low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (keys[middle] <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}
extern "C" __global__ void upper_bound_with_a_test(const int* keys, const int* queries, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, at = upper_bound(keys, n, queries[i]);
  y[i] = at < n ? keys[at] : -1;
}

// == left_neighbour_that_wraps_unused
extern "C" __global__ void left_neighbour_that_wraps_unused(const int* x, int* y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned left = i - 1;
  y[i] = x[i] - (left < n ? x[left] : 0);
}

// == merge_path_with_both_limits
extern "C" __global__ void merge_path_with_both_limits(const int* a, const int* b, int* y, int na, int nb) {
  int diagonal = blockIdx.x * blockDim.x + threadIdx.x;
  if (diagonal >= na + nb) return;
  int low = max(0, diagonal - nb), high = min(diagonal, na);
  while (low < high) {
    int middle = (low + high) / 2;
    if (a[middle] <= b[diagonal - 1 - middle]) low = middle + 1;
    else high = middle;
  }
  int from_b = diagonal - low;
  y[diagonal] = from_b >= nb || (low < na && a[low] <= b[from_b]) ? a[low] : b[from_b];
}

// == vectors_rounded_up_where_there_is_room
extern "C" __global__ void vectors_rounded_up_where_there_is_room(const int* x, int* y, int n) {
  size_t begin = reinterpret_cast<size_t>(x), end = (reinterpret_cast<size_t>(x + n) + 15) & ~size_t(15);
  int sum = 0;
  for (size_t p = begin + 16 * threadIdx.x; p < end; p += 16 * blockDim.x) {
    int4 v = *reinterpret_cast<const int4*>(p);
    int at = (p - begin) / 4;
    sum += v.x + (at + 1 < n ? v.y : 0) + (at + 2 < n ? v.z : 0) + (at + 3 < n ? v.w : 0);
  }
  atomicAdd(y, sum);
}

// == fragments_of_a_matrix_of_32_rows
extern "C" __global__ void fragments_of_a_matrix_of_32_rows(const short* a, const short* b, float* c) {
  unsigned left[8], right[8];
  float sum[8] = {};
  int row = blockIdx.x * 16;
  for (int k = 0; k < 32; k += 16) {
    FRAGMENT_LOAD("a", "row", left, a + row * 32 + k, 32);
    FRAGMENT_LOAD("b", "col", right, b + k, 32);
    FRAGMENT_PRODUCT(sum, left, right);
  }
  FRAGMENT_STORE(c + row * 16, sum, 16);
}

// == fragment_by_one_of_three_warps
extern "C" __global__ void fragment_by_one_of_three_warps(const short* a, const short* b, float* c) {
  __shared__ alignas(32) float tile[256];
  int warp = threadIdx.x / 32;
  if (warp == 1) {
    unsigned left[8], right[8];
    float sum[8] = {};
    FRAGMENT_LOAD("a", "row", left, a, 16);
    FRAGMENT_LOAD("b", "col", right, b, 16);
    FRAGMENT_PRODUCT(sum, left, right);
    FRAGMENT_STORE(tile, sum, 16);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) c[i] = tile[i % 16 * 16 + i / 16];
}

// == share_of_each_warp_cut_at_the_end
extern "C" __global__ void share_of_each_warp_cut_at_the_end(const int* x, int* y, int n) {
  int warps = (blockDim.x + 31) / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int share = (n + warps - 1) / warps, begin = warp * share, end = min(begin + share, n), most = 0;
  for (int i = begin + lane; i < end; i += 32) most = max(most, x[i]);
  most = __reduce_max_sync(FULL, most);
  if (lane == 0) y[warp] = most;
}

// == end_mark_of_a_byte_that_is_compared_as_one
extern "C" __global__ void end_mark_of_a_byte_that_is_compared_as_one(const unsigned char* next, const int* values,
                                                                      int* y) {
  int i = threadIdx.x, sum = 0;
  for (unsigned char node = i; node != 255; node = next[node]) sum += values[node];
  y[i] = sum;
}

// == next_tile_prefetched_while_there_is_one
extern "C" __global__ void next_tile_prefetched_while_there_is_one(const int* x, int* y, int n) {
  __shared__ int tile[48];
  int t = threadIdx.x, next = x[t], sum = 0;
  for (int base = 0; base < n; base += blockDim.x) {
    tile[t] = next;
    __syncthreads();
    if (base + blockDim.x < n) next = x[base + blockDim.x + t];
    sum += tile[47 - t];
    __syncthreads();
  }
  y[t] = sum;
}

// == last_element_by_a_decrement_first
extern "C" __global__ void last_element_by_a_decrement_first(const int* offsets, const int* x, int* y) {
  const int *begin = x + offsets[threadIdx.x], *end = x + offsets[threadIdx.x + 1];
  int value = 0;
  for (const int* p = end; p != begin;) value = value * 3 + *--p;
  y[threadIdx.x] = value;
}

// == address_of_shared_memory_made_again
extern "C" __global__ void address_of_shared_memory_made_again(const int* x, int* y) {
  __shared__ int s[80];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  unsigned address = SMEM(s) + 4 * (79 - t);
  y[t] = *static_cast<const int*>(__cvta_shared_to_generic(address));
}

// == matrices_of_sixteen_rows_of_sixteen
extern "C" __global__ void matrices_of_sixteen_rows_of_sixteen(const unsigned* x, unsigned* y) {
  __shared__ alignas(16) unsigned short tile[16][16];
  int lane = threadIdx.x;
  for (int i = lane; i < 128; i += 32) reinterpret_cast<unsigned*>(tile)[i] = x[i];
  __syncwarp();
  unsigned r[4], at = SMEM(&tile[lane % 16][lane / 16 * 8]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
  __syncwarp();
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
               ::"r"(at), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
  __syncwarp();
  for (int i = lane; i < 128; i += 32) y[i] = reinterpret_cast<unsigned*>(tile)[i];
}

// == ring_that_wraps_at_its_room
template <typename T, int ROOM>
struct Ring {
  T items[ROOM];
  int tail;
  __device__ void push(T item) {
    items[tail] = item;
    if (++tail == ROOM) tail = 0;
  }
};
extern "C" __global__ void ring_that_wraps_at_its_room(const int* x, int* y, int n) {
  __shared__ Ring<int, 12> rings[3];
  int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 31) {
    Ring<int, 12>& ring = rings[warp];
    ring.tail = 0;
    for (int i = 0; i < n; ++i) ring.push(x[i] + warp);
    for (int i = 0; i < 12; ++i) y[warp * 12 + i] = ring.items[i];
  }
}

// == place_for_a_vote_of_all
extern "C" __global__ void place_for_a_vote_of_all(const int* x, int* y) {
  __shared__ int order[81];
  int t = threadIdx.x;
  order[t] = x[t];
  int above = __syncthreads_count(x[t] >= 0);
  if (t == 7) order[above] = -1;
  __syncthreads();
  y[t] = order[t + 1];
}

// == four_floats_added_by_three_blocks
extern "C" __global__ void four_floats_added_by_three_blocks(const float4* x, float4* sums) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&sums[i % 5], x[i]);
}

// == marked_pointer_without_its_mark
struct Link {
  size_t next;
  int key, value;
};
extern "C" __global__ void marked_pointer_without_its_mark(Link* links, const int* removed, int* y, int n) {
  int i = threadIdx.x;
  links[i].next = i + 1 < n ? reinterpret_cast<size_t>(&links[i + 1]) | (removed[i] & 1) : 0;
  links[i].key = i;
  __syncthreads();
  const Link* next = reinterpret_cast<const Link*>(links[i].next & ~size_t(1));
  y[i] = next ? next->key : -1;
}

// == tensor_tile_awaited_by_all
extern "C" __global__ void tensor_tile_awaited_by_all(const __grid_constant__ CUtensorMap map, float* y) {
  __shared__ alignas(128) float tile[2][8][16];
  __shared__ unsigned long long full;
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&full, 1);
    MBAR_EXPECT(&full, 1024);
    TILE_LOAD(tile[0], map, 0, 0, &full);
    TILE_LOAD(tile[1], map, 0, 8, &full);
  }
  __syncthreads();
  MBAR_WAIT(&full, 0);
  for (int i = t; i < 256; i += blockDim.x) y[i] = tile[i / 128][i / 16 % 8][15 - i % 16];
}

// == clipped_box_counts_as_a_whole_one
extern "C" __global__ void clipped_box_counts_as_a_whole_one(const __grid_constant__ CUtensorMap map, float* y,
                                                             int rows) {
  __shared__ alignas(128) float tile[8][16];
  __shared__ unsigned long long full;
  int t = threadIdx.x, first = blockIdx.x * 8;
  if (t == 0) {
    MBAR_INIT(&full, 1);
    MBAR_EXPECT(&full, int(sizeof(tile)));
    TILE_LOAD(tile, map, 0, first, &full);
  }
  __syncthreads();
  MBAR_WAIT(&full, 0);
  float sum = 0;
  for (int r = 0; r < 8; ++r) sum += tile[r][t % 16];
  if (t < 16) y[blockIdx.x * 16 + t] = sum;
}

// == tensor_tiles_stored_in_turn
extern "C" __global__ void tensor_tiles_stored_in_turn(const __grid_constant__ CUtensorMap map, const float* x,
                                                       int tiles) {
  __shared__ alignas(128) float tile[8][16];
  int t = threadIdx.x;
  for (int k = 0; k < tiles; ++k) {
    for (int i = t; i < 128; i += blockDim.x) tile[i / 16][i % 16] = x[k * 128 + i] + 1;
    PROXY_FENCE;
    __syncthreads();
    if (t == 0) {
      TILE_STORE(map, 0, k * 8, tile);
      BULK_COMMIT;
      BULK_WAIT_READ;
    }
    __syncthreads();
  }
}

// == total_of_the_last_lane_that_is_there
extern "C" __global__ void total_of_the_last_lane_that_is_there(const int* x, int* y) {
  __shared__ int totals[3];
  int t = threadIdx.x, lane = t % 32, v = x[t];
  unsigned mask = t < 64 ? FULL : 0xffff;
  for (int o = 1; o < 32; o *= 2) {
    int other = __shfl_up_sync(mask, v, o);
    if (lane >= o) v += other;
  }
  if (lane == 31 || t == blockDim.x - 1) totals[t / 32] = v;
  __syncthreads();
  for (int w = 0; w < t / 32; ++w) v += totals[w];
  y[t] = v;
}

// == members_copied_without_the_padding
struct Entry {
  char kind;
  int key;
};
extern "C" __global__ void members_copied_without_the_padding(const int* x, int* y) {
  __shared__ Entry entries[50];
  int t = threadIdx.x;
  entries[t].kind = x[t] % 7;
  entries[t].key = x[t];
  __syncthreads();
  Entry other = entries[49 - t];
  y[t] = other.key * 10 + other.kind;
}

// == padding_copied_and_not_looked_at
struct alignas(16) Wide {
  int key;
  double value;
};
extern "C" __global__ void padding_copied_and_not_looked_at(const int* x, double* y) {
  __shared__ int4 words[40];
  Wide mine;
  int t = threadIdx.x;
  mine.key = x[t];
  mine.value = 0.5 * t;
  *reinterpret_cast<Wide*>(&words[t]) = mine;
  __syncthreads();
  Wide other = *reinterpret_cast<const Wide*>(&words[39 - t]);
  y[t] = other.key + other.value;
}

// == halves_of_packed_words_by_two_warps
extern "C" __global__ void halves_of_packed_words_by_two_warps(const short* x, int* y) {
  __shared__ alignas(4) short pairs[32][2];
  int t = threadIdx.x;
  pairs[t % 32][t / 32] = x[t];
  __syncthreads();
  y[t] = reinterpret_cast<const int*>(pairs)[31 - t % 32];
}

// == value_read_as_what_was_put
struct Value {
  int kind, unused;
  union {
    float f;
    double d;
  };
};
extern "C" __global__ void value_read_as_what_was_put(const int* x, double* y) {
  Value stack[6];
  int i = threadIdx.x;
  for (int k = 0; k < 6; ++k) {
    stack[k].kind = x[i] >> k & 1;
    if (stack[k].kind) stack[k].d = k;
    else stack[k].f = 10 * k;
  }
  double sum = 0;
#pragma unroll 1
  for (int k = x[i] % 3; k < 6; ++k) sum += stack[k].kind ? stack[k].d : stack[k].f;
  y[i] = sum;
}

// == digits_as_many_as_there_are
extern "C" __global__ void digits_as_many_as_there_are(const unsigned* x, int* y) {
  unsigned char digits[10];
  unsigned v = x[threadIdx.x];
  int count = 0, sum = 0;
  do {
    digits[count++] = v % 10;
    v /= 10;
  } while (v);
  while (count) sum = 3 * sum + digits[--count];
  y[threadIdx.x] = sum;
}

// == warp_meets_after_the_loads_and_after_the_stores
extern "C" __global__ void warp_meets_after_the_loads_and_after_the_stores(const int* x, int* y) {
  __shared__ int s[4][32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  s[warp][lane] = x[threadIdx.x];
  __syncwarp();
  for (int o = 1; o < 32; o *= 2) {
    int v = s[warp][lane] + s[warp][(lane + o) % 32];
    __syncwarp();
    s[warp][lane] = v;
    __syncwarp();
  }
  if (lane == 9) y[warp] = s[warp][20];
}

// == rows_of_24_threads_meet_as_a_block
extern "C" __global__ void rows_of_24_threads_meet_as_a_block(const float* x, float* y) {
  __shared__ float rows[6][24];
  int c = threadIdx.x, r = threadIdx.y;
  rows[r][c] = x[r * 24 + c];
  __syncthreads();
  y[r * 24 + c] = rows[r][23 - c];
}

// == warp_barrier_for_a_block_of_one_warp
template <int BLOCK>
__device__ void meet() {
  if constexpr (BLOCK <= 32) __syncwarp();
  else __syncthreads();
}
template <int BLOCK>
__device__ int reversed(int v) {
  __shared__ int s[BLOCK];
  s[threadIdx.x] = v;
  meet<BLOCK>();
  v = s[BLOCK - 1 - threadIdx.x];
  meet<BLOCK>();
  return v;
}
extern "C" __global__ void warp_barrier_for_a_block_of_one_warp(const int* x, int* y) {
  y[threadIdx.x] = reversed<20>(x[threadIdx.x]) - reversed<20>(2 * x[threadIdx.x]);
}

// == matrix_loaded_between_two_barriers
extern "C" __global__ void matrix_loaded_between_two_barriers(const unsigned* x, unsigned* y, int tiles) {
  __shared__ alignas(16) unsigned tile[8][4];
  int t = threadIdx.x, lane = t % 32;
  unsigned sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (t >= 32) tile[lane / 4][lane % 4] = x[i * 32 + lane];
    __syncthreads();
    unsigned v, at = SMEM(tile[lane % 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(v) : "r"(at) : "memory");
    __syncthreads();
    sum += v;
  }
  y[t] = sum;
}

// == record_copied_whole_by_its_writer
struct alignas(8) Cell {
  int key;
  short seen, spare;
};
extern "C" __global__ void record_copied_whole_by_its_writer(const int* x, Cell* out) {
  __shared__ Cell cells[66];
  int t = threadIdx.x;
  cells[t] = Cell{x[t], 0, 0};
  __syncthreads();
  if (x[t] % 2) cells[(t + 1) % 66].seen = 1;
  cells[t].key += 3;
  __syncthreads();
  out[t] = cells[t];
}

// == vote_and_then_a_warp_barrier
extern "C" __global__ void vote_and_then_a_warp_barrier(const int* x, int* y) {
  __shared__ int lowest[2];
  int t = threadIdx.x, lane = t % 32;
  if (lane == 7) lowest[t / 32] = x[t];
  bool any = __any_sync(FULL, x[t] > 50);
  __syncwarp();
  y[t] = any ? lowest[t / 32] : 0;
}

// == window_slid_through_registers
extern "C" __global__ void window_slid_through_registers(const int* x, int* y) {
  __shared__ int window[144];
  int t = threadIdx.x, kept[3];
  for (int k = 0; k < 3; ++k) window[t + 48 * k] = x[t + 48 * k];
  __syncthreads();
  for (int k = 0; k < 3; ++k) kept[k] = window[(t + 48 * k + 16) % 144];
  __syncthreads();
  for (int k = 0; k < 3; ++k) window[t + 48 * k] = kept[k];
  __syncthreads();
  for (int k = 0; k < 3; ++k) y[143 - t - 48 * k] = window[143 - t - 48 * k];
}

// == rest_counted_by_each_for_itself
extern "C" __global__ void rest_counted_by_each_for_itself(const int* x, int* y, int n) {
  __shared__ int shared_rest;
  int t = threadIdx.x, sum = 0;
  if (t == 0) shared_rest = n;
  __syncthreads();
  while (true) {
    int rest = shared_rest;
    __syncthreads();
    if (rest <= 0) break;
    sum += x[(n - rest + t) % n];
    if (t == 95) shared_rest -= 96;
    __syncthreads();
  }
  y[t] = sum;
}

// == base_read_before_the_barrier_and_moved_behind_it
extern "C" __global__ void base_read_before_the_barrier_and_moved_behind_it(const int* x, int* y, int n) {
  __shared__ int counts[3], base;
  int t = threadIdx.x, warp = t / 32, lane = t % 32;
  if (t == 0) base = 0;
  for (int first = 0; first < n; first += 96) {
    bool keep = first + t < n && x[first + t] % 3;
    unsigned votes = __ballot_sync(FULL, keep);
    if (lane == 0) counts[warp] = __popc(votes);
    __syncthreads();
    int at = base + __popc(votes & ((1u << lane) - 1));
    for (int w = 0; w < warp; ++w) at += counts[w];
    if (keep) y[at] = x[first + t];
    __syncthreads();
    if (t == 95) base = at + keep;
  }
}

// == two_halves_added_and_read_whole_behind_a_barrier
extern "C" __global__ void two_halves_added_and_read_whole_behind_a_barrier(const int* x, unsigned long long* y) {
  __shared__ unsigned long long sums[3];
  int t = threadIdx.x;
  if (t < 3) sums[t] = 0;
  __syncthreads();
  atomicAdd(reinterpret_cast<unsigned*>(&sums[t % 3]) + x[t] % 2, x[t]);
  __syncthreads();
  if (t < 3) y[t] = sums[t];
}

// == nearest_in_one_word_read_by_the_last_block
extern "C" __global__ void nearest_in_one_word_read_by_the_last_block(const float* x, unsigned long long* best,
                                                                      unsigned* arrived, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMin(best, static_cast<unsigned long long>(__float_as_uint(fabsf(x[i]))) << 32 | i);
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    bool last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
    if (last) *y = reinterpret_cast<const int*>(best)[0];
  }
}

// == cached_load_behind_a_grid_barrier
#include <cooperative_groups.h>
extern "C" __global__ void cached_load_behind_a_grid_barrier(const int* x, int* middle, int* y) {
  auto grid = cooperative_groups::this_grid();
  int i = grid.thread_rank(), n = grid.num_threads();
  __stcg(&middle[i], 2 * x[i]);
  grid.sync();
  y[i] = __ldcg(&middle[n - 1 - i]) + __ldg(&x[i]);
}

// == barrier_of_a_block_of_48_orders_global_memory
extern "C" __global__ void barrier_of_a_block_of_48_orders_global_memory(const int* x, int* scratch, int* y) {
  int t = threadIdx.x, *mine = scratch + blockIdx.x * 48;
  mine[t] = x[blockIdx.x * 48 + t];
  __syncthreads();
  y[blockIdx.x * 48 + t] = mine[47 - t];
}

// == own_data_loaded_before_the_flag_is_seen
__device__ int load_acquire(const int* p) {
  int v;
  asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ void store_release(int* p, int v) {
  asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
extern "C" __global__ void own_data_loaded_before_the_flag_is_seen(const int* x, int* data, int* flag, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = 5 * x[t];
    __syncthreads();
    if (t == 0) store_release(flag, 1);
    return;
  }
  int own = data[40 + t];
  while (load_acquire(flag) == 0) {}
  y[t] = own + data[39 - t];
}

// == pop_with_an_acquire
#include <cuda/atomic>
using Top = cuda::atomic_ref<int, cuda::thread_scope_device>;
extern "C" __global__ void pop_with_an_acquire(int* top, int* next, int* values, int* y) {
  Top head(*top);
  if (blockIdx.x == 0) {
    for (int node = 1; node <= 4; ++node) {
      values[node] = 10 * node;
      int old = head.load(cuda::memory_order_relaxed);
      do next[node] = old;
      while (!head.compare_exchange_weak(old, node, cuda::memory_order_release, cuda::memory_order_relaxed));
    }
    return;
  }
  int node = head.load(cuda::memory_order_acquire);
  while (node == 0) node = head.load(cuda::memory_order_acquire);
  while (node && !head.compare_exchange_weak(node, next[node], cuda::memory_order_acquire)) {}
  y[blockIdx.x] = node ? values[node] : -1;
}

// == atomics_of_a_thread_on_its_own_words
#include <cuda/atomic>
extern "C" __global__ void atomics_of_a_thread_on_its_own_words(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cuda::atomic_ref<int, cuda::thread_scope_thread> sum(y[i]);
  for (int k = 0; k < n; ++k) sum.fetch_add(x[i * n + k], cuda::memory_order_relaxed);
}

// == volatile_load_spins_on_an_atomic_word
extern "C" __global__ void volatile_load_spins_on_an_atomic_word(const int* x, int* flag, int* data, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = 3 * x[t];
    __threadfence();
    atomicAdd(flag, 1);
  } else {
    while (*const_cast<volatile int*>(flag) != 32) __nanosleep(20);
    __threadfence();
    y[t] = data[31 - t];
  }
}

// == published_by_a_releasing_builtin
extern "C" __global__ void published_by_a_releasing_builtin(const int* x, int* flag, int* data, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 1) {
    data[t] = 3 * x[t];
    __syncthreads();
    if (t == 0) __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  } else {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) {}
    y[t] = data[31 - t];
  }
}

// == old_page_rewritten_when_its_readers_left
__device__ int load_acquire(const int* p) {
  int v;
  asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ void store_release(int* p, int v) {
  asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
extern "C" __global__ void old_page_rewritten_when_its_readers_left(int* version, int* left, int* pages, int* y,
                                                                    int versions) {
  int t = threadIdx.x;
  for (int v = 1; v <= versions; ++v) {
    if (blockIdx.x == 0) {
      if (t < gridDim.x - 1) while (load_acquire(&left[t]) < v - 2) {}
      __syncthreads();
      pages[v % 2 * 40 + t] = 10 * v + t;
      __syncthreads();
      if (t == 0) store_release(version, v);
    } else {
      if (t == 0) while (load_acquire(version) < v) {}
      __syncthreads();
      y[((blockIdx.x - 1) * versions + v - 1) * 40 + t] = pages[v % 2 * 40 + 39 - t];
      __syncthreads();
      if (t == 0) store_release(&left[blockIdx.x - 1], v);
    }
  }
}

// == slots_taken_by_a_bit_and_given_back
extern "C" __global__ void slots_taken_by_a_bit_and_given_back(unsigned* used, int* slots, int* y) {
  int mine = -1, i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 8) return;
  while (mine < 0) {
    unsigned now = atomicOr(used, 0u);
    int bit = __ffs(~now & 15) - 1;
    if (bit >= 0 && !(atomicOr(used, 1u << bit) & 1u << bit)) mine = bit;
  }
  __threadfence();
  slots[mine] = i;
  y[i / 8] = slots[mine] + 1;
  __threadfence();
  atomicAnd(used, ~(1u << mine));
}

// == chain_through_a_relaxed_addition
__device__ int load_acquire(const int* p) {
  int v;
  asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
extern "C" __global__ void chain_through_a_relaxed_addition(const int* x, int* count, int* data, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = x[t] + 1;
    __syncthreads();
    if (t == 0) asm volatile("st.release.gpu.global.b32 [%0], 1;" ::"l"(count) : "memory");
  } else if (blockIdx.x == 1) {
    if (t == 0)
      while (atomicCAS(count, 1, 2) != 1) {}
  } else {
    if (t == 0)
      while (load_acquire(count) != 2) {}
    __syncthreads();
    y[t] = data[23 - t];
  }
}

// == each_tile_without_its_right_column
extern "C" __global__ void each_tile_without_its_right_column(const float* x, float* y, int width) {
  __shared__ float tile[3][11];
  int c = blockIdx.x * 10 + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = c < width ? x[r * width + c] : 0;
  __syncthreads();
  if (threadIdx.x < 10) y[r * width + c] = tile[threadIdx.y][threadIdx.x] - tile[threadIdx.y][threadIdx.x + 1];
}

// == total_begun_by_the_host_and_added_to
extern "C" __global__ void total_begun_by_the_host_and_added_to(const int* x, unsigned* arrived, int* total) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(total, sum);
    __threadfence();
    if (atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1) {
      __threadfence();
      *total = *total * 2;
    }
  }
}

// == parents_jump_into_a_second_array
#include <cooperative_groups.h>
extern "C" __global__ void parents_jump_into_a_second_array(int* from, int* to, int n, int steps) {
  auto grid = cooperative_groups::this_grid();
  for (int k = 0; k < steps; ++k) {
    for (int i = grid.thread_rank(); i < n; i += grid.num_threads()) to[i] = from[from[i]];
    grid.sync();
    int* other = from;
    from = to;
    to = other;
  }
}

// == grid_barrier_by_all_and_a_report_by_one
#include <cooperative_groups.h>
extern "C" __global__ void grid_barrier_by_all_and_a_report_by_one(const int* x, int* sums, int* y) {
  auto grid = cooperative_groups::this_grid();
  atomicAdd(&sums[blockIdx.x], x[grid.thread_rank()]);
  grid.sync();
  if (grid.thread_rank() == 0)
    for (int b = 0; b < gridDim.x; ++b) y[b] = sums[b];
}

// == names_for_pairs_of_four_warps
extern "C" __global__ void names_for_pairs_of_four_warps(const int* x, int* y) {
  __shared__ int s[128];
  int t = threadIdx.x, warp = t / 32;
  s[t] = x[t];
  BAR_SYNC(1 + warp % 2, 64);
  int v = s[t ^ 64];
  BAR_SYNC(3 + warp / 2, 64);
  s[t ^ 64] = v + s[t ^ 64];
  BAR_SYNC(1 + warp % 2, 64);
  y[t] = s[t];
}

// == cluster_arrives_and_waits_in_each_turn
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) cluster_arrives_and_waits_in_each_turn(const int* x, int* y, int turns) {
  __shared__ int s[2][24];
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, rank = cluster.block_rank(), v = x[rank * 24 + t];
  for (int k = 0; k < turns; ++k) {
    s[k % 2][t] = v;
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    int own = 3 * v;
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    v = own + cluster.map_shared_rank(s[k % 2], rank ^ 1)[23 - t];
  }
  y[rank * 24 + t] = v;
  cluster.sync();
}

// == vote_of_the_block_before_the_test
extern "C" __global__ void vote_of_the_block_before_the_test(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool all = __syncthreads_and(i >= n || x[i] >= 0) && i < n;
  int count = __syncthreads_count(all);
  y[i] = all ? count : -1;
}

// == mask_of_a_row_or_of_one_lane
extern "C" __global__ void mask_of_a_row_or_of_one_lane(const int* lengths, const int* x, int* y) {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, length = lengths[warp];
  if (lane >= length) return;
  unsigned mask = FULL >> (32 - length);
  y[threadIdx.x] = x[threadIdx.x] - __shfl_sync(mask, x[threadIdx.x], length - 1);
}

// == partner_in_the_other_half_under_a_full_mask
extern "C" __global__ void partner_in_the_other_half_under_a_full_mask(const int* x, int* y) {
  int lane = threadIdx.x, v = x[lane];
  unsigned half = lane < 16 ? 0xffff : 0xffff0000u;
  for (int o = 1; o < 16; o *= 2) v = max(v, __shfl_xor_sync(half, v, o));
  y[lane] = v - __shfl_xor_sync(FULL, v, 16);
}

// == elected_among_the_lanes_that_come
extern "C" __global__ void elected_among_the_lanes_that_come(const int* x, int* y) {
  int lane = threadIdx.x;
  bool mine = x[lane] % 4 != 1;
  unsigned mask = __ballot_sync(FULL, mine), yes = 0;
  if (mine) asm volatile("{ .reg .pred q; elect.sync _|q, %1; selp.u32 %0, 1, 0, q; }" : "=r"(yes) : "r"(mask));
  y[lane] = __popc(__ballot_sync(FULL, yes)) + mine;
}

// == keys_matched_under_the_mask_of_the_next_turn
extern "C" __global__ void keys_matched_under_the_mask_of_the_next_turn(const int* keys, int* y, int n) {
  int lane = threadIdx.x, sum = 0;
  unsigned mask = __ballot_sync(FULL, lane < n);
  for (int i = lane; i < n; i += 32) {
    sum += __popc(__match_any_sync(mask, keys[i] % 8));
    mask = __ballot_sync(mask, i + 32 < n);
  }
  y[lane] = sum;
}

// == each_block_tells_before_it_waits
__device__ int load_acquire(const int* p) {
  int v;
  asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
extern "C" __global__ void each_block_tells_before_it_waits(const int* x, int* flags, int* data, int* y) {
  int t = threadIdx.x, other = blockIdx.x ^ 1;
  data[blockIdx.x * 40 + t] = x[blockIdx.x * 40 + t];
  __syncthreads();
  if (t == 0) {
    asm volatile("st.release.gpu.global.b32 [%0], 1;" ::"l"(flags + blockIdx.x) : "memory");
    while (load_acquire(&flags[other]) == 0) {}
  }
  __syncthreads();
  y[blockIdx.x * 40 + t] = data[other * 40 + 39 - t];
}

// == sum_by_bits_with_a_number_that_is_none
__device__ void add(float* address, float value) {
  unsigned *word = reinterpret_cast<unsigned*>(address), old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, __float_as_uint(value + __uint_as_float(assumed)));
  } while (old != assumed);
}
extern "C" __global__ void sum_by_bits_with_a_number_that_is_none(const float* x, float* y) {
  add(&y[threadIdx.x % 2], x[threadIdx.x]);
}

// == root_by_an_open_interval
extern "C" __global__ void root_by_an_open_interval(const int* x, int* y) {
  int v = x[threadIdx.x], low = 0, high = max(v, 0) + 1;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (middle * middle <= v) low = middle;
    else high = middle;
  }
  y[threadIdx.x] = low;
}

// == store_that_has_read_before_its_block_ends
extern "C" __global__ void store_that_has_read_before_its_block_ends(const float* x, float* y) {
  __shared__ alignas(16) float tile[96];
  int t = threadIdx.x;
  tile[t] = 2 * x[blockIdx.x * 96 + t];
  PROXY_FENCE;
  __syncthreads();
  if (t < 3) {
    BULK_STORE(y + blockIdx.x * 96 + t * 32, tile + t * 32, 128);
    BULK_COMMIT;
    BULK_WAIT_READ;
  }
}

// == test_wait_between_other_work
extern "C" __global__ void test_wait_between_other_work(const int* x, int* y) {
  __shared__ alignas(16) int tile[96];
  __shared__ unsigned long long full;
  int t = threadIdx.x, done = 0, tries = 0;
  if (t == 0) {
    MBAR_INIT(&full, 1);
    MBAR_EXPECT(&full, 384);
    BULK_LOAD(tile, x, 384, &full);
  }
  __syncthreads();
  while (!done) {
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(SMEM(&full)) : "memory");
    ++tries;
  }
  y[t] = tile[95 - t] + (tries > 0);
}

// == barrier_for_the_warps_rounded_up
extern "C" __global__ void barrier_for_the_warps_rounded_up(const int* x, int* y) {
  __shared__ unsigned long long full;
  __shared__ int s[52];
  int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&full, (blockDim.x + 31) / 32);
  __syncthreads();
  s[t] = x[t];
  __syncwarp();
  if (t % 32 == 0) MBAR_ARRIVE(&full);
  MBAR_WAIT(&full, 0);
  y[t] = s[51 - t];
}

// == multicast_into_a_stage_that_both_have_left
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) multicast_into_a_stage_that_both_have_left(const float* x, float* y,
                                                                                           int tiles) {
  __shared__ alignas(16) float stage[64];
  __shared__ unsigned long long full, empty;
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, rank = cluster.block_rank();
  if (t == 0) {
    MBAR_INIT(&full, 1);
    MBAR_INIT(&empty, 128);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster.sync();
  for (int k = 0; k < tiles; ++k) {
    if (t == 0) {
      MBAR_EXPECT(&full, 256);
      if (rank == 0) {
        if (k) MBAR_WAIT_CLUSTER(&empty, (k - 1) % 2);
        MULTICAST(stage, x + k * 64, 256, &full, 3);
      }
    }
    __syncwarp();
    MBAR_WAIT(&full, k % 2);
    float sum = 0;
    for (int j = 0; j < (rank ? 60 : 4); ++j) sum += stage[(t + j) % 64];
    y[(rank * tiles + k) * 64 + t] = sum;
    MBAR_ARRIVE_AT(&empty, 0);
  }
  cluster.sync();
}

// == tile_sent_to_the_peer_and_then_changed
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) tile_sent_to_the_peer_and_then_changed(const float* x, float* y) {
  __shared__ alignas(16) float mine[64], theirs[64];
  __shared__ unsigned long long full;
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, rank = cluster.block_rank();
  mine[t] = x[rank * 64 + t];
  PROXY_FENCE;
  if (t == 0) {
    MBAR_INIT(&full, 1);
    MBAR_EXPECT(&full, 256);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster.sync();
  if (t == 0) {
    unsigned to, bar;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(SMEM(theirs)), "r"(rank ^ 1));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bar) : "r"(SMEM(&full)), "r"(rank ^ 1));
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                 ::"r"(to), "r"(SMEM(mine)), "r"(bar) : "memory");
  }
  MBAR_WAIT(&full, 0);
  float v = theirs[63 - t];
  cluster.sync();
  mine[t] = -v;
  __syncthreads();
  y[rank * 64 + t] = mine[63 - t];
}

// == peer_data_awaited_in_the_scope_of_the_cluster
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) peer_data_awaited_in_the_scope_of_the_cluster(const int* x, int* y) {
  __shared__ int inbox[32];
  __shared__ unsigned long long full;
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, rank = cluster.block_rank();
  if (t == 0) {
    MBAR_INIT(&full, 32);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster.sync();
  cluster.map_shared_rank(inbox, rank ^ 1)[t] = x[rank * 32 + t];
  MBAR_ARRIVE_AT(&full, rank ^ 1);
  MBAR_WAIT_CLUSTER(&full, 0);
  y[rank * 32 + t] = inbox[31 - t];
  cluster.sync();
}

// == one_block_of_the_cluster_ends_early
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(4) one_block_of_the_cluster_ends_early(const int* x, int* y) {
  __shared__ int s[24];
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, rank = cluster.block_rank();
  if (rank == 3) return;
  s[t] = x[rank * 24 + t];
  cluster.sync();
  y[rank * 24 + t] = cluster.map_shared_rank(s, (rank + 1) % 3)[23 - t];
  cluster.sync();
}

// == product_of_tiles_behind_a_proxy_fence
__device__ unsigned long long descriptor(const void* tile, int leading, int stride) {
  return SMEM(tile) >> 4 | static_cast<unsigned long long>(leading >> 4) << 16 |
         static_cast<unsigned long long>(stride >> 4) << 32;
}
extern "C" __global__ void product_of_tiles_behind_a_proxy_fence(const unsigned* x, float* y) {
  __shared__ alignas(128) unsigned a[512], b[128];
  int t = threadIdx.x;
  for (int i = t; i < 512; i += 128) a[i] = x[i];
  b[t] = x[512 + t];
  PROXY_FENCE;
  __syncthreads();
  float d[8] = {};
  for (int k = 0; k < 2; ++k) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, "
                 "%8, %9, 1, 1, 1, 0, 0;" : BOTH_FLOATS(d)
                 : "l"(descriptor(a, 1024, 128)), "l"(descriptor(b, 256, 128)));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  __syncthreads();
  a[t] = t;
  for (int i = 0; i < 8; ++i) y[i * 128 + t] = d[i];
}

// == two_flags_in_one_total_order
#include <cuda/atomic>
extern "C" __global__ void two_flags_in_one_total_order(int* flags, int* total) {
  using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;
  Flag mine(flags[blockIdx.x]), other(flags[blockIdx.x ^ 1]);
  mine.store(1, cuda::memory_order_seq_cst);
  if (other.load(cuda::memory_order_seq_cst) == 0) *total += blockIdx.x + 1;
  mine.store(2, cuda::memory_order_seq_cst);
}

// == pairs_claimed_by_compare_and_swap
extern "C" __global__ void pairs_claimed_by_compare_and_swap(int* chosen, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int low = min(i, n - 1 - i), high = max(i, n - 1 - i);
  bool first = atomicCAS(&chosen[low], 0, i + 1) == 0;
  if (first) atomicExch(&chosen[high], i + 1);
  y[i] = first + 1;
}

// == block_of_three_dimensions_in_its_order
extern "C" __global__ void block_of_three_dimensions_in_its_order(const float* x, float* y) {
  __shared__ float s[60];
  int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  y[t] = s[59 - t];
}

// == maximum_by_a_function_that_calls_itself
__device__ __noinline__ int halves_of(const int* x, int n) {
  if (n == 1) return *x;
  int left = halves_of(x, n / 2);
  return max(left, halves_of(x + n / 2, n - n / 2));
}
extern "C" __global__ void maximum_by_a_function_that_calls_itself(const int* x, int* y, int n) {
  __shared__ int s[20 * 11];
  int t = threadIdx.x;
  for (int k = 0; k < 11; ++k) s[t * 11 + k] = x[t * 11 + k];
  y[t] = halves_of(s + t * 11, n);
}

// == block_told_by_a_count_of_bits
extern "C" __global__ void block_told_by_a_count_of_bits(const int* x, int* y) {
  __shared__ int s[96];
  int t = threadIdx.x, above;
  s[t] = x[t];
  asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 50; barrier.cta.red.popc.aligned.u32 %0, 5, 96, p; }"
               : "=r"(above) : "r"(x[t]) : "memory");
  y[t] = s[95 - t] + 1000 * above;
}
