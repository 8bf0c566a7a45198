extern "C" __global__ void log_sum_exp(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float largest = -3.4e38f, sum = 0;
  for (int i = 0; i < cols; ++i) {
    float v = x[row * cols + i];
    float larger = fmaxf(largest, v);
    sum = sum * __expf(largest - larger) + __expf(v - larger);
    largest = larger;
  }
  y[row] = largest + __logf(sum);
}
