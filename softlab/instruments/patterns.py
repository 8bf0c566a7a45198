"""Totals of a rule over the warps of an access, evaluated once per pattern of addresses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softlab.emulator.lanes import WARP, Box, Lanes, Value
from softlab.emulator.memory.known_addresses import Addresses, AddressPattern
from softlab.emulator.sites import Site
from softlab.instruments.banks import wavefronts_and_conflicts
from softlab.instruments.coalescing import global_sectors
from softlab.instruments.unrolled import Rule

#: A pattern repeats when all addresses move by this many bytes, the width of all banks.
BANK_PERIOD = 128
#: Widest access that the coalescing rule takes. A wider, aligned access lies in the sector of its first bytes.
_RULE_WIDTH = 16
SECTOR = 32
#: A multiple of every period, added to addresses relative to a first one.
_FAR = 1 << 30
#: Patterns kept. Without a limit, memory would grow with the run.
_MOST_PATTERNS = 4096


def bank_figures(address: np.ndarray, active: np.ndarray, width: int, store: bool) -> np.ndarray:
    """(wavefronts, bank conflicts) of each warp's access to shared memory: (n, 2)."""
    return np.stack(wavefronts_and_conflicts(address, active, width, store), axis=1)


def matrix_figures(address: np.ndarray, active: np.ndarray, width: int, store: bool) -> np.ndarray:
    """The same of ``ldmatrix``, which serves 8 lanes at a time, paired or not."""
    return np.stack(wavefronts_and_conflicts(address, active, width, True), axis=1)


def sector_figures(address: np.ndarray, active: np.ndarray, width: int, store: bool) -> np.ndarray:
    """The sectors of each warp's access to global memory: (n, 1)."""
    return global_sectors(address, active, min(width, _RULE_WIDTH))[:, None]


class _Pattern:
    """The figures of one block's access, for each phase of its first lane's address in the period."""

    def __init__(self, phases: int, figures: int) -> None:
        self.figures = np.zeros((phases, figures), np.int64)
        self.known = np.zeros(phases, bool)


class PatternCache:
    """Totals of a rule over the warps of an access. The rule is evaluated once per pattern.

    ``period``: a move of all addresses by this many bytes changes nothing. ``figures``: how many the rule gives.
    """

    def __init__(self, rule: Rule, period: int, figures: int) -> None:
        self._rule = rule
        self.period = period
        self._figures = figures
        self._patterns: dict[tuple, _Pattern] = {}

    def total(self, site: Site, lanes: Lanes, address: Value) -> np.ndarray:
        """The rule's figures, summed over all warps of the set: (figures,) int64."""
        if self._rule is sector_figures and not isinstance(address, np.ndarray):
            return np.array([lanes.warps])  # all lanes read one aligned item: one sector per warp
        if not isinstance(lanes, Box):
            return self._each_warp(site, lanes, address)
        if not isinstance(address, np.ndarray):
            address = np.full((1, 1), address)
        relative = address - address[:, :1]
        if len(relative) > 1:
            if relative.shape[1] > 1 and (relative != relative[0]).any():
                return self._each_warp(site, lanes, address)
            relative = relative[:1]
        pattern = self._pattern(site, lanes, relative.shape[1], relative.tobytes())
        times = lanes.extent[0] // len(address)
        if len(address) == 1:
            phase = int(address[0, 0]) % self.period // site.width
            if not pattern.known[phase]:
                self._learn(pattern, site, lanes, relative, np.array([phase]))
            return pattern.figures[phase] * times
        phases = ((address[:, 0] & address.dtype.type(self.period - 1)) >> address.dtype.type(site.shift)).astype(int)
        new = ~pattern.known[phases]
        if new.any():
            self._learn(pattern, site, lanes, relative, np.unique(phases[new]))
        return pattern.figures[phases].sum(axis=0) * times

    def of_known(self, site: Site, lanes: Box, known: Addresses) -> np.ndarray:
        """The same of addresses that all blocks share."""
        relative = known.pattern.relative
        pattern = self._pattern(site, lanes, relative.shape[1], known.pattern.content)
        phase = known.first % self.period // site.width
        if not pattern.known[phase]:
            self._learn(pattern, site, lanes, relative, np.array([phase]))
        return np.asarray(pattern.figures[phase] * lanes.extent[0])

    def _pattern(self, site: Site, lanes: Box, columns: int, relative: bytes) -> _Pattern:
        """What is known of addresses relative to the first one."""
        key = site.width, site.store, lanes.threads, lanes.column_key, columns, relative
        found = self._patterns.get(key)
        if found is None:
            if len(self._patterns) >= _MOST_PATTERNS:
                self._patterns.clear()
            found = self._patterns[key] = _Pattern(max(1, self.period // site.width), self._figures)
        return found

    def _learn(self, pattern: _Pattern, site: Site, lanes: Box, relative: np.ndarray, phases: np.ndarray) -> None:
        """Evaluate a block's figures for these phases of its first lane's address."""
        # The first address is far from zero, so that addresses below it stay positive.
        first = (phases * site.width + _FAR).astype(relative.dtype)
        spread = lanes.spread(np.broadcast_to(relative + first[:, None], (len(phases), lanes.extent[1])))
        figures = self._solve(site, spread, lanes.warp_mask)
        pattern.figures[phases] = figures.reshape(len(phases), -1, self._figures).sum(axis=1)
        pattern.known[phases] = True

    def _each_warp(self, site: Site, lanes: Lanes, address: Value) -> np.ndarray:
        spread = lanes.spread(np.broadcast_to(address, lanes.extent))
        return self._solve(site, spread, lanes.warp_mask).sum(axis=0)

    def _solve(self, site: Site, address: np.ndarray, active: np.ndarray) -> np.ndarray:
        """(warps, figures)."""
        active = np.broadcast_to(active, address.shape).reshape(-1, WARP)
        return self._rule(address.reshape(-1, WARP), active, site.width, site.store)


@dataclass
class _Repeated:
    """An access, and how often an equal one came."""

    site: Site
    lanes: Box
    known: Addresses
    times: int = 0


class RepeatedAccesses:
    """Accesses that come again and have the same figures each time: the rule is asked at the end, once for each."""

    def __init__(self, cache: PatternCache) -> None:
        self._cache = cache
        self._period = cache.period
        self._seen: dict[tuple[int, int, bytes, int, AddressPattern, int], _Repeated] = {}
        self._totals: dict[tuple[int, bool], np.ndarray] = {}

    def add(self, site: Site, lanes: Box, known: Addresses) -> None:
        """An access by lanes whose blocks share the addresses."""
        key = site.index, site.width, lanes.column_key, lanes.extent[0], known.pattern, known.first % self._period
        found = self._seen.get(key)
        if found is None:
            if len(self._seen) >= _MOST_PATTERNS:
                self._settle()
            found = self._seen[key] = _Repeated(site, lanes, known)
        found.times += 1

    def take_totals(self) -> dict[tuple[int, bool], np.ndarray]:
        """What came since the last call: (index of an instruction, whether it stores) -> the sums of its figures."""
        self._settle()
        totals, self._totals = self._totals, {}
        return totals

    def _settle(self) -> None:
        for one in self._seen.values():
            key, figures = (one.site.index, one.site.store), self._cache.of_known(one.site, one.lanes, one.known)
            self._totals[key] = self._totals.get(key, 0) + figures * one.times
        self._seen.clear()
