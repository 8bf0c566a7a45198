// Threads of a block and lanes of a warp that share elements of global memory, with barriers between.
#include <cuda_fp16.h>
typedef unsigned int u32;
typedef unsigned long long u64;
__device__ u32 address_of(const void* p) { return (u32)__cvta_generic_to_shared(p); }

// == reverse_in_place
extern "C" __global__ void reverse_in_place(float* c) {
  float* own = c + blockIdx.x * blockDim.x;
  float value = own[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
  own[threadIdx.x] = value;
}

// == stencil_in_place
extern "C" __global__ void stencil_in_place(float* c, int steps) {
  float* own = c + blockIdx.x * blockDim.x;
  int left = max(threadIdx.x, 1u) - 1;
  for (int step = 0; step < steps; ++step) {
    float value = own[left] + own[threadIdx.x];
    __syncthreads();
    own[threadIdx.x] = value / 2;
    __syncthreads();
  }
}

// == two_buffers
extern "C" __global__ void two_buffers(float* c, float* d, int steps) {
  int base = blockIdx.x * blockDim.x;
  int next = base + (threadIdx.x + 1) % blockDim.x;
  for (int step = 0; step < steps; ++step) {
    float* from = step & 1 ? d : c;
    float* to = step & 1 ? c : d;
    to[base + threadIdx.x] = from[next] + 1;
    __syncthreads();
  }
}

// == tree_sum
extern "C" __global__ void tree_sum(int* c) {
  int* own = c + blockIdx.x * blockDim.x;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) own[threadIdx.x] += own[threadIdx.x + half];
    __syncthreads();
  }
}

// == scan_of_bytes
extern "C" __global__ void scan_of_bytes(unsigned char* c) {
  unsigned char* own = c + blockIdx.x * blockDim.x;
  for (int distance = 1; distance < blockDim.x; distance *= 2) {
    unsigned char add = threadIdx.x >= distance ? own[threadIdx.x - distance] : 0;
    __syncthreads();
    own[threadIdx.x] += add;
    __syncthreads();
  }
}

// == first_thread_writes
extern "C" __global__ void first_thread_writes(const int* a, int* c, int* d) {
  if (threadIdx.x == 0) c[blockIdx.x] = a[blockIdx.x] * 2;
  __syncthreads();
  d[blockIdx.x * blockDim.x + threadIdx.x] = c[blockIdx.x];
}

// == named_barriers
extern "C" __global__ void named_barriers(const float* a, float* c, float* d) {
  int half = threadIdx.x / 64, i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = a[i];
  asm volatile("bar.sync %0, 64;" :: "r"(half + 1) : "memory");
  d[i] = c[i ^ 32];
}

// == producer_of_a_block
extern "C" __global__ void producer_of_a_block(const float* a, float* c, float* d, int n) {
  int lane = threadIdx.x % 32;
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x < 32) {
      if (i > 0) asm volatile("bar.sync 2, 64;" ::: "memory");
      c[lane] = a[i * 32 + lane];
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      d[i * 32 + lane] = c[31 - lane];
      if (i + 1 < n) asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  }
}

// == lanes_of_a_warp
extern "C" __global__ void lanes_of_a_warp(float* c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int distance = 1; distance < 32; distance *= 2) {
    float other = c[i ^ distance];
    __syncwarp();
    c[i] += other;
    __syncwarp();
  }
}

// == groups_of_lanes
extern "C" __global__ void groups_of_lanes(int* c, int* d) {
  int i = threadIdx.x;
  unsigned mask = 0xffu << (i % 32 / 8 * 8);
  c[i] = 3 * i;
  __syncwarp(mask);
  d[i] = c[i ^ 7];
}

// == groups_that_grow
extern "C" __global__ void groups_that_grow(int* c, int* d) {
  int i = threadIdx.x;
  c[i] = i;
  __syncwarp(0xffffu << (i % 32 / 16 * 16));
  int sum = c[i ^ 15];
  __syncwarp(0xffffffffu);
  d[i] = sum + c[i ^ 31];
}

// == shuffles_order
extern "C" __global__ void shuffles_order(int* c, int* d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = i;
  int value = __shfl_xor_sync(0xffffffff, i, 1);
  __syncwarp();
  d[i] = c[i ^ 1] + value;
}

// == volatile_warp
extern "C" __global__ void volatile_warp(volatile int* c) {
  int i = threadIdx.x;
  if (i < 16) c[i] = c[i] + c[i + 16];
  __syncwarp();
  if (i < 8) c[i] = c[i] + c[i + 8];
}

// == vote_before_write
extern "C" __global__ void vote_before_write(int* c) {
  int i = threadIdx.x;
  int value = c[31 - i];
  if (__any_sync(0xffffffff, value > 0)) c[i] = value;
}

// == cluster_of_blocks
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_of_blocks(const int* a, int* c, int* d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = a[i];
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  d[i] = c[i ^ blockDim.x];
}

// == mbarrier_of_a_block
extern "C" __global__ void mbarrier_of_a_block(const int* a, int* c, int* d) {
  __shared__ u64 full;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" :: "r"(address_of(&full)) : "memory");
  __syncthreads();
  if (threadIdx.x < 32) {
    c[threadIdx.x] = a[threadIdx.x];
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(address_of(&full)) : "memory");
  } else {
    u32 over = 0;
    while (!over) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; "
                               "selp.u32 %0, 1, 0, p; }" : "=r"(over) : "r"(address_of(&full)) : "memory");
    d[threadIdx.x - 32] = c[threadIdx.x - 32];
  }
}

// == asynchronous_pipeline
extern "C" __global__ void asynchronous_pipeline(const float* a, float* c, int tiles) {
  __shared__ float tile[2][64];
  const float* own = a + blockIdx.x * 64 * tiles;
  for (int t = 0; t <= tiles; ++t) {
    if (t < tiles) {
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                   :: "r"(address_of(&tile[t & 1][threadIdx.x])), "l"(own + t * 64 + threadIdx.x) : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    if (t == 0) continue;
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    c[(blockIdx.x * tiles + t - 1) * 64 + threadIdx.x] = tile[t - 1 & 1][63 - threadIdx.x];
    __syncthreads();
  }
}

// == bulk_copy_out
extern "C" __global__ void bulk_copy_out(const int* a, int* c) {
  __shared__ __align__(16) int tile[64];
  tile[threadIdx.x] = a[blockIdx.x * 64 + threadIdx.x] + 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;"
                 :: "l"(c + blockIdx.x * 64), "r"(address_of(tile)) : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// == shared_tile
extern "C" __global__ void shared_tile(const float* a, float* c) {
  __shared__ float tile[64];
  tile[threadIdx.x] = a[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  c[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

// == flag_of_a_block
extern "C" __global__ void flag_of_a_block(const int* a, int* c, int* d) {
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    c[0] = a[0];
    __threadfence_block();
    ready = 1;
  } else if (threadIdx.x == 0) {
    while (ready == 0) {}
    d[0] = c[0];
  }
}
