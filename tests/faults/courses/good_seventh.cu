// Kernels that look suspicious and are correct: tables, the heap, deques, guards, groups, pipelines, clusters, graphs.
#include "asm.cuh"

// == shortest_ways_in_one_matrix
extern "C" __global__ void shortest_ways_in_one_matrix(const int* x, int* y) {
  __shared__ int d[8][8];
  int i = threadIdx.y, j = threadIdx.x;
  d[i][j] = i == j ? 0 : x[i * 8 + j] + 1;
  __syncthreads();
  for (int k = 0; k < 8; ++k) {
    int via = d[i][k] + d[k][j];
    if (via < d[i][j]) d[i][j] = via;
    __syncthreads();
  }
  y[i * 8 + j] = d[i][j];
}

// == bytes_expected_after_the_copy_is_issued
extern "C" __global__ void bytes_expected_after_the_copy_is_issued(const float* x, float* y) {
  __shared__ alignas(16) float tile[64];
  __shared__ unsigned long long full;
  int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    BULK_LOAD(tile, x, 128, &full);
    BULK_LOAD(tile + 32, x + 32, 128, &full);
    MBAR_EXPECT(&full, 256);
  }
  __syncthreads();
  MBAR_WAIT(&full, 0);
  y[t] = tile[63 - t];
}

// == producer_that_begins_with_parity_one
template <int SLOTS>
struct Ring {
  float slot[SLOTS][32];
  unsigned long long full[SLOTS], empty[SLOTS];
};
extern "C" __global__ void producer_that_begins_with_parity_one(const float* x, float* y, int tiles) {
  __shared__ Ring<3> ring;
  int lane = threadIdx.x % 32, slot = 0, parity = threadIdx.x < 32;
  if (threadIdx.x == 0)
    for (int s = 0; s < 3; ++s) {
      MBAR_INIT(&ring.full[s], 32);
      MBAR_INIT(&ring.empty[s], 32);
    }
  __syncthreads();
  for (int i = 0; i < tiles; ++i) {
    if (threadIdx.x < 32) {
      MBAR_WAIT(&ring.empty[slot], parity);
      ring.slot[slot][lane] = x[i * 32 + lane];
      MBAR_ARRIVE(&ring.full[slot]);
    } else {
      MBAR_WAIT(&ring.full[slot], parity);
      y[i * 32 + lane] = ring.slot[slot][31 - lane];
      MBAR_ARRIVE(&ring.empty[slot]);
    }
    if (++slot == 3) {
      slot = 0;
      parity ^= 1;
    }
  }
}

// == name_zero_is_the_barrier_of_the_block
extern "C" __global__ void name_zero_is_the_barrier_of_the_block(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  asm volatile("barrier.cta.sync.aligned 0;" ::: "memory");
  int v = s[63 - t];
  BAR_SYNC(0, 64);
  s[t] = v + 1;
  __syncthreads();
  y[t] = s[63 - t];
}

// == lanes_meet_at_two_lines
extern "C" __global__ void lanes_meet_at_two_lines(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  if (t % 32 < 8) {
    asm volatile("barrier.sync 3, 64;" ::: "memory");
    y[t] = s[63 - t];
  } else {
    s[t] += 0;
    asm volatile("barrier.sync 3, 64;" ::: "memory");
    y[t] = s[63 - t];
  }
}

// == copy_of_nothing_from_beyond_the_end
template <int BYTES>
__device__ void copy_or_fill(void* to, const void* from, bool inside) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(SMEM(to)), "l"(from), "n"(BYTES),
               "r"(inside ? BYTES : 0) : "memory");
}
extern "C" __global__ void copy_of_nothing_from_beyond_the_end(const float* x, float* y, int n) {
  __shared__ float tile[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  copy_or_fill<4>(&tile[t], x + i, i < n);
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  y[i] = tile[63 - t];
}

// == list_on_the_heap_that_is_freed_in_order
struct Node {
  int value;
  Node* next;
};
extern "C" __global__ void list_on_the_heap_that_is_freed_in_order(const int* x, int* y, int n) {
  Node* head = nullptr;
  for (int i = 0; i < n; ++i) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    if (!node) return;
    *node = {x[threadIdx.x * n + i], head};
    head = node;
  }
  int sum = 0;
  while (head) {
    Node* next = head->next;
    sum = 3 * sum + head->value;
    free(head);
    head = next;
  }
  y[threadIdx.x] = sum;
}

// == scratch_of_the_heap_for_the_block
extern "C" __global__ void scratch_of_the_heap_for_the_block(const int* sizes, float* y) {
  __shared__ float* scratch;
  int t = threadIdx.x;
  if (t == 0) scratch = static_cast<float*>(malloc(size_t(sizes[blockIdx.x]) * sizeof(float)));
  __syncthreads();
  if (!scratch) {
    y[blockIdx.x * 64 + t] = -1;
    return;
  }
  scratch[t] = t * 0.5f;
  __syncthreads();
  y[blockIdx.x * 64 + t] = scratch[63 - t];
  __syncthreads();
  if (t == 0) free(scratch);
}

