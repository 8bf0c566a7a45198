extern "C" __global__ void log_sum_exp(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* mine = x + row * cols;
  float largest = mine[0];
  for (int i = 1; i < cols; ++i) largest = fmaxf(largest, mine[i]);
  float sum = 0;
  for (int i = 0; i < cols; ++i) sum += __expf(mine[i] - largest);
  y[row] = largest + __logf(sum);
}
