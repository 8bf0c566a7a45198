// Kernels for tests/hardware/twelfth_cases.py: other ones than those of the eleven sets before, as programs have them.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define FULL 0xffffffffu

__device__ __forceinline__ int thread_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ u32 scrambled(u32 h) {
  h = (h ^ h >> 17) * 0xed5ad4bbu;
  h = (h ^ h >> 11) * 0xac4c1b51u;
  return h ^ h >> 15;
}

// A number between 0 and 1; the state moves on.
__device__ __forceinline__ float chance(u32& state) {
  state = state * 1664525u + 1013904223u;
  return ((state >> 9) + 0.5f) * 1.1920929e-7f;
}

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(FULL, value, step);
  return value;
}

__device__ __forceinline__ float warp_max(float value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(FULL, value, step));
  return value;
}

// The sum over the block; `parts` has a place per warp.
__device__ __forceinline__ float block_sum(float value, float* parts) {
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
  for (int w = 0; w < (int)blockDim.x / 32; w++) sum += parts[w];
  __syncthreads();
  return sum;
}

// ------------------------------------------------------------------------------------------------------------- graphs

// Attention in a graph network: a warp per node, a feature per lane, the softmax over the edges in one pass.
__global__ void gat_softmax(const int* __restrict__ starts, const int* __restrict__ members,
                            const float* __restrict__ sources, const float* __restrict__ targets,
                            const float* __restrict__ features, float* __restrict__ out, int nodes) {
  const int v = thread_id() / 32, lane = threadIdx.x % 32;
  if (v >= nodes) return;
  const int begin = starts[v], end = starts[v + 1];
  const float mine = targets[v];
  float top = -1e30f, sum = 0.0f, mixed = 0.0f;
  for (int base = begin; base < end; base += 32) {
    const int e = base + lane, from = e < end ? members[e] : 0;
    float score = -1e30f;
    if (e < end) {
      score = sources[from] + mine;
      score = score > 0.0f ? score : 0.2f * score;
    }
    const float highest = fmaxf(top, warp_max(score)), share = e < end ? __expf(score - highest) : 0.0f;
    const float before = __expf(top - highest);
    sum = sum * before + warp_sum(share);
    mixed *= before;
    const int count = min(32, end - base);
    for (int k = 0; k < count; k++)
      mixed += __shfl_sync(FULL, share, k) * features[__shfl_sync(FULL, from, k) * 32 + lane];
    top = highest;
  }
  out[v * 32 + lane] = sum > 0.0f ? mixed / sum : 0.0f;
}

// One round of a search for cores: the neighbours of removed nodes lose an edge; who falls to k is removed next.
__global__ void peel_core(const int* __restrict__ starts, const int* __restrict__ members,
                          const int* __restrict__ removed, int* degrees, int* next, int* count, int n, int k) {
  const int i = thread_id();
  if (i >= n) return;
  const int v = removed[i];
  for (int e = starts[v]; e < starts[v + 1]; e++) {
    const int u = members[e];
    if (atomicSub(&degrees[u], 1) == k + 1) next[atomicAdd(count, 1)] = u;
  }
}

// The way back of Brandes's method at one depth: each node gets its share from the neighbours one step further.
__global__ void brandes_back(const int* __restrict__ starts, const int* __restrict__ members,
                             const u8* __restrict__ depths, const float* __restrict__ paths,
                             const float* __restrict__ before, float* __restrict__ out, int nodes) {
  const int v = thread_id();
  if (v >= nodes) return;
  const int deeper = depths[v] + 1;
  float sum = 0.0f;
  for (int e = starts[v]; e < starts[v + 1]; e++) {
    const int u = members[e];
    if (depths[u] == deeper) sum += (1.0f + before[u]) / paths[u];
  }
  out[v] = paths[v] * sum;
}

// A sparse matrix with the same number of elements in each row, in columns, times four vectors.
__global__ void ell_times_four(const int* __restrict__ columns, const float* __restrict__ values,
                               const float4* __restrict__ x, float4* __restrict__ y, int rows, int width) {
  const int r = thread_id();
  if (r >= rows) return;
  float4 sum = make_float4(0, 0, 0, 0);
  for (int k = 0; k < width; k++) {
    const float a = values[k * rows + r];
    const float4 v = x[columns[k * rows + r]];
    sum.x += a * v.x;
    sum.y += a * v.y;
    sum.z += a * v.z;
    sum.w += a * v.w;
  }
  y[r] = sum;
}

// --------------------------------------------------------------------------------------------------- language models

// A matrix of bytes times a vector of bytes, with a scale per 32 elements of both: a warp per row.
__global__ void q8_dot_rows(const int* __restrict__ matrix, const float* __restrict__ scales,
                            const int* __restrict__ x, const float* __restrict__ x_scales, float* __restrict__ y,
                            int rows, int groups) {
  const int r = thread_id() / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int w = lane; w < 8 * groups; w += 32)
    sum += scales[r * groups + w / 8] * x_scales[w / 8] * __dp4a(matrix[r * 8 * groups + w], x[w], 0);
  sum = warp_sum(sum);
  if (lane == 0) y[r] = sum;
}

// The gradients of a layer norm: a warp per row and, for the weights, sums in shared memory.
__global__ void norm_backward(const float* __restrict__ gradients, const float* __restrict__ x,
                              const float* __restrict__ weights, float* __restrict__ dx, float* dweights, int rows,
                              int width) {
  extern __shared__ float weight_sums[];
  for (int c = threadIdx.x; c < width; c += blockDim.x) weight_sums[c] = 0.0f;
  __syncthreads();
  const int lane = threadIdx.x % 32;
  for (int r = thread_id() / 32; r < rows; r += gridDim.x * blockDim.x / 32) {
    const float* row = x + (size_t)r * width;
    const float* up = gradients + (size_t)r * width;
    float sum = 0.0f, squares = 0.0f;
    for (int c = lane; c < width; c += 32) {
      sum += row[c];
      squares += row[c] * row[c];
    }
    const float mean = warp_sum(sum) / width;
    const float scale = rsqrtf(warp_sum(squares) / width - mean * mean + 1e-5f);
    float plain = 0.0f, along = 0.0f;
    for (int c = lane; c < width; c += 32) {
      const float g = up[c] * weights[c];
      plain += g;
      along += g * (row[c] - mean) * scale;
    }
    plain = warp_sum(plain) / width;
    along = warp_sum(along) / width;
    for (int c = lane; c < width; c += 32) {
      const float normed = (row[c] - mean) * scale;
      dx[(size_t)r * width + c] = scale * (up[c] * weights[c] - plain - normed * along);
      atomicAdd(&weight_sums[c], up[c] * normed);
    }
  }
  __syncthreads();
  for (int c = threadIdx.x; c < width; c += blockDim.x) atomicAdd(&dweights[c], weight_sums[c]);
}

// A recurrent layer that weighs what came before by a decay per channel: a channel per thread, all tokens in turn.
__global__ void wkv_scan(const float* __restrict__ decays, const float* __restrict__ bonuses,
                         const float* __restrict__ keys, const float* __restrict__ values, float* __restrict__ out,
                         int tokens, int channels) {
  const int c = thread_id();
  if (c >= channels) return;
  const size_t first = (size_t)blockIdx.y * tokens * channels + c;
  const float decay = -__expf(decays[c]), bonus = bonuses[c];
  float above = 0.0f, below = 0.0f, top = -1e30f;
  for (int t = 0; t < tokens; t++) {
    const float k = keys[first + (size_t)t * channels], v = values[first + (size_t)t * channels];
    float highest = fmaxf(top, bonus + k);
    float before = __expf(top - highest), now = __expf(bonus + k - highest);
    out[first + (size_t)t * channels] = (before * above + now * v) / (before * below + now);
    highest = fmaxf(top + decay, k);
    before = __expf(top + decay - highest);
    now = __expf(k - highest);
    above = before * above + now * v;
    below = before * below + now;
    top = highest;
  }
}

// Attention with a query per thread: 16 numbers per query in registers, tiles of 32 keys and values in shared memory.
__global__ void flash_rows(const float4* __restrict__ q, const float4* __restrict__ k, const float4* __restrict__ v,
                           float4* __restrict__ out, int length) {
  __shared__ float4 key_tile[32][4], value_tile[32][4];
  const int row = thread_id();
  const size_t head = (size_t)blockIdx.y * length * 4;
  float4 query[4], mixed[4];
#pragma unroll
  for (int c = 0; c < 4; c++) {
    query[c] = row < length ? q[head + row * 4 + c] : make_float4(0, 0, 0, 0);
    mixed[c] = make_float4(0, 0, 0, 0);
  }
  float top = -1e30f, sum = 0.0f;
  for (int base = 0; base < length; base += 32) {
    const int here = min(32, length - base);
    for (int e = threadIdx.x; e < here * 4; e += blockDim.x) {
      key_tile[e / 4][e % 4] = k[head + base * 4 + e];
      value_tile[e / 4][e % 4] = v[head + base * 4 + e];
    }
    __syncthreads();
    for (int j = 0; j < here; j++) {
      float score = 0.0f;
#pragma unroll
      for (int c = 0; c < 4; c++) {
        const float4 key = key_tile[j][c];
        score += query[c].x * key.x + query[c].y * key.y + query[c].z * key.z + query[c].w * key.w;
      }
      score *= 0.25f;
      if (score > top) {
        const float before = __expf(top - score);
        sum *= before;
#pragma unroll
        for (int c = 0; c < 4; c++) {
          mixed[c].x *= before;
          mixed[c].y *= before;
          mixed[c].z *= before;
          mixed[c].w *= before;
        }
        top = score;
      }
      const float share = __expf(score - top);
      sum += share;
#pragma unroll
      for (int c = 0; c < 4; c++) {
        const float4 value = value_tile[j][c];
        mixed[c].x += share * value.x;
        mixed[c].y += share * value.y;
        mixed[c].z += share * value.z;
        mixed[c].w += share * value.w;
      }
    }
    __syncthreads();
  }
  if (row >= length) return;
#pragma unroll
  for (int c = 0; c < 4; c++)
    out[head + row * 4 + c] =
        make_float4(mixed[c].x / sum, mixed[c].y / sum, mixed[c].z / sum, mixed[c].w / sum);
}

