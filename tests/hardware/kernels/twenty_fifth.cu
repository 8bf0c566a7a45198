// Kernels for tests/hardware/twenty_fifth_cases.py: other ones than those of the twenty-four sets before, as students
// and engineers write them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define ALL 0xffffffffu

__device__ __forceinline__ int me() { return blockIdx.x * blockDim.x + threadIdx.x; }

__host__ __device__ constexpr u32 hashed(u32 x) {
  x = (x ^ x >> 17) * 0xed5ad4bbu;
  x = (x ^ x >> 11) * 0xac4c1b51u;
  return x ^ x >> 15;
}

// A thread's random numbers; they begin at a hash.
struct Rolled {
  u32 state;
  __device__ __forceinline__ Rolled(u32 k, u32 seed) : state(hashed(k ^ seed)) {}
  __device__ __forceinline__ u32 word() {
    state = state * 747796405u + 2891336453u;
    const u32 mixed = (state >> ((state >> 28) + 4) ^ state) * 277803737u;
    return mixed >> 22 ^ mixed;
  }
};

// ------------------------------------------------------------------------------------------------- a problem per block

// Edges of pictures of 32 x 32 points: strong points stay, and weak ones that touch them, until no point joins.
__global__ void hysteresis_edges(const u8* __restrict__ in, u8* __restrict__ out, int weak, int strong) {
  __shared__ u8 kept[2][34][34];
  for (int k = threadIdx.x; k < 34 * 34; k += blockDim.x) {
    const int x = k % 34, y = k / 34;
    const bool inside = x > 0 && y > 0 && x < 33 && y < 33;
    const int value = inside ? in[blockIdx.x * 1024 + (y - 1) * 32 + x - 1] : 0;
    kept[0][y][x] = kept[1][y][x] = value >= strong ? 2 : value >= weak ? 1 : 0;
  }
  __syncthreads();
  int now = 0;
  bool more = true;
  while (more) {
    bool joined = false;
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) {
      const int x = k % 32 + 1, y = k / 32 + 1;
      u8 value = kept[now][y][x];
      if (value == 1) {
        bool touches = false;
        for (int b = -1; b <= 1; b++)
          for (int a = -1; a <= 1; a++) touches = touches || kept[now][y + b][x + a] == 2;
        if (touches) value = 2, joined = true;
      }
      kept[1 - now][y][x] = value;
    }
    now = 1 - now;
    more = __syncthreads_or(joined);
  }
  for (int k = threadIdx.x; k < 1024; k += blockDim.x)
    out[blockIdx.x * 1024 + k] = kept[now][k / 32 + 1][k % 32 + 1] == 2;
}

// Fronts of flames along a ring of points (Kuramoto and Sivashinsky): differences of four orders; a ring per block.
__global__ void flame_fronts(const float* __restrict__ in, float* __restrict__ out, int points, int steps, float dt) {
  extern __shared__ float fronts[];
  float *now = fronts, *next = fronts + points;
  for (int k = threadIdx.x; k < points; k += blockDim.x) now[k] = in[(size_t)blockIdx.x * points + k];
  for (int s = 0; s < steps; s++) {
    __syncthreads();
    for (int k = threadIdx.x; k < points; k += blockDim.x) {
      const float u = now[k], l = now[k ? k - 1 : points - 1], r = now[k + 1 < points ? k + 1 : 0],
                  ll = now[k > 1 ? k - 2 : k + points - 2], rr = now[k + 2 < points ? k + 2 : k + 2 - points];
      const float slope = 0.5f * (r - l), bend = l - 2.0f * u + r, fourth = ll - 4.0f * (l + r) + 6.0f * u + rr;
      next[k] = u - dt * (u * slope + bend + fourth);
    }
    float* other = now;
    now = next;
    next = other;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < points; k += blockDim.x) out[(size_t)blockIdx.x * points + k] = now[k];
}

// For each choice of ``bits`` goods: what all choices cost that hold it. Butterflies, one per good; a table per block.
__global__ void superset_totals(const int* __restrict__ in, int* __restrict__ out, int bits) {
  extern __shared__ int total[];
  const int size = 1 << bits;
  for (int k = threadIdx.x; k < size; k += blockDim.x) total[k] = in[(size_t)blockIdx.x * size + k];
  for (int bit = 0; bit < bits; bit++) {
    __syncthreads();
    for (int k = threadIdx.x; k < size / 2; k += blockDim.x) {
      const int low = k & ((1 << bit) - 1), mask = (k - low) * 2 + low;
      total[mask] += total[mask | 1 << bit];
    }
  }
  __syncthreads();
  for (int k = threadIdx.x; k < size; k += blockDim.x) out[(size_t)blockIdx.x * size + k] = total[k];
}

