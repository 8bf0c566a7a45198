"""What a fault says: which instruction, line, thread, block and address, what is wrong and how it is usually mended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softlab.emulator.lanes import Lanes
from softlab.emulator.ptx import Frame, Instruction
from softlab.errors import FaultSite, KernelFault

Index3 = tuple[int, int, int]


@dataclass(frozen=True)
class Geometry:
    """Where a batch's lanes are in the grid: ``first`` is the linear index of its first block."""

    grid: Index3
    block: Index3
    first: int = 0

    def thread(self, column: int) -> Index3:
        """(x, y, z) of a linear thread index."""
        x, y, _ = self.block
        return column % x, column // x % y, column // (x * y)

    def place(self, row: int) -> Index3:
        """(x, y, z) of the block in a row of the batch."""
        x, y, _ = self.grid
        linear = self.first + row
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
