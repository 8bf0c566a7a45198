"""Counts what the hardware counts, a warp at a time, by PTX instruction.

Which wavefronts and sectors an access takes is decided by the pure rules of :mod:`softlab.instruments.banks` and
:mod:`softlab.instruments.coalescing`; here they are asked once a pattern and remembered: an access repeats its pattern
in every block, and in every turn of a loop. Where the machine code is known, an access counts as it stands there
(:mod:`softlab.instruments.machine_code`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.emulator.copies import Copy
from softlab.emulator.flow import Block, is_cluster_barrier, is_warp_synchronous
from softlab.emulator.lanes import WARP, Box, Lanes, Value
from softlab.emulator.linker import Image
from softlab.emulator.memory import Site
from softlab.emulator.observers import Observer
from softlab.emulator.ptx import Instruction
from softlab.instruments.banks import wavefronts_and_conflicts
from softlab.instruments.bypass import bypass_sectors
from softlab.instruments.coalescing import global_sectors
from softlab.instruments.issue import Issue, UnrolledLoop
from softlab.instruments.machine_code import MachineCode
from softlab.instruments.unrolled import Rule, UnrolledCounter
from softlab.traces import COUNTERS, InstructionCounters

_COLUMN = {name: number for number, name in enumerate(COUNTERS)}
_SHARED_INSTRUCTIONS = [_COLUMN["shared_load_instructions"], _COLUMN["shared_store_instructions"]]
_SHARED = ("shared", "shared::cta")
#: Patterns repeat when all addresses move by this: a turn around all banks.
_BANK_PERIOD = 128
#: Widest access that the coalescing rule takes; a wider, aligned one lies in the sector of its first bytes.
_RULE_WIDTH = 16
_SECTOR = 32
#: Bits of an offset in a block's shared memory: sectors of different blocks are never the same.
_BLOCK_SHIFT = 24
#: A multiple of every period, added to addresses relative to a first one.
_FAR = 1 << 30
#: Remembered patterns; beyond it memory would grow with the run.
_REMEMBERED = 4096


def _bank_figures(address: np.ndarray, active: np.ndarray, width: int, store: bool) -> np.ndarray:
    return np.stack(wavefronts_and_conflicts(address, active, width, store), axis=1)


def _sector_figures(address: np.ndarray, active: np.ndarray, width: int, store: bool) -> np.ndarray:
    return global_sectors(address, active, min(width, _RULE_WIDTH))[:, None]


class _Pattern:
    """The figures of one block's access, by where its first lane's address lies in the period."""

    def __init__(self, phases: int, figures: int) -> None:
        self.figures = np.zeros((phases, figures), np.int64)
        self.known = np.zeros(phases, bool)


class PatternMemory:
    """Totals of a rule over the warps of an access, each different pattern worked out once.

    ``period``: moving all addresses by it changes nothing. ``figures``: how many the rule gives.
    """

    def __init__(self, rule: Rule, period: int, figures: int) -> None:
        self._rule = rule
        self._period = period
        self._figures = figures
        self._patterns: dict[tuple, _Pattern] = {}

    def total(self, site: Site, lanes: Lanes, address: Value) -> np.ndarray:
        """The rule's figures summed over all warps of the set: (figures,) int64."""
        if not isinstance(lanes, Box):
            return self._each_warp(site, lanes, address)
        if not isinstance(address, np.ndarray):
            address = np.full((1, 1), address)
        relative = address - address[:, :1]
        if len(relative) > 1:
            if relative.shape[1] > 1 and (relative != relative[0]).any():
                return self._each_warp(site, lanes, address)
            relative = relative[:1]
        key = (site.width, site.store, lanes.threads, lanes.column_key, relative.shape[1], relative.tobytes())
        pattern = self._patterns.get(key)
        if pattern is None:
            if len(self._patterns) >= _REMEMBERED:
                self._patterns.clear()
            pattern = self._patterns[key] = _Pattern(max(1, self._period // site.width), self._figures)
        times = lanes.extent[0] // len(address)
        if len(address) == 1:
            phase = int(address[0, 0]) % self._period // site.width
            if not pattern.known[phase]:
                self._learn(pattern, site, lanes, relative, np.array([phase]))
            return pattern.figures[phase] * times
        phases = ((address[:, 0] & address.dtype.type(self._period - 1)) >> address.dtype.type(site.shift)).astype(int)
        new = ~pattern.known[phases]
        if new.any():
            self._learn(pattern, site, lanes, relative, np.unique(phases[new]))
        return pattern.figures[phases].sum(axis=0) * times

    def _learn(self, pattern: _Pattern, site: Site, lanes: Box, relative: np.ndarray, phases: np.ndarray) -> None:
        """Work out a block's figures for these phases of its first lane's address, the others relative to it."""
        # Far from zero, so that addresses before the first lane's stay positive.
        first = (phases * site.width + _FAR).astype(relative.dtype)
        spread = lanes.spread(np.broadcast_to(relative + first[:, None], (len(phases), lanes.extent[1])))
        figures = self._solve(site, spread, lanes.warp_mask)
        pattern.figures[phases] = figures.reshape(len(phases), -1, self._figures).sum(axis=1)
        pattern.known[phases] = True

    def _each_warp(self, site: Site, lanes: Lanes, address: Value) -> np.ndarray:
        spread = lanes.spread(np.broadcast_to(address, lanes.extent))
        return self._solve(site, spread, lanes.warp_mask).sum(axis=0)

    def _solve(self, site: Site, address: np.ndarray, active: np.ndarray) -> np.ndarray:
        """(warps, figures)."""
        active = np.broadcast_to(active, address.shape).reshape(-1, WARP)
        return self._rule(address.reshape(-1, WARP), active, site.width, site.store)


@dataclass(frozen=True)
class Counted:
    """A kernel's instructions as they are counted.

    ``once`` (instructions, len(COUNTERS)): what each adds when a warp issues it, whatever its lanes do; ``machine``:
    what the assembler made of its accesses; ``issues``: index of each shared access that is counted when it is issued
    -> who issues it; ``sunk``: block -> indices of the accesses that its lanes make though the PTX has them earlier;
    ``loops``: index of each access in an unrolled loop -> the loop; ``stores``: whether each instruction is a store.
    """

    text: tuple[str, ...]
    frames: tuple[tuple[tuple[str, int], ...], ...]
    once: np.ndarray
    machine: MachineCode
    issues: Mapping[int, Issue]
    sunk: Mapping[int, tuple[int, ...]]
    loops: Mapping[int, UnrolledLoop]
    stores: tuple[bool, ...]

    @classmethod
    def of(cls, image: Image, machine: MachineCode | None = None) -> Counted:
        """Of a kernel's image, as its PTX stands or as its machine code does. Make it once a kernel."""
        machine = machine or MachineCode({})
        once = np.zeros((len(image.instructions), len(COUNTERS)), np.int64)
        for number, instruction in enumerate(image.instructions):
            for name in _counted_when_issued(instruction):
                once[number, _COLUMN[name]] = 1
        issues: dict[int, Issue] = {}
        sunk: dict[int, tuple[int, ...]] = {}
        for number, access in machine.accesses.items():
            spaces = {copy.space for copy in access.machine}
            if spaces == {"shared"}:  # also where the PTX has an address of unknown space
                once[number, _SHARED_INSTRUCTIONS] = (0, 1) if image.instructions[number].opcode == "st" else (1, 0)
                issues[number] = access.issue
            else:
                once[number, _SHARED_INSTRUCTIONS] = 0
            if access.width and access.issue.sunk:
                sunk[access.issue.block] = (*sunk.get(access.issue.block, ()), number)
        for number, (count, issue) in machine.beside_copies.items():
            once[number, _COLUMN["shared_load_instructions"]] = count
            issues[number] = issue
        frames = tuple(tuple((f.file, f.line) for f in i.frames) for i in image.instructions)
        loops = {number: access.issue.loop for number, access in machine.accesses.items() if access.issue.loop}
        stores = tuple(i.opcode == "st" for i in image.instructions)
        return cls(tuple(i.text for i in image.instructions), frames, once, machine, issues, sunk, loops, stores)


class Counters(Observer):
    """Counts a run. Read :meth:`result` when it is over."""

    def __init__(self, counted: Counted) -> None:
        self._counted = counted
        self._machine = counted.machine
        self._counts = np.zeros_like(counted.once)
        self._warps: dict[int, int] = {}
        self._ranges: dict[int, tuple[int, int]] = {}
        self._banks = PatternMemory(_bank_figures, _BANK_PERIOD, 2)
        self._sectors = PatternMemory(_sector_figures, _SECTOR, 1)
        self._sinking = {number for numbers in counted.sunk.values() for number in numbers}
        self._fetched: tuple[Site, Lanes, Value] | None = None
        self._sunk: dict[int, tuple[Callable[[Site, Lanes, Value], None], Site, Value]] = {}
        self._loops = {loop: UnrolledCounter(loop) for loop in {*counted.loops.values()}}
        self._watched = {*counted.sunk, *(b for loop in self._loops for b in (loop.entry, loop.turn))}

    def batch(self, batch: Any) -> None:
        """What is kept of the lanes before is done with."""
        for unrolled in self._loops.values():
            unrolled.settle()
        self._sunk.clear()

    def block(self, block: Block, lanes: Lanes) -> None:
        """Every instruction of the block is issued once a warp."""
        index = block.index
        self._warps[index] = self._warps.get(index, 0) + lanes.warps
        self._ranges[index] = (block.start, block.stop)
        if index in self._watched:
            for loop, unrolled in self._loops.items():
                if index == loop.entry:
                    unrolled.settle()
                elif index == loop.turn:
                    unrolled.turn(lanes)
            for number in self._counted.sunk.get(index, ()):
                if number in self._sunk:
                    count, site, address = self._sunk[number]
                    count(site, lanes, lanes.take(address))

    def shared_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """Wavefronts and conflicts of a load or store; atomics have counters of their own on hardware.

        So have the stores of ``cp.async``, one of which ncu does not read: they are not counted.
        """
        if site.instruction.opcode == "cp":
            if self._fetched is not None:
                self._copied(*self._fetched, lanes, address)
            self._fetched = None
        elif not site.operation:
            self._access(self._shared, site, lanes, address)

    def global_access(self, site: Site, lanes: Lanes, address: Value) -> None:
        """Requests and sectors of a load or store of global memory."""
        if site.instruction.opcode == "cp" and site.instruction.has("cg"):
            self._fetched = (site, lanes, address)
        elif not site.operation and site.space != "const":
            self._access(self._global, site, lanes, address)

    def cluster_access(
        self, site: Site, lanes: Lanes, owner: np.ndarray, address: Value, values: tuple[Value, ...]
    ) -> None:
        """Requests and sectors of the lanes that reach another block; wavefronts of those that reach their own."""
        if site.operation:
            return
        other = np.broadcast_to(owner != lanes.row_index, lanes.extent)
        if not other.all():
            whole = lanes.put(address, address, True)
            rows = lanes.put(owner, owner, True)
            outer, inner = lanes.split(np.ascontiguousarray(other))
            if inner is not None:
                self._access(self._shared, site, inner, inner.take(whole))
            if outer is None:
                return
            lanes, address, owner = outer, outer.take(whole), outer.take(rows)
        found = self._machine.access(site, address)
        if found is not None:
            # As the sectors of one address space in which the blocks lie far apart.
            apart = found[1].astype(np.uint64) + (owner.astype(np.uint64) << np.uint64(_BLOCK_SHIFT))
            kind = "store" if site.store else "load"
            counts = self._counts[site.index]
            counts[_COLUMN[f"dshared_{kind}_requests"]] += lanes.warps
            counts[_COLUMN[f"dshared_{kind}_sectors"]] += self._sectors.total(found[0], lanes, apart)[0]

    def copy_begins(self, copy: Copy, lanes: Lanes) -> None:
        """``st.async`` counts as a store to distributed shared memory; bulk copies go by no load-store unit."""
        if copy.site.instruction.opcode == "st":
            warp = copy.lane // WARP
            sector = copy.owner << _BLOCK_SHIFT | copy.offset // _SECTOR
            counts = self._counts[copy.site.index]
            counts[_COLUMN["dshared_store_requests"]] += len(np.unique(warp))
            counts[_COLUMN["dshared_store_sectors"]] += len(np.unique(np.stack([warp, sector]), axis=1)[0])

    def _copied(self, source: Site, lanes: Lanes, address: Value, among: Lanes, place: Value) -> None:
        """``cp.async`` past the first-level cache: sectors by source and place; the place is of all ``among``."""
        counts = self._counts[source.index]
        counts[_COLUMN["global_load_requests"]] += lanes.warps
        there = lanes.take(among.put(place, place, True))
        spread = [lanes.spread(np.broadcast_to(value, lanes.extent)) for value in (address, there)]
        rows = max(part.shape[0] for part in (*spread, lanes.warp_mask))
        whole = (max(rows, lanes.extent[0] if len(lanes.extent) == 2 else rows), *spread[0].shape[1:])
        flat = [np.broadcast_to(part, whole).reshape(-1, WARP) for part in (*spread, lanes.warp_mask)]
        counts[_COLUMN["global_load_sectors"]] += int(bypass_sectors(*flat).sum())

    def _access(self, count: Callable[[Site, Lanes, Value], None], site: Site, lanes: Lanes, address: Value) -> None:
        """Count it as the machine code has it, now or when its lanes come to where it was sunk."""
        found = self._machine.access(site, address)
        if found is None:
            return
        site, address = found
        if site.index in self._sinking:
            _, _, before = self._sunk.get(site.index, (None, None, address.dtype.type(0)))
            self._sunk[site.index] = (count, site, lanes.put(before, address, False))
        else:
            count(site, lanes, address)

    def _shared(self, site: Site, lanes: Lanes, address: Value) -> None:
        counts = self._counts[site.index]
        self._in_loop(_bank_figures, site, lanes, address)
        wavefronts, conflicts = self._banks.total(site, lanes, address)
        counts[_COLUMN["shared_store_wavefronts" if site.store else "shared_load_wavefronts"]] += wavefronts
        counts[_COLUMN["bank_conflicts"]] += conflicts
        # A generic address that turned out to be shared: hardware has no count of such instructions, PTX alone has.
        if site.index not in self._machine.accesses and not site.instruction.has(*_SHARED):
            counts[_COLUMN["shared_store_instructions" if site.store else "shared_load_instructions"]] += lanes.warps

    def _global(self, site: Site, lanes: Lanes, address: Value) -> None:
        self._in_loop(_sector_figures, site, lanes, address)
        kind = "store" if site.store else "load"
        counts = self._counts[site.index]
        counts[_COLUMN[f"global_{kind}_requests"]] += lanes.warps
        counts[_COLUMN[f"global_{kind}_sectors"]] += self._sectors.total(site, lanes, address)[0]

    def _in_loop(self, rule: Rule, site: Site, lanes: Lanes, address: Value) -> None:
        loop = self._counted.loops.get(site.index)
        if loop is not None:
            self._loops[loop].access(rule, site, lanes, address)

    def result(self) -> InstructionCounters:
        """The counters of every instruction of the kernel."""
        issued = np.zeros(len(self._counts), np.int64)
        for index, (start, stop) in self._ranges.items():
            issued[start:stop] += self._warps[index]
        once = self._counted.once
        counts = self._counts + issued[:, None] * once
        for unrolled in self._loops.values():
            unrolled.settle()
            for number, figures in unrolled.figures.items():
                kind = "store" if self._counted.stores[number] else "load"
                if len(figures) == 2:
                    counts[number, _COLUMN[f"shared_{kind}_wavefronts"]] += figures[0]
                    counts[number, _COLUMN["bank_conflicts"]] += figures[1]
                else:
                    counts[number, _COLUMN[f"global_{kind}_requests"]] += unrolled.issued[number]
                    counts[number, _COLUMN[f"global_{kind}_sectors"]] += figures[0]
        for number, issue in self._counted.issues.items():
            more = self._warps.get(issue.block, 0) - issued[number]
            if issue.loop is not None:
                unrolled = self._loops[issue.loop]
                more += unrolled.issued.get(number, 0) + unrolled.idle
            counts[number, _SHARED_INSTRUCTIONS] += more * once[number, _SHARED_INSTRUCTIONS]
        return InstructionCounters(self._counted.text, self._counted.frames, counts)


def _counted_when_issued(instruction: Instruction) -> tuple[str, ...]:
    """The counters that an instruction adds to once a warp, whatever its lanes do.

    What the parser and the linker have put in themselves has no text and is no instruction of the machine.
    """
    if not instruction.text:
        return ()
    names = ["instructions"]
    if instruction.opcode == "shfl":
        names.append("shuffle_instructions")
    elif instruction.opcode in ("bar", "barrier") and not is_warp_synchronous(instruction):
        if not (is_cluster_barrier(instruction) and instruction.has("arrive")):
            names.append("barriers")
    elif instruction.opcode in ("ld", "st") and instruction.has(*_SHARED):
        names.append("shared_load_instructions" if instruction.opcode == "ld" else "shared_store_instructions")
    return tuple(names)
