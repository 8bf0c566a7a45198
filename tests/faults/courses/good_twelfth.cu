// Templates, references, leases, drains, packed words, lists, rings of messages: right, though some look suspicious.
#include "asm.cuh"

// == template_scan_with_two_barriers
template <int N, class Op>
__device__ void scan(int* s, int t, Op op) {
#pragma unroll 1
  for (int d = 1; d < N; d *= 2) {
    int left = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] = op(s[t], left);
    __syncthreads();
  }
}

extern "C" __global__ void template_scan_with_two_barriers(const int* x, int* y) {
  __shared__ int s[96];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  scan<96>(s, threadIdx.x, [](int a, int b) { return a + b; });
  y[threadIdx.x] = s[threadIdx.x];
}

// == reducer_struct_with_a_tail_of_warp_barriers
struct Reducer {
  float* scratch;
  template <class Op>
  __device__ float all(float v, Op op) {
    int t = threadIdx.x;
    scratch[t] = v;
    __syncthreads();
    for (int h = blockDim.x / 2; h >= 32; h /= 2) {
      if (t < h) scratch[t] = op(scratch[t], scratch[t + h]);
      __syncthreads();
    }
    if (t < 32) {
      for (int h = 16; h > 0; h /= 2) {
        float other = scratch[t + h];
        __syncwarp();
        v = op(scratch[t], other);
        scratch[t] = v;
        __syncwarp();
      }
    }
    __syncthreads();
    return scratch[0];
  }
};

extern "C" __global__ void reducer_struct_with_a_tail_of_warp_barriers(const float* x, float* y) {
  __shared__ float memory[128];
  Reducer reducer{memory};
  y[threadIdx.x] = reducer.all(x[threadIdx.x], [](float a, float b) { return fmaxf(a, b); });
}

// == two_reductions_with_a_barrier_at_the_door
template <class T, class Op>
__device__ T reduce(T v, T* scratch, Op op) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int d = 16; d; d /= 2) v = op(v, __shfl_xor_sync(FULL, v, d));
  __syncthreads();
  if (lane == 0) scratch[warp] = v;
  __syncthreads();
  v = scratch[0];
  for (int w = 1; w < blockDim.x / 32; ++w) v = op(v, scratch[w]);
  return v;
}

extern "C" __global__ void two_reductions_with_a_barrier_at_the_door(const float* x, float* y) {
  __shared__ float scratch[32];
  float v = x[threadIdx.x];
  float top = reduce(v, scratch, [](float a, float b) { return a > b ? a : b; });
  float sum = reduce(expf(v - top), scratch, [](float a, float b) { return a + b; });
  y[threadIdx.x] = expf(v - top) / sum;
}

// == ping_pong_with_both_hands
extern "C" __global__ void ping_pong_with_both_hands(const int* x, int* y, int rounds) {
  __shared__ int buffer[2][160];
  int t = threadIdx.x, n = blockDim.x, now = 0;
  buffer[0][t] = x[t];
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    buffer[now ^ 1][t] = buffer[now][(t + 33) % n] + 1;
    __syncthreads();
    now ^= 1;
  }
  y[t] = buffer[now][t];
}

// == three_counts_in_turn_and_one_barrier
extern "C" __global__ void three_counts_in_turn_and_one_barrier(const int* x, int* y, int rounds) {
  __shared__ int count[3];
  int t = threadIdx.x;
  if (t < 3) count[t] = 0;
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    if (x[r * blockDim.x + t] > 50) atomicAdd(&count[r % 3], 1);
    if (t == 0) count[(r + 1) % 3] = 0;
    __syncthreads();
    y[r * blockDim.x + t] = count[r % 3];
  }
}

// == message_by_references_that_release_and_acquire
#include <cuda/atomic>

extern "C" __global__ void message_by_references_that_release_and_acquire(const int* x, int* message, int* flag,
                                                                          int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    message[threadIdx.x] = x[threadIdx.x] + 7;
    __syncthreads();
    if (threadIdx.x == 0) ready.store(1, cuda::memory_order_release);
  } else {
    if (threadIdx.x == 0) {
      while (ready.load(cuda::memory_order_acquire) == 0) {}
    }
    __syncthreads();
    y[threadIdx.x] = message[(threadIdx.x + 1) % blockDim.x];
  }
}

