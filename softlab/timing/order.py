"""Which of the memory that a block loads other blocks have loaded shortly before: two observations of the sample.

All blocks of a wave run at the same time. Where they load the same sectors in the same order, all of them wait for
DRAM. Where they load them in different orders, as from a table at random, most sectors are soon in L2: somebody was
first.

- By order. Of the sectors that a block loads for the first time with its access m, a share q(m) was loaded by another
  block of the sample before its own access m. If k blocks at once share a sector, somebody had it earlier with the
  probability ``1 - (1 - q)^(k - 1)``.
- By size. If with access m the blocks together load as many sectors as lie between the first and the last one of them,
  then all of these are in L2 afterwards.

The number of an access counts what its warp has accessed before.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import median

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import Bytes, CompiledFunction, Floats, Int64s
from softlab.sass.streams import Space
from softlab.timing.columns import BRINGS, Columns
from softlab.timing.distinct import ascending, distinct

#: Blocks of the sample that are compared with each other, and accesses by which one is earlier: two next to each other
#: may wait for memory together.
_COMPARED, _LEAD = 6, 2
#: Sectors that blocks have in common, until which the share of those that were loaded earlier says something.
_ENOUGH = 32
#: Bits of a block, a pair of sectors and the number of an access together. A pair has 42, and a launch of a warp that
#: loads a million times has 62 in a block at most.
_MOST_BITS = 62
#: What NumPy takes for two blocks that are compared, and for the calls that find what blocks load and for each sector
#: of a launch, in units of 100 microseconds.
_TWO_BLOCKS, _CALLS, _SECTOR = 0.2, 0.5, 0.0002
_GLOBAL = int(Space.GLOBAL)
#: Accesses that cover at least this share of what lies between their ends cover it all.
_COVERED = 0.9
#: Blocks load parts of their own if they have together this share of what each has, summed.
_APART = 0.99


@dataclass(frozen=True)
class Order:
    """Of one array: from access ``numbers[i]`` on a sector that is new to a block is in L2 with probability
    ``seen[i]``; ``covered``: (access, first and last sector that all blocks have together loaded with it); ``new``: the
    mean share of a block's sectors that nobody has loaded before."""

    numbers: tuple[int, ...] = (0,)
    seen: tuple[float, ...] = (0.0,)
    covered: tuple[tuple[int, int, int], ...] = ()
    new: float = 1.0

    def at(self, number: int, sector: int) -> float:
        """The probability that a sector is in L2 when a block loads it for the first time, with that access."""
        for before, first, last in self.covered:
            if before < number and first <= sector <= last:
                return 1.0
        return self.seen[max(0, bisect_right(self.numbers, number) - 1)]


NEVER = Order()
#: Pairs of sectors that a block loads, ascending, and the number of the first access to each.
Loaded = tuple[np.ndarray, np.ndarray]


