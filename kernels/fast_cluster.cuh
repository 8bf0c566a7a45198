#pragma once

#include "fast_held.cuh"
#include "fast_operator.cuh"

template<class Operator, int pack_size, int packs, int block_size, int cluster, bool ragged>
__device__ void fast_cluster_rows(
    const typename Operator::Element* const (&source)[Operator::inputs], typename Operator::Element* target,
    long long rows, long long cols) {
  constexpr int warps = block_size / 32;
  __shared__ typename Operator::Statistic places[2][cluster * warps];
  const int rank = blockIdx.x % cluster;
  const ClusterExchange<Operator, warps, cluster> exchange{places, rank};
  Held<Operator, pack_size, packs, block_size, ragged> held;
  int turn = 0;

  // No block may write to another before that has begun; while the first row is on its way there is time to wait for it.
  arrive_at_cluster();
  bool begun = false;
  for (long long row = blockIdx.x / cluster; row < rows; row += gridDim.x / cluster, turn ^= 1) {
    const Part part = part_of<pack_size, ragged>(source[0], row, rows, cols, threadIdx.x, rank, cluster);
    held.load(part, source);
    const auto own = Operator::template of_group<32>(held);
    held.forget_converted(static_cast<unsigned int>(rows >> 63));
    if (!begun) { await_cluster(); }
    begun = true;
    held.store(part, target, typename Operator::Result(own, exchange(own, turn)));
  }
  if (!begun) { await_cluster(); }
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, int cluster, bool ragged>
__global__ void CLUSTER_OF(cluster) __launch_bounds__(block_size)
    fast_cluster(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  fast_cluster_rows<Forward<T, algorithm>, pack_size, packs, block_size, cluster, ragged>(source, y, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, int cluster, bool ragged>
__global__ void CLUSTER_OF(cluster) __launch_bounds__(block_size)
    fast_cluster_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  fast_cluster_rows<Backward<T, algorithm>, pack_size, packs, block_size, cluster, ragged>(source, dx, rows, cols);
}
