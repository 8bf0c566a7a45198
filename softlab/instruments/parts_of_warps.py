"""What some lanes of a warp have learnt at a word, and its other lanes have not.

What a warp knows is kept for the warp as a whole (:mod:`softlab.instruments.happens_before`). Where only some of its
lanes read a word that tells something, this remembers what the others knew before, until the lanes synchronise. A lane
that reads any such word meanwhile counts as one that has learnt all, so that nothing in order is taken for a race.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from softlab.emulator.lanes import WARP

_ALL_LANES = (1 << WARP) - 1


@dataclass
class _Part:
    """``lanes``: those that have learnt, one bit each. What the others know: ``near`` (warps,), ``far`` (columns,)."""

    lanes: int
    near: np.ndarray
    far: np.ndarray


class PartsOfWarps:
    """The warps of one batch of which only some lanes know what their warp knows."""

    def __init__(self) -> None:
        self._parts: dict[int, _Part] = {}

    def __bool__(self) -> bool:
        return bool(self._parts)

    @property
    def held(self) -> dict[int, _Part]:
        """What is empty where there is no such warp; always the same object."""
        return self._parts

    def learn(self, warp: int, lanes: int, near: np.ndarray, far: np.ndarray) -> None:
        """Lanes learn something. ``near`` and ``far``: what the warp knew until now."""
        if lanes != _ALL_LANES and warp not in self._parts:
            self._parts[warp] = _Part(0, near.copy(), far.copy())

    def add(self, masks: Mapping[int, int]) -> None:
        """These lanes of warps have learnt all that their warps know."""
        for warp in self._parts.keys() & masks.keys():
            part = self._parts[warp]
            part.lanes |= masks[warp]
            if part.lanes == _ALL_LANES:
                del self._parts[warp]

    def join(self, warps: Iterable[int]) -> None:
        """The lanes of each of these warps synchronise."""
        for warp in self._parts.keys() & set(warps):
            del self._parts[warp]

    def know(
        self, mine: np.ndarray, time: np.ndarray, near: np.ndarray, warp: np.ndarray, column: np.ndarray
    ) -> np.ndarray:
        """Whether lanes that come after another thread as their warp does come after it themselves, too, (n,) bool.

        ``near``: whether the other thread is of the own block. ``warp`` is its warp in the block, ``column`` its
        column in what is known of other blocks.
        """
        known = np.ones(len(mine), bool)
        own = mine // WARP
        for one in self._parts.keys() & set(own.tolist()):
            part = self._parts[one]
            at = np.flatnonzero((own == one) & (part.lanes >> mine % WARP & 1 == 0))
            known[at] = time[at] < np.where(near[at], part.near[np.where(near[at], warp[at], 0)], part.far[column[at]])
        return known
