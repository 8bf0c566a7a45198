"""CUDA source with its counters as heat, and beside it the PTX and SASS that the compiler made of each line.

HTML without JavaScript that follows JupyterLab's theme, and plain text for terminals. Every text is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from softlab.traces import COUNTERS, Run
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
    "shuffle_instructions",
    "barriers",
)
#: Column titles where there is little room.
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
}
#: Machine code of a line that is shown at once; the rest unfolds.
MOST_SHOWN = 8

_FONT = f"font-family:{escape(MONOSPACE, quote=True)};font-size:12px;line-height:18px"
_INK = "color:var(--jp-content-font-color1,inherit)"
_FAINT = "color:var(--jp-content-font-color2,#767676)"
_EDGE = "1px solid var(--jp-border-color2,#ddd)"
#: JupyterLab gives tables stripes, borders and centred text of its own: all of it is set here.
_CELL = "padding:0 8px;border:0;vertical-align:top;text-align:left;white-space:pre-wrap;overflow-wrap:anywhere"


@dataclass(frozen=True)
class Note:
    """A sentence about one line of the source: a fault, or what the compiler says of it."""

    line: int
    text: str


def heat_colour(counter: str) -> str:
    """The colour of a counter's heat, in the one visual language."""
    if counter == "bank_conflicts":
        return ROLES["conflict"]
    if counter.startswith("global"):
        return GREEN
    if counter.startswith("shared"):
        return PURPLE
    return ORANGE if counter == "barriers" else SKY


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
    noted = {note.line for note in notes}
    rows = []
    for number, text in enumerate(source.splitlines(), 1):
        here = by_line.get(number, {})
        cells = [_number(number), _code(text, number in noted)]
        cells += [_count(name, here.get(name, 0), most[name], here) for name in names]
        rows.append(f'<tr style="background:none" data-line="{number}">{"".join(cells)}</tr>')
        rows += [_note(note.text, 2 + len(names)) for note in notes if note.line == number]
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
    found = [f"  line  {head}  CUDA".rstrip()]
    for number, text in enumerate(source.splitlines(), 1):
        here = by_line.get(number, {})
        figures = "  ".join(str(here.get(name) or "").rjust(width[name]) for name in names)
        found.append(f"{'>' if number in noted else ' '} {number:4}  {figures + '  ' if names else ''}{text}".rstrip())
        for note in notes:
            if note.line == number:
                found += [f"      | {line}" for line in note.text.splitlines()]
    return "\n".join(found)


@dataclass(frozen=True)
class Code:
    """One instruction of PTX or SASS: its text and what it counted, None where it is not known."""

    text: str
    counters: Mapping[str, int] | None


def ptx_by_line(run: Run) -> dict[int, tuple[Code, ...]]:
    """Line of the kernel's own file -> its PTX with counters, in the order of the code; line 0: of no line there."""
    found: dict[int, list[Code]] = {}
    counted = run.instructions
    if counted is None:
        return {}
    for text, frames, counts in zip(counted.text, counted.frames, counted.counts, strict=True):
        if not text:
            continue
        line = next((number for name, number in frames if name == run.file), 0)
        figures = {name: int(value) for name, value in zip(COUNTERS, counts, strict=True)}
        found.setdefault(line, []).append(Code(text, figures))
    return {line: tuple(codes) for line, codes in found.items()}


def source_view(run: Run, *, counter: str = "instructions", sass: Mapping[int, Sequence[Code]] | None = None) -> str:
    """HTML: CUDA, PTX and SASS side by side, a row for each source line, with one counter as heat.

    Arguments:
        run: of the emulator (one of a GPU has no counters and no PTX by line: its CUDA is shown alone).
        counter: one of ``softlab.traces.COUNTERS``.
        sass: line -> machine code, as in :func:`ptx_by_line`; without it there is no such column.

    Raises:
        ValueError: no such counter.
    """
    (counter,) = _known([counter])
    by_line, ptx = run.by_line(), ptx_by_line(run)
    most = max((c[counter] for c in by_line.values()), default=0)
    beside = [
        (title, codes, _most(codes, counter)) for title, codes in (("PTX", ptx), ("SASS", sass)) if codes is not None
    ]
    rows = []
    for number, text in enumerate(run.source.splitlines(), 1):
        here = by_line.get(number, {})
        cells = [_number(number), _code(text, False), _count(counter, here.get(counter, 0), most, here)]
        cells += [_machine(codes.get(number, ()), counter, largest) for _, codes, largest in beside]
        rows.append(f'<tr style="background:none;border-top:{_EDGE}" data-line="{number}">{"".join(cells)}</tr>')
    title = counter.replace("_", " ")
    return _table(["line", "CUDA", title, *(name for name, _, _ in beside)], rows, tips={title: MEANING[counter]})


