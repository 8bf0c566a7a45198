"""Threads that go around a place at which others wait for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softlab.emulator.compiler import Program
from softlab.emulator.flow import Block
from softlab.emulator.lanes import Lanes


@dataclass
class _Place:
    """``behind``: blocks that can run after it; ``group``: how many threads wait for each other (a warp's, a block's);
    ``waiting``, ``past``, ``beyond``: (blocks, threads) bool, who waits, who ran code behind it meanwhile, and who of
    them ran code further down, so that it was not on the way there.
    """

    behind: frozenset[int]
    group: int
    waiting: np.ndarray
    past: np.ndarray
    beyond: np.ndarray


class Detours:
    """Follows the threads of one batch. Places are instructions.

    A thread that leaves early, by a way of its own to the end, is no detour: exited threads count as arrived. One that
    runs what lies behind the place, while others wait there, is on a detour if it ends without coming back.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._places: dict[int, _Place] = {}
        self._behind: dict[int, frozenset[int]] = {}

    def wait(self, place: int, after: int, lanes: Lanes, group: int) -> None:
        """Lanes wait at a place behind which the block ``after`` comes."""
        mask = lanes.mask
        found = self._places.get(place)
        if found is None:
            nobody = np.zeros_like(mask)
            found = self._places[place] = _Place(self._reachable(after), group, nobody, nobody, nobody)
        found.waiting = found.waiting | mask
        found.past, found.beyond = found.past & ~mask, found.beyond & ~mask

    def passed(self, lanes: Lanes, *places: int) -> None:
        """Lanes go on from these places, together with all that they waited for."""
        for place in places:
            found = self._places.get(place)
            if found is not None:
                mask = lanes.mask
                found.waiting, found.past = found.waiting & ~mask, found.past & ~mask
                found.beyond = found.beyond & ~mask
                if not found.waiting.any():
                    del self._places[place]

    def run(self, block: Block, lanes: Lanes) -> None:
        """Lanes run a block."""
        if not self._places or (block.end == "exit" and block.stop - block.start == 1):
            return
        for place, found in self._places.items():
            if block.index in found.behind:
                shape = (lanes.blocks, -1, found.group)
                waited_for = found.waiting.reshape(shape).any(axis=2, keepdims=True)
                beside = lanes.mask.reshape(shape) & waited_for & ~found.waiting.reshape(shape)
                found.past = found.past | beside.reshape(found.past.shape)
                if block.start > place:
                    found.beyond = found.beyond | beside.reshape(found.past.shape)

    def gone(self, lanes: Lanes) -> tuple[int, np.ndarray] | None:
        """Of lanes that end: (place, who) of a detour."""
        for place, found in self._places.items():
            who = found.past & lanes.mask
            if who.any():
                return place, who
        return None

    def around(self, row: int, column: int, group: int) -> tuple[int, np.ndarray] | None:
        """(place, who) of a detour that this thread is on; ``group`` is how many wait for each other there."""
        for place, found in self._places.items():
            if found.group == group and found.beyond[row, column]:
                return place, found.beyond
        return None

    def _reachable(self, start: int) -> frozenset[int]:
        """The blocks that can run once that one does, it included."""
        if start not in self._behind:
            blocks, instructions = self._program.blocks, self._program.image.instructions
            found: set[int] = set()
            todo = [start]
            while todo:
                index = todo.pop()
                if index in found or index >= len(blocks):
                    continue
                found.add(index)
                block = blocks[index]
                todo += block.targets
                if block.end in ("fall", "barrier") or instructions[block.stop - 1].guard is not None:
                    todo.append(index + 1)
            self._behind[start] = frozenset(found)
        return self._behind[start]
