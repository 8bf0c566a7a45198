// Kernels for tests/hardware/fourth_cases.py: other ones than those of the sets before.

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define STRIDE (gridDim.x * blockDim.x)
typedef unsigned int u32;
typedef unsigned long long u64;

// One step needs the one before it.
__global__ void logistic(float* out, int steps) {
  float x = 0.3f + THREAD * 1e-6f;
  for (int k = 0; k < steps; k++) x = 3.7f * x * (1.0f - x);
  out[THREAD] = x;
}
__global__ void digit_sums(u32* out, int turns) {
  u32 v = THREAD + 123456789u, s = 0;
  for (int k = 0; k < turns; k++) { s += v % 10u; v = v / 10u + s * 7919u; }
  out[THREAD] = s;
}
__global__ void hops(const int* next, int* out, int steps, int size) {
  int at = (THREAD * 97) % size;
  for (int k = 0; k < steps; k++) at = next[at];
  out[THREAD] = at;
}
__global__ void fibonacci(u32* out, int steps, u32 m) {
  u32 a = THREAD, b = 1;
  for (int k = 0; k < steps; k++) { u32 c = a + b; c = c >= m ? c - m : c; a = b; b = c; }
  out[THREAD] = b;
}
__global__ void cordic(int* out, int turns) {
  int x = 39797, y = 0, z = THREAD & 0xffff;
  for (int k = 0; k < turns; k++) {
    int s = k & 15, dx = y >> s, dy = x >> s;
    if (z >= 0) { x -= dx; y += dy; z -= 32768 >> s; } else { x += dx; y -= dy; z += 32768 >> s; }
  }
  out[THREAD] = x ^ y ^ z;
}
__global__ void shuffled_sums(const float* in, float* out, int turns) {
  float v = in[THREAD];
  for (int k = 0; k < turns; k++) v = 0.5f * (v + __shfl_xor_sync(~0u, v, 1 << (k % 5)));
  out[THREAD] = v;
}

// Arithmetic.
__global__ void mat4(const float4* in, float4* out, int turns) {
  float4 v = in[THREAD];
  float a = 0.5f, b = 0.25f, c = 0.125f, d = 0.75f;
  for (int k = 0; k < turns; k++)
    v = make_float4(a * v.x + b * v.y + c * v.z + d * v.w, b * v.x + c * v.y + d * v.z + a * v.w,
                    c * v.x + d * v.y + a * v.z + b * v.w, d * v.x + a * v.y + b * v.z + c * v.w);
  out[THREAD] = v;
}
__global__ void philox(u32* out, int rounds) {
  u32 a = THREAD, b = 7, k = 0x9E3779B9u;
  for (int r = 0; r < rounds; r++) {
    u32 high = __umulhi(a, 0xD2511F53u), low = a * 0xD2511F53u;
    a = high ^ b ^ k; b = low; k += 0xBB67AE85u;
  }
  out[THREAD] = a + b;
}
__global__ void wide_products(u64* out, int turns) {
  u64 a = THREAD + 3;
  for (int k = 0; k < turns; k++) a = a * 6364136223846793005ull + 1442695040888963407ull;
  out[THREAD] = a;
}
__global__ void box_muller(const float2* in, float2* out, int turns) {
  float2 u = in[THREAD], s = make_float2(0, 0);
  u.x = u.x * 0.1f + 0.01f;
  for (int k = 0; k < turns; k++) {
    float r = sqrtf(-2.0f * __logf(u.x)), t = 6.2831853f * u.y;
    s.x += r * __cosf(t); s.y += r * __sinf(t);
    u.x = u.x * 0.9f + 0.01f; u.y = u.y + 0.13f;
  }
  out[THREAD] = s;
}
__global__ void sigmoids(const float* in, float* out, int n, int turns) {
  int i = THREAD;
  if (i >= n) return;
  float v = in[i];
  for (int k = 0; k < turns; k++) v = 1.0f / (1.0f + __expf(-v));
  out[i] = v;
}
__global__ void kepler(const double* m, double* out, int turns) {
  double a = m[THREAD] * 0.01, e = a;
  for (int k = 0; k < turns; k++) {
    double q = e * e, s = e * (1 - q * (1.0 / 6 - q * (1.0 / 120))), c = 1 - q * (0.5 - q * (1.0 / 24));
    e -= (e - 0.3 * s - a) * (1 + 0.3 * c);
  }
  out[THREAD] = e;
}
__global__ void popcounts(const u64* in, int* out, int n, int each) {
  int s = 0;
  for (int k = 0; k < each; k++) { int i = THREAD + k * STRIDE; if (i < n) s += __popcll(in[i]) - __clzll(in[i]); }
  out[THREAD] = s;
}
__global__ void clamped(const int* in, int* out, int turns) {
  int v = in[THREAD], w = v ^ 77;
  for (int k = 0; k < turns; k++) {
    v = min(max(v * 3 - w, -100000), 100000); w = max(min(w + v, 50000), -50000) ^ (v >> 2);
  }
  out[THREAD] = v + w;
}

