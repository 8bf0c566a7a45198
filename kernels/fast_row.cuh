// Which elements of a row a thread owns, and how it keeps them: 16 bytes at a time for any length and any address.
//
// Idea     A row that starts anywhere has three parts. The head is the few elements before the next sector (32 bytes,
//          the smallest unit of a memory access). The body is whole packs. The tail is less than one pack. The elements
//          of head and tail together go to as many threads, one element per thread. So 50257 columns cost one load and
//          one store more than 50256.
// Idea     A thread issues the loads of all its packs before it uses the first one. This keeps many bytes in flight.
// Idea     16-bit elements stay packed in their registers. They take half the registers that floats would take.
// Limits   x and y have the same distance from a multiple of a pack's bytes. Without `unaligned` this distance is 0,
//          and all rows begin and end at a multiple of a pack.
#pragma once

#include "arithmetic.cuh"
#include "fast_memory.cuh"
#include "larger.cuh"

constexpr int sector_bytes = 32;

// The body of an unaligned row begins at a multiple of this many elements: a sector, or a pack if a pack is larger.
template<typename T, int pack_size>
constexpr int body_alignment = sector_bytes / sizeof(T) > pack_size ? sector_bytes / sizeof(T) : pack_size;

// What one thread owns of a row.
struct ThreadSlice {
  long long row_start;  // the row's first element, counted from the start of the array
  int head;             // elements before the body
  int body_packs;       // whole packs in the body
  int head_tail;        // elements of head and tail together
  int first;            // this thread's first pack; its other packs follow at a fixed stride
  int stop;             // its packs end before this one
  int first_head_tail;  // this thread's first element of head and tail

  template<int pack_size>
  __device__ long long pack_offset(int pack) const {
    return row_start + head + static_cast<long long>(pack) * pack_size;
  }
  template<int pack_size>
  __device__ long long head_tail_offset(int which) const {
    return row_start + which + (which < head ? 0ll : static_cast<long long>(body_packs) * pack_size);
  }
};

// The slice of `thread` in `block`, where `blocks` blocks share a row. Each block takes whole lines of 128 bytes (8 packs
// of 16 bytes). Head and tail belong to block 0. The tail has at least `beyond` elements, if the row has them beside its
// head. Number: a type that holds `cols`.
template<int pack_size, bool unaligned, int beyond = 0, typename Number = long long, typename T>
__device__ ThreadSlice
row_slice(const T* array, long long row, long long cols, int thread, int block = 0, int blocks = 1) {
  ThreadSlice slice{row * cols, 0, 0, 0, 0, 0, 0};
  const auto length = static_cast<Number>(cols);
  if constexpr (unaligned) {
    const auto index =
        static_cast<unsigned int>(reinterpret_cast<unsigned long long>(array) / sizeof(T) + slice.row_start);
    constexpr unsigned int alignment = body_alignment<T, pack_size>;
    slice.head = static_cast<int>(min(static_cast<Number>(-index % alignment), length));
  }
  const Number whole = beyond > 0 ? max(length - slice.head - beyond, Number(0)) : length - slice.head;
  slice.body_packs = static_cast<int>(whole / pack_size);
  slice.head_tail = static_cast<int>(length - static_cast<Number>(slice.body_packs) * pack_size);
  const int packs_per_block = blocks == 1 ? slice.body_packs : ((slice.body_packs + blocks - 1) / blocks + 7) / 8 * 8;
  slice.first = block * packs_per_block + thread;
  slice.stop = min(slice.body_packs, (block + 1) * packs_per_block);
  slice.first_head_tail = block == 0 ? thread : slice.head_tail;
  return slice;
}

// As row_slice(); a row beyond the last one has no elements.
template<int pack_size, bool unaligned, int beyond = 0, typename Number = long long, typename T>
__device__ ThreadSlice thread_slice(
    const T* array, long long row, long long rows, long long cols, int thread, int block = 0, int blocks = 1) {
  if (row >= rows) { return {row * cols, 0, 0, 0, 0, 0, 0}; }
  return row_slice<pack_size, unaligned, beyond, Number>(array, row, cols, thread, block, blocks);
}

