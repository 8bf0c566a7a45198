"""Blocks that take work from a counter, where not all blocks of the grid are interpreted.

A loop takes the next piece of work by an atomic sum in global memory, and ends when nothing is left. A few interpreted
blocks would take the work of the whole grid. So the counter goes on for them by as much as if the other blocks took
theirs meanwhile: of ``all`` blocks ``own`` ones get every (all / own)-th piece. Who of them gets it follows from the
order in which their warps come to the atomic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd

import numpy as np

from softlab.cuda.machine_instructions import MachineInstruction
from softlab.cuda.registers import registers
from softlab.sass.decode import Code

_TAKES = frozenset(("ATOM", "ATOMG"))
#: What gives another value each time, although it reads no register.
_CHANGES = frozenset(("LDG", "LD", "LDS", "LDL", "ATOM", "ATOMG", "ATOMS", "SHFL", "VOTE", "VOTEU", "CS2R"))
_LEAVES = frozenset(("EXIT", "BRA"))
#: What moves a constant, or one register to another.
_COPIES = frozenset(("LDC", "ULDC", "MOV", "UMOV", "IMAD"))


class Dealing:
    """``own`` blocks of ``all`` take their part of the work."""

    def __init__(self, own: int, blocks: int) -> None:
        self._own, self._all = own, blocks
        self._taken: dict[int, int] = {}

    def steps(self, counter: int, count: int) -> np.ndarray:
        """By how many pieces the counter at an address goes on with each of ``count`` lanes that take one: int64
        (count,)."""
        before = self._taken.get(counter, 0)
        self._taken[counter] = before + count
        return np.diff(np.arange(before, before + count + 1) * self._all // self._own)


def without_period(own: Iterable[int], blocks: int) -> list[int]:
    """Blocks, and more of a grid until the pieces that they get have no period that pieces of work may have, too.

    Every 16th piece may be of one column of a picture. With numbers that have no common factor, the pieces of the
    blocks are in turn everywhere in such a period.
    """
    found = set(own)
    for block in range(blocks):
        if gcd(len(found), blocks) == 1:
            break
        found.add(block)
    return sorted(found)


def takers(code: Sequence[MachineInstruction]) -> frozenset[int]:
    """The atomics of a kernel by which loops take work: sums at one place whose result says when the loop ends, and
    those at the same place in front of such a loop, where the compiler has put its first turn."""
    places = {one.address: n for n, one in enumerate(code)}
    jumps = ((places.get(target, n + 1), n) for n, one in enumerate(code) for target in one.targets)
    loops = [(first, last) for first, last in jumps if first <= last]
    sums = [place for place, one in enumerate(code) if _is_sum(one)]
    found = {place for place in sums if decides_when_loops_end(code, place, loops, at_one_place=True)}
    counters = {_counter(code, place) for place in found} - {""}
    return frozenset(found | {place for place in sums if _counter(code, place) in counters})


def decides_when_loops_end(
    code: Sequence[MachineInstruction], place: int, loops: Iterable[tuple[int, int]], *, at_one_place: bool = False
) -> bool:
    """Whether an atomic does the same in each turn of one of the loops, whose end follows from what it gives.

    Arguments:
        loops: the first and the last instruction of each. at_one_place: what it adds or swaps may be another value.
    """
    return any(
        _is_the_same(code[first:place], code[place + 1 : last + 1], code[place], at_one_place)
        and _ends_the_loop(code[first : last + 1], place - first, (code[first].address, code[last].address))
        for first, last in loops
        if first <= place <= last
    )


def takers_of(code: Code) -> frozenset[int]:
    """As :func:`takers`, of the kernel in a code."""
    end = min((start for start in (*code.starts.values(), *code.functions) if start), default=len(code.instructions))
    return takers([one.machine for one in code.instructions[:end]])


def _is_sum(one: MachineInstruction) -> bool:
    """Whether it adds a whole number to global memory and brings the old value."""
    adds = one.opcode in _TAKES and "ADD" in one.modifiers and one.operands[-1] != "RZ"
    return adds and not any(modifier.startswith(("F", "BF")) for modifier in one.modifiers)


def _counter(code: Sequence[MachineInstruction], place: int) -> str:
    """The constant that has the address of an atomic, with the offset; "" if it is not known."""
    one = code[place]
    register = one.base.partition(".")[0]
    for other in reversed(code[:place]):
        found = registers(other)
        if found is None:
            return ""
        if register in found.writes:
            if other.opcode not in _COPIES or other.guard:
                return ""
            source = other.operands[-1]
            if source.startswith("c["):
                return f"{source} {one.offset}"
            register = source.partition(".")[0]
    return ""


def _is_the_same(
    before: Sequence[MachineInstruction], behind: Sequence[MachineInstruction], atomic: MachineInstruction, place: bool
) -> bool:
    """Whether an atomic has the same operands in each turn of a loop, or the same ``place`` alone.

    Arguments:
        before, behind: the loop's other instructions.
    """
    address = next(operand for operand in atomic.operands if "[" in operand)
    found = registers(atomic)
    named = frozenset() if found is None else frozenset(one for one in found.reads if not place or _names(address, one))
    return bool(named) and all(_is_fixed(before, behind, one) for one in named)


def _names(address: str, register: str) -> bool:
    """Whether an address operand names a register, or the one in front of it as a pair."""
    kind, number = register.rstrip("0123456789"), int(register[len(register.rstrip("0123456789")) :])
    words = address.replace("[", " ").replace("]", " ").replace("+", " ").replace(".", " ").split()
    return f"{kind}{number}" in words or f"{kind}{number - 1}" in words


def _is_fixed(before: Sequence[MachineInstruction], behind: Sequence[MachineInstruction], register: str) -> bool:
    """Whether a register holds the same in each turn: what wrote it last reads only such ones, or nothing writes it."""
    for k in range(len(before) - 1, -1, -1):
        found = registers(before[k])
        if found is None:
            return False
        if register in found.writes:
            if before[k].opcode in _CHANGES:
                return False
            return all(_is_fixed(before[:k], [*before[k:], *behind], one) for one in found.reads)
    others = [registers(one) for one in behind]
    return all(one is not None and register not in one.writes for one in others)


def _ends_the_loop(loop: Sequence[MachineInstruction], place: int, limits: tuple[int, int]) -> bool:
    """Whether lanes leave a loop by what the atomic at ``place`` gives, also by way of shared memory.

    Arguments:
        limits: the addresses of the loop's first and last instruction.
    """
    taken = registers(loop[place])
    values = set(taken.writes) if taken is not None else set[str]()
    shared = set[str]()
    for one in [*loop[place + 1 :], *loop[:place]]:
        found = registers(one)
        if found is None:
            continue
        depends = bool(found.reads & values) or (one.opcode == "LDS" and one.base + str(one.offset) in shared)
        if one.opcode in _LEAVES and one.guard in values and _leaves(one, limits):
            return True
        if one.opcode == "STS" and depends:
            shared.add(one.base + str(one.offset))
        if depends:
            values |= found.writes
        elif not one.guard:
            values -= found.writes
    return False


def _leaves(one: MachineInstruction, limits: tuple[int, int]) -> bool:
    """Whether a branch leads out of a loop, or its other lanes do where it leads back to the begin."""
    first, last = limits
    return one.opcode == "EXIT" or one.address == last or any(not first <= t <= last for t in one.targets)
