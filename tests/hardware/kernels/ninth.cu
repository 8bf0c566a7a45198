// Kernels for tests/hardware/ninth_cases.py: other ones than those of the eight sets before, as programs have them.
// Many are templates, so that they are compiled only where they are asked for.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

__device__ __forceinline__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ int lane_id() { return threadIdx.x & 31; }

template <typename T>
__device__ __forceinline__ T warp_sum(T value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

__device__ __forceinline__ u32 mix32(u32 h) {  // the finalizer of MurmurHash3
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  return h ^ (h >> 16);
}

// ---------------------------------------------------------------------------------------------------- pointer chasing

// A linked list of records of 16 bytes: x is the next record, the others are the payload.
__global__ void walk_nodes(const int4* __restrict__ nodes, int* __restrict__ out, int steps, int count) {
  const int tid = global_id();
  int at = (int)((tid * 2654435761u) % (u32)count);
  int sum = 0;
  for (int s = 0; s < steps; ++s) {
    const int4 node = __ldg(&nodes[at]);
    sum += (node.y & 255) - (sum & 7 ? node.z & 3 : node.w & 3);
    at = node.x;
  }
  out[tid] = sum;
}

// Backward search in an FM index over four letters. A block of 64 letters has four counts and two planes of bits; one
// more block stands behind the text, which has whole blocks.
__device__ __forceinline__ int occurrences(const int* __restrict__ counts, const ulonglong2* __restrict__ planes,
                                           int letter, int pos) {
  const int block = pos >> 6;
  const ulonglong2 p = planes[block];
  const u64 match = (letter & 1 ? p.x : ~p.x) & (letter & 2 ? p.y : ~p.y);
  return counts[4 * block + letter] + __popcll(match & ((1ull << (pos & 63)) - 1));
}
__global__ void fm_search(const int* __restrict__ counts, const ulonglong2* __restrict__ planes,
                          const u8* __restrict__ queries, int2* __restrict__ found, int n, int length, int text) {
  const int q = global_id();
  if (q >= n) return;
  int lo = 0, hi = text;
  const int last = 4 * (text >> 6);  // the counts behind the last letter
  for (int k = length - 1; k >= 0 && lo < hi; --k) {
    const int letter = queries[(size_t)k * n + q];
    int smaller = 0;
    for (int c = 0; c < letter; ++c) smaller += counts[last + c];
    lo = smaller + occurrences(counts, planes, letter, lo);
    hi = smaller + occurrences(counts, planes, letter, hi);
  }
  found[q] = make_int2(lo, hi);
}

// A static B+ tree of 16 keys per node: 16 lanes look for one query.
__global__ void btree_lookup(const int* __restrict__ tree, const int* __restrict__ queries, int* __restrict__ out,
                             int n, int levels) {
  const int group = global_id() / 16, lane = threadIdx.x & 15;
  const int query = queries[min(group, n - 1)];
  const u32 shift = threadIdx.x & 16;
  int node = 0, start = 0, width = 16;
  for (int level = 0; level < levels; ++level) {
    const int key = tree[start + node * 16 + lane];
    const u32 below = __ballot_sync(0xffffffffu, key <= query) >> shift & 0xffff;
    node = node * 16 + max(__popc(below) - 1, 0);
    start += width;
    width *= 16;
  }
  if (lane == 0 && group < n) out[group] = node;
}

// ------------------------------------------------------------------------------------------------------------ physics

// A thread integrates a system of a few bodies.
template <int BODIES>
__global__ void __launch_bounds__(128) little_systems(const float4* __restrict__ start, float4* __restrict__ out,
                                                      int systems, int steps, float dt) {
  const int i = global_id();
  if (i >= systems) return;
  float3 pos[BODIES], vel[BODIES];
  float mass[BODIES];
#pragma unroll
  for (int b = 0; b < BODIES; ++b) {
    const float4 s = start[b * systems + i];
    pos[b] = make_float3(s.x, s.y, s.z);
    mass[b] = s.w;
    vel[b] = make_float3(0.f, 0.f, 0.f);
  }
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int a = 0; a < BODIES; ++a)
#pragma unroll
      for (int b = a + 1; b < BODIES; ++b) {
        const float dx = pos[b].x - pos[a].x, dy = pos[b].y - pos[a].y, dz = pos[b].z - pos[a].z;
        const float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 0.05f);
        const float pull = dt * inv * inv * inv;
        vel[a].x += dx * mass[b] * pull;
        vel[a].y += dy * mass[b] * pull;
        vel[a].z += dz * mass[b] * pull;
        vel[b].x -= dx * mass[a] * pull;
        vel[b].y -= dy * mass[a] * pull;
        vel[b].z -= dz * mass[a] * pull;
      }
#pragma unroll
    for (int b = 0; b < BODIES; ++b) {
      pos[b].x += dt * vel[b].x;
      pos[b].y += dt * vel[b].y;
      pos[b].z += dt * vel[b].z;
    }
  }
#pragma unroll
  for (int b = 0; b < BODIES; ++b) out[b * systems + i] = make_float4(pos[b].x, pos[b].y, pos[b].z, mass[b]);
}

template <int TILE>
__global__ void lennard_jones_tiles(const double2* __restrict__ pos, double2* __restrict__ force, int n) {
  __shared__ double2 tile[TILE];
  const int i = blockIdx.x * TILE + threadIdx.x;
  const double2 p = pos[min(i, n - 1)];
  double fx = 0, fy = 0;
  for (int t0 = 0; t0 < n; t0 += TILE) {
    if (t0 + (int)threadIdx.x < n) tile[threadIdx.x] = pos[t0 + threadIdx.x];
    __syncthreads();
    const int m = min(TILE, n - t0);
    for (int j = 0; j < m; ++j) {
      const double dx = tile[j].x - p.x, dy = tile[j].y - p.y;
      const double inv = 1.0 / (dx * dx + dy * dy + 0.5);
      const double s = inv * inv * inv, w = s * (2 * s - 1) * inv;
      fx += w * dx;
      fy += w * dy;
    }
    __syncthreads();
  }
  if (i < n) force[i] = make_double2(fx, fy);
}

// Potential of atoms in constant memory on a slab of grid points; POINTS of a row per thread.
struct Atoms {
  float x[64], y[64], z[64], charge[64];
};
__device__ constexpr Atoms scattered_atoms() {
  Atoms a{};
  u32 s = 12345;
  for (int k = 0; k < 64; ++k) {
    s = s * 1664525u + 1013904223u;
    a.x[k] = (s >> 16) % 640 * 0.1f;
    s = s * 1664525u + 1013904223u;
    a.y[k] = (s >> 16) % 640 * 0.1f;
    s = s * 1664525u + 1013904223u;
    a.z[k] = (s >> 16) % 80 * 0.1f + 0.5f;
    a.charge[k] = k % 2 ? 1.0f : -0.75f;
  }
  return a;
}
__constant__ Atoms atoms = scattered_atoms();
template <int POINTS>
__global__ void coulomb_slab(float* __restrict__ grid, int width, int height, float spacing) {
  const int x0 = blockIdx.x * blockDim.x * POINTS + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  float energy[POINTS] = {};
  for (int a = 0; a < 64; ++a) {
    const float dy = y * spacing - atoms.y[a], dz = atoms.z[a];
    const float base = dy * dy + dz * dz, charge = atoms.charge[a];
#pragma unroll
    for (int p = 0; p < POINTS; ++p) {
      const float dx = (x0 + p * (int)blockDim.x) * spacing - atoms.x[a];
      energy[p] += charge * rsqrtf(dx * dx + base);
    }
  }
#pragma unroll
  for (int p = 0; p < POINTS; ++p) {
    const int x = x0 + p * blockDim.x;
    if (x < width && y < height) grid[(size_t)y * width + x] = energy[p];
  }
}

// D2Q9 lattice Boltzmann, pull scheme, periodic.
__constant__ int lbm_x[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int lbm_y[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__global__ void lbm_d2q9(const float* __restrict__ f, float* __restrict__ g, int width, int height, float omega) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int cells = width * height, at = y * width + x;
  float in[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const int sx = (x - lbm_x[k] + width) % width, sy = (y - lbm_y[k] + height) % height;
    in[k] = f[(size_t)k * cells + sy * width + sx];
    rho += in[k];
    ux += in[k] * lbm_x[k];
    uy += in[k] * lbm_y[k];
  }
  ux /= rho;
  uy /= rho;
  const float square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const float weight = k == 0 ? 4 / 9.f : k < 5 ? 1 / 9.f : 1 / 36.f;
    const float along = 3 * (lbm_x[k] * ux + lbm_y[k] * uy);
    const float calm = weight * rho * (1 + along + 0.5f * along * along - square);
    g[(size_t)k * cells + at] = in[k] + omega * (calm - in[k]);
  }
}

// Density of smoothed particles in two dimensions; the particles are sorted by cell.
__global__ void sph_density(const int* __restrict__ cell_start, const float2* __restrict__ pos,
                            float* __restrict__ density, int n, int side) {
  const int i = global_id();
  if (i >= n) return;
  const float2 p = pos[i];
  const int cx = (int)p.x, cy = (int)p.y;
  float sum = 0;
  for (int y = max(cy - 1, 0); y <= min(cy + 1, side - 1); ++y)
    for (int x = max(cx - 1, 0); x <= min(cx + 1, side - 1); ++x) {
      const int cell = y * side + x, end = cell_start[cell + 1];
      for (int j = cell_start[cell]; j < end; ++j) {
        const float dx = pos[j].x - p.x, dy = pos[j].y - p.y, r2 = dx * dx + dy * dy;
        if (r2 < 1.0f) {
          const float d = 1.0f - r2;
          sum += d * d * d;
        }
      }
    }
  density[i] = 1.27324f * sum;
}

// Charge of particles on the four nearest corners of a periodic grid.
__global__ void pic_deposit(const float2* __restrict__ particles, float* __restrict__ grid, int n, int side) {
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const float2 p = particles[i];
    const float gx = p.x * side, gy = p.y * side;
    const int x = min((int)gx, side - 1), y = min((int)gy, side - 1);
    const int right = x + 1 == side ? 0 : x + 1, below = y + 1 == side ? 0 : y + 1;
    const float fx = gx - x, fy = gy - y;
    atomicAdd(&grid[y * side + x], (1 - fx) * (1 - fy));
    atomicAdd(&grid[y * side + right], fx * (1 - fy));
    atomicAdd(&grid[below * side + x], (1 - fx) * fy);
    atomicAdd(&grid[below * side + right], fx * fy);
  }
}

// One colour of a checkerboard of spins 0 and 1; a thread owns one cell of that colour.
template <int COLOUR>
__global__ void ising_sweep(u8* spins, int width, int height, float beta, int seed) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (2 * k >= width || y >= height) return;
  const int x = 2 * k + ((y + COLOUR) & 1);
  const int left = x ? x - 1 : width - 1, right = x + 1 < width ? x + 1 : 0;
  const int up = y ? y - 1 : height - 1, down = y + 1 < height ? y + 1 : 0;
  const int around =
      spins[y * width + left] + spins[y * width + right] + spins[up * width + x] + spins[down * width + x];
  const int spin = spins[y * width + x];
  const float cost = 2.0f * (2 * spin - 1) * (2 * around - 4);
  const float luck = (mix32((y * width + x) * 2654435761u + seed) >> 8) * 5.9604645e-8f;
  if (luck < __expf(-beta * cost)) spins[y * width + x] = 1 - spin;
}

// -------------------------------------------------------------------------------------------------------- Monte Carlo

__device__ __forceinline__ u32 xorshift32(u32& s) {
  s ^= s << 13;
  s ^= s >> 17;
  s ^= s << 5;
  return s;
}
// The price of an Asian call: geometric walks, Box and Muller, one mean per block.
template <int THREADS>
__global__ void __launch_bounds__(THREADS) asian_paths(const u32* __restrict__ seeds, float* __restrict__ out,
                                                       int steps, int paths) {
  __shared__ float partial[THREADS / 32];
  const float drift = 0.0002f, vol = 0.02f;
  u32 state = seeds[global_id()] | 1u;
  float payoff = 0;
  for (int path = 0; path < paths; ++path) {
    float price = 100.f, sum = 0;
    for (int k = 0; k < steps; k += 2) {
      const float u = ((xorshift32(state) >> 8) + 0.5f) * 5.9604645e-8f;
      const float v = (xorshift32(state) >> 8) * 5.9604645e-8f;
      const float r = vol * sqrtf(-2.f * __logf(u));
      float sn, cs;
      __sincosf(6.2831853f * v, &sn, &cs);
      price *= __expf(drift + r * cs);
      sum += price;
      price *= __expf(drift + r * sn);
      sum += price;
    }
    payoff += fmaxf(sum / steps - 100.f, 0.f);
  }
  payoff = warp_sum(payoff);
  if (lane_id() == 0) partial[threadIdx.x / 32] = payoff;
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0;
    for (int w = 0; w < THREADS / 32; ++w) total += partial[w];
    out[blockIdx.x] = total / (THREADS * paths);
  }
}

