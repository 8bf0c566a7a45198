// Short rows at the speed of memory: a few lanes of a warp own a row and keep it in registers.
//
// Idea     The same owner and the same butterfly as softmax_warp, with 16 bytes per load. Four lanes hold a row of 64
//          bytes, so one instruction of a warp reads eight rows. Each lane issues the loads of all its packs, usually
//          two, before it uses the first.
// Traffic  Global memory: each element read once and written once. No shared memory, no barrier.
// Launch   block 128, one-dimensional; a group of lanes for each row. A warp takes 32 / width * rows_at_once rows.
// Limits   A row has at most packs * width packs of pack_size elements; if `unaligned`, a head and a tail come on top.
//          Without `unaligned`, cols is a multiple of pack_size, and the arrays start at a multiple of a pack. With it,
//          all arrays have the same distance from a multiple of a pack.
// Source   OneFlow's softmax (SoftmaxWarpImpl) for the group of lanes; CUDA C++ Best Practices Guide for wide accesses.
#pragma once

#include "fast_launch.cuh"
#include "fast_operator.cuh"
#include "fast_row.cuh"

template<class Operator, int pack_size, int packs, int width, int rows_at_once, bool unaligned, typename T>
__device__ void fast_warp_rows(const T* const (&source)[Operator::inputs], T* target, long long rows, long long cols) {
  constexpr int groups = 32 / width;
  constexpr int rows_per_warp = groups * rows_at_once;
  follow_previous_kernel();
  const int lane = threadIdx.x % width;
  const int group = threadIdx.x % 32 / width;
  const long long warp = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const long long first = warp * rows_per_warp;
  const auto zero = static_cast<unsigned int>(rows >> 63);

  // All lanes of a warp shuffle together. Groups beyond the last row keep nothing.
  RowFragment<Operator, pack_size, packs, width, unaligned> fragment[rows_at_once];
  ThreadSlice slice[rows_at_once];
#pragma unroll
  for (int r = 0; r < rows_at_once; ++r) {
    slice[r] = thread_slice<pack_size, unaligned>(source[0], first + r * groups + group, rows, cols, lane);
    fragment[r].load(slice[r], source);
    fragment[r].load_before_statistic(zero);
  }
#pragma unroll
  for (int r = 0; r < rows_at_once; ++r) {
    const auto row = Operator::template reduce_group<width>(fragment[r]);
    fragment[r].launder_registers(zero);
    fragment[r].store(slice[r], target, typename Operator::Result(row, row));
  }
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int width, int rows_at_once, bool unaligned>
__global__ void __launch_bounds__(128) fast_warp(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  fast_warp_rows<Forward<T, algorithm>, pack_size, packs, width, rows_at_once, unaligned>(source, y, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int width, int rows_at_once, bool unaligned>
__global__ void __launch_bounds__(128)
    fast_warp_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  fast_warp_rows<Backward<T, algorithm>, pack_size, packs, width, rows_at_once, unaligned>(source, dx, rows, cols);
}
