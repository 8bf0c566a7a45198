"""Parts of a device copy's speed over the row length: softlab's policies, and their peers, beside the ceiling.

Two forms of one picture: plotly, whose marks have tips, and an SVG file, for a README.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from softlab.views import svg
from softlab.views.bandwidth import SYMBOLS
from softlab.views.style import INK, SERIES, layout, series_index, stamped

#: What the picture is about; then the reference design. All other lines are peers.
FAST, REFERENCE = "softlab, fast", "softlab, oneflow"
#: Position along the axis, part of the ceiling, microseconds, what ran.
Point = tuple[int, float, float, str]


@dataclass(frozen=True)
class Subplot:
    """Lines (label -> points, ascending) over ``x``, "columns" or "rows", which are drawn in a logarithmic scale.
    ceiling: what 1.0 is."""

    title: str
    x: str
    ceiling: str
    lines: Mapping[str, Sequence[Point]]


def standings_chart(panels: Sequence[Subplot], *, title: str, stamp: str) -> go.Figure:
    """The panels as a plotly figure, one below another; the tip of a mark shows microseconds and kernel.

    Raises:
        ValueError: no panel.
    """
    _check(panels)
    figure = make_subplots(rows=len(panels), cols=1, subplot_titles=[panel.title for panel in panels])
    tall = 330 * len(panels) + 150
    look = layout(title, "", "", height=tall, margin={"l": 70, "r": 20, "t": 90, "b": 110})
    axes = {name: look.pop(name) | {"title": None} for name in ("xaxis", "yaxis")}  # all panels share them
    figure.update_layout(look).update_xaxes(axes["xaxis"]).update_yaxes(axes["yaxis"])
    named: set[str] = set()
    for row, panel in enumerate(panels, 1):
        for number, label in enumerate(_drawing_order(panel.lines)):
            x, y, spent, what = zip(*panel.lines[label], strict=True)
            number = series_index(label, number)
            figure.add_scatter(
                name=label, legendgroup=label, showlegend=label not in named, x=x, y=y, mode="lines+markers",
                legendrank=list(panel.lines).index(label),
                line={"color": SERIES[number % len(SERIES)], "width": _width(label),
                      "dash": _dash(label, "dash", "solid")},
                marker={"symbol": SYMBOLS[number % len(SYMBOLS)], "size": 9 if label == FAST else 6},
                customdata=list(zip(spent, what, strict=True)),
                hovertemplate=f"{label}<br>%{{x:,}} {panel.x}: %{{y:.3f}} of a {panel.ceiling}<br>"
                "%{customdata[0]:.2f} us, %{customdata[1]}<extra></extra>",
                row=row, col=1,
            )  # fmt: skip
            named.add(label)
        figure.add_hline(
            1.0, line={"color": INK, "dash": "dash"}, annotation_text=panel.ceiling, annotation_position="top left",
            annotation_font_size=11, row=row, col=1,
        )  # fmt: skip
        figure.update_xaxes(type="log", dtick=0.30103, tickformat="d", title_text=panel.x, row=row, col=1)
        figure.update_yaxes(range=[0, 1.06 * _top([panel])], title_text=f"part of a {panel.ceiling}", row=row, col=1)
    return stamped(figure, "<br>".join(textwrap.wrap(stamp, _STAMP_CHARACTERS)))


# SVG ------------------------------------------------------------------------------------------------------------------

_LEFT, _RIGHT, _HEAD, _TALL, _BETWEEN = 42.0, 128.0, 62.0, 216.0, 74.0
_WIDE = svg.WIDTH - _LEFT - _RIGHT
#: Pixels between the base lines of two labels, and of a character's width on average.
_LINE, _CHARACTER = 14.0, 6.4
_STAMP_CHARACTERS = 135


def standings_picture(panels: Sequence[Subplot], *, title: str, words: str, stamp: str) -> str:
    """The panels as an SVG file, one below another, each line with its name at its end. ``words`` are under the
    title, ``stamp`` under the picture. The same panels give the same bytes.

    Raises:
        ValueError: no panel.
    """
    _check(panels)
    parts = [svg.text(0, 18, title, bold=True, size=17), svg.text(0, 38, words, fill=svg.FAINT, size=12)]
    top = _HEAD
    for panel in panels:
        parts += _panel(panel, top + 22)
        top += _TALL + _BETWEEN
    for line in textwrap.wrap(stamp, _STAMP_CHARACTERS):
        parts.append(svg.text(0, top, line, fill=svg.FAINT, size=11))
        top += 15
    return svg.standalone(top, parts, title=title)


@dataclass(frozen=True)
class _Scale:
    """A panel's coordinates in pixels."""

    x: Callable[[float], float]
    y: Callable[[float], float]