// Draws one class per row: the largest logit plus Gumbel noise. A warp per row.
__global__ void gumbel_rows(const float* __restrict__ logits, int* __restrict__ picks, int rows, int cols, int seed) {
  const int row = global_id() / 32, lane = lane_id();
  if (row >= rows) return;
  float best = -1e30f;
  int pick = 0;
  for (int c = lane; c < cols; c += 32) {
    const u32 h = mix32((u32)(row * cols + c) ^ (u32)seed);
    const float u = ((h >> 9) + 0.5f) * 1.1920929e-7f;
    const float v = logits[(size_t)row * cols + c] - __logf(-__logf(u));
    if (v > best) {
      best = v;
      pick = c;
    }
  }
  for (int d = 16; d; d >>= 1) {
    const float other = __shfl_down_sync(0xffffffffu, best, d);
    const int theirs = __shfl_down_sync(0xffffffffu, pick, d);
    if (other > best) {
      best = other;
      pick = theirs;
    }
  }
  if (lane == 0) picks[row] = pick;
}

// Newton's method finds the volatility again that a price was made with.
__device__ float call_price(float spot, float strike, float vol, float& vega) {
  const float d1 = logf(spot / strike) / vol + 0.5f * vol;
  vega = spot * 0.39894228f * expf(-0.5f * d1 * d1);
  return spot * normcdff(d1) - strike * normcdff(d1 - vol);
}
__global__ void implied_vol(const float* __restrict__ places, const float* __restrict__ vols, float* __restrict__ out,
                            int n) {
  const int i = global_id();
  if (i >= n) return;
  float vega;
  const float strike = 80.f + 40.f * places[i];
  const float target = call_price(100.f, strike, 0.1f + 0.4f * vols[i], vega);
  float v = 0.6f;
  for (int k = 0; k < 40; ++k) {
    const float off = call_price(100.f, strike, v, vega) - target;
    if (fabsf(off) < 1e-3f) break;
    v = fminf(fmaxf(v - off / fmaxf(vega, 0.5f), 0.02f), 2.f);
  }
  out[i] = v;
}

// ---------------------------------------------------------------------------------------------------------- precision

__device__ __forceinline__ void two_sum(double a, double b, double& s, double& e) {
  s = __dadd_rn(a, b);
  const double t = __dsub_rn(s, a);
  e = __dadd_rn(__dsub_rn(a, __dsub_rn(s, t)), __dsub_rn(b, t));
}
__global__ void compensated_dot(const double* __restrict__ a, const double* __restrict__ b, double2* __restrict__ out,
                                int n) {
  double hi = 0, lo = 0, s, e;
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const double p = __dmul_rn(a[i], b[i]);
    two_sum(hi, p, s, e);
    lo += e + __fma_rn(a[i], b[i], -p);
    hi = s;
  }
  for (int d = 16; d; d >>= 1) {
    const double other = __shfl_down_sync(0xffffffffu, hi, d), rest = __shfl_down_sync(0xffffffffu, lo, d);
    two_sum(hi, other, s, e);
    lo += rest + e;
    hi = s;
  }
  if (lane_id() == 0) out[global_id() / 32] = make_double2(hi, lo);
}

// Residual plus layer norm on halfs, 16 bytes at a time, the row in registers.
template <int THREADS, int PACKS>
__global__ void __launch_bounds__(THREADS) add_layer_norm_half(const uint4* __restrict__ x,
                                                               const uint4* __restrict__ residual,
                                                               const uint4* __restrict__ gamma, uint4* __restrict__ y) {
  __shared__ float2 partial[THREADS / 32];
  const size_t first = (size_t)blockIdx.x * THREADS * PACKS + threadIdx.x;
  float values[PACKS][8];
  float2 sums = make_float2(0.f, 0.f);
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const uint4 a = x[first + p * THREADS], b = residual[first + p * THREADS];
    const __half2 *u = reinterpret_cast<const __half2*>(&a), *v = reinterpret_cast<const __half2*>(&b);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float2 s = __half22float2(__hadd2(u[j], v[j]));
      values[p][2 * j] = s.x;
      values[p][2 * j + 1] = s.y;
      sums.x += s.x + s.y;
      sums.y += s.x * s.x + s.y * s.y;
    }
  }
  sums.x = warp_sum(sums.x);
  sums.y = warp_sum(sums.y);
  if (lane_id() == 0) partial[threadIdx.x / 32] = sums;
  __syncthreads();
  sums = make_float2(0.f, 0.f);
#pragma unroll
  for (int w = 0; w < THREADS / 32; ++w) {
    sums.x += partial[w].x;
    sums.y += partial[w].y;
  }
  constexpr float inverse = 1.0f / (8 * THREADS * PACKS);
  const float mean = sums.x * inverse, scale = rsqrtf(sums.y * inverse - mean * mean + 1e-5f);
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const uint4 g = __ldg(&gamma[p * THREADS + threadIdx.x]);
    const __half2* weight = reinterpret_cast<const __half2*>(&g);
    uint4 packed;
    __half2* out = reinterpret_cast<__half2*>(&packed);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float2 w = __half22float2(weight[j]);
      out[j] = __floats2half2_rn((values[p][2 * j] - mean) * scale * w.x, (values[p][2 * j + 1] - mean) * scale * w.y);
    }
    y[first + p * THREADS] = packed;
  }
}

// One query per head against keys and values in pages of 16 tokens; a block per head and sequence.
template <int HEAD, int WARPS>
__global__ void __launch_bounds__(32 * WARPS)
    paged_decode(const __half2* __restrict__ q, const __half2* __restrict__ keys, const __half2* __restrict__ values,
                 const int* __restrict__ table, float2* __restrict__ out, int tokens, int pages_per_sequence) {
  constexpr int PAIRS = HEAD / 64;
  __shared__ float tops[WARPS], totals[WARPS];
  __shared__ float2 parts[WARPS][HEAD / 2];
  const int head = blockIdx.x, sequence = blockIdx.y, heads = gridDim.x, lane = lane_id(), warp = threadIdx.x / 32;
  float2 query[PAIRS], sum[PAIRS] = {};
  for (int p = 0; p < PAIRS; ++p)
    query[p] = __half22float2(q[((size_t)sequence * heads + head) * (HEAD / 2) + p * 32 + lane]);
  float top = -1e30f, total = 0;
  for (int t = warp; t < tokens; t += WARPS) {
    const int page = table[sequence * pages_per_sequence + t / 16];
    const size_t base = (((size_t)page * heads + head) * 16 + t % 16) * (HEAD / 2) + lane;
    float dot = 0;
#pragma unroll
    for (int p = 0; p < PAIRS; ++p) {
      const float2 k = __half22float2(keys[base + p * 32]);
      dot += query[p].x * k.x + query[p].y * k.y;
    }
    dot = warp_sum(dot) * rsqrtf((float)HEAD);
    const float higher = fmaxf(top, dot), fade = __expf(top - higher), weight = __expf(dot - higher);
    total = total * fade + weight;
#pragma unroll
    for (int p = 0; p < PAIRS; ++p) {
      const float2 v = __half22float2(values[base + p * 32]);
      sum[p].x = sum[p].x * fade + weight * v.x;
      sum[p].y = sum[p].y * fade + weight * v.y;
    }
    top = higher;
  }
  for (int p = 0; p < PAIRS; ++p) parts[warp][p * 32 + lane] = sum[p];
  if (lane == 0) {
    tops[warp] = top;
    totals[warp] = total;
  }
  __syncthreads();
  for (int d = threadIdx.x; d < HEAD / 2; d += 32 * WARPS) {
    float highest = tops[0];
    for (int w = 1; w < WARPS; ++w) highest = fmaxf(highest, tops[w]);
    float below = 0;
    float2 above = make_float2(0.f, 0.f);
    for (int w = 0; w < WARPS; ++w) {
      const float scale = __expf(tops[w] - highest);
      below += scale * totals[w];
      above.x += scale * parts[w][d].x;
      above.y += scale * parts[w][d].y;
    }
    out[((size_t)sequence * heads + head) * (HEAD / 2) + d] = make_float2(above.x / below, above.y / below);
  }
}

// Weights of 4 bits with one scale per 64, times a vector of halfs; a warp per row. Nibbles j and j + 4 are a pair.
__global__ void int4_gemv(const u32* __restrict__ weights, const __half* __restrict__ scales,
                          const __half2* __restrict__ x, float* __restrict__ y, int rows, int words) {
  const int row = global_id() / 32;
  if (row >= rows) return;
  float sum = 0;
  const __half2 bias = __float2half2_rn(1032.f);
  for (int w = lane_id(); w < words; w += 32) {
    const u32 packed = weights[(size_t)row * words + w];
    __half2 part = __float2half2_rn(0.f);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const u32 bits = (packed >> 4 * j & 0x000f000fu) | 0x64006400u;  // 1024 + nibble
      part = __hfma2(__hsub2(reinterpret_cast<const __half2&>(bits), bias), x[4 * w + j], part);
    }
    sum += (__low2float(part) + __high2float(part)) * __half2float(scales[row * (words / 8) + w / 8]);
  }
  sum = warp_sum(sum);
  if (lane_id() == 0) y[row] = sum;
}

__global__ void swiglu_half(const __half2* __restrict__ in, __half2* __restrict__ out, int pairs) {
  const size_t row = blockIdx.y;
  for (int c = global_id(); c < pairs; c += gridDim.x * blockDim.x) {
    const float2 gate = __half22float2(in[2 * row * pairs + c]), up = __half22float2(in[(2 * row + 1) * pairs + c]);
    const float a = __fdividef(gate.x, 1.f + __expf(-gate.x)), b = __fdividef(gate.y, 1.f + __expf(-gate.y));
    out[row * pairs + c] = __floats2half2_rn(a * up.x, b * up.y);
  }
}

__global__ void ema_bf16(__nv_bfloat162* average, const __nv_bfloat162* __restrict__ fresh, int n) {
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const float2 a = __bfloat1622float2(average[i]), b = __bfloat1622float2(fresh[i]);
    average[i] = __floats2bfloat162_rn(0.75f * a.x + 0.25f * b.x, 0.75f * a.y + 0.25f * b.y);
  }
}

