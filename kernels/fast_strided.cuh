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
// Source   The statistics and their merging: fast_operator.cuh. PTX ISA, "mapa", "st", "barrier.cluster".
#pragma once

#include "fast_operator.cuh"
#include "fast_row.cuh"

// One of the rows of a thread's packs, as fast_operator.cuh sees a row.
template<class Operator, int pack_size, int packs>
struct RowOfPacks {
  using Compute = typename Operator::Compute;
  InputPacks<Operator, pack_size> (&body)[packs];
  int which;

  __device__ Compute largest() const {
    Compute result = minus_infinity<Compute>();
#pragma unroll
    for (int j = 0; j < packs; ++j) { result = fmax(result, static_cast<Compute>(body[j].input[0].elem[which])); }
    return result;
  }
  template<bool change, class Function>
  __device__ void visit(Function f) {
#pragma unroll
    for (int j = 0; j < packs; ++j) {
      Compute values[Operator::inputs];
#pragma unroll
      for (int k = 0; k < Operator::inputs; ++k) { values[k] = static_cast<Compute>(body[j].input[k].elem[which]); }
      f(values);
      if constexpr (change) { body[j].input[0].elem[which] = static_cast<typename Operator::Element>(values[0]); }
    }
  }
};

// Reduces over the lanes of a warp that have the same number modulo `lanes`.
template<template<typename> class Reduction, int lanes, typename Compute>
__device__ Compute reduce_below(Compute value) {
#pragma unroll
  for (int mask = 16; mask >= lanes; mask /= 2) {
    value = Reduction<Compute>()(value, __shfl_xor_sync(0xffffffff, value, mask));
  }
  return value;
}
template<class Operator, int lanes>
__device__ typename Operator::Statistic statistic_below(const typename Operator::Statistic& own) {
  if constexpr (Operator::inputs == 1) {
    const auto largest = reduce_below<Max, lanes>(own.largest);
    const auto scaled = own.sum * exponential_or_zero(own.largest - reference_of(largest));
    return {largest, reduce_below<Sum, lanes>(scaled)};
  } else {
    return {reduce_below<Sum, lanes>(own.sum)};
  }
}

// Writes a statistic to the same place in the shared memory of another block of the cluster.
template<class Statistic>
__device__ void send_to(int block, Statistic* place, const Statistic& statistic) {
  constexpr int words = sizeof(Statistic) / 4;
  unsigned int raw[words], address;
  memcpy(raw, &statistic, sizeof(Statistic));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_address(place)), "r"(block));
#pragma unroll
  for (int w = 0; w < words; ++w) {
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(address + 4 * w), "r"(raw[w]) : "memory");
  }
}

// The statistics of a strip of `width` rows: `parts` threads or warps of a block have partials of each row.
template<class Operator, int width, int parts, int block_size, int cluster>
struct StripExchange {
  using Statistic = typename Operator::Statistic;
  Statistic partial[width][parts + 1];  // one more, so that neighbouring rows lie in other banks
  Statistic of_block[width][cluster];
  Statistic row[width];

  // Merges `count` partials of each row: count lanes, or 32, work on a row. f(which row, its statistic, lane).
  template<int count, class Partials, class Function>
  static __device__ void merge(Partials partials, Function f) {
    constexpr int group = count < 32 ? count : 32;
    constexpr int rows_at_once = block_size / group;
#pragma unroll 1
    for (int first = 0; first < width; first += rows_at_once) {  // all threads: the lanes of a warp shuffle together
      const int which = first + static_cast<int>(threadIdx.x) / group;
      const Statistic merged = Operator::template merge_partials<count>(partials(min(which, width - 1)));
      if (which < width) { f(which, merged, static_cast<int>(threadIdx.x) % group); }
    }
  }

  // All partials are stored, but not all threads know it. Afterwards `row` holds the statistics of the whole rows.
  __device__ void run() {
    __syncthreads();
    const int rank = blockIdx.x % cluster;
    merge<parts>([&](int which) { return partial[which]; },
                 [&](int which, const Statistic& merged, int lane) {
                   if constexpr (cluster == 1) {
                     if (lane == 0) { row[which] = merged; }
                   } else {
                     for (int block = lane; block < cluster; block += parts < 32 ? parts : 32) {
                       send_to(block, &of_block[which][rank], merged);
                     }
                   }
                 });
    if constexpr (cluster > 1) {
      asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
      asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
      merge<cluster>([&](int which) { return of_block[which]; },
                     [&](int which, const Statistic& merged, int lane) {
                       if (lane == 0) { row[which] = merged; }
                     });
    }
    __syncthreads();
  }
};

