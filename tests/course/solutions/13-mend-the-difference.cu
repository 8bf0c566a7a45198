__global__ void difference(const float* x, float* d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 1) d[i] = x[i + 1] - x[i];
}
