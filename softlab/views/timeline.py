"""Timeline of a block as a chart: one row a warp, what it issued between barriers, and who waits for whom."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from softlab.instruments.timeline import KINDS, Piece, Timeline
from softlab.views.diagrams import ranges
from softlab.views.style import INK, RULE, layout
from softlab.views.style import ROLES as MEANS
from softlab.views.tables import table

#: Colour and hatching of each kind: the colour says which memory, the hatching a store.
_LOOKS: dict[str, tuple[str, str]] = {
    "global load": (MEANS["global"], ""),
    "global store": (MEANS["global"], "/"),
    "shared load": (MEANS["shared"], ""),
    "shared store": (MEANS["shared"], "/"),
    "shuffle": (MEANS["shuffle"], ""),
    "barrier": (MEANS["barrier"], ""),
    "other": (RULE, ""),
}
#: A chart with more pieces than this shows each interval's instructions by kind, not in their order.
MOST_PIECES = 3000


def timeline_chart(timeline: Timeline, *, title: str = "") -> go.Figure:
    """Bars: the instructions of each warp along the lock-step order; thin lines: what a warp waits at a barrier.

    A bar's length is a number of instructions, not a time.
    """
    pieces = timeline.pieces()
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


def interval_table(timeline: Timeline) -> str:
    """HTML: for each interval between barriers, the least and the most that a warp issued, and the longest wait."""
    counts = timeline.counts()
    rows = []
    for number in range(counts.shape[1]):
        issued = counts[:, number].sum(axis=1)
        busy = issued[issued > 0]
        ends = [stop for stop in timeline.passes if stop.number == number]
        until = f"barrier at line {ends[0].line}" if ends else "the end"
        kinds = [
            f"{int(total)} {kind}"
            for kind, total in zip(KINDS, counts[:, number].sum(axis=0), strict=True)
            if total and kind not in ("other", "barrier")
        ]
        least, most = (int(busy.min()), int(busy.max())) if len(busy) else (0, 0)
        rows.append((number, until, len(busy), least, most, max(ends[0].waited) if ends else "", ", ".join(kinds)))
    columns = ["interval", "ends with", "warps", "least", "most", "longest wait", "instructions of all warps"]
    return table(columns, rows, caption="Between barriers: instructions that a warp issues (no time)")


def _bars(kind: str, pieces: list[Piece], names: list[str]) -> go.Bar | None:
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


def _words(piece: Piece) -> str:
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
        marker={"color": MEANS["conflict"], "line": {"width": 0}},
        customdata=[f"waits at the barrier of line {w[3]} while another warp issues {w[2]} more" for w in waits],
        hovertemplate="%{y} %{customdata}<extra></extra>",
    )


def _by_interval(timeline: Timeline) -> tuple[Piece, ...]:
    """One piece a warp, interval and kind, one behind the other from the interval's start."""
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
                    found.append(Piece(warp, kind, start, count, (), lanes))
                    start += count
    return tuple(found)
