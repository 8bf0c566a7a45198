// Kernels for tests/hardware/twenty_second_cases.py: other ones than those of the twenty-one sets before, as programs
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

#define WARP 0xffffffffu

__device__ __forceinline__ int own_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

__host__ __device__ constexpr u32 stirred(u32 x) {
  x = (x ^ x >> 16) * 0x21f0aaadu;
  x = (x ^ x >> 15) * 0xd35a2d97u;
  return x ^ x >> 15;
}

// A thread's random numbers: a counter, stirred.
struct Luck {
  u32 at;
  __device__ __forceinline__ Luck(u32 thread, u32 seed) : at(stirred(thread + seed * 0x9e3779b9u)) {}
  __device__ __forceinline__ u32 word() { return stirred(at += 0x9e3779b9u); }
  __device__ __forceinline__ u32 below(u32 limit) { return __umulhi(word(), limit); }
  __device__ __forceinline__ float part() { return ((word() >> 9) + 0.5f) * (1.0f / 8388608.0f); }
};

__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
  for (int far = 16; far; far /= 2) x += __shfl_xor_sync(WARP, x, far);
  return x;
}

// ------------------------------------------------------------------------------------------------- a problem per block

// Elections by instant runoff among eight parties: who has the fewest first votes drops out, until one has more than
// half. A vote is eight times three bits. Out: the winner, and in how many rounds.
__global__ void runoff_rounds(const u32* __restrict__ votes, int* __restrict__ out, int voters) {
  __shared__ int counts[3][8];
  if (threadIdx.x < 24) counts[threadIdx.x / 8][threadIdx.x % 8] = 0;
  __syncthreads();
  const u32* own = votes + (size_t)blockIdx.x * voters;
  u32 standing = 0xff;
  int round = 0, most = 0;
  while (true) {
    int* now = counts[round % 3];
    if (threadIdx.x < 8) counts[(round + 1) % 3][threadIdx.x] = 0;
    for (int k = threadIdx.x; k < voters; k += blockDim.x) {
      u32 vote = own[k];
      while (!(standing >> (vote & 7) & 1)) vote >>= 3;
      atomicAdd(&now[vote & 7], 1);
    }
    __syncthreads();
    int least = -1;
    most = -1;
    for (int c = 0; c < 8; c++) {
      if (!(standing >> c & 1)) continue;
      if (most < 0 || now[c] > now[most]) most = c;
      if (least < 0 || now[c] < now[least]) least = c;
    }
    round++;
    if (2 * now[most] > voters) break;
    standing &= ~(1u << least);
  }
  if (threadIdx.x == 0) out[blockIdx.x] = 16 * most + round;
}

// In which order the ends of texts come in a dictionary: ranks by one letter, by two, by four and so on.
__global__ void suffix_ranks(const u8* __restrict__ texts, int* __restrict__ out, int n) {
  extern __shared__ int ranks[];
  int* keys = ranks + n;
  for (int j = threadIdx.x; j < n; j += blockDim.x) ranks[j] = texts[(size_t)blockIdx.x * n + j];
  __syncthreads();
  for (int far = 1; far < n; far *= 2) {
    for (int j = threadIdx.x; j < n; j += blockDim.x)
      keys[j] = ranks[j] << 12 | (j + far < n ? ranks[j + far] + 1 : 0);
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
      const int own = keys[j];
      int smaller = 0;
      for (int k = 0; k < n; k++) smaller += keys[k] < own;
      ranks[j] = smaller;
    }
    __syncthreads();
  }
  for (int j = threadIdx.x; j < n; j += blockDim.x) out[(size_t)blockIdx.x * n + j] = ranks[j];
}

// The shortest tours through few cities (Held and Karp): for each set of cities and its last one the shortest way.
__global__ void held_karp_tours(const int* __restrict__ roads, int* __restrict__ out, int cities) {
  extern __shared__ int ways[];
  __shared__ int road[12][12];
  const int others = cities - 1, sets = 1 << others;
  for (int k = threadIdx.x; k < cities * cities; k += blockDim.x)
    road[k / cities][k % cities] = roads[(size_t)blockIdx.x * cities * cities + k];
  __syncthreads();
  for (int size = 1; size <= others; size++) {
    for (int set = threadIdx.x; set < sets; set += blockDim.x) {
      if (__popc(set) != size) continue;
      for (int last = 0; last < others; last++) {
        if (!(set >> last & 1)) continue;
        const int before = set ^ 1 << last;
        int best = size == 1 ? road[others][last] : 1 << 30;
        for (int k = 0; k < others; k++)
          if (before >> k & 1) best = min(best, ways[before * others + k] + road[k][last]);
        ways[set * others + last] = best;
      }
    }
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    const int last = threadIdx.x;
    const int tour = last < others ? ways[(sets - 1) * others + last] + road[last][others] : 1 << 30;
    const int best = __reduce_min_sync(WARP, tour);
    if (last == 0) out[blockIdx.x] = best;
  }
}

