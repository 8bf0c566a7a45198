// Kernels for tests/hardware/twentieth_cases.py: other ones than those of the nineteen sets before, as programs have
// them.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define WHOLE_WARP 0xffffffffu

__device__ __forceinline__ int own_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ u32 stirred(u32 x) {
  x = (x ^ x >> 15) * 0x2c9277b5u;
  x = (x ^ x >> 13) * 0x5f356495u;
  return x ^ x >> 16;
}

// A thread's random numbers: a linear congruence, stirred.
struct Chance {
  u32 state;
  __device__ __forceinline__ Chance(u32 thread, u32 seed) : state(stirred(thread * 2u + 1u ^ seed * 0x632be5abu)) {}
  __device__ __forceinline__ u32 word() { return stirred(state = state * 1664525u + 1013904223u); }
  __device__ __forceinline__ u32 below(u32 limit) { return __umulhi(word(), limit); }
  __device__ __forceinline__ float part() { return ((word() >> 9) + 0.5f) * (1.0f / 8388608.0f); }
};

__device__ __forceinline__ float over_warp(float x) {
#pragma unroll
  for (int far = 16; far; far /= 2) x += __shfl_xor_sync(WHOLE_WARP, x, far);
  return x;
}

// The sum over the block, for thread 0.
__device__ __forceinline__ float over_block(float x) {
  __shared__ float of_warp[32];
  x = over_warp(x);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
  __syncthreads();
  x = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0.0f;
  if (threadIdx.x < 32) x = over_warp(x);
  __syncthreads();
  return x;
}

// ----------------------------------------------------------------------------------------------------- rows of a block

// The mean direction of each row of angles, and how much they scatter.
__global__ void mean_bearings(const float* __restrict__ angles, float2* __restrict__ out, int columns) {
  const float* row = angles + (size_t)blockIdx.x * columns;
  float east = 0.0f, north = 0.0f;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) {
    float s, c;
    __sincosf(row[j], &s, &c);
    north += s;
    east += c;
  }
  north = over_block(north);
  east = over_block(east);
  if (threadIdx.x == 0)
    out[blockIdx.x] = make_float2(atan2f(north, east), 1.0f - sqrtf(north * north + east * east) / columns);
}

// The mean difference of all pairs of a row, which lies in shared memory.
__global__ void mean_differences(const float* __restrict__ in, float* __restrict__ out, int columns) {
  extern __shared__ float row[];
  for (int j = threadIdx.x; j < columns; j += blockDim.x) row[j] = in[(size_t)blockIdx.x * columns + j];
  __syncthreads();
  float sum = 0.0f;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) {
    const float own = row[j];
    for (int other = 0; other < columns; other++) sum += fabsf(own - row[other]);
  }
  sum = over_block(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum / ((float)columns * columns);
}

// How much rain stays between the towers of each row. A thread has a strip of towers; what stands before and behind its
// strip comes from a scan of the strips in both directions.
__global__ void trapped_rain(const int* __restrict__ towers, int* __restrict__ out, int length) {
  extern __shared__ int held[];
  __shared__ int from_left[1024], from_right[1024];
  __shared__ int total;
  int *tower = held, *wall = held + length;
  for (int j = threadIdx.x; j < length; j += blockDim.x) tower[j] = towers[(size_t)blockIdx.x * length + j];
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  const int own = threadIdx.x, each = (length + blockDim.x - 1) / blockDim.x;
  const int first = min(own * each, length), end = min(first + each, length);
  int most = 0;
  for (int j = first; j < end; j++) most = max(most, tower[j]);
  from_left[own] = from_right[own] = most;
  __syncthreads();
  for (int far = 1; far < blockDim.x; far *= 2) {
    const int left = own >= far ? from_left[own - far] : 0;
    const int right = own + far < blockDim.x ? from_right[own + far] : 0;
    __syncthreads();
    from_left[own] = max(from_left[own], left);
    from_right[own] = max(from_right[own], right);
    __syncthreads();
  }
  most = own ? from_left[own - 1] : 0;
  for (int j = first; j < end; j++) wall[j] = most = max(most, tower[j]);
  most = own + 1 < blockDim.x ? from_right[own + 1] : 0;
  int rain = 0;
  for (int j = end - 1; j >= first; j--) {
    most = max(most, tower[j]);
    rain += min(most, wall[j]) - tower[j];
  }
  rain = __reduce_add_sync(WHOLE_WARP, rain);
  if (own % 32 == 0) atomicAdd(&total, rain);
  __syncthreads();
  if (own == 0) out[blockIdx.x] = total;
}

// Beams that are clamped at both ends bend under their loads: steps of a relaxation, a beam per block.
__global__ void beam_relaxation(const float* __restrict__ loads, float* __restrict__ out, int nodes, int steps) {
  extern __shared__ float bent[];
  float *now = bent, *next = bent + nodes;
  for (int j = threadIdx.x; j < nodes; j += blockDim.x) now[j] = next[j] = 0.0f;
  __syncthreads();
  for (int s = 0; s < steps; s++) {
    for (int j = threadIdx.x + 2; j < nodes - 2; j += blockDim.x) {
      const float near = now[j - 1] + now[j + 1], far = now[j - 2] + now[j + 2];
      const float rest = (4.0f * near - far + loads[(size_t)blockIdx.x * nodes + j]) * (1.0f / 6.0f);
      next[j] = now[j] + 0.7f * (rest - now[j]);
    }
    __syncthreads();
    float* other = now;
    now = next;
    next = other;
  }
  for (int j = threadIdx.x; j < nodes; j += blockDim.x) out[(size_t)blockIdx.x * nodes + j] = now[j];
}

