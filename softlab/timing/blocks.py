"""When the blocks of one SM start.

The GPU starts one block per ``block_interval`` cycles, SM after SM, until all SMs are full. Later a block starts
``block_turnaround`` cycles after another one has left its place, and the second wave of an SM that holds several
blocks later than that (``second_wave``), but no sooner than an interval after the last one. The simulated SM is the
last one of each round.
"""

from __future__ import annotations

from dataclasses import dataclass

from softlab.timing.parameters import Parameters


@dataclass(frozen=True)
class BlockClock:
    """The starts: ``resident`` blocks at once of ``threads`` on each of ``active`` SMs."""

    parameters: Parameters
    resident: int
    active: int
    threads: int = 1024

    @property
    def interval(self) -> float:
        """Cycles between the starts of two blocks of this SM at least."""
        return self.parameters.block_interval(self.threads) * self.active

    def first(self, blocks: int) -> list[float]:
        """The starts of the blocks that find an empty SM, of all ``blocks``."""
        interval = self.interval
        return [interval * (turn + 1) for turn in range(min(self.resident, blocks))]

    def turnarounds(self, blocks: int) -> list[float]:
        """By block: cycles from the end of the one whose place it takes to its own start."""
        usual = self.parameters.block_turnaround(self.threads)
        second = usual + self.parameters.second_wave
        return [second if 1 < self.resident <= block < 2 * self.resident else usual for block in range(blocks)]