// The most points from bursting balloons in the best order; longer and longer stretches, eight lanes per stretch.
__global__ void burst_balloons(const u8* __restrict__ in, int* __restrict__ out, int count) {
  extern __shared__ int best[];
  __shared__ int value[66];
  const auto eight = cg::tiled_partition<8>(cg::this_thread_block());
  const int width = count + 2, group = threadIdx.x / 8, groups = blockDim.x / 8;
  for (int k = threadIdx.x; k < width; k += blockDim.x)
    value[k] = k == 0 || k == count + 1 ? 1 : in[blockIdx.x * count + k - 1];
  for (int k = threadIdx.x; k < width * width; k += blockDim.x) best[k] = 0;
  for (int length = 2; length < width; length++) {
    __syncthreads();
    for (int from = group; from + length < width; from += groups) {
      const int to = from + length, ends = value[from] * value[to];
      int most = 0;
      for (int last = from + 1 + eight.thread_rank(); last < to; last += 8)
        most = max(most, best[from * width + last] + best[last * width + to] + ends * value[last]);
      most = cg::reduce(eight, most, cg::greater<int>());
      if (eight.thread_rank() == 0) best[from * width + to] = most;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = best[width - 1];
}

// Features of faces: sums over rectangles of a picture of 128 x 128 points, by an integral in 65 KB of shared memory.
__global__ void face_features(const u8* __restrict__ in, int* __restrict__ out, int features) {
  extern __shared__ u32 integral[];
  const u8* picture = in + (size_t)blockIdx.x * 128 * 128;
  for (int k = threadIdx.x; k < 128 * 128; k += blockDim.x) integral[k / 128 * 129 + k % 128] = picture[k];
  __syncthreads();
  for (int y = threadIdx.x; y < 128; y += blockDim.x) {
    u32 sum = 0;
    for (int x = 0; x < 128; x++) integral[y * 129 + x] = sum += integral[y * 129 + x];
  }
  __syncthreads();
  for (int x = threadIdx.x; x < 128; x += blockDim.x) {
    u32 sum = 0;
    for (int y = 0; y < 128; y++) integral[y * 129 + x] = sum += integral[y * 129 + x];
  }
  __syncthreads();
  auto within = [&](int left, int top, int right, int bottom) {
    return (int)(integral[bottom * 129 + right] - integral[top * 129 + right] - integral[bottom * 129 + left] +
                 integral[top * 129 + left]);
  };
  for (int k = threadIdx.x; k < features; k += blockDim.x) {
    const u32 word = hashed(k);
    const int left = word % 64, top = (word >> 8) % 96, half = 1 + (word >> 16) % 31, high = 1 + (word >> 24) % 31;
    out[(size_t)blockIdx.x * features + k] = within(left, top, left + half, top + high) -
                                             within(left + half, top, left + 2 * half, top + high);
  }
}

// The ranks of bit vectors: how many ones stand before each word of a block, and how many the whole block has.
__global__ void rank_directory(const u32* __restrict__ words, int* __restrict__ before, int* __restrict__ whole,
                               int n) {
  __shared__ int parts[32];
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int k = me(), ones = k < n ? __popc(words[k]) : 0;
  const int sum = cg::inclusive_scan(warp, ones, cg::plus<int>());
  if (warp.thread_rank() == 31) parts[warp.meta_group_rank()] = sum;
  __syncthreads();
  if (warp.meta_group_rank() == 0) {
    const int part = warp.thread_rank() < warp.meta_group_size() ? parts[warp.thread_rank()] : 0;
    const int upto = cg::inclusive_scan(warp, part, cg::plus<int>());
    parts[warp.thread_rank()] = upto - part;
    if (warp.thread_rank() == 31) whole[blockIdx.x] = upto;
  }
  __syncthreads();
  if (k < n) before[k] = parts[warp.meta_group_rank()] + sum - ones;
}

// The peaks of a recording, in their order; a single block goes along it.
__global__ void ordered_peaks(const int* __restrict__ in, int* __restrict__ out, int* __restrict__ found, int n) {
  __shared__ int counts[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  int base = 0;
  for (int first = 1; first < n - 1; first += blockDim.x) {
    const int k = first + threadIdx.x;
    const bool peak = k < n - 1 && in[k] > in[k - 1] && in[k] > in[k + 1];
    const u32 peaks = __ballot_sync(ALL, peak);
    if (lane == 0) counts[warp] = __popc(peaks);
    __syncthreads();
    int ahead = 0, all = 0;
    for (int w = 0; w < warps; w++) {
      if (w == warp) ahead = all;
      all += counts[w];
    }
    if (peak) out[base + ahead + __popc(peaks & ((1u << lane) - 1))] = k;
    base += all;
    __syncthreads();
  }
  if (threadIdx.x == 0) *found = base;
}

// Slopes of straight lines through many points (x, y), a line per block; tiles of 512 points come ahead.
__global__ void streamed_slopes(const float4* __restrict__ points, float* __restrict__ out, int tiles) {
  __shared__ float4 ahead[2][256];
  __shared__ float sums[4];
  const float4* own = points + (size_t)blockIdx.x * tiles * 256;
  if (threadIdx.x < 4) sums[threadIdx.x] = 0.0f;
  for (int k = threadIdx.x; k < 256; k += blockDim.x) __pipeline_memcpy_async(&ahead[0][k], own + k, 16);
  __pipeline_commit();
  float x = 0.0f, y = 0.0f, xx = 0.0f, xy = 0.0f;
  for (int t = 0; t < tiles; t++) {
    if (t + 1 < tiles)
      for (int k = threadIdx.x; k < 256; k += blockDim.x)
        __pipeline_memcpy_async(&ahead[(t + 1) % 2][k], own + (t + 1) * 256 + k, 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x) {
      const float4 p = ahead[t % 2][k];
      x += p.x + p.z;
      y += p.y + p.w;
      xx += p.x * p.x + p.z * p.z;
      xy += p.x * p.y + p.z * p.w;
    }
    __syncthreads();
  }
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  x = cg::reduce(warp, x, cg::plus<float>()), y = cg::reduce(warp, y, cg::plus<float>());
  xx = cg::reduce(warp, xx, cg::plus<float>()), xy = cg::reduce(warp, xy, cg::plus<float>());
  if (warp.thread_rank() == 0) {
    atomicAdd(&sums[0], x);
    atomicAdd(&sums[1], y);
    atomicAdd(&sums[2], xx);
    atomicAdd(&sums[3], xy);
  }
  __syncthreads();
  const float n = 512.0f * tiles;
  if (threadIdx.x == 0)
    out[blockIdx.x] = (n * sums[3] - sums[0] * sums[1]) / (n * sums[2] - sums[0] * sums[0]);
}

// -------------------------------------------------------------------------------------------------- a problem per warp

// Matrices of 32 x 32 bits, squared again and again: a row per lane; sums are exclusive ors.
__global__ void bit_matrix_squares(const u32* __restrict__ in, u32* __restrict__ out, int n, int rounds) {
  const int k = me();
  if (k / 32 >= n) return;
  u32 row = in[k];
  for (int r = 0; r < rounds; r++) {
    u32 sum = 0;
#pragma unroll
    for (int j = 0; j < 32; j++) {
      const u32 other = __shfl_sync(ALL, row, j);
      if (row >> j & 1) sum ^= other;
    }
    row = sum ^ r;
  }
  out[k] = row;
}

// Medians of 32 values by weight: a bitonic sort over lanes, sums of weights so far, the first lane behind the half.
__global__ void weighted_medians(const int* __restrict__ values, const u8* __restrict__ weights, int* __restrict__ out,
                                 int n) {
  const int k = me(), lane = threadIdx.x % 32;
  if (k / 32 >= n) return;
  u32 both = (u32)values[k] << 8 | weights[k];
#pragma unroll
  for (int size = 2; size <= 32; size *= 2)
#pragma unroll
    for (int far = size / 2; far; far /= 2) {
      const u32 other = __shfl_xor_sync(ALL, both, far);
      const bool least = ((lane & far) == 0) == ((lane & size) == 0);
      both = least ? min(both, other) : max(both, other);
    }
  int sum = both & 255;
#pragma unroll
  for (int far = 1; far < 32; far *= 2) {
    const int other = __shfl_up_sync(ALL, sum, far);
    if (lane >= far) sum += other;
  }
  const int whole = __shfl_sync(ALL, sum, 31);
  const int first = __ffs(__ballot_sync(ALL, 2 * sum >= whole)) - 1;
  if (lane == first) out[k / 32] = both >> 8;
}

// Numbers in groups of 32 with one exponent for all, and a signed byte for each.
__global__ void shared_exponents(const float* __restrict__ in, signed char* __restrict__ out,
                                 u8* __restrict__ exponents, int n) {
  const int k = me(), lane = threadIdx.x % 32;
  if (k / 32 >= n) return;
  const float x = in[k];
  const int most = __reduce_max_sync(ALL, __float_as_int(x) >> 23 & 255);
  const float scale = __int_as_float((127 + 6 - (most - 127)) << 23);
  out[k] = max(-127, min(127, __float2int_rn(x * scale)));
  if (lane == 0) exponents[k / 32] = most;
}

// Rows of attention that ``splits`` blocks computed in parts: joined by the logarithms of their sums.
__global__ void combined_splits(const float* __restrict__ parts, const float* __restrict__ logs,
                                float* __restrict__ out, int rows, int splits, int depth) {
  const int row = me() / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float own = lane < splits ? logs[row * splits + lane] : -1e30f;
  float most = own;
#pragma unroll
  for (int far = 16; far; far /= 2) most = fmaxf(most, __shfl_xor_sync(ALL, most, far));
  const float weight = __expf(own - most);
  float sum = weight;
#pragma unroll
  for (int far = 16; far; far /= 2) sum += __shfl_xor_sync(ALL, sum, far);
  const float share = weight / sum;
  for (int d = lane; d < depth; d += 32) {
    float x = 0.0f;
    for (int s = 0; s < splits; s++) x += __shfl_sync(ALL, share, s) * parts[((size_t)row * splits + s) * depth + d];
    out[(size_t)row * depth + d] = x;
  }
}

// How many columns the rows of a sparse matrix's square have: each warp keeps the columns of its row in 512 slots.
__global__ void product_row_sizes(const int* __restrict__ starts, const int* __restrict__ members,
                                  int* __restrict__ out, int n) {
  extern __shared__ int slots[];
  const int row = me() / 32, lane = threadIdx.x % 32;
  int* own = slots + threadIdx.x / 32 * 512;
  if (row >= n) return;
  for (int k = lane; k < 512; k += 32) own[k] = -1;
  __syncwarp();
  int fresh = 0;
  for (int a = starts[row]; a < starts[row + 1]; a++) {
    const int middle = members[a];
    for (int b = starts[middle] + lane; b < starts[middle + 1]; b += 32) {
      const int column = members[b];
      for (int at = hashed(column) % 512;; at = (at + 1) % 512) {
        const int old = atomicCAS(&own[at], -1, column);
        fresh += old == -1;
        if (old == -1 || old == column) break;
      }
    }
  }
  __syncwarp();
  fresh = __reduce_add_sync(ALL, fresh);
  if (lane == 0) out[row] = fresh;
}

// What is normal for each of 32 measurements of a patient.
__constant__ int normal_values[32] = {
    170, 75, 96, 100, 164, 162, 145, 66, 63, 178, 119, 92, 75, 136, 171, 61, 158, 121, 155, 109, 106, 82, 100, 95,
    100, 154, 70, 123, 109, 100, 166, 65};

// How far the measurements of patients are from normal: the sum and the worst; a patient per block of 32 threads.
__global__ void patient_alarms(const u8* __restrict__ in, int* __restrict__ out) {
  const int off = abs(in[blockIdx.x * 32 + threadIdx.x] - normal_values[threadIdx.x]);
  const int sum = __reduce_add_sync(ALL, off), worst = __reduce_max_sync(ALL, off);
  if (threadIdx.x == 0) out[blockIdx.x] = worst * 10000 + sum;
}

__device__ __forceinline__ u32 packed(half low, half high) {
  const half2 both = __halves2half2(low, high);
  return *reinterpret_cast<const u32*>(&both);
}

// 16 x 8 sums of products of halves: a warp's tensor instruction.
__device__ __forceinline__ void add_product(float (&sum)[4], const u32 (&left)[4], u32 low, u32 high) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(low), "r"(high));
}

// Cosine transforms of squares of 16 x 16 numbers with tensor cores: C X, and that times C, transposed; in registers.
__global__ void dct_by_mma(const half* __restrict__ squares, const half2* __restrict__ cosines,
                           float* __restrict__ out, int n) {
  const int square = me() / 32, row = threadIdx.x % 32 / 4, pair = threadIdx.x % 4;
  if (square >= n) return;
  const half* own = squares + (size_t)square * 256;
  u32 cosine[4], between[4];
#pragma unroll
  for (int j = 0; j < 4; j++)
    cosine[j] = reinterpret_cast<const u32*>(cosines)[(row + j % 2 * 8) * 8 + pair + j / 2 * 4];
#pragma unroll
  for (int side = 0; side < 2; side++) {
    const half* from = own + 32 * pair + 8 * side + row;
    float sum[4] = {};
    add_product(sum, cosine, packed(from[0], from[16]), packed(from[128], from[144]));
    between[2 * side] = packed(__float2half(sum[0]), __float2half(sum[1]));
    between[2 * side + 1] = packed(__float2half(sum[2]), __float2half(sum[3]));
  }
#pragma unroll
  for (int side = 0; side < 2; side++) {
    float sum[4] = {};
    add_product(sum, between, cosine[side], cosine[side + 2]);
    float2* to = reinterpret_cast<float2*>(out + (size_t)square * 256) + row * 8 + 4 * side + pair;
    to[0] = make_float2(sum[0], sum[1]);
    to[64] = make_float2(sum[2], sum[3]);
  }
}

// ------------------------------------------------------------------------------------------------------------- atomics

// How often two spikes of a nerve cell are a time apart: each thread goes ahead from its spike to the end of a window.
__global__ void spike_lag_counts(const u32* __restrict__ times, int* __restrict__ counts, int n, u32 window, int bins) {
  extern __shared__ int own[];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) own[b] = 0;
  __syncthreads();
  const int k = me();
  if (k < n) {
    const u32 from = times[k];
    for (int j = k + 1; j < n; j++) {
      const u32 lag = times[j] - from;
      if (lag >= window) break;
      atomicAdd(&own[lag * bins / window], 1);
    }
  }
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x)
    if (own[b]) atomicAdd(&counts[b], own[b]);
}

