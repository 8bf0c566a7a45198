// Kernels for tests/hardware/twenty_first_cases.py: other ones than those of the twenty sets before, as programs have
// them.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define ALL_LANES 0xffffffffu

__device__ __forceinline__ int thread_of_grid() { return blockIdx.x * blockDim.x + threadIdx.x; }

__host__ __device__ constexpr u32 blended(u32 x) {
  x = (x ^ x >> 17) * 0xed5ad4bbu;
  x = (x ^ x >> 11) * 0xac4c1b51u;
  return x ^ x >> 15;
}

// A thread's random numbers: shifts and XORs.
struct Draws {
  u32 state;
  __device__ __forceinline__ Draws(u32 thread, u32 seed) : state(blended(thread + 1u ^ seed * 0x9e3779b1u) | 1u) {}
  __device__ __forceinline__ u32 word() {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state * 0x2545f491u;
  }
  __device__ __forceinline__ u32 below(u32 limit) { return __umulhi(word(), limit); }
  __device__ __forceinline__ float part() { return ((word() >> 9) + 0.5f) * (1.0f / 8388608.0f); }
};

__device__ __forceinline__ u64 greatest_of_warp(u64 x) {
#pragma unroll
  for (int far = 16; far; far /= 2) {
    const u64 other = __shfl_xor_sync(ALL_LANES, x, far);
    x = other > x ? other : x;
  }
  return x;
}

// The greatest number of a block, for all of its threads; `of_warp` has a place per warp.
__device__ __forceinline__ u64 greatest_of_block(u64 x, u64* of_warp) {
  x = greatest_of_warp(x);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
  __syncthreads();
  x = threadIdx.x % 32 < blockDim.x / 32 ? of_warp[threadIdx.x % 32] : 0;
  x = greatest_of_warp(x);
  __syncthreads();
  return x;
}

// ------------------------------------------------------------------------------------------------- a problem per block

// Decks of cards are cut into halves and riffled without a mistake, again and again.
__global__ void perfect_riffles(const int* __restrict__ in, int* __restrict__ out, int cards, int turns) {
  extern __shared__ int decks[];
  int *deck = decks, *next = decks + cards;
  const int half = (cards + 1) / 2;
  for (int j = threadIdx.x; j < cards; j += blockDim.x) deck[j] = in[(size_t)blockIdx.x * cards + j];
  __syncthreads();
  for (int t = 0; t < turns; t++) {
    for (int j = threadIdx.x; j < cards; j += blockDim.x) next[j < half ? 2 * j : 2 * (j - half) + 1] = deck[j];
    __syncthreads();
    int* other = deck;
    deck = next;
    next = other;
  }
  for (int j = threadIdx.x; j < cards; j += blockDim.x) out[(size_t)blockIdx.x * cards + j] = deck[j];
}

// Cars of a town without lights: those that go east (1) move first, then those that go south (2), each if the next
// crossing is free. Out: how many moves there were.
__global__ void crossing_jams(const u8* __restrict__ in, int* __restrict__ out, int side, int turns) {
  extern __shared__ u8 streets[];
  __shared__ int moves;
  const int cells = side * side;
  u8 *now = streets, *next = streets + cells;
  for (int k = threadIdx.x; k < cells; k += blockDim.x) now[k] = in[(size_t)blockIdx.x * cells + k];
  if (threadIdx.x == 0) moves = 0;
  __syncthreads();
  int own_moves = 0;
  for (int t = 0; t < 2 * turns; t++) {
    const int kind = t % 2 + 1;
    for (int k = threadIdx.x; k < cells; k += blockDim.x) {
      const int y = k / side, x = k - y * side;
      int before, behind;
      if (kind == 1) {
        before = x ? k - 1 : k + side - 1;
        behind = x + 1 < side ? k + 1 : k + 1 - side;
      } else {
        before = y ? k - side : k + cells - side;
        behind = y + 1 < side ? k + side : x;
      }
      const int own = now[k];
      const bool leaves = own == kind && now[behind] == 0, comes = own == 0 && now[before] == kind;
      own_moves += comes;
      next[k] = leaves ? 0 : comes ? kind : own;
    }
    __syncthreads();
    u8* other = now;
    now = next;
    next = other;
  }
  own_moves = __reduce_add_sync(ALL_LANES, own_moves);
  if (threadIdx.x % 32 == 0) atomicAdd(&moves, own_moves);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = moves;
}

// Heat on squares by implicit steps along rows, then along columns (Peaceman and Rachford): a line per thread.
__global__ void implicit_heat(const float* __restrict__ in, float* __restrict__ out, int side, int turns, float r) {
  extern __shared__ float square[];
  __shared__ float factor[128];
  for (int k = threadIdx.x; k < side * side; k += blockDim.x) square[k] = in[(size_t)blockIdx.x * side * side + k];
  if (threadIdx.x == 0) {
    float c = 0.0f;
    for (int j = 0; j < side; j++) {
      factor[j] = 1.0f / (1.0f + 2.0f * r - r * c);
      c = r * factor[j];
    }
  }
  __syncthreads();
  for (int t = 0; t < 2 * turns; t++) {
    const int along = t % 2 ? side : 1, across = t % 2 ? 1 : side;
    for (int line = threadIdx.x; line < side; line += blockDim.x) {
      float* x = square + line * across;
      float last = 0.0f;
      for (int j = 0; j < side; j++) x[j * along] = last = (x[j * along] + r * last) * factor[j];
      for (int j = side - 2; j >= 0; j--) x[j * along] = last = x[j * along] + r * factor[j] * last;
    }
    __syncthreads();
  }
  for (int k = threadIdx.x; k < side * side; k += blockDim.x) out[(size_t)blockIdx.x * side * side + k] = square[k];
}

// The bend of loaded strings by V cycles over grids of 2^levels pieces and fewer; a string per block.
__global__ void string_v_cycles(const float* __restrict__ loads, float* __restrict__ out, int levels, int turns) {
  extern __shared__ float grids[];
  const int size = (1 << levels + 1) + levels + 1, n = 1 << levels;
  float *u = grids, *f = u + size, *v = f + size;
  for (int k = threadIdx.x; k < 3 * size; k += blockDim.x) grids[k] = 0.0f;
  __syncthreads();
  for (int k = threadIdx.x + 1; k < n; k += blockDim.x) f[n + levels + k] = loads[(size_t)blockIdx.x * n + k];
  __syncthreads();
  for (int t = 0; t < turns; t++)
    for (int step = 0; step < 2 * levels - 1; step++) {
      const bool down = step < levels;
      const int l = down ? levels - step : step - levels + 2, cells = 1 << l, at = cells + l;
      const int below = cells / 2 + l - 1;
      if (l == 1) {
        if (threadIdx.x == 0) u[at + 1] = 0.5f * f[at + 1];
        __syncthreads();
        continue;
      }
      if (!down) {
        for (int k = threadIdx.x + 1; k < cells; k += blockDim.x)
          u[at + k] += k % 2 ? 0.5f * (u[below + k / 2] + u[below + k / 2 + 1]) : u[below + k / 2];
        __syncthreads();
      }
      for (int sweep = 0; sweep < 2; sweep++) {
        const float* from = sweep ? v : u;
        float* to = sweep ? u : v;
        for (int k = threadIdx.x + 1; k < cells; k += blockDim.x) {
          const float own = from[at + k];
          to[at + k] = own + 0.3333333f * (f[at + k] - 2.0f * own + from[at + k - 1] + from[at + k + 1]);
        }
        __syncthreads();
      }
      if (down) {
        for (int k = threadIdx.x + 1; k < cells; k += blockDim.x)
          v[at + k] = f[at + k] - 2.0f * u[at + k] + u[at + k - 1] + u[at + k + 1];
        __syncthreads();
        for (int k = threadIdx.x + 1; k < cells / 2; k += blockDim.x) {
          f[below + k] = v[at + 2 * k - 1] + 2.0f * v[at + 2 * k] + v[at + 2 * k + 1];
          u[below + k] = 0.0f;
        }
        __syncthreads();
      }
    }
  for (int k = threadIdx.x; k < n; k += blockDim.x) out[(size_t)blockIdx.x * n + k] = u[n + levels + k];
}

// The length of the shortest net that connects the points of a block (Prim): the nearest point joins, again and again.
__global__ void shortest_nets(const float2* __restrict__ points, float* __restrict__ out, int n) {
  extern __shared__ float2 places[];
  __shared__ u64 of_warp[32];
  float* far = (float*)(places + n);
  for (int k = threadIdx.x; k < n; k += blockDim.x) {
    places[k] = points[(size_t)blockIdx.x * n + k];
    far[k] = k ? 1e30f : -1.0f;
  }
  __syncthreads();
  int last = 0;
  float length = 0.0f;
  for (int joined = 1; joined < n; joined++) {
    const float2 p = places[last];
    u64 best = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
      if (far[k] < 0.0f) continue;
      const float x = places[k].x - p.x, y = places[k].y - p.y, d = fminf(far[k], x * x + y * y);
      far[k] = d;
      const u64 key = (u64)~__float_as_uint(d) << 32 | (u32)k;
      best = key > best ? key : best;
    }
    best = greatest_of_block(best, of_warp);
    last = (int)(u32)best;
    length += sqrtf(__uint_as_float(~(u32)(best >> 32)));
    if (last % blockDim.x == threadIdx.x) far[last] = -1.0f;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = length;
}