// == relaxed_flag_between_two_fences
#include <cuda/atomic>

extern "C" __global__ void relaxed_flag_between_two_fences(const int* x, int* message, unsigned* flag, int* y) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 1) {
    *message = *x * 3;
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    ready.store(1, cuda::memory_order_relaxed);
  } else {
    while (!ready.load(cuda::memory_order_relaxed)) __nanosleep(8);
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    *y = *message;
  }
}

// == last_block_by_one_atomic_of_both_orders
#include <cuda/atomic>

extern "C" __global__ void last_block_by_one_atomic_of_both_orders(const int* x, int* parts, int* count, int* y) {
  __shared__ bool last;
  int sum = __reduce_add_sync(FULL, x[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
    cuda::atomic_ref<int, cuda::thread_scope_device> arrived(*count);
    last = arrived.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
  }
  __syncwarp();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (int b = 0; b < gridDim.x; ++b) total += parts[b];
    *y = total;
  }
}

// == lease_that_a_destructor_returns
#include <cuda/atomic>

struct Lease {
  cuda::atomic_ref<int, cuda::thread_scope_device> word;
  __device__ explicit Lease(int* p) : word(*p) {
    int free = 0;
    while (!word.compare_exchange_weak(free, 1, cuda::memory_order_acquire, cuda::memory_order_relaxed)) free = 0;
  }
  __device__ ~Lease() { word.store(0, cuda::memory_order_release); }
};

extern "C" __global__ void lease_that_a_destructor_returns(int* lease, int* sum, int* calls) {
  if (threadIdx.x == 0) {
    Lease mine(lease);
    *sum += blockIdx.x + 1;
    *calls += 1;
  }
}

// == all_lanes_take_one_lock_in_turn
extern "C" __global__ void all_lanes_take_one_lock_in_turn(const int* x, int* lock, int* sum) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *sum += x[blockIdx.x * blockDim.x + threadIdx.x];
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// == key_and_value_claimed_in_one_word
__device__ bool put(unsigned long long* table, unsigned key, unsigned value, int room) {
  unsigned long long pair = (unsigned long long)key << 32 | value;
  for (int at = key * 7 % room, k = 0; k < room; ++k, at = (at + 1) % room) {
    unsigned long long seen = atomicCAS(&table[at], ~0ull, pair);
    if (seen == ~0ull) return true;
    if (seen >> 32 == key) return false;
  }
  return false;
}

extern "C" __global__ void key_and_value_claimed_in_one_word(const unsigned* x, unsigned long long* table, int* fresh,
                                                             int room) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (put(table, x[i], i, room)) atomicAdd(fresh, 1);
}

// == nodes_pushed_and_then_walked_behind_the_grid
#include <cooperative_groups.h>

extern "C" __global__ void nodes_pushed_and_then_walked_behind_the_grid(const int* x, int* next, int* head, int* y) {
  auto grid = cooperative_groups::this_grid();
  int node = grid.thread_rank(), before = *(volatile int*)head;
  do {
    next[node] = before;
    __threadfence();
    int seen = atomicCAS(head, before, node);
    if (seen == before) break;
    before = seen;
  } while (true);
  grid.sync();
  if (node == 0) {
    int sum = 0;
    for (int at = *head; at >= 0; at = next[at]) sum += x[at];
    *y = sum;
  }
}

// == ring_whose_reader_gives_slots_back
#include <cuda/atomic>

extern "C" __global__ void ring_whose_reader_gives_slots_back(const int* x, int* ring, int* heads, int* y, int n) {
  using Count = cuda::atomic_ref<int, cuda::thread_scope_device>;
  Count written(heads[0]), read(heads[1]);
  if (blockIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      while (i - read.load(cuda::memory_order_acquire) >= 3) {}
      ring[i % 3] = x[i];
      written.store(i + 1, cuda::memory_order_release);
    }
  } else {
    for (int i = 0; i < n; ++i) {
      while (written.load(cuda::memory_order_acquire) <= i) {}
      y[i] = ring[i % 3];
      read.store(i + 1, cuda::memory_order_release);
    }
  }
}

