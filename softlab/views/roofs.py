"""What a roofline counts, and a small one as SVG, which needs no library in the page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from softlab.hardware.devices import Device, with_article
from softlab.timing.estimates import Estimate
from softlab.timing.parameters import parameters
from softlab.views import svg
from softlab.views.style import ROLES, SERIES, SKY

#: FP32 lanes of an SM and schedulers of an SM (CUDA C++ Programming Guide, "Arithmetic Instructions", 9.0).
_FP32_LANES, _SCHEDULERS = 128, 4
#: Pixels of the small picture.
_LEFT, _TOP, _BOTTOM, _HEIGHT = 70, 30, 56, 320
_SIDE: dict[bool, svg.Anchor] = {True: "end", False: "start"}
_MOST_SPEED = 3  # times the peak: the upper edge


@dataclass(frozen=True)
class Axes:
    """What a roofline counts: the name of one operation, of 1e9 of them per second, and the roof over all."""

    work: str
    speed: str
    peak: float
    roof: str

    def of(self, found: Estimate) -> float:
        """How many the launch does."""
        return found.fp32_operations if self.work == "FP32 operations" else found.instructions


def only_device(estimates: Mapping[str, Estimate]) -> str:
    """The one device of the estimates.

    Raises:
        ValueError: no estimates, or several devices.
    """
    devices = {one.device for one in estimates.values()}
    if len(devices) != 1:
        raise ValueError(f"a roofline is that of one device, got estimates for {sorted(devices) or 'none'}")
    return devices.pop()


def axes_and_rates(estimates: Mapping[str, Estimate]) -> tuple[Axes, dict[str, float]]:
    """What the launches are counted in, and the rates of DRAM and L2 of their device in GB/s."""
    p = parameters(Device.named(only_device(estimates)))
    rates = {"DRAM": p.dram_bytes * p.clock_mhz / 1e3, "L2": p.l2_bytes * p.clock_mhz / 1e3}
    per_second = p.clock_mhz * 1e6 * p.sm_count / 1e9
    if all(one.fp32_operations for one in estimates.values()):
        peak = 2 * _FP32_LANES * per_second
        return Axes("FP32 operations", "GFLOP/s", peak, f"FP32: {peak / 1e3:.1f} TFLOP/s"), rates
    peak = _SCHEDULERS * per_second
    roof = f"issue: {peak:.0f}e9 warp instructions/s"
    return Axes("warp instructions", "1e9 warp instructions/s", peak, roof), rates


def point_of(found: Estimate, axes: Axes) -> tuple[float | None, float | None]:
    """(operations per byte, 1e9 operations per second); None where there are no bytes, or no operations."""
    work = axes.of(found)
    if not work:
        return None, None
    return (work / found.dram_bytes if found.dram_bytes else None), work / found.microseconds / 1e3


def small_roofline(found: Estimate) -> str:
    """SVG: the roofs of DRAM, of L2 and of the units, and the launch as a point. The same as ``roofline`` draws."""
    axes, rates = axes_and_rates({found.kernel: found})
    x, y = point_of(found, axes)
    ridges = [axes.peak / rate for rate in rates.values()]
    low = min([*ridges, *([x] if x else [])]) / 8
    high = max([*ridges, *([x] if x else [])]) * 8
    least = min(axes.peak / 100, y or axes.peak) / 4
    scale = _Scale((low, high), (least, axes.peak * _MOST_SPEED))
    parts = [*_axis_parts(scale, axes)]
    for colour, (name, rate) in zip((ROLES["global"], SKY), rates.items(), strict=True):
        ridge = axes.peak / rate
        start = max(low, least / rate)
        parts.append(
            svg.line(scale.x(start), scale.y(start * rate), scale.x(ridge), scale.y(axes.peak), stroke=colour, width=2)
        )
        middle = start ** (2 / 3) * ridge ** (1 / 3)
        x0, y0, above = scale.x(middle), scale.y(middle * rate), name == "L2"
        label = f"{name}: {rate / 1e3:.1f} TB/s"
        parts.append(svg.text(x0 + (-8 if above else 8), y0 + (-6 if above else 14), label, anchor=_SIDE[above]))
    flat = scale.y(axes.peak)
    parts.append(svg.line(scale.x(min(ridges)), flat, scale.x(high), flat, stroke=svg.INK, width=2))
    parts.append(svg.text(scale.x(high), flat - 8, axes.roof, anchor="end"))
    parts += _point_parts(scale, found, axes, x, y)
    return svg.drawing(_HEIGHT, parts, title=f"Roofline of {with_article(found.device)}, estimated", estimated=True)


@dataclass(frozen=True)
class _Scale:
    """Logarithmic axes in pixels."""

    across: tuple[float, float]
    up: tuple[float, float]

    def x(self, value: float) -> float:
        low, high = self.across
        return _LEFT + (svg.WIDTH - _LEFT - 10) * math.log(value / low) / math.log(high / low)

    def y(self, value: float) -> float:
        low, high = self.up
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * math.log(value / low) / math.log(high / low)


def _axis_parts(scale: _Scale, axes: Axes) -> list[str]:
    base = _HEIGHT - _BOTTOM
    parts = [svg.text(0, 14, axes.speed, bold=True)]
    for value in _powers(*scale.across):
        parts.append(svg.line(scale.x(value), base, scale.x(value), _TOP))
        parts.append(svg.text(scale.x(value), base + 16, f"{value:g}", anchor="middle", fill=svg.FAINT))
    for value in _powers(*scale.up):
        parts.append(svg.line(_LEFT, scale.y(value), svg.WIDTH - 10, scale.y(value)))
        parts.append(svg.text(_LEFT - 6, scale.y(value) + 4, f"{value:,.10g}", anchor="end", fill=svg.FAINT))
    parts.append(svg.text((_LEFT + svg.WIDTH) / 2, base + 38, f"{axes.work} per byte of DRAM", anchor="middle"))
    return parts


def _powers(low: float, high: float) -> list[float]:
    return [10.0**n for n in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]


def _point_parts(scale: _Scale, found: Estimate, axes: Axes, x: float | None, y: float | None) -> list[str]:
    if y is None:
        return [svg.text(_LEFT + 8, _TOP + 16, f"{found.kernel} does none of these operations.")]
    words = f"{found.kernel}: {y:.3g} {axes.speed}"
    if x is None:
        height = scale.y(y)
        dashes = svg.line(_LEFT, height, svg.WIDTH - 10, height, stroke=SERIES[1], width=2, dashed=True)
        return [dashes, svg.text(_LEFT + 8, height - 6, f"{words}, no bytes of DRAM")]
    mark = svg.box(scale.x(x) - 6, scale.y(y) - 6, 12, 12, SERIES[1], f"{words}, {x:.3g} per byte", marked=True)
    right = scale.x(x) < svg.WIDTH * 0.6
    return [
        mark,
        svg.text(scale.x(x) + (14 if right else -14), scale.y(y) + 4, words, anchor="start" if right else "end"),
    ]
