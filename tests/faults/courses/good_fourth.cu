// The kernels of bad_fourth.cu as they should be, and others that look suspicious and are correct.
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

// == softmax_with_two_buffers
extern "C" __global__ void softmax_with_two_buffers(const float* x, float* y, int cols) {
  __shared__ float most_of[2], sum_of[2];
  const float* row = x + blockIdx.x * cols;
  int t = threadIdx.x, warp = t / 32, lane = t % 32;
  float most = -1e30f, sum = 0;
  for (int c = t; c < cols; c += 64) most = fmaxf(most, row[c]);
  for (int o = 16; o; o /= 2) most = fmaxf(most, __shfl_xor_sync(FULL, most, o));
  if (lane == 0) most_of[warp] = most;
  __syncthreads();
  most = fmaxf(most_of[0], most_of[1]);
  for (int c = t; c < cols; c += 64) sum += expf(row[c] - most);
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(FULL, sum, o);
  if (lane == 0) sum_of[warp] = sum;
  __syncthreads();
  sum = sum_of[0] + sum_of[1];
  for (int c = t; c < cols; c += 64) y[blockIdx.x * cols + c] = expf(row[c] - most) / sum;
}

// == states_of_an_online_softmax_merged
extern "C" __global__ void states_of_an_online_softmax_merged(const float* x, float* y, int cols) {
  __shared__ float2 state[2];
  int t = threadIdx.x;
  float most = -1e30f, sum = 0;
  for (int c = t; c < cols; c += 64) {
    float v = x[blockIdx.x * cols + c], next = fmaxf(most, v);
    sum = sum * expf(most - next) + expf(v - next);
    most = next;
  }
  for (int o = 16; o; o /= 2) {
    float other = __shfl_xor_sync(FULL, most, o), other_sum = __shfl_xor_sync(FULL, sum, o), next = fmaxf(most, other);
    sum = sum * expf(most - next) + other_sum * expf(other - next);
    most = next;
  }
  if (t % 32 == 0) state[t / 32] = make_float2(most, sum);
  __syncthreads();
  if (t == 0) {
    float next = fmaxf(state[0].x, state[1].x);
    y[blockIdx.x] = next + logf(state[0].y * expf(state[0].x - next) + state[1].y * expf(state[1].x - next));
  }
}

// == keys_then_values_of_attention
#include <cuda_pipeline.h>
extern "C" __global__ void keys_then_values_of_attention(const float4* k, const float4* v, float* y) {
  __shared__ float4 keys[64], values[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&keys[t], &k[t], 16);
  __pipeline_commit();
  __pipeline_memcpy_async(&values[t], &v[t], 16);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  float4 key = keys[63 - t];
  __pipeline_wait_prior(0);
  __syncthreads();
  float4 value = values[63 - t];
  y[t] = key.x * value.x + key.w * value.w;
}

// == counts_of_a_warp_by_match
extern "C" __global__ void counts_of_a_warp_by_match(const int* x, int* bins, int n) {
  __shared__ int mine[2][8];
  int t = threadIdx.x, warp = t / 32, lane = t % 32;
  if (t < 16) mine[t / 8][t % 8] = 0;
  __syncthreads();
  for (int i = t; i < n; i += 64) {
    int key = x[i] % 8;
    unsigned same = __match_any_sync(FULL, key);
    if (lane == __ffs(same) - 1) mine[warp][key] += __popc(same);
    __syncwarp();
  }
  __syncthreads();
  if (t < 8) bins[t] = mine[0][t] + mine[1][t];
}