// What a gas storage is worth, day by day from the last one: fill, hold or sell. A path of prices per block.
__global__ void storage_values(const float* __restrict__ prices, float* __restrict__ out, int days, int levels) {
  extern __shared__ float worth[];
  float *now = worth, *next = worth + levels;
  for (int l = threadIdx.x; l < levels; l += blockDim.x) now[l] = 0.0f;
  __syncthreads();
  for (int day = days - 1; day >= 0; day--) {
    const float price = prices[(size_t)blockIdx.x * days + day];
    for (int l = threadIdx.x; l < levels; l += blockDim.x) {
      float best = now[l];
      if (l + 1 < levels) best = fmaxf(best, now[l + 1] - 1.02f * price - 0.01f);
      if (l) best = fmaxf(best, now[l - 1] + 0.98f * price - 0.01f);
      next[l] = 0.9998f * best;
    }
    __syncthreads();
    float* other = now;
    now = next;
    next = other;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = now[0];
}

// Derivatives along three axes at the 6 x 6 x 6 nodes of an element, an element per block.
__global__ void nodal_derivatives(const float* __restrict__ values, const float* __restrict__ matrix,
                                  float* __restrict__ out) {
  __shared__ float u[216], d[36];
  const size_t element = blockIdx.x;
  for (int k = threadIdx.x; k < 216; k += blockDim.x) u[k] = values[216 * element + k];
  for (int k = threadIdx.x; k < 36; k += blockDim.x) d[k] = matrix[k];
  __syncthreads();
  for (int k = threadIdx.x; k < 216; k += blockDim.x) {
    const int x = k % 6, y = k / 6 % 6, z = k / 36;
    float by_x = 0.0f, by_y = 0.0f, by_z = 0.0f;
#pragma unroll
    for (int j = 0; j < 6; j++) {
      by_x += d[6 * x + j] * u[36 * z + 6 * y + j];
      by_y += d[6 * y + j] * u[36 * z + 6 * j + x];
      by_z += d[6 * z + j] * u[36 * j + 6 * y + x];
    }
    out[648 * element + k] = by_x;
    out[648 * element + 216 + k] = by_y;
    out[648 * element + 432 + k] = by_z;
  }
}

// How often two closed curves wind around each other, by Gauss's double sum; two curves per block.
__global__ void linking_numbers(const float4* __restrict__ curves, float* __restrict__ out, int points) {
  extern __shared__ float4 both[];
  for (int k = threadIdx.x; k < 2 * points; k += blockDim.x) both[k] = curves[(size_t)blockIdx.x * 2 * points + k];
  __syncthreads();
  float sum = 0.0f;
  for (int k = threadIdx.x; k < points; k += blockDim.x) {
    const float4 a = both[k], b = both[k + 1 < points ? k + 1 : 0];
    const float ax = b.x - a.x, ay = b.y - a.y, az = b.z - a.z;
    float4 p = both[points];
    for (int j = 0; j < points; j++) {
      const float4 q = both[points + (j + 1 < points ? j + 1 : 0)];
      const float bx = q.x - p.x, by = q.y - p.y, bz = q.z - p.z, x = a.x - p.x, y = a.y - p.y, z = a.z - p.z;
      const float far = rsqrtf(x * x + y * y + z * z + 0.05f);
      sum += (x * (ay * bz - az * by) + y * (az * bx - ax * bz) + z * (ax * by - ay * bx)) * far * far * far;
      p = q;
    }
  }
  sum = over_block(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum * 0.0795774715f;
}

// Counts of three letters behind each other, hashed to 1024 places; a document per block.
__global__ void trigram_profiles(const u8* __restrict__ documents, u32* __restrict__ out, int length) {
  __shared__ u32 counts[1024];
  for (int b = threadIdx.x; b < 1024; b += blockDim.x) counts[b] = 0;
  __syncthreads();
  const u8* text = documents + (size_t)blockIdx.x * length;
  for (int j = threadIdx.x; j + 2 < length; j += blockDim.x)
    atomicAdd(&counts[stirred(text[j] << 16 | text[j + 1] << 8 | text[j + 2]) & 1023], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < 1024; b += blockDim.x) out[(size_t)blockIdx.x * 1024 + b] = counts[b];
}

// How often a grey level stands `far` to the left of another one, 16 levels each; rows are dealt to blocks.
__global__ void texture_pairs(const u8* __restrict__ picture, u32* out, int width, int height, int far) {
  __shared__ u32 pairs[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) pairs[b] = 0;
  __syncthreads();
  for (int y = blockIdx.x; y < height; y += gridDim.x)
    for (int x = threadIdx.x; x + far < width; x += blockDim.x) {
      const u8* at = picture + (size_t)y * width + x;
      atomicAdd(&pairs[(at[0] & 240) | at[far] >> 4], 1);
    }
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    if (pairs[b]) atomicAdd(&out[b], pairs[b]);
}

// ----------------------------------------------------------------------------------------------------- votes and marks

// Which of eight candidates is before which on a ballot: a byte per candidate, the smaller one is better.
__global__ void pairwise_ballots(const uint2* __restrict__ ballots, u32* tally, int n) {
  __shared__ u32 wins[64];
  for (int b = threadIdx.x; b < 64; b += blockDim.x) wins[b] = 0;
  __syncthreads();
  for (int k = own_number(); k < n; k += gridDim.x * blockDim.x) {
    const uint2 w = ballots[k];
    for (int a = 0; a < 8; a++) {
      const u32 own = (a < 4 ? w.x : w.y) >> 8 * (a & 3) & 255;
      for (int b = a + 1; b < 8; b++) {
        const u32 other = (b < 4 ? w.x : w.y) >> 8 * (b & 3) & 255;
        atomicAdd(&wins[own < other ? 8 * a + b : 8 * b + a], 1);
      }
    }
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 64; b += blockDim.x)
    if (wins[b]) atomicAdd(&tally[b], wins[b]);
}

// A video engineer's scope: how often each brightness is in each column.
__global__ void video_waveform(const uchar4* __restrict__ picture, u32* scope, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const uchar4 c = picture[(size_t)y * width + x];
  atomicAdd(&scope[(54 * c.x + 183 * c.y + 19 * c.z >> 8) * width + x], 1);
}

// Neurons that fired reach their targets after a delay; a neuron per warp.
__global__ void synapse_deliveries(const int* __restrict__ starts, const int* __restrict__ targets,
                                   const u8* __restrict__ delays, const u8* __restrict__ fired, float* later, int n) {
  const int neuron = own_number() / 32;
  if (neuron >= n || fired[neuron]) return;
  for (int k = starts[neuron] + threadIdx.x % 32; k < starts[neuron + 1]; k += 32)
    atomicAdd(&later[delays[k] * n + targets[k]], 0.25f);
}

// The sums of a sparse tensor along one axis with 32 factors of the two others: an element per warp, a factor per lane.
__global__ void tensor_mode_sums(const int* __restrict__ places, const float* __restrict__ values,
                                 const float* __restrict__ b, const float* __restrict__ c, float* out, int elements) {
  const int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  for (int e = own_number() / 32; e < elements; e += warps) {
    const int i = places[3 * e], j = places[3 * e + 1], k = places[3 * e + 2];
    atomicAdd(&out[32 * i + lane], values[e] * b[32 * j + lane] * c[32 * k + lane]);
  }
}

// The highest point in each cell of a square map.
__global__ void gridded_peaks(const float4* __restrict__ points, int* peaks, int n, int side) {
  for (int k = own_number(); k < n; k += gridDim.x * blockDim.x) {
    const float4 p = points[k];
    const int x = min((int)(p.x * side), side - 1), y = min((int)(p.y * side), side - 1);
    atomicMax(&peaks[y * side + x], __float_as_int(p.z));
  }
}

// -------------------------------------------------------------------------------------------------- grids and pictures

// A step of a crystal that grows from a melt, with six arms.
__global__ void dendrite_growth(const float* __restrict__ solid, const float* __restrict__ heat,
                                float* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int left = max(x - 1, 0), right = min(x + 1, width - 1), up = max(y - 1, 0), down = min(y + 1, height - 1);
  const float own = solid[y * width + x], w = solid[y * width + left], e = solid[y * width + right];
  const float n = solid[up * width + x], s = solid[down * width + x];
  const float angle = atan2f(s - n, e - w), arms = 1.0f + 0.05f * __cosf(6.0f * angle);
  const float drive = 0.28647889f * atanf(10.0f * (1.0f - heat[y * width + x]));
  const float spread = arms * arms * (w + e + n + s - 4.0f * own);
  out[y * width + x] = own + 0.1f * (spread + own * (1.0f - own) * (own - 0.5f + drive));
}

struct Moving {
  u32 north, east, south, west;
};

// Particles that meet head on leave at right angles; a bit per cell.
__device__ __forceinline__ Moving bounced(const u32* __restrict__ gas, int plane, int at) {
  Moving m = {gas[at], gas[plane + at], gas[2 * plane + at], gas[3 * plane + at]};
  const u32 turn = (m.north & m.south & ~m.east & ~m.west) | (m.east & m.west & ~m.north & ~m.south);
  return {m.north ^ turn, m.east ^ turn, m.south ^ turn, m.west ^ turn};
}

// A step of a gas of particles on a torus: four planes of bits, by direction.
__global__ void lattice_gas_words(const u32* __restrict__ gas, u32* __restrict__ out, int words, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= words || y >= height) return;
  const int plane = words * height, at = y * words + x;
  const int above = (y ? y - 1 : height - 1) * words + x, below = (y + 1 < height ? y + 1 : 0) * words + x;
  const int left = y * words + (x ? x - 1 : words - 1), right = y * words + (x + 1 < words ? x + 1 : 0);
  const Moving own = bounced(gas, plane, at);
  out[at] = bounced(gas, plane, below).north;
  out[plane + at] = own.east << 1 | bounced(gas, plane, left).east >> 31;
  out[2 * plane + at] = bounced(gas, plane, above).south;
  out[3 * plane + at] = own.west >> 1 | bounced(gas, plane, right).west << 31;
}

__constant__ float star[5] = {-2.8472222f, 1.6f, -0.2f, 0.025396825f, -0.0017857143f};

// A step of sound in the ground, with four neighbours in each direction: a block has a tile and walks downwards, and a
// thread keeps what is above and below it in registers.
__global__ void seismic_march(const float* __restrict__ in, float* __restrict__ out, int width, int height, int depth,
                              float speed) {
  extern __shared__ float tile[];
  const int w = blockDim.x + 8, h = blockDim.y + 8, threads = blockDim.x * blockDim.y;
  const int own = threadIdx.y * blockDim.x + threadIdx.x, plane = width * height;
  const int left = blockIdx.x * blockDim.x, top = blockIdx.y * blockDim.y;
  const int x = min(left + (int)threadIdx.x, width - 1), y = min(top + (int)threadIdx.y, height - 1);
  const float* column = in + y * width + x;
  float queue[9];
#pragma unroll
  for (int j = 0; j < 8; j++) queue[j + 1] = column[min(max(j - 4, 0), depth - 1) * plane];
  for (int z = 0; z < depth; z++) {
#pragma unroll
    for (int j = 0; j < 8; j++) queue[j] = queue[j + 1];
    queue[8] = column[min(z + 4, depth - 1) * plane];
    for (int k = own; k < w * h; k += threads) {
      const int tx = min(max(left + k % w - 4, 0), width - 1), ty = min(max(top + k / w - 4, 0), height - 1);
      tile[k] = in[z * plane + ty * width + tx];
    }
    __syncthreads();
    const float* at = tile + (threadIdx.y + 4) * w + threadIdx.x + 4;
    float sum = 3.0f * star[0] * queue[4];
#pragma unroll
    for (int j = 1; j < 5; j++)
      sum += star[j] * (at[j] + at[-j] + at[j * w] + at[-j * w] + queue[4 + j] + queue[4 - j]);
    if (left + threadIdx.x < width && top + threadIdx.y < height)
      out[z * plane + y * width + x] = queue[4] + speed * sum;
    __syncthreads();
  }
}

// How strongly the surroundings of each pixel look like stripes: four filters of 7 x 7, the strongest answer.
__global__ void gabor_responses(const float* __restrict__ picture, const float4* __restrict__ bank,
                                float* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int j = -3; j <= 3; j++) {
    const float* row = picture + (size_t)min(max(y + j, 0), height - 1) * width;
#pragma unroll
    for (int i = -3; i <= 3; i++) {
      const float p = row[min(max(x + i, 0), width - 1)];
      const float4 f = bank[7 * (j + 3) + i + 3];
      sum.x += p * f.x, sum.y += p * f.y, sum.z += p * f.z, sum.w += p * f.w;
    }
  }
  out[(size_t)y * width + x] = fmaxf(fmaxf(fabsf(sum.x), fabsf(sum.y)), fmaxf(fabsf(sum.z), fabsf(sum.w)));
}

