"""The loop over the instructions of one SM: which warp issues, when, and what its next instruction waits for.

It is written for :mod:`softlab.emulator.machine.native_python`: LLVM compiles it where llvmlite is installed, and
Python runs it elsewhere and at first. All state lies in two arrays, whole numbers and floats. The first places are
named here; behind them lie tables, whose beginnings stand in ``ints``
(:class:`softlab.timing.state.State`).

Blocks start and end here, and warps wait here at barriers: the SM has one unit for the barriers of all its blocks,
which takes each warp for some cycles. The memory system is in :mod:`softlab.timing.native_memory`. Where that does not
know a request, the function returns what it wants, and goes on when it is called again.
"""

from __future__ import annotations

from math import ceil, inf

from softlab.emulator.machine.native_python import Bytes, Floats, Int32s, Int64s, out_of_line
from softlab.timing.code import PER_LINE, fetch
from softlab.timing.code import THERE as CODE_THERE
from softlab.timing.native_memory import BEGIN as REQUEST_BEGIN
from softlab.timing.native_memory import DONE as REQUEST_DONE
from softlab.timing.native_memory import DRAINED as REQUEST_DRAINED
from softlab.timing.native_memory import (
    LOADING_OF,
    LOADS_OF_OTHERS,
    MEMBAR_CTA,
    OWNER,
    REGIONS,
    SEEN_NOW,
    WARP_COPIES,
    fence,
    serve,
)
from softlab.timing.native_memory import LSU_BUSY as UNIT_BUSY
from softlab.timing.native_memory import LSU_FREE as UNIT_FREE
from softlab.timing.native_memory import SCHEDULER as OWNERS_SCHEDULER
from softlab.timing.native_memory import SHARED_BUSY as UNIT_SHARED_BUSY
from softlab.timing.program import CLUSTER, IN_REGISTER, LAST_WITH_BANKS, Action, Pipe
from softlab.timing.stalls import (
    BARRIER,
    BRANCH,
    DISPATCH,
    IMC_MISS,
    LG,
    LONG,
    MATH,
    MEMBAR,
    MIO,
    NO_INSTRUCTION,
    NOT_SELECTED,
    SELECTED,
    SHORT,
    WAIT,
)

# Why the function returned.
FINISHED, PROGRESS, FLUSH, REQUEST, FENCE, COMMIT = range(6)
# Where it goes on.
CHOOSE, CYCLE, ANSWERED, NEXT, RESUME, START = range(6)

# Places of whole numbers: of the loop; and per scheduler the warp that goes on as long as it can, the one that issued
# last (-1: none), warps that will be ready and that are ready, and per queue of the load and store unit its next entry.
PHASE, SCHEDULER, GREEDY_NOW, WARP, INDEX, ISSUED, BUDGET, MARK, HELD, JOURNAL, LOGGED, WRITTEN = range(12)
KEPT, LENGTH, DEPTH, SPACING, QUEUE_LENGTHS = range(12, 17)
#: Whether :mod:`softlab.timing.native_memory` answers requests.
MEMORY = 18
GREEDY, LAST, QUEUED, POOLED, ENTRY, BROUGHT = 20, 24, 28, 32, 36, 44
#: Warps that each scheduler has; blocks of the list, those that have begun and ended, and those that begin now; and
#: where the loop goes on then.
RESIDENT, BLOCKS, BEGUN, ENDED, DUE, BEHIND = 48, 52, 53, 54, 55, 56
FIRST_TABLE = 57
(
    ROWS, POSITIONS, ENDS, SETTERS, REQUESTS, REQUEST_ENDS, QUEUE, POOL, COMMITS, ASKED, LINES, LAST_WAITS, WAITS,
    BLOCK_OF, SCHEDULERS, FIRST_WARPS, ALIVE, KNOWN, USED, BARRIERS, FOLLOWING, OPENINGS, CAME, OPERANDS, NEXT_OPERAND,
    CUT, CODE, FIGURES, READY, TURNS, FIRSTS, REFUSED, REFUSED_LAST, ENTERED, REFUSALS, RELEASE, STATES, CONSTANTS,
    GROUPS, ENTRIES, WAITED, NOTES, THERE, TAKEN, LATEST, OPENED, BEGINS, TURNAROUNDS, FINISHES, CODE_TIMES,
) = range(FIRST_TABLE, FIRST_TABLE + 50)  # fmt: skip
INTS = FIRST_TABLE + 50

# Places of floats: clocks of the schedulers, when the next of their warps is ready, when their pipes and register banks
# are free; of the loop; of the load and store unit; figures; cycles of pipes in use.
NOW, SOONEST, FREE = 0, 4, 8
PIPES = len(Pipe)
BANK = FREE + 4 * PIPES
T, LIMIT, READY_NOW, HOLD, BEGIN, DRAINED, DONE, LSU_FREE, LSU_BUSY, SHARED_BUSY = range(BANK + 8, BANK + 18)
MIO_INTERVAL, BRANCH_TAKEN, CONSTANT_MISS, SOURCES, DIVERGENCE = range(BANK + 18, BANK + 23)
# Behind DIVERGENCE stand the cycles of the other kinds of :class:`softlab.timing.work.Split`.
BUSY = DIVERGENCE + 6
# Of barriers and blocks: when the unit for barriers is free; figures; the last start of a block; cycles of all warps.
BARRIER_FREE, BARRIER_LATENCY, CLUSTER_LATENCY, STAGGER, MESSAGE, INTERVAL, LAST_START, WARP_CYCLES = range(
    BUSY + PIPES, BUSY + PIPES + 8
)
# What the functions about refusals give.
UNTIL, COUNTED = range(BUSY + PIPES + 8, BUSY + PIPES + 10)
FLOATS = BUSY + PIPES + 10

