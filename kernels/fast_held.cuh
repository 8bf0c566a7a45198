// Which elements of a row a thread owns, and how it holds them: 16 bytes at a time whatever the row's length and address.
//
// Idea     A row that starts between two multiples of 16 bytes has a head of a few elements up to the next multiple, a body
//          of whole packs, and a tail. Head and tail together (the edges, less than two packs) are given to as many
//          threads, one element each; the body moves in full packs. So 50 257 columns cost one load and one store more.
// Idea     All packs of a thread are asked for before the first is looked at: so many bytes are on their way at once.
// Limits   x and y lie equally far from a multiple of a pack's bytes. With ragged = false they, and the rows, start at one.
#pragma once

#include "arithmetic.cuh"
#include "fast_memory.cuh"

// A thread's part of a row, in elements from the start of the array.
struct Part {
  long long start;  // the row
  int head;         // elements before the first whole pack
  int packs;        // whole packs of the row
  int edges;        // elements of head and tail together
  int first;        // this thread's first pack; the others follow at a fixed stride
  int stop;         // the pack before which its packs end
  int edge;         // this thread's first edge

  template<int pack_size>
  __device__ long long pack_at(int pack) const {
    return start + head + static_cast<long long>(pack) * pack_size;
  }
  template<int pack_size>
  __device__ long long edge_at(int which) const {
    return start + which + (which < head ? 0ll : static_cast<long long>(packs) * pack_size);
  }
};

// The part of thread `member` of `threads` in share `share` of `shares` of a row; a row beyond the last has no elements.
template<int pack_size, bool ragged, typename T>
__device__ Part part_of(
    const T* array, long long row, long long rows, long long cols, int member, int share = 0, int shares = 1) {
  Part part{row * cols, 0, 0, 0, 0, 0, 0};
  if (row >= rows) { return part; }
  if constexpr (ragged) {
    const auto place = static_cast<unsigned int>(reinterpret_cast<unsigned long long>(array) / sizeof(T) + part.start);
    part.head = static_cast<int>(min(static_cast<long long>(-place % pack_size), cols));
  }
  part.packs = static_cast<int>((cols - part.head) / pack_size);
  part.edges = static_cast<int>(cols - static_cast<long long>(part.packs) * pack_size);
  const int length = (part.packs + shares - 1) / shares;
  part.first = share * length + member;
  part.stop = min(part.packs, (share + 1) * length);
  part.edge = share == 0 ? member : part.edges;
  return part;
}

// Results as a pack of elements. Two halves are rounded by one instruction.
template<typename T, int pack_size, typename Compute>
__device__ Pack<T, pack_size> packed(const Compute (&values)[pack_size]) {
  Pack<T, pack_size> pack;
#pragma unroll
  for (int i = 0; i < pack_size; ++i) { pack.elem[i] = static_cast<T>(values[i]); }
  return pack;
}

// The largest element of a pack. Two halves are compared by one instruction, without converting them.
template<typename Compute, typename T, int pack_size>
__device__ Compute largest_of(const Pack<T, pack_size>& pack) {
  Compute largest = static_cast<Compute>(pack.elem[0]);
#pragma unroll
  for (int i = 1; i < pack_size; ++i) { largest = fmax(largest, static_cast<Compute>(pack.elem[i])); }
  return largest;
}
template<typename Pair, int pairs, typename T, int pack_size>
__device__ float largest_of_pairs(const Pack<T, pack_size>& pack) {
  const Pair* pair = reinterpret_cast<const Pair*>(&pack);
  Pair largest = pair[0];
#pragma unroll
  for (int i = 1; i < pairs; ++i) { largest = __hmax2(largest, pair[i]); }
  return fmaxf(__low2float(largest), __high2float(largest));
}
template<typename Compute>
__device__ float largest_of(const Pack<__half, 8>& pack) {
  return largest_of_pairs<__half2, 4>(pack);
}
template<typename Compute>
__device__ float largest_of(const Pack<__nv_bfloat16, 8>& pack) {
  return largest_of_pairs<__nv_bfloat162, 4>(pack);
}

#ifndef FORGET
#define FORGET 16
#endif
__device__ inline void mix(unsigned int& word, unsigned int zero) { word ^= zero; }
__device__ inline void mix(unsigned short& word, unsigned int zero) { word ^= zero; }
__device__ inline void mix(uint2& word, unsigned int zero) { word.x ^= zero, word.y ^= zero; }
__device__ inline void mix(uint4& word, unsigned int zero) { word.x ^= zero, word.y ^= zero, word.z ^= zero, word.w ^= zero; }

