// The atlas of a GPU: memory. All kernels take the same arguments; the recorder's table says what p0 and p1 are.
typedef unsigned u32;
typedef unsigned long long u64;
#define ARGUMENTS (u32* out, const char* in, char* memory, u32 rounds, u32 mode, u32 p0, u32 p1)
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(1024) name ARGUMENTS
#define CLUSTER(name, size) extern "C" __global__ void __cluster_dims__(size) __launch_bounds__(1024) name ARGUMENTS

__device__ __forceinline__ u32 clock_now() { u32 t; asm volatile("mov.u32 %0, %%clock;" : "=r"(t) :: "memory"); return t; }
__device__ __forceinline__ u32 sm_here() { u32 t; asm volatile("mov.u32 %0, %%smid;" : "=r"(t)); return t; }
__device__ __forceinline__ u32 smem_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ __forceinline__ u64 load_ca(u64 a) { u64 v; asm volatile("ld.global.u64 %0, [%1];" : "=l"(v) : "l"(a) : "memory"); return v; }
__device__ __forceinline__ u64 load_cg(u64 a) { u64 v; asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(v) : "l"(a) : "memory"); return v; }

// Write a list of links: pairs (offset, offset that is stored as an address), `rounds` of them, into `memory`.
KERNEL(links) {
  const u64* pairs = (const u64*)in;
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < rounds; i += (u64)gridDim.x * blockDim.x)
    *(u64*)(memory + pairs[2 * i]) = (u64)(memory + pairs[2 * i + 1]);
}

// Write p0 KiB of memory: what the caches held is gone.
KERNEL(flush) {
  const u64 count = (u64)p0 * 64;
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x)
    ((uint4*)memory)[i] = make_uint4(mode, mode, mode, mode);
}

// The cycles of one load of each of p0 lines, p1 bytes apart, by one thread of SM `mode`: the least of `rounds` rounds.
KERNEL(lines) {
  if (sm_here() != mode || threadIdx.x) return;
  for (u32 r = 0; r < rounds; ++r) {
#pragma unroll 1
    for (u32 k = 0; k < p0; ++k) {
      const u64 address = (u64)memory + (u64)k * p1;
      const u32 begin = clock_now();
      const u64 value = load_cg(address);
      asm volatile("{ .reg .pred p; setp.eq.u64 p, %0, 1; @p trap; }" :: "l"(value) : "memory");
      const u32 end = clock_now();
      const u32 spent = end - begin;
      out[64 + k] = r ? min(out[64 + k], spent) : spent;
    }
  }
}

// Follow links: 16 * rounds loads by one thread of SM `mode`, from offset p0 * 8. Through L1, or past it.
#define CHASE(name, load)                                    \
  KERNEL(name) {                                             \
    if (sm_here() != mode || threadIdx.x) return;            \
    u64 p = (u64)memory + (u64)p0 * 8;                       \
    const u32 begin = clock_now();                           \
    _Pragma("unroll 1") for (u32 r = 0; r < rounds; ++r) {   \
      p = load(p); p = load(p); p = load(p); p = load(p);    \
      p = load(p); p = load(p); p = load(p); p = load(p);    \
      p = load(p); p = load(p); p = load(p); p = load(p);    \
      p = load(p); p = load(p); p = load(p); p = load(p);    \
    }                                                        \
    const u32 end = clock_now();                             \
    out[0] = end - begin;                                    \
    ((u64*)out)[4] = p;                                      \
  }
CHASE(chase_ca, load_ca)
CHASE(chase_cg, load_cg)