# A row of whole numbers: action, pipe, stall count, scoreboards as bits, write and read barrier, number of the constant
# line, two details, whether there are details. A row of floats: interval, latency, four cycles of register banks, and
# cycles on the integer pipe besides.
ROW, FIGURE = 10, 7
#: A row of ``WAITS``: an instruction that waits, the one that it waits for, and the row before of the one that waits,
#: or -1.
WAIT_ROW = 3
#: A row of ``REFUSALS``: in how many cycles a pipe of a scheduler took nothing, up to which cycle they are counted, and
#: the last one of them.
REFUSAL = 3
#: The barriers of a block and of its cluster. A row of ``BARRIERS``: whether a warp has come to it; warps that have
#: arrived, and that are expected (0: all that are not at their end); the first and the last one that waits, from 1 on,
#: or 0. ``FOLLOWING`` of a warp has the next one.
OF_BLOCK, BARRIER_ROW = CLUSTER + 1, 5
#: Rows of waits and entries of the journal, and how many of them are free at the beginning of a cycle: more than the
#: warps of an SM fill when blocks end and others begin.
MOST_WAITS, MOST_NOTES, MARGIN = 8192, 8192, 256
#: Instructions after which the progress of the run is noted.
PROGRESS_EVERY = 4096
#: What an instruction spends of the budget besides, where it asks for something.
ANSWER = 20
INFINITE = inf
RUN_AHEAD = 4
#: Instructions that a queue of the load and store unit can hold at most.
QUEUE_ROOM = 16
#: Bits behind a warp in ``POOL`` that say which pipe its next instruction takes.
PIPE_BITS = 4
PIPE_MASK = (1 << PIPE_BITS) - 1
#: Lines of code that a scheduler keeps. Where a warp jumps ahead to another one, it waits for each line that it jumps
#: over, up to a limit, and some of the lines behind the place take room, too. An H200 (2026-11-29) ran loops over 8 to
#: 64 jumps of 1.75 to 31.5 lines. To 8 places a jump with four instructions took 17 cycles, to 32 places 8, 11 and 20
#: more for jumps of 1.75, 4 and 8 lines, and to 16 places 5, 10 and 17 more for jumps of 4, 8 and 16 lines, half of
#: what full waits would be. So much is kept here that 16 places wait for none. Jumps back cost no more in straight
#: loops of up to 16 KiB (``icache.loop.N``).
KEPT_LINES, LINE_WAIT, LINE_MOST, LINES_BEHIND = 88, 2.2, 35.0, 3
#: Cycles in which an instruction can read its registers behind one of the same warp: the rows ``FFMA.banks.*``.
READ_WINDOW = 2.0
#: A turn: the number of the block, the cycle in which the warp issued last and a lot below ``LOTS``, the number of the
#: warp in its block. The other two mix cycle and warp.
TURN_BLOCK, TURN_CYCLE = float(1 << 36), 32.0
LOT_CYCLE, LOT_WARP, LOTS = 40503.0, 30011.0, 32.0

_FMA, _HEAVY, _ALU, _MIO_PIPE, _LG_PIPE = (int(p) for p in (Pipe.FMA, Pipe.FMA_HEAVY, Pipe.ALU, Pipe.MIO, Pipe.LG))
_LAST_WITH_BANKS = int(LAST_WITH_BANKS)
_CONSTANT, _BRANCH_PIPE, _XU = int(Pipe.CONSTANT), int(Pipe.BRANCH), int(Pipe.XU)
_FIXED, _EXIT, _MEMORY, _VARIABLE, _MBARRIER, _FENCE, _COMMIT, _DEPBAR, _BARRIER, _ARRIVE, _BULK = (
    int(a)
    for a in (
        Action.FIXED, Action.EXIT, Action.MEMORY, Action.VARIABLE, Action.MBARRIER, Action.FENCE, Action.COMMIT,
        Action.DEPBAR, Action.BARRIER, Action.ARRIVE, Action.BULK,
    )
)  # fmt: skip
_SHARED = 1
#: The memory of a request that this loop does not know the time of.
OUTSIDE = -1
_PER_LINE = PER_LINE


# Which cycles a pipe refuses a warp follows from when the pipe is free. So they are not counted warp by warp, but by
# pipe, and only when something goes into the pipe; a warp remembers how many they were when it became ready. Register
# banks refuse single warps, whose cycles are counted one by one.


def _refuses_until(ints: Int64s, floats: Floats, s: int, pipe: int) -> int:
    """``UNTIL``: the cycle from which on a pipe of a scheduler takes an instruction."""
    free = FREE + s * PIPES
    floats[UNTIL] = floats[free + pipe]
    if pipe in (_MIO_PIPE, _LG_PIPE):
        entry = 4 * (pipe - _MIO_PIPE) + s
        place = ints[ENTRIES] + QUEUE_ROOM * entry + ints[ENTRY + entry]
        floats[UNTIL] = max(floats[free + _MIO_PIPE], floats[place])
    elif pipe == _FMA:
        floats[UNTIL] = min(floats[free + _FMA], floats[free + _HEAVY])
    return 0


def _refused_before(ints: Int64s, floats: Floats, s: int, pipe: int, t: float) -> int:
    """``COUNTED``: the cycles before t in which a pipe took nothing. Nothing has gone into it since then."""
    row = ints[REFUSALS] + REFUSAL * (s * PIPES + pipe)
    _refuses_until(ints, floats, s, pipe)
    floats[COUNTED] = floats[row] + max(0.0, min(ceil(floats[UNTIL]), t) - floats[row + 1])
    return 0


