// The atlas of a GPU: whole launches, warps that touch several lines at once, and instructions that come in groups. All
// kernels take the arguments of memory.cu.
typedef unsigned u32;
typedef unsigned long long u64;
#define ARGUMENTS (u32* out, const char* in, char* memory, u32 rounds, u32 mode, u32 p0, u32 p1)
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(1024) name ARGUMENTS

__device__ __forceinline__ u32 clock_now() { u32 t; asm volatile("mov.u32 %0, %%clock;" : "=r"(t) :: "memory"); return t; }
__device__ __forceinline__ u32 sm_here() { u32 t; asm volatile("mov.u32 %0, %%smid;" : "=r"(t)); return t; }
__device__ __forceinline__ u32 load_cg(u64 a) {
  u32 v;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(a) : "memory");
  return v;
}
__device__ __forceinline__ u32 spun(u32 cycles) {
  const u32 begin = clock_now();
  u32 end = begin;
  while (end - begin < cycles) end = clock_now();
  return end - begin;
}
#define MARK(begin, end) \
  if ((threadIdx.x & 31) == 0) { \
    u32* o = out + 4 * ((blockIdx.x * blockDim.x + threadIdx.x) >> 5); \
    o[0] = sm_here(); o[1] = begin; o[2] = end; \
  }

// A launch that does nothing for p0 cycles: without an access, with a store of each thread at its end, and with a load of
// each thread before, too. out[64]: the cycles of the first thread.
KERNEL(spin_only) { if (spun(p0) == 12345) out[0] = 1; }
KERNEL(spin_store) { out[64 + blockIdx.x * blockDim.x + threadIdx.x] = spun(p0); }
KERNEL(spin_load_store) {
  const u32 v = load_cg((u64)memory + 4 * (u64)(blockIdx.x * blockDim.x + threadIdx.x));
  out[64 + blockIdx.x * blockDim.x + threadIdx.x] = spun(p0 + v) + v;
}

// Loads of a warp that need the load before them. mode 0: 32 / p1 lines at random places of p0 KiB, one sector of each,
// for p1 lanes together; mode 1: a whole line. The wide one loads 16 bytes per lane: 4 lines.
#define GATHERED(name, group, inside, type, load)                                               \
  KERNEL(name) {                                                                                \
    const u32 lane = threadIdx.x & 31, warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lines = p0 * 8 - 4; \
    const u64 base = (u64)memory + (inside);                                                    \
    u32 state = (warp + 1) * 0x9E3779B9u + (group) * 0x85EBCA6Bu;                               \
    const u32 begin = clock_now();                                                              \
    _Pragma("unroll 1") for (u32 r = 0; r < rounds; ++r) {                                      \
      const type v = load((const type*)(base + (u64)__umulhi(state, lines) * 128));             \
      state = state * 1664525u + 1013904223u + joined(v);                                       \
    }                                                                                           \
    const u32 end = clock_now() + (state & mode & 0x80000000u);                                 \
    MARK(begin, end)                                                                            \
  }
__device__ __forceinline__ u32 joined(u32 v) { return v; }
__device__ __forceinline__ u32 joined(uint4 v) { return v.x | v.y | v.z | v.w; }
GATHERED(gathered, mode ? 0 : lane / p1, mode ? lane * 4 : (lane % p1 & 7) * 4, u32, __ldcg)
GATHERED(gathered_wide, 0, lane * 16, uint4, __ldcg)

// Each block reads 16 KiB, or copies them p1 MiB further: 256 threads, 4 packs of 16 bytes each.
#define FOUR(action) _Pragma("unroll") for (int k = 0; k < 4; ++k) { action; }
KERNEL(read_once) {
  const uint4* a = (const uint4*)(memory + (u64)blockIdx.x * 16384) + threadIdx.x;
  uint4 v[4];
  FOUR(v[k] = __ldcg(a + 256 * k))
  u32 sum = 0;
  FOUR(sum |= v[k].x | v[k].y | v[k].z | v[k].w)
  if (sum == 12345) out[0] = sum;
}
KERNEL(copy_once) {
  const uint4* a = (const uint4*)(memory + (u64)blockIdx.x * 16384) + threadIdx.x;
  uint4* b = (uint4*)(memory + ((u64)p1 << 20) + (u64)blockIdx.x * 16384) + threadIdx.x;
  uint4 v[4];
  FOUR(v[k] = __ldcg(a + 256 * k))
  FOUR(b[256 * k] = v[k])
}

// Each thread loads a word of p1 arrays, p0 MiB apart, and stores one behind them: all loads at once, or each waits for
// the one before it.
#define ARRAYS(name, needed)                                                                    \
  KERNEL(name) {                                                                                \
    const u64 each = (u64)p0 << 20, at = 4 * (u64)(blockIdx.x * blockDim.x + threadIdx.x);     \
    u32 v[8] = {};                                                                              \
    _Pragma("unroll") for (int k = 0; k < 8; ++k)                                               \
      if (k < p1) v[k] = load_cg((u64)memory + at + each * k + (needed));                       \
    u32 sum = 0;                                                                                \
    _Pragma("unroll") for (int k = 0; k < 8; ++k) sum |= v[k];                                  \
    *(u32*)(memory + at + 8 * each) = sum;                                                      \
  }
