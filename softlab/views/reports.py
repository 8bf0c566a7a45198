"""The report on one launch of a learner's kernel: what it did, line by line, as HTML and as plain text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

import numpy as np

from softlab.findings import Finding, found_words, without_repetitions
from softlab.hardware.occupancies import Occupancy
from softlab.views.findings import finding_notes, findings_html, findings_text
from softlab.views.source import Note, annotated_source, annotated_text
from softlab.views.style import GREEN, ORANGE, ROLES
from softlab.views.tables import code, table

#: Fused accesses that a report names.
MOST_FUSED = 4
#: Remarks on the counters that a report shows.
MOST_REMARKS = 4
_TEXT = "font-size:13px;line-height:20px;color:var(--jp-content-font-color1,inherit)"


@dataclass(frozen=True)
class ArrayArgument:
    """An array that a kernel was given: ``changed`` counts the elements with other bits afterwards, of ``size``."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    size: int
    changed: int
    values: str


def array_argument(name: str, before: np.ndarray, after: np.ndarray) -> ArrayArgument:
    """The record of an array before and after a launch; its values in short, in the order of memory."""
    width = before.dtype.itemsize
    old, new = (np.ascontiguousarray(a).reshape(-1).view(np.uint8).reshape(-1, width) for a in (before, after))
    flat = after.reshape(-1)
    if flat.dtype.kind not in "biufc":
        flat = flat.astype(np.float32)  # bfloat16 and its like
    values = np.array2string(
        flat, threshold=8, edgeitems=4, separator=", ", max_line_width=200, formatter={"float_kind": "{:.6g}".format}
    )
    changed = int((old != new).any(axis=1).sum())
    return ArrayArgument(name, str(after.dtype), after.shape, after.size, changed, values)