template<class Operator, int pack_size, int packs, int lanes, int block_size, int cluster, typename T>
__device__ void fast_strided_rows(
    const T* const (&source)[Operator::inputs], T* target, long long rows, long long cols, long long stride) {
  constexpr int depth = block_size / lanes;  // threads at different elements of the same rows
  constexpr int width = lanes * pack_size;   // rows of a strip
  // Threads of a warp that share rows merge their statistics by shuffles.
  constexpr int parts = block_size / (lanes < 32 ? 32 : lanes);
  static_assert(block_size % 32 == 0 && depth * lanes == block_size && parts * 32 <= block_size, "whole warps");
  constexpr bool alone = parts == 1 && cluster == 1;  // shuffles have merged all that there is
  __shared__ StripExchange<Operator, alone ? 1 : width, parts, block_size, cluster> exchange;

  if constexpr (cluster > 1) { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
  const int lane = threadIdx.x % lanes;
  const long long strips = (stride + width - 1) / width;
  const long long strip = blockIdx.x / cluster;
  const long long first_row = strip % strips * width + lane * pack_size;
  const bool inside = first_row < stride && strip / strips < rows / stride;
  const long long share = (cols + cluster - 1) / cluster;
  const long long begin = blockIdx.x % cluster * share;
  const long long end = min(cols, begin + share);
  const long long chunks = max(1ll, (end - begin + packs * depth - 1) / (packs * depth));
  const long long array = strip / strips * cols * stride + first_row;

  InputPacks<Operator, pack_size> body[packs];
  const auto load = [&](long long chunk) {
    const long long first = begin + chunk * (packs * depth) + threadIdx.x / lanes;
#pragma unroll
    for (int j = 0; j < packs; ++j) {
      body[j].fill();
      body[j].load_if(inside && first + j * depth < end, source, array + (first + j * depth) * stride);
    }
  };
  typename Operator::Statistic own[pack_size];
#pragma unroll
  for (int e = 0; e < pack_size; ++e) { own[e] = Operator::identity(); }
#pragma unroll 1
  for (long long chunk = 0; chunk < chunks; ++chunk) {
    load(chunk);
#pragma unroll
    for (int e = 0; e < pack_size; ++e) {
      RowOfPacks<Operator, pack_size, packs> row{body, e};
      Operator::add(own[e], row);
    }
  }
#pragma unroll
  for (int e = 0; e < pack_size; ++e) {
    own[e] = statistic_below<Operator, lanes>(own[e]);
    if constexpr (!alone) {
      const int part = lanes < 32 ? threadIdx.x / 32 : threadIdx.x / lanes;
      if (lanes >= 32 || threadIdx.x % 32 < lanes) { exchange.partial[lane * pack_size + e][part] = own[e]; }
    }
  }
  if constexpr (cluster > 1) { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }  // all have begun
  if constexpr (!alone) { exchange.run(); }

#pragma unroll 1
  for (long long chunk = chunks - 1; chunk >= 0; --chunk) {
    if (chunk != chunks - 1) { load(chunk); }
#pragma unroll
    for (int e = 0; e < pack_size; ++e) {
      const typename Operator::Result result(alone ? own[e] : exchange.row[alone ? 0 : lane * pack_size + e]);
      RowOfPacks<Operator, pack_size, packs> row{body, e};
      row.template visit<true>([&](typename Operator::Compute* v) { v[0] = result(v); });
    }
    const long long first = begin + chunk * (packs * depth) + threadIdx.x / lanes;
#pragma unroll
    for (int j = 0; j < packs; ++j) {
      store_if(inside && first + j * depth < end, target + array + (first + j * depth) * stride,
               body[j].input[0].word);
    }
  }
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int lanes, int block_size, int cluster>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size)
    fast_strided(const T* x, T* y, long long rows, long long cols, long long stride) {
  const T* const source[] = {x};
  fast_strided_rows<Forward<T, algorithm, false>, pack_size, packs, lanes, block_size, cluster>(
      source, y, rows, cols, stride);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int lanes, int block_size, int cluster>
__global__ void SOFTLAB_CLUSTER(cluster) __launch_bounds__(block_size)
    fast_strided_backward(const T* dy, const T* y, T* dx, long long rows, long long cols, long long stride) {
  const T* const source[] = {dy, y};
  fast_strided_rows<Backward<T, algorithm>, pack_size, packs, lanes, block_size, cluster>(
      source, dx, rows, cols, stride);
}
