"""The widgets that draw the data of ``softlab.views.diagrams`` and ``softlab.views.reduction`` as SVG."""

from __future__ import annotations

from pathlib import Path

import anywidget
from traitlets import Dict, Int, List

_STATIC = Path(__file__).parent / "static"


def _module(name: str) -> str:
    """The JavaScript of a widget: what all share, then its own. One text, since a page takes a widget as one module."""
    return "\n".join((_STATIC / file).read_text(encoding="utf-8") for file in ("svg.js", name))


class GridDiagram(anywidget.AnyWidget):
    """``data`` is a diagram (see ``softlab.views.diagrams``); ``lane`` the highlighted lane, -1 for none."""

    _esm = _module("grid.js")
    _css = _STATIC / "grid.css"

    data = Dict({"title": "", "legend": [], "panels": []}).tag(sync=True)
    lane = Int(-1).tag(sync=True)

    def __repr__(self) -> str:
        return f"GridDiagram({self.data['title']!r})"


class ButterflyDiagram(anywidget.AnyWidget):
    """``data`` is a diagram of ``softlab.views.reduction``; ``step`` how many shuffles have been made; ``cell`` the one
    that is highlighted, as [level, lane], [-1, -1] for none."""

    _esm = _module("butterfly.js")
    _css = _STATIC / "butterfly.css"

    data = Dict({"title": "", "bands": [], "levels": [], "steps": [], "fills": {}, "inks": {}}).tag(sync=True)
    step = Int(0).tag(sync=True)
    cell = List(Int(), [-1, -1]).tag(sync=True)

    def __repr__(self) -> str:
        return f"ButterflyDiagram({self.data['title']!r})"
