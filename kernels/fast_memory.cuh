// How the fast kernels move data: up to 16 bytes per instruction, and no branch around it.
//
// Idea     A thread whose pack lies beyond the row must not touch memory. An `if` may become a branch, and the loads
//          behind branches leave one by one. Here the condition is the predicate of the instruction itself. So all
//          loads of a thread leave back to back, and so do its stores, in the order of the source.
// Idea     cp.async copies a pack from global to shared memory and uses no register for it. The thread gives an address
//          in shared memory and continues.
// Limits   The address is a multiple of the pack's bytes. cp.async needs sm_80 and packs of 4, 8 or 16 bytes.
// Measured H200: hints that keep lines out of L1 (L1::no_allocate, .cs) cost 2 to 4 % and gain nowhere. A bulk prefetch
//          of the next row into L2 costs 10 %. Stores that the compiler hides behind branches cost up to 40 % if rows
//          are not a multiple of 16 bytes.
// Source   PTX ISA, "Predicated Execution", "ld", "st", "cp.async".
#pragma once

#include "pack.cuh"

__device__ inline void load_if(bool wanted, unsigned char& word, const void* address) {
  unsigned short wide = word;
  asm volatile("{ .reg .pred wanted; setp.ne.u32 wanted, %2, 0; @wanted ld.global.u8 %0, [%1]; }"
               : "+h"(wide)
               : "l"(address), "r"(static_cast<unsigned int>(wanted)));
  word = static_cast<unsigned char>(wide);
}
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

// Starts a copy of one pack into shared memory. Neighbouring packs share a sector of 32 bytes, and their places must
// share one, too: a ring that began in the middle of a sector cost up to 15 % (H200). The pack is visible only after
// wait_copies(), and only to this thread.
template<typename T, int pack_size>
__device__ void copy_async(Pack<T, pack_size>* shared, const T* address) {
  const auto slot = static_cast<unsigned int>(__cvta_generic_to_shared(shared));
  constexpr int bytes = pack_size * sizeof(T);
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(slot), "l"(address) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(slot), "l"(address), "n"(bytes) : "memory");
  }
}

// The same under a predicate, for packs of 4 bytes or more.
template<typename T, int pack_size>
__device__ void copy_async_if(bool wanted, Pack<T, pack_size>* shared, const T* address) {
  const auto slot = static_cast<unsigned int>(__cvta_generic_to_shared(shared));
  constexpr int bytes = pack_size * sizeof(T);
  if constexpr (bytes == 16) {
    asm volatile("{ .reg .pred wanted; setp.ne.u32 wanted, %2, 0; @wanted cp.async.cg.shared.global [%0], [%1], 16; }" ::
                     "r"(slot),
                 "l"(address), "r"(static_cast<unsigned int>(wanted))
                 : "memory");
  } else {
    asm volatile("{ .reg .pred wanted; setp.ne.u32 wanted, %2, 0; @wanted cp.async.ca.shared.global [%0], [%1], %3; }" ::
                     "r"(slot),
                 "l"(address), "r"(static_cast<unsigned int>(wanted)), "n"(bytes)
                 : "memory");
  }
}

__device__ inline void wait_all_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Copies come in groups. commit_copies() ends a group. wait_copies() waits until at most `pending` groups of this
// thread, the newest ones, are unfinished.
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template<int pending>
__device__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// Brings the line of 128 bytes that holds an address into the L2 cache.
__device__ inline void fetch_into_l2_if(bool wanted, const void* address) {
  asm volatile("{ .reg .pred wanted; setp.ne.u32 wanted, %1, 0; @wanted prefetch.global.L2 [%0]; }" ::"l"(address),
               "r"(static_cast<unsigned int>(wanted)));
}
// The same; the line stays there longer than others.
__device__ inline void fetch_and_keep_if(bool wanted, const void* address) {
  asm volatile("{ .reg .pred wanted; setp.ne.u32 wanted, %1, 0; @wanted prefetch.global.L2::evict_last [%0]; }" ::"l"(
                   address),
               "r"(static_cast<unsigned int>(wanted)));
}
