// Kernels for tests/hardware/eighth_cases.py: other ones than those of the seven sets before. What compiles long is a
// template, so that it is compiled only where it is asked for.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define STRIDE (gridDim.x * blockDim.x)
#define LANE (threadIdx.x & 31)
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

// One step needs the one before it.
__global__ void kahan_orbit(const float* in, float* out, int steps) {
  float x = in[THREAD], sum = 0, lost = 0;
  for (int k = 0; k < steps; k++) {
    float y = x - lost, t = sum + y;
    lost = (t - sum) - y; sum = t; x = x * 0.875f + 0.01f;
  }
  out[THREAD] = sum;
}
__global__ void atan2_chain(const float* in, float* out, int steps) {
  float x = in[THREAD] * 0.01f, y = 1;
  for (int k = 0; k < steps; k++) { x = atan2f(x + 0.3f, y); y = x * 0.5f + 1; }
  out[THREAD] = x;
}
__global__ void two_fingers(const int* next, int* out, int steps, int size) {
  int slow = THREAD * 77 % size, fast = slow;
  for (int k = 0; k < steps; k++) { slow = next[slow]; fast = next[next[fast]]; }
  out[THREAD] = fast - slow;
}
__global__ void double_means(double* out, int turns) {
  double s = 0, first = 0.1 + (THREAD & 1023) * 1e-3;
  for (int k = 0; k < turns; k++) {
    double a = 1, b = first + k;
    for (int j = 0; j < 4; j++) { double m = 0.5 * (a + b); b = sqrt(a * b); a = m; }
    s += a;
  }
  out[THREAD] = s;
}
__global__ void double_filter(const double* in, double* out, int n, int length) {  // each thread its own signal
  int i = THREAD;
  if (i >= n) return;
  double a = 0, b = 0;
  for (int k = 0; k < length; k++) {
    double x = in[(u64)k * n + i], y = 0.25 * x + 1.2 * a - 0.5 * b;
    b = a; a = y;
  }
  out[i] = a;
}

// Throughput of the pipes.
__global__ void bezier_points(const float* in, float* out, int turns) {
  float p = in[THREAD], q = p * 0.5f, r = p + 1, s = q - 1, sum = 0;
  for (int k = 0; k < turns; k++) {
    float t = (k & 63) * 0.015625f;
    float a = p + t * (q - p), b = q + t * (r - q), c = r + t * (s - r), d = a + t * (b - a), e = b + t * (c - b);
    sum += d + t * (e - d);
  }
  out[THREAD] = sum;
}
__global__ void matrix_powers(const float* in, float* out, int turns) {
  float m[9], p[9];
  for (int k = 0; k < 9; k++) { m[k] = ((k * 5 + (int)in[THREAD]) % 7 - 3) * 0.14f; p[k] = k % 4 == 0; }
  for (int t = 0; t < turns; t++) {
    float q[9];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) q[3 * i + j] = p[3 * i] * m[j] + p[3 * i + 1] * m[3 + j] + p[3 * i + 2] * m[6 + j];
    for (int k = 0; k < 9; k++) p[k] = q[k] + (k % 4 == 0 ? 0.01f : 0.0f);
  }
  out[THREAD] = p[0] + p[1] + p[2] + p[3] + p[4] + p[5] + p[6] + p[7] + p[8];
}
__global__ void nearest_town(const float* lat, const float* lon, const float2* towns, float* out, int n, int count) {
  int i = THREAD;
  if (i >= n) return;
  float a = lat[i] * 0.01f, b = lon[i] * 0.01f, near = 9;
  for (int k = 0; k < count; k++) {
    float2 t = towns[k];
    float u = __sinf(0.5f * (a - t.x)), v = __sinf(0.5f * (b - t.y));
    float h = u * u + __cosf(a) * __cosf(t.x) * v * v;
    near = fminf(near, 2 * asinf(sqrtf(fminf(h, 1.0f))));
  }
  out[i] = near;
}
__constant__ float components[16][3] = {
    {0.1f, 0.5f, 2.0f}, {0.2f, 1.5f, 3.0f}, {0.3f, 2.5f, 1.0f}, {0.4f, 3.5f, 2.5f}, {0.5f, 4.5f, 1.5f},
    {0.6f, 5.5f, 0.5f}, {0.7f, 6.5f, 2.0f}, {0.8f, 7.5f, 1.0f}, {0.9f, 0.2f, 3.5f}, {0.8f, 1.2f, 0.7f},
    {0.7f, 2.2f, 1.2f}, {0.6f, 3.2f, 2.2f}, {0.5f, 4.2f, 0.9f}, {0.4f, 5.2f, 1.9f}, {0.3f, 6.2f, 2.9f},
    {0.2f, 7.2f, 0.4f}};
