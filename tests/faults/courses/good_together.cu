// Good kernels whose warps, blocks or clusters work together: flags, locks, pipelines, cooperative groups, CUB.
#define FULL 0xffffffffu

// == block_reduce_then_last_block
__device__ unsigned retired = 0;
extern "C" __global__ void block_reduce_then_last_block(const int* in, int* part, int* out, int n) {
  __shared__ int s[64];
  __shared__ bool amLast;
  int sum = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 64 * gridDim.x) sum += in[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 32; d > 0; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    part[blockIdx.x] = s[0];
    __threadfence();
    unsigned ticket = atomicInc(&retired, gridDim.x);
    amLast = ticket == gridDim.x - 1;
  }
  __syncthreads();
  if (amLast) {
    int total = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += 64) total += ((volatile int*)part)[i];
    s[threadIdx.x] = total;
    __syncthreads();
    for (int d = 32; d > 0; d >>= 1) {
      if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
      __syncthreads();
    }
    if (threadIdx.x == 0) { out[0] = s[0]; retired = 0; }
  }
}

// == all_threads_store_then_last_block
__device__ int finished = 0;
extern "C" __global__ void all_threads_store_then_last_block(const float* x, float* work, float* y) {
  __shared__ int mine;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  work[i] = x[i] * x[i];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) mine = atomicAdd(&finished, 1);
  __syncthreads();
  if (mine != gridDim.x - 1) return;
  __threadfence();
  float sum = 0;
  for (int b = 0; b < gridDim.x; ++b) sum += work[b * blockDim.x + threadIdx.x];
  y[threadIdx.x] = sum;
}

// == lookback_scan_aggregates
// Status and value in one 64-bit word, so that one store publishes both.
typedef unsigned long long u64;
extern "C" __global__ void lookback_scan_aggregates(const int* in, int* out, u64* state, int* order) {
  __shared__ int s[32], tile, before;
  if (threadIdx.x == 0) tile = atomicAdd(order, 1);
  __syncthreads();
  int v = in[tile * 32 + threadIdx.x];
  for (int d = 1; d < 32; d *= 2) { int n = __shfl_up_sync(FULL, v, d); if (threadIdx.x >= d) v += n; }
  if (threadIdx.x == 31) {
    volatile u64* st = state;
    st[tile] = (tile == 0 ? 2ull << 32 : 1ull << 32) | (unsigned)v;
    int sum = 0;
    for (int p = tile - 1; p >= 0;) {
      u64 w = st[p];
      if ((w >> 32) == 0) continue;
      sum += (int)(unsigned)w;
      if ((w >> 32) == 2) break;
      --p;
    }
    if (tile > 0) st[tile] = (2ull << 32) | (unsigned)(sum + v);
    before = sum;
  }
  __syncthreads();
  out[tile * 32 + threadIdx.x] = before + v;
}

