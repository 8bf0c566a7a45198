"""An access to global memory, for the search for races, as one compiled function.

It finds out whether all lanes are in the array, makes the fence of a release, passes on what lanes publish and learn,
looks for races and records the access. In pieces, each of these is a call of its own, and with few lanes the calls take
most of the time. What stays the same from one access of an instruction to the next is in a frame, which is made once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from softlab.emulator.lanes import WARP
from softlab.emulator.machine.native_python import CompiledFunction, Int64s
from softlab.instruments.blind_atomics import BlindAtomics, record
from softlab.instruments.global_shadow import IN_BLOCK, TIME_SHIFT, GlobalShadow
from softlab.instruments.happens_before import HappensBefore
from softlab.instruments.known_steps import (
    EXCHANGE,
    FENCE,
    FENCE_FIRST,
    OF_BYTES,
    READ,
    REMEMBER,
    RISING,
    ROWS,
    TO_ALL,
    WRITE,
    step,
)
from softlab.instruments.native_global import NO_ROOM, OTHER_READS, SHARED_CELLS, UNKNOWN, access, are_rows
from softlab.instruments.node_layout import HAS_FAR, LANES_SHARE, THREADS

# Items of a frame: where the function goes on, and where it stops; the place of the places of the array's shadow;
# addresses of the array; cells and words of a lane, and bits of an address within a cell; flags of stamps; what the
# instruction does, and whether others than its block learn of it; places of the tables of blind atomics, 0 for none;
# the place of what all frames share; whether the lanes of the present access are as ``are_rows`` says.
(
    STAGE, AT, UNTIL, SHADOW, BASE, END, CELLS, WORDS, ORIGIN, SHIFT, FLAGS, STORES, OPERATES, RELEASES, IS_STRONG,
    TO_OTHERS, BLIND, BLIND_OTHER, COMMON, IN_ROWS, FRAME,
) = range(21)  # fmt: skip
# Items of the places of a shadow.
WRITTEN, HAS_READ, OTHER_READ, HAS = range(4)
# What all frames share: how many orders there are; whether reads of words are remembered, and whether NumPy looks for
# races; when the batch began; places of memory for one access; of each order the places of three tables.
ORDERS, REMEMBERS, APART, BEGIN, ROOM = range(5)
ROOMS = 5
TABLES = ROOM + ROOMS
NEAR, FAR, ARENA, TABLES_OF_ORDER = range(4)
#: Stages: of fences, of what comes before the search, and of what comes after it, there is one per order.
FENCES, BEFORE, SEARCH, AFTER, DONE = 0, 2, 4, 5, 7
#: What the function says: all is done; lanes are outside of the array, and nothing is done; NumPy must look for races,
#: or at lanes that write one cell; the order of the stage, or one of them, has no more room; the order of the stage
#: before must be told of lanes of a warp that share a word.
ALL_DONE, OUTSIDE, LOOK, LOST, FULL, ALL_FULL, LANES_FOLLOW = range(7)
#: That of all accesses, and that of reads with later writes.
_MOST_ORDERS = 2
#: Where a stage's operation is beside its flags.
_OPERATIONS = 16


def are_inside(addresses: Int64s, count: int, first: int, end: int, in_rows: int) -> int:
    """Whether all addresses are in an array. ``in_rows``: as ``are_rows`` says."""
    outside, i = 0, 0
    while in_rows and i < count:
        outside |= (addresses[i] - first) | (end - 1 - addresses[i + WARP - 1])
        i += WARP
    for other in range(i, count):
        outside |= (addresses[other] - first) | (end - 1 - addresses[other])
    return outside >= 0


def begins(f: Int64s, lanes: Int64s, addresses: Int64s, count: int) -> int:
    """Find out whether lanes are in rows, and whether all addresses are in the array; 0 where they are not."""
    f[IN_ROWS] = f[CELLS] == 1 and f[WORDS] == 1 and are_rows(lanes, addresses, count, 1 << f[SHIFT])
    return are_inside(addresses, count, f[BASE], f[END], f[IN_ROWS])


def fill_words(words: Int64s, of_lanes: Int64s, addresses: Int64s, lanes: Int64s, count: int, each: int) -> int:
    """The words of lanes that have several each, and the lane of each of them."""
    for i in range(count):
        for k in range(each):
            words[i * each + k] = (addresses[i] >> 2) + k
            of_lanes[i * each + k] = lanes[i]
    return 0


def order_of(stage: int) -> int:
    """The number of the order that a stage is of."""
    if stage < BEFORE:
        return stage
    return stage - BEFORE if stage < SEARCH else stage - AFTER


def asked_of_order(f: Int64s, common: Int64s, first: Int64s, stage: int) -> int:
    """What a stage asks of its order: flags * 16 + operation; -1 for nothing. ``first``: the arena of the first one."""
    order, flags = order_of(stage), TO_ALL if f[TO_OTHERS] else 0
    if order >= common[ORDERS]:
        return -1
    if stage < BEFORE:
        return flags * _OPERATIONS + FENCE if f[RELEASES] else -1
    if not f[IS_STRONG] or not (common[REMEMBERS] or common[ORDERS] == 2 or first[HAS_FAR]):
        return -1
    only_writes = f[STORES] and not f[OPERATES]
    if only_writes != (stage >= AFTER):
        return -1
    operation = WRITE if f[STORES] else READ
    if f[OPERATES]:
        operation = EXCHANGE
    if operation != READ and order == 1:
        flags |= FENCE_FIRST
    if operation != WRITE and order == 0 and common[REMEMBERS]:
        flags |= REMEMBER
    return flags * _OPERATIONS + operation


def tell(
    near: Int64s, s: Int64s, operation: int, words: Int64s, lanes: Int64s, count: int, start: int, now: int, flags: int
) -> int:
    """A step of an order; an order of which nothing is known beyond the blocks leaves out what tells nothing."""
    if not s[HAS_FAR] and operation != FENCE and not flags & (FENCE_FIRST | REMEMBER):
        return count
    s[HAS_FAR] = 1
    return step(near, s, operation, words, words, lanes, count, start, now, flags)


def takes_shared_lanes(s: Int64s) -> int:
    """Whether lanes of a warp shared a word in the step before; it is forgotten."""
    found = s[LANES_SHARE]
    s[LANES_SHARE] = 0
    return found


def told_order(f: Int64s, common: Int64s, lanes: Int64s, addresses: Int64s, count: int, now: int) -> int:
    """Carry out a stage of an order. Gives what :func:`whole_access` says."""
    asked = asked_of_order(f, common, common[TABLES + ARENA], f[STAGE])
    if asked < 0:
        return ALL_DONE
    operation, flags, items = asked % _OPERATIONS, asked // _OPERATIONS, count * f[WORDS]
    of = TABLES + TABLES_OF_ORDER * order_of(f[STAGE])
    if operation == FENCE:
        items = count
        f[AT] = tell(common[of + NEAR], common[of + ARENA], FENCE, lanes, lanes, count, f[AT], now, flags | RISING)
    elif f[WORDS] == 1:
        flags |= RISING | OF_BYTES
        if f[IN_ROWS]:
            flags |= ROWS
        f[AT] = tell(common[of + NEAR], common[of + ARENA], operation, addresses, lanes, items, f[AT], now, flags)
    else:
        words, of_words = common[ROOM + 3], common[ROOM + 4]
        f[AT] = tell(common[of + NEAR], common[of + ARENA], operation, words, of_words, items, f[AT], now, flags)
    if f[AT] < items + (items if flags & FENCE_FIRST else 0):
        return FULL
    f[AT] = 0
    if operation == EXCHANGE and takes_shared_lanes(common[of + ARENA]):
        return LANES_FOLLOW
    return ALL_DONE


def has_recorded(has: Int64s, store: int, other_read: int) -> int:
    """Note what a shadow's tables have: any write, read, or other read."""
    has[0] |= store
    has[1] |= not store
    has[2] |= other_read
    return 0


