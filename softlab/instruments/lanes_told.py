"""Until when what a lane did comes before what its warp tells others by fences, flags and mbarriers.

What a warp knows and tells is kept for the warp as a whole (:mod:`softlab.instruments.happens_before`). A lane that
tells for its warp tells what it did itself, and what the others did before they synchronised with anybody last, or made
a fence of their own.
"""

from __future__ import annotations

import numpy as np

from softlab.emulator.lanes import WARP
from softlab.instruments import node_layout as layout


class LanesTold:
    """The lanes of one batch. The arrays are segments of an arena, or of the head of one, which compiled code reads.

    ``of_warps`` (warps,): until when what all lanes of a warp did comes before what it tells; ``of_lanes`` (lanes,):
    the same of one lane; ``has_read`` (warps,): the same of what a warp has read. ``of_whole`` (warps,): as if all
    lanes of a warp had this time in ``of_lanes``.
    """

    def __init__(self, warps: int) -> None:
        few = layout.LATEST_TOLD * warps
        lanes = {layout.WARP_TELLS: warps, layout.WARP_HAS_READ: warps, layout.LANE_TELLS: WARP * warps}
        lanes[layout.WHOLE_TELLS] = warps
        #: The segments and their items.
        self.sizes = lanes | {layout.TOLD_AT: few, layout.TOLD_UNTIL: few}

    def look_at(self, s: np.ndarray) -> None:
        """The arena that has the segments from now on."""
        self._s = s
        views = (s[int(s[segment]) : int(s[segment]) + items] for segment, items in self.sizes.items())
        self.of_warps, self.has_read, self.of_lanes, self.of_whole, self._told_at, self._told_until = views

    def tell(self, warps: np.ndarray, now: int) -> None:
        """Some lanes of different warps tell what they did."""
        at = warps * layout.LATEST_TOLD + now % layout.LATEST_TOLD
        self._told_at[at] = now
        self._told_until[at] = self.of_warps[warps]
        self._s[layout.LAST_TOLD] = now

    def meet(self, now: int) -> None:
        """All lanes of warps synchronise now: who knows them until now need not have it from some lanes."""
        if self._s[layout.LAST_TOLD] == now:
            of_now = self._told_at[now % layout.LATEST_TOLD :: layout.LATEST_TOLD]
            of_now[of_now == now] = 0

    def tells(self, time: np.ndarray, lane: np.ndarray, until: np.ndarray, reads: bool) -> np.ndarray:
        """Whether what lanes did at a time, or read, comes before what their warps told those who know them until."""
        warps = lane // WARP
        at = warps * layout.LATEST_TOLD + until % layout.LATEST_TOLD
        whole = np.where(self._told_at[at] == until, self._told_until[at], self.of_warps[warps])
        told = (time < whole) | (time < self.of_lanes[lane]) | (time < self.of_whole[warps])
        return np.asarray(told | (time < self.has_read[warps]) if reads else told)
