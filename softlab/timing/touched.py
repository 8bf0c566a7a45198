"""What each block does with which sectors of global memory.

Several questions ask for it: what blocks share, what they store, load and have atomics on, and how many of them want a
sector. One pass over the requests, one sort by block and sector and one by sector answer all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import Bytes, CompiledFunction, Int64s
from softlab.sass.streams import Kind, Space
from softlab.timing.distinct import ascending, counted

#: What a request does with a sector: a bit each, and all of them, for one of these.
LOADS, STORES, ATOMICS, ANY = 1, 2, 4, 7
#: Bits behind a sector, or behind a block and a sector, that say what is done with it.
_BITS = 3
_OF_KIND = {
    Kind.LOAD: LOADS, Kind.ASYNC_COPY: LOADS, Kind.STORE: STORES, Kind.ATOMIC: LOADS | STORES | ATOMICS,
    Kind.REDUCTION: STORES | ATOMICS,
}  # fmt: skip
#: By kind what its requests do.
_DOES = np.array([_OF_KIND[kind] for kind in Kind], np.int64)
_GLOBAL = int(Space.GLOBAL)
#: What NumPy takes for the calls, and for a sector, in units of 100 microseconds.
_CALLS, _SECTOR = 0.5, 0.0002
#: Places that there could be per sector, up to which marks are quicker than sorting, and below how many sectors NumPy
#: sorts.
_CLOSE, _MANY = 8, 4096
#: Of a sum of what blocks do with a sector: what a digit holds, where the digit of each kind lies, and of each set of
#: kinds what it adds to the sum.
_DIGIT = (1 << 15) - 1
_PLACES = {ANY: 0, LOADS: 15, STORES: 30, ATOMICS: 45}
_NUMBERS = np.array([sum((done & kind > 0) << place for kind, place in _PLACES.items()) for done in range(ANY + 1)])


def collect(
    sectors: Int64s, counts: Int64s, row: Int64s, space: Bytes, kind: Bytes, does: Int64s, requests: int,
    keys: Int64s, ends: Int64s,
) -> int:  # fmt: skip
    """As :func:`keys_of`: the numbers come to ``keys``, and the least sector and the places to ``ends``. How many there
    are."""
    found, at, least, most = 0, 0, 0, -1
    for request in range(requests):
        first, at = at, at + counts[request]
        if space[request] == _GLOBAL:
            for k in range(first, at):
                if found == 0:
                    least, most = sectors[k], sectors[k]
                least, most = min(least, sectors[k]), max(most, sectors[k])
                found += 1
    span, at, found = most - least + 1, 0, 0
    for request in range(requests):
        first, at = at, at + counts[request]
        if space[request] == _GLOBAL:
            before, bits = row[request] * span - least, does[kind[request]]
            for k in range(first, at):
                keys[found] = before + sectors[k] << _BITS | bits
                found += 1
    ends[0], ends[1] = least, span
    return found


_COLLECT = CompiledFunction(collect)


def keys_of(
    sectors: np.ndarray, counts: np.ndarray, row: np.ndarray, space: np.ndarray, kind: np.ndarray
) -> tuple[np.ndarray, int, int]:
    """One number per sector of the requests to global memory: which it is behind ``least``, plus ``span`` per row, and
    behind that three bits for what the request does.

    Arguments:
        sectors: int64, of all requests one after the other. counts, row: int64 (m,). space, kind: uint8 (m,).

    Returns the numbers, the least of these sectors, and the places from the least to the last one. Addresses have 48
    bits, and a sample some thousand blocks.
    """
    if not _COLLECT.ready(compiled_blocks(), _CALLS + _SECTOR * len(sectors)):
        wanted = space == _GLOBAL
        chosen, counts = sectors[wanted.repeat(counts)], counts[wanted]
        least = int(chosen.min()) if len(chosen) else 0
        span = int(chosen.max()) - least + 1 if len(chosen) else 0
        places = (row[wanted] * span - least).repeat(counts) + chosen
        return places << _BITS | _DOES[kind[wanted]].repeat(counts), least, span
    given = tuple(map(np.ascontiguousarray, (sectors, counts, row, space, kind)))
    keys, ends = np.empty(len(sectors), np.int64), np.zeros(2, np.int64)
    count = _COLLECT.call(*map(id, given), id(_DOES), len(counts), id(keys), id(ends))
    return keys[:count], int(ends[0]), int(ends[1])


def mark(keys: Int64s, count: int, marks: Bytes) -> int:
    """Note at the place of each number what is done there. marks: zeros."""
    for k in range(count):
        marks[keys[k] >> _BITS] |= keys[k] & ANY
    return 0


def merge(
    keys: Int64s, count: int, least: int, span: int, rows: int, found: Int64s, done: Bytes, limits: Int64s
) -> int:  # fmt: skip
    """Write the distinct sectors of each row of ascending numbers to ``found``, what is done with each to ``done``, and
    where each row begins, and the last one ends, to ``limits``. How many there are."""
    number, row, begin, last = 0, 0, -least, -1
    limits[0] = 0
    for k in range(count):
        place = keys[k] >> _BITS
        if place != last:
            while place >= begin + least + span:
                row += 1
                begin += span
                limits[row] = number
            found[number], done[number], last = place - begin, 0, place
            number += 1
        done[number - 1] |= keys[k] & ANY
    while row < rows:
        row += 1
        limits[row] = number
    return number


_MARK, _MERGE = CompiledFunction(mark), CompiledFunction(merge)


def merged(keys: np.ndarray, least: int, span: int, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct sectors of each row, ascending, int64; what is done with each, uint8; where each row begins, int64
    (rows + 1,).

    Arguments: as :func:`keys_of` gives them. rows: how many there are.
    """
    compiled, count = compiled_blocks(), len(keys)
    if not _MERGE.ready(compiled, _CALLS + _SECTOR * count):
        return merged_by_numpy(np.sort(keys), least, span, rows)
    if 0 < rows * span <= _CLOSE * count and _MARK.ready(compiled, _SECTOR * count):
        marks = np.zeros(rows * span, np.uint8)
        _MARK.call(id(keys), count, id(marks))
        places = marks.nonzero()[0]
        keys = places << _BITS | marks[places]
        count = len(keys)
    else:
        keys = ascending(keys, _BITS)
    found, done, limits = np.empty(count, np.int64), np.empty(count, np.uint8), np.empty(rows + 1, np.int64)
    number = _MERGE.call(id(keys), count, least, span, rows, id(found), id(done), id(limits))
    return found[:number], done[:number], limits


