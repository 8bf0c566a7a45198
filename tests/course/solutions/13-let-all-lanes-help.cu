__global__ void add_up(const float* x, float* total) {
  __shared__ float part[8];
  float sum = 0;
  for (int i = threadIdx.x; i < 4096; i += 256) sum += x[i];
  for (int far = 16; far; far /= 2) sum += __shfl_xor_sync(0xffffffff, sum, far);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < 8 ? part[threadIdx.x] : 0;
    for (int far = 4; far; far /= 2) sum += __shfl_xor_sync(0xffffffff, sum, far);
    if (threadIdx.x == 0) *total = sum;
  }
}
