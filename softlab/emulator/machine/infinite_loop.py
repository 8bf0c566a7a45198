"""Proves that a loop never ends: the machine is in a state that it was in before."""

from __future__ import annotations

import numpy as np

from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.machine.schedule import Schedule

#: Steps before the first state is kept: loops that end soon cost one comparison of integers per step.
_FIRST_LOOK = 1024
#: The same after a loop was found: a lane that waits for a lock waits again.
_NEXT_LOOK = 16


class LoopDetector:
    """Brent's algorithm for finding a cycle: keep one state, compare each later state with it, and keep a new one each
    time the number of steps doubles.

    A state is the block to run next with its lanes, the blocks that all other lanes are at, the registers, and that
    nothing in memory has changed since. R. P. Brent, An improved Monte Carlo factorization algorithm, BIT 20 (1980).
    """

    def __init__(self, registers: list[Value]) -> None:
        self._registers = registers
        self._step = 0
        self._span = _FIRST_LOOK
        self._look = _FIRST_LOOK
        self._index = -1
        self._lanes: Lanes | None = None
        self._others: tuple = ()
        self._writes = 0
        self._state: list[Value] = []

    def proven(self, index: int, lanes: Lanes, schedule: Schedule, writes: int) -> bool:
        """Call it before each step: whether these lanes are at the same block as before, and nothing else has changed.

        ``writes`` is a number that grows with every change in memory.
        """
        self._step += 1
        if index == self._index and writes == self._writes and self._same(lanes, schedule):
            self._index = -1
            self._span = _NEXT_LOOK
            self._look = self._step + self._span
            return True
        if self._step >= self._look:
            self._span *= 2
            self._look = self._step + self._span
            self._index, self._lanes, self._others, self._writes = index, lanes, schedule.others(), writes
            self._state = list(self._registers)
        return False

    def _same(self, lanes: Lanes, schedule: Schedule) -> bool:
        assert self._lanes is not None
        if lanes is not self._lanes and (lanes.count != self._lanes.count or (lanes.mask != self._lanes.mask).any()):
            return False
        others = schedule.others()
        if len(others) != len(self._others) or any(a is not b for a, b in zip(others, self._others, strict=True)):
            return False
        return all(
            now is then or (np.shape(now) == np.shape(then) and bool(np.all(now == then)))
            for now, then in zip(self._registers, self._state, strict=True)
        )
