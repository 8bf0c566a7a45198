// The atlas of a GPU: local memory and stores. All kernels take the arguments of memory.cu.
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

// Each lane has a piece of p1 words of memory and stores the first COUNT of them, one word per store. A warp has TURNS
// such pieces, whose words take turns. mode 0: all stores follow each other; 1: a loop turn lies between two words, and
// so do stores of other warps. p0: KiB, a power of two.
template <int COUNT, int TURNS> __device__ void word_by_word(char* memory, u32 rounds, u32 mode, u32 p0, u32 p1) {
  typedef unsigned long long u64;
  const u64 warps = (u64)gridDim.x * (blockDim.x >> 5), warp = (u64)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  const u64 mask = (u64)p0 * 1024 - 1, pitch = 4 * p1, lane = threadIdx.x & 31;
  u64 at = warp * 32 * pitch * TURNS + lane * pitch;
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r, at += warps * 32 * pitch * TURNS) {
    char* a[TURNS];
#pragma unroll
    for (u32 m = 0; m < TURNS; ++m) a[m] = memory + ((at + m * 32 * pitch) & mask);
    if (mode) {
#pragma unroll 1
      for (u32 k = 0; k < COUNT; ++k)
#pragma unroll
        for (u32 m = 0; m < TURNS; ++m) asm volatile("st.global.u32 [%0], %1;" :: "l"(a[m] + 4 * k), "r"(r) : "memory");
    } else {
#pragma unroll
      for (u32 k = 0; k < COUNT; ++k)
#pragma unroll
        for (u32 m = 0; m < TURNS; ++m) asm volatile("st.global.u32 [%0], %1;" :: "l"(a[m] + 4 * k), "r"(r) : "memory");
    }
  }
}
KERNEL(words_1_1) { word_by_word<1, 1>(memory, rounds, mode, p0, p1); }
KERNEL(words_2_1) { word_by_word<2, 1>(memory, rounds, mode, p0, p1); }
KERNEL(words_3_1) { word_by_word<3, 1>(memory, rounds, mode, p0, p1); }
KERNEL(words_4_1) { word_by_word<4, 1>(memory, rounds, mode, p0, p1); }
KERNEL(words_8_1) { word_by_word<8, 1>(memory, rounds, mode, p0, p1); }
KERNEL(words_4_2) { word_by_word<4, 2>(memory, rounds, mode, p0, p1); }
KERNEL(words_4_4) { word_by_word<4, 4>(memory, rounds, mode, p0, p1); }