// How many of the most likely tokens make up a share of the probability: bisection of the threshold, a block per row.
__global__ void nucleus_draw(const float* __restrict__ logits, float2* __restrict__ out, int vocabulary, float share) {
  __shared__ float parts[32];
  const float* row = logits + (size_t)blockIdx.x * vocabulary;
  float top = -1e30f;
  for (int k = threadIdx.x; k < vocabulary; k += blockDim.x) top = fmaxf(top, row[k]);
  top = warp_max(top);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = top;
  __syncthreads();
  for (int w = 0; w < (int)blockDim.x / 32; w++) top = fmaxf(top, parts[w]);
  __syncthreads();
  float all = 0.0f;
  for (int k = threadIdx.x; k < vocabulary; k += blockDim.x) all += __expf(row[k] - top);
  all = block_sum(all, parts);
  float low = top - 20.0f, high = top;
  for (int turn = 0; turn < 14; turn++) {
    const float middle = 0.5f * (low + high);
    float above = 0.0f;
    for (int k = threadIdx.x; k < vocabulary; k += blockDim.x)
      if (row[k] >= middle) above += __expf(row[k] - top);
    if (block_sum(above, parts) >= share * all)
      low = middle;
    else
      high = middle;
  }
  float kept = 0.0f, mass = 0.0f;
  for (int k = threadIdx.x; k < vocabulary; k += blockDim.x)
    if (row[k] >= low) {
      kept += 1.0f;
      mass += __expf(row[k] - top);
    }
  kept = block_sum(kept, parts);
  mass = block_sum(mass, parts);
  if (threadIdx.x == 0) out[blockIdx.x] = make_float2(kept, mass / all);
}

// Half-precision matrices on tensor cores: tiles of 64 x 64 in shared memory, four warps with 32 x 32 each.
__device__ __forceinline__ u32 shared_place(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__global__ void mma_half(const __half* __restrict__ a, const __half* __restrict__ b, float* __restrict__ c, int n,
                         int depth) {
  __shared__ __align__(16) __half left[64][24], right[16][72];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32, row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sums[2][4][4] = {};
  for (int k = 0; k < depth; k += 16) {
    *(uint4*)&left[t / 2][t % 2 * 8] = *(const uint4*)&a[(size_t)(row + t / 2) * depth + k + t % 2 * 8];
    *(uint4*)&right[t / 8][t % 8 * 8] = *(const uint4*)&b[(size_t)(k + t / 8) * n + column + t % 8 * 8];
    __syncthreads();
    u32 x[2][4], y[4][2];
#pragma unroll
    for (int i = 0; i < 2; i++)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x[i][0]), "=r"(x[i][1]), "=r"(x[i][2]), "=r"(x[i][3])
                   : "r"(shared_place(&left[warp / 2 * 32 + i * 16 + lane % 16][lane / 16 * 8])));
#pragma unroll
    for (int j = 0; j < 4; j++)
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                   : "=r"(y[j][0]), "=r"(y[j][1])
                   : "r"(shared_place(&right[lane % 16][warp % 2 * 32 + j * 8])));
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int j = 0; j < 4; j++)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                     "{%0, %1, %2, %3};"
                     : "+f"(sums[i][j][0]), "+f"(sums[i][j][1]), "+f"(sums[i][j][2]), "+f"(sums[i][j][3])
                     : "r"(x[i][0]), "r"(x[i][1]), "r"(x[i][2]), "r"(x[i][3]), "r"(y[j][0]), "r"(y[j][1]));
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int r = row + warp / 2 * 32 + i * 16 + h * 8 + lane / 4;
        const int s = column + warp % 2 * 32 + j * 8 + lane % 4 * 2;
        *(float2*)&c[(size_t)r * n + s] = make_float2(sums[i][j][2 * h], sums[i][j][2 * h + 1]);
      }
}

// Matrices of bytes on tensor cores, straight from memory: a tile of 16 x 8 per warp. B is given by columns.
__global__ void mma_bytes(const int* __restrict__ a, const int* __restrict__ b, int* __restrict__ c, int n,
                          int words) {
  const int tile = thread_id() / 32, lane = threadIdx.x % 32, row = tile / (n / 8) * 16, column = tile % (n / 8) * 8;
  if (row >= n) return;
  const int* x = a + (size_t)(row + lane / 4) * words + lane % 4;
  const int* y = b + (size_t)(column + lane / 4) * words + lane % 4;
  int sums[4] = {};
#pragma unroll 2
  for (int k = 0; k < words; k += 8)
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
                 : "r"(x[k]), "r"(x[8 * words + k]), "r"(x[k + 4]), "r"(x[8 * words + k + 4]), "r"(y[k]),
                   "r"(y[k + 4]));
  int* out = c + (size_t)(row + lane / 4) * n + column + lane % 4 * 2;
  *(int2*)out = make_int2(sums[0], sums[1]);
  *(int2*)(out + 8 * n) = make_int2(sums[2], sums[3]);
}

// Four numbers of 8 bits (sign, 4 bits of exponent, 3 of mantissa) per word, as half numbers times a scale.
__global__ void unpack_e4m3(const u32* __restrict__ in, const __half* __restrict__ scales, uint2* __restrict__ out,
                            int n) {
  const int i = thread_id();
  if (i >= n) return;
  const u32 word = in[i];
  const __half2 scale = __half2half2(__hmul(scales[i / 32], __float2half(256.0f)));
  __half2 parts[2];
#pragma unroll
  for (int k = 0; k < 2; k++) {
    const u32 two = __byte_perm(word, 0, k ? 0x3424 : 0x1404);
    const u32 bits = (two & 0x80008000u) | (two & 0x7f007f00u) >> 1;
    parts[k] = __hmul2(*(const __half2*)&bits, scale);
  }
  out[i] = *(const uint2*)parts;
}

// ------------------------------------------------------------------------------------------------------------ physics

// Gravity and how it changes, for a step of Hermite's method: tiles of 64 bodies in shared memory.
__global__ void hermite_forces(const float4* __restrict__ places, const float4* __restrict__ speeds,
                               float4* __restrict__ pulls, float4* __restrict__ jerks, int n) {
  __shared__ float4 p[64], v[64];
  const int i = thread_id();
  const float4 mine = places[min(i, n - 1)], moving = speeds[min(i, n - 1)];
  float3 a = make_float3(0, 0, 0), j = a;
  for (int base = 0; base < n; base += 64) {
    for (int k = threadIdx.x; k < 64; k += blockDim.x) {
      p[k] = base + k < n ? places[base + k] : make_float4(0, 0, 0, 0);
      v[k] = base + k < n ? speeds[base + k] : make_float4(0, 0, 0, 0);
    }
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < 64; k++) {
      const float dx = p[k].x - mine.x, dy = p[k].y - mine.y, dz = p[k].z - mine.z;
      const float ux = v[k].x - moving.x, uy = v[k].y - moving.y, uz = v[k].z - moving.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), squared = inverse * inverse;
      const float pull = p[k].w * inverse * squared, along = 3.0f * (dx * ux + dy * uy + dz * uz) * squared;
      a.x += pull * dx;
      a.y += pull * dy;
      a.z += pull * dz;
      j.x += pull * (ux - along * dx);
      j.y += pull * (uy - along * dy);
      j.z += pull * (uz - along * dz);
    }
    __syncthreads();
  }
  if (i >= n) return;
  pulls[i] = make_float4(a.x, a.y, a.z, 0);
  jerks[i] = make_float4(j.x, j.y, j.z, 0);
}

// Charges in a plane move by Boris's method; the fields (two electric, one magnetic) come from a grid between points.
__global__ void boris_push(const float4* __restrict__ states, const float4* __restrict__ fields,
                           float4* __restrict__ out, int n, int side, float step) {
  const int i = thread_id();
  if (i >= n) return;
  float4 s = states[i];
  const float gx = s.x * (side - 1), gy = s.y * (side - 1);
  const int x = min((int)gx, side - 2), y = min((int)gy, side - 2);
  const float wx = gx - x, wy = gy - y;
  const float4 a = fields[y * side + x], b = fields[y * side + x + 1];
  const float4 c = fields[(y + 1) * side + x], d = fields[(y + 1) * side + x + 1];
  const float wa = (1 - wx) * (1 - wy), wb = wx * (1 - wy), wc = (1 - wx) * wy, wd = wx * wy;
  const float ex = wa * a.x + wb * b.x + wc * c.x + wd * d.x, ey = wa * a.y + wb * b.y + wc * c.y + wd * d.y;
  const float turn = 0.5f * step * (wa * a.z + wb * b.z + wc * c.z + wd * d.z), half = 0.5f * step;
  const float ux = s.z + half * ex, uy = s.w + half * ey;
  const float px = ux + turn * uy, py = uy - turn * ux, full = 2.0f * turn / (1.0f + turn * turn);
  s.z = ux + full * py + half * ex;
  s.w = uy - full * px + half * ey;
  s.x += step * s.z;
  s.y += step * s.w;
  s.x -= floorf(s.x);
  s.y -= floorf(s.y);
  out[i] = s;
}

// Half a sweep of the Potts model with 8 states: places of one colour of a chessboard, each by its heat bath.
__global__ void potts_heat_bath(u8* spins, int width, int height, int colour, float beta, u32 seed) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y, half = blockIdx.x * blockDim.x + threadIdx.x;
  const int x = 2 * half + ((y + colour) & 1);
  if (x >= width || y >= height) return;
  const int line = y * width;
  const u64 one = 1;
  u64 counts = one << 8 * spins[line + (x ? x - 1 : width - 1)];
  counts += one << 8 * spins[line + (x + 1 < width ? x + 1 : 0)];
  counts += one << 8 * spins[(y ? line - width : (height - 1) * width) + x];
  counts += one << 8 * spins[(y + 1 < height ? line + width : 0) + x];
  float upto[8], sum = 0.0f;
#pragma unroll
  for (int q = 0; q < 8; q++) {
    sum += __expf(beta * (float)(counts >> 8 * q & 7));
    upto[q] = sum;
  }
  u32 state = scrambled((line + x) ^ seed);
  const float wanted = chance(state) * sum;
  int chosen = 0;
#pragma unroll
  for (int q = 0; q < 7; q++) chosen += upto[q] <= wanted;
  spins[line + x] = chosen;
}

