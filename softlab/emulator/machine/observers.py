"""The protocol by which instruments watch a run. Opcodes and memory know nothing of what is counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from softlab.emulator.host import FaultReporter
from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.machine.compiler import EmulatedProgram
from softlab.emulator.machine.faults import Geometry
from softlab.emulator.machine.loop_records import LoopCode, LoopRun, WantedRows
from softlab.emulator.memory.allocations import Allocations
from softlab.emulator.memory.block_memory import SharedMemory
from softlab.emulator.memory.bulk_copies import BulkCopies
from softlab.emulator.memory.copies import Copy
from softlab.emulator.ptx.blocks import Block
from softlab.emulator.sites import InstructionSite, Site


class Batch(Protocol):
    """What an observer may ask of the batch of blocks that runs."""

    @property
    def program(self) -> EmulatedProgram:
        """The kernel."""

    @property
    def file(self) -> str:
        """The name of the kernel's own source file."""

    @property
    def collects(self) -> bool:
        """Whether faults are kept while the run goes on."""

    @property
    def compiled(self) -> str:
        """Which blocks of code the run compiles: "none", "hot" ones or "all"."""

    @property
    def in_turns(self) -> bool:
        """Whether warps take turns in a random order."""

    @property
    def memory(self) -> Allocations:
        """The arrays and variables of the launch."""

    @property
    def parameters(self) -> bytes:
        """The bytes of the launch's parameters."""

    @property
    def blocks(self) -> int:
        """Blocks of the batch: the rows of its values."""

    @property
    def threads(self) -> int:
        """Threads per block, padded to whole warps: the columns of its values."""

    @property
    def geometry(self) -> Geometry:
        """Where the batch's lanes are in the grid."""

    @property
    def faults(self) -> FaultReporter:
        """Makes the errors."""

    def live_mask(self) -> np.ndarray | None:
        """(blocks, threads) bool: the lanes that have not ended; None where all have."""

    @property
    def shared(self) -> SharedMemory:
        """The shared memory of each block."""

    @property
    def bulk(self) -> BulkCopies:
        """The bulk copies."""


