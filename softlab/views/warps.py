"""A block's warps side by side as SVG: what each issues along the lock-step order, who waits, and one step of it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from softlab.instruments.snapshots import BarrierWaits, WarpState, group_warps
from softlab.instruments.timeline import KINDS, BarrierPass, Segment, Timeline
from softlab.views import svg
from softlab.views.diagrams import ranges
from softlab.views.style import ROLES, RULE
from softlab.views.tables import shown, table

_TOP, _LEGEND = 50, 30
#: Pixels: the axis of steps, as long as the track of a slider of the same width.
_LEFT, _END = 70, 778
#: Pixels of all warps together, and of one at most.
_TALL, _ROW = 380, 26
#: With more pieces than this in sight they are drawn by kind, each kind as one shape, without a tip for each piece.
MOST_TIPS = 700
#: A step of the axis has one of these lengths, times a power of ten.
_NICE = (1, 2, 5)
#: A parameter of the kernel in PTX, with the kernel's mangled name before it.
_PARAMETER = re.compile(r"\[\w+?_param_")
#: Blank and hyphen as those at which no line ends.
_UNBROKEN = str.maketrans({" ": "\N{NO-BREAK SPACE}", "-": "\N{NON-BREAKING HYPHEN}"})
#: Kind -> (colour, whether it has a dark band): the colour means the memory, as everywhere; a band means a
#: store. (No hatching: the page finds a pattern by its name, and another picture may hide it.)
LOOKS: dict[str, tuple[str, bool]] = {
    "global load": (ROLES["global"], False),
    "global store": (ROLES["global"], True),
    "shared load": (ROLES["shared"], False),
    "shared store": (ROLES["shared"], True),
    "shuffle": (ROLES["shuffle"], False),
    "barrier": (ROLES["barrier"], False),
    "other": (RULE, False),
}
WAITS = ROLES["conflict"]


@dataclass(frozen=True)
class Window:
    """The part of a timeline that is drawn: instructions ``first`` to ``last``."""

    first: float
    last: float

    @classmethod
    def around(cls, clock: int, length: int, zoom: int) -> Window:
        """A part of 1 / ``zoom`` of a timeline of ``length``, with ``clock`` in its middle where possible."""
        wide = max(length, 1) / zoom
        first = min(max(clock - wide / 2, 0), max(length, 1) - wide)
        return cls(first, first + wide)

    def holds(self, start: float, stop: float) -> bool:
        """Whether any of it is inside the window."""
        return start < self.last and stop > self.first

    def x(self, clock: float) -> float:
        """Pixels from the left."""
        inside = min(max(clock, self.first), self.last)
        return _LEFT + (inside - self.first) / (self.last - self.first) * (_END - _LEFT)


def warps_picture(timeline: Timeline, pieces: Sequence[Segment], window: Window, clock: int, *, title: str) -> str:
    """SVG: one row per warp, coloured by what it issues; a thin red line while it waits; an upright line at ``clock``.

    ``pieces``: of the timeline. A length is a number of instructions, not a time.
    """
    row = min(_ROW, _TALL / timeline.warps)
    bottom = _TOP + row * timeline.warps
    seen = [piece for piece in pieces if window.holds(piece.start, piece.start + piece.count)]
    parts = [svg.text(0, 14, title, bold=True, size=13)]
    parts += _rows(timeline.warps, row)
    parts += _axis(window, bottom)
    parts += _waits(timeline.passes, window, row)
    parts += _pieces(seen, window, row) if len(seen) <= MOST_TIPS else _shapes(seen, window, row)
    parts += _barriers(timeline.passes, window, bottom)
    here = window.x(clock)
    parts += [
        svg.line(here, _TOP - 8, here, bottom, stroke=svg.INK, width=2),
        svg.text(here, _TOP - 11, f"step {clock}", anchor=_anchor(here), bold=True, size=11),
    ]
    parts += _legend({piece.kind for piece in pieces}, bottom + 40)
    return svg.drawing(bottom + 40 + _LEGEND, parts, title=title)


def step_table(doings: Sequence[WarpState], clock: int, source: str) -> str:
    """HTML: what the warps do at ``clock``, those that do the same in one row. ``source``: the kernel's own file."""
    text = source.splitlines()
    rows = []
    for warps, doing in group_warps(doings):
        code = text[doing.line - 1].strip() if 0 < doing.line <= len(text) else ""
        where = f"line {doing.line}: {code}" if doing.line else ""
        who = f"{'warp' if len(warps) == 1 else 'warps'} {ranges(warps)}"
        rows.append((who.translate(_UNBROKEN), _activity(doing), where, _PARAMETER.sub("[param_", doing.text)))
    return table(["", "at this step", "of the source", "PTX"], rows, caption=f"Step {clock}: what each warp does")