// When the tasks of a project end at the earliest; each waits for up to three earlier ones. Rounds until nothing moves.
__global__ void project_ends(const u32* __restrict__ before, const u8* __restrict__ days, int* __restrict__ out,
                             int tasks) {
  extern __shared__ int ends[];
  int *now = ends, *next = ends + tasks;
  for (int j = threadIdx.x; j < tasks; j += blockDim.x) now[j] = days[(size_t)blockIdx.x * tasks + j];
  __syncthreads();
  bool moved = true;
  while (moved) {
    moved = false;
    for (int j = threadIdx.x; j < tasks; j += blockDim.x) {
      int start = 0;
      for (int k = 0; j && k < 3; k++)
        start = max(start, now[before[((size_t)blockIdx.x * 3 + k) * tasks + j] % (u32)j]);
      const int end = start + days[(size_t)blockIdx.x * tasks + j];
      moved |= end != now[j];
      next[j] = end;
    }
    moved = __syncthreads_or(moved);
    int* other = now;
    now = next;
    next = other;
  }
  for (int j = threadIdx.x; j < tasks; j += blockDim.x) out[(size_t)blockIdx.x * tasks + j] = now[j];
}

// Gradients that teach an order (LambdaRank without the gain): all pairs of pages of a query, a query per block.
__global__ void order_gradients(const int* __restrict__ starts, const float* __restrict__ scores,
                                const int* __restrict__ grades, float* __restrict__ out) {
  const int first = starts[blockIdx.x], end = starts[blockIdx.x + 1];
  for (int k = first + threadIdx.x; k < end; k += blockDim.x) {
    const float own = scores[k];
    const int grade = grades[k] % 5;
    float sum = 0.0f;
    for (int j = first; j < end; j++) {
      const int other = grades[j] % 5;
      if (other == grade) continue;
      const float sign = grade > other ? 1.0f : -1.0f;
      sum += sign * (grade > other ? grade - other : other - grade) / (1.0f + __expf(sign * (own - scores[j])));
    }
    out[k] = sum;
  }
}

// Which points of recorded tracks stay (Douglas and Peucker); a track per block, the stretches to look at in a stack.
__global__ void thinned_tracks(const int* __restrict__ starts, const float2* __restrict__ points, u8* __restrict__ kept,
                               float limit) {
  __shared__ int2 stack[32];
  __shared__ u64 of_warp[32];
  const int start = starts[blockIdx.x], count = starts[blockIdx.x + 1] - start;
  const float2* track = points + start;
  for (int k = threadIdx.x; k < count; k += blockDim.x) kept[start + k] = k == 0 || k == count - 1;
  if (threadIdx.x == 0) stack[0] = make_int2(0, count - 1);
  int depth = count > 2;
  __syncthreads();
  while (depth) {
    const int2 s = stack[--depth];
    const float2 a = track[s.x], b = track[s.y];
    const float x = b.x - a.x, y = b.y - a.y, scale = rsqrtf(x * x + y * y + 1e-12f);
    u64 best = 0;
    for (int k = s.x + 1 + threadIdx.x; k < s.y; k += blockDim.x) {
      const float off = fabsf(x * (track[k].y - a.y) - y * (track[k].x - a.x)) * scale;
      const u64 key = (u64)__float_as_uint(off) << 32 | (u32)k;
      best = key > best ? key : best;
    }
    best = greatest_of_block(best, of_warp);
    if (__uint_as_float((u32)(best >> 32)) <= limit) continue;
    const int middle = (u32)best;
    const int2 left = make_int2(s.x, middle), right = make_int2(middle, s.y);
    const bool left_first = middle - s.x > s.y - middle;
    const int2 big = left_first ? left : right, small = left_first ? right : left;
    if (threadIdx.x == 0) {
      kept[start + middle] = 1;
      stack[depth] = big;
      stack[depth + (big.y - big.x > 1)] = small;
    }
    depth += (big.y - big.x > 1) + (small.y - small.x > 1);
    __syncthreads();
  }
}

// Waves of single particles on a ring with a potential (Schroedinger), real and imaginary parts in turn.
__global__ void particle_waves(const float* __restrict__ potentials, float* __restrict__ out, int n, int turns,
                               float dt) {
  extern __shared__ float wave[];
  float *real = wave, *imaginary = wave + n, *v = imaginary + n;
  for (int k = threadIdx.x; k < n; k += blockDim.x) {
    const float x = (k - n / 3) * 0.1f, height = __expf(-x * x);
    float s, c;
    __sincosf(0.05f * (blockIdx.x % 16 + 1) * (k - n / 3), &s, &c);
    real[k] = height * c;
    imaginary[k] = height * s;
    v[k] = potentials[(size_t)blockIdx.x * n + k];
  }
  __syncthreads();
  for (int t = 0; t < 2 * turns; t++) {
    const float* from = t % 2 ? real : imaginary;
    float* to = t % 2 ? imaginary : real;
    const float by = t % 2 ? -dt : dt;
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
      const float near = from[k ? k - 1 : n - 1] + from[k + 1 < n ? k + 1 : 0];
      to[k] += by * (from[k] * (1.0f + v[k]) - 0.5f * near);
    }
    __syncthreads();
  }
  for (int k = threadIdx.x; k < n; k += blockDim.x)
    out[(size_t)blockIdx.x * n + k] = real[k] * real[k] + imaginary[k] * imaginary[k];
}

// Networks with fixed random weights between their units (reservoirs) follow signals; a signal per block.
__global__ void reservoir_states(const float* __restrict__ weights, const float* __restrict__ signals,
                                 float* __restrict__ out, int units, int steps) {
  extern __shared__ float states[];
  float *now = states, *next = states + units;
  for (int j = threadIdx.x; j < units; j += blockDim.x) now[j] = 0.0f;
  __syncthreads();
  for (int t = 0; t < steps; t++) {
    const float in = signals[(size_t)blockIdx.x * steps + t];
    for (int j = threadIdx.x; j < units; j += blockDim.x) {
      float sum = j % 2 ? in : -0.5f * in;
      for (int k = 0; k < units; k++) sum += weights[k * units + j] * now[k];
      next[j] = 0.7f * now[j] + 0.3f * tanhf(sum);
    }
    __syncthreads();
    float* other = now;
    now = next;
    next = other;
  }
  for (int j = threadIdx.x; j < units; j += blockDim.x) out[(size_t)blockIdx.x * units + j] = now[j];
}

// Into how many different answers guesses of five letters part the words that are left; a guess per block. Letters are
// five bits each. .x: how many answers, .y: the sum of their squared counts.
__global__ void guess_partitions(const u32* __restrict__ guesses, const u32* __restrict__ words, int2* __restrict__ out,
                                 int n) {
  __shared__ int counts[243];
  __shared__ int kinds, squares;
  for (int b = threadIdx.x; b < 243; b += blockDim.x) counts[b] = 0;
  if (threadIdx.x == 0) kinds = squares = 0;
  __syncthreads();
  const u32 guess = guesses[blockIdx.x];
  for (int k = threadIdx.x; k < n; k += blockDim.x) {
    const u32 word = words[k];
    u32 used = 0;
#pragma unroll
    for (int j = 0; j < 5; j++) used |= (u32)((guess >> 5 * j & 31) == (word >> 5 * j & 31)) << j;
    const u32 right = used;
    int answer = 0;
#pragma unroll
    for (int j = 0; j < 5; j++) {
      int mark = 2;
      if (!(right >> j & 1)) {
        mark = 0;
        for (int other = 0; other < 5; other++)
          if (!(used >> other & 1) && (guess >> 5 * j & 31) == (word >> 5 * other & 31)) {
            used |= 1u << other;
            mark = 1;
            break;
          }
      }
      answer = 3 * answer + mark;
    }
    atomicAdd(&counts[answer], 1);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 243; b += blockDim.x)
    if (counts[b]) {
      atomicAdd(&kinds, 1);
      atomicAdd(&squares, counts[b] * counts[b]);
    }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = make_int2(kinds, squares);
}

// ------------------------------------------------------------------------------------------------------------- atomics

// The colours of a picture around the wheel, in 72 parts; strong colours count more.
__global__ void hue_wheel(const uchar4* __restrict__ pixels, u32* wheel, int n) {
  __shared__ u32 parts[72];
  for (int b = threadIdx.x; b < 72; b += blockDim.x) parts[b] = 0;
  __syncthreads();
  for (int k = thread_of_grid(); k < n; k += gridDim.x * blockDim.x) {
    const uchar4 p = pixels[k];
    const int r = p.x, g = p.y, b = p.z, most = max(r, max(g, b)), range = most - min(r, min(g, b));
    if (range < 8) continue;
    int part;
    if (most == r)
      part = 72 + (12 * (g - b) + 72 * range) / range - 72;
    else if (most == g)
      part = 24 + (12 * (b - r) + 72 * range) / range;
    else
      part = 48 + (12 * (r - g) + 72 * range) / range;
    atomicAdd(&parts[part % 72], range);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 72; b += blockDim.x)
    if (parts[b]) atomicAdd(&wheel[b], parts[b]);
}

// Keys enter an invertible table: three cells each count them and mix them by XOR.
__global__ void mixed_cells(const u32* __restrict__ keys, u32* counts, u32* mixed, u64* checks, int n, int cells) {
  for (int k = thread_of_grid(); k < n; k += gridDim.x * blockDim.x) {
    const u32 key = keys[k], h = blended(key), third = cells / 3;
    const u64 check = (u64)blended(h) << 32 | blended(h ^ 0x55555555u);
#pragma unroll
    for (u32 j = 0; j < 3; j++) {
      const u32 cell = j * third + blended(key + j * 0x3c6ef372u) % third;
      atomicAdd(&counts[cell], 1);
      atomicXor(&mixed[cell], key);
      atomicXor(&checks[cell], check);
    }
  }
}

// The forces of elements with four corners, in sixty-fourths, sum up at the corners in double precision.
__global__ void corner_forces(const int4* __restrict__ corners, const int* __restrict__ forces, double* sums, int n) {
  const int e = thread_of_grid();
  if (e >= n) return;
  const int4 c = corners[e];
#pragma unroll
  for (int axis = 0; axis < 3; axis++) {
    const double quarter = forces[axis * n + e] * (1.0 / 256.0);
    atomicAdd(&sums[3 * c.x + axis], quarter);
    atomicAdd(&sums[3 * c.y + axis], quarter);
    atomicAdd(&sums[3 * c.z + axis], -quarter);
    atomicAdd(&sums[3 * c.w + axis], -quarter);
  }
}

