// Kernels that look suspicious and are correct: locks, rings, relays, tokens, scratch memory, roles, ragged ends.
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
#define MBAR_WAIT_CLUSTER(bar, parity) \
  asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1; @!p bra w; }" \
               ::"r"(SMEM(bar)), "r"(parity) : "memory")
#define MBAR_ARRIVE_AT(bar, rank) \
  asm volatile("{ .reg .b32 a; mapa.shared::cluster.u32 a, %0, %1; " \
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a]; }" ::"r"(SMEM(bar)), "r"(rank) : "memory")
#define BULK_LOAD(to, from, bytes, bar) \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" \
               ::"r"(SMEM(to)), "l"(from), "r"(bytes), "r"(SMEM(bar)) : "memory")
#define BULK_STORE(to, from, bytes) \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" \
               ::"l"(to), "r"(SMEM(from)), "r"(bytes) : "memory")
#define BULK_ADD(to, from, bytes) \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" \
               ::"l"(to), "r"(SMEM(from)), "r"(bytes) : "memory")
#define BAR_SYNC(name, threads) asm volatile("bar.sync %0, %1;" ::"r"(name), "r"(threads) : "memory")
#define BAR_ARRIVE(name, threads) asm volatile("bar.arrive %0, %1;" ::"r"(name), "r"(threads) : "memory")

// == argmax_tree_that_ends_in_a_warp
struct Best {
  float value;
  int index;
};
extern "C" __global__ void argmax_tree_that_ends_in_a_warp(const float* x, int* y) {
  __shared__ Best s[128];
  int t = threadIdx.x;
  s[t] = {x[t], t};
  __syncthreads();
  for (int o = 64; o >= 32; o /= 2) {
    if (t < o && s[t + o].value > s[t].value) s[t] = s[t + o];
    __syncthreads();
  }
  if (t < 32)
    for (int o = 16; o > 0; o /= 2) {
      if (t < o && s[t + o].value > s[t].value) s[t] = s[t + o];
      __syncwarp();
    }
  if (t == 0) *y = s[0].index;
}

// == changed_flag_in_three_places
extern "C" __global__ void changed_flag_in_three_places(const int* x, int* y) {
  __shared__ int s[66], changed[3];
  int t = threadIdx.x;
  s[t + 1] = x[t];
  if (t == 0) s[0] = s[65] = 0;
  if (t < 3) changed[t] = 0;
  __syncthreads();
  for (int r = 0;; ++r) {
    int old = s[t + 1], most = max(max(s[t], old), s[t + 2]);
    __syncthreads();
    s[t + 1] = most;
    if (most != old) atomicExch(&changed[r % 3], 1);
    if (t == 0) changed[(r + 1) % 3] = 0;
    __syncthreads();
    if (!changed[r % 3]) break;
  }
  y[t] = s[t + 1];
}

// == one_producer_and_three_warps_that_consume
extern "C" __global__ void one_producer_and_three_warps_that_consume(const int* x, int* y, int tiles) {
  __shared__ int ring[2][32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = 0; i < tiles; ++i) {
    int stage = i % 2;
    if (warp == 0) {
      if (i >= 2) BAR_SYNC(3 + stage, 128);
      ring[stage][lane] = x[i * 32 + lane];
      BAR_ARRIVE(1 + stage, 128);
    } else {
      BAR_SYNC(1 + stage, 128);
      y[(i * 3 + warp - 1) * 32 + lane] = ring[stage][31 - lane] + warp;
      if (i + 2 < tiles) BAR_ARRIVE(3 + stage, 128);
    }
  }
}

