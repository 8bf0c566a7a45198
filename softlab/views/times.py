"""Times of several launches as bars: what the model estimates, and beside it what a GPU took, where it was measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from softlab.views import svg
from softlab.views.estimates import duration
from softlab.views.style import BLUE, GREEN, ORANGE

_LEFT, _RIGHT, _ROW, _TOP = 150, 310, 32, 44
_WIDE, _TALL, _EDGE = svg.WIDTH - 260, 150, 60
#: A value -> its position in pixels.
_Scale = Callable[[float], float]
#: A curve over warps per SM: (warps, values).
Curve = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class TimeRow:
    """One launch: ``estimated`` and ``recorded`` in microseconds, None where there is none; ``bound`` and ``reason`` of
    the estimate (Nsight Compute's name); ``chosen``: the launch that the explorer shows."""

    label: str
    estimated: float | None = None
    recorded: float | None = None
    bound: str = ""
    reason: str = ""
    chosen: bool = False


def time_bars(rows: Iterable[TimeRow], *, title: str, notes: Sequence[str] = ()) -> str:
    """SVG: for each launch a bar for the estimate and one for the recording, in one scale from 0.

    A launch without an estimate says so, and so does one without a recording.
    """
    shown = list(rows)
    times = [time for row in shown for time in (row.estimated, row.recorded) if time is not None]
    scale = (svg.WIDTH - _LEFT - _RIGHT) / max(times, default=1.0)
    parts = [svg.text(0, 14, title, bold=True, size=13)]
    for x, colour, words in ((_LEFT, BLUE, "estimated by the model"), (_LEFT + 180, ORANGE, "recorded on a GPU")):
        parts += [svg.box(x, 24, 12, 12, colour), svg.text(x + 16, 34, words, size=11)]
    y = float(_TOP)
    for row in shown:
        parts.append(svg.text(_LEFT - 8, y + 17, row.label, anchor="end", bold=row.chosen))
        parts += _bar(row, "estimated", row.estimated, y + 2, scale, BLUE, _why(row))
        parts += _bar(row, "recorded", row.recorded, y + 15, scale, ORANGE, "recorded")
        y += _ROW
    for note in notes:
        parts.append(svg.text(0, y + 12, note, fill=svg.FAINT, size=11))
        y += 16
    return svg.drawing(y + 4, parts, title=title, estimated=True)


def _why(row: TimeRow) -> str:
    wait = f", {row.reason}" if row.reason else ""
    return f"estimated, bound by {row.bound}{wait}"


def _bar(row: TimeRow, kind: str, time: float | None, y: float, scale: float, colour: str, words: str) -> list[str]:
    if time is None:
        return [svg.text(_LEFT, y + 9, f"not {kind}", fill=svg.FAINT, size=10)]
    tip = f"{row.label}: {duration(time)} {words}"
    return [
        svg.box(
            _LEFT, y, time * scale, 11, colour, tip, marked=row.chosen, kind=kind, label=row.label,
            microseconds=f"{time:g}",
        ),
        svg.text(_LEFT + time * scale + 6, y + 9, f"{duration(time)} {words}", size=10, fill=svg.FAINT),
    ]  # fmt: skip


def _copy_axes(top: float, most: float, x: _Scale, y: _Scale) -> list[str]:
    """The grid of the curves: TB/s up to ``top`` GB/s, and every 8 warps up to ``most``."""
    parts = []
    for value in range(math.floor(top / 1000) + 1):
        parts.append(svg.line(_EDGE, y(1000 * value), _EDGE + _WIDE, y(1000 * value)))
        parts.append(svg.text(_EDGE - 6, y(1000 * value) + 4, f"{value} TB/s", anchor="end", fill=svg.FAINT, size=11))
    for tick in range(0, int(most) + 1, 8):
        parts.append(svg.text(x(tick), 34 + _TALL + 16, tick, anchor="middle", fill=svg.FAINT, size=11))
    words = "warps that an SM holds"
    return [*parts, svg.text(_EDGE + _WIDE, 34 + _TALL + 31, words, anchor="end", fill=svg.FAINT, size=11)]


def _recorded_points(recorded: Curve, most: float, x: _Scale, y: _Scale) -> list[str]:
    """What a GPU was measured to do, up to ``most`` warps, with an entry of the legend."""
    parts = []
    for at, speed in zip(recorded[0], recorded[1], strict=True):
        if at <= most:
            tip = f"recorded: {speed:.0f} GB/s with these bytes in flight"
            parts.append(svg.box(x(at) - 4, y(speed) - 4, 8, 8, ORANGE, tip, point=f"{at:g}"))
    return [
        *parts,
        svg.box(_EDGE + _WIDE + 8, 36 + _TALL - 22, 8, 8, ORANGE),
        svg.text(_EDGE + _WIDE + 22, 36 + _TALL - 14, "recorded, 16 bytes per thread", size=11),
    ]


def copy_curves(
    estimated: Mapping[str, Curve], recorded: Curve, warps: int | None, *, title: str, notes: Sequence[str]
) -> str:
    """SVG: the bandwidth of a copy against the warps that an SM holds, as curves and, recorded, as points.

    Arguments:
        estimated: words -> warps per SM and 10^9 bytes per second. recorded: the same, of a GPU.
        warps: those of the kernel that is shown, as an upright line; None: no line.
    """
    top = max(max(values) for _, values in (*estimated.values(), recorded))
    most = max(max(at) for at, _ in estimated.values())

    def x(at: float) -> float:
        return _EDGE + _WIDE * at / most

    def y(value: float) -> float:
        return 34 + _TALL * (1 - value / top)

    parts = [svg.text(0, 14, title, bold=True, size=13), *_copy_axes(top, most, x, y)]
    for colour, (words, (ats, values)) in zip((BLUE, GREEN), estimated.items(), strict=False):
        points = " ".join(f"{x(a):.1f},{y(v):.1f}" for a, v in zip(ats, values, strict=True))
        parts.append(
            f'<g data-curve="{words}"><title>{words}, estimated</title><polyline points="{points}" fill="none" '
            f'stroke="{colour}" stroke-width="2.5"/></g>'
        )
        parts.append(svg.text(_EDGE + _WIDE + 8, y(values[-1]) + 4, words, size=11))
    parts += _recorded_points(recorded, most, x, y)
    if warps is not None:
        here = x(min(warps, most))
        parts += [
            svg.line(here, 28, here, 34 + _TALL, stroke=svg.INK, width=2),
            svg.text(here, 26, f"yours: {warps}", anchor="middle" if here > 120 else "start", bold=True, size=11),
        ]
    bottom = 34 + _TALL + 38.0
    for note in notes:
        parts.append(svg.text(0, bottom + 10, note, fill=svg.FAINT, size=11))
        bottom += 16
    return svg.drawing(bottom + 4, parts, title=title, estimated=True)