// What the `stride` threads that share a row keep of it in registers: `packs` packs each, at a stride, and their edges.
template<class Operator, int pack_size, int packs, int stride, bool ragged>
struct Held {
  using T = typename Operator::Element;
  using Compute = typename Operator::Compute;
  static constexpr int inputs = Operator::inputs;
  static constexpr int edges = ragged ? (2 * (pack_size - 1) + stride - 1) / stride : 0;

  Pack<T, pack_size> body[inputs][packs];
  T edge[inputs][edges ? edges : 1];

  __device__ void load(const Part& part, const T* const (&source)[inputs]) {
#pragma unroll
    for (int k = 0; k < inputs; ++k) {
#pragma unroll
      for (int j = 0; j < packs; ++j) { load_pack(part, source[k], k, j); }
#pragma unroll
      for (int e = 0; e < edges; ++e) {
        const int which = part.edge + e * stride;
        edge[k][e] = which < part.edges ? source[k][part.edge_at<pack_size>(which)] : Operator::filler();
      }
    }
  }

  __device__ Compute largest() const {
    Compute result = minus_infinity<Compute>();
#pragma unroll
    for (int j = 0; j < packs; ++j) { result = fmax(result, largest_of<Compute>(body[0][j])); }
#pragma unroll
    for (int e = 0; e < edges; ++e) { result = fmax(result, static_cast<Compute>(edge[0][e])); }
    return result;
  }

  // Elements of 16 bits stay packed: the compiler must not keep what it has converted, which takes twice the registers. A
  // zero that it cannot know to be one makes the packed words new to it.
  __device__ void forget_converted(unsigned int zero) {
    if constexpr (sizeof(T) == 2 && packs * pack_size * inputs > FORGET) {
#pragma unroll
      for (int k = 0; k < inputs; ++k) {
#pragma unroll
        for (int j = 0; j < packs; ++j) { mix(body[k][j].word, zero); }
      }
    }
  }

  // Hands every element to f, as an array of its inputs; with `change` the first may be replaced.
  template<bool change = false, class Function>
  __device__ void visit(Function f) {
#pragma unroll
    for (int j = 0; j < packs; ++j) {
#pragma unroll
      for (int i = 0; i < pack_size; ++i) {
        Compute values[inputs];
#pragma unroll
        for (int k = 0; k < inputs; ++k) { values[k] = static_cast<Compute>(body[k][j].elem[i]); }
        f(values);
        if constexpr (change) { body[0][j].elem[i] = static_cast<T>(values[0]); }
      }
    }
#pragma unroll
    for (int e = 0; e < edges; ++e) {
      Compute values[inputs];
#pragma unroll
      for (int k = 0; k < inputs; ++k) { values[k] = static_cast<Compute>(edge[k][e]); }
      f(values);
      if constexpr (change) { edge[0][e] = static_cast<T>(values[0]); }
    }
  }

  // Writes the results; each pack that is done makes room for one of the next row, which is asked for at once.
  template<bool refill = false, class Result>
  __device__ void store(
      const Part& part, T* target, Result result, const Part& next = {}, const T* const (&source)[inputs] = {}) {
#pragma unroll
    for (int j = 0; j < packs; ++j) {
      const int pack = part.first + j * stride;
      if (pack < part.stop) {
        Compute results[pack_size];
#pragma unroll
        for (int i = 0; i < pack_size; ++i) {
          Compute values[inputs];
#pragma unroll
          for (int k = 0; k < inputs; ++k) { values[k] = static_cast<Compute>(body[k][j].elem[i]); }
          results[i] = result(values);
        }
        store_streaming<T, pack_size>(target + part.pack_at<pack_size>(pack), packed<T, pack_size>(results));
      }
      if constexpr (refill) {
#pragma unroll
        for (int k = 0; k < inputs; ++k) { load_pack(next, source[k], k, j); }
      }
    }
#pragma unroll
    for (int e = 0; e < edges; ++e) {
      const int which = part.edge + e * stride;
      if (which < part.edges) {
        Compute values[inputs];
#pragma unroll
        for (int k = 0; k < inputs; ++k) { values[k] = static_cast<Compute>(edge[k][e]); }
        target[part.edge_at<pack_size>(which)] = static_cast<T>(result(values));
      }
      if constexpr (refill) {
        const int following = next.edge + e * stride;
#pragma unroll
        for (int k = 0; k < inputs; ++k) {
          edge[k][e] = following < next.edges ? source[k][next.edge_at<pack_size>(following)] : Operator::filler();
        }
      }
    }
  }

 private:
  __device__ void load_pack(const Part& part, const T* source, int k, int j) {
    const int pack = part.first + j * stride;
    if (pack < part.stop) {
      body[k][j] = load_streaming<T, pack_size>(source + part.pack_at<pack_size>(pack));
    } else {
#pragma unroll
      for (int i = 0; i < pack_size; ++i) { body[k][j].elem[i] = Operator::filler(); }
    }
  }
};
