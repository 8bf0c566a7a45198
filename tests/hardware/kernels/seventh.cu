// Kernels for tests/hardware/seventh_cases.py: other ones than those of the sets before. Their kinds were drawn by lot.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define STRIDE (gridDim.x * blockDim.x)
typedef unsigned int u32;
typedef unsigned long long u64;

// One step needs the one before it.
__global__ void root_chain(const float* in, float* out, int steps) {
  float x = in[THREAD] + 1.5f;
  for (int k = 0; k < steps; k++) x = rsqrtf(x) + 0.75f;
  out[THREAD] = x;
}
__global__ void double_quotients(double* out, int steps) {
  double x = 2 + THREAD * 1e-7;
  for (int k = 0; k < steps; k++) x = 3.0 / (1.0 + x);
  out[THREAD] = x;
}
__global__ void brain_decay(const float* in, float* out, int steps) {
  __nv_bfloat16 x = __float2bfloat16(in[THREAD]), r = __float2bfloat16(0.9375f), c = __float2bfloat16(0.5f);
  for (int k = 0; k < steps; k++) x = __hfma(x, r, c);
  out[THREAD] = __bfloat162float(x);
}
__global__ void passed_around(const u32* in, u32* out, int steps) {
  u32 v = in[THREAD], lane = threadIdx.x & 31;
  for (int k = 0; k < steps; k++) v = __shfl_sync(~0u, v, (lane + v) & 31) + 1;
  out[THREAD] = v;
}
__global__ void shared_ring(const int* in, int* out, int steps) {
  __shared__ int next[512];
  for (int i = threadIdx.x; i < 512; i += blockDim.x) next[i] = in[i];
  __syncthreads();
  int at = threadIdx.x & 511;
  for (int k = 0; k < steps; k++) at = next[at];
  out[THREAD] = at;
}

// Throughput of the pipes.
__global__ void complex_cubes(const float* in, float* out, int turns) {
  float a = in[THREAD] * 0.1f, b = 0.3f, c = 0.2f, d = a;
  for (int k = 0; k < turns; k++) {
    float p = a * a - b * b, q = 2 * a * b, r = c * c - d * d, s = 2 * c * d;
    a = p * a - q * b + 0.1f; b = p * b + q * a; c = r * c - s * d - 0.1f; d = r * d + s * c;
  }
  out[THREAD] = a + b + c + d;
}
__global__ void crossed_hash(const u32* in, u32* out, int turns) {
  u32 x = in[THREAD], y = x * 2654435761u;
  for (int k = 0; k < turns; k++) { u32 z = x * 40503u + y; y = (y ^ z >> 15) * 2246822519u; x = z ^ y << 3; }
  out[THREAD] = x ^ y;
}
__global__ void half_squares(const float* in, float* out, int turns) {
  __half2 x = __float2half2_rn(in[THREAD] * 0.01f), s = __float2half2_rn(0), t = s, one = __float2half2_rn(0.25f);
  for (int k = 0; k < turns; k++) { s = __hfma2(x, x, s); t = __hfma2(s, x, t); x = __hmul2(__hadd2(x, one), one); }
  out[THREAD] = __low2float(s) + __high2float(t);
}
__global__ void log_mix(const float* in, float* out, int turns) {
  float x = in[THREAD] + 1, m = 0;
  for (int k = 0; k < turns; k++) { m = fmaxf(m, x) + __logf(1 + __expf(-fabsf(m - x))); x = 0.5f * x + 0.1f; }
  out[THREAD] = m;
}
__global__ void wide_sums(const u32* in, u32* out, int turns) {
  u32 v = in[THREAD];
  u64 a = v, b = ~(u64)v, c = a << 31, d = b >> 7;
  for (int k = 0; k < turns; k++) { a += c; b += d ^ a; c += b >> 3; d += a + c; }
  out[THREAD] = (u32)(a ^ b ^ c ^ d ^ (a ^ d) >> 32);
}
__global__ void next_subset(const u32* in, u32* out, int turns) {
  u32 v = in[THREAD] | 1, s = 0;
  for (int k = 0; k < turns; k++) {
    u32 low = v & (0u - v), up = v + low;
    s += __popc(v) * 5 + __clz(up) + __ffs(v >> 1);
    v = (up ^ v) >> 2 | up | 1;
  }
  out[THREAD] = s;
}
__global__ void dealt_bytes(const u32* in, u32* out, int turns) {
  u32 a = in[THREAD], b = ~a, c = a >> 5;
  for (int k = 0; k < turns; k++) {
    u32 p = __byte_perm(a, b, 0x5140), q = __byte_perm(b, c, 0x7362);
    c = __byte_perm(c, a, 0x2705) + k; a = p ^ c; b = q;
  }
  out[THREAD] = a ^ b ^ c;
}
__global__ void calendar(const int* in, int* out, int turns) {
  int v = in[THREAD], s = 0;
  for (int k = 0; k < turns; k++) {
    int week = v / 7, year = v / 365;
    s += v - 7 * week + year % 4; v = v * 3 - week + k;
  }
  out[THREAD] = s;
}
__global__ void quantised(const float* in, int* out, int turns) {
  float x = in[THREAD], y = x + 0.5f;
  int s = 0;
  for (int k = 0; k < turns; k++) {
    int a = __float2int_rn(x * 1.7f), b = (int)y;
    s += a ^ b; x = (float)(a & 1023) * 0.9f; y = __int2float_rn(b & 511) + x;
  }
  out[THREAD] = s;
}

