"""What checks of races cost where blocks wait for each other, or threads publish by fences.

``python -m softlab.bench.waits --blocks 8 100 --only look_back thread_flags`` prints milliseconds of the processor of
plain runs, and how many times as long counters and all checks take: the least of 20 runs each, of fewer long ones.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.bench.emulator_cases import MODES, SPINS
from softlab.emulator.machine.native import available
from softlab.kernel import Kernel

_SOURCE = (
    SPINS
    + """
extern "C" __global__ void last_block(const int* x, int* part, int* out, unsigned* count) {
  __shared__ int s[64];
  __shared__ bool last;
  s[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  for (int k = 32; k; k /= 2) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    part[blockIdx.x] = s[0];
    __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  int sum = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += 64) sum += ((volatile int*)part)[i];
  atomicAdd(out, sum);
}

extern "C" __global__ void thread_flags(int* data, volatile int* flag) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 1; k <= 8; ++k) {
    data[i] = k;
    __threadfence();
    flag[i] = k;
  }
}

extern "C" __global__ void own_atomics(unsigned* x) {
  for (int k = 0; k < 8; ++k) {
    __threadfence();
    atomicAdd(x + blockIdx.x * blockDim.x + threadIdx.x, 1);
  }
}

extern "C" __global__ void moving_atomics(unsigned* x) {
  int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 8; ++k) {
    __threadfence();
    atomicAdd(x + (i + k * 32) % n, 1);
  }
}

// Of two blocks one fills a buffer of four items and the other empties it.
extern "C" __global__ void ring(int* data, volatile int* head, volatile int* tail, int* out) {
  if (threadIdx.x != 0) return;
  int pair = blockIdx.x / 2, sum = 0;
  data += pair * 4;
  for (int k = 0; k < 16; ++k) {
    if (blockIdx.x % 2 == 0) {
      while (k - tail[pair] >= 4) {}
      __threadfence();
      data[k % 4] = k;
      __threadfence();
      head[pair] = k + 1;
    } else {
      while (head[pair] <= k) {}
      __threadfence();
      sum += data[k % 4];
      __threadfence();
      tail[pair] = k + 1;
    }
  }
  out[pair * 2 + blockIdx.x % 2] = sum;
}
"""
)
_GRID_SOURCE = """
#include <cooperative_groups.h>
extern "C" __global__ void grid_sync(int* x) {
  auto grid = cooperative_groups::this_grid();
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x, sum = i;
  for (int turn = 1; turn <= 4; ++turn) {
    if (turn % 2) x[i] = sum;
    else sum += x[(i + blockDim.x) % n];
    grid.sync();
  }
}
"""
#: Runs of each way, and seconds of all runs after which there are no more.
_REPEATS, _FEWER_AFTER = 20, 6.0


@dataclass(frozen=True)
class Waiting:
    """A kernel: threads of a block, and the items of each of its arrays per block; 0 for one item in all."""

    threads: int
    per_block: tuple[int, ...]
    cooperative: bool = False
    source: str = _SOURCE

    def launch(self, name: str, blocks: int) -> Callable[..., Any]:
        """What runs it, with arrays of zeros each time; takes the keywords of :meth:`softlab.Kernel.run`."""
        kernel = Kernel(self.source, name)

        def run(**how: Any) -> Any:
            arrays = [np.zeros(items * blocks or 1, np.int32) for items in self.per_block]
            return kernel.run(blocks, self.threads, arrays, cooperative=self.cooperative, **how)

        return run


KERNELS = {
    "lock": Waiting(64, (0, 0, 0), True),
    "turns": Waiting(64, (0, 0, 0), True),
    "look_back": Waiting(64, (1, 1, 0), True),
    "grid_barriers": Waiting(64, (0, 64, 0), True),
    "grid_sync": Waiting(64, (64,), True, _GRID_SOURCE),
    "last_block": Waiting(64, (64, 1, 0, 0)),
    "ring": Waiting(32, (4, 1, 1, 1), True),
    "thread_flags": Waiting(256, (256, 256)),
    "own_atomics": Waiting(256, (256,)),
    "moving_atomics": Waiting(256, (256,)),
}


def least_seconds(run: Callable[..., Any], ways: Sequence[dict[str, Any]]) -> list[float]:
    """The least time of the processor of the runs in each way. The ways take turns, so that they meet the same load."""
    taken: list[list[float]] = [[] for _ in ways]
    while len(taken[0]) < _REPEATS and sum(map(sum, taken)) < _FEWER_AFTER:
        for how, of_way in zip(ways, taken, strict=True):
            start = time.process_time()
            run(**how)
            of_way.append(time.process_time() - start)
    return [min(of_way) for of_way in taken]


def timed(run: Callable[..., Any]) -> str:
    """The cells of a line that are measured: milliseconds plain, then counters and all checks in multiples of it."""
    compiled = "all" if available() else "none"
    plain, counters, checks = least_seconds(run, [{"compiled": compiled, **how} for how in MODES.values()])
    return f"{plain * 1e3:.1f} | {counters / plain:.1f} | {checks / plain:.1f}"


def row(name: str, blocks: int) -> str:
    """A line of the table."""
    return f"| {name} | {blocks} | {timed(KERNELS[name].launch(name, blocks))} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m softlab.bench.waits", description=__doc__)
    parser.add_argument("--blocks", type=int, nargs="+", default=[8, 100])
    parser.add_argument("--only", nargs="+", default=list(KERNELS), choices=KERNELS, metavar="KERNEL")
    options = parser.parse_args(arguments)
    print("| kernel | blocks | plain, ms | counters | all checks |\n|---|---|---|---|---|")
    for name in options.only:
        for blocks in options.blocks:
            print(row(name, blocks), flush=True)


if __name__ == "__main__":
    main()
