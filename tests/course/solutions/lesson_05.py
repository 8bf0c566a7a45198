from __future__ import annotations

from tests.course.answers import Answers, kernel

MAXIMUM, TWICE = "05-below-the-maximum", "05-call-it-twice"
#: The second half of the solution, from the barrier on.
SECOND = """  most = threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : lowest;
  for (int far = 16; far; far /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, far));
"""
#: By the first warp alone, and a broadcast word: the two barriers of the textbook.
FIRST_WARP = """  __shared__ float all;
  if (threadIdx.x < 32) {
    most = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : lowest;
    for (int far = 16; far; far /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, far));
    if (threadIdx.x == 0) all = most;
  }
  __syncthreads();
  most = all;
"""
TREE = """__global__ void below_maximum(const float* x, float* y, int n) {
  __shared__ float part[1024];
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  float most = x[0];
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, x[i]);
  part[threadIdx.x] = most;
  for (int stride = 512; stride; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride && threadIdx.x + stride < blockDim.x)
      part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + stride]);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] - part[0];
}
"""
ONE_THREAD = """__global__ void below_maximum(const float* x, float* y, int n) {
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


def maximum(*edits):
    return kernel(MAXIMUM, *edits)


def twice(*edits):
    return kernel(TWICE, *edits)


ANSWERS = (
    Answers(
        "05-barriers-of-a-tree",
        right=(11,),
        wrong=(
            (10, "at its end"),
            (2, "by shuffles"),
            (9, "256"),
            (1024, "one barrier"),
            (352, "one warp"),
            (5, "Five levels"),
        ),
    ),
    Answers(
        "05-which-barrier-may-go",
        right=("C",),
        wrong=(("A", "before the neighbour has written"), ("B", "before its neighbour has read"), ("D", "none of the")),
    ),
    Answers(
        MAXIMUM,
        right=(maximum(), maximum((SECOND, FIRST_WARP))),
        wrong=(
            (maximum(("  __syncthreads();\n", "")), "race on line"),
            (maximum((SECOND, FIRST_WARP.replace("  __syncthreads();\n", ""))), "race on line"),
            # Begins with 0, in each of the two halves: no number of the row is as large.
            (maximum(("float most = lowest;", "float most = 0;")), "y[0, 0] is"),
            (maximum((": lowest;", ": 0;")), "y[0, 0] is"),
            # Forgets that a block may have three warps.
            (maximum(("threadIdx.x % 32 < blockDim.x / 32", "threadIdx.x % 32 < 4")), "uninitialized-shared"),
            # Each warp for itself.
            (maximum((SECOND, "")), "y[0, "),
            # The rows of all blocks are the first one.
            (maximum(("  x += blockIdx.x * n;\n", "")), "y[1, 0] is"),
            # Who has no number leaves.
            (
                maximum(("  float most", "  if (threadIdx.x >= n) return;\n  float most")),
                "Let all 32 lanes of a warp come to the shuffle",
            ),
            (
                maximum(("  __syncthreads();\n", "  if (threadIdx.x < n) __syncthreads();\n")),
                "Threads without a number have to come to the barrier, too.",
            ),
            (TREE, "176 barriers, 32 possible"),
            (ONE_THREAD, "2064 global load requests, 144 possible"),
            (
                maximum(
                    (
                        "far; far /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, far));\n  if",
                        "far; far /= 4) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, far));\n  if",
                    )
                ),
                "y[0, 0] is",
            ),
        ),
    ),
    Answers(
        TWICE,
        right=(
            twice(),
            # The memory given by the caller.
            twice(
                (
                    "template <int call>\n__device__ float block_sum(float",
                    "__device__ float block_sum(float* part, float",
                ),
                ("  __shared__ float part[32];\n", ""),
                ("  int i =", "  __shared__ float part[64];\n  int i ="),
                ("block_sum<0>(", "block_sum(part, "),
                ("block_sum<1>(", "block_sum(part + 32, "),
            ),
        ),
        wrong=(
            # As the notebook has it: the same words in both calls.
            (twice(("block_sum<1>", "block_sum<0>")), "next call of block_sum"),
            (
                twice(("block_sum<1>", "block_sum<0>"), ("  return sum;", "  __syncwarp();\n  return sum;")),
                "only the __syncwarp() of line",
            ),
            # The second barrier that the notebook speaks of, at the end or at the beginning.
            (twice(("  return sum;", "  __syncthreads();\n  return sum;")), "64 barriers, 32 possible"),
            (
                twice(("block_sum<1>", "block_sum<0>"), ("  for (int far", "  __syncthreads();\n  for (int far")),
                "64 barriers, 32 possible",
            ),
            (
                twice(("  __syncthreads();\n", "  if (threadIdx.x < 32) __syncthreads();\n")),
                "barrier-divergence",
            ),
            (twice(("block_sum<1>(centred * centred)", "block_sum<1>(x[i] * x[i])")), "y[0, 0] is"),
            (twice(("part[threadIdx.x / 32] = value", "part[0] = value")), "race on line"),
        ),
    ),
)
