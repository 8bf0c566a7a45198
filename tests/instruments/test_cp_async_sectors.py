"""The rule of ``cp.async.cg`` against the same rule one lane at a time."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.instruments.cp_async_sectors import cp_async_sectors
from softlab.kernel import Kernel


def plainly(source: list[int], destination: list[int], active: list[bool]) -> int:
    """Eight lanes per pass; a pass repeats for each different piece of 16 bytes that one group of banks holds."""
    total = 0
    for first in range(0, 32, 8):
        lanes = [lane for lane in range(first, first + 8) if active[lane]]
        pieces: dict[int, set[int]] = {}
        for lane in lanes:
            pieces.setdefault(destination[lane] // 16 % 8, set()).add(destination[lane] // 16)
        total += len({source[lane] // 32 for lane in lanes}) * max(map(len, pieces.values()), default=0)
    return total


def test_random_warps() -> None:
    random = np.random.default_rng(0)
    sizes = random.choice([1, 2, 8, 64], (2, 400, 1))
    source, destination = random.integers(0, sizes, (2, 400, 32)) * 16
    active = random.random((400, 32)) < random.choice([0, 0.1, 0.5, 1], (400, 1))
    found = cp_async_sectors(source, destination, active).tolist()
    assert found == [
        plainly(*warp) for warp in zip(source.tolist(), destination.tolist(), active.tolist(), strict=True)
    ]
    assert len(set(found)) > 20


COPIES = """
extern "C" __global__ void copies(const float4* x, float4* y, int by_block, int by_target, int most, int odd) {
  __shared__ float4 tile[160];
  int t = threadIdx.x, b = blockIdx.x;
  int from = (t * 3 + by_block * b * 5) % 70, to = t + by_target * b * (t % 3);
  if (t < most && (!odd || (t + b) % 2)) {
    unsigned there = (unsigned)__cvta_generic_to_shared(tile + to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(there), "l"(x + from) : "memory");
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  y[b * blockDim.x + t] = tile[t];
}
"""


@pytest.mark.parametrize("most", [96, 40, 7])
@pytest.mark.parametrize(("by_block", "by_target", "odd"), [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1)])
def test_a_kernels_copies_are_counted_per_warp(by_block: int, by_target: int, odd: int, most: int) -> None:
    """Blocks that share source or destination, and blocks that differ; whole warps, and some lanes of them."""
    kernel, x = Kernel(COPIES, "copies"), np.zeros((80, 4), np.float32)
    arguments = x, np.zeros((4 * 96, 4), np.float32), by_block, by_target, most, odd
    counters = kernel.run(4, 96, arguments, check=False).counters
    sectors = requests = 0
    for block in range(4):
        thread = np.arange(96)
        source = (thread * 3 + by_block * block * 5) % 70 * 16
        target = (thread + by_target * block * (thread % 3)) * 16
        active = (thread < most) & ((thread + block) % 2 == 1 if odd else True)
        for warp in range(3):
            lanes = slice(32 * warp, 32 * warp + 32)
            sectors += plainly(source[lanes].tolist(), target[lanes].tolist(), active[lanes].tolist())
            requests += bool(active[lanes].any())
    assert (counters["global_load_requests"], counters["global_load_sectors"]) == (requests, sectors)
