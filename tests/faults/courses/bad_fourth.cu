// Kernels with a fault, as blogs, courses and libraries of models have them: scopes, stages, groups, ends of rows.
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
#define BULK_STORE(to, from, bytes) \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" \
               ::"l"(to), "r"(SMEM(from)), "r"(bytes) : "memory")

// == softmax_buffer_reused_for_the_sum
extern "C" __global__ void softmax_buffer_reused_for_the_sum(const float* x, float* y, int cols) {
  __shared__ float slot[2];
  const float* row = x + blockIdx.x * cols;
  int t = threadIdx.x, warp = t / 32, lane = t % 32;
  float most = -1e30f, sum = 0;
  for (int c = t; c < cols; c += 64) most = fmaxf(most, row[c]);
  for (int o = 16; o; o /= 2) most = fmaxf(most, __shfl_xor_sync(FULL, most, o));
  if (lane == 0) slot[warp] = most;
  __syncthreads();
  most = fmaxf(slot[0], slot[1]);  // BUG
  for (int c = t; c < cols; c += 64) sum += expf(row[c] - most);
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(FULL, sum, o);
  if (lane == 0) slot[warp] = sum;  // BUG
  __syncthreads();
  sum = slot[0] + slot[1];
  for (int c = t; c < cols; c += 64) y[blockIdx.x * cols + c] = expf(row[c] - most) / sum;
}

// == key_tile_replaced_while_scores_are_summed
extern "C" __global__ void key_tile_replaced_while_scores_are_summed(const float* q, const float* k,
    float* y, int tiles) {
  __shared__ float keys[16][9];
  int t = threadIdx.x;
  float mine[8], best = -1e30f;
  for (int d = 0; d < 8; ++d) mine[d] = q[t * 8 + d];
  for (int tile = 0; tile < tiles; ++tile) {
    for (int i = t; i < 128; i += 64) keys[i / 8][i % 8] = k[tile * 128 + i];  // BUG
    __syncthreads();
    for (int j = 0; j < 16; ++j) {
      float score = 0;
      for (int d = 0; d < 8; ++d) score += mine[d] * keys[j][d];  // BUG
      best = fmaxf(best, score);
    }
  }
  y[t] = best;
}

// == scan_offsets_used_at_once
extern "C" __global__ void scan_offsets_used_at_once(const int* x, int* y) {
  __shared__ int sums[4];
  int t = threadIdx.x, warp = t / 32, lane = t % 32, v = x[t];
  for (int o = 1; o < 32; o *= 2) {
    int up = __shfl_up_sync(FULL, v, o);
    if (lane >= o) v += up;
  }
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  if (t < 4) {
    int s = sums[t];
    for (int o = 1; o < 4; o *= 2) {
      int up = __shfl_up_sync(0xfu, s, o);
      if (t >= o) s += up;
    }
    sums[t] = s;  // BUG
  }
  y[t] = v + (warp > 0 ? sums[warp - 1] : 0);  // BUG
}

// == bin_of_the_largest_value
extern "C" __global__ void bin_of_the_largest_value(const float* x, int* bins, int n) {
  __shared__ int mine[16];
  int t = threadIdx.x;
  if (t < 16) mine[t] = 0;
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) atomicAdd(&mine[static_cast<int>(x[i] * 16.0f)], 1);  // BUG
  __syncthreads();
  if (t < 16) atomicAdd(&bins[t], mine[t]);
}

// == next_digit_before_the_scatter_ends
extern "C" __global__ void next_digit_before_the_scatter_ends(unsigned* keys, int bits) {
  __shared__ unsigned s[64];
  __shared__ int zeros[2];
  int t = threadIdx.x, warp = t / 32, lane = t % 32;
  s[t] = keys[t];
  __syncthreads();
  for (int bit = 0; bit < bits; ++bit) {
    unsigned key = s[t];  // BUG
    bool one = key >> bit & 1;
    unsigned none = ~__ballot_sync(FULL, one);
    if (lane == 0) zeros[warp] = __popc(none);  // BUG
    __syncthreads();
    int before = __popc(none & ((1u << lane) - 1)) + (warp > 0 ? zeros[0] : 0);  // BUG
    int all = zeros[0] + zeros[1];  // BUG
    s[one ? all + t - before : before] = key;  // BUG
  }
  __syncthreads();
  keys[t] = s[t];
}

