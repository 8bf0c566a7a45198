"""Shadow of shared memory in a cluster: also what other blocks, mbarriers and copies do with the words of a block."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from typing_extensions import override

from softlab.emulator.lanes import WARP, Box, Lanes, Value
from softlab.instruments.blocks_heard import BlocksHeard
from softlab.instruments.remote_accesses import Accessors, Order, RemoteAccesses
from softlab.instruments.shadow import ATOMIC, CODE_BITS, LANE_MASK, WHO_MASK, Shadow
from softlab.instruments.warp_syncs import warps_of


class _Heard:
    """What threads have learnt of accesses by other threads, from other threads alone.

    ``until`` (blocks, threads): they come after the accesses of threads before this time. ``told`` (blocks, words): the
    last release at each word, by ``teller``: the thread of the batch, -1 for none, ``_SEVERAL``. A thread that waits
    at an mbarrier for a copy, or for its own arrival, learns nothing of the others.
    """

    def __init__(self, blocks: int, threads: int, words: int) -> None:
        self.until = np.zeros((blocks, threads), np.int64)
        self._told = np.zeros((blocks, words), np.int64)
        self._teller = np.full((blocks, words), -1, np.int64)

    def release(self, owner: np.ndarray, word: np.ndarray, me: np.ndarray, time: np.ndarray) -> None:
        """Threads ``me`` release words of the blocks ``owner`` at these times."""
        at = np.broadcast_to(owner[:, None], word.shape), word
        mine = np.broadcast_to(me[:, None], word.shape)
        known = self._teller[at]
        self._teller[at] = mine
        alone = (self._teller[at] == mine) & ((known < 0) & (known != _SEVERAL) | (known == mine))
        at_once = tuple(part[~alone] for part in at)
        self._teller[at_once] = _SEVERAL
        np.maximum.at(self._told, at, time[:, None])

    def acquire(self, owner: np.ndarray, word: np.ndarray, row: np.ndarray, thread: np.ndarray) -> None:
        """Threads acquire words of the blocks ``owner``."""
        me = row * self.until.shape[1] + thread
        told = np.where(self._teller[owner[:, None], word] == me[:, None], 0, self._told[owner[:, None], word])
        np.maximum.at(self.until, (row, thread), told.max(axis=1))

    def release_own(self, lanes: Box, words: np.ndarray, time: int) -> None:
        """The lanes, several of each block, release the same words of their own blocks, now."""
        self._teller[lanes.row_index, words] = _SEVERAL
        self._told[lanes.row_index, words] = time

    def acquire_own(self, lanes: Box, words: np.ndarray) -> bool:
        """The lanes acquire the same words of their own blocks; False, and nothing is done, where one thread told."""
        if (self._teller[lanes.row_index, words] >= 0).any():
            return False
        told = self._told[lanes.row_index, words].max(axis=1, keepdims=True)
        self.until[lanes.index] = np.maximum(self.until[lanes.index], told)
        return True

    def join(self, rows: np.ndarray, warps: np.ndarray | None = None) -> None:
        """The threads of these rows, or of one warp of each, learn what one of them has learnt."""
        of_warps = self.until.reshape(len(self.until), -1, WARP)
        if warps is None:
            of_warps[rows] = of_warps[rows].max(axis=(1, 2), keepdims=True)
        else:
            of_warps[rows, warps] = of_warps[rows, warps].max(axis=-1, keepdims=True)


_SEVERAL = -2


class ClusterShadow(Shadow):
    """The state of all blocks of a batch, with the remote accesses to each block."""

    def __init__(self, nbytes: int, blocks: int, threads: int, granule: int) -> None:
        super().__init__(nbytes, blocks, threads, granule)
        self._completed = np.zeros(blocks, np.int64)
        self.remote: RemoteAccesses | None = None
        self._heard: _Heard | None = None
        self._of_blocks: BlocksHeard | None = None

    @cached_property
    def _proxy_fenced(self) -> np.ndarray:
        """(blocks, threads): when each thread made its last fence for bulk copies; most kernels have none."""
        return np.zeros((self._blocks, self._threads), np.int64)

    def expect_cluster(self, size: int) -> None:
        """Blocks work in clusters of this size: keep from the beginning what they tell each other."""
        self._of_blocks = BlocksHeard(self._blocks, self._threads // WARP, size)

    @override
    def never_written(self, row: np.ndarray, word: np.ndarray) -> np.ndarray:
        never = self._written[row[:, None], word] == 0
        if self.remote is not None and never.any():
            never &= self.remote.written[row[:, None], word] == 0
        return np.asarray(never.any(axis=1))

    @override
    def changing(self) -> tuple[Any, ...]:
        known = self._known_accesses
        return self._written, self._order, None if known is None else known.threads, self.remote

    @override
    def tables(self) -> list[np.ndarray | None]:
        tables = super().tables()
        if self.remote is not None:
            tables[-2:] = self.remote.written, self.remote.read
        return tables

    # Clusters

    def cluster_complete(self, rows: np.ndarray, released: np.ndarray, size: int) -> None:
        """All threads of the clusters of these blocks have arrived at the cluster's barrier: (blocks,) bool each.

        If they arrived without release semantics, the barrier publishes only what came before a fence.
        """
        self.tell_apart()
        order = self._ordered()
        self._time += 1
        fenced = order.fenced.reshape(-1, size * self._threads).max(axis=1).repeat(size)
        self._completed[rows] = np.where(released, self._time, fenced)[rows]
        self._known().tells[rows & released] = self._time

    def cluster_wait(self, mask: np.ndarray, live: np.ndarray) -> None:
        """These lanes pass the barrier of their cluster; (blocks, threads) bool."""
        order = self._ordered()
        np.copyto(order.acquired, np.maximum(order.acquired, self._completed[:, None]), where=mask)
        self._known().hear_all(mask, self._completed)
        if self._heard is not None:
            until = self._heard.until
            np.copyto(until, np.maximum(until, self._completed[:, None]), where=mask)
        if self._of_blocks is not None:
            self._of_blocks.hear_all(mask, self._completed)
        whole = (mask == live).all(axis=1)
        self._barrier[whole] = np.maximum(self._barrier, self._completed)[whole]
        of_warps = self._blocks, -1, WARP
        passed = (mask | ~live).reshape(of_warps).all(axis=2) & mask.reshape(of_warps).any(axis=2)
        self._synced[passed] = np.maximum(self._synced, self._completed[:, None])[passed]

    # What threads learn from other threads

    @override
    def barrier(
        self,
        lanes: Lanes,
        live: np.ndarray | None = None,
        ahead: Lanes | None = None,
        number: int | None = None,
    ) -> None:
        super().barrier(lanes, live, ahead, number)
        if self._heard is None and self._of_blocks is None:
            return
        warps = warps_of(lanes)
        waiting = warps if ahead is None else warps & ~warps_of(ahead)
        for row in np.flatnonzero(warps.any(axis=1)).tolist():
            if self._heard is not None:
                until = self._heard.until[row].reshape(-1, WARP)
                until[waiting[row]] = until[warps[row]].max()
            if self._of_blocks is not None:
                self._of_blocks.meet(row, warps[row], waiting[row])

    @override
    def warp_sync(self, lanes: Lanes, members: Value) -> None:
        super().warp_sync(lanes, members)
        self._hear_together(lanes)

    @override
    def lanes_exchange(self, lanes: Lanes, members: Value) -> None:
        super().lanes_exchange(lanes, members)
        self._hear_together(lanes)

    def _hear_together(self, lanes: Lanes) -> None:
        if self._heard is not None:
            self._heard.join(*np.nonzero(lanes.mask.reshape(lanes.blocks, -1, WARP).any(axis=2)))

    @override
    def release_to(
        self,
        owner: np.ndarray,
        word: np.ndarray,
        row: np.ndarray,
        thread: np.ndarray,
        phase: np.ndarray | None = None,
    ) -> None:
        super().release_to(owner, word, row, thread, phase)
        if self._order is not None:
            fenced = self._order.fenced[row, thread]
            done = fenced > 0
            me = row * self._threads + thread
            self._hears().release(owner[done], word[done], me[done], fenced[done])
            if self._of_blocks is not None:
                self._of_blocks.release(owner[done], word[done, 0], row[done], thread[done], fenced[done])

    @override
    def acquire_from(
        self,
        owner: np.ndarray,
        word: np.ndarray,
        row: np.ndarray,
        thread: np.ndarray,
        phase: np.ndarray | None = None,
    ) -> None:
        super().acquire_from(owner, word, row, thread, phase)
        if self._heard is not None:
            self._heard.acquire(owner, word, row, thread)
        if self._of_blocks is not None:
            self._of_blocks.acquire(owner, word[:, 0], row, thread)

    @override
    def release_own(self, lanes: Box, words: np.ndarray, phase: np.ndarray) -> None:
        super().release_own(lanes, words, phase)
        if lanes.extent[1] > 1:
            self._hears().release_own(lanes, words, self._time)
            if self._of_blocks is None:
                return
        row, thread = lanes.full_extent(lanes.row_index), lanes.full_extent(lanes.column_index)
        time = np.full(len(row), self._time)
        if self._of_blocks is not None:
            self._of_blocks.release(row, np.full(len(row), words[0]), row, thread, time)
        if lanes.extent[1] == 1:
            all_words = np.broadcast_to(words, (len(row), len(words)))
            self._hears().release(row, all_words, row * self._threads + thread, time)

    @override
    def acquire_own(self, lanes: Box, words: np.ndarray, phase: np.ndarray) -> None:
        super().acquire_own(lanes, words, phase)
        if self._heard is not None and not self._heard.acquire_own(lanes, words):
            row, thread = lanes.full_extent(lanes.row_index), lanes.full_extent(lanes.column_index)
            self._heard.acquire(row, np.broadcast_to(words, (len(row), len(words))), row, thread)
        if self._of_blocks is not None:
            row, thread = lanes.full_extent(lanes.row_index), lanes.full_extent(lanes.column_index)
            self._of_blocks.acquire(row, np.full(len(row), words[0]), row, thread)

    def _hears(self) -> _Heard:
        if self._heard is None:
            self.tell_apart()
            self._heard = _Heard(self._blocks, self._threads, self.words)
            if self._order is not None:  # what was learnt so far counts
                self._heard.until[:] = self._order.acquired
        return self._heard

    def used_before_copy(
        self, owner: np.ndarray, word: np.ndarray, thread: np.ndarray, *, wrote: bool, strong: bool = False
    ) -> np.ndarray:
        """Whether another thread of the block wrote or read words of a copy that a thread issues, unordered with it."""
        order = self._ordered()
        if self._heard is not None:
            self._order = replace(order, acquired=self._heard.until)
        try:
            if wrote:
                return self.written_by_another(owner, word, thread, strong)
            return self.read_by_another(owner, word, thread)
        finally:
            self._order = order

    # mbarriers and copies

    def write_as(self, owner: np.ndarray, word: np.ndarray, thread: np.ndarray) -> None:
        """A thread's copy has written: treat it as a write of the thread itself, now."""
        self._written[owner[:, None], word] = (self._time << CODE_BITS | self.code(thread))[:, None]

    def read_as(self, owner: np.ndarray, word: np.ndarray, thread: np.ndarray) -> None:
        """A thread's copy has read: treat it as a read of the thread itself, now."""
        self._read[owner[:, None], word] = (self._time << CODE_BITS | self.code(thread))[:, None]

    def advance_time(self) -> int:
        """The present time. Everything that follows is later."""
        self._time += 1
        return self._time - 1

    def knows(
        self, row: np.ndarray, thread: np.ndarray, other: np.ndarray, its_thread: np.ndarray, time: np.ndarray
    ) -> np.ndarray:
        """Whether threads come after what a thread of row ``other`` did at a time; (lanes,) each.

        Threads of one warp run in lock step, so they are in order.
        """
        same_warp = thread // WARP == its_thread // WARP
        barrier = self._barrier[row]
        if self.met is not None:
            barrier = np.maximum(barrier, self.met[row, thread // WARP, its_thread // WARP])
        in_order = (row == other) & (same_warp | (time < barrier))
        return np.asarray(in_order | (time < self.acquired(row, thread)))

    def mbarriers_begin(self, owner: np.ndarray, word: np.ndarray) -> None:
        """Mbarriers begin at these words."""
        self._ordered()
        self._known().begin(owner, word)

    def publish_at(self, owner: int, word: np.ndarray) -> None:
        """Whoever acquires these words comes after everything so far."""
        order = self._ordered()
        self._time += 1
        order.released[owner, word] = self._time

    def tell_by_copies(self, owner: int, word: np.ndarray, lane: np.ndarray) -> None:
        """Lanes of the batch send values to an mbarrier: who waits for these comes after what the lanes did before.

        The bytes that are counted there are a release (PTX ISA, "st.async").
        """
        time = np.full(len(lane), self.advance_time() + 1)
        self._ordered()
        self._known().tells.reshape(-1)[lane] = time
        self._hears().release(np.full(len(lane), owner), np.tile(word, (len(lane), 1)), lane, time)
        if self._of_blocks is not None:
            row, thread = np.divmod(lane, self._threads)
            self._of_blocks.release(np.full(len(lane), owner), np.full(len(lane), word[0]), row, thread, time)

    def used_in_another_block(
        self, owner: np.ndarray, word: np.ndarray, who: Accessors, *, wrote: bool, strong: bool = False
    ) -> np.ndarray:
        """Whether threads of the block ``owner`` wrote or read words after the last that ``who`` has heard of them."""
        if self._of_blocks is None:
            return np.zeros(len(owner), bool)
        stamp = self.stamps(wrote)[owner[:, None], word]
        found = (stamp > 0) & (stamp >> CODE_BITS >= self._of_blocks.of(who.row, who.thread, owner)[:, None])
        if strong:
            found &= stamp & ATOMIC == 0
        return np.asarray(found.any(axis=1))

    def fence_proxy(self, row: np.ndarray, thread: np.ndarray) -> None:
        """From now on bulk copies see what the threads wrote so far."""
        self._time += 1
        self._proxy_fenced[row, thread] = self._time

    def hidden_from_copies(
        self, owner: np.ndarray, word: np.ndarray, row: np.ndarray, thread: np.ndarray
    ) -> np.ndarray:
        """Whether a thread's bulk copy reads words with no proxy fence since they were written: (lanes,) bool.

        The fence may be one of the writer or one of the thread that issues the copy.
        """
        stamp = self._written[owner[:, None], word]
        who = stamp & WHO_MASK
        writer = np.minimum((who >> 6) * WARP + (who & LANE_MASK), self._threads - 1)
        fenced = np.maximum(self._proxy_fenced[owner[:, None], writer], self._proxy_fenced[row, thread][:, None])
        return np.asarray(((stamp > 0) & (stamp & ATOMIC == 0) & (fenced <= stamp >> CODE_BITS)).any(axis=1))

    # Other blocks of the cluster

    def acquired(self, row: np.ndarray, thread: np.ndarray) -> np.ndarray:
        """The time up to which each thread comes after remote accesses, (lanes,)."""
        return self._ordered().acquired[row, thread]

    def known_by_block(self) -> np.ndarray:
        """The latest such time of any thread of each block, (blocks,)."""
        return np.asarray(self._ordered().acquired.max(axis=1))

    def track_remote(self) -> RemoteAccesses:
        """The state of remote accesses. It is kept from the first call on."""
        self.tell_apart()
        self._ordered()
        if self.remote is None:
            self.remote = RemoteAccesses(self._blocks, self.words)
        return self.remote

    def remote_conflict(
        self,
        owner: np.ndarray,
        word: np.ndarray,
        who: Accessors,
        *,
        store: bool,
        strong: bool,
        in_block: bool = False,
    ) -> tuple[np.ndarray, bool, bool] | None:
        """Threads of other blocks access words: (which clash, whether with a write, with whom); None if none does.

        ``in_block``: a strong access has the scope of its own block, so that for all others it is an ordinary one.
        With whom: True where the first of them clashes with a thread of the accessed block, else with a remote access.
        """
        remote = self.track_remote()
        order = self._own(who)
        for inner, outer, wrote in ((self._written, remote.written, True), (self._read, remote.read, False)):
            if not wrote and not store:
                break
            stamp = inner[owner[:, None], word]
            found = (stamp > 0) & (stamp >> CODE_BITS >= order.acquired[:, None])
            if strong and not in_block:
                found &= stamp & ATOMIC == 0
            inside = found.any(axis=1)
            clash = inside | remote.unordered_with_block(outer, owner, word, who, order, strong, in_block)
            if clash.any():
                return clash, wrote, bool(inside[clash.argmax()])
        return None

    def record_remote(
        self, owner: np.ndarray, word: np.ndarray, who: Accessors, *, store: bool, strong: bool
    ) -> np.ndarray:
        """Record the access. Returns whether another lane writes the same word in the same instruction."""
        remote = self.track_remote()
        if not store:
            if not strong:
                remote.record_read(owner, word, self._time, who, self._own(who))
            return np.zeros(len(owner), bool)
        stamp = remote.stamp(self._time, who, strong)
        remote.written[owner[:, None], word] = stamp
        return np.asarray((remote.written[owner[:, None], word] != stamp).any(axis=1))

    def _own(self, who: Accessors) -> Order:
        """What orders the threads with earlier ones: what they acquired, and barriers of their blocks and warps."""
        warp = who.thread // WARP
        barrier = self._barrier[who.row]
        if self.met is not None:
            barrier = np.maximum(barrier, self.met[who.row, warp].max(axis=1))
        return Order(self.acquired(who.row, who.thread), barrier, self._synced[who.row, warp], self._syncs)
