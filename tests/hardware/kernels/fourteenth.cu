// Kernels for tests/hardware/fourteenth_cases.py: other ones than those of the thirteen sets before, as programs have
// them.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define ALL_LANES 0xffffffffu

__device__ __forceinline__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ u32 hashed(u32 x) {
  x = (x ^ x >> 17) * 0xed5ad4bbu;
  x = (x ^ x >> 11) * 0xac4c1b51u;
  return x ^ x >> 15;
}

// A stream of random numbers.
struct Dice {
  u32 state;
  __device__ __forceinline__ u32 word() {
    state = state * 747796405u + 2891336453u;
    const u32 mixed = (state >> ((state >> 28) + 4) ^ state) * 277803737u;
    return mixed >> 22 ^ mixed;
  }
  __device__ __forceinline__ u32 below(u32 n) { return __umulhi(word(), n); }
  // Between 0 and 1, without both.
  __device__ __forceinline__ float part() { return ((word() >> 9) + 0.5f) * 1.1920929e-7f; }
};

__device__ __forceinline__ float lanes_sum(float x) {
#pragma unroll
  for (int away = 1; away < 32; away *= 2) x += __shfl_xor_sync(ALL_LANES, x, away);
  return x;
}

// -------------------------------------------------------------------------------------------------------- tensor cores

__device__ __forceinline__ u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }

// A layer of a network by the whole-warp matrix instructions: relu(x w + bias), a warp per 16 x 16 numbers.
__global__ void linear_relu_wmma(const u32* __restrict__ x, const u32* __restrict__ w, const float* __restrict__ bias,
                                 float* __restrict__ out, int rows, int columns, int depth) {
  __shared__ __align__(32) float tiles[8][256];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, tile = global_id() / 32, across = columns / 16;
  const int row = tile / across * 16, column = tile % across * 16;
  if (row >= rows) return;
  const u16* left = (const u16*)x + (size_t)row * depth;
  const u16* right = (const u16*)w + column;
  float c[8] = {};
  for (int k = 0; k < depth; k += 16) {
    u32 a[8], b[8];
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]), "=r"(a[4]), "=r"(a[5]), "=r"(a[6]), "=r"(a[7])
                 : "l"(__cvta_generic_to_global(left + k)), "r"(depth));
    asm volatile("wmma.load.b.sync.aligned.row.m16n16k16.global.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]), "=r"(b[4]), "=r"(b[5]), "=r"(b[6]), "=r"(b[7])
                 : "l"(__cvta_generic_to_global(right + (size_t)k * columns)), "r"(columns));
    asm volatile(
        "wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, "
        "%13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, {%0, %1, %2, %3, %4, %5, %6, %7};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]), "r"(b[1]),
          "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
  }
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;" ::"r"(
                   shared_address(tiles[warp])),
               "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]), "f"(c[5]), "f"(c[6]), "f"(c[7]), "r"(16)
               : "memory");
  __syncwarp();
  for (int e = lane; e < 256; e += 32)
    out[(size_t)(row + e / 16) * columns + column + e % 16] = fmaxf(tiles[warp][e] + bias[column + e % 16], 0.0f);
}

// Scores of queries and keys in bfloat16: 64 x 64 per block of four warps, fragments by ldmatrix.
__global__ void bf16_scores(const u16* __restrict__ queries, const u16* __restrict__ keys, float* __restrict__ out,
                            int n, int depth, float scale) {
  __shared__ __align__(16) u16 left[64][40], right[64][40];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32, row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sums[8][4] = {};
  for (int base = 0; base < depth; base += 32) {
#pragma unroll
    for (int e = t; e < 256; e += 128) {
      *(uint4*)&left[e / 4][e % 4 * 8] = *(const uint4*)&queries[(size_t)(row + e / 4) * depth + base + e % 4 * 8];
      *(uint4*)&right[e / 4][e % 4 * 8] = *(const uint4*)&keys[(size_t)(column + e / 4) * depth + base + e % 4 * 8];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k += 16) {
      u32 a0, a1, a2, a3;
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3)
                   : "r"(shared_address(&left[warp * 16 + lane % 16][k + lane / 16 * 8])));
#pragma unroll
      for (int j = 0; j < 8; j++) {
        u32 b0, b1;
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(b0), "=r"(b1)
                     : "r"(shared_address(&right[8 * j + lane % 8][k + lane / 8 % 2 * 8])));
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(sums[j][0]), "+f"(sums[j][1]), "+f"(sums[j][2]), "+f"(sums[j][3])
            : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < 8; j++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      float* to = out + (size_t)(row + warp * 16 + lane / 4 + 8 * h) * n + column + 8 * j + lane % 4 * 2;
      *(float2*)to = make_float2(sums[j][2 * h] * scale, sums[j][2 * h + 1] * scale);
    }
}

// A convolution along time with 32 channels of bytes in and out: a product on tensor cores per tap.
// A warp has 16 times.
__global__ void conv_bytes_mma(const u32* __restrict__ in, const u32* __restrict__ weights, char2* __restrict__ out,
                               int n, int taps, int shift) {
  const int first = global_id() / 32 * 16, group = threadIdx.x % 32 / 4, place = threadIdx.x % 4;
  if (first >= n) return;
  int sums[4][4] = {};
  for (int tap = 0; tap < taps; tap++) {
    const u32* from = in + (size_t)(first + tap + group) * 8 + place;
    const u32 a0 = from[0], a1 = from[64], a2 = from[4], a3 = from[68];
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const u32* w = weights + ((8 * j + group) * taps + tap) * 8 + place;
      asm volatile(
          "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+r"(sums[j][0]), "+r"(sums[j][1]), "+r"(sums[j][2]), "+r"(sums[j][3])
          : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(w[0]), "r"(w[4]));
    }
  }
#pragma unroll
  for (int j = 0; j < 4; j++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int low = min(max(sums[j][2 * h] >> shift, 0), 127), high = min(max(sums[j][2 * h + 1] >> shift, 0), 127);
      out[(size_t)(first + group + 8 * h) * 16 + 4 * j + place] = make_char2(low, high);
    }
}

// The nearest of `count` centres to points of 16 numbers; the products are TF32. A warp has 16 points.
__global__ void assign_tf32(const float* __restrict__ points, const float* __restrict__ centres,
                            const float* __restrict__ squares, int* __restrict__ out, int n, int count) {
  const int first = global_id() / 32 * 16, group = threadIdx.x % 32 / 4, place = threadIdx.x % 4;
  if (first >= n) return;
  u32 a[2][4];
#pragma unroll
  for (int s = 0; s < 2; s++)
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const float v = points[(size_t)(first + group + 8 * (k & 1)) * 16 + 8 * s + place + 4 * (k >> 1)];
      asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a[s][k]) : "f"(v));
    }
  float best[2] = {1e30f, 1e30f};
  int which[2] = {};
  for (int base = 0; base < count; base += 8) {
    float dots[4] = {};
#pragma unroll
    for (int s = 0; s < 2; s++) {
      u32 b[2];
#pragma unroll
      for (int k = 0; k < 2; k++)
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(b[k]) : "f"(centres[(base + group) * 16 + 8 * s + place + 4 * k]));
      asm volatile(
          "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+f"(dots[0]), "+f"(dots[1]), "+f"(dots[2]), "+f"(dots[3])
          : "r"(a[s][0]), "r"(a[s][1]), "r"(a[s][2]), "r"(a[s][3]), "r"(b[0]), "r"(b[1]));
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const int centre = base + 2 * place + (k & 1);
      const float away = squares[centre] - 2.0f * dots[k];
      if (away < best[k >> 1]) {
        best[k >> 1] = away;
        which[k >> 1] = centre;
      }
    }
  }
#pragma unroll
  for (int h = 0; h < 2; h++) {
#pragma unroll
    for (int by = 1; by < 4; by *= 2) {
      const float other = __shfl_xor_sync(ALL_LANES, best[h], by);
      const int its = __shfl_xor_sync(ALL_LANES, which[h], by);
      if (other < best[h] || (other == best[h] && its < which[h])) {
        best[h] = other;
        which[h] = its;
      }
    }
    if (place == 0) out[first + group + 8 * h] = which[h];
  }
}

__device__ __forceinline__ u32 two_ones(bool low, bool high) {
  return (low ? 0x3c00u : 0u) | (high ? 0x3c000000u : 0u);
}

__device__ __forceinline__ void add_product(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Running sums of rows of 256 half numbers by triangles of ones on tensor cores; a warp per row.
__global__ void scan_by_mma(const uint4* __restrict__ in, float* __restrict__ out, int rows) {
  __shared__ __align__(16) u32 tiles[8][128];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, place = lane % 4;
  const int row = global_id() / 32;
  if (row >= rows) return;
  *(uint4*)&tiles[warp][4 * lane] = in[(size_t)row * 32 + lane];
  __syncwarp();
  u32 x[4], y[4], lower[4];
  const u32 address = shared_address(&tiles[warp][lane % 16 * 8 + lane / 16 * 4]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(address));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3])
               : "r"(address));
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const int at = group + 8 * (k & 1), from = 2 * place + 8 * (k >> 1);
    lower[k] = two_ones(from < at, from + 1 < at);
  }
  float above[2][4] = {}, sums[2][4] = {};
  add_product(above[0], lower, y[0], y[1]);
  add_product(above[1], lower, y[2], y[3]);
  u32 rounded[4];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const __half2 both = __floats2half2_rn(above[k >> 1][2 * (k & 1)], above[k >> 1][2 * (k & 1) + 1]);
    rounded[k] = *(const u32*)&both;
  }
#pragma unroll
  for (int j = 0; j < 2; j++) {
    const int to = group + 8 * j, from = 2 * place;
    add_product(sums[j], x, two_ones(from <= to, from + 1 <= to), two_ones(from + 8 <= to, from + 9 <= to));
    add_product(sums[j], rounded, 0x3c003c00u, 0x3c003c00u);
    float* at = out + (size_t)row * 256 + group * 16 + 8 * j + 2 * place;
    *(float2*)at = make_float2(sums[j][0], sums[j][1]);
    *(float2*)(at + 128) = make_float2(sums[j][2], sums[j][3]);
  }
}

// -------------------------------------------------------------------------------------------- tables, trees and graphs

// A table with chains: follow the links of a bucket until the key comes.
__global__ void chained_lookup(const int* __restrict__ heads, const int* __restrict__ links,
                               const int* __restrict__ keys, const int* __restrict__ values,
                               const int* __restrict__ wanted, int* __restrict__ out, int n, u32 mask) {
  const int k = global_id();
  if (k >= n) return;
  const int key = wanted[k];
  int at = heads[hashed(key) & mask], found = -1;
  while (at >= 0) {
    if (keys[at] == key) {
      found = values[at];
      break;
    }
    at = links[at];
  }
  out[k] = found;
}

