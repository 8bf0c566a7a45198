// Kernels with a fault, as an outsider has them: sorts, queues, trees, tables, rings, clusters, wrong launches.
// "// BUG" ends each line to blame.
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

// == layer_norm_rows_share_one_mean
struct Moments {
  float mean, scale;
};
__device__ float warp_sum(float v) {
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(FULL, v, o);
  return v;
}
extern "C" __global__ void layer_norm_rows_share_one_mean(const float* __restrict__ x, float* __restrict__ y, int rows,
                                                          int cols, float eps) {
  __shared__ Moments m;
  int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  const float* in = x + row * cols;
  float sum = 0, squares = 0;
  for (int c = lane; c < cols; c += 32) {
    float v = in[c];
    sum += v;
    squares += v * v;
  }
  sum = warp_sum(sum);
  squares = warp_sum(squares);
  if (lane == 0) {
    float mean = sum / cols;
    m.mean = mean;  // BUG
    m.scale = rsqrtf(squares / cols - mean * mean + eps);  // BUG
  }
  __syncwarp();
  for (int c = lane; c < cols; c += 32) y[row * cols + c] = (in[c] - m.mean) * m.scale;  // BUG
}

// == welford_tree_with_its_barrier_in_the_if
struct Welford {
  float mean, m2;
  int count;
};
__device__ Welford merge(Welford a, Welford b) {
  float delta = b.mean - a.mean;
  int n = a.count + b.count;
  return {a.mean + delta * b.count / n, a.m2 + b.m2 + delta * delta * a.count * b.count / n, n};
}
extern "C" __global__ void welford_tree_with_its_barrier_in_the_if(const float* x, float* y) {
  __shared__ Welford part[64];
  int t = threadIdx.x;
  part[t] = {x[t], 0.0f, 1};
  __syncthreads();
  for (int s = 32; s > 0; s >>= 1) {
    if (t < s) {
      part[t] = merge(part[t], part[t + s]);
      __syncthreads();  // BUG
    }
  }
  __syncthreads();  // BUG
  y[t] = (x[t] - part[0].mean) * rsqrtf(part[0].m2 / 64);
}

// == heap_child_of_the_next_thread
extern "C" __global__ void heap_child_of_the_next_thread(const float* x, float* y, int n) {
  constexpr int K = 8;
  __shared__ float heaps[32 * K + 1];
  float* heap = heaps + threadIdx.x * K;
  int t = threadIdx.x;
  if (t == 0) heaps[32 * K] = 1e30f;
  for (int i = 0; i < K; ++i) heap[i] = -1e30f;
  __syncwarp();
  for (int i = t; i < n; i += 32) {
    float v = x[i];
    if (v <= heap[0]) continue;
    int at = 0;
    while (2 * at + 1 <= K) {
      int child = 2 * at + 1;
      if (child + 1 <= K && heap[child + 1] < heap[child]) ++child;  // BUG
      if (child >= K || heap[child] >= v) break;  // BUG
      heap[at] = heap[child];  // BUG
      at = child;
    }
    heap[at] = v;  // BUG
  }
  for (int i = 0; i < K; ++i) y[t * K + i] = heap[i];
}

// == bitonic_without_warp_barriers
extern "C" __global__ void bitonic_without_warp_barriers(int* keys) {
  __shared__ int s[128];
  unsigned t = threadIdx.x;
  s[t] = keys[t];
  s[t + 64] = keys[t + 64];
  __syncthreads();
  for (unsigned size = 2; size <= 128; size *= 2)
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      unsigned low = 2 * t - (t & (stride - 1));
      int a = s[low], b = s[low + stride];  // BUG
      if ((a > b) == ((low & size) == 0)) {
        s[low] = b;  // BUG
        s[low + stride] = a;  // BUG
      }
      if (stride >= 32) __syncthreads();
    }
  __syncthreads();
  keys[t] = s[t];
  keys[t + 64] = s[t + 64];
}

// == work_popped_from_an_empty_queue
struct Queue {
  int* items;
  int* size;
  __device__ int pop() { return items[atomicSub(size, 1) - 1]; }  // BUG
};
extern "C" __global__ void work_popped_from_an_empty_queue(int* items, int* size, const float* x, float* y) {
  Queue q{items, size};
  int i = q.pop();
  y[i] = sqrtf(fabsf(x[i]));
}