// Shared memory and barriers.
__global__ void fourier(const float2* in, float2* out) {
  extern __shared__ float2 points[];
  int t = threadIdx.x, n = blockDim.x * 2;
  points[t] = in[(u64)blockIdx.x * n + t]; points[t + blockDim.x] = in[(u64)blockIdx.x * n + t + blockDim.x];
  __syncthreads();
  for (int half = 1; half < n; half *= 2) {
    int a = (t / half) * 2 * half + t % half, b = a + half;
    float angle = -3.14159265f * (t % half) / half, c = __cosf(angle), s = __sinf(angle);
    float2 p = points[a], q = points[b], r = make_float2(q.x * c - q.y * s, q.x * s + q.y * c);
    __syncthreads();
    points[a] = make_float2(p.x + r.x, p.y + r.y); points[b] = make_float2(p.x - r.x, p.y - r.y);
    __syncthreads();
  }
  out[(u64)blockIdx.x * n + t] = points[t]; out[(u64)blockIdx.x * n + t + blockDim.x] = points[t + blockDim.x];
}
__global__ void rotate_ring(const int* in, int* out, int steps) {
  extern __shared__ int ring[];
  int t = threadIdx.x, v = in[THREAD];
  for (int k = 0; k < steps; k++) {
    ring[t] = v;
    __syncthreads();
    v += ring[t + 1 == blockDim.x ? 0 : t + 1] >> 1;
    __syncthreads();
  }
  out[THREAD] = v;
}
__global__ void prefix_max(const int* in, int* out) {
  extern __shared__ int best[];
  int t = threadIdx.x, v = in[THREAD];
  for (int d = 1; d < 32; d *= 2) { int o = __shfl_up_sync(~0u, v, d); if ((t & 31) >= d) v = max(v, o); }
  if ((t & 31) == 31) best[t >> 5] = v;
  __syncthreads();
  for (int w = 0; w < t >> 5; w++) v = max(v, best[w]);
  out[THREAD] = v;
}
__global__ void rank_sort(const int* in, int* out) {
  extern __shared__ int keys[];
  int t = threadIdx.x, v = in[THREAD], rank = 0;
  keys[t] = v;
  __syncthreads();
  for (int k = 0; k < blockDim.x; k++) { int o = keys[k]; rank += o < v || (o == v && k < t); }
  out[blockIdx.x * blockDim.x + rank] = v;
}
__global__ void shared_walk(const int* in, int* out, int steps) {
  __shared__ int table[2048];
  for (int k = threadIdx.x; k < 2048; k += blockDim.x) table[k] = in[k];
  __syncthreads();
  int at = THREAD & 2047;
  for (int k = 0; k < steps; k++) at = (table[at] + k) & 2047;
  out[THREAD] = at;
}
template <int S> __global__ void strided_sums(const float* in, float* out, int turns) {
  __shared__ float row[32 * S + 32];
  for (int k = threadIdx.x; k < 32 * S + 32; k += blockDim.x) row[k] = in[k];
  __syncthreads();
  float s = 0;
  for (int k = 0; k < turns; k++) s += row[(threadIdx.x & 31) * S + (k & 31)] * s + 1.0f;
  out[THREAD] = s;
}
template __global__ void strided_sums<1>(const float*, float*, int);
template __global__ void strided_sums<4>(const float*, float*, int);
template __global__ void strided_sums<16>(const float*, float*, int);
__global__ void edit_distance(const unsigned char* a, const unsigned char* b, int* out) {
  extern __shared__ int lines[];
  int t = threadIdx.x, n = blockDim.x, *last = lines, *before = lines + n + 1, *now = lines + 2 * n + 2;
  unsigned char mine = a[blockIdx.x * n + t];
  last[t] = before[t] = now[t] = 0;
  __syncthreads();
  int v = 0;
  for (int d = 0; d < 2 * n - 1; d++) {
    int j = d - t;
    if (j >= 0 && j < n) {
      int up = t ? last[t - 1] : j + 1, left = j ? last[t] : t + 1, corner = t ? (j ? before[t - 1] : t) : j;
      v = min(min(up, left) + 1, corner + (mine != b[blockIdx.x * n + j]));
      now[t] = v;
    }
    __syncthreads();
    int* spare = before; before = last; last = now; now = spare;
  }
  out[THREAD] = v;
}
__global__ void key_counts(const u32* in, u32* out, int n) {
  __shared__ u32 counts[128];
  if (threadIdx.x < 128) counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = THREAD; i < n; i += STRIDE) atomicAdd(&counts[in[i] & 127], 1u);
  __syncthreads();
  if (threadIdx.x < 128) atomicAdd(&out[threadIdx.x], counts[threadIdx.x]);
}

