"""Explorer of fusing: what is computed around a softmax, as one kernel and as several."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import ipywidgets as widgets
from traitlets import Bool, Dict, Enum

from softlab.bench.fusing import PARTS, FusionCase, counters
from softlab.explorers.estimates import fusing_times
from softlab.explorers.explorer import Explorer, menu, named, side_by_side
from softlab.views import tables
from softlab.views.fusing import moved, traffic_bars

#: Row lengths: two groups of lanes, and shared memory.
COLS = (32, 64, 256, 1024)
DTYPES = ("float32", "float16")
#: Rows of one matrix: square where that is soon emulated.
MOST_ROWS = 64


class FusingExplorer(Explorer):
    """Softmax of one attention matrix with what is ticked, fused and apart: what each kernel moves.

    >>> explorer = FusingExplorer(scale=True, mask=True)
    >>> explorer.summary["ratio"]
    2.78

    Traits: ``cols``, ``dtype``: the matrix, of as many rows as columns, but 64 at most; ``scale``, ``bias``, ``mask``,
    ``causal``, ``dropout``: what is fused. ``summary``: kernels (how many there are apart), fused and separate (sectors
    read and written), ratio, instructions (the fused kernel's, over those of softmax alone), estimated (microseconds of
    both at a full size, where the table has them), load and store (the C++ types of the function objects).
    """

    lesson = "12"
    cols = Enum(COLS, 64).tag(state=True)
    dtype = Enum(DTYPES, "float32").tag(state=True)
    scale = Bool(False).tag(state=True)
    bias = Bool(False).tag(state=True)
    mask = Bool(False).tag(state=True)
    causal = Bool(False).tag(state=True)
    dropout = Bool(False).tag(state=True)
    summary = Dict()

    def __init__(self, cols: int = 64, dtype: str = "float32", **parts: bool) -> None:
        self._counted = lru_cache(maxsize=64)(counters)
        super().__init__(cols=cols, dtype=dtype, **parts)
        self.cols_menu, self.dtype_menu = menu(COLS, "cols"), menu(DTYPES, "dtype")
        self.bind("cols", self.cols_menu)
        self.bind("dtype", self.dtype_menu)
        self.ticks = {
            part: widgets.Checkbox(description=part, indent=False, layout={"width": "84px"}) for part in PARTS
        }
        for part, tick in self.ticks.items():
            self.bind(part, tick)
        self.message, self.bars, self.times, self.types = (widgets.HTML() for _ in range(4))
        self.widget = widgets.VBox(
            [
                side_by_side([self.cols_menu, self.dtype_menu]),
                named("fused", side_by_side(list(self.ticks.values()))),
                self.message,
                self.bars,
                self.times,
                self.types,
            ]
        )
        self.observe(lambda change: self._draw(), ("cols", "dtype", *PARTS))
        self._draw()

    @classmethod
    def example(cls) -> FusingExplorer:
        """A scale and a mask."""
        return cls(scale=True, mask=True)

    @property
    def problem(self) -> FusionCase:
        """What is run."""
        parts = tuple(part for part in PARTS if getattr(self, part))
        return FusionCase(1, min(self.cols, MOST_ROWS), self.cols, self.dtype, parts)

    def _draw(self) -> None:
        problem = self.problem
        one, apart = self._counted(problem)
        fused, separate = sum(moved(one)), sum(sum(moved(counted)) for counted in apart.values())
        load, store = functors(problem)
        self.times.value, guesses = fusing_times(problem)
        self.summary = {
            "kernels": len(apart),
            "fused": fused,
            "separate": separate,
            "ratio": round(separate / fused, 2),
            "instructions": round(one["instructions"] / apart["softmax"]["instructions"], 2),
            "estimated": guesses,
            "load": load,
            "store": store,
        }
        self.message.value = tables.lines([_sentence(self.summary)])
        title = f"Global memory, {problem.rows} x {problem.cols} {problem.dtype}, counted in the emulator"
        self.bars.value = traffic_bars(one, apart, title=title)
        self.types.value = tables.code(
            f"load   {load}\nstore  {store}", caption="The function objects of the one kernel"
        )


def functors(problem: FusionCase) -> tuple[str, str]:
    """The C++ types of the fused kernel's load and store."""
    element = problem.element
    fusion = problem.fusion
    return fusion.load(element, problem.cols, None).cuda, fusion.store(element, problem.cols, None).cuda


def _sentence(summary: Any) -> str:
    if summary["kernels"] == 1:
        return "Nothing is fused: this is softmax alone. Tick something."
    return (
        f"{summary['kernels']} kernels move {summary['ratio']:g} times as much as one, which issues "
        f"{summary['instructions']:g} times the instructions of softmax alone."
    )