// What a naive Bayes classifier learns: of each class how often each of ten features has each of eight values.
__global__ void trained_counts(const u32* __restrict__ records, int* __restrict__ counts, int n) {
  const int k = me();
  if (k >= n) return;
  const u32 record = records[k];
  const int kind = record >> 30;
#pragma unroll
  for (int f = 0; f < 10; f++) atomicAdd(&counts[(kind * 10 + f) * 8 + (record >> 3 * f & 7)], 1);
}

// Cosines and sines of 48 angles of half a turn.
__constant__ float turn_cosines[48] = {
    1.0000000f, 0.9978589f, 0.9914449f, 0.9807853f, 0.9659258f, 0.9469301f, 0.9238795f, 0.8968727f, 0.8660254f,
    0.8314696f, 0.7933533f, 0.7518398f, 0.7071068f, 0.6593458f, 0.6087614f, 0.5555702f, 0.5000000f, 0.4422887f,
    0.3826834f, 0.3214395f, 0.2588190f, 0.1950903f, 0.1305262f, 0.0654031f, 0.0000000f, -0.0654031f, -0.1305262f,
    -0.1950903f, -0.2588190f, -0.3214395f, -0.3826834f, -0.4422887f, -0.5000000f, -0.5555702f, -0.6087614f,
    -0.6593458f, -0.7071068f, -0.7518398f, -0.7933533f, -0.8314696f, -0.8660254f, -0.8968727f, -0.9238795f,
    -0.9469301f, -0.9659258f, -0.9807853f, -0.9914449f, -0.9978589f};
