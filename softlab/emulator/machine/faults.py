"""Where a fault happened: its line, thread and block, and the message that says so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from softlab.emulator.lanes import Lanes
from softlab.emulator.ptx.places import Place, place_of
from softlab.emulator.ptx.syntax import Frame, Instruction
from softlab.emulator.sites import Site
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
        if self.blocks_per_cluster == 1:
            return self.first + rows
        x, y, z = self.block_indices(rows)
        return (z * self.grid[1] + y) * self.grid[0] + x


def _three(linear: Any, sizes: Index3) -> Any:
    x, y, _ = sizes
    return linear % x, linear // x % y, linear // (x * y)


@dataclass(frozen=True)
class Described:
    """An address in words, as the source names it (``symbol``), and the index of the argument that it belongs to.

    ``hint``: what to do, from the end of the sentence on; None for what is usual for the kind of fault.
    """

    words: str
    symbol: str | None = None
    argument: int | None = None
    hint: str | None = None


class SourceNames(Protocol):
    """Knows what the source calls the addresses of a kernel."""

    def described(self, site: Site, address: int, parameters: bytes, shared_bytes: int) -> Described | None:
        """An address outside of the array that it was computed from; None where the array is not known."""

    def pointer_of(self, site: Site) -> int | None:
        """The byte of the parameters where the only pointer is that an access may use; None where it is not known."""

    def argument_element(self, number: int, offset: int) -> str | None:
        """The byte ``offset`` of an array argument as an element: "x[64]"; None where that is not known."""

    def trap_hint(self, instruction: Instruction) -> str:
        """What to add to the fault of a trap; "" for nothing."""


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
    return place_of(frames, file).line


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
    place = place_of(instruction.frames if instruction else (), file)
    message = f"{kind}: {sentence}\n  at {_location(instruction, place, thread, block)}"
    site = FaultSite(place.line, thread, block, address, argument, symbol, file=place.file or None, header=place.header)
    if other is not None:
        there = place_of(other.instruction.frames if other.instruction else (), file)
        message += f"\n  {other.what} is at {_location(other.instruction, there, other.thread, other.block)}"
        site = replace(site, **other_place(there), other_thread=other.thread, other_block=other.block)
    return KernelFault(kind, message, site)


def other_place(place: Place) -> dict[str, Any]:
    """The fields of a fault that say where the other access is."""
    return {"other_line": place.line, "other_file": place.file or None, "other_header": place.header}


def _location(instruction: Instruction | None, place: Place, thread: Index3 | None, block: Index3 | None) -> str:
    return location(place, thread, block, f"PTX `{instruction.text}`" if instruction else "")


def location(place: Place, thread: Index3 | None, block: Index3 | None, code: str) -> str:
    """Where a fault happened, without what is not known. ``code``: the instruction in words."""
    parts = str(place), f"thread {thread}" if thread else "", f"block {block}" if block else "", code
    return ", ".join(part for part in parts if part)
