"""How many iterations of a loop each lane runs, as the stages of an unrolled loop need it.

The assembler unrolls a loop in stages: 4 iterations at once as long as there are 4, then 2, then 1. A warp runs a stage
as long as one of its lanes needs it, so what it issues follows from the iterations of its lanes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from softlab.emulator.lanes import WARP, Box, Lanes

#: Different sets of lanes kept of one execution of a loop before they are added up.
_KEPT = 64
#: Iterations of lanes whose answers are kept, and lanes of one of them at most.
_MOST_KNOWN, _MOST_LANES = 256, 1024


@dataclass(frozen=True)
class Loop:
    """A loop of the PTX: the blocks before it (``entries``) and a block that runs once in each iteration (``body``)."""

    entries: tuple[int, ...]
    body: int


@dataclass(frozen=True)
class Stage:
    """What is asked about a stage of ``size`` iterations that runs after one of ``before`` iterations (0: the first).

    ``question``: "again" (how often a warp repeats the stage), "leaves" (how often lanes of a warp leave it), "enters"
    (warps with a lane that runs it), "skips" (warps with a lane that does not).
    """

    loop: Loop
    question: str
    size: int
    before: int = 0


class TripCounter:
    """Counts the iterations of one loop and answers the questions that are asked about it."""

    def __init__(
        self, loop: Loop, stages: Iterable[Stage], known: dict[tuple[Loop, bytes], tuple[int, ...]] | None = None
    ) -> None:
        """``known``: what the stages of a loop answer for iterations of lanes that came before; more is put there."""
        self.loop = loop
        self.answers = dict.fromkeys(stages, 0)
        self._known = {} if known is None else known
        self._iterations: dict[int, tuple[Lanes, int]] = {}
        self._total: np.ndarray | None = None
        self._blocks = 1

    def iteration(self, lanes: Lanes) -> None:
        """These lanes run an iteration."""
        _, times = self._iterations.get(id(lanes), (lanes, 0))
        self._iterations[id(lanes)] = (lanes, times + 1)
        if len(self._iterations) > _KEPT:
            self._add_up()

    def settle(self) -> None:
        """Answer for the execution of the loop that is over. Call it before the next one, and at the end."""
        self._add_up()
        total, self._total = self._total, None
        if total is None:
            return
        times = self._blocks // len(total)
        for stage, answer in zip(self.answers, self._of_all(total), strict=True):
            self.answers[stage] += answer * times

    def _of_all(self, total: np.ndarray) -> tuple[int, ...]:
        """What each stage answers for the iterations of lanes, (rows, threads)."""
        key = self.loop, total.tobytes() if total.size <= _MOST_LANES else b""
        found = self._known.get(key)
        if found is None:
            trips = total.reshape(-1, WARP)
            trips, weights = _distinct(trips[trips.any(axis=1)])
            found = tuple(int((_answer(stage, trips) * weights).sum()) for stage in self.answers)
            if key[1]:
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                self._known[key] = found
        return found

    def _add_up(self) -> None:
        for lanes, times in self._iterations.values():
            alike = isinstance(lanes, Box) and lanes.rows is None  # one row stands for all blocks
            part = (lanes.warp_mask.reshape(1, -1) if alike else lanes.mask).astype(np.int64) * times
            self._blocks = lanes.blocks
            self._total = part if self._total is None else self._total + part
        self._iterations = {}


def _distinct(trips: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different rows of (warps, 32) int64, and how often each is there. As bytes they need no sorting."""
    count = Counter(trips.view(f"V{trips.itemsize * WARP}").reshape(-1).tolist())
    rows = np.frombuffer(b"".join(count), trips.dtype).reshape(-1, WARP)
    return rows, np.fromiter(count.values(), np.int64, len(count))


def _answer(stage: Stage, trips: np.ndarray) -> np.ndarray:
    """(warps,): for each warp of ``trips`` (warps, 32), the iterations of its lanes; 0 for a lane outside the loop."""
    inside = trips > 0
    rounds = trips // stage.size
    if stage.question == "again":
        return np.maximum(rounds.max(axis=1) - 1, 0)
    if stage.question == "leaves":
        ordered = np.sort(rounds, axis=1)
        return (np.diff(ordered, axis=1) != 0).sum(axis=1) + (ordered[:, 0] > 0)
    left = trips % stage.before if stage.before else trips
    runs = left >= stage.size
    return np.any(inside & (runs if stage.question == "enters" else ~runs), axis=1)
