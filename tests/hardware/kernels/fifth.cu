// Kernels for tests/hardware/fifth_cases.py: other ones than those of the sets before.

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define STRIDE (gridDim.x * blockDim.x)
typedef unsigned int u32;
typedef unsigned long long u64;

// One step needs the one before it.
__global__ void duffing(float* out, int steps) {
  float x = 0.1f + THREAD * 1e-5f, v = 0.0f;
  for (int k = 0; k < steps; k++) { v += 0.01f * (x - x * x * x - 0.2f * v); x += 0.01f * v; }
  out[THREAD] = x;
}
__global__ void middle_square(u32* out, int turns) {
  u32 v = THREAD * 2654435761u + 1u;
  for (int k = 0; k < turns; k++) { u64 s = (u64)v * v; v = (u32)(s >> 16) + 0x9E3779B9u; }
  out[THREAD] = v;
}
__global__ void follow_twice(const int* left, const int* right, int* out, int steps, int size) {
  int at = (THREAD * 131) % size;
  for (int k = 0; k < steps; k++) at = (k & 1) ? right[at] : left[at];
  out[THREAD] = at;
}
__global__ void tangents(float* out, int turns) {
  float x = 0.5f + (THREAD & 63) * 0.01f;
  for (int k = 0; k < turns; k++) x = __tanf(x) * 0.25f + 0.5f;
  out[THREAD] = x;
}
__global__ void remainders_of(u32* out, int turns, u32 m) {
  u32 v = THREAD + 17u;
  for (int k = 0; k < turns; k++) v = (v * 48271u + 11u) % m;
  out[THREAD] = v;
}

// Throughput of the pipes.
__global__ void spring_chain(const float* in, float* out, int turns) {
  float a = in[THREAD], b = a + 1, c = a + 2, d = a + 3, e = a + 4;
  for (int k = 0; k < turns; k++) {
    float p = 0.5f * (b - a), q = 0.5f * (c - b), r = 0.5f * (d - c), s = 0.5f * (e - d);
    a += p; b += q - p; c += r - q; d += s - r; e -= s;
  }
  out[THREAD] = a + b + c + d + e;
}
__global__ void chebyshev(const float* in, float* out, int degree) {
  float x = in[THREAD] * 0.1f, y = x * 0.5f, a = 1, b = x, c = 1, d = y;
  for (int k = 0; k < degree; k++) { float t = 2 * x * b - a; a = b; b = t; t = 2 * y * d - c; c = d; d = t; }
  out[THREAD] = b + d;
}
__global__ void siphash_like(u32* out, int rounds) {
  u32 a = THREAD, b = a ^ 0x736f6d65u, c = ~a, d = 0x646f7261u;
  for (int k = 0; k < rounds; k++) {
    a += b; c += d; b = (b << 5 | b >> 27) ^ a; d = (d << 8 | d >> 24) ^ c;
    a = (a << 16 | a >> 16) + d; c += b; b = (b << 7 | b >> 25) ^ c; d = (d << 13 | d >> 19) ^ a;
  }
  out[THREAD] = a ^ b ^ c ^ d;
}
__global__ void counted_compares(const int* in, int* out, int turns) {
  int v = in[THREAD], n = 0, w = v;
  for (int k = 0; k < turns; k++) { n += w > k; n += (w ^ k) < v; n -= w == 3 * k; w = w + 3; }
  out[THREAD] = n;
}
__global__ void bytes_mixed(const u32* in, u32* out, int turns) {
  u32 v = in[THREAD], s = v * 3u;
  for (int k = 0; k < turns; k++) {
    v = __byte_perm(v, s, 0x2143 + k); s = __vadd4(s, v) + (v & 0x00ff00ffu); s ^= v >> 3;
  }
  out[THREAD] = s;
}
__global__ void gaussians(const float* in, float* out, int turns) {
  float x = in[THREAD], s = 0;
  for (int k = 0; k < turns; k++) { s += __expf(-x * x * 0.01f); x += 0.125f; }
  out[THREAD] = s;
}
__global__ void inverse_norms(const float* in, float* out, int n, int turns) {
  int i = THREAD;
  if (i >= n) return;
  float x = in[i] + 1, y = x * 0.3f, z = 1.5f;
  for (int k = 0; k < turns; k++) { float r = rsqrtf(x * x + y * y + z * z); x = x * r + 1; y = y * r + 0.5f; z = z * r; }
  out[i] = x + y + z;
}
__global__ void bessel_series(const double* in, double* out, int terms) {
  double x = in[THREAD] * 0.01, h = 0.25 * x * x, t = 1, s = 1;
  for (int k = 1; k <= terms; k++) { t *= -h * (1.0 / (k * k)); s += t; }
  out[THREAD] = s;
}
__global__ void double_dots(const double* a, const double* b, double* out, int turns) {
  double s = 0, t = 1, u = a[THREAD], v = b[THREAD];
  for (int k = 0; k < turns; k++) { s = fma(u, v, s); t = fma(s, 0.5, t); u += 1.0; }
  out[THREAD] = s + t;
}

