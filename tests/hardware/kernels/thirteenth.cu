// Kernels for tests/hardware/thirteenth_cases.py: other ones than those of the twelve sets before, as programs have
// them.
#include <cuda_fp16.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define FULL 0xffffffffu

__device__ __forceinline__ int thread_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ u32 scrambled(u32 h) {
  h = (h ^ h >> 16) * 0x7feb352du;
  h = (h ^ h >> 15) * 0x846ca68bu;
  return h ^ h >> 16;
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

__device__ __forceinline__ int clamped(int k, int n) { return min(max(k, 0), n - 1); }

// ------------------------------------------------------------------------------------------------------- tensor cores

__device__ __forceinline__ u32 rounded_tf32(float x) {
  u32 bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}

__device__ __forceinline__ void multiply_half(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ u32 two_halves(float low, float high) {
  const __half2 both = __floats2half2_rn(low, high);
  return *(const u32*)&both;
}

// Matrices of floats on tensor cores as TF32: a block of four warps has 64 x 32 numbers, a warp 16 x 32.
__global__ void tf32_product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n,
                             int depth) {
  __shared__ u32 left[64][20], right[16][40];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32, row = blockIdx.y * 64, column = blockIdx.x * 32;
  const int group = lane / 4, place = lane % 4;
  float sums[4][4] = {};
  for (int base = 0; base < depth; base += 16) {
#pragma unroll
    for (int k = t; k < 256; k += 128) {
      const float4 v = *(const float4*)&a[(size_t)(row + k / 4) * depth + base + k % 4 * 4];
      *(uint4*)&left[k / 4][k % 4 * 4] =
          make_uint4(rounded_tf32(v.x), rounded_tf32(v.y), rounded_tf32(v.z), rounded_tf32(v.w));
    }
    const float4 v = *(const float4*)&b[(size_t)(base + t / 8) * n + column + t % 8 * 4];
    *(uint4*)&right[t / 8][t % 8 * 4] =
        make_uint4(rounded_tf32(v.x), rounded_tf32(v.y), rounded_tf32(v.z), rounded_tf32(v.w));
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k += 8) {
      const u32 x0 = left[warp * 16 + group][k + place], x1 = left[warp * 16 + group + 8][k + place];
      const u32 x2 = left[warp * 16 + group][k + place + 4], x3 = left[warp * 16 + group + 8][k + place + 4];
#pragma unroll
      for (int j = 0; j < 4; j++)
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(sums[j][0]), "+f"(sums[j][1]), "+f"(sums[j][2]), "+f"(sums[j][3])
            : "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(right[k + place][j * 8 + group]),
              "r"(right[k + place + 4][j * 8 + group]));
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < 4; j++) {
    float* out = c + (size_t)(row + warp * 16 + group) * n + column + j * 8 + 2 * place;
    *(float2*)out = make_float2(sums[j][0], sums[j][1]);
    *(float2*)(out + (size_t)8 * n) = make_float2(sums[j][2], sums[j][3]);
  }
}

// Attention on tensor cores, 32 numbers per head: a warp has 16 queries, and all warps share tiles of 32 keys. The
// values come with their numbers first: [head][number][token].
__global__ void attend_mma(const u32* __restrict__ q, const u32* __restrict__ k, const u32* __restrict__ v,
                           float* __restrict__ out, int length) {
  __shared__ u32 keys[32][20], values[32][20];
  const int lane = threadIdx.x % 32, group = lane / 4, place = lane % 4;
  const int row = (thread_id() / 32) * 16 + group;
  const size_t head = (size_t)blockIdx.y * length * 16;
  u32 query[2][4];
#pragma unroll
  for (int s = 0; s < 2; s++) {
    const u32* from = q + head + (size_t)row * 16 + 8 * s + place;
    query[s][0] = from[0];
    query[s][1] = from[8 * 16];
    query[s][2] = from[4];
    query[s][3] = from[8 * 16 + 4];
  }
  float mixed[4][4] = {}, top[2] = {-1e30f, -1e30f}, sum[2] = {};
  for (int base = 0; base < length; base += 32) {
    for (int e = threadIdx.x; e < 512; e += blockDim.x) {
      keys[e / 16][e % 16] = k[head + (size_t)(base + e / 16) * 16 + e % 16];
      values[e / 16][e % 16] = v[head + (size_t)(e / 16) * (length / 2) + base / 2 + e % 16];
    }
    __syncthreads();
    float scores[4][4] = {};
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int s = 0; s < 2; s++)
        multiply_half(scores[j], query[s], keys[8 * j + group][8 * s + place], keys[8 * j + group][8 * s + place + 4]);
#pragma unroll
    for (int h = 0; h < 2; h++) {
      float highest = top[h];
#pragma unroll
      for (int j = 0; j < 4; j++) {
        scores[j][2 * h] *= 0.17677670f;
        scores[j][2 * h + 1] *= 0.17677670f;
        highest = fmaxf(highest, fmaxf(scores[j][2 * h], scores[j][2 * h + 1]));
      }
      highest = fmaxf(highest, __shfl_xor_sync(FULL, highest, 1));
      highest = fmaxf(highest, __shfl_xor_sync(FULL, highest, 2));
      const float before = __expf(top[h] - highest);
      top[h] = highest;
      sum[h] *= before;
#pragma unroll
      for (int j = 0; j < 4; j++) {
        mixed[j][2 * h] *= before;
        mixed[j][2 * h + 1] *= before;
        scores[j][2 * h] = __expf(scores[j][2 * h] - highest);
        scores[j][2 * h + 1] = __expf(scores[j][2 * h + 1] - highest);
        sum[h] += scores[j][2 * h] + scores[j][2 * h + 1];
      }
    }
#pragma unroll
    for (int s = 0; s < 2; s++) {
      const u32 shares[4] = {
          two_halves(scores[2 * s][0], scores[2 * s][1]), two_halves(scores[2 * s][2], scores[2 * s][3]),
          two_halves(scores[2 * s + 1][0], scores[2 * s + 1][1]),
          two_halves(scores[2 * s + 1][2], scores[2 * s + 1][3])};
#pragma unroll
      for (int j = 0; j < 4; j++)
        multiply_half(mixed[j], shares, values[8 * j + group][8 * s + place],
                      values[8 * j + group][8 * s + place + 4]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int h = 0; h < 2; h++) {
    sum[h] += __shfl_xor_sync(FULL, sum[h], 1);
    sum[h] += __shfl_xor_sync(FULL, sum[h], 2);
    float* to = out + 2 * head + (size_t)(row + 8 * h) * 32 + 2 * place;
#pragma unroll
    for (int j = 0; j < 4; j++)
      *(float2*)(to + 8 * j) = make_float2(mixed[j][2 * h] / sum[h], mixed[j][2 * h + 1] / sum[h]);
  }
}

// How likely sequences are by a hidden Markov model of 16 states: a warp has 16 sequences, a step is a product of 16 x
// 16 x 16 on tensor cores. The scale moves to a logarithm in each step.
__global__ void hmm_forward(const u32* __restrict__ moves, const float* __restrict__ emits,
                            const u8* __restrict__ symbols, float* __restrict__ out, int n, int length) {
  __shared__ float likely[8][16];
  for (int k = threadIdx.x; k < 128; k += blockDim.x) likely[k / 16][k % 16] = emits[k];
  __syncthreads();
  const int lane = threadIdx.x % 32, group = lane / 4, place = lane % 4, first = thread_id() / 32 * 16 + group;
  if (first - group >= n) return;
  u32 b[2][2];
#pragma unroll
  for (int j = 0; j < 2; j++) {
    b[j][0] = moves[(8 * j + group) * 8 + place];
    b[j][1] = moves[(8 * j + group) * 8 + place + 4];
  }
  float state[2][4], logs[2] = {};
#pragma unroll
  for (int j = 0; j < 2; j++)
#pragma unroll
    for (int k = 0; k < 4; k++) state[j][k] = 0.0625f;
  for (int t = 0; t < length; t++) {
    const u32 a[4] = {two_halves(state[0][0], state[0][1]), two_halves(state[0][2], state[0][3]),
                      two_halves(state[1][0], state[1][1]), two_halves(state[1][2], state[1][3])};
    float next[2][4] = {};
    multiply_half(next[0], a, b[0][0], b[0][1]);
    multiply_half(next[1], a, b[1][0], b[1][1]);
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const float* row = likely[symbols[(size_t)t * n + first + 8 * h]];
      float sum = 0.0f;
#pragma unroll
      for (int j = 0; j < 2; j++)
#pragma unroll
        for (int k = 0; k < 2; k++) sum += next[j][2 * h + k] *= row[8 * j + 2 * place + k];
      sum += __shfl_xor_sync(FULL, sum, 1);
      sum += __shfl_xor_sync(FULL, sum, 2);
      logs[h] += __logf(sum);
      const float scale = __fdividef(1.0f, sum);
#pragma unroll
      for (int j = 0; j < 2; j++)
#pragma unroll
        for (int k = 0; k < 2; k++) state[j][2 * h + k] = next[j][2 * h + k] * scale;
    }
  }
  if (place == 0) {
    out[first] = logs[0];
    out[first + 8] = logs[1];
  }
}

// Matrices in double precision on tensor cores: a warp has 16 x 16 numbers. B is given by columns.
__global__ void double_product(const double* __restrict__ a, const double* __restrict__ b, double* __restrict__ c,
                               int n, int depth) {
  const int tile = thread_id() / 32, lane = threadIdx.x % 32, across = n / 16;
  const int row = tile / across * 16, column = tile % across * 16;
  if (row >= n) return;
  const double* x = a + (size_t)(row + lane / 4) * depth + lane % 4;
  const double* y = b + (size_t)(column + lane / 4) * depth + lane % 4;
  double sums[2][2][2] = {};
#pragma unroll 4
  for (int k = 0; k < depth; k += 4) {
    const double left[2] = {x[k], x[8 * depth + k]}, right[2] = {y[k], y[8 * depth + k]};
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int j = 0; j < 2; j++)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(sums[i][j][0]), "+d"(sums[i][j][1])
                     : "d"(left[i]), "d"(right[j]));
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 2; j++)
      *(double2*)&c[(size_t)(row + 8 * i + lane / 4) * n + column + 8 * j + lane % 4 * 2] =
          make_double2(sums[i][j][0], sums[i][j][1]);
}

// --------------------------------------------------------------------------------------------------- machine learning

// A recurrent layer of H numbers: a thread per number, its weights in registers, a block per sequence.
template <int H>
__global__ void elman_cells(const float* __restrict__ inputs, const float* __restrict__ weights,
                            float* __restrict__ out, int steps) {
  __shared__ __align__(16) float hidden[2][H];
  const int t = threadIdx.x;
  float mine[H];
#pragma unroll
  for (int k = 0; k < H; k++) mine[k] = weights[k * H + t];
  hidden[0][t] = 0.0f;
  __syncthreads();
  for (int s = 0; s < steps; s++) {
    float sum = inputs[((size_t)blockIdx.x * steps + s) * H + t], other = 0.0f;
#pragma unroll
    for (int k = 0; k < H; k += 4) {
      const float4 h = *(const float4*)&hidden[s & 1][k];
      sum += mine[k] * h.x + mine[k + 1] * h.y;
      other += mine[k + 2] * h.z + mine[k + 3] * h.w;
    }
    hidden[1 - (s & 1)][t] = tanhf(sum + other);
    __syncthreads();
  }
  out[(size_t)blockIdx.x * H + t] = hidden[steps & 1][t];
}

