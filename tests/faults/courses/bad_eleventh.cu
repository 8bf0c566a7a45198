// Leaders that speak for their warps, tiles and groups, copies, rings, tails, carved memory: each with a fault.
#include "asm.cuh"

// == leader_raises_the_flag_of_its_row
extern "C" __global__ void leader_raises_the_flag_of_its_row(const int* x, int* rows, int* flags, int* y) {
  int lane = threadIdx.x;
  if (blockIdx.x == 0) {
    rows[lane] = x[lane] * 2;  // BUG
    if (lane == 0) {
      __threadfence();
      atomicExch(flags, 1);
    }
  } else {
    while (atomicAdd(flags, 0) == 0) {}
    __threadfence();
    y[lane] = rows[lane];  // BUG
  }
}

// == leader_frees_a_slot_that_is_being_read
extern "C" __global__ void leader_frees_a_slot_that_is_being_read(const int* x, volatile int* slot, volatile int* state,
                                                                  int* y, int rounds) {
  int lane = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    if (blockIdx.x == 0) {
      while (state[0] != 2 * r) {}
      __threadfence();
      __syncwarp();
      slot[lane] = x[r * 32 + lane];  // BUG
      __threadfence();
      __syncwarp();
      if (lane == 0) state[0] = 2 * r + 1;
    } else {
      while (state[0] != 2 * r + 1) {}
      __threadfence();
      __syncwarp();
      y[r * 32 + lane] = ((const int*)slot)[31 - lane];  // BUG
      if (lane == 0) {
        __threadfence();
        state[0] = 2 * r + 2;
      }
    }
  }
}

// == head_of_a_tile_tells_before_its_tile_is_done
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void head_of_a_tile_tells_before_its_tile_is_done(const int* x, int* part, unsigned* done,
                                                                        int* y) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int t = blockIdx.x * 2 + tile.meta_group_rank(), i = t * 16 + tile.thread_rank();
  part[i] = x[i] + t;  // BUG
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
    for (int k = tile.thread_rank(); k < 64; k += 16) sum += part[k];  // BUG
    y[tile.thread_rank()] = sum;
  }
}

// == leader_passes_the_baton_too_soon
extern "C" __global__ void leader_passes_the_baton_too_soon(const int* x, int* y) {
  __shared__ int row[32];
  __shared__ volatile int turn;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  if (warp == 0) {
    row[lane] = x[lane];  // BUG
    if (lane == 0) {
      __threadfence_block();
      turn = 1;
    }
  } else {
    while (turn != 1) {}
    __threadfence_block();
    y[lane] = row[31 - lane];  // BUG
  }
}

// == shuffles_in_place_of_a_warp_barrier
extern "C" __global__ void shuffles_in_place_of_a_warp_barrier(const float* x, float* scaled, float* total,
                                                               volatile int* ready, float* y) {
  int lane = threadIdx.x;
  if (blockIdx.x == 0) {
    float v = x[lane];
    scaled[lane] = 2 * v;  // BUG
    for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(FULL, v, o);
    if (lane == 0) {
      total[0] = v;
      __threadfence();
      ready[0] = 1;
    }
  } else {
    while (ready[0] == 0) {}
    __threadfence();
    y[lane] = scaled[lane] / total[0];  // BUG
  }
}

// == maximum_read_while_sums_are_stored
extern "C" __global__ void maximum_read_while_sums_are_stored(const float* x, float* y) {
  __shared__ float part[64];
  int t = threadIdx.x;
  part[t] = x[t];
  __syncthreads();
  for (int s = 32; s > 0; s /= 2) {
    if (t < s) part[t] = fmaxf(part[t], part[t + s]);
    __syncthreads();
  }
  float e = expf(x[t] - part[0]);  // BUG
  part[t] = e;  // BUG
  __syncthreads();
  for (int s = 32; s > 0; s /= 2) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  y[t] = e / part[0];
}

// == square_turned_over_its_diagonal_by_both_halves
extern "C" __global__ void square_turned_over_its_diagonal_by_both_halves(int* a, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n && column < n && row != column) {
    int mine = a[row * n + column];  // BUG
    a[row * n + column] = a[column * n + row];  // BUG
    a[column * n + row] = mine;  // BUG
  }
}

// == smoothed_where_the_neighbours_still_look
extern "C" __global__ void smoothed_where_the_neighbours_still_look(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) x[i] = (x[i - 1] + x[i] + x[i + 1]) / 3;  // BUG
}