// == plane_of_a_stencil_refilled
extern "C" __global__ void plane_of_a_stencil_refilled(const float* x, float* y, int depth) {
  __shared__ float plane[8][8];
  int c = threadIdx.x, r = threadIdx.y;
  for (int z = 0; z < depth; ++z) {
    int i = (z * 8 + r) * 8 + c;
    plane[r][c] = x[i];  // BUG
    __syncthreads();
    float sum = plane[max(r - 1, 0)][c] + plane[min(r + 1, 7)][c];  // BUG
    y[i] = sum + plane[r][max(c - 1, 0)] + plane[r][min(c + 1, 7)];  // BUG
  }
}

// == slot_filled_after_the_tail_moved
extern "C" __global__ void slot_filled_after_the_tail_moved(const int* x, int* slot, int* tail, int* y, int n) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      int at = atomicAdd(tail, 1);
      slot[at] = x[i];  // BUG
      __threadfence();
    }
  } else {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      while (atomicAdd(tail, 0) <= i) {}
      __threadfence();
      sum += slot[i];  // BUG
    }
    *y = sum;
  }
}

// == look_back_flag_of_block_scope
#include <cuda/atomic>
extern "C" __global__ void look_back_flag_of_block_scope(const int* x, int* prefix, int* flag, int* y) {
  if (threadIdx.x != 0) return;
  int b = blockIdx.x, before = 0;
  if (b > 0) {
    cuda::atomic_ref<int, cuda::thread_scope_block> left(flag[b - 1]);
    while (left.load(cuda::memory_order_acquire) == 0) {}  // BUG
    before = prefix[b - 1];  // BUG
  }
  prefix[b] = before + x[b];  // BUG
  cuda::atomic_ref<int, cuda::thread_scope_block> mine(flag[b]);
  mine.store(1, cuda::memory_order_release);  // BUG
  y[b] = before;
}

// == split_k_turn_without_a_fence
extern "C" __global__ void split_k_turn_without_a_fence(const float* a, const float* b, float* c,
    volatile int* turn, int k) {
  int t = threadIdx.x, split = blockIdx.x, each = k / gridDim.x;
  float part = 0;
  for (int i = split * each; i < (split + 1) * each; ++i) part += a[i * 64 + t] * b[i];
  if (t == 0) while (*turn != split) {}
  __syncthreads();
  c[t] += part;  // BUG
  __syncthreads();
  if (t == 0) *turn = split + 1;
}

// == fixup_flag_before_the_whole_block_stored
extern "C" __global__ void fixup_flag_before_the_whole_block_stored(const float* x, float* partial,
    int* flag, float* y) {
  int t = threadIdx.x, peer = blockIdx.x - 1;
  float v = x[blockIdx.x * 64 + t];
  if (peer >= 0) {
    partial[peer * 64 + t] = v;  // BUG
    __threadfence();
    if (t == 0) atomicExch(&flag[peer], 1);
    return;
  }
  for (int p = 0; p + 1 < gridDim.x; ++p) {
    if (t == 0) {
      while (atomicAdd(&flag[p], 0) == 0) {}
      __threadfence();
    }
    __syncthreads();
    v += partial[p * 64 + 63 - t];  // BUG
  }
  y[t] = v;
}