__constant__ float turn_sines[48] = {
    0.0000000f, 0.0654031f, 0.1305262f, 0.1950903f, 0.2588190f, 0.3214395f, 0.3826834f, 0.4422887f, 0.5000000f,
    0.5555702f, 0.6087614f, 0.6593458f, 0.7071068f, 0.7518398f, 0.7933533f, 0.8314696f, 0.8660254f, 0.8968727f,
    0.9238795f, 0.9469301f, 0.9659258f, 0.9807853f, 0.9914449f, 0.9978589f, 1.0000000f, 0.9978589f, 0.9914449f,
    0.9807853f, 0.9659258f, 0.9469301f, 0.9238795f, 0.8968727f, 0.8660254f, 0.8314696f, 0.7933533f, 0.7518398f,
    0.7071068f, 0.6593458f, 0.6087614f, 0.5555702f, 0.5000000f, 0.4422887f, 0.3826834f, 0.3214395f, 0.2588190f,
    0.1950903f, 0.1305262f, 0.0654031f};

// Shadows of a picture on 48 screens around it: each point adds its light to two places of each screen.
__global__ void radon_shadows(const float* __restrict__ picture, float* __restrict__ out, int side, int angles) {
  const int k = me();
  if (k >= side * side) return;
  const float x = k % side - 0.5f * side, y = k / side - 0.5f * side, light = picture[k];
  for (int a = 0; a < angles; a++) {
    const float at = x * turn_cosines[a] + y * turn_sines[a] + side;
    const int place = (int)at;
    const float part = at - place;
    atomicAdd(&out[a * 2 * side + place], light * (1.0f - part));
    atomicAdd(&out[a * 2 * side + place + 1], light * part);
  }
}

