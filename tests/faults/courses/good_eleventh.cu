// The kernels of the eleventh set as they should be, and others that look suspicious and are correct.
#include "asm.cuh"

// == leader_raises_the_flag_behind_a_warp_barrier
extern "C" __global__ void leader_raises_the_flag_behind_a_warp_barrier(const int* x, int* rows, int* flags, int* y) {
  int lane = threadIdx.x;
  if (blockIdx.x == 0) {
    rows[lane] = x[lane] * 2;
    __syncwarp();
    if (lane == 0) {
      __threadfence();
      atomicExch(flags, 1);
    }
  } else {
    while (atomicAdd(flags, 0) == 0) {}
    __threadfence();
    y[lane] = rows[lane];
  }
}

// == leader_raises_the_flag_behind_the_block_barrier
extern "C" __global__ void leader_raises_the_flag_behind_the_block_barrier(const int* x, int* rows, int* flags,
                                                            int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    rows[t] = x[t] * 2;
    __syncthreads();
    if (t == 32) {
      __threadfence();
      atomicExch(flags, 1);
    }
  } else {
    if (t == 0) {
      while (atomicAdd(flags, 0) == 0) {}
      __threadfence();
    }
    __syncthreads();
    y[t] = rows[63 - t];
  }
}

// == every_lane_fences_and_the_first_one_tells
extern "C" __global__ void every_lane_fences_and_the_first_one_tells(const int* x, int* rows, volatile int* flag,
                                                                     int* y) {
  int lane = threadIdx.x;
  if (blockIdx.x == 0) {
    rows[lane] = x[lane] + 5;
    __threadfence();
    __syncwarp();
    if (lane == 0) flag[0] = 1;
  } else {
    while (flag[0] == 0) {}
    __threadfence();
    y[lane] = rows[31 - lane];
  }
}

// == leader_frees_a_slot_behind_a_warp_barrier
extern "C" __global__ void leader_frees_a_slot_behind_a_warp_barrier(const int* x, volatile int* slot,
                                                                     volatile int* state, int* y, int rounds) {
  int lane = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    if (blockIdx.x == 0) {
      while (state[0] != 2 * r) {}
      __threadfence();
      __syncwarp();
      slot[lane] = x[r * 32 + lane];
      __threadfence();
      __syncwarp();
      if (lane == 0) state[0] = 2 * r + 1;
    } else {
      while (state[0] != 2 * r + 1) {}
      __threadfence();
      __syncwarp();
      y[r * 32 + lane] = ((const int*)slot)[31 - lane];
      __syncwarp();
      if (lane == 0) {
        __threadfence();
        state[0] = 2 * r + 2;
      }
    }
  }
}

// == slot_freed_when_its_sum_is_known
extern "C" __global__ void slot_freed_when_its_sum_is_known(const int* x, int* slot, int* state, int* y, int rounds) {
  int lane = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    if (blockIdx.x == 0) {
      while (atomicAdd(state, 0) != 2 * r) {}
      __syncwarp();
      slot[lane] = x[r * 32 + lane];
      __syncwarp();
      if (lane == 0) {
        __threadfence();
        atomicAdd(state, 1);
      }
    } else {
      while (atomicAdd(state, 0) != 2 * r + 1) {}
      __threadfence();
      __syncwarp();
      int sum = __reduce_add_sync(FULL, slot[lane]);
      if (lane == 0) {
        y[r] = sum;
        __threadfence();
        atomicAdd(state, 1);
      }
    }
  }
}

// == head_of_a_tile_tells_when_its_tile_is_done
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void head_of_a_tile_tells_when_its_tile_is_done(const int* x, int* part, unsigned* done, int* y) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int t = blockIdx.x * 2 + tile.meta_group_rank(), i = t * 16 + tile.thread_rank();
  part[i] = x[i] + t;
  tile.sync();
  if (tile.thread_rank() == 0) {
    __threadfence();
    atomicAdd(done, 1u);
  }
  if (t == 3) {
    if (tile.thread_rank() == 0)
      while (atomicAdd(done, 0u) < 4u) {}
    __threadfence();
    tile.sync();
    int sum = 0;
    for (int k = tile.thread_rank(); k < 64; k += 16) sum += part[k];
    y[tile.thread_rank()] = sum;
  }
}