__global__ void mixture_density(const float* in, float* out, int n) {
  for (int i = THREAD; i < n; i += STRIDE) {
    float x = in[i], s = 0;
    for (int k = 0; k < 16; k++) {
      float d = (x - components[k][1]) * components[k][2];
      s += components[k][0] * __expf(-d * d);
    }
    out[i] = __logf(s + 1e-6f);
  }
}
__global__ void normal_walk(const u32* in, float* out, int turns) {
  u32 v = in[THREAD];
  float s = 0;
  for (int k = 0; k < turns; k++) { v = v * 1664525u + 1013904223u; s += normcdfinvf(((v >> 9) + 0.5f) * 1.1920929e-7f); }
  out[THREAD] = s;
}
__global__ void montgomery_powers(const u32* in, u32* out, int turns) {
  const u32 n = 998244353u, inverse = 998244351u;  // n * inverse = -1 modulo 2^32
  u32 base = in[THREAD] % n, x = base;
  for (int k = 0; k < turns; k++) {
    u64 t = (u64)x * (k % 3 ? x : base);
    u32 m = (u32)t * inverse;
    x = (u32)((t + (u64)m * n) >> 32);
    if (x >= n) x -= n;
  }
  out[THREAD] = x;
}
__global__ void splitmix_sums(const u32* in, u64* out, int turns) {
  u64 state = in[THREAD], s = 0;
  for (int k = 0; k < turns; k++) {
    u64 z = state += 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    s += z ^ z >> 31;
  }
  out[THREAD] = s;
}
__global__ void hilbert_codes(const u32* in, u32* out, int n, int side) {
  for (int i = THREAD; i < n; i += STRIDE) {
    u32 x = in[i] % side, y = in[i] / side % side, d = 0;
    for (u32 s = side / 2; s; s /= 2) {
      u32 rx = (x & s) != 0, ry = (y & s) != 0;
      d += s * s * ((3 * rx) ^ ry);
      if (!ry) { if (rx) { x = side - 1 - x; y = side - 1 - y; } u32 t = x; x = y; y = t; }
    }
    out[i] = d;
  }
}
__global__ void halton_points(float* out, int n, int first) {
  for (int i = THREAD; i < n; i += STRIDE) {
    float s = 0, f = 0.5f;
    for (u32 k = first + i; k; k /= 2) { s += f * (k % 2); f *= 0.5f; }
    f = 1 / 3.0f;
    for (u32 k = first + i; k; k /= 3) { s += f * (k % 3); f *= 1 / 3.0f; }
    f = 0.2f;
    for (u32 k = first + i; k; k /= 5) { s += f * (k % 5); f *= 0.2f; }
    out[i] = s;
  }
}
// The distance of a pattern of 64 letters to the best end in the text of a thread, one machine word per letter.
__global__ void myers_distance(const u8* pattern, const u8* texts, int* out, int n, int length) {
  __shared__ u64 equal[4];
  if (threadIdx.x < 4) {
    u64 bits = 0;
    for (int k = 0; k < 64; k++) bits |= (u64)(pattern[k] == threadIdx.x) << k;
    equal[threadIdx.x] = bits;
  }
  __syncthreads();
  int i = THREAD, score = 64, best = 64;
  if (i >= n) return;
  u64 up = ~0ull, down = 0;
  for (int k = 0; k < length; k++) {
    u64 eq = equal[texts[(u64)k * n + i]], xv = eq | down, xh = (((eq & up) + up) ^ up) | eq;
    u64 ph = down | ~(xh | up), mh = up & xh;
    score += (int)(ph >> 63) - (int)(mh >> 63);
    best = min(best, score);
    ph <<= 1; mh <<= 1;
    up = mh | ~(xv | ph); down = ph & xv;
  }
  out[i] = best;
}
__device__ __forceinline__ void quarter(u32& a, u32& b, u32& c, u32& d) {
  a += b; d = __funnelshift_l(d ^ a, d ^ a, 16); c += d; b = __funnelshift_l(b ^ c, b ^ c, 12);
  a += b; d = __funnelshift_l(d ^ a, d ^ a, 8); c += d; b = __funnelshift_l(b ^ c, b ^ c, 7);
}
template <int ROUNDS> __global__ void chacha_blocks(const u32* in, u32* out, int blocks) {
  u32 s = 0, key = in[THREAD];
  for (int n = 0; n < blocks; n++) {
    u32 x[16];
    for (int k = 0; k < 16; k++) x[k] = key * (k + 1) + (k == 12 ? n : 0);
    for (int k = 0; k < ROUNDS / 2; k++) {
      quarter(x[0], x[4], x[8], x[12]); quarter(x[1], x[5], x[9], x[13]);
      quarter(x[2], x[6], x[10], x[14]); quarter(x[3], x[7], x[11], x[15]);
      quarter(x[0], x[5], x[10], x[15]); quarter(x[1], x[6], x[11], x[12]);
      quarter(x[2], x[7], x[8], x[13]); quarter(x[3], x[4], x[9], x[14]);
    }
    for (int k = 0; k < 16; k++) s ^= x[k] + key * (k + 1);
  }
  out[THREAD] = s;
}

// Long code.
__device__ constexpr int keccak_turn[24] = {1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39,
                                            61, 20, 44};
__device__ constexpr int keccak_lane[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22,
                                            9, 6, 1};
// The first 8 bytes of SHA3-256 of 8 bytes; UNROLL of the 24 rounds stand one behind the other.
template <int UNROLL> __global__ void keccak_words(const u64* in, u64* out, int n) {
  int i = THREAD;
  if (i >= n) return;
  u64 a[25] = {};
  a[0] = in[i]; a[1] = 6; a[16] = 1ull << 63;
  u32 shift = 1;
#pragma unroll UNROLL
  for (int round = 0; round < 24; round++) {
    u64 c[5];
#pragma unroll
    for (int x = 0; x < 5; x++) c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
#pragma unroll
    for (int x = 0; x < 5; x++) {
      u64 next = c[(x + 1) % 5], d = c[(x + 4) % 5] ^ (next << 1 | next >> 63);
#pragma unroll
      for (int y = 0; y < 25; y += 5) a[y + x] ^= d;
    }
    u64 moved = a[1];
#pragma unroll
    for (int k = 0; k < 24; k++) {
      u64 kept = a[keccak_lane[k]];
      a[keccak_lane[k]] = moved << keccak_turn[k] | moved >> (64 - keccak_turn[k]);
      moved = kept;
    }
#pragma unroll
    for (int y = 0; y < 25; y += 5) {
      u64 row[5];
#pragma unroll
      for (int x = 0; x < 5; x++) row[x] = a[y + x];
#pragma unroll
      for (int x = 0; x < 5; x++) a[y + x] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]);
    }
