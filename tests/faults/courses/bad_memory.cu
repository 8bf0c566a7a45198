// Kernels with a fault in how they use memory: bounds, alignment, values that nobody wrote, null pointers, arguments.
// "// BUG" ends each line to blame.
#define FULL 0xffffffffu

// == saxpy_without_a_test
extern "C" __global__ void saxpy_without_a_test(float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = a * x[i] + y[i];  // BUG
}

// == saxpy_less_or_equal
extern "C" __global__ void saxpy_less_or_equal(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = a * x[i] + y[i];  // BUG
}

// == rows_and_columns_exchanged
extern "C" __global__ void rows_and_columns_exchanged(const float* in, float* out, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < cols && c < rows) out[r * cols + c] = in[r * cols + c] * 2;  // BUG
}

// == stencil_left_neighbour
extern "C" __global__ void stencil_left_neighbour(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 1)
    out[i] = in[i - 1] + in[i + 1];  // BUG
}

// == grid_stride_wrong_stride
extern "C" __global__ void grid_stride_wrong_stride(float* x, int n) {
  for (int i = threadIdx.x; i < n + blockDim.x; i += blockDim.x)
    x[i] = 1;  // BUG
}

// == negative_modulo
extern "C" __global__ void negative_modulo(const int* in, int* out, int n, int shift) {
  int i = threadIdx.x;
  out[i] = in[(i - shift) % n];  // BUG
}

// == index_overflows_int
extern "C" __global__ void index_overflows_int(const float* in, float* out, int width) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * width;
  out[threadIdx.x] = in[i];  // BUG
}

// == unsigned_wraps_around
extern "C" __global__ void unsigned_wraps_around(const float* in, float* out, unsigned n) {
  unsigned i = threadIdx.x;
  for (unsigned k = 0; k < 2; ++k)
    out[i] += in[i - k];  // BUG
}

// == float4_over_a_ragged_end
extern "C" __global__ void float4_over_a_ragged_end(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i * 4 < n) {
    float4 v = reinterpret_cast<const float4*>(in)[i];  // BUG
    out[i] = v.x + v.y + v.z + v.w;
  }
}

// == pointer_past_the_end
extern "C" __global__ void pointer_past_the_end(const int* x, int* y, int n) {
  const int* p = x;
  int sum = 0;
  do sum += *p++;  // BUG
  while (p <= x + n);
  y[threadIdx.x] = sum;
}

// == csr_one_row_too_many
extern "C" __global__ void csr_one_row_too_many(const int* ptr, const float* val, float* y, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r > rows) return;
  float sum = 0;
  for (int i = ptr[r]; i < ptr[r + 1]; ++i) sum += val[i];  // BUG
  y[r] = sum;  // BUG
}

// == scatter_bad_index
extern "C" __global__ void scatter_bad_index(const int* where, const float* x, float* y) {
  y[where[threadIdx.x]] = x[threadIdx.x];  // BUG
}

// == histogram_value_too_large
extern "C" __global__ void histogram_value_too_large(const int* x, int* bins) {
  atomicAdd(&bins[x[threadIdx.x] / 10], 1);  // BUG
}

// == dynamic_shared_not_given
extern "C" __global__ void dynamic_shared_not_given(const float* x, float* y) {
  extern __shared__ float s[];
  s[threadIdx.x] = x[threadIdx.x];  // BUG
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];
}

// == dynamic_shared_in_elements
// The launch gives elements, not bytes.
extern "C" __global__ void dynamic_shared_in_elements(const double* x, double* y) {
  extern __shared__ double d[];
  d[threadIdx.x] = x[threadIdx.x];  // BUG
  __syncthreads();
  y[threadIdx.x] = d[63 - threadIdx.x];
}

// == tile_smaller_than_the_block
extern "C" __global__ void tile_smaller_than_the_block(const float* x, float* y) {
  __shared__ float tile[48];
  tile[threadIdx.x] = x[threadIdx.x];  // BUG
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x / 2];
}

// == halo_without_room
#define R 2
extern "C" __global__ void halo_without_room(const int* in, int* out) {
  __shared__ int temp[64 + R];
  int g = blockIdx.x * 64 + threadIdx.x, l = threadIdx.x + R;
  temp[l] = in[g + R];
  if (threadIdx.x < R) {
    temp[l - R] = in[g];
    temp[l + 64] = in[g + 64 + R];  // BUG
  }
  __syncthreads();
  int r = 0;
  for (int o = -R; o <= R; ++o) r += temp[l + o];  // BUG
  out[g] = r;
}

