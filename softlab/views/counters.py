"""Counters of one or several runs, as a table and as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from softlab.traces import COUNTERS
from softlab.views.style import PATTERNS, SERIES, layout, stamped
from softlab.views.tables import table

#: Where counters come from, by default.
COUNTED = "From a run in the emulator"
#: What each counter counts, for a reader who meets it for the first time.
MEANING = {
    "shared_load_instructions": "loads from shared memory, one per warp",
    "shared_store_instructions": "stores to shared memory, one per warp",
    "shared_load_wavefronts": "passes through the banks that the loads took",
    "shared_store_wavefronts": "passes through the banks that the stores took",
    "bank_conflicts": "passes more than the least possible",
    "global_load_requests": "loads from global memory, one per warp",
    "global_load_sectors": "pieces of 32 bytes that the loads touched",
    "global_store_requests": "stores to global memory, one per warp",
    "global_store_sectors": "pieces of 32 bytes that the stores touched",
    "dshared_load_requests": "loads from other blocks' shared memory, one per warp",
    "dshared_load_sectors": "pieces of 32 bytes that these loads touched",
    "dshared_store_requests": "stores to other blocks' shared memory, one per warp",
    "dshared_store_sectors": "pieces of 32 bytes that these stores touched",
    "shared_atomic_instructions": "atomics on shared memory, one per warp",
    "shared_atomic_wavefronts": "passes through the banks that these atomics took",
    "global_atomic_requests": "atomics on global memory whose result is used, one per warp",
    "global_atomic_sectors": "pieces of 32 bytes that these atomics touched, once per turn",
    "global_reduction_requests": "atomics on global memory without a result, one per warp",
    "global_reduction_sectors": "pieces of 32 bytes that these reductions touched, once per turn",
    "shuffle_instructions": "exchanges between the lanes of a warp",
    "tensor_instructions": "matrix instructions of tensor cores, one per warp",
    "tensor_hmma_instructions": "of these, products of floats of 8 to 32 bits",
    "tensor_imma_instructions": "of these, products of integers",
    "tensor_dmma_instructions": "of these, products of doubles",
    "tensor_gmma_instructions": "of these, products of warpgroups (wgmma)",
    "barriers": "waits of a warp for its whole block",
    "instructions": "machine instructions of all kinds, one per warp",
    "ptx_instructions": "instructions of the PTX, one per warp",
}
#: Counters that a table shows only where a run has any.
_SELDOM = ("dshared_", "shared_atomic_", "global_atomic_", "global_reduction_", "tensor_")


def counters_table(
    runs: Mapping[str, Mapping[str, int]], names: Sequence[str] | None = None, *, caption: str = ""
) -> str:
    """HTML: one row per counter, one column per run (label -> counters). Bank conflicts above zero are highlighted.

    Without ``names`` all counters, those of atomics, distributed shared memory and tensor cores where a run has any.
    """
    if names is None:
        names = [n for n in COUNTERS if not n.startswith(_SELDOM) or any(run[n] for run in runs.values())]
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
    """Bars: the counters ``names`` along the axis, one colour per run (label -> counters); ``source``: text below."""
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
    figure = go.Figure(bars, layout(title, "", "count per warp", barmode="group"))
    figure.update_layout(height=360, margin={"b": 100}).update_xaxes(showgrid=False, tickangle=0)
    return stamped(figure, source)
