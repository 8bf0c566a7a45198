// Kernels for tests/hardware/twenty_fourth_cases.py: other ones than those of the twenty-three sets before, as students
// and engineers write them.
#include <cooperative_groups.h>
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
  __device__ __forceinline__ u32 below(u32 n) { return __umulhi(word(), n); }
};

__device__ __forceinline__ float sum_of_warp(float x) {
#pragma unroll
  for (int far = 16; far; far /= 2) x += __shfl_xor_sync(ALL, x, far);
  return x;
}

__device__ __forceinline__ float most_of_warp(float x) {
#pragma unroll
  for (int far = 16; far; far /= 2) x = fmaxf(x, __shfl_xor_sync(ALL, x, far));
  return x;
}

// The sum over a block, in all threads. ``parts``: 32 numbers of shared memory that nobody else uses.
__device__ __forceinline__ float sum_for_block(float x, float* parts) {
  x = sum_of_warp(x);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  return sum_of_warp(threadIdx.x % 32 < blockDim.x / 32 ? parts[threadIdx.x % 32] : 0.0f);
}

// ------------------------------------------------------------------------------------------------- a problem per block

// Metal bars that cool at both ends: each cell becomes a mean of itself and its neighbours; a bar per block.
__global__ void cooling_bars(const float* __restrict__ in, float* __restrict__ out, int cells, int steps) {
  extern __shared__ float bar[];
  float *now = bar, *next = bar + cells + 2;
  for (int k = threadIdx.x; k < cells + 2; k += blockDim.x)
    now[k] = next[k] = k == 0 || k == cells + 1 ? 0.0f : in[(size_t)blockIdx.x * cells + k - 1];
  __syncthreads();
  for (int s = 0; s < steps; s++) {
    for (int k = 1 + threadIdx.x; k <= cells; k += blockDim.x)
      next[k] = 0.5f * now[k] + 0.25f * (now[k - 1] + now[k + 1]);
    __syncthreads();
    float* other = now;
    now = next;
    next = other;
  }
  for (int k = threadIdx.x; k < cells; k += blockDim.x) out[(size_t)blockIdx.x * cells + k] = now[k + 1];
}

// The dearest way down a pyramid of numbers, from the top to the last row; a pyramid per block.
__global__ void pyramid_paths(const u8* __restrict__ stones, int* __restrict__ out, int rows) {
  extern __shared__ int best[];
  const u8* own = stones + (size_t)blockIdx.x * rows * rows;
  int *below = best, *now = best + rows;
  for (int k = threadIdx.x; k < rows; k += blockDim.x) below[k] = own[(rows - 1) * rows + k];
  for (int row = rows - 2; row >= 0; row--) {
    __syncthreads();
    for (int k = threadIdx.x; k <= row; k += blockDim.x) now[k] = own[row * rows + k] + max(below[k], below[k + 1]);
    int* other = below;
    below = now;
    now = other;
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = below[0];
}

// Means of 256 marks without the 32 least and the 32 greatest: each mark counts those before it.
__global__ void trimmed_means(const int* __restrict__ marks, float* __restrict__ out) {
  __shared__ int own[256];
  __shared__ float parts[32];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) own[k] = marks[blockIdx.x * 256 + k];
  __syncthreads();
  float sum = 0.0f;
  for (int k = threadIdx.x; k < 256; k += blockDim.x) {
    const int mark = own[k];
    int place = 0;
#pragma unroll 8
    for (int j = 0; j < 256; j++) place += own[j] < mark || (own[j] == mark && j < k);
    if (place >= 32 && place < 224) sum += mark;
  }
  sum = sum_for_block(sum, parts);
  if (threadIdx.x == 0) out[blockIdx.x] = sum / 192.0f;
}

// The longest series of wins in a season of ``games`` games per block: a tree joins (first, last, most, length).
__global__ void longest_streaks(const u8* __restrict__ wins, int* __restrict__ out, int games) {
  extern __shared__ int4 joined[];
  const u8* own = wins + (size_t)blockIdx.x * games;
  const int each = (games + blockDim.x - 1) / blockDim.x, from = min(games, (int)threadIdx.x * each),
            to = min(games, from + each);
  int first = 0, run = 0, most = 0;
  bool whole = true;
  for (int k = from; k < to; k++) {
    run = own[k] ? run + 1 : 0;
    whole = whole && own[k];
    if (whole) first = run;
    most = max(most, run);
  }
  joined[threadIdx.x] = make_int4(first, run, most, to - from);
  for (int far = 1; far < blockDim.x; far *= 2) {
    __syncthreads();
    const int k = 2 * far * threadIdx.x;
    if (k + far < blockDim.x) {
      const int4 a = joined[k], b = joined[k + far];
      joined[k] = make_int4(a.x == a.w ? a.w + b.x : a.x, b.y == b.w ? b.w + a.y : b.y, max(max(a.z, b.z), a.y + b.x),
                            a.w + b.w);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = joined[0].z;
}

// Cloth of 32 x 32 threads turned again and again in shared memory; ``pad`` spares conflicts of banks or not.
template <int pad>
__global__ void woven_tiles(const u32* __restrict__ in, u32* __restrict__ out, int turns) {
  __shared__ u32 cloth[2][32][32 + pad];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) cloth[0][k / 32][k % 32] = in[blockIdx.x * 1024 + k];
  __syncthreads();
  for (int t = 0; t < turns; t++) {
    for (int k = threadIdx.x; k < 1024; k += blockDim.x)
      cloth[(t + 1) % 2][k / 32][k % 32] = cloth[t % 2][k % 32][k / 32] + k;
    __syncthreads();
  }
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) out[blockIdx.x * 1024 + k] = cloth[turns % 2][k / 32][k % 32];
}

// A walk along 2,048 lockers: thread t opens the locker ``step`` t, then the ones behind it.
template <int step>
__global__ void locker_rounds(const u32* __restrict__ in, u32* __restrict__ out, int rounds) {
  __shared__ u32 locker[2048];
  for (int k = threadIdx.x; k < 2048; k += blockDim.x) locker[k] = in[k] + blockIdx.x;
  __syncthreads();
  u32 sum = 0;
#pragma unroll 4
  for (int r = 0; r < rounds; r++) sum = sum * 3 + locker[(threadIdx.x * step + r) % 2048];
  out[me()] = sum;
}