// == chained_scan_with_fences
extern "C" __global__ void chained_scan_with_fences(const int* in, int* out, volatile int* carry, volatile int* ready) {
  __shared__ int s[64], base;
  int t = threadIdx.x, b = blockIdx.x;
  s[t] = in[b * 64 + t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  if (t == 0) {
    int start = 0;
    if (b > 0) {
      while (ready[b - 1] == 0) {}
      __threadfence();
      start = carry[b - 1];
    }
    carry[b] = start + s[63];
    __threadfence();
    ready[b] = 1;
    base = start;
  }
  __syncthreads();
  out[b * 64 + t] = base + s[t];
}

// == mutex_of_a_book
struct Lock {
  int* mutex;
  __device__ void lock() { while (atomicCAS(mutex, 0, 1) != 0) {} __threadfence(); }
  __device__ void unlock() { __threadfence(); atomicExch(mutex, 0); }
};
extern "C" __global__ void mutex_of_a_book(const float* a, float* total, int* mutex) {
  Lock lock{mutex};
  float v = a[blockIdx.x * 32 + threadIdx.x];
  for (int o = 16; o; o /= 2) v += __shfl_down_sync(FULL, v, o);
  if (threadIdx.x == 0) {
    lock.lock();
    *total += v;
    lock.unlock();
  }
}

// == lock_per_thread_done_flag
// Each thread takes the lock inside the loop, so that a warp cannot block itself.
extern "C" __global__ void lock_per_thread_done_flag(int* mutex, volatile int* counter) {
  bool done = false;
  while (!done) {
    if (atomicCAS(mutex, 0, 1) == 0) {
      __threadfence();
      *counter = *counter + 1;
      __threadfence();
      atomicExch(mutex, 0);
      done = true;
    }
  }
}

// == ticket_lock_for_blocks
extern "C" __global__ void ticket_lock_for_blocks(unsigned* next, volatile unsigned* serving, int* log, int* count) {
  if (threadIdx.x == 0) {
    unsigned mine = atomicAdd(next, 1);
    while (*serving != mine) {}
    __threadfence();
    log[*count] = blockIdx.x;
    *count += 1;
    __threadfence();
    *serving = mine + 1;
  }
}

// == hash_table_insert
extern "C" __global__ void hash_table_insert(const unsigned* keys, unsigned* slots, int* values, int capacity) {
  unsigned key = keys[blockIdx.x * blockDim.x + threadIdx.x], at = key * 2654435761u % capacity;
  while (true) {
    unsigned old = atomicCAS(&slots[at], 0xffffffffu, key);
    if (old == 0xffffffffu || old == key) { atomicAdd(&values[at], 1); return; }
    at = (at + 1) % capacity;
  }
}

// == linked_list_push
extern "C" __global__ void linked_list_push(int* head, int* next) {
  int me = blockIdx.x * blockDim.x + threadIdx.x, old = *(volatile int*)head, seen;
  do {
    seen = old;
    next[me] = seen;
    __threadfence();
    old = atomicCAS(head, seen, me);
  } while (old != seen);
}

// == mailbox_between_blocks
extern "C" __global__ void mailbox_between_blocks(const int* in, int* box, int* flag, int* out) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    box[t] = in[t] * 3;
    __threadfence();
    __syncthreads();
    if (t == 0) atomicExch(flag, 1);
  } else {
    if (t == 0) while (atomicAdd(flag, 0) == 0) {}
    __syncthreads();
    __threadfence();
    out[t] = box[blockDim.x - 1 - t];
  }
}

// == release_acquire_ptx
extern "C" __global__ void release_acquire_ptx(const int* in, int* box, int* flag, int* out) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    box[t] = in[t] + 7;
    __syncthreads();
    if (t == 0) asm volatile("st.release.gpu.b32 [%0], 1;" :: "l"(flag) : "memory");
  } else {
    if (t == 0) {
      int v;
      do asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory"); while (!v);
    }
    __syncthreads();
    out[t] = box[t ^ 1];
  }
}

// == warp_aggregated_increment
extern "C" __global__ void warp_aggregated_increment(const int* src, int* dst, int* nres, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || src[i] <= 0) return;
  unsigned active = __activemask();
  int leader = __ffs(active) - 1, rank = __popc(active & ((1u << (threadIdx.x & 31)) - 1)), base;
  if (rank == 0) base = atomicAdd(nres, __popc(active));
  base = __shfl_sync(active, base, leader);
  dst[base + rank] = src[i];
}

// == match_any_by_key
extern "C" __global__ void match_any_by_key(const int* key, int* count) {
  int k = key[blockIdx.x * blockDim.x + threadIdx.x];
  unsigned peers = __match_any_sync(FULL, k);
  if ((threadIdx.x & 31) == __ffs(peers) - 1) atomicAdd(&count[k], __popc(peers));
}

// == ballot_compaction
extern "C" __global__ void ballot_compaction(const int* x, int* y, int* total) {
  __shared__ int offsets[5];
  int v = x[threadIdx.x], lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  unsigned votes = __ballot_sync(FULL, v % 3 == 0);
  if (lane == 0) offsets[warp + 1] = __popc(votes);
  if (threadIdx.x == 0) offsets[0] = 0;
  __syncthreads();
  if (threadIdx.x == 0) { for (int w = 1; w <= 4; ++w) offsets[w] += offsets[w - 1]; *total = offsets[4]; }
  __syncthreads();
  if (v % 3 == 0) y[offsets[warp] + __popc(votes & ((1u << lane) - 1))] = v;
}

// == half_warps_with_masks
extern "C" __global__ void half_warps_with_masks(const int* x, int* y) {
  int lane = threadIdx.x & 31, v = x[threadIdx.x];
  unsigned mask = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  if (lane < 16) {
    for (int o = 8; o; o /= 2) v += __shfl_xor_sync(mask, v, o);
  } else {
    for (int o = 8; o; o /= 2) v = max(v, __shfl_xor_sync(mask, v, o));
  }
  y[threadIdx.x] = v;
}

