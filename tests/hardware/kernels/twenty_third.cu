// Kernels for tests/hardware/twenty_third_cases.py: other ones than those of the twenty-two sets before, as programs
// have them.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define ALL 0xffffffffu

__device__ __forceinline__ int me() { return blockIdx.x * blockDim.x + threadIdx.x; }

__host__ __device__ constexpr u32 hashed(u32 x) {
  x = (x ^ x >> 17) * 0xed5ad4bbu;
  x = (x ^ x >> 11) * 0xac4c1b51u;
  return x ^ x >> 15;
}

// A thread's random numbers; they begin at a hash.
struct Rolled {
  u32 state;
  __device__ __forceinline__ Rolled(u32 k, u32 seed) : state(hashed(k ^ seed)) {}
  __device__ __forceinline__ u32 word() {
    state = state * 747796405u + 2891336453u;
    const u32 mixed = (state >> ((state >> 28) + 4) ^ state) * 277803737u;
    return mixed >> 22 ^ mixed;
  }
  __device__ __forceinline__ u32 below(u32 n) { return __umulhi(word(), n); }
};

__device__ __forceinline__ float sum_of_warp(float x) {
#pragma unroll
  for (int far = 16; far; far /= 2) x += __shfl_xor_sync(ALL, x, far);
  return x;
}

// The sum over a block, in thread 0. ``parts``: 32 numbers of shared memory.
__device__ __forceinline__ float sum_of_block(float x, float* parts) {
  x = sum_of_warp(x);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  return threadIdx.x < 32 ? sum_of_warp(threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0.0f) : 0.0f;
}

// ------------------------------------------------------------------------------------------------- a problem per block

// Water on squares of land: it stands as high as the lowest way out over the border allows. Until nothing falls.
__global__ void pond_levels(const int* __restrict__ land, int* __restrict__ out, int side) {
  extern __shared__ int levels[];
  const int cells = side * side;
  const int* own = land + (size_t)blockIdx.x * cells;
  int *now = levels, *next = levels + cells;
  for (int k = threadIdx.x; k < cells; k += blockDim.x) {
    const int x = k % side, y = k / side;
    const bool border = x == 0 || y == 0 || x == side - 1 || y == side - 1;
    now[k] = next[k] = border ? own[k] : 1 << 30;
  }
  __syncthreads();
  bool fell;
  do {
    fell = false;
    for (int k = threadIdx.x; k < cells; k += blockDim.x) {
      const int x = k % side, y = k / side;
      if (x == 0 || y == 0 || x == side - 1 || y == side - 1) continue;
      const int low = min(min(now[k - 1], now[k + 1]), min(now[k - side], now[k + side]));
      const int level = max(own[k], min(now[k], low));
      fell |= level < now[k];
      next[k] = level;
    }
    int* other = now;
    now = next;
    next = other;
  } while (__syncthreads_or(fell));
  for (int k = threadIdx.x; k < cells; k += blockDim.x) out[(size_t)blockIdx.x * cells + k] = now[k];
}

// Plucked strings (Karplus and Strong): a period of the sound is made of the period before it; a string per block.
__global__ void plucked_strings(const float* __restrict__ plucks, float* __restrict__ out, int length, int periods) {
  extern __shared__ float sound[];
  float *old = sound, *now = sound + length;
  float before = 0.0f;
  for (int j = threadIdx.x; j < length; j += blockDim.x) old[j] = plucks[(size_t)blockIdx.x * length + j];
  __syncthreads();
  for (int p = 0; p < periods; p++) {
    for (int j = threadIdx.x; j < length; j += blockDim.x)
      now[j] = 0.4985f * (old[j] + (j ? old[j - 1] : before));
    before = old[length - 1];
    __syncthreads();
    float* other = old;
    old = now;
    now = other;
  }
  for (int j = threadIdx.x; j < length; j += blockDim.x) out[(size_t)blockIdx.x * length + j] = old[j];
}

