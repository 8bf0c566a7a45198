// Gradient of softmax for long rows: a block owns a row and keeps it nowhere.
//
// Idea     One pass to sum, one to write. With no maximum to find, the gradient reads its inputs twice where the
//          forward kernel reads its input three times.
// Traffic  Global memory: y and dy read twice, dx written once. (log_softmax's sum takes dy alone, and the compiler
//          drops the first read of y.) The L2 cache serves some of the second read.
// Launch   block block_size (OneFlow: 1024); any grid: the blocks stride over the rows. No dynamic shared memory.
// Limits   cols is a multiple of pack_size; dy, y and dx are aligned to a pack. Any number of columns. dx may be dy
//          or y.
// Source   OneFlow's softmax (SoftmaxGradBlockUncachedImpl).
#pragma once

#include "block_reduce.cuh"
#include "fused_load.cuh"
#include "fused_store.cuh"
#include "gradient.cuh"
#include "load_store.cuh"

template<typename Compute, Algorithm algorithm, int pack_size, int block_size, typename LoadGradient,
         typename LoadResult, typename Store>
__device__ __forceinline__ void softmax_backward_rows_uncached(const LoadGradient& gradients, const LoadResult& results,
                                                               const Store& output, long long rows, long long cols) {
  const long long packs = cols / pack_size;
  Compute pack_dy[pack_size];
  Compute pack_y[pack_size];

  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    // First read: the sum.
    Compute thread_sum = 0;
    for (long long pack = threadIdx.x; pack < packs; pack += block_size) {
      gradients.template load<pack_size>(pack_dy, row, pack * pack_size);
      results.template load<pack_size>(pack_y, row, pack * pack_size);
#pragma unroll
      for (int i = 0; i < pack_size; ++i) { thread_sum += gradient_term<algorithm>(pack_dy[i], pack_y[i]); }
    }
    const Compute row_sum = block_all_reduce<Sum, block_size>(thread_sum);

    // Second read: the result.
    for (long long pack = threadIdx.x; pack < packs; pack += block_size) {
      gradients.template load<pack_size>(pack_dy, row, pack * pack_size);
      results.template load<pack_size>(pack_y, row, pack * pack_size);
#pragma unroll
      for (int i = 0; i < pack_size; ++i) { pack_dy[i] = gradient<algorithm>(pack_dy[i], pack_y[i], row_sum); }
      output.template store<pack_size>(pack_dy, row, pack * pack_size);
    }
  }
}

template<typename T, Algorithm algorithm, int pack_size, int block_size>
__global__ void __launch_bounds__(block_size)
    softmax_backward_block_uncached(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  softmax_backward_rows_uncached<Compute, algorithm, pack_size, block_size>(
      DirectLoad<T, Compute>{dy, cols}, DirectLoad<T, Compute>{y, cols}, DirectStore<T, Compute>{dx, cols}, rows, cols);
}

// The same with another load of dy and another store of dx: see fused_load.cuh and fused_store.cuh.
template<typename T, Algorithm algorithm, typename LoadGradient, typename Store, int pack_size, int block_size>
__global__ void __launch_bounds__(block_size)
    softmax_backward_block_uncached_fused(LoadGradient dy, const T* y, Store dx, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  softmax_backward_rows_uncached<Compute, algorithm, pack_size, block_size>(dy, DirectLoad<T, Compute>{y, cols}, dx,
                                                                            rows, cols);
}