// How a wave to the right changes each cell of a ring, with smooth weights of three stencils (WENO, fifth order).
__device__ __forceinline__ float weno5(float a, float b, float c, float d, float e) {
  const float p = a - 2 * b + c, q = b - 2 * c + d, r = c - 2 * d + e;
  const float s0 = 1.0833333f * p * p + 0.25f * (a - 4 * b + 3 * c) * (a - 4 * b + 3 * c);
  const float s1 = 1.0833333f * q * q + 0.25f * (b - d) * (b - d);
  const float s2 = 1.0833333f * r * r + 0.25f * (3 * c - 4 * d + e) * (3 * c - 4 * d + e);
  const float w0 = 0.1f / ((s0 + 1e-4f) * (s0 + 1e-4f)), w1 = 0.6f / ((s1 + 1e-4f) * (s1 + 1e-4f));
  const float w2 = 0.3f / ((s2 + 1e-4f) * (s2 + 1e-4f));
  const float mixed = w0 * (2 * a - 7 * b + 11 * c) + w1 * (-b + 5 * c + 2 * d) + w2 * (2 * c + 5 * d - e);
  return mixed / (6 * (w0 + w1 + w2));
}
__global__ void weno5_flux(const float* __restrict__ in, float* __restrict__ out, int n, float ratio) {
  const int i = thread_id();
  if (i >= n) return;
  float v[6];
#pragma unroll
  for (int k = 0; k < 6; k++) {
    const int at = i + k - 3;
    v[k] = in[at < 0 ? at + n : at >= n ? at - n : at];
  }
  out[i] = v[3] - ratio * (weno5(v[1], v[2], v[3], v[4], v[5]) - weno5(v[0], v[1], v[2], v[3], v[4]));
}