// == votes_counted_with_plus_plus
extern "C" __global__ void votes_counted_with_plus_plus(const int* x, int* y, int n) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) bins[x[i] & 7]++;  // BUG
  __syncthreads();
  if (threadIdx.x < 8) y[threadIdx.x] = bins[threadIdx.x];
}

// == best_value_by_an_atomic_and_its_place_by_a_store
extern "C" __global__ void best_value_by_an_atomic_and_its_place_by_a_store(const int* x, int* best, int* place,
                                                            int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && atomicMax(best, x[i]) < x[i]) *place = i;  // BUG
}

// == message_posted_without_a_fence
extern "C" __global__ void message_posted_without_a_fence(const int* x, int* box, int* posted, int* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    box[0] = x[0] + 1;  // BUG
    atomicExch(posted, 1);
  } else {
    while (atomicCAS(posted, 1, 2) != 1) {}
    __threadfence();
    y[0] = box[0];  // BUG
  }
}

// == message_posted_for_the_block_alone
extern "C" __global__ void message_posted_for_the_block_alone(const int* x, int* box, volatile int* posted, int* y) {
  if (blockIdx.x == 0) {
    box[threadIdx.x] = x[threadIdx.x];  // BUG
    __threadfence_block();
    posted[threadIdx.x] = 1;
  } else {
    while (posted[threadIdx.x] == 0) {}
    __threadfence();
    y[threadIdx.x] = box[threadIdx.x];  // BUG
  }
}

// == counted_as_done_ahead_of_the_barrier
extern "C" __global__ void counted_as_done_ahead_of_the_barrier(const int* x, int* part, unsigned* done, int* y) {
  __shared__ bool last;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[i] = x[i] * x[i];  // BUG
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  int sum = 0;
  for (int k = threadIdx.x; k < gridDim.x * blockDim.x; k += blockDim.x) sum += part[k];  // BUG
  atomicAdd(y, sum);
}

// == last_block_trusts_the_count_alone
extern "C" __global__ void last_block_trusts_the_count_alone(const float* x, float* part, unsigned* done, float* y) {
  __shared__ float sum;
  __shared__ bool last;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    part[blockIdx.x] = sum;  // BUG
    last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) y[threadIdx.x] = part[threadIdx.x];  // BUG
}

// == account_locked_and_not_fenced
extern "C" __global__ void account_locked_and_not_fenced(const int* amounts, int* balance, int* lock) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {}
  *balance += amounts[blockIdx.x];  // BUG
  atomicExch(lock, 0);
}

// == lock_opened_by_a_plain_store
extern "C" __global__ void lock_opened_by_a_plain_store(const int* amounts, int* balance, int* lock) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {}  // BUG
  __threadfence();
  *balance += amounts[blockIdx.x];  // BUG
  __threadfence();
  *lock = 0;  // BUG
}

// == table_made_by_whoever_comes_first
extern "C" __global__ void table_made_by_whoever_comes_first(const int* x, int* table, int* made, int* claimed,
                                                            int* y) {
  if (*made == 0) {  // BUG
    if (threadIdx.x == 0 && atomicCAS(claimed, 0, 1) == 0) {
      for (int k = 0; k < 8; ++k) table[k] = k * k;
      __threadfence();
      *made = 1;  // BUG
    }
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
}

// == total_of_the_grid_in_the_scope_of_a_block
extern "C" __global__ void total_of_the_grid_in_the_scope_of_a_block(const int* x, int* total) {
  atomicAdd_block(total, x[blockIdx.x * blockDim.x + threadIdx.x]);  // BUG
}

// == partials_added_by_the_first_block_at_once
extern "C" __global__ void partials_added_by_the_first_block_at_once(const int* x, int* part, int* y) {
  int sum = __reduce_add_sync(FULL, x[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) part[blockIdx.x] = sum;  // BUG
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    int all = 0;
    for (int b = 0; b < gridDim.x; ++b) all += part[b];  // BUG
    *y = all;
  }
}

// == heat_of_one_array_with_one_grid_barrier
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void heat_of_one_array_with_one_grid_barrier(float* x, int n, int steps) {
  auto grid = cg::this_grid();
  int i = grid.thread_rank();
  for (int s = 0; s < steps; ++s) {
    float left = i > 0 ? x[i - 1] : 0, right = i < n - 1 ? x[i + 1] : 0;  // BUG
    x[i] = 0.5f * (left + right);  // BUG
    grid.sync();
  }
}

// == running_sum_in_one_buffer
extern "C" __global__ void running_sum_in_one_buffer(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    if (t >= d) s[t] += s[t - d];  // BUG
    __syncthreads();
  }
  y[t] = s[t];
}

