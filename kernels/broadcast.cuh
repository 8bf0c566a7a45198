// A second operand, such as a mask or a bias, broadcast over the rows: which of its elements belong to a row.
//
// Idea     A mask for all heads of an attention matrix, or a bias for all its rows, is smaller than the matrix. No copy
//          makes it larger: with a stride of 0 the next row reads the same elements again.
// Traffic  An operand along the row: one vector access per pack. One element for the whole row: one access per pack, of
//          the same address in all lanes. Elements that rows share come from the caches.
// Limits   A row's index is split from its last dimension to its first, with one division per dimension but one. So
//          merge neighbouring dimensions where possible. strides are in elements. They are multiples of a pack if
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