// The energies of bonds that twist: four atoms each, the angle between two planes.
__device__ __forceinline__ float3 apart(float4 a, float4 b) { return make_float3(b.x - a.x, b.y - a.y, b.z - a.z); }
__device__ __forceinline__ float3 crossed(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
__device__ __forceinline__ float dotted(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__global__ void torsion_energies(const int4* __restrict__ bonds, const float4* __restrict__ atoms,
                                 const float2* __restrict__ kinds, float* __restrict__ out, int n) {
  const int i = thread_id();
  if (i >= n) return;
  const int4 b = bonds[i];
  const float4 p1 = atoms[b.y], p2 = atoms[b.z];
  const float3 first = apart(atoms[b.x], p1), axis = apart(p1, p2), last = apart(p2, atoms[b.w]);
  const float3 m = crossed(first, axis), k = crossed(axis, last);
  const float angle = atan2f(sqrtf(dotted(axis, axis)) * dotted(first, k), dotted(m, k));
  const float2 kind = kinds[i & 15];
  out[i] = kind.x * (1.0f + cosf(3.0f * angle - kind.y));
}

// A gate on one qubit of a state: a 2 x 2 matrix for each pair of amplitudes whose numbers differ in one bit.
__global__ void qubit_gate(const float2* __restrict__ in, float2* __restrict__ out, const float* __restrict__ gate,
                           int pairs, int bit) {
  float g[8];
#pragma unroll
  for (int k = 0; k < 8; k++) g[k] = gate[k];
  for (int i = thread_id(); i < pairs; i += gridDim.x * blockDim.x) {
    const int low = (i >> bit << (bit + 1)) | (i & ((1 << bit) - 1)), high = low | 1 << bit;
    const float2 a = in[low], b = in[high];
    out[low] = make_float2(g[0] * a.x - g[1] * a.y + g[2] * b.x - g[3] * b.y,
                           g[0] * a.y + g[1] * a.x + g[2] * b.y + g[3] * b.x);
    out[high] = make_float2(g[4] * a.x - g[5] * a.y + g[6] * b.x - g[7] * b.y,
                            g[4] * a.y + g[5] * a.x + g[6] * b.y + g[7] * b.x);
  }
}

// Robertson's stiff reactions in double precision: backward steps by Newton's method; what is left is the third kind.
__global__ void robertson_implicit(const double* __restrict__ rates, double* __restrict__ out, int n, int steps) {
  const int i = thread_id();
  if (i >= n) return;
  const double slow = 0.04 * (0.5 + rates[i]), fast = 3e7, middle = 1e4;
  double a = 1.0, b = 0.0, step = 1e-4;
  for (int s = 0; s < steps; s++) {
    const double old_a = a, old_b = b;
    for (int turn = 0; turn < 4; turn++) {
      const double c = 1.0 - a - b;
      const double fa = a - old_a - step * (-slow * a + middle * b * c);
      const double fb = b - old_b - step * (slow * a - middle * b * c - fast * b * b);
      const double aa = 1.0 + step * (slow + middle * b), ab = -step * middle * (c - b);
      const double ba = -step * (slow + middle * b), bb = 1.0 + step * (middle * (c - b) + 2 * fast * b);
      const double inverse = 1.0 / (aa * bb - ab * ba);
      a -= inverse * (bb * fa - ab * fb);
      b -= inverse * (aa * fb - ba * fa);
    }
    step *= 1.3;
  }
  out[i] = a;
  out[n + i] = b;
}

// The stiffness of tetrahedra: ten numbers each, from the places of their four corners.
__global__ void tet_stiffness(const int4* __restrict__ elements, const float4* __restrict__ nodes,
                              float* __restrict__ out, int n) {
  const int i = thread_id();
  if (i >= n) return;
  const int4 e = elements[i];
  const float4 origin = nodes[e.x];
  const float3 a = apart(origin, nodes[e.y]), b = apart(origin, nodes[e.z]), c = apart(origin, nodes[e.w]);
  float3 g[4] = {make_float3(0, 0, 0), crossed(b, c), crossed(c, a), crossed(a, b)};
  const float volume = dotted(a, g[1]);
  g[0] = make_float3(-g[1].x - g[2].x - g[3].x, -g[1].y - g[2].y - g[3].y, -g[1].z - g[2].z - g[3].z);
  const float scale = 1.0f / (6.0f * fmaxf(fabsf(volume), 1e-3f));
  int at = 0;
#pragma unroll
  for (int r = 0; r < 4; r++)
#pragma unroll
    for (int s = 0; s <= r; s++) out[(size_t)at++ * n + i] = scale * dotted(g[r], g[s]);
}

// ------------------------------------------------------------------------------------------------------------ finance

// The value of an option that dies at a barrier: between two days by the chance that a bridge touches it.
__global__ void barrier_bridge(float* __restrict__ out, int paths, int days, float barrier, float strike, u32 seed) {
  u32 state = scrambled(thread_id() ^ seed);
  const float dt = 1.0f / days, deviation = 0.25f * sqrtf(dt), line = __logf(barrier);
  float sum = 0.0f;
  for (int p = 0; p < paths; p++) {
    float now = 0.0f, alive = 1.0f;
    for (int d = 0; d < days && alive > 1e-4f; d++) {
      const float radius = sqrtf(-2.0f * __logf(chance(state)));
      const float next = now - 0.03125f * dt + deviation * radius * __cosf(6.2831853f * chance(state));
      const float before = now - line, after = next - line;
      alive *= before > 0.0f && after > 0.0f ? 1.0f - __expf(-2.0f * before * after / (0.0625f * dt)) : 0.0f;
      now = next;
    }
    sum += alive * fmaxf(__expf(now) - strike, 0.0f);
  }
  out[thread_id()] = sum / paths;
}

// Hagan's volatilities of the SABR model. quotes: forward, strike, correlation, volatility of the volatility.
__global__ void sabr_vols(const float4* __restrict__ quotes, float* __restrict__ out, int n, float alpha, float beta) {
  for (int i = thread_id(); i < n; i += gridDim.x * blockDim.x) {
    const float4 q = quotes[i];
    const float forward = q.x, strike = q.y, rho = q.z, nu = q.w, rest = 1.0f - beta;
    const float moneyness = logf(forward / strike), mean = powf(forward * strike, 0.5f * rest);
    const float z = nu / alpha * mean * moneyness, root = sqrtf(1.0f - 2.0f * rho * z + z * z);
    const float bent = logf((root + z - rho) / (1.0f - rho));
    const float ratio = fabsf(z) < 1e-3f ? 1.0f - 0.5f * rho * z : z / bent;
    const float squared = rest * rest * moneyness * moneyness;
    const float under = mean * (1.0f + squared / 24.0f + squared * squared / 1920.0f);
    const float later = rest * rest * alpha * alpha / (24.0f * mean * mean) + 0.25f * rho * beta * nu * alpha / mean +
                        (2.0f - 3.0f * rho * rho) * nu * nu / 24.0f;
    out[i] = alpha / under * ratio * (1.0f + later);
  }
}

// ------------------------------------------------------------------------------------------------------------ biology

// The best local alignment with affine gaps: a warp per pair, a letter of the query per lane, a column behind the next.
__global__ void gotoh_warp(const u8* __restrict__ queries, const u8* __restrict__ texts, int* __restrict__ out, int n,
                           int length) {
  const int pair = thread_id() / 32, lane = threadIdx.x % 32;
  if (pair >= n) return;
  const int letter = queries[pair * 32 + lane];
  const u8* text = texts + (size_t)pair * length;
  int here = 0, along = -1000, down = -1000, oblique = 0, best = 0;
  for (int s = 0; s < length + 31; s++) {
    int above = __shfl_up_sync(FULL, here, 1), gap = __shfl_up_sync(FULL, down, 1);
    if (lane == 0) {
      above = 0;
      gap = -1000;
    }
    const int j = s - lane;
    if (j >= 0 && j < length) {
      along = max(along - 1, here - 4);
      down = max(gap - 1, above - 4);
      here = max(max(0, oblique + (letter == text[j] ? 2 : -1)), max(along, down));
      oblique = above;
      best = max(best, here);
    }
  }
  best = __reduce_max_sync(FULL, best);
  if (lane == 0) out[pair] = best;
}

// How likely a read comes from a text of at most 40 letters (pair HMM): a pair per thread, rows in local memory.
__global__ void pair_hmm(const u8* __restrict__ reads, const u8* __restrict__ texts, float* __restrict__ out, int n,
                         int read_length, int text_length) {
  const int i = thread_id();
  if (i >= n) return;
  float match[41], insert[41], remove[41];
  for (int c = 0; c <= text_length; c++) {
    match[c] = insert[c] = 0.0f;
    remove[c] = 1.0f / text_length;
  }
  for (int r = 0; r < read_length; r++) {
    const int letter = reads[r * n + i];
    float m = match[0], x = insert[0], y = remove[0];
    match[0] = insert[0] = remove[0] = 0.0f;
    for (int c = 1; c <= text_length; c++) {
      const float likely = letter == texts[(c - 1) * n + i] ? 0.97f : 0.01f;
      const float next = likely * (0.9f * m + 0.8f * (x + y));
      m = match[c];
      x = insert[c];
      y = remove[c];
      match[c] = next;
      insert[c] = 0.05f * m + 0.2f * x;
      remove[c] = 0.05f * match[c - 1] + 0.2f * remove[c - 1];
    }
  }
  float sum = 0.0f;
  for (int c = 1; c <= text_length; c++) sum += match[c] + insert[c];
  out[i] = __logf(sum);
}

// The most pairs of bases in a fold of RNA, all pieces by length; a block per strand. Pairs are 3 - k and k.
__global__ void nussinov_fold(const u8* __restrict__ strands, int* __restrict__ out, int length) {
  extern __shared__ u8 pairs[];
  u8* bases = pairs + length * length;
  for (int k = threadIdx.x; k < length * length; k += blockDim.x) pairs[k] = 0;
  for (int k = threadIdx.x; k < length; k += blockDim.x) bases[k] = strands[blockIdx.x * length + k];
  __syncthreads();
  for (int wide = 4; wide < length; wide++) {
    for (int a = threadIdx.x; a + wide < length; a += blockDim.x) {
      const int b = a + wide;
      int best = pairs[(a + 1) * length + b - 1] + (bases[a] + bases[b] == 3);
      for (int k = a; k < b; k++) best = max(best, pairs[a * length + k] + pairs[(k + 1) * length + b]);
      pairs[a * length + b] = best;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = pairs[length - 1];
}

// How alike molecules are: shared bits of fingerprints of 1024 bits, the best of 8 molecules that are sought.
__global__ void tanimoto_best(const u32* __restrict__ prints, const u32* __restrict__ sought, float* __restrict__ out,
                              int n) {
  __shared__ u32 wanted[8][32];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) wanted[k / 32][k % 32] = sought[k];
  __syncthreads();
  const int i = thread_id();
  if (i >= n) return;
  int both[8] = {}, either[8] = {};
  for (int w = 0; w < 32; w++) {
    const u32 word = prints[w * n + i];
#pragma unroll
    for (int k = 0; k < 8; k++) {
      both[k] += __popc(word & wanted[k][w]);
      either[k] += __popc(word | wanted[k][w]);
    }
  }
  float best = 0.0f;
#pragma unroll
  for (int k = 0; k < 8; k++) best = fmaxf(best, (float)both[k] / either[k]);
  out[i] = best;
}

// ------------------------------------------------------------------------------------------------------------ ciphers

// The core of scrypt: blocks of 64 bytes fill a memory by Salsa20/8, then come back from it in an order by their bits.
__device__ __forceinline__ void salsa8(u32 (&x)[16]) {
  u32 s[16];
#pragma unroll
  for (int k = 0; k < 16; k++) s[k] = x[k];
  for (int round = 0; round < 4; round++) {
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
      for (int c = 0; c < 4; c++) {
        const int step = half ? 1 : 4, base = half ? 4 * c : 0;
        const int a = half ? base + c % 4 : 5 * c, d = half ? base + (c + 1) % 4 : (5 * c + step) % 16;
        const int e = half ? base + (c + 2) % 4 : (5 * c + 2 * step) % 16;
        const int f = half ? base + (c + 3) % 4 : (5 * c + 3 * step) % 16;
        s[d] ^= __funnelshift_l(s[a] + s[f], s[a] + s[f], 7);
        s[e] ^= __funnelshift_l(s[d] + s[a], s[d] + s[a], 9);
        s[f] ^= __funnelshift_l(s[e] + s[d], s[e] + s[d], 13);
        s[a] ^= __funnelshift_l(s[f] + s[e], s[f] + s[e], 18);
      }
  }
#pragma unroll
  for (int k = 0; k < 16; k++) x[k] += s[k];
}
__global__ void scrypt_mix(const uint4* __restrict__ in, uint4* memory, uint4* __restrict__ out, int n, int blocks) {
  const int i = thread_id();
  if (i >= n) return;
  u32 x[16];
#pragma unroll
  for (int k = 0; k < 4; k++) *(uint4*)&x[4 * k] = in[k * n + i];
  for (int b = 0; b < blocks; b++) {
#pragma unroll
    for (int k = 0; k < 4; k++) memory[(size_t)(4 * b + k) * n + i] = *(uint4*)&x[4 * k];
    salsa8(x);
  }
  for (int b = 0; b < blocks; b++) {
    const int from = x[0] & (blocks - 1);
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const uint4 v = memory[(size_t)(4 * from + k) * n + i];
      x[4 * k] ^= v.x;
      x[4 * k + 1] ^= v.y;
      x[4 * k + 2] ^= v.z;
      x[4 * k + 3] ^= v.w;
    }
    salsa8(x);
  }
#pragma unroll
  for (int k = 0; k < 4; k++) out[k * n + i] = *(uint4*)&x[4 * k];
}

// Squares again and again modulo 2^255 - 19, in eight words of 32 bits.
__global__ void curve_squares(const u32* __restrict__ in, u32* __restrict__ out, int n, int times) {
  const int i = thread_id();
  if (i >= n) return;
  u32 v[8];
#pragma unroll
  for (int k = 0; k < 8; k++) v[k] = in[k * n + i];
#pragma unroll 1
  for (int t = 0; t < times; t++) {
    u32 wide[16] = {};
#pragma unroll
    for (int a = 0; a < 8; a++) {
      u64 carry = 0;
#pragma unroll
      for (int b = 0; b < 8; b++) {
        carry += (u64)v[a] * v[b] + wide[a + b];
        wide[a + b] = (u32)carry;
        carry >>= 32;
      }
      wide[a + 8] = (u32)carry;
    }
    u64 carry = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
      carry += (u64)wide[k + 8] * 38 + wide[k];
      v[k] = (u32)carry;
      carry >>= 32;
    }
    carry = (u64)(u32)carry * 38;
#pragma unroll
    for (int k = 0; k < 8; k++) {
      carry += v[k];
      v[k] = (u32)carry;
      carry >>= 32;
    }
    v[0] += 38 * (u32)carry;
  }
#pragma unroll
  for (int turn = 0; turn < 2; turn++) {
    u64 carry = 19 * (u64)(v[7] >> 31);
    v[7] &= 0x7fffffffu;
#pragma unroll
    for (int k = 0; k < 8; k++) {
      carry += v[k];
      v[k] = (u32)carry;
      carry >>= 32;
    }
  }
  u32 more[8];
  u64 carry = 19;
#pragma unroll
  for (int k = 0; k < 8; k++) {
    carry += v[k];
    more[k] = (u32)carry;
    carry >>= 32;
  }
  const bool over = more[7] >> 31;
  more[7] &= 0x7fffffffu;
#pragma unroll
  for (int k = 0; k < 8; k++) out[k * n + i] = over ? more[k] : v[k];
}

// XTEA, 32 double rounds, in chains of `length` blocks per thread: each block is mixed with the one before.
__global__ void xtea_chains(const uint2* __restrict__ in, const u32* __restrict__ keys, uint2* __restrict__ out, int n,
                            int length) {
  __shared__ u32 key[4];
  if (threadIdx.x < 4) key[threadIdx.x] = keys[threadIdx.x];
  __syncthreads();
  const int i = thread_id();
  if (i >= n) return;
  u32 a = 0, b = 0;
  for (int k = 0; k < length; k++) {
    const uint2 v = in[(size_t)k * n + i];
    a ^= v.x;
    b ^= v.y;
    u32 sum = 0;
#pragma unroll 8
    for (int round = 0; round < 32; round++) {
      a += ((b << 4 ^ b >> 5) + b) ^ (sum + key[sum & 3]);
      sum += 0x9e3779b9u;
      b += ((a << 4 ^ a >> 5) + a) ^ (sum + key[sum >> 11 & 3]);
    }
    out[(size_t)k * n + i] = make_uint2(a, b);
  }
}

// ---------------------------------------------------------------------------------------------------------- databases

// The last quote before each trade, of the same paper: a binary search in the paper's part of the times.
__global__ void asof_join(const int* __restrict__ starts, const int* __restrict__ times,
                          const float* __restrict__ prices, const int* __restrict__ papers,
                          const int* __restrict__ trades, float* __restrict__ out, int n) {
  for (int i = thread_id(); i < n; i += gridDim.x * blockDim.x) {
    const int paper = papers[i], when = trades[i], first = starts[paper];
    int low = first, high = starts[paper + 1];
    while (low < high) {
      const int middle = (low + high) / 2;
      if (times[middle] <= when)
        low = middle + 1;
      else
        high = middle;
    }
    out[i] = low > first ? prices[low - 1] : -1.0f;
  }
}

// Which letters stand between quotes: a bit each, 16 letters per thread, a text per block.
__global__ void quoted_regions(const uint4* __restrict__ text, u16* __restrict__ out, int words) {
  __shared__ int parities[32];
  const int t = threadIdx.x, lane = t % 32;
  const size_t first = (size_t)blockIdx.x * words;
  int before = 0;
  for (int base = 0; base < words; base += blockDim.x) {
    const int k = base + t;
    u32 inside = 0;
    if (k < words) {
      const uint4 v = text[first + k];
      const u32 parts[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int p = 0; p < 4; p++) {
        const u32 equal = __vcmpeq4(parts[p], 0x22222222u) & 0x08040201u;
        inside |= ((equal | equal >> 8 | equal >> 16 | equal >> 24) & 15) << 4 * p;
      }
    }
    inside ^= inside << 1;
    inside ^= inside << 2;
    inside ^= inside << 4;
    inside ^= inside << 8;
    const u32 odd = __ballot_sync(FULL, inside >> 15 & 1);
    if (lane == 0) parities[t / 32] = __popc(odd) & 1;
    __syncthreads();
    int mine = before + __popc(odd & ((1u << lane) - 1));
    for (int w = 0; w < (int)blockDim.x / 32; w++) {
      if (w < t / 32) mine += parities[w];
      before += parities[w];
    }
    if (k < words) out[first + k] = (u16)(inside ^ (mine & 1 ? 0xffff : 0));
    __syncthreads();
  }
}

// Packed differences back to numbers: a warp per frame of 128, each with a first number and its own number of bits.
__global__ void delta_unpack(const int2* __restrict__ heads, const u32* __restrict__ packed, int* __restrict__ out,
                             int frames) {
  const int frame = thread_id() / 32, lane = threadIdx.x % 32;
  if (frame >= frames) return;
  const int2 head = heads[frame];
  const int bits = head.y;
  const u32* words = packed + (size_t)frame * 64;
  int values[4], sum = 0;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const int at = (4 * lane + k) * bits;
    const u32 low = words[at / 32], high = at % 32 + bits > 32 ? words[at / 32 + 1] : 0;
    sum += __funnelshift_r(low, high, at % 32) & ((1u << bits) - 1);
    values[k] = sum;
  }
  int upto = sum;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(FULL, upto, step);
    if (lane >= step) upto += other;
  }
  const int start = head.x + upto - sum;
  ((int4*)out)[(size_t)frame * 32 + lane] =
      make_int4(start + values[0], start + values[1], start + values[2], start + values[3]);
}

