"""One simulated SM over its cycles as SVG: a row per warp, coloured by what the warp waits for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from softlab.hardware.devices import with_article
from softlab.timing.estimates import Estimate
from softlab.timing.journal import SmTimeline, Stretch
from softlab.timing.stalls import REASONS
from softlab.views import svg
from softlab.views.diagrams import ranges
from softlab.views.estimates import GROUPS, STALL_WORDS
from softlab.views.tables import shown, table
from softlab.views.warps import Window, axis_step

_LEFT, _TOP = 70, 34
#: Pixels of the axis, as in :mod:`softlab.views.warps`.
_WIDE = 778 - _LEFT
#: Pixels of all rows together, and of one at most.
_TALL, _ROW = 400, 26
#: With more pieces than this, those of a group are one shape, without a tip for each.
MOST_TIPS = 500
_GROUP_OF = {name: number for number, (_, names) in enumerate(GROUPS.values()) for name in names}
#: State of :data:`REASONS` -> index of its group; the last index is for cycles without a warp.
_GROUP = np.array([_GROUP_OF[name] for name in REASONS])
_EMPTY = len(GROUPS)


@dataclass(frozen=True)
class _Piece:
    """Pixels ``x`` to ``stop`` of a row in which one group takes most of each pixel's cycles."""

    slot: int
    group: int
    x: int
    stop: int


def slots(timeline: SmTimeline) -> list[int]:
    """For each warp the row in which it is drawn: the first that is free when it starts."""
    free: list[float] = []
    found = []
    bounds = np.searchsorted(timeline.warp, np.arange(timeline.warps + 1))
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        start, stop = float(timeline.start[first]), float(timeline.stop[last - 1])
        row = next((k for k, until in enumerate(free) if until <= start), len(free))
        free[row:] = [stop, *free[row + 1 :]]
        found.append(row)
    return found


def sm_timeline(
    timeline: SmTimeline, *, window: Window | None = None, clock: float | None = None, source: str = "", title: str = ""
) -> str:
    """SVG: what each warp of a simulated SM does in which cycle.

    A pixel has the colour of what takes most of its cycles. A warp that starts later takes the row of one that has
    ended, as on the SM; a dark mark is the start of a warp.

    Arguments:
        window: the cycles that are drawn; all of them by default. clock: a cycle to mark.
        source: of the kernel, for the tips.
    """
    rows = slots(timeline)
    count = max(rows, default=0) + 1
    row = min(_ROW, _TALL / count)
    seen = window or Window(0, max(timeline.cycles, 1))
    pieces = [piece for warp in range(timeline.warps) for piece in _pieces(timeline, warp, rows[warp], seen)]
    bottom = _TOP + row * count
    heading = title or "One SM, cycle by cycle, as the model simulates it"
    parts = [svg.text(0, 14, heading, bold=True, size=13), *_names(count, row, len(set(rows)) < len(rows))]
    if len(pieces) <= MOST_TIPS:
        texts = source.splitlines()
        parts += [_drawn(piece, row, _tip(timeline, piece, rows, seen, texts)) for piece in pieces]
    else:
        parts += _shapes(pieces, row)
    parts += _starts(timeline, rows, row, seen)
    if clock is not None and seen.first <= clock <= seen.last:
        parts.append(svg.line(seen.x(clock), _TOP - 6, seen.x(clock), bottom, stroke=svg.INK, width=2))
    parts += _axis(seen, bottom)
    legend, bottom = _legend(timeline, bottom + 36)
    parts += legend
    if not timeline.complete:
        words = f"The record ends at cycle {timeline.cycles:.0f}; the simulation went on."
        parts.append(svg.text(_LEFT, bottom + 12, words, fill=svg.FAINT, size=11))
        bottom += 18
    return svg.drawing(bottom + 4, parts, title=heading, estimated=True)


