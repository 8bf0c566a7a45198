"""The machine: batches of blocks in lock step.

All lanes at the same block of code run together. Of several blocks of code the lowest goes first, so that lanes meet
again where the branches do. While all lanes are together (the rule) there is one block of code and nothing to choose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from softlab.emulator.host import BadLanes
from softlab.emulator.lanes import Box, Lanes, Value
from softlab.emulator.machine.batch_host import BatchHost
from softlab.emulator.machine.code import CompiledBlock
from softlab.emulator.machine.compiler import EmulatedProgram
from softlab.emulator.machine.faults import Geometry
from softlab.emulator.machine.fusing import Heat
from softlab.emulator.machine.infinite_loop import LoopDetector, Repetition
from softlab.emulator.machine.launch import Launch
from softlab.emulator.machine.looping import Turning
from softlab.emulator.machine.observers import listeners
from softlab.emulator.machine.region_runs import RegionRuns
from softlab.emulator.machine.schedule import Listeners, Schedule, Shortage
from softlab.emulator.machine.units import make_units
from softlab.emulator.machine.waiting import FirstInstructions
from softlab.emulator.memory.block_memory import SharedMemory
from softlab.emulator.memory.bulk_copies import BulkCopies
from softlab.emulator.ptx.blocks import Block
from softlab.errors import KernelFault


def run(launch: Launch, progress: Callable[[int], Any] | None = None) -> int:
    """Run the grid; returns the number of instructions times the lanes that ran them.

    ``progress`` is told how many blocks have just ended.

    Raises:
        KernelFault: the kernel did what it must not.
        UnsupportedInstruction: it reached an instruction that is not known.
    """
    size = launch.batch
    total = 0
    with np.errstate(all="ignore"):
        batch: RunningBatch | None = None
        for first in range(0, launch.blocks, size):
            count = min(size, launch.blocks - first)
            if batch is None or batch.blocks != count:
                batch = RunningBatch(launch, count)
            try:
                total += batch.run(first)
            except (BadLanes, KernelFault) as error:
                _end_batch(launch, batch, error)
                batch = None
            if progress is not None:
                progress(count)
    return total


#: A loop may go on for this part of the budget, in blocks of code, with nothing changed that decides about its end.
_SHARE_OF_BUDGET = 500


#: A block's code, and its function bound to the units of a batch.
BoundBlock = tuple[CompiledBlock, Callable[..., tuple]]


def _end_batch(launch: Launch, batch: RunningBatch, error: BadLanes | KernelFault) -> None:
    """Raise the fault that ends the run of some blocks, or keep it in a run that collects its faults."""
    if not launch.sink.collects:
        raise error
    if isinstance(error, KernelFault):
        first, count = batch.geometry.first, batch.blocks
        launch.sink.report(error.with_note(f"the run of the blocks {first} to {first + count - 1} ends here"))


class RunningBatch:
    """Some blocks of the grid that run together, with their memories and barriers.

    One object runs several batches of the same size, one after the other.
    """

    def __init__(self, launch: Launch, blocks: int) -> None:
        self.launch = launch
        self.program: EmulatedProgram = launch.program
        self.file = launch.file
        self.memory = launch.memory
        self.collects = launch.sink.collects
        self.in_turns = launch.random_order is not None
        self.compiled = launch.compiled
        self.parameters = launch.parameters
        self.blocks = blocks
        self.threads = launch.lanes
        self.geometry = Geometry(launch.grid, launch.block, 0, launch.cluster)
        self.host = BatchHost(launch, blocks, self.geometry)
        self.faults = self.host.faults
        self.units = make_units(launch, self.host, blocks, self.host.special, run)
        self.schedule: Schedule
        self.bound: list[BoundBlock | None] = [None] * len(self.program.blocks)
        #: Blocks that are compiled when they are hot, and what runs of them count towards that.
        self.warming: dict[int, Heat] = {}
        #: Blocks that may be loops by themselves. One that is not compiled yet is not among them.
        self.loops: dict[int, Turning] = {}
        events = ("arrive", "stall", "barrier", "meet", "twice", "exit", "ahead")
        self._listeners = Listeners(**{event: listeners(launch.observers, event) for event in events})

    @property
    def shared(self) -> SharedMemory:
        """The shared memory of each block."""
        return self.units.shared

    @property
    def bulk(self) -> BulkCopies:
        """The bulk copies."""
        return self.units.bulk

    def run(self, first: int) -> int:
        """Run the batch whose first block has this linear index; returns lane-instructions."""
        self.geometry = replace(self.geometry, first=first)
        exists = np.arange(self.threads) < self.launch.threads
        everyone = Box(self.blocks, self.threads, None, exists)
        self.schedule = Schedule(
            everyone,
            self.program.blocks,
            self._listeners,
            self.units.block_votes,
            self.launch.warp_order,
            random=None
            if self.launch.random_order is None
            else np.random.default_rng((self.launch.random_order, first)),
            waits_in_loops=self.program.loops.wait_for_others,
        )
        self.host.begin(self.geometry, self.schedule)
        self.units.clear()
        for observer in self.launch.observers:
            observer.batch(self)
        try:
            total = _Run(self).loop()
            for observer in self.launch.observers:
                observer.done()
            self.bulk.done()
            self.units.group_matrices.finish()
        except BaseException:
            for observer in self.launch.observers:
                observer.stopped()
            raise
        return total

    def bind(self, index: int) -> BoundBlock:
        """Compile a block and bind it to the units of this batch, when it runs first."""
        code = self.program.block(index)
        heat = code.heat if self.launch.compiled != "none" else None
        if heat is not None:
            if self.launch.compiled == "all" or self.program.heat[index] >= heat.compiles_from():
                return self._bind_fused(index, code)
            self.warming[index] = heat
        bound = self.bound[index] = code, code.bind(self.units)
        if heat is None:
            self._find_loop(index, native=False)
        return bound

    def _bind_fused(self, index: int, code: CompiledBlock) -> BoundBlock:
        bind = code.fused if self.launch.compiled == "all" else code.fused_when_hot
        bound = self.bound[index] = code, bind(self.units)
        self._find_loop(index, native=True)
        return bound

    def _find_loop(self, index: int, *, native: bool) -> None:
        loop = self.program.loop(index, native=native)
        if loop is not None:
            self.loops[index] = loop

    def warm(self, index: int, lanes: int) -> None:
        """That many lanes run a block. Once it is hot, its compiled form takes its place."""
        heat, so_far = self.warming[index], self.program.heat
        so_far[index] += heat.of(lanes)
        if so_far[index] >= heat.compiles_from():
            del self.warming[index]
            self._bind_fused(index, self.program.block(index))

    def live_mask(self) -> np.ndarray | None:
        """(blocks, threads) bool: the lanes that have not ended; None where all have."""
        return self.host.live_mask()


def _tell_turn(on_block: Any, on_edge: Any, block: Block, index: int, lanes: Lanes) -> None:
    """Tell of a further turn of a loop of one block: the edge back to it, then the block. Either may have no hearer."""
    if on_edge is not None:
        on_edge(block, index, lanes)
    if on_block is not None:
        on_block(block, lanes)


class _ToldFlow:
    """Sends lanes on as the schedule does, and tells where they go from its block."""

    def __init__(self, schedule: Schedule, block: Block, tell: Callable[[Block, int, Lanes], Any]) -> None:
        self._schedule = schedule
        self._block = block
        self._tell = tell

    def add(self, index: int, lanes: Lanes) -> None:
        """These lanes go on with the block of this index."""
        self._tell(self._block, index, lanes)
        self._schedule.add(index, lanes)

    def exit(self, lanes: Lanes) -> None:
        """These lanes have ended."""
        self._schedule.exit(lanes)

    def arrive(
        self,
        barrier: int,
        count: int | None,
        block: Block,
        lanes: Lanes,
        *,
        waits: bool,
        predicate: Value | None = None,
    ) -> None:
        """These lanes arrive at a barrier."""
        self._schedule.arrive(barrier, count, block, lanes, waits=waits, predicate=predicate)


class _Run:
    """One run of a batch: the registers, and the host of the schedule."""

    def __init__(self, batch: RunningBatch) -> None:
        self.batch = batch
        self.schedule = batch.schedule
        self.instructions = batch.program.image.instructions
        self.registers: list[Value] = list(batch.program.initial)
        first = FirstInstructions(batch.program, batch.units, self.registers)
        self.named_lanes = first.named_lanes
        self.event_occurred = first.event_occurred
        self.events = batch.units.events
        self._quiet_writes = -1
        self._quiet_turns = 0

    def without_named_lanes(self, block: Block, lanes: Lanes) -> None:
        """A fault where checks are on; a GPU's answer is arbitrary."""
        if self.batch.launch.check:
            self.batch.faults.report(self.batch.faults.missing_lanes(self.instructions[block.start], lanes))

    def same_operation(self, block: Block, other: Block) -> bool:
        """Whether the first instructions of both blocks are the same operation, such as a shuffle or a vote."""
        return self.instructions[block.start].opcode == self.instructions[other.start].opcode

    def other_mask(self, block: Block, lanes: Lanes) -> None:
        """A fault where checks are on."""
        if self.batch.launch.check:
            self.batch.faults.report(self.batch.faults.other_mask(self.instructions[block.start], lanes))

    def deadlock(self, instruction: int, lanes: Lanes, shortage: Shortage | None = None) -> Exception:
        """The fault of lanes that wait at a barrier for ever."""
        return self.batch.faults.deadlock(self.instructions[instruction], lanes, shortage)

    def loop(self) -> int:
        """Run until no lane is left; returns lane-instructions."""
        batch, host, schedule, registers = self.batch, self.batch.host, self.schedule, self.registers
        bound, warming, faults, writes_of = batch.bound, batch.warming, batch.faults, batch.units.writes
        on_block = listeners(batch.launch.observers, "block")
        on_edge = listeners(batch.launch.observers, "edge")
        total, budget = 0, batch.launch.budget
        loops = LoopDetector(registers, batch.program.loops, budget // _SHARE_OF_BUDGET)
        how, observers = batch.launch.compiled, batch.launch.observers
        regions = batch.program.regions if how != "none" else {}
        region_runs = RegionRuns(regions, observers, batch.memory, registers, schedule, how)
        while schedule.live is not None and (chosen := schedule.next(self)) is not None:
            index, lanes = chosen
            if index >= len(bound):  # ran off the end
                schedule.exit(lanes)
                continue
            if index in regions and (ran := region_runs.run(index, lanes, budget - host.steps)) is not None:
                host.steps += ran.instructions
                total += ran.lane_instructions
                continue
            if schedule.look_early(index, lanes, writes := writes_of()):
                continue
            code, function = bound[index] or batch.bind(index)
            if index in warming:
                batch.warm(index, lanes.count)
            block = code.block
            length = block.stop - block.start
            host.steps += length
            total += length * lanes.count
            if host.steps > budget:
                raise faults.over_budget(lanes, self.instructions[block.start])
            repetition = loops.repeats(index, lanes, schedule, writes)
            if repetition is not Repetition.NONE and self._waits(repetition, index, lanes, writes):
                continue
            if on_block is not None:
                on_block(block, lanes)
            flow = schedule if on_edge is None else _ToldFlow(schedule, block, on_edge)
            if index in batch.loops and schedule.runs_alone:
                most = 1 + (budget - host.steps) // length
                decision, turns = self._execute(code, partial(batch.loops[index].run, function, most), lanes)
                if batch.loops[index].steps_are_turns:
                    loops.skip(turns - 1)
                host.steps += length * (turns - 1)
                total += length * lanes.count * (turns - 1)
                for _ in range(turns - 1 if on_block or on_edge else 0):
                    _tell_turn(on_block, on_edge, block, index, lanes)
            else:
                decision = self._execute(code, function, lanes)
            code.terminator(flow, faults, block, lanes, decision)
        return total

    def _waits(self, repetition: Repetition, index: int, lanes: Lanes, writes: int) -> bool:
        """Whether lanes that repeat a loop run later, when something may have changed.

        Raises:
            KernelFault: the loop never ends, or nothing has changed for long.
        """
        if self.schedule.defer(index, lanes, writes, self.events()):
            return True
        batch = self.batch
        start = self.instructions[batch.program.blocks[index].start]
        if repetition is Repetition.CERTAIN:
            if not self._time_passes(writes):
                mbarrier = batch.program.loops.waits_for_mbarrier(index)
                missing = batch.units.mbarriers.missing() if mbarrier else ""
                raise batch.faults.infinite_loop(lanes, start, missing)
            self.schedule.look_again(index, lanes)
            return True
        if repetition is Repetition.UNCHANGED_FOR_LONG:
            raise batch.faults.unchanged_for_long(lanes, start, batch.host.steps)
        return False

    def _time_passes(self, writes: int) -> bool:
        """All lanes wait, and nothing changes: let the clock go on, more each time; False where that ends no loop."""
        if not self.batch.program.loops.time_decides:
            return False
        if writes != self._quiet_writes:
            self._quiet_writes, self._quiet_turns = writes, 0
        self._quiet_turns += 1
        return self.batch.host.pass_time(self._quiet_turns)

    def _execute(self, code: CompiledBlock, function: Callable[..., tuple], lanes: Lanes) -> Any:
        """Run a block's code; returns what its last instruction decides."""
        registers = self.registers
        if lanes.full:
            *values, decision = function(lanes, *[registers[r] for r in code.reads])
            for register, value in zip(code.writes, values, strict=True):
                registers[register] = value
            return decision
        assert self.schedule.live is not None
        whole = lanes.count == self.schedule.live.count
        *values, decision = function(lanes, *[lanes.take(registers[r]) for r in code.reads])
        for register, value in zip(code.writes, values, strict=True):
            registers[register] = lanes.put(registers[register], value, whole)
        return decision
