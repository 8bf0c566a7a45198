"""The memory system of :mod:`softlab.timing.memory` as loops that LLVM compiles, for the loop that issues instructions.

A launch asks for memory some thousand times, and one request takes Python some 20 microseconds. These functions do the
same with the same numbers in the same order, so that an estimate is the same to the last bit
(``tests/timing/test_native_memory.py``). They know all requests but bulk copies, and no waits at mbarriers. A launch
with these is Python's (:mod:`softlab.timing.memory_arrays`), and so is every launch where there is no compiler.

All state lies in two arrays, whole numbers ``m`` and floats ``f``. The first places are named here. Behind them lie
tables, whose beginnings stand in ``m``. Sectors, lines, pieces of 256 bytes, rows and pages have numbers from 0 on. A
float of a table below 0 stands for something that is not there.
"""

from __future__ import annotations

from math import ceil, exp

from softlab.emulator.machine.native_python import Floats, Int64s, out_of_line
from softlab.sass.streams import Kind, Space
from softlab.timing.dram import AGAIN, ANEW, DENSE_FROM, HASH, REMEMBERED, ROW
from softlab.timing.memory import BACKLOG, MIX, SOURCES, SWAPS
from softlab.timing.memory import WAYS as SET_WAYS

# Places of whole numbers.
(
    UNTIL, LOADING_UNTIL, PLACE, PLACE_FIRST, PLACE_LAST, WANTED_FIRST, WANTED_LAST, CROWDED, FLYING_HEAD,
    FLYING_TAIL, FLYING_LINES, FLYING_MOST, COMING_HEAD, COMING_TAIL, L1_HELD, L1_LINES, L2_HEAD, L2_TAIL, L2_COUNT,
    L2_SECTORS, L1_HITS, L1_REQUESTS, L2_HITS, L2_REQUESTS, BROUGHT, COLD, BEGUN_COUNT, MOST_LINES, LINES_OF,
) = range(29)  # fmt: skip
(
    RECENT_HEAD, RECENT_TAIL, RECENT_COUNT, REGIONS, ACCESSES, OWNERS, COSTS_COUNT, STAMP, SPARE_COUNT, WHOLE_STORES,
    OWNER, SCHEDULER, NUMBER, FILLED, LINES_BEGUN, ATOMICS, LINE_COUNT, LOADS_OF_OTHERS,
) = range(33, 51)  # fmt: skip
#: The curves, each as its place among the floats and its number of points.
CURVE_L2, CURVE_LOADED, CURVE_COPY, CURVE_PARTS = 51, 53, 55, 57
FIRST_TABLE = 59
(
    ASKED, SLOTS, KEYS, FIRST_OF_WARP, LINE_OF, PIECE_OF, ROW_OF, PAGE_OF, SET_OF, PAIRS_OF, WAYS,
    WAYS_COUNT, L2_NEXT, RECENT_SEEN, RECENT_BEFORE, RECENT_NEXT, ROW_TIMES, JOIN_WARP, JOIN_BEFORE, FIRSTS, LASTS,
    FIRST_ID, ORDERED, COVERED, MISSED, FLYING_COUNT, ENTRIES, ENTRY_KEY, SPARE, WAIT_ROW, WAIT_OF_ROW, WAITED,
    WRITTEN, LOCAL_HELD, STAMPS, WARP_STORED, WARP_BLOCK, ORDER_NUMBERS, LARGE, TIMES,
) = range(FIRST_TABLE, FIRST_TABLE + 40)  # fmt: skip
FIRST_OF_FLOATS = FIRST_TABLE + 40
(
    L1_TIME, L2_TIME, COMMON_TIME, PART, FLYING_TIME, COMING_TIME, COMING_FILL, ROW_UNTIL, PAGE_KNOWN, ENTRY_BYTES,
    JOIN_THERE, BEGUN, SEEN_NOW, FETCHED_BY, FETCHING_OF, SHARE, DENSE, OTHERS, ORDER_NEW, FIRST_SHARE, EVENNESS_OF,
    ORDER_SEEN, SPREAD, ROWS, PAIRS, COSTS, WAIT_UNTIL, WAIT_VARIANCE, SWAPPED, WARP_COPIES, CURVES,
    UNITS_OF, ARRAY_LINES, ARRAY_UNITS, ARRAY_FREE, ARRAY_WORKED, LINE_FREE, LINE_SEEN, LINE_WORKED, EVENED, SUM_FREE,
    SUM_WORKED, WANTED_BY, LOADING_OF,
) = range(FIRST_OF_FLOATS, FIRST_OF_FLOATS + 44)  # fmt: skip
INTS = FIRST_OF_FLOATS + 44

# Places of floats: what the functions give each other, and the state.
(
    START, SOURCE, RESULT, BEGIN, DRAINED, DONE, VALUE, BUSY_NOW, FETCHED, LSU_FREE, LSU_BUSY, SHARED_BUSY, KNOWN_AT,
    FETCHING, EVENNESS, L2_FREE, L2_WRITE_FREE, COMES, L2_BUSY, L2_WRITE_BUSY, LAST_STORE, ANSWERED, LOADS_UNTIL,
    DRAM_FREE, DRAM_MOVED, DRAM_BUSY, DRAM_READ, DRAM_WRITTEN, IDLE, TOGETHER, WORKED_TOGETHER, PASSES, FENCE_FREE,
    TAKEN,
) = range(34)  # fmt: skip
#: The loads of L2 and of DRAM: the share of time at work, the time, what waits, and the window.
LOAD_L2, LOAD_DRAM = 38, 42
FIRST_FIGURE = 46
(
    WARM, FIRST_LOAD, RATE, DRAM_DENSE, DRAM_LATENCY, NEW_PAGE, L1_LATENCY, L2_LATENCY, L1_LINES_AT_ONCE, FILL_CYCLES,
    L2_CYCLES, L2_FREE_CYCLES, STORE_CYCLES, PASSING_CYCLES, REST_L2, REST_STORE, REST_PASSING, LINE_LEAST,
    LINE_LEAST_STORED, PARTIAL_STORE, WRITTEN_BACK, FIRST_DRAIN, DRAIN, LOCAL_LEFT, ATOMIC_ONE, ATOMIC_TWO, SWAP,
    SWAP_APART, MATCH_WIDE, MATCH_WIDE_LATER, MATCH_VALUE, MATCH_LATER, WARPS, DRAM_WRITE, DRAM_TURN, SPARSE_GLOBAL,
    SPARSE_LOCAL, SM_WRITE, LOCAL_ALL, LOCAL_WHOLE, LOCAL_MOST, IN_PART_LINE, IN_PART_SECTOR,
    ALL_PART_LINE, ALL_PART_SECTOR, SMS, ACTIVE, ADDING, UNITS, SM_PASS, SM_RETURN, OF_SECTOR, OF_RETURN,
    OF_RETURN_SECTOR, LANE_PASS, WHOLE_PASS, SLOW_PASS, FLOAT_LANE, DISTRIBUTED_LATENCY, DISTRIBUTED_LINE,
    DISTRIBUTED_SECTOR, DISTRIBUTED_STORE, DISTRIBUTED_ATOMIC, MEMBAR_CTA, MEMBAR_GPU, MEMBAR_INTERVAL, MEMBAR_STORED,
    MEMBAR_STORED_INTERVAL,
) = range(FIRST_FIGURE, FIRST_FIGURE + 68)  # fmt: skip
FLOATS = FIRST_FIGURE + 68