def has_any(has: Int64s, number: int) -> int:
    """Whether a shadow's tables have any write (0), read (1) or other read (2)."""
    return has[number]


def searched(
    f: Int64s, common: Int64s, shadow: Int64s, lanes: Int64s, addresses: Int64s, count: int, now: int
) -> int:  # fmt: skip
    """Look for races and record the access. Gives what :func:`whole_access` says. ``shadow``: places of its tables."""
    if common[APART]:
        return LOOK
    first = TABLES
    last = TABLES + TABLES_OF_ORDER * (common[ORDERS] - 1)
    found = access(
        shadow[WRITTEN], shadow[HAS_READ], shadow[OTHER_READ], common[first], common[first + FAR],
        common[first + ARENA], common[last], common[last + FAR], common[last + ARENA], common[BEGIN], common[ROOM],
        common[ROOM + 1], common[ROOM + 2], lanes, addresses, count, f[CELLS], f[ORIGIN], f[SHIFT], f[FLAGS], now,
        f[STORES], has_any(shadow[HAS], 1), f[IN_ROWS],
    )  # fmt: skip
    if found == UNKNOWN:
        return LOOK
    if found == NO_ROOM:
        return ALL_FULL
    has_recorded(shadow[HAS], f[STORES], found == OTHER_READS)
    if found == SHARED_CELLS and (not f[OPERATES] or f[FLAGS] & IN_BLOCK):
        return LOST
    return ALL_DONE


