// Softmax of middling rows: a block owns a row and keeps it in shared memory.
//
// Idea     A row too long for a warp's registers still fits into the shared memory of its block. Read it once from
//          global memory, and take maximum, sum and result from the copy. Where a pack lies in that copy is the lesson:
//          see Layout.
// Traffic  Global memory: each element read once and written once. Shared memory: each written twice, read twice.
// Launch   block block_size; any grid: the blocks stride over the rows; cols * sizeof(compute type) bytes of dynamic
//          shared memory.
// Limits   That and the static shared memory of the two block reductions (64 bytes at block 128) fit 48 KiB: 12 272
//          columns computed in float. cols is a multiple of pack_size; x and y are aligned to a pack.
// Source   OneFlow's softmax (SoftmaxBlockSMemImpl), whose layout is `column`.
#pragma once

#include "algorithm.cuh"
#include "block_reduce.cuh"
#include "load_store.cuh"

// Where element i of pack p lies in shared memory, and in which of the 32 banks (4 bytes wide) it so falls.
//   column      i * packs + p: the packs stand upright. Neighbouring lanes write neighbouring words: no conflict.
//   row         p * pack_size + i: the packs lie side by side. Element by element, lanes l and l + 16 would meet in a
//               bank; but the compiler sees neighbouring words, writes a pack of 2 by one 64-bit store, and has no
//               conflict.
//   row_scalar  the same places through a volatile pointer, whose stores the compiler must not combine: here the two
//               stores of a pack of 2 do meet in their banks, and `column` has something to avoid.
enum class Layout { column, row, row_scalar };

template<Layout layout, typename Compute>
struct SharedWord {
  using type = Compute;
};
template<typename Compute>
struct SharedWord<Layout::row_scalar, Compute> {
  using type = volatile Compute;
};

// A row in shared memory: `words` one by one, or `pack_size` at a time by the layout.
template<Layout layout, int pack_size, typename Compute>
struct SharedRow {
  typename SharedWord<layout, Compute>::type* words;
  int packs;

  __device__ int place(int pack, int i) const {
    return layout == Layout::column ? i * packs + pack : pack * pack_size + i;
  }
  __device__ void write(int pack, const Compute* source) const {
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { words[place(pack, i)] = source[i]; }
  }
  __device__ void read(int pack, Compute* destination) const {
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { destination[i] = words[place(pack, i)]; }
  }
};

template<typename T, Algorithm algorithm, int pack_size, int block_size, Layout layout>
__global__ void __launch_bounds__(block_size) softmax_block_smem(const T* x, T* y, long long rows, long long cols) {
  using Compute = ComputeType<T>;
  extern __shared__ __align__(sizeof(double)) unsigned char dynamic_shared[];
  const int words = static_cast<int>(cols);
  const int packs = words / pack_size;
  const SharedRow<layout, pack_size, Compute> shared{reinterpret_cast<Compute*>(dynamic_shared), packs};
  const DirectLoad<T, Compute> input{x, cols};
  const DirectStore<T, Compute> output{y, cols};

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
