// The atlas of a GPU: control flow, constants, launches. All kernels take the same arguments as those of memory.cu.
typedef unsigned u32;
typedef unsigned long long u64;
#define ARGUMENTS (u32* out, const char* in, char* memory, u32 rounds, u32 mode, u32 p0, u32 p1)
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(1024) name ARGUMENTS
__device__ __forceinline__ u32 clock_now() { u32 t; asm volatile("mov.u32 %0, %%clock;" : "=r"(t) :: "memory"); return t; }
__device__ __forceinline__ u32 sm_here() { u32 t; asm volatile("mov.u32 %0, %%smid;" : "=r"(t)); return t; }
__device__ __forceinline__ u64 time_now() { u64 t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t) :: "memory"); return t; }

KERNEL(empty) {}
// One word per thread.
KERNEL(small) { out[16384 + blockIdx.x * blockDim.x + threadIdx.x] = rounds; }
// Blocks that spin for `rounds` cycles: out[4 * block] gets the SM and the clocks of begin and end.
KERNEL(blocks) {
  extern __shared__ char smem[];
  const u32 begin = clock_now();
  u32 end = begin;
  while (end - begin < rounds) end = clock_now();
  if (threadIdx.x == 0) {
    u32* o = out + 64 + 4 * blockIdx.x;
    o[0] = sm_here();
    o[1] = begin;
    o[2] = clock_now();
  }
}
// The SM's clock against the timer in nanoseconds.
KERNEL(frequency) {
  const u64 from = time_now();
  const u32 begin = clock_now();
  u32 end = begin;
  while (end - begin < rounds) end = clock_now();
  ((u64*)out)[0] = end - begin;
  ((u64*)out)[1] = time_now() - from;
}

#define WORK(x) asm volatile("mad.lo.u32 %0, %0, %1, %1; mad.lo.u32 %0, %0, %1, %1; mad.lo.u32 %0, %0, %1, %1; mad.lo.u32 %0, %0, %1, %1;" : "+r"(x) : "r"(p1))
#define WORK16(x) WORK(x); WORK(x); WORK(x); WORK(x)
// 16 branches over 32 IMAD each. mode 0: no lane takes a branch. 1: all lanes take it. 2: odd lanes take it.
KERNEL(branches) {
  const u32 bit = mode == 1 ? 1 : mode == 2 ? threadIdx.x & 1 : 0;
  u32 x = p0, t0 = 0, t1 = 0;
  const u32 flags = bit ? 0xffffffffu : *(volatile u32*)in & 0u;
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
    t0 = clock_now();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      if (!(flags >> k & 1)) { WORK16(x); WORK16(x); }
    }
    t1 = clock_now();
  }
  out[16384 + threadIdx.x] = x;
  if (threadIdx.x == 0) out[0] = t1 - t0;
}

// Constants. LDC follows links, offsets in bytes, from p0 on.
__constant__ u32 table[16384];
__device__ __forceinline__ u32 word(u32 at) { return *(const u32*)((const char*)table + at); }
KERNEL(ldc_chase) {
  u32 at = p0;
  const u32 begin = clock_now();
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 8; ++k) at = word(at);
  }
  out[0] = clock_now() - begin;
  out[1] = at;
}
// Streams of LDC. The table holds its own offsets.
KERNEL(ldc_stream) {
  u32 at[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) at[k] = p0 + 4 * k + threadIdx.x * mode;
  __syncthreads();
  const u32 begin = clock_now();
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
#pragma unroll
    for (int j = 0; j < 8; ++j)
#pragma unroll
      for (int k = 0; k < 8; ++k) at[k] = word(at[k]);
  }
  u32 sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum ^= at[k];
  const u32 end = clock_now();
  out[16384 + threadIdx.x] = sum;
  if ((threadIdx.x & 31) == 0) { u32* o = out + (threadIdx.x >> 5) * 4; o[0] = sm_here(); o[1] = begin; o[2] = end; }
}
// Constants at 24 places, 64 bytes apart, each needing the one before it; p1 is 0. Round 0 finds them cold, later rounds warm.
KERNEL(constant_operands) {
  u32 x = p0, t0 = 0, t1 = 0;
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
    t0 = clock_now();
#pragma unroll
    for (int k = 0; k < 24; ++k) {
      const u32 v = word(64 * k + (x & p1));
      asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(x) : "r"(v) : "memory");
    }
    t1 = clock_now();
    if (threadIdx.x == 0) out[64 + r] = t1 - t0;
  }
  out[16384 + threadIdx.x] = x;
}
// A read of a special register, and an IMAD that needs it; mode 1: the IMAD alone.
KERNEL(special) {
  u32 x = p0, s = p1;
  const u32 begin = clock_now();
  if (mode) {
#pragma unroll 1
    for (u32 r = 0; r < rounds; ++r) asm volatile("mul.lo.u32 %0, %0, %1;" : "+r"(x) : "r"(s));
  } else {
#pragma unroll 1
    for (u32 r = 0; r < rounds; ++r) {
      asm volatile("mov.u32 %0, %%smid;" : "=r"(s));
      asm volatile("mul.lo.u32 %0, %0, %1;" : "+r"(x) : "r"(s));
    }
  }
  out[0] = clock_now() - begin;
  out[1] = x;
}
// Reads of the clock, one after the other.
KERNEL(clock_reads) {
  u32 first = 0, last = 0, sum = 0;
#pragma unroll 1
  for (u32 r = 0; r < 3; ++r) {
    first = clock_now();
#pragma unroll
    for (int k = 0; k < 64; ++k) sum ^= last = clock_now();
  }
  out[0] = last - first;
  out[1] = sum;
}
KERNEL(sleep) {
  const u32 begin = clock_now();
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) asm volatile("nanosleep.u32 %0;" :: "r"(p0));
  out[0] = clock_now() - begin;
}
__device__ __noinline__ u32 callee(u32 x, u32 y) { asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(x) : "r"(y)); return x; }
// Calls of a function of one IMAD; mode 1: the IMAD alone.
KERNEL(calls) {
  u32 x = p0;
  const u32 begin = clock_now();
  if (mode) {
#pragma unroll 1
    for (u32 r = 0; r < rounds; ++r) asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(x) : "r"(p1));
  } else {
#pragma unroll 1
    for (u32 r = 0; r < rounds; ++r) x = callee(x, p1);
  }
  out[0] = clock_now() - begin;
  out[1] = x;
}
