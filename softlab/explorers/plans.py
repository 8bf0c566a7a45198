"""Explorer of plans: from the shape of a matrix to the launch of a kernel, question by question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import numpy as np
from traitlets import Dict, Enum, Int, validate

from softlab.bench.ladder import first_rows
from softlab.errors import Error
from softlab.explorers.explorer import Explorer, buttons, menu, named, side_by_side, slider, steady
from softlab.hardware import devices
from softlab.operators import trace_plan
from softlab.plans import POLICIES, Plan, plan
from softlab.traces import Trace
from softlab.views.counters import counters_table
from softlab.views.dispatch import ladder
from softlab.views.plans import plan_summary
from softlab.views.tables import code

DTYPES = ("float16", "bfloat16", "float32", "float64")
#: Where the sliders end; more can be typed or set.
SLIDER_ROWS, SLIDER_COLS = 8192, 16384
MOST = 1 << 31
#: The emulator runs about this many elements at once without a wait that a person notices.
EMULATED_ELEMENTS = 1 << 16


class PlanExplorer(Explorer):
    """How a softmax of rows x cols runs on a GPU: kernel, pack, block, grid, and every question that leads to it.

    >>> explorer = PlanExplorer(rows=32, cols=1024)
    >>> explorer.summary["kernel"]
    'block_smem'
    >>> explorer.execute()["barriers"] > 0
    True

    ``most_cols``: where the slider of ``cols`` ends.

    Traits: ``rows``, ``cols``, ``dtype``, ``op``, ``policy``, ``device``: the problem; ``summary``: kernel, pack_size,
    block, grid, smem_bytes, registers, and ``cluster``, ``cooperative``, ``workspace_bytes`` where the plan has them;
    ``counters`` of the last :meth:`execute`, {} once the problem changes.
    """

    lesson = "00"
    rows = Int(4096).tag(state=True)
    cols = Int(1024).tag(state=True)
    dtype = Enum(DTYPES, "float32").tag(state=True)
    op = Enum(("softmax", "log_softmax"), "softmax").tag(state=True)
    policy = Enum(POLICIES, "oneflow").tag(state=True)
    device = Enum(devices.names(), "H200").tag(state=True)
    summary = Dict()
    counters = Dict()

    def __init__(
        self,
        rows: int = 4096,
        cols: int = 1024,
        dtype: str = "float32",
        *,
        op: str = "softmax",
        policy: str = "oneflow",
        device: str = "H200",
        most_cols: int = SLIDER_COLS,
        tracer: Callable[[Plan, np.ndarray], Trace] = trace_plan,
    ) -> None:
        self._tracer, self._most_cols = tracer, most_cols
        super().__init__(rows=rows, cols=cols, dtype=dtype, op=op, policy=policy, device=device)
        self._build()
        self._decide()

    def _build(self) -> None:
        self.rows_slider = slider(1, SLIDER_ROWS, "rows")
        self.cols_slider = slider(1, self._most_cols, "cols")
        self.dtype_menu = menu(DTYPES, "dtype")
        self.op_buttons = buttons(("softmax", "log_softmax"), "which operator")
        self.policy_buttons = buttons(POLICIES, "whose dispatch: the reference design's, or the fastest")
        self.device_menu = menu(devices.names(), "GPU")
        self.run_button = widgets.Button(description="Run it in the emulator", button_style="primary", icon="play")
        self.run_button.layout.width = "220px"
        self.launch, self.steps, self.counted = widgets.HTML(), widgets.HTML(), widgets.HTML()
        for trait, control in (
            ("rows", self.rows_slider),
            ("cols", self.cols_slider),
            ("dtype", self.dtype_menu),
            ("op", self.op_buttons),
            ("policy", self.policy_buttons),
            ("device", self.device_menu),
        ):
            self.bind(trait, control)
        self.run_button.on_click(lambda button: self.execute())
        self.observe(lambda change: self._decide(), ("rows", "cols", "dtype", "op", "policy", "device"))
        self.widget = widgets.VBox(
            [
                side_by_side([self.rows_slider, self.dtype_menu]),
                side_by_side([self.cols_slider, self.device_menu]),
                side_by_side([named("op", self.op_buttons), named("policy", self.policy_buttons), self.run_button]),
                self.launch,
                steady(self.steps, 16),
                self.counted,
            ]
        )

    @validate("rows", "cols")
    def _at_least_one(self, proposal: Any) -> int:
        return min(max(int(proposal["value"]), 1), MOST)

    def _decide(self) -> None:
        self.plan = plan(self.rows, self.cols, self.dtype, op=self.op, policy=self.policy, device=self.device)
        self.summary = {
            name: getattr(self.plan, name)
            for name in ("kernel", "pack_size", "block", "grid", "smem_bytes", "static_smem_bytes", "registers")
        }
        for name in ("cluster", "cooperative", "workspace_bytes"):
            if value := getattr(self.plan, name):
                self.summary[name] = value
        self.launch.value = plan_summary(self.plan)
        call = f"softlab.{self.op}(x, policy={self.policy!r})    # x: {self.rows} x {self.cols} {self.dtype}"
        self.steps.value = ladder(call, self.plan.steps, self.plan)
        self.counters = {}
        self.counted.value = ""

    def execute(self) -> dict[str, int]:
        """Run the planned kernel in the emulator, on as many rows as take no noticeable time, and show its counters."""
        rows = max(1, min(self.rows, EMULATED_ELEMENTS // self.cols))
        if rows < self.rows and rows > 1:
            rows -= (rows - self.rows) % 2  # an odd number of rows has another kernel than an even one
        # The launch for all rows, cut short: a plan for few rows may be another one.
        shorter = first_rows(self.plan, rows)
        self.counted.value = "Compiling and running the kernel ..."
        try:
            trace = self._tracer(shorter, np.zeros((rows, self.cols)))
        except Error as error:  # raised in a callback it would be seen in JupyterLab's log alone
            self.counted.value = code(str(error))
            raise
        self.counters = dict(trace.counters)
        of = "" if rows == self.rows else f", the first {rows} of {self.rows} rows"
        self.counted.value = counters_table({"count": self.counters}, caption=f"Counted in the emulator{of}")
        return self.counters
