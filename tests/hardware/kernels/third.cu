// Kernels for tests/hardware/third_cases.py: other ones than those of the sets before.

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define STRIDE (gridDim.x * blockDim.x)
typedef unsigned int u32;
typedef unsigned long long u64;

// One step needs the one before it.
__global__ void continued_fraction(float* y, int n, int terms) {
  int i = THREAD;
  if (i >= n) return;
  float r = 1.0f + i * 1e-4f;
  for (int k = terms; k > 0; k--) r = 1.0f + k / r;
  y[i] = r;
}
__global__ void automaton(const int* table, const unsigned char* text, int* out, int steps) {
  int state = THREAD & 1023;
  for (int k = 0; k < steps; k++) state = table[(state * 16 + (text[THREAD * steps + k] & 15)) & 16383] & 1023;
  out[THREAD] = state;
}
__global__ void cube_roots(const double* x, double* y, int turns) {
  double a = x[THREAD] + 1, r = a;
  for (int k = 0; k < turns; k++) { double c = r * r * r; r = r * (c + 2 * a) / (2 * c + a); }
  y[THREAD] = r;
}
__global__ void leaky(const float* in, float* out, int steps) {
  float v = in[THREAD], s = 0;
  for (int k = 0; k < steps; k++) { s = s * 0.9f + v; v = fmaxf(v - 0.01f * s, 0.1f); }
  out[THREAD] = s + v;
}
__global__ void lfsr(u64* out, int steps) {
  u64 s = THREAD * 0x9E3779B97F4A7C15ull + 1;
  for (int k = 0; k < steps; k++) s = (s >> 1) ^ (-(s & 1) & 0xD800000000000000ull);
  out[THREAD] = s;
}
__global__ void dependent_rows(const float* in, float* out, int width, int steps) {
  int at = THREAD % width;
  float sum = 0;
  for (int k = 0; k < steps; k++) { float v = in[k * width + at]; sum += v; at = (at + 1 + (v < 0)) % width; }
  out[THREAD] = sum;
}

// Arithmetic.
__global__ void quaternions(float4* q, int turns) {
  float4 a = q[THREAD], b = make_float4(0.5f, 0.5f, 0.5f, 0.5f);
  for (int k = 0; k < turns; k++)
    a = make_float4(a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                    a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z);
  q[THREAD] = a;
}
__global__ void murmur(const u32* in, u32* out, int rounds) {
  u32 h = in[THREAD];
  for (int k = 0; k < rounds; k++) {
    u32 x = (h + k) * 0xcc9e2d51u;
    x = (x << 15 | x >> 17) * 0x1b873593u;
    h ^= x;
    h = (h << 13 | h >> 19) * 5 + 0xe6546b64u;
  }
  out[THREAD] = h;
}
__global__ void softplus(const float* x, float* y, int n) {
  for (int i = THREAD; i < n; i += STRIDE) y[i] = logf(1 + expf(x[i] * 0.01f));
}
__global__ void unit_vectors(float4* v, int turns) {
  float4 a = v[THREAD];
  for (int k = 0; k < turns; k++) {
    float s = rsqrtf(a.x * a.x + a.y * a.y + a.z * a.z + 1.0f);
    a.x = a.x * s + 0.3f; a.y = a.y * s + 0.2f; a.z = a.z * s + 0.1f;
  }
  v[THREAD] = a;
}
__global__ void tones(float* out, int terms) {
  float t = THREAD * 0.001f, sum = 0;
#pragma unroll 4
  for (int k = 1; k <= terms; k++) sum += __sinf(k * t) * __log2f(k + t);
  out[THREAD] = sum;
}
__global__ void double_sums(const double* a, const double* b, double* out, int per) {
  double s = 0, p = 1;
  for (int k = 0; k < per; k++) { double x = a[k * STRIDE + THREAD], y = b[k * STRIDE + THREAD]; s += x * y; p = p * 0.5 + x; }
  out[THREAD] = s + p;
}
__global__ void bit_tricks(u32* out, int turns) {
  u32 x = THREAD + 77, sum = 0;
  for (int k = 0; k < turns; k++) { sum += __popc(x) + __clz(x ^ sum); x = __brev(x) + sum; }
  out[THREAD] = sum;
}
__global__ void fixed_point(const int* in, int* out, int turns) {
  int v = in[THREAD] + 1;
  long long acc = 0;
  for (int k = 0; k < turns; k++) { acc += (long long)v * (v + k); v = (int)(acc >> 7) | 1; }
  out[THREAD] = v;
}