// == shared_negative_index
extern "C" __global__ void shared_negative_index(const int* in, int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[(int)threadIdx.x - 1];  // BUG
}

// == warp_slots_too_few
extern "C" __global__ void warp_slots_too_few(const float* in, float* out) {
  __shared__ float sums[2];
  float v = in[threadIdx.x];
  for (int o = 16; o; o /= 2) v += __shfl_down_sync(FULL, v, o);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;  // BUG
  __syncthreads();
  if (threadIdx.x == 0) out[0] = sums[0] + sums[1];
}

// == shared_atomic_beyond
extern "C" __global__ void shared_atomic_beyond(const unsigned char* x, int* out) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[x[threadIdx.x]], 1);  // BUG
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}

// == local_array_too_short
extern "C" __global__ void local_array_too_short(const int* x, int* y, int n) {
  int kept[4];
  for (int i = 0; i < n; ++i) kept[i] = x[i] + threadIdx.x;  // BUG
  int sum = 0;
  for (int i = 0; i < 4; ++i) sum += kept[(i + x[0]) & 3];
  y[threadIdx.x] = sum;
}

// == stack_overflow_in_local_memory
extern "C" __global__ void stack_overflow_in_local_memory(const int* left, const int* right, const int* value, int* sum) {
  int stack[2], top = 0, total = 0;
  stack[top++] = 0;
  while (top > 0) {
    int node = stack[--top];
    total += value[node];
    if (left[node] >= 0) stack[top++] = left[node];
    if (right[node] >= 0) stack[top++] = right[node];  // BUG
  }
  sum[threadIdx.x] = total;
}

// == local_index_from_data
extern "C" __global__ void local_index_from_data(const int* x, int* y) {
  int bins[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  for (int i = 0; i < 4; ++i) bins[x[threadIdx.x * 4 + i]]++;  // BUG
  int most = 0;
  for (int i = 0; i < 8; ++i) most = max(most, bins[i]);
  y[threadIdx.x] = most;
}

// == constant_table_beyond
__constant__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
extern "C" __global__ void constant_table_beyond(const int* x, int* y) {
  y[threadIdx.x] = table[x[threadIdx.x]];  // BUG
}

// == device_array_beyond
__device__ int counters[32];
extern "C" __global__ void device_array_beyond(const int* x) {
  atomicAdd(&counters[x[threadIdx.x]], 1);  // BUG
}

// == two_dimensional_row_too_far
__device__ float grid2d[4][8];
extern "C" __global__ void two_dimensional_row_too_far(float v) {
  grid2d[threadIdx.x / 8][threadIdx.x % 8] = v;  // BUG
}

// == misaligned_float2
extern "C" __global__ void misaligned_float2(const float* x, float* y) {
  float2 v = *reinterpret_cast<const float2*>(x + threadIdx.x);  // BUG
  y[threadIdx.x] = v.x * v.y;
}

// == misaligned_row_of_vectors
extern "C" __global__ void misaligned_row_of_vectors(const float* x, float* y, int pitch) {
  const float4* row = reinterpret_cast<const float4*>(x + blockIdx.x * pitch);
  float4 v = row[threadIdx.x];  // BUG
  y[blockIdx.x * blockDim.x + threadIdx.x] = v.x + v.y + v.z + v.w;
}

// == misaligned_carved_shared
extern "C" __global__ void misaligned_carved_shared(const double* x, double* y, int n) {
  extern __shared__ char raw[];
  char* flags = raw;
  double* values = reinterpret_cast<double*>(flags + n);
  flags[threadIdx.x] = 1;
  values[threadIdx.x] = x[threadIdx.x];  // BUG
  __syncthreads();
  y[threadIdx.x] = values[threadIdx.x] * flags[threadIdx.x];
}

// == misaligned_packed_record
extern "C" __global__ void misaligned_packed_record(const unsigned char* bytes, int* out) {
  const unsigned char* record = bytes + threadIdx.x * 5;
  out[threadIdx.x] = *reinterpret_cast<const int*>(record + 1);  // BUG
}

// == misaligned_atomic
extern "C" __global__ void misaligned_atomic(char* buffer) {
  atomicAdd(reinterpret_cast<unsigned*>(buffer + threadIdx.x * 2), 1u);  // BUG
}

// == misaligned_half2
#include <cuda_fp16.h>
extern "C" __global__ void misaligned_half2(const __half* x, __half* y, int cols) {
  const __half2* row = reinterpret_cast<const __half2*>(x + blockIdx.x * cols);
  __half2 v = row[threadIdx.x];  // BUG
  y[blockIdx.x * 32 + threadIdx.x] = __hadd(__low2half(v), __high2half(v));
}

// == shared_sum_not_zeroed
extern "C" __global__ void shared_sum_not_zeroed(const int* x, int* y) {
  __shared__ int sum;
  atomicAdd(&sum, x[threadIdx.x]);  // BUG
  __syncthreads();
  if (threadIdx.x == 0) *y = sum;
}

// == shared_bins_partly_zeroed
extern "C" __global__ void shared_bins_partly_zeroed(const unsigned char* x, unsigned* y, int n) {
  __shared__ unsigned bins[256];
  if (threadIdx.x < 256) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[x[i]], 1);  // BUG
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&y[b], bins[b]);  // BUG
}

