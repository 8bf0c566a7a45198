// Kernels with a fault in how their threads work together: races, barriers, masks, flags, copies, clusters, hangs.
// "// BUG" ends each line to blame.
#define FULL 0xffffffffu

// == counter_without_atomics
extern "C" __global__ void counter_without_atomics(const int* x, int* count) {
  if (x[blockIdx.x * blockDim.x + threadIdx.x] > 50) *count = *count + 1;  // BUG
}

// == histogram_without_atomics
extern "C" __global__ void histogram_without_atomics(const int* x, int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) bins[x[i] % 8]++;  // BUG
}

// == maximum_read_then_write
extern "C" __global__ void maximum_read_then_write(const float* x, float* most) {
  float v = x[blockIdx.x * blockDim.x + threadIdx.x];
  if (v > *most)  // BUG
    *most = v;  // BUG
}

// == blur_in_place
extern "C" __global__ void blur_in_place(float* image, int w, int h) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  float s = 0;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i)
      s += image[(y + j) * w + x + i];  // BUG
  image[y * w + x] = s / 9;  // BUG
}

// == transpose_in_place_without_tiles
extern "C" __global__ void transpose_in_place_without_tiles(float* a, int n) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float v = a[y * n + x];  // BUG
  a[x * n + y] = v;  // BUG
}

// == odd_even_sort_over_blocks
extern "C" __global__ void odd_even_sort_over_blocks(int* a, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int phase = 0; phase < 4; ++phase) {
    int i = 2 * t + (phase & 1);
    if (i + 1 < n && a[i] > a[i + 1]) {  // BUG
      int s = a[i];  // BUG
      a[i] = a[i + 1];  // BUG
      a[i + 1] = s;  // BUG
    }
    __syncthreads();
  }
}

// == matrix_vector_by_columns
extern "C" __global__ void matrix_vector_by_columns(const float* a, const float* x, float* y, int n) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < n; ++r)
    y[r] += a[r * n + col] * x[col];  // BUG
}

// == two_phases_of_one_launch
extern "C" __global__ void two_phases_of_one_launch(const float* x, float* part, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  part[i] = x[i] * x[i];  // BUG
  __syncthreads();
  y[i] = part[(i + blockDim.x) % n];  // BUG
}

// == partial_sums_read_too_early
extern "C" __global__ void partial_sums_read_too_early(const float* x, float* part, float* total) {
  __shared__ float s[64];
  s[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < 64; ++i) sum += s[i];
    part[blockIdx.x] = sum;  // BUG
    if (blockIdx.x == 0) {
      float all = 0;
      for (int b = 0; b < gridDim.x; ++b) all += part[b];  // BUG
      *total = all;
    }
  }
}

// == overlapping_rows
// The row pitch is one element too small.
extern "C" __global__ void overlapping_rows(float* out, int cols) {
  out[blockIdx.x * (cols - 1) + threadIdx.x] = blockIdx.x * 100 + threadIdx.x;  // BUG
}

// == zero_then_accumulate
extern "C" __global__ void zero_then_accumulate(const int* x, int* bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 16) bins[i] = 0;  // BUG
  __syncthreads();
  atomicAdd(&bins[x[i] % 16], 1);  // BUG
}

// == saxpy_aliased
// The launch gives overlapping arrays.
extern "C" __global__ void saxpy_aliased(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];  // BUG
}

// == scan_in_place_aliased
extern "C" __global__ void scan_in_place_aliased(const float* in, float* out) {
  int i = threadIdx.x;
  float left = i > 0 ? in[i - 1] : 0;  // BUG
  out[i] = left + 1;  // BUG
}

// == double_buffer_not_swapped
extern "C" __global__ void double_buffer_not_swapped(float* a, float* b, int n, int steps) {
  int i = threadIdx.x;
  for (int s = 0; s < steps; ++s) {
    float l = a[max(i - 1, 0)], r = a[min(i + 1, n - 1)];  // BUG
    __syncthreads();
    a[i] = 0.5f * (l + r);  // BUG
    b[i] = a[i];
  }
}

// == bfs_levels_in_one_array
extern "C" __global__ void bfs_levels_in_one_array(const int* edges, int* level, int now) {
  int v = threadIdx.x;
  if (level[v] == now)  // BUG
    for (int e = 0; e < 2; ++e)
      if (level[edges[2 * v + e]] < 0)  // BUG
        level[edges[2 * v + e]] = now + 1;  // BUG
}

// == same_value_by_all
// All threads write the same value: benign, but a warning.
extern "C" __global__ void same_value_by_all(const int* x, int* any) {
  if (x[blockIdx.x * blockDim.x + threadIdx.x] > 50) *any = 1;  // BUG
}