// Rows of floats to bytes with one scale per row.
template <int THREADS>
__global__ void __launch_bounds__(THREADS) quantise_rows(const float4* __restrict__ x, char4* __restrict__ q,
                                                         float* __restrict__ scales, int packs) {
  __shared__ float partial[THREADS / 32];
  const float4* row = x + (size_t)blockIdx.x * packs;
  float top = 1e-8f;
  for (int c = threadIdx.x; c < packs; c += THREADS) {
    const float4 v = row[c];
    top = fmaxf(top, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
  }
  for (int d = 16; d; d >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
  if (lane_id() == 0) partial[threadIdx.x / 32] = top;
  __syncthreads();
  for (int w = 0; w < THREADS / 32; ++w) top = fmaxf(top, partial[w]);
  const float scale = 127.f / top;
  for (int c = threadIdx.x; c < packs; c += THREADS) {
    const float4 v = row[c];
    q[(size_t)blockIdx.x * packs + c] =
        make_char4((char)__float2int_rn(v.x * scale), (char)__float2int_rn(v.y * scale),
                   (char)__float2int_rn(v.z * scale), (char)__float2int_rn(v.w * scale));
  }
  if (threadIdx.x == 0) scales[blockIdx.x] = top / 127.f;
}

// Two stereo tracks of 16 bits into one.
__global__ void pcm_mix(const short2* __restrict__ a, const short2* __restrict__ b, short2* __restrict__ out, int n,
                        float gain) {
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const short2 p = a[i], q = b[i];
    const float left = gain * ((float)p.x + (float)q.x), right = gain * ((float)p.y + (float)q.y);
    out[i] = make_short2((short)__float2int_rn(fminf(fmaxf(left, -32768.f), 32767.f)),
                         (short)__float2int_rn(fminf(fmaxf(right, -32768.f), 32767.f)));
  }
}

__global__ void srgb_encode(const float4* __restrict__ linear, uchar4* __restrict__ out, int n) {
  const int i = global_id();
  if (i >= n) return;
  const float4 c = linear[i];
  auto curve = [](float v) {
    v = v <= 0.0031308f ? 12.92f * v : 1.055f * powf(v, 1 / 2.4f) - 0.055f;
    return (u8)(255.f * __saturatef(v) + 0.5f);
  };
  out[i] = make_uchar4(curve(c.x), curve(c.y), curve(c.z), (u8)(255.f * __saturatef(c.w) + 0.5f));
}

// ----------------------------------------------------------------------------------------------------------- integers

__constant__ u32 sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
__device__ __forceinline__ u32 turned(u32 x, int n) { return __funnelshift_r(x, x, n); }
// SHA-256 of 32 bytes per thread: one padded block. The first word of the digest.
__global__ void sha256_words(const u32* __restrict__ messages, u32* __restrict__ out, int n) {
  const int i = global_id();
  if (i >= n) return;
  u32 w[16] = {};
#pragma unroll
  for (int k = 0; k < 8; ++k) w[k] = messages[(size_t)k * n + i];
  w[8] = 0x80000000u;
  w[15] = 256;
  u32 a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a;
  u32 e = 0x510e527f, f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;
#pragma unroll 16
  for (int t = 0; t < 64; ++t) {
    if (t >= 16) {
      const u32 x = w[(t + 1) & 15], y = w[(t + 14) & 15];
      const u32 s0 = turned(x, 7) ^ turned(x, 18) ^ x >> 3, s1 = turned(y, 17) ^ turned(y, 19) ^ y >> 10;
      w[t & 15] += s0 + w[(t + 9) & 15] + s1;
    }
    const u32 t1 = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + sha256_k[t] + w[t & 15];
    const u32 t2 = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  out[i] = a + 0x6a09e667;
}

__device__ constexpr u8 blake_order[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
__device__ __forceinline__ void blake_mix(u32& a, u32& b, u32& c, u32& d, u32 x, u32 y) {
  a += b + x;
  d = turned(d ^ a, 16);
  c += d;
  b = turned(b ^ c, 12);
  a += b + y;
  d = turned(d ^ a, 8);
  c += d;
  b = turned(b ^ c, 7);
}
// BLAKE2s of 64 bytes per thread; UNROLL of the ten rounds stand one behind the other.
template <int UNROLL>
__global__ void blake2s_words(const u32* __restrict__ messages, u32* __restrict__ out, int n) {
  const int i = global_id();
  if (i >= n) return;
  u32 m[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) m[k] = messages[(size_t)k * n + i];
  const u32 iv[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  u32 v[16];
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = v[k + 8] = iv[k];
  v[0] ^= 0x01010020u;
  v[12] ^= 64;
  v[14] = ~v[14];
#pragma unroll UNROLL
  for (int r = 0; r < 10; ++r) {
    const u8* s = blake_order[r];
    blake_mix(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]);
    blake_mix(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
    blake_mix(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]);
    blake_mix(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
    blake_mix(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]);
    blake_mix(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
    blake_mix(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]);
    blake_mix(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
  }
  out[i] = iv[0] ^ 0x01010020u ^ v[0] ^ v[8];
}

// Products of wide integers, schoolbook; limb k of number i is at k * n + i.
template <int LIMBS>
__global__ void wide_multiply(const u32* __restrict__ a, const u32* __restrict__ b, u32* __restrict__ out, int n,
                              int rounds) {
  const int i = global_id();
  if (i >= n) return;
  u32 x[LIMBS], y[LIMBS], r[2 * LIMBS];
#pragma unroll
  for (int k = 0; k < LIMBS; ++k) {
    x[k] = a[(size_t)k * n + i];
    y[k] = b[(size_t)k * n + i];
  }
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int k = 0; k < 2 * LIMBS; ++k) r[k] = 0;
#pragma unroll
    for (int j = 0; j < LIMBS; ++j) {
      u64 carry = 0;
#pragma unroll
      for (int k = 0; k < LIMBS; ++k) {
        const u64 t = (u64)x[j] * y[k] + r[j + k] + carry;
        r[j + k] = (u32)t;
        carry = t >> 32;
      }
      r[j + LIMBS] = (u32)carry;
    }
#pragma unroll
    for (int k = 0; k < LIMBS; ++k) x[k] = r[k] ^ r[k + LIMBS];
  }
#pragma unroll
  for (int k = 0; k < LIMBS; ++k) out[(size_t)k * n + i] = x[k];
}

// Number theoretic transform in shared memory: one polynomial per block, two places per thread.
constexpr u32 NTT_PRIME = 998244353u;
template <int LOG>
__global__ void __launch_bounds__(1 << (LOG - 1)) ntt_shared(const u32* __restrict__ in, const u32* __restrict__ roots,
                                                             u32* __restrict__ out) {
  constexpr int N = 1 << LOG;
  __shared__ u32 p[N], w[N / 2];
  const int t = threadIdx.x;
  for (int k = t; k < N; k += N / 2) p[__brev(k) >> (32 - LOG)] = in[(size_t)blockIdx.x * N + k];
  w[t] = roots[t];
  for (int half = 1; half < N; half *= 2) {
    __syncthreads();
    const int j = t & (half - 1), a = 2 * (t - j) + j, b = a + half;
    const u32 u = p[a], v = (u32)((u64)p[b] * w[j * (N / 2 / half)] % NTT_PRIME);
    p[a] = u + v >= NTT_PRIME ? u + v - NTT_PRIME : u + v;
    p[b] = u >= v ? u - v : u + NTT_PRIME - v;
  }
  __syncthreads();
  for (int k = t; k < N; k += N / 2) out[(size_t)blockIdx.x * N + k] = p[k];
}

// Odd primes below a limit: a bit per odd number, 32768 of them per block, a warp per prime.
__global__ void sieve_bits(const int* __restrict__ primes, int* __restrict__ counts, int count) {
  __shared__ u32 bits[1024];
  __shared__ int total;
  const int base = blockIdx.x * 65536, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int w = threadIdx.x; w < 1024; w += blockDim.x) bits[w] = 0xffffffffu;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  for (int k = warp; k < count; k += warps) {
    const int q = primes[k];
    if (q * q > base + 65536) break;
    int multiple = (base + q) / q * q;
    if (multiple % 2 == 0) multiple += q;
    for (int j = (max(multiple, q * q) - base - 1) / 2 + lane_id() * q; j < 32768; j += 32 * q)
      atomicAnd(&bits[j >> 5], ~(1u << (j & 31)));
  }
  __syncthreads();
  int mine = 0;
  for (int w = threadIdx.x; w < 1024; w += blockDim.x) mine += __popc(bits[w]);
  mine = warp_sum(mine);
  if (lane_id() == 0) atomicAdd(&total, mine);
  __syncthreads();
  if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

// -------------------------------------------------------------------------------------------------- bytes and strings

// 12 bytes to 16 letters per thread.
__constant__ char base64_letters[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
__global__ void base64_encode(const u32* __restrict__ in, uint4* __restrict__ out, int n) {
  __shared__ u8 letters[64];
  if (threadIdx.x < 64) letters[threadIdx.x] = base64_letters[threadIdx.x];
  __syncthreads();
  const int i = global_id();
  if (i >= n) return;
  const u32 a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
  auto encode = [&](u32 t) {
    return letters[t >> 18 & 63] | letters[t >> 12 & 63] << 8 | letters[t >> 6 & 63] << 16 | (u32)letters[t & 63] << 24;
  };
  out[i] = make_uint4(encode(__byte_perm(a, 0, 0x4012)), encode(__byte_perm(a, b, 0x0345)),
                      encode(__byte_perm(b, c, 0x0234)), encode(__byte_perm(c, 0, 0x0123)));
}

// How many lines and commas a text has, 16 bytes per load.
__global__ void count_separators(const uint4* __restrict__ text, int* __restrict__ found, int n) {
  int lines = 0, commas = 0;
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const uint4 v = text[i];
    lines += __popc(__vcmpeq4(v.x, 0x0a0a0a0au)) + __popc(__vcmpeq4(v.y, 0x0a0a0a0au)) +
             __popc(__vcmpeq4(v.z, 0x0a0a0a0au)) + __popc(__vcmpeq4(v.w, 0x0a0a0a0au));
    commas += __popc(__vcmpeq4(v.x, 0x2c2c2c2cu)) + __popc(__vcmpeq4(v.y, 0x2c2c2c2cu)) +
              __popc(__vcmpeq4(v.z, 0x2c2c2c2cu)) + __popc(__vcmpeq4(v.w, 0x2c2c2c2cu));
  }
  lines = __reduce_add_sync(0xffffffffu, lines / 8);
  commas = __reduce_add_sync(0xffffffffu, commas / 8);
  if (lane_id() == 0) {
    atomicAdd(&found[0], lines);
    atomicAdd(&found[1], commas);
  }
}

// A deterministic automaton of 16 states and 32 classes of letters reads lines of different lengths.
__global__ void dfa_lines(const int* __restrict__ starts, const u8* __restrict__ text, const u8* __restrict__ moves,
                          u8* __restrict__ last, int lines) {
  __shared__ u8 table[16 * 32];
  for (int k = threadIdx.x; k < 512; k += blockDim.x) table[k] = moves[k];
  __syncthreads();
  const int line = global_id();
  if (line >= lines) return;
  int state = 0;
  for (int k = starts[line], end = starts[line + 1]; k < end; ++k) {
    state = table[state * 32 + (text[k] & 31)];
    if (state == 15) break;
  }
  last[line] = (u8)state;
}

// Sums of the numbers in chunks of variable-length integers, 7 bits per byte, at most 5 bytes each.
__global__ void varint_sums(const u8* __restrict__ bytes, u64* __restrict__ sums, int chunks, int length) {
  const int chunk = global_id();
  if (chunk >= chunks) return;
  const u8 *p = bytes + (size_t)chunk * length, *end = p + length;
  u64 sum = 0;
  while (p < end) {
    u64 value = 0;
    int shift = 0;
    u8 byte;
    do {
      byte = *p++;
      value |= (u64)(byte & 127) << shift;
      shift += 7;
    } while (byte > 127 && shift < 35 && p < end);
    sum += value;
  }
  sums[chunk] = sum;
}

// Canonical words of K letters of a strand; each is counted in a hashed table.
template <int K>
__global__ void kmer_counts(const u8* __restrict__ strand, u32* __restrict__ table, int n, int each, u32 mask) {
  constexpr u64 ALL = (1ull << 2 * K) - 1;
  const int first = global_id() * each;
  u64 ahead = 0, back = 0;
  for (int k = 0; k < each + K - 1 && first + k < n; ++k) {
    const u64 letter = strand[first + k];
    ahead = (ahead << 2 | letter) & ALL;
    back = back >> 2 | (3 - letter) << 2 * (K - 1);
    if (k < K - 1) continue;
    const u64 word = min(ahead, back);
    atomicAdd(&table[mix32((u32)word ^ (u32)(word >> 32) * 31u) & mask], 1u);
  }
}

// ------------------------------------------------------------------------------------------------- long or mixed code

__device__ __forceinline__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ __forceinline__ float2 operator*(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__device__ __forceinline__ void fft4(float2& a, float2& b, float2& c, float2& d) {
  const float2 s = a + c, t = a - c, u = b + d, v = make_float2(b.y - d.y, d.x - b.x);  // -i (b - d)
  a = s + u;
  b = t + v;
  c = s - u;
  d = t - v;
}
__device__ constexpr float cos16[10] = {1.f, 0.92387953f, 0.70710678f, 0.38268343f, 0.f,
                                        -0.38268343f, -0.70710678f, -0.92387953f, -1.f, -0.92387953f};
__device__ constexpr float sin16[10] = {0.f, 0.38268343f, 0.70710678f, 0.92387953f, 1.f,
                                        0.92387953f, 0.70710678f, 0.38268343f, 0.f, -0.38268343f};
// Transforms of 16 points in registers, one per thread; point k of signal i is at k * n + i.
__global__ void fft16_batch(const float2* __restrict__ in, float2* __restrict__ out, int n) {
  const int i = global_id();
  if (i >= n) return;
  float2 v[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) v[k] = in[(size_t)k * n + i];
#pragma unroll
  for (int a = 0; a < 4; ++a) fft4(v[a], v[a + 4], v[a + 8], v[a + 12]);
#pragma unroll
  for (int a = 1; a < 4; ++a)
#pragma unroll
    for (int b = 1; b < 4; ++b) v[a + 4 * b] = v[a + 4 * b] * make_float2(cos16[a * b], -sin16[a * b]);
#pragma unroll
  for (int b = 0; b < 4; ++b) fft4(v[4 * b], v[4 * b + 1], v[4 * b + 2], v[4 * b + 3]);
#pragma unroll
  for (int b = 0; b < 4; ++b)
#pragma unroll
    for (int c = 0; c < 4; ++c) out[(size_t)(b + 4 * c) * n + i] = v[4 * b + c];
}

// Each warp runs the branch of its kind: every kind has code of its own.
template <int KIND>
__device__ __forceinline__ float code_of_kind(float x) {
  float s = x;
#pragma unroll
  for (int k = 0; k < 40; ++k) s = s * (0.4f * x + KIND * 0.001f) + 1.0f / (k + KIND + 1);
  return s;
}
template <int KIND, int KINDS>
__device__ __forceinline__ float choose_kind(int kind, float x) {
  if constexpr (KIND + 1 < KINDS) {
    if (kind != KIND) return choose_kind<KIND + 1, KINDS>(kind, x);
  }
  return code_of_kind<KIND>(x);
}
template <int KINDS>
__global__ void kernels_by_kind(const u8* __restrict__ kinds, const float* __restrict__ in, float* __restrict__ out,
                                int jobs) {
  const int warp = global_id() / 32, warps = gridDim.x * blockDim.x / 32;
  for (int job = warp; job < jobs; job += warps) {
    const int at = 32 * job + lane_id();
    out[at] = choose_kind<0, KINDS>(kinds[job], in[at]);
  }
}

// A small linear system per thread, all in registers.
template <int N>
__global__ void solve_in_registers(const float* __restrict__ matrices, const float* __restrict__ right,
                                   float* __restrict__ x, int n) {
  const int i = global_id();
  if (i >= n) return;
  float a[N][N], b[N];
#pragma unroll
  for (int r = 0; r < N; ++r) {
#pragma unroll
    for (int c = 0; c < N; ++c) a[r][c] = matrices[(size_t)(r * N + c) * n + i] + (r == c ? N : 0);
    b[r] = right[(size_t)r * n + i];
  }
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const float inverse = 1.0f / a[k][k];
#pragma unroll
    for (int r = k + 1; r < N; ++r) {
      const float f = a[r][k] * inverse;
#pragma unroll
      for (int c = k + 1; c < N; ++c) a[r][c] -= f * a[k][c];
      b[r] -= f * b[k];
    }
  }
#pragma unroll
  for (int r = N - 1; r >= 0; --r) {
#pragma unroll
    for (int c = r + 1; c < N; ++c) b[r] -= a[r][c] * b[c];
    b[r] /= a[r][r];
    x[(size_t)r * n + i] = b[r];
  }
}

// All threads run the same program on eight registers of their own, which the program's code chooses.
__global__ void register_vm(const u32* __restrict__ program, const u32* __restrict__ in, u32* __restrict__ out,
                            int length, int n) {
  const int i = global_id();
  if (i >= n) return;
  u32 r[8];
  for (int k = 0; k < 8; ++k) r[k] = in[i] + k * 0x9e3779b9u;
  for (int pc = 0; pc < length; ++pc) {
    const u32 code = __ldg(&program[pc]);
    const u32 a = r[code >> 3 & 7], b = r[code >> 6 & 7];
    u32 v;
    switch (code & 7) {
      case 0: v = a + b; break;
      case 1: v = a - b; break;
      case 2: v = a * b + 1; break;
      case 3: v = a ^ b; break;
      case 4: v = min(a, b); break;
      case 5: v = a << (b & 31); break;
      case 6: v = a >> (b & 31); break;
      default: v = a & 1 ? b : ~a; break;
    }
    r[code >> 9 & 7] = v;
  }
  out[i] = r[0] ^ r[3] ^ r[5];
}

// ------------------------------------------------------------------------------------------------------ shared memory

// 64 bins of bytes per thread, as in the classic histogram of one thread per column; a thread counts at most 255 bytes.
__global__ void thread_bins(const u32* __restrict__ data, u32* __restrict__ partial, int words) {  // blocks of 64
  __shared__ __align__(16) u8 bins[64 * 64];
  const int t = threadIdx.x, column = (t & 15) << 2 | (t & 48) >> 4;
  for (int k = t; k < 1024; k += 64) reinterpret_cast<u32*>(bins)[k] = 0;
  __syncthreads();
  for (int w = 0; w < words; ++w) {
    const u32 v = data[((size_t)blockIdx.x * words + w) * 64 + t];
    bins[(v >> 2 & 63) * 64 + column]++;
    bins[(v >> 10 & 63) * 64 + column]++;
    bins[(v >> 18 & 63) * 64 + column]++;
    bins[(v >> 26) * 64 + column]++;
  }
  __syncthreads();
  u32 sum = 0;
  for (int k = 0; k < 64; ++k) sum += bins[t * 64 + ((k + 4 * t) & 63)];
  partial[blockIdx.x * 64 + t] = sum;
}

// The scan with two elements per thread and a tree up and down, with or without a word of padding per 32.
template <int THREADS, bool PAD>
__global__ void __launch_bounds__(THREADS) scan_gems(const int* __restrict__ in, int* __restrict__ out) {
  constexpr int N = 2 * THREADS;
  __shared__ int temp[N + N / 32];
  const int t = threadIdx.x;
  auto at = [](int i) { return PAD ? i + (i >> 5) : i; };
  const int* mine = in + (size_t)blockIdx.x * N;
  temp[at(t)] = mine[t];
  temp[at(t + THREADS)] = mine[t + THREADS];
  int offset = 1;
  for (int d = THREADS; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) temp[at(offset * (2 * t + 2) - 1)] += temp[at(offset * (2 * t + 1) - 1)];
    offset *= 2;
  }
  if (t == 0) temp[at(N - 1)] = 0;
  for (int d = 1; d < N; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      const int a = at(offset * (2 * t + 1) - 1), b = at(offset * (2 * t + 2) - 1);
      const int kept = temp[a];
      temp[a] = temp[b];
      temp[b] += kept;
    }
  }
  __syncthreads();
  out[(size_t)blockIdx.x * N + t] = temp[at(t)];
  out[(size_t)blockIdx.x * N + t + THREADS] = temp[at(t + THREADS)];
}