// == next_tile_loaded_over_the_one_in_use
extern "C" __global__ void next_tile_loaded_over_the_one_in_use(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[8][8], tb[8][8];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, column = blockIdx.x * 8 + tx;
  float sum = 0;
  for (int k = 0; k < n; k += 8) {
    ta[ty][tx] = a[row * n + k + tx];  // BUG
    tb[ty][tx] = b[(k + ty) * n + column];  // BUG
    __syncthreads();
    for (int j = 0; j < 8; ++j) sum += ta[ty][j] * tb[j][tx];  // BUG
  }
  c[row * n + column] = sum;
}

// == exchanges_of_a_sort_without_a_barrier_between
extern "C" __global__ void exchanges_of_a_sort_without_a_barrier_between(const int* x, int* y) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int k = 2; k <= 128; k *= 2) {
    for (int j = k / 2; j > 0; j /= 2) {
      int other = t ^ j;
      if (other > t) {
        int a = s[t], b = s[other];  // BUG
        if ((a > b) == ((t & k) == 0)) {
          s[t] = b;  // BUG
          s[other] = a;  // BUG
        }
      }
    }
    __syncthreads();
  }
  y[t] = s[t];
}

// == copy_used_as_soon_as_it_is_committed
#include <cuda_pipeline.h>
extern "C" __global__ void copy_used_as_soon_as_it_is_committed(const float* x, float* y) {
  __shared__ float s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4);  // BUG
  __pipeline_commit();
  y[threadIdx.x] = 2 * s[threadIdx.x];  // BUG
}

// == each_thread_waits_for_its_own_copy_alone
#include <cuda_pipeline.h>
extern "C" __global__ void each_thread_waits_for_its_own_copy_alone(const float* x, float* y) {
  __shared__ float s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4);  // BUG
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[threadIdx.x] = s[63 - threadIdx.x];  // BUG
}

// == last_stage_not_drained
#include <cuda_pipeline.h>
extern "C" __global__ void last_stage_not_drained(const float* x, float* y, int tiles) {
  __shared__ float stage[2][64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&stage[0][t], &x[t], 4);
  __pipeline_commit();
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    if (k + 1 < tiles) {
      __pipeline_memcpy_async(&stage[(k + 1) % 2][t], &x[(k + 1) * 64 + t], 4);  // BUG
      __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += stage[k % 2][t ^ 1];  // BUG
    __syncthreads();
  }
  y[t] = sum;
}

// == rounds_of_an_mbarrier_all_asked_for_phase_zero
extern "C" __global__ void rounds_of_an_mbarrier_all_asked_for_phase_zero(const int* x, int* y, int rounds) {
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
      MBAR_WAIT(&full, 0);  // BUG
      y[r * 32 + t - 32] = s[63 - t];
    }
    BAR_SYNC(1, 64);
  }
}

// == mbarrier_for_more_than_arrive
extern "C" __global__ void mbarrier_for_more_than_arrive(const int* x, int* y) {
  __shared__ unsigned long long bar;
  __shared__ int s[64];
  if (threadIdx.x == 0) MBAR_INIT(&bar, blockDim.x + 1);
  __syncthreads();
  s[threadIdx.x] = x[threadIdx.x];
  MBAR_ARRIVE(&bar);
  MBAR_WAIT(&bar, 0);  // BUG
  y[threadIdx.x] = s[63 - threadIdx.x];
}

// == mbarrier_used_before_the_others_know_of_it
extern "C" __global__ void mbarrier_used_before_the_others_know_of_it(const int* x, int* y) {
  __shared__ unsigned long long bar;
  __shared__ int s[64];
  if (threadIdx.x == 0) MBAR_INIT(&bar, 64);  // BUG
  s[threadIdx.x] = x[threadIdx.x];
  MBAR_ARRIVE(&bar);  // BUG
  MBAR_WAIT(&bar, 0);  // BUG
  y[threadIdx.x] = s[63 - threadIdx.x];
}

// == bulk_copy_to_the_middle_of_sixteen_bytes
extern "C" __global__ void bulk_copy_to_the_middle_of_sixteen_bytes(const float* x, float* y) {
  __shared__ alignas(16) float s[72];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    MBAR_INIT(&bar, 1);
    MBAR_EXPECT(&bar, 256);
    BULK_LOAD(s + 2, x, 256, &bar);  // BUG
  }
  __syncthreads();
  MBAR_WAIT(&bar, 0);
  y[threadIdx.x] = s[threadIdx.x + 2];
}

