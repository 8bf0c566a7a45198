// Rows along another axis than the last whose stride no pack of 16 bytes divides: the packs of each line of elements
// begin where memory allows it, at another row than in the line before.
//
// Idea     Elements that lie side by side are a line: element k of every row. Where packs do not divide the stride, the
//          packs of the next line begin at other rows. But after pack_size lines they begin at the same ones again. So a
//          thread steps by multiples of pack_size lines, and all its packs have the same rows. The lanes of a warp that
//          stand below each other have the same rows, too, and merge their statistics by shuffles.
// Idea     The warps of a block have other shifts. Each puts its statistics where their rows stand in the exchange.
// Idea     A cluster writes the packs whose first row lies in its strip. They reach up to pack_size - 1 rows beyond it,
//          so it reads two packs per line more than a strip has. Then all packs move as a whole, but for the first and
//          the last one of a line, which have elements of other lines.
// Idea     Where instructions allow it, two packs of a sector (32 bytes) belong to the same cluster, and three more packs
//          are read: no sector is then written in two parts. Rows of 16-bit elements have more instructions per byte.
// Traffic  Global memory: each element is written once. It is read once, or by two clusters at the edge of a strip.
// Launch   block block_size; a grid of outer * ceil(stride / width) * cluster blocks, in clusters of `cluster`, with
//          outer = rows / stride and width = (lanes - 1 - packs_together<T>) * pack_size.
// Limits   x and y begin at a multiple of a pack and do not overlap: a cluster reads what its neighbour writes. lanes is
//          8 to 32, and a block has a multiple of pack_size warps. Less than 2^31 blocks. sm_90, or any architecture
//          with cluster = 1.
// Source   The statistics and their merging: fast_strip.cuh.
#pragma once

#include "fast_launch.cuh"
#include "fast_strip.cuh"

// How many neighbouring packs belong to one cluster.
template<typename T>
constexpr int packs_together = sizeof(T) == 2 ? 1 : 2;

// A pack of a line. `first_row` is the row of its first element, and may lie beyond both ends of the line. The elements
// from `low` to `high` belong to the line.
template<int pack_size>
struct LinePack {
  long long first_row;
  int low, high;

  __device__ LinePack(long long first, long long stride) : first_row(first) {
    low = static_cast<int>(max(0ll, -first));
    high = static_cast<int>(min(stride - first, static_cast<long long>(pack_size)));
  }
  __device__ bool whole() const { return low == 0 && high == pack_size; }
  __device__ bool empty() const { return high <= low; }
};

