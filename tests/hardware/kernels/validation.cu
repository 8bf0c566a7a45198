// Kernels for tests/hardware/validation_cases.py: what people write, from textbooks and from libraries.

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define STRIDE (gridDim.x * blockDim.x)
typedef unsigned int u32;
typedef unsigned long long u64;

// One thread after the other thing.
__global__ void horner(const float* x, float* y, int n, int degree) {
  int i = THREAD;
  if (i >= n) return;
  float t = x[i] * 0.001f, r = 0;
  for (int k = 0; k < degree; k++) r = r * t + 1.0f / (k + 1);
  y[i] = r;
}
__global__ void newton_root(const float* x, float* y, int n) {
  int i = THREAD;
  if (i >= n) return;
  float v = x[i] + 1, r = v;
  for (int k = 0; k < 40; k++) r = 0.5f * (r + v / r);
  y[i] = r;
}
__global__ void power_mod(const u32* x, u32* y, int n, u32 modulus) {
  int i = THREAD;
  if (i >= n) return;
  u64 base = x[i] % modulus, r = 1;
  for (u32 e = 65537; e; e >>= 1) {
    if (e & 1) r = r * base % modulus;
    base = base * base % modulus;
  }
  y[i] = (u32)r;
}
__global__ void walk_list(const int2* nodes, int* sums, int steps) {
  int at = THREAD * 97, sum = 0;
  for (int k = 0; k < steps; k++) { int2 node = nodes[at]; sum += node.y; at = node.x / 2; }
  sums[THREAD] = sum;
}
__global__ void hash_bytes(const unsigned char* text, u32* hashes, int length) {
  u32 h = 2166136261u;
  for (int k = 0; k < length; k++) h = (h ^ text[THREAD * length + k]) * 16777619u;
  hashes[THREAD] = h;
}
__global__ void lorenz(float3* p, int steps, float dt) {
  float3 v = p[THREAD];
  for (int k = 0; k < steps; k++) {
    float dx = 10.0f * (v.y - v.x), dy = v.x * (28.0f - v.z) - v.y, dz = v.x * v.y - 2.6667f * v.z;
    v.x += dt * dx; v.y += dt * dy; v.z += dt * dz;
  }
  p[THREAD] = v;
}
__global__ void pendulum(double2* s, int steps, double dt) {
  double2 v = s[THREAD];
  for (int k = 0; k < steps; k++) { double a = v.x - v.x * v.x * v.x / 6; v.y -= dt * a; v.x += dt * v.y; }
  s[THREAD] = v;
}