// == mask_that_may_be_left_out
struct Attention {
  const float* scores;
  const unsigned char* mask;
  __device__ float score(int row, int col, int n) const {
    float s = scores[row * n + col];
    return mask == nullptr || mask[col] ? s : -1e9f;
  }
};
extern "C" __global__ void mask_that_may_be_left_out(const float* scores, const unsigned char* mask, float* y, int n) {
  Attention a{scores, mask};
  int row = blockIdx.x, lane = threadIdx.x;
  float s = lane < n ? a.score(row, lane, n) : -1e30f, most = s;
  for (int o = 16; o; o /= 2) most = fmaxf(most, __shfl_xor_sync(FULL, most, o));
  float e = lane < n ? __expf(s - most) : 0, sum = e;
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(FULL, sum, o);
  if (lane < n) y[row * n + lane] = e / sum;
}

// == loss_without_the_tokens_to_ignore
extern "C" __global__ void loss_without_the_tokens_to_ignore(const float* logits, const int* targets, float* losses,
                                                             int classes) {
  int row = blockIdx.x, lane = threadIdx.x, target = targets[row];
  const float* mine = logits + row * classes;
  float sum = 0, picked = mine[max(target, 0)];
  for (int c = lane; c < classes; c += 32) sum += __expf(mine[c]);
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(FULL, sum, o);
  if (lane == 0) losses[row] = target < 0 ? 0 : logf(sum) - picked;
}

// == lanes_that_do_not_exist_are_not_read
extern "C" __global__ void lanes_that_do_not_exist_are_not_read(const float* x, float* y, int cols) {
  int row = threadIdx.x / 16, lane = threadIdx.x % 16;
  unsigned mask = threadIdx.x < 32 ? FULL : 0xffffu;
  float sum = 0;
  for (int c = lane; c < cols; c += 16) sum += x[row * cols + c];
  for (int o = 8; o; o /= 2) sum += __shfl_xor_sync(mask, sum, o, 16);
  if (lane == 0) y[row] = sum;
}

// == one_lane_locks_for_its_warp
extern "C" __global__ void one_lane_locks_for_its_warp(const int* x, int* bins, int* lock) {
  int lane = threadIdx.x % 32;
  if (lane == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
  }
  __syncwarp();
  bins[lane] += x[blockIdx.x * blockDim.x + threadIdx.x];
  __syncwarp();
  if (lane == 0) {
    __threadfence();
    atomicExch(lock, 0);
  }
}

