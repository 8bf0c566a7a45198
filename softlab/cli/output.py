"""Tables, trees and JSON on standard output."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_NUMBER = re.compile(r"\d+(\.\d+)?%?")


def print_json(record: Any) -> int:
    """Print the record as indented JSON and return the exit status 0."""
    print(json.dumps(record, indent=2))
    return 0


def print_table(title: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table without the columns that are empty."""
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
    """Print text unchanged, wrapped at the terminal's width."""
    _console().print(words, markup=False, highlight=False)


def width() -> int:
    """Characters per line of standard output."""
    return _console().width


def print_tree(root: Any) -> None:
    """Print a plan's tree, with the branch taken in bold."""
    from rich.text import Text
    from rich.tree import Tree

    def drawn(node: Any) -> Tree:
        mark = "* " if node.lit else "  "
        tree = Tree(Text(mark + node.label, style="bold" if node.lit else "dim"))
        tree.children = [drawn(child) for child in node.children]
        return tree

    _console().print(drawn(root))


def _console() -> Any:
    """Standard output. A pipe or a file has no width, so it gets long lines."""
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=200)


def text_of(value: Any) -> str:
    """A value as text for a table: "" for None, yes or no for a bool, names with their entries for a mapping."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {text_of(entry)}" for name, entry in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(text_of, value))
    return str(value)
