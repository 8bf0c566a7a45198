// Short rows at the speed of memory: a few lanes of a warp own a row and keep it in registers.
//
// Idea     The same owner and the same butterfly as softmax_warp, with 16 bytes a load. A row of 64 bytes is four
//          lanes' work, so a warp reads eight rows by one instruction; and each lane asks for two packs before it looks
//          at one.
// Traffic  Global memory: each element read once and written once. No shared memory, no barrier.
// Launch   block 128, one-dimensional; any grid: warps stride over the rows. A warp takes 32 / width rows at a time,
//          times rows_at_once.
// Limits   A row has at most packs * width packs of pack_size elements, and, if ragged, a head and a tail beside them.
//          Without ragged, cols is a multiple of pack_size and the arrays start at a multiple of a pack; with it, they
//          lie equally far from one.
// Source   OneFlow's softmax (SoftmaxWarpImpl) for the group of lanes; CUDA C++ Best Practices Guide for wide accesses.
#pragma once

#include "fast_operator.cuh"
#include "fast_row.cuh"

template<class Operator, int pack_size, int packs, int width, int rows_at_once, bool ragged, typename T>
__device__ void fast_warp_rows(const T* const (&source)[Operator::inputs], T* target, long long rows, long long cols) {
  constexpr int groups = 32 / width;
  constexpr int rows_a_warp = groups * rows_at_once;
  const int lane = threadIdx.x % width;
  const int group = threadIdx.x % 32 / width;
  const long long warp = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const long long warps = static_cast<long long>(gridDim.x) * blockDim.x / 32;

  // All lanes of a warp go round together, since they shuffle together; groups beyond the last row hold nothing.
  for (long long first = warp * rows_a_warp; first < rows; first += warps * rows_a_warp) {
    Held<Operator, pack_size, packs, width, ragged> held[rows_at_once];
    Part part[rows_at_once];
#pragma unroll
    for (int r = 0; r < rows_at_once; ++r) {
      part[r] = part_of<pack_size, ragged>(source[0], first + r * groups + group, rows, cols, lane);
      held[r].load(part[r], source);
    }
#pragma unroll
    for (int r = 0; r < rows_at_once; ++r) {
      const auto row = Operator::template of_group<width>(held[r]);
      held[r].convert_again(static_cast<unsigned int>(rows >> 63));
      held[r].store(part[r], target, typename Operator::Result(row, row));
    }
  }
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int width, int rows_at_once, bool ragged>
__global__ void __launch_bounds__(128) fast_warp(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  fast_warp_rows<Forward<T, algorithm>, pack_size, packs, width, rows_at_once, ragged>(source, y, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int width, int rows_at_once, bool ragged>
__global__ void __launch_bounds__(128)
    fast_warp_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  fast_warp_rows<Backward<T, algorithm>, pack_size, packs, width, rows_at_once, ragged>(source, dx, rows, cols);
}
