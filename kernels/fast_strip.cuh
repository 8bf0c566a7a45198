// Strips of neighbouring rows: how threads that hold parts of the same rows come to the results of whole rows.
//
// Idea     A thread has a statistic for every row of its packs. Lanes below each other merge theirs by shuffles, the
//          warps of a block through shared memory, and the blocks of a cluster through each other's shared memory.
// Idea     A strip has hundreds of rows, and a block merges them all. So as few lanes as possible share a row: a lane
//          takes several partial statistics one after the other, and fewer shuffles follow. What each element needs of
//          a row, such as 1 / sum, is computed once per row, not once per thread.
// Idea     With elements of 16 bits, exp(x - max) is one fused multiply-add and one instruction of the special function
//          unit: 2^(x c - max c), with c = log2(e). max c is rounded, but the error is the same factor in all terms and
//          in their sum.
// Idea     Neighbouring lanes store statistics to rows that are a pack apart. The rows are ordered so that these places
//          are neighbours: all first rows of packs, then all second ones, and so on.
// Edges    As in fast_operator.cuh. From a maximum of 2^17 on, where the error of max c counts, c is 1: the next smaller
//          number of 16 bits is then so far below the maximum that its exponential is 0 for any c. (Neighbours of 32 bits
//          come that close where the error is a factor of 2^64. They keep the difference.)
// Source   fast_operator.cuh. PTX ISA, "mapa", "st", "barrier.cluster".
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
    for (int j = 0; j < packs; ++j) { result = larger_of<false>(result, static_cast<Compute>(body[j].input[0].elem[which])); }
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

// The compiler would keep elements that it has unpacked for the statistic until the result, in twice the registers. After
// forget() it unpacks them again.
__device__ inline void forget(unsigned short& word) { asm volatile("" : "+h"(word)); }
__device__ inline void forget(unsigned int& word) { asm volatile("" : "+r"(word)); }
__device__ inline void forget(uint2& word) { asm volatile("" : "+r"(word.x), "+r"(word.y)); }
__device__ inline void forget(uint4& word) { asm volatile("" : "+r"(word.x), "+r"(word.y), "+r"(word.z), "+r"(word.w)); }
template<class Operator, int pack_size, int packs>
__device__ void forget(InputPacks<Operator, pack_size> (&body)[packs]) {
#pragma unroll
  for (int j = 0; j < packs; ++j) {
#pragma unroll
    for (int k = 0; k < Operator::inputs; ++k) { forget(body[j].input[k].word); }
  }
}

// The elements that lie side by side are a line: element k of every row. A thread has packs of every `depth`-th line, in
// chunks of `packs`. `first` is the offset of its first pack, and `count` lines follow from there, that one included.
template<int packs, int depth>
struct LinesOfThread {
  long long first, stride, count;

  // How many lines of the chunk there are, counted from its first one.
  __device__ int left(long long chunk) const {
    constexpr long long most = packs * depth;
    return static_cast<int>(max(0ll, min(count - chunk * most, most)));
  }
  __device__ long long offset(long long chunk) const { return first + chunk * (packs * depth) * stride; }

  template<class Operator, int pack_size, typename T>
  __device__ void load(InputPacks<Operator, pack_size> (&body)[packs], const T* const (&source)[Operator::inputs],
                       long long chunk) const {
    long long place = offset(chunk);
    const int lines = left(chunk);
    if (lines > (packs - 1) * depth) {
#pragma unroll
      for (int j = 0; j < packs; ++j, place += depth * stride) { body[j].load_if(true, source, place); }
      return;
    }
#pragma unroll
    for (int j = 0; j < packs; ++j, place += depth * stride) {
      body[j].fill();
      body[j].load_if(j * depth < lines, source, place);
    }
  }
  template<class Operator, int pack_size, typename T>
  __device__ void store(const InputPacks<Operator, pack_size> (&body)[packs], T* target, long long chunk) const {
    T* place = target + offset(chunk);
    const int lines = left(chunk);
#pragma unroll
    for (int j = 0; j < packs; ++j, place += depth * stride) {
      store_if(j * depth < lines, place, body[j].input[0].word);
    }
  }
};

// The forward operators for elements of 16 bits: the exponential of an element is 2^(x * scale - offset).
template<typename T, Algorithm which>
struct ScaledForward : Forward<T, which, false> {
  using Statistic = MaximumAndSum<float>;
  static constexpr float log2_of_e = 1.44269504f;
  static constexpr float huge = 131072.f;

