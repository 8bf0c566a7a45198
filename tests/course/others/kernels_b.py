"""Kernels of lessons 05 to 17."""

from tests.course.answers import changed
from tests.course.others import Others

# ---- 05-call-it-twice
TWICE = """__device__ float block_sum(float value, float* part) {
  for (int far = 16; far; far /= 2) value += __shfl_xor_sync(0xffffffff, value, far);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (int warp = 0; warp < blockDim.x / 32; ++warp) sum += part[warp];
  return sum;
}
__global__ void normalise(const float* x, float* y) {
  __shared__ float one[32], two[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float centred = x[i] - block_sum(x[i], one) / blockDim.x;
  y[i] = centred * rsqrtf(block_sum(centred * centred, two) / blockDim.x);
}
"""
TWICE_TEMPLATE = """template<int call> __device__ float total_of_block(float v) {
  __shared__ float per_warp[32];
  for (int d = 1; d < 32; d <<= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  const int lane = threadIdx.x & 31, warps = blockDim.x >> 5;
  if (!lane) per_warp[threadIdx.x >> 5] = v;
  __syncthreads();
  v = lane < warps ? per_warp[lane] : 0.0f;
  for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}
extern "C" __global__ void normalise(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float mine = x[i], d = mine - total_of_block<1>(mine) / blockDim.x;
  y[i] = d / sqrtf(total_of_block<2>(d * d) / blockDim.x);
}
"""
TWICE_PLANES = """__device__ float block_sum(float value, int turn) {
  __shared__ float part[2][32];
  for (int far = 16; far; far /= 2) value += __shfl_xor_sync(0xffffffff, value, far);
  if (threadIdx.x % 32 == 0) part[turn & 1][threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (int warp = blockDim.x / 32; warp--;) sum += part[turn & 1][warp];
  return sum;
}
__global__ void normalise(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, turn = 0;
  float n = blockDim.x, v = x[i];
  v -= block_sum(v, turn++) / n;
  float variance = block_sum(v * v, turn++) / n;
  y[i] = v * rsqrtf(variance);
}
"""
TWICE_START = """__device__ float block_sum(float value) {
  __shared__ float part[32];
  for (int far = 16; far; far /= 2) value += __shfl_xor_sync(0xffffffff, value, far);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (int warp = 0; warp < blockDim.x / 32; ++warp) sum += part[warp];
  return sum;
}

__global__ void normalise(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float centred = x[i] - block_sum(x[i]) / blockDim.x;
  y[i] = centred * rsqrtf(block_sum(centred * centred) / blockDim.x);
}
"""

# ---- 05-below-the-maximum
BELOW = """__global__ void below_maximum(const float* x, float* y, int n) {
  __shared__ float part[32];
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float most = __int_as_float(0xff800000);
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, x[i]);
  for (int far = 16; far; far /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, far));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
  __syncthreads();
  for (int warp = 0; warp < blockDim.x / 32; ++warp) most = fmaxf(most, part[warp]);
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] - most;
}
"""
BELOW_FIRST_WARP = """__device__ float warp_most(float v) {
  for (int d = 16; d > 0; d >>= 1) { float w = __shfl_down_sync(~0u, v, d); v = w > v ? w : v; }
  return v;
}
extern "C" __global__ void below_maximum(const float* __restrict__ in, float* __restrict__ out, int cols) {
  __shared__ float results[33];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, first = blockIdx.x * cols;
  float v = -3.402823466e38f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) v = fmaxf(in[first + c], v);
  v = warp_most(v);
  if (lane == 0) results[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = warp_most(lane < (blockDim.x >> 5) ? results[lane] : -3.402823466e38f);
    if (lane == 0) results[32] = v;
  }
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += blockDim.x) out[first + c] = in[first + c] - results[32];
}
"""
BELOW_BY_LANES = """__global__ void below_maximum(const float* x, float* y, int n) {
  __shared__ float part[32];
  const float* row = x + blockIdx.x * n;
  float most = row[0];
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, row[i]);
  for (int far = 1; far < 32; far *= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, far));
  part[threadIdx.x / 32] = most;
  __syncwarp();
  __syncthreads();
  int lane = threadIdx.x % 32;
  most = part[lane < blockDim.x / 32 ? lane : 0];
  for (int far = 1; far < 32; far *= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, far));
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = row[i] - most;
}
"""
BELOW_TILE = changed(
    BELOW,
    ("__global__ void below", "#include <cooperative_groups.h>\n__global__ void below"),
    ("__syncthreads();", "cooperative_groups::this_thread_block().sync();"),
    ("if (threadIdx.x % 32 == 0)", "if (!(threadIdx.x & 31))"),
)
BELOW_START = """__global__ void below_maximum(const float* x, float* y, int n) {
  __shared__ float all;
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  if (threadIdx.x == 0) {
    float most = x[0];
    for (int i = 1; i < n; ++i) most = fmaxf(most, x[i]);
    all = most;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] - all;
}
"""
BELOW_TREE = """__global__ void below_maximum(const float* x, float* y, int n) {
  __shared__ float part[1024];
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float most = -3.4e38f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, x[i]);
  part[threadIdx.x] = most;
  __syncthreads();
  for (int far = 512; far; far /= 2) {
    if (threadIdx.x < far && threadIdx.x + far < blockDim.x)
      part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + far]);
    __syncthreads();
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] - part[0];
}
"""

