"""Show a figure or a table in a notebook without anything that differs between machines or comes from the network."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import plotly.graph_objects as go
from IPython.display import display

from softlab.explorers.diagrams import ButterflyDiagram, GridDiagram
from softlab.explorers.stills import MIME
from softlab.views.estimates import ESTIMATE
from softlab.views.still_charts import chart
from softlab.views.stills import still

#: The last line of a chart's still picture.
NOTE = "A still picture. Open the lesson with softlab, and hover over a mark to read its value."


def show(picture: go.Figure | str | dict[str, Any], *, estimate: bool = False) -> None:
    """Show a plotly figure, HTML, or a diagram's data (``softlab.views.diagrams``, ``reduction``) as a cell's output.

    A figure is given to JupyterLab's own plotly, which needs no network and stores no copy of the library in the
    notebook. Other pages show a still picture of it, or its title if the chart is neither bars nor lines.

    ``estimate``: whether the picture shows estimates of the timing model; notebooks are stored without such pictures.
    """
    if isinstance(picture, dict):
        reduction = "levels" in picture
        display(ButterflyDiagram(data=picture, step=len(picture["steps"])) if reduction else GridDiagram(data=picture))
        return
    if isinstance(picture, go.Figure):
        data = _bundle(json.loads(picture.to_json()), picture.layout.title.text)
    elif isinstance(picture, str):
        data = {"text/html": picture}
    else:
        raise TypeError(f"cannot show a {type(picture).__name__}: give a plotly figure, HTML text or a diagram")
    display(data, raw=True, metadata={ESTIMATE: True} if estimate else {})


def _bundle(figure: dict[str, Any], title: str) -> dict[str, Any]:
    """A chart as plotly's data, as a picture for pages without plotly, and as its title."""
    data = {"application/vnd.plotly.v1+json": figure, "text/plain": title}
    with contextlib.suppress(ValueError):  # a reader's own figure of another kind
        data[MIME] = still([chart(figure)], title=title or "", note=NOTE)
    return data
