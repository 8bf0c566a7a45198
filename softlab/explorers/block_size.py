"""Explorer of the block size: what the dispatcher asks before it takes one, and where its answer changes."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import ipywidgets as widgets
import numpy as np
from traitlets import Dict, Enum, Int, validate

from softlab.bench import consequences, recordings
from softlab.explorers.estimates import softmax_times
from softlab.explorers.explorer import Explorer, buttons, menu, named, side_by_side, slider, steady
from softlab.hardware import devices, occupancies
from softlab.plans import Plan, plan
from softlab.plans.planner import OPERATORS
from softlab.views import tables
from softlab.views.block_size import Stretch, queries, query_table, size_bars, stretches_chart

DTYPES = ("float16", "bfloat16", "float32")
FEWEST_COLS, MOST_COLS = 256, 16_384
#: Enough rows that the size of the grid does not matter.
ROWS = 65_536
#: The operators to choose from.
FORWARD = ("softmax", "log_softmax")


def stretches(
    dtype: str, op: str, device: str, *, parity: int = 0, first: int = FEWEST_COLS, last: int = MOST_COLS
) -> tuple[Stretch, ...]:
    """Row lengths (those that leave ``parity`` by 2) from ``first`` to ``last``, cut where the answer turns.

    The answer can only turn where a query's does, or where the warp kernel ends: these lengths are found by arithmetic
    over all row lengths at once, and the dispatcher is asked at each of them. (Some answers hold for 8 columns only, so
    a sample of the row lengths would miss them.)
    """
    cols = np.arange(first + (first + parity) % 2, last + 1, 2)
    itemsize = 4
    asked = [cols > OPERATORS[op].warp_cols]
    for other in plan(ROWS, int(cols[0]), dtype, op=op, device=device).alternatives():
        if other.kernel == "block_smem" and other.plan:
            taken = other.plan.static_smem_bytes + cols * itemsize
            record = other.plan.device
            asked.append(occupancies.blocks(record, other.block_size, other.plan.registers, taken, opt_in=False))
    turns = np.flatnonzero(np.any([np.diff(answers) != 0 for answers in asked], axis=0)) + 1
    found: list[Stretch] = []
    for start in cols[[0, *turns]].tolist():
        made = plan(ROWS, start, dtype, op=op, device=device)
        answer = made.block_size if made.kernel == "block_smem" else made.kernel
        if found and found[-1].answer == answer:
            continue
        found = [*found[:-1], replace(found[-1], last=start - 1)] if found else []
        found.append(Stretch(start, last, answer))
    return tuple(found)


class BlockSizeExplorer(Explorer):
    """Which block size the shared-memory kernel gets, and why: each query, its answer, and the other block sizes.

    >>> explorer = BlockSizeExplorer(cols=8192)
    >>> explorer.summary["block_size"], explorer.summary["asked"]
    (256, [128, 1024, 512, 256])

    Traits: ``cols``, ``dtype``, ``op``, ``device``: the problem. ``summary``: kernel, block_size, asked (the block
    sizes in the order of the queries), blocks_per_sm (block size -> blocks per SM; None: it does not fit), recorded
    (block size -> share of a device copy, where measured), estimated (block size -> microseconds by the model, where
    the table has one), changes (row lengths at which the answer turns).
    """

    lesson = "08"
    cols = Int(4096).tag(state=True)
    dtype = Enum(DTYPES, "float32").tag(state=True)
    op = Enum(FORWARD, "softmax").tag(state=True)
    device = Enum(devices.names(), "H200").tag(state=True)
    summary = Dict()

    def __init__(self, cols: int = 4096, dtype: str = "float32", *, op: str = "softmax", device: str = "H200") -> None:
        self._recording = recordings.load()
        self._stretches = lru_cache(maxsize=64)(stretches)
        super().__init__(cols=cols, dtype=dtype, op=op, device=device)
        self._build()
        self._draw()

    def _build(self) -> None:
        self.cols_slider = slider(FEWEST_COLS, MOST_COLS, "cols")
        self.dtype_menu = menu(DTYPES, "dtype")
        self.device_menu = menu(devices.names(), "GPU")
        self.op_buttons = buttons(FORWARD, "which operator")
        for trait, control in (
            ("cols", self.cols_slider),
            ("dtype", self.dtype_menu),
            ("device", self.device_menu),
            ("op", self.op_buttons),
        ):
            self.bind(trait, control)
        # Apart, so that a move of a slider sends only what it changes.
        self.message, self.queries, self.sizes, self.times, self.steps = (widgets.HTML() for _ in range(5))
        self.widget = widgets.VBox(
            [
                side_by_side([self.cols_slider, self.dtype_menu]),
                side_by_side([named("op", self.op_buttons), self.device_menu]),
                self.message,
                steady(self.queries, 9),
                steady(self.sizes, 8),
                steady(self.times, 11),
                self.steps,
            ]
        )
        self.observe(lambda change: self._draw(), ("cols", "dtype", "op", "device"))

    @validate("cols")
    def _cols_in_range(self, proposal: Any) -> int:
        return min(max(int(proposal["value"]), FEWEST_COLS), MOST_COLS)

    def _draw(self) -> None:
        self.plan = made = plan(ROWS, self.cols, self.dtype, op=self.op, device=self.device)
        others = [other for other in made.alternatives() if other.kernel == "block_smem"]
        found = {other.block_size: consequences.measured(self._recording, other.plan) for other in others if other.plan}
        recorded = {size: measured for size, measured in found.items() if measured}
        sizes = {f"blocks of {other.block_size}": other.plan for other in others}
        chosen = f"blocks of {made.block_size}" if made.kernel == "block_smem" else ""
        self.times.value, guesses = softmax_times(sizes, chosen, self.cols)
        turns = self._stretches(self.dtype, self.op, self.device, parity=self.cols % 2)
        self.summary = {
            "kernel": made.kernel,
            "block_size": made.block_size,
            "asked": [step.values["block_size"] for step in queries(made)],
            "blocks_per_sm": {o.block_size: o.plan.occupancy.blocks_per_sm if o.plan else None for o in others},
            "recorded": {size: round(measured.of_copy, 3) for size, measured in recorded.items()},
            "estimated": {int(label.split()[-1]): time for label, time in guesses.items()},
            "changes": [stretch.first for stretch in turns[1:]],
        }
        where = ""
        if recorded:
            cols = next(iter(recorded.values())).cols
            where = f"recorded at {tables.shown(cols)} columns, % of a device copy"
        self.message.value = tables.lines([_sentence(made)])
        self.queries.value = query_table(made)
        self.sizes.value = size_bars(others, {size: measured.of_copy for size, measured in recorded.items()}, where)
        parity = "odd" if self.cols % 2 else "even"
        title = f"The answer over the row length ({parity}, {self.dtype}, {self.device})"
        self.steps.value = stretches_chart(turns, self.cols, title=title)


def _sentence(made: Plan) -> str:
    if made.kernel != "block_smem":
        return f"{made.op}: rows of {made.cols} {made.dtype} go to {made.kernel}, in blocks of {made.block_size}."
    held = made.occupancy
    return (
        f"{made.op}, rows of {made.cols} {made.dtype}: an SM can hold {held.blocks_per_sm} at a time, one per block."
        f" The largest block that leaves it so has {made.block_size} threads."
    )
