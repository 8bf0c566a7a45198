"""Pictures of records: plotly figures for charts, plain data for SVG diagrams, HTML for tables. Pure, without state.

The names below are those that lessons use; each is loaded when it is first asked for.
"""

from __future__ import annotations

import importlib
from typing import Any

#: Name -> module of this package.
_EXPORTS = {
    "achieved_bars": "occupancy",
    "bank_card": "banks",
    "counter_bars": "counters",
    "counters_table": "counters",
    "error_chart": "numerics",
    "error_strips": "predictions",
    "estimate_sentences": "estimates",
    "grouped_bars": "bandwidth",
    "latency_ladder": "atlas",
    "reduction_diagram": "reduction",
    "request_table": "requests",
    "sector_card": "sectors",
    "speed_lines": "bandwidth",
    "table": "tables",
    "timeline_chart": "timeline",
    "traffic_points": "bandwidth",
    "what_if_bars": "what_if",
    "what_if_sentences": "what_if",
}

__all__ = list(_EXPORTS)


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'softlab.views' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"softlab.views.{_EXPORTS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
