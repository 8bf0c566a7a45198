// Order without a barrier: a lock, a flag with fences, acquire and release.
#include <cuda/atomic>

// Threads of different warps add up under a lock in shared memory.
extern "C" __global__ void lock_in_shared_memory(const int* x, int* y) {
  __shared__ int lock, total;
  if (threadIdx.x == 0) lock = total = 0;
  __syncthreads();
  if (threadIdx.x % 16 == 3) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence_block();
    total += x[threadIdx.x];
    __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  y[threadIdx.x] = total;
}

// One warp tells the other by a flag.
extern "C" __global__ void flag_in_shared_memory(int* out) {
  __shared__ volatile int ready;
  __shared__ int value;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    *reinterpret_cast<volatile int*>(&value) = 7;
    __threadfence_block();
    ready = 1;
  }
  if (threadIdx.x < 32) {
    while (ready == 0) {
    }
    out[threadIdx.x] = *reinterpret_cast<volatile int*>(&value);
  }
}

// A flag as the language has it: release on one side, acquire on the other.
extern "C" __global__ void acquire_and_release(const int* x, int* y) {
  __shared__ int values[32];
  __shared__ int ready;
  cuda::atomic_ref<int, cuda::thread_scope_block> flag(ready);
  if (threadIdx.x == 0) flag.store(0, cuda::std::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x >= 32) {
    values[threadIdx.x - 32] = x[threadIdx.x - 32];
    __syncwarp();
    if (threadIdx.x == 32) flag.store(1, cuda::std::memory_order_release);
  } else {
    while (flag.load(cuda::std::memory_order_acquire) == 0) {
    }
    y[threadIdx.x] = values[31 - threadIdx.x];
  }
}