// Shared memory.
__global__ void segment_starts(const int* flags, const float* in, float* out, int turns) {
  int lane = threadIdx.x & 31, head = flags[THREAD] & 1 | (lane == 0);
  float v = in[THREAD];
  for (int k = 0; k < turns; k++) {
    int seen = head;
    for (int d = 1; d < 32; d *= 2) {
      float up = __shfl_up_sync(~0u, v, d);
      int before = __shfl_up_sync(~0u, seen, d);
      if (lane >= d && !seen) { v += up; seen |= before; }
    }
    v *= 0.25f;
  }
  out[THREAD] = v;
}
__global__ void merge_step(const int* in, int* out, int turns) {  // rank of each of two sorted halves in the other one
  extern __shared__ int both[];
  int n = blockDim.x, half = n / 2, i = threadIdx.x;
  both[i] = in[THREAD] + 100 * (i % half);
  for (int k = 0; k < turns; k++) {
    __syncthreads();
    int v = both[i], base = i < half ? half : 0, low = 0, high = half;
    while (low < high) { int mid = (low + high) / 2; if (both[base + mid] < v) low = mid + 1; else high = mid; }
    __syncthreads();
    both[i] = v + (low & 3);
  }
  out[THREAD] = both[i];
}
__global__ void two_buffers(const float* in, float* out, int rounds) {
  __shared__ float page[2][256];
  int i = threadIdx.x;
  float s = 0, coming = in[THREAD];
  for (int k = 0; k < rounds; k++) {
    page[k & 1][i] = coming;
    coming = in[(THREAD + 256u * (k + 1)) % STRIDE];
    __syncthreads();
    s += page[k & 1][i ^ 37] * page[k & 1][255 - i];
  }
  out[THREAD] = s;
}
template <int APART> __global__ void apart_in_banks(const float* in, float* out, int turns) {
  __shared__ float table[1536];
  for (int i = threadIdx.x; i < 1536; i += blockDim.x) table[i] = in[i];
  __syncthreads();
  float s = 0;
  int at = threadIdx.x * APART % 1536;
  for (int k = 0; k < turns; k++) { s += table[at]; at += 97; if (at >= 1536) at -= 1536; }
  out[THREAD] = s;
}

