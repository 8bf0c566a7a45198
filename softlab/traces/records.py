"""Frozen records of what a run counted and logged: counters by instruction, warp-level accesses and shuffles.

Records are columnar: NumPy arrays with one row per event. So a view can filter them with a mask, and a file holds them
without pickle. Records compare by their contents (:class:`Compared`), so a run equals the one that a file holds of it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

#: The counters of a run, counted per warp as the hardware does. An atomic on global memory whose result is used is
#: "global_atomic", else "global_reduction". "instructions" are those of the machine code. Where ``Run.level`` is "PTX",
#: they are the "ptx_instructions".
COUNTERS = (
    "shared_load_instructions",
    "shared_store_instructions",
    "shared_load_wavefronts",
    "shared_store_wavefronts",
    "bank_conflicts",
    "global_load_requests",
    "global_load_sectors",
    "global_store_requests",
    "global_store_sectors",
    "dshared_load_requests",
    "dshared_load_sectors",
    "dshared_store_requests",
    "dshared_store_sectors",
    "shared_atomic_instructions",
    "shared_atomic_wavefronts",
    "global_atomic_requests",
    "global_atomic_sectors",
    "global_reduction_requests",
    "global_reduction_sectors",
    "shuffle_instructions",
    "tensor_instructions",
    "tensor_hmma_instructions",
    "tensor_imma_instructions",
    "tensor_dmma_instructions",
    "tensor_gmma_instructions",
    "barriers",
    "instructions",
    "ptx_instructions",
)


class Compared:
    """A record that equals another of its class if all fields do: arrays by dtype, shape and bits, so NaN equals NaN.

    A field with ``compare=False`` does not count.
    """

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(self) is type(other) and all(map(_same, _compared(self), _compared(other)))

    def __hash__(self) -> int:
        parts = (one.shape if isinstance(one, np.ndarray) else one for one in _compared(self))
        return hash((type(self), *parts))


def _compared(record: Any) -> list[Any]:
    return [getattr(record, column.name) for column in fields(record) if column.compare]


def _same(one: Any, other: Any) -> bool:
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return bool(one == other)
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


@dataclass(frozen=True)
class Buffer:
    """One array argument as the kernel sees it: ``base`` its address, ``nbytes`` its size, ``index`` the argument's."""

    index: int
    base: int
    nbytes: int
    dtype: str


@dataclass(frozen=True, eq=False)
class Accesses(Compared):
    """Warp-level memory accesses of the recorded blocks, in the order they ran. One row per warp and instruction.

    line (n,) int32: line of the kernel's CUDA file (0: unknown);
    instruction (n,) int32: index into ``Trace.instructions``;
    store (n,) bool; width (n,) int32: bytes per lane; block (n,) int64: linear block index; warp (n,) int32: warp in
    the block; step (n,) int64: order in the run; address (n, 32) uint64: byte offset in the block's shared memory, or
    global address (see ``Trace.buffers``); active (n, 32) bool: the lanes that took part.
    """

    line: np.ndarray
    instruction: np.ndarray
    store: np.ndarray
    width: np.ndarray
    block: np.ndarray
    warp: np.ndarray
    step: np.ndarray
    address: np.ndarray
    active: np.ndarray

    @classmethod
    def empty(cls) -> Accesses:
        """No accesses."""
        return cls(*(np.zeros(s, d) for s, d in _ACCESS_COLUMNS.values()))

    def __len__(self) -> int:
        return len(self.line)

    def select(self, mask: np.ndarray) -> Accesses:
        """The rows where ``mask`` (n,) is true, or at those indices."""
        return type(self)(**{f.name: getattr(self, f.name)[mask] for f in fields(self)})


_ACCESS_COLUMNS: dict[str, tuple[tuple[int, ...], str]] = {
    "line": ((0,), "i4"),
    "instruction": ((0,), "i4"),
    "store": ((0,), "?"),
    "width": ((0,), "i4"),
    "block": ((0,), "i8"),
    "warp": ((0,), "i4"),
    "step": ((0,), "i8"),
    "address": ((0, 32), "u8"),
    "active": ((0, 32), "?"),
}


@dataclass(frozen=True, eq=False)
class Shuffles(Compared):
    """Warp shuffles of the recorded blocks. One row per warp and instruction.

    line, instruction, block, warp, step as in :class:`Accesses`; mode (n,) '<U4' ("bfly", "down", "up", "idx");
    source (n, 32) int8: the lane that each lane read, its own if out of range; active (n, 32) bool;
    given, received (n, 32) uint32: raw bits.
    """

    line: np.ndarray
    instruction: np.ndarray
    block: np.ndarray
    warp: np.ndarray
    step: np.ndarray
    mode: np.ndarray
    source: np.ndarray
    active: np.ndarray
    given: np.ndarray
    received: np.ndarray

    @classmethod
    def empty(cls) -> Shuffles:
        """No shuffles."""
        n = np.zeros
        return cls(
            n(0, "i4"), n(0, "i4"), n(0, "i8"), n(0, "i4"), n(0, "i8"), n(0, "U4"),
            n((0, 32), "i1"), n((0, 32), "?"), n((0, 32), "u4"), n((0, 32), "u4"),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.line)

    def select(self, mask: np.ndarray) -> Shuffles:
        """The rows where ``mask`` (n,) is true, or at those indices."""
        return type(self)(**{f.name: getattr(self, f.name)[mask] for f in fields(self)})


@dataclass(frozen=True, eq=False)
class InstructionCounters(Compared):
    """The counters of each PTX instruction, with its text and its source lines.

    text: PTX text of each; frames: its source lines, innermost call first, as (file, line);
    counts (instructions, len(COUNTERS)) int64 in the order of ``COUNTERS``.
    """

    text: tuple[str, ...]
    frames: tuple[tuple[tuple[str, int], ...], ...]
    counts: np.ndarray

    def totals(self) -> dict[str, int]:
        """Counter name -> sum over all instructions."""
        return {name: int(value) for name, value in zip(COUNTERS, self.counts.sum(axis=0), strict=True)}

    def by_line(self, file: str) -> dict[int, dict[str, int]]:
        """Line of ``file`` -> its counters. An instruction counts for the innermost of its frames in that file."""
        lines: dict[int, np.ndarray] = {}
        for frames, counts in zip(self.frames, self.counts, strict=True):
            line = next((number for name, number in frames if name == file), None)
            if line is not None and counts.any():
                lines[line] = lines.get(line, 0) + counts
        return {
            line: {name: int(value) for name, value in zip(COUNTERS, lines[line], strict=True)}
            for line in sorted(lines)
        }


@dataclass(frozen=True)
class FusedAccess:
    """Loads or stores of the PTX that are one access in the machine code.

    carrier: index of the PTX instruction for which the access counts; parts: indices of all of them, sorted; width:
    bytes per lane that it moves; text: one of the machine instructions ("STS.128 [R12], R8").
    """

    carrier: int
    parts: tuple[int, ...]
    width: int
    text: str
