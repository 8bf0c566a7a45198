"""Accesses in loops that the assembler unrolled in stages, for example of 4, 2 and 1 iterations.

If all lanes of a warp run the same number of iterations, the stages issue as many accesses as the iterations do. If
not, lanes that finish the largest stage wait for the others before they go on to the next stage. So the hardware joins
other iterations than the PTX does, and issues more instructions. Every warp that comes to the loop issues a predicated
last stage once, needed or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from softlab.emulator.lanes import WARP, Lanes, Value
from softlab.emulator.sites import Site
from softlab.instruments.issue import UnrolledLoop

#: Iterations kept of one execution of a loop. The rest of a longer one counts as the PTX has it.
_KEPT = 2048

#: (address (n, 32), active (n, 32), width, store) -> one row of figures per warp, (n, figures).
Rule = Callable[[np.ndarray, np.ndarray, int, bool], np.ndarray]


class UnrolledCounter:
    """The difference between what the hardware counts for one loop and what its PTX iterations count.

    ``issued`` and ``figures``: index of an access -> instructions with an active lane, and figures of its rule (such as
    wavefronts), to be added. ``idle``: predicated last stages that were issued without an active lane.
    """

    def __init__(self, loop: UnrolledLoop) -> None:
        self.loop = loop
        self.issued: dict[int, int] = {}
        self.figures: dict[int, np.ndarray] = {}
        self.idle = 0
        self._iterations: list[Lanes] = []
        self._accesses: dict[int, tuple[Rule, list[tuple[Site, Lanes, Value]]]] = {}

    def iteration(self, lanes: Lanes) -> None:
        """These lanes run an iteration."""
        if len(self._iterations) < _KEPT:
            self._iterations.append(lanes)

    def access(self, rule: Rule, site: Site, lanes: Lanes, address: Value) -> None:
        """An access of this iteration."""
        known = self._accesses.get(site.index)
        if known is None:
            known = self._accesses[site.index] = rule, []
        if len(known[1]) < _KEPT:
            known[1].append((site, lanes, address))

    def settle(self) -> None:
        """Count the loop. Call it before the loop is entered again, and at the end of the run."""
        if self._iterations:
            alike = all(lanes is self._iterations[0] for lanes in self._iterations)
            mask = self._iterations[0].mask
            count = len(self._iterations)
            total = mask * count if alike else sum(lanes.mask.astype(np.int64) for lanes in self._iterations)
            iterations = np.asarray(total).reshape(-1, WARP)
            if self.loop.predicated:
                needed = (iterations % self.loop.stages[-2] != 0).any(axis=1)
                self.idle += int(np.count_nonzero(iterations.any(axis=1) & ~needed))
            # Only lanes that came to the loop can differ, so the others count as the longest.
            most = iterations.max(axis=1, keepdims=True)
            differing = (np.where(iterations > 0, iterations, most) != most).any(axis=1)
            if differing.any():
                self._regroup(iterations[differing], differing)
        self._iterations = []
        self._accesses = {}

    def _regroup(self, iterations: np.ndarray, which: np.ndarray) -> None:
        """Join the iterations of the warps ``which`` as the stages do. ``iterations``: (warps, 32), per lane."""
        for index, (rule, events) in self._accesses.items():
            done = np.zeros_like(iterations)
            keys, addresses, masks = [], [], []
            site = events[0][0]
            for _, lanes, address in events:
                mask = lanes.mask
                full = np.zeros(mask.shape, np.int64)
                full[mask] = lanes.full_extent(address)
                active = mask.reshape(-1, WARP)[which]
                masks.append(active)
                addresses.append(full.reshape(-1, WARP)[which])
                keys.append(np.where(active, self._slot(done, iterations), -1))
                done = done + active
            before = [rule(a, m, site.width, site.store) for a, m in zip(addresses, masks, strict=True)]
            key, address = np.stack(keys), np.stack(addresses)
            together = [key == number for number in np.unique(key[key >= 0])]
            after = [rule((address * same).sum(axis=0), same.any(axis=0), site.width, site.store) for same in together]
            issues = _warps(same.any(axis=0) for same in together) - _warps(masks)
            self.issued[index] = self.issued.get(index, 0) + issues
            change = sum(f.sum(axis=0) for f in after) - sum(f.sum(axis=0) for f in before)
            self.figures[index] = self.figures.get(index, 0) + change

    def _slot(self, done: np.ndarray, iterations: np.ndarray) -> np.ndarray:
        """The number of the slot in the stages in which a lane runs iteration ``done`` of ``iterations``."""
        first, *rest = self.loop.stages
        left = iterations % first
        iteration = done - (iterations - left)
        slot = done.copy()
        base = int(iterations.max()) + 1
        for size in rest:
            inside = (iteration >= 0) & (left >= size) & (iteration < size)
            slot[inside] = base + iteration[inside]
            passed = left >= size
            iteration = np.where(passed & ~inside, iteration - size, np.where(inside, -1, iteration))
            left = np.where(passed, left - size, left)
            base += size
        return slot


def _warps(masks: Iterable[np.ndarray]) -> int:
    """How many warps have an active lane, over all masks."""
    return sum(int(np.count_nonzero(mask.any(axis=1))) for mask in masks)