// A transposed convolution of 4 x 4 that doubles width and height, and sums over the channels.
__global__ void deconv_twice(const float* __restrict__ in, const float* __restrict__ weights, float* __restrict__ out,
                             int width, int height, int channels) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= 2 * width || y >= 2 * height) return;
  const int kx = (x + 1) & 1, ky = (y + 1) & 1, sx = (x + 1 - kx) / 2, sy = (y + 1 - ky) / 2;
  float sum = 0.0f;
  for (int c = 0; c < channels; c++) {
    const float* plane = in + (size_t)c * width * height;
    const float* w = weights + 16 * c;
#pragma unroll
    for (int j = 0; j < 2; j++)
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const int px = sx - i, py = sy - j;
        if (px >= 0 && px < width && py >= 0 && py < height)
          sum += plane[py * width + px] * w[(ky + 2 * j) * 4 + kx + 2 * i];
      }
  }
  out[(size_t)y * 2 * width + x] = sum;
}

// Gradients of the focal loss of a yes or no.
__global__ void focal_gradients(const float* __restrict__ logits, const u8* __restrict__ labels,
                                float* __restrict__ out, int n, float gamma) {
  for (int i = thread_id(); i < n; i += gridDim.x * blockDim.x) {
    const float sign = labels[i] ? 1.0f : -1.0f, right = __fdividef(1.0f, 1.0f + __expf(-sign * logits[i]));
    const float wrong = 1.0f - right;
    out[i] = sign * __powf(wrong, gamma) * (gamma * right * __logf(right) - wrong);
  }
}

// Samples for a deformable convolution: each pixel looks at a place of its own in all channels.
__global__ void deform_sample(const float* __restrict__ in, const float2* __restrict__ moves, float* __restrict__ out,
                              int width, int height, int channels) {
  const int i = thread_id(), size = width * height;
  if (i >= size) return;
  const float2 move = moves[i];
  const float x = i % width + move.x, y = i / width + move.y, left = floorf(x), up = floorf(y);
  const float wx = x - left, wy = y - up;
  int places[4];
  float weights[4];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const int px = (int)left + (k & 1), py = (int)up + (k >> 1);
    const bool inside = px >= 0 && px < width && py >= 0 && py < height;
    places[k] = inside ? py * width + px : 0;
    weights[k] = inside ? (k & 1 ? wx : 1 - wx) * (k >> 1 ? wy : 1 - wy) : 0.0f;
  }
  for (int c = 0; c < channels; c++) {
    const float* plane = in + (size_t)c * size;
    out[(size_t)c * size + i] = weights[0] * plane[places[0]] + weights[1] * plane[places[1]] +
                                weights[2] * plane[places[2]] + weights[3] * plane[places[3]];
  }
}

// Gradients of an embedding: each token's row is added to that of its word. Few words come often.
__global__ void embed_backward(const int* __restrict__ tokens, const float* __restrict__ gradients, float* table,
                               int n, int width) {
  for (int i = thread_id(); i < n * width; i += gridDim.x * blockDim.x)
    atomicAdd(&table[(size_t)tokens[i / width] * width + i % width], gradients[i]);
}

// How goods go from places to places at the least cost, blurred (Sinkhorn): rows and columns in turn, a problem per
// block, n + 1 numbers per row in shared memory.
__global__ void sinkhorn_plans(const float* __restrict__ costs, float* __restrict__ out, int n, int turns,
                               float blur) {
  extern __shared__ float kernel[];
  float* u = kernel + n * (n + 1);
  float* v = u + n;
  const float* mine = costs + (size_t)blockIdx.x * n * n;
  for (int k = threadIdx.x; k < n * n; k += blockDim.x) kernel[k / n * (n + 1) + k % n] = __expf(-mine[k] / blur);
  for (int k = threadIdx.x; k < n; k += blockDim.x) v[k] = 1.0f;
  __syncthreads();
  for (int turn = 0; turn < turns; turn++) {
    for (int r = threadIdx.x; r < n; r += blockDim.x) {
      float sum = 0.0f;
      for (int c = 0; c < n; c++) sum += kernel[r * (n + 1) + c] * v[c];
      u[r] = 1.0f / sum;
    }
    __syncthreads();
    for (int c = threadIdx.x; c < n; c += blockDim.x) {
      float sum = 0.0f;
      for (int r = 0; r < n; r++) sum += kernel[r * (n + 1) + c] * u[r];
      v[c] = 1.0f / sum;
    }
    __syncthreads();
  }
  for (int k = threadIdx.x; k < n * n; k += blockDim.x)
    out[(size_t)blockIdx.x * n * n + k] = u[k / n] * kernel[k / n * (n + 1) + k % n] * v[k % n];
}

// A trained network of 8, WIDTH, WIDTH and 1 numbers, whose weights a program has written into the code.
__device__ __forceinline__ constexpr float baked(u32 k) {
  return ((int)(k * 2654435761u >> 16 & 255) - 128) * 0.00390625f;
}
template <int WIDTH>
__global__ void baked_network(const float* __restrict__ in, float* __restrict__ out, int n) {
  const int i = thread_id();
  if (i >= n) return;
  float x[8], a[WIDTH], sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 8; k++) x[k] = in[k * n + i];
#pragma unroll
  for (int j = 0; j < WIDTH; j++) {
    a[j] = baked(j);
#pragma unroll
    for (int k = 0; k < 8; k++) a[j] += baked(1000 + 8 * j + k) * x[k];
    a[j] = fmaxf(a[j], 0.0f);
  }
#pragma unroll
  for (int j = 0; j < WIDTH; j++) {
    float b = baked(100 + j);
#pragma unroll
    for (int k = 0; k < WIDTH; k++) b += baked(5000 + WIDTH * j + k) * a[k];
    sum += baked(200 + j) * fmaxf(b, 0.0f);
  }
  out[i] = sum;
}

// ------------------------------------------------------------------------------------------------------------- images

// Equal brightness by tiles: each pixel between the curves of the four nearest tiles of `tile` pixels.
__global__ void clahe_map(const u8* __restrict__ in, const u8* __restrict__ curves, u8* __restrict__ out, int width,
                          int height, int tile) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int across = (width + tile - 1) / tile, down = (height + tile - 1) / tile, grey = in[y * width + x];
  const int fx = max(2 * x + 1 - tile, 0), fy = max(2 * y + 1 - tile, 0);
  const int left = min(fx / (2 * tile), across - 1), up = min(fy / (2 * tile), down - 1);
  const int right = min(left + 1, across - 1), low = min(up + 1, down - 1);
  const int wx = fx % (2 * tile), wy = fy % (2 * tile);
  const int a = curves[(up * across + left) * 256 + grey], b = curves[(up * across + right) * 256 + grey];
  const int c = curves[(low * across + left) * 256 + grey], d = curves[(low * across + right) * 256 + grey];
  const int upper = a * (2 * tile - wx) + b * wx, lower = c * (2 * tile - wx) + d * wx;
  out[y * width + x] = (upper * (2 * tile - wy) + lower * wy) / (4 * tile * tile);
}

// Straight lines for a camera with a round lens: where each pixel comes from, and a mix of four bytes there.
__global__ void lens_undistort(const u8* __restrict__ in, float* __restrict__ out, int width, int height, float k1,
                               float k2) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float scale = 2.0f / width, u = (x - 0.5f * width) * scale, v = (y - 0.5f * height) * scale;
  const float squared = u * u + v * v, factor = 1.0f + squared * (k1 + k2 * squared);
  const float sx = fminf(fmaxf(u * factor / scale + 0.5f * width, 0.0f), width - 1.001f);
  const float sy = fminf(fmaxf(v * factor / scale + 0.5f * height, 0.0f), height - 1.001f);
  const int px = (int)sx, py = (int)sy;
  const float wx = sx - px, wy = sy - py;
  const u8* from = in + py * width + px;
  const float upper = from[0] + wx * (from[1] - from[0]), lower = from[width] + wx * (from[width + 1] - from[width]);
  out[y * width + x] = upper + wy * (lower - upper);
}

// How much of a corner each pixel is (Harris): gradients in shared memory, their products over 3 x 3.
__global__ void harris_response(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  __shared__ float2 slopes[660];
  const int wide = blockDim.x + 2, tall = blockDim.y + 2, left = blockIdx.x * blockDim.x - 1;
  const int up = blockIdx.y * blockDim.y - 1;
  for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < wide * tall; k += blockDim.x * blockDim.y) {
    const int x = clamped(left + k % wide, width), y = clamped(up + k / wide, height);
    slopes[k] = make_float2(in[y * width + min(x + 1, width - 1)] - in[y * width + max(x - 1, 0)],
                            in[min(y + 1, height - 1) * width + x] - in[max(y - 1, 0) * width + x]);
  }
  __syncthreads();
  const int x = left + 1 + threadIdx.x, y = up + 1 + threadIdx.y;
  if (x >= width || y >= height) return;
  float xx = 0.0f, yy = 0.0f, xy = 0.0f;
#pragma unroll
  for (int j = 0; j < 3; j++)
#pragma unroll
    for (int i = 0; i < 3; i++) {
      const float2 g = slopes[(threadIdx.y + j) * wide + threadIdx.x + i];
      xx += g.x * g.x;
      yy += g.y * g.y;
      xy += g.x * g.y;
    }
  out[y * width + x] = xx * yy - xy * xy - 0.04f * (xx + yy) * (xx + yy);
}

// Kuwahara's filter: of four windows of 3 x 3 around a pixel the mean of the one that varies least.
__global__ void kuwahara(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float around[5][5];
#pragma unroll
  for (int j = 0; j < 5; j++)
#pragma unroll
    for (int i = 0; i < 5; i++)
      around[j][i] = in[clamped(y + j - 2, height) * width + clamped(x + i - 2, width)];
  float least = 1e30f, chosen = 0.0f;
#pragma unroll
  for (int q = 0; q < 4; q++) {
    float sum = 0.0f, squares = 0.0f;
#pragma unroll
    for (int j = 0; j < 3; j++)
#pragma unroll
      for (int i = 0; i < 3; i++) {
        const float v = around[j + q / 2 * 2][i + q % 2 * 2];
        sum += v;
        squares += v * v;
      }
    const float mean = sum * (1.0f / 9.0f), spread = squares - sum * mean;
    if (spread < least) {
      least = spread;
      chosen = mean;
    }
  }
  out[y * width + x] = chosen;
}

// Runs of equal bytes, a warp per line: where each run begins, and its byte. counts: runs per line.
__global__ void rle_rows(const u8* __restrict__ in, u32* __restrict__ runs, int* __restrict__ counts, int lines,
                         int width) {
  const int line = thread_id() / 32, lane = threadIdx.x % 32;
  if (line >= lines) return;
  const u8* mine = in + (size_t)line * width;
  int found = 0, last = -1;
  for (int base = 0; base < width; base += 32) {
    const int x = base + lane, value = x < width ? mine[x] : -1;
    int before = __shfl_up_sync(FULL, value, 1);
    if (lane == 0) before = last;
    const bool begins = x < width && value != before;
    const u32 starts = __ballot_sync(FULL, begins);
    if (begins) runs[(size_t)line * width + found + __popc(starts & ((1u << lane) - 1))] = (u32)x << 8 | value;
    found += __popc(starts);
    last = __shfl_sync(FULL, value, 31);
  }
  if (lane == 0) counts[line] = found;
}