// ------------------------------------------------------------------------------------------------ physics and geometry

__device__ __forceinline__ float3 chua_slope(float3 p, float a) {
  const float bend = -0.714f * p.x - 0.2145f * (fabsf(p.x + 1.0f) - fabsf(p.x - 1.0f));
  return make_float3(a * (p.y - p.x - bend), p.x - p.y + p.z, -28.0f * p.y);
}

__device__ __forceinline__ float3 moved(float3 p, float3 slope, float by) {
  return make_float3(p.x + by * slope.x, p.y + by * slope.y, p.z + by * slope.z);
}

// Chua's circuit by Runge and Kutta's method, a circuit per thread.
__global__ void chua_circuits(const float* __restrict__ factors, float* __restrict__ out, int n, int steps, float dt) {
  const int k = own_number();
  if (k >= n) return;
  const float a = 15.0f + factors[k];
  float3 p = make_float3(0.7f, 0.0f, 0.0f);
  for (int s = 0; s < steps; s++) {
    const float3 first = chua_slope(p, a), second = chua_slope(moved(p, first, 0.5f * dt), a);
    const float3 third = chua_slope(moved(p, second, 0.5f * dt), a), fourth = chua_slope(moved(p, third, dt), a);
    p.x += dt / 6.0f * (first.x + 2.0f * (second.x + third.x) + fourth.x);
    p.y += dt / 6.0f * (first.y + 2.0f * (second.y + third.y) + fourth.y);
    p.z += dt / 6.0f * (first.z + 2.0f * (second.z + third.z) + fourth.z);
  }
  out[3 * k] = p.x, out[3 * k + 1] = p.y, out[3 * k + 2] = p.z;
}

// The height in which a meteor has burned to a hundredth of its mass, or 0: it slows down and melts in thicker air.
__global__ void meteor_trails(const float2* __restrict__ meteors, float* __restrict__ out, int n, float dt) {
  const int k = own_number();
  if (k >= n) return;
  const float2 given = meteors[k];
  float speed = 12.0f + 50.0f * given.x, mass = 0.02f + 30.0f * given.y * given.y * given.y, height = 110.0f;
  const float least = 0.01f * mass;
  while (mass > least && height > 0.0f) {
    const float air = __expf(-height * (1.0f / 7.2f)), size = cbrtf(mass);
    const float pressure = air * speed * speed * size * size;
    speed = fmaxf(speed - dt * 12.0f * pressure / mass, 3.0f);
    mass -= dt * 0.9f * pressure * speed;
    height -= dt * 0.7f * speed;
  }
  out[k] = fmaxf(height, 0.0f);
}

