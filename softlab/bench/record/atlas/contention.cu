// The atlas of a GPU: what many warps want at once, and how a launch begins. All kernels take the arguments of memory.cu.
typedef unsigned u32;
typedef unsigned long long u64;
#define ARGUMENTS (u32* out, const char* in, char* memory, u32 rounds, u32 mode, u32 p0, u32 p1)
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(1024) name ARGUMENTS

__device__ __forceinline__ u32 clock_now() { u32 t; asm volatile("mov.u32 %0, %%clock;" : "=r"(t) :: "memory"); return t; }
__device__ __forceinline__ u32 sm_here() { u32 t; asm volatile("mov.u32 %0, %%smid;" : "=r"(t)); return t; }
__device__ __forceinline__ u32 smem_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }
// A number that is different in each lane and, with `same`, the same in all lanes of a warp.
struct Draw {
  u32 state;
  __device__ Draw(u32 same) {
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    state = ((same ? thread >> 5 : thread) + 1) * 0x9E3779B9u;
  }
  __device__ u32 next() { state = state * 1664525u + 1013904223u; return state >> 8; }
};

// Atomics of L2. Elements of W bytes in p0 bytes (a power of 2) of memory. mode 0: each lane takes one at random.
// mode 1: the lanes of a warp take neighbours, 32 elements from a place at random on. mode 2: all warps take 32
// neighbours after 32 neighbours in the same order. 4 of them per round.
#define ATOMIC(name, W, ptx)                                                                    \
  KERNEL(name) {                                                                                \
    const u32 mask = p0 / W - 1, lane = threadIdx.x & 31;                                       \
    Draw draw(mode);                                                                            \
    u32 sum = 0;                                                                                \
    _Pragma("unroll 1") for (u32 r = 0; r < rounds; ++r) {                                      \
      _Pragma("unroll") for (int k = 0; k < 4; ++k) {                                           \
        const u32 n = mode == 2 ? 4 * r + k : draw.next();                                      \
        const u32 at = (mode ? n * 32 + lane : n) & mask;                                       \
        u32 got = 0;                                                                            \
        asm volatile(ptx : "+r"(got) : "l"((u64)memory + (u64)at * W), "r"(p1) : "memory");     \
        sum += got;                                                                             \
      }                                                                                         \
    }                                                                                           \
    if (sum == 12345) out[0] = sum;                                                             \
  }
ATOMIC(red_add, 4, "red.global.add.u32 [%1], %2;")
ATOMIC(red_add_f32, 4, "{ .reg .f32 f; mov.b32 f, %2; red.global.add.f32 [%1], f; }")
ATOMIC(red_max, 4, "red.global.max.s32 [%1], %2;")
ATOMIC(red_add_64, 8, "{ .reg .u64 f; mov.b64 f, {%2, %2}; red.global.add.u64 [%1], f; }")
ATOMIC(red_add_f64, 8, "{ .reg .f64 f; mov.b64 f, {%2, %2}; red.global.add.f64 [%1], f; }")
ATOMIC(red_add_f16x2, 4, "red.global.add.noftz.f16x2 [%1], %2;")
ATOMIC(atom_add, 4, "atom.global.add.u32 %0, [%1], %2;")
ATOMIC(atom_cas, 4, "atom.global.cas.b32 %0, [%1], %0, %2;")

// Atomics of shared memory, at random among p0 words, in modes 0 and 1 as above.
__shared__ __align__(8) u32 cells[8192];
#define SHARED_ATOMIC(name, ...)                                                                \
  KERNEL(name) {                                                                                \
    const u32 mask = p0 - 1, lane = threadIdx.x & 31;                                           \
    for (u32 k = threadIdx.x; k < 8192; k += blockDim.x) cells[k] = 0;                          \
    Draw draw(mode);                                                                            \
    u32 sum = 0;                                                                                \
    __syncthreads();                                                                            \
    const u32 begin = clock_now();                                                              \
    _Pragma("unroll 1") for (u32 r = 0; r < rounds; ++r) {                                      \
      _Pragma("unroll") for (int k = 0; k < 4; ++k) {                                           \
        const u32 n = draw.next();                                                              \
        const u32 at = (mode ? n * 32 + lane : n) & mask;                                       \
        __VA_ARGS__;                                                                            \
      }                                                                                         \
    }                                                                                           \
    __syncthreads();                                                                            \
    const u32 end = clock_now();                                                                \
    if (sum == 12345) out[0] = sum;                                                             \
    if (lane == 0) { u32* o = out + (threadIdx.x >> 5) * 4; o[0] = sm_here(); o[1] = begin; o[2] = end; } \
  }
