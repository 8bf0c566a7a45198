// A second operand, such as a mask or a bias, broadcast over the rows: which of its elements belong to a row.
//
// Idea     A mask for all heads of an attention matrix, or a bias for all its rows, is smaller than the matrix. It
//          stays so: a stride of 0 reads the same elements again for the next row instead of a copy.
// Traffic  An operand along the row: one vector access a pack. One element for the whole row: one access a pack, of the
//          same address in all lanes. What rows share comes from the caches.
// Limits   A row's number is taken apart from its last dimension to its first, so a division for each dimension but
//          one: neighbours that can be one dimension should be. strides are in elements, multiples of a pack where
//          along_row, and 0 where the operand does not vary.
#pragma once

#include "pack.cuh"

template<typename Element, int dimensions, bool along_row>
struct Broadcast {
  const Element* elements;
  long long sizes[dimensions];  // of the dimensions that make up the rows; the first is not needed
  long long strides[dimensions];

  template<int pack_size>
  __device__ void read(Element* destination, long long row, long long col) const {
    long long offset = 0;
#pragma unroll
    for (int d = dimensions - 1; d > 0; --d) {
      offset += row % sizes[d] * strides[d];
      row /= sizes[d];
    }
    offset += row * strides[0];
    if constexpr (along_row) {
      Pack<Element, pack_size> pack;
      pack.word = reinterpret_cast<const Pack<Element, pack_size>*>(elements)[(offset + col) / pack_size].word;
#pragma unroll
      for (int i = 0; i < pack_size; ++i) { destination[i] = pack.elem[i]; }
    } else {
      const Element element = elements[offset];
#pragma unroll
      for (int i = 0; i < pack_size; ++i) { destination[i] = element; }
    }
  }
};
