"""Shuffle trace as a picture: the lanes of a warp side by side, a line from each giver to its taker, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from softlab.instruments.banks import WARP
from softlab.instruments.shuffles import ShuffleStep
from softlab.views.style import FONT, ROLES, ink_on
from softlab.views.tables import table

_CELL, _BOX, _GAP, _LABEL, _HEAD = 29, 20, 46, 124, 46
_INK = "var(--jp-content-font-color1,#222)"
_FAINT = "var(--jp-content-font-color2,#767676)"
#: What most of the 320 cells and lines of five steps have, said once: such a picture is stored in a notebook.
_SIZE, _ANCHOR, _FILL, _STROKE = 11, "middle", "#000000", 1.4
_INHERITED = f'font-size="{_SIZE}" text-anchor="{_ANCHOR}" fill="{_FILL}" stroke-width="{_STROKE}"'


def butterfly(steps: Sequence[ShuffleStep], *, title: str = "") -> str:
    """HTML (an SVG): for each step a row of what the lanes gave and a row of what they got, joined by lines.

    Blue lines go to a lower lane, orange ones to a higher lane; lanes without a part are empty.

    Raises:
        ValueError: no steps.
    """
    if not steps:
        raise ValueError(
            "there are no shuffles to draw: did the block and the warp execute any, and were they recorded?"
        )
    width = _LABEL + WARP * _CELL + 4
    parts: list[str] = []
    top = _HEAD
    for number, step in enumerate(steps, 1):
        parts += _step(number, step, top)
        top += 2 * _BOX + _GAP + 20
    heading = title or f"Warp {steps[0].warp} of block {steps[0].block}: who gives what to whom"
    numbers = "".join(_text(_x(lane), _HEAD - 8, str(lane), 10, _FAINT, "middle") for lane in range(WARP))
    legend = _legend(top)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(heading, quote=True)}" '
        f'viewBox="0 0 {width} {top + 18}" style="display:block;width:100%;max-width:{width}px;height:auto;'
        f'font-family:{escape(FONT, quote=True)}" {_INHERITED}>'
        f"{_text(0, 14, heading, 14, _INK, 'start', bold=True)}"
        f"{_text(_LABEL - 8, _HEAD - 8, 'lane', 10, _FAINT, 'end')}"
        f"{numbers}{''.join(parts)}{legend}</svg>"
    )


def shuffle_table(step: ShuffleStep) -> str:
    """HTML: of one step, every lane: whom it reads, what it gave and what it got."""
    rows = [
        (lane, int(step.source[lane]), short_number(step.given[lane]), short_number(step.received[lane]))
        for lane in np.flatnonzero(step.active).tolist()
    ]
    line = f", line {step.line}" if step.line else ""
    return table(["lane", "reads lane", "gave", "got"], rows, caption=f"{step.title}{line} ({step.dtype})")


def short_number(value: np.generic) -> str:
    """A value in about six characters, with two digits or more."""
    number = value.item()
    if isinstance(number, int):
        text = str(number)
        return text if len(text) <= 6 else f"{number:.1e}".replace("e+0", "e").replace("e+", "e")
    if not np.isfinite(number):
        return str(number)
    for digits in (5, 4, 3, 2):
        text = f"{number:.{digits}g}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
        text = text.replace("-0.", "-.") if text.startswith("-0.") else text
        if len(text) <= 6:
            return text
    return text


def _x(lane: int) -> float:
    return _LABEL + (lane + 0.5) * _CELL


def _step(number: int, step: ShuffleStep, top: int) -> list[str]:
    low = top + _BOX + _GAP
    where = f"line {step.line}" if step.line else ""
    found = [
        _text(0, (top + low + _BOX) / 2, f"{number}. {step.title}", 12, _INK, "start", bold=True),
        _text(0, (top + low + _BOX) / 2 + 16, where, 11, _FAINT, "start"),
        _text(_LABEL - 8, top + 14, "gives", 11, _INK, "end"),
        _text(_LABEL - 8, low + 14, "gets", 11, _INK, "end"),
    ]
    for giver, taker, _ in step.exchanges():
        colour, dash = _line_of(giver, taker)
        found.append(
            f'<line data-from="{giver}" data-to="{taker}" x1="{_x(giver)}" y1="{top + _BOX}" x2="{_x(taker)}" '
            f'y2="{low}" stroke="{colour}"{dash}/>'
        )
    for lane in range(WARP):
        active = bool(step.active[lane])
        giver = int(step.source[lane])
        gave, got = short_number(step.given[lane]), short_number(step.received[lane])
        takers = [t for g, t, _ in step.exchanges() if g == lane] if active else []
        told = f"lane {lane} gives {step.given[lane]}" + (
            f" to lane{'s' * (len(takers) > 1)} {_names(takers)}" if takers else ""
        )
        value = step.received[lane]
        took = f"lane {lane} gets {value} from lane {giver}" if giver != lane else f"lane {lane} keeps {value}"
        found.append(_cell(lane, top, gave, told, active, ROLES["served"]))
        found.append(_cell(lane, low, got, took, active, ROLES["served-odd"]))
    return found


def _names(lanes: list[int]) -> str:
    return ", ".join(map(str, lanes)) if len(lanes) <= 4 else f"{lanes[0]} to {lanes[-1]}"


def _line_of(giver: int, taker: int) -> tuple[str, str]:
    """Colour, and an attribute for the dashes: the direction can be told without colour."""
    if giver == taker:
        return _FAINT, ' stroke-dasharray="1 3"'
    return (ROLES["load"], "") if taker < giver else (ROLES["store"], ' stroke-dasharray="5 2"')


def _cell(lane: int, y: float, text: str, tip: str, active: bool, fill: str) -> str:
    x = _LABEL + lane * _CELL + 1
    if not active:
        return (
            f'<rect x="{x}" y="{y}" width="{_CELL - 2}" height="{_BOX}" rx="3" fill="none" stroke="{_FAINT}" '
            f'stroke-opacity="0.4" stroke-dasharray="2 2"><title>lane {lane} takes no part</title></rect>'
        )
    size = {1: 11, 2: 11, 3: 11, 4: 9.5, 5: 8}.get(len(text), 7 if len(text) == 6 else 5.5)
    return (
        f'<g data-lane="{lane}"><title>{escape(tip)}</title>'
        f'<rect x="{x}" y="{y}" width="{_CELL - 2}" height="{_BOX}" rx="3" fill="{fill}"/>'
        f"{_text(_x(lane), y + 14, text, size, ink_on(fill), 'middle')}</g>"
    )


def _legend(top: float) -> str:
    found, x = "", float(_LABEL)
    for giver, taker, words in ((1, 0, "to a lower lane"), (0, 1, "to a higher lane"), (0, 0, "keeps its own")):
        colour, dash = _line_of(giver, taker)
        found += (
            f'<line x1="{x}" y1="{top}" x2="{x + 26}" y2="{top}" stroke="{colour}" stroke-width="2"{dash}/>'
            f"{_text(x + 32, top + 4, words, 11, _INK, 'start')}"
        )
        x += 60 + 6.6 * len(words)
    return found


def _text(x: float, y: float, text: str, size: float, colour: str, anchor: str, *, bold: bool = False) -> str:
    look = {"font-size": (size, _SIZE), "fill": (colour, _FILL), "text-anchor": (anchor, _ANCHOR)}
    own = "".join(f' {name}="{value}"' for name, (value, inherited) in look.items() if value != inherited)
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}"{own}{weight}>{escape(text)}</text>'