// Arithmetic.
template <int N> __global__ void complex_powers(float2* z, int turns) {
  float2 v[N];
  for (int k = 0; k < N; k++) v[k] = z[THREAD * N + k];
  for (int t = 0; t < turns; t++)
#pragma unroll
    for (int k = 0; k < N; k++) {
      float re = v[k].x * v[k].x - v[k].y * v[k].y + 0.1f;
      v[k].y = 2 * v[k].x * v[k].y + 0.2f;
      v[k].x = re;
    }
  for (int k = 0; k < N; k++) z[THREAD * N + k] = v[k];
}
__global__ void gelu(const float* x, float* y, int n) {
  for (int i = THREAD; i < n; i += STRIDE) {
    float v = x[i];
    y[i] = 0.5f * v * (1 + tanhf(0.79788f * (v + 0.044715f * v * v * v)));
  }
}
__global__ void normal_density(const float* x, float* y, int terms) {
  float v = x[THREAD], sum = 0;
  for (int k = 0; k < terms; k++) { float d = v - 0.1f * k; sum += __expf(-0.5f * d * d); }
  y[THREAD] = sum;
}
__global__ void waves(float* y, int terms, float w) {
  float t = THREAD * 0.01f, sum = 0;
  for (int k = 1; k <= terms; k++) sum += __sinf(w * k * t) * __cosf(t) / k;
  y[THREAD] = sum;
}
__global__ void mixed_precision(const double* x, float* y, int n, int turns) {
  int i = THREAD;
  if (i >= n) return;
  double d = x[i];
  float f = 0;
  for (int k = 0; k < turns; k++) { d = d * 1.0000001 + 0.5; f += (float)d; }
  y[i] = f;
}
__global__ void black_scholes(const float* s, float* call, int n, float strike, float rate) {
  int i = THREAD;
  if (i >= n) return;
  float v = s[i] + 50, d1 = (logf(v / strike) + rate + 0.02f) / 0.2f, d2 = d1 - 0.2f;
  float n1 = 0.5f * erfcf(-d1 * 0.7071f), n2 = 0.5f * erfcf(-d2 * 0.7071f);
  call[i] = v * n1 - strike * expf(-rate) * n2;
}
__global__ void xorshift_sum(u32* out, int turns) {
  u32 s = THREAD + 1, sum = 0;
  for (int k = 0; k < turns; k++) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; sum += s; }
  out[THREAD] = sum;
}
__global__ void hamming(const u32* a, const u32* b, int* out, int words) {
  int sum = 0;
  for (int k = 0; k < words; k++) sum += __popc(a[k * STRIDE + THREAD] ^ b[k]);
  out[THREAD] = sum;
}
__global__ void sha_like(u32* out, int rounds) {
  u32 a = THREAD, b = 0x6a09e667, c = 0xbb67ae85, d = 0x3c6ef372;
  for (int k = 0; k < rounds; k++) {
    u32 s = __funnelshift_r(a, a, 2) ^ __funnelshift_r(a, a, 13) ^ __funnelshift_r(a, a, 22);
    u32 m = (a & b) ^ (a & c) ^ (b & c), t = d + s + m + k;
    d = c; c = b; b = a; a = t;
  }
  out[THREAD] = a ^ b ^ c ^ d;
}
__global__ void divide_ints(const int* a, int* out, int divisor, int turns) {
  int v = a[THREAD], sum = 0;
  for (int k = 1; k <= turns; k++) sum += v / (divisor + k) + v % (divisor + k);
  out[THREAD] = sum;
}

// Shared memory.
__global__ void convolve(const float* in, const float* taps, float* out, int n, int radius) {
  extern __shared__ float line[];
  int i = THREAD;
  for (int k = threadIdx.x; k < blockDim.x + 2 * radius; k += blockDim.x) {
    int j = blockIdx.x * blockDim.x + k - radius;
    line[k] = j >= 0 && j < n ? in[j] : 0;
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k <= 2 * radius; k++) sum += line[threadIdx.x + k] * taps[k];
  if (i < n) out[i] = sum;
}
__global__ void lookup_shared(const unsigned char* in, const float* table, float* out, int turns) {
  __shared__ float t[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) t[k] = table[k];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < turns; k++) sum += t[in[k * STRIDE + THREAD]];
  out[THREAD] = sum;
}
template <int Pad> __global__ void column_sums_shared(const float* in, float* out) {
  __shared__ float tile[32][32 + Pad];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) tile[k / 32][k % 32] = in[blockIdx.x * 1024 + k];
  __syncthreads();
  if (threadIdx.x < 32) {
    float sum = 0;
    for (int k = 0; k < 32; k++) sum += tile[threadIdx.x][k];
    out[blockIdx.x * 32 + threadIdx.x] = sum;
  }
}
__global__ void blelloch(const int* in, int* out) {
  __shared__ int s[2048];
  int t = threadIdx.x, n = 2 * blockDim.x;
  const int* from = in + blockIdx.x * n;
  s[2 * t] = from[2 * t]; s[2 * t + 1] = from[2 * t + 1];
  int offset = 1;
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) s[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, v = s[a];
      s[a] = s[b]; s[b] += v;
    }
  }
  __syncthreads();
  out[blockIdx.x * n + 2 * t] = s[2 * t]; out[blockIdx.x * n + 2 * t + 1] = s[2 * t + 1];
}
__global__ void jacobi_shared(float* grid, int turns) {
  __shared__ float a[34][34], b[34][34];
  int x = threadIdx.x + 1, y = threadIdx.y + 1;
  a[y][x] = grid[(blockIdx.x * 32 + threadIdx.y) * 32 + threadIdx.x];
  if (threadIdx.y == 0) { a[0][x] = a[33][x] = a[x][0] = a[x][33] = 0; b[0][x] = b[33][x] = b[x][0] = b[x][33] = 0; }
  for (int k = 0; k < turns; k++) {
    __syncthreads();
    b[y][x] = 0.25f * (a[y - 1][x] + a[y + 1][x] + a[y][x - 1] + a[y][x + 1]);
    __syncthreads();
    a[y][x] = b[y][x];
  }
  grid[(blockIdx.x * 32 + threadIdx.y) * 32 + threadIdx.x] = a[y][x];
}
__global__ void gauss_solve(const float* in, float* out) {
  __shared__ float m[32][33];
  int r = threadIdx.y, c = threadIdx.x;
  m[r][c] = in[blockIdx.x * 1024 + r * 32 + c] + (r == c ? 64.0f : 0.0f);
  for (int k = 0; k < 32; k++) {
    __syncthreads();
    float f = m[r][k] / m[k][k], v = m[k][c];
    __syncthreads();
    if (r > k) m[r][c] -= f * v;
  }
  out[blockIdx.x * 1024 + r * 32 + c] = m[r][c];
}
__global__ void bitonic_floats(float* data) {
  extern __shared__ float keys[];
  int t = threadIdx.x;
  keys[t] = data[THREAD];
  __syncthreads();
  for (int k = 2; k <= blockDim.x; k <<= 1)
    for (int j = k >> 1; j > 0; j >>= 1) {
      int p = t ^ j;
      if (p > t && (keys[t] > keys[p]) == ((t & k) == 0)) { float v = keys[t]; keys[t] = keys[p]; keys[p] = v; }
      __syncthreads();
    }
  data[THREAD] = keys[t];
}

