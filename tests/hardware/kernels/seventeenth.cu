// Kernels for tests/hardware/seventeenth_cases.py: other ones than those of the sixteen sets before, as programs have
// them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

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
};

__device__ __forceinline__ u32 turned(u32 x, int by) { return x << by | x >> (32 - by); }

// -------------------------------------------------------------------------------------------------- sound and pictures

// Samples of 16 bits as 8-bit codes of telephones: sign, position of the highest bit, four bits behind it.
__global__ void mu_law_codes(const short* __restrict__ samples, u8* __restrict__ codes, int n) {
  const int k = global_id();
  if (k >= n) return;
  const int sample = samples[k], sign = sample < 0 ? 0x80 : 0;
  const int size = min(abs(sample), 32635) + 132, exponent = 24 - __clz(size);
  codes[k] = ~(sign | exponent << 4 | (size >> (exponent + 3) & 15));
}

// Voices through an all-pole lattice of order 8; each thread has its own reflections.
__global__ void lattice_voices(const float* __restrict__ reflections, float* __restrict__ out, int n, int steps,
                               float pulse) {
  const int k = global_id();
  if (k >= n) return;
  float r[8], back[9] = {};
#pragma unroll
  for (int j = 0; j < 8; j++) r[j] = 0.8f * reflections[j * n + k] - 0.4f;
  float loud = 0.0f;
  for (int t = 0; t < steps; t++) {
    float forward = t % 20 ? 0.0f : pulse;
#pragma unroll
    for (int j = 7; j >= 0; j--) {
      forward -= r[j] * back[j];
      back[j + 1] = back[j] + r[j] * forward;
    }
    back[0] = forward;
    loud += forward * forward;
  }
  out[k] = loud;
}

__device__ __forceinline__ void ordered(int& a, int& b) {
  const int low = min(a, b);
  b = max(a, b);
  a = low;
}

template <int N>
__device__ __forceinline__ int middle_of(int (&v)[N]) {
#pragma unroll
  for (int i = 0; i <= N / 2; i++) {
#pragma unroll
    for (int j = i + 1; j < N; j++) ordered(v[i], v[j]);
  }
  return v[N / 2];
}

// Readings that are far from the median of seven, in medians of the distances, become the median.
__global__ void hampel_filter(const int* __restrict__ readings, int* __restrict__ out, int n, int limit) {
  const int k = global_id();
  if (k >= n) return;
  int window[7], apart[7];
#pragma unroll
  for (int j = 0; j < 7; j++) window[j] = apart[j] = readings[min(max(k + j - 3, 0), n - 1)];
  const int own = window[3], median = middle_of(window);
#pragma unroll
  for (int j = 0; j < 7; j++) apart[j] = abs(apart[j] - median);
  out[k] = abs(own - median) > limit * middle_of(apart) ? median : own;
}

__constant__ float cosines_of_8[64] = {
    0.35355339f, 0.35355339f,  0.35355339f,  0.35355339f,  0.35355339f,  0.35355339f,  0.35355339f,  0.35355339f,
    0.49039264f, 0.41573481f,  0.27778512f,  0.09754516f,  -0.09754516f, -0.27778512f, -0.41573481f, -0.49039264f,
    0.46193977f, 0.19134172f,  -0.19134172f, -0.46193977f, -0.46193977f, -0.19134172f, 0.19134172f,  0.46193977f,
    0.41573481f, -0.09754516f, -0.49039264f, -0.27778512f, 0.27778512f,  0.49039264f,  0.09754516f,  -0.41573481f,
    0.35355339f, -0.35355339f, -0.35355339f, 0.35355339f,  0.35355339f,  -0.35355339f, -0.35355339f, 0.35355339f,
    0.27778512f, -0.49039264f, 0.09754516f,  0.41573481f,  -0.41573481f, -0.09754516f, 0.49039264f,  -0.27778512f,
    0.19134172f, -0.46193977f, 0.46193977f,  -0.19134172f, -0.19134172f, 0.46193977f,  -0.46193977f, 0.19134172f,
    0.09754516f, -0.27778512f, 0.41573481f,  -0.49039264f, 0.49039264f,  -0.41573481f, 0.27778512f,  -0.09754516f};

// Cosine transforms of 8 x 8 points, a thread per point and 64 threads per piece of the picture.
__global__ void jpeg_pieces(const u8* __restrict__ picture, float* __restrict__ out, int width) {
  extern __shared__ float pieces[];
  const int u = threadIdx.x % 8, v = threadIdx.x / 8 % 8, piece = threadIdx.x / 64;
  float *in = pieces + 128 * piece, *half = in + 64;
  const int x = (blockIdx.x * (blockDim.x / 64) + piece) * 8 + u, y = blockIdx.y * 8 + v;
  in[8 * v + u] = x < width ? picture[y * width + x] - 128.0f : 0.0f;
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < 8; j++) sum += cosines_of_8[8 * u + j] * in[8 * v + j];
  half[8 * v + u] = sum;
  __syncthreads();
  sum = 0.0f;
#pragma unroll
  for (int j = 0; j < 8; j++) sum += cosines_of_8[8 * v + j] * half[8 * j + u];
  if (x < width) out[y * width + x] = sum;
}

// The level that parts the dark from the bright of a picture best (Otsu); a block per picture.
__global__ void otsu_levels(const u8* __restrict__ pictures, int* __restrict__ out, int size) {
  __shared__ int counts[256];
  for (int j = threadIdx.x; j < 256; j += blockDim.x) counts[j] = 0;
  __syncthreads();
  const u8* own = pictures + (size_t)blockIdx.x * size;
  for (int j = threadIdx.x; j < size; j += blockDim.x) atomicAdd(&counts[own[j]], 1);
  __syncthreads();
  if (threadIdx.x) return;
  double all = 0.0, below = 0.0, best = -1.0;
  for (int j = 0; j < 256; j++) all += (double)j * counts[j];
  int dark = 0, level = 0;
  for (int j = 0; j < 255; j++) {
    dark += counts[j];
    below += (double)j * counts[j];
    if (dark == 0 || dark == size) continue;
    const double apart = below / dark - (all - below) / (size - dark);
    const double between = apart * apart * dark * (size - dark);
    if (between > best) {
      best = between;
      level = j;
    }
  }
  out[blockIdx.x] = level;
}

// A photograph in brown, as a first program with pictures does it: three bytes per point, floats between.
__global__ void sepia(const u8* in, u8* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    int i = (y * width + x) * 3;
    float r = in[i], g = in[i + 1], b = in[i + 2];
    out[i] = min(255.0f, 0.393f * r + 0.769f * g + 0.189f * b);
    out[i + 1] = min(255.0f, 0.349f * r + 0.686f * g + 0.168f * b);
    out[i + 2] = min(255.0f, 0.272f * r + 0.534f * g + 0.131f * b);
  }
}

__constant__ signed char compass[64] = {5,  5,  5,  -3, -3, -3, -3, -3, 5,  5,  -3, -3, -3, -3, -3, 5,
                                        5,  -3, -3, -3, -3, -3, 5,  5,  -3, -3, -3, -3, -3, 5,  5,  5,
                                        -3, -3, -3, -3, 5,  5,  5,  -3, -3, -3, -3, 5,  5,  5,  -3, -3,
                                        -3, -3, 5,  5,  5,  -3, -3, -3, -3, 5,  5,  5,  -3, -3, -3, -3};

// The strongest edge of eight directions (Kirsch), and which one: the neighbours go around.
__global__ void kirsch_edges(const u8* __restrict__ picture, u16* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= width - 1 || y >= height - 1) return;
  const u8* at = picture + y * width + x;
  const int around[8] = {at[-width - 1], at[-width], at[-width + 1], at[1],
                         at[width + 1],  at[width],  at[width - 1],  at[-1]};
  int best = -10000, way = 0;
  for (int d = 0; d < 8; d++) {
    int sum = 0;
#pragma unroll
    for (int j = 0; j < 8; j++) sum += compass[8 * d + j] * around[j];
    if (sum > best) {
      best = sum;
      way = d;
    }
  }
  out[y * width + x] = min(max(best, 0), 8191) * 8 + way;
}