// The lowest common ancestor of two nodes; ancestors[l][v] is 2^l steps above v.
__global__ void lca_lifting(const int* __restrict__ ancestors, const int* __restrict__ depths,
                            const int2* __restrict__ pairs, int* __restrict__ out, int n, int nodes, int levels) {
  const int k = global_id();
  if (k >= n) return;
  int a = pairs[k].x, b = pairs[k].y;
  if (depths[a] < depths[b]) {
    const int c = a;
    a = b;
    b = c;
  }
  for (int up = depths[a] - depths[b], level = 0; up; up >>= 1, level++)
    if (up & 1) a = ancestors[level * nodes + a];
  if (a != b) {
    for (int level = levels - 1; level >= 0; level--) {
      const int x = ancestors[level * nodes + a], y = ancestors[level * nodes + b];
      if (x != y) {
        a = x;
        b = y;
      }
    }
    a = ancestors[a];
  }
  out[k] = a;
}

// Where patterns of `length` letters stand in the sorted suffixes of a text.
__global__ void suffix_search(const u8* __restrict__ text, const int* __restrict__ suffixes,
                              const u8* __restrict__ patterns, int* __restrict__ out, int n, int size, int length) {
  const int k = global_id();
  if (k >= n) return;
  const u8* pattern = patterns + (size_t)k * length;
  int low = 0, high = size;
  while (low < high) {
    const int middle = (low + high) / 2, start = suffixes[middle];
    int j = 0;
    while (j < length && start + j < size && text[start + j] == pattern[j]) j++;
    const bool less = j < length && (start + j >= size || text[start + j] < pattern[j]);
    if (less)
      low = middle + 1;
    else
      high = middle;
  }
  out[k] = low;
}

// How many intervals hold a point. The intervals are sorted by start; `latest` is the greatest end of what lies below a
// node, where a node is the middle of its part of the list.
__global__ void interval_stabs(const int* __restrict__ starts, const int* __restrict__ ends,
                               const int* __restrict__ latest, const int* __restrict__ points, int* __restrict__ out,
                               int n, int count) {
  const int k = global_id();
  if (k >= n) return;
  const int point = points[k];
  int2 stack[24];
  int top = 0, found = 0;
  stack[top++] = make_int2(0, count);
  while (top) {
    const int2 part = stack[--top];
    if (part.x >= part.y) continue;
    const int middle = (part.x + part.y) / 2;
    if (latest[middle] <= point) continue;
    stack[top++] = make_int2(part.x, middle);
    if (starts[middle] <= point) {
      found += point < ends[middle];
      stack[top++] = make_int2(middle + 1, part.y);
    }
  }
  out[k] = found;
}

// A round of Luby's method: a node joins the independent set if its number is greater than those of all its neighbours.
__global__ void luby_round(const int* __restrict__ starts, const int* __restrict__ members,
                           const u8* __restrict__ states, u8* __restrict__ out, int nodes, u32 seed) {
  const int v = global_id();
  if (v >= nodes) return;
  u8 state = states[v];
  if (state == 0) {
    const u32 mine = hashed(v ^ seed);
    bool wins = true;
    for (int e = starts[v]; e < starts[v + 1] && wins; e++) {
      const int w = members[e];
      wins = w == v || states[w] != 0 || hashed(w ^ seed) < mine;
    }
    state = wins ? 1 : 0;
  }
  out[v] = state;
}

// Tokens go along the edges of a data flow; a node fires each time it has got as many as it needs.
__global__ void token_firings(const int* __restrict__ starts, const int* __restrict__ members,
                              const u8* __restrict__ needs, const int* __restrict__ ready, int* tokens, int* fired,
                              int* count, int n, int mask) {
  const int k = global_id();
  if (k >= n) return;
  const int v = ready[k];
  for (int e = starts[v]; e < starts[v + 1]; e++) {
    const int to = members[e];
    if ((atomicAdd(&tokens[to], 1) + 1) % (needs[to] + 1) == 0) fired[atomicAdd(count, 1) & mask] = to;
  }
}

// Nuclear cross sections as a reactor code looks them up: find an energy in a grid, then interpolate for each nuclide.
__global__ void cross_sections(const float* __restrict__ grid, const float* __restrict__ sections,
                               const float* __restrict__ shares, const float* __restrict__ energies,
                               float* __restrict__ out, int n, int points, int nuclides) {
  const int k = global_id();
  if (k >= n) return;
  const float energy = energies[k];
  int low = 0, high = points - 1;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (grid[middle] <= energy)
      low = middle;
    else
      high = middle;
  }
  const float part = (energy - grid[low]) / (grid[low + 1] - grid[low]);
  float sum = 0.0f;
  for (int m = 0; m < nuclides; m++) {
    const float* row = sections + (size_t)m * points + low;
    sum += shares[m] * (row[0] + part * (row[1] - row[0]));
  }
  out[k] = sum;
}

// The loss of word vectors with samples that are wrong: a warp per pair of words.
__global__ void negative_samples(const float4* __restrict__ words, const float4* __restrict__ contexts,
                                 const int2* __restrict__ pairs, float* __restrict__ out, int n, int vocabulary,
                                 int samples, u32 seed) {
  const int k = global_id() / 32, lane = threadIdx.x % 32;
  if (k >= n) return;
  const int2 pair = pairs[k];
  const float4 w = words[(size_t)pair.x * 32 + lane];
  float loss = 0.0f;
  for (int s = 0; s <= samples; s++) {
    const u32 other = s ? __umulhi(hashed(k * 31 + s ^ seed), vocabulary) : pair.y;
    const float4 c = contexts[(size_t)other * 32 + lane];
    const float dot = lanes_sum(w.x * c.x + w.y * c.y + w.z * c.z + w.w * c.w);
    loss += __logf(1.0f + __expf(s ? dot : -dot));
  }
  if (lane == 0) out[k] = loss;
}

// Slopes of a field on a mesh of cells with four sides each: the means at the sides times their normals.
__global__ void mesh_gradients(const float* __restrict__ field, const int* __restrict__ beside,
                               const float2* __restrict__ normals, float2* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const float mine = field[k];
  float2 sum = make_float2(0.0f, 0.0f);
#pragma unroll
  for (int s = 0; s < 4; s++) {
    const int other = beside[s * n + k];
    const float value = other < 0 ? mine : 0.5f * (mine + field[other]);
    const float2 normal = normals[s * n + k];
    sum.x += value * normal.x;
    sum.y += value * normal.y;
  }
  out[k] = sum;
}

// ------------------------------------------------------------------------------------------------------ chains in time

// Customers wait in a queue by Lindley's rule; a thread simulates one queue.
__global__ void lindley_waits(float2* __restrict__ out, int n, int customers, float load, u32 seed) {
  const int k = global_id();
  if (k >= n) return;
  Dice dice{hashed(k ^ seed)};
  float wait = 0.0f, sum = 0.0f, longest = 0.0f;
  for (int c = 0; c < customers; c++) {
    const float served = -load * logf(dice.part()), gap = -logf(dice.part());
    wait = fmaxf(wait + served - gap, 0.0f);
    sum += wait;
    longest = fmaxf(longest, wait);
  }
  out[k] = make_float2(sum / customers, longest);
}

// Bits to bytes by an arithmetic coder that learns: 16 contexts of the last four bits, in shared memory per thread.
__global__ void adaptive_bits(const u32* __restrict__ words, u8* __restrict__ out, int* __restrict__ sizes, int n,
                              int count, int room) {
  extern __shared__ u16 chances[];
  const int t = threadIdx.x, k = global_id();
  for (int c = 0; c < 16; c++) chances[c * blockDim.x + t] = 2048;
  if (k >= n) return;
  u32 low = 0, high = 0xffffffffu, context = 0;
  int size = 0;
  for (int w = 0; w < count; w++) {
    const u32 word = words[(size_t)w * n + k];
    for (int b = 0; b < 32; b++) {
      const u32 bit = word >> b & 1;
      u16& chance = chances[context * blockDim.x + t];
      const u32 middle = low + (high - low >> 12) * chance;
      if (bit) {
        high = middle;
        chance += (4096 - chance) >> 5;
      } else {
        low = middle + 1;
        chance -= chance >> 5;
      }
      context = (context << 1 | bit) & 15;
      while (((low ^ high) & 0xff000000u) == 0) {
        if (size < room) out[(size_t)size * n + k] = high >> 24;
        size++;
        low <<= 8;
        high = high << 8 | 255;
      }
    }
  }
  sizes[k] = size;
}

__constant__ short adpcm_steps[89] = {
    7,    8,    9,    10,   11,   12,   13,   14,   16,    17,    19,    21,    23,    25,    28,    31,    34,   37,
    41,   45,   50,   55,   60,   66,   73,   80,   88,    97,    107,   118,   130,   143,   157,   173,   190,  209,
    230,  253,  279,  307,  337,  371,  408,  449,  494,   544,   598,   658,   724,   796,   876,   963,   1060, 1166,
    1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499, 2749,  3024,  3327,  3660,  4026,  4428,  4871,  5358,  5894, 6484,
    7132, 7845, 8630, 9493, 10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767};

// Sound of four bits per sample; a thread decodes one channel.
__global__ void adpcm_decode(const u32* __restrict__ words, short* __restrict__ out, int n, int count) {
  const int k = global_id();
  if (k >= n) return;
  int value = 0, index = 0;
  for (int w = 0; w < count; w++) {
    u32 word = words[(size_t)w * n + k];
    for (int s = 0; s < 8; s++, word >>= 4) {
      const int step = adpcm_steps[index], code = word & 7;
      int change = step >> 3;
      if (code & 4) change += step;
      if (code & 2) change += step >> 1;
      if (code & 1) change += step >> 2;
      value = min(max(word & 8 ? value - change : value + change, -32768), 32767);
      index = min(max(index + (code < 4 ? -1 : 2 * code - 6), 0), 88);
      out[(size_t)(8 * w + s) * n + k] = value;
    }
  }
}

// The strength of prices by Wilder: smoothed gains against losses, and on how many days it is above 70.
__global__ void rsi_series(const float* __restrict__ prices, float2* __restrict__ out, int n, int days, int period) {
  const int k = global_id();
  if (k >= n) return;
  float gain = 0.0f, loss = 0.0f, before = prices[k], strength = 50.0f, above = 0.0f;
  const float share = 1.0f / period;
  for (int d = 1; d < days; d++) {
    const float price = prices[(size_t)d * n + k], change = price - before;
    before = price;
    gain += share * (fmaxf(change, 0.0f) - gain);
    loss += share * (fmaxf(-change, 0.0f) - loss);
    strength = 100.0f - 100.0f / (1.0f + gain / (loss + 1e-9f));
    above += strength > 70.0f ? 1.0f : 0.0f;
  }
  out[k] = make_float2(strength, above);
}

// -------------------------------------------------------------------------------------------- whole numbers and hashes