def _settle(ints: Int64s, floats: Floats, s: int, pipe: int, t: float) -> int:
    """Count the cycles up to t, before something goes into a pipe."""
    row = ints[REFUSALS] + REFUSAL * (s * PIPES + pipe)
    _refuses_until(ints, floats, s, pipe)
    end = min(ceil(floats[UNTIL]), t + 1)
    if end > floats[row + 1]:
        floats[row] += end - floats[row + 1]
        floats[row + 2] = end - 1
    floats[row + 1] = max(floats[row + 1], t + 1)
    return 0


def _enter(ints: Int64s, floats: Floats, code: Int32s, s: int, w: int, since: float) -> int:
    """Put a warp that is ready since a cycle into its place, by its turn, with the pipe of its next instruction."""
    pool, turns, k = ints[POOL] + s * ints[SPACING], ints[TURNS], ints[POOLED + s]
    pipe = ints[ints[ROWS] + ROW * code[ints[ints[POSITIONS] + w]] + 1]
    _refused_before(ints, floats, s, pipe, since)
    floats[ints[ENTERED] + w] = floats[COUNTED]
    while k > 0 and floats[turns + (ints[pool + k - 1] >> PIPE_BITS)] > floats[turns + w]:
        ints[pool + k] = ints[pool + k - 1]
        k -= 1
    ints[pool + k] = w << PIPE_BITS | pipe
    ints[POOLED + s] += 1
    return 0


def wait(ints: Int64s, floats: Floats, s: int, w: int) -> int:
    """Put a warp among those that will be ready."""
    ints[ints[QUEUE] + s * ints[SPACING] + ints[QUEUED + s]] = w
    ints[QUEUED + s] += 1
    floats[SOONEST + s] = min(floats[SOONEST + s], floats[ints[READY] + w])
    return 0


def _note(ints: Int64s, floats: Floats, w: int, state: int, index: int, start: float, stop: float) -> int:
    """An entry of the journal about a warp."""
    at = ints[NOTES] + 5 * ints[WRITTEN]
    floats[at] = w
    floats[at + 1] = state
    floats[at + 2] = index
    floats[at + 3] = start
    floats[at + 4] = stop
    ints[WRITTEN] += 1
    return 0


def wake(ints: Int64s, floats: Floats, w: int, at: float) -> int:
    """Put a warp that is ready at a cycle in the queue of its scheduler."""
    s = ints[ints[SCHEDULERS] + w]
    floats[ints[READY] + w] = ceil(at)
    wait(ints, floats, s, w)
    floats[NOW + s] = min(floats[NOW + s], floats[ints[READY] + w])
    return 0


def _spend(ints: Int64s, floats: Floats, code: Int32s, w: int, reason: int, until: float) -> int:
    """A warp that is not ready before that cycle waits to issue its next instruction."""
    ready, index = ints[READY] + w, code[ints[ints[POSITIONS] + w]]
    if until > floats[ready]:
        floats[ints[STATES] + reason * ints[LENGTH] + index] += until - floats[ready]
        if ints[JOURNAL]:
            _note(ints, floats, w, reason, index, floats[ready], until)
        floats[ready] = until
    return 0


@out_of_line
def _release(ints: Int64s, floats: Floats, code: Int32s, block: int, barrier: int) -> int:
    """Let the warps of a barrier go on if all have arrived: one after the other."""
    row, alive = ints[BARRIERS] + BARRIER_ROW * (OF_BLOCK * block + barrier), ints[ints[ALIVE] + block]
    if alive == 0 or ints[row + 1] < (alive if ints[row + 2] == 0 else ints[row + 2]):
        return 0
    latest, of_cluster = ints[LATEST] + OF_BLOCK * block + barrier, barrier == CLUSTER
    latency = floats[CLUSTER_LATENCY] if of_cluster else floats[BARRIER_LATENCY]
    at = max(floats[latest] + latency, floats[BARRIER_FREE])
    floats[latest] = 0.0
    if of_cluster:
        ints[ints[OPENINGS] + block] += 1
        floats[ints[OPENED] + block] = at
    one, turn = ints[row + 3], 0
    ints[row + 1], ints[row + 3], ints[row + 4] = 0, 0, 0
    while one > 0:
        w = one - 1
        one = ints[ints[FOLLOWING] + w]
        _spend(ints, floats, code, w, BARRIER, ceil(at + turn * floats[STAGGER]))
        wake(ints, floats, w, floats[ints[READY] + w])
        turn += 1
    spent = turn * floats[STAGGER]
    if of_cluster:  # it takes arrivals, too, and a message
        spent = max(floats[MESSAGE], 2 * alive * floats[STAGGER])
    floats[BARRIER_FREE] = at + spent
    return 0


def _stay(ints: Int64s, row: int, w: int) -> int:
    """A warp waits behind all others at the barrier of a row."""
    last = ints[row + 4]
    if last > 0:
        ints[ints[FOLLOWING] + last - 1] = w + 1
    else:
        ints[row + 3] = w + 1
    ints[row + 4] = w + 1
    ints[ints[FOLLOWING] + w] = 0
    return 0


