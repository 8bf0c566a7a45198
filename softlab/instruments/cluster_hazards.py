"""Finds the faults of thread-block clusters and asynchronous copies.

These are races between a block and the blocks or copies that access its shared memory, and blocks that end while such
an access may still happen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from typing_extensions import override

from softlab.emulator.lanes import WARP, Box, Lanes, Value
from softlab.emulator.machine.faults import kernel_fault
from softlab.emulator.machine.flow import Block
from softlab.emulator.memory.copies import Copy, Key
from softlab.emulator.sites import InstructionSite, Site
from softlab.errors import KernelFault
from softlab.instruments.cluster_shadow import ClusterShadow
from softlab.instruments.early_arrivals import EarlyArrivals
from softlab.instruments.hazards import Hazards, SharedAccess
from softlab.instruments.mbarrier_words import MbarrierWords
from softlab.instruments.other_accesses import OWN, REMOTE, OtherAccesses
from softlab.instruments.remote_accesses import COPY, IN_FLIGHT, Accessors, RemoteAccesses
from softlab.instruments.source_names import shared_symbol
from softlab.instruments.unread_answers import unread_answers

_FIX_CLUSTER = (
    "Put a barrier of the cluster (barrier.cluster.arrive and .wait, cluster.sync()) between the two, or let one wait "
    "for the other at an mbarrier"
)
_FIX_COPY = (
    "Wait for the copy: cp.async.wait_group in the thread that issued it and then a barrier, or the mbarrier that the "
    "copy is bound to in every thread"
)
_FIX_PRODUCT = "Wait for the product: wgmma.commit_group and wgmma.wait_group in all threads, before the write"
_A_COPY = "an asynchronous copy"
#: Copies that are remembered.
_MOST_COPIES = 4096
_ORDINARY = {"changes": "atomic", "overwrites": "store", "reads": "load"}
_MBARRIER_BYTES = 8
#: An offset in shared memory has fewer.
_OFFSET_BITS = 32


@dataclass
class _LastRemoteAccess:
    """The last remote access to each block of a batch, (blocks,) each.

    ``time`` is -1 for none; ``lane`` is ``row * threads + column``; ``site`` the instruction's index; ``offset`` in
    bytes.
    """

    time: np.ndarray
    lane: np.ndarray
    site: np.ndarray
    offset: np.ndarray


class ClusterHazards(Hazards):
    """Hazards, and those of clusters, mbarriers and asynchronous copies."""

    _shadow_class = ClusterShadow

    def batch(self, batch: Any) -> None:
        """Start with no accesses."""
        super().batch(batch)
        if self.cluster_size > 1:
            self.shadow.expect_cluster(self.cluster_size)
        self._objects = MbarrierWords(batch.blocks, self.shadow.words, self.shadow.granule)
        if self._native is not None:
            self._native.objects = self._objects
        self._last = _LastRemoteAccess(*(np.full(batch.blocks, -1, np.int64) for _ in range(4)))
        #: The blocks that have waited for their cluster: they know that all its blocks have started.
        self._started = np.zeros(batch.blocks, bool)
        self._sites: dict[int, Site] = {}
        self._unread = batch.program.fact(unread_answers)
        self._initialised: dict[tuple[int, int], tuple[int, int, int]] = {}
        self._early = EarlyArrivals()
        #: Lanes and the offset of the object of their own block that they come after: with the words of the object.
        self._known_objects: dict[tuple[int, int], tuple[Box, np.ndarray, np.ndarray]] = {}
        #: The copies of the batch, the latest last: for the other place of a race.
        self._copies: deque[Copy] = deque(maxlen=_MOST_COPIES)
        #: The tiles that products of warpgroups may still read.
        self._products: list[Copy] = []

    @property
    @override
    def shadow(self) -> ClusterShadow:
        assert isinstance(self._shadow, ClusterShadow)
        return self._shadow

    @override
    def may_be_alone(self, first: int, end: int) -> bool:
        return self.shadow.remote is None and not self._objects.lie_within(first, end)

    @override
    def look(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """Check an access of the block's own threads, first against remote accesses, then against each other."""
        shadow = self.shadow
        if self._objects:
            self._check_object(self.words_accessed(site, lanes, address))
        if shadow.remote is not None:
            access = self.words_accessed(site, lanes, address)
            acquired = shadow.acquired(access.row, access.thread)
            strong = self.is_strong(site)
            for stamps, wrote in ((shadow.remote.written, True), (shadow.remote.read, False)):
                if not wrote and not site.store:
                    break
                clash = shadow.remote.unordered(stamps, access.row, access.word, acquired, strong)
                if clash.any():
                    self.report(self._remote_race(access, clash, stamps, wrote), clash)
        super().look(site, lanes, address, values)

    def _check_object(self, access: SharedAccess) -> None:
        """No ordinary access may touch an mbarrier in use."""
        site = access.site
        if (hit := self._objects.hit(access.row, access.word)).any():
            verb = "changes" if site.operation else "overwrites" if site.store else "reads"
            fault = self.fault(
                "mbarrier-misuse",
                f"the thread {verb} an mbarrier that is in use by an ordinary {_ORDINARY[verb]}. Use only the mbarrier "
                "instructions, and end its use by mbarrier.inval before the memory serves for something else",
                access, hit,
            )  # fmt: skip
            if fault.address is not None:
                image = self.watched.program.image
                fault.symbol = shared_symbol(image, fault.address, site.dtype.itemsize)
            self.report(fault, hit)

    @override
    def sentence(self, what: str, access: SharedAccess, clash: np.ndarray, *, wrote: bool) -> str:
        if self._early:
            late = self._early.clashes(self.shadow.stamps(wrote), access.row, access.word, access.thread)
            if late[clash.argmax()]:
                verb, other = "writes" if access.site.store else "reads", "wrote" if wrote else "read"
                return (
                    f"the thread {verb} a word of shared memory that another thread {other} after it had arrived at "
                    "the barrier (bar.arrive). Only what comes before the arrival is ordered: move the access before it"
                )
        return super().sentence(what, access, clash, wrote=wrote)

    @override
    def ahead(self, barrier: int, lanes: Lanes, block: Block | None) -> None:
        super().ahead(barrier, lanes, block)
        if block is not None:
            self._early.arrive(barrier, lanes, self.shadow.time)

    @override
    def barrier(self, lanes: Lanes, instructions: Sequence[int], ahead: Lanes | None = None) -> None:
        super().barrier(lanes, instructions, ahead)
        self._early.barrier(lanes)
        if ahead is not None and self._completed is not None:
            self._early.complete(self._completed, lanes, ahead, self.shadow.time)

    # Other blocks

    def cluster_access(
        self, site: Site, lanes: Lanes, owner: np.ndarray, address: Value, values: tuple[Value, ...]
    ) -> None:
        """Check lanes that access their own block as its threads, and the others as remote threads."""
        remote = np.broadcast_to(owner != lanes.row_index, lanes.extent)
        if not remote.all():
            whole = [lanes.put(value, value, True) for value in (address, owner, *values)]
            outer, inner = lanes.split(np.ascontiguousarray(remote))
            assert inner is not None
            own_address, _, *stored = (inner.take(value) for value in whole)
            self.shared_access(site, inner, own_address, tuple(stored))
            if outer is None:
                return
            address, owner, *stored = (outer.take(value) for value in whole)
            lanes, values = outer, tuple(stored)
        who = self.accessors(lanes)
        word = self.words_at(site, lanes.full_extent(address))
        owners = lanes.full_extent(owner).astype(np.int64)
        self._remote_access(SharedAccess(site, lanes, address, owners, who.thread, word), who, values)

    def _remote_access(self, access: SharedAccess, who: Accessors, values: tuple[Value, ...]) -> None:
        """Check and record an access to other blocks. ``access.row`` is the row of each accessed block."""
        shadow, site = self.shadow, access.site
        shadow.track_remote()
        shadow.begin_access(site.index)
        strong = self.is_strong(site)
        self._check_remote_order(access, who, strong)
        twice = shadow.record_remote(access.row, access.word, who, store=site.store, strong=strong)
        if twice.any() and not strong:
            clash = twice & self.differs_from_winner(access, values)
            if clash.any():
                text = "writes another value than a second thread does in the same instruction to the same word"
                fault = self.fault("race", f"the thread {text} of another block", access, clash)
                self.report(self._named(fault, access, who, clash, True, REMOTE), clash)
        self.record_last(site, who, access.row, access.lanes.full_extent(access.address))
        if strong:
            self._synchronise_remote(access, who)

    def _check_remote_order(self, access: SharedAccess, who: Accessors, strong: bool) -> None:
        """The words must be written, their block must have started, and no access to them may be unordered."""
        shadow, site = self.shadow, access.site
        if self.reads(site) and (never := shadow.never_written(access.row, access.word)).any():
            self.report(self.fault(
                "uninitialized-shared",
                "the thread reads shared memory of another block that nobody has written. Write every element that is "
                "read, and put a barrier of the cluster after the writes",
                access, never,
            ), never)  # fmt: skip
        verb = "writes" if site.store else "reads"
        early = ~self._started[who.row]
        if early.any():
            self.report(self.fault(
                "race",
                f"the thread {verb} shared memory of another block, which may not have begun. Let the blocks of the "
                "cluster wait for each other at a barrier of the cluster first",
                access, early,
            ), early)  # fmt: skip
        in_block = site.instruction.has("cta")
        found = shadow.remote_conflict(access.row, access.word, who, store=site.store, strong=strong, in_block=in_block)
        if found is not None:
            clash, wrote, inside = found
            self.report(self._named(self.fault(
                "race",
                f"the thread {verb} a word of the shared memory of another block that others "
                f"{'wrote' if wrote else 'read'} with nothing that orders the two. {_FIX_CLUSTER}",
                access, clash,
            ), access, who, clash, wrote, OWN if inside else REMOTE), clash)  # fmt: skip

    def _named(
        self, fault: KernelFault, access: SharedAccess, who: Accessors, clash: np.ndarray, wrote: bool, side: str
    ) -> KernelFault:
        """A race of a remote access with the place of the other one."""
        lane = int(clash.argmax())
        me = int(who.row[lane]), int(who.thread[lane])
        words, itemsize = access.word[lane], access.site.dtype.itemsize
        return self._others().name(fault, int(access.row[lane]), words, (wrote,), me, itemsize, (side,))

    def _others(self) -> OtherAccesses:
        return OtherAccesses(self.watched, self.shadow, self._copies)

    def _synchronise_remote(self, access: SharedAccess, who: Accessors) -> None:
        """Pass on what the threads of a strong remote access know."""
        shadow = self.shadow
        if access.site.instruction.has("release", "acq_rel"):
            shadow.fence(who.row, who.thread)
        if access.site.operation:
            shadow.exchange(access.row, access.word, who.row, who.thread)
        elif access.site.store:
            shadow.release_to(access.row, access.word, who.row, who.thread)
        else:
            shadow.acquire_from(access.row, access.word, who.row, who.thread)

    def accessors(self, lanes: Lanes) -> Accessors:
        """The threads of a set."""
        row = lanes.full_extent(lanes.row_index)
        return Accessors(row, lanes.full_extent(lanes.column_index), row % self.cluster_size)

    @property
    def cluster_size(self) -> int:
        """Blocks per cluster."""
        return self.watched.geometry.blocks_per_cluster

    def record_last(self, site: Site, who: Accessors, owner: np.ndarray, offset: np.ndarray) -> None:
        """Record that these threads accessed those blocks."""
        self._sites[site.index] = site
        self._last.time[owner] = self.shadow.time
        self._last.lane[owner] = who.row * self.watched.threads + who.thread
        self._last.site[owner] = site.index
        self._last.offset[owner] = offset.astype(np.int64)

    def cluster_complete(self, rows: np.ndarray, released: np.ndarray) -> None:
        """All threads have arrived: whoever waits learns what they did before."""
        self.shadow.cluster_complete(rows, released, self.cluster_size)

    def cluster_wait(self, site: InstructionSite, lanes: Lanes) -> None:
        """These lanes have waited and know it now."""
        live = self.watched.live_mask()
        self.shadow.cluster_wait(lanes.mask, lanes.mask if live is None else live)
        self._started |= lanes.mask.any(axis=1)
        self.resume(lanes, site.index)

    # mbarriers

    def mbarrier(
        self, site: Site, lanes: Lanes, owner: np.ndarray, offset: np.ndarray, action: str, phase: np.ndarray
    ) -> None:
        """An arrival publishes what its thread did; a wait learns of it. Both must come after the initialisation.

        Who does not look at the answer has not waited.
        """
        shadow = self.shadow
        if shadow.remote is None:
            shadow.track_remote()
        if action == "wait" and site.index in self._unread:
            return
        if action in ("arrive", "wait") and self._use_own(site, lanes, offset, action, phase):
            return
        phase = lanes.full_extent(phase)
        who = self.accessors(lanes)
        word = self.words_at(site, offset)
        if action == "init":
            self._record_initialisation(owner, offset, who)
            self._objects.begin(owner, offset)
            shadow.mbarriers_begin(owner, word[:, 0])
            return
        if action == "invalidate":
            self._objects.end(owner, offset)
        access = SharedAccess(site, lanes, offset.reshape(lanes.extent), owner, who.thread, word)
        self._check_initialised(access, who, offset)
        if action == "wait":
            shadow.acquire_from(owner, word, who.row, who.thread, phase)
            return
        if action != "arrive":
            return
        self._check_phases(access, who, phase)
        remote = owner != who.row
        part = Accessors(who.row[remote], who.thread[remote], who.rank[remote])
        self.record_last(site, part, owner[remote], offset[remote])
        if not site.instruction.has("relaxed"):
            shadow.fence(who.row, who.thread)
            shadow.release_to(owner, word, who.row, who.thread, phase)

    def _check_initialised(self, access: SharedAccess, who: Accessors, offset: np.ndarray) -> None:
        """Threads that use mbarriers come after whoever initialised them."""
        lanes = access.lanes
        _, first, which = np.unique(access.row << _OFFSET_BITS | offset, return_index=True, return_inverse=True)
        objects = zip(access.row[first].tolist(), offset[first].tolist(), strict=True)
        made = np.array([self._initialised[key] for key in objects])[which.reshape(-1)]
        early = ~self.shadow.knows(who.row, who.thread, *made.T)
        if early.any():
            self.report(self.fault(
                "race",
                "the thread uses an mbarrier that another thread initialises, with nothing that orders the two. Put "
                "__syncthreads(), or a barrier of the cluster, after mbarrier.init",
                access, early,
            ), early)  # fmt: skip
        elif isinstance(lanes, Box) and access.row is lanes.positions.rows and (offset == offset[0]).all():
            self._known_objects[id(lanes), id(offset)] = lanes, offset, access.word[0]

    def _check_phases(self, access: SharedAccess, who: Accessors, phase: np.ndarray) -> None:
        """Lanes of a warp that arrive together arrive in one phase: which of them would come first?"""
        if (phase == phase[0]).all():
            return
        place = (access.row * self.watched.blocks + who.row) * self.shadow.words + access.word[:, 0]
        warp = place * (self.watched.threads // WARP) + who.thread // WARP
        _, which = np.unique(warp, return_inverse=True)
        first = np.full(which.max() + 1, phase.max())
        np.minimum.at(first, which.reshape(-1), phase)
        late = phase > first[which.reshape(-1)]
        if late.any():
            self.report(self.fault(
                "mbarrier-misuse",
                "the thread arrives at an mbarrier in a later phase than other lanes of its warp, in one instruction. "
                "The mbarrier expects fewer arrivals than come: initialise it with the number of all that arrive",
                access, late,
            ), late)  # fmt: skip

    def _use_own(self, site: Site, lanes: Lanes, offset: np.ndarray, action: str, phase: np.ndarray) -> bool:
        """The lanes use one object of their own block, as they did before: they still come after it was initialised.

        False, and nothing is done, where that is not known.
        """
        known = self._known_objects.get((id(lanes), id(offset)))
        if known is None or known[0] is not lanes or known[1] is not offset:
            return False
        if action == "wait":
            self.shadow.acquire_own(known[0], known[2], phase)
        elif not site.instruction.has("relaxed"):
            self.shadow.release_own(known[0], known[2], phase)
        return True

    def _record_initialisation(self, owner: np.ndarray, offset: np.ndarray, who: Accessors) -> None:
        """Record who has initialised each mbarrier, and when."""
        self._known_objects.clear()
        time = self.shadow.advance_time()
        for row, at, *thread in zip(*(a.tolist() for a in (owner, offset, who.row, who.thread)), strict=True):
            self._initialised[row, at] = (*thread, time)

    def fence(self, site: InstructionSite, lanes: Lanes) -> None:
        """A proxy fence makes earlier writes visible to bulk copies. Other fences order threads."""
        if not self._fences_count:
            return
        if not site.instruction.has("proxy"):
            super().fence(site, lanes)
        elif site.instruction.has("async"):
            self.shadow.tell_apart()
            self.shadow.fence_proxy(lanes.full_extent(lanes.row_index), lanes.full_extent(lanes.column_index))

    # Copies

    def copy_begins(self, copy: Copy, lanes: Lanes) -> None:
        """Until the copy ends, nothing else may access the shared memory that it uses."""
        shadow = self.shadow
        remote = shadow.track_remote()
        row, thread = np.divmod(copy.lane, self.watched.threads)
        word = self._words_of(copy)
        if (hit := self._objects.hit(copy.owner, word)).any():
            what = "overwrites" if copy.writes else "reads"
            self.report(self._copy_fault("mbarrier-misuse", f"{what} an mbarrier that is in use", copy, hit), hit)
        bulk = copy.site.instruction.has("bulk", "mma_async") or copy.bound is not None
        if bulk:  # a cp.async was reported before, as a store of its thread
            self._check_copy(copy, word, Accessors(row, thread, row % self.cluster_size))
        self._copies.append(copy)
        if copy.bound is not None and copy.pieces is None:
            shadow.tell_by_copies(*self._mbarrier_words(copy.bound), copy.lane)
        if copy.site.instruction.has("mma_async"):
            self._products.append(copy)
        stamps = remote.written if copy.writes else remote.read
        stamps[copy.owner[:, None], word] = remote.copy_stamp(IN_FLIGHT, copy.changes)

    def _check_copy(self, copy: Copy, word: np.ndarray, who: Accessors) -> None:
        """A copy may begin if its block has started and everything that used its words is done."""
        shadow, owner = self.shadow, copy.owner
        early = (owner != who.row) & ~self._started[who.row]
        if early.any():
            what = "goes to another block, which may not have begun. Let the blocks of the cluster wait for each other "
            self.report(self._copy_fault("race", what + "at a barrier of the cluster first", copy, early), early)
        reads = not copy.writes or copy.changes
        if reads and (bad := shadow.never_written(owner, word)).any():
            self.report(
                self._copy_fault("uninitialized-shared", "reads shared memory that nobody wrote", copy, bad), bad
            )
        if (bad := self._unordered_with_copy(copy, word, who)).any():
            verb = "writes" if copy.writes else "reads"
            what = (
                f"{verb} shared memory that another thread or copy has used, with nothing that orders the two. Let "
                "all of them be done (__syncthreads(), an mbarrier, wait_group) before the copy is issued"
            )
            fault = self._copy_fault("race", what, copy, bad)
            number, kinds = int(bad.argmax()), (True, False) if copy.writes else (True,)
            me = int(who.row[number]), int(who.thread[number])
            self.report(self._others().name(fault, int(owner[number]), word[number], kinds, me, 4), bad)
        if not (reads and copy.site.instruction.has("bulk", "mma_async")):
            return
        if (bad := shadow.hidden_from_copies(owner, word, who.row, who.thread)).any():
            what = (
                f"reads shared memory that was written by ordinary stores, which {_noun(copy)} does not see. Put "
                'asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); after the stores, before the barrier'
            )
            fault, number = self._copy_fault("race", what, copy, bad), int(bad.argmax())
            self.report(self._others().name(fault, int(owner[number]), word[number], (True,), (-1, -1), 4, (OWN,)), bad)

    def _unordered_with_copy(self, copy: Copy, word: np.ndarray, who: Accessors) -> np.ndarray:
        """Whether each copy uses words that a thread or another copy accessed with nothing that orders the two."""
        shadow, owner = self.shadow, copy.owner
        remote = shadow.track_remote()
        own, strong = owner == who.row, copy.changes
        acquired = shadow.acquired(who.row, who.thread)
        bad = np.zeros(len(copy.lane), bool)
        if copy.writes:
            bad = own & shadow.used_before_copy(owner, word, who.thread, wrote=False)
            bad |= remote.unordered(remote.read, owner, word, acquired, False)
        bad = bad | own & shadow.used_before_copy(owner, word, who.thread, wrote=True, strong=strong)
        bad |= remote.unordered(remote.written, owner, word, acquired, strong)
        if not own.all():
            found = shadow.remote_conflict(owner, word, who, store=copy.writes, strong=strong)
            bad |= ~own & (found[0] if found is not None else False)
            kinds = (True, False) if copy.writes else (True,)
            for wrote in kinds:
                bad |= ~own & shadow.used_in_another_block(owner, word, who, wrote=wrote, strong=strong)
        return bad

    def copy_ends(self, copy: Copy) -> None:
        """Whoever waits for the copy may use its words."""
        shadow = self.shadow
        remote = shadow.track_remote()
        word = self._words_of(copy)
        stamps = remote.written if copy.writes else remote.read
        at = copy.owner[:, None]
        if copy.bound is not None:
            stamps[at, word] = remote.copy_stamp(shadow.time, copy.changes)
            shadow.publish_at(*self._mbarrier_words(copy.bound))
            return
        stamps[at, word] = 0
        if copy.site.instruction.has("mma_async"):
            self._product_ends(copy)
            return
        shadow.begin_access(copy.site.index)
        thread = copy.lane % self.watched.threads
        (shadow.write_as if copy.writes else shadow.read_as)(copy.owner, word, thread)

    def _mbarrier_words(self, bound: Key) -> tuple[int, np.ndarray]:
        """The row of the block that has an mbarrier, and its words."""
        row, offset = bound
        granule = self.shadow.granule
        return row, offset // granule + np.arange(_MBARRIER_BYTES // granule)

    def _product_ends(self, ended: Copy) -> None:
        """The warps of a wgmma have waited for it: all of its warpgroup have read. Other products may still read."""
        remote = self.shadow.track_remote()
        self._products = [one for copy in self._products for one in _without(copy, ended)]
        for copy in self._products:
            remote.read[copy.owner[:, None], self._words_of(copy)] = remote.copy_stamp(IN_FLIGHT)

    def _words_of(self, copy: Copy) -> np.ndarray:
        """The words of each copy, (copies, words per copy)."""
        granule = self.shadow.granule
        return copy.offset[:, None] // granule + np.arange(max(1, copy.nbytes // granule))

    def _copy_fault(self, kind: str, what: str, copy: Copy, bad: np.ndarray) -> KernelFault:
        number = int(bad.argmax())
        lane, address = int(copy.lane[number]), int(copy.offset[number])
        noun = "wgmma" if copy.site.instruction.has("mma_async") else "copy"
        return self._fault_of(kind, f"the thread's {noun} {what}", copy.site, lane, address)

    def _fault_of(self, kind: str, sentence: str, site: Site, lane: int, address: int) -> KernelFault:
        """The fault of one lane of the batch."""
        batch = self.watched
        row, column = divmod(lane, batch.threads)
        return kernel_fault(
            kind,
            sentence,
            site.instruction,
            batch.file,
            thread=batch.geometry.thread(column),
            block=batch.geometry.block_index(row),
            address=address,
        )

    # The end

    def done(self) -> None:
        """Before a block ends, it must have waited for every remote access to its shared memory."""
        for copy in self.watched.bulk.unfinished():
            verb = "writes" if copy.writes else "reads"
            self.report(self._fault_of(
                "race",
                f"the block ends while a bulk copy still {verb} its shared memory. Wait for the copy before the end "
                "(cp.async.bulk.wait_group.read, or the mbarrier that it is bound to)",
                copy.site, int(copy.lane[0]), int(copy.offset[0]),
            ), np.ones(len(copy.lane)))  # fmt: skip
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
        self.report(self._fault_of(
            "race",
            f"the thread {verb} shared memory of block {self.watched.geometry.block_index(owner)}, which may have "
            "ended before. Let all blocks of the cluster wait for each other at a barrier of the cluster after their "
            "last access",
            site, int(self._last.lane[owner]), int(self._last.offset[owner]),
        ))  # fmt: skip

    # Messages

    def _remote_race(self, access: SharedAccess, clash: np.ndarray, stamps: np.ndarray, wrote: bool) -> KernelFault:
        """The race of a block's own thread with a remote access."""
        lane = int(clash.argmax())
        stamp = int(stamps[access.row[lane], access.word[lane]].max())
        verb = "writes" if access.site.store else "reads"
        who = self._source(stamp, int(access.row[lane]))
        if RemoteAccesses.in_flight(stamp):
            product = not wrote and self._is_of_product(int(access.row[lane]), access.word[lane])
            what, fix = ("a wgmma.mma_async", _FIX_PRODUCT) if product else ("an asynchronous copy", _FIX_COPY)
            sentence = (
                f"the thread {verb} a word of shared memory that {what} may still be "
                f"{'writing' if wrote else 'reading'}. {fix}"
            )
        else:
            fix = _FIX_COPY if who == _A_COPY else _FIX_CLUSTER
            what = "wrote" if wrote else "read"
            sentence = (
                f"the thread {verb} a word of shared memory that {who} {what}, with nothing that orders the two. {fix}"
            )
        fault = self.fault("race", sentence, access, clash)
        words, me = access.word[lane], (int(access.row[lane]), int(access.thread[lane]))
        others, itemsize = self._others(), access.site.dtype.itemsize
        return others.name(fault, int(access.row[lane]), words, (wrote,), me, itemsize, (REMOTE,))

    def _is_of_product(self, row: int, words: np.ndarray) -> bool:
        """Whether a product in flight reads one of these words."""
        return any(np.isin(self._words_of(copy)[copy.owner == row], words).any() for copy in self._products)

    def _source(self, stamp: int, row: int) -> str:
        """Who made a remote access to a word of this row, for a message."""
        source = RemoteAccesses.source_of(stamp)
        if isinstance(source, int):
            return _A_COPY if source == COPY else "threads of other blocks"
        rank, thread = source
        start = row - row % self.cluster_size
        geometry = self.watched.geometry
        of_block = f"of block {geometry.block_index(start + rank)}"
        return f"threads {of_block}" if thread is None else f"thread {geometry.thread(thread)} {of_block}"


def _noun(copy: Copy) -> str:
    """What reads or writes, for a message."""
    return "wgmma" if copy.site.instruction.has("mma_async") else "a bulk copy"


def _without(copy: Copy, ended: Copy) -> list[Copy]:
    """What is left of the tiles of a product when those of some warps have been waited for."""
    if copy.site is not ended.site:
        return [copy]
    left = ~np.isin(copy.lane, ended.lane)
    if not left.any():
        return []
    return [replace(copy, lane=copy.lane[left], owner=copy.owner[left], offset=copy.offset[left])]
