from __future__ import annotations

import statistics

import numpy as np

from tests.course.answers import Answers, kernel

READ = "10-make-it-read"
#: As the notebook has it.
UNUSED = """__global__ void read(const float* x, float* y, int n) {
  float value = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value = x[i];
}
"""
SHARED_ATOMICS = """__global__ void read(const float* x, float* y, int n) {
  __shared__ float all;
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  atomicAdd(&all, sum);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = all;
}
"""
RACY = SHARED_ATOMICS.replace("atomicAdd(&all, sum);", "all += sum;")
EVERY_THREAD_WRITES = SHARED_ATOMICS.replace("if (threadIdx.x == 0) y[blockIdx.x]", "y[blockIdx.x]")
ONE_THREAD = """__global__ void read(const float* x, float* y, int n) {
  if (threadIdx.x) return;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x)
    for (int k = i; k < i + blockDim.x && k < n; ++k) sum += x[k];
  y[blockIdx.x] = sum;
}
"""


def plain(times, nbytes, warm_up):
    kept = sorted(times[warm_up:])
    middle = len(kept) // 2
    median = kept[middle] if len(kept) % 2 else (kept[middle - 1] + kept[middle]) / 2
    return nbytes / (median * 1e-6) / 1e9


def by_numpy(times, nbytes, warm_up):
    return nbytes / np.median(times[warm_up:]) / 1000


ANSWERS = (
    Answers(
        "10-how-fast",
        right=(2739, 2739.1, 2740),
        wrong=(
            (1369.6, "written, too"),
            (5478.2, "2 bytes"),
            (2551, "GiB"),
            (2.739e6, "in MB/s"),
            (65.5, "percent"),
            (4181, "Bytes in and bytes out"),
        ),
    ),
    Answers(
        "10-which-is-honest",
        right=("B",),
        wrong=(("A", "handed over"), ("C", "L2"), ("D", "row length"), ("E", "none of the answers")),
    ),
    Answers(
        "10-write-the-summary",
        right=(plain, by_numpy),
        wrong=(
            (lambda times, nbytes, warm_up: nbytes / statistics.median(times) / 1e3, "running machine"),
            (lambda times, nbytes, warm_up: nbytes / (sum(times[warm_up:]) / len(times[warm_up:])) / 1e3, "disturbed"),
            (lambda times, nbytes, warm_up: nbytes / min(times[warm_up:]) / 1e3, "luckiest"),
            (lambda times, nbytes, warm_up: nbytes / statistics.median(times[warm_up:]), "MB a second"),
            (lambda times, nbytes, warm_up: nbytes / statistics.median(times[warm_up + 1 :]) / 1e3, "not one more"),
        ),
    ),
    Answers(
        READ,
        right=(kernel(READ), SHARED_ATOMICS),
        wrong=(
            (UNUSED, "y[0] is nan"),
            (UNUSED.replace("value = x[i];\n", "value = x[i];\n  y[blockIdx.x] = 0;\n"), "y[0] is 0.0"),
            (RACY, "reduce first"),
            (EVERY_THREAD_WRITES, "let one thread per block"),
            (ONE_THREAD, "32 neighbours at a time"),
            (kernel(READ, ("  __syncthreads();\n", "")), "race on line"),
            (kernel(READ, ("warp = 1", "warp = 0")), "y[0] is"),
            (
                kernel(
                    READ,
                    (
                        "sum += x[i];\n",
                        "sum += x[i];\n  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; "
                        "i += gridDim.x * blockDim.x) if (x[i] > 99) sum += 1;\n",
                    ),
                ),
                "Read each number once",
            ),
        ),
    ),
)
