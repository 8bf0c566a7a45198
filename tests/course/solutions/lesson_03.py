from __future__ import annotations

from tests.course.answers import Answers, kernel

LOOP = "for (int mask = 16; mask > 0; mask /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, mask));"
TREE = """
extern "C" __global__ void largest(const float* x, float* y) {
  __shared__ float part[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  part[threadIdx.x] = x[i];
  for (int far = 16; far > 0; far /= 2) {
    __syncwarp();
    if (lane < far) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + far]);
  }
  __syncwarp();
  y[i] = part[threadIdx.x - lane];
}
"""
STARTED = """
extern "C" __global__ void largest(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, first = i / 32 * 32;
  float v = x[first];
  for (int k = 1; k < 32; ++k) v = fmaxf(v, x[first + k]);
  y[i] = v;
}
"""
STARTED_EIGHT = """
extern "C" __global__ void softmax8(const float* x, float* y, int rows) {
  int row = blockIdx.x * blockDim.x / 8 + threadIdx.x;
  if (threadIdx.x >= 16 || row >= rows) return;
  float largest = x[row * 8], sum = 0;
  for (int k = 1; k < 8; ++k) largest = fmaxf(largest, x[row * 8 + k]);
  for (int k = 0; k < 8; ++k) sum += __expf(x[row * 8 + k] - largest);
  for (int k = 0; k < 8; ++k) y[row * 8 + k] = __expf(x[row * 8 + k] - largest) / sum;
}
"""
MAXIMUM = "for (int mask = 4; mask > 0; mask /= 2) largest = fmaxf(largest, __shfl_xor_sync(lanes, largest, mask));"


def largest(*edits: tuple[str, str]) -> str:
    return kernel("03-write-the-butterfly", *edits)


def eight(*edits: tuple[str, str]) -> str:
    return kernel("03-softmax-of-eight", *edits)


ANSWERS = (
    Answers(
        "03-stopped-half-way",
        right=(68, 68.0),
        wrong=((26, "after the first step"), (39, "more than its own"), (496, "still to come"), (5, "With mask 16")),
    ),
    Answers(
        "03-shuffles-of-a-group",
        right=(8,),
        wrong=(
            (4, "two rows at once"),
            (2, "a maximum and a sum"),
            (64, "serves all eight groups"),
            (12, "groups of 8"),
        ),
    ),
    Answers(
        "03-name-the-lanes",
        right=(0x00FF0000, 16_711_680),
        wrong=((0xFFFFFFFF, "all lanes"), (0xFF, "lanes 0 to 7"), (0xFF00, "second group"), (3, "eight ones")),
    ),
    Answers(
        "03-write-the-butterfly",
        right=(
            largest(),
            largest(("mask = 16; mask > 0; mask /= 2", "mask = 1; mask < 32; mask *= 2")),
        ),
        wrong=(
            (TREE, "it uses shared memory: 512 bytes per block"),
            (STARTED, "32 global load requests, 1 possible, most on line 5"),
            (largest(("__shfl_xor_sync(0xffffffff, v, mask)", "__shfl_down_sync(0xffffffff, v, mask)")), "y[0, 1] is"),
            (largest(("mask > 0", "mask > 1")), "y[0, 1] is"),
            (largest(("mask = 16", "mask = 8")), "y[0, 16] is"),
            (largest(("float v = x[i];", "float v = 0;")), "and should be -0.25"),
            (
                largest((LOOP, "float w = v; for (int k = 0; k < 32; ++k) v = fmaxf(v, __shfl_sync(~0u, w, k));")),
                "32 shuffle instructions, 5 possible",
            ),
            (largest((LOOP, "if (threadIdx.x < 16) " + LOOP.replace("16;", "8;"))), "inactive-lane on line 4"),
            (largest(("blockIdx.x * blockDim.x + ", "")), "3 blocks of 64 threads, y[2, 0] is nan (not written?)"),
        ),
    ),
    Answers(
        "03-softmax-of-eight",
        right=(
            eight(),
            eight(("lanes = 0xffu << (threadIdx.x / 8 * 8 % 32)", "lanes = 0xffffffff")),  # the others have left
            eight(("__expf(v - largest)", "expf(v - largest)")),
        ),
        wrong=(
            (STARTED_EIGHT, "global load requests, 4 possible"),
            (eight((MAXIMUM, MAXIMUM.replace("4;", "16;"))), "inactive-lane on line 8, with 16 rows"),
            (eight(("0xffu << (threadIdx.x / 8 * 8 % 32)", "0xffu")), "inactive-lane on line 8"),
            (eight((MAXIMUM, "")), "y[0, 0] is 0.125"),
            (eight((MAXIMUM, "largest = 0;")), "y[0, 0] is"),
            (eight(("  if (row >= rows) return;\n", "")), "global-out-of-bounds on line 5, with 5 rows"),
            (eight(("y[i] = e / sum", "y[i] = e")), "y[0, 0] is"),
            (
                eight(
                    (
                        "float v = x[i];\n  float largest = v;",
                        "float v = x[i], largest = x[i ^ 1];\n  largest = fmaxf(v, largest);",
                    )
                ),
                "global load requests",
            ),
        ),
    ),
)