// == buffer_filled_anew_while_it_is_sent
extern "C" __global__ void buffer_filled_anew_while_it_is_sent(const float* x, float* y, int rounds) {
  __shared__ alignas(16) float s[64];
  for (int r = 0; r < rounds; ++r) {
    s[threadIdx.x] = 3 * x[r * 64 + threadIdx.x];  // BUG
    PROXY_FENCE;
    __syncthreads();
    if (threadIdx.x == 0) {
      BULK_STORE(y + r * 64, s, 256);  // BUG
      BULK_COMMIT;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) BULK_WAIT_READ;
}

// == neighbour_of_the_cluster_read_at_once
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) neighbour_of_the_cluster_read_at_once(const int* x, int* y) {
  __shared__ int s[32];
  auto cluster = cg::this_cluster();
  s[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];  // BUG
  __syncthreads();
  int* other = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
  y[blockIdx.x * 32 + threadIdx.x] = other[threadIdx.x];  // BUG
  cluster.sync();
}

// == halo_sent_into_a_peer_that_has_not_met_it
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) halo_sent_into_a_peer_that_has_not_met_it(const int* x, int* y) {
  __shared__ int s[33];
  auto cluster = cg::this_cluster();
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  s[t + 1] = x[i];
  if (t == 31) *cluster.map_shared_rank(s, cluster.block_rank() ^ 1) = x[i];  // BUG
  __syncthreads();
  y[i] = s[t] + s[t + 1];  // BUG
  cluster.sync();
}

// == tile_synchronised_where_the_block_wrote
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tile_synchronised_where_the_block_wrote(const int* x, int* y) {
  __shared__ int s[64];
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  s[threadIdx.x] = x[threadIdx.x];  // BUG
  tile.sync();
  y[threadIdx.x] = s[63 - threadIdx.x];  // BUG
}

// == group_copy_that_nobody_waits_for
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void group_copy_that_nobody_waits_for(const int* x, int* y) {
  __shared__ alignas(16) int s[64];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, x, sizeof(int) * 64);  // BUG
  block.sync();
  y[threadIdx.x] = s[63 - threadIdx.x];  // BUG
}

// == heads_of_labels_add_plainly
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void heads_of_labels_add_plainly(const int* label, int* count) {
  auto group = cg::labeled_partition(cg::coalesced_threads(), label[threadIdx.x]);
  if (group.thread_rank() == 0) count[label[threadIdx.x]] += group.size();  // BUG
}

// == halves_of_a_word_one_by_cas_one_by_store
extern "C" __global__ void halves_of_a_word_one_by_cas_one_by_store(unsigned* words) {
  if (threadIdx.x == 0) {
    unsigned old = words[0], seen;
    do {
      seen = old;
      old = atomicCAS(words, seen, (seen & 0xffff0000u) | ((seen + 1) & 0xffffu));  // BUG
    } while (old != seen);
  } else if (threadIdx.x == 32) {
    reinterpret_cast<unsigned short*>(words)[1] = 7;  // BUG
  }
}

// == smallest_set_to_infinity_by_the_first_thread
extern "C" __global__ void smallest_set_to_infinity_by_the_first_thread(const unsigned* x, unsigned* y) {
  __shared__ unsigned least;
  if (threadIdx.x == 0) least = 0xffffffffu;  // BUG
  atomicMin(&least, x[threadIdx.x]);  // BUG
  __syncthreads();
  if (threadIdx.x == 0) *y = least;
}

// == read_only_view_of_what_others_write
extern "C" __global__ void read_only_view_of_what_others_write(const int* __restrict__ x, int* y, int n) {
  int t = threadIdx.x;
  y[t] = t * 3;  // BUG
  __syncthreads();
  y[n + t] = __ldg(x + (t + 1) % n);  // BUG
}

// == reversed_from_one_behind_the_end
extern "C" __global__ void reversed_from_one_behind_the_end(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[n - i];  // BUG
}

// == vectors_of_four_rounded_up
extern "C" __global__ void vectors_of_four_rounded_up(const float4* x, float4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (n + 3) / 4) {
    float4 v = x[i];  // BUG
    y[i] = make_float4(v.x + 1, v.y + 1, v.z + 1, v.w + 1);  // BUG
  }
}

// == height_taken_for_the_pitch
extern "C" __global__ void height_taken_for_the_pitch(const int* image, int* y, int width, int height) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < width && row < height) y[row * width + column] = image[column * width + row];  // BUG
}

