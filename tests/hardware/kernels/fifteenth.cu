// Kernels for tests/hardware/fifteenth_cases.py: other ones than those of the fourteen sets before, as programs have
// them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
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
  // Between 0 and 1, without both.
  __device__ __forceinline__ float part() { return ((word() >> 9) + 0.5f) * 1.1920929e-7f; }
};

__device__ __forceinline__ u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }

// -------------------------------------------------------------------------------------------------------- chains in time

// Two rods that hang on each other; angles and speeds step by step.
__global__ void double_pendulum(const float4* __restrict__ start, float4* __restrict__ out, int n, int steps, float dt) {
  const int k = global_id();
  if (k >= n) return;
  float4 s = start[k];
  for (int t = 0; t < steps; t++) {
    float sine, cosine;
    sincosf(s.x - s.y, &sine, &cosine);
    const float below = 1.0f / (4.0f - 2.0f * cosine * cosine);
    const float u = -29.43f * sinf(s.x) - 9.81f * sinf(s.x - 2.0f * s.y);
    const float v = 2.0f * s.z * s.z + 19.62f * cosf(s.x) + s.w * s.w * cosine;
    const float du = (u - 2.0f * sine * (s.w * s.w + s.z * s.z * cosine)) * below;
    s.w += dt * 2.0f * sine * v * below;
    s.z += dt * du;
    s.x += dt * s.z;
    s.y += dt * s.w;
  }
  out[k] = s;
}

// How fast neighbours part on the map of Henon, for a row of its parameter.
__global__ void henon_exponents(float* __restrict__ out, int n, int steps, float b) {
  const int k = global_id();
  if (k >= n) return;
  const float a = 1.0f + 0.4f * k / n;
  float x = 0.1f, y = 0.1f, tx = 1.0f, ty = 0.0f, sum = 0.0f;
  for (int t = 0; t < steps; t++) {
    const float nx = ty - 2.0f * a * x * tx, ny = b * tx, square = nx * nx + ny * ny, scale = rsqrtf(square);
    tx = nx * scale;
    ty = ny * scale;
    sum += 0.5f * __logf(square);
    const float next = 1.0f - a * x * x + y;
    y = b * x;
    x = next;
  }
  out[k] = sum / steps;
}

__constant__ float contacts[64] = {4.0f, 1.0f, 0.5f, 0.5f, 1.0f, 0.5f, 0.3f, 0.2f, 1.0f, 6.0f, 1.0f, 0.5f, 1.0f, 1.0f,
                                   0.5f, 0.2f, 0.5f, 1.0f, 5.0f, 1.0f, 0.8f, 1.0f, 0.5f, 0.3f, 0.5f, 0.5f, 1.0f, 4.0f,
                                   1.0f, 0.7f, 0.5f, 0.3f, 1.0f, 1.0f, 0.8f, 1.0f, 3.0f, 1.0f, 0.6f, 0.4f, 0.5f, 1.0f,
                                   1.0f, 0.7f, 1.0f, 2.5f, 0.8f, 0.5f, 0.3f, 0.5f, 0.5f, 0.5f, 0.6f, 0.8f, 2.0f, 0.7f,
                                   0.2f, 0.2f, 0.3f, 0.3f, 0.4f, 0.5f, 0.7f, 1.5f};

// An illness in eight groups of people, for many guesses of how easily it spreads.
__global__ void illness_groups(const float* __restrict__ spread, float* __restrict__ out, int n, int days) {
  const int k = global_id();
  if (k >= n) return;
  float well[8], carries[8], ill[8];
#pragma unroll
  for (int g = 0; g < 8; g++) {
    well[g] = 1.0f;
    carries[g] = 0.0f;
    ill[g] = 0.001f;
  }
  const float rate = 0.1f * spread[k];
  for (int day = 0; day < days; day++) {
    float fresh[8];
#pragma unroll
    for (int g = 0; g < 8; g++) {
      float met = 0.0f;
#pragma unroll
      for (int h = 0; h < 8; h++) met += contacts[8 * g + h] * ill[h];
      fresh[g] = well[g] * fminf(rate * met, 1.0f);
    }
#pragma unroll
    for (int g = 0; g < 8; g++) {
      well[g] -= fresh[g];
      ill[g] += 0.2f * carries[g] - 0.1f * ill[g];
      carries[g] += fresh[g] - 0.2f * carries[g];
    }
  }
  float sum = 0.0f;
#pragma unroll
  for (int g = 0; g < 8; g++) sum += well[g];
  out[k] = sum;
}

// What is left of the last of eight isotopes that decay one into the other, at many times.
__global__ void decay_chains(const double* __restrict__ rates, double* __restrict__ out, int n, double apart) {
  __shared__ double weights[8];
  if (threadIdx.x < 8) {
    double weight = 1.0;
    for (int j = 0; j < 8; j++) {
      if (j != (int)threadIdx.x) weight /= rates[j] - rates[threadIdx.x];
      if (j < 7) weight *= rates[j];
    }
    weights[threadIdx.x] = weight;
  }
  __syncthreads();
  const int k = global_id();
  if (k >= n) return;
  double sum = 0.0;
  for (int j = 0; j < 8; j++) sum += weights[j] * exp(-rates[j] * apart * (k + 1));
  out[k] = sum;
}

struct Stage {
  int fuel;
  float thrust, dry;
};

// How high rockets of three stages come and how fast; a stage burns until its tank is empty.
__global__ void rocket_stages(const int* __restrict__ tanks, float2* __restrict__ out, int n, float dt) {
  const int k = global_id();
  if (k >= n) return;
  float height = 0.0f, speed = 0.0f;
  for (int s = 0; s < 3; s++) {
    Stage stage = {tanks[3 * k + s] + 20, 3000.0f / (1 + s), 60.0f / (1 + s)};
    while (stage.fuel > 0) {
      const float far = 1.0f + height * 1.57e-4f, mass = stage.dry + stage.fuel;
      const float drag = 0.02f * __expf(-0.12f * height) * speed * fabsf(speed);
      speed += dt * ((stage.thrust - drag) / mass - 9.81f / (far * far));
      height = fmaxf(height + dt * speed, 0.0f);
      stage.fuel--;
    }
  }
  out[k] = make_float2(height, speed);
}

// Where shells come down, by angle and speed.
__global__ void shell_ranges(const float2* __restrict__ shots, float2* __restrict__ out, int n, float drag, float dt) {
  const int k = global_id();
  if (k >= n) return;
  const float angle = 0.3f + shots[k].x, start = 20.0f + 60.0f * shots[k].y;
  float x = 0.0f, y = 0.0f, u = start * cosf(angle), v = start * sinf(angle), time = 0.0f;
  do {
    const float brake = drag * sqrtf(u * u + v * v);
    u -= dt * brake * u;
    v -= dt * (9.81f + brake * v);
    x += dt * u;
    y += dt * v;
    time += dt;
  } while (y > 0.0f);
  out[k] = make_float2(x, time);
}

// The lower incomplete gamma function by its series, as far as it needs.
__global__ void incomplete_gamma(const double* __restrict__ shapes, const double* __restrict__ places,
                                 double* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const double a = 0.5 + shapes[k], x = places[k] + 0.01;
  double term = 1.0 / a, sum = term;
  for (int j = 1; j < 400 && term > 1e-13 * sum; j++) {
    term *= x / (a + j);
    sum += term;
  }
  out[k] = sum * exp(a * log(x) - x - lgamma(a));
}

// The inverse of the normal distribution by three rational functions.
__global__ void normal_quantiles(const float* __restrict__ in, float* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const float p = fminf(fmaxf(in[k], 1e-5f), 0.99999f);
  float found;
  if (p < 0.02425f || p > 0.97575f) {
    const float q = sqrtf(-2.0f * logf(fminf(p, 1.0f - p)));
    found = (((((-7.784894e-03f * q - 3.223964e-01f) * q - 2.400758f) * q - 2.549732f) * q + 4.374664f) * q + 2.938164f) /
            ((((7.784696e-03f * q + 3.224671e-01f) * q + 2.445134f) * q + 3.754409f) * q + 1.0f);
    if (p > 0.5f) found = -found;
  } else {
    const float q = p - 0.5f, r = q * q;
    found = (((((-39.69683f * r + 220.9461f) * r - 275.92851f) * r + 138.35775f) * r - 30.66480f) * r + 2.5066283f) * q /
            (((((-54.47610f * r + 161.58584f) * r - 155.69898f) * r + 66.801312f) * r - 13.280682f) * r + 1.0f);
  }
  out[k] = found;
}

// Ants that turn right on white and left on black, each in a world of 32 x 32 bytes.
__global__ void langton_ants(u8* __restrict__ worlds, int* __restrict__ out, int n, int steps) {
  const int k = global_id();
  if (k >= n) return;
  u8* world = worlds + (size_t)k * 1024;
  int x = 16, y = 16, way = k % 4;
  for (int t = 0; t < steps; t++) {
    const int at = 32 * y + x, black = world[at];
    world[at] = 1 - black;
    way = (way + (black ? 3 : 1)) % 4;
    x = (x + (way == 1) - (way == 3)) & 31;
    y = (y + (way == 2) - (way == 0)) & 31;
  }
  out[k] = 32 * y + x;
}

// Texts back from a table of what follows what: letter after letter along the links.
__global__ void inverse_bwt(const u8* __restrict__ letters, const int* __restrict__ next, const int* __restrict__ first,
                            u8* __restrict__ out, int n, int length) {
  const int k = global_id();
  if (k >= n) return;
  int at = first[k];
  for (int j = 0; j < length; j++) {
    out[(size_t)j * n + k] = letters[at];
    at = next[at];
  }
}

