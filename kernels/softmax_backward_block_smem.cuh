// Gradient of softmax for medium-length rows: a block owns a row and keeps y and dy in shared memory.
//
// Idea     As the forward kernel, with two rows in shared memory instead of one, so rows are at most half as long. A
//          thread reads back exactly the packs that it wrote. So shared memory acts as more registers, and only the
//          reduction needs barriers.
// Traffic  Global memory: y and dy read once, dx written once. Shared memory: each of both written once, read once.
// Launch   block block_size; any grid: the blocks stride over the rows; 2 * cols * sizeof(compute type) bytes of
//          dynamic shared memory.
// Limits   That and the static shared memory of the block reduction (32 bytes at block 128) fit 48 KiB: 6 140 columns
//          computed in float. cols is a multiple of pack_size; dy, y and dx are aligned to a pack. dx may be dy or y.
// Source   OneFlow's softmax (SoftmaxGradBlockSMemImpl), whose layout is `column`.
#pragma once

#include "block_reduce.cuh"
#include "fused_load.cuh"
#include "fused_store.cuh"
#include "gradient.cuh"
#include "load_store.cuh"
#include "shared_row.cuh"

template<typename Compute, Algorithm algorithm, int pack_size, int block_size, Layout layout, typename LoadGradient,
         typename LoadResult, typename Store>
__device__ __forceinline__ void softmax_backward_rows_by_block(const LoadGradient& gradients, const LoadResult& results,
                                                               const Store& output, long long rows, long long cols) {
  extern __shared__ __align__(sizeof(double)) unsigned char dynamic_shared[];
  const int words = static_cast<int>(cols);
  const int packs = words / pack_size;
  const SharedRow<layout, pack_size, Compute> shared_dy{reinterpret_cast<Compute*>(dynamic_shared), packs};
  const SharedRow<layout, pack_size, Compute> shared_y{shared_dy.words + words, packs};

  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    // Read both rows, keep them, and sum.
    Compute thread_sum = 0;
    for (int pack = threadIdx.x; pack < packs; pack += block_size) {
      Compute pack_dy[pack_size];
      Compute pack_y[pack_size];
      gradients.template load<pack_size>(pack_dy, row, pack * pack_size);
      results.template load<pack_size>(pack_y, row, pack * pack_size);
      shared_dy.write(pack, pack_dy);
      shared_y.write(pack, pack_y);
#pragma unroll
      for (int i = 0; i < pack_size; ++i) { thread_sum += gradient_term<algorithm>(pack_dy[i], pack_y[i]); }
    }
    const Compute row_sum = block_all_reduce<Sum, block_size>(thread_sum);

    // Write.
    for (int pack = threadIdx.x; pack < packs; pack += block_size) {
      Compute pack_dy[pack_size];
      Compute pack_y[pack_size];
      shared_dy.read(pack, pack_dy);
      shared_y.read(pack, pack_y);
#pragma unroll
      for (int i = 0; i < pack_size; ++i) { pack_dy[i] = gradient<algorithm>(pack_dy[i], pack_y[i], row_sum); }
      output.template store<pack_size>(pack_dy, row, pack * pack_size);
    }
  }
}

template<typename T, Algorithm algorithm, int pack_size, int block_size, Layout layout>
__global__ void __launch_bounds__(block_size)
    softmax_backward_block_smem(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  softmax_backward_rows_by_block<Compute, algorithm, pack_size, block_size, layout>(
      DirectLoad<T, Compute>{dy, cols}, DirectLoad<T, Compute>{y, cols}, DirectStore<T, Compute>{dx, cols}, rows, cols);
}

// The same with another load of dy and another store of dx: see fused_load.cuh and fused_store.cuh.
template<typename T, Algorithm algorithm, typename LoadGradient, typename Store, int pack_size, int block_size,
         Layout layout>
__global__ void __launch_bounds__(block_size)
    softmax_backward_block_smem_fused(LoadGradient dy, const T* y, Store dx, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  softmax_backward_rows_by_block<Compute, algorithm, pack_size, block_size, layout>(dy, DirectLoad<T, Compute>{y, cols},
                                                                                    dx, rows, cols);
}
