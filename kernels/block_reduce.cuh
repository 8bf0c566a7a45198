// All-reduce over a block: CUB reduces to thread 0, and one word of shared memory gives the result to all threads.
//
// Idea     cub::BlockReduce: each warp reduces by shuffles and writes its result to shared memory, thread 0 combines
//          the results. Thread 0 then writes the result to a word, and all threads read it after a barrier.
// Traffic  Shared memory: one word per warp, and the broadcast word. Two barriers.
// Limits   block_size is a multiple of 32 and more than 32.
// Source   CUB, BlockReduce.
#pragma once

#include <cub/block/block_reduce.cuh>

// Safe to call again without a barrier between the calls. All warps write `partial` before CUB's own barrier. Thread 0
// reads it before the barrier below, so the next call may overwrite it. The next call writes `broadcast` only after its
// own first barrier, and by then every thread has read the old value. (A block of one warp would have no such
// barrier.)
template<template<typename> class Reduction, int block_size, typename Compute>
__device__ Compute block_all_reduce(Compute value) {
  static_assert(block_size > 32 && block_size % 32 == 0, "whole warps, and more than one");
  using BlockReduce = cub::BlockReduce<Compute, block_size>;
  __shared__ typename BlockReduce::TempStorage partial;
  __shared__ Compute broadcast;
  const Compute result = BlockReduce(partial).Reduce(value, Reduction<Compute>());
  if (threadIdx.x == 0) { broadcast = result; }
  __syncthreads();
  return broadcast;
}