// Matrices and stencils.
__global__ void greatest_of_rows(const float* in, float* out, int rows, int cols) {
  int row = THREAD / 32, lane = threadIdx.x & 31;
  if (row >= rows) return;
  float m = -1e30f;
  for (int c = lane; c < cols; c += 32) m = fmaxf(m, in[(u64)row * cols + c]);
  for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  if (!lane) out[row] = m;
}
__global__ void sums_of_columns(const float* in, float* out, int rows, int cols, int each) {
  int c = THREAD, first = blockIdx.y * each;
  if (c >= cols) return;
  float s = 0;
  for (int r = first; r < first + each && r < rows; r++) s += in[(u64)r * cols + c];
  out[(u64)blockIdx.y * cols + c] = s;
}
__global__ void lower_product(const float* m, const float* x, float* y, int n) {
  int row = THREAD / 32, lane = threadIdx.x & 31;
  if (row >= n) return;
  float s = 0;
  for (int c = lane; c <= row; c += 32) s += m[(u64)row * n + c] * x[c];
  for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (!lane) y[row] = s;
}
__global__ void seven_points(const float* in, float* out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
  u64 i = ((u64)z * ny + y) * nx + x, p = (u64)nx * ny;
  out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - p] + in[i + p]);
}
__global__ void down_filter(const float* in, const float* taps, float* out, int width, int height) {
  int x = THREAD, y = blockIdx.y;
  if (x >= width) return;
  float s = 0;
  for (int k = -5; k <= 5; k++) { int v = min(max(y + k, 0), height - 1); s += taps[k + 5] * in[v * width + x]; }
  out[y * width + x] = s;
}
__global__ void moving_mean(const float* in, float* out, int n, int wide) {
  int first = THREAD * 16;
  if (first + 16 + wide > n) return;
  float s = 0;
  for (int k = 0; k < wide; k++) s += in[first + k];
  for (int k = 0; k < 16; k++) { out[first + k] = s; s += in[first + k + wide] - in[first + k]; }
}

// Indices.
__global__ void chosen_packs(const int* index, const float4* in, float4* out, int n) {
  int i = THREAD;
  if (i < n) out[i] = in[index[i]];
}
__global__ void two_tables(const int* first, const int* second, const float* last, float* out, int n) {
  int i = THREAD;
  if (i < n) out[i] = last[second[first[i]]];
}
__global__ void put_pairs(const int* index, const float2* in, float2* out, int n) {
  int i = THREAD;
  if (i < n) { float2 v = in[i]; v.x += v.y; out[index[i]] = v; }
}
__global__ void walk_chains(const int* next, const int* starts, int* out, int n, int most) {
  int i = THREAD;
  if (i >= n) return;
  int at = starts[i], steps = 0;
  while (steps < most && (at & 15)) { at = next[at]; steps++; }
  out[i] = at + steps;
}

// Atomics.
__global__ void levels_flushed(const u32* in, u32* counts, int n) {
  __shared__ u32 own[128];
  for (int i = threadIdx.x; i < 128; i += blockDim.x) own[i] = 0;
  __syncthreads();
  for (int i = THREAD; i < n; i += STRIDE) atomicAdd(&own[in[i] >> 3 & 127], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 128; i += blockDim.x) if (own[i]) atomicAdd(&counts[i], own[i]);
}
__global__ void least_of_all(const int* in, int* least, int n) {
  int m = 2147483647;
  for (int i = THREAD; i < n; i += STRIDE) m = min(m, in[i]);
  m = __reduce_min_sync(~0u, m);
  if ((threadIdx.x & 31) == 0) atomicMin(least, m);
}
__global__ void weights_of(const int* keys, const float* in, float* sums, int n) {
  int i = THREAD;
  if (i < n) atomicAdd(&sums[keys[i]], in[i]);
}
__global__ void packed_maxima(const int* keys, const u32* in, u64* out, int each) {
  __shared__ u64 best[64];
  if (threadIdx.x < 64) best[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < each; k++) {
    int i = THREAD + k * STRIDE, key = keys[i] & 63;
    u64 mine = (u64)in[i] << 32 | i, seen = best[key];
    while (seen < mine) { u64 was = atomicCAS(&best[key], seen, mine); if (was == seen) break; seen = was; }
  }
  __syncthreads();
  if (threadIdx.x < 64) out[64 * blockIdx.x + threadIdx.x] = best[threadIdx.x];
}

// Control flow.
__global__ void own_turns(const int* in, float* out, int n) {
  int i = THREAD;
  if (i >= n) return;
  int turns = in[i];
  float x = 0.5f;
  for (int k = 0; k < turns; k++) x = x * 1.01f - x * x * 0.02f;
  out[i] = x;
}
__global__ void five_ways(const int* in, float* out, int n, int turns) {
  int i = THREAD;
  if (i >= n) return;
  int way = in[i];
  float x = way * 0.3f + 0.2f;
  for (int k = 0; k < turns; k++) {
    switch (way) {
      case 0: x = x * 0.5f + 1; break;
      case 1: x = sqrtf(x + 2); break;
      case 2: x = __sinf(x) + x; break;
      case 3: x = x - x * x * 0.01f; break;
      default: x = fmaxf(x * 1.1f - 3, 0.1f);
    }
    way = (way + 1) % 5;
  }
  out[i] = x;
}
__global__ void cube_root_until(const float* in, float* out, int n) {
  int i = THREAD;
  if (i >= n) return;
  float v = in[i] + 1, x = v;
  for (int k = 0; k < 60; k++) {
    float next = (2 * x + v / (x * x)) / 3;
    if (fabsf(next - x) < 1e-4f * x) break;
    x = next;
  }
  out[i] = x;
}

