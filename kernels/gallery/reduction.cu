// Idea: the sum of a block's elements by a tree in shared memory. The tree can pair neighbours first (interleaved:
//       strides 1, 2, 4, ... that conflict in banks) or halves first (sequential: neighbouring lanes read neighbouring
//       words), or use no shared memory for the last 32 (shuffles).
// Memory traffic: each element is read once, one sum per block is written. Launch: block 256, any grid.

enum class Order { interleaved, sequential, shuffle };

template <Order order>
__global__ void block_sum(const float* in, float* out) {
  __shared__ float partial[256];
  const int thread = threadIdx.x;
  partial[thread] = in[blockIdx.x * 256 + thread];
  __syncthreads();
  if constexpr (order == Order::interleaved) {
    for (int stride = 1; stride < 256; stride *= 2) {
      const int index = 2 * stride * thread;
      if (index < 256) partial[index] += partial[index + stride];
      __syncthreads();
    }
    if (thread == 0) out[blockIdx.x] = partial[0];
  } else if constexpr (order == Order::sequential) {
    for (int stride = 128; stride > 0; stride /= 2) {
      if (thread < stride) partial[thread] += partial[thread + stride];
      __syncthreads();
    }
    if (thread == 0) out[blockIdx.x] = partial[0];
  } else {
    if (thread < 32) {
      float sum = 0;
      for (int k = thread; k < 256; k += 32) sum += partial[k];
      for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
      if (thread == 0) out[blockIdx.x] = sum;
    }
  }
}