// == reduce_no_barrier_after_load
extern "C" __global__ void reduce_no_barrier_after_load(const float* in, float* out) {
  __shared__ float s[128];
  unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];  // BUG
  for (unsigned d = 64; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];  // BUG
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// == reduce_barrier_outside_the_loop
extern "C" __global__ void reduce_barrier_outside_the_loop(const float* in, float* out) {
  __shared__ float s[128];
  unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  for (unsigned d = 64; d > 0; d >>= 1)
    if (t < d) s[t] += s[t + d];  // BUG
  __syncthreads();
  if (t == 0) out[blockIdx.x] = s[0];
}

// == result_read_by_thread_zero_too_soon
extern "C" __global__ void result_read_by_thread_zero_too_soon(const int* in, int* out) {
  __shared__ int last;
  if (threadIdx.x == 63) last = in[threadIdx.x] * 2;  // BUG
  if (threadIdx.x == 0) out[0] = last;  // BUG
}

// == tiled_gemm_one_barrier
extern "C" __global__ void tiled_gemm_one_barrier(const float* A, const float* B, float* C, int n) {
  __shared__ float As[8][8], Bs[8][8];
  int x = threadIdx.x, y = threadIdx.y;
  float acc = 0;
  for (int t = 0; t < n / 8; ++t) {
    As[y][x] = A[y * n + t * 8 + x];  // BUG
    Bs[y][x] = B[(t * 8 + y) * 8 + x];  // BUG
    __syncthreads();
    for (int k = 0; k < 8; ++k) acc += As[y][k] * Bs[k][x];  // BUG
  }
  C[y * 8 + x] = acc;
}

// == hillis_steele_in_place
extern "C" __global__ void hillis_steele_in_place(const int* in, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  for (int d = 1; d < 64; d *= 2) {
    __syncthreads();
    if (t >= d) s[t] += s[t - d];  // BUG
  }
  out[t] = s[t];
}

// == block_reduce_buffer_reused_at_once
// The second reduction writes the warps' slots while others still read those of the first.
__device__ float reduce(float v, float* slots) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o);
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = v;  // BUG
  __syncthreads();
  return slots[0] + slots[1];  // BUG
}
extern "C" __global__ void block_reduce_buffer_reused_at_once(const float* x, float* y) {
  __shared__ float slots[2];
  float a = reduce(x[threadIdx.x], slots);
  float b = reduce(x[threadIdx.x] - a, slots);
  y[threadIdx.x] = b;
}

// == broadcast_overwritten
extern "C" __global__ void broadcast_overwritten(const int* x, int* y, int n) {
  __shared__ int item;
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x == 0) item = x[i];  // BUG
    __syncthreads();
    y[i * 64 + threadIdx.x] = item;  // BUG
  }
}

// == shared_counter_plain
extern "C" __global__ void shared_counter_plain(const int* x, int* y) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (x[threadIdx.x] > 20) count++;  // BUG
  __syncthreads();
  if (threadIdx.x == 0) *y = count;
}

