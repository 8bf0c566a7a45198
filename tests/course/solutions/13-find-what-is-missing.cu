__global__ void turn(const float* x, float* t) {
  __shared__ float part[256];
  int first = blockIdx.x * 256;
  part[threadIdx.x] = x[first + threadIdx.x];
  __syncthreads();
  t[first + threadIdx.x] = part[255 - threadIdx.x];
}