// Each place of a graph offers itself to all neighbours, who keep the heaviest offer; a place per warp.
__global__ void heaviest_offers(const int* __restrict__ starts, const int* __restrict__ members, u64* best, int n) {
  const int own = thread_of_grid() / 32;
  if (own >= n) return;
  for (int k = starts[own] + threadIdx.x % 32; k < starts[own + 1]; k += 32) {
    const u32 other = members[k], weight = blended((u32)own + other) ^ blended((u32)own * other);
    if (other != own) atomicMax(&best[other], (u64)weight << 32 | (u32)own);
  }
}

// Where light that enters fog is swallowed: counts by layer; the first count is what comes back, the last what gets
// through. Light turns at random angles.
__global__ void photon_layers(u32* tally, int photons, int layers, float albedo, u32 seed) {
  extern __shared__ u32 counts[];
  for (int b = threadIdx.x; b < layers + 2; b += blockDim.x) counts[b] = 0;
  __syncthreads();
  for (int k = thread_of_grid(); k < photons; k += gridDim.x * blockDim.x) {
    Draws draws(k, seed);
    float depth = 0.0f, down = 1.0f;
    int place;
    while (true) {
      depth -= down * __logf(draws.part());
      place = depth < 0.0f ? 0 : depth >= layers ? layers + 1 : 1 + (int)depth;
      if (place == 0 || place == layers + 1 || draws.part() > albedo) break;
      const float turn = 1.8f * draws.part() - 0.8f, around = 6.2831853f * draws.part();
      down = turn * down + sqrtf(fmaxf((1.0f - turn * turn) * (1.0f - down * down), 0.0f)) * __cosf(around);
    }
    atomicAdd(&counts[place], 1);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < layers + 2; b += blockDim.x)
    if (counts[b]) atomicAdd(&tally[b], counts[b]);
}

// --------------------------------------------------------------------------------------------------- physics and sound

// Small bodies between two large ones that circle each other; steps as long as their error allows.
__global__ void adaptive_orbits(const float2* __restrict__ places, float4* __restrict__ out, int n, float until,
                                float allowed) {
  const int k = thread_of_grid();
  if (k >= n) return;
  const float2 p = places[k];
  float s[4] = {0.6f + 0.5f * p.x, 0.3f + 0.3f * p.y, -0.1f, 0.4f}, t = 0.0f, dt = 0.01f;
  auto slope = [](const float* s, float* d) {
    const float m = 0.012277471f, x = s[0] + m, z = s[0] - 1.0f + m, y2 = s[1] * s[1] + 1e-3f;
    float a = rsqrtf(x * x + y2), b = rsqrtf(z * z + y2);
    a = (1.0f - m) * a * a * a;
    b = m * b * b * b;
    d[0] = s[2];
    d[1] = s[3];
    d[2] = s[0] + 2.0f * s[3] - a * x - b * z;
    d[3] = s[1] - 2.0f * s[2] - (a + b) * s[1];
  };
  float a[4], b[4], c[4], d[4], at[4], next[4];
  slope(s, a);
  while (t < until) {
    dt = fminf(dt, until - t + 1e-6f);
#pragma unroll
    for (int j = 0; j < 4; j++) at[j] = s[j] + 0.5f * dt * a[j];
    slope(at, b);
#pragma unroll
    for (int j = 0; j < 4; j++) at[j] = s[j] + 0.75f * dt * b[j];
    slope(at, c);
#pragma unroll
    for (int j = 0; j < 4; j++) next[j] = s[j] + dt * (2.0f * a[j] + 3.0f * b[j] + 4.0f * c[j]) * (1.0f / 9.0f);
    slope(next, d);
    float error = 1e-9f;
#pragma unroll
    for (int j = 0; j < 4; j++)
      error = fmaxf(error, dt * fabsf(-5.0f * a[j] + 6.0f * b[j] + 8.0f * c[j] - 9.0f * d[j]) * (1.0f / 72.0f));
    if (error <= allowed || dt < 1e-4f) {
      t += dt;
#pragma unroll
      for (int j = 0; j < 4; j++) {
        s[j] = next[j];
        a[j] = d[j];
      }
    }
    dt *= fminf(fmaxf(0.9f * cbrtf(allowed / error), 0.3f), 3.0f);
  }
  out[k] = make_float4(s[0], s[1], s[2], s[3]);
}

// Voices through the four stages of an old synthesizer's filter, which saturates.
__global__ void ladder_voices(const float* __restrict__ in, float* __restrict__ out, int n, int samples,
                              float resonance) {
  const int k = thread_of_grid();
  if (k >= n) return;
  const float g = 0.05f + 0.4f * (k % 97) / 97.0f;
  float a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
  for (int t = 0; t < samples; t++) {
    a += g * (tanhf(in[(size_t)t * n + k] - resonance * d) - tanhf(a));
    b += g * (tanhf(a) - tanhf(b));
    c += g * (tanhf(b) - tanhf(c));
    d += g * (tanhf(c) - tanhf(d));
    out[(size_t)t * n + k] = d;
  }
}

// Bessel's functions of one order by Miller's way downwards; x is between 0.5 and 12.5.
__global__ void bessel_downwards(const float* __restrict__ in, float* __restrict__ out, int n, int order) {
  const int k = thread_of_grid();
  if (k >= n) return;
  const float x = 0.5f + 12.0f * in[k];
  float above = 0.0f, own = 1e-20f, wanted = 0.0f, sum = 0.0f;
  for (int j = 2 * ((order + 32) / 2); j > 0; j--) {
    const float below = 2.0f * j / x * own - above;
    above = own;
    own = below;
    if (fabsf(own) > 1e12f) {
      own *= 1e-12f;
      above *= 1e-12f;
      wanted *= 1e-12f;
      sum *= 1e-12f;
    }
    if (j % 2) sum += own;
    if (j == order + 1) wanted = own;
  }
  out[k] = wanted / (2.0f * sum - own);
}

// How far places on the earth's ellipsoid are from each other, in kilometres, by Vincenty's iteration.
__global__ void ellipsoid_distances(const float4* __restrict__ pairs, float* __restrict__ out, int n) {
  const int k = thread_of_grid();
  if (k >= n) return;
  const float4 p = pairs[k];
  const float flat = 1.0f / 298.257f, across = 3.0f * (p.y - p.w);
  float su, cu, sv, cv;
  sincosf(atanf((1.0f - flat) * tanf(2.4f * (p.x - 0.5f))), &su, &cu);
  sincosf(atanf((1.0f - flat) * tanf(2.4f * (p.z - 0.5f))), &sv, &cv);
  float lambda = across, sigma = 0.0f, sin_sigma = 0.0f, cos_sigma = 1.0f, square = 1.0f, middle = 0.0f;
  for (int t = 0; t < 20; t++) {
    float s, c;
    sincosf(lambda, &s, &c);
    const float a = cv * s, b = cu * sv - su * cv * c;
    sin_sigma = sqrtf(a * a + b * b + 1e-14f);
    cos_sigma = su * sv + cu * cv * c;
    sigma = atan2f(sin_sigma, cos_sigma);
    const float alpha = cu * cv * s / sin_sigma;
    square = fmaxf(1.0f - alpha * alpha, 1e-6f);
    middle = cos_sigma - 2.0f * su * sv / square;
    const float f = flat / 16.0f * square * (4.0f + flat * (4.0f - 3.0f * square));
    const float turn = sigma + f * sin_sigma * (middle + f * cos_sigma * (2.0f * middle * middle - 1.0f));
    const float next = across + (1.0f - f) * flat * alpha * turn;
    const float moved = fabsf(next - lambda);
    lambda = next;
    if (moved < 2e-6f) break;
  }
  const float u = square * 0.00673949674f, wide = 1.0f + u / 256.0f * (64.0f + u * (5.0f * u - 12.0f));
  const float deep = u / 512.0f * (128.0f + u * (37.0f * u - 64.0f));
  const float less = deep * sin_sigma * (middle + deep / 4.0f * cos_sigma * (2.0f * middle * middle - 1.0f));
  out[k] = 6356.752f * wide * (sigma - less);
}

// How different two colours look (CIEDE2000); .x: lightness, .y and .z: the colour.
__global__ void colour_differences(const float4* __restrict__ first, const float4* __restrict__ second,
                                   float* __restrict__ out, int n) {
  const int k = thread_of_grid();
  if (k >= n) return;
  const float4 p = first[k], q = second[k];
  auto seventh = [](float x) {
    const float y = x * x * x;
    return y * y * x;
  };
  const float mean = 0.5f * (sqrtf(p.y * p.y + p.z * p.z) + sqrtf(q.y * q.y + q.z * q.z));
  const float grey = 1.5f - 0.5f * sqrtf(seventh(mean) / (seventh(mean) + 6103515625.0f));
  const float pa = grey * p.y, qa = grey * q.y, pc = sqrtf(pa * pa + p.z * p.z), qc = sqrtf(qa * qa + q.z * q.z);
  float ph = atan2f(p.z, pa), qh = atan2f(q.z, qa);
  ph += ph < 0.0f ? 6.2831853f : 0.0f;
  qh += qh < 0.0f ? 6.2831853f : 0.0f;
  float turn = qh - ph, hue = 0.5f * (ph + qh);
  if (fabsf(turn) > 3.14159265f) {
    turn += turn > 0.0f ? -6.2831853f : 6.2831853f;
    hue += hue < 3.14159265f ? 3.14159265f : -3.14159265f;
  }
  const float c = 0.5f * (pc + qc), l = 0.5f * (p.x + q.x) - 50.0f, apart = 2.0f * sqrtf(pc * qc) * sinf(0.5f * turn);
  const float t = 1.0f - 0.17f * cosf(hue - 0.5235988f) + 0.24f * cosf(2.0f * hue) +
                  0.32f * cosf(3.0f * hue + 0.1047198f) - 0.2f * cosf(4.0f * hue - 1.0995574f);
  const float blue = (hue * 57.2957795f - 275.0f) / 25.0f, around = 1.0471976f * expf(-blue * blue);
  const float by_l = (q.x - p.x) / (1.0f + 0.015f * l * l / sqrtf(20.0f + l * l));
  const float by_c = (qc - pc) / (1.0f + 0.045f * c), by_h = apart / (1.0f + 0.015f * c * t);
  const float twist = -2.0f * sqrtf(seventh(c) / (seventh(c) + 6103515625.0f)) * sinf(around);
  out[k] = sqrtf(fmaxf(by_l * by_l + by_c * by_c + by_h * by_h + twist * by_c * by_h, 0.0f));
}