// == union_reused_too_soon
union Scratch { float values[64]; int order[64]; };
extern "C" __global__ void union_reused_too_soon(const float* x, float* y, const int* order) {
  __shared__ Scratch s;
  s.values[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  float v = s.values[63 - threadIdx.x];  // BUG
  s.order[threadIdx.x] = order[threadIdx.x];  // BUG
  __syncthreads();
  y[threadIdx.x] = v + s.order[(threadIdx.x + 1) % 64];
}

// == ring_of_two_with_one_barrier
extern "C" __global__ void ring_of_two_with_one_barrier(const float* x, float* y, int turns) {
  __shared__ float ring[2][64];
  float sum = 0;
  ring[0][threadIdx.x] = x[threadIdx.x];
  for (int t = 0; t < turns; ++t) {
    __syncthreads();
    sum += ring[t % 2][(threadIdx.x * 7) % 64];  // BUG
    ring[t % 2][threadIdx.x] = x[(t + 1) * 64 + threadIdx.x];  // BUG
  }
  y[threadIdx.x] = sum;
}

// == volatile_last_warp
// Warp-synchronous code of the years before Volta.
extern "C" __global__ void volatile_last_warp(const float* in, float* out) {
  __shared__ volatile float s[64];
  unsigned t = threadIdx.x;  // 32 threads
  s[t] = in[t];
  s[t + 32] = in[t + 32];
  s[t] = s[t] + s[t + 32];  // BUG
  if (t < 16) s[t] = s[t] + s[t + 16];  // BUG
  if (t < 8) s[t] = s[t] + s[t + 8];  // BUG
  if (t < 4) s[t] = s[t] + s[t + 4];  // BUG
  if (t < 2) s[t] = s[t] + s[t + 2];  // BUG
  if (t < 1) out[0] = s[0] + s[1];  // BUG
}

// == warp_reduce_of_the_old_samples
__device__ void warp_reduce(volatile int* sdata, unsigned tid) {
  sdata[tid] += sdata[tid + 32];  // BUG
  sdata[tid] += sdata[tid + 16];  // BUG
  sdata[tid] += sdata[tid + 8];  // BUG
  sdata[tid] += sdata[tid + 4];  // BUG
  sdata[tid] += sdata[tid + 2];  // BUG
  sdata[tid] += sdata[tid + 1];  // BUG
}
extern "C" __global__ void warp_reduce_of_the_old_samples(const int* in, int* out) {
  __shared__ int sdata[128];
  unsigned tid = threadIdx.x;
  sdata[tid] = in[tid];
  sdata[tid + 64] = 0;
  __syncthreads();
  if (tid < 32) warp_reduce(sdata, tid);
  if (tid == 0) out[0] = sdata[0];
}

// == volatile_neighbour_in_a_warp
extern "C" __global__ void volatile_neighbour_in_a_warp(const int* in, int* out) {
  __shared__ volatile int s[32];
  s[threadIdx.x] = in[threadIdx.x];  // BUG
  out[threadIdx.x] = s[31 - threadIdx.x];  // BUG
}

// == warp_exchange_in_global_memory
extern "C" __global__ void warp_exchange_in_global_memory(const int* in, int* box, int* out) {
  box[threadIdx.x] = in[threadIdx.x];  // BUG
  out[threadIdx.x] = box[threadIdx.x ^ 1];  // BUG
}

// == last_block_without_a_fence
__device__ unsigned arrived = 0;
extern "C" __global__ void last_block_without_a_fence(const float* x, float* part, float* y) {
  __shared__ bool last;
  float v = x[blockIdx.x * 32 + threadIdx.x];
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(FULL, v, o);
  if (threadIdx.x == 0) {
    part[blockIdx.x] = v;  // BUG
    last = atomicAdd(&arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += part[b];  // BUG
    *y = sum;
  }
}

// == fence_of_one_thread_only
// Thread 0 fences and signals, but nobody waited for the other threads' stores.
__device__ unsigned signalled = 0;
extern "C" __global__ void fence_of_one_thread_only(const float* x, float* work, float* y) {
  __shared__ unsigned ticket;
  work[blockIdx.x * 64 + threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];  // BUG
  if (threadIdx.x == 0) {
    __threadfence();
    ticket = atomicAdd(&signalled, 1);
  }
  __syncthreads();
  if (ticket == gridDim.x - 1) {
    __threadfence();
    float sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += work[b * 64 + threadIdx.x];  // BUG
    y[threadIdx.x] = sum;
  }
}

// == flag_plain_store
extern "C" __global__ void flag_plain_store(const int* in, int* box, int* flag, int* out) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      box[0] = in[0];  // BUG
      *flag = 1;  // BUG
    }
  } else if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {}  // BUG
    out[0] = box[0];  // BUG
  }
}

// == flag_fence_of_the_block_only
extern "C" __global__ void flag_fence_of_the_block_only(const int* in, int* box, int* flag, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    box[0] = in[0];  // BUG
    __threadfence_block();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
    out[0] = box[0];  // BUG
  }
}

// == reader_without_a_fence
extern "C" __global__ void reader_without_a_fence(const int* in, int* box, volatile int* flag, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    box[0] = in[0];  // BUG
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {}
    out[0] = box[0];  // BUG
  }
}

// == lock_released_by_a_plain_store
extern "C" __global__ void lock_released_by_a_plain_store(int* mutex, int* total) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(mutex, 0, 1) != 0) {}  // BUG
  *total += 1;  // BUG
  __threadfence();
  *mutex = 0;  // BUG
}

// == lock_without_fences
extern "C" __global__ void lock_without_fences(int* mutex, int* total) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(mutex, 0, 1) != 0) {}
  *total += 1;  // BUG
  atomicExch(mutex, 0);
}

// == read_outside_the_lock
extern "C" __global__ void read_outside_the_lock(int* mutex, int* total, int* seen) {
  if (threadIdx.x != 0) return;
  seen[blockIdx.x] = *total;  // BUG
  while (atomicCAS(mutex, 0, 1) != 0) {}
  __threadfence();
  *total += 1;  // BUG
  __threadfence();
  atomicExch(mutex, 0);
}

// == two_locks_for_one_value
extern "C" __global__ void two_locks_for_one_value(int* mutex, int* total) {
  if (threadIdx.x != 0) return;
  int* mine = mutex + blockIdx.x % 2;
  while (atomicCAS(mine, 0, 1) != 0) {}
  __threadfence();
  *total += 1;  // BUG
  __threadfence();
  atomicExch(mine, 0);
}

// == double_checked_start
extern "C" __global__ void double_checked_start(int* ready, int* mutex, int* value, int* out) {
  if (threadIdx.x != 0) return;
  if (*ready == 0) {  // BUG
    while (atomicCAS(mutex, 0, 1) != 0) {}
    __threadfence();
    if (*ready == 0) { *value = 42; __threadfence(); *ready = 1; }  // BUG
    __threadfence();
    atomicExch(mutex, 0);
  }
  out[blockIdx.x] = *value;  // BUG
}

