// Kernels with a fault: searches and merges, fragments, tensor maps, tagged words, padding, scopes, hand-overs.
// "// BUG" ends each line to blame.
#include <cuda.h>
#include "asm.cuh"

// == upper_bound_of_the_largest
__device__ int upper_bound(const int* keys, int n, int key) {
  int low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (keys[middle] <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}
extern "C" __global__ void upper_bound_of_the_largest(const int* keys, const int* queries, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = keys[upper_bound(keys, n, queries[i])] - queries[i];  // BUG
}

// == short_counter_of_a_long_row
extern "C" __global__ void short_counter_of_a_long_row(const signed char* row, int* sums, int n) {
  int sum = 0;
  for (short i = threadIdx.x; i < n; i += blockDim.x) sum += row[i];  // BUG
  sums[threadIdx.x] = sum;
}

// == left_neighbour_without_a_sign
extern "C" __global__ void left_neighbour_without_a_sign(const float* x, float* slopes, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float left = x[i - 1], right = x[min(i + 1, n - 1)];  // BUG
  slopes[i] = 0.5f * (right - left);
}

// == merge_path_without_its_lower_limit
extern "C" __global__ void merge_path_without_its_lower_limit(const int* a, const int* b, int* y, int na, int nb) {
  int diagonal = blockIdx.x * blockDim.x + threadIdx.x;
  if (diagonal >= na + nb) return;
  int low = 0, high = min(diagonal, na);
  while (low < high) {
    int middle = (low + high) / 2;
    if (a[middle] <= b[diagonal - 1 - middle]) low = middle + 1;  // BUG
    else high = middle;
  }
  int from_b = diagonal - low;
  y[diagonal] = from_b >= nb || (low < na && a[low] <= b[from_b]) ? a[low] : b[from_b];
}

// == alpha_of_three_channels
extern "C" __global__ void alpha_of_three_channels(const unsigned char* pixels, unsigned* packed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned char* p = pixels + 3 * i;
  packed[i] = p[0] | p[1] << 8 | p[2] << 16 | unsigned(p[3]) << 24;  // BUG
}

// == rounded_up_to_the_next_sixteen
extern "C" __global__ void rounded_up_to_the_next_sixteen(const float* x, float* y, int n) {
  size_t begin = reinterpret_cast<size_t>(x), end = (reinterpret_cast<size_t>(x + n) + 15) & ~size_t(15);
  float sum = 0;
  for (size_t p = begin + 16 * threadIdx.x; p < end; p += 16 * blockDim.x) {
    float4 v = *reinterpret_cast<const float4*>(p);  // BUG
    sum += v.x + v.y + v.z + v.w;
  }
  atomicAdd(y, sum);
}

// == fragments_of_a_matrix_of_24_rows
extern "C" __global__ void fragments_of_a_matrix_of_24_rows(const short* a, const short* b, float* c, int m) {
  unsigned left[8], right[8];
  float sum[8] = {};
  int row = blockIdx.x * 16;
  if (row >= m) return;
  FRAGMENT_LOAD("a", "row", left, a + row * 16, 16);  // BUG
  FRAGMENT_LOAD("b", "col", right, b, 16);
  FRAGMENT_PRODUCT(sum, left, right);
  FRAGMENT_STORE(c + row * 16, sum, 16);
}

// == last_block_column_of_a_sparse_row
struct BlockRows {
  const int *begins, *columns;
  const float* blocks;
};
extern "C" __global__ void last_block_column_of_a_sparse_row(const int* begins, const int* columns,
                                                             const float* blocks, const float* x, float* y,
                                                             int height) {
  BlockRows rows{begins, columns, blocks};
  int row = blockIdx.x * blockDim.y + threadIdx.y, inner = threadIdx.x;
  if (row >= height) return;
  float sum = 0;
  for (int k = rows.begins[row]; k < rows.begins[row + 1]; ++k)
    for (int c = 0; c < 4; ++c)
      sum += rows.blocks[(k * 4 + inner) * 4 + c] * x[rows.columns[k] * 4 + c];  // BUG
  y[row * 4 + inner] = sum;
}

// == share_of_each_warp_rounded_up
extern "C" __global__ void share_of_each_warp_rounded_up(const int* x, int* y, int n) {
  int warps = (blockDim.x + 31) / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int share = (n + warps - 1) / warps, begin = warp * share, end = begin + share, most = 0;
  for (int i = begin + lane; i < end; i += 32) most = max(most, x[i]);  // BUG
  most = __reduce_max_sync(FULL, most);
  if (lane == 0) y[warp] = most;
}

// == end_mark_of_an_unsigned_byte
extern "C" __global__ void end_mark_of_an_unsigned_byte(const unsigned char* next, const int* values, int* y) {
  int i = threadIdx.x, sum = 0, depth = 0;
  for (unsigned char node = i; node != -1 && depth < 64; node = next[node], ++depth) sum += values[node];  // BUG
  y[i] = sum;
}

// == next_tile_prefetched_beyond_the_end
extern "C" __global__ void next_tile_prefetched_beyond_the_end(const float* x, float* y, int n) {
  __shared__ float tile[48];
  int t = threadIdx.x;
  float next = x[t], sum = 0;
  for (int base = 0; base < n; base += blockDim.x) {
    tile[t] = next;
    __syncthreads();
    next = x[base + blockDim.x + t];  // BUG
    sum += tile[(t + 5) % 48] * tile[47 - t];
    __syncthreads();
  }
  y[t] = sum + next;
}

// == bound_tested_after_the_load
extern "C" __global__ void bound_tested_after_the_load(const int* x, const int* keys, int* places, int n) {
  int key = keys[threadIdx.x], i = 0;
  while (x[i] != key && i < n) ++i;  // BUG
  places[threadIdx.x] = i;
}

// == last_element_from_the_end_pointer
extern "C" __global__ void last_element_from_the_end_pointer(const int* offsets, const float* x, float* y) {
  const float *begin = x + offsets[threadIdx.x], *end = x + offsets[threadIdx.x + 1];
  float value = 0;
  for (const float* p = end; p > begin; --p) value = value * 0.5f + *p;  // BUG
  y[threadIdx.x] = value;
}

// == scale_of_the_last_short_group
extern "C" __global__ void scale_of_the_last_short_group(const unsigned* words, const float* scales, float* y,
                                                         int columns) {
  int row = blockIdx.x, groups = columns / 32;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    int nibble = words[row * (columns / 8) + c / 8] >> 4 * (c % 8) & 15;
    y[row * columns + c] = scales[row * groups + c / 32] * (nibble - 8);  // BUG
  }
}