// ------------------------------------------------------------------------------------------------- grids and pictures

// How much values at two places have to do with each other (Matern, 5/2), for all pairs; places have six coordinates.
__global__ void matern_pairs(const float* __restrict__ first, const float* __restrict__ second, float* __restrict__ out,
                             int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float square = 0.0f;
#pragma unroll
  for (int j = 0; j < 6; j++) {
    const float d = first[j * width + x] - second[j * height + y];
    square += d * d;
  }
  const float r = 2.2360680f * sqrtf(square);
  out[(size_t)y * width + x] = (1.0f + r + 0.3333333f * r * r) * __expf(-r);
}

// Vessels in pictures of eyes: how much the brightness bends across and how little along (Frangi).
__global__ void vessel_strengths(const float* __restrict__ in, float* __restrict__ out, int width, int height, int step,
                                 float c) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int left = max(x - step, 0), right = min(x + step, width - 1);
  const int up = max(y - step, 0) * width, down = min(y + step, height - 1) * width, row = y * width;
  const float own = in[row + x];
  const float xx = in[row + left] + in[row + right] - 2.0f * own, yy = in[up + x] + in[down + x] - 2.0f * own;
  const float xy = 0.25f * (in[up + left] + in[down + right] - in[up + right] - in[down + left]);
  const float mean = 0.5f * (xx + yy), apart = sqrtf(0.25f * (xx - yy) * (xx - yy) + xy * xy);
  const float a = mean + apart, b = mean - apart, weak = fabsf(a) < fabsf(b) ? a : b, strong = a + b - weak;
  const float shape = weak / (strong + 1e-6f), power = weak * weak + strong * strong;
  out[row + x] = strong > 0.0f ? 0.0f : __expf(-2.0f * shape * shape) * (1.0f - __expf(-power * c));
}

// Points move to the middle of those near them that are about as bright, until they stay: the brightness there.
__global__ void shifted_means(const u8* __restrict__ in, u8* __restrict__ out, int width, int height, int range) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int at_x = x, at_y = y, level = in[y * width + x];
  for (int t = 0; t < 8; t++) {
    int count = 0, sum_x = 0, sum_y = 0, sum = 0;
    for (int v = max(at_y - 2, 0); v <= min(at_y + 2, height - 1); v++)
      for (int u = max(at_x - 2, 0); u <= min(at_x + 2, width - 1); u++) {
        const int other = in[v * width + u];
        if (abs(other - level) > range) continue;
        count++;
        sum_x += u;
        sum_y += v;
        sum += other;
      }
    if (count == 0) break;
    const int next_x = (sum_x + count / 2) / count, next_y = (sum_y + count / 2) / count;
    const int next = (sum + count / 2) / count;
    const bool same = next_x == at_x && next_y == at_y && next == level;
    at_x = next_x;
    at_y = next_y;
    level = next;
    if (same) break;
  }
  out[y * width + x] = level;
}

// From which side 4 x 4 points of a picture are best foretold: 0 from above, 1 from the left, 2 by the mean of both.
__global__ void foretold_blocks(const u8* __restrict__ in, int* __restrict__ out, int across, int down) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int pitch = 4 * across + 4;
  if (x >= across || y >= down) return;
  const u8* at = in + (size_t)(4 * y + 1) * pitch + 4 * x + 4;
  const u32 above = *(const u32*)(at - pitch);
  u32 side = 0, mean = __vsadu4(above, 0) + 4;
  int by_above = 0, by_left = 0, by_mean = 0;
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const u32 left = at[j * pitch - 1];
    side |= left << 8 * j;
    mean += left;
  }
  mean = mean / 8 * 0x01010101u;
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const u32 row = *(const u32*)(at + j * pitch);
    by_above += __vsadu4(row, above);
    by_left += __vsadu4(row, (side >> 8 * j & 255) * 0x01010101u);
    by_mean += __vsadu4(row, mean);
  }
  const int best = min(by_above, min(by_left, by_mean));
  out[y * across + x] = best << 2 | (best == by_above ? 0 : best == by_left ? 1 : 2);
}

// --------------------------------------------------------------------------------------------------- codes and numbers

// Bits from a range coder whose sixteen chances adapt, by the four bits before; threads have streams of their own.
__global__ void decoded_range_bits(const u32* __restrict__ streams, u32* __restrict__ out, int n, int words,
                                   int count) {
  const int k = thread_of_grid();
  if (k >= n) return;
  u16 chances[16];
  for (int j = 0; j < 16; j++) chances[j] = 1024;
  u32 range = 0xffffffffu, code = __byte_perm(streams[k], 0, 0x0123), held = 0, before = 0, hash = 0;
  int taken = 4;
  for (int b = 0; b < count; b++) {
    const u32 chance = chances[before], bound = (range >> 11) * chance;
    const u32 bit = code >= bound;
    if (bit) {
      code -= bound;
      range -= bound;
      chances[before] = chance - (chance >> 5);
    } else {
      range = bound;
      chances[before] = chance + (2048 - chance >> 5);
    }
    before = (before << 1 | bit) & 15;
    hash = hash * 31 + bit + 1;
    while (range < 1u << 24) {
      if (taken % 4 == 0) held = taken < 4 * words ? streams[(size_t)(taken / 4) * n + k] : 0;
      code = code << 8 | (held & 255);
      held >>= 8;
      range <<= 8;
      taken++;
    }
  }
  out[k] = hash;
}

// Digests of texts by a table of 256 bytes: each letter leads to the next place of the table.
__global__ void table_digests(const u8* __restrict__ table, const u32* __restrict__ texts, u8* __restrict__ out, int n,
                              int words) {
  __shared__ u8 places[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) places[b] = table[b];
  __syncthreads();
  const int k = thread_of_grid();
  if (k >= n) return;
  u32 h = k & 255;
  for (int w = 0; w < words; w++) {
    u32 letters = texts[(size_t)w * n + k];
#pragma unroll
    for (int j = 0; j < 4; j++) {
      h = places[h ^ (letters & 255)];
      letters >>= 8;
    }
  }
  out[k] = h;
}

// Numbers of 128 bits as digits of any base, the last digit first, by long division.
__global__ void digits_in_base(const uint4* __restrict__ in, u8* __restrict__ out, int n, u32 base, int digits) {
  const int k = thread_of_grid();
  if (k >= n) return;
  const uint4 w = in[k];
  u32 number[4] = {w.w, w.z, w.y, w.x};
  for (int d = 0; d < digits; d++) {
    u64 rest = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      rest = rest << 32 | number[j];
      number[j] = rest / base;
      rest %= base;
    }
    out[(size_t)d * n + k] = rest;
  }
}

// How often numbers have to be added to their mirror image until they read the same from both ends.
__global__ void mirror_sums(u8* __restrict__ out, int n, u32 first, int most) {
  const int k = thread_of_grid();
  if (k >= n) return;
  u64 x = first + k;
  int t = 0;
  while (t < most) {
    u64 mirror = 0;
    for (u64 rest = x; rest; rest /= 10) mirror = mirror * 10 + rest % 10;
    if (t && mirror == x) break;
    x += mirror;
    t++;
    if (x > 900000000000000000ull) break;
  }
  out[k] = t;
}

// Shuffled numbers enter a tableau of rows that rise (Robinson, Schensted): out, the sum of the rows' squared lengths
// and the length of the first one.
__global__ void bumped_tableaux(const u8* __restrict__ in, int2* __restrict__ out, int n, int count) {
  const int k = thread_of_grid();
  if (k >= n) return;
  u8 rows[8][20], lengths[8];
  for (int r = 0; r < 8; r++) lengths[r] = 0;
  for (int j = 0; j < count; j++) {
    u8 x = in[(size_t)j * n + k];
    for (int r = 0; r < 8; r++) {
      int at = 0;
      while (at < lengths[r] && rows[r][at] <= x) at++;
      if (at == lengths[r]) {
        rows[r][at] = x;
        lengths[r]++;
        break;
      }
      const u8 bumped = rows[r][at];
      rows[r][at] = x;
      x = bumped;
    }
  }
  int sum = 0;
  for (int r = 0; r < 8; r++) sum += lengths[r] * lengths[r];
  out[k] = make_int2(sum, lengths[0]);
}

// A tensor of four axes plus one whose axes of step 0 are repeated, as libraries do it: places by divisions. w is the
// innermost axis.
__global__ void repeated_axes(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out, int n,
                              int w, int z, int y, int step_w, int step_z, int step_y, int step_x) {
  for (int k = thread_of_grid(); k < n; k += gridDim.x * blockDim.x) {
    int rest = k, at = rest % w * step_w;
    rest /= w;
    at += rest % z * step_z;
    rest /= z;
    at += rest % y * step_y + rest / y * step_x;
    out[k] = a[k] + b[at];
  }
}

__device__ __forceinline__ int digit_sum(u32 x) {
  int sum = 0;
  for (; x; x /= 10) sum += x % 10;
  return sum;
}

