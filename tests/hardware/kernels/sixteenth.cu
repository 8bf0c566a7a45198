// Kernels for tests/hardware/sixteenth_cases.py: other ones than those of the fifteen sets before, as programs have
// them.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
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

// --------------------------------------------------------------------------------------------------- chains and series

__device__ __forceinline__ float2 growth(float2 s) {
  return make_float2(s.x * (1.1f - 0.4f * s.y), s.y * (0.1f * s.x - 0.4f));
}

// Rabbits and foxes over the years, by the fourth order of Runge and Kutta.
__global__ void predator_prey(const float2* __restrict__ start, float2* __restrict__ out, int n, int steps, float dt) {
  const int k = global_id();
  if (k >= n) return;
  float2 s = make_float2(start[k].x + 1.0f, start[k].y + 1.0f);
  for (int t = 0; t < steps; t++) {
    const float2 a = growth(s);
    const float2 b = growth(make_float2(s.x + 0.5f * dt * a.x, s.y + 0.5f * dt * a.y));
    const float2 c = growth(make_float2(s.x + 0.5f * dt * b.x, s.y + 0.5f * dt * b.y));
    const float2 d = growth(make_float2(s.x + dt * c.x, s.y + dt * c.y));
    s.x += dt / 6.0f * (a.x + 2.0f * (b.x + c.x) + d.x);
    s.y += dt / 6.0f * (a.y + 2.0f * (b.y + c.y) + d.y);
  }
  out[k] = s;
}

__constant__ float acid_steps[8] = {3.9f, 4.1f, 8.3f, 10.1f, 3.3f, 6.0f, 10.5f, 12.5f};

// The acidity at which a protein has no charge, from how often it has each of eight groups: five acids, three bases.
__global__ void isoelectric_points(const u8* __restrict__ counts, float* __restrict__ out, int n, int turns) {
  const int k = global_id();
  if (k >= n) return;
  float of[8];
#pragma unroll
  for (int g = 0; g < 8; g++) of[g] = counts[g * n + k] + 1.0f;
  float low = 0.0f, high = 14.0f;
  for (int t = 0; t < turns; t++) {
    const float middle = 0.5f * (low + high);
    float charge = 0.0f;
#pragma unroll
    for (int g = 0; g < 8; g++) {
      const float share = of[g] / (1.0f + exp10f(g < 5 ? acid_steps[g] - middle : middle - acid_steps[g]));
      charge += g < 5 ? -share : share;
    }
    if (charge > 0.0f)
      low = middle;
    else
      high = middle;
  }
  out[k] = low;
}

// What loans cost in interest over their months, and what the last month leaves.
__global__ void mortgage_tables(const double* __restrict__ rates, const int* __restrict__ months,
                                double2* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const double rate = (0.01 + 0.05 * rates[k]) / 12.0;
  const int count = months[k] + 12;
  const double pay = 1000.0 * rate / (1.0 - pow(1.0 + rate, (double)-count));
  double debt = 1000.0, interest = 0.0;
  for (int m = 0; m < count; m++) {
    const double due = debt * rate;
    interest += due;
    debt += due - pay;
  }
  out[k] = make_double2(interest, debt);
}

// Latitude and height over the ellipsoid of points that are given by their distance from the axis and the equator.
__global__ void geodetic_heights(const double2* __restrict__ points, double2* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const double a = 6378.137, e2 = 0.00669437999014;
  const double p = 4000.0 + 3000.0 * points[k].x, z = 5000.0 * points[k].y;
  double latitude = atan2(z, p * (1.0 - e2)), height = 0.0, apart = 1.0;
  while (apart > 1e-11) {
    double sine, cosine;
    sincos(latitude, &sine, &cosine);
    const double radius = a / sqrt(1.0 - e2 * sine * sine);
    height = p / cosine - radius;
    const double next = atan2(z, p * (1.0 - e2 * radius / (radius + height)));
    apart = fabs(next - latitude);
    latitude = next;
  }
  out[k] = make_double2(latitude, height);
}

// Semi-major axis, eccentricity and inclination of orbits from place and speed; the planet's gravity is 1.
__global__ void orbit_elements(const double* __restrict__ states, double* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  double r[3], v[3];
#pragma unroll
  for (int d = 0; d < 3; d++) {
    r[d] = 1.0 + states[d * n + k];
    v[d] = states[(d + 3) * n + k] - 0.5;
  }
  const double h0 = r[1] * v[2] - r[2] * v[1], h1 = r[2] * v[0] - r[0] * v[2], h2 = r[0] * v[1] - r[1] * v[0];
  const double distance = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
  const double speed = v[0] * v[0] + v[1] * v[1] + v[2] * v[2], h = sqrt(h0 * h0 + h1 * h1 + h2 * h2);
  const double axis = 1.0 / (2.0 / distance - speed);
  out[k] = axis;
  out[n + k] = sqrt(fmax(1.0 - h * h / axis, 0.0));
  out[2 * n + k] = acos(h2 / h);
}

__constant__ float tide_speeds[12] = {0.5059f, 0.5236f, 0.4964f, 0.2625f, 0.2434f, 0.2611f,
                                      0.2338f, 0.4874f, 0.5251f, 1.0117f, 0.0082f, 0.0144f};
__constant__ float tide_heights_of[12] = {1.9f,  0.65f, 0.38f, 0.2f,  0.14f, 0.07f,
                                          0.03f, 0.05f, 0.18f, 0.11f, 0.02f, 0.08f};

// Height of the tide hour by hour: the greatest of several hours per thread.
__global__ void tide_tables(float* __restrict__ out, int n, int hours, float apart) {
  const int k = global_id();
  if (k >= n) return;
  float greatest = -10.0f;
  for (int h = 0; h < hours; h++) {
    const float t = (k + h) * apart;
    float level = 0.0f;
#pragma unroll
    for (int c = 0; c < 12; c++) level += tide_heights_of[c] * cosf(tide_speeds[c] * t + 0.7f * c);
    greatest = fmaxf(greatest, level);
  }
  out[k] = greatest;
}

__constant__ int tax_limits[8] = {0, 9000, 17000, 31000, 58000, 96000, 180000, 400000};
__constant__ int tax_rates[8] = {0, 140, 210, 260, 310, 370, 420, 470};
__constant__ int tax_before[8] = {0, 0, 1120, 4060, 11080, 22860, 53940, 146340};

// Taxes of years in which incomes grow; each income looks up its own row of the table.
__global__ void tax_years(const int* __restrict__ incomes, int* __restrict__ out, int n, int years) {
  const int k = global_id();
  if (k >= n) return;
  int income = incomes[k], paid = 0;
  for (int y = 0; y < years; y++) {
    int row = 0;
    while (row < 7 && income >= tax_limits[row + 1]) row++;
    const int tax = tax_before[row] + (income - tax_limits[row]) * tax_rates[row] / 1000;
    paid += tax;
    income += income / 20 + (k & 255);
  }
  out[k] = paid;
}

__constant__ int residue_masses[20] = {71037,  156101, 114043, 115027, 103009, 129043, 128059, 57021,  137059, 113084,
                                       113085, 128095, 131040, 147068, 97053,  87032,  101048, 186079, 163063, 99068};

// Masses of peptides, and how many of their beginnings have a mass that a multiple of 57 is near.
__global__ void peptide_masses(const u8* __restrict__ letters, int2* __restrict__ out, int n, int length) {
  const int k = global_id();
  if (k >= n) return;
  int mass = 18011, near = 0;
  for (int j = 0; j < length; j++) {
    mass += residue_masses[letters[j * n + k]];
    near += mass % 57021 < 4000;
  }
  out[k] = make_int2(mass, near);
}

// ------------------------------------------------------------------------------------------------------- whole numbers

// A fraction as a sum of different fractions of one, the greatest first: how many, and the sum of what is below.
__global__ void egyptian_fractions(const int2* __restrict__ fractions, u64* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  u64 above = fractions[k].x + 1, below = fractions[k].x + fractions[k].y + 2, sum = 0, terms = 0;
  while (above && below < 1ull << 31) {
    const u64 next = (below + above - 1) / above;
    above = above * next - below;
    below *= next;
    sum += next;
    terms++;
  }
  out[k] = sum * 16 + terms;
}

// How often the product of a number's digits can be taken until one digit is left.
__global__ void digit_persistence(const u64* __restrict__ values, int* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  u64 v = values[k];
  int turns = 0;
  while (v > 9) {
    u64 product = 1;
    for (u64 rest = v; rest && product; rest /= 10) product *= rest % 10;
    v = product;
    turns++;
  }
  out[k] = 16 * turns + (int)v;
}

__device__ __forceinline__ u32 sum_of_divisors(u32 v) {
  u32 sum = v > 1;
  for (u32 d = 2; d * d <= v; d++)
    if (v % d == 0) sum += d * d == v ? d : d + v / d;
  return sum;
}

// The sum of the divisors of the sum of the divisors: friendly numbers come back.
__global__ void amicable_sums(u32* __restrict__ out, int n, u32 first) {
  const int k = global_id();
  if (k < n) out[k] = sum_of_divisors(sum_of_divisors(first + k));
}

// Jacobi's symbol of pairs of numbers, the lower ones odd.
__global__ void jacobi_symbols(const int2* __restrict__ pairs, signed char* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  u32 m = 2 * pairs[k].y + 3, a = pairs[k].x % m;
  int sign = 1;
  while (a) {
    const int twos = __ffs(a) - 1;
    a >>= twos;
    if (twos & 1 && ((m & 7) == 3 || (m & 7) == 5)) sign = -sign;
    if ((a & m & 3) == 3) sign = -sign;
    const u32 next = m % a;
    m = a;
    a = next;
  }
  out[k] = m == 1 ? sign : 0;
}

__device__ __forceinline__ u32 power_below(u32 base, u32 power, u32 prime) {
  u64 found = 1, square = base % prime;
  for (; power; power >>= 1) {
    if (power & 1) found = found * square % prime;
    square = square * square % prime;
  }
  return (u32)found;
}

// Numbers from what four primes leave of them, digit by digit; the block finds the inverses first.
__global__ void garner_mix(const u32* __restrict__ primes, const u32* __restrict__ left, u64* __restrict__ out, int n) {
  __shared__ u32 inverse[4][4], prime[4];
  if (threadIdx.x < 16) {
    const int i = threadIdx.x / 4, j = threadIdx.x % 4;
    if (i == 0) prime[j] = primes[j];
    inverse[i][j] = i < j ? power_below(primes[i], primes[j] - 2, primes[j]) : 0;
  }
  __syncthreads();
  const int k = global_id();
  if (k >= n) return;
  u64 value = 0, weight = 1;
  u32 digits[4];
#pragma unroll
  for (int j = 0; j < 4; j++) {
    u32 digit = left[j * n + k];
#pragma unroll
    for (int i = 0; i < j; i++) {
      digit += prime[j] - digits[i] % prime[j];
      digit = digit % prime[j] * inverse[i][j] % prime[j];
    }
    digits[j] = digit;
    value += weight * digit;
    weight *= prime[j];
  }
  out[k] = value;
}

// Logarithms modulo a prime: small steps in a table of the block, great steps until one is found there.
__global__ void discrete_logs(const int* __restrict__ values, int* __restrict__ out, int n, int prime, int base,
                              int stride) {
  __shared__ short place[10240];
  for (int v = threadIdx.x; v < 10240; v += blockDim.x) place[v] = -1;
  __syncthreads();
  for (int j = threadIdx.x; j < stride; j += blockDim.x) place[power_below(base, j, prime)] = j;
  __syncthreads();
  const int back = power_below(base, prime - 1 - stride, prime);
  const int k = global_id();
  if (k >= n) return;
  int v = values[k] + 1, steps = 0;
  while (place[v] < 0) {
    v = v * back % prime;
    steps++;
  }
  out[k] = steps * stride + place[v];
}

