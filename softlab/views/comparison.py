"""Two runs side by side as HTML: what changed in total, and the lines with their old and new counters."""

from __future__ import annotations

from softlab.views.source import SHORT, columns_of
from softlab.views.tables import lines, table
from softlab.workbench.comparison import Comparison, LineComparison, shown_change


def comparison_html(comparison: Comparison) -> str:
    """HTML: the sentences, a table of what changed in total, and one row per line with its old and new counters."""
    changed = comparison.changed_totals()
    totals = [(name.replace("_", " "), shown_change(*pair)) for name, pair in changed.items()]
    parts = [lines(comparison.sentences())]
    if totals:
        parts.append(table(["", "old, then new"], totals, caption="What changed"))
    if comparison.lines:
        parts.append(_lines(comparison))
    return f'<div style="overflow-x:auto">{"".join(parts)}</div>'


def _lines(comparison: Comparison) -> str:
    sides = [
        {n: {name: pair[side] for name, pair in one.counters.items()} for n, one in enumerate(comparison.lines)}
        for side in (0, 1)
    ]
    names = list(dict.fromkeys([*columns_of(sides[0]), *columns_of(sides[1])]))
    rows = [
        (
            one.old_line if one.old_line is not None else "",
            one.new_line if one.new_line is not None else "",
            one.text,
            *(_cell(one, name) for name in names),
        )
        for one in comparison.lines
    ]
    marked = [
        (row, 3 + column)
        for row, one in enumerate(comparison.lines)
        for column, name in enumerate(names)
        if (pair := one.counters.get(name)) and pair[0] != pair[1]
    ]
    titles = ["old line", "new line", "source", *(SHORT[name] for name in names)]
    return table(titles, rows, caption="Line by line (old, new)", marked=marked, mark="choice")


def _cell(one: LineComparison, name: str) -> str | int:
    old, new = one.counters.get(name, (0, 0))
    return (new or "") if old == new else f"{old}, {new}"
