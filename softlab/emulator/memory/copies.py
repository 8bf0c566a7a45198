"""Asynchronous copies: ``cp.async``, and what all of them share (:mod:`softlab.emulator.memory.bulk_copies` has the
others).

A copy has no effect where it is issued. It ends where a thread waits for it: at ``wait_group`` of the thread that
issued it, or when a thread asks the mbarrier that it is bound to. Until then its destination keeps its old contents, so
that a kernel that reads too early gets those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from softlab.emulator.host import FaultReporter
from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.memory.block_memory import SharedMemory
from softlab.emulator.memory.elements import join_elements
from softlab.emulator.memory.global_memory import GlobalMemory
from softlab.emulator.memory.mbarriers import Key, Mbarriers
from softlab.emulator.sites import InstructionSite, Site

#: Later than every group: what ``wait_all`` waits for.
_ALL = np.iinfo(np.int64).max


@dataclass(frozen=True)
class CopySites:
    """The two ends of a ``cp.async``; ``sized``: a source size, or a predicate to leave it out, is given."""

    into: Site
    out_of: Site
    sized: str = ""


@dataclass(frozen=True)
class Pieces:
    """Runs of bytes in global memory: their addresses, (n,) int64, and the bytes of each."""

    address: np.ndarray
    nbytes: int


@dataclass(frozen=True)
class Copy:
    """One instruction's copies that go together, as observers are told of them: (n,) arrays, one element per lane.

    ``lane``: the lane that issued it (``row * threads + column``). ``owner`` and ``offset``: the row and offset of the
    shared memory that it writes (``writes``) or reads. ``nbytes`` of each. ``bound``: the mbarrier (row, offset) that
    it is bound to, None where its thread waits for it. ``pieces``: the other end of a bulk copy in global memory, None
    for other copies (a ``cp.async`` is told as an access to global memory; inside shared memory each end is a copy).
    ``operation``: what a copy that reduces does ("add"), "" for others.
    """

    site: Site
    lane: np.ndarray
    owner: np.ndarray
    offset: np.ndarray
    nbytes: int
    writes: bool
    bound: Key | None = None
    pieces: Pieces | None = None
    operation: str = ""

    @property
    def changes(self) -> bool:
        """Whether it changes what stands in shared memory, as an atomic does."""
        return self.writes and bool(self.operation)

    def part(self, mine: slice) -> Copy:
        """Those of some lanes, of a copy whose lanes have one piece each."""
        pieces = self.pieces and Pieces(self.pieces.address[mine], self.pieces.nbytes)
        return replace(self, lane=self.lane[mine], owner=self.owner[mine], offset=self.offset[mine], pieces=pieces)


@dataclass
class Fetch:
    """A ``cp.async`` of some lanes: its number, the group of each lane, index in shared memory as items, the items."""

    copy: Copy
    number: int
    group: np.ndarray
    index: np.ndarray
    items: np.ndarray

    def where(self, mask: np.ndarray) -> Fetch:
        """Those of some lanes."""
        copy = replace(self.copy, lane=self.copy.lane[mask], owner=self.copy.owner[mask], offset=self.copy.offset[mask])
        return Fetch(copy, self.number, self.group[mask], self.index[mask], self.items[mask])


class Copies:
    """The copies of a batch that are in flight: those of ``cp.async``, and all that are bound to an mbarrier."""

    def __init__(
        self,
        faults: FaultReporter,
        global_: GlobalMemory,
        shared: SharedMemory,
        mbarriers: Mbarriers,
        lanes: int,
        *,
        on_begin: Callable[[Copy, Lanes], Any] | None = None,
        on_end: Callable[[Copy], Any] | None = None,
        on_written: Callable[[Copy], Any] | None = None,
    ) -> None:
        self._faults = faults
        self._global = global_
        self._shared = shared
        self._mbarriers = mbarriers
        self._lanes = lanes
        self._on_begin = on_begin
        self._on_end = on_end
        self._on_written = on_written
        self.clear()

    def clear(self) -> None:
        """For the next batch: there is none."""
        self._group = np.zeros(self._lanes, np.int64)
        self._fetches: list[Fetch] = []
        self._number = 0
        self._bound: dict[Key, list[tuple[Copy | None, Callable[[Key], None]]]] = {}
        self.writes = 0
        self.bindings = 0

    # cp.async

    def fetch(self, lanes: Lanes, sites: CopySites, into: Value, out_of: Value, size: Value | None = None) -> None:
        """``cp.async``: read now, written later."""
        if size is not None and sites.sized == "ignore":
            size = np.where(size, np.uint32(0), np.uint32(sites.into.width))
        if size is None or np.all(size == sites.into.width):
            values = self._global.load(lanes, sites.out_of, out_of)
            items = join_elements(sites.into, values if sites.into.elements > 1 else (values,))
        else:
            items = self._padded(lanes, sites, out_of, size)
        items = np.broadcast_to(items, lanes.extent)
        index = self._shared.checked(lanes, sites.into, into, items)
        lane = lane_numbers(lanes)
        owner = lanes.full_extent(lanes.row_index)
        item = lanes.full_extent(index)
        width = sites.into.width
        copy = Copy(sites.into, lane, owner, item * width, width, True)
        self.begin(copy, lanes)
        flat = owner * self._shared.view(sites.into.item).shape[1] + item
        self._fetches.append(Fetch(copy, self._number, self._group[lane], flat, items.reshape(-1)))
        self._number += 1

    def _padded(self, lanes: Lanes, sites: CopySites, address: Value, size: Value) -> np.ndarray:
        """The items of copies that read fewer bytes than they write: zeros behind them."""
        whole = lanes.put(address, address, True)
        flat = np.zeros((lanes.blocks * lanes.threads, sites.into.width), np.uint8)
        width = sites.into.width
        too_many = np.asarray(size) > width
        if too_many.any():
            raise self._faults.fault(
                "shared-out-of-bounds",
                f"the thread copies more than the {width} bytes of its cp.async. The source size is at most the size",
                sites.into.instruction, lanes, too_many, None,
            )  # fmt: skip
        sizes = lanes.put(size, size, True)
        left: Lanes | None = lanes
        for nbytes in np.unique(lanes.full_extent(size)).tolist():
            assert left is not None
            part, left = left.split(left.take(sizes) == nbytes)
            if part is not None and nbytes:
                there = np.broadcast_to(part.take(whole), part.extent)
                flat[lane_numbers(part), :nbytes] = self._global.load_bytes(part, sites.out_of, there, nbytes)
        some, _ = lanes.split(np.asarray(size) > 0)
        if some is not None:
            self._global.tell(some, sites.out_of, some.take(whole), (some.take(sizes),))
        lane = lane_numbers(lanes)
        return flat[lane].reshape(-1).view(sites.into.item).reshape(lanes.extent)

    def commit(self, lanes: Lanes, site: InstructionSite) -> None:
        """``cp.async.commit_group``."""
        self._group[lanes.mask.reshape(-1)] += 1

    def wait(self, lanes: Lanes, site: InstructionSite, newest: Value | None = None) -> None:
        """``cp.async.wait_group``, and ``wait_all`` without a number: the lanes' copies end but the newest groups."""
        here = lanes.mask.reshape(-1)
        limit = np.full(self._lanes, -1, np.int64)
        if newest is None:
            limit[here] = _ALL
            self._group[here] += 1
        else:
            limit[here] = self._group[here] - 1 - int(np.max(newest))
        self._end_fetches(lambda fetch: fetch.group <= limit[fetch.copy.lane])

    def _end_fetches(self, which: Callable[[Fetch], np.ndarray], bound: Key | None = None) -> None:
        rest = []
        for fetch in self._fetches:
            ends = which(fetch)
            if not ends.any():
                rest.append(fetch)
                continue
            ended, left = (fetch, None) if ends.all() else (fetch.where(ends), fetch.where(~ends))
            view = self._shared.view(ended.copy.site.item).reshape(-1)
            view[ended.index] = ended.items
            self.end(ended.copy, bound)
            if left is not None:
                rest.append(left)
        self._fetches = rest

    def arrive(self, lanes: Lanes, site: Site, address: Value) -> None:
        """``cp.async.mbarrier.arrive``: it arrives at the mbarrier when the lanes' copies so far have ended."""
        mbarriers = self._mbarriers
        rows, columns, offsets = mbarriers.key(lanes, site, address)
        if not site.instruction.has("noinc"):
            mbarriers.more_pending(rows, columns)
        mbarriers.tell(site, lanes, rows, offsets, "arrive", mbarriers.phases(rows, columns).reshape(lanes.extent))
        lane = lane_numbers(lanes)
        before = self._number
        for key in sorted(set(zip(rows.tolist(), columns.tolist(), strict=True))):
            mine = (rows == key[0]) & (columns == key[1])
            self.bind(
                key, None, partial(self._fetches_arrive, lanes, site, mine, lane[mine], int(offsets[mine][0]), before)
            )

    def _fetches_arrive(
        self,
        lanes: Lanes,
        site: Site,
        mine: np.ndarray,
        lane: np.ndarray,
        offset: int,
        before: int,
        key: Key,
    ) -> None:
        """What these lanes fetched before ends, and they arrive."""
        self._end_fetches(
            lambda fetch: np.isin(fetch.copy.lane, lane) if fetch.number < before else np.zeros(len(fetch.group), bool),
            (key[0], offset),
        )
        if not self._mbarriers.arrived(key, len(lane)):
            raise self._faults.fault(
                "mbarrier-misuse",
                "the thread's copies arrive at an mbarrier more often than the phase expects",
                site.instruction, lanes, mine.reshape(lanes.extent), offset,
            )  # fmt: skip

    # Their end

    def unfinished(self) -> list[Copy]:
        """The copies that are bound to an mbarrier, and for which no lane has asked it."""
        return [copy for waiting in self._bound.values() for copy, _ in waiting if copy is not None]

    def finish(self, key: Key) -> None:
        """A lane asks for a phase of this mbarrier: the copies that are bound to it end, until the phase is over."""
        waiting = self._bound.get(key)
        if not waiting:
            return
        mbarriers = self._mbarriers
        phase = mbarriers.phase(key)
        while waiting and mbarriers.phase(key) == phase and mbarriers.is_alive(key):
            waiting.pop(0)[1](key)

    def bind(self, key: Key, copy: Copy | None, end: Callable[[Key], None]) -> None:
        """When an mbarrier is asked, call this with its key; ``copy``: what must have ended before the block does."""
        self.bindings += 1
        self._bound.setdefault(key, []).append((copy, end))

    def bind_first(self, key: Key, copy: Copy, end: Callable[[Key], None]) -> None:
        """The same, before all others: for what is left of a copy that was bound."""
        self._bound[key].insert(0, (copy, end))

    @property
    def watched(self) -> bool:
        """Whether an observer wants to know of copies."""
        return self._on_begin is not None

    def begin(self, copy: Copy, lanes: Lanes) -> None:
        """Tell the observers that a copy begins."""
        if self._on_begin is not None:
            self._on_begin(copy, lanes)

    def end(self, copy: Copy, bound: Key | None) -> None:
        """Tell the observers that it has ended."""
        self.writes += 1
        if self._on_end is not None:
            self._on_end(replace(copy, bound=bound))

    def written(self, copy: Copy) -> None:
        """Tell the observers that what it wrote to global memory is there."""
        if self._on_written is not None:
            self._on_written(copy)


def lane_numbers(lanes: Lanes) -> np.ndarray:
    """The number of each lane in the batch, (lanes,)."""
    return lanes.full_extent(lanes.row_index * lanes.threads + lanes.column_index)