// The roots of polynomials of degree 5, all at once; out: the sum of their squared sizes, and the greatest.
__global__ void durand_kerner(const float* __restrict__ factors, float2* __restrict__ out, int n, int turns) {
  const int k = global_id();
  if (k >= n) return;
  float c[5];
  float2 z[5];
#pragma unroll
  for (int j = 0; j < 5; j++) c[j] = 2.0f * factors[j * n + k] - 1.0f;
  z[0] = make_float2(1.0f, 0.0f);
#pragma unroll
  for (int j = 1; j < 5; j++) {
    z[j].x = 0.4f * z[j - 1].x - 0.9f * z[j - 1].y;
    z[j].y = 0.4f * z[j - 1].y + 0.9f * z[j - 1].x;
  }
  for (int t = 0; t < turns; t++) {
#pragma unroll
    for (int j = 0; j < 5; j++) {
      float2 p = make_float2(1.0f, 0.0f), q = p;
#pragma unroll
      for (int i = 4; i >= 0; i--) p = make_float2(p.x * z[j].x - p.y * z[j].y + c[i], p.x * z[j].y + p.y * z[j].x);
#pragma unroll
      for (int i = 0; i < 5; i++) {
        if (i == j) continue;
        const float2 d = make_float2(z[j].x - z[i].x, z[j].y - z[i].y);
        q = make_float2(q.x * d.x - q.y * d.y, q.x * d.y + q.y * d.x);
      }
      const float scale = 1.0f / (q.x * q.x + q.y * q.y + 1e-20f);
      z[j].x -= (p.x * q.x + p.y * q.y) * scale;
      z[j].y -= (p.y * q.x - p.x * q.y) * scale;
    }
  }
  float sum = 0.0f, greatest = 0.0f;
#pragma unroll
  for (int j = 0; j < 5; j++) {
    const float square = z[j].x * z[j].x + z[j].y * z[j].y;
    sum += square;
    greatest = fmaxf(greatest, square);
  }
  out[k] = make_float2(sum, greatest);
}

// A converter of second order from levels to bits: how many bits are 1, and a hash of all.
__global__ void sigma_delta(const int* __restrict__ levels, uint2* __restrict__ out, int n, int steps) {
  const int k = global_id();
  if (k >= n) return;
  const int level = levels[k] - 512;
  int first = 0, second = 0;
  u32 ones = 0, hash = 0;
  for (int t = 0; t < steps; t++) {
    const int back = second >= 0 ? 1024 : -1024;
    first += level - back;
    second += first - back;
    ones += back > 0;
    hash = hash * 31u + (back > 0);
  }
  out[k] = make_uint2(ones, hash);
}

// ------------------------------------------------------------------------------------------- sound, light and networks

struct Voice {
  float pitch, ratio, depth, loud;
};

// Samples of voices whose pitch another tone moves; four per thread, one every 1/44100 second.
__global__ void fm_voices(const Voice* __restrict__ voices, float4* __restrict__ out, int n, int count) {
  const int k = global_id();
  if (k >= n) return;
  float sum[4] = {};
  for (int v = 0; v < count; v++) {
    const Voice one = voices[v];
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const float turn = (110.0f + 440.0f * one.pitch) * (4 * k + j) / 44100.0f;
      const float bent = turn + one.depth * sinpif(2.0f * (1.0f + one.ratio) * turn);
      sum[j] += one.loud * sinpif(2.0f * bent);
    }
  }
  out[k] = make_float4(sum[0], sum[1], sum[2], sum[3]);
}

// After how many turns points of a slice of the Mandelbulb leave it.
__global__ void mandelbulb_turns(u8* __restrict__ out, int width, int height, int turns, float depth) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float a = 2.6f * x / width - 1.3f, b = 2.6f * y / height - 1.3f;
  float p = a, q = b, r = depth;
  int t = 0;
  for (; t < turns; t++) {
    const float size = sqrtf(p * p + q * q + r * r);
    if (size > 2.0f) break;
    const float theta = 8.0f * acosf(r / size), phi = 8.0f * atan2f(q, p), power = powf(size, 8.0f);
    p = power * sinf(theta) * cosf(phi) + a;
    q = power * sinf(theta) * sinf(phi) + b;
    r = power * cosf(theta) + depth;
  }
  out[y * width + x] = t;
}

// Light that rough metal sends back: points with a slope and a roughness, lamps one after the other.
__global__ void ggx_lobes(const float* __restrict__ slopes, const float* __restrict__ roughness,
                          const float2* __restrict__ lamps, float* __restrict__ out, int n, int count) {
  const int k = global_id();
  if (k >= n) return;
  const float view = 0.1f + 0.9f * slopes[k], rough = 0.05f + 0.9f * roughness[k], alpha = rough * rough;
  const float a2 = alpha * alpha, g = 0.5f * alpha;
  float sum = 0.0f;
  for (int l = 0; l < count; l++) {
    const float light = 0.1f + 0.9f * lamps[l].x, half = 0.2f + 0.8f * lamps[l].y;
    const float t = half * half * (a2 - 1.0f) + 1.0f, spread = a2 / (3.14159265f * t * t);
    const float shadow = 1.0f / ((view * (1.0f - g) + g) * (light * (1.0f - g) + g));
    const float away = 1.0f - half, mirror = 0.9f + 0.1f * exp2f((-5.55f * away - 6.98f) * away);
    sum += 0.25f * light * spread * shadow * mirror / sqrtf(light + view);
  }
  out[k] = sum;
}

// The windows of connections that grow by the cube of the time since the last loss.
__global__ void cubic_windows(const float* __restrict__ chances, float* __restrict__ out, int n, int steps, u32 seed) {
  const int k = global_id();
  if (k >= n) return;
  Dice dice = {hashed(k ^ seed)};
  const float chance = 0.02f + 0.2f * chances[k];
  float window = 10.0f, most = 10.0f, wait = 0.0f, sent = 0.0f, t = 0.0f;
  for (int s = 0; s < steps; s++) {
    if (dice.part() < chance) {
      most = window;
      window *= 0.7f;
      wait = cbrtf(most * 0.75f);
      t = 0.0f;
    } else {
      t += 0.1f;
      const float d = t - wait;
      window = fmaxf(0.4f * d * d * d + most, 1.0f);
    }
    sent += window;
  }
  out[k] = sent / steps;
}

__device__ __forceinline__ float turn_of(float a) { return a - 6.2831853f * floorf(a * 0.15915494f); }

// The shortest way of a car that turns left or right: two bends around a straight line.
__global__ void dubins_lengths(const float* __restrict__ places, float* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const float d = 1.0f + 8.0f * places[k], a = 6.28f * places[n + k], b = 6.28f * places[2 * n + k];
  const float sa = sinf(a), sb = sinf(b), ca = cosf(a), cb = cosf(b), both = 2.0f * cosf(a - b);
  float best = 1e9f;
  float square = 2.0f + d * d - both + 2.0f * d * (sa - sb);
  if (square >= 0.0f) {
    const float turn = atan2f(cb - ca, d + sa - sb);
    best = fminf(best, turn_of(turn - a) + sqrtf(square) + turn_of(b - turn));
  }
  square = 2.0f + d * d - both + 2.0f * d * (sb - sa);
  if (square >= 0.0f) {
    const float turn = atan2f(ca - cb, d - sa + sb);
    best = fminf(best, turn_of(a - turn) + sqrtf(square) + turn_of(turn - b));
  }
  square = d * d - 2.0f + both + 2.0f * d * (sa + sb);
  if (square >= 0.0f) {
    const float line = sqrtf(square), turn = atan2f(-ca - cb, d + sa + sb) - atan2f(-2.0f, line);
    best = fminf(best, turn_of(turn - a) + line + turn_of(turn - b));
  }
  square = d * d - 2.0f + both - 2.0f * d * (sa + sb);
  if (square >= 0.0f) {
    const float line = sqrtf(square), turn = atan2f(ca + cb, d - sa - sb) - atan2f(2.0f, line);
    best = fminf(best, turn_of(a - turn) + line + turn_of(b - turn));
  }
  out[k] = best;
}

// -------------------------------------------------------------------------------------------------------- secret codes

__device__ __forceinline__ u32 turned_left(u32 x, int by) { return __funnelshift_l(x, x, by); }

// One block of SHA-1 per thread, all 80 rounds in a row.
__global__ void sha1_blocks(const u32* __restrict__ words, u32* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  u32 w[16];
#pragma unroll
  for (int j = 0; j < 16; j++) w[j] = words[j * n + k];
  u32 a = 0x67452301u, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u, e = 0xc3d2e1f0u;
#pragma unroll
  for (int r = 0; r < 80; r++) {
    if (r > 15) w[r & 15] = turned_left(w[(r + 13) & 15] ^ w[(r + 8) & 15] ^ w[(r + 2) & 15] ^ w[r & 15], 1);
    const u32 mix = r < 20 ? (b & c) | (~b & d) : r >= 40 && r < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
    const u32 add = r < 20 ? 0x5a827999u : r < 40 ? 0x6ed9eba1u : r < 60 ? 0x8f1bbcdcu : 0xca62c1d6u;
    const u32 next = turned_left(a, 5) + mix + e + add + w[r & 15];
    e = d;
    d = c;
    c = turned_left(b, 30);
    b = a;
    a = next;
  }
  out[k] = a + 0x67452301u;
  out[n + k] = b + 0xefcdab89u;
  out[2 * n + k] = c + 0x98badcfeu;
  out[3 * n + k] = d + 0x10325476u;
  out[4 * n + k] = e + 0xc3d2e1f0u;
}

__constant__ int fish_turns[16] = {14, 16, 52, 57, 23, 40, 5, 37, 25, 33, 46, 12, 58, 22, 32, 32};

// Threefish on blocks of 256 bits, without a tweak.
__global__ void threefish_blocks(const u64* __restrict__ keys, const u64* __restrict__ blocks, u64* __restrict__ out,
                                 int n) {
  const int k = global_id();
  if (k >= n) return;
  u64 key[5] = {keys[0], keys[1], keys[2], keys[3], 0x1bd11bdaa9fc1a22ull};
  u64 v[4];
#pragma unroll
  for (int j = 0; j < 4; j++) {
    key[4] ^= key[j];
    v[j] = blocks[j * n + k];
  }
#pragma unroll
  for (int r = 0; r < 72; r++) {
    if (r % 4 == 0) {
#pragma unroll
      for (int j = 0; j < 4; j++) v[j] += key[(r / 4 + j) % 5];
      v[3] += r / 4;
    }
#pragma unroll
    for (int j = 0; j < 4; j += 2) {
      const int by = fish_turns[r % 8 * 2 + j / 2];
      v[j] += v[j + 1];
      v[j + 1] = (v[j + 1] << by | v[j + 1] >> (64 - by)) ^ v[j];
    }
    const u64 hold = v[1];
    v[1] = v[3];
    v[3] = hold;
  }
#pragma unroll
  for (int j = 0; j < 4; j++) out[j * n + k] = v[j] + key[(18 + j) % 5] + (j == 3 ? 18 : 0);
}

// The least number that gives a hash below a limit; each thread tries numbers of its own.
__global__ void nonce_search(const u32* __restrict__ heads, u32* __restrict__ least, u32 limit, int tries) {
  const u32 head = heads[blockIdx.y];
  const u32 first = (blockIdx.x * blockDim.x + threadIdx.x) * tries;
  for (u32 nonce = first; nonce < first + tries; nonce++) {
    u32 hash = head;
#pragma unroll
    for (int r = 0; r < 4; r++) hash = hashed(hash ^ nonce * (2 * r + 1));
    if (hash < limit) {
      atomicMin(&least[blockIdx.y], nonce);
      break;
    }
  }
}

// --------------------------------------------------------------------------------------------------------------- games

__device__ __forceinline__ u64 moved(u64 pieces, int by) { return by > 0 ? pieces << by : pieces >> -by; }

// What pieces reach that slide until something stands in their way.
__device__ __forceinline__ u64 slides(u64 pieces, u64 empty, int by, u64 keep) {
  u64 all = pieces;
#pragma unroll
  for (int s = 0; s < 6; s++) {
    pieces = moved(pieces, by) & keep & empty;
    all |= pieces;
  }
  return moved(all, by) & keep;
}