// --------------------------------------------------------------------------------------------------------- whole numbers

// The test of Lucas and Lehmer: is 2^p - 1 a prime?
__global__ void lucas_lehmer(const int* __restrict__ exponents, u64* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const int p = exponents[k] + 3;
  const u64 mersenne = (1ull << p) - 1;
  u64 s = 4 % mersenne;
  for (int t = 2; t < p; t++) {
    const u64 high = __umul64hi(s, s), low = s * s;
    u64 sum = (low & mersenne) + (high << (64 - p) | low >> p);
    sum = (sum & mersenne) + (sum >> p);
    sum = sum >= mersenne ? sum - mersenne : sum;
    s = sum >= 2 ? sum - 2 : sum + mersenne - 2;
  }
  out[k] = s;
}

// The period of the continued fraction of a root, and the last convergent's numerator in 64 bits.
__global__ void pell_periods(int* __restrict__ periods, u64* __restrict__ numerators, int n, int first) {
  const int k = global_id();
  if (k >= n) return;
  const int d = first + k;
  int root = (int)sqrtf((float)d), period = 0;
  while (root * root > d) root--;
  while ((root + 1) * (root + 1) <= d) root++;
  u64 before = 1, now = root;
  if (root * root != d) {
    int m = 0, q = 1, a = root;
    do {
      m = q * a - m;
      q = (d - m * m) / q;
      a = (root + m) / q;
      const u64 next = a * now + before;
      before = now;
      now = next;
      period++;
    } while (a != 2 * root);
  }
  periods[k] = period;
  numerators[k] = before;
}

// The digits of a number down less the digits up, again and again.
template <int DIGITS>
__global__ void kaprekar_steps(const int* __restrict__ in, int* __restrict__ out, int n, int turns) {
  const int k = global_id();
  if (k >= n) return;
  int value = in[k];
  for (int t = 0; t < turns; t++) {
    int digits[DIGITS];
#pragma unroll
    for (int d = 0; d < DIGITS; d++) {
      digits[d] = value % 10;
      value /= 10;
    }
#pragma unroll
    for (int a = 0; a < DIGITS; a++)
#pragma unroll
      for (int b = a % 2; b + 1 < DIGITS; b += 2) {
        const int low = min(digits[b], digits[b + 1]), high = max(digits[b], digits[b + 1]);
        digits[b] = low;
        digits[b + 1] = high;
      }
    int up = 0, down = 0;
#pragma unroll
    for (int d = 0; d < DIGITS; d++) {
      up = 10 * up + digits[d];
      down = 10 * down + digits[DIGITS - 1 - d];
    }
    value = down - up;
  }
  out[k] = value;
}

// Permanents of matrices of bytes by Ryser's formula, along a Gray code.
template <int N>
__global__ void ryser_permanents(const signed char* __restrict__ matrices, long long* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  signed char matrix[N * N];
  for (int e = 0; e < N * N; e++) matrix[e] = matrices[(size_t)e * n + k];
  int sums[N] = {};
  long long total = 0;
  for (u32 code = 1; code < 1u << N; code++) {
    const int column = __ffs(code) - 1;
    const u32 gray = code ^ code >> 1;
    const int sign = gray >> column & 1 ? 1 : -1;
    long long product = (N - __popc(gray)) % 2 ? -1 : 1;
#pragma unroll
    for (int r = 0; r < N; r++) {
      sums[r] += sign * matrix[r * N + column];
      product *= sums[r];
    }
    total += product;
  }
  out[k] = total;
}

// Sums of amounts in packed decimals, fifteen digits in 64 bits.
__global__ void packed_decimals(const u64* __restrict__ in, u64* __restrict__ out, int n, int count) {
  const int k = global_id();
  if (k >= n) return;
  u64 sum = 0;
  for (int j = 0; j < count; j++) {
    const u64 b = in[(size_t)j * n + k], raised = sum + 0x0666666666666666ull, both = raised + b;
    const u64 kept = ~(both ^ raised ^ b) & 0x1111111111111110ull;
    sum = both - (kept >> 2 | kept >> 3);
  }
  out[k] = sum;
}

// Shares of secrets: polynomials over the bytes with the tables of logarithms in shared memory.
__global__ void secret_shares(const u8* __restrict__ logs, const u8* __restrict__ powers, const u8* __restrict__ factors,
                              u8* __restrict__ out, int n, int degree, int shares) {
  __shared__ u8 log_of[256], power_of[512];
  for (int e = threadIdx.x; e < 512; e += blockDim.x) {
    if (e < 256) log_of[e] = logs[e];
    power_of[e] = powers[e % 255];
  }
  __syncthreads();
  const int k = global_id();
  if (k >= n) return;
  for (int x = 1; x <= shares; x++) {
    u8 sum = 0;
    for (int d = degree; d >= 0; d--) {
      sum = sum ? power_of[log_of[sum] + log_of[x]] : 0;
      sum ^= factors[(size_t)d * n + k];
    }
    out[(size_t)(x - 1) * n + k] = sum;
  }
}

// A cipher of additions, turns and exclusive ors; the keys are made on the way.
__global__ void speck_blocks(const uint2* __restrict__ in, uint2* __restrict__ out, int n, u32 key0, u32 key1,
                             u32 key2, u32 key3) {
  const int k = global_id();
  if (k >= n) return;
  u32 y = in[k].x, x = in[k].y, a = key0, b[3] = {key1, key2, key3};
#pragma unroll
  for (int r = 0; r < 27; r++) {
    x = (__funnelshift_r(x, x, 8) + y) ^ a;
    y = __funnelshift_l(y, y, 3) ^ x;
    b[r % 3] = (__funnelshift_r(b[r % 3], b[r % 3], 8) + a) ^ r;
    a = __funnelshift_l(a, a, 3) ^ b[r % 3];
  }
  out[k] = make_uint2(y, x);
}

// Sixteen rounds with four tables of 256 words in shared memory.
__global__ void blowfish_words(const u32* __restrict__ tables, const u32* __restrict__ keys, const uint2* __restrict__ in,
                               uint2* __restrict__ out, int n) {
  __shared__ u32 boxes[4][256], subkeys[18];
  for (int e = threadIdx.x; e < 1024; e += blockDim.x) boxes[e / 256][e % 256] = tables[e];
  if (threadIdx.x < 18) subkeys[threadIdx.x] = keys[threadIdx.x];
  __syncthreads();
  for (int k = global_id(); k < n; k += gridDim.x * blockDim.x) {
    u32 left = in[k].x, right = in[k].y;
#pragma unroll 2
    for (int r = 0; r < 16; r++) {
      left ^= subkeys[r];
      const u32 mixed = ((boxes[0][left >> 24] + boxes[1][left >> 16 & 255]) ^ boxes[2][left >> 8 & 255]) +
                        boxes[3][left & 255];
      const u32 other = right ^ mixed;
      right = left;
      left = other;
    }
    out[k] = make_uint2(right ^ subkeys[17], left ^ subkeys[16]);
  }
}

// Numbers in Elias's gamma code: a stream of bits per thread.
__global__ void elias_decode(const u32* __restrict__ words, uint2* __restrict__ out, int n, int count) {
  const int k = global_id();
  if (k >= n) return;
  u32 found = 0, sum = 0;
  int at = 0;
  const int end = 32 * (count - 1);
  while (at < end) {
    const int w = at / 32;
    const u32 high = words[(size_t)w * n + k], low = words[(size_t)(w + 1) * n + k];
    const u32 bits = __funnelshift_l(low, high, at % 32);
    const int zeros = min(__clz(bits), 15);
    sum += bits << zeros >> (31 - zeros);
    at += 2 * zeros + 1;
    found++;
  }
  out[k] = make_uint2(found, sum);
}

// ----------------------------------------------------------------------------------------------------- texts and puzzles

// Which numbers of sixteen digits have a right check digit.
__global__ void luhn_checks(const u8* __restrict__ in, u8* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const uint4 v = ((const uint4*)in)[k];
  const u32 words[4] = {v.x, v.y, v.z, v.w};
  int sum = 0;
#pragma unroll
  for (int d = 0; d < 16; d++) {
    int digit = words[d / 4] >> 8 * (d % 4) & 255;
    if (d % 2 == 0) {
      digit *= 2;
      if (digit > 9) digit -= 9;
    }
    sum += digit;
  }
  out[k] = sum % 10 == 0;
}

__constant__ char sound_classes[27] = "01230120022455012623010202";

// Names by their sound: the first letter and three classes of what follows.
__global__ void soundex_codes(const u8* __restrict__ names, u32* __restrict__ out, int n, int pitch) {
  const int k = global_id();
  if (k >= n) return;
  const u8* name = names + (size_t)k * pitch;
  u32 code = name[0] + 'A';
  int used = 1, last = sound_classes[name[0]];
  for (int j = 1; j < pitch && used < 4; j++) {
    const int here = sound_classes[name[j]];
    if (here != '0' && here != last) code |= here << 8 * used++;
    last = here;
  }
  while (used < 4) code |= '0' << 8 * used++;
  out[k] = code;
}

// How far a text reads the same to both sides of each letter.
__global__ void palindrome_radii(const u8* __restrict__ text, int* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  int radius = 0;
  while (k - radius > 0 && k + radius + 1 < n && text[k - radius - 1] == text[k + radius + 1]) radius++;
  out[k] = radius;
}

