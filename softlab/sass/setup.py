"""One launch, as the machine needs it: geometry, constants, memories."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from softlab.sass.calls import DriverCalls
from softlab.sass.constants import Constants
from softlab.sass.lanes import WARP
from softlab.sass.memory import GlobalMemory
from softlab.sass.taking import Dealing

Index3 = tuple[int, int, int]
#: Bytes in which an SM gives shared memory to blocks (compute capability 9.0).
SHARED_UNIT = 128


@dataclass(frozen=True)
class Setup:
    """``interpreted``: linear indices of the blocks, ascending; whole clusters. Sizes are in bytes.

    ``shared_bytes``: of a block's shared memory from its address 0 on, the reserved first KiB included.
    ``local_bytes``: of a thread's stack; the most that it may take where functions call themselves (``recursive``).
    ``driver``: the functions of the driver. ``budget``: instructions that all warps together may issue. ``dealing``:
    which part of shared work the interpreted blocks get; None where they get what they can.
    """

    grid: Index3
    block: Index3
    cluster: Index3
    interpreted: np.ndarray
    constants: Constants
    memory: GlobalMemory
    shared_bytes: int
    dynamic_bytes: int
    local_bytes: int
    sm_count: int
    budget: int
    recursive: bool
    driver: DriverCalls
    dealing: Dealing | None = None

    @property
    def blocks(self) -> int:
        """Blocks that are interpreted."""
        return len(self.interpreted)

    @property
    def shared_allocated(self) -> int:
        """Bytes of shared memory that the SM sets aside for a block: whole units.

        The assembler makes one load of 16 bytes of a source's loads of three words, and so reads behind the last array.
        An access of the source beyond its arrays is the emulator's to report.
        """
        return -(-self.shared_bytes // SHARED_UNIT) * SHARED_UNIT

    @cached_property
    def threads(self) -> int:
        """Threads per block."""
        return self.block[0] * self.block[1] * self.block[2]

    @cached_property
    def warps_per_block(self) -> int:
        """Warps per block, the last one perhaps not full."""
        return -(-self.threads // WARP)

    @cached_property
    def warps(self) -> int:
        """Warps that are interpreted."""
        return self.blocks * self.warps_per_block

    @cached_property
    def blocks_per_cluster(self) -> int:
        """Blocks of a cluster; 1 without clusters."""
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

    @cached_property
    def clusters(self) -> int:
        """Clusters that are interpreted."""
        return self.blocks // self.blocks_per_cluster

    @cached_property
    def masks(self) -> np.ndarray:
        """(warps,) uint32: the threads of each warp."""
        lanes = np.arange(self.warps_per_block * WARP).reshape(-1, WARP) < self.threads
        one = np.packbits(lanes, axis=1, bitorder="little").view("<u4")[:, 0]
        return np.tile(one, self.blocks)

    @cached_property
    def row_of_block(self) -> np.ndarray:
        """(warps,) int64: the index of each warp's block among the interpreted ones."""
        return np.repeat(np.arange(self.blocks), self.warps_per_block)

    @cached_property
    def coordinates(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x, y and z of each interpreted block: (blocks,) int64 each."""
        x, y, _ = self.grid
        linear = self.interpreted
        return linear % x, linear // x % y, linear // (x * y)

    @cached_property
    def rank(self) -> np.ndarray:
        """(blocks,) int64: the rank of each block in its cluster."""
        x, y, z = (c % n for c, n in zip(self.coordinates, self.cluster, strict=True))
        return x + self.cluster[0] * (y + self.cluster[1] * z)

    @cached_property
    def _cluster_numbers(self) -> np.ndarray:
        x, y, z = (c // n for c, n in zip(self.coordinates, self.cluster, strict=True))
        wide, high = self.grid[0] // self.cluster[0], self.grid[1] // self.cluster[1]
        return np.unique(x + wide * (y + high * z), return_inverse=True)[1].reshape(-1)

    @cached_property
    def cluster_of(self) -> np.ndarray:
        """(warps,) int64: the number of each warp's cluster among the interpreted ones."""
        return np.repeat(self._cluster_numbers, self.warps_per_block)

    @cached_property
    def row_of_rank(self) -> np.ndarray:
        """(clusters, blocks per cluster) int64: the index of each block among the interpreted ones."""
        rows = np.zeros((self.clusters, self.blocks_per_cluster), np.int64)
        rows[self._cluster_numbers, self.rank] = np.arange(self.blocks)
        return rows

    def place_of(self, warp: int, lane: int) -> tuple[Index3, Index3]:
        """The thread and the block, each (x, y, z), of a lane of a warp."""
        (x, y, _), thread = self.block, self.warp_of(warp) * WARP + lane
        row = warp // self.warps_per_block
        block = (int(self.coordinates[0][row]), int(self.coordinates[1][row]), int(self.coordinates[2][row]))
        return (thread % x, thread // x % y, thread // (x * y)), block

    def first_place(self, warps: np.ndarray, masks: np.ndarray) -> tuple[Index3, Index3]:
        """As :meth:`place_of`, of the first of these lanes, of which there is one. masks: (k,) uint32 of the warps."""
        at = int(np.flatnonzero(masks)[0])
        mask = int(masks[at])
        return self.place_of(int(warps[at]), (mask & -mask).bit_length() - 1)

    def block_of(self, warp: int) -> int:
        """The linear index in the grid of a warp's block."""
        return int(self.interpreted[warp // self.warps_per_block])

    def warp_of(self, warp: int) -> int:
        """The warp's number in its block."""
        return warp % self.warps_per_block
