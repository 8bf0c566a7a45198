"""For each word of shared memory: who wrote it last, who has read it, and when, counted in barriers.

A stamp is ``time << 11 | code``. The code says which lane (``warp << 6 | lane``), that several lanes of one warp
(``warp << 6 | 32``), an atomic, or threads of several warps. Time grows at each barrier and warp-synchronous
instruction.

Threads also order their accesses by a flag or a lock: what was done before a fence (or a release) and an atomic write
after it is settled for whoever reads that word by an atomic. Here that takes along what all other threads did before
the fence: a little too much is settled, never too little.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softlab.emulator.lanes import WARP, Lanes
from softlab.instruments.outside import Accessors, Outside

_CODE_BITS = 11
_CODE_MASK = (1 << _CODE_BITS) - 1
_MANY_LANES = 32
_LANE_MASK = 31
#: A block has 32 warps, and lane codes end at 32: these two are free.
MANY_WARPS = _CODE_MASK
ATOMIC = _CODE_MASK - 1


@dataclass(frozen=True)
class _Order:
    """Times, a row a block: of each thread's last fence, of the fence that it knows of, and of the fence before the
    last atomic write to each word.
    """

    fenced: np.ndarray
    acquired: np.ndarray
    released: np.ndarray

    @classmethod
    def none(cls, rows: int, threads: int, words: int) -> _Order:
        """No fence yet."""
        return cls(*(np.zeros((rows, count), np.int64) for count in (threads, threads, words)))

    def repeated(self, rows: int) -> _Order:
        """One row's times for each of so many."""
        return _Order(*(np.repeat(a, rows, axis=0) for a in (self.fenced, self.acquired, self.released)))


