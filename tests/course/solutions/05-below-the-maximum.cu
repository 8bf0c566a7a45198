__global__ void below_maximum(const float* x, float* y, int n) {
  const float lowest = __int_as_float(0xff800000);  // minus infinity
  __shared__ float part[32];
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float most = lowest;
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, x[i]);
  for (int far = 16; far; far /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, far));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
  __syncthreads();
  most = threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : lowest;
  for (int far = 16; far; far /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, far));
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] - most;
}
