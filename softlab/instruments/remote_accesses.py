"""Remote accesses to each word of shared memory: who made the last one, and when.

Threads of the other blocks of a cluster and asynchronous copies access a block's shared memory remotely. A barrier of
the block does not order these accesses. Only what a thread has acquired does: by a barrier of the cluster, a phase of
an mbarrier, or a flag behind a fence. A stamp is ``time << 20 | source``. The source is ``rank << 10 | thread``, or
one of the numbers below. Time is that of :mod:`softlab.instruments.shadow`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softlab.emulator.lanes import WARP

_SOURCE_BITS = 20
_SOURCE_MASK = (1 << _SOURCE_BITS) - 1
_THREAD_BITS = 10
_THREAD_MASK = (1 << _THREAD_BITS) - 1
#: A thread's source is below 1 << 14, so these numbers are free.
MANY = _SOURCE_MASK
COPY = _SOURCE_MASK - 1
_ATOMIC = 1 << 18
#: The time of a copy that has not ended: later than all others.
IN_FLIGHT = 1 << 40


@dataclass(frozen=True)
class Accessors:
    """Threads that access words: row in the batch, thread in the block and rank in the cluster, (lanes,) each."""

    row: np.ndarray
    thread: np.ndarray
    rank: np.ndarray

    @property
    def source(self) -> np.ndarray:
        """Their numbers in a stamp."""
        return self.rank << _THREAD_BITS | self.thread


class RemoteAccesses:
    """The last remote write and read of each word: ``written`` and ``read`` are stamps, (blocks, words), 0 for none."""

    def __init__(self, blocks: int, words: int) -> None:
        self.written = np.zeros((blocks, words), np.int64)
        self.read = np.zeros((blocks, words), np.int64)

    @staticmethod
    def unordered(
        stamps: np.ndarray, owner: np.ndarray, word: np.ndarray, acquired: np.ndarray, strong: bool
    ) -> np.ndarray:
        """Whether a lane's words had a remote access after the last one that the lane has acquired: (lanes,) bool.

        Two ``strong`` accesses never clash.
        """
        stamp = stamps[owner[:, None], word]
        found = (stamp > 0) & (stamp >> _SOURCE_BITS >= acquired[:, None])
        if strong:
            found &= ~_is_atomic(stamp)
        return np.asarray(found.any(axis=1))

    def unordered_with_block(
        self,
        stamps: np.ndarray,
        owner: np.ndarray,
        word: np.ndarray,
        who: Accessors,
        acquired: np.ndarray,
        barrier: np.ndarray,
        synced: np.ndarray,
        strong: bool,
    ) -> np.ndarray:
        """The same for remote threads, which a barrier of their own block or warp may order, too.

        ``barrier`` and ``synced`` (lanes,): times of the last ones.
        """
        stamp = stamps[owner[:, None], word]
        found = self._clashes(stamp, who, acquired, barrier, synced)
        if strong:
            found &= ~_is_atomic(stamp)
        return np.asarray(found.any(axis=1))

    @staticmethod
    def _clashes(
        stamp: np.ndarray, who: Accessors, acquired: np.ndarray, barrier: np.ndarray, synced: np.ndarray
    ) -> np.ndarray:
        time, source = stamp >> _SOURCE_BITS, stamp & _SOURCE_MASK & ~_ATOMIC
        known = stamp & _SOURCE_MASK < COPY
        found = (stamp > 0) & (time >= acquired[:, None]) & ~(known & (source == who.source[:, None]))
        same_block = known & (source >> _THREAD_BITS == who.rank[:, None])
        same_warp = same_block & ((source & _THREAD_MASK) // WARP == (who.thread // WARP)[:, None])
        return found & ~(same_block & (time < barrier[:, None])) & ~(same_warp & (time < synced[:, None]))

    @staticmethod
    def stamp(time: int, who: Accessors, strong: bool) -> np.ndarray:
        """The stamps of these threads now, (lanes, 1)."""
        return (time << _SOURCE_BITS | who.source | (_ATOMIC if strong else 0))[:, None]

    def record_read(
        self,
        owner: np.ndarray,
        word: np.ndarray,
        time: int,
        who: Accessors,
        acquired: np.ndarray,
        barrier: np.ndarray,
        synced: np.ndarray,
    ) -> None:
        """Record reads of these threads. If another thread's read is unordered with it, the stamp is MANY."""
        at = owner[:, None]
        others = self._clashes(self.read[at, word], who, acquired, barrier, synced)
        stamp = np.where(others, time << _SOURCE_BITS | MANY, self.stamp(time, who, False))
        self.read[at, word] = stamp
        lost = self.read[at, word] != stamp
        if lost.any():
            rows = np.broadcast_to(at, word.shape)
            self.read[rows[lost], word[lost]] = time << _SOURCE_BITS | MANY

    @staticmethod
    def source_of(stamp: int) -> tuple[int, int] | int:
        """Who a stamp names: (rank, thread), or ``MANY`` or ``COPY``."""
        source = stamp & _SOURCE_MASK
        if source >= COPY:
            return source
        source &= ~_ATOMIC
        return source >> _THREAD_BITS, source & _THREAD_MASK

    @staticmethod
    def time_of(stamp: int) -> int:
        """The time of a stamp."""
        return stamp >> _SOURCE_BITS

    @staticmethod
    def in_flight(stamp: int) -> bool:
        """Whether the stamp is that of a copy that has not ended."""
        return stamp >> _SOURCE_BITS >= IN_FLIGHT

    @staticmethod
    def copy_stamp(time: int) -> int:
        """The stamp of an asynchronous copy."""
        return time << _SOURCE_BITS | COPY


def _is_atomic(stamp: np.ndarray) -> np.ndarray:
    return (stamp & _SOURCE_MASK < COPY) & (stamp & _ATOMIC != 0)