// == pointer_kept_in_a_word
extern "C" __global__ void pointer_kept_in_a_word(const float* x, float* y) {
  __shared__ unsigned rows[4];
  int t = threadIdx.x;
  if (t < 4) rows[t] = static_cast<unsigned>(reinterpret_cast<size_t>(x + t * 16) / 2);
  __syncthreads();
  const float* row = reinterpret_cast<const float*>(static_cast<size_t>(rows[t / 16]));
  y[t] = row[t % 16];  // BUG
}

// == shared_address_followed_as_a_pointer
extern "C" __global__ void shared_address_followed_as_a_pointer(const float* x, float* y) {
  __shared__ float s[96];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  size_t address = SMEM(&s[95 - t]);
  y[t] = *reinterpret_cast<const float*>(address);  // BUG
}

// == second_next_without_a_test
struct Node {
  Node* next;
  int value, tag;
};
extern "C" __global__ void second_next_without_a_test(Node* nodes, int* y, int n) {
  int i = threadIdx.x;
  nodes[i].next = i + 1 < n ? nodes + i + 1 : nullptr;
  nodes[i].value = i;
  __syncthreads();
  Node* two = nodes[i].next ? nodes[i].next->next : nullptr;  // BUG
  y[i] = two->value;  // BUG
}

// == sixteen_rows_of_eight_loaded_as_four_matrices
extern "C" __global__ void sixteen_rows_of_eight_loaded_as_four_matrices(const unsigned* x, unsigned* y) {
  __shared__ alignas(16) unsigned short tile[16][8];
  int lane = threadIdx.x;
  reinterpret_cast<unsigned*>(tile)[lane] = x[lane];
  reinterpret_cast<unsigned*>(tile)[lane + 32] = x[lane + 32];
  __syncwarp();
  unsigned r[4], at = SMEM(&tile[lane % 16][lane / 16 * 8]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"  // BUG
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");  // BUG
  y[lane] = r[0] ^ r[1] ^ r[2] ^ r[3];
}

// == tail_of_the_ring_wraps_too_late
template <typename T, int ROOM>
struct Ring {
  T items[ROOM];
  int tail;
  __device__ void push(T item) {
    items[tail] = item;  // BUG
    if (++tail > ROOM) tail = 0;
  }
};
extern "C" __global__ void tail_of_the_ring_wraps_too_late(const int* x, int* y, int n) {
  __shared__ Ring<int, 12> rings[4];
  if (threadIdx.x == 3) {
    Ring<int, 12>& ring = rings[3];
    ring.tail = 0;
    for (int i = 0; i < n; ++i) ring.push(x[i]);
    for (int i = 0; i < 12; ++i) y[i] = ring.items[i];
  }
}

// == runs_merged_by_peeking_ahead
extern "C" __global__ void runs_merged_by_peeking_ahead(const int* x, int* y) {
  __shared__ int keys[40 * 8];
  int t = threadIdx.x;
  for (int k = 0; k < 8; ++k) keys[t * 8 + k] = x[t * 8 + k];
  __syncthreads();
  int i = t * 8, j = t * 8 + 4;
  int a = keys[i], b = keys[j];
  for (int k = 0; k < 8; ++k) {
    bool left = j >= t * 8 + 8 || (i < t * 8 + 4 && a <= b);
    y[t * 8 + k] = left ? a : b;
    if (left) a = keys[++i];  // BUG
    else b = keys[++j];  // BUG
  }
}

// == slot_after_all_that_voted
extern "C" __global__ void slot_after_all_that_voted(const int* x, int* y) {
  __shared__ int order[80];
  int t = threadIdx.x;
  order[t] = 0;
  int above = __syncthreads_count(x[t] >= 0);
  if (t == 0) order[above] = -1;  // BUG
  __syncthreads();
  y[t] = order[t];
}

// == bits_of_a_hundred_flags_in_three_words
extern "C" __global__ void bits_of_a_hundred_flags_in_three_words(const int* x, int* y, int n) {
  __shared__ unsigned words[100 / 32];
  int t = threadIdx.x;
  if (t < 3) words[t] = 0;
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x)
    if (x[i] % 3 == 0) atomicOr(&words[i / 32], 1u << i % 32);  // BUG
  __syncthreads();
  if (t < 3) y[t] = __popc(words[t]);
}

// == base_six_digits_of_a_large_number
extern "C" __global__ void base_six_digits_of_a_large_number(const unsigned* x, int* y) {
  unsigned v = x[threadIdx.x];
  int digits[11], count = 0, sum = 0;
  while (v) {
    digits[count++] = v % 6;  // BUG
    v /= 6;
  }
  for (int k = 0; k < count; ++k) sum = 7 * sum + digits[k];
  y[threadIdx.x] = sum;
}

// == neighbours_of_a_stencil_by_a_table
extern "C" __global__ void neighbours_of_a_stencil_by_a_table(const int* codes, int* y) {
  int steps[6] = {-1, 1, -8, 8, -64, 64};
  int faces[7];
  int i = threadIdx.x, sum = 0;
  for (int k = 0; k < 7; ++k) faces[k] = steps[(codes[i] + k) % 6];
#pragma unroll 1
  for (int k = codes[i] % 7; k <= 7; ++k) sum += faces[k];  // BUG
  y[i] = sum;  // BUG
}

// == four_floats_added_at_eight_bytes
extern "C" __global__ void four_floats_added_at_eight_bytes(const float4* x, float* sums, int pitch) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float* mine = sums + i % 4 * pitch;
  atomicAdd(reinterpret_cast<float4*>(mine), x[i]);  // BUG
}

// == marked_pointer_is_followed
struct Link {
  size_t next;
  int key, value;
};
extern "C" __global__ void marked_pointer_is_followed(Link* links, const int* removed, int* y, int n) {
  int i = threadIdx.x;
  links[i].next = i + 1 < n ? reinterpret_cast<size_t>(&links[i + 1]) | (removed[i] & 1) : 0;
  links[i].key = i;
  __syncthreads();
  const Link* next = reinterpret_cast<const Link*>(links[i].next);
  y[i] = next ? next->key : -1;  // BUG
}