// == baton_of_the_warps_passed_behind_warp_barriers
extern "C" __global__ void baton_of_the_warps_passed_behind_warp_barriers(const int* x, int* y) {
  __shared__ int row[32];
  __shared__ volatile int turn;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  while (turn != warp) {}
  __threadfence_block();
  __syncwarp();
  int v = warp == 0 ? x[lane] : row[31 - lane] + x[warp * 32 + lane];
  __syncwarp();
  row[lane] = v;
  __threadfence_block();
  __syncwarp();
  if (lane == 0) turn = warp + 1;
  y[warp * 32 + lane] = v;
}

// == first_lane_writes_all_that_it_tells
extern "C" __global__ void first_lane_writes_all_that_it_tells(const float* x, float* stats, volatile int* ready,
                                                               float* y) {
  int lane = threadIdx.x;
  if (blockIdx.x == 0) {
    float sum = x[lane], squares = sum * sum;
    for (int o = 16; o > 0; o /= 2) {
      sum += __shfl_xor_sync(FULL, sum, o);
      squares += __shfl_xor_sync(FULL, squares, o);
    }
    if (lane == 0) {
      stats[0] = sum;
      stats[1] = squares;
      __threadfence();
      ready[0] = 1;
    }
  } else {
    while (ready[0] == 0) {}
    __threadfence();
    y[lane] = (x[lane] - stats[0]) * stats[1];
  }
}

// == a_flag_for_every_thread
extern "C" __global__ void a_flag_for_every_thread(const int* x, int* box, volatile int* posted, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    box[t] = x[t];
    __threadfence();
    posted[t] = 1;
  } else {
    while (posted[t] == 0) {}
    __threadfence();
    y[t] = box[t];
  }
}

// == lanes_of_one_warp_lock_in_turn
extern "C" __global__ void lanes_of_one_warp_lock_in_turn(const int* amounts, int* balance, int* lock) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *(volatile int*)balance += amounts[blockIdx.x * blockDim.x + threadIdx.x];
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// == warp_locks_once_for_all_its_lanes
extern "C" __global__ void warp_locks_once_for_all_its_lanes(const int* x, int* table, int* lock) {
  int lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (lane == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
  }
  __syncwarp();
  table[lane] += x[warp * 32 + lane];
  __syncwarp();
  if (lane == 0) {
    __threadfence();
    atomicExch(lock, 0);
  }
}

// == status_and_value_in_one_word
extern "C" __global__ void status_and_value_in_one_word(const int* x, unsigned long long* words, int* y) {
  int b = blockIdx.x, lane = threadIdx.x, v = x[b * 32 + lane];
  int sum = __reduce_add_sync(FULL, v);
  int before = 0;
  if (lane == 0) {
    if (b > 0) {
      unsigned long long word;
      do word = atomicAdd(words + b - 1, 0ull);
      while (word >> 32 == 0);
      before = static_cast<int>(word);
    }
    atomicExch(words + b, 1ull << 32 | static_cast<unsigned>(before + sum));
  }
  before = __shfl_sync(FULL, before, 0);
  y[b * 32 + lane] = before + v;
}

// == maximum_kept_by_each_thread
extern "C" __global__ void maximum_kept_by_each_thread(const float* x, float* y) {
  __shared__ float part[64];
  int t = threadIdx.x;
  part[t] = x[t];
  __syncthreads();
  for (int s = 32; s > 0; s /= 2) {
    if (t < s) part[t] = fmaxf(part[t], part[t + s]);
    __syncthreads();
  }
  float e = expf(x[t] - part[0]);
  __syncthreads();
  part[t] = e;
  __syncthreads();
  for (int s = 32; s > 0; s /= 2) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  y[t] = e / part[0];
}

// == square_turned_by_the_upper_half
extern "C" __global__ void square_turned_by_the_upper_half(int* a, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column < n && row < column) {
    int mine = a[row * n + column];
    a[row * n + column] = a[column * n + row];
    a[column * n + row] = mine;
  }
}