// The shift of the alphabet that makes a text most like a language; a warp per text.
__global__ void caesar_breaks(const u8* __restrict__ texts, const int* __restrict__ usual, int* __restrict__ out, int n,
                              int length) {
  __shared__ int counts[32][32];
  const int k = global_id() / 32, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (k >= n) return;
  counts[warp][lane] = 0;
  __syncwarp();
  for (int j = lane; j < length; j += 32) atomicAdd(&counts[warp][texts[(size_t)k * length + j]], 1);
  __syncwarp();
  int score = -1;
  if (lane < 26) {
    score = 0;
    for (int letter = 0; letter < 26; letter++) score += usual[letter] * counts[warp][(letter + lane) % 26];
  }
  const int best = __reduce_max_sync(ALL_LANES, score);
  const u32 those = __ballot_sync(ALL_LANES, score == best);
  if (lane == 0) out[k] = __ffs(those) - 1;
}

// Places of symbols in a list whose front is the last symbol; the list is a local array.
__global__ void move_to_front(const u8* __restrict__ in, u8* __restrict__ out, int n, int length) {
  const int k = global_id();
  if (k >= n) return;
  u8 list[64];
  for (int s = 0; s < 64; s++) list[s] = s;
  for (int j = 0; j < length; j++) {
    const u8 symbol = in[(size_t)j * n + k];
    int at = 0;
    u8 held = list[0];
    while (held != symbol) {
      const u8 next = list[++at];
      list[at] = held;
      held = next;
    }
    list[0] = symbol;
    out[(size_t)j * n + k] = at;
  }
}

// Values of heaps in games where six different numbers may be taken away.
__global__ void grundy_counts(const u8* __restrict__ moves, int* __restrict__ out, int n, int heaps) {
  const int k = global_id();
  if (k >= n) return;
  u8 ring[32];
  u8 mine[6];
  for (int m = 0; m < 6; m++) mine[m] = moves[(size_t)m * n + k] + 1;
  for (int s = 0; s < 32; s++) ring[s] = 31;
  int lost = 0;
  for (int heap = 0; heap < heaps; heap++) {
    u32 seen = 0;
#pragma unroll
    for (int m = 0; m < 6; m++)
      if (mine[m] <= heap) seen |= 1u << ring[(heap - mine[m]) & 31];
    const int value = __ffs(~seen) - 1;
    ring[heap & 31] = value;
    lost += value == 0;
  }
  out[k] = lost;
}

// The guess that leaves the fewest codes: codes of four pegs in six colours, counts per thread in shared memory.
__global__ void mastermind_worst(const u32* __restrict__ guesses, const u32* __restrict__ codes, int* __restrict__ out,
                                 int n, int count) {
  extern __shared__ u16 tallies[];
  const int k = global_id(), t = threadIdx.x, width = blockDim.x;
  if (k >= n) return;
  for (int s = 0; s < 25; s++) tallies[s * width + t] = 0;
  const u32 guess = guesses[k];
  for (int c = 0; c < count; c++) {
    const u32 code = codes[c];
    const u32 same = __vcmpeq4(guess, code);
    int both = 0;
#pragma unroll
    for (int colour = 0; colour < 6; colour++) {
      const u32 all = 0x01010101u * colour;
      both += min(__popc(__vcmpeq4(guess, all)), __popc(__vcmpeq4(code, all)));
    }
    const int black = __popc(same) / 8, white = both / 8 - black;
    tallies[(5 * black + white) * width + t]++;
  }
  int worst = 0;
  for (int s = 0; s < 25; s++) worst = max(worst, (int)tallies[s * width + t]);
  out[k] = worst;
}

// A knight goes where the fewest ways lead on, until it is stuck.
__global__ void knight_tours(int* __restrict__ out, int n, u32 seed) {
  const int k = global_id();
  if (k >= n) return;
  Dice dice{hashed(k ^ seed)};
  u64 visited = 0;
  int at = dice.below(64), moves = 0;
  while (true) {
    visited |= 1ull << at;
    int best = -1, fewest = 99;
    for (int m = 0; m < 8; m++) {
      const int dx = (m & 1 ? 2 : 1) * (m & 2 ? 1 : -1), dy = (m & 1 ? 1 : 2) * (m & 4 ? 1 : -1);
      const int x = at % 8 + dx, y = at / 8 + dy;
      if ((x | y) & ~7 || visited >> (8 * y + x) & 1) continue;
      int ways = 0;
      for (int w = 0; w < 8; w++) {
        const int a = x + (w & 1 ? 2 : 1) * (w & 2 ? 1 : -1), b = y + (w & 1 ? 1 : 2) * (w & 4 ? 1 : -1);
        ways += !((a | b) & ~7) && !(visited >> (8 * b + a) & 1);
      }
      ways = 2 * ways + (dice.word() & 1);
      if (ways < fewest) {
        fewest = ways;
        best = 8 * y + x;
      }
    }
    if (best < 0) break;
    at = best;
    moves++;
  }
  out[k] = moves;
}

// Hands of a player who takes cards up to 17, and of the bank.
__global__ void blackjack_hands(int* __restrict__ won, int n, int hands, u32 seed) {
  const int k = global_id();
  int balance = 0;
  if (k < n) {
    Dice dice{hashed(k ^ seed)};
    for (int h = 0; h < hands; h++) {
      int totals[2];
#pragma unroll
      for (int who = 0; who < 2; who++) {
        int total = 0, aces = 0;
        while (total < (who ? 17 : 16)) {
          const int card = min((int)dice.below(13) + 1, 10);
          aces += card == 1;
          total += card == 1 ? 11 : card;
          if (total > 21 && aces) {
            total -= 10;
            aces--;
          }
        }
        totals[who] = total > 21 ? -who : total;
      }
      balance += (totals[0] > totals[1]) - (totals[0] < totals[1]);
    }
  }
  balance = __reduce_add_sync(ALL_LANES, balance);
  if (threadIdx.x % 32 == 0) atomicAdd(won, balance);
}

// Ratings of sixteen players over a season of games; a league per thread, the ratings in a local array.
__global__ void elo_seasons(const u8* __restrict__ games, float* __restrict__ out, int n, int count) {
  const int k = global_id();
  if (k >= n) return;
  float ratings[16];
  for (int p = 0; p < 16; p++) ratings[p] = 1500.0f;
  for (int g = 0; g < count; g++) {
    const int game = games[(size_t)g * n + k], winner = game & 15, loser = game >> 4;
    if (winner == loser) continue;
    const float chance = 1.0f / (1.0f + exp10f((ratings[loser] - ratings[winner]) * 0.0025f));
    ratings[winner] += 24.0f * (1.0f - chance);
    ratings[loser] -= 24.0f * (1.0f - chance);
  }
  for (int p = 0; p < 16; p++) out[(size_t)p * n + k] = ratings[p];
}

// Lines of a picture puzzle: in how many ways do the blocks fit, by a table over the cells in registers.
template <int CELLS>
__global__ void nonogram_ways(const u8* __restrict__ clues, u32* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  u32 ways[CELLS + 2];
#pragma unroll
  for (int c = 0; c < CELLS + 2; c++) ways[c] = 1;
  for (int b = 0; b < 4; b++) {
    const int length = clues[(size_t)b * n + k] + 1;
    u32 fresh[CELLS + 2];
    fresh[0] = 0;
#pragma unroll
    for (int c = 1; c < CELLS + 2; c++) {
      u32 ends_here = 0;
#pragma unroll
      for (int j = 1; j <= 4; j++)
        if (j == length && c >= j + 1) ends_here = ways[c - j - 1];
      fresh[c] = fresh[c - 1] + ends_here;
    }
#pragma unroll
    for (int c = 0; c < CELLS + 2; c++) ways[c] = fresh[c];
  }
  out[k] = ways[CELLS + 1];
}

// --------------------------------------------------------------------------------------------- shared memory and barriers

// In how many ways coins pay each amount, modulo 2^32: a block per set of coins, a barrier per coin.
__global__ void coin_ways(const int* __restrict__ coins, u32* __restrict__ out, int kinds, int most) {
  extern __shared__ u32 ways[];
  for (int a = threadIdx.x; a <= most; a += blockDim.x) ways[a] = a == 0;
  __syncthreads();
  for (int c = 0; c < kinds; c++) {
    const int coin = coins[blockIdx.x * kinds + c] + 1;
    for (int rest = threadIdx.x; rest < coin; rest += blockDim.x) {
      u32 sum = 0;
      for (int a = rest; a <= most; a += coin) ways[a] = sum += ways[a];
    }
    __syncthreads();
  }
  for (int a = threadIdx.x; a <= most; a += blockDim.x) out[(size_t)blockIdx.x * (most + 1) + a] = ways[a];
}

// The longest rising part of a sequence: the least end of each length is in a local array.
__global__ void longest_rising(const int* __restrict__ in, int* __restrict__ out, int n, int length) {
  const int k = global_id();
  if (k >= n) return;
  int ends[128];
  int longest = 0;
  for (int j = 0; j < length; j++) {
    const int v = in[(size_t)j * n + k];
    int low = 0, high = longest;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (ends[middle] < v)
        low = middle + 1;
      else
        high = middle;
    }
    ends[low] = v;
    longest = max(longest, low + 1);
  }
  out[k] = longest;
}

// The row of Pascal's triangle modulo a number; a block per modulus, a barrier per row.
__global__ void pascal_rows(const int* __restrict__ moduli, int* __restrict__ out, int width) {
  extern __shared__ int rows[];
  const int modulus = moduli[blockIdx.x] + 2;
  int *now = rows, *next = rows + width;
  for (int c = threadIdx.x; c < width; c += blockDim.x) now[c] = c == 0;
  for (int row = 1; row < width; row++) {
    __syncthreads();
    for (int c = threadIdx.x; c < width; c += blockDim.x) next[c] = (now[c] + (c ? now[c - 1] : 0)) % modulus;
    int* other = now;
    now = next;
    next = other;
  }
  __syncthreads();
  for (int c = threadIdx.x; c < width; c += blockDim.x) out[(size_t)blockIdx.x * width + c] = now[c];
}