// Parities of stripes of a disk: groups of 32 words, dealt to ``stripes`` stripes.
__global__ void stripe_parities(const u32* __restrict__ words, u32* __restrict__ out, int groups, int stripes) {
  const int lane = threadIdx.x % 32;
  for (int g = me() / 32; g < groups; g += gridDim.x * blockDim.x / 32) {
    const u32 parity = __reduce_xor_sync(ALL, words[(size_t)g * 32 + lane]);
    if (lane == 0) atomicXor(&out[g % stripes], parity);
  }
}

// Pairs of discs that touch: all with all, by tiles of 128 in shared memory; pairs go to the end of a list while it has
// room.
__global__ void touching_discs(const int* __restrict__ discs, u32* __restrict__ pairs, int* __restrict__ count, int n,
                               int room) {
  __shared__ int3 tile[128];
  const int k = me();
  const int3 own = k < n ? make_int3(discs[3 * k], discs[3 * k + 1], discs[3 * k + 2] % 64) : make_int3(0, 0, 0);
  for (int first = 0; first < n; first += 128) {
    __syncthreads();
    for (int j = threadIdx.x; j < min(128, n - first); j += blockDim.x) {
      const int* other = discs + 3 * (first + j);
      tile[j] = make_int3(other[0], other[1], other[2] % 64);
    }
    __syncthreads();
    if (k < n)
      for (int j = 0; j < min(128, n - first); j++) {
        const int dx = own.x - tile[j].x, dy = own.y - tile[j].y, reach = own.z + tile[j].z;
        if (first + j < k && dx * dx + dy * dy <= reach * reach) {
          const int at = atomicAdd(count, 1);
          if (at < room) pairs[at] = k << 16 | (first + j);
        }
      }
  }
}

// Pairs of people whose birthdays are a day apart or less: each with all behind them.
__global__ void close_birthdays(const u16* __restrict__ days, int* __restrict__ count, int n) {
  const int k = me();
  int close = 0;
  if (k < n) {
    const int own = days[k];
    for (int j = k + 1; j < n; j++) {
      const int apart = abs(own - (int)__ldg(days + j));
      close += apart <= 1 || apart == 364;
    }
  }
  close = __reduce_add_sync(ALL, close);
  if (threadIdx.x % 32 == 0) atomicAdd(count, close);
}

// -------------------------------------------------------------------------------------------------- texts and integers

// How many Lyndon words make up each line (Duval); letter j of line k is at j n + k.
__global__ void lyndon_factors(const u8* __restrict__ text, int* __restrict__ out, int n, int length) {
  const int k = me();
  if (k >= n) return;
  int from = 0, factors = 0;
  while (from < length) {
    int ahead = from + 1, behind = from;
    while (ahead < length) {
      const u8 a = text[(size_t)behind * n + k], b = text[(size_t)ahead * n + k];
      if (a > b) break;
      behind = a < b ? from : behind + 1;
      ahead++;
    }
    while (from <= behind) {
      from += ahead - behind;
      factors++;
    }
  }
  out[k] = factors;
}

// Gems on a pile, as a game has them: three of a kind at the top vanish. The height at the end, and how many vanished.
__global__ void cascading_gems(const u8* __restrict__ gems, int* __restrict__ out, int n, int moves) {
  const int k = me();
  if (k >= n) return;
  u8 pile[64];
  int height = 0, gone = 0;
  for (int m = 0; m < moves; m++) {
    const u8 gem = gems[(size_t)m * n + k];
    pile[height++] = gem;
    if (height >= 3 && pile[height - 2] == gem && pile[height - 3] == gem) {
      height -= 3;
      gone += 3;
    }
  }
  out[k] = height * 1000 + gone;
}

// Numbers plus their reversed digits, until they read the same from both ends: how many steps, at most ``most``.
__global__ void lychrel_steps(const u32* __restrict__ in, int* __restrict__ out, int n, int most) {
  const int k = me();
  if (k >= n) return;
  u64 x = in[k] % 100000;
  int steps = 0;
  for (; steps < most; steps++) {
    u64 turned = 0;
    for (u64 rest = x; rest; rest /= 10) turned = turned * 10 + rest % 10;
    if (turned == x) break;
    x += turned;
  }
  out[k] = steps;
}

__device__ __forceinline__ u32 times_mod(u32 a, u32 b) { return (u64)a * b % 998244353u; }

__device__ u32 power_mod_of(u32 base, u32 exponent) {
  u32 found = 1;
  for (; exponent; exponent /= 2) {
    if (exponent & 1) found = times_mod(found, base);
    base = times_mod(base, base);
  }
  return found;
}

// Square roots modulo the prime 119 * 2^23 + 1 (Tonelli and Shanks): the lesser root, or 0 if there is none.
__global__ void modular_roots(const u32* __restrict__ in, u32* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  const u32 prime = 998244353u, x = in[k] % prime;
  u32 found = 0;
  if (power_mod_of(x, (prime - 1) / 2) == 1) {
    u32 power = power_mod_of(3, 119), rest = power_mod_of(x, 119);
    found = power_mod_of(x, 60);
    int order = 23;
    while (rest != 1) {
      int least = 0;
      for (u32 square = rest; square != 1; square = times_mod(square, square)) least++;
      for (int s = 0; s < order - least - 1; s++) power = times_mod(power, power);
      found = times_mod(found, power);
      power = times_mod(power, power);
      rest = times_mod(rest, power);
      order = least;
    }
    found = min(found, prime - found);
  }
  out[k] = found;
}

__device__ __forceinline__ void order(u8& a, u8& b) {
  const u8 low = min(a, b);
  b = max(a, b);
  a = low;
}

