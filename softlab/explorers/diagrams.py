"""The widgets that draw the data of ``softlab.views.diagrams`` and ``softlab.views.reduction`` as SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
from traitlets import Dict, Int, List

from softlab.explorers.stills import still_of, with_still
from softlab.views import still_diagrams
from softlab.views.diagrams import STATIC as SHARED
from softlab.views.stills import Part

_STATIC = Path(__file__).parent / "static"


def _module(file: Path) -> str:
    """The JavaScript of a widget: what all share, then its own. One text, since a page takes a widget as one module."""
    return "\n".join(path.read_text(encoding="utf-8") for path in (SHARED / "svg.js", file))


class _Diagram(anywidget.AnyWidget):
    """What both have in common: a still picture beside the widget."""

    def still_parts(self) -> tuple[Part, ...]:
        raise NotImplementedError

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return with_still(super()._repr_mimebundle_(**options), still_of(self, ""))


class GridDiagram(_Diagram):
    """``data`` is a diagram (see ``softlab.views.diagrams``); ``lane`` the highlighted lane, -1 for none."""

    _esm = _module(SHARED / "grid.js")
    _css = SHARED / "grid.css"

    data = Dict({"title": "", "legend": [], "panels": []}).tag(sync=True)
    lane = Int(-1).tag(sync=True)

    def still_parts(self) -> tuple[Part, ...]:
        """The diagram as it stands, for :mod:`softlab.explorers.stills`."""
        return (still_diagrams.grid(self.data, self.lane),)

    def __repr__(self) -> str:
        return f"GridDiagram({self.data['title']!r})"


class ButterflyDiagram(_Diagram):
    """``data`` is a diagram of ``softlab.views.reduction``; ``step`` how many shuffles have been made; ``cell`` the one
    that is highlighted, as [level, lane], [-1, -1] for none."""

    _esm = _module(_STATIC / "butterfly.js")
    _css = _STATIC / "butterfly.css"

    data = Dict({"title": "", "bands": [], "levels": [], "steps": [], "fills": {}, "inks": {}}).tag(sync=True)
    step = Int(0).tag(sync=True)
    cell = List(Int(), [-1, -1]).tag(sync=True)

    def still_parts(self) -> tuple[Part, ...]:
        """The diagram as it stands, for :mod:`softlab.explorers.stills`."""
        return (still_diagrams.butterfly(self.data, self.step),)

    def __repr__(self) -> str:
        return f"ButterflyDiagram({self.data['title']!r})"
