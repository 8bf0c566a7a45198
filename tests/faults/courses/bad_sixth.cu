// Kernels with a fault, as engineers write them: votes, copies, scopes, tickets, ragged ends, launches.
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
#define MBAR_ARRIVE_AT(bar, rank) \
  asm volatile("{ .reg .b32 a; mapa.shared::cluster.u32 a, %0, %1; " \
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a]; }" ::"r"(SMEM(bar)), "r"(rank) : "memory")
#define BULK_LOAD(to, from, bytes, bar) \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" \
               ::"r"(SMEM(to)), "l"(from), "r"(bytes), "r"(SMEM(bar)) : "memory")
#define BULK_ADD(to, from, bytes) \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" \
               ::"l"(to), "r"(SMEM(from)), "r"(bytes) : "memory")
#define BAR_SYNC(name, threads) asm volatile("bar.sync %0, %1;" ::"r"(name), "r"(threads) : "memory")
#define BAR_ARRIVE(name, threads) asm volatile("bar.arrive %0, %1;" ::"r"(name), "r"(threads) : "memory")

// == argmax_tree_with_warp_barriers_only
struct Best {
  float value;
  int index;
};
extern "C" __global__ void argmax_tree_with_warp_barriers_only(const float* x, int* y) {
  __shared__ Best s[128];
  int t = threadIdx.x;
  s[t] = {x[t], t};
  __syncthreads();
  for (int o = 64; o > 0; o /= 2) {
    if (t < o && s[t + o].value > s[t].value) s[t] = s[t + o];  // BUG
    __syncwarp();
  }
  if (t == 0) *y = s[0].index;
}

// == changed_flag_reset_at_the_top
extern "C" __global__ void changed_flag_reset_at_the_top(const int* x, int* y) {
  __shared__ int s[66], changed;
  int t = threadIdx.x;
  s[t + 1] = x[t];
  if (t == 0) s[0] = s[65] = 0;
  do {
    if (t == 0) changed = 0;  // BUG
    __syncthreads();
    int old = s[t + 1], most = max(max(s[t], old), s[t + 2]);
    __syncthreads();
    s[t + 1] = most;
    if (most != old) atomicExch(&changed, 1);
    __syncthreads();
  } while (changed);  // BUG
  y[t] = s[t + 1];
}

// == shuffle_behind_a_short_circuit
extern "C" __global__ void shuffle_behind_a_short_circuit(const int* x, int* y) {
  int lane = threadIdx.x, v = x[lane];
  bool peak = lane < 31 && v > __shfl_down_sync(FULL, v, 1);  // BUG
  y[lane] = peak;
}

// == two_shuffles_of_a_conditional
extern "C" __global__ void two_shuffles_of_a_conditional(const int* x, int* y) {
  int lane = threadIdx.x, v = x[lane];
  y[lane] = v % 2 ? __shfl_up_sync(FULL, v, 1) : __shfl_down_sync(FULL, v, 1);  // BUG
}

// == count_of_the_block_in_a_ragged_loop
extern "C" __global__ void count_of_the_block_in_a_ragged_loop(const int* x, int* y, int n) {
  int kept = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) kept += __syncthreads_count(x[i] > 50);  // BUG
  __syncthreads();  // BUG
  if (threadIdx.x == 0) *y = kept;
}

// == role_with_one_barrier_more
extern "C" __global__ void role_with_one_barrier_more(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  switch (t / 32) {
    case 0:
      s[t] = x[t];
      __syncthreads();  // BUG
      s[t] += s[t + 32];
      break;
    default:
      s[t] = 2 * x[t];
  }
  __syncthreads();  // BUG
  y[t] = s[63 - t];
}

// == arrive_and_sync_with_different_counts
extern "C" __global__ void arrive_and_sync_with_different_counts(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 64) {
    s[t] = x[t];
    BAR_ARRIVE(1, 64);  // BUG
  } else {
    BAR_SYNC(1, 96);  // BUG
    y[t - 64] = s[t - 64] + s[t - 32];
  }
}

// == ring_whose_slots_are_never_offered
extern "C" __global__ void ring_whose_slots_are_never_offered(const int* x, int* y, int tiles) {
  __shared__ int ring[2][32];
  int lane = threadIdx.x % 32;
  for (int i = 0; i < tiles; ++i) {
    int stage = i % 2;
    if (threadIdx.x < 32) {
      BAR_SYNC(3 + stage, 64);  // BUG
      ring[stage][lane] = x[i * 32 + lane];
      BAR_ARRIVE(1 + stage, 64);
    } else {
      BAR_SYNC(1 + stage, 64);  // BUG
      y[i * 32 + lane] = ring[stage][31 - lane];
      BAR_ARRIVE(3 + stage, 64);
    }
  }
}

