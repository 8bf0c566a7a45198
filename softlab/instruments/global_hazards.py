"""Finds races in global memory, between threads of a warp, warps of a block, and blocks of the grid.

Two accesses to one cell by two threads are a race if one of them writes, not both are strong (atomics, volatile), and
nothing orders the two (:mod:`softlab.instruments.happens_before`). All blocks of a launch run at the same time as far
as this rule is concerned, those of different batches, too. Arrays that no instruction may write are not watched.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from softlab.emulator.lanes import WARP, Box, Lanes, Value
from softlab.emulator.machine.flow import Block
from softlab.emulator.machine.loop_records import LoopCode
from softlab.emulator.machine.observers import Batch, Observer
from softlab.emulator.memory.allocations import Allocation
from softlab.emulator.memory.copies import Copy
from softlab.emulator.ptx.linker import Image
from softlab.emulator.sites import InstructionSite, Site
from softlab.findings import FaultSink
from softlab.instruments.blind_atomics import BlindAtomics, blind_atomics
from softlab.instruments.events import Events
from softlab.instruments.flights import READING, REDUCING, WRITING, Flights
from softlab.instruments.global_access import GlobalAccess
from softlab.instruments.global_reports import PROMISED, READ_ONLY, GlobalReports
from softlab.instruments.global_shadow import (
    ONE_CELL,
    STRONG,
    VOLATILE,
    WIDTHS,
    Clash,
    GlobalShadow,
    Stamps,
    time_of,
)
from softlab.instruments.guesses import checked_guesses
from softlab.instruments.happens_before import HappensBefore, OwnWords
from softlab.instruments.native_access import ALL_DONE, LOOK, OUTSIDE, STEP, Accessed, Does, NativeAccess
from softlab.instruments.native_order import KeyedAccess, NativeOrder, mbarrier_keys, run_starts, shared_keys
from softlab.instruments.pointers import PointerFlow, narrowest
from softlab.instruments.promised_reads import PromisedReads
from softlab.instruments.repeated_atomics import CellsOfLanes, RepeatedAtomics
from softlab.instruments.source_names import Parameter
from softlab.instruments.strong_access import StrongAccess
from softlab.instruments.strong_instructions import (
    fence_scope,
    is_strong,
    makes_fence,
    scope_of,
    stamp_flags,
    strong_instructions,
)
from softlab.instruments.unread_answers import unread_answers
from softlab.instruments.warp_syncs import is_exchange, warps_of

_WORD_SHIFT = 2
#: Cells of one lane's access at most: a copy may begin at the end of an array and leave the rest out.
_MOST_CELLS = 33
#: Sets of lanes whose mbarriers are remembered.
_MOST_KNOWN = 64
#: What a step of the orders counts towards compiling them, where a look of NumPy counts 1.
_OF_A_STEP = 0.2
#: A strong access as the orders take it: :class:`StrongAccess` in NumPy, :class:`KeyedAccess` in compiled code.
Meeting: TypeAlias = Any


class _Facts(NamedTuple):
    """Of an instruction: whether it is strong, its flags in stamps, whether it releases, its scope; read-only loads."""

    strong: bool
    flags: int
    releases: bool
    scope: str
    read_only: bool


class _Whole(NamedTuple):
    """What is accessed as a whole in compiled code: a frame, its array, and whether words would be left to NumPy."""

    frame: np.ndarray
    array: Allocation
    asks_words: bool


class GlobalHazards(Observer):
    """Watches one run. ``sink`` takes the races; ``parameters`` are those of the source, for the names of arrays."""

    def __init__(self, sink: FaultSink, parameters: Sequence[Parameter] = ()) -> None:
        self._events = Events()
        self._reports = GlobalReports(sink, parameters, self._events)
        #: The order of all accesses; also that of reads with later writes, where it is another one.
        self._orders: list[HappensBefore] = []
        #: When the lanes of each warp exchanged values last: (blocks, warps).
        self._exchanged = np.zeros((0, 0), np.int64)
        #: Waits at mbarriers whose answer decides nothing.
        self._unread: frozenset[int] = frozenset()
        #: Whether the orders are compiled, and take accesses by keys.
        self._keyed = False
        self._reads_apart = self._words_grow = False
        self._shadows: dict[int, GlobalShadow] = {}
        #: Atomics whose old value nobody uses, in launches of several blocks; those on each array.
        self._blind_atomics: frozenset[int] = frozenset()
        self._blind: dict[int, BlindAtomics] = {}
        #: Reads of each array as read-only data.
        self._promised: dict[int, PromisedReads] = {}
        self._skipped: frozenset[int] = frozenset()
        self._granule_shift = 0
        self._strong_shared: frozenset[int] | None = None
        self._batch: Any = None
        #: Time of the last strong read of a word by a warp, in kernels with volatile stores.
        self._last_reads: dict[tuple[Hashable, int], int] = {}
        self._volatile_stores = False
        self._strong_sites: dict[int, _Facts] = {}
        #: Of each fence its scope, "" for those that order no threads.
        self._fence_scopes: dict[int, str] = {}
        self._native: NativeAccess | None = None
        #: By instruction and array what compiled code needs to know of an access; and by instruction the latest.
        self._frames: dict[tuple[int, int], np.ndarray] = {}
        self._latest: dict[int, _Whole] = {}
        #: The address of the one lane of an access.
        self._address = np.zeros(1, np.int64)
        self._repeated: RepeatedAtomics
        self._known_words: dict[tuple[int, int, int], tuple[Box, np.ndarray, OwnWords]] = {}
        self._flights = Flights()
        #: The barrier that lanes pass next, or passed last, at which others had arrived and gone on.
        self._completed: int | None = None

    # Batches

    #: Whether strong accesses have passed anything on in this batch.
    _has_passed_on = False

    def batch(self, batch: Batch) -> None:
        """All blocks of earlier batches run at the same time as these, with nothing known of them."""
        if self._strong_shared is None:
            self._analyse(batch)
        self._begin_orders(batch)
        self._exchanged = np.zeros((batch.blocks, batch.threads // WARP), np.int64)
        self._unread = batch.program.fact(unread_answers)
        if math.prod(batch.geometry.grid) > 1:
            self._blind_atomics = batch.program.fact(blind_atomics)
        self._repeated = RepeatedAtomics(batch.shared.known, batch.compiled)
        self._batch = batch
        self._last_reads = {}
        self._has_passed_on = False
        self._flights = Flights()
        self._events.begin_batch(batch.geometry)
        self._begin_native(batch)
        self._reports.begin_batch(batch, self._granule_shift, self._exchanged)

    def _begin_orders(self, batch: Batch) -> None:
        """Orders of this batch, compiled ones where words matter."""
        keyed = bool(self._strong_shared) and STEP.ready(batch.compiled, 0)
        if keyed != self._keyed:
            self._keyed, self._latest = keyed, {}
        before: list[HappensBefore] = list(self._orders)
        self._orders = []
        for number in range(2 if self._reads_apart else 1):
            self._orders.append(self._next_order(batch, before[number] if before else None, of_reads=number == 1))
        for order in before:
            if not any(order is kept for kept in self._orders):
                order.release()
        if isinstance(first := self._orders[0], NativeOrder):
            first.remembers_reads = self._volatile_stores

    def _next_order(self, batch: Batch, before: HappensBefore | None, *, of_reads: bool) -> HappensBefore:
        """The order of a batch; ``before``: that of the batch before it."""
        size = batch.blocks, batch.threads
        if not self._keyed:
            words = before.published() if before is not None else {}
            return HappensBefore(*size, words, of_reads=of_reads)
        if not isinstance(before, NativeOrder):
            words = before.published() if before is not None else {}
            return NativeOrder(*size, words, of_reads=of_reads, words_grow=self._words_grow)
        if before.begins_again(*size):
            return before
        part = batch.geometry.first / math.prod(batch.geometry.grid)
        return NativeOrder(*size, before, of_reads=of_reads, words_grow=self._words_grow, part=part)

    def _begin_native(self, batch: Batch) -> None:
        """Compiled code for the accesses of this batch, where the run may use it."""
        if batch.compiled != "none":
            self._native = self._native or NativeAccess(remembers=self._volatile_stores)
            self._native.begin(self._orders, self._events.batch_start, keyed=self._keyed)

    def done(self) -> None:
        """After the last batch nobody asks for the order of events, nor for what was accessed."""
        if self._is_last():
            self.stopped()

    def stopped(self) -> None:
        """So it is after a fault, unless a run that collects its faults goes on with the next batch.

        That one has an order of its own; what was accessed so far counts.
        """
        for order in self._orders:
            order.release()
        self._orders = []
        if self._batch.collects and not self._is_last():
            return
        for shadow in self._shadows.values():
            shadow.release()
        for blind in self._blind.values():
            blind.release()
        self._shadows, self._blind, self._frames, self._latest = {}, {}, {}, {}

    def _is_last(self) -> bool:
        """Whether the batch is the last one."""
        return bool(self._batch.geometry.first + self._batch.blocks >= math.prod(self._batch.geometry.grid))

    def _analyse(self, batch: Batch) -> None:
        """Which instructions need no look, and how wide a cell is."""
        memory = batch.memory

        def array_at(address: int) -> int | None:
            found = memory.nearest(address)
            return found.base if found is not None and found.base <= address <= found.end else None

        program = batch.program
        quiet = program.fact(PointerFlow).analyse(array_at, batch.parameters).quiet
        self._skipped = quiet | program.fact(checked_guesses)
        self._granule_shift = program.fact(narrowest).bit_length() - 1
        self._strong_sites = program.fact(_facts_found)
        strong = program.fact(strong_instructions)
        self._volatile_stores, self._reads_apart, self._words_grow, self._strong_shared = strong

    # Accesses

    def takes_loop(self, loop: LoopCode) -> bool:
        """Loads of what no lane writes need no look."""
        return loop.variable_loads <= self._skipped

    def global_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """Look for a race with earlier accesses, and record this one."""
        if site.index in self._skipped or site.space == "const":
            return
        if site.operation and self._recorded_again(site, lanes, address):
            return
        lane = lanes.numbers
        if isinstance(address, np.ndarray) or len(lane) > 1:
            flat = np.ascontiguousarray(lanes.full_extent(address)).view(np.int64)
        else:
            flat = self._address  # nobody keeps it
            flat[0] = address
        latest = self._latest.get(site.index)
        if latest is None or not self._natively(latest, site, lanes, flat, lane, values, None):
            self._access(site, lanes, flat, lane, values)

    def _natively(
        self,
        whole: _Whole,
        site: Site,
        lanes: Lanes,
        address: np.ndarray,
        lane: np.ndarray,
        values: tuple[Value, ...],
        part: np.ndarray | None,
    ) -> bool:
        """As :meth:`_in_pieces`, all in compiled code; False, and nothing is done, where that cannot be."""
        native, (frame, array, asks_words) = self._native, whole
        if native is None or self._flights or (asks_words and self._passes_on()):
            return False
        if site.store and array.base in self._promised:
            return False
        now = self._events.now
        found = native.access(frame, lane, address, now)
        if found == OUTSIDE:
            return False
        self._events.access(site)
        if found != ALL_DONE:
            cells, flags = self._cells(site), self._facts(site).flags
            stamps = self._stamps(address - array.origin, lane, now, flags, cells)
            access = GlobalAccess(array, site, lanes, address, stamps, values, part, cells)
            (self._check if found == LOOK else self._write)(access)
            native.rest(frame, lane, address, now)
        if self._blind and site.index not in self._blind_atomics and array.base in self._blind:
            self._look_at_blind(array, site, lanes, address, lane, values, part, now)
        return True

    def _passes_on(self) -> bool:
        """Whether strong accesses pass anything on. Once they do, they do so until the batch ends."""
        if not self._has_passed_on:
            needed = self._orders[0].needs_words or self._orders[-1].needs_words
            self._has_passed_on = self._volatile_stores or needed
        return self._has_passed_on

    def _recorded_again(self, site: Site, lanes: Lanes, address: Value) -> bool:
        """Record an atomic that repeats others, which passes nothing on; False for any other."""
        if self._passes_on():
            return False
        _, flags, releases, *_ = self._facts(site)
        if flags & ~WIDTHS != STRONG or releases or self._flights or self._promised:
            return False
        find = partial(self._cells_of_lanes, site, lanes, address)
        if not self._repeated.record(site, lanes, address, self._events.now, find):
            return False
        self._events.access(site)
        return True

    def _cells_of_lanes(self, site: Site, lanes: Lanes, address: Value) -> CellsOfLanes | None:
        """The cells of an access, with the last lane of each; None where they are in several arrays."""
        flat = lanes.full_extent(address).view(np.int64)
        array = self._batch.memory.nearest(int(flat[0]))
        if array is None or int(flat.min()) < array.base or int(flat.max()) >= array.end:
            return None
        stamps = self._stamps(flat - array.origin, lanes.numbers, 0, 0, self._cells(site))
        cell, at = np.unique(stamps.cell[::-1], return_index=True)
        return CellsOfLanes(self._shadow(array), cell, stamps.lane[::-1][at], self._facts(site)[1])

    def _access(
        self, site: Site, lanes: Lanes, address: np.ndarray, lane: np.ndarray, values: tuple[Value, ...]
    ) -> None:
        memory = self._batch.memory
        found = memory.nearest(int(address[0]))
        if found is not None:
            if self._found_natively(found, site, lanes, address, lane, values, None):
                return
            ends = address if len(address) == 1 else (address.min(), address.max())
            if int(ends[0]) >= found.base and int(ends[-1]) < found.end:
                self._in_pieces(found, site, lanes, address, lane, values, None)
                return
        bases = np.array([memory.nearest(int(a)).base for a in address.tolist()])
        for base in np.unique(bases):
            part = np.flatnonzero(bases == base)
            given = memory.nearest(int(base)), site, lanes, address[part], lane[part], values, part
            if not self._found_natively(*given):
                self._in_pieces(*given)

    def _found_natively(
        self,
        array: Allocation,
        site: Site,
        lanes: Lanes,
        address: np.ndarray,
        lane: np.ndarray,
        values: tuple[Value, ...],
        part: np.ndarray | None,
    ) -> bool:
        """As :meth:`_natively`, of accesses that are in this array, if they are in one."""
        facts = self._facts(site)
        # A fence of the access itself is told to the orders, and compiled code tells compiled ones alone.
        left = facts.read_only or site.instruction.opcode == "cp" or (facts.releases and not self._keyed)
        if left or (frame := self._frame(array, site)) is None:
            return False
        whole = self._latest[site.index] = _Whole(frame, array, facts.strong and not self._keyed)
        return self._natively(whole, site, lanes, address, lane, values, part)

    def _in_pieces(
        self,
        array: Allocation,
        site: Site,
        lanes: Lanes,
        address: np.ndarray,
        lane: np.ndarray,
        values: tuple[Value, ...],
        part: np.ndarray | None,
    ) -> None:
        """The accesses of one instruction to one array; ``part``: which lanes of the set they are, None for all."""
        strong, flags, releases, scope, read_only = self._facts(site)
        copies = site.instruction.opcode == "cp"
        frame = None if read_only or (copies and values) else self._frame(array, site)
        now = self._events.access(site)
        if releases:
            self._fence(lane, scope)
        meeting = self._meeting(site, address, lane) if strong and self._passes_on() else None
        if meeting is not None and (site.operation or not site.store):
            self._meet(site, meeting, scope)
        found = LOOK if frame is None or self._native is None else self._native.record(frame, lane, address, now)
        breaks = site.store and array.base in self._promised
        if found != ALL_DONE or copies or self._flights or breaks:
            cells = self._cells(site)
            stamps = self._stamps(address - array.origin, lane, now, flags, cells)
            if copies and values:  # the copy names its bytes
                nbytes = lanes.full_extent(values[0]) if part is None else lanes.full_extent(values[0])[part]
                stamps, values = self._first_bytes(stamps, nbytes, cells), ()
            access = GlobalAccess(array, site, lanes, address, stamps, values, part, cells)
            if found != ALL_DONE:
                (self._check if found == LOOK else self._write)(access)
            self._check_promise(access, read_only, breaks)
            self._check_flights(access)
            if copies:
                self._flights.begin(array.base, self._all_cells(array), site.index, stamps)
        if meeting is not None:
            self._met(site, meeting, now)
        if site.index in self._blind_atomics or array.base in self._blind:
            self._look_at_blind(array, site, lanes, address, lane, values, part, now)

    def _met(self, site: Site, meeting: Meeting, now: int) -> None:
        """Others learn from a strong store, and a strong load or an atomic has read."""
        if site.store and not site.operation:
            self._meet(site, meeting, self._facts(site).scope)
        elif self._volatile_stores and not self._keyed:
            self._last_reads.update(dict.fromkeys(zip(meeting.words, meeting.warps, strict=True), now))

    def _look_at_blind(
        self,
        array: Allocation,
        site: Site,
        lanes: Lanes,
        address: np.ndarray,
        lane: np.ndarray,
        values: tuple[Value, ...],
        part: np.ndarray | None,
        now: int,
    ) -> None:
        """As :meth:`_in_pieces`, of an array on which several blocks make atomics without a look at the old value."""
        strong, flags, *_ = self._facts(site)
        cells, begin = self._cells(site), self._events.batch_start
        blind = self._blind_of(array)
        if site.index in self._blind_atomics:
            blind.record(self._stamps(address - array.origin, lane, now, flags, cells), begin)
            return
        if strong and cells == 1:
            blind.forget(address - array.origin >> self._granule_shift)
            return
        stamps = self._stamps(address - array.origin, lane, now, flags, cells)
        if not strong:
            access = GlobalAccess(array, site, lanes, address, stamps, values, part, cells)
            self._reports.race(access, blind.clashing(stamps, begin, self._orders[0].ordered), "wrote")
        if strong or site.store:
            blind.forget(stamps.cell)

    def _blind_of(self, array: Allocation) -> BlindAtomics:
        found = self._blind.get(array.base)
        if found is None:
            found = self._blind[array.base] = BlindAtomics(self._all_cells(array), self._batch.threads)
        return found

    def _first_bytes(self, stamps: Stamps, nbytes: np.ndarray, cells: int) -> Stamps:
        """The stamps of the cells in the first ``nbytes`` of each lane."""
        return stamps.where((np.arange(cells) << self._granule_shift < nbytes[:, None]).reshape(-1))

    def _stamps(self, offset: np.ndarray, lane: np.ndarray, now: int, flags: int, cells: int) -> Stamps:
        """Stamps of ``cells`` cells per lane. offset: the first byte of each lane's in its array."""
        cell = offset >> self._granule_shift
        if cells == 1:
            return Stamps(cell, lane, now, flags)
        return Stamps((cell[:, None] + np.arange(cells)).reshape(-1), np.repeat(lane, cells), now, flags)

    def _facts(self, site: Site) -> _Facts:
        """What is known of an instruction."""
        found = self._strong_sites.get(site.index)
        if found is None:
            strong = bool(site.operation) or is_strong(site.instruction)
            releases = strong and makes_fence(site.instruction)
            flags = stamp_flags(site.instruction, strong)
            if strong:
                width = site.dtype.itemsize // (2 if site.instruction.is_packed else 1)
                flags |= ONE_CELL * max(1, width >> self._granule_shift)
            instruction = site.instruction
            found = _Facts(strong, flags, releases, scope_of(instruction), instruction.has("nc"))
            self._strong_sites[site.index] = found
        return found

    def _frame(self, array: Allocation, site: Site) -> np.ndarray | None:
        """What compiled code needs to know of an instruction's accesses to an array; None where NumPy looks at them."""
        if self._native is None or not self._native.ready(self._batch.compiled):
            return None
        found = self._frames.get((site.index, array.base))
        if found is None:
            facts = self._facts(site)
            words = max(1, site.width >> _WORD_SHIFT)
            accessed = Accessed(self._cells(site), words, self._granule_shift, facts.flags)
            does = Does(site.store, bool(site.operation), facts.releases, facts.strong, facts.scope != "cta")
            blind = self._blind_of(array) if site.index in self._blind_atomics else None
            where = array.base, array.end, array.origin
            found = self._native.frame(self._shadow(array), accessed, does, *where, blind)
            self._frames[site.index, array.base] = found
        return found

    def _cells(self, site: Site) -> int:
        """Cells of one lane's access."""
        return max(1, site.width >> self._granule_shift)

    def _meet(self, site: Site, meeting: Meeting, scope: str) -> None:
        """Strong accesses to words: what they learn and what they publish."""
        if not self._keyed:
            STEP.ready(self._batch.compiled, _OF_A_STEP)  # a later batch may be one with compiled orders
        for order in self._orders:
            if site.operation:
                order.exchange(meeting, scope, self._events.now)
            elif site.store:
                order.write(meeting, scope, self._events.now)
            elif isinstance(order, NativeOrder):
                order.read(meeting, self._events.now)
            else:
                order.read(meeting)

    def _fence(self, lane: np.ndarray, scope: str) -> None:
        for order in self._orders:
            order.fence(lane, self._events.now, scope)

    def _check(self, access: GlobalAccess) -> None:
        shadow, stamps = self._shadow(access.array), access.stamps
        begin, ordered, store = self._events.batch_start, self._orders[0].ordered, access.site.store
        self._reports.race(access, shadow.clashing_writes(stamps, begin, ordered), "wrote")
        if not store:
            shadow.read(stamps, begin, ordered)
            return
        self._reports.race(access, shadow.clashing_reads(stamps, begin, self._reads_ordered), "read")
        if stamps.flags & VOLATILE:
            self._reports.race(access, self._unseen(access, shadow.volatile_writes(stamps, begin, ordered)), "wrote")
        self._write(access)

    def _check_promise(self, access: GlobalAccess, read_only: bool, breaks: bool) -> None:
        """Of a load of read-only data, or of a write to what was read as such."""
        if read_only:
            self._check_read_only(access)
        if breaks:
            self._check_writes_of_promised(access)

    def _check_read_only(self, access: GlobalAccess) -> None:
        """A load of read-only data must find nothing that the launch wrote: its cache does not see the writes."""
        found = self._shadow(access.array).ordered_writes(
            access.stamps, self._events.batch_start, self._orders[0].ordered
        )
        self._reports.race(access, found, READ_ONLY)
        promised = self._promised.get(access.array.base)
        if promised is None:
            promised = self._promised[access.array.base] = PromisedReads(self._all_cells(access.array))
        promised.record(access.stamps, self._events.batch_start)

    def _check_writes_of_promised(self, access: GlobalAccess) -> None:
        """Nobody may write what was read as read-only data. A thread that has read it alone has its value by then."""
        promised = self._promised[access.array.base]
        own, others = promised.broken(access.stamps, self._events.batch_start, self._reads_ordered)
        self._reports.race(access, others, PROMISED)
        self._reports.race(access, own, PROMISED, own=True)

    def _check_flights(self, access: GlobalAccess) -> None:
        """No copy in flight may use what an access changes, or change what it reads."""
        if self._flights:
            site = access.site
            does = REDUCING if site.operation else WRITING if site.store else READING
            self._reports.race(access, *self._flights.clash(access.array.base, access.stamps, does))

    def _write(self, access: GlobalAccess) -> None:
        """Record writes. Two lanes that write one cell in one instruction must write the same value."""
        shadow, stamps = self._shadow(access.array), access.stamps
        lost = shadow.write(stamps)
        if lost is not None:
            self._reports.two_lanes(access, lost, shadow.winners(stamps, lost))

    def _unseen(self, access: GlobalAccess, clash: Clash) -> Clash:
        """Volatile writes since which the thread has not read the word: it overwrites what it does not know."""
        words, lane = access.addresses(clash.position) >> _WORD_SHIFT, access.stamps.lane[clash.position]
        if isinstance(order := self._orders[0], NativeOrder):
            return clash.where(order.last_reads(words, lane) <= time_of(clash.stamp))
        warps = lane // WARP
        read = [self._last_reads.get(key, 0) for key in zip(words.tolist(), warps.tolist(), strict=True)]
        return clash.where(np.array(read, np.int64) <= time_of(clash.stamp))

    def _shadow(self, array: Allocation) -> GlobalShadow:
        found = self._shadows.get(array.base)
        if found is None:
            found = self._shadows[array.base] = GlobalShadow(self._all_cells(array), self._batch.threads)
        return found

    def _all_cells(self, array: Allocation) -> int:
        return (array.lead + array.nbytes >> self._granule_shift) + _MOST_CELLS

    def _meeting(self, site: Site, address: np.ndarray, lane: np.ndarray) -> Meeting:
        """The words that strong accesses meet at."""
        first = address >> _WORD_SHIFT
        count = max(1, site.width >> _WORD_SHIFT)
        if self._keyed:
            if count > 1:
                first, lane = (first[:, None] + np.arange(count)).reshape(-1), np.repeat(lane, count)
            return KeyedAccess(first, lane)
        if count == 1:
            return StrongAccess(first.tolist(), lane)
        return StrongAccess((first[:, None] + np.arange(count)).reshape(-1).tolist(), np.repeat(lane, count))

    def copy_begins(self, copy: Copy, lanes: Lanes) -> None:
        """A bulk copy reads or writes global memory as its thread does."""
        pieces = copy.pieces
        if pieces is None or not len(pieces.address) or copy.site.index in self._skipped:
            return
        array = self._batch.memory.nearest(int(pieces.address[0]))
        site = replace(copy.site, store=not copy.writes, operation=copy.operation)
        first = pieces.address - array.origin >> self._granule_shift
        last = pieces.address + pieces.nbytes - 1 - array.origin >> self._granule_shift
        cells = int((last - first).max()) + 1
        cell = (first[:, None] + np.arange(cells)).reshape(-1)
        flags = STRONG if copy.operation else 0
        stamps = Stamps(cell, np.repeat(copy.lane, len(cell) // len(copy.lane)), self._events.access(site), flags)
        access = GlobalAccess(array, site, lanes, pieces.address, stamps, (), None, cells)
        self._check(access)
        self._check_promise(access, False, site.store and array.base in self._promised)
        self._check_flights(access)
        does = READING if copy.writes else REDUCING if copy.operation else WRITING
        self._flights.begin(array.base, self._all_cells(array), site.index, stamps, does, pieces)

    def copy_ends(self, copy: Copy) -> None:
        """A copy into shared memory has read."""
        if self._flights and copy.writes:
            self._flights.end(copy)

    def copy_written(self, copy: Copy) -> None:
        """A copy into global memory has written, and its thread has waited for that."""
        if self._flights:
            self._flights.end(copy)

    # What orders accesses

    def warp_sync(self, site: InstructionSite, lanes: Lanes, members: Value) -> None:
        """Lanes of a warp synchronise.

        An exchange of values orders only what they read with what they write later, and what came before a fence.
        """
        if is_exchange(site.instruction):
            self._exchanged[warps_of(lanes)] = self._events.now
            for order in self._orders:
                order.lanes_exchange(lanes, self._events.now)
            return
        for order in self._orders:
            order.warp_sync(lanes, members, self._events.now)

    def _reads_ordered(self, time: np.ndarray, other: np.ndarray, mine: np.ndarray) -> np.ndarray:
        """Whether lanes come after what other lanes read: (n,) each, as :meth:`HappensBefore.ordered` has them."""
        ordered = self._orders[-1].ordered(time, other, mine, reads=True)
        same_warp = other // WARP == mine // WARP
        return ordered | same_warp & (time < self._exchanged.reshape(-1)[mine // WARP])

    def ahead(self, barrier: int, lanes: Lanes, block: Block | None) -> None:
        """Lanes arrive at a barrier and go on; later it is complete."""
        self._completed = barrier
        for order in self._orders if block is not None else ():
            order.arrive_ahead(barrier, lanes, self._events.now)

    def barrier(self, lanes: Lanes, instructions: Sequence[int], ahead: Lanes | None = None) -> None:
        """Warps of a block pass a barrier."""
        live = self._batch.live_mask()
        for order in self._orders:
            order.barrier(lanes, live, self._events.now, ahead, self._completed)

    def fence(self, site: InstructionSite, lanes: Lanes) -> None:
        """Strong writes of these lanes publish from now on what they did so far."""
        scope = self._fence_scopes.get(site.index)
        if scope is None:
            scope = self._fence_scopes[site.index] = fence_scope(site.instruction)
        if scope:
            self._fence(lanes.numbers, scope)

    def shared_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """Flags and locks in shared memory also order accesses to global memory."""
        if self._strong_shared and site.index in self._strong_shared:
            self._strong_access(site, lanes, lanes.full_extent(lanes.row_index), address)

    def cluster_access(
        self, site: Site, lanes: Lanes, owner: np.ndarray, address: Value, values: tuple[Value, ...]
    ) -> None:
        """So do those of other blocks."""
        if self._strong_shared and site.index in self._strong_shared:
            self._strong_access(site, lanes, lanes.full_extent(owner), address)

    def _strong_access(self, site: Site, lanes: Lanes, owner: np.ndarray, address: Value) -> None:
        lane = lanes.numbers
        offset = lanes.full_extent(address).astype(np.int64) >> _WORD_SHIFT
        if makes_fence(site.instruction):
            self._fence(lane, scope_of(site.instruction))
        self._meet(site, self._words_of(lane, shared_keys(owner, offset)), "cta")

    def _words_of(self, lane: np.ndarray, keys: np.ndarray) -> Meeting:
        """An access of lanes to words, (lanes,) each."""
        if self._keyed:
            return KeyedAccess(keys, lane, as_runs=True)
        first = run_starts(keys, lane)
        return StrongAccess(keys[first].tolist(), lane[first], lane)

    def mbarrier(
        self, site: Site, lanes: Lanes, owner: np.ndarray, offset: np.ndarray, action: str, phase: np.ndarray
    ) -> None:
        """An arrival publishes what its thread did; a wait learns of those up to its phase.

        An mbarrier has a word per parity of its phases. The first arrival of a phase finds in the other word what the
        phases before published.
        """
        if action not in ("arrive", "wait") or (action == "wait" and site.index in self._unread):
            return
        own = self._own_words(lanes, owner, offset, phase)
        if own is not None:
            for order in self._orders:
                if action == "wait":
                    order.read_own(own)
                else:
                    order.publish_own(own, self._events.now)
            return
        parity = lanes.full_extent(phase) & 1
        lane = lanes.numbers
        meeting = self._words_of(lane, mbarrier_keys(owner, offset, parity))
        for order in self._orders:
            if action == "wait":
                order.read(meeting)
            else:
                before = mbarrier_keys(owner, offset, 1 - parity)
                earlier: Any = before if self._keyed else self._words_of(lane, before).words
                order.publish(meeting, self._events.now, earlier)

    def _own_words(self, lanes: Lanes, owner: np.ndarray, offset: np.ndarray, phase: np.ndarray) -> OwnWords | None:
        """The words of lanes that all use the object at one offset of their own blocks; None for others."""
        if not isinstance(lanes, Box) or owner is not lanes.positions.rows:
            return None
        parity = int(phase.reshape(-1)[0]) & 1
        if phase.size > 1 and (phase & 1 != parity).any():
            return None
        found = self._known_words.get((id(lanes), id(offset), parity))
        if found is None or found[0] is not lanes or found[1] is not offset:
            if (offset != offset[0]).any():
                return None
            if len(self._known_words) >= _MOST_KNOWN:
                self._known_words.clear()
            rows, word = lanes.row_index[:, 0], offset[:1]
            warps = lanes.row_index * (lanes.threads // WARP) + np.unique(lanes.column_index // WARP)
            words, before = (tuple(mbarrier_keys(rows, word, of).tolist()) for of in (parity, 1 - parity))
            numbers = lanes.row_index * lanes.threads + lanes.column_index
            own = OwnWords(words, before, tuple(rows.tolist()), warps, numbers, lanes.threads // WARP)
            found = lanes, offset, own
            self._known_words[id(lanes), id(offset), parity] = found
        return found[2]

    def cluster_complete(self, rows: np.ndarray, released: np.ndarray) -> None:
        """All threads of clusters have arrived at the cluster's barrier."""
        size = self._batch.geometry.blocks_per_cluster
        now = self._events.now
        for first in np.flatnonzero(rows)[::size].tolist():
            for order in self._orders:
                order.complete_cluster(first, size, now, bool(released[first]))

    def cluster_wait(self, site: InstructionSite, lanes: Lanes) -> None:
        """These lanes pass it."""
        for order in self._orders:
            order.pass_cluster(lanes.numbers, self._batch.geometry.blocks_per_cluster)


def _facts_found(image: Image) -> dict[int, _Facts]:
    """What is known of the instructions of a kernel: found when they first run, and kept for later launches."""
    return {}