#pragma unroll
    for (int j = 0; j < 7; j++) {  // the round's constant comes from a shift register
      if (shift & 1) a[0] ^= 1ull << ((1 << j) - 1);
      shift = shift << 1 ^ (shift & 0x80 ? 0x171 : 0);
    }
  }
  out[i] = a[0];
}
// A bitonic network on SIZE values in registers.
template <int SIZE> __global__ void registers_sorted(const u32* in, u32* out, int n) {
  int i = THREAD;
  if (i >= n) return;
  u32 v[SIZE], s = 0;
#pragma unroll
  for (int k = 0; k < SIZE; k++) v[k] = (in[i] + k) * 2654435761u;
#pragma unroll
  for (int size = 2; size <= SIZE; size *= 2)
#pragma unroll
    for (int d = size / 2; d; d /= 2)
#pragma unroll
      for (int k = 0; k < SIZE; k++)
        if (!(k & d)) {
          int low = k & size ? k + d : k, high = k & size ? k : k + d;
          u32 least = min(v[low], v[high]);
          v[high] = max(v[low], v[high]); v[low] = least;
        }
#pragma unroll
  for (int k = 0; k < SIZE; k++) s = s * 31 + v[k];
  out[i] = s;
}
template <int FIRST, int LAST> __device__ __forceinline__ float terms(float x, float s) {
#pragma unroll
  for (int k = FIRST; k < FIRST + 250; k++) s = s * (x - 1.0f / k) + 0.125f * k / (k + 3);
  if constexpr (FIRST + 250 <= LAST) return terms<FIRST + 250, LAST>(x, s);
  else return s;
}
template <int PLACES> __global__ void many_terms(const float* in, float* out, int turns) {
  float x = in[THREAD] * 0.001f;
  for (int turn = 0; turn < turns; turn++) { float s = terms<1, PLACES>(x, 1); x = s - floorf(s); }
  out[THREAD] = x;
}

// Shared memory.
template <int PITCH> __global__ void rows_in_shared(const float* in, float* out, int turns) {  // blocks of 128
  __shared__ float tile[128 * PITCH];
  for (int i = threadIdx.x; i < 128 * 32; i += 128) tile[i / 32 * PITCH + i % 32] = in[i];
  __syncthreads();
  float s = 0;
  for (int k = 0; k < turns; k++) s = s * 0.5f + tile[threadIdx.x * PITCH + (k + blockIdx.x) % 32];
  out[THREAD] = s;
}
__global__ void four_tables(const u32* in, const u32* tables, u32* out, int rounds) {
  __shared__ u32 t[4][256];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) t[i / 256][i % 256] = tables[i];
  __syncthreads();
  u32 a = in[THREAD], b = a * 3, c = a * 5, d = a * 7;
  for (int k = 0; k < rounds; k++) {
    u32 p = t[0][a >> 24] ^ t[1][b >> 16 & 255] ^ t[2][c >> 8 & 255] ^ t[3][d & 255];
    u32 q = t[0][b >> 24] ^ t[1][c >> 16 & 255] ^ t[2][d >> 8 & 255] ^ t[3][a & 255];
    u32 r = t[0][c >> 24] ^ t[1][d >> 16 & 255] ^ t[2][a >> 8 & 255] ^ t[3][b & 255];
    d = (t[0][d >> 24] ^ t[1][a >> 16 & 255] ^ t[2][b >> 8 & 255] ^ t[3][c & 255]) + k;
    a = p; b = q; c = r;
  }
  out[THREAD] = a ^ b ^ c ^ d;
}
template <int WORDS> __global__ void records_in_shared(const float* in, float* out, int turns) {  // blocks of 256
  __shared__ float records[256 * WORDS];
  for (int i = threadIdx.x; i < 256 * WORDS; i += 256) records[i] = in[i];
  __syncthreads();
  float s = 0;
  for (int k = 0; k < turns; k++) {
    int at = (threadIdx.x + k * 5) % 256 * WORDS;
    s += records[at] * records[at + 1] - records[at + 2] * records[at + 3];
  }
  out[THREAD] = s;
}
__global__ void crc_by_table(const u32* in, u32* out, int n, int words) {
  __shared__ u32 table[256];
  for (u32 i = threadIdx.x; i < 256; i += blockDim.x) {
    u32 c = i;
    for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
    table[i] = c;
  }
  __syncthreads();
  int i = THREAD;
  if (i >= n) return;
  u32 c = ~0u;
  for (int k = 0; k < words; k++) {
    u32 w = in[(u64)i * words + k];
    for (int j = 0; j < 4; j++, w >>= 8) c = c >> 8 ^ table[(c ^ w) & 255];
  }
  out[i] = ~c;
}