// == tensor_tile_behind_a_header
extern "C" __global__ void tensor_tile_behind_a_header(const __grid_constant__ CUtensorMap map, float* y) {
  __shared__ struct alignas(128) {
    float scale[16];
    float tile[8][16];
    unsigned long long full;
  } shared;
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&shared.full, 1);
    MBAR_EXPECT(&shared.full, 512);
    TILE_LOAD(shared.tile, map, 0, 0, &shared.full);  // BUG
  }
  __syncthreads();
  MBAR_WAIT(&shared.full, 0);
  y[t] = shared.tile[t / 16][t % 16];
}

// == records_of_six_words_read_as_four
struct Six {
  float place[3], speed[3];
};
extern "C" __global__ void records_of_six_words_read_as_four(const Six* bodies, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 v = *reinterpret_cast<const float4*>(&bodies[i].place);  // BUG
  y[i] = v.x * v.x + v.y * v.y + v.z * v.z;
}

// == totals_of_a_warp_of_sixteen_lanes
extern "C" __global__ void totals_of_a_warp_of_sixteen_lanes(const int* x, int* y) {
  __shared__ int totals[3];
  int t = threadIdx.x, lane = t % 32, v = x[t];
  for (int o = 1; o < 32; o *= 2) {
    int other = __shfl_up_sync(__activemask(), v, o);
    if (lane >= o) v += other;
  }
  if (lane == 31) totals[t / 32] = v;
  __syncthreads();
  if (t == 0) y[80] = totals[0] + totals[1] + totals[2];  // BUG
  y[t] = v;
}

// == bins_cleared_by_the_size_of_a_pointer
__device__ void clear(int* bins) {
  for (int k = threadIdx.x; k < sizeof(bins) / sizeof(int); k += blockDim.x) bins[k] = 0;
}
extern "C" __global__ void bins_cleared_by_the_size_of_a_pointer(const int* x, int* y) {
  __shared__ int bins[10];
  clear(bins);
  __syncthreads();
  atomicAdd(&bins[x[threadIdx.x] % 10], 1);  // BUG
  __syncthreads();
  if (threadIdx.x < 10) y[threadIdx.x] = bins[threadIdx.x];
}

// == box_half_as_high_as_the_tile
extern "C" __global__ void box_half_as_high_as_the_tile(const __grid_constant__ CUtensorMap map, float* y) {
  __shared__ alignas(128) float tile[16][16];
  __shared__ unsigned long long full;
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&full, 1);
    MBAR_EXPECT(&full, 512);
    TILE_LOAD(tile, map, 0, 0, &full);
  }
  __syncthreads();
  MBAR_WAIT(&full, 0);
  for (int i = t; i < 256; i += blockDim.x) y[i] = tile[i % 16][i / 16];  // BUG
}

// == last_row_of_byte_counters
extern "C" __global__ void last_row_of_byte_counters(const int* x, unsigned char* y) {
  __shared__ alignas(4) unsigned char counts[38][32];
  int lane = threadIdx.x;
  for (int k = lane; k < 38 * 32 / 4 - 8; k += 32) reinterpret_cast<unsigned*>(counts)[k] = 0;
  __syncwarp();
  for (int i = 0; i < 8; ++i) ++counts[x[i * 32 + lane] % 38][lane];  // BUG
  __syncwarp();
  unsigned char sum = 0;
  for (int k = 0; k < 32; ++k) sum += counts[lane][k];
  y[lane] = sum;
}

// == imaginary_parts_are_not_cleared
struct Complex {
  float re, im;
};
extern "C" __global__ void imaginary_parts_are_not_cleared(const Complex* x, Complex* y) {
  __shared__ Complex sums[8];
  int t = threadIdx.x;
  if (t < 8) sums[t].re = 0;
  __syncthreads();
  atomicAdd(&sums[t % 8].re, x[t].re);
  atomicAdd(&sums[t % 8].im, x[t].im);  // BUG
  __syncthreads();
  if (t < 8) y[t] = sums[t];
}

// == padding_bytes_are_hashed
struct Entry {
  char kind;
  int key;
};
extern "C" __global__ void padding_bytes_are_hashed(const int* x, unsigned* y) {
  __shared__ Entry entries[50];
  int t = threadIdx.x;
  entries[t].kind = x[t] % 7;
  entries[t].key = x[t];
  __syncthreads();
  const unsigned* words = reinterpret_cast<const unsigned*>(&entries[49 - t]);
  y[t] = (words[0] ^ 2166136261u) * 16777619u ^ words[1];  // BUG
}

// == upper_halves_of_packed_words
extern "C" __global__ void upper_halves_of_packed_words(const short* x, int* y, int n) {
  __shared__ alignas(4) short pairs[64];
  int t = threadIdx.x;
  for (int i = 2 * t; i < n; i += 2 * blockDim.x) pairs[i] = x[i];
  for (int i = 2 * t + 1; i < n - 2; i += 2 * blockDim.x) pairs[i] = x[i];
  __syncthreads();
  y[t] = reinterpret_cast<const int*>(pairs)[31 - t];  // BUG
}

// == double_read_where_a_float_was_put
struct Value {
  int kind, unused;
  union {
    float f;
    double d;
  };
};
extern "C" __global__ void double_read_where_a_float_was_put(const int* x, double* y) {
  Value stack[6];
  int i = threadIdx.x, top = 0;
  for (int k = 0; k < 6; ++k) {
    Value& v = stack[top++];
    v.kind = x[i] >> k & 1;
    if (v.kind) v.d = k;
    else v.f = k;
  }
  double sum = 0;
#pragma unroll 1
  for (int k = x[i] % 3; k < 6; ++k) sum += stack[k].d;  // BUG
  y[i] = sum;  // BUG
}

// == eight_digits_of_a_shorter_number
extern "C" __global__ void eight_digits_of_a_shorter_number(const unsigned* x, unsigned char* text) {
  unsigned char digits[8];
  unsigned v = x[threadIdx.x];
  int count = 0;
  do {
    digits[count++] = '0' + v % 10;
    v /= 10;
  } while (v);
  for (int k = 0; k < 8; ++k) text[threadIdx.x * 8 + k] = digits[7 - k];  // BUG
}

// == sum_of_fragments_without_a_start
extern "C" __global__ void sum_of_fragments_without_a_start(const short* a, const short* b, float* c, int k) {
  unsigned left[8], right[8];
  float sum[8];
  for (int i = 0; i < k; i += 16) {
    FRAGMENT_LOAD("a", "row", left, a + i, k);
    FRAGMENT_LOAD("b", "col", right, b + i, k);
    FRAGMENT_PRODUCT(sum, left, right);  // BUG
  }
  FRAGMENT_STORE(c, sum, 16);  // BUG
}

