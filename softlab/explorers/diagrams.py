"""The widget that draws the data of ``softlab.views.diagrams`` as SVG."""

from __future__ import annotations

from pathlib import Path

import anywidget
from traitlets import Dict, Int

_STATIC = Path(__file__).parent / "static"


class GridDiagram(anywidget.AnyWidget):
    """``data`` is a diagram (see ``softlab.views.diagrams``); ``lane`` the lane that stands out, -1 for none."""

    _esm = _STATIC / "grid.js"
    _css = _STATIC / "grid.css"

    data = Dict({"title": "", "legend": [], "panels": []}).tag(sync=True)
    lane = Int(-1).tag(sync=True)

    def __repr__(self) -> str:
        return f"GridDiagram({self.data['title']!r})"
