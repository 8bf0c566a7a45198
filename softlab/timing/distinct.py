"""The distinct ones of many whole numbers, in ascending order.

Sectors that blocks touch are numbers of 20 to 30 bits. Where they lie close together, a mark for each number that could
be there is quickest. Else a compiled loop deals them by eleven bits at a time (radix sort). NumPy sorts where there is
no compiler, and where there are few.
"""

from __future__ import annotations

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import CompiledFunction, Int64s

#: Numbers that could be there per number, up to which marks are quickest, and below how many numbers NumPy sorts.
_CLOSE, _MANY = 8, 4096
#: Bits by which numbers are dealt at once.
_BITS = 11
_PLACES, _DIGIT = 1 << _BITS, (1 << _BITS) - 1
#: Bits of a distance between two values that is a whole number of 64 bits with a sign.
_MOST_BITS = 62
#: What NumPy takes to sort a number, and to compare it with the one before, in units of 100 microseconds.
_SORTED, _COMPARED = 0.0006, 0.00007
#: What its calls take besides.
_CALLS = 0.05


def deal(values: Int64s, dealt: Int64s, count: int, least: int, shift: int, places: Int64s) -> int:
    """Put the values in the order of eleven bits of their distance from ``least``, those that are equal as they come.

    ``places``: 2048 of them, all 0.
    """
    for k in range(count):
        places[values[k] - least >> shift & _DIGIT] += 1
    first = 0
    for digit in range(_PLACES):
        here = places[digit]
        places[digit] = first
        first += here
    for k in range(count):
        value = values[k]
        place = value - least >> shift & _DIGIT
        dealt[places[place]] = value
        places[place] += 1
    return 0


def keep(values: Int64s, shift: int, count: int, kept: Int64s, ends: Int64s, parts: int) -> int:
    """Write the distinct ones of ascending values without their last ``shift`` bits to ``kept``, part by part; how many
    there are. ends: where each part of the values ends."""
    found, k = 0, 0
    for part in range(parts):
        end = ends[part]
        if k < end:
            last = values[k] >> shift
            kept[found] = last
            found += 1
            for at in range(k + 1, end):  # without a branch, which no processor could foresee
                value = values[at] >> shift
                kept[found] = value
                found += value != last
                last = value
            k = end
    return found


_DEAL, _KEEP = CompiledFunction(deal), CompiledFunction(keep)


def distinct(values: np.ndarray) -> np.ndarray:
    """The distinct values, int64, in ascending order. ``np.unique`` sorts small integers by hash, which takes far
    longer."""
    if len(values) >= _MANY:
        least = int(values.min())
        span = int(values.max()) - least + 1
        if span <= _CLOSE * len(values):
            there = np.zeros(span, bool)
            there[values - least] = True
            return np.flatnonzero(there) + least
    return distinct_neighbours(ascending(values))


def counted(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values, int64, in ascending order, and how often each is there."""
    values = ascending(values)
    kept = np.ones(len(values) + 1, bool)
    np.not_equal(values[1:], values[:-1], out=kept[1:-1])
    first = np.flatnonzero(kept)
    return values[first[:-1]], np.diff(first)


def ascending(values: np.ndarray, without: int = 0) -> np.ndarray:
    """The values, int64, in ascending order; those that differ in their last ``without`` bits alone in any order."""
    count = len(values)
    if count < _MANY:
        return np.sort(values)
    least = int(values.min()) >> without << without
    span = int(values.max()) - least + 1
    if span.bit_length() > _MOST_BITS or not _DEAL.ready(compiled_blocks(), _SORTED * count):
        return np.sort(values)
    values, spare = np.ascontiguousarray(values), [np.empty_like(values), np.empty_like(values)]
    for turn, shift in enumerate(range(without, span.bit_length(), _BITS)):
        dealt, places = spare[turn % 2], np.zeros(_PLACES, np.int64)
        _DEAL.call(id(values), id(dealt), count, least, shift, id(places))
        values = dealt
    return values


def distinct_neighbours(values: np.ndarray, shift: int = 0, ends: np.ndarray | None = None) -> np.ndarray:
    """The distinct ones of ascending values, int64, without their last ``shift`` bits. ends: int64, where parts of the
    values end which ascend and are looked at by themselves; all values are in one."""
    count = len(values)
    if not _KEEP.ready(compiled_blocks(), _CALLS + _COMPARED * count):
        return _neighbours_by_numpy(values >> shift if shift else values, ends)
    values, limits = np.ascontiguousarray(values), np.array([count]) if ends is None else np.ascontiguousarray(ends)
    kept = np.empty(count, np.int64)
    return kept[: _KEEP.call(id(values), shift, count, id(kept), id(limits), len(limits))].copy()


def _neighbours_by_numpy(values: np.ndarray, ends: np.ndarray | None) -> np.ndarray:
    kept = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=kept[1:])
    if ends is not None:
        kept[ends[(ends > 0) & (ends < len(values))]] = True
    return values[kept]