// Squares that rooks and bishops attack; .x: rooks, .y: bishops and other pieces.
__global__ void chess_attacks(const ulonglong2* __restrict__ boards, u64* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const u64 rooks = boards[k].x, bishops = boards[k].y & ~rooks, empty = ~(rooks | bishops);
  const u64 not_a = 0xfefefefefefefefeull, not_h = 0x7f7f7f7f7f7f7f7full, all = ~0ull;
  out[k] = slides(rooks, empty, 8, all) | slides(rooks, empty, -8, all) | slides(rooks, empty, 1, not_a) |
           slides(rooks, empty, -1, not_h) | slides(bishops, empty, 9, not_a) | slides(bishops, empty, 7, not_h) |
           slides(bishops, empty, -7, not_a) | slides(bishops, empty, -9, not_h);
}

__constant__ u32 piece_rows[14] = {15, 0, 3, 3, 7, 2, 3, 6, 6, 3, 7, 4, 7, 1};
__constant__ u32 piece_widths[7] = {4, 2, 3, 3, 3, 3, 3};

// Pieces fall at random into boards of 10 columns; out: 100 times the games lost, and the lines that went.
__global__ void falling_pieces(int* __restrict__ out, int n, int pieces, u32 seed) {
  const int k = global_id();
  if (k >= n) return;
  Dice dice = {hashed(k ^ seed)};
  u16 rows[22] = {};
  int lines = 0, games = 0;
  for (int p = 0; p < pieces; p++) {
    const int kind = dice.below(7), column = dice.below(11 - piece_widths[kind]);
    const u32 low = piece_rows[2 * kind] << column, high = piece_rows[2 * kind + 1] << column;
    int y = 20;
    while (y > 0 && !(rows[y - 1] & low) && !(rows[y] & high)) y--;
    rows[y] |= low;
    rows[y + 1] |= high;
    if (y > 16) {
      games++;
      for (int r = 0; r < 22; r++) rows[r] = 0;
      continue;
    }
    for (int turn = 0, r = y; turn < 2; turn++) {
      if (rows[r] == 1023) {
        lines++;
        for (int above = r; above < 21; above++) rows[above] = rows[above + 1];
      } else {
        r++;
      }
    }
  }
  out[k] = 100 * games + lines;
}

__constant__ u32 three_in_a_row[8] = {7, 56, 448, 73, 146, 292, 273, 84};

__device__ __forceinline__ bool wins(u32 stones) {
#pragma unroll
  for (int w = 0; w < 8; w++)
    if ((stones & three_in_a_row[w]) == three_in_a_row[w]) return true;
  return false;
}

// What noughts and crosses are worth for whoever moves next, and how many places were tried; a stack per thread.
__global__ void board_values(const u32* __restrict__ boards, int* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  u32 mine[10], theirs[10];
  signed char best[10], cell[10];
  int depth = 0, tried = 0, value;
  mine[0] = boards[k] & 511;
  theirs[0] = boards[k] >> 9;
  best[0] = -2;
  cell[0] = 0;
  while (true) {
    if (cell[depth] == 9) {
      value = best[depth] == -2 ? 0 : best[depth];
      if (depth == 0) break;
      depth--;
      if (-value > best[depth]) best[depth] = -value;
      continue;
    }
    const int c = cell[depth]++;
    if ((mine[depth] | theirs[depth]) >> c & 1) continue;
    const u32 next = mine[depth] | 1u << c;
    tried++;
    if (wins(next)) {
      best[depth] = 1;
      cell[depth] = 9;
      continue;
    }
    mine[depth + 1] = theirs[depth];
    theirs[depth + 1] = next;
    depth++;
    best[depth] = -2;
    cell[depth] = 0;
  }
  out[k] = 4 * tried + value + 1;
}

// Games of seeds in two rows of six pits; each player takes the next pit after one at random that has seeds.
__global__ void sown_pits(int* __restrict__ out, int n, int turns, u32 seed) {
  const int k = global_id();
  if (k >= n) return;
  Dice dice = {hashed(k ^ seed)};
  u8 pits[14];
  for (int p = 0; p < 14; p++) pits[p] = p % 7 == 6 ? 0 : 4;
  int side = 0;
  for (int t = 0; t < turns; t++) {
    int pit = dice.below(6), tries = 0;
    while (tries < 6 && !pits[7 * side + pit]) {
      pit = pit == 5 ? 0 : pit + 1;
      tries++;
    }
    if (tries == 6) break;
    int at = 7 * side + pit, hand = pits[at];
    pits[at] = 0;
    while (hand) {
      at = at == 13 ? 0 : at + 1;
      if (at == 13 - 7 * side) continue;
      pits[at]++;
      hand--;
    }
    const int store = 7 * side + 6;
    if (at == store) continue;
    if (at / 7 == side && pits[at] == 1) {
      pits[store] += pits[12 - at] + 1;
      pits[at] = pits[12 - at] = 0;
    }
    side ^= 1;
  }
  out[k] = pits[6] - pits[13];
}

// The best score of throws of five dice, summed over throws.
__global__ void five_dice_scores(int* __restrict__ out, int n, int throws, u32 seed) {
  const int k = global_id();
  if (k >= n) return;
  Dice dice = {hashed(k ^ seed)};
  int total = 0;
  for (int t = 0; t < throws; t++) {
    u32 counts = 0, faces = 0;
    int sum = 0;
    for (int d = 0; d < 5; d++) {
      const int face = dice.below(6);
      counts += 1u << 4 * face;
      faces |= 1u << face;
      sum += face + 1;
    }
    int most = 0, pairs = 0;
    for (u32 rest = counts; rest; rest >>= 4) {
      most = max(most, (int)(rest & 15));
      pairs += (rest & 15) == 2;
    }
    const u32 runs = faces & faces >> 1 & faces >> 2 & faces >> 3;
    int score = sum;
    if (most == 5)
      score = 50;
    else if (runs && (runs & runs >> 1 || faces == 31 || faces == 62))
      score = 40;
    else if (runs)
      score = max(score, 30);
    else if (most == 3 && pairs)
      score = max(score, 25);
    total += score;
  }
  out[k] = total;
}

// The group of a stone on boards of 19 x 19, and the free points around it; boards are rows of black and white bits.
__global__ void go_liberties(const u64* __restrict__ boards, const int* __restrict__ points, int* __restrict__ out,
                             int n) {
  const int k = global_id();
  if (k >= n) return;
  u32 own[19], free[19], group[19];
  const int y = points[k] / 19, x = points[k] % 19;
#pragma unroll
  for (int r = 0; r < 19; r++) {
    const u64 row = boards[r * n + k];
    own[r] = (u32)row;
    free[r] = ~((u32)row | (u32)(row >> 32)) & 0x7ffff;
    group[r] = r == y ? own[r] & 1u << x : 0;
  }
  bool grown = true;
  while (grown) {
    grown = false;
#pragma unroll
    for (int r = 0; r < 19; r++) {
      u32 next = group[r] | group[r] << 1 | group[r] >> 1;
      if (r > 0) next |= group[r - 1];
      if (r < 18) next |= group[r + 1];
      next &= own[r];
      grown |= next != group[r];
      group[r] = next;
    }
  }
  int stones = 0, points_free = 0;
#pragma unroll
  for (int r = 0; r < 19; r++) {
    u32 around = group[r] << 1 | group[r] >> 1;
    if (r > 0) around |= group[r - 1];
    if (r < 18) around |= group[r + 1];
    stones += __popc(group[r]);
    points_free += __popc(around & free[r]);
  }
  out[k] = 1000 * stones + points_free;
}

// -------------------------------------------------------------------------------------------------------- local memory

// Energies of chains that are folded on a grid: pairs of sticky beads side by side; 100 if the chain meets itself.
__global__ void folded_chains(const u64* __restrict__ folds, const u32* __restrict__ sticky, int* __restrict__ out,
                              int n, int length) {
  const int k = global_id();
  if (k >= n) return;
  short places[32];
  u64 ways = folds[k];
  const u32 beads = sticky[k];
  int x = 64, y = 64, way = 0, energy = 0;
  for (int j = 0; j < length; j++) {
    places[j] = 128 * y + x;
    for (int i = j - 3; i >= 0; i -= 2) {
      const int apart = abs(places[j] - places[i]);
      if (apart == 1 || apart == 128) energy -= beads >> j & beads >> i & 1;
    }
    for (int i = j - 4; i >= 0; i -= 2) {
      if (places[i] == places[j]) {
        out[k] = 100;
        return;
      }
    }
    way = (way + 3 + (int)(ways % 3)) & 3;
    ways /= 3;
    x += way == 0 ? 1 : way == 2 ? -1 : 0;
    y += way == 1 ? 1 : way == 3 ? -1 : 0;
  }
  out[k] = energy;
}

