"""Frozen records of what ran: counters, lines, warp-level memory accesses and shuffles.

Records are columnar (NumPy arrays, one row an event), so that a view can filter them with a mask and a file holds them
without pickle.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

#: The counters of a run, counted a warp at a time as the hardware does (design of the public surface).
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
    "shuffle_instructions",
    "barriers",
    "instructions",
)


@dataclass(frozen=True)
class Buffer:
    """One array argument as the kernel sees it: ``base`` its address, ``nbytes`` its size, ``index`` the argument's."""

    index: int
    base: int
    nbytes: int
    dtype: str


@dataclass(frozen=True)
class Accesses:
    """Warp-level memory accesses of the recorded blocks, in the order they ran. One row a warp and instruction.

    line (n,) int32: line of the kernel's CUDA file (0: unknown);
    instruction (n,) int32: index into ``Trace.instructions``;
    store (n,) bool; width (n,) int32: bytes a lane; block (n,) int64: linear block index; warp (n,) int32: warp in the
    block; step (n,) int64: order in the run; address (n, 32) uint64: byte offset in the block's shared memory, or
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


@dataclass(frozen=True)
class Shuffles:
    """Warp shuffles of the recorded blocks. One row a warp and instruction.

    line, instruction, block, warp, step as in :class:`Accesses`; mode (n,) '<U4' ("bfly", "down", "up", "idx");
    source (n, 32) int8: the lane each lane read (its own where out of range); active (n, 32) bool;
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


@dataclass(frozen=True)
class InstructionCounters:
    """The counters by PTX instruction: where each stands and what it did.

    text: PTX text of each; frames: its source places, innermost call first, as (file, line);
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

    carrier: index of the PTX instruction that the access counts for; parts: indices of all of them, sorted; width: the
    bytes a lane that it moves; text: one of the machine instructions ("STS.128 [R12], R8").
    """

    carrier: int
    parts: tuple[int, ...]
    width: int
    text: str


@dataclass(frozen=True)
class Run:
    """What one launch did. On a GPU the counters and logs are empty: hardware counters need Nsight Compute.

    executor: "emulator" or "gpu"; grid, block: three ints each; arch: the compiled architecture; file: name of the
    kernel's own source file in the frames; source: its text; buffers: the array arguments; instructions: counters by
    PTX instruction (None on a GPU); shared, global_: accesses of the recorded blocks; shuffles likewise; level: whether
    accesses are counted and recorded as the "machine code" has them, or, where nvdisasm is missing, as the "PTX" does;
    fused: the accesses that the machine code makes of several of the PTX.
    """

    executor: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arch: str
    file: str
    source: str
    buffers: tuple[Buffer, ...] = ()
    instructions: InstructionCounters | None = None
    shared: Accesses = field(default_factory=Accesses.empty)
    global_: Accesses = field(default_factory=Accesses.empty)
    shuffles: Shuffles = field(default_factory=Shuffles.empty)
    lane_instructions: int = 0
    level: str = "PTX"
    fused: tuple[FusedAccess, ...] = ()

    @property
    def counters(self) -> dict[str, int]:
        """Counter name -> value; empty for a run on a GPU."""
        return {} if self.instructions is None else self.instructions.totals()

    def by_line(self, file: str | None = None) -> dict[int, dict[str, int]]:
        """Source line -> its counters, for the kernel's own file or another ``file`` of the program."""
        return {} if self.instructions is None else self.instructions.by_line(file or self.file)

    def save(self, path: str | Path) -> None:
        """Write the run to a file (npz, no pickle), for :meth:`load` on any machine.

        The file's name is ``path`` as it is; NumPy adds no ending.
        """
        plain = {name: getattr(self, name) for name in _PLAIN}
        plain["buffers"] = [asdict(buffer) for buffer in self.buffers]
        plain["fused"] = [asdict(access) for access in self.fused]
        columns = {
            f"{log}.{column.name}": getattr(getattr(self, log), column.name)
            for log, record in _LOGS.items()
            for column in fields(record)
        }
        if self.instructions is not None:
            plain["instructions"] = {"text": self.instructions.text, "frames": self.instructions.frames}
            columns["instructions.counts"] = self.instructions.counts
        header = json.dumps({"format": _FORMAT, "counters": COUNTERS, **plain})
        with open(path, "wb") as stream:
            np.savez_compressed(stream, allow_pickle=False, header=np.array(header), **columns)

    @classmethod
    def load(cls, path: str | Path) -> Run:
        """The run in a file of :meth:`save`.

        Raises:
            ValueError: the file is not one of these, or of another version of softlab; the message says which.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                columns = dict(file)
            header = json.loads(str(columns.pop("header")))
        except (ValueError, KeyError, EOFError, BadZipFile) as error:
            raise ValueError(f"{path} is not a run that softlab saved: {error}") from error
        if header["format"] != _FORMAT or tuple(header["counters"]) != COUNTERS:
            raise ValueError(
                f"{path} has the format {header['format']}, this softlab reads {_FORMAT}: "
                "load it with the version that wrote it, or run the kernel again"
            )
        found = header.get("instructions")
        plain: dict[str, Any] = {
            name: tuple(value) if isinstance(value := header[name], list) else value for name in _PLAIN
        }
        logs: dict[str, Any] = {
            log: record(**{column.name: columns[f"{log}.{column.name}"] for column in fields(record)})
            for log, record in _LOGS.items()
        }
        return cls(
            **plain,
            **logs,
            buffers=tuple(Buffer(**buffer) for buffer in header["buffers"]),
            fused=tuple(FusedAccess(**{**access, "parts": tuple(access["parts"])}) for access in header["fused"]),
            instructions=found
            and InstructionCounters(
                text=tuple(found["text"]),
                frames=tuple(tuple((name, line) for name, line in frames) for frames in found["frames"]),
                counts=columns["instructions.counts"],
            ),
        )


#: Raise when a saved run changes its meaning.
_FORMAT = 1
_PLAIN = ("executor", "grid", "block", "arch", "file", "source", "lane_instructions", "level")
_LOGS: dict[str, type[Accesses] | type[Shuffles]] = {"shared": Accesses, "global_": Accesses, "shuffles": Shuffles}


@dataclass(frozen=True)
class Trace:
    """An operator's run on the emulator: ``output`` (the operator's result), ``plan`` and ``run``.

    The counters, lines and logs of the run can be had from the trace itself.
    """

    output: np.ndarray
    plan: Any
    run: Run

    @property
    def counters(self) -> Mapping[str, int]:
        """Counter name -> value."""
        return self.run.counters

    def by_line(self, file: str | None = None) -> dict[int, dict[str, int]]:
        """Source line -> its counters, for the kernel's own file or another ``file`` of the program."""
        return self.run.by_line(file)

    def __getattr__(self, name: str) -> Any:
        if name in ("instructions", "shared", "global_", "shuffles", "buffers"):
            return getattr(self.run, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
