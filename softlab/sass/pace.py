"""Turns by time: what has taken the least until now goes on first.

Blocks that wait for each other look at memory until another block has written it. How often they look, and how far the
others have come meanwhile, then depends on how long each instruction takes. The figures here are round ones of an H100
(rows ``latency.L2``, ``latency.ATOMG.ADD``, ``latency.MEMBAR.GPU``, ``latency.LDS`` of its atlas).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from softlab.sass.decode import Instruction
from softlab.sass.lanes import Lanes

#: Cycles of an instruction, and until the result of one that a run waits for is there.
_INSTRUCTION = 5.0
_LATENCIES = {
    **dict.fromkeys(("LDG", "LD"), 280.0), **dict.fromkeys(("ATOMG", "ATOM"), 320.0), "MEMBAR": 690.0,
    **dict.fromkeys(("LDS", "ATOMS", "SHFL", "BAR"), 30.0),
}  # fmt: skip
#: Cycles that the warps take in the mean before they are taken for ones that never end: 50 ms of a GPU.
MOST_CYCLES = 100_000_000
#: Lanes at one instruction that are this close to the first of them execute it together.
_TOGETHER = 100.0


class Pace:
    """``clock``: float64 (warps,), the cycles that each warp has taken."""

    def __init__(self, warps: int) -> None:
        self.clock = np.zeros(warps)

    def choose(self, paths: Mapping[int, Sequence[Lanes]]) -> int:
        """The instruction whose lanes execute next. paths: by instruction, whoever has come last stands last.

        Paths of one warp take turns: with each of them the clock of all goes on.
        """
        least = {pc: min(float(self.clock[lanes.warps].min()) for lanes in paths[pc]) for pc in paths}
        first = min(least, key=least.__getitem__)
        for pc, clock in least.items():
            if pc == first:
                break
            if clock <= least[first] + _TOGETHER and self._share_a_warp(paths[first], paths[pc]):
                return pc
        return first

    def _share_a_warp(self, some: Sequence[Lanes], others: Sequence[Lanes]) -> bool:
        """Whether a warp that would go on with ``some`` is also one of the others."""
        warps = np.concatenate([lanes.warps[self.first(lanes)] for lanes in some])
        return any(np.isin(lanes.warps, warps).any() for lanes in others)

    def first(self, lanes: Lanes) -> np.ndarray:
        """(k,) bool: the warps of a set that go on now; the others are ahead of them."""
        clock = self.clock[lanes.warps]
        return clock <= clock.min() + _TOGETHER

    def take(self, lanes: Lanes, cycles: float) -> None:
        """These lanes have executed a run that takes so long."""
        self.clock[lanes.warps] += cycles

    @property
    def never_ends(self) -> bool:
        """Whether the warps have taken so long that nobody waits for their end."""
        return float(self.clock.mean()) > MOST_CYCLES

    def rouse(self, lanes: Lanes, by: Lanes) -> None:
        """Lanes that slept go on, but not before the lanes that wake them."""
        self.clock[lanes.warps] = np.maximum(self.clock[lanes.warps], self.clock[by.warps].max())

    def meet(self, groups: np.ndarray) -> None:
        """The warps of each row of (n, warps) go on together, when the last one has come."""
        self.clock[groups] = self.clock[groups].max(axis=1, keepdims=True)


def cycles_of(instructions: Sequence[Instruction]) -> float:
    """Cycles of a straight run: its loads are under way together."""
    return _INSTRUCTION * len(instructions) + max(
        (_LATENCIES.get(one.opcode, 0.0) for one in instructions), default=0.0
    )