  struct Reference {
    float scale, offset;
    __device__ explicit Reference(float largest) {
      const bool nothing = largest == minus_infinity<float>();
      scale = fabsf(largest) >= huge && !nothing ? 1.f : log2_of_e;
      offset = nothing ? 0.f : largest * scale;
    }
    __device__ float exponential(float x) const { return power_of_two_or_zero(fmaf(x, scale, -offset)); }
  };
  // What a sum of exponentials below `from` is multiplied with where the maximum is `to`.
  static __device__ float scale(float from, float to) {
    const Reference old(from), now(to);
    const bool none = from == minus_infinity<float>() || old.scale != now.scale;
    return none ? 0.f : power_of_two_or_zero(old.offset - now.offset);
  }

  class Result {
   public:
    Result() = default;
    __device__ explicit Result(const Statistic& row) {
      const Reference reference(row.largest);
      if constexpr (which == Algorithm::log_softmax) {
        first_ = row.largest;
        // The sum has the rounding error of the offset as a factor, whose logarithm this is.
        const float error = fmaf(row.largest, reference.scale, -reference.offset);
        factor_ = logarithm(row.sum) - error / log2_of_e;
      } else {
        first_ = reference.scale;
        offset_ = reference.offset;
        factor_ = divide(1.f, row.sum);
      }
    }
    __device__ float operator()(const float* x) const {
      if constexpr (which == Algorithm::log_softmax) { return (x[0] - first_) - factor_; }
      return power_of_two_or_zero(fmaf(x[0], first_, -offset_)) * factor_;
    }

   private:
    float first_, offset_, factor_;
  };
};

template<typename T>
struct PairOf;
template<>
struct PairOf<__half> {
  using Type = __half2;
};
template<>
struct PairOf<__nv_bfloat16> {
  using Type = __nv_bfloat162;
};
// The largest elements of a row and of the next one: one instruction compares two halves with two others. Packs of one
// element have no next row.
template<typename T, Algorithm which, int pack_size, int packs>
__device__ void largest_of_two_rows(
    float (&largest)[2], int row, const InputPacks<ScaledForward<T, which>, pack_size> (&body)[packs]) {
  if constexpr (pack_size == 1) {
    largest[0] = minus_infinity<float>();
#pragma unroll
    for (int j = 0; j < packs; ++j) { largest[0] = fmaxf(largest[0], static_cast<float>(body[j].input[0].elem[0])); }
  } else {
    using Pair = typename PairOf<T>::Type;
    Pair pair = reinterpret_cast<const Pair*>(&body[0].input[0])[row / 2];
#pragma unroll
    for (int j = 1; j < packs; ++j) { pair = __hmax2(pair, reinterpret_cast<const Pair*>(&body[j].input[0])[row / 2]); }
    largest[0] = __low2float(pair), largest[1] = __high2float(pair);
  }
}

// f(e, the statistic of row e of the thread's packs) for each row; `before` has what came in earlier chunks.
template<class Operator, int pack_size, int packs, class Before, class Function>
__device__ void each_row_after(Before before, InputPacks<Operator, pack_size> (&body)[packs], Function f) {
#pragma unroll
  for (int e = 0; e < pack_size; ++e) {
    auto own = before(e);
    RowOfPacks<Operator, pack_size, packs> row{body, e};
    Operator::add(own, row);
    f(e, own);
  }
}
template<typename T, Algorithm which, int pack_size, int packs, class Before, class Function>
__device__ void each_row_after(
    Before before, InputPacks<ScaledForward<T, which>, pack_size> (&body)[packs], Function f) {
  using Operator = ScaledForward<T, which>;
#pragma unroll
  for (int first = 0; first < pack_size; first += 2) {
    float largest[2];
    largest_of_two_rows(largest, first, body);
#pragma unroll
    for (int e = first; e < first + 2 && e < pack_size; ++e) {
      const MaximumAndSum<float> own = before(e);
      const float most = fmaxf(own.largest, largest[e - first]);
      const typename Operator::Reference reference(most);
      float sum = own.sum * Operator::scale(own.largest, most);
      RowOfPacks<Operator, pack_size, packs> row{body, e};
      row.template visit<false>([&](const float* x) { sum += reference.exponential(x[0]); });
      f(e, MaximumAndSum<float>{most, sum});
    }
  }
}
template<class Operator, int pack_size, int packs, class Function>
__device__ void each_row(InputPacks<Operator, pack_size> (&body)[packs], Function f) {
  each_row_after([](int) { return Operator::identity(); }, body, f);
}

