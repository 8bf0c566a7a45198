"""Rows in flight beside the L2 cache, and what was read from DRAM: one picture of a model and of what was recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from softlab.views import svg
from softlab.views.style import ROLES, SERIES, series_index

_LEFT, _RIGHT = 70, 190
_WIDE = svg.WIDTH - _LEFT - _RIGHT
#: MiB at the ends of the lower picture's axis.
_LEAST, _MOST = 4.0, 300.0
_TICKS = (4, 8, 16, 32, 64, 128, 256)
_TOP, _TALL, _BAR = 132, 190, 24
#: Marks that are told apart without colour: corners of each, as factors of its size.
_SHAPES = (
    ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    ((0, -1.2), (1.2, 1), (-1.2, 1)),
)


@dataclass(frozen=True)
class Point:
    """A recorded launch: ``mib`` of rows in flight, ``reads`` from DRAM in inputs, its ``series``, whether
    it is ``hollow`` (a grid that is smaller than planned), whether it is what is shown (``here``), and a ``tip``."""

    mib: float
    reads: float
    series: str
    hollow: bool
    here: bool
    tip: str


def cache_picture(mib: float, cache_mib: float, points: Sequence[Point], *, sentence: str, stamp: str) -> str:
    """SVG: above, the rows in flight beside the cache; below, recorded DRAM reads over the rows in flight.

    ``mib``: MiB in flight now, with a ``sentence`` about the number of rows. The dashed line is the model:
    what fits into the cache is read once, what does not three times.
    """
    bottom = _TOP + _TALL
    parts = _bars(mib, cache_mib, sentence)
    parts += [svg.text(0, _TOP - 32, "Read from DRAM, in multiples of the input", bold=True, size=13)]
    for reads in (1, 2, 3):
        y = _y(reads)
        parts += [svg.line(_LEFT, y, _LEFT + _WIDE, y), svg.text(_LEFT - 8, y + 4, reads, anchor="end", fill=svg.FAINT)]
    for tick in _TICKS:
        x = _x(tick)
        parts += [
            svg.line(x, bottom, x, bottom + 5),
            svg.text(x, bottom + 18, tick, anchor="middle", fill=svg.FAINT, size=11),
        ]
    parts.append(svg.text(_LEFT + _WIDE, bottom + 34, "MiB of rows in flight", anchor="end", fill=svg.FAINT, size=11))
    parts += _model(cache_mib)
    series = list(dict.fromkeys(point.series for point in points))
    # The current point last, on top of the others.
    for point in sorted(points, key=lambda point: point.here):
        parts.append(_mark(point, series_index(point.series, series.index(point.series))))
    here = _x(mib)
    parts += [
        svg.line(here, _TOP - 8, here, bottom, stroke=svg.INK, width=2),
        svg.text(here, _TOP - 12, "now", anchor="middle", bold=True, size=11),
    ]
    parts += _legend(series, next((point.series for point in points if point.hollow), None))
    parts.append(svg.text(0, bottom + 54, stamp, fill=svg.FAINT, size=10))
    return svg.drawing(bottom + 60, parts, title=sentence)


def _x(mib: float) -> float:
    inside = min(max(mib, _LEAST), _MOST)
    return _LEFT + math.log(inside / _LEAST) / math.log(_MOST / _LEAST) * _WIDE


def _y(reads: float) -> float:
    return _TOP + (3.2 - reads) / 2.4 * _TALL


def _bars(mib: float, cache_mib: float, sentence: str) -> list[str]:
    fits = mib <= cache_mib
    verdict = "fits into L2" if fits else f"{mib / cache_mib:.1f} times L2"
    colour = ROLES["global"] if fits else ROLES["conflict"]
    tip = f"{mib:.1f} MiB of rows in flight, L2 has {cache_mib:g} MiB: {verdict}"
    top, scale = 24, _WIDE / _MOST
    below = top + _BAR + 4
    return [
        svg.text(0, 14, sentence, bold=True, size=13),
        svg.box(_LEFT, top, cache_mib * scale, _BAR, ROLES["idle"], f"L2: {cache_mib:g} MiB", cache=cache_mib),
        svg.text(_LEFT - 8, top + 16, "L2", anchor="end"),
        svg.text(_LEFT + cache_mib * scale + 8, top + 16, f"{cache_mib:g} MiB"),
        svg.box(_LEFT, below, min(mib, _MOST) * scale, _BAR, colour, tip, flight=round(mib, 1)),
        svg.text(_LEFT - 8, below + 16, "in flight", anchor="end"),
        svg.text(_LEFT + min(mib, _MOST) * scale + 8, below + 16, f"{mib:.1f} MiB: {verdict}", bold=True),
    ]


def _model(cache_mib: float) -> list[str]:
    corners = ((_LEAST, 1.0), (cache_mib, 1.0), (cache_mib, 3.0), (_MOST, 3.0))
    points = " ".join(f"{_x(mib):.1f},{_y(reads):.1f}" for mib, reads in corners)
    return [
        f'<g data-role="model"><title>the model: once if it fits into L2, else three times</title><polyline '
        f'points="{points}" style="fill:none;stroke:{svg.FAINT}" stroke-width="2" stroke-dasharray="6 4"/></g>'
    ]


def _mark(point: Point, number: int) -> str:
    size = 8.0 if point.here else 5.0
    x, y = _x(point.mib), _y(point.reads)
    return (
        f'<g data-role="recorded" data-here="{int(point.here)}" data-series="{point.series}"><title>{point.tip}</title>'
        f"{_shape(x, y, size, number, hollow=point.hollow, edge=point.here)}</g>"
    )


def _shape(x: float, y: float, size: float, number: int, *, hollow: bool, edge: bool = False) -> str:
    colour = SERIES[number % len(SERIES)]
    corners = " ".join(f"{x + size * a:.1f},{y + size * b:.1f}" for a, b in _SHAPES[number % len(_SHAPES)])
    # What is hollow can still be pointed at: it is filled with nothing that can be seen.
    fill = f'fill="{colour}" fill-opacity="{0.08 if hollow else 0.9:g}"'
    stroke = f'stroke="{colour}" stroke-width="2"' if not edge else f'style="stroke:{svg.INK}" stroke-width="3"'
    return f'<polygon points="{corners}" {fill} {stroke}/>'


def _legend(series: Sequence[str], hollow: str | None) -> list[str]:
    x, y = _LEFT + _WIDE + 26, _TOP + 12.0
    parts = []
    for number, name in enumerate(series):
        parts += [_shape(x, y, 5, series_index(name, number), hollow=False), svg.text(x + 14, y + 4, name)]
        y += 22
    if hollow is not None:
        parts += [_shape(x, y, 5, series_index(hollow, series.index(hollow)), hollow=True)]
        parts += [svg.text(x + 14, y + 4, "fewer blocks")]
        y += 22
    parts += [
        svg.line(x - 8, y, x + 8, y, stroke=svg.FAINT, width=2, dashed=True),
        svg.text(x + 14, y + 4, "the model"),
    ]
    return parts