// ------------------------------------------------------------------------------------------------------------- secrets

__device__ __forceinline__ void salsa_quarter(u32& a, u32& b, u32& c, u32& d) {
  b ^= turned(a + d, 7);
  c ^= turned(b + a, 9);
  d ^= turned(c + b, 13);
  a ^= turned(d + c, 18);
}

// Salsa20's key stream, 64 bytes per thread; words of a block lie side by side.
__global__ void salsa20_blocks(const u32* __restrict__ key, uint4* __restrict__ out, int n, int rounds) {
  const int k = global_id();
  if (k >= n) return;
  const u32 start[16] = {0x61707865, key[0], key[1], key[2], key[3],     0x3320646e, 7u,     9u,
                         (u32)k,     0u,     0x79622d32, key[4], key[5], key[6],     key[7], 0x6b206574};
  u32 x[16];
#pragma unroll
  for (int j = 0; j < 16; j++) x[j] = start[j];
  for (int r = 0; r < rounds; r += 2) {
    salsa_quarter(x[0], x[4], x[8], x[12]);
    salsa_quarter(x[5], x[9], x[13], x[1]);
    salsa_quarter(x[10], x[14], x[2], x[6]);
    salsa_quarter(x[15], x[3], x[7], x[11]);
    salsa_quarter(x[0], x[1], x[2], x[3]);
    salsa_quarter(x[5], x[6], x[7], x[4]);
    salsa_quarter(x[10], x[11], x[8], x[9]);
    salsa_quarter(x[15], x[12], x[13], x[14]);
  }
#pragma unroll
  for (int j = 0; j < 16; j += 4)
    out[4 * k + j / 4] =
        make_uint4(x[j] + start[j], x[j + 1] + start[j + 1], x[j + 2] + start[j + 2], x[j + 3] + start[j + 3]);
}

// Simon with words of 32 bits; the round keys lie in shared memory.
__global__ void simon_blocks(const u32* __restrict__ keys, const uint2* __restrict__ in, uint2* __restrict__ out, int n,
                             int rounds) {
  __shared__ u32 round_keys[64];
  for (int r = threadIdx.x; r < rounds; r += blockDim.x) round_keys[r] = keys[r];
  __syncthreads();
  const int k = global_id();
  if (k >= n) return;
  uint2 v = in[k];
  for (int r = 0; r < rounds; r++) {
    const u32 next = v.y ^ (turned(v.x, 1) & turned(v.x, 8)) ^ turned(v.x, 2) ^ round_keys[r];
    v.y = v.x;
    v.x = next;
  }
  out[k] = v;
}

// Squares modulo 2^255 - 19, again and again; four words of 64 bits, the result below 2^256.
__global__ void field_25519_squares(const u64* __restrict__ in, u64* __restrict__ out, int n, int turns) {
  const int k = global_id();
  if (k >= n) return;
  u64 a[4];
#pragma unroll
  for (int j = 0; j < 4; j++) a[j] = in[4 * k + j];
  for (int t = 0; t < turns; t++) {
    u64 product[8] = {};
#pragma unroll
    for (int i = 0; i < 4; i++) {
      u64 carry = 0;
#pragma unroll
      for (int j = 0; j < 4; j++) {
        const u64 low = a[i] * a[j];
        u64 high = __umul64hi(a[i], a[j]);
        u64 sum = product[i + j] + low;
        high += sum < low;
        sum += carry;
        high += sum < carry;
        product[i + j] = sum;
        carry = high;
      }
      product[i + 4] = carry;
    }
    u64 carry = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const u64 low = product[j + 4] * 38;
      u64 high = __umul64hi(product[j + 4], 38ull);
      u64 sum = product[j] + low;
      high += sum < low;
      sum += carry;
      high += sum < carry;
      a[j] = sum;
      carry = high;
    }
    carry *= 38;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      a[j] += carry;
      carry = a[j] < carry;
    }
    a[0] += 38 * carry;
  }
#pragma unroll
  for (int j = 0; j < 4; j++) out[4 * k + j] = a[j];
}

// Bits of the cipher of old mobile telephones: three registers, and the majority of their middle bits moves them.
__global__ void majority_streams(const u64* __restrict__ keys, u32* __restrict__ out, int n, int words) {
  const int k = global_id();
  if (k >= n) return;
  const u64 key = keys[k];
  u32 a = (u32)key & 0x7ffff, b = (u32)(key >> 19) & 0x3fffff, c = (u32)(key >> 41) & 0x7fffff, hash = 0;
  for (int w = 0; w < words; w++) {
    u32 bits = 0;
    for (int j = 0; j < 32; j++) {
      const u32 x = a >> 8 & 1, y = b >> 10 & 1, z = c >> 10 & 1, most = (x & y) | (x & z) | (y & z);
      if (x == most) a = (a << 1 | (__popc(a & 0x72000) & 1)) & 0x7ffff;
      if (y == most) b = (b << 1 | (__popc(b & 0x300000) & 1)) & 0x3fffff;
      if (z == most) c = (c << 1 | (__popc(c & 0x700080) & 1)) & 0x7fffff;
      bits = bits << 1 | ((a >> 18 ^ b >> 21 ^ c >> 22) & 1);
    }
    hash = hash * 31 + bits;
  }
  out[k] = hash;
}

// --------------------------------------------------------------------------------------------------- texts and biology

// Addresses as text, 16 letters each, "10.1.22.3" and zeros behind it: as a word, or 0 where a number is above 255.
__global__ void ipv4_words(const char* __restrict__ texts, u32* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const char* text = texts + 16 * k;
  u32 word = 0, part = 0;
  bool right = true;
  for (int j = 0; j < 16 && text[j]; j++) {
    if (text[j] == '.') {
      word = word << 8 | part;
      part = 0;
    } else {
      part = part * 10 + text[j] - '0';
      right = right && part < 256;
    }
  }
  out[k] = right ? word << 8 | part : 0;
}

// Values of expressions of digits, + * and brackets, by two stacks; a zero ends each text.
__global__ void two_stacks(const char* __restrict__ texts, u32* __restrict__ out, int n, int pitch) {
  const int k = global_id();
  if (k >= n) return;
  u32 values[32];
  char marks[32];
  int held = 0, waiting = 0;
  for (int j = 0; j < pitch; j++) {
    const char c = texts[k * pitch + j];
    if (c >= '0' && c <= '9') {
      values[held++] = c - '0';
      continue;
    }
    if (c == '(') {
      marks[waiting++] = c;
      continue;
    }
    while (waiting && marks[waiting - 1] != '(' && (c != '*' || marks[waiting - 1] == '*')) {
      const u32 right = values[--held];
      values[held - 1] = marks[--waiting] == '*' ? values[held - 1] * right : values[held - 1] + right;
    }
    if (c == 0) break;
    if (c == ')')
      waiting--;
    else
      marks[waiting++] = c;
  }
  out[k] = values[0];
}

// Where reads are cut: from the end until the running sum of (limit - quality) is below 0; the best place so far.
__global__ void quality_trims(const u8* __restrict__ qualities, int* __restrict__ out, int n, int length, int limit) {
  const int k = global_id();
  if (k >= n) return;
  const u8* own = qualities + k * length;
  int sum = 0, most = 0, cut = length;
  for (int j = length - 1; j >= 0; j--) {
    sum += limit - own[j];
    if (sum < 0) break;
    if (sum > most) {
      most = sum;
      cut = j;
    }
  }
  out[k] = cut;
}

// How many changes a tree needs at least at each site (Fitch): the leaves' letters as bits, joined in a given order.
__global__ void fitch_scores(const u8* __restrict__ leaves, const uchar2* __restrict__ joins, u8* __restrict__ out,
                             int sites, int count) {
  const int site = global_id();
  if (site >= sites) return;
  u8 sets[48];
  for (int j = 0; j < count; j++) sets[j] = 1 << leaves[j * sites + site];
  int changes = 0;
  for (int j = 0; j < count - 1; j++) {
    const uchar2 join = joins[j];
    const u8 both = sets[join.x] & sets[join.y];
    changes += both == 0;
    sets[join.x] = both ? both : sets[join.x] | sets[join.y];
  }
  out[site] = changes;
}

