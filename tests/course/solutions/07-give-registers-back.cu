extern "C" __global__ void log_sum_exp(const float* x, float* y) {
  float largest = x[threadIdx.x];
  #pragma unroll 4
  for (int i = 1; i < 48; ++i) largest = fmaxf(largest, x[i * 256 + threadIdx.x]);
  float sum = 0;
  #pragma unroll 4
  for (int i = 0; i < 48; ++i) sum += __expf(x[i * 256 + threadIdx.x] - largest);
  y[threadIdx.x] = largest + __logf(sum);
}