// The largest element of a pack. One instruction compares two halves with two others, without a conversion. With
// `propagate`, NaN is larger than any number; else any number is larger than NaN.
template<typename Compute, bool propagate, typename T, int pack_size>
__device__ Compute largest_of(const Pack<T, pack_size>& pack) {
  Compute largest = static_cast<Compute>(pack.elem[0]);
#pragma unroll
  for (int i = 1; i < pack_size; ++i) { largest = larger_of<propagate>(largest, static_cast<Compute>(pack.elem[i])); }
  return largest;
}
template<bool propagate, typename Pair, int pairs, typename T, int pack_size>
__device__ float largest_of_pairs(const Pack<T, pack_size>& pack) {
  const Pair* pair = reinterpret_cast<const Pair*>(&pack);
  Pair largest = pair[0];
#pragma unroll
  for (int i = 1; i < pairs; ++i) {
    if constexpr (propagate) {
      largest = __hmax2_nan(largest, pair[i]);
    } else {
      largest = __hmax2(largest, pair[i]);
    }
  }
  return larger_of<propagate>(__low2float(largest), __high2float(largest));
}
template<typename Compute, bool propagate>
__device__ float largest_of(const Pack<__half, 8>& pack) {
  return largest_of_pairs<propagate, __half2, 4>(pack);
}
template<typename Compute, bool propagate>
__device__ float largest_of(const Pack<__nv_bfloat16, 8>& pack) {
  return largest_of_pairs<propagate, __nv_bfloat162, 4>(pack);
}

__device__ inline void xor_word(unsigned short& word, unsigned int bits) { word ^= bits; }
__device__ inline void xor_word(unsigned int& word, unsigned int bits) { word ^= bits; }
__device__ inline void xor_word(uint2& word, unsigned int bits) { word.x ^= bits, word.y ^= bits; }
__device__ inline void xor_word(uint4& word, unsigned int bits) {
  word.x ^= bits, word.y ^= bits, word.z ^= bits, word.w ^= bits;
}
__device__ inline unsigned short& first_of(unsigned short& word) { return word; }
__device__ inline unsigned int& first_of(unsigned int& word) { return word; }
__device__ inline unsigned int& first_of(uint2& word) { return word.x; }
__device__ inline unsigned int& first_of(uint4& word) { return word.x; }

// One pack of each input, at the same columns.
template<class Operator, int pack_size>
struct InputPacks {
  using T = typename Operator::Element;
  using Compute = typename Operator::Compute;
  static constexpr int inputs = Operator::inputs;

  Pack<T, pack_size> input[inputs];

  // Sets every element to the value that changes no statistic.
  __device__ void fill() {
#pragma unroll
    for (int k = 0; k < inputs; ++k) {
#pragma unroll
      for (int i = 0; i < pack_size; ++i) { input[k].elem[i] = Operator::filler(); }
    }
  }
  __device__ void load_if(bool wanted, const T* const (&source)[inputs], long long offset) {
#pragma unroll
    for (int k = 0; k < inputs; ++k) { ::load_if(wanted, input[k].word, source[k] + offset); }
  }
  // Makes the first input a function of the last one. zero: 0, which the compiler does not know.
  __device__ void wait_for_late_input(unsigned int zero) {
    first_of(input[0].word) ^= first_of(input[inputs - 1].word) & zero;
  }
  // Calls f for each column with an array of the inputs' values. With `change`, the first input takes what f leaves in
  // values[0].
  template<bool change, class Function>
  __device__ void visit(Function f) {
#pragma unroll
    for (int i = 0; i < pack_size; ++i) {
      Compute values[inputs];
#pragma unroll
      for (int k = 0; k < inputs; ++k) { values[k] = static_cast<Compute>(input[k].elem[i]); }
      f(values);
      if constexpr (change) { input[0].elem[i] = static_cast<T>(values[0]); }
    }
  }
};

// What a thread keeps of a row in registers: `packs` packs, `stride` packs apart, and its elements of head and tail.
template<class Operator, int pack_size, int packs, int stride, bool unaligned>
struct RowFragment {
  using T = typename Operator::Element;
  using Compute = typename Operator::Compute;
  static constexpr int inputs = Operator::inputs;
  static constexpr int packs_per_thread = packs;
  static constexpr int most_head_tail = body_alignment<T, pack_size> - 1 + pack_size - 1;
  static constexpr int head_tail_per_thread = unaligned ? (most_head_tail + stride - 1) / stride : 0;

  InputPacks<Operator, pack_size> body[packs];
  InputPacks<Operator, 1> head_tail[head_tail_per_thread ? head_tail_per_thread : 1];

