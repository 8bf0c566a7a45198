// Idea: a block sorts 256 keys in shared memory by compare-and-exchange at distances that are powers of two.
// Memory traffic: each key is read once and written once. Launch: block 256, any grid; each block sorts its own keys.

__global__ void bitonic_sort(const float* in, float* out) {
  __shared__ float keys[256];
  const int thread = threadIdx.x;
  keys[thread] = in[blockIdx.x * 256 + thread];
  __syncthreads();
  for (int size = 2; size <= 256; size *= 2) {
    for (int distance = size / 2; distance > 0; distance /= 2) {
      const int partner = thread ^ distance;
      if (partner > thread) {
        const bool ascending = (thread & size) == 0;
        const float mine = keys[thread];
        const float other = keys[partner];
        if ((mine > other) == ascending) {
          keys[thread] = other;
          keys[partner] = mine;
        }
      }
      __syncthreads();
    }
  }
  out[blockIdx.x * 256 + thread] = keys[thread];
}