// == tile_with_a_halo_on_one_side
extern "C" __global__ void tile_with_a_halo_on_one_side(const float* x, float* y, int n) {
  __shared__ float s[33];
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  s[t + 1] = x[i];
  if (t == 0) s[0] = i > 0 ? x[i - 1] : 0;
  if (t == 31) s[33] = i + 1 < n ? x[i + 1] : 0;  // BUG
  __syncthreads();
  y[i] = s[t] + s[t + 1] + s[t + 2];  // BUG
}

// == keys_and_values_in_memory_for_keys
extern "C" __global__ void keys_and_values_in_memory_for_keys(const int* keys, const int* values, int* y) {
  extern __shared__ int s[];
  int *k = s, *v = s + blockDim.x, t = threadIdx.x;
  k[t] = keys[t];
  v[t] = values[t];  // BUG
  __syncthreads();
  y[t] = k[(t + 1) % blockDim.x] * v[(t + 1) % blockDim.x];
}

// == stack_of_a_thread_deeper_than_its_array
extern "C" __global__ void stack_of_a_thread_deeper_than_its_array(const int* left, const int* right, int* y) {
  int stack[3], top = 0, sum = 0;
  stack[top++] = threadIdx.x % 2;
  while (top > 0) {
    int node = stack[--top];
    sum += node;
    if (left[node] >= 0) stack[top++] = left[node];
    if (right[node] >= 0) stack[top++] = right[node];  // BUG
  }
  y[threadIdx.x] = sum;
}

// == rows_of_a_graph_up_to_and_with_the_last
extern "C" __global__ void rows_of_a_graph_up_to_and_with_the_last(const int* starts, const int* edges, int* degree,
                                                                   int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row <= rows) degree[row] = starts[row + 1] - starts[row];  // BUG
}

// == value_of_one_has_a_bin_of_its_own
extern "C" __global__ void value_of_one_has_a_bin_of_its_own(const float* x, int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[static_cast<int>(x[i] * 16)], 1);  // BUG
}

// == shift_to_the_left_modulo_a_signed_number
extern "C" __global__ void shift_to_the_left_modulo_a_signed_number(const int* x, int* y, int shift, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[(i - shift) % n];  // BUG
}

// == offset_of_a_plane_in_thirty_two_bits
extern "C" __global__ void offset_of_a_plane_in_thirty_two_bits(const int* x, int* y, int plane, int n) {
  int z = threadIdx.x;
  y[z] = x[z * plane % n];  // BUG
}

// == printed_with_the_next_value
#include <cstdio>
extern "C" __global__ void printed_with_the_next_value(const float* x, int n) {
  int i = threadIdx.x;
  if (i < n && x[i] > x[i + 1]) printf("%d: %f\n", i, x[i]);  // BUG
}

// == four_floats_from_the_second_on
extern "C" __global__ void four_floats_from_the_second_on(const float* x, float* y) {
  float4 v = *reinterpret_cast<const float4*>(x + 1 + 4 * threadIdx.x);  // BUG
  y[threadIdx.x] = v.x + v.y + v.z + v.w;
}

// == doubles_behind_an_odd_number_of_ints
extern "C" __global__ void doubles_behind_an_odd_number_of_ints(const int* x, double* y, int n) {
  extern __shared__ __align__(16) char memory[];
  int* counts = reinterpret_cast<int*>(memory);
  double* sums = reinterpret_cast<double*>(counts + n);
  if (threadIdx.x < n) counts[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  sums[threadIdx.x] = counts[threadIdx.x % n] * 0.5;  // BUG
  y[threadIdx.x] = sums[threadIdx.x];
}

// == pairs_of_halves_from_an_odd_column
#include <cuda_fp16.h>
extern "C" __global__ void pairs_of_halves_from_an_odd_column(const __half* x, float* y, int pitch) {
  __half2 v = *reinterpret_cast<const __half2*>(x + threadIdx.x * pitch);  // BUG
  y[threadIdx.x] = __low2float(v) + __high2float(v);
}

// == sums_of_thirty_two_warps_where_three_are
extern "C" __global__ void sums_of_thirty_two_warps_where_three_are(const int* x, int* y) {
  __shared__ int part[32];
  int sum = __reduce_add_sync(FULL, x[threadIdx.x]);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    int all = __reduce_add_sync(FULL, part[threadIdx.x]);  // BUG
    if (threadIdx.x == 0) *y = all;
  }
}

// == bins_of_shared_memory_that_begin_with_anything
extern "C" __global__ void bins_of_shared_memory_that_begin_with_anything(const int* x, int* y) {
  extern __shared__ int bins[];
  atomicAdd(&bins[x[threadIdx.x] & 15], 1);  // BUG
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&y[threadIdx.x], bins[threadIdx.x]);
}

