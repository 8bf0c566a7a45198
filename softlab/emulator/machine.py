"""The machine: batches of blocks in lock step.

All lanes that stand at one place run together; of several places the lowest goes first, so that lanes meet again where
the branches do. While they all stand together (the rule) there is one place and nothing to choose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from softlab.emulator.asynchronous import lower_wait
from softlab.emulator.atomics import Atomics
from softlab.emulator.block_memory import GenericMemory, LocalMemory, SharedMemory
from softlab.emulator.bulk_copies import BulkCopies
from softlab.emulator.clusters import ClusterBarrier, ClusterMemory
from softlab.emulator.compiler import CompiledBlock, Program, immediate
from softlab.emulator.copies import Copies
from softlab.emulator.effects import Effect, Place
from softlab.emulator.endless import EndlessLoop
from softlab.emulator.ends import END
from softlab.emulator.faults import Geometry, Index3
from softlab.emulator.lanes import WARP, Box, Lanes, Value
from softlab.emulator.mbarriers import Mbarriers
from softlab.emulator.memory import GlobalMemory
from softlab.emulator.observers import Observer, listeners
from softlab.emulator.printf import formatted
from softlab.emulator.ptx import DTYPES, Address, Immediate, Operand, Register, Symbol
from softlab.emulator.reports import FaultReports
from softlab.emulator.schedule import Listeners, Schedule
from softlab.emulator.specials import CLOCKS, clock, special_registers
from softlab.emulator.warpwide import WarpWide
from softlab.errors import Error

#: Lanes of a batch: enough that NumPy's cost a call is small, few enough that a register stays in the cache.
BATCH_LANES = 16384
#: Shared and local memory of a batch.
BATCH_BYTES = 32 << 20
#: Instructions that one batch may issue before it counts as endless: some ten seconds of work. The longest lesson takes
#: 1 % of it.
INSTRUCTION_BUDGET = 2_000_000


def _write(text: str) -> None:
    print(text, end="")


@dataclass(frozen=True)
class Launch:
    """One launch: the program, its grid and block, the parameter bytes, dynamic shared memory in bytes.

    ``file`` names the kernel's own source in faults; ``sm_count`` is what ``%smid`` counts to; ``output`` takes what
    the kernel prints; ``budget`` is the number of instructions a batch may issue; ``check`` says whether lanes that a
    warp-synchronous instruction names and that cannot come are a fault; ``warp_order`` names a block's warps in the
    order in which each goes as far as it can (empty: all in lock step). Of a ``cooperative`` launch all blocks are one
    batch.
    """

    program: Program
    grid: Index3
    block: Index3
    parameters: bytes
    memory: GlobalMemory
    dynamic_shared: int = 0
    file: str = "kernel.cu"
    sm_count: int = 132
    budget: int = INSTRUCTION_BUDGET
    warp_order: tuple[int, ...] = ()
    check: bool = False
    cooperative: bool = False
    output: Callable[[str], Any] = _write
    observers: Sequence[Observer] = field(default=())

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def cluster(self) -> Index3:
        """Blocks of a cluster along x, y and z; all 1 without clusters."""
        return self.program.image.cluster or (1, 1, 1)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def lanes(self) -> int:
        """Lanes of a block: those of whole warps."""
        return -(-self.threads // WARP) * WARP

    @property
    def shared_bytes(self) -> int:
        """Static and dynamic shared memory of a block."""
        return self.program.image.static_shared_bytes + self.dynamic_shared

    @property
    def bytes_per_block(self) -> int:
        """Shared memory of a block, and the local memory of its lanes."""
        return self.shared_bytes + self.program.image.local_bytes * self.lanes

    @property
    def batch(self) -> int:
        """Blocks that run at a time: whole clusters."""
        if self.cooperative:
            return self.blocks
        size = min(BATCH_LANES // self.lanes, BATCH_BYTES // max(1, self.bytes_per_block), self.blocks)
        in_cluster = self.cluster[0] * self.cluster[1] * self.cluster[2]
        return max(1, size // in_cluster) * in_cluster


def run(launch: Launch, progress: Callable[[int], Any] | None = None) -> int:
    """Run the grid; returns the number of instructions times the lanes that ran them.

    ``progress`` is told how many blocks have just been done.

    Raises:
        KernelFault: the kernel did what it must not.
        UnsupportedInstruction: it came to an instruction that is not known.
    """
    size = launch.batch
    total = 0
    with np.errstate(all="ignore"):
        batch: Batch | None = None
        for first in range(0, launch.blocks, size):
            count = min(size, launch.blocks - first)
            if batch is None or batch.blocks != count:
                batch = Batch(launch, count, launch.lanes, launch.shared_bytes)
            total += batch.run(first)
            if progress is not None:
                progress(count)
    return total


class Batch(FaultReports):
    """Some blocks of the grid, and what the generated code calls on them."""

    def __init__(self, launch: Launch, blocks: int, threads: int, shared_bytes: int) -> None:
        self.launch = launch
        self.blocks = blocks
        self.threads = threads
        self.global_ = launch.memory
        self.shared = SharedMemory(blocks, shared_bytes)
        self.local = LocalMemory(blocks, threads, launch.program.image.local_bytes)
        self.geometry = Geometry(launch.grid, launch.block, 0, launch.cluster)
        in_cluster = self.geometry.blocks_per_cluster
        self.cluster = ClusterMemory(self, self.shared, in_cluster)
        self.cluster_barrier = ClusterBarrier(self, blocks, threads, in_cluster)
        self.mbarriers = Mbarriers(self, blocks)
        self.copies = Copies(self, blocks * threads)
        self.bulk = BulkCopies(self, self.copies, blocks * threads)
        self.generic = GenericMemory(self.global_, self.cluster if in_cluster > 1 else self.shared, self.local)
        self.atomics = Atomics(
            {
                "global": self.global_,
                "shared": self.shared,
                "cluster": self.cluster,
                "local": self.local,
                "generic": self.generic,
            }
        )
        self.warps = WarpWide()
        self._schedule: Schedule
        self._lowered: dict[int, Effect] = {}
        self.steps = 0
        for memory in (self.global_, self.shared, self.local):
            memory.fault = self.memory_fault
        self.global_.listener = listeners(launch.observers, "global_access")
        self.shared.listener = listeners(launch.observers, "shared_access")
        self.cluster.listener = listeners(launch.observers, "cluster_access")
        self.cluster_barrier.on_complete = listeners(launch.observers, "cluster_complete")
        self.cluster_barrier.on_wait = listeners(launch.observers, "cluster_wait")
        self.mbarriers.listener = listeners(launch.observers, "mbarrier")
        self.copies.on_begin = listeners(launch.observers, "copy_begins")
        self.copies.on_end = listeners(launch.observers, "copy_ends")
        self.warps.listener = listeners(launch.observers, "shuffle")
        self.warps.on_sync = listeners(launch.observers, "warp_sync")
        self._on_block = listeners(launch.observers, "block")
        self._on_fence = listeners(launch.observers, "fence")
        self._listeners = Listeners(
            **{event: listeners(launch.observers, event) for event in ("arrive", "stall", "barrier", "exit")}
        )
        self._specials: dict[str, Value] = {}

    def run(self, first: int) -> int:
        """Run the batch whose first block has this linear index; returns lane-instructions."""
        self.geometry = replace(self.geometry, first=first)
        self._specials = special_registers(
            self.geometry,
            self.blocks,
            self.threads,
            explicit=self.launch.program.image.cluster is not None,
            sm_count=self.launch.sm_count,
            dynamic=self.launch.dynamic_shared,
            shared=self.shared.nbytes,
        )
        self.shared.clear()
        self.local.clear()
        self.cluster_barrier.clear()
        self.mbarriers.clear()
        self.copies.clear()
        self.bulk.clear()
        self.steps = 0
        for observer in self.launch.observers:
            observer.batch(self)
        exists = np.arange(self.threads) < self.launch.threads
        everyone = Box(self.blocks, self.threads, None, exists)
        order = self.launch.warp_order
        self._schedule = Schedule(everyone, self.launch.program.blocks, self._listeners, order)
        total = self._loop(self._schedule)
        for observer in self.launch.observers:
            observer.done()
        self.bulk.done()
        return total

    def _loop(self, schedule: Schedule) -> int:
        program, on_block = self.launch.program, self._on_block
        compiled: list[CompiledBlock | None] = [None] * (len(program.blocks) + 1)
        registers: list[Value] = list(program.initial)
        total, budget = 0, self.launch.budget
        endless = EndlessLoop(registers)

        def members(number: int, lanes: Lanes) -> Value:
            return self._members(registers, number, lanes)

        def awaited(number: int, lanes: Lanes) -> Value:
            return self._awaited(registers, number, lanes)

        while schedule.live is not None:
            chosen = schedule.next(members, self.alone, self.deadlock, awaited, self._events)
            if chosen is None:
                break
            number, lanes = chosen
            code = compiled[number]
            if code is None:
                if number >= len(program.blocks):  # ran off the end
                    schedule.exit(lanes)
                    continue
                code = compiled[number] = program.block(number)
            block = code.block
            length = block.stop - block.start
            self.steps += length
            total += length * lanes.count
            if self.steps > budget:
                raise self.over_budget(lanes, program.image.instructions[block.start])
            if endless.proven(number, lanes, schedule, writes := self._writes()):
                if schedule.defer(number, lanes, writes, self._events()):
                    continue
                raise self.endless(lanes, program.image.instructions[block.start])
            if on_block is not None:
                on_block(block, lanes)
            if lanes.full:
                *values, decision = code.function(self, lanes, *[registers[r] for r in code.reads])
                for register, value in zip(code.writes, values, strict=True):
                    registers[register] = value
            else:
                whole = lanes.count == schedule.live.count
                *values, decision = code.function(self, lanes, *[lanes.take(registers[r]) for r in code.reads])
                for register, value in zip(code.writes, values, strict=True):
                    registers[register] = lanes.put(registers[register], value, whole)
            END[block.end](self, schedule, block, lanes, decision)
        return total

    def _writes(self) -> int:
        """Grows with every change in memory."""
        memories = self.global_.writes + self.shared.writes + self.local.writes
        signals = self.cluster_barrier.completions + self.mbarriers.events
        return memories + self.atomics.writes + self.copies.writes + signals

    def _events(self) -> int:
        """Grows with everything that lanes may be waiting for."""
        self.cluster_barrier.settle()
        return self.cluster_barrier.completions + self.mbarriers.events + self.copies.bindings

    # Who is still there

    def live_mask(self) -> np.ndarray | None:
        """(blocks, threads) bool: the lanes that have not ended; None where all have."""
        live = self._schedule.live
        return None if live is None else live.mask

    def ended_rows(self) -> np.ndarray | None:
        """(blocks,) bool: the blocks of which all threads have ended; None where there is none."""
        live = self._schedule.live
        if live is None or live.count == self.blocks * self.launch.threads:
            return None
        return np.asarray(~live.mask.any(axis=1))

    # What the generated code calls

    def special(self, lanes: Lanes, name: str) -> Value:
        """The value of a special register."""
        if name in CLOCKS:
            return clock(name, self.steps)
        return lanes.take(self._specials[name])

    def parameter(self, lanes: Lanes, place: Place) -> Any:
        """A kernel parameter: the same for all lanes."""
        kind, offset, count = place.mode.split()
        dtype = np.dtype(kind)
        if int(offset) < 0 or int(offset) + int(count) * dtype.itemsize > len(self.launch.parameters):
            raise Error(f"`{place.instruction.text}` reads beyond the kernel's parameters")
        values = np.frombuffer(self.launch.parameters, dtype, int(count), int(offset))
        return values[0] if int(count) == 1 else tuple(values)

    def guarded(
        self, lanes: Lanes, guard: Value, method: Callable[..., Any], site: Any, olds: tuple, values: tuple
    ) -> Any:
        """``method`` for the lanes where the guard holds; the others keep the old results."""
        taken, rest = lanes.split(guard)
        if rest is None:
            return method(lanes, site, *values)
        kept = olds[0] if len(olds) == 1 else olds
        if taken is None:
            return kept
        whole = [lanes.put(value, value, True) for value in values]
        results = method(taken, site, *(taken.take(value) for value in whole))
        if not olds:
            return None
        merged = [
            lanes.take(taken.put(lanes.put(old, old, True), new, False))
            for old, new in zip(olds, results if len(olds) > 1 else (results,), strict=True)
        ]
        return merged[0] if len(merged) == 1 else tuple(merged)

    def is_space(self, lanes: Lanes, place: Place, address: Value) -> Value:
        """``isspacep``."""
        if place.mode == "cluster":
            return self.generic.space_of(address, "shared")
        found = self.generic.space_of(address, place.mode)
        if place.mode == "shared" and self.geometry.blocks_per_cluster > 1:
            return found & self.cluster.is_own(lanes, address)
        return found

    def nothing(self, lanes: Lanes, place: Place, *values: Value) -> None:
        """An instruction with no effect here."""
        if self._on_fence is not None and place.instruction.opcode in ("membar", "fence"):
            self._on_fence(place, lanes)

    def policy(self, lanes: Lanes, place: Place) -> Value:
        """A cache policy: any number does, since there is no cache."""
        return np.uint64(0)

    def printf(self, lanes: Lanes, place: Place, text: Value, arguments: Value, result: Value) -> None:
        """``vprintf``: one line a lane, in the order of the lanes."""
        for line in formatted(self, lanes, place, text, arguments, result):
            self.launch.output(line)

    def _members(self, registers: list[Value], number: int, lanes: Lanes) -> Value:
        """The mask of lanes that the warp-synchronous instruction at the start of a block names."""
        program = self.launch.program
        mask = program.image.instructions[program.blocks[number].start].operands[-1]
        if not isinstance(mask, Register | Immediate):
            return np.uint32(0xFFFFFFFF)
        return self._operand(registers, lanes, mask, "u32")

    def _awaited(self, registers: list[Value], number: int, lanes: Lanes) -> Value:
        """For which lanes has come what the instruction at the start of a block waits for."""
        program = self.launch.program
        index = program.blocks[number].start
        instruction = program.image.instructions[index]
        if instruction.guard is not None:
            guard = self._operand(registers, lanes, instruction.guard, "pred") ^ np.bool_(instruction.negated)
            asked, rest = lanes.split(guard)
            if asked is None:
                return np.bool_(True)
            if rest is not None:
                come = asked.put(np.bool_(True), self._come(registers, index, asked), False)
                return lanes.take(np.broadcast_to(come, (lanes.blocks, lanes.threads)))
        return self._come(registers, index, lanes)

    def _come(self, registers: list[Value], index: int, lanes: Lanes) -> Value:
        image = self.launch.program.image
        instruction = image.instructions[index]
        if instruction.opcode == "barrier":
            return self.cluster_barrier.awaited(lanes, instruction)
        effect = self._lowered.get(index)
        if effect is None:
            effect = self._lowered[index] = lower_wait(instruction, index, image)
        (address, _), (phase, kind) = effect.sources
        place = self._operand(registers, lanes, address, "u64")
        return self.mbarriers.awaited(lanes, effect.site, place, self._operand(registers, lanes, phase, kind))

    def _operand(self, registers: list[Value], lanes: Lanes, operand: Operand, kind: str) -> Value:
        """An operand's value before its block has begun; addresses with their offsets."""
        program = self.launch.program
        dtype = DTYPES[kind]
        if isinstance(operand, Address):
            base = operand.base
            if isinstance(base, Register):
                offset = np.uint64(operand.offset & (1 << 64) - 1)
                return self._operand(registers, lanes, base, f"u{DTYPES[base.type].itemsize * 8}").astype("u8") + offset
            at = program.image.addresses[base.name] if isinstance(base, Symbol) else 0
            return np.uint64(at + operand.offset)
        if isinstance(operand, Register):
            value = lanes.take(registers[program.registers[operand.name]])
            return value.view(dtype) if value.dtype.itemsize == dtype.itemsize else value.astype(dtype)
        return immediate(operand.value, dtype) if isinstance(operand, Immediate) else dtype.type(0)
