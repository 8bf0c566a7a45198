"""One launch of a kernel, as a record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from softlab.emulator import INSTRUCTION_BUDGET
from softlab.emulator.lanes import WARP
from softlab.emulator.machine.compiler import EmulatedProgram
from softlab.emulator.machine.faults import Index3, SourceNames
from softlab.emulator.machine.observers import Observer
from softlab.emulator.machine.output import PrintBuffer
from softlab.emulator.memory.allocations import Allocations
from softlab.findings import FaultSink

#: Lanes of a batch: enough that NumPy's cost per call is small, few enough that a register stays in the cache.
BATCH_LANES = 16384
#: Shared and local memory of a batch.
BATCH_BYTES = 32 << 20


@dataclass(frozen=True)
class Launch:
    """One launch: the program, its grid and block, the parameter bytes, dynamic shared memory in bytes.

    ``file`` names the kernel's own source in faults. ``%smid`` is below ``sm_count``. ``output`` takes what the kernel
    prints. ``budget`` is the number of instructions that a batch may issue. ``check`` says whether it is a fault that
    lanes cannot arrive at a warp-synchronous instruction that names them. ``warp_order`` names a block's warps in the
    order in which each goes as far as it can (empty: all in lock step); ``random_order`` is the number of a random
    order of the warps of all blocks, or None. All blocks of a ``cooperative`` launch are one batch. ``grid_workspace``
    is the address of the word in which cooperative groups keep the barrier of such a grid, else 0. ``compiled``
    says which blocks of code are compiled (:mod:`softlab.emulator.machine.fusing`). ``sink`` raises or collects the
    faults. ``names`` knows the source, for the words of faults.

    A grid that device code launches is a launch of its own, ``depth`` launches deep, with the observers that
    ``child_observers`` makes. ``started`` are the symbols of the kernels that were launched so, in their order.
    """

    program: EmulatedProgram
    grid: Index3
    block: Index3
    parameters: bytes
    memory: Allocations
    dynamic_shared: int = 0
    file: str = "kernel.cu"
    sm_count: int = 132
    budget: int = INSTRUCTION_BUDGET
    warp_order: tuple[int, ...] = ()
    random_order: int | None = None
    check: bool = False
    cooperative: bool = False
    grid_workspace: int = 0
    output: Callable[[str], Any] = field(default_factory=PrintBuffer)
    observers: Sequence[Observer] = field(default=())
    compiled: Literal["none", "hot", "all"] = "none"
    sink: FaultSink = field(default_factory=FaultSink)
    names: SourceNames | None = None
    depth: int = 0
    started: list[str] = field(default_factory=list)
    child_observers: Callable[[EmulatedProgram], Sequence[Observer]] = lambda program: ()

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def cluster(self) -> Index3:
        """Blocks of a cluster along x, y and z; all 1 without clusters."""
        return self.program.image.cluster or (1, 1, 1)

    @property
    def blocks_per_cluster(self) -> int:
        """Blocks of a cluster; 1 without clusters."""
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

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
        return max(1, size // self.blocks_per_cluster) * self.blocks_per_cluster
