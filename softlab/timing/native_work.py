"""What the warps of some blocks execute and ask for, in one compiled pass, as :mod:`softlab.timing.work` says it.

The functions are written for :mod:`softlab.emulator.machine.native_python`. Each does for all chosen warps, one warp
after the other.
"""

from __future__ import annotations

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import Bytes, CompiledFunction, Int32s, Int64s, UInt32s
from softlab.sass.streams import Kind, Space, Streams
from softlab.timing.traits import CodeTraits

#: Numbers of a request (``Requests.numbers`` of :mod:`softlab.timing.work`).
NUMBERS = 9
#: Members of :class:`softlab.timing.work.Split`.
_PARTED, _AHEAD, _FURTHER, _APART, _YIELDED, _GIVEN_WAY = range(1, 7)
_GLOBAL, _SHARED = int(Space.GLOBAL), int(Space.SHARED)
_ATOMIC, _COPY = int(Kind.ATOMIC), int(Kind.ASYNC_COPY)
#: What NumPy takes for the calls, and for an instruction and a request, in units of 100 microseconds.
_CALLS, _INSTRUCTION, _REQUEST = 3.0, 0.0002, 0.001
#: Of each chosen warp and of the end: where its instructions, its requests and their sectors begin.
_PLACES = 3


def gather(
    chosen: Int64s, warps: int, limits: Int64s, requests: Int64s, begins: Int64s, offsets: Int64s,
    instructions: Int32s, active: UInt32s, came: UInt32s, position: Int32s, space: Bytes, kind: Bytes,
    wavefronts: Int32s, sectors: Int64s, widths: Int64s, codes: Int64s,
    code: Int32s, lanes: UInt32s, path: UInt32s, numbers: Int64s, counts: Int64s, kept: Int64s, places: Int64s,
) -> int:  # fmt: skip
    """Copy what the chosen warps execute to ``code``, ``lanes`` and ``path``, and their requests to ``numbers``,
    ``counts`` and ``kept``. Two fields of ``numbers`` change for :func:`look_up`: the lines become the number of
    sectors of a request, and the lines of the busiest bank become the place in ``sectors`` where these begin."""
    at, asked, filled = 0, 0, 0
    for k in range(warps):
        warp, first = chosen[k], at
        places[_PLACES * k], places[_PLACES * k + 1], places[_PLACES * k + 2] = at, asked, filled
        for n in range(limits[warp], limits[warp + 1]):
            code[at], lanes[at], path[at] = instructions[n], active[n], came[n]
            at += 1
        for n in range(requests[warp], requests[warp + 1]):
            row, low, high = NUMBERS * asked, begins[warp] + offsets[n + warp], begins[warp] + offsets[n + warp + 1]
            where = first + position[n]
            mask, many = lanes[where], 0
            while mask != 0:
                mask &= mask - 1
                many += 1
            numbers[row], numbers[row + 1], numbers[row + 2] = position[n], space[n], kind[n]
            numbers[row + 3], numbers[row + 4] = wavefronts[n], many
            numbers[row + 5], numbers[row + 6] = widths[code[where]], codes[code[where]]
            numbers[row + 7], numbers[row + 8] = high - low, low
            counts[asked] = 0
            if space[n] != _SHARED or kind[n] == _ATOMIC:  # others of shared memory are known by their passes
                counts[asked] = high - low
                for one in range(low, high):
                    kept[filled] = sectors[one]
                    filled += 1
            asked += 1
    places[_PLACES * warps], places[_PLACES * warps + 1], places[_PLACES * warps + 2] = at, asked, filled
    return filled


def look_up(sectors: Int64s, banks: Int64s, numbers: Int64s, requests: int, each: Int64s) -> int:
    """Write the lines of each request, and those of the busiest bank of tags. banks: of each of 128 lines. each: 4
    places."""
    for k in range(requests):
        row = NUMBERS * k
        count, low = numbers[row + 7], numbers[row + 8]
        lines, most, last = 0, 0, -1
        for bank in range(4):
            each[bank] = 0
        for one in range(low, low + count):
            line = sectors[one] >> 2
            if one == low or line != last:
                bank, last = banks[line & 127], line
                lines += 1
                each[bank] += 1
                most = max(most, each[bank])
        # Of an asynchronous copy past L1 the sectors of shared memory that it fills in part.
        if numbers[row + 2] == _COPY and numbers[row + 6] == 1 and numbers[row + 1] == _GLOBAL and k + 1 < requests:
            filled = numbers[row + NUMBERS + 7]
            if numbers[row + NUMBERS + 1] == _SHARED and 32 * filled > numbers[row + 4] * numbers[row + 5] + 32:
                lines = max(lines, filled)
        numbers[row + 7], numbers[row + 8] = lines, most
    return 0