// The area that each circle shares with all others; tiles of circles in shared memory.
__global__ void overlap_areas(const float4* __restrict__ circles, float* __restrict__ out, int n) {
  extern __shared__ float4 near[];
  const int k = own_number();
  const float4 own = k < n ? circles[k] : make_float4(1e6f, 0.0f, 0.0f, 0.0f);
  const float a = 0.1f * fabsf(own.z) + 0.01f;
  float sum = 0.0f;
  for (int start = 0; start < n; start += blockDim.x) {
    near[threadIdx.x] = start + threadIdx.x < n ? circles[start + threadIdx.x] : own;
    __syncthreads();
    const int count = min((int)blockDim.x, n - start);
    for (int j = 0; j < count; j++) {
      const float dx = near[j].x - own.x, dy = near[j].y - own.y, b = 0.1f * fabsf(near[j].z) + 0.01f;
      const float square = dx * dx + dy * dy;
      if (square >= (a + b) * (a + b) || start + j == k) continue;
      if (square <= (a - b) * (a - b)) {
        sum += 3.14159265f * fminf(a, b) * fminf(a, b);
        continue;
      }
      const float far = sqrtf(square), u = (square + a * a - b * b) / (2.0f * far * a);
      const float v = (square + b * b - a * a) / (2.0f * far * b), s = 0.5f * (a + b + far);
      sum += a * a * acosf(u) + b * b * acosf(v) - 2.0f * sqrtf(fmaxf(s * (s - a) * (s - b) * (s - far), 0.0f));
    }
    __syncthreads();
  }
  if (k < n) out[k] = sum;
}

// How much of its view each point has filled by a surface: the sum of the solid angles of its triangles.
__global__ void solid_angles(const float4* __restrict__ corners, const float4* __restrict__ points,
                             float* __restrict__ out, int n, int triangles) {
  const int k = own_number();
  if (k >= n) return;
  const float4 p = points[k];
  float sum = 0.0f;
  for (int t = 0; t < triangles; t++) {
    float4 a = corners[3 * t], b = corners[3 * t + 1], c = corners[3 * t + 2];
    a.x -= p.x, a.y -= p.y, a.z -= p.z, b.x -= p.x, b.y -= p.y, b.z -= p.z, c.x -= p.x, c.y -= p.y, c.z -= p.z;
    const float la = sqrtf(a.x * a.x + a.y * a.y + a.z * a.z), lb = sqrtf(b.x * b.x + b.y * b.y + b.z * b.z);
    const float lc = sqrtf(c.x * c.x + c.y * c.y + c.z * c.z);
    const float volume = a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) + a.z * (b.x * c.y - b.y * c.x);
    const float ab = a.x * b.x + a.y * b.y + a.z * b.z, bc = b.x * c.x + b.y * c.y + b.z * c.z;
    const float ca = c.x * a.x + c.y * a.y + c.z * a.z;
    sum += atan2f(volume, la * lb * lc + ab * lc + bc * la + ca * lb);
  }
  out[k] = sum * 0.15915494f;
}

// The periodogram of samples at uneven times: the best sine of each frequency, a frequency per thread.
__global__ void lomb_powers(const float2* __restrict__ samples, float* __restrict__ out, int n, int count,
                            float step) {
  const int k = own_number();
  if (k >= n) return;
  const float w = step * (k + 1);
  float cc = 0.0f, ss = 0.0f, cs = 0.0f, yc = 0.0f, ys = 0.0f;
  for (int j = 0; j < count; j++) {
    const float2 sample = samples[j];
    float s, c;
    __sincosf(w * sample.x, &s, &c);
    cc += c * c, ss += s * s, cs += c * s, yc += sample.y * c, ys += sample.y * s;
  }
  out[k] = (yc * yc * ss - 2.0f * yc * ys * cs + ys * ys * cc) / (cc * ss - cs * cs);
}

// --------------------------------------------------------------------------------------------------- matrices, doubles

// Determinants of 5 x 5 matrices of doubles, one per thread.
__global__ void double_determinants(const double* __restrict__ in, double* __restrict__ out, int n) {
  const int k = own_number();
  if (k >= n) return;
  double m[5][5];
#pragma unroll
  for (int j = 0; j < 25; j++) m[j / 5][j % 5] = in[(size_t)j * n + k] + (j % 6 ? 0.0 : 4.0);
  double product = 1.0;
#pragma unroll
  for (int p = 0; p < 5; p++) {
    product *= m[p][p];
#pragma unroll
    for (int r = p + 1; r < 5; r++) {
      const double factor = m[r][p] / m[p][p];
#pragma unroll
      for (int c = p + 1; c < 5; c++) m[r][c] -= factor * m[p][c];
    }
  }
  out[k] = product;
}

// How many eigenvalues of a tridiagonal matrix are below each of many limits.
__global__ void sturm_counts(const double* __restrict__ diagonal, const double* __restrict__ beside,
                             int* __restrict__ out, int n, int size, float first, float step) {
  const int k = own_number();
  if (k >= n) return;
  const double limit = (double)first + (double)step * k;
  double ratio = diagonal[0] - limit;
  int count = ratio < 0.0;
  for (int j = 1; j < size; j++) {
    if (fabs(ratio) < 1e-200) ratio = 1e-200;
    ratio = diagonal[j] - limit - beside[j] * beside[j] / ratio;
    count += ratio < 0.0;
  }
  out[k] = count;
}

// What a pension is worth that is paid each year of a life; who is older dies sooner.
__global__ void annuity_values(const double* __restrict__ ages, double* __restrict__ out, int n, float rate) {
  const int k = own_number();
  if (k >= n) return;
  double age = 20.0 + 70.0 * ages[k], alive = 1.0, factor = 1.0, sum = 0.0;
  while (age < 110.0) {
    alive *= exp(-0.0002 - 0.00002 * exp(0.1 * age));
    factor /= 1.0 + rate;
    sum += alive * factor;
    age += 1.0;
  }
  out[k] = sum;
}

// The polynomial through a thread's points, at 0.3: Newton's divided differences in an array.
__global__ void divided_differences(const float* __restrict__ xs, const float* __restrict__ ys,
                                    float* __restrict__ out, int n, int count) {
  const int k = own_number();
  if (k >= n) return;
  float x[24], y[24];
  for (int j = 0; j < count; j++) {
    x[j] = (j + 0.6f * xs[j * n + k]) / count;
    y[j] = ys[j * n + k];
  }
  for (int level = 1; level < count; level++)
    for (int j = count - 1; j >= level; j--) y[j] = (y[j] - y[j - 1]) / (x[j] - x[j - level]);
  float value = y[count - 1];
  for (int j = count - 2; j >= 0; j--) value = value * (0.3f - x[j]) + y[j];
  out[k] = value;
}

// States of 16 x 16 numbers are mixed again and again by tensor cores; a state per warp. What a product leaves in a
// lane is what the next one wants there.
__global__ void mma_mixing(const u32* __restrict__ states, const __half* __restrict__ mixer, u32* __restrict__ out,
                           int n, int turns, float factor) {
  const int warp = own_number() / 32, group = threadIdx.x % 32 / 4, place = threadIdx.x % 4;
  if (warp >= n) return;
  u32 state[4], right[2][2];
  const u32* in = states + (size_t)warp * 128 + group * 8 + place;
#pragma unroll
  for (int j = 0; j < 4; j++) {
    state[j] = in[j % 2 * 64 + j / 2 * 4];
    const int row = 2 * place + j % 2 * 8, column = j / 2 * 8 + group;
    const __half2 two = __halves2half2(mixer[16 * row + column], mixer[16 * (row + 1) + column]);
    right[j / 2][j % 2] = reinterpret_cast<const u32&>(two);
  }
  const __half2 smaller = __float2half2_rn(factor);
  for (int t = 0; t < turns; t++) {
    u32 next[4] = {};
#pragma unroll
    for (int j = 0; j < 2; j++)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
          : "+r"(next[2 * j]), "+r"(next[2 * j + 1])
          : "r"(state[0]), "r"(state[1]), "r"(state[2]), "r"(state[3]), "r"(right[j][0]), "r"(right[j][1]));
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const __half2 two = __hmul2(reinterpret_cast<const __half2&>(next[j]), smaller);
      state[j] = reinterpret_cast<const u32&>(two);
    }
  }