// == third_warp_reads_without_meeting
extern "C" __global__ void third_warp_reads_without_meeting(const int* x, int* y) {
  __shared__ int s[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (warp == 0) {
    s[lane] = x[lane];  // BUG
    BAR_SYNC(1, 64);
  } else if (warp == 1) {
    BAR_SYNC(1, 64);
    y[lane] = s[31 - lane];
  } else {
    y[32 + lane] = s[lane ^ 1];  // BUG
  }
}

// == scratch_read_by_a_warp_that_was_not_told
extern "C" __global__ void scratch_read_by_a_warp_that_was_not_told(const int* x, int* scratch, int* y) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (warp == 0) {
    scratch[lane] = 3 * x[lane];  // BUG
    BAR_ARRIVE(1, 64);
  } else if (warp == 1) {
    BAR_SYNC(1, 64);
    y[lane] = scratch[31 - lane];
    BAR_ARRIVE(3, 64);
  } else if (warp == 2) {
    BAR_SYNC(3, 64);
    y[32 + lane] = scratch[lane];
  } else {
    y[64 + lane] = scratch[lane ^ 1];  // BUG
  }
}

// == group_sum_in_a_branch_of_its_lanes
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void group_sum_in_a_branch_of_its_lanes(const int* x, int* y) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int v = x[threadIdx.x], sum = 0;
  if (v > 50) sum = cg::reduce(tile, v, cg::plus<int>());  // BUG
  y[threadIdx.x] = sum;
}

// == second_copy_of_a_group_not_awaited
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void second_copy_of_a_group_not_awaited(const float* x, float* y) {
  __shared__ alignas(16) float a[64], b[64];
  auto block = cg::this_thread_block();
  int t = threadIdx.x;
  cg::memcpy_async(block, a, x, sizeof(float) * 64);
  cg::memcpy_async(block, b, x + 64, sizeof(float) * 64);  // BUG
  cg::wait_prior<1>(block);
  y[t] = a[63 - t] * b[63 - t];  // BUG
}

// == cluster_words_read_after_the_arrival_alone
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) cluster_words_read_after_the_arrival_alone(const int* x, int* y) {
  __shared__ int mine[32];
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  mine[t] = x[i];  // BUG
  cluster.barrier_arrive();
  int other = *cluster.map_shared_rank(&mine[t], cluster.block_rank() ^ 1);  // BUG
  cluster.barrier_wait();
  y[i] = other;
  cluster.sync();
}

// == words_sent_to_the_peer_half_of_them_expected
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) words_sent_to_the_peer_half_of_them_expected(const int* x, int* y) {
  __shared__ int inbox[64];
  __shared__ unsigned long long bar;
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (t == 0) {
    MBAR_INIT(&bar, 1);
    MBAR_EXPECT(&bar, 128);
  }
  cluster.sync();
  unsigned peer = cluster.block_rank() ^ 1, to, at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(SMEM(&inbox[t])), "r"(peer));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(SMEM(&bar)), "r"(peer));
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"  // BUG
               ::"r"(to), "r"(x[i]), "r"(at) : "memory");  // BUG
  MBAR_WAIT(&bar, 0);
  y[i] = inbox[63 - t];  // BUG
  cluster.sync();
}

// == peer_read_at_the_very_end
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) peer_read_at_the_very_end(const int* x, int* bins, int* both) {
  __shared__ int mine[32];
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, rank = cluster.block_rank();
  mine[t] = 0;
  cluster.sync();
  int bin = x[blockIdx.x * 32 + t] % 64;
  atomicAdd(cluster.map_shared_rank(mine, bin / 32) + bin % 32, 1);
  cluster.sync();
  bins[rank * 32 + t] = mine[t];
  both[rank * 32 + t] = mine[t] + cluster.map_shared_rank(mine, rank ^ 1)[t];  // BUG
}

// == peer_arrives_before_the_barrier_is_there
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) peer_arrives_before_the_barrier_is_there(const int* x, int* y) {
  __shared__ unsigned long long bar;
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&bar, 32);  // BUG
  __syncthreads();
  if (cluster.block_rank() == 1) {
    MBAR_ARRIVE_AT(&bar, 0);  // BUG
  } else {
    MBAR_WAIT(&bar, 0);
    y[t] = x[t];
  }
  cluster.sync();
}

// == copies_awaited_by_the_first_warp
#include <cuda_pipeline.h>
extern "C" __global__ void copies_awaited_by_the_first_warp(const float4* x, float* y) {
  __shared__ float4 tile[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &x[t], 16);  // BUG
  __pipeline_commit();
  if (t < 32) __pipeline_wait_prior(0);
  __syncthreads();
  y[t] = tile[63 - t].x;  // BUG
}