// == digits_of_a_short_number
extern "C" __global__ void digits_of_a_short_number(const int* x, int* y) {
  int digits[6], count = 0;
  for (int v = x[threadIdx.x]; v > 0; v /= 10) digits[count++] = v % 10;
  int sum = 0;
  for (int k = 0; k < 4; ++k) sum = sum * 10 + digits[(k + threadIdx.x) % 4];  // BUG
  y[threadIdx.x] = sum;  // BUG
}

// == barrier_for_those_in_range
extern "C" __global__ void barrier_for_those_in_range(const int* x, int* y, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < n) {
    s[t] = x[t];
    __syncthreads();  // BUG
    y[t] = s[n - 1 - t];
  }
  y[64 + t] = t;
}

// == steps_of_each_row_with_a_barrier_inside
extern "C" __global__ void steps_of_each_row_with_a_barrier_inside(const int* lengths, const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < lengths[t]; ++k) {
    s[t] = x[k * 64 + t];
    __syncthreads();  // BUG
    sum += s[63 - t];
    __syncthreads();  // BUG
  }
  y[t] = sum;
}

// == sum_of_a_warp_under_a_condition
extern "C" __global__ void sum_of_a_warp_under_a_condition(const int* x, int* y, int n) {
  int t = threadIdx.x, v = x[t];
  if (t < n) {
    for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(FULL, v, o);  // BUG
  }
  y[t] = v;
}

// == mask_of_the_lower_half_for_everybody
extern "C" __global__ void mask_of_the_lower_half_for_everybody(const int* x, int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = x[threadIdx.x];
  __syncwarp(0xffff);  // BUG
  y[threadIdx.x] = s[31 - threadIdx.x];
}

// == value_from_a_lane_that_was_voted_out
extern "C" __global__ void value_from_a_lane_that_was_voted_out(const int* x, int* y) {
  int t = threadIdx.x, v = x[t];
  unsigned mask = __ballot_sync(FULL, v > 0);
  if (v > 0) y[t] = __shfl_sync(mask, v, 0);  // BUG
}

// == ticket_that_is_never_called
extern "C" __global__ void ticket_that_is_never_called(int* next, volatile int* serving, int* y) {
  if (threadIdx.x != 0) return;
  int mine = atomicAdd(next, 1) + 1;
  while (serving[0] != mine) {}  // BUG
  __threadfence();
  *y += mine;
  __threadfence();
  serving[0] = mine + 1;
}

// == grid_barrier_that_one_block_leaves_out
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void grid_barrier_that_one_block_leaves_out(const int* x, int* y, int* z, int n) {
  auto grid = cg::this_grid();
  int i = grid.thread_rank();
  if (blockIdx.x * blockDim.x >= n) return;
  y[i] = x[i];
  grid.sync();  // BUG
  z[i] = y[n - 1 - i];
}

// == flag_of_a_block_that_comes_later_in_a_full_queue
extern "C" __global__ void flag_of_a_block_that_comes_later_in_a_full_queue(const int* x, volatile int* flags, int* y) {
  int b = blockIdx.x;
  if (threadIdx.x == 0) {
    while (b > 0 && flags[b - 1] == 0) {}  // BUG
    if (x[b] > 0) {
      __threadfence();
      flags[b] = 1;
    }
  }
  __syncthreads();
  y[b * blockDim.x + threadIdx.x] = x[b];
}

// == bits_of_one_byte_set_by_two_threads
struct Marks {
  unsigned char first : 4, second : 4;
};
extern "C" __global__ void bits_of_one_byte_set_by_two_threads(Marks* marks) {
  int t = threadIdx.x;
  if (t % 2) marks[t / 2].second = 5;  // BUG
  else marks[t / 2].first = 3;  // BUG
}

// == planes_of_a_block_that_forget_their_depth
extern "C" __global__ void planes_of_a_block_that_forget_their_depth(const int* x, int* y, int width) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  y[row * width + column] += x[(threadIdx.z * 8 + row) * width + column];  // BUG
}

// == strides_of_a_block_in_a_grid_of_three
extern "C" __global__ void strides_of_a_block_in_a_grid_of_three(int* x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] += 1;  // BUG
}

// == node_of_the_heap_freed_and_then_read
extern "C" __global__ void node_of_the_heap_freed_and_then_read(int* y) {
  int* node = static_cast<int*>(malloc(4 * sizeof(int)));
  node[0] = threadIdx.x;
  free(node);
  y[threadIdx.x] = node[0];  // BUG
}