// == digits_sorted_with_two_barriers
extern "C" __global__ void digits_sorted_with_two_barriers(unsigned* keys, int bits) {
  __shared__ unsigned s[64];
  __shared__ int zeros[2];
  int t = threadIdx.x, warp = t / 32, lane = t % 32;
  s[t] = keys[t];
  for (int bit = 0; bit < bits; ++bit) {
    __syncthreads();
    unsigned key = s[t];
    bool one = key >> bit & 1;
    unsigned none = ~__ballot_sync(FULL, one);
    if (lane == 0) zeros[warp] = __popc(none);
    __syncthreads();
    int before = __popc(none & ((1u << lane) - 1)) + (warp > 0 ? zeros[0] : 0);
    s[one ? zeros[0] + zeros[1] + t - before : before] = key;
  }
  __syncthreads();
  keys[t] = s[t];
}

// == bitonic_with_a_ragged_end
extern "C" __global__ void bitonic_with_a_ragged_end(int* x, int n) {
  extern __shared__ int s[];
  int t = threadIdx.x;
  s[t] = t < n ? x[t] : 0x7fffffff;
  for (int k = 2; k <= blockDim.x; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      int other = t ^ j;
      if (other > t && (s[t] > s[other]) == ((t & k) == 0)) {
        int v = s[t];
        s[t] = s[other];
        s[other] = v;
      }
    }
  __syncthreads();
  if (t < n) x[t] = s[t];
}

// == planes_in_two_buffers_with_one_barrier
extern "C" __global__ void planes_in_two_buffers_with_one_barrier(const float* x, float* y, int depth) {
  __shared__ float planes[2][8][8];
  int c = threadIdx.x, r = threadIdx.y;
  for (int z = 0; z < depth; ++z) {
    int i = (z * 8 + r) * 8 + c;
    float(*plane)[8] = planes[z & 1];
    plane[r][c] = x[i];
    __syncthreads();
    y[i] = plane[max(r - 1, 0)][c] + plane[min(r + 1, 7)][c] + plane[r][max(c - 1, 0)] + plane[r][min(c + 1, 7)];
  }
}

// == ring_of_tickets_between_blocks
#include <cuda/atomic>
extern "C" __global__ void ring_of_tickets_between_blocks(const int* x, int* data, int* ticket, int* y, int n) {
  if (threadIdx.x != 0) return;
  for (int i = 0; i < n; ++i) {
    int slot = i % 4;
    cuda::atomic_ref<int, cuda::thread_scope_device> at(ticket[slot]);
    if (blockIdx.x == 0) {
      while (at.load(cuda::memory_order_acquire) != i) {}
      data[slot] = x[i];
      at.store(i + 1, cuda::memory_order_release);
    } else {
      while (at.load(cuda::memory_order_acquire) != i + 1) {}
      y[i] = 2 * data[slot];
      at.store(i + 4, cuda::memory_order_release);
    }
  }
}

// == look_back_at_words_of_64_bits
extern "C" __global__ void look_back_at_words_of_64_bits(const int* x, unsigned long long* status, int* y) {
  int b = blockIdx.x, v = __reduce_add_sync(FULL, x[b * 32 + threadIdx.x]);
  if (threadIdx.x != 0) return;
  volatile unsigned long long* words = status;
  unsigned before = 0;
  if (b > 0) {
    unsigned long long word;
    do word = words[b - 1];
    while (word >> 32 == 0);
    before = static_cast<unsigned>(word);
  }
  words[b] = 1ull << 32 | (before + v);
  y[b] = before;
}

// == split_k_turns_with_fences
extern "C" __global__ void split_k_turns_with_fences(const float* a, const float* b, float* c,
    volatile int* turn, int k) {
  int t = threadIdx.x, split = blockIdx.x, each = k / gridDim.x;
  float part = 0;
  for (int i = split * each; i < (split + 1) * each; ++i) part += a[i * 64 + t] * b[i];
  if (t == 0) {
    while (*turn != split) {}
    __threadfence();
  }
  __syncthreads();
  c[t] += part;
  __syncthreads();
  if (t == 0) {
    __threadfence();
    *turn = split + 1;
  }
}