// People wait for one of several counters; when each counter is free again stands in a heap.
__global__ void bank_queues(const float* __restrict__ loads, float* __restrict__ out, int n, int counters, int people,
                            u32 seed) {
  const int k = global_id();
  if (k >= n) return;
  Dice dice = {hashed(k ^ seed)};
  float heap[16];
  for (int c = 0; c < counters; c++) heap[c] = 0.0f;
  const float load = 0.5f + 0.6f * loads[k];
  float now = 0.0f, waited = 0.0f;
  for (int p = 0; p < people; p++) {
    now -= __logf(dice.part());
    const float start = fmaxf(now, heap[0]);
    waited += start - now;
    const float end = start - load * counters * __logf(dice.part());
    int at = 0;
    while (2 * at + 1 < counters) {
      int child = 2 * at + 1;
      if (child + 1 < counters && heap[child + 1] < heap[child]) child++;
      if (heap[child] >= end) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = end;
  }
  out[k] = waited / people;
}

// Joints of an arm of six links turn one after the other until its tip is near a point.
__global__ void reaching_arms(const float2* __restrict__ points, float* __restrict__ out, int n, int turns) {
  const int k = global_id();
  if (k >= n) return;
  float angles[6];
  float2 joints[7];
  for (int j = 0; j < 6; j++) angles[j] = 0.3f;
  const float2 point = make_float2(6.0f * points[k].x - 1.0f, 4.0f * points[k].y + 1.0f);
  float apart = 0.0f;
  for (int t = 0; t < turns; t++) {
    for (int j = 5; j >= 0; j--) {
      float heading = 0.0f;
      joints[0] = make_float2(0.0f, 0.0f);
      for (int l = 0; l < 6; l++) {
        heading += angles[l];
        joints[l + 1] = make_float2(joints[l].x + cosf(heading), joints[l].y + sinf(heading));
      }
      const float ax = joints[6].x - joints[j].x, ay = joints[6].y - joints[j].y;
      const float bx = point.x - joints[j].x, by = point.y - joints[j].y;
      angles[j] += 0.5f * atan2f(ax * by - ay * bx, ax * bx + ay * by);
      apart = hypotf(joints[6].x - point.x, joints[6].y - point.y);
    }
    if (apart < 0.01f) break;
  }
  out[k] = apart;
}

// --------------------------------------------------------------------------------------------------------------- texts

// The same number for words with the same letters.
__global__ void anagram_keys(const u8* __restrict__ words, u32* __restrict__ out, int n, int pitch) {
  const int k = global_id();
  if (k >= n) return;
  u8 counts[26];
  for (int c = 0; c < 26; c++) counts[c] = 0;
  for (int j = 0; j < pitch; j++) counts[words[k * pitch + j]]++;
  u32 key = 2166136261u;
  for (int c = 0; c < 26; c++) key = (key ^ counts[c]) * 16777619u;
  out[k] = key;
}

// What 97 leaves of account numbers; letters count from 10, the first four characters come last.
__global__ void account_checks(const u8* __restrict__ accounts, u8* __restrict__ out, int n, int length) {
  const int k = global_id();
  if (k >= n) return;
  u64 value = 0;
  for (int j = 0; j < length; j++) {
    const int c = accounts[(j < length - 4 ? j + 4 : j + 4 - length) * n + k];
    value = value * (c < 10 ? 10 : 100) + c;
    if (value > 100000000000000ull) value %= 97;
  }
  out[k] = value % 97;
}

// Words of 32 bits as five printable characters.
__global__ void base85_words(const u32* __restrict__ words, u8* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  u32 v = words[k];
#pragma unroll
  for (int j = 4; j >= 0; j--) {
    out[5 * k + j] = 33 + v % 85;
    v /= 85;
  }
}

__constant__ u8 morse_codes[36] = {6,  17, 21, 9,  2,  20, 11, 16, 4,  30, 13, 18, 7,  5,  15, 22, 27, 10,
                                   8,  3,  12, 24, 14, 25, 29, 19, 63, 62, 60, 56, 48, 32, 33, 35, 39, 47};

// How long signals of dots and dashes take, and a hash of them.
__global__ void morse_times(const u8* __restrict__ letters, uint2* __restrict__ out, int n, int length) {
  const int k = global_id();
  if (k >= n) return;
  u32 units = 0, hash = 0;
  for (int j = 0; j < length; j++) {
    u32 code = morse_codes[letters[j * n + k]];
    while (code > 1) {
      units += code & 1 ? 4 : 2;
      hash = hash * 3 + (code & 1);
      code >>= 1;
    }
    units += 2;
  }
  out[k] = make_uint2(units, hash);
}

// Where a pattern begins in a text, by rolling hashes: how often in each thread's piece, all letters compared in a hit.
__global__ void rolling_hits(const u8* __restrict__ text, const u8* __restrict__ pattern, int* __restrict__ out, int n,
                             int pieces, int length) {
  const int k = global_id();
  if (k >= n) return;
  u32 wanted = 0, hash = 0, top = 1;
  for (int j = 0; j < length; j++) {
    wanted = wanted * 257u + pattern[j];
    hash = hash * 257u + text[k * pieces + j];
    if (j) top *= 257u;
  }
  int hits = 0;
  for (int at = k * pieces; at < (k + 1) * pieces; at++) {
    if (hash == wanted) {
      int j = 0;
      while (j < length && text[at + j] == pattern[j]) j++;
      hits += j == length;
    }
    hash = (hash - text[at] * top) * 257u + text[at + length];
  }
  out[k] = hits;
}

__constant__ char geo_letters[33] = "0123456789bcdefghjkmnpqrstuvwxyz";

// Places as eight letters: bits of longitude and latitude in turn, five per letter.
__global__ void geohash_letters(const float2* __restrict__ places, u64* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const u32 x = (u32)(places[k].x * 1048576.0f), y = (u32)(places[k].y * 1048576.0f);
  u64 letters = 0;
#pragma unroll
  for (int j = 0; j < 8; j++) {
    u32 code = 0;
#pragma unroll
    for (int b = 0; b < 5; b++) {
      const int bit = 5 * j + b;
      code = code << 1 | ((bit & 1 ? y : x) >> (19 - bit / 2) & 1);
    }
    letters |= (u64)geo_letters[code] << 8 * j;
  }
  out[k] = letters;
}

// How far words lead into a tree of letters, and where they end.
__global__ void trie_words(const int4* __restrict__ nodes, const u32* __restrict__ words, int2* __restrict__ out,
                           int n) {
  const int k = global_id();
  if (k >= n) return;
  u32 word = words[k];
  int at = 0, depth = 0;
  while (depth < 16) {
    const int4 node = nodes[at];
    const int way = word & 3;
    const int next = way == 0 ? node.x : way == 1 ? node.y : way == 2 ? node.z : node.w;
    if (next < 0) break;
    at = next;
    word >>= 2;
    depth++;
  }
  out[k] = make_int2(depth, at);
}

// --------------------------------------------------------------------------------------------------- code in one piece

// Points for loans by rules that compare eight facts, one after the other.
template <int RULES>
__global__ void credit_rules(const int* __restrict__ facts, int* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  int x[8], score = 0;
#pragma unroll
  for (int j = 0; j < 8; j++) x[j] = facts[j * n + k];
#pragma unroll
  for (int r = 0; r < RULES; r++) {
    const int a = x[r * 5 % 8], b = x[(r * 3 + r / 8 + 1) % 8];
    if (a * (r % 7 + 1) > b + r * 37 % 1009)
      score += r % 13 + 1;
    else
      score ^= r * 11 % 251;
  }
  out[k] = score;
}

// Sums of many curves of the fourth degree with factors of their own, for temperatures that rise.
template <int CURVES>
__global__ void thermo_curves(const float* __restrict__ heats, float* __restrict__ out, int n, int turns) {
  const int k = global_id();
  if (k >= n) return;
  float t = heats[k], sum = 0.0f;
  for (int turn = 0; turn < turns; turn++) {
#pragma unroll
    for (int c = 0; c < CURVES; c++) {
      const float h = (((c * 7 % 31 * 0.01f * t - c * 5 % 29 * 0.02f) * t + c * 3 % 23 * 0.03f) * t - 0.5f) * t;
      sum += fabsf(h + c % 11 * 0.1f - 0.4f);
    }
    t = 0.9f * t + 0.05f;
  }
  out[k] = sum / CURVES;
}

// ----------------------------------------------------------------------------------------------------- land and tables

// Where rain runs to: always to the lowest neighbour, until there is none.
__global__ void rain_paths(const int* __restrict__ heights, int2* __restrict__ out, int width, int height) {
  const int x0 = blockIdx.x * blockDim.x + threadIdx.x, y0 = blockIdx.y * blockDim.y + threadIdx.y;
  if (x0 >= width || y0 >= height) return;
  int x = x0, y = y0, steps = 0;
  while (true) {
    int best = heights[y * width + x], bx = x, by = y;
    for (int dy = -1; dy <= 1; dy++) {
      for (int dx = -1; dx <= 1; dx++) {
        const int cx = x + dx, cy = y + dy;
        if (cx < 0 || cx >= width || cy < 0 || cy >= height) continue;
        const int h = heights[cy * width + cx];
        if (h < best) {
          best = h;
          bx = cx;
          by = cy;
        }
      }
    }
    if (bx == x && by == y) break;
    x = bx;
    y = by;
    steps++;
  }
  out[y0 * width + x0] = make_int2(steps, y * width + x);
}

__device__ __forceinline__ int first_not_below(const int* values, int count, int wanted) {
  int low = 0, high = count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (__ldg(&values[middle]) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// For each value of one table: how many of the other, sorted one are at most ``width`` away, and the nearest one below.
__global__ void band_join(const int* __restrict__ sorted, const int* __restrict__ values, int2* __restrict__ out, int n,
                          int count, int width) {
  const int k = global_id();
  if (k >= n) return;
  const int first = first_not_below(sorted, count, values[k] - width);
  const int last = first_not_below(sorted, count, values[k] + width + 1);
  out[k] = make_int2(last - first, first > 0 ? sorted[first - 1] : -1);
}

// Which offers no other one beats in all three ways; a tile of the others at a time.
__global__ void skyline_points(const float* __restrict__ offers, u8* __restrict__ out, int n) {
  extern __shared__ float3 others[];
  const int k = global_id(), t = threadIdx.x;
  const float3 own = k < n ? make_float3(offers[3 * k], offers[3 * k + 1], offers[3 * k + 2]) : make_float3(9, 9, 9);
  bool beaten = k >= n;
  for (int first = 0; first < n; first += blockDim.x) {
    if (first + t < n) {
      const float* from = offers + 3 * (first + t);
      others[t] = make_float3(from[0], from[1], from[2]);
    }
    __syncthreads();
    const int count = min((int)blockDim.x, n - first);
    for (int j = 0; j < count && !beaten; j++) {
      const float3 o = others[j];
      beaten = o.x < own.x && o.y < own.y && o.z < own.z;
    }
    if (__syncthreads_and(beaten)) break;
  }
  if (k < n) out[k] = !beaten;
}

// Least, greatest, all bits and how many missing values (0) of groups of rows, a multiple of 32 each; a warp per group.
__global__ void row_group_stats(const int* __restrict__ values, int4* __restrict__ out, int groups, int each) {
  const int warp = global_id() / 32, lane = threadIdx.x % 32;
  if (warp >= groups) return;
  int least = 0x7fffffff, greatest = 0, missing = 0;
  u32 bits = 0;
  for (int j = lane; j < each; j += 32) {
    const int v = values[warp * each + j];
    const u32 none = __ballot_sync(ALL_LANES, v == 0);
    missing += __popc(none);
    if (v) {
      least = min(least, v);
      greatest = max(greatest, v);
      bits |= v;
    }
  }
  least = __reduce_min_sync(ALL_LANES, least);
  greatest = __reduce_max_sync(ALL_LANES, greatest);
  bits = __reduce_or_sync(ALL_LANES, bits);
  if (lane == 0) out[warp] = make_int4(least, greatest, bits, missing);
}

// Which rows are below a limit, 32 at a time: a column lies in planes of bits, the highest first.
__global__ void bit_sliced_below(const u32* __restrict__ planes, u32* __restrict__ out, int words, int bits,
                                 u32 limit) {
  for (int k = global_id(); k < words; k += gridDim.x * blockDim.x) {
    u32 below = 0, same = ALL_LANES;
    for (int b = 0; b < bits; b++) {
      const u32 plane = planes[b * words + k];
      if (limit >> (bits - 1 - b) & 1) {
        below |= same & ~plane;
        same &= plane;
      } else {
        same &= ~plane;
      }
    }
    out[k] = below;
  }
}

// How many customers bought both of two things; a block per pair, a bit per customer.
__global__ void market_baskets(const u32* __restrict__ bought, int* __restrict__ out, int words) {
  __shared__ int both;
  if (threadIdx.x == 0) both = 0;
  __syncthreads();
  const u32 *one = bought + blockIdx.x * words, *other = bought + blockIdx.y * words;
  int count = 0;
  for (int w = threadIdx.x; w < words; w += blockDim.x) count += __popc(one[w] & other[w]);
  count = __reduce_add_sync(ALL_LANES, count);
  if (threadIdx.x % 32 == 0) atomicAdd(&both, count);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.y * gridDim.x + blockIdx.x] = both;
}

// ----------------------------------------------------------------------------------------------- barriers in each step

// Cars on ring roads: faster, as far as the gap ahead, now and then slower. A block per road; out: cells driven in all.
__global__ void ring_roads(const u8* __restrict__ start, int* __restrict__ out, int cells, int steps) {
  extern __shared__ signed char lane[];
  __shared__ int driven;
  signed char *now = lane, *next = lane + cells;
  const int t = threadIdx.x;
  for (int c = t; c < cells; c += blockDim.x) now[c] = start[blockIdx.x * cells + c] ? -1 : 0;
  if (t == 0) driven = 0;
  __syncthreads();
  int own = 0;
  for (int step = 0; step < steps; step++) {
    for (int c = t; c < cells; c += blockDim.x) next[c] = -1;
    __syncthreads();
    for (int c = t; c < cells; c += blockDim.x) {
      if (now[c] < 0) continue;
      int gap = 0;
      while (gap < 5 && now[(c + gap + 1) % cells] < 0) gap++;
      int speed = min(min(now[c] + 1, 5), gap);
      if (speed && hashed(blockIdx.x * 7919 + step * cells + c) % 8 == 0) speed--;
      next[(c + speed) % cells] = speed;
      own += speed;
    }
    __syncthreads();
    signed char* hold = now;
    now = next;
    next = hold;
  }
  atomicAdd(&driven, own);
  __syncthreads();
  if (t == 0) out[blockIdx.x] = driven;
}

// Waves in shallow channels that keep their form (Korteweg and de Vries), by leaps over two steps; a block per channel.
__global__ void solitons(const float* __restrict__ start, float* __restrict__ out, int cells, int steps, float steep,
                         float wide) {
  extern __shared__ float waves[];
  float *before = waves, *now = waves + cells, *next = waves + 2 * cells;
  for (int c = threadIdx.x; c < cells; c += blockDim.x) before[c] = now[c] = start[blockIdx.x * cells + c];
  __syncthreads();
  for (int t = 0; t < steps; t++) {
    for (int c = threadIdx.x; c < cells; c += blockDim.x) {
      const int l = c ? c - 1 : cells - 1, r = c < cells - 1 ? c + 1 : 0;
      const int ll = l ? l - 1 : cells - 1, rr = r < cells - 1 ? r + 1 : 0;
      next[c] = before[c] - steep * (now[r] + now[c] + now[l]) * (now[r] - now[l]) -
                wide * (now[rr] - 2.0f * now[r] + 2.0f * now[l] - now[ll]);
    }
    __syncthreads();
    float* hold = before;
    before = now;
    now = next;
    next = hold;
  }
  for (int c = threadIdx.x; c < cells; c += blockDim.x) out[blockIdx.x * cells + c] = now[c];
}

// Clusters of open cells of lattices of 32 x 32: the least label spreads until nothing changes. Out: how many clusters.
__global__ void lattice_clusters(const u32* __restrict__ rows, int* __restrict__ out) {
  __shared__ short labels[2][1024];
  __shared__ u32 open[32];
  __shared__ int clusters;
  if (threadIdx.x < 32) open[threadIdx.x] = rows[32 * blockIdx.x + threadIdx.x];
  if (threadIdx.x == 0) clusters = 0;
  for (int c = threadIdx.x; c < 1024; c += blockDim.x) labels[0][c] = c;
  __syncthreads();
  int side = 0, changed = 1;
  while (changed) {
    changed = 0;
    for (int c = threadIdx.x; c < 1024; c += blockDim.x) {
      const int x = c % 32, y = c / 32, own = labels[side][c];
      int least = own;
      if (open[y] >> x & 1) {
        if (x > 0 && open[y] >> (x - 1) & 1) least = min(least, (int)labels[side][c - 1]);
        if (x < 31 && open[y] >> (x + 1) & 1) least = min(least, (int)labels[side][c + 1]);
        if (y > 0 && open[y - 1] >> x & 1) least = min(least, (int)labels[side][c - 32]);
        if (y < 31 && open[y + 1] >> x & 1) least = min(least, (int)labels[side][c + 32]);
      }
      labels[side ^ 1][c] = least;
      changed |= least != own;
    }
    changed = __syncthreads_or(changed);
    side ^= 1;
  }
  for (int c = threadIdx.x; c < 1024; c += blockDim.x)
    if (open[c / 32] >> c % 32 & 1 && labels[side][c] == c) atomicAdd(&clusters, 1);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = clusters;
}

// The root of a tree of hashes over the leaves of each block, level by level.
__global__ void merkle_roots(const u32* __restrict__ leaves, u32* __restrict__ out, int count) {
  extern __shared__ u32 nodes[];
  for (int j = threadIdx.x; j < count; j += blockDim.x) nodes[j] = hashed(leaves[blockIdx.x * count + j]);
  u32 *from = nodes, *to = nodes + count;
  for (int width = count / 2; width; width /= 2) {
    __syncthreads();
    for (int j = threadIdx.x; j < width; j += blockDim.x) {
      u32 left = from[2 * j], right = from[2 * j + 1];
#pragma unroll
      for (int r = 0; r < 6; r++) {
        left = hashed(left + right);
        right = (right << 7 | right >> 25) ^ left;
      }
      to[j] = left + right;
    }
    u32* hold = from;
    from = to;
    to = hold;
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = from[0];
}

// Triangular factors by plane rotations; a block per matrix, two barriers per rotation.
__global__ void givens_blocks(const float* __restrict__ in, float* __restrict__ out, int n) {
  extern __shared__ float a[];
  const int pitch = n + 1;
  for (int j = threadIdx.x; j < n * n; j += blockDim.x) a[j / n * pitch + j % n] = in[blockIdx.x * n * n + j];
  __syncthreads();
  for (int c = 0; c < n - 1; c++) {
    for (int r = n - 1; r > c; r--) {
      const float p = a[(r - 1) * pitch + c], q = a[r * pitch + c], size = rsqrtf(p * p + q * q + 1e-30f);
      __syncthreads();
      for (int j = c + threadIdx.x; j < n; j += blockDim.x) {
        const float upper = a[(r - 1) * pitch + j], lower = a[r * pitch + j];
        a[(r - 1) * pitch + j] = (p * upper + q * lower) * size;
        a[r * pitch + j] = (p * lower - q * upper) * size;
      }
      __syncthreads();
    }
  }
  for (int j = threadIdx.x; j < n * n; j += blockDim.x) out[blockIdx.x * n * n + j] = a[j / n * pitch + j % n];
}

// Ranks of the pages of small webs; eight links come into each page. A block per web.
__global__ void page_ranks(const int* __restrict__ links, float* __restrict__ out, int pages, int turns) {
  extern __shared__ float ranks[];
  float *now = ranks, *next = ranks + pages;
  int* leaving = (int*)(ranks + 2 * pages);
  const int* own = links + blockIdx.x * pages * 8;
  for (int p = threadIdx.x; p < pages; p += blockDim.x) {
    leaving[p] = 0;
    now[p] = 1.0f / pages;
  }
  __syncthreads();
  for (int l = threadIdx.x; l < 8 * pages; l += blockDim.x) atomicAdd(&leaving[own[l]], 1);
  __syncthreads();
  for (int t = 0; t < turns; t++) {
    for (int p = threadIdx.x; p < pages; p += blockDim.x) {
      float sum = 0.0f;
#pragma unroll
      for (int l = 0; l < 8; l++) {
        const int from = own[l * pages + p];
        sum += __fdividef(now[from], (float)leaving[from]);
      }
      next[p] = 0.15f / pages + 0.85f * sum;
    }
    __syncthreads();
    float* hold = now;
    now = next;
    next = hold;
  }
  for (int p = threadIdx.x; p < pages; p += blockDim.x) out[blockIdx.x * pages + p] = now[p];
}

// Networks that recall patterns: all units switch together until none changes. A block per pattern.
__global__ void recalled_patterns(const signed char* __restrict__ weights, const u8* __restrict__ start,
                                  signed char* __restrict__ out, int units, int turns) {
  extern __shared__ signed char state[];
  signed char *now = state, *next = state + units;
  for (int j = threadIdx.x; j < units; j += blockDim.x) now[j] = start[blockIdx.x * units + j] ? 1 : -1;
  __syncthreads();
  int changed = 1;
  for (int t = 0; t < turns && changed; t++) {
    changed = 0;
    for (int j = threadIdx.x; j < units; j += blockDim.x) {
      int sum = 0;
      for (int l = 0; l < units; l++) sum += weights[l * units + j] * now[l];
      next[j] = sum > 0 ? 1 : sum < 0 ? -1 : now[j];
      changed |= next[j] != now[j];
    }
    changed = __syncthreads_or(changed);
    signed char* hold = now;
    now = next;
    next = hold;
  }
  for (int j = threadIdx.x; j < units; j += blockDim.x) out[blockIdx.x * units + j] = now[j];
}

__device__ __forceinline__ int best_of(const int* scores, int count, int* best) {
  if (threadIdx.x == 0) *best = -0x7fffffff;
  __syncthreads();
  int own = -0x7fffffff;
  for (int j = threadIdx.x; j < count; j += blockDim.x) own = max(own, scores[j] * 256 + 255 - j);
  own = __reduce_max_sync(ALL_LANES, own);
  if (threadIdx.x % 32 == 0) atomicMax(best, own);
  __syncthreads();
  return 255 - (*best & 255);
}

// Two players answer what the other one played so far; out: how often the first player's move 0 was the best.
__global__ void fictitious_play(const int* __restrict__ payoffs, int2* __restrict__ out, int moves, int rounds) {
  extern __shared__ int scores[];
  __shared__ int best;
  int *rows = scores, *columns = scores + moves;
  const int* pay = payoffs + blockIdx.x * moves * moves;
  for (int j = threadIdx.x; j < moves; j += blockDim.x) rows[j] = columns[j] = 0;
  __syncthreads();
  int sum_of_rows = 0, sum_of_columns = 0;
  for (int r = 0; r < rounds; r++) {
    const int row = best_of(rows, moves, &best);
    __syncthreads();
    const int column = best_of(columns, moves, &best);
    for (int j = threadIdx.x; j < moves; j += blockDim.x) {
      rows[j] += pay[j * moves + column];
      columns[j] -= pay[row * moves + j];
    }
    __syncthreads();
    sum_of_rows += row;
    sum_of_columns += column;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = make_int2(sum_of_rows, sum_of_columns);
}

// How far each cell of a maze is from its first corner; a block per maze, its edge of the search in a queue.
__global__ void maze_depths(const u8* __restrict__ walls, int* __restrict__ out, int side) {
  extern __shared__ int depths[];
  __shared__ int tails[2];
  const int cells = side * side;
  u16* queues = (u16*)(depths + cells);
  const u8* own = walls + blockIdx.x * cells;
  for (int c = threadIdx.x; c < cells; c += blockDim.x) depths[c] = own[c] < 3 && c ? -2 : -1;
  if (threadIdx.x < 2) tails[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    depths[0] = 0;
    queues[0] = 0;
    tails[0] = 1;
  }
  __syncthreads();
  for (int depth = 1, turn = 0; tails[turn]; depth++, turn ^= 1) {
    const int count = tails[turn];
    for (int q = threadIdx.x; q < 4 * count; q += blockDim.x) {
      const int at = queues[turn * cells + q / 4], x = at % side, y = at / side, way = q % 4;
      const int nx = x + (way == 0) - (way == 1), ny = y + (way == 2) - (way == 3);
      if (nx < 0 || nx >= side || ny < 0 || ny >= side) continue;
      const int next = ny * side + nx;
      if (atomicCAS(&depths[next], -1, depth) == -1) queues[(turn ^ 1) * cells + atomicAdd(&tails[turn ^ 1], 1)] = next;
    }
    __syncthreads();
    if (threadIdx.x == 0) tails[turn] = 0;
    __syncthreads();
  }
  for (int c = threadIdx.x; c < cells; c += blockDim.x) out[blockIdx.x * cells + c] = depths[c];
}

// ------------------------------------------------------------------------------------------------- warps that exchange

// Weights of perceptrons after passes over samples of 32 features; a warp per perceptron.
__global__ void perceptron_passes(const signed char* __restrict__ samples, const u8* __restrict__ labels,
                                  int* __restrict__ out, int n, int count, int passes) {
  const int warp = global_id() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  int weight = 0, wrong = 0;
  for (int p = 0; p < passes; p++) {
    for (int s = 0; s < count; s++) {
      const int x = samples[(warp * count + s) * 32 + lane], label = labels[warp * count + s] ? 1 : -1;
      const int sum = __reduce_add_sync(ALL_LANES, weight * x);
      if (sum * label <= 0) {
        weight += label * x;
        wrong++;
      }
    }
  }
  out[warp * 32 + lane] = weight * 1024 + wrong;
}

// Ropes of 32 beads that hang by their first one; a warp per rope, neighbours by shuffles.
__global__ void hanging_ropes(const float* __restrict__ winds, float2* __restrict__ out, int ropes, int steps) {
  const int warp = global_id() / 32, lane = threadIdx.x % 32;
  if (warp >= ropes) return;
  const float wind = winds[warp];
  float x = lane, y = 0.0f, before_x = x, before_y = y;
  for (int t = 0; t < steps; t++) {
    if (lane) {
      const float next_x = 1.99f * x - 0.99f * before_x + 0.001f * wind, next_y = 1.99f * y - 0.99f * before_y - 0.002f;
      before_x = x;
      before_y = y;
      x = next_x;
      y = next_y;
    }
    for (int relax = 0; relax < 4; relax++) {
      const float ux = __shfl_up_sync(ALL_LANES, x, 1) - x, uy = __shfl_up_sync(ALL_LANES, y, 1) - y;
      const float dx = __shfl_down_sync(ALL_LANES, x, 1) - x, dy = __shfl_down_sync(ALL_LANES, y, 1) - y;
      if (lane) {
        const float up = 0.4f * (1.0f - rsqrtf(ux * ux + uy * uy));
        const float down = lane < 31 ? 0.4f * (1.0f - rsqrtf(dx * dx + dy * dy)) : 0.0f;
        x += up * ux + (lane < 31 ? down * dx : 0.0f);
        y += up * uy + (lane < 31 ? down * dy : 0.0f);
      }
    }
  }
  out[warp * 32 + lane] = make_float2(x, y);
}

// After how many rides a budget is spent; a tile of threads per traveller adds up its fares.
template <int T>
__global__ void spent_budgets(const int* __restrict__ fares, int* __restrict__ out, int n, int rides, int budget) {
  const auto tile = cg::tiled_partition<T>(cg::this_thread_block());
  const int k = global_id() / T, lane = tile.thread_rank();
  if (k >= n) return;
  int spent = 0, found = rides;
  for (int first = 0; first < rides; first += T) {
    const int fare = first + lane < rides ? fares[k * rides + first + lane] : 0;
    const int sum = spent + cg::inclusive_scan(tile, fare, cg::plus<int>());
    const u32 over = tile.ballot(sum > budget);
    if (over) {
      found = first + __ffs(over) - 1;
      break;
    }
    spent = tile.shfl(sum, T - 1);
  }
  if (lane == 0) out[k] = found;
}

// Sums and counts of the few values above a limit; threads that have one add up together.
__global__ void rare_sums(const int* __restrict__ values, u64* __restrict__ totals, int n, int limit) {
  for (int k = global_id(); k < n; k += gridDim.x * blockDim.x) {
    const int v = values[k];
    if (v < limit) continue;
    const auto group = cg::coalesced_threads();
    const int sum = cg::reduce(group, v, cg::plus<int>());
    if (group.thread_rank() == 0) {
      atomicAdd(&totals[0], (u64)sum);
      atomicAdd(&totals[1], (u64)group.size());
    }
  }
}

// ------------------------------------------------------------------------------------------------------- shared memory

// Recordings whose channels lie side by side as one row per channel; each sample is mixed with those before it.
template <int CHANNELS>
__global__ void channel_rows(const float* __restrict__ mixed, float* __restrict__ out, int n, int turns) {
  __shared__ float samples[CHANNELS * 128];
  const int t = threadIdx.x, frames = n / CHANNELS, first = blockIdx.x * 128;
  for (int j = t; j < CHANNELS * 128; j += 128) samples[j] = mixed[first * CHANNELS + j];
  __syncthreads();
  for (int turn = 0; turn < turns; turn++) {
    float carried = samples[t * CHANNELS + CHANNELS - 1];
    for (int c = 0; c < CHANNELS; c++) {
      carried = 0.25f * carried + 0.75f * samples[t * CHANNELS + c];
      samples[t * CHANNELS + c] = carried;
    }
  }
  for (int c = 0; c < CHANNELS; c++) out[c * frames + first + t] = samples[t * CHANNELS + c];
}

// Products of matrices of complex numbers, tile by tile.
template <int T>
__global__ void complex_tiles(const float2* __restrict__ a, const float2* __restrict__ b, float2* __restrict__ out,
                              int n) {
  __shared__ float2 left[T][T], right[T][T];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * T + x, row = blockIdx.y * T + y;
  float2 sum = make_float2(0.0f, 0.0f);
  for (int first = 0; first < n; first += T) {
    left[y][x] = a[row * n + first + x];
    right[y][x] = b[(first + y) * n + column];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < T; j++) {
      const float2 l = left[y][j], r = right[j][x];
      sum.x += l.x * r.x - l.y * r.y;
      sum.y += l.x * r.y + l.y * r.x;
    }
    __syncthreads();
  }
  out[row * n + column] = sum;
}

// Birds that keep apart, turn as those near them do, and stay with them.
__global__ void flock_turns(const float4* __restrict__ birds, float2* __restrict__ out, int n, float near_by) {
  extern __shared__ float4 flock[];
  const int k = global_id(), t = threadIdx.x;
  const float4 own = birds[min(k, n - 1)];
  float2 apart = make_float2(0.0f, 0.0f), speed = apart, middle = apart;
  float count = 0.0f;
  for (int first = 0; first < n; first += blockDim.x) {
    flock[t] = birds[min(first + t, n - 1)];
    __syncthreads();
    const int here = min((int)blockDim.x, n - first);
    for (int j = 0; j < here; j++) {
      const float4 o = flock[j];
      const float dx = o.x - own.x, dy = o.y - own.y, square = dx * dx + dy * dy;
      if (square < near_by) {
        const float push = 1.0f / (square + 0.01f);
        apart.x -= dx * push;
        apart.y -= dy * push;
        speed.x += o.z;
        speed.y += o.w;
        middle.x += dx;
        middle.y += dy;
        count += 1.0f;
      }
    }
    __syncthreads();
  }
  if (k < n) {
    out[k] = make_float2(0.1f * apart.x + (speed.x + 0.5f * middle.x) / count,
                         0.1f * apart.y + (speed.y + 0.5f * middle.y) / count);
  }
}

// How alike a signal and its echo are for each delay (a block) and shift of its frequency (a thread).
__global__ void ambiguities(const float2* __restrict__ sent, const float2* __restrict__ heard, float* __restrict__ out,
                            int length, int shifts) {
  extern __shared__ float2 products[];
  float2* turns = products + length;
  for (int t = threadIdx.x; t < length; t += blockDim.x) {
    const float2 s = sent[t], h = heard[t + blockIdx.x];
    products[t] = make_float2(s.x * h.x + s.y * h.y, s.y * h.x - s.x * h.y);
    sincospif(2.0f * t / length, &turns[t].y, &turns[t].x);
  }
  __syncthreads();
  for (int d = threadIdx.x; d < shifts; d += blockDim.x) {
    float2 sum = make_float2(0.0f, 0.0f);
    for (int t = 0, at = 0; t < length; t++) {
      const float2 p = products[t], w = turns[at];
      sum.x += p.x * w.x - p.y * w.y;
      sum.y += p.x * w.y + p.y * w.x;
      at += d;
      if (at >= length) at -= length;
    }
    out[blockIdx.x * shifts + d] = sqrtf(sum.x * sum.x + sum.y * sum.y);
  }
}

// The pitch of frames of sound: the first lag whose difference is well below the mean of those before it.
__global__ void pitch_lags(const short* __restrict__ sound, int* __restrict__ out, int hop, int lags) {
  extern __shared__ int frame[];
  int* differences = frame + 2 * lags;
  const short* own = sound + blockIdx.x * hop;
  for (int j = threadIdx.x; j < 2 * lags; j += blockDim.x) frame[j] = own[j];
  __syncthreads();
  for (int lag = threadIdx.x; lag < lags; lag += blockDim.x) {
    int sum = 0;
    for (int j = 0; j < lags; j++) {
      const int d = frame[j] - frame[j + lag];
      sum += d * d;
    }
    differences[lag] = sum;
  }
  __syncthreads();
  if (threadIdx.x) return;
  long long sum = 0;
  int found = 0;
  for (int lag = 1; lag < lags && !found; lag++) {
    sum += differences[lag];
    if (10ll * differences[lag] * lag < sum) found = lag;
  }
  out[blockIdx.x] = found;
}

// Products of polynomials modulo x^n + 1 and 3329; a block per pair. The sums of n products fit in 32 bits.
__global__ void ring_products(const u16* __restrict__ a, const u16* __restrict__ b, u16* __restrict__ out, int n) {
  extern __shared__ u32 factors[];
  u32 *left = factors, *right = factors + n;
  for (int j = threadIdx.x; j < n; j += blockDim.x) {
    left[j] = a[blockIdx.x * n + j];
    right[j] = b[blockIdx.x * n + j];
  }
  __syncthreads();
  for (int c = threadIdx.x; c < n; c += blockDim.x) {
    u32 plus = 0, minus = 0;
    for (int j = 0; j < n; j++) {
      const u32 product = left[j] * right[c >= j ? c - j : n + c - j];
      if (c >= j)
        plus += product;
      else
        minus += product;
    }
    out[blockIdx.x * n + c] = (plus % 3329 + 3329 - minus % 3329) % 3329;
  }
}

// ------------------------------------------------------------------------------------------------------------- atomics

// The last trade of each share: its time in the high bits, its price in the low ones.
__global__ void latest_prices(const int* __restrict__ shares, const u32* __restrict__ prices, u64* __restrict__ latest,
                              int n) {
  const int k = global_id();
  if (k < n) atomicMax(&latest[shares[k]], (u64)(hashed(k) >> 8) << 32 | prices[k]);
}

// How many more rooms are taken on each day: one more from the arrival, one less from the departure.
__global__ void room_changes(const int2* __restrict__ stays, int* __restrict__ change, int n, int days) {
  for (int k = global_id(); k < n; k += gridDim.x * blockDim.x) {
    const int2 stay = stays[k];
    atomicAdd(&change[stay.x], 1);
    const int end = stay.x + stay.y % 14 + 1;
    if (end < days) atomicSub(&change[end], 1);
  }
}

// Gifts in cents by cause, in double precision.
__global__ void gift_totals(const int* __restrict__ causes, const int* __restrict__ cents, double* __restrict__ totals,
                            int n) {
  const int k = global_id();
  if (k < n) atomicAdd(&totals[causes[k]], (double)cents[k]);
}

// Cars take the next place of a lot, around and around; how often each place was taken.
__global__ void parking_places(const int* __restrict__ lots, u32* __restrict__ next, u32* __restrict__ taken, int n,
                               int places) {
  const int k = global_id();
  if (k >= n) return;
  const int lot = lots[k];
  const u32 place = atomicInc(&next[lot], places - 1);
  atomicAdd(&taken[lot * places + place], 1u);
}

// People ask for a seat each, show by show: how many found theirs taken. A block per theatre.
__global__ void seat_claims(int* __restrict__ out, int people, int shows, int words) {
  extern __shared__ u32 seats[];
  int refused = 0;
  for (int s = 0; s < shows; s++) {
    for (int w = threadIdx.x; w < words; w += blockDim.x) seats[w] = 0;
    __syncthreads();
    for (int p = threadIdx.x; p < people; p += blockDim.x) {
      const u32 seat = __umulhi(hashed((blockIdx.x * shows + s) * people + p), 32 * words), bit = 1u << seat % 32;
      refused += (atomicOr(&seats[seat / 32], bit) & bit) != 0;
    }
    __syncthreads();
  }
  refused = __reduce_add_sync(ALL_LANES, refused);
  if (threadIdx.x % 32 == 0) atomicAdd(&out[blockIdx.x], refused);
}

// Sales by region, by product and by both, in one pass: 64-bit sums of the block first, then of all.
__global__ void sales_cube(const u8* __restrict__ regions, const u8* __restrict__ products,
                           const u32* __restrict__ amounts, u64* __restrict__ totals, int n) {
  __shared__ u64 sums[152];
  for (int j = threadIdx.x; j < 152; j += blockDim.x) sums[j] = 0;
  __syncthreads();
  for (int k = global_id(); k < n; k += gridDim.x * blockDim.x) {
    const int region = regions[k], product = products[k];
    const u64 amount = amounts[k];
    atomicAdd(&sums[region], amount);
    atomicAdd(&sums[8 + product], amount);
    atomicAdd(&sums[24 + 16 * region + product], amount);
  }
  __syncthreads();
  for (int j = threadIdx.x; j < 152; j += blockDim.x)
    if (sums[j]) atomicAdd(&totals[j], sums[j]);
}

// Pictures of the Phoenix set; blocks take one piece of 256 pixels after the other, and the last one resets the counts.
__global__ void phoenix_queue(u8* __restrict__ out, int* __restrict__ counts, int width, int pieces, int turns) {
  __shared__ int piece;
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) piece = atomicAdd(&counts[0], 1);
    __syncthreads();
    if (piece >= pieces) break;
    for (int p = threadIdx.x; p < 256; p += blockDim.x) {
      const int at = piece * 256 + p;
      float x = 3.0f * (at % width) / width - 1.5f, y = 3.0f * (at / width) / (pieces * 256 / width) - 1.5f;
      float before_x = 0.0f, before_y = 0.0f;
      int t = 0;
      while (t < turns && x * x + y * y < 4.0f) {
        const float next_x = x * x - y * y + 0.5667f - 0.5f * before_x, next_y = 2.0f * x * y - 0.5f * before_y;
        before_x = x;
        before_y = y;
        x = next_x;
        y = next_y;
        t++;
      }
      out[at] = t;
    }
  }
  if (threadIdx.x == 0 && atomicAdd(&counts[1], 1) == (int)gridDim.x - 1) {
    atomicExch(&counts[0], 0);
    atomicExch(&counts[1], 0);
  }
}

// Mean and variance of whole numbers; the last block to come finishes and empties the sums.
__global__ void mean_and_variance(const int* __restrict__ values, u64* __restrict__ sums, u32* __restrict__ done,
                                  double2* __restrict__ out, int n) {
  __shared__ u64 block_sums[2];
  if (threadIdx.x < 2) block_sums[threadIdx.x] = 0;
  __syncthreads();
  u64 sum = 0, squares = 0;
  for (int k = global_id(); k < n; k += gridDim.x * blockDim.x) {
    const u64 v = values[k];
    sum += v;
    squares += v * v;
  }
  for (int by = 16; by; by /= 2) {
    sum += __shfl_down_sync(ALL_LANES, sum, by);
    squares += __shfl_down_sync(ALL_LANES, squares, by);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&block_sums[0], sum);
    atomicAdd(&block_sums[1], squares);
  }
  __syncthreads();
  if (threadIdx.x) return;
  atomicAdd(&sums[0], block_sums[0]);
  atomicAdd(&sums[1], block_sums[1]);
  __threadfence();
  if (atomicAdd(done, 1u) < gridDim.x - 1) return;
  const double mean = (double)atomicExch(&sums[0], 0ull) / n;
  *out = make_double2(mean, (double)atomicExch(&sums[1], 0ull) / n - mean * mean);
  atomicExch(done, 0u);
}

