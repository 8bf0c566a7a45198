// Kernels for tests/hardware/nineteenth_cases.py: other ones than those of the eighteen sets before, as programs have
// them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define ALL_LANES 0xffffffffu

__device__ __forceinline__ int thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ u32 scrambled(u32 x) {
  x = (x ^ x >> 16) * 0x21f0aaadu;
  x = (x ^ x >> 15) * 0x735a2d97u;
  return x ^ x >> 15;
}

// A thread's random numbers: a counter with a constant step, scrambled.
struct Dice {
  u32 at;
  __device__ __forceinline__ Dice(u32 thread, u32 seed) : at(scrambled(thread + seed * 0x9e3779b9u)) {}
  __device__ __forceinline__ u32 bits() { return scrambled(at += 0x9e3779b9u); }
  __device__ __forceinline__ u32 face(u32 faces) { return __umulhi(bits(), faces); }
  __device__ __forceinline__ float fraction() { return ((bits() >> 8) + 0.5f) * (1.0f / 16777216.0f); }
};

template <class T>
__device__ __forceinline__ T warp_total(T x) {
#pragma unroll
  for (int step = 16; step; step /= 2) x += __shfl_down_sync(ALL_LANES, x, step);
  return x;
}

// The sum over the block's threads, for each of them.
__device__ float block_total(float x) {
  __shared__ float parts[32];
  __shared__ float whole;
  x = warp_total(x);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x < 32) {
    x = warp_total(threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) whole = x;
  }
  __syncthreads();
  return whole;
}

// ------------------------------------------------------------------------------------------------- reductions and scans