// == atomic_of_a_block_between_blocks
extern "C" __global__ void atomic_of_a_block_between_blocks(int* count) {
  atomicAdd_block(count, 1);  // BUG
}

// == atomic_and_plain_read
extern "C" __global__ void atomic_and_plain_read(const int* x, int* count, int* seen) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(count, x[i]);  // BUG
  seen[i] = *count;  // BUG
}

// == look_back_value_after_flag
extern "C" __global__ void look_back_value_after_flag(const int* x, int* sum, volatile int* flag, int* y) {
  if (threadIdx.x != 0) return;
  int b = blockIdx.x, before = 0;
  if (b > 0) {
    while (flag[b - 1] == 0) {}
    __threadfence();
    before = sum[b - 1];  // BUG
  }
  flag[b] = 1;
  __threadfence();
  sum[b] = before + x[b];  // BUG
  y[b] = before;
}

// == append_reads_others
extern "C" __global__ void append_reads_others(const int* x, int* list, int* count, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int at = atomicAdd(count, 1);
  list[at] = x[i];  // BUG
  if (at > 0) y[i] = list[at - 1];  // BUG
}

// == syncthreads_in_a_branch
extern "C" __global__ void syncthreads_in_a_branch(const float* x, float* y) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x < 40) {
    __syncthreads();  // BUG
    y[threadIdx.x] = s[39 - threadIdx.x];
  }
  s[threadIdx.x] = 2 * x[threadIdx.x];
  __syncthreads();  // BUG
  y[threadIdx.x] += s[63 - threadIdx.x];
}

// == syncthreads_after_a_return
extern "C" __global__ void syncthreads_after_a_return(const float* x, float* y, int n) {
  __shared__ float s[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  if (x[i] < 0) s[threadIdx.x] = 0;
  else s[threadIdx.x] = x[i];
  for (int turn = 0; turn < (x[i] < 0 ? 1 : 2); ++turn)
    __syncthreads();  // BUG
  y[i] = s[63 - threadIdx.x];
}

// == syncthreads_in_a_loop_by_data
extern "C" __global__ void syncthreads_in_a_loop_by_data(const int* turns, int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = 0;
  for (int i = 0; i < turns[threadIdx.x]; ++i) {
    s[threadIdx.x] += i;
    __syncthreads();  // BUG
  }
  y[threadIdx.x] = s[31 - threadIdx.x];  // BUG
}

// == syncthreads_in_both_branches
extern "C" __global__ void syncthreads_in_both_branches(const int* x, int* y) {
  __shared__ int s[32];
  if (threadIdx.x % 2) {
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();  // BUG
    y[threadIdx.x] = s[threadIdx.x ^ 1];  // BUG
  } else {
    s[threadIdx.x] = -x[threadIdx.x];
    __syncthreads();  // BUG
    y[threadIdx.x] = s[threadIdx.x ^ 1] * 3;  // BUG
  }
}

// == named_barrier_wrong_count
extern "C" __global__ void named_barrier_wrong_count(const int* x, int* y) {
  __shared__ int s[32];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = x[threadIdx.x];
    asm volatile("bar.arrive 1, 96;" ::: "memory");  // BUG
  } else {
    asm volatile("bar.sync 1, 96;" ::: "memory");  // BUG
    y[threadIdx.x - 32] = s[63 - threadIdx.x];
  }
}

// == named_barrier_wrong_number
extern "C" __global__ void named_barrier_wrong_number(const int* x, int* y) {
  __shared__ int s[32];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = x[threadIdx.x];
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");  // BUG
    y[threadIdx.x - 32] = s[63 - threadIdx.x];
  }
}

// == named_barrier_odd_count
extern "C" __global__ void named_barrier_odd_count(const int* x, int* y, int threads) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  asm volatile("bar.sync 1, %0;" :: "r"(threads) : "memory");  // BUG
  y[threadIdx.x] = s[63 - threadIdx.x];
}

// == store_after_arrive
extern "C" __global__ void store_after_arrive(const int* x, int* y) {
  __shared__ int s[32];
  if (threadIdx.x < 32) {
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    s[threadIdx.x] = x[threadIdx.x];  // BUG
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    y[threadIdx.x - 32] = s[63 - threadIdx.x];  // BUG
  }
}

// == ring_without_empty_barrier
extern "C" __global__ void ring_without_empty_barrier(const float* in, float* out, int turns) {
  __shared__ float box[32];
  int lane = threadIdx.x % 32;
  for (int t = 0; t < turns; ++t) {
    if (threadIdx.x < 32) {
      box[lane] = in[t * 32 + lane];  // BUG
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[t * 32 + lane] = box[31 - lane];  // BUG
    }
  }
}