// == last_turns_commit_no_group
#include <cuda_pipeline.h>
extern "C" __global__ void last_turns_commit_no_group(const float* x, float* y, int tiles) {
  __shared__ float ring[3][64];
  int t = threadIdx.x;
  for (int s = 0; s < 2; ++s) {
    __pipeline_memcpy_async(&ring[s][t], &x[s * 64 + t], 4);
    __pipeline_commit();
  }
  for (int i = 0; i < tiles; ++i) {
    if (i + 2 < tiles) {
      __pipeline_memcpy_async(&ring[(i + 2) % 3][t], &x[(i + 2) * 64 + t], 4);  // BUG
      __pipeline_commit();
    }
    __pipeline_wait_prior(2);
    __syncthreads();
    y[i * 64 + t] = ring[i % 3][63 - t];  // BUG
    __syncthreads();
  }
}

// == block_barrier_in_place_of_that_of_the_copy
#include <cooperative_groups.h>
#include <cuda/barrier>
extern "C" __global__ void block_barrier_in_place_of_that_of_the_copy(const float* x, float* y) {
  __shared__ alignas(16) float s[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  auto block = cooperative_groups::this_thread_block();
  int t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  block.sync();
  cuda::memcpy_async(block, s, x, sizeof(float) * 64, bar);  // BUG
  block.sync();
  y[t] = s[63 - t];  // BUG
  bar.arrive_and_wait();
}

// == stage_released_before_it_is_read
#include <cooperative_groups.h>
#include <cuda/pipeline>
extern "C" __global__ void stage_released_before_it_is_read(const float* x, float* y, int tiles) {
  __shared__ float stage[2][32];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(cooperative_groups::this_thread_block(), &state, role);
  int lane = threadIdx.x % 32;
  for (int i = 0; i < tiles; ++i)
    if (role == cuda::pipeline_role::producer) {
      pipe.producer_acquire();
      cuda::memcpy_async(&stage[i % 2][lane], &x[i * 32 + lane], sizeof(float), pipe);  // BUG
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      pipe.consumer_release();
      y[i * 32 + lane] = stage[i % 2][31 - lane];  // BUG
    }
}

// == producer_never_acquires
#include <cooperative_groups.h>
#include <cuda/pipeline>
extern "C" __global__ void producer_never_acquires(const float* x, float* y, int tiles) {
  __shared__ float stage[2][32];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(cooperative_groups::this_thread_block(), &state, role);
  int lane = threadIdx.x % 32;
  for (int i = 0; i < tiles; ++i)
    if (role == cuda::pipeline_role::producer) {
      cuda::memcpy_async(&stage[i % 2][lane], &x[i * 32 + lane], sizeof(float), pipe);  // BUG
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      y[i * 32 + lane] = stage[i % 2][31 - lane];  // BUG
      pipe.consumer_release();
    }
}

// == last_bulk_tile_beyond_the_row
extern "C" __global__ void last_bulk_tile_beyond_the_row(const float* x, float* y, int n) {
  alignas(128) __shared__ float tile[32];
  __shared__ unsigned long long bar;
  int t = threadIdx.x, first = blockIdx.x * 32;
  if (t == 0) {
    MBAR_INIT(&bar, 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    MBAR_EXPECT(&bar, 128);
    BULK_LOAD(tile, x + first, 128, &bar);  // BUG
  }
  __syncthreads();
  MBAR_WAIT(&bar, 0);
  if (first + t < n) y[first + t] = 2 * tile[t];
}

// == bulk_sums_read_before_all_blocks_added
extern "C" __global__ void bulk_sums_read_before_all_blocks_added(const float* x, float* sum, float* y) {
  alignas(128) __shared__ float tile[32];
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  tile[t] = x[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    BULK_ADD(sum, tile, 128);  // BUG
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
  __syncthreads();
  y[i] = x[i] / sum[t];  // BUG
}

// == every_thread_expects_the_bytes
extern "C" __global__ void every_thread_expects_the_bytes(const float* x, float* y) {
  alignas(128) __shared__ float tile[64];
  __shared__ unsigned long long bar;
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&bar, 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  MBAR_EXPECT(&bar, 256);  // BUG
  if (t == 0) BULK_LOAD(tile, x, 256, &bar);
  MBAR_WAIT(&bar, 0);
  y[t] = tile[63 - t];
}

// == one_warp_waits_for_the_copy
extern "C" __global__ void one_warp_waits_for_the_copy(const float* x, float* y) {
  alignas(128) __shared__ float tile[64];
  __shared__ unsigned long long bar;
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&bar, 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    MBAR_EXPECT(&bar, 256);
    BULK_LOAD(tile, x, 256, &bar);  // BUG
  }
  __syncthreads();
  if (t < 32) MBAR_WAIT(&bar, 0);
  y[t] = tile[63 - t];  // BUG
}

// == warps_arrive_where_threads_are_counted
extern "C" __global__ void warps_arrive_where_threads_are_counted(const int* x, int* y) {
  __shared__ int s[64];
  __shared__ unsigned long long bar;
  int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&bar, 64);
  __syncthreads();
  s[t] = x[t];
  __syncwarp();
  if (t % 32 == 0) MBAR_ARRIVE(&bar);
  MBAR_WAIT(&bar, 0);  // BUG
  y[t] = s[63 - t];
}

// == scratch_stored_after_the_mbarrier_arrival
extern "C" __global__ void scratch_stored_after_the_mbarrier_arrival(const int* x, int* scratch, int* y) {
  __shared__ unsigned long long told;
  int lane = threadIdx.x % 32, first = blockIdx.x * 32;
  if (threadIdx.x == 0) MBAR_INIT(&told, 32);
  __syncthreads();
  if (threadIdx.x < 32) {
    MBAR_ARRIVE(&told);
    scratch[first + lane] = 5 * x[first + lane];  // BUG
  } else {
    MBAR_WAIT(&told, 0);
    y[first + lane] = scratch[first + 31 - lane];  // BUG
  }
}

// == prefix_stored_over_the_aggregate
extern "C" __global__ void prefix_stored_over_the_aggregate(const int* x, int* value, int* state, int* y) {
  int b = blockIdx.x, before = 0;
  if (threadIdx.x) return;
  value[b] = x[b];
  __threadfence();
  atomicExch(&state[b], 1);
  for (int p = b - 1; p >= 0;) {
    int seen = atomicAdd(&state[p], 0);
    if (seen == 0) continue;
    __threadfence();
    before += value[p];  // BUG
    if (seen == 2) break;
    --p;
  }
  value[b] = before + x[b];  // BUG
  __threadfence();
  atomicExch(&state[b], 2);
  y[b] = before;
}

// == critical_section_entered_without_the_lock
extern "C" __global__ void critical_section_entered_without_the_lock(const float* x, float* sum, int* lock) {
  if (threadIdx.x) return;
  bool mine = atomicCAS(lock, 0, 1) == 0;
  __threadfence();
  *sum += x[blockIdx.x];  // BUG
  __threadfence();
  if (mine) atomicExch(lock, 0);
}

// == sequence_lock_of_plain_words
extern "C" __global__ void sequence_lock_of_plain_words(int* pair, int* sequence, int* y, int rounds) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    for (int i = 1; i <= rounds; ++i) {
      atomicAdd(sequence, 1);
      __threadfence();
      pair[0] = i;  // BUG
      pair[1] = -i;  // BUG
      __threadfence();
      atomicAdd(sequence, 1);
    }
  } else {
    int before, after, a, b;
    do {
      before = atomicAdd(sequence, 0);
      __threadfence();
      a = pair[0];  // BUG
      b = pair[1];  // BUG
      __threadfence();
      after = atomicAdd(sequence, 0);
    } while (before % 2 || before != after || before < 2 * rounds);
    *y = a + b;
  }
}

