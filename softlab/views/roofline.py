"""The roofline of a GPU with the points of kernels, from estimates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from softlab.hardware.devices import with_article
from softlab.timing.estimates import Estimate
from softlab.views.roofs import Axes, axes_and_rates, only_device, point_of
from softlab.views.style import INK, ROLES, SERIES, SKY, layout, stamped

_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross")
_FEW_DECADES = 4


def roofline(estimates: Mapping[str, Estimate]) -> go.Figure:
    """Log-log: operations per second over operations per byte of DRAM, the roofs of the device, a point per estimate.

    Operations are additions and multiplications in single precision. If a launch does none, the picture counts the
    instructions of warps instead (N. Ding and S. Williams, An Instruction Roofline Model for GPUs, 2019). The roof of
    DRAM holds for the points; that of L2 shows how far a kernel could go whose bytes come from L2.

    Arguments:
        estimates: label -> estimate; all for one device.

    Raises:
        ValueError: no estimates, or several devices.
    """
    name = only_device(estimates)
    axes, rates = axes_and_rates(estimates)
    peak = axes.peak
    points = {label: point_of(one, axes) for label, one in estimates.items()}
    intensities = [x for x, _ in points.values() if x] + [peak / rate for rate in rates.values()]
    low, high = min(intensities) / 8, max(intensities) * 8
    figure = go.Figure(
        [
            *(_roof(kind, rate, peak, low) for kind, rate in rates.items()),
            _flat(axes.roof, peak, peak / max(rates.values()), high, "solid", INK),
            *(
                _mark(label, estimates[label], point, (low, high), axes, k)
                for k, (label, point) in enumerate(points.items())
            ),
        ],
        layout(
            f"Roofline of {with_article(name)}, estimated", f"{axes.work} per byte of DRAM", axes.speed, height=420,
            legend={"y": 1.0, "yanchor": "bottom", "x": 0},
        ),
    )  # fmt: skip
    _legend_above(figure)
    speeds = [y for _, y in points.values() if y]
    figure.update_xaxes(**_log_axis(low, high))
    figure.update_yaxes(**_log_axis(min([*speeds, peak]) / 8, peak * 4))
    return stamped(figure, f"Points: estimates with a {_caches(estimates)} L2 cache. Roofs: the model's figures.")


def _legend_above(figure: go.Figure) -> None:
    """Put one entry of the legend per line, between title and chart: in one line they would wrap on a narrow page."""
    above = 45 + 20 * len(figure.data)
    figure.update_layout(margin={"t": above, "b": 100}, height=430 + above)
    figure.update_layout(title={"yref": "container", "y": 1, "yanchor": "top", "pad": {"t": 12}})


def _log_axis(low: float, high: float) -> dict[str, Any]:
    """A logarithmic axis with its numbers in full: powers of ten, and 2 and 5 times them where few decades are seen."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= _FEW_DECADES else (1,)
    ticks = [step * 10.0**power for power in range(first, last) for step in steps]
    ticks = [tick for tick in ticks if low <= tick <= high]
    words = [f"{tick:,.10g}".replace(",", "\u202f") for tick in ticks]
    return {"type": "log", "range": [math.log10(low), math.log10(high)], "tickvals": ticks, "ticktext": words}


def _caches(estimates: Mapping[str, Estimate]) -> str:
    return " or ".join(sorted({one.cache for one in estimates.values()}))


def _roof(kind: str, rate: float, peak: float, low: float) -> go.Scatter:
    """A slope of ``rate`` GB/s, from the left edge up to the flat roof."""
    label, ridge = f"{kind}: {rate / 1e3:.1f} TB/s", peak / rate
    colour, dash = (ROLES["global"], "solid") if kind == "DRAM" else (SKY, "dash")
    xs = np.geomspace(min(low, ridge), ridge, 40)
    return go.Scatter(
        name=label, x=xs.tolist(), y=(xs * rate).tolist(), mode="lines",
        line={"color": colour, "width": 2, "dash": dash},
        hovertemplate=f"{label}<extra></extra>",
    )  # fmt: skip


def _flat(label: str, y: float, low: float, high: float, dash: str, colour: str) -> go.Scatter:
    return go.Scatter(
        name=label, x=[low, high], y=[y, y], mode="lines", line={"color": colour, "width": 2, "dash": dash},
        hovertemplate=f"{label}<extra></extra>",
    )  # fmt: skip


def _mark(
    label: str, found: Estimate, point: Sequence[float | None], span: tuple[float, float], axes: Axes, k: int
) -> go.Scatter:
    """A kernel's point; a dotted line at its speed where it moves no bytes of DRAM."""
    x, y = point
    if x is None and y is not None:
        return _flat(f"{label}: no bytes of DRAM", y, *span, "dot", SERIES[(k + 1) % len(SERIES)])
    words = f"{label}<br>{found.microseconds:.1f} us, bound by {found.bound}<br>%{{y:.3g}} {axes.speed}"
    return go.Scatter(
        name=f"{label}: {found.microseconds:.1f} us, bound by {found.bound}", x=[x], y=[y], mode="markers",
        marker={"size": 13, "symbol": _SYMBOLS[k % len(_SYMBOLS)], "color": SERIES[(k + 1) % len(SERIES)],
                "line": {"color": INK, "width": 1}},
        hovertemplate=f"{words}<br>%{{x:.3g}} {axes.work} per byte<extra></extra>",
    )  # fmt: skip
