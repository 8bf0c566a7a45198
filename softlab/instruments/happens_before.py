"""Which earlier events each warp of a batch comes after: the order that barriers, fences and flags make.

Time is a number that the owner of the order counts. What a warp knows of another warp is a time: everything that the
other warp did before this time happens before what the warp does now. Two threads are ordered

- in one warp, by a barrier of the warp; by a shuffle or a vote what came before the warp's last fence,
- in one block, by a barrier, also a named one, for the warps that take part,
- anywhere, by a release and an acquire: a thread makes a fence, then writes a word by a strong access (an atomic, or a
  volatile or relaxed store); another thread reads the word by a strong access. The reader needs no fence here: code in
  the wild often leaves it away.

A fence of the scope of a block publishes only to the own block. What one lane acquires, the other lanes of its warp
know when they have synchronised or exchanged values with it, or have read such a word themselves. A lane releases what
it did itself, and what the lanes of its warp did before they synchronised last. What other lanes did later counts as
released when they make a fence of their own, or synchronise with anybody. So a little too much may be ordered, and
nothing that is in order is taken for a race.

Blocks of earlier batches of the launch ran before, but a GPU may run them at the same time. One more column holds the
time up to which a warp knows all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from softlab.emulator.lanes import WARP, Lanes, Value
from softlab.instruments.lanes_told import LanesTold
from softlab.instruments.node_layout import COLUMNS, HAS_FAR, HEAD, PER_BLOCK, THREADS
from softlab.instruments.parts_of_warps import PartsOfWarps
from softlab.instruments.strong_access import StrongAccess
from softlab.instruments.told_words import ToldWords
from softlab.instruments.warp_meetings import WarpMeetings
from softlab.instruments.warp_syncs import WarpSyncs, distinct, passes_alone, warps_of

#: Warps of a batch from which on what is known of other blocks is kept per block, not per warp.
_MOST_COLUMNS = 2048
#: The lanes of a warp, and for each of them the mask of itself and those after it.
_LANES = np.arange(WARP, dtype=np.uint32)
_FROM_LANE = np.uint32(0xFFFFFFFF) << _LANES


@dataclass
class _Far:
    """What warps know of other blocks, and what their last fences publish.

    Each is (warps of the batch, columns + 1) int64. A column is a warp of the batch, or in very large batches a block.
    ``known``: what the warp knows; ``fenced`` and ``fenced_in_block``: what it knew at its last fence of the scope of
    the GPU and of any scope; 0 everywhere for a warp without a fence. ``differs`` (blocks,) bool: whether warps of the
    block have learnt or published anything since all of them met at a barrier.
    """

    known: np.ndarray
    fenced: np.ndarray
    fenced_in_block: np.ndarray
    differs: np.ndarray

    def meet(self, here: np.ndarray, waiting: np.ndarray) -> None:
        """Those warps of ``here`` that are waiting, (blocks, warps) bool each, learn what all warps of it know."""
        rows = np.flatnonzero(self.differs & waiting.any(axis=1))
        if not len(rows):
            return
        at: Any = slice(None) if len(rows) == len(self.differs) else rows
        here, waiting = here[rows, :, None], waiting[rows, :, None]
        all_wait = bool(waiting.all())
        for table in (self.known, self.fenced, self.fenced_in_block):
            blocks = table.reshape(*self.differs.shape, -1, table.shape[1])
            before = blocks[at]
            joined = (before if all_wait else np.where(here, before, 0)).max(axis=1, keepdims=True)
            blocks[at] = joined if all_wait else np.where(waiting, joined, before)
        self.differs[rows] = ~waiting.all(axis=(1, 2))


@dataclass(frozen=True)
class OwnWords:
    """One word per block, which the same warps of each block use.

    ``words``: one for each of ``rows``; ``before``: those whose news they take over; ``warps`` (rows, n): the warps of
    the batch; ``lanes`` (rows, m): the lanes of these warps that use them. ``in_block``: warps of a block.
    """

    words: tuple[int, ...]
    before: tuple[int, ...]
    rows: tuple[int, ...]
    warps: np.ndarray
    lanes: np.ndarray
    in_block: int

    @cached_property
    def row_index(self) -> np.ndarray:
        """The rows, (rows, 1)."""
        return np.array(self.rows)[:, None]

    @cached_property
    def numbers(self) -> np.ndarray:
        """0, 1, 2, ... for each of the rows, (rows, 1)."""
        return np.arange(len(self.rows))[:, None]

    @cached_property
    def columns(self) -> np.ndarray:
        """The warps of the batch in the blocks of the rows, (rows, warps of a block); ``in_block`` of them each."""
        return self.row_index * self.in_block + np.arange(self.in_block)

    @cached_property
    def of_lanes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of one lane of each warp: its word, the word before, and the lane, (rows * n,) int64 each."""
        words, before = (np.repeat(np.array(of, np.int64), self.warps.shape[1]) for of in (self.words, self.before))
        return words, before, self.warps.reshape(-1) * WARP