// == array_of_the_heap_one_too_short
extern "C" __global__ void array_of_the_heap_one_too_short(const int* x, int* y, int n) {
  int* copy = static_cast<int*>(malloc(n * sizeof(int)));
  for (int k = 0; k <= n; ++k) copy[k] = x[k % n];  // BUG
  y[threadIdx.x] = copy[threadIdx.x % n];  // BUG
  free(copy);
}

// == copied_by_memcpy_beyond_its_end
extern "C" __global__ void copied_by_memcpy_beyond_its_end(const int* x, int* y) {
  int row[4];
  memcpy(row, x + 4 * threadIdx.x, 16);  // BUG
  for (int k = 0; k < 4; ++k) y[4 * threadIdx.x + k] = row[3 - k];  // BUG
}

// == atomic_of_the_block_seen_by_the_grid
#include <cuda/atomic>
extern "C" __global__ void atomic_of_the_block_seen_by_the_grid(const int* x, int* box, int* flag, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_block> ready(*flag);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    box[0] = x[0];  // BUG
    ready.store(1, cuda::memory_order_release);  // BUG
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {}  // BUG
    y[0] = box[0];  // BUG
  }
}

// == relaxed_flag_in_front_of_plain_data
#include <cuda/atomic>
extern "C" __global__ void relaxed_flag_in_front_of_plain_data(const int* x, int* box, int* flag, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    box[0] = x[0];  // BUG
    ready.store(1, cuda::memory_order_relaxed);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {}
    y[0] = box[0];  // BUG
  }
}

// == elected_lane_tells_for_its_warp
extern "C" __global__ void elected_lane_tells_for_its_warp(const int* x, int* rows, unsigned* count, int* y) {
  int lane = threadIdx.x;
  if (blockIdx.x == 0) {
    rows[lane] = x[lane];  // BUG
    unsigned elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
    if (elected) asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
  } else {
    unsigned seen;
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(count) : "memory");
    while (seen == 0);
    y[lane] = rows[lane];  // BUG
  }
}

// == leader_of_the_active_lanes_tells_for_them
extern "C" __global__ void leader_of_the_active_lanes_tells_for_them(const int* x, int* kept, int* ready, int* y) {
  int lane = threadIdx.x;
  if (blockIdx.x == 0) {
    if (x[lane] > 20) {
      kept[lane] = x[lane];  // BUG
      if (lane == __ffs(__activemask()) - 1) {
        __threadfence();
        atomicExch(ready, 1);
      }
    }
  } else if (x[lane] > 20) {
    while (atomicAdd(ready, 0) == 0) {}
    __threadfence();
    y[lane] = kept[lane];  // BUG
  }
}

// == asked_once_whether_the_phase_is_over
extern "C" __global__ void asked_once_whether_the_phase_is_over(const int* x, int* y) {
  __shared__ unsigned long long full;
  __shared__ int s[32];
  int t = threadIdx.x, over = 0;
  if (t == 0) MBAR_INIT(&full, 32);
  __syncthreads();
  if (t < 32) {
    for (int k = 0; k < x[t]; ++k) over += k * x[t];
    s[t] = over;  // BUG
    MBAR_ARRIVE(&full);
  } else {
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
                 : "=r"(over) : "r"(SMEM(&full)) : "memory");
    y[t] = s[t - 32] + over;  // BUG
  }
}

// == sum_of_a_bulk_reduction_read_without_a_wait
extern "C" __global__ void sum_of_a_bulk_reduction_read_without_a_wait(const int* x, int* total, int* y) {
  __shared__ alignas(16) int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  PROXY_FENCE;
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 256;"  // BUG
                 ::"l"(total), "r"(SMEM(s)) : "memory");  // BUG
    BULK_COMMIT;
  }
  __syncthreads();
  y[t] = total[t];  // BUG
}

// == triple_of_ints_by_a_vector_of_four
struct Triple {
  int a, b, c;
};
extern "C" __global__ void triple_of_ints_by_a_vector_of_four(const Triple* x, int* y) {
  int4 v = *reinterpret_cast<const int4*>(x + threadIdx.x);  // BUG
  y[threadIdx.x] = v.x + v.y + v.z;
}

// == aligned_by_promise_alone
extern "C" __global__ void aligned_by_promise_alone(const float* x, float* y, int first) {
  const float* p = static_cast<const float*>(__builtin_assume_aligned(x + first, 16));
  const float4* q = reinterpret_cast<const float4*>(p);
  float4 v = q[threadIdx.x];  // BUG
  y[threadIdx.x] = v.x * v.y + v.z * v.w;
}

