// A row in shared memory, kept in packs: where each element lies, and so in which bank.
//
// Idea     Shared memory has 32 banks of 4 bytes; lanes of a warp that want different words of one bank wait for each
//          other. A thread moves packs, so it matters whether a pack lies along the banks or across them: see Layout.
// Limits   The words start at a multiple of a pack's bytes, which the compiler may use to move a pack at once.
// Source   OneFlow's softmax, whose layout is `column`.
#pragma once

// Where element i of pack p lies in shared memory, and in which of the 32 banks (4 bytes wide) it so falls.
//   column      i * packs + p: the packs stand upright. Neighbouring lanes write neighbouring words: no conflict.
//   row         p * pack_size + i: the packs lie side by side. Element by element, lanes l and l + 16 would meet in a
//               bank; but the compiler sees neighbouring words, writes a pack of 2 by one 64-bit store, and has no
//               conflict.
//   row_scalar  the same places through a volatile pointer, whose stores the compiler must not combine: here the two
//               stores of a pack of 2 do meet in their banks, and `column` has something to avoid.
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

  __device__ int place(int pack, int i) const {
    return layout == Layout::column ? i * packs + pack : pack * pack_size + i;
  }
  __device__ void write(int pack, const Compute* source) const {
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { words[place(pack, i)] = source[i]; }
  }
  __device__ void read(int pack, Compute* destination) const {
#pragma unroll
    for (int i = 0; i < pack_size; ++i) { destination[i] = words[place(pack, i)]; }
  }
};
