// Gradient of softmax for short rows: a warp, or a group of its lanes, owns a row and keeps y and dy in registers.
//
// Idea     The forward kernel's groups of lanes, with two inputs and one reduction: each lane keeps its packs of y and
//          of dy, and the lanes add up by shuffles.
// Traffic  Global memory: y and dy read once, dx written once. Shared memory: none.
// Launch   block (thread_group_width, 128 / thread_group_width); any grid: the groups stride over the rows.
// Limits   cols <= cols_per_thread * thread_group_width, and equal to it unless padding; cols is a multiple of
//          pack_size and rows of rows_per_access; dy, y and dx are aligned to a pack. dx may be dy or y.
//          Twice the registers of the forward kernel's row: 64 of a thread's 255 hold a row of 1024.
// Source   OneFlow's softmax (SoftmaxGradWarpImpl).
#pragma once

#include "fused_load.cuh"
#include "fused_store.cuh"
#include "gradient.cuh"
#include "group_reduce.cuh"
#include "load_store.cuh"

template<typename Compute, Algorithm algorithm, int pack_size, int cols_per_thread, int thread_group_width,
         int rows_per_access, bool padding, typename LoadGradient, typename LoadResult, typename Store>
__device__ __forceinline__ void softmax_backward_rows_by_warp(const LoadGradient& gradients, const LoadResult& results,
                                                              const Store& output, long long rows, long long cols) {
  static_assert(cols_per_thread % pack_size == 0, "a thread holds whole packs");
  constexpr int packs_per_thread = cols_per_thread / pack_size;

  const int lane = threadIdx.x;
  const unsigned int lanes = group_lanes<thread_group_width>();
  const long long group = static_cast<long long>(blockIdx.x) * blockDim.y + threadIdx.y;
  const long long groups = static_cast<long long>(gridDim.x) * blockDim.y;

  // Indexed by constants only, once the loops are unrolled: so they live in registers.
  Compute held_dy[rows_per_access][cols_per_thread];
  Compute held_y[rows_per_access][cols_per_thread];

  for (long long row = group * rows_per_access; row < rows; row += groups * rows_per_access) {
    // Read and sum. Lanes beyond the row's end have nothing to add.
    Compute row_sum[rows_per_access];
#pragma unroll
    for (int r = 0; r < rows_per_access; ++r) {
      row_sum[r] = 0;
#pragma unroll
      for (int p = 0; p < packs_per_thread; ++p) {
        Compute* pack_dy = held_dy[r] + p * pack_size;
        Compute* pack_y = held_y[r] + p * pack_size;
        const int col = (p * thread_group_width + lane) * pack_size;
        if (!padding || col < cols) {
          gradients.template load<pack_size>(pack_dy, row + r, col);
          results.template load<pack_size>(pack_y, row + r, col);
#pragma unroll
          for (int i = 0; i < pack_size; ++i) { row_sum[r] += gradient_term<algorithm>(pack_dy[i], pack_y[i]); }
        }
      }
    }
#pragma unroll
    for (int r = 0; r < rows_per_access; ++r) {
      row_sum[r] = group_all_reduce<Sum, thread_group_width>(row_sum[r], lanes);
    }

    // Write.
#pragma unroll
    for (int r = 0; r < rows_per_access; ++r) {
#pragma unroll
      for (int p = 0; p < packs_per_thread; ++p) {
        Compute* pack_dy = held_dy[r] + p * pack_size;
        const Compute* pack_y = held_y[r] + p * pack_size;
        const int col = (p * thread_group_width + lane) * pack_size;
        if (!padding || col < cols) {
#pragma unroll
          for (int i = 0; i < pack_size; ++i) { pack_dy[i] = gradient<algorithm>(pack_dy[i], pack_y[i], row_sum[r]); }
          output.template store<pack_size>(pack_dy, row + r, col);
        }
      }
    }
  }
}

template<typename T, Algorithm algorithm, int pack_size, int cols_per_thread, int thread_group_width,
         int rows_per_access, bool padding>
__global__ void softmax_backward_warp(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  softmax_backward_rows_by_warp<Compute, algorithm, pack_size, cols_per_thread, thread_group_width, rows_per_access,
                                padding>(DirectLoad<T, Compute>{dy, cols}, DirectLoad<T, Compute>{y, cols},
                                         DirectStore<T, Compute>{dx, cols}, rows, cols);
}

// The same with another load of dy and another store of dx: see fused_load.cuh and fused_store.cuh.
template<typename T, Algorithm algorithm, typename LoadGradient, typename Store, int pack_size, int cols_per_thread,
         int thread_group_width, int rows_per_access, bool padding>
__global__ void softmax_backward_warp_fused(LoadGradient dy, const T* y, Store dx, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  softmax_backward_rows_by_warp<Compute, algorithm, pack_size, cols_per_thread, thread_group_width, rows_per_access,
                                padding>(dy, DirectLoad<T, Compute>{y, cols}, dx, rows, cols);
}
