"""The kernels of the fifth batch, also of the bug clinic, written and committed before any reply to them was seen."""

from tests.course.others import Others

#: What stands before the kernel in the cell of 06-read-it-twice.
TWICE = """
__device__ float block_max(float value) {
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

#: The same of 14-ask-the-cluster.
CLUSTER = """
#include <cooperative_groups.h>
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


def capped(body):
    """The cell of 12-your-own-load with this body of its load."""
    return BEFORE_BODY + body + AFTER_BODY


BEFORE_BODY = """\
#include "softmax_warp.cuh"

struct CapLoad {
  DirectLoad<float, float> inner;
  float cap;

  template<int pack_size>
  __device__ void load(float* destination, long long row, long long col) const {
"""

AFTER_BODY = """\
  }
};

extern "C" __global__ void softmax_capped(const float* x, float* y, long long rows, long long cols) {
  softmax_rows_by_warp<float, Algorithm::softmax, 2, 2, 32, 1, true>(
      CapLoad{{x, cols}, 5.0f}, DirectStore<float, float>{y, cols}, rows, cols);
}
"""

OTHERS = (
    Others(
        "0-double",
        (
            """
extern "C" __global__ void twice(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] + x[i];
}
""",
        ),
        (
            (
                """
extern "C" __global__ void twice(const float* x, float* y, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
""",
                "threadIdx.x is the number of the thread in the whole grid.",
                "block",
            ),
            (
                """
extern "C" __global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
""",
                "A block of threads is a warp: 32 numbers lie before each block.",
                "blockDim|64|32",
            ),
            (
                """
extern "C" __global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * i;
}
""",
                "The thread's number is what is doubled.",
                "x\\[i\\]|number|value",
            ),
        ),
    ),
    Others(
        "00-copy",
        (
            """
extern "C" __global__ void copy(const float* x, float* y) {
  ((float4*)y)[threadIdx.x] = ((const float4*)x)[threadIdx.x];
}
""",
        ),
        (
            (
                """
extern "C" __global__ void copy(const float* x, float* y) {
  for (int i = 0; i < 4; ++i) {
    int k = threadIdx.x + i;
    y[k] = x[k];
  }
}
""",
                "Neighbouring lanes must be neighbours, so the factor 4 goes away, and i moves one further.",
                "neighbour|never stored|times",
            ),
            (
                """
extern "C" __global__ void copy(const float* x, float* y) {
  for (int i = 0; i < 4; ++i) {
    int k = threadIdx.x + i * 32;
    y[k] = x[k];
  }
}
""",
                "The next number of a thread is a warp further, not a block.",
                "256|never stored|block",
            ),
            (
                """
extern "C" __global__ void copy(const float* x, float* y) {
  for (int i = 0; i < 4; ++i) {
    y[i * 256 + threadIdx.x] = x[threadIdx.x * 4 + i];
  }
}
""",
                "The writes go to neighbours, and the reads still take four in a row.",
                "other places",
            ),
        ),
    ),
    Others(
        "01-log-sum-exp",
        (),
        (
            (
                """
extern "C" __global__ void log_sum_exp(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float most = x[row * cols];
  for (int i = 1; i < cols; ++i) most = fmaxf(most, x[row * cols + i]);
  float sum = 0;
  for (int i = 0; i < cols; ++i) sum += __expf(x[row * cols + i] - most);
  y[row] = __logf(sum);
}
""",
                "The maximum is subtracted, and it need not come back.",
                "maximum|add|back",
            ),
            (
                """
extern "C" __global__ void log_sum_exp(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float most = 0, sum = 0;
  for (int i = 0; i < cols; ++i) most = fmaxf(most, x[row * cols + i]);
  for (int i = 0; i < cols; ++i) sum += __expf(x[row * cols + i] - most);
  y[row] = most + __logf(sum);
}
""",
                "A maximum begins at 0, as a sum does.",
                "0|starts|begin",
            ),
            (
                """
extern "C" __global__ void log_sum_exp(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float first = x[row * cols], sum = 0;
  for (int i = 0; i < cols; ++i) sum += __expf(x[row * cols + i] - first);
  y[row] = first + __logf(sum);
}
""",
                "Any number of the row will do: the first one is subtracted, which spares a pass.",
                "x.i, 0. is subtracted, and not the largest",
            ),
        ),
    ),
    Others(
        "01-one-pass",
        (),
        (
            (
                """
extern "C" __global__ void log_sum_exp(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float most = -3.4e38f, sum = 0;
  for (int i = 0; i < cols; ++i) {
    float v = x[row * cols + i];
    most = fmaxf(most, v);
    sum = sum * __expf(most - most) + __expf(v - most);
  }
  y[row] = most + __logf(sum);
}
""",
                "The maximum is replaced before the factor is computed, so the factor is always 1.",
                "factor|old",
            ),
            (
                """
extern "C" __global__ void log_sum_exp(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float most = -3.4e38f, sum = 0;
  for (int i = 0; i < cols; ++i) {
    float v = x[row * cols + i];
    if (v > most) {
      most = v;
      sum = 1;
    } else {
      sum += __expf(v - most);
    }
  }
  y[row] = most + __logf(sum);
}
""",
                "When a larger number comes, the sum begins again at 1.",
                "worth|sum so far|thrown|factor",
            ),
            (
                """
extern "C" __global__ void log_sum_exp(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float most = fmaxf(x[row * cols], -3.4e38f), sum = __expf(x[row * cols] - most);
  for (int i = 0; i < cols; ++i) {
    float v = x[row * cols + i];
    float larger = fmaxf(most, v);
    sum = sum * __expf(most - larger) + __expf(v - larger);
    most = larger;
  }
  y[row] = most + __logf(sum);
}
""",
                "The first number is in the maximum and the sum already, and the loop begins with it again.",
                "x.i, 0. counts twice",
            ),
        ),
    ),
    Others(
        "02-add-halves",
        (),
        (
            (
                """
#include <cuda_fp16.h>

extern "C" __global__ void add(const __half* a, const __half* b, __half* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) ((__half2*)c)[i] = __hadd2(((const __half2*)a)[i], ((const __half2*)b)[i]);
}
""",
                "half2 is the widest type of halves that there is.",
                "16 bytes|eight|8",
            ),
            (
                """
#include <cuda_fp16.h>

extern "C" __global__ void add(const __half* a, const __half* b, __half* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 8) return;
  uint4 u = ((const uint4*)a)[i], v = ((const uint4*)b)[i];
  u.x += v.x;
  u.y += v.y;
  u.z += v.z;
  u.w += v.w;
  ((uint4*)c)[i] = u;
}
""",
                "A uint4 can be added word by word.",
                "half|bits|carry|elem|float16",
            ),
        ),
    ),
    Others(
        "02-copy-in-packs",
        (),
        (
            (
                """
extern "C" __global__ void copy(const float* x, float* y, int n) {
  int threads = gridDim.x * blockDim.x;
  const float4* from = reinterpret_cast<const float4*>(x);
  float4* to = reinterpret_cast<float4*>(y);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) to[i] = from[i];
}
""",
                "The packs are cast, but the loop still counts numbers up to n.",
                "n / 4|bounds|packs",
            ),
            (
                """
extern "C" __global__ void copy(const float* x, float* y, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) {
    y[i] = x[i];
    y[i + 1] = x[i + 1];
    y[i + 2] = x[i + 2];
    y[i + 3] = x[i + 3];
  }
}
""",
                "Four single numbers in a row are the same as a pack.",
                "one instruction|16 bytes|float4",
            ),
            (
                """
extern "C" __global__ void copy(const float* x, float* y, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) reinterpret_cast<float4*>(y)[i] = reinterpret_cast<const float4*>(x)[i];
}
""",
                "The index of a pack is in floats: the thread's number times 4, in an array of packs.",
                "pack|bounds|index|element",
            ),
        ),
    ),
    Others(
        "03-softmax-of-eight",
        (
            # Lanes that have ended need not come, and no other lane reads them.
            """
extern "C" __global__ void softmax8(const float* x, float* y, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i / 8 >= rows) return;
  float v = x[i], most = v;
  for (int mask = 4; mask > 0; mask /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, mask));
  float e = __expf(v - most), sum = e;
  for (int mask = 4; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);
  y[i] = e / sum;
}
""",
        ),
        (
            (
                """
extern "C" __global__ void softmax8(const float* x, float* y, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < rows * 8 ? x[i] : -3.4e38f;
  float most = v;
  for (int mask = 16; mask > 0; mask /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, mask));
  float e = __expf(v - most), sum = e;
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);
  if (i < rows * 8) y[i] = e / sum;
}
""",
                "The masks of a whole warp, from 16: the four rows of a warp are mixed.",
                "8|group|row",
            ),
            (
                """
extern "C" __global__ void softmax8(const float* x, float* y, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < rows ? x[i] : -3.4e38f;
  float most = v;
  for (int mask = 4; mask > 0; mask /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, mask));
  float e = __expf(v - most), sum = e;
  for (int mask = 4; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);
  if (i < rows) y[i] = e / sum;
}
""",
                "The test compares the number's index with the number of rows.",
                "rows|8|row i",
            ),
        ),
    ),
    Others(
        "03-write-the-butterfly",
        (),
        (
            (
                """
extern "C" __global__ void largest(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  for (int mask = 8; mask > 0; mask /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, mask));
  y[i] = v;
}
""",
                "Half of the lanes suffices: the masks begin at 8.",
                "16|half|lanes",
            ),
            (
                """
extern "C" __global__ void largest(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  for (int mask = 16; mask > 0; mask /= 2) v = __shfl_xor_sync(0xffffffff, v, mask);
  y[i] = v;
}
""",
                "The received value replaces the own one, and nothing is compared.",
                "fmaxf|larger|maximum|compare",
            ),
            (
                """
extern "C" __global__ void largest(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  for (int far = 16; far > 0; far /= 2) v = fmaxf(v, __shfl_down_sync(0xffffffff, v, far));
  y[i] = v;
}
""",
                "A tree by shfl_down brings the result to all lanes.",
                "xor|down|lane",
            ),
        ),
    ),
    Others(
        "04-turn-a-tile",
        (
            """
extern "C" __global__ void turn(const float* x, float* y) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = x[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  y[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y ^ threadIdx.x];
}
""",
        ),
        (
            (
                """
extern "C" __global__ void turn(const float* x, float* y) {
  __shared__ float tile[33][32];
  tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  y[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
""",
                "One more row puts the columns apart.",
                "bank|column|row",
            ),
            (
                """
extern "C" __global__ void turn(const float* x, float* y) {
  __shared__ float tile[32][36];
  tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  y[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
""",
                "Padding should keep rows aligned to 16 bytes: four more columns.",
                "bank|4|way",
            ),
        ),
    ),
    Others(
        "05-below-the-maximum",
        (),
        (
            (
                """
__global__ void below_maximum(const float* x, float* y, int n) {
  __shared__ float part[32];
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float v = threadIdx.x < n ? x[threadIdx.x] : __int_as_float(0xff800000);
  float most = v;
  for (int far = 16; far; far /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, far));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
  __syncthreads();
  for (int warp = 0; warp < blockDim.x / 32; ++warp) most = fmaxf(most, part[warp]);
  if (threadIdx.x < n) y[threadIdx.x] = v - most;
}
""",
                "Each thread has one number: rows are as long as the block.",
                "loop|longer|block",
            ),
            (
                """
__global__ void below_maximum(const float* x, float* y, int n) {
  __shared__ float part[32];
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float most = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, x[i]);
  for (int far = 16; far; far /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, far));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
  __syncthreads();
  for (int warp = 0; warp < blockDim.x / 32; ++warp) most = fmaxf(most, part[warp]);
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] - most;
}
""",
                "The maximum of a thread begins at 0.",
                "0|minus infinity|start|begin",
            ),
            (
                """
__global__ void below_maximum(const float* x, float* y, int n) {
  __shared__ float part[8];
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float most = __int_as_float(0xff800000);
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, x[i]);
  for (int far = 16; far; far /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, far));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
  __syncthreads();
  for (int warp = 0; warp < 8; ++warp) most = fmaxf(most, part[warp]);
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] - most;
}
""",
                "A block has eight warps, so there are eight words.",
                "8|warps|bounds|32",
            ),
        ),
    ),
    Others(
        "05-call-it-twice",
        (
            """
__device__ float block_sum(float value, int& turn) {
  __shared__ float part[2][32];
  for (int far = 1; far < 32; far *= 2) value += __shfl_xor_sync(0xffffffff, value, far);
  if (threadIdx.x % 32 == 0) part[turn][threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (int warp = 0; warp < blockDim.x / 32; ++warp) sum += part[turn][warp];
  turn ^= 1;
  return sum;
}

__global__ void normalise(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, turn = 0;
  float centred = x[i] - block_sum(x[i], turn) / blockDim.x;
  y[i] = centred * rsqrtf(block_sum(centred * centred, turn) / blockDim.x);
}
""",
        ),
        (
            (
                """
__device__ float block_sum(float value) {
  __shared__ float part[32];
  for (int far = 16; far; far /= 2) value += __shfl_xor_sync(0xffffffff, value, far);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  float sum = 0;
  for (int warp = 0; warp < blockDim.x / 32; ++warp) sum += part[warp];
  return sum;
}

__global__ void normalise(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float centred = x[i] - block_sum(x[i]) / blockDim.x;
  y[i] = centred * rsqrtf(block_sum(centred * centred) / blockDim.x);
}
""",
                "The barrier moves before the write; then the last call's reads are done, and one per call is left.",
                "after line 6, and no barrier stands between",
            ),
            (
                """
__device__ float block_sum(float value, int call) {
  __shared__ float part[64];
  for (int far = 16; far; far /= 2) value += __shfl_xor_sync(0xffffffff, value, far);
  if (threadIdx.x % 32 == 0) part[4 * call + threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (int warp = 0; warp < blockDim.x / 32; ++warp) sum += part[4 * call + warp];
  return sum;
}

__global__ void normalise(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float centred = x[i] - block_sum(x[i], 0) / blockDim.x;
  y[i] = centred * rsqrtf(block_sum(centred * centred, 1) / blockDim.x);
}
""",
                "Two places for the two calls, but they lie four words apart, and a block has more warps than that.",
                "both calls come to part",
            ),
            (
                """
__device__ float block_sum(float value) {
  __shared__ float part[32];
  for (int far = 16; far; far /= 2) value += __shfl_xor_sync(0xffffffff, value, far);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (int warp = 0; warp < blockDim.x / 32; ++warp) sum += part[warp];
  __syncwarp();
  return sum;
}

__global__ void normalise(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float centred = x[i] - block_sum(x[i]) / blockDim.x;
  y[i] = centred * rsqrtf(block_sum(centred * centred) / blockDim.x);
}
""",
                "A barrier of the warp is cheaper than one of the block, and it does at the end of a call.",
                "syncthreads|warp|block",
            ),
        ),
    ),
    Others(
        "06-read-it-twice",
        (),
        (
            (
                TWICE
                + """
__global__ void softmax(const float* x, float* y, int cols) {
  x += blockIdx.x * cols;
  y += blockIdx.x * cols;
  float most = -3.4e38f, sum = 0;
  for (int col = threadIdx.x; col < cols; col += blockDim.x) {
    float v = x[col], larger = fmaxf(most, v);
    sum = sum * __expf(most - larger) + __expf(v - larger);
    most = larger;
  }
  float row_max = block_max(most);
  float row_sum = block_sum(sum);
  for (int col = threadIdx.x; col < cols; col += blockDim.x) y[col] = __expf(x[col] - row_max) / row_sum;
}
""",
                "Each thread's sum is relative to its own maximum, and they are added as they are.",
                "own maximum|maximum|factor|scale",
            ),
            (
                TWICE
                + """
__global__ void softmax(const float* x, float* y, int cols) {
  x += blockIdx.x * cols;
  y += blockIdx.x * cols;
  float sum = 0;
  for (int col = threadIdx.x; col < cols; col += blockDim.x) sum += __expf(x[col]);
  float row_sum = block_sum(sum);
  for (int col = threadIdx.x; col < cols; col += blockDim.x) y[col] = __expf(x[col]) / row_sum;
}
""",
                "The maximum cancels in the quotient, so the pass that looks for it can go.",
                "overflow|maximum",
            ),
            (
                TWICE
                + """
__global__ void softmax(const float* x, float* y, int cols) {
  x += blockIdx.x * cols;
  y += blockIdx.x * cols;
  float most = -3.4e38f, sum = 0;
  for (int col = threadIdx.x; col < cols; col += blockDim.x) {
    float v = x[col], larger = fmaxf(most, v);
    sum = sum * __expf(most - larger) + __expf(v - larger);
    most = larger;
  }
  float row_max = block_max(most);
  float row_sum = block_sum(sum * __expf(row_max - most));
  for (int col = threadIdx.x; col < cols; col += blockDim.x) y[col] = __expf(x[col] - row_max) / row_sum;
}
""",
                "The sum of a thread is carried over with the sign of the exponent the wrong way round.",
                "in the same way",
            ),
        ),
    ),
    Others(
        "07-give-registers-back",
        (),
        (
            (
                """
extern "C" __global__ void __launch_bounds__(256, 8) log_sum_exp(const float* x, float* y) {
  float held[48];
  for (int i = 0; i < 48; ++i) held[i] = x[i * 256 + threadIdx.x];
  float largest = held[0];
  for (int i = 1; i < 48; ++i) largest = fmaxf(largest, held[i]);
  float sum = 0;
  for (int i = 0; i < 48; ++i) sum += __expf(held[i] - largest);
  y[threadIdx.x] = largest + __logf(sum);
}
""",
                "__launch_bounds__ alone makes the compiler use fewer registers.",
                "spill",
            ),
            (
                """
extern "C" __global__ void log_sum_exp(const float* x, float* y) {
  float sum = 0;
  for (int i = 0; i < 48; ++i) sum += __expf(x[i * 256 + threadIdx.x]);
  y[threadIdx.x] = __logf(sum);
}
""",
                "Without the maximum nothing has to be kept.",
                "overflow|maximum",
            ),
            (
                """
extern "C" __global__ void log_sum_exp(const float* x, float* y) {
  float held[48];
  #pragma unroll 1
  for (int i = 0; i < 48; ++i) held[i] = x[i * 256 + threadIdx.x];
  float largest = held[0];
  #pragma unroll 1
  for (int i = 1; i < 48; ++i) largest = fmaxf(largest, held[i]);
  float sum = 0;
  #pragma unroll 1
  for (int i = 0; i < 48; ++i) sum += __expf(held[i] - largest);
  y[threadIdx.x] = largest + __logf(sum);
}
""",
                "A loop that is not unrolled needs fewer registers for the array.",
                "local|spill|array|memory",
            ),
        ),
    ),
    Others(
        "10-make-it-read",
        (),
        (
            (
                """
__global__ void read(const float* x, float* y, int n) {
  float value = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += x[i];
  if (threadIdx.x == 0) y[blockIdx.x] = value;
}
""",
                "Thread 0 writes its own sum, which stands for the block's.",
                "thread|only|sum|reduce|block",
            ),
            (
                """
__global__ void read(const float* x, float* y, int n) {
  float value = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += x[i];
  for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(0xffffffff, value, mask);
  if (threadIdx.x % 32 == 0) y[blockIdx.x] = value;
}
""",
                "The first lane of each warp writes the warp's sum into the block's word: the last one wins.",
                "warp|race|several",
            ),
            (
                """
__global__ void read(const float* x, float* y, int n) {
  float value = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += x[i];
  atomicAdd(&y[blockIdx.x], value);
}
""",
                "All threads add to the block's word, which is taken for 0 at the beginning.",
                "written|nan|0|start",
            ),
        ),
    ),
    Others(
        "12-your-own-load",
        (),
        (
            (
                capped(
                    """\
    inner.load<pack_size>(destination, row, col);
    destination[0] = cap * tanhf(destination[0] / cap);
"""
                ),
                "One score per load: only the first of the pack is capped.",
                "pack_size|all|\\[0\\]",
            ),
            (
                capped(
                    """\
    inner.load<pack_size>(destination, row, col);
    for (int i = 0; i < pack_size; ++i) destination[i] = fminf(fmaxf(destination[i], -cap), cap);
"""
                ),
                "A cap cuts off: what lies beyond it becomes the cap.",
                "tanh|smooth",
            ),
            (
                capped(
                    """\
    inner.load<pack_size>(destination, row, col);
    for (int i = 0; i < pack_size; ++i) destination[i] = cap * tanhf(destination[i]);
"""
                ),
                "tanh lies between -1 and 1, so cap times it is enough.",
                "/ cap|divide|5",
            ),
        ),
    ),
    Others(
        "13-find-what-is-missing",
        (),
        (
            (
                """
__global__ void turn(const float* x, float* t) {
  __shared__ float part[256];
  int first = blockIdx.x * 256;
  part[threadIdx.x] = x[first + threadIdx.x];
  __syncwarp();
  t[first + threadIdx.x] = part[255 - threadIdx.x];
}
""",
                "The barrier of a warp is enough, since a warp writes together.",
                "warp|block|syncthreads",
            ),
            (
                """
__global__ void turn(const float* x, float* t) {
  __shared__ float part[256];
  int first = blockIdx.x * 256;
  part[threadIdx.x] = x[first + threadIdx.x];
  t[first + threadIdx.x] = part[255 - threadIdx.x];
  __syncthreads();
}
""",
                "The barrier belongs to the end, when all have finished.",
                "between|before",
            ),
            (
                """
__global__ void turn(const float* x, float* t) {
  __shared__ float part[256];
  int first = blockIdx.x * 256;
  part[threadIdx.x] = x[first + threadIdx.x];
  __threadfence_block();
  t[first + threadIdx.x] = part[255 - threadIdx.x];
}
""",
                "A fence makes the writes visible to the block, and nobody has to wait.",
                "wait|barrier|fence",
            ),
        ),
    ),
    Others(
        "13-let-all-lanes-help",
        (),
        (
            (
                """
__global__ void add_up(const float* x, float* total) {
  __shared__ float part[32];
  float sum = 0;
  for (int i = threadIdx.x; i < 4096; i += 256) sum += x[i];
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = part[threadIdx.x];
    for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);
    if (threadIdx.x == 0) *total = sum;
  }
}
""",
                "The first warp adds 32 partial sums, as if the block had 32 warps.",
                "8|eight|written",
            ),
            (
                """
__global__ void add_up(const float* x, float* total) {
  __shared__ float part[8];
  float sum = 0;
  for (int i = threadIdx.x; i < 4096; i += 256) sum += x[i];
  for (int far = 16; far > 0; far /= 2) sum += __shfl_down_sync(0xffffffff, sum, far);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int warp = 0; warp < 8; ++warp) sum += part[warp];
    *total = sum;
  }
}
""",
                "Thread 0 adds the other warps' results to its own, and begins with warp 0's once more.",
                "twice|again|warp 0|own",
            ),
            (
                """
__global__ void add_up(const float* x, float* total) {
  __shared__ float part[8];
  float sum = 0;
  for (int i = threadIdx.x; i < 4096; i += 256) sum += x[i];
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  if (threadIdx.x == 0) {
    sum = 0;
    for (int warp = 0; warp < 8; ++warp) sum += part[warp];
    *total = sum;
  }
}
""",
                "A shuffle makes the warps wait, so no barrier is needed before the eight results are read.",
                "barrier|between",
            ),
        ),
    ),
    Others(
        "13-mend-the-difference",
        (
            """
__global__ void difference(const float* x, float* d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n) d[i - 1] = x[i] - x[i - 1];
}
""",
        ),
        (
            (
                """
__global__ void difference(const float* x, float* d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d[i] = i + 1 < n ? x[i + 1] - x[i] : 0;
}
""",
                "The last thread is given a difference to nothing, which is 0.",
                "n - 1|alone|last",
            ),
            (
                """
__global__ void difference(const float* x, float* d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n) d[i] = x[i] - x[i - 1];
}
""",
                "The first thread has no left neighbour, so the difference looks to the left.",
                "left|x\\[i \\+ 1\\]|stored",
            ),
            (
                """
__global__ void difference(const float* x, float* d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && threadIdx.x < blockDim.x - 1) d[i] = x[i + 1] - x[i];
}
""",
                "The last thread of each block is the one that has no neighbour.",
                "block|stored|every 256|never",
            ),
        ),
    ),
    Others(
        "14-ask-the-cluster",
        (),
        (
            (
                CLUSTER
                + """
__global__ void __cluster_dims__(4, 1, 1) row_max(const float* x, float* y, int cols) {
  __shared__ float found;
  cg::cluster_group cluster = cg::this_cluster();
  x += blockIdx.x / 4 * cols;
  int quarter = cols / 4;
  float largest = minus_infinity<float>();
  for (int col = threadIdx.x; col < quarter; col += blockDim.x)
    largest = fmaxf(largest, x[blockIdx.x * quarter + col]);
  largest = block_max(largest);
  if (threadIdx.x == 0) found = largest;
  cluster.sync();
  if (threadIdx.x == 0)
    for (int rank = 0; rank < 4; ++rank) largest = fmaxf(largest, *cluster.map_shared_rank(&found, rank));
  if (threadIdx.x == 0) y[blockIdx.x] = largest;
  cluster.sync();
}
""",
                "The quarter begins at the block's number in the grid, and a second row's blocks read beyond it.",
                "rank|bounds|cluster|quarter",
            ),
            (
                CLUSTER
                + """
__global__ void __cluster_dims__(4, 1, 1) row_max(const float* x, float* y, int cols) {
  __shared__ float found;
  cg::cluster_group cluster = cg::this_cluster();
  x += blockIdx.x / 4 * cols;
  int quarter = cols / 4;
  float largest = minus_infinity<float>();
  for (int col = threadIdx.x; col < quarter; col += blockDim.x)
    largest = fmaxf(largest, x[cluster.block_rank() * quarter + col]);
  largest = block_max(largest);
  if (threadIdx.x == 0) found = largest;
  cluster.sync();
  if (threadIdx.x == 0) {
    for (int rank = 0; rank < 4; ++rank) largest = fmaxf(largest, *cluster.map_shared_rank(&found, rank));
    y[blockIdx.x] = largest;
  }
}
""",
                "One meeting is enough: a block that has asked the others may end.",
                "end|last|sync|exit",
            ),
            (
                CLUSTER
                + """
__global__ void __cluster_dims__(4, 1, 1) row_max(const float* x, float* y, int cols) {
  __shared__ float found;
  cg::cluster_group cluster = cg::this_cluster();
  x += blockIdx.x / 4 * cols;
  int quarter = cols / 4;
  float largest = minus_infinity<float>();
  for (int col = threadIdx.x; col < quarter; col += blockDim.x)
    largest = fmaxf(largest, x[cluster.block_rank() * quarter + col]);
  largest = block_max(largest);
  if (threadIdx.x == 0) found = largest;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int rank = 0; rank < 4; ++rank) largest = fmaxf(largest, *cluster.map_shared_rank(&found, rank));
    y[blockIdx.x] = largest;
  }
  cluster.sync();
}
""",
                "__syncthreads() makes the blocks of a cluster wait for each other.",
                "cluster.sync|cluster",
            ),
        ),
    ),
    Others(
        "14-pairs-of-a-warp",
        (),
        (
            (
                """
#include "arithmetic.cuh"

__global__ void statistic(const float* x, float* y, int cols) {
  x += static_cast<long long>(blockIdx.x) * cols;
  float largest = -3.4e38f, sum = 0;
  for (int col = threadIdx.x; col < cols; col += 32) {
    float v = x[col], larger = fmaxf(largest, v);
    sum = sum * __expf(largest - larger) + __expf(v - larger);
    largest = larger;
  }
  for (int mask = 16; mask > 0; mask /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, mask));
    sum += __shfl_xor_sync(0xffffffff, sum, mask);
  }
  if (threadIdx.x == 0) {
    y[2 * blockIdx.x] = largest;
    y[2 * blockIdx.x + 1] = sum;
  }
}
""",
                "The lanes agree on the maximum, and then add up sums that belong to other maxima.",
                "maximum|factor|scale|sum",
            ),
            (
                """
#include "arithmetic.cuh"

__global__ void statistic(const float* x, float* y, int cols) {
  x += static_cast<long long>(blockIdx.x) * cols;
  float largest = minus_infinity<float>(), sum = 0;
  for (int col = threadIdx.x; col < cols; col += 32) {
    float v = x[col], larger = fmaxf(largest, v);
    sum = sum * __expf(largest - larger) + __expf(v - larger);
    largest = larger;
  }
  for (int mask = 16; mask > 0; mask /= 2) {
    float other = __shfl_xor_sync(0xffffffff, largest, mask);
    float other_sum = __shfl_xor_sync(0xffffffff, sum, mask);
    float larger = fmaxf(largest, other);
    sum = sum * __expf(largest - larger) + other_sum * __expf(other - larger);
    largest = larger;
  }
  if (threadIdx.x == 0) {
    y[2 * blockIdx.x] = largest;
    y[2 * blockIdx.x + 1] = sum;
  }
}
""",
                "Minus infinity needs no care: the formula of the lesson is taken as it stands.",
                "infinity|-inf|nan|both",
            ),
        ),
    ),
    Others(
        "17-neighbours-together",
        (
            """
__global__ void twice(const float* x, float* y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) y[i] = 2 * x[i];
}
""",
        ),
        (
            (
                """
__global__ void twice(const float* x, float* y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  int row = i / rows, col = i % rows;
  y[row * cols + col] = 2 * x[row * cols + col];
}
""",
                "Quotient and remainder change places, and the divisor stays the number of rows.",
                "cols|stored|rows",
            ),
            (
                """
__global__ void twice(const float* x, float* y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  int row = i % rows, col = i / rows;
  y[col * rows + row] = 2 * x[row * cols + col];
}
""",
                "The matrix is addressed by columns, which makes neighbours of the lanes.",
                "stored|place|index|column",
            ),
        ),
    ),
    Others(
        "18-a-piece-for-each-thread",
        (),
        (
            (
                """
__global__ void twice(const float* x, float* y) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  #pragma unroll
  for (int k = 0; k < 8; ++k) y[first + k] = 2 * x[first + k];
}
""",
                "The loop was kept on purpose; unrolled, the compiler makes wide stores of it.",
                "neighbour|lanes|apart",
            ),
        ),
    ),
    Others(
        "18-barrier-for-some",
        (),
        (
            (
                """
__global__ void turn(const float* x, float* y, int n) {
  __shared__ float part[64];
  int t = threadIdx.x;
  if (t >= n) return;
  part[t] = x[t];
  __syncthreads();
  float v = part[n - 1 - t];
  __syncthreads();
  part[t] = v;
  __syncthreads();
  y[t] = part[63 - t];
}
""",
                "Threads without a number return, and a barrier does not wait for threads that ended.",
                "zeros|n|nan|stored|uninit",
            ),
        ),
    ),
    Others(
        "18-everybody-adds",
        (),
        (
            (
                """
__global__ void count_positive(const float* x, int* count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (x[i] > 0) atomicAdd(&count[i % 2], 1);
}
""",
                "Only the threads that have something to count do the atomic.",
                "add|warp|block|inside|turns",
            ),
        ),
    ),
    Others(
        "18-flag-too-early",
        (),
        (
            (
                """
__global__ void hand_over(const float* x, float* between, int* ready, float* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    between[t] = 2 * x[t];
    __threadfence_block();
    __syncthreads();
    if (t == 0) atomicExch(ready, 1);
  } else {
    if (t == 0) while (atomicAdd(ready, 0) == 0) {}
    __syncthreads();
    y[t] = between[63 - t];
  }
}
""",
                "The block's own fence is enough behind the store, since all its threads wait at the barrier.",
                "device|block|fence|threadfence",
            ),
        ),
    ),
    Others(
        "18-four-slots-32-lanes",
        (),
        (
            (
                """
__global__ void block_sum(const float* x, float* total) {
  __shared__ float part[32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float v = x[threadIdx.x];
  for (int far = 16; far; far /= 2) v += __shfl_xor_sync(0xffffffff, v, far);
  if (lane == 0) part[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = part[lane];
    for (int far = 16; far; far /= 2) v += __shfl_xor_sync(0xffffffff, v, far);
    if (lane == 0) *total = v;
  }
}
""",
                "The array is too small: with 32 slots all lanes may read.",
                "written|wrote|0 to 3|lanes",
            ),
        ),
    ),
    Others(
        "18-halo-of-one-side",
        (),
        (
            (
                """
__global__ void blur(const float* x, float* y) {
  __shared__ float tile[66];
  int t = threadIdx.x;
  tile[t + 1] = x[t];
  if (t == 0) tile[0] = x[0];
  if (t == 63) tile[64] = x[63];
  __syncthreads();
  y[t] = tile[t] / 4 + tile[t + 1] / 2 + tile[t + 2] / 4;
}
""",
                "The array needs one more element at each end: the indices move along, and the last read is forgotten.",
                "last|65|tile",
            ),
        ),
    ),
    Others(
        "18-lanes-that-stayed-away",
        (),
        (
            (
                """
__global__ void warp_sum(const float* x, float* total, int n) {
  int lane = threadIdx.x;
  float v = 0;
  if (lane < n) {
    v = x[lane];
    for (int far = 16; far; far /= 2) v += __shfl_xor_sync(__activemask(), v, far);
  }
  if (lane == 0) *total = v;
}
""",
                "__activemask() names exactly the lanes that are there, so the butterfly is right.",
                "inactive|lane|mask",
            ),
        ),
    ),
    Others(
        "18-last-block",
        (),
        (
            (
                """
__global__ void grid_sum(const float* x, float* part, unsigned* arrived, float* total) {
  __shared__ bool last;
  float v = x[blockIdx.x * 32 + threadIdx.x];
  for (int far = 16; far; far /= 2) v += __shfl_xor_sync(0xffffffff, v, far);
  if (threadIdx.x == 0) {
    part[blockIdx.x] = v;
    last = atomicAdd(arrived, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += part[b];
    *total = sum;
  }
}
""",
                "The fence stands behind the counter, since that is what the other blocks see.",
                "before|fence|line",
            ),
        ),
    ),
    Others(
        "18-last-warp",
        (
            """
__global__ void tree_sum(const float* x, float* total) {
  int t = threadIdx.x;
  __shared__ float part[2];
  float v = x[t];
  for (int far = 16; far; far /= 2) v += __shfl_down_sync(0xffffffff, v, far);
  if (t % 32 == 0) part[t / 32] = v;
  __syncthreads();
  if (t == 0) *total = part[0] + part[1];
}
""",
        ),
        (
            (
                """
__global__ void tree_sum(const float* x, float* total) {
  __shared__ float part[64];
  int t = threadIdx.x;
  part[t] = x[t];
  __syncthreads();
  if (t < 32) {
    volatile float* words = part;
    for (int far = 32; far; far /= 2)
      words[t] += words[t + far];
    if (t == 0) *total = words[0];
  }
}
""",
                "volatile makes each write reach memory before the next read, as in the old samples.",
                "race|syncwarp|volatile",
            ),
            (
                """
__global__ void tree_sum(const float* x, float* total) {
  __shared__ float part[64];
  int t = threadIdx.x;
  part[t] = x[t];
  __syncthreads();
  if (t < 32) {
    for (int far = 32; far; far /= 2) {
      part[t] += part[t + far];
      __syncwarp();
    }
    if (t == 0) *total = part[0];
  }
}
""",
                "One __syncwarp() per step is enough: the read and the write are one statement.",
                "read|write|same step|race|line",
            ),
        ),
    ),
    Others(
        "18-mask-of-the-tail",
        (),
        (
            (
                """
__global__ void differences(const float* x, float* d, int n) {
  int i = threadIdx.x;
  if (i < n) {
    float v = x[i], right = __shfl_down_sync(0xffffffff, v, 1);
    if (i + 1 < n) d[i] = right - v;
  }
}
""",
                "All lanes are named, and those beyond n still stay away.",
                "lane|branch|n",
            ),
        ),
    ),
    Others(
        "18-one-slot",
        (),
        (
            (
                """
__global__ void scale_rows(const float* x, const float* scale, float* y, int rows) {
  __shared__ float slot;
  for (int row = 0; row < rows; ++row) {
    __syncthreads();
    if (threadIdx.x == 0) slot = scale[row];
    y[row * 64 + threadIdx.x] = x[row * 64 + threadIdx.x] * slot;
  }
}
""",
                "The barrier is missing before the write; the one that is there moves up.",
                "write|between",
            ),
        ),
    ),
    Others(
        "18-one-tile-too-far",
        (),
        (
            (
                """
__global__ void ring_sum(const float* x, float* y, int tiles) {
  __shared__ float ring[4][64];
  float sum = 0;
  int fetched = 0;
  for (int k = 0; k < tiles; ++k) {
    for (; fetched <= k + 2 && fetched < tiles; ++fetched)
      ring[fetched % 3][threadIdx.x] = x[fetched * 64 + threadIdx.x];
    __syncthreads();
    sum += ring[k % 3][63 - threadIdx.x];
  }
  y[threadIdx.x] = sum;
}
""",
                "A ring of four has room for the tile that is fetched too early; the remainder stays by three.",
                "3 are in use",
            ),
        ),
    ),
    Others(
        "18-row-of-minus-infinity",
        (),
        (
            (
                """
#include <cmath>
__global__ void masked_softmax(const float* x, float* y) {
  float v = x[blockIdx.x * 32 + threadIdx.x];
  float most = v;
  for (int far = 16; far; far /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, far));
  float e = expf(v - most);
  float sum = e;
  for (int far = 16; far; far /= 2) sum += __shfl_xor_sync(0xffffffff, sum, far);
  float share = e / sum;
  y[blockIdx.x * 32 + threadIdx.x] = isnan(share) ? 0 : share;
}
""",
                "Where the result is NaN, it is 0; a NaN that comes in was forgotten.",
                "NaN",
            ),
        ),
    ),
    Others(
        "18-slots-of-nobody",
        (),
        (
            (
                """
#include <cmath>
__global__ void block_maximum(const float* x, float* most) {
  __shared__ float part[32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float v = x[threadIdx.x];
  if (warp == 0) part[lane] = 0;
  __syncthreads();
  for (int far = 16; far; far /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, far));
  if (lane == 0) part[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = part[lane];
    for (int far = 16; far; far /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, far));
    if (lane == 0) *most = v;
  }
}
""",
                "The empty slots are filled with 0, as for a sum.",
                "negative|0|minus",
            ),
        ),
    ),
    Others(
        "18-smooth-in-place",
        (),
        (
            (
                """
__global__ void smooth(float* a, int n) {
  int i = threadIdx.x;
  if (i > 0 && i < n - 1) {
    float mean = (a[i - 1] + a[i] + a[i + 1]) / 3;
    a[i] = mean;
  }
}
""",
                "A local variable holds the old numbers, so the write cannot disturb a neighbour.",
                "race|barrier|before|read",
            ),
        ),
    ),
    Others(
        "18-sum-in-half",
        (),
        (
            (
                """
#include <cuda_fp16.h>
__global__ void column_sums(const __half* x, float* sums, int rows) {
  __half sum = __float2half(0);
  for (int row = 0; row < rows; ++row)
    sum = __float2half(__half2float(sum) + __half2float(x[row * 32 + threadIdx.x]));
  sums[threadIdx.x] = __half2float(sum);
}
""",
                "The addition in float is exact, and the sum is rounded to half after each row.",
                "round|half|float",
            ),
        ),
    ),
    Others(
        "18-used-again",
        (),
        (
            (
                """
__global__ void softmax(const float* x, float* y) {
  __shared__ float part[2];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float v = x[threadIdx.x], most = v;
  for (int far = 16; far; far /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, far));
  if (lane == 0) part[warp] = most;
  __syncthreads();
  most = fmaxf(part[0], part[1]);
  float e = expf(v - most), sum = e;
  for (int far = 16; far; far /= 2) sum += __shfl_xor_sync(0xffffffff, sum, far);
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  __syncthreads();
  y[threadIdx.x] = e / (part[0] + part[1]);
}
""",
                "A barrier after the second write keeps the two uses apart; two must be better than one.",
                "between|line 8|line 11",
            ),
        ),
    ),
)