// Gradients of a boosted tree by feature and bin: a block per feature and part of the rows, bins in shared memory.
__global__ void gradient_bins(const u8* __restrict__ bins, const float2* __restrict__ gradients, float* out, int rows) {
  __shared__ float sums[2][256];
  for (int k = threadIdx.x; k < 512; k += blockDim.x) (&sums[0][0])[k] = 0.0f;
  __syncthreads();
  const u8* mine = bins + (size_t)blockIdx.y * rows;
  for (int r = thread_id(); r < rows; r += gridDim.x * blockDim.x) {
    const float2 g = gradients[r];
    const int bin = mine[r];
    atomicAdd(&sums[0][bin], g.x);
    atomicAdd(&sums[1][bin], g.y);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 512; k += blockDim.x) atomicAdd(&out[blockIdx.y * 512 + k], (&sums[0][0])[k]);
}

// Keys into a hash table, each at the next free place; 0 is free.
__global__ void linear_insert(const u32* __restrict__ keys, u32* table, int n, u32 mask) {
  for (int i = thread_id(); i < n; i += gridDim.x * blockDim.x) {
    const u32 key = keys[i] + 1;
    u32 place = scrambled(key) & mask;
    while (true) {
      const u32 held = atomicCAS(&table[place], 0u, key);
      if (held == 0 || held == key) break;
      place = (place + 1) & mask;
    }
  }
}

// ----------------------------------------------------------------------------------------------------------- graphics

// Light along paths between balls: diffuse at each ball, the sky at the end. balls: centre and radius; colours behind.
__global__ void bounce_paths(const float4* __restrict__ balls, float* __restrict__ out, int width, int n, int count,
                             int bounces, u32 seed) {
  __shared__ float4 ball[64];
  for (int k = threadIdx.x; k < count; k += blockDim.x) ball[k] = balls[k];
  __syncthreads();
  const int i = thread_id();
  if (i >= n) return;
  u32 state = scrambled(i ^ seed);
  float3 from = make_float3(0, 0, -4);
  float3 way = make_float3((i % width) * 2.0f / width - 1.0f, (i / width) * 2.0f / width - 1.0f, 2.0f);
  float light = 1.0f;
  for (int b = 0; b <= bounces; b++) {
    const float scale = rsqrtf(dotted(way, way));
    way = make_float3(way.x * scale, way.y * scale, way.z * scale);
    float nearest = 1e30f;
    int which = -1;
    for (int k = 0; k < count; k++) {
      const float4 s = ball[k];
      const float3 to = make_float3(s.x - from.x, s.y - from.y, s.z - from.z);
      const float along = dotted(to, way), inside = s.w * s.w - dotted(to, to) + along * along;
      if (inside > 0.0f) {
        const float distance = along - sqrtf(inside);
        if (distance > 1e-3f && distance < nearest) {
          nearest = distance;
          which = k;
        }
      }
    }
    if (which < 0) {
      light *= 0.5f + 0.5f * way.y;
      break;
    }
    if (b == bounces) light = 0.0f;
    light *= 0.4f + 0.05f * (which & 7);
    from = make_float3(from.x + nearest * way.x, from.y + nearest * way.y, from.z + nearest * way.z);
    const float4 s = ball[which];
    const float up = 2.0f * chance(state) - 1.0f, around = 6.2831853f * chance(state), flat = sqrtf(1.0f - up * up);
    way = make_float3((from.x - s.x) / s.w + flat * __cosf(around), (from.y - s.y) / s.w + flat * __sinf(around),
                      (from.z - s.z) / s.w + up);
  }
  out[i] = light;
}

// How much of the sky each pixel sees: 12 places around it in a picture of depths, nearer ones by a turned pattern.
__global__ void ambient_occlusion(const float* __restrict__ depths, float* __restrict__ out, int width, int height,
                                  float radius) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float depth = depths[y * width + x], turned = 0.3f + 0.7853982f * ((x & 3) + 4 * (y & 3));
  float hidden = 0.0f;
#pragma unroll
  for (int k = 0; k < 12; k++) {
    float s, c;
    __sincosf(turned + 2.3999632f * k, &s, &c);
    const float length = radius * (k + 1) / 12.0f;
    const int sx = min(max(x + __float2int_rd(length * c), 0), width - 1);
    const int sy = min(max(y + __float2int_rd(length * s), 0), height - 1);
    const float nearer = depth - depths[sy * width + sx];
    if (nearer > 0.02f) hidden += 1.0f / (1.0f + 4.0f * nearer * nearer);
  }
  out[y * width + x] = 1.0f - hidden / 12.0f;
}

// The nearest triangle of each ray, all of them in tiles of 32: a corner, then two sides.
__global__ void mesh_rays(const float3* __restrict__ triangles, const float3* __restrict__ ways,
                          float* __restrict__ out, int n, int count) {
  __shared__ float3 tile[96];
  const int i = thread_id();
  const float3 way = ways[min(i, n - 1)];
  float nearest = 1e30f;
  for (int base = 0; base < count; base += 32) {
    const int here = min(32, count - base);
    for (int k = threadIdx.x; k < 3 * here; k += blockDim.x) tile[k] = triangles[3 * base + k];
    __syncthreads();
    for (int k = 0; k < here; k++) {
      const float3 corner = tile[3 * k], a = tile[3 * k + 1], b = tile[3 * k + 2];
      const float3 p = crossed(way, b);
      const float inverse = __fdividef(1.0f, dotted(a, p));
      const float3 to = make_float3(-corner.x, -corner.y, -corner.z), q = crossed(to, a);
      const float u = dotted(to, p) * inverse, v = dotted(way, q) * inverse, t = dotted(b, q) * inverse;
      if (u >= 0.0f && v >= 0.0f && u + v <= 1.0f && t > 0.0f) nearest = fminf(nearest, t);
    }
    __syncthreads();
  }
  if (i < n) out[i] = nearest;
}

// Soft dots in tiles of 16 x 16 pixels, the front ones first, until nothing shines through. dots: x, y, width, share.
__global__ void splat_tiles(const int* __restrict__ starts, const float4* __restrict__ dots, float* __restrict__ out,
                            int width) {
  __shared__ float4 batch[256];
  const int tile = blockIdx.y * gridDim.x + blockIdx.x, t = threadIdx.y * 16 + threadIdx.x, end = starts[tile + 1];
  float through = 1.0f, colour = 0.0f;
  for (int base = starts[tile]; base < end; base += 256) {
    if (base + t < end) batch[t] = dots[base + t];
    if (__syncthreads_count(through > 0.001f) == 0) break;
    for (int k = 0; k < min(256, end - base) && through > 0.001f; k++) {
      const float4 d = batch[k];
      const float dx = threadIdx.x - d.x * 16.0f, dy = threadIdx.y - d.y * 16.0f;
      const float power = (dx * dx + dy * dy) / (2.0f + 30.0f * d.z);
      if (power > 6.0f) continue;
      const float share = fminf(0.99f, d.w * __expf(-power));
      colour += through * share * (0.2f + 0.1f * (k & 7));
      through *= 1.0f - share;
    }
    __syncthreads();
  }
  out[(blockIdx.y * 16 + threadIdx.y) * width + blockIdx.x * 16 + threadIdx.x] = colour;
}

// A line of a picture by that one of PNG's five filters whose bytes are smallest; a block per line.
__device__ __forceinline__ int paeth(int a, int b, int c) {
  const int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}
__global__ void png_filters(const u8* __restrict__ picture, u8* __restrict__ out, int width) {
  __shared__ int totals[5];
  if (threadIdx.x < 5) totals[threadIdx.x] = 0;
  __syncthreads();
  const u8* line = picture + (size_t)blockIdx.x * width;
  const bool above = blockIdx.x > 0;
  int sums[5] = {};
  for (int k = threadIdx.x; k < width; k += blockDim.x) {
    const int v = line[k], a = k ? line[k - 1] : 0, b = above ? line[k - width] : 0;
    const int c = k && above ? line[k - width - 1] : 0;
    const int guesses[5] = {0, a, b, (a + b) / 2, paeth(a, b, c)};
#pragma unroll
    for (int f = 0; f < 5; f++) sums[f] += abs((int)(signed char)(v - guesses[f]));
  }
#pragma unroll
  for (int f = 0; f < 5; f++) {
    const int sum = __reduce_add_sync(FULL, sums[f]);
    if (threadIdx.x % 32 == 0) atomicAdd(&totals[f], sum);
  }
  __syncthreads();
  int best = 0;
  for (int f = 1; f < 5; f++)
    if (totals[f] < totals[best]) best = f;
  u8* to = out + (size_t)blockIdx.x * (width + 1);
  if (threadIdx.x == 0) to[0] = best;
  for (int k = threadIdx.x; k < width; k += blockDim.x) {
    const int v = line[k], a = k ? line[k - 1] : 0, b = above ? line[k - width] : 0;
    const int c = k && above ? line[k - width - 1] : 0;
    const int guess = best == 0 ? 0 : best == 1 ? a : best == 2 ? b : best == 3 ? (a + b) / 2 : paeth(a, b, c);
    to[1 + k] = v - guess;
  }
}

// Pictures for textures: 4 x 4 pixels become two colours of 16 bits and a choice of four per pixel.
__global__ void bc1_blocks(const uint4* __restrict__ pixels, uint2* __restrict__ out, int n) {
  const int i = thread_id();
  if (i >= n) return;
  u32 p[16], least = ~0u, most = 0;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const uint4 v = pixels[(size_t)k * n + i];
    p[4 * k] = v.x;
    p[4 * k + 1] = v.y;
    p[4 * k + 2] = v.z;
    p[4 * k + 3] = v.w;
  }
#pragma unroll
  for (int k = 0; k < 16; k++) {
    least = __vminu4(least, p[k]);
    most = __vmaxu4(most, p[k]);
  }
  const int low[3] = {(int)(least & 255) >> 3, (int)(least >> 8 & 255) >> 2, (int)(least >> 16 & 255) >> 3};
  const int high[3] = {(int)(most & 255) >> 3, (int)(most >> 8 & 255) >> 2, (int)(most >> 16 & 255) >> 3};
  int colours[4][3];
