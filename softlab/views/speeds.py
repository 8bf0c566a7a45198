"""Speeds over the row length as SVG: curves beside their ceiling, a cursor, and live points if there are any."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from softlab.views import svg
from softlab.views.style import SERIES, series_index
from softlab.views.tables import shown, table

_LEFT, _RIGHT, _TOP, _TALL = 64, 178, 48, 300
_WIDE = svg.WIDTH - _LEFT - _RIGHT
_BOTTOM = _TOP + _TALL
#: Marks that are told apart without colour: corners, as factors of a mark's size.
_MARKS = (
    ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
    ((0, -1.2), (1.2, 1), (-1.2, 1)),
    ((0, 1.2), (1.2, -1), (-1.2, -1)),
    ((-1.2, -0.5), (1.2, -0.5), (1.2, 0.5), (-1.2, 0.5)),
    ((-0.5, -1.2), (0.5, -1.2), (0.5, 1.2), (-0.5, 1.2)),
)


@dataclass(frozen=True)
class Line:
    """A curve to draw: its number among all curves (which gives colour and mark, if its label has none of its own), its
    label, and (cols, GB/s, what ran, microseconds) of each sample."""

    number: int
    label: str
    samples: Sequence[tuple[int, float, str, float]]


@dataclass(frozen=True)
class Roofs:
    """What cannot be passed: a device copy's GB/s, as recorded, and the memory's on the datasheet."""

    copied: float
    datasheet: float


@dataclass(frozen=True)
class _Axes:
    """The picture's coordinates: columns from ``least`` to ``most``, logarithmic, and GB/s from 0 to ``top``."""

    least: int
    most: int
    top: float

    def x(self, columns: float) -> float:
        """Pixels from the left."""
        span = max(math.log(self.most / self.least), 1e-9)
        return _LEFT + math.log(columns / self.least) / span * _WIDE

    def y(self, speed: float) -> float:
        """Pixels from above."""
        return _TOP + (1 - speed / self.top) * _TALL


def speed_picture(
    lines: Sequence[Line], roofs: Roofs, cursor: int, *, title: str, stamp: str, live: Mapping[int, float] | None = None
) -> str:
    """SVG: GB/s over the columns (logarithmic) of each line, the ceilings, an upright line at ``cursor`` columns.

    ``live``: cols -> GB/s measured on this machine just now, drawn as circles. ``stamp`` is the text under the
    picture (a new line after each semicolon) and in the tip of each mark.
    """
    cols = [sample[0] for line in lines for sample in line.samples] + [cursor]
    axes = _Axes(min(cols), max(cols), 1.04 * max(roofs.datasheet, *(live or {0: 0.0}).values()))
    parts = [svg.text(0, 14, title, bold=True, size=13), *_grid(axes)]
    parts += _roof(axes.y(roofs.copied), f"device copy {roofs.copied:.0f}", "copy", "recorded in the same run")
    parts += _roof(axes.y(roofs.datasheet), f"datasheet {roofs.datasheet:.0f}", "datasheet", "the memory's rated speed")
    x = axes.x(cursor)
    parts += [
        svg.line(x, _TOP - 4, x, _BOTTOM, stroke=svg.INK, width=2),
        svg.text(x, _TOP - 8, shown(cursor), anchor=_anchor(x), bold=True, size=11),
    ]
    for line in lines:
        parts += _curve(line, [(axes.x(c), axes.y(speed)) for c, speed, *_ in line.samples], cursor, roofs, stamp)
    parts += [_live_mark(axes, c, speed) for c, speed in (live or {}).items() if axes.least <= c <= axes.most]
    parts += _legend(lines, bool(live))
    for number, words in enumerate(stamp.split("; ")):
        parts.append(svg.text(0, _BOTTOM + 52 + 14 * number, words, fill=svg.FAINT, size=10))
    return svg.drawing(_BOTTOM + 72, parts, title=title)


def _grid(axes: _Axes) -> list[str]:
    """Lines at each 1000 GB/s and ticks at each power of two, with their numbers and units."""
    parts = []
    for value in range(0, int(axes.top) + 1, 1000):
        y = axes.y(value)
        parts += [
            svg.line(_LEFT, y, _LEFT + _WIDE, y),
            svg.text(_LEFT - 8, y + 4, shown(value), anchor="end", fill=svg.FAINT, size=11),
        ]
    parts.append(svg.text(_LEFT - 8, _TOP - 6, "GB/s", anchor="end", fill=svg.FAINT, size=11))
    power = math.ceil(math.log2(axes.least))
    while 2**power <= axes.most:
        x = axes.x(2**power)
        parts += [
            svg.line(x, _BOTTOM, x, _BOTTOM + 5),
            svg.text(x, _BOTTOM + 18, _short(2**power), anchor="middle", fill=svg.FAINT, size=10),
        ]
        power += 1
    columns = svg.text(_LEFT + _WIDE, _BOTTOM + 34, "columns (Ki = 1024)", anchor="end", fill=svg.FAINT, size=11)
    return [*parts, columns]