// == lanes_of_a_warp_lock_one_after_the_other
extern "C" __global__ void lanes_of_a_warp_lock_one_after_the_other(const int* x, int* sum, int* lock) {
  int v = x[blockIdx.x * blockDim.x + threadIdx.x];
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *sum += v;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// == latch_of_the_block
#include <cuda/latch>
using Latch = cuda::latch<cuda::thread_scope_block>;
extern "C" __global__ void latch_of_the_block(const int* x, int* y) {
  __shared__ alignas(Latch) unsigned char storage[sizeof(Latch)];
  __shared__ int s[32];
  Latch& ready = *reinterpret_cast<Latch*>(storage);
  int t = threadIdx.x;
  if (t == 0) new (&ready) Latch(32);
  __syncthreads();
  if (t < 32) {
    s[t] = x[t];
    ready.count_down();
  } else {
    ready.wait();
    y[t - 32] = s[63 - t];
  }
}

// == semaphore_with_one_permit
#include <cuda/semaphore>
using Permits = cuda::counting_semaphore<cuda::thread_scope_device, 4>;
extern "C" __global__ void semaphore_with_one_permit(long long* storage, const int* x, int* total) {
  if (threadIdx.x) return;
  Permits& permits = *reinterpret_cast<Permits*>(storage);
  permits.acquire();
  *total += x[blockIdx.x];
  permits.release();
}

// == two_may_enter_and_add_atomically
extern "C" __global__ void two_may_enter_and_add_atomically(int* permits, const int* x, int* total, int* most) {
  if (threadIdx.x) return;
  while (true) {
    int left = atomicAdd(permits, -1);
    if (left > 0) break;
    atomicAdd(permits, 1);
  }
  atomicAdd(total, x[blockIdx.x]);
  atomicMax(most, x[blockIdx.x]);
  atomicAdd(permits, 1);
}

// == own_elements_of_a_copy
#include <cuda/pipeline>
extern "C" __global__ void own_elements_of_a_copy(const float* x, float* y, int tiles) {
  __shared__ float stage[2][64];
  auto pipe = cuda::make_pipeline();
  int t = threadIdx.x;
  for (int i = 0; i <= tiles; ++i) {
    if (i < tiles) {
      pipe.producer_acquire();
      cuda::memcpy_async(&stage[i % 2][t], &x[i * 64 + t], sizeof(float), pipe);
      pipe.producer_commit();
    }
    if (i > 0) {
      i < tiles ? cuda::pipeline_consumer_wait_prior<1>(pipe) : cuda::pipeline_consumer_wait_prior<0>(pipe);
      y[(i - 1) * 64 + t] = 2 * stage[(i - 1) % 2][t];
      pipe.consumer_release();
    }
  }
}

// == totals_of_the_cluster_by_its_first_block
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(4) totals_of_the_cluster_by_its_first_block(const int* x, int* y) {
  __shared__ int totals[4];
  auto cluster = cooperative_groups::this_cluster();
  int rank = cluster.block_rank();
  int v = __reduce_add_sync(FULL, x[blockIdx.x * 32 + threadIdx.x]);
  cluster.sync();
  if (threadIdx.x == 0) *cluster.map_shared_rank(&totals[rank], 0) = v;
  cluster.sync();
  if (rank == 0 && threadIdx.x < 4) {
    int before = 0;
    for (int k = 0; k < (int)threadIdx.x; ++k) before += totals[k];
    y[blockIdx.x + threadIdx.x] = before;
  }
}

// == list_ranked_in_two_copies
extern "C" __global__ void list_ranked_in_two_copies(const int* next, int* rank, int n) {
  __shared__ int2 nodes[2][64];
  int t = threadIdx.x, now = 0;
  nodes[0][t] = {next[t], next[t] != t};
  __syncthreads();
  for (int reach = 1; reach < n; reach *= 2, now ^= 1) {
    int2 mine = nodes[now][t], other = nodes[now][mine.x];
    nodes[now ^ 1][t] = {other.x, mine.y + other.y};
    __syncthreads();
  }
  rank[t] = nodes[now][t].y;
}

// == deque_released_after_the_task
#include <cuda/atomic>
struct Deque {
  int tasks[8], top, bottom;
  __device__ void push(int task) {
    cuda::atomic_ref<int, cuda::thread_scope_device> end(bottom);
    int at = end.load(cuda::memory_order_relaxed);
    tasks[at % 8] = task;
    end.store(at + 1, cuda::memory_order_release);
  }
  __device__ int steal() {
    cuda::atomic_ref<int, cuda::thread_scope_device> begin(top), end(bottom);
    int at = begin.load(cuda::memory_order_acquire);
    while (at >= end.load(cuda::memory_order_acquire)) {}
    int task = tasks[at % 8];
    begin.store(at + 1, cuda::memory_order_release);
    return task;
  }
};
extern "C" __global__ void deque_released_after_the_task(Deque* deque, const int* x, int* y, int n) {
  if (threadIdx.x) return;
  for (int i = 0; i < n; ++i)
    if (blockIdx.x == 0) deque->push(x[i]);
    else y[i] = deque->steal();
}

// == halves_of_a_warp_go_their_ways
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void halves_of_a_warp_go_their_ways(const int* x, int* y) {
  auto half = cg::tiled_partition<16>(cg::this_thread_block());
  int t = threadIdx.x, v = x[t], result;
  if (half.meta_group_rank() == 0) {
    result = cg::reduce(half, v, cg::plus<int>());
  } else {
    result = cg::reduce(half, v, cg::greater<int>());
    result = half.shfl(result, 15);
  }
  y[t] = result;
}

// == group_of_the_lanes_that_are_left
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void group_of_the_lanes_that_are_left(const int* begins, const int* items, int* y, int* turns) {
  int list = threadIdx.x, sum = 0;
  for (int i = begins[list]; i < begins[list + 1]; ++i) {
    auto left = cg::coalesced_threads();
    sum += items[i];
    if (left.thread_rank() == 0) atomicAdd(turns, left.size());
    left.sync();
  }
  y[list] = sum;
}

// == set_and_used_under_the_same_condition
extern "C" __global__ void set_and_used_under_the_same_condition(const int* x, int* y, int n) {
  __shared__ int slots[2];
  int t = threadIdx.x, kept[4];
  bool many = n > 40;
  if (many && t < 2) slots[t] = x[t];
  if (many)
    for (int k = 0; k < 4; ++k) kept[k] = x[(t + k) % n];
  __syncthreads();
  int sum = t;
  for (int k = 0; k < (many ? 4 : 0); ++k) sum += kept[k] * slots[k % 2];
  y[t] = sum;
}

// == corners_of_the_halo_that_a_cross_leaves_out
extern "C" __global__ void corners_of_the_halo_that_a_cross_leaves_out(const float* x, float* y, int side) {
  __shared__ float s[10][10];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1, row = blockIdx.y * 8 + ty - 1, col = blockIdx.x * 8 + tx - 1;
  s[ty][tx] = x[row * side + col];
  if (ty == 1) s[0][tx] = row > 0 ? x[(row - 1) * side + col] : 0;
  if (ty == 8) s[9][tx] = row + 1 < side ? x[(row + 1) * side + col] : 0;
  if (tx == 1) s[ty][0] = col > 0 ? x[row * side + col - 1] : 0;
  if (tx == 8) s[ty][9] = col + 1 < side ? x[row * side + col + 1] : 0;
  __syncthreads();
  y[row * side + col] = s[ty - 1][tx] + s[ty + 1][tx] + s[ty][tx - 1] + s[ty][tx + 1] - 4 * s[ty][tx];
}

// == sums_over_the_padding_with_a_zero
extern "C" __global__ void sums_over_the_padding_with_a_zero(const float* x, float* y) {
  __shared__ float tile[16][17];
  int col = threadIdx.x, row = threadIdx.y;
  tile[row][col] = x[row * 16 + col];
  if (col == 15) tile[row][16] = 0;
  __syncthreads();
  if (row == 0) {
    float sum = 0;
    for (const float *p = tile[col], *end = tile[col + 1]; p != end; ++p) sum += *p;
    y[col] = sum;
  }
}

// == carved_by_a_cursor
struct Arena {
  unsigned char* at;
  template <typename T>
  __device__ T* take(int count) {
    size_t address = (reinterpret_cast<size_t>(at) + alignof(T) - 1) / alignof(T) * alignof(T);
    at = reinterpret_cast<unsigned char*>(address) + count * sizeof(T);
    return reinterpret_cast<T*>(address);
  }
};
extern "C" __global__ void carved_by_a_cursor(const int* x, double* y, int n) {
  extern __shared__ __align__(16) unsigned char storage[];
  Arena arena{storage};
  unsigned char* flags = arena.take<unsigned char>(n + 1);
  int* keys = arena.take<int>(n);
  double* sums = arena.take<double>(n);
  int t = threadIdx.x;
  if (t < n) {
    keys[t] = x[t];
    flags[t] = x[t] % 2;
  }
  if (t == 0) flags[n] = 0;
  __syncthreads();
  if (t < n) sums[t] = keys[n - 1 - t] * 0.5 + flags[t + 1];
  __syncthreads();
  if (t < n) y[t] = sums[n - 1 - t];
}

// == scalars_written_then_vectors_read
extern "C" __global__ void scalars_written_then_vectors_read(const float* x, float4* y) {
  __shared__ float4 tile[4][5];
  float* cells = reinterpret_cast<float*>(tile);
  int t = threadIdx.x;
  cells[t % 4 * 20 + t / 4] = x[t];
  __syncthreads();
  if (t < 16) y[t] = tile[t / 4][t % 4];
}

// == cuckoo_by_exchange
__device__ unsigned place_of(unsigned key, int function) {
  return (function ? key * 40503u >> 4 : key * 2654435761u >> 8) % 64;
}
extern "C" __global__ void cuckoo_by_exchange(const unsigned* x, unsigned* table, unsigned* found, int n) {
  __shared__ int lost;
  int t = threadIdx.x;
  if (t == 0) lost = 0;
  __syncthreads();
  if (t < n) {
    unsigned key = x[t], place = place_of(key, 0);
    for (int tries = 0; tries < 40; ++tries) {
      key = atomicExch(&table[place], key);
      if (key == 0) break;
      place = place == place_of(key, 0) ? place_of(key, 1) : place_of(key, 0);
    }
    if (key) atomicAdd(&lost, 1);
  }
  __syncthreads();
  if (t < n) found[t] = lost || atomicAdd(&table[place_of(x[t], 0)], 0u) == x[t] ||
                        atomicAdd(&table[place_of(x[t], 1)], 0u) == x[t];
}

// == grid_barrier_with_a_release
#include <cuda/atomic>
__device__ void grid_barrier(unsigned* arrived, unsigned blocks) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> count(*arrived);
  __syncthreads();
  if (threadIdx.x == 0) {
    count.fetch_add(1, cuda::memory_order_release);
    while (count.load(cuda::memory_order_acquire) < blocks) {}
  }
  __syncthreads();
}
extern "C" __global__ void grid_barrier_with_a_release(const int* x, int* middle, int* y, unsigned* arrived) {
  int i = blockIdx.x * 64 + threadIdx.x, n = gridDim.x * 64;
  middle[i] = x[i] * 5;
  grid_barrier(arrived, gridDim.x);
  y[i] = middle[n - 1 - i];
  grid_barrier(arrived, 2 * gridDim.x);
  middle[i] = 0;
}

