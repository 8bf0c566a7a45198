"""What the timing model asks of each instruction of a code, once for all estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from softlab.cuda.machine_instructions import MachineInstruction
from softlab.cuda.registers import registers
from softlab.sass.taking import decides_when_loops_end, takers

#: Atomics that take longer in L2: 1 adds floats, which waits longer for the same sector; 2 compares, which takes its
#: unit for longer; 4 adds doubles, which does both; 0 are all others. 3: a compare-and-swap of shared memory that a
#: loop repeats.
ATOMIC_CODES = (0, 1, 2, 3, 4)
#: Loads that every reader has to see as L2 has it pass L1 by (PTX ISA: ld.relaxed, ld.acquire, ld.volatile), and so do
#: asynchronous copies that L2 alone caches (cp.async.cg).
_PAST_L1 = frozenset(("STRONG", "GPU", "SYS", "MMIO", "BYPASS"))

_BRANCHES = frozenset(("BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU"))
_ATOMICS = frozenset(("ATOM", "ATOMG", "ATOMS", "RED", "REDG"))
#: Those of global memory that bring a value.
_IN_GLOBAL = frozenset(("ATOM", "ATOMG"))
_FLOATS = frozenset(("F32", "F16", "F16x2", "BF16", "BF16_V2", "FTZ"))
#: What a loop that only looks does not do: change memory that others see, meet others, or call a function.
_ACTS = frozenset(("ST", "STG", "STS", "STAS", *_ATOMICS, "REDAS", "BAR", "SYNCS", "UCGABAR_WAIT", "CALL"))
_COMPARISONS = frozenset(("ISETP", "FSETP", "DSETP", "LOP3", "R2P"))
_CLOCKS = frozenset(("SR_CLOCK", "SR_CLOCKLO", "SR_CLOCKHI", "SR_GLOBALTIMERLO", "SR_GLOBALTIMERHI"))


@dataclass(frozen=True, eq=False)
class CodeTraits:
    """Of each of n instructions, (n,) each:

    ``widths`` int64: bytes per lane that it accesses. ``codes`` int64: of an atomic one of ``ATOMIC_CODES``, else
    whether it passes L1 by. ``stalls`` int64: its stall count. bool: whether it ``waits`` for a scoreboard, has a guard
    (``guarded``), ``jumps``, ``ends`` lanes, is a BSYNC (``meets``), a YIELD (``yields``), or a WARPSYNC.EXCLUSIVE
    (``parts``), compares and ``swaps`` global memory, ``sleeps``, or reads a clock in a loop (``times_itself``).
    ``tries``: an atomic of a loop that tries the same in each turn, as for a lock. ``looks``: a load of a loop that
    looks at the same place in each turn until another thread has written it. ``looks_again``: whether a loop
    loads what other blocks write: every reader sees it as L2 has it. ``tries_again``: whether one that ``tries`` does
    it in global memory. ``takes_work``: whether a loop may take work by an atomic until none is left.
    """

    widths: np.ndarray
    codes: np.ndarray
    stalls: np.ndarray
    waits: np.ndarray
    guarded: np.ndarray
    jumps: np.ndarray
    ends: np.ndarray
    meets: np.ndarray
    yields: np.ndarray
    parts: np.ndarray
    swaps: np.ndarray
    sleeps: np.ndarray
    times_itself: np.ndarray
    tries: np.ndarray
    looks: np.ndarray
    looks_again: bool
    tries_again: bool
    takes_work: bool

    @property
    def waits_for_blocks(self) -> bool:
        """Whether a loop may wait for what other blocks do."""
        return self.looks_again or self.tries_again

    @classmethod
    def of(cls, code: Sequence[MachineInstruction]) -> CodeTraits:
        """Those of a code."""
        opcodes, controls = [one.opcode for one in code], [one.control for one in code]
        loops = [_Loop(code, first, last) for first, last in _loops(code)]
        tries = np.array([_tries_again(code, n, loops) for n in range(len(code))], bool)
        return cls(
            np.array([access_width(one) for one in code], np.int64),
            np.array([_code(one) for one in code], np.int64),
            np.array([max(1, one.stall_cycles) if one else 1 for one in controls], np.int64),
            np.array([bool(one and one.waits) for one in controls], bool),
            np.array([one.text.startswith("@") for one in code], bool),
            np.array([name in _BRANCHES for name in opcodes], bool),
            np.array([name in ("EXIT", "KILL") for name in opcodes], bool),
            np.array([name == "BSYNC" for name in opcodes], bool),
            np.array([name == "YIELD" for name in opcodes], bool),
            np.array([one.opcode == "WARPSYNC" and "EXCLUSIVE" in one.modifiers for one in code], bool),
            np.array([one.opcode in _IN_GLOBAL and "CAS" in one.modifiers for one in code], bool),
            np.array([name == "NANOSLEEP" for name in opcodes], bool),
            np.array([_reads_clock(one) and _inside(n, loops) for n, one in enumerate(code)], bool),
            tries,
            np.array([_looks(code, n, loops) for n in range(len(code))], bool),
            any(_inside(n, loops) for n, one in enumerate(code) if one.opcode == "LDG" and "STRONG" in one.modifiers),
            bool((tries & np.array([name in _IN_GLOBAL for name in opcodes], bool)).any()),
            bool(takers(code)),
        )


def _loops(code: Sequence[MachineInstruction]) -> list[tuple[int, int]]:
    """The first and last instruction between each jump back and its target."""
    places = {one.address: n for n, one in enumerate(code)}
    jumps = ((places.get(target, n), n) for n, one in enumerate(code) for target in one.targets)
    return [(first, last) for first, last in jumps if first <= last]


class _Loop:
    """The instructions ``first`` to ``last`` of a code, which jumps back from the last one."""

    def __init__(self, code: Sequence[MachineInstruction], first: int, last: int) -> None:
        self.first, self.last = first, last
        self._code = code[first : last + 1]

    def __contains__(self, place: int) -> bool:
        return self.first <= place <= self.last

    @cached_property
    def only_looks(self) -> bool:
        """Whether it does nothing that others see."""
        return not any(one.opcode in _ACTS for one in self._code)

    @cached_property
    def _writers(self) -> dict[str, set[int]]:
        """Register -> the places of the instructions that write to it what is no constant."""
        found: dict[str, set[int]] = {}
        for place, one in enumerate(self._code, self.first):
            used = registers(one)
            if used is not None and used.reads:
                for register in used.writes:
                    found.setdefault(register, set()).add(place)
        return found

    @cached_property
    def _compared(self) -> frozenset[str]:
        """The registers of which its instructions make predicates."""
        compared = (registers(one) for one in self._code if one.opcode in _COMPARISONS)
        return frozenset[str]().union(*(found.reads for found in compared if found is not None))

    def same_again(self, place: int) -> bool:
        """Whether the instruction at a place does the same in each turn: only constants are written to what it
        reads."""
        used = registers(self._code[place - self.first])
        return used is not None and all(self._writers.get(one, set()) <= {place} for one in used.reads)

    def compares(self, place: int) -> bool:
        """Whether an instruction makes a predicate of what the one at a place gives."""
        given = registers(self._code[place - self.first])
        return given is not None and not given.writes.isdisjoint(self._compared)


def _inside(place: int, loops: Sequence[_Loop]) -> bool:
    return any(place in loop for loop in loops)


def _reads_clock(one: MachineInstruction) -> bool:
    return one.opcode in ("S2R", "S2UR", "CS2R") and bool(_CLOCKS.intersection(one.operands))


def _tries_again(code: Sequence[MachineInstruction], place: int, loops: Sequence[_Loop]) -> bool:
    if not _may_wait(code[place]):
        return False
    inside = [loop for loop in loops if place in loop]
    return any(loop.same_again(place) for loop in inside) or decides_when_loops_end(
        code, place, [(loop.first, loop.last) for loop in inside]
    )


def _looks(code: Sequence[MachineInstruction], place: int, loops: Sequence[_Loop]) -> bool:
    """Whether a load waits for what another thread writes. Other loads of one place are taken out of a loop."""
    one = code[place]
    if one.opcode != "LDS" and not (one.opcode in ("LDG", "LD") and "STRONG" in one.modifiers):
        return False
    return any(loop.only_looks and loop.same_again(place) and loop.compares(place) for loop in loops if place in loop)


def _may_wait(one: MachineInstruction) -> bool:
    """Whether an atomic may be what a lock or a flag is looked at with: it swaps, or it changes nothing."""
    if one.opcode not in (*_IN_GLOBAL, "ATOMS"):
        return False
    return bool({"CAS", "EXCH"} & set(one.modifiers)) or one.operands[-1] == "RZ"


def access_width(one: MachineInstruction) -> int:
    """Bytes per lane that an instruction accesses."""
    if one.width:
        return one.width * matrices_of(one)
    return 8 if {"64", "U64"} & set(one.modifiers) else 16 if "128" in one.modifiers else 4


def matrices_of(one: MachineInstruction) -> int:
    """How many matrices of 8 rows of 16 bytes an instruction moves, 4 bytes per lane and matrix; else 1."""
    if one.opcode not in ("LDSM", "STSM"):
        return 1
    return next((int(m) for m in one.modifiers if m in ("2", "4")), 1)


def _code(one: MachineInstruction) -> int:
    """Of an atomic one of ``ATOMIC_CODES``, else whether it passes L1 by."""
    modifiers = set(one.modifiers)
    if one.opcode not in _ATOMICS:
        return int(bool(_PAST_L1 & modifiers))
    if "CAST" in modifiers:
        return 3
    if "F64" in modifiers:
        return 4
    return 2 if "CAS" in modifiers else int(bool(modifiers & _FLOATS))