def _live_mark(axes: _Axes, columns: int, speed: float) -> str:
    tip = f"live, on this machine: {shown(columns)} columns, {speed:.0f} GB/s"
    return (
        f'<g data-role="live" data-cols="{columns}"><title>{tip}</title><circle cx="{axes.x(columns):.1f}" '
        f'cy="{axes.y(speed):.1f}" r="8" style="fill:none;stroke:{svg.INK}" stroke-width="3"/></g>'
    )


def speed_table(lines: Sequence[Line], cursor: int, roofs: Roofs, live: Mapping[int, float] | None = None) -> str:
    """HTML: what each line has at ``cursor`` columns, the fastest first; last what was measured live there."""
    rows = []
    for line in lines:
        for cols, speed, what, microseconds in line.samples:
            if cols == cursor:
                rows.append((line.label, what, round(speed), f"{speed / roofs.copied:.0%}", f"{microseconds:.1f}"))
    rows.sort(key=lambda row: -int(row[2]))
    if live and cursor in live:
        rows.append(("live", "softlab, on this machine", round(live[cursor]), f"{live[cursor] / roofs.copied:.0%}", ""))
    head = ["", "what ran", "GB/s", "of a copy", "microseconds"]
    return table(head, rows, caption=f"Rows of {shown(cursor)} columns, recorded")


def _roof(y: float, words: str, role: str, tip: str) -> list[str]:
    return [
        f'<g data-role="{role}"><title>{tip}</title>'
        f"{svg.line(_LEFT, y, _LEFT + _WIDE, y, stroke=svg.INK, width=1.5, dashed=True)}</g>",
        svg.text(_LEFT + _WIDE + 6, y + 4, words, size=11),
    ]


def _curve(line: Line, points: Sequence[tuple[float, float]], cursor: int, roofs: Roofs, stamp: str) -> list[str]:
    colour = SERIES[series_index(line.label, line.number) % len(SERIES)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    parts = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6" stroke-opacity="0.75"/>']
    for (cols, speed, what, microseconds), (x, y) in zip(line.samples, points, strict=True):
        tip = (
            f"{line.label}: {shown(cols)} columns, {speed:.0f} GB/s, {speed / roofs.copied:.0%} of a copy,"
            f" {microseconds:.1f} microseconds ({what}); {stamp}"
        )
        size = 7.0 if cols == cursor else 4.0
        edge = f'style="stroke:{svg.INK}" stroke-width="2"' if cols == cursor else ""
        corners = _corners(series_index(line.label, line.number), x, y, size)
        parts.append(
            f'<g data-curve="{escape(line.label, quote=True)}" data-cols="{cols}"><title>{escape(tip)}</title>'
            f'<polygon points="{corners}" fill="{colour}" {edge}/></g>'
        )
    return parts


def _corners(number: int, x: float, y: float, size: float) -> str:
    # Where a colour is used for a second time, the mark differs.
    shape = _MARKS[(number + number // len(SERIES)) % len(_MARKS)]
    return " ".join(f"{x + size * a:.1f},{y + size * b:.1f}" for a, b in shape)


def _legend(lines: Sequence[Line], live: bool) -> list[str]:
    x, y = _LEFT + _WIDE + 18.0, _TOP + 96.0
    parts = []
    for line in lines:
        colour = SERIES[series_index(line.label, line.number) % len(SERIES)]
        parts += [
            f'<polygon points="{_corners(series_index(line.label, line.number), x, y, 5)}" fill="{colour}"/>',
            svg.text(x + 12, y + 4, line.label, size=11),
        ]
        y += 20
    if live:
        parts += [
            f'<circle cx="{x}" cy="{y}" r="5" style="fill:none;stroke:{svg.INK}" stroke-width="3"/>',
            svg.text(x + 12, y + 4, "live, this machine", size=11),
        ]
    return parts


def _anchor(x: float) -> svg.Anchor:
    return "start" if x < _LEFT + 30 else "end" if x > _LEFT + _WIDE - 20 else "middle"


def _short(columns: int) -> str:
    return f"{columns // 1024}Ki" if columns >= 1024 else str(columns)
