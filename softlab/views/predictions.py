"""Predicted against measured: a point per launch, a row per category, on an axis of factors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from softlab.views import svg
from softlab.views.style import BLUE, ROLES

_LEFT, _RIGHT, _ROW, _TOP = 110, 120, 24, 34
_WIDE = svg.WIDTH - _LEFT - _RIGHT
#: Factors at which the axis ends; what is beyond stands at its end.
_MOST = 4.0
_TICKS = {0.25: "a quarter", 0.5: "half", 1.0: "right", 2.0: "twice", 4.0: "4 times"}
#: Within this share of the measured time a point counts as near.
NEAR = 0.2


def error_strips(groups: Mapping[str, Sequence[tuple[float, str]]], *, title: str, stamp: str) -> str:
    """SVG: for each group its launches as points at predicted over measured, on a logarithmic axis.

    Arguments:
        groups: name -> (factor, words) of each launch. The grey band is where the prediction is within 20 %.
    """
    bottom = _TOP + _ROW * len(groups)
    parts = [svg.text(0, 14, title, bold=True, size=13)]
    low, high = _x(1 - NEAR), _x(1 + NEAR)
    parts.append(f'<rect x="{low:.1f}" y="{_TOP}" width="{high - low:.1f}" height="{bottom - _TOP}" '
                 f'fill="{ROLES["idle"]}" fill-opacity="0.3"/>')  # fmt: skip
    for tick, words in _TICKS.items():
        parts.append(svg.line(_x(tick), _TOP, _x(tick), bottom))
        parts.append(svg.text(_x(tick), bottom + 16, words, anchor="middle", fill=svg.FAINT, size=11))
    for row, (name, launches) in enumerate(groups.items()):
        y = _TOP + _ROW * (row + 0.5)
        errors = sorted(abs(factor - 1) for factor, _ in launches)
        middle = len(errors) // 2
        median = errors[middle] if len(errors) % 2 else (errors[middle - 1] + errors[middle]) / 2
        parts.append(svg.text(_LEFT - 8, y + 4, name, anchor="end"))
        parts += [_point(factor, words, y, name) for factor, words in launches]
        parts.append(svg.text(svg.WIDTH - _RIGHT + 12, y + 4, f"{median:.0%} of {len(launches)}", fill=svg.FAINT))
    parts.append(svg.text(svg.WIDTH - _RIGHT + 12, _TOP - 6, "median error", fill=svg.FAINT, size=11))
    words = "predicted time, as a multiple of the measured one"
    parts.append(svg.text(_LEFT + _WIDE, bottom + 32, words, anchor="end", fill=svg.FAINT, size=11))
    parts.append(svg.text(0, bottom + 50, stamp, fill=svg.FAINT, size=11))
    return svg.drawing(bottom + 56, parts, title=title)


def _x(factor: float) -> float:
    inside = min(max(factor, 1 / _MOST), _MOST)
    return _LEFT + 10 + (_WIDE - 20) * (math.log(inside) / math.log(_MOST) + 1) / 2


def _point(factor: float, words: str, y: float, name: str) -> str:
    x, beyond = _x(factor), not 1 / _MOST <= factor <= _MOST
    tip = f"{words}: {factor:.2f} times the measured time"
    return svg.box(x - 3.5, y - 3.5, 7, 7, BLUE, tip, marked=beyond, category=name, factor=f"{factor:.3f}")
