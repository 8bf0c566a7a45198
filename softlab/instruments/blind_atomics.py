"""Atomics of several blocks on one word, of which nobody looks at the old value: counts and sums in global memory.

Of the writes of a word the search for races keeps the last one (:mod:`softlab.instruments.global_shadow`). That may be
one of the block that reads a sum by a plain load, while other blocks have yet to add. So of such atomics one of another
block is kept, too, until a thread stores to the word, or looks at it by a strong access: who sees the value may know
from it that all others are done.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from softlab.emulator.lanes import WARP
from softlab.emulator.machine.definedness import reads_and_writes
from softlab.emulator.machine.native_python import Int64s
from softlab.emulator.ptx.linker import Image
from softlab.instruments.arenas import ARENAS
from softlab.instruments.global_shadow import LANE_MASK, TIME_SHIFT, Clash, GlobalShadow, Ordered, Stamps, lane_of
from softlab.instruments.known_steps import is_whole_warp
from softlab.instruments.native_global import fill_row, is_run


def blind_atomics(image: Image) -> frozenset[int]:
    """The indices of the atomics whose old value no instruction uses."""
    used = Counter(name for instruction in image.instructions for name in reads_and_writes(instruction)[0])
    return frozenset(
        index
        for index, instruction in enumerate(image.instructions)
        if instruction.opcode in ("atom", "red") and not any(used[name] for name in reads_and_writes(instruction)[1])
    )


def is_of_block(last: Int64s, first: int, own: int, block: int, threads: int) -> int:
    """Whether cells in a row, as many as a warp has lanes, have only atomics of this batch's ``block``, or none.

    ``own``: the first stamp of the batch; ``block``: its first lane.
    """
    others = 0
    for k in range(WARP):
        stamp = last[first + k]
        lane = stamp & LANE_MASK
        others |= (stamp != 0) & ((stamp < own) | (lane < block) | (lane >= block + threads))
    return others == 0


def record(
    last: Int64s, other: Int64s, addresses: Int64s, lanes: Int64s, count: int, width: int, origin: int, shift: int,
    stamp: int, begin: int, threads: int, in_rows: int,
) -> int:  # fmt: skip
    """Record the atomics of one instruction, as a loop: what :meth:`BlindAtomics.record` does in NumPy.

    ``count`` lanes have ``width`` cells of ``1 << shift`` bytes each, from ``origin`` on. ``stamp``: that of lane 0.
    ``in_rows``: as :func:`~softlab.instruments.native_global.are_rows` says.
    """
    block, i, own = 0, 0, begin << TIME_SHIFT
    while i < count:
        mine = lanes[i]
        first = (addresses[i] - origin) >> shift
        if mine < block or mine >= block + threads:
            block = mine - mine % threads
        is_row = is_whole_warp(lanes, i, count, 1) and (
            in_rows or (width == 1 and is_run(addresses, i, count, 1 << shift))
        )
        if is_row and is_of_block(last, first, own, block, threads):
            fill_row(last, first, stamp | mine)
            i += WARP
            continue
        for cell in range(first, first + width):
            before = last[cell]
            lane = before & LANE_MASK
            if before and (before < own or lane < block or lane >= block + threads):
                other[cell] = before
            last[cell] = stamp | mine
        i += 1
    return 1


class BlindAtomics:
    """The blind atomics on one array, of ``cells`` cells, in blocks of ``threads`` threads."""

    def __init__(self, cells: int, threads: int) -> None:
        self._last = ARENAS.zeros(cells)
        #: Of each cell one of another block than the last.
        self._other = GlobalShadow(cells, threads)
        self._threads = threads

    def places(self) -> tuple[int, int]:
        """Of the tables in which :func:`record` records."""
        self._other.has[0] = True
        return self._last.ctypes.data, self._other.written.ctypes.data

    def release(self) -> None:
        """Nobody asks any more: leave the tables to others."""
        ARENAS.give_zeros(self._last)
        self._last = np.zeros(0, np.int64)
        self._other.release()

    def record(self, access: Stamps, batch: int) -> None:
        """Record the atomics of one instruction. ``batch``: the time when the batch began."""
        before = self._last[access.cell]
        self._last[access.cell] = access.stamp
        block = lane_of(self._last[access.cell]) // self._threads
        for stamp in (before, access.stamp):
            other = (stamp < batch << TIME_SHIFT) | (lane_of(stamp) // self._threads != block)
            kept = access.where(other & (stamp != 0))
            kept.stamp = stamp[other & (stamp != 0)]
            self._other.write(kept)

    def forget(self, cell: np.ndarray) -> None:
        """The cells are stored to, or looked at by a strong access."""
        self._last[cell] = 0
        self._other.written[cell] = 0

    def clashing(self, access: Stamps, batch: int, ordered: Ordered) -> Clash:
        """Atomics of other blocks with nothing that orders them and a plain access."""
        return self._other.clashing_writes(access, batch, ordered)