__device__ __forceinline__ u8 middle_of_five(const u8* v) {
  u8 a = v[0], b = v[1], c = v[2], d = v[3], e = v[4];
  order(a, b);
  order(c, d);
  const u8 f = max(a, c), g = min(b, d);
  return max(min(e, f), min(max(e, f), g));
}

// A guess at the median of 125 marks: medians of five medians of five medians of five.
__global__ void remedians(const u8* __restrict__ marks, u8* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  u8 upper[5];
#pragma unroll
  for (int a = 0; a < 5; a++) {
    u8 lower[5];
#pragma unroll
    for (int b = 0; b < 5; b++) {
      u8 five[5];
#pragma unroll
      for (int c = 0; c < 5; c++) five[c] = marks[(size_t)(25 * a + 5 * b + c) * n + k];
      lower[b] = middle_of_five(five);
    }
    upper[a] = middle_of_five(lower);
  }
  out[k] = middle_of_five(upper);
}

// Twelve pastures with six fences each: a b c per fence; what lies inside has a x + b y <= c for all six.
__constant__ int fences[216] = {
    12, 10, 15906, 6, 15, 15695, -14, 8, -510, -15, -5, -9606, -4, -16, -10420, 14, -7, 5933, 14, 7, 12315, -3, 16,
    8589, -13, 9, -426, -16, -2, -8070, -5, -15, -9642, 12, -11, 1299, 15, 5, 6767, 7, 14, 8648, -14, 7, 1795, -14,
    -8, -3980, -2, -16, -4684, 11, -11, -185, 16, 1, 9558, 3, 16, 12807, -11, 11, 2979, -12, -11, -11358, -6, -15,
    -11016, 10, -12, -1494, 15, 5, 8060, -3, 16, 4236, -8, 14, 1920, -16, -4, -5456, -5, -15, -4180, 10, -12, 2024,
    16, 2, 10670, 1, 16, 14597, -12, 11, 4585, -15, -5, -9350, -8, -14, -13114, 15, -6, 3937, 14, 7, 9462, 4, 15,
    9632, -9, 13, 4149, -15, -4, -5777, -2, -16, -6734, 10, -12, -682, 14, 8, 11838, -2, 16, 9662, -9, 14, 5883, -14,
    -7, -6876, -5, -15, -7451, 9, -13, -921, 16, 0, 13296, 1, 16, 15716, -14, 8, -704, -16, -3, -10691, 2, -16, -8728,
    15, -6, 7910, 14, 7, 6982, 8, 14, 7772, -15, 6, 1256, -16, -2, -1124, -7, -15, -2994, 14, -8, 2872, 14, 7, 15794,
    5, 15, 10500, -9, 13, -1924, -15, -6, -12510, -5, -15, -6660, 10, -13, 6610, 16, 1, 7937, 7, 14, 14023, -15, 6,
    1493, -12, -11, -9263, 3, -16, -7923, 13, -9, 90};

// In which pasture a cow stands: the first whose fences are all around it, or 255.
__global__ void fenced_pastures(const u16* __restrict__ cows, u8* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  const int x = cows[2 * k] % 1024, y = cows[2 * k + 1] % 1024;
  int found = 255;
  for (int p = 0; p < 12 && found == 255; p++) {
    int f = 0;
    while (f < 6 && fences[18 * p + 3 * f] * x + fences[18 * p + 3 * f + 1] * y <= fences[18 * p + 3 * f + 2]) f++;
    if (f == 6) found = p;
  }
  out[k] = found;
}

// 800 steps of a network of gates, in code without a loop.
__global__ void hashed_gates(const u32* __restrict__ in, u32* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  u32 x = in[k], y = ~x;
#pragma unroll
  for (int s = 0; s < 800; s++) {
    const u32 gate = hashed(s + 7);
    x = (x ^ gate) * (gate | 1) + y;
    y = (y & gate) ^ x >> (3 + s % 11);
  }
  out[k] = x ^ y;
}

// -------------------------------------------------------------------------------------------------------------- graphs

// A step of 32 searches at once: a bit of a node per search; who is next to a node of the front and was not seen.
__global__ void many_source_step(const int* __restrict__ starts, const int* __restrict__ members,
                                 const u32* __restrict__ front, const u32* __restrict__ seen, u32* __restrict__ next,
                                 int n) {
  const int k = me();
  if (k >= n) return;
  u32 near = 0;
  for (int m = starts[k]; m < starts[k + 1]; m++) near |= __ldg(front + members[m]);
  next[k] = near & ~seen[k];
}

// The number of a rank in a search tree: nodes have (left, right, how many below, key), and -1 where no node is.
__global__ void kth_in_tree(const int4* __restrict__ tree, const u32* __restrict__ asked, int* __restrict__ out,
                            int n) {
  const int k = me();
  if (k >= n) return;
  int4 node = tree[0];
  int rank = asked[k] % node.z;
  while (true) {
    const int below = node.x < 0 ? 0 : tree[node.x].z;
    if (rank == below) break;
    const int at = rank < below ? node.x : node.y;
    rank = rank < below ? rank : rank - below - 1;
    node = tree[at];
  }
  out[k] = node.w;
}

// ----------------------------------------------------------------------------------------------------- chance, physics

// Secretaries come one after another: the first that beats the first ``looked`` gets the job. How often the best does.
__global__ void secretary_hires(int* __restrict__ out, int n, int games, int comers, int looked, u32 seed) {
  const int k = me();
  if (k >= n) return;
  Rolled luck(k, seed);
  int won = 0;
  for (int g = 0; g < games; g++) {
    u32 best = 0, hired = 0;
    int c = 0;
    for (; c < looked; c++) best = max(best, luck.word());
    for (; c < comers && !hired; c++) {
      const u32 word = luck.word();
      if (word > best) hired = word;
    }
    bool right = hired;
    for (; c < comers && right; c++) right = luck.word() <= hired;
    won += right;
  }
  out[k] = won;
}

