"""Elements and items: a lane moves its elements as one item, so that NumPy copies each lane's data in one piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.sites import Site

#: Called as listener(site, lanes, address, stored values), for loads and atomics with no values: after
#: the checks, before the access. ``address`` has the site's offset in it.
AccessListener = Callable[..., None]


#: The owner of memory that all lanes share.
ONE_OWNER = np.zeros(1, np.int64)


class Reach(NamedTuple):
    """Where the lanes of an atomic reach, as compiled code finds it.

    A lane's item begins at byte ``address + offset`` of its owner's row of ``memory``; the sum wraps around. This byte
    must lie between ``lowest`` and ``highest``, and be a multiple of the item's width. ``tell`` is called after that
    check and before the access.
    """

    memory: np.ndarray
    owner: np.ndarray
    address: Value
    offset: int
    lowest: int
    highest: int
    tell: Callable[[], None] | None


class Memory(Protocol):
    """A state space that generated code loads from and stores to."""

    def load(self, lanes: Lanes, site: Site, address: Value) -> Any:
        """The value(s) at each lane's address."""

    def store(self, lanes: Lanes, site: Site, address: Value, *values: Value) -> None:
        """Write each lane's value(s) to its address."""

    def cells(self, lanes: Lanes, site: Site, address: Value) -> Iterator[tuple[np.ndarray, np.ndarray, Any]]:
        """(memory as items, index of each lane's item, which lanes) in the order of the lanes: for atomics."""

    def reach(self, lanes: Lanes, site: Site, address: Value) -> Reach | None:
        """The same for compiled code, nothing checked yet; None where NumPy has to look for the items."""


def split_elements(site: Site, items: Value) -> Any:
    """Items that were loaded -> one value per element (a tuple where there are several)."""
    if site.elements == 1:
        return items.view(site.dtype)
    elements = np.ascontiguousarray(np.atleast_1d(items)).view(site.dtype)
    # Each element's values without gaps: all that follows is faster then.
    by_element = np.ascontiguousarray(elements.reshape(-1, site.elements).T)
    return tuple(by_element.reshape(site.elements, *np.shape(items))) if np.ndim(items) else tuple(by_element[:, 0])


def join_elements(site: Site, values: tuple[Value, ...]) -> Value:
    """One value per element -> the items to store."""
    if site.elements == 1:
        return values[0].view(site.item)
    shape = np.broadcast_shapes(*(np.shape(v) for v in values))
    elements = np.empty((*shape, site.elements), site.dtype)
    for i, value in enumerate(values):
        elements[..., i] = value
    return elements.view(site.item)[..., 0][()]  # a scalar where every lane stores the same


def last_writer(value: Value, index: Value) -> Value:
    """``value`` without the dimensions that ``index`` lacks: of lanes that write to one cell, the last one wins."""
    if not isinstance(value, np.ndarray):
        return value
    if not isinstance(index, np.ndarray):
        return value.reshape(-1)[-1]
    for axis in range(value.ndim):
        if index.shape[axis] == 1 and value.shape[axis] > 1:
            value = value[-1:] if axis == 0 else value[:, -1:]
    return value


def one_address(address: Value) -> Value:
    """A scalar where all lanes have the same address, as in tables; else the addresses as they are."""
    if not isinstance(address, np.ndarray):
        return address
    flat = address.reshape(-1)
    first = flat[0]
    return first if first == flat[-1] and (flat == first).all() else address


def first_of(value: Value) -> int:
    """The first lane's value as a Python int."""
    return int(value.flat[0]) if isinstance(value, np.ndarray) else int(value)


def moved(address: Value, offset: int) -> Value:
    """Addresses ``offset`` bytes further on. They wrap around in their type, as those of a GPU do."""
    return address + address.dtype.type(offset & 256**address.dtype.itemsize - 1) if offset else address


def misaligned(offset: Value, width: int) -> bool:
    """Whether any offset is not a multiple of ``width``."""
    if width == 1:
        return False
    together = np.bitwise_or.reduce(offset, axis=None) if isinstance(offset, np.ndarray) else offset
    return bool(int(together) & (width - 1))