def states_at(timeline: SmTimeline, clock: float) -> list[Stretch]:
    """What each warp does in a cycle; warps that have not started or have ended are left out."""
    here = np.flatnonzero((timeline.start <= clock) & (timeline.stop > clock))
    columns = (one[here].tolist() for one in (timeline.warp, timeline.state, timeline.line))
    spans = zip(timeline.start[here].tolist(), timeline.stop[here].tolist(), strict=True)
    return [
        Stretch(warp, REASONS[state], line, *span)
        for warp, state, line, span in zip(*columns, spans, strict=True)
    ]  # fmt: skip


def states_table(doings: Sequence[Stretch], clock: int, source: str) -> str:
    """HTML: what the warps do in cycle ``clock``, those that do the same in one row."""
    texts = source.splitlines()
    groups: dict[tuple[str, int], list[int]] = {}
    for one in doings:
        groups.setdefault((one.state, one.line), []).append(one.warp)
    rows = []
    for (state, line), warps in groups.items():
        code = texts[line - 1].strip() if 0 < line <= len(texts) else ""
        what = f"waits for {STALL_WORDS[state]}" if state in STALL_WORDS else "issues an instruction"
        who = f"{'warp' if len(warps) == 1 else 'warps'} {ranges(warps)}"
        rows.append((who, what, state, f"line {line}: {code}" if line else ""))
    rows = rows or [("", "no warp is at work", "", "")]
    head = ["", "in this cycle", "Nsight Compute's name", "of the source"]
    return table(head, rows, caption=f"Cycle {clock}: what each warp does")


def cycles_sentence(found: Estimate) -> str:
    """How long the simulated SM works, and what its warps wait for most, in words."""
    waits = [(name, share) for name, share in found.stalls.items() if name in STALL_WORDS][:2]
    words = " and ".join(f"{share:.0%} for {STALL_WORDS[name]} ({name})" for name, share in waits)
    return (
        f"Estimated {shown(round(found.cycles))} cycles on an SM of {with_article(found.device)}. Of their time "
        f"the warps wait {words}, and in {found.stalls.get('selected', 0):.0%} of it they issue."
    )


def _pieces(timeline: SmTimeline, warp: int, slot: int, window: Window) -> list[_Piece]:
    """The groups that take most of each pixel's cycles, equal neighbours as one piece."""
    low, high = np.searchsorted(timeline.warp, (warp, warp + 1))
    start, stop = timeline.start[low:high], timeline.stop[low:high]
    inside = (stop > window.first) & (start < window.last)
    if not inside.any():
        return []
    start, stop, group = start[inside], stop[inside], _GROUP[timeline.state[low:high][inside]]
    edges = np.linspace(window.first, window.last, _WIDE + 1)
    times = np.concatenate((start[:1], stop))  # the stretches of a warp follow each other without a gap
    spent = np.zeros((_EMPTY + 1, _WIDE))
    for number in np.unique(group).tolist():
        passed = np.concatenate(([0.0], np.cumsum(np.where(group == number, stop - start, 0.0))))
        spent[number] = np.diff(np.interp(edges, times, passed))
    spent[_EMPTY] = 1e-9
    most = spent.argmax(axis=0)
    ends = np.flatnonzero(np.diff(most, prepend=-1, append=-1))
    return [
        _Piece(slot, int(most[a]), _LEFT + a, _LEFT + b)
        for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        if most[a] != _EMPTY
    ]


def _drawn(piece: _Piece, row: float, tip: str) -> str:
    name, (colour, _) = list(GROUPS.items())[piece.group]
    y = _TOP + row * piece.slot
    return (
        f'<g data-group="{name}" data-slot="{piece.slot}"><title>{escape(tip)}</title>'
        f'<rect x="{piece.x}" y="{y + 0.5:.1f}" width="{piece.stop - piece.x}" height="{max(row - 1, 1):.1f}" '
        f'fill="{colour}"/></g>'
    )


def _shapes(pieces: Sequence[_Piece], row: float) -> list[str]:
    parts, tall = [], max(row - 1, 1)
    for number, (name, (colour, states)) in enumerate(GROUPS.items()):
        path = "".join(
            f"M{p.x} {_TOP + row * p.slot + 0.5:.1f}h{p.stop - p.x}v{tall:.1f}h-{p.stop - p.x}z"
            for p in pieces
            if p.group == number
        )
        if path:
            tip = f"{name}: {', '.join(states)}; zoom in for single warps"
            parts.append(f'<g data-group="{name}"><title>{tip}</title><path d="{path}" fill="{colour}"/></g>')
    return parts


