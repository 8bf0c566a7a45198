"""The kernels that the emulator's speed is measured with, beside the softmax.

They are few warps, atomics, phases of a barrier, matrix products, and blocks that wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from softlab.kernel import Kernel
from softlab.traces import Run

_SOURCE = """
extern "C" __global__ void arithmetic(float* x, unsigned* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = x[i];
  unsigned u = y[i];
  #pragma unroll 1
  for (int k = 0; k < n; ++k) {
    a = a * 1.0001f + 0.5f;
    u = u * 1664525u + 1013904223u;
    u ^= u >> 13;
    a = a - (float)(u & 255u) * 0.001f;
  }
  x[i] = a;
  y[i] = u;
}

extern "C" __global__ void collatz(float* x, unsigned* y, int n) {
  int i = threadIdx.x;
  unsigned u = y[i] + 1, steps = 0;
  while (u != 1 && steps < n) {
    u = u & 1 ? 3 * u + 1 : u >> 1;
    ++steps;
  }
  x[i] = steps;
}

extern "C" __global__ void sum(float* x, unsigned* y, int n) {
  float total = 0;
  for (int k = 0; k < n; ++k) total += y[(threadIdx.x + k) % 32] + y[k % 32];
  x[threadIdx.x] = total;
}

extern "C" __global__ void atomics(unsigned* x, unsigned* y, int cells) {
  unsigned sum = 0;
  for (int k = 0; k < 256; ++k) sum += atomicAdd(x + (threadIdx.x * 7 + k) % cells, threadIdx.x + k);
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void shared_atomics(unsigned* y) {
  __shared__ unsigned x[8];
  if (threadIdx.x < 8) x[threadIdx.x] = 0;
  __syncthreads();
  unsigned sum = 0;
  for (int k = 0; k < 256; ++k) sum += atomicAdd(x + (threadIdx.x * 7 + k) % 8, threadIdx.x + k);
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][16], bs[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += 16) {
    as[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// Each of 256 threads has 4 x 4 results of the block's 64 x 64.
extern "C" __global__ void register_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][64], bs[16][64];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sums[4][4] = {};
  for (int t = 0; t < n; t += 16) {
    for (int i = threadIdx.x; i < 1024; i += 256) {
      as[i % 16][i / 16] = a[(row + i / 16) * n + t + i % 16];
      bs[i / 64][i % 64] = b[(t + i / 64) * n + column + i % 64];
    }
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
      float x[4], y[4];
      for (int i = 0; i < 4; ++i) x[i] = as[k][ty * 4 + i], y[i] = bs[k][tx * 4 + i];
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sums[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(row + ty * 4 + i) * n + column + tx * 4 + j] = sums[i][j];
}
"""
_BARRIER = """
#include <cuda/barrier>
extern "C" __global__ void phases(unsigned* y) {
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
  if (threadIdx.x == 0) init(&all, blockDim.x);
  __syncthreads();
  for (int k = 0; k < 128; ++k) all.arrive_and_wait();
  y[threadIdx.x] = 1;
}
"""
# Blocks that wait for each other in loops: for a lock, for their turn, for the block before, for all blocks.
SPINS = """
extern "C" __global__ void lock(int* word, int* sum, unsigned* unused) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(word, 0, 1) != 0) {}
  __threadfence();
  sum[0] += blockIdx.x;
  __threadfence();
  atomicExch(word, 0);
}

extern "C" __global__ void turns(volatile int* serving, int* sum, unsigned* next) {
  if (threadIdx.x != 0) return;
  int mine = atomicAdd(next, 1);
  while (*serving != mine) {}
  __threadfence();
  sum[0] += blockIdx.x;
  __threadfence();
  *serving = mine + 1;
}

extern "C" __global__ void look_back(volatile int* flags, int* sums, unsigned* unused) {
  if (threadIdx.x != 0) return;
  int sum = 1;
  if (blockIdx.x > 0) {
    while (flags[blockIdx.x - 1] == 0) {}
    __threadfence();
    sum += sums[blockIdx.x - 1];
  }
  sums[blockIdx.x] = sum;
  __threadfence();
  flags[blockIdx.x] = 1;
}

