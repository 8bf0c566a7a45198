"""The arrays and module variables of a launch, at virtual addresses."""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.emulator.ptx.linker import ALLOCATION_ALIGN, ARGUMENT_BASE, GUARD_BYTES

#: The first handle of a texture: no address, and no number that a kernel computes by accident.
HANDLE_BASE = 0x7E57_0000_0000_0001


@dataclass(frozen=True)
class ArgumentView:
    """What one argument sees of an allocation: ``nbytes`` from byte ``offset`` on; ``itemsize`` bytes per element."""

    index: int
    offset: int
    nbytes: int
    itemsize: int


#: Bytes of the widest access.
_WIDEST = 32


class Allocation:
    """One array, or module variable, at a virtual address.

    Items are counted from ``origin``, which is aligned for every access: the last such address that is not behind
    ``base``. The ``lead`` bytes between the two belong to the array's owner; the kernel must not touch them.

    ``whole`` are the bytes from ``origin`` on.

    ``index`` is the kernel argument's, None for a variable; ``itemsize`` the bytes per element of the caller's array.
    ``views``: the arguments that are this memory or a part of it, in their order.
    """

    def __init__(
        self, base: int, data: np.ndarray, *, name: str, index: int | None, itemsize: int | None, writeable: bool
    ) -> None:
        self.base = base
        self.itemsize = itemsize
        self.data = data
        self.nbytes = data.nbytes
        self.lead = base % _WIDEST
        self.origin = base - self.lead
        self.whole = _with_lead(data, self.lead) if self.lead else data
        self.end = base + data.nbytes
        self.name = name
        self.index = index
        self.writeable = writeable
        self.views: list[ArgumentView] = []
        self._views: dict[np.dtype, np.ndarray] = {}

    def view(self, item: np.dtype) -> np.ndarray:
        """The memory from ``origin`` on as whole items; bytes after the last whole one are left out."""
        found = self._views.get(item)
        if found is None:
            found = self.whole[: len(self.whole) // item.itemsize * item.itemsize].view(item)
            self._views[item] = found
        return found

    def check_writeable(self) -> None:
        """Raise :class:`ReadOnlyArray` where the owner marked it read-only."""
        if not self.writeable:
            raise ReadOnlyArray(
                f"the kernel writes to {self.name}, which is read-only: pass an array that can be written, for "
                "instance a copy"
            )


def _with_lead(data: np.ndarray, lead: int) -> np.ndarray:
    """The bytes and those before them, which must be memory of the same owner."""
    nbytes = lead + data.nbytes
    return np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(data.ctypes.data - lead))


class ReadOnlyArray(ValueError):
    """A kernel writes to an array that its owner marked read-only."""


class Allocations:
    """All allocations of one launch, in the order of their addresses.

    Arrays are 512-byte aligned, as cudaMalloc aligns them, with unmapped gaps between. A part of an array is as far
    from such an address as it is from the array's start.
    """

    def __init__(self) -> None:
        self.all: list[Allocation] = []
        self.bases: list[int] = []
        self._next = ARGUMENT_BASE
        #: Textures and surfaces, by the handle that the kernel gets.
        self.handles: dict[int, Any] = {}
        #: Bytes that device code holds by malloc.
        self.heap_bytes = 0

    def add(
        self,
        data: np.ndarray,
        *,
        name: str,
        index: int | None = None,
        itemsize: int | None = None,
        base: int | None = None,
        offset: int = 0,
        writeable: bool = True,
    ) -> int:
        """Map the bytes ``data`` ((n,) uint8, used in place), ``offset`` bytes behind an aligned address.

        ``data`` must lie at least so far behind the start of its owner's memory.

        Returns:
            Their address: ``base`` where it is given.
        """
        if base is None:
            offset %= ALLOCATION_ALIGN
            base = self._next + offset
            size = offset + data.nbytes + GUARD_BYTES
            self._next += -(-size // ALLOCATION_ALIGN) * ALLOCATION_ALIGN
        allocation = Allocation(base, data, name=name, index=index, itemsize=itemsize, writeable=writeable)
        at = bisect_right(self.bases, base)
        self.bases.insert(at, base)
        self.all.insert(at, allocation)
        return base

    def remove(self, base: int, name: str) -> int | None:
        """Unmap the allocation of that name at an address; returns its bytes, None where there is none."""
        at = bisect_right(self.bases, base) - 1
        if at < 0 or self.bases[at] != base or self.all[at].name != name:
            return None
        del self.bases[at]
        return self.all.pop(at).nbytes

    def replace(self, base: int, data: np.ndarray) -> np.ndarray:
        """Give the read-only allocation at an address other bytes ((n,) uint8); returns those that it had."""
        at = self.bases.index(base)
        old = self.all[at]
        self.all[at] = Allocation(base, data, name=old.name, index=None, itemsize=None, writeable=False)
        return old.data

    def handle(self, image: Any) -> int:
        """The handle of a texture or a surface."""
        found = next((number for number, held in self.handles.items() if held is image), None)
        if found is None:
            found = HANDLE_BASE + len(self.handles)
            self.handles[found] = image
        return found

    def add_view(self, base: int, view: ArgumentView) -> None:
        """An argument is the memory at ``base``, or a part of it."""
        self.all[self.bases.index(base)].views.append(view)

    def nearest(self, address: int) -> Allocation | None:
        """The allocation that holds the address, else the nearest one within the guard gap, else None."""
        at = bisect_right(self.bases, address)
        if at and address < self.all[at - 1].end:
            return self.all[at - 1]
        near = self.all[max(0, at - 1) : at + 1]
        if not near:
            return None
        found = min(near, key=lambda a: max(a.base - address, address - a.end + 1, 0))
        return found if max(found.base - address, address - found.end) < GUARD_BYTES else None
