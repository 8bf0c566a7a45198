"""What carries out the effects of instructions, for one batch of blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.memory.atomics import Atomics
from softlab.emulator.memory.block_memory import GenericMemory, LocalMemory, SharedMemory
from softlab.emulator.memory.bulk_copies import BulkCopies
from softlab.emulator.memory.child_grids import ChildGrids
from softlab.emulator.memory.clusters import ClusterBarrier, ClusterMemory
from softlab.emulator.memory.copies import Copies
from softlab.emulator.memory.global_memory import GlobalMemory
from softlab.emulator.memory.heap import Heap
from softlab.emulator.memory.mbarriers import Mbarriers
from softlab.emulator.memory.tensor_copies import TensorCopies
from softlab.emulator.memory.textures import Textures
from softlab.emulator.opcodes.block_votes import BlockVotes
from softlab.emulator.opcodes.group_unit import GroupMatrices
from softlab.emulator.opcodes.matrix_unit import Matrices
from softlab.emulator.opcodes.warp_wide import WarpWide
from softlab.emulator.sites import InstructionSite

#: Called as listener(site, lanes) at a memory fence.
FenceListener = Callable[[InstructionSite, Lanes], Any]


@dataclass(frozen=True)
class Units:
    """The memories, barriers, copies, warp-wide instructions, votes and matrix instructions of a batch.

    ``parameters`` are the bytes of the kernel's parameters, ``special(lanes, name)`` reads a special register,
    ``output`` takes what the kernel prints, ``on_fence`` listens to memory fences, and ``on_choice`` to predicates.
    """

    global_: GlobalMemory
    shared: SharedMemory
    local: LocalMemory
    generic: GenericMemory
    cluster: ClusterMemory
    cluster_barrier: ClusterBarrier
    mbarriers: Mbarriers
    copies: Copies
    bulk: BulkCopies
    tensors: TensorCopies
    atomics: Atomics
    warps: WarpWide
    block_votes: BlockVotes
    heap: Heap
    children: ChildGrids
    textures: Textures
    matrices: Matrices
    group_matrices: GroupMatrices
    parameters: bytes
    special: Callable[[Lanes, str], Value]
    output: Callable[[str], Any]
    on_fence: FenceListener | None
    on_choice: Callable[[int, Lanes, Value], Any] | None = None

    def clear(self) -> None:
        """Make everything as it is when a batch begins; global memory stays as it is."""
        self.shared.clear()
        self.local.clear()
        self.cluster_barrier.clear()
        self.mbarriers.clear()
        self.copies.clear()
        self.bulk.clear()
        self.group_matrices.clear()

    def writes(self) -> int:
        """A number that grows with every change in memory."""
        memories = self.global_.writes + self.shared.writes + self.local.writes
        signals = self.cluster_barrier.completions + self.mbarriers.events + self.mbarriers.changes
        return (
            memories
            + self.atomics.writes
            + self.copies.writes
            + self.textures.writes
            + self.heap.changes
            + self.children.changes
            + signals
        )

    def events(self) -> int:
        """A number that grows with everything that lanes may be waiting for."""
        self.cluster_barrier.settle()
        return self.cluster_barrier.completions + self.mbarriers.events + self.copies.bindings
