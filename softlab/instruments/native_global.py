"""Accesses to global memory with no race, as a compiled loop: what :mod:`.global_shadow` says in NumPy.

:func:`access` looks whether a lane's access clashes with an earlier one, and only then records all of them, bit for bit
as :class:`~softlab.instruments.global_shadow.GlobalShadow` does. It leaves all else to NumPy.
"""

from __future__ import annotations

from softlab.emulator.lanes import WARP
from softlab.emulator.machine.native_python import Int64s, out_of_line
from softlab.instruments.global_shadow import (
    FLAGS_OF_ATOMICS,
    IN_BLOCK,
    LANE_MASK,
    STRONG,
    TIME_SHIFT,
    VOLATILE,
    WIDTHS,
)
from softlab.instruments.known_nodes import time_of
from softlab.instruments.known_steps import is_whole_warp, last_read
from softlab.instruments.known_words import has_room
from softlab.instruments.node_layout import (
    ASKED_MINE,
    ASKED_OTHER,
    ASKED_TIME,
    COLUMNS,
    HAS_FAR,
    HAS_NODES,
    KNOWN,
    LANE_TELLS,
    LATEST_TOLD,
    PART_LANES,
    PART_NEAR,
    PART_NODE,
    PARTS,
    PER_BLOCK,
    THREADS,
    TOLD_AT,
    TOLD_UNTIL,
    WARP_HAS_READ,
    WARP_TELLS,
    WHOLE_TELLS,
)

#: What :func:`access` says: NumPy must look at it, or an order needs more room; else bits: lanes write one cell, and
#: another read is kept.
UNKNOWN, NO_ROOM, SHARED_CELLS, OTHER_READS = -1, -2, 1, 2
#: More cells than any array has.
FAR_END = 1 << 60


def tells(s: Int64s, time: int, other: int, until: int, reads: int) -> int:
    """Whether what a lane did at a time, or read, comes before what its warp has told somebody who knows it until.

    2 where that holds for all lanes of its warp.
    """
    warp = other // WARP
    told_until = s[s[WARP_TELLS] + warp]
    at = warp * LATEST_TOLD + (until & (LATEST_TOLD - 1))
    if s[s[TOLD_AT] + at] == until:
        told_until = s[s[TOLD_UNTIL] + at]
    if time < told_until:
        return 2
    if time < max(s[s[LANE_TELLS] + other], s[s[WHOLE_TELLS] + warp]):
        return 1
    return reads and time < s[s[WARP_HAS_READ] + warp]


def block_start(s: Int64s, before: int, mine: int) -> int:
    """The first lane of a lane's block, which mostly is that of the lane before. To divide takes long."""
    threads = s[THREADS]
    if mine >= before and mine < before + threads:
        return before
    return mine - mine % threads