SHARED_ATOMIC(atoms_inc, atomicAdd(cells + at, 1u))
SHARED_ATOMIC(atoms_add, atomicAdd(cells + at, p1))
SHARED_ATOMIC(atoms_add_returned, sum += atomicAdd(cells + at, p1))
SHARED_ATOMIC(atoms_cas, sum += atomicCAS(cells + at, sum, p1))
SHARED_ATOMIC(atoms_cas_64, sum += (u32)atomicCAS((u64*)cells + (at & 4095), (u64)sum, (u64)p1))
SHARED_ATOMIC(atoms_max, atomicMax(cells + at, n))
SHARED_ATOMIC(atoms_add_f32, atomicAdd((float*)cells + at, 1.0f))
SHARED_ATOMIC(lds_random, sum += ((volatile u32*)cells)[at])

// A store (mode 1: none) and a fence, one after the other. out[4 * warp]: the clocks of begin and end.
#define FENCE(name, ptx)                                                                        \
  KERNEL(name) {                                                                                \
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x;                                   \
    u32* place = (u32*)memory + thread;                                                         \
    __syncthreads();                                                                            \
    const u32 begin = clock_now();                                                              \
    if (mode) {                                                                                 \
      _Pragma("unroll 1") for (u32 r = 0; r < rounds; ++r) asm volatile(ptx ::: "memory");      \
    } else {                                                                                    \
      _Pragma("unroll 1") for (u32 r = 0; r < rounds; ++r) {                                    \
        asm volatile("st.global.u32 [%0], %1;" :: "l"(place), "r"(r) : "memory");               \
        asm volatile(ptx ::: "memory");                                                         \
      }                                                                                         \
    }                                                                                           \
    const u32 end = clock_now();                                                                \
    if ((thread & 31) == 0) { u32* o = out + (thread >> 5) * 4; o[0] = sm_here(); o[1] = begin; o[2] = end; } \
  }
FENCE(fence_gpu, "membar.gl;")
FENCE(fence_cta, "membar.cta;")

// Barriers of several blocks of one SM.
KERNEL(barriers) {
  const u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
  __syncthreads();
  const u32 begin = clock_now();
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 8; ++k) asm volatile("bar.sync 0;" ::: "memory");
  }
  const u32 end = clock_now();
  if ((thread & 31) == 0) { u32* o = out + (thread >> 5) * 4; o[0] = sm_here(); o[1] = begin; o[2] = end; }
}

// Stores of 4 bytes, lanes p1 bytes apart, 8 requests of a warp side by side; the warps take turns over p0 KiB.
KERNEL(strided_write) {
  const u64 warps = (u64)gridDim.x * (blockDim.x >> 5), warp = (u64)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  const u64 mask = (u64)p0 * 1024 - 1;
  u64 at = warp * 256 * p1;
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
    const u64 a = (u64)memory + (at & mask) + (threadIdx.x & 31) * p1;
#pragma unroll
    for (int u = 0; u < 8; ++u) asm volatile("st.global.u32 [%0], %1;" :: "l"(a + (u64)32 * p1 * u), "r"(r) : "memory");
    at += warps * 256 * p1;
  }
}

// How a launch begins. One warp per block. The first clock comes before any parameter is read. Of 8 loads, p0 KiB apart,
// each is timed. out[16 * block]: cycles until a parameter was there, of each load, of all; then the SM.
KERNEL(start) {
  const u32 t0 = clock_now();
  u32 x;
  asm volatile("mad.lo.u32 %0, %1, %2, %2;" : "=r"(x) : "r"(p0), "r"(p1) : "memory");
  asm volatile("" : "+r"(x) :: "memory");
  const u32 t1 = clock_now() + (x & mode & 0x80000000u);
  u32* o = out + 64 + 16 * blockIdx.x;
  u32 last = t1;
#pragma unroll 1
  for (u32 k = 0; k < rounds; ++k) {
    u32 v;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"((u64)memory + ((u64)k * p0 + (u64)blockIdx.x * p1) * 1024) : "memory");
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 12345; @p trap; }" :: "r"(v) : "memory");
    const u32 now = clock_now();
    o[1 + k] = now - last;
    last = clock_now();
  }
  o[0] = t1 - t0;
  o[9] = clock_now() - t0;
  o[10] = sm_here();
}
// The same without loads and stores: it ends after a parameter was read.
KERNEL(start_parameter) {
  if (p0 == 12345) out[0] = p1;
}
KERNEL(start_store) { out[16384 + blockIdx.x * blockDim.x + threadIdx.x] = p1; }
