// Atomics whose counters are compared with a GPU's. `where` holds the element that each thread accesses.
#include <cuda_fp16.h>

enum class Op { add, add_one, max, exchange, compare_and_swap };

template <Op op, class T>
__device__ T apply(T* address, T value) {
  if constexpr (op == Op::add) return atomicAdd(address, value);
  if constexpr (op == Op::add_one) return atomicAdd(address, T(1));
  if constexpr (op == Op::max) return atomicMax(address, value);
  if constexpr (op == Op::exchange) return atomicExch(address, value);
  if constexpr (op == Op::compare_and_swap) return atomicCAS(address, T{}, value);
}

template <Op op, class T>
__global__ void shared_atomic(const int* where, const T* values, T* out) {
  __shared__ T bins[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) bins[i] = T{};
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  apply<op>(&bins[where[i]], values[i]);
  __syncthreads();
  out[i] = bins[threadIdx.x];
}

template <Op op, class T>
__global__ void shared_atomic_result(const int* where, const T* values, T* out) {
  __shared__ T bins[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) bins[i] = T{};
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = apply<op>(&bins[where[i]], values[i]);
}

template <Op op, class T>
__global__ void global_atomic(const int* where, const T* values, T* bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  apply<op>(&bins[where[i]], values[i]);
}

template <Op op, class T>
__global__ void global_atomic_result(const int* where, const T* values, T* bins, T* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = apply<op>(&bins[where[i]], values[i]);
}

// One address that the compiler knows to be the same in all lanes.
extern "C" __global__ void count_all(int* count) { atomicAdd(count, 1); }

extern "C" __global__ void sum_all(const int* values, int* sum) {
  atomicAdd(sum, values[blockIdx.x * blockDim.x + threadIdx.x]);
}

extern "C" __global__ void sum_all_floats(const float* values, float* sum) {
  atomicAdd(sum, values[blockIdx.x * blockDim.x + threadIdx.x]);
}

extern "C" __global__ void take_tickets(int* count, int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(count, 1);
}

extern "C" __global__ void largest(const int* values, int* out) { atomicMax(out, values[blockIdx.x * blockDim.x + threadIdx.x]); }

// Shared memory: one counter for the block, then one reduction per block.
extern "C" __global__ void count_in_block(const int* values, int* out) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (values[blockIdx.x * blockDim.x + threadIdx.x] > 500) atomicAdd(&found, 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, found);
}

// A warp agrees on one lane that adds for all.
extern "C" __global__ void aggregated_by_hand(const int* values, int* out) {
  const bool wanted = values[blockIdx.x * blockDim.x + threadIdx.x] > 300;
  const unsigned lanes = __ballot_sync(0xffffffffu, wanted);
  if (threadIdx.x % 32 == 0) atomicAdd(out, __popc(lanes));
}

// Lanes of one warp in different branches.
extern "C" __global__ void in_branches(const int* values, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = values[i];
  if (value % 3 == 0) {
    atomicAdd(&out[value % 8], value);
  } else if (value % 3 == 1) {
    atomicMax(&out[8 + i % 16], value);
  }
}

// Repeat a compare-and-swap until it succeeds.
extern "C" __global__ void largest_float(const int* where, const float* values, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int* address = reinterpret_cast<int*>(out + where[i]);
  int old = *address;
  while (values[i] > __int_as_float(old)) {
    const int seen = atomicCAS(address, old, __float_as_int(values[i]));
    if (seen == old) break;
    old = seen;
  }
}

extern "C" __global__ void histogram_global(const int* values, int* bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[values[i] & 63], 1);
}

extern "C" __global__ void histogram_two_levels(const int* values, int* bins, int n) {
  __shared__ int local[64];
  if (threadIdx.x < 64) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[values[i] & 63], 1);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

// The last block adds up what all blocks wrote.
extern "C" __global__ void last_block(const float* values, volatile float* partial, unsigned* ticket, float* out) {
  __shared__ bool last;
  float sum = values[blockIdx.x * blockDim.x + threadIdx.x];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float total = 0.f;
    for (int b = 0; b < gridDim.x; ++b) total += partial[b];
    *out = total;
  }
}

// A pointer that may lead to shared or global memory.
extern "C" __global__ void generic_atomic(const int* where, int* bins, int to_shared) {
  __shared__ int local[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) local[i] = 0;
  __syncthreads();
  int* target = to_shared ? local : bins;
  atomicAdd(&target[where[blockIdx.x * blockDim.x + threadIdx.x]], 3);
  __syncthreads();
  bins[1024 + blockIdx.x * blockDim.x + threadIdx.x] = local[threadIdx.x];
}