// Shared memory and barriers.
__global__ void hadamard(float* data) {
  extern __shared__ float s[];
  int t = threadIdx.x, n = 2 * blockDim.x;
  float* d = data + (u64)blockIdx.x * n;
  s[t] = d[t]; s[t + blockDim.x] = d[t + blockDim.x];
  for (int h = 1; h < n; h *= 2) {
    __syncthreads();
    int i = t / h * 2 * h + t % h;
    float a = s[i], b = s[i + h];
    s[i] = a + b; s[i + h] = a - b;
  }
  __syncthreads();
  d[t] = s[t]; d[t + blockDim.x] = s[t + blockDim.x];
}
__global__ void odd_even_sort(int* data, int rounds) {
  __shared__ int s[1024];
  int t = threadIdx.x;
  s[2 * t] = data[2 * THREAD]; s[2 * t + 1] = data[2 * THREAD + 1];
  for (int k = 0; k < rounds; k++) {
    __syncthreads();
    int a = 2 * t + (k & 1), b = a + 1;
    if (b < 2 * blockDim.x && s[a] > s[b]) { int v = s[a]; s[a] = s[b]; s[b] = v; }
  }
  __syncthreads();
  data[2 * THREAD] = s[2 * t]; data[2 * THREAD + 1] = s[2 * t + 1];
}
__global__ void life(unsigned char* world, int turns) {
  __shared__ unsigned char a[34][36];
  int x = threadIdx.x, y = threadIdx.y;
  for (int k = y * 32 + x; k < 34 * 36; k += 1024) a[k / 36][k % 36] = 0;
  __syncthreads();
  a[y + 1][x + 1] = world[blockIdx.x * 1024 + y * 32 + x] & 1;
  for (int k = 0; k < turns; k++) {
    __syncthreads();
    int n = a[y][x] + a[y][x + 1] + a[y][x + 2] + a[y + 1][x] + a[y + 1][x + 2] + a[y + 2][x] + a[y + 2][x + 1] + a[y + 2][x + 2];
    unsigned char v = n == 3 || (n == 2 && a[y + 1][x + 1]);
    __syncthreads();
    a[y + 1][x + 1] = v;
  }
  world[blockIdx.x * 1024 + y * 32 + x] = a[y + 1][x + 1];
}
template <int Pitch> __global__ void tile_rows(const float* in, float* out, int turns) {
  __shared__ float s[32 * Pitch];
  int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  for (int r = warp; r < 32; r += blockDim.x >> 5) s[r * Pitch + lane] = in[blockIdx.x * 1024 + r * 32 + lane];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < turns; k++) sum += s[lane * Pitch + ((k + warp) & 31)];
  out[THREAD] = sum;
}
__global__ void count_letters(const unsigned char* text, u32* counts, int n) {
  __shared__ u32 own[8][64];
  int warp = (threadIdx.x >> 5) & 7;
  for (int k = threadIdx.x; k < 512; k += blockDim.x) own[k >> 6][k & 63] = 0;
  __syncthreads();
  for (int i = THREAD; i < n; i += STRIDE) atomicAdd(&own[warp][text[i] & 63], 1u);
  __syncthreads();
  for (int k = threadIdx.x; k < 64; k += blockDim.x) {
    u32 sum = 0;
    for (int w = 0; w < 8; w++) sum += own[w][k];
    atomicAdd(&counts[k], sum);
  }
}
__global__ void hillis_scan(const float* in, float* out) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  s[t] = in[THREAD];
  for (int d = 1; d < blockDim.x; d *= 2) {
    __syncthreads();
    float v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
  }
  out[THREAD] = s[t];
}
__global__ void rows_by_vector(const float4* rows, const float4* vector, float* out, int quads) {
  extern __shared__ float4 v[];
  for (int k = threadIdx.x; k < quads; k += blockDim.x) v[k] = vector[k];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < quads; k++) {
    float4 a = rows[(u64)k * STRIDE + THREAD], b = v[k];
    sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  }
  out[THREAD] = sum;
}