// How alike two pictures are (SSIM), in squares of 8 x 8: a warp per square, two pixels per lane.
__global__ void ssim_squares(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
                             int across, int squares) {
  const int square = thread_id() / 32, lane = threadIdx.x % 32;
  if (square >= squares) return;
  const size_t at = ((size_t)(square / across) * 8 + lane / 4) * across * 8 + square % across * 8 + lane % 4 * 2;
  const float2 p = *(const float2*)&a[at], q = *(const float2*)&b[at];
  const float mean_p = warp_sum(p.x + p.y) * 0.015625f, mean_q = warp_sum(q.x + q.y) * 0.015625f;
  const float px = p.x - mean_p, py = p.y - mean_p, qx = q.x - mean_q, qy = q.y - mean_q;
  const float pp = warp_sum(px * px + py * py) * 0.015625f, qq = warp_sum(qx * qx + qy * qy) * 0.015625f;
  const float pq = warp_sum(px * qx + py * qy) * 0.015625f;
  if (lane == 0)
    out[square] = (2 * mean_p * mean_q + 1e-4f) * (2 * pq + 9e-4f) /
                  ((mean_p * mean_p + mean_q * mean_q + 1e-4f) * (pp + qq + 9e-4f));
}

// 256 comparisons around each key point (BRIEF): a warp per point, its square of 32 x 32 bytes in shared memory.
__global__ void brief_codes(const u8* __restrict__ picture, const int2* __restrict__ points,
                            const ushort2* __restrict__ pairs, u32* __restrict__ out, int n, int width) {
  __shared__ u8 squares[8][1024];
  const int point = thread_id() / 32, lane = threadIdx.x % 32;
  if (point >= n) return;
  u8* square = squares[threadIdx.x / 32];
  const int2 p = points[point];
  for (int y = 0; y < 32; y++) square[y * 32 + lane] = picture[(size_t)(p.y + y) * width + p.x + lane];
  __syncwarp();
  for (int k = 0; k < 8; k++) {
    const ushort2 pair = pairs[k * 32 + lane];
    const u32 word = __ballot_sync(FULL, square[pair.x] < square[pair.y]);
    if (lane == 0) out[point * 8 + k] = word;
  }
}

// A slice of a body from what X-rays saw: each pixel sums over the angles, between two detectors.
__global__ void back_project(const float* __restrict__ seen, const float2* __restrict__ ways, float* __restrict__ out,
                             int side, int angles, int detectors) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= side || y >= side) return;
  const float px = x - 0.5f * side, py = y - 0.5f * side;
  float sum = 0.0f;
#pragma unroll 2
  for (int a = 0; a < angles; a++) {
    const float2 way = ways[a];
    const float at = px * way.x + py * way.y + 0.5f * detectors, whole = floorf(at);
    const int k = (int)whole;
    if (k >= 0 && k + 1 < detectors) {
      const float* line = seen + (size_t)a * detectors + k;
      sum += line[0] + (at - whole) * (line[1] - line[0]);
    }
  }
  out[y * side + x] = sum;
}

// ------------------------------------------------------------------------------------------------------------ physics

// Pieces of cloth: points of side x side that hang on their four neighbours by threads of length 1, a block per piece.
__global__ void cloth_relax(const float* __restrict__ in, float* __restrict__ out, int side, int turns) {
  extern __shared__ float points[];
  const int size = side * side;
  const float* mine = in + (size_t)blockIdx.x * 3 * size;
  for (int k = threadIdx.x; k < 3 * size; k += blockDim.x) points[k] = mine[k];
  __syncthreads();
  for (int turn = 0; turn < turns; turn++) {
    const float* from = points + (turn & 1) * 3 * size;
    float* to = points + (1 - (turn & 1)) * 3 * size;
    for (int k = threadIdx.x; k < size; k += blockDim.x) {
      const int x = k % side, y = k / side;
      const float px = from[k], py = from[size + k], pz = from[2 * size + k];
      float mx = 0.0f, my = 0.0f, mz = 0.0f;
#pragma unroll
      for (int q = 0; q < 4; q++) {
        const int nx = x + (q == 0) - (q == 1), ny = y + (q == 2) - (q == 3);
        if (nx < 0 || ny < 0 || nx >= side || ny >= side) continue;
        const int other = ny * side + nx;
        const float dx = from[other] - px, dy = from[size + other] - py, dz = from[2 * size + other] - pz;
        const float stretch = 0.2f * (1.0f - rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f));
        mx += stretch * dx;
        my += stretch * dy;
        mz += stretch * dz;
      }
      const bool fixed = y == 0;
      to[k] = fixed ? px : px + mx;
      to[size + k] = fixed ? py : py + my;
      to[2 * size + k] = fixed ? pz : pz + mz - 0.01f;
    }
    __syncthreads();
  }
  for (int k = threadIdx.x; k < 3 * size; k += blockDim.x)
    out[(size_t)blockIdx.x * 3 * size + k] = points[(turns & 1) * 3 * size + k];
}

// Systems with 2 + d on the diagonal and -1 beside it by conjugate gradients, a block per system.
__global__ void conjugate_rows(const float* __restrict__ extra, const float* __restrict__ right,
                               float* __restrict__ out, int n, int turns) {
  extern __shared__ float vectors[];
  __shared__ float parts[32];
  float *x = vectors, *r = x + n, *p = r + n, *q = p + n;
  const size_t first = (size_t)blockIdx.x * n;
  float mine = 0.0f;
  for (int k = threadIdx.x; k < n; k += blockDim.x) {
    x[k] = 0.0f;
    p[k] = r[k] = right[first + k];
    mine += r[k] * r[k];
  }
  float squares = block_sum(mine, parts);
  for (int turn = 0; turn < turns; turn++) {
    mine = 0.0f;
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
      q[k] = (2.0f + extra[first + k]) * p[k] - (k ? p[k - 1] : 0.0f) - (k + 1 < n ? p[k + 1] : 0.0f);
      mine += p[k] * q[k];
    }
    const float step = squares / (block_sum(mine, parts) + 1e-30f);
    mine = 0.0f;
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
      x[k] += step * p[k];
      r[k] -= step * q[k];
      mine += r[k] * r[k];
    }
    const float now = block_sum(mine, parts), keep = now / (squares + 1e-30f);
    squares = now;
    for (int k = threadIdx.x; k < n; k += blockDim.x) p[k] = r[k] + keep * p[k];
    __syncthreads();
  }
  for (int k = threadIdx.x; k < n; k += blockDim.x) out[first + k] = x[k];
}

// Times at which a front arrives, in tiles of 16 x 16: some turns in shared memory. A tile knows its neighbours' edges.
__global__ void eikonal_tiles(const float* __restrict__ times, const float* __restrict__ slowness,
                              float* __restrict__ out, int width, int height, int turns) {
  __shared__ float tile[18][18];
  const int left = blockIdx.x * 16 - 1, up = blockIdx.y * 16 - 1;
  for (int k = threadIdx.y * 16 + threadIdx.x; k < 324; k += 256) {
    const int x = left + k % 18, y = up + k / 18;
    tile[k / 18][k % 18] = x >= 0 && y >= 0 && x < width && y < height ? times[y * width + x] : 1e6f;
  }
  __syncthreads();
  const int x = threadIdx.x + 1, y = threadIdx.y + 1, at = (up + y) * width + left + x;
  const bool inside = left + x < width && up + y < height;
  const float slow = inside ? slowness[at] : 0.0f;
  for (int turn = 0; turn < turns; turn++) {
    const float a = fminf(tile[y][x - 1], tile[y][x + 1]), b = fminf(tile[y - 1][x], tile[y + 1][x]);
    const float apart = a - b, both = 2 * slow * slow - apart * apart;
    const float found = fabsf(apart) < slow ? 0.5f * (a + b + sqrtf(both)) : fminf(a, b) + slow;
    const float better = inside ? fminf(tile[y][x], found) : 1e6f;
    __syncthreads();
    tile[y][x] = better;
    __syncthreads();
  }
  if (inside) out[at] = tile[y][x];
}

// How drones lie in the air: turning rates, and what the pull of the earth says (Mahony's filter). A drone per thread.
__global__ void imu_attitudes(const float* __restrict__ readings, float* __restrict__ out, int n, int steps,
                              float dt) {
  const int i = thread_id();
  if (i >= n) return;
  float w = 1.0f, x = 0.0f, y = 0.0f, z = 0.0f;
  for (int s = 0; s < steps; s++) {
    const float* r = readings + (size_t)s * 6 * n + i;
    float gx = r[0], gy = r[n], gz = r[2 * n];
    const float ax = r[3 * n], ay = r[4 * n], az = r[5 * n];
    const float length = rsqrtf(ax * ax + ay * ay + az * az + 1e-12f);
    const float vx = x * z - w * y, vy = w * x + y * z, vz = w * w - 0.5f + z * z;
    gx += 2.0f * length * (ay * vz - az * vy);
    gy += 2.0f * length * (az * vx - ax * vz);
    gz += 2.0f * length * (ax * vy - ay * vx);
    const float h = 0.5f * dt;
    const float nw = w - h * (x * gx + y * gy + z * gz), nx = x + h * (w * gx + y * gz - z * gy);
    const float ny = y + h * (w * gy - x * gz + z * gx), nz = z + h * (w * gz + x * gy - y * gx);
    const float scale = rsqrtf(nw * nw + nx * nx + ny * ny + nz * nz);
    w = nw * scale;
    x = nx * scale;
    y = ny * scale;
    z = nz * scale;
  }
  out[i] = w;
  out[n + i] = x;
  out[2 * n + i] = y;
  out[3 * n + i] = z;
}

// A thin gas: in each cell some pairs of particles may collide; the faster they meet, the more likely. A cell per
// thread; `each` particles per cell.
__global__ void gas_collisions(float4* speeds, int cells, int each, int tries, float fastest, u32 seed) {
  const int c = thread_id();
  if (c >= cells) return;
  u32 state = scrambled(c ^ seed);
  for (int k = 0; k < tries; k++) {
    const int a = (int)(chance(state) * each), b = (int)(chance(state) * each);
    float4 v = speeds[c * each + a], w = speeds[c * each + b];
    const float dx = v.x - w.x, dy = v.y - w.y, dz = v.z - w.z, apart = sqrtf(dx * dx + dy * dy + dz * dz);
    if (a == b || chance(state) * fastest > apart) continue;
    const float up = 2.0f * chance(state) - 1.0f, flat = sqrtf(1.0f - up * up);
    float s, t;
    __sincosf(6.2831853f * chance(state), &s, &t);
    const float mx = 0.5f * (v.x + w.x), my = 0.5f * (v.y + w.y), mz = 0.5f * (v.z + w.z), half = 0.5f * apart;
    v.x = mx + half * flat * t;
    v.y = my + half * flat * s;
    v.z = mz + half * up;
    w.x = mx - half * flat * t;
    w.y = my - half * flat * s;
    w.z = mz - half * up;
    speeds[c * each + a] = v;
    speeds[c * each + b] = w;
  }
}

// Forces in a plane by a tree of squares (Barnes and Hut): far squares count as a whole. nodes: place, mass, side; in
// the order of a walk down; skips: the next node if one does not go down. A leaf is followed by its skip.
__global__ void tree_forces(const float4* __restrict__ nodes, const int* __restrict__ skips,
                            const float2* __restrict__ bodies, float2* __restrict__ out, int n, int count,
                            float opening) {
  const int i = thread_id();
  if (i >= n) return;
  const float2 p = bodies[i];
  float fx = 0.0f, fy = 0.0f;
  for (int k = 0; k < count;) {
    const float4 node = nodes[k];
    const float dx = node.x - p.x, dy = node.y - p.y, squared = dx * dx + dy * dy + 1e-4f;
    if (skips[k] == k + 1 || node.w * node.w < opening * squared) {
      const float inverse = rsqrtf(squared), pull = node.z * inverse * inverse * inverse;
      fx += pull * dx;
      fy += pull * dy;
      k = skips[k];
    } else {
      k++;
    }
  }
  out[i] = make_float2(fx, fy);
}