extern "C" __global__ void grid_barriers(int* unused, int* x, unsigned* count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x, sum = i;
  for (int turn = 1; turn <= 20; ++turn) {
    if (turn % 2) x[i] = sum;
    else sum += x[(i + blockDim.x) % n];
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(count, 1);
      while (*(volatile unsigned*)count < turn * gridDim.x) {}
      __threadfence();
    }
    __syncthreads();
  }
  x[i] = sum;
}
"""
_WAITS = {
    "lock": "64 blocks, a lock",
    "turns": "64 blocks, a lock by tickets",
    "look_back": "64 blocks, look-back",
    "grid_barriers": "64 blocks, 20 barriers of the grid that spin",
}
#: How a run is checked and recorded.
MODES: dict[str, dict[str, bool]] = {
    "plain": {"check": False, "record": False},
    "counters": {"check": False, "record": True},
    "all checks": {"check": True, "record": True},
}


@dataclass(frozen=True)
class SpeedCase:
    """A launch to measure. ``run`` takes the keywords of :meth:`softlab.Kernel.run`."""

    name: str
    run: Callable[..., Run]


def cases() -> list[SpeedCase]:
    """All cases, their kernels compiled by NVRTC."""
    return [
        _of_warps("one warp, arithmetic loop", "arithmetic", 1, 5000),
        _of_warps("eight warps, arithmetic loop", "arithmetic", 8, 5000),
        _of_warps("one warp, loop with loads", "sum", 1, 1000),
        _of_warps("one warp, divergent loop", "collatz", 1, 200),
        *(_atomics(f"eight blocks, atomics on {n}", n) for n in (1, 5)),
        SpeedCase(
            "eight blocks, atomics on eight shared words each",
            partial(Kernel(_SOURCE, "shared_atomics").run, 8, 256, (np.zeros(2048, np.uint32),)),
        ),
        SpeedCase(
            "cuda::barrier, 128 phases of 1024 threads",
            partial(Kernel(_BARRIER, "phases").run, 1, 1024, (np.zeros(1024, np.uint32),)),
        ),
        *(_spins(title, name) for name, title in _WAITS.items()),
        *(_product(f"{n}^3, tiled", "tiled", n, (n // 16, n // 16), (16, 16)) for n in (64, 256)),
        *(_product(f"{n}^3, register-tiled", "register_tiled", n, (n // 64, n // 64), (256, 1)) for n in (64, 256)),
    ]


def _of_warps(title: str, name: str, warps: int, turns: int) -> SpeedCase:
    x, y = np.zeros(32 * warps, np.float32), np.arange(32 * warps, dtype=np.uint32)
    return SpeedCase(title, partial(Kernel(_SOURCE, name).run, 1, 32 * warps, (x, y, turns)))


def _atomics(title: str, cells: int) -> SpeedCase:
    """256 atomics of each of 2048 threads, whose results are used."""
    x, y = np.zeros(cells, np.uint32), np.zeros(2048, np.uint32)
    return SpeedCase(title, partial(Kernel(_SOURCE, "atomics").run, 8, 256, (x, y, cells)))


def _spins(title: str, name: str) -> SpeedCase:
    """64 blocks that wait for each other, with arrays of zeros at each launch."""
    kernel = Kernel(SPINS, name)

    def run(**how: Any) -> Run:
        arrays = np.zeros(64, np.int32), np.zeros(64 * 64, np.int32), np.zeros(1, np.uint32)
        return kernel.run(64, 64, arrays, cooperative=True, **how)

    return SpeedCase(title, run)


def _product(title: str, name: str, n: int, grid: tuple[int, int], block: tuple[int, int]) -> SpeedCase:
    random = np.random.default_rng(0)
    a, b, c = (random.standard_normal((n, n)).astype(np.float32) for _ in range(3))
    run: Any = partial(Kernel(_SOURCE, name).run, grid, block, (a, b, c, n))
    return SpeedCase(title, run)