@dataclass(frozen=True)
class Report:
    """What one launch did.

    state: "ran", a fault's kind, "does not compile", "unsupported instruction" or "failed"; message: the error in full
    ("" for none); notes: (line, sentence) of the error; executor: "emulator", "gpu", or "" where it did not end;
    registers per thread (None where there is no compiled kernel, 0 where it has no machine code); smem_bytes: the
    dynamic shared memory of a block;
    counters and by_line: those of the run; level: whether accesses are counted in the "machine code" or in the
    "PTX"; fused: a sentence for each access that the assembler made of several of the PTX; findings: what the run found
    and did not raise; remarks: what the counters leave out or cannot know.
    """

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arch: str
    source: str
    file: str
    executor: str
    registers: int | None
    spill_bytes: int
    static_smem_bytes: int
    smem_bytes: int
    occupancy: Occupancy | None
    arrays: tuple[ArrayArgument, ...]
    counters: Mapping[str, int]
    by_line: Mapping[int, Mapping[str, int]]
    state: str
    level: str = ""
    fused: tuple[str, ...] = ()
    notes: tuple[tuple[int, str], ...] = ()
    message: str = ""
    findings: tuple[Finding, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """(name, value) of what the compiled kernel takes and how many of its blocks an SM holds."""
        return tuple(_facts(self))

    def __repr__(self) -> str:
        return report_text(self)

    def _repr_html_(self) -> str:
        return report_html(self)


def report_html(report: Report) -> str:
    """HTML in one piece: state, facts, arrays, and the source with its counters or with the error at its line."""
    severities = {finding.severity for finding in report.findings}
    good = report.state == "ran" and "error" not in severities
    colour = (ORANGE if severities else GREEN) if good else ROLES["conflict"]
    parts = [
        f'<div style="{_TEXT};border-left:4px solid {colour};padding:2px 10px;margin:4px 0">'
        f"<b>{escape(report.name)}</b> {escape(_verdict(report))}</div>",
        findings_html(report.findings, report.source, report.file),
    ]
    if report.facts:
        parts.append(table(["", ""], report.facts))
    if report.arrays:
        rows = [(a.name, f"{a.dtype} {a.shape}".replace(" ", "\u00a0"), _changed(a), a.values) for a in report.arrays]
        parts.append(table(["array", "", "elements changed", "values"], rows))
    notes = _placed(report)
    parts.append(annotated_source(report.source, report.by_line, notes=notes))
    if report.message and not notes:
        parts.append(code(report.message))
    return f'<div style="overflow-x:auto">{"".join(parts)}</div>'


def report_text(report: Report) -> str:
    """The same for a terminal; nothing in it differs from run to run."""
    parts = [f"{report.name} {_verdict(report)}"]
    parts += [findings_text(report.findings, report.source, report.file)] if report.findings else []
    width = max((len(name) for name, _ in report.facts), default=0)
    parts += [f"  {name.ljust(width)}  {text}" for name, text in report.facts]
    parts += [f"  {a.name}: {a.dtype} {a.shape}, {_changed(a)} changed: {a.values}" for a in report.arrays]
    notes = _placed(report)
    parts.append(annotated_text(report.source.rstrip(), report.by_line, notes=notes))
    if report.message and not notes:
        parts.append(report.message)
    return "\n".join(parts)


def _placed(report: Report) -> list[Note]:
    """The notes on lines that the source has."""
    lines = len(report.source.splitlines())
    notes = [Note(line, text) for line, text in report.notes] + finding_notes(report.findings, report.file)
    return [note for note in notes if 1 <= note.line <= lines]


def _verdict(report: Report) -> str:
    if report.state == "does not compile":
        return f"does not compile for {report.arch}"
    blocks, threads = int(np.prod(report.grid)), int(np.prod(report.block))
    launch = f"{_count(blocks, 'block', report.grid)} of {_count(threads, 'thread', report.block)}"
    if report.state == "ran":
        where = f"in the emulator, compiled for {report.arch}" if report.executor == "emulator" else "on the GPU"
        found = found_words(without_repetitions(report.findings))
        return f"ran{f', and {found}' if found else ''}: {launch}, {where}"
    return f"stopped: {report.state} ({launch})"


def _count(number: int, noun: str, sizes: tuple[int, ...]) -> str:
    detail = f" ({' x '.join(map(str, sizes))})" if len(sizes) > 1 else ""
    return f"{number} {noun}{'' if number == 1 else 's'}{detail}"


def _facts(report: Report) -> list[tuple[str, str]]:
    if report.registers is None:
        return []
    spilled = f", {report.spill_bytes} bytes spilled to memory" if report.spill_bytes else ""
    registers = f"{report.registers}{spilled}" if report.registers else "not known: there is no machine code"
    found = [
        ("registers per thread", registers),
        (
            "shared memory per block",
            f"{report.static_smem_bytes + report.smem_bytes} bytes ({report.static_smem_bytes} static,"
            f" {report.smem_bytes} dynamic)",
        ),
    ]
    if report.occupancy is not None:
        found.append((f"occupancy on {report.occupancy.device.name}", _occupancy(report.occupancy)))
    if report.executor == "gpu":
        found.append(("counters", "none on a GPU; give NumPy arrays, and the emulator counts"))
    found += [("counters" if not number else "", remark) for number, remark in enumerate(report.remarks[:MOST_REMARKS])]
    if report.level == "PTX":
        why = "nvdisasm is missing" if report.registers else "there is no machine code"
        found.append(("accesses", f"counted in the PTX, since {why}; the machine code may fuse some"))
    found += [("fused by the assembler", sentence) for sentence in report.fused[:MOST_FUSED]]
    if len(report.fused) > MOST_FUSED:
        found.append(("", f"and {len(report.fused) - MOST_FUSED} more"))
    return found


def _occupancy(held: Occupancy) -> str:
    if held.reason:
        return held.reason
    blocks = _count(held.blocks_per_sm, "block", ())
    return (
        f"{blocks} per SM, {held.warps_per_sm} of {held.device.max_warps_per_sm} warps ({held.fraction:.0%}),"
        f" limited by {' and '.join(held.limiters)}"
    )


def _changed(array: ArrayArgument) -> str:
    return f"{array.changed} of {array.size}"
