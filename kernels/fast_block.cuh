// Medium-length rows at the speed of memory: a block owns a row and keeps it in registers.
//
// Idea     A block of 512 threads has registers for 24 KiB of a row, at 3 packs per thread, and an SM still holds four
//          such blocks. While one waits for its loads, another computes and a third writes. So the row needs no shared
//          memory, and no block needs a pipeline of its own.
// Idea     Policy "invariant" exchanges a maximum first and then a sum that no order changes (exact_operator.cuh).
// Idea     One exchange per row (fast_exchange.cuh): one barrier, where softmax_block_smem has four.
// Idea     Each thread of a block of up to 256 writes its own sum to shared memory, and a lane then adds 16 of them. Two
//          to four shuffles follow. If each warp added up its sums first, there would be seven or eight.
// Idea     A block per row, and no loop. In a loop the compiler keeps what only a next row would need, and few rows wait
//          for that.
// Traffic  Global memory: each element read once and written once. Shared memory: 4 bytes per thread, or 8 per warp.
// Launch   block block_size; a block for each row.
// Limits   block_size is 64, 128, 256, 512 or 1024. A row has at most packs * block_size packs. `unaligned`: as in
//          fast_warp.cuh.
// Source   Registers as the cache of a row: NVIDIA Apex, Liger and others. The exchange: see fast_operator.cuh.
#pragma once

#include "fast_launch.cuh"
#include "fast_operator.cuh"
#include "fast_row.cuh"

// The blocks of a cluster share a row: see fast_cluster.cuh. fast_block has clusters of one block.
template<class Operator, int pack_size, int packs, int block_size, int cluster, bool unaligned, typename T>
__device__ void fast_block_row(const T* const (&source)[Operator::inputs], T* target, long long rows, long long cols) {
  const Exchange<Operator, block_size, cluster> blocks;
  RowFragment<Operator, pack_size, packs, block_size, unaligned> fragment;

  blocks.cluster_arrive();
  follow_previous_kernel();
  const ThreadSlice slice = row_slice<pack_size, unaligned>(
      source[0], blockIdx.x / cluster, cols, threadIdx.x, blockIdx.x % cluster, cluster);
  fragment.load(slice, source);
  const auto zero = static_cast<unsigned int>(rows >> 63);
  fragment.load_before_statistic(zero);
  if constexpr (Operator::exact) {
    constexpr int partials = decltype(blocks)::partials;
    using Statistic = typename Operator::Statistic;
    const auto own = Operator::template reduce_bound<32>(fragment);
    fragment.launder_registers(zero);
    blocks.cluster_wait();
    const auto bound = Operator::template merge_bounds<partials>(blocks.gather(Statistic::of(own), 0));
    const auto part = Operator::template reduce_total<32>(fragment, bound);
    fragment.launder_registers(zero);
    const auto total = Operator::template merge_totals<partials>(blocks.gather(Statistic::of(part), 1));
    fragment.store(slice, target, typename Operator::Result({bound, total}));
  } else if constexpr (cluster == 1 && exchanges_threads<Operator, block_size>) {
    const auto own = Operator::template reduce_thread<32>(fragment);
    fragment.launder_registers(zero);
    fragment.store(slice, target, typename Operator::Result(own, exchange_threads<Operator, block_size>(own)));
  } else {
    const auto own = Operator::template reduce_group<32>(fragment);
    fragment.launder_registers(zero);
    blocks.cluster_wait();
    fragment.store(slice, target, typename Operator::Result(own, blocks.exchange(own, 0)));
  }
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, bool unaligned>
__global__ void __launch_bounds__(block_size) fast_block(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  fast_block_row<Forward<T, algorithm>, pack_size, packs, block_size, 1, unaligned>(source, y, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, bool unaligned>
__global__ void __launch_bounds__(block_size)
    fast_block_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  fast_block_row<Backward<T, algorithm>, pack_size, packs, block_size, 1, unaligned>(source, dx, rows, cols);
}
