// Kernels with a fault of sorts that the other files lack: halos, split barriers, stages, structs, aliases, partial masks.
// "// BUG" ends each line to blame.
#define FULL 0xffffffffu

// == halo_loaded_after_the_barrier
extern "C" __global__ void halo_loaded_after_the_barrier(const float* x, float* y, int n) {
  __shared__ float tile[68];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  tile[t + 2] = x[i];
  __syncthreads();
  if (t < 2) tile[t] = i > 1 ? x[i - 2] : 0.0f;  // BUG
  if (t > 61) tile[t + 4] = i + 2 < n ? x[i + 2] : 0.0f;  // BUG
  y[i] = 0.2f * (tile[t] + tile[t + 1] + tile[t + 2] + tile[t + 3] + tile[t + 4]);  // BUG
}

// == smoothing_steps_in_one_tile
extern "C" __global__ void smoothing_steps_in_one_tile(float* x, int steps) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  for (int k = 0; k < steps; ++k) {
    __syncthreads();
    float left = t > 0 ? s[t - 1] : 0.0f, right = t < 63 ? s[t + 1] : 0.0f;  // BUG
    s[t] = 0.5f * s[t] + 0.25f * (left + right);  // BUG
  }
  x[t] = s[t];
}

// == nine_point_tile_without_corners
extern "C" __global__ void nine_point_tile_without_corners(const float* x, float* y) {
  __shared__ float tile[10][10];
  int c = threadIdx.x + 1, r = threadIdx.y + 1;
  const float* here = x + r * 10 + c;
  tile[r][c] = here[0];
  if (c == 1) tile[r][0] = here[-1];
  if (c == 8) tile[r][9] = here[1];
  if (r == 1) tile[0][c] = here[-10];
  if (r == 8) tile[9][c] = here[10];
  __syncthreads();
  float sum = 0;
  for (int dr = -1; dr <= 1; ++dr)
    for (int dc = -1; dc <= 1; ++dc) sum += tile[r + dr][c + dc];  // BUG
  y[(r - 1) * 8 + c - 1] = sum / 9;
}

// == aggregated_base_stays_with_the_leader
extern "C" __global__ void aggregated_base_stays_with_the_leader(const int* x, int* list, int* count) {
  int lane = threadIdx.x % 32, v = x[threadIdx.x];
  if (v <= 50) return;
  unsigned active = __activemask();
  int leader = __ffs(active) - 1, base;
  if (lane == leader) base = atomicAdd(count, __popc(active));
  list[base + __popc(active & ((1u << lane) - 1))] = v;  // BUG
}

// == work_between_arrive_and_wait_reads_others
#include <cuda/barrier>
extern "C" __global__ void work_between_arrive_and_wait_reads_others(const int* x, int* y) {
  __shared__ int s[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  __syncthreads();
  s[t] = x[t];  // BUG
  auto token = bar.arrive();
  int other = s[63 - t];  // BUG
  bar.wait(static_cast<decltype(token)&&>(token));
  y[t] = other;
}

// == consumers_arrive_and_producers_wait
extern "C" __global__ void consumers_arrive_and_producers_wait(const int* x, int* y) {
  __shared__ int s[32];
  int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    s[lane] = x[lane] + 1;  // BUG
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    y[lane] = s[lane];  // BUG
  }
}

// == pipeline_drains_too_late
#include <cuda_pipeline.h>
extern "C" __global__ void pipeline_drains_too_late(const float4* x, float* y, int tiles) {
  __shared__ float4 stage[2][32];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&stage[0][t], &x[t], 16);
  __pipeline_commit();
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) {
      __pipeline_memcpy_async(&stage[(i + 1) % 2][t], &x[(i + 1) * 32 + t], 16);  // BUG
      __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += stage[i % 2][31 - t].x;  // BUG
    __syncthreads();
  }
  y[t] = sum;
}

// == copies_without_a_commit
extern "C" __global__ void copies_without_a_commit(const float4* x, float4* y) {
  __shared__ float4 s[64];
  int t = threadIdx.x;
  unsigned to = __cvta_generic_to_shared(&s[t]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(x + t) : "memory");  // BUG
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  y[t] = s[63 - t];  // BUG
}

// == norm_reset_while_others_add
#include <cooperative_groups.h>
extern "C" __global__ void norm_reset_while_others_add(const float* x, float* norm, float* y) {
  auto grid = cooperative_groups::this_grid();
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i == 0) *norm = 0.0f;  // BUG
  float v = x[i] * x[i];
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(FULL, v, o);
  if (threadIdx.x == 0) atomicAdd(norm, v);  // BUG
  grid.sync();
  y[i] = x[i] * rsqrtf(*norm);
}

// == member_array_runs_into_the_next
struct Pair { float a[32], b[32]; };
extern "C" __global__ void member_array_runs_into_the_next(const float* x, float* y) {
  __shared__ Pair pair;
  int t = threadIdx.x;
  pair.b[t] = x[t];  // BUG
  pair.a[t + 1] = x[32 + t];  // BUG
  if (t == 0) pair.a[0] = 0;
  __syncthreads();
  y[t] = pair.a[31 - t] + pair.b[t];
}

// == last_particle_has_a_neighbour
struct Particle { float x, y, z, mass; };
extern "C" __global__ void last_particle_has_a_neighbour(const Particle* p, float* distance, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Particle a = p[i], b = p[i + 1];  // BUG
  distance[i] = sqrtf((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y)) + b.mass;
}