// == best_value_and_its_place_in_one_word
extern "C" __global__ void best_value_and_its_place_in_one_word(const int* x, unsigned long long* best, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(best, static_cast<unsigned long long>(x[i]) << 32 | static_cast<unsigned>(n - i));
}

// == last_block_behind_a_fence
extern "C" __global__ void last_block_behind_a_fence(const float* x, float* part, unsigned* done, float* y) {
  __shared__ float sum;
  __shared__ bool last;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    part[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) y[threadIdx.x] = part[threadIdx.x];
}

// == each_block_has_a_total_of_its_own
extern "C" __global__ void each_block_has_a_total_of_its_own(const int* x, int* totals, int* y) {
  atomicAdd_block(&totals[blockIdx.x], x[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  y[blockIdx.x * blockDim.x + threadIdx.x] = totals[blockIdx.x];
}

// == table_made_once_and_awaited_by_the_rest
extern "C" __global__ void table_made_once_and_awaited_by_the_rest(const int* x, int* table, int* state, int* y) {
  __shared__ int copy[8];
  if (threadIdx.x == 0) {
    if (atomicCAS(state, 0, 1) == 0) {
      for (int k = 0; k < 8; ++k) table[k] = k * k;
      __threadfence();
      atomicExch(state, 2);
    }
    while (atomicCAS(state, 2, 2) != 2) {}
    __threadfence();
    for (int k = 0; k < 8; ++k) copy[k] = table[k];
  }
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = copy[x[i] & 7];
}

// == heat_in_two_arrays_with_a_grid_barrier
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void heat_in_two_arrays_with_a_grid_barrier(float* x, float* z, int n, int steps) {
  auto grid = cg::this_grid();
  int i = grid.thread_rank();
  for (int s = 0; s < steps; ++s) {
    float left = i > 0 ? x[i - 1] : 0, right = i < n - 1 ? x[i + 1] : 0;
    z[i] = 0.5f * (left + right);
    grid.sync();
    float* other = x;
    x = z;
    z = other;
  }
}

// == running_sum_in_two_buffers
extern "C" __global__ void running_sum_in_two_buffers(const int* x, int* y) {
  __shared__ int s[2][64];
  int t = threadIdx.x, in = 0;
  s[0][t] = x[t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    s[1 - in][t] = t >= d ? s[in][t] + s[in][t - d] : s[in][t];
    in = 1 - in;
    __syncthreads();
  }
  y[t] = s[in][t];
}

// == tiles_of_a_product_between_two_barriers
extern "C" __global__ void tiles_of_a_product_between_two_barriers(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[8][8], tb[8][9];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, column = blockIdx.x * 8 + tx;
  float sum = 0;
  for (int k = 0; k < n; k += 8) {
    ta[ty][tx] = a[row * n + k + tx];
    tb[ty][tx] = b[(k + ty) * n + column];
    __syncthreads();
    for (int j = 0; j < 8; ++j) sum += ta[ty][j] * tb[j][tx];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// == every_second_barrier_of_a_sort_within_the_warp
extern "C" __global__ void every_second_barrier_of_a_sort_within_the_warp(const int* x, int* y) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int k = 2; k <= 128; k *= 2) {
    for (int j = k / 2; j > 0; j /= 2) {
      int other = t ^ j;
      if (other > t) {
        int a = s[t], b = s[other];
        if ((a > b) == ((t & k) == 0)) {
          s[t] = b;
          s[other] = a;
        }
      }
      if (j > 32 || j == 1) __syncthreads();
      else if (j == 32) __syncthreads();
      else __syncwarp();
    }
  }
  y[t] = s[t];
}

// == stages_drained_at_the_end
#include <cuda_pipeline.h>
extern "C" __global__ void stages_drained_at_the_end(const float* x, float* y, int tiles) {
  __shared__ float stage[2][64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&stage[0][t], &x[t], 4);
  __pipeline_commit();
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    if (k + 1 < tiles) __pipeline_memcpy_async(&stage[(k + 1) % 2][t], &x[(k + 1) * 64 + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += stage[k % 2][t ^ 1];
    __syncthreads();
  }
  y[t] = sum;
}

// == rounds_of_an_mbarrier_by_their_parity
extern "C" __global__ void rounds_of_an_mbarrier_by_their_parity(const int* x, int* y, int rounds) {
  __shared__ unsigned long long full;
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&full, 32);
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    if (t < 32) {
      s[t] = x[r * 32 + t];
      MBAR_ARRIVE(&full);
    } else {
      MBAR_WAIT(&full, r & 1);
      y[r * 32 + t - 32] = s[63 - t];
    }
    BAR_SYNC(1, 64);
  }
}

// == consumer_warps_release_a_stage_by_their_first_lanes
extern "C" __global__ void consumer_warps_release_a_stage_by_their_first_lanes(const int* x, int* y, int tiles) {
  __shared__ unsigned long long full[2], empty[2];
  __shared__ int s[2][64];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x < 2) {
    MBAR_INIT(&full[threadIdx.x], 32);
    MBAR_INIT(&empty[threadIdx.x], 2);
  }
  __syncthreads();
  for (int k = 0; k < tiles; ++k) {
    int stage = k % 2, parity = k / 2 % 2;
    if (warp == 2) {
      MBAR_WAIT(&empty[stage], parity ^ 1);
      s[stage][lane] = x[k * 64 + lane];
      s[stage][lane + 32] = x[k * 64 + lane + 32];
      MBAR_ARRIVE(&full[stage]);
    } else {
      MBAR_WAIT(&full[stage], parity);
      y[k * 64 + threadIdx.x] = s[stage][63 - threadIdx.x];
      __syncwarp();
      if (lane == 0) MBAR_ARRIVE(&empty[stage]);
    }
  }
}

