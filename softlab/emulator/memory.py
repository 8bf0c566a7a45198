"""Global memory: the caller's arrays at virtual addresses. Every access is checked for bounds and alignment."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.linker import ALLOCATION_ALIGN, ARGUMENT_BASE, GUARD_BYTES
from softlab.emulator.ptx import Instruction

_ADDRESS_MASK = (1 << 64) - 1
#: Bytes a lane -> the dtype that moves them in one piece.
ITEMS: dict[int, np.dtype] = {
    1: np.dtype("u1"),
    2: np.dtype("u2"),
    4: np.dtype("u4"),
    8: np.dtype("u8"),
    16: np.dtype("c16"),
    32: np.dtype("V32"),
}


@dataclass(frozen=True, eq=False)
class Site:
    """One memory instruction: what every lane does there, apart from the address.

    ``index`` is the instruction's in the image; ``dtype`` of one element, ``elements`` a lane moves, ``width`` their
    bytes; ``offset`` is added to each address; ``store`` says whether it writes, ``operation`` what an atomic does (""
    for loads and stores); ``space`` is "global", "shared", "local" or "generic".
    """

    index: int
    instruction: Instruction
    space: str
    dtype: np.dtype
    elements: int = 1
    offset: int = 0
    store: bool = False
    operation: str = ""
    width: int = field(init=False)
    item: np.dtype = field(init=False)
    shift: np.uint64 = field(init=False)

    def __post_init__(self) -> None:
        width = self.dtype.itemsize * self.elements
        object.__setattr__(self, "width", width)
        object.__setattr__(self, "item", ITEMS[width])
        object.__setattr__(self, "shift", np.uint64(width.bit_length() - 1))

    def moved(self, offset: int) -> Site:
        """The same instruction with another constant offset."""
        return replace(self, offset=offset)

    def at(self, space: str) -> Site:
        """The same instruction with its offset added already and its space found out."""
        return replace(self, space=space, offset=0)


def split_elements(site: Site, items: Value) -> Any:
    """What was loaded in one piece -> one value an element (a tuple where there are several)."""
    if site.elements == 1:
        return items.view(site.dtype)
    parts = np.ascontiguousarray(np.atleast_1d(items)).view(site.dtype)
    parts = parts.reshape(*np.shape(items), site.elements)
    return tuple(parts[..., i] if np.ndim(items) else parts[i] for i in range(site.elements))


def join_elements(site: Site, values: tuple[Value, ...]) -> Value:
    """One value an element -> what is stored in one piece."""
    if site.elements == 1:
        return values[0].view(site.item)
    shape = np.broadcast_shapes(*(np.shape(v) for v in values))
    parts = np.empty((*shape, site.elements), site.dtype)
    for i, value in enumerate(values):
        parts[..., i] = value
    return parts.view(site.item)[..., 0][()]  # a scalar where every lane stores the same


def last_writer(value: Value, place: Value) -> Value:
    """``value`` without the dimensions that ``place`` lacks: where lanes write to one place, the last one stays."""
    if not isinstance(value, np.ndarray):
        return value
    if not isinstance(place, np.ndarray):
        return value.reshape(-1)[-1]
    for axis in range(value.ndim):
        if place.shape[axis] == 1 and value.shape[axis] > 1:
            value = value[-1:] if axis == 0 else value[:, -1:]
    return value


def first_of(value: Value) -> int:
    """The first lane's value as a Python int."""
    return int(value.flat[0]) if isinstance(value, np.ndarray) else int(value)


def misaligned(offset: Value, width: int) -> bool:
    """Whether any offset is not a multiple of ``width``."""
    if width == 1:
        return False
    together = np.bitwise_or.reduce(offset, axis=None) if isinstance(offset, np.ndarray) else offset
    return bool(int(together) & (width - 1))