// Rows and reductions.
__global__ void standardise(const float* in, float* out, int cols) {
  __shared__ float sums[64];
  float s = 0, q = 0;
  const float* row = in + (u64)blockIdx.x * cols;
  for (int k = threadIdx.x; k < cols; k += blockDim.x) { float v = row[k]; s += v; q += v * v; }
  for (int d = 16; d; d /= 2) { s += __shfl_xor_sync(~0u, s, d); q += __shfl_xor_sync(~0u, q, d); }
  int w = threadIdx.x >> 5;
  if ((threadIdx.x & 31) == 0) { sums[w] = s; sums[32 + w] = q; }
  __syncthreads();
  s = q = 0;
  for (int k = 0; k < blockDim.x / 32; k++) { s += sums[k]; q += sums[32 + k]; }
  float mean = s / cols, scale = rsqrtf(q / cols - mean * mean + 1e-5f);
  for (int k = threadIdx.x; k < cols; k += blockDim.x) out[(u64)blockIdx.x * cols + k] = (row[k] - mean) * scale;
}
__global__ void norms_l1(const float* in, float* out, int rows, int cols) {
  int row = THREAD >> 5, lane = threadIdx.x & 31;
  if (row >= rows) return;
  float s = 0;
  for (int k = lane; k < cols; k += 32) s += fabsf(in[(u64)row * cols + k]);
  for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (lane == 0) out[row] = s;
}
__global__ void cosines(const float* a, const float* b, float* out, int rows, int cols) {
  int row = THREAD >> 5, lane = threadIdx.x & 31;
  if (row >= rows) return;
  float p = 0, q = 0, r = 0;
  for (int k = lane; k < cols; k += 32) {
    float x = a[(u64)row * cols + k], y = b[(u64)row * cols + k];
    p += x * y; q += x * x; r += y * y;
  }
  for (int d = 16; d; d /= 2) {
    p += __shfl_xor_sync(~0u, p, d); q += __shfl_xor_sync(~0u, q, d); r += __shfl_xor_sync(~0u, r, d);
  }
  if (lane == 0) out[row] = p * rsqrtf(q * r + 1e-6f);
}
__global__ void entropies(const float* in, float* out, int cols) {
  __shared__ float part[32];
  float s = 0;
  for (int k = threadIdx.x; k < cols; k += blockDim.x) {
    float v = in[(u64)blockIdx.x * cols + k] * 0.1f + 0.01f; s -= v * __logf(v);
  }
  for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = s;
  __syncthreads();
  if (threadIdx.x == 0) { for (int k = 1; k < blockDim.x / 32; k++) s += part[k]; out[blockIdx.x] = s; }
}
__global__ void range_of(const float* in, float2* out, int n) {
  __shared__ float low[256], high[256];
  float a = 1e30f, b = -1e30f;
  for (int i = THREAD; i < n; i += STRIDE) { float v = in[i]; a = fminf(a, v); b = fmaxf(b, v); }
  low[threadIdx.x] = a; high[threadIdx.x] = b;
  for (int d = blockDim.x / 2; d; d /= 2) {
    __syncthreads();
    if (threadIdx.x < d) {
      low[threadIdx.x] = fminf(low[threadIdx.x], low[threadIdx.x + d]);
      high[threadIdx.x] = fmaxf(high[threadIdx.x], high[threadIdx.x + d]);
    }
  }
  if (threadIdx.x == 0) out[blockIdx.x] = make_float2(low[0], high[0]);
}

