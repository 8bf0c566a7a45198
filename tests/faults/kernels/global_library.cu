// libcu++ as kernels use it.
#include <cuda/atomic>
#include <cuda/barrier>

// == atomic_reference
extern "C" __global__ void atomic_reference(const int* a, int* c) {
  cuda::atomic_ref<int, cuda::thread_scope_device> sum(c[0]);
  sum.fetch_add(a[blockIdx.x * blockDim.x + threadIdx.x], cuda::memory_order_relaxed);
}

// == message_by_reference
extern "C" __global__ void message_by_reference(const int* a, int* c, int* d, int* flag) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    c[0] = a[0];
    ready.store(1, cuda::memory_order_release);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {}
    d[blockIdx.x] = c[0];
  }
}

// == barrier_of_a_block
#pragma nv_diag_suppress static_var_with_dynamic_init
extern "C" __global__ void barrier_of_a_block(const int* a, int* c, int* d) {
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
  if (threadIdx.x == 0) init(&all, blockDim.x);
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = a[i];
  all.arrive_and_wait();
  d[i] = c[i ^ 1];
}

// == semaphore
extern "C" __global__ void semaphore(int* c, int* lock) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> held(*lock);
  while (held.exchange(1, cuda::memory_order_acquire) != 0) {}
  c[0] += 1;
  held.store(0, cuda::memory_order_release);
}
