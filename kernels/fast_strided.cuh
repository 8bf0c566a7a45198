// Rows along another axis than the last: the elements of a row are `stride` apart, and are read where they lie.
//
// Idea     Neighbouring rows are neighbours in memory. So a pack of 16 bytes has one element of each of several rows. A
//          strip of rows is 64 bytes wide or more: `lanes` threads side by side move whole sectors, and each keeps a
//          statistic for every row of its packs. The other threads of the block stand below them, at other elements of
//          the same rows. No array is turned round, and nothing needs a temporary array.
// Idea     The block keeps its packs in registers between the statistic and the result, as fast_block does. Where the
//          rows are longer, a cluster of blocks shares the strip. Where even that is too little, the packs come in
//          chunks and are read again, backwards, as in fast_stream.
// Idea     A block writes nothing before the exchange, so the barrier of the cluster waits for no store.
// Traffic  Global memory: each element read once and written once; read twice if the rows have several chunks.
// Launch   block block_size; a grid of outer * ceil(stride / (lanes * pack_size)) * cluster blocks, in clusters of
//          `cluster`, with outer = rows / stride.
// Limits   pack_size divides stride, and the arrays begin at a multiple of a pack. Less than 2^31 blocks. sm_90, or any
//          architecture with cluster = 1.
// Source   The statistics and their merging: fast_strip.cuh.
#pragma once

#include "fast_launch.cuh"
#include "fast_strip.cuh"

template<class Operator, int pack_size, int packs, int lanes, int block_size, int cluster, bool once, typename T>
__device__ void fast_strided_rows(
    const T* const (&source)[Operator::inputs], T* target, long long rows, long long cols, long long stride) {
  constexpr int depth = block_size / lanes;  // threads at different elements of the same rows
  constexpr int width = lanes * pack_size;   // rows of a strip
  constexpr int parts = block_size / 32;     // the lanes of a warp that share rows merge their statistics by shuffles
  static_assert(32 % lanes == 0 && parts * 32 == block_size, "whole warps");
  __shared__ StripExchange<Operator, pack_size, lanes, parts, block_size, cluster> exchange;

  if constexpr (cluster > 1) { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
  follow_previous_kernel();
  const int lane = threadIdx.x % lanes;
  const long long strips = (stride + width - 1) / width;
  const long long strip = blockIdx.x / cluster;
  const long long first_row = strip % strips * width + lane * pack_size;
  const bool inside = first_row < stride && strip / strips < rows / stride;
  const long long share = (cols + cluster - 1) / cluster;
  const long long first_line = blockIdx.x % cluster * share;
  const long long begin = first_line + threadIdx.x / lanes;
  const long long lines = inside ? max(0ll, min(cols, first_line + share) - begin) : 0;  // from the thread's first one
  const long long chunks = once ? 1 : max(1ll, (share + packs * depth - 1) / (packs * depth));
  const LinesOfThread<packs, depth> mine{(strip / strips * cols + begin) * stride + first_row, stride, lines};

  InputPacks<Operator, pack_size> body[packs];
  const auto put = [&](int e, const typename Operator::Statistic& own) {
    const auto below = merged_below<Operator, lanes>(own);
    if (threadIdx.x % 32 < lanes) { exchange.put(lane * pack_size + e, threadIdx.x / 32, below); }
  };
  if constexpr (once) {
    mine.load(body, source, 0);
    each_row(body, put);
  } else {
    typename Operator::Statistic own[pack_size];
#pragma unroll
    for (int e = 0; e < pack_size; ++e) { own[e] = Operator::identity(); }
#pragma unroll 1
    for (long long chunk = 0; chunk < chunks; ++chunk) {
      mine.load(body, source, chunk);
      const auto before = [&](int e) { return own[e]; };
      each_row_after(before, body, [&](int e, const typename Operator::Statistic& all) { own[e] = all; });
    }
#pragma unroll
    for (int e = 0; e < pack_size; ++e) { put(e, own[e]); }
  }
  if constexpr (cluster > 1) { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }  // all have begun
  exchange.run();
  if constexpr (sizeof(T) == 2) { forget(body); }

#pragma unroll 1
  for (long long chunk = chunks - 1; chunk >= 0; --chunk) {
    if (chunk != chunks - 1) { mine.load(body, source, chunk); }
#pragma unroll
    for (int e = 0; e < pack_size; ++e) {
      const typename Operator::Result result = exchange.result(lane * pack_size + e);
      RowOfPacks<Operator, pack_size, packs> row{body, e};
      row.template visit<true>([&](typename Operator::Compute* v) { v[0] = result(v); });
    }
    mine.store(body, target, chunk);
  }
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int lanes, int block_size, int cluster, int resident, bool once>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size, resident)
    fast_strided(const T* x, T* y, long long rows, long long cols, long long stride) {
  const T* const source[] = {x};
  fast_strided_rows<StripForward<T, algorithm>, pack_size, packs, lanes, block_size, cluster, once>(
      source, y, rows, cols, stride);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int lanes, int block_size, int cluster, int resident, bool once>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size, resident)
    fast_strided_backward(const T* dy, const T* y, T* dx, long long rows, long long cols, long long stride) {
  const T* const source[] = {dy, y};
  fast_strided_rows<Backward<T, algorithm>, pack_size, packs, lanes, block_size, cluster, once>(
      source, dx, rows, cols, stride);
}