// == fixup_flag_behind_the_whole_block
extern "C" __global__ void fixup_flag_behind_the_whole_block(const float* x, float* partial, int* flag, float* y) {
  int t = threadIdx.x, peer = blockIdx.x - 1;
  float v = x[blockIdx.x * 64 + t];
  if (peer >= 0) {
    partial[peer * 64 + t] = v;
    __syncthreads();
    if (t == 0) {
      __threadfence();
      atomicExch(&flag[peer], 1);
    }
    return;
  }
  for (int p = 0; p + 1 < gridDim.x; ++p) {
    if (t == 0) {
      while (atomicAdd(&flag[p], 0) == 0) {}
      __threadfence();
    }
    __syncthreads();
    v += partial[p * 64 + 63 - t];
  }
  y[t] = v;
}

// == last_block_told_by_the_barrier
extern "C" __global__ void last_block_told_by_the_barrier(const float* x, float* partial, unsigned* count, float* y) {
  int t = threadIdx.x;
  bool last = false;
  float v = x[blockIdx.x * 32 + t];
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(FULL, v, o);
  if (t == 0) {
    partial[blockIdx.x] = v;
    __threadfence();
    last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  if (__syncthreads_or(last)) {
    v = t < gridDim.x ? partial[t] : 0;
    for (int o = 16; o; o /= 2) v += __shfl_xor_sync(FULL, v, o);
    if (t == 0) *y = v;
  }
}

// == work_item_in_two_places
extern "C" __global__ void work_item_in_two_places(const int* x, int* y, int* counter, int n) {
  __shared__ int item[2];
  for (int turn = 0;; turn ^= 1) {
    if (threadIdx.x == 0) item[turn] = atomicAdd(counter, 1);
    __syncthreads();
    int i = item[turn];
    if (i >= n) break;
    y[i * 64 + threadIdx.x] = 2 * x[i * 64 + threadIdx.x];
  }
}

// == one_lane_releases_the_stage
extern "C" __global__ void one_lane_releases_the_stage(const float* x, float* y, int tiles) {
  __shared__ float ring[2][32];
  __shared__ unsigned long long full[2], empty[2];
  int lane = threadIdx.x % 32;
  if (threadIdx.x == 0)
    for (int s = 0; s < 2; ++s) {
      MBAR_INIT(&full[s], 1);
      MBAR_INIT(&empty[s], 1);
    }
  __syncthreads();
  for (int i = 0; i < tiles; ++i) {
    int s = i % 2, turn = i / 2;
    if (threadIdx.x < 32) {
      MBAR_WAIT(&empty[s], (turn & 1) ^ 1);
      ring[s][lane] = x[i * 32 + lane];
      __syncwarp();
      if (lane == 0) MBAR_ARRIVE(&full[s]);
    } else {
      MBAR_WAIT(&full[s], turn & 1);
      y[i * 32 + lane] = ring[s][31 - lane];
      __syncwarp();
      if (lane == 0) MBAR_ARRIVE(&empty[s]);
    }
  }
}

// == bulk_ring_that_flips_its_parity
extern "C" __global__ void bulk_ring_that_flips_its_parity(const float* x, float* y, int tiles) {
  __shared__ alignas(128) float tile[2][128];
  __shared__ unsigned long long bar[2];
  int t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < 2; ++s) MBAR_INIT(&bar[s], 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    for (int s = 0; s < 2; ++s) {
      MBAR_EXPECT(&bar[s], 512);
      BULK_LOAD(tile[s], x + s * 128, 512, &bar[s]);
    }
  }
  __syncthreads();
  for (int i = 0; i < tiles; ++i) {
    int s = i % 2;
    MBAR_WAIT(&bar[s], i / 2 & 1);
    y[i * 128 + t] = tile[s][127 - t];
    __syncthreads();
    if (t == 0 && i + 2 < tiles) {
      MBAR_EXPECT(&bar[s], 512);
      BULK_LOAD(tile[s], x + (i + 2) * 128, 512, &bar[s]);
    }
  }
}