// Transposes a matrix of bytes in tiles of 64 x 64; a thread turns 4 x 4 of them in registers. Blocks of 16 x 16.
template <bool SWIZZLE>
__global__ void transpose_bytes(const u32* __restrict__ in, u32* __restrict__ out, int width, int height) {
  __shared__ u32 tile[64][16];
  const int tx = threadIdx.x, ty = threadIdx.y, w4 = width / 4, h4 = height / 4;
  u32 r[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) r[k] = in[(size_t)(64 * blockIdx.y + 4 * ty + k) * w4 + 16 * blockIdx.x + tx];
  const u32 a = __byte_perm(r[0], r[1], 0x5140), b = __byte_perm(r[2], r[3], 0x5140);
  const u32 c = __byte_perm(r[0], r[1], 0x7362), d = __byte_perm(r[2], r[3], 0x7362);
  const int word = SWIZZLE ? ty ^ tx : ty;
  tile[4 * tx][word] = __byte_perm(a, b, 0x5410);
  tile[4 * tx + 1][word] = __byte_perm(a, b, 0x7632);
  tile[4 * tx + 2][word] = __byte_perm(c, d, 0x5410);
  tile[4 * tx + 3][word] = __byte_perm(c, d, 0x7632);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int row = ty + 16 * k;
    out[(size_t)(64 * blockIdx.x + row) * h4 + 16 * blockIdx.y + tx] = tile[row][SWIZZLE ? tx ^ row / 4 : tx];
  }
}

// A table in dynamic shared memory, linear interpolation.
__global__ void lookup_in_table(const float* __restrict__ table, const float* __restrict__ x, float* __restrict__ y,
                                int n, int entries) {
  extern __shared__ float copy[];
  for (int k = threadIdx.x; k < entries; k += blockDim.x) copy[k] = table[k];
  __syncthreads();
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const float place = x[i] * (entries - 1);
    const int k = min((int)place, entries - 2);
    const float share = place - k;
    y[i] = copy[k] + share * (copy[k + 1] - copy[k]);
  }
}

// The transform and quantisation of JPEG: 32 squares of 8 x 8 pixels per block of 256 threads.
__constant__ float jpeg_steps[8] = {16.f, 11.f, 12.f, 18.f, 24.f, 40.f, 51.f, 61.f};
__device__ __forceinline__ void dct8(float (&v)[8]) {
  constexpr float c1 = 0.49039264f, c2 = 0.46193977f, c3 = 0.41573481f, c4 = 0.35355339f, c5 = 0.27778512f,
                  c6 = 0.19134172f, c7 = 0.09754516f;
  const float s0 = v[0] + v[7], s1 = v[1] + v[6], s2 = v[2] + v[5], s3 = v[3] + v[4];
  const float d0 = v[0] - v[7], d1 = v[1] - v[6], d2 = v[2] - v[5], d3 = v[3] - v[4];
  const float e0 = s0 + s3, e1 = s1 + s2, e2 = s1 - s2, e3 = s0 - s3;
  v[0] = (e0 + e1) * c4;
  v[4] = (e0 - e1) * c4;
  v[2] = e3 * c2 + e2 * c6;
  v[6] = e3 * c6 - e2 * c2;
  v[1] = d0 * c1 + d1 * c3 + d2 * c5 + d3 * c7;
  v[3] = d0 * c3 - d1 * c7 - d2 * c1 - d3 * c5;
  v[5] = d0 * c5 - d1 * c1 + d2 * c7 + d3 * c3;
  v[7] = d0 * c7 - d1 * c5 + d2 * c3 - d3 * c1;
}
__global__ void __launch_bounds__(256) jpeg_dct(const uint2* __restrict__ image, short* __restrict__ out, int width,
                                                int squares) {
  __shared__ float work[32][8][9];
  const int square = threadIdx.x / 8, k = threadIdx.x % 8, number = blockIdx.x * 32 + square;
  const int across = width / 8, x = number % across, y = number / across;
  float v[8];
  if (number < squares) {
    const uint2 row = image[(size_t)(8 * y + k) * across + x];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      v[j] = (float)(row.x >> 8 * j & 255) - 128.f;
      v[j + 4] = (float)(row.y >> 8 * j & 255) - 128.f;
    }
    dct8(v);
#pragma unroll
    for (int j = 0; j < 8; ++j) work[square][k][j] = v[j];
  }
  __syncthreads();
  if (number >= squares) return;
#pragma unroll
  for (int j = 0; j < 8; ++j) v[j] = work[square][j][k];
  dct8(v);
#pragma unroll
  for (int j = 0; j < 8; ++j)
    out[(size_t)number * 64 + 8 * j + k] = (short)__float2int_rn(v[j] / (jpeg_steps[j] + jpeg_steps[k]));
}

// ----------------------------------------------------------------------------------------------------------- barriers

// Cholesky factors of symmetric matrices, one per block of N x N threads.
template <int N>
__global__ void __launch_bounds__(N * N) batched_cholesky(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float a[N][N + 1];
  const int x = threadIdx.x, y = threadIdx.y;
  const float* mine = in + (size_t)blockIdx.x * N * N;
  a[y][x] = mine[max(x, y) * N + min(x, y)] + (x == y ? 4.f * N : 0.f);
  for (int k = 0; k < N; ++k) {
    __syncthreads();
    if (x == k && y == k) a[k][k] = sqrtf(a[k][k]);
    __syncthreads();
    if (x == k && y > k) a[y][k] /= a[k][k];
    __syncthreads();
    if (x > k && y >= x) a[y][x] -= a[y][k] * a[x][k];
  }
  out[(size_t)blockIdx.x * N * N + y * N + x] = x <= y ? a[y][x] : 0.f;
}