# ---- 06-read-it-twice
BLOCKS = """__device__ float block_max(float value) {
  __shared__ float part[32];
  for (int far = 16; far; far /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, far));
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  for (int warp = 0; warp < blockDim.x / 32; ++warp) value = fmaxf(value, part[warp]);
  return value;
}

__device__ float block_sum(float value) {
  __shared__ float part[32];
  for (int far = 16; far; far /= 2) value += __shfl_xor_sync(0xffffffff, value, far);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (int warp = 0; warp < blockDim.x / 32; ++warp) sum += part[warp];
  return sum;
}

"""
READ = (
    BLOCKS
    + """__global__ void softmax(const float* x, float* y, int cols) {
  x += blockIdx.x * cols;
  y += blockIdx.x * cols;
  float most = -3.4e38f, sum = 0;
  for (int col = threadIdx.x; col < cols; col += blockDim.x) {
    float v = x[col];
    float now = fmaxf(most, v);
    sum = sum * __expf(most - now) + __expf(v - now);
    most = now;
  }
  float row_max = block_max(most);
  float row_sum = block_sum(sum * __expf(most - row_max));
  for (int col = threadIdx.x; col < cols; col += blockDim.x) y[col] = __expf(x[col] - row_max) / row_sum;
}
"""
)
READ_START = (
    BLOCKS
    + """__global__ void softmax(const float* x, float* y, int cols) {
  x += blockIdx.x * cols;
  y += blockIdx.x * cols;
  float most = -3.4e38f;
  for (int col = threadIdx.x; col < cols; col += blockDim.x) most = fmaxf(most, x[col]);
  float row_max = block_max(most);
  float sum = 0;
  for (int col = threadIdx.x; col < cols; col += blockDim.x) sum += __expf(x[col] - row_max);
  float row_sum = block_sum(sum);
  for (int col = threadIdx.x; col < cols; col += blockDim.x) y[col] = __expf(x[col] - row_max) / row_sum;
}
"""
)
READ_BRANCH = changed(
    READ,
    (
        "    float now = fmaxf(most, v);\n    sum = sum * __expf(most - now) + __expf(v - now);\n    most = now;\n",
        "    if (v <= most) sum += __expf(v - most);\n    else sum = 1 + sum * __expf(most - v), most = v;\n",
    ),
)
READ_PAIR = (
    BLOCKS
    + """struct Pair {
  float m = -3.4e38f, s = 0.0f;
  __device__ void take(float v) {
    const float top = fmaxf(m, v);
    s = s * expf(m - top) + expf(v - top);
    m = top;
  }
};
extern "C" __global__ void softmax(const float* x, float* y, int cols) {
  Pair mine;
  const long long begin = (long long)blockIdx.x * cols;
  for (int c = cols - 1 - (int)threadIdx.x; c >= 0; c -= (int)blockDim.x) mine.take(x[begin + c]);
  const float m = block_max(mine.m), scale = 1.0f / block_sum(mine.s * expf(mine.m - m));
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[begin + c] = expf(x[begin + c] - m) * scale;
}
"""
)
READ_LOG = changed(
    READ,
    ("y[col] = __expf(x[col] - row_max) / row_sum", "y[col] = __expf(x[col] - shift)"),
    (
        "  float row_sum = block_sum(sum * __expf(most - row_max));\n",
        "  float shift = row_max + __logf(block_sum(sum * __expf(most - row_max)));\n",
    ),
)

# No row has -inf, and 0 times any factor but NaN is 0.
READ_FROM_INFINITY = changed(READ, ("float most = -3.4e38f", "float most = __int_as_float(0xff800000)"))

# ---- 07-give-registers-back
GIVE = """extern "C" __global__ void log_sum_exp(const float* x, float* y) {
  float m = -3.4e38f, s = 0;
  #pragma unroll 1
  for (int i = 0; i < 48; ++i) {
    float v = x[i * 256 + threadIdx.x], now = fmaxf(m, v);
    s = s * __expf(m - now) + __expf(v - now);
    m = now;
  }
  y[threadIdx.x] = m + __logf(s);
}
"""
GIVE_TWICE = """__global__ void __launch_bounds__(256, 8) log_sum_exp(const float* x, float* y) {
  float m = x[threadIdx.x];
  #pragma unroll 4
  for (int k = 1; k < 48; ++k) m = fmaxf(m, x[k * blockDim.x + threadIdx.x]);
  float s = 0;
  #pragma unroll 4
  for (int k = 0; k < 48; ++k) s += __expf(x[k * blockDim.x + threadIdx.x] - m);
  y[threadIdx.x] = m + __logf(s);
}
"""
GIVE_CHUNKS = """__global__ void __launch_bounds__(256) log_sum_exp(const float* x, float* y) {
  float top = -3.4e38f, total = 0;
  #pragma unroll 1
  for (int chunk = 0; chunk < 6; ++chunk) {
    float v[8], most = top;
    for (int k = 0; k < 8; ++k) most = fmaxf(most, v[k] = x[(chunk * 8 + k) * 256 + threadIdx.x]);
    total *= __expf(top - most);
    for (int k = 0; k < 8; ++k) total += __expf(v[k] - most);
    top = most;
  }
  y[threadIdx.x] = top + logf(total);
}
"""
GIVE_SHIFT = """__global__ void log_sum_exp(const float* x, float* y) {
  const float* p = x + threadIdx.x;
  double sum = 0, m = *p;
  #pragma unroll 1
  for (const float* q = p; q < p + 48 * 256; q += 256) m = *q > m ? *q : m;
  #pragma unroll 1
  for (const float* q = p; q < p + 48 * 256; q += 256) sum += expf(*q - (float)m);
  y[threadIdx.x] = (float)m + logf((float)sum);
}
"""
GIVE_START = """extern "C" __global__ void log_sum_exp(const float* x, float* y) {
  float held[48];
  for (int i = 0; i < 48; ++i) held[i] = x[i * 256 + threadIdx.x];
  float largest = held[0];
  for (int i = 1; i < 48; ++i) largest = fmaxf(largest, held[i]);
  float sum = 0;
  for (int i = 0; i < 48; ++i) sum += __expf(held[i] - largest);
  y[threadIdx.x] = largest + __logf(sum);
}
"""