def told_near(known: Int64s, s: Int64s, time: int, other: int, mine: int, reads: int, block: int) -> int:
    """As :func:`is_ordered`, of a lane of the own block; 2 where it holds for all lanes of the two warps."""
    warp, told = mine // WARP, 2
    at = warp * (s[THREADS] // WARP) + (other - block) // WARP
    if time >= known[at]:
        return 0
    if other // WARP != warp:
        told = tells(s, time, other, known[at], reads)
    if s[PARTS] and told != 0 and not s[s[PART_LANES] + warp] >> mine % WARP & 1:
        return time < s[s[PART_NEAR] + at]
    return told


def told_far(far: Int64s, s: Int64s, time: int, other: int, mine: int, reads: int) -> int:
    """The same of a lane of another block, or of an earlier batch."""
    warp, column, told = mine // WARP, s[COLUMNS], 1
    if other >= 0:
        column = other // s[THREADS] if s[PER_BLOCK] else other // WARP
    if not s[HAS_NODES]:
        until = far[warp * (s[COLUMNS] + 1) + column]
        return time < until and (other < 0 or tells(s, time, other, until, reads))
    until = time_of(s, s[s[KNOWN] + warp], column)
    if time >= until:
        return 0
    if other >= 0:
        told = tells(s, time, other, until, reads)
    if s[PARTS] and told != 0 and not s[s[PART_LANES] + warp] >> mine % WARP & 1:
        return time < time_of(s, s[s[PART_NODE] + warp], column)
    return told


@out_of_line
def told_of(
    known: Int64s, far: Int64s, s: Int64s, time: int, other: int, mine: int, reads: int, block: int
) -> int:  # fmt: skip
    """As :func:`is_ordered`; 2 where it holds for all lanes of the two warps, unless lanes of a warp part."""
    if other >= block and other < block + s[THREADS]:
        return told_near(known, s, time, other, mine, reads, block)
    if s[HAS_FAR]:
        return told_far(far, s, time, other, mine, reads)
    return 0


def is_ordered(
    known: Int64s, far: Int64s, s: Int64s, time: int, other: int, mine: int, reads: int, block: int
) -> int:  # fmt: skip
    """Whether a lane comes after what another one, or -1 for one of an earlier batch, did at a time.

    ``s``: the arena of an order, or only the head of one, of which ``far`` is a table with ``COLUMNS + 1`` columns.
    ``reads``: the other lane has read. ``block``: the first lane of the own block.
    """
    warp = mine // WARP
    if other >= 0 and s[ASKED_TIME] == time and s[ASKED_OTHER] == other // WARP and s[ASKED_MINE] == warp:
        return 1
    told = told_of(known, far, s, time, other, mine, reads, block)
    if told == 2 and not s[PARTS]:  # all lanes of the warp come after it, as long as the instruction lasts
        s[ASKED_TIME] = time
        s[ASKED_OTHER] = other // WARP
        s[ASKED_MINE] = warp
    return told != 0


def lacks_room(s: Int64s) -> int:
    """Whether an order of nodes has no more room."""
    return s[HAS_NODES] and not has_room(s)


def clashes(
    known: Int64s, far: Int64s, s: Int64s, begin: int, stamp: int, mine: int, flags: int, reads: int, block: int
) -> int:  # fmt: skip
    """Whether an earlier access of a cell, a read or a write, is of another thread, and nothing orders the two."""
    if stamp == 0:
        return 0
    here = stamp >= begin << TIME_SHIFT
    other = stamp & LANE_MASK
    if here and other == mine:
        return 0
    widths = (flags | stamp) & WIDTHS
    same_bytes = widths & widths - 1 == 0
    same_block = here and other >= block and other < block + s[THREADS]
    if flags & stamp & STRONG and same_bytes and (same_block or not (flags | stamp) & IN_BLOCK):
        return 0
    if not here:
        other = -1
    return not is_ordered(known, far, s, stamp >> TIME_SHIFT, other, mine, reads, block)


def unseen(
    known: Int64s, far: Int64s, s: Int64s, begin: int, stamp: int, mine: int, flags: int, address: int,
    block: int,
) -> int:  # fmt: skip
    """Whether a volatile store may meet an earlier one that its warp has not read: volatile makes neither atomic."""
    if not flags & stamp & VOLATILE or not clashes(known, far, s, begin, stamp, mine, 0, 0, block):
        return 0
    if not s[HAS_NODES]:
        return 1
    return last_read(s, address >> 2, mine // WARP) <= stamp >> TIME_SHIFT


def record_reads(
    read: Int64s, other_read: Int64s, known: Int64s, far: Int64s, s: Int64s, begin: int, cells: Int64s,
    stamps: Int64s, kept: Int64s, count: int,
) -> int:  # fmt: skip
    """Record reads. Of earlier ones that they do not follow one is kept, those of other blocks first."""
    answer, block, warp = 0, 0, -1
    for i in range(count):
        mine = stamps[i] & LANE_MASK
        block = block_start(s, block, mine)
        before = read[cells[i]]
        kept[i] = 0
        if mine // WARP != warp:  # what a warp asks for makes a row of its node once
            warp = mine // WARP
            if lacks_room(s):
                return NO_ROOM
        if clashes(known, far, s, begin, before, mine, 0, 0, block):
            other = other_read[cells[i]]
            lane = other & LANE_MASK
            if other < begin << TIME_SHIFT:
                lane = -1
            near = before >= begin << TIME_SHIFT and block_start(s, block, before & LANE_MASK) == block
            if not near or other == 0 or is_ordered(known, far, s, other >> TIME_SHIFT, lane, mine, 0, block):
                kept[i] = before
            answer = OTHER_READS
    for i in range(count):
        if kept[i]:
            other_read[cells[i]] = kept[i]
        read[cells[i]] = stamps[i]
    for i in range(count - 1, -1, -1):
        if read[cells[i]] != stamps[i]:
            other_read[cells[i]] = stamps[i]
            answer = OTHER_READS
    return answer


def record_writes(written: Int64s, cells: Int64s, stamps: Int64s, count: int) -> int:
    """Record writes."""
    for i in range(count):
        written[cells[i]] = stamps[i]
    for i in range(count):
        if written[cells[i]] != stamps[i]:
            return SHARED_CELLS
    return 0


def are_rows(lanes: Int64s, addresses: Int64s, count: int, step: int) -> int:
    """Whether lanes are whole warps, the addresses of each of which rise by a step. ``lanes`` rise."""
    i = 0
    while i < count:
        if not is_whole_warp(lanes, i, count, 1) or not is_run(addresses, i, count, step):
            return 0
        i += WARP
    return 1


def is_run(addresses: Int64s, start: int, count: int, step: int) -> int:
    """Whether as many addresses as a warp has lanes, from ``start`` on, rise by a step."""
    if start + WARP > count or addresses[start + WARP - 1] - addresses[start] != (WARP - 1) * step:
        return 0
    differs = 0
    for k in range(WARP):
        differs |= addresses[start + k] - addresses[start] - k * step
    return differs == 0


def fill_run(table: Int64s, first: int, lanes: Int64s, start: int, stamp: int) -> int:
    """Record accesses to cells in a row by lanes from ``start`` on."""
    for k in range(WARP):
        table[first + k] = stamp | lanes[start + k]
    return 0


def fill_row(table: Int64s, first: int, stamp: int) -> int:
    """The same by a whole warp; ``stamp``: that of its first lane."""
    for k in range(WARP):
        table[first + k] = stamp + k
    return 0


def record_apart(
    table: Int64s, lanes: Int64s, addresses: Int64s, count: int, width: int, origin: int, shift: int, stamp: int,
    in_rows: int,
) -> int:  # fmt: skip
    """Record accesses of lanes each of which has cells of its own. ``in_rows``: as :func:`are_rows` says."""
    i, step = 0, 1 << shift
    while i < count:
        first = (addresses[i] - origin) >> shift
        if in_rows:
            fill_row(table, first, stamp | lanes[i])
            i += WARP
        elif width == 1 and is_run(addresses, i, count, step):
            fill_run(table, first, lanes, i, stamp)
            i += WARP
        else:
            for cell in range(first, first + width):
                table[cell] = stamp | lanes[i]
            i += 1
    return 0


def is_own(stamp: int, own: int, mine: int) -> int:
    """Whether a cell's earlier access is the lane's, or there is none. ``own``: the first stamp of the batch."""
    return stamp == 0 or (stamp >= own and stamp & LANE_MASK == mine)


def kind_of(flags: int) -> int:
    """The flags of accesses that are no race with one of these flags; -1 where each lane is asked.

    They are strong ones of the whole GPU that have as many cells. A volatile store may not meet another one.
    """
    widths = flags & WIDTHS
    if not flags & STRONG or flags & IN_BLOCK or widths & widths - 1:
        return -1
    return flags & (FLAGS_OF_ATOMICS | VOLATILE)


def is_alike(stamp: int, kind: int) -> int:
    """Whether a stamp is of this kind of :func:`kind_of`."""
    return kind >= 0 and not kind & stamp & VOLATILE and (stamp ^ kind) & FLAGS_OF_ATOMICS == 0


@out_of_line
def is_free_run(table: Int64s, first: int, mine: int, own: int, kind: int) -> int:
    """Whether each of a warp's cells in a row has an access of its lane, or of a kind, or none. ``mine``: lane 0."""
    found, volatile = 0, kind & VOLATILE if kind >= 0 else 0
    for k in range(WARP):
        stamp = table[first + k]
        other = (stamp < own) | (stamp & LANE_MASK != mine + k)
        unlike = (stamp & volatile != 0) | ((stamp ^ kind) & FLAGS_OF_ATOMICS != 0) | (kind < 0)
        found |= (stamp != 0) & other & unlike
    return found == 0


def is_free(stamp: int, own: int, mine: int, kind: int) -> int:
    """The same of one cell."""
    return is_own(stamp, own, mine) or is_alike(stamp, kind)


@out_of_line
def is_ordered_run(
    table: Int64s, first: int, mine: int, own: int, known: Int64s, far: Int64s, s: Int64s, reads: int
) -> int:
    """Whether a warp comes after what another warp did to all of its cells in a row, lane by lane, at one time."""
    stamp = table[first]
    other, differs = stamp & LANE_MASK, 0
    if stamp < own or other % WARP or s[PARTS] or lacks_room(s):
        return 0
    for k in range(WARP):
        differs |= table[first + k] - stamp - k
    if differs:
        return 0
    return told_of(known, far, s, stamp >> TIME_SHIFT, other, mine, reads, mine - mine % s[THREADS]) == 2


def is_quiet_warp(
    written: Int64s, read: Int64s, other_read: Int64s, first: int, mine: int, own: int, flags: int, store: int,
    has_read: int, known: Int64s, far: Int64s, s: Int64s, known_reads: Int64s, far_reads: Int64s,
    s_reads: Int64s,
) -> int:  # fmt: skip
    """Whether nothing is to be asked of a warp's cells in a row, or it comes after all that was done to them."""
    kind = kind_of(flags)
    if not is_free_run(written, first, mine, own, kind) and not is_ordered_run(
        written, first, mine, own, known, far, s, 0
    ):  # fmt: skip
        return 0
    if not has_read:
        return 1
    if not store:
        return is_free_run(read, first, mine, own, -1) or is_ordered_run(
            read, first, mine, own, known, far, s, 0
        )  # fmt: skip
    if not is_free_run(other_read, first, mine, own, kind):
        return 0
    return is_free_run(read, first, mine, own, kind) or is_ordered_run(
        read, first, mine, own, known_reads, far_reads, s_reads, 1
    )  # fmt: skip


def are_free(
    written: Int64s, read: Int64s, other_read: Int64s, known: Int64s, far: Int64s, s: Int64s, known_reads: Int64s,
    far_reads: Int64s, s_reads: Int64s, lanes: Int64s, addresses: Int64s, count: int, width: int, origin: int,
    shift: int, own: int, flags: int, store: int, has_read: int, in_rows: int,
) -> int:  # fmt: skip
    """Whether no lane's cells are to be looked at one by one: each has its own.

    Their earlier accesses are its own or no race, or whole warps come after what whole warps did. Cells rise from lane
    to lane. Once they may begin anew, below those of the first lane. ``in_rows``: as :func:`are_rows` says.
    """
    last, end, i, kind, step = -1, FAR_END, 0, kind_of(flags), 1 << shift
    kind_of_reads = kind if store else -1
    while i < count:
        mine = lanes[i]
        first = (addresses[i] - origin) >> shift
        if first <= last:
            if end != FAR_END:
                return 0
            end = (addresses[0] - origin) >> shift
        is_whole = is_whole_warp(lanes, i, count, 1) and (in_rows or (width == 1 and is_run(addresses, i, count, step)))
        last = first + (WARP if is_whole else width) - 1
        if last >= end:
            return 0
        if is_whole:
            if not is_quiet_warp(
                written, read, other_read, first, mine, own, flags, store, has_read, known, far, s, known_reads,
                far_reads, s_reads,
            ):  # fmt: skip
                return 0
            i += WARP
            continue
        for cell in range(first, first + width):
            if not is_free(written[cell], own, mine, kind):
                return 0
            if has_read and not is_free(read[cell], own, mine, kind_of_reads):
                return 0
            if has_read and store and not is_free(other_read[cell], own, mine, kind):
                return 0
        i += 1
    return 1


def meets_other(
    read: Int64s, other_read: Int64s, known: Int64s, far: Int64s, s: Int64s, begin: int, mine: int, flags: int,
    cell: int, block: int,
) -> int:  # fmt: skip
    """Whether a store clashes with one of the reads of a cell."""
    for before in range(2):
        stamp = read[cell] if before == 0 else other_read[cell]
        if clashes(known, far, s, begin, stamp, mine, flags, 1, block):
            return 1
    return 0


def look(
    written: Int64s, read: Int64s, other_read: Int64s, known: Int64s, far: Int64s, s: Int64s, known_reads: Int64s,
    far_reads: Int64s, s_reads: Int64s, begin: int, cells: Int64s, stamps: Int64s, lanes: Int64s, addresses: Int64s,
    count: int, width: int, origin: int, shift: int, stamp: int, asks_reads: int,
) -> int:  # fmt: skip
    """Whether no lane clashes with an earlier access: 0, or what :func:`access` says. Fills in cells and stamps.

    ``stamp``: that of lane 0. ``asks_reads``: it is a store, and some cells have been read.
    """
    block, warp, own, flags = 0, -1, begin << TIME_SHIFT, stamp & (1 << TIME_SHIFT) - 1
    for i in range(count):
        mine = lanes[i]
        block = block_start(s, block, mine)
        if mine // WARP != warp:  # what a warp asks for makes a row of its node once
            warp = mine // WARP
            if lacks_room(s) or lacks_room(s_reads):
                return NO_ROOM
        first = (addresses[i] - origin) >> shift
        for cell in range(first, first + width):
            before = written[cell]
            cells[i * width + cell - first] = cell
            stamps[i * width + cell - first] = stamp | mine
            if not is_own(before, own, mine):
                if clashes(known, far, s, begin, before, mine, flags, 0, block):
                    return UNKNOWN
                if unseen(known, far, s, begin, before, mine, flags, addresses[i], block):
                    return UNKNOWN
            if asks_reads and meets_other(
                read, other_read, known_reads, far_reads, s_reads, begin, mine, flags, cell, block
            ):  # fmt: skip
                return UNKNOWN
    return 0


def access(
    written: Int64s, read: Int64s, other_read: Int64s, known: Int64s, far: Int64s, s: Int64s, known_reads: Int64s,
    far_reads: Int64s, s_reads: Int64s, begin: int, cells: Int64s, stamps: Int64s, kept: Int64s, lanes: Int64s,
    addresses: Int64s, count: int, width: int, origin: int, shift: int, flags: int, now: int, store: int, has_read: int,
    in_rows: int,
) -> int:  # fmt: skip
    """One instruction of ``count`` lanes, ``width`` cells of ``1 << shift`` bytes each from ``origin`` on.

    ``lanes`` rise.
    ``known``, ``far`` and ``s`` are of the order of all accesses, as :func:`is_ordered` has them; ``known_reads`` and
    the next two are of that of reads with later writes. ``cells``, ``stamps`` and ``kept`` have room for
    ``count * width`` items. ``has_read``: whether any cell has been read. ``in_rows``: as :func:`are_rows` says.
    """
    own, stamp = begin << TIME_SHIFT, now << TIME_SHIFT | flags
    if are_free(
        written, read, other_read, known, far, s, known_reads, far_reads, s_reads, lanes, addresses, count, width,
        origin, shift, own, flags, store, has_read, in_rows,
    ):  # fmt: skip
        if store:
            return record_apart(written, lanes, addresses, count, width, origin, shift, stamp, in_rows)
        return record_apart(read, lanes, addresses, count, width, origin, shift, stamp, in_rows)
    s[ASKED_TIME] = -1
    s_reads[ASKED_TIME] = -1
    found = look(
        written, read, other_read, known, far, s, known_reads, far_reads, s_reads, begin, cells, stamps, lanes,
        addresses, count, width, origin, shift, stamp, has_read and store,
    )  # fmt: skip
    if found != 0:
        return found
    if not store:
        return record_reads(read, other_read, known, far, s, begin, cells, stamps, kept, count * width)
    return record_writes(written, cells, stamps, count * width)