// Shared memory and barriers.
__global__ void smooth_in_block(const float* in, float* out, int turns) {
  extern __shared__ float row[];
  int t = threadIdx.x, n = blockDim.x;
  row[t] = in[THREAD];
  __syncthreads();
  for (int k = 0; k < turns; k++) {
    float v = 0.25f * row[t ? t - 1 : n - 1] + 0.5f * row[t] + 0.25f * row[t + 1 < n ? t + 1 : 0];
    __syncthreads();
    row[t] = v;
    __syncthreads();
  }
  out[THREAD] = row[t];
}
__global__ void heap_sums(const int* in, int* out) {
  extern __shared__ int tree[];
  int t = threadIdx.x;
  tree[t] = in[THREAD];
  for (int width = blockDim.x / 2; width; width >>= 1) { __syncthreads(); if (t < width) tree[t] += tree[t + width]; }
  __syncthreads();
  out[THREAD] = tree[0] + t;
}
__global__ void sum_scan(const float* in, float* out) {
  extern __shared__ float part[];
  int t = threadIdx.x, lane = t & 31, w = t >> 5;
  float v = in[THREAD];
  for (int d = 1; d < 32; d *= 2) { float o = __shfl_up_sync(~0u, v, d); if (lane >= d) v += o; }
  if (lane == 31) part[w] = v;
  __syncthreads();
  float before = 0;
  for (int k = 0; k < w; k++) before += part[k];
  out[THREAD] = v + before;
}
__global__ void nearest_in_block(const float* in, int* out) {
  extern __shared__ float keys[];
  int t = threadIdx.x, best = 0;
  float v = in[THREAD], least = 1e30f;
  keys[t] = v;
  __syncthreads();
  for (int k = 0; k < blockDim.x; k++) { float d = fabsf(keys[k] - v); if (k != t && d < least) { least = d; best = k; } }
  out[THREAD] = best;
}
template <int S> __global__ void column_walk(const float* in, float* out, int turns) {
  __shared__ float tile[32 * S + 64];
  for (int k = threadIdx.x; k < 32 * S + 64; k += blockDim.x) tile[k] = in[k];
  __syncthreads();
  float s = 0;
  int lane = threadIdx.x & 31;
  for (int k = 0; k < turns; k++) s = fmaf(tile[lane * S + (k & 15)], 0.75f, s) + tile[lane + (k & 31)];
  out[THREAD] = s;
}
__global__ void digits_of(const u32* in, u32* counts, int n) {
  __shared__ u32 bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = THREAD; i < n; i += STRIDE) atomicAdd(&bins[in[i] >> 3 & 63], 1u);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}
