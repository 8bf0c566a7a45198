#include <cooperative_groups.h>
#include "arithmetic.cuh"

namespace cg = cooperative_groups;

__device__ float block_max(float value) {
  __shared__ float part[32];
  for (int mask = 16; mask > 0; mask /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, mask));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  for (int warp = 0; warp < blockDim.x / 32; ++warp) value = fmaxf(value, part[warp]);
  return value;
}

__global__ void __cluster_dims__(4, 1, 1) row_max(const float* x, float* y, int cols) {
  __shared__ float found;
  cg::cluster_group cluster = cg::this_cluster();
  int rank = cluster.block_rank();
  x += blockIdx.x / 4 * cols;
  float largest = minus_infinity<float>();
  for (int col = rank * cols / 4 + threadIdx.x; col < (rank + 1) * cols / 4; col += blockDim.x) {
    largest = fmaxf(largest, x[col]);
  }
  largest = block_max(largest);
  if (threadIdx.x == 0) found = largest;
  cluster.sync();
  for (int block = 0; block < 4; ++block) largest = fmaxf(largest, *cluster.map_shared_rank(&found, block));
  cluster.sync();
  if (threadIdx.x == 0) y[blockIdx.x] = largest;
}