// Barriers.
__global__ void fft_256(const float2* in, float2* out, int turns) {  // blocks of 128, one transform each
  __shared__ float2 page[2][256];
  int t = threadIdx.x, at = 0;
  page[0][t] = in[256 * blockIdx.x + t]; page[0][t + 128] = in[256 * blockIdx.x + t + 128];
  __syncthreads();
  for (int turn = 0; turn < turns; turn++)
    for (int half = 1; half < 256; half *= 2) {
      int k = t & (half - 1), to = 2 * (t - k) + k;
      float c, s;
      __sincosf(-3.14159265f * k / half, &s, &c);
      float2 a = page[at][t], b = page[at][t + 128];
      float2 w = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
      page[1 - at][to] = make_float2(a.x + w.x, a.y + w.y);
      page[1 - at][to + half] = make_float2(a.x - w.x, a.y - w.y);
      at = 1 - at;
      __syncthreads();
    }
  out[256 * blockIdx.x + t] = page[at][t]; out[256 * blockIdx.x + t + 128] = page[at][t + 128];
}
__global__ void split_sort(const u32* in, u32* out, int bits) {  // each block sorts its keys, bit by bit
  extern __shared__ u32 keys[];
  __shared__ int zeros_of[32];
  int t = threadIdx.x, warps = blockDim.x / 32, warp = t / 32;
  u32 key = in[THREAD];
  for (int bit = 0; bit < bits; bit++) {
    int zero = !(key >> bit & 1);
    u32 vote = __ballot_sync(~0u, zero);
    if (LANE == 0) zeros_of[warp] = __popc(vote);
    __syncthreads();
    int before = 0, all = 0;
    for (int w = 0; w < warps; w++) { int z = zeros_of[w]; all += z; before += w < warp ? z : 0; }
    before += __popc(vote & ((1u << LANE) - 1));
    keys[zero ? before : all + t - before] = key;
    __syncthreads();
    key = keys[t];
  }
  out[THREAD] = key;
}
__global__ void knapsacks(const int* weights, const int* values, int* out, int items, int capacity) {
  extern __shared__ int best[];
  int *now = best, *next = best + capacity + 1;
  for (int c = threadIdx.x; c <= capacity; c += blockDim.x) now[c] = 0;
  __syncthreads();
  for (int k = 0; k < items; k++) {
    int w = weights[blockIdx.x * items + k] + 1, v = values[blockIdx.x * items + k];
    for (int c = threadIdx.x; c <= capacity; c += blockDim.x) next[c] = c >= w ? max(now[c], now[c - w] + v) : now[c];
    __syncthreads();
    int* other = now; now = next; next = other;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = now[capacity];
}
__global__ void shortest_paths(const int* in, int* out) {  // 32 nodes per block, blocks of 32 x 8
  __shared__ int d[32][33];
  int x = threadIdx.x;
  for (int y = threadIdx.y; y < 32; y += 8) d[y][x] = x == y ? 0 : in[1024 * blockIdx.x + 32 * y + x] + 1;
  __syncthreads();
  for (int k = 0; k < 32; k++) {
    for (int y = threadIdx.y; y < 32; y += 8) {
      int through = d[y][k] + d[k][x];
      if (through < d[y][x]) d[y][x] = through;
    }
    __syncthreads();
  }
  for (int y = threadIdx.y; y < 32; y += 8) out[1024 * blockIdx.x + 32 * y + x] = d[y][x];
}
__global__ void tridiagonal(const float* right, float* out, int steps) {  // one system per block, unknowns = threads
  extern __shared__ float rows[];
  int n = blockDim.x, t = threadIdx.x;
  float *a = rows, *b = a + n, *c = b + n, *d = c + n;
  a[t] = t ? -1.0f : 0.0f; b[t] = 4 + t % 3; c[t] = t + 1 < n ? -1.5f : 0.0f; d[t] = right[THREAD];
  for (int k = 0, apart = 1; k < steps; k++, apart *= 2) {
    __syncthreads();
    float left = 0, after = 0, p = 0, q = 0, mid = b[t], r = d[t];
    if (t >= apart) { p = -a[t] / b[t - apart]; left = p * a[t - apart]; mid += p * c[t - apart]; r += p * d[t - apart]; }
    if (t + apart < n) {
      q = -c[t] / b[t + apart]; after = q * c[t + apart]; mid += q * a[t + apart]; r += q * d[t + apart];
    }
    __syncthreads();
    a[t] = left; b[t] = mid; c[t] = after; d[t] = r;
  }
  out[THREAD] = d[t] / b[t];
}
__global__ void likely_states(const int* moves, const int* signs, const u8* seen, int* out, int length) {
  __shared__ int cost[64 * 64], score[2][64];  // 64 states, blocks of 64
  int s = threadIdx.x;
  for (int i = s; i < 4096; i += 64) cost[i] = moves[i];
  score[0][s] = 0;
  __syncthreads();
  for (int k = 0; k < length; k++) {
    int best = 1 << 30;
    for (int from = 0; from < 64; from++) best = min(best, score[k & 1][from] + cost[64 * from + s]);
    score[1 - (k & 1)][s] = best + signs[64 * seen[blockIdx.x * length + k] + s];
    __syncthreads();
  }
  out[THREAD] = score[length & 1][s];
}
__global__ void option_tree(const float* prices, float* out, int steps) {  // one option per block
  __shared__ float value[1025];
  float up = 1.01f, p = 0.55f, price = prices[blockIdx.x];
  for (int k = threadIdx.x; k <= steps; k += blockDim.x)
    value[k] = fmaxf(price * __powf(up, 2.0f * k - steps) - 100, 0.0f);
  __syncthreads();
  for (int left = steps; left > 0; left--) {
    float v[4];
    for (int j = 0; j < 4; j++) {
      int k = threadIdx.x + j * blockDim.x;
      v[j] = k < left ? 0.999f * (p * value[k + 1] + (1 - p) * value[k]) : 0;
    }
    __syncthreads();
    for (int j = 0; j < 4; j++) { int k = threadIdx.x + j * blockDim.x; if (k < left) value[k] = v[j]; }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = value[0];
}

// Atomics.
__global__ void colour_counts(const uchar4* in, u32* counts, int n) {
  __shared__ u32 bins[3 * 256];
  for (int k = threadIdx.x; k < 768; k += blockDim.x) bins[k] = 0;
  __syncthreads();
  for (int i = THREAD; i < n; i += STRIDE) {
    uchar4 p = in[i];
    atomicAdd(&bins[p.x], 1u); atomicAdd(&bins[256 + p.y], 1u); atomicAdd(&bins[512 + p.z], 1u);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 768; k += blockDim.x) atomicAdd(&counts[k], bins[k]);
}
__global__ void joint_counts(const u8* a, const u8* b, u32* counts, int n) {
  __shared__ u32 bins[1024];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) bins[k] = 0;
  __syncthreads();
  for (int i = THREAD; i < n; i += STRIDE) atomicAdd(&bins[a[i] / 8 * 32 + b[i] / 8], 1u);
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) if (bins[k]) atomicAdd(&counts[k], bins[k]);
}
template <int COPIES> __global__ void copies_of_bins(const u32* in, u32* counts, int n) {  // most values are small
  __shared__ u32 bins[COPIES * 128];
  for (int k = threadIdx.x; k < COPIES * 128; k += blockDim.x) bins[k] = 0;
  __syncthreads();
  u32* mine = bins + threadIdx.x / 32 % COPIES * 128;
  for (int i = THREAD; i < n; i += STRIDE) { u32 v = in[i]; atomicAdd(&mine[v & v >> 7 & v >> 14 & 127], 1u); }
  __syncthreads();
  for (int k = threadIdx.x; k < 128; k += blockDim.x) {
    u32 s = 0;
    for (int c = 0; c < COPIES; c++) s += bins[128 * c + k];
    if (s) atomicAdd(&counts[k], s);
  }
}
__global__ void grouped_by_match(const int* keys, u32* counts, int n) {
  for (int first = THREAD - LANE; first < n; first += STRIDE) {
    int i = first + LANE, key = i < n ? keys[i] : -1;
    u32 same = __match_any_sync(~0u, key);
    if (key >= 0 && LANE == __ffs(same) - 1) atomicAdd(&counts[key], (u32)__popc(same));
  }
}
__global__ void pushed_ranks(const int* offsets, const int* to, const u32* rank, u32* next, int nodes) {
  int i = THREAD;
  if (i >= nodes) return;
  int first = offsets[i], last = offsets[i + 1];
  u32 share = rank[i] / (last - first + 1);
  for (int k = first; k < last; k++) atomicAdd(&next[to[k]], share);
}
__global__ void wallets(const int* who, const u32* amount, u64* money, int n) {
  int i = THREAD;
  if (i < n) atomicAdd(&money[who[i]], (u64)amount[i] << 8);
}
__global__ void tallest_in_bins(const int* keys, const int* heights, int* out, int each) {
  __shared__ int top[64];
  if (threadIdx.x < 64) top[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < each; k++) { int i = THREAD + k * STRIDE; atomicMax(&top[keys[i]], heights[i]); }
  __syncthreads();
  if (threadIdx.x < 64) out[64 * blockIdx.x + threadIdx.x] = top[threadIdx.x];
}
__global__ void splat_points(const float2* points, int* grid, int n, int side) {  // fixed point, so that sums are exact
  int i = THREAD;
  if (i >= n) return;
  float2 p = points[i];
  p.x = p.x * 0.01f * (side - 2); p.y = p.y * 0.01f * (side - 2);
  int x = (int)p.x, y = (int)p.y, fx = (int)((p.x - x) * 16), fy = (int)((p.y - y) * 16);
  int* at = grid + y * side + x;
  atomicAdd(at, (16 - fx) * (16 - fy)); atomicAdd(at + 1, fx * (16 - fy));
  atomicAdd(at + side, (16 - fx) * fy); atomicAdd(at + side + 1, fx * fy);
}
__global__ void two_dice(const u32* seeds, u32* counts, int throws) {
  __shared__ u32 bins[13];
  if (threadIdx.x < 13) bins[threadIdx.x] = 0;
  __syncthreads();
  u64 state = seeds[THREAD];
  for (int k = 0; k < throws; k++) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    u32 mixed = (u32)((state >> 18 ^ state) >> 27), turn = (u32)(state >> 59);
    u32 v = __funnelshift_r(mixed, mixed, turn);
    atomicAdd(&bins[2 + v % 6 + (v >> 16) % 6], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 13) atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

// Control flow.
__global__ void parsed_numbers(const u8* text, int* out, int n) {  // up to 9 digits, or to a byte that is none
  int i = THREAD;
  if (i >= n) return;
  int v = 0;
  for (int k = 0; k < 9; k++) {
    int digit = text[12 * i + k];
    if (digit > 9) break;
    v = v * 10 + digit;
  }
  out[i] = v;
}
__global__ void places_of_word(const u8* text, const u8* word, int* out, int n, int length) {
  for (int i = THREAD; i < n; i += STRIDE) {
    int k = 0;
    while (k < length && text[i + k] == word[k]) k++;
    out[i] = k;
  }
}
__global__ void skipping_search(const u8* text, const u8* word, int* out, int n, int length, int each) {
  __shared__ int skip[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) {
    int by = length;
    for (int j = 0; j + 1 < length; j++) if (word[j] == k) by = length - 1 - j;
    skip[k] = by;
  }
  __syncthreads();
  int at = THREAD * each, end = min(at + each, n - length), found = 0;
  while (at < end) {
    int k = length - 1;
    while (k >= 0 && text[at + k] == word[k]) k--;
    if (k < 0) found++;
    at += skip[text[at + length - 1]];
  }
  out[THREAD] = found;
}
__global__ void queens(int* out, int n) {  // solutions with the first two queens given
  int places[16], lefts[16], rights[16], frees[16];
  int first = THREAD % n, second = THREAD / n % n, all = (1 << n) - 1, count = 0;
  int a = 1 << first, b = 1 << second;
  if (!(b & (a | a << 1 | a >> 1))) {
    int row = 2;
    places[2] = a | b; lefts[2] = (a << 2 | b << 1) & all; rights[2] = a >> 2 | b >> 1;
    frees[2] = all & ~(places[2] | lefts[2] | rights[2]);
    while (row >= 2) {
      int free = frees[row];
      if (!free) { row--; continue; }
      int bit = free & -free;
      frees[row] = free ^ bit;
      if (row == n - 1) { count++; continue; }
      places[row + 1] = places[row] | bit; lefts[row + 1] = (lefts[row] | bit) << 1;
      rights[row + 1] = (rights[row] | bit) >> 1;
      row++;
      frees[row] = all & ~(places[row] | lefts[row] | rights[row]);
    }
  }
  out[THREAD] = count;
}
__global__ void marched_rays(float* out, int width, int height, int most) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float dx = (x - 0.5f * width) / width, dy = (y - 0.5f * height) / width, scale = rsqrtf(dx * dx + dy * dy + 1);
  dx *= scale; dy *= scale;
  float t = 0, dz = scale;
  int k = 0;
  for (; k < most; k++) {
    float px = t * dx, py = t * dy + 0.2f, pz = t * dz - 3;
    float ball = sqrtf(px * px + py * py + pz * pz) - 1, ground = py + 1 + 0.1f * __sinf(4 * px) * __sinf(4 * pz);
    float near = fminf(ball, ground);
    if (near < 1e-3f || t > 20) break;
    t += near;
  }
  out[y * width + x] = t + k;
}
__global__ void totients(int* out, int n, int first) {
  int i = THREAD;
  if (i >= n) return;
  int v = first + i, result = v;
  for (int p = 2; p * p <= v; p++)
    if (v % p == 0) {
      while (v % p == 0) v /= p;
      result -= result / p;
    }
  out[i] = v > 1 ? result - result / v : result;
}
__global__ void binary_gcd(const u32* a, const u32* b, u32* out, int n) {
  for (int i = THREAD; i < n; i += STRIDE) {
    u32 u = a[i] + 1, v = b[i] + 1, shift = __ffs(u | v) - 1;
    u >>= __ffs(u) - 1;
    while (v) {
      v >>= __ffs(v) - 1;
      if (u > v) { u32 t = u; u = v; v = t; }
      v -= u;
    }
    out[i] = u << shift;
  }
}