@out_of_line
def _arrive(ints: Int64s, floats: Floats, code: Int32s, w: int, at: float, index: int, waits: int) -> int:
    """A warp arrives at a barrier of its block or cluster; it could go on without when it is ready.

    The other blocks of a cluster are on other SMs: they come when this one does. A warp arrives at their barrier first,
    and then waits until all of its block have arrived.
    """
    block, ready = ints[ints[BLOCK_OF] + w], ints[READY] + w
    barrier, warps = ints[ints[ROWS] + ROW * index + 7], ints[ints[ROWS] + ROW * index + 8]
    if barrier == CLUSTER:
        if waits:
            if ints[ints[OPENINGS] + block] < ints[ints[CAME] + w]:
                _stay(ints, ints[BARRIERS] + BARRIER_ROW * (OF_BLOCK * block + barrier), w)
            else:
                _spend(ints, floats, code, w, BARRIER, ceil(floats[ints[OPENED] + block]))
                wake(ints, floats, w, max(at, floats[ready]))
            return 0
        ints[ints[CAME] + w] += 1
    elif barrier == IN_REGISTER:
        operand = ints[ints[OPERANDS] + ints[ints[NEXT_OPERAND] + w]]
        ints[ints[NEXT_OPERAND] + w] += 1
        if operand < 0:  # the guard was off
            if waits:
                wake(ints, floats, w, at)
            return 0
        barrier = operand & 15
        if warps == 0:
            warps = (operand >> 16 & 0xFFF) // 32
    row, latest = ints[BARRIERS] + BARRIER_ROW * (OF_BLOCK * block + barrier), ints[LATEST] + OF_BLOCK * block + barrier
    if ints[row] == 0:
        ints[row] = 1
        ints[ints[USED] + OF_BLOCK * block + ints[ints[KNOWN] + block]] = barrier
        ints[ints[KNOWN] + block] += 1
    ints[row + 1] += 1
    ints[row + 2] = warps
    floats[latest] = max(floats[latest], at)
    if waits:
        _stay(ints, row, w)
    _release(ints, floats, code, block, barrier)
    return 0


@out_of_line
def _end_warp(ints: Int64s, floats: Floats, code: Int32s, m: Int64s, w: int, at: float) -> int:
    """A warp has come to its end; perhaps its block, too: then another one takes its place. Where what a warp does
    further is not known, all ends here."""
    if ints[ints[CUT] + w]:
        ints[BUDGET] = -1
        return 0
    block = ints[ints[BLOCK_OF] + w]
    ints[ints[ALIVE] + block] -= 1
    ints[RESIDENT + ints[ints[SCHEDULERS] + w]] -= 1
    for k in range(ints[ints[KNOWN] + block]):
        _release(ints, floats, code, block, ints[ints[USED] + OF_BLOCK * block + k])
    if ints[ints[ALIVE] + block] == 0:
        floats[ints[FINISHES] + ints[ENDED]] = at
        ints[ENDED] += 1
        if ints[MEMORY]:
            m[SEEN_NOW] += m[REGIONS] + 1
        following = ints[BEGUN] + ints[DUE]
        if following < ints[BLOCKS]:
            start = max(at + floats[ints[TURNAROUNDS] + following], floats[LAST_START] + floats[INTERVAL])
            floats[LAST_START] = start
            floats[ints[BEGINS] + following] = start
            ints[DUE] += 1
    return 0


@out_of_line
def _begin_block(ints: Int64s, floats: Floats, code: Int32s, m: Int64s) -> int:
    """The next block begins. Its warps take their places in a row, and a scheduler has every fourth one: it has a warp
    more at most. They are ready when their code and constants are there."""
    block, s = ints[BEGUN], 0
    at, first, last = floats[ints[BEGINS] + block], ints[ints[FIRST_WARPS] + block], ints[ints[FIRST_WARPS] + block + 1]
    ints[BEGUN] += 1
    ints[DUE] -= 1
    for k in range(1, 4):
        if ints[RESIDENT + k] < ints[RESIDENT + s]:
            s = k
    for w in range(first, last):
        scheduler = (s + w - first) % 4
        ints[ints[SCHEDULERS] + w] = scheduler
        ints[RESIDENT + scheduler] += 1
        floats[ints[FIRSTS] + w] = (block + 1) * TURN_BLOCK + (w - first)
        floats[ints[TURNS] + w] = floats[ints[FIRSTS] + w]
        floats[ints[READY] + w] = at + (w - first)
        if ints[ints[POSITIONS] + w] == ints[ints[ENDS] + w]:
            _end_warp(ints, floats, code, m, w, at)
        else:
            if ints[KEPT] == 0:
                line = code[ints[ints[POSITIONS] + w]] >> _PER_LINE
                fetch(ints, floats, ints[CODE], ints[CODE_TIMES], line, floats[ints[READY] + w])
                _spend(ints, floats, code, w, NO_INSTRUCTION, floats[ints[CODE_TIMES] + CODE_THERE])
            row = ints[ROWS] + ROW * code[ints[ints[POSITIONS] + w]]
            if ints[row + 6] >= 0 and ints[row + 1] != _CONSTANT:
                constant = ints[CONSTANTS] + ints[row + 6]
                if floats[constant] < 0:
                    floats[constant] = floats[ints[READY] + w] + floats[CONSTANT_MISS]
                _spend(ints, floats, code, w, IMC_MISS, floats[constant])
            wake(ints, floats, w, floats[ints[READY] + w])
    return 0


def _fence(
    ints: Int64s, floats: Floats, m: Int64s, f: Floats, s: int, w: int, index: int, t: float
) -> int:  # fmt: skip
    """A warp cannot go on before its fence is done, of the block or of the whole GPU."""
    row, block, others = ints[ROWS] + ROW * index, ints[ints[BLOCK_OF] + w], 0.0
    floats[FREE + PIPES * s + _MIO_PIPE] = t + floats[MIO_INTERVAL]
    hold = t + f[MEMBAR_CTA]
    if ints[row + 9] == 0 or ints[row + 7]:
        if m[LOADS_OF_OTHERS]:
            for other in range(ints[BEGUN]):
                if other != block and ints[ints[ALIVE] + other] > 0:
                    others = max(others, f[m[LOADING_OF] + other])
        fence(m, f, t, w, others)
        hold = f[REQUEST_DONE]
    floats[HOLD] = hold
    ints[HELD] = MEMBAR
    for k in range(4, 6):
        if ints[row + k] >= 0:
            floats[ints[RELEASE] + 6 * w + ints[row + k]] = hold
            ints[ints[SETTERS] + 6 * w + ints[row + k]] = index
    return 0


