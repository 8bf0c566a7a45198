"""The plain data of a grid diagram: panels of rows and columns with cells in them, drawn as SVG by ``static/grid.js``.

A diagram is a dict of JSON values: ``title``; ``leastRows``, rows that a page keeps space for; ``legend`` [{role, fill,
text}]; ``panels`` [{title, columns, columnTitle, columnLabels, bands [{columns, text}], rows [{label, mark}], cells}].
A cell: row, column, span (columns), text, role, fill, ink, lanes (those it belongs to; none for what no lane asked
for), tip (the sentence shown for it).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from softlab.views.style import ROLES, Role, ink_on

#: The JavaScript and the style sheet that draw it.
STATIC = Path(__file__).parent / "static"


@dataclass(frozen=True)
class Cell:
    """One cell of a panel; ``lanes`` are the lanes it belongs to."""

    row: int
    column: int
    span: int
    text: str
    role: Role
    lanes: tuple[int, ...]
    tip: str

    def data(self) -> dict[str, Any]:
        """As the JavaScript takes it."""
        fill = ROLES[self.role]
        return {**asdict(self), "lanes": list(self.lanes), "fill": fill, "ink": ink_on(fill)}


@dataclass(frozen=True)
class Panel:
    """A grid; ``rows`` are (label, mark) with mark "" or a word that highlights the row, such as "extra".

    ``column_labels``: what to write above the columns (default: their numbers). ``bands``: (columns, name) of
    neighbouring columns that belong together, from the left.
    """

    title: str
    columns: int
    column_title: str
    rows: Sequence[tuple[str, str]]
    cells: Sequence[Cell] = field(default_factory=tuple)
    column_labels: Sequence[str] = ()
    bands: Sequence[tuple[int, str]] = ()

    def data(self) -> dict[str, Any]:
        """As the JavaScript takes it."""
        return {
            "title": self.title,
            "columns": self.columns,
            "columnTitle": self.column_title,
            "columnLabels": list(self.column_labels) or [str(column) for column in range(self.columns)],
            "bands": [{"columns": columns, "text": text} for columns, text in self.bands],
            "rows": [{"label": label, "mark": mark} for label, mark in self.rows],
            "cells": [cell.data() for cell in self.cells],
        }


def diagram(
    title: str, panels: Iterable[Panel], legend: Iterable[tuple[Role, str]] = (), *, least_rows: int = 0
) -> dict[str, Any]:
    """The whole diagram as plain data. ``least_rows``: rows of all panels that a page keeps space for."""
    return {
        "title": title,
        "leastRows": least_rows,
        "legend": [{"role": role, "fill": ROLES[role], "text": text} for role, text in legend],
        "panels": [panel.data() for panel in panels],
    }


def ranges(numbers: Iterable[int]) -> str:
    """Ascending numbers in short: ``0-3, 8``."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def short(numbers: Sequence[int]) -> str:
    """What fits into a cell: one number, a range, or how many."""
    text = ranges(numbers)
    return text if len(text) <= 5 else f"\N{MULTIPLICATION SIGN}{len(numbers)}"