#: A request in the table ``ASKED``: as :data:`softlab.timing.work.MemoryRequest` has it, with the place of its sectors
#: in ``SLOTS`` and their number in place of the sectors.
REQUEST = 11
_SPACE, _KIND, _WAVEFRONTS, _FIRST, _COUNT, _LANES, _WIDTH, _BYPASS, _LINES, _LOOKED_UP = range(1, 11)
#: The parts of a load.
_WORKED, _TIME, _WAITING, WINDOW = range(4)
#: An entry of the lines that warps have begun to store to: the scheduler, the warp, the line.
ENTRY = 3
#: Ways of a set, with one for a line that comes before another one goes.
SET = SET_WAYS + 1

_SHARED, _LOCAL, _VALUES, _GLOBAL, _DISTRIBUTED = (
    int(s) for s in (Space.SHARED, Space.LOCAL, Space.VALUES, Space.GLOBAL, Space.DISTRIBUTED_SHARED)
)
_LOAD, _STORE, _ATOMIC, _REDUCTION, _COPY = (
    int(k) for k in (Kind.LOAD, Kind.STORE, Kind.ATOMIC, Kind.REDUCTION, Kind.ASYNC_COPY)
)

_SECTOR = 32
#: See :meth:`softlab.timing.slowest.Slowest.wait`.
_AGAIN_SQUARED = AGAIN**2


def _interpolate(m: Int64s, f: Floats, curve: int, at: float) -> int:
    """``VALUE``: the value of a curve."""
    x, count, place = m[curve], m[curve + 1], 0
    y = x + count
    while place < count and f[x + place] < at:
        place += 1
    if at <= f[x]:
        f[VALUE] = f[y]
    elif place == count:
        f[VALUE] = f[y + count - 1]
    else:
        a, ya = f[x + place - 1], f[y + place - 1]
        f[VALUE] = ya + (f[y + place] - ya) * (at - a) / (f[x + place] - a)
    return 0


@out_of_line
def _count(f: Floats, load: int, start: float, cycles: float) -> int:
    """``BUSY_NOW``: as :meth:`softlab.timing.loads.Load.count`."""
    passed = start - f[load + _TIME]
    if passed > 0:
        worked, window = min(passed, f[load + _WAITING]), f[load + WINDOW]
        faded = exp(-passed / window)
        f[load + _WORKED] = f[load + _WORKED] * faded + exp((worked - passed) / window) - faded
        f[load + _WAITING] -= worked
        f[load + _TIME] = start
    f[load + _WAITING] += cycles
    f[BUSY_NOW] = f[load + _WORKED]
    return 0


@out_of_line
def _use(m: Int64s, f: Floats, slots: int, count: int) -> int:
    """As ``Memory._use``. slots: where the sectors stand."""
    last = -1
    for k in range(count):
        line = m[m[LINE_OF] + (m[slots + k] >> 1)]
        if line == last:
            continue
        last = line
        held, ways = m[WAYS_COUNT] + m[m[SET_OF] + line], m[WAYS] + SET * m[m[SET_OF] + line]
        n, at = m[held], 0
        while at < n and m[ways + at] != line:
            at += 1
        if at < n:
            for way in range(at, n - 1):
                m[ways + way] = m[ways + way + 1]
            m[ways + n - 1] = line
            continue
        m[ways + n] = line
        n += 1
        if n > SET_WAYS or (m[L1_HELD] >= m[L1_LINES] and n > 1):
            gone = m[PAIRS_OF] + 2 * m[ways]
            n -= 1
            for way in range(n):
                m[ways + way] = m[ways + way + 1]
            for side in range(2):
                if m[gone + side] >= 0:
                    f[m[L1_TIME] + 2 * m[gone + side]] = -1.0
                    f[m[L1_TIME] + 2 * m[gone + side] + 1] = -1.0
        else:
            m[L1_HELD] += 1
        m[held] = n
    return 0


def _keep(m: Int64s, f: Floats, own: int, slot: int, at: float) -> int:
    """L2 has a sector from ``at`` on, as the SM's ``own`` or as one of several SMs."""
    if own == 0:
        f[m[COMMON_TIME] + slot] = at
        return 0
    if f[m[L2_TIME] + slot] < 0:
        if m[L2_COUNT] == 0:
            m[L2_HEAD] = slot
        else:
            m[m[L2_NEXT] + m[L2_TAIL]] = slot
        m[L2_TAIL] = slot
        m[L2_COUNT] += 1
    f[m[L2_TIME] + slot] = at
    return 0


def _fill(m: Int64s, f: Floats, now: float) -> int:
    """As ``Memory._fill``."""
    head, free = m[COMING_HEAD], f[L2_WRITE_FREE]
    while head < m[COMING_TAIL] and f[m[COMING_TIME] + head] <= now:
        free = max(f[m[COMING_TIME] + head], free) + f[m[COMING_FILL] + head]
        f[COMES] -= f[m[COMING_FILL] + head]
        head += 1
    m[COMING_HEAD] = head
    f[L2_WRITE_FREE] = free
    return 0


def _queue(f: Floats, start: float, cost: float) -> int:
    """``VALUE``: as ``Dram._queued``."""
    f[DRAM_FREE] = max(start, f[DRAM_FREE]) + cost / f[RATE]
    f[DRAM_BUSY] += cost
    f[VALUE] = f[DRAM_FREE]
    return 0


def _later(m: Int64s, f: Floats, busy: float, waits: float) -> int:
    """``VALUE``: as ``Dram._later``."""
    _interpolate(m, f, CURVE_LOADED, busy)
    alone = f[VALUE]
    if f[DRAM_WRITTEN] > 0:
        share = min(1.0, f[DRAM_WRITTEN] / f[DRAM_READ])
        if share > 0:
            _interpolate(m, f, CURVE_COPY, busy)
            alone += (f[VALUE] - alone) * share
    f[VALUE] = max(0.0, alone - waits)
    return 0