// Cups with 1,024 players: in a match wins who is stronger on that day. Out: the winner and the strength of the last.
__global__ void cup_winners(const u16* __restrict__ strengths, int2* __restrict__ out) {
  __shared__ int player[1024];
  __shared__ u16 strength[1024];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) {
    player[k] = k;
    strength[k] = strengths[(size_t)blockIdx.x * 1024 + k];
  }
  __syncthreads();
  for (int far = 1; far < 1024; far *= 2) {
    for (int k = threadIdx.x; 2 * far * k < 1024; k += blockDim.x) {
      const int a = player[2 * far * k], b = player[2 * far * k + far];
      const u32 luck = hashed(a * 1024 + b + far);
      if (strength[b] + (luck >> 20) > strength[a] + (luck & 4095)) player[2 * far * k] = b;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = make_int2(player[0], strength[player[0]]);
}

// Sums of the rows of sheets of 64 x 32 numbers, a row per thread; ``gap`` spares conflicts of banks or not.
template <int gap>
__global__ void sheet_rows(const float* __restrict__ sheets, float* __restrict__ out, int each) {
  __shared__ float sheet[64 * (32 + gap)];
  for (int s = 0; s < each; s++) {
    const size_t number = (size_t)blockIdx.x * each + s;
    for (int k = threadIdx.x; k < 2048; k += blockDim.x)
      sheet[k / 32 * (32 + gap) + k % 32] = sheets[number * 2048 + k];
    __syncthreads();
    for (int r = threadIdx.x; r < 64; r += blockDim.x) {
      float sum = 0.0f;
#pragma unroll
      for (int c = 0; c < 32; c++) sum += (c + 1) * sheet[r * (32 + gap) + c];
      out[number * 64 + r] = sum;
    }
    __syncthreads();
  }
}

// Which of twelve pitches sound how often in songs: counters in shared memory, one set per ``copies``-th warp.
template <int copies>
__global__ void pitch_classes(const u8* __restrict__ notes, int* __restrict__ out, int count) {
  __shared__ int counts[copies * 12];
  for (int k = threadIdx.x; k < copies * 12; k += blockDim.x) counts[k] = 0;
  __syncthreads();
  int* own = counts + threadIdx.x / 32 % copies * 12;
  for (int k = threadIdx.x; k < count; k += blockDim.x) atomicAdd(&own[notes[(size_t)blockIdx.x * count + k] % 12], 1);
  __syncthreads();
  if (threadIdx.x < 12) {
    int sum = 0;
    for (int c = 0; c < copies; c++) sum += counts[c * 12 + threadIdx.x];
    out[blockIdx.x * 12 + threadIdx.x] = sum;
  }
}

// Lengths of rows, and the rows at length one; a row per block.
__global__ void rows_at_length_one(const float4* __restrict__ in, float4* __restrict__ out, int quads) {
  __shared__ float parts[32];
  __shared__ float scale;
  const size_t first = (size_t)blockIdx.x * quads;
  float sum = 0.0f;
  for (int k = threadIdx.x; k < quads; k += blockDim.x) {
    const float4 v = in[first + k];
    sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  sum = sum_of_block(sum, parts);
  if (threadIdx.x == 0) scale = rsqrtf(sum + 1e-12f);
  __syncthreads();
  for (int k = threadIdx.x; k < quads; k += blockDim.x) {
    const float4 v = in[first + k];
    out[first + k] = make_float4(scale * v.x, scale * v.y, scale * v.z, scale * v.w);
  }
}

// Words that come along a ring of ``size`` blocks, hop after hop through the neighbours' shared memory.
template <int size>
__global__ void __cluster_dims__(size) ring_messages(const u32* __restrict__ in, u32* __restrict__ out, int hops) {
  __shared__ u32 words[2][1024];
  const auto ring = cg::this_cluster();
  const int t = threadIdx.x;
  words[0][t] = in[blockIdx.x * blockDim.x + t];
  const u32* left = ring.map_shared_rank(&words[0][0], (ring.block_rank() + size - 1) % size);
  for (int h = 0; h < hops; h++) {
    ring.sync();
    words[(h + 1) & 1][t] = left[(h & 1) * 1024 + t] * 5 + ring.block_rank();
  }
  ring.sync();
  out[blockIdx.x * blockDim.x + t] = words[hops & 1][t];
}

// Four blocks exchange quarters of what they have, so that each gets the same quarter of all.
__global__ void __cluster_dims__(4) quarters_exchanged(const float* __restrict__ in, float* __restrict__ out,
                                                      int quarter) {
  extern __shared__ float mine[];
  const auto four = cg::this_cluster();
  const int rank = four.block_rank();
  const size_t first = (size_t)blockIdx.x * 4 * quarter;
  for (int k = threadIdx.x; k < 4 * quarter; k += blockDim.x) mine[k] = in[first + k];
  four.sync();
  for (int k = threadIdx.x; k < 4 * quarter; k += blockDim.x)
    out[first + k] = four.map_shared_rank(mine, k / quarter)[rank * quarter + k % quarter] + 0.5f * mine[k];
  four.sync();
}

// The loudest sample per stretch of 1,024; stretches come ahead of their use, two at once in shared memory.
__global__ void streamed_peaks(const float4* __restrict__ sound, float* __restrict__ out, int stretches) {
  __shared__ float4 tiles[2][256];
  __shared__ int peak[2];
  const float4* own = sound + (size_t)blockIdx.x * stretches * 256;
  if (threadIdx.x < 2) peak[threadIdx.x] = 0;
  for (int j = threadIdx.x; j < 256; j += blockDim.x) __pipeline_memcpy_async(&tiles[0][j], own + j, 16);
  __pipeline_commit();
  for (int s = 0; s < stretches; s++) {
    if (s + 1 < stretches)
      for (int j = threadIdx.x; j < 256; j += blockDim.x)
        __pipeline_memcpy_async(&tiles[(s + 1) % 2][j], own + (s + 1) * 256 + j, 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    float most = 0.0f;
    for (int j = threadIdx.x; j < 256; j += blockDim.x) {
      const float4 v = tiles[s % 2][j];
      most = fmaxf(fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))), most);
    }
    const int bits = __reduce_max_sync(ALL, __float_as_int(most));
    if (threadIdx.x % 32 == 0) atomicMax(&peak[s % 2], bits);
    __syncthreads();
    if (threadIdx.x == 0) {
      out[(size_t)blockIdx.x * stretches + s] = __int_as_float(peak[s % 2]);
      peak[s % 2] = 0;
    }
  }
}

// 1,024 answers per page of a dictionary: its 512 words come asynchronously, then each answer leads to the next word.
__global__ void staged_dictionaries(const u32* __restrict__ pages, u32* __restrict__ out, int turns) {
  __shared__ u32 page[512];
  for (int j = threadIdx.x; j < 512; j += blockDim.x)
    __pipeline_memcpy_async(&page[j], pages + blockIdx.x * 512 + j, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) {
    u32 at = k, sum = 0;
    for (int t = 0; t < turns; t++) {
      const u32 word = page[at % 512];
      sum += word;
      at = word + t;
    }
    out[blockIdx.x * 1024 + k] = sum;
  }
}

// -------------------------------------------------------------------------------------------------- a problem per warp

// Life on a torus of 32 x 32 cells: a row is a word of a lane.
__global__ void torus_life(const u32* __restrict__ in, u32* __restrict__ out, int n, int turns) {
  const int k = me(), lane = threadIdx.x % 32;
  if (k / 32 >= n) return;
  u32 row = in[k];
  for (int t = 0; t < turns; t++) {
    const u32 up = __shfl_sync(ALL, row, lane + 31), down = __shfl_sync(ALL, row, lane + 1);
    u32 one = 0, two = 0, four = 0;
    auto add = [&](u32 x) {
      const u32 carry = one & x, more = two & carry;
      one ^= x;
      two ^= carry;
      four |= more;
    };
    auto sides = [&](u32 x) {
      add(x << 1 | x >> 31);
      add(x >> 1 | x << 31);
    };
    sides(up);
    add(up);
    sides(row);
    sides(down);
    add(down);
    row = ~four & two & (one | row);
  }
  out[k] = row;
}

// Hands of 32 cards: how many cards have a twin of the same rank, and how many ranks there are.
__global__ void card_twins(const u8* __restrict__ cards, int* __restrict__ out, int n, int hands) {
  const int warp = me() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  int found = 0;
  for (int h = 0; h < hands; h++) {
    const int rank = cards[((size_t)warp * hands + h) * 32 + lane] % 13;
    const u32 same = __match_any_sync(ALL, rank);
    const u32 first = __ballot_sync(ALL, (same & ((1u << lane) - 1)) == 0);
    const u32 twins = __ballot_sync(ALL, (same & (same - 1)) != 0);
    found += 32 * __popc(twins) + __popc(first);
  }
  if (lane == 0) out[warp] = found;
}

// How full a bus is after each of its stops: people get in and out, and at ends of a line all leave.
__global__ void bus_loads(const char* __restrict__ changes, int* __restrict__ out, int n, int stops) {
  const int warp = me() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  int before = 0;
  for (int s = 0; s < stops; s += 32) {
    const size_t at = (size_t)warp * stops + s + lane;
    int change = changes[at];
    const u32 ends = __ballot_sync(ALL, change == 0), mine = ends & (ALL >> (31 - lane));
    const int start = mine ? 31 - __clz(mine) : -1;
    for (int far = 1; far < 32; far *= 2) {
      const int other = __shfl_up_sync(ALL, change, far);
      if (lane - far >= max(start, 0)) change += other;
    }
    if (start < 0) change += before;
    out[at] = change;
    before = __shfl_sync(ALL, change, 31);
  }
}