// What sheets are worth that a saw cuts from edge to edge into pieces. A piece is width, height and price.
__global__ void sheet_cuts(const int* __restrict__ pieces, int* __restrict__ out, int width, int height, int kinds) {
  extern __shared__ int worth[];
  const int* own = pieces + (size_t)blockIdx.x * kinds * 3;
  for (int sum = 2; sum <= width + height; sum++) {
    const int first = max(1, sum - height), last = min(width, sum - 1);
    for (int w = first + threadIdx.x; w <= last; w += blockDim.x) {
      const int h = sum - w;
      int best = 0;
      for (int k = 0; k < kinds; k++)
        if (own[3 * k] % width + 1 == w && own[3 * k + 1] % height + 1 == h) best = max(best, own[3 * k + 2]);
      for (int x = 1; 2 * x <= w; x++)
        best = max(best, worth[(x - 1) * height + h - 1] + worth[(w - x - 1) * height + h - 1]);
      for (int y = 1; 2 * y <= h; y++)
        best = max(best, worth[(w - 1) * height + y - 1] + worth[(w - 1) * height + h - y - 1]);
      worth[(w - 1) * height + h - 1] = best;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = worth[width * height - 1];
}

// Patches pasted into pictures without a seam: inside they keep their differences, at the border they meet the picture.
__global__ void seamless_pastes(const float* __restrict__ patches, const float* __restrict__ pictures,
                                float* __restrict__ out, int side, int turns) {
  extern __shared__ float levels[];
  const int cells = side * side;
  const size_t first = (size_t)blockIdx.x * cells;
  float *now = levels, *next = levels + cells;
  for (int k = threadIdx.x; k < cells; k += blockDim.x) now[k] = next[k] = pictures[first + k];
  __syncthreads();
  for (int t = 0; t < turns; t++) {
    for (int k = threadIdx.x; k < cells; k += blockDim.x) {
      const int y = k / side, x = k % side;
      if (x == 0 || y == 0 || x == side - 1 || y == side - 1) continue;
      const float* p = patches + first + k;
      const float bend = 4.0f * p[0] - p[-1] - p[1] - p[-side] - p[side];
      next[k] = 0.25f * (now[k - 1] + now[k + 1] + now[k - side] + now[k + side] + bend);
    }
    __syncthreads();
    float* other = now;
    now = next;
    next = other;
  }
  for (int k = threadIdx.x; k < cells; k += blockDim.x) out[first + k] = now[k];
}

// Round sprites on tiles of 32 x 32 points: per point the nearest sprite, as depth and number.
__global__ void sprite_depths(const u32* __restrict__ sprites, u32* __restrict__ out, int count) {
  __shared__ u32 tile[1024];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) tile[k] = 0xffffffffu;
  __syncthreads();
  for (int k = threadIdx.x; k < count; k += blockDim.x) {
    const u32 sprite = sprites[(size_t)blockIdx.x * count + k];
    const int cx = sprite & 31, cy = sprite >> 5 & 31, r = 1 + (sprite >> 10 & 3);
    for (int y = max(0, cy - r); y <= min(31, cy + r); y++)
      for (int x = max(0, cx - r); x <= min(31, cx + r); x++)
        if ((x - cx) * (x - cx) + (y - cy) * (y - cy) <= r * r)
          atomicMin(&tile[32 * y + x], (sprite & 0xffff0000u) | (u32)k);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) out[(size_t)blockIdx.x * 1024 + k] = tile[k];
}

// The shadows of a slice under many angles, an angle per block; each point falls between two places.
__global__ void shadow_profiles(const float* __restrict__ slice, float* __restrict__ out, int side) {
  extern __shared__ float places[];
  for (int k = threadIdx.x; k < 2 * side; k += blockDim.x) places[k] = 0.0f;
  __syncthreads();
  float s, c;
  sincospif((float)blockIdx.x / gridDim.x, &s, &c);
  for (int k = threadIdx.x; k < side * side; k += blockDim.x) {
    const float x = k % side - 0.5f * side, y = k / side - 0.5f * side, at = x * c + y * s + side;
    const int place = (int)at;
    const float part = at - place, value = slice[k];
    if (place >= 0 && place + 1 < 2 * side) {
      atomicAdd(&places[place], (1.0f - part) * value);
      atomicAdd(&places[place + 1], part * value);
    }
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 2 * side; k += blockDim.x) out[(size_t)blockIdx.x * 2 * side + k] = places[k];
}

// Integrals over six axes by points of a lattice (Korobov); an integrand per block.
__global__ void korobov_integrals(const float* __restrict__ weights, float* __restrict__ out, int points, u32 step) {
  __shared__ float of_warp[32];
  const float* own = weights + (size_t)blockIdx.x * 6;
  float sum = 0.0f;
  for (u32 k = threadIdx.x; k < points; k += blockDim.x) {
    u32 at = k;
    float product = 1.0f;
#pragma unroll
    for (int d = 0; d < 6; d++) {
      product *= 1.0f + own[d] * __sinf(6.2831853f * at / points) + 0.1f * own[d];
      at = at * step % points;
    }
    sum += product;
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = warp_sum(threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) out[blockIdx.x] = sum / points;
  }
}

// Half of a block's warps make samples, the other half takes them from two buffers; barriers by number keep the pace.
__global__ void piped_signals(float* __restrict__ out, int rounds, float pitch) {
  __shared__ float buffers[2][512];
  const int half = blockDim.x / 2, t = threadIdx.x % half, all = blockDim.x;
  if (threadIdx.x < half) {
    float phase = pitch * (1 + t % 7 + blockIdx.x % 5);
    for (int k = 0; k < rounds; k++) {
      const float sample = __sinf(phase) + 0.3f * __cosf(2.0f * phase);
      phase = phase < 3.0f ? phase + pitch : phase - 3.0f;
      if (k >= 2) asm volatile("bar.sync %0, %1;" ::"r"(3 + (k & 1)), "r"(all) : "memory");
      buffers[k & 1][t] = sample;
      asm volatile("bar.arrive %0, %1;" ::"r"(1 + (k & 1)), "r"(all) : "memory");
    }
  } else {
    float low = 0.0f, energy = 0.0f;
    for (int k = 0; k < rounds; k++) {
      asm volatile("bar.sync %0, %1;" ::"r"(1 + (k & 1)), "r"(all) : "memory");
      const float *buffer = buffers[k & 1], a = buffer[t], b = buffer[t ? t - 1 : half - 1];
      if (k + 2 < rounds) asm volatile("bar.arrive %0, %1;" ::"r"(3 + (k & 1)), "r"(all) : "memory");
      low += 0.2f * (a - b - low);
      energy += low * low;
    }
    out[blockIdx.x * half + t] = energy;
  }
}

// Heat along rods of four parts, a part per block: a step after the other, the ends from the neighbours' shared memory.
__global__ void __cluster_dims__(4) long_rods(const float* __restrict__ in, float* __restrict__ out, int part,
                                              int steps, float r) {
  extern __shared__ float rod[];
  const auto cluster = cg::this_cluster();
  const int rank = cluster.block_rank();
  const size_t first = (size_t)blockIdx.x * part;
  for (int j = threadIdx.x; j < part; j += blockDim.x) rod[j] = in[first + j];
  cluster.sync();
  for (int t = 0; t < steps; t++) {
    const float* now = rod + t % 2 * part;
    float* next = rod + (1 - t % 2) * part;
    for (int j = threadIdx.x; j < part; j += blockDim.x) {
      const float own = now[j];
      float left = own, right = own;
      if (j)
        left = now[j - 1];
      else if (rank)
        left = cluster.map_shared_rank(now, rank - 1)[part - 1];
      if (j + 1 < part)
        right = now[j + 1];
      else if (rank < 3)
        right = cluster.map_shared_rank(now, rank + 1)[0];
      next[j] = own + r * (left - 2.0f * own + right);
    }
    cluster.sync();
  }
  for (int j = threadIdx.x; j < part; j += blockDim.x) out[first + j] = rod[steps % 2 * part + j];
}

// Counts of 1,024 kinds, spread over the shared memory of four blocks; a town per cluster.
__global__ void __cluster_dims__(4) shared_ages(const u32* __restrict__ people, u32* __restrict__ out, int each) {
  __shared__ u32 counts[256];
  const auto cluster = cg::this_cluster();
  for (int k = threadIdx.x; k < 256; k += blockDim.x) counts[k] = 0;
  cluster.sync();
  for (int k = threadIdx.x; k < each; k += blockDim.x) {
    const u32 kind = people[(size_t)blockIdx.x * each + k] & 1023;
    atomicAdd(cluster.map_shared_rank(counts, kind / 256) + kind % 256, 1);
  }
  cluster.sync();
  for (int k = threadIdx.x; k < 256; k += blockDim.x) out[(size_t)blockIdx.x * 256 + k] = counts[k];
}

// -------------------------------------------------------------------------------------------------- a problem per warp

// Parcels go into the first of 64 vans that has space left, two vans per lane. Out: vans used and what is left in them.
__global__ void first_fit_vans(const u16* __restrict__ parcels, int2* __restrict__ out, int n, int count) {
  const int warp = own_thread() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  int near = 1000, far = 1000;
  for (int k = 0; k < count; k += 32) {
    const int mine = k + lane < count ? parcels[(size_t)warp * count + k + lane] : 0;
    for (int j = 0; j < min(32, count - k); j++) {
      const int size = __shfl_sync(WARP, mine, j);
      const u32 fits = __ballot_sync(WARP, near >= size);
      if (fits) {
        if (lane == __ffs(fits) - 1) near -= size;
      } else {
        const u32 later = __ballot_sync(WARP, far >= size);
        if (lane == __ffs(later) - 1) far -= size;
      }
    }
  }
  const int used = __reduce_add_sync(WARP, (near < 1000) + (far < 1000));
  const int left = __reduce_add_sync(WARP, (near < 1000 ? near : 0) + (far < 1000 ? far : 0));
  if (lane == 0) out[warp] = make_int2(used, left);
}

// The cheapest pairing of up to 32 workers and tasks (the Hungarian way); a task per lane, prices in global memory.
__global__ void cheapest_pairings(const int* __restrict__ prices, int* __restrict__ out, int n, int size) {
  const int warp = own_thread() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  const int* own = prices + (size_t)warp * size * size;
  const int never = 1 << 29;
  int of_worker = 0, of_task = 0, worker = -1;
  for (int i = 0; i < size; i++) {
    int least = never, from = -1, task = -1, row = i;
    u32 rows = 0;
    bool used = lane >= size;
    do {
      rows |= 1u << row;
      if (lane == task) used = true;
      const int price = __shfl_sync(WARP, of_worker, row);
      if (!used) {
        const int more = own[row * size + lane] - price - of_task;
        if (more < least) {
          least = more;
          from = task;
        }
      }
      const int key = used ? never : least, step = __reduce_min_sync(WARP, key);
      const int next = __ffs(__ballot_sync(WARP, key == step)) - 1;
      if (rows >> lane & 1) of_worker += step;
      if (used)
        of_task -= step;
      else
        least -= step;
      task = next;
      row = __shfl_sync(WARP, worker, task);
    } while (row >= 0);
    while (task >= 0) {
      const int before = __shfl_sync(WARP, from, task);
      const int taken = __shfl_sync(WARP, worker, max(before, 0));
      if (lane == task) worker = before < 0 ? i : taken;
      task = before;
    }
  }
  const int sum = __reduce_add_sync(WARP, lane < size ? own[worker * size + lane] : 0);
  if (lane == 0) out[warp] = sum;
}

// The share of money in a bet on each asset that grows best (Kelly), by Newton's steps over its returns.
__global__ void growth_fractions(const float* __restrict__ moves, float* __restrict__ out, int n, int days, int turns) {
  const int warp = own_thread() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  float share = 1.0f;
  for (int t = 0; t < turns; t++) {
    float slope = 0.0f, bend = 0.0f;
    for (int k = lane; k < days; k += 32) {
      const float r = 0.01f * moves[(size_t)warp * days + k] + 0.0004f, q = r / (1.0f + share * r);
      slope += q;
      bend += q * q;
    }
    slope = warp_sum(slope);
    bend = warp_sum(bend);
    share = fminf(fmaxf(share + slope / bend, 0.0f), 15.0f);
  }
  if (lane == 0) out[warp] = share;
}

// Products of all first matrices of a row, two by two modulo a prime: a scan by shuffles, 32 matrices at a time.
__global__ void mobius_prefixes(const u32* __restrict__ maps, u32* __restrict__ out, int n, int count) {
  const u32 prime = 65521;
  const int warp = own_thread() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  u32 ca = 1, cb = 0, cc = 0, cd = 1;
  for (int k = lane; k < count; k += 32) {
    const u32 map = maps[(size_t)warp * count + k];
    u32 a = map & 255, b = map >> 8 & 255, c = map >> 16 & 255, d = map >> 24;
#pragma unroll
    for (int far = 1; far < 32; far *= 2) {
      const u32 e = __shfl_up_sync(WARP, a, far), f = __shfl_up_sync(WARP, b, far);
      const u32 g = __shfl_up_sync(WARP, c, far), h = __shfl_up_sync(WARP, d, far);
      if (lane >= far) {
        const u32 na = (e * a % prime + f * c % prime) % prime, nb = (e * b % prime + f * d % prime) % prime;
        const u32 nc = (g * a % prime + h * c % prime) % prime, nd = (g * b % prime + h * d % prime) % prime;
        a = na, b = nb, c = nc, d = nd;
      }
    }
    const u32 na = (ca * a % prime + cb * c % prime) % prime, nb = (ca * b % prime + cb * d % prime) % prime;
    const u32 nc = (cc * a % prime + cd * c % prime) % prime, nd = (cc * b % prime + cd * d % prime) % prime;
    out[(size_t)warp * count + k] = na << 16 | nd;
    ca = __shfl_sync(WARP, na, 31), cb = __shfl_sync(WARP, nb, 31);
    cc = __shfl_sync(WARP, nc, 31), cd = __shfl_sync(WARP, nd, 31);
  }
}

// Over how many parts of a cut each net of a circuit goes; a net per warp.
__global__ void cut_hyperedges(const int* __restrict__ starts, const int* __restrict__ members,
                               const u8* __restrict__ parts, int* __restrict__ out, int n) {
  const int net = own_thread() / 32, lane = threadIdx.x % 32;
  if (net >= n) return;
  u32 met = 0;
  for (int k = starts[net] + lane; k < starts[net + 1]; k += 32) met |= 1u << parts[members[k]];
  met = __reduce_or_sync(WARP, met);
  if (lane == 0) out[net] = __popc(met);
}

// For each pair of friends, how many pairs of their common friends know each other, times two. A row of bits per
// person, of at most 32 words; an edge per warp.
__global__ void four_cliques(const u32* __restrict__ rows, const int2* __restrict__ edges, int* __restrict__ out, int n,
                             int words) {
  const int edge = own_thread() / 32, lane = threadIdx.x % 32;
  if (edge >= n) return;
  const int2 e = edges[edge];
  const u32 common = lane < words ? rows[(size_t)e.x * words + lane] & rows[(size_t)e.y * words + lane] : 0;
  int pairs = 0;
  for (int w = 0; w < words; w++)
    for (u32 left = __shfl_sync(WARP, common, w); left; left &= left - 1) {
      const int friend_ = 32 * w + __ffs(left) - 1;
      if (lane < words) pairs += __popc(common & rows[(size_t)friend_ * words + lane]);
    }
  pairs = __reduce_add_sync(WARP, pairs);
  if (lane == 0) out[edge] = pairs;
}

// Rows of 256 samples through five levels of a wavelet (Daubechies, four taps), in shared memory that a warp has alone.
__global__ void daubechies_rows(const float* __restrict__ in, float* __restrict__ out, int n) {
  extern __shared__ float of_warps[];
  const int row = own_thread() / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float* now = of_warps + threadIdx.x / 32 * 512;
  float* next = now + 256;
  for (int k = lane; k < 256; k += 32) now[k] = in[(size_t)row * 256 + k];
  __syncwarp();
  for (int size = 256; size >= 16; size /= 2) {
    for (int k = lane; k < size / 2; k += 32) {
      const float a = now[2 * k], b = now[2 * k + 1];
      const float c = now[(2 * k + 2) % size], d = now[(2 * k + 3) % size];
      next[k] = 0.48296291f * a + 0.83651630f * b + 0.22414387f * c - 0.12940952f * d;
      out[(size_t)row * 256 + size / 2 + k] = -0.12940952f * a - 0.22414387f * b + 0.83651630f * c - 0.48296291f * d;
    }
    __syncwarp();
    float* other = now;
    now = next;
    next = other;
  }
  if (lane < 8) out[(size_t)row * 256 + lane] = now[lane];
}

// ------------------------------------------------------------------------------------------------------------- atomics

// Warps take the next job when they are done with one; the last warp sets the counters back.
__global__ void next_job_sums(const int* __restrict__ starts, const int* __restrict__ members, u32* __restrict__ out,
                              u32* counters, int jobs) {
  const int lane = threadIdx.x % 32;
  const u32 warps = gridDim.x * (blockDim.x / 32);
  while (true) {
    int job = 0;
    if (lane == 0) job = atomicAdd(&counters[0], 1u);
    job = __shfl_sync(WARP, job, 0);
    if (job >= jobs) break;
    u32 sum = 0;
    for (int k = starts[job] + lane; k < starts[job + 1]; k += 32) sum += stirred(members[k] ^ job);
    sum = __reduce_add_sync(WARP, sum);
    if (lane == 0) out[job] = sum;
  }
  if (lane == 0) {
    __threadfence();
    if (atomicAdd(&counters[1], 1u) == warps - 1) {
      atomicExch(&counters[0], 0u);
      atomicExch(&counters[1], 0u);
    }
  }
}

__constant__ int compass[16][2] = {{64, 0},    {59, 24},  {45, 45},  {24, 59},  {0, 64},  {-24, 59},
                                   {-45, 45},  {-59, 24}, {-64, 0},  {-59, -24}, {-45, -45}, {-24, -59},
                                   {0, -64},   {24, -59}, {45, -45}, {59, -24}};

// Points of edges vote for the centres of circles of many radii. A point is x and y of twelve bits and a direction.
__global__ void circle_votes(const u32* __restrict__ points, u32* votes, int n, int width, int height, int least,
                             int most) {
  const int k = own_thread();
  if (k >= n) return;
  const u32 point = points[k];
  const int x = (point & 4095) % width, y = (point >> 12 & 4095) % height, turn = point >> 24 & 15;
  for (int r = least; r <= most; r++) {
    const int cx = x + (r * compass[turn][0] + 32 >> 6), cy = y + (r * compass[turn][1] + 32 >> 6);
    if (cx >= 0 && cy >= 0 && cx < width && cy < height) atomicAdd(&votes[cy * width + cx], 1);
  }
}

// A ledger: each posting moves cents between two accounts, few of which take part in most of them.
__global__ void ledger_postings(const uint2* __restrict__ postings, u64* accounts, u32* uses, int n, u32 count) {
  for (int k = own_thread(); k < n; k += gridDim.x * blockDim.x) {
    const uint2 p = postings[k];
    const u32 from = __umulhi(__umulhi(p.x, p.x), count), to = __umulhi(p.y, count);
    const u64 cents = 1 + (p.x ^ p.y) % 100000;
    atomicAdd(&accounts[from], 0 - cents);
    atomicAdd(&accounts[to], cents);
    atomicAdd(&uses[to], 1);
  }
}

// The sum of many numbers that does not depend on their order: whole numbers of 2^-32.
__global__ void binned_sums(const float4* __restrict__ in, u64* total, int n) {
  __shared__ u64 of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();
  long long sum = 0;
  for (int k = own_thread(); k < n; k += gridDim.x * blockDim.x) {
    const float4 v = in[k];
    sum += __float2ll_rn(v.x * 4294967296.0f) + __float2ll_rn(v.y * 4294967296.0f);
    sum += __float2ll_rn(v.z * 4294967296.0f) + __float2ll_rn(v.w * 4294967296.0f);
  }
#pragma unroll
  for (int far = 16; far; far /= 2) sum += __shfl_xor_sync(WARP, sum, far);
  if (threadIdx.x % 32 == 0) atomicAdd(&of_block, (u64)sum);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(total, of_block);
}

// ------------------------------------------------------------------------------------------- physics, signals, finance

// Light that circles in a ring of mirrors with a nonlinear crystal (Ikeda).
__global__ void ikeda_orbits(const float2* __restrict__ in, float2* __restrict__ out, int n, int turns, float gain) {
  const int k = own_thread();
  if (k >= n) return;
  float2 p = in[k];
  for (int t = 0; t < turns; t++) {
    float s, c;
    __sincosf(0.4f - 6.0f / (1.0f + p.x * p.x + p.y * p.y), &s, &c);
    p = make_float2(1.0f + gain * (p.x * c - p.y * s), gain * (p.x * s + p.y * c));
  }
  out[k] = p;
}

// How far the ground water sinks at places around wells (Theis). A well is x, y, pumped water and time.
__global__ void theis_drawdowns(const float4* __restrict__ wells, const float2* __restrict__ places,
                                float* __restrict__ out, int n, int count) {
  const int k = own_thread();
  if (k >= n) return;
  const float2 p = places[k];
  float sum = 0.0f;
  for (int j = 0; j < count; j++) {
    const float4 w = wells[j];
    const float x = p.x - w.x, y = p.y - w.y, u = (x * x + y * y + 1e-4f) / (0.05f + w.w);
    float value;
    if (u < 1.0f) {
      value = -0.57721566f - logf(u) + u * (0.99999193f + u * (-0.24991055f + u * (0.05519968f + u * (-0.00976004f +
              u * 0.00107857f))));  // Abramowitz and Stegun 5.1.53
    } else {
      float tail = u;
      for (int i = 12; i > 0; i--) tail = u + i / (1.0f + i / tail);
      value = __expf(-u) / tail;
    }
    sum += w.z * value;
  }
  out[k] = sum;
}

// The pressure between two gases after the wall between them is gone: Newton's steps. A gas is density and pressure.
__global__ void shock_pressures(const float4* __restrict__ gases, const float* __restrict__ speeds,
                                float* __restrict__ out, int n) {
  const int k = own_thread();
  if (k >= n) return;
  const float4 g = gases[k];
  const float density[2] = {0.1f + g.x, 0.1f + g.z}, before[2] = {0.1f + g.y, 0.1f + g.w};
  float p = 0.5f * (before[0] + before[1]);
  for (int t = 0; t < 20; t++) {
    float value = 0.5f * speeds[k], slope = 0.0f;
#pragma unroll
    for (int side = 0; side < 2; side++) {
      const float d = density[side], q = before[side];
      if (p > q) {
        const float a = 0.8333333f / d, b = q * 0.16666667f, root = sqrtf(a / (p + b));
        value += (p - q) * root;
        slope += root * (1.0f - 0.5f * (p - q) / (p + b));
      } else {
        const float sound = sqrtf(1.4f * q / d), ratio = p / q;
        value += 5.0f * sound * (powf(ratio, 0.14285714f) - 1.0f);
        slope += powf(ratio, -0.85714286f) / (d * sound);
      }
    }
    const float next = fmaxf(p - value / slope, 1e-4f);
    const bool still = fabsf(next - p) < 1e-6f * p;
    p = next;
    if (still) break;
  }
  out[k] = p;
}

// The friction of water in rough pipes (Colebrook), by repeated logarithms, and what pressure a pipe takes.
__global__ void pipe_frictions(const float* __restrict__ flows, const float* __restrict__ roughness,
                               float* __restrict__ out, int n, int turns) {
  const int k = own_thread();
  if (k >= n) return;
  const float reynolds = 4000.0f + 96000.0f * flows[k], rough = 0.02f * roughness[k] / 3.7f;
  float x = 7.0f;
  for (int t = 0; t < turns; t++) x = -2.0f * log10f(rough + 2.51f * x / reynolds);
  out[k] = flows[k] * flows[k] / (x * x);
}

// Josephson junctions under a current of their own: the phase by Runge and Kutta's steps. Out: the mean voltage.
__global__ void josephson_steps(const float* __restrict__ currents, float* __restrict__ out, int n, int steps,
                                float damping) {
  const int k = own_thread();
  if (k >= n) return;
  const float drive = 2.0f * currents[k], dt = 0.05f;
  float phase = 0.1f, speed = 0.0f;
  for (int t = 0; t < steps; t++) {
    const float a = speed, b = drive - sinf(phase) - damping * speed;
    const float c = speed + 0.5f * dt * b, d = drive - sinf(phase + 0.5f * dt * a) - damping * c;
    const float e = speed + 0.5f * dt * d, f = drive - sinf(phase + 0.5f * dt * c) - damping * e;
    const float g = speed + dt * f, h = drive - sinf(phase + dt * e) - damping * g;
    phase += dt / 6.0f * (a + 2.0f * c + 2.0f * e + g);
    speed += dt / 6.0f * (b + 2.0f * d + 2.0f * f + h);
  }
  out[k] = (phase - 0.1f) / (steps * dt);
}

// Radio channels whose loudness is held: the gain follows what came out before. A channel per thread.
__global__ void held_gains(const float* __restrict__ in, float* __restrict__ out, int n, int samples) {
  const int k = own_thread();
  if (k >= n) return;
  float gain = 0.0f, level = 0.5f;
  for (int t = 0; t < samples; t++) {
    const float y = in[(size_t)t * n + k] * exp2f(gain);
    level += 0.1f * (fabsf(y) - level);
    gain -= 0.05f * log2f(level + 1e-3f);
    out[(size_t)t * n + k] = y;
  }
}

// Sounds made twice as long (a phase vocoder): per band, phases of frames are unrolled and summed up again.
__global__ void vocoder_phases(const float2* __restrict__ bands, float* __restrict__ out, int n, int frames) {
  const int k = own_thread();
  if (k >= n) return;
  const float turn = 6.2831853f, hop = turn * 0.25f * (k % 64);
  float before = 0.0f, sum = 0.0f;
  for (int t = 0; t < frames; t++) {
    const float2 b = bands[(size_t)t * n + k];
    const float phase = atan2f(b.y, b.x);
    float moved = phase - before - hop;
    moved -= turn * rintf(moved / turn);
    before = phase;
    sum += 2.0f * (hop + moved);
    sum -= turn * floorf(sum / turn);
    out[(size_t)t * n + k] = sqrtf(b.x * b.x + b.y * b.y) * __cosf(sum);
  }
}

// Steps of walks with heavy tails (Chambers, Mallows and Stuck), cut off; the mean of their logarithms.
__global__ void stable_draws(float* __restrict__ out, int n, int draws, float alpha, u32 seed) {
  const int k = own_thread();
  if (k >= n) return;
  Luck luck(k, seed);
  float sum = 0.0f;
  for (int j = 0; j < draws; j++) {
    const float v = 3.1415927f * (0.98f * luck.part() - 0.49f), w = -__logf(luck.part());
    const float first = __sinf(alpha * v) * __powf(__cosf(v), -1.0f / alpha);
    const float x = first * __powf(__cosf((1.0f - alpha) * v) / w, (1.0f - alpha) / alpha);
    sum += __logf(1.0f + fminf(fabsf(x), 100.0f));
  }
  out[k] = sum / draws;
}

// How dense electrons are at chemical potentials: Fermi's integral of one half, in double precision.
__global__ void fermi_integrals(const double* __restrict__ potentials, double* __restrict__ out, int n, int points) {
  const int k = own_thread();
  if (k >= n) return;
  const double eta = 4.0 * potentials[k], dt = 6.5 / points;
  double sum = 0.0;
  for (int j = 1; j <= points; j++) {
    const double x = (j * dt) * (j * dt);
    sum += x / (1.0 + exp(x - eta));
  }
  out[k] = 2.0 * dt * sum;
}

// Where planets stand on days: sums of cosines, in double precision. A term is its size, its phase and its speed.
__global__ void ephemeris_series(const double* __restrict__ terms, const double* __restrict__ days,
                                 double* __restrict__ out, int n, int count) {
  const int k = own_thread();
  if (k >= n) return;
  const double day = 1000.0 * days[k];
  double sum = 0.0;
  for (int j = 0; j < count; j++) sum += terms[3 * j] * cos(terms[3 * j + 1] + terms[3 * j + 2] * day);
  out[k] = sum;
}

// Bounds of polynomials over intervals: each product and sum is rounded down for the lower bound and up for the upper.
__global__ void interval_polynomials(const double* __restrict__ factors, const double* __restrict__ middles,
                                     double2* __restrict__ out, int n, int count, double radius) {
  const int k = own_thread();
  if (k >= n) return;
  const double a = __dsub_rd(middles[k], radius), b = __dadd_ru(middles[k], radius);
  double low = 0.0, high = 0.0;
  for (int j = 0; j < count; j++) {
    const double least = fmin(fmin(__dmul_rd(low, a), __dmul_rd(low, b)), fmin(__dmul_rd(high, a), __dmul_rd(high, b)));
    const double most = fmax(fmax(__dmul_ru(low, a), __dmul_ru(low, b)), fmax(__dmul_ru(high, a), __dmul_ru(high, b)));
    low = __dadd_rd(least, factors[j]);
    high = __dadd_ru(most, factors[j]);
  }
  out[k] = make_double2(low, high);
}

// Spectra of many broadened lines; a frequency per thread, the lines in shared memory as place, strength and two
// widths.
__global__ void voigt_spectra(const float4* __restrict__ lines, float* __restrict__ out, int n, int count) {
  extern __shared__ float4 line[];
  for (int j = threadIdx.x; j < count; j += blockDim.x) line[j] = lines[j];
  __syncthreads();
  const int k = own_thread();
  if (k >= n) return;
  const float frequency = (float)k / n;
  float sum = 0.0f;
  for (int j = 0; j < count; j++) {
    const float4 l = line[j];
    const float x = 10.0f * (frequency - l.x), a = 0.05f + l.z, b = 0.05f + l.w, x2 = x * x;
    const float share = a / (a + b);
    sum += l.y * (share * a / (x2 + a * a) + (1.0f - share) * __expf(-x2 / (b * b)));
  }
  out[k] = sum;
}

// Falling curves a e^(-bt) through measured points, by Levenberg and Marquardt's steps; a curve per thread.
__global__ void levenberg_fits(const float* __restrict__ measured, float2* __restrict__ out, int n, int points,
                               int turns) {
  const int k = own_thread();
  if (k >= n) return;
  float a = 1.0f, b = 0.5f, damping = 0.01f, error = 1e30f, la = a, lb = b;
  float aa = 1.0f, ab = 0.0f, bb = 1.0f, ra = 0.0f, rb = 0.0f;
  for (int t = 0; t < turns; t++) {
    float now = 0.0f, naa = 0.0f, nab = 0.0f, nbb = 0.0f, nra = 0.0f, nrb = 0.0f;
    for (int j = 0; j < points; j++) {
      const float at = 0.25f * j, e = __expf(-b * at), left = measured[(size_t)j * n + k] - a * e, db = -a * at * e;
      now += left * left;
      naa += e * e, nab += e * db, nbb += db * db;
      nra += e * left, nrb += db * left;
    }
    if (now < error) {
      error = now, la = a, lb = b;
      aa = naa, ab = nab, bb = nbb, ra = nra, rb = nrb;
      damping = fmaxf(0.3f * damping, 1e-6f);
    } else {
      damping *= 5.0f;
    }
    const float p = aa * (1.0f + damping), q = bb * (1.0f + damping) + 1e-12f, scale = 1.0f / (p * q - ab * ab);
    a = la + scale * (q * ra - ab * rb);
    b = fminf(fmaxf(lb + scale * (p * rb - ab * ra), 0.01f), 5.0f);
  }
  out[k] = make_float2(la, lb);
}

// The flow of ice over ground by one step: the deeper and the steeper, the faster.
__global__ void ice_flow_step(const float* __restrict__ thickness, const float* __restrict__ ground,
                              float* __restrict__ out, int width, int height, float power, float dt) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int at = y * width + x;
  const float own = thickness[at], top = own + ground[at];
  float change = 0.0f;
#pragma unroll
  for (int side = 0; side < 4; side++) {
    const int dx = side == 0 ? -1 : side == 1 ? 1 : 0, dy = side == 2 ? -1 : side == 3 ? 1 : 0;
    if (x + dx < 0 || y + dy < 0 || x + dx >= width || y + dy >= height) continue;
    const int there = at + dy * width + dx;
    const float deep = 0.5f * (own + thickness[there]), slope = thickness[there] + ground[there] - top;
    change += powf(deep, power) * slope * fabsf(slope);
  }
  out[at] = fmaxf(own + dt * change, 0.0f);
}