// == pipeline_that_commits_an_empty_stage_at_the_end
#include <cuda_pipeline.h>

extern "C" __global__ void pipeline_that_commits_an_empty_stage_at_the_end(const float* x, float* y, int tiles) {
  __shared__ float s[2][64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[0][t], &x[t], 4);
  __pipeline_commit();
  for (int k = 0; k < tiles; ++k) {
    if (k + 1 < tiles) __pipeline_memcpy_async(&s[(k + 1) % 2][t], &x[(k + 1) * 64 + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    y[k * 64 + t] = s[k % 2][63 - t];
    __syncthreads();
  }
}

// == tiles_in_bulk_with_a_parity_that_turns
extern "C" __global__ void tiles_in_bulk_with_a_parity_that_turns(const float* x, float* y, int tiles) {
  __shared__ alignas(16) float tile[40];
  __shared__ unsigned long long bar;
  int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&bar, 1);
  __syncthreads();
  for (int k = 0; k < tiles; ++k) {
    if (t == 0) {
      MBAR_EXPECT(&bar, 160);
      BULK_LOAD(tile, x + k * 40, 160, &bar);
    }
    MBAR_WAIT(&bar, k & 1);
    for (int i = t; i < 40; i += blockDim.x) y[k * 40 + i] = tile[39 - i];
    __syncthreads();
  }
}

// == token_of_a_barrier_kept_for_later
#include <cuda/barrier>

extern "C" __global__ void token_of_a_barrier_kept_for_later(const int* x, int* y) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(8) unsigned char memory[sizeof(Barrier)];
  __shared__ int s[128];
  Barrier* bar = reinterpret_cast<Barrier*>(memory);
  int t = threadIdx.x;
  if (t == 0) init(bar, blockDim.x);
  __syncthreads();
  s[t] = x[t];
  auto token = bar->arrive();
  int own = x[t] * x[t];
  bar->wait(cuda::std::move(token));
  y[t] = own + s[127 - t];
}

// == peers_read_in_a_ring_and_met_before_the_end
#include <cooperative_groups.h>

extern "C" __global__ void __cluster_dims__(3) peers_read_in_a_ring_and_met_before_the_end(const int* x, int* y) {
  auto cluster = cooperative_groups::this_cluster();
  __shared__ int s[32];
  s[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  cluster.sync();
  int* peer = cluster.map_shared_rank(s, (cluster.block_rank() + 1) % cluster.num_blocks());
  int v = peer[31 - threadIdx.x];
  cluster.sync();
  y[blockIdx.x * 32 + threadIdx.x] = v;
}

// == bins_of_a_cluster_raised_by_atomics
#include <cooperative_groups.h>

extern "C" __global__ void __cluster_dims__(3) bins_of_a_cluster_raised_by_atomics(const int* x, int* y) {
  auto cluster = cooperative_groups::this_cluster();
  __shared__ int bins[7];
  if (threadIdx.x < 7) bins[threadIdx.x] = 0;
  cluster.sync();
  int v = x[blockIdx.x * blockDim.x + threadIdx.x] % 21;
  atomicAdd(&cluster.map_shared_rank(bins, v / 7)[v % 7], 1);
  cluster.sync();
  if (threadIdx.x < 7) y[cluster.block_rank() * 7 + threadIdx.x] = bins[threadIdx.x];
}

// == named_barriers_there_and_back
extern "C" __global__ void named_barriers_there_and_back(const int* x, int* y, int rounds) {
  __shared__ int s[32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 1) BAR_ARRIVE(2, 64);
  for (int r = 0; r < rounds; ++r) {
    if (warp == 0) {
      BAR_SYNC(2, 64);
      s[lane] = x[r * 32 + lane];
      BAR_ARRIVE(1, 64);
    } else {
      BAR_SYNC(1, 64);
      y[r * 32 + lane] = s[31 - lane];
      if (r + 1 < rounds) BAR_ARRIVE(2, 64);
    }
  }
}

// == pairs_of_warps_each_with_a_barrier
extern "C" __global__ void pairs_of_warps_each_with_a_barrier(const int* x, int* y, int rounds) {
  __shared__ int s[4][64];
  int pair = threadIdx.x / 64, t = threadIdx.x % 64;
  for (int r = 0; r < rounds + pair; ++r) {
    s[pair][t] = x[threadIdx.x] + r;
    BAR_SYNC(pair + 1, 64);
    y[threadIdx.x] += s[pair][63 - t];
    BAR_SYNC(pair + 1, 64);
  }
}

// == one_atomic_for_the_active_lanes
#include <cooperative_groups.h>

extern "C" __global__ void one_atomic_for_the_active_lanes(const int* x, int* y, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] % 3 == 0) {
    auto active = cooperative_groups::coalesced_threads();
    int at;
    if (active.thread_rank() == 0) at = atomicAdd(count, active.num_threads());
    at = active.shfl(at, 0) + active.thread_rank();
    y[at] = x[i];
  }
}