def _panel(panel: Subplot, top: float) -> list[str]:
    lengths = sorted({point[0] for points in panel.lines.values() for point in points})
    least, most, ceiling = lengths[0], lengths[-1], 1.06 * _top([panel])
    span = math.log(most / least)
    scale = _Scale(
        lambda value: _LEFT + (math.log(value / least) / span if span else 0.5) * _WIDE,
        lambda value: top + (1 - value / ceiling) * _TALL,
    )
    parts = [svg.text(0, top - 10, panel.title, bold=True, size=13)]
    for quarter in range(int(ceiling / 0.25) + 1):
        y = scale.y(quarter / 4)
        parts.append(svg.text(_LEFT - 8, y + 4, f"{quarter / 4:.2f}", anchor="end", fill=svg.FAINT, size=11))
        if quarter != 4:
            parts.append(svg.line(_LEFT, y, _LEFT + _WIDE, y))
    parts.append(svg.line(_LEFT, scale.y(1), _LEFT + _WIDE, scale.y(1), stroke=svg.INK, dashed=True))
    for value in lengths if len(lengths) < 6 else (1 << k for k in range(least.bit_length() - 1, most.bit_length())):
        if least <= value <= most:
            x, y = scale.x(value), scale.y(0)
            parts += [
                svg.line(x, y, x, y + 4),
                svg.text(x, y + 17, _short(value), anchor="middle", fill=svg.FAINT, size=11),
            ]
    parts.append(svg.text(_LEFT + _WIDE + 18, scale.y(0) + 17, panel.x, fill=svg.FAINT, size=11))
    drawn = {label: [(scale.x(at), scale.y(part)) for at, part, *_ in points] for label, points in panel.lines.items()}
    for label in _drawing_order(drawn):
        parts += _line(label, drawn[label], list(drawn).index(label))
    return parts + _labels(drawn, panel.ceiling, scale)


def _line(label: str, points: Sequence[tuple[float, float]], number: int) -> list[str]:
    colour = _colour(label, number)
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dash = _dash(label, ' stroke-dasharray="5 3"', "")
    line = (
        f'<polyline data-curve="{label}" points="{path}" fill="none" stroke="{colour}" '
        f'stroke-width="{_width(label):g}" stroke-linejoin="round"{dash}/>'
    )
    marked = points if label == FAST else points[-1:]
    size = 3.4 if label == FAST else 2.6
    return [line, *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:g}" fill="{colour}"/>' for x, y in marked)]


def _labels(drawn: Mapping[str, Sequence[tuple[float, float]]], ceiling: str, scale: _Scale) -> list[str]:
    """Names at the lines' ends: of those that reach the right edge, in the margin and apart from each other; of those
    that end before, at the nearest free position."""
    edge = max(points[-1][0] for points in drawn.values())
    ends = {label: points[-1] for label, points in drawn.items()}
    ends[ceiling] = (edge, scale.y(1))
    margin = sorted((label for label in ends if ends[label][0] == edge), key=lambda label: (ends[label][1], label))
    parts, names = [], list(drawn)
    for label, y in zip(margin, _apart([ends[label][1] for label in margin], scale.y(0)), strict=True):
        if label == ceiling:
            parts.append(svg.text(edge + 18, y + 4, label, fill=svg.FAINT))
        else:
            parts += _label(label, names.index(label), ends[label], edge + 18, y)
    taken: list[tuple[float, float, float, float]] = []
    crossed = [point for points in drawn.values() for point in _along(points)]
    for label in sorted(set(drawn) - set(margin), key=lambda label: (ends[label], label)):
        x, y = _free(label, ends[label], taken, crossed, scale)
        taken.append(_box(label, x, y))
        parts += _label(label, names.index(label), ends[label], x, y)
    return parts