// -------------------------------------------------------------------------------------------------- integers and codes

// In how many ways the numbers 1 to n stand in pairs, k places between the two ks (Langford). A thread has given places
// for the five largest numbers.
__global__ void langford_pairings(int* __restrict__ out, int n, int numbers) {
  const int k = own_thread();
  if (k >= n) return;
  u32 taken = 0;
  int rest = k;
  bool fits = true;
  for (int j = numbers; j > numbers - 5; j--) {
    const int places = 2 * numbers - j - 1;
    const u32 pair = (1u | 1u << j + 1) << rest % places;
    fits = fits && !(taken & pair);
    taken |= pair;
    rest /= places;
  }
  int found = 0;
  if (fits) {
    int at[16], number = numbers - 5;
    at[number] = -1;
    while (number <= numbers - 5) {
      const u32 pair = 1u | 1u << number + 1;
      if (at[number] >= 0) taken &= ~(pair << at[number]);
      int p = at[number] + 1;
      while (p < 2 * numbers - number - 1 && (taken & pair << p)) p++;
      if (p == 2 * numbers - number - 1) {
        number++;
        continue;
      }
      if (number == 1) {
        found++;
        at[1] = p;
        taken |= pair << p;
        continue;
      }
      at[number] = p;
      taken |= pair << p;
      at[--number] = -1;
    }
  }
  out[k] = found;
}