// == tile_announced_to_the_whole_gpu
__device__ void announce(int* flag) { asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory"); }
__device__ void await_tile(const int* flag) {
  int seen;
  do asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
  while (!seen);
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
}
extern "C" __global__ void tile_announced_to_the_whole_gpu(const int* x, int* tiles, int* flags, int* y) {
  int t = threadIdx.x, block = blockIdx.x;
  tiles[block * 32 + t] = x[block * 32 + t];
  __syncthreads();
  if (t == 0) announce(&flags[block]);
  if (block > 0) {
    if (t == 0) await_tile(&flags[block - 1]);
    __syncthreads();
    y[block * 32 + t] = tiles[(block - 1) * 32 + 31 - t];
  }
}

// == version_raised_after_the_page_is_written
struct Page {
  int version, words[32];
};
extern "C" __global__ void version_raised_after_the_page_is_written(const int* x, Page* page, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    page->words[t] = x[t];
    __threadfence();
    __syncthreads();
    if (t == 0) atomicMax(&page->version, 7);
  } else {
    if (t == 0)
      while (atomicAdd(&page->version, 0) < 7) {}
    __syncthreads();
    __threadfence();
    y[t] = page->words[31 - t];
  }
}

// == guard_that_publishes_before_it_frees
class Guard {
 public:
  __device__ explicit Guard(int* lock) : lock_(lock) {
    while (atomicCAS(lock_, 0, 1) != 0) __nanosleep(20);
    __threadfence();
  }
  __device__ ~Guard() {
    __threadfence();
    atomicExch(lock_, 0);
  }

 private:
  int* lock_;
};
extern "C" __global__ void guard_that_publishes_before_it_frees(const int* x, int2* all, int* lock) {
  int v = __reduce_add_sync(FULL, x[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) {
    Guard guard(lock);
    all->x += v;
    all->y = max(all->y, v);
  }
}

// == rows_under_a_guard_that_whole_warps_fail
template <int THREADS>
__device__ int sum_of(int v) {
  __shared__ int s[THREADS];
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  s[t] = v;
  __syncthreads();
  for (int o = blockDim.x / 2; o > 0; o /= 2) {
    if (threadIdx.x < o) s[t] += s[t + o];
    __syncthreads();
  }
  return s[threadIdx.y * blockDim.x];
}
extern "C" __global__ void rows_under_a_guard_that_whole_warps_fail(const int* x, int* y, int rows) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  int sum = sum_of<128>(x[row * blockDim.x + threadIdx.x]);
  if (threadIdx.x == 0) y[row] = sum;
}

