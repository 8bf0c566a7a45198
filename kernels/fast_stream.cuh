#pragma once

#include "fast_held.cuh"
#include "fast_operator.cuh"

template<class Operator, int pack_size, int packs, int block_size, int cluster, bool ragged>
__device__ void fast_stream_rows(
    const typename Operator::Element* const (&source)[Operator::inputs], typename Operator::Element* target,
    long long rows, long long cols) {
  constexpr int warps = block_size / 32;
  __shared__ typename Operator::Statistic places[2][cluster * warps];
  const int rank = blockIdx.x % cluster;
  int turn = 0;
  if constexpr (cluster > 1) { arrive_at_cluster(); await_cluster(); }
  for (long long row = blockIdx.x / cluster; row < rows; row += gridDim.x / cluster, turn ^= 1) {
    const Part whole = part_of<pack_size, ragged>(source[0], row, rows, cols, threadIdx.x, rank, cluster);
    constexpr int step = packs * block_size;
    const int steps = whole.first - static_cast<int>(threadIdx.x) < whole.stop
        ? (whole.stop - (whole.first - static_cast<int>(threadIdx.x)) + step - 1) / step : 1;
    Held<Operator, pack_size, packs, block_size, ragged> held;
    Part part = whole;
    auto own = Operator::of_nothing();
    for (int s = 0; s < steps; ++s) {
      part.first = whole.first + s * step;
      part.edge = s == 0 ? whole.edge : whole.edges;
      held.load(part, source);
      Operator::add(own, held);
    }
    own = Operator::of_warp(own);
    typename Operator::Statistic all;
    if constexpr (cluster > 1) {
      all = ClusterExchange<Operator, warps, cluster>{places, rank}(own, turn);
    } else {
      all = BlockExchange<Operator, warps>{places}(own, turn);
    }
    const typename Operator::Result result(all, all);
    for (int s = steps - 1; s >= 0; --s) {
      part.first = whole.first + s * step;
      part.edge = s == 0 ? whole.edge : whole.edges;
      if (s != steps - 1) { held.load(part, source); }
      held.store(part, target, result);
    }
  }
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, int cluster, bool ragged>
__global__ void CLUSTER_OF(cluster) __launch_bounds__(block_size)
    fast_stream(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  fast_stream_rows<Forward<T, algorithm, false>, pack_size, packs, block_size, cluster, ragged>(source, y, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, int cluster, bool ragged>
__global__ void CLUSTER_OF(cluster) __launch_bounds__(block_size)
    fast_stream_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  fast_stream_rows<Backward<T, algorithm>, pack_size, packs, block_size, cluster, ragged>(source, dx, rows, cols);
}
