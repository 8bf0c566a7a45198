"""Global memory: the caller's arrays at virtual addresses. Every access is checked for bounds and alignment."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from softlab.emulator.host import FaultReporter
from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.memory.allocations import Allocation, Allocations
from softlab.emulator.memory.elements import (
    ONE_OWNER,
    AccessListener,
    Reach,
    first_of,
    join_elements,
    last_writer,
    misaligned,
    one_address,
    split_elements,
)
from softlab.emulator.memory.known_addresses import KnownAddresses
from softlab.emulator.memory.partial import partial_cells, partial_load, partial_store
from softlab.emulator.sites import Site

_ADDRESS_MASK = (1 << 64) - 1


class GlobalMemory:
    """Global and constant memory of one launch, as one batch uses it."""

    def __init__(
        self,
        allocations: Allocations,
        faults: FaultReporter,
        listener: AccessListener | None = None,
        known: KnownAddresses | None = None,
    ) -> None:
        self.allocations = allocations
        self._faults = faults
        self._listener = listener
        self._known = known or KnownAddresses()
        self.writes = 0

    @partial_load
    def load(self, lanes: Lanes, site: Site, address: Value) -> Any:
        """The value(s) at each lane's address."""
        address = one_address(address)
        one = self._one_array(lanes, site, address, ())
        if one is not None:
            return split_elements(site, one[0].view(site.item)[one[1]])
        items = np.empty(np.shape(address), site.item)
        for allocation, where, index in self._pieces(lanes, site, address):
            items[where] = allocation.view(site.item)[index]
        return split_elements(site, items)

    def load_bytes(self, lanes: Lanes, site: Site, address: Value, nbytes: int) -> np.ndarray:
        """The first bytes at each lane's address, (lanes, nbytes) uint8; it is aligned as a whole.

        No listener is told of it: see :meth:`tell`.
        """
        target = address + np.uint64(site.offset & _ADDRESS_MASK)
        if misaligned(target, site.width):
            raise self._misaligned(lanes, site, address)
        byte = Site(site.index, site.instruction, site.space, np.dtype("u1"))
        told, self._listener = self._listener, None
        try:
            found = [lanes.full_extent(self.load(lanes, byte, target + np.uint64(i))) for i in range(nbytes)]
        finally:
            self._listener = told
        return np.stack(found, axis=1)

    def tell(self, lanes: Lanes, site: Site, address: Value, values: tuple[Value, ...]) -> None:
        """Tell the listener of an access that :meth:`load_bytes` made."""
        if self._listener is not None:
            self._listener(site, lanes, address + np.uint64(site.offset & _ADDRESS_MASK), values)

    def span(self, address: int, nbytes: int, store: bool) -> np.ndarray | None:
        """The bytes of an array from an address on; None where they are not all in one array."""
        near = self.allocations.nearest(address)
        if near is None or address < near.base or address + nbytes > near.end:
            return None
        if store:
            near.check_writeable()
        self.writes += store
        return near.data[address - near.base : address - near.base + nbytes]

    @partial_store
    def store(self, lanes: Lanes, site: Site, address: Value, *values: Value) -> None:
        """Write each lane's value(s) to its address."""
        value = join_elements(site, values)
        one = self._one_array(lanes, site, address, values)
        if one is not None:
            one[0].view(site.item)[one[1]] = last_writer(value, one[1])
            return
        for allocation, where, index in self._pieces(lanes, site, address, values):
            allocation.view(site.item)[index] = np.broadcast_to(last_writer(value, where), where.shape)[where]

    @partial_cells
    def cells(self, lanes: Lanes, site: Site, address: Value) -> Iterator[tuple[np.ndarray, np.ndarray, Any]]:
        """(memory as items, index of each lane's item, which lanes) in the order of the lanes: for atomics."""
        one = self._one_array(lanes, site, address, ())
        if one is not None:
            yield one[0].view(site.item), lanes.full_extent(one[1]), slice(None)
            return
        address = np.broadcast_to(address, lanes.extent)
        for allocation, where, index in self._pieces(lanes, site, address):
            yield allocation.view(site.item), index.reshape(-1), where.reshape(-1)

    def reach(self, lanes: Lanes, site: Site, address: Value) -> Reach | None:
        """Where the lanes of an atomic reach, for compiled code, if all reach into the array of the first one."""
        first = (first_of(address) + site.offset) & _ADDRESS_MASK
        at = bisect_right(self.allocations.bases, first) - 1
        if at < 0:
            return None
        allocation = self.allocations.all[at]
        highest = allocation.lead + allocation.nbytes - site.width
        if highest < allocation.lead or not allocation.writeable or site.alignment > site.width:
            return None
        tell = None
        if self._listener is not None:
            tell = partial(self._begin_access, (allocation,), lanes, site, address, ())
        offset = site.offset - allocation.origin
        return Reach(allocation.whole, ONE_OWNER, address, offset, allocation.lead, highest, tell)

    def _one_array(
        self, lanes: Lanes, site: Site, address: Value, values: tuple[Value, ...]
    ) -> tuple[Allocation, Any] | None:
        """(allocation, item index) where all lanes touch the same one; None where they do not, or go beyond it."""
        first = (first_of(address) + site.offset) & _ADDRESS_MASK
        at = bisect_right(self.allocations.bases, first) - 1
        if at < 0:
            return None
        allocation = self.allocations.all[at]
        last = allocation.lead + allocation.nbytes - site.width
        index: Any
        known = self._known.at(address, site.offset) if self._listener is not None else None
        if known is not None:
            if known.highest - allocation.origin > last or known.lowest - allocation.origin < allocation.lead:
                return None
            # The array begins at a multiple of all widths.
            bits = 0 if known.is_aligned(site.alignment) else 1
            index = known.items(site.width) - allocation.origin // site.width
        elif isinstance(address, np.ndarray):
            offset = address - np.uint64((allocation.origin - site.offset) & _ADDRESS_MASK)
            # No offset is greater than all their bits together, so most often one pass over them is enough.
            bits = int(np.bitwise_or.reduce(offset, axis=None))
            if bits > last and int(offset.max()) > last:
                return None
            if allocation.lead and int(offset.min()) < allocation.lead:
                return None
            index = (offset >> site.shift).view(np.int64)
        else:
            bits = first - allocation.origin
            if bits > last:
                return None
            index = bits // site.width
        if bits & (site.alignment - 1):
            raise self._misaligned(lanes, site, address)
        if known is not None:
            self._check_stores((allocation,), site)
            self._listener(site, lanes, known.array, values)  # type: ignore[misc]
        else:
            self._begin_access((allocation,), lanes, site, address, values)
        return allocation, index

    def _pieces(
        self, lanes: Lanes, site: Site, address: Value, values: tuple[Value, ...] = ()
    ) -> Iterator[tuple[Allocation, np.ndarray, Any]]:
        """What lanes that touch several arrays touch of each: (allocation, mask of the addresses in it, item index)."""
        width = site.width
        target = address + np.uint64(site.offset & _ADDRESS_MASK)
        bases = np.array(self.allocations.bases, np.uint64)
        ends = np.array([a.end for a in self.allocations.all], np.uint64)
        owner = np.searchsorted(bases, target, side="right") - 1
        inside = (owner >= 0) & (len(bases) > 0)
        if len(bases):
            held = np.maximum(owner, 0)
            inside &= (ends[held] >= target) & (ends[held] - target >= width)
        if not np.all(inside):
            raise self._faults.memory_fault("global-out-of-bounds", lanes, site, ~np.asarray(inside), target)
        if misaligned(target, site.alignment):
            raise self._misaligned(lanes, site, address)
        touched = {int(number): self.allocations.all[number] for number in np.unique(owner)}
        self._begin_access(touched.values(), lanes, site, address, values)
        for number, allocation in touched.items():
            where = owner == number
            index = (target[where] - np.uint64(allocation.origin)) >> site.shift
            yield allocation, where, index.view(np.int64)

    def _misaligned(self, lanes: Lanes, site: Site, address: Value) -> Exception:
        target = address + np.uint64(site.offset & _ADDRESS_MASK)
        return self._faults.memory_fault("misaligned", lanes, site, target % np.uint64(site.alignment) != 0, target)

    def _check_stores(self, touched: Iterable[Allocation], site: Site) -> None:
        if site.store:
            for allocation in touched:
                allocation.check_writeable()
        self.writes += site.store and not site.operation

    def _begin_access(
        self,
        touched: Iterable[Allocation],
        lanes: Lanes,
        site: Site,
        address: Value,
        values: tuple[Value, ...],
    ) -> None:
        self._check_stores(touched, site)
        if self._listener is not None:
            known = self._known.at(address, site.offset) if isinstance(address, np.ndarray) else None
            if known is not None:
                address = known.array
            elif site.offset:
                address = address + np.uint64(site.offset & _ADDRESS_MASK)
            self._listener(site, lanes, address, values)