// == spin_lock_unlocks_relaxed
#include <cuda/atomic>
class Lock {
  cuda::atomic_ref<int, cuda::thread_scope_device> word;

 public:
  __device__ explicit Lock(int& w) : word(w) {}
  __device__ void lock() {
    while (word.exchange(1, cuda::memory_order_acquire)) {}
  }
  __device__ void unlock() { word.store(0, cuda::memory_order_relaxed); }
};
extern "C" __global__ void spin_lock_unlocks_relaxed(int* word, const float* x, float* best, int* where) {
  int i = blockIdx.x;
  if (threadIdx.x) return;
  Lock l(*word);
  l.lock();
  if (x[i] > *best) {  // BUG
    *best = x[i];  // BUG
    *where = i;  // BUG
  }
  l.unlock();
}

// == bytes_expected_for_one_of_two_tiles
extern "C" __global__ void bytes_expected_for_one_of_two_tiles(const float* a, const float* b, float* y) {
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
    MBAR_EXPECT(&bar, 512);
    BULK_LOAD(at, a, 512, &bar);
    BULK_LOAD(bt, b, 512, &bar);  // BUG
  }
  MBAR_WAIT(&bar, 0);
  y[t] = at[t] * bt[127 - t];  // BUG
}

// == zero_fill_beside_a_copy_in_flight
#include <cuda_pipeline.h>
extern "C" __global__ void zero_fill_beside_a_copy_in_flight(const float* x, float* y, int n) {
  __shared__ alignas(16) float tile[256];
  int t = threadIdx.x, first = blockIdx.x * 256;
  if (first + 4 * t < n) __pipeline_memcpy_async(&tile[4 * t], &x[first + 4 * t], 16);  // BUG
  __pipeline_commit();
  for (int i = t; i < 256; i += 64)
    if (first + i >= n - 4) tile[i] = 0;  // BUG
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int i = t; i < 256 && first + i < n; i += 64) y[first + i] = tile[255 - i];
}

// == consumers_never_release
#include <cooperative_groups.h>
#include <cuda/pipeline>
extern "C" __global__ void consumers_never_release(const float* x, float* y, int tiles) {
  namespace cg = cooperative_groups;
  auto block = cg::this_thread_block();
  __shared__ float stage[2][64];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto pipe = cuda::make_pipeline(block, &state);
  int t = threadIdx.x, filled = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    for (; filled < tiles && filled < tile + 2; ++filled) {
      pipe.producer_acquire();  // BUG
      cuda::memcpy_async(&stage[filled % 2][t], &x[filled * 64 + t], sizeof(float), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    y[tile * 64 + t] = 2 * stage[tile % 2][63 - t];
  }
}

// == full_barrier_counts_one_of_a_warp
extern "C" __global__ void full_barrier_counts_one_of_a_warp(const int* x, int* y) {
  __shared__ int s[32];
  __shared__ unsigned long long full;
  int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&full, 1);
  __syncthreads();
  if (t < 32) {
    s[t] = 3 * x[t];
    MBAR_ARRIVE(&full);  // BUG
  } else {
    MBAR_WAIT(&full, 0);
    y[t - 32] = s[63 - t] + 1;
  }
}

// == distributed_bins_by_the_whole_index
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) distributed_bins_by_the_whole_index(const int* x, int* bins, int n) {
  namespace cg = cooperative_groups;
  extern __shared__ int mine[];
  auto cluster = cg::this_cluster();
  unsigned size = cluster.num_blocks(), rank = cluster.block_rank();
  const int per_block = 32;
  for (int i = threadIdx.x; i < per_block; i += blockDim.x) mine[i] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int bin = x[i] % (per_block * size);
    int* where = cluster.map_shared_rank(mine, bin / per_block);
    atomicAdd(where + bin, 1);  // BUG
  }
  cluster.sync();
  for (int i = threadIdx.x; i < per_block; i += blockDim.x) atomicAdd(&bins[rank * per_block + i], mine[i]);
}

