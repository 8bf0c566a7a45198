extern "C" __global__ void copy(const float* x, float* y) {
  for (int i = 0; i < 4; ++i) {
    int k = i * 256 + threadIdx.x;
    y[k] = x[k];
  }
}