// The shortest ways of two steps: a product of tiles with min and plus.
template <int T>
__global__ void minplus_tiles(const int* __restrict__ a, const int* __restrict__ b, int* __restrict__ out, int n) {
  __shared__ int left[T][T + 1], right[T][T];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, column = blockIdx.x * T + x;
  int best = 1 << 30;
  for (int base = 0; base < n; base += T) {
    left[y][x] = row < n && base + x < n ? a[row * n + base + x] : 1 << 29;
    right[y][x] = base + y < n && column < n ? b[(base + y) * n + column] : 1 << 29;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < T; k++) best = min(best, left[y][k] + right[k][x]);
    __syncthreads();
  }
  if (row < n && column < n) out[row * n + column] = best;
}

__device__ u32 power_modulo(u32 base, u32 exponent, u32 modulus) {
  u32 found = 1;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1) found = found * base % modulus;
    base = base * base % modulus;
  }
  return found;
}

// Ranks of matrices modulo a prime below 2^16 by elimination; a block per matrix.
__global__ void ranks_modulo(const u32* __restrict__ in, int* __restrict__ out, int n, u32 prime) {
  extern __shared__ u32 matrix[];
  __shared__ int pivot;
  __shared__ u32 inverse;
  for (int e = threadIdx.x; e < n * n; e += blockDim.x) matrix[e] = in[(size_t)blockIdx.x * n * n + e];
  int rank = 0;
  for (int column = 0; column < n; column++) {
    if (threadIdx.x == 0) pivot = n;
    __syncthreads();
    for (int r = rank + threadIdx.x; r < n; r += blockDim.x)
      if (matrix[r * n + column]) atomicMin(&pivot, r);
    __syncthreads();
    const int from = pivot;
    if (from == n) {
      __syncthreads();
      continue;
    }
    if (threadIdx.x == 0) inverse = power_modulo(matrix[from * n + column], prime - 2, prime);
    if (from != rank)
      for (int c = threadIdx.x; c < n; c += blockDim.x)
        if (c != column) {
          const u32 held = matrix[from * n + c];
          matrix[from * n + c] = matrix[rank * n + c];
          matrix[rank * n + c] = held;
        }
    __syncthreads();
    if (threadIdx.x == 0 && from != rank) {
      const u32 held = matrix[from * n + column];
      matrix[from * n + column] = matrix[rank * n + column];
      matrix[rank * n + column] = held;
    }
    __syncthreads();
    const int wide = n - column - 1, count = (n - rank - 1) * wide;
    for (int e = threadIdx.x; e < count; e += blockDim.x) {
      const int r = rank + 1 + e / wide, c = column + 1 + e % wide;
      const u32 factor = matrix[r * n + column] * inverse % prime;
      matrix[r * n + c] = (matrix[r * n + c] + (prime - factor) * matrix[rank * n + c]) % prime;
    }
    rank++;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = rank;
}

// Factors of Cholesky; a block per matrix in shared memory, two barriers per column.
__global__ void cholesky_blocks(const float* __restrict__ in, float* __restrict__ out, int n) {
  extern __shared__ float lower[];
  const int pitch = n + 1;
  for (int e = threadIdx.x; e < n * n; e += blockDim.x)
    lower[e / n * pitch + e % n] = in[(size_t)blockIdx.x * n * n + e];
  __syncthreads();
  for (int c = 0; c < n; c++) {
    const float root = rsqrtf(lower[c * pitch + c]);
    __syncthreads();
    for (int r = c + threadIdx.x; r < n; r += blockDim.x) lower[r * pitch + c] *= root;
    __syncthreads();
    const int rest = n - c - 1;
    for (int e = threadIdx.x; e < rest * rest; e += blockDim.x) {
      const int row = c + 1 + e / rest, column = c + 1 + e % rest;
      if (column <= row) lower[row * pitch + column] -= lower[row * pitch + c] * lower[column * pitch + c];
    }
    __syncthreads();
  }
  for (int e = threadIdx.x; e < n * n; e += blockDim.x)
    out[(size_t)blockIdx.x * n * n + e] = e % n <= e / n ? lower[e / n * pitch + e % n] : 0.0f;
}

// The greatest eigenvalue of matrices by repeated products; a block per matrix, a warp per row.
__global__ void power_iterations(const float* __restrict__ in, float* __restrict__ out, int n, int turns) {
  __shared__ float vector[256], product[256], norm;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const float* matrix = in + (size_t)blockIdx.x * n * n;
  for (int k = threadIdx.x; k < n; k += blockDim.x) vector[k] = 1.0f;
  if (threadIdx.x == 0) norm = 1.0f;
  __syncthreads();
  for (int t = 0; t < turns; t++) {
    for (int row = warp; row < n; row += warps) {
      float sum = 0.0f;
      for (int c = lane; c < n; c += 32) sum += matrix[row * n + c] * vector[c];
      for (int by = 16; by; by /= 2) sum += __shfl_down_sync(ALL_LANES, sum, by);
      if (lane == 0) product[row] = sum;
    }
    __syncthreads();
    if (warp == 0) {
      float sum = 0.0f;
      for (int k = lane; k < n; k += 32) sum += product[k] * product[k];
      for (int by = 16; by; by /= 2) sum += __shfl_down_sync(ALL_LANES, sum, by);
      if (lane == 0) norm = sqrtf(sum);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) vector[k] = product[k] / norm;
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = norm;
}

// Haar's wavelets of rows of 32 numbers; a lane per number.
__global__ void haar_rows(const float* __restrict__ in, float* __restrict__ out, int n) {
  const int k = global_id(), lane = threadIdx.x % 32;
  float v = k < n ? in[k] : 0.0f;
#pragma unroll
  for (int by = 1; by < 32; by *= 2) {
    const float other = __shfl_xor_sync(ALL_LANES, v, by);
    if (lane % by == 0) v = 0.5f * (lane & by ? other - v : other + v);
  }
  if (k < n) out[k] = v;
}

// Frames of sound to frequencies as music codecs have them; the cosines are in a shared table.
__global__ void mdct_frames(const float* __restrict__ sound, float* __restrict__ out, int n) {
  extern __shared__ float samples[];
  float* cosines = samples + 2 * n;
  for (int e = threadIdx.x; e < 8 * n; e += blockDim.x) cosines[e] = cospif((float)e / (4 * n));
  for (int e = threadIdx.x; e < 2 * n; e += blockDim.x)
    samples[e] = sound[(size_t)blockIdx.x * n + e] * sinpif((e + 0.5f) / (2 * n));
  __syncthreads();
  for (int k = threadIdx.x; k < n; k += blockDim.x) {
    float sum = 0.0f;
    for (int e = 0; e < 2 * n; e++) sum += samples[e] * cosines[(2 * e + 1 + n) * (2 * k + 1) & 8 * n - 1];
    out[(size_t)blockIdx.x * n + k] = sum;
  }
}

// Columns sorted with shrinking gaps, each by one thread, in shared memory.
__global__ void shell_columns(const int* __restrict__ in, int* __restrict__ out, int n, int length) {
  extern __shared__ int columns[];
  const int k = global_id(), t = threadIdx.x, width = blockDim.x;
  if (k >= n) return;
  for (int j = 0; j < length; j++) columns[j * width + t] = in[(size_t)j * n + k];
  for (int gap = length / 2; gap > 0; gap /= 2)
    for (int j = gap; j < length; j++) {
      const int v = columns[j * width + t];
      int at = j;
      while (at >= gap && columns[(at - gap) * width + t] > v) {
        columns[at * width + t] = columns[(at - gap) * width + t];
        at -= gap;
      }
      columns[at * width + t] = v;
    }
  for (int j = 0; j < length; j++) out[(size_t)j * n + k] = columns[j * width + t];
}

// Polynomials whose factors are rows of a shared tile; a lane walks along its own row. PAD words are behind each row.
template <int PAD>
__global__ void row_walks(const float* __restrict__ in, const float* __restrict__ places, float* __restrict__ out, int n,
                          int times) {
  __shared__ float tiles[4][32][32 + PAD];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = global_id() / 32;
  if (group * 32 >= n) return;
  for (int r = 0; r < 32; r++) tiles[warp][r][lane] = in[((size_t)group * 32 + r) * 32 + lane];
  __syncwarp();
  float x = places[group * 32 + lane], sum = 0.0f;
#pragma unroll 1
  for (int t = 0; t < times; t++) {
    float value = 0.0f;
#pragma unroll
    for (int c = 31; c >= 0; c--) value = value * x + tiles[warp][lane][c];
    sum += value;
    x *= 0.9f;
  }
  out[group * 32 + lane] = sum;
}

// Forces between points of a map that shows many dimensions in two: tiles of all points, a weight for each pair.
__global__ void tsne_forces(const float2* __restrict__ points, float4* __restrict__ out, int n) {
  extern __shared__ float2 tile[];
  const int k = global_id(), t = threadIdx.x;
  const float2 mine = points[min(k, n - 1)];
  float fx = 0.0f, fy = 0.0f, total = 0.0f;
  for (int base = 0; base < n; base += blockDim.x) {
    tile[t] = points[min(base + t, n - 1)];
    __syncthreads();
    const int count = min((int)blockDim.x, n - base);
#pragma unroll 4
    for (int j = 0; j < count; j++) {
      const float dx = mine.x - tile[j].x, dy = mine.y - tile[j].y, w = __fdividef(1.0f, 1.0f + dx * dx + dy * dy);
      total += w;
      fx += w * w * dx;
      fy += w * w * dy;
    }
    __syncthreads();
  }
  if (k < n) out[k] = make_float4(fx, fy, total, 0.0f);
}

// The nearest prototype of samples of 16 numbers: a block per sample, the best one by an atomic of 64 bits.
__global__ void map_winners(const float4* __restrict__ samples, const float4* __restrict__ prototypes,
                            int* __restrict__ out, int count) {
  __shared__ u64 best;
  __shared__ float4 sample[4];
  if (threadIdx.x == 0) best = ~0ull;
  if (threadIdx.x < 4) sample[threadIdx.x] = samples[blockIdx.x * 4 + threadIdx.x];
  __syncthreads();
  u64 mine = ~0ull;
  for (int p = threadIdx.x; p < count; p += blockDim.x) {
    float away = 0.0f;
#pragma unroll
    for (int q = 0; q < 4; q++) {
      const float4 v = prototypes[p * 4 + q], s = sample[q];
      away += (v.x - s.x) * (v.x - s.x) + (v.y - s.y) * (v.y - s.y) + (v.z - s.z) * (v.z - s.z) +
              (v.w - s.w) * (v.w - s.w);
    }
    const u64 packed = (u64)__float_as_uint(away) << 32 | p;
    mine = packed < mine ? packed : mine;
  }
  atomicMin(&best, mine);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = (int)best;
}

// --------------------------------------------------------------------------------------------- groups, queues and atomics

// Sums by label: the lanes that share a label add up first.
__global__ void labelled_sums(const u8* __restrict__ labels, const int* __restrict__ values, int* sums, int n) {
  const int k = global_id();
  if (k >= n) return;
  const auto warp = cg::coalesced_threads();
  const auto group = cg::labeled_partition(warp, (int)labels[k]);
  const int sum = cg::reduce(group, values[k], cg::plus<int>());
  if (group.thread_rank() == 0) atomicAdd(&sums[labels[k]], sum);
}

// Products of pairs of rows; T lanes have a row.
template <int T>
__global__ void tile_dots(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out, int rows,
                          int columns) {
  const auto tile = cg::tiled_partition<T>(cg::this_thread_block());
  const int row = global_id() / T;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = tile.thread_rank(); c < columns; c += T) sum += a[(size_t)row * columns + c] * b[(size_t)row * columns + c];
  sum = cg::reduce(tile, sum, cg::plus<float>());
  if (tile.thread_rank() == 0) out[row] = sum;
}

// The least and the greatest number: the last block that is done looks at what all blocks found.
__global__ void last_block_extremes(const int* __restrict__ in, int2* parts, u32* done, int2* __restrict__ out, int n) {
  __shared__ int2 warps[32];
  __shared__ bool last;
  const int t = threadIdx.x;
  int low = 0x7fffffff, high = 0x80000000;
  for (int k = global_id(); k < n; k += gridDim.x * blockDim.x) {
    low = min(low, in[k]);
    high = max(high, in[k]);
  }
  for (int round = 0; round < 2; round++) {
    low = __reduce_min_sync(ALL_LANES, low);
    high = __reduce_max_sync(ALL_LANES, high);
    if (t % 32 == 0) warps[t / 32] = make_int2(low, high);
    __syncthreads();
    if (t == 0) {
      for (int w = 1; w < (int)blockDim.x / 32; w++) {
        low = min(low, warps[w].x);
        high = max(high, warps[w].y);
      }
      if (round) {
        *out = make_int2(low, high);
      } else {
        parts[blockIdx.x] = make_int2(low, high);
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
      }
    }
    __syncthreads();
    if (round || !last) return;
    __threadfence();
    low = 0x7fffffff;
    high = 0x80000000;
    for (int b = t; b < (int)gridDim.x; b += blockDim.x) {
      const int2 part = __ldcg(&parts[b]);
      low = min(low, part.x);
      high = max(high, part.y);
    }
  }
}

// How many primes divide numbers: warps draw 32 numbers at a time from a queue; the last warp to end clears the queue.
__global__ void drawn_factors(const int* __restrict__ in, int* __restrict__ out, int* queue, int n) {
  const int lane = threadIdx.x % 32;
  while (true) {
    int first = 0;
    if (lane == 0) first = atomicAdd(queue, 32);
    first = __shfl_sync(ALL_LANES, first, 0);
    if (first >= n) break;
    const int k = first + lane;
    if (k < n) {
      int v = in[k] + 2, found = 0;
      for (int d = 2; d * d <= v; d++)
        while (v % d == 0) {
          v /= d;
          found++;
        }
      out[k] = found + (v > 1);
    }
    __syncwarp();
  }
  if (lane == 0 && atomicAdd(&queue[1], 1) == (int)(gridDim.x * blockDim.x / 32) - 1) {
    atomicExch(&queue[0], 0);
    atomicExch(&queue[1], 0);
  }
}

// How many different numbers parts of a list have: a table with open places in shared memory.
__global__ void distinct_in_blocks(const u32* __restrict__ in, int* __restrict__ out, int each, u32 mask) {
  extern __shared__ u32 table[];
  __shared__ int total;
  for (u32 s = threadIdx.x; s <= mask; s += blockDim.x) table[s] = ~0u;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  int fresh = 0;
  for (int k = threadIdx.x; k < each; k += blockDim.x) {
    const u32 key = in[(size_t)blockIdx.x * each + k];
    u32 at = hashed(key) & mask;
    while (true) {
      const u32 held = atomicCAS(&table[at], ~0u, key);
      if (held == ~0u) fresh++;
      if (held == ~0u || held == key) break;
      at = (at + 1) & mask;
    }
  }
  if (fresh) atomicAdd(&total, fresh);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}

// Lists of what belongs to each node: a new element becomes the head.
__global__ void push_to_lists(const int* __restrict__ nodes, int* heads, int* __restrict__ links, int n) {
  const int k = global_id();
  if (k < n) links[k] = atomicExch(&heads[nodes[k]], k);
}

// Which numbers come for the first time, by a map of bits; a word of flags per warp.
__global__ void fresh_by_bitmap(const u32* __restrict__ in, u32* bits, u32* __restrict__ flags, int n) {
  const int k = global_id();
  bool fresh = false;
  if (k < n) {
    const u32 bit = 1u << (in[k] & 31);
    fresh = !(atomicOr(&bits[in[k] >> 5], bit) & bit);
  }
  const u32 those = __ballot_sync(ALL_LANES, fresh);
  if (threadIdx.x % 32 == 0 && k < n) flags[k / 32] = those;
}

// Directions of the corners of a mesh: the sum over the triangles at each of them.
__global__ void corner_normals(const float* __restrict__ corners, const int* __restrict__ triangles, float* normals,
                               int n) {
  const int k = global_id();
  if (k >= n) return;
  float p[3][3];
  int at[3];
#pragma unroll
  for (int c = 0; c < 3; c++) {
    at[c] = triangles[3 * k + c];
#pragma unroll
    for (int d = 0; d < 3; d++) p[c][d] = corners[3 * at[c] + d];
  }
  float normal[3];
#pragma unroll
  for (int d = 0; d < 3; d++) {
    const int a = (d + 1) % 3, b = (d + 2) % 3;
    normal[d] = (p[1][a] - p[0][a]) * (p[2][b] - p[0][b]) - (p[1][b] - p[0][b]) * (p[2][a] - p[0][a]);
  }
#pragma unroll
  for (int c = 0; c < 3; c++)
#pragma unroll
    for (int d = 0; d < 3; d++) atomicAdd(&normals[3 * at[c] + d], normal[d]);
}

// Gradients in half numbers that go to the rows of a table, two numbers per atomic.
__global__ void half_scatter(const int* __restrict__ rows, const __half2* __restrict__ in, __half2* table, int n,
                             int pairs) {
  for (int e = global_id(); e < n * pairs; e += gridDim.x * blockDim.x)
    atomicAdd(&table[rows[e / pairs] * pairs + e % pairs], in[e]);
}

// Energies by bins in double numbers, first in shared memory.
__global__ void energy_bins(const double* __restrict__ energies, double* bins, int n, int count) {
  extern __shared__ double mine[];
  for (int b = threadIdx.x; b < count; b += blockDim.x) mine[b] = 0.0;
  __syncthreads();
  for (int k = global_id(); k < n; k += gridDim.x * blockDim.x) {
    const double energy = energies[k];
    atomicAdd(&mine[min((int)(energy * count), count - 1)], energy * energy);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < count; b += blockDim.x) atomicAdd(&bins[b], mine[b]);
}

// A round of spreading the least label along edges.
__global__ void least_label_round(const int2* __restrict__ edges, const int* __restrict__ labels, int* fresh, int n) {
  const int k = global_id();
  if (k >= n) return;
  const int2 edge = edges[k];
  const int a = labels[edge.x], b = labels[edge.y];
  if (a < b)
    atomicMin(&fresh[edge.y], a);
  else if (b < a)
    atomicMin(&fresh[edge.x], b);
}

// The root above each node: links are followed to their end.
__global__ void jump_to_roots(const int* __restrict__ above, int* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  int at = k, up = above[k];
  while (up != at) {
    at = up;
    up = above[at];
  }
  out[k] = at;
}

// Numbers of the gamma distribution: draw until one is taken.
__global__ void gamma_draws(const float* __restrict__ shapes, float* __restrict__ out, int n, int draws, u32 seed) {
  const int k = global_id();
  if (k >= n) return;
  Dice dice{hashed(k ^ seed)};
  const float d = shapes[k] + 0.7f, c = rsqrtf(9.0f * d);
  float sum = 0.0f;
  for (int j = 0; j < draws; j++) {
    while (true) {
      const float radius = sqrtf(-2.0f * __logf(dice.part())), x = radius * __cosf(6.2831853f * dice.part());
      const float root = 1.0f + c * x, v = root * root * root, part = dice.part();
      if (v > 0.0f && __logf(part) < 0.5f * x * x + d - d * v + d * __logf(v)) {
        sum += d * v;
        break;
      }
    }
  }
  out[k] = sum / draws;
}

// Numbers of the Poisson distribution by products of random parts.
__global__ void poisson_draws(const float* __restrict__ means, int* __restrict__ out, int n, int draws, u32 seed) {
  const int k = global_id();
  if (k >= n) return;
  Dice dice{hashed(k ^ seed)};
  const float least = expf(-means[k]);
  int sum = 0;
  for (int j = 0; j < draws; j++) {
    float product = dice.part();
    while (product > least) {
      product *= dice.part();
      sum++;
    }
  }
  out[k] = sum;
}

// ------------------------------------------------------------------------------------------------ tensor cores and copies

// How many bits the nearest of `count` codes of 256 bits differs in; a warp has 16 codes to look up.
__global__ void hamming_mma(const u32* __restrict__ wanted, const u32* __restrict__ codes, int* __restrict__ out, int n,
                            int count) {
  const int first = global_id() / 32 * 16, group = threadIdx.x % 32 / 4, place = threadIdx.x % 4;
  if (first >= n) return;
  const u32* from = wanted + (size_t)(first + group) * 8 + place;
  const u32 a0 = from[0], a1 = from[64], a2 = from[4], a3 = from[68];
  int best[2] = {999, 999};
  for (int base = 0; base < count; base += 8) {
    const u32* code = codes + (base + group) * 8 + place;
    int away[4] = {};
    asm volatile(
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(away[0]), "+r"(away[1]), "+r"(away[2]), "+r"(away[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(code[0]), "r"(code[4]));
    best[0] = min(best[0], min(away[0], away[1]));
    best[1] = min(best[1], min(away[2], away[3]));
  }
#pragma unroll
  for (int h = 0; h < 2; h++) {
    best[h] = min(best[h], __shfl_xor_sync(ALL_LANES, best[h], 1));
    best[h] = min(best[h], __shfl_xor_sync(ALL_LANES, best[h], 2));
    if (place == 0) out[first + group + 8 * h] = best[h];
  }
}

// Chains of Markov with 16 states in half numbers: eight distributions per warp, step by step on tensor cores.
__global__ void markov_half(const u32* __restrict__ matrix, const u32* __restrict__ start, u32* __restrict__ out, int n,
                            int steps) {
  const int warp = global_id() / 32, group = threadIdx.x % 32 / 4, place = threadIdx.x % 4;
  if (warp * 8 >= n) return;
  const u32 a0 = matrix[8 * group + place], a1 = matrix[8 * group + 64 + place];
  const u32 a2 = matrix[8 * group + place + 4], a3 = matrix[8 * group + 64 + place + 4];
  const size_t at = (size_t)(warp * 8 + group) * 8 + place;
  u32 b0 = start[at], b1 = start[at + 4];
  for (int t = 0; t < steps; t++) {
    u32 d0 = 0, d1 = 0;
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
        : "+r"(d0), "+r"(d1)
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(b0) : "r"(d0));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(b1) : "r"(d1));
  }
  out[at] = b0;
  out[at + 4] = b1;
}

// x M x for rows x of eight double numbers; a warp has eight rows at a time.
__global__ void mahalanobis_mma(const double* __restrict__ rows, const double* __restrict__ matrix,
                                double* __restrict__ out, int n) {
  const int group = threadIdx.x % 32 / 4, place = threadIdx.x % 4;
  const double b0 = matrix[place * 8 + group], b1 = matrix[(place + 4) * 8 + group];
  for (int first = global_id() / 32 * 8; first < n; first += gridDim.x * blockDim.x / 4) {
    const double* row = rows + (size_t)(first + group) * 8;
    double c0 = 0.0, c1 = 0.0;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c0), "+d"(c1)
                 : "d"(row[place]), "d"(b0));
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c0), "+d"(c1)
                 : "d"(row[place + 4]), "d"(b1));
    double sum = c0 * row[2 * place] + c1 * row[2 * place + 1];
    sum += __shfl_xor_sync(ALL_LANES, sum, 1);
    sum += __shfl_xor_sync(ALL_LANES, sum, 2);
    if (place == 0) out[first + group] = sum;
  }
}

