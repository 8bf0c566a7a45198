"""What counters and all checks cost where one warp loops over memory.

``python -m softlab.bench.lone_warps --turns 2000 --only own_cells`` prints milliseconds of the processor of plain runs,
and how many times as long counters and all checks take.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.bench.waits import timed
from softlab.emulator.lanes import WARP
from softlab.kernel import Kernel

_SOURCE = """
extern "C" __global__ void own_cells(float* x, int n) {
  for (int k = 0; k < n; ++k) x[threadIdx.x + k % 8 * 32] += 1.f;
}

extern "C" __global__ void copy(float* x, float* y, int n) {
  for (int k = 0; k < n; ++k) y[(threadIdx.x + k * 32) % 1024] = x[(threadIdx.x * 3 + k * 32) % 1024];
}

extern "C" __global__ void shared_cells(float* x, int n) {
  __shared__ float s[256];
  for (int k = 0; k < 8; ++k) s[threadIdx.x + k * 32] = x[threadIdx.x];
  for (int k = 0; k < n; ++k) s[threadIdx.x + k % 8 * 32] += 1.f;
  x[threadIdx.x] = s[threadIdx.x];
}

extern "C" __global__ void shared_turns(float* x, int n) {
  __shared__ float s[256];
  for (int k = 0; k < 8; ++k) s[threadIdx.x + k * 32] = x[threadIdx.x];
  __syncwarp();
  for (int k = 0; k < n; ++k) {
    s[(threadIdx.x + k) % 256] += 1.f;
    __syncwarp();
  }
  x[threadIdx.x] = s[threadIdx.x];
}

extern "C" __global__ void local_array(float* x, int n) {
  float a[16], sum = 0;
  for (int k = 0; k < 16; ++k) a[k] = 0;
  for (int k = 0; k < n; ++k) a[(int)(x[threadIdx.x] + k) & 15] += 1.f;
  for (int k = 0; k < 16; ++k) sum += a[k];
  x[threadIdx.x] = sum;
}

extern "C" __global__ void one_lane(int* x, int n) {
  if (threadIdx.x != 0) return;
  for (int k = 0; k < n; ++k) x[k * 7 % 1024] += x[k * 5 % 1024];
}

extern "C" __global__ void volatile_word(volatile int* x, int n) {
  if (threadIdx.x != 0) return;
  for (int k = 0; k < n; ++k) x[0] = x[0] + 1;
}

extern "C" __global__ void poll(volatile int* x, int n) {
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += x[1];
  x[2] = sum;
}

extern "C" __global__ void atomics(int* x, int n) {
  for (int k = 0; k < n; ++k) atomicAdd(x + (threadIdx.x + k) % 256, 1);
}

extern "C" __global__ void fences(volatile int* x, int n) {
  for (int k = 0; k < n; ++k) {
    x[threadIdx.x] = k;
    __threadfence();
    x[64 + threadIdx.x] = k;
  }
}
"""


@dataclass(frozen=True)
class LoneWarp:
    """A kernel of one warp: the type of its arrays' elements, and how many arrays of 1024 of them there are."""

    dtype: str
    arrays: int = 1

    def launch(self, name: str, turns: int) -> Callable[..., Any]:
        """What runs it for ``turns`` turns, with arrays of zeros each time; takes the keywords of ``Kernel.run``."""
        kernel = Kernel(_SOURCE, name)

        def run(**how: Any) -> Any:
            arrays = [np.zeros(1024, self.dtype) for _ in range(self.arrays)]
            return kernel.run(1, WARP, [*arrays, turns], **how)

        return run


KERNELS = {
    "own_cells": LoneWarp("f4"), "copy": LoneWarp("f4", 2), "shared_cells": LoneWarp("f4"),
    "shared_turns": LoneWarp("f4"), "local_array": LoneWarp("f4"), "one_lane": LoneWarp("i4"),
    "volatile_word": LoneWarp("i4"), "poll": LoneWarp("i4"), "atomics": LoneWarp("i4"), "fences": LoneWarp("i4"),
}  # fmt: skip


def row(name: str, turns: int) -> str:
    """A line of the table."""
    return f"| {name} | {turns} | {timed(KERNELS[name].launch(name, turns))} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m softlab.bench.lone_warps", description=__doc__)
    parser.add_argument("--turns", type=int, default=2000)
    parser.add_argument("--only", nargs="+", default=list(KERNELS), choices=KERNELS, metavar="KERNEL")
    options = parser.parse_args(arguments)
    print("| kernel | turns | plain, ms | counters | all checks |\n|---|---|---|---|---|")
    for name in options.only:
        print(row(name, options.turns), flush=True)


if __name__ == "__main__":
    main()