// == lambda_that_all_threads_call_as_often
extern "C" __global__ void lambda_that_all_threads_call_as_often(const int* x, int* y, int turns) {
  __shared__ int s[64];
  int t = threadIdx.x, v = x[t];
  auto shifted = [&](int value) {
    s[t] = value;
    __syncthreads();
    int other = s[63 - t];
    __syncthreads();
    return other;
  };
  for (int i = 0; i < turns; ++i) v = shifted(v) + (t < 32 ? 1 : 2);
  y[t] = v;
}

// == grid_meets_in_each_turn_of_the_longest
#include <cooperative_groups.h>
extern "C" __global__ void grid_meets_in_each_turn_of_the_longest(const int* x, int* middle, int* y, int tiles) {
  auto grid = cooperative_groups::this_grid();
  int turns = (tiles + gridDim.x - 1) / gridDim.x, t = threadIdx.x;
  for (int i = 0; i < turns; ++i) {
    int tile = i * gridDim.x + blockIdx.x;
    if (tile < tiles) middle[tile * 32 + t] = x[tile * 32 + t];
    grid.sync();
    if (tile < tiles) y[tile * 32 + t] = middle[tile / gridDim.x * gridDim.x * 32 + 31 - t];
  }
}

// == token_of_each_phase
#include <cuda/barrier>
extern "C" __global__ void token_of_each_phase(const int* x, int* y) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  __syncthreads();
  auto first = bar.arrive();
  int v = 2 * x[t];
  bar.wait(cuda::std::move(first));
  s[t] = v;
  (void)bar.arrive();
  bar.wait_parity(true);
  y[t] = s[63 - t];
}

// == leader_of_the_active_lanes_reserves
__device__ int reserve(int* count) {
  unsigned active = __activemask();
  int leader = __ffs(active) - 1, base = 0;
  if (threadIdx.x % 32 == leader) base = atomicAdd(count, __popc(active));
  base = __shfl_sync(active, base, leader);
  return base + __popc(active & ((1u << threadIdx.x % 32) - 1));
}
extern "C" __global__ void leader_of_the_active_lanes_reserves(const int* x, int* y, int* count) {
  int v = x[threadIdx.x];
  if (v % 3 == 0) y[reserve(count)] = 1;
}

// == groups_committed_though_some_are_empty
#include <cuda_pipeline.h>
template <int STAGES>
struct Stages {
  float tile[STAGES][64];
};
extern "C" __global__ void groups_committed_though_some_are_empty(const float* x, float* y, int tiles) {
  __shared__ Stages<3> stages;
  int t = threadIdx.x;
  auto load = [&](int i) {
    if (i < tiles) __pipeline_memcpy_async(&stages.tile[i % 3][t], &x[i * 64 + t], 4);
    __pipeline_commit();
  };
  load(0);
  load(1);
  for (int i = 0; i < tiles; ++i) {
    __pipeline_wait_prior(1);
    __syncthreads();
    load(i + 2);
    y[i * 64 + t] = stages.tile[i % 3][63 - t];
  }
}

// == bulk_stores_from_two_tiles
extern "C" __global__ void bulk_stores_from_two_tiles(const float* x, float* y, int tiles) {
  __shared__ alignas(16) float tile[2][64];
  int t = threadIdx.x;
  for (int i = 0; i < tiles; ++i) {
    if (t == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    __syncthreads();
    tile[i % 2][t] = 2 * x[i * 64 + t];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      BULK_STORE(y + i * 64, tile[i % 2], 256);
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// == halo_sent_to_both_sides
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(4) halo_sent_to_both_sides(const int* x, int* y) {
  __shared__ int cells[32], halo[2];
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, i = blockIdx.x * 32 + t, rank = cluster.block_rank(), size = cluster.num_blocks();
  cells[t] = x[i];
  if (t < 2) halo[t] = 0;
  cluster.sync();
  if (t == 0 && rank > 0) cluster.map_shared_rank(halo, rank - 1)[1] = cells[0];
  if (t == 31 && rank + 1 < size) cluster.map_shared_rank(halo, rank + 1)[0] = cells[31];
  cluster.sync();
  y[i] = (t > 0 ? cells[t - 1] : halo[0]) + (t < 31 ? cells[t + 1] : halo[1]);
}

// == flag_in_the_peer_behind_fences
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2) flag_in_the_peer_behind_fences(const int* x, int* y) {
  __shared__ int inbox[32], told;
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x;
  if (t == 0) told = 0;
  cluster.sync();
  if (cluster.block_rank() == 0) {
    cluster.map_shared_rank(inbox, 1)[t] = x[t];
    __threadfence();
    __syncthreads();
    if (t == 0) atomicExch(cluster.map_shared_rank(&told, 1), 1);
  } else {
    if (t == 0) {
      while (atomicAdd(&told, 0) == 0) {}
      __threadfence();
    }
    __syncthreads();
    y[t] = inbox[31 - t];
  }
  cluster.sync();
}

// == ring_of_the_cluster_shifts_through_registers
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(4) ring_of_the_cluster_shifts_through_registers(const int* x, int* y) {
  __shared__ int tile[32];
  auto cluster = cooperative_groups::this_cluster();
  int t = threadIdx.x, sum = 0, size = cluster.num_blocks();
  tile[t] = x[blockIdx.x * 32 + t];
  for (int i = 0; i < size; ++i) {
    cluster.sync();
    sum += (i + 1) * tile[t];
    int next = cluster.map_shared_rank(tile, (cluster.block_rank() + 1) % size)[t];
    cluster.sync();
    tile[t] = next;
  }
  y[blockIdx.x * 32 + t] = sum;
}

// == maximum_swapped_with_a_fresh_word
__device__ void atomic_max_float(float* p, float v) {
  int *word = reinterpret_cast<int*>(p), old = *word;
  while (__int_as_float(old) < v) {
    int before = atomicCAS(word, old, __float_as_int(v));
    if (before == old) break;
    old = before;
  }
}
extern "C" __global__ void maximum_swapped_with_a_fresh_word(const float* x, float* most, int n) {
  float best = -1e30f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) best = fmaxf(best, x[i]);
  atomic_max_float(most, best);
}

// == second_child_joins_the_boxes
struct Box {
  int parent, left, right;
  float low, high;
};
extern "C" __global__ void second_child_joins_the_boxes(Box* nodes, int* visits, const float* leaf, int leaves) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= leaves) return;
  int node = leaves - 1 + i;
  nodes[node].low = nodes[node].high = leaf[i];
  while (nodes[node].parent >= 0) {
    node = nodes[node].parent;
    __threadfence();
    if (atomicAdd(&visits[node], 1) == 0) return;
    __threadfence();
    const Box &a = nodes[nodes[node].left], &b = nodes[nodes[node].right];
    nodes[node].low = fminf(a.low, b.low);
    nodes[node].high = fmaxf(a.high, b.high);
  }
}

