// The kernels of bad_others.cu as they should be, and others of their kind.
#define FULL 0xffffffffu

// == halo_loaded_before_the_barrier
extern "C" __global__ void halo_loaded_before_the_barrier(const float* x, float* y, int n) {
  __shared__ float tile[66];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  tile[t + 1] = x[i];
  if (t == 0) tile[0] = i > 0 ? x[i - 1] : 0.0f;
  if (t == 63) tile[65] = i + 1 < n ? x[i + 1] : 0.0f;
  __syncthreads();
  y[i] = 0.25f * tile[t] + 0.5f * tile[t + 1] + 0.25f * tile[t + 2];
}

// == smoothing_steps_with_two_barriers
extern "C" __global__ void smoothing_steps_with_two_barriers(float* x, int steps) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  for (int k = 0; k < steps; ++k) {
    __syncthreads();
    float left = t > 0 ? s[t - 1] : 0.0f, right = t < 63 ? s[t + 1] : 0.0f, v = s[t];
    __syncthreads();
    s[t] = 0.5f * v + 0.25f * (left + right);
  }
  x[t] = s[t];
}

// == nine_point_tile
extern "C" __global__ void nine_point_tile(const float* x, float* y) {
  __shared__ float tile[10][10];
  int t = threadIdx.y * 8 + threadIdx.x;
  for (int i = t; i < 100; i += 64) tile[i / 10][i % 10] = x[i];
  __syncthreads();
  float sum = 0;
  for (int dr = 0; dr < 3; ++dr)
    for (int dc = 0; dc < 3; ++dc) sum += tile[threadIdx.y + dr][threadIdx.x + dc];
  y[t] = sum / 9;
}

// == aggregated_base_from_the_leader
extern "C" __global__ void aggregated_base_from_the_leader(const int* x, int* list, int* count) {
  int lane = threadIdx.x % 32, v = x[threadIdx.x];
  if (v <= 50) return;
  unsigned active = __activemask();
  int leader = __ffs(active) - 1, base = 0;
  if (lane == leader) base = atomicAdd(count, __popc(active));
  base = __shfl_sync(active, base, leader);
  list[base + __popc(active & ((1u << lane) - 1))] = v;
}

// == aggregated_by_key
extern "C" __global__ void aggregated_by_key(const int* keys, int* bins) {
  int lane = threadIdx.x % 32, key = keys[blockIdx.x * blockDim.x + threadIdx.x] % 8;
  unsigned same = __match_any_sync(FULL, key);
  if (lane == __ffs(same) - 1) atomicAdd(&bins[key], __popc(same));
}

