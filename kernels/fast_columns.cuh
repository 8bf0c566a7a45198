// Short rows along another axis than the last: a thread has whole rows, and exchanges nothing.
//
// Idea     Neighbouring rows are neighbours in memory, so a pack has one element of each of several rows. A thread takes
//          a pack of every line, which are all elements of these rows.
// Idea     Rows of two or three elements give a thread too few bytes to wait for. So it takes `across` packs of each
//          line, block_size packs apart, and loads all of them before it uses the first.
// Traffic  Global memory: each element read once and written once.
// Launch   block block_size; a grid of outer * ceil(stride / (block_size * across * pack_size)) blocks, with outer =
//          rows / stride.
// Limits   pack_size divides stride, the arrays begin at a multiple of a pack, and cols is packs. Less than 2^31 blocks.
// Source   The arithmetic: fast_strip.cuh.
#pragma once

#include "fast_launch.cuh"
#include "fast_strip.cuh"

template<class Operator, int pack_size, int packs, int across, int block_size, typename T>
__device__ void fast_columns_rows(
    const T* const (&source)[Operator::inputs], T* target, long long rows, long long cols, long long stride) {
  constexpr int width = block_size * across * pack_size;
  const long long strips = (stride + width - 1) / width;
  const long long outer = blockIdx.x / strips;
  const long long first_row = blockIdx.x % strips * width + threadIdx.x * pack_size;
  const int left = static_cast<int>(min(outer < rows / stride ? stride - first_row : 0, static_cast<long long>(width)));
  const long long first = outer * cols * stride + first_row;

  follow_previous_kernel();
  InputPacks<Operator, pack_size> body[across][packs];
#pragma unroll
  for (int j = 0; j < packs; ++j) {
#pragma unroll
    for (int k = 0; k < Operator::inputs; ++k) {
      const T* const line = source[k] + first + j * stride;
#pragma unroll
      for (int i = 0; i < across; ++i) {
        constexpr int apart = block_size * pack_size;
        body[i][j].input[k] = {};
        load_if(i * apart < left, body[i][j].input[k].word, line + i * apart);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < across; ++i) {
    each_row(body[i], [&](int e, const typename Operator::Statistic& statistic) {
      const typename Operator::Result result(statistic);
      RowOfPacks<Operator, pack_size, packs> row{body[i], e};
      row.template visit<true>([&](typename Operator::Compute* v) { v[0] = result(v); });
    });
  }
#pragma unroll
  for (int j = 0; j < packs; ++j) {
    T* const line = target + first + j * stride;
#pragma unroll
    for (int i = 0; i < across; ++i) {
      constexpr int apart = block_size * pack_size;
      store_if(i * apart < left, line + i * apart, body[i][j].input[0].word);
    }
  }
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int across, int block_size, int resident>
__global__ void __launch_bounds__(block_size, resident)
    fast_columns(const T* x, T* y, long long rows, long long cols, long long stride) {
  const T* const source[] = {x};
  fast_columns_rows<StripForward<T, algorithm>, pack_size, packs, across, block_size>(source, y, rows, cols, stride);
}

template<typename T, Algorithm algorithm, int pack_size, int packs, int across, int block_size, int resident>
__global__ void __launch_bounds__(block_size, resident)
    fast_columns_backward(const T* dy, const T* y, T* dx, long long rows, long long cols, long long stride) {
  const T* const source[] = {dy, y};
  fast_columns_rows<Backward<T, algorithm>, pack_size, packs, across, block_size>(source, dx, rows, cols, stride);
}
