// Kernels that look suspicious and are correct: sorts, queues, trees, tables, rings, clusters, groups.
#define FULL 0xffffffffu
#define SMEM(p) static_cast<unsigned>(__cvta_generic_to_shared(p))
#define MBAR_INIT(bar, count) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(SMEM(bar)), "r"(count) : "memory")
#define MBAR_ARRIVE(bar) \
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(SMEM(bar)) : "memory")
#define MBAR_EXPECT(bar, bytes) \
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(SMEM(bar)), "r"(bytes) : "memory")
#define MBAR_WAIT(bar, parity) \
  asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra w; }" \
               ::"r"(SMEM(bar)), "r"(parity) : "memory")
#define BULK_LOAD(to, from, bytes, bar) \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" \
               ::"r"(SMEM(to)), "l"(from), "r"(bytes), "r"(SMEM(bar)) : "memory")

// == half_arrives_and_half_waits
extern "C" __global__ void half_arrives_and_half_waits(const int* x, int* y) {
  __shared__ int s[32];
  __shared__ unsigned long long full;
  int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&full, 32);
  __syncthreads();
  if (t < 32) {
    s[t] = 3 * x[t];
    MBAR_ARRIVE(&full);
  } else {
    MBAR_WAIT(&full, 0);
    y[t - 32] = s[63 - t] + 1;
  }
}

// == elected_lanes_arrive_for_their_warps
extern "C" __global__ void elected_lanes_arrive_for_their_warps(const int* x, int* y, int rounds) {
  __shared__ int s[2][96];
  __shared__ unsigned long long done[2];
  int t = threadIdx.x;
  if (t < 2) MBAR_INIT(&done[t], 3);
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    int at = r & 1;
    s[at][t] = x[r * 96 + t];
    __syncwarp();
    if (t % 32 == 0) MBAR_ARRIVE(&done[at]);
    MBAR_WAIT(&done[at], r >> 1 & 1);
    y[r * 96 + t] = s[at][95 - t];
  }
}

