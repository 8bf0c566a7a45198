// Idea: a block divides a row by its sum, so every thread needs the sum of all threads. There are four ways: one thread
//       adds up what the others wrote to shared memory; a tree, with half of the threads in each step; shuffles within
//       the warps, then one warp for the warps' sums; and the all-reduce of the softmax kernels, the third way by CUB.
// Memory traffic: each element is read twice (the second time from a cache, mostly) and written once. Launch: block
//       block_size, a power of two from 64 to 1024; one block per row.
#include "arithmetic.cuh"
#include "block_reduce.cuh"

enum class Way { serial, tree, shuffles, block_all_reduce };

template <Way way, int block_size>
__device__ float block_sum(float value) {
  if constexpr (way == Way::block_all_reduce) {
    return block_all_reduce<Sum, block_size>(value);
  } else {
    __shared__ float part[block_size];
    __shared__ float total;
    const int thread = threadIdx.x;
    if constexpr (way == Way::serial) {
      part[thread] = value;
      __syncthreads();
      if (thread == 0) {
        float sum = 0;
#pragma unroll 1
        for (int k = 0; k < block_size; ++k) { sum += part[k]; }
        total = sum;
      }
    } else if constexpr (way == Way::tree) {
      part[thread] = value;
#pragma unroll 1
      for (int stride = block_size / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (thread < stride) { part[thread] += part[thread + stride]; }
      }
      if (thread == 0) { total = part[0]; }
    } else {
      for (int far = 16; far > 0; far /= 2) { value += __shfl_xor_sync(0xffffffff, value, far); }
      if (thread % 32 == 0) { part[thread / 32] = value; }
      __syncthreads();
      if (thread < 32) {
        value = thread < block_size / 32 ? part[thread] : 0;
        for (int far = 16; far > 0; far /= 2) { value += __shfl_xor_sync(0xffffffff, value, far); }
        if (thread == 0) { total = value; }
      }
    }
    __syncthreads();
    return total;
  }
}

template <Way way, int block_size>
__global__ void divide_by_sum(const float* x, float* y, int cols) {
  x += blockIdx.x * static_cast<long long>(cols);
  y += blockIdx.x * static_cast<long long>(cols);
  float sum = 0;
#pragma unroll 1
  for (int col = threadIdx.x; col < cols; col += block_size) { sum += x[col]; }
  sum = block_sum<way, block_size>(sum);
#pragma unroll 1
  for (int col = threadIdx.x; col < cols; col += block_size) { y[col] = divide(x[col], sum); }
}