// Light near a black hole in double precision: u'' = 3 m u^2 - u, by Runge and Kutta; a ray per thread.
__global__ void bent_light(const double* __restrict__ nearness, double* __restrict__ out, int n, int steps, double mass,
                           double h) {
  const int i = thread_id();
  if (i >= n) return;
  double u = 0.02, v = nearness[i];
  for (int s = 0; s < steps; s++) {
    const double k1 = 3.0 * mass * u * u - u, a = u + 0.5 * h * v, va = v + 0.5 * h * k1;
    const double k2 = 3.0 * mass * a * a - a, b = u + 0.5 * h * va, vb = v + 0.5 * h * k2;
    const double k3 = 3.0 * mass * b * b - b, c = u + h * vb, vc = v + h * k3;
    const double k4 = 3.0 * mass * c * c - c;
    u += h / 6.0 * (v + 2.0 * va + 2.0 * vb + vc);
    v += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    if (u > 0.5) u = 0.5;
  }
  out[i] = u;
}

// Light from all around by nine harmonics per colour: normals under some probes, which share by weight.
__global__ void harmonic_light(const float* __restrict__ normals, const float* __restrict__ probes,
                               float* __restrict__ out, int n, int count) {
  __shared__ float lights[16 * 27];
  for (int k = threadIdx.x; k < 27 * count; k += blockDim.x) lights[k] = probes[k];
  __syncthreads();
  const int i = thread_id();
  if (i >= n) return;
  const float x = normals[i], y = normals[n + i], z = normals[2 * n + i];
  const float basis[9] = {0.2820948f,         0.4886025f * y,     0.4886025f * z,
                          0.4886025f * x,     1.0925484f * x * y, 1.0925484f * y * z,
                          0.3153916f * (3.0f * z * z - 1.0f), 1.0925484f * x * z, 0.5462742f * (x * x - y * y)};
  float r = 0.0f, g = 0.0f, b = 0.0f;
  for (int p = 0; p < count; p++)
#pragma unroll
    for (int k = 0; k < 9; k++) {
      r += basis[k] * lights[27 * p + k];
      g += basis[k] * lights[27 * p + 9 + k];
      b += basis[k] * lights[27 * p + 18 + k];
    }
  out[i] = r;
  out[n + i] = g;
  out[2 * n + i] = b;
}

// Half a sweep of 32 magnets at once, a bit each: the places of one colour of a chessboard. All magnets share their
// luck; `one` and `none` are the chances to turn against three and four neighbours, times 2^32.
__global__ void magnets_by_bits(u32* spins, int width, int height, int colour, u32 one, u32 none, u32 seed) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + ((y + colour) & 1);
  if (x >= width || y >= height) return;
  const int line = y * width;
  const u32 mine = spins[line + x];
  const u32 a = mine ^ spins[line + (x ? x - 1 : width - 1)], b = mine ^ spins[line + (x + 1 < width ? x + 1 : 0)];
  const u32 c = mine ^ spins[(y ? line - width : (height - 1) * width) + x];
  const u32 d = mine ^ spins[(y + 1 < height ? line + width : 0) + x];
  const u32 odd = a ^ b ^ c ^ d, two = (a & b) | (c & d) | ((a ^ b) & (c ^ d));
  const u32 luck = scrambled(scrambled((line + x) ^ seed) + 0x9e3779b9u);
  const u32 exactly_one = odd & ~two, exactly_none = ~odd & ~two;
  u32 turn = two;
  if (luck < one) turn |= exactly_one;
  if (luck < none) turn |= exactly_none;
  spins[line + x] = mine ^ turn;
}

// Nerve cells by Hodgkin and Huxley, a cell per thread: three gates and a voltage, six exponentials per step.
__global__ void nerve_cells(const float* __restrict__ currents, float* __restrict__ out, int n, int steps, float dt) {
  const int i = thread_id();
  if (i >= n) return;
  const float current = currents[i];
  float v = -65.0f, m = 0.05f, h = 0.6f, g = 0.32f;
  for (int s = 0; s < steps; s++) {
    const float a = 0.1f * (v + 40.0f), c = 0.01f * (v + 55.0f);
    const float am = fabsf(a) < 1e-4f ? 1.0f : __fdividef(a, 1.0f - __expf(-a)), bm = 4.0f * __expf((v + 65.0f) / -18.0f);
    const float ah = 0.07f * __expf((v + 65.0f) / -20.0f), bh = __fdividef(1.0f, 1.0f + __expf(-0.1f * (v + 35.0f)));
    const float an = fabsf(c) < 1e-5f ? 0.1f : __fdividef(c, 1.0f - __expf(-10.0f * c));
    const float bn = 0.125f * __expf((v + 65.0f) / -80.0f);
    m += dt * (am * (1.0f - m) - bm * m);
    h += dt * (ah * (1.0f - h) - bh * h);
    g += dt * (an * (1.0f - g) - bn * g);
    v += dt * (current - 120.0f * m * m * m * h * (v - 50.0f) - 36.0f * g * g * g * g * (v + 77.0f) -
               0.3f * (v + 54.4f));
  }
  out[i] = v;
}

// How deep each atom lies in a molecule (generalized Born): all pairs, tiles of 64 atoms. atoms: place and radius.
__global__ void born_radii(const float4* __restrict__ atoms, float* __restrict__ out, int n) {
  __shared__ float4 tile[64];
  const int i = thread_id();
  const float4 mine = atoms[min(i, n - 1)];
  float sum = 0.0f;
  for (int base = 0; base < n; base += 64) {
    for (int k = threadIdx.x; k < 64; k += blockDim.x) tile[k] = atoms[min(base + k, n - 1)];
    __syncthreads();
    const int here = min(64, n - base);
    for (int k = 0; k < here; k++) {
      const float dx = tile[k].x - mine.x, dy = tile[k].y - mine.y, dz = tile[k].z - mine.z;
      const float squared = dx * dx + dy * dy + dz * dz, r = sqrtf(squared), s = 0.8f * tile[k].w;
      if (base + k == i || mine.w >= r + s) continue;
      const float low = 1.0f / fmaxf(mine.w, fabsf(r - s)), high = 1.0f / (r + s);
      sum += low - high + 0.25f * (r - s * s / r) * (high * high - low * low) + 0.5f * __logf(high / low) / r;
    }
    __syncthreads();
  }
  if (i < n) out[i] = 1.0f / fmaxf(1.0f / mine.w - 0.5f * sum, 0.05f);
}

// Energies of a molecule in many poses: turned and moved atoms look into a map of energies, between eight places.
__global__ void dock_poses(const float4* __restrict__ turns, const float* __restrict__ moves,
                           const float4* __restrict__ atoms, const float* __restrict__ map, float* __restrict__ out,
                           int n, int count, int side) {
  __shared__ float4 molecule[128];
  for (int k = threadIdx.x; k < count; k += blockDim.x) molecule[k] = atoms[k];
  __syncthreads();
  const int i = thread_id();
  if (i >= n) return;
  const float4 q = turns[i];
  const float inverse = rsqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w + 1e-12f);
  const float w = q.x * inverse, x = q.y * inverse, y = q.z * inverse, z = q.w * inverse;
  const float mx = moves[i], my = moves[n + i], mz = moves[2 * n + i];
  float sum = 0.0f;
  for (int k = 0; k < count; k++) {
    const float4 a = molecule[k];
    const float tx = 2.0f * (y * a.z - z * a.y), ty = 2.0f * (z * a.x - x * a.z), tz = 2.0f * (x * a.y - y * a.x);
    const float limit = side - 1.001f;
    const float px = fminf(fmaxf(a.x + w * tx + y * tz - z * ty + mx, 0.0f), limit);
    const float py = fminf(fmaxf(a.y + w * ty + z * tx - x * tz + my, 0.0f), limit);
    const float pz = fminf(fmaxf(a.z + w * tz + x * ty - y * tx + mz, 0.0f), limit);
    const int cx = (int)px, cy = (int)py, cz = (int)pz;
    const float fx = px - cx, fy = py - cy, fz = pz - cz;
    const float* at = map + (cz * side + cy) * side + cx;
    const float* up = at + side * side;
    const float low = (1 - fy) * (at[0] + fx * (at[1] - at[0])) + fy * (at[side] + fx * (at[side + 1] - at[side]));
    const float high = (1 - fy) * (up[0] + fx * (up[1] - up[0])) + fy * (up[side] + fx * (up[side + 1] - up[side]));
    sum += a.w * (low + fz * (high - low));
  }
  out[i] = sum;
}

// ------------------------------------------------------------------------------------------------- graphs and choices

// Parts of small graphs that hang together, a graph per block: in each turn edges join the trees of their ends, and each
// node takes the number of its root, the smallest one. Two numbers per node lie in shared memory.
__global__ void join_parts(const ushort2* __restrict__ edges, u16* __restrict__ out, int nodes, int count) {
  extern __shared__ int roots[];
  int* next = roots + nodes;
  for (int k = threadIdx.x; k < nodes; k += blockDim.x) roots[k] = next[k] = k;
  __syncthreads();
  bool joined = true;
  while (__syncthreads_or(joined)) {
    joined = false;
    for (int e = threadIdx.x; e < count; e += blockDim.x) {
      const ushort2 edge = edges[(size_t)blockIdx.x * count + e];
      const int a = roots[edge.x], b = roots[edge.y];
      if (a != b) {
        atomicMin(&next[max(a, b)], min(a, b));
        joined = true;
      }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < nodes; k += blockDim.x) {
      int root = next[k];
      while (next[root] != root) root = next[root];
      roots[k] = root;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < nodes; k += blockDim.x) next[k] = roots[k];
  }
  for (int k = threadIdx.x; k < nodes; k += blockDim.x) out[(size_t)blockIdx.x * nodes + k] = roots[k];
}

// A step of 64 searches in breadth at once, a bit each: what a node's neighbours have reached reaches the node.
__global__ void many_searches(const int* __restrict__ starts, const int* __restrict__ members,
                              const u64* __restrict__ frontier, const u64* __restrict__ reached,
                              u64* __restrict__ next, int nodes) {
  const int v = thread_id();
  if (v >= nodes) return;
  const u64 missing = ~reached[v];
  u64 found = 0;
  for (int e = starts[v]; e < starts[v + 1] && found != missing; e++) found |= frontier[members[e]] & missing;
  next[v] = found;
}

