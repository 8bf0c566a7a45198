"""The report on a launch as one page: what to change, the time, the source with what each line moves, each access.

The page needs no network and no server. A click on a line shows the lanes, banks and sectors of its accesses, drawn by
the same JavaScript as in the notebooks.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from softlab.instruments.banks import wavefronts_and_conflicts
from softlab.instruments.coalescing import global_sectors
from softlab.timing.estimates import LineTime
from softlab.traces import Accesses, Run
from softlab.views.banks import bank_card
from softlab.views.diagrams import STATIC
from softlab.views.estimates import STALL_WORDS, estimate_sentences, stall_bars
from softlab.views.findings import findings_html
from softlab.views.reports import ArrayArgument
from softlab.views.roofs import small_roofline
from softlab.views.runs import run_report
from softlab.views.sectors import sector_card
from softlab.views.tables import table
from softlab.workbench.figures import AccessFigures
from softlab.workbench.report import LaunchReport

#: Requests that are looked at for the most costly one of a line.
_LOOKED_AT = 4096
_HEADS = (
    ("line", ""),
    ("CUDA", ""),
    ("instructions", "machine instructions of all kinds, one per warp"),
    ("requests", "loads and stores, one per warp"),
    ("per request", "32-byte sectors (global) or wavefronts (shared) per request"),
    ("least", "the least that would hold the same bytes"),
    ("bytes used", "bytes that lanes wanted, of those that the sectors moved"),
    ("lanes", "active lanes per request, of 32"),
    ("time", "share of a warp's time, estimated"),
    ("first reason", "what the line waits for most, estimated"),
)


def report_page(report: LaunchReport, arrays: Sequence[ArrayArgument] = ()) -> str:
    """The body of the page."""
    run = report.run
    shape = " x ".join(map(str, run.grid)), " x ".join(map(str, run.block))
    parts = [
        f"<style>{(STATIC / 'grid.css').read_text(encoding='utf-8')}{(STATIC / 'report.css').read_text()}</style>",
        f"<h1>{escape(run.name)}</h1><p>{shape[0]} blocks of {shape[1]} threads, compiled for {escape(run.arch)}</p>",
        findings_html(run.findings, run.source, run.file) or "<p>The run found nothing wrong.</p>",
        _advice(report),
        _estimate(report),
        "<h2>Line by line</h2><p>A click on a line with accesses shows which lanes touch which banks and sectors. The "
        "counts are those of all blocks, the patterns those of the recorded ones.</p>",
        _source(report),
        '<div id="access" aria-live="polite"></div>',
        "<h2>The launch</h2>",
        table(["", ""], run_report(run).facts),
    ]
    if arrays:
        rows = [(a.name, f"{a.dtype} {a.shape}", f"{a.changed} of {a.size}", a.values) for a in arrays]
        parts.append(table(["array", "", "elements changed", "values"], rows))
    parts.append(table(["counter", "value"], [(name, value) for name, value in run.counters.items() if value]))
    parts += [f"<p>Note: {escape(note)}</p>" for note in report.notes]
    return "".join(parts) + _script(report)


def _advice(report: LaunchReport) -> str:
    items = "".join(
        f"<li>{_link(one.line)}{escape(one.sentence[:1].upper() + one.sentence[1:])}</li>" for one in report.advice
    )
    return f"<h2>What to change</h2>{f'<ul>{items}</ul>' if items else '<p>No rule has an objection.</p>'}"


def _link(line: int | None) -> str:
    return f'<a href="#line-{line}">line {line}</a>: ' if line else ""


def _estimate(report: LaunchReport) -> str:
    found = report.estimate
    if found is None:
        return ""
    words = " ".join(escape(sentence) for sentence in estimate_sentences(found, report.run.source))
    return f"<h2>The time</h2><p>{words}</p>{stall_bars(found, report.run.source)}<p></p>{small_roofline(found)}"


def _source(report: LaunchReport) -> str:
    """The numbered source. A line with several kinds of accesses has a row for each."""
    run = report.run
    by_line = run.by_line()
    most = max((counters["instructions"] for counters in by_line.values()), default=0)
    times = report.estimate.by_line() if report.estimate else {}
    rows = []
    for number, text in enumerate(run.source.splitlines(), 1):
        here = [one for one in report.figures if one.line == number]
        issued = by_line.get(number, {}).get("instructions", 0)
        label = f' tabindex="0" role="button" aria-label="accesses of line {number}"' if here else ""
        inline = here[0] if len(here) == 1 else None
        cells = [
            f'<td class="n">{number}</td><td class=code>{escape(text)}</td>',
            _bar(issued, most), *_figures(inline), *_waits(times.get(number)),
        ]  # fmt: skip
        marked = ' class="has"' if here else ""
        rows.append(f'<tr id="line-{number}"{marked} data-line="{number}"{label}>{"".join(cells)}</tr>')
        for one in here if inline is None else ():
            cells = ["<td></td>", f'<td class="code of">{escape(one.kind)}s</td><td></td>', *_figures(one, kind="")]
            rows.append(f'<tr class="has" data-line="{number}">{"".join(cells)}<td></td><td></td></tr>')
    head = "".join(f'<th title="{escape(tip, quote=True)}">{escape(name)}</th>' for name, tip in _HEADS)
    return f'<div class="wide"><table id="source"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}' + (
        f"{_totals(report)}</tbody></table></div>"
    )


def _waits(time: LineTime | None) -> list[str]:
    """The share of a warp's time, and the first reason to wait."""
    if time is None or round(100 * time.share) == 0:
        return ["<td></td>"] * 2
    words = STALL_WORDS.get(time.reason, "")
    return [
        f"<td class=n>{time.share:.0%}</td>",
        f'<td class=why title="{escape(words, quote=True)}">{time.reason}</td>',
    ]