// == ready_and_filled_of_the_guide
#include <cuda/barrier>
using Barrier = cuda::barrier<cuda::thread_scope_block>;
__device__ void produce(Barrier* ready, Barrier* filled, float* buffers, const float* x, int tiles) {
  for (int i = 0; i < tiles; ++i) {
    ready[i % 2].arrive_and_wait();
    buffers[i % 2 * 32 + threadIdx.x] = x[i * 32 + threadIdx.x] * 2;
    Barrier::arrival_token token = filled[i % 2].arrive();
  }
}
__device__ void consume(Barrier* ready, Barrier* filled, const float* buffers, float* y, int tiles) {
  Barrier::arrival_token first = ready[0].arrive(), second = ready[1].arrive();
  for (int i = 0; i < tiles; ++i) {
    filled[i % 2].arrive_and_wait();
    y[i * 32 + threadIdx.x % 32] = buffers[i % 2 * 32 + 31 - threadIdx.x % 32];
    Barrier::arrival_token token = ready[i % 2].arrive();
  }
}
extern "C" __global__ void ready_and_filled_of_the_guide(const float* x, float* y, int tiles) {
  __shared__ float buffers[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier bar[4];
  if (threadIdx.x < 4) init(bar + threadIdx.x, 64);
  __syncthreads();
  if (threadIdx.x < 32)
    produce(bar, bar + 2, buffers, x, tiles);
  else
    consume(bar, bar + 2, buffers, y, tiles);
}

// == pipeline_of_two_roles
#include <cooperative_groups.h>
#include <cuda/pipeline>
extern "C" __global__ void pipeline_of_two_roles(const float* x, float* y, int tiles) {
  auto block = cooperative_groups::this_thread_block();
  __shared__ float stage[2][32];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  int lane = threadIdx.x % 32;
  for (int i = 0; i < tiles; ++i)
    if (role == cuda::pipeline_role::producer) {
      pipe.producer_acquire();
      cuda::memcpy_async(&stage[i % 2][lane], &x[i * 32 + lane], sizeof(float), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      y[i * 32 + lane] = stage[i % 2][31 - lane];
      pipe.consumer_release();
    }
}

// == two_tiles_on_one_barrier
extern "C" __global__ void two_tiles_on_one_barrier(const float* a, const float* b, float* y) {
  alignas(128) __shared__ float at[128];
  alignas(128) __shared__ float bt[128];
  __shared__ unsigned long long bar;
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&bar, 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (t == 0) {
    MBAR_EXPECT(&bar, 1024);
    BULK_LOAD(at, a, 512, &bar);
    BULK_LOAD(bt, b, 512, &bar);
  }
  MBAR_WAIT(&bar, 0);
  y[t] = at[t] * bt[127 - t];
}

// == parity_flipped_at_the_wrap
extern "C" __global__ void parity_flipped_at_the_wrap(const float* x, float* y, int tiles) {
  alignas(128) __shared__ float ring[3][64];
  __shared__ unsigned long long full[3];
  int t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < 3; ++s) MBAR_INIT(&full[s], 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    for (int s = 0; s < 3; ++s) {
      MBAR_EXPECT(&full[s], 256);
      BULK_LOAD(ring[s], x + s * 64, 256, &full[s]);
    }
  }
  __syncthreads();
  for (int i = 0, stage = 0, parity = 0; i < tiles; ++i) {
    MBAR_WAIT(&full[stage], parity);
    y[i * 64 + t] = ring[stage][63 - t];
    __syncthreads();
    if (t == 0 && i + 3 < tiles) {
      MBAR_EXPECT(&full[stage], 256);
      BULK_LOAD(ring[stage], x + (i + 3) * 64, 256, &full[stage]);
    }
    if (++stage == 3) stage = 0, parity ^= 1;
  }
}

// == treiber_push_released
#include <cuda/atomic>
struct Node {
  int next, value;
};
extern "C" __global__ void treiber_push_released(Node* nodes, int* head, const int* x, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> top(*head);
  int b = blockIdx.x;
  if (threadIdx.x) return;
  nodes[b].value = x[b];
  int old = top.load(cuda::memory_order_relaxed);
  do nodes[b].next = old;
  while (!top.compare_exchange_weak(old, b, cuda::memory_order_release, cuda::memory_order_relaxed));
  if (b == static_cast<int>(gridDim.x) - 1) {
    int sum = 0, seen = 0;
    while (seen <= b) {
      seen = 0, sum = 0;
      for (int at = top.load(cuda::memory_order_acquire); at >= 0; at = nodes[at].next, ++seen) sum += nodes[at].value;
    }
    *y = sum;
  }
}

// == lock_guard_of_a_ref
#include <cuda/atomic>
class Guard {
  cuda::atomic_ref<int, cuda::thread_scope_device> word;

 public:
  __device__ explicit Guard(int& w) : word(w) {
    int expected = 0;
    while (!word.compare_exchange_strong(expected, 1, cuda::memory_order_acquire, cuda::memory_order_relaxed))
      expected = 0;
  }
  __device__ ~Guard() { word.store(0, cuda::memory_order_release); }
};
extern "C" __global__ void lock_guard_of_a_ref(int* word, const float* x, float* best, int* where) {
  int i = blockIdx.x;
  if (threadIdx.x) return;
  Guard guard(*word);
  if (x[i] > *best) {
    *best = x[i];
    *where = i;
  }
}

// == sequence_lock_of_relaxed_words
#include <cuda/atomic>
extern "C" __global__ void sequence_lock_of_relaxed_words(unsigned* sequence, int* pair, int* y, int rounds) {
  using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> version(*sequence);
  Word first(pair[0]), second(pair[1]);
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    for (int i = 1; i <= rounds; ++i) {
      version.store(2 * i - 1, cuda::memory_order_relaxed);
      cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
      first.store(i, cuda::memory_order_relaxed);
      second.store(-i, cuda::memory_order_relaxed);
      version.store(2 * i, cuda::memory_order_release);
    }
  } else {
    int a = 0, b = 0;
    unsigned before = 0;
    do {
      before = version.load(cuda::memory_order_acquire);
      a = first.load(cuda::memory_order_relaxed);
      b = second.load(cuda::memory_order_relaxed);
      cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    } while (before % 2 || before != version.load(cuda::memory_order_relaxed) || before < 2u * rounds);
    y[blockIdx.x - 1] = a + b;
    y[blockIdx.x] = a;
  }
}