// == node_linked_after_it_is_published
struct Node {
  int next, value;
};
extern "C" __global__ void node_linked_after_it_is_published(Node* nodes, int* head, const int* x, int* y) {
  int b = blockIdx.x, sum = 0;
  if (threadIdx.x) return;
  nodes[b].value = x[b];
  __threadfence();
  int old = atomicExch(head, b);
  __threadfence();
  nodes[b].next = old;  // BUG
  for (int at = old; at >= 0; at = nodes[at].next) sum += nodes[at].value;  // BUG
  y[b] = sum;
}

// == task_counted_before_its_result
extern "C" __global__ void task_counted_before_its_result(const int* x, int* result, int* done, int* y) {
  int b = blockIdx.x, last = gridDim.x - 1, sum = 0;
  if (threadIdx.x) return;
  if (b < last) {
    __threadfence();
    atomicAdd(done, 1);
    result[b] = x[b] * x[b];  // BUG
    return;
  }
  while (atomicAdd(done, 0) < last) {}
  __threadfence();
  for (int i = 0; i < last; ++i) sum += result[i];  // BUG
  *y = sum;
}

// == flag_of_the_first_warp_for_the_block
extern "C" __global__ void flag_of_the_first_warp_for_the_block(const int* x, int* data, int* flag, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = 2 * x[t];  // BUG
    __threadfence();
    __syncwarp();
    if (t == 0) atomicExch(flag, 1);
  } else {
    if (t == 0) {
      while (atomicAdd(flag, 0) == 0) {}
      __threadfence();
    }
    __syncthreads();
    y[t] = data[63 - t];  // BUG
  }
}

// == last_reference_dropped_relaxed
#include <cuda/atomic>
extern "C" __global__ void last_reference_dropped_relaxed(const int* x, int* slot, int* count, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> references(*count);
  int b = blockIdx.x, sum = 0;
  if (threadIdx.x) return;
  slot[b] = x[b] + 1;  // BUG
  if (references.fetch_sub(1, cuda::memory_order_relaxed) > 1) return;
  for (int i = 0; i < static_cast<int>(gridDim.x); ++i) sum += slot[i];  // BUG
  *y = sum;
}