// == two_readers_release_a_word_by_two_names
extern "C" __global__ void two_readers_release_a_word_by_two_names(const int* x, int* y) {
  __shared__ int s[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (warp == 2) s[lane] = x[lane];
  __syncthreads();
  if (warp < 2) {
    y[warp * 32 + lane] = s[31 - lane];
    BAR_ARRIVE(1 + warp, 64);
  } else {
    BAR_SYNC(1, 64);
    BAR_SYNC(2, 64);
    s[lane] = x[lane] + 1;
    __syncwarp();
    y[64 + lane] = s[31 - lane];
  }
}

// == told_through_a_third_warp
extern "C" __global__ void told_through_a_third_warp(const int* x, int* y) {
  __shared__ int s[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (warp == 0) {
    s[lane] = x[lane];
    BAR_ARRIVE(1, 64);
  } else if (warp == 1) {
    BAR_SYNC(1, 64);
    BAR_ARRIVE(2, 64);
  } else {
    BAR_SYNC(2, 64);
    y[lane] = s[31 - lane];
  }
}

// == told_by_an_mbarrier_and_then_by_a_name
extern "C" __global__ void told_by_an_mbarrier_and_then_by_a_name(const int* x, int* y) {
  __shared__ int s[32];
  __shared__ unsigned long long told;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) MBAR_INIT(&told, 32);
  __syncthreads();
  if (warp == 0) {
    s[lane] = x[lane];
    MBAR_ARRIVE(&told);
  } else if (warp == 1) {
    MBAR_WAIT(&told, 0);
    y[lane] = s[31 - lane];
    BAR_ARRIVE(1, 64);
  } else {
    BAR_SYNC(1, 64);
    int v = s[lane ^ 1];
    __syncwarp();
    s[lane] = 2 * v;
    y[32 + lane] = s[lane];
  }
}

// == scratch_told_by_a_name
extern "C" __global__ void scratch_told_by_a_name(const int* x, int* scratch, int* y, int tiles) {
  int lane = threadIdx.x % 32;
  for (int i = 0; i < tiles; ++i) {
    if (threadIdx.x < 32) {
      if (i > 0) BAR_SYNC(2, 64);
      scratch[lane] = 3 * x[i * 32 + lane];
      BAR_ARRIVE(1, 64);
    } else {
      BAR_SYNC(1, 64);
      y[i * 32 + lane] = scratch[31 - lane];
      if (i + 1 < tiles) BAR_ARRIVE(2, 64);
    }
  }
}

// == scratch_told_by_an_mbarrier
extern "C" __global__ void scratch_told_by_an_mbarrier(const int* x, int* scratch, int* y, int tiles) {
  __shared__ unsigned long long full, empty;
  int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    MBAR_INIT(&full, 32);
    MBAR_INIT(&empty, 32);
  }
  __syncthreads();
  for (int i = 0; i < tiles; ++i) {
    if (threadIdx.x < 32) {
      MBAR_WAIT(&empty, (i & 1) ^ 1);
      scratch[lane] = 3 * x[i * 32 + lane];
      MBAR_ARRIVE(&full);
    } else {
      MBAR_WAIT(&full, i & 1);
      y[i * 32 + lane] = scratch[31 - lane];
      MBAR_ARRIVE(&empty);
    }
  }
}

// == scratch_of_a_warp
extern "C" __global__ void scratch_of_a_warp(const int* x, int* scratch, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  scratch[i] = x[i];
  __syncwarp();
  int v = scratch[i ^ 1] + scratch[i ^ 31];
  __syncwarp();
  scratch[i] = v;
  __syncwarp();
  y[i] = scratch[i ^ 2];
}

// == scratch_told_by_a_flag_of_the_block
extern "C" __global__ void scratch_told_by_a_flag_of_the_block(const int* x, int* scratch, int* y) {
  __shared__ int flag;
  int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    scratch[lane] = 7 * x[lane];
    __threadfence_block();
    atomicAdd(&flag, 1);
  } else {
    while (atomicAdd(&flag, 0) < 32) {}
    __threadfence_block();
    y[lane] = scratch[31 - lane];
  }
}

// == lanes_pass_a_token
#include <cuda/atomic>
extern "C" __global__ void lanes_pass_a_token(const int* x, int* y) {
  __shared__ int token, sum;
  cuda::atomic_ref<int, cuda::thread_scope_block> turn(token);
  int lane = threadIdx.x;
  if (lane == 0) token = sum = 0;
  __syncwarp();
  while (turn.load(cuda::memory_order_acquire) != lane) {}
  sum = 2 * sum + x[lane];
  y[lane] = sum;
  turn.store(lane + 1, cuda::memory_order_release);
}

// == peterson_of_two_blocks
#include <cuda/atomic>
extern "C" __global__ void peterson_of_two_blocks(int* interested, int* turn, const int* x, int* sum, int rounds) {
  int b = blockIdx.x;
  if (threadIdx.x) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> mine(interested[b]), other(interested[1 - b]), last(*turn);
  for (int r = 0; r < rounds; ++r) {
    mine.store(1);
    last.store(b);
    while (other.load() == 1 && last.load() == b) {}
    *sum += x[b * rounds + r];
    mine.store(0);
  }
}

// == bakery_of_four_blocks
#include <cuda/atomic>
using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
extern "C" __global__ void bakery_of_four_blocks(int* choosing, int* number, const int* x, int* sum) {
  int b = blockIdx.x, n = gridDim.x, most = 0;
  if (threadIdx.x) return;
  Word(choosing[b]).store(1);
  for (int j = 0; j < n; ++j) most = max(most, Word(number[j]).load());
  Word(number[b]).store(most + 1);
  Word(choosing[b]).store(0);
  for (int j = 0; j < n; ++j) {
    while (Word(choosing[j]).load()) {}
    for (;;) {
      int theirs = Word(number[j]).load();
      if (theirs == 0 || theirs > most + 1 || (theirs == most + 1 && j >= b)) break;
    }
  }
  *sum += x[b];
  Word(number[b]).store(0);
}