// == warps_take_turns_by_named_barriers
extern "C" __global__ void warps_take_turns_by_named_barriers(int* y, int turns) {
  __shared__ int place;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) place = 0;
  __syncthreads();
  if (warp == 1) asm volatile("bar.arrive 1, 64;" ::: "memory");
  for (int i = 0; i < turns; ++i) {
    asm volatile("bar.sync %0, 64;" ::"r"(1 + warp) : "memory");
    if (lane == 0) {
      y[place] = 2 * i + warp;
      place = place + 1;
    }
    __syncwarp();
    if (warp == 0 || i + 1 < turns) asm volatile("bar.arrive %0, 64;" ::"r"(2 - warp) : "memory");
  }
}

// == cluster_sum_behind_its_barrier
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) cluster_sum_behind_its_barrier(const int* x, int* y) {
  __shared__ int total;
  auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) total = 0;
  cluster.sync();
  int v = __reduce_add_sync(FULL, x[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) atomicAdd(cluster.map_shared_rank(&total, 0), v);
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) y[blockIdx.x / 2] = total;
}

// == group_of_a_branch_shares_a_slot
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void group_of_a_branch_shares_a_slot(const int* x, int* list, int* count) {
  __shared__ int base;
  int v = x[threadIdx.x];
  if (v > 50) {
    auto here = cg::coalesced_threads();
    if (here.thread_rank() == 0) base = atomicAdd(count, here.size());
    here.sync();
    list[base + here.thread_rank()] = v;
  }
}

// == leader_of_a_label_then_all_of_it
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void leader_of_a_label_then_all_of_it(const int* x, int* y) {
  __shared__ int sums[4];
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int v = x[threadIdx.x], key = v % 4;
  auto same = cg::labeled_partition(warp, key);
  int sum = cg::reduce(same, v, cg::plus<int>());
  if (same.thread_rank() == 0) sums[key] = sum;
  same.sync();
  y[threadIdx.x] = sums[key];
}

// == patch_of_a_warp_with_two_syncwarps
extern "C" __global__ void patch_of_a_warp_with_two_syncwarps(const float* x, float* y, int turns) {
  __shared__ float patches[2][32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float* patch = patches[warp];
  for (int i = warp; i < turns; i += 2) {
    patch[lane] = x[i * 32 + lane];
    __syncwarp();
    y[i * 32 + lane] = patch[31 - lane];
    __syncwarp();
  }
}

// == branches_shuffle_under_their_own_masks
extern "C" __global__ void branches_shuffle_under_their_own_masks(const int* x, int* y) {
  int t = threadIdx.x, v = x[t];
  if (t % 2)
    v += __shfl_xor_sync(0xaaaaaaaau, v, 2);
  else
    v -= __shfl_xor_sync(0x55555555u, v, 4);
  y[t] = v;
}

// == ref_released_and_acquired
#include <cuda/atomic>
extern "C" __global__ void ref_released_and_acquired(const int* x, int* data, int* flag, int* y) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    *data = 3 * x[0];
    ready.store(1, cuda::memory_order_release);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {}
    y[blockIdx.x] = *data;
  }
}

// == device_and_system_count_one_word
#include <cuda/atomic>
extern "C" __global__ void device_and_system_count_one_word(const int* x, int* count) {
  int v = x[blockIdx.x * blockDim.x + threadIdx.x];
  cuda::atomic_ref<int, cuda::thread_scope_device> sum(*count);
  if (v % 2)
    sum.fetch_add(v, cuda::memory_order_relaxed);
  else
    atomicAdd_system(count, v);
}

// == one_thread_acquires_then_a_barrier
#include <cuda/atomic>
extern "C" __global__ void one_thread_acquires_then_a_barrier(const int* x, int* data, int* flag, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = 2 * x[t];
    __syncthreads();
    if (t == 0) ready.store(1, cuda::memory_order_release);
  } else {
    if (t == 0) while (ready.load(cuda::memory_order_acquire) == 0) {}
    __syncthreads();
    y[t] = data[63 - t];
  }
}