// == ranks_pushed_into_the_array_they_are_read_from
extern "C" __global__ void ranks_pushed_into_the_array_they_are_read_from(const int* edges, float* rank, int degree) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int e = 0; e < degree; ++e) atomicAdd(&rank[edges[i * degree + e]], 0.2f * rank[i]);  // BUG
}

// == distances_relaxed_without_atomics
extern "C" __global__ void distances_relaxed_without_atomics(const int* from, const int* to, const int* length,
                                                             int* distance, int edges) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  int candidate = distance[from[e]] + length[e];  // BUG
  if (candidate < distance[to[e]]) distance[to[e]] = candidate;  // BUG
}

// == private_bins_one_too_few
extern "C" __global__ void private_bins_one_too_few(const int* x, int* y, int n) {
  __shared__ int bins[64 * 8 + 1];
  int t = threadIdx.x;
  for (int b = t; b < 64 * 8 + 1; b += 64) bins[b] = 0;
  __syncthreads();
  for (int i = 0; i < n; ++i) ++bins[t * 8 + min(x[t * n + i] / 10, 8)];  // BUG
  __syncthreads();
  for (int b = 0; b < 8; ++b) y[t * 8 + b] = bins[t * 8 + b];
}

// == life_in_one_array
extern "C" __global__ void life_in_one_array(unsigned char* cells, int n) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y, alive = 0;
  for (int dy = n - 1; dy <= n + 1; ++dy)
    for (int dx = n - 1; dx <= n + 1; ++dx) alive += cells[(row + dy) % n * n + (col + dx) % n];  // BUG
  bool lives = alive == 3 || (alive == 4 && cells[row * n + col]);  // BUG
  cells[row * n + col] = lives;  // BUG
}

// == seam_costs_in_one_row
extern "C" __global__ void seam_costs_in_one_row(const int* energy, int* y, int rows) {
  __shared__ int cost[66];
  int t = threadIdx.x;
  cost[t + 1] = energy[t];
  if (t == 0) cost[0] = cost[65] = 1 << 30;
  for (int r = 1; r < rows; ++r) {
    __syncthreads();
    int least = min(min(cost[t], cost[t + 1]), cost[t + 2]);  // BUG
    cost[t + 1] = least + energy[r * 64 + t];  // BUG
  }
  y[t] = cost[t + 1];
}

// == columns_blurred_before_all_rows_are
extern "C" __global__ void columns_blurred_before_all_rows_are(const float* x, float* y) {
  __shared__ float a[8][8], b[8][8];
  int c = threadIdx.x, r = threadIdx.y;
  a[r][c] = x[r * 8 + c];
  __syncthreads();
  b[r][c] = a[r][max(c - 1, 0)] + a[r][c] + a[r][min(c + 1, 7)];  // BUG
  y[r * 8 + c] = b[max(r - 1, 0)][c] + b[r][c] + b[min(r + 1, 7)][c];  // BUG
}

// == pivot_moved_while_others_compare
extern "C" __global__ void pivot_moved_while_others_compare(const int* x, int* y) {
  __shared__ int pivot;
  int t = threadIdx.x, v = x[t];
  if (t == 0) pivot = 50;
  __syncthreads();
  for (int step = 25; step > 0; step /= 2) {
    int below = __syncthreads_count(v < pivot);  // BUG
    if (t == 0) pivot += below < 32 ? step : -step;  // BUG
  }
  __syncthreads();
  y[t] = v - pivot;
}

// == counters_cleared_while_offsets_are_read
extern "C" __global__ void counters_cleared_while_offsets_are_read(const int* keys, int* y) {
  __shared__ int count[4];
  int t = threadIdx.x, key = keys[t];
  for (int pass = 0; pass < 3; ++pass) {
    if (t < 4) count[t] = 0;  // BUG
    __syncthreads();
    int digit = key >> (2 * pass) & 3, before = 0;
    atomicAdd(&count[digit], 1);
    __syncthreads();
    for (int d = 0; d < digit; ++d) before += count[d];  // BUG
    y[pass * 64 + t] = before;
  }
}