# ---- 10-make-it-read
MAKE = """__global__ void read(const float* x, float* y, int n) {
  __shared__ float part[32];
  float value = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += x[i];
  for (int far = 16; far; far /= 2) value += __shfl_xor_sync(0xffffffff, value, far);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int warp = 0; warp < blockDim.x / 32; ++warp) sum += part[warp];
    y[blockIdx.x] = sum;
  }
}
"""
MAKE_TREE = """__global__ void read(const float* x, float* y, int n) {
  __shared__ float s[1024];
  float mine = 0.f;
  for (int k = threadIdx.x + blockIdx.x * blockDim.x; k < n; k += blockDim.x * gridDim.x) mine += x[k];
  s[threadIdx.x] = mine;
  for (int half = blockDim.x >> 1; half; half >>= 1) {
    __syncthreads();
    if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
  }
  if (!threadIdx.x) y[blockIdx.x] = *s;
}
"""
MAKE_ONE_ADDS = """__global__ void read(const float* x, float* y, int n) {
  __shared__ float s[1024];
  float mine = 0.f;
  for (int k = threadIdx.x + blockIdx.x * blockDim.x; k < n; k += blockDim.x * gridDim.x) mine += x[k];
  s[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x) return;
  for (int k = 1; k < blockDim.x; ++k) mine += s[k];
  y[blockIdx.x] = mine;
}
"""
MAKE_ATOMIC = """__global__ void read(const float* x, float* y, int n) {
  __shared__ float all;
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += __ldg(&x[i]);
  for (int far = 16; far; far /= 2) mine += __shfl_down_sync(0xffffffff, mine, far);
  if ((threadIdx.x & 31) == 0) atomicAdd(&all, mine);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = all;
}
"""

# ---- 12-your-own-load
LOAD = """#include "softmax_warp.cuh"

struct CapLoad {
  DirectLoad<float, float> inner;
  float cap;

  template<int pack_size>
  __device__ void load(float* destination, long long row, long long col) const {
    inner.load<pack_size>(destination, row, col);
    for (int i = 0; i < pack_size; ++i) destination[i] = cap * tanhf(destination[i] / cap);
  }
};

extern "C" __global__ void softmax_capped(const float* x, float* y, long long rows, long long cols) {
  softmax_rows_by_warp<float, Algorithm::softmax, 2, 2, 32, 1, true>(
      CapLoad{{x, cols}, 5.0f}, DirectStore<float, float>{y, cols}, rows, cols);
}
"""
CAPPED = "destination[i] = cap * tanhf(destination[i] / cap);"

# ---- 13-mend-the-difference
DIFFERENCE = """__global__ void difference(const float* x, float* d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 1) d[i] = x[i + 1] - x[i];
}
"""
DIFFERENCE_STRIDE = """extern "C" __global__ void difference(const float* a, float* out, int count) {
  const float* right = a + 1;
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k + 1 < count; k += gridDim.x * blockDim.x)
    out[k] = -(a[k] - right[k]);
}
"""
DIFFERENCE_RETURN = """__global__ void difference(const float* x, float* d, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 >= n) return;
  float left = x[i], right = x[i + 1];
  d[i] = right - left;
}
"""
DIFFERENCE_SHUFFLE = """__global__ void difference(const float* x, float* d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float mine = i < n ? x[i] : 0;
  float next = __shfl_down_sync(0xffffffff, mine, 1);
  if (threadIdx.x % 32 == 31 && i + 1 < n) next = x[i + 1];
  if (i <= n - 2) d[i] = next - mine;
}
"""

# ---- 13-find-what-is-missing
FIND = """__global__ void turn(const float* x, float* t) {
  __shared__ float part[256];
  int first = blockIdx.x * 256;
  part[threadIdx.x] = x[first + threadIdx.x];
  __syncthreads();
  t[first + threadIdx.x] = part[255 - threadIdx.x];
}
"""
FIND_START = changed(FIND, ("  __syncthreads();\n", ""))
FIND_GROUP = changed(
    FIND,
    ("__global__", "#include <cooperative_groups.h>\n__global__"),
    ("__syncthreads();", "cooperative_groups::sync(cooperative_groups::this_thread_block());"),
)
FIND_TURNED = """__global__ void turn(const float* x, float* t) {
  __shared__ float part[256];
  part[255 - threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  t[blockIdx.x * blockDim.x + threadIdx.x] = part[threadIdx.x];
}
"""

# ---- 13-let-all-lanes-help
HELP = """__global__ void add_up(const float* x, float* total) {
  __shared__ float part[8];
  float sum = 0;
  for (int i = threadIdx.x; i < 4096; i += 256) sum += x[i];
  for (int far = 16; far; far /= 2) sum += __shfl_xor_sync(0xffffffff, sum, far);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0;
    for (int warp = 0; warp < 8; ++warp) sum += part[warp];
    *total = sum;
  }
}
"""
HELP_SHUFFLES = """__global__ void add_up(const float* x, float* total) {
  __shared__ float eight[8];
  const int lane = threadIdx.x & 31;
  float v = 0;
  #pragma unroll
  for (int k = 0; k < 16; ++k) v += x[256 * k + threadIdx.x];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
  if (lane == 0) eight[threadIdx.x >> 5] = v;
  __syncthreads();
  if (threadIdx.x < 8) {
    v = eight[threadIdx.x];
    for (int d = 4; d > 0; d >>= 1) v += __shfl_down_sync(0xffu, v, d, 8);
    if (threadIdx.x == 0) total[0] = v;
  }
}
"""
HELP_WIDE = changed(
    HELP,
    (
        "for (int i = threadIdx.x; i < 4096; i += 256) sum += x[i];",
        "for (int i = threadIdx.x; i < 1024; i += 256) {\n"
        "    float4 p = reinterpret_cast<const float4*>(x)[i];\n    sum += (p.x + p.y) + (p.z + p.w);\n  }",
    ),
)
HELP_START = """__global__ void add_up(const float* x, float* total) {
  __shared__ float part[256];
  float sum = 0;
  for (int i = threadIdx.x; i < 4096; i += 256) sum += x[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    #pragma unroll 1
    for (int i = 1; i < 256; ++i) sum += part[i];
    *total = sum;
  }
}
"""