// -------------------------------------------------------------------------------------------------------- tensor cores

// The greatest product of each of 16 rows with any of many others: halves, 64 per row. A warp per 16 rows.
__global__ void similar_rows_mma(const u32* __restrict__ wanted, const u32* __restrict__ known, float* __restrict__ out,
                                 int n, int count) {
  const int warp = global_id() / 32, lane = threadIdx.x % 32, row = lane / 4, word = lane % 4;
  if (16 * warp >= n) return;
  u32 a[4][4];
#pragma unroll
  for (int s = 0; s < 4; s++) {
#pragma unroll
    for (int j = 0; j < 4; j++) a[s][j] = wanted[(16 * warp + row + 8 * (j & 1)) * 32 + 8 * s + word + 4 * (j >> 1)];
  }
  float best[2] = {-1e30f, -1e30f};
  for (int first = 0; first < count; first += 8) {
    float c[4] = {};
#pragma unroll
    for (int s = 0; s < 4; s++) {
      const u32 *from = known + (first + row) * 32 + 8 * s + word, b0 = from[0], b1 = from[4];
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a[s][0]), "r"(a[s][1]), "r"(a[s][2]), "r"(a[s][3]), "r"(b0), "r"(b1));
    }
    best[0] = fmaxf(best[0], fmaxf(c[0], c[1]));
    best[1] = fmaxf(best[1], fmaxf(c[2], c[3]));
  }
