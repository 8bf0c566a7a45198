"""Still pictures of the diagrams that widgets draw: grids of lanes, butterflies, panes of source.

They draw the same data as the JavaScript in ``softlab/views/static`` and ``softlab/explorers/static``, with its
measures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from softlab.views.stills import FAINT, INK, MOST_LINES, RULE, Part, lines, shape

#: Pixels, as in grid.js and butterfly.js: labels at the left, a column, a row, and what stands above and between.
_LABEL, _CELL, _HEIGHT, _HEAD, _BAND, _GAP = 136, 29, 22, 40, 18, 14
_BOX, _STEP, _TOP = 21, 38, 72
#: Machine instructions of a line that are drawn.
MOST_SASS = 16
#: Roles that have a stroke across them, so that a reader does not need the colour.
_HATCHED = ("conflict", "idle")


def grid(data: Mapping[str, Any], lane: int = -1) -> Part:
    """A diagram of ``softlab.views.diagrams``; the cells of ``lane`` have a thick edge."""
    columns = max((panel["columns"] for panel in data["panels"]), default=32)
    body = [_words(0, 16, data["title"], font_size=14, font_weight=600)]
    top = 26.0
    for panel in data["panels"]:
        body += _panel(panel, top, lane)
        top += _HEAD + (_BAND if panel["bands"] else 0) + len(panel["rows"]) * _HEIGHT + _GAP
    x = float(_LABEL)
    for entry in data["legend"]:
        body.append(_rect(x, top, 14, 14, entry["fill"]))
        if entry["role"] in _HATCHED:
            body.append(_stroke(x, top, 14, 14))
        body.append(_words(x + 20, top + 12, entry["text"], font_size=11))
        x += 44 + len(entry["text"]) * 6.6
    return Part("".join(body), max(_LABEL + columns * _CELL + 2.0, x), top + 22)


def _panel(panel: Mapping[str, Any], top: float, lane: int) -> Iterator[str]:
    head = _HEAD + (_BAND if panel["bands"] else 0)
    numbers, y = top + head - 8, top + head
    bottom = y + len(panel["rows"]) * _HEIGHT
    yield _words(0, top + 13, panel["title"], font_weight=600)
    yield _label(numbers, panel["columnTitle"], 10, FAINT)
    for column in range(panel["columns"]):
        words = panel["columnLabels"][column]
        yield _words(_LABEL + (column + 0.5) * _CELL, numbers, words, text_anchor="middle", font_size=10, fill=FAINT)
    for number, row in enumerate(panel["rows"]):
        shade: dict[str, Any] = {"fill": "#f3f3f3" if number % 2 else "#ffffff", "stroke": RULE, "stroke_width": 0.5}
        size = {"width": panel["columns"] * _CELL, "height": _HEIGHT}
        yield shape("rect", x=_LABEL, y=y + number * _HEIGHT, **size, **shade)
        label = f"{row['label']} · {row['mark']}" if row["mark"] else row["label"]
        yield _label(y + number * _HEIGHT + _HEIGHT / 2 + 4, label, 11)
    for cell in panel["cells"]:
        yield from _cell(cell, y, lane in cell["lanes"])
    x = float(_LABEL)
    for band in panel["bands"]:
        wide = band["columns"] * _CELL
        yield _words(x + wide / 2, numbers - 16, band["text"], text_anchor="middle", font_size=11)
        for edge in (x, x + wide):
            yield shape("line", x1=edge, y1=numbers - 26, x2=edge, y2=bottom, stroke=FAINT)
        x += wide


def _cell(cell: Mapping[str, Any], top: float, selected: bool) -> Iterator[str]:
    x, y = float(_LABEL + cell["column"] * _CELL), top + cell["row"] * _HEIGHT
    wide = cell["span"] * _CELL
    yield _rect(x + 1, y + 1, wide - 2, _HEIGHT - 2, cell["fill"], selected)
    if cell["role"] in _HATCHED:
        yield _stroke(x + 1, y + 1, wide - 2, _HEIGHT - 2)
    if cell["text"]:
        long = len(cell["text"]) if cell["span"] == 1 else 0
        size = 11 if long <= 3 else 9 if long == 4 else 8
        more = {"text_anchor": "middle", "font_size": size, "font_weight": 600, "fill": cell["ink"]}
        yield _words(x + wide / 2, y + _HEIGHT / 2 + 4, cell["text"], **more)


def butterfly(data: Mapping[str, Any], step: int) -> Part:
    """A diagram of ``softlab.views.reduction`` after ``step`` shuffles: what comes later is empty and faint."""
    levels, steps = data["levels"], data["steps"]
    bottom = _level(len(levels) - 1) + _BOX
    body = [_words(0, 16, data["title"], font_size=14, font_weight=600), _label(_TOP - 10, "lane", 10, FAINT)]
    for lane in range(32):
        body.append(_words(_middle(lane), _TOP - 10, lane, text_anchor="middle", font_size=10, fill=FAINT))
    for band in data["bands"]:
        x, wide = _LABEL + band["first"] * _CELL, band["lanes"] * _CELL
        body.append(_words(x + wide / 2, _TOP - 28, band["text"], text_anchor="middle", font_size=11))
        for edge in (x, x + wide):
            body.append(shape("line", x1=edge, y1=_TOP - 38, x2=edge, y2=bottom, stroke=FAINT))
    for number, exchange in enumerate(steps):
        y1, y2 = _level(number) + _BOX, _level(number + 1)
        body.append(_label((y1 + y2) / 2 + 4, exchange["title"], 11))
        body += [
            _edge(data["fills"], giver, taker, y1, y2, reached=number < step)
            for giver, taker in exchange["edges"]
            if giver != taker
        ]
    for number, level in enumerate(levels):
        body.append(_label(_level(number) + _BOX / 2 + 4, level["label"], 11))
        role = "done" if number and number == len(levels) - 1 else "own"
        for lane, cell in enumerate(level["cells"]):
            x, y = _middle(lane) - _CELL / 2 + 1, float(_level(number))
            if number > step or cell["idle"]:
                edge = {"stroke": RULE, "stroke_dasharray": "2 2"}
                body.append(shape("rect", x=x, y=y, width=_CELL - 2, height=_BOX, rx=3, fill="#ffffff", **edge))
                continue
            body.append(_rect(x, y, _CELL - 2, _BOX, data["fills"][role]))
            long = len(cell["text"])
            size = 11 if long <= 3 else 10 if long == 4 else 8.5 if long == 5 else 7.5
            more = {"text_anchor": "middle", "font_size": size, "font_weight": 600, "fill": data["inks"][role]}
            if cell["text"]:
                body.append(_words(_middle(lane), y + _BOX / 2 + 4, cell["text"], **more))
    return Part("".join(body), _LABEL + 32 * _CELL + 2.0, bottom + 8.0)


def _edge(fills: Mapping[str, str], giver: int, taker: int, y1: float, y2: float, *, reached: bool) -> str:
    lower = taker < giver
    more: dict[str, Any] = {"stroke": fills["lower" if lower else "higher"]}
    if not lower:
        more["stroke_dasharray"] = "5 2"
    if not reached:
        more["opacity"] = 0.25
    return shape("line", x1=_middle(giver), y1=y1, x2=_middle(taker), y2=y2, **more)


def source(data: Mapping[str, Any], counter: str, line: int) -> tuple[Part, ...]:
    """The panes of ``softlab.views.source_data``: the CUDA source with a counter, and the machine code of ``line``."""
    shown = [row for row in data["lines"] if row["text"].strip()]
    if len(shown) > MOST_LINES:  # the neighbourhood of the line, else of the first line that has the counter
        wanted = line or next((row["line"] for row in shown if row["counts"].get(counter)), 1)
        first = max(0, min(wanted - MOST_LINES // 2, len(shown) - MOST_LINES))
        left_out = len(shown) - MOST_LINES
        shown = shown[first : first + MOST_LINES]
    else:
        left_out = 0
    texts = [f"{row['line']:4} {row['counts'].get(counter, 0) or '':>9}  {row['text']}" for row in shown]
    chosen = [k for k, row in enumerate(shown) if row["line"] == line]
    title = next((entry["title"] for entry in data["counters"] if entry["name"] == counter), counter)
    head = f"line, {title}, {data['file']}" + (f" ({left_out} lines are left out)" if left_out else "")
    found = [lines([head], bold=[0]), lines(texts, monospace=True, bold=chosen)]
    if line and (machine := [row["text"] for row in data["sass"] if row["line"] == line]):
        words = f"SASS of line {line}, {data['arch']}: {min(len(machine), MOST_SASS)} of {len(machine)} instructions"
        found += [lines([words], bold=[0]), lines(machine[:MOST_SASS], monospace=True)]
    return tuple(found)


def _level(number: int) -> int:
    return _TOP + number * (_BOX + _STEP)


def _middle(lane: int) -> float:
    return _LABEL + (lane + 0.5) * _CELL


def _words(x: float, y: float, text: Any, **more: Any) -> str:
    return shape("text", _escaped(text), x=float(x), y=float(y), **{"fill": INK, **more}) if str(text) else ""


def _label(y: float, text: Any, size: int, fill: str = INK) -> str:
    return _words(_LABEL - 8, y, text, text_anchor="end", font_size=size, fill=fill)


def _rect(x: float, y: float, width: float, height: float, fill: str, selected: bool = False) -> str:
    edge: dict[str, Any] = {"stroke": "#000000", "stroke_width": 2.5} if selected else {}
    return shape("rect", x=float(x), y=float(y), width=width, height=height, rx=3, fill=fill, **edge)


def _stroke(x: float, y: float, width: float, height: float) -> str:
    return shape("line", x1=x, y1=y + height, x2=x + width, y2=y, stroke="#000000", stroke_opacity=0.35)


def _escaped(text: Any) -> str:
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
