"""Proves that a loop never ends by itself: the machine comes back to a state that it was in before."""

from __future__ import annotations

import numpy as np

from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.schedule import Schedule

#: Steps before the first state is kept: loops that end soon cost one comparison of integers a step.
_FIRST_LOOK = 1024
#: The same after a loop was found: who waits for a lock waits again.
_NEXT_LOOK = 16


class EndlessLoop:
    """Brent's way of finding a cycle: keep one state, compare each later one, keep a new one each time the steps
    double.

    A state is the block to run next and the lanes that do, where all others stand, the registers, and that nothing in
    memory has changed since.
    R. P. Brent, An improved Monte Carlo factorization algorithm, BIT 20 (1980).
    """

    def __init__(self, registers: list[Value]) -> None:
        self._registers = registers
        self._step = 0
        self._span = _FIRST_LOOK
        self._look = _FIRST_LOOK
        self._place = -1
        self._lanes: Lanes | None = None
        self._others: tuple = ()
        self._writes = 0
        self._state: list[Value] = []

    def proven(self, place: int, lanes: Lanes, schedule: Schedule, writes: int) -> bool:
        """Told of each step before it is taken: whether these lanes are where they were before, and nothing else moved.

        ``writes`` is a number that grows with every change in memory.
        """
        self._step += 1
        if place == self._place and writes == self._writes and self._same(lanes, schedule):
            self._place = -1
            self._span = _NEXT_LOOK
            self._look = self._step + self._span
            return True
        if self._step >= self._look:
            self._span *= 2
            self._look = self._step + self._span
            self._place, self._lanes, self._others, self._writes = place, lanes, schedule.others(), writes
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