// Reductions and rows.
__device__ float2 warp_pair(float2 v) {
  for (int k = 16; k; k >>= 1) { v.x += __shfl_xor_sync(~0u, v.x, k); v.y += __shfl_xor_sync(~0u, v.y, k); }
  return v;
}
__device__ float2 block_pair(float2 v) {
  __shared__ float2 parts[32];
  v = warp_pair(v);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  int lane = threadIdx.x & 31;
  return warp_pair(lane < blockDim.x / 32 ? parts[lane] : make_float2(0, 0));
}
__global__ void variances(const float* in, float2* out, int n) {
  float2 v = make_float2(0, 0);
  for (int i = THREAD; i < n; i += STRIDE) { float x = in[i]; v.x += x; v.y += x * x; }
  v = block_pair(v);
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}
__global__ void group_norm(const float4* in, float4* out, int quads) {
  const float4* x = in + (u64)blockIdx.x * quads;
  float2 s = make_float2(0, 0);
  for (int k = threadIdx.x; k < quads; k += blockDim.x) {
    float4 v = x[k];
    s.x += v.x + v.y + v.z + v.w; s.y += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  s = block_pair(s);
  float mean = s.x / (4 * quads), scale = rsqrtf(s.y / (4 * quads) - mean * mean + 1e-5f);
  for (int k = threadIdx.x; k < quads; k += blockDim.x) {
    float4 v = x[k];
    out[(u64)blockIdx.x * quads + k] = make_float4((v.x - mean) * scale, (v.y - mean) * scale, (v.z - mean) * scale, (v.w - mean) * scale);
  }
}
__global__ void arg_min(const float* in, int* out, int rows, int cols) {
  int row = THREAD >> 5, lane = threadIdx.x & 31;
  if (row >= rows) return;
  float best = 1e30f;
  int at = 0;
  for (int k = lane; k < cols; k += 32) { float v = in[(u64)row * cols + k]; if (v < best) { best = v; at = k; } }
  for (int k = 16; k; k >>= 1) {
    float ob = __shfl_down_sync(~0u, best, k);
    int oa = __shfl_down_sync(~0u, at, k);
    if (ob < best) { best = ob; at = oa; }
  }
  if (lane == 0) out[row] = at;
}
__global__ void dot_products(const float* a, const float* b, float* out, int n) {
  float s = 0;
  for (int i = THREAD; i < n; i += STRIDE) s += a[i] * b[i];
  for (int k = 16; k; k >>= 1) s += __shfl_down_sync(~0u, s, k);
  if (threadIdx.x % 32 == 0) atomicAdd(out, s);
}
__global__ void rotary(float2* x, int pairs, int positions) {
  int k = THREAD % pairs, p = THREAD / pairs;
  if (p >= positions) return;
  float angle = p * exp2f(-13.3f * k / pairs), c, s;
  __sincosf(angle, &s, &c);
  float2 v = x[THREAD];
  x[THREAD] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}

// Matrices.
__global__ void outer_product(const float* a, const float* b, float* c, int cols) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  c[(u64)y * cols + x] = a[y] * b[x] + 1.0f;
}
__global__ void gram_tiles(const float* x, float* g, int n, int k) {
  __shared__ float a[16][17], b[16][17];
  int tx = threadIdx.x, ty = threadIdx.y;
  float sum = 0;
  for (int s = 0; s < k; s += 16) {
    a[ty][tx] = x[(blockIdx.y * 16 + ty) * k + s + tx];
    b[ty][tx] = x[(blockIdx.x * 16 + ty) * k + s + tx];
    __syncthreads();
    for (int j = 0; j < 16; j++) sum += a[ty][j] * b[tx][j];
    __syncthreads();
  }
  g[(blockIdx.y * 16 + ty) * n + blockIdx.x * 16 + tx] = sum;
}
__global__ void conv_3x3(const float* in, const float* w, float* out, int width, int height, int channels) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  float sum = 0;
  for (int c = 0; c < channels; c++)
    for (int j = 0; j < 3; j++)
      for (int i = 0; i < 3; i++) sum += in[(c * height + y + j - 1) * width + x + i - 1] * w[c * 9 + j * 3 + i];
  out[y * width + x] = sum;
}
__global__ void lower_solve(const float* m, float* x, int n) {
  __shared__ float s[128];
  int t = threadIdx.x;
  const float* a = m + (u64)blockIdx.x * n * n;
  s[t] = x[blockIdx.x * n + t];
  for (int k = 0; k < n; k++) {
    __syncthreads();
    float v = s[k] * 0.5f;
    if (t > k) s[t] -= a[k * n + t] * v;
  }
  __syncthreads();
  x[blockIdx.x * n + t] = s[t];
}

