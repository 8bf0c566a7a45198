// Lanes of a warp: shuffles and votes with masks, exchange through shared memory, warps with roles of their own.
#include "algorithm.cuh"
#include "group_reduce.cuh"

// Sum of each block; lanes beyond the end have left before, and nobody reads them. Any block size.
extern "C" __global__ void sum_with_a_mask(const float* x, float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned int mask = __ballot_sync(0xffffffff, i < n);
  if (i >= n) return;
  float sum = 0;
  for (unsigned int left = mask; left != 0; left &= left - 1) {
    sum += __shfl_sync(mask, x[i], __ffs(left) - 1);
  }
  if (threadIdx.x % 32 == 0) atomicAdd(&sums[blockIdx.x], sum);
}

// All lanes come; those that have no element add nothing.
extern "C" __global__ void maximum_of_rows(const float* x, float* y, int columns) {
  float most = -1e30f;
  for (int column = threadIdx.x; column < columns; column += 32) {
    most = fmaxf(most, x[(blockIdx.x * blockDim.y + threadIdx.y) * columns + column]);
  }
  const unsigned int everyone = 0xffffffff;
  for (int mask = 16; mask > 0; mask /= 2) {
    most = fmaxf(most, __shfl_xor_sync(everyone, most, mask));
  }
  if (threadIdx.x == 0) y[blockIdx.x * blockDim.y + threadIdx.y] = most;
}

// Sums of groups of eight lanes by the shipped header. Block (8, 12): three warps.
extern "C" __global__ void sums_of_groups(const float* x, float* y) {
  const int group = blockIdx.x * blockDim.y + threadIdx.y;
  const float value = x[group * 8 + threadIdx.x];
  const unsigned int lanes = group_lanes<8>();
  float sum = value;
  if (threadIdx.y % 3 != 1) {
    sum = group_all_reduce<Sum, 8>(value, lanes);
  }
  y[group * 8 + threadIdx.x] = sum;
}

// Each half of the warp turns its elements around by itself.
extern "C" __global__ void reverse_halves(const int* x, int* y) {
  const int thread = threadIdx.x;
  int value = x[blockIdx.x * blockDim.x + thread];
  if (thread % 32 < 16) {
    value = __shfl_xor_sync(0x0000ffff, value, 15);
  } else {
    value = -__shfl_xor_sync(0xffff0000, value, 15);
  }
  y[blockIdx.x * blockDim.x + thread] = value;
}

// The lanes with an odd element agree on how many they are.
extern "C" __global__ void count_odd(const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool odd = x[i] % 2 != 0;
  const unsigned int mask = __ballot_sync(0xffffffff, odd);
  int result = 0;
  if (odd) {
    const unsigned int same = __match_any_sync(mask, x[i]);
    result = __popc(same) * 100;
    result += __popc(__ballot_sync(mask, true));
  }
  y[i] = result;
}

// A stage of each warp's own: no barrier of the block, __syncwarp between writing and reading.
extern "C" __global__ void turn_in_warps(const float* x, float* y, int rounds) {
  __shared__ float stage[96];
  const int thread = threadIdx.x;
  const int lane = thread % 32;
  float* mine = stage + thread / 32 * 32;
  float value = x[blockIdx.x * 96 + thread];
  for (int k = 0; k < rounds; ++k) {
    mine[lane] = value;
    __syncwarp();
    value = mine[(lane + 1) % 32] + 1;
    __syncwarp();
  }
  y[blockIdx.x * 96 + thread] = value;
}

// Warp 0 fetches tiles of 32, warp 1 works on them; named barriers 1 (full) and 2 (empty) between the two.
extern "C" __global__ void producer_and_consumer(const float* x, float* y, int tiles) {
  __shared__ float tile[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int k = 0; k < tiles; ++k) {
      if (k > 0) asm volatile("bar.sync 2, 64;" ::: "memory");
      tile[lane] = x[k * 32 + lane];
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    }
  } else {
    for (int k = 0; k < tiles; ++k) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      y[k * 32 + lane] = 2 * tile[31 - lane];
      if (k + 1 < tiles) asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  }
}