#pragma unroll
  for (int h = 0; h < 2; h++) {
    best[h] = fmaxf(best[h], __shfl_xor_sync(ALL_LANES, best[h], 1));
    best[h] = fmaxf(best[h], __shfl_xor_sync(ALL_LANES, best[h], 2));
    if (word == 0) out[16 * warp + row + 8 * h] = best[h];
  }
}

// A layer of bytes: 64 inputs, 64 outputs, scaled and cut off at 0 and 127. A warp per 16 rows; it holds the weights.
__global__ void byte_layer_mma(const signed char* __restrict__ row_bytes,
                               const signed char* __restrict__ weight_bytes, char2* __restrict__ out, int n,
                               int scale) {
  const u32 *rows = (const u32*)row_bytes, *weights = (const u32*)weight_bytes;
  const int lane = threadIdx.x % 32, row = lane / 4, word = lane % 4;
  u32 b[8][2][2];
#pragma unroll
  for (int t = 0; t < 8; t++) {
#pragma unroll
    for (int s = 0; s < 4; s++) b[t][s / 2][s % 2] = weights[(8 * t + row) * 16 + 4 * s + word];
  }
  for (int group = global_id() / 32; 16 * group < n; group += gridDim.x * blockDim.x / 32) {
    u32 a[2][4];
#pragma unroll
    for (int j = 0; j < 8; j++) a[j / 4][j % 4] = rows[(16 * group + row + 8 * (j & 1)) * 16 + 4 * (j / 2) + word];
#pragma unroll
    for (int t = 0; t < 8; t++) {
      int c[4] = {};
#pragma unroll
      for (int s = 0; s < 2; s++) {
        asm volatile(
            "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
            : "r"(a[s][0]), "r"(a[s][1]), "r"(a[s][2]), "r"(a[s][3]), "r"(b[t][s][0]), "r"(b[t][s][1]));
      }
#pragma unroll
      for (int j = 0; j < 4; j++) c[j] = min(max(c[j] * scale >> 8, 0), 127);
      out[(16 * group + row) * 32 + 4 * t + word] = make_char2(c[0], c[1]);
      out[(16 * group + row + 8) * 32 + 4 * t + word] = make_char2(c[2], c[3]);
    }
  }
}