def merged_by_numpy(
    keys: np.ndarray, least: int, span: int, rows: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """As :func:`merged`. keys: ascending."""
    places = keys >> _BITS
    first = np.flatnonzero(np.concatenate((places[:1] == places[:1], places[1:] != places[:-1])))
    places = places[first]
    done = np.bitwise_or.reduceat(keys & ANY, first) if len(first) else first
    begins = np.arange(rows + 1) * span
    limits = places.searchsorted(begins) if span else begins
    return places - np.repeat(begins[:-1] - least, limits[1:] - limits[:-1]), done.astype(np.uint8), limits


class BlockSectors(Sequence[np.ndarray]):
    """The distinct sectors of each block, int64 (k,) each, ascending.

    ``together``: those of all blocks, one block after the other. ``limits`` int64 (blocks + 1,): where those of each
    begin.
    """

    def __init__(
        self, together: np.ndarray, limits: np.ndarray, whole: Callable[[], tuple[np.ndarray, np.ndarray]] | None = None
    ) -> None:
        self.together, self.limits = together, limits
        self._find = whole

    @classmethod
    def of(cls, parts: Sequence[np.ndarray]) -> BlockSectors:
        """The sectors of these blocks."""
        if isinstance(parts, BlockSectors):
            return parts
        return cls(np.concatenate([*parts, np.zeros(0, np.int64)]), np.cumsum([0, *map(len, parts)]))

    @cached_property
    def _parts(self) -> list[np.ndarray]:
        return [self.together[low:high] for low, high in pairwise(self.limits.tolist())]

    def __len__(self) -> int:
        return len(self.limits) - 1

    def __getitem__(self, number: Any) -> Any:
        return self._parts[number]

    @cached_property
    def _whole(self) -> tuple[np.ndarray, np.ndarray]:
        return self._find() if self._find else counted(self.together)

    @property
    def every(self) -> np.ndarray:
        """The distinct sectors of all blocks, ascending: int64."""
        return self._whole[0]

    @property
    def times(self) -> np.ndarray:
        """Of how many blocks each of them is: int64."""
        return self._whole[1]


def sum_up(keys: Int64s, count: int, wanted: int, unwanted: int, every: Int64s, times: Int64s) -> int:
    """Of ascending numbers write the distinct sectors, and how many numbers of each have one of the ``wanted`` bits.
    Sectors are left out of which no number has one, or some number has an ``unwanted`` bit. How many there are."""
    found, k = 0, 0
    while k < count:
        sector, done, own = keys[k] >> _BITS, 0, 0
        while k < count and keys[k] >> _BITS == sector:
            done |= keys[k]
            if keys[k] & wanted:
                own += 1
            k += 1
        if own > 0 and not done & unwanted:
            every[found], times[found] = sector, own
            found += 1
    return found


def tally(found: Int64s, done: Bytes, count: int, least: int, numbers: Int64s, each: Int64s) -> int:
    """Add up the ``numbers`` of what is done with each of the sectors, which lie from ``least`` on. each: zeros, one
    per place."""
    for k in range(count):
        each[found[k] - least] += numbers[done[k]]
    return 0


def pick(
    each: Int64s, span: int, least: int, shift: int, digit: int, unwanted: int, every: Int64s, times: Int64s
) -> int:  # fmt: skip
    """Write the sectors of which a ``digit`` of their sums is not 0, and no ``unwanted`` bit set, and what the digit
    is. How many there are; behind them is room for one more."""
    number = 0
    for at in range(span):  # without a branch, which no processor could foresee
        own = each[at] >> shift & digit
        every[number], times[number] = least + at, own
        number += (own > 0) & ((each[at] & unwanted) == 0)
    return number


_SUM_UP, _TALLY, _PICK = CompiledFunction(sum_up), CompiledFunction(tally), CompiledFunction(pick)


def summed(keys: np.ndarray, wanted: int, unwanted: int) -> tuple[np.ndarray, np.ndarray]:
    """As :func:`sum_up`: int64 each."""
    count = len(keys)
    if not _SUM_UP.ready(compiled_blocks(), _CALLS + _SECTOR * count):
        return summed_by_numpy(keys, wanted, unwanted)
    every, times = np.empty(count, np.int64), np.empty(count, np.int64)
    found = _SUM_UP.call(id(keys), count, wanted, unwanted, id(every), id(times))
    return every[:found], times[:found]


def summed_by_numpy(keys: np.ndarray, wanted: int, unwanted: int) -> tuple[np.ndarray, np.ndarray]:
    """As :func:`summed`."""
    if not len(keys):
        return keys, keys
    every, each = counted(keys >> _BITS)
    first = np.cumsum(each) - each
    times = np.add.reduceat(((keys & wanted) > 0).astype(np.int64), first)
    chosen = (times > 0) & (np.bitwise_or.reduceat(keys & unwanted, first) == 0)
    return every[chosen], times[chosen]


class Touched:
    """What blocks do with which sectors of global memory. ``blocks``: how many these are."""

    def __init__(
        self, sectors: np.ndarray, counts: np.ndarray, row: np.ndarray, space: np.ndarray, kind: np.ndarray, blocks: int
    ) -> None:
        """Of these requests, as for :func:`keys_of`. row: the number of the block of each, from 0 to ``blocks`` - 1."""
        self.blocks = blocks
        keys, self._least, self._span = keys_of(sectors, counts, row, space, kind)
        self._found, self._done, self._limits = merged(keys, self._least, self._span, blocks)
        self._of: dict[int, BlockSectors] = {}

    def by_block(self, kinds: int) -> BlockSectors:
        """The sectors with which each block does something, or one of the three."""
        if kinds not in self._of:
            self._of[kinds] = self._chosen(kinds)
        return self._of[kinds]

    def _chosen(self, kinds: int) -> BlockSectors:
        if kinds == ANY:
            return BlockSectors(self._found, self._limits, lambda: self._in_all(kinds))
        chosen = ((self._done & kinds) > 0).nonzero()[0]
        if len(chosen) == len(self._found):
            return self.by_block(ANY)
        limits = chosen.searchsorted(self._limits)
        return BlockSectors(self._found[chosen], limits, lambda: self._in_all(kinds))

    def _in_all(self, kinds: int) -> tuple[np.ndarray, np.ndarray]:
        """The distinct ones of these sectors, and of how many blocks each is."""
        return self._summed(kinds, 0)

    def _summed(self, wanted: int, unwanted: int) -> tuple[np.ndarray, np.ndarray]:
        """As :func:`sum_up`, of the sectors of all blocks: int64 each."""
        count, span = len(self._found), self._span
        if not (self._is_close and _PICK.ready(compiled_blocks(), _SECTOR * count)):
            return summed(self._by_sector, wanted, unwanted)
        every, times = np.empty(count + 1, np.int64), np.empty(count + 1, np.int64)
        shift, others = _PLACES[wanted], _DIGIT << _PLACES[unwanted] if unwanted else 0
        found = _PICK.call(id(self._tallied), span, self._least, shift, _DIGIT, others, id(every), id(times))
        return every[:found], times[:found]

    @property
    def _is_close(self) -> bool:
        """Whether counting by place is quicker than sorting. A digit of the sums holds the number of blocks."""
        count = len(self._found)
        close = count >= _MANY and self._span <= _CLOSE * count and self.blocks <= _DIGIT
        return close and _TALLY.ready(compiled_blocks(), _SECTOR * count)

    @cached_property
    def _tallied(self) -> np.ndarray:
        """For each place from the least sector on how many blocks do what there: int64, with a digit per kind."""
        each = np.zeros(self._span, np.int64)
        _TALLY.call(id(self._found), id(self._done), len(self._found), self._least, id(_NUMBERS), id(each))
        return each

    @cached_property
    def never_stored(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct sectors that some block loads and none stores or changes, ascending, and how many load each."""
        return self._summed(LOADS, STORES)

    @cached_property
    def _by_sector(self) -> np.ndarray:
        """Of all blocks the sectors and what is done with them, by sector: int64."""
        return ascending(self._found << _BITS | self._done, _BITS)