// == bulk_copy_in_and_bulk_copy_out
extern "C" __global__ void bulk_copy_in_and_bulk_copy_out(const float* x, float* y, int rounds) {
  __shared__ alignas(16) float in[64], out[64];
  __shared__ unsigned long long bar;
  int t = threadIdx.x;
  if (t == 0) MBAR_INIT(&bar, 1);
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    if (t == 0) {
      MBAR_EXPECT(&bar, 256);
      BULK_LOAD(in, x + r * 64, 256, &bar);
    }
    MBAR_WAIT(&bar, r & 1);
    if (t == 0) BULK_WAIT_READ;
    __syncthreads();
    out[t] = 2 * in[63 - t];
    PROXY_FENCE;
    __syncthreads();
    if (t == 0) {
      BULK_STORE(y + r * 64, out, 256);
      BULK_COMMIT;
    }
  }
  if (t == 0) BULK_WAIT_READ;
}

// == neighbour_of_the_cluster_read_between_two_barriers
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) neighbour_of_the_cluster_read_between_two_barriers(const int* x,
                                                            int* y) {
  __shared__ int s[32];
  auto cluster = cg::this_cluster();
  s[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  cluster.sync();
  int* other = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
  y[blockIdx.x * 32 + threadIdx.x] = other[threadIdx.x];
  cluster.sync();
}

// == halo_sent_into_a_peer_that_has_begun
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) halo_sent_into_a_peer_that_has_begun(const int* x, int* y) {
  __shared__ int s[33];
  auto cluster = cg::this_cluster();
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  cluster.sync();
  s[t + 1] = x[i];
  if (t == 31) *cluster.map_shared_rank(s, cluster.block_rank() ^ 1) = x[i];
  cluster.sync();
  y[i] = s[t] + s[t + 1];
}

// == group_copy_awaited_by_the_group
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void group_copy_awaited_by_the_group(const int* x, int* y) {
  __shared__ alignas(16) int s[64];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, x, sizeof(int) * 64);
  cg::wait(block);
  y[threadIdx.x] = s[63 - threadIdx.x];
}