@out_of_line
def _fetch_whole(m: Int64s, f: Floats, start: float, nbytes: float) -> int:
    """``FETCHED``: as ``Dram.fetch_whole``."""
    f[DRAM_READ] += nbytes
    f[DRAM_MOVED] += nbytes
    _count(f, LOAD_DRAM, start, nbytes / f[RATE])
    busy, waits = f[BUSY_NOW], max(0.0, f[DRAM_FREE] - start)
    _queue(f, start, nbytes)
    there = f[VALUE]
    _later(m, f, busy, waits)
    f[FETCHED] = there + f[DRAM_LATENCY] + f[VALUE]
    return 0


@out_of_line
def _write(f: Floats, start: float, nbytes: float, sparse: float, whole: int) -> int:
    """As ``Dram.write``. sparse: what sectors with as many neighbours cost, and where they are ``whole`` how many times
    as much as those with all."""
    f[DRAM_WRITTEN] += nbytes
    each = sparse
    if whole:
        each = (f[DRAM_WRITE] + f[DRAM_TURN] * min(1.0, f[DRAM_READ] / f[DRAM_WRITTEN])) * sparse
    f[DRAM_MOVED] += nbytes
    _count(f, LOAD_DRAM, start, nbytes * each / f[RATE])
    _queue(f, start, nbytes * each)
    return 0


def _recent(m: Int64s, piece: int) -> int:
    """How often 256 bytes were read of late, before this time."""
    seen, at, before, following = m[RECENT_SEEN], piece, m[RECENT_BEFORE], m[RECENT_NEXT]
    found = m[seen + at]
    if found:  # it leaves its place
        if m[before + at] >= 0:
            m[following + m[before + at]] = m[following + at]
        else:
            m[RECENT_HEAD] = m[following + at]
        if m[following + at] >= 0:
            m[before + m[following + at]] = m[before + at]
        else:
            m[RECENT_TAIL] = m[before + at]
        m[RECENT_COUNT] -= 1
    m[seen + at] = found + 1
    m[before + at] = m[RECENT_TAIL]
    m[following + at] = -1
    if m[RECENT_TAIL] >= 0:
        m[following + m[RECENT_TAIL]] = at
    else:
        m[RECENT_HEAD] = at
    m[RECENT_TAIL] = at
    m[RECENT_COUNT] += 1
    if m[RECENT_COUNT] > REMEMBERED:
        gone = m[RECENT_HEAD]
        m[RECENT_HEAD] = m[following + gone]
        m[before + m[RECENT_HEAD]] = -1
        m[seen + gone] = 0
        m[RECENT_COUNT] -= 1
    return found


@out_of_line
def _fetch(m: Int64s, f: Floats, start: float, slot: int, share: float) -> int:
    """``FETCHED``: as ``Memory._fetched`` with ``Dram.fetch``."""
    pair, sector = slot >> 1, m[m[KEYS] + slot]
    seen = _recent(m, m[m[PIECE_OF] + pair])
    cost = f[DRAM_DENSE]
    if f[m[DENSE] + m[PLACE]] < DENSE_FROM:
        cost = f[m[COSTS] + min(seen, m[COSTS_COUNT] - 1)]
    cost /= share
    f[DRAM_READ] += cost
    f[DRAM_MOVED] += 64 / share
    _count(f, LOAD_DRAM, start, cost / f[RATE])
    busy, waits = f[BUSY_NOW], max(0.0, f[DRAM_FREE] - start)
    row, at = sector >> ROW, m[m[ROW_OF] + pair]
    if start >= f[m[ROW_UNTIL] + at]:
        m[m[ROW_TIMES] + at] += 1
        f[m[ROW_UNTIL] + at] = start + f[DRAM_LATENCY]
    again = AGAIN * f[m[ROWS] + (row * HASH >> 16 & 31)]
    late = again + ANEW * f[m[ROWS] + ((row * 64 + m[m[ROW_TIMES] + at]) * HASH >> 16 & 31)]
    apart = late + f[m[PAIRS] + ((sector >> 1) * HASH >> 16 & 31)]
    page = m[PAGE_KNOWN] + m[m[PAGE_OF] + pair]
    if f[page] < 0:
        f[page] = start + f[NEW_PAGE]
    latency = f[DRAM_LATENCY] + apart + max(f[page], start) - start
    _queue(f, start, cost)
    there = f[VALUE] + latency
    _later(m, f, busy, waits)
    there += f[VALUE]
    fill = 2 * f[FILL_CYCLES] / share
    if m[COMING_HEAD] < m[COMING_TAIL] and f[m[COMING_TIME] + m[COMING_HEAD]] <= start:
        _fill(m, f, start)
    f[m[COMING_TIME] + m[COMING_TAIL]] = there
    f[m[COMING_FILL] + m[COMING_TAIL]] = fill
    m[COMING_TAIL] += 1
    f[COMES] += fill
    f[L2_WRITE_BUSY] += fill
    f[FETCHED] = max(there, max(start, f[L2_WRITE_FREE]) + f[COMES])
    return 0


def _place(m: Int64s, sector: int) -> int:
    """The array of a sector; the last one, which is none, for a sector of no array."""
    found = m[REGIONS] - 1
    while found >= 0 and m[m[FIRSTS] + found] > sector:
        found -= 1
    if found < 0 or sector > m[m[LASTS] + found]:
        found = m[REGIONS]
    return found


def _find(m: Int64s, f: Floats, sector: int) -> int:
    """As ``Memory._array_of``."""
    found = _place(m, sector)
    m[PLACE], m[PLACE_FIRST], m[PLACE_LAST] = found, sector, sector
    if found < m[REGIONS]:
        m[PLACE_FIRST], m[PLACE_LAST] = m[m[FIRSTS] + found], m[m[LASTS] + found]
    known = m[FETCHED_BY] + m[m[FIRST_ID] + found]
    if f[known] < 0:
        f[known] = f[m[FETCHING_OF] + found]
    f[FETCHING] = f[known]
    return 0


def _seen(m: Int64s, f: Floats, sector: int) -> int:
    """``VALUE``: as :meth:`softlab.timing.order.Order.at`, of the present array and access."""
    order = m[ORDERED] + 5 * m[PLACE]
    for k in range(m[order + 3], m[order + 3] + m[order + 4]):
        covered = m[COVERED] + 3 * k
        if m[covered] < m[NUMBER] and m[covered + 1] <= sector and sector <= m[covered + 2]:
            f[VALUE] = 1.0
            return 0
    first, low, high = m[order + 1], 0, m[order + 2]
    while low < high:
        middle = (low + high) // 2
        if m[NUMBER] < m[m[ORDER_NUMBERS] + first + middle]:
            high = middle
        else:
            low = middle + 1
    f[VALUE] = f[m[ORDER_SEEN] + first + max(0, low - 1)]
    return 0