// The first postage that up to `most` stamps of four values do not give.
__global__ void postage_reaches(const u32* __restrict__ sheets, int* __restrict__ out, int n, int most) {
  const int k = own_thread();
  if (k >= n) return;
  const u32 w = sheets[k];
  const int a = 2 + (w & 3), b = a + 1 + (w >> 2 & 7), c = b + 1 + (w >> 5 & 15);
  u8 least[256];
  least[0] = 0;
  int v = 1;
  for (; v < 256; v++) {
    int best = least[v - 1];
    if (v >= a) best = min(best, least[v - a]);
    if (v >= b) best = min(best, least[v - b]);
    if (v >= c) best = min(best, least[v - c]);
    if (best == most) break;
    least[v] = best + 1;
  }
  out[k] = v;
}

// The product of two nimbers (Conway) of the given number of bits, with all steps unrolled.
template <int bits>
__device__ __forceinline__ u32 nim(u32 a, u32 b) {
  if constexpr (bits == 1) {
    return a & b;
  } else {
    constexpr int half = bits / 2;
    constexpr u32 low = (1u << half) - 1;
    const u32 c = nim<half>(a >> half, b >> half), d = nim<half>(a & low, b & low);
    const u32 e = nim<half>((a >> half) ^ (a & low), (b >> half) ^ (b & low));
    return (e ^ d) << half | (d ^ nim<half>(c, 1u << half - 1));
  }
}

