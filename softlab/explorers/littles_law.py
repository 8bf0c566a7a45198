"""Explorer of Little's law: how many bytes the warps of an SM must have in flight to keep a memory busy."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets
import numpy as np
from traitlets import Dict, Enum, Int, validate

from softlab.explorers.explorer import Explorer, buttons, named, side_by_side, slider
from softlab.hardware import atlas
from softlab.views import tables
from softlab.views.atlas import CURVES, littles_law

BYTES = (4, 8, 16)
MEMORIES = {"DRAM": "latency.DRAM", "L2": "latency.L2"}
MOST_WARPS, MOST_LOADS = 64, 16
DEVICE, SMS, LANES = "H200", 132, 32
#: The law counts bytes that come. A copy writes as many, so its curve would stand above the law.
READS = tuple(curve for curve in CURVES if curve[0].endswith(".read"))


class LittlesLawExplorer(Explorer):
    """Warps, loads on the way per warp and bytes per lane: the bandwidth that they give, by the law and as recorded.

    >>> explorer = LittlesLawExplorer(warps=8, loads=1, bytes=16)
    >>> explorer.summary["in_flight"]
    4096

    Traits: ``warps`` (of an SM), ``loads`` (that each has on the way), ``bytes`` (of one load, per lane), ``memory``.
    ``summary``: in_flight (bytes per SM), law (GB/s by Little's law, at most the recorded peak), recorded (GB/s at as
    many bytes in flight, between the recorded points), peak (GB/s), needed (bytes per SM for the peak, by the law).
    """

    lesson = "15"
    warps = Int(16).tag(state=True)
    loads = Int(1).tag(state=True)
    bytes = Enum(BYTES, 4).tag(state=True)
    memory = Enum(tuple(MEMORIES), "DRAM").tag(state=True)
    summary = Dict()

    def __init__(self, warps: int = 16, loads: int = 1, bytes: int = 4, *, memory: str = "DRAM") -> None:
        self._atlas = atlas.load(DEVICE)
        super().__init__(warps=warps, loads=loads, bytes=bytes, memory=memory)
        self.warps_slider = slider(1, MOST_WARPS, "warps")
        self.loads_slider = slider(1, MOST_LOADS, "loads")
        self.bytes_buttons = buttons(BYTES, "bytes that a lane loads at once")
        self.memory_buttons = buttons(tuple(MEMORIES), "where the bytes come from")
        for trait, control in (
            ("warps", self.warps_slider),
            ("loads", self.loads_slider),
            ("bytes", self.bytes_buttons),
            ("memory", self.memory_buttons),
        ):
            self.bind(trait, control)
        self.message, self.picture = widgets.HTML(), widgets.HTML()
        self.widget = widgets.VBox(
            [
                side_by_side([self.warps_slider, self.loads_slider]),
                side_by_side([named("bytes", self.bytes_buttons), named("memory", self.memory_buttons)]),
                self.message,
                self.picture,
            ]
        )
        self.observe(lambda change: self._draw(), ("warps", "loads", "bytes", "memory"))
        self._draw()

    @validate("warps", "loads")
    def _within(self, proposal: Any) -> int:
        most = MOST_WARPS if proposal["trait"].name == "warps" else MOST_LOADS
        return min(max(int(proposal["value"]), 1), most)

    def _draw(self) -> None:
        in_flight = self.warps * self.loads * self.bytes * LANES
        at, rate = self._atlas.series(f"bandwidth.{self.memory}.read")
        latency, clock = self._atlas[MEMORIES[self.memory]], self._atlas.clocks["SM"] / 1000
        peak = float(rate.max()) * clock
        inside = float(np.clip(in_flight, at.min(), at.max()))
        self.summary = {
            "in_flight": in_flight,
            "law": round(min(in_flight * SMS / latency * clock, peak)),
            "recorded": round(float(np.interp(inside, at, rate)) * clock),
            "peak": round(peak),
            "needed": round(peak / clock * latency / SMS),
        }
        self.message.value = tables.lines(self._sentences(latency, in_flight, inside))
        self.picture.value = littles_law(self._atlas, sms=SMS, here=in_flight, shown=READS)

    def _sentences(self, latency: float, in_flight: int, inside: float) -> list[str]:
        found = self.summary
        share = found["recorded"] / found["peak"]
        beyond = "" if inside == in_flight else f" (the recording ends at {tables.shown(round(inside))} bytes)"
        return [
            f"{self.warps} warp{'s' * (self.warps > 1)} x {self.loads} load{'s' * (self.loads > 1)} x 32 lanes x"
            f" {self.bytes} bytes = {tables.shown(in_flight)} bytes on the way per SM.",
            f"A load from {self.memory} takes {latency:.0f} cycles. Little's law: {tables.shown(found['law'])} GB/s."
            f" Recorded with these bytes on the way{beyond}: {tables.shown(found['recorded'])} GB/s,"
            f" {share:.0%} of the most.",
            f"For the most, {tables.shown(found['peak'])} GB/s, the law asks for {tables.shown(found['needed'])} bytes"
            " per SM.",
        ]
