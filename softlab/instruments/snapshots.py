"""Snapshots of a block's timeline: the state of each warp at a clock, and how long warps wait at barriers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from softlab.instruments.timeline import Timeline

State = Literal["issues", "waits", "done"]


@dataclass(frozen=True)
class WarpState:
    """The state of ``warp``: it issues an instruction, waits at a barrier for others, or is done.

    kind: one of ``instruments.timeline.KINDS`` if the warp issues, else ""; line: of the instruction or the barrier in
    the kernel's source (0: unknown); text: the PTX instruction that it issues, else ""; lanes: how many take part.
    """

    warp: int
    state: State
    kind: str = ""
    line: int = 0
    text: str = ""
    lanes: int = 0


@dataclass(frozen=True)
class IssueLog:
    """Every counted instruction of a timeline, one row each, ordered by warp and clock.

    warp, clock, instruction (an index into the timeline's texts), lanes: (n,) int64; start: (warps + 1,), the first row
    of each warp.
    """

    timeline: Timeline
    warp: np.ndarray
    clock: np.ndarray
    instruction: np.ndarray
    lanes: np.ndarray
    start: np.ndarray

    @classmethod
    def of(cls, timeline: Timeline) -> IssueLog:
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

    def at(self, clock: int) -> tuple[WarpState, ...]:
        """The state of each warp at a clock."""
        return tuple(self._state(warp, clock) for warp in range(self.timeline.warps))

    def _state(self, warp: int, clock: int) -> WarpState:
        line = self.timeline
        for stop in line.passes:
            if warp in stop.warps and stop.arrived[stop.warps.index(warp)] <= clock < stop.at:
                return WarpState(warp, "waits", line=stop.line)
        mine = slice(self.start[warp], self.start[warp + 1])
        position = int(np.searchsorted(self.clock[mine], clock))
        if position == self.start[warp + 1] - self.start[warp]:
            return WarpState(warp, "done")
        row = int(self.start[warp]) + position
        index = int(self.instruction[row])
        return WarpState(warp, "issues", line.kinds[index], line.lines[index], line.text[index], int(self.lanes[row]))


@dataclass(frozen=True)
class BarrierWaits:
    """How much the warps of a block wait.

    ``issued``: instructions of all its warps; ``waited``: how many more they could have issued while they waited at
    barriers; ``length``: the clock at the end; ``passes``: barriers that the block passed.
    """

    issued: int
    waited: int
    length: int
    passes: int

    @property
    def share(self) -> float:
        """BarrierWaits, of waiting and issuing together."""
        return self.waited / max(1, self.waited + self.issued)


def barrier_waits(timeline: Timeline) -> BarrierWaits:
    """How much the warps of a block wait for each other, in instructions: the emulator knows no time."""
    issued = int(timeline.counts().sum())
    waited = sum(sum(stop.waited) for stop in timeline.passes)
    return BarrierWaits(issued, waited, timeline.length, len(timeline.passes))


def group_warps(states: Sequence[WarpState]) -> tuple[tuple[tuple[int, ...], WarpState], ...]:
    """Warps in the same state: (their numbers, the state of the first), ordered by the first warp of each group."""
    groups: dict[tuple[object, ...], list[WarpState]] = {}
    for state in states:
        groups.setdefault((state.state, state.kind, state.line, state.text, state.lanes), []).append(state)
    return tuple((tuple(state.warp for state in group), group[0]) for group in groups.values())