// A stencil of five points: a block goes down a strip, and the row after the next one arrives meanwhile.
__global__ void async_row_stencil(const float* __restrict__ in, float* __restrict__ out, int width, int height,
                                  int rows) {
  extern __shared__ float ring[];
  const int t = threadIdx.x, pitch = blockDim.x + 2, left = blockIdx.x * blockDim.x - 1, x = left + 1 + t;
  const int first = blockIdx.y * rows, end = min(first + rows, height);
  const auto fetch = [&](int y) {
    const int row = min(max(y, 0), height - 1);
    for (int c = t; c < pitch; c += blockDim.x)
      __pipeline_memcpy_async(&ring[(y + 1 & 3) * pitch + c], &in[(size_t)row * width + min(max(left + c, 0), width - 1)],
                              4);
    __pipeline_commit();
  };
  for (int y = first - 1; y < first + 2; y++) fetch(y);
  for (int y = first; y < end; y++) {
    fetch(y + 2);
    __pipeline_wait_prior(1);
    __syncthreads();
    const float* row = ring + (y + 1 & 3) * pitch + t;
    const float sides = ring[(y & 3) * pitch + t + 1] + ring[(y + 2 & 3) * pitch + t + 1] + row[0] + row[2];
    if (x < width) out[(size_t)y * width + x] = 0.5f * row[1] + 0.125f * sides;
    __syncthreads();
  }
  __pipeline_wait_prior(0);
}

