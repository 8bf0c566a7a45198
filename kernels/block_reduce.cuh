// All-reduce over a block: CUB reduces to thread 0, one word of shared memory tells everyone.
//
// Idea     Each warp reduces by shuffles, the warps' results meet in shared memory, thread 0 combines them (all that is
//          cub::BlockReduce). Thread 0 then writes the result to a word that every thread reads after a barrier.
// Traffic  Shared memory: one word a warp, and the broadcast word. Two barriers.
// Limits   block_size is a multiple of 32 and more than 32.
// Source   CUB, BlockReduce.
#pragma once

#include <cub/block/block_reduce.cuh>

// Safe to call again without a barrier between the calls. `partial` is written before CUB's own barrier and read by
// thread 0 before the barrier below, so the next call finds it free. `broadcast` is written after the *next* call's
// first barrier at the earliest, and by then every thread has read it. (A block of one warp would have no such
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