// == last_tile_not_padded
extern "C" __global__ void last_tile_not_padded(const float* x, float* y, int n) {
  __shared__ float tile[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) tile[threadIdx.x] = x[i];
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (threadIdx.x < d) tile[threadIdx.x] += tile[threadIdx.x + d];  // BUG
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = tile[0];
}

// == halo_corners_missing
extern "C" __global__ void halo_corners_missing(const float* in, float* out, int n) {
  __shared__ float t[10][10];
  int x = threadIdx.x + 1, y = threadIdx.y + 1, pitch = n + 2;
  const float* at = in + (blockIdx.y * 8 + y) * pitch + blockIdx.x * 8 + x;
  t[y][x] = *at;
  if (x == 1) t[y][0] = at[-1];
  if (x == 8) t[y][9] = at[1];
  if (y == 1) t[0][x] = at[-pitch];
  if (y == 8) t[9][x] = at[pitch];
  __syncthreads();
  float sum = 0;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i)
      sum += t[y + j][x + i];  // BUG
  out[(blockIdx.y * 8 + y - 1) * n + blockIdx.x * 8 + x - 1] = sum;
}

// == flag_never_set
extern "C" __global__ void flag_never_set(const int* x, int* y) {
  __shared__ bool found;
  if (x[threadIdx.x] == 12345) found = true;
  __syncthreads();
  y[threadIdx.x] = found;  // BUG
}

// == register_set_in_one_branch
extern "C" __global__ void register_set_in_one_branch(const int* x, int* y) {
  int v;
  if (x[threadIdx.x] > 50) v = x[threadIdx.x] * 2;
  y[threadIdx.x] = v;  // BUG
}

// == minimum_without_a_start
extern "C" __global__ void minimum_without_a_start(const float* x, float* y, int n) {
  float least;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    if (x[i] < least) least = x[i];  // BUG
  y[threadIdx.x] = least;  // BUG
}

// == switch_without_default
extern "C" __global__ void switch_without_default(const int* kind, float* y) {
  float f;
  switch (kind[threadIdx.x]) {
    case 0: f = 1.5f; break;
    case 1: f = 2.5f; break;
    case 2: f = 3.5f; break;
  }
  y[threadIdx.x] = f;  // BUG
}

// == loop_that_may_not_run
extern "C" __global__ void loop_that_may_not_run(const int* start, const int* x, int* y) {
  int last;
  for (int i = start[threadIdx.x]; i < start[threadIdx.x + 1]; ++i) last = x[i];
  y[threadIdx.x] = last;  // BUG
}

// == index_not_initialised
extern "C" __global__ void index_not_initialised(const int* key, const int* x, int* y) {
  int at;
  for (int i = 0; i < 4; ++i) if (key[i] == threadIdx.x) at = i;
  y[threadIdx.x] = x[at & 3];  // BUG
}

// == condition_not_initialised
extern "C" __global__ void condition_not_initialised(const int* x, int* y) {
  int found;
  if (x[threadIdx.x] > 90) found = 1;
  if (found == 1) y[threadIdx.x] = 7;  // BUG
  else y[threadIdx.x] = x[threadIdx.x] + 3;
}

// == local_array_partly_set
extern "C" __global__ void local_array_partly_set(const int* x, int* y, int n) {
  int window[8];
  for (int i = 0; i < n; ++i) window[i] = x[threadIdx.x + i];
  int best = 0;
  for (int i = 0; i < 8; ++i) best = max(best, window[(i + x[0]) & 7]);  // BUG
  y[threadIdx.x] = best;  // BUG
}