def _commit(ints: Int64s, floats: Floats, m: Int64s, f: Floats, w: int, index: int) -> int:
    """A warp makes a group of its asynchronous copies: it is there when the last of them is."""
    copies, depth, commits = f[m[WARP_COPIES] + w], ints[DEPTH], ints[COMMITS] + w
    floats[ints[GROUPS] + depth * w + ints[commits] % depth] = copies
    ints[commits] += 1
    write = ints[ints[ROWS] + ROW * index + 4]
    if write >= 0 and copies > floats[ints[RELEASE] + 6 * w + write]:
        floats[ints[RELEASE] + 6 * w + write] = copies
        ints[ints[SETTERS] + 6 * w + write] = index
    return 0


def issue(ints: Int64s, floats: Floats, code: Int32s, splits: Bytes, m: Int64s, f: Floats) -> int:
    """Go on until something is wanted, or all is done. code, splits: of all warps, one behind the other; a split is a
    branch at which lanes part. m, f: the memory system, where ``MEMORY`` says so."""
    rows, figures, n, states = ints[ROWS], ints[FIGURES], ints[LENGTH], ints[STATES]
    positions, setters, asks = ints[POSITIONS], ints[SETTERS], ints[REQUESTS]
    readies, release, constants = ints[READY], ints[RELEASE], ints[CONSTANTS]
    refused_last, refused_by_banks = ints[REFUSED_LAST], ints[REFUSED]
    phase, s, g, w, index, issued = (
        ints[PHASE],
        ints[SCHEDULER],
        ints[GREEDY_NOW],
        ints[WARP],
        ints[INDEX],
        ints[ISSUED],
    )
    journal = ints[JOURNAL]
    t, limit, ready = floats[T], floats[LIMIT], floats[READY_NOW]
    begin, drained, done = floats[BEGIN], floats[DRAINED], floats[DONE]
    answer = -1
    while answer < 0:
        if phase == START:
            while ints[DUE] > 0:
                _begin_block(ints, floats, code, m)
            phase = ints[BEHIND]
            continue
        if phase == CHOOSE:  # the scheduler whose clock is the earliest
            t = floats[NOW]
            s = 0
            for k in range(1, 4):
                if floats[NOW + k] < t:
                    t = floats[NOW + k]
                    s = k
            if t == INFINITE or issued > ints[BUDGET]:
                answer = FINISHED
                continue
            g = ints[GREEDY + s]
            floats[NOW + s] = INFINITE
            limit = min(min(floats[NOW], floats[NOW + 1]), min(floats[NOW + 2], floats[NOW + 3])) + RUN_AHEAD
            phase = CYCLE
        free, pool = FREE + s * PIPES, ints[POOL] + s * ints[SPACING]
        if phase == CYCLE:
            if ints[LOGGED] > MOST_WAITS - MARGIN or ints[WRITTEN] > MOST_NOTES - MARGIN:
                answer = FLUSH
                continue
            chosen, place, later, even_free, odd_free = -1, -1, INFINITE, floats[BANK + 2 * s], floats[BANK + 2 * s + 1]
            if t <= limit:
                if floats[SOONEST + s] <= t:
                    least = INFINITE
                    queue, count, k = ints[QUEUE] + s * ints[SPACING], ints[QUEUED + s], 0
                    while k < count:
                        one = ints[queue + k]
                        at = floats[readies + one]
                        if at <= t:
                            count -= 1
                            ints[queue + k] = ints[queue + count]
                            _enter(ints, floats, code, s, one, t)
                        else:
                            least = min(least, at)
                            k += 1
                    ints[QUEUED + s] = count
                    floats[SOONEST + s] = least
                # Whose turn it is: the last one's, else the oldest block's. Of pipes only those are looked at that are
                # asked for, and of warps only those up to the chosen one; where a bank is taken, all of them.
                count, k, known, refusing = ints[POOLED + s], 0, 0, 0
                banks = even_free > t or odd_free > t
                if g >= 0:
                    if floats[readies + g] <= t:
                        k = -1
                    else:
                        later = floats[readies + g]
                while k < count and (chosen < 0 or banks):
                    if k < 0:
                        one, pipe = g, ints[rows + ROW * code[ints[positions + g]] + 1]
                    else:
                        one, pipe = ints[pool + k] >> PIPE_BITS, ints[pool + k] & PIPE_MASK
                    bit = 1 << pipe
                    of_banks = banks and pipe > 0 and pipe <= _LAST_WITH_BANKS
                    if known & bit == 0:
                        known |= bit
                        _refuses_until(ints, floats, s, pipe)
                        if floats[UNTIL] > t:
                            refusing |= bit
                            if not of_banks:
                                later = min(later, floats[UNTIL])
                    if of_banks:
                        _refuses_until(ints, floats, s, pipe)
                        at, of_pipe = floats[UNTIL], floats[UNTIL]
                        bank = figures + FIGURE * code[ints[positions + one]]
                        bank += 4 if one == ints[LAST + s] else 2
                        reading = max(floats[bank], floats[bank + 1])
                        if one == ints[LAST + s]:
                            reading = max(reading, READ_WINDOW)
                        if floats[bank] > 0:
                            at = max(at, even_free + floats[bank] - reading)
                        if floats[bank + 1] > 0:
                            at = max(at, odd_free + floats[bank + 1] - reading)
                        if at > t:
                            later = min(later, at)
                            if at > of_pipe:
                                floats[refused_last + one] = t
                                if of_pipe <= t:
                                    floats[refused_by_banks + one] += 1.0
                        elif chosen < 0:
                            chosen = one
                            place = k
                    elif chosen < 0 and refusing & bit == 0:
                        chosen = one
                        place = k
                    k += 1
                if chosen < 0:
                    later = min(later, floats[SOONEST + s])
                    if later < INFINITE:
                        before = t
                        t = ceil(later)
                        if banks:  # what they refuse, they refuse until then
                            for k in range(-1, count):
                                one = ints[pool + max(k, 0)] >> PIPE_BITS if k >= 0 else g
                                if one >= 0 and floats[refused_last + one] == before:
                                    _refuses_until(ints, floats, s, ints[rows + ROW * code[ints[positions + one]] + 1])
                                    of_pipe = ceil(floats[UNTIL])
                                    floats[refused_by_banks + one] += max(0.0, t - max(before + 1, of_pipe))
                                    floats[refused_last + one] = t - 1
                        continue
                    t = INFINITE
            if chosen < 0:  # nothing more for this scheduler now
                floats[NOW + s] = min(floats[NOW + s], t)
                if floats[NOW + s] == INFINITE and g >= 0:
                    floats[NOW + s] = floats[readies + g]
                ints[GREEDY + s] = g
                phase = CHOOSE
                if issued // PROGRESS_EVERY > ints[MARK]:
                    answer = PROGRESS
                continue
            w = chosen
            ints[WARP] = w
            index = code[ints[positions + w]]
            row, figure = rows + ROW * index, figures + FIGURE * index
            action, pipe, interval = ints[row], ints[row + 1], floats[figure]
            before = floats[readies + w]
            if t > before:
                # Cycles in which its pipe or its banks did not take it; in the others another warp was chosen.
                if w == g:
                    _refused_before(ints, floats, s, pipe, before)
                    floats[ints[ENTERED] + w] = floats[COUNTED]
                _refused_before(ints, floats, s, pipe, t)
                refused = floats[COUNTED] - floats[ints[ENTERED] + w] + floats[refused_by_banks + w]
                refused = min(refused, t - before)
                last, refusal = min(ceil(floats[UNTIL]), t), ints[REFUSALS] + REFUSAL * (s * PIPES + pipe)
                last = last - 1 if last > floats[refusal + 1] else floats[refusal + 2]
                reason = MATH
                if floats[refused_last + w] >= last:
                    reason = DISPATCH
                elif pipe in (_MIO_PIPE, _XU, _CONSTANT):  # these wait in the queue of the load and store unit
                    reason = MIO
                elif pipe == _LG_PIPE:
                    reason = LG
                floats[states + NOT_SELECTED * n + index] += t - before - refused
                floats[states + reason * n + index] += refused
                if journal and t - before > refused:
                    _note(ints, floats, w, NOT_SELECTED, index, before, t - refused)
                if journal and refused > 0:
                    _note(ints, floats, w, reason, index, t - refused, t)
            floats[refused_by_banks + w] = 0.0
            floats[refused_last + w] = -1.0
            if w != g:
                count = ints[POOLED + s] - 1
                ints[POOLED + s] = count
                for k in range(place, count):
                    ints[pool + k] = ints[pool + k + 1]
                if g >= 0:
                    if floats[readies + g] <= t:
                        _enter(ints, floats, code, s, g, floats[readies + g])
                    else:
                        wait(ints, floats, s, g)
                g = w
            # Issue.
            floats[states + SELECTED * n + index] += 1
            issued += 1
            lot = LOT_CYCLE * t + LOT_WARP * w
            floats[ints[TURNS] + w] = floats[ints[FIRSTS] + w] + TURN_CYCLE * (t + LOTS * ceil(lot / LOTS) - lot)
            if journal:
                _note(ints, floats, w, SELECTED, index, t, t + 1)
            _settle(ints, floats, s, pipe, t)
            if pipe in (_FMA, _HEAVY):
                _settle(ints, floats, s, _FMA + _HEAVY - pipe, t)
            elif pipe in (_MIO_PIPE, _LG_PIPE):
                _settle(ints, floats, s, _MIO_PIPE + _LG_PIPE - pipe, t)
            if pipe <= _LAST_WITH_BANKS:
                if pipe == _FMA and interval > 1:  # both halves of the pipe, one after the other if one is taken
                    floats[free + _FMA] = max(t, floats[free + _FMA]) + interval
                    floats[free + _HEAVY] = max(t, floats[free + _HEAVY]) + interval
                    floats[BUSY + _FMA] += interval
                elif pipe == _FMA:
                    half = _FMA if floats[free + _FMA] <= floats[free + _HEAVY] else _HEAVY
                    floats[free + half] = max(t, floats[free + half]) + 2 * interval
                    floats[BUSY + _FMA] += interval
                elif pipe > 0:
                    at = floats[free + pipe]
                    # An instruction that comes a cycle late is made up for, but not in the integer pipe.
                    late = 0 if pipe == _ALU else 1
                    floats[free + pipe] = (t if t - at > late else max(at, t - late)) + interval
                    floats[BUSY + pipe] += interval
                if floats[figure + 6] > 0:
                    _settle(ints, floats, s, _ALU, t)
                    floats[free + _ALU] = max(t, floats[free + _ALU]) + floats[figure + 6]
                    floats[BUSY + _ALU] += floats[figure + 6]
                bank = figure + (4 if w == ints[LAST + s] else 2)
                if floats[bank] > 0:
                    floats[BANK + 2 * s] = max(t, even_free) + floats[bank]
                if floats[bank + 1] > 0:
                    floats[BANK + 2 * s + 1] = max(t, odd_free) + floats[bank + 1]
            ints[LAST + s] = w
            phase = NEXT
            if action in (_FIXED, _EXIT):
                if pipe > _LAST_WITH_BANKS:
                    floats[free + pipe] = t + interval
                    floats[BUSY + pipe] += interval
            elif action in (_MEMORY, _VARIABLE, _MBARRIER, _BULK):
                phase = ANSWERED
                latency, ask, position = floats[figure + 1], ints[asks + w], ints[positions + w]
                asked, last_ask = ints[ASKED] + 3 * ask, ints[ints[REQUEST_ENDS] + w]
                found = ask < last_ask and ints[asked] == position
                if pipe in (_MIO_PIPE, _LG_PIPE):
                    floats[free + _MIO_PIPE] = t + floats[MIO_INTERVAL]
                    begin = max(t, floats[LSU_FREE])
                    if action in (_MBARRIER, _BULK):
                        answer = REQUEST
                    elif found == 0:
                        floats[LSU_FREE] = begin + interval
                        floats[LSU_BUSY] += interval
                        drained = begin + interval + 4
                        done = begin + latency
                    elif ints[asked + 1] != _SHARED or (ask + 1 < last_ask and ints[asked + 3] == position):
                        answer = REQUEST
                    else:
                        # The unit does two of them at the same time, each in turn pass by pass, but one per warp.
                        cycles = 1.0 * max(1, ints[asked + 2])
                        floats[LSU_FREE] = begin + cycles
                        floats[LSU_BUSY] += cycles
                        floats[SHARED_BUSY] += cycles
                        begin = max(begin, floats[ints[TAKEN] + w])
                        floats[ints[TAKEN] + w] = begin + 2 * cycles
                        drained = begin + cycles + floats[SOURCES]
                        done = begin + 2 * (cycles - 1) + latency
                        ints[asks + w] = ask + 1
                    if answer == REQUEST and ints[MEMORY]:
                        count = 1
                        while ask + count < last_ask and ints[asked + 3 * count] == position:
                            count += 1
                        m[OWNER], m[OWNERS_SCHEDULER] = w, s
                        f[UNIT_FREE], f[UNIT_BUSY], f[UNIT_SHARED_BUSY] = (
                            floats[LSU_FREE],
                            floats[LSU_BUSY],
                            floats[SHARED_BUSY],
                        )
                        serve(m, f, t, latency, ask, count)
                        begin, drained, done = f[REQUEST_BEGIN], f[REQUEST_DRAINED], f[REQUEST_DONE]
                        floats[LSU_FREE], floats[LSU_BUSY], floats[SHARED_BUSY] = (
                            f[UNIT_FREE],
                            f[UNIT_BUSY],
                            f[UNIT_SHARED_BUSY],
                        )
                        ints[asks + w] = ask + count
                        ints[BUDGET] -= ANSWER
                        answer = -1
                else:
                    if pipe > _LAST_WITH_BANKS:
                        floats[free + pipe] = t + interval
                        floats[BUSY + pipe] += interval
                    drained = t + interval + 2
                    done = t + latency
                    if pipe == _CONSTANT:
                        constant = ints[row + 6]
                        if found:
                            answer = REQUEST
                        elif constant >= 0:
                            if floats[constants + constant] < 0:
                                floats[constants + constant] = t + floats[CONSTANT_MISS]
                            done = max(t, floats[constants + constant]) + latency
                if answer >= 0:
                    continue
            elif action in (_FENCE, _COMMIT):
                if action == _FENCE:  # it takes the load and store unit's place
                    _settle(ints, floats, s, _MIO_PIPE, t)
                    _settle(ints, floats, s, _LG_PIPE, t)
                if ints[MEMORY]:
                    ints[BUDGET] -= ANSWER
                    if action == _FENCE:
                        _fence(ints, floats, m, f, s, w, index, t)
                    else:
                        _commit(ints, floats, m, f, w, index)
                else:
                    answer = FENCE if action == _FENCE else COMMIT
                    continue
        row, figure = rows + ROW * index, figures + FIGURE * index
        action, pipe = ints[row], ints[row + 1]
        if phase == ANSWERED:  # what the load and store unit or another unit has taken
            if pipe in (_MIO_PIPE, _LG_PIPE):
                entry = 4 * (pipe - _MIO_PIPE) + s
                first = ints[ENTRIES] + QUEUE_ROOM * entry
                floats[first + ints[ENTRY + entry]] = begin
                ints[ENTRY + entry] = (ints[ENTRY + entry] + 1) % ints[QUEUE_LENGTHS + pipe - _MIO_PIPE]
            if ints[row + 4] >= 0 and done > floats[release + 6 * w + ints[row + 4]]:
                floats[release + 6 * w + ints[row + 4]] = done
                ints[setters + 6 * w + ints[row + 4]] = index
            if ints[row + 5] >= 0 and drained > floats[release + 6 * w + ints[row + 5]]:
                floats[release + 6 * w + ints[row + 5]] = drained
                ints[setters + 6 * w + ints[row + 5]] = index
            phase = NEXT
        if phase == NEXT:  # the next instruction: when it is ready, and what it waits for until then
            position = ints[positions + w] + 1
            ints[positions + w] = position
            if position == ints[ints[ENDS] + w]:
                g = -1
                ints[LAST + s] = -1
                ints[GREEDY + s] = -1
                floats[NOW + s] = t + 1
                ints[BUDGET] -= ANSWER
                if action == _ARRIVE:
                    _arrive(ints, floats, code, w, t, index, 0)
                floats[WARP_CYCLES] += t + 1
                _end_warp(ints, floats, code, m, w, t + 1)
                phase = START
                ints[BEHIND] = RESUME
                continue
            coming, stall = code[position], ints[row + 2]
            ahead = rows + ROW * coming
            ready = t + stall
            floats[states + WAIT * n + coming] += stall - 1
            if pipe == _BRANCH_PIPE or coming != index + 1:
                at = ready
                if coming != index + 1 or ints[row + 9]:
                    at = t + (floats[figure + 1] if pipe == _BRANCH_PIPE else floats[BRANCH_TAKEN])
                if splits[position - 1]:
                    at = max(at, ready) + floats[DIVERGENCE - 1 + splits[position - 1]]
                if at > ready:
                    at = ceil(at)
                    floats[states + BRANCH * n + coming] += at - ready
                    if journal:
                        _note(ints, floats, w, BRANCH, coming, ready, at)
                    ready = at
            if floats[HOLD] > ready:
                floats[states + ints[HELD] * n + coming] += floats[HOLD] - ready
                if journal:
                    _note(ints, floats, w, ints[HELD], coming, ready, floats[HOLD])
                ready = floats[HOLD]
            floats[HOLD] = 0.0
            asked_for = ready
            worst, setter, number, waits = ready, -1, 0, ints[ahead + 3]
            while waits > 0:
                if waits & 1 and floats[release + 6 * w + number] > worst:
                    worst = floats[release + 6 * w + number]
                    setter = ints[setters + 6 * w + number]
                waits >>= 1
                number += 1
            if ints[ahead] == _DEPBAR:
                number, count, groups = ints[ahead + 7], ints[ahead + 8], ints[ints[COMMITS] + w]
                if count > 0:
                    depth = ints[DEPTH]
                    at = (
                        floats[ints[GROUPS] + depth * w + (groups + depth - 1 - count) % depth]
                        if groups > count
                        else 0.0
                    )
                else:
                    at = floats[release + 6 * w + number]
                if at > worst:
                    worst = at
                    setter = ints[setters + 6 * w + number]
            if setter >= 0:
                worst = ceil(worst)
                of_setter = rows + ROW * setter
                # A commit and an mbarrier stand for the copies before them, which come from global memory.
                long = ints[of_setter + 1] == _LG_PIPE or ints[of_setter] in (_COMMIT, _MBARRIER)
                reason = LONG if long else SHORT
                floats[states + reason * n + coming] += worst - ready
                if journal:
                    _note(ints, floats, w, reason, coming, ready, worst)
                wait_row = ints[ints[LAST_WAITS] + coming]
                while wait_row >= 0 and ints[ints[WAITS] + WAIT_ROW * wait_row + 1] != setter:
                    wait_row = ints[ints[WAITS] + WAIT_ROW * wait_row + 2]
                if wait_row < 0:
                    wait_row = ints[LOGGED]
                    at_wait = ints[WAITS] + WAIT_ROW * wait_row
                    ints[at_wait], ints[at_wait + 1], ints[at_wait + 2] = (
                        coming,
                        setter,
                        ints[ints[LAST_WAITS] + coming],
                    )
                    ints[ints[LAST_WAITS] + coming] = wait_row
                    floats[ints[WAITED] + wait_row] = 0.0
                    ints[LOGGED] += 1
                floats[ints[WAITED] + wait_row] += worst - ready
                ready = worst
            jumped = (coming >> _PER_LINE) - (index >> _PER_LINE)
            if jumped != 0:
                if ints[KEPT]:
                    line = s * ((n >> _PER_LINE) + 1) + (coming >> _PER_LINE)
                    if ints[ints[LINES] + line] == 0 or ints[BROUGHT + s] - ints[ints[LINES] + line] >= KEPT_LINES:
                        ints[BROUGHT + s] += 1
                        floats[ints[THERE] + line] = 0.0
                        if jumped > 0 and coming != index + 1:
                            ints[BROUGHT + s] += min(LINES_BEHIND, jumped - 1)
                            if ints[ints[LINES] + line] > 0:  # else it is there from the launch before
                                floats[ints[THERE] + line] = asked_for + min(LINE_MOST, LINE_WAIT * jumped)
                        ints[ints[LINES] + line] = ints[BROUGHT + s]
                    there = ceil(floats[ints[THERE] + line])
                else:
                    fetch(ints, floats, ints[CODE], ints[CODE_TIMES], coming >> _PER_LINE, t)
                    there = floats[ints[CODE_TIMES] + CODE_THERE]
                    ints[BUDGET] -= ANSWER
                if there > ready:
                    floats[states + NO_INSTRUCTION * n + coming] += there - ready
                    if journal:
                        _note(ints, floats, w, NO_INSTRUCTION, coming, ready, there)
                    ready = there
            constant = ints[ahead + 6]
            if constant >= 0 and ints[ahead + 1] != _CONSTANT:
                if floats[constants + constant] < 0:
                    floats[constants + constant] = ready + floats[CONSTANT_MISS]
                there = floats[constants + constant]
                if there > ready:
                    floats[states + IMC_MISS * n + coming] += there - ready
                    if journal:
                        _note(ints, floats, w, IMC_MISS, coming, ready, there)
                    ready = there
            ready = ceil(ready)
            floats[readies + w] = ready
            phase = CYCLE
            if action in (_BARRIER, _ARRIVE):
                phase = RESUME
                ints[BUDGET] -= ANSWER
                if action == _BARRIER:
                    g = -1
                _arrive(ints, floats, code, w, t, index, action == _BARRIER)
            else:
                t += 1
        if phase == RESUME:  # others may run now
            limit = min(
                limit, min(min(floats[NOW], floats[NOW + 1]), min(floats[NOW + 2], floats[NOW + 3])) + RUN_AHEAD
            )
            t += 1
            phase = CYCLE
    ints[PHASE] = phase
    ints[SCHEDULER] = s
    ints[GREEDY_NOW] = g
    ints[INDEX] = index
    ints[ISSUED] = issued
    floats[T] = t
    floats[LIMIT] = limit
    floats[READY_NOW] = ready
    return answer