// == colours_in_two_arrays
#include <cooperative_groups.h>
extern "C" __global__ void colours_in_two_arrays(const int* others, int* colour, int* then, int n, int rounds) {
  auto grid = cooperative_groups::this_grid();
  int v = grid.thread_rank();
  for (int r = 0; r < rounds; ++r) {
    if (v < n) then[v] = max(colour[v], max(colour[others[2 * v]], colour[others[2 * v + 1]]));
    grid.sync();
    int* c = colour;
    colour = then;
    then = c;
  }
}

// == elimination_with_a_barrier_of_the_grid
#include <cooperative_groups.h>
extern "C" __global__ void elimination_with_a_barrier_of_the_grid(float* a, int n) {
  auto grid = cooperative_groups::this_grid();
  int row = blockIdx.x, t = threadIdx.x;
  for (int k = 0; k < n - 1; ++k) {
    float factor = row > k ? a[row * n + k] / a[k * n + k] : 0;
    __syncthreads();
    if (row > k && t == k) a[row * n + k] = factor;
    if (row > k && t > k && t < n) a[row * n + t] -= factor * a[k * n + t];
    grid.sync();
  }
}

// == samples_sorted_before_splitters_are_taken
extern "C" __global__ void samples_sorted_before_splitters_are_taken(const int* x, int* bucket, int n) {
  __shared__ int sample[32], splitter[3];
  int t = threadIdx.x;
  if (t < 32) {
    int rank = 0, mine = sample[t] = x[t * n / 32];
    __syncwarp();
    for (int k = 0; k < 32; ++k) rank += sample[k] < mine || (sample[k] == mine && k < t);
    __syncwarp();
    sample[rank] = mine;
    __syncwarp();
    if (t < 3) splitter[t] = sample[8 * (t + 1)];
  }
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) {
    int b = 0;
    while (b < 3 && x[i] >= splitter[b]) ++b;
    bucket[i] = b;
  }
}

// == heads_linked_by_exchange
struct Lists {
  int *head, *next;
  __device__ void push(int bucket, int item) { next[item] = atomicExch(&head[bucket], item); }
};
extern "C" __global__ void heads_linked_by_exchange(const int* keys, int* head, int* next, int n, int buckets) {
  Lists lists{head, next};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    lists.push(keys[i] % buckets, i);
}

// == beams_gathered_through_shared_memory
extern "C" __global__ void beams_gathered_through_shared_memory(float* cache, const int* parents, int beams,
                                                                int width) {
  extern __shared__ float column[];
  int c = blockIdx.x * blockDim.x + threadIdx.x, beam = threadIdx.y;
  float* mine = column + threadIdx.x * beams;
  if (c < width) mine[beam] = cache[beam * width + c];
  __syncthreads();
  if (c < width) cache[beam * width + c] = mine[parents[beam]];
}

// == key_that_its_own_block_appends
extern "C" __global__ void key_that_its_own_block_appends(float* keys, const float* fresh, const float* query,
                                                          float* scores, int length, int size) {
  int head = blockIdx.x, t = threadIdx.x;
  float* mine = keys + head * (length + 1) * size;
  if (t < size) mine[length * size + t] = fresh[head * size + t];
  __syncthreads();
  for (int p = t; p <= length; p += blockDim.x) {
    float s = 0;
    for (int d = 0; d < size; ++d) s += query[head * size + d] * mine[p * size + d];
    scores[head * (length + 1) + p] = s;
  }
}