template <int bits>
__global__ void nim_products(const u32* __restrict__ in, u32* __restrict__ out, int n, int turns) {
  const int k = own_thread();
  if (k >= n) return;
  const u32 all = 0xffffffffu >> 32 - bits, by = (in[k] | 2) & all;
  u32 x = (in[k] >> 3) & all;
  for (int t = 0; t < turns; t++) x = nim<bits>(x, by) ^ 1;
  out[k] = x;
}

// The bits of a word that a mask has move together at the low end; again and again with other masks.
__global__ void bits_compressed(const u64* __restrict__ in, u64* __restrict__ out, int n, int turns) {
  const int k = own_thread();
  if (k >= n) return;
  u64 x = in[k], mask = x * 0x9e3779b97f4a7c15ull;
  for (int t = 0; t < turns; t++) {
    u64 m = mask, y = x & m, left = ~m << 1;
#pragma unroll
    for (int step = 1; step < 64; step *= 2) {
      u64 odd = left;
#pragma unroll
      for (int far = 1; far < 64; far *= 2) odd ^= odd << far;
      const u64 moves = odd & m, moved = y & moves;
      m = (m ^ moves) | moves >> step;
      y = (y ^ moved) | moved >> step;
      left &= ~odd;
    }
    x ^= y * 0xd6e8feb86659fd93ull;
    mask = mask << 7 | mask >> 57;
  }
  out[k] = x;
}

// Hashes of rows of long words: products of 128 bits, their halves folded.
__global__ void folded_hashes(const u64* __restrict__ rows, u64* __restrict__ out, int n, int words) {
  const int k = own_thread();
  if (k >= n) return;
  u64 h = 0x1d8e4e27c47d124full;
  for (int j = 0; j < words; j++) {
    const u64 a = rows[(size_t)j * n + k] ^ 0xe7037ed1a0b428dbull, b = h ^ 0x8ebc6af09c88c6e3ull;
    h = __umul64hi(a, b) ^ a * b;
  }
  out[k] = h;
}

// Random bits from squares modulo the product of two primes (Blum, Blum and Shub).
__global__ void blum_shub_bits(const u32* __restrict__ seeds, u32* __restrict__ out, int n, u64 product) {
  const int k = own_thread();
  if (k >= n) return;
  u64 x = (seeds[k] | 3ull) % product;
  u32 bits = 0;
  for (int j = 0; j < 32; j++) {
    x = x * x % product;
    bits = bits << 1 | (u32)(x & 1);
  }
  out[k] = bits;
}

// Frames of bytes without a zero (COBS): each zero becomes the distance to the next one. Frames are shorter than 254.
__global__ void cobs_frames(const u8* __restrict__ in, u8* __restrict__ out, int n, int length) {
  const int k = own_thread();
  if (k >= n) return;
  const u8* from = in + (size_t)k * length;
  u8* to = out + (size_t)k * (length + 1);
  int code = 0;
  for (int j = 0; j < length; j++) {
    const u8 byte = from[j];
    if (byte) {
      to[j + 1] = byte;
    } else {
      to[code] = j + 1 - code;
      code = j + 1;
    }
  }
  to[code] = length + 1 - code;
}

