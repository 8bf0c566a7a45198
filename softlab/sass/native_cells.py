"""The cells of shared and local memory that the lanes of an access touch, found in one compiled loop.

NumPy takes some twenty calls for that (:mod:`.access`). It does so where the loop is not compiled, and where a lane is
outside of the memory or misaligned: the loop leaves it to say what is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import Bytes, CompiledFunction, Int64s
from softlab.sass.lanes import Lanes, Value
from softlab.sass.native_loops import LOCAL_OFFSET, SHARED_OFFSET

if TYPE_CHECKING:
    from softlab.sass.memory import BlockMemory

OUTSIDE = -1
#: What NumPy takes for an access and for a warp of it, in units of 100 microseconds.
_ACCESS, _WARP = 0.25, 0.001
_LANES = 32


def every(flags: Bytes, count: int) -> int:
    """Whether all flags are set."""
    found = 1
    for k in range(count):
        found &= flags[k]
    return found


def find_all(
    base: Int64s, by_warp: int, by_lane: int, rows: Int64s, warps: int, local: int,
    offset: int, row_bytes: int, limit: int, shift: int, logged: Int64s, index: Int64s,
) -> int:  # fmt: skip
    """As :func:`find` where all lanes are active: no lane's place depends on another one's, so that LLVM makes vector
    instructions.

    Arguments:
        by_warp, by_lane: items of ``base`` from one warp or lane to the next.
    """
    wrong, aligned, bits = 0, (1 << shift) - 1, LOCAL_OFFSET if local else SHARED_OFFSET
    for warp in range(warps):
        first, row, same = warp * by_warp, rows[warp] * row_bytes, _LANES * warp
        for lane in range(_LANES):
            address = base[first + lane if by_lane else first] + offset & bits
            logged[same + lane] = (address >> 2 << 7) + (address & 3) + 4 * lane if local else address
            index[same + lane] = row + lane * local * row_bytes + address >> shift
            wrong |= (address > limit) | address & aligned
    return OUTSIDE if wrong else _LANES * warps


def find(
    base: Int64s, steps: int, member: Bytes, active: Bytes, rows: Int64s, warps: int, local: int,
    offset: int, row_bytes: int, limit: int, shift: int, logged: Int64s, index: Int64s,
) -> int:  # fmt: skip
    """Write the place of each lane's address for the log, and the active lanes' cells; how many these are, or OUTSIDE.

    Arguments:
        base: the register of the lanes; ``steps`` says how it lies: bit 0 if lanes have their own, bit 1 if warps have,
            4 if the lanes of ``member`` have one each.
        active: the lanes that execute the access. rows: of each warp the row of the memory, which has ``row_bytes``
            bytes; of local memory (``local``) that of its first lane. limit: the highest offset. shift: cells have
            ``1 << shift`` bytes.
    """
    count, at, aligned = 0, 0, (1 << shift) - 1
    by_lane, by_warp = steps & 1, 0
    if steps & 2:
        by_warp = _LANES if by_lane else 1
    if steps != 4 and every(active, _LANES * warps):
        return find_all(base, by_warp, by_lane, rows, warps, local, offset, row_bytes, limit, shift, logged, index)
    for warp in range(warps):
        for lane in range(_LANES):
            k = _LANES * warp + lane
            place = warp * by_warp + lane * by_lane
            if steps == 4:
                place = at
                at += member[k]
            if steps != 4 or member[k]:
                address = base[place] + offset & (LOCAL_OFFSET if local else SHARED_OFFSET)
                logged[k] = (address >> 2 << 7) + (address & 3) + 4 * lane if local else address
                if active[k]:
                    if address > limit or address & aligned:
                        return OUTSIDE
                    index[count] = (rows[warp] + lane * local) * row_bytes + address >> shift
                    count += 1
    return count


_FIND = CompiledFunction(find)


def cells(
    now: Lanes, value: Value, active: np.ndarray, rows: np.ndarray, memory: BlockMemory,
    offset: int, width: int, *, local: bool,
) -> tuple[np.ndarray, np.ndarray] | None:  # fmt: skip
    """(places of the addresses for the log (k, 32), cells of the active lanes), int64; None where NumPy has to look.

    Arguments:
        now: the executing lanes. value: their register, uint64. active: (k, 32) bool. rows: int64 (k,), as for
            :func:`find`.
    """
    if not _FIND.ready(compiled_blocks(), _ACCESS + _WARP * now.count):
        return None
    base = np.ascontiguousarray(value).view(np.int64)
    steps = 0
    if base.size > 1:
        steps = 4 if not now.dense else (base.shape[1] > 1) | (base.shape[0] > 1) << 1
    logged, index = np.zeros((now.count, _LANES), np.int64), np.empty(now.count * _LANES, np.int64)
    member, lanes = np.ascontiguousarray(now.active), np.ascontiguousarray(active)
    given = tuple(map(id, (base, member, lanes, rows, logged, index)))
    count = _FIND.call(
        given[0], steps, *given[1:4], now.count, int(local), offset, memory.nbytes, memory.limit - width,
        width.bit_length() - 1, *given[4:],
    )  # fmt: skip
    return None if count == OUTSIDE else (logged, index[:count])
