// One warp per row, maximum and sum in one pass: the lanes need no shared memory and no barrier.
//
// Idea     A lane keeps the maximum so far and the sum of exp(x - maximum so far). When the maximum grows, the sum is
//          multiplied by exp(old maximum - new maximum). So one pass finds what naive_row finds in two.
// Idea     At the end the lanes combine by shuffles: first the maximum, then the sums, each scaled to that maximum.
// Traffic  Global memory: each element read twice and written once. The 32 lanes read 32 neighbouring elements.
// Launch   block 128, which is 4 rows; grid ceil(rows / 4). No shared memory.
// Limits   None to the length. y may be x.
// Source   Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
#pragma once

#include "arithmetic.cuh"
#include "group_reduce.cuh"

template<typename T>
__global__ void online_warp(const T* x, T* y, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  constexpr unsigned int all_lanes = 0xffffffff;
  const int lane = threadIdx.x % 32;
  const long long row = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) { return; }  // the same for all lanes of the warp
  x += row * cols;
  y += row * cols;

  Compute lane_max = minus_infinity<Compute>();
  Compute lane_sum = 0;
  for (long long col = lane; col < cols; col += 32) {
    const Compute value = static_cast<Compute>(x[col]);
    if (value == minus_infinity<Compute>()) { continue; }  // it adds 0, and -inf - -inf would be NaN
    const Compute new_max = fmax(lane_max, value);
    lane_sum = lane_sum * exponential(lane_max - new_max) + exponential(value - new_max);
    lane_max = new_max;
  }

  const Compute row_max = group_all_reduce<Max, 32>(lane_max, all_lanes);
  const Compute row_sum = group_all_reduce<Sum, 32>(lane_sum * exponential(lane_max - row_max), all_lanes);
  for (long long col = lane; col < cols; col += 32) {
    y[col] = static_cast<T>(divide(exponential(static_cast<Compute>(x[col]) - row_max), row_sum));
  }
}