// == total_of_the_blocks_before
extern "C" __global__ void total_of_the_blocks_before(const int* x, volatile int* sums, int* y, int n) {
  __shared__ int before;
  int t = threadIdx.x, i = blockIdx.x * 32 + t, v = i < n ? x[i] : 0;
  for (int o = 1; o < 32; o *= 2) {
    int left = __shfl_up_sync(FULL, v, o);
    if (t >= o) v += left;
  }
  if (t == 31) {
    int sum = 0;
    if (blockIdx.x > 0)
      while ((sum = sums[blockIdx.x - 1]) == 0) {}
    before = sum > 0 ? sum - 1 : 0;
    sums[blockIdx.x] = before + v + 1;
  }
  __syncthreads();
  if (i < n) y[i] = before + v;
}

// == next_row_for_two_blocks
template <typename Work>
__device__ void persistent(int* next, int rows, Work work) {
  __shared__ int row;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) row = atomicAdd(next, 1);
    __syncthreads();
    if (row >= rows) break;
    work(row);
  }
}
extern "C" __global__ void next_row_for_two_blocks(const int* x, int* y, int* next, int rows, int cols) {
  persistent(next, rows, [&](int row) {
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[row * cols + c] = x[row * cols + c] + 1;
  });
}

// == neighbours_in_halves_and_words
#include <cuda_fp16.h>
extern "C" __global__ void neighbours_in_halves_and_words(const float* x, __half* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 4 == 0) *reinterpret_cast<__half2*>(&y[i]) = __floats2half2_rn(x[i], x[i + 1]);
  if (i % 4 > 1) y[i] = __float2half(x[i]);
}

// == rotations_of_pairs_that_do_not_meet
__device__ void rotate(float& a, float& b, float c, float s) {
  float old = a;
  a = c * old - s * b;
  b = s * old + c * b;
}
extern "C" __global__ void rotations_of_pairs_that_do_not_meet(float* matrix, const float* angles, int rounds) {
  __shared__ float m[8][9];
  int pair = threadIdx.y, row = threadIdx.x;
  m[row][2 * pair] = matrix[row * 8 + 2 * pair];
  m[row][2 * pair + 1] = matrix[row * 8 + 2 * pair + 1];
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    int p = pair == 0 ? 7 : (r + pair) % 7, q = (r + 7 - pair) % 7;
    rotate(m[row][p], m[row][q], cosf(angles[r]), sinf(angles[r]));
    __syncthreads();
  }
  matrix[row * 8 + 2 * pair] = m[row][2 * pair];
  matrix[row * 8 + 2 * pair + 1] = m[row][2 * pair + 1];
}

// == roots_hooked_by_compare_and_swap
__device__ int root_of(int* parent, int v) {
  for (int up; (up = atomicAdd(&parent[v], 0)) != v;) v = up;
  return v;
}
extern "C" __global__ void roots_hooked_by_compare_and_swap(const int2* edges, int* label, int n, int m) {
  __shared__ int parent[64];
  int t = threadIdx.x;
  if (t < n) parent[t] = t;
  __syncthreads();
  for (int e = t; e < m; e += blockDim.x)
    for (int a = edges[e].x, b = edges[e].y;;) {
      a = root_of(parent, a);
      b = root_of(parent, b);
      if (a == b || atomicCAS(&parent[max(a, b)], max(a, b), min(a, b)) == max(a, b)) break;
    }
  __syncthreads();
  if (t < n) label[t] = root_of(parent, t);
}

// == quicksort_with_a_stack_of_its_own
extern "C" __global__ void quicksort_with_a_stack_of_its_own(const int* x, int* y, int n) {
  int keys[16], stack[16], top = 0;
  for (int i = 0; i < n; ++i) keys[i] = x[threadIdx.x * n + i];
  stack[top++] = 0;
  stack[top++] = n - 1;
  while (top > 0) {
    int high = stack[--top], low = stack[--top], i = low, j = high, pivot = keys[(low + high) / 2];
    while (i <= j) {
      while (keys[i] < pivot) ++i;
      while (keys[j] > pivot) --j;
      if (i <= j) {
        int k = keys[i];
        keys[i++] = keys[j];
        keys[j--] = k;
      }
    }
    if (low < j) {
      stack[top++] = low;
      stack[top++] = j;
    }
    if (i < high) {
      stack[top++] = i;
      stack[top++] = high;
    }
  }
  for (int i = 0; i < n; ++i) y[threadIdx.x * n + i] = keys[i];
}

// == tables_of_rows_in_shared_memory
extern "C" __global__ void tables_of_rows_in_shared_memory(const int* x, int* y) {
  __shared__ int even[64], odd[64];
  __shared__ int* rows[2];
  int t = threadIdx.x;
  if (t == 0) {
    rows[0] = even;
    rows[1] = odd;
  }
  __syncthreads();
  rows[t % 2][t] = x[t];
  rows[1 - t % 2][t] = 0;
  __syncthreads();
  if (t == 0) {
    int* row = rows[0];
    rows[0] = rows[1];
    rows[1] = row;
  }
  __syncthreads();
  y[t] = rows[0][63 - t];
}

// == sums_that_wrap_around_on_purpose
extern "C" __global__ void sums_that_wrap_around_on_purpose(const unsigned* x, unsigned* y, int n) {
  __shared__ unsigned ring[32];
  unsigned t = threadIdx.x, head = 0xfffffff0u + t;
  ring[head % 32] = x[t];
  __syncwarp();
  unsigned hash = 2166136261u;
  for (unsigned k = 0; k < 32; ++k) hash = (hash ^ ring[(head + k) % 32]) * 16777619u;
  y[t] = hash;
}

