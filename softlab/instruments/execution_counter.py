"""Counts executed machine instructions while the PTX runs, as :mod:`softlab.instruments.executions` says."""

from __future__ import annotations

from collections.abc import Mapping, Set

import numpy as np

from softlab.emulator.lanes import Lanes
from softlab.instruments.executions import Edge, Executions, Runs, Source, Turns
from softlab.instruments.trips import Stage, TripCounter


class ExecutionCounter:
    """Values of the sources of one kernel's :class:`Executions` in one run."""

    def __init__(self, executions: Executions) -> None:
        self._executions = executions
        self._edges = {(s.block, s.target): 0 for s in executions.sources if isinstance(s, Edge)}
        self._turns = {s.instruction: 0 for s in executions.sources if isinstance(s, Turns)}
        self._trips = {loop: TripCounter(loop, stages, executions.answers) for loop, stages in executions.loops.items()}
        self._watched: dict[int, list[TripCounter]] = {}
        for loop, trips in self._trips.items():
            for block in {*loop.entries, loop.body}:
                self._watched.setdefault(block, []).append(trips)

    @property
    def rare(self) -> tuple[int, ...]:
        """The instructions of the PTX whose code for rare operands is not counted."""
        return self._executions.rare

    def batch(self) -> None:
        """Another batch of blocks begins."""
        for trips in self._trips.values():
            trips.settle()

    def block(self, index: int, lanes: Lanes) -> None:
        """These lanes run a block of the PTX."""
        for trips in self._watched.get(index, ()):
            if index == trips.loop.body:
                trips.iteration(lanes)
            else:
                trips.settle()

    def edge(self, block: int, target: int, lanes: Lanes) -> None:
        """These lanes go from one block of the PTX to another."""
        if (block, target) in self._edges:
            self._edges[block, target] += lanes.warps

    def watches(self, blocks: Set[int]) -> bool:
        """Whether the order matters in which these blocks run."""
        return not blocks.isdisjoint(self._watched)

    def edges(self, warps: Mapping[tuple[int, int], int]) -> None:
        """These numbers of warps have gone from one block of the PTX to another."""
        for edge in warps.keys() & self._edges.keys():
            self._edges[edge] += warps[edge]

    def turns(self, instruction: int, more: int) -> None:
        """The number of turns that the warps of an atomic needed beyond their first."""
        if instruction in self._turns:
            self._turns[instruction] += more

    def result(self, warps: Mapping[int, int]) -> tuple[dict[str, np.ndarray], int]:
        """(counter -> its value for each instruction of the PTX, instructions that are estimated).

        ``warps``: block of the PTX -> how many warps ran it.
        """
        self.batch()
        values = np.array([self._value(source, warps) for source in self._executions.sources], np.int64)
        counts = {name: sums.total(values) for name, sums in self._executions.sums.items()}
        return counts, int(self._executions.estimated @ values)

    def _value(self, source: Source, warps: Mapping[int, int]) -> int:
        if isinstance(source, Runs):
            return warps.get(source.block, 0)
        if isinstance(source, Edge):
            return self._edges[source.block, source.target]
        if isinstance(source, Stage):
            return self._trips[source.loop].answers[source]
        return self._turns[source.instruction]