// Images and stencils.
__global__ void bilateral_5x5(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float mid = in[y * width + x], sum = 0, weight = 0;
  for (int dy = -2; dy <= 2; dy++)
    for (int dx = -2; dx <= 2; dx++) {
      int u = min(max(x + dx, 0), width - 1), v = min(max(y + dy, 0), height - 1);
      float p = in[v * width + u], w = __expf(-0.1f * (dx * dx + dy * dy) - 0.01f * (p - mid) * (p - mid));
      sum += w * p; weight += w;
    }
  out[y * width + x] = sum / weight;
}
__device__ __forceinline__ void order(int& a, int& b) { int t = min(a, b); b = max(a, b); a = t; }
__global__ void median_3x3(const u8* in, u8* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  int v[9];
  for (int k = 0; k < 9; k++) v[k] = in[(y + k / 3 - 1) * width + x + k % 3 - 1];
#pragma unroll
  for (int last = 8; last > 3; last--)  // the five greatest go to the end, in order
#pragma unroll
    for (int k = 0; k < 8; k++)
      if (k < last) order(v[k], v[k + 1]);
  out[y * width + x] = v[4];
}
__global__ void box_by_sums(const int* sums, int* out, int width, int height, int radius) {  // sums of all up and left
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  int l = max(x - radius, 0), r = min(x + radius, width - 1), t = max(y - radius, 0), b = min(y + radius, height - 1);
  int s = sums[b * width + r] - sums[b * width + l] - sums[t * width + r] + sums[t * width + l];
  out[y * width + x] = s / max((r - l) * (b - t), 1);
}
__global__ void all_27_points(const float* in, float* out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
  float s = 0;
  for (int c = -1; c <= 1; c++)
    for (int b = -1; b <= 1; b++)
      for (int a = -1; a <= 1; a++) s += in[((z + c) * ny + y + b) * nx + x + a] * (1.0f / (1 << (a * a + b * b + c * c)));
  out[(z * ny + y) * nx + x] = s;
}
__global__ void sharpened(const float* in, float* out, int width, int height) {  // blocks of 16 x 16, halo of 2
  __shared__ float tile[20][20];
  int x0 = 16 * blockIdx.x - 2, y0 = 16 * blockIdx.y - 2;
  for (int k = 16 * threadIdx.y + threadIdx.x; k < 400; k += 256) {
    int u = min(max(x0 + k % 20, 0), width - 1), v = min(max(y0 + k / 20, 0), height - 1);
    tile[k / 20][k % 20] = in[v * width + u];
  }
  __syncthreads();
  int x = x0 + 2 + threadIdx.x, y = y0 + 2 + threadIdx.y;
  if (x >= width || y >= height) return;
  float s = 0;
  for (int b = 0; b < 5; b++) for (int a = 0; a < 5; a++) s += tile[threadIdx.y + b][threadIdx.x + a];
  float mid = tile[threadIdx.y + 2][threadIdx.x + 2];
  out[y * width + x] = mid + 0.5f * (mid - s * 0.04f);
}
__global__ void turned_image(const u8* in, u8* out, int width, int height, float c, float s) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float dx = x - 0.5f * width, dy = y - 0.5f * height;
  int u = (int)floorf(c * dx - s * dy + 0.5f * width), v = (int)floorf(s * dx + c * dy + 0.5f * height);
  out[y * width + x] = u >= 0 && v >= 0 && u < width && v < height ? in[v * width + u] : 0;
}

