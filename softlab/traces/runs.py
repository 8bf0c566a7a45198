"""Frozen records of what ran: a launch (:class:`Run`), saved and loaded, and an operator's run (:class:`Trace`).

They hold the records of :mod:`softlab.traces.records`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from softlab.archives import checked_column, read_archive, write_archive
from softlab.findings import Finding, found_words, headline, without_repetitions
from softlab.traces.records import COUNTERS, Accesses, Buffer, Compared, FusedAccess, InstructionCounters, Shuffles

#: Lines of a record's text below its first one, and findings and remarks among them.
_MOST_LINES, _MOST_FINDINGS, _MOST_REMARKS = 24, 3, 2


@dataclass(frozen=True, eq=False)
class Run(Compared):
    """What one launch did. On a GPU the counters and logs are empty: hardware counters need Nsight Compute.

    executor: "emulator" or "gpu"; grid, block: three ints each; arch: the compiled architecture; file: name of the
    kernel's own source file in the frames; source: its text; buffers: the array arguments; instructions: counters by
    PTX instruction (None on a GPU); shared, global_: accesses of the recorded blocks; shuffles likewise; level: whether
    accesses, atomics and instructions count as the "machine code" has them, or as the "PTX" does because nvdisasm is
    missing; estimated_instructions: how many of ``counters["instructions"]`` belong to machine code whose executions do
    not follow from the PTX for certain, such as targets of a jump table; fused: the accesses that the machine code
    makes of several of the PTX; name: the kernel's; registers per thread (None: unknown), bytes
    per thread spilled to memory, static and dynamic shared memory per block in bytes; findings: all that
    ``check="collect"`` found, or the warnings of ``check=True``; remarks: what the counters leave out or cannot know,
    and which headers were taken from a guessed place, in sentences; launched: program and arguments for
    ``softlab.estimate``, with weak references to the arrays (None
    for a run from a file or from another process).

    Two runs are equal if all that they hold is equal, the addresses of the arrays too, but not ``launched``.
    ``softlab.compare`` says what differs.
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
    name: str = ""
    registers: int | None = None
    spill_bytes: int = 0
    static_smem_bytes: int = 0
    smem_bytes: int = 0
    estimated_instructions: int = 0
    findings: tuple[Finding, ...] = ()
    remarks: tuple[str, ...] = ()
    launched: Any = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        # A process pool pickles runs. Weak references are of this process alone.
        return {**self.__dict__, "launched": None}

    def __repr__(self) -> str:
        return "\n".join([f"Run of {self.name or self.file}: {self._shape()}", *self._summary()])

    def _repr_html_(self) -> str:
        from softlab.views.runs import run_html

        return run_html(self)

    def _shape(self) -> str:
        where = f"in the emulator, compiled for {self.arch}" if self.executor == "emulator" else "on a GPU"
        return f"grid {self.grid}, block {self.block}, {where}"

    def _summary(self) -> list[str]:
        """The findings, the counters that are not 0, and how much is recorded: at most ``_MOST_LINES`` lines."""
        found = self._findings()
        if self.instructions is None:
            return [*found, "  no counters: they need the emulator with record=True"]
        counters = {name: value for name, value in self.counters.items() if value}
        width = max(map(len, counters), default=0)
        recorded = f"{len(self.shared)} shared and {len(self.global_)} global accesses, {len(self.shuffles)} shuffles"
        lines = [f"  {name.ljust(width)}  {value}" for name, value in counters.items()]
        remarks = [f"  {remark}" for remark in self.remarks[:_MOST_REMARKS]]
        room = _MOST_LINES - len(found) - len(remarks) - 1
        if len(lines) > room:
            lines[room - 1 :] = [f"  and {len(lines) - room + 1} more counters in run.counters"]
        return [*found, *lines, *remarks, f"  recorded: {recorded}"]

    def _findings(self) -> list[str]:
        """What was found wrong, the first in a line each."""
        if not self.findings:
            return []
        shown = without_repetitions(self.findings)
        rest, again = len(shown) - _MOST_FINDINGS, len(self.findings) - len(shown)
        more = [f"{rest} more"] * (rest > 0)
        more += [f"{again} warning{'' if again == 1 else 's'} on the lines of errors"] * (again > 0)
        return [
            f"  {found_words(shown)}:",
            *(f"    {headline(finding)}" for finding in shown[:_MOST_FINDINGS]),
            *([f"    and {', and '.join(more)} in run.findings"] if more else []),
        ]

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
        plain["findings"] = [asdict(finding) for finding in self.findings]
        plain["remarks"] = list(self.remarks)
        columns = {
            f"{log}.{column.name}": getattr(getattr(self, log), column.name)
            for log, record in _LOGS.items()
            for column in fields(record)
        }
        if self.instructions is not None:
            plain["instructions"] = {"text": self.instructions.text, "frames": self.instructions.frames}
            columns["instructions.counts"] = self.instructions.counts
        header = json.dumps({"format": _FORMAT, "counters": COUNTERS, **plain})
        write_archive(path, {"header": np.array(header), **columns})

    @classmethod
    def load(cls, path: str | Path) -> Run:
        """The run in a file of :meth:`save`.

        Raises:
            ValueError: the file is damaged, no saved run, or of another version of softlab; the message says which.
            OSError: there is no such file.
        """
        try:
            archive = read_archive(path)
            columns = archive.arrays
            header = json.loads(str(columns.pop("header")))
            version = header["format"], tuple(header["counters"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"{path} is not a run that softlab saved: {error}") from error
        if version[0] not in (_FORMAT, _FORMAT_WITHOUT_DIGEST) or version[1] != COUNTERS:
            raise ValueError(
                f"{path} has the format {version[0]!r:.20}, this softlab reads {_FORMAT}: "
                "load it with the version that wrote it, or run the kernel again"
            )
        try:
            if version[0] == _FORMAT and not archive.verified:
                raise ValueError("its digest is missing")
            return cls(**_checked_plain(header), **_checked_logs(columns), **_checked_parts(header, columns))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} is damaged, so it is not a run that softlab saved: {error!r:.300}") from error


