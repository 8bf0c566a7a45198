"""Explorer of shuffles: how the lanes that own a row find its maximum and its sum, step by step."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import ipywidgets as widgets
import numpy as np
from traitlets import Dict, Enum, Int, validate

from softlab.errors import Error
from softlab.explorers.diagrams import ButterflyDiagram
from softlab.explorers.explorer import Explorer, buttons, named, side_by_side, slider
from softlab.instruments.shuffles import ShuffleStep, held_values, reductions, shuffle_steps
from softlab.operators import trace_plan
from softlab.plans import Plan, forced
from softlab.plans.instantiations import GROUP_WIDTHS, WARP_BLOCK, WARP_SIZE
from softlab.traces import Trace
from softlab.views import tables
from softlab.views.reduction import reduction_diagram

OPS = ("max", "sum")
#: What the kernel makes of two values, by the name of its functor in ``kernels/arithmetic.cuh``.
COMBINE: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "max": ("Max", np.maximum),
    "sum": ("Sum", np.add),
}
DEVICE = "H200"
PLAY_MS = 1300


def group_plan(width: int, rows_per_access: int) -> Plan:
    """A warp kernel whose groups have ``width`` lanes, a column for each, and work on ``rows_per_access`` rows at once.

    The dispatcher takes two rows where their number is even, and one where it is odd.
    """
    groups = WARP_BLOCK // width
    rows = 2 * groups if rows_per_access == 2 else groups + 1 - groups % 2
    return forced(rows, width, kernel="warp", pack_size=1, device=DEVICE)


def numbers(op: str, rows: int, cols: int) -> np.ndarray:
    """An input whose partial results are short: whole numbers for max; for sum, exponentials of 1, 1/2 and 1/4."""
    random = np.random.default_rng(3)
    if op == "max":
        return random.integers(0, 100, (rows, cols)).astype(np.float32)
    return (-np.log(2.0) * random.integers(0, 3, (rows, cols))).astype(np.float32)


class ShuffleExplorer(Explorer):
    """The butterfly of the warp kernel: which lane gives its value to which, for groups of 1 to 32 lanes.

    >>> explorer = ShuffleExplorer(width=32)
    >>> explorer.step = 5
    >>> explorer.summary["masks"], explorer.summary["holders"]
    ([16, 8, 4, 2, 1], 32)

    Each choice runs the real kernel in the emulator; the picture is drawn from the shuffles of the first warp.

    Traits:
        width: lanes that own a row; rows_per_access: rows that they work on at once; op: "max" or "sum"; row: which of
            the rows at once (0 or 1) is drawn.
        step: shuffles that have been made; cell: [level, lane] that is highlighted, [-1, -1] for none.
        summary: ``masks`` (of the drawn reduction), ``mask`` (of the step, None before the first), ``shuffles`` (that
            the warp executes in all), ``rows`` (that the warp works on at once), ``values`` (of the lanes after the
            step), ``holders`` (lanes that have the result of their row then), ``barriers`` (of the kernel).

    ``trace`` is the run that is drawn.
    """

    lesson = "03"
    width = Enum(GROUP_WIDTHS, 32).tag(state=True)
    rows_per_access = Enum((1, 2), 1).tag(state=True)
    op = Enum(OPS, "max").tag(state=True)
    row = Enum((0, 1), 0)
    step = Int(0).tag(state=True)
    summary = Dict()

    def __init__(
        self,
        width: int = 32,
        *,
        rows_per_access: int = 1,
        op: str = "max",
        tracer: Callable[[Plan, np.ndarray], Trace] = trace_plan,
    ) -> None:
        def traced(op: str, width: int, rows_per_access: int) -> Trace:
            made = group_plan(width, rows_per_access)
            return tracer(made, numbers(op, made.rows, made.cols))

        self._traced = lru_cache(maxsize=32)(traced)
        self._reduction: tuple[ShuffleStep, ...] = ()
        super().__init__(width=width, rows_per_access=rows_per_access, op=op)
        self._build()
        self._run()

    def _build(self) -> None:
        self.width_buttons = buttons(GROUP_WIDTHS, "lanes that own a row")
        self.rows_buttons = buttons((1, 2), "rows that a group works on at once")
        self.op_buttons = buttons(OPS, "what the lanes find together")
        self.row_buttons = buttons([("first", 0), ("second", 1)], "which of the rows at once is drawn")
        self.step_slider = slider(0, 5, "step", "340px")
        self.play = widgets.Play(min=0, max=5, interval=PLAY_MS, layout={"margin": "0 0 0 24px"})
        self.message, self.text, self.diagram = widgets.HTML(), widgets.HTML(), ButterflyDiagram()
        for trait, control in (
            ("width", self.width_buttons),
            ("rows_per_access", self.rows_buttons),
            ("op", self.op_buttons),
            ("row", self.row_buttons),
            ("step", self.step_slider),
            ("step", self.play),
        ):
            self.bind(trait, control)
        self.which = named("row", self.row_buttons)
        self.widget = widgets.VBox(
            [
                side_by_side([named("lanes", self.width_buttons), named("rows", self.rows_buttons)]),
                side_by_side([named("op", self.op_buttons), self.which]),
                side_by_side([self.step_slider, self.play]),
                self.message,
                self.diagram,
                self.text,
            ]
        )
        self.observe(lambda change: self._run(), ("width", "rows_per_access", "op"))
        self.observe(lambda change: self._draw(), "row")
        self.observe(lambda change: self._follow(), "step")

    @validate("step")
    def _step_that_exists(self, proposal: Any) -> int:
        return min(max(int(proposal["value"]), 0), len(self._reduction))

    def _run(self) -> None:
        self.message.value = self.message.value or "Compiling and running the kernel ..."
        try:
            self.trace = self._traced(self.op, self.width, self.rows_per_access)
        except Error as error:  # raised in a callback it would be seen in JupyterLab's log alone
            self.message.value = tables.code(str(error))
            raise
        functor, combine = COMBINE[self.op]
        lines = self.trace.run.source.splitlines()
        steps = [s for s in shuffle_steps(self.trace.run) if f"<{functor}" in lines[s.line - 1]]
        self._reductions = reductions(steps, combine)
        self.which.layout.visibility = "visible" if self.rows_per_access == 2 else "hidden"
        self.row = min(self.row, self.rows_per_access - 1)
        self._draw()

    def _draw(self) -> None:
        """Another reduction: draw the whole picture again."""
        combine = COMBINE[self.op][1]
        self._reduction = self._reductions[self.row] if self._reductions else ()
        self._held = held_values(self._reduction, combine) if self._reduction else np.zeros((0, WARP_SIZE))
        most = len(self._reduction)
        self.step_slider.max = self.play.max = max(most, 1)
        self.step_slider.disabled = self.play.disabled = not most
        word = {"max": "maximum", "sum": "sum"}[self.op]
        taken = "row" if self.width == 1 else f"{word} of a row of {self.width}"
        with self.diagram.hold_sync():
            self.step = min(self.step, most)
            self.diagram.step, self.diagram.cell = self.step, [-1, -1]
            self.diagram.data = reduction_diagram(
                self._reduction,
                self._held,
                title=f"Warp 0 of block 0, groups of {self.width} lane{'s' * (self.width > 1)}: the {taken}",
                verb=word,
                first="the row" if self.op == "max" else "e^(x - maximum)",
                bands=self._bands(),
                notes=[self._note(number) for number in range(most)],
            )
        self._follow()

    def _bands(self) -> list[tuple[int, int, str]]:
        rows = [group * self.rows_per_access + self.row for group in range(WARP_SIZE // self.width)]
        word = "row " if self.width > 1 else ""
        return [(number * self.width, self.width, f"{word}{row}") for number, row in enumerate(rows)]

    def _note(self, number: int) -> str:
        step = self._reduction[number]
        return (
            f"Step {number + 1}, {step.title}: each lane gets the value of the lane whose number differs in the bit of"
            f" value {step.distance} alone, and keeps {'the larger' if self.op == 'max' else 'the sum'} of the two."
        )

    def _follow(self) -> None:
        """Another step: the picture stays, more or less of it is shown."""
        self.diagram.step = self.step
        found, counters = self._reduction, self.trace.counters
        now = found[self.step - 1] if self.step else None
        values = self._held[self.step] if len(self._held) else np.zeros(0)
        ends = self._held[-1] if len(self._held) else values
        self.summary = {
            "masks": [step.distance for step in found],
            "mask": now.distance if now else None,
            "shuffles": len(shuffle_steps(self.trace.run)),
            "rows": WARP_SIZE // self.width * self.rows_per_access,
            "values": [value.item() for value in values],
            "holders": int((values == ends).sum()) if self.step == len(found) else 0,
            "barriers": counters["barriers"],
        }
        self.message.value = tables.lines(self._sentences())
        self.text.value = self._provenance(now or (found[0] if found else None))

    def _provenance(self, step: ShuffleStep | None) -> str:
        """Which run, and of the step: the kernel's line, and what the compiler made of it."""
        run = self.trace.run
        caption = f"From a run in the emulator, compiled for {run.arch}"
        if step is None:
            return tables.code(self.trace.plan.name, caption=caption)
        line = run.source.splitlines()[step.line - 1].strip()
        text = " ".join(run.instructions.text[step.instruction].split()) if run.instructions else ""
        return tables.code(f"{run.file}, line {step.line}:  {line}\nPTX:  {text}", caption=caption)

    def _sentences(self) -> list[str]:
        found, groups = self.summary, WARP_SIZE // self.width
        each = f"{_count(groups, 'group')} of {_count(self.width, 'lane')}"
        if self.rows_per_access > 1:
            each += f", each with {self.rows_per_access} rows at once"
        sentences = [
            f"A warp of the warp kernel is {each}. It works on {_count(found['rows'], 'row')} of"
            f" {_count(self.width, 'number')}."
        ]
        if not self._reduction:
            return [*sentences, "A lane that owns a row alone has nothing to exchange: no shuffle is executed."]
        times = f"{len(found['masks'])} for a maximum, as many for a sum"
        times += f", for each of {self.rows_per_access} rows" * (self.rows_per_access > 1)
        also = f" Each serves all {groups} groups." if groups > 1 else ""
        return [
            *sentences,
            f"It executes {found['shuffles']} shuffles: {times}.{also} Barriers: {found['barriers']}.",
        ]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