// Which numbers have digits that sum up to what the digits of their prime factors sum up to (Smith's numbers).
__global__ void factor_digits(u8* __restrict__ out, int n, u32 first) {
  const int k = thread_of_grid();
  if (k >= n) return;
  const u32 x = first + k;
  u32 rest = x;
  int sum = 0;
  for (u32 p = 2; p * p <= rest; p += 1 + p % 2)
    while (rest % p == 0) {
      sum += digit_sum(p);
      rest /= p;
    }
  if (rest > 1 && rest < x) sum += digit_sum(rest);
  out[k] = sum == digit_sum(x);
}

// Letters of the numbers below 20, and of the tens, in English.
__constant__ int letters_below_20[20] = {0, 3, 3, 5, 4, 4, 3, 5, 5, 4, 3, 6, 6, 8, 8, 7, 7, 9, 8, 8};
__constant__ int letters_of_tens[10] = {0, 0, 6, 6, 5, 5, 5, 7, 6, 6};

// How many letters numbers have in English words, "and" included.
__global__ void letters_of_numbers(const u32* __restrict__ numbers, int* __restrict__ out, int n) {
  for (int k = thread_of_grid(); k < n; k += gridDim.x * blockDim.x) {
    u32 rest = numbers[k];
    int letters = rest ? 0 : 4;
    const int scales[4] = {0, 8, 7, 7};
#pragma unroll
    for (int s = 0; s < 4; s++) {
      const u32 part = rest % 1000, hundreds = part / 100, last = part % 100;
      rest /= 1000;
      if (part == 0) continue;
      letters += scales[s];
      if (hundreds) letters += letters_below_20[hundreds] + (last ? 10 : 7);
      letters += last < 20 ? letters_below_20[last] : letters_of_tens[last / 10] + letters_below_20[last % 10];
    }
    out[k] = letters;
  }
}

// Addresses of pages with %xx in them as plain letters, closed up; a row per warp.
__global__ void unescaped_rows(const u8* __restrict__ in, u8* __restrict__ out, int* __restrict__ lengths, int rows,
                               int length) {
  const int row = thread_of_grid() / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const u8* text = in + (size_t)row * length;
  int done = 0;
  for (int base = 0; base < length; base += 32) {
    const int j = base + lane;
    const u32 own = j < length ? text[j] : 0;
    const bool within = (j > 0 && j < length && text[j - 1] == '%') || (j > 1 && j < length && text[j - 2] == '%');
    u32 letter = own;
    if (own == '%' && j + 2 < length) {
      const u32 a = text[j + 1], b = text[j + 2];
      letter = (a < 58 ? a - 48 : a - 87) << 4 | (b < 58 ? b - 48 : b - 87);
    }
    const u32 stay = __ballot_sync(ALL_LANES, j < length && !within);
    if (stay >> lane & 1) out[(size_t)row * length + done + __popc(stay & (1u << lane) - 1)] = letter;
    done += __popc(stay);
  }
  if (lane == 0) lengths[row] = done;
}

__device__ __forceinline__ u32 long_sum(u32 a, u32 b) {
  const u32 sum = a + b, lane = threadIdx.x % 32;
  const u32 over = __ballot_sync(ALL_LANES, sum < a), full = __ballot_sync(ALL_LANES, sum == ALL_LANES);
  const u32 carried = (over << 1) + full ^ full;
  return sum + (carried >> lane & 1);
}

// Each number of 1024 bits is the sum of the two before it; a word per lane.
__global__ void long_sums(const u32* __restrict__ in, u32* __restrict__ out, int turns) {
  const int k = thread_of_grid();
  u32 a = in[k], b = ~a;
  for (int t = 0; t < turns; t++) {
    const u32 next = long_sum(a, b);
    a = b;
    b = next;
  }
  out[k] = b;
}

// Squares of numbers of 1024 bits, modulo 2^1024, plus 1; a word per lane, factors go around by shuffles.
__global__ void long_squares(const u32* __restrict__ in, u32* __restrict__ out, int turns) {
  const int k = thread_of_grid(), lane = threadIdx.x % 32;
  u32 x = in[k];
  for (int t = 0; t < turns; t++) {
    u32 moved = x, low = 0, middle = 0, high = 0;
    for (int j = 0; j < 32; j++) {
      const u32 factor = __shfl_sync(ALL_LANES, x, j);
      const u64 product = (u64)factor * moved, sum = product + low;
      low = sum;
      const u32 carry = sum < product;
      const u64 above = (u64)middle + (u32)(sum >> 32);
      middle = above;
      high += (u32)(above >> 32) + carry;
      moved = __shfl_up_sync(ALL_LANES, moved, 1);
      if (lane == 0) moved = 0;
    }
    u32 from = __shfl_up_sync(ALL_LANES, middle, 1);
    x = long_sum(low, lane ? from : 1);
    from = __shfl_up_sync(ALL_LANES, high, 2);
    x = long_sum(x, lane > 1 ? from : 0);
  }
  out[k] = x;
}

// Accounts whose rate and payments change month by month: balances by a scan of x -> a x + b; a row per warp.
__global__ void compound_balances(const float* __restrict__ rates, const float* __restrict__ payments,
                                  float* __restrict__ out, int rows, int months) {
  const int row = thread_of_grid() / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const size_t first = (size_t)row * months;
  float before = 0.0f;
  for (int base = 0; base < months; base += 32) {
    const int j = base + lane;
    float a = j < months ? 1.0f + 0.01f * rates[first + j] : 1.0f, b = j < months ? payments[first + j] : 0.0f;
#pragma unroll
    for (int far = 1; far < 32; far *= 2) {
      const float c = __shfl_up_sync(ALL_LANES, a, far), d = __shfl_up_sync(ALL_LANES, b, far);
      if (lane >= far) {
        b += a * d;
        a *= c;
      }
    }
    const float own = a * before + b;
    if (j < months) out[first + j] = own;
    before = __shfl_sync(ALL_LANES, own, 31);
  }
}

// Each thread sorts numbers of 16 bits by merging runs of 1, 2, 4.. in local memory.
__global__ void private_merges(const u16* __restrict__ in, u16* __restrict__ out, int n, int count) {
  const int k = thread_of_grid();
  if (k >= n) return;
  u16 runs[2][64];
  for (int j = 0; j < count; j++) runs[0][j] = in[(size_t)j * n + k];
  int now = 0;
  for (int run = 1; run < count; run *= 2, now ^= 1)
    for (int start = 0; start < count; start += 2 * run) {
      const int middle = min(start + run, count), end = min(start + 2 * run, count);
      int a = start, b = middle;
      for (int j = start; j < end; j++) {
        const bool left = b >= end || (a < middle && runs[now][a] <= runs[now][b]);
        runs[now ^ 1][j] = runs[now][left ? a++ : b++];
      }
    }
  for (int j = 0; j < count; j++) out[(size_t)j * n + k] = runs[now][j];
}

// The bits that a best prefix code needs for 16 kinds of letters: the two rarest join, 15 times. Shared memory holds
// the counts of all threads.
__global__ void prefix_code_costs(const u32* __restrict__ counts, u32* __restrict__ out, int n) {
  extern __shared__ u32 held_counts[];
  const int k = thread_of_grid();
  if (k >= n) return;
  u32* own = held_counts + threadIdx.x;
  for (int j = 0; j < 16; j++) own[j * blockDim.x] = counts[(size_t)j * n + k];
  u32 cost = 0;
  for (int left = 16; left > 1; left--) {
    u32 least = 0xffffffffu, second = 0xffffffffu;
    int at = 0, at_second = 0;
    for (int j = 0; j < left; j++) {
      const u32 x = own[j * blockDim.x];
      if (x < least) {
        second = least;
        at_second = at;
        least = x;
        at = j;
      } else if (x < second) {
        second = x;
        at_second = j;
      }
    }
    cost += least + second;
    const u32 last = own[(left - 1) * blockDim.x];
    own[at * blockDim.x] = least + second;
    if (at == left - 1)
      own[at_second * blockDim.x] = least + second;
    else if (at_second != left - 1)
      own[at_second * blockDim.x] = last;
  }
  out[k] = cost;
}

// ------------------------------------------------------------------------------------------------------ games and luck

__device__ __forceinline__ u64 with_neighbours(u64 x) {
  x |= (x & 0x7f7f7f7f7f7f7f7full) << 1 | (x & 0xfefefefefefefefeull) >> 1;
  return x | x << 8 | x >> 8;
}

// How many of 64 fields a click opens in a field of mines: those around empty ones open by themselves.
__global__ void opened_fields(const u64* __restrict__ a, const u64* __restrict__ b, u8* __restrict__ out, int n) {
  for (int k = thread_of_grid(); k < n; k += gridDim.x * blockDim.x) {
    const u64 start = 1ull << (k & 63), mines = a[k] & b[k] & (a[k] >> 7 ^ b[k] >> 11) & ~with_neighbours(start);
    const u64 empty = ~with_neighbours(mines);
    u64 region = start & empty, before = 0;
    while (region != before) {
      before = region;
      region = with_neighbours(region) & empty;
    }
    out[k] = __popcll((with_neighbours(region) | start) & ~mines);
  }
}

// Which lamps of a house have to be switched so that all go out: each switch also turns others. Elimination modulo 2
// on rows of bits in local memory; -1 where there is no way.
__global__ void lamp_switches(const u32* __restrict__ wires, const u32* __restrict__ lit, int* __restrict__ out, int n,
                              int lamps) {
  const int k = thread_of_grid();
  if (k >= n) return;
  u32 rows[24];
  const u32 on = lit[k];
  for (int r = 0; r < lamps; r++)
    rows[r] = ((wires[(size_t)r * n + k] | 1u << r) & (1u << lamps) - 1) | (on >> r & 1) << lamps;
  int rank = 0;
  u32 chosen = 0;
  for (int c = 0; c < lamps; c++) {
    int found = rank;
    while (found < lamps && !(rows[found] >> c & 1)) found++;
    if (found == lamps) continue;
    const u32 pivot = rows[found];
    rows[found] = rows[rank];
    rows[rank] = pivot;
    for (int r = 0; r < lamps; r++)
      if (r != rank && rows[r] >> c & 1) rows[r] ^= pivot;
    rank++;
  }
  bool possible = true;
  for (int r = rank; r < lamps; r++) possible &= !(rows[r] >> lamps);
  for (int r = 0; r < rank; r++) chosen += rows[r] >> lamps;
  out[k] = possible ? (int)chosen : -1;
}

