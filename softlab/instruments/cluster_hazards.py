"""Finds the faults of thread-block clusters: races between a block and what others do in its shared memory, and blocks
that end while others may still reach into them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.emulator.effects import Place
from softlab.emulator.faults import kernel_fault
from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.memory import Site
from softlab.instruments.hazards import Hazards, Touch
from softlab.instruments.outside import COPY, Accessors, Outside

_MEND_CLUSTER = (
    "Put a barrier of the cluster (barrier.cluster.arrive and .wait, cluster.sync()) between the two, or let one wait "
    "for the other at an mbarrier"
)


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
    """Hazards, and those of clusters."""

    def batch(self, batch: Any) -> None:
        """Nothing has been touched yet."""
        super().batch(batch)
        self._last = _Last(*(np.full(batch.blocks, -1, np.int64) for _ in range(4)))
        self._sites: dict[int, Site] = {}

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
        self.passed(lanes, place.index)

    def done(self) -> None:
        """A block must know of everything that others did in its shared memory before it ends."""
        touched = np.flatnonzero(self._last.time >= 0)
        if not len(touched):
            return
        known = self.shadow.known_by_block()[touched]
        late = touched[self._last.time[touched] >= known]
        if not len(late):
            return
        owner = int(late[0])
        row, column = divmod(int(self._last.lane[owner]), self.watched.threads)
        site = self._sites[int(self._last.site[owner])]
        verb = "writes" if site.store else "reads"
        batch = self.watched
        raise kernel_fault(
            "race",
            f"the thread {verb} shared memory of block {batch.geometry.place(owner)}, which may have ended before. Let "
            "all blocks of the cluster wait for each other at a barrier of the cluster after their last access",
            site.instruction,
            batch.launch.file,
            thread=batch.geometry.thread(column),
            block=batch.geometry.place(row),
            address=int(self._last.offset[owner]),
        )

    # Saying so

    def _outside_race(
        self, site: Site, lanes: Lanes, address: Value, clash: np.ndarray, touch: Touch, stamps: np.ndarray, wrote: bool
    ) -> Exception:
        lane = int(clash.argmax())
        stamp = int(stamps[touch.row[lane], touch.word[lane]].max())
        verb = "writes" if site.store else "reads"
        who = self._source(stamp, int(touch.row[lane]))
        what = "wrote" if wrote else "read"
        sentence = f"the thread {verb} a word of shared memory that {who} {what}, with nothing that orders the two"
        return self.fault("race", f"{sentence}. {_MEND_CLUSTER}", site, lanes, address, clash)

    def _source(self, stamp: int, row: int) -> str:
        """Who touched a word of this row from outside, in words."""
        source = Outside.source_of(stamp)
        if isinstance(source, int):
            return "an asynchronous copy" if source == COPY else "threads of other blocks"
        rank, thread = source
        start = row - row % self.cluster_size
        geometry = self.watched.geometry
        return f"thread {geometry.thread(thread)} of block {geometry.place(start + rank)}"