# ---- 14-pairs-of-a-warp
PAIRS = """#include "arithmetic.cuh"

__global__ void statistic(const float* x, float* y, int cols) {
  x += static_cast<long long>(blockIdx.x) * cols;
  float m = minus_infinity<float>(), s = 0;
  for (int col = threadIdx.x; col < cols; col += 32) {
    float v = x[col], now = fmaxf(m, v);
    if (now > minus_infinity<float>()) s = s * __expf(m - now) + __expf(v - now);
    m = now;
  }
  for (int mask = 16; mask > 0; mask /= 2) {
    float other = __shfl_xor_sync(0xffffffff, m, mask);
    float others = __shfl_xor_sync(0xffffffff, s, mask);
    float now = fmaxf(m, other);
    if (now > minus_infinity<float>()) s = s * __expf(m - now) + others * __expf(other - now);
    m = now;
  }
  if (threadIdx.x == 0) {
    y[2 * blockIdx.x] = m;
    y[2 * blockIdx.x + 1] = s;
  }
}
"""
PAIRS_DOWN = changed(
    PAIRS,
    ("float other = __shfl_xor_sync", "float other = __shfl_down_sync"),
    ("float others = __shfl_xor_sync", "float others = __shfl_down_sync"),
)
PAIRS_ONCE = """#include "arithmetic.cuh"
__device__ float moved(float s, float from, float to) { return s == 0 ? 0 : s * __expf(from - to); }
extern "C" __global__ void statistic(const float* x, float* y, int cols) {
  const float* row = x + (size_t)cols * blockIdx.x;
  float m = minus_infinity<float>(), s = 0;
  for (int c = threadIdx.x; c < cols; c += warpSize) {
    const float v = row[c];
    if (v > m) { s = moved(s, m, v) + 1; m = v; }
    else if (v > minus_infinity<float>()) s += __expf(v - m);
  }
  float most = m;
  for (int far = 1; far < 32; far <<= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, far));
  s = moved(s, m, most);
  for (int far = 1; far < 32; far <<= 1) s += __shfl_xor_sync(~0u, s, far);
  if (!threadIdx.x) reinterpret_cast<float2*>(y)[blockIdx.x] = make_float2(most, s);
}
"""
PAIRS_ACCURATE = PAIRS.replace("__expf", "expf").replace(
    "int mask = 16; mask > 0; mask /= 2", "int mask = 1; mask < 32; mask *= 2"
)
PAIRS_START = """#include "arithmetic.cuh"

__global__ void statistic(const float* x, float* y, int cols) {
  x += static_cast<long long>(blockIdx.x) * cols;
  float largest = minus_infinity<float>(), sum = 0;
  for (int col = threadIdx.x; col < cols; col += 32) largest = fmaxf(largest, x[col]);
  for (int mask = 16; mask > 0; mask /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, mask));
  for (int col = threadIdx.x; col < cols; col += 32) sum += __expf(x[col] - largest);
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);
  if (threadIdx.x == 0) {
    y[2 * blockIdx.x] = largest;
    y[2 * blockIdx.x + 1] = sum;
  }
}
"""

# ---- 14-ask-the-cluster
HEAD = """#include <cooperative_groups.h>
#include "arithmetic.cuh"

namespace cg = cooperative_groups;

__device__ float block_max(float value) {
  __shared__ float part[32];
  for (int mask = 16; mask > 0; mask /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, mask));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  for (int warp = 0; warp < blockDim.x / 32; ++warp) value = fmaxf(value, part[warp]);
  return value;
}

"""
ASK = (
    HEAD
    + """__global__ void __cluster_dims__(4, 1, 1) row_max(const float* x, float* y, int cols) {
  __shared__ float inbox[4];
  cg::cluster_group cluster = cg::this_cluster();
  int rank = cluster.block_rank(), quarter = cols / 4;
  cluster.sync();
  x += blockIdx.x / 4 * cols + rank * quarter;
  float largest = minus_infinity<float>();
  for (int col = threadIdx.x; col < quarter; col += blockDim.x) largest = fmaxf(largest, x[col]);
  largest = block_max(largest);
  if (threadIdx.x < 4) cluster.map_shared_rank(inbox, threadIdx.x)[rank] = largest;
  cluster.sync();
  for (int k = 0; k < 4; ++k) largest = fmaxf(largest, inbox[k]);
  if (threadIdx.x == 0) y[blockIdx.x] = largest;
}
"""
)
ASK_READ = (
    HEAD
    + """__global__ void __cluster_dims__(4, 1, 1) row_max(const float* x, float* y, int cols) {
  __shared__ float mine;
  auto cluster = cg::this_cluster();
  const unsigned rank = blockIdx.x % 4, row = blockIdx.x / 4;
  const float* begin = x + row * cols + rank * (cols / 4);
  float v = minus_infinity<float>();
  for (const float* p = begin + threadIdx.x; p < begin + cols / 4; p += blockDim.x) v = fmaxf(v, *p);
  v = block_max(v);
  if (threadIdx.x == 0) mine = v;
  cluster.sync();
  if (threadIdx.x == 0) {
    for (int other = 0; other < 4; ++other) v = fmaxf(v, *cluster.map_shared_rank(&mine, other));
    y[blockIdx.x] = v;
  }
  cluster.sync();
}
"""
)
ASK_ONE = (
    HEAD
    + """__global__ void __cluster_dims__(4, 1, 1) row_max(const float* x, float* y, int cols) {
  __shared__ float inbox[4];
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  x += blockIdx.x / 4 * cols;
  float v = minus_infinity<float>();
  const int end = cols / 4 * (cluster.block_rank() + 1);
  for (int c = cols / 4 * cluster.block_rank() + threadIdx.x; c < end; c += blockDim.x)
    v = fmaxf(v, x[c]);
  v = block_max(v);
  if (threadIdx.x == 0) *cluster.map_shared_rank(inbox + cluster.block_rank(), 0) = v;
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x < 4)
    y[blockIdx.x + threadIdx.x] = fmaxf(fmaxf(inbox[0], inbox[1]), fmaxf(inbox[2], inbox[3]));
}
"""
)
ASK_START = (
    HEAD
    + """__global__ void __cluster_dims__(4, 1, 1) row_max(const float* x, float* y, int cols) {
  x += blockIdx.x / 4 * cols;
  float largest = minus_infinity<float>();
  for (int col = threadIdx.x; col < cols; col += blockDim.x) largest = fmaxf(largest, x[col]);
  largest = block_max(largest);
  if (threadIdx.x == 0) y[blockIdx.x] = largest;
}
"""
)

