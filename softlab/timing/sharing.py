"""How many blocks of the whole grid touch the same memory, from the blocks that were sampled.

One SM is simulated, with blocks from all over the grid. Whether a sector that it loads comes from DRAM depends on what
the other SMs have loaded. Two observations tell how many blocks share a sector of an array:

- In the sample. If each sector is touched by k of N blocks, a sample of n blocks at random touches
  ``u = t * (1 - (1 - f)^k) / (k f)`` distinct sectors, with f = n / N and t the sum over the blocks of the sectors that
  each touches. Solved for k.
- By size. N/n * t sectors do not fit in an array of fewer: then blocks share them, neighbours as a rule, which a sample
  from all over the grid does not see.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np

from softlab.timing.distinct import distinct_neighbours
from softlab.timing.order import NEVER, Loaded, Order, order
from softlab.timing.shares import Shares
from softlab.timing.touched import BlockSectors

_SECTOR = 32
#: Stores of a launch that writes less than this share of L2 stay there until after the kernel; beyond twice as much all
#: are written back meanwhile.
_DIRTY_SHARE = 0.5
#: Sectors of 256 bytes that a sample touches together if blocks share 256 bytes, and the share of an array that is all.
_TILED, _COVERED = 2.0, 0.9
#: A sample whose blocks have less than a tenth of their sectors in common says nothing: two of them are neighbours.
_RELIABLE = 0.9
#: Arrays that lie closer than this are one region: 2 MiB pages.
_GAP = 1 << 16


@dataclass(frozen=True)
class Region:
    """One array, by sectors: ``first`` to ``last``; ``share``: blocks per sector; ``spread``: of these, how many come
    from all over the grid, each with neighbours beside it; ``unique``: sectors that the whole grid touches; ``dense``:
    sectors of 256 bytes that come together; ``order``: what blocks load before others; ``at_once``: how many of
    ``spread`` are at work together when the first one of them is."""

    first: int
    last: int
    share: float
    spread: float
    unique: float
    dense: float = 8.0
    order: Order = NEVER
    at_once: float = 1.0

    @cached_property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return (self.last - self.first + 1) * _SECTOR

    def seen(self, done: float) -> float:
        """The share of its sectors that a block finds in L2 when ``done``, a share of the grid, has ended."""
        return 1 - (1 - done) ** (self.spread - 1) if self.spread > 1 else 0.0

    def fetching(self, sms: float) -> float:
        """How many of ``sms`` SMs load a sector at the same time: blocks that are neighbours are on different SMs."""
        near = min(sms, max(1.0, self.share / max(1.0, self.spread)))
        return max(1.0, sms * (1 - (1 - near / sms) ** self.at_once))


@dataclass(frozen=True)
class Sharing:
    """The regions in ascending order; ``written_back``: the share of stored bytes that reach DRAM during the kernel;
    ``footprint``: bytes of the lines that the whole grid touches, since L2 keeps a place for a whole line;
    ``stored_neighbours``: of 8 neighbouring sectors, 256 bytes, how many are stored where one is; ``filled``: the share
    of the stored sectors' bytes that are written; ``wanted``: of sectors that several sampled blocks have atomics on,
    the share of other blocks that do, too."""

    regions: tuple[Region, ...]
    written_back: float
    footprint: float
    stored_neighbours: float = 8.0
    filled: float = 1.0
    wanted: Mapping[int, float] = field(default_factory=dict)

    @cached_property
    def _firsts(self) -> list[int]:
        return [region.first for region in self.regions]

    def place(self, sector: int) -> Region:
        """The array that a sector belongs to; by itself where it belongs to none."""
        at = bisect_right(self._firsts, sector) - 1
        if at >= 0 and sector <= self.regions[at].last:
            return self.regions[at]
        return Region(sector, sector, 1.0, 0.0, 1.0, 1.0)

    @classmethod
    def none(cls) -> Sharing:
        """Every block has its own memory, and stores stay in L2."""
        return cls((), 0.0, 0.0)


def _first(region: Region) -> int:
    return region.first


def sharing(
    touched: Sequence[np.ndarray], stored: Sequence[np.ndarray], blocks: int, per_wave: int, l2_bytes: int,
    extents: Sequence[tuple[int, int]] = (), filled: float = 1.0, loaded: Callable[[], Sequence[Loaded]] = tuple,
    added: Sequence[np.ndarray] = (),
) -> Sharing:  # fmt: skip
    """The sharing of a launch.

    Arguments:
        touched: the distinct sectors of global memory that each sampled block touches, int64 (m,) each.
        stored: those that it stores, likewise.
        blocks: blocks of the grid. per_wave: blocks that the GPU holds at once.
        l2_bytes: capacity of L2.
        filled: the share of the bytes of the stored sectors that the stores write.
        extents: the first and the last sector of each array argument; found from the sectors where there are none.
        loaded: gives what each block loads, and by which access (:func:`softlab.timing.order.loaded`).
        added: the distinct sectors that each block has atomics on, as ``touched``.
    """
    touched = BlockSectors.of(touched)
    together, every = touched.together, touched.every
    if not len(every):
        return Sharing.none()
    scale = blocks / max(1, len(touched))
    regions = []
    # DRAM gives 64 bytes at once, so that blocks share pairs of sectors.
    pairs = distinct_neighbours(together, 1, touched.limits[1:])
    all_pairs = distinct_neighbours(every, 1)
    for first, last in extents or _extents(every):
        total = int(np.count_nonzero((pairs >= first >> 1) & (pairs <= last >> 1)))
        met = _within(all_pairs, first >> 1, last >> 1)
        if met:
            close = _together(every, first, last)
            unique = _within(every, first, last) / met
            regions.append(_region(first, last, total, met, len(touched), blocks, per_wave, scale, close, unique))
    regions = _in_order(sorted(regions, key=_first), loaded, blocks, per_wave)
    written, filled, neighbours = _written(stored, scale, filled, extents)
    dirty = written / (_DIRTY_SHARE * l2_bytes) - 1
    footprint = float(sum(r.unique for r in regions)) * _SECTOR * _sparse(every, 2)
    return Sharing(tuple(regions), float(min(1.0, max(0.0, dirty))), footprint, neighbours, filled, _wanted(added))


def _wanted(added: Sequence[np.ndarray]) -> Mapping[int, float]:
    """Sector -> the share of other blocks that have atomics on it, too, if any of the sample has."""
    added = BlockSectors.of(added)
    if not len(added.together):
        return {}
    several = added.times > 1
    return Shares(added.every[several], (added.times[several] - 1) / max(1, len(added) - 1))


def _in_order(
    regions: list[Region], loaded: Callable[[], Sequence[Loaded]], blocks: int, per_wave: int
) -> list[Region]:
    """The regions with what is known of the order in which blocks load them."""
    if all(one.share <= 1 for one in regions):  # no block loads what others have loaded
        return regions
    known = loaded()
    orders = [order(known, one.first, one.last, blocks, per_wave, one.share) for one in regions]
    return [one if found is NEVER else replace(one, order=found) for one, found in zip(regions, orders, strict=True)]


def _written(
    stored: Sequence[np.ndarray], scale: float, filled: float, extents: Sequence[tuple[int, int]]
) -> tuple[float, float, float]:
    """Bytes of the lines that the whole grid stores, the share of its sectors' bytes that are written, and how many of
    8 neighbouring sectors are stored.

    An array takes no more sectors than it has. Where the blocks store as many as that, or more, they store all of it:
    each sector as a whole, if not each block does, and with its neighbours.
    """
    sums = np.zeros(4)
    stored = BlockSectors.of(stored)
    together, every = stored.together, stored.every
    for first, last in extents or ((0, 1 << 62),):
        met = int(np.count_nonzero((together >= first) & (together <= last)))
        count, capacity = scale * met, float(last - first + 1)
        if not count:
            continue
        inner = every[every.searchsorted(first) : every.searchsorted(last, "right")]
        unique, all_of_it = min(count, capacity), count >= _COVERED * capacity
        share = 1.0 if all_of_it else filled
        lines = min(unique * _sparse(inner, 2), capacity)
        sums += unique, lines, unique * share, unique * (8 if all_of_it else 8 / max(1.0, _sparse(inner, 3)))
    if not sums[0]:
        return 0.0, 1.0, 8.0
    return sums[1] * _SECTOR, sums[2] / sums[0], sums[3] / sums[0]


def _sparse(sectors: np.ndarray, shift: int) -> float:
    """Sectors that units of 2 ** shift sectors hold, per sector of them that is touched: 1 where all are. sectors:
    distinct ones, ascending."""
    return float((len(distinct_neighbours(sectors, shift)) << shift) / len(sectors)) if len(sectors) else 1.0


def _region(
    first: int, last: int, total: int, distinct: int, sampled: int, blocks: int, per_wave: int, scale: float,
    together: float, each: float,
) -> Region:  # fmt: skip
    """``total``, ``distinct``: pairs of sectors; ``each``: sectors of a pair that are touched."""
    share = blocks_per_sector(distinct / total, sampled / blocks, blocks)
    capacity = max(distinct, (last >> 1) - (first >> 1) + 1)
    share = min(float(blocks), max(1.0, share, total * scale / capacity))
    spread = min(share, blocks_per_sector(distinct / total, sampled / blocks, blocks, 1.0))
    unique = max(distinct, total * scale / share)
    # Whole lines whose neighbours are touched by somebody: other blocks bring them at about the same time.
    dense = 8.0 if together >= _TILED and unique >= _COVERED * capacity else together
    return Region(first, last, share, spread, unique * each, dense, at_once=_at_once(spread, blocks, per_wave))


def _at_once(spread: float, blocks: int, per_wave: float) -> float:
    """Of blocks from all over the grid, how many are in the same wave as the first one of them, in the mean."""
    wave = min(1.0, per_wave / blocks)
    before = np.arange(0.0, 1.0, wave)
    return max(1.0, spread * float((np.minimum(wave, 1 - before) * (1 - before) ** max(0.0, spread - 1)).sum()))


def _together(every: np.ndarray, first: int, last: int) -> float:
    """Sectors of 256 bytes that the sample touches where it touches one."""
    low, high = every.searchsorted(first, "left"), every.searchsorted(last, "right")
    return float((high - low) / len(distinct_neighbours(every[low:high], 3)))


def blocks_per_sector(ratio: float, fraction: float, blocks: int, reliable: float = _RELIABLE) -> float:
    """k of the first observation: found by halving, since the ratio falls with k. 1 for ratios above ``reliable``."""
    if fraction >= 1:
        return 1 / ratio
    if ratio * fraction * blocks < 1.001 < fraction * blocks:  # every block of the sample touches all of them
        return float(blocks)
    if ratio > reliable:
        return 1.0
    return _as_many(ratio, fraction, blocks)


@lru_cache(maxsize=256)
def _as_many(ratio: float, fraction: float, blocks: int) -> float:
    """The k of this ratio."""
    low, high, others = 1.0, float(blocks), 1 - fraction
    for _ in range(60):
        k = (low * high) ** 0.5
        if (1 - others**k) / (k * fraction) > ratio:
            low = k
        else:
            high = k
    return high


def _within(sectors: np.ndarray, first: int, last: int) -> int:
    return int(sectors.searchsorted(last, "right") - sectors.searchsorted(first, "left"))


def _extents(every: np.ndarray) -> list[tuple[int, int]]:
    breaks = np.flatnonzero(np.diff(every) > _GAP) + 1
    parts = np.split(every, breaks)
    return [(int(part[0]), int(part[-1])) for part in parts]
