"""Counters of one or several runs, as a table and as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from softlab.traces import COUNTERS
from softlab.views.style import PATTERNS, SERIES, layout, stamped
from softlab.views.tables import table

#: Where counters come from, if nothing else is said.
COUNTED = "From a run in the emulator"
#: What each counter counts, for a reader who meets it for the first time.
MEANING = {
    "shared_load_instructions": "loads from shared memory, one a warp",
    "shared_store_instructions": "stores to shared memory, one a warp",
    "shared_load_wavefronts": "passes through the banks that the loads took",
    "shared_store_wavefronts": "passes through the banks that the stores took",
    "bank_conflicts": "passes more than the least possible",
    "global_load_requests": "loads from global memory, one a warp",
    "global_load_sectors": "pieces of 32 bytes that the loads touched",
    "global_store_requests": "stores to global memory, one a warp",
    "global_store_sectors": "pieces of 32 bytes that the stores touched",
    "dshared_load_requests": "loads from other blocks' shared memory, one a warp",
    "dshared_load_sectors": "pieces of 32 bytes that these loads touched",
    "dshared_store_requests": "stores to other blocks' shared memory, one a warp",
    "dshared_store_sectors": "pieces of 32 bytes that these stores touched",
    "shuffle_instructions": "exchanges between the lanes of a warp",
    "barriers": "waits of a warp for its whole block",
    "instructions": "instructions of all kinds, one a warp",
}


def counters_table(
    runs: Mapping[str, Mapping[str, int]], names: Sequence[str] | None = None, *, caption: str = ""
) -> str:
    """HTML: one row a counter, one column a run (label -> counters). Bank conflicts above zero stand out.

    Without ``names`` all counters, those of distributed shared memory where a run has any.
    """
    if names is None:
        names = [n for n in COUNTERS if not n.startswith("dshared") or any(run[n] for run in runs.values())]
    rows = [[name, *(run[name] for run in runs.values()), MEANING[name]] for name in names]
    conflicts = [
        (row, column)
        for row, name in enumerate(names)
        for column, run in enumerate(runs.values(), 1)
        if name == "bank_conflicts" and run[name]
    ]
    return table(["counter", *runs, "what it counts"], rows, caption=caption, marked=conflicts)


def counter_bars(
    runs: Mapping[str, Mapping[str, int]], names: Sequence[str], *, title: str, source: str = COUNTED
) -> go.Figure:
    """Bars: the counters ``names`` along the axis, one colour a run (label -> counters); ``source`` stands below."""
    labels = [name.replace("_", "<br>") for name in names]
    bars = [
        go.Bar(
            name=label,
            x=labels,
            y=[run[name] for name in names],
            text=[run[name] for name in names],
            textposition="outside",
            cliponaxis=False,
            marker={"color": SERIES[number % len(SERIES)], "pattern": PATTERNS[number % len(PATTERNS)]},
            customdata=[MEANING[name] for name in names],
            hovertemplate=f"{label}: %{{y:,}}<br>%{{customdata}}<extra></extra>",
        )
        for number, (label, run) in enumerate(runs.items())
    ]
    figure = go.Figure(bars, layout(title, "", "count, a warp at a time", barmode="group"))
    figure.update_layout(height=360, margin={"b": 100}).update_xaxes(showgrid=False, tickangle=0)
    return stamped(figure, source)
