"""Bulk copies (``cp.async.bulk``, ``cp.reduce.async.bulk``) and asynchronous stores (``st.async``, ``red.async``).

An mbarrier counts them in bytes, or, out of shared memory, their thread has them in groups. Copies by a tensor map
stand in :mod:`softlab.emulator.memory.tensor_copies`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from softlab.emulator.host import FaultReporter
from softlab.emulator.lanes import WARP, Box, Lanes, Value, lanes_of
from softlab.emulator.memory.atomics import atomic_function, atomic_table
from softlab.emulator.memory.block_memory import SharedMemory
from softlab.emulator.memory.clusters import ClusterMemory
from softlab.emulator.memory.copies import Copies, Copy, Fetch, Pieces, lane_numbers
from softlab.emulator.memory.elements import first_of, join_elements, moved
from softlab.emulator.memory.global_memory import GlobalMemory
from softlab.emulator.memory.mbarriers import Key, Mbarriers
from softlab.emulator.memory.reductions import Reduction
from softlab.emulator.memory.turns import take_turns
from softlab.emulator.ptx.linker import RANK_SHIFT
from softlab.emulator.sites import InstructionSite, Site

_OFFSET_MASK = (1 << RANK_SHIFT) - 1
#: What the addresses and sizes of bulk copies are multiples of, in bytes (PTX ISA, "cp.async.bulk").
_BULK_UNIT = 16
#: Bytes of copies that go together. Of longer ones, the bytes take longer than the rest.
_MOST_TOGETHER = 256
#: Blocks that a multicast's mask has bits for.
_MULTICAST_RANKS = 16


@dataclass(frozen=True)
class BulkSites:
    """The ends of a bulk copy, and the mbarrier that it is bound to; all as accesses of one byte.

    ``reduction``: what a copy that reduces does with each element, None for a plain one.
    """

    into: Site
    out_of: Site
    mbarrier: Site | None = None
    multicast: bool = False
    reduction: Reduction | None = None


@dataclass
class _ToGlobal:
    """A bulk copy out of shared memory, of one lane: its group, and what takes the bytes at its end."""

    copy: Copy
    group: int
    put: Callable[[np.ndarray], None]


class BulkCopies:
    """The bulk copies and asynchronous stores of a batch."""

    def __init__(
        self,
        faults: FaultReporter,
        global_: GlobalMemory,
        shared: SharedMemory,
        cluster: ClusterMemory,
        mbarriers: Mbarriers,
        copies: Copies,
        lanes: int,
    ) -> None:
        self._faults = faults
        self._global = global_
        self._shared = shared
        self._cluster = cluster
        self._mbarriers = mbarriers
        self._copies = copies
        self._lanes = lanes
        self.clear()

    def clear(self) -> None:
        """For the next batch: there is none."""
        self._group = np.zeros(self._lanes, np.int64)
        self._to_global: list[_ToGlobal] = []
        #: Those that ended at ``wait_group.read``: on a GPU they may still be writing.
        self._writing: list[_ToGlobal] = []

    def load(
        self, lanes: Lanes, sites: BulkSites, into: Value, out_of: Value, size: Value, mbarrier: Value, mask: Value = 0
    ) -> None:
        """``cp.async.bulk`` into shared memory: from global memory, or from the block's own shared memory."""
        assert sites.mbarrier is not None
        into, out_of = moved(into, sites.into.offset), moved(out_of, sites.out_of.offset)
        mbarrier = moved(mbarrier, sites.mbarrier.offset)
        if lanes.count > 1 and self._load_together(lanes, sites, into, out_of, size, mbarrier):
            return
        for one, (target, source, nbytes, bar, ranks) in each_lane(lanes, into, out_of, size, mbarrier, mask):
            self._check(one, sites, target, source, nbytes)
            if sites.out_of.space == "global":
                data = self._global_span(one, sites.out_of, source, nbytes).copy()
                self.deliver(one, sites, target, bar, ranks, data, Pieces(np.array([source]), nbytes))
            else:
                row, offset = self.shared_span(one, sites.out_of, source, nbytes)
                read = Copy(sites.out_of, lane_numbers(one), np.array([row]), np.array([offset]), nbytes, False)
                data = self._shared.data[row, offset : offset + nbytes].copy()
                self.deliver(one, sites, target, bar, ranks, data, None, read)

    def _load_together(
        self, lanes: Lanes, sites: BulkSites, into: Value, out_of: Value, size: Value, mbarrier: Value
    ) -> bool:
        """Begin the lanes' copies from one array to their own blocks, checked together.

        False, and nothing begun, where a lane needs a look of its own: what is no such copy, or is at fault.
        """
        near = self._global.allocations.nearest(first_of(out_of))
        if near is None or sites.multicast or sites.out_of.space != "global":
            return False
        flat = (lanes.full_extent(value).astype(np.int64) for value in (into, out_of, size, mbarrier))
        target, source, nbytes, bar = flat
        allowed = (target | source | nbytes) % _BULK_UNIT == 0
        # An address in a block's own memory names no block of the cluster.
        allowed &= (nbytes > 0) & (target >= 0) & (target <= min(self._shared.nbytes, _OFFSET_MASK + 1) - nbytes)
        allowed &= (source >= near.base) & (source <= near.end - nbytes)
        rows, lane = lanes.positions.rows, lane_numbers(lanes)
        columns = self._mbarriers.columns(rows, bar)
        if columns is None or not allowed.all():
            return False
        for mine in _together(rows, columns, target, nbytes):
            count, first = int(nbytes[mine[0]]), int(mine[0])
            key, bound = (int(rows[first]), int(columns[first])), (int(rows[first]), int(bar[first]))
            data = near.data[(source[mine] - near.base)[:, None] + np.arange(count)]
            pieces = Pieces(source[mine], count)
            copy = Copy(sites.into, lane[mine], rows[mine], target[mine], count, True, bound, pieces)
            if self._copies.watched:
                self._copies.begin(copy, _some_lanes(lanes, copy.lane))
            self._copies.bind(key, copy, partial(self._arrive, copy, data))
        return True

    def _arrive(self, copy: Copy, data: np.ndarray, key: Key) -> None:
        """Copies of some lanes end, (lanes, bytes): one after the other, until the phase of their mbarrier is over."""
        ends = self._mbarriers.copies_until_over(key, copy.nbytes, len(copy.lane))
        if ends < len(copy.lane):
            late = copy.part(slice(ends, None))
            self._copies.bind_first(key, late, partial(self._arrive, late, data[ends:]))
            copy, data = copy.part(slice(ends)), data[:ends]
        self._shared.data[copy.owner[:, None], copy.offset[:, None] + np.arange(copy.nbytes)] = data
        self._copies.end(copy, copy.bound)
        self._mbarriers.arrived_bytes(key, copy.nbytes * ends)

    def deliver(
        self,
        one: Lanes,
        sites: BulkSites,
        target: int,
        bar: int,
        ranks: int,
        data: np.ndarray,
        pieces: Pieces | None,
        read: Copy | None = None,
    ) -> None:
        """Begin one lane's copy of these bytes into shared memory, in each block that a multicast names.

        ``target`` and ``bar``: the addresses of the bytes and of the mbarrier; the sites' offsets are in them.
        ``read``: the other end where that is in shared memory, too.
        """
        assert sites.mbarrier is not None
        ends = [(target, bar)]
        if sites.multicast:
            bits = [(rank + 1) << RANK_SHIFT for rank in range(_MULTICAST_RANKS) if ranks >> rank & 1]
            ends = [(bit | target & _OFFSET_MASK, bit | bar & _OFFSET_MASK) for bit in bits]
        operation = sites.reduction.name if sites.reduction else ""
        for there, there_bar in ends:
            owner, offset = self.shared_span(one, sites.into, there, len(data))
            rows, columns, offsets = self._mbarriers.key(one, sites.mbarrier.moved(0), np.uint64(there_bar))
            if rows[0] != owner:
                raise self._other_block(one, sites.into, np.bool_(True), offsets)
            bound = (owner, int(offsets[0]))
            at = np.array([owner]), np.array([offset])
            copy = Copy(sites.into, lane_numbers(one), *at, len(data), True, bound, pieces, operation)
            pieces = None  # they are read once
            out_of = None if read is None else replace(read, bound=bound)
            for end in (out_of, copy) if out_of is not None else (copy,):
                self._copies.begin(end, one)
            arrives = partial(self._arrives, copy, out_of, data, sites.reduction)
            self._copies.bind((owner, int(columns[0])), copy, arrives)

    def _arrives(self, copy: Copy, read: Copy | None, data: np.ndarray, reduction: Reduction | None, key: Key) -> None:
        row, offset = int(copy.owner[0]), int(copy.offset[0])
        target = self._shared.data[row, offset : offset + copy.nbytes]
        target[:] = data if reduction is None else reduction.apply(target, data)
        if read is not None:
            self._copies.end(read, read.bound)
        self._copies.end(copy, copy.bound)
        self._mbarriers.arrived_bytes(key, copy.nbytes)

    def store(self, lanes: Lanes, sites: BulkSites, into: Value, out_of: Value, size: Value) -> None:
        """``cp.async.bulk`` from shared to global memory, also with a reduction."""
        into, out_of = moved(into, sites.into.offset), moved(out_of, sites.out_of.offset)
        for one, (target, source, nbytes) in each_lane(lanes, into, out_of, size):
            self._check(one, sites, target, source, nbytes)
            destination = self._global_span(one, sites.into, target, nbytes)
            put = partial(_put_run, destination, sites.reduction)
            self.take(one, sites, source, nbytes, Pieces(np.array([target]), nbytes), put)

    def take(
        self,
        one: Lanes,
        sites: BulkSites,
        source: int,
        nbytes: int,
        pieces: Pieces,
        put: Callable[[np.ndarray], None],
    ) -> None:
        """Begin one lane's copy out of shared memory. At its end ``put`` gets the bytes."""
        owner, offset = self.shared_span(one, sites.out_of, source, nbytes)
        at = np.array([owner]), np.array([offset])
        operation = sites.reduction.name if sites.reduction else ""
        copy = Copy(sites.out_of, lane_numbers(one), *at, nbytes, False, pieces=pieces, operation=operation)
        self._copies.begin(copy, one)
        self._to_global.append(_ToGlobal(copy, int(self._group[copy.lane[0]]), put))

    def commit(self, lanes: Lanes, site: InstructionSite) -> None:
        """``cp.async.bulk.commit_group``."""
        self._group[lanes.mask.reshape(-1)] += 1

    def wait(self, lanes: Lanes, site: InstructionSite, newest: Value) -> None:
        """``cp.async.bulk.wait_group``; with ``.read`` as well all has been read and written then."""
        here = lanes.mask.reshape(-1)
        limit = self._group - 1 - int(np.max(newest))

        def waited_for(one: _ToGlobal) -> bool:
            return bool(here[one.copy.lane[0]]) and bool(one.group <= limit[one.copy.lane[0]])

        self._end_stores(waited_for)
        if not site.instruction.has("read"):
            for one in filter(waited_for, self._writing):
                self._copies.written(one.copy)
            self._writing = [one for one in self._writing if not waited_for(one)]

    def _end_stores(self, which: Callable[[_ToGlobal], bool]) -> None:
        rest = []
        for one in self._to_global:
            if which(one):
                row, offset = int(one.copy.owner[0]), int(one.copy.offset[0])
                one.put(self._shared.data[row, offset : offset + one.copy.nbytes])
                self._copies.end(one.copy, None)
                self._writing.append(one)
            else:
                rest.append(one)
        self._to_global = rest

    def unfinished(self) -> list[Copy]:
        """The copies that no thread has waited for."""
        return [one.copy for one in self._to_global] + self._copies.unfinished()

    def done(self) -> None:
        """The batch is over: end the copies to global memory that are still in flight."""
        self._end_stores(lambda one: True)

    # Stores

    def send(self, lanes: Lanes, sites: BulkSites, into: Value, mbarrier: Value, *values: Value) -> None:
        """``st.async``, ``red.async``: a store or an atomic in another block; an mbarrier there counts its bytes."""
        assert sites.mbarrier is not None
        owner, offset = self._cluster.locate(lanes, sites.into, into)
        owners, offsets = lanes.full_extent(owner), lanes.full_extent(offset).astype(np.int64)
        rows, columns, bars = self._mbarriers.key(lanes, sites.mbarrier, mbarrier)
        if (rows != owners).any():
            raise self._other_block(lanes, sites.into, rows != owners, bars)
        items = np.broadcast_to(join_elements(sites.into, values), lanes.extent).reshape(-1)
        lane = lane_numbers(lanes)
        view = self._shared.view(sites.into.item)
        index = owners * view.shape[1] + offsets // sites.into.width
        operation = sites.into.operation
        for key in sorted(set(zip(rows.tolist(), columns.tolist(), strict=True))):
            to_key = np.flatnonzero((rows == key[0]) & (columns == key[1]))
            bound = (key[0], int(bars[to_key[0]]))
            for mine in self._parts(key, lane, to_key, sites.into.width):
                at = owners[mine], offsets[mine]
                copy = Copy(sites.into, lane[mine], *at, sites.into.width, True, bound, operation=operation)
                self._copies.begin(copy, lanes)
                fetch = Fetch(copy, 0, np.zeros(len(mine), np.int64), index[mine], items[mine])
                self._copies.bind(key, copy, partial(self._sent, fetch))

    def _parts(self, key: Key, lane: np.ndarray, to_key: np.ndarray, width: int) -> list[np.ndarray]:
        """The stores to one mbarrier that come together: all of them, or those of each warp.

        Where the mbarrier expects fewer bytes, its phase ends when these have come, and not with the last store.
        """
        if not 0 < self._mbarriers.missing_bytes(key) < width * len(to_key):
            return [to_key]
        return np.split(to_key, np.flatnonzero(np.diff(lane[to_key] // WARP)) + 1)

    def _sent(self, fetch: Fetch, key: Key) -> None:
        site, operation = fetch.copy.site, fetch.copy.operation
        memory = self._shared.view(site.dtype if operation else site.item).reshape(-1)
        if operation:
            values = [np.ascontiguousarray(fetch.items).view(site.dtype)]
            take_turns(memory, fetch.index, values, atomic_function(operation), atomic_table(operation))
        else:
            memory[fetch.index] = fetch.items
        self._copies.end(fetch.copy, fetch.copy.bound)
        self._mbarriers.arrived_bytes(key, fetch.copy.nbytes * len(fetch.index))

    # What copies may do

    def _other_block(self, lanes: Lanes, site: Site, bad: np.ndarray | np.bool_, offset: np.ndarray) -> Exception:
        bad = np.broadcast_to(bad, offset.shape)
        return self._faults.fault(
            "mbarrier-misuse",
            "the thread's copy goes to one block and names an mbarrier of another. Both must be in the same block",
            site.instruction, lanes, bad.reshape(lanes.extent), int(offset[int(bad.argmax())]),
        )  # fmt: skip

    def _check(self, lanes: Lanes, sites: BulkSites, target: int, source: int, nbytes: int) -> None:
        named = ((target, "goes to byte {}"), (source, "comes from byte {}"), (nbytes, "has a size of {} bytes"))
        for number, words in named:
            if number % _BULK_UNIT:
                where, argument = (number, None) if number == nbytes else self._faults.located(number)
                raise self._faults.fault(
                    "misaligned",
                    f"the thread starts a bulk copy that {words.format(where)}, which is no multiple of {_BULK_UNIT}. "
                    f"Both addresses and the size of a bulk copy are multiples of {_BULK_UNIT}: copy the rest by "
                    "ordinary loads and stores",
                    sites.into.instruction, lanes, np.bool_(True), where, argument,
                )  # fmt: skip

    def _global_span(self, lanes: Lanes, site: Site, address: int, nbytes: int) -> np.ndarray:
        """The bytes of an array, checked."""
        found = self._global.span(address, nbytes, site.store)
        if found is None:
            near, argument = self._faults.located(address)
            verb = "writes" if site.store else "reads"
            raise self._faults.fault(
                "global-out-of-bounds",
                f"the thread's bulk copy {verb} {nbytes} bytes from byte {near} on of the nearest array. Test the "
                "index and the size against the length before the copy",
                site.instruction, lanes, np.bool_(True), near, argument,
            )  # fmt: skip
        return found

    def shared_span(self, lanes: Lanes, site: Site, address: int, nbytes: int) -> tuple[int, int]:
        """(row, offset) of a run of bytes in shared memory, checked."""
        offset = address & _OFFSET_MASK
        if offset + nbytes > self._shared.nbytes:
            raise self._faults.fault(
                "shared-out-of-bounds",
                f"the thread copies {nbytes} bytes at byte {offset} of the block's shared memory, which has "
                f"{self._shared.nbytes} bytes. Check the size and the dynamic shared memory of the launch (smem=)",
                site.instruction, lanes, np.bool_(True), offset,
            )  # fmt: skip
        rows, _ = self._cluster.locate(lanes, site.moved(0), np.uint64(address))
        return int(lanes.full_extent(rows)[0]), offset


def each_lane(lanes: Lanes, *values: Value) -> Iterator[tuple[Lanes, tuple[int, ...]]]:
    """Each lane in turn, with its values."""
    flat = [lanes.full_extent(value).tolist() for value in values]
    ones: Iterable[Lanes] = (lanes,)
    if lanes.count > 1:
        where = lanes.positions
        ones = (one_lane(lanes, *place) for place in zip(where.rows.tolist(), where.columns.tolist(), strict=True))
    return zip(ones, zip(*flat, strict=True), strict=True)


def one_lane(lanes: Lanes, row: int, column: int) -> Lanes:
    """The set of one lane of the batch."""
    rows, columns = np.zeros(lanes.blocks, bool), np.zeros(lanes.threads, bool)
    rows[row] = columns[column] = True
    return Box(lanes.blocks, lanes.threads, rows, columns)


def _some_lanes(lanes: Lanes, numbers: np.ndarray) -> Lanes:
    """The set of these lanes of the batch."""
    if len(numbers) == lanes.count:
        return lanes
    mask = np.zeros((lanes.blocks, lanes.threads), bool)
    mask.reshape(-1)[numbers] = True
    return lanes_of(mask)


def _together(rows: np.ndarray, columns: np.ndarray, target: np.ndarray, nbytes: np.ndarray) -> list[np.ndarray]:
    """The copies that go together: those to one mbarrier. Each alone where two meet, or they are long or unlike.

    Copies that meet race with each other, which shows only where each is told alone.
    """
    size = int(nbytes[0])
    place = np.sort(rows * (_OFFSET_MASK + 1) + target)
    if size > _MOST_TOGETHER or (nbytes != size).any() or (place[1:] - place[:-1] < size).any():
        return list(np.arange(len(rows))[:, None])
    key = rows * (int(columns.max()) + 1) + columns
    order = np.argsort(key, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(key[order])) + 1)


def _put_run(destination: np.ndarray, reduction: Reduction | None, data: np.ndarray) -> None:
    destination[:] = data if reduction is None else reduction.apply(destination, data)