// Piles of sand on tiles of 32 x 32 that fall over until all have fewer than four grains.
__global__ void __launch_bounds__(1024) sandpile_tiles(const int* __restrict__ grains, int* __restrict__ out) {
  __shared__ int falls[34][34];
  const int x = threadIdx.x + 1, y = threadIdx.y + 1;
  const size_t at = (size_t)blockIdx.x * 1024 + threadIdx.y * 32 + threadIdx.x;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 34 * 34; k += 1024) falls[k / 34][k % 34] = 0;
  int pile = grains[at];
  __syncthreads();
  while (true) {
    falls[y][x] = pile >> 2;
    pile &= 3;
    __syncthreads();
    const int more = falls[y - 1][x] + falls[y + 1][x] + falls[y][x - 1] + falls[y][x + 1];
    pile += more;
    if (!__syncthreads_or(pile > 3)) break;
  }
  out[at] = pile;
}

// Dynamic time warping of two signals per block, along the diagonals; as many threads as samples.
__global__ void dtw_pairs(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out) {
  extern __shared__ float buffer[];
  const int length = blockDim.x, i = threadIdx.x;
  float *other = buffer, *now = buffer + length, *last = now + length + 1, *before = last + length + 1;
  other[i] = b[(size_t)blockIdx.x * length + i];
  const float mine = a[(size_t)blockIdx.x * length + i];
  for (int k = i; k <= length; k += length) now[k] = last[k] = before[k] = 1e30f;
  __syncthreads();
  float cost = 0;
  for (int d = 0; d < 2 * length - 1; ++d) {
    const int j = d - i;
    if (j >= 0 && j < length) {
      const float least = fminf(fminf(last[i], last[i + 1]), before[i]);
      cost = fabsf(mine - other[j]) + (d == 0 ? 0.f : least);
      now[i + 1] = cost;
    }
    __syncthreads();
    float* kept = before;
    before = last;
    last = now;
    now = kept;
  }
  if (i == length - 1) out[blockIdx.x] = cost;
}

// Smith and Waterman: a warp aligns 32 letters with a text of its own, along the diagonals, by shuffles.
__global__ void smith_waterman(const u8* __restrict__ queries, const u8* __restrict__ texts, int* __restrict__ scores,
                               int pairs, int length) {
  const int pair = global_id() / 32, lane = lane_id();
  if (pair >= pairs) return;
  const u8 letter = queries[32 * pair + lane];
  const u8* text = texts + (size_t)pair * length;
  int h = 0, corner = 0, best = 0;
  for (int t = 0; t < length + 31; ++t) {
    int above = __shfl_up_sync(0xffffffffu, h, 1);
    if (lane == 0) above = 0;
    const int j = t - lane;
    if (j >= 0 && j < length) {
      h = max(max(corner + (letter == text[j] ? 3 : -2), max(above, h) - 4), 0);
      best = max(best, h);
    }
    corner = above;
  }
  best = __reduce_max_sync(0xffffffffu, best);
  if (lane == 0) scores[pair] = best;
}

// Sorts tiles by digits of 4 bits with a counter per thread and digit.
template <int THREADS, int ITEMS>
__global__ void __launch_bounds__(THREADS) radix_sort_tiles(const u32* __restrict__ in, u32* __restrict__ out,
                                                            int bits) {
  __shared__ u32 keys[THREADS * ITEMS], counters[16 * THREADS], warp_totals[THREADS / 32];
  const int t = threadIdx.x, warp = t / 32;
  const size_t base = (size_t)blockIdx.x * THREADS * ITEMS;
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) keys[k * THREADS + t] = in[base + k * THREADS + t];
  for (int shift = 0; shift < bits; shift += 4) {
    __syncthreads();
    u32 mine[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) mine[k] = keys[t * ITEMS + k];
#pragma unroll
    for (int b = 0; b < 16; ++b) counters[b * THREADS + t] = 0;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) counters[(mine[k] >> shift & 15) * THREADS + t]++;
    __syncthreads();
    u32 local = 0;
    for (int b = 0; b < 16; ++b) local += counters[t * 16 + b];
    u32 scanned = local;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      const u32 left = __shfl_up_sync(0xffffffffu, scanned, d);
      if (lane_id() >= d) scanned += left;
    }
    if (lane_id() == 31) warp_totals[warp] = scanned;
    __syncthreads();
    u32 running = scanned - local;
    for (int w = 0; w < warp; ++w) running += warp_totals[w];
    for (int b = 0; b < 16; ++b) {
      const u32 count = counters[t * 16 + b];
      counters[t * 16 + b] = running;
      running += count;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) keys[counters[(mine[k] >> shift & 15) * THREADS + t]++] = mine[k];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) out[base + k * THREADS + t] = keys[k * THREADS + t];
}

// The k-th largest key of each row, byte by byte; a block per row, one thread goes through the bins.
__global__ void radix_select_rows(const u32* __restrict__ in, u32* __restrict__ out, int cols, int k) {
  __shared__ int bins[256], wanted;
  __shared__ u32 prefix;
  const u32* row = in + (size_t)blockIdx.x * cols;
  if (threadIdx.x == 0) {
    prefix = 0;
    wanted = k;
  }
  for (int shift = 24; shift >= 0; shift -= 8) {
    for (int b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    const u32 fixed = prefix, mask = shift == 24 ? 0 : 0xffffffffu << (shift + 8);
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
      const u32 key = row[c];
      if ((key & mask) == fixed) atomicAdd(&bins[key >> shift & 255], 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int left = wanted, b = 255;
      while (b > 0 && bins[b] < left) left -= bins[b--];
      wanted = left;
      prefix = fixed | (u32)b << shift;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = prefix;
}

// -------------------------------------------------------------------------------------------------- scans and merging

// Exclusive sums of each tile, and the sum of the tile; a thread has ITEMS neighbours.
template <int THREADS, int ITEMS>
__global__ void __launch_bounds__(THREADS) scan_tiles(const int4* __restrict__ in, int4* __restrict__ out,
                                                      int* __restrict__ totals) {
  __shared__ int warp_totals[32];
  constexpr int PACKS = ITEMS / 4;
  const int t = threadIdx.x, lane = lane_id(), warp = t / 32;
  const size_t first = ((size_t)blockIdx.x * THREADS + t) * PACKS;
  int4 v[PACKS];
  int sum = 0;
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    v[p] = in[first + p];
    sum += v[p].x + v[p].y + v[p].z + v[p].w;
  }
  int scanned = sum;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const int left = __shfl_up_sync(0xffffffffu, scanned, d);
    if (lane >= d) scanned += left;
  }
  if (lane == 31) warp_totals[warp] = scanned;
  __syncthreads();
  if (warp == 0) {
    int total = lane < THREADS / 32 ? warp_totals[lane] : 0;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      const int left = __shfl_up_sync(0xffffffffu, total, d);
      if (lane >= d) total += left;
    }
    warp_totals[lane] = total;
  }
  __syncthreads();
  int running = scanned - sum + (warp ? warp_totals[warp - 1] : 0);
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int4 w = v[p];
    const int a = running, b = a + w.x, c = b + w.y, d = c + w.z;
    running = d + w.w;
    out[first + p] = make_int4(a, b, c, d);
  }
  if (t == THREADS - 1) totals[blockIdx.x] = running;
}

// Sums that start again at each flag; a warp goes through its own run of `each` elements.
__global__ void segmented_sums(const int* __restrict__ in, const u8* __restrict__ flags, int* __restrict__ out,
                               int each) {
  const int lane = lane_id();
  const size_t first = (size_t)(global_id() / 32) * each;
  int carry = 0;
  for (int c = 0; c < each; c += 32) {
    const bool inside = c + lane < each;
    int v = inside ? in[first + c + lane] : 0;
    const u32 heads = __ballot_sync(0xffffffffu, inside && flags[first + c + lane] == 0);
    const u32 upto = heads & (0xffffffffu >> (31 - lane));
    const int head = upto ? 31 - __clz(upto) : -1;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      const int left = __shfl_up_sync(0xffffffffu, v, d);
      if (lane - d >= max(head, 0)) v += left;
    }
    if (head < 0) v += carry;
    if (inside) out[first + c + lane] = v;
    carry = __shfl_sync(0xffffffffu, v, 31);
  }
}

// Keeps the multiples of three of each tile, in their order.
template <int THREADS, int ROUNDS>
__global__ void __launch_bounds__(THREADS) compact_tiles(const int* __restrict__ in, int* __restrict__ out,
                                                         int* __restrict__ counts, int n) {
  __shared__ int warp_counts[THREADS / 32];
  const int tile = blockIdx.x * THREADS * ROUNDS, warp = threadIdx.x / 32;
  int begin = 0;
  for (int r = 0; r < ROUNDS; ++r) {
    const int i = tile + r * THREADS + threadIdx.x;
    const int v = i < n ? in[i] : 1;
    const bool keep = i < n && v % 3 == 0;
    const u32 votes = __ballot_sync(0xffffffffu, keep);
    if (lane_id() == 0) warp_counts[warp] = __popc(votes);
    __syncthreads();
    int before = begin, all = begin;
    for (int w = 0; w < THREADS / 32; ++w) {
      before += w < warp ? warp_counts[w] : 0;
      all += warp_counts[w];
    }
    if (keep) out[tile + before + __popc(votes & ((1u << lane_id()) - 1))] = v;
    begin = all;
    __syncthreads();
  }
  if (threadIdx.x == 0) counts[blockIdx.x] = begin;
}

// Merges two sorted lists of n: the diagonals of the merge path split them into tiles.
__device__ __forceinline__ int merge_path(const int* a, int m, const int* b, int n, int diagonal) {
  int low = max(0, diagonal - n), high = min(diagonal, m);
  while (low < high) {
    const int mid = (low + high) / 2;
    if (a[mid] <= b[diagonal - 1 - mid]) low = mid + 1;
    else high = mid;
  }
  return low;
}
template <int THREADS, int ITEMS>
__global__ void __launch_bounds__(THREADS) merge_path_tiles(const int* __restrict__ a, const int* __restrict__ b,
                                                            int* __restrict__ out, int n) {
  constexpr int TILE = THREADS * ITEMS;
  __shared__ int keys[TILE], split[2];
  const int first = min((int)blockIdx.x * TILE, 2 * n), last = min(first + TILE, 2 * n);
  if (threadIdx.x < 2) split[threadIdx.x] = merge_path(a, n, b, n, threadIdx.x ? last : first);
  __syncthreads();
  const int a0 = split[0], b0 = first - a0, from_a = split[1] - a0, from_b = last - first - from_a;
  for (int k = threadIdx.x; k < from_a + from_b; k += THREADS) keys[k] = k < from_a ? a[a0 + k] : b[b0 + k - from_a];
  __syncthreads();
  const int *left = keys, *right = keys + from_a;
  const int diagonal = min((int)threadIdx.x * ITEMS, from_a + from_b);
  int p = merge_path(left, from_a, right, from_b, diagonal), q = diagonal - p;
  int merged[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    const bool some = p < from_a || q < from_b;
    const bool take = q >= from_b || (p < from_a && left[p] <= right[q]);
    merged[k] = some ? (take ? left[p] : right[q]) : 0;
    if (take) ++p;
    else ++q;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < ITEMS; ++k)
    if (diagonal + k < from_a + from_b) keys[diagonal + k] = merged[k];
  __syncthreads();
  for (int k = threadIdx.x; k < from_a + from_b; k += THREADS) out[first + k] = keys[k];
}

// ----------------------------------------------------------------------------------------------- stencils and images

