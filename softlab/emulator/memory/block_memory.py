"""Shared memory (one part per block), local memory (one per thread), and generic addresses that may mean either."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from typing_extensions import override

from softlab.emulator.host import FaultReporter
from softlab.emulator.lanes import Box, Lanes, Value
from softlab.emulator.memory.elements import (
    AccessListener,
    Memory,
    Reach,
    first_of,
    join_elements,
    last_writer,
    misaligned,
    split_elements,
)
from softlab.emulator.memory.known_addresses import Addresses, KnownAddresses
from softlab.emulator.memory.partial import partial_cells, partial_load, partial_store
from softlab.emulator.ptx.linker import LOCAL_WINDOW, PARAMETER_BASE, SHARED_WINDOW, WINDOW_BYTES
from softlab.emulator.sites import Site


class _OwnedMemory:
    """Memory with one part per block or per thread: (owners, bytes)."""

    fault_kind: str

    def __init__(self, owners: int, nbytes: int, faults: FaultReporter, listener: AccessListener | None = None) -> None:
        self.nbytes = nbytes
        self.stride = -(-nbytes // 32) * 32
        self.data = np.zeros((owners, self.stride), np.uint8)
        self._faults = faults
        self._listener = listener
        self.writes = 0
        self._views: dict[np.dtype, np.ndarray] = {}
        #: What is known of the addresses of accesses.
        self.known = KnownAddresses()

    def clear(self) -> None:
        """Fill with zero, for the next batch."""
        self.data.fill(0)

    def view(self, item: np.dtype) -> np.ndarray:
        """(owners, items)."""
        found = self._views.get(item)
        if found is None:
            found = self._views[item] = self.data.view(item)
        return found

    def owner(self, lanes: Lanes) -> np.ndarray:
        """The part that each lane of the set uses."""
        raise NotImplementedError

    def _index(self, lanes: Lanes, site: Site, address: Value, values: tuple[Value, ...] = ()) -> Any:
        """Item index in a part, checked: an int where all lanes share it. ``values`` are what is stored there."""
        known = self.known.at(address, site.offset)
        if known is not None:
            self._begin(known, lanes, site, values)
            return known.items(site.width)
        if site.offset:
            address = address + address.dtype.type(site.offset & (256**address.dtype.itemsize - 1))
        shared_by_all = not isinstance(address, np.ndarray)
        if int(address if shared_by_all else address.max()) > self.nbytes - site.width:
            raise self._beyond(lanes, site, address)
        if misaligned(address, site.width):
            raise self._misaligned(lanes, site, address)
        self.writes += site.store and not site.operation
        if self._listener is not None:
            self._listener(site, lanes, address, values)
        if shared_by_all:
            return int(address) >> int(site.shift)
        index = address >> address.dtype.type(site.shift)
        return index.view(np.int64) if index.itemsize == 8 else index.astype(np.int64)

    def _begin(self, known: Addresses, lanes: Lanes, site: Site, values: tuple[Value, ...]) -> None:
        """Check an access, and tell the listener."""
        width = site.width
        if known.highest > self.nbytes - width:
            raise self._beyond(lanes, site, known.array)
        if not known.is_aligned(width):
            raise self._misaligned(lanes, site, known.array)
        self.writes += site.store and not site.operation
        if self._listener is not None:
            self._listener(site, lanes, known.array, values)

    def _beyond(self, lanes: Lanes, site: Site, address: Value) -> Exception:
        return self._faults.memory_fault(
            self.fault_kind, lanes, site, address > max(-1, self.nbytes - site.width), address
        )

    def _misaligned(self, lanes: Lanes, site: Site, address: Value) -> Exception:
        bad = address % address.dtype.type(site.width) != 0
        return self._faults.memory_fault("misaligned", lanes, site, bad, address)

    def checked(self, lanes: Lanes, site: Site, address: Value, value: Value) -> Any:
        """Item index in a part, of a store that is carried out later: checked; the listener is told."""
        return self._index(lanes, site, address, (value,))

    @partial_cells
    def cells(self, lanes: Lanes, site: Site, address: Value) -> Iterator[tuple[np.ndarray, np.ndarray, Any]]:
        """(memory as items, index of each lane's item, which lanes) in the order of the lanes: for atomics."""
        index = self._index(lanes, site, address)
        view = self.view(site.item)
        flat = index + self.owner(lanes) * view.shape[1]
        yield view.reshape(-1), lanes.full_extent(flat), slice(None)

    def reach(self, lanes: Lanes, site: Site, address: Value) -> Reach | None:
        """Where the lanes of an atomic reach, for compiled code."""
        highest = self.nbytes - site.width
        if highest < 0:
            return None
        tell = partial(self._tell, lanes, site, address) if self._listener is not None else None
        return Reach(self.data, self.owner(lanes), address, site.offset, 0, highest, tell)

    def _tell(self, lanes: Lanes, site: Site, address: Value) -> None:
        """Tell the listener of an atomic."""
        assert self._listener is not None
        known = self.known.at(address, site.offset)
        if known is not None:
            address = known.array
        elif site.offset:
            address = address + address.dtype.type(site.offset & (256**address.dtype.itemsize - 1))
        self._listener(site, lanes, address, ())

    @partial_load
    def load(self, lanes: Lanes, site: Site, address: Value) -> Any:
        """The value(s) at each lane's address."""
        index = self._index(lanes, site, address)
        view = self.view(site.item)
        return split_elements(site, view.reshape(-1)[index + self.owner(lanes) * view.shape[1]])

    @partial_store
    def store(self, lanes: Lanes, site: Site, address: Value, *values: Value) -> None:
        """Write each lane's value(s) to its address."""
        index = self._index(lanes, site, address, values)
        view = self.view(site.item)
        flat = index + self.owner(lanes) * view.shape[1]
        view.reshape(-1)[flat] = last_writer(join_elements(site, values), flat)


class LocalMemory(_OwnedMemory):
    """The stack of each thread."""

    fault_kind = "local-out-of-bounds"

    def __init__(
        self, blocks: int, threads: int, nbytes: int, faults: FaultReporter, listener: AccessListener | None = None
    ) -> None:
        super().__init__(blocks * threads, nbytes, faults, listener)

    @override
    def owner(self, lanes: Lanes) -> np.ndarray:
        return lanes.row_index * lanes.threads + lanes.column_index


class SharedMemory(_OwnedMemory):
    """The shared memory of each block, static variables first.

    Where all blocks use the same addresses, as they nearly always do, memory is read and written by columns: a run of
    neighbouring items as a slice.
    """

    fault_kind = "shared-out-of-bounds"

    @override
    def owner(self, lanes: Lanes) -> np.ndarray:
        return lanes.row_index

    @override
    @partial_load
    def load(self, lanes: Lanes, site: Site, address: Value) -> Any:
        if isinstance(lanes, Box):
            columns = self._columns(lanes, site, address)
            if columns is not None:
                view = self.view(site.item)
                rows = lanes.row_selector
                if isinstance(columns, slice):
                    items = view[rows, columns]
                    items = items if isinstance(rows, np.ndarray) else items.copy()
                else:
                    items = view[rows].take(columns, axis=1)
                return split_elements(site, items)
        return super().load(lanes, site, address)

    @override
    @partial_store
    def store(self, lanes: Lanes, site: Site, address: Value, *values: Value) -> None:
        if isinstance(lanes, Box):
            columns = self._columns(lanes, site, address, values)
            if columns is not None:
                value = join_elements(site, values)
                count = columns.stop - columns.start if isinstance(columns, slice) else len(columns)
                if count == 1 and isinstance(value, np.ndarray) and value.shape[1] > 1:
                    value = value[:, -1:]
                rows = lanes.row_selector
                if isinstance(rows, np.ndarray) and isinstance(columns, np.ndarray):
                    rows = rows[:, None]
                self.view(site.item)[rows, columns] = value
                return
        super().store(lanes, site, address, *values)

    def _columns(
        self, lanes: Box, site: Site, address: Value, values: tuple[Value, ...] = ()
    ) -> slice | np.ndarray | None:
        """The items that every block of the set touches, where they are the same in each."""
        if not isinstance(address, np.ndarray):
            index = self._index(lanes, site, address, values)
            return slice(index, index + 1)
        if address.shape[0] != 1 or (isinstance(lanes.row_selector, np.ndarray) and lanes.extent[0] * 4 < lanes.blocks):
            return None
        known = self.known.at(address, site.offset)
        if known is not None:
            self._begin(known, lanes, site, values)
            return known.columns(site.width)
        index = self._index(lanes, site, address, values)[0]
        first, last = int(index[0]), int(index[-1])
        if last - first + 1 == len(index) and (index[1:] - index[:-1] == 1).all():
            return slice(first, last + 1)
        return np.asarray(index)


class GenericMemory:
    """Finds the space of a generic address, lane by lane where needed.

    ``shared`` is the shared memory of each block, or that of all blocks of a cluster. The kernel's parameters are a
    part of global memory, and of the global space. Loads of them are constant all the same: the compiler writes one as
    ``ld.param`` or as a generic load, and the machine code takes both from the constant bank.
    """

    def __init__(self, global_: Memory, shared: Memory, local: Memory) -> None:
        self._spaces: tuple[tuple[str, int, Memory], ...] = (
            ("shared", SHARED_WINDOW, shared),
            ("local", LOCAL_WINDOW, local),
            ("const", 0, global_),
            ("global", 0, global_),
        )
        self._inner: dict[tuple[Site, str], Site] = {}

    def load(self, lanes: Lanes, site: Site, address: Value) -> Any:
        """The value(s) at each lane's address."""
        pieces = list(self._pieces(lanes, site, address))
        if len(pieces) == 1:
            _, space, inner, target = pieces[0]
            return space.load(lanes, inner, target)
        out: list[Value] = [site.dtype.type(0)] * site.elements
        for part, space, inner, target in pieces:
            values = space.load(part, inner, target)
            for i, value in enumerate(values if site.elements > 1 else (values,)):
                out[i] = part.put(out[i], value, False)
        cut = tuple(lanes.take(value) for value in out)
        return cut if site.elements > 1 else cut[0]

    def store(self, lanes: Lanes, site: Site, address: Value, *values: Value) -> None:
        """Write each lane's value(s) to its address."""
        pieces = list(self._pieces(lanes, site, address))
        if len(pieces) == 1:
            _, space, inner, target = pieces[0]
            space.store(lanes, inner, target, *values)
            return
        whole = [lanes.put(v, v, True) for v in values]
        for part, space, inner, target in pieces:
            space.store(part, inner, target, *(part.take(v) for v in whole))

    def cells(self, lanes: Lanes, site: Site, address: Value) -> Iterator[tuple[np.ndarray, np.ndarray, Any]]:
        """(memory as items, index of each lane's item, which lanes): for atomics."""
        pieces = list(self._pieces(lanes, site, address))
        if len(pieces) == 1:
            _, space, inner, target = pieces[0]
            yield from space.cells(lanes, inner, target)
            return
        for part, space, inner, target in pieces:
            lanes_of_part = np.flatnonzero(lanes.full_extent(lanes.take(part.mask)))
            for memory, index, which in space.cells(part, inner, target):
                yield memory, index, lanes_of_part[which]

    def reach(self, lanes: Lanes, site: Site, address: Value) -> Reach | None:
        """Where the lanes of an atomic reach, for compiled code, if all reach into the space of the first one."""
        first = first_of(address) + site.offset
        name, base, space = self._spaces[0] if 0 <= first - SHARED_WINDOW < WINDOW_BYTES else self._spaces[-1]
        if any(0 <= first - other < WINDOW_BYTES for other in (LOCAL_WINDOW, PARAMETER_BASE)):
            return None
        inner = self._inner.get((site, name))
        if inner is None:
            inner = self._inner[site, name] = site.at(name)
        moved = (site.offset - base) & (1 << 64) - 1
        return space.reach(lanes, inner, address + np.uint64(moved) if moved else address)

    def space_of(self, address: Value, name: str) -> Value:
        """Whether each address is in the named space (``isspacep``)."""
        base = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "const": PARAMETER_BASE}.get(name)
        if base is not None:
            return (address - np.uint64(base)) < np.uint64(WINDOW_BYTES)
        return ~(self.space_of(address, "shared") | self.space_of(address, "local"))

    def _pieces(self, lanes: Lanes, site: Site, address: Value) -> Iterator[tuple[Lanes, Memory, Site, Value]]:
        """(lanes, memory, site there, address there) of each space that holds some of the lanes' addresses."""
        target = address + np.uint64(site.offset & (1 << 64) - 1) if site.offset else address
        whole = lanes.put(target, target, True)
        left: Lanes | None = lanes
        for name, base, space in self._spaces:
            if left is None:
                return
            here, left = left.split(self.space_of(left.take(whole), name))
            if here is not None:
                yield here, space, site.at(name), here.take(whole) - np.uint64(base)