// == second_child_merges_behind_a_fence
struct Box {
  float low, high;
};
extern "C" __global__ void second_child_merges_behind_a_fence(const float* x, Box* boxes, int* visits, int leaves) {
  int i = blockIdx.x;
  if (threadIdx.x) return;
  int node = leaves - 1 + i;
  boxes[node] = {x[i] - 0.5f, x[i] + 0.5f};
  __threadfence();
  while (node > 0) {
    int parent = (node - 1) / 2;
    if (atomicAdd(&visits[parent], 1) == 0) return;
    __threadfence();
    Box a = boxes[2 * parent + 1], b = boxes[2 * parent + 2];
    boxes[parent] = {fminf(a.low, b.low), fmaxf(a.high, b.high)};
    __threadfence();
    node = parent;
  }
}

// == grid_barrier_by_generation
__device__ void all_blocks(unsigned* state) {
  __syncthreads();
  if (threadIdx.x == 0) {
    volatile unsigned* generation = state + 1;
    unsigned mine = *generation;
    __threadfence();
    if (atomicAdd(state, 1) == gridDim.x - 1) {
      state[0] = 0;
      __threadfence();
      atomicAdd(state + 1, 1);
    } else {
      while (*generation == mine) {}
    }
    __threadfence();
  }
  __syncthreads();
}
extern "C" __global__ void grid_barrier_by_generation(int* x, unsigned* state) {
  int b = blockIdx.x, n = gridDim.x, t = threadIdx.x;
  for (int round = 0; round < 3; ++round) {
    int v = x[(b + 1) % n * blockDim.x + t];
    all_blocks(state);
    x[b * blockDim.x + t] = v + 1;
    all_blocks(state);
  }
}

// == key_and_value_in_one_word
extern "C" __global__ void key_and_value_in_one_word(const int* keys, const int* values, unsigned long long* table,
                                                     int n, int room) {
  using Word = unsigned long long;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Word key = keys[i], mine = key << 32 | static_cast<unsigned>(values[i]), empty = ~0ull;
  for (unsigned slot = keys[i] * 2654435761u % room;; slot = (slot + 1) % room) {
    Word old = atomicCAS(&table[slot], empty, mine);
    if (old == empty) return;
    if (old >> 32 == key) {
      atomicMax(&table[slot], mine);
      return;
    }
  }
}

// == gradient_of_sorted_tokens
extern "C" __global__ void gradient_of_sorted_tokens(const int* tokens, const float* dy, float* table, int n,
                                                     int width) {
  int i = blockIdx.x * blockDim.y + threadIdx.y;
  if (i >= n || (i > 0 && tokens[i] == tokens[i - 1])) return;
  float* row = table + static_cast<long long>(tokens[i]) * width;
  for (int j = i; j < n && tokens[j] == tokens[i]; ++j)
    for (int c = threadIdx.x; c < width; c += blockDim.x) row[c] += dy[j * width + c];
}

// == distributed_bins
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) distributed_bins(const int* x, int* bins, int n) {
  extern __shared__ int mine[];
  auto cluster = cooperative_groups::this_cluster();
  unsigned size = cluster.num_blocks(), rank = cluster.block_rank();
  const int per_block = 32;
  for (int i = threadIdx.x; i < per_block; i += blockDim.x) mine[i] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int bin = x[i] % (per_block * size);
    atomicAdd(cluster.map_shared_rank(mine, bin / per_block) + bin % per_block, 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < per_block; i += blockDim.x) atomicAdd(&bins[rank * per_block + i], mine[i]);
}

// == halves_reduce_by_themselves
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
extern "C" __global__ void halves_reduce_by_themselves(const int* x, int* y) {
  namespace cg = cooperative_groups;
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int v = x[threadIdx.x];
  auto group = cg::binary_partition(warp, v % 2 == 0);
  y[threadIdx.x] = cg::reduce(group, v, cg::plus<int>()) - group.shfl(v, group.size() - 1);
}