// == mask_from_ballot
extern "C" __global__ void mask_from_ballot(const int* x, int* y, int n) {
  int i = threadIdx.x;
  unsigned mask = __ballot_sync(FULL, i < n);
  if (i < n) {
    int v = x[i];
    for (int o = 16; o; o /= 2) {
      int from = (i & 31) + o;
      bool there = from < 32 && (mask >> from & 1);
      int w = __shfl_sync(mask, v, there ? from : i & 31);
      if (there) v += w;
    }
    y[i] = v;
  }
}

// == producer_consumer_named
__device__ void meet(int id, int n) { asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(n) : "memory"); }
__device__ void arrive(int id, int n) { asm volatile("bar.arrive %0, %1;" :: "r"(id), "r"(n) : "memory"); }
extern "C" __global__ void producer_consumer_named(const float* in, float* out, int turns) {
  __shared__ float box[2][32];
  int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int t = 0; t < turns; ++t) {
      if (t >= 2) meet(3 + t % 2, 64);
      box[t % 2][lane] = in[t * 32 + lane];
      arrive(1 + t % 2, 64);
    }
  } else {
    for (int t = 0; t < turns; ++t) {
      meet(1 + t % 2, 64);
      out[t * 32 + lane] = box[t % 2][31 - lane] * 2;
      if (t + 2 < turns) arrive(3 + t % 2, 64);
    }
  }
}

// == named_barrier_from_two_places
// PTX allows that warps reach one barrier from different instructions.
extern "C" __global__ void named_barrier_from_two_places(const int* x, int* y) {
  __shared__ int s[128];
  s[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x < 64) {
    asm volatile("bar.sync 2, 128;" ::: "memory");
    y[threadIdx.x] = s[127 - threadIdx.x];
  } else {
    s[threadIdx.x] += 1;
    asm volatile("bar.sync 2, 128;" ::: "memory");
    y[threadIdx.x] = s[127 - threadIdx.x] * 2;
  }
}

// == warp_groups_of_their_own
extern "C" __global__ void warp_groups_of_their_own(const float* x, float* y) {
  __shared__ float s[2][64];
  int g = threadIdx.x / 64, t = threadIdx.x % 64;
  s[g][t] = x[threadIdx.x];
  asm volatile("bar.sync %0, 64;" :: "r"(g + 1) : "memory");
  for (int d = 32; d; d /= 2) {
    if (t < d) s[g][t] += s[g][t + d];
    asm volatile("bar.sync %0, 64;" :: "r"(g + 1) : "memory");
  }
  if (t == 0) y[g] = s[g][0];
}

// == counted_barriers
extern "C" __global__ void counted_barriers(const int* x, int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  int odd = __syncthreads_count(x[threadIdx.x] & 1);
  int any = __syncthreads_or(s[63 - threadIdx.x] > 90), all = __syncthreads_and(s[threadIdx.x ^ 1] >= 0);
  y[threadIdx.x] = odd * 4 + (any != 0) * 2 + (all != 0);
}

// == early_return_of_whole_warps
// Threads that have left count as arrived.
extern "C" __global__ void early_return_of_whole_warps(const int* x, int* y, int n) {
  __shared__ int s[128];
  if (threadIdx.x >= n) return;
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = s[n - 1 - threadIdx.x];
}

// == barrier_in_a_uniform_branch
extern "C" __global__ void barrier_in_a_uniform_branch(const int* x, int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  if (blockIdx.x % 2 == 0) {
    __syncthreads();
    y[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
  } else {
    y[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
  }
}

// == volatile_flag_in_a_block
extern "C" __global__ void volatile_flag_in_a_block(const int* x, int* y) {
  __shared__ int box[32];
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    box[threadIdx.x] = x[threadIdx.x];
    __threadfence_block();
    __syncwarp();
    if (threadIdx.x == 0) flag = 1;
  } else {
    while (flag == 0) {}
    __threadfence_block();
    y[threadIdx.x - 32] = box[63 - threadIdx.x];
  }
}

// == persistent_queue
extern "C" __global__ void persistent_queue(const int* work, int* done, int* head, int n) {
  __shared__ int item;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) item = atomicAdd(head, 1);
    __syncthreads();
    if (item >= n) break;
    int v = work[item];
    if (threadIdx.x < v) atomicAdd(&done[item], threadIdx.x);
  }
}