// == heads_of_labels_add_for_their_groups
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void heads_of_labels_add_for_their_groups(const int* label, int* count) {
  auto group = cg::labeled_partition(cg::coalesced_threads(), label[threadIdx.x]);
  if (group.thread_rank() == 0) atomicAdd(&count[label[threadIdx.x]], static_cast<int>(group.size()));
}

// == halves_of_a_word_both_by_cas
__device__ void add_half(unsigned* word, int shift, unsigned v) {
  unsigned old = *word, seen;
  do {
    seen = old;
    unsigned half = ((seen >> shift & 0xffffu) + v) & 0xffffu;
    old = atomicCAS(word, seen, (seen & ~(0xffffu << shift)) | half << shift);
  } while (old != seen);
}
extern "C" __global__ void halves_of_a_word_both_by_cas(unsigned* words) {
  add_half(words, threadIdx.x % 2 * 16, threadIdx.x);
}

// == smallest_set_to_infinity_before_a_barrier
extern "C" __global__ void smallest_set_to_infinity_before_a_barrier(const unsigned* x, unsigned* y) {
  __shared__ unsigned least;
  if (threadIdx.x == 0) least = 0xffffffffu;
  __syncthreads();
  atomicMin(&least, __reduce_min_sync(FULL, x[threadIdx.x]));
  __syncthreads();
  if (threadIdx.x == 0) *y = least;
}

// == vectors_of_four_and_a_rest_of_single_floats
extern "C" __global__ void vectors_of_four_and_a_rest_of_single_floats(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    float4 v = reinterpret_cast<const float4*>(x)[i];
    reinterpret_cast<float4*>(y)[i] = make_float4(v.x + 1, v.y + 1, v.z + 1, v.w + 1);
  }
  int rest = n / 4 * 4 + i;
  if (i < n % 4) y[rest] = x[rest] + 1;
}

// == doubles_ahead_of_an_odd_number_of_ints
extern "C" __global__ void doubles_ahead_of_an_odd_number_of_ints(const int* x, double* y, int n) {
  extern __shared__ __align__(16) char memory[];
  double* sums = reinterpret_cast<double*>(memory);
  int* counts = reinterpret_cast<int*>(sums + blockDim.x);
  if (threadIdx.x < n) counts[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  sums[threadIdx.x] = counts[threadIdx.x % n] * 0.5;
  y[threadIdx.x] = sums[threadIdx.x];
}

// == sums_of_as_many_warps_as_there_are
extern "C" __global__ void sums_of_as_many_warps_as_there_are(const int* x, int* y) {
  __shared__ int part[32];
  int sum = __reduce_add_sync(FULL, x[threadIdx.x]);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    int all = __reduce_add_sync(FULL, threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0);
    if (threadIdx.x == 0) *y = all;
  }
}

// == threads_beyond_the_end_leave_first
extern "C" __global__ void threads_beyond_the_end_leave_first(const int* x, int* y, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t >= n) return;
  s[t] = x[t];
  __syncthreads();
  y[t] = s[n - 1 - t];
}

// == sum_of_those_that_a_vote_names
extern "C" __global__ void sum_of_those_that_a_vote_names(const int* x, int* y) {
  int t = threadIdx.x, v = x[t];
  unsigned mask = __ballot_sync(FULL, v > 40);
  if (v > 40) y[t] = __reduce_add_sync(mask, v) + __shfl_sync(mask, v, __ffs(mask) - 1);
}

// == matched_lanes_send_one_of_them
extern "C" __global__ void matched_lanes_send_one_of_them(const int* keys, int* count) {
  int key = keys[blockIdx.x * 32 + threadIdx.x];
  unsigned same = __match_any_sync(FULL, key);
  if (threadIdx.x == __ffs(same) - 1) atomicAdd(&count[key], __popc(same));
}

// == tickets_called_in_their_order
extern "C" __global__ void tickets_called_in_their_order(int* next, volatile int* serving, int* order) {
  if (threadIdx.x != 0) return;
  int mine = atomicAdd(next, 1);
  while (serving[0] != mine) {}
  __threadfence();
  order[0] = order[0] * 2 + mine;
  __threadfence();
  serving[0] = mine + 1;
}

