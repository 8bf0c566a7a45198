// One access of distributed shared memory, or one asynchronous copy, in each form whose counts are recorded.

__device__ unsigned address_of(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ unsigned map(const void* p, unsigned rank) {
  unsigned mapped;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address_of(p)), "r"(rank));
  return mapped;
}
#define SYNC() asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory")

enum class To { other, own, unmapped };

// Each thread loads one word; the lanes of a warp are `stride` words apart.
template<int stride, To to>
__global__ void __cluster_dims__(2) load_words(const float* x, float* y) {
  __shared__ float values[128 * stride];
  for (int i = threadIdx.x; i < 128 * stride; i += 128) values[i] = x[blockIdx.x * 128 + i / stride];
  SYNC();
  const float* slot = values + stride * threadIdx.x;
  const unsigned there = to == To::unmapped ? address_of(slot) : map(slot, cluster_rank() ^ (to == To::other));
  float value;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(there) : "memory");
  SYNC();
  y[blockIdx.x * 128 + threadIdx.x] = value;
}

// The same with sixteen bytes per lane.
extern "C" __global__ void __cluster_dims__(2) load_quads(const float4* x, float4* y) {
  __shared__ float4 values[128];
  values[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
  SYNC();
  float4 v;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(map(&values[threadIdx.x ^ 1], cluster_rank() ^ 1))
               : "memory");
  SYNC();
  y[blockIdx.x * 128 + threadIdx.x] = v;
}

// By a generic address, as cooperative groups gives one.
extern "C" __global__ void __cluster_dims__(2) load_generic(const float* x, float* y) {
  __shared__ float values[128];
  values[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
  SYNC();
  unsigned long long there;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(values + 127 - threadIdx.x), "r"(cluster_rank() ^ 1));
  const float value = *reinterpret_cast<const volatile float*>(there);
  SYNC();
  y[blockIdx.x * 128 + threadIdx.x] = value;
}

template<int stride, bool other>
__global__ void __cluster_dims__(2) store_words(const float* x, float* y) {
  __shared__ float values[128 * stride];
  SYNC();
  const float value = x[blockIdx.x * 128 + threadIdx.x];
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(map(values + stride * threadIdx.x, cluster_rank() ^ other)),
               "f"(value)
               : "memory");
  SYNC();
  y[blockIdx.x * 128 + threadIdx.x] = values[stride * threadIdx.x];
}

extern "C" __global__ void __cluster_dims__(2) add_words(const float* x, float* y) {
  __shared__ float values[32];
  if (threadIdx.x < 32) values[threadIdx.x] = 0;
  SYNC();
  const float value = x[blockIdx.x * 128 + threadIdx.x];
  asm volatile("red.shared::cluster.add.f32 [%0], %1;" ::"r"(map(values + threadIdx.x % 32, cluster_rank() ^ 1)),
               "f"(value)
               : "memory");
  SYNC();
  if (threadIdx.x < 32) y[blockIdx.x * 32 + threadIdx.x] = values[threadIdx.x];
}

// One cp.async per thread, of `bytes` bytes; `stride` is the distance of the lanes' slots in shared memory, in copies,
// `offset` that of the source from an aligned one, in elements of the copy.
template<int bytes, int stride, bool through_l1>
__global__ void copy_words(const char* x, char* y, int offset) {
  extern __shared__ __align__(16) char slot[];
  const unsigned into = address_of(slot + bytes * stride * threadIdx.x);
  const char* from = x + bytes * (blockIdx.x * 128 + threadIdx.x + offset);
  if constexpr (through_l1) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(into), "l"(from), "n"(bytes) : "memory");
  } else {
    asm volatile("cp.async.cg.shared.global [%0], [%1], %2;" ::"r"(into), "l"(from), "n"(bytes) : "memory");
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  for (int i = 0; i < bytes; i += 4)
    *reinterpret_cast<int*>(y + bytes * (blockIdx.x * 128 + threadIdx.x) + i) =
        *reinterpret_cast<const int*>(slot + bytes * stride * threadIdx.x + i);
}

// The upper half of each warp copies nothing and writes zeros.
extern "C" __global__ void copy_with_zeros(const char* x, char* y) {
  __shared__ __align__(16) char slot[16 * 128];
  const unsigned into = address_of(slot + 16 * threadIdx.x);
  const unsigned bytes = threadIdx.x % 32 < 16 ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(into),
               "l"(x + 16 * (blockIdx.x * 128 + threadIdx.x)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  *reinterpret_cast<int4*>(y + 16 * (blockIdx.x * 128 + threadIdx.x)) =
      *reinterpret_cast<const int4*>(slot + 16 * threadIdx.x);
}
