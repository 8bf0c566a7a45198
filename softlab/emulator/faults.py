"""What a fault says: which instruction, line, thread, block and address, what is wrong and how it is usually mended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.emulator.lanes import Lanes
from softlab.emulator.ptx import Frame, Instruction
from softlab.errors import FaultSite, KernelFault

Index3 = tuple[int, int, int]


@dataclass(frozen=True)
class Geometry:
    """Where a batch's lanes are in the grid.

    Blocks run in the order of their clusters, and in a cluster in that of their ranks; ``first`` is the number of the
    batch's first block in this order, which is the linear index where clusters lie along x.
    """

    grid: Index3
    block: Index3
    first: int = 0
    cluster: Index3 = (1, 1, 1)

    @property
    def blocks_per_cluster(self) -> int:
        """How many blocks a cluster has."""
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

    def thread(self, column: int) -> Index3:
        """(x, y, z) of a linear thread index."""
        return _three(column, self.block)

    def place(self, row: int) -> Index3:
        """(x, y, z) of the block in a row of the batch."""
        x, y, z = self.places(np.array([row]))
        return int(x[0]), int(y[0]), int(z[0])

    def places(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x, y and z of the blocks in these rows, (rows,) int64 each."""
        inner = _three((self.first + rows) % self.blocks_per_cluster, self.cluster)
        outer = _three((self.first + rows) // self.blocks_per_cluster, self.clusters)
        x, y, z = (o * size + i for o, size, i in zip(outer, self.cluster, inner, strict=True))
        return x, y, z

    @property
    def clusters(self) -> Index3:
        """Clusters of the grid along x, y and z."""
        x, y, z = (blocks // size for blocks, size in zip(self.grid, self.cluster, strict=True))
        return x, y, z

    def linear(self, rows: np.ndarray) -> np.ndarray:
        """Linear index in the grid of the blocks in these rows, (rows,) int64."""
        x, y, z = self.places(rows)
        return (z * self.grid[1] + y) * self.grid[0] + x


def _three(linear: Any, sizes: Index3) -> Any:
    x, y, _ = sizes
    return linear % x, linear // x % y, linear // (x * y)


def source_line(frames: tuple[Frame, ...], file: str) -> int | None:
    """The line of an instruction: of its innermost frame in the kernel's own file, else of the innermost of all.

    So what happens in a header is laid to the line that calls it, as ``by_line`` counts it.
    """
    own = next((frame.line for frame in frames if frame.file == file), None)
    return own if own is not None else (frames[0].line if frames else None)


def _header(frames: tuple[Frame, ...], file: str) -> str:
    """Where in a header the instruction is that a line of the kernel's own file calls."""
    if not frames or frames[0].file == file:
        return ""
    return f"in line {frames[0].line} of {frames[0].file}"


def first_lane(lanes: Lanes, bad: object) -> tuple[int, int]:
    """(row, column) in the batch of the first lane where ``bad``, a value of the set, holds."""
    flat = np.broadcast_to(np.asarray(bad), lanes.extent).reshape(-1)
    at = int(flat.argmax())
    rows = np.broadcast_to(lanes.row_index, lanes.extent).reshape(-1)
    columns = np.broadcast_to(lanes.column_index, lanes.extent).reshape(-1)
    return int(rows[at]), int(columns[at])


def kernel_fault(
    kind: str,
    sentence: str,
    instruction: Instruction | None,
    file: str,
    *,
    thread: Index3 | None = None,
    block: Index3 | None = None,
    address: int | None = None,
) -> KernelFault:
    """The fault with the place written out beneath the sentence."""
    frames = instruction.frames if instruction else ()
    line = source_line(frames, file)
    parts = [f"line {line} of {file}" if line else "", _header(frames, file), f"thread {thread}" if thread else ""]
    parts += [f"block {block}" if block else "", f"PTX `{instruction.text}`" if instruction else ""]
    where = ", ".join(part for part in parts if part)
    return KernelFault(kind, f"{kind}: {sentence}\n  at {where}", FaultSite(line, thread, block, address))