def _tip(timeline: SmTimeline, piece: _Piece, rows: Sequence[int], window: Window, texts: Sequence[str]) -> str:
    """The warp, the cycles, and the state and line that take most of them."""
    per = (window.last - window.first) / _WIDE
    first, last = window.first + (piece.x - _LEFT) * per, window.first + (piece.stop - _LEFT) * per
    inside = (timeline.stop > first) & (timeline.start < last) & (_GROUP[timeline.state] == piece.group)
    inside &= np.array(rows)[timeline.warp] == piece.slot
    overlap = np.minimum(timeline.stop[inside], last) - np.maximum(timeline.start[inside], first)
    state, line = timeline.state[inside], timeline.line[inside]
    k = int(np.argmax(np.bincount(line, overlap)[line] + overlap)) if len(line) else 0
    warp = int(timeline.warp[inside][k])
    name = REASONS[int(state[k])]
    why = f": {STALL_WORDS[name]}" if name in STALL_WORDS else ""
    code = f" ({texts[line[k] - 1].strip()})" if 0 < line[k] <= len(texts) else ""
    return (
        f"warp {warp} of block {timeline.blocks[warp]}, about cycles {first:.0f} to {last:.0f}: mostly {name}{why}, "
        f"line {line[k]}{code}"
    )


def _starts(timeline: SmTimeline, rows: Sequence[int], row: float, window: Window) -> list[str]:
    firsts = timeline.start[np.searchsorted(timeline.warp, np.arange(timeline.warps))].tolist()
    return [
        svg.line(window.x(at), _TOP + row * slot, window.x(at), _TOP + row * (slot + 1), stroke=svg.INK, width=1.5)
        for at, slot in zip(firsts, rows, strict=True)
        if window.first <= at <= window.last
    ]


def _names(count: int, row: float, reused: bool) -> list[str]:
    every = max(1, -(-11 // int(max(row, 1))))  # names are 10 pixels tall
    word = "slot" if reused else "warp"
    return [
        svg.text(_LEFT - 8, _TOP + row * (n + 0.5) + 4, f"{word} {n}", anchor="end", fill=svg.FAINT, size=11)
        for n in range(0, count, every)
    ]


def _axis(window: Window, bottom: float) -> list[str]:
    parts = [svg.line(_LEFT, bottom + 2, _LEFT + _WIDE, bottom + 2)]
    step = axis_step((window.last - window.first) / 8)
    at = math.ceil(window.first / step) * step
    while at <= window.last:
        x = window.x(at)
        anchor: svg.Anchor = "end" if x > _LEFT + _WIDE else "middle"
        parts += [
            svg.line(x, bottom + 2, x, bottom + 6),
            svg.text(x, bottom + 17, f"{at:.10g}", anchor=anchor, fill=svg.FAINT, size=10),
        ]
        at += step
    words = "cycles of the SM since the start of the launch, estimated"
    return [*parts, svg.text(_LEFT + _WIDE, bottom + 30, words, anchor="end", fill=svg.FAINT, size=11)]


def _legend(timeline: SmTimeline, y: float) -> tuple[list[str], float]:
    """The groups that occur, with Nsight Compute's names of their states, and where the picture ends."""
    occurring = {REASONS[k] for k in np.unique(timeline.state).tolist()}
    parts, x = [], float(_LEFT)
    y += 6
    for group, (colour, names) in GROUPS.items():
        found = [name for name in names if name in occurring]
        if not found:
            continue
        words = f"{group} ({', '.join(found)})"
        wide = 26 + 6.1 * len(words)
        if x + wide > svg.WIDTH and x > _LEFT:
            x, y = float(_LEFT), y + 18
        parts += [svg.box(x, y, 12, 12, colour, ", ".join(names)), svg.text(x + 16, y + 10, words, size=11)]
        x += wide
    return parts, y + 18