// Rows divided by their greatest number; they come and go by bulk copies.
__global__ void bulk_scaled_rows(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
  extern __shared__ __align__(16) float held[];
  __shared__ __align__(8) u64 arrived;
  __shared__ float greatest[32];
  const int t = threadIdx.x;
  const u32 barrier = shared_address(&arrived), bytes = 4 * columns;
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  u32 phase = 0;
  for (int row = blockIdx.x; row < rows; row += gridDim.x, phase ^= 1) {
    if (t == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       shared_address(held)),
                   "l"(__cvta_generic_to_global(in + (size_t)row * columns)), "r"(bytes), "r"(barrier)
                   : "memory");
    }
    for (u32 done = 0; !done;)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(barrier), "r"(phase)
                   : "memory");
    float most = 0.0f;
    for (int c = t; c < columns; c += blockDim.x) most = fmaxf(most, fabsf(held[c]));
    for (int by = 16; by; by /= 2) most = fmaxf(most, __shfl_xor_sync(ALL_LANES, most, by));
    if (t % 32 == 0) greatest[t / 32] = most;
    __syncthreads();
    for (int w = 0; w < (int)blockDim.x / 32; w++) most = fmaxf(most, greatest[w]);
    for (int c = t; c < columns; c += blockDim.x) held[c] /= most;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                       __cvta_generic_to_global(out + (size_t)row * columns)),
                   "r"(shared_address(held)), "r"(bytes)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;" ::: "memory");
    }
  }
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// ------------------------------------------------------------------------------------------------- pictures and geometry

__constant__ int dither_levels[64] = {0,  32, 8,  40, 2,  34, 10, 42, 48, 16, 56, 24, 50, 18, 58, 26,
                                      12, 44, 4,  36, 14, 46, 6,  38, 60, 28, 52, 20, 62, 30, 54, 22,
                                      3,  35, 11, 43, 1,  33, 9,  41, 51, 19, 59, 27, 49, 17, 57, 25,
                                      15, 47, 7,  39, 13, 45, 5,  37, 63, 31, 55, 23, 61, 29, 53, 21};

// Black and white by a pattern of levels; a thread has four pixels.
__global__ void ordered_dither(const uchar4* __restrict__ in, uchar4* __restrict__ out, int quads, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= quads || y >= height) return;
  const int* levels = dither_levels + y % 8 * 8 + x % 2 * 4;
  const uchar4 v = in[y * quads + x];
  out[y * quads + x] = make_uchar4(v.x > 4 * levels[0] ? 255 : 0, v.y > 4 * levels[1] ? 255 : 0,
                                   v.z > 4 * levels[2] ? 255 : 0, v.w > 4 * levels[3] ? 255 : 0);
}

// The first half of a round of thinning: takes pixels from the border of a shape, which stays in one piece.
__global__ void zhang_thin(const u8* __restrict__ in, u8* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  u8 keep = in[y * width + x];
  if (keep && x > 0 && y > 0 && x < width - 1 && y < height - 1) {
    const u8* at = in + y * width + x;
    const int ring[8] = {at[-width], at[1 - width], at[1], at[width + 1], at[width], at[width - 1], at[-1],
                         at[-width - 1]};
    int count = 0, rises = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
      count += ring[k];
      rises += !ring[k] && ring[(k + 1) % 8];
    }
    if (count >= 2 && count <= 6 && rises == 1 && !(ring[0] && ring[2] && ring[4]) && !(ring[2] && ring[4] && ring[6]))
      keep = 0;
  }
  out[y * width + x] = keep;
}

