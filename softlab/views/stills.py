"""Still pictures: what an explorer shows, as one SVG for pages that run no widgets, such as GitHub's.

GitHub takes scripts, style sheets and references out of an SVG. So a still has plain shapes with their colours as
attributes, a light page of its own, and no tips. The same input gives the same bytes.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser
from typing import Any

from softlab.views import svg
from softlab.views.style import FONT, MONOSPACE

#: Pixels: the edge around the picture, a line of text, a row of a table, the gap between two parts.
_EDGE, _LINE, _ROW, _GAP = 10, 18, 20, 10
#: Pixels per character, a little more than the fonts need: no font is the same on all machines.
_WIDE, _MONO = 6.6, 7.3
#: Characters per line of prose.
_MOST = 126
#: Of a listing this many lines are drawn, and the picture says how many are left out.
MOST_LINES = 40
LEFT_OUT = "Here the explorer shows estimated times. They change with the timing model, so they are left out."
NOTE = "A still picture. Open the lesson with softlab to move its controls."

#: The colours of a light page.
INK, FAINT, RULE = "#1f2328", "#59636e", "#d1d9e0"
_COLOURS = {"--jp-content-font-color1": INK, "--jp-content-font-color2": FAINT}
_VARIABLE = re.compile(r"var\((--[\w-]+),\s*([^()]*)\)")
_STYLE = re.compile(r' style="([^"]*)"')
_CHANGING = f'<div {svg.ESTIMATED}="1">'
_DRAWING = re.compile(r"<svg\b([^>]*)>(.*?)</svg>", re.DOTALL)
_BLOCKS = {"div", "p", "li", "ul", "pre", "tr", "table", "caption", "br", "h4", "summary", "details"}


@dataclass(frozen=True)
class Part:
    """A piece of a still: its SVG, drawn from (0, 0), and its size in pixels."""

    body: str
    width: float
    height: float


def still(parts: Iterable[Part], *, title: str, state: Mapping[str, Any] | None = None, note: str = NOTE) -> str:
    """The parts one below the other, under the title and the values of the controls.

    Arguments:
        parts: as the functions of this module and of ``softlab.views.still_diagrams`` make them.
        title: for screen readers, and the first line.
        state: control -> value; long values are left out.
        note: the last line.
    """
    values = ", ".join(f"{name} {_shown(value)}" for name, value in (state or {}).items() if _shown(value))
    head = [_text(0, 14, title, size=13, bold=True)]
    head += [_text(0, 14 + _LINE * (k + 1), line, fill=FAINT) for k, line in enumerate(textwrap.wrap(values, _MOST))]
    found = [Part("".join(head), 0, _LINE * len(head)), *parts]
    found.append(Part(_text(0, 11, note, fill=FAINT, size=11), 0, _LINE))
    body, y, width = [], float(_EDGE), float(svg.WIDTH)
    for part, before in zip(found, [None, *found], strict=False):
        if part.body and part != before:
            body.append(f'<g transform="translate({_EDGE} {y:g})">{part.body}</g>')
            y += part.height + _GAP
            width = max(width, part.width)
    wide, tall = width + 2 * _EDGE, y
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:g}" height="{tall:g}" viewBox="0 0 {wide:g} {tall:g}" '
        f'role="img" aria-label="{escape(title, quote=True)}" font-family="{escape(FONT, quote=True)}" font-size="12">'
        f'<rect width="{wide:g}" height="{tall:g}" fill="#ffffff"/>{"".join(body)}</svg>'
    )


def parts_of(html: str) -> tuple[Part, ...]:
    """What a piece of HTML shows: its drawings, tables and sentences. Estimates are left out: the model changes."""
    found: list[Part] = []
    at = 0
    if html.startswith(_CHANGING):
        return (Part(_text(0, 13, LEFT_OUT, fill=FAINT), 0, _LINE),)
    for drawing in _DRAWING.finditer(html):
        found += _flow(html[at : drawing.start()])
        if svg.ESTIMATED in drawing[1]:
            found.append(Part(_text(0, 13, LEFT_OUT, fill=FAINT), 0, _LINE))
        else:
            found.append(_drawing(drawing[1], drawing[2]))
        at = drawing.end()
    return (*found, *_flow(html[at:]))


def changing(html: str) -> str:
    """Sentences or a table that show estimates, with the mark by which a still leaves them out."""
    return f"{_CHANGING}{html}</div>"


def lines(texts: Sequence[str], *, monospace: bool = False, bold: Iterable[int] = ()) -> Part:
    """Lines of text; ``bold``: the numbers of those that stand out."""
    marked = set(bold)
    body = "".join(
        _text(0, 13 + k * _LINE, text, bold=k in marked, monospace=monospace) for k, text in enumerate(texts) if text
    )
    longest = max((len(text) for text in texts), default=0)
    return Part(body, longest * (_MONO if monospace else _WIDE), len(texts) * _LINE)


def choices(question: str, answers: Sequence[str], chosen: str) -> Part:
    """A question with its answers, the chosen one marked."""
    marks = [f"\N{BLACK CIRCLE} {answer}" if answer == chosen else f"\N{WHITE CIRCLE} {answer}" for answer in answers]
    return lines([question, *marks] if question else marks, bold=[0] if question else [])


def shape(tag: str, content: str = "", **attributes: Any) -> str:
    """One element of an SVG; ``stroke_width`` becomes ``stroke-width``, and numbers lose what no eye sees."""
    named = "".join(
        f' {name.replace("_", "-")}="{escape(f"{value:.5g}" if isinstance(value, float) else str(value), quote=True)}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{named}>{content}</{tag}>" if content else f"<{tag}{named}/>"


def _text(
    x: float, y: float, words: Any, *, bold: bool = False, fill: str = INK, size: int = 12, anchor: str = "",
    monospace: bool = False,
) -> str:  # fmt: skip
    more: dict[str, Any] = {"fill": fill}
    if size != 12:
        more["font_size"] = size
    if bold:
        more["font_weight"] = 600
    if anchor:
        more["text_anchor"] = anchor
    if monospace:
        more["font_family"] = MONOSPACE
    # SVG joins spaces; those that indent code are made such as stay.
    words = str(words).replace(" " if monospace else "  ", "\N{NO-BREAK SPACE}" if monospace else "\N{NO-BREAK SPACE} ")
    return shape("text", escape(words), x=float(x), y=float(y), **more)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float | str):
        return str(value)
    if isinstance(value, list | tuple | set | frozenset):
        return " + ".join(map(str, value)) if all(isinstance(item, int | str) for item in value) else ""
    return ""


def _drawing(attributes: str, body: str) -> Part:
    """A drawing of a page as it looks on a light one: no tips, no names for tests, colours as attributes."""
    size = re.search(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"', attributes)
    width, height = (float(number) for number in size.groups()) if size else (float(svg.WIDTH), 0.0)
    body = re.sub(r"<title>.*?</title>", "", body, flags=re.DOTALL)
    body = re.sub(r' (?:data-[\w-]+|class|tabindex|role|aria-label)="[^"]*"', "", body)
    body = _VARIABLE.sub(lambda found: _COLOURS.get(found[1], found[2].strip()), body)
    body = re.sub(r"<g>((?:(?!</?g\b).)*)</g>", r"\1", body, flags=re.DOTALL)
    body = re.sub(r"(<[a-z]+)([^<>]*?)(/?>)", lambda tag: f"{tag[1]}{_attributes(tag[2])}{tag[3]}", body)
    return Part(body.replace(' text-anchor="start"', "").replace(' font-size="12"', ""), width, height)


def _attributes(text: str) -> str:
    """The attributes of an element, with its style as attributes and numbers of five digits."""
    style = _STYLE.search(text)
    if style:
        own = dict(entry.split(":", 1) for entry in style[1].split(";") if ":" in entry)
        text = _STYLE.sub("", text)
        for name, value in own.items():
            text = re.sub(rf' {name.strip()}="[^"]*"', "", text) + f' {name.strip()}="{value.strip()}"'
    return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", text)


class _Flow(HTMLParser):
    """Lines and tables of HTML. A block ends a line; a cell of a table is a text."""

    def __init__(self) -> None:
        super().__init__()
        #: A line (words, bold, monospace), or a table.
        self.found: list[tuple[str, bool, bool] | list[list[str]]] = []
        self._words, self._bold, self._open = "", False, [""]
        self._rows: list[list[str]] | None = None
        self._skip = self._pre = False

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        style = dict(attrs).get("style") or ""
        if tag in _BLOCKS:
            self.end_line()
        if tag == "table":
            self._rows = []
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag in ("td", "th") and self._rows:
            self._rows[-1].append("")
        elif tag == "span" and self._words and not self._words.endswith(" "):
            self._words += "   "
        if tag in ("b", "strong", "th") or "font-weight:bold" in style or "font-weight:600" in style:
            self._bold = True
        self._skip |= tag == "style"
        self._pre |= tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.end_line()
        if tag == "table" and self._rows:
            self.found.append([row for row in self._rows if any(row)])
            self._rows = None
        if tag == "style":
            self._skip = False
        if tag == "pre":
            self._pre = False

    def handle_data(self, data: str) -> None:
        if self._skip:
            return
        if self._rows and self._rows[-1]:
            self._rows[-1][-1] += " ".join(data.split())
        elif self._pre:
            for line in data.split("\n"):
                self.found.append((line, False, True))
        else:
            self._words += re.sub(r"\s+", " ", data)

    def end_line(self) -> None:
        if words := self._words.strip():
            self.found.append((words, self._bold, False))
        self._words, self._bold = "", False


def _flow(html: str) -> list[Part]:
    """The sentences and tables of HTML without drawings."""
    reader = _Flow()
    reader.feed(html)
    reader.close()
    reader.end_line()
    parts: list[Part] = []
    texts: list[str] = []
    marked: list[int] = []
    code = False

    def flush() -> None:
        while texts and not texts[-1]:
            texts.pop()
        if texts:
            parts.append(lines(list(texts), monospace=code, bold=list(marked)))
        texts.clear()
        marked.clear()

    for item in reader.found:
        if isinstance(item, list):
            flush()
            parts.append(_table(item))
            continue
        words, bold, monospace = item
        if monospace != code:
            flush()
            code = monospace
        wrapped = [words[: MOST_LINES * 4]] if code else textwrap.wrap(words, _MOST)
        if bold:
            marked += range(len(texts), len(texts) + len(wrapped))
        texts += wrapped
    flush()
    return parts


def _table(rows: Sequence[Sequence[str]]) -> Part:
    """A table: as wide as its texts."""
    columns = max(len(row) for row in rows)
    widths = [max(len(row[k]) for row in rows if k < len(row)) * _WIDE + 14 for k in range(columns)]
    body = []
    for number, row in enumerate(rows):
        x, y = 0.0, number * _ROW
        for words, width in zip(row, widths, strict=False):
            if words:
                body.append(_text(x, y + 14, words))
            x += width
    total = sum(widths)
    body += [
        shape("line", x1=0, y1=(k + 1) * _ROW, x2=float(total), y2=(k + 1) * _ROW, stroke=RULE)
        for k in range(len(rows))
    ]
    return Part("".join(body), total, len(rows) * _ROW)