// How often a processor's branch predictor is wrong: 256 counters of two bits, found by history and place.
__global__ void branch_guesses(const u32* __restrict__ traces, int* __restrict__ out, int n, int words) {
  const int k = own_thread();
  if (k >= n) return;
  u32 counters[16];
  for (int j = 0; j < 16; j++) counters[j] = 0x55555555u;
  u32 history = 0;
  int wrong = 0;
  for (int w = 0; w < words; w++) {
    const u32 trace = traces[(size_t)w * n + k];
    for (int j = 0; j < 32; j += 4) {
      const u32 place = trace >> j & 7, taken = trace >> j + 3 & 1, index = (history ^ place * 37) & 255;
      const u32 shift = index % 16 * 2, state = counters[index / 16] >> shift & 3;
      wrong += (state >> 1) != taken;
      const u32 next = taken ? min(state + 1, 3u) : state ? state - 1 : 0;
      counters[index / 16] ^= (state ^ next) << shift;
      history = history << 1 | taken;
    }
  }
  out[k] = wrong;
}

__constant__ int change[4][4] = {{0, 4, 2, 5}, {4, 0, 5, 2}, {2, 5, 0, 4}, {5, 2, 4, 0}};

// What the bases of species cost at least in a balanced tree, when changes have prices (Sankoff); a site per thread.
__global__ void sankoff_costs(const u8* __restrict__ bases, int* __restrict__ out, int n, int species) {
  const int k = own_thread();
  if (k >= n) return;
  int stack[8][4], depth = 0;
  for (int s = 0; s < species; s++) {
    const int own = bases[(size_t)s * n + k];
    for (int a = 0; a < 4; a++) stack[depth][a] = a == own ? 0 : 100;
    depth++;
    for (int left = s + 1; left % 2 == 0; left /= 2) {
      depth--;
      int joined[4];
#pragma unroll
      for (int a = 0; a < 4; a++) {
        int one = 1000, other = 1000;
#pragma unroll
        for (int b = 0; b < 4; b++) {
          one = min(one, stack[depth - 1][b] + change[a][b]);
          other = min(other, stack[depth][b] + change[a][b]);
        }
        joined[a] = one + other;
      }
      for (int a = 0; a < 4; a++) stack[depth - 1][a] = joined[a];
    }
  }
  out[k] = min(min(stack[0][0], stack[0][1]), min(stack[0][2], stack[0][3]));
}

// How long the family trees of samples of different sizes are (Kingman), while the people become more.
__global__ void coalescent_trees(float* __restrict__ out, int n, int most, float growth, u32 seed) {
  const int k = own_thread();
  if (k >= n) return;
  Luck luck(k, seed);
  int lines = 2 + luck.below(most);
  float at = 0.0f, total = 0.0f;
  for (; lines > 1; lines--) {
    const float wait = -2.0f * logf(luck.part()) / (lines * (lines - 1));
    const float next = logf(__expf(growth * at) + growth * wait) / growth;
    total += lines * (next - at);
    at = next;
  }
  out[k] = total;
}

// For how many generations both forms of a gene live on, of a number of carriers, until one is lost.
__global__ void allele_drift(int* __restrict__ out, int n, int carriers, int most, u32 seed) {
  const int k = own_thread();
  if (k >= n) return;
  Luck luck(k, seed);
  int count = carriers / 2, age = 0;
  for (; age < most && count > 0 && count < carriers; age++) {
    int next = 0;
    for (int j = 0; j < carriers; j++) next += luck.below(carriers) < count;
    count = next;
  }
  out[k] = age;
}

// Pulls at eight slot machines: mostly the one that has given most, sometimes another. Out: the gain.
__global__ void bandit_rewards(const int* __restrict__ chances, int* __restrict__ out, int n, int pulls, u32 seed) {
  const int k = own_thread();
  if (k >= n) return;
  Luck luck(k, seed);
  int won[8], tried[8], gain = 0;
  for (int j = 0; j < 8; j++) won[j] = tried[j] = 1;
  for (int t = 0; t < pulls; t++) {
    int arm = luck.below(8);
    if (luck.below(8)) {
      arm = 0;
      for (int j = 1; j < 8; j++)
        if (won[j] * tried[arm] > won[arm] * tried[j]) arm = j;
    }
    const int reward = luck.below(100) < chances[arm];
    won[arm] += reward;
    tried[arm]++;
    gain += reward;
  }
  out[k] = gain;
}

// The largest rectangles under columns of up to 64 heights, with a stack; a picture per thread.
__global__ void largest_rectangles(const u8* __restrict__ heights, int* __restrict__ out, int n, int columns) {
  const int k = own_thread();
  if (k >= n) return;
  u8 height[65], start[65];
  int depth = 0, best = 0;
  for (int j = 0; j <= columns; j++) {
    const int own = j < columns ? heights[(size_t)j * n + k] : 0;
    int from = j;
    while (depth && height[depth - 1] >= own) {
      depth--;
      from = start[depth];
      best = max(best, height[depth] * (j - from));
    }
    height[depth] = own;
    start[depth++] = from;
  }
  out[k] = best;
}

__constant__ int ahead[8][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};

// Turtles that draw: programs of eight commands, each program several times. Out: where the turtle stands, and a check.
__global__ void turtle_walks(const u8* __restrict__ programs, int4* __restrict__ out, int n, int length, int turns) {
  const int k = own_thread();
  if (k >= n) return;
  int x = 0, y = 0, way = 0, depth = 0, stack[8][3];
  u32 check = 0;
  for (int t = 0; t < turns; t++)
    for (int j = 0; j < length; j++) switch (programs[(size_t)j * n + k]) {
        case 0:
          x += ahead[way][0];
          y += ahead[way][1];
          break;
        case 1:
          way = way + 1 & 7;
          break;
        case 2:
          way = way + 7 & 7;
          break;
        case 3:
          for (int s = 0; s < 5; s++) {
            x += ahead[way][0];
            y += ahead[way][1];
            check = check * 31 + (x ^ y);
          }
          break;
        case 4:
          if (depth < 8) {
            stack[depth][0] = x;
            stack[depth][1] = y;
            stack[depth++][2] = way;
          }
          break;
        case 5:
          if (depth) {
            x = stack[--depth][0];
            y = stack[depth][1];
            way = stack[depth][2];
          }
          break;
        case 6:
          check = stirred(check ^ x * 4099 ^ y);
          break;
        default:
          way ^= 4;
          x = -x;
      }
  out[k] = make_int4(x, y, way, check);
}

// The fares of tickets in cents: zones, ages, hours and cards, as a counter clerk has the rules.
__global__ void fare_zones(const u32* __restrict__ tickets, int* __restrict__ out, int n) {
  const int k = own_thread();
  if (k >= n) return;
  const u32 t = tickets[k];
  const int zones = 1 + (t & 7), age = t >> 3 & 127, hour = (t >> 10 & 31) % 24, card = t >> 15 & 3;
  int fare = 240;
  if (zones > 1) fare += zones < 4 ? 110 * (zones - 1) : 220 + 90 * (zones - 3);
  if (age < 6) {
    fare = 0;
  } else if (age < 15) {
    fare = fare / 2;
  } else if (age >= 65 && hour >= 9) {
    fare = fare * 7 / 10;
  }
  if (hour >= 22 || hour < 5)
    fare += 100;
  else if ((hour >= 7 && hour < 9) || (hour >= 16 && hour < 18))
    fare += fare / 5;
  if (card == 3)
    fare = min(fare, 150);
  else if (card == 2)
    fare -= fare / 4;
  for (int left = fare; left > 1000; left -= 500) fare -= 25;
  out[k] = fare;
}

// In how many ways numbers are sums of two squares.
__global__ void two_square_ways(int* __restrict__ out, int n, u32 limit) {
  const int k = own_thread();
  if (k >= n) return;
  const int number = stirred(k) % limit;
  int ways = 0;
  for (int a = 0; 2 * a * a <= number; a++) {
    const int rest = number - a * a, b = (int)sqrtf((float)rest);
    ways += b * b == rest;
  }
  out[k] = ways;
}

// Values of words in a game with tiles; a word is six times five bits. The third letter counts twice.
__constant__ u8 tile_points[32] = {1, 3, 3, 2, 1, 4, 2, 4, 1, 8, 5, 1, 3, 1, 1, 3,
                                   10, 1, 1, 1, 1, 4, 4, 8, 4, 10, 0, 0, 0, 0, 0, 0};

__global__ void tile_word_scores(const u32* __restrict__ words, int* __restrict__ out, int n) {
  for (int k = own_thread(); k < n; k += gridDim.x * blockDim.x) {
    const u32 word = words[k];
    int score = tile_points[word >> 10 & 31];
#pragma unroll
    for (int j = 0; j < 6; j++) score += tile_points[word >> 5 * j & 31];
    out[k] = word >> 30 == 3 ? 3 * score : score;
  }
}