// == binary_partition_shuffles_past_its_size
#include <cooperative_groups.h>
extern "C" __global__ void binary_partition_shuffles_past_its_size(const int* x, int* y) {
  namespace cg = cooperative_groups;
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int v = x[threadIdx.x];
  auto group = cg::binary_partition(warp, v % 2 == 0);
  y[threadIdx.x] = v - group.shfl(v, group.size());  // BUG
}

// == copied_back_before_the_next_sweep
#include <cooperative_groups.h>
extern "C" __global__ void copied_back_before_the_next_sweep(float* u, float* next, int n, int sweeps) {
  auto grid = cooperative_groups::this_grid();
  int i = grid.thread_rank();
  for (int s = 0; s < sweeps; ++s) {
    if (i > 0 && i < n - 1) next[i] = 0.5f * (u[i - 1] + u[i + 1]);  // BUG
    grid.sync();
    if (i > 0 && i < n - 1) u[i] = next[i];  // BUG
  }
}

// == ready_count_added_relaxed
#include <cuda/atomic>
extern "C" __global__ void ready_count_added_relaxed(const int* x, int* box, int* ready, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> count(*ready);
  int b = blockIdx.x, last = gridDim.x - 1;
  if (threadIdx.x) return;
  if (b < last) {
    box[b] = x[b] * x[b];  // BUG
    count.fetch_add(1, cuda::memory_order_relaxed);
  } else {
    while (count.load(cuda::memory_order_acquire) < last) {}
    int sum = 0;
    for (int i = 0; i < last; ++i) sum += box[i];  // BUG
    *y = sum;
  }
}

// == treiber_push_relaxed
#include <cuda/atomic>
struct Node {
  int next, value;
};
extern "C" __global__ void treiber_push_relaxed(Node* nodes, int* head, const int* x, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> top(*head);
  int b = blockIdx.x;
  if (threadIdx.x) return;
  nodes[b].value = x[b];  // BUG
  int old = top.load(cuda::memory_order_relaxed);
  do nodes[b].next = old;  // BUG
  while (!top.compare_exchange_weak(old, b, cuda::memory_order_relaxed));
  if (b == static_cast<int>(gridDim.x) - 1) {
    int sum = 0, seen = 0;
    while (seen < b) {
      seen = 0, sum = 0;
      int at = top.load(cuda::memory_order_acquire);
      for (; at >= 0; at = nodes[at].next, ++seen) sum += nodes[at].value;  // BUG
      --seen;
    }
    *y = sum;
  }
}

// == mask_of_the_first_turn
extern "C" __global__ void mask_of_the_first_turn(const int* x, int* sums, int n) {
  int lane = threadIdx.x;
  unsigned mask = __ballot_sync(FULL, lane < n);
  for (int i = lane; i < n; i += 32) {
    int total = __reduce_add_sync(mask, x[i]);  // BUG
    if (lane == 0) sums[i / 32] = total;
  }
}

// == leader_broadcast_under_a_full_mask
__device__ int reserve(int* count) {
  unsigned active = __activemask();
  int leader = __ffs(active) - 1, lane = threadIdx.x % 32, first = 0;
  if (lane == leader) first = atomicAdd(count, __popc(active));
  first = __shfl_sync(FULL, first, leader);  // BUG
  return first + __popc(active & ((1u << lane) - 1));
}
extern "C" __global__ void leader_broadcast_under_a_full_mask(const int* x, int* y, int* count, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    if (x[i] % 3 == 0) y[reserve(count)] = x[i];
}