// Finite differences in three dimensions: planes of 32 x 8 points, the z axis in registers. The input has R more points
// at each side.
template <int R>
__global__ void __launch_bounds__(256) fd3d_march(const float* __restrict__ in, float* __restrict__ out, int nx, int ny,
                                                  int nz) {
  __shared__ float plane[8 + 2 * R][32 + 2 * R];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
  const int pitch = nx + 2 * R, slice = pitch * (ny + 2 * R);
  const int column = (y + R) * pitch + x + R, corner = (int)blockIdx.y * 8 * pitch + blockIdx.x * 32;
  float queue[2 * R + 1];
#pragma unroll
  for (int k = 0; k < 2 * R; ++k) queue[k + 1] = in[(size_t)k * slice + column];
  for (int z = 0; z < nz; ++z) {
#pragma unroll
    for (int k = 0; k < 2 * R; ++k) queue[k] = queue[k + 1];
    queue[2 * R] = in[(size_t)(z + 2 * R) * slice + column];
    __syncthreads();
    for (int k = ty * 32 + tx; k < (8 + 2 * R) * (32 + 2 * R); k += 256) {
      const int v = k / (32 + 2 * R), u = k % (32 + 2 * R);
      plane[v][u] = in[(size_t)(z + R) * slice + corner + v * pitch + u];
    }
    __syncthreads();
    float sum = -3.f * queue[R];
#pragma unroll
    for (int r = 1; r <= R; ++r)
      sum += (0.5f / r) * (queue[R - r] + queue[R + r] + plane[ty + R][tx + R - r] + plane[ty + R][tx + R + r] +
                           plane[ty + R - r][tx + R] + plane[ty + R + r][tx + R]);
    out[((size_t)z * ny + y) * nx + x] = sum;
  }
}

// Rows of a separable filter: STEPS results per thread from shared memory, clamped borders. Blocks of 32 x 4.
__constant__ float gauss_taps[9] = {0.1526f, 0.1480f, 0.1352f, 0.1161f, 0.0940f, 0.0716f, 0.0514f, 0.0347f, 0.0221f};
template <int R, int STEPS>
__global__ void gauss_rows(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  __shared__ float line[4][32 * STEPS + 2 * R];
  const int y = min(blockIdx.y * 4 + threadIdx.y, height - 1), x0 = blockIdx.x * 32 * STEPS;
  for (int k = threadIdx.x; k < 32 * STEPS + 2 * R; k += 32)
    line[threadIdx.y][k] = in[(size_t)y * width + min(max(x0 + k - R, 0), width - 1)];
  __syncthreads();
#pragma unroll
  for (int s = 0; s < STEPS; ++s) {
    const float* mid = &line[threadIdx.y][threadIdx.x + 32 * s + R];
    float sum = gauss_taps[0] * mid[0];
#pragma unroll
    for (int r = 1; r <= R; ++r) sum += gauss_taps[r] * (mid[-r] + mid[r]);
    const int x = x0 + 32 * s + threadIdx.x;
    if (x < width && blockIdx.y * 4 + threadIdx.y < height) out[(size_t)y * width + x] = sum;
  }
}

// Colours from a sensor with the pattern RG / GB, by means of the neighbours; the border stays as it is.
__global__ void bayer_rgb(const u8* __restrict__ raw, uchar4* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  const u8* p = raw + (size_t)y * width + x;
  const int here = *p, across = (p[-1] + p[1]) / 2, down = (p[-width] + p[width]) / 2;
  const int corners = (p[-width - 1] + p[-width + 1] + p[width - 1] + p[width + 1]) / 4;
  const int cross = (p[-1] + p[1] + p[-width] + p[width]) / 4;
  int r, g, b;
  if (y & 1) {
    if (x & 1) { r = corners; g = cross; b = here; }
    else { r = down; g = here; b = across; }
  } else {
    if (x & 1) { r = across; g = here; b = down; }
    else { r = here; g = cross; b = corners; }
  }
  out[(size_t)y * width + x] = make_uchar4(r, g, b, 255);
}

// A video frame with half as many colours in each direction to four bytes per pixel; two pixels per thread.
__global__ void yuv420_rgba(const uchar2* __restrict__ luma, const u8* __restrict__ u_plane,
                            const u8* __restrict__ v_plane, uint2* __restrict__ out, int half_width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= half_width) return;
  const uchar2 l = luma[(size_t)y * half_width + x];
  const int u = u_plane[(y / 2) * half_width + x] - 128, v = v_plane[(y / 2) * half_width + x] - 128;
  auto pixel = [&](int luminance) {
    const int c = 298 * (luminance - 16) + 128;
    const int r = min(max((c + 409 * v) >> 8, 0), 255), g = min(max((c - 100 * u - 208 * v) >> 8, 0), 255);
    const int b = min(max((c + 516 * u) >> 8, 0), 255);
    return (u32)r | (u32)g << 8 | (u32)b << 16 | 0xff000000u;
  };
  out[(size_t)y * half_width + x] = make_uint2(pixel(l.x), pixel(l.y));
}

// An image turned and scaled, with 16 taps of Catmull and Rom per pixel.
__device__ __forceinline__ void catmull(float t, float (&w)[4]) {
  w[0] = t * (-0.5f + t * (1.f - 0.5f * t));
  w[1] = 1.f + t * t * (1.5f * t - 2.5f);
  w[2] = t * (0.5f + t * (2.f - 1.5f * t));
  w[3] = t * t * (0.5f * t - 0.5f);
}
__global__ void bicubic_affine(const float* __restrict__ in, float* __restrict__ out, int width, int height, float a,
                               float b) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float sx = a * x - b * y + 0.3f * width, sy = b * x + a * y - 0.1f * height;
  const int ix = (int)floorf(sx), iy = (int)floorf(sy);
  float wx[4], wy[4], sum = 0;
  catmull(sx - ix, wx);
  catmull(sy - iy, wy);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float* row = in + (size_t)min(max(iy + j - 1, 0), height - 1) * width;
    float part = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) part += wx[k] * __ldg(&row[min(max(ix + k - 1, 0), width - 1)]);
    sum += wy[j] * part;
  }
  out[(size_t)y * width + x] = sum;
}

// Colours through a cube of SIDE^3 entries, trilinear.
template <int SIDE>
__global__ void lut3d_grade(const uchar4* __restrict__ in, const float4* __restrict__ cube, float4* __restrict__ out,
                            int n) {
  const int i = global_id();
  if (i >= n) return;
  const uchar4 p = in[i];
  const float r = p.x * ((SIDE - 1) / 256.f), g = p.y * ((SIDE - 1) / 256.f), b = p.z * ((SIDE - 1) / 256.f);
  const int ri = (int)r, gi = (int)g, bi = (int)b;
  const float rf = r - ri, gf = g - gi, bf = b - bi;
  float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const float w = (k & 1 ? rf : 1 - rf) * (k & 2 ? gf : 1 - gf) * (k & 4 ? bf : 1 - bf);
    const float4 c = __ldg(&cube[((bi + (k >> 2)) * SIDE + gi + (k >> 1 & 1)) * SIDE + ri + (k & 1)]);
    sum.x += w * c.x;
    sum.y += w * c.y;
    sum.z += w * c.z;
  }
  sum.w = p.w / 255.f;
  out[i] = sum;
}

// Motion search: each block compares a square of 8 x 8 bytes with 16 x 16 places of the frame before, one per thread.
// The frame before has 16 more columns and rows.
__global__ void __launch_bounds__(256) sad_search(const u32* __restrict__ frame, const u32* __restrict__ before,
                                                  u32* __restrict__ best, int width) {
  __shared__ u32 window[24][7], square[8][2], least[8];
  const int t = threadIdx.y * 16 + threadIdx.x, pitch = (width + 16) / 4;
  if (t < 144) window[t / 6][t % 6] = before[(size_t)(8 * blockIdx.y + t / 6) * pitch + 2 * blockIdx.x + t % 6];
  else if (t < 160) square[(t - 144) / 2][t % 2] = frame[(size_t)(8 * blockIdx.y + (t - 144) / 2) * (width / 4) +
                                                        2 * blockIdx.x + t % 2];
  __syncthreads();
  const int word = threadIdx.x / 4, shift = 8 * (threadIdx.x % 4);
  u32 sum = 0;
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    const u32* row = window[threadIdx.y + r] + word;
    const u32 middle = row[1];
    sum += __vsadu4(__funnelshift_r(row[0], middle, shift), square[r][0]);
    sum += __vsadu4(__funnelshift_r(middle, row[2], shift), square[r][1]);
  }
  const u32 lowest = __reduce_min_sync(0xffffffffu, sum << 8 | t);
  if (lane_id() == 0) least[t / 32] = lowest;
  __syncthreads();
  if (t == 0) {
    u32 found = least[0];
    for (int w = 1; w < 8; ++w) found = min(found, least[w]);
    best[blockIdx.y * gridDim.x + blockIdx.x] = found;
  }
}

// A depthwise convolution of 3 x 3, channels last, four channels per thread, zeros around.
__global__ void depthwise_nhwc(const float4* __restrict__ in, const float4* __restrict__ taps, float4* __restrict__ out,
                               int width, int height, int packs) {
  const int c = threadIdx.x, x = blockIdx.x * blockDim.y + threadIdx.y, y = blockIdx.y;
  if (x >= width || c >= packs) return;
  float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      if ((unsigned)(x + dx) >= (unsigned)width || (unsigned)(y + dy) >= (unsigned)height) continue;
      const float4 v = in[((size_t)(y + dy) * width + x + dx) * packs + c];
      const float4 w = taps[((dy + 1) * 3 + dx + 1) * packs + c];
      sum.x += v.x * w.x;
      sum.y += v.y * w.y;
      sum.z += v.z * w.z;
      sum.w += v.w * w.w;
    }
  out[((size_t)y * width + x) * packs + c] = sum;
}

// A picture of spheres in constant memory: the nearest hit of each ray and its light.
struct Spheres {
  float x[20], y[20], z[20], r[20];
};
__device__ constexpr Spheres scattered_spheres() {
  Spheres s{};
  u32 v = 777;
  for (int k = 0; k < 20; ++k) {
    v = v * 1664525u + 1013904223u;
    s.x[k] = (v >> 16) % 1000 * 0.001f - 0.5f;
    v = v * 1664525u + 1013904223u;
    s.y[k] = (v >> 16) % 1000 * 0.001f - 0.5f;
    v = v * 1664525u + 1013904223u;
    s.z[k] = (v >> 16) % 1000 * 0.001f + 1.0f;
    s.r[k] = 0.05f + (v >> 8) % 100 * 0.001f;
  }
  return s;
}
__constant__ Spheres spheres = scattered_spheres();
__global__ void ray_spheres(float* __restrict__ out, int width, int height) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const float x = (px + 0.5f) / width - 0.5f, y = (py + 0.5f) / height - 0.5f;
  float nearest = 1e30f, light = 0.1f;
  for (int k = 0; k < 20; ++k) {
    const float dx = x - spheres.x[k], dy = y - spheres.y[k], r = spheres.r[k];
    const float rest = r * r - dx * dx - dy * dy;
    if (rest > 0) {
      const float dz = sqrtf(rest), at = spheres.z[k] - dz;
      if (at < nearest) {
        nearest = at;
        light = 0.2f + 0.8f * __powf(dz / r, 1.5f);
      }
    }
  }
  out[(size_t)py * width + px] = light;
}

// ----------------------------------------------------------------------------------------------------------- matrices

// A product with TM x TN results per thread, tiles of BM x BN x BK in shared memory.
template <typename T, int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__((BM / TM) * (BN / TN)) gemm_micro(const T* __restrict__ A, const T* __restrict__ B,
                                                                    T* __restrict__ C, int M, int N, int K) {
  constexpr int ACROSS = BN / TN, THREADS = (BM / TM) * ACROSS;
  __shared__ T As[BK][BM + 1], Bs[BK][BN];
  const int tx = threadIdx.x % ACROSS, ty = threadIdx.x / ACROSS;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  T acc[TM][TN] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
#pragma unroll
    for (int e = threadIdx.x; e < BM * BK; e += THREADS) {
      const int r = e / BK, k = e % BK;
      As[k][r] = row0 + r < M && k0 + k < K ? A[(size_t)(row0 + r) * K + k0 + k] : T(0);
    }
#pragma unroll
    for (int e = threadIdx.x; e < BK * BN; e += THREADS) {
      const int k = e / BN, c = e % BN;
      Bs[k][c] = k0 + k < K && col0 + c < N ? B[(size_t)(k0 + k) * N + col0 + c] : T(0);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      T a[TM], b[TN];
#pragma unroll
      for (int m = 0; m < TM; ++m) a[m] = As[k][ty * TM + m];
#pragma unroll
      for (int n = 0; n < TN; ++n) b[n] = Bs[k][tx + n * ACROSS];
#pragma unroll
      for (int m = 0; m < TM; ++m)
#pragma unroll
        for (int n = 0; n < TN; ++n) acc[m][n] += a[m] * b[n];
    }
    __syncthreads();
  }
#pragma unroll
  for (int m = 0; m < TM; ++m)
