"""Which SM each block of a grid goes to."""

from __future__ import annotations

from functools import lru_cache
from heapq import heapreplace

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import CompiledFunction, Floats, Int64s

#: How a grid begins: of how many SMs one gets blocks out of turn; the blocks that the others get between its first
#: block and its second one, and between any two later ones. An H200 (2026-11-29) named the SM of each block of grids of
#: 133 to 2112 blocks: 124 SMs got blocks in the same order again and again, and eight got four while others got three.
_ONE_OF, _FIRST, _BETWEEN = 16, 74, 93
#: What Python takes for a block, in units of 100 microseconds.
_BLOCK = 0.01


@lru_cache(maxsize=64)
def places(blocks: int, sms: int, resident: int) -> tuple[int, ...]:
    """The SMs of the blocks that start at once. SMs are named in the order in which they are asked first.

    Most SMs take turns, and a few are asked more often, until all have as many blocks as they can all have. Then each
    SM gets one more, as far as there are blocks.
    """
    most, each = sms - sms // _ONE_OF, min(resident, blocks // sms)
    found, turn, asked = list[int](), 0, 0
    while len(found) < each * sms:
        due = _FIRST + _BETWEEN * (asked - 1) if asked else 0
        if asked < each and turn >= due:
            found.extend(range(most, sms))
            asked += 1
        else:
            found.append(turn % most)
            turn += 1
    return (*found, *[*range(most, sms), *range(most)][: blocks - len(found)])


@lru_cache(maxsize=64)
def _places(blocks: int, sms: int, resident: int) -> tuple[np.ndarray, ...]:
    """What :func:`places` gives, and these blocks by their SM: the block, its SM, and how many that one got before it.
    int64 each."""
    found = np.array(places(blocks, sms, resident), np.int64)
    found.setflags(write=False)  # all callers get the same one
    by_sm = found.argsort(kind="stable")
    sm = found[by_sm]
    return found, by_sm, sm, np.arange(blocks) - sm.searchsorted(sm)


def dealt(takes: np.ndarray, sms: int, resident: int, interval: float) -> np.ndarray:
    """The SM of each block: int64. An SM starts its blocks in their order.

    Arguments:
        takes: float64, the cycles that each block of the grid takes. sms: how many there are. resident: blocks that
            one holds. interval: cycles of the whole GPU between the starts of two blocks.
    """
    first = min(len(takes), sms * resident)
    begun, by_sm, sm, turn = _places(first, sms, resident)
    if first == len(takes):
        return begun
    ends = interval * sms * turn + takes[by_sm]
    # Of places that come free at the same time each SM gives one before any gives its second.
    order = np.lexsort((sm, turn, ends))
    return np.concatenate((begun, _taken(ends[order], turn[order], sm[order], takes[first:])))


def take(ends: Floats, turns: Int64s, sms: Int64s, places: int, cycles: Floats, blocks: int, taken: Int64s) -> int:
    """Write to ``taken`` the SM whose place comes free first for each block in turn.

    ``ends``, ``turns`` and ``sms``: of each place when it comes free, and what decides between those that do so at the
    same time; a heap, and so are they afterwards.
    """
    for block in range(blocks):
        end, turn, sm = ends[0] + cycles[block], turns[0], sms[0]
        taken[block] = sm
        at, below = 0, 1
        while below < places:
            other = below + 1
            if other < places and (
                ends[other] < ends[below]
                or (
                    ends[other] == ends[below]
                    and (turns[other] < turns[below] or (turns[other] == turns[below] and sms[other] < sms[below]))
                )
            ):
                below = other
            if end < ends[below] or (
                end == ends[below] and (turn < turns[below] or (turn == turns[below] and sm < sms[below]))
            ):
                break
            ends[at], turns[at], sms[at] = ends[below], turns[below], sms[below]
            at, below = below, 2 * below + 1
        ends[at], turns[at], sms[at] = end, turn, sm
    return 0


_TAKE = CompiledFunction(take)


def _taken(ends: np.ndarray, turns: np.ndarray, sms: np.ndarray, cycles: np.ndarray) -> np.ndarray:
    """The SM of each further block: int64. ends, turns, sms: of all places, sorted by these; cycles: of each block."""
    count = len(cycles)
    if _TAKE.ready(compiled_blocks(), _BLOCK * count):
        taken = np.empty(count, np.int64)
        given = tuple(map(np.ascontiguousarray, (ends, turns, sms)))
        cycles = np.ascontiguousarray(cycles)
        _TAKE.call(*map(id, given), len(ends), id(cycles), count, id(taken))
        return taken
    free, found = list(zip(ends.tolist(), turns.tolist(), sms.tolist(), strict=True)), []
    for each in cycles.tolist():
        end, turn, sm = free[0]
        heapreplace(free, (end + each, turn, sm))
        found.append(sm)
    return np.array(found, np.int64)
