"""When groups of lanes synchronised last, beside a model that keeps each group."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.lanes import WARP
from softlab.instruments.warp_syncs import WarpSyncs

ROWS, WARPS = 3, 3


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rows", [1, ROWS])
def test_threads_that_have_synchronised_since_a_time(seed: int, rows: int) -> None:
    """One row stands for all blocks. A grouping that comes again has its last time."""
    random, syncs = np.random.default_rng(seed), WarpSyncs()
    assert not syncs
    shape = rows, WARPS, WARP
    groupings = [random.integers(1, 1 << 32, shape, np.uint32) * (random.random(shape) < 0.4)
                 for _ in range(4)]  # fmt: skip
    last = np.zeros((ROWS, WARPS * WARP), np.int64)
    for time in range(1, 9):
        masks = groupings[random.integers(4)].astype(np.uint32)
        assert syncs.record(masks, time)
        for row in range(ROWS):
            last[row, masks[min(row, rows - 1)].reshape(-1) != 0] = time
    assert syncs
    row, thread = np.arange(ROWS)[:, None, None], np.arange(WARPS * WARP)[None, :, None]
    found = syncs.since(row, thread, np.arange(9)[None, None])
    np.testing.assert_array_equal(found, last[:, :, None] > np.arange(9))
    syncs.clear()
    assert not syncs
    assert not syncs.since(row, thread, np.zeros((1, 1, 1), np.int64)).any()


def test_only_so_many_groupings_are_kept() -> None:
    """32 of them; one that is known may come again."""
    syncs = WarpSyncs()
    masks = [np.full((1, 1, WARP), number + 1, np.uint32) for number in range(33)]
    assert [syncs.record(one, 5) for one in masks] == [True] * 32 + [False]
    assert syncs.record(masks[0], 6)