def _label(label: str, number: int, end: tuple[float, float], x: float, y: float) -> list[str]:
    """A name whose middle is at the height ``y``, with a thin line to its curve's end where that is not beside it."""
    halo = f"paint-order:stroke;stroke:{svg.PAGE};stroke-width:4px;stroke-linejoin:round"
    name = svg.text(x, y + 4, label, bold=label == FAST, size=12)
    near = min(max(end[0], x - 3), x + _CHARACTER * len(label))
    leader = svg.line(round(end[0], 1), round(end[1], 1), round(near, 1), round(y, 1), stroke=_colour(label, number))
    return [leader, name.replace('style="', f'style="{halo};', 1)]


def _apart(heights: Sequence[float], lowest: float) -> list[float]:
    """Ascending heights with at least a line between them, each as near to its own as the others let it."""
    found = [*heights]
    for _ in range(200):
        moved = False
        for k in range(len(found) - 1):
            if (short := _LINE - (found[k + 1] - found[k])) > 0.01:
                found[k], found[k + 1], moved = found[k] - short / 2, found[k + 1] + short / 2, True
        if found and found[-1] > lowest:
            found[-1], moved = lowest, len(found) > 1
        if not moved:
            break
    return found


def _free(
    label: str,
    end: tuple[float, float],
    taken: Sequence[tuple[float, float, float, float]],
    crossed: Sequence[tuple[float, float]],
    scale: _Scale,
) -> tuple[float, float]:
    """Where the name of a line that ends early begins, and its middle's height: near the end, on few other lines."""

    def cost(point: tuple[float, float]) -> tuple[float, float, float]:
        left, top, right, bottom = box = _box(label, *point)
        clash = sum(_meet(box, other) for other in taken)
        outside = right > _LEFT + _WIDE + _RIGHT or left < _LEFT or bottom > scale.y(0) or top < scale.y(1) - 4
        hidden = sum(left <= x <= right and top <= y <= bottom for x, y in crossed)
        away = math.hypot(point[0] - end[0] - 8, point[1] - end[1])
        return (1000.0 * (clash + outside) + 4.0 * hidden + 0.5 * away, *point)

    wide = _CHARACTER * len(label)
    points = [(end[0] + dx, end[1] + dy) for dx in (8, 20, -wide / 2, -wide - 8) for dy in range(-96, 97, 8)]
    return min(points, key=cost)


def _box(label: str, x: float, y: float) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a name that begins at x, its middle at the height y."""
    return x - 2, y - _LINE / 2, x + _CHARACTER * len(label) + 2, y + _LINE / 2


def _meet(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _along(points: Sequence[tuple[float, float]], step: float = 4.0) -> Iterable[tuple[float, float]]:
    """Points on a line, a few pixels apart."""
    for (x1, y1), (x2, y2) in pairwise(points):
        count = max(1, int(math.hypot(x2 - x1, y2 - y1) / step))
        yield from ((x1 + (x2 - x1) * k / count, y1 + (y2 - y1) * k / count) for k in range(count))
    yield points[-1]


def _check(panels: Sequence[Subplot]) -> None:
    if not panels:
        raise ValueError("nothing to draw: no problem was measured beside a device copy")


def _top(panels: Iterable[Subplot]) -> float:
    return max(1.0, *(point[1] for panel in panels for points in panel.lines.values() for point in points))


def _drawing_order(labels: Iterable[str]) -> list[str]:
    """Peers first, so that softlab's own lines are drawn above them."""
    return sorted(labels, key=lambda label: (label == FAST, label == REFERENCE))


def _width(label: str) -> float:
    return {FAST: 3.5, REFERENCE: 2.0}.get(label, 1.3)


def _colour(label: str, number: int) -> str:
    return SERIES[series_index(label, number) % len(SERIES)]


def _dash(label: str, dashed: str, solid: str) -> str:
    """The line is dashed where its colour is used for a second time."""
    return dashed if series_index(label, 0) >= len(SERIES) else solid


def _short(value: int) -> str:
    for unit, size in (("Mi", 1 << 20), ("Ki", 1 << 10)):
        if value >= size and value % size == 0:
            return f"{value // size}{unit}"
    return str(value)
