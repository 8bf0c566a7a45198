"""The memories of interpreted blocks.

The caller's arrays stay as they are. What a kernel writes goes to pages of our own.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import Bytes, CompiledFunction, Int64s
from softlab.emulator.memory.allocations import Allocation, Allocations
from softlab.errors import EstimateError
from softlab.sass.lanes import WARP, all_true, any_true

#: Bytes per lane -> the dtype that moves them. complex128 moves 16 bytes in one piece, whatever they are.
ITEMS: dict[int, np.dtype] = {
    1: np.dtype(np.uint8),
    2: np.dtype(np.uint16),
    4: np.dtype(np.uint32),
    8: np.dtype(np.uint64),
    16: np.dtype(np.complex128),
}
#: Bytes of a thread's stack where the assembler does not know its size, unless the host sets another limit
#: (cudaLimitStackSize).
STACK_LIMIT = 1024
#: Bytes of local memory that a thread can have (CUDA C++ Programming Guide, "Compute Capabilities").
MOST_LOCAL_BYTES = 512 << 10
#: Bytes of all such stacks: a limit of our own.
MOST_STACK_BYTES = 1 << 30
PAGE_BITS = 12
_PAGE = 1 << PAGE_BITS
#: At least this many pages are copied in pieces, each of pages that follow one another. NumPy copies scattered pages
#: twice, and allocates memory for the first copy. That takes four times as long.
_MANY = 256
#: What NumPy takes for the calls of an access that may need new pages, and for a lane, in units of 100 microseconds.
_CALLS, _LANE = 0.2, 0.0001


def bring(offsets: Int64s, lanes: int, pages: Bytes, own: Bytes, whole: Bytes, end: int) -> int:
    """Copy the pages at the offsets that are not our own yet from the caller's bytes, which end at ``end``."""
    for lane in range(lanes):
        page = offsets[lane] >> PAGE_BITS
        if pages[page] == 0:
            pages[page] = 1
            for at in range(page << PAGE_BITS, min(page + 1 << PAGE_BITS, end)):
                own[at] = whole[at]
    return 0


_BRING = CompiledFunction(bring)


class Outside(Exception):
    """An access outside the arrays, or misaligned: ``kind`` of the fault, ``bad`` (lanes,) bool."""

    def __init__(self, kind: str, bad: np.ndarray) -> None:
        super().__init__(kind)
        self.kind = kind
        self.bad = bad


class Spare:
    """Memory that launches have let go of, for later ones: arrays of ``least`` bytes or more, ``most`` bytes in all.

    New pages take longer than what a kernel writes to them: on Linux in a virtual machine 4.5 us each, where the copy
    of one takes 0.3. Small arrays seldom need new ones.
    """

    def __init__(self, least: int, most: int) -> None:
        self._least, self._most = least, most
        self._arrays: list[np.ndarray] = []
        self._lock = Lock()

    def take(self, nbytes: int) -> np.ndarray:
        """At least ``nbytes`` bytes, uint8. They keep the values of earlier launches."""
        with self._lock:
            sizes = [(len(one), k) for k, one in enumerate(self._arrays) if len(one) >= nbytes]
            if sizes and nbytes >= self._least:
                return self._arrays.pop(min(sizes)[1])
        return np.empty(nbytes, np.uint8)

    def keep(self, array: np.ndarray) -> None:
        """Nobody uses this memory any more. What was kept first goes, if it is too much."""
        with self._lock:
            if self._least <= len(array) <= self._most:
                self._arrays.append(array)
            while sum(map(len, self._arrays)) > self._most:
                self._arrays.pop(0)


_SPARE = Spare(1 << 20, 64 << 20)