__constant__ float heats[16] = {-7.9f, -8.4f, -7.8f, -7.2f, -8.5f, -8.0f, -10.6f, -7.8f,
                                -8.2f, -9.8f, -8.0f, -8.4f, -7.2f, -8.2f, -8.5f,  -7.9f};
__constant__ float disorders[16] = {-22.2f, -22.4f, -21.0f, -20.4f, -22.7f, -19.9f, -27.2f, -21.0f,
                                    -22.2f, -24.4f, -19.9f, -22.4f, -21.3f, -22.2f, -22.7f, -22.2f};

// The temperature at which two strands part, by their neighbouring letters.
__global__ void melting_temperatures(const u8* __restrict__ letters, float* __restrict__ out, int n, int length) {
  const int k = global_id();
  if (k >= n) return;
  float heat = 0.2f, disorder = -5.7f;
  int last = letters[k];
  for (int j = 1; j < length; j++) {
    const int next = letters[j * n + k];
    heat += heats[4 * last + next];
    disorder += disorders[4 * last + next];
    last = next;
  }
  out[k] = 1000.0f * heat / (disorder + 1.987f * logf(1e-7f)) - 273.15f;
}

// ------------------------------------------------------------------------------------------------------------- finance

// The deepest fall of each price from its highest before, in parts of it, and how long the longest one took.
__global__ void drawdowns(const float* __restrict__ prices, float2* __restrict__ out, int n, int days) {
  const int k = global_id();
  if (k >= n) return;
  float high = 0.0f, deepest = 0.0f;
  int since = 0, longest = 0;
  for (int d = 0; d < days; d++) {
    const float price = 1.0f + prices[d * n + k];
    if (price >= high) {
      high = price;
      since = 0;
    } else {
      since++;
      deepest = fmaxf(deepest, (high - price) / high);
      longest = max(longest, since);
    }
  }
  out[k] = make_float2(deepest, longest);
}

// The rate at which a payment now is worth what comes later, by Newton's method.
__global__ void cash_flow_rates(const double* __restrict__ flows, double* __restrict__ out, int n, int years) {
  const int k = global_id();
  if (k >= n) return;
  const double paid = 0.4 * years;
  double rate = 0.1;
  for (int t = 0; t < 50; t++) {
    const double factor = 1.0 / (1.0 + rate);
    double weight = 1.0, value = -paid, slope = 0.0;
    for (int y = 1; y <= years; y++) {
      weight *= factor;
      const double now = (0.5 + flows[(y - 1) * n + k]) * weight;
      value += now;
      slope -= y * now * factor;
    }
    const double step = value / slope;
    rate -= step;
    if (fabs(step) < 1e-12) break;
  }
  out[k] = rate;
}

// --------------------------------------------------------------------------------------------------- graphs and sparse

// One round of shortest ways over all edges (Bellman and Ford): a thread per edge.
__global__ void relaxed_edges(const int2* __restrict__ edges, const u32* __restrict__ lengths,
                              const u32* __restrict__ before, u32* __restrict__ after, int n) {
  const int k = global_id();
  if (k >= n) return;
  const int2 edge = edges[k];
  const u32 way = before[edge.x] + lengths[k];
  if (way < before[edge.y]) atomicMin(&after[edge.y], way);
}

// A sparse matrix by columns times a vector: each thread strews its column over the result.
__global__ void strewn_columns(const int* __restrict__ starts, const int* __restrict__ rows,
                               const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y,
                               int columns) {
  const int k = global_id();
  if (k >= columns) return;
  const float own = x[k];
  for (int j = starts[k]; j < starts[k + 1]; j++) atomicAdd(&y[rows[j]], values[j] * own);
}

// A sparse matrix in slices of 32 rows, each as wide as its longest row, times a vector.
__global__ void sliced_rows(const int* __restrict__ starts, const int* __restrict__ columns,
                            const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y,
                            int rows) {
  const int row = global_id();
  if (row >= rows) return;
  const int slice = row / 32, lane = row % 32, end = starts[slice + 1];
  float sum = 0.0f;
  for (int j = starts[slice] + lane; j < end; j += 32) sum += values[j] * x[columns[j]];
  y[row] = sum;
}

// How alike each row of a sparse matrix is to the next one: the cosine, by merging two lists that rise.
__global__ void merged_cosines(const int* __restrict__ starts, const int* __restrict__ columns,
                               const float* __restrict__ values, float* __restrict__ out, int rows) {
  const int row = global_id();
  if (row >= rows - 1) return;
  int a = starts[row], b = starts[row + 1];
  const int a_end = b, b_end = starts[row + 2];
  float both = 0.0f, left = 1e-9f, right = 1e-9f;
  for (int j = a; j < a_end; j++) left += values[j] * values[j];
  for (int j = b; j < b_end; j++) right += values[j] * values[j];
  while (a < a_end && b < b_end) {
    const int ca = columns[a], cb = columns[b];
    if (ca == cb) both += values[a] * values[b];
    a += ca <= cb;
    b += cb <= ca;
  }
  out[row] = both * rsqrtf(left * right);
}

// Draws from weights by the alias method: a place at random, then either it or its alias.
__global__ void alias_draws(const uint2* __restrict__ table, u32* __restrict__ out, int n, int places, int draws,
                            u32 seed) {
  const int k = global_id();
  if (k >= n) return;
  Dice dice{hashed(k ^ seed)};
  u32 sum = 0;
  for (int d = 0; d < draws; d++) {
    const u32 place = dice.below(places);
    const uint2 entry = table[place];
    sum += dice.word() < entry.x ? place : entry.y;
  }
  out[k] = sum;
}

// All shortest ways of small graphs (Floyd and Warshall), in shared memory; a block per graph.
__global__ void small_graph_ways(const int* __restrict__ lengths, int* __restrict__ out, int n) {
  extern __shared__ int ways[];
  const int first = blockIdx.x * n * n;
  for (int j = threadIdx.x; j < n * n; j += blockDim.x) ways[j] = lengths[first + j];
  __syncthreads();
  for (int via = 0; via < n; via++) {
    for (int j = threadIdx.x; j < n * n; j += blockDim.x) {
      const int way = ways[j / n * n + via] + ways[via * n + j % n];
      if (j / n != via && j % n != via) ways[j] = min(ways[j], way);
    }
    __syncthreads();
  }
  for (int j = threadIdx.x; j < n * n; j += blockDim.x) out[first + j] = ways[j];
}

// ------------------------------------------------------------------------------------------------------------- atomics

// Which point is nearest at each place of a screen: distance in the high bits, number in the low ones.
__global__ void nearest_points(const float* __restrict__ points, u64* __restrict__ screen, int n, int width,
                               int height) {
  const int k = global_id();
  if (k >= n) return;
  const float depth = 1.0f + points[2 * n + k];
  const int x = (int)(points[k] / depth * width), y = (int)(points[n + k] / depth * height);
  atomicMin(&screen[y * width + x], (u64)__float_as_uint(depth) << 32 | k);
}

// Counts of values below 512, two counters of 16 bits per word of shared memory; a block per row.
__global__ void packed_counters(const u16* __restrict__ rows, u16* __restrict__ out, int length) {
  __shared__ u32 counters[256];
  for (int j = threadIdx.x; j < 256; j += blockDim.x) counters[j] = 0;
  __syncthreads();
  for (int j = threadIdx.x; j < length; j += blockDim.x) {
    const u32 v = rows[blockIdx.x * length + j];
    atomicAdd(&counters[v / 2], v & 1 ? 65536u : 1u);
  }
  __syncthreads();
  for (int j = threadIdx.x; j < 256; j += blockDim.x) *(u32*)&out[blockIdx.x * 512 + 2 * j] = counters[j];
}

// Sums of each place modulo a prime, by compare and swap until it holds.
__global__ void modular_totals(const int* __restrict__ places, const u32* __restrict__ weights,
                               u32* __restrict__ totals, int n, u32 prime) {
  const int k = global_id();
  if (k >= n) return;
  u32* at = &totals[places[k]];
  u32 seen = *at, expected;
  do {
    expected = seen;
    seen = atomicCAS(at, expected, (expected + weights[k]) % prime);
  } while (seen != expected);
}