def _come(m: Int64s, f: Floats) -> int:
    """The place of an access of the present array, as :meth:`softlab.timing.joins.Joins.come`."""
    at = m[m[FIRST_ID] + m[PLACE]] * m[ACCESSES] + m[NUMBER]
    warp = m[m[JOIN_WARP] + at]
    if warp < 0 or (warp != m[OWNER] and m[m[JOIN_BEFORE] + at] + 1 >= f[WARPS]):
        m[m[JOIN_WARP] + at] = m[OWNER]
        m[m[JOIN_BEFORE] + at] = 0
        f[m[JOIN_THERE] + at] = 0.0
    elif warp != m[OWNER]:
        m[m[JOIN_WARP] + at] = m[OWNER]
        m[m[JOIN_BEFORE] + at] += 1
    return at


def _brought_by_others(m: Int64s, f: Floats, sector: int, others: float) -> int:
    """``VALUE``: when others have brought a sector, -1.0 if they have not. The access of :func:`_come`, or -1."""
    brought, at = -1.0, -1
    begun = f[m[BEGUN] + m[m[FIRST_ID] + m[PLACE]]]
    if m[m[ORDERED] + 5 * m[PLACE]] and begun >= 0:
        _seen(m, f, sector)
        if f[VALUE] != 0 and (((sector ^ 4096) >> 1) * MIX >> 20 & 0xFFFF) / 65536.0 < f[VALUE]:
            brought = begun
    if brought < 0 and others > 0:
        at = _come(m, f)
        before = m[m[JOIN_BEFORE] + at]
        if before:
            asked = 1 - exp(-others * before / f[WARPS])
            if (((sector ^ 24576) >> 1) * MIX >> 20 & 0xFFFF) / 65536.0 < asked:
                brought = f[m[JOIN_THERE] + at]
    f[VALUE] = brought
    return at


@out_of_line
def _dram(m: Int64s, f: Floats, start: float, slot: int) -> int:
    """``FETCHED``: as ``Memory._dram``."""
    sector = m[m[KEYS] + slot]
    if sector < m[PLACE_FIRST] or sector > m[PLACE_LAST]:
        _find(m, f, sector)
    place = m[PLACE]
    own = f[m[SHARE] + place] < 2
    there = max(f[m[SEEN_NOW] + place], f[WARM])
    if there > 0 and ((sector >> 1) * MIX >> 20 & 0xFFFF) / 65536.0 < there:
        _keep(m, f, own, slot, start)
        m[L2_HITS] += 1
        f[FETCHED] = start
        return 0
    at = _brought_by_others(m, f, sector, f[m[OTHERS] + place])
    if f[VALUE] >= 0:
        f[FETCHED] = max(start, f[VALUE])
        _keep(m, f, own, slot, f[FETCHED])
        _keep(m, f, own, slot ^ 1, f[FETCHED])
        m[L2_HITS] += 1
        return 0
    share = f[FETCHING]
    if m[m[ORDERED] + 5 * place]:
        share = max(1.0, share * f[m[ORDER_NEW] + place])
    if at >= 0:
        share = max(1.0, share * f[m[FIRST_SHARE] + place])
    _fetch(m, f, start, slot, share)
    done = f[FETCHED]
    _keep(m, f, own, slot, done)
    _keep(m, f, own, slot ^ 1, done)
    m[BROUGHT] += own
    if at >= 0 and f[m[JOIN_THERE] + at] == 0:
        f[m[JOIN_THERE] + at] = done
    begun = m[BEGUN] + m[m[FIRST_ID] + place]
    if f[begun] < 0:
        f[begun] = done
    return 0


def _wait(m: Int64s, f: Floats, start: float, done: float, row: int) -> int:
    """As :meth:`softlab.timing.slowest.Slowest.wait`, of the present warp."""
    w = m[OWNER]
    until, of_row = m[WAIT_UNTIL] + w, m[WAIT_OF_ROW] + w
    if m[of_row] == 0:
        m[m[WAITED] + m[OWNERS]] = w
        m[OWNERS] += 1
    if start >= f[until]:
        m[of_row] = m[of_row] + 1 if row == m[m[WAIT_ROW] + w] else 1
        m[m[WAIT_ROW] + w] = row
        f[m[WAIT_VARIANCE] + w] += 1 + 2 * _AGAIN_SQUARED * (m[of_row] - 1)
    f[until] = max(f[until], done)
    return 0


def _moved(f: Floats, sectors: int, lines: int) -> int:
    """``VALUE``: as ``Memory._moved``."""
    f[VALUE] = max(1.0 * sectors, lines * f[LINE_LEAST])
    return 0


def _leave(m: Int64s, f: Floats) -> int:
    """L2 gives up what it has no room for."""
    while m[L2_COUNT] > m[L2_SECTORS]:
        gone = m[L2_HEAD]
        m[L2_HEAD] = m[m[L2_NEXT] + gone]
        m[L2_COUNT] -= 1
        f[m[L2_TIME] + gone] = -1.0
    return 0


def _even(m: Int64s, f: Floats, sector: int) -> int:
    """``EVENNESS``: as ``Memory._evenness``."""
    if sector < m[WANTED_FIRST] or sector > m[WANTED_LAST]:
        wanted = _place(m, sector)
        m[WANTED_FIRST], m[WANTED_LAST] = sector, sector
        if wanted < m[REGIONS]:
            m[WANTED_FIRST], m[WANTED_LAST] = m[m[FIRSTS] + wanted], m[m[LASTS] + wanted]
        f[EVENNESS] = f[m[EVENNESS_OF] + wanted]
    return 0


