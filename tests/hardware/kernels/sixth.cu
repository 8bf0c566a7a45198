// Kernels for tests/hardware/sixth_cases.py: other ones than those of the sets before. Their kinds were drawn by lot.
#include <cuda_fp16.h>

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define STRIDE (gridDim.x * blockDim.x)
typedef unsigned int u32;
typedef unsigned long long u64;

// One step needs the one before it.
__global__ void babylonian(const float* in, float* out, int steps) {
  float v = in[THREAD] + 2, x = v;
  for (int k = 0; k < steps; k++) x = 0.5f * (x + __fdividef(v, x));
  out[THREAD] = x;
}
__global__ void damped_double(double* out, int steps) {
  double x = 1 + THREAD * 1e-6, v = 0;
  for (int k = 0; k < steps; k++) { v = v * 0.99 - x * 0.01; x += v; }
  out[THREAD] = x;
}
__global__ void half_orbit(__half* out, int steps) {
  __half x = __float2half(0.3f + (THREAD & 15) * 0.01f), r = __float2half(3.5f), one = __float2half(1.0f);
  for (int k = 0; k < steps; k++) x = __hmul(__hmul(r, x), __hsub(one, x));
  out[THREAD] = x;
}

// Throughput of the pipes.
__global__ void four_polynomials(const float* in, float* out, int turns) {
  float x = in[THREAD] * 0.01f, a = x, b = x + 1, c = x + 2, d = x + 3;
  for (int k = 0; k < turns; k++) {
    a = fmaf(fmaf(a, 0.31f, -0.2f), x, 0.5f); b = fmaf(fmaf(b, 0.17f, 0.4f), x, -0.5f);
    c = fmaf(fmaf(c, -0.23f, 0.1f), x, 0.25f); d = fmaf(fmaf(d, 0.11f, 0.3f), x, -0.25f);
  }
  out[THREAD] = a + b + c + d;
}
__global__ void turn_vectors(const float* in, float* out, int turns, float c, float s) {
  float x = in[THREAD], y = x + 1, z = x - 1;
  for (int k = 0; k < turns; k++) {
    float p = c * x - s * y, q = s * x + c * y;
    x = p; y = c * q - s * z; z = s * q + c * z;
  }
  out[THREAD] = x + y + z;
}
__global__ void three_mixers(const u32* in, u32* out, int turns) {
  u32 a = in[THREAD], b = ~a, c = a ^ 0x1234567u;
  for (int k = 0; k < turns; k++) {
    a ^= a << 7; b ^= b >> 9; c ^= c << 11; a += b & c; b += a | c; c += a ^ b;
  }
  out[THREAD] = a ^ b ^ c;
}
__global__ void bits_turned(const u32* in, u32* out, int turns) {
  u32 v = in[THREAD], lane = threadIdx.x & 31;
  for (int k = 0; k < turns; k++) {
    u32 row = 0;
    for (int j = 0; j < 8; j++) { u32 all = __ballot_sync(~0u, v >> (4 * j) & 1); row |= (all >> lane & 1) << (4 * j); }
    v = row * 5 + k;
  }
  out[THREAD] = v;
}
__global__ void limited_bytes(const u32* in, u32* out, int turns) {
  u32 v = in[THREAD], w = v >> 3, s = 0;
  for (int k = 0; k < turns; k++) { v = __vaddus4(v, 0x01020304u); w = __vsubus4(w, v & 0x0f0f0f0fu); s += __vmaxu4(v, w); }
  out[THREAD] = s;
}
__global__ void products_of_64(const u64* in, u64* out, int turns) {
  u64 v = in[THREAD] + 3, s = 1;
  for (int k = 0; k < turns; k++) { s = s * v + 0x9E3779B97F4A7C15ull; v ^= s >> 29; }
  out[THREAD] = s;
}
__global__ void hours_of(const u32* in, u32* out, u32 day, u32 hour, int turns) {
  u32 v = in[THREAD], s = 0;
  for (int k = 0; k < turns; k++) { s += v / day; v = v % day * 3 + v / hour + k; }
  out[THREAD] = s;
}
__global__ void ratios(const float* in, float* out, int turns) {
  float a = in[THREAD] + 1, b = a + 2;
  for (int k = 0; k < turns; k++) { a = (a + 3) / b; b = (b + 2) / (a + 1); }
  out[THREAD] = a + b;
}
__global__ void decibels(const float* in, float* out, int turns) {
  float x = in[THREAD] + 1, s = 0;
  for (int k = 0; k < turns; k++) { s += __log10f(x) * 10; x = x * 1.1f + __sinf(x); }
  out[THREAD] = s;
}
__global__ void legendre(const double* in, double* out, int degree) {
  double x = in[THREAD] * 0.01, a = 1, b = x;
  for (int k = 2; k <= degree; k++) { double c = (2 * k - 1) * x * b - (k - 1) * a; a = b; b = c * 0.25; }
  out[THREAD] = b;
}