#pragma unroll
    for (int n = 0; n < TN; ++n) {
      const int r = row0 + ty * TM + m, c = col0 + tx + n * ACROSS;
      if (r < M && c < N) C[(size_t)r * N + c] = acc[m][n];
    }
}

// Tiles of 64 x 64 x 16 that come in the background, STAGES of them; all sizes are whole tiles.
template <int STAGES>
__global__ void __launch_bounds__(256) gemm_stages(const float* __restrict__ A, const float* __restrict__ B,
                                                   float* __restrict__ C, int N, int K) {
  __shared__ __align__(16) float As[STAGES][64][20];
  __shared__ __align__(16) float Bs[STAGES][16][64];
  const int tid = threadIdx.x, tx = tid % 16, ty = tid / 16, tiles = K / 16;
  const float* a_source = A + (size_t)(blockIdx.y * 64 + tid / 4) * K + tid % 4 * 4;
  const float* b_source = B + (size_t)(tid / 16) * N + blockIdx.x * 64 + tid % 16 * 4;
  auto load = [&](int tile) {
    if (tile < tiles) {
      const int s = tile % STAGES;
      __pipeline_memcpy_async(&As[s][tid / 4][tid % 4 * 4], a_source + tile * 16, 16);
      __pipeline_memcpy_async(&Bs[s][tid / 16][tid % 16 * 4], b_source + (size_t)tile * 16 * N, 16);
    }
    __pipeline_commit();
  };
  for (int t = 0; t < STAGES - 1; ++t) load(t);
  float acc[4][4] = {};
  for (int t = 0; t < tiles; ++t) {
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();
    load(t + STAGES - 1);
    const int s = t % STAGES;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float4 b = *reinterpret_cast<const float4*>(&Bs[s][k][tx * 4]);
#pragma unroll
      for (int m = 0; m < 4; ++m) {
        const float a = As[s][ty * 4 + m][k];
        acc[m][0] += a * b.x;
        acc[m][1] += a * b.y;
        acc[m][2] += a * b.z;
        acc[m][3] += a * b.w;
      }
    }
  }
#pragma unroll
  for (int m = 0; m < 4; ++m)
    *reinterpret_cast<float4*>(&C[(size_t)(blockIdx.y * 64 + ty * 4 + m) * N + blockIdx.x * 64 + tx * 4]) =
        make_float4(acc[m][0], acc[m][1], acc[m][2], acc[m][3]);
}

// A filter of TAPS over a signal; the next tile comes while this one is filtered. The signal has TAPS - 1 more samples.
template <int THREADS, int TAPS>
__global__ void __launch_bounds__(THREADS) fir_ahead(const float* __restrict__ x, const float* __restrict__ taps,
                                                     float* __restrict__ y, int tiles) {
  constexpr int WIDE = THREADS + TAPS - 1;
  __shared__ float signal[2][WIDE], weights[TAPS];
  if (threadIdx.x < TAPS) weights[threadIdx.x] = taps[threadIdx.x];
  auto load = [&](int tile, int s) {
    for (int k = threadIdx.x; k < WIDE; k += THREADS)
      __pipeline_memcpy_async(&signal[s][k], &x[(size_t)tile * THREADS + k], 4);
    __pipeline_commit();
  };
  int tile = blockIdx.x, s = 0;
  if (tile < tiles) load(tile, 0);
  for (; tile < tiles; tile += gridDim.x, s ^= 1) {
    if (tile + (int)gridDim.x < tiles) load(tile + gridDim.x, s ^ 1);
    else __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k < TAPS; ++k) sum += weights[k] * signal[s][threadIdx.x + k];
    y[(size_t)tile * THREADS + threadIdx.x] = sum;
    __syncthreads();
  }
}

// Sums of rows of a table: each warp brings its next row into shared memory while it adds this one. 128 floats per row.
template <int WARPS>
__global__ void __launch_bounds__(32 * WARPS) embedding_bags(const float4* __restrict__ rows,
                                                             const int* __restrict__ starts,
                                                             const int* __restrict__ indices, float4* __restrict__ out,
                                                             int bags) {
  __shared__ float4 stage[WARPS][2][32];
  const int warp = threadIdx.x / 32, lane = lane_id(), bag = blockIdx.x * WARPS + warp;
  if (bag >= bags) return;
  const int begin = starts[bag], end = starts[bag + 1];
  float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
  if (begin < end)
    __pipeline_memcpy_async(&stage[warp][begin & 1][lane], &rows[(size_t)indices[begin] * 32 + lane], 16);
  __pipeline_commit();
  for (int k = begin; k < end; ++k) {
    if (k + 1 < end)
      __pipeline_memcpy_async(&stage[warp][(k + 1) & 1][lane], &rows[(size_t)indices[k + 1] * 32 + lane], 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    const float4 v = stage[warp][k & 1][lane];
    sum.x += v.x;
    sum.y += v.y;
    sum.z += v.z;
    sum.w += v.w;
  }
  out[(size_t)bag * 32 + lane] = sum;
}

// ------------------------------------------------------------------------------------- sparse matrices and graphs

// Rows of a sparse matrix times a vector, LANES threads per row.
template <int LANES>
__global__ void csr_subwarp(const int* __restrict__ starts, const int* __restrict__ cols,
                            const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y,
                            int rows) {
  const int row = global_id() / LANES, lane = threadIdx.x % LANES;
  float sum = 0;
  if (row < rows)
    for (int k = starts[row] + lane; k < starts[row + 1]; k += LANES) sum += values[k] * __ldg(&x[cols[k]]);
#pragma unroll
  for (int d = LANES / 2; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d, LANES);
  if (lane == 0 && row < rows) y[row] = sum;
}

// Block rows of 4 x 4: a warp per block row, half a warp per block.
__global__ void bsr4_rows(const int* __restrict__ starts, const int* __restrict__ cols,
                          const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y,
                          int rows) {
  const int row = global_id() / 32, lane = lane_id(), r = lane / 4 % 4, c = lane % 4;
  if (row >= rows) return;
  float sum = 0;
  for (int k = starts[row] + lane / 16; k < starts[row + 1]; k += 2)
    sum += values[(size_t)k * 16 + 4 * r + c] * x[4 * cols[k] + c];
  sum += __shfl_xor_sync(0xffffffffu, sum, 16);
  sum += __shfl_xor_sync(0xffffffffu, sum, 2);
  sum += __shfl_xor_sync(0xffffffffu, sum, 1);
  if (lane < 16 && c == 0) y[4 * row + r] = sum;
}

// Entries sorted by row, EACH of them per thread; one atomic addition per row and thread.
template <int EACH>
__global__ void coo_segments(const int* __restrict__ rows, const int* __restrict__ cols,
                             const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y,
                             int entries) {
  const int first = global_id() * EACH;
  if (first >= entries) return;
  int row = rows[first];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < EACH; ++k) {
    const int i = first + k;
    if (i >= entries) break;
    if (rows[i] != row) {
      atomicAdd(&y[row], sum);
      row = rows[i];
      sum = 0;
    }
    sum += values[i] * x[cols[i]];
  }
  atomicAdd(&y[row], sum);
}

// Products of rows of two dense matrices at the places of a sparse one, 8 lanes per place.
template <int DEPTH>
__global__ void sampled_products(const int* __restrict__ rows, const int* __restrict__ cols,
                                 const float4* __restrict__ left, const float4* __restrict__ right,
                                 float* __restrict__ out, int places) {
  const int place = min(global_id() / 8, places - 1), lane = threadIdx.x & 7;
  const float4 *a = left + (size_t)rows[place] * (DEPTH / 4), *b = right + (size_t)cols[place] * (DEPTH / 4);
  float sum = 0;
#pragma unroll
  for (int k = lane; k < DEPTH / 4; k += 8) {
    const float4 u = a[k], v = b[k];
    sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
  }
  sum += __shfl_xor_sync(0xffffffffu, sum, 4, 8);
  sum += __shfl_xor_sync(0xffffffffu, sum, 2, 8);
  sum += __shfl_xor_sync(0xffffffffu, sum, 1, 8);
  if (lane == 0 && global_id() / 8 < places) out[place] = sum;
}

// The neighbours of the frontier that were not visited go to a ring; a warp per node, one ticket per warp and step.
__global__ void expand_frontier(const int* __restrict__ frontier, const int* __restrict__ starts,
                                const int* __restrict__ cols, const u8* __restrict__ visited, u32* tail,
                                int* __restrict__ ring, int count, u32 mask) {
  const int warp = global_id() / 32, lane = lane_id();
  if (warp >= count) return;
  const int node = frontier[warp], end = starts[node + 1];
  for (int first = starts[node]; first < end; first += 32) {
    const int next = first + lane < end ? cols[first + lane] : -1;
    const bool fresh = next >= 0 && visited[next] == 0;
    const u32 votes = __ballot_sync(0xffffffffu, fresh);
    u32 base = 0;
    if (lane == 0 && votes) base = atomicAdd(tail, (u32)__popc(votes));
    base = __shfl_sync(0xffffffffu, base, 0);
    if (fresh) ring[(base + __popc(votes & ((1u << lane) - 1))) & mask] = next;
  }
}

// Triangles: for each neighbour of a node, the lanes of a warp look for the node's other neighbours in its sorted list.
__global__ void count_triangles(const int* __restrict__ starts, const int* __restrict__ cols, int* __restrict__ out,
                                int nodes) {
  const int node = global_id() / 32, lane = lane_id();
  if (node >= nodes) return;
  const int begin = starts[node], end = starts[node + 1];
  int count = 0;
  for (int e = begin; e < end; ++e) {
    const int other = cols[e], low = starts[other], high = starts[other + 1];
    for (int k = begin + lane; k < end; k += 32) {
      const int wanted = cols[k];
      int a = low, b = high;
      while (a < b) {
        const int mid = (a + b) >> 1;
        if (cols[mid] < wanted) a = mid + 1;
        else b = mid;
      }
      count += a < high && cols[a] == wanted;
    }
  }
  count = warp_sum(count);
  if (lane == 0) out[node] = count;
}

// One round of a colouring: nodes that have a greater hash than all their neighbours take the colour.
__global__ void colour_round(const int* __restrict__ starts, const int* __restrict__ cols, int* __restrict__ colour,
                             int nodes, int round) {
  const int node = global_id();
  if (node >= nodes) return;
  const u32 mine = mix32(node * 2u + round);
  bool greatest = true;
  for (int k = starts[node], end = starts[node + 1]; k < end; ++k) {
    const int other = cols[k];
    if (other == node) continue;
    const u32 theirs = mix32(other * 2u + round);
    if (theirs > mine) {
      greatest = false;
      break;
    }
  }
  colour[node] = greatest ? round : -1;
}

// ------------------------------------------------------------------------------------------------------- hash tables

// A cuckoo table of keys: two places per key.
__global__ void cuckoo_lookup(const u32* __restrict__ table, const u32* __restrict__ queries, u8* __restrict__ found,
                              int n, u32 mask) {
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const u32 key = queries[i];
    bool there = table[mix32(key) & mask] == key;
    if (!there) there = table[mix32(key ^ 0x9e3779b9u) & mask] == key;
    found[i] = there;
  }
}

// Four bits per key, set or looked up.
__global__ void bloom_add(const u32* __restrict__ keys, u32* __restrict__ filter, int n, u32 mask) {
  const int i = global_id();
  if (i >= n) return;
  const u32 first = mix32(keys[i]), step = mix32(first) | 1u;
#pragma unroll
  for (u32 k = 0; k < 4; ++k) {
    const u32 bit = first + k * step;
    atomicOr(&filter[bit >> 5 & mask], 1u << (bit & 31));
  }
}
__global__ void bloom_query(const u32* __restrict__ keys, const u32* __restrict__ filter, u8* __restrict__ maybe, int n,
                            u32 mask) {
  const int i = global_id();
  if (i >= n) return;
  const u32 first = mix32(keys[i]), step = mix32(first) | 1u;
  bool all = true;
  for (u32 k = 0; k < 4 && all; ++k) {
    const u32 bit = first + k * step;
    all = filter[bit >> 5 & mask] >> (bit & 31) & 1u;
  }
  maybe[i] = all;
}

