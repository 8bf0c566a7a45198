// All-reduce over a group of lanes: a butterfly of shuffles, no shared memory, no barrier.
//
// Idea     In each step a lane combines its value with that of the lane whose number differs in one bit. After
//          log2(width) steps every lane holds the result of all lanes, so nothing must be sent back.
// Traffic  None: shuffles move registers between the lanes of a warp.
// Limits   A group is 1, 2, 4, 8, 16 or 32 neighbouring lanes of one warp.
// Source   CUDA C++ Programming Guide, "Warp Shuffle Functions".
#pragma once

// The lanes of this thread's group, one bit each, in a block of shape (thread_group_width, groups). A shuffle names the
// lanes that take part: only its own group, because another group of the warp may have no rows left.
template<int thread_group_width>
__device__ unsigned int group_lanes() {
  static_assert(thread_group_width >= 1 && thread_group_width <= 32, "a group lies within a warp");
  static_assert((thread_group_width & (thread_group_width - 1)) == 0, "the butterfly needs a power of two");
  if constexpr (thread_group_width == 32) {
    return 0xffffffff;
  } else {
    const unsigned int first_lane = threadIdx.y * thread_group_width % 32;
    return ((1u << thread_group_width) - 1) << first_lane;
  }
}

template<template<typename> class Reduction, int thread_group_width, typename Compute>
__device__ Compute group_all_reduce(Compute value, unsigned int lanes) {
#pragma unroll
  for (int mask = thread_group_width / 2; mask > 0; mask /= 2) {
    value = Reduction<Compute>()(value, __shfl_xor_sync(lanes, value, mask));
  }
  return value;
}