// == unrolled_last_warp_of_a_block_of_32
__device__ void last_warp(volatile int* s, int t) {
  s[t] += s[t + 32];  // BUG
  s[t] += s[t + 16];
  s[t] += s[t + 8];
  s[t] += s[t + 4];
  s[t] += s[t + 2];
  s[t] += s[t + 1];
}
extern "C" __global__ void unrolled_last_warp_of_a_block_of_32(const int* x, int* y) {
  extern __shared__ int s[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  s[t] = x[i] + x[i + blockDim.x];
  __syncthreads();
  for (unsigned o = blockDim.x / 2; o > 32; o >>= 1) {
    if (t < o) s[t] += s[t + o];
    __syncthreads();
  }
  if (t < 32) last_warp(s, t);
  if (t == 0) y[blockIdx.x] = s[0];
}

// == room_for_one_buffer_of_two
extern "C" __global__ void room_for_one_buffer_of_two(const float* x, float* y, int width, int steps) {
  extern __shared__ float storage[];
  float* now = storage;
  float* then = storage + width;
  int t = threadIdx.x;
  now[t] = x[t];
  __syncthreads();
  for (int s = 0; s < steps; ++s) {
    then[t] = 0.5f * now[t] + 0.5f * now[(t + 1) % width];  // BUG
    __syncthreads();
    float* swap = now;
    now = then;
    then = swap;
  }
  y[t] = now[t];
}

// == record_offset_counted_twice
struct Body {
  float4 position;
  float3 velocity;
  float mass;
};
extern "C" __global__ void record_offset_counted_twice(float* pool, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Body* body = reinterpret_cast<Body*>(pool + i * sizeof(Body));
  float3 v = body->velocity;  // BUG
  body->position.x += dt * v.x;
  body->position.y += dt * v.y;
  body->position.z += dt * v.z;
}

// == history_before_the_first_sample
extern "C" __global__ void history_before_the_first_sample(const float* x, float* y, int n, int first) {
  float recent[4] = {0, 0, 0, 0};
  const float* mine = x + threadIdx.x * n;
  float sum = 0;
  for (int i = first; i < n; ++i) {
    recent[i & 3] = mine[i];
    sum += recent[i & 3] * recent[(i - 1) % 4];  // BUG
  }
  y[threadIdx.x] = sum;
}

// == nibbles_of_two_threads
extern "C" __global__ void nibbles_of_two_threads(const float* x, unsigned char* packed, int n, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int q = min(max(__float2int_rn(x[i] / scale) + 8, 0), 15);
  if (i & 1)
    packed[i >> 1] = (packed[i >> 1] & 0x0f) | q << 4;  // BUG
  else
    packed[i >> 1] = (packed[i >> 1] & 0xf0) | q;  // BUG
}

// == bit_window_reads_the_next_word
__device__ unsigned field(const unsigned* words, int i, int bits) {
  long long at = static_cast<long long>(i) * bits;
  unsigned low = words[at >> 5], high = words[(at >> 5) + 1];  // BUG
  return __funnelshift_r(low, high, at & 31) & ((1u << bits) - 1);
}
extern "C" __global__ void bit_window_reads_the_next_word(const unsigned* words, int* y, int n, int bits) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = field(words, i, bits);
}

// == histogram_of_signed_characters
extern "C" __global__ void histogram_of_signed_characters(const signed char* text, int* bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[text[i]], 1);  // BUG
}

// == permuted_in_place
extern "C" __global__ void permuted_in_place(const float* x, const int* order, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = x[order[i]];  // BUG
}

// == right_halo_one_radius_short
template <int RADIUS>
__device__ void blur(const float* x, float* y, int n) {
  __shared__ float line[64 + 2 * RADIUS];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  line[t + RADIUS] = g < n ? x[g] : 0;
  if (t < RADIUS) {
    line[t] = g >= RADIUS ? x[g - RADIUS] : 0;
    if (t < RADIUS - 1) line[t + RADIUS + 64] = g + 64 < n ? x[g + 64] : 0;
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k <= 2 * RADIUS; ++k) sum += line[t + k];  // BUG
  if (g < n) y[g] = sum / (2 * RADIUS + 1);
}
extern "C" __global__ void right_halo_one_radius_short(const float* x, float* y, int n) { blur<3>(x, y, n); }