def keep_blind(
    f: Int64s, common: Int64s, s: Int64s, lanes: Int64s, addresses: Int64s, count: int, now: int
) -> int:  # fmt: skip
    """Keep atomics whose old value nobody uses, behind the search for races. ``s``: the arena of the first order."""
    if f[BLIND] and f[UNTIL] == DONE:
        return record(
            f[BLIND], f[BLIND_OTHER], addresses, lanes, count, f[CELLS], f[ORIGIN], f[SHIFT],
            now << TIME_SHIFT | f[FLAGS], common[BEGIN], s[THREADS], f[IN_ROWS],
        )  # fmt: skip
    return 0


def whole_access(f: Int64s, common: Int64s, lanes: Int64s, addresses: Int64s, count: int, now: int) -> int:
    """All stages from the one of the frame on. Where it does not say that all is done, the stage says where it was.

    ``lanes`` rise.
    ``now``: the time of the access; fences and words have the next one.
    """
    if f[STAGE] == FENCES:
        if not begins(f, lanes, addresses, count):
            return OUTSIDE
        if f[IS_STRONG] and f[WORDS] > 1:
            fill_words(common[ROOM + 3], common[ROOM + 4], addresses, lanes, count, f[WORDS])
    while f[STAGE] < f[UNTIL]:
        if f[STAGE] == SEARCH:
            found = searched(f, common, f[SHADOW], lanes, addresses, count, now)
        else:
            found = told_order(f, common, lanes, addresses, count, now + 1)
        if found != ALL_DONE:
            return found
        f[STAGE] += 1
    f[STAGE] = 0
    keep_blind(f, common, common[TABLES + ARENA], lanes, addresses, count, now)
    return ALL_DONE


def access_or_step(
    f: Int64s, lanes: Int64s, words: Int64s, earlier: Int64s, count: int, now: int, operation: int, start: int,
    flags: int,
) -> int:  # fmt: skip
    """A whole access of a frame, ``words`` being the addresses, where ``operation`` is -1; else a step of an order.

    For a step, ``f`` has the places of what warps know of their blocks, and of the arena.
    """
    if operation < 0:
        return whole_access(f, f[COMMON], lanes, words, count, now)
    return step(f[0], f[1], operation, words, earlier, lanes, count, start, now, flags)


def plain_access(f: Int64s, common: Int64s, lanes: Int64s, addresses: Int64s, count: int, now: int) -> int:
    """As :func:`whole_access`, of a frame whose words nobody asks for."""
    if f[STAGE] == FENCES and not begins(f, lanes, addresses, count):
        return OUTSIDE
    if f[STAGE] < AFTER:
        found = searched(f, common, f[SHADOW], lanes, addresses, count, now)
        if found != ALL_DONE:
            return found
    f[STAGE] = 0
    keep_blind(f, common, common[TABLES + ARENA], lanes, addresses, count, now)
    return ALL_DONE


#: The orders of kernels in which words matter are compiled together with their accesses.
STEP, _PLAIN = CompiledFunction(access_or_step), CompiledFunction(plain_access)


class Accessed(NamedTuple):
    """What is accessed: cells and words per lane, bits of an address within a cell, and flags of stamps."""

    cells: int
    words: int
    shift: int
    flags: int


class Does(NamedTuple):
    """What an instruction does: stores, operates (an atomic), releases; strong ones meet at words; who learns of it."""

    stores: bool
    operates: bool
    releases: bool
    is_strong: bool
    to_others: bool


