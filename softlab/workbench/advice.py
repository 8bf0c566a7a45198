"""What to change in a kernel: one sentence per problem that the counters show, with its line and its cost.

A rule speaks only where it names a counter that falls once its advice is followed. Shares below which a rule is silent
are constants of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import gcd, prod

from softlab.instruments.banks import BANK_BYTES, BANKS, WARP
from softlab.instruments.coalescing import SECTOR_BYTES
from softlab.traces import Run
from softlab.workbench.figures import AccessFigures, access_figures, occupancy_of

#: The share of the kernel's own wavefronts or sectors that must be excess, so that a rule speaks.
_SHARE = 0.02
#: How often a block loads each sector before it is told to keep it, and the share of all loaded sectors.
_RELOADS, _RELOAD_SHARE = 4.0, 0.1
#: Passes per atomic of a warp from which a rule speaks. 32 neighbouring elements take up to 8 sectors of global memory.
_SHARED_PASSES, _SECTORS = 4.0, 9.0
#: Lanes of 32 that work, and share of the warps that an SM holds, below which a rule speaks.
_LANES, _OCCUPANCY = 24.0, 0.25
_BANK_ROW = BANKS * BANK_BYTES


@dataclass(frozen=True)
class Advice:
    """One problem: its ``rule``, the ``line`` of the kernel's own file (None: the whole launch), a ``sentence`` on what
    happens and what to do, the ``counter`` that falls once it is done, and the ``excess`` of that counter.
    """

    rule: str
    line: int | None
    sentence: str
    counter: str
    excess: float

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
    for one in figures:
        if one.space != "shared" or not _is_large(one, total):
            continue
        ways = round(one.moved / one.least)
        counter = f"shared_{'store' if one.store else 'load'}_wavefronts"
        yield Advice(
            "bank-conflicts", one.line,
            f"{ways}-way bank conflict, {_number(one.excess)} wavefronts more than the least {_number(one.least)}. "
            f"{_bank_cure(one)}",
            counter, one.excess,
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
        if one.space != "global" or one.unaligned or not _is_large(one, total):
            continue
        yield Advice(
            "uncoalesced", one.line,
            f"each {'store' if one.store else 'load'} of a warp moves {one.per_request:.3g} sectors of 32 bytes, and "
            f"{one.least_per_request:.3g} would hold its bytes: {_number(one.excess)} sectors too many. "
            f"{_sector_cure(one)}",
            f"global_{'store' if one.store else 'load'}_sectors", one.excess,
        )  # fmt: skip


def _sector_cure(one: AccessFigures) -> str:
    if one.stride is None or one.stride == 0:
        return "The lanes' addresses are scattered. Order the work by address, or gather through shared memory."
    stride = abs(one.stride)
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
        if one.space == "global" and one.unaligned and _is_large(one, total):
            yield Advice(
                "unaligned", one.line,
                f"the bytes of a warp are contiguous, but they begin within a sector: {one.per_request:.3g} sectors "
                f"per request, and {one.least_per_request:.3g} would do. Begin each row at a multiple of "
                f"{SECTOR_BYTES} bytes: pad the rows, or shift the first column of a warp.",
                f"global_{'store' if one.store else 'load'}_sectors", one.excess,
            )  # fmt: skip


@_rule
def _reloads(run: Run, figures: tuple[AccessFigures, ...]) -> Iterator[Advice]:
    loads = [one for one in figures if one.space == "global" and not one.store]
    total = sum(one.moved for one in loads)
    for one in loads:
        again = one.moved * (1 - 1 / one.same_sectors)
        if one.same_sectors >= _RELOADS and one.moved >= _RELOAD_SHARE * total and one.requests >= WARP:
            yield Advice(
                "reloads", one.line,
                f"a block loads each sector {one.same_sectors:.3g} times. Load it once into shared memory or a "
                "register, and read it there. The L1 cache may hold the repetitions, but each takes a request.",
                "global_load_sectors", again,
            )  # fmt: skip


@_rule
def _contended_atomics(run: Run, figures: tuple[AccessFigures, ...]) -> Iterator[Advice]:
    for line, counters in run.by_line().items():
        for space, requests, turns in (
            ("shared_atomic", "instructions", "wavefronts"),
            ("global_atomic", "requests", "sectors"),
            ("global_reduction", "requests", "sectors"),
        ):
            count, taken = counters[f"{space}_{requests}"], counters[f"{space}_{turns}"]
            memory = "shared" if space.startswith("shared") else "global"
            if count and taken / count >= (_SHARED_PASSES if memory == "shared" else _SECTORS):
                yield Advice(
                    "contended-atomics", line,
                    f"an atomic of a warp on {memory} memory takes {taken / count:.3g} {turns}. Where lanes meet at "
                    "one address they take turns: add up inside the warp or block first, and let one lane do the "
                    "atomic. Where they do not meet, let neighbouring lanes use neighbouring addresses.",
                    f"{space}_{turns}", taken - count,
                )  # fmt: skip


@_rule
def _idle_lanes(run: Run, figures: tuple[AccessFigures, ...]) -> Iterator[Advice]:
    issued = run.counters["ptx_instructions"]
    lanes = run.lane_instructions / issued if issued else WARP
    if lanes < _LANES:
        threads = prod(run.block)
        partial = threads % WARP
        why = (
            f"A block of {threads} threads has a warp of {partial} lanes: give blocks a multiple of {WARP} threads."
            if partial and threads < 4 * WARP
            else "Let whole warps take the same branch: split the work by warps, not by lanes within a warp."
        )
        yield Advice(
            "idle-lanes", None,
            f"an instruction has {lanes:.3g} of {WARP} lanes at work on average. {why}",
            "ptx_instructions", issued * (1 - lanes / WARP),
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