def loaded(columns: Columns) -> dict[int, Loaded]:
    """Block -> the pairs of sectors of global memory that it loads, and by which access first: of some of the blocks
    that the columns are of, from the first to the last one."""
    known = columns.blocks.tolist()
    last = len(known) - 1
    compared = known if last < _COMPARED else [known[k * last // (_COMPARED - 1)] for k in range(_COMPARED)]
    found = None
    if _GATHER.ready(compiled_blocks(), _CALLS + _SECTOR * len(columns.sectors)):
        found = _compiled(columns, compared)
    if found is None:
        turn, sectors, numbers = columns.loads_of(compared)
        found = _first(turn, sectors >> 1, numbers, len(compared))
    return dict(zip(compared, found, strict=True))


def reach(
    sectors: Int64s, counts: Int64s, space: Bytes, kind: Bytes, brings: Bytes, requests: Int64s, turns: Int64s,
    warps: int, ends: Int64s,
) -> int:  # fmt: skip
    """As :func:`gather`, the ``ends`` alone. How many bits a number has."""
    found, largest, least, greatest, last, bits = 0, 0, 0, -1, -1, 0
    request, at = 0, 0
    for warp in range(warps):
        for number in range(requests[warp]):
            end = at + counts[request]
            if turns[warp] >= 0 and space[request] == _GLOBAL and brings[kind[request]] and end > at:
                if found == 0:
                    least, greatest = sectors[at], sectors[at]
                for k in range(at, end):
                    least, greatest = min(least, sectors[k]), max(greatest, sectors[k])
                found, largest, last = 1, max(largest, number), max(last, turns[warp])
            request, at = request + 1, end
    least, greatest = least >> 1, greatest >> 1
    while largest >> bits > 0:
        bits += 1
    ends[0], ends[1], ends[2] = least, greatest - least + 1, bits
    size = bits
    while (last + 1) * ends[1] >> size - bits > 0:
        size += 1
    return size


def gather(
    sectors: Int64s, counts: Int64s, space: Bytes, kind: Bytes, brings: Bytes, requests: Int64s, turns: Int64s,
    warps: int, most: int, keys: Int64s, ends: Int64s,
) -> int:  # fmt: skip
    """Write a number for each sector that a warp with a turn, not -1, loads from global memory: its turn, pair of
    sectors and access, as :func:`_first` has them. How many there are; -1 if one has more bits than ``most``.

    ``ends``: the least pair, how many places there are from it on, and the bits of an access.
    """
    if reach(sectors, counts, space, kind, brings, requests, turns, warps, ends) > most:
        return -1
    request, at, found = 0, 0, 0
    for warp in range(warps):
        for number in range(requests[warp]):
            end = at + counts[request]
            if turns[warp] >= 0 and space[request] == _GLOBAL and brings[kind[request]]:
                before = turns[warp] * ends[1] - ends[0]
                for k in range(at, end):
                    keys[found] = (before + (sectors[k] >> 1)) << ends[2] | number
                    found += 1
            request, at = request + 1, end
    return found


def part(
    ordered: Int64s, count: int, least: int, span: int, bits: int, blocks: int, pairs: Int64s, first: Int64s,
    limits: Int64s,
) -> int:  # fmt: skip
    """Of the ascending numbers of :func:`gather` the pairs, each once, to ``pairs``, and the first access to each to
    ``first``. limits: where the pairs of each block begin, and the last ones end. How many there are."""
    found, turn, begin, last = 0, 0, 0, -1
    limits[0] = 0
    for k in range(count):
        place = ordered[k] >> bits
        if place != last:
            while place >= begin + span:
                turn += 1
                begin += span
                limits[turn] = found
            pairs[found], first[found], last = least + place - begin, ordered[k] & (1 << bits) - 1, place
            found += 1
    while turn < blocks:
        turn += 1
        limits[turn] = found
    return found


_GATHER, _PART = CompiledFunction(gather), CompiledFunction(part)


def _compiled(columns: Columns, compared: Sequence[int]) -> list[Loaded] | None:
    """As :func:`_first`, of the compared blocks; None where a number would have too many bits."""
    turns = np.full(len(columns.blocks), -1)
    turns[columns.blocks.searchsorted(compared)] = np.arange(len(compared))
    turns = turns[columns.row_of_stream]
    given = columns.sectors, columns.counts, columns.space, columns.kind, BRINGS, columns.requests, turns
    arrays = tuple(map(np.ascontiguousarray, given))
    keys, ends = np.empty(len(columns.sectors), np.int64), np.empty(3, np.int64)
    count = _GATHER.call(*map(id, arrays), len(turns), _MOST_BITS, id(keys), id(ends))
    if count < 0:
        return None
    ordered, (least, span, bits) = ascending(keys[:count]), ends.tolist()
    pairs, first, places = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(len(compared) + 1, np.int64)
    _PART.call(id(ordered), count, least, span, bits, len(compared), id(pairs), id(first), id(places))
    return [(pairs[low:high], first[low:high]) for low, high in pairwise(places.tolist())]


def _first(turn: np.ndarray, pairs: np.ndarray, numbers: np.ndarray, blocks: int) -> list[Loaded]:
    """The pairs of each of the ``blocks``. turn: int64, the number of the block of each."""
    if not len(pairs):
        return [(pairs, numbers)] * blocks
    bits, least = int(numbers.max()).bit_length(), int(pairs.min())
    span = int(pairs.max()) - least + 1
    if (blocks * span).bit_length() + bits > _MOST_BITS and blocks > 1:
        own = [turn == k for k in range(blocks)]
        return [_first(turn[one] - k, pairs[one], numbers[one], 1)[0] for k, one in enumerate(own)]
    # A block, a pair and the number of an access are one number of 64 bits.
    both = ascending((turn * span + pairs - least) << bits | numbers)
    found = both >> bits
    new = np.ones(len(found), bool)
    np.not_equal(found[1:], found[:-1], out=new[1:])
    found, first = found[new], both[new] & (1 << bits) - 1
    limits = found.searchsorted(np.arange(blocks + 1) * span).tolist()
    return [(found[low:high] + (least - k * span), first[low:high]) for k, (low, high) in enumerate(pairwise(limits))]


def order(blocks: Sequence[Loaded], first: int, last: int, grid: int, at_once: float, share: float) -> Order:
    """The order in which blocks load an array.

    Arguments:
        blocks: some of the sample. first, last: sectors of the array.
        grid: blocks of the grid. at_once: those that run at the same time. share: those that share a sector.
    """
    if share <= 1:
        return NEVER
    bounds = np.array((first >> 1, (last >> 1) + 1))
    inner = [_within(one, bounds) for one in blocks]
    inner = [one for one in inner if len(one[0])]
    if len(inner) < 2:
        return NEVER
    used, mine, early = _judged(inner)
    seen = 1 - (1 - early) ** (min(share, at_once) - 1)
    covered = _covers(inner, grid, at_once)
    new = float((mine * (1 - seen)).sum() / mine.sum())
    if covered:
        late = [
            (numbers > covered[0][0]) & (pairs >= covered[0][1] >> 1) & (pairs <= covered[0][2] >> 1)
            for pairs, numbers in inner
        ]
        new = min(new, 1 - sum(map(np.sum, late)) / mine.sum())
    return Order(tuple(used.tolist()), tuple(seen.tolist()), covered, max(new, 1 / share))


def judge(
    pairs: Int64s, numbers: Int64s, limits: Int64s, blocks: int, most: int, part: Int64s, each: Int64s, met: Int64s,
    before: Int64s, used: Int64s, mine: Floats, early: Floats,
) -> int:  # fmt: skip
    """As :func:`_judged`: how many accesses there are. limits: where the pairs of each block begin. most: more than the
    largest number. each, met, before: zeros."""
    found, total, begun = 0, 0, 0
    for k in range(limits[blocks]):
        each[numbers[k]] += 1
    for number in range(most):
        if each[number] > 0:
            used[found], mine[found] = number, each[number]
            each[number] = found
            found += 1
    for k in range(limits[blocks]):
        part[k] = each[numbers[k]]
    meet(pairs, numbers, part, limits, blocks, met, before)
    for k in range(found):
        total += met[k]
    last, k = max(0, total // _ENOUGH - 1), 0
    while k < found:
        first, group, both, earlier = k, min(begun // _ENOUGH, last), 0, 0
        while k < found and min(begun // _ENOUGH, last) == group:
            begun += met[k]
            both += met[k]
            earlier += before[k]
            k += 1
        for one in range(first, k):
            early[one] = 0.0
            if both > 0:
                early[one] = 1.0 * earlier / both
    return found


def meet(
    pairs: Int64s, numbers: Int64s, part: Int64s, limits: Int64s, blocks: int, met: Int64s, before: Int64s
) -> int:  # fmt: skip
    """Count as :func:`_met` does. limits: where the pairs of each block begin."""
    for one in range(blocks):
        for other in range(blocks):
            k, end = limits[other], limits[other + 1]
            for at in range(limits[one], limits[one + 1] if one != other else 0):
                while k < end and pairs[k] < pairs[at]:
                    k += 1
                if k < end and pairs[k] == pairs[at]:
                    met[part[at]] += 1
                    before[part[at]] += numbers[k] + _LEAD <= numbers[at]
    return 0


_JUDGE = CompiledFunction(judge)


def _judged(blocks: Sequence[Loaded]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The accesses with which some pair is loaded first, int64, how many pairs each loads, and of those that another
    block has, too, the share that it had before: float64.

    Accesses that few blocks have in common are judged together with those behind them.
    """
    if not _JUDGE.ready(compiled_blocks(), _TWO_BLOCKS * len(blocks) ** 2):
        return _judged_by_numpy(blocks)
    limits = np.array([*accumulate((len(pairs) for pairs, _ in blocks), initial=0)])
    pairs, numbers = (np.concatenate(one).astype(np.int64, copy=False) for one in zip(*blocks, strict=True))
    most = int(numbers.max()) + 1
    counts, part, shares = np.zeros((4, most), np.int64), np.empty(len(pairs), np.int64), np.empty((2, most))
    given = pairs, numbers, limits, len(blocks), most, part, *counts, *shares
    count = _JUDGE.call(*(one if isinstance(one, int) else id(one) for one in given))
    return counts[3, :count], shares[0, :count], shares[1, :count]


def _judged_by_numpy(blocks: Sequence[Loaded]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As :func:`_judged`."""
    together = np.concatenate([numbers for _, numbers in blocks])
    each = np.bincount(together)
    used = np.flatnonzero(each)
    part = (np.cumsum(each > 0) - 1)[together]
    met, before = _met(blocks, part, len(used))
    parts = np.minimum(np.floor((np.cumsum(met) - met) / _ENOUGH), max(0, int(met.sum() / _ENOUGH) - 1)).astype(int)
    met, before = np.bincount(parts, met)[parts], np.bincount(parts, before)[parts]
    return used, each[used].astype(float), np.divide(before, met, out=np.zeros(len(used)), where=met > 0)


def _met(blocks: Sequence[Loaded], part: np.ndarray, parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each part of the accesses how many pairs another block has, too, and how many it had before: float64.

    Arguments:
        part: int64, of the pairs of all blocks, one behind the other.
    """
    limits = np.cumsum([0, *(len(pairs) for pairs, _ in blocks)])
    met, before = np.zeros((2, parts), np.int64)
    for k, (pairs, numbers) in enumerate(blocks):
        own = part[limits[k] : limits[k + 1]]
        for others, earlier in (*blocks[:k], *blocks[k + 1 :]):
            place = np.searchsorted(others, pairs).clip(max=len(others) - 1)
            common = others[place] == pairs
            met += np.bincount(own[common], minlength=parts)
            before += np.bincount(own[common & (earlier[place] + _LEAD <= numbers)], minlength=parts)
    return met.astype(float), before.astype(float)


def _covers(blocks: Sequence[Loaded], grid: int, at_once: float) -> tuple[tuple[int, int, int], ...]:
    """The first access with which the blocks at work cover what lies between its ends."""
    if at_once < grid:
        return ()
    for number in sorted({int(numbers.min()) for _, numbers in blocks}):
        parts = [pairs[numbers == number] for pairs, numbers in blocks]
        if not all(map(len, parts)):
            continue
        low, high = min(int(part[0]) for part in parts), max(int(part[-1]) for part in parts)
        # The last block of a grid may have less than the others.
        met, each = len(distinct(np.concatenate(parts))), float(median(map(len, parts)))
        places = high - low + 1
        # Blocks that load parts of their own cover more together than blocks that load at random.
        apart = met >= _APART * sum(map(len, parts))
        reached = grid * each if apart else places * (1 - (1 - min(1.0, each / places)) ** grid)
        if reached >= _COVERED * places > met:
            return ((number, 2 * low, 2 * high + 1),)
    return ()


def _within(one: Loaded, bounds: np.ndarray) -> Loaded:
    """The pairs from the first of the bounds up to the one before the second."""
    pairs, numbers = one
    low, high = pairs.searchsorted(bounds).tolist()
    return pairs[low:high], numbers[low:high]
