"""What each warp of the simulated SM did, cycle by cycle: an optional record of a simulation.

A journal has one entry per stretch of cycles that the simulation gives a reason. What lies between two entries of a
warp is the stall count of its last instruction: the state "wait".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from softlab.timing.stalls import REASONS, WAIT
from softlab.timing.work import BlockWork

#: (number of the warp in the order of starts, state, instruction, first cycle, cycle behind the last)
Entry = tuple[int, int, int, float, float]
#: Entries that a journal takes: some ten megabytes.
MOST = 120_000


class Journal(list[Entry]):
    """The entries in the order in which the simulation made them. It stops soon after ``most`` of them."""

    def __init__(self, most: int = MOST):
        super().__init__()
        self.most = most

    @property
    def full(self) -> bool:
        """Whether it takes no more."""
        return len(self) >= self.most


@dataclass(frozen=True)
class Stretch:
    """Cycles ``start`` to ``stop`` of a warp in one ``state`` (Nsight Compute's name), on source line ``line``: the
    line of the instruction that it issues or waits to issue."""

    warp: int
    state: str
    line: int
    start: float
    stop: float


@dataclass(frozen=True)
class SmTimeline:
    """The warps of one simulated SM over its cycles; cycle 0 is the start of the launch.

    ``warp``, ``state``, ``line`` int32 (n,) and ``start``, ``stop`` float64 (n,): the stretches, by warp and then by
    time. ``warp`` counts the warps in the order in which their blocks start; ``state`` is an index into
    :data:`softlab.timing.stalls.REASONS`; ``line`` as in :class:`Stretch`. ``blocks``: for each warp the linear index
    of its block in the grid. ``cycles``: the end of the last stretch. ``complete``: False if the simulation went on
    after the record was full.
    """

    warp: np.ndarray
    state: np.ndarray
    line: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    blocks: tuple[int, ...]
    cycles: float
    complete: bool

    @classmethod
    def of(cls, journal: Journal, order: Sequence[BlockWork], lines: Sequence[int]) -> SmTimeline:
        """From the journal of a simulation of the blocks ``order``; ``lines``: source line of each instruction."""
        rows = np.array(journal, float).reshape(-1, 5)
        rows = rows[np.lexsort((rows[:, 3], rows[:, 0]))]
        warp, start, stop = rows[:, 0].astype(np.int32), rows[:, 3], rows[:, 4]
        gaps = np.flatnonzero((warp[1:] == warp[:-1]) & (start[1:] > stop[:-1]))
        between = rows[gaps + 1].copy()
        between[:, 1], between[:, 3], between[:, 4] = WAIT, stop[gaps], start[gaps + 1]
        rows = np.concatenate((rows, between))
        rows = rows[np.lexsort((rows[:, 3], rows[:, 0]))]
        started = int(rows[:, 0].max()) + 1 if len(rows) else 0
        blocks = tuple(work.block for work in order for _ in work.barriers)[:started]
        return cls(
            rows[:, 0].astype(np.int32), rows[:, 1].astype(np.int32),
            np.array(lines, np.int32)[rows[:, 2].astype(np.int64)], rows[:, 3], rows[:, 4], blocks,
            float(rows[:, 4].max(initial=0.0)), not journal.full,
        )  # fmt: skip

    def __repr__(self) -> str:
        end = "" if self.complete else ", not to the end"
        return f"SmTimeline({len(self.blocks)} warps, {len(set(self.blocks))} blocks, {self.cycles:.0f} cycles{end})"

    @property
    def warps(self) -> int:
        """Warps that have started."""
        return len(self.blocks)

    def stretches(self, warp: int) -> Iterator[Stretch]:
        """What one warp did, in order."""
        low, high = np.searchsorted(self.warp, (warp, warp + 1))
        columns = (one[low:high].tolist() for one in (self.state, self.line, self.start, self.stop))
        for state, line, start, stop in zip(*columns, strict=True):
            yield Stretch(warp, REASONS[state], line, start, stop)

    def cycles_by_state(self) -> dict[str, float]:
        """Nsight Compute's name of a warp state -> cycles of all warps in it, largest first."""
        sums = np.bincount(self.state, self.stop - self.start, len(REASONS))
        return {REASONS[k]: float(sums[k]) for k in np.argsort(-sums, kind="stable") if sums[k]}