__global__ void relay(const int* in, int* out, int rounds) {
  __shared__ int box[1024];
  int t = threadIdx.x, v = in[THREAD];
  for (int k = 0; k < rounds; k++) {
    box[t] = v;
    __syncthreads();
    v += box[(t + 33 * k + 1) % blockDim.x];
    __syncthreads();
  }
  out[THREAD] = v;
}

// Rows.
__global__ void centre_rows(const float* in, float* out, int cols) {
  __shared__ float part[32];
  const float* row = in + (u64)blockIdx.x * cols;
  float s = 0;
  for (int k = threadIdx.x; k < cols; k += blockDim.x) s += row[k];
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = s;
  __syncthreads();
  s = 0;
  for (int k = 0; k < (blockDim.x + 31) / 32; k++) s += part[k];
  for (int k = threadIdx.x; k < cols; k += blockDim.x) out[(u64)blockIdx.x * cols + k] = row[k] - s / cols;
}
__global__ void log_sum_rows(const float* in, float* out, int rows, int cols) {
  int row = THREAD >> 5, lane = threadIdx.x & 31;
  if (row >= rows) return;
  float m = -1e30f, s = 0;
  for (int k = lane; k < cols; k += 32) { float v = in[(u64)row * cols + k], w = fmaxf(m, v); s = s * __expf(m - w) + __expf(v - w); m = w; }
  for (int d = 16; d; d >>= 1) {
    float n = __shfl_xor_sync(~0u, m, d), o = __shfl_xor_sync(~0u, s, d), w = fmaxf(m, n);
    s = s * __expf(m - w) + o * __expf(n - w); m = w;
  }
  if (!lane) out[row] = m + __logf(s);
}
__global__ void products_of_rows(const float2* a, const float2* b, float* out, int rows, int cols) {
  int row = THREAD >> 4, lane = threadIdx.x & 15;
  float s = 0;
  if (row < rows) for (int k = lane; k < cols; k += 16) { float2 u = a[(u64)row * cols + k], v = b[(u64)row * cols + k]; s += u.x * v.x + u.y * v.y; }
  for (int d = 8; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if (row < rows && !lane) out[row] = s;
}
__global__ void count_above(const float* in, u32* out, int n, float limit) {
  u32 c = 0;
  for (int i = THREAD; i < n; i += STRIDE) c += in[i] > limit;
  c = __reduce_add_sync(~0u, c);
  if ((threadIdx.x & 31) == 0) out[THREAD >> 5] = c;
}
__global__ void block_means(const float4* in, float* out, int each) {
  __shared__ float part[32];
  float s = 0;
  const float4* mine = in + (u64)blockIdx.x * each;
  for (int k = threadIdx.x; k < each; k += blockDim.x) { float4 v = mine[k]; s += v.x + v.y + v.z + v.w; }
  for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = s;
  __syncthreads();
  if (threadIdx.x == 0) { for (int k = 1; k < blockDim.x / 32; k++) s += part[k]; out[blockIdx.x] = s / (4 * each); }
}

// Matrices and images.
__global__ void gemm_8_columns(const float* a, const float* b, float* c, int n, int depth) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  float s[8] = {};
  for (int k = 0; k < depth; k++) {
    float v = a[row * depth + k];
    const float4* from = (const float4*)(b + (u64)k * n + col);
    float4 p = from[0], q = from[1];
    s[0] += v * p.x; s[1] += v * p.y; s[2] += v * p.z; s[3] += v * p.w; s[4] += v * q.x; s[5] += v * q.y; s[6] += v * q.z; s[7] += v * q.w;
  }
  for (int k = 0; k < 8; k++) c[(u64)row * n + col + k] = s[k];
}
__global__ void tiles_turned(const float* in, float* out, int n) {
  __shared__ float tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < n && y < n) tile[threadIdx.y][threadIdx.x] = in[(u64)y * n + x];
  __syncthreads();
  int u = blockIdx.y * 16 + threadIdx.x, v = blockIdx.x * 16 + threadIdx.y;
  if (u < n && v < n) out[(u64)v * n + u] = tile[threadIdx.x][threadIdx.y];
}
__global__ void banded(const float* bands, const float* x, float* y, int n, int wide) {
  int i = THREAD;
  if (i >= n) return;
  float s = 0;
  for (int k = 0; k < wide; k++) { int j = i + k - wide / 2; if (j >= 0 && j < n) s += bands[(u64)k * n + i] * x[j]; }
  y[i] = s;
}
__global__ void laplace_9(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  float s = 0;
  for (int j = -1; j <= 1; j++) for (int i = -1; i <= 1; i++) s += in[(y + j) * width + x + i];
  out[y * width + x] = s - 9 * in[y * width + x];
}
__global__ void box_rows(const float* in, float* out, int n, int radius) {
  int i = THREAD;
  if (i >= n) return;
  float s = 0;
  for (int k = -radius; k <= radius; k++) { int j = min(max(i + k, 0), n - 1); s += in[j]; }
  out[i] = s / (2 * radius + 1);
}
__global__ void halve_image(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float2* from = (const float2*)in;
  float2 a = from[(u64)(2 * y) * width + x], b = from[(u64)(2 * y + 1) * width + x];
  out[(u64)y * width + x] = 0.25f * (a.x + a.y + b.x + b.y);
}

