"""Counts what atomics cost while they run: see :mod:`softlab.instruments.atomics` for the rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from softlab.emulator.lanes import WARP, Box, Lanes, Value
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
#: Accesses kept. Without a limit, memory would grow with the run.
_MOST_KNOWN = 1024
_Count = Callable[[Site, Lanes, np.ndarray, MachineAtomic], dict[str, int]]


class AtomicCounter:
    """The counters of the atomics of one run. ``machine``: None if the machine code is not known."""

    def __init__(self, machine: Mapping[int, MachineAtomic] | None) -> None:
        self._machine = machine
        #: What accesses that came before added, each of one block.
        self._known: dict[tuple, dict[str, int]] = {}

    def shared(self, site: Site, lanes: Lanes, address: Value) -> dict[str, int]:
        """Counter -> what an atomic on shared memory adds; "turns" beyond the first of each warp."""
        return self._of_all_blocks(self._shared, site, lanes, address)

    def global_(self, site: Site, lanes: Lanes, address: Value) -> dict[str, int]:
        """Counter -> what an atomic on global memory adds."""
        return self._of_all_blocks(self._global, site, lanes, address)

    def _of_all_blocks(self, count: _Count, site: Site, lanes: Lanes, address: Value) -> dict[str, int]:
        """Blocks that share their addresses count alike, and so does the same access when it comes again."""
        atomic = self._atomic(site)
        if atomic is None or site.operation == _NO_ATOMIC:
            return {}
        address = np.asarray(address)
        if not isinstance(lanes, Box) or (address.ndim and len(address) > 1):
            return count(site, lanes, address, atomic)
        key = (count, atomic, site.width, lanes.threads, lanes.column_key, address.shape, address.tobytes())
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            one = Box(1, lanes.threads, None, lanes.columns)
            found = self._known[key] = count(site, one, address, atomic)
        return {name: value * lanes.extent[0] for name, value in found.items()}

    def _shared(self, site: Site, lanes: Lanes, address: np.ndarray, atomic: MachineAtomic) -> dict[str, int]:
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

    def _global(self, site: Site, lanes: Lanes, address: np.ndarray, atomic: MachineAtomic) -> dict[str, int]:
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
