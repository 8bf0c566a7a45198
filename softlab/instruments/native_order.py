"""The order of the events of a batch in compiled loops: what :mod:`.happens_before` says in NumPy, word for word.

What warps know of other blocks are nodes (:mod:`softlab.instruments.known_nodes`). Barriers within blocks, groups of
lanes, and the questions of NumPy are as in :class:`~softlab.instruments.happens_before.HappensBefore`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from softlab.emulator.lanes import WARP, Lanes
from softlab.instruments import known_nodes as nodes
from softlab.instruments.arenas import ARENAS
from softlab.instruments.happens_before import HappensBefore, OwnWords
from softlab.instruments.native_access import STEP

#: Segments of the arena that have one size, in items: warps, warps * warps of a block, blocks or a constant.
_PER_WARP = (
    nodes.KNOWN, nodes.FENCED, nodes.FENCED_IN_BLOCK, nodes.PART_LANES, nodes.PART_NODE, nodes.MASK, nodes.FENCES,
)  # fmt: skip
#: Bytes of rows that the arena begins with, at most.
_FIRST_ROWS = 1 << 23
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
        self, blocks: int, threads: int, earlier: Mapping[Hashable, int] | NativeOrder, *, of_reads: bool = False
    ) -> None:
        super().__init__(blocks, threads, {}, of_reads=of_reads)
        size = blocks * self.warps
        width, snapshot = self.columns + 1, 1 if self.per_block else self.warps
        keys, times = _told_by(earlier)
        rooms = {
            nodes.NODE_ROOM: 32 * size + 4096,
            nodes.SNAPSHOT_ROOM: 16 * size + 2048,
            nodes.ROW_ROOM: max(128 + 3 * self.warps, min(4 * size + 512, _FIRST_ROWS // (8 * width))),
            nodes.WORD_ROOM: _room_of_words(len(keys) + _WORDS_OF_A_WARP * size),
        }
        head = np.zeros(nodes.HEAD, np.int64)
        head[: nodes.SNAPSHOT + 1] = self.warps, width, self.per_block, threads, snapshot
        head[[nodes.COLUMNS, nodes.HAS_NODES, nodes.CHAINS]] = self.columns, 1, 1
        head[nodes.IS_LAZY] = width > _WIDEST_ROWS
        #: Whether it keeps when each warp read each word last.
        self.remembers_reads = False
        #: All warps wait at a barrier.
        self._all_wait = np.full(size, 3, np.int64)
        #: The places of what warps know of their blocks, and of the arena.
        self._frame = np.zeros(2, np.int64)
        self._frame[0] = self._known.ctypes.data
        self._use(self._arena(head, rooms))
        self._know_nothing()
        self._take(keys, times)

    def _know_nothing(self) -> None:
        """Fill the arena with what warps know at first: node 0."""
        s, size = self._s, self._blocks * self.warps
        s[nodes.HEAD : s[nodes.TOLD]] = 0  # the segments of warps, lanes and blocks
        self._segment(nodes.PART_LANES, size)[:] = nodes.ALL_LANES
        self._lanes.look_at(s)
        self._forget()
        self._segment(nodes.NODES, nodes.NODE)[:] = 0
        for empty in (nodes.PARENT, nodes.OTHER, nodes.OF_ROW):
            s[s[nodes.NODES] + empty] = nodes.NONE
        self._segment(nodes.ROWS, self.columns + 1)[:] = 0
        s[[nodes.NODE_COUNT, nodes.ROW_COUNT]] = 1

    def _take(self, keys: np.ndarray, times: np.ndarray) -> None:
        """What words tell of earlier batches."""
        s = self._s
        s[nodes.HAS_FAR] = len(keys) > 0
        s[nodes.WORD_COUNT] = len(keys)
        s[nodes.LINES] = np.count_nonzero(keys >= nodes.OF_LINE)
        s[nodes.SINGLES] = len(keys) - s[nodes.LINES]
        words = self._words()
        words[:] = 0
        words[:, nodes.KEY], words[:, nodes.EARLIER] = keys, times
        self._step(nodes.INDEX, _NO_ITEMS, _NO_ITEMS)

    # The arena

    def _arena(self, head: np.ndarray, rooms: Mapping[int, int]) -> np.ndarray:
        """An arena with room for as many nodes, snapshots, rows and words. Its first items are those of ``head``."""
        size = self._blocks * self.warps
        sizes = (
            dict.fromkeys(_PER_WARP, size)
            | self._lanes.sizes
            | {
                nodes.DIFFERS: self._blocks,
                nodes.BLOCK_TOLD: self._blocks,
                nodes.PART_NEAR: size * self.warps,
                nodes.TOLD: 6 * size,
                nodes.MEMO: 3 * nodes.MEMOS,
                nodes.BLOCK_TIMES: int(head[nodes.SNAPSHOT]),
                nodes.NODES: nodes.NODE * rooms[nodes.NODE_ROOM],
                nodes.SNAPSHOTS: int(head[nodes.SNAPSHOT]) * rooms[nodes.SNAPSHOT_ROOM],
                nodes.ROWS: int(head[nodes.WIDTH]) * rooms[nodes.ROW_ROOM],
                nodes.WORDS: nodes.WORD * rooms[nodes.WORD_ROOM],
                nodes.TABLE: 2 * rooms[nodes.WORD_ROOM],
            }
        )
        arena = ARENAS.take(nodes.HEAD + sum(sizes.values()))
        arena[: nodes.HEAD] = head
        place = nodes.HEAD
        for segment, items in sizes.items():
            arena[segment] = place
            place += items
        for name, room in rooms.items():
            arena[name] = room
        table = int(arena[nodes.TABLE])
        arena[table : table + sizes[nodes.TABLE]] = nodes.NONE
        return arena

    def _use(self, arena: np.ndarray) -> None:
        self._s = arena
        self._frame[1] = arena.ctypes.data

    def _segment(self, segment: int, items: int) -> np.ndarray:
        first = int(self._s[segment])
        return self._s[first : first + items]

    def _words(self) -> np.ndarray:
        count = int(self._s[nodes.WORD_COUNT])
        return self._segment(nodes.WORDS, count * nodes.WORD).reshape(count, nodes.WORD)

    def _forget(self) -> None:
        """Forget what was joined and told last, and the nodes of earlier times."""
        self._segment(nodes.MEMO, 3 * nodes.MEMOS)[:] = nodes.NONE
        self._segment(nodes.TOLD, 6 * self._blocks * self.warps)[:] = nodes.NONE
        self._s[nodes.LAST_TIME] = 0

    def _make_room(self, words: int = 0) -> None:
        """Leave out the nodes that nobody can meet any more, and give the arena twice the room if it is still needed.

        ``words``: how many are to come.
        """
        old, (width, few) = self._s, self._s[[nodes.WIDTH, nodes.SNAPSHOT]].tolist()
        self._forget()
        kept = self._kept_nodes()
        has_row, adds = kept[:, nodes.DENSE] >= 0, kept[:, nodes.OF_ROW] >= 0
        rows = self._segment(nodes.ROWS, int(old[nodes.ROW_COUNT]) * width).reshape(-1, width)
        rows = rows[kept[has_row, nodes.DENSE]]
        times = self._segment(nodes.SNAPSHOTS, int(old[nodes.SNAPSHOT_COUNT]) * few).reshape(-1, few)
        which, used = (kept[adds, nodes.TIMES] - old[nodes.SNAPSHOTS]) // few, np.zeros(len(times), bool)
        used[which] = True
        times, again = times[used], (np.cumsum(used) - 1)[which]
        counts = {
            nodes.NODE_ROOM: len(kept),
            nodes.SNAPSHOT_ROOM: len(times),
            nodes.ROW_ROOM: len(rows) + 2 * self.warps,
        }
        rooms = {name: _room(int(old[name]), used) for name, used in counts.items()}
        rooms[nodes.WORD_ROOM] = max(int(old[nodes.WORD_ROOM]), _room_of_words(int(old[nodes.WORD_COUNT]) + words))
        new = self._arena(old[: nodes.HEAD], rooms)
        kept[has_row, nodes.DENSE] = np.arange(len(rows))
        kept[adds, nodes.TIMES] = new[nodes.SNAPSHOTS] + few * again
        self._move(new, kept, times, rows)

    def _kept_nodes(self) -> np.ndarray:
        """The nodes that somebody holds, and their parents, (n, items of a node), by new numbers. So do who holds them.

        A node with a row needs no parents.
        """
        size = self._blocks * self.warps
        holders = [self._segment(of, size) for of in (nodes.KNOWN, nodes.FENCED, nodes.FENCED_IN_BLOCK)]
        parts = self._segment(nodes.PART_NODE, size)
        parts[self._segment(nodes.PART_LANES, size) == nodes.ALL_LANES] = 0
        holders += [parts, self._words()[:, nodes.TELLS], self._words()[:, nodes.TELLS_BLOCK]]
        table = self._segment(nodes.NODES, int(self._s[nodes.NODE_COUNT]) * nodes.NODE).reshape(-1, nodes.NODE)
        dense = table[:, nodes.DENSE] >= 0
        for of in (nodes.PARENT, nodes.OTHER, nodes.OF_ROW):
            table[dense, of] = nodes.NONE
        live = _live(table[:, [nodes.PARENT, nodes.OTHER]], holders)
        kept, number = table[live], np.cumsum(live) - 1
        for holder in holders:
            holder[:] = number[holder]
        for of in (nodes.PARENT, nodes.OTHER):
            kept[:, of] = np.where(kept[:, of] >= 0, number[kept[:, of]], nodes.NONE)
        return kept

    def _move(self, new: np.ndarray, kept: np.ndarray, times: np.ndarray, rows: np.ndarray) -> None:
        """Go over to another arena with these nodes, snapshots and rows, and all else as it is."""
        old, size = self._s, self._blocks * self.warps
        same = dict.fromkeys(_PER_WARP, size) | {nodes.DIFFERS: self._blocks, nodes.PART_NEAR: size * self.warps}
        same[nodes.BLOCK_TOLD] = self._blocks
        same |= self._lanes.sizes
        moved = {segment: self._segment(segment, items) for segment, items in same.items()}
        moved |= {nodes.NODES: kept, nodes.SNAPSHOTS: times, nodes.ROWS: rows, nodes.WORDS: self._words()}
        for segment, values in moved.items():
            new[new[segment] : new[segment] + values.size] = values.reshape(-1)
        new[[nodes.NODE_COUNT, nodes.SNAPSHOT_COUNT, nodes.ROW_COUNT]] = len(kept), len(times), len(rows)
        new[nodes.WORD_COUNT] = old[nodes.WORD_COUNT]
        self._use(new)
        self._lanes.look_at(new)
        ARENAS.give(old)
        self._forget()
        self._step(nodes.INDEX, _NO_ITEMS, _NO_ITEMS)

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
        """As :func:`~softlab.instruments.known_nodes.step`, with more room where it needs some."""
        words, lanes = np.ascontiguousarray(words), np.ascontiguousarray(lanes)
        count = len(lanes) if count is None else count
        end = 2 * count if flags & nodes.FENCE_FIRST else count
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
        lacks_words = self._s[nodes.WORD_COUNT] + nodes.SPARE_WORDS >= self._s[nodes.WORD_ROOM]
        self._make_room(words if lacks_words else 0)

    # What there is

    @property
    def has_far(self) -> bool:
        """Whether any warp may know or publish anything beyond its block."""
        return bool(self._s[nodes.HAS_FAR])

    @property
    def _has_parts(self) -> bool:
        return bool(self._s[nodes.PARTS])

    @property
    def tells_lanes_apart(self) -> bool:
        """Whether more counts than compiled code knows: groups of lanes."""
        return bool(self._syncs)

    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What each warp knows of those of its block, and the arena twice."""
        return self._known, self._s, self._s

    def published(self) -> dict[Hashable, int]:
        """For each word of global memory the time up to which it publishes what this batch and earlier ones did."""
        keys, times = self._published()
        lines = keys >= nodes.OF_LINE
        first = (keys[lines] - nodes.OF_LINE << nodes.LINE_SHIFT)[:, None]
        keys = np.concatenate((keys[~lines], (first + np.arange(nodes.LINE)).reshape(-1)))
        times = np.concatenate((times[~lines], np.repeat(times[lines], nodes.LINE)))
        return dict(zip(keys.tolist(), times.tolist(), strict=True))

    def _published(self) -> tuple[np.ndarray, np.ndarray]:
        """The keys of words and lines, and the times."""
        times = np.zeros(int(self._s[nodes.WORD_COUNT]), np.int64)
        self._step(nodes.LATEST, times, _NO_ITEMS)
        keys = self._words()[:, nodes.KEY]
        of_all = (keys >= 0) & (keys < nodes.OF_READER) & (times > 0)
        return keys[of_all], times[of_all]

    # Questions

    def _times_of_others(self, warps: np.ndarray, column: np.ndarray) -> np.ndarray:
        places = self._places(warps, nodes.KNOWN) + column % (self.columns + 1)  # this may move the arena
        return np.asarray(self._s[places])

    def _places(self, warps: np.ndarray, table: int) -> np.ndarray:
        """Where the rows of what these warps know begin in the arena."""
        different, where = np.unique(warps, return_inverse=True)
        found = np.zeros(len(different), np.int64)
        self._step(nodes.PLACES, found, different, flags=table)
        return np.asarray(found[where])

    def _lanes_know(
        self, mine: np.ndarray, time: np.ndarray, near: np.ndarray, warp: np.ndarray, column: np.ndarray
    ) -> np.ndarray:
        warps = mine // WARP
        lanes = self._segment(nodes.PART_LANES, self._blocks * self.warps)[warps]
        known = lanes >> mine % WARP & 1 != 0
        left = np.flatnonzero(~known)
        if len(left):
            rows = self._places(warps[left], nodes.PART_NODE) + column[left] % (self.columns + 1)
            of_block = self._segment(nodes.PART_NEAR, self._known.size)
            own = of_block[warps[left] * self.warps + np.where(near[left], warp[left], 0)]
            known[left] = time[left] < np.where(near[left], own, self._s[rows])
        return known

    def _own_fenced(self, warps: np.ndarray) -> np.ndarray:
        times = np.zeros(len(warps), np.int64)
        self._step(nodes.OWN_TIMES, times, warps)
        return times

    # Barriers

    def _lanes_meet(self, warps: np.ndarray) -> None:
        self._step(nodes.JOIN_LANES, _NO_ITEMS, warps)

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
                self._step(nodes.MEET, _NO_ITEMS, self._all_wait, count=self._blocks)
            return
        super().barrier(lanes, live, now, ahead, number)

    def _meet_far(self, here: np.ndarray, waiting: np.ndarray) -> None:
        self._step(nodes.MEET, _NO_ITEMS, here + 2 * waiting.astype(np.int64), count=len(here))

    # Releases and acquires

    def fence(self, lane: np.ndarray, now: int, scope: str) -> None:
        """The warps of these lanes make a fence of a scope: "cta", "cluster", "gpu" or "sys"."""
        self._s[nodes.HAS_FAR] = 1
        self._s[nodes.LAST_TOLD] = now
        self._step(nodes.FENCE, _NO_ITEMS, lane, now, 0 if scope == "cta" else nodes.TO_ALL)

    def _access(self, what: int, access: KeyedAccess, scope: str, now: int) -> None:
        flags = 0 if scope == "cta" else nodes.TO_ALL
        if self._of_reads and what != nodes.READ:
            self._s[nodes.HAS_FAR] = 1
            self._s[nodes.LAST_TOLD] = now
            flags |= nodes.FENCE_FIRST
        if self.remembers_reads and what != nodes.WRITE:
            self._s[nodes.HAS_FAR] = 1
            flags |= nodes.REMEMBER
        if access.as_runs:
            flags |= nodes.AS_RUNS
        if self.has_far:
            self._step(what, access.keys, access.lane, now, flags)

    def write(self, access: KeyedAccess, scope: str, now: int) -> None:  # type: ignore[override]
        """Lanes store to words by strong stores: these publish what came before their last fences."""
        self._access(nodes.WRITE, access, scope, now)

    def read(self, access: KeyedAccess, now: int = 0) -> None:  # type: ignore[override]
        """Lanes read words by strong loads, and learn what these publish. ``now``: for :meth:`last_reads`."""
        self._access(nodes.READ, access, "gpu", now)

    def last_reads(self, words: np.ndarray, lane: np.ndarray) -> np.ndarray:
        """When the warps of lanes read words of global memory last, 0 for never; (n,) each."""
        times = np.zeros(len(words), np.int64)
        self._step(nodes.LAST_READS, words, lane, earlier=times)
        return times

    def exchange(self, access: KeyedAccess, scope: str, now: int) -> None:  # type: ignore[override]
        """Lanes access words by atomics, one after the other: each learns what those before it published."""
        self._access(nodes.EXCHANGE, access, scope, now)
        if self._s[nodes.LANES_SHARE]:
            self._s[nodes.LANES_SHARE] = 0
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
        self._s[nodes.HAS_FAR] = 1
        self._step(nodes.PUBLISH, keys, lane, now, earlier=np.ascontiguousarray(before))

    def publish_own(self, own: OwnWords, now: int) -> None:
        """As :meth:`publish`, of words that the warps of each block share."""
        words, before, lanes = own.of_lanes
        self._tell_own(own, now)
        self._publish(words, lanes, now, before)

    def read_own(self, own: OwnWords) -> None:
        """As :meth:`read`, of words that the warps of each block share."""
        if self.has_far:
            words, _, lanes = own.of_lanes
            self._step(nodes.WAIT, words, lanes)

    # Clusters

    def complete_cluster(self, row: int, size: int, now: int, released: bool) -> None:
        """All threads of the cluster that begins in a row have arrived at its barrier.

        Without a release they publish only what came before their fences.
        """
        self._s[nodes.HAS_FAR] = 1
        lanes = np.arange(row * self.warps, (row + size) * self.warps) * WARP
        keys = np.full(len(lanes), cluster_keys(np.array(row // size)))
        flags = nodes.OVERWRITE if released else nodes.OVERWRITE | nodes.AS_FENCED
        if released:
            self._lanes.of_warps[lanes // WARP] = now
            self._lanes.meet(now)
        self._step(nodes.PUBLISH, keys, lanes, now, flags, keys)

    def pass_cluster(self, lane: np.ndarray, size: int) -> None:
        """These lanes pass the barrier of their cluster."""
        self.read(KeyedAccess(cluster_keys(lane // (self.threads * size)), lane))


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
    return 1 << max(10, (used + 2 * nodes.SPARE_WORDS).bit_length())


def _room(before: int, used: int) -> int:
    """The next power of two times a room that leaves at least half of it free."""
    while 2 * (used + 2 * nodes.SPARE) > before:
        before *= 2
    return before
