"""CUDA source with its counters as heat, and beside it the PTX and SASS that the compiler made of each line.

HTML without JavaScript that follows JupyterLab's theme, and plain text for terminals. Every text is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

from softlab.instruments.listing import Listing
from softlab.traces import COUNTERS
from softlab.views.control_codes import control_words
from softlab.views.counters import MEANING
from softlab.views.style import GREEN, MONOSPACE, ORANGE, PURPLE, ROLES, SKY
from softlab.views.tables import shown

#: The counters beside a source, in this order; those that are zero everywhere are left out.
COLUMNS = (
    "instructions",
    "global_load_sectors",
    "global_store_sectors",
    "shared_load_wavefronts",
    "shared_store_wavefronts",
    "bank_conflicts",
    "dshared_load_sectors",
    "dshared_store_sectors",
    "shared_atomic_wavefronts",
    "global_atomic_sectors",
    "global_reduction_sectors",
    "shuffle_instructions",
    "tensor_instructions",
    "barriers",
)
#: Short column titles.
SHORT = {
    "instructions": "instr.",
    "global_load_sectors": "ld sect.",
    "global_store_sectors": "st sect.",
    "shared_load_wavefronts": "ld wavef.",
    "shared_store_wavefronts": "st wavef.",
    "bank_conflicts": "conflicts",
    "shuffle_instructions": "shuffles",
    "barriers": "barriers",
    "global_load_requests": "ld req.",
    "global_store_requests": "st req.",
    "shared_load_instructions": "shared ld",
    "shared_store_instructions": "shared st",
    "dshared_load_requests": "dsh. ld req.",
    "dshared_load_sectors": "dsh. ld sect.",
    "dshared_store_requests": "dsh. st req.",
    "dshared_store_sectors": "dsh. st sect.",
    "shared_atomic_instructions": "atomics",
    "shared_atomic_wavefronts": "at. wavef.",
    "global_atomic_requests": "at. req.",
    "global_atomic_sectors": "at. sect.",
    "global_reduction_requests": "red. req.",
    "global_reduction_sectors": "red. sect.",
    "tensor_instructions": "tensor",
    "tensor_hmma_instructions": "HMMA",
    "tensor_imma_instructions": "IMMA",
    "tensor_dmma_instructions": "DMMA",
    "tensor_gmma_instructions": "GMMA",
    "ptx_instructions": "PTX",
}
#: Machine code of a line that is shown at once; the rest unfolds.
MOST_SHOWN = 8
FEWEST_FOLDED = 3
_SASS_TIP = "a bar as long as that of the PTX instruction that it was made from"
_CONTROL = "SASS and its control codes"
_CONTROL_TIP = f"{_SASS_TIP}; beside it what it waits for, which scoreboard it sets, and how long the warp stalls"

_FONT = f"font-family:{escape(MONOSPACE, quote=True)};font-size:12px;line-height:18px"
#: Counters' names: narrow, to leave space for the code.
_HEAD = "font-size:11px;line-height:14px;font-family:var(--jp-ui-font-family,sans-serif)"
_INK = "color:var(--jp-content-font-color1,inherit)"
_FAINT = "color:var(--jp-content-font-color2,#767676)"
_EDGE = "1px solid var(--jp-border-color2,#ddd)"
#: JupyterLab gives tables stripes, borders and centred text of its own: all of it is set here.
_CELL = "padding:0 8px;border:0;vertical-align:top;text-align:left;white-space:pre-wrap;overflow-wrap:anywhere"


@dataclass(frozen=True)
class Note:
    """A sentence about one line of the source: a fault, or a message of the compiler; an "error" or a "warning"."""

    line: int
    text: str
    severity: str = "error"


def heat_colour(counter: str) -> str:
    """The colour of a counter's heat, in the one visual language."""
    if counter == "bank_conflicts":
        return ROLES["conflict"]
    if counter.startswith("global"):
        return GREEN
    if counter.startswith(("shared", "dshared")):
        return PURPLE
    return {"barriers": ROLES["barrier"], "shuffle_instructions": ROLES["shuffle"]}.get(counter, SKY)