ARRAYS(arrays_together, 0)
ARRAYS(arrays_in_turn, k ? v[k - 1] & mode : 0)

// Stores of whole sectors, p1 bytes apart, 8 requests of a warp side by side; the warps take turns over p0 KiB.
KERNEL(strided_sectors) {
  const u64 warps = (u64)gridDim.x * (blockDim.x >> 5), warp = (u64)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  const u64 mask = (u64)p0 * 1024 - 1, lane = threadIdx.x & 31;
  u64 at = warp * 128 * p1;
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
    const u64 a = (u64)memory + (at & mask) + (lane >> 1) * p1 + (lane & 1) * 16;
#pragma unroll
    for (int u = 0; u < 8; ++u)
      asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" :: "l"(a + (u64)16 * p1 * u), "r"(r) : "memory");
    at += warps * 128 * p1;
  }
}

// Branches over N IMAD, 16 per round, of one warp. mode 0: no lane takes one. 1: all lanes do. 2: odd lanes do.
#define WORK(x) asm volatile("mad.lo.u32 %0, %0, %1, %1; mad.lo.u32 %0, %0, %1, %1; mad.lo.u32 %0, %0, %1, %1; mad.lo.u32 %0, %0, %1, %1;" : "+r"(x) : "r"(p1))
#define BRANCHES(name, ...)                                                                     \
  KERNEL(name) {                                                                                \
    const u32 bit = mode == 1 ? 1 : mode == 2 ? threadIdx.x & 1 : 0;                            \
    u32 x = p0;                                                                                 \
    const u32 flags = bit ? 0xffffffffu : *(volatile u32*)in & 0u;                              \
    const u32 begin = clock_now();                                                              \
    _Pragma("unroll 1") for (u32 r = 0; r < rounds; ++r) {                                      \
      _Pragma("unroll") for (int k = 0; k < 16; ++k) {                                          \
        if (!(flags >> k & 1)) { __VA_ARGS__ }                                                  \
      }                                                                                         \
    }                                                                                           \
    const u32 end = clock_now();                                                                \
    out[16384 + threadIdx.x] = x;                                                               \
    if (threadIdx.x == 0) out[0] = end - begin;                                                 \
  }
BRANCHES(branches_8, WORK(x); WORK(x);)
BRANCHES(branches_16, WORK(x); WORK(x); WORK(x); WORK(x);)
// A loop of 8 IMAD that the lanes of a warp leave at p1 different turns, the last of them after 32.
KERNEL(leave) {
  const u32 most = 32 - (threadIdx.x & 31) % mode;
  u32 x = p0;
  const u32 begin = clock_now();
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
#pragma unroll 1
    for (u32 k = 0; k < most; ++k) { WORK(x); WORK(x); }
    __syncwarp();
  }
  const u32 end = clock_now();
  out[16384 + threadIdx.x] = x;
  if (threadIdx.x == 0) out[0] = end - begin;
}

// Groups of instructions that the compiler writes for one operation, each needing the one before it.
#define OPERATION(name, type, ...)                                                              \
  KERNEL(name) {                                                                                \
    const type a = (type)p0, b = (type)p1;                                                      \
    type x = a + (type)(threadIdx.x & 31);                                                      \
    const u32 begin = clock_now();                                                              \
    _Pragma("unroll 1") for (u32 r = 0; r < rounds; ++r) { __VA_ARGS__ }                        \
    const u32 end = clock_now();                                                                \
    out[1 << 20 | (blockIdx.x * blockDim.x + threadIdx.x)] = (u32)x;                            \
    MARK(begin, end)                                                                            \
  }
OPERATION(divisions, float, x = a / (x + b); x = a / (x + b); x = a / (x + b); x = a / (x + b);)
OPERATION(divisions_f64, double, x = a / (x + b); x = a / (x + b); x = a / (x + b); x = a / (x + b);)
OPERATION(remainders, u32, x = a % (x + b); x = a % (x + b); x = a % (x + b); x = a % (x + b);)
OPERATION(remainders_64, u64, x = (a << 24) % (x + b); x = (a << 24) % (x + b); x = (a << 24) % (x + b); x = (a << 24) % (x + b);)
// 64 products of a register with itself in 8 chains.
KERNEL(squares) {
  float x[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) x[k] = __uint_as_float(p0) + k;
  const u32 begin = clock_now();
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 64; ++k) asm volatile("mul.f32 %0, %0, %0;" : "+f"(x[k & 7]));
  }
  const u32 end = clock_now();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += x[k];
  if (sum == 12345.0f) out[0] = 1;
  MARK(begin, end)
}
