"""The atlas of a GPU as pictures: how long each step away from the core takes; bandwidth against bytes in flight."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from softlab.hardware.atlas import Atlas
from softlab.views import svg
from softlab.views.style import ROLES, SERIES

#: Key of a row and what it is, from the core outwards.
LADDER = (
    ("latency.FFMA", "a result of FFMA"),
    ("latency.MUFU.EX2", "a result of MUFU.EX2"),
    ("latency.LDS", "shared memory"),
    ("latency.SHFL.BFLY", "another lane's register"),
    ("latency.L1", "L1"),
    ("latency.DSM.LD", "another SM's shared memory"),
    ("latency.L2.near", "L2, the near half"),
    ("latency.L2.far", "L2, the far half"),
    ("latency.ATOMG.ADD", "an atomic in L2"),
    ("latency.DRAM", "DRAM"),
    ("latency.TLB.32768", "L2, pages over 32 GiB"),
)
#: Curve of bandwidths, the row with the latency of an access, and what it is.
CURVES = (
    ("bandwidth.DRAM.read", "latency.DRAM", "DRAM, read"),
    ("bandwidth.L2.read", "latency.L2", "L2, read"),
    ("bandwidth.DRAM.copy", "latency.DRAM", "DRAM, copy"),
)
_LEFT, _RIGHT, _BAR, _PITCH = 190, 120, 18, 26
_WIDE = svg.WIDTH - _LEFT - _RIGHT
_TALL = 260
#: A value -> its position in pixels.
_Scale = Callable[[float], float]


def latency_ladder(atlas: Atlas) -> str:
    """SVG: cycles until a value is there, one bar per place, on a logarithmic axis from 1 cycle.

    Rows of :data:`LADDER` that the atlas does not have are left out, and named below the bars.
    """
    steps = [(atlas[key], words, key) for key, words in LADDER if key in atlas]
    missing = [words for key, words in LADDER if key not in atlas]
    most = max((value for value, _, _ in steps), default=1.0)
    title = "Cycles until a value is there"
    parts = [svg.text(0, 14, f"{title}, on a logarithmic axis", bold=True, size=13)]
    for number, (value, words, key) in enumerate(steps):
        top = 28 + number * _PITCH
        width = _WIDE * math.log(max(value, 1.0)) / math.log(most) if most > 1 else 0.0
        colour = ROLES["shared"] if "LDS" in key or "DSM" in key else ROLES["global"]
        colour = ROLES["idle"] if key in ("latency.FFMA", "latency.MUFU.EX2", "latency.SHFL.BFLY") else colour
        parts += [
            svg.text(_LEFT - 8, top + 13, words, anchor="end"),
            svg.box(_LEFT, top, width, _BAR, colour, f"{words}: {value:g} cycles ({key})", key=key, cycles=value),
            svg.text(_LEFT + width + 8, top + 13, f"{value:.4g}", bold=True),
        ]
    bottom = 28 + len(steps) * _PITCH + 14
    if missing:
        parts.append(svg.text(0, bottom, f"Not measured: {', '.join(missing)}.", fill=svg.FAINT, size=11))
        bottom += 18
    parts.append(svg.text(0, bottom, stamp(atlas), fill=svg.FAINT, size=10))
    return svg.drawing(bottom + 6, parts, title=title)


def littles_law(
    atlas: Atlas, *, sms: int = 132, here: float | None = None, shown: Sequence[tuple[str, str, str]] = CURVES
) -> str:
    """SVG: bandwidth against the bytes that each SM has in flight, both logarithmic, as recorded.

    Dashed, for each curve: what Little's law allows, bytes in flight over the latency of an idle memory, up to the most
    that was recorded. ``here``: bytes in flight per SM that are marked. ``shown``: which of :data:`CURVES`.
    """
    curves = [(key, *atlas.series(key), latency, words) for key, latency, words in shown if _has(atlas, key)]
    title = "Bandwidth against bytes in flight"
    if not curves:
        return svg.drawing(20, [svg.text(0, 14, "The atlas has no curve of bandwidths.")], title=title)
    low, high = (end([float(end(at)) for _, at, *_ in curves]) for end in (min, max))
    top_value = max(float(values.max()) for _, _, values, *_ in curves)
    least = min(float(values.min()) for _, _, values, *_ in curves)

    def x(at: float) -> float:
        return _LEFT + _WIDE * math.log(at / low) / math.log(high / low)

    def y(value: float) -> float:
        return 40 + _TALL * math.log(top_value / value) / math.log(top_value / least)

    parts = [svg.text(0, 14, f"{title}: bytes per cycle of the whole GPU", bold=True, size=13)]
    parts += _axes(low, high, least, top_value, x, y)
    for number, (key, at, values, latency, words) in enumerate(curves):
        colour = SERIES[number % len(SERIES)]
        parts.append(_curve(key, words, at, values, colour, x, y))
        parts.append(svg.text(_LEFT + _WIDE + 8, y(float(values[-1])) + 4 + 14 * (number == 2), words))
        if latency in atlas:
            parts.append(_law(atlas[latency], sms, float(values.max()), (low, high), colour, key, least, x, y))
    if here is not None:
        inside = min(max(here, low), high)
        parts.append(svg.line(x(inside), 34, x(inside), 40 + _TALL, stroke=svg.INK, width=2))
        parts.append(svg.text(x(inside), 30, f"{here:g} bytes in flight", anchor="middle", bold=True, size=11))
    bottom = 40 + _TALL + 52
    parts.append(svg.text(0, bottom, stamp(atlas), fill=svg.FAINT, size=10))
    return svg.drawing(bottom + 6, parts, title=title)


def stamp(atlas: Atlas) -> str:
    """Where, when and with what the atlas was recorded."""
    versions = ", ".join(f"{name} {version}" for name, version in atlas.versions.items())
    return f"recorded on {atlas.device}, {atlas.date} ({versions})"


def _has(atlas: Atlas, key: str) -> bool:
    return any(name.startswith(f"{key}.") for name in atlas.rows)


def _axes(low: float, high: float, least: float, most: float, x: _Scale, y: _Scale) -> list[str]:
    parts = []
    for power in range(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1, 2):
        at = 2.0**power
        words = f"{at / 1024:g} KiB" if at >= 1024 else f"{at:g}"
        parts.append(svg.line(x(at), 40, x(at), 40 + _TALL))
        parts.append(svg.text(x(at), 40 + _TALL + 16, words, anchor="middle", size=11))
    for power in range(math.ceil(math.log10(least)), math.floor(math.log10(most)) + 1):
        value = 10.0**power
        parts.append(svg.line(_LEFT, y(value), _LEFT + _WIDE, y(value)))
        parts.append(svg.text(_LEFT - 8, y(value) + 4, f"{value:g}", anchor="end"))
    words = "bytes in flight per SM"
    return [*parts, svg.text(_LEFT + _WIDE, 40 + _TALL + 32, words, anchor="end", fill=svg.FAINT, size=11)]


def _curve(key: str, words: str, at: Any, values: Any, colour: str, x: _Scale, y: _Scale) -> str:
    """A recorded curve with its highest value as its title."""
    points = " ".join(f"{x(a):.1f},{y(v):.1f}" for a, v in zip(at, values, strict=True))
    return (
        f'<g data-curve="{key}"><title>{words}: at most {values.max():.4g} bytes per cycle</title>'
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/></g>'
    )


def _law(
    latency: float, sms: int, most: float, ends: Sequence[float], colour: str, key: str, least: float,
    x: _Scale, y: _Scale,
) -> str:  # fmt: skip
    """Little's law: bandwidth = bytes in flight / latency, until the most that was recorded."""
    knee = min(max(most * latency / sms, ends[0]), ends[1])
    first = max(ends[0], least * latency / sms)
    corners = [(first, first * sms / latency), (knee, min(most, knee * sms / latency)), (ends[1], most)]
    points = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in corners)
    return (
        f'<g data-law="{key}" data-knee="{knee:.0f}"><title>Little\'s law with {latency:g} cycles: {knee:.0f} bytes in '
        f'flight per SM for the most bandwidth</title><polyline points="{points}" fill="none" stroke="{colour}" '
        f'stroke-width="1.5" stroke-dasharray="6 4"/></g>'
    )