def columns_of(by_line: Mapping[int, Mapping[str, int]]) -> tuple[str, ...]:
    """The counters of ``COLUMNS`` that any line has."""
    return tuple(name for name in COLUMNS if any(counters.get(name) for counters in by_line.values()))


def annotated_source(
    source: str,
    by_line: Mapping[int, Mapping[str, int]],
    *,
    counters: Sequence[str] | None = None,
    notes: Sequence[Note] = (),
) -> str:
    """HTML: the numbered source, its counters beside each line as bars, notes below the lines that they speak of.

    Arguments:
        source: the text.
        by_line: line -> counter name -> value, such as ``run.by_line()``.
        counters: which ones (default: those of ``COLUMNS`` that are not zero everywhere).
        notes: for a fault or the compiler's errors; their lines stand out.
    """
    names = columns_of(by_line) if counters is None else _known(counters)
    most = {name: max((c.get(name, 0) for c in by_line.values()), default=0) for name in names}
    noted = {note.line: note.severity for note in sorted(notes, key=lambda note: note.severity == "error")}
    rows = []
    for number, text in enumerate(source.splitlines(), 1):
        here = by_line.get(number, {})
        cells = [_number(number), _code(text, noted.get(number, ""))]
        cells += [_count(name, here.get(name, 0), most[name], here) for name in names]
        rows.append(f'<tr style="background:none" data-line="{number}">{"".join(cells)}</tr>')
        rows += [_note(note, 2 + len(names)) for note in notes if note.line == number]
    titles = ["line", "CUDA", *(name.replace("_", " ") for name in names)]
    return _table(titles, rows, tips={name.replace("_", " "): MEANING[name] for name in names})


def annotated_text(
    source: str,
    by_line: Mapping[int, Mapping[str, int]],
    *,
    counters: Sequence[str] | None = None,
    notes: Sequence[Note] = (),
) -> str:
    """The same as plain text: counters, number, line; a note's line is marked with ``>``."""
    names = columns_of(by_line) if counters is None else _known(counters)
    noted = {note.line for note in notes}
    width = {name: max([len(SHORT[name]), *(len(str(c.get(name, 0))) for c in by_line.values())]) for name in names}
    head = "  ".join(SHORT[name].rjust(width[name]) for name in names)
    found = [f"  line  {head + '  ' if names else ''}CUDA"]
    for number, text in enumerate(source.splitlines(), 1):
        here = by_line.get(number, {})
        figures = "  ".join(str(here.get(name) or "").rjust(width[name]) for name in names)
        found.append(f"{'>' if number in noted else ' '} {number:4}  {figures + '  ' if names else ''}{text}".rstrip())
        for note in notes:
            if note.line == number:
                found += [f"      | {line}" for line in note.text.splitlines()]
    return "\n".join(found)


def source_view(listing: Listing, *, counter: str = "instructions") -> str:
    """HTML: CUDA, PTX and SASS side by side, a row for each source line, with one counter as heat.

    The figures beside the CUDA and the PTX are counted. An instruction of the SASS has a bar as long as that of the PTX
    instruction it was made from, and no figure.

    Arguments:
        listing: of a kernel with one of its runs.
        counter: one of ``softlab.traces.COUNTERS``.

    Raises:
        ValueError: no such counter.
    """
    (counter,) = _known([counter])
    most = max(listing.heat(counter), default=0)
    hottest = max((line.counters.get(counter, 0) for line in listing.ptx), default=0)
    made_from = {position: line for line in listing.ptx for position in line.machine}
    controls = _controls(listing)
    rows = []
    for line in listing.lines:
        ptx = [_Code(p.text, p.counters.get(counter, 0), True) for p in (listing.ptx[k] for k in line.ptx)]
        machine = []
        for k in line.machine:
            count = made_from[k].counters.get(counter, 0) if k in made_from else 0
            words = control_words(listing, k) if controls else None
            machine.append(_Code(listing.machine[k].instruction.text, count, False, words))
        cells = [_number(line.number), _code(line.text, "", "26%" if controls else "34%")]
        cells += [_count(counter, line.counters.get(counter, 0), most, line.counters)]
        cells += [_machine(codes, counter, hottest) for codes in ([ptx, machine] if listing.machine else [ptx])]
        rows.append(f'<tr style="background:none;border-top:{_EDGE}" data-line="{line.number}">{"".join(cells)}</tr>')
    title = counter.replace("_", " ")
    sass = _CONTROL if controls else "SASS"
    titles = ["line", "CUDA", title, "PTX", *([sass] if listing.machine else [])]
    if listing.machine and not controls:
        rows.append(_note(Note(0, f"The control codes of {listing.arch} are not known."), len(titles)))
    if listing.why_no_machine_code:
        rows.append(_note(Note(0, f"No machine code: {listing.why_no_machine_code}"), len(titles)))
    return _table(titles, rows, tips={title: MEANING[counter], "SASS": _SASS_TIP, _CONTROL: _CONTROL_TIP})