// ---------------------------------------------------------------------------------------------------------- simulation

// Piles of sand on a square: four grains fall over to the sides until no pile has four. A block per square.
__global__ void sand_squares(const u8* __restrict__ grains, u8* __restrict__ out, int side, int limit) {
  extern __shared__ int sand[];
  const int size = side * side;
  int *now = sand, *next = sand + size;
  for (int j = threadIdx.x; j < size; j += blockDim.x) now[j] = grains[blockIdx.x * size + j];
  __syncthreads();
  for (int t = 0; t < limit; t++) {
    int over = 0;
    for (int j = threadIdx.x; j < size; j += blockDim.x) {
      const int x = j % side, y = j / side;
      int v = now[j];
      if (v >= 4) v -= 4, over = 1;
      if (x > 0) v += now[j - 1] >= 4;
      if (x < side - 1) v += now[j + 1] >= 4;
      if (y > 0) v += now[j - side] >= 4;
      if (y < side - 1) v += now[j + side] >= 4;
      next[j] = v;
    }
    const int any = __syncthreads_or(over);
    int* swap = now;
    now = next;
    next = swap;
    if (!any) break;
  }
  for (int j = threadIdx.x; j < size; j += blockDim.x) out[blockIdx.x * size + j] = now[j];
}

// Cars on a ring (Nagel and Schreckenberg): faster, not into the next car, sometimes slower, on. A block per road.
__global__ void traffic_rings(int* __restrict__ moved, int cells, int steps, u32 seed) {
  extern __shared__ signed char road[];
  signed char *now = road, *next = road + cells;
  for (int c = threadIdx.x; c < cells; c += blockDim.x)
    now[c] = hashed(blockIdx.x * cells + c ^ seed) % 100 < 22 ? 0 : -1;
  int way = 0;
  for (int t = 0; t < steps; t++) {
    for (int c = threadIdx.x; c < cells; c += blockDim.x) next[c] = -1;
    __syncthreads();
    for (int c = threadIdx.x; c < cells; c += blockDim.x) {
      int speed = now[c];
      if (speed < 0) continue;
      speed = min(speed + 1, 5);
      int gap = 0;
      while (gap < speed && now[(c + gap + 1) % cells] < 0) gap++;
      speed = gap;
      if (speed && hashed((t * gridDim.x + blockIdx.x) * cells + c + 77 * seed) % 8 == 0) speed--;
      next[(c + speed) % cells] = speed;
      way += speed;
    }
    __syncthreads();
    signed char* swap = now;
    now = next;
    next = swap;
  }
  way = __reduce_add_sync(ALL_LANES, way);
  if (threadIdx.x % 32 == 0) atomicAdd(&moved[blockIdx.x], way);
}

// How fast each of many coupled clocks turns (Kuramoto): its own speed, and the mean pull of all.
__global__ void coupled_clocks(const float* __restrict__ phases, const float* __restrict__ speeds,
                               float* __restrict__ out, int n, float pull) {
  extern __shared__ float held[];
  const int k = global_id();
  const float own = k < n ? phases[k] : 0.0f;
  float sum = 0.0f;
  for (int first = 0; first < n; first += blockDim.x) {
    const int other = first + threadIdx.x;
    held[threadIdx.x] = other < n ? phases[other] : 0.0f;
    __syncthreads();
    const int here = min(blockDim.x, n - first);
    for (int j = 0; j < here; j++) sum += __sinf(held[j] - own);
    __syncthreads();
  }
  if (k < n) out[k] = speeds[k] + pull * sum / n;
}

__device__ __forceinline__ float3 roessler(float3 s, float c) {
  return make_float3(-s.y - s.z, s.x + 0.2f * s.y, 0.2f + s.z * (s.x - c));
}

__device__ __forceinline__ float3 ahead(float3 s, float3 d, float by) {
  return make_float3(s.x + by * d.x, s.y + by * d.y, s.z + by * d.z);
}

// The highest z of Roessler's system for each parameter, in steps of the second order.
__global__ void roessler_peaks(const float* __restrict__ parameters, float* __restrict__ out, int n, int steps,
                               float dt) {
  const int k = global_id();
  if (k >= n) return;
  const float c = 2.0f + parameters[k];
  float3 s = make_float3(1.0f, 1.0f, 0.0f);
  float peak = 0.0f;
  for (int t = 0; t < steps; t++) {
    s = ahead(s, roessler(ahead(s, roessler(s, c), 0.5f * dt), c), dt);
    peak = fmaxf(peak, s.z);
  }
  out[k] = peak;
}

// Balls that fall and bounce, in whole numbers, until they lie still: how often each touched the ground.
__global__ void bouncing_balls(const int* __restrict__ heights, int* __restrict__ out, int n, int limit) {
  const int k = global_id();
  if (k >= n) return;
  int height = heights[k] + 1000, speed = 0, touches = 0;
  for (int t = 0; t < limit; t++) {
    speed -= 10;
    height += speed;
    if (height <= 0) {
      touches++;
      height = -height;
      speed = -speed * 7 / 8;
      if (speed < 20) break;
    }
  }
  out[k] = touches;
}

// Poles on carts, pushed to the side to which they lean: how long each stands.
__global__ void cart_poles(const float* __restrict__ starts, int* __restrict__ out, int n, int steps) {
  const int k = global_id();
  if (k >= n) return;
  float x = 0.0f, dx = 0.0f, angle = 0.1f * starts[k] - 0.05f, turn = 0.1f * starts[n + k] - 0.05f;
  int t = 0;
  while (t < steps && fabsf(angle) < 0.21f && fabsf(x) < 2.4f) {
    const float force = angle + 0.5f * turn > 0.0f ? 10.0f : -10.0f, s = sinf(angle), c = cosf(angle);
    const float part = (force + 0.05f * turn * turn * s) / 1.1f;
    const float faster = (9.8f * s - c * part) / (0.5f * (4.0f / 3.0f - 0.1f * c * c / 1.1f));
    x += 0.02f * dx;
    dx += 0.02f * (part - 0.05f * faster * c / 1.1f);
    angle += 0.02f * turn;
    turn += 0.02f * faster;
    t++;
  }
  out[k] = t;
}

// Misses of caches that throw out what was used longest ago, eight places each; every thread has its own requests.
__global__ void oldest_out(int* __restrict__ out, int n, int requests, int pages, u32 seed) {
  const int k = global_id();
  if (k >= n) return;
  Dice dice{hashed(k ^ seed)};
  int held[8], misses = 0;
  for (int j = 0; j < 8; j++) held[j] = -1;
  for (int r = 0; r < requests; r++) {
    const int page = min(dice.below(pages), dice.below(pages));
    int at = 0;
    while (at < 7 && held[at] != page) at++;
    misses += held[at] != page;
    for (; at > 0; at--) held[at] = held[at - 1];
    held[0] = page;
  }
  out[k] = misses;
}

// ------------------------------------------------------------------------------------------------------------ geometry

// Middle and radius of the circles through three points each.
__global__ void circumcircles(const double2* __restrict__ corners, double* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const double2 a = corners[3 * k], b = corners[3 * k + 1], c = corners[3 * k + 2];
  const double bx = b.x - a.x, by = b.y - a.y, cx = c.x - a.x, cy = c.y - a.y;
  const double d = 2.0 * (bx * cy - by * cx), bb = bx * bx + by * by, cc = cx * cx + cy * cy;
  const double x = (cy * bb - by * cc) / d, y = (bx * cc - cx * bb) / d;
  out[k] = a.x + x;
  out[n + k] = a.y + y;
  out[2 * n + k] = sqrt(x * x + y * y);
}

