"""The lanes that execute together: warps that are at the same instruction, each with some of its lanes.

A value of a register is a NumPy scalar where all lanes of all warps share it, else an array. In a dense set it is
(warps, 32), (warps, 1) where each warp has one value, or (1, 32), and lanes that are not in the set have any value. In
a set of scattered lanes, few of many warps, it is (lanes,). A set counts as whole warps if its masks have all lanes
that still live: what the others hold is never read again. Whole sets are dense.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from softlab.sass import native_lanes

WARP = 32
_ONE = np.uint32(1)
_WORD = np.dtype("<u4")
#: The most places of a dense set, and the most places per lane. One of the two is enough.
_PLACES, _PER_LANE = 16384, 4
#: A register's value.
Value = Any


def unpack(masks: np.ndarray) -> np.ndarray:
    """(k,) uint32 -> (k, 32) bool."""
    return np.unpackbits(masks.view(np.uint8), bitorder="little").view(bool).reshape(-1, WARP)


def pack(lanes: np.ndarray) -> np.ndarray:
    """(k, 32) bool -> (k,) uint32."""
    return np.packbits(lanes, None, "little").view(_WORD)


def equal(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays of one dtype and length hold the same. Of few elements their bytes are compared sooner."""
    return one is other or one.tobytes() == other.tobytes()


def all_true(lanes: np.ndarray) -> bool:
    """Whether all elements of a bool array hold: sooner than ``all`` of few elements."""
    return np.count_nonzero(lanes) == lanes.size


def any_true(values: np.ndarray) -> bool:
    """Whether an element is not 0: sooner than ``any`` of few elements."""
    return bool(np.count_nonzero(values))


def first_lane(masks: np.ndarray) -> np.ndarray:
    """The lowest lane of each mask, uint8; 32 of an empty one. masks: uint32."""
    return np.bitwise_count((masks & -masks) - _ONE)


class Lanes:
    """``warps`` int64 (k,), ascending, and the ``masks`` uint32 (k,) of their lanes in the set.

    ``total``: warps of the machine. ``whole``: each mask has all lanes of its warp that live. ``dense``: whether values
    have places for all lanes of the warps.
    """

    def __init__(self, warps: np.ndarray, masks: np.ndarray, live: np.ndarray) -> None:
        self.warps = warps
        self.masks = masks
        self.total = len(live)
        self.count = len(warps)
        self.whole = equal(masks, live if self.count == self.total else live[warps])
        self.full = self.whole and self.count == self.total
        places = WARP * self.count
        self.dense = self.whole or places <= _PLACES or places <= _PER_LANE * int(np.bitwise_count(masks).sum())

    def same(self, other: Lanes) -> bool:
        """Whether both are the same lanes."""
        return self.count == other.count and equal(self.warps, other.warps) and equal(self.masks, other.masks)

    @cached_property
    def active(self) -> np.ndarray:
        """(k, 32) bool."""
        return unpack(self.masks)

    @cached_property
    def all_active(self) -> bool:
        """Whether each warp has all 32 lanes."""
        return bool((self.masks == np.uint32(0xFFFFFFFF)).all())

    @cached_property
    def thread(self) -> np.ndarray:
        """(k, 32) int64: the numbers of the lanes among those of all warps."""
        return self.warps[:, None] * WARP + np.arange(WARP)

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        row, lane = np.nonzero(self.active)
        return row, lane

    @cached_property
    def places(self) -> np.ndarray:
        """(lanes,) int64: the number of each lane among those of all warps."""
        row, lane = self._places
        return self.warps[row] * WARP + lane

    def take(self, value: Value) -> Value:
        """The machine's value cut to this set."""
        if not isinstance(value, np.ndarray) or self.full:
            return value
        if self.dense:
            # ``take`` gathers whole rows, far sooner than an index does.
            return value.take(self.warps, 0) if value.shape[0] != 1 and self.count != self.total else value
        return self._scattered(value)

    def _scattered(self, value: np.ndarray) -> Value:
        """(lanes,), or a scalar: the machine's value of each lane."""
        row, lane = self._places
        if value.shape[1] == 1:
            return value[self.warps[row], 0] if value.shape[0] != 1 else value[0, 0]
        if value.shape[0] == 1:
            return value[0, lane]
        return value.reshape(-1)[self.places] if value.flags.c_contiguous else value[self.warps[row], lane]

    def state(self, value: Value) -> bytes:
        """What the machine's value holds in these lanes, and in no others that live."""
        if self.whole or not isinstance(value, np.ndarray):
            return self.take(value).tobytes()
        return self._scattered(value).tobytes()

    def of_warps(self, value: np.ndarray) -> np.ndarray:
        """(k, 1): a value of lanes for each warp; where its lanes differ, the last one says."""
        if not self.dense:
            found = np.empty((self.count, 1), value.dtype)
            found[self._places[0], 0] = value
            return found
        if value.shape[1] == 1:
            return value
        last = WARP - 1 - self.active[:, ::-1].argmax(axis=1)
        return self.spread(value)[np.arange(self.count), last][:, None]

    def spread(self, value: Value) -> np.ndarray:
        """The set's value as (k, 32); lanes that are not in the set hold anything."""
        if self.dense:
            return value if np.shape(value) == (self.count, WARP) else _broadcast(value, self.count)
        value = np.asarray(value)
        out = np.zeros((self.count, WARP), value.dtype)
        out[self._places] = value
        return out

    def members(self, value: Value) -> np.ndarray:
        """As :meth:`spread`; lanes that live and are not in the set hold 0."""
        found = self.spread(value)
        return np.where(self.active, found, np.zeros((), found.dtype)) if self.dense and not self.whole else found

    def collect(self, value: np.ndarray) -> Value:
        """The inverse of :meth:`spread`; ``value`` may be (k, 1)."""
        if self.dense:
            return value
        return value[self._places[0], 0] if value.shape[1] == 1 else value[self._places]

    def truth(self, predicate: Value) -> np.ndarray:
        """(k,) uint32: the lanes of the set where the predicate (a value or a bool) holds."""
        if not isinstance(predicate, np.ndarray):
            return self.masks if predicate else np.zeros_like(self.masks)
        if self.dense:
            found = native_lanes.held(predicate, self.masks)
            if found is not None:
                return found
            if predicate.shape[1] == 1:
                return np.where(predicate[:, 0], self.masks, np.uint32(0))
        return pack(self.spread(predicate)) & self.masks


def _broadcast(value: Value, count: int) -> np.ndarray:
    """(count, 32): a view of a value that lanes or warps share, not to be written. ``np.broadcast_to`` gives it, too,
    but takes several times as long."""
    value = np.asarray(value)
    if not value.flags.c_contiguous:
        return np.broadcast_to(value, (count, WARP))
    steps = (0, 0) if value.size == 1 else (0, value.itemsize) if value.shape[0] == 1 else (value.itemsize, 0)
    return np.ndarray((count, WARP), value.dtype, value, 0, steps)
