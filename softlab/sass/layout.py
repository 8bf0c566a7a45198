"""What the warps executed and accessed, one warp after the other, of what several of them executed together."""

from __future__ import annotations

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import Bytes, CompiledFunction, Int32s, Int64s, UInt32s

#: What NumPy takes for the calls, for an entry, for an instruction and for a request, in units of 100 microseconds.
_CALLS, _ENTRY, _INSTRUCTION, _REQUEST = 0.5, 0.001, 0.0002, 0.003
#: Of the requests of all warps the positions, spaces, kinds and wavefronts, as
#: :class:`softlab.sass.streams.Accesses` has them; the offsets of each warp, 0 first; all sectors; and int64
#: (warps + 1,): where the requests and where the sectors of each warp begin.
Arranged = tuple[np.ndarray, ...]


def place(
    warp: Int64s, mask: UInt32s, start: Int64s, length: Int64s, order: Int64s, entries: int,
    ends: Int64s, begins: Int64s, instruction: Int32s, active: UInt32s,
) -> int:  # fmt: skip
    """Put the instructions of each entry, in this order, behind those of its warp, which end at ``ends`` until now."""
    for number in range(entries):
        entry = order[number]
        at, first, count = ends[warp[entry]], start[entry], length[entry]
        begins[entry] = at
        for k in range(count):
            instruction[at + k] = first + k
            active[at + k] = mask[entry]
        ends[warp[entry]] = at + count
    return 0


def measure(
    warp: Int64s, mask: UInt32s, length: Int64s, entries: int, warps: int, limits: Int64s, lanes: Int64s
) -> int:
    """Write as :func:`measured` to ``limits``, which are zeros. lanes: -1 per warp."""
    part = 0
    for k in range(entries):
        one = warp[k]
        if lanes[one] >= 0 and lanes[one] != mask[k]:
            part = 1
        lanes[one] = mask[k]
        limits[one + 1] += length[k]
    for one in range(warps):
        limits[one + 1] += limits[one]
    return part


_PLACE, _MEASURE = CompiledFunction(place), CompiledFunction(measure)


def measured(warp: np.ndarray, mask: np.ndarray, length: np.ndarray, warps: int) -> tuple[np.ndarray, bool]:
    """Where the instructions of each warp begin, and those of the last one end, int64 (warps + 1,), and whether the
    lanes of a warp part.

    Arguments: as of :func:`lay_out`. warps: how many there are.
    """
    if not _MEASURE.ready(compiled_blocks(), _CALLS + _ENTRY * len(warp)):
        per_warp = np.bincount(warp, weights=length, minlength=warps).astype(np.int64)
        order = np.argsort(warp, kind="stable")
        masks, warp = mask[order], warp[order]
        part = (masks[1:] != masks[:-1]) & (warp[1:] == warp[:-1])
        return np.concatenate(([0], np.cumsum(per_warp))), bool(part.any())
    limits, lanes = np.zeros(warps + 1, np.int64), np.full(warps, -1)
    given = tuple(map(np.ascontiguousarray, (warp, mask, length)))
    return limits, bool(_MEASURE.call(*map(id, given), len(warp), warps, id(limits), id(lanes)))


