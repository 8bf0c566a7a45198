// Rows of any length: two reads, never three.
//
// Idea     A row that nothing on the chip can keep must be read again, but only once. One pass finds maximum and sum
//          together: when a larger maximum comes, the sum so far is scaled down. softmax_block_uncached reads three
//          times.
// Idea     The second read goes backwards. It starts with the elements that were read last and are still in the L2
//          cache.
// Traffic  Global memory: each element read twice and written once; the caches serve some of the second read. A row of
//          one chunk (packs * block_size packs per block) is read once.
// Launch   block block_size, in clusters of `cluster` blocks along x; any grid that is a multiple of `cluster`.
// Limits   A row has less than 2^31 packs. sm_90, or any architecture with cluster = 1. `unaligned`: as in
//          fast_warp.cuh.
// Source   Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
#pragma once

#include "exact_operator.cuh"
#include "fast_launch.cuh"
#include "fast_row.cuh"

template<class Operator, int pack_size, int packs, int block_size, int cluster, bool unaligned, typename T>
__device__ void fast_stream_rows(
    const T* const (&source)[Operator::inputs], T* target, long long rows, long long cols) {
  constexpr int chunk = packs * block_size;
  const Exchange<Operator, block_size, cluster> blocks;
  RowFragment<Operator, pack_size, packs, block_size, unaligned> fragment;

  blocks.cluster_arrive();
  follow_previous_kernel();
  blocks.cluster_wait();
  int iteration = 0;
  for (long long row = blockIdx.x / cluster; row < rows; row += gridDim.x / cluster, ++iteration) {
    const ThreadSlice whole =
        thread_slice<pack_size, unaligned>(source[0], row, rows, cols, threadIdx.x, blockIdx.x % cluster, cluster);
    const int length = whole.stop - (whole.first - static_cast<int>(threadIdx.x));
    const int chunks = max(1, (length + chunk - 1) / chunk);
    // Head and tail belong to the first chunk.
    const auto slice_of_chunk = [&](int which) {
      ThreadSlice slice = whole;
      slice.first += which * chunk;
      slice.first_head_tail = which == 0 ? whole.first_head_tail : whole.head_tail;
      return slice;
    };

    if constexpr (Operator::exact) {
      // Three passes: the maximum, the sum, the results. Each begins where the one before ended.
      constexpr int partials = decltype(blocks)::partials;
      using Statistic = typename Operator::Statistic;
      auto bound = Operator::no_bound();
      for (int which = 0; which < chunks; ++which) {
        fragment.load(slice_of_chunk(which), source);
        bound = larger_of<true>(bound, Operator::largest_term(fragment));
      }
      bound = reduce_lanes<MaxOrNaN, 32>(bound);
      bound = Operator::template merge_bounds<partials>(blocks.gather(Statistic::of(bound), 2 * iteration));
      typename Operator::Total total{};
      for (int which = chunks - 1; which >= 0; --which) {
        if (which != chunks - 1) { fragment.load(slice_of_chunk(which), source); }
        total += Operator::total_of(fragment, bound);
      }
      total = Operator::template reduce_lanes_of_total<32>(total);
      total = Operator::template merge_totals<partials>(blocks.gather(Statistic::of(total), 2 * iteration + 1));
      const typename Operator::Result result({bound, total});
      for (int which = 0; which < chunks; ++which) {
        const ThreadSlice slice = slice_of_chunk(which);
        if (which != 0) { fragment.load(slice, source); }
        fragment.store(slice, target, result);
      }
    } else {
      auto thread = Operator::identity();
      for (int which = 0; which < chunks; ++which) {
        fragment.load(slice_of_chunk(which), source);
        Operator::add(thread, fragment);
      }
      const auto warp = Operator::reduce_warp(thread);
      const auto all = blocks.exchange(warp, iteration);
      const typename Operator::Result result(all, all);
      for (int which = chunks - 1; which >= 0; --which) {
        const ThreadSlice slice = slice_of_chunk(which);
        if (which != chunks - 1) { fragment.load(slice, source); }
        fragment.store(slice, target, result);
      }
    }
  }
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, int cluster, bool unaligned>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size)
    fast_stream(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  fast_stream_rows<Forward<T, algorithm, false>, pack_size, packs, block_size, cluster, unaligned>(
      source, y, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, int cluster, bool unaligned>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size)
    fast_stream_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  fast_stream_rows<Backward<T, algorithm>, pack_size, packs, block_size, cluster, unaligned>(source, dx, rows, cols);
}