#pragma unroll
  for (int j = 0; j < 4; j++) out[(size_t)warp * 128 + group * 8 + place + j % 2 * 64 + j / 2 * 4] = state[j];
}

// A product of half matrices in tiles of 64 x 64: four warps, copies of the next tiles while these are used.
__global__ void mma_tile_product(const __half* __restrict__ a, const __half* __restrict__ b, float* __restrict__ c,
                                 int n, int inner) {
  __shared__ __align__(16) __half left[2][64][40];
  __shared__ __align__(16) __half right[2][32][72];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = 64 * blockIdx.y, column = 64 * blockIdx.x, tiles = inner / 32;
  const int y = warp / 2 * 32, x = warp % 2 * 32;
  float sums[2][4][4] = {};
  for (int t = 0; t <= tiles; t++) {
    if (t < tiles)
      for (int k = threadIdx.x; k < 256; k += 128) {
        const int ly = k / 4, lx = k % 4 * 8, ry = k / 8, rx = k % 8 * 8;
        __pipeline_memcpy_async(&left[t % 2][ly][lx], a + (size_t)(row + ly) * inner + 32 * t + lx, 16);
        __pipeline_memcpy_async(&right[t % 2][ry][rx], b + (size_t)(32 * t + ry) * n + column + rx, 16);
      }
    __pipeline_commit();
    if (t == 0) continue;
    __pipeline_wait_prior(1);
    __syncthreads();
    const int at = (t - 1) % 2;
#pragma unroll
    for (int k = 0; k < 32; k += 16) {
      u32 u[2][4], v[4][2];
#pragma unroll
      for (int j = 0; j < 2; j++) {
        const u32 from = __cvta_generic_to_shared(&left[at][y + 16 * j + lane % 16][k + lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(u[j][0]), "=r"(u[j][1]), "=r"(u[j][2]), "=r"(u[j][3])
                     : "r"(from));
      }
#pragma unroll
      for (int j = 0; j < 4; j++) {
        const u32 from = __cvta_generic_to_shared(&right[at][k + lane % 16][x + 8 * j]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(v[j][0]), "=r"(v[j][1])
                     : "r"(from));
      }
#pragma unroll
      for (int j = 0; j < 8; j++) {
        float(&s)[4] = sums[j / 4][j % 4];
        const u32(&l)[4] = u[j / 4];
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
            : "r"(l[0]), "r"(l[1]), "r"(l[2]), "r"(l[3]), "r"(v[j % 4][0]), "r"(v[j % 4][1]));
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < 8; j++) {
    const float* s = sums[j / 4][j % 4];
    float* to = c + (size_t)(row + y + 16 * (j / 4) + lane / 4) * n + column + x + 8 * (j % 4) + 2 * (lane % 4);
    reinterpret_cast<float2*>(to)[0] = make_float2(s[0], s[1]);
    reinterpret_cast<float2*>(to + 8 * n)[0] = make_float2(s[2], s[3]);
  }
}

// ---------------------------------------------------------------------------------------------- tables, keys and texts

// How many words that differ from a key by one or two bits are in a set, which has a bit per word.
__global__ void bit_neighbours(const u32* __restrict__ set, const u32* __restrict__ keys, int* __restrict__ out, int n,
                               int bits) {
  const int k = own_number();
  if (k >= n) return;
  const u32 key = keys[k];
  int found = 0;
  for (int a = 0; a < bits; a++) {
    const u32 one = key ^ 1u << a;
    found += set[one >> 5] >> (one & 31) & 1;
    for (int b = 0; b < a; b++) {
      const u32 two = one ^ 1u << b;
      found += set[two >> 5] >> (two & 31) & 1;
    }
  }
  out[k] = found;
}

// The place of each key in a sorted table: guessed from the values at both ends, which then close in.
__global__ void guessed_places(const int* __restrict__ table, const int* __restrict__ keys, int* __restrict__ out,
                               int n, int size) {
  const int k = own_number();
  if (k >= n) return;
  const int key = keys[k];
  int low = 0, high = size - 1, least = table[low], most = table[high];
  if (key <= least) {
    high = 0;
  } else if (key > most) {
    high = size;
  } else {
    while (high - low > 1) {
      const float part = (float)(key - least) / (float)(most - least);
      const int guess = min(max(low + (int)(part * (high - low)), low + 1), high - 1), there = table[guess];
      if (there < key) {
        low = guess;
        least = there;
      } else {
        high = guess;
        most = there;
      }
    }
  }
  out[k] = high;
}

// How often a word of `letters` letters is in each piece of a text: what stands under its last letter tells how far
// the word can move.
__global__ void horspool_hits(const u8* __restrict__ text, const u8* __restrict__ word, int* __restrict__ out,
                              int pieces, int piece, int letters) {
  __shared__ u8 leap[256], sought[32];
  for (int c = threadIdx.x; c < 256; c += blockDim.x) {
    int far = letters;
    for (int j = 0; j + 1 < letters; j++)
      if (word[j] == c) far = letters - 1 - j;
    leap[c] = far;
  }
  if (threadIdx.x < letters) sought[threadIdx.x] = word[threadIdx.x];
  __syncthreads();
  const int k = own_number();
  if (k >= pieces) return;
  const u8* own = text + (size_t)k * piece;
  int hits = 0;
  for (int at = 0; at + letters <= piece;) {
    const u8 last = own[at + letters - 1];
    int j = letters - 1;
    if (last == sought[j])
      while (j > 0 && own[at + j - 1] == sought[j - 1]) j--;
    hits += j == 0;
    at += leap[last];
  }
  out[k] = hits;
}

__constant__ u8 days_of_month[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

__device__ __forceinline__ u32 two_digits(u32 x) { return x / 10 + '0' | (x % 10 + '0') << 8; }

// Seconds since 1970 as text: "2031-08-24 17:05:59" and a new line, twenty characters.
__global__ void stamped_times(const u32* __restrict__ seconds, u32* __restrict__ out, int n) {
  const int k = own_number();
  if (k >= n) return;
  const u32 all = seconds[k], second = all % 60, minute = all / 60 % 60, hour = all / 3600 % 24;
  u32 day = all / 86400 + 731;
  const u32 four = day / 1461;
  day %= 1461;
  const u32 later = day < 366 ? 0 : (day - 1) / 365, year = 1968 + 4 * four + later;
  if (later) day -= 365 * later + 1;
  u32 month = 0;
  while (true) {
    const u32 length = days_of_month[month] + (month == 1 && later == 0);
    if (day < length) break;
    day -= length;
    month++;
  }
  out[5 * k] = two_digits(year / 100) | two_digits(year % 100) << 16;
  out[5 * k + 1] = '-' | two_digits(month + 1) << 8 | '-' << 24;
  out[5 * k + 2] = two_digits(day + 1) | ' ' << 16 | (hour / 10 + '0') << 24;
  out[5 * k + 3] = hour % 10 + '0' | ':' << 8 | two_digits(minute) << 16;
  out[5 * k + 4] = ':' | two_digits(second) << 8 | '\n' << 24;
}

// The key of a position on a board: a random word for each piece on its square, XORed; the words in shared memory.
__global__ void zobrist_boards(const u32* __restrict__ boards, const u64* __restrict__ words, u64* __restrict__ out,
                               int n) {
  __shared__ u64 table[64 * 13];
  for (int j = threadIdx.x; j < 64 * 13; j += blockDim.x) table[j] = words[j];
  __syncthreads();
  for (int k = own_number(); k < n; k += gridDim.x * blockDim.x) {
    u64 key = 0;
#pragma unroll 4
    for (int w = 0; w < 16; w++) {
      const u32 four = boards[w * n + k];
#pragma unroll
      for (int j = 0; j < 4; j++) key ^= table[13 * (4 * w + j) + (four >> 8 * j & 255)];
    }
    out[k] = key;
  }
}

// Whether a filter may know each key: its fingerprint of a byte is in one of two buckets of four.
__global__ void fingerprint_filter(const u32* __restrict__ buckets, const u32* __restrict__ keys,
                                   u8* __restrict__ out, int n, u32 mask) {
  for (int k = own_number(); k < n; k += gridDim.x * blockDim.x) {
    const u32 h = stirred(keys[k]), print = h >> 24, four = print * 0x01010101u, first = h & mask;
    u32 same = __vcmpeq4(buckets[first], four);
    if (!same) same = __vcmpeq4(buckets[(first ^ stirred(print)) & mask], four);
    out[k] = same != 0;
  }
}

// A curve of cubic pieces at random places; four coefficients per piece.
__global__ void spline_values(const float4* __restrict__ pieces, const float* __restrict__ places,
                              float* __restrict__ out, int n, int count) {
  for (int k = own_number(); k < n; k += gridDim.x * blockDim.x) {
    const float at = places[k] * count;
    const int piece = min((int)at, count - 1);
    const float4 c = pieces[piece];
    const float t = at - piece;
    out[k] = ((c.w * t + c.z) * t + c.y) * t + c.x;
  }
}

// ---------------------------------------------------------------------------------------------------- bits and numbers

__device__ __forceinline__ u32 left_by(u32 x, int by) { return __funnelshift_l(x, x, by); }

// A message code of additions, turns and XORs, a message of several quads of words per thread.
__global__ void chaskey_macs(const uint4* __restrict__ messages, uint2* __restrict__ out, int n, int quads) {
  const int k = own_number();
  if (k >= n) return;
  u32 a = 0x9e3779b9u, b = 0x7f4a7c15u, c = 0xf39cc060u, d = 0x5cedc834u;
  for (int q = 0; q < quads; q++) {
    const uint4 m = messages[(size_t)q * n + k];
    a ^= m.x, b ^= m.y, c ^= m.z, d ^= m.w;
#pragma unroll
    for (int r = 0; r < 8; r++) {
      a += b, b = left_by(b, 5) ^ a, a = left_by(a, 16);
      c += d, d = left_by(d, 8) ^ c;
      a += d, d = left_by(d, 13) ^ a;
      c += b, b = left_by(b, 7) ^ c, c = left_by(c, 16);
    }
  }
  out[k] = make_uint2(a ^ c, b ^ d);
}

__device__ __forceinline__ u64 right_by(u64 x, int by) { return x >> by | x << (64 - by); }

// A permutation of 320 bits, as a light cipher has it: five words of 64 bits per thread, again and again.
__global__ void ascon_states(const u64* __restrict__ in, u64* __restrict__ out, int n, int turns) {
  const int k = own_number();
  if (k >= n) return;
  u64 a = in[k], b = in[n + k], c = in[2 * n + k], d = in[3 * n + k], e = in[4 * n + k];
  for (int t = 0; t < turns; t++)
    for (int r = 0; r < 12; r++) {
      c ^= 0xf0 - 15 * r;
      a ^= e, e ^= d, c ^= b;
      const u64 na = a ^ (~b & c), nb = b ^ (~c & d), nc = c ^ (~d & e), nd = d ^ (~e & a), ne = e ^ (~a & b);
      a = na ^ ne, b = nb ^ na, c = ~nc, d = nd ^ nc, e = ne;
      a ^= right_by(a, 19) ^ right_by(a, 28);
      b ^= right_by(b, 61) ^ right_by(b, 39);
      c ^= right_by(c, 1) ^ right_by(c, 6);
      d ^= right_by(d, 10) ^ right_by(d, 17);
      e ^= right_by(e, 7) ^ right_by(e, 41);
    }
  out[k] = a, out[n + k] = b, out[2 * n + k] = c, out[3 * n + k] = d, out[4 * n + k] = e;
}

__constant__ u8 width_of[16] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 60, 0, 0};

// The sum of the numbers that each word has: its top four bits say how wide they are, 0 is none.
__global__ void selector_words(const u64* __restrict__ words, u64* __restrict__ out, int n) {
  const int k = own_number();
  if (k >= n) return;
  const u64 word = words[k];
  const int width = width_of[word >> 60];
  u64 sum = 0;
  if (width) {
    const u64 mask = (1ull << width) - 1;
    for (int at = 0; at + width <= 60; at += width) sum += word >> at & mask;
  }
  out[k] = sum;
}

// How many bits each series of numbers takes if only what changes is written: the bits between leading and trailing
// zeros of the XOR with the number before.
__global__ void xor_series_bits(const u32* __restrict__ in, int* __restrict__ out, int n, int length) {
  const int k = own_number();
  if (k >= n) return;
  u32 before = in[k];
  int bits = 32, lead = 32, trail = 32;
  for (int t = 1; t < length; t++) {
    const u32 now = in[(size_t)t * n + k], change = now ^ before;
    before = now;
    if (!change) {
      bits += 1;
      continue;
    }
    const int zeros = min(__clz(change), 15), behind = __ffs(change) - 1;
    if (zeros >= lead && behind >= trail) {
      bits += 2 + 32 - lead - trail;
    } else {
      lead = zeros;
      trail = behind;
      bits += 11 + 32 - lead - trail;
    }
  }
  out[k] = bits;
}

// After how many Fibonacci numbers their remainders come again.
__global__ void pisano_periods(int* __restrict__ out, int n, int first, int span) {
  const int k = own_number();
  if (k >= n) return;
  const int m = first + k % span;
  int a = 0, b = 1, steps = 0;
  do {
    const int next = a + b >= m ? a + b - m : a + b;
    a = b;
    b = next;
    steps++;
  } while (a != 0 || b != 1);
  out[k] = steps;
}

// Which odd numbers look like primes to Fermat's test for every base: each prime divisor comes once, and one less than
// it divides one less than the number.
__global__ void korselt_flags(u8* __restrict__ out, int n, int first) {
  const int k = own_number();
  if (k >= n) return;
  const u32 whole = first + 2 * k;
  u32 left = whole;
  bool good = true;
  int divisors = 0;
  for (u32 d = 3; d * d <= left && good; d += 2)
    if (left % d == 0) {
      left /= d;
      divisors++;
      good = left % d != 0 && (whole - 1) % (d - 1) == 0;
    }
  if (left > 1) {
    good = good && (whole - 1) % (left - 1) == 0;
    divisors++;
  }
  out[k] = good && divisors > 2;
}

// How deep a fraction stands in the tree of all fractions; at most `deepest`.
__global__ void fraction_depths(const u32* __restrict__ tops, const u32* __restrict__ bottoms, u16* __restrict__ out,
                                int n, int deepest) {
  const int k = own_number();
  if (k >= n) return;
  const u32 p = tops[k] + 1, q = bottoms[k] + 1;
  u32 a = 0, b = 1, c = 1, d = 0;
  int depth = 0;
  for (; depth < deepest; depth++) {
    const u32 top = a + c, bottom = b + d, x = p * bottom, y = q * top;
    if (x == y) break;
    if (x < y)
      c = top, d = bottom;
    else
      a = top, b = bottom;
  }
  out[k] = depth;
}

// Products of polynomials of 32 coefficients modulo x^32 + 1 and 12289, a coefficient per lane.
__global__ void lane_polynomials(const int* __restrict__ a, const int* __restrict__ b, int* __restrict__ out, int n) {
  const int k = own_number(), lane = threadIdx.x % 32;
  if (k / 32 >= n) return;
  const int left = a[k], right = b[k];
  int sum = 0;
#pragma unroll 8
  for (int j = 0; j < 32; j++) {
    const int x = __shfl_sync(WHOLE_WARP, left, j), y = __shfl_sync(WHOLE_WARP, right, lane - j & 31);
    const int product = x * y % 12289;
    sum += lane >= j ? product : 12289 - product;
  }
  out[k] = sum % 12289;
}

// -------------------------------------------------------------------------------------------------- chances and stacks

// The best hand of many deals: 13 of 52 cards, four points for an ace, three for a king and so on.
__global__ void bridge_points(int* __restrict__ out, int n, int deals, u32 seed) {
  const int k = own_number();
  if (k >= n) return;
  Chance chance(k, seed);
  u8 cards[52];
  for (int c = 0; c < 52; c++) cards[c] = c;
  int best = 0;
  for (int deal = 0; deal < deals; deal++) {
    int points = 0;
    for (int c = 0; c < 13; c++) {
      const int other = c + chance.below(52 - c);
      const u8 card = cards[other];
      cards[other] = cards[c];
      cards[c] = card;
      points += max(card % 13 - 8, 0);
    }
    best = max(best, points);
  }
  out[k] = best;
}

// What a certificate pays in the mean that adds up the returns of all quarters, each of them within limits.
__global__ void cliquet_payoffs(float* __restrict__ out, int n, int paths, int quarters, float risk, u32 seed) {
  const int k = own_number();
  if (k >= n) return;
  Chance chance(k, seed);
  float paid = 0.0f;
  for (int p = 0; p < paths; p++) {
    float sum = 0.0f;
    for (int q = 0; q < quarters; q++) {
      const float far = sqrtf(-2.0f * __logf(chance.part()));
      const float draw = far * __cosf(6.2831853f * chance.part() - 3.1415927f);
      sum += fminf(fmaxf(__expf(risk * draw - 0.5f * risk * risk) - 1.0f, -0.03f), 0.05f);
    }
    paid += fmaxf(sum, 0.0f);
  }
  out[k] = paid / paths;
}

__constant__ float holdings[24] = {3.0f, -1.0f, 2.5f, 0.5f, 1.5f, -2.0f, 4.0f, 0.25f, 1.0f, 2.0f, -0.5f, 3.5f,
                                   0.75f, 1.25f, -1.5f, 2.25f, 0.5f, 1.75f, 2.75f, -0.25f, 1.0f, 3.0f, -2.5f, 0.5f};

// The change of a portfolio in each scenario, and how many scenarios lose more than a limit.
__global__ void scenario_losses(const float* __restrict__ moves, float* __restrict__ out, int* worse, int n,
                                float bend, float limit) {
  const int k = own_number();
  float change = 0.0f;
  if (k < n) {
#pragma unroll 8
    for (int a = 0; a < 24; a++) {
      const float move = moves[(size_t)a * n + k];
      change += holdings[a] * move + bend * move * move;
    }
    out[k] = change;
  }
  const int count = __syncthreads_count(k < n && change < limit);
  if (threadIdx.x == 0 && count) atomicAdd(worse, count);
}

// Ackermann's function of 2 and a number, with a stack per thread in shared memory.
__global__ void ackermann_values(const int* __restrict__ numbers, int* __restrict__ out, int n) {
  extern __shared__ u16 stacks[];
  const int k = own_number();
  if (k >= n) return;
  u16* own = stacks + threadIdx.x;
  int value = numbers[k], height = 1;
  own[0] = 2;
  while (height) {
    const int m = own[--height * blockDim.x];
    if (m == 0) {
      value++;
    } else {
      own[height++ * blockDim.x] = m - 1;
      if (value) {
        own[height++ * blockDim.x] = m;
        value--;
      } else {
        value = 1;
      }
    }
  }
  out[k] = value;
}

// Each thread sorts 24 numbers in its own row of shared memory by insertion; rows are `pitch` words apart.
__global__ void pitched_sorts(const int* __restrict__ in, int* __restrict__ out, int n, int pitch) {
  extern __shared__ int rows[];
  const int k = own_number();
  if (k >= n) return;
  int* own = rows + threadIdx.x * pitch;
  for (int j = 0; j < 24; j++) {
    const int x = in[j * n + k];
    int at = j;
    for (; at > 0 && own[at - 1] > x; at--) own[at] = own[at - 1];
    own[at] = x;
  }
  for (int j = 0; j < 24; j++) out[j * n + k] = own[j];
}

// --------------------------------------------------------------------------------------- long chains and long programs

// Roots of roots: each step waits for the one before.
__global__ void nested_radicals(const float* __restrict__ in, float* __restrict__ out, int n, int turns) {
  const int k = own_number();
  if (k >= n) return;
  float x = in[k];
  for (int t = turns; t > 0; t--) x = sqrtf(1.0f + t * x);
  out[k] = x;
}

template <int FIRST, int COUNT>
__device__ __forceinline__ u32 steps_of(u32 x) {
#pragma unroll
  for (int j = FIRST; j < FIRST + COUNT; j++)
    x = (x ^ x >> (j % 13 + 3)) * (0x9e3779b1u + 2u * 0x01f351u * j) + 77u * j;
  return x;
}

// Three times N different steps, all of them written out.
template <int N>
__global__ void spelled_out(const u32* __restrict__ in, u32* __restrict__ out, int n, int turns) {
  const int k = own_number();
  if (k >= n) return;
  u32 x = in[k];
#pragma unroll 1
  for (int t = 0; t < turns; t++) x = steps_of<2 * N, N>(steps_of<N, N>(steps_of<0, N>(x)));
  out[k] = x;
}

template <int CASE>
__device__ __noinline__ u32 one_case(u32 x) {
#pragma unroll
  for (int j = 40 * CASE; j < 40 * CASE + 40; j++) x = (x + (0x3c6ef35fu ^ 0x10dcdu * j)) * (2u * j + 1u) ^ x >> 7;
  return x;
}

// Warps run one of eight long functions after another, each in its own order.
__global__ void dispatched_cases(u32* __restrict__ out, int n, int turns) {
  const int k = own_number();
  if (k >= n) return;
  u32 x = k, order = stirred(k / 32);
  for (int t = 0; t < turns; t++) {
    switch (order & 7) {
      case 0: x = one_case<0>(x); break;
      case 1: x = one_case<1>(x); break;
      case 2: x = one_case<2>(x); break;
      case 3: x = one_case<3>(x); break;
      case 4: x = one_case<4>(x); break;
      case 5: x = one_case<5>(x); break;
      case 6: x = one_case<6>(x); break;
      default: x = one_case<7>(x);
    }
    order = stirred(order + 1);
  }
  out[k] = x;
}

// ------------------------------------------------------------------------------------------------- clusters and copies

// The nearest of all points for each query; each of four blocks holds a quarter of the points.
__global__ void __cluster_dims__(4) cluster_nearest(const float2* __restrict__ points,
                                                    const float2* __restrict__ queries, float* __restrict__ out,
                                                    int part) {
  extern __shared__ float2 own_points[];
  const auto cluster = cg::this_cluster();
  for (int j = threadIdx.x; j < part; j += blockDim.x) own_points[j] = points[cluster.block_rank() * part + j];
  cluster.sync();
  const float2 q = queries[own_number()];
  float best = 1e30f;
  for (int r = 0; r < 4; r++) {
    const float2* there = cluster.map_shared_rank(own_points, (cluster.block_rank() + r) % 4);
    for (int j = 0; j < part; j++) {
      const float2 p = there[j];
      best = fminf(best, (p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y));
    }
  }
  cluster.sync();
  out[own_number()] = sqrtf(best);
}

// Running sums of rows, each of them over eight blocks, which tell each other their totals.
__global__ void __cluster_dims__(8) cluster_running_sums(const int* __restrict__ in, int* __restrict__ out, int each) {
  __shared__ int of_warp[32];
  __shared__ int totals[8];
  const auto cluster = cg::this_cluster();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, rank = cluster.block_rank();
  cluster.sync();
  const size_t first = (size_t)blockIdx.x * each * blockDim.x + threadIdx.x * each;
  int own = 0;
  for (int j = 0; j < each; j++) own += in[first + j];
  int x = own;
  for (int far = 1; far < 32; far *= 2) {
    const int lower = __shfl_up_sync(WHOLE_WARP, x, far);
    if (lane >= far) x += lower;
  }
  if (lane == 31) of_warp[warp] = x;
  __syncthreads();
  int before = x - own, all = 0;
  for (int w = 0; w < blockDim.x / 32; w++) {
    if (w < warp) before += of_warp[w];
    all += of_warp[w];
  }
  if (threadIdx.x < 8) cluster.map_shared_rank(totals, threadIdx.x)[rank] = all;
  cluster.sync();
  for (int r = 0; r < rank; r++) before += totals[r];
  for (int j = 0; j < each; j++) out[first + j] = before += in[first + j];
}

// Bags of rows of a table of 128 columns are added up: a bag per warp; copies of the next rows are under way.
__global__ void async_bags(const float4* __restrict__ table, const int* __restrict__ places, float4* __restrict__ out,
                           int n, int each) {
  extern __shared__ float4 stages[];
  const int bag = own_number() / 32, lane = threadIdx.x % 32;
  if (bag >= n) return;
  float4* own = stages + threadIdx.x / 32 * 128 + lane;
  const int* wanted = places + (size_t)bag * each;
  for (int j = 0; j < 3; j++) {
    if (j < each) __pipeline_memcpy_async(own + 32 * j, table + (size_t)wanted[j] * 32 + lane, 16);
    __pipeline_commit();
  }
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int j = 0; j < each; j++) {
    if (j + 3 < each)
      __pipeline_memcpy_async(own + 32 * ((j + 3) % 4), table + (size_t)wanted[j + 3] * 32 + lane, 16);
    __pipeline_commit();
    __pipeline_wait_prior(3);
    const float4 v = own[32 * (j % 4)];
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
  }
  out[(size_t)bag * 32 + lane] = sum;
}

// ------------------------------------------------------------------------------------------ streams and first programs

// Particles move on by half a step of their speed, whose change is given.
__global__ void leapfrog_update(const float4* __restrict__ places, const float4* __restrict__ speeds,
                                const float4* __restrict__ pulls, float4* __restrict__ new_places,
                                float4* __restrict__ new_speeds, int n, float dt) {
  const int k = own_number();
  if (k >= n) return;
  float4 p = places[k], v = speeds[k];
  const float4 a = pulls[k];
  v.x += dt * a.x, v.y += dt * a.y, v.z += dt * a.z;
  p.x += dt * v.x, p.y += dt * v.y, p.z += dt * v.z;
  new_places[k] = p;
  new_speeds[k] = v;
}

// Which bytes are at least a limit: sixteen bytes become sixteen bits.
__global__ void byte_thresholds(const uint4* __restrict__ in, u16* __restrict__ out, int n, u32 limit) {
  for (int k = own_number(); k < n; k += gridDim.x * blockDim.x) {
    const uint4 v = in[k];
    const u32 four = limit * 0x01010101u, word[4] = {v.x, v.y, v.z, v.w};
    u32 bits = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) bits |= (__vcmpgeu4(word[j], four) & 0x08040201u) * 0x01010101u >> 24 << 4 * j;
    out[k] = bits;
  }
}

