"""The memory system as one SM sees it: its load and store unit, L1, and its share of L2 and DRAM.

Each part is a server: a request waits until the server is free, takes it for some cycles, and gets its answer a fixed
latency later. L2 and DRAM serve all SMs. The others are taken to do what the simulated SM does, so that its share of
the rate is the rate divided by the SMs at work. A sector that blocks of other SMs read, too, is fetched from DRAM once
for all of them (:mod:`softlab.timing.sharing`).

Requests are served in the order in which the SM issues them, and no server is ever reserved for a later time than the
request that comes: what is issued first goes first.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import ceil, inf, sqrt

from softlab.sass.streams import Kind, Space
from softlab.timing.atomics import AtomicUnits
from softlab.timing.company import Company
from softlab.timing.dram import ROW, Dram
from softlab.timing.joins import Access, Joins
from softlab.timing.loads import Load
from softlab.timing.order import NEVER, Order
from softlab.timing.parameters import Curve, Parameters, interpolated
from softlab.timing.places import Places
from softlab.timing.sharing import Region, Sharing
from softlab.timing.slowest import Slowest
from softlab.timing.stores import BegunLines

_SHARED, _LOCAL, _DISTRIBUTED, _VALUES = (
    int(s) for s in (Space.SHARED, Space.LOCAL, Space.DISTRIBUTED_SHARED, Space.VALUES)
)
_LOAD, _STORE, _ATOMIC, _REDUCTION, _COPY = (
    int(k) for k in (Kind.LOAD, Kind.STORE, Kind.ATOMIC, Kind.REDUCTION, Kind.ASYNC_COPY)
)
#: Cycles of work that may wait in front of L2 before stores (twice as many: atomics) stop the load and store unit.
BACKLOG = 1500.0
#: The share of L2 that a launch's own data can fill before something of it is evicted: assumed.
_EFFECTIVE = 0.9
#: Cycles until a load or store unit has read the source registers.
SOURCES = 8.0
_SECTOR, _LINE = 32, 128
#: The share of L1's lines that can be on their way from L2. Measured on an H100 with 228 KiB of shared memory, where a
#: ring finds room for 188 lines in L1: loads of 32 lines each at random take 60 cycles by one SM, and L2 answers after
#: 320, so that 171 lines are on their way.
_FLYING = 0.91
#: Of :data:`softlab.timing.traits.ATOMIC_CODES`: a compare-and-swap that a loop repeats; adds of floats and doubles;
#: what takes its unit of L2 for longer.
SWAPS, _FLOATS, _SLOW = 3, (1, 4), (2, 4)
#: Lines in a set of L1 (:mod:`softlab.timing.places`).
WAYS = 4
#: Stores that leave less than this share of their sectors' bytes open write them as a whole.
WHOLE = 0.97
#: An odd factor that mixes the number of a pair of sectors.
MIX = 0x97F4A7C15


class Memory:
    """The state of the memory system of one simulated SM."""

    def __init__(
        self, parameters: Parameters, sharing: Sharing, active_sms: int, warm: float, shared_bytes: int,
        cold: bool = False, local_bytes: float = 0.0, alike: float | None = None, adding: float | None = None,
        warps: int = 1, local_lines: int = 0, company: Company | None = None,
        evened: Mapping[int, float] | None = None,
    ):  # fmt: skip
        """``local_bytes``: of local memory that all threads of the GPU use at once. ``alike``: of how many SMs like
        this one the work of all is, and ``adding`` their atomics; None: of all. ``warps``: of this SM at one time.
        ``local_lines``: of the local memory that a warp has. ``company``: the SMs that share L2 with it; None: all, to
        the end. ``evened``: lines with atomics (:func:`softlab.timing.atomics.evened`)."""
        self.p = parameters
        self.cold = cold
        state = 0 if cold else 1
        #: Cycles by which the first load takes longer, and when others are no longer delayed by it.
        self.first_load = interpolated(parameters.first_load[state], active_sms)
        self.known_at = -1.0
        self.spread = _spread(parameters.l2_spread)
        self.sharing = sharing
        #: The array of the last sector that came from DRAM, and the SMs that load such a sector at the same time.
        self.place, self.fetching = sharing.place(-1), 1.0
        #: The share of the grid's blocks that have ended; and of the sectors of which array a block finds which in L2
        #: then.
        self.done = 0.0
        self.seen: tuple[float, Region, float] = 0.0, self.place, 0.0
        #: The array that was loaded from L2 last, and the share of L2's units that it keeps at work.
        self.wanted, self.evenness = self.place, 1.0
        self.active = active_sms
        self.adding = active_sms if adding is None else adding
        self.alike = active_sms if alike is None else alike
        self.warm = warm
        self.lsu_free = self.lsu_busy = self.shared_busy = self.l2_busy = self.l2_write_busy = self.last_store = 0.0
        self._set_others(company or Company(float(active_sms)), warps)
        self._set_queues(parameters)
        self._set_caches(parameters, shared_bytes, local_lines, warps)
        self._set_stored(parameters, state, evened)
        #: How much longer than the mean SM the slowest one takes to store lines of local memory to L2.
        self.uneven = 1 + parameters.local_uneven / sqrt(local_lines * warps) if local_lines else 1.0
        #: The share of local memory that L2 has no room for.
        self.local_left = 1 - interpolated(parameters.again, local_bytes)
        self.l1_hits = self.l1_requests = self.l2_hits = self.l2_requests = self.atomics = 0

    def _set_others(self, company: Company, warps: int) -> None:
        """What is known of other SMs and warps before the first request."""
        self.company = company
        #: Requests to local and global memory until other SMs have ended: where L2 serves SMs in turn, and where not.
        self.until, self.loading_until = company.requests, company.loads
        #: The warp, its scheduler and how many accesses it had before; when the first sector of each array came from
        #: DRAM; and what other SMs have asked for with the same accesses.
        self.owner = self.scheduler = self.number = 0
        self.begun: dict[int, float] = {}
        self.joins = Joins(warps)
        #: What warps wait for that DRAM brings for no other SM, and how many pairs of sectors it has brought so.
        self.slowest, self.brought = Slowest(self.p.dram_spread[1]), 0

    def _set_queues(self, p: Parameters) -> None:
        """L2 and DRAM: all are idle."""
        #: When L2 is free for loads, stores and atomics, and for what is written into it: stores and what DRAM gives.
        self.l2_free = self.l2_write_free = 0.0
        #: When the data of loads comes from DRAM and how long L2 then writes it, and the sum of these times.
        self.coming: deque[tuple[float, float]] = deque()
        self.comes = 0.0
        self.l2_load = Load(p.l2_latency)
        self.dram = Dram(p, self.active, self.alike)
        #: What is known of arrays: the first sector of one -> how many SMs load a sector of it at the same time; bytes
        #: of one -> the share of L2's units.
        self.fetched_by: dict[int, float] = {}
        self.evenness_of: dict[int, float] = {}
        self.fill_cycles = _SECTOR * self.alike / p.l2_write_bytes
        self._set_rates(self.company.all)
        self._set_loading(p, self.company.loading or self.company.all)

    def _set_rates(self, sms: float) -> None:
        """Cycles of L2 per sector, as one of ``sms`` SMs sees them: loaded, stored, and a store beside loads.

        An SM that loads and stores takes as long as for both one after the other: alone 5.2 cycles per line that it
        copies (H200, 2026-11-29).
        """
        self.l2_cycles, self.store_cycles, self.passing_cycles = self.rates_of(sms)

    def rates_of(self, sms: float) -> tuple[float, float, float]:
        """These cycles."""
        p = self.p
        return (
            _SECTOR / min(p.l2_sm_bytes, p.l2_bytes / sms),
            _SECTOR / min(p.l2_sm_write_bytes, p.l2_write_bytes / sms),
            _SECTOR / min(p.l2_sm_write_bytes, p.l2_passing_bytes / sms),
        )

    def _set_loading(self, p: Parameters, sms: float) -> None:
        """Cycles of L2 per sector that is loaded where L1 has places for more."""
        self.l2_free_cycles = _SECTOR / min(p.l2_sm_bytes, p.l2_bytes / sms)

    def _set_caches(self, p: Parameters, shared_bytes: int, local_lines: int, warps: int) -> None:
        """L1 beside ``shared_bytes`` of shared memory, the SM's part of L2, and what L2 holds for several SMs: all are
        empty."""
        #: When each sector of L1 is there, and the lines of each of its sets, those used last at the end. A line takes
        #: its place whole.
        self.l1: dict[int, float] = {}
        self.l1_used: dict[int, list[int]] = {}
        self.l1_held, self.l1_lines = 0, max(64, (p.l1_capacity - shared_bytes) // _LINE)
        self.places = Places(local_lines, warps)
        #: When lines come that L1 has asked L2 for, and how many; it has no more than it has places for.
        self.flying: deque[tuple[float, int]] = deque()
        self.flying_lines, self.crowded = 0, False
        self.flying_most = max(32, int(_FLYING * self.l1_lines))
        self.l2: OrderedDict[int, float] = OrderedDict()
        self.l2_sectors = int(_EFFECTIVE * p.l2_capacity / self.active / _SECTOR)
        self.common: dict[int, float] = {}

    def _set_stored(self, p: Parameters, state: int, evened: Mapping[int, float] | None) -> None:
        """What warps have stored and swapped: nothing. state: 0 where L2 is cold, 1 where it is warm."""
        #: Cycles from a store to the end of the launch: of the first one, and of each.
        self.first_drain, self.drain = (interpolated(one, self.active) for one in (p.drain[state], p.drain[1]))
        #: The units of L2 for atomics, and when the unit for bulk copies is free.
        self.units = AtomicUnits(p, evened)
        self.bulk_free = 0.0
        #: When L2 has answered all stores and atomics so far: a fence waits for those of all warps of the SM.
        self.answered = 0.0
        #: Sectors that DRAM has to take, and the lines that warps have begun to store to.
        self.stored: set[int] = set()
        self.begun_lines = BegunLines(p.store_lines)
        #: Sectors of local memory that L1 has had, and those that were stored in part alone and not loaded since ->
        #: bytes that were stored.
        self.local_held: set[int] = set()
        self.local_parts: dict[int, float] = {}
        #: The warp's block, and when loops last swapped each word of the blocks' shared memory.
        self.block = 0
        self.swapped: dict[int, float] = {}

    @property
    def stores_whole(self) -> bool:
        """Whether stores write sectors as a whole."""
        return self.sharing.filled >= WHOLE

    @property
    def served(self) -> float:
        """Cycles of work of the busiest of DRAM, L2 and the load and store unit."""
        return max(self.dram.busy / self.dram.rate, self.l2_busy, self.l2_write_busy, self.lsu_busy)

    def access(
        self, t: float, space: int, kind: int, wavefronts: int, sectors: tuple[int, ...], latency: float, lanes: int,
        width: int, bypass: int, lines: int, looked_up: int, owner: int,
    ) -> tuple[float, float, float]:  # fmt: skip
        """One request at cycle t: when the unit takes it, when its sources are read, when its result is there.

        It is one of :data:`softlab.timing.work.MemoryRequest`. owner: the warp.
        """
        start = t if t > self.lsu_free else self.lsu_free
        if space == _SHARED:
            return self._shared(start, kind, float(max(1, wavefronts)), latency, bypass, sectors)
        if space == _VALUES:
            return self._matched(start, wavefronts, width, latency)
        if not sectors or space == _DISTRIBUTED:
            return self._past_caches(start, kind, wavefronts, sectors, lanes * width, lines)
        self._advance()
        reads = kind in (_LOAD, _COPY)
        if reads:  # passes of its data, or lines that the busiest of the four banks of tags looks up
            cycles = float(wavefronts if wavefronts > looked_up else looked_up)
        else:  # lines that it touches, or passes of its data
            passes = 1 if kind != _STORE else wavefronts
            cycles = max(float(ceil(lines / self.p.l1_lines)), float(passes))
        self.lsu_free = start + cycles
        self.lsu_busy += cycles
        read = start + cycles + SOURCES
        if reads and space != _LOCAL:
            return start, read, self._load(start, cycles, sectors, bypass, lines)
        if space == _LOCAL:
            done = self._local(start, start + cycles - 1, kind, sectors, owner, lanes * width, lines)
            stopped = self.l2_write_free - BACKLOG
        elif kind == _STORE:
            done = self._store(t, start, sectors, _size(lanes, width, len(sectors)), lines, owner)
            stopped = self.l2_write_free - BACKLOG
        else:
            done = self._atomic(start, kind, sectors, lanes, width, wavefronts, latency, bypass)
            stopped = done - 2 * BACKLOG
        if stopped > self.lsu_free:
            self.lsu_free = stopped
        return start, read, done

    def _advance(self) -> None:
        """One request more: when other SMs have ended, L2 is quicker."""
        self.until -= 1
        self.loading_until -= 1
        if not self.until:
            self._set_rates(self.company.rest)
        if not self.loading_until:
            self._set_loading(self.p, self.company.rest)

    def _shared(
        self, start: float, kind: int, cycles: float, latency: float, code: int, words: tuple[int, ...]
    ) -> tuple[float, float, float]:  # fmt: skip
        """A request of shared memory that takes this number of passes; of an atomic the ``words``."""
        if kind == _ATOMIC:
            each = self.p.shared_atomic[code >= 2]
            cycles *= each
            # The unit does two of them at the same time, each in turn pass by pass.
            latency += cycles + 1 - 2 * each
            if code == SWAPS:
                again = self._again(start, words)
                latency += again * self.p.shared_swap
                cycles += again * (1 + each)
        self.lsu_free = start + cycles
        self.lsu_busy += cycles
        self.shared_busy += cycles
        later = cycles - 1 if kind == _ATOMIC else 2 * (cycles - 1)
        return start, start + cycles + SOURCES, start + later + latency

    def _again(self, start: float, words: tuple[int, ...]) -> int:
        """How often a warp loads and swaps again, since other warps have changed the words meanwhile. Words change one
        after the other, and no sooner than a load and a sum take."""
        swapped, p, last = self.swapped, self.p, start
        for word in words:
            key = self.block << 20 | word
            free = swapped.get(key, -inf) + p.shared_swap_apart
            swapped[key] = at = free if free > start else start
            if at > last:
                last = at
        return ceil((last - start) / p.shared_swap)

    def _matched(self, start: float, values: int, width: int, latency: float) -> tuple[float, float, float]:
        """A MATCH.ANY of lanes that have this number of values of ``width`` bytes."""
        each, later = self.p.match_wide if width == 8 else (self.p.match_value, self.p.match_later)
        cycles = each * values
        self.lsu_free = start + cycles
        return start, start + cycles + SOURCES, start + latency + later * (values - 1)

    def _past_caches(
        self, start: float, kind: int, wavefronts: int, sectors: tuple[int, ...], size: int, lines: int
    ) -> tuple[float, float, float]:  # fmt: skip
        """A request that touches no sector, or one of shared memory of other SMs: neither needs L1 or L2."""
        if not sectors:
            self.lsu_free = start + 1
            return start, start + 1 + SOURCES, start + 1 + self.p.l1_latency
        p, count = self.p, len(sectors)
        if kind == _LOAD:
            of_line, of_sector = p.distributed_load
            cycles = of_line * lines + of_sector * count
        elif kind == _STORE:  # 16 bytes at a time, but a whole sector at once; where lanes are few, each lies alone
            several = size < _SECTOR * count and 8 * count <= size
            cycles = p.distributed_store * count * (2 if several else 1)
        else:
            cycles = p.distributed_atomic * max(count, wavefronts)
        self.lsu_free = start + cycles
        return start, start + cycles + SOURCES, start + cycles + self.p.distributed_latency

    def _load(self, start: float, cycles: float, sectors: tuple[int, ...], bypass: int, lines: int) -> float:
        done = start + cycles - 1 + self.p.l1_latency
        if self.known_at < 0:
            self.known_at = start + self.first_load
        l1, missed = self.l1, sectors
        if not bypass:
            found = [l1[sector] for sector in sectors if sector in l1]
            if found:
                done = max(done, *found)
                missed = ()
                if len(found) < len(sectors):
                    missed = tuple(sector for sector in sectors if sector not in l1)
                    lines = len({sector >> 2 for sector in missed})
            self._use(sectors)
        self.l1_requests += len(sectors)
        self.l1_hits += len(sectors) - len(missed)
        if not missed:
            return done
        if not bypass:
            start = self._placed(start, lines)
        arrival = self._l2(start, missed, lines)
        if arrival > done:
            done = arrival
        if not bypass:
            self.flying.append((done, lines))
            self.flying_lines += lines
            for sector in missed:
                l1[sector] = done
        return done

    def _placed(self, start: float, lines: int) -> float:
        """When L1 has places for lines that come. It does not give away the places of those that are still to come, and
        the load and store unit waits."""
        flying, self.crowded = self.flying, False
        while flying and (flying[0][0] <= start or self.flying_lines + lines > self.flying_most):
            there, count = flying.popleft()
            self.flying_lines -= count
            if there > start:
                self.crowded = True
                self.lsu_free += there - start
                self.lsu_busy += there - start
                start = there
        return start

    def _use(self, sectors: Sequence[int]) -> None:
        """Put the lines of sectors behind all others of their sets, and take out what these have no room for."""
        used, places, take, last = self.l1_used, self.places, self.l1.pop, None
        for sector in sectors:
            line = sector >> 2
            if line == last:
                continue
            last = line
            ways = used.setdefault(places[line], [])
            if ways and ways[-1] == line:
                continue
            if line in ways:
                ways.remove(line)
                ways.append(line)
                continue
            ways.append(line)
            if len(ways) > WAYS or (self.l1_held >= self.l1_lines and len(ways) > 1):
                gone = ways.pop(0) << 2
                take(gone, None)
                take(gone | 1, None)
                take(gone | 2, None)
                take(gone | 3, None)
            else:
                self.l1_held += 1

    def forget(self) -> None:
        """L1 holds nothing any more."""
        self.l1.clear()
        self.l1_used.clear()
        self.l1_held = 0

    def _l2(self, start: float, sectors: Sequence[int], lines: int) -> float:
        """Loads of sectors that L1 does not have, and that lie in ``lines`` lines."""
        p, l2, common = self.p, self.l2, self.common
        begin = start if start > self.l2_free else self.l2_free
        each = self.l2_cycles if self.crowded else self.l2_free_cycles
        work = self._moved(len(sectors), lines) * each
        if lines > 1:
            work /= self._evenness(sectors[len(sectors) // 2])  # of the array that most of them belong to
        moved = work
        if lines > work:  # an SM gets one line per cycle
            work = float(lines)
        self.l2_free = free = begin + work
        self.l2_busy += work
        done = free + p.l2_latency + self.spread[lines if lines < 32 else 32]
        done += interpolated(p.l2_loaded, self.l2_load.count(start, moved))
        if self.known_at > start:  # the first load of the launch is not there yet
            done += self.known_at - start
            start = self.known_at
        self.l2_requests += len(sectors)
        brought = self.brought
        for sector in sectors:
            ready = l2.get(sector) or common.get(sector)
            if ready is None:
                ready = self._dram(start, sector)
            else:
                self.l2_hits += 1
            if ready > done:
                done = ready
        if self.brought > brought:
            self.slowest.wait(self.owner, start, done, sectors[0] >> ROW)
        while len(l2) > self.l2_sectors:
            l2.popitem(last=False)
        return done

    def _evenness(self, sector: int) -> float:
        """The share of L2's units that the lines of the sector's array keep at work."""
        if not self.wanted.first <= sector <= self.wanted.last:
            self.wanted = self.sharing.place(sector)
            nbytes = self.wanted.nbytes
            known = self.evenness_of.get(nbytes)
            if known is None:
                known = self.evenness_of[nbytes] = self.evenness_for(nbytes)
            self.evenness = known
        return self.evenness

    def evenness_for(self, nbytes: int) -> float:
        """The same of an array of as many bytes.

        All SMs want a table of a few lines at the same time, and L2 answers requests for the same line together (Nsight
        Compute, "L2 Request Coalescer"). How many lines are few was not measured: those of one request.
        """
        return 1.0 if nbytes <= 32 * _LINE else self.p.evenness(nbytes)

    def _stored(self, sectors: int, lines: int, each: float) -> float:
        """Whole sectors that L2 could write in the time of ``sectors`` in ``lines`` lines that get ``each`` bytes."""
        p = self.p
        if each >= _SECTOR:
            return max(float(sectors), lines * p.l2_line_least_stored)
        # Sectors of lines that were begun before come without a line.
        return max(sectors * p.partial_store, lines * interpolated(p.l2_parts, sectors / lines) if lines else 0.0)

    def _moved(self, sectors: int, lines: int) -> float:
        """Sectors that L2 could move in the same time: one alone of a line takes as long as ``l2_line_least``."""
        return max(float(sectors), lines * self.p.l2_line_least)

    def _dram(self, start: float, sector: int) -> float:
        """The first load of a sector: from DRAM, 64 bytes at once, if no other SM has brought it and L2 is not warm."""
        place = self.place
        if not place.first <= sector <= place.last:
            place = self._array_of(sector)
        # What blocks of other SMs read, too, stays in L2 by them; the SM's own data leaves when its part of L2 is full.
        held = self.l2 if place.share < 2 else self.common
        done, of, seen = self.seen
        if done != self.done or of is not place:
            seen = place.seen(self.done) if self.done else 0.0
            self.seen = self.done, place, seen
        there = self.warm if self.warm > seen else seen
        if there and _chance(sector) < there:
            held[sector] = start
            self.l2_hits += 1
            return start
        access: Access | None = None
        others, order = place.at_once - 1, place.order
        brought = None if order is NEVER else self._ordered(sector, order)
        if brought is None and others > 0:
            access = self.joins.come(place.first, self.number, self.owner)
            if access.before and _chance(sector ^ 3 << 13) < self.joins.asked(access, others):
                brought = access.there
        if brought is not None:
            held[sector] = held[sector ^ 1] = start = max(start, brought)
            self.l2_hits += 1
            return start
        share = self.fetching
        if order is not NEVER:
            share = max(1.0, share * order.new)
        if access is not None:
            share = max(1.0, share * self.joins.first(others))
        done = self._fetched(start, sector, share)
        held[sector] = held[sector ^ 1] = done
        if held is self.l2:
            self.brought += 1
        if access is not None and not access.there:
            access.there = done
        self.begun.setdefault(place.first, done)
        return done

    def _array_of(self, sector: int) -> Region:
        """The array of a sector that comes from DRAM."""
        place = self.place = self.sharing.place(sector)
        known = self.fetched_by.get(place.first)
        if known is None:
            known = self.fetched_by[place.first] = place.fetching(self.active)
        self.fetching = known
        return place

    def _ordered(self, sector: int, order: Order) -> float | None:
        """When the sector came that other blocks have loaded before, by their order; None: they have not."""
        begun = self.begun.get(self.place.first)
        if begun is None:
            return None
        seen = order.at(self.number, sector)
        return begun if seen and _chance(sector ^ 1 << 12) < seen else None

    def _fetched(self, start: float, sector: int, share: float) -> float:
        """When DRAM has brought a pair of sectors for ``share`` SMs."""
        done = self.dram.fetch(start, sector, share, self.place.dense)
        # L2 writes what comes from DRAM as it writes what SMs store, when it comes.
        fill, coming = 2 * self.fill_cycles / share, self.coming
        if coming and coming[0][0] <= start:
            self._fill(start)
        coming.append((done, fill))
        self.comes += fill
        self.l2_write_busy += fill
        free = self.l2_write_free
        written = (start if start > free else free) + self.comes
        return done if done > written else written

    def _fill(self, now: float) -> None:
        """L2 writes what has come from DRAM until now."""
        coming, free = self.coming, self.l2_write_free
        while coming and coming[0][0] <= now:
            at, fill = coming.popleft()
            free = (at if at > free else free) + fill
            self.comes -= fill
        self.l2_write_free = free

    def _store(self, t: float, start: float, sectors: tuple[int, ...], size: int, lines: int, owner: int) -> float:
        p = self.p
        self._fill(start)
        each = size / len(sectors)
        begun, lines, filled = self.begun_lines.store(sectors, each, owner, self.scheduler, t, self.lsu_free)
        begin = start if start > self.l2_write_free else self.l2_write_free
        work = -filled * (p.partial_store - 1)
        if begun:
            stored = self._stored(begun, lines, each)
            work += stored
            # In the way of loads a whole lone sector of a line is as a lone sector that is loaded.
            passing = (stored if each < _SECTOR else self._moved(begun, lines)) * self.passing_cycles
            self.l2_free = (start if start > self.l2_free else self.l2_free) + passing
            self.l2_busy += passing
        work *= self.store_cycles
        self.l2_write_free = begin + work
        self.l2_write_busy += work
        if begun and self.sharing.written_back:
            self._write_back(start, sectors)
        done = self.l2_write_free + p.l2_latency
        there = start + p.l1_latency
        for sector in sectors:
            self.l2[sector] = done
            self.l1[sector] = there  # a load finds what was stored
        self._use(sectors)
        self._drained(self.l2_write_free)
        if done > self.answered:
            self.answered = done
        return done

    def _write_back(self, start: float, sectors: tuple[int, ...]) -> None:
        """What DRAM takes of stored sectors meanwhile: each once, in however many pieces L2 gets it."""
        sharing, dram = self.sharing, self.dram
        fresh = len(sectors) - len(self.stored.intersection(sectors))
        if not fresh:
            return
        self.stored.update(sectors)
        # A sector that is not written as a whole is read from DRAM before it is written back.
        dram.write(start, _SECTOR * fresh * sharing.written_back, sharing.stored_neighbours, self.stores_whole)
        if dram.free - 2 * BACKLOG > self.l2_write_free:
            self.l2_write_free = dram.free - 2 * BACKLOG

    def moved(self, start: float, sectors: int) -> float:
        """When a bulk store has been read from shared memory. The SM does one after the other."""
        self.bulk_free = max(start, self.bulk_free) + _SECTOR * sectors / self.p.bulk_bytes
        return self.bulk_free + self.p.bulk_latency

    def _drained(self, at: float) -> None:
        """A store or reduction left the SM: the launch ends when it has been answered."""
        end = at + (self.drain if self.last_store else self.first_drain)
        if end > self.last_store:
            self.last_store = end

    def _atomic(
        self, start: float, kind: int, sectors: tuple[int, ...], lanes: int, width: int, passes: int, latency: float,
        code: int,
    ) -> float:  # fmt: skip
        """Atomics of one instruction in L2: the sectors pass its throughput, and then their units pass by pass.

        sectors: each once per pass (:mod:`softlab.timing.atomics`). passes: of all of them together. code: of
        :data:`softlab.timing.traits.ATOMIC_CODES`.
        """
        each = Counter(sectors)
        p, count = self.p, len(each)
        begin = start if start > self.l2_free else self.l2_free
        own, gpu = min(p.atomic_sm * passes, float(lanes)), p.atomic_sector * count
        if kind == _ATOMIC:
            own = max(own, p.atomic_sm_return * lanes)
            gpu += p.atomic_return * lanes + p.atomic_return_sector * count
        work = max(own, gpu * self.active)
        self.l2_free = begin + work
        self.l2_busy += work
        one = self._pass_cycles(count, lanes, width, passes, code)
        processed, array = self.l2_free, self.sharing.place(sectors[0])
        for sector, times in each.items():
            ready = self.l2.get(sector) or self.common.get(sector)
            if ready is None:
                ready = self._dram(start, sector)
                self.l2_requests += 1
            share = self.sharing.place(sector).share
            others = max(1.0, min(self.adding, share), self.adding * self.sharing.wanted.get(sector, 0.0))
            come = max(begin, ready - p.l2_latency)
            chain = p.atomic_float_lane * times if code in _FLOATS else 0.0
            free = self.units.take(begin, come, sector, one * times, others, self.adding, array, chain)
            if free > processed:
                processed = free
        self.atomics += 1
        self._drained(self.l2_free)
        if processed > self.last_store:
            self.last_store = processed
        self.answered = max(self.answered, processed + p.l2_latency)
        return processed if kind == _REDUCTION else processed + latency

    def _pass_cycles(self, count: int, lanes: int, width: int, passes: int, code: int) -> float:
        """Cycles of a unit per pass. Doubles and compares are slow by the lanes that a pass takes: one alone is not."""
        p = self.p
        if count == 1 and passes == lanes:  # all lanes at one word
            return p.atomic_lane
        if code in _SLOW:
            filled = (lanes / passes - 1) / (_SECTOR / width - 1)
            return p.atomic_lane + (p.atomic_slow_pass - p.atomic_lane) * min(1.0, filled)
        return p.atomic_pass if passes == count and lanes >= 8 * count else p.atomic_lane

    def _local_line(self, sectors: int, lines: int, partial: bool) -> float:
        """Cycles of a store of local memory: of the SM, or of L2 for the slowest one of all SMs. Who has more to store
        than others gets no more than if all had as much."""
        p, (whole, most) = self.p, self.p.local_line
        if partial:
            (line, sector), (line_of_all, sector_of_all) = p.local_in_part
            alone, all_ = (
                line * lines + sector * sectors,
                min(most * lines, line_of_all * lines + sector_of_all * sectors),
            )
        else:
            alone = _SECTOR / p.l2_sm_write_bytes * max(float(sectors), lines * p.l2_line_least_stored)
            all_ = whole * lines
        return max(alone, all_ * max(self.active, self.uneven * self.alike) / p.sm_count)

    def _local(
        self, start: float, now: float, kind: int, sectors: tuple[int, ...], owner: int, size: int, lines: int
    ) -> float:  # fmt: skip
        """Local memory: what is stored, ``size`` bytes in ``lines`` lines, goes to L2 and stays in L1, too; beyond the
        size of L2 it goes on to DRAM. Lanes at different words store parts of sectors: ``interval_sm.STL.apart.N``. A
        part does not bring its sector to L1: with a cold L2 one warp that stores bytes and loads them takes 750 cycles
        per line of them, and with words none (H200, 2026-11-29). A warm L1 has it from the launch before. Parts that
        fill their sector leave as a whole: who loads it then waits for L2, and not for DRAM. A warp that stores 100
        bytes per lane, and then loads them four times, takes 14.9 us with a cold L2 and 14.4 with a warm one, with
        words 11.8 and 11.5 (the same)."""
        l1 = self.l1
        keys = [-(owner << 24 | sector) - 1 for sector in sectors]
        done = now + self.p.l1_latency
        if kind == _STORE:
            partial = size < _SECTOR * len(sectors)
            self._local_stored(start, len(sectors), lines, partial)
            if partial:
                keys = self._stored_in_part(keys, size / len(sectors))
            else:
                self._not_in_part(keys)
        else:
            missed = [key for key in keys if key not in l1]
            done = max([done, *(l1[key] for key in keys if key in l1)])
            if missed:
                done = max(done, self._local_missed(start, missed, _chance(owner << 24 | sectors[0])))
            self._not_in_part(keys)
        for key in keys:
            l1[key] = done
        self.local_held.update(keys)
        self._use(keys)
        return done

    def _local_stored(self, start: float, count: int, lines: int, partial: bool) -> None:
        """L2, and beyond its size DRAM, take a store of ``count`` sectors of local memory."""
        self._fill(start)
        begin = start if start > self.l2_write_free else self.l2_write_free
        work = self._local_line(count, lines, partial)
        self.l2_write_free = begin + work
        self.l2_write_busy += work
        passing = self._moved(count, lines) * self.passing_cycles
        self.l2_free = (start if start > self.l2_free else self.l2_free) + passing
        if self.local_left:
            self.dram.write(start, _SECTOR * count * self.local_left, 8.0, True)
            self.l2_write_free = max(self.l2_write_free, self.dram.free - 2 * BACKLOG)

    def _local_missed(self, start: float, missed: Sequence[int], chance: float) -> float:
        """When sectors of local memory are there that L1 does not have. With a cold L2 those that were stored in part
        and never as a whole come from DRAM first, since L2 has the part alone."""
        p, count = self.p, len(missed)
        self.l2_free = max(self.l2_free, start) + count * self.l2_cycles
        done = self.l2_free + p.l2_latency
        if self.local_left:
            far = self.dram.fetch_whole(start, _SECTOR * count * self.local_left)
            done = max(done, far) if chance < self.local_left else done
        if self.cold and (parts := sum(key in self.local_parts for key in missed)):
            done = max(done, self.dram.fetch_whole(start, float(_SECTOR * parts)))
        return done

    def _stored_in_part(self, keys: list[int], each: float) -> list[int]:
        """Sectors of local memory get ``each`` bytes; which of them L1 has then."""
        l1, parts, kept = self.l1, self.local_parts, []
        for key in keys:
            fresh = key not in self.local_held
            if fresh or key in parts:
                parts[key] = parts.get(key, 0.0) + each
                if parts[key] >= _SECTOR:
                    del parts[key]
                    l1.pop(key, None)
                    self.local_held.add(key)
                    continue
            if key in l1 or (fresh and not self.cold):
                kept.append(key)
        return kept

    def _not_in_part(self, keys: list[int]) -> None:
        """Sectors of local memory were stored as a whole, or loaded."""
        if self.local_parts:
            for key in keys:
                self.local_parts.pop(key, None)


@lru_cache(maxsize=8)
def _spread(curve: Curve) -> tuple[float, ...]:
    """Cycles by which loads of up to 32 lines come later."""
    return tuple(interpolated(curve, n) for n in range(33))


def is_bulk(lanes: int, sectors: int) -> bool:
    """Whether a request is a bulk copy: what a lane stores by itself lies in one sector."""
    return sectors > lanes


def _size(lanes: int, width: int, sectors: int) -> int:
    """The bytes that a store writes."""
    return _SECTOR * sectors if is_bulk(lanes, sectors) else lanes * width


def _chance(sector: int) -> float:
    """A number from 0 to 1 that belongs to the sector, the same in each run."""
    return ((sector >> 1) * MIX >> 20 & 0xFFFF) / 65536.0
