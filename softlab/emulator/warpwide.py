"""The instructions in which the lanes of a warp (or a block) see each other's values."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from softlab.emulator.effects import Place
from softlab.emulator.lanes import WARP, Lanes, Value

_LANE = np.arange(WARP)
_FULL_MASK = 0xFFFFFFFF
#: Called as listener(place, lanes, source, given, received), all spread over whole warps.
ShuffleListener = Callable[..., None]
#: Called as listener(place, lanes, members) when lanes execute a warp-synchronous instruction.
SyncListener = Callable[[Place, Lanes, Value], None]


@lru_cache(maxsize=256)
def _uniform_sources(mode: str, lane: int, clamp: int) -> tuple[np.ndarray, np.ndarray]:
    source, valid = _sources(mode, np.int64(lane), np.int64(clamp))
    source.flags.writeable = valid.flags.writeable = False
    return source, valid


def _sources(mode: str, lane: Any, clamp: Any) -> tuple[np.ndarray, np.ndarray]:
    """Which lane each lane reads, and whether that lane is in range (PTX ISA, "shfl.sync", pseudocode)."""
    b, c, segment = lane & 31, clamp & 31, clamp >> 8 & 31
    highest = (_LANE & segment) | (c & ~segment)
    lowest = _LANE & segment
    source, valid = {
        "up": lambda: (_LANE - b, _LANE - b >= highest),
        "down": lambda: (_LANE + b, _LANE + b <= highest),
        "bfly": lambda: (_LANE ^ b, _LANE ^ b <= highest),
        "idx": lambda: (lowest | (b & ~segment), (lowest | (b & ~segment)) <= highest),
    }[mode]()
    source, valid = np.broadcast_arrays(source, valid)
    return np.where(valid, source, _LANE), np.array(valid)


def _pack_bits(bits: np.ndarray) -> np.ndarray:
    """(..., 32) bool -> (..., 1) uint32, lane 0 the lowest bit."""
    return np.packbits(np.ascontiguousarray(bits), axis=-1, bitorder="little").view("<u4")


class WarpWide:
    """The warp-wide instructions of one batch. Each method takes the lanes, the place and this set's values."""

    def __init__(self) -> None:
        self.listener: ShuffleListener | None = None
        self.on_sync: SyncListener | None = None

    def sync(self, lanes: Lanes, place: Place, members: Value) -> None:
        """``bar.warp.sync``: the machine has brought the lanes together already."""
        self._tell(lanes, place, members)

    def _tell(self, lanes: Lanes, place: Place, members: Value) -> None:
        if self.on_sync is not None:
            self.on_sync(place, lanes, members)

    def shuffle(self, lanes: Lanes, place: Place, value: Value, lane: Value, clamp: Value, members: Value) -> tuple:
        """``shfl.sync``: (value of the source lane, whether it was in range)."""
        self._tell(lanes, place, members)
        if isinstance(lane, np.ndarray) or isinstance(clamp, np.ndarray):
            source, valid = _sources(
                place.mode, lanes.spread(lane).astype(np.int64), lanes.spread(clamp).astype(np.int64)
            )
        else:
            source, valid = _uniform_sources(place.mode, int(lane), int(clamp))
        given = lanes.spread(value)
        if source.ndim == 1:
            received = given.take(source, axis=2)
            valid = np.broadcast_to(valid, (1, lanes.threads // WARP, WARP))
        else:
            rows = max(given.shape[0], source.shape[0])
            given = np.broadcast_to(given, (rows, *given.shape[1:]))
            received = np.take_along_axis(given, np.broadcast_to(source, given.shape), axis=2)
        if self.listener is not None:
            self.listener(place, lanes, np.broadcast_to(source, received.shape), given, received)
        return lanes.collect(received), lanes.collect(valid)

    def vote(self, lanes: Lanes, place: Place, predicate: Value, members: Value) -> Value:
        """``vote.sync``."""
        self._tell(lanes, place, members)
        asked = lanes.warp_mask & self._members(lanes, members)
        holds = lanes.spread(predicate)
        if place.mode == "ballot":
            return self._to_lanes(lanes, _pack_bits(holds & asked))
        every = (holds | ~asked).all(axis=2, keepdims=True)
        some = (holds & asked).any(axis=2, keepdims=True)
        answers: dict[str, Any] = {"all": every, "any": some, "uni": every | ~some}
        return self._to_lanes(lanes, answers[place.mode])

    def match(self, lanes: Lanes, place: Place, value: Value, members: Value) -> tuple:
        """``match.sync``: (mask of the lanes with the same value, whether all have it)."""
        self._tell(lanes, place, members)
        asked = lanes.warp_mask & self._members(lanes, members)
        spread = lanes.spread(value)
        asked = np.broadcast_to(asked, np.broadcast_shapes(asked.shape, spread.shape))
        same = (spread[..., :, None] == spread[..., None, :]) & asked[..., None, :]
        masks = _pack_bits(same)[..., 0]
        if place.mode == "any":
            return lanes.collect(masks), np.bool_(True)
        wanted = _pack_bits(asked)
        every = ((masks == wanted) | ~asked).all(axis=2, keepdims=True)
        return self._to_lanes(lanes, np.where(every, wanted, np.uint32(0))), self._to_lanes(lanes, every)

    def reduce(self, lanes: Lanes, place: Place, value: Value, members: Value) -> Value:
        """``redux.sync`` of integers."""
        self._tell(lanes, place, members)
        asked = lanes.warp_mask & self._members(lanes, members)
        spread = lanes.spread(value)
        dtype = spread.dtype
        function, neutral = {
            "add": (np.add, 0),
            "or": (np.bitwise_or, 0),
            "xor": (np.bitwise_xor, 0),
            "and": (np.bitwise_and, _FULL_MASK),
            "min": (np.minimum, np.iinfo(dtype).max),
            "max": (np.maximum, np.iinfo(dtype).min),
        }[place.mode]
        fill = np.array(neutral & _FULL_MASK, np.uint32).view(dtype)
        return self._to_lanes(lanes, function.reduce(np.where(asked, spread, fill), axis=2, keepdims=True, dtype=dtype))

    def active(self, lanes: Lanes, place: Place) -> Value:
        """``activemask``: the lanes of the warp that are here."""
        return self._to_lanes(lanes, _pack_bits(lanes.warp_mask))

    def elect(self, lanes: Lanes, place: Place, members: Value) -> tuple:
        """``elect.sync``: (the lowest member, whether this lane is it)."""
        self._tell(lanes, place, members)
        asked = lanes.warp_mask & self._members(lanes, members)
        leader = asked.argmax(axis=2)[..., None]
        return self._to_lanes(lanes, leader.astype(np.uint32)), lanes.collect(leader == _LANE)

    def block_vote(self, lanes: Lanes, place: Place, predicate: Value) -> Value:
        """The result of ``bar.red``: over all threads of the block that came to the barrier."""
        here = lanes.warp_mask
        holds = lanes.spread(predicate)
        if place.mode == "popc":
            result = (holds & here).sum(axis=(1, 2), keepdims=True).astype(np.uint32)
        elif place.mode == "and":
            result = (holds | ~here).all(axis=(1, 2), keepdims=True)
        else:
            result = (holds & here).any(axis=(1, 2), keepdims=True)
        return self._to_lanes(lanes, result)

    @staticmethod
    def _members(lanes: Lanes, members: Value) -> np.ndarray | np.bool_:
        if not isinstance(members, np.ndarray):
            if int(members) == _FULL_MASK:
                return np.bool_(True)
            return (int(members) >> _LANE & 1).astype(bool)
        return (lanes.spread(members) >> _LANE.astype(np.uint32) & np.uint32(1)).astype(bool)

    @staticmethod
    def _to_lanes(lanes: Lanes, value: np.ndarray) -> Value:
        """One value a warp (rows, warps, 1), or a block (rows, 1, 1), given to each lane."""
        if value.shape[1] == 1 and len(lanes.extent) == 2:
            return value.reshape(-1, 1)
        shape = (value.shape[0], lanes.threads // WARP, WARP)
        return lanes.collect(np.broadcast_to(value, shape))
