"""Remote accesses to each word of shared memory: who made the last one, and when.

Threads of the other blocks of a cluster and asynchronous copies access a block's shared memory remotely. A barrier of
the block does not order these accesses. Only what a thread has acquired does: by a barrier of the cluster, a phase of
an mbarrier, or a flag behind a fence. A stamp is ``time << 20 | source``. The source is ``rank << 10 | thread``, with
one of the bits below for several threads, or one of the numbers below. Time is that of
:mod:`softlab.instruments.shadow`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softlab.emulator.lanes import WARP
from softlab.instruments.warp_syncs import WarpSyncs

SOURCE_BITS = 20
_SOURCE_MASK = (1 << SOURCE_BITS) - 1
_THREAD_BITS = 10
_THREAD_MASK = (1 << _THREAD_BITS) - 1
_LANE_MASK = WARP - 1
#: A thread's source is below 1 << 14, so these numbers are free. Read as a thread's they name the rank 63, which no
#: block of a cluster has.
MANY = _SOURCE_MASK
COPY = _SOURCE_MASK - 1
#: A copy that reduces: several of them may change a word together.
_REDUCING = _SOURCE_MASK - 2
_ATOMIC = 1 << 18
#: Several threads read the word: lanes of one warp (the source names lane 0), or threads of one block (thread 0).
_LANES = 1 << 16
_THREADS = 1 << 17
_WHO = _LANES - 1
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


@dataclass(frozen=True)
class Order:
    """What orders the accesses of threads with earlier ones: times, (lanes,) each.

    ``acquired``: what each thread has learnt of all blocks; ``barrier``: the last barrier of its block; ``synced``: the
    last synchronisation of its whole warp; ``groups``: those of parts of warps.
    """

    acquired: np.ndarray
    barrier: np.ndarray
    synced: np.ndarray
    groups: WarpSyncs


class RemoteAccesses:
    """The last remote write and read of each word: ``written`` and ``read`` are stamps, (blocks, words), 0 for none."""

    def __init__(self, blocks: int, words: int) -> None:
        self.written = np.zeros((blocks, words), np.int64)
        self.read = np.zeros((blocks, words), np.int64)
        #: The lanes of a warp that read a word, where the stamp stands for several.
        self._lanes = np.zeros((blocks, words), np.uint32)

    @staticmethod
    def unordered(
        stamps: np.ndarray, owner: np.ndarray, word: np.ndarray, acquired: np.ndarray, strong: bool
    ) -> np.ndarray:
        """Whether a lane's words had a remote access after the last one that the lane has acquired: (lanes,) bool.

        Two ``strong`` accesses never clash.
        """
        stamp = stamps[owner[:, None], word]
        found = (stamp > 0) & (stamp >> SOURCE_BITS >= acquired[:, None])
        if strong:
            found &= ~_is_atomic(stamp)
        return np.asarray(found.any(axis=1))

    def unordered_with_block(
        self,
        stamps: np.ndarray,
        owner: np.ndarray,
        word: np.ndarray,
        who: Accessors,
        order: Order,
        strong: bool,
        in_block: bool = False,
    ) -> np.ndarray:
        """The same for remote threads, which a barrier of their own block or warp may order, too.

        ``in_block``: the strong access has the scope of the thread's own block.
        """
        found = self._clashes(stamps, owner, word, who, order)
        if strong:
            stamp = stamps[owner[:, None], word]
            atomic = _is_atomic(stamp)
            if in_block:
                atomic &= (stamp & _WHO) >> _THREAD_BITS == who.rank[:, None]
            found &= ~atomic
        return np.asarray(found.any(axis=1))

    def _clashes(
        self, stamps: np.ndarray, owner: np.ndarray, word: np.ndarray, who: Accessors, order: Order
    ) -> np.ndarray:
        """Whether each word had an access that is unordered with that of its lane: (lanes, words) bool."""
        stamp = stamps[owner[:, None], word]
        time, source = stamp >> SOURCE_BITS, stamp & _SOURCE_MASK & ~_ATOMIC
        found = (stamp > 0) & (time >= order.acquired[:, None]) & (source != who.source[:, None])
        same_block = (source & _WHO) >> _THREAD_BITS == who.rank[:, None]
        same_warp = same_block & (source & _THREADS == 0)
        same_warp &= (source & _THREAD_MASK) // WARP == (who.thread // WARP)[:, None]
        found &= ~(same_block & (time < order.barrier[:, None])) & ~(same_warp & (time < order.synced[:, None]))
        left = found & same_warp
        if order.groups and left.any():
            lane, at = np.nonzero(left)
            rows, words = owner[lane], word[lane, at]
            one = np.uint32(1) << (source[lane, at] & _LANE_MASK).astype(np.uint32)
            others = np.where(source[lane, at] & _LANES != 0, self._lanes[rows, words], one)
            found[lane, at] = ~_after_all(order.groups, who.row[lane], who.thread[lane], others, time[lane, at])
        return found

    @staticmethod
    def stamp(time: int, who: Accessors, strong: bool) -> np.ndarray:
        """The stamps of these threads now, (lanes, 1)."""
        return (time << SOURCE_BITS | who.source | (_ATOMIC if strong else 0))[:, None]

    def record_read(self, owner: np.ndarray, word: np.ndarray, time: int, who: Accessors, order: Order) -> None:
        """Record reads of these threads. A stamp stands for all readers of a word that are unordered."""
        others = self._clashes(self.read, owner, word, who, order).reshape(-1)
        row = np.broadcast_to(owner[:, None], word.shape).reshape(-1)
        source = np.broadcast_to(who.source[:, None], word.shape).reshape(-1)
        words = word.reshape(-1)
        place, first, which = np.unique(row * self.read.shape[1] + words, return_index=True, return_inverse=True)
        # The least and the greatest source of the readers of each word say what they have in common.
        least, most = np.full(len(place), _WHO), np.zeros(len(place), np.int64)
        np.minimum.at(least, which, source)
        np.maximum.at(most, which, source)
        lanes = np.zeros(len(place), np.uint32)
        np.bitwise_or.at(lanes, which, np.uint32(1) << (source & _LANE_MASK).astype(np.uint32))
        if others.any():
            before = self.read[row[others], words[others]] & _SOURCE_MASK
            several = np.where(before & _LANES != 0, _LANE_MASK, np.where(before & _THREADS != 0, _THREAD_MASK, 0))
            np.minimum.at(least, which[others], before & _WHO)
            np.maximum.at(most, which[others], before & _WHO | several)
            one = np.uint32(1) << (before & _LANE_MASK).astype(np.uint32)
            earlier = np.where(before & _LANES != 0, self._lanes[row[others], words[others]], one)
            np.bitwise_or.at(lanes, which[others], earlier)
        code = np.where(least >> _THREAD_BITS == most >> _THREAD_BITS, _THREADS | least & ~_THREAD_MASK, MANY)
        code = np.where(least // WARP == most // WARP, _LANES | least & ~_LANE_MASK, code)
        self.read[row[first], words[first]] = time << SOURCE_BITS | np.where(least == most, least, code)
        self._lanes[row[first], words[first]] = lanes

    @staticmethod
    def source_of(stamp: int) -> tuple[int, int | None] | int:
        """Who a stamp names: (rank, thread), with None for several threads of the block, or ``MANY`` or ``COPY``."""
        source = stamp & _SOURCE_MASK
        if source >= _REDUCING:
            return max(source, COPY)
        thread = None if source & (_LANES | _THREADS) else source & _THREAD_MASK
        return (source & _WHO) >> _THREAD_BITS, thread

    @staticmethod
    def time_of(stamp: int) -> int:
        """The time of a stamp."""
        return stamp >> SOURCE_BITS

    @staticmethod
    def in_flight(stamp: int) -> bool:
        """Whether the stamp is that of a copy that has not ended."""
        return stamp >> SOURCE_BITS >= IN_FLIGHT

    @staticmethod
    def copy_stamp(time: int, reduces: bool = False) -> int:
        """The stamp of an asynchronous copy, plain or one that reduces."""
        return time << SOURCE_BITS | (_REDUCING if reduces else COPY)


def _is_atomic(stamp: np.ndarray) -> np.ndarray:
    source = stamp & _SOURCE_MASK
    return (source == _REDUCING) | (source < _REDUCING) & (stamp & _ATOMIC != 0)


def _after_all(
    groups: WarpSyncs, row: np.ndarray, thread: np.ndarray, others: np.ndarray, time: np.ndarray
) -> np.ndarray:
    """Whether parts of warps order each thread after other lanes of its warp (masks), at these times: (n,) bool."""
    ordered = np.ones(len(row), bool)
    lane = thread % WARP
    for other in range(WARP):
        named = (others >> np.uint32(other) & np.uint32(1) != 0) & (lane != other)
        if named.any():
            at = np.flatnonzero(named)
            first = np.full(len(at), other)
            ordered[at] &= groups.ordered(row[at], thread[at] // WARP, first, lane[at], time[at])
    return ordered