// == rows_return_before_they_load_the_tile
extern "C" __global__ void rows_return_before_they_load_the_tile(const float* a, const float* b, float* c, int n) {
  __shared__ float as[8][8], bs[8][8];
  int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
  if (row >= n || col >= n) return;
  float sum = 0;
  for (int k = 0; k < n; k += 8) {
    int ka = k + threadIdx.x, kb = k + threadIdx.y;
    as[threadIdx.y][threadIdx.x] = ka < n ? a[row * n + ka] : 0;
    bs[threadIdx.y][threadIdx.x] = kb < n ? b[kb * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < 8; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];  // BUG
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// == lanes_leave_a_loop_of_shuffles
extern "C" __global__ void lanes_leave_a_loop_of_shuffles(const int* starts, int* y) {
  int lane = threadIdx.x, left = starts[lane] % 7 + 1, sum = 0;
  while (left > 0) {
    sum += __shfl_xor_sync(FULL, left, 1);  // BUG
    --left;
  }
  y[lane] = sum;
}

// == unsigned_countdown
extern "C" __global__ void unsigned_countdown(const float* x, float* y, unsigned n) {
  float tail = 0;
  for (unsigned i = n - 1; i >= 0; --i) {
    tail += x[threadIdx.x * n + i];  // BUG
    if (tail > 1e20f) break;
  }
  y[threadIdx.x] = tail;
}

// == vectors_from_a_ragged_start
extern "C" __global__ void vectors_from_a_ragged_start(const int* first, const int* x, int* y) {
  int row = blockIdx.x, begin = first[row], end = first[row + 1], sum = 0;
  for (int i = begin + 4 * threadIdx.x; i + 3 < end; i += 4 * blockDim.x) {
    int4 v = *reinterpret_cast<const int4*>(x + i);  // BUG
    sum += v.x + v.y + v.z + v.w;
  }
  for (int i = begin + (end - begin) / 4 * 4 + threadIdx.x; i < end; i += blockDim.x) sum += x[i];
  atomicAdd(&y[row], sum);
}

// == k_best_of_a_short_row
extern "C" __global__ void k_best_of_a_short_row(const float* x, const int* lengths, float* y, int cols) {
  constexpr int K = 8;
  float best[K];
  int kept = 0, row = threadIdx.x;
  for (int c = 0; c < lengths[row]; ++c) {
    float v = x[row * cols + c];
    int at = kept < K ? kept++ : K - 1;
    if (at == K - 1 && kept == K && c >= K && v <= best[at]) continue;
    for (; at > 0 && best[at - 1] < v; --at) best[at] = best[at - 1];
    best[at] = v;
  }
  for (int i = 0; i < K; ++i) y[row * K + i] = best[i];  // BUG
}

// == visited_flags_not_cleared
extern "C" __global__ void visited_flags_not_cleared(const int* edges, int* order, int* found, int degree) {
  __shared__ int visited[64], queue[64], tail;
  int t = threadIdx.x;
  if (t == 0) {
    queue[0] = 0;
    visited[0] = 1;
    tail = 1;
  }
  __syncthreads();
  for (int head = 0; head < tail;) {
    int level_end = tail;
    __syncthreads();
    for (int i = head * degree + t; i < level_end * degree; i += blockDim.x) {
      int to = edges[queue[i / degree] * degree + i % degree];
      if (atomicExch(&visited[to], 1) == 0) queue[atomicAdd(&tail, 1)] = to;  // BUG
    }
    __syncthreads();
    head = level_end;
  }
  order[t] = t < tail ? queue[t] : -1;
  if (t == 0) *found = tail;
}

// == reversal_with_three_quarters_of_a_block
extern "C" __global__ void reversal_with_three_quarters_of_a_block(const float* x, float* y) {
  __shared__ float tile[64];
  int base = blockIdx.x * 64;
  tile[threadIdx.x] = x[base + threadIdx.x];
  __syncthreads();
  y[base + threadIdx.x] = tile[63 - threadIdx.x];  // BUG
}

// == floats_counted_as_bytes
extern "C" __global__ void floats_counted_as_bytes(const unsigned char* raw, float* y, int n) {
  const float* values = reinterpret_cast<const float*>(raw);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = values[i] * 0.5f;  // BUG
}

// == blelloch_padding_without_room
#define PAD(i) ((i) + ((i) >> 4))
extern "C" __global__ void blelloch_padding_without_room(const int* x, int* y) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[PAD(2 * t)] = x[2 * t];  // BUG
  s[PAD(2 * t + 1)] = x[2 * t + 1];  // BUG
  int offset = 1;
  for (int d = 64; d > 0; d >>= 1, offset *= 2) {
    __syncthreads();
    if (t < d) s[PAD(offset * (2 * t + 2) - 1)] += s[PAD(offset * (2 * t + 1) - 1)];  // BUG
  }
  __syncthreads();
  if (t == 0) y[0] = s[PAD(127)];  // BUG
}

// == blelloch_writes_out_too_soon
extern "C" __global__ void blelloch_writes_out_too_soon(const int* x, int* y) {
  extern __shared__ int s[];
  int t = threadIdx.x, n = 2 * blockDim.x, offset = 1;
  s[2 * t] = x[2 * t];
  s[2 * t + 1] = x[2 * t + 1];
  for (int d = n / 2; d > 0; d /= 2, offset *= 2) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
  }
  if (t == 0) s[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < d) {
      int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, left = s[a];
      s[a] = s[b];  // BUG
      s[b] += left;  // BUG
    }
  }
  y[t] = s[t];  // BUG
  y[t + blockDim.x] = s[t + blockDim.x];  // BUG
}