// How loud each of 16 frequencies is in short signals of 16 halves; the waves are a matrix, 8 signals at a time.
__global__ void spectra_mma(const u32* __restrict__ signals, float* __restrict__ out, int n) {
  const int lane = threadIdx.x % 32, row = lane / 4, word = lane % 4;
  u32 cosines[4], sines[4];
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const int frequency = row + 8 * (j & 1), t = 2 * word + 8 * (j >> 1);
    float s0, c0, s1, c1;
    sincospif(frequency * t / 8.0f, &s0, &c0);
    sincospif(frequency * (t + 1) / 8.0f, &s1, &c1);
    const __half2 c = __floats2half2_rn(c0, c1), s = __floats2half2_rn(s0, s1);
    cosines[j] = *(const u32*)&c;
    sines[j] = *(const u32*)&s;
  }
  for (int group = global_id() / 32; 8 * group < n; group += gridDim.x * blockDim.x / 32) {
    const u32 b0 = signals[(8 * group + row) * 8 + word], b1 = signals[(8 * group + row) * 8 + word + 4];
    float re[4] = {}, im[4] = {};
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(re[0]), "+f"(re[1]), "+f"(re[2]), "+f"(re[3])
        : "r"(cosines[0]), "r"(cosines[1]), "r"(cosines[2]), "r"(cosines[3]), "r"(b0), "r"(b1));
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(im[0]), "+f"(im[1]), "+f"(im[2]), "+f"(im[3])
        : "r"(sines[0]), "r"(sines[1]), "r"(sines[2]), "r"(sines[3]), "r"(b0), "r"(b1));
#pragma unroll
    for (int j = 0; j < 4; j++)
      out[(8 * group + 2 * word + (j & 1)) * 16 + row + 8 * (j >> 1)] = re[j] * re[j] + im[j] * im[j];
  }
}

// Products of 64 rows with each other, short floats; a block per set of rows, 64 columns in shared memory at a time.
__global__ void gram_bf16_mma(const __nv_bfloat16* __restrict__ rows, float* __restrict__ out, int columns) {
  __shared__ __align__(16) u16 tile[64][72];
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x % 32;
  float c[2][8][4] = {};
  for (int first = 0; first < columns; first += 64) {
    __syncthreads();
    for (int j = threadIdx.x; j < 512; j += blockDim.x)
      *(uint4*)&tile[j / 8][8 * (j % 8)] =
          *(const uint4*)&rows[(blockIdx.x * 64 + j / 8) * columns + first + 8 * (j % 8)];
    __syncthreads();
    for (int s = 0; s < 64; s += 16) {
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int part = warp + h * warps;
        if (part > 3) continue;
        u32 a[4];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                     : "r"(shared_address(&tile[16 * part + lane % 16][s + lane / 16 * 8])));
#pragma unroll
        for (int t = 0; t < 8; t++) {
          u32 b[2];
          asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                       : "=r"(b[0]), "=r"(b[1])
                       : "r"(shared_address(&tile[8 * t + lane % 8][s + lane / 8 % 2 * 8])));
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
              "{%0, %1, %2, %3};"
              : "+f"(c[h][t][0]), "+f"(c[h][t][1]), "+f"(c[h][t][2]), "+f"(c[h][t][3])
              : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        }
      }
    }
  }
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const int part = warp + h * warps;
    if (part > 3) continue;
#pragma unroll
    for (int t = 0; t < 8; t++) {
      float2* to = (float2*)(out + (blockIdx.x * 64 + 16 * part + lane / 4) * 64 + 8 * t) + lane % 4;
      to[0] = make_float2(c[h][t][0], c[h][t][1]);
      to[8 * 32] = make_float2(c[h][t][2], c[h][t][3]);
    }
  }
}

// In how many ways two steps lead from one town to another: bytes say which towns have a road, both ways.
__global__ void two_step_ways_mma(const u8* __restrict__ map, int2* __restrict__ out, int n) {
  const u32* roads = (const u32*)map;
  const int warp = global_id() / 32, lane = threadIdx.x % 32, row = lane / 4, word = lane % 4, pitch = n / 4;
  const int y = blockIdx.y * 16 + row, x = warp * 8;
  if (x >= n) return;
  int c[4] = {};
  for (int s = 0; s < pitch; s += 8) {
    const u32 *upper = roads + y * pitch + s + word, *lower = upper + 8 * pitch;
    const u32* column = roads + (x + row) * pitch + s + word;
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(upper[0]), "r"(lower[0]), "r"(upper[4]), "r"(lower[4]), "r"(column[0]), "r"(column[4]));
  }
  out[(y * n + x) / 2 + word] = make_int2(c[0], c[1]);
  out[((y + 8) * n + x) / 2 + word] = make_int2(c[2], c[3]);
}

// ------------------------------------------------------------------------------------------------- copies on their way

// The greatest values of the rows that a block's list names, column by column; four rows are on their way.
__global__ void async_row_maxima(const float4* __restrict__ table, const int* __restrict__ lists,
                                 float4* __restrict__ out, int each) {
  extern __shared__ float4 rows[];
  const int* list = lists + blockIdx.x * each;
  for (int c = threadIdx.x; c < 64; c += blockDim.x) {
    float4* own = rows + threadIdx.x;
    for (int j = 0; j < 3; j++) {
      if (j < each) __pipeline_memcpy_async(own + j * blockDim.x, &table[list[j] * 64 + c], 16);
      __pipeline_commit();
    }
    float4 most = make_float4(-1e30f, -1e30f, -1e30f, -1e30f);
    for (int j = 0; j < each; j++) {
      if (j + 3 < each) __pipeline_memcpy_async(own + ((j + 3) & 3) * blockDim.x, &table[list[j + 3] * 64 + c], 16);
      __pipeline_commit();
      __pipeline_wait_prior(3);
      const float4 v = own[(j & 3) * blockDim.x];
      most = make_float4(fmaxf(most.x, v.x), fmaxf(most.y, v.y), fmaxf(most.z, v.z), fmaxf(most.w, v.w));
    }
    out[blockIdx.x * 64 + c] = most;
  }
}