// == last_block_word_read_at_once
extern "C" __global__ void last_block_word_read_at_once(const float* x, float* partial, unsigned* count, float* y) {
  __shared__ bool last;
  int t = threadIdx.x;
  if (t == 0) last = false;
  __syncthreads();
  float v = x[blockIdx.x * 64 + t];
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(FULL, v, o);
  if (t % 32 == 0) atomicAdd(&partial[blockIdx.x], v);
  __syncthreads();
  if (t == 0) {
    __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;  // BUG
    __threadfence();
  }
  if (last && t < 32) {  // BUG
    v = t < gridDim.x ? partial[t] : 0;
    for (int o = 16; o; o /= 2) v += __shfl_xor_sync(FULL, v, o);
    if (t == 0) *y = v;
  }
}

// == work_item_replaced_while_read
extern "C" __global__ void work_item_replaced_while_read(const int* x, int* y, int* counter, int n) {
  __shared__ int item;
  for (;;) {
    if (threadIdx.x == 0) item = atomicAdd(counter, 1);  // BUG
    __syncthreads();
    int i = item;  // BUG
    if (i >= n) break;
    y[i * 64 + threadIdx.x] = 2 * x[i * 64 + threadIdx.x];
  }
}

// == consumer_releases_the_stage_then_reads
extern "C" __global__ void consumer_releases_the_stage_then_reads(const float* x, float* y, int tiles) {
  __shared__ float ring[2][32];
  __shared__ unsigned long long full[2], empty[2];
  int lane = threadIdx.x % 32;
  if (threadIdx.x == 0)
    for (int s = 0; s < 2; ++s) {
      MBAR_INIT(&full[s], 32);
      MBAR_INIT(&empty[s], 32);
    }
  __syncthreads();
  for (int i = 0; i < tiles; ++i) {
    int s = i % 2, turn = i / 2;
    if (threadIdx.x < 32) {
      MBAR_WAIT(&empty[s], (turn & 1) ^ 1);
      ring[s][lane] = x[i * 32 + lane];  // BUG
      MBAR_ARRIVE(&full[s]);
    } else {
      MBAR_WAIT(&full[s], turn & 1);
      MBAR_ARRIVE(&empty[s]);
      y[i * 32 + lane] = ring[s][31 - lane];  // BUG
    }
  }
}

// == bulk_loop_keeps_its_parity
extern "C" __global__ void bulk_loop_keeps_its_parity(const float* x, float* y, int tiles) {
  __shared__ alignas(128) float tile[128];
  __shared__ unsigned long long bar;
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&bar, 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  for (int i = 0; i < tiles; ++i) {
    if (t == 0) {
      MBAR_EXPECT(&bar, 512);
      BULK_LOAD(tile, x + i * 128, 512, &bar);  // BUG
    }
    MBAR_WAIT(&bar, 0);
    y[i * 128 + t] = tile[127 - t];  // BUG
    __syncthreads();
  }
}

// == half_a_warp_at_a_named_barrier
extern "C" __global__ void half_a_warp_at_a_named_barrier(const int* x, int* y) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 16) {
    s[t] = x[t];
    asm volatile("bar.sync 1, 32;" ::: "memory");  // BUG
    y[t] = s[15 - t];
  }
  y[64 + t] = x[t] + 1;
}

// == cluster_sum_behind_a_block_barrier
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) cluster_sum_behind_a_block_barrier(const int* x, int* y) {
  __shared__ int total;
  auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) total = 0;
  cluster.sync();
  int v = __reduce_add_sync(FULL, x[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) atomicAdd(cluster.map_shared_rank(&total, 0), v);  // BUG
  __syncthreads();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) y[blockIdx.x / 2] = total;  // BUG
  cluster.sync();
}

// == tile_of_sixteen_reads_its_neighbour
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tile_of_sixteen_reads_its_neighbour(const int* x, int* y) {
  __shared__ int s[32];
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  s[threadIdx.x] = x[threadIdx.x];  // BUG
  tile.sync();
  y[threadIdx.x] = s[threadIdx.x ^ 16];  // BUG
}