def waiting_sentence(found: BarrierWaits) -> str:
    """How much the warps of a block wait for each other, in words."""
    barriers = f"{found.passes} barrier{'' if found.passes == 1 else 's'}"
    return (
        f"The block passes {barriers}. Its warps issue {shown(found.issued)} instructions, and could have issued"
        f" {shown(found.waited)} more while they waited for each other: {found.share:.0%} of the whole is waiting."
    )


def _activity(doing: WarpState) -> str:
    if doing.state == "waits":
        return "waits at a barrier for warps that have not arrived"
    if doing.state == "done":
        return "is done"
    lanes = "" if doing.lanes == 32 else f", {doing.lanes} lane{'' if doing.lanes == 1 else 's'} of 32"
    return f"issues {'arithmetic or control' if doing.kind == 'other' else f'a {doing.kind}'}{lanes}"


def _rows(warps: int, row: float) -> list[str]:
    every = max(1, -(-10 // int(row)))  # names are 10 pixels tall
    parts = []
    for warp in range(warps):
        if warp % every == 0:
            parts.append(
                svg.text(
                    _LEFT - 8, _TOP + row * (warp + 0.5) + 4, f"warp {warp}", anchor="end", fill=svg.FAINT, size=11
                )
            )
    return parts


def _axis(window: Window, bottom: float) -> list[str]:
    parts = [svg.line(_LEFT, bottom + 2, _END, bottom + 2)]
    step = axis_step((window.last - window.first) / 8)
    clock = math.ceil(window.first / step) * step
    while clock <= window.last:
        x = window.x(clock)
        parts += [
            svg.line(x, bottom + 2, x, bottom + 6),
            svg.text(x, bottom + 17, f"{clock:g}", anchor="middle", fill=svg.FAINT, size=10),
        ]
        clock += step
    words = "instructions that a warp has issued or waited for (order, not time)"
    return [*parts, svg.text(_END, bottom + 30, words, anchor="end", fill=svg.FAINT, size=11)]


def axis_step(least: float) -> float:
    """The distance of an axis' ticks: a nice number that is at least so large."""
    size = 1.0
    while True:
        for nice in _NICE:
            if nice * size >= least:
                return nice * size
        size *= 10


def _pieces(pieces: Sequence[Segment], window: Window, row: float) -> list[str]:
    parts = []
    for piece in pieces:
        x, stop = window.x(piece.start), window.x(piece.start + piece.count)
        parts.append(
            f'<g data-kind="{piece.kind}" data-warp="{piece.warp}"><title>{_tip(piece)}</title>'
            f"{_mark(piece.kind, x, _TOP + row * piece.warp + 1, max(stop - x - 0.4, 0.5), row - 2)}</g>"
        )
    return parts


def _mark(kind: str, x: float, y: float, wide: float, tall: float) -> str:
    colour, banded = LOOKS[kind]
    span = f'x="{x:.1f}" width="{wide:.1f}"'
    band = f'<rect {span} y="{y + 0.55 * tall:.1f}" height="{0.3 * tall:.1f}" fill="{svg.BAND}"/>' if banded else ""
    return f'<rect {span} y="{y:.1f}" height="{tall:.1f}" fill="{colour}"/>{band}'


def _shapes(pieces: Sequence[Segment], window: Window, row: float) -> list[str]:
    """One path per kind; pieces that fall on the same pixels of a row are drawn once."""
    drawn: dict[str, dict[tuple[int, int], int]] = {}
    for piece in pieces:
        x, stop = round(window.x(piece.start)), round(window.x(piece.start + piece.count))
        spans = drawn.setdefault(piece.kind, {})
        spans[piece.warp, x] = max(spans.get((piece.warp, x), 0), max(stop - x, 1))
    parts = []
    for kind in KINDS:
        if kind not in drawn:
            continue
        colour, banded = LOOKS[kind]
        band = f'<path d="{_path(drawn[kind], row, 0.55, 0.3)}" fill="{svg.BAND}"/>' if banded else ""
        parts.append(
            f'<g data-kind="{kind}"><title>{kind}; zoom in for single instructions</title>'
            f'<path d="{_path(drawn[kind], row, 0, 1)}" fill="{colour}"/>{band}</g>'
        )
    return parts


def _path(spans: Mapping[tuple[int, int], int], row: float, start: float, share: float) -> str:
    """Boxes at (warp, x) -> width: the ``share`` of each row's height that begins at ``start``."""
    tall = row - 2
    return "".join(
        f"M{x} {_TOP + row * warp + 1 + start * tall:.1f}h{wide}v{share * tall:.1f}h-{wide}z"
        for (warp, x), wide in spans.items()
    )


def _tip(piece: Segment) -> str:
    what = "other" if piece.kind == "other" else piece.kind
    least, most = piece.lanes
    lanes = f"{most} lane{'' if most == 1 else 's'}" if least == most else f"{least} to {most} lanes"
    lines = f", line{'s' if len(piece.lines) > 1 else ''} {ranges(piece.lines)}" if piece.lines else ""
    last = piece.start + piece.count - 1
    steps = f"step {piece.start}" if piece.count == 1 else f"steps {piece.start} to {last}"
    return f"warp {piece.warp}, {steps}: {piece.count} {what}{lines}, {lanes}"


def _waits(passes: Sequence[BarrierPass], window: Window, row: float) -> list[str]:
    parts = []
    for stop in passes:
        for warp, arrived in zip(stop.warps, stop.arrived, strict=True):
            if stop.at > arrived and window.holds(arrived, stop.at):
                x, y = window.x(arrived), _TOP + row * (warp + 0.5)
                tip = (
                    f"warp {warp}, steps {arrived} to {stop.at - 1}: waits at the barrier of line {stop.line} while"
                    f" another warp issues {stop.at - arrived} more"
                )
                wide = max(window.x(stop.at) - x, 0.5)
                parts.append(
                    f'<g data-kind="waits" data-warp="{warp}"><title>{tip}</title><rect x="{x:.1f}" '
                    f'y="{y - row / 2:.1f}" width="{wide:.1f}" height="{row:.1f}" fill="{WAITS}" fill-opacity="0.12"/>'
                    f'<rect x="{x:.1f}" y="{y - 1.5:.1f}" width="{wide:.1f}" height="3" fill="{WAITS}"/></g>'
                )
    return parts


def _barriers(passes: Sequence[BarrierPass], window: Window, bottom: float) -> list[str]:
    parts, free = [], 0.0
    for stop in passes:
        if not window.first <= stop.at <= window.last:
            continue
        x = window.x(stop.at)
        parts.append(
            f'<g data-kind="pass" data-line="{stop.line}"><title>barrier of line {stop.line}: passed by '
            f"{len(stop.warps)} warps at step {stop.at}</title>"
            f"{svg.line(x, _TOP - 2, x, bottom, stroke=svg.INK, dashed=True)}</g>"
        )
        words = f"barrier, line {stop.line}"
        if x >= free:
            anchor = _anchor(x)
            parts.append(svg.text(x, _TOP - 24, words, anchor=anchor, fill=svg.FAINT, size=10))
            free = x + 6 * len(words)
    return parts


def _anchor(x: float) -> svg.Anchor:
    return "start" if x < _LEFT + 40 else "end" if x > _END else "middle"


def _legend(kinds: set[str], y: float) -> list[str]:
    parts, x = [], float(_LEFT)
    for kind in (kind for kind in KINDS if kind in kinds):
        parts.append(_mark(kind, x, y, 14, 14))
        parts.append(svg.text(x + 19, y + 11, kind, size=11))
        x += 34 + 6.2 * len(kind)
    parts.append(f'<rect x="{x:g}" y="{y + 5:g}" width="14" height="3" fill="{WAITS}"/>')
    return [*parts, svg.text(x + 19, y + 11, "waits at a barrier", size=11)]
