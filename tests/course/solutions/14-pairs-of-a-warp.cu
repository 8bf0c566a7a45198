#include "arithmetic.cuh"

__device__ float weight(float from, float to) { return from == to ? 1.0f : __expf(from - to); }

__global__ void statistic(const float* x, float* y, int cols) {
  x += static_cast<long long>(blockIdx.x) * cols;
  float largest = minus_infinity<float>(), sum = 0;
  for (int col = threadIdx.x; col < cols; col += 32) {
    float value = x[col];
    float larger = fmaxf(largest, value);
    sum = sum * weight(largest, larger) + (value == minus_infinity<float>() ? 0.0f : __expf(value - larger));
    largest = larger;
  }
  for (int mask = 16; mask > 0; mask /= 2) {
    float other_largest = __shfl_xor_sync(0xffffffff, largest, mask);
    float other_sum = __shfl_xor_sync(0xffffffff, sum, mask);
    float larger = fmaxf(largest, other_largest);
    sum = sum * weight(largest, larger) + other_sum * weight(other_largest, larger);
    largest = larger;
  }
  if (threadIdx.x == 0) {
    y[2 * blockIdx.x] = largest;
    y[2 * blockIdx.x + 1] = sum;
  }
}
