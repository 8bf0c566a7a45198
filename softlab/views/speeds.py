"""Speeds over the row length as SVG: curves beside their ceiling, a cursor, and live points if there are any."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from softlab.views import svg
from softlab.views.style import SERIES, place
from softlab.views.tables import shown, table

_LEFT, _RIGHT, _TOP, _TALL = 64, 178, 48, 300
_WIDE = svg.WIDTH - _LEFT - _RIGHT
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


def speed_picture(
    lines: Sequence[Line], roofs: Roofs, cursor: int, *, title: str, stamp: str, live: Mapping[int, float] | None = None
) -> str:
    """SVG: GB/s over the columns (logarithmic) of each line, the ceilings, an upright line at ``cursor`` columns.

    ``live``: cols -> GB/s measured on this machine just now, drawn as rings. ``stamp`` stands under the picture (a new
    line after each semicolon) and in the tip of each mark.
    """
    cols = [sample[0] for line in lines for sample in line.samples] + [cursor]
    least, most = min(cols), max(cols)
    top = 1.04 * max(roofs.datasheet, *(live or {0: 0.0}).values())

    def x(value: float) -> float:
        return _LEFT + math.log(value / least) / max(math.log(most / least), 1e-9) * _WIDE

    def y(value: float) -> float:
        return _TOP + (1 - value / top) * _TALL

    bottom = _TOP + _TALL
    parts = [svg.text(0, 14, title, bold=True, size=13)]
    for value in range(0, int(top) + 1, 1000):
        parts += [
            svg.line(_LEFT, y(value), _LEFT + _WIDE, y(value)),
            svg.text(_LEFT - 8, y(value) + 4, shown(value), anchor="end", fill=svg.FAINT, size=11),
        ]
    parts.append(svg.text(_LEFT - 8, _TOP - 6, "GB/s", anchor="end", fill=svg.FAINT, size=11))
    power = math.ceil(math.log2(least))
    while 2**power <= most:
        parts += [
            svg.line(x(2**power), bottom, x(2**power), bottom + 5),
            svg.text(x(2**power), bottom + 18, _short(2**power), anchor="middle", fill=svg.FAINT, size=10),
        ]
        power += 1
    parts.append(svg.text(_LEFT + _WIDE, bottom + 34, "columns (Ki = 1024)", anchor="end", fill=svg.FAINT, size=11))
    parts += _roof(y(roofs.copied), f"device copy {roofs.copied:.0f}", "copy", "recorded in the same run")
    parts += _roof(y(roofs.datasheet), f"datasheet {roofs.datasheet:.0f}", "datasheet", "what the memory is sold for")
    parts += [
        svg.line(x(cursor), _TOP - 4, x(cursor), bottom, stroke=svg.INK, width=2),
        svg.text(x(cursor), _TOP - 8, shown(cursor), anchor=_anchor(x(cursor)), bold=True, size=11),
    ]
    for line in lines:
        parts += _curve(line, [(x(c), y(speed)) for c, speed, *_ in line.samples], cursor, roofs, stamp)
    for c, speed in (live or {}).items():
        if least <= c <= most:
            tip = f"live, on this machine: {shown(c)} columns, {speed:.0f} GB/s"
            parts.append(
                f'<g data-role="live" data-cols="{c}"><title>{tip}</title><circle cx="{x(c):.1f}" cy="{y(speed):.1f}" '
                f'r="8" style="fill:none;stroke:{svg.INK}" stroke-width="3"/></g>'
            )
    parts += _legend(lines, bool(live))
    for number, words in enumerate(stamp.split("; ")):
        parts.append(svg.text(0, bottom + 52 + 14 * number, words, fill=svg.FAINT, size=10))
    return svg.drawing(bottom + 72, parts, title=title)


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


def _curve(line: Line, places: Sequence[tuple[float, float]], cursor: int, roofs: Roofs, stamp: str) -> list[str]:
    colour = SERIES[place(line.label, line.number) % len(SERIES)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    parts = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6" stroke-opacity="0.75"/>']
    for (cols, speed, what, microseconds), (x, y) in zip(line.samples, places, strict=True):
        tip = (
            f"{line.label}: {shown(cols)} columns, {speed:.0f} GB/s, {speed / roofs.copied:.0%} of a copy,"
            f" {microseconds:.1f} microseconds ({what}); {stamp}"
        )
        size = 7.0 if cols == cursor else 4.0
        edge = f'style="stroke:{svg.INK}" stroke-width="2"' if cols == cursor else ""
        parts.append(
            f'<g data-curve="{escape(line.label, quote=True)}" data-cols="{cols}"><title>{escape(tip)}</title>'
            f'<polygon points="{_corners(place(line.label, line.number), x, y, size)}" fill="{colour}" {edge}/></g>'
        )
    return parts


def _corners(number: int, x: float, y: float, size: float) -> str:
    # A colour that comes a second time has another mark.
    shape = _MARKS[(number + number // len(SERIES)) % len(_MARKS)]
    return " ".join(f"{x + size * a:.1f},{y + size * b:.1f}" for a, b in shape)


def _legend(lines: Sequence[Line], live: bool) -> list[str]:
    x, y = _LEFT + _WIDE + 18.0, _TOP + 96.0
    parts = []
    for line in lines:
        colour = SERIES[place(line.label, line.number) % len(SERIES)]
        parts += [
            f'<polygon points="{_corners(place(line.label, line.number), x, y, 5)}" fill="{colour}"/>',
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
