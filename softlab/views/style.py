"""One visual language: which colour means what, on a light and on a dark page.

The colours are Okabe and Ito's ("Color Universal Design", 2008), told apart with any kind of colour vision. Colour
is never the only sign: a mark, a label or a hatching has the same meaning.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import plotly.graph_objects as go

ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
YELLOW = "#F0E442"
BLUE = "#0072B2"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"
SILVER = "#B8B8B8"

Role = Literal["served", "served-odd", "conflict", "idle", "shuffle", "barrier", "shared", "global", "choice"]

#: What each colour means, everywhere.
ROLES: dict[Role, str] = {
    "served": SKY,  # lanes served in a wavefront that is needed anyway; neighbouring groups alternate
    "served-odd": GREEN,
    "conflict": VERMILLION,  # what a bank conflict adds
    "idle": SILVER,  # what is moved or held and used by nobody
    "shuffle": BLUE,
    "barrier": ORANGE,
    "shared": PURPLE,
    "global": GREEN,
    "choice": YELLOW,  # what a plan took
}

#: Colours for things that have no role, such as the layouts in a comparison, in the order they appear.
SERIES = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION)
#: Index in ``SERIES`` (counted on past its end) of what several pictures show, so that it looks the same in each.
_SERIES_OF = {
    "blocks of 128": 0,
    "blocks of 256": 1,
    "blocks of 512": 2,
    "blocks of 1024": 3,
    "softlab": 0,
    "softlab, as planned": 0,
    "softlab, oneflow": 0,
    "softlab, fast": 3,
    "Inductor": 1,
    "Triton": 2,
    "PyTorch": 4,
    "cuDNN": 5,
    # From here on colours repeat, with another mark.
    "Liger": 6,
    "QuACK": 7,
    "JAX": 8,
    "CuPy": 9,
    "device copy": 10,
}

#: Hatching of the bars of a series, so that colour is not the only sign.
PATTERNS = tuple(
    {"shape": shape, "fillmode": "overlay", "fgcolor": "rgba(0,0,0,0.55)", "size": 7, "solidity": 0.25}
    for shape in ("", "/", "x", ".")
)

#: Grey that can be read on white (4.5 to 1) and on JupyterLab's dark page (4.2 to 1).
INK = "#767676"
RULE = "rgba(118, 118, 118, 0.35)"
#: Letters of a line below a figure: a page of 1280 pixels with JupyterLab's file browser has room for 110.
STAMP_LETTERS = 90
FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif"
MONOSPACE = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def ink_on(colour: str) -> str:
    """Black or white, whichever contrasts more with ``colour`` ("#RRGGBB"), by WCAG 2's relative luminance."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if (luminance + 0.05) ** 2 > 0.05 * 1.05 else "#FFFFFF"


def series_index(label: str, default: int) -> int:
    """The index in ``SERIES`` that ``label`` has in every picture; ``default`` for a label without one."""
    return _SERIES_OF.get(label, default)


def layout(title: str, x: str, y: str, **more: Any) -> dict[str, Any]:
    """A plotly layout for a chart: ``x`` and ``y`` are the axes' titles, with their units; ``more`` overrides."""
    axis = {"gridcolor": RULE, "zerolinecolor": RULE, "linecolor": RULE, "automargin": True}
    return {
        "template": "none",
        "title": {"text": title, "font": {"size": 15}, "x": 0, "xref": "paper"},
        "font": {"family": FONT, "size": 13, "color": INK},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "colorway": list(SERIES),
        "xaxis": {**axis, "title": {"text": x, "font": {"size": 13}}},
        "yaxis": {**axis, "title": {"text": y, "font": {"size": 13}}},
        "margin": {"l": 70, "r": 20, "t": 50, "b": 50},
        "height": 320,
        "hoverlabel": {"font": {"family": FONT, "size": 13}},
        **more,
    }


def stamped(figure: go.Figure, stamp: str) -> go.Figure:
    """The figure with a text under it: where its numbers come from, a recording (where, when, with what) or a run."""
    return figure.add_annotation(
        text="<br>".join(textwrap.wrap(stamp, STAMP_LETTERS)), x=0, y=0, xref="paper", yref="paper", yshift=-90,
        xanchor="left", yanchor="bottom",
        showarrow=False, font={"size": 11, "color": INK}, align="left",
    )  # fmt: skip