// Sums by key: each block has a table with open addresses in shared memory and adds it to the sums of all at the end.
template <int SLOTS>
__global__ void group_by_shared(const int* __restrict__ keys, const int* __restrict__ amounts, int* __restrict__ sums,
                                int n) {
  __shared__ int owner[SLOTS], total[SLOTS];
  for (int s = threadIdx.x; s < SLOTS; s += blockDim.x) {
    owner[s] = -1;
    total[s] = 0;
  }
  __syncthreads();
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const int key = keys[i];
    u32 slot = mix32((u32)key) & (SLOTS - 1);
    while (true) {
      const int held = atomicCAS(&owner[slot], -1, key);
      if (held == -1 || held == key) break;
      slot = (slot + 1) & (SLOTS - 1);
    }
    atomicAdd(&total[slot], amounts[i]);
  }
  __syncthreads();
  for (int s = threadIdx.x; s < SLOTS; s += blockDim.x)
    if (owner[s] >= 0) atomicAdd(&sums[owner[s]], total[s]);
}

// Features of points from hashed grids of several resolutions, trilinear; a level per blockIdx.y.
__global__ void hash_grid_encode(const float* __restrict__ points, const __half2* __restrict__ table,
                                 float2* __restrict__ out, int n, u32 mask) {
  const int i = global_id(), level = blockIdx.y;
  if (i >= n) return;
  const float scale = 16.f * (1 << level) * 0.75f;
  const float x = points[3 * i] * scale, y = points[3 * i + 1] * scale, z = points[3 * i + 2] * scale;
  const u32 ix = (u32)x, iy = (u32)y, iz = (u32)z;
  const float fx = x - ix, fy = y - iy, fz = z - iz;
  const __half2* mine = table + (size_t)level * (mask + 1);
  float2 sum = make_float2(0.f, 0.f);
#pragma unroll
  for (u32 c = 0; c < 8; ++c) {
    const u32 u = ix + (c & 1), v = iy + (c >> 1 & 1), w = iz + (c >> 2);
    const float2 f = __half22float2(mine[(u ^ v * 2654435761u ^ w * 805459861u) & mask]);
    const float weight = (c & 1 ? fx : 1 - fx) * (c & 2 ? fy : 1 - fy) * (c & 4 ? fz : 1 - fz);
    sum.x += weight * f.x;
    sum.y += weight * f.y;
  }
  out[(size_t)level * n + i] = sum;
}

// ------------------------------------------------------------------------------------- search, clusters, uneven work

// How many leaves of a tree of boxes overlap a query; the stack lies in local memory. Node k has children 2k, 2k + 1.
__global__ void bvh_overlaps(const float4* __restrict__ boxes, const float4* __restrict__ queries,
                             int* __restrict__ counts, int n, int leaves) {
  const int i = global_id();
  if (i >= n) return;
  const float4 q = queries[i];
  const float x0 = q.x, y0 = q.y, x1 = q.x + 0.02f * q.z, y1 = q.y + 0.02f * q.w;
  int stack[32], depth = 0, count = 0;
  stack[depth++] = 1;
  while (depth > 0) {
    const int node = stack[--depth];
    const float4 b = __ldg(&boxes[node]);
    if (b.x > x1 || b.z < x0 || b.y > y1 || b.w < y0) continue;
    if (node >= leaves) ++count;
    else {
      stack[depth++] = 2 * node;
      stack[depth++] = 2 * node + 1;
    }
  }
  counts[i] = count;
}

// The K nearest of all points in a plane, by insertion into a list in registers.
template <int K>
__global__ void knn_insertion(const float2* __restrict__ points, const float2* __restrict__ queries,
                              float* __restrict__ out, int n, int count) {
  __shared__ float2 tile[128];
  const int i = global_id();
  const float2 q = queries[min(i, n - 1)];
  float best[K];
#pragma unroll
  for (int k = 0; k < K; ++k) best[k] = 1e30f;
  for (int t0 = 0; t0 < count; t0 += 128) {
    __syncthreads();
    for (int k = threadIdx.x; k < 128 && t0 + k < count; k += blockDim.x) tile[k] = points[t0 + k];
    __syncthreads();
    const int m = min(128, count - t0);
    for (int j = 0; j < m; ++j) {
      const float dx = tile[j].x - q.x, dy = tile[j].y - q.y;
      float d = dx * dx + dy * dy;
      if (d < best[K - 1]) {
#pragma unroll
        for (int k = 0; k < K; ++k) {
          const float less = fminf(best[k], d);
          d = fmaxf(best[k], d);
          best[k] = less;
        }
      }
    }
  }
  if (i < n)
#pragma unroll
    for (int k = 0; k < K; ++k) out[(size_t)k * n + i] = best[k];
}

// A step of k-means on points of four coordinates: the sums and the number of points of each cluster.
template <int CLUSTERS>
__global__ void kmeans_step(const float4* __restrict__ points, const float4* __restrict__ centres,
                            float* __restrict__ sums, int* __restrict__ sizes, int n) {
  __shared__ float4 centre[CLUSTERS];
  __shared__ float sum[CLUSTERS][5];
  __shared__ int size[CLUSTERS];
  for (int c = threadIdx.x; c < CLUSTERS; c += blockDim.x) {
    centre[c] = centres[c];
    size[c] = 0;
    for (int k = 0; k < 4; ++k) sum[c][k] = 0;
  }
  __syncthreads();
  for (int i = global_id(); i < n; i += gridDim.x * blockDim.x) {
    const float4 p = points[i];
    float nearest = 1e30f;
    int mine = 0;
    for (int c = 0; c < CLUSTERS; ++c) {
      const float4 q = centre[c];
      const float x = p.x - q.x, y = p.y - q.y, z = p.z - q.z, w = p.w - q.w, d = x * x + y * y + z * z + w * w;
      if (d < nearest) {
        nearest = d;
        mine = c;
      }
    }
    atomicAdd(&sum[mine][0], p.x);
    atomicAdd(&sum[mine][1], p.y);
    atomicAdd(&sum[mine][2], p.z);
    atomicAdd(&sum[mine][3], p.w);
    atomicAdd(&size[mine], 1);
  }
  __syncthreads();
  for (int c = threadIdx.x; c < CLUSTERS; c += blockDim.x) {
    for (int k = 0; k < 4; ++k) atomicAdd(&sums[4 * c + k], sum[c][k]);
    atomicAdd(&sizes[c], size[c]);
  }
}

// Distances of all pairs in a cube, in 64 bins; a block has the pairs of its points with those before: uneven work.
// Blocks of 128.
__global__ void pair_distances_binned(const float* __restrict__ points, u32* __restrict__ bins, int n) {
  __shared__ float other[3][128];
  __shared__ u32 mine[64];
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (threadIdx.x < 64) mine[threadIdx.x] = 0;
  const int k = min(i, n - 1);
  const float x = points[k], y = points[n + k], z = points[2 * n + k];
  for (int tile = 0; tile <= (int)blockIdx.x; ++tile) {
    __syncthreads();
    const int from = min(tile * 128 + (int)threadIdx.x, n - 1);
    for (int axis = 0; axis < 3; ++axis) other[axis][threadIdx.x] = points[axis * n + from];
    __syncthreads();
    const int m = i < n ? min(128, i - tile * 128) : 0;
    for (int j = 0; j < m; ++j) {
      const float dx = other[0][j] - x, dy = other[1][j] - y, dz = other[2][j] - z;
      atomicAdd(&mine[min((int)(36.f * sqrtf(dx * dx + dy * dy + dz * dz)), 63)], 1u);
    }
  }
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

// The best exchange of two edges of a round trip: a thread per first edge, all later edges as the second.
__device__ __forceinline__ float apart(float2 a, float2 b) {
  const float dx = a.x - b.x, dy = a.y - b.y;
  return sqrtf(dx * dx + dy * dy);
}
__global__ void two_opt(const float2* __restrict__ tour, u64* __restrict__ best, int n) {
  const int i = global_id();
  float gain = 0;
  int with = 0;
  if (i < n - 1) {
    const float2 a = tour[i], b = tour[i + 1];
    const float edge = apart(a, b);
    for (int j = i + 2; j < n - 1; ++j) {
      const float2 c = tour[j], d = tour[j + 1];
      const float g = edge + apart(c, d) - apart(a, c) - apart(b, d);
      if (g > gain) {
        gain = g;
        with = j;
      }
    }
  }
  u64 found = (u64)__float_as_uint(gain) << 32 | (u32)with;
  for (int d = 16; d; d >>= 1) found = max(found, __shfl_xor_sync(0xffffffffu, found, d));
  if (lane_id() == 0) atomicMax(best, found);
}

// Blocks take tiles from a counter until none is left. The counter goes round, so that the next launch starts anew.
__global__ void persistent_tiles(const float* __restrict__ in, float* __restrict__ out, u32* next, int tiles) {
  __shared__ int tile;
  while (true) {
    if (threadIdx.x == 0) tile = (int)(atomicAdd(next, 1u) % (u32)(tiles + gridDim.x));
    __syncthreads();
    const int mine = tile;
    __syncthreads();
    if (mine >= tiles) return;
    float v = in[(size_t)mine * blockDim.x + threadIdx.x];
    const int turns = 8 + mine % 7 * 16;
    for (int k = 0; k < turns; ++k) v = v * 0.96875f + 0.5f;
    out[(size_t)mine * blockDim.x + threadIdx.x] = v;
  }
}

// Tridiagonal systems side by side, one per thread, with -1 beside the diagonal.
__global__ void thomas_interleaved(const float* __restrict__ diagonal, const float* __restrict__ right,
                                   float* __restrict__ work, float* __restrict__ x, int systems, int n) {
  const int s = global_id();
  if (s >= systems) return;
  float c = -1.f / (4.f + diagonal[s]), value = -right[s] * c;
  work[s] = c;
  x[s] = value;
  for (int r = 1; r < n; ++r) {
    const size_t at = (size_t)r * systems + s;
    const float w = 1.0f / (4.f + diagonal[at] + c);
    value = (right[at] + value) * w;
    c = -w;
    work[at] = c;
    x[at] = value;
  }
  for (int r = n - 2; r >= 0; --r) {
    const size_t at = (size_t)r * systems + s;
    value = x[at] - work[at] * value;
    x[at] = value;
  }
}

// A recurrence with STATE values per channel, as in a state space model; a thread per channel.
template <int STATE>
__global__ void selective_scan(const float* __restrict__ x, const float* __restrict__ dt, const float* __restrict__ B,
                               const float* __restrict__ C, float* __restrict__ y, int channels, int length) {
  const int channel = global_id();
  if (channel >= channels) return;
  float h[STATE] = {};
  for (int t = 0; t < length; ++t) {
    const size_t at = (size_t)t * channels + channel;
    const float step = 0.1f * dt[at], in = step * x[at];
    float sum = 0;
#pragma unroll
    for (int s = 0; s < STATE; ++s) {
      h[s] = __expf(-step * (s + 1)) * h[s] + in * __ldg(&B[t * STATE + s]);
      sum += h[s] * __ldg(&C[t * STATE + s]);
    }
    y[at] = sum;
  }
}

// Transforms of 32 points, one per warp, by shuffles.
__global__ void fft32_shuffle(const float2* __restrict__ in, float2* __restrict__ out, int n) {
  const int lane = lane_id();
  for (int i = global_id() / 32; i < n; i += gridDim.x * blockDim.x / 32) {
    float2 v = in[(size_t)i * 32 + (__brev(lane) >> 27)];
#pragma unroll
    for (int half = 1; half < 32; half *= 2) {
      float sn, cs;
      sincospif(-(float)(lane & (half - 1)) / half, &sn, &cs);
      const float2 turned_v = lane & half ? v * make_float2(cs, sn) : v;
      const float2 other = make_float2(__shfl_xor_sync(0xffffffffu, turned_v.x, half),
                                       __shfl_xor_sync(0xffffffffu, turned_v.y, half));
      v = lane & half ? other - turned_v : turned_v + other;
    }
    out[(size_t)i * 32 + lane] = v;
  }
}

// The heads of an attention layer to the front: [tokens][heads][64] to [heads][tokens][64], 16 bytes per thread.
__global__ void heads_first(const uint4* __restrict__ in, uint4* __restrict__ out, int tokens, int heads) {
  const int i = global_id();
  if (i >= tokens * heads * 8) return;
  const int pack = i & 7, token = i / 8 % tokens, head = i / 8 / tokens;
  out[i] = in[((size_t)token * heads + head) * 8 + pack];
}