@out_of_line
def _l2(m: Int64s, f: Floats, start: float, slots: int, count: int, lines: int) -> int:
    """``DONE``: as ``Memory._l2``."""
    begin = max(start, f[L2_FREE])
    _moved(f, count, lines)
    work = f[VALUE] * (f[L2_CYCLES] if m[CROWDED] else f[L2_FREE_CYCLES])
    if lines > 1:
        _even(m, f, m[m[KEYS] + m[slots + count // 2]])
        work /= f[EVENNESS]
    moved = work
    if lines > work:
        work = 1.0 * lines
    f[L2_FREE] = begin + work
    f[L2_BUSY] += work
    done = f[L2_FREE] + f[L2_LATENCY] + f[m[SPREAD] + min(lines, 32)]
    _count(f, LOAD_L2, start, moved)
    _interpolate(m, f, CURVE_L2, f[BUSY_NOW])
    done += f[VALUE]
    if f[KNOWN_AT] > start:
        done += f[KNOWN_AT] - start
        start = f[KNOWN_AT]
    m[L2_REQUESTS] += count
    brought = m[BROUGHT]
    for k in range(count):
        slot = m[slots + k]
        ready = f[m[L2_TIME] + slot]
        if ready <= 0:
            ready = f[m[COMMON_TIME] + slot]
        if ready < 0:
            _dram(m, f, start, slot)
            ready = f[FETCHED]
        else:
            m[L2_HITS] += 1
        done = max(ready, done)
    if m[BROUGHT] > brought:
        _wait(m, f, start, done, m[m[KEYS] + m[slots]] >> ROW)
    _leave(m, f)
    f[DONE] = done
    return 0


def _placed(m: Int64s, f: Floats, start: float, lines: int) -> int:
    """``VALUE``: as ``Memory._placed``."""
    m[CROWDED] = 0
    head = m[FLYING_HEAD]
    while head < m[FLYING_TAIL] and (f[m[FLYING_TIME] + head] <= start or m[FLYING_LINES] + lines > m[FLYING_MOST]):
        there = f[m[FLYING_TIME] + head]
        m[FLYING_LINES] -= m[m[FLYING_COUNT] + head]
        head += 1
        if there > start:
            m[CROWDED] = 1
            f[LSU_FREE] += there - start
            f[LSU_BUSY] += there - start
            start = there
    m[FLYING_HEAD] = head
    f[VALUE] = start
    return 0


def _lines_of(m: Int64s, slots: int, count: int) -> int:
    """How many lines sectors lie in."""
    m[STAMP] += 1
    lines = 0
    for k in range(count):
        stamp = m[STAMPS] + m[m[LINE_OF] + (m[slots + k] >> 1)]
        if m[stamp] != m[STAMP]:
            m[stamp] = m[STAMP]
            lines += 1
    return lines


@out_of_line
def _load(m: Int64s, f: Floats, start: float, cycles: float, slots: int, count: int, bypass: int, lines: int) -> int:
    """``RESULT``: as ``Memory._load``."""
    done, missed, missing = start + cycles - 1 + f[L1_LATENCY], slots, count
    if f[KNOWN_AT] < 0:
        f[KNOWN_AT] = start + f[FIRST_LOAD]
    if bypass == 0:
        missed, missing = m[MISSED], 0
        for k in range(count):
            there = f[m[L1_TIME] + m[slots + k]]
            if there < 0:
                m[missed + missing] = m[slots + k]
                missing += 1
            else:
                done = max(there, done)
        if missing < count:
            lines = _lines_of(m, missed, missing)
        _use(m, f, slots, count)
    m[L1_REQUESTS] += count
    m[L1_HITS] += count - missing
    f[RESULT] = done
    if missing == 0:
        return 0
    if bypass == 0:
        _placed(m, f, start, lines)
        start = f[VALUE]
    _l2(m, f, start, missed, missing, lines)
    done = max(f[DONE], done)
    if bypass == 0:
        f[m[FLYING_TIME] + m[FLYING_TAIL]] = done
        m[m[FLYING_COUNT] + m[FLYING_TAIL]] = lines
        m[FLYING_TAIL] += 1
        m[FLYING_LINES] += lines
        for k in range(missing):
            f[m[L1_TIME] + m[missed + k]] = done
    f[RESULT] = done
    return 0


def _drop(m: Int64s, place: int) -> int:
    """A line that warps have begun to store to goes; place: in the order of the stores."""
    entry = m[m[ENTRIES] + place]
    m[LINES_OF + m[m[ENTRY_KEY] + ENTRY * entry]] -= 1
    m[BEGUN_COUNT] -= 1
    for k in range(place, m[BEGUN_COUNT]):
        m[m[ENTRIES] + k] = m[m[ENTRIES] + k + 1]
    m[m[SPARE] + m[SPARE_COUNT]] = entry
    m[SPARE_COUNT] += 1
    return 0


def _begun_line(m: Int64s, f: Floats, line: int, room: int) -> int:
    """The entry of a line that the present warp stores to, the last one in their order; a scheduler has ``room``."""
    s, w, place, key = m[SCHEDULER], m[OWNER], 0, m[ENTRY_KEY]
    while place < m[BEGUN_COUNT]:
        at = key + ENTRY * m[m[ENTRIES] + place]
        if m[at + 2] == line and m[at + 1] == w and m[at] == s:
            break
        place += 1
    if place < m[BEGUN_COUNT]:
        entry = m[m[ENTRIES] + place]
        for j in range(place, m[BEGUN_COUNT] - 1):
            m[m[ENTRIES] + j] = m[m[ENTRIES] + j + 1]
        m[m[ENTRIES] + m[BEGUN_COUNT] - 1] = entry
        return entry
    m[LINES_BEGUN] += 1
    while m[LINES_OF + s] >= room:
        place = 0
        while m[key + ENTRY * m[m[ENTRIES] + place]] != s:
            place += 1
        _drop(m, place)
    if m[BEGUN_COUNT] >= m[MOST_LINES]:
        _drop(m, 0)
    m[SPARE_COUNT] -= 1
    entry = m[m[SPARE] + m[SPARE_COUNT]]
    m[m[ENTRIES] + m[BEGUN_COUNT]] = entry
    m[BEGUN_COUNT] += 1
    m[key + ENTRY * entry], m[key + ENTRY * entry + 1], m[key + ENTRY * entry + 2] = s, w, line
    m[LINES_OF + s] += 1
    for j in range(4):
        f[m[ENTRY_BYTES] + 4 * entry + j] = -1.0
    return entry


@out_of_line
def _begin(m: Int64s, f: Floats, slots: int, count: int, each: float, issued: float) -> int:
    """As :meth:`softlab.timing.stores.BegunLines.store`: how many sectors are begun. ``LINES_BEGUN`` and ``FILLED``
    are what else it returns."""
    begun, last, entry, turns = 0, -1, 0, 0
    f[TAKEN + m[SCHEDULER]] = f[LSU_FREE]
    for k in range(4):
        turns += f[TAKEN + k] > issued
    room = m[MOST_LINES] // turns
    m[LINES_BEGUN], m[FILLED] = 0, 0
    for k in range(count):
        slot = m[slots + k]
        line = m[m[LINE_OF] + (slot >> 1)]
        if line != last:
            last = line
            entry = _begun_line(m, f, line, room)
        cell = m[ENTRY_BYTES] + 4 * entry + (m[m[KEYS] + slot] & 3)
        before = f[cell]
        if before < 0:
            begun += 1
            f[cell] = each
        else:
            f[cell] = before + each
            m[FILLED] += before < _SECTOR and before + each >= _SECTOR
    return begun


def _write_back(m: Int64s, f: Floats, start: float, slots: int, count: int) -> int:
    """As ``Memory._write_back``."""
    m[STAMP] += 1
    fresh = count
    for k in range(count):
        written = m[WRITTEN] + m[slots + k]
        if m[written] and m[written] != m[STAMP]:
            fresh -= 1
            m[written] = m[STAMP]
    if fresh == 0:
        return 0
    for k in range(count):
        m[m[WRITTEN] + m[slots + k]] = m[STAMP]
    _write(f, start, _SECTOR * fresh * f[WRITTEN_BACK], f[SPARSE_GLOBAL], m[WHOLE_STORES])
    f[L2_WRITE_FREE] = max(f[DRAM_FREE] - 2 * BACKLOG, f[L2_WRITE_FREE])
    return 0


@out_of_line
def _store(m: Int64s, f: Floats, t: float, start: float, slots: int, count: int, size: int) -> int:
    """``RESULT``: as ``Memory._store``."""
    _fill(m, f, start)
    each = 1.0 * size / count
    begun = _begin(m, f, slots, count, each, t)
    lines = m[LINES_BEGUN]
    begin = max(start, f[L2_WRITE_FREE])
    work = -m[FILLED] * (f[PARTIAL_STORE] - 1)
    if begun:
        if each >= _SECTOR:
            stored = max(1.0 * begun, lines * f[LINE_LEAST_STORED])
            _moved(f, begun, lines)
            passing = f[VALUE] * f[PASSING_CYCLES]
        else:
            f[VALUE] = 0.0
            if lines:
                _interpolate(m, f, CURVE_PARTS, 1.0 * begun / lines)
            stored = max(begun * f[PARTIAL_STORE], lines * f[VALUE])
            passing = stored * f[PASSING_CYCLES]
        work += stored
        f[L2_FREE] = max(start, f[L2_FREE]) + passing
        f[L2_BUSY] += passing
    work *= f[STORE_CYCLES]
    f[L2_WRITE_FREE] = begin + work
    f[L2_WRITE_BUSY] += work
    if begun and f[WRITTEN_BACK] > 0:
        _write_back(m, f, start, slots, count)
    done, there = f[L2_WRITE_FREE] + f[L2_LATENCY], start + f[L1_LATENCY]
    for k in range(count):
        _keep(m, f, 1, m[slots + k], done)
        f[m[L1_TIME] + m[slots + k]] = there
    _use(m, f, slots, count)
    _drained(f, f[L2_WRITE_FREE])
    f[ANSWERED] = max(done, f[ANSWERED])
    f[RESULT] = done
    return 0


def _drained(f: Floats, at: float) -> int:
    """As ``Memory._drained``."""
    f[LAST_STORE] = max(at + (f[DRAIN] if f[LAST_STORE] > 0 else f[FIRST_DRAIN]), f[LAST_STORE])
    return 0


def _beside(f: Floats, worked: float, units: float, lines: float) -> int:
    """``VALUE``: as ``AtomicUnits._beside``, of an array that has ``worked`` in ``units`` and has as many lines."""
    f[VALUE] = worked * max(0.0, 1 - units / lines) + f[PASSES] - worked * units / f[UNITS]
    return 0


def _take(
    m: Int64s, f: Floats, begin: float, come: float, slot: int, cost: float, others: float, place: int, array: int,
    chain: float,
) -> int:  # fmt: skip
    """``RESULT``: as :meth:`softlab.timing.atomics.AtomicUnits.take`. place: of the array among all arrays. array: its
    number, also where a sector is one by itself."""
    piece = m[LINE_COUNT] + m[m[PIECE_OF] + (slot >> 1)]
    line = piece if m[m[LARGE] + place] else m[m[LINE_OF] + (slot >> 1)]
    others *= f[m[EVENED] + line]
    every, alike, lines = f[UNITS], f[ADDING], f[m[ARRAY_LINES] + place]
    if f[m[ARRAY_UNITS] + array] == 0:
        f[m[ARRAY_UNITS] + array] = f[m[UNITS_OF] + place]
        f[IDLE] *= 1 - f[m[UNITS_OF] + place] / every
    units = f[m[ARRAY_UNITS] + array]
    _beside(f, f[m[ARRAY_WORKED] + array], units, lines)
    before = f[VALUE]
    work = cost * alike / units
    own = max(begin, f[m[ARRAY_FREE] + array]) + work
    f[m[ARRAY_WORKED] + array] += work
    f[PASSES] += cost * alike / every
    f[m[ARRAY_FREE] + array] = own
    work = cost * alike / (every * (1 - f[IDLE]))
    f[TOGETHER] = max(begin, f[TOGETHER]) + work
    f[WORKED_TOGETHER] += work
    free, seen = 0.0, before
    if f[m[LINE_FREE] + line] >= 0:
        free = f[m[LINE_FREE] + line]
        seen = f[m[LINE_SEEN] + line]
    free += before - seen
    alone = max(begin, free) + cost * others
    _beside(f, f[m[ARRAY_WORKED] + array], units, lines)
    f[m[LINE_FREE] + line], f[m[LINE_SEEN] + line] = alone, f[VALUE]
    f[m[LINE_WORKED] + line] += cost * others
    if chain > 0:
        work = chain * others
        f[m[SUM_FREE] + slot] = max(begin, f[m[SUM_FREE] + slot]) + work
        f[m[SUM_WORKED] + slot] += work
        alone = max(alone, f[m[SUM_FREE] + slot])
    f[RESULT] = max(max(alone, own), max(f[TOGETHER], come + cost))
    return 0


def _passes(f: Floats, count: int, lanes: int, width: int, passes: int, code: int) -> int:
    """``VALUE``: as ``Memory._pass_cycles``."""
    f[VALUE] = f[LANE_PASS]
    if count == 1 and passes == lanes:
        return 0
    if code in (2, 4):
        filled = (1.0 * lanes / passes - 1) / (32.0 / width - 1)
        f[VALUE] = f[LANE_PASS] + (f[SLOW_PASS] - f[LANE_PASS]) * min(1.0, filled)
    elif passes == count and lanes >= 8 * count:
        f[VALUE] = f[WHOLE_PASS]
    return 0


def _repeated(m: Int64s, slots: int, count: int) -> int:
    """How many sectors these are; they are in ``MISSED``, and how often each comes is in ``TIMES``."""
    found = 0
    for k in range(slots, slots + count):
        times = m[TIMES] + m[k]
        if m[times] == 0:
            m[m[MISSED] + found] = m[k]
            found += 1
        m[times] += 1
    return found


@out_of_line
def _atomic(m: Int64s, f: Floats, start: float, kind: int, asked: int, slots: int, latency: float) -> int:
    """``RESULT``: as ``Memory._atomic``."""
    passes, lanes, width, code = m[asked + _WAVEFRONTS], m[asked + _LANES], m[asked + _WIDTH], m[asked + _BYPASS]
    count = _repeated(m, slots, m[asked + _COUNT])
    begin = max(start, f[L2_FREE])
    own, gpu = min(f[SM_PASS] * passes, 1.0 * lanes), f[OF_SECTOR] * count
    if kind == _ATOMIC:
        own = max(own, f[SM_RETURN] * lanes)
        gpu += f[OF_RETURN] * lanes + f[OF_RETURN_SECTOR] * count
    work = max(own, gpu * f[ACTIVE])
    f[L2_FREE] = begin + work
    f[L2_BUSY] += work
    _passes(f, count, lanes, width, passes, code)
    one = f[VALUE]
    processed, place = f[L2_FREE], _place(m, m[m[KEYS] + m[slots]])
    array = m[m[FIRST_ID] + place]
    if place == m[REGIONS]:
        array += 1 + m[slots]
    for k in range(count):
        slot = m[m[MISSED] + k]
        times = m[m[TIMES] + slot]
        m[m[TIMES] + slot] = 0
        ready = f[m[L2_TIME] + slot]
        if ready <= 0:
            ready = f[m[COMMON_TIME] + slot]
        if ready < 0:
            _dram(m, f, start, slot)
            ready = f[FETCHED]
            m[L2_REQUESTS] += 1
        share = f[m[SHARE] + _place(m, m[m[KEYS] + slot])]
        others = max(max(1.0, min(f[ADDING], share)), f[ADDING] * f[m[WANTED_BY] + slot])
        chain = f[FLOAT_LANE] * times if code in (1, 4) else 0.0
        _take(m, f, begin, max(begin, ready - f[L2_LATENCY]), slot, one * times, others, place, array, chain)
        processed = max(f[RESULT], processed)
    m[ATOMICS] += 1
    _drained(f, f[L2_FREE])
    f[LAST_STORE] = max(processed, f[LAST_STORE])
    f[ANSWERED] = max(f[ANSWERED], processed + f[L2_LATENCY])
    f[RESULT] = processed + latency if kind == _ATOMIC else processed
    return 0


def _local_stored(m: Int64s, f: Floats, start: float, count: int, lines: int, partial: int) -> int:
    """As ``Memory._local_stored``, with ``Memory._local_line``."""
    _fill(m, f, start)
    begin = max(start, f[L2_WRITE_FREE])
    if partial:
        alone = f[IN_PART_LINE] * lines + f[IN_PART_SECTOR] * count
        every = min(f[LOCAL_MOST] * lines, f[ALL_PART_LINE] * lines + f[ALL_PART_SECTOR] * count)
    else:
        alone = f[SM_WRITE] * max(1.0 * count, lines * f[LINE_LEAST_STORED])
        every = f[LOCAL_WHOLE] * lines
    work = max(alone, every * f[LOCAL_ALL] / f[SMS])
    f[L2_WRITE_FREE] = begin + work
    f[L2_WRITE_BUSY] += work
    _moved(f, count, lines)
    f[L2_FREE] = max(start, f[L2_FREE]) + f[VALUE] * f[PASSING_CYCLES]
    if f[LOCAL_LEFT] > 0:
        _write(f, start, _SECTOR * count * f[LOCAL_LEFT], f[SPARSE_LOCAL], 1)
        f[L2_WRITE_FREE] = max(f[L2_WRITE_FREE], f[DRAM_FREE] - 2 * BACKLOG)
    return 0


def _local_missed(m: Int64s, f: Floats, start: float, count: int, first: int) -> int:
    """``DONE``: as ``Memory._local_missed``, of the slots in ``MISSED``. first: the key of the request's first one."""
    f[L2_FREE] = max(f[L2_FREE], start) + count * f[L2_CYCLES]
    done = f[L2_FREE] + f[L2_LATENCY]
    if f[LOCAL_LEFT] > 0:
        _fetch_whole(m, f, start, _SECTOR * count * f[LOCAL_LEFT])
        if ((-first - 1 >> 1) * MIX >> 20 & 0xFFFF) / 65536.0 < f[LOCAL_LEFT]:
            done = max(done, f[FETCHED])
    parts = 0
    for k in range(count):
        parts += f[m[PART] + m[m[MISSED] + k]] >= 0
    if m[COLD] and parts:
        _fetch_whole(m, f, start, 1.0 * _SECTOR * parts)
        done = max(done, f[FETCHED])
    f[DONE] = done
    return 0


def _in_part(m: Int64s, f: Floats, slots: int, count: int, each: float) -> int:
    """As ``Memory._stored_in_part``: how many slots L1 has then; they are in ``MISSED``."""
    kept = 0
    for k in range(count):
        slot = m[slots + k]
        fresh, part = 1 - m[m[LOCAL_HELD] + slot], m[PART] + slot
        if fresh or f[part] >= 0:
            f[part] = max(f[part], 0.0) + each
            if f[part] >= _SECTOR:
                f[part] = -1.0
                f[m[L1_TIME] + slot] = -1.0
                m[m[LOCAL_HELD] + slot] = 1
                continue
        if f[m[L1_TIME] + slot] >= 0 or (fresh and m[COLD] == 0):
            m[m[MISSED] + kept] = slot
            kept += 1
    return kept


@out_of_line
def _local(
    m: Int64s, f: Floats, start: float, now: float, kind: int, slots: int, count: int, size: int, lines: int
) -> int:  # fmt: skip
    """``RESULT``: as ``Memory._local``."""
    done = now + f[L1_LATENCY]
    if kind == _STORE:
        partial = size < _SECTOR * count
        _local_stored(m, f, start, count, lines, partial)
        if partial:
            count = _in_part(m, f, slots, count, 1.0 * size / count)
            slots = m[MISSED]
        else:
            for k in range(count):
                f[m[PART] + m[slots + k]] = -1.0
    else:
        missing = 0
        for k in range(count):
            there = f[m[L1_TIME] + m[slots + k]]
            if there < 0:
                m[m[MISSED] + missing] = m[slots + k]
                missing += 1
            else:
                done = max(done, there)
        if missing:
            _local_missed(m, f, start, missing, m[m[KEYS] + m[slots]])
            done = max(done, f[DONE])
        for k in range(count):
            f[m[PART] + m[slots + k]] = -1.0
    for k in range(count):
        f[m[L1_TIME] + m[slots + k]] = done
        m[m[LOCAL_HELD] + m[slots + k]] = 1
    _use(m, f, slots, count)
    f[RESULT] = done
    return 0


def _shared(m: Int64s, f: Floats, kind: int, passes: int, latency: float, code: int, words: int, count: int) -> int:
    """As ``Memory._shared``, from ``START`` on. words: where their places in ``SWAPPED`` stand."""
    start, cycles = f[START], 1.0 * max(1, passes)
    later = 2 * (cycles - 1)
    if kind == _ATOMIC:
        each = f[ATOMIC_TWO] if code >= 2 else f[ATOMIC_ONE]
        cycles *= each
        latency += cycles + 1 - 2 * each
        if code == SWAPS:
            last = start
            for k in range(count):
                cell = m[SWAPPED] + m[words + k]
                at = max(f[cell] + f[SWAP_APART], start)
                f[cell] = at
                last = max(at, last)
            again = ceil((last - start) / f[SWAP])
            latency += again * f[SWAP]
            cycles += again * (1 + each)
        later = cycles - 1
    f[LSU_FREE] = start + cycles
    f[LSU_BUSY] += cycles
    f[SHARED_BUSY] += cycles
    f[SOURCE] = start + cycles + SOURCES
    f[RESULT] = start + later + latency
    return 0


def _past_caches(f: Floats, kind: int, passes: int, count: int, size: int, lines: int) -> int:
    """As ``Memory._past_caches``, from ``START`` on. count: of sectors."""
    cycles, latency = 1.0, f[L1_LATENCY]
    if count > 0:
        latency = f[DISTRIBUTED_LATENCY]
        if kind == _LOAD:
            cycles = f[DISTRIBUTED_LINE] * lines + f[DISTRIBUTED_SECTOR] * count
        elif kind == _STORE:
            several = size < _SECTOR * count and 8 * count <= size
            cycles = f[DISTRIBUTED_STORE] * count * (2 if several else 1)
        else:
            cycles = f[DISTRIBUTED_ATOMIC] * max(count, passes)
    f[LSU_FREE] = f[START] + cycles
    f[SOURCE] = f[START] + cycles + SOURCES
    f[RESULT] = f[START] + cycles + latency
    return 0


def _advance(m: Int64s, f: Floats) -> int:
    """As ``Memory._advance``."""
    m[UNTIL] -= 1
    m[LOADING_UNTIL] -= 1
    if m[UNTIL] == 0:
        f[L2_CYCLES], f[STORE_CYCLES], f[PASSING_CYCLES] = f[REST_L2], f[REST_STORE], f[REST_PASSING]
    if m[LOADING_UNTIL] == 0:
        f[L2_FREE_CYCLES] = f[REST_L2]
    return 0


def _access(m: Int64s, f: Floats, t: float, latency: float, asked: int) -> int:
    """``START``, ``SOURCE`` and ``RESULT``: as ``Memory.access``. asked: where the request stands."""
    space, kind, passes, lines = m[asked + _SPACE], m[asked + _KIND], m[asked + _WAVEFRONTS], m[asked + _LINES]
    slots, count, size = m[SLOTS] + m[asked + _FIRST], m[asked + _COUNT], m[asked + _LANES] * m[asked + _WIDTH]
    start = max(t, f[LSU_FREE])
    f[START] = start
    if space == _SHARED:
        return _shared(m, f, kind, passes, latency, m[asked + _BYPASS], slots, count)
    if space == _VALUES:
        wide = m[asked + _WIDTH] == 8
        cycles = (f[MATCH_WIDE] if wide else f[MATCH_VALUE]) * passes
        f[LSU_FREE] = start + cycles
        f[SOURCE] = start + cycles + SOURCES
        f[RESULT] = start + latency + (f[MATCH_WIDE_LATER] if wide else f[MATCH_LATER]) * (passes - 1)
        return 0
    if count == 0 or space == _DISTRIBUTED:
        return _past_caches(f, kind, passes, count, size, lines)
    _advance(m, f)
    if kind in (_LOAD, _COPY):
        cycles = 1.0 * max(passes, m[asked + _LOOKED_UP])
    else:
        cycles = max(ceil(lines / f[L1_LINES_AT_ONCE]), 1.0 * (passes if kind == _STORE else 1))
    f[LSU_FREE] = start + cycles
    f[LSU_BUSY] += cycles
    f[SOURCE] = start + cycles + SOURCES
    if space == _LOCAL:
        _local(m, f, start, start + cycles - 1, kind, slots, count, size, lines)
    elif kind == _STORE:
        _store(m, f, t, start, slots, count, size)
    elif kind in (_ATOMIC, _REDUCTION):
        _atomic(m, f, start, kind, asked, slots, latency)
        f[LSU_FREE] = max(f[RESULT] - 2 * BACKLOG, f[LSU_FREE])
        return 0
    else:
        return _load(m, f, start, cycles, slots, count, m[asked + _BYPASS], lines)
    f[LSU_FREE] = max(f[L2_WRITE_FREE] - BACKLOG, f[LSU_FREE])
    return 0


@out_of_line
def serve(m: Int64s, f: Floats, t: float, latency: float, first: int, count: int) -> int:
    """``BEGIN``, ``DRAINED`` and ``DONE`` of ``count`` requests of one instruction at cycle t, as
    :meth:`softlab.timing.residents.Residents.request`. first: the number of the first one. ``OWNER`` and ``SCHEDULER``
    are its warp's."""
    w = m[OWNER]
    drained, done = 0.0, 0.0
    for k in range(first, first + count):
        m[NUMBER] = k - m[m[FIRST_OF_WARP] + w]
        asked = m[ASKED] + REQUEST * k
        _access(m, f, t, latency, asked)
        space, kind, result = m[asked + _SPACE], m[asked + _KIND], f[RESULT]
        drained, done = max(drained, f[SOURCE]), max(done, result)
        if space != _SHARED:
            if kind == _COPY:
                f[m[WARP_COPIES] + w] = max(f[m[WARP_COPIES] + w], result)
            elif kind == _LOAD and space == _GLOBAL:
                f[LOADS_UNTIL] = max(f[LOADS_UNTIL], result)
            elif kind == _LOAD and space == _DISTRIBUTED:
                loading = m[LOADING_OF] + m[m[WARP_BLOCK] + w]
                f[loading] = max(f[loading], result)
                m[LOADS_OF_OTHERS] = 1
            elif kind != _LOAD:
                m[m[WARP_STORED] + w] = 1
    f[BEGIN], f[DRAINED], f[DONE] = f[START], drained, done
    return 0


def _forget(m: Int64s, f: Floats) -> int:
    """As ``Memory.forget``."""
    if m[L1_HELD] > 0:
        for k in range(m[L1_TIME], m[L2_TIME]):
            f[k] = -1.0
        for k in range(m[WAYS_COUNT], m[L2_NEXT]):
            m[k] = 0
        m[L1_HELD] = 0
    return 0


@out_of_line
def fence(m: Int64s, f: Floats, t: float, w: int, others: float) -> int:
    """``DONE`` of a fence of the whole GPU at cycle t, as :meth:`softlab.timing.residents.Residents.fenced`. others:
    until when other blocks load from shared memory of other SMs."""
    stored = m[m[WARP_STORED] + w]
    m[m[WARP_STORED] + w] = 0
    begin = max(t, f[FENCE_FREE])
    f[FENCE_FREE] = begin + (f[MEMBAR_STORED_INTERVAL] if stored else f[MEMBAR_INTERVAL])
    _forget(m, f)
    begin = max(begin, f[LOADS_UNTIL])
    done = begin + (f[MEMBAR_STORED] if stored else f[MEMBAR_GPU])
    done = max(done, f[ANSWERED])
    if m[LOADS_OF_OTHERS]:
        done = max(done, f[m[LOADING_OF] + m[m[WARP_BLOCK] + w]]) + max(0.0, others - t)
    f[DONE] = done
    return 0