// Indices.
__global__ void take_rows(const int* ids, const float* table, float* out, int rows, int cols) {
  int row = THREAD >> 5, lane = threadIdx.x & 31;
  if (row >= rows) return;
  const float* from = table + (u64)ids[row] * cols;
  for (int k = lane; k < cols; k += 32) out[(u64)row * cols + k] = from[k];
}
__global__ void swap_by(const int* where, const float* in, float* out, int n) {
  int i = THREAD;
  if (i < n) { float v = in[where[i]]; out[where[n - 1 - i]] = v; }
}
__global__ void hash_find(const u32* keys, const u32* table, u32* out, int n, u32 mask) {
  int i = THREAD;
  if (i >= n) return;
  u32 h = keys[i] * 2654435761u, at = h & mask, turns = 0;
  while (turns < 8 && (table[at] & 7) != (h >> 29)) { at = (at + 1) & mask; turns++; }
  out[i] = at;
}
__global__ void piecewise(const float* knots, const float* in, float* out, int n, int pieces) {
  int i = THREAD;
  if (i >= n) return;
  float x = in[i] * 0.01f * pieces;
  int k = min((int)x, pieces - 2);
  float f = x - k;
  out[i] = knots[k] * (1 - f) + knots[k + 1] * f;
}
__global__ void sparse_rows(const int* begins, const int* cols, const float* x, float* y, int rows) {
  int row = THREAD >> 3, lane = threadIdx.x & 7;
  float s = 0;
  if (row < rows) for (int k = row * 12 + (begins[row] & 3) + lane; k < row * 12 + 12; k += 8) s += x[cols[k]];
  for (int d = 4; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if (row < rows && !lane) y[row] = s;
}

// Atomics.
__global__ void sums_by_key(const int* keys, const int* values, int* sums, int n) {
  for (int i = THREAD; i < n; i += STRIDE) atomicAdd(&sums[keys[i]], values[i]);
}
__global__ void greatest_by_row(const int* in, int* best, int n, int cols) {
  for (int i = THREAD; i < n; i += STRIDE) atomicMax(&best[i / cols], in[i]);
}
__global__ void float_totals(const float* in, float* out, int n, int places) {
  float s = 0;
  for (int i = THREAD; i < n; i += STRIDE) s += in[i];
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if ((threadIdx.x & 31) == 0) atomicAdd(&out[(THREAD >> 5) % places], s);
}
__global__ void toggles(u32* bits, int turns, u32 m) {
  for (int k = 0; k < turns; k++) { u32 v = (THREAD * 40503u + k * 977u) % m; atomicXor(&bits[v >> 5], 1u << (v & 31)); }
}

// Control flow and code.
__global__ void tricorn(int* out, int width, int most) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, k = 0;
  float a = x * 3.5f / width - 2.0f, b = y * 3.5f / width - 1.6f, p = 0, q = 0;
  while (p * p + q * q < 4 && k < most) { float t = p * p - q * q + a; q = b - 2 * p * q; p = t; k++; }
  out[y * width + x] = k;
}
__global__ void bisect(const float* in, float* out, int n, int most) {
  int i = THREAD;
  if (i >= n) return;
  float v = in[i] + 1, low = 0, high = v;
  int k = 0;
  while (high - low > 1e-3f && k++ < most) { float m = 0.5f * (low + high); if (m * m * m > v) high = m; else low = m; }
  out[i] = low;
}
__global__ void three_ways(const int* in, int* out, int turns) {
  int v = in[THREAD], s = 0;
  for (int k = 0; k < turns; k++) {
    int c = (v + k) % 3;
    if (c == 0) s += v * 3; else if (c == 1) s ^= v + k; else s -= k * k;
    v += 7;
  }
  out[THREAD] = s;
}
__global__ void until_found(const int* in, int* out, int n, int most, int wanted) {
  int i = THREAD, k = 0;
  if (i >= n) return;
  while (k < most && in[(i * 7 + k * 131) % n] != wanted) k++;
  out[i] = k;
}
template <int N> __global__ void mixed_lines(const u32* in, u32* out) {
  u32 v = in[THREAD], w = v ^ 0xabcdu;
#pragma unroll
  for (int k = 0; k < N; k++) { v = v * (2 * k + 3) + w; w ^= v >> (k % 13 + 1); }
  out[THREAD] = v + w;
}
__global__ void lagrange(const float* in, const float* knots, float* out, int count) {
  float x = in[THREAD], s = 0;
  for (int k = 0; k < count; k++) {
    float t = 1;
    for (int j = 0; j < count; j++) if (j != k) t *= x - knots[j];
    s += t * knots[k];
  }
  out[THREAD] = s;
}
__global__ void own_strips(const float* in, float* out, int strip, int count) {
  int i = THREAD;
  if (i >= count) return;
  float s = 0;
  for (int k = 0; k < strip; k++) s = s * 0.9f + in[(u64)i * strip + k];
  out[i] = s;
}