// Shared memory and barriers.
__global__ void waves_in_block(const float* in, float* out, int turns) {
  extern __shared__ float now[];
  float* then = now + blockDim.x + 2;
  int t = threadIdx.x + 1;
  now[t] = in[THREAD]; then[t] = now[t];
  if (t == 1) { now[0] = then[0] = now[blockDim.x + 1] = then[blockDim.x + 1] = 0; }
  __syncthreads();
  for (int k = 0; k < turns; k++) {
    float v = 2 * now[t] - then[t] + 0.1f * (now[t - 1] + now[t + 1] - 2 * now[t]);
    __syncthreads();
    then[t] = now[t]; now[t] = v;
    __syncthreads();
  }
  out[THREAD] = now[t];
}
__global__ void brick_sort(const int* in, int* out, int rounds) {
  __shared__ int keys[1024];
  int t = threadIdx.x;
  keys[t] = in[THREAD];
  __syncthreads();
  for (int k = 0; k < rounds; k++) {
    int at = 2 * t + (k & 1);
    if (at + 1 < blockDim.x) { int a = keys[at], b = keys[at + 1]; if (a > b) { keys[at] = b; keys[at + 1] = a; } }
    __syncthreads();
  }
  out[THREAD] = keys[t];
}
__global__ void sums_of_segments(const int* flags, const float* in, float* out, int n) {
  int i = THREAD, lane = threadIdx.x & 31;
  bool head = i >= n || flags[i] == 0;
  float v = i < n ? in[i] : 0;
  u32 heads = __ballot_sync(~0u, head);
  for (int d = 1; d < 32; d *= 2) {
    float o = __shfl_down_sync(~0u, v, d);
    u32 between = heads >> lane >> 1 & ((1u << d) - 1);
    if (lane + d < 32 && !between) v += o;
  }
  if (head && i < n) out[i] = v;
}
__global__ void levels_of(const u32* in, u32* counts, int n) {
  __shared__ u32 bins[4][257];
  for (int k = threadIdx.x; k < 4 * 257; k += blockDim.x) (&bins[0][0])[k] = 0;
  __syncthreads();
  for (int i = THREAD; i < n; i += STRIDE) { u32 v = in[i]; for (int b = 0; b < 4; b++) atomicAdd(&bins[b][v >> (8 * b) & 255], 1u); }
  __syncthreads();
  for (int k = threadIdx.x; k < 256; k += blockDim.x) atomicAdd(&counts[k], bins[0][k] + bins[1][k] + bins[2][k] + bins[3][k]);
}
__global__ void two_stages(const float* in, float* out, int rounds) {
  __shared__ float box[2][256];
  int t = threadIdx.x & 127, half = threadIdx.x >> 7;
  float v = in[THREAD];
  for (int k = 0; k < rounds; k++) {
    if (half == 0) { v = v * 0.5f + k; box[k & 1][t] = v; }
    __syncthreads();
    if (half == 1) v += box[k & 1][127 - t];
  }
  out[THREAD] = v;
}
template <int PAD> __global__ void turned_again(const float* in, float* out, int turns) {
  __shared__ float tile[32][32 + PAD];
  int x = threadIdx.x, y = threadIdx.y;
  float v = in[(blockIdx.x * 32 + y) * 32 + x];
  for (int k = 0; k < turns; k++) {
    for (int j = 0; j < 32; j += 8) tile[y + j][x] = v + j;
    __syncthreads();
    float s = 0;
    for (int j = 0; j < 32; j += 8) s += tile[x][y + j];
    __syncthreads();
    v = s * 0.25f;
  }
  out[(blockIdx.x * 32 + y) * 32 + x] = v;
}

