"""What warps know of the blocks of their cluster, beside a model that goes lane by lane."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.lanes import WARP
from softlab.instruments.blocks_heard import BlocksHeard

SIZE, CLUSTERS, WARPS, WORDS, LANES = 3, 3, 3, 5, 5
ROWS = SIZE * CLUSTERS


class Model:
    """``heard[row, warp][rank]`` and ``told[row, word][rank]``, times."""

    def __init__(self) -> None:
        self.heard = {(row, warp): [0] * SIZE for row in range(ROWS) for warp in range(WARPS)}
        self.told: dict[tuple[int, int], list[int]] = {}

    def release(self, owner: int, word: int, row: int, thread: int, time: int) -> None:
        """A thread tells a word all that it knows, and what it did itself."""
        told = self.told.setdefault((owner, word), [0] * SIZE)
        for rank, known in enumerate(self.heard[row, thread // WARP]):
            own = time if row % SIZE == rank else 0
            told[rank] = max(told[rank], known, own)

    def learn(self, row: int, warp: int, times: list[int]) -> None:
        """A warp learns what comes before these times."""
        self.heard[row, warp] = list(map(max, self.heard[row, warp], times))


@pytest.mark.parametrize("seed", range(20))
def test_warps_learn_what_was_told(seed: int) -> None:
    random = np.random.default_rng(seed)
    heard, model = BlocksHeard(ROWS, WARPS, SIZE), Model()
    for now in range(1, 60):
        row, owner = random.integers(0, ROWS, (2, LANES))
        word, thread = random.integers(0, WORDS, LANES), random.integers(0, WARPS * WARP, LANES)
        times = random.integers(1, now + 1, LANES)
        match random.integers(0, 10):
            case 0:
                mask, until = random.random((ROWS, WARPS * WARP)) < 0.02, random.integers(0, now, ROWS)
                heard.hear_all(mask, until)
                for at, lane in zip(*np.nonzero(mask), strict=True):
                    model.learn(int(at), int(lane) // WARP, [int(until[at])] * SIZE)
            case 1:
                warps = random.random(WARPS) < 0.7
                waiting = warps & (random.random(WARPS) < 0.7)
                if warps.any():
                    heard.meet(int(row[0]), warps, waiting)
                    known = [model.heard[int(row[0]), int(warp)] for warp in np.flatnonzero(warps)]
                    together = [max(of_rank) for of_rank in zip(*known, strict=True)]
                    for warp in np.flatnonzero(waiting):
                        model.learn(int(row[0]), int(warp), together)
            case 2 | 3 | 4 | 5:
                heard.release(owner, word, row, thread, times)
                for lane in zip(*(a.tolist() for a in (owner, word, row, thread, times)), strict=True):
                    model.release(*lane)
            case _:
                heard.acquire(owner, word, row, thread)
                for o, w, r, t in zip(*(a.tolist() for a in (owner, word, row, thread)), strict=True):
                    model.learn(r, t // WARP, model.told.get((o, w), [0] * SIZE))
        asked = np.stack((row, thread, random.integers(0, ROWS, LANES)))
        known = [model.heard[r, t // WARP][other % SIZE] for r, t, other in asked.T.tolist()]
        assert heard.of(*asked).tolist() == known
    assert heard.heard.tolist() == [[model.heard[row, warp] for warp in range(WARPS)] for row in range(ROWS)]
