"""Shadow of shared memory in a cluster: also what other blocks, mbarriers and copies do with the words of a block."""

from __future__ import annotations

from typing import Any

import numpy as np
from typing_extensions import override

from softlab.emulator.lanes import WARP
from softlab.instruments.remote_accesses import Accessors, Order, RemoteAccesses
from softlab.instruments.shadow import ATOMIC, CODE_BITS, LANE_MASK, WHO_MASK, Shadow


class ClusterShadow(Shadow):
    """The state of all blocks of a batch, with the remote accesses to each block."""

    def __init__(self, nbytes: int, blocks: int, threads: int, granule: int) -> None:
        super().__init__(nbytes, blocks, threads, granule)
        self._completed = np.zeros(blocks, np.int64)
        self._proxy_fenced = np.zeros((blocks, threads), np.int64)
        self.remote: RemoteAccesses | None = None

    @override
    def never_written(self, row: np.ndarray, word: np.ndarray) -> np.ndarray:
        never = self._written[row[:, None], word] == 0
        if self.remote is not None and never.any():
            never &= self.remote.written[row[:, None], word] == 0
        return np.asarray(never.any(axis=1))

    @override
    def changing(self) -> tuple[Any, ...]:
        return self._written, self._order, self._threads_of_word, self.remote

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

    def cluster_wait(self, mask: np.ndarray, live: np.ndarray) -> None:
        """These lanes pass the barrier of their cluster; (blocks, threads) bool."""
        order = self._ordered()
        np.copyto(order.acquired, np.maximum(order.acquired, self._completed[:, None]), where=mask)
        whole = (mask == live).all(axis=1)
        self._barrier[whole] = np.maximum(self._barrier, self._completed)[whole]

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
        if self._met is not None:
            barrier = np.maximum(barrier, self._met[row, thread // WARP, its_thread // WARP])
        in_order = (row == other) & (same_warp | (time < barrier))
        return np.asarray(in_order | (time < self.acquired(row, thread)))

    def publish_at(self, owner: int, word: np.ndarray) -> None:
        """Whoever acquires these words comes after everything so far."""
        order = self._ordered()
        self._time += 1
        order.released[owner, word] = self._time

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
        self, owner: np.ndarray, word: np.ndarray, who: Accessors, *, store: bool, strong: bool
    ) -> tuple[np.ndarray, bool, bool] | None:
        """Threads of other blocks access words: (which clash, whether with a write, with whom); None if none does.

        With whom: True where the first of them clashes with a thread of the accessed block, else with a remote access.
        """
        remote = self.track_remote()
        order = self._own(who)
        for inner, outer, wrote in ((self._written, remote.written, True), (self._read, remote.read, False)):
            if not wrote and not store:
                break
            stamp = inner[owner[:, None], word]
            found = (stamp > 0) & (stamp >> CODE_BITS >= order.acquired[:, None])
            if strong:
                found &= stamp & ATOMIC == 0
            inside = found.any(axis=1)
            clash = inside | remote.unordered_with_block(outer, owner, word, who, order, strong)
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
        if self._met is not None:
            barrier = np.maximum(barrier, self._met[who.row, warp].max(axis=1))
        return Order(self.acquired(who.row, who.thread), barrier, self._synced[who.row, warp], self._syncs)
