"""Who came to a warp-wide operation with another mask, and has ended: the parts, without a kernel."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import WARP, Lanes, lanes_of
from softlab.emulator.machine.other_masks import OtherMasks, _lanes_in, _named

BLOCKS, THREADS = 2, 96


def some(random: np.random.Generator, share: float = 0.5) -> Lanes:
    mask = random.random((BLOCKS, THREADS)) < share
    mask[random.integers(BLOCKS), random.integers(THREADS)] = True
    return lanes_of(mask)


class Host:
    """Names lanes by a table (blocks, threads), and keeps what it is told."""

    def __init__(self, named: np.ndarray) -> None:
        self.named = named
        self.told: list[list[tuple[int, int]]] = []

    def named_lanes(self, block: Any, lanes: Lanes) -> np.ndarray:
        return self.named[lanes.mask] if lanes.extent != (BLOCKS, THREADS) else self.named

    def same_operation(self, block: Any, other: Any) -> bool:
        return block.index != 9

    def other_mask(self, block: Any, lanes: Lanes) -> None:
        self.told.append([(int(row), int(column)) for row, column in np.argwhere(lanes.mask)])


@pytest.mark.parametrize("seed", range(3))
def test_the_lanes_of_masks(seed: int) -> None:
    masks = np.random.default_rng(seed).integers(0, 2**32, (BLOCKS, THREADS // WARP, 1), dtype=np.uint32)
    masks[0, 0], masks[1, 1] = 0, 0xFFFFFFFF
    found = _lanes_in(masks)
    assert found.shape == (BLOCKS, THREADS)
    for row in range(BLOCKS):
        for thread in range(THREADS):
            assert found[row, thread] == bool(int(masks[row, thread // WARP, 0]) >> thread % WARP & 1)


@pytest.mark.parametrize("seed", range(12))
def test_who_named_a_lane_that_came_otherwise_and_ended(seed: int) -> None:
    random = np.random.default_rng(seed)
    blocks: list[Any] = [SimpleNamespace(index=index) for index in range(10)]
    masks, came = OtherMasks(blocks), np.zeros((BLOCKS, THREADS), bool)
    host = Host(random.integers(0, 2**32, (BLOCKS, THREADS), dtype=np.uint32) | np.uint32(1 << 3))
    waiting = some(random)
    for step in range(3):
        lanes, block = some(random, 0.2), blocks[int(random.choice([2, 5, 9])) if step else 5]
        masks.note(block, lanes, {2: waiting}, host)
        if block.index == 9:
            continue
        for row, thread in np.argwhere(lanes.mask):
            mates = [mate for mate in range(thread // WARP * WARP, thread // WARP * WARP + WARP)
                     if waiting.mask[row, mate]]  # fmt: skip
            came[row, thread] |= any(int(host.named[row, mate]) >> int(thread) % WARP & 1 for mate in mates)
    assert (2 in masks) == bool(came.any())
    assert 5 not in masks
    if not came.any():
        return
    live, wrong = some(random), []
    gone = came & ~live.mask
    for row, thread in np.argwhere(waiting.mask):
        first = thread // WARP * WARP
        named = int(host.named[row, thread])
        if named >> int(thread) % WARP & 1 and any(gone[row, first + k] and named >> k & 1 for k in range(WARP)):
            wrong.append((int(row), int(thread)))
    masks.check(blocks[2], waiting, live, host)
    assert host.told == ([wrong] if wrong else [])
    warps = waiting.mask.reshape(BLOCKS, -1, WARP).any(axis=2)
    assert (2 in masks) == bool((came & ~np.repeat(warps, WARP, axis=1)).any())


def test_lanes_of_no_set_name_nobody() -> None:
    lanes = lanes_of(np.arange(THREADS)[None] // 7 % 2 == np.arange(BLOCKS)[:, None])
    named = _named(lanes, np.uint32(0xF0))
    assert named.shape == (BLOCKS, THREADS // WARP, WARP)
    np.testing.assert_array_equal(named.reshape(BLOCKS, THREADS), np.where(lanes.mask, 0xF0, 0))