#: Called as fault(kind, lanes, site, bad, address, place): bad (of the set) says which lanes are at fault.
FaultReporter = Callable[..., Exception]
#: Called as listener(site, lanes, address), for shared and local memory (site, lanes, address, stored values): after
#: the checks, before the access. ``address`` has the site's offset in it.
AccessListener = Callable[..., None]


class Allocation:
    """One array, or module variable, at a virtual address."""

    def __init__(self, base: int, data: np.ndarray, *, name: str, index: int | None, writeable: bool) -> None:
        self.base = base
        self.data = data
        self.nbytes = data.nbytes
        self.end = base + data.nbytes
        self.name = name
        self.index = index
        self.writeable = writeable
        self._views: dict[np.dtype, np.ndarray] = {}

    def view(self, item: np.dtype) -> np.ndarray:
        """The memory as whole items; bytes after the last whole one are left out."""
        found = self._views.get(item)
        if found is None:
            found = self.data[: self.nbytes // item.itemsize * item.itemsize].view(item)
            self._views[item] = found
        return found


class ReadOnlyArray(ValueError):
    """A kernel writes to an array that its owner marked read-only."""


def _read_only(allocation: Allocation) -> ReadOnlyArray:
    return ReadOnlyArray(
        f"the kernel writes to {allocation.name}, which is read-only: pass an array that can be written, for instance "
        "a copy"
    )


class GlobalMemory:
    """Global and constant memory of one launch.

    Arrays stand 512-byte aligned as cudaMalloc places them, with unmapped gaps between.
    """

    def __init__(self) -> None:
        self.allocations: list[Allocation] = []
        self._bases: list[int] = []
        self._next = ARGUMENT_BASE
        self.fault: FaultReporter
        self.listener: AccessListener | None = None
        self.writes = 0

    def place(
        self, data: np.ndarray, *, name: str, index: int | None = None, base: int | None = None, writeable: bool = True
    ) -> int:
        """Map the bytes ``data`` ((n,) uint8, used in place) and return their address."""
        if base is None:
            base = self._next
            size = data.nbytes + GUARD_BYTES
            self._next += -(-size // ALLOCATION_ALIGN) * ALLOCATION_ALIGN
        allocation = Allocation(base, data, name=name, index=index, writeable=writeable)
        at = bisect_right(self._bases, base)
        self._bases.insert(at, base)
        self.allocations.insert(at, allocation)
        return base

    def nearest(self, address: int) -> Allocation | None:
        """The allocation that holds the address, else the nearest one within the guard gap, else None."""
        at = bisect_right(self._bases, address)
        near = self.allocations[max(0, at - 1) : at + 1]
        if not near:
            return None
        found = min(near, key=lambda a: max(a.base - address, address - a.end + 1, 0))
        return found if max(found.base - address, address - found.end) < GUARD_BYTES else None

    def load(self, lanes: Lanes, site: Site, address: Value) -> Any:
        """The value(s) at each lane's address."""
        pieces = self._pieces(lanes, site, address)
        allocation, where, index = next(pieces)
        if where is None:
            return split_elements(site, allocation.view(site.item)[index])
        items = np.empty(np.shape(address), site.item)
        items[where] = allocation.view(site.item)[index]
        for allocation, where, index in pieces:
            items[where] = allocation.view(site.item)[index]
        return split_elements(site, items)

    def load_bytes(self, lanes: Lanes, site: Site, address: Value, nbytes: int) -> np.ndarray:
        """The first bytes of what lies at each lane's address, (lanes, nbytes) uint8; it is aligned as a whole.

        Nobody is told of it.
        """
        target = address + np.uint64(site.offset & _ADDRESS_MASK)
        if misaligned(target, site.width):
            raise self._misaligned(lanes, site, address)
        byte = Site(site.index, site.instruction, site.space, np.dtype("u1"))
        told, self.listener = self.listener, None
        try:
            found = [lanes.full_extent(self.load(lanes, byte, target + np.uint64(i))) for i in range(nbytes)]
        finally:
            self.listener = told
        return np.stack(found, axis=1)

    def tell(self, lanes: Lanes, site: Site, address: Value) -> None:
        """Tell who listens of an access that :meth:`load_bytes` made."""
        if self.listener is not None:
            self.listener(site, lanes, address + np.uint64(site.offset & _ADDRESS_MASK))

    def span(self, address: int, nbytes: int, store: bool) -> np.ndarray | None:
        """The bytes of an array from an address on, None where they are not all of one array."""
        near = self.nearest(address)
        if near is None or address < near.base or address + nbytes > near.end:
            return None
        if store and not near.writeable:
            raise _read_only(near)
        self.writes += store
        return near.data[address - near.base : address - near.base + nbytes]

    def store(self, lanes: Lanes, site: Site, address: Value, *values: Value) -> None:
        """Write each lane's value(s) to its address."""
        value = join_elements(site, values)
        for allocation, where, index in self._pieces(lanes, site, address):
            if where is None:
                allocation.view(site.item)[index] = last_writer(value, index)
            else:
                allocation.view(site.item)[index] = np.broadcast_to(last_writer(value, where), where.shape)[where]

    def cells(self, lanes: Lanes, site: Site, address: Value) -> Iterator[tuple[np.ndarray, np.ndarray, Any]]:
        """(memory as items, index of each lane's item, which lanes) in the order of the lanes: for atomics."""
        address = np.broadcast_to(address, lanes.extent)
        for allocation, where, index in self._pieces(lanes, site, address):
            which = slice(None) if where is None else where.reshape(-1)
            yield allocation.view(site.item), index.reshape(-1), which

    def _pieces(self, lanes: Lanes, site: Site, address: Value) -> Iterator[tuple[Allocation, np.ndarray | None, Any]]:
        """What the lanes touch: (allocation, mask of the addresses in it or None for all, item index)."""
        width = site.width
        at = bisect_right(self._bases, (first_of(address) + site.offset) & _ADDRESS_MASK) - 1
        allocation = self.allocations[at] if at >= 0 else None
        if allocation is not None:
            offset = address - np.uint64((allocation.base - site.offset) & _ADDRESS_MASK)
            if int(offset.max()) <= allocation.nbytes - width:
                if misaligned(offset, width):
                    raise self._misaligned(lanes, site, address)
                self._ready(allocation, lanes, site, address)
                index = offset >> site.shift
                yield allocation, None, index.view(np.int64)
                return
        target = address + np.uint64(site.offset & _ADDRESS_MASK)
        bases = np.array(self._bases, np.uint64)
        ends = np.array([a.end for a in self.allocations], np.uint64)
        owner = np.searchsorted(bases, target, side="right") - 1
        inside = (owner >= 0) & (len(bases) > 0)
        if len(bases):
            held = np.maximum(owner, 0)
            inside &= (ends[held] >= target) & (ends[held] - target >= width)
        if not np.all(inside):
            raise self.fault("global-out-of-bounds", lanes, site, ~np.asarray(inside), target)
        if misaligned(target, width):
            raise self._misaligned(lanes, site, address)
        for number in np.unique(owner):
            allocation = self.allocations[number]
            self._ready(allocation, lanes, site, address)
            where = owner == number
            index = (target[where] - np.uint64(allocation.base)) >> site.shift
            yield allocation, where, index.view(np.int64)

    def _misaligned(self, lanes: Lanes, site: Site, address: Value) -> Exception:
        target = address + np.uint64(site.offset & _ADDRESS_MASK)
        return self.fault("misaligned", lanes, site, target % np.uint64(site.width) != 0, target)

    def _ready(self, allocation: Allocation, lanes: Lanes, site: Site, address: Value) -> None:
        if site.store and not allocation.writeable:
            raise _read_only(allocation)
        self.writes += site.store and not site.operation
        if self.listener is not None:
            self.listener(site, lanes, address + np.uint64(site.offset & _ADDRESS_MASK) if site.offset else address)