// == transposed_in_place_by_every_tile
extern "C" __global__ void transposed_in_place_by_every_tile(float* a, int n) {
  __shared__ float up[16][17], low[16][17];
  int bx = blockIdx.x * 16, by = blockIdx.y * 16, tx = threadIdx.x;
  for (int r = threadIdx.y; r < 16; r += blockDim.y) {
    up[r][tx] = a[(by + r) * n + bx + tx];  // BUG
    low[r][tx] = a[(bx + r) * n + by + tx];  // BUG
  }
  __syncthreads();
  for (int r = threadIdx.y; r < 16; r += blockDim.y) {
    a[(by + r) * n + bx + tx] = low[tx][r];  // BUG
    a[(bx + r) * n + by + tx] = up[tx][r];  // BUG
  }
}

// == carry_read_while_it_moves
__device__ int scan_of_block(int v, int* s) {
  int t = threadIdx.x;
  s[t] = v;
  __syncthreads();
  for (int o = 1; o < 64; o *= 2) {
    int add = t >= o ? s[t - o] : 0;
    __syncthreads();
    s[t] += add;
    __syncthreads();
  }
  int result = s[t];
  __syncthreads();
  return result;
}
extern "C" __global__ void carry_read_while_it_moves(const int* x, int* y, int n) {
  __shared__ int s[64], carry;
  if (threadIdx.x == 0) carry = 0;
  for (int i = threadIdx.x; i < n; i += 64) {
    int sum = scan_of_block(x[i], s);
    y[i] = sum + carry;  // BUG
    if (threadIdx.x == 63) carry += sum;  // BUG
  }
}

// == weight_gradient_of_all_rows
extern "C" __global__ void weight_gradient_of_all_rows(const float* dy, const float* x, const float* mean,
                                                       float* dweight, int cols) {
  int row = blockIdx.x;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    dweight[c] += dy[row * cols + c] * (x[row * cols + c] - mean[row]);  // BUG
}

// == embedding_gradient_of_equal_tokens
extern "C" __global__ void embedding_gradient_of_equal_tokens(const int* tokens, const float* dy, float* table, int n,
                                                              int width) {
  int i = blockIdx.x * blockDim.y + threadIdx.y;
  if (i >= n) return;
  float* row = table + static_cast<long long>(tokens[i]) * width;
  for (int c = threadIdx.x; c < width; c += blockDim.x) row[c] += dy[i * width + c];  // BUG
}

// == vote_of_the_block_in_a_branch
extern "C" __global__ void vote_of_the_block_in_a_branch(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int negative = 0;
  if (i < n) negative = __syncthreads_or(x[i] < 50);  // BUG
  __syncthreads();  // BUG
  if (i < n) y[i] = negative ? -x[i] : x[i];
}

// == shared_ticket_without_a_barrier
extern "C" __global__ void shared_ticket_without_a_barrier(const int* x, int* y, int* count) {
  __shared__ int next;
  int t = threadIdx.x;
  if (t == 0) next = 0;  // BUG
  if (x[t] > 50) y[atomicAdd(&next, 1)] = x[t];  // BUG
  __syncthreads();
  if (t == 0) *count = next;
}