def source_data(listing: Listing) -> dict[str, Any]:
    """The same as plain JSON data for the linked panes of ``explorers.source``.

    counters: those that are not zero everywhere, in the order of ``COUNTERS``, each with name, title, meaning, colour;
    lines, ptx, sass: the rows of the panes: text, line (of the source, 0: none), counts (counter -> value, zeros left
    out); sass has the counts of the PTX instruction it was made from, and ``control``, its control code in words,
    if ``controls``: whether the control codes of ``arch`` are known.
    """
    made_from = {position: line for line in listing.ptx for position in line.machine}
    used = [name for name in COUNTERS if any(listing.heat(name))]
    controls = _controls(listing)
    return {
        "file": listing.file,
        "counters": [
            {"name": n, "title": n.replace("_", " "), "meaning": MEANING[n], "colour": heat_colour(n)} for n in used
        ],
        "lines": [_row(line.text, line.number, line.counters) for line in listing.lines],
        "ptx": [_row(line.text, line.source, line.counters) for line in listing.ptx],
        "sass": [
            _row(line.instruction.text, line.source, made_from[number].counters if number in made_from else {})
            | ({"control": control_words(listing, number)} if controls else {})
            for number, line in enumerate(listing.machine)
        ],
        "controls": controls,
        "arch": listing.arch,
        "missing": listing.why_no_machine_code,
    }


def _controls(listing: Listing) -> bool:
    return any(line.instruction.control is not None for line in listing.machine)


@dataclass(frozen=True)
class _Code:
    """One instruction of a cell: its ``value``, whether the figure is shown beside its bar, and its control code in
    words, None where there is no column for it.
    """

    text: str
    value: int
    figured: bool
    control: str | None = None


def _row(text: str, line: int, counts: Mapping[str, int]) -> dict[str, Any]:
    return {"text": text.rstrip(), "line": line, "counts": {name: n for name, n in counts.items() if n}}


def _known(counters: Sequence[str]) -> tuple[str, ...]:
    for name in counters:
        if name not in COUNTERS:
            raise ValueError(f"{name!r} is no counter; there are {', '.join(COUNTERS)}")
    return tuple(counters)


