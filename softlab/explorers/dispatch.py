"""Explorer of the dispatch: from the Python call to the launch, as planned or with your own choices."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets
from traitlets import Dict, Enum, Int, Unicode, validate

from softlab.bench import consequences, recordings
from softlab.errors import PlanError
from softlab.explorers.explorer import Explorer, buttons, menu, named, side_by_side, slider, steady
from softlab.hardware import devices
from softlab.plans import Plan, forced, plan
from softlab.plans.instantiations import BLOCK_SIZES
from softlab.plans.oneflow import KERNELS, PACK_SIZES
from softlab.plans.planner import Step
from softlab.views import tables
from softlab.views.dispatch import alternatives_bars, consequences_table, ladder

DTYPES = ("float16", "bfloat16", "float32", "float64")
FORWARD = ("softmax", "log_softmax")
AXES = ("last", "first")
AUTO = "as planned"
#: Where the sliders end; more can be typed or set.
SLIDER_ROWS, SLIDER_COLS = 65_536, 16_384
MOST = 1 << 31


class DispatchExplorer(Explorer):
    """How ``softlab.softmax(x, policy="oneflow")`` becomes a launch: every question, with the plan's answers lit.

    >>> explorer = DispatchExplorer(rows=4096, cols=8192)
    >>> explorer.summary["kernel"], explorer.summary["grid"]
    ('block_smem', 4096)
    >>> explorer.kernel = "block_uncached"
    >>> explorer.summary["kernel"], explorer.summary["planned"]
    ('block_uncached', 'block_smem')

    Traits: ``rows``, ``cols`` (the shape of x), ``axis`` ("last" or "first"), ``dtype``, ``op``, ``device``: the call.
    ``kernel``, ``pack``, ``block``: a choice of your own, or "as planned". ``summary``: kernel, pack_size, block_size,
    grid, waves, steps (questions), planned (the kernel without your choices), rows and cols (that the kernel sees),
    recorded (share of a device copy, or None), note; ``note``: why your choices are not possible, "" where they are.
    """

    lesson = "09"
    rows = Int(4096).tag(state=True)
    cols = Int(8192).tag(state=True)
    axis = Enum(AXES, "last").tag(state=True)
    dtype = Enum(DTYPES, "float32").tag(state=True)
    op = Enum(FORWARD, "softmax").tag(state=True)
    device = Enum(devices.names(), "H200").tag(state=True)
    kernel = Enum((AUTO, *KERNELS), AUTO)
    pack = Enum((AUTO, *map(str, PACK_SIZES)), AUTO)
    block = Enum((AUTO, *map(str, BLOCK_SIZES)), AUTO)
    summary = Dict()
    note = Unicode()

    def __init__(
        self,
        rows: int = 4096,
        cols: int = 8192,
        dtype: str = "float32",
        *,
        op: str = "softmax",
        device: str = "H200",
    ) -> None:
        self._recording = recordings.load()
        super().__init__(rows=rows, cols=cols, dtype=dtype, op=op, device=device)
        self._build()
        self._draw()

    def _build(self) -> None:
        self.rows_slider, self.cols_slider = slider(1, SLIDER_ROWS, "rows"), slider(1, SLIDER_COLS, "cols")
        self.axis_buttons, self.op_buttons = buttons(AXES, "which axis sums to 1"), buttons(FORWARD, "which operator")
        self.dtype_menu, self.device_menu = menu(DTYPES, "dtype"), menu(devices.names(), "GPU")
        self.kernel_menu = menu((AUTO, *KERNELS), "kernel")
        self.pack_menu = menu((AUTO, *map(str, PACK_SIZES)), "pack")
        self.block_menu = menu((AUTO, *map(str, BLOCK_SIZES)), "block")
        controls = {
            "rows": self.rows_slider, "cols": self.cols_slider, "axis": self.axis_buttons, "op": self.op_buttons,
            "dtype": self.dtype_menu, "device": self.device_menu, "kernel": self.kernel_menu, "pack": self.pack_menu,
            "block": self.block_menu,
        }  # fmt: skip
        for trait, control in controls.items():
            self.bind(trait, control)
        # Apart, so that a move of a slider sends only what it changes.
        self.message, self.ladder, self.facts, self.others = (widgets.HTML() for _ in range(4))
        own = widgets.HTML("<b>Your own choice:</b>", layout={"flex": "0 0 auto"})
        self.widget = widgets.VBox(
            [
                side_by_side([self.rows_slider, self.dtype_menu]),
                side_by_side([self.cols_slider, self.device_menu]),
                side_by_side([named("axis", self.axis_buttons), named("op", self.op_buttons)]),
                side_by_side([own, self.kernel_menu, self.pack_menu, self.block_menu]),
                steady(self.message, 1),
                steady(self.ladder, 18),
                self.facts,
                steady(self.others, 12),
            ]
        )
        self.observe(lambda change: self._draw(), list(controls))

    @validate("rows", "cols")
    def _at_least_one(self, proposal: Any) -> int:
        return min(max(int(proposal["value"]), 1), MOST)

    def _draw(self) -> None:
        shape = (self.rows, self.cols) if self.axis == "last" else (self.cols, self.rows)
        planned = plan(*shape, self.dtype, op=self.op, device=self.device)
        made, self.note = planned, ""
        if {self.kernel, self.pack, self.block} != {AUTO}:
            self.message.value = "Looking up the kernel ..."  # one that is in no table is compiled, in seconds
            try:
                made = self._forced(*shape)
            except PlanError as error:
                self.note = f"Not possible: {self._own_choice()}. {error} The picture shows the plan."
        self.plan = made
        steps = [*self._axis_steps(shape), *made.steps]
        call = (
            f"softlab.{self.op}(x, axis={-1 if self.axis == 'last' else 0})"
            f"    # x: {self.rows} x {self.cols} {self.dtype}"
        )
        plans = {"as planned": planned} | ({"your choice": made} if made is not planned else {})
        recorded = {label: consequences.measured(self._recording, one) for label, one in plans.items()}
        shown = recorded.get("your choice", recorded["as planned"])
        self.summary = {
            "kernel": made.kernel,
            "pack_size": made.pack_size,
            "block_size": made.block_size,
            "grid": made.grid,
            "waves": round(made.waves, 2),
            "steps": [step.question for step in steps],
            "planned": planned.kernel,
            "rows": made.rows,
            "cols": made.cols,
            "note": self.note,
            "recorded": round(shown.of_copy, 3) if shown else None,
        }
        self.message.value = tables.lines([self.note]) if self.note else ""
        words = {label: _recorded_words(found) for label, found in recorded.items() if found}
        self.ladder.value = ladder(call, steps, made)
        self.facts.value = consequences_table(plans, words)
        self.others.value = self._alternatives(planned)

    def _own_choice(self) -> str:
        asked = ((self.kernel, "{}"), (self.pack, "packs of {}"), (self.block, "blocks of {}"))
        return ", ".join(words.format(value) for value, words in asked if value != AUTO)

    def _forced(self, rows: int, cols: int) -> Plan:
        return forced(
            rows,
            cols,
            self.dtype,
            kernel=None if self.kernel == AUTO else self.kernel,
            pack_size=None if self.pack == AUTO else int(self.pack),
            block_size=None if self.block == AUTO else int(self.block),
            op=self.op,
            device=self.device,
        )

    def _axis_steps(self, shape: tuple[int, int]) -> list[Step]:
        """What happens to the array before a kernel is chosen."""
        last = self.axis == "last"
        swap = "as it is" if last else "swapped with the last axis, and back afterwards"
        return [
            Step("Is the axis the last one?", {"axis": -1 if last else 0}, last, swap, (True, False)),
            Step(
                "What does a kernel see?", {}, f"{shape[0]} rows of {shape[1]}", "rows: the product of all other axes"
            ),
        ]

    def _alternatives(self, planned: Plan) -> str:
        if consequences.measured(self._recording, planned) is None:
            return ""  # nothing to show, and the alternatives might have to be compiled first
        others = planned.alternatives()
        found = {
            (other.kernel, other.block_size): consequences.measured(self._recording, other.plan)
            for other in others
            if other.plan
        }
        measured = {key: one for key, one in found.items() if one}
        cols = next(iter(measured.values())).cols
        where = f"recorded on an H200 at {tables.shown(cols)} columns and 256 MiB"
        return alternatives_bars(others, {key: one.of_copy for key, one in measured.items()}, where)


def _recorded_words(found: consequences.Measured) -> str:
    return f"{found.gb_per_second:.0f} GB/s, {found.of_copy:.0%} of a device copy (at {found.cols} columns)"
