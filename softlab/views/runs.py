"""The card of a run or a trace: the report that ``%%cuda`` shows, made from the record alone."""

from __future__ import annotations

from html import escape

from softlab.traces import Run, Trace
from softlab.views.reports import Report, report_html
from softlab.workbench.figures import occupancy_of


def run_report(run: Run) -> Report:
    """What a run did. It has no arrays: a record does not hold their values."""
    return Report(
        run.name or run.file,
        _sizes(run.grid),
        _sizes(run.block),
        run.arch,
        source=run.source,
        file=run.file,
        executor=run.executor,
        registers=run.registers,
        spill_bytes=run.spill_bytes,
        static_smem_bytes=run.static_smem_bytes,
        smem_bytes=run.smem_bytes,
        occupancy=occupancy_of(run),
        arrays=(),
        counters=run.counters,
        by_line=run.by_line(),
        state="ran",
        level=run.level if run.instructions else "",
        fused=fused_sentences(run),
        findings=run.findings,
        remarks=run.remarks,
    )


def _sizes(three: tuple[int, int, int]) -> tuple[int, ...]:
    """Without the axes of size 1 at the end, as a ``%%cuda`` line names them."""
    x, y, z = three
    return (x, y, z) if z > 1 else (x, y) if y > 1 else (x,)


def run_html(run: Run) -> str:
    """The card of a run, as HTML."""
    return report_html(run_report(run))


def trace_html(trace: Trace) -> str:
    """The card of a trace, as HTML: its first line of text, and the card of its run."""
    return f"<div>{escape(repr(trace).splitlines()[0])}</div>{run_html(trace.run)}"


def fused_sentences(run: Run) -> tuple[str, ...]:
    """A sentence for each wide access that the assembler made of several, in the order of the code.

    For example "line 7: 4 accesses of the PTX are one of 16 bytes per lane (LDS.128)".
    """
    if run.instructions is None:
        return ()
    found = []
    for access in run.fused:
        frames = run.instructions.frames[access.carrier]
        line = next((number for name, number in frames if name == run.file), None)
        where = f"line {line}: " if line else ""
        words = [word for word in access.text.split() if not word.startswith("@")]
        found.append(
            f"{where}{len(access.parts)} accesses of the PTX are one of {access.width} bytes per lane ({words[0]})"
        )
    return tuple(dict.fromkeys(found))