// == queue_lock_of_nodes
#include <cuda/atomic>
using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
extern "C" __global__ void queue_lock_of_nodes(int* tail, int* next, int* waiting, const int* x, int* sum) {
  int b = blockIdx.x;
  if (threadIdx.x) return;
  Word last(*tail);
  Word(next[b]).store(-1, cuda::memory_order_relaxed);
  Word(waiting[b]).store(1, cuda::memory_order_relaxed);
  int before = last.exchange(b, cuda::memory_order_acq_rel);
  if (before >= 0) {
    Word(next[before]).store(b, cuda::memory_order_release);
    while (Word(waiting[b]).load(cuda::memory_order_acquire)) {}
  }
  *sum += x[b];
  int after = Word(next[b]).load(cuda::memory_order_acquire);
  if (after < 0) {
    int expected = b;
    if (last.compare_exchange_strong(expected, -1, cuda::memory_order_acq_rel)) return;
    while ((after = Word(next[b]).load(cuda::memory_order_acquire)) < 0) {}
  }
  Word(waiting[after]).store(0, cuda::memory_order_release);
}

// == many_readers_or_one_writer
extern "C" __global__ void many_readers_or_one_writer(int* lock, int* pair, int* y, int rounds) {
  if (threadIdx.x) return;
  for (int r = 0; r < rounds; ++r) {
    if (blockIdx.x == 0) {
      while (atomicCAS(lock, 0, -1) != 0) {}
      __threadfence();
      pair[0] += 1;
      pair[1] -= 1;
      __threadfence();
      atomicExch(lock, 0);
    } else {
      for (int seen = atomicAdd(lock, 0);; seen = atomicAdd(lock, 0))
        if (seen >= 0 && atomicCAS(lock, seen, seen + 1) == seen) break;
      __threadfence();
      y[blockIdx.x] += pair[0] + pair[1];
      __threadfence();
      atomicSub(lock, 1);
    }
  }
}

// == sequence_lock_of_volatile_words
extern "C" __global__ void sequence_lock_of_volatile_words(volatile int* pair, volatile int* sequence, int* y,
                                                           int rounds) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    for (int i = 1; i <= rounds; ++i) {
      *sequence = 2 * i - 1;
      __threadfence();
      pair[0] = i;
      pair[1] = -i;
      __threadfence();
      *sequence = 2 * i;
    }
  } else {
    int before, after, a, b;
    do {
      before = *sequence;
      __threadfence();
      a = pair[0];
      b = pair[1];
      __threadfence();
      after = *sequence;
    } while (before % 2 || before != after || before < 2 * rounds);
    y[0] = a + b;
    y[1] = a;
  }
}

// == words_counted_in_a_table
extern "C" __global__ void words_counted_in_a_table(const int* words, int* keys, int* counts, int n, int room) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    for (int slot = words[i] % room;; slot = (slot + 1) % room) {
      int old = atomicCAS(&keys[slot], -1, words[i]);
      if (old != -1 && old != words[i]) continue;
      atomicAdd(&counts[slot], 1);
      break;
    }
}

// == slots_with_sequence_numbers
#include <cuda/atomic>
using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
extern "C" __global__ void slots_with_sequence_numbers(int* sequence, int* value, int* tail, const int* x, int* y,
                                                       int each) {
  constexpr int ROOM = 4;
  int b = blockIdx.x, producers = gridDim.x - 1, sum = 0;
  if (threadIdx.x) return;
  if (b < producers) {
    for (int i = 0; i < each; ++i) {
      int ticket = Word(*tail).fetch_add(1, cuda::memory_order_relaxed);
      while (Word(sequence[ticket % ROOM]).load(cuda::memory_order_acquire) != ticket) {}
      value[ticket % ROOM] = x[b * each + i];
      Word(sequence[ticket % ROOM]).store(ticket + 1, cuda::memory_order_release);
    }
  } else {
    for (int ticket = 0; ticket < producers * each; ++ticket) {
      while (Word(sequence[ticket % ROOM]).load(cuda::memory_order_acquire) != ticket + 1) {}
      sum += value[ticket % ROOM];
      Word(sequence[ticket % ROOM]).store(ticket + ROOM, cuda::memory_order_release);
    }
    *y = sum;
  }
}

// == ring_of_two_warps_with_two_ends
#include <cuda/atomic>
extern "C" __global__ void ring_of_two_warps_with_two_ends(const int* x, int* y, int n) {
  __shared__ int ring[4], ends[2];
  cuda::atomic_ref<int, cuda::thread_scope_block> head(ends[0]), tail(ends[1]);
  if (threadIdx.x < 2) ends[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      while (i - head.load(cuda::memory_order_acquire) >= 4) {}
      ring[i % 4] = x[i];
      tail.store(i + 1, cuda::memory_order_release);
    }
  } else if (threadIdx.x == 32) {
    for (int i = 0; i < n; ++i) {
      while (tail.load(cuda::memory_order_acquire) <= i) {}
      y[i] = 2 * ring[i % 4];
      head.store(i + 1, cuda::memory_order_release);
    }
  }
}