// == barrier_between_the_loads_of_two_tiles
extern "C" __global__ void barrier_between_the_loads_of_two_tiles(const float* a, const float* b, float* c, int n) {
  __shared__ float as[8][8], bs[8][8];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 8 + tx;
  float sum = 0;
  for (int k = 0; k < n; k += 8) {
    as[ty][tx] = a[row * n + k + tx];
    __syncthreads();
    bs[ty][tx] = b[(k + ty) * n + col];  // BUG
    for (int i = 0; i < 8; ++i) sum += as[ty][i] * bs[i][tx];  // BUG
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// == packed_triangle_without_its_diagonal
extern "C" __global__ void packed_triangle_without_its_diagonal(const float* x, float* packed, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  for (int j = 0; j <= i; ++j) packed[i * (i + 1) / 2 + j] = x[i] * x[j];  // BUG
}

// == bucket_of_a_value_beyond_the_last_edge
extern "C" __global__ void bucket_of_a_value_beyond_the_last_edge(const float* edges, const float* x, float* y,
                                                                  int n) {
  float v = x[blockIdx.x * blockDim.x + threadIdx.x];
  int low = 0, high = n;
  while (low < high) {
    int mid = (low + high) / 2;
    if (edges[mid] < v)
      low = mid + 1;
    else
      high = mid;
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = edges[low] - v;  // BUG
}

// == bilinear_sample_of_the_last_pixel
extern "C" __global__ void bilinear_sample_of_the_last_pixel(const float* image, float* out, int n, int m) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  float fx = col * (n - 1.0f) / (m - 1), fy = row * (n - 1.0f) / (m - 1);
  int x0 = static_cast<int>(fx), y0 = static_cast<int>(fy);
  float ax = fx - x0, ay = fy - y0;
  const float* p = image + y0 * n + x0;
  float top = p[0] * (1 - ax) + p[1] * ax;  // BUG
  float bottom = p[n] * (1 - ax) + p[n + 1] * ax;  // BUG
  out[row * m + col] = top * (1 - ay) + bottom * ay;
}

// == row_number_kept_in_a_byte
extern "C" __global__ void row_number_kept_in_a_byte(const float* x, float* y, int rows, int cols) {
  unsigned char row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int c = 0; c < cols; ++c) sum += x[row * cols + c];
  y[row] = sum;  // BUG
}

// == padding_not_counted_in_the_launch
extern "C" __global__ void padding_not_counted_in_the_launch(const float* x, float* y) {
  extern __shared__ float tile[];
  int c = threadIdx.x, r = threadIdx.y, n = blockDim.x, pitch = n + 1;
  tile[r * pitch + c] = x[r * n + c];  // BUG
  __syncthreads();
  y[r * n + c] = tile[c * pitch + r];  // BUG
}

// == inverse_of_a_permutation_counted_from_one
extern "C" __global__ void inverse_of_a_permutation_counted_from_one(const int* order, int* y, int n) {
  int inverse[6], t = threadIdx.x;
  for (int i = 0; i < n; ++i) inverse[i] = -1;
  for (int i = 0; i < n; ++i) inverse[order[t * n + i]] = i;  // BUG
  for (int i = 0; i < n; ++i) y[t * n + i] = inverse[i];
}

// == rows_of_thirty_as_vectors
extern "C" __global__ void rows_of_thirty_as_vectors(const float* x, float* y, int cols) {
  int r = threadIdx.x;
  const float4* row = reinterpret_cast<const float4*>(x + r * cols);
  float sum = 0;
  for (int c = 0; c < cols / 4; ++c) {
    float4 v = row[c];  // BUG
    sum += v.x + v.y + v.z + v.w;
  }
  y[r] = sum;
}

// == matrix_rows_of_36_bytes
#include <cuda_fp16.h>
extern "C" __global__ void matrix_rows_of_36_bytes(const __half* x, unsigned* y) {
  __shared__ alignas(16) __half tile[16][18];
  int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32) tile[i / 16][i % 16] = x[i];
  __syncwarp();
  unsigned r0, r1, r2, r3;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"  // BUG
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
               : "r"(SMEM(&tile[lane % 16][lane / 16 * 8])) : "memory");  // BUG
  y[lane] = r0 ^ r1 ^ r2 ^ r3;
}

// == matrix_tiles_stored_by_another_warp
#include <cuda_fp16.h>
extern "C" __global__ void matrix_tiles_stored_by_another_warp(const __half* x, unsigned* y) {
  __shared__ alignas(32) __half a[256];
  unsigned r[8];
  for (int i = threadIdx.x; i < 256; i += 64) a[i] = x[i];  // BUG
  if (threadIdx.x >= 32) return;
  asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], 16;"  // BUG
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
               : "r"(SMEM(a)) : "memory");  // BUG
  for (int i = 0; i < 8; ++i) y[i * 32 + threadIdx.x] = r[i];
}

// == pairs_without_a_test_of_the_second
extern "C" __global__ void pairs_without_a_test_of_the_second(const float* x, float* y, int n) {
  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  y[i] = 2 * x[i];
  y[i + 1] = 2 * x[i + 1];  // BUG
}

// == every_layer_of_the_block_does_it
extern "C" __global__ void every_layer_of_the_block_does_it(const float* x, float* y) {
  int i = threadIdx.y * blockDim.x + threadIdx.x;
  y[i] = 0.5f * y[i] + x[i];  // BUG
}

// == total_of_one_block_launched_with_two
extern "C" __global__ void total_of_one_block_launched_with_two(const float* x, float* total) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 64 + t];
  for (int o = 32; o > 0; o /= 2) {
    __syncthreads();
    if (t < o) s[t] += s[t + o];
  }
  if (t == 0) *total += s[0];  // BUG
}