// == window_read_before_it_is_full
extern "C" __global__ void window_read_before_it_is_full(const int* x, int* y, int n) {
  int window[8];
  int t = threadIdx.x;
  for (int i = 0; i < n + t % 4; ++i) window[i % 8] = x[t + i];
  int most = 0;
  for (int i = 0; i < 8; ++i) most = max(most, window[(i + t) % 8]);  // BUG
  y[t] = most;  // BUG
}

// == reversed_through_a_const_alias
extern "C" __global__ void reversed_through_a_const_alias(const float* __restrict__ x, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[n - 1 - i];  // BUG
}

// == ldg_of_what_the_block_wrote
extern "C" __global__ void ldg_of_what_the_block_wrote(const float* x, float* y, float* z) {
  int t = threadIdx.x;
  y[t] = 2 * x[t];  // BUG
  __syncthreads();
  z[t] = __ldg(&y[63 - t]);  // BUG
}

// == two_names_for_dynamic_memory
extern __shared__ float values[];
extern __shared__ int order[];
extern "C" __global__ void two_names_for_dynamic_memory(const float* x, const int* keys, float* y) {
  int t = threadIdx.x;
  values[t] = x[t];  // BUG
  order[63 - t] = keys[t] % 64;  // BUG
  __syncthreads();
  y[t] = values[order[t] & 63];
}

// == tile_sum_after_lanes_have_left
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tile_sum_after_lanes_have_left(const float* x, float* y, int n) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  if (threadIdx.x >= n) return;
  float v = x[threadIdx.x];
  for (int o = 16; o; o /= 2) v += warp.shfl_down(v, o);  // BUG
  if (warp.thread_rank() == 0) y[threadIdx.x / 32] = v;
}

// == neighbour_by_shuffle_in_a_ragged_loop
extern "C" __global__ void neighbour_by_shuffle_in_a_ragged_loop(const int* x, int* y, int n) {
  for (int i = threadIdx.x; i < n; i += 32) {
    int v = x[i];
    y[i] = __shfl_up_sync(FULL, v, 1) + v;  // BUG
  }
}

// == broadcast_from_a_lane_outside_the_mask
extern "C" __global__ void broadcast_from_a_lane_outside_the_mask(const int* x, int* y) {
  int v = x[threadIdx.x];
  unsigned odd = __ballot_sync(FULL, threadIdx.x % 2);
  if (threadIdx.x % 2) y[threadIdx.x] = __shfl_sync(odd, v, 0);  // BUG
}

// == fence_behind_the_flag
extern "C" __global__ void fence_behind_the_flag(const int* x, int* data, volatile int* flag, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = x[0];  // BUG
    *flag = 1;
    __threadfence();
  } else {
    while (*flag == 0) {}
    __threadfence();
    y[blockIdx.x] = *data;  // BUG
  }
}

// == cluster_arrives_and_leaves
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(4) cluster_arrives_and_leaves(const int* x, int* y) {
  __shared__ int s[32];
  auto cluster = cg::this_cluster();
  int i = blockIdx.x * 32 + threadIdx.x;
  s[threadIdx.x] = x[i];
  cluster.sync();
  y[i] = cluster.map_shared_rank(s, (cluster.block_rank() + 1) % 4)[threadIdx.x];  // BUG
  cluster.barrier_arrive();
}

// == reduction_whose_lanes_name_different_masks
extern "C" __global__ void reduction_whose_lanes_name_different_masks(const unsigned* x, unsigned* y) {
  unsigned mask = threadIdx.x % 2 ? FULL : 0x55555555u;
  y[threadIdx.x] = __reduce_add_sync(mask, x[threadIdx.x]);  // BUG
}

// == block_sum_called_twice
__device__ float block_sum(float v, float* partial) {
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(FULL, v, o);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;  // BUG
  __syncthreads();
  return partial[0] + partial[1];  // BUG
}
extern "C" __global__ void block_sum_called_twice(const float* x, float* y) {
  __shared__ float partial[2];
  float v = x[threadIdx.x];
  float mean = block_sum(v, partial) / 64;  // BUG
  float variance = block_sum((v - mean) * (v - mean), partial) / 64;  // BUG
  y[threadIdx.x] = (v - mean) * rsqrtf(variance);
}

// == ragged_tile_is_not_zeroed
extern "C" __global__ void ragged_tile_is_not_zeroed(const float* a, const float* b, float* c, int n) {
  __shared__ float as[8][8], bs[8][8];
  int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * 8 + tx, row = blockIdx.y * 8 + ty;
  float sum = 0;
  for (int k = 0; k < n; k += 8) {
    if (row < n && k + tx < n) as[ty][tx] = a[row * n + k + tx];
    if (col < n && k + ty < n) bs[ty][tx] = b[(k + ty) * n + col];
    __syncthreads();
    for (int j = 0; j < 8; ++j) sum += as[ty][j] * bs[j][tx];  // BUG
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = sum;
}

// == pairs_of_a_row_of_odd_length
extern "C" __global__ void pairs_of_a_row_of_odd_length(const float* x, float* y, int cols) {
  const float2* row = reinterpret_cast<const float2*>(x + blockIdx.x * cols);
  float2 v = row[threadIdx.x];  // BUG
  y[blockIdx.x * 16 + threadIdx.x] = v.x + v.y;
}

// == memcpy_of_a_group_without_wait
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void memcpy_of_a_group_without_wait(const float4* x, float4* y) {
  __shared__ float4 s[64];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, x, sizeof(float4) * 64);  // BUG
  block.sync();
  y[threadIdx.x] = s[63 - threadIdx.x];  // BUG
}
