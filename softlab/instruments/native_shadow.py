"""Accesses to shared memory with no fault, as compiled loops: what :mod:`.shadow` and :mod:`.hazards` say in NumPy.

:func:`access` looks whether each lane may access its words, and only then records the access, bit for bit as
:class:`~softlab.instruments.shadow.Shadow` does. It leaves all else to NumPy: faults, values that are the same anyway,
named barriers, groups of lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from softlab.emulator.lanes import WARP, Box, Lanes, Value
from softlab.emulator.machine.native_python import Bytes, CompiledFunction, Int16s, Int64s
from softlab.instruments.mbarrier_words import MbarrierWords
from softlab.instruments.remote_accesses import SOURCE_BITS
from softlab.instruments.shadow import (
    ATOMIC,
    CODE_BITS,
    CODE_MASK,
    LANE_MASK,
    MANY_LANES,
    MANY_WARPS,
    WHO_MASK,
    Shadow,
)
from softlab.instruments.shadow_patterns import AccessPattern

#: What an access does: bits of ``kind``.
READS, STORES, STRONG = 1, 2, 4
#: What :func:`access` says: all is recorded; NumPy must look at it; a store is recorded, of which lanes share words.
RECORDED, UNKNOWN, SHARED_WORDS = 0, 1, 2
_WARP_SHIFT, WARP_BITS = 6, 5


def code_of(thread: int) -> int:
    """The code of a thread."""
    return thread // WARP << _WARP_SHIFT | thread % WARP


def has_heard(heard: Int64s, own: int, who: int, time: int) -> int:
    """Whether a warp comes after the accesses of a stamp, by what it knows of each warp from ``heard[own]`` on."""
    return who == MANY_WARPS or time < heard[own + (who >> _WARP_SHIFT)]


def lane_tells(tells: Int64s, synced: Int64s, first: int, who: int, time: int) -> int:
    """Whether what a lane did comes before what its warp publishes. ``first``: the number of its block's first warp."""
    if who & MANY_LANES:
        return 1
    warp = first + (who >> _WARP_SHIFT)
    return time < tells[warp * WARP + (who & LANE_MASK)] or time < synced[warp]


def is_unordered(
    stamp: int, code: int, synced: Int64s, acquired: int, heard: Int64s, tells: Int64s, first: int, warps: int
) -> int:  # fmt: skip
    """Whether a stamp since the last barrier is of another thread, and this one does not come after it."""
    who = stamp & WHO_MASK
    time = stamp >> CODE_BITS
    warp = code >> _WARP_SHIFT
    same_warp = who >> _WARP_SHIFT == warp and who != MANY_WARPS
    if who == code or (same_warp and time < synced[first + warp]):
        return 0
    if time >= acquired or not has_heard(heard, (first + warp) * warps, who, time):
        return 1
    return not same_warp and not lane_tells(tells, synced, first, who, time)


def is_quiet(
    written: Int64s, read: Int64s, remote_written: Int64s, remote_read: Int64s, held: Bytes, at: int, kind: int,
    code: int, since: int, synced: Int64s, acquired: int, has_remote: int, has_held: int, heard: Int64s, tells: Int64s,
    first: int, warps: int,
) -> int:  # fmt: skip
    """Whether one lane may access one word."""
    stamp = written[at]
    if has_held and held[at]:
        return 0
    if has_remote:
        remote = remote_written[at]
        if remote and remote >> SOURCE_BITS >= acquired:
            return 0
        if not remote and kind & READS and stamp == 0:
            return 0
        if kind & STORES and remote_read[at] and remote_read[at] >> SOURCE_BITS >= acquired:
            return 0
    elif kind & READS and stamp == 0:
        return 0
    weak = not (kind & STRONG and stamp & ATOMIC)
    if stamp >= since and weak and is_unordered(stamp, code, synced, acquired, heard, tells, first, warps):
        return 0
    earlier = read[at]
    if not kind & STORES or earlier < since:
        return 1
    return not is_unordered(earlier, code, synced, acquired, heard, tells, first, warps)