// The magnitudes of complex numbers, two per thread and turn.
__global__ void complex_magnitudes(const float4* __restrict__ in, float2* __restrict__ out, int n) {
  for (int k = own_number(); k < n; k += gridDim.x * blockDim.x) {
    const float4 v = in[k];
    out[k] = make_float2(sqrtf(v.x * v.x + v.y * v.y), sqrtf(v.z * v.z + v.w * v.w));
  }
}

// Contrast curves of pairs of half numbers, several times over.
__global__ void half_smoothsteps(const __half2* __restrict__ in, __half2* __restrict__ out, int n, int turns) {
  const int k = own_number();
  if (k >= n) return;
  const __half2 three = __float2half2_rn(3.0f), minus_two = __float2half2_rn(-2.0f);
  __half2 x = in[k];
  for (int t = 0; t < turns; t++) x = __hmul2(__hmul2(x, x), __hfma2(minus_two, x, three));
  out[k] = x;
}

// First programs.
__global__ void leap_years(const int* years, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int y = years[i];
    if (y % 400 == 0)
      out[i] = 1;
    else if (y % 100 == 0)
      out[i] = 0;
    else if (y % 4 == 0)
      out[i] = 1;
    else
      out[i] = 0;
  }
}

__global__ void hypotenuses(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double x = 0, y = 0;
  if (i < n) x = a[i], y = b[i];
  if (i < n) out[i] = sqrt(pow(x, 2.0) + pow(y, 2.0));
}