// How hard 32 questions are.
__constant__ float hardness[32] = {
    -1.1798f, 0.3599f, -0.9979f, 0.6016f, -0.5462f, -1.3425f, 0.3578f, -0.8817f, 1.5956f, 0.1260f, -0.5870f, -0.2856f,
    -1.0022f, -0.9336f, 1.4236f, 1.1508f, 0.0245f, -2.1290f, 0.6736f, 0.4896f, -0.6901f, 2.6622f, 0.3826f, 1.8172f,
    -2.3214f, -0.9644f, -1.2262f, -0.0235f, 0.8228f, 0.4050f, -1.6650f, 0.9101f};

// How able people are, from which questions they answered rightly (Rasch): steps of Newton towards the likeliest.
__global__ void rasch_abilities(const u32* __restrict__ answers, float* __restrict__ out, int n, int turns) {
  const int k = me();
  if (k >= n) return;
  const u32 right = answers[k];
  float able = 0.0f;
  for (int t = 0; t < turns; t++) {
    float slope = -0.25f * able, bend = 0.25f;
    for (int q = 0; q < 32; q++) {
      const float chance = __fdividef(1.0f, 1.0f + __expf(hardness[q] - able));
      slope += (right >> q & 1) - chance;
      bend += chance * (1.0f - chance);
    }
    able += __fdividef(slope, bend);
  }
  out[k] = able;
}

// The fields of magnetic dipoles at the places of all others; tiles of a block's size in shared memory.
__global__ void dipole_fields(const float4* __restrict__ places, const float4* __restrict__ dipoles,
                              float* __restrict__ out, int n) {
  extern __shared__ float4 tile[];
  float4 *place = tile, *dipole = tile + blockDim.x;
  const int k = me();
  const float4 own = places[min(k, n - 1)];
  float x = 0.0f, y = 0.0f, z = 0.0f;
  for (int first = 0; first < n; first += blockDim.x) {
    const int j = first + threadIdx.x;
    place[threadIdx.x] = j < n ? places[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    dipole[threadIdx.x] = j < n ? dipoles[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    __syncthreads();
#pragma unroll 4
    for (int t = 0; t < blockDim.x; t++) {
      const float4 p = place[t], m = dipole[t];
      const float dx = own.x - p.x, dy = own.y - p.y, dz = own.z - p.z;
      const float far = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), cube = far * far * far;
      const float along = 3.0f * (m.x * dx + m.y * dy + m.z * dz) * far * far;
      x += (along * dx - m.x) * cube;
      y += (along * dy - m.y) * cube;
      z += (along * dz - m.z) * cube;
    }
    __syncthreads();
  }
  if (k < n) out[3 * k] = x, out[3 * k + 1] = y, out[3 * k + 2] = z;
}

// Van der Pol's oscillators in double precision, by Runge and Kutta.
__global__ void double_van_der_pol(const double* __restrict__ in, double* __restrict__ out, int n, int steps, double mu,
                                   double dt) {
  const int k = me();
  if (k >= n) return;
  double x = in[k], v = 0.0;
  auto pull = [mu](double x, double v) { return mu * (1.0 - x * x) * v - x; };
  for (int s = 0; s < steps; s++) {
    const double a = pull(x, v), v1 = v + 0.5 * dt * a, b = pull(x + 0.5 * dt * v, v1), v2 = v + 0.5 * dt * b,
                 c = pull(x + 0.5 * dt * v1, v2), v3 = v + dt * c, d = pull(x + dt * v2, v3);
    x += dt / 6.0 * (v + 2.0 * (v1 + v2) + v3);
    v += dt / 6.0 * (a + 2.0 * (b + c) + d);
  }
  out[k] = x;
}

// ----------------------------------------------------------------------------------------------- pictures and networks

// Depths that a camera gives for every fourth point, at all points: a mean of nine by distance and by grey.
__global__ void guided_upsampling(const float* __restrict__ depths, const float* __restrict__ grey,
                                  float* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int across = (width + 3) / 4, down = (height + 3) / 4;
  const float own = grey[y * width + x];
  float sum = 0.0f, weights = 0.0f;
#pragma unroll
  for (int b = -1; b <= 1; b++)
#pragma unroll
    for (int a = -1; a <= 1; a++) {
      const int i = min(max(x / 4 + a, 0), across - 1), j = min(max(y / 4 + b, 0), down - 1);
      const float dx = x - 4 * i, dy = y - 4 * j, dg = own - grey[4 * j * width + 4 * i];
      const float weight = __expf(-0.05f * (dx * dx + dy * dy) - 8.0f * dg * dg);
      sum += weight * depths[j * across + i];
      weights += weight;
    }
  out[y * width + x] = sum / weights;
}

// A step of lines of equal height that shrink where they bend.
__global__ void curvature_flow(const float* __restrict__ in, float* __restrict__ out, int width, int height, float dt) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  auto at = [&](int a, int b) { return in[min(max(y + b, 0), height - 1) * width + min(max(x + a, 0), width - 1)]; };
  const float own = at(0, 0), l = at(-1, 0), r = at(1, 0), t = at(0, -1), d = at(0, 1);
  const float ux = 0.5f * (r - l), uy = 0.5f * (d - t), uxx = l - 2.0f * own + r, uyy = t - 2.0f * own + d;
  const float uxy = 0.25f * (at(1, 1) - at(-1, 1) - at(1, -1) + at(-1, -1));
  const float up = uxx * uy * uy - 2.0f * ux * uy * uxy + uyy * ux * ux;
  out[y * width + x] = own + dt * up / (ux * ux + uy * uy + 1e-3f);
}