// == grid_stride_two_arrays
extern "C" __global__ void grid_stride_two_arrays(const float* __restrict__ x, float* __restrict__ y, float a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = a * x[i] + y[i];
}

// == float_max_by_integer_atomics
extern "C" __global__ void float_max_by_integer_atomics(const float* x, float* most, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    float v = x[i];
    if (v >= 0) atomicMax((int*)most, __float_as_int(v));
    else atomicMin((unsigned*)most, __float_as_uint(v));
  }
}

// == atomic_double_by_cas
extern "C" __global__ void atomic_double_by_cas(const double* x, double* sum) {
  unsigned long long* at = (unsigned long long*)sum;
  unsigned long long old = *(volatile unsigned long long*)at, assumed;
  do {
    assumed = old;
    old = atomicCAS(at, assumed, __double_as_longlong(x[blockIdx.x * blockDim.x + threadIdx.x] + __longlong_as_double(assumed)));
  } while (assumed != old);
}

// == union_find_hook
extern "C" __global__ void union_find_hook(const int2* edges, int* parent, int m) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= m) return;
  volatile int* p = parent;
  int a = edges[e].x, b = edges[e].y;
  while (true) {
    while (p[a] != a) a = p[a];
    while (p[b] != b) b = p[b];
    if (a == b) break;
    if (a < b) { int t = a; a = b; b = t; }
    if (atomicCAS(&parent[a], a, b) == a) break;
  }
}

// == cp_async_two_stages
__device__ void copy4(void* to, const void* from) {
  unsigned at = __cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at), "l"(from) : "memory");
}
extern "C" __global__ void cp_async_two_stages(const float* x, float* y, int tiles) {
  __shared__ float buf[2][64];
  int t = threadIdx.x;
  copy4(&buf[0][t], x + t);
  asm volatile("cp.async.commit_group;" ::: "memory");
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) copy4(&buf[(i + 1) % 2][t], x + (i + 1) * 64 + t);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    y[i * 64 + t] = buf[i % 2][63 - t] * 2;
    __syncthreads();
  }
}

// == cp_async_own_element
// Each thread reads only what it copied itself: its own wait is enough.
extern "C" __global__ void cp_async_own_element(const float4* x, float4* y) {
  __shared__ float4 buf[64];
  unsigned at = __cvta_generic_to_shared(buf + threadIdx.x);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at), "l"(x + threadIdx.x) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  float4 v = buf[threadIdx.x];
  y[threadIdx.x] = make_float4(v.w, v.z, v.y, v.x);
}

// == pipeline_primitives
#include <cuda_pipeline_primitives.h>
extern "C" __global__ void pipeline_primitives(const int* x, int* y, int n) {
  __shared__ int stage[4][32];
  int t = threadIdx.x;
  for (int s = 0; s < 3; ++s) {
    __pipeline_memcpy_async(&stage[s][t], x + s * 32 + t, 4);
    __pipeline_commit();
  }
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    if (i + 3 < n) __pipeline_memcpy_async(&stage[(i + 3) % 4][t], x + (i + 3) * 32 + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(3);
    __syncwarp();
    sum += stage[i % 4][(t + 1) % 32];
    __syncwarp();
  }
  y[t] = sum;
}

// == mbarrier_phases
__device__ unsigned sm(const void* p) { return __cvta_generic_to_shared(p); }
__device__ void wait_parity(unsigned long long* bar, unsigned parity) {
  asm volatile("{ .reg .pred done; again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1; @!done bra again; }"
               :: "r"(sm(bar)), "r"(parity) : "memory");
}
extern "C" __global__ void mbarrier_phases(const int* x, int* y, int turns) {
  __shared__ unsigned long long bar;
  __shared__ int s[64];
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(sm(&bar)) : "memory");
  __syncthreads();
  int v = x[threadIdx.x];
  for (int t = 0; t < turns; ++t) {
    s[threadIdx.x] = v;
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(sm(&bar)) : "memory");
    wait_parity(&bar, 2 * t % 2);
    v += s[(threadIdx.x + 9) % 64];
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(sm(&bar)) : "memory");
    wait_parity(&bar, (2 * t + 1) % 2);
  }
  y[threadIdx.x] = v;
}