// Reductions and scans with shuffles.
__device__ float warp_sum(float v) {
  for (int k = 16; k; k >>= 1) v += __shfl_down_sync(0xffffffff, v, k);
  return v;
}
__device__ float block_sum(float v) {
  __shared__ float parts[32];
  v = warp_sum(v);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0;
  if (threadIdx.x < 32) { v = warp_sum(v); if (threadIdx.x == 0) parts[0] = v; }
  __syncthreads();
  return parts[0];
}
__global__ void sum_atomic(const float* in, float* total, int n) {
  float v = 0;
  for (int i = THREAD; i < n; i += STRIDE) v += in[i];
  v = block_sum(v);
  if (threadIdx.x == 0) atomicAdd(total, v);
}
__global__ void sum_last_block(const float* in, float* parts, float* total, u32* arrived, int n) {
  __shared__ bool last;
  float v = 0;
  for (int i = THREAD; i < n; i += STRIDE) v += in[i];
  v = block_sum(v);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = v;
    __threadfence();
    last = atomicAdd(arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    v = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) v += parts[i];
    v = block_sum(v);
    if (threadIdx.x == 0) { *total = v; *arrived = 0; }
  }
}
__global__ void largest(const float* in, u64* best, int n) {
  u64 v = 0;
  for (int i = THREAD; i < n; i += STRIDE) { u64 k = (u64)__float_as_uint(in[i]) << 32 | i; if (k > v) v = k; }
  for (int k = 16; k; k >>= 1) { u64 o = __shfl_xor_sync(0xffffffff, v, k); if (o > v) v = o; }
  if (threadIdx.x % 32 == 0) atomicMax(best, v);
}
__global__ void scan_warps(const int* in, int* out, int n) {
  int i = THREAD, v = i < n ? in[i] : 0, lane = threadIdx.x & 31;
  for (int k = 1; k < 32; k <<= 1) { int u = __shfl_up_sync(0xffffffff, v, k); if (lane >= k) v += u; }
  __shared__ int sums[32];
  if (lane == 31) sums[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    int s = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
    for (int k = 1; k < 32; k <<= 1) { int u = __shfl_up_sync(0xffffffff, s, k); if (lane >= k) s += u; }
    sums[threadIdx.x] = s;
  }
  __syncthreads();
  if (threadIdx.x >= 32) v += sums[threadIdx.x / 32 - 1];
  if (i < n) out[i] = v;
}
__global__ void column_means(const float* in, float* out, int rows, int cols) {
  int c = THREAD;
  if (c >= cols) return;
  float sum = 0;
  for (int r = 0; r < rows; r++) sum += in[r * cols + c];
  out[c] = sum / rows;
}
__global__ void layer_norm(const float* in, float* out, int cols, float eps) {
  const float* x = in + (u64)blockIdx.x * cols;
  float a = 0, b = 0;
  for (int k = threadIdx.x; k < cols; k += blockDim.x) a += x[k];
  a = block_sum(a) / cols;
  for (int k = threadIdx.x; k < cols; k += blockDim.x) { float d = x[k] - a; b += d * d; }
  b = rsqrtf(block_sum(b) / cols + eps);
  for (int k = threadIdx.x; k < cols; k += blockDim.x) out[(u64)blockIdx.x * cols + k] = (x[k] - a) * b;
}
__global__ void rms_norm_warp(const float4* in, float4* out, int quads, int rows) {
  int row = THREAD / 32, lane = threadIdx.x & 31;
  if (row >= rows) return;
  float sum = 0;
  for (int k = lane; k < quads; k += 32) { float4 v = in[row * quads + k]; sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w; }
  for (int k = 16; k; k >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, k);
  float s = rsqrtf(sum / (4 * quads) + 1e-5f);
  for (int k = lane; k < quads; k += 32) {
    float4 v = in[row * quads + k];
    out[row * quads + k] = make_float4(v.x * s, v.y * s, v.z * s, v.w * s);
  }
}
__global__ void online_softmax(const float* in, float* out, int cols) {
  __shared__ float tops[32], sums[32];
  const float* x = in + (u64)blockIdx.x * cols;
  float top = -1e30f, sum = 0;
  for (int k = threadIdx.x; k < cols; k += blockDim.x) {
    float v = x[k], t = fmaxf(top, v);
    sum = sum * __expf(top - t) + __expf(v - t);
    top = t;
  }
  for (int k = 16; k; k >>= 1) {
    float ot = __shfl_xor_sync(0xffffffff, top, k), os = __shfl_xor_sync(0xffffffff, sum, k), t = fmaxf(top, ot);
    sum = sum * __expf(top - t) + os * __expf(ot - t);
    top = t;
  }
  if (threadIdx.x % 32 == 0) { tops[threadIdx.x / 32] = top; sums[threadIdx.x / 32] = sum; }
  __syncthreads();
  top = tops[0]; sum = sums[0];
  for (int k = 1; k < blockDim.x / 32; k++) {
    float t = fmaxf(top, tops[k]);
    sum = sum * __expf(top - t) + sums[k] * __expf(tops[k] - t);
    top = t;
  }
  for (int k = threadIdx.x; k < cols; k += blockDim.x) out[(u64)blockIdx.x * cols + k] = __expf(x[k] - top) / sum;
}
__global__ void attend_one(const float* q, const float* keys, const float* values, float* out, int length) {
  extern __shared__ float scores[];
  int lane = threadIdx.x & 31, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const float *k0 = keys + (u64)blockIdx.x * length * 64, *v0 = values + (u64)blockIdx.x * length * 64;
  float qa = q[blockIdx.x * 64 + lane], qb = q[blockIdx.x * 64 + lane + 32];
  for (int t = warp; t < length; t += warps) {
    float s = qa * k0[t * 64 + lane] + qb * k0[t * 64 + lane + 32];
    for (int k = 16; k; k >>= 1) s += __shfl_xor_sync(0xffffffff, s, k);
    if (lane == 0) scores[t] = __expf(s * 0.125f);
  }
  __syncthreads();
  float sum = 0, acc = 0;
  for (int t = threadIdx.x; t < length; t += blockDim.x) sum += scores[t];
  sum = block_sum(sum);
  if (threadIdx.x < 64) {
    for (int t = 0; t < length; t++) acc += scores[t] * v0[t * 64 + threadIdx.x];
    out[blockIdx.x * 64 + threadIdx.x] = acc / sum;
  }
}