// How often a word of four letters that differs in one letter at most stands in a text; a piece of 2048 letters is
// copied while the one before is read.
__global__ void async_near_words(const u8* __restrict__ text, int* __restrict__ out, int pieces, u32 word) {
  __shared__ __align__(16) u8 letters[2][2064];
  int found = 0, turn = 0;
  const auto fetch = [&](int piece, int side) {
    for (int j = threadIdx.x; j < 129; j += blockDim.x)
      __pipeline_memcpy_async(&letters[side][16 * j], &text[piece * 2048 + 16 * j], 16);
    __pipeline_commit();
  };
  if (blockIdx.x < pieces) fetch(blockIdx.x, 0);
  for (int piece = blockIdx.x; piece < pieces; piece += gridDim.x, turn ^= 1) {
    if (piece + gridDim.x < pieces) fetch(piece + gridDim.x, turn ^ 1);
    __pipeline_wait_prior(piece + gridDim.x < pieces ? 1 : 0);
    __syncthreads();
    for (int j = threadIdx.x; j < 2048; j += blockDim.x) {
      int same = 0;
#pragma unroll
      for (int l = 0; l < 4; l++) same += letters[turn][j + l] == (word >> 8 * l & 255);
      found += same >= 3;
    }
    __syncthreads();
  }
  found = __reduce_add_sync(ALL_LANES, found);
  if (threadIdx.x % 32 == 0) atomicAdd(&out[blockIdx.x], found);
}

// Sensor values by a table that is not even: the whole block fetches the table first, then looks up between its lines.
__global__ void calibrated_values(const float* __restrict__ table, const float* __restrict__ values,
                                  float* __restrict__ out, int n, int lines) {
  extern __shared__ __align__(16) float copied[];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, copied, table, sizeof(float) * lines);
  cg::wait(block);
  for (int k = global_id(); k < n; k += gridDim.x * blockDim.x) {
    const float at = values[k] * (lines - 1);
    const int line = min((int)at, lines - 2);
    const float low = copied[line];
    out[k] = low + (at - line) * (copied[line + 1] - low);
  }
}

// Sums along the columns of a block's rows; groups of eight rows come in bulk, one group ahead.
__global__ void bulk_column_sums(const float* __restrict__ in, float* __restrict__ out, int groups, int columns) {
  extern __shared__ __align__(16) float held[];
  __shared__ __align__(8) u64 arrived[2];
  const int bytes = 32 * columns;
  const float* own = in + (size_t)blockIdx.x * groups * 8 * columns;
  const auto fetch = [&](int group) {
    const u32 barrier = shared_address(&arrived[group & 1]);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(held + (group & 1) * 8 * columns)),
                 "l"(__cvta_generic_to_global(own + (size_t)group * 8 * columns)), "r"(bytes), "r"(barrier)
                 : "memory");
  };
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&arrived[0])) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&arrived[1])) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    fetch(0);
  }
  __syncthreads();
  float sums[4] = {};
  for (int group = 0; group < groups; group++) {
    if (threadIdx.x == 0 && group + 1 < groups) fetch(group + 1);
    u32 done = 0;
    while (!done) {
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(shared_address(&arrived[group & 1])), "r"(group >> 1 & 1)
                   : "memory");
    }
    const float* rows = held + (group & 1) * 8 * columns;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int c = threadIdx.x + j * blockDim.x;
      if (c < columns) {
#pragma unroll
        for (int r = 0; r < 8; r++) sums[j] += rows[r * columns + c];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const int c = threadIdx.x + j * blockDim.x;
    if (c < columns) out[blockIdx.x * columns + c] = sums[j];
  }
}

// ----------------------------------------------------------------------------------------------- pictures and learning

__constant__ signed char circle[32] = {0, -3, 1, -3, 2, -2, 3, -1, 3,  0, 3,  1, 2,  2, 1,  3,
                                       0, 3,  -1, 3, -2, 2, -3, 1, -3, 0, -3, -1, -2, -2, -1, -3};

// Corners: nine points of a circle in a row that are all brighter, or all darker, than its middle.
__global__ void circle_corners(const u8* __restrict__ picture, u8* __restrict__ out, int width, int height, int apart) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  u8 found = 0;
  if (x > 2 && x < width - 3 && y > 2 && y < height - 3) {
    const int middle = picture[y * width + x];
    const int up = picture[(y - 3) * width + x] - middle, down = picture[(y + 3) * width + x] - middle;
    if (abs(up) > apart || abs(down) > apart) {
      u32 brighter = 0, darker = 0;
#pragma unroll
      for (int j = 0; j < 16; j++) {
        const int v = picture[(y + circle[2 * j + 1]) * width + x + circle[2 * j]] - middle;
        brighter |= (v > apart) << j;
        darker |= (v < -apart) << j;
      }
      brighter |= brighter << 16;
      darker |= darker << 16;
      for (int j = 0; j < 8; j++) {
        brighter &= brighter << 1;
        darker &= darker << 1;
      }
      found = (brighter | darker) != 0;
    }
  }
  out[y * width + x] = found;
}

__device__ __forceinline__ u32 darker_around(const u8* picture, int width, int x, int y) {
  const u8 middle = picture[y * width + x];
  u32 bits = 0;
#pragma unroll
  for (int dy = -2; dy <= 2; dy++) {
#pragma unroll
    for (int dx = -2; dx <= 2; dx++) bits = bits << 1 | (picture[(y + dy) * width + x + dx] < middle);
  }
  return bits;
}

// How far points moved between two pictures, by which of their neighbours are darker.
__global__ void census_shifts(const u8* __restrict__ left, const u8* __restrict__ right, u8* __restrict__ out,
                              int width, int height, int most) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 2, y = blockIdx.y * blockDim.y + threadIdx.y + 2;
  if (x >= width - 2 || y >= height - 2) return;
  const u32 own = darker_around(left, width, x, y);
  int best = 100, shift = 0;
  for (int s = 0; s < most && x - s >= 2; s++) {
    const int cost = __popc(own ^ darker_around(right, width, x - s, y));
    if (cost < best) {
      best = cost;
      shift = s;
    }
  }
  out[y * width + x] = shift;
}

__constant__ signed char taps[32] = {-1, -4, 3, -3, -3, -2, 1, -1, 4, -1, -4, 0, -2, 1, 2, 1,
                                     0,  2,  4, 3,  -3, 3,  1, 4,  0, -2, 2, -2, -1, 0, 3, 2};

// How much of the light reaches points: sixteen places of a map of depths around each.
__global__ void soft_shadows(const float* __restrict__ depths, const float* __restrict__ points,
                             float* __restrict__ out, int n, int size) {
  const int k = global_id();
  if (k >= n) return;
  const int x = (int)(points[k] * (size - 8)) + 4, y = (int)(points[n + k] * (size - 8)) + 4;
  const float depth = points[2 * n + k];
  int lit = 0;
#pragma unroll
  for (int j = 0; j < 16; j++) lit += depths[(y + taps[2 * j + 1]) * size + x + taps[2 * j]] > depth;
  out[k] = lit / 16.0f;
}

// Noise of cells: the way to the nearest of points that are strewn over a grid, one per cell.
__global__ void cell_noise(float* __restrict__ out, int width, int height, float scale, u32 seed) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const float x = px * scale, y = py * scale;
  const int cx = (int)x, cy = (int)y;
  float best = 9.0f;
#pragma unroll
  for (int dy = -1; dy <= 1; dy++) {
#pragma unroll
    for (int dx = -1; dx <= 1; dx++) {
      const u32 hash = hashed((cy + dy + 1) * 4096 + cx + dx + 1 ^ seed);
      const float ax = cx + dx + (hash & 0xffff) / 65536.0f - x, ay = cy + dy + (hash >> 16) / 65536.0f - y;
      best = fminf(best, ax * ax + ay * ay);
    }
  }
  out[py * width + px] = sqrtf(best);
}

// People before a green wall, in front of another picture.
__global__ void green_screen(const uchar4* __restrict__ people, const uchar4* __restrict__ behind,
                             uchar4* __restrict__ out, int n) {
  for (int k = global_id(); k < n; k += gridDim.x * blockDim.x) {
    const uchar4 p = people[k], b = behind[k];
    const int green = min(max((p.y - max((int)p.x, (int)p.z)) * 4, 0), 255), kept = 255 - green;
    const int clean = min((int)p.y, max((int)p.x, (int)p.z));
    out[k] = make_uchar4((p.x * kept + b.x * green) / 255, (clean * kept + b.y * green) / 255,
                         (p.z * kept + b.z * green) / 255, kept);
  }
}

// Land in the light of the evening, from the slopes of its heights.
__global__ void hill_shades(const float* __restrict__ heights, float* __restrict__ out, int width, int height,
                            float steep) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= width - 1 || y >= height - 1) return;
  const float* at = heights + y * width + x;
  const float *above = at - width, *below = at + width;
  const float dx = above[1] + 2.0f * at[1] + below[1] - above[-1] - 2.0f * at[-1] - below[-1];
  const float dy = below[-1] + 2.0f * below[0] + below[1] - above[-1] - 2.0f * above[0] - above[1];
  const float size = rsqrtf(1.0f + steep * (dx * dx + dy * dy));
  out[y * width + x] = fmaxf((0.7f + sqrtf(steep) * (0.5f * dx - 0.5f * dy)) * size, 0.0f);
}

// Directions as two numbers of 16 bits: the faces of an octahedron, unfolded.
__global__ void folded_directions(const float* __restrict__ directions, u32* __restrict__ out, int n) {
  const int k = global_id();
  if (k >= n) return;
  const float x = directions[3 * k], y = directions[3 * k + 1], z = directions[3 * k + 2];
  const float scale = 1.0f / (fabsf(x) + fabsf(y) + fabsf(z));
  float u = x * scale, v = y * scale;
  if (z < 0.0f) {
    const float fold = copysignf(1.0f - fabsf(v), u);
    v = copysignf(1.0f - fabsf(u), v);
    u = fold;
  }
  out[k] = (__float2int_rn(u * 32767.0f) & 0xffff) | __float2int_rn(v * 32767.0f) << 16;
}

// What flows back through gelu by tanh; two halves at a time.
__global__ void gelu_gradients(const u32* __restrict__ inputs, const u32* __restrict__ gradients,
                               u32* __restrict__ out, int pairs) {
  for (int k = global_id(); k < pairs; k += gridDim.x * blockDim.x) {
    const float2 x = __half22float2(*(const __half2*)&inputs[k]), g = __half22float2(*(const __half2*)&gradients[k]);
    float found[2];
#pragma unroll
    for (int j = 0; j < 2; j++) {
      const float v = j ? x.y : x.x, t = tanhf(0.79788456f * (v + 0.044715f * v * v * v));
      const float slope = 0.79788456f * (1.0f + 0.134145f * v * v);
      found[j] = (j ? g.y : g.x) * 0.5f * (1.0f + t + v * (1.0f - t * t) * slope);
    }
    *(__half2*)&out[k] = __floats2half2_rn(found[0], found[1]);
  }
}

// On which side of 64 planes vectors of small whole numbers lie; a warp per vector, a plane per lane twice.
__global__ void sign_sketches(const signed char* __restrict__ vectors, const float* __restrict__ planes,
                              uint2* __restrict__ out, int n, int length) {
  const int warp = global_id() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  float first = 0.0f, second = 0.0f;
  for (int d = 0; d < length; d += 32) {
    const float own = vectors[warp * length + d + lane];
#pragma unroll 8
    for (int j = 0; j < 32; j++) {
      const float v = __shfl_sync(ALL_LANES, own, j);
      first += v * planes[(d + j) * 64 + lane];
      second += v * planes[(d + j) * 64 + lane + 32];
    }
  }
  const u32 low = __ballot_sync(ALL_LANES, first > 0.0f), high = __ballot_sync(ALL_LANES, second > 0.0f);
  if (lane == 0) out[warp] = make_uint2(low, high);
}

// A step of a world of wires (3), heads (1) and tails (2) of electrons.
__global__ void wire_world(const u8* __restrict__ world, u8* __restrict__ next, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const u8 own = world[y * width + x];
  u8 after = own == 1 ? 2 : own == 2 ? 3 : own;
  if (own == 3) {
    int heads = 0;
    for (int cy = max(y - 1, 0); cy <= min(y + 1, height - 1); cy++)
      for (int cx = max(x - 1, 0); cx <= min(x + 1, width - 1); cx++) heads += world[cy * width + cx] == 1;
    if (heads == 1 || heads == 2) after = 1;
  }
  next[y * width + x] = after;
}