// == group_of_all_used_in_a_branch
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void group_of_all_used_in_a_branch(const int* x, int* y) {
  auto all = cg::coalesced_threads();
  int v = x[threadIdx.x];
  if (v % 2 == 1) y[threadIdx.x] = all.shfl(v, 0) + v;  // BUG
}

// == leader_of_a_label_writes_unsynchronised
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void leader_of_a_label_writes_unsynchronised(const int* x, int* y) {
  __shared__ int sums[4];
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int v = x[threadIdx.x], key = v % 4;
  if (threadIdx.x < 4) sums[threadIdx.x] = 0;
  warp.sync();
  auto same = cg::labeled_partition(warp, key);
  int sum = cg::reduce(same, v, cg::plus<int>());
  if (same.thread_rank() == 0) sums[key] = sum;  // BUG
  y[threadIdx.x] = sums[key];  // BUG
}

// == pointers_swapped_by_thread_zero
extern "C" __global__ void pointers_swapped_by_thread_zero(float* a, float* b, int steps) {
  __shared__ float *volatile from, *volatile to;
  int t = threadIdx.x;
  if (t == 0) {
    from = a;
    to = b;
  }
  __syncthreads();
  for (int k = 0; k < steps; ++k) {
    float left = from[max(t - 1, 0)], right = from[min(t + 1, 63)];  // BUG
    to[t] = 0.5f * (left + right);  // BUG
    __syncthreads();
    if (t == 0) {
      float* old = from;
      from = to;  // BUG
      to = old;  // BUG
    }
  }
}

// == warp_patch_refilled_without_syncwarp
extern "C" __global__ void warp_patch_refilled_without_syncwarp(const float* x, float* y, int turns) {
  __shared__ float patch[32];
  int lane = threadIdx.x;
  for (int i = 0; i < turns; ++i) {
    patch[lane] = x[i * 32 + lane];  // BUG
    __syncwarp();
    y[i * 32 + lane] = patch[31 - lane];  // BUG
  }
}

// == volatile_tile_between_warps
extern "C" __global__ void volatile_tile_between_warps(const int* x, int* y) {
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t] = 0;
  __syncthreads();
  s[t] = x[t];  // BUG
  y[t] = s[63 - t];  // BUG
}

// == relaxed_ref_as_a_flag
#include <cuda/atomic>
extern "C" __global__ void relaxed_ref_as_a_flag(const int* x, int* data, int* flag, int* y) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    *data = 3 * x[0];  // BUG
    ready.store(1, cuda::memory_order_relaxed);
  } else {
    while (ready.load(cuda::memory_order_relaxed) == 0) {}
    y[blockIdx.x] = *data;  // BUG
  }
}

// == block_scope_ref_counts_for_the_grid
#include <cuda/atomic>
extern "C" __global__ void block_scope_ref_counts_for_the_grid(const int* x, int* count) {
  cuda::atomic_ref<int, cuda::thread_scope_block> sum(*count);
  sum.fetch_add(x[blockIdx.x * blockDim.x + threadIdx.x], cuda::memory_order_relaxed);  // BUG
}

// == one_thread_acquires_for_all
#include <cuda/atomic>
extern "C" __global__ void one_thread_acquires_for_all(const int* x, int* data, int* flag, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = 2 * x[t];  // BUG
    __syncthreads();
    if (t == 0) ready.store(1, cuda::memory_order_release);
  } else {
    if (t == 0) while (ready.load(cuda::memory_order_acquire) == 0) {}
    y[t] = data[63 - t];  // BUG
  }
}

// == thread_pipeline_shares_without_a_barrier
#include <cuda/pipeline>
extern "C" __global__ void thread_pipeline_shares_without_a_barrier(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&s[t], &x[t], sizeof(float), pipe);  // BUG
  pipe.producer_commit();
  pipe.consumer_wait();
  y[t] = s[63 - t];  // BUG
  pipe.consumer_release();
}

