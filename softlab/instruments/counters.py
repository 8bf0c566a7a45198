"""Counts what the hardware counts, per warp, for each PTX instruction.

The pure rules of :mod:`softlab.instruments.banks` and :mod:`softlab.instruments.coalescing` give the wavefronts and
sectors of an access. An access repeats its pattern in every block and in every iteration of a loop, so the counters ask
a rule once per pattern and keep the answer. If the machine code is known, accesses, atomics and instructions count as
they stand there (:mod:`softlab.instruments.machine_code`). Else they count as the PTX has them, and ``Run.level`` says
so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from softlab.emulator.lanes import WARP, Box, Lanes, Value
from softlab.emulator.machine.flow import Block, is_cluster_barrier, is_warp_synchronous
from softlab.emulator.machine.loop_records import LoopCode, LoopRun
from softlab.emulator.machine.observers import Observer
from softlab.emulator.memory.copies import Copy
from softlab.emulator.memory.known_addresses import KnownAddresses
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site
from softlab.instruments.atomic_counter import AtomicCounter
from softlab.instruments.counter_remarks import CounterRemarks
from softlab.instruments.cp_async_sectors import cp_async_sectors
from softlab.instruments.execution_counter import ExecutionCounter
from softlab.instruments.issue import Issue, UnrolledLoop
from softlab.instruments.machine_code import MachineCode
from softlab.instruments.native_sectors import NativeLoads
from softlab.instruments.patterns import (
    BANK_PERIOD,
    SECTOR,
    PatternCache,
    RepeatedAccesses,
    bank_figures,
    matrix_figures,
    sector_figures,
)
from softlab.instruments.tensor_instructions import counters_of_ptx
from softlab.instruments.unrolled import Rule, UnrolledCounter
from softlab.traces import COUNTERS, InstructionCounters

_COLUMN = {name: number for number, name in enumerate(COUNTERS)}
_SHARED_INSTRUCTIONS = [_COLUMN["shared_load_instructions"], _COLUMN["shared_store_instructions"]]
_GLOBAL_COLUMNS = {
    store: (_COLUMN[f"global_{kind}_requests"], _COLUMN[f"global_{kind}_sectors"])
    for store, kind in ((False, "load"), (True, "store"))
}
_SHARED = ("shared", "shared::cta")
#: Bits of an offset in a block's shared memory, so that sectors of different blocks differ.
_BLOCK_SHIFT = 24


@dataclass(frozen=True)
class CountedKernel:
    """How the instructions of a kernel are counted.

    ``once`` (instructions, len(COUNTERS)): what each instruction adds when a warp issues it, whatever its lanes do.
    ``machine``: what the assembler made of the accesses. ``issues``: index of each shared access that counts when it is
    issued -> the warps that issue it. ``sunk``: block -> indices of the accesses that its lanes make although the PTX
    has them earlier. ``loops``: index of each access in an unrolled loop -> the loop. ``stores``: whether each
    instruction is a store. ``issued``: the columns in which ``once`` has anything. ``banks``, ``matrix_banks`` and
    ``sectors``: what the rules say, for all runs of the kernel.
    """

    text: tuple[str, ...]
    frames: tuple[tuple[tuple[str, int], ...], ...]
    once: np.ndarray
    machine: MachineCode
    issues: Mapping[int, Issue]
    sunk: Mapping[int, tuple[int, ...]]
    loops: Mapping[int, UnrolledLoop]
    stores: tuple[bool, ...]
    issued: tuple[int, ...]
    banks: PatternCache = field(default_factory=lambda: PatternCache(bank_figures, BANK_PERIOD, 2))
    matrix_banks: PatternCache = field(default_factory=lambda: PatternCache(matrix_figures, BANK_PERIOD, 2))
    sectors: PatternCache = field(default_factory=lambda: PatternCache(sector_figures, SECTOR, 1))

    @classmethod
    def of(cls, image: Image, machine: MachineCode | None = None) -> CountedKernel:
        """Of a kernel's image, as its machine code stands or else its PTX. Make it once per kernel."""
        machine = machine or MachineCode({})
        once = np.zeros((len(image.instructions), len(COUNTERS)), np.int64)
        for number, instruction in enumerate(image.instructions):
            for name in _counted_when_issued(instruction):
                once[number, _COLUMN[name]] = 1
        issues: dict[int, Issue] = {}
        sunk: dict[int, tuple[int, ...]] = {}
        for number, access in machine.accesses.items():
            spaces = {copy.space for copy in access.machine}
            if spaces == {"shared"}:  # the PTX may have an address of unknown space
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
        issued = tuple(np.flatnonzero(once.any(axis=0)).tolist())
        return cls(
            tuple(i.text for i in image.instructions), frames, once, machine, issues, sunk, loops, stores, issued
        )


