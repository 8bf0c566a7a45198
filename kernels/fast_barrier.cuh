// mbarrier objects: counts of arrivals in shared memory that threads wait for.
//
// Idea     At a barrier of the block, all threads wait for all threads. An mbarrier knows how many arrivals end its
//          phase. A thread that arrives continues at once; only a thread that needs the event waits. A wait names the
//          phase by its parity: 0, 1, 0, ...
// Limits   sm_90 (try_wait).
// Source   PTX ISA, "mbarrier".
#pragma once

__device__ inline unsigned int shared_address(const void* variable) {
  return static_cast<unsigned int>(__cvta_generic_to_shared(variable));
}

__device__ inline void barrier_init(unsigned long long* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

__device__ inline void barrier_arrive(unsigned long long* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

// Arrives, and lets the phase end only after `bytes` bytes have come, too.
__device__ inline void barrier_arrive(unsigned long long* barrier, unsigned int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}

__device__ inline void barrier_wait(const unsigned long long* barrier, int parity) {
  unsigned int over = 0;
  while (!over) {
    asm volatile(
        "{ .reg .pred over; mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2; selp.u32 %0, 1, 0, over; }"
        : "=r"(over)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  }
}
