// The kernels of policy "invariant": those of policy "fast", with sums that do not depend on any order.
//
// Idea     A serving engine batches requests as they come. If the bits of a row depend on its batch, the same request
//          gets other answers on another day. Here they depend on the row alone: not on its number or neighbours, not
//          on the address of the array, the plan, the GPU or the stream.
// Idea     No kernel is written for that. The kernels of policy "fast" divide and move rows as they do, and the operator
//          (exact_operator.cuh) gives each division the same sum. So a plan may take the fastest one.
// Traffic  As the kernels of the same name. invariant_stream reads a row of several chunks three times.
// Launch   As the kernels of the same name.
// Limits   As those of the kernels, and at most 2^26 columns.
// Source   See exact_operator.cuh.
#pragma once

#include "exact_operator.cuh"
#include "fast_block.cuh"
#include "fast_stream.cuh"
#include "fast_tile.cuh"
#include "fast_warp.cuh"

template<typename T, Algorithm algorithm, int pack_size, int vector_size, int vectors, bool odd, int width, int slabs, int block_size,
    int blocks_per_sm>
__global__ void __launch_bounds__(block_size, blocks_per_sm)
    invariant_tile(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  using Operator = ExactForward<ComputeType<T>, algorithm>;
  fast_tile_rows<Operator, pack_size, vector_size, vectors, odd, width, slabs, block_size>(source, y, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int width, int rows_at_once, bool unaligned>
__global__ void __launch_bounds__(128)
    invariant_warp(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  using Operator = ExactForward<T, algorithm>;
  fast_warp_rows<Operator, pack_size, packs, width, rows_at_once, unaligned>(source, y, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, bool unaligned>
__global__ void __launch_bounds__(block_size)
    invariant_block(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  using Operator = ExactForward<T, algorithm>;
  fast_block_row<Operator, pack_size, packs, block_size, 1, unaligned>(source, y, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, int cluster, bool unaligned>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size)
    invariant_cluster(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  using Operator = ExactForward<T, algorithm>;
  fast_block_row<Operator, pack_size, packs, block_size, cluster, unaligned>(source, y, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, int cluster, bool unaligned>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size)
    invariant_stream(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  using Operator = ExactForward<T, algorithm, false>;
  fast_stream_rows<Operator, pack_size, packs, block_size, cluster, unaligned>(source, y, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int vector_size, int vectors, bool odd, int width, int slabs, int block_size,
    int blocks_per_sm>
__global__ void __launch_bounds__(block_size, blocks_per_sm)
    invariant_tile_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  using Operator = ExactBackward<ComputeType<T>, algorithm>;
  fast_tile_rows<Operator, pack_size, vector_size, vectors, odd, width, slabs, block_size>(source, dx, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int width, int rows_at_once, bool unaligned>
__global__ void __launch_bounds__(128)
    invariant_warp_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  using Operator = ExactBackward<T, algorithm>;
  fast_warp_rows<Operator, pack_size, packs, width, rows_at_once, unaligned>(source, dx, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, bool unaligned>
__global__ void __launch_bounds__(block_size)
    invariant_block_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  using Operator = ExactBackward<T, algorithm>;
  fast_block_row<Operator, pack_size, packs, block_size, 1, unaligned>(source, dx, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, int cluster, bool unaligned>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size)
    invariant_cluster_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  using Operator = ExactBackward<T, algorithm>;
  fast_block_row<Operator, pack_size, packs, block_size, cluster, unaligned>(source, dx, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, int cluster, bool unaligned>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size)
    invariant_stream_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  using Operator = ExactBackward<T, algorithm>;
  fast_stream_rows<Operator, pack_size, packs, block_size, cluster, unaligned>(source, dx, rows, cols);
}