class Counters(Observer):
    """Counts a run. Read :meth:`result` when it is over."""

    def __init__(self, counted: CountedKernel) -> None:
        self._counted = counted
        self._machine = counted.machine
        self._counts = np.zeros_like(counted.once)
        #: Machine instructions of which it is not certain how often they ran; known after :meth:`result`.
        self.estimated = 0
        #: What is left out or not certain.
        self.remarks = CounterRemarks()
        self._warps: dict[int, int] = {}
        self._ranges: dict[int, tuple[int, int]] = {}
        self._banks, self._matrix_banks, self._sectors = counted.banks, counted.matrix_banks, counted.sectors
        self._repeated_shared = RepeatedAccesses(self._banks), RepeatedAccesses(self._matrix_banks)
        self._repeated_sectors = RepeatedAccesses(self._sectors)
        #: (index of an instruction, whether it stores) -> requests and sectors of global memory.
        self._of_global: dict[tuple[int, bool], list[int]] = {}
        #: Accesses to shared memory that stand in the machine as in the PTX, and count by their pattern alone.
        self._plain_shared: dict[int, RepeatedAccesses] = {}
        #: The same of instructions that the machine has as they stand in the PTX, and their unrolled loops.
        self._plain: dict[int, tuple[list[int], UnrolledCounter | None]] = {}
        self._loads, self._compiled = NativeLoads(), "none"
        self._known: KnownAddresses
        #: Instructions that hardware does not count as accesses to shared memory, although their addresses are there.
        self._generic: dict[int, bool] = {}
        self._atomics = AtomicCounter(self._machine.atomics)
        executions = self._machine.executions
        self._executions = ExecutionCounter(executions) if executions is not None else None
        self._sinking = {number for numbers in counted.sunk.values() for number in numbers}
        self._ordered = self._sinking | counted.loops.keys()
        self._fetched: tuple[Site, Lanes, Value] | None = None
        self._sunk: dict[int, tuple[Callable[[Site, Lanes, Value], None], Site, Value]] = {}
        self._loops = {loop: UnrolledCounter(loop) for loop in {*counted.loops.values()}}
        self._watched = {*counted.sunk, *(b for loop in self._loops for b in (loop.entry, loop.body))}

    def batch(self, batch: Any) -> None:
        """Settle what is kept of the lanes of the batch before."""
        self._known, self._compiled = batch.shared.known, batch.compiled
        self.remarks.begin(batch.program)
        self._atomics.begin(batch.compiled)
        for unrolled in self._loops.values():
            unrolled.settle()
        self._sunk.clear()
        if self._executions is not None:
            self._executions.batch()

    def edge(self, block: Block, target: int, lanes: Lanes) -> None:
        """A warp counts on each side of a branch that its lanes take."""
        if self._executions is not None:
            self._executions.edge(block.index, target, lanes)

    def block(self, block: Block, lanes: Lanes) -> None:
        """Each warp issues every instruction of the block once."""
        index = block.index
        self._warps[index] = self._warps.get(index, 0) + lanes.warps
        self._ranges[index] = (block.start, block.stop)
        if self._executions is not None:
            self._executions.block(index, lanes)
        if index in self._watched:
            for loop, unrolled in self._loops.items():
                if index == loop.entry:
                    unrolled.settle()
                elif index == loop.body:
                    unrolled.iteration(lanes)
            for number in self._counted.sunk.get(index, ()):
                if number in self._sunk:
                    count, site, address = self._sunk[number]
                    count(site, lanes, lanes.take(address))

    def takes_loop(self, loop: LoopCode) -> bool:
        """Loops whose counts follow from the order of their steps run step by step."""
        if self._executions is not None and self._executions.watches(loop.block_set):
            return False
        return loop.block_set.isdisjoint(self._watched) and loop.variable_loads.isdisjoint(self._ordered)

    def loop_widths(self, loads: Sequence[Site]) -> Sequence[int]:
        """As the machine code has them."""
        return self._machine.widths(loads)

    def loop(self, run: LoopRun) -> None:
        """The same counts for all steps together."""
        for block, warps in zip(run.code.blocks, run.warps.tolist(), strict=True):
            if warps:
                self._warps[block.index] = self._warps.get(block.index, 0) + warps
                self._ranges[block.index] = (block.start, block.stop)
        if self._executions is not None:
            self._executions.edges(run.edges)
        requests, sectors = _GLOBAL_COLUMNS[False]
        self._counts[run.code.load_indices, requests] += run.requests
        self._counts[run.code.load_indices, sectors] += run.sectors

    def shared_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """Wavefronts and conflicts of a load, a store or an atomic.

        Stores of ``cp.async`` have counters of their own on hardware, which Nsight Compute does not read.
        """
        repeated = self._plain_shared.get(site.index)
        if repeated is not None and isinstance(lanes, Box) and (known := self._known.of(address)) is not None:
            repeated.add(site, lanes, known)
            return
        if site.instruction.opcode == "cp":
            if self._fetched is not None:
                self._copied(*self._fetched, lanes, address)
            self._fetched = None
        elif site.operation:
            self.remarks.atomic(site, lanes)
            self._atomics.shared(site, lanes, address, self._known.of(address))
        else:
            self._access(self._shared, site, lanes, address)
            self._may_be_plain(site)

    def _may_be_plain(self, site: Site) -> None:
        """Note an access to shared memory that counts by its pattern alone."""
        index = site.index
        stays = index not in self._sinking and self._machine.is_alike(site)
        if stays and self._generic.get(index) is False and not self._loops:
            self._plain_shared[index] = self._repeated_shared[site.instruction.opcode == "ldmatrix"]

    def global_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """Requests and sectors of a load, a store or an atomic of global memory."""
        plain = self._plain.get(site.index)
        if plain is not None and not isinstance(address, np.ndarray) and site.space != "const":
            counts, loop = plain
            if loop is not None:
                loop.access(sector_figures, site, lanes, address)
            warps = lanes.warps  # lanes that all access one aligned item need one sector per warp
            counts[0] += warps
            counts[1] += warps
            return
        if site.instruction.opcode == "cp" and site.instruction.has("cg"):
            self._fetched = (site, lanes, address)
        elif site.operation:
            self.remarks.atomic(site, lanes)
            self._atomics.global_(site, lanes, address, self._known.of(address))
        elif site.space != "const":
            self._access(self._global, site, lanes, address)

    def cluster_access(
        self, site: Site, lanes: Lanes, owner: np.ndarray, address: Value, values: tuple[Value, ...]
    ) -> None:
        """Requests and sectors of the lanes that access another block; wavefronts of those that access their own."""
        if site.operation:
            self.remarks.remote_atomic(site, lanes)
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
            # Count sectors in one address space in which the blocks lie far apart.
            apart = found[1].astype(np.uint64) + (owner.astype(np.uint64) << np.uint64(_BLOCK_SHIFT))
            kind = "store" if site.store else "load"
            counts = self._counts[site.index]
            counts[_COLUMN[f"dshared_{kind}_requests"]] += lanes.warps
            counts[_COLUMN[f"dshared_{kind}_sectors"]] += self._sectors.total(found[0], lanes, apart)[0]

    def copy_begins(self, copy: Copy, lanes: Lanes) -> None:
        """``st.async`` counts as a store to distributed shared memory. Bulk copies use no load-store unit."""
        if copy.site.instruction.opcode == "st":
            warp = copy.lane // WARP
            sector = copy.owner << _BLOCK_SHIFT | copy.offset // SECTOR
            counts = self._counts[copy.site.index]
            counts[_COLUMN["dshared_store_requests"]] += len(np.unique(warp))
            counts[_COLUMN["dshared_store_sectors"]] += len(np.unique(np.stack([warp, sector]), axis=1)[0])

    def _copied(self, source: Site, lanes: Lanes, address: Value, among: Lanes, destination: Value) -> None:
        """``cp.async.cg``: sectors follow from source and destination, which is a value of the set ``among``."""
        counts = self._counts[source.index]
        counts[_COLUMN["global_load_requests"]] += lanes.warps
        target = lanes.take(among.put(destination, destination, True))
        spread = [lanes.spread(np.broadcast_to(value, lanes.extent)) for value in (address, target)]
        rows = max(part.shape[0] for part in (*spread, lanes.warp_mask))
        whole = (max(rows, lanes.extent[0] if len(lanes.extent) == 2 else rows), *spread[0].shape[1:])
        flat = [np.broadcast_to(part, whole).reshape(-1, WARP) for part in (*spread, lanes.warp_mask)]
        counts[_COLUMN["global_load_sectors"]] += int(cp_async_sectors(*flat).sum())

    def _access(self, count: Callable[[Site, Lanes, Value], None], site: Site, lanes: Lanes, address: Value) -> None:
        """Count the access of the machine code: now, or when its lanes come to the block that it was sunk into."""
        found = self._machine.access(site, address, self._known)
        if found is None:
            return
        site, address = found
        if self._sinking and site.index in self._sinking:
            _, _, before = self._sunk.get(site.index, (None, None, address.dtype.type(0)))
            self._sunk[site.index] = (count, site, lanes.put(before, address, False))
        else:
            count(site, lanes, address)

    def _shared(self, site: Site, lanes: Lanes, address: Value) -> None:
        index = site.index
        if self._loops:
            self._in_loop(bank_figures, site, lanes, address)
        of_matrices = site.instruction.opcode == "ldmatrix"
        known = self._known.of(address)
        if known is not None and isinstance(lanes, Box):
            self._repeated_shared[of_matrices].add(site, lanes, known)
        else:
            banks = self._matrix_banks if of_matrices else self._banks
            self._add_wavefronts(index, site.store, banks.total(site, lanes, address))
        generic = self._generic.get(index)
        if generic is None:
            generic = site.instruction.opcode in ("ld", "st") and not site.instruction.has(*_SHARED)
            self._generic[index] = generic = generic and index not in self._machine.accesses
        if generic:
            # A generic address turned out to be shared. Hardware does not count such instructions; only the PTX does.
            name = "shared_store_instructions" if site.store else "shared_load_instructions"
            self._counts[index, _COLUMN[name]] += lanes.warps

    def _add_wavefronts(self, index: int, store: bool, figures: np.ndarray) -> None:
        counts = self._counts[index]
        counts[_COLUMN["shared_store_wavefronts" if store else "shared_load_wavefronts"]] += figures[0]
        counts[_COLUMN["bank_conflicts"]] += figures[1]

    def _global(self, site: Site, lanes: Lanes, address: Value) -> None:
        if self._loops:
            self._in_loop(sector_figures, site, lanes, address)
        key = site.index, site.store
        counts = self._of_global.get(key)
        if counts is None:
            counts = self._of_global[key] = [0, 0]
            if site.index not in self._sinking and self._machine.is_alike(site):
                loop = self._counted.loops.get(site.index)
                self._plain[site.index] = counts, None if loop is None else self._loops[loop]
        warps = lanes.warps
        counts[0] += warps
        known = self._known.of(address)
        if known is not None and isinstance(lanes, Box):
            self._repeated_sectors.add(site, lanes, known)
        elif isinstance(address, np.ndarray):
            if self._loads.ready(self._compiled):
                counts[1] += self._loads.total(site, lanes, address)
            else:
                counts[1] += int(self._sectors.total(site, lanes, address)[0])
        else:  # lanes that all access one aligned item need one sector per warp
            counts[1] += warps

    def _add_repeated(self) -> None:
        """Count the accesses that were only noted so far."""
        for store, columns in _GLOBAL_COLUMNS.items():
            noted = {index: sums for (index, stores), sums in self._of_global.items() if stores == store}
            if noted:
                at = np.fromiter(noted, np.int64, len(noted))[:, None], np.array(columns)
                self._counts[at] += np.array(list(noted.values()))
        self._of_global.clear()
        self._plain.clear()
        for repeated in self._repeated_shared:
            for (index, store), figures in repeated.take_totals().items():
                self._add_wavefronts(index, store, figures)
        for (index, store), figures in self._repeated_sectors.take_totals().items():
            self._counts[index, _GLOBAL_COLUMNS[store][1]] += figures[0]
        for index, found in self._atomics.take_totals().items():
            turns = found.pop("turns", 0)
            if turns and self._executions is not None:
                self._executions.turns(index, turns)
            for name, value in found.items():
                self._counts[index, _COLUMN[name]] += value

    def _in_loop(self, rule: Rule, site: Site, lanes: Lanes, address: Value) -> None:
        loop = self._counted.loops.get(site.index)
        if loop is not None:
            self._loops[loop].access(rule, site, lanes, address)

    def _issued_elsewhere(self) -> np.ndarray:
        """How many warps issue each of the accesses that count when they are issued, in their order."""
        found = []
        for number, issue in self._counted.issues.items():
            found.append(self._warps.get(issue.block, 0))
            if issue.loop is not None:
                unrolled = self._loops[issue.loop]
                found[-1] += unrolled.issued.get(number, 0) + unrolled.idle
        return np.array(found, np.int64)

    def result(self) -> InstructionCounters:
        """The counters of every instruction of the kernel."""
        self._add_repeated()
        issued = np.zeros(len(self._counts), np.int64)
        for index, (start, stop) in self._ranges.items():
            issued[start:stop] += self._warps[index]
        once, counts = self._counted.once, self._counts.copy()
        for column in self._counted.issued:
            counts[:, column] += issued * once[:, column]
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
        if self._counted.issues:
            numbers = np.fromiter(self._counted.issues, np.int64)
            at = numbers[:, None], _SHARED_INSTRUCTIONS
            counts[at] += (self._issued_elsewhere() - issued[numbers])[:, None] * once[at]
        counts[:, _COLUMN["instructions"]] = counts[:, _COLUMN["ptx_instructions"]]
        if self._executions is not None:
            executed, self.estimated = self._executions.result(self._warps)
            self.remarks.machine_code(self._executions.rare, issued, self.estimated)
            for name, values in executed.items():
                counts[:, _COLUMN[name]] = values
        return InstructionCounters(self._counted.text, self._counted.frames, counts)


def _counted_when_issued(instruction: Instruction) -> tuple[str, ...]:
    """The counters to which an instruction adds one per warp, whatever its lanes do.

    Instructions that the parser and the linker insert have no text. The machine does not have them.
    """
    if not instruction.text:
        return ()
    names = ["ptx_instructions"]
    if instruction.opcode == "shfl":
        names.append("shuffle_instructions")
    elif instruction.opcode in ("bar", "barrier") and not is_warp_synchronous(instruction):
        if not (is_cluster_barrier(instruction) and instruction.has("arrive")):
            names.append("barriers")
    elif instruction.opcode in ("ld", "st") and instruction.has(*_SHARED):
        names.append("shared_load_instructions" if instruction.opcode == "ld" else "shared_store_instructions")
    return (*names, *counters_of_ptx(instruction))
