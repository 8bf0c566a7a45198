#include "pack.cuh"
#include <cuda_fp16.h>

extern "C" __global__ void add(const __half* a, const __half* b, __half* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 8) {
    Pack<__half, 8> left, right, sum;
    left.word = reinterpret_cast<const uint4*>(a)[i];
    right.word = reinterpret_cast<const uint4*>(b)[i];
    for (int k = 0; k < 8; ++k) sum.elem[k] = left.elem[k] + right.elem[k];
    reinterpret_cast<uint4*>(c)[i] = sum.word;
  }
}
