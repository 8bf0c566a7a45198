"""Asynchronous copies: ``cp.async``, ``cp.async.bulk`` and ``st.async``.

A copy has no effect where it is issued. It ends where a thread waits for it: at ``wait_group`` of the thread that
issued it, or when somebody asks the mbarrier that it is bound to. Until then its destination holds what it held before,
so that a kernel that reads too early finds that out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from softlab.emulator.effects import Place
from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.linker import RANK_SHIFT
from softlab.emulator.memory import Site, join_elements

if TYPE_CHECKING:
    from softlab.emulator.machine import Batch

_OFFSET_MASK = (1 << RANK_SHIFT) - 1
#: What the addresses and sizes of bulk copies are multiples of, in bytes (PTX ISA, "cp.async.bulk").
_BULK_UNIT = 16
#: Blocks that a multicast's mask has bits for.
_MULTICAST_RANKS = 16
#: Later than every group: what ``wait_all`` waits for.
_ALL = np.iinfo(np.int64).max


@dataclass(frozen=True)
class CopySites:
    """The two ends of a ``cp.async``; ``sized``: a source size, or a predicate to leave it out, is given."""

    into: Site
    out_of: Site
    sized: str = ""


@dataclass(frozen=True)
class BulkSites:
    """The ends of a bulk copy, and the mbarrier that it is bound to; all as accesses of one byte."""

    into: Site
    out_of: Site
    mbarrier: Site | None = None
    multicast: bool = False


@dataclass(frozen=True)
class Copy:
    """One instruction's copies that go together, as observers hear of them: (n,) arrays, one element a lane.

    ``lane``: who issued it (``row * threads + column``); ``owner`` and ``offset``: the row and place of the shared
    memory that it writes (``writes``) or reads; ``nbytes`` of each; ``bound``: the mbarrier (row, offset) that it is
    bound to, None where its thread waits for it.
    """

    site: Site
    lane: np.ndarray
    owner: np.ndarray
    offset: np.ndarray
    nbytes: int
    writes: bool
    bound: tuple[int, int] | None = None


@dataclass
class _Fetch:
    """A ``cp.async`` of some lanes: its number, the group of each lane, index in shared memory as items, the items."""

    copy: Copy
    number: int
    group: np.ndarray
    index: np.ndarray
    items: np.ndarray

    def where(self, mask: np.ndarray) -> _Fetch:
        """Those of some lanes."""
        copy = replace(self.copy, lane=self.copy.lane[mask], owner=self.copy.owner[mask], offset=self.copy.offset[mask])
        return _Fetch(copy, self.number, self.group[mask], self.index[mask], self.items[mask])


@dataclass
class _ToGlobal:
    """A bulk copy out of shared memory, of one lane: its group, and the bytes that it goes to."""

    copy: Copy
    group: int
    place: np.ndarray


class Copies:
    """The copies of a batch that are under way."""

    def __init__(self, batch: Batch, lanes: int) -> None:
        self._batch = batch
        self._lanes = lanes
        self.on_begin: Callable[[Copy, Lanes], Any] | None = None
        self.on_end: Callable[[Copy], Any] | None = None
        self.clear()

    def clear(self) -> None:
        """For the next batch: there is none."""
        self._group = np.zeros(self._lanes, np.int64)
        self._bulk_group = np.zeros(self._lanes, np.int64)
        self._fetches: list[_Fetch] = []
        self._number = 0
        self._to_global: list[_ToGlobal] = []
        self._bound: dict[tuple[int, int], list[tuple[Copy | None, Callable[[tuple[int, int]], None]]]] = {}
        self.writes = 0

    # cp.async

    def fetch(self, lanes: Lanes, sites: CopySites, into: Value, out_of: Value, size: Value | None = None) -> None:
        """``cp.async``: read now, written later."""
        if size is not None and sites.sized == "ignore":
            size = np.where(size, np.uint32(0), np.uint32(sites.into.width))
        batch = self._batch
        if size is None or np.all(size == sites.into.width):
            values = batch.global_.load(lanes, sites.out_of, out_of)
            items = join_elements(sites.into, values if sites.into.elements > 1 else (values,))
        else:
            items = self._padded(lanes, sites, out_of, size)
        items = np.broadcast_to(items, lanes.extent)
        index = batch.shared.checked(lanes, sites.into, into, items)
        lane = _lane(lanes)
        owner = lanes.full_extent(lanes.row_index)
        place = lanes.full_extent(index)
        width = sites.into.width
        copy = Copy(sites.into, lane, owner, place * width, width, True)
        self._begin(copy, lanes)
        flat = owner * batch.shared.view(sites.into.item).shape[1] + place
        self._fetches.append(_Fetch(copy, self._number, self._group[lane], flat, items.reshape(-1)))
        self._number += 1

    def _padded(self, lanes: Lanes, sites: CopySites, address: Value, size: Value) -> np.ndarray:
        """The items of copies that read fewer bytes than they write: zeros behind them."""
        whole = lanes.put(address, address, True)
        flat = np.zeros((lanes.blocks * lanes.threads, sites.into.width), np.uint8)
        width = sites.into.width
        too_many = np.asarray(size) > width
        if too_many.any():
            raise self._batch.fault(
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
                flat[_lane(part), :nbytes] = self._batch.global_.load_bytes(part, sites.out_of, there, nbytes)
        some, _ = lanes.split(np.asarray(size) > 0)
        if some is not None:
            self._batch.global_.tell(some, sites.out_of, some.take(whole))
        lane = _lane(lanes)
        return flat[lane].reshape(-1).view(sites.into.item).reshape(lanes.extent)

    def commit(self, lanes: Lanes, place: Place) -> None:
        """``cp.async.commit_group``."""
        self._group[lanes.mask.reshape(-1)] += 1

    def wait(self, lanes: Lanes, place: Place, newest: Value | None = None) -> None:
        """``cp.async.wait_group``, and ``wait_all`` without a number: the lanes' copies end but the newest groups."""
        here = lanes.mask.reshape(-1)
        limit = np.full(self._lanes, -1, np.int64)
        if newest is None:
            limit[here] = _ALL
            self._group[here] += 1
        else:
            limit[here] = self._group[here] - 1 - int(np.max(newest))
        self._end_fetches(lambda fetch: fetch.group <= limit[fetch.copy.lane])

    def _end_fetches(self, which: Callable[[_Fetch], np.ndarray], bound: tuple[int, int] | None = None) -> None:
        rest = []
        for fetch in self._fetches:
            ends = which(fetch)
            if not ends.any():
                rest.append(fetch)
                continue
            ended, left = (fetch, None) if ends.all() else (fetch.where(ends), fetch.where(~ends))
            view = self._batch.shared.view(ended.copy.site.item).reshape(-1)
            view[ended.index] = ended.items
            self._end(ended.copy, bound)
            if left is not None:
                rest.append(left)
        self._fetches = rest

    def arrive(self, lanes: Lanes, site: Site, address: Value) -> None:
        """``cp.async.mbarrier.arrive``: the mbarrier hears of it when the lanes' copies so far have ended."""
        mbarriers = self._batch.mbarriers
        rows, columns, offsets = mbarriers.key(lanes, site, address)
        if not site.instruction.has("noinc"):
            mbarriers.more_pending(rows, columns)
        if mbarriers.listener is not None:
            mbarriers.listener(site, lanes, rows, offsets, "arrive")
        lane = _lane(lanes)
        before = self._number
        for key in sorted(set(zip(rows.tolist(), columns.tolist(), strict=True))):
            mine = (rows == key[0]) & (columns == key[1])
            self._bind(
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
        key: tuple[int, int],
    ) -> None:
        """What these lanes fetched before ends, and they arrive."""
        self._end_fetches(
            lambda fetch: np.isin(fetch.copy.lane, lane) if fetch.number < before else np.zeros(len(fetch.group), bool),
            (key[0], offset),
        )
        if not self._batch.mbarriers.arrived(key, len(lane)):
            raise self._batch.fault(
                "mbarrier-misuse",
                "the thread's copies arrive at an mbarrier more often than the phase expects",
                site.instruction, lanes, mine.reshape(lanes.extent), offset,
            )  # fmt: skip

    # cp.async.bulk

    def bulk_load(
        self, lanes: Lanes, sites: BulkSites, into: Value, out_of: Value, size: Value, mbarrier: Value, mask: Value = 0
    ) -> None:
        """``cp.async.bulk`` into shared memory: from global memory, or from the block's own shared memory."""
        batch = self._batch
        assert sites.mbarrier is not None
        bar_site = sites.mbarrier.moved(0)
        for one, (target, source, nbytes, bar, ranks) in self._each(lanes, sites, into, out_of, size, mbarrier, mask):
            self._check_bulk(one, sites, target, source, nbytes)
            places = [(target, bar)]
            if sites.multicast:
                bits = [(rank + 1) << RANK_SHIFT for rank in range(_MULTICAST_RANKS) if ranks >> rank & 1]
                places = [(bit | target & _OFFSET_MASK, bit | bar & _OFFSET_MASK) for bit in bits]
            data = self._source(one, sites, source, nbytes)
            for there, at in places:
                owner, offset = self._shared_place(one, sites.into, there, nbytes)
                rows, columns, offsets = batch.mbarriers.key(one, bar_site, np.uint64(at))
                if rows[0] != owner:
                    raise self._other_block(one, sites.into, np.bool_(True), offsets)
                bound = (owner, int(offsets[0]))
                copy = Copy(sites.into, _lane(one), np.array([owner]), np.array([offset]), nbytes, True, bound)
                self._begin(copy, one)
                self._bind((owner, int(columns[0])), copy, partial(self._bulk_arrives, copy, data))

    def _source(self, lanes: Lanes, sites: BulkSites, source: int, nbytes: int) -> np.ndarray:
        batch = self._batch
        if sites.out_of.space == "global":
            return self._global_span(lanes, sites.out_of, source, nbytes).copy()
        row, offset = self._shared_place(lanes, sites.out_of, source, nbytes)
        return batch.shared.data[row, offset : offset + nbytes].copy()

    def _bulk_arrives(self, copy: Copy, data: np.ndarray, key: tuple[int, int]) -> None:
        row, offset = int(copy.owner[0]), int(copy.offset[0])
        self._batch.shared.data[row, offset : offset + copy.nbytes] = data
        self._end(copy, copy.bound)
        self._batch.mbarriers.arrived_bytes(key, copy.nbytes)

    def bulk_store(self, lanes: Lanes, sites: BulkSites, into: Value, out_of: Value, size: Value) -> None:
        """``cp.async.bulk`` from shared to global memory."""
        for one, (target, source, nbytes, _, _) in self._each(lanes, sites, into, out_of, size, 0, 0):
            self._check_bulk(one, sites, target, source, nbytes)
            owner, offset = self._shared_place(one, sites.out_of, source, nbytes)
            place = self._global_span(one, sites.into, target, nbytes)
            copy = Copy(sites.out_of, _lane(one), np.array([owner]), np.array([offset]), nbytes, False)
            self._begin(copy, one)
            self._to_global.append(_ToGlobal(copy, int(self._bulk_group[copy.lane[0]]), place))

    def bulk_commit(self, lanes: Lanes, place: Place) -> None:
        """``cp.async.bulk.commit_group``."""
        self._bulk_group[lanes.mask.reshape(-1)] += 1

    def bulk_wait(self, lanes: Lanes, place: Place, newest: Value) -> None:
        """``cp.async.bulk.wait_group``; with ``.read`` as well all has been read and written then."""
        here = lanes.mask.reshape(-1)
        limit = self._bulk_group - 1 - int(np.max(newest))
        self._end_stores(lambda one: bool(here[one.copy.lane[0]]) and one.group <= limit[one.copy.lane[0]])

    def _end_stores(self, which: Callable[[_ToGlobal], bool]) -> None:
        rest = []
        for one in self._to_global:
            if which(one):
                row, offset = int(one.copy.owner[0]), int(one.copy.offset[0])
                one.place[:] = self._batch.shared.data[row, offset : offset + one.copy.nbytes]
                self._end(one.copy, None)
            else:
                rest.append(one)
        self._to_global = rest

    def unfinished(self) -> list[Copy]:
        """The bulk copies that nobody has waited for."""
        bound = [copy for waiting in self._bound.values() for copy, _ in waiting if copy is not None]
        return [one.copy for one in self._to_global] + bound

    def done(self) -> None:
        """The batch is over: what is on its way to global memory comes there."""
        self._end_stores(lambda one: True)

    # st.async

    def store(self, lanes: Lanes, sites: BulkSites, into: Value, mbarrier: Value, *values: Value) -> None:
        """``st.async``: a store into another block that an mbarrier there counts in bytes."""
        batch = self._batch
        assert sites.mbarrier is not None
        owner, place = batch.cluster.locate(lanes, sites.into, into)
        owners, offsets = lanes.full_extent(owner), lanes.full_extent(place).astype(np.int64)
        rows, columns, bars = batch.mbarriers.key(lanes, sites.mbarrier, mbarrier)
        if (rows != owners).any():
            raise self._other_block(lanes, sites.into, rows != owners, bars)
        items = np.broadcast_to(join_elements(sites.into, values), lanes.extent).reshape(-1)
        lane = _lane(lanes)
        view = batch.shared.view(sites.into.item)
        index = owners * view.shape[1] + offsets // sites.into.width
        for key in sorted(set(zip(rows.tolist(), columns.tolist(), strict=True))):
            mine = (rows == key[0]) & (columns == key[1])
            bound = (key[0], int(bars[mine][0]))
            copy = Copy(sites.into, lane[mine], owners[mine], offsets[mine], sites.into.width, True, bound)
            self._begin(copy, lanes)
            fetch = _Fetch(copy, 0, self._group[lane[mine]], index[mine], items[mine])
            self._bind(key, copy, partial(self._stores_arrive, fetch))

    def _stores_arrive(self, fetch: _Fetch, key: tuple[int, int]) -> None:
        self._batch.shared.view(fetch.copy.site.item).reshape(-1)[fetch.index] = fetch.items
        self._end(fetch.copy, fetch.copy.bound)
        self._batch.mbarriers.arrived_bytes(key, fetch.copy.nbytes * len(fetch.index))

    # Their end

    def finish(self, key: tuple[int, int]) -> None:
        """Somebody asks for a phase of this mbarrier: what is bound to it ends, until the phase is over."""
        waiting = self._bound.get(key)
        if not waiting:
            return
        mbarriers = self._batch.mbarriers
        phase = mbarriers.phase(key)
        while waiting and mbarriers.phase(key) == phase and mbarriers.is_alive(key):
            waiting.pop(0)[1](key)

    def _bind(self, key: tuple[int, int], copy: Copy | None, end: Callable[[tuple[int, int]], None]) -> None:
        self._bound.setdefault(key, []).append((copy, end))

    def _begin(self, copy: Copy, lanes: Lanes) -> None:
        if self.on_begin is not None:
            self.on_begin(copy, lanes)

    def _end(self, copy: Copy, bound: tuple[int, int] | None) -> None:
        self.writes += 1
        if self.on_end is not None:
            self.on_end(replace(copy, bound=bound))

    # What copies may do

    def _other_block(self, lanes: Lanes, site: Site, bad: np.ndarray | np.bool_, offset: np.ndarray) -> Exception:
        bad = np.broadcast_to(bad, offset.shape)
        return self._batch.fault(
            "mbarrier-misuse",
            "the thread's copy goes to one block and names an mbarrier of another. Both lie in the same block",
            site.instruction, lanes, bad.reshape(lanes.extent), int(offset[int(bad.argmax())]),
        )  # fmt: skip

    def _each(self, lanes: Lanes, sites: BulkSites, *values: Value) -> Iterable[tuple[Lanes, tuple[int, ...]]]:
        """One lane after the other, with its values; offsets of addresses are in them."""
        offsets = (sites.into.offset, sites.out_of.offset, 0, sites.mbarrier.offset if sites.mbarrier else 0, 0)
        flat = [lanes.full_extent(value) for value in values]
        left: Lanes | None = lanes
        for number in range(lanes.count):
            assert left is not None
            first = np.zeros(left.extent, bool)
            first.reshape(-1)[0] = True
            one, left = left.split(first)
            assert one is not None
            yield one, tuple(int(value[number]) + offset for value, offset in zip(flat, offsets, strict=True))

    def _check_bulk(self, lanes: Lanes, sites: BulkSites, target: int, source: int, nbytes: int) -> None:
        named = ((target, "goes to byte {}"), (source, "comes from byte {}"), (nbytes, "has a size of {} bytes"))
        for number, words in named:
            if number % _BULK_UNIT:
                where = number if number == nbytes else self._batch.shown_address(number)
                raise self._batch.fault(
                    "misaligned",
                    f"the thread starts a bulk copy that {words.format(where)}, which is no multiple of {_BULK_UNIT}. "
                    f"Both addresses and the size of a bulk copy are multiples of {_BULK_UNIT}: copy the rest by "
                    "ordinary loads and stores",
                    sites.into.instruction, lanes, np.bool_(True), where,
                )  # fmt: skip

    def _global_span(self, lanes: Lanes, site: Site, address: int, nbytes: int) -> np.ndarray:
        """The bytes of an array, checked."""
        batch = self._batch
        found = batch.global_.span(address, nbytes, site.store)
        if found is None:
            near = batch.shown_address(address)
            verb = "writes" if site.store else "reads"
            raise batch.fault(
                "global-out-of-bounds",
                f"the thread's bulk copy {verb} {nbytes} bytes from byte {near} on of the nearest array. Test the "
                "index and the size against the length before the copy",
                site.instruction, lanes, np.bool_(True), near,
            )  # fmt: skip
        return found

    def _shared_place(self, lanes: Lanes, site: Site, address: int, nbytes: int) -> tuple[int, int]:
        """(row, offset) of a run of bytes in shared memory, checked."""
        batch = self._batch
        offset = address & _OFFSET_MASK
        if offset + nbytes > batch.shared.nbytes:
            raise batch.fault(
                "shared-out-of-bounds",
                f"the thread copies {nbytes} bytes at byte {offset} of the block's shared memory, which has "
                f"{batch.shared.nbytes} bytes. Check the size and the dynamic shared memory of the launch (smem=)",
                site.instruction, lanes, np.bool_(True), offset,
            )  # fmt: skip
        rows, _ = batch.cluster.locate(lanes, site.moved(0), np.uint64(address))
        return int(lanes.full_extent(rows)[0]), offset


def _lane(lanes: Lanes) -> np.ndarray:
    """The number of each lane in the batch, (lanes,)."""
    return lanes.full_extent(lanes.row_index * lanes.threads + lanes.column_index)