__global__ void harmonic_means(const float* __restrict__ in, float* __restrict__ out, int columns) {
  const float* row = in + (size_t)blockIdx.x * columns;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += 1.0f / (row[j] + 0.25f);
  sum = block_total(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = columns / sum;
}

__global__ void total_variation(const float* __restrict__ in, float* out, int n) {
  float sum = 0.0f;
  for (int k = thread_number(); k + 1 < n; k += gridDim.x * blockDim.x) sum += fabsf(in[k + 1] - in[k]);
  sum = warp_total(sum);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

// The largest magnitude of each signal over its root mean square; a tree in shared memory for both.
__global__ void signal_crests(const float* __restrict__ in, float* __restrict__ out, int length) {
  extern __shared__ float2 both[];
  const float* signal = in + (size_t)blockIdx.x * length;
  float most = 0.0f, power = 0.0f;
  for (int j = threadIdx.x; j < length; j += blockDim.x) {
    const float x = signal[j];
    most = fmaxf(most, fabsf(x));
    power += x * x;
  }
  both[threadIdx.x] = make_float2(most, power);
  __syncthreads();
  for (int half = blockDim.x / 2; half; half /= 2) {
    if (threadIdx.x < half) {
      const float2 a = both[threadIdx.x], b = both[threadIdx.x + half];
      both[threadIdx.x] = make_float2(fmaxf(a.x, b.x), a.y + b.y);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = both[0].x * rsqrtf(both[0].y / length);
}

// XOR of all words up to each one, per row of a block: warps by shuffles, then over the warps.
__global__ void running_parity(const u32* __restrict__ in, u32* __restrict__ out, int length) {
  __shared__ u32 of_warp[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const size_t first = (size_t)blockIdx.x * length;
  u32 before = 0;
  for (int start = 0; start < length; start += blockDim.x) {
    const int j = start + threadIdx.x;
    u32 x = j < length ? in[first + j] : 0;
    for (int step = 1; step < 32; step *= 2) {
      const u32 lower = __shfl_up_sync(ALL_LANES, x, step);
      if (lane >= step) x ^= lower;
    }
    if (lane == 31) of_warp[warp] = x;
    __syncthreads();
    u32 all = before;
    for (int w = 0; w < warps; w++) {
      if (w == warp) x ^= all;
      all ^= of_warp[w];
    }
    if (j < length) out[first + j] = x;
    before = all;
    __syncthreads();
  }
}

// A step of an account that stays within limits: add, then keep within [low, high]. Two steps are one such step.
struct Limited {
  int add, low, high;
};

__device__ __forceinline__ Limited after(Limited a, Limited b) {
  return {a.add + b.add, min(max(a.low + b.add, b.low), b.high), min(max(a.high + b.add, b.low), b.high)};
}

__device__ __forceinline__ Limited from_lower_lane(Limited x, int step) {
  return {__shfl_up_sync(ALL_LANES, x.add, step), __shfl_up_sync(ALL_LANES, x.low, step),
          __shfl_up_sync(ALL_LANES, x.high, step)};
}

// The fill of a tank after each change, never below 0 or above its size. A row per block; a thread takes 4 changes.
__global__ void tank_levels(const int4* __restrict__ changes, int4* __restrict__ levels, int quads, int size) {
  __shared__ Limited of_warp[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const size_t first = (size_t)blockIdx.x * quads;
  int level = 0;
  for (int start = 0; start < quads; start += blockDim.x) {
    const int j = start + threadIdx.x;
    const int4 c = j < quads ? changes[first + j] : make_int4(0, 0, 0, 0);
    Limited own = {c.x, 0, size};
    own = after(after(after(own, {c.y, 0, size}), {c.z, 0, size}), {c.w, 0, size});
    for (int step = 1; step < 32; step *= 2) {
      const Limited lower = from_lower_lane(own, step);
      if (lane >= step) own = after(lower, own);
    }
    if (lane == 31) of_warp[warp] = own;
    __syncthreads();
    int here = level;
    for (int w = 0; w < warps; w++) {
      if (w == warp) here = level;
      level = min(max(level + of_warp[w].add, of_warp[w].low), of_warp[w].high);
    }
    const Limited lower = from_lower_lane(own, 1);
    if (lane) here = min(max(here + lower.add, lower.low), lower.high);
    int4 found;
    found.x = here = min(max(here + c.x, 0), size);
    found.y = here = min(max(here + c.y, 0), size);
    found.z = here = min(max(here + c.z, 0), size);
    found.w = min(max(here + c.w, 0), size);
    if (j < quads) levels[first + j] = found;
    __syncthreads();
  }
}

// How often the wind blows from each of 16 directions with each of 8 strengths.
__global__ void wind_roses(const float2* __restrict__ winds, int* rose, int n) {
  __shared__ int bins[128];
  for (int b = threadIdx.x; b < 128; b += blockDim.x) bins[b] = 0;
  __syncthreads();
  for (int k = thread_number(); k < n; k += gridDim.x * blockDim.x) {
    const float2 w = winds[k];
    const int direction = (int)floorf(atan2f(w.y, w.x) * 2.546479f + 0.5f) & 15;
    const int strength = min((int)(2.0f * sqrtf(w.x * w.x + w.y * w.y)), 7);
    atomicAdd(&bins[8 * direction + strength], 1);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 128; b += blockDim.x)
    if (bins[b]) atomicAdd(&rose[b], bins[b]);
}

// Buckets of response times: 8 per power of two, straight in global memory.
__global__ void latency_buckets(const u32* __restrict__ times, int* buckets, int n) {
  const int k = thread_number();
  if (k >= n) return;
  const u32 t = times[k] | 8;
  const int power = 28 - __clz(t);
  atomicAdd(&buckets[8 * power + (t >> power) - 8], 1);
}

// -------------------------------------------------------------------------------------------------------------- stencils

// A species that spreads along a ring and grows where there is room; one ring per block.
__global__ void species_fronts(const float* __restrict__ in, float* __restrict__ out, int cells, int steps) {
  extern __shared__ float held[];
  float *now = held, *next = held + cells;
  const size_t first = (size_t)blockIdx.x * cells;
  for (int c = threadIdx.x; c < cells; c += blockDim.x) now[c] = in[first + c];
  __syncthreads();
  for (int s = 0; s < steps; s++) {
    for (int c = threadIdx.x; c < cells; c += blockDim.x) {
      const float left = now[c ? c - 1 : cells - 1], u = now[c], right = now[c + 1 < cells ? c + 1 : 0];
      next[c] = u + 0.2f * (left - 2.0f * u + right) + 0.1f * u * (1.0f - u);
    }
    __syncthreads();
    float* other = now;
    now = next;
    next = other;
  }
  for (int c = threadIdx.x; c < cells; c += blockDim.x) out[first + c] = now[c];
}

// Where water runs from each place of a terrain: the neighbour with the steepest way down, or -1.
__global__ void steepest_neighbours(const float* __restrict__ height, signed char* __restrict__ out, int width,
                                    int rows) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= rows) return;
  const float own = height[y * width + x];
  float best = 0.0f;
  int way = -1;
  for (int j = 0; j < 9; j++) {
    const int dx = j % 3 - 1, dy = j / 3 - 1, nx = x + dx, ny = y + dy;
    if (j == 4 || nx < 0 || ny < 0 || nx >= width || ny >= rows) continue;
    const float drop = (own - height[ny * width + nx]) * (dx && dy ? 0.70710678f : 1.0f);
    if (drop > best) best = drop, way = j;
  }
  out[y * width + x] = way;
}

// A step of an alloy that separates: the Laplacian of c^3 - c - laplacian(c), both in tiles with borders.
__global__ void alloy_step(const float* __restrict__ in, float* __restrict__ out, int width, int height, float step) {
  extern __shared__ float tile[];
  const int w = blockDim.x + 4, h = blockDim.y + 4, threads = blockDim.x * blockDim.y;
  const int own = threadIdx.y * blockDim.x + threadIdx.x;
  const int left = blockIdx.x * blockDim.x - 2, top = blockIdx.y * blockDim.y - 2;
  float* potential = tile + w * h;
  for (int k = own; k < w * h; k += threads) {
    const int x = min(max(left + k % w, 0), width - 1), y = min(max(top + k / w, 0), height - 1);
    tile[k] = in[y * width + x];
  }
  __syncthreads();
  for (int k = own; k < (w - 2) * (h - 2); k += threads) {
    const int at = (k / (w - 2) + 1) * w + k % (w - 2) + 1;
    const float c = tile[at];
    potential[k] = c * c * c - c - (tile[at - 1] + tile[at + 1] + tile[at - w] + tile[at + w] - 4.0f * c);
  }
  __syncthreads();
  const int x = left + 2 + threadIdx.x, y = top + 2 + threadIdx.y;
  if (x >= width || y >= height) return;
  const int wide = w - 2, at = (threadIdx.y + 1) * wide + threadIdx.x + 1;
  const float change = potential[at - 1] + potential[at + 1] + potential[at - wide] + potential[at + wide];
  out[y * width + x] = tile[(threadIdx.y + 2) * w + threadIdx.x + 2] + step * (change - 4.0f * potential[at]);
}

// ------------------------------------------------------------------------------------------------ transposes, products

// Tiles of 32 x 32; an XOR with the row keeps the columns in different banks.
__global__ void swizzled_transpose(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  __shared__ float tile[32][32];
  const int left = 32 * blockIdx.x, top = 32 * blockIdx.y;
  for (int y = threadIdx.y; y < 32; y += blockDim.y)
    tile[y][threadIdx.x ^ y] = in[(size_t)(top + y) * width + left + threadIdx.x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += blockDim.y)
    out[(size_t)(left + y) * height + top + threadIdx.x] = tile[threadIdx.x][y ^ threadIdx.x];
}

// Axes (a, b, c) in the order (c, a, b): each thread finds its place by divisions.
__global__ void axes_rotated(const float* __restrict__ in, float* __restrict__ out, int a, int b, int c) {
  const int k = thread_number();
  if (k >= a * b * c) return;
  const int j = k % b, i = k / b % a, l = k / (a * b);
  out[k] = in[(i * b + j) * c + l];
}

// A tall matrix times one of 8 columns, which lies in shared memory: a row per thread.
__global__ void tall_by_eight(const float4* __restrict__ tall, const float* __restrict__ small,
                              float4* __restrict__ out, int rows, int inner) {
  extern __shared__ float4 weights[];
  for (int j = threadIdx.x; j < 2 * inner; j += blockDim.x) weights[j] = reinterpret_cast<const float4*>(small)[j];
  __syncthreads();
  const int row = thread_number();
  if (row >= rows) return;
  float sums[8] = {};
  for (int q = 0; q < inner / 4; q++) {
    const float4 v = tall[(size_t)row * (inner / 4) + q];
    const float x[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const float4 a = weights[8 * q + 2 * j], b = weights[8 * q + 2 * j + 1];
      sums[0] += x[j] * a.x, sums[1] += x[j] * a.y, sums[2] += x[j] * a.z, sums[3] += x[j] * a.w;
      sums[4] += x[j] * b.x, sums[5] += x[j] * b.y, sums[6] += x[j] * b.z, sums[7] += x[j] * b.w;
    }
  }
  out[2 * row] = make_float4(sums[0], sums[1], sums[2], sums[3]);
  out[2 * row + 1] = make_float4(sums[4], sums[5], sums[6], sums[7]);
}

// Products of 6 x 6 matrices, one per thread, the elements of a matrix behind each other.
__global__ void products_6x6(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out, int n) {
  const int k = thread_number();
  if (k >= n) return;
  float right[36];
#pragma unroll
  for (int j = 0; j < 36; j++) right[j] = b[36 * k + j];
#pragma unroll
  for (int r = 0; r < 6; r++) {
    float sums[6] = {};
#pragma unroll
    for (int j = 0; j < 6; j++) {
      const float x = a[36 * k + 6 * r + j];
#pragma unroll
      for (int c = 0; c < 6; c++) sums[c] += x * right[6 * j + c];
    }
#pragma unroll
    for (int c = 0; c < 6; c++) out[36 * k + 6 * r + c] = sums[c];
  }
}

// A product of half matrices; a thread computes four rows of two columns, all from global memory.
__global__ void half_four_rows(const __half* __restrict__ a, const __half2* __restrict__ b, __half2* __restrict__ c,
                               int rows, int pairs, int inner) {
  const int k = thread_number(), column = k % pairs, row = k / pairs * 4;
  if (row >= rows) return;
  __half2 sums[4];
#pragma unroll
  for (int r = 0; r < 4; r++) sums[r] = __float2half2_rn(0.0f);
  for (int j = 0; j < inner; j++) {
    const __half2 right = b[(size_t)j * pairs + column];
#pragma unroll
    for (int r = 0; r < 4; r++) sums[r] = __hfma2(__half2half2(a[(row + r) * inner + j]), right, sums[r]);
  }
#pragma unroll
  for (int r = 0; r < 4; r++) c[(size_t)(row + r) * pairs + column] = sums[r];
}

__device__ __forceinline__ void mma_half(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void mma_byte(int (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Squared distances of all pairs of points: a warp computes 16 x 16 of them with tensor cores. Two coordinates per word.
__global__ void mma_distances(const u32* __restrict__ points, const float* __restrict__ norms, float* __restrict__ out,
                              int n, int words) {
  const int warp = thread_number() / 32, group = threadIdx.x % 32 / 4, place = threadIdx.x % 4, across = n / 16;
  const int row = warp / across * 16 + group, column = warp % across * 16 + group;
  if (row >= n) return;
  float sums[2][4] = {};
  for (int j = place; j < words; j += 8) {
    const u32 a[4] = {points[row * words + j], points[(row + 8) * words + j], points[row * words + j + 4],
                      points[(row + 8) * words + j + 4]};
#pragma unroll
    for (int t = 0; t < 2; t++)
      mma_half(sums[t], a, points[(column + 8 * t) * words + j], points[(column + 8 * t) * words + j + 4]);
  }
#pragma unroll
  for (int k = 0; k < 8; k++) {
    const int r = row + k % 4 / 2 * 8, c = column - group + 8 * (k / 4) + 2 * place + k % 2;
    out[(size_t)r * n + c] = norms[r] + norms[c] - 2.0f * sums[k / 4][k % 4];
  }
}

// Scores of byte vectors against others: 16 x 32 per warp, four tiles with the same left factor. Four bytes per word.
__global__ void mma_byte_scores(const u32* __restrict__ a, const u32* __restrict__ b, int* __restrict__ out, int rows,
                                int columns, int words) {
  const int warp = thread_number() / 32, group = threadIdx.x % 32 / 4, place = threadIdx.x % 4, across = columns / 32;
  const int row = warp / across * 16 + group, column = warp % across * 32;
  if (row >= rows) return;
  int sums[4][4] = {};
  for (int j = place; j < words; j += 8) {
    const u32 left[4] = {a[row * words + j], a[(row + 8) * words + j], a[row * words + j + 4],
                         a[(row + 8) * words + j + 4]};
#pragma unroll
    for (int t = 0; t < 4; t++) {
      const u32* right = b + (column + 8 * t + group) * words + j;
      mma_byte(sums[t], left, right[0], right[4]);
    }
  }
#pragma unroll
  for (int t = 0; t < 4; t++) {
    int2* own = reinterpret_cast<int2*>(out + (size_t)row * columns + column + 8 * t + 2 * place);
    own[0] = make_int2(sums[t][0], sums[t][1]);
    own[4 * columns] = make_int2(sums[t][2], sums[t][3]);
  }
}

// A complex matrix times a vector, a row per warp.
__global__ void complex_gemv(const float2* __restrict__ matrix, const float2* __restrict__ x, float2* __restrict__ out,
                             int rows, int columns) {
  const int row = thread_number() / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float re = 0.0f, im = 0.0f;
  for (int j = lane; j < columns; j += 32) {
    const float2 a = matrix[(size_t)row * columns + j], b = x[j];
    re += a.x * b.x - a.y * b.y;
    im += a.x * b.y + a.y * b.x;
  }
  re = warp_total(re);
  im = warp_total(im);
  if (lane == 0) out[row] = make_float2(re, im);
}

// A symmetric update of rank two: A - u v' - v u'.
__global__ void rank_two_update(const float* __restrict__ in, const float* __restrict__ u, const float* __restrict__ v,
                                float* __restrict__ out, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n || row >= n) return;
  out[(size_t)row * n + column] = in[(size_t)row * n + column] - u[row] * v[column] - v[row] * u[column];
}

// ---------------------------------------------------------------------------------------------- sparse, sorts and merges

// Rows by falling length; the k-th elements of all rows that have one stand behind each other.
__global__ void jagged_diagonals(const int* __restrict__ starts, const int* __restrict__ columns,
                                 const float* __restrict__ values, const float* __restrict__ x,
                                 float* __restrict__ out, int rows, int diagonals) {
  const int row = thread_number();
  if (row >= rows) return;
  float sum = 0.0f;
  for (int d = 0; d < diagonals; d++) {
    const int k = starts[d] + row;
    if (k >= starts[d + 1]) break;
    sum += values[k] * x[columns[k]];
  }
  out[row] = sum;
}

// A sparse matrix by columns times a vector: a column per warp, sums by atomics.
__global__ void column_scatter(const int* __restrict__ starts, const int* __restrict__ rows,
                               const float* __restrict__ x, float* out, int columns) {
  const int column = thread_number() / 32;
  if (column >= columns) return;
  const float factor = x[column];
  for (int k = starts[column] + threadIdx.x % 32; k < starts[column + 1]; k += 32) atomicAdd(&out[rows[k]], factor);
}

// How many members each list shares with the next one; both rise, and one thread walks along both.
__global__ void shared_with_next(const int* __restrict__ starts, const int* __restrict__ members,
                                 int* __restrict__ out, int n) {
  const int k = thread_number();
  if (k + 1 >= n) return;
  int a = starts[k], b = starts[k + 1], found = 0;
  const int a_end = b, b_end = starts[k + 2];
  while (a < a_end && b < b_end) {
    const int x = members[a], y = members[b];
    found += x == y;
    a += x <= y;
    b += y <= x;
  }
  out[k] = found;
}

// Rows with a bit per column; only the values of set bits are stored. A row per warp, a column per lane.
__global__ void masked_rows(const u32* __restrict__ masks, const float* __restrict__ values,
                            const float* __restrict__ x, float* __restrict__ out, int rows, int words) {
  const int row = thread_number() / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* own = values + (size_t)row * words * 32;
  const u32 lower = (1u << lane) - 1;
  float sum = 0.0f;
  int before = 0;
  for (int w = 0; w < words; w++) {
    const u32 mask = masks[(size_t)row * words + w];
    if (mask >> lane & 1) sum += own[before + __popc(mask & lower)] * x[32 * w + lane];
    before += __popc(mask);
  }
  sum = warp_total(sum);
  if (lane == 0) out[row] = sum;
}

// A block orders its keys by 4 of their bits and keeps the order of equal ones.
__global__ void radix_step(const u32* __restrict__ keys, u32* __restrict__ out, int shift) {
  __shared__ int counts[16 * 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int k = threadIdx.x; k < 16 * warps; k += blockDim.x) counts[k] = 0;
  __syncthreads();
  const u32 key = keys[thread_number()];
  const int digit = key >> shift & 15;
  const u32 same = __match_any_sync(ALL_LANES, digit);
  const int rank = __popc(same & ((1u << lane) - 1));
  if (rank == 0) counts[digit * warps + warp] = __popc(same);
  __syncthreads();
  if (warp == 0) {
    int before = 0;
    for (int start = 0; start < 16 * warps; start += 32) {
      const bool inside = start + lane < 16 * warps;
      const int own = inside ? counts[start + lane] : 0;
      int x = own;
      for (int step = 1; step < 32; step *= 2) {
        const int lower = __shfl_up_sync(ALL_LANES, x, step);
        if (lane >= step) x += lower;
      }
      if (inside) counts[start + lane] = before + x - own;
      before += __shfl_sync(ALL_LANES, x, 31);
    }
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + counts[digit * warps + warp] + rank] = key;
}

// Each thread merges two sorted lists; the j-th elements of all lists stand beside each other.
__global__ void zipper_merges(const int* __restrict__ a, const int* __restrict__ b, int* __restrict__ out, int n,
                              int length) {
  const int k = thread_number();
  if (k >= n) return;
  int i = 0, j = 0, x = a[k], y = b[k];
  for (int t = 0; t < 2 * length; t++) {
    if (j >= length || (i < length && x <= y)) {
      out[t * n + k] = x;
      if (++i < length) x = a[i * n + k];
    } else {
      out[t * n + k] = y;
      if (++j < length) y = b[j * n + k];
    }
  }
}

// Each block sets the smaller ones of its piece first, then those like the pivot, then the greater ones.
__global__ void dutch_flags(const int* __restrict__ in, int* __restrict__ out, int length, int pivot) {
  __shared__ int of_warp[3][32];
  __shared__ int next[3];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const int* piece = in + (size_t)blockIdx.x * length;
  if (threadIdx.x < 3) next[threadIdx.x] = 0;
  __syncthreads();
  int smaller = 0, like = 0;
  for (int j = threadIdx.x; j < length; j += blockDim.x) {
    smaller += piece[j] < pivot;
    like += piece[j] == pivot;
  }
  smaller = warp_total(smaller);
  like = warp_total(like);
  if (lane == 0) {
    atomicAdd(&next[1], smaller);
    atomicAdd(&next[2], smaller + like);
  }
  __syncthreads();
  for (int start = 0; start < length; start += blockDim.x) {
    const int j = start + threadIdx.x;
    const int x = j < length ? piece[j] : 0, kind = j >= length ? 3 : x < pivot ? 0 : x == pivot ? 1 : 2;
    int rank = 0;
#pragma unroll
    for (int k = 0; k < 3; k++) {
      const u32 same = __ballot_sync(ALL_LANES, kind == k);
      if (kind == k) rank = __popc(same & ((1u << lane) - 1));
      if (lane == 0) of_warp[k][warp] = __popc(same);
    }
    __syncthreads();
    if (threadIdx.x < 3)
      for (int w = 0; w < warps; w++) {
        const int count = of_warp[threadIdx.x][w];
        of_warp[threadIdx.x][w] = next[threadIdx.x];
        next[threadIdx.x] += count;
      }
    __syncthreads();
    if (kind < 3) out[(size_t)blockIdx.x * length + of_warp[kind][warp] + rank] = x;
    __syncthreads();
  }
}

// Sorts stacks of 12 by turning the top over; out: how many turns each stack takes.
__global__ void pancake_sorts(const int* __restrict__ stacks, int* __restrict__ out, int n) {
  const int k = thread_number();
  if (k >= n) return;
  int own[12], turns = 0;
  for (int j = 0; j < 12; j++) own[j] = stacks[j * n + k];
  for (int size = 12; size > 1; size--) {
    int most = 0;
    for (int j = 1; j < size; j++)
      if (own[j] > own[most]) most = j;
    if (most == size - 1) continue;
    for (int a = 0, b = most; a < b; a++, b--) {
      const int x = own[a];
      own[a] = own[b];
      own[b] = x;
    }
    for (int a = 0, b = size - 1; a < b; a++, b--) {
      const int x = own[a];
      own[a] = own[b];
      own[b] = x;
    }
    turns += 1 + (most > 0);
  }
  out[k] = turns;
}

// ------------------------------------------------------------------------------------------------------ bytes and texts

// Small letters for capital ones and back, four characters per word.
__global__ void swapped_cases(const u32* __restrict__ text, u32* __restrict__ out, int words) {
  for (int k = thread_number(); k < words; k += gridDim.x * blockDim.x) {
    const u32 w = text[k], folded = w | 0x20202020u, plain = folded & 0x7f7f7f7fu;
    const u32 from_a = plain + 0x1f1f1f1fu, behind_z = plain + 0x05050505u;
    out[k] = w ^ (from_a & ~behind_z & ~w & 0x80808080u) >> 2;
  }
}

// Eight hexadecimal digits, given as two words of characters, become a number.
__global__ void hex_numbers(const uint2* __restrict__ text, u32* __restrict__ out, int n) {
  const int k = thread_number();
  if (k >= n) return;
  const uint2 w = text[k];
  u32 found = 0;
#pragma unroll
  for (int j = 0; j < 8; j++) {
    const u32 c = (j < 4 ? w.x : w.y) >> 8 * (j % 4) & 255;
    found = found << 4 | (c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
  }
  out[k] = found;
}

__constant__ u8 vigenere_key[16] = {11, 4, 19, 20, 2, 8, 17, 13, 0, 24, 6, 15, 3, 21, 9, 25};

// Letters moved by a key that repeats. The step from letter to letter of a thread is the number of threads.
__global__ void vigenere_letters(const u8* __restrict__ text, u8* __restrict__ out, int n) {
  for (int k = thread_number(); k < n; k += gridDim.x * blockDim.x)
    out[k] = 'a' + (text[k] - 'a' + vigenere_key[k % 16]) % 26;
}

// The internet's checksum of packets of different lengths, a packet per warp.
__global__ void packet_checksums(const u16* __restrict__ bytes, const int* __restrict__ starts, u16* __restrict__ out,
                                 int packets) {
  const int packet = thread_number() / 32, lane = threadIdx.x % 32;
  if (packet >= packets) return;
  u32 sum = 0;
  for (int k = starts[packet] + lane; k < starts[packet + 1]; k += 32) sum += bytes[k];
  sum = warp_total(sum);
  if (lane == 0) {
    sum = (sum & 65535) + (sum >> 16);
    out[packet] = ~(sum + (sum >> 16));
  }
}

// The other strand of each read, from its end; sixteen bases of two bits per word, W words per read.
template <int W>
__global__ void other_strands(const u32* __restrict__ reads, u32* __restrict__ out, int n) {
  const int k = thread_number();
  if (k >= n) return;
  u32 own[W];
#pragma unroll
  for (int j = 0; j < W; j++) own[j] = reads[(size_t)k * W + j];
#pragma unroll
  for (int j = 0; j < W; j++) {
    const u32 turned = __brev(own[W - 1 - j]);
    out[(size_t)k * W + j] = ~((turned & 0x55555555u) << 1 | (turned >> 1 & 0x55555555u));
  }
}

// Edit distance where two neighbours may also change places; words of 12 letters, three rows of the table.
__global__ void damerau_distances(const u8* __restrict__ first, const u8* __restrict__ second, u8* __restrict__ out,
                                  int n) {
  const int k = thread_number();
  if (k >= n) return;
  u8 a[12], b[12], rows[3][13];
  for (int j = 0; j < 12; j++) a[j] = first[j * n + k], b[j] = second[j * n + k];
  for (int j = 0; j <= 12; j++) rows[0][j] = j;
  for (int i = 1; i <= 12; i++) {
    u8 *own = rows[i % 3], *above = rows[(i + 2) % 3], *two = rows[(i + 1) % 3];
    own[0] = i;
    for (int j = 1; j <= 12; j++) {
      int best = above[j - 1] + (a[i - 1] != b[j - 1]);
      best = min(best, min(above[j], own[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) best = min(best, two[j - 2] + 1);
      own[j] = best;
    }
  }
  out[k] = rows[0][12];
}

// Lines without spaces that follow a space; a line per block, places by ballots.
__global__ void squeezed_lines(const u8* __restrict__ lines, u8* __restrict__ out, int* __restrict__ lengths,
                               int length) {
  __shared__ int of_warp[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const u8* line = lines + (size_t)blockIdx.x * length;
  int done = 0;
  for (int start = 0; start < length; start += blockDim.x) {
    const int j = start + threadIdx.x;
    const u8 c = j < length ? line[j] : ' ';
    const bool keep = j < length && !(c == ' ' && j && line[j - 1] == ' ');
    const u32 kept = __ballot_sync(ALL_LANES, keep);
    if (lane == 0) of_warp[warp] = __popc(kept);
    __syncthreads();
    int place = done + __popc(kept & ((1u << lane) - 1));
    for (int w = 0; w < warps; w++) {
      if (w < warp) place += of_warp[w];
      done += of_warp[w];
    }
    if (keep) out[(size_t)blockIdx.x * length + place] = c;
    __syncthreads();
  }
  if (threadIdx.x == 0) lengths[blockIdx.x] = done;
}

// --------------------------------------------------------------------------------------------------------------- graphs

// One step of the widest ways between all pairs: by way of one more place.
__global__ void widest_ways(const int* __restrict__ in, int* __restrict__ out, int n, int by) {
  const int to = blockIdx.x * blockDim.x + threadIdx.x, from = blockIdx.y * blockDim.y + threadIdx.y;
  if (to >= n || from >= n) return;
  out[from * n + to] = max(in[from * n + to], min(in[from * n + by], in[by * n + to]));
}

// Samples of two neighbours of a node: are they neighbours of each other? Neighbours rise, so a thread halves a range.
__global__ void closed_samples(const int* __restrict__ starts, const int* __restrict__ members, int* __restrict__ out,
                               int nodes, int samples) {
  const int node = thread_number();
  if (node >= nodes) return;
  const int first = starts[node], count = starts[node + 1] - first;
  Dice dice(node, 3);
  int closed = 0;
  for (int s = 0; s < samples && count > 1; s++) {
    const int a = members[first + dice.face(count)], b = members[first + dice.face(count)];
    int low = starts[a], high = starts[a + 1];
    while (low < high) {
      const int middle = (low + high) / 2;
      if (members[middle] < b)
        low = middle + 1;
      else
        high = middle;
    }
    closed += low < starts[a + 1] && members[low] == b;
  }
  out[node] = closed;
}

// The sum over all edges of the product of the degrees at both ends.
__global__ void degree_products(const int* __restrict__ starts, const int* __restrict__ members, u64* out, int nodes) {
  u64 sum = 0;
  for (int node = thread_number(); node < nodes; node += gridDim.x * blockDim.x) {
    const int first = starts[node], end = starts[node + 1];
    u64 around = 0;
    for (int k = first; k < end; k++) {
      const int other = members[k];
      around += starts[other + 1] - starts[other];
    }
    sum += around * (end - first);
  }
  sum = warp_total(sum);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

// -------------------------------------------------------------------------------------------------- dynamic programming

// The least work for a product of 8 matrices, over all orders; a chain per thread, its table in local memory.
__global__ void chain_costs(const int* __restrict__ sizes, int* __restrict__ out, int n) {
  const int k = thread_number();
  if (k >= n) return;
  int side[9], cost[8][8];
  for (int j = 0; j < 9; j++) side[j] = sizes[j * n + k];
  for (int j = 0; j < 8; j++) cost[j][j] = 0;
  for (int span = 1; span < 8; span++)
    for (int a = 0; a + span < 8; a++) {
      const int b = a + span;
      int best = 0x7fffffff;
      for (int m = a; m < b; m++) best = min(best, cost[a][m] + cost[m + 1][b] + side[a] * side[m + 1] * side[b + 1]);
      cost[a][b] = best;
    }
  out[k] = cost[0][7];
}

// What a rod brings at most if it is cut well; each thread has its own prices.
__global__ void rod_cuts(const int* __restrict__ prices, int* __restrict__ out, int n, int length) {
  const int k = thread_number();
  if (k >= n) return;
  int best[33];
  best[0] = 0;
  for (int size = 1; size <= length; size++) {
    int most = 0;
    for (int cut = 1; cut <= size; cut++) most = max(most, prices[(cut - 1) * n + k] + best[size - cut]);
    best[size] = most;
  }
  out[k] = best[length];
}

// The least mean depth of a search tree over weighted keys: diagonals of a table in shared memory, a tree per block.
__global__ void search_tree_costs(const int* __restrict__ weights, int* __restrict__ out, int keys) {
  extern __shared__ int table[];
  int* before = table + (keys + 1) * (keys + 1);
  const int* own = weights + blockIdx.x * keys;
  for (int j = threadIdx.x; j < (keys + 1) * (keys + 1); j += blockDim.x) table[j] = 0;
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int j = 0; j < keys; j++) before[j] = sum, sum += own[j];
    before[keys] = sum;
  }
  __syncthreads();
  for (int span = 1; span <= keys; span++) {
    for (int a = threadIdx.x; a + span <= keys; a += blockDim.x) {
      int best = 0x7fffffff;
      for (int root = a; root < a + span; root++)
        best = min(best, table[a * (keys + 1) + root] + table[(root + 1) * (keys + 1) + a + span]);
      table[a * (keys + 1) + a + span] = best + before[a + span] - before[a];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = table[keys];
}

// ------------------------------------------------------------------------------------------------------------- at random

// How many of a thread's needles cross a line between boards.
__global__ void buffon_needles(int* __restrict__ out, int n, int throws, float length, u32 seed) {
  const int k = thread_number();
  if (k >= n) return;
  Dice dice(k, seed);
  int crossed = 0;
  for (int t = 0; t < throws; t++) {
    const float middle = dice.fraction(), angle = 3.14159265f * dice.fraction(), reach = 0.5f * length * __sinf(angle);
    crossed += middle < reach || middle > 1.0f - reach;
  }
  out[k] = crossed;
}

// How many people come in until two have the same birthday.
__global__ void shared_birthdays(int* __restrict__ out, int n, u32 seed) {
  const int k = thread_number();
  if (k >= n) return;
  Dice dice(k, seed);
  u32 taken[12] = {};
  int people = 0;
  while (true) {
    const u32 day = dice.face(365), bit = 1u << day % 32;
    people++;
    if (taken[day / 32] & bit) break;
    taken[day / 32] |= bit;
  }
  out[k] = people;
}

__constant__ float basket_roots[10] = {0.20f, 0.06f, 0.25f, 0.03f, 0.08f, 0.22f, 0.05f, 0.02f, 0.07f, 0.30f};

// What an option on the mean of four assets that move together pays, one path per thread and turn.
__global__ void basket_options(float* __restrict__ out, int n, int paths, float strike, u32 seed) {
  const int k = thread_number();
  if (k >= n) return;
  Dice dice(k, seed);
  float sum = 0.0f;
  for (int p = 0; p < paths; p++) {
    float z[4];
#pragma unroll
    for (int j = 0; j < 4; j += 2) {
      const float radius = sqrtf(-2.0f * __logf(dice.fraction())), angle = 6.2831853f * dice.fraction();
      z[j] = radius * __cosf(angle);
      z[j + 1] = radius * __sinf(angle);
    }
    float mean = 0.0f;
#pragma unroll
    for (int a = 0, at = 0; a < 4; a++) {
      float moved = 0.0f;
#pragma unroll
      for (int j = 0; j <= a; j++) moved += basket_roots[at++] * z[j];
      mean += 0.25f * __expf(moved);
    }
    sum += fmaxf(mean - strike, 0.0f);
  }
  out[k] = sum / paths;
}

// A walker between two wells: each step is taken or not, by chance.
__global__ void two_wells(float* __restrict__ out, int n, int steps, float heat, u32 seed) {
  const int k = thread_number();
  if (k >= n) return;
  Dice dice(k, seed);
  float x = 1.0f, energy = 0.0f, sum = 0.0f;
  for (int s = 0; s < steps; s++) {
    const float next = x + dice.fraction() - 0.5f, higher = (next * next - 1.0f) * (next * next - 1.0f);
    if (dice.fraction() < __expf((energy - higher) / heat)) x = next, energy = higher;
    sum += x;
  }
  out[k] = sum / steps;
}

// How many packets one buys until every picture is there.
__global__ void sticker_albums(int* __restrict__ out, int n, int pictures, u32 seed) {
  const int k = thread_number();
  if (k >= n) return;
  Dice dice(k, seed);
  u64 missing = (1ull << pictures) - 1;
  int bought = 0;
  while (missing) {
    missing &= ~(1ull << dice.face(pictures));
    bought++;
  }
  out[k] = bought;
}

// --------------------------------------------------------------------------------------------------------------- bodies

// How whirls in a plane move each other; tiles of them in shared memory.
__global__ void whirl_speeds(const float3* __restrict__ whirls, float2* __restrict__ out, int n, float core) {
  extern __shared__ float3 near_whirls[];
  const int k = thread_number();
  const float3 own = k < n ? whirls[k] : make_float3(0.0f, 0.0f, 0.0f);
  float across = 0.0f, up = 0.0f;
  for (int start = 0; start < n; start += blockDim.x) {
    if (start + threadIdx.x < n) near_whirls[threadIdx.x] = whirls[start + threadIdx.x];
    __syncthreads();
    const int count = min((int)blockDim.x, n - start);
    for (int j = 0; j < count; j++) {
      const float dx = own.x - near_whirls[j].x, dy = own.y - near_whirls[j].y;
      const float strength = __fdividef(near_whirls[j].z, dx * dx + dy * dy + core);
      across -= strength * dy;
      up += strength * dx;
    }
    __syncthreads();
  }
  if (k < n) out[k] = make_float2(across, up);
}

// Screened charges: each thread reads all others through the caches.
__global__ void screened_charges(const float4* __restrict__ charges, float* __restrict__ out, int n, float reach) {
  const int k = thread_number();
  if (k >= n) return;
  const float4 own = charges[k];
  float sum = 0.0f;
  for (int j = 0; j < n; j++) {
    const float4 c = charges[j];
    const float dx = own.x - c.x, dy = own.y - c.y, dz = own.z - c.z, square = dx * dx + dy * dy + dz * dz + 0.01f;
    const float inverse = rsqrtf(square);
    sum += c.w * inverse * __expf(-reach * square * inverse);
  }
  out[k] = sum;
}

// Gravity of bodies at points, in doubles.
__global__ void double_gravity(const double4* __restrict__ bodies, const double* __restrict__ points,
                               double* __restrict__ out, int n, int count) {
  const int k = thread_number();
  if (k >= n) return;
  const double x = points[k], y = points[n + k], z = points[2 * n + k];
  double sum = 0.0;
  for (int j = 0; j < count; j++) {
    const double4 b = bodies[j];
    const double dx = x - b.x, dy = y - b.y, dz = z - b.z;
    sum -= b.w * rsqrt(dx * dx + dy * dy + dz * dz + 0.001);
  }
  out[k] = sum;
}

// ------------------------------------------------------------------------------------------------------------- pictures

__constant__ int emboss_weights[9] = {-2, -1, 0, -1, 1, 1, 0, 1, 2};

__global__ void embossed(const u8* __restrict__ in, u8* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int sum = 0;
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++) {
      const int from_x = min(max(x + i, 0), width - 1), from_y = min(max(y + j, 0), height - 1);
      sum += emboss_weights[3 * j + i + 4] * in[from_y * width + from_x];
    }
  out[y * width + x] = min(max(sum, 0), 255);
}

// Corners darker than the middle, by a power of the distance.
__global__ void vignette(const uchar4* __restrict__ in, uchar4* __restrict__ out, int width, int height, float power) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float dx = 2.0f * x / width - 1.0f, dy = 2.0f * y / height - 1.0f;
  const float light = 1.0f / (1.0f + 0.4f * powf(dx * dx + dy * dy + 1e-6f, power));
  const uchar4 c = in[y * width + x];
  out[y * width + x] = make_uchar4(c.x * light, c.y * light, c.z * light, c.w);
}

// A picture of bits, 32 per word: a point stays if all of its 3 x 3 neighbours are there.
__global__ void eroded_words(const u32* __restrict__ in, u32* __restrict__ out, int words, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= words || y >= height) return;
  u32 all = ALL_LANES;
  for (int j = max(y - 1, 0); j <= min(y + 1, height - 1); j++) {
    const u32* row = in + j * words;
    const u32 own = row[x], before = x ? row[x - 1] : ALL_LANES, behind = x + 1 < words ? row[x + 1] : ALL_LANES;
    all &= own & __funnelshift_l(before, own, 1) & __funnelshift_r(own, behind, 1);
  }
  out[y * words + x] = all;
}

// How far the nearest set point of the row is, by a walk there and back; a row per thread.
__global__ void row_distances(const u8* __restrict__ in, int* __restrict__ out, int width, int height) {
  const int y = thread_number();
  if (y >= height) return;
  int far = width;
  for (int x = 0; x < width; x++) {
    far = in[(size_t)y * width + x] ? 0 : far + 1;
    out[(size_t)y * width + x] = far;
  }
  far = width;
  for (int x = width - 1; x >= 0; x--) {
    const int here = out[(size_t)y * width + x];
    far = min(here, far + 1);
    out[(size_t)y * width + x] = far;
  }
}

// A picture around its middle: x of the result is an angle, y a distance; between four points.
__global__ void polar_picture(const float* __restrict__ in, float* __restrict__ out, int side, int angles, int radii) {
  const int a = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (a >= angles || r >= radii) return;
  float s, c;
  sincosf(6.2831853f * a / angles, &s, &c);
  const float middle = 0.5f * (side - 1), far = middle * 0.98f * r / radii, x = middle + far * c, y = middle + far * s;
  const int left = (int)x, top = (int)y;
  const float u = x - left, v = y - top;
  const float* at = in + top * side + left;
  const float above = at[0] + u * (at[1] - at[0]), below = at[side] + u * (at[side + 1] - at[side]);
  out[r * angles + a] = above + v * (below - above);
}

// Oil paint: the mean of those of 5 x 5 neighbours that have the most frequent one of 16 levels.
__global__ void oil_paint(const u8* __restrict__ in, u8* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int counts[16] = {}, sums[16] = {};
  for (int j = -2; j <= 2; j++)
    for (int i = -2; i <= 2; i++) {
      const int from_x = min(max(x + i, 0), width - 1), from_y = min(max(y + j, 0), height - 1);
      const int c = in[from_y * width + from_x];
      counts[c / 16]++;
      sums[c / 16] += c;
    }
  int best = 0;
  for (int level = 1; level < 16; level++)
    if (counts[level] > counts[best]) best = level;
  out[y * width + x] = sums[best] / counts[best];
}

// ------------------------------------------------------------------------------------------------------------- networks

// Groups of 32 halves as numbers of four bits and a factor; a warp takes as many groups as it is told.
__global__ void packed_int4_groups(const __half* __restrict__ in, u32* __restrict__ codes, float* __restrict__ factors,
                                   int groups, int each) {
  const int warp = thread_number() / 32, lane = threadIdx.x % 32;
  for (int g = warp * each; g < min((warp + 1) * each, groups); g++) {
    const float x = __half2float(in[32 * g + lane]);
    float most = fabsf(x);
#pragma unroll
    for (int step = 16; step; step /= 2) most = fmaxf(most, __shfl_xor_sync(ALL_LANES, most, step));
    u32 code = (u32)(__float2int_rn(x * 7.0f / most) + 8) << 4 * (lane % 8);
#pragma unroll
    for (int step = 4; step; step /= 2) code |= __shfl_xor_sync(ALL_LANES, code, step);
    if (lane % 8 == 0) codes[4 * g + lane / 8] = code;
    if (lane == 0) factors[g] = most / 7.0f;
  }
}

// Floats as bfloat16, up or down by chance.
__global__ void rounded_by_chance(const float* __restrict__ in, u16* __restrict__ out, int n, u32 seed) {
  for (int k = thread_number(); k < n; k += gridDim.x * blockDim.x)
    out[k] = (__float_as_uint(in[k]) + (scrambled(k ^ seed) & 65535)) >> 16;
}

// Scores of vectors that eight bytes stand for: a table of 8 x 256 parts of the score, in shared memory.
__global__ void codebook_scores(const float* __restrict__ table, const uint2* __restrict__ codes,
                                float* __restrict__ out, int n) {
  __shared__ float parts[8][256];
  for (int j = threadIdx.x; j < 2048; j += blockDim.x) parts[j / 256][j % 256] = table[j];
  __syncthreads();
  for (int k = thread_number(); k < n; k += gridDim.x * blockDim.x) {
    const uint2 c = codes[k];
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < 4; j++) sum += parts[j][c.x >> 8 * j & 255] + parts[j + 4][c.y >> 8 * j & 255];
    out[k] = sum;
  }
}

// Planes with the mean 0 and the variance 1, a plane per block.
__global__ void instance_norm(const float* __restrict__ in, float* __restrict__ out, int size) {
  const float* plane = in + (size_t)blockIdx.x * size;
  float sum = 0.0f, squares = 0.0f;
  for (int j = threadIdx.x; j < size; j += blockDim.x) sum += plane[j];
  const float mean = block_total(sum) / size;
  __syncthreads();
  for (int j = threadIdx.x; j < size; j += blockDim.x) squares += (plane[j] - mean) * (plane[j] - mean);
  const float factor = rsqrtf(block_total(squares) / size + 1e-5f);
  for (int j = threadIdx.x; j < size; j += blockDim.x) out[(size_t)blockIdx.x * size + j] = (plane[j] - mean) * factor;
}

// Scores of a query against keys in pages of 16 tokens, which a table says; a token per warp, 64 halves per key.
__global__ void paged_scores(const __half2* __restrict__ query, const __half2* __restrict__ keys,
                             const int* __restrict__ pages, float* __restrict__ out, int tokens) {
  const int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  const float2 q = __half22float2(query[lane]);
  for (int token = thread_number() / 32; token < tokens; token += warps) {
    const size_t row = (size_t)pages[token / 16] * 16 + token % 16;
    const float2 k = __half22float2(keys[row * 32 + lane]);
    const float score = warp_total(q.x * k.x + q.y * k.y);
    if (lane == 0) out[token] = 0.125f * score;
  }
}

// Softmax of scores that a tangent keeps below a limit; a row per warp.
__global__ void softcapped_rows(const float* __restrict__ in, float* __restrict__ out, int rows, int columns,
                                float cap) {
  const int row = thread_number() / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* own = in + (size_t)row * columns;
  float sum = 0.0f;
  for (int j = lane; j < columns; j += 32) sum += __expf(cap * tanhf(own[j] / cap) - cap);
  sum = warp_total(sum);
  const float factor = 1.0f / __shfl_sync(ALL_LANES, sum, 0);
  for (int j = lane; j < columns; j += 32)
    out[(size_t)row * columns + j] = factor * __expf(cap * tanhf(own[j] / cap) - cap);
}

// What two experts found for each token, put together by weights; a thread per four numbers.
__global__ void expert_mix(const float4* __restrict__ found, const int2* __restrict__ places,
                           const float2* __restrict__ weights, float4* __restrict__ out, int tokens, int quads) {
  const int k = thread_number(), token = k / quads, j = k % quads;
  if (token >= tokens) return;
  const int2 at = places[token];
  const float2 w = weights[token];
  const float4 a = found[(size_t)at.x * quads + j], b = found[(size_t)at.y * quads + j];
  out[k] = make_float4(w.x * a.x + w.y * b.x, w.x * a.y + w.y * b.y, w.x * a.z + w.y * b.z, w.x * a.w + w.y * b.w);
}

// The gradient of x * sigmoid(x), in halves.
__global__ void silu_slopes(const __half2* __restrict__ x, const __half2* __restrict__ gradient,
                            __half2* __restrict__ out, int pairs) {
  const int k = thread_number();
  if (k >= pairs) return;
  const float2 a = __half22float2(x[k]), g = __half22float2(gradient[k]);
  const float s = 1.0f / (1.0f + __expf(-a.x)), t = 1.0f / (1.0f + __expf(-a.y));
  out[k] = __floats2half2_rn(g.x * s * (1.0f + a.x * (1.0f - s)), g.y * t * (1.0f + a.y * (1.0f - t)));
}

// A convolution of 1 x 1: eight channels of the result per block row, their weights in shared memory.
__global__ void pointwise_conv(const float* __restrict__ in, const float* __restrict__ weights,
                               float* __restrict__ out, int points, int channels) {
  extern __shared__ float own_weights[];
  for (int j = threadIdx.x; j < 8 * channels; j += blockDim.x)
    own_weights[j % channels * 8 + j / channels] = weights[blockIdx.y * 8 * channels + j];
  __syncthreads();
  const int p = thread_number();
  if (p >= points) return;
  float sums[8] = {};
  for (int c = 0; c < channels; c++) {
    const float x = in[(size_t)c * points + p];
#pragma unroll
    for (int o = 0; o < 8; o++) sums[o] += own_weights[8 * c + o] * x;
  }
#pragma unroll
  for (int o = 0; o < 8; o++) out[(size_t)(blockIdx.y * 8 + o) * points + p] = sums[o];
}

// The loss of each row against its label, of which all classes get a small part; a row per warp, one pass.
__global__ void smoothed_labels(const float* __restrict__ scores, const int* __restrict__ labels,
                                float* __restrict__ out, int rows, int classes, float part) {
  const int row = thread_number() / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* own = scores + (size_t)row * classes;
  float most = -1e30f, sum = 0.0f, plain = 0.0f;
  for (int j = lane; j < classes; j += 32) {
    const float x = own[j], next = fmaxf(most, x);
    sum = sum * __expf(most - next) + __expf(x - next);
    most = next;
    plain += x;
  }
  float all = most;
#pragma unroll
  for (int step = 16; step; step /= 2) all = fmaxf(all, __shfl_xor_sync(ALL_LANES, all, step));
  sum = warp_total(sum * __expf(most - all));
  plain = warp_total(plain);
  if (lane == 0) out[row] = logf(sum) + all - (1.0f - part) * own[labels[row]] - part * plain / classes;
}

// ----------------------------------------------------------------------------------------------------- numbers and bits

// The place of the r-th set bit of words of 64 bits, by halving.
__global__ void nth_set_bits(const u64* __restrict__ words, const u8* __restrict__ ranks, signed char* __restrict__ out,
                             int n) {
  for (int k = thread_number(); k < n; k += gridDim.x * blockDim.x) {
    u64 word = words[k];
    int rank = ranks[k], place = 0;
    if (rank >= __popcll(word)) {
      out[k] = -1;
      continue;
    }
#pragma unroll
    for (int half = 32; half; half /= 2) {
      const int lower = __popcll(word & ((1ull << half) - 1));
      if (rank >= lower) rank -= lower, place += half, word >>= half;
    }
    out[k] = place;
  }
}

__device__ __forceinline__ u32 carry_save(u32& a, u32 b, u32 c) {
  const u32 carry = (a & b) | ((a ^ b) & c);
  a ^= b ^ c;
  return carry;
}

// Set bits of many words: carries are kept, so that one of eight words is counted.
__global__ void carry_save_counts(const uint4* __restrict__ words, u64* out, int groups) {
  u32 ones = 0, twos = 0, fours = 0, count = 0;
  for (int k = thread_number(); k < groups; k += gridDim.x * blockDim.x) {
    const uint4 a = words[2 * k], b = words[2 * k + 1];
    const u32 two_a = carry_save(ones, a.x, a.y), two_b = carry_save(ones, a.z, a.w);
    const u32 four_a = carry_save(twos, two_a, two_b);
    const u32 two_c = carry_save(ones, b.x, b.y), two_d = carry_save(ones, b.z, b.w);
    const u32 four_b = carry_save(twos, two_c, two_d);
    count += __popc(carry_save(fours, four_a, four_b));
  }
  const u64 all = warp_total((u64)(8 * count + 4 * __popc(fours) + 2 * __popc(twos) + __popc(ones)));
  if (threadIdx.x % 32 == 0) atomicAdd(out, all);
}

// Powers in the field of 256 elements, four per word, by shifts and masks.
__global__ void field_256_powers(const u32* __restrict__ in, u32* __restrict__ out, int n, int turns) {
  const int k = thread_number();
  if (k >= n) return;
  const u32 base = in[k];
  u32 power = 0x01010101u;
  for (int t = 0; t < turns; t++) {
    u32 a = power, b = base, product = 0;
#pragma unroll
    for (int j = 0; j < 8; j++) {
      product ^= a & (b & 0x01010101u) * 255;
      a = (a & 0x7f7f7f7fu) << 1 ^ (a >> 7 & 0x01010101u) * 0x1b;
      b = b >> 1 & 0x7f7f7f7fu;
    }
    power = product;
  }
  out[k] = power;
}

__device__ __forceinline__ u32 mersenne_product(u32 a, u32 b) {
  const u64 whole = (u64)a * b;
  const u32 folded = (u32)(whole & 0x7fffffff) + (u32)(whole >> 31);
  return folded >= 0x7fffffff ? folded - 0x7fffffff : folded;
}

// Lehmer's generator: each thread leaps to its part of the sequence, then adds up its numbers.
__global__ void lehmer_leaps(u64* __restrict__ out, int n, int draws) {
  const int k = thread_number();
  if (k >= n) return;
  u32 state = 12345, factor = 48271;
  for (u32 left = (u32)k * draws; left; left >>= 1) {
    if (left & 1) state = mersenne_product(state, factor);
    factor = mersenne_product(factor, factor);
  }
  u64 sum = 0;
  for (int d = 0; d < draws; d++) sum += state = mersenne_product(state, 48271);
  out[k] = sum;
}

// Even numbers as sums of two primes: the smallest first one.
__device__ __forceinline__ bool no_divisor(int x) {
  if (x < 4) return x > 1;
  if (x % 2 == 0) return false;
  for (int d = 3; d * d <= x; d += 2)
    if (x % d == 0) return false;
  return true;
}

__global__ void goldbach_splits(int* __restrict__ out, int n, int first) {
  const int k = thread_number();
  if (k >= n) return;
  const int whole = first + 2 * k;
  int p = 2;
  while (!no_divisor(p) || !no_divisor(whole - p)) p++;
  out[k] = p;
}

// -------------------------------------------------------------------------------------------------------- hashes, lists

// Looks keys up in a table where each stands no farther from its home than its neighbours from theirs.
__global__ void robin_hood_lookup(const u32* __restrict__ table, const u32* __restrict__ keys,
                                  signed char* __restrict__ out, int n, int homes) {
  const int k = thread_number();
  if (k >= n) return;
  const u32 key = keys[k], home = __umulhi(scrambled(key), homes);
  int found = -1;
  for (u32 far = 0;; far++) {
    const u32 there = table[home + far];
    if (there == key && there) found = far;
    if (there == key || there == 0 || home + far - __umulhi(scrambled(there), homes) < far) break;
  }
  out[k] = found;
}

// Counts words that the table has.
__global__ void dictionary_counts(const u32* __restrict__ table, const u32* __restrict__ words, int* counts, int n,
                                  int homes) {
  for (int k = thread_number(); k < n; k += gridDim.x * blockDim.x) {
    const u32 word = words[k];
    u32 at = __umulhi(scrambled(word), homes);
    while (table[at] != word && table[at]) at++;
    if (table[at]) atomicAdd(&counts[at], 1);
  }
}

// Warps take the next 32 numbers until none is left and count primes; the last warp sets the queue back.
__global__ void dealt_primes(int* queue, int* count, int numbers) {
  const int lane = threadIdx.x % 32;
  int found = 0;
  while (true) {
    int first = 0;
    if (lane == 0) first = atomicAdd(&queue[0], 32);
    first = __shfl_sync(ALL_LANES, first, 0);
    if (first >= numbers) break;
    if (first + lane < numbers) found += no_divisor(first + lane);
  }
  found = warp_total(found);
  if (lane == 0) {
    atomicAdd(count, found);
    if (atomicAdd(&queue[1], 1) == gridDim.x * blockDim.x / 32 - 1) {
      atomicExch(&queue[0], 0);
      atomicExch(&queue[1], 0);
    }
  }
}

// The places of bright points, one atomic per group of threads that have one.
__global__ void bright_pixels(const u8* __restrict__ picture, int* __restrict__ places, u32* count, int n, int limit,
                              u32 mask) {
  const int k = thread_number();
  if (k >= n || picture[k] < limit) return;
  const auto group = cg::coalesced_threads();
  u32 first = 0;
  if (group.thread_rank() == 0) first = atomicAdd(count, group.size());
  places[(group.shfl(first, 0) + group.thread_rank()) & mask] = k;
}

// ------------------------------------------------------------------------------------------- groups, clusters and copies

// The place of the least number of each row; a row per tile of T threads.
template <int T>
__global__ void tile_least_places(const u32* __restrict__ in, int* __restrict__ out, int rows, int columns) {
  const auto tile = cg::tiled_partition<T>(cg::this_thread_block());
  const int row = thread_number() / T;
  if (row >= rows) return;
  u64 best = ~0ull;
  for (int j = tile.thread_rank(); j < columns; j += T) {
    const u64 own = (u64)in[(size_t)row * columns + j] << 32 | j;
    best = own < best ? own : best;
  }
  best = cg::reduce(tile, best, cg::less<u64>());
  if (tile.thread_rank() == 0) out[row] = (int)(best & ALL_LANES);
}

// A table in the shared memory of four blocks; each thread follows its own way through it.
__global__ void __cluster_dims__(4) cluster_table(const u32* __restrict__ table, u32* __restrict__ out, int part,
                                                  int turns) {
  extern __shared__ u32 own_part[];
  const auto cluster = cg::this_cluster();
  for (int j = threadIdx.x; j < part; j += blockDim.x) own_part[j] = table[cluster.block_rank() * part + j];
  cluster.sync();
  u32 at = thread_number() * 37 % (4 * part), mixed = 0;
  for (int t = 0; t < turns; t++) {
    const u32 found = cluster.map_shared_rank(own_part, at / part)[at % part];
    mixed = mixed * 31 + found;
    at = (at + found) % (4 * part);
  }
  cluster.sync();
  out[thread_number()] = mixed;
}

// A product in tiles of 32 x 32 that are copied while the ones before are used; 2 x 2 elements per thread.
__global__ void async_tile_product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                   int n, int inner) {
  __shared__ __align__(16) float left[2][32][32];
  __shared__ __align__(16) float right[2][32][32];
  const int own = threadIdx.y * 16 + threadIdx.x, y = own / 8, x = own % 8 * 4;
  const int row = 32 * blockIdx.y, column = 32 * blockIdx.x, tiles = inner / 32;
  float sums[2][2] = {};
  for (int t = 0; t <= tiles; t++) {
    if (t < tiles) {
      __pipeline_memcpy_async(&left[t % 2][y][x], a + (size_t)(row + y) * inner + 32 * t + x, 16);
      __pipeline_memcpy_async(&right[t % 2][y][x], b + (size_t)(32 * t + y) * n + column + x, 16);
    }
    __pipeline_commit();
    if (t == 0) continue;
    __pipeline_wait_prior(1);
    __syncthreads();
    const int at = (t - 1) % 2;
#pragma unroll
    for (int k = 0; k < 32; k++) {
      const float u = left[at][threadIdx.y][k], v = left[at][threadIdx.y + 16][k];
      const float p = right[at][k][threadIdx.x], q = right[at][k][threadIdx.x + 16];
      sums[0][0] += u * p, sums[0][1] += u * q, sums[1][0] += v * p, sums[1][1] += v * q;
    }
    __syncthreads();
  }
#pragma unroll
  for (int k = 0; k < 4; k++)
    c[(size_t)(row + threadIdx.y + 16 * (k / 2)) * n + column + threadIdx.x + 16 * (k % 2)] = sums[k / 2][k % 2];
}

// The variance of each row, a row per block; each thread copies its next quad while it adds up the last one.
__global__ void async_row_variances(const float4* __restrict__ in, float* __restrict__ out, int quads) {
  extern __shared__ float4 stages[];
  const float4* row = in + (size_t)blockIdx.x * quads;
  float sum = 0.0f, squares = 0.0f;
  int stage = 0;
  if (threadIdx.x < quads) __pipeline_memcpy_async(&stages[threadIdx.x], row + threadIdx.x, 16);
  __pipeline_commit();
  for (int j = threadIdx.x; j < quads; j += blockDim.x, stage ^= 1) {
    const int next = j + blockDim.x;
    if (next < quads) __pipeline_memcpy_async(&stages[(stage ^ 1) * blockDim.x + threadIdx.x], row + next, 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    const float4 v = stages[stage * blockDim.x + threadIdx.x];
    sum += v.x + v.y + v.z + v.w;
    squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  sum = block_total(sum) / (4 * quads);
  __syncthreads();
  squares = block_total(squares) / (4 * quads);
  if (threadIdx.x == 0) out[blockIdx.x] = squares - sum * sum;
}

// ------------------------------------------------------------------------------------- doubles, waves, much and little

// Romberg's integrals of exp(-a x^2) from 0 to 1, in doubles; the table of a thread is an array.
__global__ void double_romberg(const double* __restrict__ factors, double* __restrict__ out, int n, int levels) {
  const int k = thread_number();
  if (k >= n) return;
  const double a = factors[k];
  double table[8];
  table[0] = 0.5 * (1.0 + exp(-a));
  for (int level = 1, parts = 1; level < levels; level++, parts *= 2) {
    double sum = 0.0;
    for (int j = 0; j < parts; j++) {
      const double x = (j + 0.5) / parts;
      sum += exp(-a * x * x);
    }
    double finer = 0.5 * (table[0] + sum / parts), weight = 4.0;
    for (int j = 0; j < level; j++, weight *= 4.0) {
      const double next = finer + (finer - table[j]) / (weight - 1.0);
      table[j] = finer;
      finer = next;
    }
    table[level] = finer;
  }
  out[k] = table[levels - 1];
}

// The slope of a line through each row of doubles, a row per warp.
__global__ void double_line_slopes(const double* __restrict__ in, double* __restrict__ out, int rows, int columns) {
  const int row = thread_number() / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  double sum = 0.0, by_place = 0.0;
  for (int j = lane; j < columns; j += 32) {
    const double x = in[(size_t)row * columns + j];
    sum += x;
    by_place += j * x;
  }
  sum = warp_total(sum);
  by_place = warp_total(by_place);
  const double n = columns, middle = 0.5 * (n - 1.0);
  if (lane == 0) out[row] = (by_place - middle * sum) / (n * (n * n - 1.0) / 12.0);
}

// The strength at each point of the waves of all senders.
__global__ void radio_phasors(const float4* __restrict__ senders, float* __restrict__ out, int n, int count,
                              float waves) {
  const int k = thread_number();
  if (k >= n) return;
  const float x = 0.01f * (k % 1000), y = 0.01f * (k / 1000);
  float re = 0.0f, im = 0.0f;
  for (int j = 0; j < count; j++) {
    const float4 s = senders[j];
    const float dx = x - s.x, dy = y - s.y, far = sqrtf(dx * dx + dy * dy + 0.1f);
    float sine, cosine;
    __sincosf(waves * far + s.w, &sine, &cosine);
    re += __fdividef(s.z * cosine, far);
    im += __fdividef(s.z * sine, far);
  }
  out[k] = re * re + im * im;
}

// A block keeps a large table in shared memory, so that few blocks fit; its threads look up numbers at random.
__global__ void large_table_lookups(const u32* __restrict__ table, u32* __restrict__ out, int size, int lookups) {
  extern __shared__ u32 large[];
  for (int j = threadIdx.x; j < size; j += blockDim.x) large[j] = table[j];
  __syncthreads();
  u32 mixed = 0;
  for (int j = threadIdx.x; j < lookups; j += blockDim.x)
    mixed ^= large[__umulhi(scrambled(blockIdx.x * lookups + j), size)];
  mixed = __reduce_xor_sync(ALL_LANES, mixed);
  if (threadIdx.x % 32 == 0) atomicXor(&out[blockIdx.x], mixed);
}

// Cross products of vectors of three numbers.
__global__ void cross_vectors(const float3* __restrict__ a, const float3* __restrict__ b, float3* __restrict__ out,
                              int n) {
  const int k = thread_number();
  if (k >= n) return;
  const float3 u = a[k], v = b[k];
  out[k] = make_float3(u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x);
}

// Skewness of columns of COUNT numbers, which a thread holds all at once: more than its registers take.
template <int COUNT>
__global__ void __launch_bounds__(1024) held_columns(const float* __restrict__ in, float* __restrict__ out, int n) {
  const int k = thread_number();
  if (k >= n) return;
  float held[COUNT], sum = 0.0f, squares = 0.0f, cubes = 0.0f;
#pragma unroll
  for (int j = 0; j < COUNT; j++) sum += held[j] = in[(size_t)j * n + k];
  const float mean = sum / COUNT;
#pragma unroll
  for (int j = 0; j < COUNT; j++) squares += (held[j] - mean) * (held[j] - mean);
  const float spread = rsqrtf(squares / COUNT);
#pragma unroll
  for (int j = 0; j < COUNT; j++) {
    const float x = (held[j] - mean) * spread;
    cubes += x * x * x;
  }
  out[k] = cubes / COUNT;
}

struct Order {
  int customer, product, day;
  float price;
  int count, shop, state, clerk, route, note;
};

// What orders of a shop bring: three of ten fields are read.
__global__ void order_values(const Order* __restrict__ orders, float* __restrict__ out, int n, int shop) {
  for (int k = thread_number(); k < n; k += gridDim.x * blockDim.x)
    out[k] = orders[k].shop == shop ? orders[k].price * orders[k].count : 0.0f;
}

__constant__ float fir_taps[8] = {0.30f, 0.22f, 0.16f, 0.12f, 0.08f, 0.06f, 0.04f, 0.02f};

// A filter of eight taps along rows, a row per warp: what is earlier comes from lower lanes.
__global__ void lane_filters(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
  const int row = thread_number() / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float before = 0.0f;
  for (int start = 0; start < columns; start += 32) {
    const size_t at = (size_t)row * columns + start + lane;
    const float x = start + lane < columns ? in[at] : 0.0f;
    float sum = fir_taps[0] * x;
#pragma unroll
    for (int t = 1; t < 8; t++) {
      const float here = __shfl_up_sync(ALL_LANES, x, t), there = __shfl_sync(ALL_LANES, before, lane + 32 - t);
      sum += fir_taps[t] * (lane >= t ? here : there);
    }
    if (start + lane < columns) out[at] = sum;
    before = x;
  }
}

// First programs: the constants are doubles, as a beginner writes them.
__global__ void celsius_readings(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (in[i] - 32.0) * 5.0 / 9.0;
}

__global__ void times_tables(int* out, int width, int height) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < width && row < height) out[row * width + column] = (row + 1) * (column + 1);
}
