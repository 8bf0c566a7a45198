// Loads and stores as function objects: a kernel moves packs and does not know where they come from.
//
// Idea     A kernel asks for `pack_size` neighbours of a row, in the compute type. How they are read and converted is
//          up to the function object. So scaling, masking or adding a bias is another `load`, not another kernel.
// Traffic  One vector access per pack: pack_size * sizeof(T) bytes per lane.
// Limits   `col` and the row length are multiples of pack_size, and the array starts at a multiple of a pack's bytes.
//          Offsets are 64-bit: more than 2^31 elements are fine.
// Source   OneFlow's softmax (DirectLoad, DirectStore).
#pragma once

#include "pack.cuh"

template<typename T, typename Compute>
struct DirectLoad {
  const T* source;
  long long row_size;

  template<int pack_size>
  __device__ void load(Compute* destination, long long row, long long col) const {
    const long long offset = (row * row_size + col) / pack_size;
    Pack<T, pack_size> pack;
    pack.word = reinterpret_cast<const Pack<T, pack_size>*>(source)[offset].word;
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { destination[i] = static_cast<Compute>(pack.elem[i]); }
  }
};

template<typename T, typename Compute>
struct DirectStore {
  T* destination;
  long long row_size;

  template<int pack_size>
  __device__ void store(const Compute* source, long long row, long long col) const {
    const long long offset = (row * row_size + col) / pack_size;
    Pack<T, pack_size> pack;
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { pack.elem[i] = static_cast<T>(source[i]); }
    reinterpret_cast<Pack<T, pack_size>*>(destination)[offset].word = pack.word;
  }
};