// Which place each of 32 runners takes, by one vote per bit of their times; of equals the lower lane is first.
__global__ void race_places(const u16* __restrict__ times, u8* __restrict__ out, int n) {
  const int k = me(), lane = threadIdx.x % 32;
  if (k / 32 >= n) return;
  const u32 mine = times[k];
  u32 equal = ALL;
  int place = 0;
#pragma unroll 1
  for (int bit = 15; bit >= 0; bit--) {
    const u32 ones = __ballot_sync(ALL, mine >> bit & 1);
    if (mine >> bit & 1) {
      place += __popc(equal & ~ones);
      equal &= ones;
    } else {
      equal &= ~ones;
    }
  }
  out[k] = place + __popc(equal & ((1u << lane) - 1));
}

// Rumours in groups of 32: who hears a word from whom depends on the word.
__global__ void whispered_words(const u32* __restrict__ in, u32* __restrict__ out, int n, int rounds) {
  const int k = me();
  if (k / 32 >= n) return;
  u32 word = in[k];
  for (int r = 0; r < rounds; r++) word = __shfl_sync(ALL, word, word % 32) * 9 + (word >> 7) + r;
  out[k] = word;
}

// League tables: per day of 32 matches the sum of the goals, the most, the fewest, and which teams scored.
__global__ void league_days(const u8* __restrict__ goals, uint4* __restrict__ out, int n, int days) {
  const int warp = me() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  uint4 all = make_uint4(0, 0, 255, 0);
  for (int d = 0; d < days; d++) {
    const u32 g = goals[((size_t)warp * days + d) * 32 + lane];
    all.x += __reduce_add_sync(ALL, g);
    all.y = max(all.y, __reduce_max_sync(ALL, g));
    all.z = min(all.z, __reduce_min_sync(ALL, g + d % 3));
    all.w ^= __reduce_or_sync(ALL, g << lane % 8);
  }
  if (lane == 0) out[warp] = all;
}

// How well pairs of people like the same: products of rows of 64 numbers that lie anywhere, a pair per warp.
__global__ void taste_pairs(const float2* __restrict__ tastes, const int2* __restrict__ pairs, float* __restrict__ out,
                            int n) {
  const int warp = me() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  const int2 p = pairs[warp];
  const float2 a = tastes[(size_t)p.x * 32 + lane], b = tastes[(size_t)p.y * 32 + lane];
  const float sum = sum_of_warp(a.x * b.x + a.y * b.y);
  if (lane == 0) out[warp] = sum;
}

// Members of lists whose mark is above the mean of their list; a list per warp.
__global__ void above_their_mean(const int* __restrict__ starts, const int* __restrict__ members,
                                 const float* __restrict__ marks, int* __restrict__ out, int n) {
  const int warp = me() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  const int begin = starts[warp], end = starts[warp + 1];
  float sum = 0.0f;
  for (int k = begin + lane; k < end; k += 32) sum += marks[members[k]];
  const float mean = sum_of_warp(sum) / max(end - begin, 1);
  int count = 0;
  for (int k = begin + lane; k < end; k += 32) count += marks[members[k]] > mean;
  count = __reduce_add_sync(ALL, count);
  if (lane == 0) out[warp] = count;
}

// ------------------------------------------------------------------------------------------------------------- atomics

// The highest bid of each of ``lots`` lots with its bidder, in one word of 64 bits.
__global__ void lot_records(const u32* __restrict__ bids, u64* __restrict__ best, int n, int lots) {
  for (int k = me(); k < n; k += gridDim.x * blockDim.x) {
    const u32 bid = bids[k];
    atomicMax(&best[hashed(k) % lots], (u64)bid << 32 | k);
  }
}

// How often two tags stand side by side, as a square of counters.
__global__ void tag_pairs(const u8* __restrict__ tags, int* __restrict__ counts, int n, int kinds) {
  const int k = me();
  if (k + 1 < n) atomicAdd(&counts[tags[k] % kinds * kinds + tags[k + 1] % kinds], 1);
}

// Cents on accounts in double precision.
__global__ void double_accounts(const u32* __restrict__ payments, double* __restrict__ accounts, int n, int count) {
  const int k = me();
  if (k >= n) return;
  const u32 p = payments[k];
  atomicAdd(&accounts[p % count], (double)(p >> 20));
}

// Rain on squares of a map: drops that fall on a square make its level higher, neighbours get a half.
__global__ void rain_levels(const u32* __restrict__ drops, float* __restrict__ levels, int n, int width) {
  const int k = me();
  if (k >= n) return;
  const u32 d = drops[k];
  const int x = (d & 0xffff) % width, y = (d >> 16) % width;
  atomicAdd(&levels[y * width + x], 1.0f);
  if (x + 1 < width) atomicAdd(&levels[y * width + x + 1], 0.5f);
  if (y + 1 < width) atomicAdd(&levels[(y + 1) * width + x], 0.5f);
}

// Numbers that go to the end of a list if they divide a sum; a warp asks for its places at once.
__global__ void listed_divisors(u32* __restrict__ list, int* __restrict__ length, int n, u32 sum) {
  const int k = me();
  const bool found = k < n && sum % (k + 1) < 8;
  const u32 all = __ballot_sync(ALL, found);
  if (!all) return;
  const int lane = threadIdx.x % 32, leader = __ffs(all) - 1;
  int at = 0;
  if (lane == leader) at = atomicAdd(length, __popc(all));
  at = __shfl_sync(ALL, at, leader);
  if (found) list[at + __popc(all & ((1u << lane) - 1))] = k + 1;
}

// ------------------------------------------------------------------------------------- physics, astronomy, signals

// Lyapunov's exponents of the logistic map: logarithms of its slope, along a chain.
__global__ void lyapunov_sums(const float* __restrict__ rates, float* __restrict__ out, int n, int turns) {
  const int k = me();
  if (k >= n) return;
  const float r = 2.5f + rates[k];
  float x = 0.5f, sum = 0.0f;
  for (int t = 0; t < turns; t++) {
    x = r * x * (1.0f - x);
    sum += __logf(fabsf(r - 2.0f * r * x) + 1e-6f);
  }
  out[k] = sum / turns;
}

// Points of Clifford's attractors.
__global__ void clifford_points(const float2* __restrict__ in, float2* __restrict__ out, int n, int turns) {
  const int k = me();
  if (k >= n) return;
  float2 p = in[k];
  for (int t = 0; t < turns; t++)
    p = make_float2(__sinf(-1.4f * p.y) + 0.4f * __cosf(-1.4f * p.x), __sinf(0.5f * p.x) + 0.3f * __cosf(0.5f * p.y));
  out[k] = p;
}

