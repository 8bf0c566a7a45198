// Kernels for tests/hardware/twenty_sixth_cases.py: other ones than those of the twenty-five sets before, as students
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

__device__ __forceinline__ u32 hashed(u32 x) {
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

// ------------------------------------------------------------------------------------------------ reductions and scans

// Where the mass of pictures of ``side`` x ``side`` points has its centre; a tree over the block's sums.
__global__ void mass_centres(const u8* __restrict__ in, float2* __restrict__ out, int side) {
  __shared__ u32 mass[1024], across[1024], down[1024];
  const u8* picture = in + (size_t)blockIdx.x * side * side;
  u32 m = 0, x = 0, y = 0;
  for (int k = threadIdx.x; k < side * side; k += blockDim.x) {
    const u32 here = picture[k];
    m += here;
    x += here * (k % side);
    y += here * (k / side);
  }
  mass[threadIdx.x] = m;
  across[threadIdx.x] = x;
  down[threadIdx.x] = y;
  for (int left = blockDim.x; left > 1;) {
    const int half = (left + 1) / 2;
    __syncthreads();
    if (threadIdx.x + half < left) {
      mass[threadIdx.x] += mass[threadIdx.x + half];
      across[threadIdx.x] += across[threadIdx.x + half];
      down[threadIdx.x] += down[threadIdx.x + half];
    }
    left = half;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = make_float2((float)across[0] / mass[0], (float)down[0] / mass[0]);
}

// Products of numbers, two by two, as a first reduction has them: neighbours first, and a remainder in each step.
__global__ void modulo_tree_dot(const int* __restrict__ left, const int* __restrict__ right, int* __restrict__ out,
                                int length) {
  __shared__ int sums[1024];
  const int t = threadIdx.x;
  int sum = 0;
  for (int k = t; k < length; k += blockDim.x)
    sum += left[blockIdx.x * length + k] * right[blockIdx.x * length + k];
  sums[t] = sum;
  for (int s = 1; s < blockDim.x; s *= 2) {
    __syncthreads();
    if (t % (2 * s) == 0 && t + s < blockDim.x) sums[t] += sums[t + s];
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

// The area under a curve: ``strips`` strips per thread, and every thread adds its area to the same number.
__global__ void trapezoid_areas(float* area, int n, int strips, float width) {
  const int k = me();
  if (k >= n) return;
  float sum = 0.0f, before = 0.0f;
  for (int s = 0; s <= strips; s++) {
    const float x = (k * strips + s) * width, y = x * expf(-x) / (1.0f + x * x);
    if (s) sum += 0.5f * (before + y) * width;
    before = y;
  }
  atomicAdd(area, sum);
}

// Means of readings: the first thread adds what the others put into shared memory.
__global__ void serial_finish(const float* __restrict__ readings, float* __restrict__ means, int count) {
  __shared__ float parts[1024];
  float sum = 0.0f;
  for (int k = threadIdx.x; k < count; k += blockDim.x) sum += readings[blockIdx.x * count + k];
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0.0f;
    for (int t = 0; t < blockDim.x; t++) all += parts[t];
    means[blockIdx.x] = all / count;
  }
}

// Boxes around clouds of points: floats as whole numbers of the same order, then the least and the greatest of a warp.
__global__ void cloud_boxes(const float* __restrict__ points, int* __restrict__ boxes, int count) {
  __shared__ int box[6];
  auto ordered = [](float x) {
    const int bits = __float_as_int(x);
    return bits < 0 ? bits ^ 0x7fffffff : bits;
  };
  if (threadIdx.x < 6) box[threadIdx.x] = threadIdx.x < 3 ? 0x7fffffff : -0x7fffffff - 1;
  __syncthreads();
  int low[3], high[3];
#pragma unroll
  for (int a = 0; a < 3; a++) low[a] = 0x7fffffff, high[a] = -0x7fffffff - 1;
  for (int k = threadIdx.x; k < count; k += blockDim.x)
#pragma unroll
    for (int a = 0; a < 3; a++) {
      const int x = ordered(points[((size_t)blockIdx.x * count + k) * 3 + a]);
      low[a] = min(low[a], x);
      high[a] = max(high[a], x);
    }
#pragma unroll
  for (int a = 0; a < 3; a++) {
    const int least = __reduce_min_sync(ALL, low[a]), most = __reduce_max_sync(ALL, high[a]);
    if (threadIdx.x % 32 == 0) {
      atomicMin(&box[a], least);
      atomicMax(&box[3 + a], most);
    }
  }
  __syncthreads();
  if (threadIdx.x < 6) boxes[blockIdx.x * 6 + threadIdx.x] = box[threadIdx.x];
}

// Sums of whole numbers of many words: a warp looks ahead for its carries by one addition, the block warp by warp.
__global__ void added_numbers(const u32* __restrict__ left, const u32* __restrict__ right, u32* __restrict__ out,
                              int words) {
  __shared__ u8 makes[32], passes[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const size_t base = (size_t)blockIdx.x * words;
  u32 carry = 0;
  for (int first = 0; first < words; first += blockDim.x) {
    const int k = first + threadIdx.x;
    const u32 a = k < words ? left[base + k] : 0, sum = k < words ? a + right[base + k] : 0;
    const u32 made = __ballot_sync(ALL, sum < a), passed = __ballot_sync(ALL, sum == ALL);
    const u64 chain = (u64)(made | passed) + made;
    if (lane == 0) makes[warp] = chain >> 32, passes[warp] = passed == ALL;
    __syncthreads();
    u32 into = 0;
    for (int w = 0; w < warps; w++) {
      if (w == warp) into = carry;
      carry = makes[w] | (passes[w] & carry);
    }
    const u32 carries = (u32)(chain + into) ^ passed;
    if (k < words) out[base + k] = sum + (carries >> lane & 1);
    __syncthreads();
  }
}

// Orders of eight cards in the eight nibbles of a word: first ``one``, then ``other``.
__device__ __forceinline__ u32 one_after_other(u32 one, u32 other) {
  u32 both = 0;
#pragma unroll
  for (int c = 0; c < 8; c++) both |= (other >> 4 * (one >> 4 * c & 7) & 7) << 4 * c;
  return both;
}

// Decks of eight cards that are mixed again and again: the order after each mixing, a scan of orders. A row per block.
__global__ void composed_permutations(const u32* __restrict__ words, u32* __restrict__ out, int count) {
  __shared__ u32 ends[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  u32 base = 0x76543210u;
  for (int first = 0; first < count; first += blockDim.x) {
    const int k = first + threadIdx.x;
    u32 order = 0x76543210u;
    if (k < count) {
      u32 word = words[(size_t)blockIdx.x * count + k];
#pragma unroll
      for (int c = 7; c > 0; c--) {
        const int other = word % (c + 1);
        word /= c + 1;
        const u32 differ = (order >> 4 * c ^ order >> 4 * other) & 7;
        if (other != c) order ^= differ << 4 * c | differ << 4 * other;
      }
    }
#pragma unroll
    for (int far = 1; far < 32; far *= 2) {
      const u32 before = __shfl_up_sync(ALL, order, far);
      if (lane >= far) order = one_after_other(before, order);
    }
    if (lane == 31) ends[warp] = order;
    __syncthreads();
    u32 ahead = base;
    for (int w = 0; w < warps; w++) {
      if (w == warp) ahead = base;
      base = one_after_other(base, ends[w]);
    }
    if (k < count) out[(size_t)blockIdx.x * count + k] = one_after_other(ahead, order);
    __syncthreads();
  }
}

// ------------------------------------------------------------------------------------------------------------ stencils

// Eight steps of a rod that cools, at once: each block takes eight points more on either side, and one less per step.
__global__ void trapezoid_steps(const float* __restrict__ in, float* __restrict__ out, int n, float share) {
  extern __shared__ float rod[];
  const int width = blockDim.x + 16, from = blockIdx.x * blockDim.x - 8;
  float *now = rod, *next = rod + width;
  for (int j = threadIdx.x; j < width; j += blockDim.x) now[j] = in[min(max(from + j, 0), n - 1)];
  for (int s = 0; s < 8; s++) {
    __syncthreads();
    for (int j = threadIdx.x + s + 1; j < width - s - 1; j += blockDim.x) {
      const float own = now[j];
      const bool end = from + j <= 0 || from + j >= n - 1;
      next[j] = end ? own : own + share * (now[j - 1] - 2.0f * own + now[j + 1]);
    }
    float* other = now;
    now = next;
    next = other;
  }
  __syncthreads();
  if (me() < n) out[me()] = now[threadIdx.x + 8];
}

// A step of life on a board of hexagons: each second row stands half a field to the right, and all have six neighbours.
__global__ void hexagon_life(const u8* __restrict__ in, u8* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  auto at = [&](int a, int b) { return a >= 0 && b >= 0 && a < width && b < height ? in[b * width + a] : 0; };
  const int left = x - 1 + y % 2;
  const int near = at(x - 1, y) + at(x + 1, y) + at(left, y - 1) + at(left + 1, y - 1) + at(left, y + 1) +
                   at(left + 1, y + 1);
  out[y * width + x] = near == 2 || (near == 3 && in[y * width + x]);
}

// Two rods of half precision per word that cool, a pair per block, all steps in shared memory.
__global__ void half_rods(const half2* __restrict__ in, half2* __restrict__ out, int points, int steps, float share) {
  extern __shared__ half2 rods[];
  half2 *now = rods, *next = rods + points;
  const half2 part = __float2half2_rn(share), minus = __float2half2_rn(-2.0f);
  for (int k = threadIdx.x; k < points; k += blockDim.x) now[k] = in[(size_t)blockIdx.x * points + k];
  for (int s = 0; s < steps; s++) {
    __syncthreads();
    for (int k = threadIdx.x; k < points; k += blockDim.x) {
      const half2 own = now[k], sides = __hadd2(now[max(k - 1, 0)], now[min(k + 1, points - 1)]);
      next[k] = __hfma2(part, __hfma2(minus, own, sides), own);
    }
    half2* other = now;
    now = next;
    next = other;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < points; k += blockDim.x) out[(size_t)blockIdx.x * points + k] = now[k];
}

// ---------------------------------------------------------------------------------------------- histograms and atomics

// Weather stations, one per block: of each hour how many readings there are, their sum, the least and the greatest one.
__global__ void daily_extremes(const u8* __restrict__ hours, const int* __restrict__ readings, int* __restrict__ out,
                               int count) {
  __shared__ int number[24], sum[24], least[24], most[24];
  for (int h = threadIdx.x; h < 24; h += blockDim.x)
    number[h] = sum[h] = 0, least[h] = 0x7fffffff, most[h] = -0x7fffffff - 1;
  __syncthreads();
  for (int k = threadIdx.x; k < count; k += blockDim.x) {
    const int hour = hours[(size_t)blockIdx.x * count + k], reading = readings[(size_t)blockIdx.x * count + k];
    atomicAdd(&number[hour], 1);
    atomicAdd(&sum[hour], reading);
    atomicMin(&least[hour], reading);
    atomicMax(&most[hour], reading);
  }
  __syncthreads();
  for (int h = threadIdx.x; h < 24; h += blockDim.x)
    reinterpret_cast<int4*>(out)[blockIdx.x * 24 + h] = make_int4(number[h], sum[h], least[h], most[h]);
}

// Orders of goods: who comes while the stock lasts pays in one of 50 shops, and all others wait.
__global__ void sold_out_items(const u32* __restrict__ orders, int* __restrict__ asked, int* __restrict__ paid,
                               int* __restrict__ waiting, int n, int goods, int stock) {
  const int k = me();
  if (k >= n) return;
  const int item = orders[k] % goods;
  if (atomicAdd(&asked[item], 1) < stock)
    atomicAdd(&paid[item % 50], 1 + item % 7);
  else
    atomicAdd(&waiting[item], 1);
}

// What people think of films: the stars and the number of votes of each film, and how many films each one has seen.
__global__ void film_ratings(const u32* __restrict__ votes, int* __restrict__ stars, int* __restrict__ number,
                             int* __restrict__ seen, int n, int films, int people) {
  const int k = me();
  if (k >= n) return;
  const u32 vote = votes[k];
  const int film = vote % films;
  atomicAdd(&stars[film], 1 + (vote >> 16) % 5);
  atomicAdd(&number[film], 1);
  atomicAdd(&seen[hashed(vote) % people], 1);
}

// A league of 18 teams: points and goals of both teams of each game, in one table of the whole grid.
__global__ void league_tables(const u32* __restrict__ games, int* __restrict__ points, int* __restrict__ goals, int n) {
  const int k = me();
  if (k >= n) return;
  const u32 game = games[k];
  const int home = game % 18, other = (home + 1 + (game >> 8) % 17) % 18, scored = game >> 16 & 3,
            lost = game >> 20 & 3;
  atomicAdd(&points[home], scored > lost ? 3 : scored == lost);
  atomicAdd(&points[other], scored < lost ? 3 : scored == lost);
  atomicAdd(&goals[home], scored - lost);
  atomicAdd(&goals[other], lost - scored);
}

// Right triangles with whole sides: a thread per shorter side, below ``n``, as a loop in a loop.
__global__ void pythagorean_triples(int* count, int n) {
  const int a = me() + 1;
  if (a >= n) return;
  for (int b = a + 1; b < n; b++) {
    const int square = a * a + b * b, c = (int)(sqrtf((float)square) + 0.5f);
    if (c * c == square && c < n) atomicAdd(count, 1);
  }
}

// ---------------------------------------------------------------------------------- shared memory, registers, barriers

// Records of five floats become five arrays: a block's records go through shared memory.
__global__ void records_to_columns(const float* __restrict__ records, float* __restrict__ columns, int n) {
  extern __shared__ float own[];
  const int first = blockIdx.x * blockDim.x, count = min((int)blockDim.x, n - first);
  for (int j = threadIdx.x; j < 5 * count; j += blockDim.x) own[j] = records[(size_t)first * 5 + j];
  __syncthreads();
  if (threadIdx.x < count)
#pragma unroll
    for (int c = 0; c < 5; c++) columns[(size_t)c * n + first + threadIdx.x] = own[5 * threadIdx.x + c];
}

// The transpose of a matrix of words of 16 bits: tiles of 64 x 64, two numbers per load and per store.
__global__ void transposed_shorts(const u32* __restrict__ in, u32* __restrict__ out, int n) {
  __shared__ u32 tile[64][33];
  const int left = blockIdx.x * 32, top = blockIdx.y * 64, pairs = n / 2;
  for (int j = threadIdx.x; j < 2048; j += blockDim.x)
    tile[j / 32][j % 32] = in[(top + j / 32) * pairs + left + j % 32];
  __syncthreads();
  for (int j = threadIdx.x; j < 2048; j += blockDim.x) {
    const int row = j / 32, pair = j % 32;
    const u32 first = tile[2 * pair][row / 2], second = tile[2 * pair + 1][row / 2];
    out[(2 * left + row) * pairs + top / 2 + pair] = __byte_perm(first, second, row % 2 ? 0x7632 : 0x5410);
  }
}

// A curve of ``size`` points in shared memory, more than 40 KB, and what it is at places that a hash says.
__global__ void shared_interpolations(const float* __restrict__ curve, float* __restrict__ out, int size, int count) {
  extern __shared__ float points[];
  for (int k = threadIdx.x; k < size; k += blockDim.x) points[k] = curve[k];
  __syncthreads();
  for (int k = threadIdx.x; k < count; k += blockDim.x) {
    const u32 word = hashed(blockIdx.x * count + k);
    const int at = __umulhi(word, size - 1);
    const float part = (word & 1023) * (1.0f / 1024);
    out[(size_t)blockIdx.x * count + k] = points[at] + part * (points[at + 1] - points[at]);
  }
}

// Ways of a robot through rooms of 30 fields across, to the right or down, around walls; a row of counts per thread.
__global__ void blocked_paths(const u32* __restrict__ walls, u32* __restrict__ out, int n, int rows) {
  extern __shared__ u32 ways[];
  const int k = me(), step = blockDim.x;
  u32* own = ways + threadIdx.x;
  if (k >= n) return;
  for (int c = 0; c < 30; c++) own[c * step] = c == 0;
  for (int r = 0; r < rows; r++) {
    const u32 word = walls[(size_t)r * n + k];
    const u32 wall = word & word >> 1 & 0x55555555u & ~1u;
    u32 left = 0;
    for (int c = 0; c < 30; c++) {
      left = wall >> c & 1 ? 0 : left + own[c * step];
      own[c * step] = left;
    }
  }
  out[k] = own[29 * step];
}

// The products of eight measurements, each with each, summed over the records of a block: 36 sums in registers.
__global__ void cross_moments(const float4* __restrict__ records, float* __restrict__ out, int count) {
  __shared__ float all[36];
  for (int j = threadIdx.x; j < 36; j += blockDim.x) all[j] = 0.0f;
  __syncthreads();
  float sum[36] = {};
  for (int k = threadIdx.x; k < count; k += blockDim.x) {
    const float4 low = records[2 * ((size_t)blockIdx.x * count + k)];
    const float4 high = records[2 * ((size_t)blockIdx.x * count + k) + 1];
    const float x[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    int j = 0;
#pragma unroll
    for (int a = 0; a < 8; a++)
#pragma unroll
      for (int b = 0; b <= a; b++) sum[j++] += x[a] * x[b];
  }
#pragma unroll
  for (int j = 0; j < 36; j++) {
#pragma unroll
    for (int far = 16; far; far /= 2) sum[j] += __shfl_xor_sync(ALL, sum[j], far);
    if (threadIdx.x % 32 == 0) atomicAdd(&all[j], sum[j]);
  }
  __syncthreads();
  for (int j = threadIdx.x; j < 36; j += blockDim.x) out[blockIdx.x * 36 + j] = all[j];
}

// Rings of 18 masses on springs that are stiffer the shorter they are (Toda), a ring per thread, in registers.
__global__ void __launch_bounds__(1024) toda_lattices(const float* __restrict__ in, float* __restrict__ out, int n,
                                                      int steps, float dt) {
  const int k = me();
  if (k >= n) return;
  float x[18], v[18];
#pragma unroll
  for (int m = 0; m < 18; m++) x[m] = in[(size_t)m * n + k], v[m] = 0.0f;
  for (int s = 0; s < steps; s++) {
    float before = __expf(x[17] - x[0]);
    const float first = before;
#pragma unroll
    for (int m = 0; m < 18; m++) {
      const float after = m < 17 ? __expf(x[m] - x[m < 17 ? m + 1 : 0]) : first;
      v[m] += dt * (before - after);
      before = after;
    }
#pragma unroll
    for (int m = 0; m < 18; m++) x[m] += dt * v[m];
  }
  float energy = 0.0f;
#pragma unroll
  for (int m = 0; m < 18; m++) energy += 0.5f * v[m] * v[m];
  out[k] = energy;
}

// Maps that arrange themselves (Kohonen), one per block: the unit nearest to a sample and its neighbours move to it.
__global__ void trained_maps(const int4* __restrict__ samples, int* __restrict__ out, int units, int count) {
  extern __shared__ int weights[];
  __shared__ u32 nearest[3];
  int *red = weights, *green = weights + units, *blue = weights + 2 * units;
  for (int u = threadIdx.x; u < units; u += blockDim.x) red[u] = green[u] = blue[u] = 1024 * u / units;
  if (threadIdx.x < 3) nearest[threadIdx.x] = ALL;
  __syncthreads();
  for (int s = 0; s < count; s++) {
    const int4 sample = samples[(size_t)blockIdx.x * count + s];
    u32 least = ALL;
    for (int u = threadIdx.x; u < units; u += blockDim.x) {
      const int r = sample.x - red[u], g = sample.y - green[u], b = sample.z - blue[u];
      least = min(least, (u32)(r * r + g * g + b * b) << 10 | u);
    }
    least = __reduce_min_sync(ALL, least);
    if (threadIdx.x % 32 == 0) atomicMin(&nearest[s % 3], least);
    __syncthreads();
    const int best = nearest[s % 3] & 1023;
    if (threadIdx.x == 0) nearest[(s + 2) % 3] = ALL;
    for (int u = threadIdx.x; u < units; u += blockDim.x) {
      const int far = abs(u - best);
      if (far < 4) {
        red[u] += (sample.x - red[u]) >> (1 + far);
        green[u] += (sample.y - green[u]) >> (1 + far);
        blue[u] += (sample.z - blue[u]) >> (1 + far);
      }
    }
  }
  for (int u = threadIdx.x; u < units; u += blockDim.x)
    out[(size_t)blockIdx.x * units + u] = red[u] << 20 | green[u] << 10 | blue[u];
}

// How alike two long vectors are, a pair per block: tiles of 256 float4 of both come ahead, with the next ones behind.
__global__ void streamed_cosines(const float4* __restrict__ left, const float4* __restrict__ right,
                                 float* __restrict__ out, int tiles) {
  __shared__ float4 ahead[2][2][256];
  __shared__ float sums[3];
  const float4 *a = left + (size_t)blockIdx.x * tiles * 256, *b = right + (size_t)blockIdx.x * tiles * 256;
  if (threadIdx.x < 3) sums[threadIdx.x] = 0.0f;
  auto fetch = [&](int t) {
    for (int k = threadIdx.x; k < 256 && t < tiles; k += blockDim.x) {
      __pipeline_memcpy_async(&ahead[t % 2][0][k], a + t * 256 + k, 16);
      __pipeline_memcpy_async(&ahead[t % 2][1][k], b + t * 256 + k, 16);
    }
    __pipeline_commit();
  };
  fetch(0);
  float ab = 0.0f, aa = 0.0f, bb = 0.0f;
  for (int t = 0; t < tiles; t++) {
    fetch(t + 1);
    __pipeline_wait_prior(1);
    // A thread reads only what it has fetched itself.
    for (int k = threadIdx.x; k < 256; k += blockDim.x) {
      const float4 x = ahead[t % 2][0][k], y = ahead[t % 2][1][k];
      ab += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
      aa += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
      bb += y.x * y.x + y.y * y.y + y.z * y.z + y.w * y.w;
    }
  }
  __syncthreads();
#pragma unroll
  for (int far = 16; far; far /= 2) {
    ab += __shfl_xor_sync(ALL, ab, far);
    aa += __shfl_xor_sync(ALL, aa, far);
    bb += __shfl_xor_sync(ALL, bb, far);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&sums[0], ab);
    atomicAdd(&sums[1], aa);
    atomicAdd(&sums[2], bb);
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0] * rsqrtf(sums[1] * sums[2]);
}

// ------------------------------------------------------------------------------------------------------------ clusters

// Middle numbers of rows that ``size`` blocks hold together: bit by bit, the cluster counts who is below.
template <int size>
__global__ void __cluster_dims__(size) cluster_quantiles(const u32* __restrict__ in, u32* __restrict__ out,
                                                         int piece) {
  extern __shared__ u32 held[];
  __shared__ int below[2];
  const auto team = cg::this_cluster();
  for (int k = threadIdx.x; k < piece; k += blockDim.x) held[k] = in[(size_t)blockIdx.x * piece + k] >> 12;
  if (threadIdx.x < 2) below[threadIdx.x] = 0;
  team.sync();
  u32 found = 0;
  for (int bit = 19; bit >= 0; bit--) {
    const u32 tried = found | 1u << bit;
    int count = 0;
    for (int k = threadIdx.x; k < piece; k += blockDim.x) count += held[k] < tried;
    count = __reduce_add_sync(ALL, count);
    if (threadIdx.x % 32 == 0) atomicAdd(team.map_shared_rank(&below[bit % 2], 0), count);
    team.sync();
    if (*team.map_shared_rank(&below[bit % 2], 0) <= size * piece / 2) found = tried;
    team.sync();
    if (team.block_rank() == 0 && threadIdx.x == 0) below[bit % 2] = 0;
  }
  if (team.block_rank() == 0 && threadIdx.x == 0) out[blockIdx.x / size] = found;
}

// Counts of words in bins that the shared memory of ``size`` blocks holds together: each block has a part of the bins.
template <int size>
__global__ void __cluster_dims__(size) split_bins(const u32* __restrict__ words, int* __restrict__ out, int piece,
                                                  int part) {
  extern __shared__ int bins[];
  const auto team = cg::this_cluster();
  for (int b = threadIdx.x; b < part; b += blockDim.x) bins[b] = 0;
  team.sync();
  for (int k = threadIdx.x; k < piece; k += blockDim.x) {
    const u32 bin = hashed(words[(size_t)blockIdx.x * piece + k]) % (size * part);
    atomicAdd(team.map_shared_rank(&bins[bin % part], bin / part), 1);
  }
  team.sync();
  for (int b = threadIdx.x; b < part; b += blockDim.x) out[(size_t)blockIdx.x * part + b] = bins[b];
}

// -------------------------------------------------------------------------------------------- divergence, local memory

// Lifts in houses of 32 floors: they go up while somebody wants them above, then down. The sum of the floors they pass.
__global__ void lift_rides(int* __restrict__ out, int n, int steps, u32 seed) {
  const int k = me();
  if (k >= n) return;
  Rolled luck(k, seed);
  u32 wanted = 0;
  int floor = 0, passed = 0;
  bool up = true;
  for (int s = 0; s < steps; s++) {
    const u32 word = luck.word();
    if (word % 4 == 0) wanted |= 1u << (word >> 8) % 32;
    if (wanted >> floor & 1) {
      wanted &= ~(1u << floor);
      for (int people = (word >> 16) % 6; people > 0; people--) wanted |= 1u << luck.word() % 32;
    } else if (up && wanted >> floor) {
      floor++;
      passed++;
    } else if (wanted & ((1u << floor) - 1)) {
      up = false;
      floor--;
      passed++;
    } else {
      up = true;
    }
  }
  out[k] = passed * 32 + floor;
}

// Numbers that are the sum of their digits to the power of how many they are; a thread per number from ``first`` on.
__global__ void narcissistic_numbers(u8* __restrict__ out, int n, int first) {
  const int k = me();
  if (k >= n) return;
  const int number = first + k;
  int digits = 0;
  for (int rest = number; rest > 0; rest /= 10) digits++;
  long long sum = 0;
  for (int rest = number; rest > 0; rest /= 10) {
    long long power = 1;
    for (int d = 0; d < digits; d++) power *= rest % 10;
    sum += power;
  }
  out[k] = sum == number;
}

// Each thread sorts its own 40 numbers, in local memory, by gaps that get smaller (Shell).
__global__ void shell_sorted_own(const u16* __restrict__ in, int* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  int own[40];
  for (int j = 0; j < 40; j++) own[j] = in[(size_t)j * n + k];
  for (int gap = 13; gap > 0; gap /= 3)
    for (int j = gap; j < 40; j++) {
      const int value = own[j];
      int at = j;
      for (; at >= gap && own[at - gap] > value; at -= gap) own[at] = own[at - gap];
      own[at] = value;
    }
  int sum = 0;
  for (int j = 0; j < 40; j++) sum += j * own[j];
  out[k] = sum;
}

// How long rooms are taken: each thread keeps its 24 visits in the order of their beginnings, and joins what overlaps.
__global__ void interval_merges(const u16* __restrict__ visits, int* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  int from[24], to[24];
  for (int j = 0; j < 24; j++) {
    const int visit = visits[(size_t)j * n + k], begin = visit % 1000, end = begin + visit / 1000;
    int at = j;
    for (; at > 0 && from[at - 1] > begin; at--) from[at] = from[at - 1], to[at] = to[at - 1];
    from[at] = begin, to[at] = end;
  }
  int taken = 0, until = -1;
  for (int j = 0; j < 24; j++) {
    if (to[j] > until) taken += to[j] - max(from[j], until);
    until = max(until, to[j]);
  }
  out[k] = taken;
}

// Cycles of a map of numbers, found by one who goes twice as fast as the other (Floyd): their length.
__global__ void tortoise_and_hare(const int* __restrict__ next, int* __restrict__ out, int n, int size) {
  const int k = me();
  if (k >= n) return;
  int slow = next[hashed(k) % size], fast = next[slow];
  while (slow != fast) {
    slow = next[slow];
    fast = next[next[fast]];
  }
  int length = 1;
  for (fast = next[slow]; fast != slow; fast = next[fast]) length++;
  out[k] = length;
}

// ----------------------------------------------------------------------------------------------- functions and doubles

// Light behind ``slits`` slits: waves of all of them at each point of a screen.
__global__ void slit_patterns(float* __restrict__ out, int n, int slits, float apart, float across) {
  const int k = me();
  if (k >= n) return;
  const float y = (k - 0.5f * n) * across;
  float real = 0.0f, imaginary = 0.0f;
  for (int s = 0; s < slits; s++) {
    const float dy = y - (s - 0.5f * slits) * apart, square = dy * dy + 4.0f, near = rsqrtf(square);
    const float phase = square * near * 5.0f;
    real += __cosf(phase) * near;
    imaginary += __sinf(phase) * near;
  }
  out[k] = real * real + imaginary * imaginary;
}

// A curve through ``nodes`` points at equal distances (Berrut): two sums, with signs that change, and their quotient.
__global__ void double_barycentres(const double* __restrict__ values, const double* __restrict__ places,
                                   double* __restrict__ out, int n, int nodes) {
  const int k = me();
  if (k >= n) return;
  const double x = places[k] * (nodes - 1);
  double above = 0.0, below = 0.0, sign = 1.0;
  for (int j = 0; j < nodes; j++) {
    const double weight = sign / (x - j);
    above += weight * values[j];
    below += weight;
    sign = -sign;
  }
  out[k] = above / below;
}

// -------------------------------------------------------------------------------------------- halves, shared exponents

// Numbers in groups of 16 with one exponent and a signed byte each; four lanes per group, four numbers per lane.
__global__ void block_floats(const float4* __restrict__ in, char4* __restrict__ out, u8* __restrict__ exponents,
                             int quads) {
  const int k = me();
  const float4 x = k < quads ? in[k] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  float most = fmaxf(fmaxf(fabsf(x.x), fabsf(x.y)), fmaxf(fabsf(x.z), fabsf(x.w)));
  most = fmaxf(most, __shfl_xor_sync(ALL, most, 1));
  most = fmaxf(most, __shfl_xor_sync(ALL, most, 2));
  const int exponent = __float_as_int(most) >> 23;
  const float scale = __int_as_float((127 + 6 + 127 - exponent) << 23);
  auto rounded = [scale](float y) { return (signed char)max(-127, min(127, __float2int_rn(y * scale))); };
  if (k < quads) {
    out[k] = make_char4(rounded(x.x), rounded(x.y), rounded(x.z), rounded(x.w));
    if (k % 4 == 0) exponents[k / 4] = exponent;
  }
}

// Halves in groups of 32 become nibbles: a sign and one of eight sizes, and an exponent for all; eight per lane.
__global__ void nibble_groups(const uint4* __restrict__ in, u32* __restrict__ out, u8* __restrict__ exponents,
                              int lanes) {
  const int k = me();
  const uint4 words = k < lanes ? in[k] : make_uint4(0, 0, 0, 0);
  const u32 pairs[4] = {words.x, words.y, words.z, words.w};
  float x[8], most = 0.0f;
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const float2 both = __half22float2(*reinterpret_cast<const half2*>(&pairs[j]));
    x[2 * j] = both.x, x[2 * j + 1] = both.y;
    most = fmaxf(most, fmaxf(fabsf(both.x), fabsf(both.y)));
  }
  most = fmaxf(most, __shfl_xor_sync(ALL, most, 1));
  most = fmaxf(most, __shfl_xor_sync(ALL, most, 2));
  const int exponent = (__float_as_int(most) >> 23) - 2;
  const float scale = __int_as_float((254 - exponent) << 23);
  u32 nibbles = 0;
#pragma unroll
  for (int j = 0; j < 8; j++) {
    const float size = fabsf(x[j]) * scale;
    const u32 code = (size > 0.25f) + (size > 0.75f) + (size > 1.25f) + (size > 1.75f) + (size > 2.5f) +
                     (size > 3.5f) + (size > 5.0f);
    nibbles |= (code | (x[j] < 0.0f) << 3) << 4 * j;
  }
  if (k < lanes) {
    out[k] = nibbles;
    if (k % 4 == 0) exponents[k / 4] = exponent;
  }
}

// Products of vectors of signed bytes, whose groups of 32 share an exponent; a row per warp, a vector for all rows.
__global__ void unscaled_groups(const char4* __restrict__ rows, const u8* __restrict__ exponents,
                                const half2* __restrict__ vector, half* __restrict__ out, int n, int quads) {
  const int row = me() / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  half2 sum = __float2half2_rn(0.0f);
  for (int k = lane; k < quads; k += 32) {
    const char4 v = rows[(size_t)row * quads + k];
    const half2 scale = __float2half2_rn(__int_as_float((exponents[(size_t)row * (quads / 8) + k / 8] + 119) << 23));
    const half2 low = __halves2half2(__short2half_rn(v.x), __short2half_rn(v.y)),
                high = __halves2half2(__short2half_rn(v.z), __short2half_rn(v.w));
    sum = __hfma2(__hmul2(low, scale), vector[2 * k], sum);
    sum = __hfma2(__hmul2(high, scale), vector[2 * k + 1], sum);
  }
  float all = __low2float(sum) + __high2float(sum);
#pragma unroll
  for (int far = 16; far; far /= 2) all += __shfl_xor_sync(ALL, all, far);
  if (lane == 0) out[row] = __float2half(all);
}

// -------------------------------------------------------------------------------------------------------- tensor cores

// A tile of 16 x 16 halves as the left or the right operand of a warp's product; ``stride`` from one row to the next.
__device__ __forceinline__ void load_left(u32 (&tile)[8], const half* from, int stride) {
  asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
               : "=r"(tile[0]), "=r"(tile[1]), "=r"(tile[2]), "=r"(tile[3]), "=r"(tile[4]), "=r"(tile[5]),
                 "=r"(tile[6]), "=r"(tile[7])
               : "l"(from), "r"(stride)
               : "memory");
}

__device__ __forceinline__ void load_right(u32 (&tile)[8], const half* from, int stride) {
  asm volatile("wmma.load.b.sync.aligned.row.m16n16k16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
               : "=r"(tile[0]), "=r"(tile[1]), "=r"(tile[2]), "=r"(tile[3]), "=r"(tile[4]), "=r"(tile[5]),
                 "=r"(tile[6]), "=r"(tile[7])
               : "l"(from), "r"(stride)
               : "memory");
}

__device__ __forceinline__ void add_tiles(float (&sum)[8], const u32 (&left)[8], const u32 (&right)[8]) {
  asm("wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, "
      "%14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, {%0, %1, %2, %3, %4, %5, %6, %7};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(left[4]), "r"(left[5]), "r"(left[6]),
        "r"(left[7]), "r"(right[0]), "r"(right[1]), "r"(right[2]), "r"(right[3]), "r"(right[4]), "r"(right[5]),
        "r"(right[6]), "r"(right[7]));
}

__device__ __forceinline__ void store_sums(float* to, const float (&sum)[8], int stride) {
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;" ::"l"(to),
               "f"(sum[0]), "f"(sum[1]), "f"(sum[2]), "f"(sum[3]), "f"(sum[4]), "f"(sum[5]), "f"(sum[6]), "f"(sum[7]),
               "r"(stride)
               : "memory");
}

// Products of matrices of halves: each warp makes 16 rows of 32 columns, and reads all tiles from global memory.
__global__ void wmma_strips(const half* __restrict__ left, const half* __restrict__ right, float* __restrict__ out,
                            int rows, int columns, int depth) {
  const int strip = me() / 32, across = columns / 32;
  if (strip >= rows / 16 * across) return;
  const int row = strip / across * 16, column = strip % across * 32;
  float sum[2][8] = {};
  for (int d = 0; d < depth; d += 16) {
    u32 a[8], b[8];
    load_left(a, left + (size_t)row * depth + d, depth);
#pragma unroll
    for (int s = 0; s < 2; s++) {
      load_right(b, right + (size_t)d * columns + column + 16 * s, columns);
      add_tiles(sum[s], a, b);
    }
  }
#pragma unroll
  for (int s = 0; s < 2; s++) store_sums(out + (size_t)row * columns + column + 16 * s, sum[s], columns);
}

// Chances after 2, 4, 8 ... steps between 16 states: a matrix per warp, squared again and again by tensor cores.
__global__ void squared_by_wmma(const half* __restrict__ in, float* __restrict__ out, int n, int rounds) {
  extern __shared__ float chances[];
  const int matrix = me() / 32, lane = threadIdx.x % 32;
  float* sums = chances + threadIdx.x / 32 * 384;
  half* own = reinterpret_cast<half*>(sums + 256);
  if (matrix >= n) return;
  for (int k = lane; k < 256; k += 32) own[k] = __hmul(in[(size_t)matrix * 256 + k], __float2half(0.125f));
  __syncwarp();
  for (int r = 0; r < rounds; r++) {
    u32 a[8], b[8];
    float sum[8] = {};
    load_left(a, own, 16);
    load_right(b, own, 16);
    add_tiles(sum, a, b);
    store_sums(sums, sum, 16);
    __syncwarp();
    for (int k = lane; k < 256; k += 32) own[k] = __float2half(sums[k]);
    __syncwarp();
  }
  for (int k = lane; k < 256; k += 32) out[(size_t)matrix * 256 + k] = sums[k];
}

// A layer of a network in bfloat16 with a bias and without what is negative: 16 rows and 32 outputs per warp.
__global__ void biased_product_mma(const __nv_bfloat162* __restrict__ in,
                                   const __nv_bfloat162* __restrict__ weights, const float* __restrict__ bias,
                                   __nv_bfloat162* __restrict__ out, int rows, int outputs, int depth) {
  const int tile = me() / 32, across = outputs / 32, lane = threadIdx.x % 32, row = lane / 4, pair = lane % 4;
  if (tile >= rows / 16 * across) return;
  const int top = tile / across * 16, left = tile % across * 32, words = depth / 2;
  float sum[4][4] = {};
  for (int d = 0; d < words; d += 8) {
    u32 a[4];
#pragma unroll
    for (int j = 0; j < 4; j++)
      a[j] = reinterpret_cast<const u32*>(in)[(size_t)(top + row + j % 2 * 8) * words + d + pair + j / 2 * 4];
#pragma unroll
    for (int c = 0; c < 4; c++) {
      const u32* from = reinterpret_cast<const u32*>(weights) + (size_t)(left + 8 * c + row) * words + d + pair;
      asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+f"(sum[c][0]), "+f"(sum[c][1]), "+f"(sum[c][2]), "+f"(sum[c][3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(from[0]), "r"(from[4]));
    }
  }
#pragma unroll
  for (int c = 0; c < 4; c++) {
    const int column = left + 8 * c + 2 * pair;
    const float first = bias[column], second = bias[column + 1];
#pragma unroll
    for (int j = 0; j < 2; j++)
      out[((size_t)(top + row + 8 * j) * outputs + column) / 2] = __floats2bfloat162_rn(
          fmaxf(sum[c][2 * j] + first, 0.0f), fmaxf(sum[c][2 * j + 1] + second, 0.0f));
  }
}

// -------------------------------------------------------------------------------------------------- gathers and sparse

// Floats that drift in the sea: each step takes the stream between four points of a map around the float.
__global__ void ocean_floats(const float2* __restrict__ sea, float2* __restrict__ places, int n, int side, int steps) {
  const int k = me();
  if (k >= n) return;
  float2 at = places[k];
  const float most = side - 1.01f;
  at.x *= most;
  at.y *= most;
  for (int s = 0; s < steps; s++) {
    const int x = (int)at.x, y = (int)at.y;
    const float a = at.x - x, b = at.y - y;
    const float2* here = sea + y * side + x;
    const float2 p = __ldg(here), q = __ldg(here + 1), r = __ldg(here + side), t = __ldg(here + side + 1);
    const float dx = (1.0f - b) * ((1.0f - a) * p.x + a * q.x) + b * ((1.0f - a) * r.x + a * t.x);
    const float dy = (1.0f - b) * ((1.0f - a) * p.y + a * q.y) + b * ((1.0f - a) * r.y + a * t.y);
    at.x = fminf(fmaxf(at.x + 0.5f * dx, 0.0f), most);
    at.y = fminf(fmaxf(at.y + 0.5f * dy, 0.0f), most);
  }
  places[k] = at;
}

// Rows of a sparse matrix's square: each block adds its row in shared memory, with floats; how many there are, and the
// greatest.
__global__ void gustavson_rows(const int* __restrict__ starts, const int* __restrict__ members,
                               const float* __restrict__ values, int* __restrict__ counts, float* __restrict__ greatest,
                               int n) {
  extern __shared__ float sums[];
  __shared__ int found, most;
  const int row = blockIdx.x, lane = threadIdx.x % 32;
  for (int c = threadIdx.x; c < n; c += blockDim.x) sums[c] = 0.0f;
  if (threadIdx.x == 0) found = most = 0;
  __syncthreads();
  for (int a = starts[row] + threadIdx.x / 32; a < starts[row + 1]; a += blockDim.x / 32) {
    const int middle = members[a];
    const float value = values[a];
    for (int b = starts[middle] + lane; b < starts[middle + 1]; b += 32)
      atomicAdd(&sums[members[b]], value * values[b]);
  }
  __syncthreads();
  int own = 0;
  float greater = 0.0f;
  for (int c = threadIdx.x; c < n; c += blockDim.x) {
    own += sums[c] != 0.0f;
    greater = fmaxf(greater, sums[c]);
  }
  own = __reduce_add_sync(ALL, own);
  const int bits = __reduce_max_sync(ALL, __float_as_int(greater));
  if (lane == 0) {
    atomicAdd(&found, own);
    atomicMax(&most, bits);
  }
  __syncthreads();
  if (threadIdx.x == 0) counts[row] = found, greatest[row] = __int_as_float(most);
}

// Who has the most friends in common with each person: a warp counts the friends of its friends in 256 places.
__global__ void likeliest_friends(const int* __restrict__ starts, const int* __restrict__ members,
                                  int* __restrict__ out, int n) {
  extern __shared__ int counts[];
  const int person = me() / 32, lane = threadIdx.x % 32;
  int* own = counts + threadIdx.x / 32 * 256;
  if (person >= n) return;
  for (int k = lane; k < 256; k += 32) own[k] = 0;
  __syncwarp();
  for (int a = starts[person]; a < starts[person + 1]; a++) {
    const int friend_ = members[a];
    for (int b = starts[friend_] + lane; b < starts[friend_ + 1]; b += 32)
      if (members[b] != person) atomicAdd(&own[hashed(members[b]) % 256], 1);
  }
  __syncwarp();
  int most = 0;
  for (int k = lane; k < 256; k += 32) most = max(most, own[k] << 8 | k);
  most = __reduce_max_sync(ALL, most);
  if (lane == 0) out[person] = most;
}

// --------------------------------------------------------------------------------------------- first programs, streams

// Fizz, buzz, both, or the number itself.
__global__ void fizz_buzz(int* out, int n) {
  const int k = me();
  if (k >= n) return;
  const int number = k + 1;
  if (number % 15 == 0)
    out[k] = -3;
  else if (number % 5 == 0)
    out[k] = -2;
  else if (number % 3 == 0)
    out[k] = -1;
  else
    out[k] = number;
}

// What share of the whole each number is, in per cent.
__global__ void shares_of_total(const float* in, const float* total, float* out, int n) {
  const int k = me();
  if (k < n) out[k] = 100.0f * in[k] / *total;
}

// Two pictures laid over each other: the sums of bytes, at most 255.
__global__ void saturated_adds(const u32* __restrict__ left, const u32* __restrict__ right, u32* __restrict__ out,
                               int n) {
  for (int k = me(); k < n; k += gridDim.x * blockDim.x) out[k] = __vaddus4(left[k], right[k]);
}
