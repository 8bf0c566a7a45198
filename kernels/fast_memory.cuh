// Memory traffic of data that is touched once: 16 bytes an instruction, and nothing kept in a cache that nobody asks again.
//
// Idea     A row is read once and written once, so a line that stays in the L1 or L2 after that only displaces another.
//          The "streaming" loads and stores (.cs) mark their lines as the first to go. cp.async brings 16 bytes from
//          global to shared memory past the registers: the thread names a place for them and goes on.
// Limits   An address is a multiple of the pack's bytes. cp.async needs sm_80 and packs of 4, 8 or 16 bytes.
// Source   CUDA C++ Programming Guide, "Load Functions Using Cache Hints"; PTX ISA, "cp.async".
#pragma once

#include "pack.cuh"

template<typename T, int pack_size>
__device__ Pack<T, pack_size> load_streaming(const T* address) {
  using Bits = typename Word<pack_size * sizeof(T)>::type;
  Pack<T, pack_size> pack;
#ifndef LOADHINT
#define LOADHINT 1
#endif
#ifndef STOREHINT
#define STOREHINT 1
#endif
#if LOADHINT == 0
  pack.word = *reinterpret_cast<const Bits*>(address);
#elif LOADHINT == 1
  pack.word = __ldcs(reinterpret_cast<const Bits*>(address));
#elif LOADHINT == 2
  if constexpr (sizeof(Bits) == 16) {
    uint4 w;
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w) : "l"(address));
    pack.word = *reinterpret_cast<Bits*>(&w);
  } else { pack.word = *reinterpret_cast<const Bits*>(address); }
#elif LOADHINT == 3
  if constexpr (sizeof(Bits) == 16) {
    uint4 w;
    asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w) : "l"(address));
    pack.word = *reinterpret_cast<Bits*>(&w);
  } else { pack.word = *reinterpret_cast<const Bits*>(address); }
#endif
  return pack;
}

template<typename T, int pack_size>
__device__ void store_streaming(T* address, const Pack<T, pack_size>& pack) {
  using Bits = typename Word<pack_size * sizeof(T)>::type;
#if STOREHINT == 0
  *reinterpret_cast<Bits*>(address) = pack.word;
#else
  __stcs(reinterpret_cast<Bits*>(address), pack.word);
#endif
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