// == warp_meets_between_the_steps_only
extern "C" __global__ void warp_meets_between_the_steps_only(const int* x, int* y) {
  __shared__ int s[4][32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  s[warp][lane] = x[threadIdx.x];
  __syncwarp();
  for (int o = 1; o < 32; o *= 2) {
    s[warp][lane] += s[warp][(lane + o) % 32];  // BUG
    __syncwarp();
  }
  if (lane == 0) y[warp] = s[warp][0];
}

// == rows_of_24_threads_meet_as_a_warp
extern "C" __global__ void rows_of_24_threads_meet_as_a_warp(const float* x, float* y) {
  __shared__ float rows[6][24];
  int c = threadIdx.x, r = threadIdx.y;
  rows[r][c] = x[r * 24 + c];  // BUG
  __syncwarp();
  y[r * 24 + c] = rows[r][23 - c] - rows[r][c];  // BUG
}

// == barrier_left_out_for_a_small_block
template <int BLOCK>
__device__ void meet() {
  if constexpr (BLOCK <= 64) __syncwarp();
  else __syncthreads();
}
template <int BLOCK>
__device__ int reversed(int v) {
  __shared__ int s[BLOCK];
  s[threadIdx.x] = v;  // BUG
  meet<BLOCK>();
  return s[BLOCK - 1 - threadIdx.x];  // BUG
}
extern "C" __global__ void barrier_left_out_for_a_small_block(const int* x, int* y) {
  y[threadIdx.x] = reversed<64>(x[threadIdx.x]);
}

// == fragment_of_one_warp_reduced_by_the_next
extern "C" __global__ void fragment_of_one_warp_reduced_by_the_next(const short* a, const short* b, float* y) {
  __shared__ alignas(32) float tiles[2][256];
  unsigned left[8], right[8];
  float sum[8] = {};
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  FRAGMENT_LOAD("a", "row", left, a + warp * 16, 32);
  FRAGMENT_LOAD("b", "col", right, b + warp * 256, 16);
  FRAGMENT_PRODUCT(sum, left, right);
  FRAGMENT_STORE(tiles[warp], sum, 16);  // BUG
  __syncwarp();
  for (int i = warp * 128 + lane; i < warp * 128 + 128; i += 32) y[i] = tiles[0][i] + tiles[1][i];  // BUG
}

// == matrix_loaded_while_the_tile_is_refilled
extern "C" __global__ void matrix_loaded_while_the_tile_is_refilled(const unsigned* x, unsigned* y, int tiles) {
  __shared__ alignas(16) unsigned tile[8][4];
  int t = threadIdx.x, lane = t % 32;
  unsigned sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (t < 32) tile[lane / 4][lane % 4] = x[i * 32 + lane];  // BUG
    __syncthreads();
    unsigned v, at = SMEM(tile[lane % 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(v) : "r"(at) : "memory");  // BUG
    sum += v;
  }
  y[t] = sum;
}

// == record_copied_whole_while_a_field_counts
struct alignas(8) Cell {
  int key;
  short seen, spare;
};
extern "C" __global__ void record_copied_whole_while_a_field_counts(const int* x, Cell* out) {
  __shared__ Cell cells[66];
  int t = threadIdx.x;
  cells[t] = Cell{x[t], 0, 0};
  __syncthreads();
  if (x[t] % 2) cells[(t + 1) % 66].seen = 1;  // BUG
  out[t] = cells[t];  // BUG
}

// == vote_taken_for_a_barrier
extern "C" __global__ void vote_taken_for_a_barrier(const int* x, int* y) {
  __shared__ int lowest[2];
  int t = threadIdx.x, lane = t % 32;
  if (lane == 7) lowest[t / 32] = x[t];  // BUG
  bool any = __any_sync(FULL, x[t] > 50);
  y[t] = any ? lowest[t / 32] : 0;  // BUG
}

// == shuffle_taken_for_a_barrier
extern "C" __global__ void shuffle_taken_for_a_barrier(const int* x, int* y) {
  __shared__ int s[32];
  int lane = threadIdx.x, v = x[lane];
  s[lane] = v;  // BUG
  int left = __shfl_up_sync(FULL, v, 1);
  y[lane] = s[lane ^ 5] + left;  // BUG
}

// == window_slid_by_itself
extern "C" __global__ void window_slid_by_itself(const int* x, int* y, int n) {
  __shared__ int window[144];
  int t = threadIdx.x;
  for (int k = t; k < 144; k += 48) window[k] = x[k];
  __syncthreads();
  for (int k = t; k + 16 < 144; k += 48) window[k] = window[k + 16];  // BUG
  __syncthreads();
  y[t] = window[t] + n;
}

// == rest_counted_down_while_others_test_it
extern "C" __global__ void rest_counted_down_while_others_test_it(const int* x, int* y, int n) {
  __shared__ int rest;
  int t = threadIdx.x, sum = 0;
  if (t == 0) rest = n;
  __syncthreads();
  while (rest > 0) {  // BUG
    sum += x[(n - rest + t) % n];  // BUG
    if (t == 95) rest -= 96;  // BUG
    __syncthreads();
  }
  y[t] = sum;
}

// == base_read_by_the_first_and_moved_by_the_last
extern "C" __global__ void base_read_by_the_first_and_moved_by_the_last(const int* x, int* y, int n) {
  __shared__ int counts[3], base;
  int t = threadIdx.x, warp = t / 32, lane = t % 32;
  if (t == 0) base = 0;
  for (int first = 0; first < n; first += 96) {
    bool keep = first + t < n && x[first + t] % 3;
    unsigned votes = __ballot_sync(FULL, keep);
    if (lane == 0) counts[warp] = __popc(votes);
    __syncthreads();
    int at = base + __popc(votes & ((1u << lane) - 1));  // BUG
    for (int w = 0; w < warp; ++w) at += counts[w];
    if (keep) y[at] = x[first + t];
    if (t == 95) base = at + keep;  // BUG
    __syncthreads();
  }
}

// == top_three_of_each_thread_merged_too_soon
struct Three {
  float values[3];
  __device__ void add(float v) {
    if (v > values[2]) values[2] = v;  // BUG
    if (values[2] > values[1]) swap(values[2], values[1]);
    if (values[1] > values[0]) swap(values[1], values[0]);
  }
  __device__ static void swap(float& a, float& b) {
    float c = a;
    a = b;  // BUG
    b = c;  // BUG
  }
};
extern "C" __global__ void top_three_of_each_thread_merged_too_soon(const float* x, float* y, int n) {
  __shared__ Three best[40];
  int t = threadIdx.x;
  best[t] = Three{{-9, -9, -9}};  // BUG
  for (int i = t; i < n; i += 40) best[t].add(x[i]);
  for (int o = 32; o; o /= 2) {
    if (t < o && t + o < 40)
      for (float v : best[t + o].values) best[t].add(v);  // BUG
    __syncwarp();
  }
  if (t < 3) y[t] = best[0].values[t];  // BUG
}

// == whole_word_added_beside_its_halves
extern "C" __global__ void whole_word_added_beside_its_halves(const int* x, unsigned long long* sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (blockIdx.x == 0) atomicAdd(reinterpret_cast<unsigned*>(&sums[i % 4]), x[i]);  // BUG
  else atomicAdd(&sums[i % 4], 1ull << 32 | x[i]);  // BUG
}

// == half_of_an_atomic_word_read_plainly
extern "C" __global__ void half_of_an_atomic_word_read_plainly(const float* x, unsigned long long* best, int* skipped,
                                                               int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned distance = __float_as_uint(fabsf(x[i]));
  unsigned known = reinterpret_cast<const unsigned*>(best)[1];  // BUG
  if (distance < known) atomicMin(best, static_cast<unsigned long long>(distance) << 32 | i);  // BUG
  else skipped[i] = 1;
}

// == read_only_load_behind_a_grid_barrier
#include <cooperative_groups.h>
extern "C" __global__ void read_only_load_behind_a_grid_barrier(const float* x, float* middle, float* y) {
  auto grid = cooperative_groups::this_grid();
  int i = grid.thread_rank(), n = grid.num_threads();
  middle[i] = 2 * x[i];  // BUG
  grid.sync();
  y[i] = __ldg(&middle[n - 1 - i]);  // BUG
}

// == fence_in_place_of_a_barrier
extern "C" __global__ void fence_in_place_of_a_barrier(const int* x, int* scratch, int* y) {
  int t = threadIdx.x, *mine = scratch + blockIdx.x * 48;
  mine[t] = x[blockIdx.x * 48 + t];  // BUG
  __threadfence();
  y[blockIdx.x * 48 + t] = mine[47 - t];  // BUG
}

// == data_loaded_before_the_flag_is_seen
__device__ int load_acquire(const int* p) {
  int v;
  asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ void store_release(int* p, int v) {
  asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
extern "C" __global__ void data_loaded_before_the_flag_is_seen(const int* x, int* data, int* flag, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = 5 * x[t];  // BUG
    __syncthreads();
    if (t == 0) store_release(flag, 1);
    return;
  }
  const volatile int* early = data + 39 - t;
  int v = *early;  // BUG
  while (load_acquire(flag) == 0) {}
  y[t] = v;
}

// == pop_without_an_acquire
#include <cuda/atomic>
using Top = cuda::atomic_ref<int, cuda::thread_scope_device>;
extern "C" __global__ void pop_without_an_acquire(int* top, int* next, int* values, int* y) {
  Top head(*top);
  if (blockIdx.x == 0) {
    for (int node = 1; node <= 4; ++node) {
      int old = head.load(cuda::memory_order_relaxed);
      do next[node] = old;  // BUG
      while (!head.compare_exchange_weak(old, node, cuda::memory_order_release, cuda::memory_order_relaxed));
    }
    return;
  }
  int node = head.load(cuda::memory_order_relaxed);
  while (node == 0) node = head.load(cuda::memory_order_relaxed);
  while (node && !head.compare_exchange_weak(node, next[node], cuda::memory_order_relaxed)) {}  // BUG
  y[blockIdx.x] = node;
}

// == flag_in_the_scope_of_its_thread
#include <cuda/atomic>
extern "C" __global__ void flag_in_the_scope_of_its_thread(const int* x, int* found, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_thread> flag(*found);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (x[i] % 9 == 7) flag.store(1, cuda::memory_order_release);  // BUG
  y[i] = flag.load(cuda::memory_order_acquire);  // BUG
}

// == cached_load_spins_on_a_flag
extern "C" __global__ void cached_load_spins_on_a_flag(const int* x, int* flag, int* data, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = 3 * x[t];
    __threadfence();
    __syncthreads();
    if (t == 0) atomicExch(flag, 1);  // BUG
  } else {
    while (__ldcg(flag) == 0) __nanosleep(20);  // BUG
    __threadfence();
    y[t] = data[31 - t];
  }
}

// == published_by_a_relaxed_builtin
extern "C" __global__ void published_by_a_relaxed_builtin(const int* x, int* flag, int* data, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 1) {
    data[t] = 3 * x[t];  // BUG
    __syncthreads();
    if (t == 0) __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  } else {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) {}
    y[t] = data[31 - t];  // BUG
  }
}

