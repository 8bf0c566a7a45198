// The kernels of the bug clinic. Each has one bug. "// BUG" ends each line that a check has to name.
// A learner sees a kernel without these marks.

// == one-slot
__global__ void scale_rows(const float* x, const float* scale, float* y, int rows) {
  __shared__ float slot;
  for (int row = 0; row < rows; ++row) {
    if (threadIdx.x == 0) slot = scale[row];  // BUG
    __syncthreads();
    y[row * 64 + threadIdx.x] = x[row * 64 + threadIdx.x] * slot;  // BUG
  }
}

// == tile-in-use
__global__ void mirror_sum(const float* x, float* y, int tiles) {
  __shared__ float tile[64];
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    tile[threadIdx.x] = x[k * 64 + threadIdx.x];  // BUG
    __syncthreads();
    sum += tile[63 - threadIdx.x];  // BUG
  }
  y[threadIdx.x] = sum;
}

// == one-tile-too-far
// It fetches tiles ahead, into a ring of three, and waits once per tile.
__global__ void ring_sum(const float* x, float* y, int tiles) {
  __shared__ float ring[3][64];
  float sum = 0;
  int fetched = 0;
  for (int k = 0; k < tiles; ++k) {
    for (; fetched <= k + 2 && fetched < tiles; ++fetched)
      ring[fetched % 3][threadIdx.x] = x[fetched * 64 + threadIdx.x];  // BUG
    __syncthreads();
    sum += ring[k % 3][63 - threadIdx.x];  // BUG
  }
  y[threadIdx.x] = sum;
}

// == used-again
__global__ void softmax(const float* x, float* y) {
  __shared__ float part[2];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float v = x[threadIdx.x], most = v;
  for (int far = 16; far; far /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, far));
  if (lane == 0) part[warp] = most;
  __syncthreads();
  most = fmaxf(part[0], part[1]);  // BUG
  float e = expf(v - most), sum = e;
  for (int far = 16; far; far /= 2) sum += __shfl_xor_sync(0xffffffff, sum, far);
  if (lane == 0) part[warp] = sum;  // BUG
  __syncthreads();
  y[threadIdx.x] = e / (part[0] + part[1]);
}

// == four-slots-32-lanes
__global__ void block_sum(const float* x, float* total) {
  __shared__ float part[4];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float v = x[threadIdx.x];
  for (int far = 16; far; far /= 2) v += __shfl_xor_sync(0xffffffff, v, far);
  if (lane == 0) part[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = part[lane];  // BUG
    for (int far = 16; far; far /= 2) v += __shfl_xor_sync(0xffffffff, v, far);
    if (lane == 0) *total = v;
  }
}

// == last-warp
// "A warp runs in lock step, so its last steps need no barrier."
__global__ void tree_sum(const float* x, float* total) {
  __shared__ float part[64];
  int t = threadIdx.x;
  part[t] = x[t];
  __syncthreads();
  if (t < 32) {
    for (int far = 32; far; far /= 2)
      part[t] += part[t + far];  // BUG
    if (t == 0) *total = part[0];
  }
}

// == bins-not-clear
__global__ void histogram(const int* x, int* bins, int n) {
  __shared__ int mine[16];
  int t = threadIdx.x;
  if (t < 16) mine[t] = 0;  // BUG
  for (int i = t; i < n; i += 64) atomicAdd(&mine[x[i] % 16], 1);  // BUG
  __syncthreads();
  if (t < 16) bins[t] = mine[t];
}

// == last-block
__global__ void grid_sum(const float* x, float* part, unsigned* arrived, float* total) {
  __shared__ bool last;
  float v = x[blockIdx.x * 32 + threadIdx.x];
  for (int far = 16; far; far /= 2) v += __shfl_xor_sync(0xffffffff, v, far);
  if (threadIdx.x == 0) {
    part[blockIdx.x] = v;  // BUG
    last = atomicAdd(arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += part[b];  // BUG
    *total = sum;
  }
}

// == flag-too-early
// Block 0 makes numbers, block 1 waits for its flag and takes them.
__global__ void hand_over(const float* x, float* between, int* ready, float* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    between[t] = 2 * x[t];  // BUG
    __syncthreads();
    if (t == 0) atomicExch(ready, 1);
  } else {
    if (t == 0) while (atomicAdd(ready, 0) == 0) {}
    __syncthreads();
    y[t] = between[63 - t];  // BUG
  }
}

// == smooth-in-place
__global__ void smooth(float* a, int n) {
  int i = threadIdx.x;
  if (i > 0 && i < n - 1)
    a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;  // BUG
}

// == same-array-twice
// A caller may pass one array as x and as y.
__global__ void with_right_neighbour(const float* x, float* y) {
  int i = threadIdx.x;
  y[i] = x[i] + x[(i + 1) % 128];  // BUG
}

