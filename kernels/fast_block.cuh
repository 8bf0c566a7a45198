// Middling rows at the speed of memory: a block owns a row and keeps it in registers.
//
// Idea     A block of 512 threads has registers for 24 KiB of a row at 3 packs a thread, and an SM still holds four
//          such blocks: while one waits for its loads, another computes and a third writes. So the row needs no shared
//          memory, and no block needs to know of the next row.
// Idea     One exchange a row (fast_exchange.cuh): one barrier, where softmax_block_smem has four.
// Traffic  Global memory: each element read once and written once. Shared memory: 8 bytes a warp.
// Launch   block block_size; any grid: blocks stride over the rows.
// Limits   block_size is 64, 128, 256, 512 or 1024. A row has at most packs * block_size packs; ragged as in fast_warp.
// Source   The registers as the cache of a row: NVIDIA Apex, Liger and others; the exchange: see fast_operator.cuh.
#pragma once

#include "fast_operator.cuh"
#include "fast_row.cuh"

// With a cluster of more than one block, those share a row: see fast_cluster.cuh.
template<class Operator, int pack_size, int packs, int block_size, int cluster, bool ragged, typename T>
__device__ void fast_block_rows(const T* const (&source)[Operator::inputs], T* target, long long rows, long long cols) {
  const Exchange<Operator, block_size, cluster> blocks;
  const int share = blockIdx.x % cluster;
  Held<Operator, pack_size, packs, block_size, ragged> held;

  blocks.announce();
  int turn = 0;
  for (long long row = blockIdx.x / cluster; row < rows; row += gridDim.x / cluster, ++turn) {
    const Part part = part_of<pack_size, ragged>(source[0], row, rows, cols, threadIdx.x, share, cluster);
    held.load(part, source);
    const auto own = Operator::template of_group<32>(held);
    held.convert_again(static_cast<unsigned int>(rows >> 63));
    if (turn == 0) { blocks.begin(); }
    held.store(part, target, typename Operator::Result(own, blocks.exchange(own, turn)));
  }
  if (turn == 0) { blocks.begin(); }
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, bool ragged>
__global__ void __launch_bounds__(block_size) fast_block(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  fast_block_rows<Forward<T, algorithm>, pack_size, packs, block_size, 1, ragged>(source, y, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, bool ragged>
__global__ void __launch_bounds__(block_size)
    fast_block_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  fast_block_rows<Backward<T, algorithm>, pack_size, packs, block_size, 1, ragged>(source, dx, rows, cols);
}
