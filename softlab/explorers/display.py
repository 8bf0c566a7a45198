"""Show a figure or a table in a notebook without anything that differs between machines or comes from the network."""

from __future__ import annotations

import json
from typing import Any

import plotly.graph_objects as go
from IPython.display import display

from softlab.explorers.diagrams import ButterflyDiagram, GridDiagram
from softlab.views.estimates import ESTIMATE


def show(picture: go.Figure | str | dict[str, Any], *, estimate: bool = False) -> None:
    """Show a plotly figure, HTML, or a diagram's data (``softlab.views.diagrams``, ``reduction``) as a cell's output.

    A figure is given to JupyterLab's own plotly, which needs no network and stores no copy of the library in the
    notebook; elsewhere its title is shown.

    ``estimate``: whether the picture shows estimates of the timing model; notebooks are stored without such pictures.
    """
    if isinstance(picture, dict):
        reduction = "levels" in picture
        display(ButterflyDiagram(data=picture, step=len(picture["steps"])) if reduction else GridDiagram(data=picture))
        return
    if isinstance(picture, go.Figure):
        data = {
            "application/vnd.plotly.v1+json": json.loads(picture.to_json()),
            "text/plain": picture.layout.title.text,
        }
    elif isinstance(picture, str):
        data = {"text/html": picture}
    else:
        raise TypeError(f"cannot show a {type(picture).__name__}: give a plotly figure, HTML text or a diagram")
    display(data, raw=True, metadata={ESTIMATE: True} if estimate else {})
