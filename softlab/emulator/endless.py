"""Proves that a loop never ends: the machine comes back to a state that it was in before."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.lanes import Lanes, Value

#: Steps before the first state is kept: loops that end soon cost one comparison of integers a step.
_FIRST_LOOK = 1024


class EndlessLoop:
    """Brent's way of finding a cycle: keep one state, compare each later one, keep a new one each time the steps double.

    A state is the block to run next and the lanes that do, the registers, and that nothing has been written to memory
    since. Only looked at while all other lanes wait, as they do in the end when some never leave a loop.
    R. P. Brent, An improved Monte Carlo factorization algorithm, BIT 20 (1980).
    """

    def __init__(self, registers: list[Value]) -> None:
        self._registers = registers
        self._step = 0
        self._look = _FIRST_LOOK
        self._place = -1
        self._lanes: Lanes | None = None
        self._writes = 0
        self._state: list[Value] = []

    def proven(self, place: int, lanes: Lanes, others_wait: bool, writes: Callable[[], int]) -> bool:
        """Told of each step before it is taken; whether the state is one that was there before."""
        self._step += 1
        if place == self._place and others_wait and self._lanes is not None and self._same(lanes, writes()):
            return True
        if self._step >= self._look and others_wait:
            self._look = 2 * self._step
            self._place, self._lanes, self._writes = place, lanes, writes()
            self._state = list(self._registers)
        return False

    def _same(self, lanes: Lanes, writes: int) -> bool:
        assert self._lanes is not None
        if writes != self._writes or lanes.count != self._lanes.count:
            return False
        if lanes is not self._lanes and (lanes.mask != self._lanes.mask).any():
            return False
        return all(
            now is then or (np.shape(now) == np.shape(then) and bool(np.all(now == then)))
            for now, then in zip(self._registers, self._state, strict=True)
        )