// == labels_of_a_warp_summed_apart
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

extern "C" __global__ void labels_of_a_warp_summed_apart(const int* labels, const int* x, int* y) {
  namespace cg = cooperative_groups;
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  auto equal = cg::labeled_partition(warp, labels[i]);
  int sum = cg::reduce(equal, x[i], cg::plus<int>());
  if (equal.thread_rank() == 0) atomicAdd(&y[labels[i]], sum);
}

// == lanes_leave_a_loop_with_the_mask_of_those_that_stay
extern "C" __global__ void lanes_leave_a_loop_with_the_mask_of_those_that_stay(const int* x, int* y) {
  int lane = threadIdx.x, left = x[lane] % 7, sum = 0;
  unsigned mask = __ballot_sync(FULL, left > 0);
  while (left > 0) {
    sum += __reduce_add_sync(mask, left);
    --left;
    mask = __ballot_sync(mask, left > 0);
  }
  y[lane] = sum;
}

// == four_masks_of_eight_lanes
extern "C" __global__ void four_masks_of_eight_lanes(const int* x, unsigned* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  unsigned mask = 0xffu << (lane & 24);
  unsigned votes = __ballot_sync(mask, x[i] > 40);
  int other = __shfl_sync(mask, x[i], lane ^ 5, 8);
  y[i] = votes >> (lane & 24) ^ other << 8;
}

// == threads_in_range_go_on_to_a_barrier
extern "C" __global__ void threads_in_range_go_on_to_a_barrier(const int* x, int* y, int n) {
  __shared__ int s[128];
  int t = threadIdx.x;
  if (t >= n) return;
  s[t] = x[t];
  __syncthreads();
  y[t] = s[n - 1 - t];
}

// == loop_that_a_vote_of_the_block_ends
extern "C" __global__ void loop_that_a_vote_of_the_block_ends(const int* x, int* y) {
  __shared__ int s[87];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  bool moved;
  do {
    int left = t > 0 ? s[t - 1] : 0, own = s[t];
    __syncthreads();
    moved = left > own;
    if (moved) s[t] = left;
  } while (__syncthreads_or(moved));
  y[t] = s[t];
}

// == bytes_of_a_word_by_four_threads
extern "C" __global__ void bytes_of_a_word_by_four_threads(const int* x, unsigned* y) {
  __shared__ unsigned words[40];
  int t = threadIdx.x;
  reinterpret_cast<unsigned char*>(words)[t] = x[t];
  __syncthreads();
  if (t < 40) y[t] = words[t];
}

// == bits_of_a_map_by_atomics
extern "C" __global__ void bits_of_a_map_by_atomics(const int* x, unsigned* y, int n) {
  __shared__ unsigned map[8];
  if (threadIdx.x < 8) map[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    unsigned bit = 1u << x[i] % 32;
    if (!(*(volatile unsigned*)&map[x[i] / 32] & bit)) atomicOr(&map[x[i] / 32], bit);
  }
  __syncthreads();
  if (threadIdx.x < 8) y[threadIdx.x] = map[threadIdx.x];
}

