"""What the warps executed, one warp after the other, of the runs that several of them executed together."""

from __future__ import annotations

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import CompiledFunction, Int32s, Int64s, UInt32s

#: What NumPy takes for an entry and for an instruction, in units of 100 microseconds.
_ENTRY, _INSTRUCTION = 0.001, 0.0002


def place(
    warp: Int64s, mask: UInt32s, start: Int64s, length: Int64s, entries: int,
    ends: Int64s, begins: Int64s, instruction: Int32s, active: UInt32s,
) -> int:  # fmt: skip
    """Put the instructions of each entry behind those of its warp, which end at ``ends`` until now."""
    for entry in range(entries):
        at, first, count = ends[warp[entry]], start[entry], length[entry]
        begins[entry] = at
        for k in range(count):
            instruction[at + k] = first + k
            active[at + k] = mask[entry]
        ends[warp[entry]] = at + count
    return 0


_PLACE = CompiledFunction(place)


def lay_out(
    warp: np.ndarray, mask: np.ndarray, start: np.ndarray, length: np.ndarray, limits: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The instructions of all warps, int32, the lanes that execute them, uint32, and where each entry begins, int64.

    Arguments:
        warp, start, length: int64 (entries,), the warp of a run, its first instruction, and how many there are.
        mask: uint32 (entries,), its lanes. limits: int64 (warps + 1,), where the instructions of each warp begin.
    """
    total = int(limits[-1])
    if not _PLACE.ready(compiled_blocks(), _ENTRY * len(warp) + _INSTRUCTION * total):
        return by_numpy(warp, mask, start, length, total)
    begins, ends = np.empty(len(warp), np.int64), limits.copy()
    instruction, active = np.empty(total, np.int32), np.empty(total, np.uint32)
    given = tuple(map(np.ascontiguousarray, (warp, mask, start, length)))
    _PLACE.call(*map(id, given), len(warp), id(ends), id(begins), id(instruction), id(active))
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