// Streams. Each warp has U packs of 512 bytes in flight, side by side. The warps of the GPU take turns, and begin again
// after p0 KiB. In mode 1 each block has its own p0 KiB, p0 KiB behind those of the block before it.
template <int U> struct Place {
  u64 base, step, mask, at;
  __device__ Place(char* memory, u32 p0, u32 mode) {
    const u32 warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    mask = (u64)p0 * 1024 - 1;
    base = (u64)memory + (mode ? blockIdx.x * (mask + 1) : 0) + (threadIdx.x & 31) * 16;
    step = (mode ? warps : (u64)gridDim.x * warps) * 512 * U;
    at = (mode ? warp : (u64)blockIdx.x * warps + warp) * 512 * U;
  }
  __device__ u64 next() { const u64 here = base + (at & mask); at += step; return here; }
};
__device__ __forceinline__ uint4 read_pack(u64 a) {
  uint4 v;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(a) : "memory");
  return v;
}
__device__ __forceinline__ uint4 read_pack_cg(u64 a) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(a) : "memory");
  return v;
}
__device__ __forceinline__ void write_pack(u64 a, uint4 v) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" :: "l"(a), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
// The sum needs the pack that was loaded last first, so that all packs are in flight at once.
__device__ __forceinline__ float mixed(float sum, uint4 v) {
  return __fmaf_rn(__fmaf_rn(sum, __uint_as_float(v.x), __uint_as_float(v.y)), __uint_as_float(v.z), __uint_as_float(v.w));
}
#define READ(name, U, load)                                             \
  KERNEL(name) {                                                        \
    Place<U> place(memory, p0, mode);                                      \
    float sum = 0;                                                      \
    _Pragma("unroll 1") for (u32 r = 0; r < rounds; ++r) {              \
      uint4 v[U];                                                       \
      const u64 a = place.next();                                       \
      _Pragma("unroll") for (int u = 0; u < U; ++u) v[u] = load(a + 512 * u);        \
      _Pragma("unroll") for (int u = U - 1; u >= 0; --u) sum = mixed(sum, v[u]);      \
    }                                                                   \
    if (sum == 12345.0f) out[0] = p1;                                   \
  }
READ(read_1, 1, read_pack)
READ(read_2, 2, read_pack)
READ(read_4, 4, read_pack)
READ(read_cg_1, 1, read_pack_cg)
READ(read_cg_2, 2, read_pack_cg)
READ(read_cg_4, 4, read_pack_cg)
KERNEL(write_4) {
  Place<4> place(memory, p0, mode);
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
    const u64 a = place.next();
#pragma unroll
    for (int u = 0; u < 4; ++u) write_pack(a + 512 * u, make_uint4(r, r, r, r));
  }
}
// The copy goes p1 MiB further.
#define COPY(name, U)                                                   \
  KERNEL(name) {                                                        \
    Place<U> place(memory, p0, mode);                                      \
    _Pragma("unroll 1") for (u32 r = 0; r < rounds; ++r) {              \
      uint4 v[U];                                                       \
      const u64 a = place.next();                                       \
      _Pragma("unroll") for (int u = 0; u < U; ++u) v[u] = read_pack(a + 512 * u);              \
      _Pragma("unroll") for (int u = 0; u < U; ++u) write_pack(a + ((u64)p1 << 20) + 512 * u, v[u]);  \
    }                                                                   \
  }
COPY(copy_1, 1)
COPY(copy_2, 2)
COPY(copy_4, 4)

// As read_4 with warps 1 and up; warp 0 of each block follows links from p1 * 1 MiB on, 128 KiB for each block, and
// counts the cycles of 64 loads. The others stop when it has done `rounds` times that. They count their packs.
#define LOADED(name, U)                                                                   \
  KERNEL(name) {                                                                          \
    __shared__ volatile u32 done;                                                         \
    __shared__ u32 packs;                                                                 \
    if (threadIdx.x == 0) { done = 0; packs = 0; }                                        \
    __syncthreads();                                                                      \
    if (threadIdx.x >= 32) {                                                              \
      Place<U> place(memory, p0, 0);                                                         \
      float sum = 0;                                                                      \
      u32 count = 0;                                                                      \
      while (!done) {                                                                     \
        uint4 v[U];                                                                       \
        const u64 a = place.next();                                                       \
        _Pragma("unroll") for (int u = 0; u < U; ++u) v[u] = read_pack_cg(a + 512 * u);      \
        _Pragma("unroll") for (int u = U - 1; u >= 0; --u) sum = mixed(sum, v[u]);           \
        count += U;                                                                       \
      }                                                                                   \
      if (sum == 12345.0f) out[0] = 1;                                                    \
      if ((threadIdx.x & 31) == 0) atomicAdd(&packs, count);                              \
    } else if (threadIdx.x == 0) {                                                        \
      u64 p = (u64)memory + ((u64)p1 << 20) + (u64)blockIdx.x * 131072;                   \
      for (int k = 0; k < 64; ++k) p = load_cg(p);                                        \
      const u32 begin = clock_now();                                                      \
      _Pragma("unroll 1") for (u32 r = 0; r < 64 * rounds; ++r) p = load_cg(p);           \
      const u32 end = clock_now();                                                        \
      done = 1;                                                                           \
      out[64 + 4 * blockIdx.x] = end - begin;                                             \
      if (p == 1) out[0] = 1;                                                             \
    }                                                                                     \
    __syncthreads();                                                                      \
    if (threadIdx.x == 0) out[65 + 4 * blockIdx.x] = packs;                               \
  }
