"""When the blocks of one SM start.

The GPU starts one block per ``block_interval`` cycles, SM after SM, until all SMs are full. Later a block starts
``block_turnaround`` cycles after another one has left its place, and the second wave of an SM that holds several
blocks later than that (``second_wave``). The simulated SM is the last one of each round.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from softlab.timing.parameters import Parameters


@dataclass
class BlockClock:
    """The starts: ``resident`` blocks at once of ``threads`` on each of ``active`` SMs."""

    parameters: Parameters
    resident: int
    active: int
    threads: int = 1024
    _latest: float = field(default=0.0)
    _started: int = field(default=0)

    def first(self, blocks: int) -> list[float]:
        """The starts of the blocks that find an empty SM."""
        interval = self.parameters.block_interval(self.threads) * self.active
        starts = [interval * (turn + 1) for turn in range(min(self.resident, blocks))]
        self._latest, self._started = starts[-1] if starts else 0.0, len(starts)
        return starts

    def following(self, ended: float) -> float:
        """The start of the block that takes the place of one that has ended."""
        interval = self.parameters.block_interval(self.threads) * self.active
        turnaround = self.parameters.block_turnaround(self.threads)
        if 1 < self.resident <= self._started < 2 * self.resident:
            turnaround += self.parameters.second_wave
        self._started += 1
        self._latest = max(ended + turnaround, self._latest + interval)
        return self._latest
