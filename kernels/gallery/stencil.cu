// Idea: out[k] = sum of in[k - 3 .. k + 3]; shared memory keeps a block's elements and three more on each side.
// Memory traffic: each element is read 1 + 6 / 128 times and written once. Launch: block 128, n / 128 blocks.

constexpr int kRadius = 3;

__global__ void stencil(const float* in, float* out, int n) {
  __shared__ float window[128 + 2 * kRadius];
  const int k = blockIdx.x * 128 + threadIdx.x;
  window[threadIdx.x + kRadius] = in[k];
  if (threadIdx.x < kRadius) {
    window[threadIdx.x] = k >= kRadius ? in[k - kRadius] : 0.0f;
    window[threadIdx.x + 128 + kRadius] = k + 128 < n ? in[k + 128] : 0.0f;
  }
  __syncthreads();
  float sum = 0;
  for (int offset = -kRadius; offset <= kRadius; ++offset) sum += window[threadIdx.x + kRadius + offset];
  out[k] = sum;
}
