"""Finds the faults of thread-block clusters and asynchronous copies: races between a block and what others, or copies,
do in its shared memory, and blocks that end while that may still go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.emulator.copies import Copy
from softlab.emulator.effects import Place
from softlab.emulator.faults import kernel_fault
from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.memory import Site
from softlab.instruments.hazards import Hazards, Touch
from softlab.instruments.outside import COPY, IN_FLIGHT, Accessors, Outside

_MEND_CLUSTER = (
    "Put a barrier of the cluster (barrier.cluster.arrive and .wait, cluster.sync()) between the two, or let one wait "
    "for the other at an mbarrier"
)


_MEND_COPY = (
    "Wait for the copy: cp.async.wait_group in the thread that issued it and then a barrier, or the mbarrier that the "
    "copy is bound to in every thread"
)
_A_COPY = "an asynchronous copy"
_OBJECT_BYTES = 8


@dataclass
class _Last:
    """The last access from outside to each block of a batch, (blocks,) each: when, by which lane (``row * threads +
    column``), by which instruction (its index) and where.
    """

    time: np.ndarray
    lane: np.ndarray
    site: np.ndarray
    offset: np.ndarray


class ClusterHazards(Hazards):
    """Hazards, and those of clusters, mbarriers and asynchronous copies."""

    def batch(self, batch: Any) -> None:
        """Nothing has been touched yet."""
        super().batch(batch)
        self._last = _Last(*(np.full(batch.blocks, -1, np.int64) for _ in range(4)))
        #: The blocks that have waited for their cluster: they know that all of it has begun.
        self._begun = np.zeros(batch.blocks, bool)
        self._sites: dict[int, Site] = {}
        self._initialised: dict[tuple[int, int], tuple[int, int, int]] = {}

    def shared_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """The block's own threads, first beside what others did here."""
        shadow = self.shadow
        if shadow.outside is not None:
            touch = self.touch(site, lanes, address)
            acquired = shadow.acquired(touch.row, touch.thread)
            strong = self.is_strong(site)
            for stamps, wrote in ((shadow.outside.written, True), (shadow.outside.read, False)):
                if not wrote and not site.store:
                    break
                clash = shadow.outside.unsettled(stamps, touch.row, touch.word, acquired, strong)
                if clash.any():
                    raise self._outside_race(site, lanes, address, clash, touch, stamps, wrote)
        super().shared_access(site, lanes, address, values)

    # Other blocks

    def cluster_access(
        self, site: Site, lanes: Lanes, owner: np.ndarray, address: Value, values: tuple[Value, ...]
    ) -> None:
        """Lanes that reach into their own block count as its threads, the others as others."""
        other = np.broadcast_to(owner != lanes.row_index, lanes.extent)
        if not other.all():
            whole = [lanes.put(value, value, True) for value in (address, owner, *values)]
            outer, inner = lanes.split(np.ascontiguousarray(other))
            assert inner is not None
            there, _, *stored = (inner.take(value) for value in whole)
            self.shared_access(site, inner, there, tuple(stored))
            if outer is None:
                return
            address, owner, *stored = (outer.take(value) for value in whole)
            lanes, values = outer, tuple(stored)
        self._from_outside(site, lanes, owner, address, values)

    def _from_outside(
        self, site: Site, lanes: Lanes, owner: np.ndarray, address: Value, values: tuple[Value, ...]
    ) -> None:
        shadow = self.shadow
        shadow.see_outside()
        rows = lanes.full_extent(owner).astype(np.int64)
        who = self.accessors(lanes)
        word = self.words_at(site, lanes.full_extent(address))
        strong = self.is_strong(site)
        if self.reads(site) and (never := shadow.never_written(rows, word)).any():
            raise self.fault(
                "uninitialized-shared",
                "the thread reads shared memory of another block that nobody has written. Write every element that is "
                "read, and put a barrier of the cluster after the writes",
                site, lanes, address, never,
            )  # fmt: skip
        early = ~self._begun[who.row]
        if early.any():
            verb = "writes" if site.store else "reads"
            raise self.fault(
                "race",
                f"the thread {verb} shared memory of another block, which may not have begun. Let the blocks of the "
                "cluster wait for each other at a barrier of the cluster first",
                site, lanes, address, early,
            )  # fmt: skip
        found = shadow.touched_from_outside(rows, word, who, store=site.store, strong=strong)
        if found is not None:
            clash, wrote = found
            what = "wrote" if wrote else "read"
            verb = "writes" if site.store else "reads"
            raise self.fault(
                "race",
                f"the thread {verb} a word of the shared memory of another block that others {what} with nothing that "
                f"orders the two. {_MEND_CLUSTER}",
                site, lanes, address, clash,
            )  # fmt: skip
        twice = shadow.note_from_outside(rows, word, who, store=site.store, strong=strong)
        if twice.any() and not site.operation:
            clash = twice & self.differs_from_winner(site, lanes, Touch(rows, who.thread, word), values)
            if clash.any():
                text = "writes another value than a second thread does in the same instruction to the same word"
                raise self.fault("race", f"the thread {text} of another block", site, lanes, address, clash)
        self.note_last(site, who, rows, lanes.full_extent(address))
        if strong:
            self._hand_over(site, rows, word, who)

    def _hand_over(self, site: Site, owner: np.ndarray, word: np.ndarray, who: Accessors) -> None:
        shadow = self.shadow
        if site.instruction.has("release", "acq_rel"):
            shadow.fence(who.row, who.thread)
        if self.reads(site):
            shadow.acquire_from(owner, word, who.row, who.thread)
        if site.store:
            shadow.release_to(owner, word, who.row, who.thread)

    def accessors(self, lanes: Lanes) -> Accessors:
        """The threads of a set."""
        row = lanes.full_extent(lanes.row_index)
        return Accessors(row, lanes.full_extent(lanes.column_index), row % self.cluster_size)

    @property
    def cluster_size(self) -> int:
        """Blocks of a cluster."""
        return self.watched.geometry.blocks_per_cluster

    def note_last(self, site: Site, who: Accessors, owner: np.ndarray, offset: np.ndarray) -> None:
        """Remember that these threads reached into those blocks."""
        self._sites[site.index] = site
        self._last.time[owner] = self.shadow.time
        self._last.lane[owner] = who.row * self.watched.threads + who.thread
        self._last.site[owner] = site.index
        self._last.offset[owner] = offset.astype(np.int64)

    def cluster_complete(self, rows: np.ndarray, released: np.ndarray) -> None:
        """What all did before is told to whoever waits."""
        self.shadow.cluster_complete(rows, released, self.cluster_size)

    def cluster_wait(self, place: Place, lanes: Lanes) -> None:
        """And these know it now."""
        live = self.watched.live_mask()
        self.shadow.cluster_wait(lanes.mask, lanes.mask if live is None else live)
        self._begun |= lanes.mask.any(axis=1)
        self.passed(lanes, place.index)

    # mbarriers

    def mbarrier(self, site: Site, lanes: Lanes, owner: np.ndarray, offset: np.ndarray, action: str) -> None:
        """Who arrives tells all that it did; who waits knows of it. Others must know that it is initialised."""
        shadow = self.shadow
        shadow.see_outside()
        who = self.accessors(lanes)
        word = self.words_at(site, offset)
        if action == "init":
            self._remember(owner, offset, who)
            return
        objects, which = np.unique(np.stack([owner, offset]), axis=1, return_inverse=True)
        made = np.array([self._initialised[key] for key in zip(*objects.tolist(), strict=True)])[which.reshape(-1)]
        early = ~shadow.knows(who.row, who.thread, *made.T)
        if early.any():
            raise self.fault(
                "race",
                "the thread uses an mbarrier that another thread initialises, with nothing that orders the two. Put "
                "__syncthreads(), or a barrier of the cluster, after mbarrier.init",
                site, lanes, offset.reshape(lanes.extent), early,
            )  # fmt: skip
        if action == "wait":
            shadow.acquire_from(owner, word, who.row, who.thread)
            return
        inside = owner == who.row
        if action == "arrive":
            part = Accessors(who.row[~inside], who.thread[~inside], who.rank[~inside])
            self.note_last(site, part, owner[~inside], offset[~inside])
        if action == "arrive" and not site.instruction.has("relaxed"):
            shadow.fence(who.row, who.thread)
            shadow.release_to(owner, word, who.row, who.thread)

    def _remember(self, owner: np.ndarray, offset: np.ndarray, who: Accessors) -> None:
        """Who has initialised each mbarrier, and when."""
        moment = self.shadow.moment()
        for row, at, *thread in zip(*(a.tolist() for a in (owner, offset, who.row, who.thread)), strict=True):
            self._initialised[row, at] = (*thread, moment)

    def fence(self, place: Place, lanes: Lanes) -> None:
        """A proxy fence lets copies see what was written; the others are as before."""
        if not place.instruction.has("proxy"):
            super().fence(place, lanes)
        elif place.instruction.has("async"):
            self.shadow.tell_apart()
            self.shadow.fence_proxy(lanes.full_extent(lanes.row_index), lanes.full_extent(lanes.column_index))

    # Copies

    def copy_begins(self, copy: Copy, lanes: Lanes) -> None:
        """From now on its shared memory is its own."""
        shadow = self.shadow
        outside = shadow.see_outside()
        row, thread = np.divmod(copy.lane, self.watched.threads)
        word = self._words_of(copy)
        bulk = copy.site.instruction.has("bulk") or copy.bound is not None
        if bulk:  # those of cp.async come as stores of their threads before
            self._may_begin(copy, word, Accessors(row, thread, row % self.cluster_size))
        stamps = outside.written if copy.writes else outside.read
        stamps[copy.owner[:, None], word] = outside.copy_stamp(IN_FLIGHT)

    def _may_begin(self, copy: Copy, word: np.ndarray, who: Accessors) -> None:
        shadow = self.shadow
        outside = shadow.see_outside()
        owner, bad = copy.owner, np.zeros(len(copy.lane), bool)
        early = (owner != who.row) & ~self._begun[who.row]
        if early.any():
            what = "goes to another block, which may not have begun. Let the blocks of the cluster wait for each other "
            raise self._copy_fault("race", what + "at a barrier of the cluster first", copy, early)
        if not copy.writes and (bad := shadow.never_written(owner, word)).any():
            raise self._copy_fault("uninitialized-shared", "reads shared memory that nobody wrote", copy, bad)
        inside = owner == who.row
        acquired = shadow.acquired(who.row, who.thread)
        mine = shadow.code(who.thread)
        if copy.writes:
            bad = inside & shadow.read_by_another(owner, word, who.thread, False)
            bad |= outside.unsettled(outside.read, owner, word, acquired, False)
        bad = bad | inside & shadow.written_by_another(owner, word, who.thread, mine, False)
        bad |= outside.unsettled(outside.written, owner, word, acquired, False)
        if not inside.all():
            found = shadow.touched_from_outside(owner, word, who, store=copy.writes, strong=False)
            bad |= ~inside & (found[0] if found is not None else False)
        if bad.any():
            verb = "writes" if copy.writes else "reads"
            what = (
                f"{verb} shared memory that another thread or copy has used, with nothing that orders the two. Let "
                "all of them be done (__syncthreads(), an mbarrier, wait_group) before the copy is issued"
            )
            raise self._copy_fault("race", what, copy, bad)
        if not copy.writes and (bad := shadow.hidden_from_copies(owner, word, who.row, who.thread)).any():
            what = (
                "reads shared memory that was written by ordinary stores, which bulk copies do not see. Put "
                'asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); after the stores, before the barrier'
            )
            raise self._copy_fault("race", what, copy, bad)

    def copy_ends(self, copy: Copy) -> None:
        """Whoever waits for it may use what it used."""
        shadow = self.shadow
        outside = shadow.see_outside()
        word = self._words_of(copy)
        stamps = outside.written if copy.writes else outside.read
        at = copy.owner[:, None]
        if copy.bound is not None:
            stamps[at, word] = outside.copy_stamp(shadow.time)
            row, offset = copy.bound
            shadow.tell_at(row, offset // shadow.granule + np.arange(_OBJECT_BYTES // shadow.granule))
            return
        stamps[at, word] = 0
        thread = copy.lane % self.watched.threads
        (shadow.write_as if copy.writes else shadow.read_as)(copy.owner, word, thread)

    def _words_of(self, copy: Copy) -> np.ndarray:
        """(n, words of each)."""
        granule = self.shadow.granule
        return copy.offset[:, None] // granule + np.arange(max(1, copy.nbytes // granule))

    def _copy_fault(self, kind: str, what: str, copy: Copy, bad: np.ndarray) -> Exception:
        number = int(bad.argmax())
        lane, address = int(copy.lane[number]), int(copy.offset[number])
        return self._fault_of(kind, f"the thread's copy {what}", copy.site, lane, address)

    def _fault_of(self, kind: str, sentence: str, site: Site, lane: int, address: int) -> Exception:
        """The fault of one lane of the batch."""
        batch = self.watched
        row, column = divmod(lane, batch.threads)
        return kernel_fault(
            kind,
            sentence,
            site.instruction,
            batch.launch.file,
            thread=batch.geometry.thread(column),
            block=batch.geometry.place(row),
            address=address,
        )

    # The end

    def done(self) -> None:
        """A block must know of everything that others did in its shared memory before it ends."""
        for copy in self.watched.bulk.unfinished():
            verb = "writes" if copy.writes else "reads"
            raise self._fault_of(
                "race",
                f"the block ends while a bulk copy still {verb} its shared memory. Wait for the copy before the end "
                "(cp.async.bulk.wait_group.read, or the mbarrier that it is bound to)",
                copy.site, int(copy.lane[0]), int(copy.offset[0]),
            )  # fmt: skip
        touched = np.flatnonzero(self._last.time >= 0)
        if not len(touched):
            return
        known = self.shadow.known_by_block()[touched]
        late = touched[self._last.time[touched] >= known]
        if not len(late):
            return
        owner = int(late[0])
        site = self._sites[int(self._last.site[owner])]
        verb = "writes" if site.store else "reads"
        raise self._fault_of(
            "race",
            f"the thread {verb} shared memory of block {self.watched.geometry.place(owner)}, which may have ended "
            "before. Let all blocks of the cluster wait for each other at a barrier of the cluster after their last "
            "access",
            site, int(self._last.lane[owner]), int(self._last.offset[owner]),
        )  # fmt: skip

    # Saying so

    def _outside_race(
        self, site: Site, lanes: Lanes, address: Value, clash: np.ndarray, touch: Touch, stamps: np.ndarray, wrote: bool
    ) -> Exception:
        lane = int(clash.argmax())
        stamp = int(stamps[touch.row[lane], touch.word[lane]].max())
        verb = "writes" if site.store else "reads"
        who = self._source(stamp, int(touch.row[lane]))
        if Outside.in_flight(stamp):
            sentence = (
                f"the thread {verb} a word of shared memory that an asynchronous copy may still be "
                f"{'writing' if wrote else 'reading'}. {_MEND_COPY}"
            )
        else:
            mend = _MEND_COPY if who == _A_COPY else _MEND_CLUSTER
            what = "wrote" if wrote else "read"
            sentence = (
                f"the thread {verb} a word of shared memory that {who} {what}, with nothing that orders the two. {mend}"
            )
        return self.fault("race", sentence, site, lanes, address, clash)

    def _source(self, stamp: int, row: int) -> str:
        """Who touched a word of this row from outside, in words."""
        source = Outside.source_of(stamp)
        if isinstance(source, int):
            return _A_COPY if source == COPY else "threads of other blocks"
        rank, thread = source
        start = row - row % self.cluster_size
        geometry = self.watched.geometry
        return f"thread {geometry.thread(thread)} of block {geometry.place(start + rank)}"