__device__ __forceinline__ int side_of(int2 a, int2 b, int2 p) {
  const int turn = (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
  return (turn > 0) - (turn < 0);
}

// How many of all segments each one crosses.
__global__ void crossed_segments(const int4* __restrict__ segments, int* __restrict__ out, int n) {
  extern __shared__ int4 others[];
  const int k = global_id();
  const int4 own = segments[min(k, n - 1)];
  const int2 a = make_int2(own.x, own.y), b = make_int2(own.z, own.w);
  int crossed = 0;
  for (int first = 0; first < n; first += blockDim.x) {
    if (first + threadIdx.x < n) others[threadIdx.x] = segments[first + threadIdx.x];
    __syncthreads();
    const int here = min(blockDim.x, n - first);
    for (int j = 0; j < here; j++) {
      const int4 o = others[j];
      const int2 c = make_int2(o.x, o.y), d = make_int2(o.z, o.w);
      crossed += side_of(a, b, c) * side_of(a, b, d) < 0 && side_of(c, d, a) * side_of(c, d, b) < 0;
    }
    __syncthreads();
  }
  if (k < n) out[k] = crossed;
}

__device__ __forceinline__ int outside(float x, float y) {
  return (x < 0.25f) | (x > 0.75f) << 1 | (y < 0.25f) << 2 | (y > 0.75f) << 3;
}

// Lengths of the parts of lines that a window shows (Cohen and Sutherland).
__global__ void shown_lines(const float4* __restrict__ lines, float* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  float4 l = lines[k];
  int first = outside(l.x, l.y), second = outside(l.z, l.w);
  for (int t = 0; t < 8 && (first | second); t++) {
    if (first & second) {
      l = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      break;
    }
    const int code = first ? first : second;
    float x, y;
    if (code & 12) {
      y = code & 4 ? 0.25f : 0.75f;
      x = l.x + (l.z - l.x) * (y - l.y) / (l.w - l.y);
    } else {
      x = code & 1 ? 0.25f : 0.75f;
      y = l.y + (l.w - l.y) * (x - l.x) / (l.z - l.x);
    }
    if (first) {
      l.x = x;
      l.y = y;
      first = outside(x, y);
    } else {
      l.z = x;
      l.w = y;
      second = outside(x, y);
    }
  }
  out[k] = hypotf(l.z - l.x, l.w - l.y);
}

// Areas of polygons of different sizes, a thread each.
__global__ void polygon_areas(const int* __restrict__ starts, const int2* __restrict__ corners,
                              long long* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const int first = starts[k], end = starts[k + 1];
  if (first == end) return;
  int2 last = corners[end - 1];
  long long area = 0;
  for (int j = first; j < end; j++) {
    const int2 next = corners[j];
    area += (long long)last.x * next.y - (long long)last.y * next.x;
    last = next;
  }
  out[k] = area < 0 ? -area : area;
}

// -------------------------------------------------------------------------------------------------------- tensor cores

// The nearest of many codes of 32 halves for each row: the code's square minus twice the product. A warp per 16 rows.
__global__ void nearest_codes_mma(const u32* __restrict__ rows, const u32* __restrict__ codes,
                                  const float* __restrict__ squares, int* __restrict__ out, int n, int count) {
  const int warp = global_id() / 32, lane = threadIdx.x % 32, row = lane / 4, word = lane % 4;
  if (16 * warp >= n) return;
  u32 a[2][4];
#pragma unroll
  for (int s = 0; s < 2; s++) {
#pragma unroll
    for (int j = 0; j < 4; j++) a[s][j] = rows[(16 * warp + row + 8 * (j & 1)) * 16 + 8 * s + word + 4 * (j >> 1)];
  }
  float best[2] = {1e30f, 1e30f};
  int which[2] = {0, 0};
  for (int first = 0; first < count; first += 8) {
    float c[4] = {};
#pragma unroll
    for (int s = 0; s < 2; s++) {
      const u32* from = codes + (first + row) * 16 + 8 * s + word;
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a[s][0]), "r"(a[s][1]), "r"(a[s][2]), "r"(a[s][3]), "r"(from[0]), "r"(from[4]));
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int code = first + 2 * word + (j & 1);
      const float apart = squares[code] - 2.0f * c[j];
      if (apart < best[j / 2]) {
        best[j / 2] = apart;
        which[j / 2] = code;
      }
    }
  }
#pragma unroll
  for (int h = 0; h < 2; h++) {
#pragma unroll
    for (int by = 1; by < 4; by *= 2) {
      const float other = __shfl_xor_sync(ALL_LANES, best[h], by);
      const int code = __shfl_xor_sync(ALL_LANES, which[h], by);
      if (other < best[h] || (other == best[h] && code < which[h])) {
        best[h] = other;
        which[h] = code;
      }
    }
    if (word == 0) out[16 * warp + row + 8 * h] = which[h];
  }
}

// A net of many layers of 16 by 16 halves; what a layer gives is the next one's input as it lies in the registers.
__global__ void deep_layers_mma(const u32* __restrict__ rows, const u32* __restrict__ weights, u32* __restrict__ out,
                                int n, int layers) {
  const int warp = global_id() / 32, lane = threadIdx.x % 32, row = lane / 4, word = lane % 4;
  if (16 * warp >= n) return;
  u32 a[4];
#pragma unroll
  for (int j = 0; j < 4; j++) a[j] = rows[(16 * warp + row + 8 * (j & 1)) * 8 + word + 4 * (j >> 1)];
  for (int l = 0; l < layers; l++) {
    u32 next[4] = {};
#pragma unroll
    for (int t = 0; t < 2; t++) {
      const u32* from = weights + (l * 16 + 8 * t + row) * 8 + word;
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
          : "+r"(next[2 * t]), "+r"(next[2 * t + 1])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(from[0]), "r"(from[4]));
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const __half2 kept = __hmax2(*(const __half2*)&next[j], __float2half2_rn(0.0f));
      a[j] = *(const u32*)&kept;
    }
  }
#pragma unroll
  for (int j = 0; j < 4; j++) out[(16 * warp + row + 8 * (j & 1)) * 8 + word + 4 * (j >> 1)] = a[j];
}

// --------------------------------------------------------------------------------------------- cooperative groups

// Least and greatest of rows, a group of threads per row.
template <int T>
__global__ void row_ranges(const int* __restrict__ rows, int2* __restrict__ out, int n, int length) {
  const auto tile = cg::tiled_partition<T>(cg::this_thread_block());
  const int row = global_id() / T;
  if (row >= n) return;
  int low = INT_MAX, high = INT_MIN;
  for (int j = tile.thread_rank(); j < length; j += T) {
    const int v = rows[row * length + j];
    low = min(low, v);
    high = max(high, v);
  }
  low = cg::reduce(tile, low, cg::less<int>());
  high = cg::reduce(tile, high, cg::greater<int>());
  if (tile.thread_rank() == 0) out[row] = make_int2(low, high);
}

// The lowest balance of accounts over their bookings; 16 threads per account sum up 16 bookings at once.
__global__ void lowest_balances(const int* __restrict__ bookings, int* __restrict__ out, int n, int length) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int account = global_id() / 16;
  if (account >= n) return;
  int before = 0, lowest = 0;
  for (int first = 0; first < length; first += 16) {
    const int j = first + tile.thread_rank();
    const int sum = before + cg::inclusive_scan(tile, j < length ? bookings[account * length + j] : 0);
    lowest = min(lowest, cg::reduce(tile, sum, cg::less<int>()));
    before = tile.shfl(sum, 15);
  }
  if (tile.thread_rank() == 0) out[account] = lowest;
}