def _table(titles: Sequence[str], rows: Sequence[str], *, tips: Mapping[str, str]) -> str:
    code = {"CUDA", "PTX", "SASS", _CONTROL}
    head = "".join(
        f'<th title="{escape(tips.get(title, ""), quote=True)}" style="border:0;border-bottom:{_EDGE};'
        f"padding:2px {8 if title in code else 4}px;"
        f"vertical-align:bottom;font-weight:600;{_FONT if title in code else _HEAD};"
        f'text-align:{"left" if title in code else "right"};{"" if title in code else "max-width:84px"}">'
        f"{escape(title)}</th>"
        for title in titles
    )
    return (
        f'<table style="border-collapse:collapse;border:0;margin:0;table-layout:auto;{_FONT};{_INK}">'
        f'<thead><tr style="background:none">{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )


def _number(number: int) -> str:
    return f'<td style="{_CELL};text-align:right;user-select:none;{_FAINT}">{number}</td>'


def _code(text: str, severity: str, width: str = "99%") -> str:
    """A line of code; ``severity`` is the worst of its notes, "" without notes."""
    mark = f";box-shadow:inset 3px 0 {_edge_of(severity)};font-weight:bold" if severity else ""
    return f'<td style="{_CELL};tab-size:2;min-width:30ch;width:{width}{mark}">{escape(text)}</td>'


def _count(name: str, value: int, most: int, here: Mapping[str, int]) -> str:
    if not value:
        return f'<td style="{_CELL}"></td>'
    return (
        f'<td data-counter="{name}" data-value="{value}" title="{escape(_tip(name, value, here), quote=True)}" '
        f'style="{_CELL};padding:0 1px;min-width:48px"><div style="padding:0 3px;text-align:right;white-space:nowrap;'
        f'{_bar(name, value, most)}">{escape(shown(value))}</div></td>'
    )


def _bar(name: str, value: int, most: int) -> str:
    """A bar from the right, as long as the value's share of the largest."""
    share = max(2, round(100 * value / most))
    colour = heat_colour(name) + "66"  # 40 % opaque: the figure on it can be read on a light and on a dark page
    return f"background:linear-gradient(to left,{colour} {share}%,transparent {share}%)"


def _tip(name: str, value: int, here: Mapping[str, int]) -> str:
    """The tip of a number: the line's other counters of the same kind."""
    space = name.partition("_")[0]
    related = (
        [n for n in COUNTERS if n.startswith(f"{space}_") and here.get(n)] if space in ("global", "shared") else []
    )
    return "; ".join(f"{shown(here[n])} {n.replace('_', ' ')}" for n in related or [name] if n in here) or str(value)


def _note(note: Note, columns: int) -> str:
    body = escape(note.text).replace("\n", "<br>")
    return (
        f'<tr style="background:none"><td></td><td colspan="{columns - 1}" style="{_CELL};padding:2px 8px 4px;'
        f'box-shadow:inset 3px 0 {_edge_of(note.severity)}">{body}</td></tr>'
    )


def _edge_of(severity: str) -> str:
    return ROLES["conflict"] if severity == "error" else ORANGE


def _machine(codes: Sequence[_Code], counter: str, most: int) -> str:
    """A cell of instructions. Of many, the first with a value are shown, and the others unfold."""
    hot = [number for number, code in enumerate(codes) if code.value] or list(range(len(codes)))
    open_ = set(hot[:MOST_SHOWN] if len(codes) > MOST_SHOWN else range(len(codes)))
    body = ""
    for is_open, run in groupby(range(len(codes)), key=open_.__contains__):
        lines = [_instruction(codes[number], counter, most) for number in run]
        if is_open or len(lines) < FEWEST_FOLDED:
            body += "".join(lines)
        else:
            body += (
                f'<details><summary style="cursor:pointer;{_FAINT}">{len(lines)} more</summary>'
                f"{''.join(lines)}</details>"
            )
    width = 30 if all(code.control is None for code in codes) else 54
    return f'<td style="{_CELL};min-width:{width}ch">{body}</td>'


def _instruction(code: _Code, counter: str, most: int) -> str:
    shows = code.value and code.figured
    figure = f'<span style="float:right;padding-left:12px">{escape(shown(code.value))}</span>' if shows else ""
    style = _bar(counter, code.value, most) if code.value else _FAINT
    text = escape(" ".join(code.text.split()))
    if code.control is None:
        return f'<div style="padding:0 4px;{style}">{figure}{text}</div>'
    control = f'<span style="flex:0 0 26ch;{_HEAD};line-height:18px;{_FAINT}">{escape(code.control)}</span>'
    code_cell = f'<div style="flex:1 1 auto;padding:0 4px;{style}">{text}</div>'
    return f'<div style="display:flex;gap:8px">{code_cell}{control}</div>'