// Responses of channels, less the louder their four neighbours are; all points of a channel lie together.
__global__ void response_norms(const float* __restrict__ in, float* __restrict__ out, int channels, int points) {
  const int p = me(), c = blockIdx.y;
  if (p >= points) return;
  float squares = 0.0f;
  for (int o = max(c - 2, 0); o <= min(c + 2, channels - 1); o++) {
    const float x = in[(size_t)o * points + p];
    squares += x * x;
  }
  out[(size_t)c * points + p] = in[(size_t)c * points + p] * powf(2.0f + 0.1f * squares, -0.75f);
}

// The greatest of 3 x 3 points at every second point, two channels per word of bfloat16.
__global__ void bf16_pooled(const __nv_bfloat162* __restrict__ in, __nv_bfloat162* __restrict__ out, int side,
                            int pairs) {
  const int across = (side - 1) / 2, k = me();
  if (k >= across * across * pairs) return;
  const int pair = k % pairs, x = k / pairs % across, y = k / pairs / across;
  __nv_bfloat162 most = in[(2 * y * side + 2 * x) * pairs + pair];
#pragma unroll
  for (int j = 1; j < 9; j++) most = __hmax2(most, in[((2 * y + j / 3) * side + 2 * x + j % 3) * pairs + pair]);
  out[k] = most;
}

// Complex numbers of two halves: each is turned, made shorter and moved, again and again.
__global__ void half_complex_walks(const half2* __restrict__ starts, const half2* __restrict__ turns,
                                   half2* __restrict__ out, int n, int steps) {
  const int k = me();
  if (k >= n) return;
  const half2 turn = __hmul2(turns[k], __float2half2_rn(0.6f)), move = __floats2half2_rn(0.25f, -0.125f);
  const half2 across = __halves2half2(__hneg(__high2half(turn)), __low2half(turn));
  half2 z = starts[k];
  for (int s = 0; s < steps; s++)
    z = __hfma2(__low2half2(z), turn, __hfma2(__high2half2(z), across, move));
  out[k] = z;
}

// How far histograms are from each other (chi squared), all from all; tiles of 16 x 16 in shared memory.
__global__ void chi_square_pairs(const float* __restrict__ in, float* __restrict__ out, int rows, int bins) {
  __shared__ float left[16][17], right[16][17];
  const int x = threadIdx.x, y = threadIdx.y, a = blockIdx.y * 16 + y, b = blockIdx.x * 16 + x;
  const int other = blockIdx.x * 16 + y;
  float sum = 0.0f;
  for (int first = 0; first < bins; first += 16) {
    left[y][x] = a < rows && first + x < bins ? in[a * bins + first + x] : 0.0f;
    right[y][x] = other < rows && first + x < bins ? in[other * bins + first + x] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 16; j++) {
      const float p = left[y][j], q = right[x][j];
      sum += (p - q) * (p - q) / (p + q + 1e-6f);
    }
    __syncthreads();
  }
  if (a < rows && b < rows) out[a * rows + b] = sum;
}

// A square matrix becomes its transpose in place: two tiles that lie across from each other per block.
__global__ void transposed_in_place(float* matrix, int n) {
  __shared__ float low[32][33], high[32][33];
  if (blockIdx.x > blockIdx.y) return;
  const int left = blockIdx.x * 32, top = blockIdx.y * 32;
  for (int j = threadIdx.y; j < 32; j += blockDim.y) {
    const int x = threadIdx.x;
    if (top + j < n && left + x < n) low[j][x] = matrix[(size_t)(top + j) * n + left + x];
    if (left + j < n && top + x < n) high[j][x] = matrix[(size_t)(left + j) * n + top + x];
  }
  __syncthreads();
  for (int j = threadIdx.y; j < 32; j += blockDim.y) {
    const int x = threadIdx.x;
    if (top + j < n && left + x < n) matrix[(size_t)(top + j) * n + left + x] = high[x][j];
    if (blockIdx.x < blockIdx.y && left + j < n && top + x < n)
      matrix[(size_t)(left + j) * n + top + x] = low[x][j];
  }
}

// ------------------------------------------------------------------------------------------------------------- streams

// What a share gains from one day to the next, as logarithms.
__global__ void log_returns(const float* __restrict__ prices, float* __restrict__ out, int n) {
  const int k = me();
  if (k < n) out[k] = __logf(prices[k + 1] + 1.0f) - __logf(prices[k] + 1.0f);
}

// A step of AdaGrad: the sum of all squares so far makes each weight's step shorter.
__global__ void adagrad_step(float* __restrict__ weights, float* __restrict__ squares, const float* __restrict__ slopes,
                             int n, float rate) {
  for (int k = me(); k < n; k += gridDim.x * blockDim.x) {
    const float slope = slopes[k], sum = squares[k] + slope * slope;
    squares[k] = sum;
    weights[k] -= rate * slope * rsqrtf(sum + 1e-8f);
  }
}

// Rows of signed bytes as floats: times the scale of the row; four bytes per thread and turn.
__global__ void dequantised_rows(const char4* __restrict__ in, const float* __restrict__ scales,
                                 float4* __restrict__ out, int quads) {
  const float scale = scales[blockIdx.x];
  for (int k = threadIdx.x; k < quads; k += blockDim.x) {
    const char4 v = in[(size_t)blockIdx.x * quads + k];
    out[(size_t)blockIdx.x * quads + k] = make_float4(scale * v.x, scale * v.y, scale * v.z, scale * v.w);
  }
}