// == index_of_a_pair_that_was_skipped
struct Pair {
  float value;
  int index;
};
extern "C" __global__ void index_of_a_pair_that_was_skipped(const float* x, int* y) {
  __shared__ Pair s[64];
  int t = threadIdx.x;
  s[t].value = x[t];
  if (x[t] > 0) s[t].index = t;
  for (int o = 32; o > 0; o /= 2) {
    __syncthreads();
    if (t < o && s[t + o].value < s[t].value) s[t] = s[t + o];  // BUG
  }
  if (t == 0) *y = s[0].index;  // BUG
}

// == symmetric_matrix_filled_below_only
extern "C" __global__ void symmetric_matrix_filled_below_only(const float* packed, float* y, int n) {
  float m[16], sum = 0;
  const float* mine = packed + threadIdx.x * n * (n + 1) / 2;
  for (int r = 0; r < n; ++r)
    for (int c = 0; c <= r; ++c) m[r * n + c] = mine[r * (r + 1) / 2 + c];
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c) sum += (r + 1) * m[r * n + c];  // BUG
  y[threadIdx.x] = sum;  // BUG
}

// == nearest_of_an_empty_list
extern "C" __global__ void nearest_of_an_empty_list(const float* x, int* y, int n, float radius) {
  int list[8], count = 0, t = threadIdx.x;
  for (int j = 0; j < n; ++j)
    if (j != t && fabsf(x[t] - x[j]) < radius) list[count++ % 8] = j;
  int best = list[0];  // BUG
  for (int k = 1; k < min(count, 8); ++k)
    if (fabsf(x[t] - x[list[k]]) < fabsf(x[t] - x[best])) best = list[k];
  y[t] = best;  // BUG
}

// == argmax_by_an_atomic_and_a_plain_read
extern "C" __global__ void argmax_by_an_atomic_and_a_plain_read(const int* x, int* best, int* where) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicMax(best, x[i]);  // BUG
  if (*best == x[i]) *where = i;  // BUG
}

// == pending_bits_read_and_cleared
extern "C" __global__ void pending_bits_read_and_cleared(const int* x, unsigned* pending, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    if (x[t] > 50) atomicOr(pending, 1u << t);  // BUG
  } else if (t == 0) {
    unsigned bits = *pending;  // BUG
    *pending = 0;  // BUG
    *y = __popc(bits);
  }
}

// == bytes_read_as_words_before_all_are_there
extern "C" __global__ void bytes_read_as_words_before_all_are_there(const int* x, unsigned* y) {
  __shared__ alignas(4) unsigned char bytes[64];
  int t = threadIdx.x;
  bytes[t] = x[t];  // BUG
  if (t < 16) y[t] = reinterpret_cast<const unsigned*>(bytes)[t];  // BUG
}

// == difference_with_the_left_of_an_alias
extern "C" __global__ void difference_with_the_left_of_an_alias(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float left = i > 0 ? x[i - 1] : 0.0f;  // BUG
  y[i] = x[i] - left;  // BUG
}

// == leader_skips_its_own_broadcast
extern "C" __global__ void leader_skips_its_own_broadcast(const int* x, int* count, int* y) {
  int lane = threadIdx.x, key = x[lane] % 4, base = 0;
  unsigned peers = __match_any_sync(FULL, key);
  int leader = __ffs(peers) - 1;
  if (lane == leader)
    base = atomicAdd(&count[key], __popc(peers));
  else
    base = __shfl_sync(peers, base, leader);  // BUG
  y[lane] = base + __popc(peers & ((1u << lane) - 1));
}

// == continue_before_the_vote
extern "C" __global__ void continue_before_the_vote(const int* x, int* y, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    int v = x[i * 32 + threadIdx.x];
    if (v < 20) continue;
    count += __popc(__ballot_sync(FULL, v > 50));  // BUG
  }
  y[threadIdx.x] = count;
}

// == rows_then_columns_of_a_warp_tile
extern "C" __global__ void rows_then_columns_of_a_warp_tile(const int* x, int* y) {
  __shared__ int tile[2][256];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int j = 0; j < 8; ++j) tile[warp][j * 32 + lane] = x[warp * 256 + j * 32 + lane];  // BUG
  for (int j = 0; j < 8; ++j) y[warp * 256 + j * 32 + lane] = tile[warp][lane * 8 + j];  // BUG
}

// == centroids_summed_plainly
extern "C" __global__ void centroids_summed_plainly(const float* x, float* centre) {
  __shared__ float sum[4];
  __shared__ int count[4];
  int t = threadIdx.x, nearest = 0;
  if (t < 4) sum[t] = 0, count[t] = 0;
  for (int c = 1; c < 4; ++c)
    if (fabsf(x[t] - centre[c]) < fabsf(x[t] - centre[nearest])) nearest = c;
  __syncthreads();
  sum[nearest] += x[t];  // BUG
  ++count[nearest];  // BUG
  __syncthreads();
  if (t < 4 && count[t] > 0) centre[t] = sum[t] / count[t];
}