// == groups_share_one_barrier_name
// The halves of the block use the same barrier with a count of 64: they may meet each other's warps.
extern "C" __global__ void groups_share_one_barrier_name(const int* x, int* y) {
  __shared__ int s[128];
  int g = threadIdx.x / 32 % 2, t = threadIdx.x / 64 * 32 + threadIdx.x % 32;
  s[g * 64 + t] = x[threadIdx.x];  // BUG
  asm volatile("bar.sync 1, 64;" ::: "memory");
  y[threadIdx.x] = s[g * 64 + 63 - t];  // BUG
}

// == shuffle_in_a_branch
extern "C" __global__ void shuffle_in_a_branch(const int* x, int* y) {
  int v = x[threadIdx.x];
  if (threadIdx.x < 20) v += __shfl_down_sync(FULL, v, 4);  // BUG
  y[threadIdx.x] = v;
}

// == shuffle_reads_a_lane_that_left
extern "C" __global__ void shuffle_reads_a_lane_that_left(const int* x, int* y, int n) {
  if (threadIdx.x >= n) return;
  int v = x[threadIdx.x];
  for (int o = 16; o; o /= 2) v += __shfl_down_sync(FULL, v, o);  // BUG
  y[threadIdx.x] = v;
}

// == mask_without_the_caller
extern "C" __global__ void mask_without_the_caller(const int* x, int* y) {
  y[threadIdx.x] = __shfl_sync(0x0000ffffu, x[threadIdx.x], 0);  // BUG
}

// == activemask_before_the_branch
extern "C" __global__ void activemask_before_the_branch(const int* x, int* y) {
  unsigned mask = __activemask();
  int v = 0;
  if (x[threadIdx.x] > 50) v = __popc(__ballot_sync(mask, x[threadIdx.x] & 1));  // BUG
  y[threadIdx.x] = __shfl_xor_sync(FULL, v, 1);
}

// == ballot_of_the_first_lanes
extern "C" __global__ void ballot_of_the_first_lanes(const int* x, int* y) {
  int v = x[threadIdx.x];
  if (threadIdx.x < 8) v = __any_sync(0xffff, v > 90);  // BUG
  else v = __popc(__ballot_sync(0xffffff00u, v > 90));
  y[threadIdx.x] = v;
}

// == mask_names_a_lane_elsewhere
extern "C" __global__ void mask_names_a_lane_elsewhere(const int* x, int* y) {
  int v = x[threadIdx.x];
  if (threadIdx.x < 10) v += __shfl_sync(0x7ff, v, 3);  // BUG
  else v -= x[threadIdx.x - 10];
  y[threadIdx.x] = v;
}

// == partial_warp_full_mask
// The block has 40 threads: the last warp has 8 lanes.
extern "C" __global__ void partial_warp_full_mask(const int* x, int* y) {
  int v = x[threadIdx.x];
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(FULL, v, o);  // BUG
  y[threadIdx.x] = v;
}

// == reduce_with_a_mask_too_small
extern "C" __global__ void reduce_with_a_mask_too_small(const unsigned* x, unsigned* y) {
  y[threadIdx.x] = __reduce_add_sync(0xff, x[threadIdx.x]);  // BUG
}

// == match_in_divergent_code
extern "C" __global__ void match_in_divergent_code(const int* x, unsigned* y) {
  unsigned peers = 0;
  if (x[threadIdx.x] % 2) peers = __match_any_sync(FULL, x[threadIdx.x]);  // BUG
  y[threadIdx.x] = peers + __popc(__ballot_sync(FULL, peers != 0));
}

// == loop_never_ends
extern "C" __global__ void loop_never_ends(const int* x, int* y) {
  int low = 0, high = 16;
  while (low < high) {  // BUG
    int middle = (low + high) / 2;  // BUG
    if (x[middle] < (int)threadIdx.x) low = middle;  // BUG
    else high = middle;  // BUG
  }
  y[threadIdx.x] = low;
}

// == list_with_a_cycle
extern "C" __global__ void list_with_a_cycle(const int* next, int* length) {
  int n = 0;
  for (int at = 0; at >= 0; at = next[at])  // BUG
    ++n;
  length[threadIdx.x] = n;
}

// == wait_for_a_flag_nobody_sets
extern "C" __global__ void wait_for_a_flag_nobody_sets(volatile int* flag, int* y) {
  while (*flag == 0) {}  // BUG
  y[threadIdx.x] = 1;
}

// == flag_kept_in_a_register
// Without volatile the compiler reads the flag once.
extern "C" __global__ void flag_kept_in_a_register(int* flag, int* y) {
  if (blockIdx.x == 0) {
    while (*flag == 0) {}  // BUG
    y[threadIdx.x] = 1;
  } else if (threadIdx.x == 0) {
    *flag = 1;  // BUG
  }
}

