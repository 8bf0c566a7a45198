"""Counts what atomics cost while they run: see :mod:`softlab.instruments.atomics` for the rules."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from softlab.emulator.lanes import WARP, Lanes, Value
from softlab.emulator.sites import Site
from softlab.instruments.atomics import (
    MachineAtomic,
    as_in_ptx,
    atomic_sectors,
    elected_lane,
    loop_turns,
    shared_atomic_wavefronts,
)

#: Atomics on an mbarrier are instructions of another unit (SYNCS).
_NO_ATOMIC = "mbarrier"


class AtomicCounter:
    """The counters of the atomics of one run. ``machine``: None if the machine code is not known."""

    def __init__(self, machine: Mapping[int, MachineAtomic] | None) -> None:
        self._machine = machine

    def shared(self, site: Site, lanes: Lanes, address: Value) -> dict[str, int]:
        """Counter -> what an atomic on shared memory adds; "turns" beyond the first of each warp."""
        atomic = self._atomic(site)
        if atomic is None or site.operation == _NO_ATOMIC:
            return {}
        where, active = _by_warp(lanes, address, atomic)
        found = {"shared_atomic_wavefronts": int(shared_atomic_wavefronts(where, active, site.width, atomic).sum())}
        if self._machine is None:
            found["shared_atomic_instructions"] = lanes.warps
        if atomic.loop:
            turns = int(loop_turns(where, active, site.width).sum())
            found["turns"] = turns - lanes.warps
            found["shared_load_instructions"] = turns
            found["shared_load_wavefronts"] = turns
        return found

    def global_(self, site: Site, lanes: Lanes, address: Value) -> dict[str, int]:
        """Counter -> what an atomic on global memory adds."""
        atomic = self._atomic(site)
        if atomic is None or site.operation == _NO_ATOMIC:
            return {}
        where, active = _by_warp(lanes, address, atomic)
        kind = "reduction" if atomic.reduction else "atomic"
        return {
            f"global_{kind}_requests": lanes.warps,
            f"global_{kind}_sectors": int(atomic_sectors(where, active).sum()),
        }

    def _atomic(self, site: Site) -> MachineAtomic | None:
        """What the machine has; None if it removed the atomic."""
        return as_in_ptx(site.instruction) if self._machine is None else self._machine.get(site.index)


def _by_warp(lanes: Lanes, address: Value, atomic: MachineAtomic) -> tuple[np.ndarray, np.ndarray]:
    """(address, active) of each warp with an active lane: (n, 32) each."""
    spread = lanes.spread(np.broadcast_to(address, lanes.extent)).reshape(-1, WARP)
    active = np.broadcast_to(lanes.warp_mask, (len(spread) // lanes.warp_mask.shape[1], *lanes.warp_mask.shape[1:]))
    active = active.reshape(-1, WARP)
    used = active.any(axis=1)
    spread, active = spread[used], active[used]
    return spread, elected_lane(active) if atomic.elected else active