// A view out of a picture of all directions.
__global__ void panorama_views(const float* __restrict__ around, float* __restrict__ out, int width, int height, int wide,
                               int high, float turn, float tilt) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float a = (2.0f * x - width) / width, b = (2.0f * y - height) / width;
  const float s = sinf(tilt), c = cosf(tilt), down = b * c + s, ahead = c - b * s;
  const float east = atan2f(a, ahead) + turn, south = atan2f(down, sqrtf(a * a + ahead * ahead));
  float u = (east * 0.15915494f + 0.5f) * wide, v = (south * 0.31830989f + 0.5f) * (high - 1);
  const int column = (int)floorf(u), row = min(max((int)v, 0), high - 2);
  u -= column;
  v -= row;
  const int here = (column % wide + wide) % wide, next = here + 1 == wide ? 0 : here + 1;
  const float* above = around + row * wide;
  const float* below = above + wide;
  out[y * width + x] = (1.0f - v) * ((1.0f - u) * above[here] + u * above[next]) +
                       v * ((1.0f - u) * below[here] + u * below[next]);
}

// Each pixel mixed with those on the way to the middle of the picture.
__global__ void zoom_blur(const u8* __restrict__ in, u8* __restrict__ out, int width, int height, int steps) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int dx = width / 2 - x, dy = height / 2 - y;
  int sum = 0;
  for (int s = 0; s < steps; s++) sum += in[(y + dy * s / (2 * steps)) * width + x + dx * s / (2 * steps)];
  out[y * width + x] = sum / steps;
}

__constant__ float planes[24] = {0.8f, 0.0f,  0.6f, 0.1f, -0.8f, 0.0f, 0.6f, 0.1f, 0.0f, 0.8f, 0.6f,  0.2f,
                                 0.0f, -0.8f, 0.6f, 0.2f, 0.0f,  0.0f, 1.0f, 0.0f, 0.0f, 0.0f, -1.0f, 2.0f};

// Which balls are in sight of a camera: a word of flags per warp, and how many there are.
__global__ void frustum_flags(const float4* __restrict__ balls, u32* __restrict__ flags, int* count, int n) {
  const int k = global_id();
  bool seen = k < n;
  if (seen) {
    const float4 ball = balls[k];
    for (int p = 0; p < 6 && seen; p++)
      seen = planes[4 * p] * ball.x + planes[4 * p + 1] * ball.y + planes[4 * p + 2] * ball.z + planes[4 * p + 3] >
             -0.1f * ball.w;
  }
  const u32 those = __ballot_sync(ALL_LANES, seen);
  if (threadIdx.x % 32 == 0 && k < n) {
    flags[k / 32] = those;
    if (those) atomicAdd(count, __popc(those));
  }
}

struct Point {
  float x, y, z;
  __device__ Point operator-(Point o) const { return {x - o.x, y - o.y, z - o.z}; }
  __device__ Point operator*(float s) const { return {x * s, y * s, z * s}; }
  __device__ float dot(Point o) const { return x * o.x + y * o.y + z * o.z; }
};

// How far points are from triangles: from a corner, a side or the middle.
__global__ void triangle_distances(const Point* __restrict__ points, const Point* __restrict__ triangles,
                                   float* __restrict__ out, int n, int count) {
  const int k = global_id();
  if (k >= n) return;
  const Point p = points[k];
  float least = 1e30f;
  for (int t = 0; t < count; t++) {
    const Point a = triangles[3 * t], ab = triangles[3 * t + 1] - a, ac = triangles[3 * t + 2] - a, ap = p - a;
    const float d1 = ab.dot(ap), d2 = ac.dot(ap), d3 = d1 - ab.dot(ab), d4 = d2 - ab.dot(ac);
    const float d5 = d1 - ab.dot(ac), d6 = d2 - ac.dot(ac);
    const float va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    float s, r;
    if (d1 <= 0.0f && d2 <= 0.0f) {
      s = r = 0.0f;
    } else if (d3 >= 0.0f && d4 <= d3) {
      s = 1.0f;
      r = 0.0f;
    } else if (d6 >= 0.0f && d5 <= d6) {
      s = 0.0f;
      r = 1.0f;
    } else if (vc <= 0.0f && d1 >= 0.0f && d3 <= 0.0f) {
      s = d1 / (d1 - d3);
      r = 0.0f;
    } else if (vb <= 0.0f && d2 >= 0.0f && d6 <= 0.0f) {
      s = 0.0f;
      r = d2 / (d2 - d6);
    } else if (va <= 0.0f && d4 >= d3 && d5 >= d6) {
      r = (d4 - d3) / (d4 - d3 + d5 - d6);
      s = 1.0f - r;
    } else {
      const float whole = 1.0f / (va + vb + vc);
      s = vb * whole;
      r = vc * whole;
    }
    const Point away = ap - ab * s - ac * r;
    least = fminf(least, away.dot(away));
  }
  out[k] = sqrtf(least);
}

// Bits of three coordinates in turn: keys of 63 bits.
__global__ void morton_cells(const float* __restrict__ points, u64* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  u64 key = 0;
#pragma unroll
  for (int d = 0; d < 3; d++) {
    u64 bits = (u64)(points[3 * (size_t)k + d] * 2097151.0f);
    bits = (bits | bits << 32) & 0x1f00000000ffffull;
    bits = (bits | bits << 16) & 0x1f0000ff0000ffull;
    bits = (bits | bits << 8) & 0x100f00f00f00f00full;
    bits = (bits | bits << 4) & 0x10c30c30c30c30c3ull;
    bits = (bits | bits << 2) & 0x1249249249249249ull;
    key |= bits << d;
  }
  out[k] = key;
}

// Values of a table of SIDE^3 numbers along a straight way through it.
template <int SIDE>
__global__ void table_ways(const float* __restrict__ table, const float* __restrict__ points, float* __restrict__ out,
                           int n, int steps) {
  const int k = global_id();
  if (k >= n) return;
  float x = points[k], y = points[n + k], z = points[2 * n + k], sum = 0.0f;
  for (int t = 0; t < steps; t++) {
    const float a = x * (SIDE - 1), b = y * (SIDE - 1), c = z * (SIDE - 1);
    const int i = min((int)a, SIDE - 2), j = min((int)b, SIDE - 2), h = min((int)c, SIDE - 2);
    const float u = a - i, v = b - j, w = c - h, *at = table + (h * SIDE + j) * SIDE + i;
    float level[2];
#pragma unroll
    for (int s = 0; s < 2; s++) {
      const float* from = at + s * SIDE * SIDE;
      level[s] = (1.0f - v) * ((1.0f - u) * from[0] + u * from[1]) +
                 v * ((1.0f - u) * from[SIDE] + u * from[SIDE + 1]);
    }
    sum += level[0] + w * (level[1] - level[0]);
    x *= 0.95f;
    y += 0.05f * (1.0f - y);
    z = 0.98f * z + 0.01f;
  }
  out[k] = sum;
}

// What a coarse grid says is added to a fine one.
__global__ void prolong_grid(const float* __restrict__ coarse, float* __restrict__ fine, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int wide = width / 2 + 1, i = x / 2, j = y / 2, right = x & 1, down = (y & 1) * wide;
  const float* at = coarse + j * wide + i;
  fine[y * width + x] = 0.25f * (at[0] + at[right] + at[down] + at[down + right]);
}

// ------------------------------------------------------------------------------------------------- learning and finance

// x tanh(log(1 + e^x)) of pairs of bfloat16.
__global__ void mish_pairs(const u16* __restrict__ in, u16* __restrict__ out, int pairs) {
  for (int k = global_id(); k < pairs; k += gridDim.x * blockDim.x) {
    const float2 v = __bfloat1622float2(((const __nv_bfloat162*)in)[k]);
    ((__nv_bfloat162*)out)[k] =
        __floats2bfloat162_rn(v.x * tanhf(log1pf(__expf(v.x))), v.y * tanhf(log1pf(__expf(v.y))));
  }
}

// Softmax of rows of 256 half numbers with a slope along the row; a warp per row.
__global__ void alibi_rows(const uint4* __restrict__ in, uint4* __restrict__ out, int rows, float slope) {
  const int row = global_id() / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  uint4 held = in[(size_t)row * 32 + lane];
  __half2* pairs = (__half2*)&held;
  const __half2 step = __float2half2_rn(slope);
  __half2 most = __float2half2_rn(-60000.0f);
#pragma unroll
  for (int p = 0; p < 4; p++) {
    const float at = 8.0f * lane + 2.0f * p - 255.0f;
    pairs[p] = __hfma2(step, __floats2half2_rn(at, at + 1.0f), pairs[p]);
    most = __hmax2(most, pairs[p]);
  }
#pragma unroll
  for (int by = 1; by < 32; by *= 2) most = __hmax2(most, __shfl_xor_sync(ALL_LANES, most, by));
  const __half2 top = __half2half2(__hmax(__low2half(most), __high2half(most)));
  float sum = 0.0f;
#pragma unroll
  for (int p = 0; p < 4; p++) {
    pairs[p] = h2exp(__hsub2(pairs[p], top));
    sum += __low2float(pairs[p]) + __high2float(pairs[p]);
  }
#pragma unroll
  for (int by = 1; by < 32; by *= 2) sum += __shfl_xor_sync(ALL_LANES, sum, by);
  const __half2 scale = __float2half2_rn(1.0f / sum);
#pragma unroll
  for (int p = 0; p < 4; p++) pairs[p] = __hmul2(pairs[p], scale);
  out[(size_t)row * 32 + lane] = held;
}

