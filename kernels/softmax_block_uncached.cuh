// Softmax of long rows: a block owns a row and keeps it nowhere.
//
// Idea     A row that fits neither registers nor shared memory is read again for each pass. The L2 cache
//          serves some of the second and third read: large blocks mean few rows in flight, so each row has more of the
//          cache.
// Traffic  Global memory: each element read three times and written once.
// Launch   block block_size (OneFlow: 1024); any grid: the blocks stride over the rows. No dynamic shared memory.
// Limits   cols is a multiple of pack_size; x and y are aligned to a pack. Any number of columns.
// Source   OneFlow's softmax (SoftmaxBlockUncachedImpl).
#pragma once

#include "algorithm.cuh"
#include "block_reduce.cuh"
#include "fused_load.cuh"
#include "fused_store.cuh"
#include "load_store.cuh"

template<typename Compute, Algorithm algorithm, int pack_size, int block_size, typename Load, typename Store>
__device__ __forceinline__ void softmax_rows_uncached(const Load& input, const Store& output, long long rows,
                                                      long long cols) {
  const long long packs = cols / pack_size;
  Compute values[pack_size];

  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    // First read: the maximum.
    Compute thread_max = minus_infinity<Compute>();
    for (long long pack = threadIdx.x; pack < packs; pack += block_size) {
      input.template load<pack_size>(values, row, pack * pack_size);
#pragma unroll
      for (int i = 0; i < pack_size; ++i) { thread_max = Max<Compute>()(thread_max, values[i]); }
    }
    const Compute row_max = block_all_reduce<Max, block_size>(thread_max);

    // Second read: the sum.
    Compute thread_sum = 0;
    for (long long pack = threadIdx.x; pack < packs; pack += block_size) {
      input.template load<pack_size>(values, row, pack * pack_size);
#pragma unroll
      for (int i = 0; i < pack_size; ++i) { accumulate<algorithm>(values[i], row_max, thread_sum); }
    }
    const Compute row_sum = block_all_reduce<Sum, block_size>(thread_sum);

    // Third read: the result.
    for (long long pack = threadIdx.x; pack < packs; pack += block_size) {
      input.template load<pack_size>(values, row, pack * pack_size);
#pragma unroll
      for (int i = 0; i < pack_size; ++i) {
        Compute unused = 0;
        values[i] = normalize<algorithm>(accumulate<algorithm>(values[i], row_max, unused), row_sum);
      }
      output.template store<pack_size>(values, row, pack * pack_size);
    }
  }
}

template<typename T, Algorithm algorithm, int pack_size, int block_size>
__global__ void __launch_bounds__(block_size)
    softmax_block_uncached(const T* x, T* y, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  softmax_rows_uncached<Compute, algorithm, pack_size, block_size>(DirectLoad<T, Compute>{x, cols},
                                                                   DirectStore<T, Compute>{y, cols}, rows, cols);
}

// The same with other loads and stores: see fused_load.cuh and fused_store.cuh.
template<typename T, Algorithm algorithm, typename Load, typename Store, int pack_size, int block_size>
__global__ void __launch_bounds__(block_size)
    softmax_block_uncached_fused(Load load, Store store, long long rows, long long cols) {
  softmax_rows_uncached<ComputeType<T>, algorithm, pack_size, block_size>(load, store, rows, cols);
}