def _checked_plain(header: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a run that are numbers and texts, of their types and ranges."""
    plain = {name: header[name] for name in _PLAIN if name in header or name not in _LATER}
    for name in ("grid", "block"):
        plain[name] = tuple(plain[name])
        _need(len(plain[name]) == 3 and all(_is_count(size) and 0 < size < 1 << 31 for size in plain[name]), name)
    for name in {"lane_instructions", "spill_bytes", "static_smem_bytes", "smem_bytes", "registers"} & plain.keys():
        _need(_is_count(plain[name]) or (name == "registers" and plain[name] is None), name)
    for name in {"file", "source", "name"} & plain.keys():
        _need(isinstance(plain[name], str), name)
    _need(plain["executor"] in ("emulator", "gpu"), "executor")
    _need(plain["level"] in ("PTX", "machine code"), "level")
    _need(isinstance(plain["arch"], str) and re.fullmatch(r"sm_\d{2,3}[af]?", plain["arch"]) is not None, "arch")
    return plain


def _checked_logs(columns: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The accesses and shuffles: columns of one length, of their dtypes."""
    logs: dict[str, Any] = {}
    for log, record in _LOGS.items():
        rows, empty = len(columns[f"{log}.line"]), record.empty()
        models = {column.name: getattr(empty, column.name) for column in fields(record)}
        logs[log] = record(**{
            name: checked_column(f"{log}.{name}", columns[f"{log}.{name}"], model.dtype, (rows, *model.shape[1:]))
            for name, model in models.items()
        })  # fmt: skip
        for name in ("line", "instruction", "block", "warp", "step"):
            _need(not rows or getattr(logs[log], name).min() >= 0, f"{log}.{name}")
    _need(bool(np.isin(logs["shuffles"].mode, ("bfly", "down", "up", "idx")).all()), "shuffles.mode")
    _need(bool(np.isin(logs["shuffles"].source, np.arange(32)).all()), "shuffles.source")
    return logs


def _checked_parts(header: Mapping[str, Any], columns: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The buffers, the fused accesses and the counters by instruction."""
    buffers = tuple(Buffer(**buffer) for buffer in header["buffers"])
    for buffer in buffers:
        _need(all(map(_is_count, (buffer.index, buffer.base, buffer.nbytes))), "buffers")
        _need(isinstance(buffer.dtype, str), "buffers")
    found, instructions = header.get("instructions"), None
    if found is not None:
        texts = tuple(found["text"])
        frames = tuple(tuple((name, line) for name, line in stack) for stack in found["frames"])
        _need(all(isinstance(text, str) for text in texts) and len(frames) == len(texts), "instructions.text")
        _need(all(isinstance(n, str) and _is_count(line) for stack in frames for n, line in stack), "frames")
        counts = checked_column(
            "instructions.counts", columns["instructions.counts"], np.dtype(np.int64), (len(texts), len(COUNTERS))
        )
        instructions = InstructionCounters(texts, frames, counts)
    fused = tuple(FusedAccess(**{**access, "parts": tuple(access["parts"])}) for access in header["fused"])
    for access in fused:
        _need(all(map(_is_count, (access.carrier, access.width, *access.parts))), "fused")
        _need(isinstance(access.text, str), "fused")
    findings = tuple(Finding(**_tuples(finding)) for finding in header.get("findings", ()))
    for finding in findings:
        _need(_is_count(finding.count) and finding.severity in ("error", "warning"), "findings")
        _need(all(isinstance(text, str) for text in (finding.kind, finding.message)), "findings")
    remarks = tuple(header.get("remarks", ()))
    _need(all(isinstance(remark, str) for remark in remarks), "remarks")
    return {
        "buffers": buffers, "fused": fused, "instructions": instructions, "findings": findings, "remarks": remarks,
    }  # fmt: skip


def _tuples(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record's lists as tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


def _need(fits: bool, name: str) -> None:
    if not fits:
        raise ValueError(f"{name} has a value that no run has")


#: Raise when a saved run changes its meaning.
_FORMAT = 2
#: The same, of before files had a digest.
_FORMAT_WITHOUT_DIGEST = 1
#: Fields that came later: files of before lack them.
_LATER = ("name", "registers", "spill_bytes", "static_smem_bytes", "smem_bytes", "estimated_instructions")
_PLAIN = ("executor", "grid", "block", "arch", "file", "source", "lane_instructions", "level", *_LATER)
_LOGS: dict[str, type[Accesses] | type[Shuffles]] = {"shared": Accesses, "global_": Accesses, "shuffles": Shuffles}


@dataclass(frozen=True, eq=False)
class Trace(Compared):
    """An operator's run on the emulator: ``output`` (the operator's result), ``plan`` and ``run``.

    The trace itself also has the counters, lines and logs of its run. Traces are equal if output (its bits), plan and
    run are.
    """

    output: np.ndarray
    plan: Any
    run: Run

    def __repr__(self) -> str:
        output = f"output {self.output.dtype} {self.output.shape}, kernel {getattr(self.plan, 'kernel', '?')}"
        return "\n".join([f"Trace: {output}, {self.run._shape()}", *self.run._summary()])

    def _repr_html_(self) -> str:
        from softlab.views.runs import trace_html

        return trace_html(self)

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