// == fences_around_relaxed_refs
#include <cuda/atomic>
extern "C" __global__ void fences_around_relaxed_refs(const int* x, int* data, int* flag, int* y) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    *data = 5 * x[0];
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    ready.store(1, cuda::memory_order_relaxed);
  } else {
    while (ready.load(cuda::memory_order_relaxed) == 0) {}
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    y[blockIdx.x] = *data;
  }
}

// == block_pipeline_of_two_stages
#include <cooperative_groups.h>
#include <cuda/pipeline>
extern "C" __global__ void block_pipeline_of_two_stages(const float* x, float* y, int tiles) {
  __shared__ float s[2][64];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int i = 0, next = 0; i < tiles; ++i) {
    for (; next < tiles && next < i + 2; ++next) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s[next % 2], x + next * 64, sizeof(float) * 64, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    y[i * 64 + threadIdx.x] = s[i % 2][63 - threadIdx.x];
    pipe.consumer_release();
  }
}

// == threads_drop_out_of_a_barrier
#include <cuda/barrier>
extern "C" __global__ void threads_drop_out_of_a_barrier(const int* x, int* y, int turns) {
  __shared__ int s[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  __syncthreads();
  s[t] = x[t];
  if (t >= 32) {
    bar.arrive_and_drop();
    return;
  }
  bar.arrive_and_wait();
  int v = s[t] + s[t + 32];
  for (int i = 0; i < turns; ++i) {
    s[t] = v;
    bar.arrive_and_wait();
    v += s[31 - t];
    bar.arrive_and_wait();
  }
  y[t] = v;
}

// == elimination_with_barriers
extern "C" __global__ void elimination_with_barriers(float* a, int n) {
  int r = threadIdx.x;
  for (int k = 0; k + 1 < n; ++k) {
    if (r > k && r < n) {
      float factor = a[r * n + k] / a[k * n + k];
      for (int c = k; c < n; ++c) a[r * n + c] -= factor * a[k * n + c];
    }
    __syncthreads();
  }
}

// == rotary_pairs_in_place
extern "C" __global__ void rotary_pairs_in_place(const float* q, float* out, int half) {
  int t = threadIdx.x, row = blockIdx.x * 2 * half;
  float angle = blockIdx.x * 0.1f * t, a = q[row + t], b = q[row + t + half];
  out[row + t] = a * cosf(angle) - b * sinf(angle);
  out[row + t + half] = b * cosf(angle) + a * sinf(angle);
}

// == head_then_vectors_then_tail
extern "C" __global__ void head_then_vectors_then_tail(const float* x, float* y, int n) {
  int t = threadIdx.x, head = min(n, static_cast<int>(-(reinterpret_cast<size_t>(x) / 4) & 3));
  int vectors = (n - head) / 4;
  if (t < head) y[t] = 2 * x[t];
  const float4* four = reinterpret_cast<const float4*>(x + head);
  for (int i = t; i < vectors; i += blockDim.x) {
    float4 v = four[i];
    float* to = y + head + 4 * i;
    to[0] = 2 * v.x;
    to[1] = 2 * v.y;
    to[2] = 2 * v.z;
    to[3] = 2 * v.w;
  }
  for (int i = head + 4 * vectors + t; i < n; i += blockDim.x) y[i] = 2 * x[i];
}

// == warps_return_before_a_named_barrier
extern "C" __global__ void warps_return_before_a_named_barrier(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t >= 64) return;
  s[t] = x[t];
  asm volatile("bar.sync 1, 64;" ::: "memory");
  y[t] = s[63 - t];
}

// == both_branches_reduce
extern "C" __global__ void both_branches_reduce(const int* x, int* y) {
  int v = x[threadIdx.x];
  unsigned large = __ballot_sync(FULL, v > 50);
  if (v > 50)
    y[threadIdx.x] = __reduce_max_sync(large, v);
  else
    y[threadIdx.x] = __reduce_min_sync(~large, v);
}

