// The atlas of a GPU: what many warps of an SM do beside each other. All kernels take the arguments of memory.cu.
typedef unsigned u32;
#define ARGUMENTS (u32* out, const char* in, char* memory, u32 rounds, u32 mode, u32 p0, u32 p1)
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(1024) name ARGUMENTS

__device__ __forceinline__ u32 clock_now() { u32 t; asm volatile("mov.u32 %0, %%clock;" : "=r"(t) :: "memory"); return t; }
__device__ __forceinline__ u32 sm_here() { u32 t; asm volatile("mov.u32 %0, %%smid;" : "=r"(t)); return t; }
// What a warp of the grid writes: its SM, and the clocks of begin and end. `kept` is a value that must be computed.
__device__ __forceinline__ void report(u32* out, u32 begin, u32 end, u32 kept) {
  const u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
  out[(1 << 20) + thread] = kept;
  if ((thread & 31) == 0) { u32* o = out + (thread >> 5) * 4; o[0] = sm_here(); o[1] = begin; o[2] = end; }
}

// 16 branches over 16 FADD each, on four accumulators. mode 0: no lane takes a branch. 1: all lanes take it.
// 2: odd lanes take it. 3: every second branch is taken.
#define ADD(x) asm volatile("add.f32 %0, %0, %1;" : "+f"(x) : "f"(a))
KERNEL(branching) {
  const float a = ((const float*)in)[threadIdx.x];
  float x[4] = {a, a + 1, a + 2, a + 3};
  const u32 which[4] = {0, 0xffffffffu, threadIdx.x & 1 ? 0xffffffffu : 0, 0x5555u};
  const u32 flags = which[mode & 3];
  __syncthreads();
  const u32 begin = clock_now();
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      if (!(flags >> k & 1)) {
#pragma unroll
        for (int n = 0; n < 16; ++n) ADD(x[n & 3]);
      }
    }
  }
  const u32 end = clock_now();
  report(out, begin, end, __float_as_uint(x[0] + x[1] + x[2] + x[3]));
}

// Barriers that combine a value of all threads. mode 0: whether one is not 0. 1: how many are not 0.
KERNEL(reducing_barriers) {
  u32 x = threadIdx.x + p0;
  __syncthreads();
  const u32 begin = clock_now();
  if (mode) {
#pragma unroll 1
    for (u32 r = 0; r < rounds; ++r) {
#pragma unroll
      for (int k = 0; k < 8; ++k) x += __syncthreads_count(x & 1);
    }
  } else {
#pragma unroll 1
    for (u32 r = 0; r < rounds; ++r) {
#pragma unroll
      for (int k = 0; k < 8; ++k) x += __syncthreads_or(x & 1);
    }
  }
  const u32 end = clock_now();
  report(out, begin, end, x);
}

// Each lane has 512 words of local memory and uses p0 of them, a power of two, 8 at a time; lane n is p1 * n words ahead
// of the first one. mode 0: stores, 1: loads, 2: stores and loads the same words.
#define EIGHT(action) _Pragma("unroll") for (u32 u = 0; u < 8; ++u) { action; }
KERNEL(local_apart) {
  u32 words[512];
  const u32 lane = threadIdx.x & 31, base = (u32)__cvta_generic_to_local(words);
#pragma unroll 1
  for (u32 k = 0; k < 512; ++k) words[k] = lane + k;
  u32 sum = 0;
  __syncthreads();
  const u32 begin = clock_now();
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
#pragma unroll 1
    for (u32 k = 0; k < p0; k += 8) {
      u32 v[8];
      if (mode != 1) {
        EIGHT(asm volatile("st.local.u32 [%0], %1;" :: "r"(base + 4 * (k + u * 3 + lane * p1 & p0 - 1)), "r"(r) : "memory"))
      }
      if (mode) {
        EIGHT(asm volatile("ld.local.u32 %0, [%1];" : "=r"(v[u]) : "r"(base + 4 * (k + u * 3 + lane * p1 & p0 - 1)) : "memory"))
        EIGHT(sum += v[u])
      }
    }
  }
  const u32 end = clock_now();
  report(out, begin, end, sum);
}

// Two classes of the load and store unit in turn, 16 of them per round. What is loaded gives the next address, since the
// compiler would load once: p0 is 0. mode 0: lanes read neighbouring words, 1: all the same one.
#define SHUFFLE(u) asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;" : "+r"(x[u]))
#define SHARED(u) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(y[u]) : "r"(shared + (y[u] & p0)) : "memory")
#define GLOBAL(u) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(z[u]) : "l"(global + (z[u] & p0)) : "memory")
#define STORE(u) asm volatile("st.global.u32 [%0], %1;" :: "l"(global + (u << 20)), "r"(r) : "memory")
#define TURNS(first, second) \
  __shared__ u32 words[1024]; \
  words[threadIdx.x] = threadIdx.x; \
  const u32 shared = (u32)__cvta_generic_to_shared(words + (mode ? 0 : threadIdx.x)); \
  char* global = memory + 4096 * blockIdx.x + (mode ? (threadIdx.x >> 5) * 128 : threadIdx.x * 4); \
  u32 x[8], y[8], z[8], sum = 0; \
  EIGHT(x[u] = y[u] = z[u] = threadIdx.x + u) \
  __syncthreads(); \
  const u32 begin = clock_now(); \
  _Pragma("unroll 1") for (u32 r = 0; r < rounds; ++r) { EIGHT(first(u); second(u)) } \
  EIGHT(sum += x[u] + y[u] + z[u]) \
  const u32 end = clock_now() + (sum == 12345); \
  report(out, begin, end, sum)
KERNEL(shuffle_global) { TURNS(SHUFFLE, GLOBAL); }
KERNEL(shuffle_shared) { TURNS(SHUFFLE, SHARED); }
KERNEL(shuffle_store) { TURNS(SHUFFLE, STORE); }
KERNEL(shared_global) { TURNS(SHARED, GLOBAL); }
KERNEL(global_store) { TURNS(GLOBAL, STORE); }
