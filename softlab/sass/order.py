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
from softlab.emulator.machine.native_python import CompiledFunction, Int64s, UInt32s

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


_FOLLOW = CompiledFunction(follow)


def as_executed(warp: np.ndarray, mask: np.ndarray, start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """The entries of all warps, int64: those of each warp in the order in which a GPU executes them.

    Arguments:
        warp, start, length: int64 (entries,), the warp of a run, its first instruction, and how many there are.
        mask: uint32 (entries,), its lanes.
    """
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
    masks, starts, lengths = (np.ascontiguousarray(one[chosen]) for one in (mask, start, length))
    sets, found, count = np.zeros(3 * _SETS, np.int64), np.zeros(len(chosen), np.int64), len(limits) - 1
    if _FOLLOW.ready(compiled_blocks(), _ENTRY * len(chosen)):
        given = map(id, (masks, starts, lengths))
        done = _FOLLOW.call(*given, count, id(limits), id(sets), id(found))
    else:  # numbers of lists are quicker in Python than those of arrays
        lists: tuple[Any, ...] = tuple(one.tolist() for one in (masks, starts, lengths, limits, sets, found))
        done = follow(lists[0], lists[1], lists[2], count, lists[3], lists[4], lists[5])
        found = np.array(lists[5], np.int64)
    assert done == len(chosen), "each entry comes once"
    order[places] = chosen[found]
    return order