// How deep water stands in open channels (Manning), by Newton's steps with powers.
__global__ void channel_depths(const float* __restrict__ flows, const float* __restrict__ slopes,
                               float* __restrict__ out, int n, int turns) {
  const int k = me();
  if (k >= n) return;
  const float want = (1.0f + flows[k]) * 0.03f / sqrtf(0.001f + 0.01f * slopes[k]);
  float d = 1.0f;
  for (int t = 0; t < turns; t++) {
    const float area = d * (2.0f + d), edge = 2.0f + 2.828427f * d;
    const float now = area * powf(area / edge, 0.6666667f);
    const float slope = now * (5.0f * (2.0f + 2.0f * d) / (3.0f * area) - 2.0f * 2.828427f / (3.0f * edge));
    d = fmaxf(d - (now - want) / slope, 0.01f);
  }
  out[k] = d;
}

// Hours of daylight for a day of the year and a latitude.
__global__ void daylight_hours(const float* __restrict__ days, const float* __restrict__ latitudes,
                               float* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  const float turn = atanf(0.9671396f * tanf(0.0086f * (365.0f * days[k] - 186.0f)));
  const float tilt = asinf(0.39795f * cosf(0.2163108f + 2.0f * turn));
  const float latitude = 1.2f * latitudes[k];
  const float x = (0.0145439f + sinf(latitude) * sinf(tilt)) / (cosf(latitude) * cosf(tilt));
  out[k] = 24.0f - 7.639437f * acosf(fminf(fmaxf(x, -1.0f), 1.0f));
}

// How much light thin layers reflect: a product of complex 2 x 2 matrices, a wavelength per thread.
__global__ void thin_layers(const float2* __restrict__ layers, float* __restrict__ out, int n, int count) {
  extern __shared__ float2 stack[];
  for (int j = threadIdx.x; j < count; j += blockDim.x) stack[j] = layers[j];
  __syncthreads();
  const int k = me();
  if (k >= n) return;
  const float wave = 6.2831853f / (0.4f + 0.3f * k / n);
  float a = 1.0f, b = 0.0f, c = 0.0f, d = 1.0f;  // a, b i; c i, d
  for (int j = 0; j < count; j++) {
    const float index = 1.3f + stack[j].x;
    float s, e;
    __sincosf(wave * index * 0.2f * stack[j].y, &s, &e);
    const float p = s / index, q = s * index;
    const float a2 = a * e - b * q, b2 = a * p + b * e, c2 = c * e + d * q, d2 = d * e - c * p;
    a = a2, b = b2, c = c2, d = d2;
  }
  const float re = a - d * 1.5f, im = b * 1.5f - c, sr = a + d * 1.5f, si = b * 1.5f + c;
  out[k] = (re * re + im * im) / (sr * sr + si * si);
}

// A tone through a chain of all-pass filters; each sample waits for the one before it.
__global__ void phased_tones(const float* __restrict__ in, float* __restrict__ out, int n, int samples) {
  const int k = me();
  if (k >= n) return;
  float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
  for (int t = 0; t < samples; t++) {
    float x = in[(size_t)t * n + k], y;
    y = s0 - 0.6f * x, s0 = x + 0.6f * y, x = y;
    y = s1 - 0.5f * x, s1 = x + 0.5f * y, x = y;
    y = s2 - 0.4f * x, s2 = x + 0.4f * y, x = y;
    y = s3 - 0.3f * x, s3 = x + 0.3f * y;
    out[(size_t)t * n + k] = y;
  }
}

// A step of waves on a pond with a damped rim.
__global__ void ripple_step(const float* __restrict__ now, const float* __restrict__ before, float* __restrict__ out,
                            int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int k = y * width + x;
  const float own = now[k];
  const float near = now[x ? k - 1 : k] + now[x + 1 < width ? k + 1 : k] + now[y ? k - width : k] +
                     now[y + 1 < height ? k + width : k];
  const float damp = x < 8 || y < 8 || x + 8 >= width || y + 8 >= height ? 0.9f : 0.999f;
  out[k] = damp * (2.0f * own - before[k] + 0.24f * (near - 4.0f * own));
}

// Pictures as seen by an eye that is sharp in the middle: rows are rings, columns are angles.
__global__ void log_polar_views(const float* __restrict__ in, float* __restrict__ out, int width, int height,
                                int side) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float s, c;
  sincospif(2.0f * (x + 0.25f) / width, &s, &c);
  const float r = exp2f(__log2f(0.5f * side - 1.0f) * (y + 1) / height);
  const int px = (int)(0.5f * side + r * c), py = (int)(0.5f * side + r * s);
  out[y * width + x] = in[py * side + px];
}

// Which corners of the squares of a map are above sea level, and by how much all four.
__global__ void contour_squares(const short* __restrict__ in, int* __restrict__ out, int width, int height, int sea) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x + 1 >= width || y + 1 >= height) return;
  const short* p = in + y * width + x;
  const int a = p[0] - sea, b = p[1] - sea, c = p[width + 1] - sea, d = p[width] - sea;
  const int code = (a > 0) + 2 * (b > 0) + 4 * (c > 0) + 8 * (d > 0);
  out[y * width + x] = code == 0 || code == 15 ? 0 : 16 * abs(a + b + c + d) + code;
}

// ---------------------------------------------------------------------------------------------- games, puzzles, chance

__constant__ int snakes[16] = {38, 14, 31, 6, 42, 84, 44, 67, 26, 53, 34, 19, 60, 24, 91, 73};

// Rounds of snakes and ladders on 100 squares until the last one is reached.
__global__ void snakes_and_ladders(int* __restrict__ out, int n, int most, u32 seed) {
  const int k = me();
  if (k >= n) return;
  Rolled dice(k, seed);
  int at = 0, rounds = 0;
  while (at < 99 && rounds < most) {
    const int next = at + 1 + dice.below(6);
    rounds++;
    if (next > 99) continue;
    at = next % 7 == 3 ? snakes[next / 7] : next;
  }
  out[k] = rounds;
}

// Money after nights of craps.
__global__ void craps_nights(int* __restrict__ out, int n, int games, u32 seed) {
  const int k = me();
  if (k >= n) return;
  Rolled dice(k, seed);
  int money = 0;
  for (int g = 0; g < games; g++) {
    const int first = 2 + dice.below(6) + dice.below(6);
    if (first == 7 || first == 11) {
      money++;
    } else if (first < 4 || first == 12) {
      money--;
    } else {
      int next;
      do next = 2 + dice.below(6) + dice.below(6);
      while (next != first && next != 7);
      money += next == first ? 1 : -1;
    }
  }
  out[k] = money;
}