// == recursion_into_a_shared_stack
__device__ int depth_of(const int* parent, int node, int* stack, int level) {
  stack[level] = node;  // BUG
  return parent[node] < 0 ? level : depth_of(parent, parent[node], stack, level + 1);
}
extern "C" __global__ void recursion_into_a_shared_stack(const int* parent, int* y) {
  __shared__ int stack[4];
  if (threadIdx.x == 0) y[0] = depth_of(parent, 5, stack, 0);  // BUG
}

// == fields_of_a_record_of_which_one_is_left_out
struct Item {
  int key;
  float weight;
};
extern "C" __global__ void fields_of_a_record_of_which_one_is_left_out(const int* x, float* y) {
  __shared__ Item items[32];
  int t = threadIdx.x;
  items[t].key = x[t];
  if (x[t] > 50) items[t].weight = 1;
  __syncthreads();
  Item other = items[31 - t];  // BUG
  y[t] = other.key * other.weight;  // BUG
}

// == shuffled_among_active_lanes_of_two_branches
extern "C" __global__ void shuffled_among_active_lanes_of_two_branches(const int* x, int* y) {
  int t = threadIdx.x, v = x[t];
  if (t < 12) {
    v += __shfl_down_sync(__activemask(), v, 8);  // BUG
  } else {
    v -= 1;
  }
  y[t] = v;
}

// == barrier_passed_by_a_pointer_to_a_function
__device__ void with_barrier(int* s, int t) {
  s[t] += 1;
  __syncthreads();  // BUG
  s[t] *= 2;
}
__device__ void without_barrier(int* s, int t) { s[t] += 2; }
extern "C" __global__ void barrier_passed_by_a_pointer_to_a_function(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  void (*step)(int*, int) = x[t] > 50 ? with_barrier : without_barrier;
  step(s, t);
  y[t] = s[t];
}

// == tail_of_a_sum_in_the_first_warp_without_volatile
extern "C" __global__ void tail_of_a_sum_in_the_first_warp_without_volatile(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32];  // BUG
    s[t] += s[t + 16];  // BUG
    s[t] += s[t + 8];  // BUG
    s[t] += s[t + 4];  // BUG
    s[t] += s[t + 2];  // BUG
    s[t] += s[t + 1];  // BUG
  }
  if (t == 0) *y = s[0];
}

// == barrier_of_a_grid_that_counts_warps
extern "C" __global__ void barrier_of_a_grid_that_counts_warps(const int* x, int* part, unsigned* count, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  part[i] = x[i] + 1;  // BUG
  if (threadIdx.x % 32 == 0) {
    __threadfence();
    atomicAdd(count, 1u);
    while (atomicAdd(count, 0u) < n / 32) {}
    __threadfence();
  }
  __syncthreads();
  y[i] = part[n - 1 - i];  // BUG
}

// == value_of_the_last_iteration_kept_in_shared_memory
extern "C" __global__ void value_of_the_last_iteration_kept_in_shared_memory(const int* x, int* y, int steps) {
  __shared__ int carry;
  int t = threadIdx.x;
  if (t == 0) carry = 0;
  for (int k = 0; k < steps; ++k) {
    __syncthreads();
    int v = x[k * 64 + t] + carry;  // BUG
    if (t == 63) carry = v;  // BUG
    y[k * 64 + t] = v;
  }
}

// == semaphore_of_relaxed_orders
#include <cuda/atomic>
extern "C" __global__ void semaphore_of_relaxed_orders(const int* x, int* sum, int* permits) {
  cuda::atomic_ref<int, cuda::thread_scope_device> free_permits(*permits);
  if (threadIdx.x != 0) return;
  int one = 0;
  while (!free_permits.compare_exchange_weak(one, 1, cuda::memory_order_relaxed)) one = 0;
  sum[0] += x[blockIdx.x];  // BUG
  free_permits.store(0, cuda::memory_order_relaxed);
}

// == constant_table_read_behind_its_end
__constant__ int weights[5] = {1, 4, 6, 4, 1};
extern "C" __global__ void constant_table_read_behind_its_end(const int* x, int* y, int taps) {
  int sum = 0;
  for (int k = 0; k <= taps; ++k) sum += weights[k] * x[threadIdx.x + k];  // BUG
  y[threadIdx.x] = sum;
}

// == counter_of_the_module_raised_plainly
__device__ int visits;
extern "C" __global__ void counter_of_the_module_raised_plainly(int* y) {
  visits += 1;  // BUG
  y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
