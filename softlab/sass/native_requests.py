"""Wavefronts and sectors of requests, counted in a compiled loop over the lanes: what :mod:`.log` does in NumPy.

The functions are written for :mod:`softlab.emulator.machine.native_python`. They leave to NumPy what they return
``UNKNOWN`` for: addresses below zero or misaligned.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import CompiledFunction, Int64s, UInt32s
from softlab.sass.lanes import pack
from softlab.sass.streams import Kind, Space

UNKNOWN = -1
#: How the wavefronts of a request are counted: as the passes of atomics in L2, as different addresses, as the lanes
#: of the busiest bank, and by the bank rule for loads and stores.
PASSES, ADDRESSES, BUSIEST, LOADS, STORES = range(5)
#: Places of the scratch array: how many requests there are, whether all are chosen, the wavefronts of one, how far it
#: lies behind one like it, the lowest addresses of the last ones, sorted keys, counts of banks, and the units of each.
KEPT, ALL, PASSED, BY, LOWEST, KEYS, COUNTS, UNITS, SCRATCH = 0, 1, 2, 3, 8, 32, 64, 96, 96 + 32 * 32
#: A request is compared with this many before it. In a tile whose width is no power of two, patterns repeat every few
#: warps.
_LAST = 4
#: Of an access of a loop: the rule, the bytes of a piece, log2 of a sector's bytes, in how many pieces a lane's item
#: lies, and whether the lanes have their own memory.
RULE, WIDTH, SHIFT, PIECES, IN_LANES, ABOUT = range(6)
_LANES, _LANE_BITS = 32, 5
_EVERY = (1 << _LANES) - 1
#: The bits of an address of local memory.
_ADDRESS = (1 << 32) - 1
#: Address bits that tell the lanes of one request apart for the bank rule (``_NEAR`` of :mod:`.log`).
_NEAR_MASK = (1 << 38) - 1
_NONE = 1 << 62
#: What banks, sectors and lines begin again after, in bytes, and log2 of a sector's bytes.
_LINE, _SECTOR = 128, 5
#: What NumPy takes for one request, in units of 100 microseconds.
_REQUEST = 0.01
#: Warps of a request in the mean, below which all are counted in one call: copying takes less than further calls.
_SMALL = 48
#: A request of the lanes of a run: the first entry of the run, or the entry of each row, the offset of the instruction,
#: the addresses and which lanes are active.
Kept = tuple[int | np.ndarray, int, np.ndarray, np.ndarray]


def least(address: Int64s, mask: int, at: int) -> int:
    """The lowest address of the active lanes; ``_NONE`` where no lane is active."""
    found = _NONE
    for lane in range(_LANES):
        found = min(found, address[at + lane] if mask >> lane & 1 else _NONE)
    return found


def put(out: Int64s, first: int, count: int, key: int) -> int:
    """Put a key into its place among ``count`` different ones, ascending from ``first`` on; how many there are then."""
    k = first + count
    while k > first and out[k - 1] > key:
        k -= 1
    if k > first and out[k - 1] == key:
        return count
    for m in range(first + count, k, -1):
        out[m] = out[m - 1]
    out[k] = key
    return count + 1


def different(address: Int64s, mask: int, at: int, shift: int, out: Int64s, first: int, scratch: Int64s) -> int:
    """The different units of ``1 << shift`` bytes of the active lanes, ascending in ``out``; how many."""
    count, lane = 0, 0
    while lane < _LANES:
        if mask >> lane & 1:
            key = address[at + lane] >> shift
            if count == 0 or out[first + count - 1] < key:
                out[first + count] = key
                count += 1
            elif out[first + count - 1] > key:
                return in_order(address, mask, at, shift, out, first, scratch)
        lane += 1
    return count


def in_order(address: Int64s, mask: int, at: int, shift: int, out: Int64s, first: int, scratch: Int64s) -> int:
    """As :func:`different`, of units in any order."""
    count, lanes = 0, sort(address, mask, at, shift, scratch)
    for k in range(KEYS, KEYS + lanes):
        if count == 0 or out[first + count - 1] != scratch[k]:
            out[first + count] = scratch[k]
            count += 1
    return count


def sort(address: Int64s, mask: int, at: int, shift: int, scratch: Int64s) -> int:
    """The units of ``1 << shift`` bytes of the active lanes, ascending from ``scratch[KEYS]`` on; how many.

    How many are less than a unit says where it comes. That takes no branches, but vector instructions.
    """
    lanes = 0
    for lane in range(_LANES):
        unit = address[at + lane] >> shift << _LANE_BITS if mask >> lane & 1 else _NONE
        scratch[UNITS + lane] = unit + lane
        lanes += mask >> lane & 1
    for lane in range(_LANES):
        own, less = scratch[UNITS + lane], 0
        for other in range(_LANES):
            less += scratch[UNITS + other] < own
        scratch[KEYS + less] = own >> _LANE_BITS
    return lanes


def passes(address: Int64s, mask: int, at: int, shift: int, out: Int64s, first: int, scratch: Int64s) -> int:
    """The sectors of all passes of an atomic on words of ``1 << shift`` bytes; how many."""
    lanes = sort(address, mask, at, shift, scratch)
    # A lane is in the pass of its sector that has its number among the lanes at its word.
    count, turn = 0, 0
    for k in range(KEYS, KEYS + lanes):
        turn = turn + 1 if k > KEYS and scratch[k] == scratch[k - 1] else 0
        count = put(out, first, count, (scratch[k] << shift >> 5) * _LANES + turn)
    for k in range(first, first + count):
        out[k] = out[k] // _LANES
    return count


def busiest(address: Int64s, mask: int, at: int, scratch: Int64s) -> int:
    """The lanes of the bank that has the most."""
    most = 0
    for bank in range(COUNTS, COUNTS + _LANES):
        scratch[bank] = 0
    for lane in range(_LANES):
        if mask >> lane & 1:
            bank = COUNTS + (address[at + lane] >> 2 & 31)
            scratch[bank] += 1
            most = max(most, scratch[bank])
    return most


def near(address: Int64s, lane: int, low: int) -> int:
    """An address as the bank rule takes it."""
    return address[lane] - low & _NEAR_MASK


def paired(address: Int64s, mask: int, at: int, low: int, step: int) -> int:
    """Whether every two active lanes whose numbers differ by the bit ``step`` have the same address."""
    for lane in range(_LANES):
        other = lane ^ step
        if mask >> lane & mask >> other & 1 and near(address, at + lane, low) != near(address, at + other, low):
            return 0
    return 1


def fullest(
    address: Int64s, mask: int, at: int, begin: int, end: int, low: int, shift: int, slots: int, scratch: Int64s
) -> int:
    """The different units of the fullest slot among the lanes from ``begin`` to ``end``."""
    most = 0
    for slot in range(slots):
        scratch[COUNTS + slot] = 0
    for lane in range(begin, end):
        if mask >> lane & 1:
            unit = near(address, at + lane, low) >> shift
            slot = unit & slots - 1
            count, first = scratch[COUNTS + slot], UNITS + _LANES * slot
            k = 0
            while k < count and scratch[first + k] != unit:
                k += 1
            if k == count:
                scratch[first + k] = unit
                scratch[COUNTS + slot] = count + 1
                most = max(most, count + 1)
    return most


def by_banks(address: Int64s, mask: int, at: int, low: int, width: int, store: int, scratch: Int64s) -> int:
    """Wavefronts by the bank rule (:mod:`softlab.instruments.banks`); ``UNKNOWN`` where an address is misaligned."""
    bits = 0
    for lane in range(_LANES):
        bits |= address[at + lane] if mask >> lane & 1 else 0
    if bits & width - 1:
        return UNKNOWN
    shift = 4 if width == 16 else 3 if width == 8 else 2
    slots = 128 >> shift
    together = slots
    if width > 4 and not store and (paired(address, mask, at, low, 1) or paired(address, mask, at, low, 2)):
        together = 2 * slots
    total, first = 0, 0
    while first < _LANES:
        total += fullest(address, mask, at, first, first + together, low, shift, slots, scratch)
        first += together
    return total


def sectors_of(
    address: Int64s, mask: int, at: int, rule: int, width: int, shift: int,
    out: Int64s, first: int, scratch: Int64s,
) -> int:  # fmt: skip
    """The sectors of a request by its rule, in ``out`` from ``first`` on; how many."""
    if rule == PASSES:
        return passes(address, mask, at, 4 if width == 16 else 3 if width == 8 else 2, out, first, scratch)
    return different(address, mask, at, shift, out, first, scratch)


def wavefronts_of(
    address: Int64s, mask: int, at: int, low: int, rule: int, width: int, sectors: int, scratch: Int64s
) -> int:
    """Wavefronts of a request by its rule; ``UNKNOWN`` where an address is misaligned. low: of its first line."""
    if rule == PASSES:
        return sectors
    if rule == ADDRESSES:
        return different(address, mask, at, 0, scratch, KEYS, scratch)
    if rule == BUSIEST:
        return busiest(address, mask, at, scratch)
    return by_banks(address, mask, at, low, width, rule == STORES, scratch)


def moved(address: Int64s, mask: int, known: int, at: int) -> int:
    """By how many bytes, a multiple of ``_LINE``, the addresses from ``at`` on lie behind those from ``known`` on, all
    as far, of the lanes in ``mask``, at least one; else ``_NONE``."""
    lane, differ = 0, 0
    while lane < _LANES and not mask >> lane & 1:
        lane += 1
    if lane == _LANES or address[at + lane] - address[known + lane] & _LINE - 1:
        return _NONE
    found = address[at + lane] - address[known + lane]
    for one in range(_LANES):  # all of them at once, by vector instructions
        differ |= address[at + one] - address[known + one] ^ found if mask >> one & 1 else 0
    return _NONE if differ else found


def in_row(address: Int64s, mask: int, at: int, width: int) -> int:
    """The first active lane, if those that are active follow each other, at least one, and their items, too; else
    ``UNKNOWN``."""
    lane, last, differ = 0, _LANES - 1, 0
    while lane < _LANES and not mask >> lane & 1:
        lane += 1
    while last > lane and not mask >> last & 1:
        last -= 1
    if lane == _LANES or mask >> lane != (1 << last - lane + 1) - 1:
        return UNKNOWN
    first = address[at + lane] - lane * width
    if address[at + last] - last * width != first:
        return UNKNOWN
    for one in range(_LANES):
        differ |= address[at + one] - one * width ^ first if mask >> one & 1 else 0
    return UNKNOWN if differ else lane


def row_of_sectors(address: Int64s, mask: int, at: int, lane: int, width: int, shift: int, out: Int64s, to: int) -> int:
    """The sectors of neighbouring items, ascending in ``out`` from ``to`` on; how many. lane: the first active one."""
    last = _LANES - 1
    while not mask >> last & 1:
        last -= 1
    first, count = address[at + lane] >> shift, 0
    for sector in range(first, (address[at + lane] + (last - lane) * width >> shift) + 1):
        out[to + count] = sector
        count += 1
    return count


def count_one(
    address: Int64s, mask: int, at: int, low: int, rule: int, width: int, shift: int, out: Int64s, first: int,
    scratch: Int64s,
) -> int:  # fmt: skip
    """The sectors of a request that has an active lane; how many. Its wavefronts come to ``scratch[PASSED]``,
    ``UNKNOWN`` where an address is misaligned. low: the lowest address.

    Loads and stores of neighbouring items have a wavefront per 128 bytes of 32 lanes, and at least one: of up to 4
    bytes each with any lanes in a row, of more where all are active, since lanes that have no partner may go with
    others (:mod:`softlab.instruments.banks`).
    """
    lane = UNKNOWN
    if rule >= LOADS and width <= 1 << shift and (width <= 4 or mask == _EVERY):
        lane = in_row(address, mask, at, width)
    if lane >= 0:
        scratch[PASSED] = UNKNOWN if low & width - 1 else max(1, width // 4)
        return row_of_sectors(address, mask, at, lane, width, shift, out, first)
    number = sectors_of(address, mask, at, rule, width, shift, out, first, scratch)
    scratch[PASSED] = wavefronts_of(address, mask, at, low >> 7 << 7, rule, width, number, scratch)
    return number


def like(
    address: Int64s, masks: UInt32s, rows: Int64s, row: int, first: int, begin: int, kept: int, scratch: Int64s
) -> int:
    """The last request before a row that has its pattern, of the counted ones from ``begin`` to ``kept``. How far the
    row lies behind it comes to ``scratch[BY]``, ``_NONE`` where none has it. first: the one to look at first."""
    known, at, tried = first, _LANES * row, 0
    scratch[BY] = _NONE
    if known >= begin and masks[rows[known]] == masks[row]:
        scratch[BY] = moved(address, masks[row], _LANES * rows[known], at)
    while scratch[BY] == _NONE and tried < _LAST and tried < kept - begin:
        tried += 1
        known = kept - tried
        if known != first and masks[rows[known]] == masks[row]:
            scratch[BY] = moved(address, masks[row], _LANES * rows[known], at)
    return known


def count(
    address: Int64s, masks: UInt32s, chosen: Int64s, first: int, requests: int, rule: int, width: int, shift: int,
    rows: Int64s, wavefronts: Int64s, counts: Int64s, sectors: Int64s, scratch: Int64s, kept: int, filled: int,
) -> int:  # fmt: skip
    """Count ``requests`` of 32 lanes each, those ``chosen`` from ``first`` on, or if ``scratch[ALL]`` is not 0 all from
    the beginning; those without an active lane are left out.

    ``rows``, ``wavefronts`` and ``counts`` (how many sectors) have an item per request, from ``kept`` on; ``sectors``,
    from ``filled`` on, units of ``1 << shift`` bytes. Returns how much of ``sectors`` is filled, and in
    ``scratch[KEPT]`` how many requests there are; or ``UNKNOWN``. Where a request is one of the last ones some lines
    further on, as those of neighbouring warps are, what was counted there holds.
    """
    begin, back = kept, 1
    for k in range(requests):
        row = k if scratch[ALL] else chosen[first + k]
        at, mask = _LANES * row, masks[row]
        known = like(address, masks, rows, row, kept - back, begin, kept, scratch)
        by = scratch[BY]
        low = scratch[LOWEST + known % _LAST] + by if by != _NONE else least(address, mask, at)
        if low < 0:
            return UNKNOWN
        if by != _NONE:
            back = kept - known
            passed, number, place = wavefronts[known], counts[known], filled
            for one in range(known, kept):
                place -= counts[one]
            for one in range(number):
                sectors[filled + one] = sectors[place + one] + (by >> (_SECTOR if rule == PASSES else shift))
        elif low != _NONE:
            number = count_one(address, mask, at, low, rule, width, shift, sectors, filled, scratch)
            passed = scratch[PASSED]
            if passed < 0:
                return UNKNOWN
        if low != _NONE:
            scratch[LOWEST + kept % _LAST] = low
            rows[kept], wavefronts[kept], counts[kept] = row, passed, number
            kept += 1
            filled += number
    scratch[KEPT] = kept
    return filled


def interleave(address: Int64s, row: int) -> int:
    """The addresses of a row become those of local memory, as :func:`softlab.sass.memory.interleaved` has them."""
    for lane in range(_LANES):
        at = address[_LANES * row + lane] & _ADDRESS
        address[_LANES * row + lane] = (at >> 2 << 7) + (at & 3) + 4 * lane
    return 0


def by_number(asked: Int64s, requests: int, numbers: int, order: Int64s, ends: Int64s) -> int:
    """Put requests into ``order``, those of each access together and as they came; where those of each end.

    Arguments: as of :func:`count_loop`.
    """
    for number in range(numbers):
        ends[number] = 0
    for k in range(requests):
        ends[asked[3 * k + 1]] += 1
    total = 0
    for number in range(numbers):
        total += ends[number]
        ends[number] = total - ends[number]
    for k in range(requests):
        number = asked[3 * k + 1]
        order[ends[number]] = k
        ends[number] += 1
    return 0


def move_on(address: Int64s, order: Int64s, begin: int, end: int, piece: int) -> int:
    """Put the rows of requests of local memory to where this piece of their items lies, from where the one before
    does."""
    for k in range(begin, end):
        if piece == 0:
            interleave(address, order[k])
        else:
            for at in range(_LANES * order[k], _LANES * order[k] + _LANES):
                address[at] += 4 * _LANES
    return 0


def count_loop(
    address: Int64s, asked: Int64s, requests: int, about: Int64s, numbers: int, masks: UInt32s, order: Int64s,
    ends: Int64s, rows: Int64s, wavefronts: Int64s, counts: Int64s, sectors: Int64s, scratch: Int64s, rooms: int,
) -> int:  # fmt: skip
    """Count what a compiled loop has asked for; as :func:`count`.

    Arguments:
        address: scratch behind the call. asked: of each request its entry, the number of its access and its lanes.
        about: of each of ``numbers`` accesses ``ABOUT`` numbers. masks, order: scratch, an item per request. ends:
            scratch, an item per access. rooms: requests for which there is room in the results.
    """
    by_number(asked, requests, numbers, order, ends)
    for k in range(requests):
        masks[k] = asked[3 * k + 2]
    begin, filled = 0, 0
    scratch[ALL], scratch[KEPT] = 0, 0
    for number in range(numbers):
        at, size = ABOUT * number, ends[number] - begin
        for piece in range(about[at + PIECES] if size > 0 else 0):
            if about[at + IN_LANES]:
                move_on(address, order, begin, begin + size, piece)
            if scratch[KEPT] + size > rooms:
                return UNKNOWN
            filled = count(
                address, masks, order, begin, size, about[at + RULE], about[at + WIDTH], about[at + SHIFT], rows,
                wavefronts, counts, sectors, scratch, scratch[KEPT], filled,
            )  # fmt: skip
            if filled == UNKNOWN:
                return UNKNOWN
        begin = ends[number]
    return filled


COUNT, COUNT_LOOP = CompiledFunction(count), CompiledFunction(count_loop)


def rule_of(space: int, kind: int, of_matrices: bool) -> int:
    """How the wavefronts of such requests are counted."""
    if space in (Space.CONSTANT, Space.VALUES):
        return ADDRESSES
    if kind in (Kind.ATOMIC, Kind.REDUCTION) and space == Space.GLOBAL:
        return PASSES
    if kind == Kind.ATOMIC:
        return BUSIEST
    return STORES if kind == Kind.STORE or of_matrices else LOADS  # the lanes of a store are not paired either


def counted(requests: Sequence[Kept], rule: int, width: int, unit: int) -> tuple[np.ndarray, ...] | None:
    """The requests that have an active lane: entry, offset, wavefronts, how many sectors, and all sectors.

    Arguments:
        requests: as the log keeps them. unit: bytes of a sector.

    None where NumPy has to count, as the loop is not compiled or leaves it to NumPy.
    """
    total = sum(len(address) for _, _, address, _ in requests)
    if not COUNT.ready(compiled_blocks(), _REQUEST * total):
        return None
    rows, wavefronts, counts = np.empty((3, total), np.int64)
    sectors, scratch = np.empty(total * _LANES, np.int64), np.zeros(SCRATCH, np.int64)
    out = tuple(map(id, (rows, wavefronts, counts, sectors, scratch)))
    _, places, addresses, actives = zip(*requests, strict=True)
    sizes = [len(one) for one in addresses]
    if total < _SMALL * len(requests):
        addresses, actives = (np.concatenate(addresses),), (np.concatenate(actives),)
    kept, filled, ends = 0, 0, [0]
    scratch[ALL] = 1
    for address, active in zip(addresses, actives, strict=True):
        lanes, masks = np.ascontiguousarray(address), pack(active)
        about = id(scratch), 0, len(lanes), rule, width, unit.bit_length() - 1
        filled = COUNT.call(id(lanes), id(masks), *about, *out, kept, filled)
        if filled == UNKNOWN:
            return None
        kept = int(scratch[KEPT])
        ends.append(kept)
    found, (first, place, _, _) = rows[:kept], requests[0]
    if len(requests) == 1:
        entries = first[found] if isinstance(first, np.ndarray) else found + first
        return entries, np.full(kept, place), wavefronts[:kept].copy(), counts[:kept].copy(), sectors[:filled].copy()
    if len(addresses) == len(requests):  # the rows of one request follow those of the one before
        found = found + np.repeat(np.cumsum(sizes) - sizes, np.diff(ends))
    entries, offsets = entries_of(requests)[found], np.repeat(places, sizes)[found]
    return entries, offsets, wavefronts[:kept].copy(), counts[:kept].copy(), sectors[:filled].copy()


def counted_loop(address: np.ndarray, asked: np.ndarray, about: np.ndarray) -> tuple[np.ndarray, ...] | None:
    """As :func:`counted`, of what a compiled loop has asked for: row, wavefronts, how many sectors, and all sectors.

    Arguments:
        address: int64 (n or more, 32). asked, about: int64 (n, 3) and (accesses, ``ABOUT``), as
            :func:`count_loop` has them.
    """
    total = len(asked)
    if not COUNT_LOOP.ready(compiled_blocks(), _REQUEST * total):
        return None
    most = int(about[:, PIECES].max()) * total
    address = address[:total].copy() if about[:, IN_LANES].any() else address
    rows, wavefronts, counts = (np.empty(most, np.int64) for _ in range(3))
    sectors, scratch = np.empty(most * _LANES, np.int64), np.zeros(SCRATCH, np.int64)
    masks, order, ends = np.empty(total, np.uint32), np.empty(total, np.int64), np.empty(len(about), np.int64)
    given = id(address), id(asked), total, id(about), len(about), id(masks), id(order), id(ends)
    filled = COUNT_LOOP.call(*given, *map(id, (rows, wavefronts, counts, sectors, scratch)), most)
    if filled == UNKNOWN:
        return None
    kept = int(scratch[KEPT])
    return rows[:kept], wavefronts[:kept], counts[:kept], sectors[:filled].copy()


def entries_of(requests: Sequence[Kept]) -> np.ndarray:
    """The entry of each row of all requests, int64."""
    sizes = np.array([len(address) for _, _, address, _ in requests])
    begins = np.cumsum(sizes) - sizes
    firsts = [0 if isinstance(first, np.ndarray) else first for first, _, _, _ in requests]
    found = np.repeat(np.array(firsts, np.int64) - begins, sizes) + np.arange(sizes.sum())
    for at, (first, _, _, _) in zip(begins, requests, strict=True):
        if isinstance(first, np.ndarray):
            found[at : at + len(first)] = first
    return found
