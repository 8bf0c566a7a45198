"""Explorer of one row: 32 numbers go from DRAM through a warp and back, as the softmax kernel moves them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as widgets
import numpy as np
from traitlets import Dict, Float, validate

from softlab.explorers.explorer import Explorer
from softlab.explorers.shuffles import COMBINE, group_plan
from softlab.instruments.shuffles import ShuffleStep, reductions, shuffle_steps
from softlab.operators import trace_plan
from softlab.plans import Plan
from softlab.traces import Trace
from softlab.views import row_flow as view
from softlab.views.diagrams import STATIC as SHARED
from softlab.views.stills import Part

_STATIC = Path(__file__).parent / "static"
#: Numbers of the row, one per lane of a warp, and bytes of a sector.
COLS, _SECTOR = 32, 32


class RowPicture(anywidget.AnyWidget):
    """``data`` as ``views.row_flow.row_flow`` makes it; ``position``: of the slider, a frame or between two."""

    _esm = "\n".join(path.read_text(encoding="utf-8") for path in (SHARED / "svg.js", _STATIC / "row.js"))
    _css = "".join(path.read_text(encoding="utf-8") for path in (SHARED / "grid.css", _STATIC / "row.css"))

    data: Dict[str, Any] = Dict({"frames": []}).tag(sync=True)
    position = Float(0.0).tag(sync=True)
    #: The position that a still picture has.
    shown = 0.0

    def still_parts(self) -> tuple[Part, ...]:
        """The picture as it stands, for :mod:`softlab.explorers.stills`."""
        return view.still_parts(self.data, self.shown)


class RowExplorer(Explorer):
    """One row on its way: from DRAM by sectors into 32 lanes, through ten shuffles, and back as its softmax.

    >>> explorer = RowExplorer()
    >>> explorer.position = 7
    >>> explorer.summary["stage"], explorer.summary["gathered"][0]
    ('max', '1.6')

    The warp kernel of softmax runs in the emulator. All that the picture shows comes from this run: the addresses of
    the load and the store, who gave which value to whom in each shuffle, and the results.

    Traits:
        position: 0 (the row in DRAM) to 15 (its softmax in DRAM). Between two whole numbers the values are on the way.
        summary: ``stage``, ``sentence``, ``own`` and ``gathered`` (what the lanes hold, as shown; None before the
            load), of the last whole position that was reached.

    ``trace`` is the run that is drawn.
    """

    lesson = "0"
    position = Float(0.0).tag(state=True)
    summary = Dict()

    def __init__(self, position: float = 0.0, *, tracer: Callable[[Plan, np.ndarray], Trace] = trace_plan) -> None:
        plan = group_plan(COLS, 1)
        x = np.random.default_rng(7).normal(0, 1.2, (plan.rows, plan.cols)).round(1).astype(np.float32)
        self.trace = tracer(plan, x)
        self._data = _flow(self.trace, x)
        super().__init__(position=position)
        self.picture = RowPicture(data=self._data, position=self.position)
        self.slider = widgets.FloatSlider(min=0, max=self.last, step=0.1, readout=False, layout={"width": "98%"})
        self.bind("position", self.slider)
        # From the slider to the picture within the page: scrubbing waits for no kernel.
        self._link = widgets.jslink((self.slider, "value"), (self.picture, "position"))
        self.widget = widgets.VBox([self.slider, self.picture])
        self.observe(self._follow, "position")
        self._follow(None)

    @property
    def last(self) -> int:
        """The last position."""
        return len(self._data["frames"]) - 1

    @validate("position")
    def _position_on_the_way(self, proposal: Any) -> float:
        return min(max(float(proposal["value"]), 0.0), float(self.last))

    def _follow(self, change: Any) -> None:
        # The page moves its picture itself. If Python told it where, an old place would come back while it moves on.
        self.picture.shown = self.position
        frame = self._data["frames"][int(round(self.position, 3))]  # steps of 0.1 do not add up exactly
        self.summary = {name: frame[name] for name in ("stage", "sentence", "own", "gathered")}


def _flow(trace: Trace, x: np.ndarray) -> dict[str, Any]:
    """The first row of a run, from what was recorded of its warp."""
    run, lines = trace.run, trace.run.source.splitlines()
    steps = shuffle_steps(run)

    def of(op: str) -> tuple[ShuffleStep, ...]:
        functor, combine = COMBINE[op]
        return reductions([s for s in steps if f"<{functor}" in lines[s.line - 1]], combine)[0]

    accesses = run.global_
    sectors = []
    for store in (False, True):
        first = np.flatnonzero((accesses.warp == 0) & (accesses.block == 0) & (accesses.store == store))[0]
        address = accesses.address[first].astype(np.int64)
        sectors.append((address - address.min()) // _SECTOR)
    return view.row_flow(x[0], np.asarray(trace.output)[0], of("max"), of("sum"), *sectors)