// Bits sent by a polar code of 32 bits, from how likely they look (successive cancellation); all steps unrolled.
template <int N>
__device__ __forceinline__ u32 cancelled(const float* likely, u32 frozen, u32& message) {
  if constexpr (N == 1) {
    message = !(frozen & 1) && likely[0] < 0.0f;
    return message;
  } else {
    float next[N / 2];
    u32 first_message, second_message;
#pragma unroll
    for (int j = 0; j < N / 2; j++) {
      const float a = likely[j], b = likely[j + N / 2], least = fminf(fabsf(a), fabsf(b));
      next[j] = (a < 0.0f) != (b < 0.0f) ? -least : least;
    }
    const u32 first = cancelled<N / 2>(next, frozen, first_message);
#pragma unroll
    for (int j = 0; j < N / 2; j++) next[j] = likely[j + N / 2] + (first >> j & 1 ? -likely[j] : likely[j]);
    const u32 second = cancelled<N / 2>(next, frozen >> N / 2, second_message);
    message = first_message | second_message << N / 2;
    return (first ^ second) | second << N / 2;
  }
}

__global__ void polar_decoded(const float* __restrict__ likely, u32* __restrict__ out, int n, u32 frozen) {
  const int k = own_thread();
  if (k >= n) return;
  float own[32];
#pragma unroll
  for (int j = 0; j < 32; j++) own[j] = likely[(size_t)j * n + k];
  u32 message;
  cancelled<32>(own, frozen, message);
  out[k] = message;
}

// A field on a sphere, as the sum of its waves up to a degree; each wave is code of its own.
template <int degree>
__global__ void harmonics_as_code(const float2* __restrict__ places, float* __restrict__ out, int n) {
  const int k = own_thread();
  if (k >= n) return;
  const float2 p = places[k];
  const float z = 1.8f * p.x - 0.9f, s = sqrtf(1.0f - z * z);
  float sin1, cos1, c = 1.0f, d = 0.0f, first = 1.0f, sum = 0.0f;
  sincosf(6.2831853f * p.y, &sin1, &cos1);
#pragma unroll
  for (int m = 0; m <= degree; m++) {
    float before = 0.0f, own = first;
#pragma unroll
    for (int l = m; l <= degree; l++) {
      const u32 h = stirred(l * 64 + m);
      const float a = ((int)(h & 255) - 127) * (1.0f / 128.0f), b = ((int)(h >> 8 & 255) - 127) * (1.0f / 128.0f);
      sum += own * (a * c + b * d);
      const float up = (float)(2 * l + 1) / (l - m + 1), down = (float)(l + m) / (l - m + 1);
      const float next = up * z * own - down * before;
      before = own;
      own = next;
    }
    first *= s;
    const float turned = c * cos1 - d * sin1;
    d = c * sin1 + d * cos1;
    c = turned;
  }
  out[k] = sum;
}

// ------------------------------------------------------------------------------------------------ pictures and gathers

// The nearest of nine centres in place and colour for each point (the first step of superpixels). A centre per square
// of `step` x `step` points: x, y and three colours, a plane each.
__global__ void superpixel_labels(const float* __restrict__ colours, const float* __restrict__ centres,
                                  int* __restrict__ out, int width, int height, int step) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int all = width * height, at = y * width + x, across = (width + step - 1) / step;
  const int down = (height + step - 1) / step, count = across * down;
  const float r = colours[at], g = colours[all + at], b = colours[2 * all + at];
  float least = 1e30f;
  int best = 0;
  for (int j = max(0, y / step - 1); j <= min(down - 1, y / step + 1); j++)
    for (int i = max(0, x / step - 1); i <= min(across - 1, x / step + 1); i++) {
      const int c = j * across + i;
      const float dx = (i + centres[c]) * step - x, dy = (j + centres[count + c]) * step - y;
      const float dr = centres[2 * count + c] - r, dg = centres[3 * count + c] - g, db = centres[4 * count + c] - b;
      const float far = dr * dr + dg * dg + db * db + 0.01f * (dx * dx + dy * dy);
      if (far < least) {
        least = far;
        best = c;
      }
    }
  out[at] = best;
}

__constant__ int around[16][2] = {{0, -3}, {1, -3}, {2, -2}, {3, -1}, {3, 0},  {3, 1},  {2, 2},   {1, 3},
                                  {0, 3},  {-1, 3}, {-2, 2}, {-3, 1}, {-3, 0}, {-3, -1}, {-2, -2}, {-1, -3}};

// Corners of pictures: nine points in a row on a circle of sixteen are all brighter or all darker. Out: how many are.
__global__ void fast_corners(const u8* __restrict__ in, u8* __restrict__ out, int width, int height, int limit) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int found = 0;
  if (x >= 3 && y >= 3 && x < width - 3 && y < height - 3) {
    const u8* p = in + y * width + x;
    const int own = *p;
    const bool upper = abs(p[-3 * width] - own) > limit, lower = abs(p[3 * width] - own) > limit;
    if (upper || lower) {
      u32 bright = 0, dark = 0;
#pragma unroll
      for (int j = 0; j < 16; j++) {
        const int there = p[around[j][1] * width + around[j][0]];
        bright |= (u32)(there > own + limit) << j;
        dark |= (u32)(there < own - limit) << j;
      }
#pragma unroll
      for (int side = 0; side < 2; side++) {
        const u32 on = side ? dark : bright, twice = on | on << 16;
        u32 row = twice & twice >> 1;
        row &= row >> 2;
        row &= row >> 4;
        if (row & twice >> 8) found = __popc(on);
      }
    }
  }
  out[y * width + x] = found;
}

// Colours inside triangles of a mesh: each point has a triangle and two weights.
__global__ void barycentric_samples(const int* __restrict__ corners, const float4* __restrict__ colours,
                                    const u32* __restrict__ triangles, const float2* __restrict__ weights,
                                    float4* __restrict__ out, int n) {
  const int k = own_thread();
  if (k >= n) return;
  const u32 t = triangles[k];
  const float2 w = weights[k];
  const float4 a = colours[corners[3 * t]], b = colours[corners[3 * t + 1]], c = colours[corners[3 * t + 2]];
  const float u = w.x, v = (1.0f - w.x) * w.y, r = 1.0f - u - v;
  out[k] = make_float4(u * a.x + v * b.x + r * c.x, u * a.y + v * b.y + r * c.y, u * a.z + v * b.z + r * c.z,
                       u * a.w + v * b.w + r * c.w);
}

// Packets that routers hand on, by a table of the next router per router and destination. Out: where they end, and
// after how many hops.
__global__ void routed_packets(const u16* __restrict__ next, const u32* __restrict__ packets, u32* __restrict__ out,
                               int n, int routers, int most) {
  const int k = own_thread();
  if (k >= n) return;
  const u32 packet = packets[k], goal = (packet >> 16) % routers;
  u32 at = (packet & 0xffff) % routers;
  int hops = 0;
  while (at != goal && hops < most) {
    at = next[(size_t)at * routers + goal];
    hops++;
  }
  out[k] = at << 16 | hops;
}

// How often letters stand before places of a text that a wavelet matrix holds. Per level: a word of bits per 32
// letters, and how many ones are before it.
__global__ void wavelet_ranks(const u32* __restrict__ matrix, const u32* __restrict__ places, int* __restrict__ out,
                              int n, int length, int levels) {
  const int k = own_thread();
  if (k >= n) return;
  const int words = length / 32 + 1;
  const u32 letter = stirred(places[k]) % (1u << levels);
  u32 begin = 0, end = places[k];
  for (int level = 0; level < levels; level++) {
    const u32 *bits = matrix + (size_t)2 * level * words, *before = bits + words;
    auto ones = [&](u32 p) { return before[p / 32] + __popc(bits[p / 32] & ((1u << p % 32) - 1)); };
    if (letter >> levels - 1 - level & 1) {
      const u32 zeros = length - ones(length);
      begin = zeros + ones(begin);
      end = zeros + ones(end);
    } else {
      begin -= ones(begin);
      end -= ones(end);
    }
  }
  out[k] = end - begin;
}

// Volumes turned so that their depth becomes their width, over tiles of 32 x 32 in shared memory, with a gap or none.
template <int gap>
__global__ void turned_voxels(const float* __restrict__ in, float* __restrict__ out, int width, int height, int depth) {
  __shared__ float tile[32][32 + gap];
  const int x = 32 * blockIdx.x, z = 32 * blockIdx.y, y = blockIdx.z;
  for (int j = threadIdx.y; j < 32; j += blockDim.y)
    if (x + threadIdx.x < width && z + j < depth)
      tile[j][threadIdx.x] = in[((size_t)(z + j) * height + y) * width + x + threadIdx.x];
  __syncthreads();
  for (int j = threadIdx.y; j < 32; j += blockDim.y)
    if (z + threadIdx.x < depth && x + j < width)
      out[((size_t)(x + j) * height + y) * depth + z + threadIdx.x] = tile[threadIdx.x][j];
}

