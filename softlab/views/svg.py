"""Small charts as SVG text, for pictures that follow a slider: they need no library in the page and are soon drawn.

Colours of text and lines are the page's own, so a chart reads on a light and on a dark one. Every mark has a title,
which browsers show as a tip, and ``data-*`` attributes, by which tests and scripts find it.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any, Literal

from softlab.views.style import FONT

#: Pixels; a notebook's output is at least this wide at 1280 x 800.
WIDTH = 860
INK = "var(--jp-content-font-color1, #222)"
FAINT = "var(--jp-content-font-color2, #666)"
RULE = "var(--jp-border-color2, #ccc)"
PAGE = "var(--jp-layout-color0, #fff)"
#: Attribute of a drawing of estimates. The model changes, so a still picture leaves such drawings out.
ESTIMATED = "data-estimated"
#: The band of a store, beside a load in the same colour.
BAND = "rgba(0,0,0,0.6)"
Anchor = Literal["start", "middle", "end"]


def drawing(height: float, parts: Iterable[str], *, title: str, estimated: bool = False) -> str:
    """The whole picture, ``WIDTH`` wide, with its title for screen readers. estimated: it shows estimates."""
    mark = f' {ESTIMATED}="1"' if estimated else ""
    return (
        f'<svg{mark} viewBox="0 0 {WIDTH} {height:g}" style="display:block;width:100%;max-width:{WIDTH}px;height:auto" '
        f'role="img" aria-label="{escape(title, quote=True)}" font-family="{escape(FONT, quote=True)}" font-size="12">'
        f"{''.join(parts)}</svg>"
    )


def standalone(height: float, parts: Iterable[str], *, title: str) -> str:
    """The whole picture as a file of its own, for where no page gives it colours: in a README, in a browser alone.

    It brings its background, light or dark as the reader's system is, so it can be read on any page.
    """
    edge = 12  # pixels of it around the picture
    wide, tall = WIDTH + 2 * edge, height + 2 * edge
    themes = (
        {INK: "#1f2328", FAINT: "#59636e", RULE: "#d1d9e0", PAGE: "#ffffff"},
        {INK: "#f0f6fc", FAINT: "#9198a1", RULE: "#3d444d", PAGE: "#0d1117"},
    )
    # "var(--name, colour)" -> "--name:colour"
    light, dark = (";".join(f"{var[4:].partition(',')[0]}:{colour}" for var, colour in t.items()) for t in themes)
    lines = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:g}" height="{tall:g}" role="img" '
        f'viewBox="{-edge} {-edge} {wide:g} {tall:g}" font-family="{escape(FONT, quote=True)}" font-size="12">',
        f"<title>{escape(title)}</title>",
        f"<style>svg{{{light}}}@media (prefers-color-scheme:dark){{svg{{{dark}}}}}</style>",
        f'<rect x="{-edge}" y="{-edge}" width="{wide:g}" height="{tall:g}" style="fill:{PAGE}"/>',
    )
    return "\n".join([*lines, *parts, "</svg>\n"])


def text(
    x: float, y: float, words: Any, *, anchor: Anchor = "start", bold: bool = False, fill: str = INK, size: int = 12
) -> str:
    """Words whose base line begins (or ends, or has its middle) at (x, y)."""
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}"{weight} '
        f'style="fill:{fill}">{escape(str(words))}</text>'
    )


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str,
    tip: str = "",
    *,
    marked: bool = False,
    outline: bool = False,
    banded: bool = False,
    **data: Any,
) -> str:
    """A rectangle; ``data`` become ``data-*`` attributes. ``outline``: an empty one with a thin edge; ``marked``:
    with a thick one, so that colour is never the only sign; ``banded``: with a dark band, which means a store."""
    shape = f'x="{x:g}" y="{y:g}" width="{max(width, 0):g}" height="{max(height, 0):g}" rx="2"'
    named = "".join(
        f' data-{name.replace("_", "-")}="{escape(str(value), quote=True)}"' for name, value in data.items()
    )
    look = f'style="fill:none;stroke:{RULE}"' if outline else f'fill="{fill}"'
    look += f' style="stroke:{INK}" stroke-width="2"' if marked else ""
    band = f'<rect x="{x:g}" y="{y + 0.55 * height:g}" width="{width:g}" height="{0.3 * height:g}" fill="{BAND}"/>'
    return f"<g{named}><title>{escape(tip)}</title><rect {shape} {look}/>{band if banded else ''}</g>"


def line(
    x1: float, y1: float, x2: float, y2: float, *, stroke: str = RULE, width: float = 1, dashed: bool = False
) -> str:
    """A straight line."""
    dashes = ' stroke-dasharray="4 3"' if dashed else ""
    return (
        f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" style="stroke:{stroke}" '
        f'stroke-width="{width:g}"{dashes}/>'
    )