class _Array:
    """One allocation: the caller's bytes, and pages of our own where a kernel has written.

    Offsets count from ``origin``, an aligned address that is not behind ``base``: an array may be a part of another.
    Its bytes begin at the offset ``lead`` and end at ``end``.
    """

    def __init__(self, allocation: Allocation) -> None:
        self.allocation = allocation
        self.base, self.nbytes, self.origin = allocation.base, allocation.nbytes, allocation.origin
        self.lead, self.end = allocation.lead, allocation.lead + self.nbytes
        padded = -(-self.end // 16) * 16
        self._taken: np.ndarray | None = None
        self._own: np.ndarray | None = None
        self._padded = padded
        self._pages = np.zeros((padded >> PAGE_BITS) + 1, bool)
        self._views: dict[np.dtype, tuple[np.ndarray, np.ndarray]] = {}

    def load(self, offset: np.ndarray, item: np.dtype) -> np.ndarray:
        index = offset // item.itemsize
        if self._own is None:
            return self.allocation.view(item)[index]
        old, new = self._both(item)
        own = self._pages[offset >> PAGE_BITS]
        if all_true(own):
            return new[index]
        if not any_true(own):
            return old[index]
        result = new[index]
        result[~own] = old[index[~own]]
        return result

    def own(self, offset: np.ndarray, item: np.dtype) -> np.ndarray:
        """Memory of our own as whole items, with the pages at these offsets in it."""
        self._make_own()
        assert self._own is not None
        if _BRING.ready(compiled_blocks(), _CALLS + _LANE * offset.size):
            offset, own, whole = np.ascontiguousarray(offset), self._own, self.allocation.whole
            _BRING.call(id(offset), offset.size, id(self._pages), id(own), id(whole), self.end)
        elif not all_true(self._pages[pages := offset >> PAGE_BITS]):
            before = self._pages.copy()
            self._pages[pages] = True
            self._bring(np.flatnonzero(self._pages & ~before))
        return self._own[: self._padded // item.itemsize * item.itemsize].view(item)

    def _bring(self, pages: np.ndarray) -> None:
        """Copy these pages, ascending, from the caller's bytes."""
        assert self._own is not None
        whole, own, limit = self.allocation.whole, self._own, self.end
        if len(pages) and int(pages[-1]) + 1 << PAGE_BITS > limit:  # the last one of the array is no whole page
            first = int(pages[-1]) << PAGE_BITS
            own[first:limit] = whole[first:limit]
            pages = pages[:-1]
        if len(pages) >= _MANY:
            breaks = np.flatnonzero(np.diff(pages) != 1)
            firsts, ends = pages[np.append(0, breaks + 1)], pages[np.append(breaks, -1)] + 1
            for first, end in zip((firsts * _PAGE).tolist(), (ends * _PAGE).tolist(), strict=True):
                own[first:end] = whole[first:end]
        elif len(pages):
            end = limit >> PAGE_BITS << PAGE_BITS
            own[:end].reshape(-1, _PAGE)[pages] = whole[:end].reshape(-1, _PAGE)[pages]

    def _make_own(self) -> None:
        if self._own is None:
            # Only pages that were brought are looked at. Those that are never touched take no memory, and no time.
            self._taken = _SPARE.take(self._padded)
            self._own = self._taken[: self._padded]

    def let_go(self) -> None:
        """Nobody asks for it any more."""
        if self._taken is not None:
            _SPARE.keep(self._taken)
            self._taken = self._own = None

    @property
    def is_written(self) -> bool:
        """Whether there is memory of our own."""
        return self._own is not None

    def place(self, *, stores: bool) -> tuple[int, ...]:
        """Its first address and the one behind it, the origin, where its bytes are, and where our own and their pages
        are, 0 for none. stores: our own are there, if the array may be written."""
        if stores and self.allocation.writeable:
            self._make_own()
        own, pages = (0, 0) if self._own is None else (_address(self._own), _address(self._pages))
        return self.base, self.base + self.nbytes, self.origin, _address(self.allocation.whole), own, pages

    def _both(self, item: np.dtype) -> tuple[np.ndarray, np.ndarray]:
        found = self._views.get(item)
        if found is None:
            assert self._own is not None
            found = self._views[item] = (self.allocation.view(item), self._own.view(item))
        return found

    def content(self) -> np.ndarray:
        """A copy of the bytes as the kernel left them."""
        data = self.allocation.whole.copy()
        if self._own is not None:
            for page in np.flatnonzero(self._pages):
                first, end = int(page) * _PAGE, min((int(page) + 1) * _PAGE, self.end)
                data[first:end] = self._own[first:end]
        return data[self.lead :]


def interleaved(address: np.ndarray) -> np.ndarray:
    """Where the addresses (k, 32) of local memory lie: lanes are interleaved by words of 4 bytes."""
    return (address >> 2 << 7) + (address & 3) + 4 * np.arange(WARP)


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


class GlobalMemory:
    """Global memory of one launch. Addresses are int64 (n,), one per active lane."""

    def __init__(self, allocations: Allocations) -> None:
        self._arrays = [_Array(a) for a in allocations.all]
        self._bases = np.array([a.base for a in self._arrays], np.int64)
        self._last: _Array | None = None
        self._placed, self._places = (-1, False), np.zeros((0, 6), np.int64)

    def load(self, address: np.ndarray, width: int) -> np.ndarray:
        """The items at these addresses; any shape."""
        item = ITEMS[width]
        for array, where, offset in self._pieces(address, width):
            if where is None:
                return array.load(offset, item)
            break
        out = np.empty(address.shape, item)
        for array, where, offset in self._pieces(address, width):
            out[where] = array.load(offset, item)
        return out

    def store(self, address: np.ndarray, width: int, items: np.ndarray) -> None:
        """Write the items. Of lanes that write to one address the last one wins."""
        item = ITEMS[width]
        for array, where, offset in self._pieces(address, width):
            array.allocation.check_writeable()
            own = array.own(offset, item)
            own[offset // width] = items if where is None else np.broadcast_to(items, address.shape)[where]

    def cells(self, address: np.ndarray, width: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray | slice]]:
        """(memory as items, index of each lane's item, which lanes): for atomics."""
        item = ITEMS[width]
        for array, where, offset in self._pieces(address, width):
            array.allocation.check_writeable()
            yield array.own(offset, item), offset // width, slice(None) if where is None else where

    def places(self, *, stores: bool) -> np.ndarray:
        """Where the arrays lie, int64: the numbers of :mod:`softlab.sass.native_loops` for each.

        Arguments:
            stores: whether compiled code writes to our own memory, so that it has to be there.
        """
        made = sum(array.is_written for array in self._arrays), stores
        if made != self._placed:
            rows = [array.place(stores=stores) for array in self._arrays]
            self._places = np.array(rows or np.zeros((0, 6)), np.int64)
            self._placed = sum(array.is_written for array in self._arrays), stores
        return self._places

    def let_go(self) -> None:
        """The launch is done, and nobody asks for what it wrote: later ones may have the memory."""
        for array in self._arrays:
            array.let_go()
        self._arrays = []

    def content(self, index: int) -> np.ndarray:
        """The bytes of an argument's array as the kernel left them."""
        return next(a for a in self._arrays if a.allocation.index == index).content()

    def content_at(self, address: int, nbytes: int) -> np.ndarray:
        """The bytes from an address on, as the kernel left them."""
        found = self._arrays[int(np.searchsorted(self._bases, address, side="right")) - 1]
        return found.content()[address - found.base : address - found.base + nbytes]

    def span(self, address: int, nbytes: int, *, store: bool) -> np.ndarray | None:
        """The bytes from an address on, our own where ``store``; None where they are not all in one array."""
        k = int(np.searchsorted(self._bases, address, side="right")) - 1
        if k < 0 or address + nbytes > self._arrays[k].base + self._arrays[k].nbytes:
            return None
        array, first = self._arrays[k], address - self._arrays[k].origin
        offsets = np.arange(first, first + nbytes)
        if store:
            array.allocation.check_writeable()
            return array.own(offsets, ITEMS[1])[first : first + nbytes]
        return array.load(offsets, ITEMS[1])

    def _pieces(self, address: np.ndarray, width: int) -> Iterator[tuple[_Array, np.ndarray | None, np.ndarray]]:
        array = self._last
        if array is None or not array.base <= int(address.flat[0]) < array.base + array.nbytes:
            k = int(np.searchsorted(self._bases, int(address.flat[0]), side="right")) - 1
            array = self._arrays[k] if k >= 0 else None
        if array is not None:
            offset = address - array.origin
            if int(offset.min()) >= array.lead and int(offset.max()) <= array.end - width:
                self._last = array
                self._check_aligned(offset, width)
                yield array, None, offset
                return
        owner = np.searchsorted(self._bases, address, side="right") - 1
        ends = np.array([a.base + a.nbytes for a in self._arrays], np.int64)
        inside = owner >= 0
        if len(ends):
            inside &= address + width <= ends[np.maximum(owner, 0)]
        if not inside.all():
            raise Outside("global-out-of-bounds", ~inside)
        self._check_aligned(address, width)
        for k in np.unique(owner):
            where = owner == k
            yield self._arrays[k], where, address[where] - self._arrays[k].origin

    @staticmethod
    def _check_aligned(address: np.ndarray, width: int) -> None:
        if width > 1 and int(np.bitwise_or.reduce(address, axis=None)) & width - 1:
            raise Outside("misaligned", np.asarray(address % width != 0))


class BlockMemory:
    """Memory that each block (shared) or each thread (local) has by itself: one row of ``nbytes`` for each, of which
    ``limit`` may be used."""

    def __init__(self, rows: int, nbytes: int, kind: str) -> None:
        self.nbytes = -(-max(nbytes, 16) // 16) * 16
        self.limit = nbytes
        self.data = np.zeros(rows * self.nbytes, np.uint8)
        self._kind = kind

    def item_index(self, row: np.ndarray, offset: np.ndarray, width: int) -> np.ndarray:
        """The index of each lane's item. row: of the lane, offset: in bytes, both int64 of one shape.

        Take the :meth:`view` after it: a stack may grow here.
        """
        if int(offset.min()) < 0 or int(offset.max()) > self.limit - width:
            raise Outside(self._kind, np.asarray((offset < 0) | (offset > self.limit - width)))
        if width > 1 and int(np.bitwise_or.reduce(offset, axis=None)) & width - 1:
            raise Outside("misaligned", np.asarray(offset % width != 0))
        return (row * self.nbytes + offset) // width

    def view(self, width: int) -> np.ndarray:
        """The bytes as items."""
        return self.data.view(ITEMS[width])


class Stacks(BlockMemory):
    """The stacks of threads whose functions may call themselves: the assembler does not know how deep they get.

    A stack grows from ``top`` downwards. All threads have memory for as many bytes below ``top`` as one of them needs.
    """

    def __init__(self, rows: int, top: int) -> None:
        super().__init__(rows, STACK_LIMIT, "local-out-of-bounds")
        self._rows, self._top, self._lowest = rows, top, top

    @property
    def used(self) -> int:
        """Bytes of the largest stack."""
        return self._top - self._lowest

    def item_index(self, row: np.ndarray, offset: np.ndarray, width: int) -> np.ndarray:
        """As for other memories. ``offset``: in bytes, as the stack pointer counts them."""
        lowest = int(offset.min())
        if 0 <= lowest < self._lowest:
            self._lowest = lowest
            while self.used > self.nbytes:
                self._grow()
        return super().item_index(row, offset - (self._top - self.nbytes), width)

    def _grow(self) -> None:
        nbytes = 2 * self.nbytes
        if self._rows * nbytes > MOST_STACK_BYTES:
            raise EstimateError(
                f"the functions of this kernel call themselves so deep that the stacks of {self._rows} threads take "
                f"more than {MOST_STACK_BYTES >> 20} MiB; an estimate follows recursion up to there. Recurse less "
                "deeply, or let `sample` name fewer blocks"
            )
        larger = np.zeros((self._rows, nbytes), np.uint8)
        larger[:, self.nbytes :] = self.data.reshape(self._rows, -1)
        self.data, self.nbytes, self.limit = larger.reshape(-1), nbytes, nbytes
