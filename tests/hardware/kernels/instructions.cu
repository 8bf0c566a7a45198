// Kernels whose executed instructions are compared with a GPU's: loops, branches, predicates, tiles, reductions.

// Each thread runs as many iterations as its value says.
extern "C" __global__ void collatz(const int* values, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned n = values[i] + 1;
  int steps = 0;
  while (n != 1) {
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    ++steps;
  }
  out[i] = steps;
}

extern "C" __global__ void power_by_squaring(const int* values, int* out, int exponent) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int result = 1, base = values[i];
  for (int e = exponent + threadIdx.x % 5; e > 0; e /= 2) {
    if (e & 1) result *= base;
    base *= base;
  }
  out[i] = result;
}

extern "C" __global__ void polynomial(const float* x, float* y, int degree) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.f;
  for (int k = degree; k >= 0; --k) sum = sum * x[i] + 1.f / (k + 1);
  y[i] = sum;
}

extern "C" __global__ void continue_and_break(const int* values, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int k = 0; k < n; ++k) {
    const int value = values[(i + k) % 384];
    if (value % 7 == 0) continue;
    if (value > 950) break;
    sum += value;
  }
  out[i] = sum;
}

extern "C" __global__ void nested_loops(const int* values, int* out, int rows, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int r = 0; r < rows; ++r)
    for (int c = threadIdx.x % 3; c < columns; ++c) sum += values[(i + r * columns + c) % 384] ^ r;
  out[i] = sum;
}

extern "C" __global__ void grid_stride(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 2.f * x[i] + 1.f;
}

extern "C" __global__ void odd_and_even_lanes(const int* values, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = values[i];
  if (threadIdx.x % 2) {
    for (int k = 0; k < 5; ++k) value = value * 3 + values[(i + k) % 384];
  } else {
    for (int k = 0; k < 9; ++k) value = value * 5 - values[(i + 2 * k) % 384];
  }
  out[i] = value;
}

extern "C" __global__ void warps_apart(const int* values, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = values[i];
  if (threadIdx.x < 32) {
    for (int k = 0; k < 20; ++k) value += values[(i * k) % 384];
  } else if (threadIdx.x < 64) {
    value = -value;
  }
  out[i] = value;
}

extern "C" __global__ void seven_cases(const int* values, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = values[i];
  switch (value % 7) {
    case 0: value = value * 3; break;
    case 1: value = value / 3; break;
    case 2: value = value - values[(i + 1) % 384]; break;
    case 3: value = values[value % 384]; break;
    case 4: value ^= 0x55; break;
    case 5: value = __popc(value); break;
    default: value = -1;
  }
  out[i] = value;
}

extern "C" __global__ void guarded_edges(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float left = i > 0 ? x[i - 1] : 0.f;
  const float right = i + 1 < n ? x[i + 1] : 0.f;
  y[i] = 0.25f * left + 0.5f * x[i] + 0.25f * right;
}

// A tile of 16 x 16 in shared memory, with columns that end before the matrix does.
extern "C" __global__ void product_with_edges(const float* a, const float* b, float* c, int n) {
  __shared__ float left[16][16], right[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.f;
  for (int tile = 0; tile < n; tile += 16) {
    left[threadIdx.y][threadIdx.x] = row < n && tile + threadIdx.x < n ? a[row * n + tile + threadIdx.x] : 0.f;
    right[threadIdx.y][threadIdx.x] = column < n && tile + threadIdx.y < n ? b[(tile + threadIdx.y) * n + column] : 0.f;
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

__device__ float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
  return value;
}

extern "C" __global__ void sum_of_rows(const float* x, float* y, int columns) {
  __shared__ float partial[32];
  float sum = 0.f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += x[blockIdx.x * columns + c];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.f;
    sum = warp_sum(sum);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
  }
}

extern "C" __global__ void softmax_plain(const float* x, float* y, int columns) {
  const float* row = x + (blockIdx.x * blockDim.x + threadIdx.x) * columns;
  float most = row[0], sum = 0.f;
  for (int c = 1; c < columns; ++c) most = fmaxf(most, row[c]);
  for (int c = 0; c < columns; ++c) sum += expf(row[c] - most);
  for (int c = 0; c < columns; ++c) y[row - x + c] = expf(row[c] - most) / sum;
}

extern "C" __global__ void online_softmax(const float* x, float* y, int columns) {
  const float* row = x + (blockIdx.x * blockDim.x + threadIdx.x) * columns;
  float most = -1e30f, sum = 0.f;
  for (int c = 0; c < columns; ++c) {
    const float value = row[c];
    if (value > most) {
      sum *= __expf(most - value);
      most = value;
    }
    sum += __expf(value - most);
  }
  for (int c = 0; c < columns; ++c) y[row - x + c] = __fdividef(__expf(row[c] - most), sum);
}

extern "C" __global__ void divisions(const int* values, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int divisor = values[(i + 1) % 384] + 1;
  out[i] = values[i] / divisor + values[i] % (n + 1);
}

extern "C" __global__ void functions(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = sqrtf(fabsf(x[i])) + logf(fabsf(x[i]) + 1.f) + sinf(x[i]) + powf(fabsf(x[i]) + 0.5f, 1.5f);
}

__device__ __noinline__ int helper(int value, int rounds) {
  for (int k = 0; k < rounds; ++k) value = value * 31 + k;
  return value;
}

extern "C" __global__ void calls(const int* values, int* out, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = helper(values[i], rounds);
  if (value & 1) value = helper(value, 3);
  out[i] = value;
}

template <int unroll>
__global__ void unrolled_by(const int* values, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
#pragma unroll unroll
  for (int k = 0; k < n; ++k) sum += values[(i + k * 32) % 384];
  out[i] = sum;
}
