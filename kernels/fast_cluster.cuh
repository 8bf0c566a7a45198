// Long rows, and few rows, at the speed of memory: a cluster of blocks owns a row and keeps it in their registers.
//
// Idea     One block could keep a row of 128 KiB, but then it is alone on its SM, and memory is idle while it computes.
//          Instead 2 to 16 blocks on as many SMs keep 16 to 64 KiB each, and an SM holds two or more blocks. The blocks
//          exchange only a maximum and a sum.
// Idea     If there are fewer rows than SMs, the cluster gives work to the other SMs.
// Traffic  Global memory: each element read once and written once. Between blocks: 8 bytes per warp and block.
// Launch   block block_size, in clusters of `cluster` blocks along x; a cluster for each row. Portable clusters have at
//          most 8 blocks. For 16, the launch must allow the non-portable size.
// Idea     `resident` says how many blocks an SM must hold: the compiler then gives a thread no more registers than
//          that leaves. Without it (0) some of these kernels take a few registers too many for one more block.
// Limits   sm_90. A block's slice (row / cluster, rounded up to 8 packs) has at most packs * block_size packs.
//          `unaligned`: as in fast_warp.cuh.
// Source   CUDA C++ Programming Guide, "Thread Block Clusters"; the idea for softmax: QuACK.
#pragma once

#include "fast_block.cuh"

template<
    typename T, Algorithm algorithm, int pack_size, int packs, int block_size, int cluster, bool unaligned,
    int resident = 0>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size, resident)
    fast_cluster(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  fast_block_row<Forward<T, algorithm>, pack_size, packs, block_size, cluster, unaligned>(source, y, rows, cols);
}

template<
    typename T, Algorithm algorithm, int pack_size, int packs, int block_size, int cluster, bool unaligned,
    int resident = 0>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size, resident)
    fast_cluster_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  fast_block_row<Backward<T, algorithm>, pack_size, packs, block_size, cluster, unaligned>(source, dx, rows, cols);
}
