"""The explorers of the lessons show the same in whatever order a learner runs the cells."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import nbformat
import pytest

import softlab.explorers
from tests.tools.notebooks import NOTEBOOKS


def made_in_lessons() -> Iterator[str]:
    """Each explorer that a lesson makes without a variable, as its expression, in the order of the lessons."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            lines = [line for line in cell.source.splitlines() if not line.startswith("%")]
            if cell.cell_type != "code" or "Explorer(" not in cell.source or cell.source.startswith("%%"):
                continue
            for node in ast.walk(ast.parse("\n".join(lines))):
                names = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
                if isinstance(node, ast.Call) and len(names) == 1 and names.pop().endswith("Explorer"):
                    yield ast.unparse(node)


EXPLORERS = list(dict.fromkeys(made_in_lessons()))


def shown(order: Sequence[str]) -> dict[str, Any]:
    """What each explorer shows once all are made: its state, its facts and its picture."""
    made = {source: eval(source, vars(softlab.explorers)) for source in order}
    return {source: (one.state, one.summary, one.still()) for source, one in made.items()}


def test_the_lessons_have_many() -> None:
    assert len({source.partition("(")[0] for source in EXPLORERS}) >= 12


@pytest.mark.further
@pytest.mark.slow
def test_any_order_gives_the_same() -> None:
    expected, order = shown(EXPLORERS), Random(15).sample(EXPLORERS, len(EXPLORERS))
    assert order != EXPLORERS
    for source, found in shown(order).items():
        assert found == expected[source], source