class Shadow:
    """The state of all blocks of a batch; one row stands for all of them while ``alike``.

    ``granule`` is the number of bytes that are told apart. Methods take, of each lane, its row, its words
    (lanes, words a lane) and its thread, and give a bool a lane.
    """

    def __init__(self, nbytes: int, blocks: int, threads: int, granule: int) -> None:
        self.granule = granule
        self.words = -(-nbytes // granule) + 1
        self.alike = True
        self._blocks = blocks
        self._written = np.zeros((1, self.words), np.int64)
        self._read = np.zeros((1, self.words), np.int64)
        self._time = 1
        self._barrier = np.zeros(1, np.int64)
        self._synced = np.zeros((1, threads // WARP), np.int64)
        self._threads = threads
        self._order: _Order | None = None
        self._completed = np.zeros(blocks, np.int64)
        self._proxied = np.zeros((blocks, threads), np.int64)
        self.outside: Outside | None = None

    def tell_apart(self) -> None:
        """Give each block a state of its own."""
        if self.alike and self._blocks > 1:
            self._written, self._read, self._synced = (
                np.repeat(a, self._blocks, axis=0) for a in (self._written, self._read, self._synced)
            )
            self._barrier = np.repeat(self._barrier, self._blocks)
            if self._order is not None:
                self._order = self._order.repeated(self._blocks)
        self.alike = self._blocks == 1

    @staticmethod
    def code(thread: np.ndarray) -> np.ndarray:
        """The code of each thread."""
        return thread // WARP << 6 | thread % WARP

    # Asking

    def never_written(self, row: np.ndarray, word: np.ndarray) -> np.ndarray:
        """Whether a lane's words have any that nobody wrote."""
        never = self._written[row[:, None], word] == 0
        if self.outside is not None and never.any():
            never &= self.outside.written[row[:, None], word] == 0
        return np.asarray(never.any(axis=1))

    def written_by_another(
        self, row: np.ndarray, word: np.ndarray, thread: np.ndarray, mine: np.ndarray, ordered: bool
    ) -> np.ndarray:
        """Whether another thread wrote one of the words with no barrier since. Atomics do not disturb each other."""
        return self._disturbed(self._written, row, word, thread, mine, ordered)

    def read_by_another(self, row: np.ndarray, word: np.ndarray, thread: np.ndarray, ordered: bool) -> np.ndarray:
        """Whether another thread read one of the words with no barrier since."""
        return self._disturbed(self._read, row, word, thread, self.code(thread), ordered)

    def _disturbed(
        self, stamps: np.ndarray, row: np.ndarray, word: np.ndarray, thread: np.ndarray, mine: np.ndarray, ordered: bool
    ) -> np.ndarray:
        stamp = stamps[row[:, None], word]
        recent = stamp >= (self._barrier[row] << _CODE_BITS)[:, None]
        recent &= stamp > 0
        if not recent.any():
            return recent.any(axis=1)
        code = stamp & _CODE_MASK
        other = recent & (code != mine[:, None])
        if not other.any():
            return other.any(axis=1)
        warp = thread // WARP
        same_warp = (code >> 6 == warp[:, None]) & (code < ATOMIC)
        settled = same_warp & ((stamp >> _CODE_BITS < self._synced[row, warp][:, None]) | ordered)
        if self._order is not None:
            settled |= stamp >> _CODE_BITS < self._order.acquired[row, thread][:, None]
        return (other & ~settled).any(axis=1)

    def last_writer(self, row: np.ndarray, word: np.ndarray, clash: np.ndarray) -> int:
        """Of the first lane that clashes: the thread that wrote last, ``ATOMIC``, or -1 where it is not known."""
        return self._who(self._written, row, word, clash)

    def last_reader(self, row: np.ndarray, word: np.ndarray, clash: np.ndarray) -> int:
        """Likewise the thread that read."""
        return self._who(self._read, row, word, clash)

    @staticmethod
    def _who(stamps: np.ndarray, row: np.ndarray, word: np.ndarray, clash: np.ndarray) -> int:
        lane = int(clash.argmax())
        code = int(stamps[row[lane], word[lane]].max() & _CODE_MASK)
        if code == ATOMIC:
            return ATOMIC
        return -1 if code == MANY_WARPS or code & _MANY_LANES else (code >> 6) * WARP + (code & _LANE_MASK)

    # Telling

    def write(self, row: np.ndarray, word: np.ndarray, mine: np.ndarray) -> np.ndarray:
        """The lanes write; whether another lane writes to the same word in the same instruction."""
        stamp = (self._time << _CODE_BITS | mine)[:, None]
        at = row[:, None]
        self._written[at, word] = stamp
        return (self._written[at, word] != stamp).any(axis=1)

    def read(self, row: np.ndarray, word: np.ndarray, thread: np.ndarray) -> None:
        """The lanes read."""
        at = row[:, None]
        mine = self.code(thread)[:, None]
        warp = (thread // WARP)[:, None]
        now = self._time << _CODE_BITS
        before = self._read[at, word]
        code = before & _CODE_MASK
        recent = (before > 0) & (before >= (self._barrier[row] << _CODE_BITS)[:, None]) & (code != mine)
        stamp = np.broadcast_to(now | mine, before.shape)
        if recent.any():
            same_warp = (code >> 6 == warp) & (code < ATOMIC)
            settled = same_warp & (before >> _CODE_BITS < self._synced[row, thread // WARP][:, None])
            if self._order is not None:
                settled |= before >> _CODE_BITS < self._order.acquired[row, thread][:, None]
            merged = np.where(same_warp, warp << 6 | _MANY_LANES, MANY_WARPS)
            stamp = np.where(recent & ~settled, now | merged, stamp)
        self._read[at, word] = stamp
        got = self._read[at, word]
        lost = got != stamp
        if lost.any():
            # Several lanes read the word in this instruction. First those of one warp, then of several: this one stays.
            rows, words = np.broadcast_to(at, word.shape)[lost], word[lost]
            warps = np.broadcast_to(warp, word.shape)[lost]
            alike = (got[lost] >> 6 & _LANE_MASK) == warps
            self._read[rows[alike], words[alike]] = now | warps[alike] << 6 | _MANY_LANES
            self._read[rows[~alike], words[~alike]] = now | MANY_WARPS

    def barrier(self, lanes: Lanes) -> None:
        """The blocks of these lanes pass a barrier."""
        self._time += 1
        rows = np.unique(lanes.row_index)
        if len(rows) < self._blocks:
            self.tell_apart()
        self._barrier[... if self.alike else rows] = self._time
        if self._order is not None:  # what one thread of the block has acquired, all have
            acquired = self._order.acquired
            which = np.arange(len(acquired)) if self.alike else rows
            acquired[which] = acquired[which].max(axis=1, keepdims=True)

    def warp_sync(self, lanes: Lanes) -> None:
        """The warps of these lanes are in step."""
        self._time += 1
        mask = lanes.warp_mask.any(axis=2)
        everywhere = len(lanes.extent) == 2 and lanes.extent[0] == self._blocks
        if not everywhere:
            self.tell_apart()
            mask = lanes.mask.reshape(lanes.blocks, -1, WARP).any(axis=2)
        here = np.broadcast_to(mask, self._synced.shape)
        self._synced[here] = self._time
        if self._order is not None:
            acquired = self._order.acquired.reshape(*here.shape, WARP)
            acquired[here] = acquired[here].max(axis=1, keepdims=True)

    # Fences

    def fence(self, row: np.ndarray, thread: np.ndarray) -> None:
        """The threads tell all they did so far to whoever sees what they write next by an atomic."""
        order = self._ordered()
        self._time += 1
        order.fenced[row, thread] = self._time

    def release(self, row: np.ndarray, word: np.ndarray, thread: np.ndarray) -> None:
        """The threads write by an atomic."""
        if self._order is not None:
            np.maximum.at(self._order.released, (row[:, None], word), self._order.fenced[row, thread][:, None])

    def acquire(self, row: np.ndarray, word: np.ndarray, thread: np.ndarray) -> None:
        """The threads read by an atomic."""
        self.acquire_from(row, word, row, thread)

    def release_to(self, owner: np.ndarray, word: np.ndarray, row: np.ndarray, thread: np.ndarray) -> None:
        """The threads write by an atomic to words of the shared memory of these blocks."""
        if self._order is not None:
            np.maximum.at(self._order.released, (owner[:, None], word), self._order.fenced[row, thread][:, None])

    def acquire_from(self, owner: np.ndarray, word: np.ndarray, row: np.ndarray, thread: np.ndarray) -> None:
        """The threads read by an atomic words of the shared memory of these blocks."""
        if self._order is not None:
            seen = self._order.released[owner[:, None], word].max(axis=1)
            np.maximum.at(self._order.acquired, (row, thread), seen)

    def _ordered(self) -> _Order:
        if self._order is None:
            self._order = _Order.none(len(self._written), self._threads, self.words)
        return self._order

    # Clusters

    def cluster_complete(self, rows: np.ndarray, released: np.ndarray, size: int) -> None:
        """All threads of the clusters of these blocks have arrived at its barrier: (blocks,) bool each.

        Where they arrive without release semantics, the barrier tells of what came before a fence.
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
        """What a thread's copy has written is as if it had done so itself, now."""
        self._written[owner[:, None], word] = (self._time << _CODE_BITS | self.code(thread))[:, None]

    def read_as(self, owner: np.ndarray, word: np.ndarray, thread: np.ndarray) -> None:
        """Likewise what it has read."""
        self._read[owner[:, None], word] = (self._time << _CODE_BITS | self.code(thread))[:, None]

    def moment(self) -> int:
        """Now; whatever is done next comes after it."""
        self._time += 1
        return self._time - 1

    def knows(
        self, row: np.ndarray, thread: np.ndarray, other: np.ndarray, its_thread: np.ndarray, moment: np.ndarray
    ) -> np.ndarray:
        """Whether threads know what a thread of row ``other`` did at a moment; (lanes,) each. A warp goes in step."""
        same_warp = thread // WARP == its_thread // WARP
        settled = (row == other) & (same_warp | (moment < self._barrier[row]))
        return np.asarray(settled | (moment < self.acquired(row, thread)))

    def tell_at(self, owner: int, word: np.ndarray) -> None:
        """All that a copy did so far is told to whoever asks these words."""
        order = self._ordered()
        self._time += 1
        order.released[owner, word] = self._time

    def fence_proxy(self, row: np.ndarray, thread: np.ndarray) -> None:
        """What the threads wrote so far may be read by bulk copies."""
        self._time += 1
        self._proxied[row, thread] = self._time

    def hidden_from_copies(
        self, owner: np.ndarray, word: np.ndarray, row: np.ndarray, thread: np.ndarray
    ) -> np.ndarray:
        """Whether a thread's bulk copy reads words that were written with no proxy fence since, by the writer or by it:
        (lanes,) bool.
        """
        stamp = self._written[owner[:, None], word]
        code = stamp & _CODE_MASK
        writer = np.minimum((code >> 6) * WARP + (code & _LANE_MASK), self._threads - 1)
        fenced = np.maximum(self._proxied[owner[:, None], writer], self._proxied[row, thread][:, None])
        return np.asarray(((stamp > 0) & (code < ATOMIC) & (fenced <= stamp >> _CODE_BITS)).any(axis=1))

    # Other blocks of the cluster

    def acquired(self, row: np.ndarray, thread: np.ndarray) -> np.ndarray:
        """Up to when each thread knows what was done outside its block, (lanes,)."""
        return self._ordered().acquired[row, thread]

    def known_by_block(self) -> np.ndarray:
        """The same of whichever thread of each block knows most, (blocks,)."""
        return np.asarray(self._ordered().acquired.max(axis=1))

    def see_outside(self) -> Outside:
        """The state of accesses from outside; from now on there is one."""
        self.tell_apart()
        self._ordered()
        if self.outside is None:
            self.outside = Outside(self._blocks, self.words)
        return self.outside

    def touched_from_outside(
        self, owner: np.ndarray, word: np.ndarray, who: Accessors, *, store: bool, strong: bool
    ) -> tuple[np.ndarray, bool] | None:
        """Threads of other blocks touch words: (which clash, whether with a write); None where none does."""
        outside = self.see_outside()
        acquired = self.acquired(who.row, who.thread)
        for inner, outer, wrote in ((self._written, outside.written, True), (self._read, outside.read, False)):
            if not wrote and not store:
                break
            stamp = inner[owner[:, None], word]
            found = (stamp > 0) & (stamp >> _CODE_BITS >= acquired[:, None])
            if strong:
                found &= stamp & _CODE_MASK != ATOMIC
            clash = found.any(axis=1) | outside.unsettled_from(
                outer, owner, word, who, acquired, *self._own(who), strong
            )
            if clash.any():
                return clash, wrote
        return None

    def note_from_outside(
        self, owner: np.ndarray, word: np.ndarray, who: Accessors, *, store: bool, strong: bool
    ) -> np.ndarray:
        """Remember it; whether another lane writes to the same word in the same instruction."""
        outside = self.see_outside()
        if not store:
            if not strong:
                acquired = self.acquired(who.row, who.thread)
                outside.note_read(owner, word, self._time, who, acquired, *self._own(who))
            return np.zeros(len(owner), bool)
        stamp = outside.stamp(self._time, who, strong)
        outside.written[owner[:, None], word] = stamp
        return np.asarray((outside.written[owner[:, None], word] != stamp).any(axis=1))

    def _own(self, who: Accessors) -> tuple[np.ndarray, np.ndarray]:
        """Times of the last barrier of each thread's block and of the last time its warp was in step."""
        return self._barrier[who.row], self._synced[who.row, who.thread // WARP]

    @property
    def time(self) -> int:
        """Now."""
        return self._time