// The numbers of a block's part that are above a limit; the threads that found one reserve their places together.
__global__ void kept_by_block(const int* __restrict__ values, int* __restrict__ kept, int* __restrict__ counts,
                              int each, int limit) {
  __shared__ int held;
  if (threadIdx.x == 0) held = 0;
  __syncthreads();
  for (int j = threadIdx.x; j < each; j += blockDim.x) {
    const int v = values[blockIdx.x * each + j];
    if (v >= limit) {
      const auto group = cg::coalesced_threads();
      int first = 0;
      if (group.thread_rank() == 0) first = atomicAdd(&held, (int)group.size());
      kept[blockIdx.x * each + group.shfl(first, 0) + group.thread_rank()] = v;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) counts[blockIdx.x] = held;
}

// Counts of values below 4096 in the shared memory of four blocks, 1024 in each.
__global__ void __cluster_dims__(4) cluster_bins(const u16* __restrict__ values, int* __restrict__ out, int each) {
  __shared__ int bins[1024];
  const auto cluster = cg::this_cluster();
  for (int j = threadIdx.x; j < 1024; j += blockDim.x) bins[j] = 0;
  cluster.sync();
  for (int j = threadIdx.x; j < each; j += blockDim.x) {
    const int v = values[blockIdx.x * each + j];
    atomicAdd(cluster.map_shared_rank(bins, v / 1024) + v % 1024, 1);
  }
  cluster.sync();
  for (int j = threadIdx.x; j < 1024; j += blockDim.x) out[blockIdx.x * 1024 + j] = bins[j];
}

// Rows over two blocks: each scales its half by the root of the sum of both halves' squares.
__global__ void __cluster_dims__(2) cluster_unit_rows(const float* __restrict__ in, float* __restrict__ out,
                                                      int half_length) {
  __shared__ float parts[32];
  __shared__ float sum;
  const auto cluster = cg::this_cluster();
  float own = 0.0f;
  for (int j = threadIdx.x; j < half_length; j += blockDim.x) {
    const float v = in[blockIdx.x * half_length + j];
    own += v * v;
  }
  for (int by = 16; by; by /= 2) own += __shfl_xor_sync(ALL_LANES, own, by);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x == 0) {
    own = 0.0f;
    for (int w = 0; w < blockDim.x / 32; w++) own += parts[w];
    sum = own;
  }
  cluster.sync();
  const float scale = rsqrtf(sum + *cluster.map_shared_rank(&sum, cluster.block_rank() ^ 1));
  cluster.sync();
  for (int j = threadIdx.x; j < half_length; j += blockDim.x)
    out[blockIdx.x * half_length + j] = scale * in[blockIdx.x * half_length + j];
}

// ------------------------------------------------------------------------------------------------- copies on their way

// A filter of 16 taps; the next 1024 samples are on their way while these are filtered.
__global__ void async_filter(const float* __restrict__ in, const float* __restrict__ taps, float* __restrict__ out,
                             int pieces) {
  __shared__ __align__(16) float samples[2][1040];
  const auto fetch = [&](int piece, int side) {
    for (int j = threadIdx.x; j < 260; j += blockDim.x)
      __pipeline_memcpy_async(&samples[side][4 * j], &in[piece * 1024 + 4 * j], 16);
    __pipeline_commit();
  };
  float weights[16];
#pragma unroll
  for (int t = 0; t < 16; t++) weights[t] = taps[t];
  int side = 0;
  if (blockIdx.x < pieces) fetch(blockIdx.x, 0);
  for (int piece = blockIdx.x; piece < pieces; piece += gridDim.x, side ^= 1) {
    if (piece + gridDim.x < pieces)
      fetch(piece + gridDim.x, side ^ 1);
    else
      __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int j = threadIdx.x; j < 1024; j += blockDim.x) {
      float sum = 0.0f;
#pragma unroll
      for (int t = 0; t < 16; t++) sum += weights[t] * samples[side][j + t];
      out[piece * 1024 + j] = sum;
    }
    __syncthreads();
  }
}

// Products of pairs of rows, each thread with its own three copies of 16 bytes on their way.
__global__ void async_dots(const float4* __restrict__ left, const float4* __restrict__ right, float* __restrict__ out,
                           int n, int quads) {
  extern __shared__ float4 on_way[];
  const int warp = global_id() / 32, lane = threadIdx.x % 32;
  float4* own = on_way + 6 * threadIdx.x;
  float sum = 0.0f;
  if (warp >= n) return;
  const auto fetch = [&](int turn) {
    const int q = 32 * turn + lane;
    if (q < quads) {
      __pipeline_memcpy_async(own + turn % 3, &left[(size_t)warp * quads + q], 16);
      __pipeline_memcpy_async(own + 3 + turn % 3, &right[(size_t)warp * quads + q], 16);
    }
    __pipeline_commit();
  };
  fetch(0);
  fetch(1);
  for (int turn = 0; 32 * turn < quads; turn++) {
    fetch(turn + 2);
    __pipeline_wait_prior(2);
    if (32 * turn + lane < quads) {
      const float4 a = own[turn % 3], b = own[3 + turn % 3];
      sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
  }
  for (int by = 16; by; by /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, by);
  if (lane == 0) out[warp] = sum;
}

// Rows that come in bulk, one each time; the greatest value of a row becomes 1.
__global__ void bulk_row_peaks(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
  extern __shared__ __align__(16) float line[];
  __shared__ __align__(8) u64 arrived;
  __shared__ float greatest[32];
  const u32 barrier = (u32)__cvta_generic_to_shared(&arrived);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  int turn = 0;
  for (int row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1) {
    __syncthreads();
    if (threadIdx.x == 0) {
      const u32 place = (u32)__cvta_generic_to_shared(line);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(4 * columns)
                   : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       place),
                   "l"(__cvta_generic_to_global(in + (size_t)row * columns)), "r"(4 * columns), "r"(barrier)
                   : "memory");
    }
    u32 done = 0;
    while (!done) {
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(barrier), "r"(turn)
                   : "memory");
    }
    float most = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) most = fmaxf(most, fabsf(line[c]));
    for (int by = 16; by; by /= 2) most = fmaxf(most, __shfl_xor_sync(ALL_LANES, most, by));
    if (threadIdx.x % 32 == 0) greatest[threadIdx.x / 32] = most;
    __syncthreads();
    for (int w = 0; w < blockDim.x / 32; w++) most = fmaxf(most, greatest[w]);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) out[(size_t)row * columns + c] = line[c] / most;
  }
}

// --------------------------------------------------------------------------------------------------- code and numbers

// N rounds of mixing with another number each, all written one behind the other.
template <int N>
__global__ void straight_rounds(const u32* __restrict__ in, u32* __restrict__ out, int n, int turns) {
  const int k = global_id();
  if (k >= n) return;
  u32 a = in[k], b = k;
  for (int t = 0; t < turns; t++) {
#pragma unroll
    for (int r = 0; r < N; r++) {
      a = (a ^ b >> (r % 7 + 3)) + (r * 40503u ^ 0x5bd1e995u);
      b = turned(b, r % 13 + 1) * (2u * r + 5u) ^ a;
    }
  }
  out[k] = a ^ b;
}

// Numbers as sums of Fibonacci numbers that are not neighbours, as bits; how long the code is.
__global__ void fibonacci_codes(const u32* __restrict__ values, u64* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  u32 rest = values[k] + 1, low = 1, high = 2;
  int place = 0;
  while (high <= rest) {
    const u32 next = low + high;
    low = high;
    high = next;
    place++;
  }
  u64 code = 1ull << (place + 1);
  while (rest) {
    if (low <= rest) {
      rest -= low;
      code |= 1ull << place;
    }
    const u32 before = high - low;
    high = low;
    low = before;
    place--;
  }
  out[k] = code;
}

// How many bits series of floats need when each is stored by how its bits differ from those before.
__global__ void xor_bits(const u32* __restrict__ series, int* __restrict__ out, int n, int length) {
  const int k = global_id();
  if (k >= n) return;
  u32 last = series[k];
  int bits = 32, leading = 33, trailing = 33;
  for (int j = 1; j < length; j++) {
    const u32 now = series[j * n + k], differ = now ^ last;
    last = now;
    if (differ == 0) {
      bits += 1;
      continue;
    }
    const int before = __clz(differ), behind = __ffs(differ) - 1;
    if (before >= leading && behind >= trailing) {
      bits += 2 + 32 - leading - trailing;
    } else {
      leading = before;
      trailing = behind;
      bits += 2 + 10 + 32 - before - behind;
    }
  }
  out[k] = bits;
}

// Numbers of 13 bits side by side: a warp packs 32 of them into 13 words.
__global__ void thirteen_bits(const u16* __restrict__ values, u32* __restrict__ out, int groups) {
  const int group = global_id() / 32, lane = threadIdx.x % 32;
  if (group >= groups) return;
  const u32 own = values[group * 32 + lane] & 8191, bit = 32 * lane;
  u32 word = 0;
  for (u32 s = 0; s < 4; s++) {
    const u32 j = bit / 13 + s, v = __shfl_sync(ALL_LANES, own, j & 31);
    if (j >= 32 || 13 * j >= bit + 32) continue;
    const int by = (int)(13 * j) - (int)bit;
    word |= by >= 0 ? v << by : v >> -by;
  }
  if (lane < 13) out[group * 13 + lane] = word;
}