// == red_black_by_both
#include <cooperative_groups.h>
extern "C" __global__ void red_black_by_both(float* u, const float* f, int n) {
  auto grid = cooperative_groups::this_grid();
  int col = blockIdx.x * blockDim.x + threadIdx.x + 1, row = blockIdx.y * blockDim.y + threadIdx.y + 1;
  for (int colour = 0; colour < 2; ++colour) {
    if (col < n - 1 && row < n - 1 && (row + col) % 2 == colour) {
      float* p = u + row * n + col;
      *p = 0.25f * (p[-1] + p[1] + p[-n] + p[n] - f[row * n + col]);
    }
    grid.sync();
  }
}

// == mask_of_each_turn
extern "C" __global__ void mask_of_each_turn(const int* x, int* sums, int n) {
  int lane = threadIdx.x;
  for (int first = 0; first < n; first += 32) {
    unsigned mask = __ballot_sync(FULL, first + lane < n);
    if (first + lane < n) {
      int total = __reduce_add_sync(mask, x[first + lane]);
      if (lane == 0) sums[first / 32] = total;
    }
  }
}

// == bitonic_with_warp_barriers
extern "C" __global__ void bitonic_with_warp_barriers(int* keys) {
  __shared__ int s[128];
  unsigned t = threadIdx.x;
  s[t] = keys[t];
  s[t + 64] = keys[t + 64];
  __syncthreads();
  for (unsigned size = 2; size <= 128; size *= 2)
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      if (2 * stride > 64)
        __syncthreads();
      else
        __syncwarp();
      unsigned low = 2 * t - (t & (stride - 1));
      int a = s[low], b = s[low + stride];
      if ((a > b) == ((low & size) == 0)) {
        s[low] = b;
        s[low + stride] = a;
      }
      if (2 * stride > 64) __syncthreads();
    }
  __syncthreads();
  keys[t] = s[t];
  keys[t + 64] = s[t + 64];
}

// == heap_of_each_thread
extern "C" __global__ void heap_of_each_thread(const float* x, float* y, int n) {
  constexpr int K = 8;
  __shared__ float heaps[32 * K];
  float* heap = heaps + threadIdx.x * K;
  for (int i = 0; i < K; ++i) heap[i] = -1e30f;
  for (int i = threadIdx.x; i < n; i += 32) {
    float v = x[i];
    if (v <= heap[0]) continue;
    int at = 0;
    while (2 * at + 1 < K) {
      int child = 2 * at + 1;
      if (child + 1 < K && heap[child + 1] < heap[child]) ++child;
      if (heap[child] >= v) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = v;
  }
  float least = heap[0];
  for (int o = 16; o; o /= 2) least = fmaxf(least, __shfl_xor_sync(FULL, least, o));
  y[threadIdx.x] = least;
}

// == blelloch_with_padding
#define PAD(i) ((i) + ((i) >> 4))
extern "C" __global__ void blelloch_with_padding(const int* x, int* y) {
  __shared__ int s[PAD(128)];
  int t = threadIdx.x, offset = 1;
  s[PAD(2 * t)] = x[2 * t];
  s[PAD(2 * t + 1)] = x[2 * t + 1];
  for (int d = 64; d > 0; d /= 2, offset *= 2) {
    __syncthreads();
    if (t < d) s[PAD(offset * (2 * t + 2) - 1)] += s[PAD(offset * (2 * t + 1) - 1)];
  }
  if (t == 0) s[PAD(127)] = 0;
  for (int d = 1; d < 128; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < d) {
      int a = PAD(offset * (2 * t + 1) - 1), b = PAD(offset * (2 * t + 2) - 1), left = s[a];
      s[a] = s[b];
      s[b] += left;
    }
  }
  __syncthreads();
  y[t] = s[PAD(t)];
  y[t + 64] = s[PAD(t + 64)];
}