// Streams.
__global__ void blend(const float4* a, const float4* b, float4* out, float t, int n) {
  int i = THREAD;
  if (i >= n) return;
  float4 u = a[i], v = b[i];
  out[i] = make_float4(u.x + t * (v.x - u.x), u.y + t * (v.y - u.y), u.z + t * (v.z - u.z), u.w + t * (v.w - u.w));
}
__global__ void clip_loop(const float2* in, float2* out, float low, float high, int n) {
  for (int i = THREAD; i < n; i += STRIDE) { float2 v = in[i]; out[i] = make_float2(fminf(fmaxf(v.x, low), high), fminf(fmaxf(v.y, low), high)); }
}
__global__ void split_planes(const uchar4* in, unsigned char* out, int n) {
  int i = THREAD;
  if (i >= n) return;
  uchar4 v = in[i];
  out[i] = v.x; out[n + i] = v.y; out[2 * n + i] = v.z; out[3 * n + i] = v.w;
}
__global__ void wide_marks(uint4* out, int n) {
  for (int i = THREAD; i < n; i += STRIDE) out[i] = make_uint4(i, i + 1, i + 2, i + 3);
}
__global__ void reversed(const float* in, float* out, int n) {
  int i = THREAD;
  if (i < n) out[n - 1 - i] = in[i];
}
__global__ void total_of(const float4* in, float* out, int n) {
  float s = 0;
  for (int i = THREAD; i < n; i += STRIDE) { float4 v = in[i]; s += v.x * v.y + v.z * v.w; }
  out[THREAD] = s;
}
