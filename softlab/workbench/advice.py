"""What to change in a kernel: one sentence per problem that the counters show, with its line and its cost.

A rule speaks only where it names a counter that falls once its advice is followed. Shares below which a rule is silent
are constants of this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import gcd, prod

from softlab.instruments.banks import BANK_BYTES, BANKS, WARP
from softlab.instruments.coalescing import SECTOR_BYTES
from softlab.traces import COUNTERS, Run
from softlab.workbench.figures import LINE_BYTES, RATIO, AccessFigures, access_figures, occupancy_of

#: The share of the kernel's own wavefronts or sectors that must be excess, so that a rule speaks.
_SHARE = 0.02
#: How often a block loads each sector before it is told to keep it, and the share of all loaded sectors.
_RELOADS, _RELOAD_SHARE = 4.0, 0.1
#: Wavefronts per atomic of a warp from which a rule speaks. 32 lanes at random banks take 3.5 on average.
_SHARED_PASSES = 4.0
#: Lanes of 32 that work, and share of the warps that an SM holds, below which a rule speaks.
_LANES, _OCCUPANCY = 24.0, 0.25
#: Issue slots per warp that nobody misses: a load from DRAM takes 660 cycles, and a scheduler has 16 warps (H200).
_UNSEEN_SLOTS = 660 / 16
#: Cycles in which DRAM brings an SM a sector: 4.1 TB/s for 132 SMs at 1980 MHz (H200).
_CYCLES_PER_SECTOR = SECTOR_BYTES / (4.1e12 / 132 / 1.98e9)
#: Places in a sector at which the requests of a block begin, from which no alignment helps all of them.
_STARTS = 1.5
_BANK_ROW = BANKS * BANK_BYTES
_HIDDEN = " The loads and stores from DRAM take longer than all wavefronts, so the time may stay."


@dataclass(frozen=True)
class Advice:
    """One problem: its ``rule``, the ``line`` of the kernel's own file (None: the whole launch), a ``sentence`` on what
    happens and what to do, the ``counter`` that falls once it is done, and the ``excess`` of that counter. ``hidden``:
    whether a slower part of the launch hides it, so that the time may stay; the sentence says so, too.
    """

    rule: str
    line: int | None
    sentence: str
    counter: str
    excess: float
    hidden: bool = False

    def __str__(self) -> str:
        return f"{f'line {self.line}: ' if self.line else ''}{self.sentence}"


Rule = Callable[[Run, tuple[AccessFigures, ...]], Iterator[Advice]]
_RULES: dict[str, Rule] = {}


def _rule(function: Rule) -> Rule:
    _RULES[function.__name__.strip("_").replace("_", "-")] = function
    return function


def rules() -> tuple[str, ...]:
    """The names of all rules."""
    return tuple(_RULES)


def advice(run: Run) -> tuple[Advice, ...]:
    """What to change, the largest excess of each counter's kind first. Empty where no rule speaks.

    run: of the emulator, with its counters. Record enough blocks (``Kernel.run(..., blocks=...)``): a line that no
    recorded block executes gets no advice.

    Raises:
        ValueError: a run without counters.
    """
    if run.instructions is None:
        raise ValueError("this run has no counters: run the kernel in the emulator with record=True")
    figures = access_figures(run)
    found = [one for rule in _RULES.values() for one in rule(run, figures)]
    return tuple(sorted(found, key=lambda one: (one.line is None, -one.excess)))


@_rule
def _bank_conflicts(run: Run, figures: tuple[AccessFigures, ...]) -> Iterator[Advice]:
    total = sum(one.moved for one in figures if one.space == "shared")
    dram = sum(one.moved / one.same_sectors for one in figures if one.space == "global") * _CYCLES_PER_SECTOR
    hidden = total < dram
    for one in figures:
        if one.space != "shared" or not _is_large(one, total):
            continue
        ways = round(one.moved / one.least)
        counter = f"shared_{'store' if one.store else 'load'}_wavefronts"
        yield Advice(
            "bank-conflicts", one.line,
            f"{ways}-way bank conflict, {_number(one.excess)} wavefronts more than the least {_number(one.least)}. "
            f"{_bank_cure(one)}{_HIDDEN if hidden else ''}",
            counter, one.excess, hidden,
        )  # fmt: skip


def _bank_cure(one: AccessFigures) -> str:
    if one.stride is None or one.stride == 0:
        return (
            "The lanes have no common stride. Choose a layout in which the words of a warp lie in different banks, "
            "such as a swizzled index (column ^ row)."
        )
    stride = abs(one.stride)
    where = f"Neighbouring lanes are {stride} bytes apart, so they meet in {_banks(one)} of {BANKS} banks. "
    if stride >= _BANK_ROW // 2 and stride % BANK_BYTES == 0:
        return where + "One more column of padding in each row puts the lanes into different banks."
    return where + "Keep each field in an array of its own, or pad so that the stride is an odd number of words."


def _banks(one: AccessFigures) -> int:
    words = max(1, abs(one.stride or 0) // BANK_BYTES)
    return BANKS // gcd(BANKS, words)


@_rule
def _uncoalesced(run: Run, figures: tuple[AccessFigures, ...]) -> Iterator[Advice]:
    total = sum(one.moved for one in figures if one.space == "global")
    for one in figures:
        if one.space != "global" or one.unaligned or not _is_large(one, total) or _l1_serves(one):
            continue
        yield Advice(
            "uncoalesced", one.line,
            f"each {'store' if one.store else 'load'} of a warp moves {one.per_request:.3g} sectors of 32 bytes, and "
            f"{one.least_per_request:.3g} would hold its bytes: {_number(one.excess)} sectors too many. "
            f"{_sector_cure(one)}",
            f"global_{'store' if one.store else 'load'}_sectors", one.excess,
        )  # fmt: skip


def _l1_serves(one: AccessFigures) -> bool:
    """Whether the excess of a load stays in L1: the block uses the bytes that it moves, and L1 looks up the lines of a
    request while DRAM brings the bytes of a plain one. L1 takes a cycle per line, and keeps nothing of stores.
    """
    return not one.store and one.block_use * RATIO >= 1 and one.lines <= one.plain * _CYCLES_PER_SECTOR


def _sector_cure(one: AccessFigures) -> str:
    if one.stride is None or one.stride == 0:
        return "The lanes' addresses are scattered. Order the work by address, or gather through shared memory."
    stride = abs(one.stride)
    if stride <= one.width:
        return (
            "Few lanes in a row have neighbouring elements. Let more of them: a block that is wider along x, or rows "
            "of a tile that fill sectors."
        )
    where = f"Neighbouring lanes are {stride} bytes apart. "
    if stride >= SECTOR_BYTES:
        return (
            f"{where}Let threadIdx.x run along the contiguous dimension, or move a tile through shared memory and turn "
            "it there."
        )
    return f"{where}Keep each field in an array of its own, so that neighbouring lanes access neighbouring elements."


@_rule
def _unaligned(run: Run, figures: tuple[AccessFigures, ...]) -> Iterator[Advice]:
    total = sum(one.moved for one in figures if one.space == "global")
    for one in figures:
        curable = one.unaligned and one.starts < _STARTS and one.moved >= RATIO * one.aligned
        if curable and one.space == "global" and _is_large(one, total) and not _l1_serves(one):
            yield Advice(
                "unaligned", one.line,
                f"contiguous bytes begin within a sector: {one.per_request:.3g} sectors per request, and "
                f"{one.aligned / one.requests:.3g} would do. Begin each row at a multiple of "
                f"{LINE_BYTES} bytes, {SECTOR_BYTES} at least: pad the rows, or shift the first column of a warp.",
                f"global_{'store' if one.store else 'load'}_sectors", one.excess,
            )  # fmt: skip


@_rule
def _reloads(run: Run, figures: tuple[AccessFigures, ...]) -> Iterator[Advice]:
    loads = [one for one in figures if one.space == "global" and not one.store]
    total = sum(one.moved for one in loads)
    for one in loads:
        # A warp that loads a value once, as its neighbours do, gains nothing from shared memory.
        often = min(one.loads_again, one.per_warp) >= _RELOADS
        if often and one.moved >= _RELOAD_SHARE * total and one.requests >= WARP:
            yield Advice(
                "reloads", one.line,
                f"a block loads each sector {one.loads_again:.3g} times. Load it once into shared memory or a "
                "register, and read it there. The L1 cache may hold the repetitions, but each takes a request.",
                "global_load_sectors", one.least * (1 - 1 / one.loads_again),
            )  # fmt: skip


@_rule
def _contended_atomics(run: Run, figures: tuple[AccessFigures, ...]) -> Iterator[Advice]:
    for (line, space), (atomics, taken, most) in sorted(_atomics(run).items()):
        if taken < most:
            continue
        memory, turns = space.split("_")[0], "wavefronts" if space.startswith("shared") else "sectors"
        yield Advice(
            "contended-atomics", line,
            f"an atomic of a warp on {memory} memory takes {taken / atomics:.3g} {turns}. Where lanes meet at one "
            "address they take turns: add up inside the warp or block first, and let one lane do the atomic. Where "
            "they do not meet, let neighbouring lanes use neighbouring addresses.",
            f"{space}_{turns}", taken - atomics,
        )  # fmt: skip


def _atomics(run: Run) -> dict[tuple[int, str], tuple[int, int, float]]:
    """(line, kind) -> atomics of a warp, the wavefronts or sectors that they took, and how many are too many.

    The atomics are those of the PTX: in the machine code one may be a loop of several.
    """
    found: dict[tuple[int, str], tuple[int, int, float]] = {}
    assert run.instructions is not None
    column = {name: number for number, name in enumerate(COUNTERS)}
    for text, frames, counts in zip(*vars(run.instructions).values(), strict=True):
        line = next((number for name, number in frames if name == run.file), None)
        for space in ("shared_atomic", "global_atomic", "global_reduction"):
            turns = "wavefronts" if space.startswith("shared") else "sectors"
            taken = int(counts[column[f"{space}_{turns}"]])
            if line is None or not taken:
                continue
            atomics = int(counts[column["ptx_instructions"]])
            most = _SHARED_PASSES if turns == "wavefronts" else _plain_sectors(text) + 1
            before = found.get((line, space), (0, 0, 0.0))
            found[line, space] = (before[0] + atomics, before[1] + taken, before[2] + atomics * most)
    return found


def _plain_sectors(text: str) -> float:
    """Sectors of an atomic whose lanes have neighbouring elements. ``text``: of the PTX, "red.global.add.f32 ..."."""
    bits, pair = re.findall(r"\.(?:[usb]|b?f)(\d+)(x2)?(?=[.\s]|$)", text)[-1]
    return WARP * int(bits) * (2 if pair else 1) / 8 / SECTOR_BYTES


@_rule
def _idle_lanes(run: Run, figures: tuple[AccessFigures, ...]) -> Iterator[Advice]:
    issued = run.counters["ptx_instructions"]
    lanes = run.lane_instructions / issued if issued else WARP
    threads = prod(run.block)
    warps = -(-threads // WARP)
    idle = issued * (1 - lanes / WARP)
    partial = threads < _LANES * warps
    if lanes >= _LANES or not (partial or idle >= _UNSEEN_SLOTS * warps * prod(run.grid)):
        return
    why = (
        f"A block of {threads} threads has a warp of {threads % WARP} lanes: give blocks a multiple of {WARP} threads."
        if partial
        else "Let whole warps take the same branch: split the work by warps, not by lanes within a warp."
    )
    yield Advice(
        "idle-lanes", None,
        f"an instruction has {lanes:.3g} of {WARP} lanes at work on average. {why}",
        "ptx_instructions", idle,
    )  # fmt: skip


@_rule
def _spills(run: Run, figures: tuple[AccessFigures, ...]) -> Iterator[Advice]:
    if run.spill_bytes:
        yield Advice(
            "spills", None,
            f"the compiler keeps {run.spill_bytes} bytes per thread in memory, since the registers do not hold them. "
            "Use fewer live values, shorter unrolled loops, or a higher register limit (__launch_bounds__, "
            "-maxrregcount).",
            "spill_bytes", float(run.spill_bytes),
        )  # fmt: skip


@_rule
def _low_occupancy(run: Run, figures: tuple[AccessFigures, ...]) -> Iterator[Advice]:
    held = occupancy_of(run)
    if held is not None and not held.reason and held.fraction < _OCCUPANCY:
        cures: Mapping[str, str] = {
            "threads": "use another block size",
            "blocks": "use larger blocks",
            "registers": "use fewer registers per thread",
            "smem": "use less shared memory per block",
        }
        what = " and ".join(cures[one] for one in held.limiters if one in cures)
        yield Advice(
            "low-occupancy", None,
            f"an SM of the {held.device.name} holds {held.warps_per_sm} of {held.device.max_warps_per_sm} warps. "
            f"To hide more latency, {what}.",
            "occupancy", 1 - held.fraction,
        )  # fmt: skip


def _is_large(one: AccessFigures, total: int) -> bool:
    return one.wasteful and one.excess >= _SHARE * total


def _number(value: float) -> str:
    return f"{round(value):,}".replace(",", "\u202f")