// == ring_of_two_blocks_with_volatile_ends
extern "C" __global__ void ring_of_two_blocks_with_volatile_ends(const int* x, int* ring, volatile int* ends, int* y,
                                                                 int tiles) {
  int t = threadIdx.x;
  for (int i = 0; i < tiles; ++i) {
    int* slot = ring + i % 2 * 64;
    if (t == 0) {
      while (blockIdx.x == 0 ? i - ends[0] >= 2 : ends[1] <= i) {}
      __threadfence();
    }
    __syncthreads();
    if (blockIdx.x == 0)
      slot[t] = x[i * 64 + t];
    else
      y[i * 64 + t] = slot[63 - t];
    __syncthreads();
    if (t == 0) {
      __threadfence();
      ends[1 - blockIdx.x] = i + 1;
    }
  }
}

// == look_back_with_two_values
extern "C" __global__ void look_back_with_two_values(const int* x, int* aggregate, int* inclusive, volatile int* state,
                                                     int* y) {
  int b = blockIdx.x, before = 0;
  if (threadIdx.x) return;
  aggregate[b] = x[b];
  __threadfence();
  state[b] = 1;
  for (int p = b - 1; p >= 0;) {
    int seen = state[p];
    if (seen == 0) continue;
    __threadfence();
    before += seen == 2 ? inclusive[p] : aggregate[p];
    p = seen == 2 ? -1 : p - 1;
  }
  inclusive[b] = before + x[b];
  __threadfence();
  state[b] = 2;
  y[b] = before;
}

// == last_block_by_a_count_that_wraps
extern "C" __global__ void last_block_by_a_count_that_wraps(const int* x, int* partial, unsigned* count, int* y) {
  __shared__ bool last;
  int t = threadIdx.x;
  partial[blockIdx.x * 32 + t] = 3 * x[blockIdx.x * 32 + t];
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  int sum = 0;
  for (int b = 0; b < static_cast<int>(gridDim.x); ++b) sum += partial[b * 32 + 31 - t];
  y[t] = sum;
}

// == triangular_solve_with_fences
extern "C" __global__ void triangular_solve_with_fences(const float* l, const float* b, float* y, volatile int* ready,
                                                        int n) {
  int row = blockIdx.x;
  if (threadIdx.x) return;
  float sum = b[row];
  for (int c = 0; c < row; ++c) {
    while (ready[c] == 0) {}
    __threadfence();
    sum -= l[row * n + c] * y[c];
  }
  y[row] = sum / l[row * n + row];
  __threadfence();
  ready[row] = 1;
}

// == two_frontiers_and_three_sizes
#include <cooperative_groups.h>
extern "C" __global__ void two_frontiers_and_three_sizes(const int* edges, int* seen, int* queue, int* size, int nodes,
                                                         int degree) {
  auto grid = cooperative_groups::this_grid();
  int rank = grid.thread_rank();
  for (int level = 0; size[level % 3] > 0; ++level) {
    int now = level % 2, next = (level + 1) % 3;
    for (int i = rank; i < size[level % 3] * degree; i += grid.size()) {
      int to = edges[queue[now * nodes + i / degree] * degree + i % degree];
      if (atomicExch(&seen[to], 1) == 0) queue[(now ^ 1) * nodes + atomicAdd(&size[next], 1)] = to;
    }
    if (rank == 0) size[(level + 2) % 3] = 0;
    grid.sync();
  }
}

// == every_turn_commits_a_group
#include <cuda_pipeline.h>
extern "C" __global__ void every_turn_commits_a_group(const float* x, float* y, int tiles) {
  __shared__ float ring[3][64];
  int t = threadIdx.x;
  for (int s = 0; s < 2; ++s) {
    __pipeline_memcpy_async(&ring[s][t], &x[s * 64 + t], 4);
    __pipeline_commit();
  }
  for (int i = 0; i < tiles; ++i) {
    if (i + 2 < tiles) __pipeline_memcpy_async(&ring[(i + 2) % 3][t], &x[(i + 2) * 64 + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(2);
    __syncthreads();
    y[i * 64 + t] = ring[i % 3][63 - t];
    __syncthreads();
  }
}

// == copy_bound_to_a_cuda_barrier
#include <cooperative_groups.h>
#include <cuda/barrier>
extern "C" __global__ void copy_bound_to_a_cuda_barrier(const float* x, float* y, int tiles) {
  __shared__ alignas(16) float s[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  auto block = cooperative_groups::this_thread_block();
  int t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  block.sync();
  for (int i = 0; i < tiles; ++i) {
    cuda::memcpy_async(block, s, x + i * 64, sizeof(float) * 64, bar);
    bar.arrive_and_wait();
    y[i * 64 + t] = s[63 - t];
    block.sync();
  }
}

// == pipeline_of_one_warp_for_two
#include <cooperative_groups.h>
#include <cuda/pipeline>
extern "C" __global__ void pipeline_of_one_warp_for_two(const float* x, float* y, int tiles) {
  __shared__ float stage[2][32];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto pipe = cuda::make_pipeline(cooperative_groups::this_thread_block(), &state, 32);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = 0; i < tiles; ++i)
    if (warp == 0) {
      pipe.producer_acquire();
      cuda::memcpy_async(&stage[i % 2][lane], &x[i * 32 + lane], sizeof(float), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      y[(2 * i + warp - 1) * 32 + lane] = stage[i % 2][lane ^ (warp == 1 ? 31 : 1)];
      pipe.consumer_release();
    }
}

// == words_sent_to_the_peer
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) words_sent_to_the_peer(const int* x, int* y) {
  __shared__ int inbox[64];
  __shared__ unsigned long long bar;
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (t == 0) {
    MBAR_INIT(&bar, 1);
    MBAR_EXPECT(&bar, 256);
  }
  cluster.sync();
  unsigned peer = cluster.block_rank() ^ 1, to, at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(SMEM(&inbox[t])), "r"(peer));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(SMEM(&bar)), "r"(peer));
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
               ::"r"(to), "r"(x[i]), "r"(at) : "memory");
  MBAR_WAIT_CLUSTER(&bar, 0);
  y[i] = inbox[63 - t];
  cluster.sync();
}