// == barrier-for-some
// The first n numbers, the last one first, and zeros behind them; then all 64 the other way round.
__global__ void turn(const float* x, float* y, int n) {
  __shared__ float part[64];
  int t = threadIdx.x;
  float v = 0;
  if (t < n) {
    part[t] = x[t];
    __syncthreads();  // BUG
    v = part[n - 1 - t];
  }
  __syncthreads();  // BUG
  part[t] = v;
  __syncthreads();
  y[t] = part[63 - t];
}

// == uneven-loop
__global__ void largest_step(const float* x, float* most, int n) {
  __shared__ float tile[64];
  int t = threadIdx.x;
  float largest = 0;
  for (int i = t; i < n; i += 64) {
    tile[t] = x[i];
    __syncthreads();  // BUG
    largest = fmaxf(largest, fabsf(tile[t] - tile[t ^ 1]));
    __syncthreads();
  }
  tile[t] = largest;
  __syncthreads();  // BUG
  most[t] = fmaxf(largest, tile[63 - t]);
}

// == lanes-that-stayed-away
__global__ void warp_sum(const float* x, float* total, int n) {
  int lane = threadIdx.x;
  float v = 0;
  if (lane < n) {
    v = x[lane];
    for (int far = 16; far; far /= 2) v += __shfl_xor_sync(0xffffffff, v, far);  // BUG
  }
  if (lane == 0) *total = v;
}

// == mask-of-the-tail
__global__ void differences(const float* x, float* d, int n) {
  int i = threadIdx.x;
  unsigned some = __ballot_sync(0xffffffff, i + 1 < n);
  if (i < n) {
    float v = x[i], right = __shfl_down_sync(some, v, 1);  // BUG
    if (i + 1 < n) d[i] = right - v;
  }
}

// == one-past-the-end
__global__ void square(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = x[i] * x[i];  // BUG
}

// == slots-of-nobody
#include <cmath>
__global__ void block_maximum(const float* x, float* most) {
  __shared__ float part[32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float v = x[threadIdx.x];
  for (int far = 16; far; far /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, far));
  if (lane == 0) part[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = part[lane];  // BUG
    for (int far = 16; far; far /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, far));
    if (lane == 0) *most = v;
  }
}

// == halo-of-one-side
__global__ void blur(const float* x, float* y) {
  __shared__ float tile[65];
  int t = threadIdx.x;
  tile[t + 1] = x[t];
  if (t == 0) tile[0] = x[0];
  if (t == 63) tile[65] = x[63];  // BUG
  __syncthreads();
  y[t] = tile[t] / 4 + tile[t + 1] / 2 + tile[t + 2] / 4;
}

// == four-at-once
__global__ void copy_rows(const float* x, float* y, int cols) {
  const float* from = x + blockIdx.x * cols;
  float* to = y + blockIdx.x * cols;
  for (int k = threadIdx.x; k < cols / 4; k += 32)
    ((float4*)to)[k] = ((const float4*)from)[k];  // BUG
  for (int k = cols / 4 * 4 + threadIdx.x; k < cols; k += 32) to[k] = from[k];
}

// == exp-of-a-hundred
__global__ void softmax_of_a_warp(const float* x, float* y) {
  float v = x[blockIdx.x * 32 + threadIdx.x];
  float e = expf(v);  // BUG
  float sum = e;
  for (int far = 16; far; far /= 2) sum += __shfl_xor_sync(0xffffffff, sum, far);
  y[blockIdx.x * 32 + threadIdx.x] = e / sum;
}

// == row-of-minus-infinity
#include <cmath>
// A masked number is minus infinity. A row may be masked as a whole; its softmax is 0. A NaN that comes in stays NaN.
__global__ void masked_softmax(const float* x, float* y) {
  float v = x[blockIdx.x * 32 + threadIdx.x];
  float most = v;
  for (int far = 16; far; far /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, far));
  float e = expf(v - most);  // BUG
  float sum = e;
  for (int far = 16; far; far /= 2) sum += __shfl_xor_sync(0xffffffff, sum, far);
  y[blockIdx.x * 32 + threadIdx.x] = e / sum;
}

// == sum-in-half
#include <cuda_fp16.h>
__global__ void column_sums(const __half* x, float* sums, int rows) {
  __half sum = __float2half(0);
  for (int row = 0; row < rows; ++row)
    sum = __hadd(sum, x[row * 32 + threadIdx.x]);  // BUG
  sums[threadIdx.x] = __half2float(sum);
}

// == down-the-columns
__global__ void transpose(const float* x, float* y) {
  __shared__ float tile[32][32];
  int lane = threadIdx.x, warp = threadIdx.y;
  for (int k = warp; k < 32; k += 4) tile[k][lane] = x[k * 32 + lane];
  __syncthreads();
  for (int k = warp; k < 32; k += 4) y[k * 32 + lane] = tile[lane][k];  // BUG
}

// == a-piece-for-each-thread
__global__ void twice(const float* x, float* y) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  #pragma unroll 1
  for (int k = 0; k < 8; ++k) y[first + k] = 2 * x[first + k];  // BUG
}

// == everybody-adds
__global__ void count_positive(const float* x, int* count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&count[i % 2], x[i] > 0);  // BUG
}