// The nearest of many points for each query; the points come into shared memory ahead of their use, 256 at a time.
__global__ void streamed_neighbours(const float4* __restrict__ points, const float4* __restrict__ queries,
                                    int* __restrict__ out, int n, int count) {
  __shared__ float4 tiles[2][256];
  const int k = own_thread(), rounds = count / 256;
  const float4 q = k < n ? queries[k] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int j = threadIdx.x; j < 256; j += blockDim.x) __pipeline_memcpy_async(&tiles[0][j], points + j, 16);
  __pipeline_commit();
  float least = 1e30f;
  int best = 0;
  for (int r = 0; r < rounds; r++) {
    if (r + 1 < rounds)
      for (int j = threadIdx.x; j < 256; j += blockDim.x)
        __pipeline_memcpy_async(&tiles[(r + 1) % 2][j], points + 256 * (r + 1) + j, 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const float4* tile = tiles[r % 2];
#pragma unroll 8
    for (int j = 0; j < 256; j++) {
      const float4 p = tile[j];
      const float x = p.x - q.x, y = p.y - q.y, z = p.z - q.z, far = x * x + y * y + z * z + p.w;
      if (far < least) {
        least = far;
        best = 256 * r + j;
      }
    }
    __syncthreads();
  }
  if (k < n) out[k] = best;
}

// ------------------------------------------------------------------------------------------- short floats and matrices

// How strongly rows of 64 numbers answer to all landmarks: sums of powers of two of their products, by tensor cores; 16
// rows per warp.
__global__ void landmark_scores(const u16* __restrict__ rows, const u16* __restrict__ landmarks,
                                float* __restrict__ out, int n, int count) {
  const int warp = own_thread() / 32, lane = threadIdx.x % 32;
  if (16 * warp >= n) return;
  const int row = 16 * warp + lane / 4, two = lane % 4 * 2;
  u32 a[4][4];
#pragma unroll
  for (int k = 0; k < 4; k++)
#pragma unroll
    for (int j = 0; j < 4; j++)
      a[k][j] = *(const u32*)(rows + (size_t)(row + j % 2 * 8) * 64 + 16 * k + j / 2 * 8 + two);
  float upper = 0.0f, lower = 0.0f;
  for (int c = 0; c < count; c += 8) {
    float s[4] = {};
    const u16* b = landmarks + (size_t)(c + lane / 4) * 64 + two;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const u32 b0 = *(const u32*)(b + 16 * k), b1 = *(const u32*)(b + 16 * k + 8);
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
          : "r"(a[k][0]), "r"(a[k][1]), "r"(a[k][2]), "r"(a[k][3]), "r"(b0), "r"(b1));
    }
    upper += exp2f(0.125f * s[0]) + exp2f(0.125f * s[1]);
    lower += exp2f(0.125f * s[2]) + exp2f(0.125f * s[3]);
  }
#pragma unroll
  for (int far = 1; far < 4; far *= 2) {
    upper += __shfl_xor_sync(WARP, upper, far);
    lower += __shfl_xor_sync(WARP, lower, far);
  }
  if (lane % 4 == 0) {
    out[row] = upper;
    out[row + 8] = lower;
  }
}

// Cosine transforms of squares of 16 x 16 halves along both axes: two products by tensor cores, a square per warp.
__global__ void cosine_squares(const u16* __restrict__ cosines, const u16* __restrict__ squares,
                               float* __restrict__ out, int n) {
  const int warp = own_thread() / 32, lane = threadIdx.x % 32;
  if (warp >= n) return;
  const int g = lane / 4, two = lane % 4 * 2;
  const u16* x = squares + (size_t)warp * 256;
  float t[2][4] = {}, z[2][4] = {};
  u32 a[4];
#pragma unroll
  for (int j = 0; j < 4; j++) a[j] = *(const u32*)(cosines + (g + j % 2 * 8) * 16 + j / 2 * 8 + two);
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const u32 b0 = *(const u32*)(x + (g + 8 * half) * 16 + two), b1 = *(const u32*)(x + (g + 8 * half) * 16 + 8 + two);
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(t[half][0]), "+f"(t[half][1]), "+f"(t[half][2]), "+f"(t[half][3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
  u32 c[4];
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const __half2 pair = __floats2half2_rn(t[j / 2][j % 2 * 2], t[j / 2][j % 2 * 2 + 1]);
    c[j] = *(const u32*)&pair;
  }
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const u32 b0 = a[half], b1 = a[half + 2];
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(z[half][0]), "+f"(z[half][1]), "+f"(z[half][2]), "+f"(z[half][3])
        : "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(b0), "r"(b1));
#pragma unroll
    for (int j = 0; j < 4; j++)
      out[(size_t)warp * 256 + (8 * half + two + j % 2) * 16 + g + j / 2 * 8] = z[half][j];
  }
}

// Which of eight patterns of signed bytes fits best at each place of a signal; 16 places per warp, by tensor cores.
__global__ void window_patterns(const char* __restrict__ signal, const u32* __restrict__ patterns,
                                int* __restrict__ out, int n, int length) {
  const int warp = own_thread() / 32, lane = threadIdx.x % 32;
  if (16 * warp >= n) return;
  const int g = lane / 4, four = lane % 4, row = 16 * warp + g;
  auto word = [&](int at) {
    const u32* from = (const u32*)signal + at / 4;
    return __funnelshift_r(from[0], from[1], at % 4 * 8);
  };
  int s[4] = {};
  for (int k = 0; k < length; k += 32) {
    const int at = row + k + 4 * four;
    const u32 a0 = word(at), a1 = word(at + 8), a2 = word(at + 16), a3 = word(at + 24);
    const u32 b0 = patterns[(g * length + k) / 4 + four], b1 = patterns[(g * length + k) / 4 + 4 + four];
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  int upper = max(8 * s[0] + 2 * four, 8 * s[1] + 2 * four + 1);
  int lower = max(8 * s[2] + 2 * four, 8 * s[3] + 2 * four + 1);
#pragma unroll
  for (int far = 1; far < 4; far *= 2) {
    upper = max(upper, __shfl_xor_sync(WARP, upper, far));
    lower = max(lower, __shfl_xor_sync(WARP, lower, far));
  }
  if (four == 0) {
    out[row] = upper;
    out[row + 8] = lower;
  }
}

// Guitars through stages that bend their sound, two samples at once as halves.
__global__ void bent_guitars(const __half2* __restrict__ in, __half2* __restrict__ out, int n, int stages) {
  const __half2 one = __float2half2_rn(1.0f), drive = __float2half2_rn(1.5f);
  for (int k = own_thread(); k < n; k += gridDim.x * blockDim.x) {
    __half2 x = in[k];
    for (int s = 0; s < stages; s++) {
      x = __hmul2(x, drive);
      x = __h2div(x, __hadd2(one, __habs2(x)));
    }
    out[k] = x;
  }
}

// Echoes in two channels of halves: each sample depends on the two before it.
__global__ void half_echoes(const __half2* __restrict__ in, __half2* __restrict__ out, int n, int samples) {
  const int k = own_thread();
  if (k >= n) return;
  const __half2 near = __float2half2_rn(0.5f), far = __float2half2_rn(-0.3f);
  __half2 first = __float2half2_rn(0.0f), second = first;
  for (int t = 0; t < samples; t++) {
    const __half2 y = __hfma2(near, first, __hfma2(far, second, in[(size_t)t * n + k]));
    second = first;
    first = y;
    out[(size_t)t * n + k] = y;
  }
}

// Brightness curves of screens as polynomials, in pairs of bfloat16, applied again and again.
__global__ void bf16_curves(const __nv_bfloat162* __restrict__ in, __nv_bfloat162* __restrict__ out, int n, int turns) {
  const int k = own_thread();
  if (k >= n) return;
  const __nv_bfloat162 a = __float2bfloat162_rn(0.5f), b = __float2bfloat162_rn(-0.75f);
  const __nv_bfloat162 c = __float2bfloat162_rn(1.0f), d = __float2bfloat162_rn(0.125f);
  __nv_bfloat162 x = in[k];
  for (int t = 0; t < turns; t++) x = __hfma2(__hfma2(__hfma2(a, x, b), x, c), x, d);
  out[k] = x;
}

// --------------------------------------------------------------------------------------------- first programs, streams

// What trips cost: kilometres, litres per hundred, and the price of a litre.
__global__ void fuel_costs(const float* __restrict__ km, const float* __restrict__ litres,
                           const float* __restrict__ price, float* __restrict__ out, int n) {
  const int k = own_thread();
  if (k < n) out[k] = km[k] * litres[k] / 100.0f * (1.2f + price[k]);
}

// Stereo samples of 16 bits become middle and side.
__global__ void stereo_sides(const short4* __restrict__ in, short4* __restrict__ out, int n) {
  for (int k = own_thread(); k < n; k += gridDim.x * blockDim.x) {
    const short4 s = in[k];
    out[k] = make_short4((s.x + s.y) >> 1, s.x - s.y, (s.z + s.w) >> 1, s.z - s.w);
  }
}
