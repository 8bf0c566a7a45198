"""One instruction's accesses to one array of global memory, and the values that it stores there."""

from __future__ import annotations

import numpy as np

from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.memory.allocations import Allocation
from softlab.emulator.memory.elements import join_elements
from softlab.emulator.sites import Site
from softlab.instruments.global_shadow import Stamps


class GlobalAccess:
    """One instruction's accesses to one array. ``cells`` per lane; ``part``: which lanes of the set, None for all."""

    def __init__(
        self,
        array: Allocation,
        site: Site,
        lanes: Lanes,
        address: np.ndarray,
        stamps: Stamps,
        values: tuple[Value, ...],
        part: np.ndarray | None,
        cells: int,
    ) -> None:
        self.array = array
        self.site = site
        self.stamps = stamps
        self._lanes = lanes
        self._address = address
        self._values = values
        self._part = part
        self._cells = cells

    def addresses(self, position: np.ndarray) -> np.ndarray:
        """The addresses that the lanes of these positions access."""
        return np.asarray(self._address[position // self._cells])

    @property
    def has_values(self) -> bool:
        """Whether it is known what is stored."""
        return bool(self._values)

    def _stored(self, position: np.ndarray) -> np.ndarray:
        """The bytes of the values stored at these positions, (n, width)."""
        value = self._lanes.full_extent(join_elements(self.site, self._values))
        if self._part is not None:
            value = value[self._part]
        return _as_bytes(value[position // self._cells], self.site.width)

    def stores_what_is_there(self, position: np.ndarray) -> np.ndarray:
        """Whether the values stored at these positions are those that the memory has already."""
        view = self.array.view(self.site.item)
        index = (self.addresses(position) - self.array.origin) >> int(self.site.shift)
        return np.asarray((_as_bytes(view[index], self.site.width) == self._stored(position)).all(axis=1))

    def differs_from(self, position: np.ndarray, winner: np.ndarray) -> np.ndarray:
        """Whether the values stored at these positions differ from those of the lanes ``winner``."""
        lanes = self.stamps.lane[:: self._cells]
        order = np.argsort(lanes, kind="stable")
        found = order[np.searchsorted(lanes, winner, sorter=order)] * self._cells
        return np.asarray((self._stored(position) != self._stored(found)).any(axis=1))


def _as_bytes(values: np.ndarray, width: int) -> np.ndarray:
    return np.ascontiguousarray(values).view(np.uint8).reshape(len(values), width)