// == carry_between_two_barriers
extern "C" __global__ void carry_between_two_barriers(const int* x, int* y, int n) {
  __shared__ int of_warp[2], carry;
  int t = threadIdx.x, lane = t % 32;
  if (t == 0) carry = 0;
  for (int first = 0; first < n; first += 64) {
    int v = first + t < n ? x[first + t] : 0;
    for (int o = 1; o < 32; o *= 2) {
      int up = __shfl_up_sync(FULL, v, o);
      if (lane >= o) v += up;
    }
    if (lane == 31) of_warp[t / 32] = v;
    __syncthreads();
    v += carry + (t < 32 ? 0 : of_warp[0]);
    if (first + t < n) y[first + t] = v;
    __syncthreads();
    if (t == 63) carry = v;
  }
}

// == transposed_in_place_by_pairs_of_tiles
extern "C" __global__ void transposed_in_place_by_pairs_of_tiles(float* a, int n) {
  __shared__ float up[16][17], low[16][17];
  if (blockIdx.x < blockIdx.y) return;
  int bx = blockIdx.x * 16, by = blockIdx.y * 16, tx = threadIdx.x;
  for (int r = threadIdx.y; r < 16; r += blockDim.y) {
    up[r][tx] = a[(by + r) * n + bx + tx];
    low[r][tx] = a[(bx + r) * n + by + tx];
  }
  __syncthreads();
  for (int r = threadIdx.y; r < 16; r += blockDim.y) a[(bx + r) * n + by + tx] = up[tx][r];
  if (blockIdx.x != blockIdx.y)
    for (int r = threadIdx.y; r < 16; r += blockDim.y) a[(by + r) * n + bx + tx] = low[tx][r];
}

// == bit_reversal_by_the_smaller_index
extern "C" __global__ void bit_reversal_by_the_smaller_index(float2* x, int log_n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, j = __brev(i) >> (32 - log_n);
  if (i >= j) return;
  float2 a = x[i];
  x[i] = x[j];
  x[j] = a;
}

// == nibbles_of_one_thread
extern "C" __global__ void nibbles_of_one_thread(const float* x, unsigned char* packed, int n, float scale) {
  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  auto quantised = [scale](float v) { return min(max(__float2int_rn(v / scale) + 8, 0), 15); };
  packed[i / 2] = quantised(x[i]) | (i + 1 < n ? quantised(x[i + 1]) : 0) << 4;
}

// == bit_window_of_two_words
extern "C" __global__ void bit_window_of_two_words(const unsigned* words, int* y, int n, int bits) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long at = static_cast<long long>(i) * bits;
  unsigned shift = at & 31, v = words[at >> 5] >> shift;
  if (shift + bits > 32) v |= words[(at >> 5) + 1] << (32 - shift);
  y[i] = v & ((1u << bits) - 1);
}

// == matrix_counted_from_one
extern "C" __global__ void matrix_counted_from_one(const float* a, const float* x, float* y, int n) {
  a -= n + 1, x -= 1, y -= 1;
  for (int i = threadIdx.x + 1; i <= n; i += blockDim.x) {
    float sum = 0;
    for (const float *p = a + i * static_cast<long long>(n) + n, *q = x + n; q > x; --p, --q) sum += *p * *q;
    y[i] = sum;
  }
}

// == storage_of_floats_then_of_counts
union Storage {
  float values[128];
  struct {
    int counts[64];
    short order[64];
  } sorting;
};
extern "C" __global__ void storage_of_floats_then_of_counts(const float* x, float* y) {
  __shared__ Storage s;
  int t = threadIdx.x;
  s.values[t] = x[t];
  s.values[64 + t] = x[64 + t];
  __syncthreads();
  float a = s.values[127 - t];
  int below = 0;
  for (int i = 64; i < 128; ++i) below += s.values[i] < a || (s.values[i] == a && i < 127 - t);
  __syncthreads();
  s.sorting.order[below] = t;
  s.sorting.counts[t] = below;
  __syncthreads();
  y[t] = x[127 - s.sorting.order[t]];
  y[64 + t] = s.sorting.counts[63 - t];
}

