"""The machine: all warps of the interpreted blocks, their registers, and which lanes go on where.

Lanes of one warp that go together are a path. A divergent branch splits a path in two. Paths join where BSYNC has all
lanes that BSSY named, and at WARPSYNC; lanes that only happen to be at one instruction stay apart, as on hardware. Each
step takes the lowest instruction at which a path stands, and executes one straight run for all warps that have a path
there, one path per warp.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Hashable, Iterable, Sequence, Set
from dataclasses import dataclass, field
from math import prod
from time import perf_counter, thread_time
from typing import Any

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.errors import Error, KernelFault, UnsupportedInstruction
from softlab.sass import native_lanes, registry
from softlab.sass.barriers import BlockBarriers, ClusterBarrier, Convergence, WarpSync
from softlab.sass.decode import Code, Instruction
from softlab.sass.faults import machine_fault
from softlab.sass.form import PREDICATE, REGISTERS, SINK, Form, Named, fresh_registers, is_per_warp
from softlab.sass.homes import bring, bring_per_warp
from softlab.sass.lanes import WARP, Lanes, Value, all_true, any_true, equal, pack
from softlab.sass.log import Log
from softlab.sass.loop_blocks import swaps_what_it_read
from softlab.sass.loop_frames import Frame, Room
from softlab.sass.loops import Loops
from softlab.sass.memory import BlockMemory, Stacks
from softlab.sass.pace import Pace, cycles_of
from softlab.sass.segments import PureStep, Segment, segments, way_of
from softlab.sass.setup import Setup
from softlab.sass.specials import special
from softlab.sass.steps import Steps
from softlab.sass.taking import takers_of
from softlab.sass.turns import Turns


@dataclass
class Run:
    """A straight run of instructions, ready to execute: ``start`` and ``length`` in instructions.

    ``reads``: registers whose values it needs; ``writes``: those that it fills. ``alone``: it reads shared memory and
    swaps there what it has read, so that one warp of a block executes it at a time. Else they would all make each other
    try again, which warps that are not in step do not. ``cycles``: what it takes, roughly. ``constants``: what its
    instructions read of them.
    """

    start: int
    length: int
    steps: list[registry.Action] = field(default_factory=list)
    reads: tuple[int, ...] = ()
    writes: frozenset[int] = frozenset()
    alone: bool = False
    cycles: float = 0.0
    ready: Callable[[list], np.ndarray] | None = None
    constants: tuple[tuple[Instruction, tuple[Named, ...]], ...] = ()


@dataclass(frozen=True)
class Made:
    """One instruction, ready to execute: its step, the registers that this reads and writes, whether it ends a run, and
    which lanes need not wait for an event (None where it waits for none). ``pure``: for compiling it together with
    others, None where that cannot be."""

    step: registry.Action
    reads: Set[int] = frozenset()
    writes: Set[int] = frozenset()
    ends: bool = False
    ready: Callable[[list], np.ndarray] | None = None
    pure: PureStep | None = None


class Machine:
    """A code, ready to execute, and the state of the interpreted blocks of one launch at a time.

    ``now``: the lanes that execute, and ``current`` the instruction; opcodes read both. ``live``: (warps,) uint32, the
    lanes that have not ended. ``held``: those that execute and for which the guard of the instruction holds; None where
    it has none. ``changes``: how often a memory changed, or lanes ended. ``specials``: what special registers hold in
    all warps, of those that were read. The steps of opcodes are made once for all launches: what they need of a launch,
    they ask the machine for when they are executed.
    """

    def __init__(self, code: Code, steps: Steps) -> None:
        self.code = code
        self._steps = steps
        self._heads = _heads(code)
        #: The atomics by which loops take work.
        self.takers = takers_of(code)
        #: Of all launches the runs, and of which steps they were made; the constants of the run that is being made.
        self._made_runs: dict[int, Run] = {}
        self._made_of: tuple[str, int] | None = None
        self._loops = Loops(code, self._heads, steps, "none", self.takers)
        self._rooms: dict[int, Room] = {}
        self._named: list[tuple[Instruction, tuple[Named, ...]]] = []

    def begin(self, setup: Setup, *, paced: bool = False, loops: bool = True) -> None:
        """A launch: nothing has been executed yet. loops: whether compiled ones are used."""
        self.setup = setup
        #: Who goes on next where time decides, else None.
        self.pace = Pace(setup.warps) if paced else None
        self.live = setup.masks.copy()
        self.log = Log(setup)
        self.convergence = Convergence(self)
        self.warp_sync = WarpSync(self)
        self.barriers = BlockBarriers(self)
        self.cluster = ClusterBarrier(self)
        self.shared = BlockMemory(setup.blocks, setup.shared_allocated, "shared-out-of-bounds")
        threads = setup.warps * WARP
        self.local = (
            Stacks(threads, setup.local_bytes)
            if setup.recursive
            else BlockMemory(threads, setup.local_bytes, "local-out-of-bounds")
        )
        self._all: list[Any] = list(_FRESH)
        #: What stands behind the registers, whichever lanes execute.
        self._shared_by_all: list[Any] = [{}, setup.constants]
        self._none = [*[None] * SINK, self._all[SINK]]
        self._all += self._shared_by_all
        self._choice = compiled_blocks()
        self._keep_runs()
        self._waiting: dict[int, list[Lanes]] = {}
        self._runs: dict[int, Run] = {}
        self.specials: dict[str, Value] = {}
        self.held: np.ndarray | None = None
        self.now = Lanes(np.arange(len(self.live)), self.live.copy(), self.live)
        self._own: list[Value] = self._all
        self._dirty: set[int] = set()
        self._taken: set[int] = set()  # the runs whose registers the executing lanes have
        self._begin_counts()
        self._asleep: list[tuple[int, Lanes]] = []  # they wait for an mbarrier
        self._slept_at = self._roused_at = -1
        self._late = False
        self._turns = Turns(self)
        self._frame, self._enters = Frame(self, self._rooms), loops and not paced

    def _begin_counts(self) -> None:
        """Nothing has been executed, and all blocks are there."""
        self.offset = self.pc = self.issued = self.changes = 0
        #: The blocks that were given up: (blocks,) bool.
        self.left_out = np.zeros(self.setup.blocks, bool)
        #: Once more instructions are issued, the log stops.
        self.unlogged = _NEVER

    def _keep_runs(self) -> None:
        """Runs of former launches are used again, if they would be made of the same steps."""
        made_of = self._choice, self._steps.untraced
        if made_of != self._made_of:
            self._made_of, self._made_runs = made_of, {}
            if self._choice != self._loops.choice:
                self._loops = Loops(self.code, self._heads, self._steps, self._choice, self.takers)

    def end(self) -> None:
        """The launch is done: let go of what it held."""
        del self.setup, self.log, self.shared, self.local, self.specials, self._all, self._own, self._none
        del self._shared_by_all, self.convergence, self.warp_sync, self.barriers, self.cluster, self._turns, self.now
        del self._frame

    # Paths

    def push(self, pc: int, lanes: Lanes) -> None:
        """These lanes go on at this instruction."""
        self._waiting.setdefault(pc, []).append(lanes)

    def lanes(self, warps: np.ndarray, masks: np.ndarray) -> Lanes:
        """A set of lanes of this machine; warps without a lane are left out."""
        some = masks != 0
        if not all_true(some):
            warps, masks = warps[some], masks[some]
        return Lanes(warps, masks, self.live)

    def met(self, blocks: np.ndarray) -> None:
        """The warps of these blocks, (blocks,) bool, have met at a barrier."""
        if self.pace is not None:
            self.pace.meet(np.arange(self.setup.warps).reshape(self.setup.blocks, -1)[blocks])

    def branch(self, taken: Value, target: int, other: int) -> None:
        """The lanes where ``taken`` holds go to ``target``, those where it does not to ``other``."""
        if not isinstance(taken, np.ndarray):
            self.push(target if taken else other, self.now)
            return
        self.branch_of(self.now.truth(taken), target, other)

    def branch_of(self, masks: np.ndarray, target: int, other: int) -> None:
        """The executing lanes that the masks name go to ``target``, those others to ``other``."""
        now = self.now
        if equal(masks, now.masks):
            self.push(target, now)
        elif not any_true(masks):
            self.push(other, now)
        else:
            inside, outside = self._parted(masks)
            self.push(target, inside)
            self.push(other, outside)

    def part(self, predicate: Value) -> tuple[Lanes | None, Lanes | None]:
        """The executing lanes where the predicate holds, and the others; None for none."""
        masks = self.now.truth(predicate)
        if equal(masks, self.now.masks):
            return self.now, None
        if not any_true(masks):
            return None, self.now
        return self._parted(masks)

    def _parted(self, masks: np.ndarray) -> tuple[Lanes, Lanes]:
        """The executing lanes that the masks name, and the others: there are some of both."""
        warps, all_masks = self.now.warps, self.now.masks
        found = native_lanes.parted(warps, all_masks, masks)
        if found is None:
            return self.lanes(warps, masks), self.lanes(warps, all_masks & ~masks)
        return Lanes(*found[:2], self.live), Lanes(*found[2:], self.live)

    def finish(self, lanes: Lanes) -> None:
        """These lanes end."""
        self.live[lanes.warps] &= ~lanes.masks
        self.changes += 1
        self.convergence.check(lanes.warps)
        self.warp_sync.check(lanes.warps)
        self.barriers.check()
        self.cluster.check()

    # What compiled loops ask for (:mod:`softlab.sass.loops`)

    @property
    def registers(self) -> list[Value]:
        """The registers of all warps, and what stands behind them. :meth:`sync` brings them up to date."""
        return self._all

    def waiting_in(self, starts: Container[int]) -> list[tuple[int, list[Lanes]]]:
        """The paths that stand at these instructions, by instruction; they do not any more."""
        return [(pc, self._waiting.pop(pc)) for pc in tuple(self._waiting) if pc in starts]

    def lowest(self) -> int:
        """The lowest instruction at which a path stands; the end of the code where none stands anywhere."""
        return min(self._waiting, default=len(self.code.instructions))

    def run_at(self, pc: int) -> Run:
        """The run that begins at ``pc``, for this launch."""
        run = self._runs.get(pc)
        if run is None:
            run = self._runs[pc] = self._run_at(pc)
        return run

    def constant(self, constant: Named) -> Value:
        """A constant that a run of this launch names."""
        return self._all[self._steps.slots.of(constant)]

    def special(self, name: str) -> Value | None:
        """What a special register holds in all warps (:mod:`softlab.sass.specials`)."""
        if name not in self.specials:
            self.specials[name] = special(name, self.setup)
        return self.specials[name]

    # Execution

    def run(
        self, progress: Callable[[int], None] | None = None, patience: int | None = None, logged: int | None = None,
        spare: Collection[int] = (),
    ) -> None:  # fmt: skip
        """Execute until all lanes have ended.

        Arguments:
            progress: it is told now and then how many blocks more have ended.
            patience: instructions that may be issued while no memory changes and no lane ends: where blocks look for
                what others write, nobody will write it any more. None: any number.
            logged: once more instructions than these are issued, only their number is kept of each warp. None: never.
            spare: linear indices of blocks that are given up then (:attr:`left_out`), unless blocks have done more than
                others, or a lane of these waits.

        Raises:
            KernelFault: an access outside the arrays, or a launch that does not end.
            UnsupportedInstruction: an instruction that is not known.
        """
        self.unlogged = _NEVER if logged is None else logged
        self.push(0, self.now)
        ended, runs, last = 0, 0, (0, 0)  # changes, and what was issued until then
        with np.errstate(all="ignore"):
            while self._waiting or self._wake() or self._waits():
                runs += self._go_on(_RUNS - runs % _RUNS)
                self._look_at_counts(spare)
                if not runs % _RUNS:
                    if self.changes != last[0]:
                        last = self.changes, self.issued
                    if patience is not None and self.issued - last[1] > patience:
                        raise self._infinite_loop(f"have stored nothing for {patience} instructions")
                    if self.pace is not None and self.pace.never_ends:
                        raise self._infinite_loop("have taken more than 50 ms of a GPU and have not ended", _LONG)
                    if progress is not None:
                        before, ended = ended, self._ended_blocks
                        progress(ended - before)

    def _go_on(self, most: int) -> int:
        """Execute a run, or at most ``most`` of a compiled loop; returns their number."""
        pc = self._turns.choose(self._waiting)
        done = self._enter_loop(pc, most) if self._enters else 0
        if not done:
            start = thread_time()
            self._execute(pc if self.pace is None else self.pace.choose(self._waiting))
            if self._enters:
                self._loops.count(pc, self.now.count, thread_time() - start)
        return done or 1

    def _look_at_counts(self, spare: Collection[int]) -> None:
        """What is to be done where many instructions have been issued, or all paths only look."""
        if self.issued > self.unlogged:
            self.log.stop()
            self.unlogged = _NEVER
            self._leave_out(np.isin(self.setup.interpreted, sorted(spare)))
        if self.issued > self.setup.budget:
            raise self._infinite_loop(f"issued {self.setup.budget} instructions and have not ended", _LONG)
        if self._turns.stuck:
            self._give_way()

    def _leave_out(self, spare: np.ndarray) -> None:
        """Give up these blocks, (blocks,) bool, if all blocks have done as much and none of their lanes waits."""
        done, warps = self.log.executed().reshape(self.setup.blocks, -1).sum(axis=1), spare[self.setup.row_of_block]
        standing = [lanes.masks[warps[lanes.warps]] for sets in self._waiting.values() for lanes in sets]
        lanes = sum(int(np.bitwise_count(masks).sum()) for masks in standing)
        if done.std() > _SPREAD * done.mean() or lanes != np.bitwise_count(self.live[warps]).sum():
            return
        for pc, sets in tuple(self._waiting.items()):
            kept = [(one.warps, one.masks, ~warps[one.warps]) for one in sets]
            self._waiting[pc] = [self.lanes(all_[here], masks[here]) for all_, masks, here in kept if any_true(here)]
            if not self._waiting[pc]:
                del self._waiting[pc]
        self.live[warps] = 0
        self.left_out = spare

    def _enter_loop(self, pc: int, most: int) -> int:
        """Execute at most ``most`` runs of the compiled loop in which ``pc`` lies; returns their number."""
        loop = self._loops.at.get(pc)
        if loop is None or not loop.pays or not self._turns.lowest:
            return 0
        done = self._frame.run(loop, min(most, self._turns.ahead + 1))
        if done:
            self._turns.chose(done - 1)
        return done

    @property
    def _ended_blocks(self) -> int:
        """Blocks of which no lane lives."""
        return self.setup.blocks - int(self.live.reshape(self.setup.blocks, -1).any(axis=1).sum())

    def _waits(self) -> bool:
        if not self.live.any():
            return False
        stuck = [part for part in (self.barriers, self.cluster, self.warp_sync, self.convergence) if part.waits]
        pc, warp, lane = stuck[0].first
        raise machine_fault(
            "barrier-divergence",
            f"the thread waits for ever at {stuck[0].waits}: other threads never come there. Move it out of the "
            "branch, so that all threads come to it",
            self.code.instructions[pc],
            self.setup.place_of(warp, lane),
        )

    def _give_way(self) -> None:
        """All paths look for what none of them does: lanes that sleep may, or those that wait for them at BSYNC."""
        if self._asleep and self._roused_at != self.changes:
            self._roused_at = self.changes
            self._wake()
            self._turns.go_on()
            return
        yields = any(instruction.opcode == "YIELD" for instruction in self.code.instructions)
        if not (yields and self.convergence.give_way()):
            raise self._infinite_loop("wait for what none of them does")
        self.changes += 1
        self._turns.go_on()

    def _infinite_loop(self, what: str, further: str = "") -> KernelFault:
        instruction, setup = self.code.instructions[self.pc], self.setup
        advice = "Check what should end the loop"
        advice += f". {further}" if further else ""
        if setup.blocks < prod(setup.grid):
            advice += ". A block that waits for one that is not interpreted never ends"
        return machine_fault("infinite-loop", f"the interpreted blocks {what}. {advice}", instruction)

    def state_of(self, paths: Iterable[tuple[int, Lanes]]) -> int:
        """A hash of the instructions at which paths stand, and of what their registers hold."""
        self.sync()
        found: list[Hashable] = []
        for pc, lanes in paths:
            found += (pc, lanes.warps.tobytes(), lanes.masks.tobytes())
            # Most registers hold what they held at first, which all lanes share.
            found += [
                (number, lanes.state(value))
                for number, (value, first) in enumerate(zip(self._all, _FRESH, strict=False))
                if value is not first and (isinstance(value, np.ndarray) or value != first)
            ]
        return hash(tuple(found))

    def _execute(self, pc: int) -> None:
        run = self.run_at(pc)
        sets = self._waiting.pop(pc)
        chosen = sets[0] if len(sets) == 1 else self._choose(pc, sets)
        if run.alone:
            chosen = self._one_of_each_block(chosen, pc)
        if self.pace is not None:
            chosen = self._of_these(chosen, self.pace.first(chosen), pc)
            self.pace.take(chosen, run.cycles)
        if chosen is not self.now:
            if chosen.same(self.now):
                chosen = self.now  # the values that it holds have its shape
            else:
                self._enter(chosen)
        self.pc = pc
        own = self._own
        if own is not self._all and pc not in self._taken:
            every, take = self._all, chosen.take
            for number in run.reads:
                if own[number] is None:
                    own[number] = take(every[number])
            self._dirty |= run.writes
            self._taken.add(pc)
        if run.ready is not None and not self._pass(run.ready(own), pc):
            return
        self.log.run(chosen, run.start, run.length)
        self.issued += run.length * chosen.count
        for step in run.steps:
            step(own)

    def _pass(self, ready: np.ndarray, pc: int) -> bool:
        """Whether all executing lanes may pass the instruction at ``pc``; if not, those that may come back to it."""
        now = self.now
        masks = pack(ready) & now.masks
        if equal(masks, now.masks) or self._late:
            return True
        self._asleep.append((pc, self.lanes(now.warps, now.masks & ~masks)))
        if any_true(masks):
            self.push(pc, self.lanes(now.warps, masks))
        return False

    def quiet(self, function: Callable[[], np.ndarray]) -> np.ndarray:
        """What a function gives that touches memory, without a request in the log."""
        self.log.silent = True
        try:
            return function()
        finally:
            self.log.silent = False

    def _wake(self) -> bool:
        """Let the lanes that sleep look again, once all others have stopped; whether there are any."""
        if not self._asleep:
            return False
        # Nothing has happened since they looked: hardware wakes them after some time, without the event.
        self._late = self.issued == self._slept_at
        self._slept_at = self.issued
        if self._late:
            self._turns.note_all(self._asleep)
        for pc, lanes in self._asleep:
            self.push(pc, lanes)
        self._asleep = []
        return True

    def end_phase(self, row: int) -> None:
        """A phase of an mbarrier of this block has ended: by time, those of the block who sleep look again now."""
        if self.pace is None:
            return
        asleep, self._asleep = self._asleep, []
        for pc, lanes in asleep:
            here = self.setup.row_of_block[lanes.warps] == row
            if any_true(here):
                roused = self.lanes(lanes.warps[here], lanes.masks[here])
                self.pace.rouse(roused, self.now)
                self.push(pc, roused)
            if not all_true(here):
                self._asleep.append((pc, self.lanes(lanes.warps[~here], lanes.masks[~here])))

    def _choose(self, pc: int, sets: Sequence[Lanes]) -> Lanes:
        """The lanes that execute at ``pc``, of these sets: of each warp that has a path there, one path."""
        warps = np.concatenate([s.warps for s in sets])
        masks = np.concatenate([s.masks for s in sets])
        order = np.argsort(warps, kind="stable")
        warps, masks = warps[order], masks[order]
        first = np.concatenate(([True], warps[1:] != warps[:-1]))
        if not all_true(first):
            left, left_masks = warps[~first], masks[~first]
            while len(left):
                one = np.concatenate(([True], left[1:] != left[:-1]))
                self.push(pc, Lanes(left[one], left_masks[one], self.live))
                left, left_masks = left[~one], left_masks[~one]
        return Lanes(warps[first], masks[first], self.live)

    def _one_of_each_block(self, lanes: Lanes, pc: int) -> Lanes:
        """The first warp of each block; the others will come back to ``pc``."""
        blocks = self.setup.row_of_block[lanes.warps]
        first = np.concatenate(([True], blocks[1:] != blocks[:-1]))
        return self._of_these(lanes, first, pc)

    def _of_these(self, lanes: Lanes, wanted: np.ndarray, pc: int) -> Lanes:
        """The lanes of the warps that are ``wanted``; the others wait at ``pc``."""
        if all_true(wanted):
            return lanes
        self.push(pc, self.lanes(lanes.warps[~wanted], lanes.masks[~wanted]))
        return self.lanes(lanes.warps[wanted], lanes.masks[wanted])

    def _enter(self, lanes: Lanes) -> None:
        """Make these lanes the executing ones: bring the registers of the others home."""
        if self._own is not self._all:
            self._bring_home()
            self._dirty = set()
        self.now, self._taken = lanes, set()
        self._own = self._all if lanes.full else self._no_registers()

    def _no_registers(self) -> list[Value]:
        """The registers of lanes that have read none yet."""
        return self._none + self._shared_by_all

    def sync(self) -> None:
        """Write what the executing lanes changed to the registers of all."""
        if self._own is self._all:
            return
        self._bring_home()
        self._dirty, self._taken = set(), set()
        self._own = self._no_registers()

    def _bring_home(self) -> None:
        """Write what the executing lanes changed to the registers of all."""
        now, own, home = self.now, self._own, self._all
        for number in self._dirty:
            value = own[number]
            if number == SINK or value is None:
                continue
            if _PER_WARP[number]:
                bring_per_warp(now, home, number, value)
            else:
                bring(now, home, number, value, self._choice)

    # Steps

    def _run_at(self, pc: int) -> Run:
        """The run that begins at ``pc``, for this launch."""
        run = self._made_runs.get(pc)
        if run is None:
            run = self._made_runs[pc] = self._compile(pc)
        else:
            for instruction, constants in run.constants:
                self._read(instruction, constants)
        return run

    def _compile(self, pc: int) -> Run:
        self._named = []
        found: list[Made] = []
        index, instructions = pc, self.code.instructions
        while True:
            made = self._made(instructions[index], index - pc)
            if made.ready is not None and found:
                break
            found.append(made)
            index += 1
            if made.ends or index >= len(instructions) or index in self._heads:
                break
        steps = self._joined(found)
        if not found[-1].ends:
            steps.append(self._fall_to(index))
        # Also what an earlier instruction of the run writes: harmless, and it need not be told apart.
        reads, writes = (frozenset[int]().union(*(of(made) for made in found)) for of in (_reads, _writes))
        done = instructions[pc:index]
        needs, fills = tuple(sorted(reads - {SINK})), writes - {SINK}
        return Run(
            pc, index - pc, steps, needs, fills, swaps_what_it_read(done), cycles_of(done), found[0].ready,
            tuple(self._named),
        )  # fmt: skip

    def _joined(self, found: Sequence[Made]) -> list[registry.Action]:
        """The steps of a run; neighbouring ones that can be compiled together are one."""
        steps = [made.step for made in found]
        if self._choice != "none":
            for first, end in reversed(segments([made.pure for made in found])):
                pure = [made.pure for made in found[first:end] if made.pure is not None]
                segment = self._steps.segment(pure, self._choice)
                if segment.usable:
                    steps[first:end] = [self._together(segment, steps[first:end], first)]
        return steps

    def _together(self, segment: Segment, steps: Sequence[registry.Action], offset: int) -> registry.Action:
        """The steps of a segment, which begins at this instruction of the run."""

        ways, inputs = segment.ways, segment.inputs

        def step(r: list) -> None:
            way = way_of(r, inputs)
            compiled = ways.get(way)
            if compiled is None:
                start = perf_counter()
                for one in steps:
                    one(r)
                if segment.usable:
                    segment.take(way, perf_counter() - start, r, self._choice)
                return
            guards = compiled.guards
            if not guards:
                compiled.run(r)
                return
            before = [r[guard] if number < 0 and type(guard) is int else guard for _, number, guard in guards]
            results = compiled.run(r)
            for (at, number, _), guard in zip(guards, before, strict=True):
                self.log.guard(offset + at, self.now.truth(guard if number < 0 else results[number]))

        return step

    def _made(self, instruction: Instruction, offset: int) -> Made:
        """An instruction, ready to execute; ``offset``: of the run."""
        opcode = registry.find(instruction.opcode)
        if opcode is None:
            return Made(_raising(instruction.unsupported()), ends=True)
        if opcode.kind == "pure":
            return self._made_pure(opcode, instruction, offset)
        form = Form(instruction, self._steps.slots)
        waiting = self._waiting_step(form)
        if waiting is None:
            step, ends = self._step(opcode, form, offset)
            self._know(instruction, form.constants)
            return Made(step, form.reads, form.writes, ends)
        step = self._at(waiting, 0) if form.guard is None else self._noted(waiting, form.guard, 0)
        self._know(instruction, form.constants)
        return Made(step, form.reads, form.writes, False, waiting.ready)  # type: ignore[attr-defined]

    def _made_pure(self, opcode: registry.Opcode, instruction: Instruction, offset: int) -> Made:
        try:
            found = self._steps.pure(opcode, instruction, self._choice)
        except NotImplementedError as error:
            return Made(_raising(instruction.unsupported(str(error))), ends=True)
        self._know(instruction, found.constants)
        pure = found if self._steps.traced(instruction) else None
        if found.guard is None:
            return Made(found.action, found.reads, found.writes, pure=pure)
        step = self._guarded(found.action, found.guard, tuple(sorted(found.writes)), offset)
        return Made(step, found.reads | found.writes, found.writes, pure=pure)

    def _know(self, instruction: Instruction, constants: Iterable[Named]) -> None:
        """Note the constants that an instruction of the run names, and read them."""
        named = tuple(constants)
        if named:
            self._named.append((instruction, named))
        self._read(instruction, named)

    def _read(self, instruction: Instruction, constants: Iterable[Named]) -> None:
        """Put the constants that an instruction names behind the registers."""
        slots = self._steps.slots
        missing = slots.end - len(self._all)
        if missing > 0:
            every = (self._all, self._shared_by_all, *(() if self._own is self._all else (self._own,)))
            for one in every:
                one.extend([None] * missing)
        for constant in constants:
            slot = slots.of(constant)
            if self._all[slot] is None:
                value = self.setup.constants.read(instruction, *constant)
                self._all[slot] = self._own[slot] = self._shared_by_all[slot - REGISTERS] = value

    def _waiting_step(self, form: Form) -> registry.Action | None:
        """The step of an instruction that waits for an event; None for others."""
        found = registry.find_gate(form.instruction.opcode)
        try:
            return None if found is None else found(form, self)
        except NotImplementedError:
            return None  # refused where it is executed

    def _fall_to(self, index: int) -> registry.Action:
        def step(r: list) -> None:
            self.push(index, self.now)

        return step

    def _step(self, opcode: registry.Opcode, form: Form, offset: int) -> tuple[registry.Action, bool]:
        """The step of an opcode that is not pure, and whether it ends a run."""
        try:
            step, guard = opcode.function(form, self), form.guard
        except NotImplementedError as error:
            return _raising(form.instruction.unsupported(str(error))), True
        if guard is None:
            return self._at(step, offset), opcode.kind == "end"
        return self._noted(step, guard, offset), opcode.kind == "end"

    def _at(self, step: registry.Action, offset: int) -> registry.Action:
        def at(r: list) -> None:
            self.offset = offset
            step(r)

        return at

    def _noted(self, step: registry.Action, guard: Callable, offset: int) -> registry.Action:
        """A step that does its guard itself."""

        def noted(r: list) -> None:
            self.offset = offset
            self.held = self.now.truth(guard(r))
            self.log.guard(offset, self.held)
            step(r)
            self.held = None

        return noted

    def _guarded(self, step: registry.Action, guard: Callable, writes: tuple[int, ...], offset: int) -> registry.Action:
        """A pure step whose results are kept where the guard does not hold."""

        def guarded(r: list) -> None:
            g = guard(r)
            if not isinstance(g, np.ndarray):
                if g:
                    step(r)
                else:
                    self.log.guard(offset, np.zeros_like(self.now.masks))
                return
            masks = self.now.truth(g)
            self.log.guard(offset, masks)
            if not any_true(masks):
                return
            before = [r[k] for k in writes]
            step(r)
            if not equal(masks, self.now.masks):
                for k, old in zip(writes, before, strict=True):
                    r[k] = np.where(g, r[k], old)

        return guarded


#: After this number of runs whoever waits for the interpretation is told how far it is, and patience may end.
_RUNS = 256
#: Blocks differ where the standard deviation of what they have executed is above this share of the mean.
_SPREAD = 0.02
#: More instructions than are ever issued.
_NEVER = 1 << 62
#: What else to do about a launch that executes more than is interpreted.
_LONG = "If it is right and only long, a launch with less work has an estimate"
_FRESH = fresh_registers()
_PER_WARP = [is_per_warp(number) for number in range(REGISTERS)]


def _reads(made: Made) -> Set[int]:
    return made.reads


def _writes(made: Made) -> Set[int]:
    return made.writes


def _raising(error: UnsupportedInstruction) -> registry.Action:
    def step(r: list) -> None:
        raise error

    return step


def _heads(code: Code) -> frozenset[int]:
    """Instructions where a straight run begins, since other lanes may come there."""
    heads: set[int] = set()
    for instruction in code.instructions:
        heads.update(instruction.targets)
    return frozenset(heads)


__all__ = ["PREDICATE", "WARP", "Error", "Machine", "Run"]
