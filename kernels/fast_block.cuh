#pragma once

#include "fast_held.cuh"
#include "fast_operator.cuh"

template<class Operator, int pack_size, int packs, int block_size, bool ragged>
__device__ void fast_block_rows(
    const typename Operator::Element* const (&source)[Operator::inputs], typename Operator::Element* target,
    long long rows, long long cols) {
  constexpr int warps = block_size / 32;
  __shared__ typename Operator::Statistic places[2][warps];
  const BlockExchange<Operator, warps> exchange{places};
  int turn = 0;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1) {
    const Part part = part_of<pack_size, ragged>(source[0], row, rows, cols, threadIdx.x);
    Held<Operator, pack_size, packs, block_size, ragged> held;
    held.load(part, source);
    const auto own = Operator::template of_group<32>(held);
    held.forget_converted(static_cast<unsigned int>(rows >> 63));
    auto row_statistic = exchange(own, turn);
#ifdef EXTRA_MEETING
    __syncthreads();
    row_statistic = exchange(row_statistic.sum > 0 ? own : row_statistic, turn);
#endif
    held.store(part, target, typename Operator::Result(own, row_statistic));
  }
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, bool ragged>
__global__ void __launch_bounds__(block_size) fast_block(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  fast_block_rows<Forward<T, algorithm>, pack_size, packs, block_size, ragged>(source, y, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, bool ragged>
__global__ void __launch_bounds__(block_size)
    fast_block_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  fast_block_rows<Backward<T, algorithm>, pack_size, packs, block_size, ragged>(source, dx, rows, cols);
}
