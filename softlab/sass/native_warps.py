"""What lanes of one warp do with each other in a compiled loop: shuffles, votes and reductions, and which of them a
compare-and-swap of shared memory serves.

The functions are written for :mod:`softlab.emulator.machine.native_python`. They do what :mod:`softlab.sass.opcodes`
does in NumPy. ``given`` has a number per lane: its operands, packed by :mod:`softlab.sass.loop_blocks`.
"""

from __future__ import annotations

from softlab.emulator.machine.native_python import Bytes, Int64s, UInt32s

_LANES = 32
_WORD, _HALF, _LINE, _BANKS = 0xFFFFFFFF, 16, 128, 32
#: How a shuffle finds the lane from which a lane reads.
IDX, UP, DOWN, BFLY = range(4)
#: What the predicate of a vote says: whether any lane has it, all, or all alike.
ANY, ALL, EQ = range(3)
#: What a reduction gives, of unsigned or signed numbers.
SUM, AND, OR, XOR, MIN, MAX, MIN_SIGNED, MAX_SIGNED = range(8)
#: Where the operands of a shuffle lie in a number: the lane or the distance, and the control word.
BY, CONTROL = 32, 40


def source_of(mode: int, lane: int, by: int, first: int, stays: int) -> int:
    """The lane from which a lane reads, if it is in its group."""
    if mode == IDX:
        return first | by & ~stays
    if mode == UP:
        return lane - by
    if mode == DOWN:
        return lane + by
    return lane ^ by


def shuffle(mode: int, known: int, held: int, given: Int64s, found: Int64s, out: UInt32s, inside: Bytes) -> int:
    """SHFL of the lanes in ``held``: what each reads, and whether that lane is in its group.

    Arguments:
        known: the lanes that have a value; the others have 0. given: value, ``BY`` and ``CONTROL`` of each lane.
        found: scratch, of 32 items.
    """
    for lane in range(_LANES):
        if held >> lane & 1:
            by, clamp, stays = given[lane] >> BY & 31, given[lane] >> CONTROL & 31, given[lane] >> CONTROL + 8 & 31
            first = lane & stays
            most = first | clamp & ~stays
            source = source_of(mode, lane, by, first, stays)
            good = source >= most if mode == UP else source <= most
            source = source if good else lane
            value = given[source] & _WORD if known >> source & 1 else 0
            found[lane] = value | good << BY
    for lane in range(_LANES):
        if held >> lane & 1:
            out[lane] = found[lane] & _WORD
            inside[lane] = found[lane] >> BY
    return 0


def vote(held: int, given: Int64s) -> int:
    """The lanes in ``held`` that say yes: whose number is not 0."""
    found = 0
    for lane in range(_LANES):
        if held >> lane & 1 and given[lane] != 0:
            found |= 1 << lane
    return found


def agreed(mode: int, yes: int, held: int) -> int:
    """The predicate of a vote of the lanes in ``held``, where those in ``yes`` say so."""
    if mode == ANY:
        return 1 if yes != 0 else 0
    if mode == EQ and yes == 0:
        return 1
    return 1 if yes == held else 0


def reduce(mode: int, held: int, given: Int64s) -> int:
    """One number of 32 bits of those of the lanes in ``held``, at least one."""
    found, first = 0, 1
    for lane in range(_LANES):
        if held >> lane & 1:
            value = given[lane] & _WORD
            if mode in (MIN_SIGNED, MAX_SIGNED):
                value = (value ^ 1 << 31) - (1 << 31)
            if first:
                found = value
            elif mode == SUM:
                found += value
            elif mode == AND:
                found &= value
            elif mode == OR:
                found |= value
            elif mode == XOR:
                found ^= value
            elif mode in (MIN, MIN_SIGNED):
                found = min(found, value)
            else:
                found = max(found, value)
            first = 0
    return found & _WORD


def served(held: int, address: Int64s, shift: int) -> int:
    """The lanes in ``held`` that are the first at their bank of shared memory (:mod:`softlab.sass.first_lanes`).

    Arguments:
        shift: log2 of the bytes per lane; of 8 bytes, half a warp comes after the other, and each has all banks.
    """
    found, seen, later = 0, 0, 0
    for lane in range(_LANES):
        if held >> lane & 1:
            bank = 1 << (address[lane] >> shift & (_LINE >> shift) - 1)
            if shift == 3 and lane >= _HALF:
                if later & bank == 0:
                    found |= 1 << lane
                later |= bank
            else:
                if seen & bank == 0:
                    found |= 1 << lane
                seen |= bank
    return found


def put_word(held: int, value: int, out: UInt32s) -> int:
    """Write one value into a register of the lanes in ``held``."""
    for lane in range(_LANES):
        if held >> lane & 1:
            out[lane] = value
    return 0


def put_flag(held: int, value: int, out: Bytes) -> int:
    """As :func:`put_word`, of a predicate."""
    for lane in range(_LANES):
        if held >> lane & 1:
            out[lane] = value
    return 0