// == stage_released_to_the_peer
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) stage_released_to_the_peer(const int* x, int* y, int tiles) {
  __shared__ int stage[32];
  __shared__ unsigned long long full, empty;
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&full, 32);
    MBAR_INIT(&empty, 32);
  }
  cluster.sync();
  for (int i = 0; i < tiles; ++i) {
    if (cluster.block_rank() == 0) {
      MBAR_WAIT_CLUSTER(&empty, (i & 1) ^ 1);
      cluster.map_shared_rank(stage, 1)[t] = x[i * 32 + t];
      MBAR_ARRIVE_AT(&full, 1);
    } else {
      MBAR_WAIT_CLUSTER(&full, i & 1);
      y[i * 32 + t] = stage[31 - t];
      MBAR_ARRIVE_AT(&empty, 0);
    }
  }
  cluster.sync();
}

// == peers_wait_before_they_leave
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) peers_wait_before_they_leave(const int* x, int* bins, int* both) {
  __shared__ int mine[32];
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, rank = cluster.block_rank();
  mine[t] = 0;
  cluster.sync();
  int bin = x[blockIdx.x * 32 + t] % 64;
  atomicAdd(cluster.map_shared_rank(mine, bin / 32) + bin % 32, 1);
  cluster.sync();
  bins[rank * 32 + t] = mine[t];
  both[rank * 32 + t] = mine[t] + cluster.map_shared_rank(mine, rank ^ 1)[t];
  cluster.barrier_arrive();
  cluster.barrier_wait();
}

