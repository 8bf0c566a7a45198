"""What each warp of a block is at, at one moment of its timeline; and how much of a block's time warps wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from softlab.instruments.timeline import Timeline

State = Literal["issues", "waits", "done"]


@dataclass(frozen=True)
class Doing:
    """What ``warp`` is at: it issues an instruction, waits at a barrier for others, or is done.

    kind: of ``instruments.timeline.KINDS`` where it issues, else ""; line: of the instruction or the barrier in the
    kernel's source (0: unknown); text: the PTX instruction where it issues; lanes: how many take part in it.
    """

    warp: int
    state: State
    kind: str = ""
    line: int = 0
    text: str = ""
    lanes: int = 0


@dataclass(frozen=True)
class Issued:
    """Every counted instruction of a timeline, one row each, ordered by warp and clock.

    warp, clock, instruction (an index into the timeline's texts), lanes: (n,) int64; start: (warps + 1,), where each
    warp's rows begin.
    """

    timeline: Timeline
    warp: np.ndarray
    clock: np.ndarray
    instruction: np.ndarray
    lanes: np.ndarray
    start: np.ndarray

    @classmethod
    def of(cls, timeline: Timeline) -> Issued:
        """The instructions of a timeline."""
        counted = np.array([bool(text) for text in timeline.text], bool)
        columns: list[list[np.ndarray]] = [[], [], [], []]
        for row in range(len(timeline.warp)):
            inside = np.arange(timeline.first[row], timeline.last[row])
            inside = inside[counted[inside]]
            here = np.ones(len(inside), np.int64)
            clock = timeline.clock[row] + np.arange(len(inside))
            for column, values in zip(
                columns, (here * timeline.warp[row], clock, inside, here * timeline.lanes[row]), strict=True
            ):
                column.append(values)
        warp, clock, instruction, lanes = (
            np.concatenate(column).astype(np.int64) if column else np.zeros(0, np.int64) for column in columns
        )
        order = np.lexsort((clock, warp))
        warp = warp[order]
        return cls(
            timeline, warp, clock[order], instruction[order], lanes[order],
            np.searchsorted(warp, np.arange(timeline.warps + 1)),
        )  # fmt: skip

    def at(self, clock: int) -> tuple[Doing, ...]:
        """What each warp is at when so many instructions have gone by."""
        return tuple(self._doing(warp, clock) for warp in range(self.timeline.warps))

    def _doing(self, warp: int, clock: int) -> Doing:
        line = self.timeline
        for stop in line.passes:
            if warp in stop.warps and stop.arrived[stop.warps.index(warp)] <= clock < stop.at:
                return Doing(warp, "waits", line=stop.line)
        mine = slice(self.start[warp], self.start[warp + 1])
        place = int(np.searchsorted(self.clock[mine], clock))
        if place == self.start[warp + 1] - self.start[warp]:
            return Doing(warp, "done")
        row = int(self.start[warp]) + place
        index = int(self.instruction[row])
        return Doing(warp, "issues", line.kinds[index], line.lines[index], line.text[index], int(self.lanes[row]))


@dataclass(frozen=True)
class Waiting:
    """Of a block: ``issued``, instructions of all its warps; ``waited``, how many more they could have issued while
    they waited for others at barriers; ``length``: the clock at the end; ``passes``: barriers that it passed."""

    issued: int
    waited: int
    length: int
    passes: int

    @property
    def share(self) -> float:
        """Waiting, of waiting and issuing together."""
        return self.waited / max(1, self.waited + self.issued)


def waiting(timeline: Timeline) -> Waiting:
    """How much the warps of a block wait for each other. (In instructions: the emulator knows no time.)"""
    issued = int(timeline.counts().sum())
    waited = sum(sum(stop.waited) for stop in timeline.passes)
    return Waiting(issued, waited, timeline.length, len(timeline.passes))


def together(doings: Sequence[Doing]) -> tuple[tuple[tuple[int, ...], Doing], ...]:
    """Warps that are at the same thing: (their numbers, the first one's), in the order of the first of each."""
    groups: dict[tuple[object, ...], list[Doing]] = {}
    for doing in doings:
        groups.setdefault((doing.state, doing.kind, doing.line, doing.text, doing.lanes), []).append(doing)
    return tuple((tuple(doing.warp for doing in group), group[0]) for group in groups.values())
