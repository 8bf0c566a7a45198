"""Parts of a device copy's speed at row lengths drawn at random: one mark per cell, as an SVG file."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from softlab.views import svg
from softlab.views.style import SERIES

#: Pixels: left of the axis, at the top, height of the plot, below it.
_LEFT, _HEAD, _TALL, _FOOT = 42.0, 84.0, 260.0, 46.0
_WIDE = svg.WIDTH - _LEFT - 8
#: Part of a copy at the top of the plot.
_TOP = 1.06
_STAMP_CHARACTERS = 135


@dataclass(frozen=True)
class SweptCell:
    """One cell: ``share`` is the part of the speed of a copy; a gradient has a cross, the other operators a dot."""

    dtype: str
    op: str
    cols: int
    share: float

    @property
    def backward(self) -> bool:
        """Whether it is a gradient."""
        return self.op.endswith("_backward")


def sweep_picture(cells: Sequence[SweptCell], *, title: str, words: str, stamp: str) -> str:
    """The cells over the row length, in a logarithmic scale. The same cells give the same bytes.

    Raises:
        ValueError: no cell.
    """
    if not cells:
        raise ValueError("nothing to draw: give at least one cell")
    most = max(cell.cols for cell in cells)
    span = math.log2(max(2, most))
    dtypes = list(dict.fromkeys(cell.dtype for cell in cells))
    parts = [svg.text(0, 18, title, bold=True, size=17), svg.text(0, 38, words, fill=svg.FAINT)]
    for number, dtype in enumerate(dtypes):
        x = _LEFT + 150 * number
        parts += [_dot(x, 56, SERIES[number % len(SERIES)], ""), svg.text(x + 8, 60, dtype)]
    parts.append(svg.text(svg.WIDTH, 60, "dot: forward, cross: gradient", anchor="end", fill=svg.FAINT))
    for quarter in range(5):
        y = _y(quarter / 4)
        parts.append(svg.text(_LEFT - 8, y + 4, f"{quarter / 4:.2f}", anchor="end", fill=svg.FAINT, size=11))
        parts.append(svg.line(_LEFT, y, _LEFT + _WIDE, y))
    for power in range(0, int(span) + 1, 2):
        x = _LEFT + power / span * _WIDE
        parts.append(svg.text(x, _y(0) + 17, _short(2**power), anchor="middle", fill=svg.FAINT, size=11))
    parts.append(svg.text(_LEFT + _WIDE, _y(0) + 32, "columns", anchor="end", fill=svg.FAINT, size=11))
    for cell in cells:
        x, y = _LEFT + math.log2(cell.cols) / span * _WIDE, _y(min(cell.share, _TOP))
        colour = SERIES[dtypes.index(cell.dtype) % len(SERIES)]
        tip = f"{cell.op}, {cell.dtype} x {cell.cols}: {cell.share:.3f}"
        parts.append(_cross(x, y, colour, tip) if cell.backward else _dot(x, y, colour, tip))
    top = _HEAD + _TALL + _FOOT
    for line in textwrap.wrap(stamp, _STAMP_CHARACTERS):
        parts.append(svg.text(0, top, line, fill=svg.FAINT, size=11))
        top += 15
    return svg.standalone(top, parts, title=title)


def _y(share: float) -> float:
    return _HEAD + (1 - share / _TOP) * _TALL


def _dot(x: float, y: float, colour: str, tip: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.4" fill="{colour}"><title>{tip}</title></circle>'


def _cross(x: float, y: float, colour: str, tip: str) -> str:
    path = f"M{x - 2.5:.1f} {y - 2.5:.1f}l5 5m0 -5l-5 5"
    return f'<path d="{path}" stroke="{colour}" stroke-width="1.4" fill="none"><title>{tip}</title></path>'


def _short(value: int) -> str:
    return f"{value >> 20}M" if value >> 20 else f"{value >> 10}K" if value >> 10 else str(value)
