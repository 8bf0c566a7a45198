// Softmax of short rows: a warp, or a group of its lanes, owns a row and keeps it in registers.
//
// Idea     A row of up to 1024 columns fits into the registers of 32 lanes. Maximum and sum go from lane to lane by
//          shuffles: no shared memory and no barrier. A row shorter than a warp gets a group of 1, 2, 4, 8 or 16 lanes,
//          so that no lane is idle. With two rows at a time, each lane has more loads in flight.
// Traffic  Global memory: each element read once and written once. Shared memory: none.
// Launch   block (thread_group_width, 128 / thread_group_width); any grid: the groups stride over the rows.
// Limits   cols <= cols_per_thread * thread_group_width, and equal to it unless padding; cols is a multiple of
//          pack_size and rows of rows_per_access; x and y are aligned to a pack.
// Source   OneFlow's softmax (SoftmaxWarpImpl); the choice of the group by the row's length is its patent's
//          "segmented softmax".
#pragma once

#include "algorithm.cuh"
#include "fused_load.cuh"
#include "fused_store.cuh"
#include "group_reduce.cuh"
#include "load_store.cuh"

template<typename Compute, Algorithm algorithm, int pack_size, int cols_per_thread, int thread_group_width,
         int rows_per_access, bool padding, typename Load, typename Store>
__device__ __forceinline__ void softmax_rows_by_warp(const Load& input, const Store& output, long long rows,
                                                     long long cols) {
  static_assert(cols_per_thread % pack_size == 0, "a thread holds whole packs");
  constexpr int packs_per_thread = cols_per_thread / pack_size;

  const int lane = threadIdx.x;
  const unsigned int lanes = group_lanes<thread_group_width>();
  const long long group = static_cast<long long>(blockIdx.x) * blockDim.y + threadIdx.y;
  const long long groups = static_cast<long long>(gridDim.x) * blockDim.y;

  // Indexed by constants only, once the loops are unrolled: so it lives in registers.
  Compute held[rows_per_access][cols_per_thread];

  for (long long row = group * rows_per_access; row < rows; row += groups * rows_per_access) {
    // Read: pack p of the group's packs goes to lane p % thread_group_width, so neighbouring lanes read neighbouring
    // packs.
    Compute row_max[rows_per_access];
#pragma unroll
    for (int r = 0; r < rows_per_access; ++r) {
      row_max[r] = minus_infinity<Compute>();
#pragma unroll
      for (int p = 0; p < packs_per_thread; ++p) {
        Compute* pack = held[r] + p * pack_size;
        const int col = (p * thread_group_width + lane) * pack_size;
        if (!padding || col < cols) {
          input.template load<pack_size>(pack, row + r, col);
#pragma unroll
          for (int i = 0; i < pack_size; ++i) { row_max[r] = Max<Compute>()(row_max[r], pack[i]); }
        } else {
#pragma unroll
          for (int i = 0; i < pack_size; ++i) { pack[i] = minus_infinity<Compute>(); }  // adds exp(-inf) = 0 to the sum
        }
      }
    }
#pragma unroll
    for (int r = 0; r < rows_per_access; ++r) {
      row_max[r] = group_all_reduce<Max, thread_group_width>(row_max[r], lanes);
    }

    // Sum.
    Compute row_sum[rows_per_access];
#pragma unroll
    for (int r = 0; r < rows_per_access; ++r) {
      row_sum[r] = 0;
#pragma unroll
      for (int c = 0; c < cols_per_thread; ++c) {
        held[r][c] = accumulate<algorithm>(held[r][c], row_max[r], row_sum[r]);
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
        Compute* pack = held[r] + p * pack_size;
        const int col = (p * thread_group_width + lane) * pack_size;
        if (!padding || col < cols) {
#pragma unroll
          for (int i = 0; i < pack_size; ++i) { pack[i] = normalize<algorithm>(pack[i], row_sum[r]); }
          output.template store<pack_size>(pack, row + r, col);
        }
      }
    }
  }
}

template<typename T, Algorithm algorithm, int pack_size, int cols_per_thread, int thread_group_width,
         int rows_per_access, bool padding>
__global__ void softmax_warp(const T* x, T* y, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  softmax_rows_by_warp<Compute, algorithm, pack_size, cols_per_thread, thread_group_width, rows_per_access, padding>(
      DirectLoad<T, Compute>{x, cols}, DirectStore<T, Compute>{y, cols}, rows, cols);
}

// The same with other loads and stores: see fused_load.cuh and fused_store.cuh.
template<typename T, Algorithm algorithm, typename Load, typename Store, int pack_size, int cols_per_thread,
         int thread_group_width, int rows_per_access, bool padding>
__global__ void softmax_warp_fused(Load load, Store store, long long rows, long long cols) {
  softmax_rows_by_warp<ComputeType<T>, algorithm, pack_size, cols_per_thread, thread_group_width, rows_per_access,
                       padding>(load, store, rows, cols);
}