LOADED(loaded_1, 1)
LOADED(loaded_2, 2)
LOADED(loaded_4, 4)

// Each lane reads 4 bytes, lanes P bytes apart, 8 requests of a warp side by side; the warps take turns over p0 KiB.
#define STRIDED(P)                                                                                                  \
  KERNEL(strided_##P) {                                                                                             \
    const u64 warps = (u64)gridDim.x * (blockDim.x >> 5), warp = (u64)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); \
    const u64 mask = (u64)p0 * 1024 - 1;                                                                            \
    u64 at = warp * 256 * P;                                                                                        \
    u32 sum = 0;                                                                                                    \
    _Pragma("unroll 1") for (u32 r = 0; r < rounds; ++r) {                                                          \
      u32 v[8];                                                                                                     \
      const u64 a = (u64)memory + (at & mask) + (threadIdx.x & 31) * P;                                             \
      _Pragma("unroll") for (int u = 0; u < 8; ++u)                                                                 \
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[u]) : "l"(a + 32 * P * u) : "memory");                   \
      at += warps * 256 * P;                                                                                        \
      _Pragma("unroll") for (int u = 7; u >= 0; --u) sum = sum * v[u] + v[u];                                       \
    }                                                                                                               \
    if (sum == 12345) out[0] = sum;                                                                                 \
  }
STRIDED(32)
STRIDED(64)
STRIDED(128)
STRIDED(256)
STRIDED(512)
// Each warp reads or writes 32 sectors at random in p0 KiB, one per lane; p1 = 1 writes.
KERNEL(scattered) {
  const u64 mask = ((u64)p0 * 1024 - 1) & ~31ull;
  u64 state = ((u64)(blockIdx.x * blockDim.x + threadIdx.x) + 1) * 0x9E3779B97F4A7C15ull;
  u32 sum = 0;
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
    u32 v[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      const u64 address = (u64)memory + ((state >> 20) & mask);
      if (p1) asm volatile("st.global.u32 [%0], %1;" :: "l"(address), "r"(r) : "memory");
      else asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[u]) : "l"(address) : "memory");
    }
    if (!p1) for (int u = 3; u >= 0; --u) sum = sum * v[u] + v[u];
  }
  if (sum == 12345) out[0] = sum;
}
// Stores of `p1` bytes (4, 8, 16) at the beginning of each sector, one per lane; 32: whole sectors, by two lanes each.
KERNEL(partial) {
  const u64 warps = (u64)gridDim.x * (blockDim.x >> 5), warp = (u64)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  const u64 mask = (u64)p0 * 1024 - 1, lane = threadIdx.x & 31;
  const u64 pitch = p1 == 32 ? 16 : 32;
  u64 at = warp * 32 * pitch;
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
    const u64 a = (u64)memory + ((at + lane * pitch) & mask);
    if (p1 == 4) asm volatile("st.global.u32 [%0], %1;" :: "l"(a), "r"(r) : "memory");
    else if (p1 == 8) asm volatile("st.global.v2.u32 [%0], {%1, %1};" :: "l"(a), "r"(r) : "memory");
    else write_pack(a, make_uint4(r, r, r, r));
    at += warps * 32 * pitch;
  }
}

// Asynchronous copies of p0 bytes from memory to shared memory, one after the other. One thread.
__device__ __forceinline__ void wait_for(u32 barrier, u32 parity) {
  asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra W; }" :: "r"(barrier), "r"(parity) : "memory");
}
// p1: copies that are under way at once. Each goes to its own place.
KERNEL(bulk) {
  extern __shared__ __align__(128) char smem[];
  __shared__ __align__(8) u64 barrier;
  const u32 at = smem_address(&barrier), to = smem_address(smem);
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  const u32 begin = clock_now();
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(at), "r"(p0 * p1) : "memory");
    for (u32 k = 0; k < p1; ++k)
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                   :: "r"(to + k * p0), "l"((u64)memory + (u64)blockIdx.x * 131072 + k * p0), "r"(p0), "r"(at) : "memory");
    wait_for(at, r & 1);
  }
  out[4 * blockIdx.x] = clock_now() - begin;
}
// An arrival at an mbarrier and the wait for its phase, one after the other. One thread.
KERNEL(mbarrier_phase) {
  __shared__ __align__(8) u64 barrier;
  const u32 at = smem_address(&barrier);
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at) : "memory");
  const u32 begin = clock_now();
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(at) : "memory");
    wait_for(at, r & 1);
  }
  out[0] = clock_now() - begin;
}
// Try-waits for a phase that is over, one after the other.
KERNEL(mbarrier_try) {
  __shared__ __align__(8) u64 barrier;
  const u32 at = smem_address(&barrier);
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at) : "memory");
  const u32 begin = clock_now();
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) wait_for(at, 1);
  out[0] = clock_now() - begin;
}