// Tags of messages in the field of 2^128: 128 steps of shifts per block of 16 bytes.
__global__ void ghash_blocks(const ulonglong2* __restrict__ blocks, ulonglong2* __restrict__ out, int n, int count,
                             u64 key_high, u64 key_low) {
  const int k = global_id();
  if (k >= n) return;
  u64 high = 0, low = 0;
  for (int b = 0; b < count; b++) {
    const ulonglong2 block = blocks[(size_t)b * n + k];
    const u64 x[2] = {high ^ block.x, low ^ block.y};
    u64 v_high = key_high, v_low = key_low;
    high = low = 0;
#pragma unroll
    for (int half = 0; half < 2; half++)
      for (int i = 63; i >= 0; i--) {
        const u64 take = 0 - (x[half] >> i & 1), odd = 0 - (v_low & 1);
        high ^= v_high & take;
        low ^= v_low & take;
        v_low = v_low >> 1 | v_high << 63;
        v_high = v_high >> 1 ^ (odd & 0xe100000000000000ull);
      }
  }
  out[k] = make_ulonglong2(high, low);
}

// The Mersenne twister: a block has a generator of 624 words in shared memory.
__global__ void twister_blocks(const u32* __restrict__ seeds, u32* __restrict__ out, int rounds) {
  __shared__ u32 state[624];
  const int t = threadIdx.x, part = min((int)blockDim.x, 227);
  if (t == 0) {
    state[0] = seeds[blockIdx.x];
    for (int i = 1; i < 624; i++) state[i] = 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + i;
  }
  __syncthreads();
  for (int r = 0; r < rounds; r++)
    for (int base = 0; base < 624; base += part) {
      const int i = base + t;
      const bool mine = t < part && i < 624;
      u32 next = 0;
      if (mine) {
        const u32 y = (state[i] & 0x80000000u) | (state[i < 623 ? i + 1 : 0] & 0x7fffffffu);
        next = state[i < 227 ? i + 397 : i - 227] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0u);
      }
      __syncthreads();
      if (mine) {
        state[i] = next;
        next ^= next >> 11;
        next ^= next << 7 & 0x9d2c5680u;
        next ^= next << 15 & 0xefc60000u;
        out[((size_t)blockIdx.x * rounds + r) * 624 + i] = next ^ next >> 18;
      }
      __syncthreads();
    }
}

__device__ __forceinline__ u32 xx_round(u32 lane, u32 word) {
  lane += word * 2246822519u;
  return __funnelshift_l(lane, lane, 13) * 2654435761u;
}

// XXH32 of strings of whole words and of any lengths.
__global__ void xxhash_strings(const u32* __restrict__ words, const int* __restrict__ starts, u32* __restrict__ out,
                               int n, u32 seed) {
  const int k = global_id();
  if (k >= n) return;
  int at = starts[k];
  const int end = starts[k + 1], length = end - at;
  u32 hash = seed + 374761393u;
  if (length >= 4) {
    u32 lanes[4] = {seed + 2654435761u + 2246822519u, seed + 2246822519u, seed, seed - 2654435761u};
    for (; at + 4 <= end; at += 4)
#pragma unroll
      for (int j = 0; j < 4; j++) lanes[j] = xx_round(lanes[j], words[at + j]);
    hash = __funnelshift_l(lanes[0], lanes[0], 1) + __funnelshift_l(lanes[1], lanes[1], 7) +
           __funnelshift_l(lanes[2], lanes[2], 12) + __funnelshift_l(lanes[3], lanes[3], 18);
  }
  hash += 4 * length;
  for (; at < end; at++) {
    hash += words[at] * 3266489917u;
    hash = __funnelshift_l(hash, hash, 17) * 668265263u;
  }
  hash = (hash ^ hash >> 15) * 2246822519u;
  hash = (hash ^ hash >> 13) * 3266489917u;
  out[k] = hash ^ hash >> 16;
}

// The inverse of numbers modulo another one by Euclid; 0 where there is none.
__global__ void modular_inverses(const int* __restrict__ in, int* __restrict__ out, int n, int modulus) {
  const int k = global_id();
  if (k >= n) return;
  int a = in[k] % modulus, b = modulus, x = 1, y = 0;
  while (a > 1) {
    const int quotient = b / a, rest = b - quotient * a, z = y - quotient * x;
    b = a;
    a = rest;
    y = x;
    x = z;
  }
  out[k] = a == 1 ? (x < 0 ? x + modulus : x) : 0;
}

// Whether odd numbers are prime, by Miller and Rabin with the bases 2, 7 and 61.
__global__ void miller_rabin(const u32* __restrict__ in, u8* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const u32 p = in[k] | 1, bases[3] = {2, 7, 61};
  bool prime = p > 1;
  const int twos = __ffs(p - 1) - 1;
  for (int b = 0; b < 3 && prime; b++) {
    if (p == bases[b] || p == 1) break;
    u64 power = 1, square = bases[b] % p;
    for (u32 e = p - 1 >> twos; e; e >>= 1) {
      if (e & 1) power = power * square % p;
      square = square * square % p;
    }
    bool passed = power == 1 || power == p - 1;
    for (int s = 1; s < twos && !passed; s++) {
      power = power * power % p;
      passed = power == p - 1;
    }
    prime = passed;
  }
  out[k] = prime;
}

// Who stays last in a circle of people of which each k-th one leaves.
__global__ void josephus_last(const int2* __restrict__ circles, int* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const int people = circles[k].x + 1, step = circles[k].y + 1;
  int place = 0;
  for (int size = 2; size <= people; size++) place = (place + step) % size;
  out[k] = place;
}

// The sum of the digits of a factorial; the number is an array of nine digits per word.
__global__ void big_factorials(const int* __restrict__ in, int* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  u32 digits[40];
  int used = 1, sum = 0;
  digits[0] = 1;
  for (int factor = 2; factor <= in[k]; factor++) {
    u32 carry = 0;
    for (int d = 0; d < used; d++) {
      const u64 product = (u64)digits[d] * factor + carry;
      carry = product / 1000000000u;
      digits[d] = product % 1000000000u;
    }
    if (carry) digits[used++] = carry;
  }
  for (int d = 0; d < used; d++)
    for (u32 rest = digits[d]; rest; rest /= 10) sum += rest % 10;
  out[k] = sum;
}

// After how many digits 1 / p repeats; warps take the next 32 numbers from a counter, which the last block sets back.
__global__ void repetend_lengths(int* __restrict__ out, int* counter, int n) {
  const int lane = threadIdx.x % 32;
  while (true) {
    int base = 0;
    if (lane == 0) base = atomicAdd(&counter[0], 32);
    base = __shfl_sync(ALL_LANES, base, 0);
    if (base >= n) break;
    const int k = base + lane;
    if (k < n) {
      const int p = 10 * (k / 4) + (k % 4 < 2 ? 1 + 2 * (k % 4) : 3 + 2 * (k % 4));
      int rest = 10 % p, length = 1;
      while (rest > 1) {
        rest = 10 * rest % p;
        length++;
      }
      out[k] = p > 1 ? length : 0;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&counter[1], 1) == (int)gridDim.x - 1) {
    atomicExch(&counter[0], 0);
    atomicExch(&counter[1], 0);
  }
}

// --------------------------------------------------------------------------------------------------- special functions

// A flame: points jump by maps at random, and each place that they reach is counted.
__global__ void flame_points(const float* __restrict__ maps, u32* grid, int threads, int jumps, int side, int count,
                             u32 seed) {
  const int k = global_id();
  if (k >= threads) return;
  Dice dice{hashed(k ^ seed)};
  float x = dice.part(), y = dice.part();
  for (int j = 0; j < jumps; j++) {
    const int which = dice.below(count);
    const float* m = maps + 6 * which;
    const float u = m[0] * x + m[1] * y + m[2], v = m[3] * x + m[4] * y + m[5];
    switch (which & 3) {
      case 0:
        x = u;
        y = v;
        break;
      case 1:
        x = __sinf(u);
        y = __sinf(v);
        break;
      case 2:
        x = u / sqrtf(1.0f + u * u + v * v);
        y = v / sqrtf(1.0f + u * u + v * v);
        break;
      default:
        x = tanhf(u);
        y = v;
    }
    if (j < 10) continue;
    const int column = (int)floorf((x + 2.0f) * 0.25f * side), row = (int)floorf((y + 2.0f) * 0.25f * side);
    if (column >= 0 && column < side && row >= 0 && row < side) atomicAdd(&grid[row * side + column], 1u);
  }
}

// Partial sums of Riemann's zeta function on the line with the real part one half.
__global__ void zeta_line(float2* __restrict__ out, int n, int terms, float first, float step) {
  const int k = global_id();
  if (k >= n) return;
  const float height = first + step * k;
  float2 sum = make_float2(0.0f, 0.0f);
  for (int m = 1; m <= terms; m++) {
    float s, c;
    sincosf(height * logf((float)m), &s, &c);
    const float size = rsqrtf((float)m);
    sum.x += size * c;
    sum.y -= size * s;
  }
  out[k] = sum;
}

__device__ __forceinline__ float lobe(float x, float centre, float left, float right) {
  const float t = (x - centre) * (x < centre ? left : right);
  return __expf(-0.5f * t * t);
}

// The colours of glowing bodies: Planck's law times what the eye sees, over the wavelengths in nanometres.
__global__ void planck_colours(const float* __restrict__ temperatures, float* __restrict__ out, int n, int steps) {
  const int k = global_id();
  if (k >= n) return;
  const float heat = 1.4387769e7f / temperatures[k];
  float x = 0.0f, y = 0.0f, z = 0.0f;
  for (int s = 0; s < steps; s++) {
    const float wave = 380.0f + 400.0f * (s + 0.5f) / steps, part = 560.0f / wave;
    const float light = part * part * part * part * part / (expf(heat / wave) - 1.0f);
    x += light * (1.056f * lobe(wave, 599.8f, 0.0264f, 0.0323f) + 0.362f * lobe(wave, 442.0f, 0.0624f, 0.0374f) -
                  0.065f * lobe(wave, 501.1f, 0.049f, 0.0382f));
    y += light * (0.821f * lobe(wave, 568.8f, 0.0213f, 0.0247f) + 0.286f * lobe(wave, 530.9f, 0.0613f, 0.0322f));
    z += light * (1.217f * lobe(wave, 437.0f, 0.0845f, 0.0278f) + 0.681f * lobe(wave, 459.0f, 0.0385f, 0.0725f));
  }
  const float sum = x + y + z;
  out[k] = x / sum;
  out[n + k] = y / sum;
}

// The brightness of the sky: light that the air scatters once, along each ray and from there towards the sun. In units
// of the height in which the air gets thinner by e, over flat ground.
__global__ void sky_pixels(float* __restrict__ out, int width, int height, int samples, float sun, float thick) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const float up = 0.05f + 0.95f * (py + 0.5f) / height, turn = 3.0f * (px + 0.5f) / width;
  const float flat = sqrtf(1.0f - up * up), high = sinf(sun);
  const float cosine = flat * __cosf(turn) * cosf(sun) + up * high;
  const float length = 6.0f / up, step = length / samples;
  float depth = 0.0f, light = 0.0f;
  for (int s = 0; s < samples; s++) {
    const float air = __expf(-up * step * (s + 0.5f));
    depth += 0.5f * air * step;
    float above = 0.0f;
    for (int m = 0; m < 8; m++) above += __expf(-up * step * (s + 0.5f) - 0.75f * (m + 0.5f)) * 0.75f / high;
    light += air * step * __expf(-thick * (depth + above));
    depth += 0.5f * air * step;
  }
  out[py * width + px] = 0.0597f * (1.0f + cosine * cosine) * thick * light;
}

