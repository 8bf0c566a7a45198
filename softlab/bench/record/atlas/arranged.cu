// The atlas of a GPU: local memory. All kernels take the arguments of memory.cu.
typedef unsigned u32;
#define ARGUMENTS (u32* out, const char* in, char* memory, u32 rounds, u32 mode, u32 p0, u32 p1)
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(1024) name ARGUMENTS

__device__ __forceinline__ u32 clock_now() { u32 t; asm volatile("mov.u32 %0, %%clock;" : "=r"(t) :: "memory"); return t; }
__device__ __forceinline__ u32 sm_here() { u32 t; asm volatile("mov.u32 %0, %%smid;" : "=r"(t)); return t; }

// Each lane has 512 words of local memory and uses p0 of them, 8 at a time: one of each eighth, which keeps the compiler
// from making one access of several. mode 0: stores them, 1: loads them,
// 2: stores 8, then loads the 8 that it stored half a turn before. p0: a power of two.
#define WORDS 512
#define EIGHT(action) _Pragma("unroll") for (u32 u = 0; u < 8; ++u) { action; }
KERNEL(local_words) {
  u32 words[WORDS];
  const u32 lane = threadIdx.x, base = (u32)__cvta_generic_to_local(words);
#pragma unroll 1
  for (u32 k = 0; k < WORDS; ++k) words[k] = lane + k;
  u32 sum = 0;
  __syncthreads();
  const u32 begin = clock_now();
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
#pragma unroll 1
    for (u32 k = 0; k < p0 / 8; ++k) {
      const u32 to = base + 4 * k, from = base + 4 * (mode == 2 ? (k + p0 / 16) & (p0 / 8 - 1) : k);
      if (mode != 1) EIGHT(asm volatile("st.local.u32 [%0], %1;" :: "r"(to + p0 / 2 * u), "r"(r) : "memory"))
      if (mode) {
        u32 v[8];
        EIGHT(asm volatile("ld.local.u32 %0, [%1];" : "=r"(v[u]) : "r"(from + p0 / 2 * u) : "memory"))
        EIGHT(sum += v[u])
      }
    }
  }
  const u32 end = clock_now() + (sum == 12345);
  out[(1 << 20) + blockIdx.x * blockDim.x + lane] = sum;
  if ((lane & 31) == 0) {
    u32* o = out + 4 * ((blockIdx.x * blockDim.x + lane) >> 5);
    o[0] = sm_here(); o[1] = begin; o[2] = end;
  }
}

// Each block stores 16 KiB: 256 threads, 4 packs of 16 bytes each.
KERNEL(write_once) {
  uint4* a = (uint4*)(memory + (size_t)blockIdx.x * 16384) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 4; ++k) a[256 * k] = make_uint4(p0, p1, p0, p1);
}
