"""Accesses in loops that the assembler unrolled by stages, say by 4, then by 2, then one turn.

Where all lanes of a warp take as many turns, the stages take as many instructions as the turns do. Where they do not,
lanes that are done with the big stage wait for the others before they go on to the next: the hardware puts other turns
together than the PTX, and issues more instructions. A last turn that is predicated is issued once by every warp that
comes to the loop, needed or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from softlab.emulator.lanes import WARP, Lanes, Value
from softlab.emulator.memory import Site
from softlab.instruments.issue import UnrolledLoop

#: Turns kept of one pass through a loop; of a longer one the rest counts as the PTX has it.
_KEPT = 2048

#: (address (n, 32), active (n, 32), width, store) -> one row of figures a warp, (n, figures).
Rule = Callable[[np.ndarray, np.ndarray, int, bool], np.ndarray]


class UnrolledCounter:
    """What the hardware counts more, or fewer, than the turns of one loop of the PTX.

    ``issued`` and ``figures``: index of an access -> instructions that have a lane, and figures of its rule (wavefronts
    and the like), to be added; ``idle``: predicated last turns that were issued for no lane.
    """

    def __init__(self, loop: UnrolledLoop) -> None:
        self.loop = loop
        self.issued: dict[int, int] = {}
        self.figures: dict[int, np.ndarray] = {}
        self.idle = 0
        self._turns: list[Lanes] = []
        self._accesses: dict[int, tuple[Rule, list[tuple[Site, Lanes, Value]]]] = {}

    def turn(self, lanes: Lanes) -> None:
        """These lanes take a turn."""
        if len(self._turns) < _KEPT:
            self._turns.append(lanes)

    def access(self, rule: Rule, site: Site, lanes: Lanes, address: Value) -> None:
        """An access of this turn."""
        kept = self._accesses.setdefault(site.index, (rule, []))[1]
        if len(kept) < _KEPT:
            kept.append((site, lanes, address))

    def settle(self) -> None:
        """All lanes are through the loop: before it is entered again, and at the end."""
        if self._turns:
            alike = all(lanes is self._turns[0] for lanes in self._turns)
            mask = self._turns[0].mask
            turns = mask * len(self._turns) if alike else sum(lanes.mask.astype(np.int64) for lanes in self._turns)
            turns = np.asarray(turns).reshape(-1, WARP)
            if self.loop.predicated:
                self.idle += int(np.count_nonzero(turns.any(axis=1) & ~(turns % self.loop.stages[-2] != 0).any(axis=1)))
            # Lanes that never came count as one of the others: only those that came can differ.
            most = turns.max(axis=1, keepdims=True)
            differing = (np.where(turns > 0, turns, most) != most).any(axis=1)
            if differing.any():
                self._regroup(turns[differing], differing)
        self._turns = []
        self._accesses = {}

    def _regroup(self, turns: np.ndarray, which: np.ndarray) -> None:
        """Put the turns of the differing warps together as the stages do. ``turns`` (warps, 32); ``which`` of all."""
        for index, (rule, events) in self._accesses.items():
            done = np.zeros_like(turns)
            keys, addresses, masks = [], [], []
            site = events[0][0]
            for _, lanes, address in events:
                mask = lanes.mask
                full = np.zeros(mask.shape, np.int64)
                full[mask] = lanes.full_extent(address)
                active = mask.reshape(-1, WARP)[which]
                masks.append(active)
                addresses.append(full.reshape(-1, WARP)[which])
                keys.append(np.where(active, self._place(done, turns), -1))
                done = done + active
            before = [rule(a, m, site.width, site.store) for a, m in zip(addresses, masks, strict=True)]
            key, address = np.stack(keys), np.stack(addresses)
            together = [key == number for number in np.unique(key[key >= 0])]
            after = [rule((address * same).sum(axis=0), same.any(axis=0), site.width, site.store) for same in together]
            issues = _warps(same.any(axis=0) for same in together) - _warps(masks)
            self.issued[index] = self.issued.get(index, 0) + issues
            change = sum(f.sum(axis=0) for f in after) - sum(f.sum(axis=0) for f in before)
            self.figures[index] = self.figures.get(index, 0) + change

    def _place(self, done: np.ndarray, turns: np.ndarray) -> np.ndarray:
        """A number for the place in the stages at which a lane takes its turn ``done`` of ``turns``."""
        first, *rest = self.loop.stages
        left = turns % first
        turn = done - (turns - left)
        place = done.copy()
        base = int(turns.max()) + 1
        for size in rest:
            here = (turn >= 0) & (left >= size) & (turn < size)
            place[here] = base + turn[here]
            passed = left >= size
            turn = np.where(passed & ~here, turn - size, np.where(here, -1, turn))
            left = np.where(passed, left - size, left)
            base += size
        return place


def _warps(masks: Iterable[np.ndarray]) -> int:
    """Warps with a lane, summed."""
    return sum(int(np.count_nonzero(mask.any(axis=1))) for mask in masks)