// == old_page_rewritten_while_it_is_read
__device__ int load_acquire(const int* p) {
  int v;
  asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ void store_release(int* p, int v) {
  asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
extern "C" __global__ void old_page_rewritten_while_it_is_read(int* page, int* pages, int* y, int versions) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    for (int v = 1; v <= versions; ++v) {
      pages[v % 2 * 32 + t] = 10 * v + t;  // BUG
      __syncthreads();
      if (t == 0) store_release(page, v % 2);
    }
  } else {
    int now = load_acquire(page);
    y[blockIdx.x * 32 + t] = pages[now * 32 + 31 - t];  // BUG
  }
}

// == ticket_of_the_row_without_its_release
extern "C" __global__ void ticket_of_the_row_without_its_release(const float* x, float* row, unsigned* serving, int n) {
  int t = threadIdx.x;
  if (t == 0)
    while (atomicAdd(serving, 0) != blockIdx.x) {}
  __syncthreads();
  if (t < n) row[t] += x[blockIdx.x * n + t];  // BUG
  __syncthreads();
  if (t == 0) atomicAdd(serving, 1);
}

// == slots_given_back_before_they_are_read
extern "C" __global__ void slots_given_back_before_they_are_read(unsigned* used, int* slots, int* y) {
  int mine = -1, i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 8) return;
  while (mine < 0) {
    unsigned now = atomicOr(used, 0u);
    int bit = __ffs(~now & 15) - 1;
    if (bit >= 0 && !(atomicOr(used, 1u << bit) & 1u << bit)) mine = bit;
  }
  __threadfence();
  slots[mine] = i;  // BUG
  __threadfence();
  atomicAnd(used, ~(1u << mine));
  y[i / 8] = slots[mine];  // BUG
}