// Matrices.
__global__ void product_2x2(const float* a, const float* b, float* c, int n) {  // blocks of 16 x 16, tiles of 32
  __shared__ float p[32][33], q[32][33];
  int x = threadIdx.x, y = threadIdx.y, col = 32 * blockIdx.x, row = 32 * blockIdx.y;
  float s[2][2] = {};
  for (int k0 = 0; k0 < n; k0 += 32) {
    for (int j = 0; j < 4; j++) {
      int v = y + 16 * (j / 2), u = x + 16 * (j % 2);
      p[v][u] = row + v < n && k0 + u < n ? a[(row + v) * n + k0 + u] : 0;
      q[v][u] = k0 + v < n && col + u < n ? b[(k0 + v) * n + col + u] : 0;
    }
    __syncthreads();
    for (int k = 0; k < 32; k++)
      for (int j = 0; j < 4; j++) s[j / 2][j % 2] += p[y + 16 * (j / 2)][k] * q[k][x + 16 * (j % 2)];
    __syncthreads();
  }
  for (int j = 0; j < 4; j++) {
    int v = row + y + 16 * (j / 2), u = col + x + 16 * (j % 2);
    if (v < n && u < n) c[v * n + u] = s[j / 2][j % 2];
  }
}
__global__ void copied_product(const float4* a, const float4* b, float* c, int n) {  // n: whole tiles of 32
  __shared__ float4 p[2][32][8], q[2][32][8];
  int t = 16 * threadIdx.y + threadIdx.x, r = t / 8, u = t % 8, row = 32 * blockIdx.y, col = 32 * blockIdx.x;
  float s[2][2] = {};
  auto fetch = [&](int stage, int k0) {
    __pipeline_memcpy_async(&p[stage][r][u], &a[((row + r) * n + k0) / 4 + u], 16);
    __pipeline_memcpy_async(&q[stage][r][u], &b[((k0 + r) * n + col) / 4 + u], 16);
    __pipeline_commit();
  };
  fetch(0, 0);
  for (int k0 = 0, stage = 0; k0 < n; k0 += 32, stage = 1 - stage) {
    if (k0 + 32 < n) fetch(1 - stage, k0 + 32);
    __pipeline_wait_prior(k0 + 32 < n ? 1 : 0);
    __syncthreads();
    const float *left = (const float*)p[stage], *right = (const float*)q[stage];
    for (int k = 0; k < 32; k++)
      for (int j = 0; j < 4; j++)
        s[j / 2][j % 2] += left[32 * (threadIdx.y + 16 * (j / 2)) + k] * right[32 * k + threadIdx.x + 16 * (j % 2)];
    __syncthreads();
  }
  for (int j = 0; j < 4; j++) c[(row + threadIdx.y + 16 * (j / 2)) * n + col + threadIdx.x + 16 * (j % 2)] = s[j / 2][j % 2];
}
__global__ void bytes_product(const int* a, const int* b, int* c, int n, int words) {  // rows of a by rows of b
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, s = 0;
  if (x >= n || y >= n) return;
  for (int k = 0; k < words; k++) s = __dp4a(a[y * words + k], b[k * n + x], s);
  c[y * n + x] = s;
}
__global__ void half_rows_by_vector(const __half2* m, const __half2* x, float* y, int rows, int pairs) {
  int row = THREAD / 32;
  if (row >= rows) return;
  __half2 s = __float2half2_rn(0);
  for (int k = LANE; k < pairs; k += 32) s = __hfma2(m[(u64)row * pairs + k], x[k], s);
  float sum = __low2float(s) + __high2float(s);
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (LANE == 0) y[row] = sum;
}
__global__ void sparse_by_dense(const int* offsets, const int* cols, const float* values, const float* dense, float* out,
                                int rows) {  // 64 columns; blocks of 64 x rows
  int row = blockIdx.x * blockDim.y + threadIdx.y, c = threadIdx.x;
  if (row >= rows) return;
  float s = 0;
  for (int k = offsets[row]; k < offsets[row + 1]; k++) s += values[k] * dense[cols[k] * 64 + c];
  out[row * 64 + c] = s;
}

