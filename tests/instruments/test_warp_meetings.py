"""What warps know of each other by named barriers, beside a slow loop over the warps."""

from __future__ import annotations

import random

import numpy as np
import pytest

from softlab.instruments.warp_meetings import WarpMeetings


@pytest.mark.parametrize("seed", range(20))
def test_random_meetings(seed: int) -> None:
    draw = random.Random(seed)
    rows, warps = draw.randrange(1, 4), draw.randrange(2, 6)
    meetings = WarpMeetings(rows, warps)
    knows = {(row, one, other): 0 for row in range(rows) for one in range(warps) for other in range(warps)}
    told: dict[tuple[int, int, int], list[int]] = {}
    for time in range(1, 40):
        barrier, row = draw.randrange(3), draw.randrange(rows)
        chosen = sorted(draw.sample(range(warps), draw.randrange(1, warps + 1)))
        if draw.random() < 0.4:
            here = np.zeros((rows, warps), bool)
            here[row, chosen] = True
            meetings.arrive(barrier, here, time)
            for warp in chosen:
                told[barrier, row, warp] = [time if w == warp else knows[row, warp, w] for w in range(warps)]
            continue
        arrived = [warp for warp in range(warps) if (barrier, row, warp) in told and warp not in chosen]
        early = arrived[: draw.randrange(len(arrived) + 1)]
        meetings.meet(row, np.array(sorted([*chosen, *early])), np.array(chosen), time, barrier if early else None)
        lists = [[time if w == warp else knows[row, warp, w] for w in range(warps)] for warp in chosen]
        lists += [told[barrier, row, warp] for warp in early]
        for warp in chosen:
            knows.update({(row, warp, w): max(known[w] for known in lists) for w in range(warps)})
        wanted = np.array(list(knows.values())).reshape(rows, warps, warps)
        assert np.array_equal(meetings.known, wanted)


def test_one_block_may_stand_for_all() -> None:
    meetings = WarpMeetings(1, 3)
    meetings.meet(0, np.array([0, 2]), np.array([0, 2]), 7, None)
    meetings.repeat(3)
    meetings.meet(1, np.array([0, 1]), np.array([0, 1]), 9, None)
    before = [[7, 0, 7], [0, 0, 0], [7, 0, 7]]
    assert meetings.known.tolist() == [before, [[9, 9, 7], [9, 9, 7], [7, 0, 7]], before]