// == blocks_without_rows_come_to_the_grid_barrier_too
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void blocks_without_rows_come_to_the_grid_barrier_too(const int* x, int* y, int* z, int n) {
  auto grid = cg::this_grid();
  int i = grid.thread_rank();
  if (i < n) y[i] = x[i];
  grid.sync();
  if (i < n) z[i] = y[n - 1 - i];
}

// == printed_by_one_thread_of_those_that_count
#include <cstdio>
extern "C" __global__ void printed_by_one_thread_of_those_that_count(const int* x, int n) {
  int above = __syncthreads_count(threadIdx.x < n && x[threadIdx.x] > 50);
  if (threadIdx.x == 0) printf("%d of %d\n", above, n);
}

// == two_halves_of_a_block_at_barriers_of_their_own
extern "C" __global__ void two_halves_of_a_block_at_barriers_of_their_own(const int* x, int* y) {
  __shared__ int s[128];
  int t = threadIdx.x, half = t / 64;
  for (int r = 0; r <= half; ++r) {
    s[t] = x[t] + r;
    BAR_SYNC(1 + half, 64);
    y[t] = s[half * 64 + 63 - t % 64];
    BAR_SYNC(1 + half, 64);
  }
}

// == work_taken_by_the_first_thread_for_its_block
extern "C" __global__ void work_taken_by_the_first_thread_for_its_block(const int* x, int* next, int* y, int items) {
  __shared__ int item;
  while (true) {
    if (threadIdx.x == 0) item = atomicAdd(next, 1);
    __syncthreads();
    int mine = item;
    __syncthreads();
    if (mine >= items) return;
    y[mine * blockDim.x + threadIdx.x] = 3 * x[mine * blockDim.x + threadIdx.x];
  }
}

// == places_reserved_by_one_lane_for_those_that_keep
extern "C" __global__ void places_reserved_by_one_lane_for_those_that_keep(const int* x, int* count, int* kept) {
  int lane = threadIdx.x % 32, v = x[blockIdx.x * blockDim.x + threadIdx.x], first = 0;
  unsigned mask = __ballot_sync(FULL, v & 1);
  if (lane == 0) first = atomicAdd(count, __popc(mask));
  first = __shfl_sync(FULL, first, 0);
  if (v & 1) kept[first + __popc(mask & ((1u << lane) - 1))] = v;
}

// == half_of_the_lanes_write_what_the_first_tells
extern "C" __global__ void half_of_the_lanes_write_what_the_first_tells(const int* x, int* rows, int* flag, int* y) {
  int lane = threadIdx.x;
  if (blockIdx.x == 0) {
    if (lane < 16) {
      rows[lane] = x[lane] + x[lane + 16];
      __syncwarp(0xffff);
      if (lane == 0) {
        __threadfence();
        atomicExch(flag, 1);
      }
    }
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
    y[lane] = rows[lane % 16];
  }
}

// == bytes_of_one_word_set_by_four_threads
extern "C" __global__ void bytes_of_one_word_set_by_four_threads(const int* x, unsigned char* bytes) {
  bytes[threadIdx.x] = static_cast<unsigned char>(x[threadIdx.x] + 1);
}

// == node_of_the_heap_read_and_then_freed
extern "C" __global__ void node_of_the_heap_read_and_then_freed(int* y) {
  int* node = static_cast<int*>(malloc(4 * sizeof(int)));
  node[0] = threadIdx.x;
  y[threadIdx.x] = node[0];
  free(node);
}

// == flag_released_and_acquired_by_references
#include <cuda/atomic>
extern "C" __global__ void flag_released_and_acquired_by_references(const int* x, int* box, int* flag, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    box[0] = x[0];
    ready.store(1, cuda::memory_order_release);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {}
    y[0] = box[0];
  }
}

// == elected_lane_tells_behind_a_warp_barrier
extern "C" __global__ void elected_lane_tells_behind_a_warp_barrier(const int* x, int* rows, unsigned* count, int* y) {
  int lane = threadIdx.x;
  if (blockIdx.x == 0) {
    rows[lane] = x[lane];
    __syncwarp();
    unsigned elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
    if (elected) asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
  } else {
    unsigned seen;
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(count) : "memory");
    while (seen == 0);
    y[lane] = rows[lane];
  }
}