// == words_of_zero_and_one_by_many
extern "C" __global__ void words_of_zero_and_one_by_many(const int* x, int* seen, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    if (atomicOr(&seen[x[i] / 32], 1 << x[i] % 32) >> x[i] % 32 & 1) atomicAdd(&seen[4], 1);
}

// == warp_groups_alternate_by_names
extern "C" __global__ void warp_groups_alternate_by_names(const int* x, int* y, int turns) {
  __shared__ int board[64];
  int group = threadIdx.x / 64, t = threadIdx.x % 64;
  if (group == 1) BAR_ARRIVE(1, 128);
  for (int i = 0; i < turns; ++i) {
    BAR_SYNC(1 + group, 128);
    board[t] = x[(i * 2 + group) * 64 + t];
    BAR_SYNC(3 + group, 64);
    y[(i * 2 + group) * 64 + t] = board[63 - t];
    BAR_SYNC(3 + group, 64);
    if (i + 1 < turns || group == 0) BAR_ARRIVE(2 - group, 128);
  }
}

// == block_of_the_heap_freed_by_the_last_reader
struct Shared {
  int readers, values[32];
};
extern "C" __global__ void block_of_the_heap_freed_by_the_last_reader(const int* x, unsigned long long* place, int* y) {
  __shared__ Shared* all;
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    if (t == 0) all = new Shared{static_cast<int>(gridDim.x), {}};
    __syncthreads();
    all->values[t] = x[t];
    __syncthreads();
    if (t == 0) {
      __threadfence();
      atomicExch(place, reinterpret_cast<unsigned long long>(all));
    }
  } else {
    if (t == 0) {
      while (!(all = reinterpret_cast<Shared*>(atomicAdd(place, 0ull)))) {}
      __threadfence();
    }
    __syncthreads();
  }
  y[blockIdx.x * 32 + t] = all->values[31 - t];
  __syncthreads();
  if (t == 0) {
    __threadfence();
    if (atomicSub(&all->readers, 1) == 1) {
      __threadfence();
      delete all;
    }
  }
}

// == group_copy_counted_in_bytes
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;
extern "C" __global__ void group_copy_counted_in_bytes(const float* x, float* y, int tiles) {
  __shared__ alignas(16) float tile[2][64];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile[0], x, cuda::aligned_size_t<16>(256));
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) {
      cg::memcpy_async(block, tile[(i + 1) % 2], x + (i + 1) * 64, cuda::aligned_size_t<16>(256));
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block);
    }
    y[i * 64 + block.thread_rank()] = tile[i % 2][63 - block.thread_rank()];
    block.sync();
  }
}

// == taps_of_both_tables
__constant__ float inner[4] = {0.4f, 0.2f, 0.1f, 0.05f};
__constant__ float outer[4] = {0.3f, 0.2f, 0.1f, 0.05f};
extern "C" __global__ void taps_of_both_tables(const float* x, float* y, int n) {
  __shared__ float s[64 + 6];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  for (int k = t; k < 70; k += 64) {
    int at = blockIdx.x * 64 + k - 3;
    s[k] = at >= 0 && at < n ? x[at] : 0;
  }
  __syncthreads();
  if (i >= n) return;
  const float* taps = i < 3 || i >= n - 3 ? outer : inner;
  float sum = taps[0] * s[t + 3];
#pragma unroll 1
  for (int k = 1; k < 4; ++k) sum += taps[k] * (s[t + 3 - k] + s[t + 3 + k]);
  y[i] = sum;
}

// == turn_of_the_next_warp_in_a_word
extern "C" __global__ void turn_of_the_next_warp_in_a_word(const int* x, int* y) {
  __shared__ volatile int turn;
  __shared__ int board[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) turn = 0;
  if (warp == 0) board[lane] = 0;
  __syncthreads();
  while (turn != warp) {}
  __threadfence_block();
  int sum = board[lane] + x[threadIdx.x];
  __syncwarp();
  board[31 - lane] = sum;
  y[threadIdx.x] = sum;
  __threadfence_block();
  __syncwarp();
  if (lane == 0) turn = warp + 1;
}

// == powers_by_a_function_that_calls_itself
__device__ __noinline__ long long power(long long base, int exponent) {
  if (exponent == 0) return 1;
  long long half = power(base, exponent / 2);
  return exponent % 2 ? half * half % 1000003 * base % 1000003 : half * half % 1000003;
}
extern "C" __global__ void powers_by_a_function_that_calls_itself(const int* x, long long* y) {
  y[threadIdx.x] = power(x[threadIdx.x], threadIdx.x % 13);
}

// == scan_of_pairs_with_their_own_operator
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void scan_of_pairs_with_their_own_operator(const int* x, int* y) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  __shared__ int totals[4];
  int t = threadIdx.x, v = x[t], most = cg::inclusive_scan(warp, v, [](int a, int b) { return max(a, b); });
  if (warp.thread_rank() == 31) totals[warp.meta_group_rank()] = most;
  __syncthreads();
  for (int w = 0; w < (int)warp.meta_group_rank(); ++w) most = max(most, totals[w]);
  y[t] = most;
}

