"""What was executed, as it happens, and the streams of the warps that come of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from softlab.instruments.banks import BANK_BYTES, wavefronts_and_conflicts
from softlab.instruments.coalescing import SECTOR_BYTES
from softlab.sass import native_requests
from softlab.sass.lanes import WARP, Lanes
from softlab.sass.layout import Arranged, arranged, lay_out, measured
from softlab.sass.native_requests import Kept
from softlab.sass.order import as_executed
from softlab.sass.streams import Kind, Space, Streams

if TYPE_CHECKING:
    from softlab.sass.setup import Setup

#: Addresses that are kept before they are counted: 64 MiB.
_MOST_ADDRESSES = 8 << 20
#: What a wavefront moves at most.
_BANKS = 32
_WAVEFRONT_BYTES = 128
#: The banks repeat after this number of bytes, and so does the pattern of an access.
_LINE = 128
#: Addresses of one request are told apart within this number of bytes, so that they fit the bank rule's keys.
_NEAR = 1 << 38
#: Factors of a hash of 32 numbers.
_FACTORS = np.random.default_rng(1).integers(1 << 62, size=WARP) | 1
#: Of requests that were counted: entry, offset, space, kind, wavefronts, how many sectors, and all sectors.
_COUNTED = (np.int64, np.int64, np.uint8, np.uint8, np.int64, np.int64, np.int64)


class Log:
    """Runs of instructions by sets of lanes, the guards among them, and the addresses of the requests.

    An entry is one run of one warp. ``further``: once no more entries are made, how many instructions each warp has
    executed since: int64 (warps,); before, None.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._warps: list[np.ndarray] = []
        self._masks: list[np.ndarray] = []
        self._start: list[int] = []
        self._length: list[int] = []
        self._entries = 0
        self._first = 0  # the first entry of the current run
        self._guards: list[tuple[int, int, np.ndarray]] = []
        #: Of many runs at once: where they stand among the lists, and the first instruction and length of each entry;
        #: and of their guards the entry, the offset and the lanes.
        self._spread: list[tuple[int, np.ndarray, np.ndarray]] = []
        self._guard_rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._barriers: list[tuple[np.ndarray, np.ndarray]] = []
        self._requests: dict[tuple[int, int, int, bool], list[Kept]] = {}
        self._kept = 0
        #: Requests are not kept: a look ahead.
        self.silent = False
        self.further: np.ndarray | None = None
        self._counted: list[tuple[np.ndarray, ...]] = []

    def run(self, lanes: Lanes, start: int, length: int) -> None:
        """These lanes begin to execute instructions ``start`` to ``start + length - 1``."""
        if self.further is None:
            self._add(lanes.warps, lanes.masks, start, length)
        else:
            self.further[lanes.warps] += length

    def stop(self) -> None:
        """From now on only the numbers of instructions are kept."""
        self.further = np.zeros(self._setup.warps, np.int64)

    def executed(self) -> np.ndarray:
        """How many instructions the entries of each warp have: int64 (warps,)."""
        spread = {at: lengths for at, _, lengths in self._spread}
        found = np.zeros(self._setup.warps, np.int64)
        for at, warps in enumerate(self._warps):
            if at in spread:
                found += np.bincount(warps, spread[at], len(found)).astype(np.int64)
            else:
                found[warps] += self._length[at]
        return found

    def count(self, warps: np.ndarray, lengths: np.ndarray) -> None:
        """Once it has stopped: warps, which may come several times, execute as many instructions."""
        assert self.further is not None
        self.further += np.bincount(warps, lengths, self._setup.warps).astype(np.int64)

    def _add(self, warps: np.ndarray, masks: np.ndarray, start: int, length: int) -> None:
        self._warps.append(warps)
        self._masks.append(masks)
        self._start.append(start)
        self._length.append(length)
        self._first = self._entries
        self._entries += len(warps)

    def runs(self, warps: np.ndarray, masks: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> int:
        """Entries of many runs, int64 and uint32 (entries,); the number of the first one."""
        self._spread.append((len(self._warps), starts, lengths))
        self._add(warps, masks, 0, 0)
        return self._first

    def guards_of(self, entries: np.ndarray, offsets: np.ndarray, masks: np.ndarray) -> None:
        """Of each entry the lanes that executed the instruction ``offset`` of its run."""
        self._guard_rows.append((entries, offsets, masks))

    def requests_of(
        self, entries: np.ndarray, offset: int, space: Space, kind: Kind, width: int, address: np.ndarray,
        active: np.ndarray,
    ) -> None:  # fmt: skip
        """As :meth:`request`, of these entries, int64 (k,)."""
        self._keep((int(space), int(kind), width, False), (entries, offset, address, active))

    def counted(
        self, entries: np.ndarray, offsets: np.ndarray, spaces: np.ndarray, kinds: np.ndarray,
        counts: tuple[np.ndarray, np.ndarray, np.ndarray],
    ) -> None:  # fmt: skip
        """Requests that are counted: of each its entry, offset, space and kind; wavefronts, how many sectors, and all
        sectors."""
        self._counted.append((entries, offsets, spaces, kinds, *counts))

    def guard(self, offset: int, masks: np.ndarray) -> None:
        """The lanes (k,) that executed the instruction ``offset`` of the current run."""
        if self.further is None:
            self._guards.append((self._first, offset, masks))

    def barrier(self, warps: np.ndarray, operands: np.ndarray) -> None:
        """These warps executed a BAR whose number is in a register: its contents, or -1 where the guard was off."""
        if not self.silent and self.further is None:
            self._barriers.append((warps, operands))

    def request(
        self,
        offset: int,
        space: Space,
        kind: Kind,
        width: int,
        address: np.ndarray,
        active: np.ndarray,
        of_matrices: bool = False,
    ) -> None:
        """One memory instruction of the current run. address: (k, 32) int64; active: (k, 32) bool. of_matrices: 8 lanes
        are served at a time, paired or not."""
        if self.silent or self.further is not None:
            return
        key = (int(space), int(kind), width, of_matrices)
        self._keep(key, (self._first, offset, address, active))

    def _keep(self, key: tuple[int, int, int, bool], kept: Kept) -> None:
        self._requests.setdefault(key, []).append(kept)
        self._kept += kept[2].size
        if self._kept > _MOST_ADDRESSES:
            self._count()

    def span(self, row: int, offset: int, space: Space, kind: Kind, first: int, nbytes: int) -> None:
        """A request of one warp, the ``row``-th of the current run, for neighbouring bytes."""
        if self.further is not None:
            return
        sectors = np.arange(first // SECTOR_BYTES, -(-(first + nbytes) // SECTOR_BYTES))
        one = (np.array([value]) for value in (self._first + row, offset))
        kinds = np.full(1, space, np.uint8), np.full(1, kind, np.uint8)
        passes = np.array([-(-nbytes // _WAVEFRONT_BYTES)])
        self._counted.append((*one, *kinds, passes, np.array([len(sectors)]), sectors))

    def _count(self) -> None:
        """Wavefronts and sectors of the addresses that are kept."""
        for (space, kind, width, of_matrices), requests in self._requests.items():
            rule = native_requests.rule_of(space, kind, of_matrices)
            found = native_requests.counted(requests, rule, width, unit_of(space, kind))
            if found is None:
                found = counted_by_numpy(requests, space, kind, width, of_matrices)
            entry, offset, wavefronts, count, sectors = found
            same = np.full(len(entry), space, np.uint8), np.full(len(entry), kind, np.uint8)
            self._counted.append((entry, offset, *same, wavefronts, count, sectors))
        self._requests.clear()
        self._kept = 0

    def streams(self) -> Streams:
        """One stream per warp, blocks in order."""
        self._count()
        setup = self._setup
        counts = [len(w) for w in self._warps]
        warp = np.concatenate([*self._warps, np.zeros(0, np.int64)]).astype(np.int64, copy=False)
        mask = np.concatenate([*self._masks, np.zeros(0, np.uint32)])
        start, length = (np.repeat(np.array(part, np.int64), counts) for part in (self._start, self._length))
        begins = np.cumsum([0, *counts])
        for at, starts, lengths in self._spread:
            start[begins[at] : begins[at + 1]], length[begins[at] : begins[at + 1]] = starts, lengths
        limits, part = measured(warp, mask, length, setup.warps)
        order = as_executed(warp, mask, start, length) if part else None
        instruction, came, begins = lay_out(warp, mask, start, length, limits, order)
        active = self._guarded(came, begins)
        block = setup.interpreted[setup.row_of_block]
        number = np.arange(setup.warps) % setup.warps_per_block
        position, space, kind, wavefronts, offsets, sectors, requests, begins_at = self._accesses(begins, limits)
        return Streams(
            *(block, number, instruction, active, came, limits),
            *(position, space, kind, wavefronts, offsets, sectors, requests, begins_at),
            self._barriers_of_warps(),
            self.further,
        )

    def _guarded(self, came: np.ndarray, begins: np.ndarray) -> np.ndarray:
        """The lanes that execute each instruction, of those that ``came``. begins: where each entry begins."""
        if not self._guards and not self._guard_rows:
            return came
        active = came.copy()
        for entries, offsets, masks in self._guard_rows:
            active[begins[entries] + offsets] = masks
        if self._guards:
            firsts, places, held = zip(*self._guards, strict=True)
            counts = np.array([len(one) for one in held])
            entries = np.repeat(np.array(firsts) - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
            active[begins[entries] + np.repeat(places, counts)] = np.concatenate(held)
        return active

    def _barriers_of_warps(self) -> dict[int, np.ndarray]:
        if not self._barriers:
            return {}
        warps, operands = (np.concatenate(part) for part in zip(*self._barriers, strict=True))
        order = np.argsort(warps, kind="stable")
        found, first = np.unique(warps[order], return_index=True)
        return dict(zip(found.tolist(), np.split(operands[order], first[1:]), strict=True))

    def _accesses(self, begins: np.ndarray, limits: np.ndarray) -> Arranged:
        """The requests of all warps. begins: where each entry begins among the instructions."""
        entry, offset, space, kind, wavefronts, count, sectors = (
            np.concatenate([part[k] for part in self._counted] or [np.zeros(0, dtype)])
            for k, dtype in enumerate(_COUNTED)
        )
        return arranged(begins[entry] + offset, space, kind, wavefronts, count, sectors, limits)


def unit_of(space: int, kind: int) -> int:
    """Bytes of what is counted as a sector."""
    return BANK_BYTES if space == Space.SHARED and kind == Kind.ATOMIC else SECTOR_BYTES


def counted_by_numpy(
    requests: Sequence[Kept], space: int, kind: int, width: int, of_matrices: bool
) -> tuple[np.ndarray, ...]:
    """The requests that have an active lane: entry, offset, wavefronts, how many sectors, and all sectors."""
    address = np.concatenate([a for _, _, a, _ in requests])
    active = np.concatenate([m for _, _, _, m in requests])
    entry = native_requests.entries_of(requests)
    offset = np.repeat([o for _, o, _, _ in requests], [len(a) for _, _, a, _ in requests])
    some = active.any(axis=1)
    address, active, entry, offset = address[some], active[some], entry[some], offset[some]
    low = np.where(active, address, np.iinfo(np.int64).max).min(axis=1) // _LINE * _LINE
    unit = unit_of(space, kind)
    pattern, which = _patterns(np.where(active, address - low[:, None], -1))
    if space == Space.GLOBAL and kind in (Kind.ATOMIC, Kind.REDUCTION):
        several, near = _passes(pattern, max(4, width))
        wavefronts = several[which]
    else:
        several, near = _different(np.where(pattern >= 0, pattern // unit, -1))
        wavefronts = _wavefronts(pattern, space, width, kind, of_matrices)[which]
    count = several[which]
    ends = np.cumsum(count)
    first = (np.cumsum(several) - several)[which]
    sectors = near[np.repeat(first - (ends - count), count) + np.arange(int(ends[-1]) if len(ends) else 0)]
    return entry, offset, wavefronts, count, sectors + np.repeat(low // unit, count)


def _patterns(relative: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, 32) -> the different rows, and for each row which of them it is: the same few come again and again."""
    with np.errstate(over="ignore"):
        hashes = (relative * _FACTORS).sum(axis=1)
    _, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    which = which.reshape(-1)
    if not (relative == relative[first[which]]).all():  # different rows with one hash
        _, first, which = np.unique(relative, axis=0, return_index=True, return_inverse=True)
        which = which.reshape(-1)
    return relative[first], which


def _wavefronts(pattern: np.ndarray, space: int, width: int, kind: int, of_matrices: bool) -> np.ndarray:
    """Passes of each access. pattern: (n, 32) bytes from a multiple of 128 on, -1 for lanes without one."""
    if space in (Space.CONSTANT, Space.VALUES):
        return _different(pattern)[0]
    if kind == Kind.ATOMIC:
        return _most(np.where(pattern >= 0, pattern // 4 % _BANKS, -1))
    # The lanes of a store are not paired either.
    store = kind == Kind.STORE or of_matrices
    return wavefronts_and_conflicts(np.where(pattern >= 0, pattern % _NEAR, 0), pattern >= 0, width, store)[0]


def _most(keys: np.ndarray) -> np.ndarray:
    """(n, 32) keys, -1 for none -> how often the most frequent key of each row occurs."""
    keys = np.sort(keys, axis=1)
    run = (keys[:, 0] >= 0).astype(np.int64)
    most = run.copy()
    for lane in range(1, keys.shape[1]):
        run = np.where(keys[:, lane] < 0, 0, np.where(keys[:, lane] == keys[:, lane - 1], run + 1, 1))
        np.maximum(most, run, out=most)
    return most


def _passes(pattern: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Passes of atomics on global memory: for each sector as many as lanes want the same word of it, at most. How many
    each row has, and the sectors of all passes, row after row, ascending."""
    keys = np.sort(np.where(pattern >= 0, pattern // width, -1), axis=1)
    # A lane is in the pass of its sector that has its number among the lanes at its word.
    turn = np.zeros_like(keys)
    for lane in range(1, keys.shape[1]):
        turn[:, lane] = np.where(keys[:, lane] == keys[:, lane - 1], turn[:, lane - 1] + 1, 0)
    sectors = np.where(keys >= 0, keys * width // SECTOR_BYTES, -1)
    several, passes = _different(np.where(sectors >= 0, sectors * WARP + turn, -1))
    return several, passes // WARP


def _different(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, 32) keys, -1 for none -> how many different ones each row has, and these, row after row, ascending."""
    keys = np.sort(keys, axis=1)
    first = keys >= 0
    first[:, 1:] &= keys[:, 1:] != keys[:, :-1]
    return first.sum(axis=1), keys[first]


__all__ = ["WARP", "Log"]