__device__ __forceinline__ bool four_in_line(u64 x) {
  bool found = false;
#pragma unroll
  for (int way = 0; way < 4; way++) {
    const int by = way == 0 ? 1 : way + 5;
    const u64 two = x & x >> by;
    found |= (two & two >> 2 * by) != 0;
  }
  return found;
}

// Games in which two players drop discs at random into seven columns: how many the first one wins less those she loses.
__global__ void dropped_discs(int* __restrict__ out, int n, int games, u32 seed) {
  const int k = thread_of_grid();
  if (k >= n) return;
  Draws draws(k, seed);
  int won = 0;
  for (int g = 0; g < games; g++) {
    u64 own = 0, other = 0;
    for (int move = 0; move < 42; move++) {
      int column = draws.below(7);
      while ((own | other) >> 7 * column + 5 & 1) column = column == 6 ? 0 : column + 1;
      const u64 all = own | other;
      own |= (all + (1ull << 7 * column)) & 63ull << 7 * column & ~all;
      if (four_in_line(own)) {
        won += move % 2 ? -1 : 1;
        break;
      }
      const u64 held = own;
      own = other;
      other = held;
    }
  }
  out[k] = won;
}

// Where ladders lead up to and snakes down to.
__constant__ int leads_to[101] = {
    0,  38, 2,  3,  14, 5,  6,  7,  8,  31, 10, 11, 12, 13, 14, 15, 6,  17, 18, 19, 20, 42, 22, 23, 24, 25,
    26, 27, 84, 29, 30, 31, 32, 33, 34, 35, 44, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 26, 48, 11, 50, 67,
    52, 53, 54, 55, 53, 57, 58, 59, 60, 61, 19, 63, 60, 65, 66, 67, 68, 69, 70, 91, 72, 73, 74, 75, 76, 77,
    78, 79, 100, 81, 82, 83, 84, 85, 86, 24, 88, 89, 90, 91, 92, 73, 94, 75, 96, 97, 78, 99, 100};

// How many throws games of ladders and snakes take, summed over games.
__global__ void ladder_games(int* __restrict__ out, int n, int games, u32 seed) {
  const int k = thread_of_grid();
  if (k >= n) return;
  Draws draws(k, seed);
  int throws = 0;
  for (int g = 0; g < games; g++)
    for (int at = 0; at < 100; throws++) {
      const int next = at + 1 + draws.below(6);
      if (next <= 100) at = leads_to[next];
    }
  out[k] = throws;
}

// ------------------------------------------------------------------------------------------------- search and geometry

// The lowest place of bent valleys by a simplex that turns, grows and shrinks (Nelder and Mead); a valley per thread.
__global__ void valley_floors(const float2* __restrict__ valleys, float2* __restrict__ out, int n, int most) {
  const int k = thread_of_grid();
  if (k >= n) return;
  const float2 v = valleys[k];
  auto height = [v](float2 p) {
    const float a = p.x - v.x, b = p.y - v.y - 0.5f * p.x * p.x;
    return a * a + 4.0f * b * b;
  };
  auto between = [](float2 a, float2 b, float t) { return make_float2(a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)); };
  float2 a = make_float2(0.0f, 0.0f), b = make_float2(0.5f, 0.0f), c = make_float2(0.0f, 0.5f);
  float at_a = height(a), at_b = height(b), at_c = height(c);
  auto swap = [](float2& p, float2& q, float& s, float& t) {
    if (s <= t) return;
    const float2 r = p;
    const float u = s;
    p = q;
    q = r;
    s = t;
    t = u;
  };
  for (int t = 0; t < most; t++) {
    swap(a, b, at_a, at_b);
    swap(b, c, at_b, at_c);
    swap(a, b, at_a, at_b);
    if (at_c - at_a < 1e-8f) break;
    const float2 middle = between(a, b, 0.5f), mirrored = between(c, middle, 2.0f);
    const float at_mirrored = height(mirrored);
    if (at_mirrored < at_a) {
      const float2 farther = between(c, middle, 3.0f);
      const float at_farther = height(farther);
      c = at_farther < at_mirrored ? farther : mirrored;
      at_c = fminf(at_farther, at_mirrored);
    } else if (at_mirrored < at_b) {
      c = mirrored;
      at_c = at_mirrored;
    } else {
      const float2 nearer = between(c, middle, at_mirrored < at_c ? 1.5f : 0.5f);
      const float at_nearer = height(nearer);
      if (at_nearer < fminf(at_mirrored, at_c)) {
        c = nearer;
        at_c = at_nearer;
      } else {
        b = between(a, b, 0.5f);
        c = between(a, c, 0.5f);
        at_b = height(b);
        at_c = height(c);
      }
    }
  }
  out[k] = a;
}

// How far points are from the nearest of curves of the third degree: nine places of each, then Newton's steps.
__global__ void curve_distances(const float2* __restrict__ curves, const float2* __restrict__ points,
                                float* __restrict__ out, int n, int count) {
  extern __shared__ float2 corners[];
  for (int j = threadIdx.x; j < 4 * count; j += blockDim.x) corners[j] = curves[j];
  __syncthreads();
  const int k = thread_of_grid();
  if (k >= n) return;
  const float2 p = points[k];
  float nearest = 1e30f;
  for (int j = 0; j < count; j++) {
    const float2 *c = corners + 4 * j, o = make_float2(c[0].x - p.x, c[0].y - p.y);
    const float ax = 3.0f * (c[1].x - c[0].x), ay = 3.0f * (c[1].y - c[0].y);
    const float bx = 3.0f * (c[2].x - c[1].x) - ax, by = 3.0f * (c[2].y - c[1].y) - ay;
    const float dx = c[3].x - c[0].x - ax - bx, dy = c[3].y - c[0].y - ay - by;
    float best = 1e30f, at = 0.0f;
#pragma unroll
    for (int s = 0; s <= 8; s++) {
      const float t = s / 8.0f, x = o.x + t * (ax + t * (bx + t * dx)), y = o.y + t * (ay + t * (by + t * dy));
      if (x * x + y * y < best) {
        best = x * x + y * y;
        at = t;
      }
    }
    for (int s = 0; s < 3; s++) {
      const float x = o.x + at * (ax + at * (bx + at * dx)), y = o.y + at * (ay + at * (by + at * dy));
      const float ux = ax + at * (2.0f * bx + 3.0f * at * dx), uy = ay + at * (2.0f * by + 3.0f * at * dy);
      const float vx = 2.0f * bx + 6.0f * at * dx, vy = 2.0f * by + 6.0f * at * dy;
      const float bend = ux * ux + uy * uy + x * vx + y * vy;
      if (bend <= 0.0f) break;
      at = __saturatef(at - (x * ux + y * uy) / bend);
    }
    const float x = o.x + at * (ax + at * (bx + at * dx)), y = o.y + at * (ay + at * (by + at * dy));
    nearest = fminf(nearest, fminf(best, x * x + y * y));
  }
  out[k] = sqrtf(nearest);
}

// On which side of the circle through three points a fourth one lies: in floats, and in doubles if that is not sure.
// Coordinates are whole numbers.
__global__ void circle_sides(const float* __restrict__ in, signed char* __restrict__ out, int n) {
  const int k = thread_of_grid();
  if (k >= n) return;
  float p[8];
#pragma unroll
  for (int j = 0; j < 8; j++) p[j] = floorf(in[(size_t)j * n + k]);
  const float ax = p[0] - p[6], ay = p[1] - p[7], bx = p[2] - p[6], by = p[3] - p[7];
  const float cx = p[4] - p[6], cy = p[5] - p[7];
  const float a = ax * ax + ay * ay, b = bx * bx + by * by, c = cx * cx + cy * cy;
  const float sum = a * (bx * cy - by * cx) - b * (ax * cy - ay * cx) + c * (ax * by - ay * bx);
  const float size = a * (fabsf(bx * cy) + fabsf(by * cx)) + b * (fabsf(ax * cy) + fabsf(ay * cx)) +
                     c * (fabsf(ax * by) + fabsf(ay * bx));
  if (fabsf(sum) > 1e-6f * size) {
    out[k] = sum > 0.0f ? 1 : -1;
    return;
  }
  const double dx = ax, dy = ay, ex = bx, ey = by, fx = cx, fy = cy;
  const double exact = (dx * dx + dy * dy) * (ex * fy - ey * fx) - (ex * ex + ey * ey) * (dx * fy - dy * fx) +
                       (fx * fx + fy * fy) * (dx * ey - dy * ex);
  out[k] = exact > 0.0 ? 1 : exact < 0.0 ? -1 : 0;
}

// ------------------------------------------------------------------------------------------------------------- doubles

// The pull of a flattened planet at places around it: zones by Legendre's polynomials, in double precision.
__global__ void zonal_pulls(const double* __restrict__ zones, const double* __restrict__ places,
                            double* __restrict__ out, int n, int count) {
  const int k = thread_of_grid();
  if (k >= n) return;
  const double s = 2.0 * places[k] - 1.0, near = 1.0 / (1.05 + places[n + k]);
  double before = 1.0, own = s, power = near * near, sum = near + zones[1] * power * s;
  for (int j = 2; j < count; j++) {
    const double next = ((2 * j - 1) * s * own - (j - 1) * before) / j;
    before = own;
    own = next;
    power *= near;
    sum += zones[j] * power * own;
  }
  out[k] = sum;
}