// What tic-tac-toe is worth for who moves next, from boards after four moves: all games are played, with a stack.
__global__ void tic_tac_toe_values(int* __restrict__ out, int n, u32 seed) {
  const int k = me();
  if (k >= n) return;
  Rolled luck(k, seed);
  u32 sides[2] = {0, 0};
  for (int m = 0; m < 4; m++) {
    u32 bit;
    do bit = 1u << luck.below(9);
    while ((sides[0] | sides[1]) & bit);
    sides[m & 1] |= bit;
  }
  auto wins = [](u32 b) {
    return (b & b >> 1 & b >> 2 & 0x49) || (b & b >> 3 & b >> 6) || (b & 0x111) == 0x111 || (b & 0x54) == 0x54;
  };
  signed char best[6];
  u32 left[6], move[6];
  int depth = 0, value = 0;
  best[0] = -2;
  left[0] = 0x1ff & ~(sides[0] | sides[1]);
  while (true) {
    if (left[depth]) {
      const u32 bit = left[depth] & -left[depth];
      left[depth] ^= bit;
      sides[depth & 1] |= bit;
      move[depth] = bit;
      const u32 rest = 0x1ff & ~(sides[0] | sides[1]);
      if (wins(sides[depth & 1]))
        value = 1;
      else if (!rest)
        value = 0;
      else {
        depth++;
        best[depth] = -2;
        left[depth] = rest;
        continue;
      }
    } else {
      if (depth == 0) break;
      value = -best[depth];
      depth--;
    }
    sides[depth & 1] ^= move[depth];
    if (value > best[depth]) best[depth] = value;
  }
  out[k] = best[0];
}

// How often look and say has to be said until a number has more than 48 digits.
__global__ void look_and_say(const u32* __restrict__ starts, int* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  u8 a[100], b[100];
  int length = 0, said = 0;
  for (u32 x = starts[k] % 100000; x || !length; x /= 10) a[length++] = x % 10;
  while (length <= 48 && said < 20) {
    int next = 0;
    for (int j = 0; j < length;) {
      int run = 1;
      while (j + run < length && a[j + run] == a[j] && run < 9) run++;
      b[next++] = run;
      b[next++] = a[j];
      j += run;
    }
    for (int j = 0; j < next; j++) a[j] = b[j];
    length = next;
    said++;
  }
  out[k] = said << 8 | length;
}

// How many throws find the floor from which eggs break.
__global__ void egg_throws(const u32* __restrict__ houses, int* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  const int eggs = 1 + houses[k] % 8, floors = 1 + (houses[k] >> 8) % 400;
  int reach[9] = {}, throws = 0;
  while (reach[eggs] < floors) {
    throws++;
    for (int e = eggs; e; e--) reach[e] += reach[e - 1] + 1;
  }
  out[k] = throws;
}

// Rows of brackets by their number among all of twelve pairs, as bits.
__global__ void bracket_rows(u32* __restrict__ out, int n) {
  __shared__ int ways[25][14];
  for (int c = threadIdx.x; c < 25 * 14; c += blockDim.x) ways[c / 14][c % 14] = c == 0;
  __syncthreads();
  for (int left = 1; left < 25; left++) {
    for (int open = threadIdx.x; open < 13; open += blockDim.x)
      ways[left][open] = ways[left - 1][open + 1] + (open ? ways[left - 1][open - 1] : 0);
    __syncthreads();
  }
  const int k = me();
  if (k >= n) return;
  int rank = k % ways[24][0], open = 0;
  u32 bits = 0;
  for (int left = 23; left >= 0; left--) {
    const int below = ways[left][open + 1];
    if (rank < below) {
      open++;
      bits = bits << 1 | 1;
    } else {
      rank -= below;
      open--;
      bits <<= 1;
    }
  }
  out[k] = bits;
}

// Hands of 16 cards in order, by insertion.
__global__ void hands_in_order(const u32* __restrict__ in, u32* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  u32 hand[16];
  for (int j = 0; j < 16; j++) {
    const u32 card = in[(size_t)j * n + k];
    int at = j;
    while (at && hand[at - 1] > card) {
      hand[at] = hand[at - 1];
      at--;
    }
    hand[at] = card;
  }
  for (int j = 0; j < 16; j++) out[(size_t)j * n + k] = hand[j];
}

// The longest palindrome that letters of a word give in their order.
__global__ void hidden_palindromes(const u8* __restrict__ words, u8* __restrict__ out, int n, int length) {
  const int k = me();
  if (k >= n) return;
  u8 best[40], letters[40];
  for (int j = 0; j < length; j++) letters[j] = words[(size_t)j * n + k];
  for (int a = length - 1; a >= 0; a--) {
    int inner = 0;
    best[a] = 1;
    for (int b = a + 1; b < length; b++) {
      const int was = best[b];
      const int below = b > a + 1 ? was : 1;
      best[b] = letters[a] == letters[b] ? inner + 2 : max(below, (int)best[b - 1]);
      inner = below;
    }
  }
  out[k] = best[length - 1];
}

// Walks of readers over links of pages; who is at a page without links begins elsewhere.
__global__ void wandering_readers(const int* __restrict__ starts, const int* __restrict__ links, u32* __restrict__ out,
                                  int n, int pages, int steps, u32 seed) {
  const int k = me();
  if (k >= n) return;
  Rolled luck(k, seed);
  u32 at = k % pages, trace = 0;
  for (int s = 0; s < steps; s++) {
    const int begin = starts[at], count = starts[at + 1] - begin;
    at = count ? links[begin + luck.below(count)] : hashed(at + s) % pages;
    trace = trace * 31 + at;
  }
  out[k] = trace;
}

// Water that runs to the lowest of four neighbours until it stands. Out: where.
__global__ void downhill_walks(const int* __restrict__ heights, int* __restrict__ out, int n, int side) {
  const int k = me();
  if (k >= n) return;
  int at = hashed(k) % (side * side), own = heights[at];
  while (true) {
    const int x = at % side, y = at / side;
    int best = at, least = own;
    auto look = [&](bool inside, int there) {
      if (!inside) return;
      const int h = heights[there];
      if (h < least) {
        least = h;
        best = there;
      }
    };
    look(x > 0, at - 1);
    look(x + 1 < side, at + 1);
    look(y > 0, at - side);
    look(y + 1 < side, at + side);
    if (best == at) break;
    at = best;
    own = least;
  }
  out[k] = at;
}

// Hunts for treasure: every clue tells where the next one lies and what it is worth.
__global__ void treasure_hunts(const uint2* __restrict__ clues, u32* __restrict__ out, int n, u32 count, int each) {
  const int k = me();
  if (k >= n) return;
  u32 at = hashed(k) % count, worth = 0;
  for (int c = 0; c < each; c++) {
    const uint2 clue = clues[at];
    worth += clue.y;
    at = clue.x % count;
  }
  out[k] = worth;
}