// == counts_of_blocks_in_short_words
extern "C" __global__ void counts_of_blocks_in_short_words(const int* x, unsigned short* counts) {
  __shared__ int mine[6];
  int t = threadIdx.x;
  if (t < 6) mine[t] = 0;
  __syncthreads();
  atomicAdd(&mine[x[blockIdx.x * blockDim.x + t] % 6], 1);
  __syncthreads();
  if (t < 6) counts[t] += mine[t];  // BUG
}

// == each_tile_and_its_right_column
extern "C" __global__ void each_tile_and_its_right_column(const float* x, float* y, int width) {
  int c = blockIdx.x * 10 + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < width) y[r * width + c] = x[r * width + c] + 0.25f * blockIdx.x;  // BUG
}

// == total_kept_by_the_last_to_come
extern "C" __global__ void total_kept_by_the_last_to_come(const int* x, unsigned* arrived, int* total) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    if (atomicInc(arrived, gridDim.x - 1) == 0) *total = sum;  // BUG
    else atomicAdd(total, sum);  // BUG
  }
}

// == parents_jump_while_they_are_read
extern "C" __global__ void parents_jump_while_they_are_read(int* parents, int* depths, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, depth = 0;
  if (i >= n) return;
  while (parents[i] != parents[parents[i]]) {  // BUG
    parents[i] = parents[parents[i]];  // BUG
    ++depth;
  }
  depths[i] = depth;
}

// == grid_barrier_by_the_first_thread
#include <cooperative_groups.h>
extern "C" __global__ void grid_barrier_by_the_first_thread(const int* x, int* sums, int* y) {
  auto grid = cooperative_groups::this_grid();
  int t = threadIdx.x;
  atomicAdd(&sums[blockIdx.x], x[grid.thread_rank()]);
  if (t == 0) grid.sync();  // BUG
  __syncthreads();  // BUG
  y[grid.thread_rank()] = t;
}

// == three_warps_at_a_name_for_two
extern "C" __global__ void three_warps_at_a_name_for_two(const int* x, int* y) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = x[t];
  if (t / 32 != 3) BAR_SYNC(2, 64);  // BUG
  y[t] = s[t] + 1;
}

// == cluster_arrives_twice_and_waits_once
extern "C" __global__ void __cluster_dims__(2) cluster_arrives_twice_and_waits_once(const int* x, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  int v = x[i];
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");  // BUG
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  y[i] = v;
}

// == vote_of_the_block_behind_a_test
extern "C" __global__ void vote_of_the_block_behind_a_test(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool same = i < n && __syncthreads_and(x[i] >= 0);  // BUG
  y[i] = same;
  __syncthreads();  // BUG
}

// == sum_of_the_rows_that_exist
__device__ int sum_of_rows(int v, int rows) {
  __shared__ int sums[5];
  for (int o = 8; o; o /= 2) v += __shfl_xor_sync(threadIdx.y % 2 ? 0xffff0000u : 0xffff, v, o);
  if (threadIdx.x == 0) sums[threadIdx.y] = v;
  __syncthreads();  // BUG
  int sum = 0;
  for (int r = 0; r < rows; ++r) sum += sums[r];
  return sum;
}
extern "C" __global__ void sum_of_the_rows_that_exist(const int* x, int* y, int height) {
  int r = threadIdx.y, c = threadIdx.x;
  if (r < height) {
    int sum = sum_of_rows(x[r * 16 + c], height);
    y[r * 16 + c] = sum;
  }
  __syncthreads();  // BUG
}

// == mask_of_a_row_of_no_elements
extern "C" __global__ void mask_of_a_row_of_no_elements(const int* lengths, const int* x, int* y) {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, length = lengths[warp];
  unsigned mask = (1u << length) - 1;
  if (lane < max(length, 1)) {
    int v = x[threadIdx.x];
    int first = __shfl_sync(mask, v, 0);  // BUG
    y[threadIdx.x] = v - first;
  }
}

// == partner_in_the_other_half
extern "C" __global__ void partner_in_the_other_half(const int* x, int* y) {
  int lane = threadIdx.x, v = x[lane];
  unsigned half = lane < 16 ? 0xffff : 0xffff0000u;
  for (int o = 1; o < 32; o *= 2) v = max(v, __shfl_xor_sync(half, v, o));  // BUG
  y[lane] = v;
}

// == product_by_half_of_a_warp
extern "C" __global__ void product_by_half_of_a_warp(const short* a, const short* b, float* c) {
  if (threadIdx.x % 32 < 16) {
    unsigned left[8], right[8];
    float sum[8] = {};
    FRAGMENT_LOAD("a", "row", left, a, 16);  // BUG
    FRAGMENT_LOAD("b", "col", right, b, 16);  // BUG
    FRAGMENT_PRODUCT(sum, left, right);  // BUG
    FRAGMENT_STORE(c, sum, 16);  // BUG
  }
}

// == elected_among_lanes_elsewhere
extern "C" __global__ void elected_among_lanes_elsewhere(const int* x, int* y) {
  int lane = threadIdx.x;
  y[lane] = 0;
  if (x[lane] % 4 != 1) {
    unsigned yes;
    asm volatile("{ .reg .pred q; elect.sync _|q, 0xffffffff; selp.u32 %0, 1, 0, q; }" : "=r"(yes));  // BUG
    if (yes) y[lane] = x[lane];
  }
  y[lane] += __popc(__ballot_sync(FULL, x[lane] > 9));
}

// == keys_matched_under_the_mask_of_the_last_turn
extern "C" __global__ void keys_matched_under_the_mask_of_the_last_turn(const int* keys, int* y, int n) {
  int lane = threadIdx.x, sum = 0;
  unsigned mask = FULL;
  for (int i = lane; i < n; i += 32) {
    sum += __popc(__match_any_sync(mask, keys[i] % 8));  // BUG
    mask = __ballot_sync(mask, i < n);
  }
  y[lane] = sum;
}

// == matrix_loaded_by_the_lanes_with_rows
extern "C" __global__ void matrix_loaded_by_the_lanes_with_rows(const unsigned* x, unsigned* y) {
  __shared__ alignas(16) unsigned tile[8][4];
  int lane = threadIdx.x;
  tile[lane / 4][lane % 4] = x[lane];
  __syncwarp();
  unsigned v = 0, at = SMEM(tile[lane % 8]);
  if (lane < 8)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(v) : "r"(at) : "memory");  // BUG
  y[lane] = v;
}

