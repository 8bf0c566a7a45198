// One block per row and one element per thread: neighbouring threads read neighbouring elements.
//
// Idea     The loads of a warp fill whole sectors, and each thread keeps its element in a register. The price is that
//          the threads must agree on the maximum and the sum. A tree in shared memory halves the values in each step.
// Traffic  Global memory: each element read once and written once. Shared memory: two trees, each with log2(block) + 2
//          barriers. In the later steps of a tree most threads only wait.
// Launch   block: the smallest power of two >= cols; grid rows; block * sizeof(compute type) bytes of dynamic shared
//          memory.
// Limits   1 to 1024 columns. y may be x.
// Source   CUDA C++ samples, "reduction": the tree in shared memory.
#pragma once

#include "arithmetic.cuh"

// Every thread gives one value and gets the reduction of all of them.
template<template<typename> class Reduction, typename Compute>
__device__ Compute tree_reduce(Compute value, Compute* shared) {
  shared[threadIdx.x] = value;
  for (unsigned int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      shared[threadIdx.x] = Reduction<Compute>()(shared[threadIdx.x], shared[threadIdx.x + half]);
    }
  }
  __syncthreads();
  const Compute result = shared[0];
  __syncthreads();  // all threads have read the result before the next tree overwrites it
  return result;
}

template<typename T>
__global__ void naive_block(const T* x, T* y, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  extern __shared__ __align__(sizeof(double)) unsigned char dynamic_shared[];
  Compute* const shared = reinterpret_cast<Compute*>(dynamic_shared);
  const long long index = blockIdx.x * cols + threadIdx.x;
  const bool in_row = threadIdx.x < cols;

  // A thread beyond the row holds -inf: it changes no maximum, and it adds exp(-inf) = 0 to the sum.
  const Compute value = in_row ? static_cast<Compute>(x[index]) : minus_infinity<Compute>();
  const Compute row_max = tree_reduce<Max>(value, shared);
  const Compute e = exponential(value - row_max);
  const Compute row_sum = tree_reduce<Sum>(e, shared);
  if (in_row) { y[index] = static_cast<T>(divide(e, row_sum)); }
}