// Warps.
__global__ void warp_sorted(const int* in, int* out, int each) {  // runs of 32
  for (int n = 0; n < each; n++) {
    int i = THREAD + n * STRIDE, v = in[i];
    for (int size = 2; size <= 32; size *= 2)
      for (int d = size / 2; d; d /= 2) {
        int w = __shfl_xor_sync(~0u, v, d);
        bool up = (LANE & size) == 0 || size == 32, low = (LANE & d) == 0;
        v = up == low ? min(v, w) : max(v, w);
      }
    out[i] = v;
  }
}
__global__ void running_rows(const int* in, int* out, int rows, int cols) {
  int row = THREAD / 32, carry = 0;
  if (row >= rows) return;
  for (int first = 0; first < cols; first += 32) {
    int c = first + LANE, v = c < cols ? in[(u64)row * cols + c] : 0;
    for (int d = 1; d < 32; d *= 2) { int up = __shfl_up_sync(~0u, v, d); if (LANE >= d) v += up; }
    v += carry;
    if (c < cols) out[(u64)row * cols + c] = v;
    carry = __shfl_sync(~0u, v, 31);
  }
}
__global__ void moments(const int* in, u64* out, int n) {
  __shared__ u64 part[3][32];
  u64 m[3] = {};
  for (int i = THREAD; i < n; i += STRIDE) { u64 v = in[i]; m[0] += v; m[1] += v * v; m[2] += v * v * v; }
  for (int k = 0; k < 3; k++) {
    for (int d = 16; d; d /= 2) m[k] += __shfl_down_sync(~0u, m[k], d);
    if (LANE == 0) part[k][threadIdx.x / 32] = m[k];
  }
  __syncthreads();
  if (threadIdx.x < 3) {
    u64 s = 0;
    for (int w = 0; w < blockDim.x / 32; w++) s += part[threadIdx.x][w];
    atomicAdd(&out[threadIdx.x], s);
  }
}
__device__ __forceinline__ float sum_of_block(float v, float* part) {
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  __syncthreads();
  if (LANE == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = LANE < blockDim.x / 32 ? part[LANE] : 0;
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}
__global__ void cross_entropies(const float* in, const int* labels, float* out, int cols) {  // one row per block
  __shared__ float part[32];
  const float* row = in + (u64)blockIdx.x * cols;
  float s = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) s += __expf(row[c] - 4);
  s = sum_of_block(s, part);
  if (threadIdx.x == 0) out[blockIdx.x] = __logf(s) + 4 - row[labels[blockIdx.x]];
}
__global__ void welford_rows(const float* in, float* out, int rows, int cols) {  // one row per warp
  int row = THREAD / 32;
  if (row >= rows) return;
  float mean = 0, squares = 0, count = 0;
  for (int c = LANE; c < cols; c += 32) {
    float v = in[(u64)row * cols + c], d = v - mean;
    count += 1; mean += d / count; squares += d * (v - mean);
  }
  for (int d = 16; d; d /= 2) {
    float m = __shfl_xor_sync(~0u, mean, d), q = __shfl_xor_sync(~0u, squares, d), n = __shfl_xor_sync(~0u, count, d);
    float all = fmaxf(count + n, 1.0f), apart = m - mean;
    squares += q + apart * apart * count * n / all;
    mean = (mean * count + m * n) / all; count += n;
  }
  float scale = rsqrtf(squares / cols + 1e-5f);
  for (int c = LANE; c < cols; c += 32) out[(u64)row * cols + c] = (in[(u64)row * cols + c] - mean) * scale;
}
__global__ void gradient_rows(const float* y, const float* dy, float* dx, int cols) {  // softmax backward
  __shared__ float part[32];
  u64 first = (u64)blockIdx.x * cols;
  float s = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) s += y[first + c] * dy[first + c];
  s = sum_of_block(s, part);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) dx[first + c] = y[first + c] * (dy[first + c] - s);
}
__global__ void best_four(const int* in, int* out, int rows, int cols) {  // one row per 8 lanes
  int row = THREAD / 8, lane = threadIdx.x % 8;
  if (row >= rows) return;
  int a = -1, b = -1, c = -1, d = -1;
  for (int k = lane; k < cols; k += 8) {
    int v = in[(u64)row * cols + k];
    int w = min(a, v); a = max(a, v); v = min(b, w); b = max(b, w); w = min(c, v); c = max(c, v); d = max(d, w);
  }
  for (int apart = 4; apart; apart /= 2) {
    u32 group = 0xffu << (threadIdx.x & 24);
    int p[4] = {__shfl_xor_sync(group, a, apart), __shfl_xor_sync(group, b, apart), __shfl_xor_sync(group, c, apart),
                __shfl_xor_sync(group, d, apart)};
    for (int k = 0; k < 4; k++) {
      int w = min(a, p[k]); a = max(a, p[k]); int v = min(b, w); b = max(b, w); w = min(c, v); c = max(c, v); d = max(d, w);
    }
  }
  if (lane == 0) { out[4 * row] = a; out[4 * row + 1] = b; out[4 * row + 2] = c; out[4 * row + 3] = d; }
}

