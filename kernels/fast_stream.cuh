// Rows of any length: two reads, never three.
//
// Idea     What cannot be kept must be read again, but once: maximum and sum are found together, since a sum so far can
//          be scaled down when a greater maximum comes. softmax_block_uncached reads three times.
// Idea     The second read goes backwards: it begins with what was read last, and is still in the L2 cache.
// Traffic  Global memory: each element read twice and written once; the caches serve part of the second read. A row of
//          one piece a thread (packs * block_size packs a block) is read once.
// Launch   block block_size, in clusters of `cluster` blocks along x; any grid that is a multiple of the cluster.
// Limits   None to the length: a row has less than 2^31 packs. sm_90, or any with cluster = 1. ragged as in fast_warp.
// Source   Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
#pragma once

#include "fast_operator.cuh"
#include "fast_row.cuh"

template<class Operator, int pack_size, int packs, int block_size, int cluster, bool ragged, typename T>
__device__ void fast_stream_rows(
    const T* const (&source)[Operator::inputs], T* target, long long rows, long long cols) {
  constexpr int piece = packs * block_size;
  const Exchange<Operator, block_size, cluster> blocks;
  Held<Operator, pack_size, packs, block_size, ragged> held;

  blocks.announce();
  blocks.begin();
  int turn = 0;
  for (long long row = blockIdx.x / cluster; row < rows; row += gridDim.x / cluster, ++turn) {
    const Part whole =
        part_of<pack_size, ragged>(source[0], row, rows, cols, threadIdx.x, blockIdx.x % cluster, cluster);
    const int length = whole.stop - (whole.first - static_cast<int>(threadIdx.x));
    const int pieces = max(1, (length + piece - 1) / piece);
    // The edges go with the first piece.
    const auto part_of_piece = [&](int which) {
      Part part = whole;
      part.first += which * piece;
      part.edge = which == 0 ? whole.edge : whole.edges;
      return part;
    };

    auto thread = Operator::of_nothing();
    for (int which = 0; which < pieces; ++which) {
      held.load(part_of_piece(which), source);
      Operator::add(thread, held);
    }
    const auto warp = Operator::of_warp(thread);
    const auto all = blocks.exchange(warp, turn);
    const typename Operator::Result result(all, all);
    for (int which = pieces - 1; which >= 0; --which) {
      const Part part = part_of_piece(which);
      if (which != pieces - 1) { held.load(part, source); }
      held.store(part, target, result);
    }
  }
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, int cluster, bool ragged>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size)
    fast_stream(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  fast_stream_rows<Forward<T, algorithm, false>, pack_size, packs, block_size, cluster, ragged>(source, y, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, int cluster, bool ragged>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size)
    fast_stream_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  fast_stream_rows<Backward<T, algorithm>, pack_size, packs, block_size, cluster, ragged>(source, dx, rows, cols);
}