// Rows as standard scores: less their mean, over their deviation.
__global__ void standard_scores(const float* __restrict__ in, float* __restrict__ out, int width) {
  __shared__ float parts[2][32];
  const float* row = in + (size_t)blockIdx.x * width;
  float sum = 0.0f, squares = 0.0f;
  for (int k = threadIdx.x; k < width; k += blockDim.x) sum += row[k];
  const float mean = sum_for_block(sum, parts[0]) / width;
  for (int k = threadIdx.x; k < width; k += blockDim.x) squares += (row[k] - mean) * (row[k] - mean);
  const float scale = rsqrtf(sum_for_block(squares, parts[1]) / width + 1e-6f);
  for (int k = threadIdx.x; k < width; k += blockDim.x) out[(size_t)blockIdx.x * width + k] = (row[k] - mean) * scale;
}

// Softmax of rows at a temperature; the greatest and the sum in one pass, joined by pairs.
__global__ void tempered_softmax(const float* __restrict__ in, float* __restrict__ out, int width, float heat) {
  __shared__ float2 parts[32];
  const float* row = in + (size_t)blockIdx.x * width;
  float most = -1e30f, sum = 0.0f;
  for (int k = threadIdx.x; k < width; k += blockDim.x) {
    const float x = row[k] * heat, high = fmaxf(most, x);
    sum = sum * __expf(most - high) + __expf(x - high);
    most = high;
  }
  auto join = [&](float high, float more) {
    const float top = fmaxf(most, high);
    sum = sum * __expf(most - top) + more * __expf(high - top);
    most = top;
  };
#pragma unroll
  for (int far = 16; far; far /= 2) join(__shfl_xor_sync(ALL, most, far), __shfl_xor_sync(ALL, sum, far));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = make_float2(most, sum);
  __syncthreads();
  most = -1e30f, sum = 0.0f;
  for (int w = 0; w < blockDim.x / 32; w++) join(parts[w].x, parts[w].y);
  const float scale = 1.0f / sum;
  for (int k = threadIdx.x; k < width; k += blockDim.x)
    out[(size_t)blockIdx.x * width + k] = __expf(row[k] * heat - most) * scale;
}

// Totals after each payment of an account; an account per block, a piece of it at a time.
__global__ void totals_so_far(const int* __restrict__ in, int* __restrict__ out, int count) {
  __shared__ int parts[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int before = 0;
  for (int first = 0; first < count; first += blockDim.x) {
    const int k = first + threadIdx.x;
    int x = k < count ? in[(size_t)blockIdx.x * count + k] : 0;
#pragma unroll
    for (int far = 1; far < 32; far *= 2) {
      const int other = __shfl_up_sync(ALL, x, far);
      if (lane >= far) x += other;
    }
    if (lane == 31) parts[warp] = x;
    __syncthreads();
    int part = lane < blockDim.x / 32 ? parts[lane] : 0;
#pragma unroll
    for (int far = 1; far < 32; far *= 2) {
      const int other = __shfl_up_sync(ALL, part, far);
      if (lane >= far) part += other;
    }
    const int ahead = __shfl_sync(ALL, part, (warp + 31) % 32);
    if (k < count) out[(size_t)blockIdx.x * count + k] = before + x + (warp ? ahead : 0);
    before += __shfl_sync(ALL, part, 31);
    __syncthreads();
  }
}

// Plates of 32 x 32 points in an oven: a mean of five points, in shared memory with a hot border, step after step.
__global__ void oven_plates(const float* __restrict__ in, float* __restrict__ out, int steps) {
  __shared__ float plate[2][34][34];
  for (int k = threadIdx.x; k < 34 * 34; k += blockDim.x) {
    const int x = k % 34, y = k / 34;
    const bool inside = x > 0 && y > 0 && x < 33 && y < 33;
    plate[0][y][x] = plate[1][y][x] = inside ? in[(size_t)blockIdx.x * 1024 + (y - 1) * 32 + x - 1] : 1.0f;
  }
  __syncthreads();
  for (int s = 0; s < steps; s++) {
    const int now = s % 2;
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) {
      const int x = k % 32 + 1, y = k / 32 + 1;
      plate[1 - now][y][x] = 0.2f * (plate[now][y][x] + plate[now][y - 1][x] + plate[now][y + 1][x] +
                                     plate[now][y][x - 1] + plate[now][y][x + 1]);
    }
    __syncthreads();
  }
  for (int k = threadIdx.x; k < 1024; k += blockDim.x)
    out[(size_t)blockIdx.x * 1024 + k] = plate[steps % 2][k / 32 + 1][k % 32 + 1];
}