// How often rows of small numbers are swapped by a gnome that goes on when two are in order and back when not.
__global__ void gnome_rows(const u8* __restrict__ rows, int* __restrict__ out, int n, int length) {
  const int k = global_id();
  if (k >= n) return;
  u8 row[32];
  for (int j = 0; j < length; j++) row[j] = rows[j * n + k];
  int at = 0, swaps = 0;
  while (at < length) {
    if (at == 0 || row[at - 1] <= row[at]) {
      at++;
    } else {
      const u8 held = row[at];
      row[at] = row[at - 1];
      row[at - 1] = held;
      swaps++;
      at--;
    }
  }
  out[k] = swaps;
}

// The length of the longest cycle of random permutations, and how many there are.
__global__ void permutation_cycles(int2* __restrict__ out, int n, int size, u32 seed) {
  const int k = global_id();
  if (k >= n) return;
  Dice dice{hashed(k ^ seed)};
  u8 to[64];
  for (int j = 0; j < size; j++) to[j] = j;
  for (int j = size - 1; j > 0; j--) {
    const int other = dice.below(j + 1);
    const u8 held = to[j];
    to[j] = to[other];
    to[other] = held;
  }
  u64 seen = 0;
  int count = 0, longest = 0;
  for (int j = 0; j < size; j++) {
    int length = 0;
    for (int at = j; !(seen >> at & 1); at = to[at]) {
      seen |= 1ull << at;
      length++;
    }
    count += length > 0;
    longest = max(longest, length);
  }
  out[k] = make_int2(longest, count);
}

// ------------------------------------------------------------------------------------------------------ first programs

// Is each number a prime? Every divisor is tried.
__global__ void is_prime_plain(int* result, int n, int first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int number = first + i;
    int prime = number > 1;
    for (int d = 2; d * d <= number; d++) {
      if (number % d == 0) {
        prime = 0;
        break;
      }
    }
    result[i] = prime;
  }
}

// Darts into a square: how many of each thread are in the quarter of the circle.
__global__ void darts(int* hits, int n, int throws, u32 seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Dice dice{hashed(i ^ seed)};
  int inside = 0;
  for (int t = 0; t < throws; t++) {
    int x = dice.word() >> 17;
    int y = dice.word() >> 17;
    if (x * x + y * y < 32768 * 32768) inside++;
  }
  hits[i] = inside;
}

// A filter as long as it likes, all from global memory.
__global__ void smeared(float* in, float* filter, float* out, int n, int taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = 0;
    for (int t = 0; t < taps; t++) {
      int j = i + t - taps / 2;
      if (j >= 0 && j < n) sum += in[j] * filter[t];
    }
    out[i] = sum;
  }
}

struct Particle {
  float x, y, z, mass, vx, vy, vz;
};

// Speeds of particles that lie as records of seven floats.
__global__ void particle_energies(Particle* particles, float* energies, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    Particle p = particles[i];
    energies[i] = 0.5f * p.mass * (p.vx * p.vx + p.vy * p.vy + p.vz * p.vz) + 9.81f * p.mass * p.z;
  }
}

// ------------------------------------------------------------------------------------------------------- more of these

__constant__ u8 swap_boxes[128] = {
    4,  10, 9,  2,  13, 8, 0,  14, 6,  11, 1,  12, 7,  15, 5,  3,  14, 11, 4, 12, 6,  13, 15, 10, 2, 3,  8,  1,
    0,  7,  5,  9,  5,  8, 1,  13, 10, 3,  4,  2,  14, 15, 12, 7,  6,  0,  9, 11, 7,  13, 10, 1,  0, 8,  9,  15,
    14, 4,  6,  12, 11, 2, 5,  3,  6,  12, 7,  1,  5,  15, 13, 8,  4,  10, 9, 14, 0,  3,  11, 2,  4, 11, 10, 0,
    7,  2,  1,  13, 3,  6, 8,  5,  9,  12, 15, 14, 13, 11, 4,  1,  3,  15, 5, 9,  0,  10, 14, 7,  6, 8,  2,  12,
    1,  15, 13, 0,  5,  7, 10, 4,  9,  2,  3,  14, 6,  11, 8,  12};

// A cipher of 32 rounds whose boxes of 16 numbers lie in constant memory.
__global__ void boxed_rounds(const u32* __restrict__ keys, const uint2* __restrict__ in, uint2* __restrict__ out,
                             int n) {
  const int k = global_id();
  if (k >= n) return;
  uint2 v = in[k];
  for (int r = 0; r < 32; r++) {
    const u32 sum = v.x + keys[r < 24 ? r % 8 : 7 - r % 8];
    u32 mixed = 0;
#pragma unroll
    for (int b = 0; b < 8; b++) mixed |= (u32)swap_boxes[16 * b + (sum >> 4 * b & 15)] << 4 * b;
    const u32 next = v.y ^ turned(mixed, 11);
    v.y = v.x;
    v.x = next;
  }
  out[k] = v;
}

// Values of options on trees with three branches, back from the end; a block per option.
__global__ void three_branches(const float* __restrict__ strikes, float* __restrict__ out, int steps, float up) {
  extern __shared__ float worth[];
  const int width = 2 * steps + 1;
  float *now = worth, *next = worth + width;
  const float strike = 50.0f + 100.0f * strikes[blockIdx.x];
  for (int j = threadIdx.x; j < width; j += blockDim.x) now[j] = fmaxf(strike - 100.0f * expf(up * (j - steps)), 0.0f);
  __syncthreads();
  for (int t = steps - 1; t >= 0; t--) {
    for (int j = threadIdx.x; j < 2 * t + 1; j += blockDim.x) {
      const float held = 0.999f * (0.16f * now[j] + 0.67f * now[j + 1] + 0.17f * now[j + 2]);
      next[j] = fmaxf(held, strike - 100.0f * expf(up * (j - t)));
    }
    __syncthreads();
    float* swap = now;
    now = next;
    next = swap;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = now[0];
}

// How high the sun stands at places, in degrees, hour by hour: the mean over the hours of light.
__global__ void sun_heights(const double2* __restrict__ places, double* __restrict__ out, int n, int hours) {
  const int k = global_id();
  if (k >= n) return;
  const double latitude = 1.2 * places[k].x, day = 365.0 * places[k].y;
  const double tilt = 0.4093 * sin(0.0172142 * (day - 81.0));
  double sum = 0.0;
  int light = 0;
  for (int h = 0; h < hours; h++) {
    const double turn = 6.283185307179586 * h / hours - 3.141592653589793;
    const double height = asin(sin(latitude) * sin(tilt) + cos(latitude) * cos(tilt) * cos(turn));
    if (height > 0.0) {
      sum += height;
      light++;
    }
  }
  out[k] = light ? 57.29577951308232 * sum / light : 0.0;
}

// Bodies that turn freely, by Euler's equations: their turning after many small steps.
__global__ void free_tops(const double* __restrict__ starts, double* __restrict__ out, int n, int steps, double dt) {
  const int k = global_id();
  if (k >= n) return;
  double x = starts[k], y = starts[n + k] + 0.1, z = starts[2 * n + k];
  for (int t = 0; t < steps; t++) {
    const double dx = -0.5 * y * z, dy = z * x, dz = -1.5 * x * y;
    const double mx = x + 0.5 * dt * dx, my = y + 0.5 * dt * dy, mz = z + 0.5 * dt * dz;
    x -= 0.5 * dt * my * mz;
    y += dt * mz * mx;
    z -= 1.5 * dt * mx * my;
  }
  out[k] = x;
  out[n + k] = y;
  out[2 * n + k] = z;
}

// Sound whose loudness is held at a level: the gain rises slowly and falls at once.
__global__ void held_loudness(const short* __restrict__ sound, short* __restrict__ out, int n, int length) {
  const int k = global_id();
  if (k >= n) return;
  int gain = 4096;
  for (int t = 0; t < length; t++) {
    const int v = sound[t * n + k] * gain >> 12;
    if (abs(v) > 12000)
      gain -= gain >> 4;
    else if (gain < 32768)
      gain += (gain >> 10) + 1;
    out[t * n + k] = min(max(v, -32768), 32767);
  }
}

// How often sound crosses zero in each frame; a warp per frame.
__global__ void zero_crossings(const short* __restrict__ sound, int* __restrict__ out, int frames, int length) {
  const int frame = global_id() / 32, lane = threadIdx.x % 32;
  if (frame >= frames) return;
  int count = 0;
  u32 last = 0;
  for (int first = 0; first < length; first += 32) {
    const u32 below = __ballot_sync(ALL_LANES, sound[frame * length + first + lane] < 0);
    const u32 before = below << 1 | (first ? last >> 31 : below & 1);
    count += __popc(below ^ before);
    last = below;
  }
  if (lane == 0) out[frame] = count;
}

// Parts minus holes of pictures of bits, by counting the patterns of two by two points; a block per picture.
__global__ void parts_minus_holes(const u8* __restrict__ pictures, int* __restrict__ out, int width, int height) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  const u8* own = pictures + (size_t)blockIdx.x * width * height;
  int sum = 0;
  for (int j = threadIdx.x; j < (width + 1) * (height + 1); j += blockDim.x) {
    const int x = j % (width + 1), y = j / (width + 1);
    const bool a = x && y && own[(y - 1) * width + x - 1], b = x < width && y && own[(y - 1) * width + x];
    const bool c = x && y < height && own[y * width + x - 1], d = x < width && y < height && own[y * width + x];
    const int set = a + b + c + d;
    sum += set == 1;
    sum -= set == 3;
    if (set == 2 && a == d) sum += 2;
  }
  sum = __reduce_add_sync(ALL_LANES, sum);
  if (threadIdx.x % 32 == 0) atomicAdd(&total, sum);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = total / 4;
}