// Scores of examples by all pairs of their features: a warp per example, a lane per number of a feature's vector.
__global__ void machine_scores(const int* __restrict__ features, const float* __restrict__ vectors,
                               const float* __restrict__ weights, float* __restrict__ out, int n, int fields) {
  const int k = global_id() / 32, lane = threadIdx.x % 32;
  if (k >= n) return;
  float sum = 0.0f, squares = 0.0f, linear = 0.0f;
  for (int e = 0; e < fields; e++) {
    const int feature = __ldg(&features[k * fields + e]);
    const float v = vectors[(size_t)feature * 32 + lane];
    sum += v;
    squares += v * v;
    if (e % 32 == lane) linear += weights[feature];
  }
  float score = 0.5f * (sum * sum - squares) + linear;
  for (int by = 16; by; by /= 2) score += __shfl_xor_sync(ALL_LANES, score, by);
  if (lane == 0) out[k] = 1.0f / (1.0f + __expf(-score));
}

// The likeliest of 16 classes for texts, by a table of logarithms per word.
__global__ void bayes_classes(const int* __restrict__ starts, const int* __restrict__ words,
                              const float4* __restrict__ logs, int* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  float sums[16] = {};
  for (int e = starts[k]; e < starts[k + 1]; e++) {
    const float4* row = logs + words[e] * 4;
#pragma unroll
    for (int q = 0; q < 4; q++) {
      const float4 v = row[q];
      sums[4 * q] += v.x;
      sums[4 * q + 1] += v.y;
      sums[4 * q + 2] += v.z;
      sums[4 * q + 3] += v.w;
    }
  }
  int best = 0;
#pragma unroll
  for (int c = 1; c < 16; c++)
    if (sums[c] > sums[best]) best = c;
  out[k] = best;
}

struct Credit {
  float hazard, rate;
  int quarters;
};

// What insurance against a default costs per year.
__global__ void default_spreads(const float* __restrict__ hazards, const float* __restrict__ rates,
                                const int* __restrict__ terms, float* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const Credit credit = {0.005f + 0.1f * hazards[k], 0.05f * rates[k], terms[k] + 1};
  float paid = 0.0f, insured = 0.0f, alive = 1.0f;
  for (int q = 1; q <= credit.quarters; q++) {
    const float discount = expf(-0.25f * credit.rate * q), later = expf(-0.25f * credit.hazard * q);
    paid += 0.125f * discount * (alive + later);
    insured += 0.6f * discount * (alive - later);
    alive = later;
  }
  out[k] = insured / paid;
}

// The rate at which payments at any days are worth nothing, by Newton.
__global__ void return_rates(const float* __restrict__ payments, const int* __restrict__ days, float* __restrict__ out,
                             int n, int count) {
  const int k = global_id();
  if (k >= n) return;
  float rate = 0.1f;
  for (int turn = 0; turn < 40; turn++) {
    float value = -100.0f, slope = 0.0f;
    const float base = log1pf(rate);
    for (int p = 0; p < count; p++) {
      const float years = (days[(size_t)p * n + k] + 30) * (1.0f / 365.0f);
      const float worth = (5.0f + 25.0f * payments[(size_t)p * n + k]) * expf(-years * base);
      value += worth;
      slope -= years * worth;
    }
    const float step = value * (1.0f + rate) / slope;
    rate = fmaxf(rate - step, -0.9f);
    if (fabsf(step) < 1e-5f) break;
  }
  out[k] = rate;
}

// When Easter is: month * 32 + day.
__global__ void easter_dates(int* __restrict__ out, int n, int first) {
  const int k = global_id();
  if (k >= n) return;
  const int year = first + k, a = year % 19, b = year / 100, c = year % 100, d = b / 4, e = b % 4;
  const int g = (8 * b + 13) / 25, h = (19 * a + b - d - g + 15) % 30, m = (a + 11 * h) / 319;
  const int r = (2 * e + 2 * (c / 4) - c % 4 - h + m + 32) % 7, month = (h - m + r + 90) / 25;
  out[k] = 32 * month + (h - m + r + month + 19) % 32;
}

// ------------------------------------------------------------------------------------------ long code, stacks and kinds

// ROUNDS rounds of mixing with a constant each, all in one piece of code.
template <int ROUNDS>
__global__ void unrolled_rounds(u32* __restrict__ out, int n, int turns) {
  const int k = global_id();
  if (k >= n) return;
  u32 a = k, b = ~k;
#pragma unroll 1
  for (int t = 0; t < turns; t++) {
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
      a = (a ^ b) * (2654435761u * (2 * r + 1)) + r;
      b = __funnelshift_l(b, b, r % 31 + 1) + a;
    }
  }
  out[k] = a ^ b;
}

// A filter whose TAPS factors the compiler knows.
template <int TAPS>
__global__ void constant_taps(const float* __restrict__ in, float* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < TAPS; j++) sum += in[k + j] * ((j * 37 % 101 - 50) * 0.01f);
  out[k] = sum;
}

// e to the power of matrices of 6 x 6 by TERMS terms; at most 80 registers per thread.
template <int TERMS>
__global__ void __launch_bounds__(128, 6)
matrix_exponentials(const float* __restrict__ in, float* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  float matrix[36], sum[36];
#pragma unroll
  for (int e = 0; e < 36; e++) {
    matrix[e] = in[(size_t)e * n + k];
    sum[e] = e % 7 == 0;
  }
#pragma unroll 1
  for (int t = TERMS; t > 0; t--) {
    const float factor = 1.0f / t;
    float next[36];
#pragma unroll
    for (int r = 0; r < 6; r++)
#pragma unroll
      for (int c = 0; c < 6; c++) {
        float dot = 0.0f;
#pragma unroll
        for (int j = 0; j < 6; j++) dot += matrix[6 * r + j] * sum[6 * j + c];
        next[6 * r + c] = dot * factor + (r == c);
      }
#pragma unroll
    for (int e = 0; e < 36; e++) sum[e] = next[e];
  }
#pragma unroll
  for (int e = 0; e < 36; e++) out[(size_t)e * n + k] = sum[e];
}

// Short lists sorted by parts with a stack of one's own, all in local memory.
template <int N>
__global__ void quicksort_local(const int* __restrict__ in, int* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  int list[N];
  uchar2 stack[16];
  for (int j = 0; j < N; j++) list[j] = in[(size_t)j * n + k];
  int top = 0;
  stack[top++] = make_uchar2(0, N - 1);
  while (top) {
    const uchar2 part = stack[--top];
    int low = part.x, high = part.y;
    while (low < high) {
      const int pivot = list[(low + high) / 2];
      int a = low, b = high;
      while (a <= b) {
        while (list[a] < pivot) a++;
        while (list[b] > pivot) b--;
        if (a <= b) {
          const int held = list[a];
          list[a++] = list[b];
          list[b--] = held;
        }
      }
      if (b - low < high - a) {
        if (a < high) stack[top++] = make_uchar2(a, high);
        high = b;
      } else {
        if (low < b) stack[top++] = make_uchar2(low, b);
        low = a;
      }
    }
  }
  for (int j = 0; j < N; j++) out[(size_t)j * n + k] = list[j];
}

enum Kind { CIRCLE, ELLIPSE, TRIANGLE, POLYGON, CAPSULE, SPIRAL };

// Lengths around shapes of six kinds.
__global__ void mixed_outlines(const int* __restrict__ kinds, const float* __restrict__ sizes, float* __restrict__ out,
                               int n) {
  const int k = global_id();
  if (k >= n) return;
  const float a = sizes[2 * k] + 0.5f, b = sizes[2 * k + 1] + 0.5f;
  float length = 0.0f;
  switch (kinds[k]) {
    case CIRCLE:
      length = 6.2831853f * a;
      break;
    case ELLIPSE:
      length = 3.1415927f * (3.0f * (a + b) - sqrtf((3.0f * a + b) * (a + 3.0f * b)));
      break;
    case TRIANGLE:
      length = a + b + sqrtf(a * a + b * b - 2.0f * a * b * cosf(a + b));
      break;
    case POLYGON: {
      const int corners = 3 + (int)(4.0f * b);
      length = 2.0f * corners * a * sinf(3.1415927f / corners);
      break;
    }
    case CAPSULE:
      length = 6.2831853f * a + 2.0f * b;
      break;
    case SPIRAL:
      for (int s = 0; s < 40; s++) length += 0.1f * a * expf(-0.1f * b * s) * sqrtf(1.0f + 0.01f * b * b);
      break;
  }
  out[k] = length;
}

// Sums of the rows of a matrix, each by one thread.
__global__ void sums_along_rows(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
  const int row = global_id();
  if (row >= rows) return;
  float sum = 0.0f;
#pragma unroll 4
  for (int c = 0; c < columns; c++) sum += in[(size_t)row * columns + c];
  out[row] = sum;
}

// Bytes as two letters each; a thread has four.
__global__ void hex_dump(const u32* __restrict__ in, uint2* __restrict__ out, int n) {
  for (int k = global_id(); k < n; k += gridDim.x * blockDim.x) {
    const u32 v = in[k];
    u32 words[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const u32 bytes = v >> 16 * h & 0xffff, spread = (bytes | bytes << 8) & 0x00ff00ff;
      const u32 digits = (spread >> 4 | spread << 8) & 0x0f0f0f0f;
      const u32 letters = (digits + 0x06060606 >> 4) & 0x01010101;
      words[h] = digits + 0x30303030 + letters * 39;
    }
    out[k] = make_uint2(words[0], words[1]);
  }
}