// == local_histogram_not_zeroed
extern "C" __global__ void local_histogram_not_zeroed(const unsigned char* x, int* y, int n) {
  int bins[8];
  for (int i = threadIdx.x; i < n; i += blockDim.x) bins[x[i] & 7]++;  // BUG
  for (int b = 0; b < 8; ++b) atomicAdd(&y[b], bins[b]);  // BUG
}

// == accumulator_not_zeroed
struct Sum { float value, weight; };
extern "C" __global__ void accumulator_not_zeroed(const float* x, float* y, int n) {
  Sum s;
  s.weight = 0;
  if (n > 8) s.value = 0;
  for (int i = 0; i < n; ++i) { s.value += x[i]; s.weight += 1; }
  y[threadIdx.x] = s.value / s.weight;  // BUG
}

// == shuffle_of_an_unset_value
extern "C" __global__ void shuffle_of_an_unset_value(const int* x, int* y) {
  int v;
  if (threadIdx.x % 32 < 16) v = x[threadIdx.x];
  int other = __shfl_xor_sync(FULL, v, 16);
  y[threadIdx.x] = other;  // BUG
}

// == shared_array_into_its_neighbour
extern "C" __global__ void shared_array_into_its_neighbour(const int* x, int* y) {
  __shared__ int a[32];
  __shared__ int b[32];
  b[threadIdx.x] = x[threadIdx.x];
  a[threadIdx.x] = 2 * x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = a[threadIdx.x + 1] + b[threadIdx.x];  // BUG
}

// == shared_overrun_into_counter
extern "C" __global__ void shared_overrun_into_counter(const int* x, int* y) {
  __shared__ int box[32];
  __shared__ int count[32];
  count[threadIdx.x] = 0;
  __syncthreads();
  int at = threadIdx.x + 4;
  box[at] = x[threadIdx.x];  // BUG
  __syncthreads();
  y[threadIdx.x] = count[threadIdx.x] + box[threadIdx.x ^ 1];
}

// == shared_tiles_wrong_depth
extern "C" __global__ void shared_tiles_wrong_depth(const float* A, const float* B, float* C) {
  __shared__ float As[8][8];
  __shared__ float Bs[8][8];
  int x = threadIdx.x, y = threadIdx.y;
  As[y][x] = A[y * 8 + x];
  Bs[y][x] = B[y * 8 + x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k <= 8; ++k) sum += As[y][k] * Bs[k][x];  // BUG
  C[y * 8 + x] = sum;
}

// == local_array_into_its_neighbour
extern "C" __global__ void local_array_into_its_neighbour(const int* x, int* y) {
  int low[4] = {1, 2, 3, 4}, high[4] = {5, 6, 7, 8};
  int i = x[threadIdx.x];
  low[i] = -1;  // BUG
  high[(i + 1) & 3] += low[(i + 2) & 3];
  int sum = 0;
  for (int k = 0; k < 4; ++k) sum = sum * 10 + low[(k + i) & 3] + high[(k + i) & 3];
  y[threadIdx.x] = sum;
}

// == null_output
extern "C" __global__ void null_output(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x];  // BUG
}

// == null_input_used_late
extern "C" __global__ void null_input_used_late(const float* x, const float* bias, float* y, int use) {
  float v = x[threadIdx.x];
  if (use) v += bias[threadIdx.x];  // BUG
  y[threadIdx.x] = v;
}

// == null_member_of_a_list
extern "C" __global__ void null_member_of_a_list(const long long* lists, int* y) {
  const int* p = reinterpret_cast<const int*>(lists[threadIdx.x]);
  y[threadIdx.x] = *p;  // BUG
}

// == null_atomic
extern "C" __global__ void null_atomic(int* count) {
  if (threadIdx.x == 5) atomicAdd(count, 1);  // BUG
}

// == shared_pointer_stored_as_integer
extern "C" __global__ void shared_pointer_stored_as_integer(const int* x, int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  const int* p = reinterpret_cast<const int*>((unsigned long long)(unsigned)(unsigned long long)&s[threadIdx.x]);
  y[threadIdx.x] = *p;  // BUG
}

// == host_address
extern "C" __global__ void host_address(long long address, int* y) {
  y[threadIdx.x] = *reinterpret_cast<const int*>(address);  // BUG
}
