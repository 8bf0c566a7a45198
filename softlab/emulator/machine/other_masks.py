"""Finds lanes that are named by a warp-synchronous operation, come to it with another mask, and end.

"All non-exited threads named in mask must execute the same intrinsic with the same mask, or the result is undefined."
(CUDA C++ Programming Guide, "Warp Shuffle Functions")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from softlab.emulator.lanes import WARP, Lanes, Value, lanes_of, pack_bits
from softlab.emulator.ptx.blocks import Block


class MaskHost(Protocol):
    """What is asked of the run."""

    def named_lanes(self, block: Block, lanes: Lanes) -> Value:
        """The mask of lanes that the block's first instruction names, a value of the set ``lanes``."""

    def same_operation(self, block: Block, other: Block) -> bool:
        """Whether the first instructions of both blocks are the same warp-synchronous operation."""

    def other_mask(self, block: Block, lanes: Lanes) -> None:
        """Told that lanes that these ones name executed the operation with another mask, and have ended since."""


class OtherMasks:
    """For each block of the code the lanes that came to an operation like its first with another mask."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks
        self._came: dict[int, np.ndarray] = {}

    def __contains__(self, index: int) -> bool:
        return index in self._came

    def note(self, block: Block, lanes: Lanes, stalled: Mapping[int, Lanes], host: MaskHost) -> None:
        """These lanes go on. Those ``stalled`` may wait for them at the same operation: their masks are others."""
        for index, waiting in stalled.items():
            other = self._blocks[index]
            if other is not block and not host.same_operation(block, other):
                continue
            named = np.bitwise_or.reduce(_named(waiting, host.named_lanes(other, waiting)), axis=2, keepdims=True)
            came = lanes.mask & _lanes_in(named)
            if came.any():
                self._came[index] = self._came.get(index, np.False_) | came

    def check(self, block: Block, lanes: Lanes, live: Lanes, host: MaskHost) -> None:
        """These lanes go on at last: tell of those that name a lane that came with another mask and has ended."""
        came = self._came.pop(block.index)
        gone = pack_bits((came & ~live.mask).reshape(lanes.blocks, -1, WARP))
        named = _named(lanes, host.named_lanes(block, lanes))
        # A lane that does not even name itself is another fault.
        wrong = ((named & gone) != 0) & ((named & np.uint32(1) << np.arange(WARP, dtype=np.uint32)) != 0)
        bad = wrong.reshape(lanes.blocks, lanes.threads)
        warps = np.asarray(lanes.mask.reshape(lanes.blocks, -1, WARP).any(axis=2))
        rest = came & ~np.repeat(warps, WARP, axis=1)
        if rest.any():
            self._came[block.index] = rest
        if bad.any():
            host.other_mask(block, lanes_of(bad))


def _named(lanes: Lanes, members: Value) -> np.ndarray:
    """(blocks, warps, 32) uint32: the mask that each lane of the set names, 0 for the other lanes."""
    named = np.broadcast_to(lanes.put(members, members, True), (lanes.blocks, lanes.threads))
    return np.where(lanes.mask, named, np.uint32(0)).reshape(lanes.blocks, -1, WARP)


def _lanes_in(masks: np.ndarray) -> np.ndarray:
    """(blocks, warps, 1) uint32 -> (blocks, threads) bool: the lanes whose bits are set."""
    return ((masks >> np.arange(WARP, dtype=np.uint32)) & np.uint32(1)).astype(bool).reshape(len(masks), -1)
