// Dropout by counting: whether an element is dropped follows from its index and a seed alone.
//
// Idea     A generator with a state would need memory per thread, and its numbers would depend on which thread took
//          which element. Philox has no state: it scrambles a counter under a key. The element's index is the counter
//          and the seed is the key. So every launch shape, GPU and emulator drop the same elements, and the gradient
//          finds them again without a mask in memory.
// Traffic  None. About 60 integer instructions for four elements; a pack of fewer than four throws away the rest.
// Limits   An element is dropped with probability threshold / 2^32. cols is a multiple of pack_size, which is 1, 2, 4
//          or 8.
// Source   J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011:
//          Philox4x32 with 10 rounds.
#pragma once

// Four random words of a 128-bit counter under a 64-bit key.
__device__ inline uint4 philox(uint4 counter, uint2 key) {
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned int high_x = __umulhi(0xD2511F53u, counter.x), low_x = 0xD2511F53u * counter.x;
    const unsigned int high_z = __umulhi(0xCD9E8D57u, counter.z), low_z = 0xCD9E8D57u * counter.z;
    counter = make_uint4(high_z ^ counter.y ^ key.x, low_z, high_x ^ counter.w ^ key.y, low_x);
    key.x += 0x9E3779B9u;  // the golden ratio and sqrt(3) - 1, as fractions of 2^32
    key.y += 0xBB67AE85u;
  }
  return counter;
}

template<typename Compute>
struct Dropout {
  unsigned long long seed;
  long long cols;
  unsigned int threshold;
  Compute scale;  // of what is kept: 1 / (1 - probability)

  // Element n of the matrix has word n % 4 of counter n / 4.
  template<int pack_size>
  __device__ void apply(Compute* values, long long row, long long col) const {
    constexpr int at_once = pack_size < 4 ? pack_size : 4;
    const unsigned long long first = row * cols + col;
    const uint2 key = make_uint2(static_cast<unsigned int>(seed), static_cast<unsigned int>(seed >> 32));
#pragma unroll
    for (int start = 0; start < pack_size; start += at_once) {
      const unsigned long long count = (first + start) / 4;
      const uint4 words =
          philox(make_uint4(static_cast<unsigned int>(count), static_cast<unsigned int>(count >> 32), 0, 0), key);
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const int which = at_once == 4 ? i : static_cast<int>(first % 4) + i;
        const unsigned int low = which % 2 == 0 ? words.x : words.y, high = which % 2 == 0 ? words.z : words.w;
        values[start + i] = (which < 2 ? low : high) < threshold ? Compute(0) : values[start + i] * scale;
      }
    }
  }
};