def _figures(one: AccessFigures | None, kind: str | None = None) -> list[str]:
    """Cells of an access, with its ``kind`` in words (default: its own)."""
    if one is None:
        return ["<td></td>"] * 5
    bad = ' class="n bad"' if one.wasteful else ' class="n"'
    used = f"{one.bytes_used / one.bytes_moved:.0%}" if one.bytes_moved else ""
    unit = "sectors" if one.space == "global" else "wavefronts"
    tip = f"{one.kind}: {one.moved} {unit} of {one.requests} requests, the least is {one.least:.0f}"
    return [
        f"<td class=n>{one.requests}{f' {one.kind}s' if kind is None else kind}</td>",
        f'<td{bad} title="{escape(tip, quote=True)}">{one.per_request:.3g}</td>',
        f"<td class=n>{one.least_per_request:.3g}</td>",
        f"<td class=n>{used}</td>",
        f"<td class=n>{one.lanes:.3g}</td>",
    ]


def _totals(report: LaunchReport) -> str:
    """One row per kind of access, and the instructions of all lines."""
    rows = []
    for kind in dict.fromkeys(one.kind for one in report.figures):
        alike = [one for one in report.figures if one.kind == kind]
        requests, moved = sum(one.requests for one in alike), sum(one.moved for one in alike)
        least = sum(one.least for one in alike)
        used, all_bytes = sum(one.bytes_used for one in alike), sum(one.bytes_moved for one in alike)
        share = f"{used / all_bytes:.0%}" if all_bytes else ""
        rows.append(
            f'<tr class="total"><td></td><td class="code of">all {kind}s</td><td></td><td class=n>{requests}</td>'
            f"<td class=n>{moved / requests:.3g}</td><td class=n>{least / requests:.3g}</td><td class=n>{share}</td>"
            "<td></td><td></td><td></td></tr>"
        )
    issued = report.run.counters["instructions"]
    rows.append(
        f'<tr class="total"><td></td><td class="code of">all lines</td><td class=n>{issued}</td>{"<td></td>" * 7}</tr>'
    )
    return "".join(rows)


def _bar(value: int, most: int) -> str:
    if not value:
        return "<td></td>"
    share = max(2, round(100 * value / most))
    return f'<td class="n heat" style="--share:{share}%">{value}</td>'


def _script(report: LaunchReport) -> str:
    """The pictures of each line's accesses, and what shows them."""
    cards = json.dumps(_cards(report)).replace("</", "<\\/")
    code = "\n".join((STATIC / name).read_text(encoding="utf-8") for name in ("svg.js", "grid.js", "report.js"))
    code = code.replace("export default { render };\n", "", 1)
    return f'<script type="application/json" id="cards">{cards}</script><script type="module">{code}</script>'


def _cards(report: LaunchReport) -> dict[int, list[dict[str, Any]]]:
    """Line -> (sentence, diagram) of each kind of its accesses: of the most costly recorded request."""
    found: dict[int, list[dict[str, Any]]] = {}
    for one in report.figures:
        index, log = _costliest(report.run, one)
        card = bank_card(log, index) if one.space == "shared" else sector_card(log, index, report.run.buffers)
        unit = "wavefronts" if one.space == "shared" else "sectors"
        shown = f"warp {int(log.warp[index])} of block {int(log.block[index])}"
        words = (
            f"Line {one.line}, {one.kind} of {one.width} bytes per lane: {one.per_request:.3g} {unit} per request, the "
            f"least is {one.least_per_request:.3g}. Shown: {shown}."
        )
        found.setdefault(one.line, []).append({"words": words, "data": card})
    return found


def _costliest(run: Run, one: AccessFigures) -> tuple[int, Accesses]:
    """The recorded request of a line that takes the most sectors or wavefronts: its row in the log."""
    log = run.shared if one.space == "shared" else run.global_
    rows = np.flatnonzero((log.line == one.line) & (log.store == one.store))[:_LOOKED_AT]
    costs = np.zeros(len(rows), np.int64)
    for width in np.unique(log.width[rows]):
        here = log.width[rows] == width
        address, active = log.address[rows[here]], log.active[rows[here]]
        if one.space == "shared":
            costs[here] = wavefronts_and_conflicts(address, active, int(width), one.store)[0]
        else:
            costs[here] = global_sectors(address, active, int(width))
    return int(rows[costs.argmax()]), log