def merge_lanes(
    stamps: Int64s, known: Int16s, places: Int64s, made: Int64s, got: Int64s, owners: Int64s, count: int, cells: int
) -> int:
    """Several lanes accessed a word in one instruction: what its stamp becomes, and two of the threads."""
    lost = 0
    for i in range(count):
        got[i] = stamps[places[i]]
        lost += got[i] != made[i]
    if lost == 0:
        return 0
    for i in range(count - 1, -1, -1):
        if got[i] != made[i]:
            known[places[i]] = owners[i]
            if not got[i] & MANY_LANES:
                known[cells + places[i]] = (got[i] & WHO_MASK) // 64 * WARP + (got[i] & LANE_MASK)
    for i in range(count):
        if got[i] != made[i] and (got[i] >> _WARP_SHIFT & LANE_MASK) == owners[i] // WARP:
            stamps[places[i]] = (got[i] & ~WHO_MASK) | owners[i] // WARP << _WARP_SHIFT | MANY_LANES
    for i in range(count):
        if got[i] != made[i] and (got[i] >> _WARP_SHIFT & LANE_MASK) != owners[i] // WARP:
            stamps[places[i]] = (got[i] & ~WHO_MASK) | MANY_WARPS
    return lost


def merged_stamp(
    before: int, code: int, since: int, synced: Int64s, acquired: int, now: int, atomic: int, heard: Int64s,
    tells: Int64s, first: int, warps: int,
) -> int:  # fmt: skip
    """What the stamp of a word becomes where accesses do not exclude each other."""
    kind = ATOMIC if atomic else 0
    sync = synced[first + (code >> _WARP_SHIFT)]
    if atomic and before >= since and before & CODE_MASK == code and before >> CODE_BITS >= sync:
        kind = 0  # just written by a plain store of its own
    together = before >= since and before & ATOMIC == kind
    if not together or not is_unordered(before, code, synced, acquired, heard, tells, first, warps):
        return now << CODE_BITS | kind | code
    who = before & WHO_MASK
    if who >> _WARP_SHIFT == code >> _WARP_SHIFT and who != MANY_WARPS:
        return now << CODE_BITS | kind | code >> _WARP_SHIFT << _WARP_SHIFT | MANY_LANES
    return now << CODE_BITS | kind | MANY_WARPS


def all_are_quiet(
    written: Int64s, read: Int64s, known: Int16s, barrier: Int64s, synced: Int64s, heard: Int64s, tells: Int64s,
    acquired: Int64s, remote_written: Int64s, remote_read: Int64s, held: Bytes, words: int, warps: int, cells: int,
    shift: int, has_order: int, has_remote: int, has_held: int, places: Int64s, owners: Int64s, made: Int64s,
    got: Int64s, rows: Int64s, threads: Int64s, lanes: int, addresses: Int64s, offsets: Int64s, count: int, now: int,
    kind: int,
) -> int:  # fmt: skip
    """Whether each lane may access its words; which these are, whose, the stamps of plain stores, and their rows."""
    for i in range(lanes):
        row = rows[i]
        thread = threads[i]
        code = code_of(thread)
        since = max(barrier[row] << CODE_BITS, 1)
        order = 0
        if has_order:
            order = acquired[row * warps * WARP + thread]
        first = row * words + (addresses[i] >> shift)
        for j in range(count):
            at = first + offsets[j]
            if not is_quiet(
                written, read, remote_written, remote_read, held, at, kind, code, since, synced, order,
                has_remote, has_held, heard, tells, row * warps, warps,
            ):  # fmt: skip
                return 0
            places[i * count + j] = at
            owners[i * count + j] = thread
            made[i * count + j] = now << CODE_BITS | code
            got[i * count + j] = row
    return 1


def record_again(
    stamps: Int64s, others: Int64s, known: Int16s, barrier: Int64s, synced: Int64s, acquired: Int64s, held: Bytes,
    words: int, warps: int, cells: int, shift: int, has_order: int, has_held: int, rows: Int64s, threads: Int64s,
    lanes: int, addresses: Int64s, offset: int, now: int, atomic: int,
) -> int:  # fmt: skip
    """Record reads, or writes by atomics, of one word per lane, where only the times of the stamps change.

    This is so where each stamp stands for several threads, which made accesses of the same kind since the last barrier,
    where this lane is not ordered with them, and where nobody made any ``others``. Else 0, and nothing is recorded.
    """
    kind = ATOMIC if atomic else 0
    for i in range(lanes):
        row = rows[i]
        at = row * words + (addresses[i] >> shift) + offset
        stamp = stamps[at]
        since = max(barrier[row] << CODE_BITS, 1)
        if stamp < since or others[at] >= since or stamp & (ATOMIC | MANY_LANES) != kind | MANY_LANES:
            return 0
        if not atomic and others[at] == 0:
            return 0
        if has_held and held[at]:
            return 0
        thread = threads[i]
        time = stamp >> CODE_BITS
        if has_order and time < acquired[row * warps * WARP + thread]:
            return 0
        who = stamp & WHO_MASK
        if who != MANY_WARPS:
            warp = thread // WARP
            if who >> _WARP_SHIFT != warp or time < synced[row * warps + warp]:
                return 0
    for i in range(lanes):
        at = rows[i] * words + (addresses[i] >> shift) + offset
        stamps[at] = now << CODE_BITS | stamps[at] & CODE_MASK
        known[cells + at] = threads[i]
    return 1