  __device__ void load(const ThreadSlice& slice, const T* const (&source)[inputs]) {
#pragma unroll
    for (int j = 0; j < packs; ++j) { load_pack(slice, source, j); }
#pragma unroll
    for (int e = 0; e < head_tail_per_thread; ++e) { load_head_tail(slice, source, e); }
  }

  template<bool propagate = false>
  __device__ Compute largest() const {
    Compute result = minus_infinity<Compute>();
#pragma unroll
    for (int j = 0; j < packs; ++j) {
      result = larger_of<propagate>(result, largest_of<Compute, propagate>(body[j].input[0]));
    }
#pragma unroll
    for (int e = 0; e < head_tail_per_thread; ++e) {
      result = larger_of<propagate>(result, static_cast<Compute>(head_tail[e].input[0].elem[0]));
    }
    return result;
  }

  template<bool change, class Function>
  __device__ void visit(Function f) {
#pragma unroll
    for (int j = 0; j < packs; ++j) { body[j].template visit<change>(f); }
#pragma unroll
    for (int e = 0; e < head_tail_per_thread; ++e) { head_tail[e].template visit<change>(f); }
  }

  // The compiler would keep the floats that it converted from 16-bit elements, in twice the registers. `zero` is 0, but
  // the compiler does not know that. So it takes the packed elements for new values, and converts them again. A few
  // elements may stay converted: that saves instructions.
  __device__ void launder_registers(unsigned int zero) {
    if constexpr (sizeof(T) == 2 && packs * pack_size * inputs > 16) {
#pragma unroll
      for (int j = 0; j < packs; ++j) {
#pragma unroll
        for (int k = 0; k < inputs; ++k) { xor_word(body[j].input[k].word, zero); }
      }
    }
  }

  // The compiler would load an input that the statistic does not need behind the statistic, to save registers. Then the
  // row waits for memory twice. `zero` is 0, but the compiler does not know that. So the first input needs the others.
  __device__ void load_before_statistic(unsigned int zero) {
    if constexpr (Operator::late_input) {
#pragma unroll
      for (int j = 0; j < packs; ++j) { body[j].wait_for_late_input(zero); }
#pragma unroll
      for (int e = 0; e < head_tail_per_thread; ++e) { head_tail[e].wait_for_late_input(zero); }
    }
  }

  // Computes the results in place, then writes them, one store after the other.
  template<class Result>
  __device__ void store(const ThreadSlice& slice, T* target, Result result) {
    visit<true>([&](Compute* values) { values[0] = result(values); });
#pragma unroll
    for (int j = 0; j < packs; ++j) { store_pack(slice, target, j); }
#pragma unroll
    for (int e = 0; e < head_tail_per_thread; ++e) { store_head_tail(slice, target, e); }
  }

  // As store(); each store frees the registers of one pack, and the load of the next row's pack follows at once.
  template<class Result>
  __device__ void store_and_load(
      const ThreadSlice& slice, T* target, Result result, const ThreadSlice& next, const T* const (&source)[inputs]) {
    visit<true>([&](Compute* values) { values[0] = result(values); });
#pragma unroll
    for (int j = 0; j < packs; ++j) { store_pack(slice, target, j), load_pack(next, source, j); }
#pragma unroll
    for (int e = 0; e < head_tail_per_thread; ++e) {
      store_head_tail(slice, target, e), load_head_tail(next, source, e);
    }
  }

 private:
  __device__ void load_pack(const ThreadSlice& slice, const T* const (&source)[inputs], int j) {
    const int pack = slice.first + j * stride;
    body[j].fill();
    body[j].load_if(pack < slice.stop, source, slice.pack_offset<pack_size>(pack));
  }
  __device__ void load_head_tail(const ThreadSlice& slice, const T* const (&source)[inputs], int e) {
    const int which = slice.first_head_tail + e * stride;
    head_tail[e].fill();
    head_tail[e].load_if(which < slice.head_tail, source, slice.head_tail_offset<pack_size>(which));
  }
  __device__ void store_pack(const ThreadSlice& slice, T* target, int j) const {
    const int pack = slice.first + j * stride;
    store_if(pack < slice.stop, target + slice.pack_offset<pack_size>(pack), body[j].input[0].word);
  }
  __device__ void store_head_tail(const ThreadSlice& slice, T* target, int e) const {
    const int which = slice.first_head_tail + e * stride;
    store_if(which < slice.head_tail, target + slice.head_tail_offset<pack_size>(which), head_tail[e].input[0].word);
  }
};