def _known(counters: Sequence[str]) -> tuple[str, ...]:
    for name in counters:
        if name not in COUNTERS:
            raise ValueError(f"{name!r} is no counter; there are {', '.join(COUNTERS)}")
    return tuple(counters)


def _table(titles: Sequence[str], rows: Sequence[str], *, tips: Mapping[str, str]) -> str:
    code = {"CUDA", "PTX", "SASS"}
    head = "".join(
        f'<th title="{escape(tips.get(title, ""), quote=True)}" style="padding:2px 8px;border:0;border-bottom:{_EDGE};'
        f"vertical-align:bottom;font-weight:600;line-height:15px;"
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


def _code(text: str, marked: bool) -> str:
    mark = f";box-shadow:inset 3px 0 {ROLES['conflict']};font-weight:bold" if marked else ""
    return f'<td style="{_CELL};tab-size:2;min-width:24ch{mark}">{escape(text)}</td>'


def _count(name: str, value: int, most: int, here: Mapping[str, int]) -> str:
    if not value:
        return f'<td style="{_CELL}"></td>'
    return (
        f'<td data-counter="{name}" data-value="{value}" title="{escape(_tip(name, value, here), quote=True)}" '
        f'style="{_CELL};padding:0 1px;min-width:64px"><div style="padding:0 7px;text-align:right;white-space:nowrap;'
        f'{_bar(name, value, most)}">{escape(shown(value))}</div></td>'
    )


def _bar(name: str, value: int, most: int) -> str:
    """A bar from the right, as long as the value's share of the largest."""
    share = max(2, round(100 * value / most))
    colour = heat_colour(name) + "66"  # 40 % opaque: the figure on it can be read on a light and on a dark page
    return f"background:linear-gradient(to left,{colour} {share}%,transparent {share}%)"


def _tip(name: str, value: int, here: Mapping[str, int]) -> str:
    """What stands behind a figure: the counters of the same kind of the line."""
    space = name.partition("_")[0]
    related = (
        [n for n in COUNTERS if n.startswith(f"{space}_") and here.get(n)] if space in ("global", "shared") else []
    )
    return "; ".join(f"{shown(here[n])} {n.replace('_', ' ')}" for n in related or [name] if n in here) or str(value)


def _note(text: str, columns: int) -> str:
    body = escape(text).replace("\n", "<br>")
    return (
        f'<tr style="background:none"><td></td><td colspan="{columns - 1}" style="{_CELL};padding:2px 8px 4px;'
        f'box-shadow:inset 3px 0 {ROLES["conflict"]}">{body}</td></tr>'
    )


def _most(codes: Mapping[int, Sequence[Code]], counter: str) -> int:
    return max(((code.counters or {}).get(counter, 0) for some in codes.values() for code in some), default=0)


def _machine(codes: Sequence[Code], counter: str, most: int) -> str:
    """A cell with instructions, the counter's bar behind each; those after the first few unfold."""
    lines = [_instruction(code, counter, most) for code in codes]
    body = "".join(lines[:MOST_SHOWN])
    if len(lines) > MOST_SHOWN:
        more = len(lines) - MOST_SHOWN
        body += (
            f'<details><summary style="cursor:pointer;{_FAINT}">{more} more</summary>'
            f"{''.join(lines[MOST_SHOWN:])}</details>"
        )
    return f'<td style="{_CELL};min-width:34ch">{body}</td>'


def _instruction(code: Code, counter: str, most: int) -> str:
    value = (code.counters or {}).get(counter, 0)
    figure = f'<span style="float:right;padding-left:12px">{escape(shown(value))}</span>' if value else ""
    style = _bar(counter, value, most) if value else _FAINT
    return f'<div style="padding:0 4px;{style}">{figure}{escape(" ".join(code.text.split()))}</div>'