template<class Operator, int pack_size, int packs, int lanes, int block_size, int cluster, bool once, typename T>
__device__ void fast_shifted_rows(
    const T* const (&source)[Operator::inputs], T* target, long long rows, long long cols, long long stride) {
  constexpr int depth = block_size / lanes;  // lines that the block reads at once
  constexpr int width = (lanes - 1 - packs_together<T>) * pack_size;  // rows of a strip
  constexpr int parts = block_size / 32;
  static_assert(lanes >= 8 && lanes <= 32 && 32 % lanes == 0 && parts * 32 == block_size, "whole warps");
  static_assert(parts % pack_size == 0, "the lanes of a warp have one shift, for all lines");
  using Statistic = typename Operator::Statistic;
  __shared__ Pack<T, pack_size> ends[depth][2];  // packs at the ends of lines, where their elements move one by one
  __shared__ StripExchange<Operator, pack_size, lanes + 1, parts, block_size, cluster> exchange;

  if constexpr (cluster > 1) { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
  follow_previous_kernel();
  const int lane = threadIdx.x % lanes;
  const int warp = threadIdx.x / 32;
  // The thread's first line, counted from the block's. The lines of a warp are pack_size apart, or a multiple.
  const int below = warp % pack_size + pack_size * (warp / pack_size * (32 / lanes) + threadIdx.x % 32 / lanes);
  const long long strips = (stride + width - 1) / width;
  const long long strip = blockIdx.x / cluster;
  const long long outer = strip / strips;
  const long long first_row = strip % strips * width;
  const long long share = (cols + cluster - 1) / cluster;
  const long long first_line = blockIdx.x % cluster * share;
  const long long begin = first_line + below;
  const long long lines = outer < rows / stride ? max(0ll, min(cols, first_line + share) - begin) : 0;
  const long long chunks = once ? 1 : max(1ll, (share + packs * depth - 1) / (packs * depth));

  const long long start = (outer * cols + begin) * stride + first_row;
  const int shift = static_cast<int>(start % pack_size);
  const LinePack<pack_size> pack(first_row - shift + lane * pack_size, stride);
  const int place = (lane + 1) * pack_size - shift;  // the pack's first row in the exchange
  const LinesOfThread<packs, depth> mine{start - shift + lane * pack_size, stride, pack.empty() ? 0 : lines};

  InputPacks<Operator, pack_size> body[packs];
  // All packs are read as a whole, with elements of other lines. Only the pack that has the array's last element may
  // reach beyond it.
  const long long all = rows * cols;
  const bool may_end = pack.high < pack_size && outer == rows / stride - 1;
  Pack<T, pack_size>& end = ends[below][lane > 0];
  const auto load = [&](long long chunk) {
    if (!may_end) {
      mine.load(body, source, chunk);
      return;
    }
    const int left = mine.left(chunk);
    long long offset = mine.offset(chunk);
#pragma unroll
    for (int j = 0; j < packs; ++j, offset += depth * stride) {
      body[j].fill();
      body[j].load_if(j * depth < left && offset + pack_size <= all, source, offset);
      if (j * depth < left && offset + pack_size > all) {
#pragma unroll
        for (int k = 0; k < Operator::inputs; ++k) {
          end.word = body[j].input[k].word;
#pragma unroll 1
          for (int e = 0; e < all - offset; ++e) { end.elem[e] = source[k][offset + e]; }
          body[j].input[k].word = end.word;
        }
      }
    }
  };
  const auto put = [&](int e, const Statistic& own) {
    const Statistic below = merged_below<Operator, lanes>(own);
    if (threadIdx.x % 32 < lanes) { exchange.put(place + e, warp, below); }
  };
  if constexpr (once) {
    load(0);
    each_row(body, put);
  } else {
    Statistic own[pack_size];
#pragma unroll
    for (int e = 0; e < pack_size; ++e) { own[e] = Operator::identity(); }
#pragma unroll 1
    for (long long chunk = 0; chunk < chunks; ++chunk) {
      load(chunk);
      const auto before = [&](int e) { return own[e]; };
      each_row_after(before, body, [&](int e, const typename Operator::Statistic& all) { own[e] = all; });
    }
#pragma unroll
    for (int e = 0; e < pack_size; ++e) { put(e, own[e]); }
  }
  // The rows that this warp has no elements of: those before its first pack, and those behind its last one.
  if (threadIdx.x % 32 < pack_size) {
    const int which = threadIdx.x % 32;
    exchange.put(which < pack_size - shift ? which : lanes * pack_size + which, warp, Operator::identity());
  }
  if constexpr (cluster > 1) { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }  // all have begun
  exchange.run();
  if constexpr (sizeof(T) == 2) { forget(body); }

  // The first of the packs that belong together decides.
  const int behind = static_cast<int>(mine.first / pack_size % packs_together<T>);
  const long long owned = pack.first_row - behind * pack_size;
  const bool writes = (owned >= first_row || first_row == 0) && owned < first_row + width;
  const LinesOfThread<packs, depth> written{mine.first, stride, writes ? mine.count : 0};
  const LinesOfThread<packs, depth> whole{mine.first, stride, pack.whole() ? written.count : 0};
#pragma unroll 1
  for (long long chunk = chunks - 1; chunk >= 0; --chunk) {
    if (chunk != chunks - 1) { load(chunk); }
#pragma unroll
    for (int e = 0; e < pack_size; ++e) {
      const typename Operator::Result result = exchange.result(place + e);
      RowOfPacks<Operator, pack_size, packs> row{body, e};
      row.template visit<true>([&](typename Operator::Compute* v) { v[0] = result(v); });
    }
    whole.store(body, target, chunk);
    if (pack.whole()) { continue; }
    const int left = written.left(chunk);
    T* element = target + written.offset(chunk);
#pragma unroll
    for (int j = 0; j < packs; ++j, element += depth * stride) {
      if (j * depth >= left) { break; }
      end.word = body[j].input[0].word;
#pragma unroll 1
      for (int e = pack.low; e < pack.high; ++e) { element[e] = end.elem[e]; }
    }
  }
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int lanes, int block_size, int cluster, int resident, bool once>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size, resident)
    fast_shifted(const T* x, T* y, long long rows, long long cols, long long stride) {
  const T* const source[] = {x};
  fast_shifted_rows<StripForward<T, algorithm>, pack_size, packs, lanes, block_size, cluster, once>(
      source, y, rows, cols, stride);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int lanes, int block_size, int cluster, int resident, bool once>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size, resident)
    fast_shifted_backward(const T* dy, const T* y, T* dx, long long rows, long long cols, long long stride) {
  const T* const source[] = {dy, y};
  fast_shifted_rows<Backward<T, algorithm>, pack_size, packs, lanes, block_size, cluster, once>(
      source, dx, rows, cols, stride);
}
