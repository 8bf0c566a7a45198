"""Explorer of shared-memory banks: the shared-memory kernel's own accesses, wavefront by wavefront."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ipywidgets as widgets
import numpy as np
from traitlets import Dict, Enum, Int, Unicode, observe, validate

from softlab.errors import Error
from softlab.explorers.diagrams import GridDiagram
from softlab.explorers.estimates import launch, softmax_times
from softlab.explorers.explorer import Explorer, buttons, menu, named, side_by_side, slider, steady
from softlab.operators import trace_plan
from softlab.plans import Plan, forced
from softlab.traces import Trace
from softlab.views import tables
from softlab.views.banks import bank_card, describe_access, total_cost

LAYOUTS = ("column", "row", "row_scalar")
PACKS = (1, 2, 4, 8)
#: The most elements that a thread moves at once: CUDA's widest access is 16 bytes.
WIDEST_PACK = {"float16": 8, "bfloat16": 8, "float32": 4, "float64": 2}
FEWEST_COLS, MOST_COLS = 32, 4096
#: Threads of the one block that works on the one row: few, so that each warp makes several accesses.
BLOCK_SIZE = 128
DEVICE = "H200"
_COUNTED = ("instruction", "wavefront", "bank_conflict")
#: The body of a loop that is written in one line: a menu is too narrow for its head.
_ONE_LINE_LOOP = re.compile(r"for \(.*\) \{ (.*) \}")


@dataclass(frozen=True)
class AccessLine:
    """A line of the kernel that loads from or stores to shared memory, and which accesses it made (indices)."""

    line: int
    store: bool
    code: str
    accesses: tuple[int, ...]

    @property
    def label(self) -> str:
        """For the menu."""
        loop = _ONE_LINE_LOOP.fullmatch(self.code)
        return f"{'store' if self.store else 'load'}, line {self.line}: {loop[1] if loop else self.code}"


def access_lines(trace: Trace) -> tuple[AccessLine, ...]:
    """The lines of the kernel with shared accesses by block 0, in the order they ran; the block reductions left out.

    Of a line's accesses those of most lanes come first: the compiler may run the end of a loop before the rest.
    """
    shared = trace.shared
    lines = trace.run.source.splitlines()
    found: dict[tuple[int, bool], list[int]] = {}
    for index in np.argsort(shared.step, kind="stable").tolist():
        line = int(shared.line[index])
        if line and "block_all_reduce" not in lines[line - 1]:
            found.setdefault((line, bool(shared.store[index])), []).append(index)
    lanes = shared.active.sum(axis=1)
    return tuple(
        AccessLine(line, store, lines[line - 1].strip(), tuple(sorted(of, key=lambda index: -lanes[index])))
        for (line, store), of in found.items()
    )


def smem_plan(cols: int, pack: int, layout: str, dtype: str) -> Plan:
    """One row for one block of the shared-memory kernel."""
    return forced(
        1, cols, dtype, kernel="block_smem", pack_size=pack, block_size=BLOCK_SIZE, layout=layout, device=DEVICE
    )


class BankExplorer(Explorer):
    """The shared-memory softmax kernel on one row: which lane touches which bank, and in which wavefront.

    >>> explorer = BankExplorer(cols=1024, pack=2, layout="row_scalar")
    >>> explorer.summary["bank_conflicts"]
    32
    >>> explorer.layout = "column"
    >>> explorer.summary["bank_conflicts"]
    0

    Each change runs the real kernel, compiled by NVRTC, in the emulator, and draws what it did.

    Traits:
        cols, pack, layout, dtype: the problem. A value that no kernel is built for becomes the nearest one that is
            (``note`` names it): cols is a multiple of pack, a pack is at most 16 bytes.
        access_line: which line of the kernel, counted from 0; access: which of the accesses that it made.
        lane: the highlighted lane, -1 for none.
        summary: of the line: ``code``, ``instructions``, ``wavefronts``, ``bank_conflicts``; of the access: ``ptx``,
            ``lanes``, ``bytes`` (per lane); of the whole kernel: ``counters``; ``estimated``: layout -> microseconds of
            a full matrix by the model, where the table has one.
        note: what was changed to make the problem possible; "" for nothing.

    ``trace`` is the run that is drawn.
    """

    lesson = "04"
    cols = Int(1024).tag(state=True)
    pack = Int(2).tag(state=True)
    layout = Enum(LAYOUTS, "column").tag(state=True)
    dtype = Enum(tuple(WIDEST_PACK), "float32").tag(state=True)
    access_line = Int(0)
    access = Int(0)
    lane = Int(-1)
    summary = Dict()
    note = Unicode()

    def __init__(
        self,
        cols: int = 1024,
        pack: int = 2,
        layout: str = "column",
        dtype: str = "float32",
        *,
        tracer: Callable[[Plan, np.ndarray], Trace] = trace_plan,
    ) -> None:
        self._problem: tuple[int, int, str, str] = (0, 0, "", "")
        self._traced = lru_cache(maxsize=32)(lambda *problem: tracer(smem_plan(*problem), np.zeros((1, problem[0]))))
        self._found: tuple[AccessLine, ...] = ()
        self._estimated: dict[str, float] = {}
        super().__init__(dtype=dtype)
        self.layout = layout
        self.pack = pack
        self.cols = cols
        self._build()
        self._run()

    def _build(self) -> None:
        self.cols_slider = slider(FEWEST_COLS, MOST_COLS, "cols")
        self.dtype_menu = menu(list(WIDEST_PACK), "dtype")
        self.pack_buttons = buttons(PACKS, "elements that a thread moves at once")
        self.layout_buttons = buttons(LAYOUTS, "how the elements of a pack are laid out in shared memory")
        self.line_menu = menu([], "where", "520px")
        self.access_slider = slider(0, 1, "which", "300px")
        self.message = widgets.HTML()
        self.diagram = GridDiagram()
        self.text, self.times = widgets.HTML(), widgets.HTML()
        for trait, control in (
            ("cols", self.cols_slider),
            ("dtype", self.dtype_menu),
            ("pack", self.pack_buttons),
            ("layout", self.layout_buttons),
            ("access", self.access_slider),
        ):
            self.bind(trait, control)
        self.line_menu.observe(self._line_chosen, "index")
        self.diagram.observe(lambda change: self.set_trait("lane", change.new), "lane")
        self.widget = widgets.VBox(
            [
                side_by_side([self.cols_slider, self.dtype_menu]),
                side_by_side([named("pack", self.pack_buttons), named("layout", self.layout_buttons)]),
                side_by_side([self.line_menu, self.access_slider]),
                self.message,
                self.diagram,
                self.text,
                steady(self.times, 11),
            ]
        )
        self.observe(self._run_again, ("cols", "pack", "layout", "dtype"))
        self.observe(self._draw_again, ("access_line", "access", "note"))
        self.observe(lambda change: self.diagram.set_trait("lane", change.new), "lane")

    @validate("pack")
    def _pack_that_exists(self, proposal: Any) -> int:
        asked = int(proposal["value"])
        widest = WIDEST_PACK[self.dtype]
        self.note = ""
        if asked > widest:
            self.note = f"A pack of {asked} {self.dtype} is more than the 16 bytes that a thread can move at once."
            return widest
        return max(pack for pack in PACKS if pack <= max(asked, 1))

    @validate("cols")
    def _cols_in_whole_packs(self, proposal: Any) -> int:
        asked = int(proposal["value"])
        cols = min(max(asked, FEWEST_COLS), MOST_COLS)
        cols -= cols % self.pack
        self.note = "" if cols == asked else f"A row of {asked} columns is not made of whole packs of {self.pack}."
        if not FEWEST_COLS <= asked <= MOST_COLS:
            self.note = f"This explorer shows rows of {FEWEST_COLS} to {MOST_COLS} columns."
        return cols

    @observe("dtype")
    def _pack_of_dtype(self, change: Any) -> None:
        self.note = ""
        if self.pack > WIDEST_PACK[self.dtype]:
            self.pack = self.pack

    @observe("pack")
    def _cols_of_pack(self, change: Any) -> None:
        if self.cols % self.pack:
            self.cols = self.cols

    def _run_again(self, change: Any) -> None:
        if (self.cols, self.pack, self.layout, self.dtype) != self._problem:
            self._run()

    def _run(self) -> None:
        """Run the kernel and show the access that was shown before, if there still is one."""
        self._problem = (self.cols, self.pack, self.layout, self.dtype)
        self.cols_slider.step = self.pack
        self.message.value = "Compiling and running the kernel ..."
        try:
            self.trace = self._traced(*self._problem)
        except Error as error:  # raised in a callback it would be seen in JupyterLab's log alone
            self.message.value = tables.code(str(error))
            raise
        self._found = access_lines(self.trace)
        labels = [line.label for line in self._found]
        if list(self.line_menu.options) != labels:
            self.line_menu.options = labels
        self.access_line = min(self.access_line, len(labels) - 1)
        self.times.value, self._estimated = softmax_times(self._layouts(), self.layout, self.cols)
        self._draw()

    def _layouts(self) -> dict[str, Plan | None]:
        """The launches whose times are compared."""
        same = {"kernel": "block_smem", "block_size": BLOCK_SIZE, "cols": self.cols, "dtype": self.dtype}
        return {layout: launch(**same, pack_size=self.pack, layout=layout) for layout in LAYOUTS}

    def _draw_again(self, change: Any) -> None:
        self._draw()

    def _line_chosen(self, change: Any) -> None:
        if change.new is not None and change.new != self.access_line:
            self.access_line = change.new

    def _draw(self) -> None:
        line = self._found[self.access_line]
        self.line_menu.index = self.access_line
        self.access_slider.max = len(line.accesses) - 1
        if self.access > self.access_slider.max:
            self.access = self.access_slider.max
            return
        index = line.accesses[self.access]
        shared = self.trace.shared
        shown = describe_access(shared, index)
        self.summary = {
            "code": line.code,
            **total_cost(shared.select(np.array(line.accesses))),
            "ptx": _ptx(self.trace, int(shared.instruction[index])),
            "lanes": shown["lanes"],
            "bytes": shown["bytes"],
            "counters": dict(self.trace.counters),
            "estimated": self._estimated,
        }
        self.message.value = tables.lines([*([self.note] if self.note else []), *self._sentences(line, shown)])
        self.diagram.data = bank_card(shared, index)
        self.text.value = tables.code(
            f"{self.trace.run.file}, line {line.line}:  {line.code}\nPTX:  {self.summary['ptx']}",
            caption="The kernel's line, and what the compiler made of it. From a run in the emulator",
        )

    def _sentences(self, line: AccessLine, shown: dict[str, Any]) -> list[str]:
        verb, more = shown["what"], shown["conflicts"]
        wavefronts = _count(shown["wavefronts"], "wavefront")
        verdict = f"{more} more than the least possible: a bank conflict." if more else "the least possible."
        all_of_it = [_count(self.summary[f"{what}s"], what.replace("_", " ")) for what in _COUNTED]
        return [
            f"One row of {self.cols} {self.dtype}, {_count(self.cols // self.pack, 'pack')} of {self.pack},"
            f" on one block of {BLOCK_SIZE} threads.",
            f"This {verb} ({self.access + 1} of {len(line.accesses)} of the line): {shown['lanes']} lanes of"
            f" {shown['bytes']} bytes take {wavefronts}, {verdict}",
            f"The whole line: {', '.join(all_of_it)}.",
        ]


def _ptx(trace: Trace, instruction: int) -> str:
    counted = trace.run.instructions
    return " ".join(counted.text[instruction].split()) if counted else ""


def _count(number: int, noun: str) -> str:
    return f"{tables.shown(number)} {noun}{'' if number == 1 else 's'}"