// == next_tile_filled_while_one_is_stored
extern "C" __global__ void next_tile_filled_while_one_is_stored(const float* x, float* y, int tiles) {
  alignas(128) __shared__ float tile[2][64];
  int t = threadIdx.x;
  for (int i = 0; i < tiles; ++i) {
    if (t == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    __syncthreads();
    tile[i % 2][t] = 2 * x[i * 64 + 63 - t];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      BULK_STORE(y + i * 64, tile[i % 2], 256);
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// == bulk_sums_read_behind_a_grid_barrier
#include <cooperative_groups.h>
extern "C" __global__ void bulk_sums_read_behind_a_grid_barrier(const float* x, float* sum, float* y) {
  alignas(128) __shared__ float tile[32];
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  tile[t] = x[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    BULK_ADD(sum, tile, 128);
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
  cooperative_groups::this_grid().sync();
  y[i] = x[i] - sum[31 - t];
}

// == producer_lane_and_two_warps_of_consumers
extern "C" __global__ void producer_lane_and_two_warps_of_consumers(const float* x, float* y, int tiles) {
  alignas(128) __shared__ float ring[2][64];
  __shared__ unsigned long long full[2], empty[2];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) {
      MBAR_INIT(&full[s], 1);
      MBAR_INIT(&empty[s], 2);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (warp == 0) {
    if (lane) return;
    for (int i = 0; i < tiles; ++i) {
      int s = i % 2, turn = i / 2;
      MBAR_WAIT(&empty[s], (turn & 1) ^ 1);
      MBAR_EXPECT(&full[s], 256);
      BULK_LOAD(ring[s], x + i * 64, 256, &full[s]);
    }
  } else {
    for (int i = 0; i < tiles; ++i) {
      int s = i % 2, turn = i / 2, at = (warp - 1) * 32 + lane;
      MBAR_WAIT(&full[s], turn & 1);
      y[i * 64 + at] = ring[s][63 - at];
      __syncwarp();
      if (lane == 0) MBAR_ARRIVE(&empty[s]);
    }
  }
}

// == copies_arrive_at_an_mbarrier
extern "C" __global__ void copies_arrive_at_an_mbarrier(const int* x, int* y) {
  __shared__ int s[64];
  __shared__ unsigned long long bar;
  int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&bar, 64);
  __syncthreads();
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(SMEM(&s[t])), "l"(x + t) : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(SMEM(&bar)) : "memory");
  MBAR_WAIT(&bar, 0);
  y[t] = s[63 - t];
}

// == relay_of_three_warps
extern "C" __global__ void relay_of_three_warps(const int* x, int* y, int tiles) {
  __shared__ int hand[2][32];
  __shared__ unsigned long long full[2], empty[2];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x < 2) {
    MBAR_INIT(&full[threadIdx.x], 32);
    MBAR_INIT(&empty[threadIdx.x], 32);
  }
  __syncthreads();
  for (int i = 0; i < tiles; ++i) {
    int v;
    if (warp == 0) {
      v = x[i * 32 + lane];
    } else {
      MBAR_WAIT(&full[warp - 1], i & 1);
      v = hand[warp - 1][31 - lane];
      MBAR_ARRIVE(&empty[warp - 1]);
    }
    v = 3 * v + warp;
    if (warp == 2) {
      y[i * 32 + lane] = v;
    } else {
      MBAR_WAIT(&empty[warp], (i & 1) ^ 1);
      hand[warp][lane] = v;
      MBAR_ARRIVE(&full[warp]);
    }
  }
}

// == flags_of_a_dissemination_barrier
#include <cuda/atomic>
__device__ void all_blocks(int* flags, int episode) {
  using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
  int b = blockIdx.x, n = gridDim.x;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int step = 1, round = 0; step < n; step *= 2, ++round) {
      Word(flags[round * n + (b + step) % n]).store(episode, cuda::memory_order_release);
      while (Word(flags[round * n + b]).load(cuda::memory_order_acquire) < episode) {}
    }
  __syncthreads();
}
extern "C" __global__ void flags_of_a_dissemination_barrier(int* x, int* flags) {
  int b = blockIdx.x, n = gridDim.x, t = threadIdx.x;
  for (int r = 0; r < 3; ++r) {
    int v = x[(b + 1) % n * 32 + t];
    all_blocks(flags, 2 * r + 1);
    x[b * 32 + t] = v + 1;
    all_blocks(flags, 2 * r + 2);
  }
}

// == sums_up_a_tree_of_blocks
#include <cuda/atomic>
extern "C" __global__ void sums_up_a_tree_of_blocks(const int* x, int* partial, int* flag) {
  using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
  int b = blockIdx.x, t = threadIdx.x;
  int sum = x[b * 32 + t];
  for (int step = 1; step < static_cast<int>(gridDim.x); step *= 2) {
    if (b % (2 * step)) {
      partial[b * 32 + t] = sum;
      __syncwarp();
      if (t == 0) Word(flag[b]).store(1, cuda::memory_order_release);
      return;
    }
    if (t == 0) while (Word(flag[b + step]).load(cuda::memory_order_acquire) == 0) {}
    __syncwarp();
    sum += partial[(b + step) * 32 + 31 - t];
  }
  partial[t] = sum;
}

// == versions_published_by_an_index
#include <cuda/atomic>
extern "C" __global__ void versions_published_by_an_index(int* versions, int* index, int* y, int last) {
  cuda::atomic_ref<int, cuda::thread_scope_device> current(*index);
  int b = blockIdx.x;
  if (threadIdx.x) return;
  if (b == 0) {
    for (int v = 1; v <= last; ++v) {
      versions[2 * v] = v * v;
      versions[2 * v + 1] = -v * v;
      current.store(v, cuda::memory_order_release);
    }
  } else {
    int seen, wrong = 0;
    do {
      seen = current.load(cuda::memory_order_acquire);
      wrong += versions[2 * seen] + versions[2 * seen + 1] != 0;
    } while (seen < last);
    y[b] = 100 * wrong + versions[2 * seen];
  }
}

// == counts_become_cursors
extern "C" __global__ void counts_become_cursors(const int* keys, int* sorted) {
  __shared__ int cursor[16];
  int t = threadIdx.x, key = keys[t];
  if (t < 16) cursor[t] = 0;
  __syncthreads();
  atomicAdd(&cursor[key], 1);
  __syncthreads();
  if (t < 16) {
    int own = cursor[t], before = own;
    for (int o = 1; o < 16; o *= 2) {
      int up = __shfl_up_sync(0xffff, before, o);
      if (t >= o) before += up;
    }
    cursor[t] = before - own;
  }
  __syncthreads();
  sorted[atomicAdd(&cursor[key], 1)] = key;
}

