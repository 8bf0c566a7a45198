"""The rule of ``cp.async.cg`` against the same rule one lane at a time."""

from __future__ import annotations

import numpy as np

from softlab.instruments.cp_async_sectors import cp_async_sectors


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