// Sums of rectangles of a table of sums: four corners each.
__global__ void rectangle_prices(const u32* __restrict__ sums, const u32* __restrict__ corners, u32* __restrict__ out,
                                 int n, int side) {
  const int k = me();
  if (k >= n) return;
  const u32 a = corners[k] % (side * side), b = hashed(corners[k]) % (side * side);
  const int x0 = min(a % side, b % side), x1 = max(a % side, b % side);
  const int y0 = min(a / side, b / side), y1 = max(a / side, b / side);
  out[k] = sums[y1 * side + x1] - sums[y0 * side + x1] - sums[y1 * side + x0] + sums[y0 * side + x0];
}

// Numbers in a telephone book: 4,096 places by the first bits tell where to look, then one entry after the other.
__global__ void telephone_book(const u32* __restrict__ book, const u32* __restrict__ asked, int* __restrict__ out,
                               int n) {
  const int k = me();
  if (k >= n) return;
  const u32 number = asked[k] % (1u << 24);
  const u32* entries = book + 4097;
  int found = -1;
  for (u32 at = book[number >> 12]; at < book[(number >> 12) + 1]; at++)
    if (entries[at] >= number) {
      found = at;
      break;
    }
  out[k] = found;
}

// How texts of bytes split into numbers, names, texts in quotes and signs: a machine with states per thread.
__global__ void counted_tokens(const u8* __restrict__ texts, uchar4* __restrict__ out, int n, int length) {
  const int k = me();
  if (k >= n) return;
  int numbers = 0, names = 0, quotes = 0, signs = 0, state = 0;
  for (int j = 0; j < length; j++) {
    const int c = texts[(size_t)j * n + k] % 96 + 32;
    if (state == 3) {
      if (c == '"') state = 0;
      continue;
    }
    if (c >= '0' && c <= '9') {
      if (state == 0) {
        numbers++;
        state = 1;
      }
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') {
      if (state != 2) names++;
      state = 2;
    } else if (c == '"') {
      quotes++;
      state = 3;
    } else {
      if (c != ' ') signs++;
      state = 0;
    }
  }
  out[k] = make_uchar4(numbers, names, quotes, signs);
}

__constant__ int spoken_small[20] = {4, 3, 3, 5, 4, 4, 3, 5, 5, 4, 3, 6, 6, 8, 8, 7, 7, 9, 8, 8};
__constant__ int spoken_tens[10] = {0, 0, 6, 6, 5, 5, 5, 7, 6, 6};

// How many letters English numbers below a million have.
__global__ void spoken_letters(const u32* __restrict__ in, int* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  const u32 x = in[k] % 1000000;
  auto below_thousand = [](u32 v) {
    int sum = 0;
    if (v >= 100) sum += spoken_small[v / 100] + 7, v %= 100;
    if (v >= 20) {
      sum += spoken_tens[v / 10];
      if (v % 10) sum += spoken_small[v % 10];
    } else if (v) {
      sum += spoken_small[v];
    }
    return sum;
  };
  int sum = below_thousand(x % 1000);
  if (x >= 1000) sum += below_thousand(x / 1000) + 8;
  out[k] = x ? sum : 4;
}

__constant__ int scale_steps[12] = {0, 2, 3, 5, 7, 8, 10, 12, 14, 15, 17, 19};

// Melodies of steps of a scale as a sum of pitches: a table in constant memory, at another place per lane.
__global__ void melody_pitches(const u32* __restrict__ in, int* __restrict__ out, int n, int bars) {
  const int k = me();
  if (k >= n) return;
  u32 notes = in[k];
  int sum = 0;
  for (int b = 0; b < bars; b++) {
#pragma unroll
    for (int j = 0; j < 8; j++) sum = sum * 3 + scale_steps[(notes >> 4 * j & 15) % 12];
    notes = notes * 1664525u + 1013904223u;
  }
  out[k] = sum;
}

// ------------------------------------------------------------------------------------------ integers and long integers

// Numbers of Fibonacci modulo a number of 32 bits, by doubling.
__global__ void fibonacci_remainders(const u32* __restrict__ places, u32* __restrict__ out, int n, u32 modulus) {
  const int k = me();
  if (k >= n) return;
  const u64 m = modulus;
  u64 a = 0, b = 1;
  for (int bit = 31; bit >= 0; bit--) {
    const u64 c = a * ((2 * b + m - a) % m) % m, d = (a * a % m + b * b % m) % m;
    if (places[k] >> bit & 1) {
      a = d;
      b = (c + d) % m;
    } else {
      a = c;
      b = d;
    }
  }
  out[k] = a;
}

// Words of a generator with 64 bits of state (multiply, add, xor and turn).
__global__ void turned_generators(const u64* __restrict__ seeds, u64* __restrict__ out, int n, int turns) {
  const int k = me();
  if (k >= n) return;
  u64 state = seeds[k], sum = 0;
  for (int t = 0; t < turns; t++) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const u64 x = state ^ state >> 29;
    const int by = state >> 59;
    sum += x >> by | x << (63 - by) << 1;
  }
  out[k] = sum;
}

// Squares that knights on boards of 64 bits reach, step by step.
__global__ void knight_reaches(const u64* __restrict__ boards, int* __restrict__ out, int n, int steps) {
  const int k = me();
  if (k >= n) return;
  const u64 stones = boards[k] & boards[(k + 1) % n];
  u64 at = boards[k] & -boards[k];
  int sum = 0;
  for (int s = 0; s < steps; s++) {
    const u64 l1 = at >> 1 & 0x7f7f7f7f7f7f7f7full, l2 = at >> 2 & 0x3f3f3f3f3f3f3f3full;
    const u64 r1 = at << 1 & 0xfefefefefefefefeull, r2 = at << 2 & 0xfcfcfcfcfcfcfcfcull;
    const u64 near = l1 | r1, far = l2 | r2;
    at |= (near << 16 | near >> 16 | far << 8 | far >> 8) & ~stones;
    sum = 3 * sum + __popcll(at);
  }
  out[k] = sum;
}

// When two buses meet next: the least number with two remainders (Euclid).
__global__ void bus_meetings(const u32* __restrict__ in, u32* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  const int a = 2 + in[k] % 997, b = 2 + (in[k] >> 10) % 991, ra = in[k] % a, rb = (in[k] >> 5) % b;
  int r0 = a, r1 = b, s0 = 1, s1 = 0;
  while (r1) {
    const int q = r0 / r1, r = r0 % r1, s = s0 - q * s1;
    r0 = r1, r1 = r, s0 = s1, s1 = s;
  }
  if ((rb - ra) % r0) {
    out[k] = 0;
    return;
  }
  const int part = b / r0;
  int turns = (int)((long long)((rb - ra) / r0) * s0 % part);
  if (turns < 0) turns += part;
  out[k] = 1 + ra + a * turns;
}