// Rows.
__global__ void masked_softmax(const float* in, const unsigned char* mask, float* out, int cols) {
  __shared__ float part[32];
  const u64 row = (u64)blockIdx.x * cols;
  float m = -1e30f, s = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) if (mask[row + c]) m = fmaxf(m, in[row + c]);
  for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  if (!(threadIdx.x & 31)) part[threadIdx.x >> 5] = m;
  __syncthreads();
  for (int k = 0; k < (blockDim.x + 31) / 32; k++) m = fmaxf(m, part[k]);
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += blockDim.x) if (mask[row + c]) s += __expf(in[row + c] - m);
  for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
  if (!(threadIdx.x & 31)) part[threadIdx.x >> 5] = s;
  __syncthreads();
  s = 0;
  for (int k = 0; k < (blockDim.x + 31) / 32; k++) s += part[k];
  for (int c = threadIdx.x; c < cols; c += blockDim.x) out[row + c] = mask[row + c] ? __expf(in[row + c] - m) / s : 0;
}
__global__ void distances_of_rows(const float* a, const float* b, float* out, int rows, int cols) {
  int row = THREAD / 16, lane = threadIdx.x & 15;
  if (row >= rows) return;
  float s = 0;
  for (int c = lane; c < cols; c += 16) { float d = a[(u64)row * cols + c] - b[(u64)row * cols + c]; s += d * d; }
  for (int d = 8; d; d /= 2) s += __shfl_xor_sync(__activemask(), s, d);
  if (!lane) out[row] = sqrtf(s);
}
__global__ void best_two(const float* in, float2* out, int rows, int cols) {
  int row = THREAD / 32, lane = threadIdx.x & 31;
  if (row >= rows) return;
  float a = -1e30f, b = a;
  for (int c = lane; c < cols; c += 32) {
    float v = in[(u64)row * cols + c];
    b = fmaxf(b, fminf(a, v)); a = fmaxf(a, v);
  }
  for (int d = 16; d; d /= 2) {
    float p = __shfl_xor_sync(~0u, a, d), q = __shfl_xor_sync(~0u, b, d);
    b = fmaxf(fmaxf(b, q), fminf(a, p)); a = fmaxf(a, p);
  }
  if (!lane) out[row] = make_float2(a, b);
}

// Streams.
__global__ void three_to_one(const float* a, const float* b, const float* c, float* out, int n) {
  for (int i = THREAD; i < n; i += STRIDE) out[i] = a[i] * b[i] + c[i];
}
__global__ void rows_reversed(const float* in, float* out, int width, int height) {
  int x = THREAD, y = blockIdx.y;
  if (x < width) out[(u64)y * width + width - 1 - x] = in[(u64)y * width + x];
}
__global__ void sum_of_differences(const uchar4* a, const uchar4* b, u32* out, int n) {
  u32 s = 0;
  for (int i = THREAD; i < n; i += STRIDE) {
    uchar4 p = a[i], q = b[i];
    s += abs(p.x - q.x) + abs(p.y - q.y) + abs(p.z - q.z) + abs(p.w - q.w);
  }
  out[THREAD] = s;
}
__global__ void every_seventh(const float* in, float* out, int n) {
  int i = THREAD;
  if (7 * i < n) out[i] = in[7 * i] * 2;
}
__global__ void small_tiles_turned(const float* in, float* out, int width, int height) {  // blocks of 32 x 8
  __shared__ float tile[8][33];
  int x = 32 * blockIdx.x + threadIdx.x, y = 8 * blockIdx.y + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[(u64)y * width + x];
  __syncthreads();
  int k = 32 * threadIdx.y + threadIdx.x, u = 8 * blockIdx.y + k % 8, v = 32 * blockIdx.x + k / 8;
  if (u < height && v < width) out[(u64)v * height + u] = tile[k % 8][k / 8];
}