// Products of rows of doubles with twice the digits: sums and their errors; a row per warp.
__global__ void exact_products(const double* __restrict__ a, const double* __restrict__ b, double* __restrict__ out,
                               int rows, int columns) {
  const int row = thread_of_grid() / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  double high = 0.0, low = 0.0;
  auto add = [&](double x, double y) {
    const double sum = high + x, part = sum - high;
    low += (high - (sum - part)) + (x - part) + y;
    high = sum;
  };
  for (int j = lane; j < columns; j += 32) {
    const double x = a[(size_t)row * columns + j], y = b[(size_t)row * columns + j], product = x * y;
    add(product, fma(x, y, -product));
  }
#pragma unroll
  for (int far = 16; far; far /= 2) {
    const double x = __shfl_xor_sync(ALL_LANES, high, far), y = __shfl_xor_sync(ALL_LANES, low, far);
    add(x, y);
  }
  if (lane == 0) out[row] = high + low;
}

// -------------------------------------------------------------------------------------------------------------- halves

// The place of the nearest of many rows of 32 halves by the sum of all differences' sizes, two halves at a time.
__global__ void nearest_by_blocks(const __half2* __restrict__ rows, const __half2* __restrict__ queries,
                                  int* __restrict__ out, int n, int count) {
  __shared__ __half2 tile[64][16];
  const int k = thread_of_grid();
  __half2 own[16];
#pragma unroll
  for (int j = 0; j < 16; j++) own[j] = k < n ? queries[(size_t)j * n + k] : __float2half2_rn(0.0f);
  float least = 1e30f;
  int place = -1;
  for (int base = 0; base < count; base += 64) {
    __syncthreads();
    for (int e = threadIdx.x; e < 64 * 16; e += blockDim.x)
      if (base + e / 16 < count) tile[e / 16][e % 16] = rows[(size_t)base * 16 + e];
    __syncthreads();
    for (int r = 0; r < min(64, count - base); r++) {
      __half2 sum = __habs2(__hsub2(own[0], tile[r][0]));
#pragma unroll
      for (int j = 1; j < 16; j++) sum = __hadd2(sum, __habs2(__hsub2(own[j], tile[r][j])));
      const float far = __low2float(sum) + __high2float(sum);
      if (far < least) {
        least = far;
        place = base + r;
      }
    }
  }
  if (k < n) out[k] = place;
}

// Pictures of four halves per point, the last one how opaque it is: one over the other.
__global__ void laid_over(const uint2* __restrict__ front, const uint2* __restrict__ back, uint2* __restrict__ out,
                          int n) {
  for (int k = thread_of_grid(); k < n; k += gridDim.x * blockDim.x) {
    const uint2 f = front[k], b = back[k];
    const __half2 rest = __hsub2(__float2half2_rn(1.0f), __high2half2(*(const __half2*)&f.y));
    const __half2 first = __hfma2(rest, *(const __half2*)&b.x, *(const __half2*)&f.x);
    const __half2 second = __hfma2(rest, *(const __half2*)&b.y, *(const __half2*)&f.y);
    out[k] = make_uint2(*(const u32*)&first, *(const u32*)&second);
  }
}

// ----------------------------------------------------------------------------------------------------------- long code

// A decision tree of depth 5 that was turned into code, as some tools do it: its limits are numbers of the program.
template <int TREE, int NODE>
struct Decision {
  __device__ static __forceinline__ float of(const float* x) {
    constexpr u32 h = blended(TREE * 64 + NODE);
    constexpr float limit = (h >> 8 & 1023) / 1024.0f;
    if constexpr (NODE >= 32)
      return (int)(h & 255) - 128;
    else
      return x[h % 8] < limit ? Decision<TREE, 2 * NODE>::of(x) : Decision<TREE, 2 * NODE + 1>::of(x);
  }
};

template <int TREES>
__device__ __forceinline__ float of_all(const float* x) {
  if constexpr (TREES == 0)
    return 0.0f;
  else
    return of_all<TREES - 1>(x) + Decision<TREES, 1>::of(x);
}

// Scores by a whole forest of such trees.
template <int TREES>
__global__ void trees_as_code(const float* __restrict__ features, float* __restrict__ out, int n) {
  const int k = thread_of_grid();
  if (k >= n) return;
  float x[8];
#pragma unroll
  for (int j = 0; j < 8; j++) x[j] = features[(size_t)j * n + k];
  out[k] = of_all<TREES>(x);
}

// Hidden units of a network whose weights are numbers of the program, half of them behind the other half.
template <int FIRST, int END>
__device__ __forceinline__ void units_as_code(const float* x, float* next) {
  if constexpr (END - FIRST > 1) {
    units_as_code<FIRST, (FIRST + END) / 2>(x, next);
    units_as_code<(FIRST + END) / 2, END>(x, next);
  } else {
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < 16; j++) sum += x[j] * ((int)(blended(FIRST * 32 + j) & 511) - 255) * (1.0f / 1024.0f);
    sum = fmaxf(sum, 0.0f);
#pragma unroll
    for (int j = 0; j < 16; j++) next[j] += sum * ((int)(blended(FIRST * 32 + 16 + j) & 511) - 255) * (1.0f / 2048.0f);
  }
}

// Two layers of such a network, turn by turn.
template <int UNITS>
__global__ void layers_as_code(const float* __restrict__ in, float* __restrict__ out, int n, int turns) {
  const int k = thread_of_grid();
  if (k >= n) return;
  float x[16];
#pragma unroll
  for (int j = 0; j < 16; j++) x[j] = in[(size_t)j * n + k];
  for (int t = 0; t < turns; t++) {
    float next[16] = {};
    units_as_code<0, UNITS>(x, next);
#pragma unroll
    for (int j = 0; j < 16; j++) x[j] = next[j];
  }
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < 16; j++) sum += x[j];
  out[k] = sum;
}

// -------------------------------------------------------------------------------------------------------------- caches

// Votes of trees that lie in memory: a node's field and limit, its children behind it as in a heap. A sample has 16
// bytes.
__global__ void forest_votes(const u32* __restrict__ nodes, const u8* __restrict__ samples, int* __restrict__ out,
                             int n, int trees, int depth) {
  const int k = thread_of_grid();
  if (k >= n) return;
  const u8* own = samples + (size_t)k * 16;
  int sum = 0;
  for (int t = 0; t < trees; t++) {
    const u32* tree = nodes + ((size_t)t << depth);
    int at = 1;
    for (int d = 0; d < depth; d++) {
      const u32 node = tree[at];
      at = 2 * at + (own[node & 15] > (node >> 8 & 255));
    }
    sum += blended(at * 64 + t) & 1;
  }
  out[k] = sum;
}

// The least number between two places, by a table of the least ones of all stretches of 1, 2, 4.. numbers.
__global__ void least_between(const int* __restrict__ table, const u32* __restrict__ from, const u32* __restrict__ to,
                              int* __restrict__ out, int n, int size) {
  for (int k = thread_of_grid(); k < n; k += gridDim.x * blockDim.x) {
    const u32 a = min(from[k], to[k]), b = max(from[k], to[k]), level = 31 - __clz(b - a + 1);
    const int* row = table + (size_t)level * size;
    out[k] = min(row[a], row[b + 1 - (1u << level)]);
  }
}

// Sums of the first numbers by a tree of partial sums (Fenwick).
__global__ void first_sums(const int* __restrict__ tree, const u32* __restrict__ places, int* __restrict__ out, int n) {
  for (int k = thread_of_grid(); k < n; k += gridDim.x * blockDim.x) {
    int sum = 0;
    for (u32 at = places[k]; at; at &= at - 1) sum += tree[at];
    out[k] = sum;
  }
}

// Walks through a graph that rather stay near where they come from (node2vec): a step is drawn, then taken or drawn
// again.
__global__ void near_walks(const int* __restrict__ starts, const int* __restrict__ members, u32* __restrict__ out,
                           int n, int places, int steps, u32 seed) {
  const int k = thread_of_grid();
  if (k >= n) return;
  Draws draws(k, seed);
  int before = -1, own = k % places;
  u32 hash = 0;
  for (int t = 0; t < steps; t++) {
    const int first = starts[own], count = starts[own + 1] - first;
    if (count == 0) break;
    int next = own;
    for (int tries = 0; tries < 8; tries++) {
      next = members[first + draws.below(count)];
      u32 chance = 64;
      if (next == before)
        chance = 20;
      else if (before >= 0) {
        int low = starts[before], high = starts[before + 1];
        const int end = high;
        while (low < high) {
          const int middle = (low + high) / 2;
          if (members[middle] < next)
            low = middle + 1;
          else
            high = middle;
        }
        if (low < end && members[low] == next) chance = 128;
      }
      if (draws.below(128) < chance) break;
    }
    before = own;
    own = next;
    hash = hash * 0x01000193u ^ own;
  }
  out[k] = hash;
}

// The most that two purchases and sales of a share bring, day by day; a share per thread.
__global__ void two_sales(const float* __restrict__ prices, float* __restrict__ out, int n, int days) {
  const int k = thread_of_grid();
  if (k >= n) return;
  float held = -1e30f, sold = 0.0f, held_again = -1e30f, sold_again = 0.0f;
  for (int day = 0; day < days; day++) {
    const float price = prices[(size_t)day * n + k];
    sold_again = fmaxf(sold_again, held_again + price);
    held_again = fmaxf(held_again, sold - price);
    sold = fmaxf(sold, held + price);
    held = fmaxf(held, -price);
  }
  out[k] = sold_again;
}