// == match_all_of_those_that_stay
extern "C" __global__ void match_all_of_those_that_stay(const int* x, int* y, int n) {
  unsigned mask = __ballot_sync(FULL, threadIdx.x < n);
  if (threadIdx.x >= n) return;
  int same;
  __match_all_sync(mask, x[threadIdx.x / 32], &same);
  y[threadIdx.x] = same;
}

// == doubles_then_words_then_bytes
extern "C" __global__ void doubles_then_words_then_bytes(const double* x, double* y, int n) {
  extern __shared__ double pool[];
  int* order = reinterpret_cast<int*>(pool + n);
  unsigned char* positive = reinterpret_cast<unsigned char*>(order + n);
  int t = threadIdx.x;
  if (t < n) {
    pool[t] = x[t];
    order[t] = (t * 7) % n;
    positive[t] = x[t] > 0;
  }
  __syncthreads();
  if (t < n) y[t] = pool[order[t]] + positive[n - 1 - t];
}

// == lanes_beyond_the_end_shuffle_too
extern "C" __global__ void lanes_beyond_the_end_shuffle_too(const int* x, int* y, int n) {
  int t = threadIdx.x, v;
  if (t < n) v = x[t];
  int left = __shfl_up_sync(FULL, v, 1);
  if (t < n) y[t] = t > 0 ? v - left : v;
}

// == absent_warps_count_as_zero
extern "C" __global__ void absent_warps_count_as_zero(const float* x, float* y) {
  __shared__ float slot[32];
  int t = threadIdx.x, lane = t % 32;
  float v = x[t];
  for (int o = 16; o; o /= 2) v += __shfl_down_sync(FULL, v, o);
  if (lane == 0) slot[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    v = lane < blockDim.x / 32 ? slot[lane] : 0.0f;
    for (int o = 16; o; o /= 2) v += __shfl_down_sync(FULL, v, o);
    if (t == 0) *y = v;
  }
}

// == third_block_reads_through_a_chain
#include <cuda/atomic>
extern "C" __global__ void third_block_reads_through_a_chain(const int* x, int* data, int* flag, int* y) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> step(*flag);
  if (blockIdx.x == 0) {
    *data = 7 * x[0];
    step.store(1, cuda::memory_order_release);
  } else if (blockIdx.x == 1) {
    while (step.load(cuda::memory_order_relaxed) != 1) {}
    step.fetch_add(1, cuda::memory_order_relaxed);
  } else {
    while (step.load(cuda::memory_order_acquire) != 2) {}
    *y = *data;
  }
}

// == mbarrier_invalidated_and_used_again
extern "C" __global__ void mbarrier_invalidated_and_used_again(const int* x, int* y, int turns) {
  __shared__ int s[64];
  __shared__ unsigned long long bar;
  int t = threadIdx.x;
  for (int i = 0; i < turns; ++i) {
    if (t == 0) MBAR_INIT(&bar, 64);
    __syncthreads();
    s[t] = x[i * 64 + t];
    MBAR_ARRIVE(&bar);
    MBAR_WAIT(&bar, 0);
    y[i * 64 + t] = s[63 - t];
    __syncthreads();
    if (t == 0) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(SMEM(&bar)) : "memory");
  }
}

// == word_of_a_ballot_by_one_lane
extern "C" __global__ void word_of_a_ballot_by_one_lane(const int* x, unsigned* bits) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned word = __ballot_sync(FULL, x[i] > 50);
  if (i % 32 == 0) bits[i / 32] = word;
}

// == reductions_released_and_acquired
extern "C" __global__ void reductions_released_and_acquired(const int* x, int* sums, int* count, int* y) {
  int t = threadIdx.x, v = __reduce_add_sync(FULL, x[blockIdx.x * 32 + t]);
  if (t == 0) {
    sums[blockIdx.x] = v;
    asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(count) : "memory");
  }
  if (blockIdx.x > 0) return;
  if (t == 0) {
    int seen;
    do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(count) : "memory");
    while (seen < gridDim.x);
  }
  __syncwarp();
  if (t < gridDim.x) y[t] = sums[gridDim.x - 1 - t];
}