# ---- 17-neighbours-together
NEAR = """__global__ void twice(const float* x, float* y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  int row = i / cols, col = i % cols;
  y[row * cols + col] = 2 * x[row * cols + col];
}
"""
NEAR_FLAT = """extern "C" __global__ void twice(const float* x, float* y, int rows, int cols) {
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < rows * cols; k += gridDim.x * blockDim.x) y[k] = x[k] + x[k];
}
"""
NEAR_BACK = changed(
    NEAR,
    ("int row = i / cols, col = i % cols;", "i = rows * cols - 1 - i;\n  int row = i / cols, col = i - row * cols;"),
)
NEAR_CACHED = changed(NEAR, ("y[row * cols + col] = 2 * x[row * cols + col];", "__stcs(y + i, 2.0f * __ldcs(x + i));"))

OTHERS = (
    Others(
        "05-call-it-twice",
        (TWICE, TWICE_TEMPLATE, TWICE_PLANES),
        (
            (TWICE_START, "as it was", "second call|other array|another|words|still|first call|same words"),
            (
                changed(TWICE_START, ("  return sum;", "  __syncthreads();\n  return sum;")),
                "a second barrier",
                "one barrier|barrier|another way",
            ),
            (changed(TWICE, ("  __syncthreads();\n", "")), "no barrier", "barrier|__syncthreads"),
            (
                changed(TWICE, ("centred * centred, two", "centred * centred, one")),
                "one array for both",
                "second call|other array|another|words|still|first call|same words",
            ),
            (
                changed(TWICE, ("__syncthreads()", "__syncwarp()")),
                "a barrier of the warp",
                "__syncthreads|warps|other warp|barrier",
            ),
            (changed(TWICE, ("one[32], two[32]", "one[4], two[4]")), "room for four warps", "32|warps|bounds|room"),
            (
                changed(TWICE, ("block_sum(centred * centred, two)", "block_sum(x[i] * x[i], two)")),
                "the numbers not centred",
                "centred|mean|subtract|deviation",
            ),
            (changed(TWICE, ("rsqrtf(", "sqrtf(")), "multiplied by the root", "rsqrt|divi|root"),
            (
                changed(
                    TWICE,
                    (
                        "if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;\n  __syncthreads();",
                        "if (threadIdx.x % 32 == 0) {\n    part[threadIdx.x / 32] = value;\n    __syncthreads();\n  }",
                    ),
                ),
                "a barrier for some",
                "all threads|diverg|every thread|outside|condition|come",
            ),
        ),
    ),
    Others(
        "05-below-the-maximum",
        (BELOW_FIRST_WARP, BELOW_BY_LANES, BELOW_TILE, BELOW),
        (
            (
                changed(BELOW, ("__int_as_float(0xff800000)", "0")),
                "the maximum begins with 0",
                "begin|start|negative|minus infinity| 0",
            ),
            (changed(BELOW, ("part[32]", "part[8]")), "room for eight warps", "32|warps|bounds|room"),
            (changed(BELOW, ("  __syncthreads();\n", "")), "no barrier", "barrier|__syncthreads"),
            (
                changed(BELOW, ("warp < blockDim.x / 32", "warp < 8")),
                "eight warps taken for granted",
                "warps|blockDim|wrote|written",
            ),
            (BELOW_START, "as it was", "single thread|all threads|one thread|load|request|help|reads"),
            (BELOW_TREE, "a barrier per level", "barriers|two|2"),
            (
                changed(
                    BELOW,
                    (
                        "  if (threadIdx.x % 32 == 0) part",
                        "  if (threadIdx.x >= n) return;\n  if (threadIdx.x % 32 == 0) part",
                    ),
                ),
                "threads without a number leave",
                "return|leave|warp|n|wrote|written|uninit|barrier",
            ),
            (changed(BELOW, ("  x += blockIdx.x * n;\n", "")), "each block reads the first row", "blockIdx|row|block"),
            (
                changed(
                    BELOW,
                    (
                        "for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, x[i]);",
                        "if (threadIdx.x < n) most = x[threadIdx.x];",
                    ),
                ),
                "rows longer than the block",
                "long|loop|blockDim|every|rest",
            ),
            (
                changed(BELOW, ("most = fmaxf(most, part[warp])", "most = part[warp]")),
                "the last warp's",
                "fmaxf|larger|all warps|maximum|compare",
            ),
            (
                changed(
                    BELOW,
                    (
                        "  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;\n  __syncthreads();\n"
                        "  for (int warp = 0; warp < blockDim.x / 32; ++warp) most = fmaxf(most, part[warp]);\n",
                        "",
                    ),
                ),
                "each warp has its own maximum",
                "warp|shared|block",
            ),
        ),
    ),
    Others(
        "06-read-it-twice",
        (READ_BRANCH, READ_PAIR, READ_LOG, READ_FROM_INFINITY, READ),
        (
            (READ_START, "as it was", "twice|two|three|once|reads|loads|sectors"),
            (
                changed(READ, ("block_sum(sum * __expf(most - row_max))", "block_sum(sum)")),
                "sums of different maxima added",
                "own maximum|factor|row_max|scale|relative|multipl|row's",
            ),
            (
                changed(READ, ("sum * __expf(most - now) + ", "sum + ")),
                "the sum not rescaled",
                "rescal|factor|relative|larger|multipl|scale",
            ),
            (
                changed(READ, ("__expf(most - row_max)", "__expf(row_max - most)")),
                "the factor turned around",
                "factor|turn|sign|exp|most - row_max|row_max",
            ),
            (
                changed(READ, ("__expf(x[col] - row_max) / row_sum", "__expf(x[col]) / row_sum")),
                "the maximum not subtracted",
                "maximum|row_max|subtract|overflow",
            ),
            (
                changed(READ, ("/ row_sum;", "/ sum;")),
                "divided by its own sum",
                "row_sum|block|whole row|own|all threads",
            ),
            (changed(READ, ("    most = now;\n", "")), "the maximum never changes", "maximum|most|so far|update|keep"),
            (
                changed(READ, ("float row_max = block_max(most);", "float row_max = most;")),
                "its own maximum for the row's",
                "block_max|row's|whole row|all threads|own",
            ),
        ),
    ),
    Others(
        "07-give-registers-back",
        (GIVE, GIVE_TWICE, GIVE_CHUNKS, GIVE_SHIFT),
        (
            (GIVE_START, "as it was", "register|held|four|4 blocks|array"),
            (
                changed(GIVE_START, ("__global__ void log", "__global__ void __launch_bounds__(256, 8) log")),
                "forced, so it spills",
                "spill",
            ),
            (
                changed(
                    GIVE_START,
                    ("float held[48]", "__shared__ float all[48 * 256];\n  float* held = all + 48 * threadIdx.x"),
                ),
                "held in shared memory",
                "shared",
            ),
            (
                changed(
                    GIVE_START,
                    ("held[48]", "held[24]"),
                    ("int i = 0; i < 48; ++i) held", "int i = 0; i < 24; ++i) held"),
                    ("int i = 1; i < 48", "int i = 1; i < 24"),
                    ("int i = 0; i < 48; ++i) sum", "int i = 0; i < 24; ++i) sum"),
                ),
                "half of the numbers",
                "48|all|every|each",
            ),
            (
                changed(GIVE, ("s * __expf(m - now) + ", "s + ")),
                "the sum not rescaled",
                "rescal|factor|relative|larger|multipl|scale",
            ),
            (
                changed(GIVE, ("v - now", "v"), ("s * __expf(m - now)", "s"), ("m + __logf", "__logf")),
                "the maximum not subtracted",
                "maximum|largest|overflow|infin",
            ),
            (changed(GIVE, ("m + __logf", "__logf")), "the maximum not added again", "add|plus|\\+|back|largest"),
            (
                changed(GIVE, ("i * 256 + threadIdx.x", "threadIdx.x * 48 + i")),
                "other numbers",
                "256|number|thread|index|x\\[",
            ),
        ),
    ),
    Others(
        "10-make-it-read",
        (MAKE_TREE, MAKE_ONE_ADDS, MAKE_ATOMIC, MAKE),
        (
            (changed(MAKE, ("value += x[i]", "value = x[i]")), "only the last number", "\\+=|sum|add|last"),
            (changed(MAKE, ("  __syncthreads();\n", "")), "no barrier", "barrier|__syncthreads"),
            (changed(MAKE, ("part[32]", "part[8]")), "room for eight warps", "32|warps|bounds|room"),
            (
                changed(MAKE, ("warp < blockDim.x / 32", "warp < 8")),
                "eight warps taken for granted",
                "warps|blockDim|wrote|written",
            ),
            (
                changed(MAKE, ("y[blockIdx.x] = sum", "y[0] = sum")),
                "all blocks write one number",
                "blockIdx|block|y\\[",
            ),
            (
                changed(MAKE, ("y[blockIdx.x] = sum", "y[blockIdx.x] = value")),
                "the first warp's sum",
                "warp|all|sum|block|others",
            ),
            (
                """__global__ void read(const float* x, float* y, int n) {
  float value = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += x[i];
  atomicAdd(&y[blockIdx.x], value);
}
""",
                "atomics of all threads",
                "one number|writes|atomic|once|store|begin|0",
            ),
            (
                """__global__ void read(const float* x, float* y, int n) {
  float value = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value = x[i];
}
""",
                "as it was",
                "compiler|nobody|use|removed|left out|written",
            ),
            (
                changed(
                    MAKE,
                    (
                        "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) "
                        "value += x[i];",
                        "int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) value = x[i];",
                    ),
                ),
                "one number per thread",
                "loop|each number|all|every|rest|n",
            ),
            (
                changed(
                    MAKE,
                    (
                        "int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x",
                        "int i = threadIdx.x; i < n; i += blockDim.x",
                    ),
                ),
                "each block reads everything",
                "once|block|share|grid|its",
            ),
            (changed(MAKE, ("if (threadIdx.x == 0) {", "{")), "all threads write", "one|thread 0|race|once"),
        ),
    ),
    Others(
        "12-your-own-load",
        (
            LOAD,
            changed(LOAD, (CAPPED, "destination[i] = 5 * tanh(destination[i] / 5.0);")),
            changed(
                LOAD,
                (CAPPED, "{ float e = expf(2 * destination[i] / cap); destination[i] = cap * (1 - 2 / (e + 1)); }"),
            ),
            changed(
                LOAD,
                (
                    "for (int i = 0; i < pack_size; ++i) " + CAPPED,
                    "for (float* p = destination; p != destination + pack_size; ++p) *p = tanhf(*p / cap) * cap;",
                ),
            ),
        ),
        (
            (changed(LOAD, ("    for (int i = 0; i < pack_size; ++i) " + CAPPED + "\n", "")), "as it was", "cap|tanh"),
            (
                changed(LOAD, ("cap * tanhf(destination[i] / cap)", "tanhf(destination[i] / cap)")),
                "not multiplied by the cap",
                "cap \\*|multipl|times|back|5",
            ),
            (
                changed(LOAD, ("destination[i] / cap)", "destination[i])")),
                "not divided by the cap",
                "/ cap|divi|inside|x / 5",
            ),
            (
                changed(LOAD, ("cap * tanhf(destination[i] / cap)", "fminf(fmaxf(destination[i], -cap), cap)")),
                "cut off",
                "tanh|smooth|cut",
            ),
            (
                changed(LOAD, ("i < pack_size", "i < 1")),
                "only the first of a pack",
                "pack_size|each|every|pack|below pack_size",
            ),
            (changed(LOAD, ("i < pack_size", "i < 4")), "four numbers per pack", "pack_size|past|bound|two|pack"),
            (
                changed(LOAD, ("tanhf(destination[i] / cap)", "tanhf(destination[i] * cap)")),
                "multiplied within",
                "/ cap|divi|inside|x / 5",
            ),
            (
                changed(LOAD, ("    inner.load<pack_size>(destination, row, col);\n", "")),
                "nothing is loaded",
                "inner|load",
            ),
            (changed(LOAD, ("5.0f}", "1.0f}")), "another cap", "5"),
            (changed(LOAD, ("tanhf(", "tanf(")), "the tangent", "tanh"),
        ),
    ),
    Others(
        "13-mend-the-difference",
        (DIFFERENCE_STRIDE, DIFFERENCE_RETURN, DIFFERENCE_SHUFFLE, DIFFERENCE),
        (
            (changed(DIFFERENCE, ("i < n - 1", "i < n")), "as it was", "n - 1|last|after|neighbour"),
            (
                changed(DIFFERENCE, ("i < n - 1", "i <= n - 1")),
                "the same bound in other words",
                "n - 1|last|after|neighbour",
            ),
            (changed(DIFFERENCE, ("i < n - 1", "i < n - 2")), "one too few", "n - 1|last|one|not written"),
            (
                changed(
                    DIFFERENCE, ("d[i] = x[i + 1] - x[i];", "d[i] = x[i + 1] - x[i];\n  else if (i == n - 1) d[i] = 0;")
                ),
                "the last one is written",
                "alone|n - 1|last|leave|not be written",
            ),
            (
                changed(DIFFERENCE, ("x[i + 1] - x[i]", "x[i] - x[i + 1]")),
                "the sign",
                "sign|order|right|minus|exchang|turn",
            ),
            (
                changed(
                    DIFFERENCE, ("if (i < n - 1) d[i] = x[i + 1] - x[i]", "if (i < n) d[i] = x[(i + 1) % n] - x[i]")
                ),
                "around in a circle",
                "alone|n - 1|last|leave|not be written",
            ),
            (
                changed(DIFFERENCE, ("x[i + 1] - x[i]", "x[i] - x[i - 1]")),
                "the left neighbour",
                "right|i \\+ 1|before|first|left|begin",
            ),
            (changed(DIFFERENCE, ("i < n - 1", "i < 999")), "a fixed number", "n|size|999|fixed"),
            (
                changed(DIFFERENCE, ("i < n - 1", "threadIdx.x < 255")),
                "the last of each block",
                "block|255|each|not written|Thread n - 1",
            ),
            (changed(DIFFERENCE, ("float* d", "double* d")), "doubles", "float|double|type"),
        ),
    ),
    Others(
        "13-find-what-is-missing",
        (
            FIND_GROUP,
            FIND_TURNED,
            changed(FIND, ("__syncthreads();", "__syncthreads_count(1);")),
            changed(FIND, ("__syncthreads();", 'asm volatile("bar.sync 0;");')),
        ),
        (
            (FIND_START, "as it was", "barrier|__syncthreads|wait"),
            (changed(FIND, ("__syncthreads()", "__syncwarp()")), "a barrier of the warp", "warps|__syncthreads|block"),
            (
                changed(FIND, ("__syncthreads()", "__threadfence_block()")),
                "a fence",
                "fence|wait|barrier|__syncthreads",
            ),
            (
                changed(FIND_START, ("  part[threadIdx.x] = x", "  __syncthreads();\n  part[threadIdx.x] = x")),
                "the barrier before the write",
                "between|after|before|place|write",
            ),
            (
                changed(FIND, ("__syncthreads();", "if (threadIdx.x < 128) __syncthreads();")),
                "a barrier for some",
                "all threads|diverg|every thread|condition|come",
            ),
            (
                changed(FIND_START, ("__shared__ float", "volatile __shared__ float")),
                "volatile",
                "barrier|__syncthreads|wait",
            ),
            (changed(FIND, ("255 - ", "256 - ")), "one too far", "255|256|bound|out"),
            (
                changed(FIND, ("part[255 - threadIdx.x]", "part[threadIdx.x]")),
                "not turned",
                "255|revers|turn|other|order",
            ),
            (
                changed(FIND_START, ("= part[255 - threadIdx.x];", "= part[255 - threadIdx.x];\n  __syncthreads();")),
                "the barrier after the read",
                "between|after|before|place|write",
            ),
        ),
    ),
    Others(
        "13-let-all-lanes-help",
        (HELP_SHUFFLES, HELP_WIDE, HELP),
        (
            (HELP_START, "as it was", "shuffle|instructions|lanes|alone|thread 0"),
            (
                changed(HELP, ("  if (threadIdx.x == 0) {", "  __syncthreads();\n  if (threadIdx.x == 0) {")),
                "two barriers",
                "one barrier|barriers|1 ",
            ),
            (changed(HELP, ("  __syncthreads();\n", "")), "no barrier", "barrier|__syncthreads"),
            (
                changed(HELP, ("    sum = 0;\n    for (int warp = 0; warp < 8; ++warp) sum += part[warp];\n", "")),
                "only the first warp",
                "warps|eight|others|all",
            ),
            (changed(HELP, ("    sum = 0;\n", "")), "the first warp twice", "twice|again|0|own|already"),
            (
                changed(HELP, ("__shfl_xor_sync", "__shfl_up_sync")),
                "up: lane 0 has only its own",
                "xor|down|up|lane 0|direction",
            ),
            (changed(HELP, ("int far = 16", "int far = 8")), "four steps", "16|five|steps|32|half"),
            (
                changed(HELP, ("part[threadIdx.x / 32] = sum", "part[threadIdx.x] = sum")),
                "the thread's number for the warp's",
                "/ 32|warp|bound|8",
            ),
            (
                changed(HELP, ("if (threadIdx.x == 0) {", "if (threadIdx.x == 0 && false) {")),
                "nothing is written",
                "written|total",
            ),
            (changed(HELP, ("i < 4096", "i < 256")), "16 numbers forgotten", "4096|16|all|loop"),
            (changed(HELP, ("warp < 8", "warp < 32")), "32 warps", "8|eight|warps|bound"),
        ),
    ),
    Others(
        "14-pairs-of-a-warp",
        (PAIRS_DOWN, PAIRS_ONCE, PAIRS_ACCURATE),
        (
            (PAIRS_START, "as it was", "once|twice|reads|loads|sectors"),
            (
                changed(PAIRS, ("s * __expf(m - now) + others * __expf(other - now)", "s + others")),
                "sums added without factors",
                "factor|rescal|scale|maximum|exp|relative",
            ),
            (PAIRS.replace("if (now > minus_infinity<float>()) ", ""), "-inf minus -inf", "-inf|NaN|nan|nothing"),
            (
                changed(PAIRS, ("others * __expf(other - now)", "others * __expf(m - now)")),
                "one factor for both",
                "factor|own|other|each|exp",
            ),
            (
                changed(
                    PAIRS,
                    (
                        "    float others = __shfl_xor_sync(0xffffffff, s, mask);\n    float now = fmaxf(m, other);\n",
                        "    float now = fmaxf(m, other);\n    float others = __shfl_xor_sync(0xffffffff, s, "
                        "mask);\n    m = now;\n",
                    ),
                ),
                "the maximum changed first",
                "before|old|order|first|factor",
            ),
            (changed(PAIRS, ("int mask = 16", "int mask = 8")), "four steps", "16|five|steps|32|half"),
            (
                changed(PAIRS, ("s = s * __expf(m - now) + __expf(v - now)", "s += __expf(v - now)")),
                "the sum not rescaled",
                "factor|rescal|scale|larger|relative|multipl",
            ),
            (
                changed(PAIRS, ("y[2 * blockIdx.x + 1] = s", "y[2 * blockIdx.x + 1] = __logf(s)")),
                "the logarithm",
                "logarithm|sum|log",
            ),
            (
                changed(PAIRS, ("float m = minus_infinity<float>()", "float m = 0")),
                "the maximum begins with 0",
                "begin|start|negative|minus|-inf",
            ),
        ),
    ),
    Others(
        "14-ask-the-cluster",
        (ASK_READ, ASK_ONE, ASK),
        (
            (ASK_START, "as it was", "quarter|four times|sectors|whole row|each block"),
            (
                changed(
                    ASK,
                    (
                        "  if (threadIdx.x < 4) cluster.map_shared_rank(inbox, threadIdx.x)[rank] = largest;\n"
                        "  cluster.sync();\n  for (int k = 0; k < 4; ++k) largest = fmaxf(largest, inbox[k]);\n",
                        "",
                    ),
                ),
                "the others not asked",
                "other|ask|exchange|quarter|cluster",
            ),
            (
                changed(ASK, ("[rank] = largest;\n  cluster.sync();", "[rank] = largest;\n  __syncthreads();")),
                "a barrier of the block",
                "cluster.sync|cluster|other blocks",
            ),
            (
                changed(ASK, ("quarter = cols / 4;\n  cluster.sync();", "quarter = cols / 4;")),
                "no meeting before the write",
                "begun|start|cluster.sync|first|not there|exist",
            ),
            (
                changed(ASK_READ, ("  cluster.sync();\n}", "}")),
                "blocks end before the others have read",
                "end|exit|left|finish|gone|last|leave",
            ),
            (
                changed(ASK, ("inbox, threadIdx.x)[rank] = largest", "inbox, threadIdx.x)[0] = largest")),
                "all write one word",
                "rank|word|own|race|place",
            ),
            (
                changed(ASK, ("rank * quarter", "blockIdx.x * quarter")),
                "the block's number for its rank",
                "rank|blockIdx|bound|4",
            ),
            (
                changed(ASK, ("inbox, threadIdx.x)[rank]", "inbox, rank)[threadIdx.x]")),
                "it writes to itself",
                "rank|other|itself|own|written",
            ),
            (changed(ASK, ("col < quarter", "col < cols")), "past its quarter", "quarter|bound|past|after"),
        ),
    ),
    Others(
        "17-neighbours-together",
        (NEAR_FLAT, NEAR_BACK, NEAR_CACHED, NEAR),
        (
            (
                changed(NEAR, ("row = i / cols, col = i % cols", "row = i % rows, col = i / rows")),
                "as it was",
                "neighb|column|row|apart|cols",
            ),
            (
                changed(NEAR, ("row = i / cols, col = i % cols", "row = i / rows, col = i % rows")),
                "rows for cols",
                "cols|rows|square|wide",
            ),
            (
                changed(NEAR, ("row = i / cols, col = i % cols", "row = i % cols, col = i / cols")),
                "row and column exchanged",
                "exchang|row|col|bound|swap",
            ),
            (
                changed(NEAR, ("  if (i >= rows * cols) return;\n", "")),
                "no test of the bound",
                "bound|rows \\* cols|past|after|last",
            ),
            (
                changed(NEAR, ("i >= rows * cols", "i > rows * cols")),
                "one too many",
                "bound|rows \\* cols|past|after|last|>=",
            ),
            (
                changed(NEAR, ("y[row * cols + col] =", "y[col * rows + row] =")),
                "transposed",
                "row|transpos|turn|same place|col",
            ),
            (
                changed(
                    NEAR, ("y[row * cols + col] = 2 * x[row * cols + col]", "((float4*)y)[i] = ((const float4*)x)[i]")
                ),
                "packs with the same bound",
                "bound|4|pack|past|after",
            ),
            (changed(NEAR, ("2 * x", "x")), "not doubled", "2|doubl|twice"),
            (
                changed(NEAR, ("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x * gridDim.x + blockIdx.x")),
                "blocks take turns",
                "neighb|apart|lanes|thread",
            ),
        ),
    ),
)