// == asked_until_the_phase_is_over
extern "C" __global__ void asked_until_the_phase_is_over(const int* x, int* y) {
  __shared__ unsigned long long full;
  __shared__ int s[32];
  int t = threadIdx.x, over = 0;
  if (t == 0) MBAR_INIT(&full, 32);
  __syncthreads();
  if (t < 32) {
    for (int k = 0; k < x[t]; ++k) over += k * x[t];
    s[t] = over;
    MBAR_ARRIVE(&full);
  } else {
    while (over == 0)
      asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
                   : "=r"(over) : "r"(SMEM(&full)) : "memory");
    y[t] = s[t - 32] + over;
  }
}

// == sum_of_a_bulk_reduction_awaited_by_its_thread
extern "C" __global__ void sum_of_a_bulk_reduction_awaited_by_its_thread(const int* x, int* total, int* y) {
  __shared__ alignas(16) int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  PROXY_FENCE;
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 256;"
                 ::"l"(total), "r"(SMEM(s)) : "memory");
    BULK_COMMIT;
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
  __syncthreads();
  y[t] = total[t];
}

// == tail_of_a_sum_with_warp_barriers
extern "C" __global__ void tail_of_a_sum_with_warp_barriers(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  if (t < 32) {
    int v = s[t] + s[t + 32];
    for (int o = 16; o > 0; o /= 2) {
      __syncwarp();
      s[t] = v;
      __syncwarp();
      v += s[(t + o) % 32];
    }
    if (t == 0) *y = v;
  }
}

// == barrier_of_a_grid_that_counts_warps_behind_their_barriers
extern "C" __global__ void barrier_of_a_grid_that_counts_warps_behind_their_barriers(const int* x, int* part,
                                                                                     unsigned* count, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  part[i] = x[i] + 1;
  __syncwarp();
  if (threadIdx.x % 32 == 0) {
    __threadfence();
    atomicAdd(count, 1u);
    while (atomicAdd(count, 0u) < n / 32) {}
    __threadfence();
  }
  __syncthreads();
  y[i] = part[n - 1 - i];
}

// == carry_of_the_last_iteration_between_two_barriers
extern "C" __global__ void carry_of_the_last_iteration_between_two_barriers(const int* x, int* y, int steps) {
  __shared__ int carry;
  int t = threadIdx.x;
  if (t == 0) carry = 0;
  for (int k = 0; k < steps; ++k) {
    __syncthreads();
    int v = x[k * 64 + t] + carry;
    __syncthreads();
    if (t == 63) carry = v;
    y[k * 64 + t] = v;
  }
}

// == semaphore_of_acquire_and_release
#include <cuda/atomic>
extern "C" __global__ void semaphore_of_acquire_and_release(const int* x, int* sum, int* permits) {
  cuda::atomic_ref<int, cuda::thread_scope_device> free_permits(*permits);
  if (threadIdx.x != 0) return;
  int one = 0;
  while (!free_permits.compare_exchange_weak(one, 1, cuda::memory_order_acquire, cuda::memory_order_relaxed)) one = 0;
  sum[0] += x[blockIdx.x];
  free_permits.store(0, cuda::memory_order_release);
}

// == leader_of_a_coalesced_group_tells_behind_its_barrier
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void leader_of_a_coalesced_group_tells_behind_its_barrier(const int* x, int* kept, int* ready,
                                                                                int* y) {
  int lane = threadIdx.x;
  if (blockIdx.x == 0) {
    if (x[lane] > 20) {
      auto group = cg::coalesced_threads();
      kept[lane] = x[lane];
      group.sync();
      if (group.thread_rank() == 0) {
        __threadfence();
        atomicExch(ready, 1);
      }
    }
  } else if (x[lane] > 20) {
    while (atomicAdd(ready, 0) == 0) {}
    __threadfence();
    y[lane] = kept[lane];
  }
}
