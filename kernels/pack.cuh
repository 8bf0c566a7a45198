// A pack: neighbouring elements of a row that one thread moves with one instruction.
//
// Idea     A GPU moves 4, 8 or 16 bytes per lane in one instruction, if the address is a multiple of that size. Two
//          floats as a pack are one 64-bit load instead of two 32-bit ones: half the instructions for the same bytes.
// Limits   pack_size * sizeof(T) is 1, 2, 4, 8 or 16 bytes; the address must be a multiple of it, or the GPU reports a
//          misaligned address. So the row length, and the array's first element, must be multiples of a pack.
// Source   CUDA C++ Programming Guide, "Device Memory Accesses"; OneFlow's softmax uses packs of 2.
#pragma once

// The machine word of `bytes` bytes. A copy of it as one value compiles to one instruction for the whole pack.
template<int bytes>
struct Word;

template<>
struct Word<1> {
  using type = unsigned char;
};
template<>
struct Word<2> {
  using type = unsigned short;
};
template<>
struct Word<4> {
  using type = unsigned int;
};
template<>
struct Word<8> {
  using type = uint2;
};
template<>
struct Word<16> {
  using type = uint4;
};

// The same bytes under two names: `word` to move them, `elem` to compute with them.
template<typename T, int pack_size>
union Pack {
  typename Word<pack_size * sizeof(T)>::type word;
  T elem[pack_size];
};
