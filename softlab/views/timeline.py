"""Timeline of a block as a chart: one row per warp, what it issued between barriers, and how long it waits."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from softlab.instruments.timeline import KINDS, Segment, Timeline
from softlab.views.diagrams import ranges
from softlab.views.style import INK, ROLES, RULE, layout

#: Colour and hatching of each kind: the colour means the memory, the hatching a store.
_LOOKS: dict[str, tuple[str, str]] = {
    "global load": (ROLES["global"], ""),
    "global store": (ROLES["global"], "/"),
    "shared load": (ROLES["shared"], ""),
    "shared store": (ROLES["shared"], "/"),
    "shuffle": (ROLES["shuffle"], ""),
    "barrier": (ROLES["barrier"], ""),
    "other": (RULE, ""),
}
#: A chart with more pieces than this shows each interval's instructions by kind, not in their order.
MOST_PIECES = 3000


def timeline_chart(timeline: Timeline, *, title: str = "") -> go.Figure:
    """Bars: the instructions of each warp along the lock-step order; thin lines: how long a warp waits at a barrier.

    A bar's length is a number of instructions, not a time.
    """
    pieces = timeline.segments()
    sorted_out = len(pieces) > MOST_PIECES
    if sorted_out:
        pieces = _by_interval(timeline)
    names = [f"warp {number}" for number in range(timeline.warps)]
    bars: list[Any] = [_bars(kind, [p for p in pieces if p.kind == kind], names) for kind in KINDS]
    shown = [bar for bar in bars if bar is not None]
    if waiting := _waits(timeline, names):
        shown.append(waiting)
    heading = title or f"Block {timeline.block}: what each warp issues between barriers, in the emulator"
    order = "sorted by kind" if sorted_out else "in their order"
    what = f"instructions issued, {order} (lock step, no time)"
    figure = go.Figure(
        shown,
        layout(
            heading,
            what,
            "",
            barmode="overlay",
            bargap=0.25,
            height=150 + 26 * max(4, timeline.warps),
            legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
        ),
    )
    figure.update_layout(margin={"t": 90})
    figure.update_xaxes(range=[0, max(1, timeline.length) * 1.005], title_font_size=12)
    figure.update_yaxes(categoryorder="array", categoryarray=names[::-1], showgrid=False)
    for stop in timeline.passes:
        figure.add_vline(x=stop.at, line={"color": INK, "width": 1, "dash": "dot"})
    return figure


def _bars(kind: str, pieces: list[Segment], names: list[str]) -> go.Bar | None:
    if not pieces:
        return None
    colour, shape = _LOOKS[kind]
    marker: dict[str, Any] = {"color": colour, "line": {"width": 0}}
    if shape:
        marker["pattern"] = {"shape": shape, "fgcolor": "rgba(0,0,0,0.55)", "size": 5, "fillmode": "overlay"}
    return go.Bar(
        orientation="h",
        name=kind,
        y=[names[piece.warp] for piece in pieces],
        x=[piece.count for piece in pieces],
        base=[piece.start for piece in pieces],
        marker=marker,
        customdata=[_words(piece) for piece in pieces],
        hovertemplate="%{y}: %{customdata}<extra></extra>",
    )


def _words(piece: Segment) -> str:
    line = f"line{'s' if len(piece.lines) > 1 else ''} {ranges(piece.lines)}, " if piece.lines else ""
    least, most = piece.lanes
    lanes = f"{most} lane{'' if most == 1 else 's'}" if least == most else f"{least} to {most} lanes"
    number = f"{piece.count} {piece.kind}" + ("" if piece.kind == "other" else f" instruction{'s' * (piece.count > 1)}")
    return f"{number}, {line}{lanes}"


def _waits(timeline: Timeline, names: list[str]) -> go.Bar | None:
    waits = [
        (names[warp], arrived, stop.at - arrived, stop.line)
        for stop in timeline.passes
        for warp, arrived in zip(stop.warps, stop.arrived, strict=True)
        if stop.at > arrived
    ]
    if not waits:
        return None
    return go.Bar(
        orientation="h",
        name="waits at a barrier",
        y=[wait[0] for wait in waits],
        x=[wait[2] for wait in waits],
        base=[wait[1] for wait in waits],
        width=0.12,
        marker={"color": ROLES["conflict"], "line": {"width": 0}},
        customdata=[f"waits at the barrier of line {w[3]} while another warp issues {w[2]} more" for w in waits],
        hovertemplate="%{y} %{customdata}<extra></extra>",
    )


def _by_interval(timeline: Timeline) -> tuple[Segment, ...]:
    """One piece per warp, interval and kind, one after the other from the interval's start."""
    counts = timeline.counts()
    found = []
    for warp in range(timeline.warps):
        for interval in range(counts.shape[1]):
            rows = (timeline.warp == warp) & (timeline.interval == interval)
            if not rows.any():
                continue
            start = int(timeline.clock[rows].min())
            lanes = int(timeline.lanes[rows].min()), int(timeline.lanes[rows].max())
            for kind, count in zip(KINDS, counts[warp, interval].tolist(), strict=True):
                if count:
                    found.append(Segment(warp, kind, start, count, (), lanes))
                    start += count
    return tuple(found)
