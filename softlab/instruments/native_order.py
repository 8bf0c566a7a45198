"""The order of the events of a batch in compiled loops: what :mod:`.happens_before` says in NumPy, word for word.

What warps know of other blocks are nodes (:mod:`softlab.instruments.known_nodes`). Barriers within blocks, groups of
lanes, and the questions of NumPy are as in :class:`~softlab.instruments.happens_before.HappensBefore`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from softlab.emulator.lanes import WARP, Lanes
from softlab.instruments import known_steps
from softlab.instruments import node_layout as layout
from softlab.instruments.arenas import ARENAS
from softlab.instruments.happens_before import HappensBefore, OwnWords
from softlab.instruments.lanes_told import LanesTold
from softlab.instruments.native_access import STEP

#: Segments of the arena that have one size, in items: warps, warps * warps of a block, blocks or a constant.
_PER_WARP = (
    layout.KNOWN, layout.FENCED, layout.FENCED_IN_BLOCK, layout.PART_LANES, layout.PART_NODE, layout.MASK,
    layout.FENCES,
)  # fmt: skip
#: Bytes of rows and of snapshots that the arena begins with, at most, where fewer are not too few.
_FIRST_ROWS, _FIRST_SNAPSHOTS = 1 << 24, 1 << 23
#: Columns of rows that are joined at once: that takes no longer than to remember what is to be joined.
_WIDEST_ROWS = 64
#: Words that a warp may tell or read, at first: one of its own and one of its neighbour, with when it read them.
_WORDS_OF_A_WARP = 4
_NO_ITEMS = np.zeros(0, np.int64)


class KeyedAccess(NamedTuple):
    """A strong access: the keys of words and the lanes that access them, (n,) int64 each, in their order.

    ``as_runs``: lanes of a warp, one behind the other, that access one word count as one.
    """

    keys: np.ndarray
    lane: np.ndarray
    as_runs: bool = False

    @property
    def words(self) -> list[int]:
        """The keys."""
        return list(self.keys.tolist())

    @property
    def warps(self) -> list[int]:
        """The warps of the lanes."""
        return list((self.lane // WARP).tolist())


def run_starts(keys: np.ndarray, lane: np.ndarray) -> np.ndarray:
    """(n,) bool: the first of each run of lanes that are of one warp and access one word."""
    first = np.ones(len(lane), bool)
    first[1:] = (keys[1:] != keys[:-1]) | (lane[1:] // WARP != lane[:-1] // WARP)
    return first


def shared_keys(owner: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """The keys of words of shared memory of the blocks in the rows ``owner``. Those of global memory are positive."""
    return np.asarray(-1 - ((owner << 20 | offset) << 2))


def mbarrier_keys(owner: np.ndarray, offset: np.ndarray, parity: np.ndarray | int) -> np.ndarray:
    """The keys of mbarriers, one per parity of their phases."""
    return np.asarray(-1 - ((owner << 20 | offset) << 2 | 1 + parity))


def cluster_keys(cluster: np.ndarray) -> np.ndarray:
    """The keys of the barriers of clusters."""
    return np.asarray(-1 - (cluster << 2 | 3))


class NativeOrder(HappensBefore):
    """As :class:`HappensBefore`. Strong accesses are of :class:`KeyedAccess`."""

    def __init__(
        self,
        blocks: int,
        threads: int,
        earlier: Mapping[Hashable, int] | NativeOrder,
        *,
        of_reads: bool = False,
        words_grow: bool = False,
        part: float = 1,
    ) -> None:
        """``words_grow``: no strong store to a word of global memory ever comes. ``part``: of the launch's blocks those
        that have told the ``earlier`` words; the others may tell as many.
        """
        super().__init__(blocks, threads, {}, of_reads=of_reads)
        keys, times = _told_by(earlier)
        self._use(self._first_arena(round(len(keys) / part)))
        self._s[layout.WORDS_GROW] = words_grow
        self._step(known_steps.BEGIN, _NO_ITEMS, _NO_ITEMS, count=blocks)
        self._lanes.look_at(self._s)
        self._take(keys, times)

    def _begin(self, earlier: dict[Hashable, int]) -> None:
        """Words, what lanes tell, and what only some lanes have learnt are in the arena."""
        self.apart = (self._syncs.held,)
        #: Whether it keeps when each warp read each word last.
        self.remembers_reads = False
        #: All warps wait at a barrier.
        self._all_wait = np.full(self._blocks * self.warps, 3, np.int64)
        #: The places of what warps know of their blocks, and of the arena.
        self._frame = np.zeros(2, np.int64)
        self._frame[0] = self._known.ctypes.data

    def begins_again(self, blocks: int, threads: int) -> bool:
        """Whether it serves for the next batch from now on, which has as many blocks and threads.

        False, and nothing is done, where that batch has other sizes, or where its words may need more room.
        """
        size = self._blocks * self.warps
        if (blocks, threads) != (self._blocks, self.threads):
            return False
        if _room_of_words(int(self._s[layout.WORD_COUNT]) + _WORDS_OF_A_WARP * size) > self._s[layout.WORD_ROOM]:
            return False
        self._meetings.clear()
        self._syncs.clear()
        self._step(known_steps.BEGIN, _NO_ITEMS, _NO_ITEMS, count=blocks)
        return True

    def _first_arena(self, words: int) -> np.ndarray:
        """An arena for a batch that has as many words beside its own."""
        size, width = self._blocks * self.warps, self.columns + 1
        snapshot = 1 if self.per_block else self.warps
        rooms = {
            layout.NODE_ROOM: 64 * size + 4096,
            layout.SNAPSHOT_ROOM: max(16 * size, min(48 * size, _FIRST_SNAPSHOTS // (8 * snapshot))) + 2048,
            layout.ROW_ROOM: max(128 + 3 * self.warps, min(4 * size + 512, _FIRST_ROWS // (8 * width))),
            layout.WORD_ROOM: _room_of_words(words + _WORDS_OF_A_WARP * size),
        }
        head = np.zeros(layout.HEAD, np.int64)
        head[: layout.SNAPSHOT + 1] = self.warps, width, self.per_block, self.threads, snapshot
        head[[layout.COLUMNS, layout.HAS_NODES, layout.IS_LAZY]] = self.columns, 1, width > _WIDEST_ROWS
        return self._arena(head, rooms)

    def _take(self, keys: np.ndarray, times: np.ndarray) -> None:
        """What words tell of earlier batches."""
        if not len(keys):
            return
        s = self._s
        s[layout.HAS_FAR] = 1
        s[layout.WORD_COUNT] = len(keys)
        s[layout.LINES] = np.count_nonzero(keys >= layout.OF_LINE)
        s[layout.SINGLES] = len(keys) - s[layout.LINES]
        words = self._words()
        words[:] = 0
        words[:, layout.KEY], words[:, layout.EARLIER] = keys, times
        self._step(known_steps.INDEX, _NO_ITEMS, _NO_ITEMS)

    # The arena

    def _arena(self, head: np.ndarray, rooms: Mapping[int, int]) -> np.ndarray:
        """An arena with room for as many nodes, snapshots, rows and words. Its first items are those of ``head``."""
        segments, places, items = _places(
            self._blocks, self.warps, int(head[layout.SNAPSHOT]), int(head[layout.WIDTH]), tuple(rooms.items())
        )
        arena = ARENAS.take(items)
        arena[: layout.HEAD] = head
        arena[segments] = places
        table = int(arena[layout.TABLE])
        arena[table : table + 2 * rooms[layout.WORD_ROOM]] = layout.NONE
        return arena

    def _use(self, arena: np.ndarray) -> None:
        self._s = arena
        self.changes += 1
        self._frame[1] = arena.ctypes.data

    def _segment(self, segment: int, items: int) -> np.ndarray:
        first = int(self._s[segment])
        return self._s[first : first + items]

    def _words(self) -> np.ndarray:
        count = int(self._s[layout.WORD_COUNT])
        return self._segment(layout.WORDS, count * layout.WORD).reshape(count, layout.WORD)

    def _forget(self) -> None:
        """Forget what was joined and told last, and the nodes of earlier times."""
        self._segment(layout.MEMO, 3 * layout.MEMOS)[:] = layout.NONE
        self._segment(layout.TOLD, 6 * self._blocks * self.warps)[:] = layout.NONE
        self._s[layout.LAST_TIME] = 0
        self._s[layout.LAST_OF_BLOCK] = layout.NONE

    def _make_room(self, words: int = 0) -> None:
        """Leave out the nodes that nobody can meet any more, and give the arena twice the room if it is still needed.

        ``words``: how many are to come.
        """
        old, (width, few) = self._s, self._s[[layout.WIDTH, layout.SNAPSHOT]].tolist()
        self._forget()
        kept = self._kept_nodes()
        has_row, adds = kept[:, layout.DENSE] >= 0, kept[:, layout.OF_ROW] >= 0
        rows = self._segment(layout.ROWS, int(old[layout.ROW_COUNT]) * width).reshape(-1, width)
        rows = rows[kept[has_row, layout.DENSE]]
        times = self._segment(layout.SNAPSHOTS, int(old[layout.SNAPSHOT_COUNT]) * few).reshape(-1, few)
        which, used = (kept[adds, layout.TIMES] - old[layout.SNAPSHOTS]) // few, np.zeros(len(times), bool)
        used[which] = True
        times, again = times[used], (np.cumsum(used) - 1)[which]
        counts = {
            layout.NODE_ROOM: len(kept),
            layout.SNAPSHOT_ROOM: len(times),
            layout.ROW_ROOM: len(rows) + 2 * self.warps,
        }
        rooms = {name: _room(int(old[name]), used) for name, used in counts.items()}
        rooms[layout.WORD_ROOM] = max(int(old[layout.WORD_ROOM]), _room_of_words(int(old[layout.WORD_COUNT]) + words))
        new = self._arena(old[: layout.HEAD], rooms)
        kept[has_row, layout.DENSE] = np.arange(len(rows))
        kept[adds, layout.TIMES] = new[layout.SNAPSHOTS] + few * again
        self._move(new, kept, times, rows)

    def _kept_nodes(self) -> np.ndarray:
        """The nodes that somebody holds, and their parents, (n, items of a node), by new numbers. So do who holds them.

        A node with a row needs no parents.
        """
        size = self._blocks * self.warps
        holders = [self._segment(of, size) for of in (layout.KNOWN, layout.FENCED, layout.FENCED_IN_BLOCK)]
        parts = self._segment(layout.PART_NODE, size)
        parts[self._segment(layout.PART_LANES, size) == layout.ALL_LANES] = 0
        holders += [parts, self._words()[:, layout.TELLS], self._words()[:, layout.TELLS_BLOCK]]
        table = self._segment(layout.NODES, int(self._s[layout.NODE_COUNT]) * layout.NODE).reshape(-1, layout.NODE)
        dense = table[:, layout.DENSE] >= 0
        for of in (layout.PARENT, layout.OTHER, layout.OF_ROW):
            table[dense, of] = layout.NONE
        live = _live(table[:, [layout.PARENT, layout.OTHER]], holders)
        kept, number = table[live], np.cumsum(live) - 1
        for holder in holders:
            holder[:] = number[holder]
        for of in (layout.PARENT, layout.OTHER):
            kept[:, of] = np.where(kept[:, of] >= 0, number[kept[:, of]], layout.NONE)
        return kept

    def _move(self, new: np.ndarray, kept: np.ndarray, times: np.ndarray, rows: np.ndarray) -> None:
        """Go over to another arena with these nodes, snapshots and rows, and all else as it is."""
        old, size = self._s, self._blocks * self.warps
        same = dict.fromkeys(_PER_WARP, size) | {layout.DIFFERS: self._blocks, layout.PART_NEAR: size * self.warps}
        same[layout.BLOCK_TOLD] = self._blocks
        same |= self._lanes.sizes
        moved = {segment: self._segment(segment, items) for segment, items in same.items()}
        moved |= {layout.NODES: kept, layout.SNAPSHOTS: times, layout.ROWS: rows, layout.WORDS: self._words()}
        for segment, values in moved.items():
            new[new[segment] : new[segment] + values.size] = values.reshape(-1)
        new[[layout.NODE_COUNT, layout.SNAPSHOT_COUNT, layout.ROW_COUNT]] = len(kept), len(times), len(rows)
        new[layout.WORD_COUNT] = old[layout.WORD_COUNT]
        self._use(new)
        self._lanes.look_at(new)
        ARENAS.give(old)
        self._forget()
        self._step(known_steps.INDEX, _NO_ITEMS, _NO_ITEMS)

    def _step(
        self,
        what: int,
        words: np.ndarray,
        lanes: np.ndarray,
        now: int = 0,
        flags: int = 0,
        earlier: np.ndarray = _NO_ITEMS,
        count: int | None = None,
    ) -> None:
        """As :func:`~softlab.instruments.known_steps.step`, with more room where it needs some."""
        words, lanes = np.ascontiguousarray(words), np.ascontiguousarray(lanes)
        count = len(lanes) if count is None else count
        end = 2 * count if flags & known_steps.FENCE_FIRST else count
        at = 0
        while True:
            at = STEP.call(id(self._frame), id(lanes), id(words), id(earlier), count, now, what, at, flags)
            if at >= end:
                return
            self.make_room(min(count, end - at))

    def release(self) -> None:
        """Nobody asks any more: leave the arena to others."""
        ARENAS.give(self._s)
        self._s = _NO_ITEMS

    def make_room(self, words: int = 0) -> None:
        """Compiled code needs more room. ``words``: how many are to come, for which there may be room."""
        lacks_words = self._s[layout.WORD_COUNT] + layout.SPARE_WORDS >= self._s[layout.WORD_ROOM]
        self._make_room(words if lacks_words else 0)

    # What there is

    @property
    def has_far(self) -> bool:
        """Whether any warp may know or publish anything beyond its block."""
        return bool(self._s[layout.HAS_FAR])

    @property
    def _has_parts(self) -> bool:
        return bool(self._s[layout.PARTS])

    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What each warp knows of those of its block, and the arena twice."""
        return self._known, self._s, self._s

    def published(self) -> dict[Hashable, int]:
        """For each word of global memory the time up to which it publishes what this batch and earlier ones did."""
        keys, times = self._published()
        lines = keys >= layout.OF_LINE
        first = (keys[lines] - layout.OF_LINE << layout.LINE_SHIFT)[:, None]
        keys = np.concatenate((keys[~lines], (first + np.arange(layout.LINE)).reshape(-1)))
        times = np.concatenate((times[~lines], np.repeat(times[lines], layout.LINE)))
        return dict(zip(keys.tolist(), times.tolist(), strict=True))

    def _published(self) -> tuple[np.ndarray, np.ndarray]:
        """The keys of words and lines, and the times."""
        times = np.zeros(int(self._s[layout.WORD_COUNT]), np.int64)
        self._step(known_steps.LATEST, times, _NO_ITEMS)
        keys = self._words()[:, layout.KEY]
        of_all = (keys >= 0) & (keys < layout.OF_READER) & (times > 0)
        return keys[of_all], times[of_all]

    # Questions

    def _times_of_others(self, warps: np.ndarray, column: np.ndarray) -> np.ndarray:
        places = self._places(warps, layout.KNOWN) + column % (self.columns + 1)  # this may move the arena
        return np.asarray(self._s[places])

    def _places(self, warps: np.ndarray, table: int) -> np.ndarray:
        """Where the rows of what these warps know begin in the arena."""
        different, where = np.unique(warps, return_inverse=True)
        found = np.zeros(len(different), np.int64)
        self._step(known_steps.PLACES, found, different, flags=table)
        return np.asarray(found[where])

    def _lanes_know(
        self, mine: np.ndarray, time: np.ndarray, near: np.ndarray, warp: np.ndarray, column: np.ndarray
    ) -> np.ndarray:
        warps = mine // WARP
        lanes = self._segment(layout.PART_LANES, self._blocks * self.warps)[warps]
        known = lanes >> mine % WARP & 1 != 0
        left = np.flatnonzero(~known)
        if len(left):
            rows = self._places(warps[left], layout.PART_NODE) + column[left] % (self.columns + 1)
            of_block = self._segment(layout.PART_NEAR, self._known.size)
            own = of_block[warps[left] * self.warps + np.where(near[left], warp[left], 0)]
            known[left] = time[left] < np.where(near[left], own, self._s[rows])
        return known

    def _own_fenced(self, warps: np.ndarray) -> np.ndarray:
        times = np.zeros(len(warps), np.int64)
        self._step(known_steps.OWN_TIMES, times, warps)
        return times

    # Barriers

    def _lanes_meet(self, warps: np.ndarray) -> None:
        self._step(known_steps.JOIN_LANES, _NO_ITEMS, warps)

    def barrier(
        self,
        lanes: Lanes,
        live: np.ndarray | None,
        now: int,
        ahead: Lanes | None = None,
        number: int | None = None,
    ) -> None:
        """The warps of these lanes pass a barrier of their block, as in NumPy."""
        if ahead is None and lanes.full:
            self._known[...] = self._lanes.of_warps[...] = now
            self._lanes.meet(now)
            self._syncs.clear()
            if self.has_far:
                self._step(known_steps.MEET, _NO_ITEMS, self._all_wait, count=self._blocks)
            return
        super().barrier(lanes, live, now, ahead, number)

    def _meet_far(self, here: np.ndarray, waiting: np.ndarray) -> None:
        self._step(known_steps.MEET, _NO_ITEMS, here + 2 * waiting.astype(np.int64), count=len(here))

    # Releases and acquires

    def fence(self, lane: np.ndarray, now: int, scope: str) -> None:
        """The warps of these lanes, which rise, make a fence of a scope: "cta", "cluster", "gpu" or "sys"."""
        to_all = 0 if scope == "cta" else known_steps.TO_ALL
        self._step(known_steps.FENCE, _NO_ITEMS, lane, now, known_steps.RISING | to_all)

    def _access(self, what: int, access: KeyedAccess, scope: str, now: int) -> None:
        flags = 0 if scope == "cta" else known_steps.TO_ALL
        if self._of_reads and what != known_steps.READ:
            self._s[layout.HAS_FAR] = 1
            flags |= known_steps.FENCE_FIRST
        if self.remembers_reads and what != known_steps.WRITE:
            self._s[layout.HAS_FAR] = 1
            flags |= known_steps.REMEMBER
        if access.as_runs:
            flags |= known_steps.AS_RUNS
        if self.has_far:
            self._step(what, access.keys, access.lane, now, flags)

    def write(self, access: KeyedAccess, scope: str, now: int) -> None:  # type: ignore[override]
        """Lanes store to words by strong stores: these publish what came before their last fences."""
        self._access(known_steps.WRITE, access, scope, now)

    def read(self, access: KeyedAccess, now: int = 0) -> None:  # type: ignore[override]
        """Lanes read words by strong loads, and learn what these publish. ``now``: for :meth:`last_reads`."""
        self._access(known_steps.READ, access, "gpu", now)

    def last_reads(self, words: np.ndarray, lane: np.ndarray) -> np.ndarray:
        """When the warps of lanes read words of global memory last, 0 for never; (n,) each."""
        times = np.zeros(len(words), np.int64)
        self._step(known_steps.LAST_READS, words, lane, earlier=times)
        return times

    def exchange(self, access: KeyedAccess, scope: str, now: int) -> None:  # type: ignore[override]
        """Lanes access words by atomics, one after the other: each learns what those before it published."""
        self._access(known_steps.EXCHANGE, access, scope, now)
        if self._s[layout.LANES_SHARE]:
            self._s[layout.LANES_SHARE] = 0
            first = run_starts(access.keys, access.lane) if access.as_runs else slice(None)
            self.lanes_follow(access.keys[first].tolist(), access.lane[first])

    def publish(self, access: KeyedAccess, now: int, before: np.ndarray) -> None:  # type: ignore[override]
        """Lanes publish at words all that they know and did, without a fence: arrivals at an mbarrier.

        The words publish from now on also what those ``before`` do.
        """
        self._lanes.of_lanes[access.lane] = now
        self._lanes.tell(np.unique(access.lane // WARP), now)
        self._publish(access.keys, access.lane, now, before)

    def _publish(self, keys: np.ndarray, lane: np.ndarray, now: int, before: np.ndarray) -> None:
        self._s[layout.HAS_FAR] = 1
        self._step(known_steps.PUBLISH, keys, lane, now, earlier=np.ascontiguousarray(before))

    def publish_own(self, own: OwnWords, now: int) -> None:
        """As :meth:`publish`, of words that the warps of each block share."""
        words, before, lanes = own.of_lanes
        self._tell_own(own, now)
        self._publish(words, lanes, now, before)

    def read_own(self, own: OwnWords) -> None:
        """As :meth:`read`, of words that the warps of each block share."""
        if self.has_far:
            words, _, lanes = own.of_lanes
            self._step(known_steps.WAIT, words, lanes)

    # Clusters

    def complete_cluster(self, row: int, size: int, now: int, released: bool) -> None:
        """All threads of the cluster that begins in a row have arrived at its barrier.

        Without a release they publish only what came before their fences.
        """
        self._s[layout.HAS_FAR] = 1
        lanes = np.arange(row * self.warps, (row + size) * self.warps) * WARP
        keys = np.full(len(lanes), cluster_keys(np.array(row // size)))
        flags = known_steps.OVERWRITE if released else known_steps.OVERWRITE | known_steps.AS_FENCED
        if released:
            self._lanes.of_warps[lanes // WARP] = now
            self._lanes.meet(now)
        self._step(known_steps.PUBLISH, keys, lanes, now, flags, keys)

    def pass_cluster(self, lane: np.ndarray, size: int) -> None:
        """These lanes pass the barrier of their cluster."""
        self.read(KeyedAccess(cluster_keys(lane // (self.threads * size)), lane))


@lru_cache(maxsize=64)
def _places(
    blocks: int, warps: int, snapshot: int, width: int, rooms: tuple[tuple[int, int], ...]
) -> tuple[np.ndarray, np.ndarray, int]:
    """Of an arena the names of its segments and rooms, where each segment begins and how large each room is, and its
    items in all.

    ``rooms``: the name of each room, and how many nodes, snapshots, rows or words have room.
    """
    size, room = blocks * warps, dict(rooms)
    sizes = dict.fromkeys(_PER_WARP, size) | LanesTold(size).sizes
    sizes |= {layout.DIFFERS: blocks, layout.BLOCK_TOLD: blocks, layout.PART_NEAR: size * warps}
    sizes |= {layout.TOLD: 6 * size, layout.MEMO: 3 * layout.MEMOS, layout.BLOCK_TIMES: snapshot}
    sizes |= {
        layout.NODES: layout.NODE * room[layout.NODE_ROOM],
        layout.SNAPSHOTS: snapshot * room[layout.SNAPSHOT_ROOM],
        layout.ROWS: width * room[layout.ROW_ROOM],
        layout.WORDS: layout.WORD * room[layout.WORD_ROOM],
        layout.TABLE: 2 * room[layout.WORD_ROOM],
    }
    ends = layout.HEAD + np.cumsum([0, *sizes.values()])
    return np.array([*sizes, *room]), np.array([*ends[:-1], *room.values()]), int(ends[-1])


def _told_by(earlier: Mapping[Hashable, int] | NativeOrder) -> tuple[np.ndarray, np.ndarray]:
    """The keys of words and lines of earlier batches, and the times that they tell."""
    if isinstance(earlier, NativeOrder):
        return earlier._published()
    return np.array(list(earlier.keys()), np.int64), np.array(list(earlier.values()), np.int64)


def _live(parents: np.ndarray, holders: Sequence[np.ndarray]) -> np.ndarray:
    """Which nodes are held, or are parents of such, (nodes,) bool; node 0 always is. ``parents``: (nodes, 2)."""
    live, found = (np.zeros(len(parents), bool) for _ in range(2))
    found[0] = True
    for holder in holders:
        found[holder] = True
    while found.any():
        live |= found
        above = parents[found]
        found = np.zeros(len(parents), bool)
        found[above[above >= 0]] = True
        found &= ~live
    return live


def _room_of_words(used: int) -> int:
    """A power of two that is more than the words that are there."""
    return 1 << max(10, (used + 2 * layout.SPARE_WORDS).bit_length())


def _room(before: int, used: int) -> int:
    """The next power of two times a room that leaves at least half of it free."""
    while 2 * (used + 2 * layout.SPARE) > before:
        before *= 2
    return before