class NativeAccess:
    """The accesses of one launch. ``remembers``: whether reads of words are remembered."""

    def __init__(self, *, remembers: bool) -> None:
        self._orders: list[HappensBefore] = []
        self._keyed = False
        self._common = np.zeros(TABLES + TABLES_OF_ORDER * _MOST_ORDERS, np.int64)
        self._common[REMEMBERS] = remembers
        self._place = self._common.ctypes.data
        #: The tables of the orders, which live on, and the sum of the changes of the orders so far.
        self._arenas: list[tuple[np.ndarray, ...]] = []
        self._changes = -1
        #: Cells or words of a lane at most.
        self._most_items = 1
        self._apart = False
        #: Memory for one access, and how many cells or words it is for.
        self._room, self._items = np.zeros(0, np.int64), 0

    def begin(self, orders: Sequence[HappensBefore], time: int, *, keyed: bool) -> None:
        """A batch with these orders begins. ``keyed``: they are compiled ones, and words matter."""
        self._orders, self._keyed = list(orders), keyed
        self._common[ORDERS] = len(orders)
        self._common[BEGIN] = time
        self._changes = -1

    def ready(self, compiled: str) -> bool:
        """Whether a run that compiles "none", "hot" or "all" blocks uses it."""
        return self._keyed or _PLAIN.ready(compiled)

    def frame(
        self,
        shadow: GlobalShadow,
        accessed: Accessed,
        does: Does,
        first: int,
        end: int,
        origin: int,
        blind: BlindAtomics | None = None,
    ) -> np.ndarray:
        """Of an instruction's accesses to the array from ``first`` to ``end``, whose first cell is at ``origin``.

        ``blind``: what keeps them if they are atomics whose old value nobody uses. It and the shadow must live on.
        """
        self._most_items = max(self._most_items, accessed.cells, accessed.words)
        if not does.stores:
            shadow.track_reads()
        blind_places = blind.places() if blind is not None else (0, 0)
        return np.array((
            FENCES, 0, DONE, shadow.place, first, end, accessed.cells, accessed.words, origin,
            accessed.shift, accessed.flags, *does, *blind_places, self._place, 0,
        ), np.int64)  # fmt: skip

    def access(self, frame: np.ndarray, lanes: np.ndarray, addresses: np.ndarray, now: int) -> int:
        """Do all of an access of lanes at addresses, (lanes,) of 64 bits each, and say what is left to NumPy.

        The lanes rise, and both arrays have no gaps. What is left is ``OUTSIDE``; or ``LOOK`` or ``LOST``, and then
        :meth:`rest` does the rest. Else it says ``ALL_DONE``.
        """
        self._look_at_orders()
        count = len(lanes)
        if self._items < count * self._most_items:
            self._make_room(count * self._most_items)
        if self._keyed:
            found = STEP.call(id(frame), id(lanes), id(addresses), id(lanes), count, now, -1, 0, 0)
        else:
            found = _PLAIN.call(id(frame), id(self._common), id(lanes), id(addresses), count, now)
        return ALL_DONE if found == ALL_DONE else self._go_on(found, frame, lanes, addresses, now)

    def rest(self, frame: np.ndarray, lanes: np.ndarray, addresses: np.ndarray, now: int) -> None:
        """What comes after the search for races, which NumPy has done."""
        frame[STAGE] = AFTER
        self.access(frame, lanes, addresses, now)

    def record(self, frame: np.ndarray, lanes: np.ndarray, addresses: np.ndarray, now: int) -> int:
        """Only look for races and record the access: as :meth:`access`."""
        frame[[STAGE, UNTIL, IN_ROWS]] = SEARCH, AFTER, 0
        found = self.access(frame, lanes, addresses, now)
        frame[[STAGE, UNTIL]] = FENCES, DONE
        return found

    def _go_on(self, found: int, frame: np.ndarray, lanes: np.ndarray, addresses: np.ndarray, now: int) -> int:
        """Do what compiled code has ``found`` missing, and call it again, until all is done or left to NumPy."""
        while found > LOST:  # only orders that are compiled lack anything
            self._do_what_is_missing(found, frame, lanes, addresses)
            found = STEP.call(id(frame), id(lanes), id(addresses), id(lanes), len(lanes), now, -1, 0, 0)
        if found:
            frame[STAGE] = 0
        return found

    def _do_what_is_missing(self, what: int, frame: np.ndarray, lanes: np.ndarray, addresses: np.ndarray) -> None:
        stage = int(frame[STAGE])
        if what == LANES_FOLLOW:
            words = int(frame[WORDS])
            first = (addresses >> 2)[:, None] + np.arange(words)
            self._orders[order_of(stage)].lanes_follow(first.reshape(-1).tolist(), np.repeat(lanes, words))
            frame[STAGE] += 1
            return
        for order in self._orders if what == ALL_FULL else (self._orders[order_of(stage)],):
            order.make_room(len(lanes) * int(frame[WORDS]))
        self._look_at_orders()

    def _look_at_orders(self) -> None:
        """The tables of the orders may be others than before."""
        apart, changes = False, 0
        for order in self._orders:
            apart = apart or any(order.apart)
            changes += order.changes
        if changes != self._changes:
            self._changes = changes
            self._arenas = [order.tables() for order in self._orders]
            at = [table.ctypes.data for tables in self._arenas for table in tables]
            self._common[TABLES : TABLES + len(at)] = at
        if apart != self._apart:
            self._apart = apart
            self._common[APART] = apart

    def _make_room(self, items: int) -> None:
        self._room, self._items = np.empty(ROOMS * items, np.int64), items
        self._common[ROOM : ROOM + ROOMS] = self._room.ctypes.data + 8 * items * np.arange(ROOMS)