// Indirect.
__global__ void relax(const int* edges, const int* dist, int* out, int n) {
  int i = THREAD;
  if (i >= n) return;
  int degree = 1 + (i * 2654435761u >> 27), best = dist[i];
  for (int k = 0; k < degree; k++) { int d = dist[edges[i * 32 + k]] + 1; if (d < best) best = d; }
  out[i] = best;
}
__global__ void probe(const u32* table, const u32* keys, u32* out, int n, u32 mask) {
  for (int i = THREAD; i < n; i += STRIDE) {
    u32 at = keys[i] * 2654435761u & mask, tries = 0;
    while (tries < 16 && table[at] & 3) { at = (at + 1) & mask; tries++; }
    out[i] = at;
  }
}
__global__ void bags(const float4* table, const int* index, float4* out, int quads, int per) {
  float4 s = make_float4(0, 0, 0, 0);
  for (int k = 0; k < per; k++) {
    float4 v = table[(u64)index[blockIdx.x * per + k] * quads + threadIdx.x];
    s.x += v.x; s.y += v.y; s.z += v.z; s.w += v.w;
  }
  out[(u64)blockIdx.x * quads + threadIdx.x] = s;
}
__global__ void polyline(const float2* points, const int* order, float* out, int n) {
  for (int i = THREAD; i < n; i += STRIDE) {
    float2 a = points[order[i]], b = points[order[i] ^ 1];
    out[i] = sqrtf((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
  }
}

// Atomics.
__global__ void bucket_slots(const u32* keys, u32* counts, u32* slots, int n, u32 mask) {
  for (int i = THREAD; i < n; i += STRIDE) slots[i] = atomicAdd(&counts[keys[i] & mask], 1u);
}
__global__ void scatter_add(const int* index, const float* v, float* out, int n) {
  for (int i = THREAD; i < n; i += STRIDE) atomicAdd(&out[index[i]], v[i]);
}
__global__ void row_peaks(const int* in, int* peaks, int rows, int cols) {
  int row = blockIdx.x % rows, best = 0;
  for (int k = threadIdx.x; k < cols; k += blockDim.x) best = max(best, in[(u64)blockIdx.x * cols + k]);
  best = __reduce_max_sync(~0u, best);
  if ((threadIdx.x & 31) == 0) atomicMax(&peaks[row], best);
}
__global__ void swap_in(u32* cells, u32* got, int turns, u32 mask) {
  u32 v = THREAD;
  for (int k = 0; k < turns; k++) v = atomicExch(&cells[(THREAD * 5 + k * 33) & mask], v);
  got[THREAD] = v;
}
__global__ void double_bins(const u32* in, double* bins, int n, u32 mask) {
  for (int i = THREAD; i < n; i += STRIDE) atomicAdd(&bins[in[i] & mask], 0.5);
}

// Control flow.
__global__ void newton_fractal(int* out, int width, int most) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, n = 0;
  float a = x * 4.0f / width - 2.0f, b = y * 4.0f / width - 2.0f, d = 1;
  while (d > 1e-5f && n < most) {
    float r = a * a - b * b, s = 2 * a * b, q = 3 * (r * r + s * s) + 1e-6f;
    float p = a - (a * q - 3 * r) / (3 * q) * 1.5f, w = b - (b * q + 3 * s) / (3 * q) * 1.5f;
    d = (p - a) * (p - a) + (w - b) * (w - b);
    a = p * 0.5f + a * 0.5f; b = w * 0.5f + b * 0.5f; n++;
  }
  out[y * width + x] = n;
}
__global__ void smallest_factor(const u32* in, u32* out, int n) {
  int i = THREAD;
  if (i >= n) return;
  u32 v = in[i] | 1, d = 3;
  while (d * d <= v && v % d && d < 200) d += 2;
  out[i] = d;
}
__global__ void run_lengths(const unsigned char* in, int* out, int n) {
  int i = THREAD;
  if (i >= n) return;
  int k = i;
  while (k < n && in[k] > 40) k++;
  out[i] = k - i;
}
__global__ void choose(const unsigned char* what, float* x, int steps) {
  float v = x[THREAD] + 1, w = 0.5f;
  for (int k = 0; k < steps; k++) {
    switch (what[(k * 5 + (threadIdx.x >> 4)) & 127] & 3) {
      case 0: v = sqrtf(v * v + w); break;
      case 1: w = w * 0.75f + v; break;
      case 2: v = v * 0.5f + __expf(-w); break;
      default: { float t = v; v = w; w = t; }
    }
  }
  x[THREAD] = v + w;
}
template <int N> __global__ void straight_line(const u32* in, u32* out) {
  u32 a = in[THREAD], b = THREAD;
#pragma unroll
  for (int k = 0; k < N; k++) { a = (a ^ b) + (k * 2654435761u); b = b * 3 + (a >> (k % 13 + 1)); }
  out[THREAD] = a ^ b;
}

// Images and caches.
__global__ void sobel(const unsigned char* in, unsigned char* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  const unsigned char* p = in + y * width + x;
  int gx = p[-width + 1] + 2 * p[1] + p[width + 1] - p[-width - 1] - 2 * p[-1] - p[width - 1];
  int gy = p[width - 1] + 2 * p[width] + p[width + 1] - p[-width - 1] - 2 * p[-width] - p[-width + 1];
  out[y * width + x] = min(255, abs(gx) + abs(gy));
}
__global__ void median_rows(const float* in, float* out, int n) {
  int i = THREAD + 2;
  if (i >= n - 2) return;
  float a = in[i - 2], b = in[i - 1], c = in[i], d = in[i + 1], e = in[i + 2], t;
#define ORDER(p, q) t = fminf(p, q); q = fmaxf(p, q); p = t;
  ORDER(a, b) ORDER(d, e) ORDER(a, d) ORDER(b, e) ORDER(b, c) ORDER(c, d) ORDER(b, c)
  out[i] = c;
}
__global__ void upsample(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int ix = min(x / 2, width - 2), iy = min(y / 2, height - 2);
  float u = (x & 1) * 0.5f, v = (y & 1) * 0.5f;
  const float* p = in + iy * width + ix;
  out[(u64)y * 2 * width + x] = (1 - v) * ((1 - u) * p[0] + u * p[1]) + v * ((1 - u) * p[width] + u * p[width + 1]);
}
__global__ void forces(const float4* bodies, float4* out, int count) {
  float4 me = bodies[THREAD], f = make_float4(0, 0, 0, 0);
  for (int k = 0; k < count; k++) {
    float4 o = bodies[k];
    float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z, r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.1f);
    float s = o.w * r * r * r;
    f.x += dx * s; f.y += dy * s; f.z += dz * s;
  }
  out[THREAD] = f;
}
__global__ void table_mix(const float* table, float* out, int size, int turns) {
  u32 at = THREAD * 7;
  float sum = 0;
  for (int k = 0; k < turns; k++) { sum += table[at % size]; at = at * 5 + 1; }
  out[THREAD] = sum;
}

// Streams.
__global__ void axpby(const float4* x, float4* y, float a, float b, int n) {
  int i = THREAD;
  if (i >= n) return;
  float4 u = x[i], v = y[i];
  y[i] = make_float4(a * u.x + b * v.x, a * u.y + b * v.y, a * u.z + b * v.z, a * u.w + b * v.w);
}
__global__ void interleave(const float* a, const float* b, float2* out, int n) {
  for (int i = THREAD; i < n; i += STRIDE) out[i] = make_float2(a[i], b[i]);
}
__global__ void square_sums(const float4* in, float* out, int n) {
  float s = 0;
  for (int i = THREAD; i < n; i += STRIDE) { float4 v = in[i]; s += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w; }
  out[THREAD] = s;
}
__global__ void signs(const float* in, u32* out, int n) {
  int i = THREAD;
  u32 votes = __ballot_sync(~0u, i < n && in[i] < 0.5f);
  if ((threadIdx.x & 31) == 0 && i < n) out[i >> 5] = votes;
}
__global__ void every_other(const float* in, float* out, int n, int pitch) {
  int i = THREAD;
  if (i < n) out[i] = in[(u64)i * pitch];
}
