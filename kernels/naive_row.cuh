// The first idea: one thread per row, with the formula written down directly.
//
// Idea     Three loops over the row: find the maximum, add up the exponentials, write the quotients. Threads share
//          nothing, so there is no shuffle, no shared memory and no barrier.
// Traffic  Global memory: each element read three times and written once. Neighbouring threads read elements that are a
//          whole row apart, so one request of a warp touches up to 32 sectors and uses 2 to 8 bytes of each.
// Launch   block 128; grid ceil(rows / 128). No shared memory.
// Limits   None to the length. y may be x.
// Source   The definition of softmax, with the maximum subtracted: see algorithm.cuh.
#pragma once

#include "arithmetic.cuh"

template<typename T>
__global__ void naive_row(const T* x, T* y, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) { return; }
  x += row * cols;
  y += row * cols;

  Compute row_max = minus_infinity<Compute>();
  for (long long col = 0; col < cols; ++col) { row_max = fmax(row_max, static_cast<Compute>(x[col])); }

  Compute row_sum = 0;
  for (long long col = 0; col < cols; ++col) { row_sum += exponential(static_cast<Compute>(x[col]) - row_max); }

  for (long long col = 0; col < cols; ++col) {
    y[col] = static_cast<T>(divide(exponential(static_cast<Compute>(x[col]) - row_max), row_sum));
  }
}
