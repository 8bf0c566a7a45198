// A row in shared memory, kept in packs: the address, and so the bank, of each element.
//
// Idea     Shared memory has 32 banks of 4 bytes. Lanes of a warp that need different words of one bank wait for each
//          other. A thread moves packs, so it matters whether a pack goes along the banks or across them: see Layout.
// Limits   The words start at a multiple of a pack's bytes, which the compiler may use to move a pack at once.
// Source   OneFlow's softmax, whose layout is `column`.
#pragma once

// The index of element i of pack p in shared memory. The index decides the bank (32 banks, 4 bytes wide).
//   column      i * packs + p: each pack is a column. Neighbouring lanes write neighbouring words: no conflict.
//   row         p * pack_size + i: each pack is a row. Element by element, lanes l and l + 16 would use the
//               same bank. But the compiler sees neighbouring words and writes a pack of 2 by one 64-bit store, with no
//               conflict.
//   row_scalar  the same indices through a volatile pointer, whose stores the compiler must not combine. Here the two
//               stores of a pack of 2 do conflict in their banks, and `column` avoids that.
enum class Layout { column, row, row_scalar };

template<Layout layout, typename Compute>
struct SharedWord {
  using type = Compute;
};
template<typename Compute>
struct SharedWord<Layout::row_scalar, Compute> {
  using type = volatile Compute;
};

// A row in shared memory: `words` one by one, or `pack_size` at a time by the layout.
template<Layout layout, int pack_size, typename Compute>
struct SharedRow {
  typename SharedWord<layout, Compute>::type* words;
  int packs;

  __device__ int index(int pack, int i) const {
    return layout == Layout::column ? i * packs + pack : pack * pack_size + i;
  }
  __device__ void write(int pack, const Compute* source) const {
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { words[index(pack, i)] = source[i]; }
  }
  __device__ void read(int pack, Compute* destination) const {
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { destination[i] = words[index(pack, i)]; }
  }
};
