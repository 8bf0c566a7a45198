"""Kernels of lessons 0 to 04."""

from tests.course.answers import changed
from tests.course.others import Others

# ---- 0-double
DOUBLE = """__global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
"""
STRIDE = """extern "C" __global__ void twice(const float* in, float* out, int count) {
  for (unsigned k = blockIdx.x * blockDim.x + threadIdx.x; k < count; k += gridDim.x * blockDim.x)
    out[k] = in[k] + in[k];
}
"""
TEMPLATE = """template<typename T> __device__ T doubled(T v) { return v * T(2); }
__global__ void __launch_bounds__(64) twice(const float* __restrict__ x, float* __restrict__ y, int n) {
  const int i = 64 * blockIdx.x + threadIdx.x;
  if (i >= n) return;
  y[i] = doubled(__ldg(x + i));
}
"""
POINTERS = """__global__ void twice(const float* x, float* y, int n) {
  long long mine = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (!(mine < n)) { return; }
  x += mine, y += mine;
  *y = ldexpf(*x, 1);
}
"""

# ---- 00-copy
COPY = """extern "C" __global__ void copy(const float* x, float* y) {
  for (int i = 0; i < 4; ++i) {
    int k = i * 256 + threadIdx.x;
    y[k] = x[k];
  }
}
"""
COPY_WIDE = """__global__ void copy(const float* x, float* y) {
  reinterpret_cast<float4*>(y)[threadIdx.x] = reinterpret_cast<const float4*>(x)[threadIdx.x];
}
"""
COPY_BACK = """__global__ void copy(const float* x, float* y) {
  for (int k = 1023 - threadIdx.x; k >= 0; k -= blockDim.x) y[k] = x[k];
}
"""
COPY_BY_WARP = """__global__ void copy(const float* x, float* y) {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = 0; i < 4; ++i) y[warp * 128 + i * 32 + lane] = x[warp * 128 + i * 32 + lane];
}
"""

# ---- 01-log-sum-exp
LOG = """extern "C" __global__ void log_sum_exp(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float m = -3.4e38f;
  for (int i = 0; i < cols; ++i) m = fmaxf(m, x[row * cols + i]);
  float sum = 0;
  for (int i = 0; i < cols; ++i) sum += __expf(x[row * cols + i] - m);
  y[row] = m + __logf(sum);
}
"""
LOG_DOUBLE = """__global__ void log_sum_exp(const float* matrix, float* result, int rows, int cols) {
  for (int r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x) {
    const float* a = matrix + (size_t)r * cols;
    double top = a[0], total = 0;
    for (int c = cols; c-- > 0;) top = a[c] > top ? a[c] : top;
    for (int c = cols; c-- > 0;) total += exp(a[c] - top);
    result[r] = top + log(total);
  }
}
"""
LOG_TWO_SUMS = changed(
    LOG,
    ("float sum = 0;", "float even = 0, odd = 0;"),
    (
        "for (int i = 0; i < cols; ++i) sum += __expf(x[row * cols + i] - m);",
        "for (int i = 0; i < cols; ++i) (i & 1 ? odd : even) += expf(x[row * cols + i] - m);",
    ),
    ("__logf(sum)", "logf(even + odd)"),
)

# ---- 01-one-pass
ONE = """extern "C" __global__ void log_sum_exp(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float m = -3.4e38f, s = 0;
  for (int i = 0; i < cols; ++i) {
    float v = x[row * cols + i];
    if (v > m) {
      s = s * __expf(m - v) + 1;
      m = v;
    } else {
      s += __expf(v - m);
    }
  }
  y[row] = m + __logf(s);
}
"""
ONE_BRANCHLESS = """__global__ void log_sum_exp(const float* x, float* y, int rows, int cols) {
  const int row = threadIdx.x + blockDim.x * blockIdx.x;
  if (row < rows) {
    const float *p = x + row * cols, *end = p + cols;
    float2 pair = make_float2(-3.4e38f, 0.f);
    while (p != end) {
      const float v = *p++, top = fmaxf(pair.x, v);
      pair.y = pair.y * __expf(pair.x - top) + __expf(v - top);
      pair.x = top;
    }
    y[row] = __logf(pair.y) + pair.x;
  }
}
"""
ONE_BACKWARDS = changed(ONE, ("for (int i = 0; i < cols; ++i) {", "for (int i = cols - 1; i >= 0; --i) {"))
ONE_DOUBLE = changed(
    ONE,
    ("float m = -3.4e38f, s = 0;", "double m = -1e300, s = 0;"),
    ("__expf(m - v)", "exp(m - v)"),
    ("__expf(v - m)", "exp(v - m)"),
    ("__logf(s)", "log(s)"),
)
ONE_LOG_SPACE = changed(
    ONE, ("if (v > m) {", "if (m < v) {"), ("s = s * __expf(m - v) + 1;", "s *= __expf(m - v);\n      s += 1.0f;")
)

