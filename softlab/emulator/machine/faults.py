"""Where a fault happened: its line, thread and block, and the message that says so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from softlab.emulator.lanes import Lanes
from softlab.emulator.ptx.syntax import Frame, Instruction
from softlab.errors import FaultSite, KernelFault

Index3 = tuple[int, int, int]


@dataclass(frozen=True)
class Geometry:
    """Where a batch's lanes are in the grid.

    Blocks run in the order of their clusters, and in a cluster in that of their ranks; ``first`` is the number of the
    batch's first block in this order, which is the linear index if clusters extend along x.
    """

    grid: Index3
    block: Index3
    first: int = 0
    cluster: Index3 = (1, 1, 1)

    @property
    def blocks_per_cluster(self) -> int:
        """The number of blocks per cluster."""
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

    def thread(self, column: int) -> Index3:
        """(x, y, z) of a linear thread index."""
        return _three(column, self.block)

    def block_index(self, row: int) -> Index3:
        """(x, y, z) of the block in a row of the batch."""
        x, y, z = self.block_indices(np.array([row]))
        return int(x[0]), int(y[0]), int(z[0])

    def block_indices(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
        x, y, z = self.block_indices(rows)
        return (z * self.grid[1] + y) * self.grid[0] + x


def _three(linear: Any, sizes: Index3) -> Any:
    x, y, _ = sizes
    return linear % x, linear // x % y, linear // (x * y)


@dataclass(frozen=True)
class OtherAccess:
    """The earlier of the two accesses of a race, or another barrier; None for what is not known."""

    instruction: Instruction | None
    thread: Index3 | None = None
    block: Index3 | None = None
    what: str = "the other access"


def source_line(frames: tuple[Frame, ...], file: str) -> int | None:
    """The line of an instruction: of its innermost frame in the kernel's own file, else of the innermost of all.

    A fault in a header is thus reported at the line that calls it, as ``by_line`` counts it.
    """
    own = next((frame.line for frame in frames if frame.file == file), None)
    return own if own is not None else (frames[0].line if frames else None)


def _header(frames: tuple[Frame, ...], file: str) -> str:
    """The line in a header, where a line of the kernel's own file calls what is in the header."""
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
    argument: int | None = None,
    symbol: str | None = None,
    other: OtherAccess | None = None,
) -> KernelFault:
    """The fault, with its location beneath the sentence."""
    message = f"{kind}: {sentence}\n  at {_location(instruction, file, thread, block)}"
    site = FaultSite(_line_of(instruction, file), thread, block, address, argument, symbol)
    if other is not None:
        message += f"\n  {other.what} is at {_location(other.instruction, file, other.thread, other.block)}"
        line = _line_of(other.instruction, file)
        site = replace(site, other_line=line, other_thread=other.thread, other_block=other.block)
    return KernelFault(kind, message, site)


def _line_of(instruction: Instruction | None, file: str) -> int | None:
    return source_line(instruction.frames, file) if instruction else None


def _location(instruction: Instruction | None, file: str, thread: Index3 | None, block: Index3 | None) -> str:
    frames = instruction.frames if instruction else ()
    line = source_line(frames, file)
    parts = [f"line {line} of {file}" if line else "", _header(frames, file), f"thread {thread}" if thread else ""]
    parts += [f"block {block}" if block else "", f"PTX `{instruction.text}`" if instruction else ""]
    return ", ".join(part for part in parts if part)