#pragma unroll
  for (int c = 0; c < 3; c++) {
    const int shift = c == 1 ? 2 : 3;
    colours[0][c] = high[c] << shift;
    colours[1][c] = low[c] << shift;
    colours[2][c] = (2 * colours[0][c] + colours[1][c]) / 3;
    colours[3][c] = (colours[0][c] + 2 * colours[1][c]) / 3;
  }
  u32 choices = 0;
#pragma unroll
  for (int k = 0; k < 16; k++) {
    int nearest = 1 << 30;
    u32 which = 0;
#pragma unroll
    for (int q = 0; q < 4; q++) {
      const int r = (int)(p[k] & 255) - colours[q][0], g = (int)(p[k] >> 8 & 255) - colours[q][1];
      const int b = (int)(p[k] >> 16 & 255) - colours[q][2], distance = r * r + g * g + b * b;
      if (distance < nearest) {
        nearest = distance;
        which = q;
      }
    }
    choices |= which << 2 * k;
  }
  out[i] = make_uint2((high[0] << 11 | high[1] << 5 | high[2]) | (u32)(low[0] << 11 | low[1] << 5 | low[2]) << 16,
                      choices);
}

// A step of the jump flood: the nearest seed of nine places that are `step` apart. Seeds are places, or -1.
__global__ void jump_flood(const int* __restrict__ in, int* __restrict__ out, int width, int height, int step) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int best = -1, least = 1 << 30;
  for (int dy = -step; dy <= step; dy += step)
    for (int dx = -step; dx <= step; dx += step) {
      const int sx = x + dx, sy = y + dy;
      if (sx < 0 || sy < 0 || sx >= width || sy >= height) continue;
      const int seed = in[sy * width + sx];
      if (seed < 0) continue;
      const int ax = seed % width - x, ay = seed / width - y, distance = ax * ax + ay * ay;
      if (distance < least) {
        least = distance;
        best = seed;
      }
    }
  out[y * width + x] = best;
}

// Where a window of 5 x 5 pixels moves to between two pictures, by Lucas and Kanade: a place per thread.
__device__ __forceinline__ float between(const float* __restrict__ p, int width, float x, float y) {
  const int ix = (int)floorf(x), iy = (int)floorf(y);
  const float wx = x - ix, wy = y - iy;
  const float* at = p + iy * width + ix;
  return (1 - wy) * ((1 - wx) * at[0] + wx * at[1]) + wy * ((1 - wx) * at[width] + wx * at[width + 1]);
}
__global__ void lucas_kanade(const float* __restrict__ first, const float* __restrict__ second,
                             const float2* __restrict__ places, float2* __restrict__ out, int n, int width, int height,
                             int turns) {
  const int i = thread_id();
  if (i >= n) return;
  const float x = 4.0f + places[i].x * (width - 9), y = 4.0f + places[i].y * (height - 9);
  float ux = 0.0f, uy = 0.0f;
  for (int turn = 0; turn < turns; turn++) {
    float xx = 0.001f, xy = 0.0f, yy = 0.001f, xt = 0.0f, yt = 0.0f;
    for (int dy = -2; dy <= 2; dy++)
      for (int dx = -2; dx <= 2; dx++) {
        const float px = x + dx, py = y + dy;
        const float gx = between(first, width, px + 1, py) - between(first, width, px - 1, py);
        const float gy = between(first, width, px, py + 1) - between(first, width, px, py - 1);
        const float change = between(second, width, px + ux, py + uy) - between(first, width, px, py);
        xx += gx * gx;
        xy += gx * gy;
        yy += gy * gy;
        xt += gx * change;
        yt += gy * change;
      }
    const float inverse = 2.0f / (xx * yy - xy * xy);
    ux = fminf(fmaxf(ux - inverse * (yy * xt - xy * yt), -1.0f), 1.0f);
    uy = fminf(fmaxf(uy - inverse * (xx * yt - xy * xt), -1.0f), 1.0f);
  }
  out[i] = make_float2(ux, uy);
}

// ------------------------------------------------------------------------------------------------------------- robots

// Cars that try ways at random: the cost of each way, for control by path integrals.
__global__ void mppi_rollouts(const float2* __restrict__ plan, float* __restrict__ costs, int n, int steps, float noise,
                              u32 seed) {
  const int i = thread_id();
  if (i >= n) return;
  u32 state = scrambled(i ^ seed);
  float x = 0.0f, y = 0.0f, heading = 0.0f, speed = 1.0f, cost = 0.0f;
  for (int k = 0; k < steps; k++) {
    const float2 wish = plan[k];
    const float radius = noise * sqrtf(-2.0f * __logf(chance(state)));
    float s, c;
    __sincosf(6.2831853f * chance(state), &s, &c);
    const float push = wish.x + radius * c, steer = fminf(fmaxf(wish.y + radius * s, -0.5f), 0.5f);
    __sincosf(heading, &s, &c);
    x += 0.05f * speed * c;
    y += 0.05f * speed * s;
    heading += 0.05f * speed * __tanf(steer) / 0.3f;
    speed = fmaxf(speed + 0.05f * push, 0.0f);
    const float off = sqrtf(x * x + y * y) - 2.0f;
    cost += off * off + 0.1f * (speed - 1.5f) * (speed - 1.5f) + 0.01f * steer * steer;
    if (off > 1.5f) cost += 10.0f;
  }
  costs[i] = cost;
}

// Sums for a step that lays points on planes: 21 products and 6 right sides, per block. pairs: point, target, normal.
__global__ void icp_sums(const float* __restrict__ pairs, float* __restrict__ out, int n) {
  __shared__ float parts[32];
  float sums[27] = {};
  for (int i = thread_id(); i < n; i += gridDim.x * blockDim.x) {
    float v[9];
#pragma unroll
    for (int k = 0; k < 9; k++) v[k] = pairs[(size_t)k * n + i];
    const float row[6] = {v[1] * v[8] - v[2] * v[7], v[2] * v[6] - v[0] * v[8], v[0] * v[7] - v[1] * v[6],
                          v[6],                      v[7],                      v[8]};
    const float off = (v[3] - v[0]) * v[6] + (v[4] - v[1]) * v[7] + (v[5] - v[2]) * v[8];
    if (fabsf(off) > 2.0f) continue;
    int at = 0;
#pragma unroll
    for (int a = 0; a < 6; a++) {
#pragma unroll
      for (int b = 0; b <= a; b++) sums[at++] += row[a] * row[b];
      sums[21 + a] += row[a] * off;
    }
  }
#pragma unroll
  for (int k = 0; k < 27; k++) {
    const float sum = block_sum(sums[k], parts);
    if (threadIdx.x == 0) out[blockIdx.x * 27 + k] = sum;
  }
}

// Rays of a laser through a map: places on the way lose a point, the last one wins five. ends: x and y per ray.
__global__ void lidar_carve(const int2* __restrict__ ends, int* map, int n, int side) {
  const int i = thread_id();
  if (i >= n) return;
  const int2 end = ends[i];
  int x = side / 2, y = side / 2;
  const int dx = abs(end.x - x), dy = -abs(end.y - y), sx = x < end.x ? 1 : -1, sy = y < end.y ? 1 : -1;
  int error = dx + dy;
  while (x != end.x || y != end.y) {
    atomicSub(&map[y * side + x], 1);
    const int twice = 2 * error;
    if (twice >= dy) {
      error += dy;
      x += sx;
    }
    if (twice <= dx) {
      error += dx;
      y += sy;
    }
  }
  atomicAdd(&map[y * side + x], 5);
}

// An arm with six joints: where its hand is, and how that changes with each joint.
__global__ void arm_jacobian(const float* __restrict__ angles, const float4* __restrict__ links,
                             float* __restrict__ out, int n) {
  __shared__ float4 link[6];
  if (threadIdx.x < 6) link[threadIdx.x] = links[threadIdx.x];
  __syncthreads();
  for (int i = thread_id(); i < n; i += gridDim.x * blockDim.x) {
    float3 a = make_float3(1, 0, 0), b = make_float3(0, 1, 0), c = make_float3(0, 0, 1), p = make_float3(0, 0, 0);
    float3 axes[6], joints[6];
#pragma unroll
    for (int k = 0; k < 6; k++) {
      axes[k] = c;
      joints[k] = p;
      float s, t, sa, ca;
      sincosf(angles[k * n + i], &s, &t);
      sincosf(link[k].z, &sa, &ca);
      const float3 x = make_float3(t * a.x + s * b.x, t * a.y + s * b.y, t * a.z + s * b.z);
      const float3 y = make_float3(t * b.x - s * a.x, t * b.y - s * a.y, t * b.z - s * a.z);
      p = make_float3(p.x + link[k].x * x.x + link[k].y * c.x, p.y + link[k].x * x.y + link[k].y * c.y,
                      p.z + link[k].x * x.z + link[k].y * c.z);
      a = x;
      b = make_float3(ca * y.x + sa * c.x, ca * y.y + sa * c.y, ca * y.z + sa * c.z);
      c = crossed(a, b);
    }
#pragma unroll
    for (int k = 0; k < 6; k++) {
      const float3 arm = make_float3(p.x - joints[k].x, p.y - joints[k].y, p.z - joints[k].z);
      const float3 v = crossed(axes[k], arm);
      out[(size_t)(3 * k) * n + i] = v.x;
      out[(size_t)(3 * k + 1) * n + i] = v.y;
      out[(size_t)(3 * k + 2) * n + i] = v.z;
    }
  }
}

// A colony of ants: each one, a warp, visits 64 towns; the next one by chance, with the trails as weights.
__global__ void ant_tours(const float* __restrict__ trails, u8* __restrict__ tours, int ants, u32 seed) {
  const int ant = thread_id() / 32, lane = threadIdx.x % 32;
  if (ant >= ants) return;
  u32 state = scrambled(ant ^ seed);
  int town = state >> 26;
  bool open_low = town != lane, open_high = town != lane + 32;
  if (lane == 0) tours[ant * 64] = town;
  for (int k = 1; k < 64; k++) {
    const float low = open_low ? trails[town * 64 + lane] : 0.0f;
    const float high = open_high ? trails[town * 64 + lane + 32] : 0.0f;
    float upto = low + high;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const float other = __shfl_up_sync(FULL, upto, step);
      if (lane >= step) upto += other;
    }
    const float wanted = chance(state) * __shfl_sync(FULL, upto, 31);
    const u32 reached = __ballot_sync(FULL, upto >= wanted && low + high > 0.0f);
    const int chosen = __ffs(reached) - 1;
    const bool first = open_low && (!open_high || upto - high >= wanted);
    town = chosen + (__shfl_sync(FULL, first, chosen) ? 0 : 32);
    open_low = open_low && town != lane;
    open_high = open_high && town != lane + 32;
    if (lane == 0) tours[ant * 64 + k] = town;
  }
}

