"""What lanes tell for their warp, beside a list of all that has happened."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.lanes import WARP
from softlab.instruments import node_layout as layout
from softlab.instruments.lanes_told import LanesTold

WARPS = 3


def lanes_told() -> LanesTold:
    told = LanesTold(WARPS)
    s = np.zeros(layout.HEAD + sum(told.sizes.values()), np.int64)
    s[list(told.sizes)] = layout.HEAD + np.cumsum([0, *told.sizes.values()])[:-1]
    told.look_at(s)
    return told


class History:
    """(time, warp, lanes that told) and (time, warp) of each meeting of all lanes; until when warps have read."""

    def __init__(self) -> None:
        self.told: list[tuple[int, int, list[int]]] = []
        self.met: list[tuple[int, int]] = []
        self.read = [0] * WARPS

    def whole(self, warp: int, until: int) -> int:
        """Until when what all lanes did counts, for who knows the warp until a time.

        That is when they met last before that; or at all, where it is forgotten: behind ``LATEST_TOLD`` moments
        another one takes its place, and a meeting at its own moment makes it needless.
        """
        here = [
            time for time, of, _ in self.told if of == warp and time % layout.LATEST_TOLD == until % layout.LATEST_TOLD
        ]
        kept = bool(here) and here[-1] == until and (until not in [time for time, _ in self.met])
        return max([time for time, of in self.met if of == warp and (time < until or not kept)], default=0)

    def tells(self, time: int, lane: int, until: int, reads: bool) -> bool:
        warp = lane // WARP
        own = max((at for at, of, lanes in self.told if of == warp and lane in lanes), default=0)
        return time < self.whole(warp, until) or time < own or (reads and time < self.read[warp])


@pytest.mark.parametrize("seed", range(4))
def test_what_counts_of_a_lane_that_others_tell_for(seed: int) -> None:
    random, told, history, now = np.random.default_rng(seed), lanes_told(), History(), 1
    for _ in range(60):
        now += int(random.integers(1, 4))
        warps = np.flatnonzero(random.random(WARPS) < 0.6)
        warps = warps if len(warps) else np.arange(1)
        kind = random.choice(["tell", "meet", "read", "tell and meet"], p=[0.55, 0.2, 0.1, 0.15])
        if "tell" in kind:
            lanes = {warp: warp * WARP + np.flatnonzero(random.random(WARP) < 0.3) for warp in warps.tolist()}
            if random.random() < 0.3:  # all lanes of the warps
                lanes = {warp: warp * WARP + np.arange(WARP) for warp in lanes}
                told.of_whole[warps] = now
            else:
                told.of_lanes[[lane for of in lanes.values() for lane in of.tolist()]] = now
            told.tell(warps, now)
            history.told += [(now, warp, of.tolist()) for warp, of in lanes.items()]
        if "meet" in kind:
            told.of_warps[warps] = now
            told.meet(now)
            history.met += [(now, warp) for warp in warps.tolist()]
        if kind == "read":
            told.has_read[warps] = now
            for warp in warps.tolist():
                history.read[warp] = now
        lane = random.integers(0, WARPS * WARP, 40)
        time, until = random.integers(1, now + 1, (2, 40))
        for reads in (False, True):
            asked = zip(time.tolist(), lane.tolist(), until.tolist(), strict=True)
            expected = [history.tells(*one, reads) for one in asked]
            assert told.tells(time, lane, until, reads).tolist() == expected
