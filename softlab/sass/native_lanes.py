"""The lanes of a set where a predicate holds, and the two sets that a branch makes, each in one compiled loop.

NumPy takes some five calls for either (:mod:`.lanes`, :mod:`.machine`). It does so where the loop is not compiled.
"""

from __future__ import annotations

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import Bytes, CompiledFunction, Int64s, UInt32s

#: What NumPy takes for either, in units of 100 microseconds.
_LOOK = 0.05
_ALL = 0xFFFFFFFF


def hold(predicate: Bytes, by_warp: int, by_lane: int, masks: UInt32s, count: int, held: UInt32s) -> int:
    """Write the lanes of each mask where the predicate holds; whether these are all lanes of all masks.

    Arguments:
        by_warp, by_lane: places in ``predicate`` from one warp or lane to the next.
    """
    everywhere = 1
    for k in range(count):
        at, here = k * by_warp, 0
        if by_lane == 0:
            if predicate[at] != 0:
                here = _ALL
        else:
            for lane in range(32):
                here |= predicate[at + lane] << lane
        here = here & masks[k]
        held[k] = here
        if here != masks[k]:
            everywhere = 0
    return everywhere


def part(
    warps: Int64s, masks: UInt32s, held: UInt32s, count: int,
    inside: Int64s, inside_masks: UInt32s, outside: Int64s, outside_masks: UInt32s,
) -> int:  # fmt: skip
    """Write the warps that have a lane in ``held`` and those that have one outside of it, with these lanes. How many
    the former are."""
    one, other = 0, 0
    for k in range(count):
        here = masks[k] & held[k]
        rest = masks[k] & ~held[k]
        if here != 0:
            inside[one] = warps[k]
            inside_masks[one] = here
            one += 1
        if rest != 0:
            outside[other] = warps[k]
            outside_masks[other] = rest
            other += 1
    outside[count] = other
    return one


_HOLD, _PART = CompiledFunction(hold), CompiledFunction(part)


def held(predicate: np.ndarray, masks: np.ndarray) -> np.ndarray | None:
    """(k,) uint32: the lanes of ``masks`` where the predicate, bool (k or 1, 32 or 1), holds; ``masks`` itself where
    these are all. None where NumPy has to look."""
    if not _HOLD.ready(compiled_blocks(), _LOOK):
        return None
    rows, width = predicate.shape
    given, lanes = np.ascontiguousarray(predicate), np.ascontiguousarray(masks)
    found = np.empty(len(masks), np.uint32)
    by_warp = width if rows > 1 else 0
    everywhere = _HOLD.call(id(given), by_warp, int(width > 1), id(lanes), len(masks), id(found))
    return masks if everywhere else found


def parted(
    warps: np.ndarray, masks: np.ndarray, held: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """The warps and masks of the lanes in ``held``, and those of the others. None where NumPy has to look."""
    if not _PART.ready(compiled_blocks(), _LOOK):
        return None
    count = len(warps)
    inside, outside = np.empty(count, np.int64), np.empty(count + 1, np.int64)
    inside_masks, outside_masks = np.empty(count, np.uint32), np.empty(count, np.uint32)
    lanes, here = np.ascontiguousarray(masks), np.ascontiguousarray(held)
    one = _PART.call(
        id(warps), id(lanes), id(here), count, id(inside), id(inside_masks), id(outside), id(outside_masks)
    )
    other = int(outside[count])
    return inside[:one], inside_masks[:one], outside[:other], outside_masks[:other]