// == bulk_copy_in_and_out
extern "C" __global__ void bulk_copy_in_and_out(const float* x, float* y) {
  __shared__ alignas(128) float tile[128];
  __shared__ unsigned long long bar;
  unsigned b = __cvta_generic_to_shared(&bar), s = __cvta_generic_to_shared(tile);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 512;" :: "r"(b) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];"
                 :: "r"(s), "l"(x + blockIdx.x * 128), "r"(b) : "memory");
  }
  __syncthreads();
  asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra w; }" :: "r"(b) : "memory");
  float v = tile[127 - threadIdx.x];
  __syncthreads();
  tile[threadIdx.x] = v * 3;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" :: "l"(y + blockIdx.x * 128), "r"(s) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}

// == full_and_empty_mbarriers
// A producer warp and two consumer warps with a ring of two stages.
__device__ unsigned to(const void* p) { return __cvta_generic_to_shared(p); }
__device__ void init(unsigned long long* b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(to(b)), "r"(n) : "memory"); }
__device__ void arrive(unsigned long long* b) { asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(to(b)) : "memory"); }
__device__ void wait(unsigned long long* b, unsigned parity) {
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" :: "r"(to(b)), "r"(parity) : "memory");
}
extern "C" __global__ void full_and_empty_mbarriers(const float* x, float* y, int tiles) {
  __shared__ float ring[2][32];
  __shared__ unsigned long long full[2], empty[2];
  if (threadIdx.x == 0) for (int s = 0; s < 2; ++s) { init(full + s, 32); init(empty + s, 64); }
  __syncthreads();
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int t = 0; t < tiles; ++t) {
    int s = t % 2, turn = t / 2;
    if (warp == 0) {
      wait(empty + s, (turn & 1) ^ 1);
      ring[s][lane] = x[t * 32 + lane];
      arrive(full + s);
    } else {
      wait(full + s, turn & 1);
      y[(t * 2 + warp - 1) * 32 + lane] = ring[s][lane ^ warp];
      arrive(empty + s);
    }
  }
}

// == cluster_histogram
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) cluster_histogram(const int* x, int* bins, int n) {
  __shared__ int mine[32];
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x < 32) mine[threadIdx.x] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int b = x[i] % 64;
    atomicAdd(cluster.map_shared_rank(mine, b / 32) + b % 32, 1);
  }
  cluster.sync();
  if (threadIdx.x < 32) atomicAdd(&bins[cluster.block_rank() * 32 + threadIdx.x], mine[threadIdx.x]);
}

// == cluster_halo
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(4) cluster_halo(const float* x, float* y) {
  __shared__ float s[32];
  auto c = cg::this_cluster();
  int r = c.block_rank(), t = threadIdx.x;
  s[t] = x[blockIdx.x * 32 + t];
  c.sync();
  float left = t > 0 ? s[t - 1] : (r > 0 ? c.map_shared_rank(s, r - 1)[31] : 0);
  float right = t < 31 ? s[t + 1] : (r < 3 ? c.map_shared_rank(s, r + 1)[0] : 0);
  y[blockIdx.x * 32 + t] = left + right;
  c.sync();
}

// == cluster_arrive_wait_split
extern "C" __global__ void __cluster_dims__(2) cluster_arrive_wait_split(const int* x, int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  int own = x[blockIdx.x * 32 + threadIdx.x] * 5;
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  unsigned rank, at;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"((unsigned)__cvta_generic_to_shared(s + threadIdx.x)), "r"(rank ^ 1));
  int v;
  asm volatile("ld.shared::cluster.b32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
  y[blockIdx.x * 32 + threadIdx.x] = own + v;
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// == tile_groups_of_eight
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tile_groups_of_eight(const int* x, int* y) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int v = x[blockIdx.x * blockDim.x + threadIdx.x];
  for (int o = tile.size() / 2; o > 0; o /= 2) v += tile.shfl_down(v, o);
  unsigned odd = tile.ballot(x[blockIdx.x * blockDim.x + threadIdx.x] & 1);
  if (tile.thread_rank() == 0) y[(blockIdx.x * blockDim.x + threadIdx.x) / 8] = v * 100 + __popc(odd);
}

// == coalesced_group_filter
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void coalesced_group_filter(const int* x, int* y, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] % 2 == 0) {
    auto g = cg::coalesced_threads();
    int base;
    if (g.thread_rank() == 0) base = atomicAdd(count, g.size());
    y[g.shfl(base, 0) + g.thread_rank()] = x[i];
  }
}