// A stage of a chain of effects, with its own numbers and one of four ways to change a sound.
template <int j>
__device__ __forceinline__ void stage(float& x, float& y) {
  constexpr u32 h = hashed(j + 1);
  constexpr float a = 0.2f + h % 256 / 1024.0f, b = (h >> 8) % 256 / 512.0f;
  if constexpr (h >> 30 == 0) {
    x = fmaf(a, x, b);
    y = fmaf(-a, y, x);
  } else if constexpr (h >> 30 == 1) {
    x = fminf(fabsf(x - b), 2.0f) + a * y;
  } else if constexpr (h >> 30 == 2) {
    y = fmaf(x, a, y * b);
    x = x * (1.0f - b) + 0.01f;
  } else {
    x = fmaxf(x, a) - b * y;
    y = fminf(y + a, 1.5f);
  }
}

template <int first, int count>
__device__ __forceinline__ void stages_from(float& x, float& y) {
  if constexpr (count == 1) {
    stage<first>(x, y);
  } else {
    stages_from<first, count / 2>(x, y);
    stages_from<first + count / 2, count - count / 2>(x, y);
  }
}

// Straight code of ``stages`` stages.
template <int stages>
__global__ void effect_stages(const float* __restrict__ in, float* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  float x = in[k], y = 1.0f - x;
  stages_from<0, stages>(x, y);
  out[k] = x + y;
}

// ---------------------------------------------------------------------------------------------------- double precision

// Metres between places on the earth's ellipsoid (Lambert's formula).
__global__ void lambert_metres(const double* __restrict__ places, double* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  const double f = 1.0 / 298.257223563;
  const double p1 = places[4 * k] - 0.5, l1 = 3.0 * places[4 * k + 1], p2 = places[4 * k + 2] - 0.5,
               l2 = 3.0 * places[4 * k + 3];
  const double b1 = atan((1.0 - f) * tan(p1)), b2 = atan((1.0 - f) * tan(p2));
  const double ds = sin(0.5 * (b2 - b1)), dl = sin(0.5 * (l2 - l1));
  const double s = 2.0 * asin(sqrt(ds * ds + cos(b1) * cos(b2) * dl * dl));
  const double p = 0.5 * (b1 + b2), q = 0.5 * (b2 - b1), h = sin(0.5 * s), g = cos(0.5 * s);
  const double x = (s - sin(s)) * sin(p) * sin(p) * cos(q) * cos(q) / (g * g);
  const double y = (s + sin(s)) * cos(p) * cos(p) * sin(q) * sin(q) / (h * h);
  out[k] = 6378137.0 * (s - 0.5 * f * (x + y));
}

// Mandelbrot's set deep inside, in double precision: turns until a point leaves.
__global__ void deep_zooms(int* __restrict__ out, int width, int height, int most, double size) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const double a = -0.7436438870371587 + size * (x - width / 2), b = 0.1318259042053119 + size * (y - height / 2);
  double r = 0.0, s = 0.0;
  int turns = 0;
  while (turns < most) {
    const double rr = r * r, ss = s * s;
    if (rr + ss > 4.0) break;
    s = 2.0 * r * s + b;
    r = rr - ss + a;
    turns++;
  }
  out[y * width + x] = turns;
}

// Pots of pensions after years of months, with fees and rising payments.
__global__ void pension_pots(const double* __restrict__ rates, double* __restrict__ out, int n, int months) {
  const int k = me();
  if (k >= n) return;
  const double growth = 1.0 + rates[k] / 120.0;
  double pot = 0.0, payment = 100.0;
  for (int m = 0; m < months; m++) {
    pot = (pot + payment) * growth - 0.0004 * pot;
    payment = m % 12 == 11 ? 1.02 * payment : payment;
  }
  out[k] = pot;
}

// Interest on balances of accounts.
__global__ void posted_interest(const double2* __restrict__ in, double2* __restrict__ out, int n, double rate) {
  for (int k = me(); k < n; k += gridDim.x * blockDim.x) {
    const double2 b = in[k];
    out[k] = make_double2(b.x + fmax(b.x, 0.0) * rate, b.y + fmax(b.y, 0.0) * rate);
  }
}

// ------------------------------------------------------------------------------------------- short floats and matrices

// Scores of applicants by 16 answers and eight sets of weights, in pairs of halves.
__global__ void half_scorecards(const __half2* __restrict__ answers, const __half2* __restrict__ weights,
                                __half* __restrict__ out, int n) {
  __shared__ __half2 own[64];
  for (int j = threadIdx.x; j < 64; j += blockDim.x) own[j] = weights[j];
  __syncthreads();
  const int k = me();
  if (k >= n) return;
  __half2 a[8];
#pragma unroll
  for (int j = 0; j < 8; j++) a[j] = answers[(size_t)j * n + k];
  __half best = __float2half(-100.0f);
#pragma unroll
  for (int s = 0; s < 8; s++) {
    __half2 sum = __float2half2_rn(0.0f);
#pragma unroll
    for (int j = 0; j < 8; j++) sum = __hfma2(a[j], own[8 * s + j], sum);
    best = __hmax(best, __hadd(__low2half(sum), __high2half(sum)));
  }
  out[k] = best;
}

// Three pictures of halves become one, by weights that change along the picture.
__global__ void half_dissolves(const __half2* __restrict__ a, const __half2* __restrict__ b,
                               const __half2* __restrict__ c, __half2* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  const __half2 w = __float2half2_rn((k % 256) / 256.0f), v = __hsub2(__float2half2_rn(1.0f), w);
  out[k] = __hfma2(__hfma2(a[k], w, __hmul2(b[k], v)), v, __hmul2(c[k], w));
}

// Gates of neurons in halves: exponentials and divisions in pairs, again and again.
__global__ void half_gates(const __half2* __restrict__ in, __half2* __restrict__ out, int n, int turns) {
  const int k = me();
  if (k >= n) return;
  const __half2 one = __float2half2_rn(1.0f), slope = __float2half2_rn(-1.25f);
  __half2 x = in[k];
  for (int t = 0; t < turns; t++) x = h2rcp(__hadd2(one, h2exp2(__hmul2(x, slope))));
  out[k] = x;
}

// Brightness of screens in bfloat16, two rows at once: scaled by a factor per column, and a limit.
__global__ void bf16_columns(const __nv_bfloat162* __restrict__ in, const __nv_bfloat162* __restrict__ scales,
                             __nv_bfloat162* __restrict__ out, int n, int columns) {
  for (int k = me(); k < n; k += gridDim.x * blockDim.x) {
    const __nv_bfloat162 one = __float2bfloat162_rn(1.0f);
    out[k] = __hmin2(__hmul2(in[k], __hadd2(scales[k % columns], one)), one);
  }
}