// == lock_taken_twice
extern "C" __global__ void lock_taken_twice(int* mutex, int* x) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(mutex, 0, 1) != 0) {}
  x[0] += 1;
  while (atomicCAS(mutex, 0, 1) != 0) {}  // BUG
  x[0] += 1;
  atomicExch(mutex, 0);
}

// == lock_not_released
extern "C" __global__ void lock_not_released(int* mutex, int* x) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(mutex, 0, 1) != 0) {}  // BUG
  __threadfence();
  if (x[0] == 0) { x[0] = 1; return; }
  __threadfence();
  atomicExch(mutex, 0);
}

// == locks_in_opposite_order
extern "C" __global__ void locks_in_opposite_order(int* mutex, int* x) {
  if (threadIdx.x != 0) return;
  int a = blockIdx.x % 2, b = 1 - a;
  while (atomicCAS(&mutex[a], 0, 1) != 0) {}
  for (volatile int i = 0; i < 20; i = i + 1) {}
  while (atomicCAS(&mutex[b], 0, 1) != 0) {}  // BUG
  __threadfence();
  x[0] += 1;
  __threadfence();
  atomicExch(&mutex[b], 0);
  atomicExch(&mutex[a], 0);
}

// == grid_barrier_counts_too_many
extern "C" __global__ void grid_barrier_counts_too_many(unsigned* arrived, int* y) {
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    while (*(volatile unsigned*)arrived < gridDim.x + 1) {}  // BUG
  }
  __syncthreads();
  y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// == mbarrier_one_arrival_short
__device__ unsigned s32(const void* p) { return __cvta_generic_to_shared(p); }
extern "C" __global__ void mbarrier_one_arrival_short(int* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(s32(&bar)) : "memory");
  __syncthreads();
  if (threadIdx.x > 0) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(s32(&bar)) : "memory");
  asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra w; }" :: "r"(s32(&bar)) : "memory");  // BUG
  y[threadIdx.x] = 1;
}

// == mbarrier_bytes_never_come
__device__ unsigned s32(const void* p) { return __cvta_generic_to_shared(p); }
extern "C" __global__ void mbarrier_bytes_never_come(const float* x, float* y) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(s32(&bar)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 512;" :: "r"(s32(&bar)) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                 :: "r"(s32(tile)), "l"(x), "r"(s32(&bar)) : "memory");
  }
  __syncthreads();
  asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra w; }" :: "r"(s32(&bar)) : "memory");  // BUG
  y[threadIdx.x] = tile[threadIdx.x];
}

// == mbarrier_wrong_parity
// The phase that is over has parity 0. Who waits for parity 1 may wait for a phase that nobody ends.
__device__ unsigned s32(const void* p) { return __cvta_generic_to_shared(p); }
extern "C" __global__ void mbarrier_wrong_parity(const int* x, int* y) {
  __shared__ unsigned long long bar;
  __shared__ int s[64];
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(s32(&bar)) : "memory");
  __syncthreads();
  s[threadIdx.x] = x[threadIdx.x];
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(s32(&bar)) : "memory");
  asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p, [%0], 1; @!p bra w; }" :: "r"(s32(&bar)) : "memory");  // BUG
  y[threadIdx.x] = s[63 - threadIdx.x];
}

// == mbarrier_not_initialised
__device__ unsigned s32(const void* p) { return __cvta_generic_to_shared(p); }
extern "C" __global__ void mbarrier_not_initialised(int* y) {
  __shared__ unsigned long long bar;
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(s32(&bar)) : "memory");  // BUG
  y[threadIdx.x] = 1;
}

// == mbarrier_used_before_the_block_sees_it
__device__ unsigned s32(const void* p) { return __cvta_generic_to_shared(p); }
extern "C" __global__ void mbarrier_used_before_the_block_sees_it(int* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(s32(&bar)) : "memory");  // BUG
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(s32(&bar)) : "memory");  // BUG
  asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra w; }" :: "r"(s32(&bar)) : "memory");
  y[threadIdx.x] = 1;
}

// == mbarrier_overwritten
__device__ unsigned s32(const void* p) { return __cvta_generic_to_shared(p); }
extern "C" __global__ void mbarrier_overwritten(int* y) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(s32(&bar)) : "memory");
  __syncthreads();
  if (threadIdx.x == 0) *(volatile unsigned long long*)&bar = 0;  // BUG
  __syncthreads();
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(s32(&bar)) : "memory");
  y[threadIdx.x] = 1;
}

// == cp_async_without_wait
extern "C" __global__ void cp_async_without_wait(const float* x, float* y) {
  __shared__ float s[64];
  unsigned at = __cvta_generic_to_shared(s + threadIdx.x);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at), "l"(x + threadIdx.x) : "memory");  // BUG
  asm volatile("cp.async.commit_group;" ::: "memory");
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];  // BUG
}