// Which community a node should move to (Louvain): a warp per node counts its neighbours' communities in a table of 256
// slots in shared memory. A community that many neighbours have is good, a large one is not.
__global__ void community_moves(const int* __restrict__ starts, const int* __restrict__ members,
                                const int* __restrict__ communities, const float* __restrict__ sizes,
                                int* __restrict__ out, int nodes, float share) {
  __shared__ int names[8][256];
  __shared__ float weights[8][256];
  const int v = thread_id() / 32, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (v >= nodes) return;
  for (int k = lane; k < 256; k += 32) {
    names[warp][k] = -1;
    weights[warp][k] = 0.0f;
  }
  __syncwarp();
  for (int e = starts[v] + lane; e < starts[v + 1]; e += 32) {
    const int community = communities[members[e]];
    u32 slot = scrambled(community) & 255;
    while (true) {
      const int there = atomicCAS(&names[warp][slot], -1, community);
      if (there == -1 || there == community) break;
      slot = (slot + 1) & 255;
    }
    atomicAdd(&weights[warp][slot], 1.0f);
  }
  __syncwarp();
  float best = -1e30f;
  int chosen = communities[v];
  for (int k = lane; k < 256; k += 32)
    if (names[warp][k] >= 0) {
      const float gain = weights[warp][k] - share * sizes[names[warp][k]];
      if (gain > best) {
        best = gain;
        chosen = names[warp][k];
      }
    }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(FULL, best, step);
    const int name = __shfl_xor_sync(FULL, chosen, step);
    if (other > best || (other == best && name < chosen)) {
      best = other;
      chosen = name;
    }
  }
  if (lane == 0) out[v] = chosen;
}

// Bids in an auction: each bidder, a warp, looks for the best and the second best of all goods and bids the difference
// more than the price. The highest bid per good stays, with the bidder.
__global__ void auction_bids(const float* __restrict__ worths, const float* __restrict__ prices, u64* bids, int bidders,
                             int goods, float least) {
  const int i = thread_id() / 32, lane = threadIdx.x % 32;
  if (i >= bidders) return;
  float best = -1e30f, second = -1e30f;
  int which = 0;
  for (int k = lane; k < goods; k += 32) {
    const float gain = worths[(size_t)i * goods + k] - prices[k];
    if (gain > best) {
      second = best;
      best = gain;
      which = k;
    } else {
      second = fmaxf(second, gain);
    }
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(FULL, best, step), next = __shfl_xor_sync(FULL, second, step);
    const int place = __shfl_xor_sync(FULL, which, step);
    second = fmaxf(fmaxf(second, next), fminf(best, other));
    if (other > best || (other == best && place < which)) {
      best = other;
      which = place;
    }
  }
  if (lane == 0) {
    const float bid = prices[which] + best - second + least;
    atomicMax(&bids[which], (u64)__float_as_uint(bid) << 32 | (u32)i);
  }
}

// How many sums below 4096 some weights below 1024 can make: a set of bits per warp, four words per lane.
__global__ void subset_sums(const int* __restrict__ weights, int* __restrict__ out, int n, int count) {
  const int i = thread_id() / 32, lane = threadIdx.x % 32;
  if (i >= n) return;
  u32 set[4] = {lane == 0 ? 1u : 0u, 0, 0, 0};
  for (int k = 0; k < count; k++) {
    const int weight = weights[i * count + k], words = weight >> 5, bits = weight & 31;
    u32 low[4], high[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
      high[j] = __shfl_sync(FULL, set[j], lane - words);
      low[j] = __shfl_sync(FULL, set[j], lane - words - 1);
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const u32 upper = lane >= words ? high[j] : j ? high[j - 1] : 0;
      const u32 lower = lane >= words + 1 ? low[j] : j ? low[j - 1] : 0;
      set[j] |= __funnelshift_l(lower, upper, bits);
    }
  }
  int found = 0;
#pragma unroll
  for (int j = 0; j < 4; j++) found += __popc(set[j]);
  found = __reduce_add_sync(FULL, found);
  if (lane == 0) out[i] = found;
}

// How many squares the rooks and bishops of chess boards reach: differences of words of 64 bits, forwards and turned.
__device__ __forceinline__ u64 along_line(u64 occupied, u64 piece, u64 line) {
  const u64 blockers = (occupied | piece) & line, back = __brevll(blockers);
  return ((blockers - 2 * piece) ^ __brevll(back - 2 * __brevll(piece))) & line;
}
__global__ void sliding_pieces(const u64* __restrict__ boards, u16* __restrict__ out, int n, int pieces) {
  const int i = thread_id();
  if (i >= n) return;
  const u64 occupied = boards[i];
  u32 state = (u32)occupied ^ (u32)(occupied >> 32);
  int reach = 0;
  for (int k = 0; k < pieces; k++) {
    state = scrambled(state + k);
    const int square = state & 63, x = square & 7, y = square >> 3, sum = x + y, apart = y - x;
    const u64 piece = 1ull << square;
    const u64 rising = apart >= 0 ? 0x8040201008040201ull << 8 * apart : 0x8040201008040201ull >> -8 * apart;
    const u64 falling = sum >= 7 ? 0x0102040810204080ull << 8 * (sum - 7) : 0x0102040810204080ull >> 8 * (7 - sum);
    if (state & 64)
      reach += __popcll(along_line(occupied, piece, 0xffull << 8 * y) |
                        along_line(occupied, piece, 0x0101010101010101ull << x));
    else
      reach += __popcll(along_line(occupied, piece, rising) | along_line(occupied, piece, falling));
  }
  out[i] = reach;
}

// Turns of a cube with 54 coloured fields, by tables: how many fields have their colour after a walk. The cube lies in
// local memory.
__global__ void cube_turns(const u8* __restrict__ turns, u8* __restrict__ out, int n, int length, u32 seed) {
  __shared__ u8 table[18 * 54];
  for (int k = threadIdx.x; k < 18 * 54; k += blockDim.x) table[k] = turns[k];
  __syncthreads();
  const int i = thread_id();
  if (i >= n) return;
  u32 state = scrambled(i ^ seed);
  u8 cube[2][54];
  for (int k = 0; k < 54; k++) cube[0][k] = k / 9;
  for (int s = 0; s < length; s++) {
    state = state * 1664525u + 1013904223u;
    const u8* turn = table + (state >> 16) % 18 * 54;
    for (int k = 0; k < 54; k++) cube[1 - (s & 1)][k] = cube[s & 1][turn[k]];
  }
  int same = 0;
  for (int k = 0; k < 54; k++) same += cube[length & 1][k] == k / 9;
  out[i] = same;
}

// 16 workshops on 16 places by simulated cooling: two change places if that is cheaper, or by luck. A try per thread;
// distances, flows and who is where lie in shared memory. Blocks of at most 256.
__global__ void cooled_places(const int* __restrict__ tables, int* __restrict__ out, int n, int turns, float heat,
                              u32 seed) {
  __shared__ int apart[256], flows[256];
  __shared__ u8 places[16][256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) {
    apart[k] = tables[k];
    flows[k] = tables[256 + k];
  }
  __syncthreads();
  const int i = thread_id(), t = threadIdx.x;
  if (i >= n) return;
  u32 state = scrambled(i ^ seed);
  for (int k = 0; k < 16; k++) places[k][t] = k;
  int cost = 0;
  for (int a = 0; a < 16; a++)
    for (int b = 0; b < a; b++) cost += flows[a * 16 + b] * apart[a * 16 + b];
  for (int turn = 0; turn < turns; turn++) {
    state = state * 1664525u + 1013904223u;
    const int a = state >> 28, b = state >> 24 & 15, pa = places[a][t], pb = places[b][t];
    int change = 0;
    for (int k = 0; k < 16; k++) {
      const int p = places[k][t];
      if (k != a && k != b) change += (flows[a * 16 + k] - flows[b * 16 + k]) * (apart[pb * 16 + p] - apart[pa * 16 + p]);
    }
    if (change <= 0 || chance(state) < __expf(-change / heat)) {
      places[a][t] = pb;
      places[b][t] = pa;
      cost += change;
    }
    heat *= 0.97f;
  }
  out[i] = cost;
}

// ------------------------------------------------------------------------------------------------------- codes, texts

// Poly1305's tags of messages: blocks of 16 bytes times a secret number, modulo 2^130 - 5, in limbs of 26 bits.
__global__ void poly1305_tags(const u32* __restrict__ messages, const u32* __restrict__ secret, u32* __restrict__ out,
                              int n, int blocks) {
  const int i = thread_id();
  if (i >= n) return;
  const u32 k0 = secret[0] & 0x0fffffff, k1 = secret[1] & 0x0ffffffc, k2 = secret[2] & 0x0ffffffc;
  const u32 k3 = secret[3] & 0x0ffffffc, mask = 0x3ffffff;
  const u32 r[5] = {k0 & mask, (k0 >> 26 | k1 << 6) & mask, (k1 >> 20 | k2 << 12) & mask, (k2 >> 14 | k3 << 18) & mask,
                    k3 >> 8};
  u32 h[5] = {};
  for (int b = 0; b < blocks; b++) {
    const u32* m = messages + (size_t)4 * b * n + i;
    const u32 m0 = m[0], m1 = m[n], m2 = m[2 * n], m3 = m[3 * n];
    h[0] += m0 & mask;
    h[1] += (m0 >> 26 | m1 << 6) & mask;
    h[2] += (m1 >> 20 | m2 << 12) & mask;
    h[3] += (m2 >> 14 | m3 << 18) & mask;
    h[4] += m3 >> 8 | 1u << 24;
    u64 d[5];
#pragma unroll
    for (int k = 0; k < 5; k++) {
      d[k] = 0;
#pragma unroll
      for (int j = 0; j < 5; j++) d[k] += (u64)h[j] * (j <= k ? r[k - j] : 5 * r[5 + k - j]);
    }
    u64 carry = 0;
#pragma unroll
    for (int k = 0; k < 5; k++) {
      d[k] += carry;
      h[k] = (u32)d[k] & mask;
      carry = d[k] >> 26;
    }
    h[0] += (u32)carry * 5;
    h[1] += h[0] >> 26;
    h[0] &= mask;
  }
#pragma unroll
  for (int k = 0; k < 5; k++) out[k * n + i] = h[k];
}

// The cipher PRESENT on 32 blocks at once, a bit of each per word: ROUNDS rounds stand one behind the other, and the
// exchange of bits is a change of names.
template <int ROUNDS>
__global__ void present_slices(const u32* __restrict__ in, const u32* __restrict__ keys, u32* __restrict__ out, int n) {
  const int i = thread_id();
  if (i >= n) return;
  u32 s[64];
#pragma unroll
  for (int k = 0; k < 64; k++) s[k] = in[(size_t)k * n + i];
#pragma unroll
  for (int r = 0; r < ROUNDS; r++) {
    const u32 low = keys[2 * r], high = keys[2 * r + 1];
    u32 next[64];
#pragma unroll
    for (int b = 0; b < 16; b++) {
      u32 x[4];
#pragma unroll
      for (int k = 0; k < 4; k++) {
        const int bit = 4 * b + k;
        x[k] = s[bit] ^ (0u - ((bit < 32 ? low >> bit : high >> (bit - 32)) & 1));
      }
      const u32 x12 = x[1] & x[2], x01 = x[0] & x[1], x13 = x[1] & x[3], x023 = x[0] & x[2] & x[3], x013 = x01 & x[3];
      const u32 y[4] = {x[0] ^ x[2] ^ x[3] ^ x12, x[1] ^ x[3] ^ x13 ^ (x[2] & x[3]) ^ (x01 & x[2]) ^ x013 ^ x023,
                        ~(x[2] ^ x[3] ^ x01 ^ (x[0] & x[3]) ^ x13 ^ x013 ^ x023),
                        ~(x[0] ^ x[1] ^ x[3] ^ x12 ^ (x01 & x[2]) ^ x013 ^ x023)};
#pragma unroll
      for (int k = 0; k < 4; k++) next[16 * k + b] = y[k];
    }
#pragma unroll
    for (int k = 0; k < 64; k++) s[k] = next[k];
  }
#pragma unroll
  for (int k = 0; k < 64; k++) out[(size_t)k * n + i] = s[k];
}