// Matrices.
__global__ void gemm_transposed(const float* a, const float* b, float* c, int n, int depth) {
  __shared__ float p[16][17], q[16][17];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  float s = 0;
  for (int k = 0; k < depth; k += 16) {
    p[y][x] = a[row * depth + k + x]; q[y][x] = b[(blockIdx.x * 16 + y) * depth + k + x];
    __syncthreads();
    for (int j = 0; j < 16; j++) s += p[y][j] * q[x][j];
    __syncthreads();
  }
  c[row * n + col] = s;
}
__global__ void vector_by_columns(const float* m, const float* v, float* out, int rows, int cols) {
  int c = THREAD;
  if (c >= cols) return;
  float s = 0;
  for (int r = 0; r < rows; r++) s += m[(u64)r * cols + c] * v[r];
  out[c] = s;
}
__global__ void invert_3x3(const float* in, float* out, int n) {
  int i = THREAD;
  if (i >= n) return;
  float m[9];
  for (int k = 0; k < 9; k++) m[k] = in[9 * i + k];
  float a = m[4] * m[8] - m[5] * m[7], b = m[5] * m[6] - m[3] * m[8], c = m[3] * m[7] - m[4] * m[6];
  float d = 1.0f / (m[0] * a + m[1] * b + m[2] * c + 1e-3f);
  out[9 * i] = a * d; out[9 * i + 3] = b * d; out[9 * i + 6] = c * d;
  out[9 * i + 1] = (m[2] * m[7] - m[1] * m[8]) * d; out[9 * i + 4] = (m[0] * m[8] - m[2] * m[6]) * d;
  out[9 * i + 7] = (m[1] * m[6] - m[0] * m[7]) * d; out[9 * i + 2] = (m[1] * m[5] - m[2] * m[4]) * d;
  out[9 * i + 5] = (m[2] * m[3] - m[0] * m[5]) * d; out[9 * i + 8] = (m[0] * m[4] - m[1] * m[3]) * d;
}
__global__ void filter_1d(const float* in, const float* taps, float* out, int n, int width) {
  extern __shared__ float tile[];
  int first = blockIdx.x * blockDim.x;
  for (int k = threadIdx.x; k < blockDim.x + width; k += blockDim.x) tile[k] = first + k < n ? in[first + k] : 0;
  __syncthreads();
  float s = 0;
  for (int k = 0; k < width; k++) s += tile[threadIdx.x + k] * taps[k];
  if (THREAD < n) out[THREAD] = s;
}
__global__ void pair_distances(const float* in, float* out, int n, int dims) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || j >= n) return;
  float s = 0;
  for (int k = 0; k < dims; k++) { float d = in[k * n + i] - in[k * n + j]; s += d * d; }
  out[i * n + j] = sqrtf(s);
}