// Matrices.
__global__ void vector_by_rows(const float* a, const float* x, float* y, int rows, int cols) {
  __shared__ float part[8];
  int row = blockIdx.x;
  float s = 0;
  for (int k = threadIdx.x; k < cols; k += blockDim.x) s = fmaf(a[(u64)row * cols + k], x[k], s);
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = s;
  __syncthreads();
  if (threadIdx.x == 0) { for (int k = 1; k < blockDim.x / 32; k++) s += part[k]; y[row] = s; }
}
__global__ void table_of_products(const float* a, const float* b, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * 4;
  if (x >= n) return;
  float v = b[x];
  for (int j = 0; j < 4; j++) if (y + j < n) out[(u64)(y + j) * n + x] = a[y + j] * v;
}
__global__ void seven_taps(const float* in, float* out, int n, float p, float q, float r) {
  int i = 4 * THREAD;
  if (i + 10 > n) return;
  float w[10];
  for (int k = 0; k < 10; k++) w[k] = in[i + k];
  for (int k = 0; k < 4; k++) out[i + k] = p * (w[k] + w[k + 6]) + q * (w[k + 1] + w[k + 5]) + r * (w[k + 2] + w[k + 4]) + w[k + 3];
}
__global__ void squares_of_5x5(const float* in, float* out, int n) {
  int i = THREAD;
  if (i >= n) return;
  float m[25];
  for (int k = 0; k < 25; k++) m[k] = in[k * n + i];
  for (int r = 0; r < 5; r++) for (int c = 0; c < 5; c++) {
    float s = 0;
    for (int k = 0; k < 5; k++) s += m[5 * r + k] * m[5 * k + c];
    out[(5 * r + c) * n + i] = s;
  }
}

