"""The exponentials of a row on the scale of their number format, and errors of functions in units in the last place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from softlab.views import svg
from softlab.views.style import ROLES, SERIES, layout

#: Pixels of the picture.
_LEFT, _TOP, _SCALE, _SHARES, _GAP = 132, 40, 190, 70, 44
_DASHES = ("solid", "dash", "dot", "dashdot")


@dataclass(frozen=True)
class Format:
    """A floating-point format: its name, largest finite number, smallest normal and smallest number above 0."""

    name: str
    largest: float
    normal: float
    smallest: float


def range_chart(exponentials: Sequence[float], shares: Sequence[float], format: Format, *, named: str) -> str:
    """HTML (an SVG): each lane's exponential as a bar on a logarithmic scale of all that the format holds, and below it
    the share that comes of it.

    Arguments:
        exponentials, shares: of the lanes; may hold inf and NaN.
        named: what the exponentials are, "e^x" or "e^(x - maximum)".
    """
    lanes = len(exponentials)
    step = (svg.WIDTH - _LEFT - 4) / lanes
    parts = [svg.text(0, 16, f"Every lane's {named} in {format.name}, and its share of the sum", bold=True, size=14)]
    parts += _scale(format)
    for lane, value in enumerate(exponentials):
        parts += _bar(lane, value, format, _LEFT + lane * step, step, named)
    base = _TOP + _SCALE + _GAP + _SHARES
    finite = [share for share in shares if math.isfinite(share)]
    most = max(finite, default=0.0) or 1.0
    parts += [
        svg.text(_LEFT - 8, base - _SHARES + 10, f"{most:.2g}", anchor="end", fill=svg.FAINT, size=11),
        svg.text(_LEFT - 8, base - _SHARES / 2, "share", anchor="end"),
        svg.text(_LEFT - 8, base, "0", anchor="end", fill=svg.FAINT, size=11),
        svg.line(_LEFT, base, svg.WIDTH - 4, base),
    ]
    for lane, share in enumerate(shares):
        x = _LEFT + lane * step
        height = _SHARES * share / most if math.isfinite(share) else 0
        if math.isnan(share):
            parts.append(svg.text(x + step / 2, base - 4, "NaN", anchor="middle", fill=ROLES["conflict"], size=9))
        elif share == 0:
            parts.append(svg.text(x + step / 2, base - 4, "0", anchor="middle", size=10))
        tip = f"lane {lane}: its share is {share:.3g}"
        parts.append(svg.box(x + 1, base - height, step - 2, height, ROLES["served-odd"], tip, share=f"{share:.6g}"))
    parts += [
        svg.text(x, base + 14, lane, anchor="middle", fill=svg.FAINT, size=10)
        for lane in range(lanes)
        for x in [_LEFT + (lane + 0.5) * step]
    ]
    parts.append(svg.text(_LEFT - 8, base + 14, "lane", anchor="end", fill=svg.FAINT, size=10))
    return svg.drawing(base + 20, parts, title=f"{named} of each lane in {format.name}")


def error_chart(errors: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, title: str, source: str) -> go.Figure:
    """Lines: label -> (x, error in units in the last place). ``source``: which run they come from."""
    figure = go.Figure(
        [
            go.Scatter(
                name=label, x=list(x), y=list(y), mode="lines",
                line={"color": SERIES[k % len(SERIES)], "width": 2, "dash": _DASHES[k % len(_DASHES)]},
                hovertemplate=f"{label}<br>x = %{{x:.3g}}: %{{y:.2f}} ulp<extra></extra>",
            )
            for k, (label, (x, y)) in enumerate(errors.items())
        ],
        layout(title, "x", "error, units in the last place (ulp)"),
    )  # fmt: skip
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    figure.add_annotation(
        text=source, xref="paper", yref="paper", x=0, y=-0.28, showarrow=False, font={"size": 11}, xanchor="left"
    )
    return figure.update_layout(margin={"b": 80, "t": 80})


def _height(value: float, format: Format) -> float:
    """Pixels above the bottom of the scale, which is the smallest number."""
    low, high = math.log2(format.smallest), math.log2(format.largest)
    return _SCALE * (math.log2(value) - low) / (high - low)


def _scale(format: Format) -> Iterator[str]:
    bottom = _TOP + _SCALE
    marks = [("largest", format.largest), ("", 1.0), ("least normal", format.normal), ("least", format.smallest)]
    for words, value in marks:
        y = bottom - _height(value, format)
        shown = f"{value:.0f}" if 1 <= value < 1e6 else f"{value:.2g}"
        label = f"{words} {shown}".strip()
        yield svg.line(_LEFT, y, svg.WIDTH - 4, y, dashed=bool(words), stroke=svg.FAINT if words else svg.INK)
        yield svg.text(_LEFT - 8, y + 4, label, anchor="end", size=11, fill=svg.FAINT if words else svg.INK)


def _bar(lane: int, value: float, format: Format, x: float, step: float, named: str) -> Iterator[str]:
    bottom = _TOP + _SCALE
    if math.isnan(value):
        yield svg.text(x + step / 2, bottom - 4, "NaN", anchor="middle", fill=ROLES["conflict"], size=9)
        yield svg.box(x + 1, bottom, step - 2, 0, ROLES["conflict"], f"lane {lane}: {named} is NaN", power="nan")
        return
    if value == 0:
        tip = f"lane {lane}: {named} is too small for {format.name}: 0"
        yield svg.text(x + step / 2, bottom + 12, "0", anchor="middle", size=10)
        yield svg.box(x + 1, bottom - 2, step - 2, 2, ROLES["idle"], tip, power="0")
        return
    if math.isinf(value):
        tip = f"lane {lane}: {named} is too large for {format.name}: infinity"
        yield svg.box(x + 1, _TOP - 8, step - 2, _SCALE + 8, ROLES["conflict"], tip, marked=True, power="inf")
        yield svg.text(x + step / 2, _TOP - 11, "inf", anchor="middle", fill=ROLES["conflict"], size=11)
        return
    height = max(_height(value, format), 1)
    tip = f"lane {lane}: {named} = {value:.4g}"
    yield svg.box(x + 1, bottom - height, step - 2, height, ROLES["served"], tip, power=f"{value:.6g}")