# ---- 02-copy-in-packs
PACKS = """extern "C" __global__ void copy(const float* x, float* y, int n) {
  int threads = gridDim.x * blockDim.x;
  const float4* from = reinterpret_cast<const float4*>(x);
  float4* to = reinterpret_cast<float4*>(y);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += threads) to[i] = from[i];
}
"""
PACKS_DOUBLE = """__global__ void copy(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i < n) ((double2*)y)[i] = ((double2*)x)[i];
}
"""
PACKS_STRUCT = """struct alignas(16) Four { float v[4]; };
__global__ void copy(const float* x, float* y, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (i < n) *reinterpret_cast<Four*>(y + i) = *reinterpret_cast<const Four*>(x + i);
}
"""
PACKS_WORD = """#include "pack.cuh"
__global__ void copy(const float* x, float* y, int n) {
  using P = Pack<float, 4>;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n >> 2); i += gridDim.x * blockDim.x)
    reinterpret_cast<P*>(y)[i].word = reinterpret_cast<const P*>(x)[i].word;
}
"""

# ---- 02-add-halves
HALVES = """#include <cuda_fp16.h>
#include "pack.cuh"
extern "C" __global__ void add(const __half* a, const __half* b, __half* c, int n) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 8; i += threads) {
    Pack<__half, 8> p, q;
    p.word = reinterpret_cast<const uint4*>(a)[i];
    q.word = reinterpret_cast<const uint4*>(b)[i];
    for (int k = 0; k < 8; ++k) p.elem[k] = p.elem[k] + q.elem[k];
    reinterpret_cast<uint4*>(c)[i] = p.word;
  }
}
"""
HALVES_BY_TWO = """#include <cuda_fp16.h>
__global__ void add(const __half* a, const __half* b, __half* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 8) return;
  uint4 u = ((const uint4*)a)[i], v = ((const uint4*)b)[i];
  __half2 *p = reinterpret_cast<__half2*>(&u), *q = reinterpret_cast<__half2*>(&v);
  for (int k = 0; k < 4; ++k) p[k] = __hadd2(p[k], q[k]);
  ((uint4*)c)[i] = u;
}
"""
HALVES_STRUCT = """#include <cuda_fp16.h>
struct __align__(16) Eight { __half h[8]; };
__global__ void add(const __half* a, const __half* b, __half* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i * 8 < n) {
    Eight p = ((const Eight*)a)[i], q = ((const Eight*)b)[i];
    #pragma unroll
    for (int k = 0; k < 8; ++k) p.h[k] = __float2half(__half2float(p.h[k]) + __half2float(q.h[k]));
    ((Eight*)c)[i] = p;
  }
}
"""
HALVES_NAMED = changed(HALVES, ("p.elem[k] = p.elem[k] + q.elem[k]", "p.elem[k] = __hadd(q.elem[k], p.elem[k])"))