// The least of a block as a first program finds it: in steps of two, four, eight, with fewer and fewer threads.
__global__ void coldest_hours(const int* __restrict__ in, int* __restrict__ out, int each) {
  __shared__ int least[1024];
  int own = 1 << 30;
  for (int j = 0; j < each; j++) own = min(own, in[((size_t)blockIdx.x * each + j) * blockDim.x + threadIdx.x]);
  least[threadIdx.x] = own;
  __syncthreads();
  for (int far = 1; far < blockDim.x; far *= 2) {
    if (threadIdx.x % (2 * far) == 0 && threadIdx.x + far < blockDim.x)
      least[threadIdx.x] = min(least[threadIdx.x], least[threadIdx.x + far]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = least[0];
}

// ------------------------------------------------------------------------------------- clusters, asynchronous copies

// Rows of ``size`` pieces, a piece per block: each number less the mean of the whole row.
template <int size>
__global__ void __cluster_dims__(size) team_means(const float* __restrict__ in, float* __restrict__ out, int piece) {
  __shared__ float parts[32], sum;
  const auto team = cg::this_cluster();
  const float* own = in + (size_t)blockIdx.x * piece;
  float x = 0.0f;
  for (int k = threadIdx.x; k < piece; k += blockDim.x) x += own[k];
  x = sum_for_block(x, parts);
  if (threadIdx.x == 0) sum = x;
  team.sync();
  float mean = 0.0f;
  for (int r = 0; r < size; r++) mean += *team.map_shared_rank(&sum, r);
  mean /= size * piece;
  for (int k = threadIdx.x; k < piece; k += blockDim.x) out[(size_t)blockIdx.x * piece + k] = own[k] - mean;
  team.sync();
}

// A wave along a string of four blocks' shared memory: the ends of a block's part lie with its neighbours.
__global__ void __cluster_dims__(4) long_ropes(const float* __restrict__ in, float* __restrict__ out, int part,
                                              int steps) {
  extern __shared__ float rope[];
  const auto four = cg::this_cluster();
  const int rank = four.block_rank();
  float *now = rope, *next = rope + part;
  for (int k = threadIdx.x; k < part; k += blockDim.x) now[k] = in[(size_t)blockIdx.x * part + k];
  for (int s = 0; s < steps; s++) {
    four.sync();
    const float left = rank ? *four.map_shared_rank(now + part - 1, rank - 1) : 0.0f;
    const float right = rank < 3 ? *four.map_shared_rank(now, rank + 1) : 0.0f;
    for (int k = threadIdx.x; k < part; k += blockDim.x)
      next[k] = 0.4f * now[k] + 0.3f * ((k ? now[k - 1] : left) + (k + 1 < part ? now[k + 1] : right));
    float* other = now;
    now = next;
    next = other;
  }
  four.sync();
  for (int k = threadIdx.x; k < part; k += blockDim.x) out[(size_t)blockIdx.x * part + k] = now[k];
}

// Energies of recordings: pieces of 2,048 samples come ahead, three at once in shared memory.
__global__ void staged_energies(const float4* __restrict__ in, float* __restrict__ out, int pieces) {
  __shared__ float4 ahead[3][512];
  __shared__ float parts[32];
  const float4* own = in + (size_t)blockIdx.x * pieces * 512;
  for (int p = 0; p < 2; p++) {
    if (p < pieces)
      for (int k = threadIdx.x; k < 512; k += blockDim.x) __pipeline_memcpy_async(&ahead[p][k], own + p * 512 + k, 16);
    __pipeline_commit();
  }
  float sum = 0.0f;
  for (int p = 0; p < pieces; p++) {
    __pipeline_wait_prior(1);
    __syncthreads();
    if (p + 2 < pieces)
      for (int k = threadIdx.x; k < 512; k += blockDim.x)
        __pipeline_memcpy_async(&ahead[(p + 2) % 3][k], own + (p + 2) * 512 + k, 16);
    __pipeline_commit();
    for (int k = threadIdx.x; k < 512; k += blockDim.x) {
      const float4 v = ahead[p % 3][k];
      sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
  }
  sum = sum_for_block(sum, parts);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// A filter of 33 taps over 1,024 samples per block, which come asynchronously with what lies around them.
__global__ void staged_echoes(const float* __restrict__ in, const float* __restrict__ taps, float* __restrict__ out) {
  __shared__ float near[1056], tap[33];
  for (int k = threadIdx.x; k < 1056; k += blockDim.x)
    __pipeline_memcpy_async(&near[k], in + (size_t)blockIdx.x * 1024 + k, 4);
  if (threadIdx.x < 32) __pipeline_memcpy_async(&tap[threadIdx.x], taps + threadIdx.x, 4);
  if (threadIdx.x == 0) __pipeline_memcpy_async(&tap[32], taps + 32, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) {
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < 33; j++) sum += tap[j] * near[k + j];
    out[(size_t)blockIdx.x * 1024 + k] = sum;
  }
}

// -------------------------------------------------------------------------------------------------- a problem per warp

// Medians of 32 measurements: a bitonic sort over lanes, then what stands in the middle.
__global__ void group_medians(const int* __restrict__ in, int* __restrict__ out, int n) {
  const int k = me(), lane = threadIdx.x % 32;
  if (k / 32 >= n) return;
  int x = in[k];
#pragma unroll
  for (int size = 2; size <= 32; size *= 2)
#pragma unroll
    for (int far = size / 2; far; far /= 2) {
      const int other = __shfl_xor_sync(ALL, x, far);
      const bool least = ((lane & far) == 0) == ((lane & size) == 0);
      x = least ? min(x, other) : max(x, other);
    }
  const int low = __shfl_sync(ALL, x, 15), high = __shfl_sync(ALL, x, 16);
  if (lane == 0) out[k / 32] = (low + high) / 2;
}

// Panels of 32 judges: how many of their questions more than half of them answer with yes.
__global__ void jury_verdicts(const u8* __restrict__ answers, int* __restrict__ out, int n, int questions) {
  const int warp = me() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  int yes = 0, agreed = 0;
  for (int q = 0; q < questions; q++) {
    const bool mine = answers[((size_t)warp * questions + q) * 32 + lane] > 100;
    yes += __popc(__ballot_sync(ALL, mine)) > 16;
    agreed += __all_sync(ALL, mine || lane % 4) || !__any_sync(ALL, mine && lane % 3 == 0);
  }
  if (lane == 0) out[warp] = 1000 * yes + agreed;
}

// How like rows are to one that is asked for: cosines, a row per warp.
__global__ void alike_to_query(const float4* __restrict__ rows, const float4* __restrict__ query,
                               float* __restrict__ out, int n, int quads) {
  const int warp = me() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  float dot = 0.0f, squares = 0.0f;
  for (int k = lane; k < quads; k += 32) {
    const float4 a = rows[(size_t)warp * quads + k], b = query[k];
    dot += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    squares += a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w;
  }
  dot = sum_of_warp(dot), squares = sum_of_warp(squares);
  if (lane == 0) out[warp] = dot * rsqrtf(squares + 1e-9f);
}

// Products of all numbers so far by a prime, over 32 lanes, round after round.
__global__ void product_scans(const u32* __restrict__ in, u32* __restrict__ out, int n, int rounds) {
  const int k = me(), lane = threadIdx.x % 32;
  if (k / 32 >= n) return;
  u32 x = in[k] % 65521u;
  for (int r = 0; r < rounds; r++) {
    for (int far = 1; far < 32; far *= 2) {
      const u32 other = __shfl_up_sync(ALL, x, far);
      if (lane >= far) x = x * other % 65521u;
    }
    x += r + 1;
  }
  out[k] = x;
}

// Groups of 32 clocks that set themselves by all others: butterflies over lanes, one behind the other.
__global__ void village_clocks(const float* __restrict__ in, float* __restrict__ out, int n, int rounds) {
  const int k = me();
  if (k / 32 >= n) return;
  float x = in[k];
  for (int r = 0; r < rounds; r++) x = 0.75f * x + 0.25f / 32.0f * sum_of_warp(x);
  out[k] = x;
}

// Rows of recordings as numbers from -1 to 1: over their greatest size, a row per warp.
__global__ void rows_to_unit_peak(const float* __restrict__ in, float* __restrict__ out, int n, int width) {
  const int warp = me() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  const size_t first = (size_t)warp * width;
  float most = 1e-9f;
  for (int k = lane; k < width; k += 32) most = fmaxf(most, fabsf(in[first + k]));
  const float scale = 1.0f / most_of_warp(most);
  for (int k = lane; k < width; k += 32) out[first + k] = in[first + k] * scale;
}

// Bills of guests who sit anywhere among 32 seats: lanes with the same table find each other, the first pays.
__global__ void table_bills(const u8* __restrict__ tables, const int* __restrict__ prices, int* __restrict__ out,
                            int n) {
  const int k = me(), lane = threadIdx.x % 32;
  if (k / 32 >= n) return;
  const u32 same = __match_any_sync(ALL, (int)tables[k]);
  const int price = prices[k];
  int bill = 0;
  for (u32 left = same; __any_sync(ALL, left); left &= left - 1) {
    const int paid = __shfl_sync(ALL, price, left ? __ffs(left) - 1 : lane);
    bill += left ? paid : 0;
  }
  out[k] = __ffs(same) - 1 == lane ? bill : 0;
}

// ------------------------------------------------------------------------------------------------------------- atomics

// How many houses lie in each band of prices: counters in global memory.
__global__ void price_bands(const u32* __restrict__ prices, int* __restrict__ counts, int n, int bands) {
  const int k = me();
  if (k < n) atomicAdd(&counts[__umulhi(prices[k], bands)], 1);
}

// The same in shared memory first. The blocks take turns at the houses.
__global__ void price_bands_by_block(const u32* __restrict__ prices, int* __restrict__ counts, int n, int bands) {
  extern __shared__ int own[];
  for (int k = threadIdx.x; k < bands; k += blockDim.x) own[k] = 0;
  __syncthreads();
  for (int k = me(); k < n; k += gridDim.x * blockDim.x) atomicAdd(&own[__umulhi(prices[k], bands)], 1);
  __syncthreads();
  for (int k = threadIdx.x; k < bands; k += blockDim.x)
    if (own[k]) atomicAdd(&counts[k], own[k]);
}

// Guests take seats in a hall: from a hash on, the first free one. A guest who comes twice sits once.
__global__ void claimed_seats(const u32* __restrict__ guests, u32* __restrict__ seats, int n, u32 mask) {
  const int k = me();
  if (k >= n) return;
  const u32 guest = guests[k] + 1;
  for (u32 at = hashed(guest) & mask;; at = (at + 1) & mask) {
    const u32 there = atomicCAS(&seats[at], 0u, guest);
    if (there == 0 || there == guest) break;
  }
}

// The warmest day of each station: readings come in any order.
__global__ void warmest_days(const u32* __restrict__ readings, int* __restrict__ warmest, int n, int stations) {
  const int k = me();
  if (k >= n) return;
  const u32 reading = readings[k];
  atomicMax(&warmest[reading % stations], (int)(reading >> 12));
}

// Letters into the boxes of towns: a place comes from a counter; boxes that are full count and keep nothing.
__global__ void posted_letters(const u16* __restrict__ towns, int* __restrict__ counts, int* __restrict__ boxes, int n,
                               int room) {
  const int k = me();
  if (k >= n) return;
  const int town = towns[k], place = atomicAdd(&counts[town], 1);
  if (place < room) boxes[town * room + place] = k + 1;
}

// Points of classes and how many pupils have them, in floats.
__global__ void class_totals(const u8* __restrict__ classes, const u8* __restrict__ points, float* __restrict__ totals,
                             float* __restrict__ counts, int n) {
  for (int k = me(); k < n; k += gridDim.x * blockDim.x) {
    atomicAdd(&totals[classes[k]], (float)points[k]);
    atomicAdd(&counts[classes[k]], 1.0f);
  }
}

// Which numbers any thread saw: a bit of a field per number.
__global__ void seen_numbers(const u32* __restrict__ in, u32* __restrict__ seen, int n, u32 high) {
  const int k = me();
  if (k >= n) return;
  const u32 x = in[k] % high;
  atomicOr(&seen[x / 32], 1u << x % 32);
}

// One counter for all: those who pass a bound, by warp, with one atomic per warp.
__global__ void passed_bound(const float* __restrict__ in, int* __restrict__ count, int n, float bound) {
  int own = 0;
  for (int k = me(); k < n; k += gridDim.x * blockDim.x) own += in[k] > bound;
  own = __reduce_add_sync(ALL, own);
  if (threadIdx.x % 32 == 0) atomicAdd(count, own);
}

// -------------------------------------------------------------------------------------------------- physics and chance

__constant__ float tide_speeds[8] = {0.5059f, 0.5236f, 0.4964f, 0.2625f, 0.2434f, 0.1405f, 0.0329f, 0.0192f};
__constant__ float tide_sizes[8] = {1.9f, 0.7f, 0.4f, 0.15f, 0.11f, 0.3f, 0.05f, 0.02f};

// The highest water at harbours within hours, from eight tides.
__global__ void harbour_tides(const float* __restrict__ phases, float* __restrict__ out, int n, int hours) {
  const int k = me();
  if (k >= n) return;
  const float phase = 6.0f * phases[k];
  float most = -10.0f;
  for (int h = 0; h < hours; h++) {
    float level = 0.0f;
#pragma unroll
    for (int j = 0; j < 8; j++) level += tide_sizes[j] * __cosf(tide_speeds[j] * h + phase * (j + 1));
    most = fmaxf(most, level);
  }
  out[k] = most;
}

// Cups of tea that cool by the law of Newton while the room becomes warmer: one exponential after the other.
__global__ void cooling_cups(const float* __restrict__ in, float* __restrict__ out, int n, int turns) {
  const int k = me();
  if (k >= n) return;
  float tea = 60.0f + 30.0f * in[k], room = 20.0f;
  for (int t = 0; t < turns; t++) {
    const float flow = (tea - room) * (1.0f - expf(-0.001f * (tea - room)));
    tea -= 0.2f * flow;
    room += 0.002f * flow;
  }
  out[k] = tea;
}

// How far balls fly against the air, in small steps until they touch the ground.
__global__ void thrown_balls(const float* __restrict__ in, float* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  float x = 0.0f, y = 0.0f, u = 4.0f + 10.0f * in[2 * k], v = 2.0f + 12.0f * in[2 * k + 1];
  do {
    const float drag = 0.02f * sqrtf(u * u + v * v);
    u -= 0.01f * drag * u;
    v -= 0.01f * (9.81f + drag * v);
    x += 0.01f * u;
    y += 0.01f * v;
  } while (y > 0.0f);
  out[k] = x;
}

// Comets around one sun: kicks and drifts.
__global__ void comet_paths(const float2* __restrict__ in, float2* __restrict__ out, int n, int steps) {
  const int k = me();
  if (k >= n) return;
  float x = 1.0f + in[k].x, y = 0.0f, u = 0.0f, v = 0.6f + 0.4f * in[k].y;
  for (int s = 0; s < steps; s++) {
    const float near = rsqrtf(x * x + y * y + 0.01f), pull = 0.01f * near * near * near;
    u -= pull * x;
    v -= pull * y;
    x += 0.01f * u;
    y += 0.01f * v;
  }
  out[k] = make_float2(x, y);
}

// Kilometres from places to a harbour on a round earth.
__global__ void harbour_miles(const float2* __restrict__ places, float* __restrict__ out, int n, float east,
                              float north) {
  const int k = me();
  if (k >= n) return;
  const float a = sinf(0.5f * (places[k].x - north)), b = sinf(0.5f * (places[k].y - east));
  out[k] = 12742.0f * asinf(sqrtf(a * a + cosf(places[k].x) * cosf(north) * b * b));
}

// Curves of film: each brightness by four powers.
__global__ void film_curves(const float* __restrict__ in, float* __restrict__ out, int n) {
  for (int k = me(); k < n; k += gridDim.x * blockDim.x) {
    const float x = in[k] + 0.01f;
    out[k] = 0.4f * powf(x, 0.45f) + 0.3f * powf(x, 0.8f) + 0.2f * powf(x, 1.3f) + 0.1f * powf(x, 2.2f);
  }
}

// Forces between boats of a fleet: all others of the block's tile, then the next tile.
__global__ void fleet_wakes(const float2* __restrict__ boats, float* __restrict__ out, int n) {
  __shared__ float2 tile[1024];
  const int k = me();
  const float2 own = k < n ? boats[k] : make_float2(0.0f, 0.0f);
  float sum = 0.0f;
  for (int first = 0; first < n; first += blockDim.x) {
    const int count = min((int)blockDim.x, n - first);
    if (threadIdx.x < count) tile[threadIdx.x] = boats[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < count; j++) {
      const float dx = tile[j].x - own.x, dy = tile[j].y - own.y;
      sum += 1.0f / (1.0f + dx * dx + dy * dy);
    }
    __syncthreads();
  }
  if (k < n) out[k] = sum;
}

// Walkers on a round table of radius ``edge``: steps until they fall, at most ``most``.
__global__ void table_walkers(int* __restrict__ out, int n, int edge, int most, u32 seed) {
  const int k = me();
  if (k >= n) return;
  Rolled luck(k, seed);
  int x = 0, y = 0, steps = 0;
  while (x * x + y * y < edge * edge && steps < most) {
    const u32 way = luck.below(4);
    x += (way == 0) - (way == 1);
    y += (way == 2) - (way == 3);
    steps++;
  }
  out[k] = steps;
}

// Dice that one throws again after a six: the sum of the throws, over rounds.
__global__ void exploding_dice(int* __restrict__ out, int n, int rounds, u32 seed) {
  const int k = me();
  if (k >= n) return;
  Rolled dice(k, seed);
  int sum = 0;
  for (int r = 0; r < rounds; r++) {
    int thrown;
    do {
      thrown = 1 + dice.below(6);
      sum += thrown;
    } while (thrown == 6);
  }
  out[k] = sum;
}

// Stone, paper, scissors: a player who remembers what the other did last, against one who does not.
__global__ void rock_paper_rounds(int* __restrict__ out, int n, int rounds, u32 seed) {
  const int k = me();
  if (k >= n) return;
  Rolled luck(k, seed);
  int last = 0, won = 0;
  for (int r = 0; r < rounds; r++) {
    const u32 word = luck.word();
    const int other = (word >> 16) % 3, own = word & 3 ? (last + 1) % 3 : (int)(word >> 8 & 255) % 3;
    won += own == (other + 1) % 3 ? 1 : own == other ? 0 : -1;
    last = other;
  }
  out[k] = won;
}

// The area under a curve by darts that fall anywhere: hits per thread.
__global__ void darts_under_bell(int* __restrict__ out, int n, int throws, u32 seed) {
  const int k = me();
  if (k >= n) return;
  Rolled luck(k, seed);
  int hits = 0;
  for (int t = 0; t < throws; t++) {
    const int x = luck.word() >> 20, y = luck.word() >> 20;
    hits += y * (4096 + x) < 4096 * (4096 - x);
  }
  out[k] = hits;
}

// ------------------------------------------------------------------------------------------------------------ pictures

// Pictures seen in a mirror.
__global__ void mirrored_photos(const u32* __restrict__ in, u32* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = in[y * width + width - 1 - x];
}

// Haze in pictures: the darkest colour within seven by seven points.
__global__ void dark_channels(const uchar4* __restrict__ in, u8* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int least = 255;
  for (int b = max(y - 3, 0); b <= min(y + 3, height - 1); b++)
    for (int a = max(x - 3, 0); a <= min(x + 3, width - 1); a++) {
      const uchar4 p = in[b * width + a];
      least = min(least, min(min((int)p.x, (int)p.y), (int)p.z));
    }
  out[y * width + x] = least;
}

// Darker corners of photographs: the fourth power of a cosine.
__global__ void vignettes(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float u = (x - 0.5f * width) / width, v = (y - 0.5f * height) / width;
  const float c = cosf(atanf(sqrtf(u * u + v * v))), cc = c * c;
  out[y * width + x] = in[y * width + x] * cc * cc;
}

// Slopes of land by four neighbours, as eight directions; flat places have none.
__global__ void water_directions(const int* __restrict__ heights, u8* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int own = heights[y * width + x];
  int best = own, way = 8;
#pragma unroll
  for (int d = 0; d < 8; d++) {
    const int a = x + (d % 4 == 0 ? 0 : d < 4 ? 1 : -1), b = y + (d % 4 == 2 ? 0 : d > 2 && d < 6 ? 1 : -1);
    if (a < 0 || b < 0 || a >= width || b >= height) continue;
    const int there = heights[b * width + a];
    if (there < best) best = there, way = d;
  }
  out[y * width + x] = way;
}

// --------------------------------------------------------------------------------------------------- tables and walks

// Trains: from each station where the table says, a number of times.
__global__ void station_hops(const int* __restrict__ next, int* __restrict__ out, int n, int stations, int hops) {
  const int k = me();
  if (k >= n) return;
  int at = hashed(k) % stations;
  for (int h = 0; h < hops; h++) at = next[at];
  out[k] = at;
}

// How many ancestors people have in a family tree.
__global__ void family_depths(const int* __restrict__ parents, int* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  int depth = 0;
  for (int at = k; at; at = parents[at]) depth++;
  out[k] = depth;
}

// How many friends the friends of a person have.
__global__ void friends_of_friends(const int* __restrict__ starts, const int* __restrict__ members,
                                   int* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  int sum = 0;
  for (int j = starts[k]; j < starts[k + 1]; j++) sum += starts[members[j] + 1] - starts[members[j]];
  out[k] = sum;
}

// Tables of steam, 64 x 64: between four entries.
__global__ void steam_table(const float* __restrict__ table, const float2* __restrict__ asked, float* __restrict__ out,
                            int n) {
  const int k = me();
  if (k >= n) return;
  const float x = 63.0f * asked[k].x, y = 63.0f * asked[k].y;
  const int a = min((int)x, 62), b = min((int)y, 62);
  const float u = x - a, v = y - b;
  const float* at = table + b * 64 + a;
  const float low = at[0] + u * (at[1] - at[0]), high = at[64] + u * (at[65] - at[64]);
  out[k] = low + v * (high - low);
}

// How many sales fall between two times: two searches in a sorted list.
__global__ void sales_between(const u32* __restrict__ times, const u32* __restrict__ asked, int* __restrict__ out,
                              int n, int count) {
  const int k = me();
  if (k >= n) return;
  auto before = [&](u32 time) {
    int low = 0, high = count;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (times[middle] < time)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  const u32 a = asked[2 * k], b = asked[2 * k + 1];
  out[k] = before(max(a, b)) - before(min(a, b));
}

// Cards of eight numbers from a box, in the order of a list: the sums of their numbers.
__global__ void picked_cards(const uint4* __restrict__ box, const int* __restrict__ order, u32* __restrict__ out,
                             int n) {
  const int k = me();
  if (k >= n) return;
  const uint4 a = box[2 * order[k]], b = box[2 * order[k] + 1];
  out[k] = a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w;
}

// The fewest throws that find from which floor an egg breaks, with eggs and floors; a row of the table per thread.
__global__ void egg_floors(const u8* __restrict__ eggs, int* __restrict__ out, int n, int throws) {
  const int k = me();
  if (k >= n) return;
  int floors[12];
  for (int e = 0; e < 12; e++) floors[e] = 0;
  const int own = eggs[k] % 12;
  for (int t = 0; t < throws; t++)
    for (int e = own; e > 0; e--) floors[e] = min(floors[e] + floors[e - 1] + 1, 1 << 20);
  out[k] = floors[own];
}

// Prices for painting houses in a row with three colours, no two neighbours alike.
__global__ void painted_houses(const u8* __restrict__ prices, int* __restrict__ out, int n, int houses) {
  const int k = me();
  if (k >= n) return;
  int a = 0, b = 0, c = 0;
  for (int h = 0; h < houses; h++) {
    const size_t at = (size_t)3 * h * n + k;
    const int x = prices[at] + min(b, c), y = prices[at + n] + min(a, c), z = prices[at + (size_t)2 * n] + min(a, b);
    a = x, b = y, c = z;
  }
  out[k] = min(a, min(b, c));
}

// --------------------------------------------------------------------------------------------------------------- texts

// How many letters a line of a list has in common with the line before it, from the left.
__global__ void common_beginnings(const u8* __restrict__ lines, int* __restrict__ out, int n, int length) {
  const int k = me();
  if (k >= n) return;
  const u8 *own = lines + (size_t)k * length, *other = lines + (size_t)(k ? k - 1 : n - 1) * length;
  int j = 0;
  while (j < length && own[j] == other[j]) j++;
  out[k] = j;
}

__constant__ u8 sought[8] = {1, 0, 1, 1, 0, 1, 0, 0};

// Where a pattern of eight letters begins in a text: compared letter by letter.
__global__ void pattern_hits(const u8* __restrict__ text, u8* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  int j = 0;
  while (j < 8 && text[k + j] == sought[j]) j++;
  out[k] = j;
}

// Hashes of words of ``length`` bytes (FNV): a product per byte.
__global__ void fnv_words(const u8* __restrict__ letters, u32* __restrict__ out, int n, int length) {
  const int k = me();
  if (k >= n) return;
  u32 hash = 2166136261u;
  for (int j = 0; j < length; j++) hash = (hash ^ letters[(size_t)j * n + k]) * 16777619u;
  out[k] = hash;
}

// Numbers of books with a digit of proof: which are right (modulo eleven).
__global__ void isbn_checks(const u64* __restrict__ books, u8* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  u64 left = books[k];
  int sum = 0;
#pragma unroll 1
  for (int place = 1; place <= 10; place++) {
    sum += place * (int)(left % 10);
    left /= 10;
  }
  out[k] = sum % 11;
}

// Words with a great first letter: a letter counts its neighbour on the left.
__global__ void title_letters(const u8* __restrict__ text, u8* __restrict__ out, int n) {
  for (int k = me(); k < n; k += gridDim.x * blockDim.x) {
    const u8 c = text[k];
    const bool letter = c >= 'a' && c <= 'z', first = k == 0 || text[k - 1] == ' ';
    out[k] = letter && first ? c - 32 : c;
  }
}

// ------------------------------------------------------------------------------------------------------------ integers

// A generator of 64 bits by shifts, with a product at the end.
__global__ void xorshift_sums(const u64* __restrict__ seeds, u64* __restrict__ out, int n, int turns) {
  const int k = me();
  if (k >= n) return;
  u64 x = seeds[k] | 1, sum = 0;
  for (int t = 0; t < turns; t++) {
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    sum += x * 2685821657736338717ull;
  }
  out[k] = sum;
}

// Sums of the divisors of a number, then of that sum: steps until it is one or ``most`` steps are over.
__global__ void aliquot_walks(const u16* __restrict__ in, int* __restrict__ out, int n, int most) {
  const int k = me();
  if (k >= n) return;
  int x = 2 + in[k] % 4000, steps = 0;
  while (x > 1 && x < 20000 && steps < most) {
    int sum = 1;
    for (int d = 2; d * d <= x; d++)
      if (x % d == 0) sum += d * d == x ? d : d + x / d;
    x = sum;
    steps++;
  }
  out[k] = 100000 * steps + x;
}

// Words by counts of bits, places of bits and turned bits, round after round.
__global__ void bit_fingerprints(const u32* __restrict__ in, u32* __restrict__ out, int n, int rounds) {
  const int k = me();
  if (k >= n) return;
  u32 x = in[k];
  for (int r = 0; r < rounds; r++) x = __brev(x) + (__popc(x) << 8) + __clz(x) * 37u + (x << 3 ^ r);
  out[k] = x;
}

// Rows of 64 signed bytes by 64 weights, four at a time.
__global__ void packed_taste(const int4* __restrict__ rows, const int* __restrict__ weights, int* __restrict__ out,
                             int n, int again) {
  const int k = me();
  if (k >= n) return;
  int4 v[4];
#pragma unroll
  for (int j = 0; j < 4; j++) v[j] = rows[(size_t)j * n + k];
  int sum = 0;
  for (int a = 0; a < again; a++) {
    const int* own = weights + 16 * a;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      sum = __dp4a(v[j].x, own[4 * j], sum);
      sum = __dp4a(v[j].y, own[4 * j + 1], sum);
      sum = __dp4a(v[j].z, own[4 * j + 2], sum);
      sum = __dp4a(v[j].w, own[4 * j + 3], sum);
    }
  }
  out[k] = sum;
}

// Machines with three wheels: words turned by what another word says.
__global__ void wheel_ciphers(const u32* __restrict__ in, u32* __restrict__ out, int n, int rounds) {
  const int k = me();
  if (k >= n) return;
  u32 a = in[k], b = hashed(k), c = 0x9e3779b9u;
  for (int r = 0; r < rounds; r++) {
    a = __funnelshift_l(a, a, c & 31) + b;
    b = __funnelshift_l(b, b, 7) ^ c;
    c = __funnelshift_l(c, c, 19) + a;
  }
  out[k] = a ^ b ^ c;
}

// How often gears meet at the same teeth: the least common multiple of three counts, by Euclid.
__global__ void gear_teeth(const u32* __restrict__ in, u32* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  const u32 teeth[3] = {8 + in[k] % 1000, 8 + (in[k] >> 10) % 1000, 8 + (in[k] >> 20) % 1000};
  u32 all = teeth[0];
#pragma unroll
  for (int j = 1; j < 3; j++) {
    u32 a = all, b = teeth[j];
    while (b) {
      const u32 rest = a % b;
      a = b;
      b = rest;
    }
    all *= teeth[j] / a;
  }
  out[k] = all;
}

// What kitchens do to a word: straight code of ``steps`` steps, each with its own numbers.
template <int first, int count>
__device__ __forceinline__ void cooked(u32& x, u32& y) {
  if constexpr (count > 1) {
    cooked<first, count / 2>(x, y);
    cooked<first + count / 2, count - count / 2>(x, y);
  } else {
    constexpr u32 h = hashed(first + 11);
    if constexpr (h >> 30 == 0) {
      x = x * (h | 1) + y;
    } else if constexpr (h >> 30 == 1) {
      y ^= (x >> h % 13) + h;
    } else if constexpr (h >> 30 == 2) {
      x = min(x, y ^ h) + (y << h % 5);
    } else {
      y = (y & h) + (x | h >> 7);
    }
  }
}

template <int steps>
__global__ void kitchen_steps(const u32* __restrict__ in, u32* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  u32 x = in[k], y = x >> 16 | x << 16;
  cooked<0, steps>(x, y);
  out[k] = x ^ y;
}

// Orders of a menu with eight dishes: a case of a switch per order, by thread.
__global__ void menu_orders(const u8* __restrict__ orders, float* __restrict__ out, int n, int each) {
  const int k = me();
  if (k >= n) return;
  float price = 1.0f;
  for (int j = 0; j < each; j++) {
    switch (orders[(size_t)j * n + k] % 8) {
      case 0: price += 2.5f; break;
      case 1: price = price * 1.01f + 1.0f; break;
      case 2: price = sqrtf(price) + 3.0f; break;
      case 3: price = fmaxf(price - 2.0f, 1.0f); break;
      case 4: price = price / 1.19f + 0.5f; break;
      case 5: price = 4.0f + 0.5f * price; break;
      case 6: price = price > 9.0f ? 0.9f * price : price + 1.5f; break;
      default: price = logf(price + 1.0f) + 2.0f;
    }
  }
  out[k] = price;
}

// ---------------------------------------------------------------------------------------------------- double precision

// Sums of one over squares, in double precision, from a thread's own number on.
__global__ void basel_sums(double* __restrict__ out, int n, int terms) {
  const int k = me();
  if (k >= n) return;
  double sum = 0.0;
  for (int j = terms; j > 0; j--) {
    const double x = k + j;
    sum += 1.0 / (x * x);
  }
  out[k] = sum;
}

// A chaotic map of the third degree, in double precision.
__global__ void double_cubic_maps(const double* __restrict__ in, double* __restrict__ out, int n, int turns) {
  const int k = me();
  if (k >= n) return;
  double x = in[k], y = 0.3;
  for (int t = 0; t < turns; t++) {
    const double next = 1.9 * x - x * x * x + 0.1 * y;
    y = x;
    x = next;
  }
  out[k] = x;
}

// Areas under the bell curve, by Simpson's rule in double precision.
__global__ void bell_areas(const double* __restrict__ ends, double* __restrict__ out, int n, int pieces) {
  const int k = me();
  if (k >= n) return;
  const double end = 3.0 * ends[k], step = end / (2 * pieces);
  double sum = 1.0 + exp(-end * end);
  for (int j = 1; j < 2 * pieces; j++) {
    const double x = j * step;
    sum += (j % 2 ? 4.0 : 2.0) * exp(-x * x);
  }
  out[k] = sum * step / 3.0;
}

// Lengths of rows of doubles, a row per warp.
__global__ void double_row_lengths(const double2* __restrict__ in, double* __restrict__ out, int n, int pairs) {
  const int warp = me() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  double sum = 0.0;
  for (int k = lane; k < pairs; k += 32) {
    const double2 v = in[(size_t)warp * pairs + k];
    sum += v.x * v.x + v.y * v.y;
  }
#pragma unroll
  for (int far = 16; far; far /= 2) sum += __shfl_xor_sync(ALL, sum, far);
  if (lane == 0) out[warp] = sqrt(sum);
}

// ------------------------------------------------------------------------------------------- short floats and matrices

// Polynomials of degree ``degree`` in pairs of halves (Horner).
__global__ void half_polynomials(const __half2* __restrict__ in, const __half2* __restrict__ factors,
                                 __half2* __restrict__ out, int n, int degree) {
  const int k = me();
  if (k >= n) return;
  const __half2 x = in[k];
  __half2 sum = factors[degree];
  for (int d = degree - 1; d >= 0; d--) sum = __hfma2(sum, x, factors[d]);
  out[k] = sum;
}

// A layer's end in halves: a bias per column, nothing below zero, at most six.
__global__ void half_relu6_rows(const __half2* __restrict__ in, const __half2* __restrict__ bias,
                                __half2* __restrict__ out, int n, int columns) {
  const __half2 low = __float2half2_rn(0.0f), high = __float2half2_rn(6.0f);
  for (int k = me(); k < n; k += gridDim.x * blockDim.x)
    out[k] = __hmin2(__hmax2(__hadd2(in[k], bias[k % columns]), low), high);
}

// Sums of rows of bfloat16 in single precision, a row per warp.
__global__ void bf16_row_totals(const __nv_bfloat162* __restrict__ in, float* __restrict__ out, int n, int pairs) {
  const int warp = me() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  float sum = 0.0f;
  for (int k = lane; k < pairs; k += 32) {
    const float2 v = __bfloat1622float2(in[(size_t)warp * pairs + k]);
    sum += v.x + v.y;
  }
  sum = sum_of_warp(sum);
  if (lane == 0) out[warp] = sum;
}

// Sounds of rooms: a 16 x 16 desk of halves by 8 signals per group; sums of all groups in the accumulators (mma).
__global__ void room_mixes(const u16* __restrict__ desks, const u16* __restrict__ signals, float* __restrict__ out,
                           int n, int groups) {
  const int warp = me() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  const int g = lane / 4, f = lane % 4;
  u32 a[4];
#pragma unroll
  for (int j = 0; j < 4; j++)
    a[j] = *(const u32*)(desks + (size_t)warp * 256 + (g + j % 2 * 8) * 16 + j / 2 * 8 + 2 * f);
  float c[4] = {};
  for (int o = 0; o < groups; o++) {
    const u16* own = signals + (o * 8 + g) * 16 + 2 * f;
    const u32 b0 = *(const u32*)own, b1 = *(const u32*)(own + 8);
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
#pragma unroll
  for (int j = 0; j < 4; j++) out[(size_t)warp * 128 + (g + j / 2 * 8) * 8 + 2 * f + j % 2] = c[j];
}

// Surveys: answers by weights, 16 rows and 8 columns per warp, in TF32 (mma).
__global__ void survey_scores(const float* __restrict__ answers, const float* __restrict__ weights,
                              float* __restrict__ out, int rows, int depth) {
  const int warp = me() / 32, lane = threadIdx.x % 32;
  if (16 * warp >= rows) return;
  const int g = lane / 4, f = lane % 4;
  float c[4] = {};
  for (int d = 0; d < depth; d += 8) {
    u32 a[4];
#pragma unroll
    for (int j = 0; j < 4; j++)
      a[j] = __float_as_uint(answers[(size_t)(16 * warp + g + j % 2 * 8) * depth + d + j / 2 * 4 + f]);
    const u32 b0 = __float_as_uint(weights[g * depth + d + f]), b1 = __float_as_uint(weights[g * depth + d + 4 + f]);
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
#pragma unroll
  for (int j = 0; j < 4; j++) out[(size_t)(16 * warp + g + j / 2 * 8) * 8 + 2 * f + j % 2] = c[j];
}

// Products of bfloat16 matrices, 16 rows and 32 columns per warp: four accumulators share the rows (mma).
__global__ void shared_rows_product(const u16* __restrict__ left, const u16* __restrict__ right,
                                    float* __restrict__ out, int rows, int columns, int words) {
  const int warp = me() / 32, lane = threadIdx.x % 32, across = columns / 32;
  if (warp >= rows / 16 * across) return;
  const int g = lane / 4, f = lane % 4, row = warp / across * 16, column = warp % across * 32;
  float c[4][4] = {};
  for (int w = 0; w < words; w += 8) {
    u32 a[4];
#pragma unroll
    for (int j = 0; j < 4; j++)
      a[j] = *(const u32*)(left + 2 * ((size_t)(row + g + j % 2 * 8) * words + w + j / 2 * 4 + f));
#pragma unroll
    for (int t = 0; t < 4; t++) {
      const u32* b = (const u32*)right + (size_t)(column + 8 * t + g) * words + w + f;
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+f"(c[t][0]), "+f"(c[t][1]), "+f"(c[t][2]), "+f"(c[t][3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[4]));
    }
  }
#pragma unroll
  for (int t = 0; t < 4; t++)
#pragma unroll
    for (int j = 0; j < 4; j++)
      out[(size_t)(row + g + j / 2 * 8) * columns + column + 8 * t + 2 * f + j % 2] = c[t][j];
}

// --------------------------------------------------------------------------------------------- first programs, streams

// What visitors of a museum pay, by age.
__global__ void museum_prices(const int* __restrict__ ages, float* __restrict__ prices, int n) {
  const int k = me();
  if (k < n) {
    if (ages[k] < 6)
      prices[k] = 0.0f;
    else if (ages[k] < 18 || ages[k] >= 65)
      prices[k] = 4.5f;
    else
      prices[k] = 9.0f;
  }
}

// A single thread adds everything.
__global__ void lonely_sum(const int* __restrict__ in, int* __restrict__ out, int n) {
  int sum = 0;
  for (int k = 0; k < n; k++) sum += in[k];
  *out = sum;
}

// A matrix by a column, a row per thread.
__global__ void naive_rows(const float* __restrict__ matrix, const float* __restrict__ column, float* __restrict__ out,
                           int n, int width) {
  const int k = me();
  if (k >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < width; j++) sum += matrix[(size_t)k * width + j] * column[j];
  out[k] = sum;
}

// Speeds of the wind from two directions, four places at once.
__global__ void wind_speeds(const float4* __restrict__ east, const float4* __restrict__ north,
                            float4* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  const float4 a = east[k], b = north[k];
  out[k] = make_float4(sqrtf(a.x * a.x + b.x * b.x), sqrtf(a.y * a.y + b.y * b.y), sqrtf(a.z * a.z + b.z * b.z),
                       sqrtf(a.w * a.w + b.w * b.w));
}

// Two channels of sound become one.
__global__ void mono_samples(const short2* __restrict__ in, short* __restrict__ out, int n) {
  for (int k = me(); k < n; k += gridDim.x * blockDim.x) out[k] = (in[k].x + in[k].y) / 2;
}

// How much more was sold than a year before.
__global__ void year_on_year(const float* __restrict__ sales, float* __restrict__ out, int n, int period) {
  const int k = me();
  if (k < n) out[k] = sales[k + period] - sales[k];
}

// Numbers of 32 bits packed as bytes, four by four, with a limit.
__global__ void bytes_from_ints(const int4* __restrict__ in, uchar4* __restrict__ out, int n) {
  for (int k = me(); k < n; k += gridDim.x * blockDim.x) {
    const int4 v = in[k];
    out[k] = make_uchar4(min(v.x, 255), min(v.y, 255), min(v.z, 255), min(v.w, 255));
  }
}
