#include "softmax_warp.cuh"

struct CapLoad {
  DirectLoad<float, float> inner;
  float cap;

  template<int pack_size>
  __device__ void load(float* destination, long long row, long long col) const {
    inner.load<pack_size>(destination, row, col);
    for (int i = 0; i < pack_size; ++i) { destination[i] = cap * tanhf(destination[i] / cap); }
  }
};

extern "C" __global__ void softmax_capped(const float* x, float* y, long long rows, long long cols) {
  softmax_rows_by_warp<float, Algorithm::softmax, 2, 2, 32, 1, true>(
      CapLoad{{x, cols}, 5.0f}, DirectStore<float, float>{y, cols}, rows, cols);
}