def access(
    written: Int64s, read: Int64s, known: Int16s, barrier: Int64s, synced: Int64s, heard: Int64s, tells: Int64s,
    acquired: Int64s, remote_written: Int64s, remote_read: Int64s, held: Bytes, words: int, warps: int, cells: int,
    shift: int, has_order: int, has_remote: int, has_held: int, places: Int64s, owners: Int64s, made: Int64s,
    got: Int64s, rows: Int64s, threads: Int64s, lanes: int, addresses: Int64s, offsets: Int64s, count: int, now: int,
    kind: int,
) -> int:  # fmt: skip
    """One instruction of these lanes.

    ``words`` per row, ``cells`` in all, ``1 << shift`` bytes each. ``offsets`` (count,): the words that each lane
    accesses, from that of its address on. ``places``, ``owners``, ``made`` and ``got`` have room for ``lanes * count``
    items.
    """
    if count == 1 and not has_remote:
        if kind & STORES and kind & STRONG:
            if record_again(
                written, read, known, barrier, synced, acquired, held, words, warps, cells, shift, has_order, has_held,
                rows, threads, lanes, addresses, offsets[0], now, 1,
            ):  # fmt: skip
                return RECORDED
        elif not kind & (STORES | STRONG) and record_again(
            read, written, known, barrier, synced, acquired, held, words, warps, cells, shift, has_order, has_held,
            rows, threads, lanes, addresses, offsets[0], now, 0,
        ):  # fmt: skip
            return RECORDED
    if not all_are_quiet(
        written, read, known, barrier, synced, heard, tells, acquired, remote_written, remote_read, held, words, warps,
        cells, shift, has_order, has_remote, has_held, places, owners, made, got, rows, threads, lanes, addresses,
        offsets, count, now, kind,
    ):  # fmt: skip
        return UNKNOWN
    if kind & STORES:
        if not kind & STRONG:
            return record_store(written, places, made, lanes * count)
        return record(written, known, barrier, synced, heard, tells, acquired, warps, cells, has_order, places, owners,
                      made, got, lanes * count, now, 1)  # fmt: skip
    if kind & STRONG:
        return RECORDED
    return record(read, known, barrier, synced, heard, tells, acquired, warps, cells, has_order, places, owners, made,
                  got, lanes * count, now, 0)  # fmt: skip


def record_store(stamps: Int64s, places: Int64s, made: Int64s, count: int) -> int:
    """Record plain stores."""
    for i in range(count):
        stamps[places[i]] = made[i]
    for i in range(count):
        if stamps[places[i]] != made[i]:
            return SHARED_WORDS
    return RECORDED


def record(
    stamps: Int64s, known: Int16s, barrier: Int64s, synced: Int64s, heard: Int64s, tells: Int64s, acquired: Int64s,
    warps: int, cells: int, has_order: int, places: Int64s, owners: Int64s, made: Int64s, rows: Int64s, count: int,
    now: int, atomic: int,
) -> int:  # fmt: skip
    """Record reads, or writes by atomics. ``rows`` of the lanes; what it holds is lost."""
    for i in range(count):
        code = code_of(owners[i])
        before = stamps[places[i]]
        order = 0
        if has_order:
            order = acquired[rows[i] * warps * WARP + owners[i]]
        since = max(barrier[rows[i]] << CODE_BITS, 1)
        made[i] = merged_stamp(before, code, since, synced, order, now, atomic, heard, tells, rows[i] * warps, warps)
    for i in range(count):
        before = stamps[places[i]]
        if made[i] & WHO_MASK != code_of(owners[i]):
            if not before & MANY_LANES:
                known[places[i]] = (before & WHO_MASK) >> _WARP_SHIFT << WARP_BITS | before & LANE_MASK
            known[cells + places[i]] = owners[i]
    for i in range(count):
        stamps[places[i]] = made[i]
    merge_lanes(stamps, known, places, made, rows, owners, count, cells)
    return RECORDED