// Indices.
__global__ void springs(const int2* ends, const float2* at, float* out, int n) {
  int i = THREAD;
  if (i >= n) return;
  int2 e = ends[i];
  float2 a = at[e.x], b = at[e.y];
  out[i] = sqrtf((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
}
__global__ void find_in_tree(const int* keys, const int* tree, int* out, int n, int levels) {
  int i = THREAD;
  if (i >= n) return;
  int key = keys[i], at = 1;
  for (int k = 0; k < levels; k++) at = 2 * at + (tree[at] < key);
  out[i] = at;
}
__global__ void word_at(const unsigned char* text, const unsigned char* word, int* out, int n, int length) {
  int i = THREAD;
  if (i + length > n) return;
  int k = 0;
  while (k < length && text[i + k] == word[k]) k++;
  out[i] = k;
}
__global__ void send_by(const int* where, const float2* in, float2* out, int n) {
  int i = THREAD;
  if (i < n) out[where[i]] = in[i];
}
__global__ void random_means(const int* from, const float* in, float* out, int n, int each) {
  int i = THREAD;
  if (i >= n) return;
  float s = 0;
  for (int k = 0; k < each; k++) s += in[from[k * n + i]];
  out[i] = s / each;
}

// Atomics.
__global__ void visits(const int* pages, u32* counts, int n) {
  for (int i = THREAD; i < n; i += STRIDE) atomicAdd(&counts[pages[i]], 1u);
}
__global__ void highest_bid(const int* items, const int* bids, int* best, int n) {
  for (int i = THREAD; i < n; i += STRIDE) { int b = bids[i], k = items[i]; if (best[k] < b) atomicMax(&best[k], b); }
}
__global__ void locked_product(const float* in, float* out, int n, int places) {
  for (int i = THREAD; i < n; i += STRIDE) {
    u32* at = (u32*)&out[(i * 7) % places];
    u32 old = *at, seen;
    for (int k = 0; k < 3; k++) { seen = atomicCAS(at, old, __float_as_uint(__uint_as_float(old) + in[i])); if (seen == old) break; old = seen; }
  }
}
__global__ void take_numbers(u32* next, u32* out, int each) {
  for (int k = 0; k < each; k++) {
    u32 first = 0;
    if ((threadIdx.x & 31) == 0) first = atomicAdd(next, 32u);
    out[THREAD] = __shfl_sync(~0u, first, 0) + (threadIdx.x & 31);
  }
}

// Control flow and code.
__global__ void leave_early(const float* in, float* out, int n, float limit) {
  int i = THREAD;
  if (i >= n) return;
  float v = in[i];
  if (v < limit) return;
  for (int k = 0; k < 40; k++) v = v * 0.9f + 1.0f / (k + 1);
  out[i] = v;
}
__global__ void own_lengths(const int* lengths, int* out, int n) {
  int i = THREAD;
  if (i >= n) return;
  int s = 0;
  for (int k = 0; k < lengths[i]; k++) for (int j = 0; j <= (k & 3); j++) s += (s ^ k) + j;
  out[i] = s;
}
template <int N> __global__ void straight(const float* in, float* out) {
  float a = in[THREAD], b = a + 1;
#pragma unroll
  for (int k = 0; k < N; k++) { a = a * 1.0009765625f + b; b = (k & 1) ? b - a * 0.5f : fminf(b, a) + k; }
  out[THREAD] = a + b;
}

// Memory.
__global__ void sums_of_packs(const int4* in, int* out, int n) {
  int s = 0;
  for (int i = THREAD; i < n; i += STRIDE) { int4 v = in[i]; s += v.x ^ v.y ^ v.z ^ v.w; }
  out[THREAD] = s;
}
struct Particle { float x, y, z, mass, vx, vy, vz, charge; };
__global__ void drift(Particle* all, int n, float dt) {
  int i = THREAD;
  if (i >= n) return;
  Particle p = all[i];
  all[i].x = p.x + dt * p.vx; all[i].y = p.y + dt * p.vy; all[i].z = p.z + dt * p.vz;
}
__global__ void with_border(const float* in, float* out, int width, int height, int pad) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, wide = width + 2 * pad;
  if (x >= wide || y >= height + 2 * pad) return;
  int u = x - pad, v = y - pad;
  out[y * wide + x] = u >= 0 && u < width && v >= 0 && v < height ? in[v * width + u] : 0;
}
__global__ void every_nth(const float* in, float* out, int n, int apart) {
  float s = 0;
  for (u64 i = (u64)THREAD * apart; i < n; i += (u64)STRIDE * apart) s += in[i];
  out[THREAD] = s;
}

// Rows.
__global__ void warm_softmax(const float* in, float* out, int cols, float heat) {
  __shared__ float part[32];
  const float* row = in + (u64)blockIdx.x * cols;
  float m = -1e30f, s = 0;
  for (int k = threadIdx.x; k < cols; k += blockDim.x) m = fmaxf(m, row[k]);
  for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = m;
  __syncthreads();
  for (int k = 0; k < (blockDim.x + 31) / 32; k++) m = fmaxf(m, part[k]);
  __syncthreads();
  for (int k = threadIdx.x; k < cols; k += blockDim.x) s += __expf((row[k] - m) * heat);
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = s;
  __syncthreads();
  s = 0;
  for (int k = 0; k < (blockDim.x + 31) / 32; k++) s += part[k];
  for (int k = threadIdx.x; k < cols; k += blockDim.x) out[(u64)blockIdx.x * cols + k] = __expf((row[k] - m) * heat) / s;
}
__global__ void lengths_of_rows(const float4* in, float* out, int rows, int packs) {
  int row = THREAD >> 3, lane = threadIdx.x & 7;
  float s = 0;
  if (row < rows) for (int k = lane; k < packs; k += 8) { float4 v = in[(u64)row * packs + k]; s += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w; }
  for (int d = 4; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if (row < rows && !lane) out[row] = sqrtf(s);
}