// == barrier_expects_half_the_block
#include <cuda/barrier>
extern "C" __global__ void barrier_expects_half_the_block(const int* x, int* y) {
  __shared__ int s[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, 32);
  __syncthreads();
  s[t] = x[t];  // BUG
  bar.arrive_and_wait();
  y[t] = s[63 - t];  // BUG
}

// == values_used_when_only_keys_arrived
#include <cuda_pipeline.h>
extern "C" __global__ void values_used_when_only_keys_arrived(const float4* k, const float4* v, float* y) {
  __shared__ float4 keys[64], values[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&keys[t], &k[t], 16);
  __pipeline_commit();
  __pipeline_memcpy_async(&values[t], &v[t], 16);  // BUG
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  float4 key = keys[63 - t], value = values[63 - t];  // BUG
  y[t] = key.x * value.x + key.w * value.w;
}

// == elimination_without_barriers
extern "C" __global__ void elimination_without_barriers(float* a, int n) {
  int r = threadIdx.x;
  for (int k = 0; k + 1 < n; ++k)
    if (r > k && r < n) {
      float factor = a[r * n + k] / a[k * n + k];  // BUG
      for (int c = k; c < n; ++c) a[r * n + c] -= factor * a[k * n + c];  // BUG
    }
}

// == rotary_embedding_in_place
extern "C" __global__ void rotary_embedding_in_place(const float* q, float* out, int half) {
  int t = threadIdx.x, row = blockIdx.x * blockDim.x;
  float angle = blockIdx.x * 0.1f * (t % half), own = q[row + t], other = q[row + (t ^ half)];  // BUG
  out[row + t] = own * cosf(angle) + (t < half ? -other : other) * sinf(angle);  // BUG
}

// == row_end_inclusive
extern "C" __global__ void row_end_inclusive(const int* first, const int* col, const float* a,
    const float* x, float* y, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int j = first[r]; j <= first[r + 1]; ++j) sum += a[j] * x[col[j]];  // BUG
  y[r] = sum;
}

// == return_before_a_named_barrier
extern "C" __global__ void return_before_a_named_barrier(const int* x, int* y, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t >= n) return;
  s[t] = x[t];
  asm volatile("bar.sync 1, 64;" ::: "memory");  // BUG
  y[t] = s[n - 1 - t];
}

// == match_all_in_a_branch
extern "C" __global__ void match_all_in_a_branch(const int* x, int* y, int n) {
  int same = 0;
  if (threadIdx.x < n) __match_all_sync(FULL, x[threadIdx.x], &same);  // BUG
  y[threadIdx.x] = __popc(__ballot_sync(FULL, same));
}

// == insertion_past_the_last_of_k
extern "C" __global__ void insertion_past_the_last_of_k(const float* x, float* y, int cols, int k) {
  float best[8];
  for (int j = 0; j < k; ++j) best[j] = -1e30f;
  for (int c = 0; c < cols; ++c) {
    float v = x[threadIdx.x * cols + c];
    int place = k;
    while (place > 0 && best[place - 1] < v) --place;
    for (int j = k; j > place; --j) best[j] = best[j - 1];  // BUG
    if (place < k) best[place] = v;
  }
  for (int j = 0; j < k; ++j) y[threadIdx.x * k + j] = best[j];
}

// == accumulators_partly_zeroed
extern "C" __global__ void accumulators_partly_zeroed(const int* x, int* y, int n, int bins) {
  int count[8], t = threadIdx.x;
  for (int b = 0; b < bins; ++b) count[b] = 0;
  for (int i = 0; i < n; ++i) ++count[x[t * n + i] & 7];  // BUG
  for (int b = 0; b < 8; ++b) y[t * 8 + b] = count[b];  // BUG
}