def access_alone(
    written: Int64s, read: Int64s, known: Int16s, barrier: Int64s, words: Int64s, codes: Int64s, threads: Int16s,
    count: int, cells: int, first: int, store: int, distinct: int, now: int,
) -> int:  # fmt: skip
    """Record an access to words that no thread has accessed since the last barrier; 0 where that is not so.

    ``words``, ``codes`` and ``threads``: those of an :class:`~softlab.instruments.shadow_patterns.AccessPattern`.
    """
    if store and not distinct:
        return 0
    since = max(barrier[0] << CODE_BITS, 1)
    for i in range(count):
        at = first + words[i]
        if written[at] >= since or read[at] >= since:
            return 0
        if not store and written[at] == 0:
            return 0
    for i in range(count):
        at = first + words[i]
        if store:
            written[at] = now << CODE_BITS | codes[i]
        else:
            read[at] = now << CODE_BITS | codes[i]
        if threads[i] >= 0:
            known[at] = threads[i]
        if threads[count + i] >= 0:
            known[cells + at] = threads[count + i]
    return 1


def access_again(
    written: Int64s, read: Int64s, known: Int16s, barrier: Int64s, synced: Int64s, given: Int64s, now: int
) -> int:
    """Record a write by an atomic to words of which only the times change; 0 where that is not so.

    ``given``: how many words, the cells in all, then per word its number, who accesses it, and the last such thread.
    """
    count, cells = given[0], given[1]
    since = max(barrier[0] << CODE_BITS, 1)
    for i in range(2, 2 + 3 * count, 3):
        stamp = written[given[i]]
        if stamp < since or read[given[i]] >= since:
            return 0
        code = stamp & CODE_MASK
        if code != ATOMIC | MANY_WARPS:
            warp = given[i + 1] >> _WARP_SHIFT
            if given[i + 1] == MANY_WARPS or code != ATOMIC | MANY_LANES | warp << _WARP_SHIFT:
                return 0
            if stamp >> CODE_BITS < synced[warp]:
                return 0
    for i in range(2, 2 + 3 * count, 3):
        at = given[i]
        written[at] = now << CODE_BITS | written[at] & CODE_MASK
        known[cells + at] = given[i + 2]
    return 1


def framed_access(
    f: Int64s, rows: Int64s, threads: Int64s, lanes: int, addresses: Int64s, offsets: Int64s, count: int, now: int,
    kind: int,
) -> int:  # fmt: skip
    """As :func:`access`. ``f`` has the arguments that seldom change: of arrays the places of their items."""
    return access(
        f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11], f[12], f[13], f[14], f[15], f[16],
        f[17], f[18], f[19], f[20], f[21], rows, threads, lanes, addresses, offsets, count, now, kind,
    )  # fmt: skip


_ACCESS, _ALONE, _AGAIN = (CompiledFunction(function) for function in (framed_access, access_alone, access_again))
#: Items of the frame of :func:`framed_access`, and where the places of memory for one access are in it.
_FRAME, _ROOM = 22, 18