// == lock_in_the_lowest_bit
extern "C" __global__ void lock_in_the_lowest_bit(int* words, int* payload, const int* x, int buckets) {
  if (threadIdx.x) return;
  for (int i = 0; i < 3; ++i) {
    int v = x[blockIdx.x * 3 + i], at = v % buckets;
    while (atomicOr(&words[at], 1) & 1) {}
    __threadfence();
    payload[at] += v;
    __threadfence();
    atomicAnd(&words[at], ~1);
  }
}

// == accounts_locked_in_order
extern "C" __global__ void accounts_locked_in_order(int* lock, int* balance, const int* from, const int* to,
                                                    const int* amount) {
  if (threadIdx.x) return;
  int a = from[blockIdx.x], b = to[blockIdx.x], low = min(a, b), high = max(a, b);
  if (a == b) return;
  while (atomicCAS(&lock[low], 0, 1)) {}
  while (atomicCAS(&lock[high], 0, 1)) {}
  __threadfence();
  balance[a] -= amount[blockIdx.x];
  balance[b] += amount[blockIdx.x];
  __threadfence();
  atomicExch(&lock[high], 0);
  atomicExch(&lock[low], 0);
}

// == lock_with_a_pause
extern "C" __global__ void lock_with_a_pause(int* lock, float* best, int* where, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned pause = 8;
  if (threadIdx.x % 32) return;
  while (atomicCAS(lock, 0, 1)) {
    __nanosleep(pause);
    pause = min(2 * pause, 256u);
  }
  __threadfence();
  if (x[i] > *best) {
    *best = x[i];
    *where = i;
  }
  __threadfence();
  atomicExch(lock, 0);
}

// == set_once_by_whoever_comes_first
#include <cuda/atomic>
extern "C" __global__ void set_once_by_whoever_comes_first(int* state, int* table, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> word(*state);
  int b = blockIdx.x, sum = 0;
  if (threadIdx.x) return;
  int expected = 0;
  if (word.load(cuda::memory_order_acquire) == 0 &&
      word.compare_exchange_strong(expected, 1, cuda::memory_order_relaxed)) {
    for (int i = 0; i < 8; ++i) table[i] = i * i;
    word.store(2, cuda::memory_order_release);
  }
  while (word.load(cuda::memory_order_acquire) != 2) {}
  for (int i = 0; i < 8; ++i) sum += table[i];
  y[b] = sum + b;
}

// == smoothed_in_place_through_registers
extern "C" __global__ void smoothed_in_place_through_registers(float* x, int rounds) {
  int t = threadIdx.x, n = blockDim.x;
  float* row = x + blockIdx.x * n;
  for (int r = 0; r < rounds; ++r) {
    float v = 0.25f * row[max(t - 1, 0)] + 0.5f * row[t] + 0.25f * row[min(t + 1, n - 1)];
    __syncthreads();
    row[t] = v;
    __syncthreads();
  }
}

// == leaders_of_equal_keys_reserve
extern "C" __global__ void leaders_of_equal_keys_reserve(const int* x, int* count, int* y) {
  int lane = threadIdx.x, key = x[lane] % 4, base = 0;
  unsigned peers = __match_any_sync(FULL, key);
  int leader = __ffs(peers) - 1;
  if (lane == leader) base = atomicAdd(&count[key], __popc(peers));
  base = __shfl_sync(peers, base, leader);
  y[lane] = base + __popc(peers & ((1u << lane) - 1));
}

// == scans_of_tiles_of_eight
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void scans_of_tiles_of_eight(const int* x, int* y) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (tile.meta_group_rank() % 2) return;
  y[i] = cg::inclusive_scan(tile, x[i], cg::plus<int>());
}

// == tile_whose_ragged_end_is_not_read
extern "C" __global__ void tile_whose_ragged_end_is_not_read(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x, first = blockIdx.x * 64, here = min(64, n - first);
  if (t < here) s[t] = x[first + t];
  __syncthreads();
  if (t < here) y[first + t] = s[here - 1 - t];
}

// == bytes_then_words
extern "C" __global__ void bytes_then_words(const int* x, unsigned* y) {
  __shared__ alignas(4) unsigned char bytes[64];
  int t = threadIdx.x;
  bytes[t] = x[t];
  __syncthreads();
  if (t < 16) y[t] = reinterpret_cast<const unsigned*>(bytes)[t];
}

// == words_at_any_byte
extern "C" __global__ void words_at_any_byte(const unsigned char* bytes, unsigned* y, int each) {
  unsigned v;
  memcpy(&v, bytes + 1 + threadIdx.x * each, sizeof v);
  y[threadIdx.x] = v;
}

// == counted_down_without_a_sign
extern "C" __global__ void counted_down_without_a_sign(const float* x, float* y, unsigned n) {
  float tail = 0;
  for (unsigned i = n; i-- > 0;) {
    tail = 0.5f * tail + x[threadIdx.x * n + i];
    y[threadIdx.x * n + i] = tail;
  }
}

