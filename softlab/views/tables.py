"""Tables as HTML that follow JupyterLab's theme; every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Literal

from softlab.views.style import MONOSPACE, ROLES

_TEXT = "font-size:13px;line-height:20px;color:var(--jp-content-font-color1,inherit)"
#: Yellow alone is hard to see on white, so a choice's bar has an edge in the colour of the text.
_BARS = {
    "conflict": f"inset 4px 0 {ROLES['conflict']}",
    "choice": f"inset 5px 0 {ROLES['choice']},inset 6px 0 currentColor",
}
_CELL = "padding:2px 12px 2px 0;border-bottom:1px solid var(--jp-border-color2,#ddd);vertical-align:top"

#: What runs out on an SM: its name in records -> what it is called.
RESOURCES = {"threads": "threads", "registers": "registers", "smem": "shared memory", "blocks": "block slots"}


def limits(names: Iterable[str]) -> str:
    """What limits occupancy (``Occupancy.limiters``), in words."""
    return " and ".join(RESOURCES[name] for name in names)


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    caption: str = "",
    marked: Iterable[tuple[int, int]] = (),
    mark: Literal["conflict", "choice"] = "conflict",
) -> str:
    """An HTML table; integers are set right and grouped by thousands.

    ``marked`` (row, column) cells are highlighted: bold, with a bar in the colour of ``mark``.
    """
    stand_out = set(marked)
    body = []
    for number, row in enumerate(rows):
        cells = []
        for column, value in enumerate(row):
            style = _CELL + (";text-align:right" if _is_number(value) else ";text-align:left")
            if (number, column) in stand_out:
                style += f";font-weight:bold;box-shadow:{_BARS[mark]};padding-left:10px"
            cells.append(f'<td style="{style}">{escape(shown(value))}</td>')
        body.append("<tr>" + "".join(cells) + "</tr>")
    head = "".join(f'<th style="{_CELL};text-align:left">{escape(name)}</th>' for name in columns)
    title = f'<caption style="text-align:left;font-weight:bold;padding:4px 0">{escape(caption)}</caption>'
    return (
        f'<table style="border-collapse:collapse;{_TEXT}">'
        f"{title if caption else ''}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    )


def lines(sentences: Iterable[str]) -> str:
    """Sentences, one per line."""
    body = "<br>".join(escape(sentence) for sentence in sentences)
    return f'<div style="{_TEXT}">{body}</div>'


def code(text: str, *, caption: str = "") -> str:
    """Lines of code in a fixed-width font, with a caption above them."""
    title = f'<div style="font-weight:bold;margin-top:6px">{escape(caption)}</div>' if caption else ""
    return (
        f'{title}<pre style="font-family:{escape(MONOSPACE, quote=True)};font-size:12px;line-height:1.35;margin:2px 0;'
        f'white-space:pre-wrap;color:var(--jp-content-font-color1,inherit)">{escape(text)}</pre>'
    )


def shown(value: Any) -> str:
    """A value as a reader wants it: thousands apart, yes and no, names joined."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if _is_number(value):
        return f"{value:,}".replace(",", "\u202f")
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {shown(item)}" for name, item in value.items())
    if isinstance(value, (tuple, list)):
        return ", ".join(shown(item) for item in value)
    return str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