// == reversed_in_place_by_half_as_many
extern "C" __global__ void reversed_in_place_by_half_as_many(int* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) {
    int a = x[i], b = x[n - 1 - i];
    x[i] = b;
    x[n - 1 - i] = a;
  }
}

// == windows_of_one_array_that_only_touch
extern "C" __global__ void windows_of_one_array_that_only_touch(const int* from, int* to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i] + 1;
}

// == array_given_twice_and_used_by_element
extern "C" __global__ void array_given_twice_and_used_by_element(const float* a, const float* b, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = a[i] * b[i];
}

// == pointer_to_the_middle_with_negative_offsets
extern "C" __global__ void pointer_to_the_middle_with_negative_offsets(const float* x, float* y, int radius) {
  const float* middle = x + radius;
  int k = (int)threadIdx.x - radius;
  if (k <= radius) y[threadIdx.x] = middle[k] - middle[-k];
}

// == list_of_the_best_as_long_as_it_is
extern "C" __global__ void list_of_the_best_as_long_as_it_is(const int* x, int* y, int n) {
  int best[8], count = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    if (x[i] > 60 && count < 8) best[count++] = x[i];
  }
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < count; ++k) sum += best[count - 1 - k];
  y[threadIdx.x] = sum;
}

// == tile_with_zeros_behind_its_tail
template <int Size>
struct Tile {
  float data[Size + 2];
  __device__ void load(const float* x, int from, int n) {
    for (int t = threadIdx.x; t < Size + 2; t += blockDim.x) {
      int i = from + t - 1;
      data[t] = i >= 0 && i < n ? x[i] : 0.0f;
    }
    __syncthreads();
  }
};

extern "C" __global__ void tile_with_zeros_behind_its_tail(const float* x, float* y, int n) {
  __shared__ Tile<64> tile;
  tile.load(x, blockIdx.x * 64, n);
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (i < n) y[i] = tile.data[t] + tile.data[t + 1] + tile.data[t + 2];
}

// == three_phases_of_a_grid
#include <cooperative_groups.h>

extern "C" __global__ void three_phases_of_a_grid(const int* x, int* a, int* b, int* c, int n) {
  auto grid = cooperative_groups::this_grid();
  int i = grid.thread_rank();
  if (i < n) a[i] = x[i];
  grid.sync();
  if (i < n) b[i] = a[n - 1 - i];
  grid.sync();
  if (i < n) c[i] = b[n - 1 - i] + a[i];
}

// == barrier_of_the_grid_by_a_sense
__device__ unsigned here;
__device__ volatile unsigned sense;

__device__ void meet(unsigned turn) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(&here, 1) == gridDim.x - 1) {
      here = 0;
      __threadfence();
      sense = turn;
    } else {
      while (sense != turn) {}
    }
    __threadfence();
  }
  __syncthreads();
}

extern "C" __global__ void barrier_of_the_grid_by_a_sense(const int* x, int* a, int* y, int rounds) {
  int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];
  for (int r = 1; r <= rounds; ++r) {
    a[i] = v;
    meet(2 * r - 1);
    v = a[(i + 45) % n] + r;
    meet(2 * r);
  }
  y[i] = v;
}

// == look_back_at_words_that_have_both
extern "C" __global__ void look_back_at_words_that_have_both(const int* x, volatile unsigned long long* words, int* y) {
  int b = blockIdx.x, lane = threadIdx.x;
  int sum = __reduce_add_sync(FULL, x[b * 32 + lane]);
  if (lane == 0) {
    words[b] = 1ull << 32 | (unsigned)sum;
    int before = 0;
    for (int k = 0; k < b; ++k) {
      unsigned long long word;
      do { word = words[k]; } while (word >> 32 == 0);
      before += (int)(unsigned)word;
    }
    y[b] = before;
  }
}