// Indirect accesses.
__global__ void edge_sums(const int* from, const int* to, const float* v, float* out, int n) {
  int i = THREAD;
  if (i < n) out[i] = v[from[i]] + v[to[i]];
}
__global__ void tree_descent(const int* keys, const int* wanted, int* out, int n, int depth) {
  int i = THREAD;
  if (i >= n) return;
  int at = 0, w = wanted[i];
  for (int k = 0; k < depth; k++) at = 2 * at + 1 + (keys[at] < w);
  out[i] = at;
}
__global__ void bilinear(const float* image, const float2* where, float* out, int n, int width) {
  int i = THREAD;
  if (i >= n) return;
  float2 p = where[i];
  int x = (int)p.x, y = (int)p.y;
  float fx = p.x - x, fy = p.y - y;
  const float* at = image + y * width + x;
  out[i] = (at[0] * (1 - fx) + at[1] * fx) * (1 - fy) + (at[width] * (1 - fx) + at[width + 1] * fx) * fy;
}
__global__ void place_by(const int* where, const float* in, float* out, int n) {
  int i = THREAD;
  if (i < n) out[where[i]] = in[i];
}
__global__ void word_rows(const int* ids, const float4* table, float4* out, int words, int width) {
  for (int k = threadIdx.x; k < width; k += blockDim.x)
    if (blockIdx.x < words) out[blockIdx.x * width + k] = table[(u64)ids[blockIdx.x] * width + k];
}

// Atomics.
__global__ void count_modulo(u32* counts, int each, u32 m) {
  for (int k = 0; k < each; k++) atomicAdd(&counts[(THREAD * 31 + k * 977) % m], 1u);
}
__global__ void least_of_key(const int* keys, const int* values, int* least, int n) {
  for (int i = THREAD; i < n; i += STRIDE) atomicMin(&least[keys[i]], values[i]);
}
__global__ void append_where(const int* in, int* out, u32* cursor, int n, int above) {
  for (int i = THREAD; i < n; i += STRIDE) { int v = in[i]; if (v > above) out[atomicAdd(cursor, 1u)] = v; }
}
__global__ void mark_bits(const u32* in, u32* bits, int n, u32 mask) {
  for (int i = THREAD; i < n; i += STRIDE) { u32 v = in[i] & mask; atomicOr(&bits[v >> 5], 1u << (v & 31)); }
}
__global__ void fold_words(const u32* in, u32* out, int n) {
  u32 v = 0;
  for (int i = THREAD; i < n; i += STRIDE) v ^= in[i] * 2654435761u;
  v = __reduce_xor_sync(~0u, v);
  if ((threadIdx.x & 31) == 0) atomicXor(&out[blockIdx.x & 7], v);
}
__global__ void weighted_bins(const float* in, float* bins, int n, int count) {
  for (int i = THREAD; i < n; i += STRIDE) { float v = in[i]; atomicAdd(&bins[(int)(v * 13) % count], v); }
}

// Control flow and code.
__global__ void burning_ship(int* out, int width, int most) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, k = 0;
  float a = x * 3.0f / width - 2.2f, b = y * 3.0f / width - 1.8f, p = 0, q = 0;
  while (p * p + q * q < 4 && k < most) { float t = p * p - q * q + a; q = 2 * fabsf(p * q) + b; p = t; k++; }
  out[y * width + x] = k;
}
__global__ void integer_roots(const u32* in, u32* out, int n) {
  int i = THREAD;
  if (i >= n) return;
  u32 v = in[i], r = v / 2 + 1, s = (r + v / r) / 2;
  while (s < r) { r = s; s = (r + v / r) / 2; }
  out[i] = r;
}
__global__ void first_above(const float* in, int* out, int n, int cols, float limit) {
  int i = THREAD, k = 0;
  if (i >= n) return;
  while (k < cols && in[(u64)k * n + i] < limit) k++;
  out[i] = k;
}
__global__ void parities(const u32* in, u32* out, int turns) {
  u32 v = in[THREAD];
  for (int k = 0; k < turns; k++) {
    if (v & 1) v = v * 3 + 1;
    else if (v & 2) v = (v >> 1) ^ 0x5bd1e995u;
    else v = v / 3 + k;
  }
  out[THREAD] = v;
}
__global__ void quadrants(const float2* in, int* out, int depth) {
  float2 p = in[THREAD];
  float x = 4.5f, y = 4.5f, size = 2.25f;
  int code = 0;
  for (int k = 0; k < depth; k++) {
    if (p.x < x) { if (p.y < y) { y -= size; code = code * 4; } else { y += size; code = code * 4 + 1; } x -= size; }
    else { if (p.y < y) { y -= size; code = code * 4 + 2; } else { y += size; code = code * 4 + 3; } x += size; }
    size *= 0.5f;
  }
  out[THREAD] = code;
}
template <int N> __global__ void long_chain(u32* x) {
  u32 v = x[THREAD];
#pragma unroll
  for (int k = 0; k < N; k++) v = (v ^ (k * 2654435761u)) * (2 * k + 3) + (v >> 7);
  x[THREAD] = v;
}
template __global__ void long_chain<120>(u32*);
template __global__ void long_chain<500>(u32*);
template __global__ void long_chain<1800>(u32*);

