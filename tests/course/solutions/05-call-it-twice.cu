template <int call>
__device__ float block_sum(float value) {
  __shared__ float part[32];
  for (int far = 16; far; far /= 2) value += __shfl_xor_sync(0xffffffff, value, far);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (int warp = 0; warp < blockDim.x / 32; ++warp) sum += part[warp];
  return sum;
}

__global__ void normalise(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float centred = x[i] - block_sum<0>(x[i]) / blockDim.x;
  y[i] = centred * rsqrtf(block_sum<1>(centred * centred) / blockDim.x);
}