// == cp_async_waits_for_too_few
extern "C" __global__ void cp_async_waits_for_too_few(const float* x, float* y, int tiles) {
  __shared__ float s[2][64];
  int t = threadIdx.x;
  for (int i = 0; i < tiles; ++i) {
    unsigned at = __cvta_generic_to_shared(&s[i % 2][t]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at), "l"(x + i * 64 + t) : "memory");  // BUG
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    y[i * 64 + t] = s[i % 2][63 - t];  // BUG
    __syncthreads();
  }
}

// == cp_async_wait_without_barrier
// Each thread waits for its own copies only.
extern "C" __global__ void cp_async_wait_without_barrier(const float* x, float* y) {
  __shared__ float s[64];
  unsigned at = __cvta_generic_to_shared(s + threadIdx.x);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at), "l"(x + threadIdx.x) : "memory");  // BUG
  asm volatile("cp.async.wait_all;" ::: "memory");
  y[threadIdx.x] = s[63 - threadIdx.x];  // BUG
}

// == cp_async_buffer_overwritten
extern "C" __global__ void cp_async_buffer_overwritten(const float* x, float* y) {
  __shared__ float s[64];
  unsigned at = __cvta_generic_to_shared(s + threadIdx.x);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at), "l"(x + threadIdx.x) : "memory");  // BUG
  s[threadIdx.x] = 1;  // BUG
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];
}

// == cp_async_misaligned
extern "C" __global__ void cp_async_misaligned(const float* x, float* y) {
  __shared__ alignas(16) float s[68];
  unsigned at = __cvta_generic_to_shared(s + threadIdx.x);
  if (threadIdx.x % 4 == 0)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at), "l"(x + threadIdx.x + 1) : "memory");  // BUG
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];
}

// == cp_async_beyond_the_input
extern "C" __global__ void cp_async_beyond_the_input(const float4* x, float4* y, int n) {
  __shared__ float4 s[32];
  unsigned at = __cvta_generic_to_shared(s + threadIdx.x);
  if (threadIdx.x <= n)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at), "l"(x + threadIdx.x) : "memory");  // BUG
  asm volatile("cp.async.wait_all;" ::: "memory");
  if (threadIdx.x < n) y[threadIdx.x] = s[threadIdx.x];
}

// == pipeline_one_stage_too_few
extern "C" __global__ void pipeline_one_stage_too_few(const float* x, float* y, int tiles) {
  __shared__ float ring[2][64];
  int t = threadIdx.x;
  for (int i = 0; i < 2; ++i) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"((unsigned)__cvta_generic_to_shared(&ring[i][t])), "l"(x + i * 64 + t) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int i = 0; i < tiles; ++i) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    if (i + 2 < tiles)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"((unsigned)__cvta_generic_to_shared(&ring[i % 2][t])), "l"(x + (i + 2) * 64 + t) : "memory");  // BUG
    asm volatile("cp.async.commit_group;" ::: "memory");
    y[i * 64 + t] = ring[i % 2][63 - t];  // BUG
    __syncthreads();
  }
}

// == bulk_copy_read_without_waiting
__device__ unsigned s32(const void* p) { return __cvta_generic_to_shared(p); }
extern "C" __global__ void bulk_copy_read_without_waiting(const float* x, float* y) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(s32(&bar)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" :: "r"(s32(&bar)) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" :: "r"(s32(tile)), "l"(x), "r"(s32(&bar)) : "memory");  // BUG
  }
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];  // BUG
}

// == bulk_copy_size_not_of_16
__device__ unsigned s32(const void* p) { return __cvta_generic_to_shared(p); }
extern "C" __global__ void bulk_copy_size_not_of_16(const float* x, float* y, int bytes) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(s32(&bar)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(s32(&bar)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(s32(tile)), "l"(x), "r"(bytes), "r"(s32(&bar)) : "memory");  // BUG
  }
  __syncthreads();
  asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra w; }" :: "r"(s32(&bar)) : "memory");
  y[threadIdx.x] = tile[threadIdx.x];
}

