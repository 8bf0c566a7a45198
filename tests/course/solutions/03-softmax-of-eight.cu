extern "C" __global__ void softmax8(const float* x, float* y, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
  if (row >= rows) return;
  unsigned int lanes = 0xffu << (threadIdx.x / 8 * 8 % 32);
  int i = row * 8 + threadIdx.x % 8;
  float v = x[i];
  float largest = v;
  for (int mask = 4; mask > 0; mask /= 2) largest = fmaxf(largest, __shfl_xor_sync(lanes, largest, mask));
  float e = __expf(v - largest);
  float sum = e;
  for (int mask = 4; mask > 0; mask /= 2) sum += __shfl_xor_sync(lanes, sum, mask);
  y[i] = e / sum;
}