// ----------------------------------------------------------------------------------------------------------- matrices

// Determinants of 16 x 16 matrices, a row per lane and two matrices per warp; the greatest element leads.
__global__ void lu_pivot(const float* __restrict__ matrices, float* __restrict__ out, int n) {
  const int which = thread_id() / 16, lane = threadIdx.x % 16;
  float row[16], determinant = 1.0f;
#pragma unroll
  for (int c = 0; c < 16; c++) row[c] = which < n ? matrices[(size_t)which * 256 + c * 16 + lane] : 1.0f;
  bool waiting = true;
  int swaps = 0;
#pragma unroll
  for (int c = 0; c < 16; c++) {
    float size = waiting ? fabsf(row[c]) : -1.0f;
    int leader = lane;
#pragma unroll
    for (int step = 8; step > 0; step /= 2) {
      const float other = __shfl_xor_sync(FULL, size, step, 16);
      const int from = __shfl_xor_sync(FULL, leader, step, 16);
      if (other > size || (other == size && from < leader)) {
        size = other;
        leader = from;
      }
    }
    const u32 others = __ballot_sync(FULL, waiting) >> (threadIdx.x & 16) & 0xffffu;
    swaps += __popc(others & ((1u << leader) - 1));
    const float pivot = __shfl_sync(FULL, row[c], leader, 16);
    determinant *= pivot;
    if (lane == leader) waiting = false;
    const float factor = waiting ? row[c] / pivot : 0.0f;
#pragma unroll
    for (int k = c + 1; k < 16; k++) row[k] -= factor * __shfl_sync(FULL, row[k], leader, 16);
  }
  if (lane == 0 && which < n) out[which] = swaps & 1 ? -determinant : determinant;
}

// The lower half of A times its transpose: a block of 16 x 16 threads per tile of 64 x 64, 4 x 4 numbers per thread.
__global__ void syrk_tiles(const float* __restrict__ a, float* __restrict__ c, int n, int depth) {
  __shared__ float left[16][65], right[16][65];
  int row = (int)((sqrtf(8.0f * blockIdx.x + 1.0f) - 1.0f) * 0.5f);
  while ((row + 1) * (row + 2) / 2 <= (int)blockIdx.x) row++;
  while (row * (row + 1) / 2 > (int)blockIdx.x) row--;
  const int column = blockIdx.x - row * (row + 1) / 2, x = threadIdx.x, y = threadIdx.y;
  float sums[4][4] = {};
  for (int k = 0; k < depth; k += 16) {
#pragma unroll
    for (int r = y; r < 64; r += 16) {
      left[x][r] = a[(size_t)(row * 64 + r) * depth + k + x];
      right[x][r] = a[(size_t)(column * 64 + r) * depth + k + x];
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < 16; d++) {
      float p[4], q[4];
#pragma unroll
      for (int e = 0; e < 4; e++) {
        p[e] = left[d][y + 16 * e];
        q[e] = right[d][x + 16 * e];
      }
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sums[i][j] += p[i] * q[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) c[(size_t)(row * 64 + y + 16 * i) * n + column * 64 + x + 16 * j] = sums[i][j];
}

// ------------------------------------------------------------------------------------------------------------ signals

// Signals beside a template of 64 numbers: tiles arrive by asynchronous copies, three stages; a signal per block.
__global__ void async_correlate(const float* __restrict__ signals, const float* __restrict__ pattern,
                                float* __restrict__ best, int length) {
  __shared__ __align__(16) float tiles[3][256 + 64];
  __shared__ float wanted[64], parts[8];
  const int t = threadIdx.x, count = length / 256 - 1;
  const float* mine = signals + (size_t)blockIdx.x * length;
  if (t < 64) wanted[t] = pattern[t];
  for (int k = 0; k < 2; k++) {
    if (t < 80 && k < count) __pipeline_memcpy_async(&tiles[k][4 * t], &mine[256 * k + 4 * t], 16);
    __pipeline_commit();
  }
  float highest = -1e30f;
  for (int k = 0; k < count; k++) {
    if (t < 80 && k + 2 < count) __pipeline_memcpy_async(&tiles[(k + 2) % 3][4 * t], &mine[256 * (k + 2) + 4 * t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(2);
    __syncthreads();
    for (int place = t; place < 256; place += blockDim.x) {
      float sum = 0.0f;
#pragma unroll 16
      for (int j = 0; j < 64; j++) sum += tiles[k % 3][place + j] * wanted[j];
      highest = fmaxf(highest, sum);
    }
    __syncthreads();
  }
  highest = warp_max(highest);
  if (t % 32 == 0) parts[t / 32] = highest;
  __syncthreads();
  if (t == 0) {
    for (int w = 1; w < (int)blockDim.x / 32; w++) highest = fmaxf(highest, parts[w]);
    best[blockIdx.x] = highest;
  }
}

// Lengths of vectors of 256 numbers: one warp fetches, the others compute, with named barriers for two buffers.
__global__ void specialised_norms(const float4* __restrict__ in, float* __restrict__ out, int rounds) {
  __shared__ float4 buffers[2][4][64];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float4* mine = in + (size_t)blockIdx.x * rounds * 256;
  if (warp == 4) {
    for (int k = 0; k < rounds; k++) {
      if (k >= 2) asm volatile("bar.sync %0, 160;" ::"r"(3 + (k & 1)) : "memory");
#pragma unroll
      for (int j = 0; j < 8; j++) (&buffers[k & 1][0][0])[j * 32 + lane] = mine[k * 256 + j * 32 + lane];
      asm volatile("bar.arrive %0, 160;" ::"r"(1 + (k & 1)) : "memory");
    }
  } else {
    for (int k = 0; k < rounds; k++) {
      asm volatile("bar.sync %0, 160;" ::"r"(1 + (k & 1)) : "memory");
      const float4 a = buffers[k & 1][warp][lane], b = buffers[k & 1][warp][lane + 32];
      const float sum = warp_sum(a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w + b.x * b.x + b.y * b.y + b.z * b.z +
                                 b.w * b.w);
      if (k + 2 < rounds) asm volatile("bar.arrive %0, 160;" ::"r"(3 + (k & 1)) : "memory");
      if (lane == 0) out[((size_t)blockIdx.x * rounds + k) * 4 + warp] = sqrtf(sum);
    }
  }
}

// Fourier transforms of 2^LOG complex numbers by Stockham, in shared memory, a signal per block.
template <int LOG>
__global__ void stockham(const float2* __restrict__ in, float2* __restrict__ out) {
  constexpr int N = 1 << LOG;
  __shared__ float2 data[2][N];
  const size_t first = (size_t)blockIdx.x * N;
  for (int k = threadIdx.x; k < N; k += blockDim.x) data[0][k] = in[first + k];
  __syncthreads();
  for (int step = 0; step < LOG; step++) {
    const float2* from = data[step & 1];
    float2* to = data[1 - (step & 1)];
    const int wide = 1 << step;
    for (int k = threadIdx.x; k < N / 2; k += blockDim.x) {
      const int place = k & (wide - 1);
      const float2 a = from[k], b = from[k + N / 2];
      float s, c;
      sincospif(-(float)place / wide, &s, &c);
      const float2 turned = make_float2(c * b.x - s * b.y, c * b.y + s * b.x);
      const int at = ((k - place) << 1) + place;
      to[at] = make_float2(a.x + turned.x, a.y + turned.y);
      to[at + wide] = make_float2(a.x - turned.x, a.y - turned.y);
    }
    __syncthreads();
  }
  for (int k = threadIdx.x; k < N; k += blockDim.x) out[first + k] = data[LOG & 1][k];
}

// Decoding of a convolutional code with 64 states by Viterbi: a warp per frame, two states per lane.
__global__ void viterbi_k7(const signed char* __restrict__ symbols, u64* __restrict__ choices, u8* __restrict__ out,
                           int frames, int length) {
  const int frame = thread_id() / 32, lane = threadIdx.x % 32;
  if (frame >= frames) return;
  const signed char* mine = symbols + (size_t)frame * length * 2;
  u64* chosen = choices + (size_t)frame * length;
  // State s comes from s / 2 and s / 2 + 32; its lowest bit is the bit that was sent.
  int low = lane == 0 ? 0 : -100000, high = -100000;
  for (int k = 0; k < length; k++) {
    const int a = mine[2 * k], b = mine[2 * k + 1];
    int metrics[2], picks[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int state = lane + 32 * h, from = state / 2;
      const int first = __shfl_sync(FULL, low, from), second = __shfl_sync(FULL, high, from);
      const int path = (from << 1 | (state & 1)) & 127;
      const int sign_a = __popc(path & 0x4f) & 1, sign_b = __popc(path & 0x6d) & 1;
      const int gain = (sign_a ? a : -a) + (sign_b ? b : -b);
      picks[h] = second - gain > first + gain;
      metrics[h] = picks[h] ? second - gain : first + gain;
    }
    low = metrics[0];
    high = metrics[1];
    const u32 one = __ballot_sync(FULL, picks[0]), two = __ballot_sync(FULL, picks[1]);
    if (lane == 0) chosen[k] = (u64)two << 32 | one;
  }
  const int top = max(low, high);
  const int best = __reduce_max_sync(FULL, top);
  const u32 in_low = __ballot_sync(FULL, low == best), in_high = __ballot_sync(FULL, high == best);
  if (lane > 0) return;
  int state = in_low ? __ffs(in_low) - 1 : 31 + __ffs(in_high);
  for (int k = length - 1; k >= 0; k--) {
    out[(size_t)frame * length + k] = state & 1;
    state = state / 2 + (chosen[k] >> state & 1 ? 32 : 0);
  }
}

// Syndromes of Reed and Solomon's code words of 255 bytes: a thread per code word, tables in shared memory.
__global__ void rs_syndromes(const u8* __restrict__ words, const u8* __restrict__ tables, u8* __restrict__ out, int n,
                             int count) {
  __shared__ u8 powers[512], logs[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) {
    if (k < 255) powers[k] = powers[k + 255] = tables[k];
    logs[k] = tables[256 + k];
  }
  __syncthreads();
  const int i = thread_id();
  if (i >= n) return;
  for (int s = 0; s < count; s++) {
    int sum = 0;
    for (int k = 0; k < 255; k++) sum = words[(size_t)k * n + i] ^ (sum ? powers[logs[sum] + s] : 0);
    out[(size_t)s * n + i] = sum;
  }
}

// ------------------------------------------------------------------------------------------------------------ sorting

// Each block sorts ITEMS numbers per thread: each thread its own, then pairs of sorted parts by their merge paths.
template <int ITEMS>
__global__ void merge_block_sort(const int* __restrict__ in, int* __restrict__ out) {
  extern __shared__ int keys[];
  const int t = threadIdx.x, total = blockDim.x * ITEMS;
  const size_t first = (size_t)blockIdx.x * total;
  for (int k = t; k < total; k += blockDim.x) keys[k] = in[first + k];
  __syncthreads();
  int mine[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; k++) mine[k] = keys[t * ITEMS + k];
#pragma unroll
  for (int turn = 0; turn < ITEMS; turn++)
#pragma unroll
    for (int k = turn & 1; k + 1 < ITEMS; k += 2) {
      const int a = mine[k], b = mine[k + 1];
      mine[k] = min(a, b);
      mine[k + 1] = max(a, b);
    }
  for (int part = ITEMS; part < total; part *= 2) {
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ITEMS; k++) keys[t * ITEMS + k] = mine[k];
    __syncthreads();
    const int start = t * ITEMS / (2 * part) * 2 * part, diagonal = t * ITEMS - start;
    const int* a = keys + start;
    const int* b = a + part;
    int low = max(0, diagonal - part), high = min(diagonal, part);
    while (low < high) {
      const int middle = (low + high) / 2;
      if (a[middle] <= b[diagonal - 1 - middle])
        low = middle + 1;
      else
        high = middle;
    }
    int p = low, q = diagonal - low;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
      const bool left = q >= part || (p < part && a[p] <= b[q]);
      mine[k] = left ? a[p++] : b[q++];
    }
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < ITEMS; k++) keys[t * ITEMS + k] = mine[k];
  __syncthreads();
  for (int k = t; k < total; k += blockDim.x) out[first + k] = keys[k];
}

// A pass of bitonic sorting through the whole array: pairs that are `apart` from each other, in runs of `run`.
__global__ void bitonic_pass(const int* __restrict__ in, int* __restrict__ out, int n, int run, int apart_by) {
  for (int i = thread_id(); i < n / 2; i += gridDim.x * blockDim.x) {
    const int low = 2 * i - (i & (apart_by - 1)), high = low + apart_by;
    const int a = in[low], b = in[high];
    const bool up = (low & run) == 0;
    out[low] = (a <= b) == up ? a : b;
    out[high] = (a <= b) == up ? b : a;
  }
}

// How often each of the four bytes of keys has each value: what a radix sort counts first.
__global__ void digit_histograms(const u32* __restrict__ keys, int* out, int n) {
  __shared__ int counts[4][256];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) (&counts[0][0])[k] = 0;
  __syncthreads();
  for (int i = thread_id(); i < n; i += gridDim.x * blockDim.x) {
    const u32 key = keys[i];
#pragma unroll
    for (int d = 0; d < 4; d++) atomicAdd(&counts[d][key >> 8 * d & 255], 1);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) {
    const int count = (&counts[0][0])[k];
    if (count) atomicAdd(&out[k], count);
  }
}

// The greatest number so far, all over an array in one pass: blocks look back at the states of those before, and the
// last one to end clears the states. state: a word of 64 bits per block, then the two tickets.
__global__ void lookback_max(const int* __restrict__ in, int* __restrict__ out, volatile u64* states, int* tickets,
                             int n) {
  __shared__ int tops[32], order, before;
  if (threadIdx.x == 0) order = atomicAdd(&tickets[0], 1);
  __syncthreads();
  const int block = order, lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = block * blockDim.x + threadIdx.x;
  int top = i < n ? in[i] : 0;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(FULL, top, step);
    if (lane >= step) top = max(top, other);
  }
  if (lane == 31) tops[warp] = top;
  __syncthreads();
  int mine = 0, all = 0;
  for (int w = 0; w < (int)blockDim.x / 32; w++) {
    if (w < warp) mine = max(mine, tops[w]);
    all = max(all, tops[w]);
  }
  if (threadIdx.x == 0) {
    states[block] = (u64)(block ? 1 : 2) << 32 | (u32)all;
    int found = 0;
    for (int k = block - 1; k >= 0; k--) {
      u64 state;
      do state = states[k];
      while (state >> 32 == 0);
      found = max(found, (int)(u32)state);
      if (state >> 32 == 2) break;
    }
    if (block) states[block] = 2ull << 32 | (u32)max(found, all);
    before = found;
  }
  __syncthreads();
  if (i < n) out[i] = max(max(top, mine), before);
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(&tickets[1], 1) == (int)gridDim.x - 1) {
      for (int k = 0; k < (int)gridDim.x; k++) states[k] = 0;
      tickets[0] = tickets[1] = 0;
    }
  }
}