// == each_block_waits_before_it_tells
__device__ int load_acquire(const int* p) {
  int v;
  asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");  // BUG
  return v;
}
extern "C" __global__ void each_block_waits_before_it_tells(const int* x, int* flags, int* y) {
  if (threadIdx.x == 0) {
    while (load_acquire(&flags[blockIdx.x ^ 1]) == 0) {}  // BUG
    atomicExch(&flags[blockIdx.x], 1);
  }
  __syncthreads();
  y[blockIdx.x * blockDim.x + threadIdx.x] = x[threadIdx.x];
}

// == parameter_that_steps_over_one
extern "C" __global__ void parameter_that_steps_over_one(const float* x, float* y) {
  float a = x[2 * threadIdx.x], b = x[2 * threadIdx.x + 1], length = 0;
  for (float s = 0; s != 1.0f; s += 0.1f) length += fabsf(a * s - b * (1 - s));  // BUG
  y[threadIdx.x] = length;
}

// == sum_with_a_number_that_is_none
__device__ void add(float* address, float value) {
  unsigned* word = reinterpret_cast<unsigned*>(address);
  float old = *address, assumed;
  do {
    assumed = old;
    old = __uint_as_float(atomicCAS(word, __float_as_uint(assumed), __float_as_uint(value + assumed)));  // BUG
  } while (old != assumed);  // BUG
}
extern "C" __global__ void sum_with_a_number_that_is_none(const float* x, float* y) { add(y, x[threadIdx.x]); }

// == ring_walked_to_a_start_beside_it
extern "C" __global__ void ring_walked_to_a_start_beside_it(const int* next, int* lengths) {
  int start = threadIdx.x, node = start, length = 0;
  do {  // BUG
    node = next[node];  // BUG
    ++length;  // BUG
  } while (node != start);  // BUG
  lengths[start] = length;
}

// == root_of_a_negative_number
extern "C" __global__ void root_of_a_negative_number(const int* x, int* y) {
  int v = x[threadIdx.x], low = 0, high = v + 1;
  while (high - low != 1) {  // BUG
    int middle = (low + high) / 2;  // BUG
    if (middle * middle <= v) low = middle;  // BUG
    else high = middle;  // BUG
  }
  y[threadIdx.x] = low;
}

// == clipped_box_expected_as_it_is_seen
extern "C" __global__ void clipped_box_expected_as_it_is_seen(const __grid_constant__ CUtensorMap map, float* y,
                                                              int rows) {
  __shared__ alignas(128) float tile[8][16];
  __shared__ unsigned long long full;
  int t = threadIdx.x, first = blockIdx.x * 8;
  if (t == 0) {
    MBAR_INIT(&full, 1);
    MBAR_EXPECT(&full, 64 * min(8, rows - first));
    TILE_LOAD(tile, map, 0, first, &full);
  }
  __syncthreads();
  MBAR_WAIT(&full, 0);  // BUG
  for (int i = t; i < 16 * min(8, rows - first); i += blockDim.x) y[first * 16 + i] = tile[i / 16][i % 16];
}

// == tensor_tile_read_by_a_warp_that_did_not_wait
extern "C" __global__ void tensor_tile_read_by_a_warp_that_did_not_wait(const __grid_constant__ CUtensorMap map,
                                                                        float* y) {
  __shared__ alignas(128) float tile[8][16];
  __shared__ unsigned long long full;
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&full, 1);
    MBAR_EXPECT(&full, 512);
    TILE_LOAD(tile, map, 0, 0, &full);  // BUG
  }
  __syncthreads();
  if (t < 32) MBAR_WAIT(&full, 0);
  for (int i = t; i < 128; i += blockDim.x) y[i] = tile[i / 16][15 - i % 16];  // BUG
}

// == tensor_tile_stored_without_a_proxy_fence
extern "C" __global__ void tensor_tile_stored_without_a_proxy_fence(const __grid_constant__ CUtensorMap map,
                                                                    const float* x) {
  __shared__ alignas(128) float tile[8][16];
  int t = threadIdx.x;
  for (int i = t; i < 128; i += blockDim.x) tile[i / 16][i % 16] = x[i] + 1;  // BUG
  __syncthreads();
  if (t == 0) {
    TILE_STORE(map, 0, blockIdx.x * 8, tile);  // BUG
    BULK_COMMIT;
    BULK_WAIT_READ;
  }
}

// == tensor_tile_changed_after_the_commit
extern "C" __global__ void tensor_tile_changed_after_the_commit(const __grid_constant__ CUtensorMap map,
                                                                const float* x, int tiles) {
  __shared__ alignas(128) float tile[8][16];
  int t = threadIdx.x;
  for (int k = 0; k < tiles; ++k) {
    for (int i = t; i < 128; i += blockDim.x) tile[i / 16][i % 16] = x[k * 128 + i] + 1;  // BUG
    PROXY_FENCE;
    __syncthreads();
    if (t == 0) {
      TILE_STORE(map, 0, k * 8, tile);  // BUG
      BULK_COMMIT;
    }
    __syncthreads();
  }
  if (t == 0) BULK_WAIT_READ;
}

// == block_ends_while_its_store_reads
extern "C" __global__ void block_ends_while_its_store_reads(const float* x, float* y) {
  __shared__ alignas(16) float tile[96];
  int t = threadIdx.x;
  tile[t] = 2 * x[blockIdx.x * 96 + t];
  PROXY_FENCE;
  __syncthreads();
  if (t == 0) {
    BULK_STORE(y + blockIdx.x * 96, tile, 384);  // BUG
    BULK_COMMIT;
  }
}

// == try_wait_asked_once
extern "C" __global__ void try_wait_asked_once(const float* x, float* y) {
  __shared__ alignas(16) float tile[96];
  __shared__ unsigned long long full;
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&full, 1);
    MBAR_EXPECT(&full, 384);
    BULK_LOAD(tile, x, 384, &full);  // BUG
  }
  __syncthreads();
  int done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(SMEM(&full)) : "memory");
  y[t] = tile[95 - t] + (done ? 0 : 0.5f);  // BUG
}

