"""The instructions by which the lanes of a warp exchange values."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from softlab.emulator.lanes import WARP, Lanes, Value, lanes_with_same, one_mask, one_mask_per_warp, pack_bits
from softlab.emulator.sites import InstructionSite

_LANE = np.arange(WARP)
_FULL_MASK = 0xFFFFFFFF
#: Called as listener(site, lanes, source, given, received), all spread over whole warps.
ShuffleListener = Callable[..., None]
#: Called as listener(site, lanes, members) when lanes execute a warp-synchronous instruction.
SyncListener = Callable[[InstructionSite, Lanes, Value], None]


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


def _unpack_bits(masks: np.ndarray) -> np.ndarray:
    """(rows, warps, n) uint32 -> (rows, warps, n, 32) bool, lane 0 the lowest bit."""
    octets = np.ascontiguousarray(masks, "<u4").view(np.uint8)
    return np.unpackbits(octets, axis=-1, bitorder="little").view(bool).reshape(*masks.shape, WARP)


class WarpWide:
    """The warp-wide instructions of one batch. Each method takes the lanes, the site and this set's values.

    Several groups of one warp may execute an instruction in one step, each with a mask of its own. The answer of a lane
    comes from the lanes that its own mask names.
    """

    def __init__(self, *, on_shuffle: ShuffleListener | None = None, on_sync: SyncListener | None = None) -> None:
        self._on_shuffle = on_shuffle
        self._on_sync = on_sync

    def sync(self, lanes: Lanes, site: InstructionSite, members: Value) -> None:
        """``bar.warp.sync``: the machine has brought the lanes together already."""
        self._tell(lanes, site, members)

    def _tell(self, lanes: Lanes, site: InstructionSite, members: Value) -> None:
        if self._on_sync is not None:
            self._on_sync(site, lanes, members)

    def shuffle(
        self, lanes: Lanes, site: InstructionSite, value: Value, lane: Value, clamp: Value, members: Value
    ) -> tuple:
        """``shfl.sync``: (value of the source lane, whether it was in range)."""
        self._tell(lanes, site, members)
        if isinstance(lane, np.ndarray) or isinstance(clamp, np.ndarray):
            source, valid = _sources(
                site.mode, lanes.spread(lane).astype(np.int64), lanes.spread(clamp).astype(np.int64)
            )
        else:
            source, valid = _uniform_sources(site.mode, int(lane), int(clamp))
        given = lanes.spread(value)
        if source.ndim == 1:
            received = given.take(source, axis=2)
            valid = np.broadcast_to(valid, (1, lanes.threads // WARP, WARP))
        else:
            rows = max(given.shape[0], source.shape[0])
            given = np.broadcast_to(given, (rows, *given.shape[1:]))
            received = np.take_along_axis(given, np.broadcast_to(source, given.shape), axis=2)
        if self._on_shuffle is not None:
            self._on_shuffle(site, lanes, np.broadcast_to(source, received.shape), given, received)
        return lanes.collect(received), lanes.collect(valid)

    def vote(self, lanes: Lanes, site: InstructionSite, predicate: Value, members: Value) -> Value:
        """``vote.sync``."""
        self._tell(lanes, site, members)
        asked = self._asked(lanes, members)
        holds = pack_bits(lanes.spread(predicate)) & asked
        if site.mode == "ballot":
            return self._to_lanes(lanes, holds)
        every, none = holds == asked, holds == 0
        answers: dict[str, Any] = {"all": every, "any": ~none, "uni": every | none}
        return self._to_lanes(lanes, answers[site.mode])

    def match(self, lanes: Lanes, site: InstructionSite, value: Value, members: Value) -> tuple:
        """``match.sync``: (mask of the lanes with the same value, whether all have it)."""
        self._tell(lanes, site, members)
        asked = self._asked(lanes, members)
        same = lanes_with_same(lanes.spread(value)) & asked
        if site.mode == "any":
            return lanes.collect(same), np.bool_(True)
        every = same == asked
        return lanes.collect(np.where(every, asked, np.uint32(0))), lanes.collect(every)

    def reduce(self, lanes: Lanes, site: InstructionSite, value: Value, members: Value) -> Value:
        """``redux.sync`` of integers."""
        self._tell(lanes, site, members)
        asked = self._asked(lanes, members)
        spread = lanes.spread(value)[:, :, None]
        dtype = spread.dtype
        function, neutral = {
            "add": (np.add, 0),
            "or": (np.bitwise_or, 0),
            "xor": (np.bitwise_xor, 0),
            "and": (np.bitwise_and, _FULL_MASK),
            "min": (np.minimum, np.iinfo(dtype).max),
            "max": (np.maximum, np.iinfo(dtype).min),
        }[site.mode]
        fill = np.array(neutral & _FULL_MASK, np.uint32).view(dtype)
        if not (asked == _FULL_MASK).all():
            spread = np.where(_unpack_bits(asked), spread, fill)
        return self._to_lanes(lanes, function.reduce(spread, axis=3, dtype=dtype))

    def active(self, lanes: Lanes, site: InstructionSite) -> Value:
        """``activemask``: the lanes of the warp that are here."""
        return self._to_lanes(lanes, pack_bits(lanes.warp_mask))

    def elect(self, lanes: Lanes, site: InstructionSite, members: Value) -> tuple:
        """``elect.sync``: (the lowest member, whether this lane is it)."""
        self._tell(lanes, site, members)
        asked = self._asked(lanes, members)
        lowest = asked & (~asked + np.uint32(1))
        leader = np.bitwise_count(lowest - np.uint32(1)) & np.uint32(31)
        return self._to_lanes(lanes, leader.astype(np.uint32)), lanes.collect(leader == _LANE)

    @staticmethod
    def _asked(lanes: Lanes, members: Value) -> np.ndarray:
        """The lanes that each lane asks, which its mask names and which are here.

        (rows, warps, 32) uint32, or (rows, warps, 1) where all lanes of a warp name the same ones.
        """
        here = pack_bits(lanes.warp_mask)
        members = one_mask(members)
        if not isinstance(members, np.ndarray):
            return here & np.uint32(members)
        return here & one_mask_per_warp(lanes.spread(members), lanes.warp_mask)

    @staticmethod
    def _to_lanes(lanes: Lanes, value: np.ndarray) -> Value:
        """A value per lane (rows, warps, 32) or per warp (rows, warps, 1), for each lane."""
        shape = (value.shape[0], lanes.threads // WARP, WARP)
        return lanes.collect(np.broadcast_to(value, shape))