// A round picture as a band: angle to the right, distance from the middle downwards.
__global__ void rolled_out(const u8* __restrict__ picture, u8* __restrict__ out, int size, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float s, c;
  sincospif(2.0f * x / width, &s, &c);
  const float far = 0.49f * size * (y + 0.5f) / height;
  const float px = 0.5f * size + far * c, py = 0.5f * size + far * s;
  const int left = (int)px, top = (int)py;
  const float dx = px - left, dy = py - top;
  const u8* at = picture + top * size + left;
  const float upper = at[0] + dx * (at[1] - at[0]), lower = at[size] + dx * (at[size + 1] - at[size]);
  out[y * width + x] = (u8)(upper + dy * (lower - upper) + 0.5f);
}

// How far counts of genotypes are from what the letters' frequencies let expect (chi squared).
__global__ void genotype_tests(const int* __restrict__ counts, float* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const float aa = counts[k] + 1, ab = counts[n + k] + 1, bb = counts[2 * n + k] + 1;
  const float all = aa + ab + bb, p = (2.0f * aa + ab) / (2.0f * all), q = 1.0f - p;
  const float ea = p * p * all, eb = 2.0f * p * q * all, ec = q * q * all;
  const float chi = (aa - ea) * (aa - ea) / ea + (ab - eb) * (ab - eb) / eb + (bb - ec) * (bb - ec) / ec;
  out[k] = erfcf(sqrtf(0.5f * chi));
}

// How often each letter of a place in the genome is there: genotypes of two bits, 16 per word; a warp per place.
__global__ void packed_genotypes(const u32* __restrict__ words, int4* __restrict__ out, int n, int each) {
  const int place = global_id() / 32, lane = threadIdx.x % 32;
  if (place >= n) return;
  int both = 0, one = 0, missing = 0;
  for (int j = lane; j < each; j += 32) {
    const u32 w = words[(size_t)place * each + j], high = w >> 1 & 0x55555555, low = w & 0x55555555;
    both += __popc(high & low);
    one += __popc(high & ~low);
    missing += __popc(low & ~high);
  }
  both = __reduce_add_sync(ALL_LANES, both);
  one = __reduce_add_sync(ALL_LANES, one);
  missing = __reduce_add_sync(ALL_LANES, missing);
  if (lane == 0) out[place] = make_int4(both, one, missing, 2 * both + one);
}

// Mean prices by volume of bars of trades, by eight lanes each.
__global__ void volume_prices(const int2* __restrict__ trades, float* __restrict__ out, int bars, int each) {
  const int bar = global_id() / 8, lane = threadIdx.x % 8;
  long long money = 0, volume = 0;
  if (bar < bars) {
    for (int j = lane; j < each; j += 8) {
      const int2 trade = trades[bar * each + j];
      money += (long long)trade.x * trade.y;
      volume += trade.y;
    }
  }
  for (int by = 4; by; by /= 2) {
    money += __shfl_down_sync(ALL_LANES, money, by, 8);
    volume += __shfl_down_sync(ALL_LANES, volume, by, 8);
  }
  if (bar < bars && lane == 0) out[bar] = volume ? (float)money / volume : 0.0f;
}

// Whether boxes that are turned overlap the next one: four axes that could part them.
__global__ void turned_overlaps(const float* __restrict__ boxes, u8* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n - 1) return;
  float x[2], y[2], w[2], h[2], s[2], c[2];
#pragma unroll
  for (int b = 0; b < 2; b++) {
    const float* box = boxes + 5 * (k + b);
    x[b] = box[0];
    y[b] = box[1];
    w[b] = 0.1f + 0.4f * box[2];
    h[b] = 0.1f + 0.4f * box[3];
    __sincosf(3.0f * box[4], &s[b], &c[b]);
  }
  const float dx = x[1] - x[0], dy = y[1] - y[0], cosine = fabsf(c[0] * c[1] + s[0] * s[1]);
  const float sine = fabsf(s[0] * c[1] - c[0] * s[1]);
  bool apart = false;
#pragma unroll
  for (int b = 0; b < 2; b++) {
    apart |= fabsf(dx * c[b] + dy * s[b]) > w[b] + w[1 - b] * cosine + h[1 - b] * sine;
    apart |= fabsf(dy * c[b] - dx * s[b]) > h[b] + w[1 - b] * sine + h[1 - b] * cosine;
  }
  out[k] = !apart;
}

// How many steps numbers need until the sum of their digits' squares is 1 or 4.
__global__ void happy_steps(const u32* __restrict__ values, int* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  u32 v = values[k] + 1;
  int steps = 0;
  while (v != 1 && v != 4) {
    u32 sum = 0;
    while (v) {
      const u32 digit = v % 10;
      sum += digit * digit;
      v /= 10;
    }
    v = sum;
    steps++;
  }
  out[k] = v == 1 ? -steps : steps;
}

// Rule 110 on a ring of 1024 cells, 32 per lane; a warp per ring.
__global__ void rule_110_rings(const u32* __restrict__ rings, u32* __restrict__ out, int n, int steps) {
  const int ring = global_id() / 32, lane = threadIdx.x % 32;
  if (ring >= n) return;
  u32 own = rings[32 * ring + lane];
  for (int t = 0; t < steps; t++) {
    const u32 before = __shfl_sync(ALL_LANES, own, lane + 31), after = __shfl_sync(ALL_LANES, own, lane + 1);
    const u32 left = own << 1 | before >> 31, right = own >> 1 | after << 31;
    own = (own | left) & ~(own & left & right);
  }
  out[32 * ring + lane] = own;
}

// The logistic map in two halves at once, for many steps.
__global__ void half_maps(const u32* __restrict__ starts, u32* __restrict__ out, int n, int steps, float growth) {
  const int k = global_id();
  if (k >= n) return;
  const __half2 one = __float2half2_rn(1.0f), r = __float2half2_rn(growth);
  __half2 x = *(const __half2*)&starts[k], sum = __float2half2_rn(0.0f);
  x = __h2div(x, __hadd2(one, x));
  for (int t = 0; t < steps; t++) {
    x = __hmul2(__hmul2(r, x), __hsub2(one, x));
    sum = __hfma2(x, __float2half2_rn(0.01f), sum);
  }
  out[k] = *(const u32*)&sum;
}