// == grid_sync_two_phases
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void grid_sync_two_phases(const float* x, float* part, float* y) {
  auto grid = cg::this_grid();
  int i = grid.thread_rank();
  part[i] = x[i] * 2;
  grid.sync();
  y[i] = part[grid.size() - 1 - i];
  grid.sync();
  part[i] = y[(i + 33) % grid.size()];
}

// == jacobi_persistent
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void jacobi_persistent(float* a, float* b, int n, int steps) {
  auto grid = cg::this_grid();
  for (int s = 0; s < steps; ++s) {
    for (int i = grid.thread_rank() + 1; i < n - 1; i += grid.size()) b[i] = 0.5f * (a[i - 1] + a[i + 1]);
    grid.sync();
    float* t = a; a = b; b = t;
  }
}

// == grid_barrier_by_counter
extern "C" __global__ void grid_barrier_by_counter(int* x, int* y, unsigned* arrived) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  x[i] = i * i;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    while (*(volatile unsigned*)arrived < gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
  y[i] = x[n - 1 - i];
}

// == block_scan_of_cub
#include <cub/block/block_scan.cuh>
extern "C" __global__ void block_scan_of_cub(const int* x, int* y) {
  typedef cub::BlockScan<int, 64> Scan;
  __shared__ typename Scan::TempStorage temp;
  int v = x[threadIdx.x], total, r;
  Scan(temp).ExclusiveSum(v, r, total);
  __syncthreads();
  int m;
  Scan(temp).InclusiveScan(v, m, [](int a, int b) { return a > b ? a : b; });
  y[threadIdx.x] = r * 3 + m + total;
}

// == block_sort_of_cub
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
extern "C" __global__ void block_sort_of_cub(const int* x, int* y) {
  typedef cub::BlockLoad<int, 32, 4, cub::BLOCK_LOAD_TRANSPOSE> Load;
  typedef cub::BlockRadixSort<int, 32, 4> Sort;
  __shared__ union { typename Load::TempStorage load; typename Sort::TempStorage sort; } s;
  int keys[4];
  Load(s.load).Load(x, keys);
  __syncthreads();
  Sort(s.sort).Sort(keys, 0, 8);
  cub::StoreDirectBlocked(threadIdx.x, y, keys);
}

// == cuda_barrier_and_atomic
#include <cuda/barrier>
#include <cuda/atomic>
extern "C" __global__ void cuda_barrier_and_atomic(const int* x, int* y, int* total) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int s[64];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  s[threadIdx.x] = x[threadIdx.x];
  bar.arrive_and_wait();
  y[threadIdx.x] = s[63 - threadIdx.x];
  cuda::atomic_ref<int, cuda::thread_scope_device> sum(*total);
  sum.fetch_add(s[threadIdx.x], cuda::memory_order_relaxed);
}

// == private_arena_per_thread
extern "C" __global__ void private_arena_per_thread(int* arena, int* top, int* sums) {
  int n = threadIdx.x % 4 + 1, at = atomicAdd(top, n);
  for (int i = 0; i < n; ++i) arena[at + i] = i + threadIdx.x;
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += arena[at + i];
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// == relaxed_flag_stops_a_search
// A reader may see the flag late. It only ends early, and the result is the same.
extern "C" __global__ void relaxed_flag_stops_a_search(const int* x, int* found, int* where, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    if (*(volatile int*)found) return;
    if (x[i] == 77) { *where = i; atomicExch(found, 1); return; }
  }
}

// == a_long_loop
// A long loop that ends.
extern "C" __global__ void a_long_loop(unsigned* out, int n) {
  unsigned s = threadIdx.x;
  for (int i = 0; i < n; ++i) s = s * 1664525u + 1013904223u;
  out[threadIdx.x] = s;
}

// == collatz
extern "C" __global__ void collatz(int* steps) {
  unsigned long long v = blockIdx.x * blockDim.x + threadIdx.x + 1;
  int n = 0;
  while (v != 1) { v = v % 2 ? 3 * v + 1 : v / 2; ++n; }
  steps[blockIdx.x * blockDim.x + threadIdx.x] = n;
}

// == vote_after_an_early_return
// A vote does not wait for lanes that have ended.
extern "C" __global__ void vote_after_an_early_return(const int* x, int* y, int n) {
  if (threadIdx.x >= n) return;
  y[threadIdx.x] = __popc(__ballot_sync(FULL, x[threadIdx.x] & 1));
}