// Costs of recipes: amounts by prices, 16 x 16 of the product per warp (WMMA, halves).
__global__ void recipe_costs(const __half* __restrict__ amounts, const __half* __restrict__ prices,
                             float* __restrict__ out, int rows, int columns, int depth) {
  const int tile = me() / 32, across = columns / 16;
  if (tile >= rows / 16 * across) return;
  const int row = tile / across * 16, column = tile % across * 16;
  float c[8] = {};
  for (int k = 0; k < depth; k += 16) {
    u32 a[8], b[8];
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]), "=r"(a[4]), "=r"(a[5]), "=r"(a[6]), "=r"(a[7])
                 : "l"(amounts + (size_t)row * depth + k), "r"(depth));
    asm volatile("wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]), "=r"(b[4]), "=r"(b[5]), "=r"(b[6]), "=r"(b[7])
                 : "l"(prices + (size_t)column * depth + k), "r"(depth));
    asm volatile(
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, "
        "%13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, {%0, %1, %2, %3, %4, %5, %6, %7};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]),
          "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
  }
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;" ::"l"(
                   out + (size_t)row * columns + column),
               "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]), "f"(c[5]), "f"(c[6]), "f"(c[7]), "r"(columns)
               : "memory");
}

// Weather after days: a square of odds by itself, one product after the other (bfloat16, tensor cores), per warp.
__global__ void weather_chains(const u16* __restrict__ odds, const u16* __restrict__ days, float* __restrict__ out,
                               int n, int steps) {
  const int warp = me() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  const int g = lane / 4, two = lane % 4 * 2;
  u32 a[4];
#pragma unroll
  for (int j = 0; j < 4; j++) a[j] = *(const u32*)(odds + (g + j % 2 * 8) * 16 + j / 2 * 8 + two);
  const u16* day = days + (size_t)warp * 128 + g * 16;
  u32 b0 = *(const u32*)(day + two), b1 = *(const u32*)(day + 8 + two);
  float c[4] = {};
  for (int s = 0; s < steps; s++) {
    c[0] = c[1] = c[2] = c[3] = 0.0f;
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    // Rows of the result become rows of the next factor: c0 and c1 lie side by side, the factor wants them below.
    float d[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int row = two + j % 2, from = row * 4 + g / 2;
      const float even = __shfl_sync(ALL, c[j / 2 * 2], from), odd = __shfl_sync(ALL, c[j / 2 * 2 + 1], from);
      d[j] = g % 2 ? odd : even;
    }
    const __nv_bfloat162 low = __floats2bfloat162_rn(d[0], d[1]), high = __floats2bfloat162_rn(d[2], d[3]);
    b0 = *(const u32*)&low;
    b1 = *(const u32*)&high;
  }
#pragma unroll
  for (int j = 0; j < 4; j++) out[(size_t)warp * 128 + (g + j / 2 * 8) * 8 + two + j % 2] = c[j];
}

// Like codes of signed bytes: products of rows of 64 with eight others, the sum of their squares (tensor cores).
__global__ void code_energies(const u32* __restrict__ rows, const u32* __restrict__ others, int* __restrict__ out,
                              int n, int groups) {
  const int warp = me() / 32, lane = threadIdx.x % 32;
  if (16 * warp >= n) return;
  const int g = lane / 4, f = lane % 4, row = 16 * warp + g;
  u32 a[2][4];
#pragma unroll
  for (int k = 0; k < 2; k++)
#pragma unroll
    for (int j = 0; j < 4; j++) a[k][j] = rows[(size_t)(row + j % 2 * 8) * 16 + 8 * k + j / 2 * 4 + f];
  int upper = 0, lower = 0;
  for (int o = 0; o < groups; o++) {
    int c[4] = {};
#pragma unroll
    for (int k = 0; k < 2; k++) {
      const u32 b0 = others[(8 * o + g) * 16 + 8 * k + f], b1 = others[(8 * o + g) * 16 + 8 * k + 4 + f];
      asm volatile(
          "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
          : "r"(a[k][0]), "r"(a[k][1]), "r"(a[k][2]), "r"(a[k][3]), "r"(b0), "r"(b1));
    }
    upper += (c[0] >> 8) * (c[0] >> 8) + (c[1] >> 8) * (c[1] >> 8);
    lower += (c[2] >> 8) * (c[2] >> 8) + (c[3] >> 8) * (c[3] >> 8);
  }
#pragma unroll
  for (int far = 1; far < 4; far *= 2) {
    upper += __shfl_xor_sync(ALL, upper, far);
    lower += __shfl_xor_sync(ALL, lower, far);
  }
  if (f == 0) {
    out[row] = upper;
    out[row + 8] = lower;
  }
}

// --------------------------------------------------------------------------------------------- first programs, streams

// Marks for points of an exam.
__global__ void exam_marks(const int* __restrict__ points, char* __restrict__ marks, int n) {
  const int k = me();
  if (k < n) {
    if (points[k] >= 90)
      marks[k] = 'A';
    else if (points[k] >= 75)
      marks[k] = 'B';
    else if (points[k] >= 60)
      marks[k] = 'C';
    else
      marks[k] = 'F';
  }
}

// The mean of a class, by one block.
__global__ void class_mean(const float* __restrict__ points, float* __restrict__ mean, int n) {
  __shared__ float sums[1024];
  float sum = 0.0f;
  for (int k = threadIdx.x; k < n; k += blockDim.x) sum += points[k];
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < blockDim.x; k++) sum += sums[k];
    *mean = sum / n;
  }
}

// Receipts: a thread adds what lies one behind the other.
__global__ void receipts(const int* __restrict__ cents, int* __restrict__ out, int n, int each) {
  const int k = me();
  if (k >= n) return;
  int sum = 0;
  for (int j = 0; j < each; j++) sum += cents[k * each + j];
  out[k] = sum;
}

// Pixels of four bytes, their colours times their fourth byte.
__global__ void premultiplied(const uchar4* __restrict__ in, uchar4* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  const uchar4 p = in[k];
  auto by = [&](int c) { return (c * p.w + 127) / 255; };
  out[k] = make_uchar4(by(p.x), by(p.y), by(p.z), p.w);
}

// Logarithms of a price over the one before it.
__global__ void log_steps(const float* __restrict__ prices, float* __restrict__ out, int n) {
  const int k = me();
  if (k < n) out[k] = logf((1.0f + prices[k + 1]) / (1.0f + prices[k]));
}

// Pictures of floats as black and white: a bit per point.
__global__ void black_and_white(const float* __restrict__ in, u32* __restrict__ out, int n, float limit) {
  for (int k = me(); k < n; k += gridDim.x * blockDim.x) {
    const u32 bits = __ballot_sync(ALL, in[k] > limit);
    if (threadIdx.x % 32 == 0) out[k / 32] = bits;
  }
}

// Three planes of colours become pixels of three bytes.
__global__ void planes_to_pixels(const u8* __restrict__ planes, u8* __restrict__ out, int n) {
  const int k = me();
  if (k >= n) return;
  out[3 * k] = planes[k];
  out[3 * k + 1] = planes[(size_t)n + k];
  out[3 * k + 2] = planes[(size_t)2 * n + k];
}