// Matrices.
__global__ void gemm_64(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][64], bs[16][64];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 16) {
    for (int e = threadIdx.x; e < 1024; e += 256) {
      as[e % 16][e / 16] = a[(row0 + e / 16) * n + k0 + e % 16];
      bs[e / 64][e % 64] = b[(k0 + e / 64) * n + col0 + e % 64];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) {
      float ra[4], rb[4];
      for (int i = 0; i < 4; i++) { ra[i] = as[k][ty * 4 + i]; rb[i] = bs[k][tx * 4 + i]; }
      for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) acc[i][j] += ra[i] * rb[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) c[(row0 + ty * 4 + i) * n + col0 + tx * 4 + j] = acc[i][j];
}
__global__ void gemm_naive(const float* a, const float* b, float* c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}
__global__ void gemv_warp(const float* a, const float* x, float* y, int rows, int cols) {
  int row = THREAD / 32, lane = threadIdx.x & 31;
  if (row >= rows) return;
  float sum = 0;
  for (int k = lane; k < cols; k += 32) sum += a[(u64)row * cols + k] * x[k];
  sum = warp_sum(sum);
  if (lane == 0) y[row] = sum;
}
__global__ void small_products(const float* a, const float* b, float* c) {
  __shared__ float as[4][64], bs[4][64];
  int g = threadIdx.x / 64, t = threadIdx.x % 64;
  u64 at = ((u64)blockIdx.x * 4 + g) * 64 + t;
  as[g][t] = a[at]; bs[g][t] = b[at];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 8; k++) sum += as[g][t / 8 * 8 + k] * bs[g][k * 8 + t % 8];
  c[at] = sum;
}
__global__ void transpose_naive(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[x * n + y] = in[y * n + x];
}
__global__ void transpose_shared(const float* in, float* out, int width, int height) {
  __shared__ float t[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < width && y < height) t[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x; y = blockIdx.x * 16 + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = t[threadIdx.x][threadIdx.y];
}

// Indirect accesses.
__global__ void permute(const float* in, const int* order, float* out, int n) {
  for (int i = THREAD; i < n; i += STRIDE) out[i] = in[order[i]];
}
__global__ void scatter(const float* in, const int* where, float* out, int n) {
  for (int i = THREAD; i < n; i += STRIDE) out[where[i]] = in[i];
}
__global__ void embed(const float4* table, const int* tokens, float4* out, int quads) {
  int token = tokens[blockIdx.x];
  for (int k = threadIdx.x; k < quads; k += blockDim.x) out[(u64)blockIdx.x * quads + k] = table[(u64)token * quads + k];
}
__global__ void spmv_rows(const int* cols, const float* vals, const float* x, float* y, int rows, int per_row) {
  int r = THREAD;
  if (r >= rows) return;
  float sum = 0;
  for (int k = 0; k < per_row; k++) sum += vals[r * per_row + k] * x[cols[r * per_row + k]];
  y[r] = sum;
}
__global__ void spmv_warps(const int* cols, const float* vals, const float* x, float* y, int rows, int per_row) {
  int r = THREAD / 32, lane = threadIdx.x & 31;
  if (r >= rows) return;
  float sum = 0;
  for (int k = lane; k < per_row; k += 32) sum += vals[r * per_row + k] * x[cols[r * per_row + k]];
  sum = warp_sum(sum);
  if (lane == 0) y[r] = sum;
}
__global__ void binary_search(const int* sorted, const int* wanted, int* found, int n, int count) {
  int i = THREAD;
  if (i >= count) return;
  int v = wanted[i], low = 0, high = n;
  while (low < high) { int mid = (low + high) / 2; if (sorted[mid] < v) low = mid + 1; else high = mid; }
  found[i] = low;
}

// Atomics.
__global__ void count_bins(const u32* in, u32* bins, int n, u32 mask) {
  for (int i = THREAD; i < n; i += STRIDE) atomicAdd(&bins[in[i] & mask], 1u);
}
__global__ void count_bins_shared(const u32* in, u32* bins, int n, int size) {
  extern __shared__ u32 own[];
  for (int k = threadIdx.x; k < size; k += blockDim.x) own[k] = 0;
  __syncthreads();
  for (int i = THREAD; i < n; i += STRIDE) atomicAdd(&own[in[i] % size], 1u);
  __syncthreads();
  for (int k = threadIdx.x; k < size; k += blockDim.x) if (own[k]) atomicAdd(&bins[k], own[k]);
}
__global__ void weigh_bins(const u32* in, const float* w, float* bins, int n, u32 mask) {
  for (int i = THREAD; i < n; i += STRIDE) atomicAdd(&bins[in[i] & mask], w[i]);
}
__global__ void keep_positive(const int* in, int* out, int* count, int n) {
  int i = THREAD;
  bool keep = i < n && in[i] >= 8;
  u32 votes = __ballot_sync(0xffffffff, keep);
  int lane = threadIdx.x & 31, at = 0;
  if (lane == 0) at = atomicAdd(count, __popc(votes));
  at = __shfl_sync(0xffffffff, at, 0);
  if (keep) out[(at + __popc(votes & ((1u << lane) - 1))) & (n - 1)] = in[i];  // the count goes on from launch to launch
}
__global__ void highest_of_groups(const int* in, int* best, int n, int groups) {
  for (int i = THREAD; i < n; i += STRIDE) atomicMax(&best[i % groups], in[i]);
}
__global__ void set_bits(const u32* in, u32* bitmap, int n) {
  for (int i = THREAD; i < n; i += STRIDE) atomicOr(&bitmap[in[i] >> 5], 1u << (in[i] & 31));
}
__global__ void add_doubles(double* sums, int turns, u32 mask) {
  for (int k = 0; k < turns; k++) atomicAdd(&sums[(THREAD * 7 + k * 13) & mask], 1.0);
}
__global__ void tickets(u32* counter, u32* got, int turns) {
  u32 sum = 0;
  for (int k = 0; k < turns; k++) sum += atomicAdd(&counter[threadIdx.x & 7], 1u + (sum & 1));
  got[THREAD] = sum;
}
__global__ void publish(int* mail, int* flag, int turns) {
  for (int k = 0; k < turns; k++) {
    mail[THREAD] = k;
    __threadfence();
    if (threadIdx.x == 0) flag[blockIdx.x * 32] = k;
  }
}

// Control flow.
__global__ void julia(int* out, int width, int most) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, n = 0;
  float a = x * 3.0f / width - 1.5f, b = y * 3.0f / width - 1.5f;
  while (a * a + b * b < 4 && n < most) { float t = a * a - b * b - 0.8f; b = 2 * a * b + 0.156f; a = t; n++; }
  out[y * width + x] = n;
}
__global__ void greatest_divisor(const u32* a, const u32* b, u32* out, int n) {
  int i = THREAD;
  if (i >= n) return;
  u32 x = a[i] + 1, y = b[i] + 1;
  while (y) { u32 t = x % y; x = y; y = t; }
  out[i] = x;
}
__global__ void machine(const unsigned char* program, int* out, int steps) {
  int acc = THREAD, aux = 1;
  for (int k = 0; k < steps; k++) {
    switch (program[(k + threadIdx.x / 8) & 255] & 7) {
      case 0: acc += aux; break;
      case 1: acc ^= aux << 3; break;
      case 2: aux = acc * 5 + 1; break;
      case 3: acc = acc > aux ? aux : acc; break;
      case 4: aux += __popc(acc); break;
      case 5: acc = acc * aux; break;
      case 6: aux ^= k; break;
      default: acc -= k;
    }
  }
  out[THREAD] = acc + aux;
}
__global__ void accept_reject(u32* out, int wanted) {
  u32 s = THREAD * 2654435761u + 12345, turns = 0;
  int got = 0;
  while (got < wanted) {
    s = s * 1664525u + 1013904223u; float x = (s >> 8) * 5.96e-8f;
    s = s * 1664525u + 1013904223u; float y = (s >> 8) * 5.96e-8f;
    if (x * x + y * y < 1) got++;
    turns++;
  }
  out[THREAD] = turns;
}
template <int Terms> __global__ void wide_polynomial(const float* x, float* y) {
  float v = x[THREAD], a = 0, b = 1;
#pragma unroll
  for (int k = 0; k < Terms; k++) { a = a * v + (0.5f + k * 0.25f); b = b * a + (k * 0.125f - 3.0f); }
  y[THREAD] = a + b;
}