// A turbo decoder's half: how likely each bit is, by ways through eight states to and from it. Eight lanes per frame;
// the sums of exponentials are exact. `kept` holds the ways from the left.
__device__ __forceinline__ float log_sum(float a, float b) {
  return fmaxf(a, b) + __logf(1.0f + __expf(-fabsf(a - b)));
}
__global__ void turbo_bits(const float2* __restrict__ seen, float* __restrict__ kept, float* __restrict__ out,
                           int frames, int length) {
  const int frame = thread_id() / 8, s = threadIdx.x % 8;
  const bool inside = frame < frames;
  const size_t first = (size_t)min(frame, frames - 1) * length;
  // A bit b leads from state s to (2 s | (b ^ parity of s & 5)) & 7; it sends b and the parity of what is in the shift.
  const int from0 = s >> 1, from1 = s >> 1 | 4;
  const int bit0 = (s ^ __popc(from0 & 5)) & 1, bit1 = (s ^ __popc(from1 & 5)) & 1;
  const int check0 = (s ^ __popc(from0 & 6)) & 1, check1 = (s ^ __popc(from1 & 6)) & 1;
  float a = s == 0 ? 0.0f : -100.0f;
  for (int t = 0; t < length; t++) {
    if (inside) kept[(first + t) * 8 + s] = a;
    const float2 r = seen[first + t];
    const float one = __shfl_sync(FULL, a, from0, 8) + (bit0 ? r.x : -r.x) + (check0 ? r.y : -r.y);
    const float two = __shfl_sync(FULL, a, from1, 8) + (bit1 ? r.x : -r.x) + (check1 ? r.y : -r.y);
    a = log_sum(one, two);
    a -= __shfl_sync(FULL, a, 0, 8);
  }
  const int parity = __popc(s & 5) & 1, other = __popc(s & 6) & 1, to0 = (2 * s | parity) & 7, to1 = to0 ^ 1;
  float b = 0.0f;
  for (int t = length - 1; t >= 0; t--) {
    const float2 r = seen[first + t];
    const float before = inside ? kept[(first + t) * 8 + s] : 0.0f;
    const int sent0 = (to0 ^ other) & 1, sent1 = (to1 ^ other) & 1;
    const float zero = __shfl_sync(FULL, b, to0, 8) - r.x + (sent0 ? r.y : -r.y);
    const float one = __shfl_sync(FULL, b, to1, 8) + r.x + (sent1 ? r.y : -r.y);
    float zeros = before + zero, ones = before + one;
#pragma unroll
    for (int step = 4; step > 0; step /= 2) {
      zeros = log_sum(zeros, __shfl_xor_sync(FULL, zeros, step));
      ones = log_sum(ones, __shfl_xor_sync(FULL, ones, step));
    }
    if (inside && s == 0) out[first + t] = ones - zeros;
    b = log_sum(zero, one);
    b -= __shfl_sync(FULL, b, 0, 8);
  }
}

// Where numbers stand in a skip list: links[level][node] leads to the next node of a level. Node 0 is the first one.
__global__ void skip_list_find(const int* __restrict__ links, const int* __restrict__ keys,
                               const int* __restrict__ queries, int* __restrict__ out, int n, int nodes, int levels) {
  const int i = thread_id();
  if (i >= n) return;
  const int query = queries[i];
  int at = 0;
  for (int level = levels - 1; level >= 0; level--) {
    int next = links[(size_t)level * nodes + at];
    while (next && keys[next] <= query) {
      at = next;
      next = links[(size_t)level * nodes + at];
    }
  }
  out[i] = keys[at];
}

// Rice's codes: zeros up to a one, then `low` bits. A stream of words per thread, highest bit first; the sum of the
// numbers.
__global__ void rice_decode(const u32* __restrict__ streams, u32* __restrict__ out, int n, int words, int count,
                            int low) {
  const int i = thread_id();
  if (i >= n) return;
  u64 buffer = (u64)streams[i] << 32 | streams[n + i];
  int next = 2, left = 64;
  u32 sum = 0;
  for (int k = 0; k < count; k++) {
    const int zeros = min(__clzll(buffer), 24);
    const u32 rest = (u32)(buffer << (zeros + 1) >> (64 - low));
    buffer <<= zeros + 1 + low;
    left -= zeros + 1 + low;
    if (left <= 32) {
      buffer |= (u64)streams[(size_t)min(next, words - 1) * n + i] << (32 - left);
      next++;
      left += 32;
    }
    sum += (u32)zeros << low | rest;
  }
  out[i] = sum;
}

// Letters of UTF-8: each thread reads those that begin in its piece of a text. How many there are, and their sum.
__global__ void utf8_letters(const u8* __restrict__ text, uint2* __restrict__ out, int n, int piece, int size) {
  const int i = thread_id();
  if (i >= n) return;
  u32 count = 0, sum = 0;
  const int end = min((i + 1) * piece, size);
  for (int k = i * piece; k < end;) {
    const u32 lead = text[k];
    if (lead < 0x80) {
      sum += lead;
      k += 1;
    } else if (lead < 0xc0) {
      k += 1;
      continue;
    } else if (lead < 0xe0) {
      sum += (lead & 0x1f) << 6 | (text[k + 1] & 0x3f);
      k += 2;
    } else if (lead < 0xf0) {
      sum += (lead & 0x0f) << 12 | (text[k + 1] & 0x3f) << 6 | (text[k + 2] & 0x3f);
      k += 3;
    } else {
      sum += (lead & 0x07) << 18 | (text[k + 1] & 0x3f) << 12 | (text[k + 2] & 0x3f) << 6 | (text[k + 3] & 0x3f);
      k += 4;
    }
    count++;
  }
  out[i] = make_uint2(count, sum);
}

// Times as "2026-11-27T21:46", 16 letters each, to minutes since 1970.
__global__ void iso_minutes(const uint4* __restrict__ texts, int* __restrict__ out, int n) {
  for (int i = thread_id(); i < n; i += gridDim.x * blockDim.x) {
    const uint4 t = texts[i];
    const int year = (t.x & 15) * 1000 + (t.x >> 8 & 15) * 100 + (t.x >> 16 & 15) * 10 + (t.x >> 24 & 15);
    const int month = (t.y >> 8 & 15) * 10 + (t.y >> 16 & 15), day = (t.z & 15) * 10 + (t.z >> 8 & 15);
    const int y = year - (month <= 2), era = y / 400, of_era = y - era * 400;
    const int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const int days = era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
    const int hour = (t.z >> 24 & 15) * 10 + (t.w & 15), minute = (t.w >> 16 & 15) * 10 + (t.w >> 24 & 15);
    out[i] = days * 1440 + hour * 60 + minute;
  }
}

// ------------------------------------------------------------------------------------------------------------ biology

// How likely a column of letters is under a tree of species (Felsenstein): a column per thread, a stack of four numbers
// each in local memory. program: a species, or -1: join the two on top. matrices: two of 4 x 4 per join.
__global__ void tree_likelihoods(const u8* __restrict__ letters, const int* __restrict__ program,
                                 const float* __restrict__ matrices, float* __restrict__ out, int n, int length) {
  __shared__ int steps[128];
  __shared__ float changes[64 * 32];
  for (int k = threadIdx.x; k < length; k += blockDim.x) steps[k] = program[k];
  for (int k = threadIdx.x; k < length / 2 * 32; k += blockDim.x) changes[k] = matrices[k];
  __syncthreads();
  const int i = thread_id();
  if (i >= n) return;
  float stack[12][4], scale = 0.0f;
  int depth = 0, joins = 0;
  for (int s = 0; s < length; s++) {
    const int step = steps[s];
    if (step >= 0) {
      const int letter = letters[(size_t)step * n + i];
#pragma unroll
      for (int k = 0; k < 4; k++) stack[depth][k] = k == letter ? 1.0f : 0.0f;
      depth++;
      continue;
    }
    const float* m = changes + 32 * joins++;
    depth--;
    float a[4], b[4], found[4], top = 0.0f;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      a[k] = stack[depth - 1][k];
      b[k] = stack[depth][k];
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const float left = m[4 * k] * a[0] + m[4 * k + 1] * a[1] + m[4 * k + 2] * a[2] + m[4 * k + 3] * a[3];
      const float right = m[16 + 4 * k] * b[0] + m[17 + 4 * k] * b[1] + m[18 + 4 * k] * b[2] + m[19 + 4 * k] * b[3];
      found[k] = left * right;
      top = fmaxf(top, found[k]);
    }
    scale += __logf(top);
#pragma unroll
    for (int k = 0; k < 4; k++) stack[depth - 1][k] = __fdividef(found[k], top);
  }
  out[i] = scale + __logf(0.25f * (stack[0][0] + stack[0][1] + stack[0][2] + stack[0][3]));
}

// Letters of DNA, a byte each, to letters of proteins by a table of 64 in shared memory: four of them per thread.
__global__ void translate_codons(const uchar4* __restrict__ dna, const u8* __restrict__ code, uchar4* __restrict__ out,
                                 int n) {
  __shared__ u8 table[64];
  if (threadIdx.x < 64) table[threadIdx.x] = code[threadIdx.x];
  __syncthreads();
  const int i = thread_id();
  if (i >= n) return;
  const uchar4 a = dna[3 * i], b = dna[3 * i + 1], c = dna[3 * i + 2];
  out[i] = make_uchar4(table[a.x * 16 + a.y * 4 + a.z], table[a.w * 16 + b.x * 4 + b.y],
                       table[b.z * 16 + b.w * 4 + c.x], table[c.y * 16 + c.z * 4 + c.w]);
}

// How well spectra fit to a measured one: the common weight of peaks at almost the same place; both lists are sorted.
__global__ void spectrum_matches(const int* __restrict__ places, const float* __restrict__ heights,
                                 const int* __restrict__ query, const float* __restrict__ query_heights,
                                 float* __restrict__ out, int n, int peaks, int length, int near_by) {
  __shared__ int wanted[256];
  __shared__ float tall[256];
  for (int k = threadIdx.x; k < length; k += blockDim.x) {
    wanted[k] = query[k];
    tall[k] = query_heights[k];
  }
  __syncthreads();
  const int i = thread_id();
  if (i >= n) return;
  float sum = 0.0f;
  int a = 0, b = 0;
  while (a < peaks && b < length) {
    const int apart = places[(size_t)i * peaks + a] - wanted[b];
    if (apart < -near_by) {
      a++;
    } else if (apart > near_by) {
      b++;
    } else {
      sum += sqrtf(heights[(size_t)i * peaks + a] * tall[b]);
      a++;
      b++;
    }
  }
  out[i] = sum;
}

// The longest common subsequence of two words of up to 32 letters of two bits: a row of the table per thread in shared
// memory, PITCH words apart.
template <int PITCH>
__global__ void common_letters(const u64* __restrict__ first, const u64* __restrict__ second, int* __restrict__ out,
                               int n, int length) {
  extern __shared__ int rows[];
  int* row = rows + threadIdx.x * PITCH;
  const int i = thread_id();
  if (i >= n) return;
  for (int k = 0; k < length; k++) row[k] = 0;
  const u64 a = first[i], b = second[i];
  for (int r = 0; r < length; r++) {
    const int letter = a >> 2 * r & 3;
    int left = 0, oblique = 0;
    for (int c = 0; c < length; c++) {
      const int above = row[c];
      left = (int)(b >> 2 * c & 3) == letter ? oblique + 1 : max(left, above);
      row[c] = left;
      oblique = above;
    }
  }
  out[i] = row[length - 1];
}

// ------------------------------------------------------------------------------------------------------------ finance

