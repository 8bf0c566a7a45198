"""Tables, trees and JSON on standard output."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_NUMBER = re.compile(r"\d+(\.\d+)?%?")


def print_json(record: Any) -> int:
    """Print it, indented; the exit status 0."""
    print(json.dumps(record, indent=2))
    return 0


def print_table(title: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table; a column without a single entry is left out."""
    from rich.table import Table
    from rich.text import Text

    cells = [[text_of(cell) for cell in row] + [""] * (len(head) - len(row)) for row in rows]
    kept = [k for k in range(len(head)) if any(row[k] for row in cells)]
    table = Table(title=Text(title), title_justify="left", show_header=any(head))
    for k in kept:
        numeric = all(_NUMBER.fullmatch(row[k]) for row in cells if row[k])
        table.add_column(Text(head[k]), justify="right" if numeric else "left", overflow="fold")
    for row in cells:
        table.add_row(*(Text(row[k]) for k in kept))
    _console().print(table)


def print_text(words: str) -> None:
    """Words as they are, in lines no longer than the terminal's."""
    _console().print(words, markup=False, highlight=False)


def width() -> int:
    """Letters in a line of standard output."""
    return _console().width


def print_tree(root: Any) -> None:
    """A plan's tree, the way taken in bold."""
    from rich.text import Text
    from rich.tree import Tree

    def drawn(node: Any) -> Tree:
        mark = "* " if node.lit else "  "
        tree = Tree(Text(mark + node.label, style="bold" if node.lit else "dim"))
        tree.children = [drawn(child) for child in node.children]
        return tree

    _console().print(drawn(root))


def _console() -> Any:
    """Standard output. Where that is no terminal there is no width to keep to: a pipe or a file gets whole lines."""
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=200)


def text_of(value: Any) -> str:
    """A value as it stands in a table: "" for None, yes and no, names with their entries."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {text_of(entry)}" for name, entry in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(text_of, value))
    return str(value)
