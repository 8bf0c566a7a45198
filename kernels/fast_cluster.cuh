// Long rows, and few rows, at the speed of memory: a cluster of blocks owns a row and keeps it in their registers.
//
// Idea     A block alone could keep a row of 128 KiB, but then it has its SM to itself, and memory rests while it
//          computes. 2 to 16 blocks on as many SMs keep shares of 16 to 64 KiB, two and more blocks an SM; they need to
//          tell each other nothing but a maximum and a sum.
// Idea     Where there are fewer rows than SMs, the cluster is what puts the other SMs to work.
// Traffic  Global memory: each element read once and written once. Between blocks: 8 bytes a warp and block.
// Launch   block block_size, in clusters of `cluster` blocks along x; any grid that is a multiple of it: clusters
//          stride over the rows. 16 blocks are more than every GPU grants (8): the launch must allow the non-portable
//          size.
// Limits   sm_90. A share (row / cluster, rounded up to 8 packs) has at most packs * block_size packs; ragged as in
//          fast_warp.
// Source   CUDA C++ Programming Guide, "Thread Block Clusters"; the idea for softmax: QuACK.
#pragma once

#include "fast_block.cuh"

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, int cluster, bool ragged>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size)
    fast_cluster(const T* x, T* y, long long rows, long long cols) {
  const T* const source[] = {x};
  fast_block_rows<Forward<T, algorithm>, pack_size, packs, block_size, cluster, ragged>(source, y, rows, cols);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int block_size, int cluster, bool ragged>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size)
    fast_cluster_backward(const T* dy, const T* y, T* dx, long long rows, long long cols) {
  const T* const source[] = {dy, y};
  fast_block_rows<Backward<T, algorithm>, pack_size, packs, block_size, cluster, ragged>(source, dx, rows, cols);
}
