"""The state of :mod:`softlab.timing.native_memory`: two arrays, made of a new memory system and of all requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from math import inf

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import Bytes, CompiledFunction, Int64s
from softlab.sass.streams import Kind, Space
from softlab.timing import native_memory as loop
from softlab.timing.atomics import is_large, lines_of
from softlab.timing.distinct import ascending, distinct
from softlab.timing.dram import ROW
from softlab.timing.memory import SWAPS, Memory
from softlab.timing.order import NEVER
from softlab.timing.parameters import interpolated
from softlab.timing.places import SETS
from softlab.timing.program import Action, TimedProgram
from softlab.timing.shares import Shares
from softlab.timing.sharing import Region
from softlab.timing.work import BlockWork, Requests

#: Actions whose requests Python answers.
_OUTSIDE = (int(Action.MBARRIER), int(Action.BULK))
_GLOBAL, _LOCAL, _SHARED = int(Space.GLOBAL), int(Space.LOCAL), int(Space.SHARED)
_STORE, _ATOMIC, _REDUCTION = int(Kind.STORE), int(Kind.ATOMIC), int(Kind.REDUCTION)
#: Whether a request to each space goes to L1 and L2, whether its data leaves the block, and whether the compiled loop
#: knows those of each space and kind.
_FAR = np.array([space in (Space.GLOBAL, Space.LOCAL) for space in Space])
_OF_OTHERS = _FAR | np.array([space == Space.DISTRIBUTED_SHARED for space in Space])
_KNOWN = np.array(
    [
        [
            space in (Space.GLOBAL, Space.SHARED, Space.DISTRIBUTED_SHARED, Space.VALUES, Space.CONSTANT)
            or (space == Space.LOCAL and kind not in (Kind.ATOMIC, Kind.REDUCTION))
            for kind in Kind
        ]
        for space in Space
    ]
)
#: log2 of the pairs of sectors of a line, of 256 bytes, of a row of DRAM and of a page of memory.
_PAIRS = {loop.LINE_OF: 1, loop.PIECE_OF: 2, loop.ROW_OF: ROW - 1, loop.PAGE_OF: 15}
_SHIFTS, _ROWS = np.array([*_PAIRS.values()]), len(_PAIRS)
#: What NumPy takes for the calls, and for a sector, in units of 100 microseconds.
_CALLS, _SECTOR_OF_NUMPY = 0.5, 0.0005


class Asked:
    """The ``requests`` of all warps of an SM, one warp after the other.

    ``warps``: requests of each warp; ``block_of``: the block of each warp, from 1 on. Both are int64. ``blocks``: how
    many these are.
    """

    def __init__(self, blocks: Sequence[BlockWork]) -> None:
        self.requests = Requests.joined([block.requests for block in blocks])
        self.warps = np.concatenate([*(block.asked for block in blocks), np.zeros(0, np.int64)])
        self.blocks = len(blocks)
        self.block_of = np.repeat(np.arange(len(blocks)) + 1, [len(block.asked) for block in blocks])

    @cached_property
    def warp_of_request(self) -> np.ndarray:
        """The warp of each request: int64."""
        return np.arange(len(self.warps)).repeat(self.warps)

    @property
    def known(self) -> bool:
        """Whether the compiled loop knows all of them."""
        numbers, counts = self.requests.numbers, self.requests.counts
        space, kind = numbers[:, 1], numbers[:, 2]
        bulk = (kind == _STORE) & (counts > numbers[:, 4])  # see :func:`softlab.timing.memory.is_bulk`
        return bool(_KNOWN[space, kind].all() and not (bulk & _OF_OTHERS[space]).any())


class MemoryArrays:
    """The arrays ``m`` and ``f`` of one simulation."""

    def __init__(self, memory: Memory, asked: Asked) -> None:
        self._memory, self._regions = memory, [*memory.sharing.regions, Region(-1, -1, 1.0, 0.0, 1.0, 1.0)]
        self._tables(asked)
        self._fill_requests(asked)
        self._fill_regions(asked.blocks)
        self._fill_state(memory)
        self._fill_figures(memory)
        self._fill_atomics(memory)

    @classmethod
    def of(cls, program: TimedProgram, asked: Asked, memory: Memory) -> MemoryArrays | None:
        """The arrays; None where the compiled loop does not know what the launch asks for."""
        if program.actions.intersection(_OUTSIDE):
            return None
        return cls(memory, asked) if asked.known else None

    def table(self, name: int) -> np.ndarray:
        """One of the tables."""
        number = name - loop.FIRST_TABLE
        first = self._starts[number]
        return (self.m if name < loop.FIRST_OF_FLOATS else self.f)[first : first + self._sizes[number]]

    def _number(self, asked: Asked) -> int:
        """Numbers for all sectors, and for words that loops swap: how many words."""
        requests, counts = asked.requests, asked.requests.counts
        space, keys = requests.numbers[:, 1], requests.sectors
        local, swaps = space == _LOCAL, (space == _SHARED) & (requests.numbers[:, 6] == SWAPS)
        if local.any():
            keys, inner = keys.copy(), local.repeat(counts)
            keys[inner] = ~(asked.warp_of_request.repeat(counts)[inner] << 24 | keys[inner])
        self._pairs, numbers, self._slots = numbered(keys, counts, _FAR[space])
        self._numbers = dict(zip(_PAIRS, numbers, strict=True))
        swapped = np.zeros(0, np.int64)
        if swaps.any():
            inner = swaps.repeat(counts)
            words = asked.block_of[asked.warp_of_request].repeat(counts)[inner] << 20 | requests.sectors[inner]
            swapped = distinct(words)
            self._slots[inner] = swapped.searchsorted(words)
        return len(swapped)

    def _tables(self, asked: Asked) -> None:
        """Room for all tables."""
        requests, swapped, keys = asked.requests, self._number(asked), len(asked.requests.sectors)
        space, kinds = requests.numbers[:, 1], requests.numbers[:, 2]
        lines, pieces, rows, pages = (int(one[-1]) + 1 if len(one) else 0 for one in self._numbers.values())
        m, warps, pairs, regions = len(requests.counts), len(asked.warps), len(self._pairs), len(self._regions)
        orders = [region.order for region in self._regions]
        numbers, covered = sum(len(o.numbers) for o in orders), sum(len(o.covered) for o in orders)
        joins, most = regions * (int(asked.warps.max(initial=0)) + 1), int(requests.counts.max(initial=0)) + 1
        adds = (space == _GLOBAL) & ((kinds == _ATOMIC) | (kinds == _REDUCTION))
        added, units = (pairs, lines + pieces) if adds.any() else (0, 0)
        entries, p = self._memory.begun_lines.most, self._memory.p
        whole = (
            loop.REQUEST * m, keys, 2 * pairs, warps, pairs, pairs, pairs, pairs, lines, 2 * lines,
            loop.SET * SETS, SETS, 2 * pairs, pieces, pieces, pieces, rows, joins, joins, regions, regions, regions,
            5 * regions, 3 * covered, most, m, entries + 1, loop.ENTRY * (entries + 1), entries + 1, warps, warps,
            warps, 2 * pairs, 2 * pairs, lines, warps, warps, numbers, regions, 2 * added,
        )  # fmt: skip
        curves = sum(2 * len(one) for one in (p.l2_loaded, p.loaded, p.loaded_copy, p.l2_parts))
        real = (
            2 * pairs, 2 * pairs, 2 * pairs, 2 * pairs, m, keys, keys, rows, pages, 4 * (entries + 1), joins,
            regions, regions * (asked.blocks + 1), regions, regions, regions, regions, regions, regions, regions,
            regions, numbers, 33, 32, 32, len(self._memory.dram.costs), warps, warps, swapped, warps, curves, regions,
            regions,
            *(regions + 2 * added,) * 3, *(units,) * 4, *(2 * added,) * 3, asked.blocks,
        )  # fmt: skip
        starts = [*accumulate(whole, initial=loop.INTS)], [*accumulate(real, initial=loop.FLOATS)]
        self._sizes = [*whole, *real]
        self.m, self.f = np.zeros(starts[0][-1], np.int64), np.zeros(starts[1][-1])
        self._starts = [*starts[0][:-1], *starts[1][:-1]]
        self.m[loop.FIRST_TABLE : loop.INTS] = self._starts

    def _fill_requests(self, asked: Asked) -> None:
        """What warps ask for, and where it lies."""
        numbers, counts, pairs = asked.requests.numbers, asked.requests.counts, self._pairs
        table = self.table(loop.ASKED).reshape(-1, loop.REQUEST)
        table[:, :4], table[:, 6:] = numbers[:, :4], numbers[:, 4:]
        table[:, 4], table[:, 5] = np.cumsum(counts) - counts, counts
        self.table(loop.SLOTS)[:] = self._slots
        self.table(loop.KEYS).reshape(-1, 2)[:] = 2 * pairs[:, None] + np.arange(2)
        self.table(loop.WARP_BLOCK)[:] = asked.block_of - 1
        self.table(loop.FIRST_OF_WARP)[:] = np.cumsum(asked.warps) - asked.warps
        for name, found in self._numbers.items():
            self.table(name)[:] = found
        line, sides = self._numbers[loop.LINE_OF], self.table(loop.PAIRS_OF).reshape(-1, 2)
        sides[:] = -1
        sides[line, pairs & 1] = np.arange(len(pairs))
        self.table(loop.SET_OF)[:] = self._memory.places.of(pairs[_first(line)] >> 1)

    def _fill_regions(self, blocks: int) -> None:
        """The arrays; the last one stands for sectors of none. blocks: of the simulated SM."""
        memory, regions = self._memory, self._regions
        firsts = [region.first for region in regions]
        self.table(loop.FIRSTS)[:], self.table(loop.LASTS)[:] = firsts, [region.last for region in regions]
        self.table(loop.FIRST_ID)[:] = [*map(firsts.index, firsts[:-1]), len(regions) - 1]
        self.table(loop.FETCHED_BY)[:] = self.table(loop.BEGUN)[:] = -1.0
        # A row per number of blocks that have ended: the loop goes on to the next one.
        done = [number / max(1, blocks) for number in range(blocks + 1)]
        self.table(loop.SEEN_NOW)[:] = [region.seen(share) for share in done for region in regions]
        ordered, numbers, covered = self.table(loop.ORDERED).reshape(-1, 5), 0, 0
        for region, row in zip(regions, ordered, strict=True):
            order = region.order
            row[:] = order is not NEVER, numbers, len(order.numbers), covered, len(order.covered)
            self.table(loop.ORDER_NUMBERS)[numbers : numbers + len(order.numbers)] = order.numbers
            self.table(loop.ORDER_SEEN)[numbers : numbers + len(order.numbers)] = order.seen
            for number, one in enumerate(order.covered, covered):
                self.table(loop.COVERED)[3 * number : 3 * number + 3] = one
            numbers, covered = numbers + len(order.numbers), covered + len(order.covered)
        of_regions = [  # FETCHING_OF, SHARE, DENSE, OTHERS, ORDER_NEW, FIRST_SHARE, EVENNESS_OF
            *(region.fetching(memory.active) for region in regions), *(region.share for region in regions),
            *(region.dense for region in regions), *(region.at_once - 1 for region in regions),
            *(region.order.new for region in regions),
            *(memory.joins.first(r.at_once - 1) if r.at_once > 1 else 1.0 for r in regions),
            *(memory.evenness_for(region.nbytes) for region in regions),
        ]  # fmt: skip
        first = self._starts[loop.FETCHING_OF - loop.FIRST_TABLE]
        self.f[first : first + len(of_regions)] = of_regions

    def _fill_state(self, memory: Memory) -> None:
        """All caches are empty, and nothing is on its way."""
        m, f = self.m, self.f
        for place, value in (
            (loop.UNTIL, memory.until), (loop.LOADING_UNTIL, memory.loading_until),
            (loop.REGIONS, len(self._regions) - 1),
            (loop.FLYING_MOST, memory.flying_most), (loop.L1_LINES, memory.l1_lines),
            (loop.L2_SECTORS, memory.l2_sectors), (loop.COLD, memory.cold), (loop.COSTS_COUNT, len(memory.dram.costs)),
            (loop.ACCESSES, len(self.table(loop.JOIN_WARP)) // len(self._regions)),
            (loop.WHOLE_STORES, memory.stores_whole),
            (loop.MOST_LINES, memory.begun_lines.most), (loop.SPARE_COUNT, memory.begun_lines.most + 1),
            (loop.PLACE, len(self._regions) - 1), (loop.PLACE_FIRST, -1), (loop.PLACE_LAST, -1),
            (loop.WANTED_FIRST, -1), (loop.WANTED_LAST, -1), (loop.RECENT_HEAD, -1), (loop.RECENT_TAIL, -1),
        ):  # fmt: skip
            m[place] = value
        self.table(loop.SPARE)[:] = np.arange(memory.begun_lines.most + 1)
        for name in (loop.JOIN_WARP, loop.WAIT_ROW):
            self.table(name)[:] = -1
        for first, last in ((loop.L1_TIME, loop.PART), (loop.PAGE_KNOWN,) * 2, (loop.WAIT_UNTIL,) * 2):
            begin, end = (self._starts[name - loop.FIRST_TABLE] for name in (first, last + 1))
            f[begin:end] = -1.0
        self.table(loop.SWAPPED)[:] = -inf
        f[loop.KNOWN_AT] = -1.0
        f[loop.TAKEN : loop.TAKEN + 4] = -1.0
        f[loop.FETCHING] = f[loop.EVENNESS] = 1.0

    def _fill_figures(self, memory: Memory) -> None:
        """What the loop needs of the GPU and of the launch."""
        m, f, p, dram = self.m, self.f, memory.p, memory.dram
        f[loop.LOAD_L2 + loop.WINDOW], f[loop.LOAD_DRAM + loop.WINDOW] = p.l2_latency, dram.window
        self.table(loop.SPREAD)[:], self.table(loop.COSTS)[:] = memory.spread, dram.costs
        self.table(loop.ROWS)[:], self.table(loop.PAIRS)[:] = dram.rows, dram.pairs
        at = int(m[loop.CURVES])
        for place, curve in (
            (loop.CURVE_L2, p.l2_loaded), (loop.CURVE_LOADED, p.loaded), (loop.CURVE_COPY, p.loaded_copy),
            (loop.CURVE_PARTS, p.l2_parts),
        ):  # fmt: skip
            m[place], m[place + 1] = at, len(curve)
            f[at : at + 2 * len(curve)] = [*(x for x, _ in curve), *(y for _, y in curve)]
            at += 2 * len(curve)
        f[loop.FIRST_FIGURE : loop.FLOATS] = list(self._figures(memory))

    def _fill_atomics(self, memory: Memory) -> None:
        """The units of L2 for atomics are idle."""
        self.f[loop.IDLE] = 1.0
        for name, values in (
            (loop.LARGE, [is_large(region) for region in self._regions]),
            (loop.UNITS_OF, [memory.units.units_of(region) for region in self._regions]),
            (loop.ARRAY_LINES, [lines_of(region) for region in self._regions]),
        ):
            self.table(name)[:] = values
        if not len(self.table(loop.SUM_FREE)):
            return
        self.table(loop.LINE_FREE)[:] = -1.0
        wanted, evened = memory.sharing.wanted, memory.units.evened
        if wanted:
            self.table(loop.WANTED_BY)[:] = Shares.of(wanted).at(self.table(loop.KEYS), 0.0)
        of_lines, of_pieces = (self._pairs[_first(self._numbers[name])] for name in (loop.LINE_OF, loop.PIECE_OF))
        self.m[loop.LINE_COUNT] = len(of_lines)
        factors, table = Shares.of(evened), self.table(loop.EVENED)
        table[: len(of_lines)] = factors.at(~(of_lines[::-1] >> 1), 1.0)[::-1]
        table[len(of_lines) :] = factors.at(of_pieces >> 2, 1.0)

    def _figures(self, memory: Memory) -> Iterator[float]:
        """In the order of their places."""
        p, dram, sharing = memory.p, memory.dram, memory.sharing
        yield from (memory.warm, memory.first_load)
        yield from (dram.rate, dram.dense, p.dram_latency, p.dram_new_page, p.l1_latency, p.l2_latency, p.l1_lines)
        yield from (memory.fill_cycles, memory.l2_cycles, memory.l2_free_cycles, memory.store_cycles)
        yield memory.passing_cycles
        yield from memory.rates_of(memory.company.rest)
        yield from (p.l2_line_least, p.l2_line_least_stored, p.partial_store, sharing.written_back)
        yield from (memory.first_drain, memory.drain, memory.local_left, *p.shared_atomic)
        yield from (p.shared_swap, p.shared_swap_apart, *p.match_wide, p.match_value, p.match_later)
        yield from (memory.joins.warps, p.dram_write, p.dram_turn)
        yield from (dram.sparse(sharing.stored_neighbours, memory.stores_whole), dram.sparse(8.0, True))
        yield from (32 / p.l2_sm_write_bytes, max(memory.active, memory.uneven * memory.alike))
        yield from (*p.local_line, *p.local_in_part[0], *p.local_in_part[1], p.sm_count)
        yield from (memory.active, memory.adding, memory.units.every, p.atomic_sm, p.atomic_sm_return, p.atomic_sector)
        yield from (p.atomic_return, p.atomic_return_sector, p.atomic_lane, p.atomic_pass, p.atomic_slow_pass)
        yield p.atomic_float_lane
        yield from (p.distributed_latency, *p.distributed_load, p.distributed_store, p.distributed_atomic)
        yield from (p.membar_cta, p.membar_gpu, p.membar_interval)
        yield from (interpolated(p.membar_stored, memory.active), p.membar_stored_interval)

    def write_back(self) -> None:
        """Let the memory system have what an estimate asks of it."""
        m, f, memory = self.m, self.f, self._memory
        dram = memory.dram
        memory.l1_hits, memory.l1_requests = int(m[loop.L1_HITS]), int(m[loop.L1_REQUESTS])
        memory.l2_hits, memory.l2_requests = int(m[loop.L2_HITS]), int(m[loop.L2_REQUESTS])
        memory.l2_free, memory.l2_write_free = float(f[loop.L2_FREE]), float(f[loop.L2_WRITE_FREE])
        memory.l2_busy, memory.l2_write_busy = float(f[loop.L2_BUSY]), float(f[loop.L2_WRITE_BUSY])
        memory.last_store, memory.answered = float(f[loop.LAST_STORE]), float(f[loop.ANSWERED])
        dram.free, dram.moved, dram.busy = (float(f[k]) for k in (loop.DRAM_FREE, loop.DRAM_MOVED, loop.DRAM_BUSY))
        dram.read, dram.written = float(f[loop.DRAM_READ]), float(f[loop.DRAM_WRITTEN])
        variances = self.table(loop.WAIT_VARIANCE)
        memory.slowest.were(variances[self.table(loop.WAITED)[: m[loop.OWNERS]]].tolist())
        memory.atomics = int(m[loop.ATOMICS])
        if memory.atomics:
            free = max(self.table(name).max() for name in (loop.ARRAY_FREE, loop.LINE_FREE, loop.SUM_FREE))
            worked = max(self.table(name).max() for name in (loop.ARRAY_WORKED, loop.LINE_WORKED, loop.SUM_WORKED))
            memory.units.were(float(max(free, f[loop.TOGETHER])), float(max(worked, f[loop.WORKED_TOGETHER])))


def _first(numbers: np.ndarray) -> np.ndarray:
    """Where each of ascending numbers comes first: bool."""
    first = np.ones(len(numbers), bool)
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    return first


def number(
    ordered: Int64s, count: int, keys: Int64s, counts: Int64s, far: Bytes, requests: int, shifts: Int64s, most: int,
    pairs: Int64s, numbers: Int64s, slots: Int64s,
) -> int:  # fmt: skip
    """As :func:`numbered`: how many pairs there are. ordered: those of all sectors, ascending. most: the length of a
    row of ``numbers``. slots: zeros."""
    found, at, last = 0, 0, 0
    for k in range(count):
        if k == 0 or ordered[k] != ordered[k - 1]:
            pairs[found] = ordered[k]
            for row in range(_ROWS):
                here = row * most + found
                numbers[here] = 0
                if found > 0:
                    numbers[here] = numbers[here - 1]
                    if (ordered[k] ^ ordered[k - 1]) >> shifts[row] != 0:
                        numbers[here] += 1
            found += 1
    for request in range(requests):
        end = at + counts[request]
        if far[request]:
            for k in range(at, end):
                pair = keys[k] >> 1
                if pairs[last] != pair:  # most sectors lie behind the one before
                    last = min(last + 1, found - 1)
                if pairs[last] != pair:
                    high = found
                    if pairs[last] > pair:
                        high = last
                        last = 0
                    while last < high:
                        middle = (last + high) // 2
                        if pairs[middle] < pair:
                            last = middle + 1
                        else:
                            high = middle
                slots[k] = 2 * last + (keys[k] & 1)
        at = end
    return found


_NUMBER = CompiledFunction(number)


def numbered(keys: np.ndarray, counts: np.ndarray, far: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pairs of sectors of the requests that are ``far``, ascending, int64 (n,). For them numbers from 0 on of their
    lines, and of the other units of :data:`_PAIRS`: int64, a row per unit. And twice the place of the pair of each
    sector, with one for its second sector; 0 of other requests.

    Arguments:
        keys: int64, the sectors of all requests. counts, far: int64 and bool, of each request.
    """
    wanted = keys if far.all() else keys[far.repeat(counts)]
    slots = np.zeros(len(keys), np.int64)
    if not _NUMBER.ready(compiled_blocks(), _CALLS + _SECTOR_OF_NUMPY * len(keys)):
        pairs = distinct(wanted >> 1)
        numbers = np.zeros((_ROWS, len(pairs)), np.int64)
        differ = (pairs[1:] ^ pairs[:-1]) >> _SHIFTS[:, None] != 0
        np.cumsum(differ, axis=1, out=numbers[:, 1:])
        slots[far.repeat(counts)] = 2 * pairs.searchsorted(wanted >> 1) + (wanted & 1)
        return pairs, numbers, slots
    ordered = ascending(wanted >> 1)
    most = len(ordered)
    pairs, numbers = np.empty(most, np.int64), np.empty((_ROWS, most), np.int64)
    given = ordered, keys, counts, far
    one, every, many, flags = map(np.ascontiguousarray, given)
    count = _NUMBER.call(
        id(one), most, id(every), id(many), id(flags), len(many), id(_SHIFTS), most, id(pairs), id(numbers), id(slots)
    )  # fmt: skip
    return pairs[:count], numbers[:, :count], slots
