"""Still pictures of plotly's charts: bars and lines, drawn from the same figure.

A chart whose kind is not known here is an error, so that no still shows less than its chart does.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from softlab.views.stills import FAINT, INK, RULE, Part, shape
from softlab.views.style import SERIES
from softlab.views.svg import WIDTH

#: Pixels: a line of the legend, its sample, a character, the title above, the edge at the right.
_LINE, _SAMPLE, _CHARACTER, _HEAD, _RIGHT = 18, 22, 6.6, 26, 24
#: Pixels between two labels of an axis, at least.
_APART = 42
_DASHES = {"dash": "8 5", "dot": "2 4", "dashdot": "8 4 2 4"}
#: Corners of a mark around (0, 0), by plotly's names. A circle has none.
_CORNERS: dict[str, tuple[tuple[float, float], ...]] = {
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "triangle-up": ((0, -1.2), (1.2, 1), (-1.2, 1)),
    "x": ((-1, -0.5), (-0.5, -1), (0, -0.5), (0.5, -1), (1, -0.5), (0.5, 0), (1, 0.5), (0.5, 1), (0, 0.5), (-0.5, 1),
          (-1, 0.5), (-0.5, 0)),
    "cross": ((-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4), (0.4, 1.2), (-0.4, 1.2),
              (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4)),
    "star": ((0, -1.3), (0.4, -0.4), (1.3, -0.3), (0.6, 0.4), (0.8, 1.3), (0, 0.8), (-0.8, 1.3), (-0.6, 0.4),
             (-1.3, -0.3), (-0.4, -0.4)),
    "pentagon": ((0, -1.2), (1.2, -0.3), (0.7, 1.1), (-0.7, 1.1), (-1.2, -0.3)),
}  # fmt: skip


@dataclass(frozen=True)
class _Axis:
    """One axis. ends: pixels of its lowest and its highest value; labels: of a category axis, in their order; upright:
    whether it is the vertical one."""

    kind: Literal["linear", "log", "category"]
    low: float
    high: float
    ends: tuple[float, float]
    labels: tuple[str, ...] = ()
    upright: bool = False

    def place(self, value: Any) -> float:
        """Pixels of a value; of a category's middle."""
        number = self.labels.index(str(value)) + 0.5 if self.kind == "category" else float(value)
        if self.kind == "log":
            number = math.log10(number)
        return self.ends[0] + (self.ends[1] - self.ends[0]) * (number - self.low) / (self.high - self.low)

    @property
    def step(self) -> float:
        """Pixels of a category; negative where they run upwards."""
        return (self.ends[1] - self.ends[0]) / max(1, len(self.labels))

    def ticks(self, given: Mapping[str, Any]) -> list[tuple[float, str]]:
        """Pixels and words of the marks that have room."""
        if self.kind == "category":
            return [(self.place(label), label.replace("<br>", " ")) for label in self.labels[:: self._every_label()]]
        if "tickvals" in given:
            return [(self.place(v), words) for v, words in zip(given["tickvals"], given["ticktext"], strict=True)]
        values = _powers(self.low, self.high) if self.kind == "log" else _round(self.low, self.high)
        apart = _LINE + 6 if self.upright else _APART
        every = max(1, math.ceil(apart * len(values) / abs(self.ends[1] - self.ends[0])))
        return [(self.place(value), f"{value:g}" if value < 1e5 else f"{value:.0f}") for value in values[::every]]

    def _every_label(self) -> int:
        """1 if each label has room, 2 if only every second one has, and so on. A label can break at its spaces."""
        if self.upright or self.step > _CHARACTER * 14:
            return 1
        longest = max(len(word) for label in self.labels for word in label.replace("<br>", " ").split())
        return max(1, math.ceil((longest * _CHARACTER + 4) / self.step))


