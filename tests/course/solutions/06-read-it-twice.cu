__device__ float block_max(float value) {
  __shared__ float part[32];
  for (int far = 16; far; far /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, far));
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  for (int warp = 0; warp < blockDim.x / 32; ++warp) value = fmaxf(value, part[warp]);
  return value;
}

__device__ float block_sum(float value) {
  __shared__ float part[32];
  for (int far = 16; far; far /= 2) value += __shfl_xor_sync(0xffffffff, value, far);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (int warp = 0; warp < blockDim.x / 32; ++warp) sum += part[warp];
  return sum;
}

__global__ void softmax(const float* x, float* y, int cols) {
  x += blockIdx.x * cols;
  y += blockIdx.x * cols;
  float most = -3.4e38f;
  float sum = 0;
  for (int col = threadIdx.x; col < cols; col += blockDim.x) {
    float larger = fmaxf(most, x[col]);
    sum = sum * __expf(most - larger) + __expf(x[col] - larger);
    most = larger;
  }
  float row_max = block_max(most);
  float row_sum = block_sum(sum * __expf(most - row_max));
  for (int col = threadIdx.x; col < cols; col += blockDim.x) y[col] = __expf(x[col] - row_max) / row_sum;
}