// == runs_merged_without_a_barrier_between
extern "C" __global__ void runs_merged_without_a_barrier_between(int* keys) {
  __shared__ int a[64], b[64];
  int *from = a, *to = b, t = threadIdx.x;
  from[t] = keys[t];
  __syncthreads();
  for (int width = 1; width < 64; width *= 2) {
    int own = t / width * width, other = own ^ width, key = from[t], below = 0;  // BUG
    for (int i = 0; i < width; ++i) below += from[other + i] < key + (other < own);  // BUG
    to[min(own, other) + t - own + below] = key;  // BUG
    int* swap = from;
    from = to;
    to = swap;
  }
  __syncthreads();
  keys[t] = from[t];
}

// == one_row_of_coordinates_in_many_threads
extern "C" __global__ void one_row_of_coordinates_in_many_threads(const int* row, const int* col, const float* v,
                                                                  const float* x, float* y, int nonzeros) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nonzeros) y[row[i]] += v[i] * x[col[i]];  // BUG
}

// == frontier_size_cleared_while_others_append
#include <cooperative_groups.h>
extern "C" __global__ void frontier_size_cleared_while_others_append(const int* edges, int* seen, int* queue,
                                                                     int* size, int nodes, int degree) {
  auto grid = cooperative_groups::this_grid();
  int rank = grid.thread_rank(), now = 0;
  while (size[now] > 0) {
    for (int i = rank; i < size[now] * degree; i += grid.size()) {
      int to = edges[queue[now * nodes + i / degree] * degree + i % degree];
      if (atomicExch(&seen[to], 1) == 0) queue[(now ^ 1) * nodes + atomicAdd(&size[now ^ 1], 1)] = to;  // BUG
    }
    grid.sync();
    if (rank == 0) size[now] = 0;  // BUG
    now ^= 1;
  }
}

// == buffer_flushed_while_others_push
extern "C" __global__ void buffer_flushed_while_others_push(const int* x, int* y, int* total, int n) {
  __shared__ int buffer[128], held;
  int t = threadIdx.x, out = 0;
  if (t == 0) held = 0;
  __syncthreads();
  for (int i = t; i < n; i += 64) {
    if (x[i] > 50) buffer[atomicAdd(&held, 1)] = x[i];  // BUG
    __syncthreads();
    int kept = held;  // BUG
    if (kept > 32) {
      for (int k = t; k < kept; k += 64) y[out + k] = buffer[k];
      __syncthreads();
      if (t == 0) held = 0;  // BUG
      out += kept;
    }
  }
  if (t == 0) *total = out;
}

// == triangular_solve_without_a_fence
extern "C" __global__ void triangular_solve_without_a_fence(const float* l, const float* b, float* y,
                                                            volatile int* ready, int n) {
  int row = blockIdx.x;
  if (threadIdx.x) return;
  float sum = b[row];
  for (int c = 0; c < row; ++c) {
    while (ready[c] == 0) {}
    sum -= l[row * n + c] * y[c];  // BUG
  }
  y[row] = sum / l[row * n + row];  // BUG
  ready[row] = 1;
}

// == transposed_with_the_wrong_pitch
extern "C" __global__ void transposed_with_the_wrong_pitch(const float* x, float* y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) y[i % cols * cols + i / cols] = x[i];  // BUG
}

// == weights_loaded_by_a_block_too_small
extern "C" __global__ void weights_loaded_by_a_block_too_small(const float* x, const float* weights, float* y) {
  __shared__ float w[25];
  int t = threadIdx.x;
  if (t < 25) w[t] = weights[t];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 25; ++k) sum += w[k] * x[t + k];  // BUG
  y[t] = sum;
}

// == arena_without_a_limit
extern "C" __global__ void arena_without_a_limit(const int* x, int* arena, int* used) {
  int need = x[blockIdx.x * blockDim.x + threadIdx.x] % 8, first = atomicAdd(used, need);
  for (int k = 0; k < need; ++k) arena[first + k] = need;  // BUG
}

// == probing_a_full_table
extern "C" __global__ void probing_a_full_table(const int* keys, int* table, int room) {
  int key = keys[blockIdx.x * blockDim.x + threadIdx.x];
  for (int slot = key % room;; slot = (slot + 1) % room) {  // BUG
    int old = atomicCAS(&table[slot], -1, key);  // BUG
    if (old == -1 || old == key) return;  // BUG
  }
}

// == bisection_that_never_shrinks
extern "C" __global__ void bisection_that_never_shrinks(const float* edges, const float* x, int* y, int n) {
  float v = x[threadIdx.x];
  int low = 0, high = n - 1;
  while (low < high) {  // BUG
    int mid = (low + high) / 2;  // BUG
    if (edges[mid] <= v)  // BUG
      low = mid;  // BUG
    else
      high = mid - 1;  // BUG
  }
  y[threadIdx.x] = low;
}