// The operator that the kernels of strips take for the forward ones. -DSOFTLAB_ACCURATE keeps fast_operator.cuh's.
template<typename T, Algorithm which, int bytes>
struct ForwardOfStrips {
  using Operator = Forward<T, which, false>;
};
#ifndef SOFTLAB_ACCURATE
template<typename T, Algorithm which>
struct ForwardOfStrips<T, which, 2> {
  using Operator = ScaledForward<T, which>;
};
#endif
template<typename T, Algorithm which>
using StripForward = typename ForwardOfStrips<T, which, sizeof(T)>::Operator;

// Merges statistics: each of `group` lanes has `each` of them, partial(0), partial(1), ...
template<class Operator, int each, int group, class Partial>
__device__ typename Operator::Statistic merged(Partial partial) {
  using Compute = typename Operator::Compute;
  Compute sum = 0;
  if constexpr (Operator::inputs == 1) {
    Compute largest = partial(0).largest;
#pragma unroll
    for (int i = 1; i < each; ++i) { largest = larger_of<false>(largest, partial(i).largest); }
    largest = reduce_lanes<Larger, group>(largest);
#pragma unroll
    for (int i = 0; i < each; ++i) { sum += partial(i).sum * Operator::scale(partial(i).largest, largest); }
    return {largest, reduce_lanes<Sum, group>(sum)};
  } else {
#pragma unroll
    for (int i = 0; i < each; ++i) { sum += partial(i).sum; }
    return {reduce_lanes<Sum, group>(sum)};
  }
}

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
__device__ typename Operator::Statistic merged_below(const typename Operator::Statistic& own) {
  if constexpr (lanes >= 32) {
    return own;
  } else if constexpr (Operator::inputs == 1) {
    const auto largest = reduce_below<Larger, lanes>(own.largest);
    return {largest, reduce_below<Sum, lanes>(own.sum * Operator::scale(own.largest, largest))};
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

// From the statistics of the rows of `columns` packs to the results of these rows: `parts` warps, or threads, of a block
// have partials of each row.
template<class Operator, int pack_size, int columns, int parts, int block_size, int cluster>
class StripExchange {
  using Statistic = typename Operator::Statistic;
  using Result = typename Operator::Result;
  static constexpr int width = columns * pack_size;

  Statistic partial_[width][parts + 1];  // one more, so that neighbouring rows lie in other banks
  Statistic of_block_[cluster > 1 ? width : 1][cluster];
  Result result_[width];

  // Calls f(row, its statistic, lane, lanes) for each row. `count` partials of each are merged.
  template<int count, class Partials, class Function>
  static __device__ void merge(Partials partials, Function f) {
    constexpr int lanes = group(count);
#pragma unroll 1
    for (int first = 0; first < width; first += block_size / lanes) {  // all threads: the lanes shuffle together
      const int row = first + static_cast<int>(threadIdx.x) / lanes;
      const int lane = static_cast<int>(threadIdx.x) % lanes;
      const Statistic* const partial = partials(min(row, width - 1)) + lane;
      const Statistic whole = merged<Operator, count / lanes, lanes>([&](int i) { return partial[i * lanes]; });
      if (row < width) { f(row, whole, lane, lanes); }
    }
  }
  // As few lanes per row as let all threads have work.
  static __device__ constexpr int group(int count) {
    int lanes = 1;
    while (lanes < count && lanes < 32 && 2 * lanes * width <= block_size) { lanes *= 2; }
    return lanes;
  }

 public:
  // The place of a row: `which` counts rows of packs that lie side by side.
  static __device__ int place(int which) { return which % pack_size * columns + which / pack_size; }
  __device__ void put(int which, int part, const Statistic& statistic) { partial_[place(which)][part] = statistic; }
  __device__ const Result& result(int which) const { return result_[place(which)]; }

  // All partials are put, but not all threads know it. Afterwards all results are there.
  __device__ void run() {
    __syncthreads();
    if constexpr (cluster == 1) {
      merge<parts>([&](int row) { return partial_[row]; },
                   [&](int row, const Statistic& whole, int lane, int) {
                     if (lane == 0) { result_[row] = Result(whole); }
                   });
    } else {
      const int rank = blockIdx.x % cluster;
      merge<parts>([&](int row) { return partial_[row]; },
                   [&](int row, const Statistic& whole, int lane, int lanes) {
                     for (int block = lane; block < cluster; block += lanes) {
                       send_to(block, &of_block_[row][rank], whole);
                     }
                   });
      asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
      asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
      merge<cluster>([&](int row) { return of_block_[row]; },
                     [&](int row, const Statistic& whole, int lane, int) {
                       if (lane == 0) { result_[row] = Result(whole); }
                     });
    }
    __syncthreads();
  }
};