class NativeShadow:
    """Asks :func:`access` for one shadow."""

    def __init__(self, shadow: Shadow) -> None:
        self._shadow = shadow
        #: The mbarriers in use, which no access may touch.
        self.objects: MbarrierWords | None = None
        self._known: tuple[Any, ...] = (self,) * 5
        self._tables: list[Any] = []
        #: As compiled code takes them: the tables that an access alone needs; the cells of one of them.
        self._of_alone: tuple[int, ...] = ()
        self._cells = 0
        self._frame = np.zeros(_FRAME, np.int64)
        self._ready = False
        self._room = np.zeros((_FRAME - _ROOM, 0), np.int64)
        self._zeros = np.zeros(shadow.threads, np.int64)

    def ready(self, compiled: str) -> bool:
        """Whether a run that compiles "none", "hot" or "all" blocks uses it; once it does, it goes on."""
        self._ready = self._ready or _ACCESS.ready(compiled)
        return self._ready

    @staticmethod
    def pattern_is_ready(compiled: str, again: bool) -> bool:
        """The same of :meth:`record_again`, or of :meth:`record_alone`."""
        return (_AGAIN if again else _ALONE).ready(compiled)

    def record_alone(self, pattern: AccessPattern, first: int, store: bool) -> bool:
        """As :meth:`Shadow.record_alone <softlab.instruments.shadow.Shadow.record_alone>` does."""
        return self.alone(pattern, first, store)(self._shadow.time) != 0

    def alone(self, pattern: AccessPattern, first: int, store: bool) -> Callable[[int], int]:
        """Records such an access at a time, as :func:`access_alone` does.

        It holds as long as the shadow has the same tables and the pattern lives.
        """
        self._look_at_tables()
        return partial(_ALONE.call, *self._of_alone, *pattern.places, self._cells, first, store, pattern.distinct)

    def record_again(self, pattern: AccessPattern, first: int) -> bool:
        """As :meth:`Shadow.record_again <softlab.instruments.shadow.Shadow.record_again>` does."""
        return self._shadow.has_only_barriers and self.again(pattern, first)(self._shadow.time) != 0

    def again(self, pattern: AccessPattern, first: int) -> Callable[[int], int]:
        """Records such an access at a time, as :func:`access_again` does, while the shadow has only barriers.

        It holds as long as what :meth:`alone` gives.
        """
        of_words = np.stack((pattern.words + first, pattern.codes, pattern.last), axis=1)
        given = np.concatenate(([len(of_words), self._shadow.stamps(True).size], of_words.ravel()))
        tables, call = self._arguments()[:5], _AGAIN.call
        return lambda now: call(*tables, id(given), now)  # it keeps the array alive

    def record(self, lanes: Lanes, address: Value, offsets: np.ndarray, kind: int) -> int:
        """Record an access of ``kind`` where that is known to be right: as :func:`access` says.

        ``offsets`` (int64): the words that each lane accesses, from that of its address on.
        """
        shadow = self._shadow
        if shadow.has_groups:
            return UNKNOWN
        rows, threads = self._zeros, lanes.positions.columns
        is_array = isinstance(address, np.ndarray)
        if shadow.alike and isinstance(lanes, Box) and lanes.rows is None and (not is_array or len(address) == 1):
            count = lanes.extent[1]
        else:
            shadow.tell_apart()
            rows, count = lanes.positions.rows, lanes.count
        if not is_array or address.size != count:
            address = np.broadcast_to(address, (1, count) if rows is self._zeros else lanes.extent)
        if address.itemsize != 8 or not address.flags.c_contiguous:
            address = address.astype(np.int64, "C")
        words = len(offsets)
        if self._room.shape[1] < count * words:
            self._room = np.empty((_FRAME - _ROOM, count * words), np.int64)
            self._frame[_ROOM:] = [row.ctypes.data for row in self._room]
        self._look_at_tables()
        return _ACCESS.call(
            id(self._frame), id(rows), id(threads), count, id(address), id(offsets), words, shadow.time, kind
        )

    def _look_at_tables(self) -> None:
        """The tables of the shadow may be others than before."""
        written, order, threads, remote = self._shadow.changing()
        held = self.objects.held if self.objects is not None else None
        a, b, c, d, e = self._known
        if written is not a or order is not b or threads is not c or remote is not d or held is not e:
            self._take_tables(held)

    def _take_tables(self, held: np.ndarray | None) -> None:
        shadow = self._shadow
        *tables, acquired, remote, remote_read = shadow.tables()
        self._tables = [_NOTHING if one is None else one for one in (*tables, acquired, remote, remote_read, held)]
        has = [int(array is not None) for array in (acquired, remote, held)]
        sizes = shadow.words, shadow.threads // WARP, shadow.stamps(True).size, shadow.granule.bit_length() - 1
        self._frame[:_ROOM] = *(table.ctypes.data for table in self._tables), *sizes, *has
        self._known = *shadow.changing(), held
        self._cells = shadow.stamps(True).size
        self._of_alone = tuple(map(id, self._tables[:4]))

    def _arguments(self) -> list[int]:
        """The tables, as compiled code takes arrays."""
        self._look_at_tables()
        return list(map(id, self._tables))


_NOTHING = np.zeros(1, np.int64)