// == words_sent_to_the_next_block
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) words_sent_to_the_next_block(const int* x, int* y) {
  __shared__ int slot[32];
  __shared__ unsigned long long bar;
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  if (t == 0) {
    MBAR_INIT(&bar, 1);
    MBAR_EXPECT(&bar, 128);
  }
  cluster.sync();
  unsigned to, signal, peer = cluster.block_rank() ^ 1;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(SMEM(&slot[31 - t])), "r"(peer));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(signal) : "r"(SMEM(&bar)), "r"(peer));
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
               ::"r"(to), "r"(x[i]), "r"(signal) : "memory");
  MBAR_WAIT(&bar, 0);
  y[i] = slot[t];
  cluster.sync();
}

// == result_of_a_bulk_store_after_the_whole_wait
extern "C" __global__ void result_of_a_bulk_store_after_the_whole_wait(const float* x, float* y, float* z) {
  __shared__ alignas(128) float tile[64];
  int t = threadIdx.x;
  tile[t] = 2 * x[t];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    BULK_STORE(y, tile, 256);
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    *z = y[63];
  }
}

// == source_cleared_after_the_copy
#include <cuda_pipeline.h>
extern "C" __global__ void source_cleared_after_the_copy(float4* x, float4* y) {
  __shared__ float4 s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &x[t], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  x[t] = make_float4(0, 0, 0, 0);
  y[t] = s[t];
}

// == reversed_by_half_of_the_threads
extern "C" __global__ void reversed_by_half_of_the_threads(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 2) return;
  float a = x[i];
  x[i] = x[n - 1 - i];
  x[n - 1 - i] = a;
}

// == arguments_that_overlap_apart
extern "C" __global__ void arguments_that_overlap_apart(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[n + i] = x[i] + x[n - 1 - i];
}

// == edit_distance_by_diagonals
extern "C" __global__ void edit_distance_by_diagonals(const int* a, const int* b, int* y, int n) {
  __shared__ int line[3][65];
  int t = threadIdx.x;
  for (int d = 0; d <= 2 * n; ++d) {
    int *now = line[d % 3], *last = line[(d + 2) % 3], *before = line[(d + 1) % 3], j = d - t;
    if (t <= n && j >= 0 && j <= n) {
      if (t == 0 || j == 0)
        now[t] = d;
      else
        now[t] = min(min(last[t], last[t - 1]) + 1, before[t - 1] + (a[t - 1] != b[j - 1]));
    }
    __syncthreads();
  }
  if (t == n) *y = line[2 * n % 3][n];
}

// == lists_pushed_then_walked
#include <cooperative_groups.h>
extern "C" __global__ void lists_pushed_then_walked(const int* x, int* head, int* next, int* y) {
  auto grid = cooperative_groups::this_grid();
  int i = grid.thread_rank();
  next[i] = atomicExch(&head[x[i] % 8], i);
  grid.sync();
  if (i < 8) {
    int sum = 0;
    for (int j = head[i]; j >= 0; j = next[j]) sum += x[j];
    y[i] = sum;
  }
}

// == until_no_thread_works
extern "C" __global__ void until_no_thread_works(const int* x, int* y) {
  __shared__ int worked;
  int t = threadIdx.x, v = x[t] + 1, steps = 0;
  if (t == 0) worked = 0;
  while (int busy = __syncthreads_count(v != 1)) {
    if (t == 0) worked += busy;
    if (v != 1) {
      v = v % 2 ? 3 * v + 1 : v / 2;
      ++steps;
    }
  }
  y[t] = steps;
  if (t == 0) y[blockDim.x] = worked;
}