// Rays that march towards a twisted ring by its distance.
__global__ void knot_depths(float* __restrict__ out, int width, int height, int most, float twist) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const float dx = 1.6f * ((px + 0.5f) / width - 0.5f), dy = 1.2f * ((py + 0.5f) / height - 0.5f);
  const float scale = rsqrtf(1.0f + dx * dx + dy * dy);
  float depth = 1.0f;
  for (int s = 0; s < most; s++) {
    const float x = depth * scale * dx, y = depth * scale * dy, z = depth * scale - 4.0f;
    const float round = sqrtf(x * x + y * y) - 1.2f, angle = twist * atan2f(y, x);
    float a, b;
    sincosf(angle, &a, &b);
    const float u = fabsf(b * round + a * z), v = fabsf(b * z - a * round);
    const float away = sqrtf((u - 0.2f) * (u - 0.2f) + v * v) - 0.15f;
    if (away < 1e-3f || depth > 7.0f) break;
    depth += 0.5f * away;
  }
  out[py * width + px] = fminf(depth, 7.0f);
}

// How strongly each panel of a wing acts on the middle of each other one: the influence of sources.
__global__ void panel_influences(const float2* __restrict__ corners, float* __restrict__ out, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n) return;
  const float2 a = corners[j], b = corners[j + 1], c = corners[i], d = corners[i + 1];
  float found = 0.5f;
  if (i != j) {
    const float length = hypotf(b.x - a.x, b.y - a.y), cosine = (b.x - a.x) / length, sine = (b.y - a.y) / length;
    const float mx = 0.5f * (c.x + d.x) - a.x, my = 0.5f * (c.y + d.y) - a.y;
    const float x = cosine * mx + sine * my, y = cosine * my - sine * mx;
    const float near = x * x + y * y, far = (x - length) * (x - length) + y * y;
    const float along = 0.5f * logf(near / far), across = atan2f(y * length, near - x * length);
    const float own = hypotf(d.x - c.x, d.y - c.y), nx = (d.y - c.y) / own, ny = (c.x - d.x) / own;
    found = 0.15915494f * (nx * (along * cosine - across * sine) + ny * (along * sine + across * cosine));
  }
  out[(size_t)i * n + j] = found;
}

// The winding numbers of a map of the circle.
__global__ void winding_numbers(float* __restrict__ out, int width, int height, int turns) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const float omega = (px + 0.5f) / width, strength = 0.9f * (py + 0.5f) / height;
  float place = 0.0f, round = 0.0f;
  for (int t = 0; t < turns; t++) {
    place += omega - strength * 0.15915494f * sinpif(2.0f * place);
    const float whole = floorf(place);
    round += whole;
    place -= whole;
  }
  out[py * width + px] = (round + place) / turns;
}

// Gauss's hypergeometric series until its terms are too small.
__global__ void hypergeometric(const double* __restrict__ in, double* __restrict__ out, int n, double a, double b,
                               double c) {
  const int k = global_id();
  if (k >= n) return;
  const double z = in[k];
  double term = 1.0, sum = 1.0;
  for (int m = 0; m < 2000 && fabs(term) > 1e-16 * fabs(sum); m++) {
    term *= (a + m) * (b + m) / ((c + m) * (m + 1.0)) * z;
    sum += term;
  }
  out[k] = sum;
}

// Lambert's W by Halley's steps.
__global__ void lambert_w(const double* __restrict__ in, double* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const double x = in[k];
  double w = log1p(x);
  for (int s = 0; s < 20; s++) {
    const double e = exp(w), gap = w * e - x;
    const double step = gap / (e * (w + 1.0) - (w + 2.0) * gap / (2.0 * w + 2.0));
    w -= step;
    if (fabs(step) <= 1e-14 * fabs(w)) break;
  }
  out[k] = w;
}

// Places of planets: sums of cosines over a table of amplitudes, phases and frequencies.
__global__ void planet_places(const double* __restrict__ table, double* __restrict__ out, int n, int terms,
                              double first, double step) {
  const int k = global_id();
  if (k >= n) return;
  const double time = first + step * k;
  double sum = 0.0;
  for (int m = 0; m < terms; m++) sum += table[3 * m] * cos(table[3 * m + 1] + table[3 * m + 2] * time);
  out[k] = sum;
}

// Rays through a lens of several surfaces: where each one meets the next sphere, and how it bends there.
__global__ void lens_rays(const float2* __restrict__ starts, const float* __restrict__ surfaces,
                          float2* __restrict__ out, int n, int count) {
  const int k = global_id();
  if (k >= n) return;
  float x = starts[k].x, y = starts[k].y, z = 0.0f, u = 0.0f, v = 0.0f, w = 1.0f;
  for (int s = 0; s < count; s++) {
    const float gap = surfaces[4 * s], radius = surfaces[4 * s + 1], ratio = surfaces[4 * s + 2];
    const float open = surfaces[4 * s + 3];
    z -= gap + radius;
    const float along = x * u + y * v + z * w, inside = along * along - (x * x + y * y + z * z - radius * radius);
    if (inside < 0.0f) {
      x = y = -1.0f;
      break;
    }
    const float way = -along - copysignf(sqrtf(inside), radius);
    x += way * u;
    y += way * v;
    z += way * w;
    if (x * x + y * y > open) {
      x = y = -1.0f;
      break;
    }
    const float nx = x / radius, ny = y / radius, nz = z / radius, cosine = -(u * nx + v * ny + w * nz);
    const float bend = ratio * cosine - sqrtf(fmaxf(1.0f - ratio * ratio * (1.0f - cosine * cosine), 0.0f));
    u = ratio * u + bend * nx;
    v = ratio * v + bend * ny;
    w = ratio * w + bend * nz;
    z += radius;
  }
  out[k] = make_float2(x, y);
}

// ------------------------------------------------------------------------------------------ shared memory and barriers

// Rows of 2^bits numbers in the order of their reversed indices; a block per row.
__global__ void bit_reversed_rows(const float* __restrict__ in, float* __restrict__ out, int bits) {
  extern __shared__ float row[];
  const int n = 1 << bits;
  const size_t base = (size_t)blockIdx.x << bits;
  for (int j = threadIdx.x; j < n; j += blockDim.x) row[j] = in[base + j];
  __syncthreads();
  for (int j = threadIdx.x; j < n; j += blockDim.x) out[base + j] = row[__brev(j) >> (32 - bits)];
}

