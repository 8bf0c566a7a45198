"""Cluster or ring: which takes less time for rows that either may hold, and in how many threads.

The blocks of a cluster ask for a row, wait, compute and write. Other clusters on the same SMs work meanwhile. So all
rows take what memory takes for them, and what they wait for one another:

    time = sqrt(memory^2 + (rows / clusters at once * row)^2) + start

where a row of a cluster takes ``ROW_MICROSECONDS`` by itself. The time of a ring is that of its steps
(:mod:`softlab.plans.fast_ring`). The plan finds a cluster or a ring first, by bytes in flight and by the length of a
row. Here it takes another where that saves enough time by these predictions.

Only clusters of sixteen blocks are looked at, and for forward rows of 16 bits those of eight small blocks: others were
no faster. How many an SM holds follows from the registers that the compiler takes for such clusters, which are more
than for single blocks. With fewer registers per thread an SM may hold one more block. Then the plan gives the number of
blocks (:data:`RESIDENT`), and the compiler takes only the registers that fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from softlab.hardware import occupancies
from softlab.plans.fast_cuts import clusters_of, most_blocks
from softlab.plans.fast_limits import Cut
from softlab.plans.fast_ring import (
    COPY_SHARE,
    STEP_GAIN,
    RingShape,
    best_of_steps,
    memory_is_fast,
    memory_microseconds,
    registers_given,
    stepped,
    stepped_microseconds,
    steps_are_known,
)
from softlab.plans.fast_rows import INVARIANT, Row, is_wide
from softlab.plans.planner import PlanRequest

#: The blocks of the clusters that are looked at. In clusters of ``FEWER_BLOCKS`` those of these threads, with at most
#: this many packs per thread.
BLOCKS, FEWER_BLOCKS, THREADS_OF_FEWER, PACKS_OF_FEWER = 16, 8, 128, 12
#: Inputs -> the part of its bandwidth that memory gives clusters that need not wait (H200, 2026-11-30, 767 launches of
#: 180 lengths from 2^15 columns on; kernels/FAST.md, as for all constants here).
MEMORY_SHARE = {1: 0.943, 2: 0.93}
#: Inputs -> microseconds of a row in a cluster, and what each pack of a thread adds.
ROW_MICROSECONDS, PACK_MICROSECONDS = {1: 2.0, 2: 0.5}, {1: 0.04, 2: 0.0}
#: Inputs -> what each ``THREADS`` of a block add: the more warps share a row, the longer its exchange takes.
THREADS, THREADS_MICROSECONDS = 256, {1: 0.4, 2: 0.1}
#: What a row takes longer in ``FEWER_BLOCKS``.
FEWER_BLOCKS_MICROSECONDS = 0.4
#: Inputs -> the part of a block on each SM that is not in flight, as clusters compute and write in turn.
IDLE_CLUSTERS = {1: 0.2, 2: 1.1}
#: What a launch takes beside its rows, with clusters and with a ring.
CLUSTER_START, RING_START = 5.0, 9.0
#: Of fewer rows the start and the end of a launch decide, which these times do not know. An H200 has 7 clusters of 16.
FEWEST_ROWS = 7 * 20
#: Registers of a thread, from the first number of packs on: (bytes of an element, inputs, unaligned, threads of a
#: block) -> first packs, registers. The least of all types and operators, of NVRTC 12.9 and 13.0 for sm_90. Longer rows
#: are not looked at: an SM holds one such cluster, or the compiler spills.
REGISTERS = {
    (2, 1, False, 128): (6, (40, 48, 48, 56, 64, 64, 72, 72, 80, 96, 96, 96)),
    (2, 1, True, 128): (6, (56, 56, 56, 64, 64, 72, 72, 80, 80, 96, 96)),
    (2, 1, False, 256): (4, (32, 40, 40, 48, 64, 64, 64, 80, 80, 80)),
    (2, 1, True, 256): (4, (40, 48, 48, 64, 64, 64, 80, 80, 80, 80, 104)),
    (2, 1, False, 512): (3, (40, 40, 64, 64, 64, 64)),
    (2, 1, True, 512): (3, (40, 56, 64, 64, 64, 64)),
    (4, 1, False, 128): (8, (48, 56, 64, 72, 72, 80, 88, 96)),
    (4, 1, True, 128): (8, (56, 56, 64, 72, 72, 80, 80, 96)),
    (4, 1, False, 256): (8, (56, 64, 64, 72, 72, 80, 80)),
    (4, 1, True, 256): (8, (64, 64, 64, 72, 80, 80, 88)),
    (4, 1, False, 512): (4, (40, 56, 64, 56, 64, 64)),
    (4, 1, True, 512): (4, (56, 56, 64, 64, 64, 72)),
    (2, 2, False, 128): (13, (128, 168, 160, 160)),
    (2, 2, True, 128): (13, (128, 144, 152, 168)),
    (2, 2, False, 256): (4, (48, 56, 64, 72, 80)),
    (2, 2, True, 256): (4, (48, 64, 72, 80, 80)),
    (2, 2, False, 512): (2, (32, 40, 56, 64, 64, 72)),
    (2, 2, True, 512): (2, (32, 40, 56, 64, 72, 80)),
    (4, 2, False, 128): (13, (128, 144, 144, 152)),
    (4, 2, True, 128): (13, (136, 144, 160, 168)),
    (4, 2, False, 256): (4, (48, 56, 64, 80, 80)),
    (4, 2, True, 256): (4, (48, 64, 72, 80, 88)),
    (4, 2, False, 512): (4, (56, 64, 64, 80, 88)),
    (4, 2, True, 512): (4, (56, 64, 64, 80, 88)),
    (8, 2, False, 128): (9, (104, 112, 128, 136, 144, 160, 168)),
    (8, 2, True, 128): (9, (112, 120, 128, 144, 152, 168)),
    (8, 2, False, 256): (4, (48, 64, 72, 80)),
    (8, 2, True, 256): (4, (64, 64, 80, 96)),
    (8, 2, False, 512): (3, (48, 64, 64)),
    (8, 2, True, 512): (3, (56, 64, 64)),
}
#: Where one type and operator take more, and an SM so holds fewer blocks: (type, operator, unaligned, threads, packs)
#: -> registers.
MORE_REGISTERS = {
    ("float16", "softmax", False, 128, 8): 56,
    ("bfloat16", "softmax", False, 128, 8): 64,
    ("float16", "softmax", True, 128, 14): 96,
    ("float16", "log_softmax", True, 128, 14): 96,
    ("bfloat16", "log_softmax", False, 256, 5): 48,
    ("float16", "softmax", False, 256, 6): 48,
    ("bfloat16", "softmax", False, 256, 6): 48,
    ("bfloat16", "softmax", False, 256, 7): 64,
    ("bfloat16", "log_softmax", False, 256, 7): 64,
    ("bfloat16", "log_softmax", True, 256, 4): 48,
    ("bfloat16", "softmax", False, 512, 7): 72,
    ("bfloat16", "log_softmax", False, 512, 7): 72,
    ("bfloat16", "softmax", False, 512, 8): 104,
    ("float32", "softmax", False, 256, 14): 88,
    ("float32", "softmax", True, 256, 10): 72,
    ("float16", "softmax_backward", False, 256, 6): 72,
    ("float16", "softmax_backward", False, 512, 6): 72,
    ("float32", "log_softmax_backward", True, 512, 6): 72,
}
#: The number of blocks whose registers fit an SM: (bytes of an element, inputs, unaligned, threads of a block) -> packs
#: of each input -> blocks. These clusters were faster than with the compiler's own choice (H200, 2026-11-29 and
#: 2026-11-30), and spill at most 32 bytes per thread. Of the present kernels some fit without it, and are as fast.
RESIDENT = {
    (2, 1, False, 128): {18: 5, 19: 5, **dict.fromkeys(range(20, 25), 4)},
    (2, 1, True, 128): {17: 5, 18: 5, 19: 5, **dict.fromkeys(range(20, 25), 4)},
    (2, 1, False, 256): {9: 4, 10: 4, 11: 3, 12: 3, 13: 3, 14: 3},
    (2, 1, True, 256): {10: 4, 13: 3, 14: 3},
    (4, 1, False, 128): {**dict.fromkeys(range(16, 20), 5), **dict.fromkeys(range(20, 25), 4)},
    (4, 1, True, 128): {**dict.fromkeys(range(16, 20), 5), **dict.fromkeys(range(20, 25), 4)},
    (4, 1, False, 256): {14: 3},
    (4, 1, True, 256): {10: 4, 13: 3, 14: 3},
    (2, 2, False, 128): {17: 3, 18: 3, 19: 3},
    (2, 2, True, 128): {17: 3, 18: 3, 19: 3},
    (2, 2, False, 256): dict.fromkeys(range(9, 15), 2),
    (2, 2, True, 256): {8: 3, **dict.fromkeys(range(9, 15), 2)},
    (2, 2, False, 512): {5: 2, 6: 2},
    (2, 2, True, 512): {6: 2},
    (4, 2, False, 128): {17: 3, 18: 3, 19: 3},
    (4, 2, True, 128): {17: 3, 18: 3, 19: 3},
    (4, 2, False, 256): dict.fromkeys(range(9, 15), 2),
    (4, 2, True, 256): {8: 3, **dict.fromkeys(range(9, 15), 2)},
    (4, 2, True, 512): {6: 2},
    (8, 2, False, 128): {16: 3},
    (8, 2, True, 128): {15: 3},
    (8, 2, False, 256): dict.fromkeys(range(8, 14), 2),
    (8, 2, True, 256): dict.fromkeys(range(8, 14), 2),
    (8, 2, False, 512): {6: 2},
}
#: What would spill more, and where the ring is as fast, as logarithms need no exponentials in its results: (type,
#: operator, threads, packs).
NOT_RESIDENT = {
    *((half, "log_softmax", 256, packs) for half in ("float16", "bfloat16") for packs in (13, 14)),
    ("float64", "log_softmax_backward", 256, 13),
}
#: Clusters that are not looked at: of two blocks that an SM holds, those of 512 threads are faster by 1 to 6 % here.
SLOWER = {(half, "softmax_backward", 256, packs) for half in ("float16", "bfloat16") for packs in (8, 9, 10)}


def quickest(request: PlanRequest, row: Row, found: Cut | RingShape) -> Cut | RingShape:
    """What takes the least time, or what was found where that saves too little.

    Of a cluster whose registers are not known no time is known: it gives way to any other. Gradients of rows for which
    no ring is looked at keep it: they also lie in clusters of fewer blocks, which were not measured.
    """
    if isinstance(found, RingShape):
        found = stepped(request, row, found)
        if found.kept or found.again:
            return found
    if request.policy == INVARIANT or not is_wide(request, row) or most_blocks(request.device) < BLOCKS:
        return found
    if not memory_is_fast(request, row) or request.rows < FEWEST_ROWS:
        return found
    if not steps_are_known(request, row) and row.inputs == 2 and _is_unknown(request, row, found):
        return found
    if isinstance(found, Cut) and found.cluster == BLOCKS:
        found = _smallest_blocks(request, row, _cut(request, row, BLOCKS, found.block_size) or found)
    others: list[Cut | RingShape] = [*_cuts(request, row)]
    if isinstance(found, Cut) and steps_are_known(request, row) and (ring := best_of_steps(request, row)):
        others.append(ring)
    best = min(others, key=lambda other: microseconds(request, row, other), default=found)
    saves = microseconds(request, row, best) < (1 - STEP_GAIN) * microseconds(request, row, found)
    return best if saves else found


def _is_unknown(request: PlanRequest, row: Row, shape: Cut | RingShape) -> bool:
    """Whether it is a cluster whose registers are not known."""
    return isinstance(shape, Cut) and _registers(request, row, shape) is None


def _smallest_blocks(request: PlanRequest, row: Row, found: Cut) -> Cut:
    """Of the clusters that take about as long as the one that was found, that of the smallest blocks.

    Its blocks wait for fewer warps, of which one also has a head or a tail.
    """
    most = (1 + STEP_GAIN) * microseconds(request, row, found)
    level = (cut for cut in _cuts(request, row) if microseconds(request, row, cut) <= most)
    return min((found, *level), key=lambda cut: cut.block_size)


def microseconds(request: PlanRequest, row: Row, shape: Cut | RingShape) -> float:
    """The time of all rows; infinite for clusters whose registers are not known."""
    if isinstance(shape, RingShape):
        return stepped_microseconds(request, row, shape) + RING_START
    registers = _registers(request, row, shape)
    if registers is None:
        return math.inf
    device, inputs = request.device, row.inputs
    held = shape.resident or occupancies.occupancy(device, threads=shape.block_size, registers=registers).blocks_per_sm
    if held <= IDLE_CLUSTERS[inputs]:
        return math.inf
    at_once = clusters_of(device, shape.cluster) * (held - IDLE_CLUSTERS[inputs])
    of_row = ROW_MICROSECONDS[inputs] + PACK_MICROSECONDS[inputs] * shape.taken(row.packs)
    of_row += THREADS_MICROSECONDS[inputs] * shape.block_size / THREADS
    of_row += FEWER_BLOCKS_MICROSECONDS if shape.cluster == FEWER_BLOCKS else 0
    memory = memory_microseconds(request, row, request.rows * row.packs) * COPY_SHARE / MEMORY_SHARE[inputs]
    return math.hypot(memory, request.rows / at_once * of_row) + CLUSTER_START


def _cuts(request: PlanRequest, row: Row) -> Iterator[Cut]:
    """The clusters that hold the row and whose registers are known, by the compiler's choice or by the plan's."""
    kind = request.element.itemsize, row.inputs, row.unaligned
    for *known, block_size in REGISTERS:
        fewer = block_size == THREADS_OF_FEWER and kind[:2] == (2, 1)
        for blocks in (BLOCKS, FEWER_BLOCKS) if fewer else (BLOCKS,):
            cut = _cut(request, row, blocks, block_size) if (*known,) == kind else None
            if cut and (blocks == BLOCKS or cut.taken(row.packs) <= PACKS_OF_FEWER):
                yield cut


def _cut(request: PlanRequest, row: Row, blocks: int, block_size: int) -> Cut | None:
    """The cluster of these blocks that holds the row, bounded or not; None where its registers are not known."""
    kind = request.element.itemsize, row.inputs, row.unaligned, block_size
    first, registers = REGISTERS.get(kind, (0, ()))
    resident = RESIDENT.get(kind, {})
    cut = Cut(blocks, block_size, max(first + len(registers) - 1, *resident, 0))
    packs = cut.taken(row.packs)
    of_operator = request.element.name, request.operator.name, block_size, packs
    if of_operator in SLOWER:
        return None
    if packs in resident and of_operator not in NOT_RESIDENT:
        return replace(cut, resident=resident[packs])
    return cut if _registers(request, row, cut) is not None else None


def _registers(request: PlanRequest, row: Row, cut: Cut) -> int | None:
    """Registers of a thread, at most; None where they are not known."""
    packs = cut.taken(row.packs)
    if cut.resident:
        return registers_given(request.device, cut.resident * cut.block_size)
    if cut.cluster < FEWER_BLOCKS:
        return None
    kind = request.element.itemsize, row.inputs, row.unaligned, cut.block_size
    first, registers = REGISTERS.get(kind, (0, ()))
    known = registers[packs - first] if first <= packs < first + len(registers) else None
    return MORE_REGISTERS.get((request.element.name, request.operator.name, *kind[2:], packs), known)
