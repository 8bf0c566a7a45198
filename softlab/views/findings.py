"""What a run found wrong, for its card and its text: the kind, each line with its source, both places, how often.

Every text is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from textwrap import wrap

from softlab.findings import Finding, often, sentence, without_repetitions
from softlab.views.source import Note
from softlab.views.style import MONOSPACE, ORANGE, ROLES

#: Findings that a card lists.
MOST_FINDINGS = 20
#: Columns of a text.
_COLUMNS = 110
_FAINT = "color:var(--jp-content-font-color2,#767676)"
_TEXT = "font-size:13px;line-height:20px;color:var(--jp-content-font-color1,inherit)"
_CODE = f"font-family:{escape(MONOSPACE, quote=True)};font-size:12px;white-space:pre-wrap;overflow-wrap:anywhere"
_CELL = "padding:0 16px 0 0;border:0;vertical-align:baseline;text-align:left"
#: (line as shown, source text of it or "", who and where).
_Place = tuple[str, str, str]


def colour_of(severity: str) -> str:
    """The colour of an error or a warning."""
    return ROLES["conflict"] if severity == "error" else ORANGE


def findings_html(findings: Sequence[Finding], source: str, file: str) -> str:
    """HTML: one item per finding, in the order of the lines. ``source`` is the text of ``file``."""
    listed = _ordered(findings, file)
    items = [_item(finding, source, file) for finding in listed[:MOST_FINDINGS]]
    items += [f'<div style="{_TEXT};margin:4px 14px">{escape(line)}</div>' for line in _rest(findings, listed)]
    return "".join(items)


def findings_text(findings: Sequence[Finding], source: str, file: str) -> str:
    """The same as plain text."""
    parts = []
    listed = _ordered(findings, file)
    for finding in listed[:MOST_FINDINGS]:
        parts.append(f"  {finding.severity}: {finding.kind}, {often(finding.count)}")
        for line in sentence(finding).splitlines():
            parts += wrap(line, _COLUMNS, initial_indent=" " * 4, subsequent_indent=" " * 4)
        for line, code, where in _places(finding, source, file):
            place = ", ".join(filter(None, (line, where)))
            parts.append(f"    {place}{': ' if place and code else ''}{code}")
    parts += [f"  {line}" for line in _rest(findings, listed)]
    return "\n".join(line.rstrip() for line in parts if line.strip())


def finding_notes(findings: Sequence[Finding], file: str) -> list[Note]:
    """Notes for the lines of a source: a short one at each place of each finding."""
    notes = []
    for finding in _ordered(findings, file):
        here = finding.line if finding.file == file else None
        other = finding.other_line if finding.other_file == file else None
        if here is not None:
            pair = f", with line {other}" if other not in (None, here) else ""
            text = f"{finding.severity}: {finding.kind}, {often(finding.count)}{pair}"
            notes.append(Note(here, text, finding.severity))
        if other not in (None, here):
            what = "access" if finding.kind == "race" else "place"
            where = f" in line {here}" if here is not None else ""
            notes.append(Note(other or 0, f"the other {what} of the {finding.kind}{where}", finding.severity))
    return list(dict.fromkeys(notes))


def _ordered(findings: Sequence[Finding], file: str) -> list[Finding]:
    """In the order of the lines, errors first; last those of no line of the file. Repetitions are left out."""

    def place(finding: Finding) -> tuple[bool, int, bool]:
        own = finding.line is not None and finding.file == file
        return not own, (finding.line or 0) if own else 0, finding.severity != "error"

    return sorted(without_repetitions(findings), key=place)


def _rest(findings: Sequence[Finding], listed: Sequence[Finding]) -> list[str]:
    """What is not listed."""
    more, again = len(listed) - MOST_FINDINGS, len(findings) - len(listed)
    warnings = f"{again} warning{'' if again == 1 else 's'} on the lines of errors"
    return [f"and {more} more in run.findings"] * (more > 0) + [f"{warnings}: see run.findings"] * (again > 0)


def _item(finding: Finding, source: str, file: str) -> str:
    edge = f"border-left:4px solid {colour_of(finding.severity)};padding:0 10px;margin:8px 0"
    head = (
        f"<div><b>{escape(finding.severity)}: {escape(finding.kind)}</b>"
        f'<span style="{_FAINT}">, {escape(often(finding.count))}</span></div>'
    )
    text = escape(sentence(finding)).replace("\n", "<br>")
    rows = "".join(
        f'<tr style="background:none"><td style="{_CELL};white-space:nowrap">{escape(line)}</td>'
        f'<td style="{_CELL};{_CODE}">{escape(code)}</td><td style="{_CELL};{_FAINT}">{escape(where)}</td></tr>'
        for line, code, where in _places(finding, source, file)
    )
    style = f"border-collapse:collapse;margin:2px 0;{_TEXT}"
    table = f'<table style="{style}"><tbody>{rows}</tbody></table>' if rows else ""
    body = f'{head}<div style="max-width:100ch">{text}</div>{table}'
    return f'<div class="softlab-finding" style="{edge};{_TEXT}">{body}</div>'


def _places(finding: Finding, source: str, file: str) -> list[_Place]:
    """Where the finding is, and where the other access is."""
    here = _place((finding.line, finding.file, finding.header), (finding.thread, finding.block), source, file)
    there = _place(
        (finding.other_line, finding.other_file, finding.other_header),
        (finding.other_thread, finding.other_block),
        source,
        file,
    )
    if here[:2] == there[:2] and here[0]:
        there = ("same line", "", there[2])
    return [place for place in (here, there) if any(place)]


def _place(at: tuple[int | None, str | None, str | None], who: tuple[object, object], source: str, file: str) -> _Place:
    (line, name, header), (thread, block) = at, who
    lines = source.splitlines()
    own = name == file
    code = lines[line - 1].strip() if line is not None and own and 1 <= line <= len(lines) else ""
    shown = "" if line is None else f"line {line}" if own or name is None else f"line {line} of {name}"
    where = [f"thread {thread}" if thread else "", f"block {block}" if block else "", f"in {header}" if header else ""]
    return shown, code, ", ".join(filter(None, where))
