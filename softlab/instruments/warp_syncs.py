"""When the lanes of each warp synchronised last, also in groups that each have a mask of their own."""

from __future__ import annotations

import numpy as np

from softlab.emulator.lanes import WARP, Box, Lanes, Value
from softlab.emulator.ptx.syntax import Instruction

#: Said of a race between lanes that exchanged values between the two accesses.
NO_BARRIER = "The shuffle, vote, match or reduction of the warp between the two is no barrier of memory"
_FULL = 0xFFFFFFFF
#: Different sets of groups that are kept. Beyond it the warp counts as one group.
_MOST_GROUPINGS = 32


def is_exchange(instruction: Instruction) -> bool:
    """Whether lanes of a warp come together to exchange values, not to order what they do in memory."""
    return instruction.opcode not in ("bar", "barrier")


def names_all(members: Value) -> bool:
    """Whether a mask that all lanes share names the whole warp."""
    return not isinstance(members, np.ndarray) and int(members) == _FULL


def warps_of(lanes: Lanes) -> np.ndarray:
    """(blocks, warps) bool: the warps with lanes of the set."""
    return np.asarray(lanes.mask.reshape(lanes.blocks, -1, WARP).any(axis=2))


def passes_alone(lanes: Lanes, live: np.ndarray | None) -> bool:
    """Whether the set is known at once to be all lanes that live, in all blocks. ``live``: (blocks, threads) bool."""
    return isinstance(lanes, Box) and lanes.rows is None and (lanes.full or live is lanes.mask)


class WarpSyncs:
    """The last time of each grouping of the lanes of a batch, or of one block that stands for all.

    A grouping is a mask per lane: (rows, warps, 32) uint32, 0 for lanes that do not take part. The lanes of the mask
    come after what the lane did. Lanes that synchronise name each other; of lanes that access a word by atomics, one
    after the other, each has the later ones.
    """

    def __init__(self) -> None:
        self._groupings: dict[bytes, tuple[np.ndarray, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._groupings)

    @property
    def held(self) -> dict[bytes, tuple[np.ndarray, int]]:
        """What is empty where there is no grouping; always the same object."""
        return self._groupings

    def clear(self) -> None:
        """Forget everything."""
        self._groupings.clear()

    def repeat(self, rows: int) -> None:
        """Give each of ``rows`` blocks a state of its own."""
        groupings = [(np.repeat(masks, rows, axis=0), time) for masks, time in self._groupings.values()]
        self._groupings.clear()
        self._groupings.update({masks.tobytes(): (masks, time) for masks, time in groupings})

    @staticmethod
    def grouping(lanes: Lanes, members: Value) -> np.ndarray | None:
        """The grouping of a warp-synchronous instruction. None if each warp has one group.

        One row stands for all blocks if all of them take part.
        """
        if names_all(members):
            return None
        if not isinstance(members, np.ndarray):
            masks = np.where(lanes.warp_mask, np.uint32(members), np.uint32(0))
        else:
            if (members == _FULL).all():
                return None
            masks = np.where(lanes.warp_mask, lanes.spread(members), np.uint32(0))
        if len(lanes.extent) == 2 and lanes.extent[0] != lanes.blocks:
            of_some, masks = masks, np.zeros((lanes.blocks, *masks.shape[1:]), np.uint32)
            masks[np.unique(lanes.row_index)] = of_some
        return np.ascontiguousarray(masks, np.uint32)

    def record(self, masks: np.ndarray, time: int) -> bool:
        """Groups synchronise. False if too many groupings are known already: the caller then takes whole warps."""
        key = masks.tobytes()
        if key not in self._groupings and len(self._groupings) >= _MOST_GROUPINGS:
            return False
        self._groupings[key] = (masks, time)
        return True

    def since(self, row: np.ndarray, thread: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Whether threads have synchronised with a group of lanes since a time; the arrays broadcast."""
        found = np.zeros(np.broadcast_shapes(row.shape, thread.shape, time.shape), bool)
        for masks, at in self._groupings.values():
            found |= (masks[np.minimum(row, len(masks) - 1), thread // WARP, thread % WARP] != 0) & (time < at)
        return found

    def ordered(
        self, row: np.ndarray, warp: np.ndarray, first: np.ndarray, second: np.ndarray, time: np.ndarray
    ) -> np.ndarray:
        """Whether lane ``second`` of a warp comes after what lane ``first`` did at a time; (n,) each.

        A chain of groups also orders two lanes.
        """
        known = np.uint32(1) << first.astype(np.uint32)
        lane = np.arange(WARP, dtype=np.uint32)
        for masks, at in sorted(self._groupings.values(), key=lambda grouping: grouping[1]):
            which = np.minimum(row, len(masks) - 1)
            of_warp = masks[which, warp]
            joined = (known[:, None] >> lane & np.uint32(1)).astype(bool)
            gained = np.bitwise_or.reduce(np.where(joined, of_warp, np.uint32(0)), axis=1)
            known = np.where(time < at, known | gained, known)
        return (known >> second.astype(np.uint32) & np.uint32(1)).astype(bool)


def distinct(numbers: np.ndarray) -> np.ndarray:
    """The different numbers, sorted: as ``np.unique``, and faster where they rise, as those of lanes mostly do."""
    rising = len(numbers) < 2 or bool((numbers[1:] > numbers[:-1]).all())
    return numbers if rising else np.unique(numbers)
