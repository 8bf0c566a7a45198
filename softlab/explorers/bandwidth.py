"""Explorer of speeds: what was recorded over the row length, beside the ceiling; and what this machine's GPU does."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets
from traitlets import Dict, Int, Tuple, Unicode, validate

from softlab.bench import curves, recordings
from softlab.bench.cases import DTYPES, rows_of
from softlab.explorers.explorer import Explorer, buttons, named, side_by_side
from softlab.hardware.devices import Device
from softlab.plans import plan
from softlab.views import tables
from softlab.views.speeds import Line, Roofs, speed_picture, speed_table

#: What is shown at first, of what a recording has.
SHOWN = ("softlab, fast", "softlab, oneflow", "softlab, as planned", "PyTorch", "cuDNN")


class BandwidthExplorer(Explorer):
    """Recorded speeds of the softmax kernels and their peers over the row length, beside a device copy's.

    >>> explorer = BandwidthExplorer(cols=4096)
    >>> explorer.summary["speeds"]["softlab, as planned"]
    3992

    ``recording`` is one of ``softlab.bench.record.claims`` (the reference design) or of ``.fast`` (policy "fast" beside
    its peers). Where there is a GPU, ``measure()`` measures the planned kernel there, and its speeds are drawn as live.

    Traits:
        dtype: one that was recorded.
        cols: the row length that is looked at. One that was not recorded becomes the nearest one that was.
        shown: which curves, of ``curves.labels(...)``.
        live: columns -> GB/s measured on this machine.
        summary: ``speeds`` (label -> GB/s at ``cols``, 10^9 bytes per second), ``of_copy`` (label -> share of a
            copy's), ``fastest`` (label of a softmax), ``copied`` (GB/s of the copy).
    """

    lesson = "10"
    dtype = Unicode("float32").tag(state=True)
    cols = Int(4096).tag(state=True)
    shown = Tuple(default_value=SHOWN).tag(state=True)
    live = Dict()
    summary = Dict()

    def __init__(
        self,
        cols: int = 4096,
        dtype: str = "float32",
        *,
        shown: tuple[str, ...] | None = None,
        recording: str = "claims_h200",
    ) -> None:
        self._recording = recordings.load(recording)
        self._labels = curves.labels(self._recording)
        self._curves = {name: curves.curves(self._recording, name) for name in curves.dtypes(self._recording)}
        self._roofs = Roofs(
            curves.ceiling(self._recording),
            (Device.named(self._recording.device.removeprefix("NVIDIA ")).memory_bandwidth or 0) / 1e9,
        )
        first = tuple(label for label in SHOWN if label in self._labels)
        super().__init__(dtype=dtype, cols=cols, shown=first if shown is None else tuple(shown))
        self._build()
        self._draw()

    def _build(self) -> None:
        recorded = sorted({s.cols for found in self._curves.values() for curve in found for s in curve.samples})
        options = [(tables.shown(cols), cols) for cols in recorded]
        self.cols_slider = widgets.SelectionSlider(options=options, description="cols", layout={"width": "560px"})
        self.cols_slider.style.description_width = "62px"
        self.dtype_buttons = buttons(tuple(self._curves), "type of the elements")
        self.switches = {
            label: widgets.ToggleButton(description=label, layout={"width": "auto"}) for label in self._labels
        }
        self.bind("cols", self.cols_slider)
        self.bind("dtype", self.dtype_buttons)
        for label, switch in self.switches.items():
            switch.value = label in self.shown
            switch.observe(lambda change, label=label: self._switched(label, change.new), "value")
        self.picture, self.numbers = widgets.HTML(), widgets.HTML()
        self.widget = widgets.VBox(
            [
                side_by_side([self.cols_slider, named("dtype", self.dtype_buttons)]),
                side_by_side([*self.switches.values()]),
                self.picture,
                self.numbers,
            ]
        )
        self._offer()
        self.observe(self._show, "shown")
        self.observe(lambda change: self._offer(), "dtype")
        self.observe(lambda change: self._draw(), ("dtype", "cols", "live"))

    def _offer(self) -> None:
        """What was recorded of this type: its curves to switch on, and a row length that it has."""
        here = {curve.label for curve in self._curves[self.dtype]}
        for label, switch in self.switches.items():
            switch.layout.display = None if label in here else "none"
        self.cols = self.cols  # validated again

    @validate("dtype")
    def _recorded_dtype(self, proposal: Any) -> str:
        if proposal["value"] not in self._curves:
            raise ValueError(f"no dtype {proposal['value']!r}: {', '.join(self._curves)} were recorded")
        return proposal["value"]

    @validate("cols")
    def _recorded_cols(self, proposal: Any) -> int:
        recorded = {sample.cols for curve in self._curves[self.dtype] for sample in curve.samples}
        return min(recorded, key=lambda cols: abs(cols - int(proposal["value"])))

    @validate("shown")
    def _known_curves(self, proposal: Any) -> tuple[str, ...]:
        unknown = [label for label in proposal["value"] if label not in self._labels]
        if unknown:
            raise ValueError(f"no curve {unknown[0]!r}: there are {', '.join(map(repr, self._labels))}")
        return tuple(label for label in self._labels if label in proposal["value"])

    def _switched(self, label: str, on: bool) -> None:
        if on != (label in self.shown):
            self.shown = (*self.shown, label) if on else tuple(other for other in self.shown if other != label)

    def _show(self, change: Any) -> None:
        for label, switch in self.switches.items():
            switch.value = label in self.shown
        self._draw()

    def measure(self, cols: tuple[int, ...] = (256, 1024, 4096, 16_384)) -> dict[int, float]:
        """Measure the planned kernel on the GPU of this machine, as the recordings were: columns -> GB/s, which is
        then drawn as live; {} where there is no GPU.

        Raises:
            ValueError: the dtype is neither float32 nor float16.
        """
        from softlab.bench.record import live

        if self.dtype not in DTYPES:
            raise ValueError(f"{self.dtype} is not measured here; take {' or '.join(DTYPES)}")
        policy = "fast" if "softlab, fast" in self._labels else "oneflow"
        speeds = live.speeds([plan(rows_of(c, self.dtype), c, self.dtype, policy=policy) for c in cols])
        found = dict(zip(cols, speeds, strict=False))  # a copy's speed comes last
        self.set_trait("live", found)
        return found

    def _draw(self) -> None:
        labels, found = self._labels, self._curves[self.dtype]
        live = {int(cols): float(speed) for cols, speed in self.live.items()}
        lines = [
            Line(
                labels.index(curve.label),
                curve.label,
                [(s.cols, s.gb_per_second, s.what, s.microseconds) for s in curve.samples],
            )
            for curve in found
            if curve.label in self.shown
        ]
        here = {curve.label: sample for curve in found if (sample := curve.at(self.cols))}
        copied = self._roofs.copied
        self.summary = {
            "speeds": {label: round(sample.gb_per_second) for label, sample in here.items()},
            "of_copy": {label: round(sample.gb_per_second / copied, 3) for label, sample in here.items()},
            "fastest": max(here.keys() - {curves.COPY}, key=lambda label: here[label].gb_per_second),
            "copied": round(copied),
        }
        stamp = f"{self._recording.stamp}; by {self._recording.command}"
        title = f"Softmax of {self.dtype}, 256 MiB of it: each element counted once in, once out"
        self.picture.value = speed_picture(lines, self._roofs, self.cols, title=title, stamp=stamp, live=live)
        self.numbers.value = speed_table(lines, self.cols, self._roofs, live)