// Weights of eight papers whose parts of the risk are as wished, one paper after the other again and again.
__global__ void shared_risks(const float* __restrict__ covariances, const float* __restrict__ wishes,
                             float* __restrict__ out, int n, int turns) {
  __shared__ float c[64];
  for (int e = threadIdx.x; e < 64; e += blockDim.x) c[e] = covariances[e];
  __syncthreads();
  const int k = thread_of_grid();
  if (k >= n) return;
  float x[8], wish[8];
#pragma unroll
  for (int j = 0; j < 8; j++) {
    x[j] = 1.0f;
    wish[j] = 0.05f + wishes[(size_t)j * n + k];
  }
  for (int t = 0; t < turns; t++)
#pragma unroll
    for (int j = 0; j < 8; j++) {
      float others = 0.0f;
#pragma unroll
      for (int i = 0; i < 8; i++)
        if (i != j) others += c[8 * j + i] * x[i];
      x[j] = (sqrtf(others * others + 4.0f * c[9 * j] * wish[j]) - others) / (2.0f * c[9 * j]);
    }
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < 8; j++) sum += x[j];
#pragma unroll
  for (int j = 0; j < 8; j++) out[(size_t)j * n + k] = x[j] / sum;
}

// ------------------------------------------------------------------------------------ copies on their way and clusters

// Starts the copies of one plane's part with a border of one around it.
__device__ __forceinline__ void plane_arrives(float* plane, const float* in, int width, int height, int z) {
  const int wide = blockDim.x + 2, size = wide * (blockDim.y + 2);
  const int left = blockIdx.x * blockDim.x - 1, top = blockIdx.y * blockDim.y - 1;
  for (int e = threadIdx.y * blockDim.x + threadIdx.x; e < size; e += blockDim.x * blockDim.y) {
    const int u = min(max(left + e % wide, 0), width - 1), v = min(max(top + e / wide, 0), height - 1);
    __pipeline_memcpy_async(plane + e, in + ((size_t)z * height + v) * width + u, 4);
  }
}

// The mean of each place of a space with its six neighbours; planes arrive asynchronously, two ahead, in a ring of 5.
__global__ void means_of_seven(const float* __restrict__ in, float* __restrict__ out, int width, int height,
                               int depth) {
  extern __shared__ float planes[];
  const int wide = blockDim.x + 2, size = wide * (blockDim.y + 2), at = (threadIdx.y + 1) * wide + threadIdx.x + 1;
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  for (int z = 0; z < 3; z++) {
    if (z < depth) plane_arrives(planes + z * size, in, width, height, z);
    __pipeline_commit();
  }
  for (int z = 0; z < depth; z++) {
    __pipeline_wait_prior(1);
    __syncthreads();
    if (z + 3 < depth) plane_arrives(planes + (z + 3) % 5 * size, in, width, height, z + 3);
    __pipeline_commit();
    const float* here = planes + z % 5 * size + at;
    const float below = planes[max(z - 1, 0) % 5 * size + at], above = planes[min(z + 1, depth - 1) % 5 * size + at];
    if (x < width && y < height)
      out[((size_t)z * height + y) * width + x] =
          (here[0] + here[-1] + here[1] + here[-wide] + here[wide] + below + above) * (1.0f / 7.0f);
  }
}

// Fletcher's sums of pages of memory, which arrive in four pieces of 512 bytes per warp; a page per warp.
__global__ void page_sums(const uint4* __restrict__ pages, uint2* __restrict__ out, int n, int pieces) {
  extern __shared__ uint4 rings[];
  const int page = thread_of_grid() / 32, lane = threadIdx.x % 32;
  if (page >= n) return;
  uint4* ring = rings + threadIdx.x / 32 * 128 + lane;
  const uint4* from = pages + (size_t)page * pieces * 32 + lane;
  for (int p = 0; p < 3; p++) {
    if (p < pieces) __pipeline_memcpy_async(ring + 32 * p, from + 32 * p, 16);
    __pipeline_commit();
  }
  u32 sum = 0, weighted = 0;
  for (int p = 0; p < pieces; p++) {
    if (p + 3 < pieces) __pipeline_memcpy_async(ring + (p + 3) % 4 * 32, from + 32 * (p + 3), 16);
    __pipeline_commit();
    __pipeline_wait_prior(3);
    const uint4 w = ring[p % 4 * 32];
    const u32 words[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const u32 two = (words[j] & 0xffff) + (words[j] >> 16);
      sum += two;
      weighted += two * (u32)((pieces - p) * 128 - 4 * lane - j);
    }
  }
  sum = __reduce_add_sync(ALL_LANES, sum);
  weighted = __reduce_add_sync(ALL_LANES, weighted);
  if (lane == 0) out[page] = make_uint2(sum, weighted);
}

// Four blocks sort their keys together, one key per thread: a bitonic network, far steps by the other blocks' shared
// memory.
__global__ void __cluster_dims__(4) sorted_by_clusters(const u32* __restrict__ in, u32* __restrict__ out) {
  __shared__ u32 keys[1024];
  const auto cluster = cg::this_cluster();
  const int rank = cluster.block_rank(), own = rank * blockDim.x + threadIdx.x, all = 4 * blockDim.x;
  const size_t first = (size_t)(blockIdx.x - rank) * blockDim.x;
  u32 key = in[first + own];
  keys[threadIdx.x] = key;
  cluster.sync();
  for (int size = 2; size <= all; size *= 2)
    for (int far = size / 2; far; far /= 2) {
      const bool away = far >= blockDim.x;
      const u32* there = away ? cluster.map_shared_rank(keys, rank ^ far / (int)blockDim.x) : keys;
      const u32 other = there[away ? threadIdx.x : threadIdx.x ^ far];
      if (away)
        cluster.sync();
      else
        __syncthreads();
      const bool lower = (own & far) == 0, rises = (own & size) == 0;
      key = lower == rises ? min(key, other) : max(key, other);
      keys[threadIdx.x] = key;
      if (away || far == 1)
        cluster.sync();
      else
        __syncthreads();
    }
  out[first + own] = key;
}

// Chances of states after many steps; four blocks have a quarter of the states each and tell each other the new
// chances. A start per cluster.
__global__ void __cluster_dims__(4) spread_chances(const float* __restrict__ moves, const float* __restrict__ first,
                                                   float* __restrict__ out, int states, int steps) {
  extern __shared__ float both[];
  const auto cluster = cg::this_cluster();
  const int rank = cluster.block_rank(), part = states / 4;
  const size_t start = (size_t)(blockIdx.x / 4) * states;
  float *now = both, *next = both + states;
  for (int j = threadIdx.x; j < states; j += blockDim.x) now[j] = first[start + j];
  cluster.sync();
  for (int t = 0; t < steps; t++) {
    for (int j = threadIdx.x; j < part; j += blockDim.x) {
      float sum = 0.0f;
      for (int k = 0; k < states; k++) sum += now[k] * moves[(size_t)k * states + rank * part + j];
      for (int r = 0; r < 4; r++) cluster.map_shared_rank(next, r)[rank * part + j] = sum;
    }
    cluster.sync();
    float* other = now;
    now = next;
    next = other;
  }
  for (int j = threadIdx.x; j < part; j += blockDim.x) out[start + rank * part + j] = now[rank * part + j];
}

// How many triangles a graph has, times six: the square of its matrix of zeros and ones by tensor cores, 16 x 8 of it
// per warp. Halves; the matrix is symmetric.
__global__ void triangles_by_squares(const u16* __restrict__ matrix, u32* total, int n) {
  const int warp = thread_of_grid() / 32, lane = threadIdx.x % 32, across = n / 8;
  if (warp >= across * (n / 16)) return;
  const int row = warp / across * 16 + lane / 4, column = warp % across * 8, two = lane % 4 * 2;
  const u16 *upper = matrix + (size_t)row * n + two, *lower = upper + (size_t)8 * n;
  const u16* other = matrix + (size_t)(column + lane / 4) * n + two;
  float c[4] = {};
  for (int k = 0; k < n; k += 16) {
    const u32 a0 = *(const u32*)(upper + k), a1 = *(const u32*)(lower + k), a2 = *(const u32*)(upper + k + 8);
    const u32 a3 = *(const u32*)(lower + k + 8), b0 = *(const u32*)(other + k), b1 = *(const u32*)(other + k + 8);
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  u32 sum = 0;
#pragma unroll
  for (int j = 0; j < 4; j++)
    if ((j < 2 ? upper : lower)[column + j % 2]) sum += (u32)c[j];
  sum = __reduce_add_sync(ALL_LANES, sum);
  if (lane == 0) atomicAdd(total, sum);
}

// ----------------------------------------------------------------------------------------------------------- much data

// Weight by the square of the height.
__global__ void body_masses(const float* weights, const float* heights, float* out, int n) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) out[k] = weights[k] / (heights[k] * heights[k]);
}

// How cold the wind makes it feel, from degrees and kilometres per hour.
__global__ void wind_chills(const float* degrees, const float* wind, float* out, int n) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) {
    float v = pow(wind[k], 0.16f);
    out[k] = 13.12 + 0.6215 * degrees[k] - 11.37 * v + 0.3965 * degrees[k] * v;
  }
}

// Words of eight numbers of four bits as floats, by a factor for each 16 words.
__global__ void opened_nibbles(const u32* __restrict__ words, const float* __restrict__ factors,
                               float4* __restrict__ out, int n) {
  for (int k = thread_of_grid(); k < n; k += gridDim.x * blockDim.x) {
    const u32 w = words[k];
    const float by = factors[k / 16];
#pragma unroll
    for (int j = 0; j < 2; j++)
      out[2 * k + j] = make_float4(by * ((int)(w >> 16 * j & 15) - 8), by * ((int)(w >> 16 * j + 4 & 15) - 8),
                                   by * ((int)(w >> 16 * j + 8 & 15) - 8), by * ((int)(w >> 16 * j + 12 & 15) - 8));
  }
}

// By how much values of instruments changed since the day before, in parts; an instrument per column.
__global__ void daily_changes(const float* __restrict__ values, float* __restrict__ out, int columns, int n) {
  for (int k = thread_of_grid(); k < n; k += gridDim.x * blockDim.x)
    out[k] = values[k + columns] / values[k] - 1.0f;
}