// Heat on a ring, all blocks together: a barrier for the whole grid between the steps, made of one counter.
__global__ void heat_persistent(volatile float* a, volatile float* b, u32* arrived, int n, int steps) {
  for (int s = 0; s < steps; s++) {
    volatile float* from = s & 1 ? b : a;
    volatile float* to = s & 1 ? a : b;
    for (int i = thread_id(); i < n; i += gridDim.x * blockDim.x)
      to[i] = 0.5f * from[i] + 0.25f * (from[i ? i - 1 : n - 1] + from[i + 1 < n ? i + 1 : 0]);
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      const u32 ticket = atomicAdd(arrived, 1), goal = (ticket / gridDim.x + 1) * gridDim.x;
      while ((int)(*(volatile u32*)arrived - goal) < 0) {
      }
      __threadfence();
    }
    __syncthreads();
  }
}

// --------------------------------------------------------------------------------------------------------------- code

// A network of GATES gates that a program has drawn, on 32 words at once: long code without a branch.
template <int GATES>
__global__ void gate_network(const u32* __restrict__ in, u32* __restrict__ out, int n) {
  const int i = thread_id();
  if (i >= n) return;
  u32 w[16];
#pragma unroll
  for (int k = 0; k < 16; k++) w[k] = in[k * n + i];
  u32 plan = 12345;
#pragma unroll
  for (int g = 0; g < GATES; g++) {
    plan = plan * 1103515245u + 12345u;
    const u32 a = plan >> 16 & 15, b = plan >> 20 & 15, c = plan >> 24 & 15, kind = plan >> 28 & 3;
    if (kind == 0) w[c] ^= w[a] & w[b];
    if (kind == 1) w[c] += w[a] | w[b];
    if (kind == 2) w[c] = (w[a] ^ w[b]) - w[c];
    if (kind == 3) w[c] ^= w[a] << 7 ^ w[b] >> 9;
  }
#pragma unroll
  for (int k = 0; k < 16; k++) out[k * n + i] = w[k];
}

// Formulas that a search has drawn, each on all points: codes with a stack per thread; a formula per line of the grid.
__global__ void postfix_programs(const u8* __restrict__ codes, const float* __restrict__ points,
                                 float* __restrict__ out, int length, int n) {
  __shared__ u8 code[256];
  for (int k = threadIdx.x; k < length; k += blockDim.x) code[k] = codes[blockIdx.y * length + k];
  __syncthreads();
  const int i = thread_id();
  if (i >= n) return;
  float stack[16];
  int depth = 0;
  for (int k = 0; k < length; k++) {
    const int op = code[k];
    if (depth < 2 || (op < 4 && depth < 16)) {
      if (depth < 16) stack[depth++] = points[(op & 3) * n + i];
      continue;
    }
    const float b = stack[--depth], a = stack[--depth];
    switch (op) {
      case 4: stack[depth++] = a + b; break;
      case 5: stack[depth++] = a - b; break;
      case 6: stack[depth++] = a * b; break;
      case 7: stack[depth++] = a / (1.0f + b * b); break;
      case 8: stack[depth++] = fminf(a, b); break;
      case 9: stack[depth++] = a * __cosf(b); break;
      case 10: stack[depth++] = sqrtf(fabsf(a)) - b; break;
      default: stack[depth++] = a > 0.0f ? b : -b;
    }
  }
  out[(size_t)blockIdx.y * n + i] = stack[depth - 1];
}

// Where a rolling hash of 16 letters cuts a text into chunks: each thread counts the cuts in its part.
__global__ void rolling_cuts(const u8* __restrict__ text, const u32* __restrict__ table, int* __restrict__ cuts, int n,
                             int part, u32 mask) {
  __shared__ u32 values[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) values[k] = table[k];
  __syncthreads();
  const int i = thread_id();
  if (i >= n) return;
  const u8* mine = text + (size_t)i * part;
  u32 hash = 0;
  int count = 0;
  for (int k = 0; k < part; k++) {
    hash = __funnelshift_l(hash, hash, 1) ^ values[mine[k]];
    if (k >= 16) {
      const u32 old = values[mine[k - 16]];
      hash ^= __funnelshift_l(old, old, 16);
      count += (hash & mask) == 0;
    }
  }
  cuts[i] = count;
}

// Hamiltonian Monte Carlo in a bent valley: a chain per thread, eight steps per proposal.
__global__ void hamiltonian_chain(float2* __restrict__ out, int n, int proposals, float step, u32 seed) {
  const int i = thread_id();
  if (i >= n) return;
  u32 state = scrambled(i ^ seed);
  float x = 0.0f, y = 0.0f;
  for (int p = 0; p < proposals; p++) {
    const float radius = sqrtf(-2.0f * __logf(chance(state)));
    float py, px;
    __sincosf(6.2831853f * chance(state), &py, &px);
    px *= radius;
    py *= radius;
    float nx = x, ny = y, bend = ny - nx * nx;
    const float before = 0.5f * (px * px + py * py + x * x) + 2.0f * bend * bend;
    for (int k = 0; k < 8; k++) {
      px -= 0.5f * step * (nx - 8.0f * bend * nx);
      py -= 0.5f * step * 4.0f * bend;
      nx += step * px;
      ny += step * py;
      bend = ny - nx * nx;
      px -= 0.5f * step * (nx - 8.0f * bend * nx);
      py -= 0.5f * step * 4.0f * bend;
    }
    const float after = 0.5f * (px * px + py * py + nx * nx) + 2.0f * bend * bend;
    if (chance(state) < __expf(before - after)) {
      x = nx;
      y = ny;
    }
  }
  out[i] = make_float2(x, y);
}