class Observer:
    """Override the events that you need; an event that is not overridden costs nothing."""

    def batch(self, batch: Batch) -> None:
        """A batch of blocks is about to run."""

    def block(self, block: Block, lanes: Lanes) -> None:
        """A basic block is about to run for these lanes."""

    def takes_loop(self, loop: LoopCode) -> bool:
        """Whether :meth:`loop` may tell of this loop, instead of events for each of its steps.

        So it is for an observer that hears of neither blocks, edges nor global accesses.
        """
        events = ("block", "edge", "global_access", "choice")
        return all(getattr(type(self), event) is getattr(Observer, event) for event in events)

    def loop_widths(self, loads: Sequence[Site]) -> Sequence[int] | None:
        """The bytes per lane that each load has for this observer, 0 where it has none; None: as they stand."""
        return None

    def loop_rows(self) -> WantedRows | None:
        """Which accesses of a loop are recorded; None for none."""
        return None

    def loop(self, run: LoopRun) -> None:
        """Lanes have run a loop, or a part of it."""

    def edge(self, block: Block, target: int, lanes: Lanes) -> None:
        """These lanes go on from this basic block with the block of index ``target``; barriers and exits apart."""

    def global_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """A checked access to global or constant memory; ``address`` is a value of the set, offset included.

        ``values`` is what is stored, empty for loads and atomics. Of a ``cp.async`` with a source size, it is the bytes
        that each lane reads. The memory still has its old contents.
        """

    def shared_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """A checked access to shared memory: ``address`` is a byte offset there, ``values`` is what is stored."""

    def local_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """A checked access to the stack of each thread: ``address`` is a byte offset, ``values`` what is stored."""

    def choice(self, index: int, lanes: Lanes, value: Value) -> None:
        """The guard of instruction ``index``, or the predicate of a ``selp``: of those that ``tracked.probes`` has."""

    def shuffle(
        self, site: InstructionSite, lanes: Lanes, source: np.ndarray, given: np.ndarray, received: np.ndarray
    ) -> None:
        """A warp shuffle; the arrays are spread over whole warps, (rows or 1, warps, 32)."""

    def warp_sync(self, site: InstructionSite, lanes: Lanes, members: Value) -> None:
        """These lanes execute a warp-synchronous instruction together; ``members`` is the mask that each one names."""

    def arrive(self, barrier: int, block: Block, lanes: Lanes, count: int | None) -> None:
        """These lanes wait at the barrier of this number, which ends this basic block, for others of their block.

        ``count`` is the number of threads that the barrier is for, None for all of the block.
        """

    def ahead(self, barrier: int, lanes: Lanes, block: Block | None) -> None:
        """These lanes arrive at the barrier of this number and go on without waiting (``bar.arrive``).

        The instruction ends this basic block. None: others pass the barrier, at which these lanes have arrived before;
        :meth:`barrier` says so next.
        """

    def twice(self, barrier: int, block: Block, lanes: Lanes) -> None:
        """These lanes come to a barrier at which they have arrived already; it ends this basic block."""

    def stall(self, block: Block, lanes: Lanes) -> None:
        """These lanes wait at the warp-synchronous instruction that begins this block, for others that they name."""

    def barrier(self, lanes: Lanes, instructions: Sequence[int], ahead: Lanes | None = None) -> None:
        """These lanes pass a barrier of their blocks together.

        ``instructions`` are the indices of the instructions at which they arrived: one, unless the code is divergent.
        ``ahead``: those of the lanes that had arrived and gone on (``bar.arrive``), so that they waited for nobody.
        """

    def meet(self, barrier: int, arrivals: Sequence[tuple[int, int | None, Lanes]]) -> None:
        """Lanes pass the barrier of this number from several instructions, in the order of their arrival.

        Each arrival is (index of the instruction, thread count or None for all of the block, lanes).
        """

    def cluster_access(
        self, site: Site, lanes: Lanes, owner: np.ndarray, address: Value, values: tuple[Value, ...]
    ) -> None:
        """A checked access to shared memory by addresses that ``mapa`` made.

        ``owner`` is the row of the batch that each lane reaches into, ``address`` the byte offset there, ``values``
        what is stored.
        """

    def cluster_complete(self, rows: np.ndarray, released: np.ndarray) -> None:
        """All threads of the clusters of these blocks have arrived at its barrier.

        ``rows`` (blocks,) bool; ``released`` (blocks,) bool: whether any of the cluster arrived with release semantics.
        """

    def cluster_wait(self, site: InstructionSite, lanes: Lanes) -> None:
        """These lanes pass the barrier of their cluster."""

    def mbarrier(
        self, site: Site, lanes: Lanes, owner: np.ndarray, offset: np.ndarray, action: str, phase: np.ndarray
    ) -> None:
        """These lanes use an mbarrier of the blocks in the rows ``owner`` at ``offset``, (lanes,) each.

        ``action``: "init", "arrive", "expect", "invalidate", or "wait" where the phase that they ask for is over.
        ``phase`` broadcasts against the lanes' extent: the phase in which each arrives, or for which it has waited;
        else 0.
        """

    def copy_begins(self, copy: Copy, lanes: Lanes) -> None:
        """These lanes (or some of them: ``copy.lane``) issue asynchronous copies."""

    def copy_ends(self, copy: Copy) -> None:
        """These copies have ended; ``copy.bound`` is the mbarrier that tells of it, None where their threads know."""

    def copy_written(self, copy: Copy) -> None:
        """This copy's thread has waited until it has written to global memory. With ``.read`` it ends before."""

    def done(self) -> None:
        """All blocks of the batch have ended."""

    def stopped(self) -> None:
        """A fault or an interrupt has ended the launch within the batch: nothing more is told."""

    def fence(self, site: InstructionSite, lanes: Lanes) -> None:
        """These lanes execute a memory fence."""

    def exit(self, lanes: Lanes) -> None:
        """These lanes are done while others of the batch are not."""


def listeners(observers: Sequence[Observer], event: str) -> Callable[..., Any] | None:
    """One callable that tells all observers that override ``event``; None where there are none."""
    heard = [getattr(o, event) for o in observers if getattr(type(o), event) is not getattr(Observer, event)]
    if not heard:
        return None
    if len(heard) == 1:
        return heard[0]

    def tell(*arguments: Any) -> None:
        for hear in heard:
            hear(*arguments)

    return tell