// == volatile_flag_with_fences_on_both_sides
extern "C" __global__ void volatile_flag_with_fences_on_both_sides(const int* x, int* data, volatile int* flag, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = x[t] - 4;
    __threadfence();
    __syncthreads();
    if (t == 0) *flag = 1;
  } else {
    if (t == 0) {
      while (*flag == 0) {}
      __threadfence();
    }
    __syncthreads();
    y[t] = data[blockDim.x - 1 - t];
  }
}

// == stacks_in_stripes_of_shared_memory
extern "C" __global__ void stacks_in_stripes_of_shared_memory(const int* left, const int* right, int* y) {
  __shared__ int stack[6][32];
  int t = threadIdx.x, top = 0, sum = 0;
  stack[top++][t] = t % 3;
  while (top > 0) {
    int node = stack[--top][t];
    sum += node;
    if (left[node] >= 0) stack[top++][t] = left[node];
    if (right[node] >= 0) stack[top++][t] = right[node];
  }
  y[t] = sum;
}

// == slice_of_a_warp_with_warp_barriers
extern "C" __global__ void slice_of_a_warp_with_warp_barriers(const float* x, float* y, int rounds) {
  extern __shared__ float s[];
  float* slice = s + threadIdx.x / 32 * 33;
  int lane = threadIdx.x % 32;
  float v = x[threadIdx.x];
  for (int r = 0; r < rounds; ++r) {
    slice[lane] = v;
    if (lane == 0) slice[32] = 1.0f + r;
    __syncwarp();
    v = slice[(lane + 1) % 32] * slice[32];
    __syncwarp();
  }
  y[threadIdx.x] = v;
}

// == maximum_looked_at_by_a_relaxed_load_first
#include <cuda/atomic>

extern "C" __global__ void maximum_looked_at_by_a_relaxed_load_first(const int* x, int* best, int n) {
  cuda::atomic_ref<int, cuda::thread_scope_device> top(*best);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    if (top.load(cuda::memory_order_relaxed) < x[i]) top.fetch_max(x[i], cuda::memory_order_relaxed);
  }
}

// == four_at_once_where_the_address_allows
extern "C" __global__ void four_at_once_where_the_address_allows(const float* x, float* y, int n) {
  if ((reinterpret_cast<unsigned long long>(x) | reinterpret_cast<unsigned long long>(y)) % 16 == 0) {
    for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
      float4 v = reinterpret_cast<const float4*>(x)[i];
      reinterpret_cast<float4*>(y)[i] = {-v.x, -v.y, -v.z, -v.w};
    }
    for (int i = n / 4 * 4 + threadIdx.x; i < n; i += blockDim.x) y[i] = -x[i];
  } else {
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = -x[i];
  }
}

// == steps_chosen_from_a_table_of_functions
__device__ __noinline__ int twice(int v) { return 2 * v; }
__device__ __noinline__ int square(int v) { return v * v; }
__device__ __noinline__ int next(int v) { return v + 1; }
using Step = int (*)(int);
__constant__ Step steps[3] = {twice, square, next};

extern "C" __global__ void steps_chosen_from_a_table_of_functions(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = steps[x[i] % 3](x[i]);
}

// == shapes_with_virtual_areas
struct Shape {
  __device__ virtual float area() const = 0;
};
struct Disc : Shape {
  float r;
  __device__ explicit Disc(float v) : r(v) {}
  __device__ float area() const override { return 3.0f * r * r; }
};
struct Box : Shape {
  float w;
  __device__ explicit Box(float v) : w(v) {}
  __device__ float area() const override { return w * w; }
};

extern "C" __global__ void shapes_with_virtual_areas(const float* x, float* y) {
  Disc disc(x[threadIdx.x]);
  Box box(x[threadIdx.x]);
  const Shape* shape = threadIdx.x % 3 ? static_cast<const Shape*>(&disc) : &box;
  y[threadIdx.x] = shape->area();
}