// How likely returns are under many models of changing risk (GARCH): a model per thread.
__global__ void garch_likelihoods(const float* __restrict__ returns, const float* __restrict__ models,
                                  float* __restrict__ out, int n, int days) {
  const int i = thread_id();
  if (i >= n) return;
  const float base = models[i], recent = models[n + i], lasting = models[2 * n + i];
  float variance = base / (1.0f - recent - lasting), sum = 0.0f;
  for (int d = 0; d < days; d++) {
    const float r = returns[d], squared = r * r;
    sum += __logf(variance) + squared / variance;
    variance = base + recent * squared + lasting * variance;
  }
  out[i] = -0.5f * sum;
}

// Densities by a series of cosines, from the characteristic function of a variance gamma process; a model and a place
// per thread. models: drift, spread, unrest and place.
__global__ void cosine_densities(const float4* __restrict__ models, float* __restrict__ out, int n, int terms,
                                 float half) {
  const int i = thread_id();
  if (i >= n) return;
  const float4 m = models[i];
  float sum = 0.5f;
  for (int k = 1; k < terms; k++) {
    const float u = 3.14159265f * k / (2.0f * half);
    const float re = 1.0f + 0.5f * m.y * m.y * m.z * u * u, im = -m.x * m.z * u;
    const float size = powf(re * re + im * im, -0.5f / m.z), angle = -atan2f(im, re) / m.z;
    sum += size * cosf(angle + u * half) * cosf(u * (m.w + half));
  }
  out[i] = sum / half;
}

// Books of orders with 16 prices: buyers take the cheapest that is offered, sellers the dearest; the rest waits. A book
// per thread in local memory; what was traded, and its worth.
__global__ void order_books(const u32* __restrict__ orders, uint2* __restrict__ out, int n, int length) {
  const int i = thread_id();
  if (i >= n) return;
  int buys[16], sells[16];
  for (int k = 0; k < 16; k++) buys[k] = sells[k] = 0;
  u32 traded = 0, worth = 0;
  for (int s = 0; s < length; s++) {
    const u32 order = orders[(size_t)s * n + i];
    const int price = order >> 4 & 15;
    int amount = 1 + (order >> 8 & 63);
    if (order & 1) {
      for (int p = 0; p <= price && amount; p++) {
        const int part = min(amount, sells[p]);
        sells[p] -= part;
        amount -= part;
        traded += part;
        worth += part * p;
      }
      buys[price] += amount;
    } else {
      for (int p = 15; p >= price && amount; p--) {
        const int part = min(amount, buys[p]);
        buys[p] -= part;
        amount -= part;
        traded += part;
        worth += part * p;
      }
      sells[price] += amount;
    }
  }
  out[i] = make_uint2(traded, worth);
}

// Losses of a bank when debtors fail together (a Gaussian copula): a world per thread, losses in bins of shared memory.
__global__ void copula_losses(const float* __restrict__ limits, int* __restrict__ bins, int worlds, int debtors,
                              float common, u32 seed) {
  __shared__ int counts[128];
  for (int k = threadIdx.x; k < 128; k += blockDim.x) counts[k] = 0;
  __syncthreads();
  const float own = sqrtf(1.0f - common * common);
  for (int i = thread_id(); i < worlds; i += gridDim.x * blockDim.x) {
    u32 state = scrambled(i ^ seed);
    const float shared_luck = common * normcdfinvf(chance(state));
    int failed = 0;
    for (int d = 0; d < debtors; d++) failed += shared_luck + own * normcdfinvf(chance(state)) < limits[d];
    atomicAdd(&counts[min(failed, 127)], 1);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 128; k += blockDim.x)
    if (counts[k]) atomicAdd(&bins[k], counts[k]);
}

// ------------------------------------------------------------------------------------------------------------ signals

// A receiver's first filter: three sums of sums, every `rate`-th value, three differences. A channel per thread.
__global__ void cic_filter(const short* __restrict__ in, int* __restrict__ out, int n, int frames, int rate) {
  const int i = thread_id();
  if (i >= n) return;
  int a = 0, b = 0, c = 0, x = 0, y = 0, z = 0;
  for (int f = 0; f < frames; f++) {
    for (int k = 0; k < rate; k++) {
      a += in[(size_t)(f * rate + k) * n + i];
      b += a;
      c += b;
    }
    const int first = c - x, second = first - y, third = second - z;
    x = c;
    y = first;
    z = second;
    out[(size_t)f * n + i] = third;
  }
}

// Echoes that stand out of what surrounds them (CFAR): a line of a radar per block, `wide` cells on both sides.
__global__ void cfar_echoes(const float* __restrict__ in, u8* __restrict__ out, int length, int wide, int guard,
                            float factor) {
  extern __shared__ float line[];
  const size_t first = (size_t)blockIdx.x * length;
  for (int k = threadIdx.x; k < length; k += blockDim.x) line[k] = in[first + k] * in[first + k];
  __syncthreads();
  for (int k = threadIdx.x; k < length; k += blockDim.x) {
    float before = 0.0f, behind = 0.0f;
    for (int j = guard + 1; j <= guard + wide; j++) {
      before += line[max(k - j, 0)];
      behind += line[min(k + j, length - 1)];
    }
    out[first + k] = line[k] * wide > factor * fmaxf(before, behind);
  }
}

// A satellite's signal: samples beside a carrier and a code, early, in time and late; a satellite per block. The code's
// 1024 chips lie as bits in shared memory.
__global__ void satellite_sums(const signed char* __restrict__ samples, const u32* __restrict__ codes,
                               const uint4* __restrict__ tunes, int* __restrict__ out, int length) {
  __shared__ u32 chips[32];
  __shared__ int sums[6];
  __shared__ signed char wave[16];
  const int t = threadIdx.x;
  if (t < 32) chips[t] = codes[blockIdx.x * 32 + t];
  if (t < 6) sums[t] = 0;
  if (t < 16) wave[t] = (signed char)rintf(7.0f * cospif(t * 0.125f));
  __syncthreads();
  const uint4 tune = tunes[blockIdx.x];
  int found[6] = {};
  for (int k = t; k < length; k += blockDim.x) {
    const u32 turn = tune.x + tune.y * k, place = tune.z + tune.w * k;
    const int sample = samples[k], re = sample * wave[turn >> 28], im = sample * wave[(turn + 0x40000000u) >> 28];
#pragma unroll
    for (int tap = 0; tap < 3; tap++) {
      const u32 chip = (place + (tap - 1) * 0x200000) >> 22;
      const bool set = chips[chip >> 5] >> (chip & 31) & 1;
      found[2 * tap] += set ? re : -re;
      found[2 * tap + 1] += set ? im : -im;
    }
  }
#pragma unroll
  for (int k = 0; k < 6; k++) {
    const int sum = __reduce_add_sync(FULL, found[k]);
    if (t % 32 == 0) atomicAdd(&sums[k], sum);
  }
  __syncthreads();
  if (t < 6) out[blockIdx.x * 6 + t] = sums[t];
}

// A limiter per channel: the loudness falls slowly, the gain follows it.
__global__ void limit_loudness(const float* __restrict__ in, float* __restrict__ out, int n, int length, float limit,
                               float release, float attack) {
  const int i = thread_id();
  if (i >= n) return;
  float loud = 0.0f, gain = 1.0f;
  for (int t = 0; t < length; t++) {
    const float x = in[(size_t)t * n + i];
    loud = fmaxf(fabsf(x), release * loud);
    const float goal = loud > limit ? limit / loud : 1.0f;
    gain += (goal < gain ? attack : 0.01f) * (goal - gain);
    out[(size_t)t * n + i] = gain * x;
  }
}

// Energies of a spectrum in bands that get wider, as an ear has them: a frame per block, a band per warp in turn.
__global__ void mel_bands(const float2* __restrict__ spectra, const int* __restrict__ edges, float* __restrict__ out,
                          int size, int bands) {
  extern __shared__ float powers[];
  const float2* mine = spectra + (size_t)blockIdx.x * size;
  for (int k = threadIdx.x; k < size; k += blockDim.x) powers[k] = mine[k].x * mine[k].x + mine[k].y * mine[k].y;
  __syncthreads();
  const int lane = threadIdx.x % 32;
  for (int b = threadIdx.x / 32; b < bands; b += blockDim.x / 32) {
    const int low = edges[b], middle = edges[b + 1], high = edges[b + 2];
    float sum = 0.0f;
    for (int k = low + lane; k < high; k += 32)
      sum += powers[k] * (k < middle ? (float)(k - low) / (middle - low) : (float)(high - k) / (high - middle));
    sum = warp_sum(sum);
    if (lane == 0) out[(size_t)blockIdx.x * bands + b] = __logf(sum + 1e-6f);
  }
}

// ---------------------------------------------------------------------------------------------------------- databases

// Rows of a table that fulfil a condition on three sets of bits: how many.
__global__ void count_by_bitmaps(const uint4* __restrict__ a, const uint4* __restrict__ b, const uint4* __restrict__ c,
                                 int* count, int n) {
  int found = 0;
  for (int i = thread_id(); i < n; i += gridDim.x * blockDim.x) {
    const uint4 x = a[i], y = b[i], z = c[i];
    found += __popc(x.x & (y.x | ~z.x)) + __popc(x.y & (y.y | ~z.y)) + __popc(x.z & (y.z | ~z.z)) +
             __popc(x.w & (y.w | ~z.w));
  }
  found = __reduce_add_sync(FULL, found);
  if (threadIdx.x % 32 == 0) atomicAdd(count, found);
}

// select flag, sum(amount), sum(price * amount), count(*) ... group by flag: six groups, sums of 64 bits in shared
// memory.
__global__ void few_groups(const u8* __restrict__ flags, const int2* __restrict__ rows, u64* totals, int n) {
  __shared__ u64 sums[18];
  if (threadIdx.x < 18) sums[threadIdx.x] = 0;
  __syncthreads();
  for (int i = thread_id(); i < n; i += gridDim.x * blockDim.x) {
    const int group = flags[i];
    const int2 row = rows[i];
    atomicAdd(&sums[3 * group], (u64)row.x);
    atomicAdd(&sums[3 * group + 1], (u64)row.x * row.y);
    atomicAdd(&sums[3 * group + 2], 1ull);
  }
  __syncthreads();
  if (threadIdx.x < 18) atomicAdd(&totals[threadIdx.x], sums[threadIdx.x]);
}

// Eight sorted runs per thread become one: the smallest of the eight heads, which lie in local memory, is next.
__global__ void merge_eight(const int* __restrict__ runs, int* __restrict__ out, int n, int length) {
  const int i = thread_id();
  if (i >= n) return;
  int heads[8], used[8];
#pragma unroll
  for (int k = 0; k < 8; k++) {
    heads[k] = runs[((size_t)k * length) * n + i];
    used[k] = 1;
  }
  for (int s = 0; s < 8 * length; s++) {
    int best = 0, least = heads[0];
#pragma unroll
    for (int k = 1; k < 8; k++)
      if (heads[k] < least) {
        least = heads[k];
        best = k;
      }
    out[(size_t)s * n + i] = least;
    const int next = used[best]++;
    heads[best] = next < length ? runs[((size_t)best * length + next) * n + i] : 0x7fffffff;
  }
}

// ----------------------------------------------------------------------------------------------------------- geometry

