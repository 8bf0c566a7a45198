"""In which order a warp executes what its lanes do apart from each other.

The interpreter takes the lowest instruction of all first, so that many warps go together. A warp of a GPU goes on with
some lanes until these wait for others at BSYNC, or end. Then it goes on with those that were left last. Where lanes
part, the fewest go on, and of as many on both sides those that do not jump. An H200 told so by its clock at each
place of chains of tests, of trees and of loops whose lanes part (2026-11-29, scripts that are not in this repository).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import Bytes, CompiledFunction, Int64s, UInt32s

#: Sets of lanes of a warp at most, with one that is being made.
_SETS = 33
#: What Python takes for an entry, in units of 100 microseconds.
_ENTRY = 0.1


def _part(mask: UInt32s, sets: Int64s, count: int, rest: int, at: int, end: int, turn: int) -> int:
    """Add the sets of the lanes ``rest``, each with its own next entry from ``at`` on; how many sets there are then."""
    while rest != 0 and at < end:
        part = rest & mask[at]
        if part != 0:
            sets[count] = part
            sets[_SETS + count] = at
            sets[2 * _SETS + count] = turn
            count += 1
            rest ^= part
        at += 1
    return count


def _choose(mask: UInt32s, start: Int64s, sets: Int64s, count: int, began: int, ahead: int, turn: int) -> int:
    """Which set goes on, -1: none. Of those that were together, which are from ``began`` on, the fewest lanes, and of
    as many those that do not jump; else who was left last. ``ahead``: the instruction behind the last one."""
    chosen, rank = -1, -1
    for k in range(count):
        entry, came = sets[_SETS + k], 0
        for other in range(count):
            if sets[_SETS + other] == entry:
                came |= sets[other]
        if came == mask[entry]:
            value = sets[2 * _SETS + k]
            if k >= began:
                many, lanes = 0, sets[k]
                while lanes != 0:
                    lanes &= lanes - 1
                    many += 1
                value = turn + 2 * (_SETS - many)
                if start[entry] == ahead:
                    value += 1
            if value > rank:
                chosen = k
                rank = value
    return chosen


def follow(
    mask: UInt32s, start: Int64s, length: Int64s, warps: int, limits: Int64s, sets: Int64s, order: Int64s
) -> int:
    """Write to ``order`` the entries of each warp as a GPU executes them.

    Arguments:
        mask, start, length: of each entry its lanes, its first instruction, and how many there are; one warp after the
            other, and every lane's own in its order.
        limits: where the entries of each warp begin, and where the last ones end.
        sets: ``3 * _SETS`` places: the lanes that go together, their next entry, and when they were left.
    """
    done = 0
    for warp in range(warps):
        end, turn, rest = limits[warp + 1], 0, 0
        for k in range(limits[warp], end):
            rest |= mask[k]
        count, began, ahead = _part(mask, sets, 0, rest, limits[warp], end, 0), 0, -1
        while count > 0:
            turn += 1
            chosen = _choose(mask, start, sets, count, began, ahead, turn)
            if chosen < 0:
                break
            now, kept = sets[_SETS + chosen], 0
            order[done] = now
            done += 1
            for k in range(count):  # those that have met go on together
                if sets[_SETS + k] != now:
                    for part in range(3):
                        sets[part * _SETS + kept] = sets[part * _SETS + k]
                    kept += 1
            began, ahead = kept, start[now] + length[now]
            count = _part(mask, sets, kept, mask[now], now + 1, end, turn)
    return done


def by_warp(
    warp: Int64s, mask: UInt32s, start: Int64s, length: Int64s, entries: int, warps: int, ends: Int64s, lanes: Int64s,
    parted: Bytes, order: Int64s, masks: UInt32s, starts: Int64s, lengths: Int64s, places: Int64s, limits: Int64s,
) -> int:  # fmt: skip
    """Write to ``order`` the entries of each warp as they come, one warp after the other. Those of the warps whose
    lanes part come to ``masks``, ``starts`` and ``lengths``, as for :func:`follow`, and to ``places`` where they stand
    in the order. How many such warps there are.

    ends: zeros, one per warp and one more. lanes: -1 per warp. parted: zeros per warp.
    """
    for k in range(entries):
        one = warp[k]
        ends[one + 1] += 1
        if lanes[one] >= 0 and lanes[one] != mask[k]:
            parted[one] = 1
        lanes[one] = mask[k]
    for one in range(warps):
        ends[one + 1] += ends[one]
    for k in range(entries):
        order[ends[warp[k]]] = k
        ends[warp[k]] += 1
    found, filled, begin = 0, 0, 0
    for one in range(warps):
        if parted[one]:
            for at in range(begin, ends[one]):
                k = order[at]
                masks[filled], starts[filled], lengths[filled], places[filled] = mask[k], start[k], length[k], at
                filled += 1
            found += 1
            limits[found] = filled
        begin = ends[one]
    return found


_FOLLOW, _BY_WARP = CompiledFunction(follow), CompiledFunction(by_warp)


def as_executed(warp: np.ndarray, mask: np.ndarray, start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """The entries of all warps, int64: those of each warp in the order in which a GPU executes them.

    Arguments:
        warp, start, length: int64 (entries,), the warp of a run, its first instruction, and how many there are.
        mask: uint32 (entries,), its lanes.
    """
    if _FOLLOW.ready(compiled_blocks(), _ENTRY * len(warp)) and _BY_WARP.ready(compiled_blocks(), _ENTRY * len(warp)):
        return _compiled(warp, mask, start, length)
    order = np.argsort(warp, kind="stable")
    masks, warps = mask[order], warp[order]
    changes = (masks[1:] != masks[:-1]) & (warps[1:] == warps[:-1])
    parted = np.zeros(int(warps[-1]) + 1 if len(warps) else 0, bool)
    parted[warps[1:][changes]] = True
    if not parted.any():
        return order
    places = np.flatnonzero(parted[warps])
    chosen = order[places]
    limits = np.concatenate(([0], np.cumsum(np.bincount(warp[chosen])[parted.nonzero()[0]])))
    # Numbers of lists are quicker in Python than those of arrays.
    lists: tuple[Any, ...] = tuple(one[chosen].tolist() for one in (mask, start, length))
    sets, found, count = [0] * (3 * _SETS), [0] * len(chosen), len(limits) - 1
    given: tuple[Any, ...] = limits.tolist(), sets, found
    done = follow(lists[0], lists[1], lists[2], count, given[0], given[1], given[2])
    assert done == len(chosen), "each entry comes once"
    order[places] = chosen[found]
    return order


def _compiled(warp: np.ndarray, mask: np.ndarray, start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """As :func:`as_executed`."""
    count, warps = len(warp), int(warp.max(initial=-1)) + 1
    masks, limits = np.empty(count, np.uint32), np.zeros(warps + 1, np.int64)
    order, starts, lengths, places, found = np.empty((5, count), np.int64)
    given = tuple(map(np.ascontiguousarray, (warp, mask, start, length)))
    state = np.zeros(warps + 1, np.int64), np.full(warps, -1), np.zeros(warps, np.uint8)
    made = order, masks, starts, lengths, places, limits
    several = _BY_WARP.call(*map(id, given), count, warps, *map(id, (*state, *made)))
    sets, chosen = np.zeros(3 * _SETS, np.int64), int(limits[several])
    done = _FOLLOW.call(*map(id, (masks, starts, lengths)), several, id(limits), id(sets), id(found))
    assert done == chosen, "each entry comes once"
    places = places[:chosen]
    order[places] = order[places][found[:chosen]]
    return order