def split(
    code: Int32s, lanes: UInt32s, path: UInt32s, count: int, places: Int64s, warps: int,
    jumps: Bytes, ends: Bytes, meets: Bytes, parts: Bytes, yields: Bytes, splits: Bytes,
) -> int:  # fmt: skip
    """Write behind which instructions a warp waits since its lanes part. splits: zeros."""
    left, known = 0, 0
    for k in range(count - 1):
        before, after, came, coming = lanes[k], lanes[k + 1], path[k], path[k + 1]
        if before != after or came != coming or coming == 0:
            index, following, found = code[k], code[k + 1], 0
            if jumps[index]:
                if before != after and after & ~before == 0:
                    found = _PARTED
                if following == index + 1 and came != coming and coming & ~came == 0:
                    found = _AHEAD
            if came & coming == 0 and not ends[index] and not meets[following]:
                if known and left == came:
                    found = _FURTHER
                if parts[max(following - 1, 0)]:
                    found = _APART
                left, known = coming, 1
            splits[k] = found
    for warp in range(warps):
        later, first, end = 0, places[_PLACES * warp], places[_PLACES * (warp + 1)]
        for k in range(end - 1, first - 1, -1):
            later |= path[k]
            if yields[code[k]]:
                splits[k] = _GIVEN_WAY if later & ~path[k] else _YIELDED
        if end > first:
            splits[end - 1] = 0  # the next instruction is of another warp
    return 0


def make(
    chosen: Int64s, warps: int, limits: Int64s, requests: Int64s, begins: Int64s, offsets: Int64s,
    instructions: Int32s, active: UInt32s, came: UInt32s, position: Int32s, space: Bytes, kind: Bytes,
    wavefronts: Int32s, sectors: Int64s, widths: Int64s, codes: Int64s, jumps: Bytes, ends: Bytes, meets: Bytes,
    parts: Bytes, yields: Bytes, banks: Int64s, code: Int32s, splits: Bytes, numbers: Int64s, counts: Int64s,
    kept: Int64s, places: Int64s, lanes: UInt32s, path: UInt32s, each: Int64s,
) -> int:  # fmt: skip
    """Write what :func:`made` gives to the arrays from ``code`` to ``places``; how many sectors there are."""
    filled = gather(
        chosen, warps, limits, requests, begins, offsets, instructions, active, came, position, space, kind,
        wavefronts, sectors, widths, codes, code, lanes, path, numbers, counts, kept, places,
    )  # fmt: skip
    look_up(sectors, banks, numbers, places[_PLACES * warps + 1], each)
    split(code, lanes, path, places[_PLACES * warps], places, warps, jumps, ends, meets, parts, yields, splits)
    return filled


_MAKE = CompiledFunction(make)


def ready(streams: Streams) -> bool:
    """Whether the compiled pass is there, and worth it."""
    work = _CALLS + _INSTRUCTION * len(streams.instructions) + _REQUEST * len(streams.position)
    return _MAKE.ready(compiled_blocks(), work)


def made(streams: Streams, chosen: np.ndarray, code: CodeTraits, banks: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of the chosen warps: int32 and uint8 (n,), the instructions, and what the warp waits for behind each; int64
    (m, 9), (m,) and (k,): the numbers of all requests, how many sectors each has, and all sectors, as
    :class:`softlab.timing.work.Requests` has them; int64 (warps + 1, 3): where the instructions, the requests and the
    sectors of each warp begin.

    Arguments:
        chosen: int64 (warps,). banks: int64 (128,), the bank of L1's tags that a line lies in.
    """
    limits = streams.limits, streams.requests, streams.begins
    count, asked, most = (int((one[chosen + 1] - one[chosen]).sum()) for one in limits)
    taken = (
        *limits, streams.offsets, streams.instructions, streams.active, streams.came, streams.position, streams.space,
        streams.kind, streams.wavefronts, streams.sectors, code.widths, code.codes, code.jumps, code.ends, code.meets,
        code.parts, code.yields, banks,
    )  # fmt: skip
    given = tuple(map(np.ascontiguousarray, taken))
    found = (
        np.empty(count, np.int32), np.zeros(count, np.uint8), np.empty((asked, NUMBERS), np.int64),
        np.empty(asked, np.int64), np.empty(most, np.int64), np.empty((len(chosen) + 1, _PLACES), np.int64),
    )  # fmt: skip
    scratch = np.empty(count, np.uint32), np.empty(count, np.uint32), np.empty(4, np.int64)
    filled = _MAKE.call(id(chosen), len(chosen), *map(id, (*given, *found, *scratch)))
    instructions, splits, numbers, counts, kept, places = found
    return instructions, splits, numbers, counts, kept[:filled], places