// Which points lie in a polygon: how often a line to the right meets an edge. Edges come in tiles of 128.
__global__ void points_in_polygon(const float2* __restrict__ points, const float2* __restrict__ corners,
                                  u8* __restrict__ out, int n, int count) {
  __shared__ float2 tile[129];
  const int i = thread_id();
  const float2 p = points[min(i, n - 1)];
  bool inside = false;
  for (int base = 0; base < count; base += 128) {
    for (int k = threadIdx.x; k < 129; k += blockDim.x) tile[k] = corners[(base + k) % count];
    __syncthreads();
    const int here = min(128, count - base);
    for (int k = 0; k < here; k++) {
      const float2 a = tile[k], b = tile[k + 1];
      if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x) inside = !inside;
    }
    __syncthreads();
  }
  if (i < n) out[i] = inside;
}

// The area of triangles within the square from 0 to 1 (Sutherland and Hodgman): corners in local memory, side by side.
__global__ void clip_triangles(const float* __restrict__ triangles, float* __restrict__ out, int n) {
  const int i = thread_id();
  if (i >= n) return;
  float x[2][8], y[2][8];
  int count = 3;
  for (int k = 0; k < 3; k++) {
    x[0][k] = triangles[2 * k * n + i];
    y[0][k] = triangles[(2 * k + 1) * n + i];
  }
  for (int side = 0; side < 4; side++) {
    const int from = side & 1, to = 1 - from;
    int kept = 0;
    for (int k = 0; k < count; k++) {
      const int next = k + 1 < count ? k + 1 : 0;
      const float ax = x[from][k], ay = y[from][k], bx = x[from][next], by = y[from][next];
      const float pa = side < 2 ? ax : ay, pb = side < 2 ? bx : by;
      const float a = side & 1 ? 1.0f - pa : pa, b = side & 1 ? 1.0f - pb : pb;
      if (a >= 0.0f) {
        x[to][kept] = ax;
        y[to][kept++] = ay;
      }
      if ((a >= 0.0f) != (b >= 0.0f)) {
        const float part = a / (a - b);
        x[to][kept] = ax + part * (bx - ax);
        y[to][kept++] = ay + part * (by - ay);
      }
    }
    count = kept;
  }
  float area = 0.0f;
  for (int k = 0; k < count; k++) {
    const int next = k + 1 < count ? k + 1 : 0;
    area += x[0][k] * y[0][next] - x[0][next] * y[0][k];
  }
  out[i] = 0.5f * fabsf(area);
}

// Whether a fourth point lies in the circle through three: in single precision, and in double where that is not sure.
__global__ void in_circles(const float* __restrict__ points, signed char* __restrict__ out, int n, float sure) {
  const int i = thread_id();
  if (i >= n) return;
  float x[4], y[4];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    x[k] = points[2 * k * n + i];
    y[k] = points[(2 * k + 1) * n + i];
  }
  const float ax = x[0] - x[3], ay = y[0] - y[3], bx = x[1] - x[3], by = y[1] - y[3], cx = x[2] - x[3], cy = y[2] - y[3];
  const float rough = (ax * ax + ay * ay) * (bx * cy - cx * by) - (bx * bx + by * by) * (ax * cy - cx * ay) +
                      (cx * cx + cy * cy) * (ax * by - bx * ay);
  int sign = rough > 0.0f ? 1 : -1;
  if (fabsf(rough) < sure) {
    const double px = (double)x[0] - x[3], py = (double)y[0] - y[3], qx = (double)x[1] - x[3];
    const double qy = (double)y[1] - y[3], rx = (double)x[2] - x[3], ry = (double)y[2] - y[3];
    const double exact = (px * px + py * py) * (qx * ry - rx * qy) - (qx * qx + qy * qy) * (px * ry - rx * py) +
                         (rx * rx + ry * ry) * (px * qy - qx * py);
    sign = exact > 0.0 ? 1 : exact < 0.0 ? -1 : 0;
  }
  out[i] = sign;
}

// Which pairs of turned boxes overlap: 15 axes, until one divides them. boxes: place, half sides, a quaternion.
__global__ void turned_boxes(const float* __restrict__ boxes, const int2* __restrict__ pairs, u8* __restrict__ out,
                             int n, int count) {
  const int i = thread_id();
  if (i >= n) return;
  float side[2][3], place[2][3], axes[2][3][3];
#pragma unroll
  for (int k = 0; k < 2; k++) {
    const float* box = boxes + (k ? pairs[i].y : pairs[i].x);
#pragma unroll
    for (int c = 0; c < 3; c++) {
      place[k][c] = box[c * count];
      side[k][c] = box[(3 + c) * count];
    }
    float w = box[6 * count], x = box[7 * count], y = box[8 * count], z = box[9 * count];
    const float inverse = rsqrtf(w * w + x * x + y * y + z * z + 1e-12f);
    w *= inverse;
    x *= inverse;
    y *= inverse;
    z *= inverse;
    const float turned[9] = {1 - 2 * (y * y + z * z), 2 * (x * y + w * z),     2 * (x * z - w * y),
                             2 * (x * y - w * z),     1 - 2 * (x * x + z * z), 2 * (y * z + w * x),
                             2 * (x * z + w * y),     2 * (y * z - w * x),     1 - 2 * (x * x + y * y)};
#pragma unroll
    for (int c = 0; c < 9; c++) axes[k][c / 3][c % 3] = turned[c];
  }
  float turn[3][3], size[3][3], way[3];
#pragma unroll
  for (int a = 0; a < 3; a++) {
    way[a] = 0.0f;
#pragma unroll
    for (int c = 0; c < 3; c++) way[a] += (place[1][c] - place[0][c]) * axes[0][a][c];
#pragma unroll
    for (int b = 0; b < 3; b++) {
      turn[a][b] = axes[0][a][0] * axes[1][b][0] + axes[0][a][1] * axes[1][b][1] + axes[0][a][2] * axes[1][b][2];
      size[a][b] = fabsf(turn[a][b]) + 1e-6f;
    }
  }
  out[i] = 0;
#pragma unroll
  for (int a = 0; a < 3; a++)
    if (fabsf(way[a]) > side[0][a] + side[1][0] * size[a][0] + side[1][1] * size[a][1] + side[1][2] * size[a][2])
      return;
#pragma unroll
  for (int b = 0; b < 3; b++)
    if (fabsf(way[0] * turn[0][b] + way[1] * turn[1][b] + way[2] * turn[2][b]) >
        side[1][b] + side[0][0] * size[0][b] + side[0][1] * size[1][b] + side[0][2] * size[2][b])
      return;
#pragma unroll
  for (int a = 0; a < 3; a++)
#pragma unroll
    for (int b = 0; b < 3; b++) {
      const int p = (a + 1) % 3, q = (a + 2) % 3, r = (b + 1) % 3, s = (b + 2) % 3;
      if (fabsf(way[q] * turn[p][b] - way[p] * turn[q][b]) >
          side[0][p] * size[q][b] + side[0][q] * size[p][b] + side[1][r] * size[a][s] + side[1][s] * size[a][r])
        return;
    }
  out[i] = 1;
}

// Rays through a room of 64 x 64 x 64 cells, a bit each, in whole numbers: how many cells until one is full. rays: the
// first cell, the signs, the way to the next wall along x, y and z, and the way between walls.
__global__ void voxel_rays(const u32* __restrict__ room, const int* __restrict__ rays, int* __restrict__ out, int n) {
  const int i = thread_id();
  if (i >= n) return;
  const int start = rays[i], signs = rays[n + i];
  int x = start & 63, y = start >> 6 & 63, z = start >> 12 & 63, steps = 0;
  const int sx = signs & 1 ? 1 : -1, sy = signs & 2 ? 1 : -1, sz = signs & 4 ? 1 : -1;
  int nx = rays[2 * n + i], ny = rays[3 * n + i], nz = rays[4 * n + i];
  const int dx = rays[5 * n + i], dy = rays[6 * n + i], dz = rays[7 * n + i];
  while ((x | y | z) >= 0 && (x | y | z) < 64) {
    if (room[(z * 64 + y) * 2 + (x >> 5)] >> (x & 31) & 1) break;
    if (nx <= ny && nx <= nz) {
      x += sx;
      nx += dx;
    } else if (ny <= nz) {
      y += sy;
      ny += dy;
    } else {
      z += sz;
      nz += dz;
    }
    steps++;
  }
  out[i] = steps;
}

// What one sees from a hill: a direction per thread, outwards, in steps of 1/65536 of a field; the steepest look so far.
__global__ void view_lines(const float* __restrict__ heights, const int2* __restrict__ ways, int* __restrict__ out,
                           int n, int side, float eye) {
  const int i = thread_id();
  if (i >= n) return;
  const int2 way = ways[i];
  int x = side / 2 << 16 | 0x8000, y = x, seen = 0;
  const float ground = heights[(y >> 16) * side + (x >> 16)] + eye;
  float steepest = -1e30f;
  for (int k = 1;; k++) {
    x += way.x;
    y += way.y;
    if (x < 0 || y < 0 || x >> 16 >= side || y >> 16 >= side) break;
    const float slope = (heights[(y >> 16) * side + (x >> 16)] - ground) / k;
    if (slope > steepest) {
      steepest = slope;
      seen++;
    }
  }
  out[i] = seen;
}

// Which cells of a field a surface passes (marching cubes): their numbers and cases into a list, a ticket per warp. The
// list is a ring of mask + 1 places.
__global__ void surface_cells(const float* __restrict__ field, const u8* __restrict__ table, u32* __restrict__ list,
                              u32* counts, int side, u32 mask, float level) {
  const int i = thread_id(), cells = side - 1, lane = threadIdx.x % 32;
  int kind = 0;
  if (i < cells * cells * cells) {
    const int x = i % cells, y = i / cells % cells, z = i / (cells * cells);
    const float* at = field + (z * side + y) * side + x;
#pragma unroll
    for (int k = 0; k < 8; k++)
      kind |= (at[(k >> 2) * side * side + (k >> 1 & 1) * side + (k & 1)] < level) << k;
  }
  const int triangles = table[kind];
  const u32 active = __ballot_sync(FULL, triangles > 0), all = __reduce_add_sync(FULL, triangles);
  u32 ticket = 0;
  if (lane == 0 && active) {
    ticket = atomicAdd(&counts[0], __popc(active));
    atomicAdd(&counts[1], all);
  }
  ticket = __shfl_sync(FULL, ticket, 0);
  if (triangles) list[(ticket + __popc(active & ((1u << lane) - 1))) & mask] = (u32)i << 8 | kind;
}

// ----------------------------------------------------------------------------------------------------------- surfaces

// Pixels of KINDS materials, each with code of its own: the kind decides which code a pixel runs.
template <int KIND>
__device__ __forceinline__ float material(int kind, float x, float y) {
  if (kind == KIND) {
    float v = x;
#pragma unroll
    for (int k = 0; k < 12; k++) {
      v = v * (0.5f + 0.03125f * ((KIND * 7 + k * 3) % 16)) + y * (0.25f + 0.0625f * ((KIND * 5 + k) % 8));
      if ((KIND + k) % 4 == 0) v = sqrtf(fabsf(v));
      if ((KIND + k) % 4 == 1) v -= floorf(v);
      if ((KIND + k) % 4 == 2) v = v / (1.0f + v * v);
    }
    return v;
  }
  if constexpr (KIND > 0) return material<KIND - 1>(kind, x, y);
  return 0.0f;
}
template <int KINDS>
__global__ void shaded_pixels(const u8* __restrict__ kinds, const float2* __restrict__ places, float* __restrict__ out,
                              int n) {
  const int i = thread_id();
  if (i >= n) return;
  const float2 p = places[i];
  out[i] = material<KINDS - 1>(kinds[i], p.x, p.y);
}