class HappensBefore:
    """The order of the events of one batch. Times that a warp knows are exclusive: it knows what is earlier."""

    def __init__(self, blocks: int, threads: int, earlier: dict[Hashable, int], *, of_reads: bool = False) -> None:
        """``earlier``: what words publish of earlier batches, as :meth:`published` of the batch before says it.
        The dictionary belongs to this object from now on.

        ``of_reads``: the order of reads with later writes. A thread that stores by a strong access has read before
        what it stores, so that no fence is needed.
        """
        self._of_reads = of_reads
        self.threads = threads
        self.warps = threads // WARP
        self._blocks = blocks
        self._meetings = WarpMeetings(blocks, self.warps)
        self._known = self._meetings.known
        self._syncs = WarpSyncs()
        self._far: _Far | None = None
        self._parts = PartsOfWarps()
        #: Groups of lanes, and what only some lanes have learnt. While all are empty, what whole warps know is enough.
        self.apart: tuple[dict, ...] = self._syncs.held, self._parts.held
        #: Grows when :meth:`tables` gives others than before.
        self.changes = 0
        self.per_block = blocks * self.warps > _MOST_COLUMNS
        self._lanes = LanesTold(blocks * self.warps)
        self._begin(earlier)

    def _begin(self, earlier: dict[Hashable, int]) -> None:
        """Make what holds the words, and what lanes tell."""
        sizes = self._lanes.sizes
        self._head = np.zeros(HEAD + sum(sizes.values()), np.int64)
        self._head[[THREADS, PER_BLOCK, COLUMNS]] = self.threads, self.per_block, self.columns
        self._head[list(sizes)] = HEAD + np.cumsum([0, *sizes.values()])[:-1]
        self._lanes.look_at(self._head)
        self._told = ToldWords(self._blocks, self.warps, self.columns + 1, earlier)
        if earlier:
            self._tables()

    def published(self) -> dict[Hashable, int]:
        """For each word of global memory the time up to which it publishes what this batch and earlier ones did."""
        return self._told.published()

    @property
    def columns(self) -> int:
        """Columns of what is known of other blocks, without that of earlier batches."""
        return self._blocks if self.per_block else self._blocks * self.warps

    @property
    def tells_lanes_apart(self) -> bool:
        """Whether more counts than what whole warps know: groups of lanes, or what only some lanes have learnt."""
        return any(self.apart)

    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What each warp knows of those of its block, and of other blocks, and the head of an arena.

        The head is as :mod:`softlab.instruments.node_layout` has it. It says whether the second one counts.
        """
        return self._known, self._known if self._far is None else self._far.known, self._head

    def release(self) -> None:
        """Nobody asks any more."""

    def make_room(self, words: int = 0) -> None:
        """Compiled code needs more room, for as many words, too: not here."""

    @property
    def needs_words(self) -> bool:
        """Whether strong accesses pass anything on: there has been a fence, or they count as one."""
        return self._of_reads or self.has_far

    def _tables(self) -> _Far:
        if self._far is None:
            shape = (self._blocks * self.warps, self.columns + 1)
            known, fenced, fenced_in_block = (np.zeros(shape, np.int64) for _ in range(3))
            self._far = _Far(known, fenced, fenced_in_block, np.zeros(self._blocks, bool))
            self._head[HAS_FAR] = 1
            self.changes += 1
        return self._far

    # Questions

    def ordered(self, time: np.ndarray, other: np.ndarray, mine: np.ndarray, *, reads: bool = False) -> np.ndarray:
        """Whether lanes come after what other lanes did: (n,) each.

        Lanes are numbered ``row * threads + column``; ``other`` is -1 for threads of earlier batches. ``reads``: the
        other lanes have read.
        """
        row, warp = mine // self.threads, mine % self.threads // WARP
        other_row, other_warp = other // self.threads, other % self.threads // WARP
        near = (other >= 0) & (other_row == row)
        until = self._known[row, warp, np.where(near, other_warp, 0)]
        before = near & (time < until)
        column = np.where(other >= 0, other_row if self.per_block else other // WARP, -1)
        if self.has_far and not before.all():
            until = np.where(near, until, self._times_of_others(mine // WARP, column))
            before |= ~near & (time < until)
        if self._has_parts and before.any():
            before &= self._lanes_know(mine, time, near, other_warp, column)
        if before.any():
            before &= (other < 0) | (other // WARP == mine // WARP) | self._lanes.tells(time, other, until, reads)
        left = near & (other_warp == warp) & ~before
        if self._syncs and left.any():
            at = np.flatnonzero(left)
            lanes = (other[at] % WARP, mine[at] % WARP)
            before[at] = self._syncs.ordered(row[at], warp[at], *lanes, time[at])
        return before

    @property
    def has_far(self) -> bool:
        """Whether any warp may know or publish anything beyond its block."""
        return self._far is not None

    @property
    def _has_parts(self) -> bool:
        return bool(self._parts)

    def _times_of_others(self, warps: np.ndarray, column: np.ndarray) -> np.ndarray:
        """What warps of the batch know of these columns; (n,) each."""
        return np.asarray(self._tables().known[warps, column])

    def _lanes_know(
        self, mine: np.ndarray, time: np.ndarray, near: np.ndarray, warp: np.ndarray, column: np.ndarray
    ) -> np.ndarray:
        """As :meth:`PartsOfWarps.know`."""
        return self._parts.know(mine, time, near, warp, column)

    def _own_fenced(self, warps: np.ndarray) -> np.ndarray:
        """Until when warps of the batch did things before their last fences."""
        return np.asarray(self._tables().fenced_in_block[warps, warps // self.warps if self.per_block else warps])

    # Barriers

    def warp_sync(self, lanes: Lanes, members: Value, now: int) -> None:
        """The lanes of each warp that name each other synchronise."""
        self._join_lanes(lanes)
        masks = WarpSyncs.grouping(lanes, members)
        if masks is not None and self._syncs.record(masks, now):
            self._lanes.of_lanes[lanes.mask.reshape(-1)] = now
            return
        if lanes.full:
            self._own_times[...] = now
            self._lanes.of_warps[...] = now
            self._lanes.meet(now)
            return
        here = np.broadcast_to(lanes.warp_mask.any(axis=2), (lanes.blocks, self.warps))
        if len(lanes.extent) == 2:
            here = here & self._rows_of(lanes)[:, None]
        self._warps_tell(here, now)

    @cached_property
    def _own_times(self) -> np.ndarray:
        """(blocks, warps): until when the lanes of each warp come after each other; a part of what warps know."""
        return np.einsum("rww->rw", self._known)

    def _warps_tell(self, here: np.ndarray, now: int) -> None:
        """All lanes of these warps, (blocks, warps) bool, come after each other, and so does what the warps tell."""
        rows, warps = np.nonzero(here)
        self._known[rows, warps, warps] = now
        self._lanes.of_warps[rows * self.warps + warps] = now
        self._lanes.meet(now)

    def lanes_exchange(self, lanes: Lanes, now: int) -> None:
        """The lanes of each warp exchange values: they come after what was before the warp's last fence.

        What they have read comes before what the warp tells from now on.
        """
        self._join_lanes(lanes)
        here = warps_of(lanes)
        self._lanes.has_read[here.reshape(-1)] = now
        if not self.has_far:
            return
        rows, warps = np.nonzero(here)
        fenced = self._own_fenced(rows * self.warps + warps)
        self._known[rows, warps, warps] = np.maximum(self._known[rows, warps, warps], fenced)

    def _join_lanes(self, lanes: Lanes) -> None:
        if self._has_parts:
            self._lanes_meet(np.flatnonzero(warps_of(lanes)))

    def _lanes_meet(self, warps: np.ndarray) -> None:
        """The lanes of each of these warps of the batch synchronise."""
        self._parts.join(warps.tolist())

    @staticmethod
    def _rows_of(lanes: Lanes) -> np.ndarray:
        rows = np.zeros(lanes.blocks, bool)
        rows[np.asarray(lanes.row_index).reshape(-1)] = True
        return rows

    def arrive_ahead(self, barrier: int, lanes: Lanes, now: int) -> None:
        """These lanes arrive at a barrier of their block and go on."""
        here = warps_of(lanes)
        self._warps_tell(here, now)
        self._meetings.arrive(barrier, here, now)

    def barrier(
        self,
        lanes: Lanes,
        live: np.ndarray | None,
        now: int,
        ahead: Lanes | None = None,
        number: int | None = None,
    ) -> None:
        """The warps of these lanes pass a barrier of their block; ``live``: (blocks, threads) bool.

        ``ahead``: lanes that had arrived and gone on, at the barrier of this ``number``. The others come after what
        they did before, and they after nobody.
        """
        self._lanes.meet(now)
        if ahead is None and not self.has_far and passes_alone(lanes, live):
            self._known[...] = self._lanes.of_warps[...] = now
            self._syncs.clear()
            return
        here = warps_of(lanes)
        waiting = here if ahead is None else here & ~warps_of(ahead)
        self._lanes.of_warps[waiting.reshape(-1)] = now
        rows = np.asarray(here.any(axis=1))
        others = here if live is None else here | live.reshape(*here.shape, WARP).any(axis=2)
        others = others & ~waiting
        whole = rows & ~others.any(axis=1)
        self._known[whole] = now
        if whole.all():
            self._syncs.clear()  # every lane comes after all that its groups did before
        for row in np.flatnonzero(rows & ~whole):
            self._meetings.meet(int(row), np.flatnonzero(here[row]), np.flatnonzero(waiting[row]), now, number)
        if self.has_far:
            self._meet_far(here, waiting)

    def _meet_far(self, here: np.ndarray, waiting: np.ndarray) -> None:
        """Warps of ``here`` pass barriers; those ``waiting`` learn of other blocks what all know. As ``_Far.meet``."""
        if self._has_parts:
            self._lanes_meet(np.flatnonzero(waiting))
        self._tables().meet(here, waiting)

    # Releases and acquires

    def fence(self, lane: np.ndarray, now: int, scope: str) -> None:
        """The warps of these lanes make a fence of a scope: "cta", "cluster", "gpu" or "sys"."""
        far = self._tables()
        self._lanes.of_lanes[lane] = now
        warps = distinct(lane // WARP)
        self._lanes.tell(warps, now)
        vectors = self._knowledge(warps, now)
        far.differs[warps // self.warps] = True
        at = _spaced(warps)
        far.fenced_in_block[at] = vectors
        if scope != "cta":
            far.fenced[at] = vectors

    def _knowledge(self, warps: np.ndarray, now: int) -> np.ndarray:
        """All that these warps of the batch know, and what they did themselves."""
        vectors = self._tables().known[warps]
        rows, own = warps // self.warps, warps % self.warps
        which = np.arange(len(warps))
        if self.per_block:
            vectors[which, rows] = now
        else:
            columns = rows[:, None] * self.warps + np.arange(self.warps)
            vectors[which[:, None], columns] = self._known[rows, own]
            vectors[which, warps] = now
        return vectors

    def write(self, access: StrongAccess, scope: str, now: int) -> None:
        """Lanes store to words by strong stores: these publish what came before their last fences."""
        if self._of_reads:
            self.fence(access.every, now, scope)
        if self._far is None:
            return
        for warp, words in access.alone.items():
            self._one_tells(words, warp, scope, overwrite=True)
        for word, warps in access.together.items():
            self._told.overwrite([word])
            self._told.tell(word, warps, *self._tells(warps, scope))

    def _tells(self, warps: np.ndarray, scope: str) -> tuple[np.ndarray | None, np.ndarray]:
        """What strong accesses of a scope tell everybody, and the own block: the knowledge at the last fences."""
        far, at = self._tables(), _spaced(warps)
        return None if scope == "cta" else far.fenced[at], far.fenced_in_block[at]

    def _one_tells(self, words: Sequence[Hashable], warp: int, scope: str, *, overwrite: bool = False) -> None:
        """A warp of the batch tells words what it knew at its last fences; ``overwrite``: nothing else any more."""
        far = self._tables()
        to_all = None if scope == "cta" else far.fenced[warp].copy()
        self._told.tell_one(words, warp, to_all, far.fenced_in_block[warp].copy(), overwrite=overwrite)

    def read(self, access: StrongAccess) -> None:
        """Lanes read words by strong loads, and learn what these publish."""
        if self._far is None:
            return
        for warp, words in access.alone.items():
            if self._told.any_tells(words):
                self._one_learns(words, warp, access)
        for word, warps in access.together.items():
            for learning, vectors in self._told.learn(word, warps):
                self._learn(learning, vectors, access)
        if self._parts:
            self._parts.add(access.lanes_of_warps)

    def _lanes_learn(self, warps: np.ndarray, access: StrongAccess) -> None:
        """Only some lanes of these warps may learn something by an access."""
        far, near = self._tables().known, self._known.reshape(-1, self.warps)
        for warp in warps.tolist():
            self._parts.learn(warp, access.lanes_of_warps[warp], near[warp], far[warp])

    def _one_learns(self, words: Sequence[Hashable], warp: int, access: StrongAccess) -> None:
        """A warp of the batch learns what words tell it."""
        if not (vectors := self._told.learn_one(words, warp)):
            return
        row, own = divmod(warp, self.warps)
        columns = slice(row, row + 1) if self.per_block else slice(row * self.warps, (row + 1) * self.warps)
        far, near = self._tables(), self._known[row, own]
        for vector in vectors:
            if not (vector > far.known[warp]).any():
                continue  # it knows all of that already
            self._lanes_learn(np.array([warp]), access)
            far.differs[row] = True
            np.maximum(far.known[warp], vector, out=far.known[warp])
            np.maximum(near, vector[columns], out=near)

    def exchange(self, access: StrongAccess, scope: str, now: int) -> None:
        """Lanes access words by atomics, one after the other: each learns what those before it published."""
        if self._of_reads:
            self.fence(access.every, now, scope)
        if self._far is None:
            return
        for warp, words in access.alone.items():
            self._one_learns(words, warp, access)
            self._one_tells(words, warp, scope)
        for word, warps in access.together.items():
            for learning, vectors in self._told.pass_on(word, warps, *self._tells(warps, scope)):
                self._learn(learning, vectors, access)
        if self._parts:
            self._parts.add(access.lanes_of_warps)
        if access.lanes_share:
            self.lanes_follow(access.words, access.lane)

    def lanes_follow(self, words: Sequence[Hashable], lane: np.ndarray) -> None:
        """Of the lanes of a warp that access one word, each comes after what those before it did until their fence."""
        groups = _later_lanes(words, lane)
        if not groups:
            return
        groupings: dict[int, np.ndarray] = {}
        fenced = self._own_fenced(np.array([warp for warp, _ in groups], np.int64))
        for (warp, later), time in zip(groups, fenced.tolist(), strict=True):
            if time > 0:
                masks = groupings.setdefault(time, np.zeros((self._blocks, self.warps, WARP), np.uint32))
                masks[divmod(warp, self.warps)] |= later
        for time, masks in groupings.items():
            if not self._syncs.record(masks, time):
                rows, warps = np.nonzero(masks.any(axis=2))
                self._known[rows, warps, warps] = np.maximum(self._known[rows, warps, warps], time)

    def publish(self, access: StrongAccess, now: int, before: Sequence[Hashable]) -> None:
        """Lanes publish at words all that they know and did, without a fence: arrivals at an mbarrier.

        The words publish from now on also what those ``before`` do.
        """
        self._take_over(access.words, before)
        self._lanes.of_lanes[access.every] = now
        self._lanes.tell(distinct(access.every // WARP), now)
        different, where = np.unique(access.lane // WARP, return_inverse=True)
        vectors = self._knowledge(different, now)
        writers: dict[Hashable, list[int]] = {}
        for word, number in dict.fromkeys(zip(access.words, where.tolist(), strict=True)):
            writers.setdefault(word, []).append(number)
        for word, numbers in writers.items():
            self._told.tell_all(word, vectors[numbers].max(axis=0))

    def publish_own(self, own: OwnWords, now: int) -> None:
        """As :meth:`publish`, of words that the warps of each block share."""
        self._tell_own(own, now)
        if own.warps.size == self._blocks * self.warps:  # all of the batch
            vectors = self._tables().known.reshape(self._blocks, self.warps, -1).max(axis=1)
            vectors[own.row_index, self._columns_of(own)] = now
        else:
            known = self._knowledge(own.warps.reshape(-1), now)
            vectors = known.reshape(*own.warps.shape, -1).max(axis=1)
        self._take_over(own.words, own.before)
        for word, vector in zip(own.words, vectors, strict=True):
            self._told.tell_all(word, vector)

    def _tell_own(self, own: OwnWords, now: int) -> None:
        """What the lanes did until now comes before what their warps tell."""
        if own.lanes.size == WARP * own.warps.size:
            self._lanes.of_warps[own.warps] = now
            self._lanes.meet(now)
        else:
            self._lanes.of_lanes[own.lanes] = now
            self._lanes.tell(own.warps.reshape(-1), now)

    def _take_over(self, words: Iterable[Hashable], before: Iterable[Hashable]) -> None:
        for word, earlier in dict(zip(words, before, strict=True)).items():
            vector = self._told.to_all(earlier)
            if vector is not None:
                self._told.tell_all(word, vector)

    def _columns_of(self, own: OwnWords) -> np.ndarray:
        """The columns of the blocks."""
        return own.row_index if self.per_block else own.columns

    def read_own(self, own: OwnWords) -> None:
        """As :meth:`read`, of words that the warps of each block share."""
        if self._far is None:
            return
        if self._parts:
            self._parts.join(own.warps.reshape(-1).tolist())
        vectors = [self._told.to_all(word) for word in own.words]
        known = [vector for vector in vectors if vector is not None]
        if len(known) == len(vectors):
            self._blocks_learn(own, np.stack(known) if len(known) > 1 else known[0][None])
            return
        for vector, warps in zip(vectors, own.warps, strict=True):
            if vector is not None:
                self._learn(warps, vector)

    def _blocks_learn(self, own: OwnWords, vectors: np.ndarray) -> None:
        """The warps of each block learn what the block's vector says."""
        far, rows = self._tables(), own.row_index
        far.differs[rows] = True
        learnt = vectors[own.numbers, self._columns_of(own)]
        if own.warps.size == self._blocks * self.warps:  # all of the batch
            known = far.known.reshape(self._blocks, self.warps, -1)
            np.maximum(known, vectors[:, None], out=known)
            np.maximum(self._known, learnt[:, None], out=self._known)
            return
        far.known[own.warps] = np.maximum(far.known[own.warps], vectors[:, None])
        here = rows, own.warps % self.warps
        self._known[here] = np.maximum(self._known[here], learnt[:, None])

    def _learn(self, warps: np.ndarray, vectors: np.ndarray, access: StrongAccess | None = None) -> None:
        """Different warps of the batch learn what vectors say: one for all, (columns + 1,), or one for each of them.

        ``access``: that of the lanes that learn; None for all lanes.
        """
        far, near = self._tables(), self._known.reshape(-1, self.warps)
        rows = warps // self.warps
        far.differs[rows] = True
        columns = rows[:, None] if self.per_block else rows[:, None] * self.warps + np.arange(self.warps)
        of_block = vectors[columns] if vectors.ndim == 1 else vectors[np.arange(len(warps))[:, None], columns]
        at = _spaced(warps)
        if access is not None:
            self._lanes_learn(warps[(vectors > far.known[at]).any(axis=1)], access)
        far.known[at] = np.maximum(far.known[at], vectors)
        near[at] = np.maximum(near[at], of_block)

    # Clusters

    def complete_cluster(self, row: int, size: int, now: int, released: bool) -> None:
        """All threads of the cluster that begins in a row have arrived at its barrier.

        Without a release they publish only what came before their fences.
        """
        warps = np.arange(row * self.warps, (row + size) * self.warps)
        far = self._tables()
        vectors = self._knowledge(warps, now) if released else far.fenced[warps]
        if released:
            self._lanes.of_warps[warps] = now
            self._lanes.meet(now)
        word = ("cluster", row // size)
        self._told.overwrite([word])
        self._told.tell_all(word, vectors.max(axis=0))

    def pass_cluster(self, lane: np.ndarray, size: int) -> None:
        """These lanes pass the barrier of their cluster."""
        clusters = lane // (self.threads * size)
        self.read(StrongAccess([("cluster", number) for number in clusters.tolist()], lane))


def _later_lanes(words: Sequence[Hashable], lane: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Of lanes of a warp that access one word: the warp, and for each lane itself and those after it, (32,) masks.

    A lane that accesses a word alone among its warp is left out.
    """
    if len(words) > 1 and words.count(words[0]) == len(words) and bool((lane[1:] > lane[:-1]).all()):
        warps, first = np.unique(lane // WARP, return_index=True)
        masks = np.bitwise_or.reduceat(np.uint32(1) << (lane % WARP).astype(np.uint32), first)
        several = np.flatnonzero(masks & masks - np.uint32(1))
        here = masks[several, None] >> _LANES & np.uint32(1)
        return list(zip(warps[several].tolist(), masks[several, None] & _FROM_LANE * here, strict=True))
    together: dict[tuple[Hashable, int], list[int]] = {}
    for word, one in zip(words, lane.tolist(), strict=True):
        together.setdefault((word, one // WARP), []).append(one % WARP)
    found = []
    for (_, warp), lanes in together.items():
        if len(lanes) > 1:
            masks, later = np.zeros(WARP, np.uint32), 0
            for one in reversed(lanes):
                later |= 1 << one
                masks[one] |= later
            found.append((warp, masks))
    return found


def _spaced(numbers: np.ndarray) -> np.ndarray | slice:
    """The numbers as a slice where they rise by equal steps: rows of a table are quicker to take so."""
    first, last = int(numbers[0]), int(numbers[-1])
    step = (last - first) // max(1, len(numbers) - 1)
    if len(numbers) > 1 and (step < 1 or (np.diff(numbers) != step).any()):
        return numbers
    return slice(first, last + 1, step or 1)