// Caches.
__global__ void blur_5x5(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 2 || y < 2 || x >= width - 2 || y >= height - 2) return;
  float s = 0;
  for (int j = -2; j <= 2; j++)
    for (int k = -2; k <= 2; k++) s += in[(y + j) * width + x + k];
  out[y * width + x] = s * 0.04f;
}
__global__ void heat_2d(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, at = y * width + x;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  out[at] = 0.2f * (in[at] + in[at - 1] + in[at + 1] + in[at - width] + in[at + width]);
}
__global__ void gamma_table(const unsigned char* in, const float* table, float* out, int n) {
  for (int i = THREAD; i < n; i += STRIDE) out[i] = table[in[i]];
}
__global__ void transitions(const int* next, int* out, int states, int steps) {
  u32 seed = THREAD * 747796405u + 1, state = THREAD % states;
  for (int k = 0; k < steps; k++) { seed = seed * 1664525u + 1013904223u; state = next[state * 8 + (seed >> 29)]; }
  out[THREAD] = state;
}
__global__ void charges(const float4* all, float* out, int count) {
  float4 me = all[THREAD];
  float s = 0;
  for (int k = 0; k < count; k++) {
    float4 o = all[k];
    float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
    s += o.w * rsqrtf(dx * dx + dy * dy + dz * dz + 1.0f);
  }
  out[THREAD] = s;
}
__global__ void down_columns(const float* in, float* out, int width, int height) {
  float s = 0;
  int row = THREAD;
  if (row >= height) return;
  for (int k = 0; k < width; k++) s += in[(u64)row * width + k];
  out[row] = s;
}

// Streams.
__global__ void scale_bias(const float4* in, float4* out, float a, float b, int n) {
  for (int i = THREAD; i < n; i += STRIDE) {
    float4 v = in[i];
    out[i] = make_float4(a * v.x + b, a * v.y + b, a * v.z + b, a * v.w + b);
  }
}
__global__ void swap_halves(const float* in, float* out, int half) {
  int i = THREAD;
  if (i < half) { out[i] = in[i + half]; out[i + half] = in[i]; }
}
__global__ void pack_bytes(const float4* in, uchar4* out, int n) {
  int i = THREAD;
  if (i >= n) return;
  float4 v = in[i];
  out[i] = make_uchar4((int)v.x, (int)v.y, (int)v.z, (int)v.w);
}
__global__ void zip_three(const float* a, const float* b, const float* c, float4* out, int n) {
  for (int i = THREAD; i < n; i += STRIDE) out[i] = make_float4(a[i], b[i], c[i], a[i] + b[i] + c[i]);
}
__global__ void neighbour_sums(const float2* in, float* out, int n) {
  int i = THREAD;
  if (i < n) { float2 v = in[i]; out[i] = v.x + v.y; }
}
__global__ void count_up(u32* out, int n) {
  for (int i = THREAD; i < n; i += STRIDE) out[i] = i * 3;
}
__global__ void momentum(float* w, float* m, const float* g, float rate, int n) {
  int i = THREAD;
  if (i >= n) return;
  float v = 0.9f * m[i] + g[i];
  m[i] = v; w[i] -= rate * v;
}
__global__ void wide_maxima(const int4* in, int* out, int n) {
  int best = -1;
  for (int i = THREAD; i < n; i += STRIDE) { int4 v = in[i]; best = max(max(best, max(v.x, v.y)), max(v.z, v.w)); }
  out[THREAD] = best;
}