# ---- 03-write-the-butterfly
WINGS = """extern "C" __global__ void largest(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  for (int mask = 16; mask > 0; mask /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, mask));
  y[i] = v;
}
"""
WINGS_UP = """__global__ void largest(const float* x, float* y) {
  const unsigned k = threadIdx.x + blockIdx.x * blockDim.x;
  float mine = x[k];
  #pragma unroll
  for (unsigned bit = 1; bit < 32; bit <<= 1) {
    const float other = __shfl_xor_sync(~0u, mine, bit);
    mine = other > mine ? other : mine;
  }
  y[k] = mine;
}
"""
WINGS_TURNED = """__global__ void largest(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  float v = x[i];
  for (int far = 1; far <= 16; far *= 2) v = fmaxf(v, __shfl_sync(0xffffffffu, v, (lane + far) & 31));
  y[i] = v;
}
"""
WINGS_TILE = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
template<typename Tile> __device__ float most(Tile tile, float v) {
  for (int far = tile.size() / 2; far; far >>= 1) v = fmaxf(tile.shfl_xor(v, far), v);
  return v;
}
__global__ void largest(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = most(cg::tiled_partition<32>(cg::this_thread_block()), x[i]);
}
"""
WINGS_SHARED = """extern "C" __global__ void largest(const float* x, float* y) {
  __shared__ float part[1024];
  int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  part[t] = x[i];
  __syncthreads();
  float v = part[t / 32 * 32];
  for (int k = 1; k < 32; ++k) v = fmaxf(v, part[t / 32 * 32 + k]);
  y[i] = v;
}
"""
WINGS_START = """extern "C" __global__ void largest(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int first = i / 32 * 32;
  float v = x[first];
  for (int k = 1; k < 32; ++k) v = fmaxf(v, x[first + k]);
  y[i] = v;
}
"""

# ---- 03-softmax-of-eight
EIGHT = """extern "C" __global__ void softmax8(const float* x, float* y, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool mine = i / 8 < rows;
  float v = mine ? x[i] : 0;
  float m = v;
  for (int mask = 4; mask > 0; mask /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, mask));
  float e = __expf(v - m), sum = e;
  for (int mask = 4; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);
  if (mine) y[i] = e / sum;
}
"""
EIGHT_OWN = """__global__ void softmax8(const float* x, float* y, int rows) {
  int row = blockIdx.x * 16 + threadIdx.x / 8;
  if (row >= rows) return;
  unsigned lanes = 0xffu << (threadIdx.x % 32 / 8 * 8);
  int k = row * 8 + threadIdx.x % 8;
  float v = x[k], m = v;
  for (int far = 1; far < 8; far += far) m = fmaxf(m, __shfl_xor_sync(lanes, m, far));
  v = exp2f((v - m) * 1.4426950408889634f);
  float sum = v;
  for (int far = 1; far < 8; far += far) sum += __shfl_xor_sync(lanes, sum, far);
  y[k] = v * (1.0f / sum);
}
"""
EIGHT_TILE = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void softmax8(const float* x, float* y, int rows) {
  auto group = cg::tiled_partition<8>(cg::this_thread_block());
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / group.size();
  if (row >= rows) return;
  float v = x[row * 8 + group.thread_rank()], m = v;
  for (int far = 4; far; far /= 2) m = fmaxf(m, group.shfl_xor(m, far));
  float e = __expf(v - m), s = e;
  for (int far = 4; far; far /= 2) s += group.shfl_xor(s, far);
  y[row * 8 + group.thread_rank()] = __fdividef(e, s);
}
"""
EIGHT_WIDTH = changed(
    EIGHT,
    ("m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, mask))", "m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, mask, 8))"),
    ("sum += __shfl_xor_sync(0xffffffff, sum, mask)", "sum += __shfl_xor_sync(0xffffffff, sum, mask, 8)"),
    ("mine ? x[i] : 0", "mine ? x[i] : -1e30f"),
)

# Lanes that have ended may be named: no other lane reads them.
EIGHT_ENDED = changed(
    EIGHT,
    (
        "  bool mine = i / 8 < rows;\n  float v = mine ? x[i] : 0;",
        "  if (i / 8 >= rows) return;\n  bool mine = true;\n  float v = x[i];",
    ),
)