// == bulk_store_without_a_proxy_fence
__device__ unsigned s32(const void* p) { return __cvta_generic_to_shared(p); }
extern "C" __global__ void bulk_store_without_a_proxy_fence(const float* x, float* y) {
  __shared__ alignas(128) float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];  // BUG
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" :: "l"(y), "r"(s32(tile)) : "memory");  // BUG
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// == bulk_store_source_reused
__device__ unsigned s32(const void* p) { return __cvta_generic_to_shared(p); }
extern "C" __global__ void bulk_store_source_reused(const float* x, float* y) {
  __shared__ alignas(128) float tile[64];
  for (int i = 0; i < 2; ++i) {
    tile[threadIdx.x] = x[i * 64 + threadIdx.x];  // BUG
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" :: "l"(y + i * 64), "r"(s32(tile)) : "memory");  // BUG
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// == cluster_read_before_sync
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) cluster_read_before_sync(const int* x, int* y) {
  __shared__ int s[32];
  auto c = cg::this_cluster();
  s[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];  // BUG
  __syncthreads();
  y[blockIdx.x * 32 + threadIdx.x] = c.map_shared_rank(s, c.block_rank() ^ 1)[threadIdx.x];  // BUG
  c.sync();
}

// == cluster_leaves_too_early
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) cluster_leaves_too_early(const int* x, int* y) {
  __shared__ int s[32];
  auto c = cg::this_cluster();
  s[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  c.sync();
  y[blockIdx.x * 32 + threadIdx.x] = c.map_shared_rank(s, c.block_rank() ^ 1)[threadIdx.x];  // BUG
}

// == cluster_writes_collide
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(4) cluster_writes_collide(const int* x, int* y) {
  __shared__ int s[32];
  auto c = cg::this_cluster();
  s[threadIdx.x] = 0;
  c.sync();
  c.map_shared_rank(s, 0)[threadIdx.x] += x[blockIdx.x * 32 + threadIdx.x];  // BUG
  c.sync();
  if (c.block_rank() == 0) y[threadIdx.x] = s[threadIdx.x];
}

// == cluster_rank_too_large
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) cluster_rank_too_large(const int* x, int* y) {
  __shared__ int s[32];
  auto c = cg::this_cluster();
  s[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  c.sync();
  y[blockIdx.x * 32 + threadIdx.x] = c.map_shared_rank(s, c.block_rank() + 1)[threadIdx.x];  // BUG
  c.sync();
}

// == cluster_block_skips_the_barrier
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) cluster_block_skips_the_barrier(int* y) {
  auto c = cg::this_cluster();
  if (c.block_rank() == 0 || threadIdx.x < 16)
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");  // BUG
  y[blockIdx.x * 32 + threadIdx.x] = 1;
}

// == cluster_slot_reused
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) cluster_slot_reused(const float* x, float* y, int turns) {
  __shared__ float slot;
  auto c = cg::this_cluster();
  float sum = 0;
  for (int t = 0; t < turns; ++t) {
    if (threadIdx.x == 0) *c.map_shared_rank(&slot, c.block_rank() ^ 1) = x[blockIdx.x * turns + t];  // BUG
    c.sync();
    sum += slot;  // BUG
  }
  y[blockIdx.x * 32 + threadIdx.x] = sum;
}

// == grid_without_sync
extern "C" __global__ void grid_without_sync(const float* x, float* part, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  part[i] = 2 * x[i];  // BUG
  __threadfence();
  y[i] = part[n - 1 - i];  // BUG
}

// == grid_sync_by_some_blocks
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void grid_sync_by_some_blocks(int* y) {
  auto grid = cg::this_grid();
  if (blockIdx.x > 0) grid.sync();  // BUG
  y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// == jacobi_with_one_array
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void jacobi_with_one_array(float* a, int n, int steps) {
  auto grid = cg::this_grid();
  for (int s = 0; s < steps; ++s) {
    for (int i = grid.thread_rank() + 1; i < n - 1; i += grid.size())
      a[i] = 0.5f * (a[i - 1] + a[i + 1]);  // BUG
    grid.sync();
  }
}

// == grid_barrier_without_syncthreads
extern "C" __global__ void grid_barrier_without_syncthreads(int* x, int* y, unsigned* arrived) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  x[i] = i;  // BUG
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (*(volatile unsigned*)arrived < gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
  y[i] = x[n - 1 - i];  // BUG
}

// == block_barrier_of_cub_missing
#include <cub/block/block_reduce.cuh>
extern "C" __global__ void block_barrier_of_cub_missing(const int* x, int* y) {
  typedef cub::BlockReduce<int, 64> Reduce;
  __shared__ typename Reduce::TempStorage temp;
  int a = Reduce(temp).Sum(x[threadIdx.x]);  // BUG
  int b = Reduce(temp).Sum(x[threadIdx.x] * 2);  // BUG
  if (threadIdx.x == 0) { y[0] = a; y[1] = b; }
}

// == cuda_barrier_expects_too_many
#include <cuda/barrier>
extern "C" __global__ void cuda_barrier_expects_too_many(int* y) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x + 1);
  __syncthreads();
  bar.arrive_and_wait();  // BUG
  y[threadIdx.x] = 1;
}

// == tile_of_eight_in_a_branch
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tile_of_eight_in_a_branch(const int* x, int* y) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int v = x[threadIdx.x];
  if (tile.thread_rank() < 5) v += tile.shfl_down(v, 2);  // BUG
  y[threadIdx.x] = v;
}

// == assertion_fails
extern "C" __global__ void assertion_fails(const int* x) {
  assert(x[threadIdx.x] < 90);  // BUG
}

// == trap_by_hand
extern "C" __global__ void trap_by_hand(const int* x) {
  if (x[threadIdx.x] > 90) __trap();  // BUG
}