// == short_row_with_a_count
extern "C" __global__ void short_row_with_a_count(const float* x, const int* lengths, float* y, int cols) {
  constexpr int K = 8;
  float best[K];
  int kept = 0, row = threadIdx.x;
  for (int c = 0; c < lengths[row]; ++c) {
    float v = x[row * cols + c];
    if (kept == K && v <= best[K - 1]) continue;
    int at = kept < K ? kept++ : K - 1;
    for (; at > 0 && best[at - 1] < v; --at) best[at] = best[at - 1];
    best[at] = v;
  }
  for (int i = 0; i < kept; ++i) y[row * K + i] = best[i];
}

// == volatile_tree_with_syncwarps
extern "C" __global__ void volatile_tree_with_syncwarps(const int* x, int* y) {
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 64 + t];
  __syncthreads();
  if (t >= 32) return;
  int v = s[t] + s[t + 32];
  for (int o = 16; o; o /= 2) {
    __syncwarp();
    s[t] = v;
    __syncwarp();
    v += s[t ^ o];
  }
  if (t == 0) y[blockIdx.x] = v;
}

// == planes_that_turn_in_registers
extern "C" __global__ void planes_that_turn_in_registers(const float* u, float* v, int nx, int ny, int nz) {
  __shared__ float plane[10][10];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 8 + tx + 1, y = blockIdx.y * 8 + ty + 1;
  bool inside = x < nx - 1 && y < ny - 1;
  const float* column = u + y * nx + x;
  float below = 0, here = inside ? column[0] : 0, above = inside ? column[nx * ny] : 0;
  for (int z = 1; z < nz - 1; ++z) {
    below = here, here = above;
    above = inside ? column[(z + 1) * nx * ny] : 0;
    __syncthreads();
    if (inside) {
      const float* p = column + z * nx * ny;
      plane[ty + 1][tx + 1] = here;
      if (tx == 0) plane[ty + 1][0] = p[-1];
      if (tx == 7 || x == nx - 2) plane[ty + 1][tx + 2] = p[1];
      if (ty == 0) plane[0][tx + 1] = p[-nx];
      if (ty == 7 || y == ny - 2) plane[ty + 2][tx + 1] = p[nx];
    }
    __syncthreads();
    if (inside)
      v[z * nx * ny + y * nx + x] = below + above + plane[ty + 1][tx] + plane[ty + 1][tx + 2] + plane[ty][tx + 1] +
                                    plane[ty + 2][tx + 1] - 6 * here;
  }
}

// == last_block_by_an_acq_rel_count
#include <cuda/atomic>
extern "C" __global__ void last_block_by_an_acq_rel_count(const float* x, float* parts, unsigned* count, float* y) {
  __shared__ bool last;
  float v = x[blockIdx.x * 32 + threadIdx.x];
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(FULL, v, o);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = v;
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> done(*count);
    last = done.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  v = threadIdx.x < gridDim.x ? parts[threadIdx.x] : 0;
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(FULL, v, o);
  if (threadIdx.x == 0) *y = v;
}

// == blocks_with_other_roles_have_their_own_barriers
extern "C" __global__ void blocks_with_other_roles_have_their_own_barriers(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (blockIdx.x % 2) {
    s[t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    y[blockIdx.x * 64 + t] = s[63 - t];
  } else {
    if (x[blockIdx.x * 64] < 0) return;
    for (int round = 0; round < 3; ++round) {
      s[t] = round ? s[t] + 1 : x[blockIdx.x * 64 + t];
      __syncthreads();
    }
    y[blockIdx.x * 64 + t] = s[t ^ 1];
  }
}

// == ring_of_the_cluster_in_two_places
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(4) ring_of_the_cluster_in_two_places(const int* x, int* y, int steps) {
  __shared__ int held[2][32];
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, rank = cluster.block_rank();
  int sum = held[0][t] = x[blockIdx.x * 32 + t];
  cluster.sync();
  for (int s = 0; s < steps; ++s) {
    int* next = cluster.map_shared_rank(held[(s + 1) % 2], (rank + 1) % 4);
    next[t] = held[s % 2][t];
    cluster.barrier_arrive();
    sum *= 3;
    cluster.barrier_wait();
    sum += held[(s + 1) % 2][t];
  }
  y[blockIdx.x * 32 + t] = sum;
}
