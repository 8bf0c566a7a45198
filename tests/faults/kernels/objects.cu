// Kernels with several arrays in shared or local memory, whose addresses come from one array each.
#include <cuda_fp16.h>

struct Particle {
  float x, y, mass;
};

// Two static arrays of one type, side by side.
extern "C" __global__ void two_tiles(const float* x, float* y, int shift) {
  __shared__ float left[64];
  __shared__ float right[64];
  int t = threadIdx.x;
  left[t] = x[t];
  right[t] = x[64 + t];
  __syncthreads();
  int from = (t + shift) % 64;
  y[t] = left[from];
  y[64 + t] = right[63 - t];
}

// Dynamic shared memory behind a static array.
extern "C" __global__ void static_and_dynamic(const float* x, float* y, int n) {
  __shared__ float sums[4];
  extern __shared__ float row[];
  int t = threadIdx.x;
  row[t] = t < n ? x[t] : 0.0f;
  if (t < 4) sums[t] = 0.0f;
  __syncthreads();
  if (t % 32 == 0) {
    float sum = 0.0f;
    for (int i = 0; i < 32; ++i) sum += row[t + i];
    sums[t / 32] = sum;
  }
  __syncthreads();
  y[t] = row[t] - sums[t / 32];
}

// A ring of elements that is read in both directions.
extern "C" __global__ void ring(const int* x, int* y) {
  __shared__ int before[32];
  __shared__ int values[32];
  int t = threadIdx.x;
  values[t] = x[t];
  before[t] = 0;
  __syncthreads();
  before[t] = t > 0 ? values[t - 1] : values[31];
  __syncthreads();
  y[t] = before[t] + values[t];
}

// Structures beside an array of keys.
extern "C" __global__ void particles(const Particle* in, float* y, int count) {
  __shared__ Particle body[32];
  __shared__ int order[32];
  int t = threadIdx.x;
  body[t] = in[t];
  order[t] = 31 - t;
  __syncthreads();
  float sum = 0.0f;
  for (int i = 0; i < count; ++i) sum += body[i].mass * body[order[t]].x;
  y[t] = sum;
}

// Two buffers that change their roles, by pointers.
extern "C" __global__ void change_roles(const float* x, float* y, int turns) {
  __shared__ float first[64];
  __shared__ float second[64];
  float* from = first;
  float* to = second;
  int t = threadIdx.x;
  first[t] = x[t];
  second[t] = 0.0f;
  for (int i = 0; i < turns; ++i) {
    __syncthreads();
    to[t] = from[(t + 1) % 64] + 1.0f;
    float* other = from;
    from = to;
    to = other;
  }
  __syncthreads();
  y[t] = from[t];
}

// Arrays that the kernel cuts from one dynamic array: nobody can see where each ends.
extern "C" __global__ void cut_by_hand(const float* x, float* y, int n) {
  extern __shared__ float memory[];
  float* values = memory;
  int* places = (int*)(memory + n);
  int t = threadIdx.x;
  values[t] = x[t];
  places[t] = n - 1 - t;
  __syncthreads();
  y[t] = values[places[t]] + memory[2 * n - 1 - t] * 0.0f;
}

// The distance of two arrays, on purpose.
extern "C" __global__ void distance_of_arrays(const int* x, int* y) {
  __shared__ int low[32];
  __shared__ int high[32];
  int t = threadIdx.x;
  low[t] = x[t];
  high[t] = 2 * x[t];
  __syncthreads();
  long long apart = (char*)high - (char*)low;
  y[t] = *(int*)((char*)low + apart * (t & 1) + 4 * t);
}

// A pointer to shared memory that goes through memory.
extern "C" __global__ void pointer_in_memory(const int* x, int* y) {
  __shared__ int low[32];
  __shared__ int high[32];
  __shared__ int* chosen[2];
  int t = threadIdx.x;
  low[t] = x[t];
  high[t] = -x[t];
  if (t < 2) chosen[t] = t ? high : low;
  __syncthreads();
  y[t] = chosen[t & 1][31 - t];
}

// Two counters and a histogram, by atomics.
extern "C" __global__ void histogram_of_two(const int* x, int* y, int n) {
  __shared__ int even[16];
  __shared__ int odd[16];
  int t = threadIdx.x;
  if (t < 16) even[t] = odd[t] = 0;
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) {
    int key = x[i] / 2;
    if (x[i] % 2) atomicAdd(&odd[key], 1);
    else atomicAdd(&even[key], 1);
  }
  __syncthreads();
  if (t < 16) y[t] = even[t], y[16 + t] = odd[t];
}

