"""Counts what atomics cost while they run: see :mod:`softlab.instruments.atomics` for the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from softlab.emulator.lanes import WARP, Box, Lanes, Value
from softlab.emulator.memory.known_addresses import Addresses
from softlab.emulator.sites import Site
from softlab.instruments.atomics import (
    MachineAtomic,
    as_in_ptx,
    atomic_sectors,
    elected_lane,
    loop_turns,
    shared_atomic_wavefronts,
)
from softlab.instruments.native_sectors import NativeSectors

#: Atomics on an mbarrier are instructions of another unit (SYNCS).
_NO_ATOMIC = "mbarrier"
#: Accesses kept. Without a limit, memory would grow with the run.
_MOST_KNOWN = 1024
_Count = Callable[[Site, Lanes, np.ndarray, MachineAtomic], dict[str, int]]


class AtomicCounter:
    """The counters of the atomics of one run. ``machine``: None if the machine code is not known.

    ``known``: what is known of the addresses; the same access that comes again is noted, and counted at the end.
    """

    def __init__(self, machine: Mapping[int, MachineAtomic] | None) -> None:
        self._machine = machine
        self._totals: dict[int, Counter[str]] = {}
        self._compiled = "none"
        self._native = NativeSectors()
        #: Accesses whose blocks share the addresses -> what they are, and how many blocks have made them.
        self._repeated: dict[tuple[bool, int, bytes, Addresses | int], list[Any]] = {}

    def begin(self, compiled: str) -> None:
        """A batch begins that compiles "none", "hot" or "all" blocks."""
        self._compiled = compiled

    def shared(self, site: Site, lanes: Lanes, address: Value, known: Addresses | None) -> None:
        """An atomic on shared memory."""
        self._add(self._shared, site, lanes, address, known)

    def global_(self, site: Site, lanes: Lanes, address: Value, known: Addresses | None) -> None:
        """An atomic on global memory."""
        self._add(self._global, site, lanes, address, known)

    def take_totals(self) -> dict[int, Counter[str]]:
        """What came since the last call: index of each atomic -> counter -> what it adds.

        "turns" are those beyond the first of each warp.
        """
        self._settle()
        totals, self._totals = self._totals, {}
        return totals

    def _add(self, count: _Count, site: Site, lanes: Lanes, address: Value, known: Addresses | None) -> None:
        atomic = self._atomic(site)
        if atomic is None or site.operation == _NO_ATOMIC:
            return
        same = known if known is not None or isinstance(address, np.ndarray) else int(address)
        if same is None or not isinstance(lanes, Box):
            self._sum_up(site.index, count(site, lanes, np.asarray(address), atomic), 1)
            return
        key = site.space == "global", site.index, lanes.column_key, same
        found = self._repeated.get(key)
        if found is None:
            if len(self._repeated) >= _MOST_KNOWN:
                self._settle()
            one = Box(1, lanes.threads, None, lanes.columns)
            found = self._repeated[key] = [(count, site, one, np.asarray(address), atomic), 0]
        found[1] += lanes.extent[0]

    def _settle(self) -> None:
        # The figures do not depend on the instruction.
        figures: dict[tuple, dict[str, int]] = {}
        for (in_global, index, columns, same), found in self._repeated.items():
            (count, site, lanes, address, atomic), times = found
            key = in_global, atomic, site.width, columns, same
            if key not in figures:
                figures[key] = count(site, lanes, address, atomic)
            self._sum_up(index, figures[key], times)
        self._repeated.clear()

    def _sum_up(self, index: int, figures: dict[str, int], times: int) -> None:
        total = self._totals.setdefault(index, Counter())
        for name, value in figures.items():
            total[name] += value * times

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
        kind = "reduction" if atomic.reduction else "atomic"
        if self._native.ready(self._compiled):
            sectors = -1 if atomic.elected else self._native.total_in_steps(lanes, address)
            if sectors < 0:
                sectors = self._native.total(*_of_all_warps(lanes, address, atomic))
        else:
            sectors = int(atomic_sectors(*_by_warp(lanes, address, atomic)).sum())
        return {f"global_{kind}_requests": lanes.warps, f"global_{kind}_sectors": sectors}

    def _atomic(self, site: Site) -> MachineAtomic | None:
        """What the machine has; None if it removed the atomic."""
        return as_in_ptx(site.instruction) if self._machine is None else self._machine.get(site.index)


def _by_warp(lanes: Lanes, address: Value, atomic: MachineAtomic) -> tuple[np.ndarray, np.ndarray]:
    """(address, active) of each warp with an active lane: (n, 32) each."""
    spread, active = _of_all_warps(lanes, address, atomic)
    used = active.any(axis=1)
    return spread[used], active[used]


def _of_all_warps(lanes: Lanes, address: Value, atomic: MachineAtomic) -> tuple[np.ndarray, np.ndarray]:
    """The same of all warps."""
    spread = lanes.spread(np.broadcast_to(address, lanes.extent)).reshape(-1, WARP)
    active = np.broadcast_to(lanes.warp_mask, (len(spread) // lanes.warp_mask.shape[1], *lanes.warp_mask.shape[1:]))
    active = active.reshape(-1, WARP)
    return spread, elected_lane(active) if atomic.elected else active