// Clusters: links through the shared memory of block 1, followed by a thread of block 0.
CLUSTER(dsm_chase, 2) {
  __shared__ u64 here;
  u32 rank;
  u64 there;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(&here), "r"(1));
  if (threadIdx.x == 0) here = there;
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  if (rank == 0 && threadIdx.x == 0) {
    u64 p = there;
    const u32 begin = clock_now();
#pragma unroll 1
    for (u32 r = 0; r < rounds; ++r) {
#pragma unroll
      for (int k = 0; k < 4; ++k) asm volatile("ld.u64 %0, [%0];" : "+l"(p) :: "memory");
    }
    const u32 end = clock_now();
    out[0] = end - begin + (p == 1);
  }
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
CLUSTER(dsm_atomic, 2) {
  __shared__ u32 here;
  u32 rank, there;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(smem_address(&here)), "r"(1));
  if (threadIdx.x == 0) here = 0;
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  if (rank == 0 && threadIdx.x == 0) {
    u32 x = rounds;
    const u32 begin = clock_now();
#pragma unroll 1
    for (u32 r = 0; r < rounds; ++r) asm volatile("atom.shared::cluster.exch.b32 %0, [%1], %0;" : "+r"(x) : "r"(there) : "memory");
    const u32 end = clock_now();
    out[0] = end - begin + (x == 1);
  }
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
// A store into block 1 that block 1 sees and answers with a store into block 0: half of a round is one way.
CLUSTER(dsm_pingpong, 2) {
  __shared__ volatile u32 mail;
  u32 rank, other;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(smem_address((const void*)&mail)), "r"(rank ^ 1));
  if (threadIdx.x == 0) mail = 0;
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0) {
    const u32 begin = clock_now();
#pragma unroll 1
    for (u32 r = 1; r <= rounds; ++r) {
      if (rank) while (mail != r) {}
      asm volatile("st.volatile.shared::cluster.u32 [%0], %1;" :: "r"(other), "r"(r) : "memory");
      if (!rank) while (mail != r) {}
    }
    const u32 end = clock_now();
    if (!rank) out[0] = end - begin;
  }
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
// Each block reads (mode 0) or writes (mode 1) the shared memory of its neighbour, 16 bytes per lane.
CLUSTER(dsm_stream, 2) {
  __shared__ uint4 data[2048];
  u32 rank, there;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(smem_address(data)), "r"(rank ^ 1));
  for (u32 i = threadIdx.x; i < 2048; i += blockDim.x) data[i] = make_uint4(i, i, i, i);
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  float sum = 0;
  const u32 begin = clock_now();
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
    uint4 v[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const u32 a = there + ((threadIdx.x + u * blockDim.x) * 16 & 32767);
      if (mode) asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %1, %1, %1};" :: "r"(a), "r"(r) : "memory");
      else asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[u].x), "=r"(v[u].y), "=r"(v[u].z), "=r"(v[u].w) : "r"(a) : "memory");
    }
    if (!mode) for (int u = 3; u >= 0; --u) sum = mixed(sum, v[u]);
  }
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0) out[4 * blockIdx.x] = clock_now() - begin + (sum == 12345.0f);
}
#define CLUSTER_BARRIER(size)                                                                                   \
  CLUSTER(cluster_barrier_##size, size) {                                                                       \
    const u32 begin = clock_now();                                                                              \
    _Pragma("unroll 1") for (u32 r = 0; r < rounds; ++r)                                                        \
      asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");               \
    if (threadIdx.x == 0) out[4 * blockIdx.x] = clock_now() - begin;                                            \
  }
CLUSTER(cluster_barrier_relaxed, 4) {
  const u32 begin = clock_now();
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r)
    asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0) out[4 * blockIdx.x] = clock_now() - begin;
}
CLUSTER_BARRIER(2)
CLUSTER_BARRIER(4)
CLUSTER_BARRIER(8)

// First touches: every block reads one word of each of p0 pages, p1 KiB apart.
KERNEL(pages) {
  u32 sum = 0;
  for (u32 k = threadIdx.x; k < p0; k += blockDim.x) {
    u32 v;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"((u64)memory + (u64)k * p1 * 1024 + (blockIdx.x & 31) * 32) : "memory");
    sum ^= v;
  }
  if (sum == 12345) out[0] = sum;
}