// Tridiagonal systems of a power of two of rows by cyclic reduction; a block per system.
__global__ void cyclic_reduction(const float* __restrict__ in, float* __restrict__ out, int n) {
  extern __shared__ float lower[];
  float *middle = lower + n, *upper = lower + 2 * n, *right = lower + 3 * n;
  const float* mine = in + (size_t)blockIdx.x * 4 * n;
  for (int k = threadIdx.x; k < 4 * n; k += blockDim.x) lower[k] = mine[k];
  __syncthreads();
  for (int s = 2; s <= n; s *= 2) {
    for (int k = threadIdx.x; k < n / s; k += blockDim.x) {
      const int i = s * (k + 1) - 1, a = i - s / 2, b = i + s / 2;
      const float before = lower[i] / middle[a];
      float diagonal = middle[i] - upper[a] * before, sum = right[i] - right[a] * before;
      lower[i] = -lower[a] * before;
      if (b < n) {
        const float after = upper[i] / middle[b];
        diagonal -= lower[b] * after;
        sum -= right[b] * after;
        upper[i] = -upper[b] * after;
      }
      middle[i] = diagonal;
      right[i] = sum;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) right[n - 1] /= middle[n - 1];
  __syncthreads();
  for (int s = n; s >= 2; s /= 2) {
    for (int k = threadIdx.x; k < n / s; k += blockDim.x) {
      const int i = s * k + s / 2 - 1;
      float sum = right[i] - upper[i] * right[i + s / 2];
      if (k > 0) sum -= lower[i] * right[i - s / 2];
      right[i] = sum / middle[i];
    }
    __syncthreads();
  }
  for (int k = threadIdx.x; k < n; k += blockDim.x) out[(size_t)blockIdx.x * n + k] = right[k];
}

// Linear programs by the simplex method: the tableau of a program is in shared memory; a block per program.
__global__ void simplex_tableaux(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
  extern __shared__ float tableau[];
  float* factors = tableau + rows * columns;
  __shared__ int entering, leaving;
  const int t = threadIdx.x, size = rows * columns;
  for (int k = t; k < size; k += blockDim.x) tableau[k] = in[(size_t)blockIdx.x * size + k];
  for (int turn = 0; turn < 100; turn++) {
    __syncthreads();
    if (t < 32) {
      float best = -1e-5f;
      int where = -1;
      for (int c = t; c < columns - 1; c += 32)
        if (tableau[(rows - 1) * columns + c] < best) {
          best = tableau[(rows - 1) * columns + c];
          where = c;
        }
      for (int by = 16; by; by /= 2) {
        const float other = __shfl_xor_sync(ALL_LANES, best, by);
        const int its = __shfl_xor_sync(ALL_LANES, where, by);
        if (other < best || (other == best && its > where)) {
          best = other;
          where = its;
        }
      }
      float least = 1e30f;
      int row = -1;
      for (int r = t; r < rows - 1 && where >= 0; r += 32) {
        const float pivot = tableau[r * columns + where];
        if (pivot > 1e-5f && tableau[(r + 1) * columns - 1] / pivot < least) {
          least = tableau[(r + 1) * columns - 1] / pivot;
          row = r;
        }
      }
      for (int by = 16; by; by /= 2) {
        const float other = __shfl_xor_sync(ALL_LANES, least, by);
        const int its = __shfl_xor_sync(ALL_LANES, row, by);
        if (other < least || (other == least && its > row)) {
          least = other;
          row = its;
        }
      }
      if (t == 0) {
        entering = where;
        leaving = row;
      }
    }
    __syncthreads();
    const int column = entering, row = leaving;
    if (column < 0 || row < 0) break;
    const float scale = 1.0f / tableau[row * columns + column];
    for (int r = t; r < rows; r += blockDim.x) factors[r] = tableau[r * columns + column];
    __syncthreads();
    for (int k = t; k < columns; k += blockDim.x) tableau[row * columns + k] *= scale;
    __syncthreads();
    for (int k = t; k < size; k += blockDim.x)
      if (k / columns != row) tableau[k] -= factors[k / columns] * tableau[row * columns + k % columns];
  }
  if (t == 0) out[blockIdx.x] = tableau[size - 1];
}

// Matrices to triangles by Householder's reflections; a block per matrix, which lies by columns in shared memory.
__global__ void householder_qr(const float* __restrict__ in, float* __restrict__ out, int n) {
  extern __shared__ float columns[];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, warps = blockDim.x / 32, pitch = n + 1;
  for (int k = t; k < n * n; k += blockDim.x) columns[k % n * pitch + k / n] = in[(size_t)blockIdx.x * n * n + k];
  __syncthreads();
  for (int k = 0; k < n - 1; k++) {
    float* v = columns + k * pitch;
    float square = 0.0f;
    for (int r = k + lane; r < n; r += 32) square += v[r] * v[r];
    square = lanes_sum(square);
    const float first = v[k], top = -copysignf(sqrtf(square), first), head = first - top;
    const float scale = 2.0f / (square - first * first + head * head);
    __syncthreads();
    for (int c = k + 1 + warp; c < n; c += warps) {
      float* column = columns + c * pitch;
      float dot = 0.0f;
      for (int r = k + lane; r < n; r += 32) dot += (r == k ? head : v[r]) * column[r];
      dot = lanes_sum(dot) * scale;
      for (int r = k + lane; r < n; r += 32) column[r] -= dot * (r == k ? head : v[r]);
    }
    __syncthreads();
    if (t == 0) v[k] = top;
  }
  __syncthreads();
  for (int k = t; k < n * n; k += blockDim.x)
    out[(size_t)blockIdx.x * n * n + k] = k / n <= k % n ? columns[k % n * pitch + k / n] : 0.0f;
}

// Eigenvalues of symmetric matrices of 16 x 16 by Jacobi's turns, eight pairs at a time; a warp per matrix.
__global__ void jacobi_rotations(const float* __restrict__ in, float* __restrict__ out, int n, int sweeps) {
  extern __shared__ float room[];
  const int lane = threadIdx.x % 32, k = global_id() / 32, pair = lane / 4;
  float *m = room + threadIdx.x / 32 * (16 * 17 + 16), *turns = m + 16 * 17;
  if (k >= n) return;
  for (int e = lane; e < 256; e += 32) m[e / 16 * 17 + e % 16] = in[(size_t)k * 256 + e];
  __syncwarp();
  for (int s = 0; s < 15 * sweeps; s++) {
    const int r = s % 15, p = pair ? (r + pair) % 15 : 15, q = (r - pair + 15) % 15;
    if (lane % 4 == 0) {
      const float off = m[p * 17 + q];
      float cosine = 1.0f, sine = 0.0f;
      if (fabsf(off) > 1e-12f) {
        const float half = (m[q * 17 + q] - m[p * 17 + p]) / (2.0f * off);
        const float tangent = copysignf(1.0f, half) / (fabsf(half) + sqrtf(1.0f + half * half));
        cosine = rsqrtf(1.0f + tangent * tangent);
        sine = tangent * cosine;
      }
      turns[2 * pair] = cosine;
      turns[2 * pair + 1] = sine;
    }
    __syncwarp();
    const float cosine = turns[2 * pair], sine = turns[2 * pair + 1];
#pragma unroll
    for (int e = 0; e < 4; e++) {
      const int c = lane % 4 + 4 * e;
      const float a = m[p * 17 + c], b = m[q * 17 + c];
      m[p * 17 + c] = cosine * a - sine * b;
      m[q * 17 + c] = sine * a + cosine * b;
    }
    __syncwarp();
#pragma unroll
    for (int e = 0; e < 4; e++) {
      const int c = lane % 4 + 4 * e;
      const float a = m[c * 17 + p], b = m[c * 17 + q];
      m[c * 17 + p] = cosine * a - sine * b;
      m[c * 17 + q] = sine * a + cosine * b;
    }
    __syncwarp();
  }
  if (lane < 16) out[(size_t)k * 16 + lane] = m[lane * 18];
}

// Inverses of lower triangles in double precision: a thread per column, a block per matrix.
__global__ void triangular_inverse(const double* __restrict__ in, double* __restrict__ out, int n) {
  extern __shared__ double triangle[];
  double* inverse = triangle + n * n;
  const int t = threadIdx.x;
  for (int k = t; k < n * n; k += blockDim.x) triangle[k] = in[(size_t)blockIdx.x * n * n + k];
  __syncthreads();
  for (int c = t; c < n; c += blockDim.x)
    for (int r = 0; r < n; r++) {
      double sum = r == c ? 1.0 : 0.0;
      for (int k = c; k < r; k++) sum -= triangle[r * n + k] * inverse[k * n + c];
      inverse[r * n + c] = r < c ? 0.0 : sum / triangle[r * n + r];
    }
  __syncthreads();
  for (int k = t; k < n * n; k += blockDim.x) out[(size_t)blockIdx.x * n * n + k] = inverse[k];
}

// Keys and values by Batcher's merges of odd and even places; a block per part of a power of two.
__global__ void batcher_pairs(const u32* __restrict__ keys, const u32* __restrict__ values, uint2* __restrict__ out,
                              int n) {
  extern __shared__ uint2 held[];
  const size_t base = (size_t)blockIdx.x * n;
  for (int x = threadIdx.x; x < n; x += blockDim.x) held[x] = make_uint2(keys[base + x], values[base + x]);
  for (int run = 1; run < n; run *= 2)
    for (int apart = run; apart; apart /= 2) {
      __syncthreads();
      const int from = apart % run;
      for (int x = threadIdx.x; x + apart < n; x += blockDim.x)
        if (x >= from && ((x - from) & apart) == 0 && (x ^ x + apart) < 2 * run) {
          const uint2 a = held[x], b = held[x + apart];
          if (a.x > b.x) {
            held[x] = b;
            held[x + apart] = a;
          }
        }
    }
  __syncthreads();
  for (int x = threadIdx.x; x < n; x += blockDim.x) out[base + x] = held[x];
}

// Bytes of a row in order by counting them; a block per row.
__global__ void counting_sort_rows(const u8* __restrict__ in, u8* __restrict__ out, int n) {
  __shared__ int counts[256], sums[8];
  const int t = threadIdx.x;
  const size_t base = (size_t)blockIdx.x * n;
  for (int k = t; k < 256; k += blockDim.x) counts[k] = 0;
  __syncthreads();
  for (int k = t; k < n; k += blockDim.x) atomicAdd(&counts[in[base + k]], 1);
  __syncthreads();
  int mine = 0, whole = 0;
  if (t < 256) {
    whole = mine = counts[t];
    for (int by = 1; by < 32; by *= 2) {
      const int other = __shfl_up_sync(ALL_LANES, mine, by);
      if (t % 32 >= by) mine += other;
    }
    if (t % 32 == 31) sums[t / 32] = mine;
  }
  __syncthreads();
  if (t < 256) {
    for (int w = 0; w < t / 32; w++) mine += sums[w];
    counts[t] = mine - whole;
  }
  __syncthreads();
  for (int k = t; k < n; k += blockDim.x) {
    const u8 byte = in[base + k];
    out[base + atomicAdd(&counts[byte], 1)] = byte;
  }
}

// Excitable cells of Greenberg and Hastings on a torus of 64 x 64 bytes, which is in shared memory twice; a block per
// world.
__global__ void excitable_cells(const u8* __restrict__ in, u8* __restrict__ out, int kinds, int turns, int least) {
  __shared__ u8 worlds[2][4096];
  const size_t base = (size_t)blockIdx.x * 4096;
  for (int k = threadIdx.x; k < 4096; k += blockDim.x) worlds[0][k] = in[base + k];
  __syncthreads();
  for (int turn = 0; turn < turns; turn++) {
    const u8* now = worlds[turn & 1];
    for (int k = threadIdx.x; k < 4096; k += blockDim.x) {
      const int x = k & 63, y = k & ~63, left = (x + 63) & 63, right = (x + 1) & 63;
      const int up = (y + 4032) & 4095, down = (y + 64) & 4095;
      int next = now[k] ? (now[k] + 1) % kinds : 0;
      if (now[k] == 0) {
        const int near = (now[y | left] == 1) + (now[y | right] == 1) + (now[up | x] == 1) + (now[down | x] == 1);
        next = near >= least;
      }
      worlds[1 - (turn & 1)][k] = next;
    }
    __syncthreads();
  }
  for (int k = threadIdx.x; k < 4096; k += blockDim.x) out[base + k] = worlds[turns & 1][k];
}

// Shock tubes: gas in cells, fluxes by Harten, Lax and van Leer; a block per tube, all steps in shared memory.
__global__ void hll_tubes(const float* __restrict__ in, float* __restrict__ out, int cells, int steps, float ratio) {
  extern __shared__ float gas[];
  float* fluxes = gas + 3 * cells;
  const float* mine = in + (size_t)blockIdx.x * 3 * cells;
  for (int k = threadIdx.x; k < 3 * cells; k += blockDim.x) gas[k] = mine[k];
  __syncthreads();
  for (int s = 0; s < steps; s++) {
    for (int k = threadIdx.x; k < cells - 1; k += blockDim.x) {
      float density[2], moved[2], energy[2], speed[2], pressure[2], sound[2];
#pragma unroll
      for (int h = 0; h < 2; h++) {
        density[h] = gas[k + h];
        moved[h] = gas[cells + k + h];
        energy[h] = gas[2 * cells + k + h];
        speed[h] = moved[h] / density[h];
        pressure[h] = 0.4f * (energy[h] - 0.5f * moved[h] * speed[h]);
        sound[h] = sqrtf(1.4f * pressure[h] / density[h]);
      }
      const float low = fminf(fminf(speed[0] - sound[0], speed[1] - sound[1]), 0.0f);
      const float high = fmaxf(fmaxf(speed[0] + sound[0], speed[1] + sound[1]), 0.0f), scale = 1.0f / (high - low);
      fluxes[k] = (high * moved[0] - low * moved[1] + low * high * (density[1] - density[0])) * scale;
      fluxes[cells + k] = (high * (moved[0] * speed[0] + pressure[0]) - low * (moved[1] * speed[1] + pressure[1]) +
                           low * high * (moved[1] - moved[0])) * scale;
      const float before = (energy[0] + pressure[0]) * speed[0], behind = (energy[1] + pressure[1]) * speed[1];
      fluxes[2 * cells + k] = (high * before - low * behind + low * high * (energy[1] - energy[0])) * scale;
    }
    __syncthreads();
    for (int k = threadIdx.x + 1; k < cells - 1; k += blockDim.x)
#pragma unroll
      for (int part = 0; part < 3; part++)
        gas[part * cells + k] -= ratio * (fluxes[part * cells + k] - fluxes[part * cells + k - 1]);
    __syncthreads();
  }
  for (int k = threadIdx.x; k < 3 * cells; k += blockDim.x) out[(size_t)blockIdx.x * 3 * cells + k] = gas[k];
}

// The cheapest order of a chain of products of matrices: a block per chain, the costs by diagonals.
__global__ void chain_orders(const u8* __restrict__ sides, int* __restrict__ out, int n) {
  extern __shared__ int costs[];
  int* lengths = costs + n * n;
  for (int k = threadIdx.x; k <= n; k += blockDim.x) lengths[k] = sides[(size_t)blockIdx.x * (n + 1) + k] + 1;
  for (int k = threadIdx.x; k < n; k += blockDim.x) costs[k * n + k] = 0;
  for (int apart = 1; apart < n; apart++) {
    __syncthreads();
    for (int i = threadIdx.x; i + apart < n; i += blockDim.x) {
      const int j = i + apart, ends = lengths[i] * lengths[j + 1];
      int best = 0x7fffffff;
      for (int m = i; m < j; m++) best = min(best, costs[i * n + m] + costs[(m + 1) * n + j] + ends * lengths[m + 1]);
      costs[i * n + j] = best;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = costs[n - 1];
}

// ------------------------------------------------------------------------------------------------------------- atomics

// Histograms of the directions of edges in cells of 8 x 8 pixels; a block of (32, 8) has four cells.
__global__ void hog_cells(const u8* __restrict__ in, float* __restrict__ out, int width, int height) {
  __shared__ float bins[4][9];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, t = threadIdx.y * 32 + threadIdx.x;
  if (t < 36) bins[t / 9][t % 9] = 0.0f;
  __syncthreads();
  if (x < width && y < height) {
    const float dx = (float)in[y * width + min(x + 1, width - 1)] - in[y * width + max(x - 1, 0)];
    const float dy = (float)in[min(y + 1, height - 1) * width + x] - in[max(y - 1, 0) * width + x];
    const float size = sqrtf(dx * dx + dy * dy);
    float angle = atan2f(dy, dx) * 0.31830989f;
    angle = 9.0f * (angle < 0.0f ? angle + 1.0f : angle);
    const int low = min((int)angle, 8);
    const float part = angle - low;
    atomicAdd(&bins[threadIdx.x / 8][low], size * (1.0f - part));
    atomicAdd(&bins[threadIdx.x / 8][low == 8 ? 0 : low + 1], size * part);
  }
  __syncthreads();
  if (t < 36 && blockIdx.x * 4 + t / 9 < (width + 7) / 8)
    out[(blockIdx.y * ((width + 7) / 8) + blockIdx.x * 4 + t / 9) * 9 + t % 9] = bins[t / 9][t % 9];
}

// How many edges come in and go out at each node.
__global__ void edge_degrees(const int2* __restrict__ edges, int* in_degrees, int* out_degrees, int n) {
  for (int k = global_id(); k < n; k += gridDim.x * blockDim.x) {
    const int2 edge = edges[k];
    atomicAdd(&out_degrees[edge.x], 1);
    atomicAdd(&in_degrees[edge.y], 1);
  }
}

// Products of numbers per group, by compare and swap.
__global__ void cas_products(const int* __restrict__ groups, const float* __restrict__ factors, int* products, int n) {
  const int k = global_id();
  if (k >= n) return;
  int* const to = &products[groups[k]];
  const float factor = factors[k];
  int seen = *(volatile int*)to, before;
  do {
    before = seen;
    const float held = before ? __int_as_float(before) : 1.0f;
    seen = atomicCAS(to, before, __float_as_int(held * factor));
  } while (seen != before);
}

// Points into cells of a grid: the sum of their places and their number per cell.
__global__ void voxel_centroids(const float* __restrict__ points, float* cells, int n, int side, float scale) {
  const int k = global_id();
  if (k >= n) return;
  const float x = points[k], y = points[n + k], z = points[2 * n + k];
  const int a = min(max((int)(x * scale), 0), side - 1), b = min(max((int)(y * scale), 0), side - 1);
  const int c = min(max((int)(z * scale), 0), side - 1);
  float* const cell = cells + 4 * ((c * side + b) * side + a);
  atomicAdd(cell, x);
  atomicAdd(cell + 1, y);
  atomicAdd(cell + 2, z);
  atomicAdd(cell + 3, 1.0f);
}

// Boxes sorted by their left sides: with how many of those behind it each one overlaps.
__global__ void sweep_and_prune(const float4* __restrict__ boxes, const float2* __restrict__ heights,
                                int* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const float4 mine = boxes[k];
  const float2 tall = heights[k];
  int found = 0;
  for (int j = k + 1; j < n; j++) {
    const float4 other = boxes[j];
    if (other.x > mine.y) break;
    if (other.z <= mine.w && mine.z <= other.w) {
      const float2 its = heights[j];
      found += its.x <= tall.y && tall.x <= its.y;
    }
  }
  out[k] = found;
}

// ----------------------------------------------------------------------------------------- ways apart and local arrays

// Sudokus by trying digits in order, with masks of rows, columns and boxes; a thread per puzzle.
__global__ void sudoku_fill(const u8* __restrict__ puzzles, u8* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  u8 cells[81], open[81];
  u16 rows[9] = {}, columns[9] = {}, boxes[9] = {};
  int count = 0;
  for (int c = 0; c < 81; c++) {
    cells[c] = puzzles[(size_t)c * n + k];
    if (cells[c] == 0) {
      open[count++] = c;
      continue;
    }
    const u16 bit = 1 << cells[c];
    rows[c / 9] |= bit;
    columns[c % 9] |= bit;
    boxes[c / 27 * 3 + c % 9 / 3] |= bit;
  }
  int at = 0;
  while (at >= 0 && at < count) {
    const int c = open[at], r = c / 9, q = c % 9, b = c / 27 * 3 + q / 3, digit = cells[c];
    if (digit) {
      const u16 others = ~(1 << digit);
      rows[r] &= others;
      columns[q] &= others;
      boxes[b] &= others;
    }
    const int left = ~(rows[r] | columns[q] | boxes[b]) & (0x3fe & -(2 << digit));
    if (left) {
      const int next = __ffs(left) - 1;
      cells[c] = next;
      rows[r] |= 1 << next;
      columns[q] |= 1 << next;
      boxes[b] |= 1 << next;
      at++;
    } else {
      cells[c] = 0;
      at--;
    }
  }
  for (int c = 0; c < 81; c++) out[(size_t)c * n + k] = cells[c];
}

// Whether names match patterns with * and ?; both end with a zero.
__global__ void glob_matches(const u8* __restrict__ patterns, const u8* __restrict__ names, u8* __restrict__ out, int n,
                             int kinds, int pitch) {
  const int k = global_id();
  if (k >= n) return;
  const u8 *p = patterns + k % kinds * pitch, *s = names + (size_t)k * pitch, *star = nullptr, *after = s;
  bool same = true;
  while (*s) {
    if (*p == '*') {
      star = ++p;
      after = s;
    } else if (*p == '?' || *p == *s) {
      p++;
      s++;
    } else if (star) {
      p = star;
      s = ++after;
    } else {
      same = false;
      break;
    }
  }
  while (same && *p == '*') p++;
  out[k] = same && *p == 0;
}

__constant__ int roman_values[13] = {1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1};
__constant__ char roman_signs[13][2] = {{'M', 0}, {'C', 'M'}, {'D', 0}, {'C', 'D'}, {'C', 0}, {'X', 'C'}, {'L', 0},
                                        {'X', 'L'}, {'X', 0}, {'I', 'X'}, {'V', 0}, {'I', 'V'}, {'I', 0}};

// Numbers below 4000 as Roman ones, 16 letters of room each.
__global__ void roman_numerals(const int* __restrict__ in, char* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  char* to = out + (size_t)k * 16;
  int rest = in[k];
  for (int s = 0; s < 13; s++)
    while (rest >= roman_values[s]) {
      rest -= roman_values[s];
      *to++ = roman_signs[s][0];
      if (roman_signs[s][1]) *to++ = roman_signs[s][1];
    }
  while (to < out + (size_t)k * 16 + 16) *to++ = 0;
}

// How alike two names of at most 32 letters are, by Jaro; the letters that match are bits.
__global__ void jaro_pairs(const u8* __restrict__ names, const int* __restrict__ lengths,
                           const int2* __restrict__ pairs, float* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const u8 *a = names + 32 * pairs[k].x, *b = names + 32 * pairs[k].y;
  const int long_a = lengths[pairs[k].x], long_b = lengths[pairs[k].y], reach = max(max(long_a, long_b) / 2 - 1, 0);
  u32 met_a = 0, met_b = 0;
  for (int i = 0; i < long_a; i++)
    for (int j = max(i - reach, 0); j <= min(i + reach, long_b - 1); j++)
      if (a[i] == b[j] && !(met_b >> j & 1)) {
        met_a |= 1u << i;
        met_b |= 1u << j;
        break;
      }
  const int met = __popc(met_a);
  int crossed = 0;
  while (met_a) {
    crossed += a[__ffs(met_a) - 1] != b[__ffs(met_b) - 1];
    met_a &= met_a - 1;
    met_b &= met_b - 1;
  }
  const float m = met;
  out[k] = met ? (m / long_a + m / long_b + (m - crossed / 2) / m) / 3.0f : 0.0f;
}

// The convex hulls of sets of `count` points, sorted by x: number of corners and twice the area.
__global__ void hull_sizes(const short2* __restrict__ points, int2* __restrict__ out, int n, int count) {
  const int k = global_id();
  if (k >= n) return;
  short2 hull[66];
  int top = 0, area = 0;
  for (int side = 0; side < 2; side++) {
    const int bottom = side ? top : 1;
    for (int j = side; j < count; j++) {
      const short2 p = points[(size_t)(side ? count - 1 - j : j) * n + k];
      while (top > bottom) {
        const short2 a = hull[top - 2], b = hull[top - 1];
        if ((b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x) > 0) break;
        top--;
      }
      hull[top++] = p;
    }
  }
  for (int j = 0; j + 1 < top; j++) area += hull[j].x * hull[j + 1].y - hull[j].y * hull[j + 1].x;
  out[k] = make_int2(top - 1, area);
}

// The shortest ways from the first of 16 places to all others: Dijkstra, a thread per network.
__global__ void dijkstra_small(const u8* __restrict__ lengths, int* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  int away[16], sum = 0;
  for (int v = 0; v < 16; v++) away[v] = v ? 1 << 20 : 0;
  u32 open = 0xffff;
  while (open) {
    int nearest = -1;
    for (u32 left = open; left; left &= left - 1) {
      const int v = __ffs(left) - 1;
      if (nearest < 0 || away[v] < away[nearest]) nearest = v;
    }
    open &= ~(1u << nearest);
    const int reached = away[nearest];
    sum += reached;
    for (u32 left = open; left; left &= left - 1) {
      const int v = __ffs(left) - 1;
      away[v] = min(away[v], reached + lengths[(size_t)(16 * nearest + v) * n + k] + 1);
    }
  }
  out[k] = sum;
}

// The 16 smallest numbers of each column, in a heap with the greatest one on top.
__global__ void k_smallest_heaps(const int* __restrict__ in, int* __restrict__ out, int n, int length) {
  const int k = global_id();
  if (k >= n) return;
  int heap[16];
  for (int j = 0; j < 16; j++) heap[j] = 0x7fffffff;
  for (int r = 0; r < length; r++) {
    const int value = in[(size_t)r * n + k];
    if (value >= heap[0]) continue;
    int at = 0;
    while (2 * at + 1 < 16) {
      int child = 2 * at + 1;
      if (child + 1 < 16 && heap[child + 1] > heap[child]) child++;
      if (heap[child] <= value) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = value;
  }
  for (int j = 0; j < 16; j++) out[(size_t)j * n + k] = heap[j];
}

// Walks on a grid that avoid where they were, until they are stuck or leave a square of 32 x 32.
__global__ void self_avoiding_walks(int* __restrict__ out, int n, u32 seed) {
  const int k = global_id();
  if (k >= n) return;
  Dice dice{hashed(k ^ seed)};
  u32 visited[32] = {};
  int x = 16, y = 16, steps = 0;
  while (true) {
    visited[y] |= 1u << x;
    if (x == 0 || x == 31 || y == 0 || y == 31) break;
    int free[4], count = 0;
    for (int d = 0; d < 4; d++) {
      const int a = x + (d == 0) - (d == 1), b = y + (d == 2) - (d == 3);
      if (!(visited[b] >> a & 1)) free[count++] = d;
    }
    if (count == 0) break;
    const int d = free[dice.below(count)];
    x += (d == 0) - (d == 1);
    y += (d == 2) - (d == 3);
    steps++;
  }
  out[k] = steps;
}

// Seeds of two strands made longer on both sides until the score drops too much below the best one.
__global__ void xdrop_extend(const u8* __restrict__ a, const u8* __restrict__ b, const int2* __restrict__ seeds,
                             int* __restrict__ out, int n, int size_a, int size_b, int drop) {
  const int k = global_id();
  if (k >= n) return;
  const int2 seed = seeds[k];
  int sum = 0;
  for (int side = 0; side < 2; side++) {
    int score = 0, best = 0, i = seed.x - side, j = seed.y - side;
    while (i >= 0 && j >= 0 && i < size_a && j < size_b && score >= best - drop) {
      score += a[i] == b[j] ? 5 : -4;
      best = max(best, score);
      i += side ? -1 : 1;
      j += side ? -1 : 1;
    }
    sum += best;
  }
  out[k] = sum;
}

// Hands of seven cards at random: how often each of the nine kinds comes.
__global__ void poker_hands(int* kinds, int hands, u32 seed) {
  __shared__ int counts[9];
  if (threadIdx.x < 9) counts[threadIdx.x] = 0;
  __syncthreads();
  for (int k = global_id(); k < hands; k += gridDim.x * blockDim.x) {
    Dice dice{hashed(k ^ seed)};
    u64 taken = 0;
    u32 suits[4] = {}, ones = 0, twos = 0, threes = 0, fours = 0;
    for (int c = 0; c < 7; c++) {
      int card = dice.below(52);
      while (taken >> card & 1) card = dice.below(52);
      taken |= 1ull << card;
      const u32 bit = 1u << card % 13;
      const int suit = card / 13;
#pragma unroll
      for (int s = 0; s < 4; s++)
        if (s == suit) suits[s] |= bit;
      fours |= threes & bit;
      threes |= twos & bit;
      twos |= ones & bit;
      ones |= bit;
    }
    u32 flush = 0;
#pragma unroll
    for (int s = 0; s < 4; s++)
      if (__popc(suits[s]) >= 5) flush = suits[s];
    const u32 ring = ones << 1 | ones >> 12, round = flush << 1 | flush >> 12;
    const bool straight = ring & ring >> 1 & ring >> 2 & ring >> 3 & ring >> 4;
    const bool both = round & round >> 1 & round >> 2 & round >> 3 & round >> 4;
    int kind = 0;
    if (both)
      kind = 8;
    else if (fours)
      kind = 7;
    else if (threes && __popc(twos) >= 2)
      kind = 6;
    else if (flush)
      kind = 5;
    else if (straight)
      kind = 4;
    else if (threes)
      kind = 3;
    else if (twos)
      kind = min(__popc(twos), 2);
    atomicAdd(&counts[kind], 1);
  }
  __syncthreads();
  if (threadIdx.x < 9) atomicAdd(&kinds[threadIdx.x], counts[threadIdx.x]);
}

// Where a player of Reversi may move, in boards of 64 bits.
__global__ void reversi_moves(const u64* __restrict__ mine, const u64* __restrict__ theirs, u64* __restrict__ out,
                              int n) {
  const int k = global_id();
  if (k >= n) return;
  const u64 own = mine[k] & ~theirs[k], other = theirs[k], empty = ~(own | other);
  u64 moves = 0;
#pragma unroll
  for (int d = 0; d < 8; d++) {
    const int by[4] = {1, 8, 9, 7};
    const u64 keep = d % 4 == 1 ? ~0ull : (d % 4 == 3) != (d >= 4) ? 0x7f7f7f7f7f7f7f7full : 0xfefefefefefefefeull;
    u64 run = own;
#pragma unroll
    for (int s = 0; s < 7; s++) {
      run = (d < 4 ? run << by[d % 4] : run >> by[d % 4]) & keep;
      if (s) moves |= run & empty;
      run &= other;
    }
  }
  out[k] = moves;
}

// ---------------------------------------------------------------------------------------------------------------- code

__device__ __forceinline__ float cosine_of(int k, int n) {
  // For constants the compiler does all of it.
  const double x = 6.283185307179586 * k / n, s = x * x;
  const double rest = 1 - s / 132 * (1 - s / 182 * (1 - s / 240 * (1 - s / 306)));
  return 1 - s / 2 * (1 - s / 12 * (1 - s / 30 * (1 - s / 56 * (1 - s / 90 * rest))));
}

__device__ __forceinline__ float sine_of(int k, int n) { return cosine_of(4 * k - n, 4 * n); }

// Transforms of N complex numbers in registers, with all steps in one straight piece of code; a thread per transform.
template <int N>
__global__ void fft_registers(const float2* __restrict__ in, float2* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  float x[N], y[N];
#pragma unroll
  for (int j = 0; j < N; j++) {
    int reversed = 0;
#pragma unroll
    for (int b = 1; b < N; b *= 2) reversed = 2 * reversed + (j & b ? 1 : 0);
    const float2 v = in[(size_t)reversed * n + k];
    x[j] = v.x;
    y[j] = v.y;
  }
#pragma unroll
  for (int half = 1; half < N; half *= 2)
#pragma unroll
    for (int j = 0; j < N; j++)
      if (!(j & half)) {
        const float c = cosine_of(j % half, 2 * half), s = -sine_of(j % half, 2 * half);
        const float u = c * x[j + half] - s * y[j + half], v = c * y[j + half] + s * x[j + half];
        x[j + half] = x[j] - u;
        y[j + half] = y[j] - v;
        x[j] += u;
        y[j] += v;
      }
#pragma unroll
  for (int j = 0; j < N; j++) out[(size_t)j * n + k] = make_float2(x[j], y[j]);
}

// R reactions between twelve substances, which the compiler knows: a step is one straight piece of code.
template <int R>
__global__ void mass_action(const float* __restrict__ start, const float* __restrict__ rates, float* __restrict__ out,
                            int n, int steps, float dt) {
  const int k = global_id();
  if (k >= n) return;
  float amounts[12];
#pragma unroll
  for (int s = 0; s < 12; s++) amounts[s] = start[(size_t)s * n + k];
#pragma unroll 1
  for (int t = 0; t < steps; t++) {
    float change[12] = {};
#pragma unroll
    for (int r = 0; r < R; r++) {
      const int a = (5 * r + 1) % 12, b = (7 * r + r / 12 + 3) % 12, c = (11 * r + r / 5 + 2) % 12;
      const float rate = rates[r] * amounts[a] * amounts[b];
      change[a] -= rate;
      change[b] -= rate;
      change[c] += 2.0f * rate;
    }
#pragma unroll
    for (int s = 0; s < 12; s++) amounts[s] += dt * change[s];
  }
#pragma unroll
  for (int s = 0; s < 12; s++) out[(size_t)s * n + k] = amounts[s];
}

// ------------------------------------------------------------------------------------------------- rows, votes, copies

// The majority of 32 vectors of bits per group: a warp has a word of all of them, and a ballot per bit.
__global__ void bundle_hypervectors(const u32* __restrict__ in, u32* __restrict__ out, int groups, int words) {
  const int k = global_id() / 32, lane = threadIdx.x % 32;
  if (k >= groups * words) return;
  const u32 word = in[((size_t)(k / words) * 32 + lane) * words + k % words];
  u32 found = 0;
#pragma unroll
  for (int b = 0; b < 32; b++) {
    const u32 votes = __ballot_sync(ALL_LANES, word >> b & 1);
    if (__popc(votes) > 16) found |= 1u << b;
  }
  if (lane == 0) out[k] = found;
}

// Visits of users, from the times of their clicks: how many there are and how many clicks the longest one has.
__global__ void session_lengths(const int* __restrict__ times, const int* __restrict__ starts, int2* __restrict__ out,
                                int users, int pause) {
  const int k = global_id() / 32, lane = threadIdx.x % 32;
  if (k >= users) return;
  const int first = starts[k], end = starts[k + 1];
  int count = 0, longest = 0, begun = first;
  for (int base = first; base < end; base += 32) {
    const int e = base + lane;
    const bool begins = e < end && (e == first || times[e] - times[e - 1] > pause);
    const u32 flags = __ballot_sync(ALL_LANES, begins), below = flags & ((1u << lane) - 1);
    count += __popc(flags);
    const int from = below ? base + 31 - __clz(below) : begun;
    if (begins) longest = max(longest, e - from);
    if (flags) begun = base + 31 - __clz(flags);
  }
  longest = __reduce_max_sync(ALL_LANES, max(longest, end - begun));
  if (lane == 0) out[k] = make_int2(count, end > first ? longest : 0);
}

// A matrix times a vector: each warp copies its row ahead into shared memory, four pieces of 512 bytes.
__global__ void async_gemv(const float4* __restrict__ matrix, const float4* __restrict__ vector,
                           float* __restrict__ out, int rows, int quads) {
  extern __shared__ float4 pieces[];
  const int lane = threadIdx.x % 32, row = global_id() / 32, count = quads / 32;
  float4* mine = pieces + threadIdx.x / 32 * 128 + lane;
  if (row >= rows) return;
  const float4* from = matrix + (size_t)row * quads + lane;
#pragma unroll
  for (int s = 0; s < 3; s++) {
    if (s < count) __pipeline_memcpy_async(mine + 32 * s, from + 32 * s, 16);
    __pipeline_commit();
  }
  float sum = 0.0f;
  for (int s = 0; s < count; s++) {
    if (s + 3 < count) __pipeline_memcpy_async(mine + 32 * ((s + 3) % 4), from + 32 * (s + 3), 16);
    __pipeline_commit();
    __pipeline_wait_prior(3);
    const float4 a = mine[32 * (s % 4)], b = vector[32 * s + lane];
    sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  }
  sum = lanes_sum(sum);
  if (lane == 0) out[row] = sum;
}

// Counts of bytes: tiles arrive by asynchronous copies while the last one is counted in shared memory.
__global__ void async_byte_bins(const uint4* __restrict__ in, u32* bins, int tiles) {
  extern __shared__ uint4 staged[];
  __shared__ u32 counts[256];
  const int t = threadIdx.x;
  for (int k = t; k < 256; k += blockDim.x) counts[k] = 0;
  int tile = blockIdx.x;
  if (tile < tiles) __pipeline_memcpy_async(&staged[t], &in[(size_t)tile * blockDim.x + t], 16);
  __pipeline_commit();
  __syncthreads();
  for (int turn = 0; tile < tiles; tile += gridDim.x, turn ^= 1) {
    const int next = tile + gridDim.x;
    if (next < tiles)
      __pipeline_memcpy_async(&staged[(1 - turn) * blockDim.x + t], &in[(size_t)next * blockDim.x + t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    const uint4 v = staged[turn * blockDim.x + t];
    const u32 words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int w = 0; w < 4; w++)
#pragma unroll
      for (int b = 0; b < 32; b += 8) atomicAdd(&counts[words[w] >> b & 255], 1u);
  }
  __syncthreads();
  for (int k = t; k < 256; k += blockDim.x)
    if (counts[k]) atomicAdd(&bins[k], counts[k]);
}

// Sparsemax of rows of 128 numbers: a warp finds the threshold by halving.
__global__ void sparsemax_rows(const float4* __restrict__ in, float4* __restrict__ out, int rows) {
  const int row = global_id() / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float4 v = in[(size_t)row * 32 + lane];
  float most = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
#pragma unroll
  for (int by = 1; by < 32; by *= 2) most = fmaxf(most, __shfl_xor_sync(ALL_LANES, most, by));
  float low = most - 1.0f, high = most;
  for (int s = 0; s < 24; s++) {
    const float middle = 0.5f * (low + high);
    const float sum = lanes_sum(fmaxf(v.x - middle, 0.0f) + fmaxf(v.y - middle, 0.0f) + fmaxf(v.z - middle, 0.0f) +
                                fmaxf(v.w - middle, 0.0f));
    if (sum > 1.0f)
      low = middle;
    else
      high = middle;
  }
  out[(size_t)row * 32 + lane] =
      make_float4(fmaxf(v.x - low, 0.0f), fmaxf(v.y - low, 0.0f), fmaxf(v.z - low, 0.0f), fmaxf(v.w - low, 0.0f));
}

// Sum, best sum from the left, best sum to the right, best sum of any run.
__device__ __forceinline__ int4 joined(int4 a, int4 b) {
  return make_int4(a.x + b.x, max(a.y, a.x + b.y), max(b.z, b.x + a.z), max(max(a.w, b.w), a.z + b.y));
}

// The greatest sum of neighbours in each series; a block per series, a piece per thread.
__global__ void best_runs(const int* __restrict__ in, int* __restrict__ out, int length) {
  __shared__ int4 parts[32];
  const int t = threadIdx.x, each = (length + blockDim.x - 1) / blockDim.x, end = min((t + 1) * each, length);
  const int* series = in + (size_t)blockIdx.x * length;
  int4 mine = make_int4(0, 0, 0, 0);
  for (int k = t * each; k < end; k++) {
    const int v = series[k], high = max(v, 0);
    mine = joined(mine, make_int4(v, high, high, high));
  }
#pragma unroll
  for (int by = 1; by < 32; by *= 2) {
    const int4 other = make_int4(__shfl_down_sync(ALL_LANES, mine.x, by), __shfl_down_sync(ALL_LANES, mine.y, by),
                                 __shfl_down_sync(ALL_LANES, mine.z, by), __shfl_down_sync(ALL_LANES, mine.w, by));
    mine = joined(mine, other);
  }
  if (t % 32 == 0) parts[t / 32] = mine;
  __syncthreads();
  if (t == 0) {
    for (int w = 1; w < (int)blockDim.x / 32; w++) mine = joined(mine, parts[w]);
    out[blockIdx.x] = mine.w;
  }
}

// Means of samples that are drawn again: each thread draws as many numbers as there are, from shared memory.
__global__ void bootstrap_means(const float* __restrict__ sample, float* __restrict__ out, int n, int size, u32 seed) {
  extern __shared__ float drawn_from[];
  for (int k = threadIdx.x; k < size; k += blockDim.x) drawn_from[k] = sample[k];
  __syncthreads();
  const int k = global_id();
  if (k >= n) return;
  Dice dice{hashed(k ^ seed)};
  float sum = 0.0f;
  for (int d = 0; d < size; d++) sum += drawn_from[dice.below(size)];
  out[k] = sum / size;
}

// Pairs that two rankings order alike, less those they do not: tiles of one list against all of it.
__global__ void kendall_counts(const int2* __restrict__ ranks, int* total, int n) {
  extern __shared__ int2 tile[];
  const int k = global_id(), t = threadIdx.x;
  const int2 mine = k < n ? ranks[k] : make_int2(0, 0);
  int sum = 0;
  for (int base = 0; base < n; base += blockDim.x) {
    __syncthreads();
    if (base + t < n) tile[t] = ranks[base + t];
    __syncthreads();
    for (int j = 0; j < min((int)blockDim.x, n - base); j++) {
      const int2 other = tile[j];
      sum += ((other.x > mine.x) - (other.x < mine.x)) * ((other.y > mine.y) - (other.y < mine.y));
    }
  }
  sum = __reduce_add_sync(ALL_LANES, k < n ? sum : 0);
  if (t % 32 == 0) atomicAdd(total, sum);
}

// ------------------------------------------------------------------------------------------------------------ pictures

// A convolution along time whose three taps are `apart`, 32 channels in and out; a thread has a channel at 8 times.
__global__ void dilated_conv(const float* __restrict__ in, const float* __restrict__ weights, float* __restrict__ out,
                             int n, int apart) {
  __shared__ float taps[3][32][32];
  for (int k = threadIdx.x; k < 3072; k += blockDim.x) taps[k / 1024][k / 32 % 32][k % 32] = weights[k];
  __syncthreads();
  const int lane = threadIdx.x % 32, first = global_id() / 32 * 8;
  float sums[8] = {};
  for (int tap = 0; tap < 3; tap++)
    for (int c = 0; c < 32; c++) {
      const float w = taps[tap][c][lane];
#pragma unroll
      for (int j = 0; j < 8; j++) {
        const int at = first + j - tap * apart;
        if (at >= 0 && at < n) sums[j] += w * in[(size_t)at * 32 + c];
      }
    }
#pragma unroll
  for (int j = 0; j < 8; j++)
    if (first + j < n) out[(size_t)(first + j) * 32 + lane] = tanhf(sums[j]);
}

// The brightest pixel within a disc; tiles of bytes with their surroundings in shared memory.
__global__ void dilate_disc(const u8* __restrict__ in, u8* __restrict__ out, int width, int height, int radius) {
  extern __shared__ u8 pixels[];
  const int across = blockDim.x + 2 * radius, down = blockDim.y + 2 * radius;
  const int left = blockIdx.x * blockDim.x - radius, top = blockIdx.y * blockDim.y - radius;
  for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < across * down; k += blockDim.x * blockDim.y) {
    const int x = min(max(left + k % across, 0), width - 1), y = min(max(top + k / across, 0), height - 1);
    pixels[k] = in[y * width + x];
  }
  __syncthreads();
  const int x = left + radius + threadIdx.x, y = top + radius + threadIdx.y;
  if (x >= width || y >= height) return;
  int most = 0;
  for (int dy = -radius; dy <= radius; dy++)
    for (int dx = -radius; dx <= radius; dx++)
      if (dx * dx + dy * dy <= radius * radius)
        most = max(most, (int)pixels[(threadIdx.y + radius + dy) * across + threadIdx.x + radius + dx]);
  out[y * width + x] = most;
}

// A field moves along with a flow: look back where each cell came from.
__global__ void advect_field(const float* __restrict__ field, const float2* __restrict__ flow, float* __restrict__ out,
                             int width, int height, float dt) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float2 speed = flow[y * width + x];
  const float px = fminf(fmaxf(x - dt * speed.x, 0.0f), width - 1.001f);
  const float py = fminf(fmaxf(y - dt * speed.y, 0.0f), height - 1.001f);
  const int a = (int)px, b = (int)py;
  const float u = px - a, v = py - b, *from = field + b * width + a;
  out[y * width + x] = (1.0f - v) * ((1.0f - u) * from[0] + u * from[1]) +
                       v * ((1.0f - u) * from[width] + u * from[width + 1]);
}

// Waves in a solid: the stresses a step later, from the speeds on a staggered grid.
__global__ void elastic_stress(const float* __restrict__ vx, const float* __restrict__ vy,
                               const float* __restrict__ stress, float* __restrict__ out, int width, int height,
                               float stiff, float shear) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int k = y * width + x, plane = width * height;
  const int left = x ? k - 1 : k, right = x + 1 < width ? k + 1 : k;
  const int up = y ? k - width : k, down = y + 1 < height ? k + width : k;
  const float dx = vx[k] - vx[left], dy = vy[k] - vy[up], turn = vx[down] - vx[k] + vy[right] - vy[k];
  out[k] = stress[k] + stiff * (dx + dy) + 2.0f * shear * dx;
  out[plane + k] = stress[plane + k] + stiff * (dx + dy) + 2.0f * shear * dy;
  out[2 * plane + k] = stress[2 * plane + k] + shear * turn;
}

// A residual with dropout: the noise is a hash of the place.
__global__ void dropout_add(const float4* __restrict__ residual, const float4* __restrict__ in,
                            float4* __restrict__ out, int n, u32 keep, float scale, u32 seed) {
  for (int k = global_id(); k < n; k += gridDim.x * blockDim.x) {
    float4 r = residual[k];
    const float4 v = in[k];
    const u32 noise = hashed(k ^ seed);
    if ((noise & 255) < keep) r.x += scale * v.x;
    if ((noise >> 8 & 255) < keep) r.y += scale * v.y;
    if ((noise >> 16 & 255) < keep) r.z += scale * v.z;
    if (noise >> 24 < keep) r.w += scale * v.w;
    out[k] = r;
  }
}

// Rows between two numbers, zone by zone: a block leaves at once if the zone's least and greatest number exclude them.
__global__ void zone_filter(const int* __restrict__ rows, const int2* __restrict__ zones, int* count, int each, int low,
                            int high) {
  const int2 zone = zones[blockIdx.x];
  if (zone.y < low || zone.x > high) return;
  const int* mine = rows + (size_t)blockIdx.x * each;
  int found = 0;
  for (int k = threadIdx.x; k < each; k += blockDim.x) found += mine[k] >= low && mine[k] <= high;
  found = __reduce_add_sync(ALL_LANES, found);
  if (threadIdx.x % 32 == 0 && found) atomicAdd(count, found);
}

// Channels to pixels: a picture that is `times` as wide and as high.
__global__ void pixel_shuffle(const float* __restrict__ in, float* __restrict__ out, int width, int height, int times) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.z;
  if (x >= width * times || y >= height * times) return;
  const int plane = (c * times + y % times) * times + x % times;
  const size_t from = ((size_t)plane * height + y / times) * width + x / times;
  out[((size_t)c * height * times + y) * width * times + x] = in[from];
}