// Graphs, sparse rows, neighbours.
__global__ void pulled_ranks(const int* offsets, const int* from, const float* rank, float* next, int nodes) {
  int i = THREAD;
  if (i >= nodes) return;
  float s = 0;
  for (int k = offsets[i]; k < offsets[i + 1]; k++) s += rank[from[k]];
  next[i] = 0.15f + 0.85f * s;
}
__global__ void next_level(const int* offsets, const int* from, const int* level, int* out, int nodes, int now) {
  int i = THREAD;
  if (i >= nodes) return;
  int mine = level[i];
  if (mine > now)
    for (int k = offsets[i]; k < offsets[i + 1]; k++) if (level[from[k]] == now) { mine = now + 1; break; }
  out[i] = mine;
}
__global__ void padded_rows(const int* cols, const float* values, const float* x, float* y, int rows, int width) {
  int row = THREAD;
  if (row >= rows) return;
  float s = 0;
  for (int k = 0; k < width; k++) { int c = cols[(u64)k * rows + row]; if (c >= 8) s += values[(u64)k * rows + row] * x[c]; }
  y[row] = s;
}
__global__ void listed_forces(const float4* bodies, const int* near, float4* out, int n, int each) {
  int i = THREAD;
  if (i >= n) return;
  float4 p = bodies[i], f = make_float4(0, 0, 0, 0);
  for (int k = 0; k < each; k++) {
    float4 q = bodies[near[(u64)k * n + i]];
    float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z, r = __fdividef(1.0f, x * x + y * y + z * z + 0.5f), t = r * r * r;
    float w = t * (1 - 0.5f * t);
    f.x += w * x; f.y += w * y; f.z += w * z; f.w += t;
  }
  out[i] = f;
}
__global__ void common_friends(const int* a, const int* b, int* out, int n, int each) {  // lists rise
  int i = THREAD;
  if (i >= n) return;
  int p = i * each, q = p, p1 = p + each, q1 = q + each, count = 0;
  while (p < p1 && q < q1) {
    int u = a[p], v = b[q];
    count += u == v; p += u <= v; q += v <= u;
  }
  out[i] = count;
}

// Copies that go on in the background.
__global__ void staged_sums(const float4* in, float* out, int tiles) {  // blocks of 128, 4 stages
  __shared__ float4 stage[4][128];
  const float4* mine = in + (u64)blockIdx.x * tiles * 128;
  for (int k = 0; k < 3; k++) {
    if (k < tiles) __pipeline_memcpy_async(&stage[k][threadIdx.x], &mine[128 * k + threadIdx.x], 16);
    __pipeline_commit();
  }
  float s = 0;
  for (int k = 0; k < tiles; k++) {
    if (k + 3 < tiles) __pipeline_memcpy_async(&stage[(k + 3) % 4][threadIdx.x], &mine[128 * (k + 3) + threadIdx.x], 16);
    __pipeline_commit();
    __pipeline_wait_prior(3);
    __syncthreads();
    float4 a = stage[k % 4][threadIdx.x], b = stage[k % 4][127 - threadIdx.x];
    s += a.x * b.w + a.y * b.z + a.z * b.y + a.w * b.x;
    __syncthreads();
  }
  out[THREAD] = s;
}
__global__ void rows_ahead(const float* in, float* out, int width, int height) {  // a window of rows goes down
  extern __shared__ float ring[];  // 4 rows of a block's columns
  int x = THREAD, t = threadIdx.x, wide = blockDim.x, first = blockIdx.y * height;
  if (x >= width) return;
  for (int k = 0; k < 3; k++) {
    __pipeline_memcpy_async(&ring[k * wide + t], &in[(u64)(first + k) * width + x], 4);
    __pipeline_commit();
  }
  for (int k = 0; k < height; k++) {
    __pipeline_memcpy_async(&ring[(k + 3) % 4 * wide + t], &in[(u64)(first + k + 3) * width + x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    float s = ring[k % 4 * wide + t] + 2 * ring[(k + 1) % 4 * wide + t] + ring[(k + 2) % 4 * wide + t];
    out[(u64)(first + k) * width + x] = 0.25f * s;
  }
}

// Streams.
__global__ void adam_step(float* w, const float* g, float* m, float* v, int n) {
  for (int i = THREAD; i < n; i += STRIDE) {
    float grad = g[i], a = 0.9f * m[i] + 0.1f * grad, b = 0.999f * v[i] + 0.001f * grad * grad;
    m[i] = a; v[i] = b; w[i] -= 0.001f * a / (sqrtf(b) + 1e-8f);
  }
}
__global__ void colour_planes(const uchar4* in, float* out, int n) {
  for (int i = THREAD; i < n; i += STRIDE) {
    uchar4 p = in[i];
    out[i] = p.x * (1 / 255.0f); out[n + i] = p.y * (1 / 255.0f); out[2 * n + i] = p.z * (1 / 255.0f);
  }
}
__global__ void to_short_floats(const float4* in, __nv_bfloat162* out, int n) {
  int i = THREAD;
  if (i >= n) return;
  float4 v = in[i];
  out[2 * i] = __floats2bfloat162_rn(v.x, v.y); out[2 * i + 1] = __floats2bfloat162_rn(v.z, v.w);
}
__global__ void pooled_2x2(const float* in, float* out, int width, int height) {  // width, height: of the output
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  const float* p = in + (u64)4 * y * width + 2 * x;
  out[(u64)y * width + x] = fmaxf(fmaxf(p[0], p[1]), fmaxf(p[2 * width], p[2 * width + 1]));
}
__global__ void lengths_of_points(const float* in, float* out, int n) {  // three floats per point
  int i = THREAD;
  if (i < n) { float x = in[3 * i], y = in[3 * i + 1], z = in[3 * i + 2]; out[i] = sqrtf(x * x + y * y + z * z); }
}
__global__ void parts_of_list(const double* a, const double* b, double* out, int n) {  // four doubles per thread
  int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  for (int k = 0; k < 4; k++) { int i = first + k * blockDim.x; if (i < n) out[i] = a[i] > 0 ? a[i] * b[i] : b[i]; }
}