// == final_warp_reads_all_slots
extern "C" __global__ void final_warp_reads_all_slots(const float* x, float* y) {
  __shared__ float slot[32];
  int t = threadIdx.x, lane = t % 32;
  float v = x[t];
  for (int o = 16; o; o /= 2) v += __shfl_down_sync(FULL, v, o);
  if (lane == 0) slot[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    v = slot[lane];  // BUG
    for (int o = 16; o; o /= 2) v += __shfl_down_sync(FULL, v, o);
    if (t == 0) *y = v;
  }
}

// == byte_counter_never_reaches_256
extern "C" __global__ void byte_counter_never_reaches_256(const int* x, int* y, int n) {
  for (unsigned char i = 0; i < n; ++i) y[i] = 2 * x[i];  // BUG
}

// == offset_kept_in_a_short
extern "C" __global__ void offset_kept_in_a_short(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  short first = r * cols;
  float sum = 0;
  for (int c = 0; c < cols; ++c) sum += x[first + c];  // BUG
  y[r] = sum;
}

// == mbarrier_initialised_in_each_turn
extern "C" __global__ void mbarrier_initialised_in_each_turn(const int* x, int* y, int turns) {
  __shared__ int s[64];
  __shared__ unsigned long long bar;
  int t = threadIdx.x;
  for (int i = 0; i < turns; ++i) {
    if (t == 0) MBAR_INIT(&bar, 64);  // BUG
    __syncthreads();
    s[t] = x[i * 64 + t];
    MBAR_ARRIVE(&bar);
    MBAR_WAIT(&bar, 0);
    y[i * 64 + t] = s[63 - t];
    __syncthreads();
  }
}

// == double2_behind_a_counter
extern __shared__ char pool[];
extern "C" __global__ void double2_behind_a_counter(const double* x, double* y, int* count) {
  int* positive = reinterpret_cast<int*>(pool);
  double2* pair = reinterpret_cast<double2*>(pool + 8);
  int t = threadIdx.x;
  if (t == 0) *positive = 0;
  pair[t] = make_double2(x[t], -x[t]);  // BUG
  __syncthreads();
  if (x[t] > 0) atomicAdd(positive, 1);
  y[t] = pair[63 - t].x + pair[63 - t].y * 0.5;  // BUG
  __syncthreads();
  if (t == 0) *count = *positive;
}

// == volatile_flag_in_shared_without_a_fence
extern "C" __global__ void volatile_flag_in_shared_without_a_fence(const int* x, int* y) {
  __shared__ int data;
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data = x[0];  // BUG
    flag = 1;  // BUG
  }
  if (threadIdx.x == 32) {
    while (flag == 0) {}  // BUG
    *y = data;  // BUG
  }
}

// == row_loop_runs_into_the_next_row
extern "C" __global__ void row_loop_runs_into_the_next_row(const float* x, float* y, int cols) {
  int r = threadIdx.x;
  for (int c = 0; c <= cols; ++c) y[r * cols + c] = x[r] * c;  // BUG
}

// == source_cleared_before_the_copy_is_done
#include <cuda_pipeline.h>
extern "C" __global__ void source_cleared_before_the_copy_is_done(float4* x, float4* y) {
  __shared__ float4 s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &x[t], 16);  // BUG
  __pipeline_commit();
  x[t] = make_float4(0, 0, 0, 0);  // BUG
  __pipeline_wait_prior(0);
  y[t] = s[t];
}

// == result_of_a_bulk_store_read_too_early
extern "C" __global__ void result_of_a_bulk_store_read_too_early(const float* x, float* y, float* z) {
  __shared__ alignas(128) float tile[64];
  int t = threadIdx.x;
  tile[t] = 2 * x[t];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    BULK_STORE(y, tile, 256);  // BUG
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    *z = y[63];  // BUG
  }
}

// == bits_set_in_one_word
extern "C" __global__ void bits_set_in_one_word(const int* x, unsigned* bits) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (x[i] > 50) bits[i / 32] |= 1u << (i % 32);  // BUG
}
