// How the fast kernels move data: up to 16 bytes an instruction, and no branch around it.
//
// Idea     A thread whose pack lies beyond the row must not touch memory. Written as `if`, that may become a branch,
//          and loads behind a branch leave one by one. Here the condition is the instruction's own predicate: all loads
//          of a thread leave back to back, and so do its stores, in the order in which they are written.
// Idea     cp.async brings a pack from global to shared memory past the registers: the thread names a place and goes
//          on.
// Limits   The address is a multiple of the pack's bytes. cp.async takes sm_80 and packs of 4, 8 or 16 bytes.
// Measured H200: hints that keep the lines out of L1 (L1::no_allocate, .cs) cost 2 to 4 % and gain nowhere, a bulk
//          prefetch of the next row into L2 costs 10 %, and stores that the compiler hides behind branches cost up to
//          40 % where rows are not a multiple of 16 bytes.
// Source   PTX ISA, "Predicated Execution", "ld", "st", "cp.async".
#pragma once

#include "pack.cuh"

__device__ inline void load_if(bool wanted, unsigned short& word, const void* address) {
  asm volatile("{ .reg .pred wanted; setp.ne.u32 wanted, %2, 0; @wanted ld.global.u16 %0, [%1]; }"
               : "+h"(word)
               : "l"(address), "r"(static_cast<unsigned int>(wanted)));
}
__device__ inline void load_if(bool wanted, unsigned int& word, const void* address) {
  asm volatile("{ .reg .pred wanted; setp.ne.u32 wanted, %2, 0; @wanted ld.global.u32 %0, [%1]; }"
               : "+r"(word)
               : "l"(address), "r"(static_cast<unsigned int>(wanted)));
}
__device__ inline void load_if(bool wanted, uint2& word, const void* address) {
  asm volatile("{ .reg .pred wanted; setp.ne.u32 wanted, %3, 0; @wanted ld.global.v2.u32 {%0, %1}, [%2]; }"
               : "+r"(word.x), "+r"(word.y)
               : "l"(address), "r"(static_cast<unsigned int>(wanted)));
}
__device__ inline void load_if(bool wanted, uint4& word, const void* address) {
  asm volatile("{ .reg .pred wanted; setp.ne.u32 wanted, %5, 0; @wanted ld.global.v4.u32 {%0, %1, %2, %3}, [%4]; }"
               : "+r"(word.x), "+r"(word.y), "+r"(word.z), "+r"(word.w)
               : "l"(address), "r"(static_cast<unsigned int>(wanted)));
}

__device__ inline void store_if(bool wanted, void* address, unsigned short word) {
  asm volatile("{ .reg .pred wanted; setp.ne.u32 wanted, %2, 0; @wanted st.global.u16 [%0], %1; }" ::"l"(address),
               "h"(word), "r"(static_cast<unsigned int>(wanted))
               : "memory");
}
__device__ inline void store_if(bool wanted, void* address, unsigned int word) {
  asm volatile("{ .reg .pred wanted; setp.ne.u32 wanted, %2, 0; @wanted st.global.u32 [%0], %1; }" ::"l"(address),
               "r"(word), "r"(static_cast<unsigned int>(wanted))
               : "memory");
}
__device__ inline void store_if(bool wanted, void* address, uint2 word) {
  asm volatile(
      "{ .reg .pred wanted; setp.ne.u32 wanted, %3, 0; @wanted st.global.v2.u32 [%0], {%1, %2}; }" ::"l"(address),
      "r"(word.x), "r"(word.y), "r"(static_cast<unsigned int>(wanted))
      : "memory");
}
__device__ inline void store_if(bool wanted, void* address, uint4 word) {
  asm volatile(
      "{ .reg .pred wanted; setp.ne.u32 wanted, %5, 0; @wanted st.global.v4.u32 [%0], {%1, %2, %3, %4}; }" ::"l"(
          address),
      "r"(word.x), "r"(word.y), "r"(word.z), "r"(word.w), "r"(static_cast<unsigned int>(wanted))
      : "memory");
}

// Starts to copy a pack into shared memory. Only await_copies() makes it visible, and to this thread alone.
template<typename T, int pack_size>
__device__ void copy_async(Pack<T, pack_size>* shared, const T* address) {
  const auto place = static_cast<unsigned int>(__cvta_generic_to_shared(shared));
  constexpr int bytes = pack_size * sizeof(T);
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(address) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(address), "n"(bytes) : "memory");
  }
}

__device__ inline void await_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Copies in groups: ends a group, and waits for all groups of this thread but the last `left`.
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template<int left>
__device__ void await_copies_but() {
  asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
}