// == own_work_between_arrive_and_wait
#include <cuda/barrier>
extern "C" __global__ void own_work_between_arrive_and_wait(const int* x, int* y) {
  __shared__ int s[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  __syncthreads();
  s[t] = x[t];
  auto token = bar.arrive();
  int own = 3 * s[t] + x[63 - t];
  bar.wait(static_cast<decltype(token)&&>(token));
  y[t] = own + s[63 - t];
}

// == ring_with_full_and_empty_names
extern "C" __global__ void ring_with_full_and_empty_names(const int* x, int* y, int turns) {
  __shared__ int s[32];
  int lane = threadIdx.x % 32;
  for (int i = 0; i < turns; ++i)
    if (threadIdx.x < 32) {
      if (i > 0) asm volatile("bar.sync 2, 64;" ::: "memory");
      s[lane] = x[i * 32 + lane] + 1;
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      y[i * 32 + lane] = s[31 - lane];
      if (i + 1 < turns) asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
}

// == pipeline_of_three_stages
#include <cuda_pipeline.h>
extern "C" __global__ void pipeline_of_three_stages(const float4* x, float* y, int tiles) {
  __shared__ float4 stage[3][32];
  int t = threadIdx.x;
  for (int i = 0; i < 2; ++i) {
    if (i < tiles) __pipeline_memcpy_async(&stage[i][t], &x[i * 32 + t], 16);
    __pipeline_commit();
  }
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    __pipeline_wait_prior(1);
    __syncthreads();
    if (i + 2 < tiles) __pipeline_memcpy_async(&stage[(i + 2) % 3][t], &x[(i + 2) * 32 + t], 16);
    __pipeline_commit();
    sum += stage[i % 3][31 - t].x;
  }
  y[t] = sum;
}

// == copies_with_a_commit
extern "C" __global__ void copies_with_a_commit(const float4* x, float4* y) {
  __shared__ float4 s[64];
  int t = threadIdx.x;
  unsigned to = __cvta_generic_to_shared(&s[t]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(x + t) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  y[t] = s[63 - t];
}

// == norm_reset_before_a_grid_barrier
#include <cooperative_groups.h>
extern "C" __global__ void norm_reset_before_a_grid_barrier(const float* x, float* norm, float* y) {
  auto grid = cooperative_groups::this_grid();
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i == 0) *norm = 0.0f;
  grid.sync();
  float v = x[i] * x[i];
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(FULL, v, o);
  if (threadIdx.x == 0) atomicAdd(norm, v);
  grid.sync();
  y[i] = x[i] * rsqrtf(*norm);
}

// == padded_records_are_copied
struct Record { char tag; double value; short count; };
extern "C" __global__ void padded_records_are_copied(const Record* in, Record* out) {
  __shared__ Record records[32];
  int t = threadIdx.x;
  records[t] = in[t];
  __syncthreads();
  Record mine = records[31 - t];
  mine.count += 1;
  out[t] = mine;
}

// == window_read_as_far_as_it_is_full
extern "C" __global__ void window_read_as_far_as_it_is_full(const int* x, int* y, int n) {
  int window[8];
  int t = threadIdx.x, filled = min(n + t % 4, 8);
  for (int i = 0; i < n + t % 4; ++i) window[i % 8] = x[t + i];
  int most = 0;
  for (int i = 0; i < filled; ++i) most = max(most, window[(i + t) % filled]);
  y[t] = most;
}

// == two_const_names_of_one_array
extern "C" __global__ void two_const_names_of_one_array(const float* __restrict__ a, const float* __restrict__ b,
                                                        float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = a[i] + b[n - 1 - i];
}

// == ldg_of_the_half_that_nobody_writes
extern "C" __global__ void ldg_of_the_half_that_nobody_writes(float* x) {
  int t = threadIdx.x;
  x[64 + t] = 2 * __ldg(&x[63 - t]);
}

// == three_arrays_in_dynamic_memory
extern "C" __global__ void three_arrays_in_dynamic_memory(const float* x, float* y, int n) {
  extern __shared__ double pool[];
  double* sums = pool;
  float* values = reinterpret_cast<float*>(sums + n);
  unsigned char* flags = reinterpret_cast<unsigned char*>(values + n);
  int t = threadIdx.x;
  values[t] = x[t];
  flags[t] = x[t] > 0;
  sums[t] = 0;
  __syncthreads();
  int other = (t + 1) % n;
  sums[t] += flags[other] ? values[other] : -values[other];
  __syncthreads();
  y[t] = sums[n - 1 - t];
}

// == threads_beyond_the_end_return
extern "C" __global__ void threads_beyond_the_end_return(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (i >= n) return;
  s[t] = x[i];
  __syncthreads();
  int last = min(63, n - 1 - blockIdx.x * 64);
  y[i] = s[last - t];
}

// == neighbour_by_shuffle_among_the_active
extern "C" __global__ void neighbour_by_shuffle_among_the_active(const int* x, int* y, int n) {
  for (int first = 0; first < n; first += 32) {
    int i = first + threadIdx.x;
    unsigned mask = __ballot_sync(FULL, i < n);
    if (i < n) {
      int v = x[i], left = __shfl_up_sync(mask, v, 1);
      y[i] = threadIdx.x > 0 ? left + v : v;
    }
  }
}

// == reductions_of_two_halves
extern "C" __global__ void reductions_of_two_halves(const unsigned* x, unsigned* y) {
  unsigned mask = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
  unsigned sum = __reduce_add_sync(mask, x[threadIdx.x]);
  y[threadIdx.x] = sum - __reduce_min_sync(mask, x[threadIdx.x]);
}

// == ping_pong_of_two_blocks
extern "C" __global__ void ping_pong_of_two_blocks(int* ball, volatile int* turn, int rounds) {
  if (threadIdx.x != 0) return;
  for (int r = 0; r < rounds; ++r) {
    while (*turn != 2 * r + (int)blockIdx.x) {}
    __threadfence();
    *ball = 3 * *ball + blockIdx.x;
    __threadfence();
    *turn = 2 * r + blockIdx.x + 1;
  }
}

// == cluster_ring_that_waits
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(4) cluster_ring_that_waits(const int* x, int* y) {
  __shared__ int s[32];
  auto cluster = cg::this_cluster();
  int i = blockIdx.x * 32 + threadIdx.x;
  s[threadIdx.x] = x[i];
  cluster.sync();
  int other = cluster.map_shared_rank(s, (cluster.block_rank() + 1) % 4)[31 - threadIdx.x];
  cluster.barrier_arrive();
  y[i] = 2 * other;
  cluster.barrier_wait();
}

// == block_sum_twice_with_a_barrier
__device__ float block_sum(float v, float* partial) {
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(FULL, v, o);
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
  __syncthreads();
  return partial[0] + partial[1];
}
extern "C" __global__ void block_sum_twice_with_a_barrier(const float* x, float* y) {
  __shared__ float partial[2];
  float v = x[threadIdx.x];
  float mean = block_sum(v, partial) / 64;
  float variance = block_sum((v - mean) * (v - mean), partial) / 64;
  y[threadIdx.x] = (v - mean) * rsqrtf(variance);
}

// == ragged_tile_filled_with_zeros
extern "C" __global__ void ragged_tile_filled_with_zeros(const float* a, const float* b, float* c, int n) {
  __shared__ float as[8][8], bs[8][8];
  int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * 8 + tx, row = blockIdx.y * 8 + ty;
  float sum = 0;
  for (int k = 0; k < n; k += 8) {
    as[ty][tx] = row < n && k + tx < n ? a[row * n + k + tx] : 0.0f;
    bs[ty][tx] = col < n && k + ty < n ? b[(k + ty) * n + col] : 0.0f;
    __syncthreads();
    for (int j = 0; j < 8; ++j) sum += as[ty][j] * bs[j][tx];
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = sum;
}

// == bytes_of_a_word_belong_to_four_threads
extern "C" __global__ void bytes_of_a_word_belong_to_four_threads(const int* x, unsigned char* marks, int* y) {
  __shared__ unsigned char flags[64];
  int t = threadIdx.x;
  flags[t] = x[t] > 50;
  marks[blockIdx.x * 64 + t] = x[t] & 255;
  __syncthreads();
  int count = 0;
  for (int i = 0; i < 64; i += 4) count += __popc(*reinterpret_cast<unsigned*>(flags + i));
  y[blockIdx.x * 64 + t] = count;
}

// == until_nothing_changes
extern "C" __global__ void until_nothing_changes(const int* start, int* labels) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = start[t];
  int changed;
  do {
    __syncthreads();
    int least = min(s[t], min(s[max(t - 1, 0)], s[min(t + 1, 63)]));
    changed = __syncthreads_or(least < s[t]);
    s[t] = least;
  } while (changed);
  labels[t] = s[t];
}

// == memcpy_of_a_group_with_wait
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void memcpy_of_a_group_with_wait(const float4* x, float4* y) {
  __shared__ float4 s[64];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, x, sizeof(float4) * 64);
  cg::wait(block);
  y[threadIdx.x] = s[63 - threadIdx.x];
}
