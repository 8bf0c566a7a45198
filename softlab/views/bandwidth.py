"""Charts of recorded speeds and traffic. The text under each names the recording: where, when, with what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from softlab.views.style import INK, PATTERNS, SERIES, layout, series_index, stamped

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "pentagon")
Points = tuple[Sequence[Any], Sequence[float]]


def speed_lines(
    curves: Mapping[str, Points], ceiling: float, *, title: str, stamp: str, x: str = "columns"
) -> go.Figure:
    """Lines over the row length: label -> (columns, GB/s). ``ceiling``: a device copy of the same run; ``x``: what the
    lines are over, if not columns."""
    figure = go.Figure(
        [
            go.Scatter(
                name=label, x=list(cols), y=list(y), mode="lines+markers",
                line={"color": SERIES[series_index(label, k) % len(SERIES)], "width": 2},
                marker={"symbol": SYMBOLS[series_index(label, k) % len(SYMBOLS)], "size": 7},
                customdata=[[value / ceiling] for value in y],
                hovertemplate=f"{label}<br>%{{x:,}} {x}: %{{y:.0f}} GB/s, %{{customdata[0]:.0%}} of a copy"
                "<extra></extra>",
            )
            for k, (label, (cols, y)) in enumerate(curves.items())
        ],
        layout(title, x, "GB/s (each element once in, once out)"),
    )  # fmt: skip
    figure.add_hline(
        ceiling, line={"color": INK, "dash": "dash"}, annotation_text=f"device copy, {ceiling:.0f} GB/s",
        annotation_position="top left", annotation_font_size=11,
    )  # fmt: skip
    figure.update_xaxes(type="log", dtick=0.30103, tickformat="d")  # a tick at each power of two
    figure.update_yaxes(range=[0, 1.1 * ceiling])
    return _with_stamp(figure, stamp)


def grouped_bars(
    labels: Sequence[Any], groups: Mapping[str, Sequence[float]], *, title: str, x: str, y: str, stamp: str,
    line: float | None = None, line_text: str = "",
) -> go.Figure:  # fmt: skip
    """Bars side by side: at each label one of each group (name -> values; NaN leaves a gap, a group of nothing else is
    left out). ``line``: to compare with."""
    figure = go.Figure(
        [
            go.Bar(
                name=name, x=[str(label) for label in labels], y=[None if v != v else v for v in values],
                marker={"color": SERIES[k % len(SERIES)], "pattern": PATTERNS[k % len(PATTERNS)]},
                hovertemplate=f"{name}, %{{x}}: %{{y:.3g}}<extra></extra>",
            )
            for k, (name, values) in enumerate(groups.items())
            if any(v == v for v in values)
        ],
        layout(title, x, y, barmode="group"),
    )  # fmt: skip
    if line is not None:
        # In the legend, since words on the line would cover the bars.
        figure.add_scatter(
            x=[str(label) for label in labels], y=[line] * len(labels), mode="lines", name=line_text, hoverinfo="skip",
            line={"color": INK, "dash": "dash", "width": 3},
        )  # fmt: skip
    return _with_stamp(figure.update_xaxes(type="category", showgrid=False), stamp)


def traffic_points(groups: Mapping[str, Points], cache_bytes: float, *, title: str, stamp: str) -> go.Figure:
    """Points: label -> (bytes of the rows in flight, DRAM reads in multiples of the input); a line where L2 ends."""
    figure = go.Figure(
        [
            go.Scatter(
                name=label, x=[value / 2**20 for value in x], y=list(y), mode="markers",
                marker={"color": SERIES[k % len(SERIES)], "symbol": SYMBOLS[k % len(SYMBOLS)], "size": 11},
                hovertemplate=f"{label}<br>%{{x:.0f}} MiB in flight, %{{y:.2f}} inputs read<extra></extra>",
            )
            for k, (label, (x, y)) in enumerate(groups.items())
        ],
        layout(title, "MiB of rows in flight at once", "read from DRAM, in inputs"),
    )  # fmt: skip
    # A trace, since plotly puts the words of a line's annotation on a logarithmic axis at 10 to the power of its value.
    figure.add_scatter(
        x=[cache_bytes / 2**20] * 2, y=[0, 3.2], mode="lines", name="all of L2", hoverinfo="skip",
        line={"color": INK, "dash": "dash"},
    )  # fmt: skip
    figure.update_xaxes(type="log", dtick=0.30103, tickformat="d")
    figure.update_yaxes(range=[0, 3.3])
    return _with_stamp(figure, stamp)


def _with_stamp(figure: go.Figure, stamp: str) -> go.Figure:
    """Put the stamp under the axis, and leave space for it."""
    figure.update_layout(height=390, margin={"b": 96})
    figure.update_xaxes(title_standoff=6)
    return stamped(figure, stamp)
