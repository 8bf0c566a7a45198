// Which elements of a row a thread owns, and how it holds them: 16 bytes at a time whatever the row's length and
//          address.
//
// Idea     A row that starts anywhere has a head of a few elements up to the next sector (32 bytes, the least that
//          memory moves), a body of whole packs, and a tail of less than a pack. Head and tail together, the edges, are
//          given to as many threads, one element each. So 50 257 columns cost one load and one store more than 50 256.
// Idea     All packs of a thread are asked for before the first is looked at: so many bytes are on their way at once.
// Idea     16-bit elements stay packed in their registers, half as many as floats would take.
// Limits   x and y lie equally far from a multiple of a pack's bytes. Without ragged, they and all rows start at one,
//          and rows end at one.
#pragma once

#include "arithmetic.cuh"
#include "fast_memory.cuh"

constexpr int sector_bytes = 32;

// What the body of a ragged row begins at a multiple of, in elements: a sector, or a pack where that is more.
template<typename T, int pack_size>
constexpr int body_alignment = sector_bytes / sizeof(T) > pack_size ? sector_bytes / sizeof(T) : pack_size;

// A thread's part of a row, in elements from the start of the array.
struct Part {
  long long start;  // the row
  int head;         // elements before the body
  int packs;        // whole packs of the body
  int edges;        // elements of head and tail together
  int first;        // this thread's first pack; the others follow at a fixed stride
  int stop;         // the pack that its packs end before
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

// The part of thread `member` in share `share` of `shares` of a row. A row beyond the last has no elements. Shares are
// whole lines of 128 bytes (8 packs of 16 bytes); the edges belong to the first.
template<int pack_size, bool ragged, typename T>
__device__ Part part_of(
    const T* array, long long row, long long rows, long long cols, int member, int share = 0, int shares = 1) {
  Part part{row * cols, 0, 0, 0, 0, 0, 0};
  if (row >= rows) { return part; }
  if constexpr (ragged) {
    const auto place = static_cast<unsigned int>(reinterpret_cast<unsigned long long>(array) / sizeof(T) + part.start);
    constexpr unsigned int alignment = body_alignment<T, pack_size>;
    part.head = static_cast<int>(min(static_cast<long long>(-place % alignment), cols));
  }
  part.packs = static_cast<int>((cols - part.head) / pack_size);
  part.edges = static_cast<int>(cols - static_cast<long long>(part.packs) * pack_size);
  const int length = shares == 1 ? part.packs : ((part.packs + shares - 1) / shares + 7) / 8 * 8;
  part.first = share * length + member;
  part.stop = min(part.packs, (share + 1) * length);
  part.edge = share == 0 ? member : part.edges;
  return part;
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

__device__ inline void change(unsigned short& word, unsigned int bits) { word ^= bits; }
__device__ inline void change(unsigned int& word, unsigned int bits) { word ^= bits; }
__device__ inline void change(uint2& word, unsigned int bits) { word.x ^= bits, word.y ^= bits; }
__device__ inline void change(uint4& word, unsigned int bits) {
  word.x ^= bits, word.y ^= bits, word.z ^= bits, word.w ^= bits;
}

// One pack of each of the inputs, element by element as the operator computes.
template<class Operator, int pack_size>
struct Packs {
  using T = typename Operator::Element;
  using Compute = typename Operator::Compute;
  static constexpr int inputs = Operator::inputs;

  Pack<T, pack_size> of[inputs];

  __device__ void fill() {
#pragma unroll
    for (int k = 0; k < inputs; ++k) {
#pragma unroll
      for (int i = 0; i < pack_size; ++i) { of[k].elem[i] = Operator::filler(); }
    }
  }
  __device__ void load_if(bool wanted, const T* const (&source)[inputs], long long at) {
#pragma unroll
    for (int k = 0; k < inputs; ++k) { ::load_if(wanted, of[k].word, source[k] + at); }
  }
  // Hands each element to f, as an array of its inputs; with `change` the first input is what f has left there.
  template<bool change, class Function>
  __device__ void visit(Function f) {
#pragma unroll
    for (int i = 0; i < pack_size; ++i) {
      Compute values[inputs];
#pragma unroll
      for (int k = 0; k < inputs; ++k) { values[k] = static_cast<Compute>(of[k].elem[i]); }
      f(values);
      if constexpr (change) { of[0].elem[i] = static_cast<T>(values[0]); }
    }
  }
};

// What a thread keeps of a row in registers: `packs` packs of it, `stride` packs apart, and its edges.
template<class Operator, int pack_size, int packs, int stride, bool ragged>
struct Held {
  using T = typename Operator::Element;
  using Compute = typename Operator::Compute;
  static constexpr int inputs = Operator::inputs;
  static constexpr int most_edges = body_alignment<T, pack_size> - 1 + pack_size - 1;
  static constexpr int edges = ragged ? (most_edges + stride - 1) / stride : 0;

  Packs<Operator, pack_size> body[packs];
  Packs<Operator, 1> edge[edges ? edges : 1];

  __device__ void load(const Part& part, const T* const (&source)[inputs]) {
#pragma unroll
    for (int j = 0; j < packs; ++j) { load_pack(part, source, j); }
#pragma unroll
    for (int e = 0; e < edges; ++e) { load_edge(part, source, e); }
  }

  __device__ Compute largest() const {
    Compute result = minus_infinity<Compute>();
#pragma unroll
    for (int j = 0; j < packs; ++j) { result = fmax(result, largest_of<Compute>(body[j].of[0])); }
#pragma unroll
    for (int e = 0; e < edges; ++e) { result = fmax(result, static_cast<Compute>(edge[e].of[0].elem[0])); }
    return result;
  }

  template<bool change, class Function>
  __device__ void visit(Function f) {
#pragma unroll
    for (int j = 0; j < packs; ++j) { body[j].template visit<change>(f); }
#pragma unroll
    for (int e = 0; e < edges; ++e) { edge[e].template visit<change>(f); }
  }

  // The compiler would keep the 16-bit elements that it has converted, in twice the registers. `zero` is one that it
  // does not know to be zero, so to it the packed elements are new ones. A few may stay converted: that saves
  // instructions.
  __device__ void convert_again(unsigned int zero) {
    if constexpr (sizeof(T) == 2 && packs * pack_size * inputs > 16) {
#pragma unroll
      for (int j = 0; j < packs; ++j) {
#pragma unroll
        for (int k = 0; k < inputs; ++k) { change(body[j].of[k].word, zero); }
      }
    }
  }

  // Computes the results in place, then writes them, one store after the other.
  template<class Result>
  __device__ void store(const Part& part, T* target, Result result) {
    visit<true>([&](Compute* values) { values[0] = result(values); });
#pragma unroll
    for (int j = 0; j < packs; ++j) { store_pack(part, target, j); }
#pragma unroll
    for (int e = 0; e < edges; ++e) { store_edge(part, target, e); }
  }

  // The same; each store makes room for a pack of the next row, which is asked for at once.
  template<class Result>
  __device__ void store_and_load(
      const Part& part, T* target, Result result, const Part& next, const T* const (&source)[inputs]) {
    visit<true>([&](Compute* values) { values[0] = result(values); });
#pragma unroll
    for (int j = 0; j < packs; ++j) { store_pack(part, target, j), load_pack(next, source, j); }
#pragma unroll
    for (int e = 0; e < edges; ++e) { store_edge(part, target, e), load_edge(next, source, e); }
  }

 private:
  __device__ void load_pack(const Part& part, const T* const (&source)[inputs], int j) {
    const int pack = part.first + j * stride;
    body[j].fill();
    body[j].load_if(pack < part.stop, source, part.pack_at<pack_size>(pack));
  }
  __device__ void load_edge(const Part& part, const T* const (&source)[inputs], int e) {
    const int which = part.edge + e * stride;
    edge[e].fill();
    edge[e].load_if(which < part.edges, source, part.edge_at<pack_size>(which));
  }
  __device__ void store_pack(const Part& part, T* target, int j) const {
    const int pack = part.first + j * stride;
    store_if(pack < part.stop, target + part.pack_at<pack_size>(pack), body[j].of[0].word);
  }
  __device__ void store_edge(const Part& part, T* target, int e) const {
    const int which = part.edge + e * stride;
    store_if(which < part.edges, target + part.edge_at<pack_size>(which), edge[e].of[0].word);
  }
};