// == null_bias_that_is_asked_for
template <class T>
struct Epilogue {
  const T* bias;
  T slope;
  __device__ T operator()(T v, int column) const {
    if (bias) v += bias[column];
    return v > T(0) ? v : v * slope;
  }
};

extern "C" __global__ void null_bias_that_is_asked_for(const float* x, float* y, const float* bias, int cols) {
  Epilogue<float> epilogue{bias, 0.5f};
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[c] = epilogue(x[c], c);
}

// == permits_of_two_stages_to_their_own
extern "C" __global__ void permits_of_two_stages_to_their_own(const int* x, int* y, int rounds) {
  __shared__ int slot[2][32];
  __shared__ unsigned long long full[2], empty[2];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) {
      MBAR_INIT(&full[s], 32);
      MBAR_INIT(&empty[s], 32);
    }
  }
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    int s = r % 2, phase = r / 2 % 2;
    if (warp == 0) {
      MBAR_WAIT(&empty[s], phase ^ 1);
      slot[s][lane] = x[r * 32 + lane];
      MBAR_ARRIVE(&full[s]);
    } else {
      MBAR_WAIT(&full[s], phase);
      y[r * 32 + lane] = slot[s][31 - lane];
      MBAR_ARRIVE(&empty[s]);
    }
  }
}

// == stored_in_bulk_behind_a_fence_between_proxies
extern "C" __global__ void stored_in_bulk_behind_a_fence_between_proxies(const float* x, float* y) {
  __shared__ alignas(16) float tile[96];
  tile[threadIdx.x] = x[threadIdx.x] * 2;
  PROXY_FENCE;
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(y, tile, 384);
    BULK_COMMIT;
    BULK_WAIT_READ;
  }
}

// == moved_under_a_predicate_over_a_start
extern "C" __global__ void moved_under_a_predicate_over_a_start(const int* x, int* y) {
  int v = -1;
  asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 50; @p mov.s32 %0, %1; }" : "+r"(v) : "r"(x[threadIdx.x]));
  y[threadIdx.x] = v;
}

// == bins_of_each_warp_joined_at_the_end
extern "C" __global__ void bins_of_each_warp_joined_at_the_end(const unsigned* x, unsigned* y, int n) {
  __shared__ unsigned bins[4][13];
  int warp = threadIdx.x / 32;
  for (int b = threadIdx.x; b < 4 * 13; b += blockDim.x) bins[b / 13][b % 13] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&bins[warp][x[i] % 13], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 13) {
    unsigned sum = 0;
    for (int w = 0; w < 4; ++w) sum += bins[w][threadIdx.x];
    atomicAdd(&y[threadIdx.x], sum);
  }
}

// == order_of_cells_that_a_wave_crosses
extern "C" __global__ void order_of_cells_that_a_wave_crosses(const int* x, int* best, int n) {
  int r = threadIdx.x;
  for (int diagonal = 0; diagonal < 2 * n - 1; ++diagonal) {
    int c = diagonal - r;
    if (r < n && c >= 0 && c < n) {
      int up = r ? best[(r - 1) * n + c] : 0, left = c ? best[r * n + c - 1] : 0;
      best[r * n + c] = max(up, left) + x[r * n + c];
    }
    __syncthreads();
  }
}

// == warps_draw_their_work_until_it_is_gone
__device__ int drawn;

extern "C" __global__ void warps_draw_their_work_until_it_is_gone(const int* x, int* y, int rows) {
  int lane = threadIdx.x % 32;
  while (true) {
    int row;
    if (lane == 0) row = atomicAdd(&drawn, 1);
    row = __shfl_sync(FULL, row, 0);
    if (row >= rows) return;
    y[row * 32 + lane] = __shfl_xor_sync(FULL, x[row * 32 + lane], 21) - row;
  }
}

// == value_of_one_lane_behind_a_warp_barrier
extern "C" __global__ void value_of_one_lane_behind_a_warp_barrier(const int* x, int* y) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  __shared__ int base[5];
  if (lane == 0) base[warp] = x[warp];
  __syncwarp();
  y[threadIdx.x] = x[threadIdx.x] - base[warp];
}