// == value_of_a_hash_slot
extern "C" __global__ void value_of_a_hash_slot(const int* keys, const int* values, int* table, int* largest, int n,
                                                int room) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int key = keys[i];
  for (unsigned slot = key * 2654435761u % room;; slot = (slot + 1) % room) {
    int old = atomicCAS(&table[slot], -1, key);
    if (old == -1 || old == key) {
      if (values[i] > largest[slot]) largest[slot] = values[i];  // BUG
      return;
    }
  }
}

// == lane_taken_from_x_alone
extern "C" __global__ void lane_taken_from_x_alone(const float* x, float* y) {
  __shared__ float slot[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float v = x[threadIdx.y * blockDim.x + threadIdx.x];
  for (int o = 16; o; o /= 2) v = fmaxf(v, __shfl_xor_sync(FULL, v, o));
  if (lane == 0) slot[warp] = v;  // BUG
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) *y = slot[0];
}

// == cell_filled_beyond_its_room
extern "C" __global__ void cell_filled_beyond_its_room(const float2* points, int* count, int* cells, int n,
                                                     int across) {
  constexpr int ROOM = 8;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int cx = min(static_cast<int>(points[i].x * across), across - 1);
  int cy = min(static_cast<int>(points[i].y * across), across - 1), cell = cy * across + cx;
  cells[cell * ROOM + atomicAdd(&count[cell], 1)] = i;  // BUG
}

// == bit_reversal_swapped_twice
extern "C" __global__ void bit_reversal_swapped_twice(float2* x, int log_n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, j = __brev(i) >> (32 - log_n);
  float2 a = x[i], b = x[j];  // BUG
  x[i] = b;  // BUG
  x[j] = a;  // BUG
}

// == red_black_by_columns_alone
#include <cooperative_groups.h>
extern "C" __global__ void red_black_by_columns_alone(float* u, const float* f, int n) {
  auto grid = cooperative_groups::this_grid();
  int col = blockIdx.x * blockDim.x + threadIdx.x + 1, row = blockIdx.y * blockDim.y + threadIdx.y + 1;
  for (int colour = 0; colour < 2; ++colour) {
    if (col < n - 1 && row < n - 1 && col % 2 == colour) {
      float* p = u + row * n + col;
      *p = 0.25f * (p[-1] + p[1] + p[-n] + p[n] - f[row * n + col]);  // BUG
    }
    grid.sync();
  }
}

// == second_child_merges_without_a_fence
struct Box {
  float low, high;
};
extern "C" __global__ void second_child_merges_without_a_fence(const float* x, Box* boxes, int* visits, int leaves) {
  int i = blockIdx.x;
  if (threadIdx.x) return;
  int node = leaves - 1 + i;
  boxes[node] = {x[i] - 0.5f, x[i] + 0.5f};  // BUG
  while (node > 0) {
    int parent = (node - 1) / 2;
    if (atomicAdd(&visits[parent], 1) == 0) return;
    Box a = boxes[2 * parent + 1], b = boxes[2 * parent + 2];  // BUG
    boxes[parent] = {fminf(a.low, b.low), fmaxf(a.high, b.high)};  // BUG
    node = parent;
  }
}

// == generator_states_of_one_block
struct Generator {
  unsigned x, y;
  __device__ unsigned next() {
    unsigned t = x ^ (x << 10);
    x = y;
    y = y ^ (y >> 10) ^ t ^ (t >> 13);
    return y;
  }
};
extern "C" __global__ void generator_states_of_one_block(Generator* states, float* y, int n) {
  Generator mine = states[threadIdx.x];  // BUG
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = i; k < n; k += gridDim.x * blockDim.x) y[k] = mine.next() * 2.3283064e-10f;
  states[threadIdx.x] = mine;  // BUG
}

// == every_lane_reserves_for_the_warp
extern "C" __global__ void every_lane_reserves_for_the_warp(const int* x, int* y, int* count) {
  int v = x[blockIdx.x * blockDim.x + threadIdx.x], lane = threadIdx.x & 31;
  unsigned kept = __ballot_sync(FULL, v > 20);
  int first = atomicAdd(count, __popc(kept));
  if (v > 20) y[first + __popc(kept & ((1u << lane) - 1))] = v;  // BUG
}

