"""Shadow of shared memory: for each word the thread that wrote it last, the threads that read it, and the times.

A stamp is ``time << 12 | atomic << 11 | who``. ``who`` is one lane (``warp << 6 | lane``), several lanes of one warp
(``warp << 6 | 32``), or threads of several warps. The time grows at each barrier and warp-synchronous instruction.

A shuffle or a vote is no barrier of memory (CUDA C++ Programming Guide, "Warp Shuffle Functions"): lanes that exchange
values do not see what each other wrote, unless a fence stands behind the write: then it was done before the exchange.
A later write of one of them still comes after what the others read before: they had these values when they came to the
exchange.

A flag or a lock also orders accesses. A thread makes accesses, then a fence (or a release), then an atomic write.
Another thread that reads the written word by an atomic comes after these accesses: up to the time that it has acquired,
and of each warp up to what :mod:`softlab.instruments.warp_knowledge` has heard of it. Of what a lane did by itself, the
other lanes of its warp publish what came before the warp synchronised last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.emulator.lanes import WARP, Box, Lanes, Value
from softlab.instruments.events import AccessLog
from softlab.instruments.known_accesses import KnownAccesses
from softlab.instruments.shadow_patterns import AccessPattern
from softlab.instruments.warp_knowledge import WarpKnowledge
from softlab.instruments.warp_meetings import WarpMeetings
from softlab.instruments.warp_syncs import WarpSyncs, names_all, passes_alone, warps_of

CODE_BITS = 12
CODE_MASK = (1 << CODE_BITS) - 1
MANY_LANES = 32
LANE_MASK = 31
#: The bit of writes by atomics.
ATOMIC = 1 << 11
WHO_MASK = ATOMIC - 1
#: A block has at most 32 warps, and lane codes end at 32, so this number is free.
MANY_WARPS = WHO_MASK


@dataclass(frozen=True)
class _Order:
    """Times of fences, one row per block.

    ``fenced`` (rows, threads): each thread's last fence; ``acquired`` (rows, threads): the last fence that each thread
    comes after; ``released`` (rows, words): the fence before the last atomic write to each word.
    """

    fenced: np.ndarray
    acquired: np.ndarray
    released: np.ndarray

    @classmethod
    def none(cls, rows: int, threads: int, words: int) -> _Order:
        """No fence yet."""
        return cls(*(np.zeros((rows, count), np.int64) for count in (threads, threads, words)))

    def repeated(self, rows: int) -> _Order:
        """The times of one row, repeated for ``rows`` rows."""
        return _Order(*(np.repeat(a, rows, axis=0) for a in (self.fenced, self.acquired, self.released)))


class Shadow:
    """The state of all blocks of a batch. One row stands for all of them while they are ``alike``.

    ``granule``: bytes per watched word. Methods take the row, the words (lanes, words per lane) and the thread of each
    lane. Those that ask give one bool per lane.
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
        self._exchanged = np.zeros_like(self._synced)
        self._threads = threads
        self._order: _Order | None = None
        #: Kept as long as ``_order``.
        self._knowledge: WarpKnowledge | None = None
        self._meetings: WarpMeetings | None = None
        self._syncs = WarpSyncs()
        self._accesses = AccessLog()
        self._known_accesses: KnownAccesses | None = None

    @property
    def time(self) -> int:
        """The present time."""
        return self._time

    @property
    def threads(self) -> int:
        """Threads per block, padded to whole warps."""
        return self._threads

    @property
    def has_groups(self) -> bool:
        """Whether barriers of some warps, or of groups of lanes, order accesses."""
        return self._meetings is not None or bool(self._syncs.held)

    @property
    def has_meetings(self) -> bool:
        """Whether barriers of some warps order accesses."""
        return self._meetings is not None

    @property
    def has_only_barriers(self) -> bool:
        """Whether nothing but barriers of whole blocks and of whole warps orders accesses."""
        return self._order is None and not self.has_groups

    @property
    def met(self) -> np.ndarray | None:
        """(rows, warps, warps): until when the first warp comes after the second, by barriers of some warps."""
        return self._meetings.known if self._meetings is not None else None

    @property
    def has_order(self) -> bool:
        """Whether fences or mbarriers order accesses."""
        return self._order is not None

    def changing(self) -> tuple[Any, ...]:
        """Objects of which another one takes the place whenever :meth:`tables` gives other arrays."""
        known = self._known_accesses
        return self._written, self._order, None if known is None else known.threads, None

    def tables(self) -> list[np.ndarray | None]:
        """Its arrays: written, read, threads of words, barrier, synced, heard, tells, acquired, and of other blocks."""
        heard = self._knowledge.heard if self._knowledge is not None else None
        tells = self._knowledge.tells if self._knowledge is not None else None
        acquired = self._order.acquired if self._order is not None else None
        own: list[np.ndarray | None] = [
            self._written,
            self._read,
            self._accesses_of_words().threads,
            self._barrier,
            self._synced,
        ]
        return [*own, heard, tells, acquired, None, None]

    def begin_access(self, instruction: int) -> None:
        """An instruction is about to access shared memory: a time of its own."""
        self._time += 1
        self._accesses.record(self._time, instruction)

    def written_before(self, words: slice) -> None:
        """The words hold values from before the kernel began."""
        self._written[:, words] = self._time << CODE_BITS
        self._time += 1
        self._barrier[:] = self._time

    def tell_apart(self) -> None:
        """Give each block a state of its own."""
        if self.alike and self._blocks > 1:
            self._written, self._read, self._synced, self._exchanged = (
                np.repeat(a, self._blocks, axis=0) for a in (self._written, self._read, self._synced, self._exchanged)
            )
            self._barrier = np.repeat(self._barrier, self._blocks)
            self._syncs.repeat(self._blocks)
            if self._known_accesses is not None:
                self._known_accesses.repeat(self._blocks)
            if self._order is not None:
                self._order = self._order.repeated(self._blocks)
                self._known().repeat(self._blocks)
            if self._meetings is not None:
                self._meetings.repeat(self._blocks)
        self.alike = self._blocks == 1

    @staticmethod
    def code(thread: np.ndarray) -> np.ndarray:
        """The code of each thread."""
        return thread // WARP << 6 | thread % WARP

    # Questions

    def instruction_at(self, time: int) -> int | None:
        """The instruction that made the access of a time; None if it is not known."""
        return self._accesses.instruction(time)

    def stamps(self, written: bool) -> np.ndarray:
        """The stamps of the last writes, or of the last reads: (rows, words)."""
        return self._written if written else self._read

    def never_written(self, row: np.ndarray, word: np.ndarray) -> np.ndarray:
        """Whether nobody has written one of a lane's words."""
        return np.asarray((self._written[row[:, None], word] == 0).any(axis=1))

    def written_by_another(self, row: np.ndarray, word: np.ndarray, thread: np.ndarray, strong: bool) -> np.ndarray:
        """Whether another thread wrote one of the words with no barrier since. ``strong`` ones do not clash."""
        return np.asarray(self._unordered(self._written, row, word, thread, self._synced, strong).any(axis=1))

    def read_by_another(self, row: np.ndarray, word: np.ndarray, thread: np.ndarray) -> np.ndarray:
        """Whether another thread read one of the words with no barrier since, and no exchange of its warp's lanes."""
        found = self._unordered(self._read, row, word, thread, self._synced)
        if found.any() and self._exchanged.any():
            found = self._unordered(self._read, row, word, thread, np.maximum(self._synced, self._exchanged))
        return np.asarray(found.any(axis=1))

    def only_exchanged(self, row: np.ndarray, word: np.ndarray, thread: np.ndarray) -> np.ndarray:
        """Whether another lane of the warp wrote one of the words, and the lanes have exchanged values since."""
        stamp, warp = self._written[row[:, None], word], thread // WARP
        who = stamp & WHO_MASK
        other = (who >> 6 == warp[:, None]) & (who != MANY_WARPS) & (who != self.code(thread)[:, None]) & (stamp > 0)
        return np.asarray((other & (stamp >> CODE_BITS < self._exchanged[row, warp][:, None])).any(axis=1))

    def _unordered(
        self,
        stamps: np.ndarray,
        row: np.ndarray,
        word: np.ndarray,
        thread: np.ndarray,
        synced: np.ndarray,
        strong: bool = False,
    ) -> np.ndarray:
        """Whether another thread's access in ``stamps`` is unordered with this one, for each word.

        ``synced``: until when a warp's lanes come after each other, (rows, warps).
        """
        stamp = stamps[row[:, None], word]
        other = self._recent(stamp, row)
        if other.any():
            other &= stamp & WHO_MASK != self.code(thread)[:, None]
            if strong:
                other &= stamp & ATOMIC == 0
        if other.any():
            other &= ~self._in_order(other, row, word, thread, stamp, synced)
        if self._order is not None and (several := other & (stamp & WHO_MASK == MANY_WARPS)).any():
            other &= ~(several & self._last_itself(row, word, thread, stamp, synced))
        return np.asarray(other)

    def _last_itself(
        self, row: np.ndarray, word: np.ndarray, thread: np.ndarray, stamp: np.ndarray, synced: np.ndarray
    ) -> np.ndarray:
        """Whether the last of several accesses is a thread's own, or its warp's, and it has heard of the other warp.

        When that one accessed the word is not known.
        """
        if self._known_accesses is None:
            return np.zeros(stamp.shape, bool)
        at, warp = (row[:, None], word), (thread // WARP)[:, None]
        first, last = (threads[at].astype(np.int64) for threads in self._known_accesses.threads)
        before = stamp >> CODE_BITS < synced[at[0], warp]
        heard = self._known().heard[at[0], warp, np.maximum(first, 0) // WARP] > self._barrier[row][:, None]
        own = (last == thread[:, None]) | (last // WARP == warp) & before
        return np.asarray(own & ((first // WARP == warp) | heard))

    def _in_order(
        self,
        asked: np.ndarray,
        row: np.ndarray,
        word: np.ndarray,
        thread: np.ndarray,
        stamp: np.ndarray,
        synced: np.ndarray,
    ) -> np.ndarray:
        """Whether these threads come after what other threads did: the stamps that are ``asked`` for."""
        who, warp = stamp & WHO_MASK, thread // WARP
        same_warp = (who >> 6 == warp[:, None]) & (who != MANY_WARPS)
        in_order = same_warp & (stamp >> CODE_BITS < synced[row, warp][:, None])
        if self._syncs:
            in_order |= self._in_order_by_groups(asked & same_warp & ~in_order, row, word, thread, stamp)
        time, several = stamp >> CODE_BITS, np.asarray(who == MANY_WARPS)
        other = np.where(several, 0, who >> 6)
        if self._order is not None:
            # Of several warps the latest one has the stamp's time, and which one that is, is not known.
            acquired = time < self._order.acquired[row, thread][:, None]
            heard = acquired & (several | self._has_heard(row, warp, other, time))
            if (asked & heard & ~in_order).any():
                heard &= same_warp | self._lane_tells(row, who, time, synced)
            in_order |= heard
        if self._meetings is not None:
            in_order |= ~several & (time < self._meetings.known[row[:, None], warp[:, None], other])
            if (several & ~in_order).any():
                in_order |= several & self._after_both(row, word, thread, time, synced[row, warp][:, None])
        return np.asarray(in_order)

    def _lane_tells(self, row: np.ndarray, who: np.ndarray, time: np.ndarray, synced: np.ndarray) -> np.ndarray:
        """Whether what a lane did comes before what its warp publishes; of several lanes that is not known."""
        warp, rows = np.where(who == MANY_WARPS, 0, who >> 6), row[:, None]
        thread = warp * WARP + (who & LANE_MASK)
        found = (who & MANY_LANES != 0) | (time < self._known().tells[rows, thread]) | (time < synced[rows, warp])
        return np.asarray(found | self._syncs.since(rows, thread, time) if self._syncs else found)

    def _has_heard(self, row: np.ndarray, warp: np.ndarray, other: np.ndarray, time: np.ndarray) -> np.ndarray:
        return np.asarray(time < self._known().heard[row[:, None], warp[:, None], other])

    def _after_both(
        self, row: np.ndarray, word: np.ndarray, thread: np.ndarray, time: np.ndarray, synced: np.ndarray
    ) -> np.ndarray:
        """Whether threads come after the two known ones of several that accessed words, by barriers of some warps too.

        ``time``: of the stamps. ``synced``: of the threads' warps, (threads, 1). An access that is not known counts as
        in order.
        """
        assert self._meetings is not None
        found, warp = np.ones(time.shape, bool), thread // WARP
        for known, when in self._accesses_of_words().of(row[:, None], word):
            other = np.maximum(known, 0) // WARP
            after = (known == thread[:, None]) | ((other == warp[:, None]) & (when < synced))
            after |= when < self._meetings.known[row[:, None], warp[:, None], other]
            if self._order is not None:
                acquired = when < self._order.acquired[row, thread][:, None]
                after |= acquired & self._has_heard(row, warp, other, when)
            found &= after | (known < 0) | (when == 0) | (when > time)  # the last: of a write, the stamp is of reads
        return found

    def _in_order_by_groups(
        self, asked: np.ndarray, row: np.ndarray, word: np.ndarray, thread: np.ndarray, stamp: np.ndarray
    ) -> np.ndarray:
        """Whether groups of lanes order the accesses that are asked for with earlier ones of the same warp.

        Of several lanes that accessed a word together, two are known.
        """
        found = np.zeros_like(asked)
        lane, at = np.nonzero(asked)
        if not len(lane):
            return found
        rows, words, mine = row[lane], word[lane, at], thread[lane]
        code, time = stamp[lane, at] & WHO_MASK, stamp[lane, at] >> CODE_BITS
        warp, several = mine // WARP, code & MANY_LANES != 0
        others = [np.where(several, -1, code & LANE_MASK)]
        if several.any() and self._known_accesses is not None:
            known = self._known_accesses.threads[:, rows, words].astype(np.int64)
            others += list(np.where(several & (known // WARP == warp), known % WARP, -1))
        ordered = np.ones(len(lane), bool)
        for other in others:
            ordered &= (other < 0) | self._syncs.ordered(rows, warp, np.maximum(other, 0), mine % WARP, time)
        found[lane, at] = ordered
        return found

    def earlier(self, wrote: bool, row: int, words: np.ndarray, thread: int) -> tuple[int | None, int | None]:
        """(thread, instruction) of the last access to one of the words by another thread; None if not known."""
        stamps = (self._written if wrote else self._read)[row, words]
        word, stamp = int(words[stamps.argmax()]), int(stamps.max())
        who = stamp & WHO_MASK
        other = None if who & MANY_LANES else (who >> 6) * WARP + (who & LANE_MASK)
        if other is None and self._known_accesses is not None:
            known = self._known_accesses.latest_first(row, word, stamp >> CODE_BITS)
            known = [(t, time) for t, time in known if t != thread]
            unordered = (t for t, time in known if thread < 0 or not self._comes_after(row, thread, t, time))
            other = next(unordered, known[0][0] if known else None)
        return other, self._accesses.instruction(stamp >> CODE_BITS)

    def _comes_after(self, row: int, thread: int, other: int, time: int) -> bool:
        """Whether a thread of a block comes after what another one did at a time."""
        stamp = time << CODE_BITS | self.code(np.array([[other]]))
        one = np.ones((1, 1), bool)
        return bool(
            self._in_order(one, np.array([row]), np.array([[0]]), np.array([thread]), stamp, self._synced).all()
        )

    @property
    def known_threads(self) -> np.ndarray | None:
        """(2, rows, words): two of several threads that a stamp stands for; -1 for none."""
        return self._known_accesses.threads if self._known_accesses is not None else None

    def _accesses_of_words(self) -> KnownAccesses:
        if self._known_accesses is None:
            self._known_accesses = KnownAccesses(*self._read.shape)
        return self._known_accesses

    def last_writer(self, row: np.ndarray, word: np.ndarray, clash: np.ndarray) -> int:
        """For the first lane that clashes: the thread that wrote last, ``ATOMIC``, or -1 if it is not known."""
        return self._who(self._written, row, word, clash)

    def last_reader(self, row: np.ndarray, word: np.ndarray, clash: np.ndarray) -> int:
        """For the first lane that clashes: the thread that read last, or -1 if it is not known."""
        return self._who(self._read, row, word, clash)

    @staticmethod
    def _who(stamps: np.ndarray, row: np.ndarray, word: np.ndarray, clash: np.ndarray) -> int:
        lane = int(clash.argmax())
        code = int(stamps[row[lane], word[lane]].max() & CODE_MASK)
        if code & ATOMIC:
            return ATOMIC
        return -1 if code & MANY_LANES else (code >> 6) * WARP + (code & LANE_MASK)

    # Records

    def write(self, row: np.ndarray, word: np.ndarray, thread: np.ndarray) -> np.ndarray:
        """Record plain writes. Returns whether another lane writes the same word in the same instruction."""
        stamp = (self._time << CODE_BITS | self.code(thread))[:, None]
        at = row[:, None]
        self._written[at, word] = stamp
        return (self._written[at, word] != stamp).any(axis=1)

    def write_strong(self, row: np.ndarray, word: np.ndarray, thread: np.ndarray) -> None:
        """Record writes by atomics. A word that its thread has just written by a plain store stays a plain one.

        It does so until the thread's warp synchronises: the new time would undo what that orders.
        """
        before = self._written[row[:, None], word]
        plain = self._recent(before, row) & (before & CODE_MASK == self.code(thread)[:, None])
        plain &= before >> CODE_BITS >= self._synced[row, thread // WARP][:, None]
        if self._syncs and plain.any():
            plain &= ~self._syncs.since(row[:, None], thread[:, None], before >> CODE_BITS)
        self._merge(self._written, row, word, thread, np.where(plain, 0, ATOMIC))

    def read(self, row: np.ndarray, word: np.ndarray, thread: np.ndarray) -> None:
        """Record reads."""
        self._merge(self._read, row, word, thread, np.zeros((1, 1), np.int64))

    def pattern(self, word: np.ndarray, thread: np.ndarray, first: int) -> AccessPattern:
        """What an access of these words by a block's lanes records; they are counted from the word ``first``."""
        least = int(word.min())
        alone = Shadow((int(word.max()) - least + 1) * self.granule, 1, self._threads, self.granule)
        alone.read(np.zeros(len(thread), np.int64), word - least, thread)
        words = np.unique(word)
        at = words - least
        codes = alone._read[0, at] & CODE_MASK
        known = [] if alone.known_threads is None else [threads[0, at] for threads in alone.known_threads]
        threads = tuple(((words - first)[one >= 0], one[one >= 0]) for one in known)
        last = np.zeros(alone.words, np.int16)
        last[word - least] = thread[:, None]
        return AccessPattern(words - first, codes, last[at], not (codes & MANY_LANES).any(), threads)

    @property
    def alone_since(self) -> int:
        """The least stamp since the last barrier, while one row stands for all blocks."""
        return max(int(self._barrier[0]) << CODE_BITS, 1)

    def record_alone(self, pattern: AccessPattern, first: int, store: bool) -> bool:
        """Record an access to words that no thread has accessed since the last barrier, and that it may access.

        False, and nothing is recorded, where that is not known at once.
        """
        words, since = pattern.at(first), self.alone_since
        written = self._written[0, words]
        if written.max() >= since or self._read[0, words].max() >= since:
            return False
        if not pattern.distinct if store else written.min() == 0:
            return False
        (self._written if store else self._read)[0, words] = self._time << CODE_BITS | pattern.codes
        if pattern.threads:
            known = self._accesses_of_words().threads
            for number, (word, thread) in enumerate(pattern.threads):
                known[number, 0, word + first] = thread
        return True

    def record_again(self, pattern: AccessPattern, first: int) -> bool:
        """Record a write by an atomic to words of which only the times change, while one row stands for all blocks.

        The stamp of each word stands for several threads, of one warp where only this warp writes now. They wrote by
        atomics since the last barrier, and nobody read by other means. False, and nothing is recorded, where that is
        not so, or where fences or groups order accesses.
        """
        if not self.has_only_barriers:
            return False
        words, since = pattern.at(first), self.alone_since
        written = self._written[0, words]
        if written.min() < since or self._read[0, words].max() >= since:
            return False
        code = written & CODE_MASK
        many = code == ATOMIC | MANY_WARPS
        if not many.all():
            warp = np.where(pattern.codes == MANY_WARPS, 0, pattern.codes >> 6)
            same_warp = (pattern.codes != MANY_WARPS) & (code == ATOMIC | MANY_LANES | warp << 6)
            if not (many | same_warp & (written >> CODE_BITS >= self._synced[0, warp])).all():
                return False
        self._written[0, words] = self._time << CODE_BITS | code
        self._accesses_of_words().threads[1, 0, words] = pattern.last
        return True

    def _recent(self, stamp: np.ndarray, row: np.ndarray) -> np.ndarray:
        """The stamps since the last barrier of the block."""
        return (stamp > 0) & (stamp >= (self._barrier[row] << CODE_BITS)[:, None])

    def _merge(
        self, stamps: np.ndarray, row: np.ndarray, word: np.ndarray, thread: np.ndarray, kind: np.ndarray
    ) -> None:
        """Record accesses that do not race with each other: a stamp stands for all threads that are unordered.

        ``kind``: ``ATOMIC`` or 0, for each word.
        """
        at, warp = row[:, None], (thread // WARP)[:, None]
        now = self._time << CODE_BITS | kind
        before = stamps[at, word]
        who = before & WHO_MASK
        asked = self._recent(before, row) & (who != self.code(thread)[:, None]) & (before & ATOMIC == kind)
        stamp = np.broadcast_to(now | self.code(thread)[:, None], before.shape)
        if asked.any():
            together = asked & ~self._in_order(asked, row, word, thread, before, self._synced)
            same_warp = (who >> 6 == warp) & (who != MANY_WARPS)
            stamp = np.where(together, now | np.where(same_warp, warp << 6 | MANY_LANES, MANY_WARPS), stamp)
            if together.any():
                rows, threads = np.broadcast_to(at, word.shape)[together], np.broadcast_to(thread[:, None], word.shape)
                earlier = np.where(who & MANY_LANES, -1, (who >> 6) * WARP + (who & LANE_MASK))
                known, since = self._accesses_of_words(), before[together] >> CODE_BITS
                known.note(rows, word[together], earlier[together], threads[together], self._time, since)
        stamps[at, word] = stamp
        lost = stamps[at, word] != stamp
        if lost.any():
            self._merge_lanes(stamps, row, word, thread, lost)

    def _merge_lanes(
        self, stamps: np.ndarray, row: np.ndarray, word: np.ndarray, thread: np.ndarray, lost: np.ndarray
    ) -> None:
        """Several lanes access a word in one instruction: of one warp, or of several, which overwrites the first."""
        rows, words = np.broadcast_to(row[:, None], word.shape)[lost], word[lost]
        got = stamps[rows, words]
        winner = np.where(got & MANY_LANES, -1, (got & WHO_MASK) // 64 * WARP + (got & LANE_MASK))
        losers = np.broadcast_to(thread[:, None], word.shape)[lost]
        known = self._accesses_of_words()
        known.note(rows[::-1], words[::-1], losers[::-1], winner[::-1], self._time, self._time)
        warps = losers // WARP
        alike = (got >> 6 & LANE_MASK) == warps
        base = got & ~WHO_MASK
        stamps[rows[alike], words[alike]] = base[alike] | warps[alike] << 6 | MANY_LANES
        stamps[rows[~alike], words[~alike]] = base[~alike] | MANY_WARPS

    def arrive_ahead(self, barrier: int, lanes: Lanes) -> None:
        """These lanes arrive at a barrier of their block and go on."""
        self.tell_apart()
        self._time += 1
        here = warps_of(lanes)
        self._synced[here] = self._time
        self._met_so_far().arrive(barrier, here, self._time)

    def barrier(
        self,
        lanes: Lanes,
        live: np.ndarray | None = None,
        ahead: Lanes | None = None,
        number: int | None = None,
    ) -> None:
        """The warps of these lanes pass a barrier of their block.

        ``live``: (blocks, threads) bool, the lanes that have not exited. Without it all of them pass the barrier.
        ``ahead``: lanes that had arrived and gone on, at the barrier of this ``number``. The others come after what
        they did before, and they after nobody.
        """
        self._time += 1
        if ahead is None and passes_alone(lanes, live):
            self._pass(...)
            return
        rows = np.unique(lanes.row_index)
        if ahead is not None or (live is not None and lanes.count < live.sum()):
            here = warps_of(lanes)
            waiting = here if ahead is None else here & ~warps_of(ahead)
            others = here if live is None else here | live.reshape(*here.shape, WARP).any(axis=2)
            others = others & ~waiting
            some = np.asarray(here.any(axis=1) & others.any(axis=1))
            if some.any():
                self.tell_apart()
                for row in np.flatnonzero(some):
                    self._meet(int(row), np.flatnonzero(here[row]), np.flatnonzero(waiting[row]), number)
                rows = rows[~some[rows]]
                if not len(rows):
                    return
        if len(rows) < self._blocks:
            self.tell_apart()
        self._pass(... if self.alike else rows)

    def _pass(self, rows: Any) -> None:
        """All threads of the blocks in these rows pass a barrier."""
        self._barrier[rows] = self._time
        if self._order is not None:  # all threads of the block now know what one of them has acquired
            acquired = self._order.acquired
            acquired[rows] = acquired[rows].max(axis=1, keepdims=True)

    def expect_meetings(self) -> None:
        """The kernel has barriers for some of the warps: keep what they order from the beginning."""
        self._met_so_far()

    def _met_so_far(self) -> WarpMeetings:
        if self._meetings is None:
            self._meetings = WarpMeetings(*self._synced.shape)
            self._accesses_of_words().keep_times()
        return self._meetings

    def _meet(self, row: int, warps: np.ndarray, waiting: np.ndarray, barrier: int | None) -> None:
        """Warps of a block pass a barrier, which those that are not ``waiting`` had arrived at."""
        self._met_so_far().meet(row, warps, waiting, self._time, barrier)
        self._synced[row, waiting] = self._time
        if self._order is not None:
            acquired = self._order.acquired[row].reshape(-1, WARP)
            acquired[waiting] = acquired[warps].max()
            self._known().join(row, warps, waiting)

    def warp_sync(self, lanes: Lanes, members: Value) -> None:
        """The lanes of each warp that name each other synchronise."""
        self._time += 1
        if lanes.full and self._order is None and names_all(members):
            self._synced[...] = self._time
            return
        masks = self._groups(lanes, members)
        if masks is not None and self._syncs.record(masks, self._time):
            self._acquire_together(masks)
            return
        here = self._warps_of(lanes)
        self._synced[here] = self._time
        self._acquire_as_warps(here)

    def lanes_exchange(self, lanes: Lanes, members: Value) -> None:
        """The lanes of each warp that name each other exchange values: they learn what one of them has acquired.

        What they have read counts for the whole warp, and so does what was done before the warp's last fence.
        """
        self._time += 1
        masks = self._groups(lanes, members)
        here = self._warps_of(lanes)
        self._exchanged[here] = self._time
        if self._order is not None:
            fenced = self._order.fenced.reshape(*here.shape, WARP).max(axis=2)
            np.copyto(self._synced, np.maximum(self._synced, fenced), where=here)
        if masks is not None:
            self._acquire_together(masks)
        else:
            self._acquire_as_warps(here)

    def _groups(self, lanes: Lanes, members: Value) -> np.ndarray | None:
        """(blocks, warps, 32): the mask that each lane names, 0 for others; None if each warp has one group."""
        masks = WarpSyncs.grouping(lanes, members)
        if masks is None:
            return None
        self.tell_apart()
        masks = np.broadcast_to(masks, (lanes.blocks, *masks.shape[1:])).copy()
        masks[~lanes.mask.reshape(masks.shape)] = 0
        return masks

    def _warps_of(self, lanes: Lanes) -> np.ndarray:
        """(rows, warps) bool: the warps with lanes of the set. One row stands for all blocks if all take part."""
        mask = lanes.warp_mask.any(axis=2)
        everywhere = len(lanes.extent) == 2 and lanes.extent[0] == self._blocks
        if not everywhere:
            self.tell_apart()
            mask = lanes.mask.reshape(lanes.blocks, -1, WARP).any(axis=2)
        return np.broadcast_to(mask, self._synced.shape)

    def _acquire_as_warps(self, here: np.ndarray) -> None:
        """Lanes of these warps learn what one of them has acquired."""
        if self._order is not None:
            acquired = self._order.acquired.reshape(*here.shape, WARP)
            acquired[here] = acquired[here].max(axis=1, keepdims=True)

    def _acquire_together(self, masks: np.ndarray) -> None:
        """Lanes of a group learn what one of them has acquired."""
        if self._order is not None:
            acquired = self._order.acquired.reshape(masks.shape)
            named = (masks[..., None] >> np.arange(WARP, dtype=np.uint32) & np.uint32(1)).astype(bool)
            joined = np.where(named, acquired[:, :, None, :], 0).max(axis=3)
            np.maximum(acquired, joined, out=acquired)

    # Fences

    def fence(self, row: np.ndarray, thread: np.ndarray) -> None:
        """What the threads write next by an atomic publishes all that they did so far."""
        order = self._ordered()
        self._time += 1
        order.fenced[row, thread] = self._time
        self._known().fence(row, thread, self._time, self.met)

    def release(self, row: np.ndarray, word: np.ndarray, thread: np.ndarray) -> None:
        """The threads write by an atomic."""
        self.release_to(row, word, row, thread)

    def acquire(self, row: np.ndarray, word: np.ndarray, thread: np.ndarray) -> None:
        """The threads read by an atomic."""
        self.acquire_from(row, word, row, thread)

    def exchange(self, owner: np.ndarray, word: np.ndarray, row: np.ndarray, thread: np.ndarray) -> None:
        """The threads read and write by an atomic, one after the other: each learns what those before it published.

        The words are in the shared memory of the blocks ``owner``.
        """
        self.acquire_from(owner, word, row, thread)
        if self._order is not None and len(thread) > 1:
            cell = owner * self.words + word[:, 0]
            turn = np.argsort(cell, kind="stable")
            fenced = self._order.fenced[row, thread][turn]
            group = np.cumsum(np.diff(cell[turn], prepend=cell[turn[0]]) != 0) * (fenced.max() + 1)
            earlier = np.concatenate(([0], np.maximum.accumulate(fenced + group)[:-1])) - group
            np.maximum.at(self._order.acquired, (row[turn], thread[turn]), earlier)
        self.release_to(owner, word, row, thread)
        if self._order is not None:
            self._known().acquire(owner, word, row, thread)

    def release_to(
        self,
        owner: np.ndarray,
        word: np.ndarray,
        row: np.ndarray,
        thread: np.ndarray,
        phase: np.ndarray | None = None,
    ) -> None:
        """The threads write by an atomic to words of the shared memory of these blocks.

        ``phase``, (lanes,): the words are those of mbarriers, and the threads arrive in these phases.
        """
        if self._order is None:
            return
        np.maximum.at(self._order.released, (owner[:, None], word), self._order.fenced[row, thread][:, None])
        if phase is None:
            self._known().release(owner, word, row, thread)
        else:
            self._known().arrive(owner, word[:, 0], row, thread, phase, self._time, self.met)

    def acquire_from(
        self,
        owner: np.ndarray,
        word: np.ndarray,
        row: np.ndarray,
        thread: np.ndarray,
        phase: np.ndarray | None = None,
    ) -> None:
        """The threads read by an atomic words of the shared memory of these blocks.

        ``phase``, (lanes,): the words are those of mbarriers, and the threads have waited for these phases.
        """
        if self._order is None:
            return
        seen = self._order.released[owner[:, None], word].max(axis=1)
        np.maximum.at(self._order.acquired, (row, thread), seen)
        if phase is None:
            self._known().acquire(owner, word, row, thread)
        else:
            self._known().wait(owner, word[:, 0], row, thread, phase)

    def release_own(self, lanes: Box, words: np.ndarray, phase: np.ndarray) -> None:
        """The lanes arrive at the mbarrier of these words in their own blocks; ``phase``: (blocks, 1)."""
        order = self._ordered()
        self._time += 1
        order.fenced[lanes.index] = self._time
        order.released[lanes.row_index, words] = self._time  # later than all before
        self._known().arrive_own(lanes, int(words[0]), phase, self._time, self.met)

    def acquire_own(self, lanes: Box, words: np.ndarray, phase: np.ndarray) -> None:
        """The lanes have waited for the phase of the mbarrier of these words in their own blocks."""
        if self._order is not None:
            seen = self._order.released[lanes.row_index, words].max(axis=1, keepdims=True)
            self._order.acquired[lanes.index] = np.maximum(self._order.acquired[lanes.index], seen)
            self._known().wait_own(lanes, int(words[0]), phase)

    def _ordered(self) -> _Order:
        if self._order is None:
            self._order = _Order.none(len(self._written), self._threads, self.words)
            self._knowledge = WarpKnowledge(len(self._written), self._threads // WARP, self.words)
        return self._order

    def _known(self) -> WarpKnowledge:
        assert self._knowledge is not None
        return self._knowledge