// == barrier_for_the_warps_of_half_a_warp
extern "C" __global__ void barrier_for_the_warps_of_half_a_warp(const float* x, float* y) {
  __shared__ unsigned long long full;
  __shared__ float s[20];
  int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&full, blockDim.x / 32);  // BUG
  __syncthreads();
  s[t] = x[t];
  if (t % 32 == 0) MBAR_ARRIVE(&full);
  MBAR_WAIT(&full, 0);
  y[t] = s[t];
}

// == multicast_into_a_stage_the_peer_still_reads
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) multicast_into_a_stage_the_peer_still_reads(const float* x, float* y,
                                                                                            int tiles) {
  __shared__ alignas(16) float stage[64];
  __shared__ unsigned long long full, empty;
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, rank = cluster.block_rank();
  if (t == 0) {
    MBAR_INIT(&full, 1);
    MBAR_INIT(&empty, 64);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster.sync();
  for (int k = 0; k < tiles; ++k) {
    if (t == 0) {
      MBAR_EXPECT(&full, 256);
      if (k) MBAR_WAIT(&empty, (k - 1) % 2);
      if (rank == 0) MULTICAST(stage, x + k * 64, 256, &full, 3);  // BUG
    }
    __syncwarp();
    MBAR_WAIT(&full, k % 2);
    float sum = 0;
    for (int j = 0; j < (rank ? 60 : 4); ++j) sum += stage[(t + j) % 64];  // BUG
    y[(rank * tiles + k) * 64 + t] = sum;
    MBAR_ARRIVE(&empty);
  }
  cluster.sync();
}

// == tile_changed_on_its_way_to_the_peer
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) tile_changed_on_its_way_to_the_peer(const float* x, float* y) {
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
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"  // BUG
                 ::"r"(to), "r"(SMEM(mine)), "r"(bar) : "memory");  // BUG
  }
  __syncthreads();
  mine[t] = -1;  // BUG
  MBAR_WAIT(&full, 0);
  y[rank * 64 + t] = theirs[63 - t] + mine[t];
  cluster.sync();
}

// == peer_data_awaited_in_the_scope_of_the_block
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) peer_data_awaited_in_the_scope_of_the_block(const int* x, int* y) {
  __shared__ int inbox[32];
  __shared__ unsigned long long full;
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, rank = cluster.block_rank();
  if (t == 0) {
    MBAR_INIT(&full, 32);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster.sync();
  cluster.map_shared_rank(inbox, rank ^ 1)[t] = x[rank * 32 + t];  // BUG
  MBAR_ARRIVE_AT(&full, rank ^ 1);
  MBAR_WAIT(&full, 0);
  y[rank * 32 + t] = inbox[31 - t];  // BUG
  cluster.sync();
}

// == neighbour_block_counts_after_the_owner_read
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(4) neighbour_block_counts_after_the_owner_read(const int* x, int* y) {
  __shared__ int counts[4];
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, rank = cluster.block_rank();
  if (t < 4) counts[t] = 0;
  cluster.sync();
  atomicAdd(&cluster.map_shared_rank(counts, x[rank * 24 + t] % 4)[rank], 1);  // BUG
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  int sum = 0;
  if (t == 0) for (int k = 0; k < 4; ++k) sum += counts[k];  // BUG
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (t == 0) y[rank] = sum;
}

// == product_of_tiles_without_a_proxy_fence
__device__ unsigned long long descriptor(const void* tile, int leading, int stride) {
  return SMEM(tile) >> 4 | static_cast<unsigned long long>(leading >> 4) << 16 |
         static_cast<unsigned long long>(stride >> 4) << 32;
}
extern "C" __global__ void product_of_tiles_without_a_proxy_fence(const unsigned* x, float* y) {
  __shared__ alignas(128) unsigned a[512], b[128];
  int t = threadIdx.x;
  for (int i = t; i < 512; i += 128) a[i] = x[i];  // BUG
  b[t] = x[512 + t];  // BUG
  __syncthreads();
  float d[8] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, "  // BUG
               "%8, %9, 1, 1, 1, 0, 0;"  // BUG
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
               : "l"(descriptor(a, 1024, 128)), "l"(descriptor(b, 256, 128)));  // BUG
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 8; ++i) y[i * 128 + t] = d[i];
}

// == product_stored_before_it_is_done
__device__ unsigned long long descriptor(const void* tile, int leading, int stride) {
  return SMEM(tile) >> 4 | static_cast<unsigned long long>(leading >> 4) << 16 |
         static_cast<unsigned long long>(stride >> 4) << 32;
}
extern "C" __global__ void product_stored_before_it_is_done(const unsigned* x, float* y) {
  __shared__ alignas(128) unsigned a[512], b[128];
  int t = threadIdx.x;
  for (int i = t; i < 512; i += 128) a[i] = x[i];
  b[t] = x[512 + t];
  PROXY_FENCE;
  __syncthreads();
  float d[8] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, "  // BUG
               "%8, %9, 1, 1, 1, 0, 0;"  // BUG
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
               : "l"(descriptor(a, 1024, 128)), "l"(descriptor(b, 256, 128)));  // BUG
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  for (int i = 0; i < 8; ++i) y[i * 128 + t] = d[i];  // BUG
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// == two_flags_without_a_total_order
#include <cuda/atomic>
extern "C" __global__ void two_flags_without_a_total_order(int* flags, int* total) {
  using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;
  Flag mine(flags[blockIdx.x]), other(flags[blockIdx.x ^ 1]);
  mine.store(1, cuda::memory_order_release);
  if (other.load(cuda::memory_order_acquire) == 0) *total += blockIdx.x + 1;  // BUG
  mine.store(0, cuda::memory_order_release);
}

// == pairs_chosen_by_a_load_and_a_store
extern "C" __global__ void pairs_chosen_by_a_load_and_a_store(const int* partners, int* chosen, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int other = partners[i];
  if (atomicAdd(&chosen[i], 0) == 0 && atomicAdd(&chosen[other], 0) == 0) {  // BUG
    chosen[i] = other + 1;  // BUG
    chosen[other] = i + 1;  // BUG
  }
  y[i] = atomicAdd(&chosen[i], 0);  // BUG
}

// == dimensions_of_the_block_exchanged
extern "C" __global__ void dimensions_of_the_block_exchanged(const float* x, float* y) {
  __shared__ float s[60];
  int t = (threadIdx.z * blockDim.z + threadIdx.y) * blockDim.x + threadIdx.x;
  int i = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  s[t] = x[i];  // BUG
  __syncthreads();
  y[i] = s[t];
}