def lay_out(
    warp: np.ndarray, mask: np.ndarray, start: np.ndarray, length: np.ndarray, limits: np.ndarray,
    order: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """The instructions of all warps, int32, the lanes that execute them, uint32, and where each entry begins, int64.

    Arguments:
        warp, start, length: int64 (entries,), the warp of a run, its first instruction, and how many there are.
        mask: uint32 (entries,), its lanes. limits: int64 (warps + 1,), where the instructions of each warp begin.
        order: int64 (entries,), the entries of each warp as it executes them; None: as they come.
    """
    total, count = int(limits[-1]), len(warp)
    begins = np.empty(count, np.int64)
    if not _PLACE.ready(compiled_blocks(), _ENTRY * count + _INSTRUCTION * total):
        if order is None:
            return by_numpy(warp, mask, start, length, total)
        instruction, active, moved = by_numpy(warp[order], mask[order], start[order], length[order], total)
        begins[order] = moved
        return instruction, active, begins
    order = np.arange(count) if order is None else order
    ends, instruction, active = limits.copy(), np.empty(total, np.int32), np.empty(total, np.uint32)
    given = tuple(map(np.ascontiguousarray, (warp, mask, start, length, order)))
    _PLACE.call(*map(id, given), count, id(ends), id(begins), id(instruction), id(active))
    return instruction, active, begins


def by_numpy(
    warp: np.ndarray, mask: np.ndarray, start: np.ndarray, length: np.ndarray, total: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As :func:`lay_out`, by sorting. total: how many instructions there are."""
    order = np.argsort(warp, kind="stable")
    length = length[order]
    first = np.cumsum(length) - length
    begins = np.empty(len(warp), np.int64)
    begins[order] = first
    instruction = np.repeat(start[order] - first, length) + np.arange(total)
    return instruction.astype(np.int32), np.repeat(mask[order], length), begins


def rank(
    place: Int64s, counts: Int64s, requests: int, instructions: int, turn: Int32s, first: Int64s, order: Int64s
) -> int:
    """Write the requests by their ``place`` among the instructions to ``order``, those of one place as they come, and
    to ``first`` where the sectors of each begin. ``turn``: zeros, one per instruction."""
    at = 0
    for k in range(requests):
        first[k] = at
        at += counts[k]
        turn[place[k]] += 1
    at = 0
    for k in range(instructions):
        many = turn[k]
        turn[k] = at
        at += many
    for k in range(requests):
        order[turn[place[k]]] = k
        turn[place[k]] += 1
    return 0


def arrange(
    place: Int64s, space: Bytes, kind: Bytes, wavefronts: Int64s, counts: Int64s, sectors: Int64s, requests: int,
    limits: Int64s, warps: int, turn: Int32s, first: Int64s, order: Int64s,
    position: Int32s, spaces: Bytes, kinds: Bytes, passes: Int32s, offsets: Int64s, out: Int64s,
    begins: Int64s, begins_at: Int64s,
) -> int:  # fmt: skip
    """Write the requests of all warps as :func:`arranged` gives them. turn, first, order: as for :func:`rank`."""
    rank(place, counts, requests, limits[warps], turn, first, order)
    done, filled = 0, 0
    for warp in range(warps):
        begins[warp], begins_at[warp] = done, filled
        offsets[done + warp] = 0
        while done < requests and place[order[done]] < limits[warp + 1]:
            k = order[done]
            position[done] = place[k] - limits[warp]
            spaces[done], kinds[done], passes[done] = space[k], kind[k], wavefronts[k]
            for one in range(first[k], first[k] + counts[k]):
                out[filled] = sectors[one]
                filled += 1
            done += 1
            offsets[done + warp] = filled - begins_at[warp]
    begins[warps], begins_at[warps] = done, filled
    return 0


_ARRANGE = CompiledFunction(arrange)


def arranged(
    place: np.ndarray, space: np.ndarray, kind: np.ndarray, wavefronts: np.ndarray, counts: np.ndarray,
    sectors: np.ndarray, limits: np.ndarray,
) -> Arranged:  # fmt: skip
    """The requests of all warps, one warp after the other and in the order of the instructions.

    Arguments:
        place: int64 (requests,), the instruction of each among those of all warps. space, kind: uint8. wavefronts:
            int64. counts: int64, how many sectors each has. sectors: int64, of all requests.
        limits: int64 (warps + 1,), where the instructions of each warp begin.
    """
    if not _ARRANGE.ready(compiled_blocks(), _REQUEST * len(place)):
        return arranged_by_numpy(place, space, kind, wavefronts, counts, sectors, limits)
    count, warps = len(place), len(limits) - 1
    given = tuple(map(np.ascontiguousarray, (place, space, kind, wavefronts, counts, sectors)))
    scratch = np.zeros(int(limits[-1]), np.int32), np.empty(count, np.int64), np.empty(count, np.int64)
    made = (
        np.empty(count, np.int32), np.empty(count, np.uint8), np.empty(count, np.uint8), np.empty(count, np.int32),
        np.empty(count + warps, np.int64), np.empty(len(sectors), np.int64), *np.empty((2, warps + 1), np.int64),
    )  # fmt: skip
    _ARRANGE.call(*map(id, given), count, id(limits), warps, *map(id, (*scratch, *made)))
    return made


def arranged_by_numpy(
    place: np.ndarray, space: np.ndarray, kind: np.ndarray, wavefronts: np.ndarray, counts: np.ndarray,
    sectors: np.ndarray, limits: np.ndarray,
) -> Arranged:  # fmt: skip
    """As :func:`arranged`, by sorting."""
    warps, firsts = len(limits) - 1, np.cumsum(counts) - counts
    order = np.argsort(place, kind="stable")
    place, counts = place[order], counts[order]
    owner = np.searchsorted(limits, place, "right") - 1
    ends = np.cumsum(counts)
    gather = np.repeat(firsts[order] - (ends - counts), counts) + np.arange(len(sectors))
    begins = np.searchsorted(owner, np.arange(warps + 1))
    begins_at = np.concatenate(([0], ends))[begins]
    offsets = np.zeros(len(place) + warps, np.int64)
    offsets[np.arange(1, len(place) + 1) + owner] = ends - begins_at[owner]
    position, passes = (place - limits[owner]).astype(np.int32), wavefronts[order].astype(np.int32)
    return position, space[order], kind[order], passes, offsets, sectors[gather], begins, begins_at