# ---- 04-turn-a-tile
TURN = """extern "C" __global__ void turn(const float* x, float* y) {
  __shared__ float tile[32][33];
  tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  y[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""
TURN_FLAT = """__global__ void turn(const float* x, float* y) {
  __shared__ float tile[32 * 33];
  int k = threadIdx.y * blockDim.x + threadIdx.x;
  tile[threadIdx.y * 33 + threadIdx.x] = x[k];
  __syncthreads();
  y[k] = tile[threadIdx.x * 33 + threadIdx.y];
}
"""
TURN_XOR = """__global__ void turn(const float* x, float* y) {
  __shared__ float tile[32][32];
  const int r = threadIdx.y, c = threadIdx.x;
  tile[r][c ^ r] = x[r * 32 + c];
  __syncthreads();
  y[r * 32 + c] = tile[c][r ^ c];
}
"""
NO_LIMIT = "if (i < n) "

OTHERS = (
    Others(
        "0-double",
        (STRIDE, TEMPLATE, POINTERS, DOUBLE),
        (
            (changed(DOUBLE, (NO_LIMIT, "")), "no test of the bound", "i < n|last block|past|after the end|beyond"),
            (changed(DOUBLE, ("i < n", "i <= n")), "one too many", "i < n|<=|last|one past|after the end"),
            (changed(DOUBLE, ("blockIdx.x * blockDim.x + ", "")), "each block does the same", "blockIdx|block"),
            (changed(DOUBLE, ("2 * x[i]", "x[i] * x[i]")), "the square", "2|double|twice"),
            (changed(DOUBLE, ("blockDim.x", "32")), "32 threads per block", "blockDim|64"),
            (changed(DOUBLE, ("i < n", "i < n - 1")), "the last one left out", "last|i < n|every|all i|not written"),
            (changed(DOUBLE, ("twice(", "doubled(")), "another name", "twice"),
            (changed(DOUBLE, ("const float* x", "const int* x")), "int for float", "int|float|type"),
            (changed(DOUBLE, ("if (i < n)", "while (i < n)")), "it does not end", "infinite|end|loop"),
            (changed(DOUBLE, ("2 * x[i];", "2 * x[i]")), "no semicolon", "compile.*;"),
            (changed(DOUBLE, (NO_LIMIT + "y[i] = 2 * x[i];", "")), "nothing is written", "written|y\\["),
            (12, "no text", "text|CUDA"),
        ),
    ),
    Others(
        "00-copy",
        (COPY_WIDE, COPY_BACK, COPY_BY_WARP, changed(COPY, ("256", "blockDim.x"))),
        (
            (
                changed(COPY, ("i * 256 + threadIdx.x", "threadIdx.x + i")),
                "threads overlap",
                "256|each number|thread|written|blockDim",
            ),
            (changed(COPY, ("i * 256 + threadIdx.x", "threadIdx.x")), "only the first 256", "256|i |four|written"),
            (
                changed(COPY, ("i * 256 + threadIdx.x", "i * 32 + threadIdx.x")),
                "a step of a warp",
                "256|blockDim|threads",
            ),
            (
                changed(COPY, ("i * 256 + threadIdx.x", "i * 256 + threadIdx.x * 4")),
                "both factors",
                "neighb|1024|out|after|past",
            ),
            (
                changed(COPY, ("i * 256 + threadIdx.x", "threadIdx.x * 4 + i")),
                "as it was",
                "neighb|lanes|4 bytes|apart",
            ),
            (
                changed(COPY, ("i * 256 + threadIdx.x", "i + 4 * (threadIdx.x ^ 1)")),
                "pairs exchanged",
                "neighb|lanes|apart",
            ),
            (changed(COPY, ("i < 4", "i < 3")), "three of four", "four|256|written|4"),
            (changed(COPY, ("y[k] = x[k]", "y[k] = k")), "the test's numbers guessed", "x\\[|copy|should be"),
        ),
    ),
    Others(
        "01-log-sum-exp",
        (LOG_DOUBLE, LOG_TWO_SUMS, LOG, ONE_BRANCHLESS),
        (
            (
                changed(LOG, (" - m)", ")"), ("m + __logf", "__logf")),
                "the maximum not subtracted",
                "maximum|largest|overflow",
            ),
            (changed(LOG, ("m + __logf", "__logf")), "the maximum not added again", "add|plus|\\+|back"),
            (changed(LOG, ("-3.4e38f", "0")), "the maximum begins with 0", "begin|start|negative| 0"),
            (changed(LOG, ("m + __logf(sum)", "__logf(sum) - m")), "the sign", "add|plus|\\+|back"),
            (
                changed(LOG, ("m = fmaxf(m, x[row * cols + i])", "m = fmaxf(m, x[i])")),
                "the maximum of the first row",
                "row",
            ),
            (changed(LOG, ("  if (row >= rows) return;\n", "")), "rows that do not exist", "rows|row >="),
            (changed(LOG, ("float sum = 0", "float sum = 1")), "the sum begins with 1", "begin|start|sum| 0"),
            (
                changed(LOG, ("m + __logf(sum)", "m + __log2f(sum)")),
                "the logarithm of base 2",
                "log2|base|__logf|logarithm",
            ),
            (changed(LOG, ("m + __logf(sum)", "m + sum")), "no logarithm", "logarithm|__logf"),
            (changed(LOG, ("-3.4e38f", "x[row]")), "begins with another row's number", "begin|start|row|first"),
            (
                changed(ONE, ("-3.4e38f, s = 0", "__int_as_float(0xff800000), s = 0"), ("v > m", "v >= m")),
                "-inf minus -inf",
                "-inf|NaN|nan|3.4e38",
            ),
        ),
    ),
    Others(
        "01-one-pass",
        (ONE_BRANCHLESS, ONE_BACKWARDS, ONE_DOUBLE, ONE_LOG_SPACE),
        (
            (LOG, "two passes", "once|one pass|twice|loads"),
            (
                changed(ONE, ("s * __expf(m - v) + 1", "s + 1")),
                "the sum not rescaled",
                "rescal|relative|factor|larger|multipl|new",
            ),
            (
                changed(ONE, ("s * __expf(m - v)", "s * __expf(v - m)")),
                "the factor turned around",
                "factor|turn|sign|old|smaller|exp",
            ),
            (
                changed(ONE, ("__expf(m - v) + 1", "__expf(m - v)")),
                "the new number forgotten",
                "1|itself|own|new number|add",
            ),
            (
                changed(ONE, ("-3.4e38f", "__int_as_float(0xff800000)"), ("v > m", "v >= m")),
                "-inf minus -inf",
                "-inf|NaN|nan|3.4e38",
            ),
            (changed(ONE, ("m + __logf", "__logf")), "the maximum not added again", "add|plus|\\+|back"),
            (
                changed(
                    ONE,
                    (
                        "      s = s * __expf(m - v) + 1;\n      m = v;",
                        "      m = v;\n      s = s * __expf(m - v) + 1;",
                    ),
                ),
                "the maximum changed first",
                "before|old|order|first|rescal|factor",
            ),
            (changed(ONE, ("-3.4e38f", "0")), "the maximum begins with 0", "begin|start|negative|3.4e38"),
            (changed(ONE, ("int i = 0", "int i = 1")), "the first number left out", "first|i = 0|every|each"),
            (changed(ONE, ("x[row * cols + i]", "x[i * rows + row]")), "columns for rows", "row|cols"),
        ),
    ),
    Others(
        "02-copy-in-packs",
        (
            PACKS_DOUBLE,
            PACKS_STRUCT,
            PACKS_WORD,
            changed(
                PACKS,
                ("float4* from", "int4* from"),
                ("const float4*>(x)", "const int4*>(x)"),
                ("float4* to = reinterpret_cast<float4*>", "int4* to = reinterpret_cast<int4*>"),
            ),
        ),
        (
            (changed(PACKS, ("i < n / 4", "i < n")), "the bound counts numbers", "n / 4|packs|number of"),
            (changed(PACKS, ("i < n / 4", "i <= n / 4")), "one pack too many", "n / 4|<=|packs|last"),
            (
                changed(
                    PACKS,
                    (
                        "const float4* from = reinterpret_cast<const float4*>",
                        "const float2* from = reinterpret_cast<const float2*>",
                    ),
                    ("float4* to = reinterpret_cast<float4*>", "float2* to = reinterpret_cast<float2*>"),
                    ("n / 4", "n / 2"),
                ),
                "packs of 8 bytes",
                "16 bytes|float4|512|wider",
            ),
            (
                changed(PACKS, ("to[i] = from[i]", "y[i] = x[i]")),
                "only a quarter is copied",
                "pack|written|quarter|four|float4",
            ),
            (
                changed(PACKS, ("to[i] = from[i]", "to[4 * i] = from[4 * i]")),
                "the index counts numbers",
                "i|pack|index|4",
            ),
            (
                changed(PACKS, ("to[i] = from[i]", "*(float4*)(y + i) = *(const float4*)(x + i)")),
                "packs that begin at every number",
                "misalign|multiple of 16|align|16",
            ),
            (
                changed(PACKS, ("to[i] = from[i]", "for (int k = 0; k < 4; ++k) y[4 * i + k] = x[4 * i + k]")),
                "four numbers one by one",
                "float4|one instruction|as one|wide|pack|16 bytes",
            ),
            (changed(PACKS, ("i < n / 4; i += threads", "i < n / 4; i += 0")), "it does not end", "infinite|end|loop"),
        ),
    ),
    Others(
        "02-add-halves",
        (HALVES_BY_TWO, HALVES_STRUCT, HALVES_NAMED),
        (
            (changed(HALVES, ("i < n / 8", "i < n")), "the bound counts numbers", "n / 8|packs|number of"),
            (changed(HALVES, ("k < 8", "k < 4")), "half of the pack", "8|eight|elem|all"),
            (
                changed(
                    HALVES,
                    (
                        "for (int k = 0; k < 8; ++k) p.elem[k] = p.elem[k] + q.elem[k];",
                        "p.word.x += q.word.x, p.word.y += q.word.y, p.word.z += q.word.z, p.word.w += q.word.w;",
                    ),
                ),
                "the words added as integers",
                "elem|word|bits|integer|half",
            ),
            (changed(HALVES, ("p.elem[k] + q.elem[k]", "p.elem[k] + p.elem[k]")), "a + a", "b|both|a \\+ b|q"),
            (
                HALVES.replace("uint4", "uint2")
                .replace("8>", "4>")
                .replace("n / 8", "n / 4")
                .replace("k < 8", "k < 4"),
                "packs of 8 bytes",
                "16 bytes|eight|8|uint4",
            ),
            (
                HALVES.replace("n / 8", "n / 2")
                .replace("8>", "2>")
                .replace("k < 8", "k < 2")
                .replace("uint4", "unsigned"),
                "half2",
                "16 bytes|eight|8|uint4",
            ),
            (changed(HALVES, ('#include "pack.cuh"\n', "")), "a header forgotten", "compile.*Pack"),
            (
                changed(HALVES, ("p.elem[k] + q.elem[k]", "p.elem[k] - q.elem[k]")),
                "the difference",
                "add|sum|\\+|plus|should be",
            ),
        ),
    ),
    Others(
        "03-write-the-butterfly",
        (WINGS_UP, WINGS_TURNED, WINGS_TILE),
        (
            (
                changed(WINGS, ("__shfl_xor_sync", "__shfl_down_sync")),
                "a tree: only lane 0 has it",
                "xor|every lane|lane 0|all lanes|down",
            ),
            (changed(WINGS, ("mask > 0", "mask > 1")), "mask 1 forgotten", "five|1|masks|last|step"),
            (changed(WINGS, ("mask = 16", "mask = 8")), "mask 16 forgotten", "five|16|masks|half|step"),
            (
                changed(
                    WINGS,
                    ("v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, mask))", "v += __shfl_xor_sync(0xffffffff, v, mask)"),
                ),
                "the sum",
                "max|larger|largest",
            ),
            (WINGS_SHARED, "shared memory", "shared memory"),
            (WINGS_START, "as it was", "once|each number|load|sectors|requests"),
            (changed(WINGS, ("0xffffffff", "0xffff")), "half of the lanes", "mask|lanes|named|0xffffffff"),
            (
                changed(
                    WINGS,
                    ("v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, mask))", "v = __shfl_xor_sync(0xffffffff, v, mask)"),
                ),
                "exchanged, not compared",
                "max|larger|largest",
            ),
            (changed(WINGS, ("float v", "int v")), "an int", "float|int|fraction|round"),
            (changed(WINGS, ("mask > 0; mask /= 2", "mask >= 0; mask /= 2")), "it does not end", "infinite|end|loop"),
            (
                changed(WINGS, ("int mask = 16; mask > 0; mask /= 2", "int mask = 1; mask < 32; ++mask")),
                "all 31 others are asked",
                "five|5|shuffles|more",
            ),
            (
                changed(
                    WINGS,
                    ("  y[i] = v;", "  v = __shfl_sync(0xffffffff, v, 0);\n  y[i] = v;"),
                    ("__shfl_xor_sync", "__shfl_down_sync"),
                ),
                "a tree and a message: six shuffles",
                "five|5|shuffles|xor",
            ),
        ),
    ),
    Others(
        "03-softmax-of-eight",
        (EIGHT_OWN, EIGHT_TILE, EIGHT_WIDTH, EIGHT_ENDED),
        (
            (changed(EIGHT, ("v - m", "v")), "the maximum not subtracted", "maximum|largest|overflow|large"),
            (
                EIGHT.replace("mask = 4", "mask = 16"),
                "over the whole warp",
                "8|eight|group|own row",
            ),
            (
                changed(EIGHT, ("mine ? x[i] : 0", "x[i]")),
                "rows that do not exist are read",
                "rows|row|last block|past|after",
            ),
            (
                changed(EIGHT, ("if (mine) ", "")),
                "rows that do not exist are written",
                "rows|row|last block|past|after",
            ),
            (changed(EIGHT, ("y[i] = e / sum", "y[i] = e")), "not divided", "divi|sum|share"),
            (EIGHT.replace("0xffffffff", "0xff"), "the mask of the first group", "mask|lanes|named|own|group"),
            (
                changed(EIGHT, ("sum += __shfl_xor_sync", "sum += __shfl_down_sync")),
                "a tree: only one lane has the sum",
                "xor|every lane|lane 0|all|down",
            ),
            (
                changed(EIGHT, ("m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, mask))", "m = fmaxf(m, x[i ^ mask])")),
                "more loads",
                "once|load|mask|row|bound|after|past",
            ),
            (EIGHT.replace("mask = 4", "mask = 2"), "two steps", "three|4, 2|8|eight|step"),
            (changed(EIGHT, ("i / 8 < rows", "i < rows")), "rows taken for numbers", "8|row|numbers|written"),
        ),
    ),
    Others(
        "04-turn-a-tile",
        (TURN_FLAT, TURN_XOR, changed(TURN, ("[33]", "[37]")), changed(TURN, ("[32][33]", "[33][35]"))),
        (
            (changed(TURN, ("[32][33]", "[33][32]")), "a row more, not a column", "second|column|other|row|bank"),
            (changed(TURN, ("[33]", "[34]")), "two columns more", "odd|even|bank|33|2-way"),
            (changed(TURN, ("[33]", "[40]")), "eight columns more", "odd|even|bank|33|8-way"),
            (changed(TURN, ("[33]", "[64]")), "twice as wide", "odd|even|bank|33|multiple"),
            (changed(TURN, ("[33]", "[31]")), "a column less", "row|overlap|32|bounds|overwr|race|fit"),
            (changed(TURN, ("  __syncthreads();\n", "")), "no barrier", "barrier|__syncthreads|race"),
            (
                changed(TURN, ("= tile[threadIdx.x][threadIdx.y]", "= tile[threadIdx.y][threadIdx.x]")),
                "not turned",
                "turn|transpos|column|exchang|row",
            ),
            (
                changed(TURN, ("__syncthreads()", "__syncwarp()")),
                "a barrier of the warp",
                "barrier|__syncthreads|warps|race",
            ),
        ),
    ),
)