// A function that is not inlined gets the arrays as pointers.
__device__ __noinline__ float sum_of(const float* values, int count) {
  float sum = 0.0f;
  for (int i = 0; i < count; ++i) sum += values[i];
  return sum;
}

extern "C" __global__ void arrays_for_a_function(const float* x, float* y, int count) {
  __shared__ float first[32];
  __shared__ float second[32];
  int t = threadIdx.x;
  first[t] = x[t];
  second[t] = 2.0f * x[t];
  __syncthreads();
  y[t] = sum_of(t % 2 ? first : second, count);
}

// Local arrays: a small histogram and a stack of each thread.
extern "C" __global__ void local_histogram(const int* x, int* y, int n) {
  int count[8];
  int last[8];
  for (int i = 0; i < 8; ++i) count[i] = 0, last[i] = -1;
  for (int i = 0; i < n; ++i) {
    int key = x[threadIdx.x * n + i];
    count[key] += 1;
    last[key] = i;
  }
  int most = 0;
  for (int i = 1; i < 8; ++i) most = count[i] > count[most] ? i : most;
  y[threadIdx.x] = 100 * count[most] + last[most];
}

extern "C" __global__ void local_stack(const int* x, int* y, int n) {
  int stack[6];
  int seen[4] = {0, 0, 0, 0};
  int depth = 0;
  for (int i = 0; i < n; ++i) {
    int value = x[threadIdx.x * n + i];
    seen[value & 3] += 1;
    if (depth < 6) stack[depth++] = value;
  }
  int sum = seen[n & 3];
  while (depth > 0) sum = 3 * sum + stack[--depth];
  y[threadIdx.x] = sum;
}

// A window into a local array, by a pointer to its middle.
extern "C" __global__ void local_window(const float* x, float* y, const int* where) {
  float line[16];
  float scale[4];
  for (int i = 0; i < 16; ++i) line[i] = x[threadIdx.x * 16 + i];
  for (int i = 0; i < 4; ++i) scale[i] = 1.0f + i;
  const float* middle = line + 8;
  int at = where[threadIdx.x];
  float sum = 0.0f;
  for (int i = -8; i < 8; ++i) sum += middle[(i + at + 24) % 16 - 8] * scale[(i + 8) / 4];
  y[threadIdx.x] = sum + middle[at - 4];
}

// A local matrix, by rows and by columns.
extern "C" __global__ void local_matrix(const float* x, float* y, const int* where) {
  float matrix[3][5];
  float sums[3];
  for (int row = 0; row < 3; ++row) {
    sums[row] = 0.0f;
    for (int col = 0; col < 5; ++col) matrix[row][col] = x[threadIdx.x * 15 + row * 5 + col];
  }
  int row = where[0];
  for (int col = 0; col < 5; ++col) sums[row] += matrix[row][(col + where[1]) % 5];
  y[threadIdx.x] = sums[where[2]] + matrix[where[2]][where[3]];
}

// A local array for a function that is not inlined.
__device__ __noinline__ int largest(const int* values, int count) {
  int best = values[0];
  for (int i = 1; i < count; ++i) best = max(best, values[i]);
  return best;
}

extern "C" __global__ void local_for_a_function(const int* x, int* y, int count) {
  int mine[4];
  int others[4];
  for (int i = 0; i < 4; ++i) mine[i] = x[threadIdx.x * 4 + i], others[i] = -mine[i];
  y[threadIdx.x] = largest(mine, count) - largest(others + 1, count - 1);
}

// Pointers that may be null.
extern "C" __global__ void optional_bias(const float* x, const float* bias, float* y, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = x[i] + (bias ? bias[i] : 0.0f);
}

struct View {
  const float* data;
  int length;
};

extern "C" __global__ void view_of_an_array(View view, float* y) {
  int i = threadIdx.x;
  if (view.data && i < view.length) y[i] = view.data[i];
}

extern "C" __global__ void list_of_arrays(const float* const* rows, float* y, int n) {
  for (int row = 0; row < n; ++row)
    if (rows[row]) y[row * 32 + threadIdx.x] = rows[row][threadIdx.x];
}