// == matrix_rows_of_48_bytes
#include <cuda_fp16.h>
extern "C" __global__ void matrix_rows_of_48_bytes(const __half* x, unsigned* y) {
  __shared__ alignas(16) __half tile[16][24];
  int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32) tile[i / 16][i % 16] = x[i];
  __syncwarp();
  unsigned r0, r1, r2, r3;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(SMEM(&tile[lane % 16][lane / 16 * 8])) : "memory");
  y[lane] = r0;
  y[32 + lane] = r1;
  y[64 + lane] = r2;
  y[96 + lane] = r3;
}

// == matrix_tile_stored_by_two_warps
#include <cuda_fp16.h>
extern "C" __global__ void matrix_tile_stored_by_two_warps(const __half* x, unsigned* y) {
  __shared__ alignas(32) __half a[256];
  unsigned r[8];
  for (int i = threadIdx.x; i < 256; i += 64) a[i] = x[i];
  __syncthreads();
  if (threadIdx.x >= 32) return;
  asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], 16;"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
               : "r"(SMEM(a)) : "memory");
  for (int i = 0; i < 8; ++i) y[i * 32 + threadIdx.x] = r[i];
}

// == pending_bits_exchanged
extern "C" __global__ void pending_bits_exchanged(const int* x, unsigned* pending, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    atomicOr(pending, 1u << t);
  } else if (t == 0) {
    int sum = 0;
    for (unsigned done = 0; done != FULL;) {
      unsigned bits = atomicExch(pending, 0u);
      for (done |= bits; bits; bits &= bits - 1) sum += x[__ffs(bits) - 1];
    }
    *y = sum;
  }
}

// == buffer_flushed_between_barriers
extern "C" __global__ void buffer_flushed_between_barriers(const int* x, int* y, int* total, int n) {
  __shared__ int buffer[128], held;
  int t = threadIdx.x, out = 0;
  if (t == 0) held = 0;
  __syncthreads();
  for (int i = t; i < n; i += 64) {
    if (x[i] > 50) buffer[atomicAdd(&held, 1)] = x[i];
    __syncthreads();
    int kept = held;
    __syncthreads();
    if (kept > 32) {
      for (int k = t; k < kept; k += 64) y[out + k] = buffer[k];
      if (t == 0) held = 0;
      out += kept;
      __syncthreads();
    }
  }
  for (int k = t; k < held; k += 64) y[out + k] = buffer[k];
  if (t == 0) *total = out + held;
}

// == counters_of_each_pass
extern "C" __global__ void counters_of_each_pass(const int* keys, int* y) {
  __shared__ int count[3][4];
  int t = threadIdx.x, key = keys[t];
  if (t < 12) count[t / 4][t % 4] = 0;
  __syncthreads();
  for (int pass = 0; pass < 3; ++pass) {
    int digit = key >> (2 * pass) & 3, before = 0;
    atomicAdd(&count[pass][digit], 1);
    __syncthreads();
    for (int d = 0; d < digit; ++d) before += count[pass][d];
    y[pass * 64 + t] = before;
  }
}

// == count_of_a_block_over_a_ragged_row
extern "C" __global__ void count_of_a_block_over_a_ragged_row(const int* x, int* y, int n) {
  int kept = 0;
  for (int first = 0; first < n; first += blockDim.x) {
    int i = first + threadIdx.x;
    kept += __syncthreads_count(i < n && x[i] > 50);
  }
  if (threadIdx.x == 0) *y = kept;
}

// == difference_of_an_alias_behind_a_grid_barrier
#include <cooperative_groups.h>
extern "C" __global__ void difference_of_an_alias_behind_a_grid_barrier(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float left = i > 0 ? x[i - 1] : 0.0f, own = x[i];
  cooperative_groups::this_grid().sync();
  y[i] = own - left;
}

// == one_warp_leaves_and_two_meet
extern "C" __global__ void one_warp_leaves_and_two_meet(const int* x, int* y) {
  __shared__ int s[64];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, at = warp / 2 * 32 + lane;
  if (warp == 1) return;
  for (int i = 0; i < 3; ++i) {
    s[at] = x[i * 64 + at];
    BAR_SYNC(1, 64);
    y[i * 64 + at] = s[63 - at];
    BAR_SYNC(2, 64);
  }
}

// == runs_merged_between_two_arrays
extern "C" __global__ void runs_merged_between_two_arrays(int* keys) {
  __shared__ int a[64], b[64];
  int *from = a, *to = b, t = threadIdx.x;
  from[t] = keys[t];
  for (int width = 1; width < 64; width *= 2) {
    __syncthreads();
    int own = t / width * width, other = own ^ width, key = from[t], below = 0;
    for (int i = 0; i < width; ++i) below += from[other + i] < key + (other < own);
    to[min(own, other) + t - own + below] = key;
    int* swap = from;
    from = to;
    to = swap;
  }
  __syncthreads();
  keys[t] = from[t];
}