def chart(figure: Mapping[str, Any]) -> Part:
    """A chart, as ``plotly.graph_objects.Figure.to_json`` gives it, without its title.

    Raises:
        ValueError: it is no chart of ``softlab.views``, or one whose kind is not known here.
    """
    traces, layout = figure["data"], figure["layout"]
    if strange := sorted({trace["type"] for trace in traces} - {"bar", "scatter"}):
        raise ValueError(f"no still picture of a {strange[0]} chart: there are bar and scatter")
    if "xaxis2" in layout or "yaxis2" in layout:
        raise ValueError("no still picture of a chart with several pairs of axes")
    if not {"height", "margin", "xaxis", "yaxis"} <= layout.keys() or not all({"x", "y"} <= t.keys() for t in traces):
        raise ValueError("no still picture of a chart without the layout of softlab.views.style")
    legend = list(_legend(traces, layout))
    top = _HEAD * 0.6 + _LINE * (legend[-1][1] + 1 if legend else 0)
    margin = layout["margin"]
    tall = layout["height"] - margin["t"] - margin["b"]
    rows = _labels(traces, layout["yaxis"], "y")
    left = max((len(row) for row in rows), default=6) * _CHARACTER + (24 if _title(layout["yaxis"]) else 4) + 8
    across = _axis(traces, layout, "x", (left, WIDTH - _RIGHT))
    upright = _axis(traces, layout, "y", (top + tall, top))
    body = [piece for words, line, x, trace in legend for piece in _entry(words, x, line * _LINE, trace)]
    body += _frame(layout, across, upright)
    bars = [trace for trace in traces if trace["type"] == "bar"]
    body += [piece for trace in bars for piece in _bars(trace, bars, layout, across, upright)]
    body += [piece for trace in traces if trace not in bars for piece in _lines(trace, across, upright)]
    body += _shapes(layout, across, upright)
    wraps = max((len(_wrapped(words, across)) - 1 for _, words in across.ticks(layout["xaxis"])), default=0)
    below = top + tall + 34 + 14 * wraps
    if _title(layout["xaxis"]):
        body.append(_words((left + WIDTH - _RIGHT) / 2, below, _title(layout["xaxis"]), text_anchor="middle"))
        below += _LINE
    for note in layout.get("annotations", ()):
        if note.get("yref") == "paper" and note.get("xref") == "paper":
            for line in textwrap.wrap(note["text"].replace("<br>", " "), 130):
                body.append(_words(0, below + 4, line, fill=FAINT, font_size=11))
                below += 15
    return Part("".join(body), WIDTH, below + 2)


def _title(axis: Mapping[str, Any]) -> str:
    return str((axis.get("title") or {}).get("text") or "")


