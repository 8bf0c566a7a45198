// Softmax of medium-length rows: a block owns a row and keeps it in shared memory.
//
// Idea     A row too long for a warp's registers still fits into the shared memory of its block. Read it once from
//          global memory, and compute maximum, sum and result from the copy. The layout of the packs in that copy
//          decides the bank conflicts: see shared_row.cuh.
// Traffic  Global memory: each element read once and written once. Shared memory: each written twice, read twice.
// Launch   block block_size; any grid: the blocks stride over the rows; cols * sizeof(compute type) bytes of dynamic
//          shared memory.
// Limits   That and the static shared memory of the two block reductions (64 bytes at block 128) fit 48 KiB: 12 272
//          columns computed in float. cols is a multiple of pack_size; x and y are aligned to a pack.
// Source   OneFlow's softmax (SoftmaxBlockSMemImpl), whose layout is `column`.
#pragma once

#include "algorithm.cuh"
#include "block_reduce.cuh"
#include "fused_load.cuh"
#include "fused_store.cuh"
#include "load_store.cuh"
#include "shared_row.cuh"

template<typename Compute, Algorithm algorithm, int pack_size, int block_size, Layout layout, typename Load,
         typename Store>
__device__ __forceinline__ void softmax_rows_by_block(const Load& input, const Store& output, long long rows,
                                                      long long cols) {
  extern __shared__ __align__(sizeof(double)) unsigned char dynamic_shared[];
  const int words = static_cast<int>(cols);
  const int packs = words / pack_size;
  const SharedRow<layout, pack_size, Compute> shared{reinterpret_cast<Compute*>(dynamic_shared), packs};

  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    // Read the row, keep it, and find its maximum.
    Compute thread_max = minus_infinity<Compute>();
    for (int pack = threadIdx.x; pack < packs; pack += block_size) {
      Compute values[pack_size];
      input.template load<pack_size>(values, row, pack * pack_size);
      shared.write(pack, values);
#pragma unroll
      for (int i = 0; i < pack_size; ++i) { thread_max = Max<Compute>()(thread_max, values[i]); }
    }
    const Compute row_max = block_all_reduce<Max, block_size>(thread_max);

    // Sum. The reduction's barriers have made all words visible to all threads, so a warp takes 32 neighbours.
    Compute thread_sum = 0;
    for (int word = threadIdx.x; word < words; word += block_size) {
      shared.words[word] = accumulate<algorithm>(static_cast<Compute>(shared.words[word]), row_max, thread_sum);
    }
    const Compute row_sum = block_all_reduce<Sum, block_size>(thread_sum);

    // Write. A thread reads the very words that it writes for the next row, so no barrier is needed in between.
    for (int pack = threadIdx.x; pack < packs; pack += block_size) {
      Compute values[pack_size];
      shared.read(pack, values);
#pragma unroll
      for (int i = 0; i < pack_size; ++i) { values[i] = normalize<algorithm>(values[i], row_sum); }
      output.template store<pack_size>(values, row, pack * pack_size);
    }
  }
}

template<typename T, Algorithm algorithm, int pack_size, int block_size, Layout layout>
__global__ void __launch_bounds__(block_size) softmax_block_smem(const T* x, T* y, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  softmax_rows_by_block<Compute, algorithm, pack_size, block_size, layout>(
      DirectLoad<T, Compute>{x, cols}, DirectStore<T, Compute>{y, cols}, rows, cols);
}

// The same with other loads and stores: see fused_load.cuh and fused_store.cuh.
template<typename T, Algorithm algorithm, typename Load, typename Store, int pack_size, int block_size, Layout layout>
__global__ void __launch_bounds__(block_size)
    softmax_block_smem_fused(Load load, Store store, long long rows, long long cols) {
  softmax_rows_by_block<ComputeType<T>, algorithm, pack_size, block_size, layout>(load, store, rows, cols);
}