// Images, tables, caches.
__global__ void blur(const float* in, float* out, int width, int height, int radius) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < radius || y < radius || x >= width - radius || y >= height - radius) return;
  float sum = 0;
  for (int dy = -radius; dy <= radius; dy++)
    for (int dx = -radius; dx <= radius; dx++) sum += in[(y + dy) * width + x + dx];
  out[y * width + x] = sum / ((2 * radius + 1) * (2 * radius + 1));
}
__global__ void heat_3d(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  int i = (z * n + y) * n + x;
  out[i] = in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n] - 6 * in[i]);
}
__global__ void resize(const float* in, float* out, int width, int height, float scale, int target) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float fx = x * scale, fy = y * scale;
  int ix = min((int)fx, width - 2), iy = min((int)fy, height - 2);
  float wx = fx - ix, wy = fy - iy;
  const float* p = in + iy * width + ix;
  out[y * target + x] = (1 - wy) * ((1 - wx) * p[0] + wx * p[1]) + wy * ((1 - wx) * p[width] + wx * p[width + 1]);
}
__global__ void interpolate(const float* table, const float* x, float* y, int n, int size) {
  for (int i = THREAD; i < n; i += STRIDE) {
    float f = x[i] * 0.37f;
    int k = (int)f % (size - 1);
    y[i] = table[k] + (f - (int)f) * (table[k + 1] - table[k]);
  }
}
__global__ void many_passes(const float4* in, float* out, int n, int passes) {
  float sum = 0;
  for (int p = 0; p < passes; p++)
    for (int i = THREAD; i < n; i += STRIDE) { float4 v = in[i]; sum += v.x * v.y + v.z * v.w; }
  out[THREAD] = sum;
}
__global__ void nearest(const float2* points, const float2* centres, int* out, int count) {
  float2 p = points[THREAD];
  float best = 1e30f;
  int which = 0;
  for (int k = 0; k < count; k++) {
    float dx = p.x - centres[k].x, dy = p.y - centres[k].y, d = dx * dx + dy * dy;
    if (d < best) { best = d; which = k; }
  }
  out[THREAD] = which;
}

// Streams.
__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = THREAD;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void saxpy_loop(int n, float a, const float* x, float* y) {
  for (int i = THREAD; i < n; i += STRIDE) y[i] = a * x[i] + y[i];
}
__global__ void triad(const float4* a, const float4* b, float4* c, float s) {
  float4 x = a[THREAD], y = b[THREAD];
  c[THREAD] = make_float4(x.x + s * y.x, x.y + s * y.y, x.z + s * y.z, x.w + s * y.w);
}
__global__ void grey(const uchar4* in, unsigned char* out, int n) {
  int i = THREAD;
  if (i < n) { uchar4 p = in[i]; out[i] = (77 * p.x + 150 * p.y + 29 * p.z) >> 8; }
}
__global__ void unzip(const float3* in, float* x, float* y, float* z, int n) {
  int i = THREAD;
  if (i < n) { float3 v = in[i]; x[i] = v.x; y[i] = v.y; z[i] = v.z; }
}
__global__ void reverse(const float* in, float* out, int n) {
  int i = THREAD;
  if (i < n) out[n - 1 - i] = in[i];
}
__global__ void fill_value(float* out, float v, int n) {
  int i = THREAD;
  if (i < n) out[i] = v;
}