// == pitch_counted_in_elements
extern "C" __global__ void pitch_counted_in_elements(const float* image, size_t pitch, float* sums, int width,
                                                     int height) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= height) return;
  float sum = 0;
  for (int c = 0; c < width; ++c) sum += image[row * pitch + c];  // BUG
  sums[row] = sum;
}

// == linear_index_with_the_wrong_dimension
extern "C" __global__ void linear_index_with_the_wrong_dimension(const int* x, int* y) {
  int i = threadIdx.x + threadIdx.y * blockDim.y + threadIdx.z * blockDim.x * blockDim.y;
  y[i] = x[i] + threadIdx.y;  // BUG
}

// == output_tile_rescaled_while_others_add
extern "C" __global__ void output_tile_rescaled_while_others_add(const float* scores, const float* v, float* out,
                                                                 int keys) {
  __shared__ float acc[4][17], top[4];
  int d = threadIdx.x, row = threadIdx.y;  // 16 x 4: two rows per warp
  acc[row][d] = 0;
  if (d == 0) top[row] = -1e30f;
  __syncthreads();
  for (int k = 0; k < keys; ++k) {
    float s = scores[row * keys + k], old = top[row];  // BUG
    if (s > old) {
      acc[row][d] *= expf(old - s);
      if (d == 0) top[row] = s;  // BUG
    }
    acc[row][d] += expf(s - fmaxf(s, old)) * v[k * 16 + d];
  }
  out[row * 16 + d] = acc[row][d];
}

// == parity_flipped_at_every_stage
extern "C" __global__ void parity_flipped_at_every_stage(const float* x, float* y, int tiles) {
  alignas(128) __shared__ float ring[2][64];
  __shared__ unsigned long long full[2];
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&full[0], 1);
    MBAR_INIT(&full[1], 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    for (int s = 0; s < 2; ++s) {
      MBAR_EXPECT(&full[s], 256);
      BULK_LOAD(ring[s], x + s * 64, 256, &full[s]);  // BUG
    }
  }
  __syncthreads();
  int parity = 0;
  for (int i = 0; i < tiles; ++i) {
    MBAR_WAIT(&full[i & 1], parity);
    y[i * 64 + t] = ring[i & 1][63 - t];  // BUG
    __syncthreads();
    if (t == 0 && i + 2 < tiles) {
      MBAR_EXPECT(&full[i & 1], 256);
      BULK_LOAD(ring[i & 1], x + (i + 2) * 64, 256, &full[i & 1]);  // BUG
    }
    parity ^= 1;
  }
}

// == grid_barrier_that_opens_once
__device__ void all_blocks(unsigned* arrived) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
}
extern "C" __global__ void grid_barrier_that_opens_once(int* x, unsigned* arrived) {
  int b = blockIdx.x, n = gridDim.x, t = threadIdx.x;
  for (int round = 0; round < 3; ++round) {
    int v = x[(b + 1) % n * blockDim.x + t];  // BUG
    all_blocks(arrived);
    x[b * blockDim.x + t] = v + 1;  // BUG
    all_blocks(arrived);
  }
}

// == triangular_factor_read_above_the_diagonal
extern "C" __global__ void triangular_factor_read_above_the_diagonal(const float* a, const float* b, float* y) {
  __shared__ float l[16][17], r[16];
  int t = threadIdx.x;
  for (int c = 0; c <= t; ++c) l[t][c] = a[t * 16 + c];
  r[t] = b[t];
  __syncwarp(0xffff);
  float sum = 0;
  for (int c = 0; c < 16; ++c) sum += l[t][c] * r[c];  // BUG
  y[t] = sum;
}

// == hits_without_an_identity
struct Hit {
  float distance;
  int id;
};
extern "C" __global__ void hits_without_an_identity(const float* spheres, const float* rays, int* nearest, int n) {
  Hit hits[16];
  int count = 0, ray = threadIdx.x;
  for (int s = 0; s < n && count < 16; ++s) {
    float d = spheres[s] - rays[ray];
    if (d > 0) hits[count++].distance = d;
  }
  int best = 0;
  for (int h = 1; h < count; ++h)
    if (hits[h].distance < hits[best].distance) best = h;
  nearest[ray] = count ? hits[best].id : -1;  // BUG
}