def _labels(traces: Sequence[Mapping[str, Any]], axis: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The categories of an axis in plotly's order; empty for numbers."""
    values = [value for trace in traces for value in trace[name]]
    if axis.get("type") == "log" or not any(isinstance(value, str) for value in values):
        return ()
    return tuple(dict.fromkeys([*axis.get("categoryarray", ()), *map(str, values)]))


def _axis(
    traces: Sequence[Mapping[str, Any]], layout: Mapping[str, Any], name: str, ends: tuple[float, float]
) -> _Axis:
    axis = layout[f"{name}axis"]
    if axis.get("autorange") == "reversed":
        ends = ends[::-1]
    labels = _labels(traces, axis, name)
    if labels:
        return _Axis("category", 0, len(labels), ends, labels, name == "y")
    kind: Literal["linear", "log"] = "log" if axis.get("type") == "log" else "linear"
    if "range" in axis:
        low, high = axis["range"]
        return _Axis(kind, low, high, ends, upright=name == "y")
    found = [value for trace in traces for value in trace[name] if value is not None]
    low, high = min(found), max(found)
    if kind == "log":
        low, high = math.log10(low), math.log10(high)
    elif any(trace["type"] == "bar" for trace in traces) or 0 < low < 0.5 * high:
        low = min(0.0, low)
    room = 0.04 * (high - low or 1)
    return _Axis(kind, low if low == 0 else low - room, high + room, ends, upright=name == "y")


def _powers(low: float, high: float) -> list[float]:
    """The powers of two between 10**low and 10**high."""
    return [2.0**k for k in range(math.ceil(low / math.log10(2)), math.floor(high / math.log10(2)) + 1)]


def _round(low: float, high: float) -> list[float]:
    """Round numbers from low to high, some six of them."""
    power = 10 ** math.floor(math.log10((high - low) / 6))
    step = next(power * k for k in (1, 2, 5, 10) if (high - low) / (power * k) <= 8)
    return [round(k * step, 10) + 0.0 for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _legend(
    traces: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]
) -> Iterator[tuple[str, int, float, Mapping[str, Any]]]:
    """Words, line and pixels from the left of each name. A single trace has none, unless the chart asks for it."""
    if len(traces) < 2 and not layout.get("showlegend"):
        return
    x, line = 0.0, 0
    for trace in traces:
        name = str(trace.get("name", ""))
        wide = _SAMPLE + 6 + len(name) * _CHARACTER + 20
        if x + wide > WIDTH and x:
            x, line = 0.0, line + 1
        yield name, line, x, trace
        x += wide


def _entry(words: str, x: float, y: float, trace: Mapping[str, Any]) -> Iterator[str]:
    if trace["type"] == "bar":
        yield from _filled([(x, y + 1, _SAMPLE, 12)], trace)
    else:
        yield from _stroke([(x, y + 8), (x + _SAMPLE, y + 8)], trace)
        yield from _marks([(x + _SAMPLE / 2, y + 8)], trace)
    yield _words(x + _SAMPLE + 6, y + 12, words)


def _frame(layout: Mapping[str, Any], across: _Axis, upright: _Axis) -> Iterator[str]:
    """The lines and words of both axes."""
    (left, right), (bottom, top) = sorted(across.ends), sorted(upright.ends, reverse=True)
    for at, words in upright.ticks(layout["yaxis"]):
        if layout["yaxis"].get("showgrid", True):
            yield _line(left, at, right, at)
        yield _words(left - 8, at + 4, words, text_anchor="end")
    for at, words in across.ticks(layout["xaxis"]):
        if layout["xaxis"].get("showgrid", True):
            yield _line(at, top, at, bottom)
        for k, piece in enumerate(_wrapped(words, across)):
            yield _words(at, bottom + 16 + 14 * k, piece, text_anchor="middle")
    yield _line(left, bottom, right, bottom)
    if words := _title(layout["yaxis"]):
        middle = (top + bottom) / 2
        yield _words(12, middle, words, text_anchor="middle", transform=f"rotate(-90 12 {middle:g})")


def _wrapped(words: str, axis: _Axis) -> list[str]:
    """The lines of a label below the axis."""
    return textwrap.wrap(words, max(5, int(abs(axis.step) / _CHARACTER))) if axis.labels else [words]


def _bars(
    trace: Mapping[str, Any], others: Sequence[Mapping[str, Any]], layout: Mapping[str, Any], across: _Axis,
    upright: _Axis,
) -> Iterator[str]:  # fmt: skip
    """The bars of a trace: side by side with those of others, or (overlay) in one line."""
    lying = trace.get("orientation") == "h"
    places, values = (upright, across) if lying else (across, upright)
    if not places.labels:
        raise ValueError("no still picture of bars on an axis of numbers")
    names, lengths = (trace["y"], trace["x"]) if lying else (trace["x"], trace["y"])
    beside = layout.get("barmode") == "group"
    room = abs(places.step) * (1 - layout.get("bargap", 0.2))
    wide = abs(places.step) * trace["width"] if trace.get("width") else room / len(others) if beside else room
    along = others.index(trace) if places.step > 0 else len(others) - 1 - others.index(trace)
    shift = along * wide - room / 2 if beside else -wide / 2
    boxes, words = [], []
    for k, (name, length) in enumerate(zip(names, lengths, strict=True)):
        if length is None:
            continue
        base = trace["base"][k] if "base" in trace else 0
        a, b = sorted((values.place(base), values.place(base + length)))
        at = places.place(name) + shift
        boxes.append((a, at, b - a, wide) if lying else (at, a, wide, b - a))
        if "text" in trace:
            x, y, anchor = (b + 4, at + wide / 2 + 4, "start") if lying else (at + wide / 2, a - 4, "middle")
            words.append(_words(x, y, trace["text"][k], text_anchor=anchor, font_size=10))
    yield from _filled(boxes, trace)
    yield from words


def _filled(boxes: Sequence[tuple[float, float, float, float]], trace: Mapping[str, Any]) -> Iterator[str]:
    """Boxes (x, y, width, height) of one look, in two paths: a chart may have hundreds."""
    path = "".join(f"M{x:.1f} {y:.1f}h{wide:.1f}v{tall:.1f}h{-wide:.1f}z" for x, y, wide, tall in boxes)
    yield shape("path", d=path, fill=_colour(trace, "marker"))
    hatching = (trace["marker"].get("pattern") or {}).get("shape", "")
    path = "".join(_hatching(hatching, *box) for box in boxes)
    if path:
        yield shape("path", d=path, stroke="#000000", stroke_opacity=0.55, fill="none")


def _hatching(kind: str, x: float, y: float, wide: float, tall: float) -> str:
    """Lines (/), crosses (x) or dots (.) inside a box, some 12 pixels apart."""
    rise = min(8.0, wide)
    levels = [y + 12 * k for k in range(1, int((tall + 2) / 12) + 1)]
    if kind == ".":
        return "".join(f"M{x + wide / 2 - 1:.1f} {at - 4:.1f}h2" for at in levels)
    path = "".join(f"M{x:.1f} {at:.1f}l{wide:.1f} {-rise:.1f}" for at in levels if kind in ("/", "x"))
    return path + "".join(f"M{x:.1f} {at - rise:.1f}l{wide:.1f} {rise:.1f}" for at in levels if kind == "x")


def _lines(trace: Mapping[str, Any], across: _Axis, upright: _Axis) -> Iterator[str]:
    points = [(across.place(x), upright.place(y)) for x, y in zip(trace["x"], trace["y"], strict=True) if y is not None]
    if "lines" in trace.get("mode", "lines"):
        yield from _stroke(points, trace)
    yield from _marks(points, trace)


def _stroke(points: Sequence[tuple[float, float]], trace: Mapping[str, Any]) -> Iterator[str]:
    if "lines" not in trace.get("mode", "lines"):
        return
    line = trace.get("line") or {}
    dash = _DASHES.get(line.get("dash", ""))
    yield shape(
        "polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points), fill="none", stroke=_colour(trace, "line"),
        stroke_width=float(line.get("width", 2)), **({"stroke_dasharray": dash} if dash else {}),
    )  # fmt: skip


def _marks(points: Sequence[tuple[float, float]], trace: Mapping[str, Any]) -> Iterator[str]:
    if "markers" not in trace.get("mode", "lines"):
        return
    marker = trace.get("marker") or {}
    size = marker.get("size", 6) / 2
    colour = _colour(trace, "marker" if "color" in marker else "line")
    for x, y in points:
        corners = _CORNERS.get(marker.get("symbol", "circle"))
        if corners:
            around = " ".join(f"{x + size * a:.1f},{y + size * b:.1f}" for a, b in corners)
            yield shape("polygon", points=around, fill=colour)
        else:
            yield shape("circle", cx=round(x, 1), cy=round(y, 1), r=size, fill=colour)


def _shapes(layout: Mapping[str, Any], across: _Axis, upright: _Axis) -> Iterator[str]:
    """Lines through the whole chart (``add_hline``, ``add_vline``), and their words."""
    for line in layout.get("shapes", ()):
        level = line["xref"].endswith("domain")
        (x0, x1) = sorted(across.ends) if level else (across.place(line["x0"]),) * 2
        (y0, y1) = (upright.place(line["y0"]),) * 2 if level else sorted(upright.ends)
        dash = _DASHES.get(line["line"].get("dash", ""), "none")
        yield shape("line", x1=x0, y1=y0, x2=x1, y2=y1, stroke=FAINT, stroke_width=1.5, stroke_dasharray=dash)
    for note in layout.get("annotations", ()):
        if note.get("xref") == "x domain":
            yield _words(min(across.ends) + 4, upright.place(note["y"]) - 6, note["text"], fill=FAINT, font_size=11)


def _colour(trace: Mapping[str, Any], part: str) -> str:
    """A colour that GitHub keeps: without its transparency."""
    colour = (trace.get(part) or {}).get("color", SERIES[0])
    if not isinstance(colour, str):
        raise ValueError("no still picture of a chart with a colour for each mark")
    found = re.fullmatch(r"rgba?\((\d+), ?(\d+), ?(\d+)(?:, ?[\d.]+)?\)", colour)
    if not found:
        return colour
    # The only transparent one is a faint grey, on a white page.
    return RULE


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return shape("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), stroke=RULE)


def _words(x: float, y: float, words: Any, *, fill: str = INK, **more: Any) -> str:
    return shape("text", escape(str(words)), x=float(x), y=float(y), fill=fill, **more)
