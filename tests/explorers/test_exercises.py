"""The notebooks' exercises: the reference solution is taken as right, plausible wrong ones get a hint."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
START = "00-start-here.ipynb"
COLUMN = "04-column-major-shared-memory.ipynb"
IMPORTS = """
import numpy as np
import softlab
from softlab.explorers import BankExplorer, check
"""


def said(name: str, cell_id: str, replacements: dict[str, str], capsys) -> str:
    """What the exercise's cell prints once the learner has replaced its texts."""
    notebook = nbformat.read(NOTEBOOKS / name, as_version=4)
    source = next(cell.source for cell in notebook.cells if cell.id == cell_id)
    for old, new in replacements.items():
        assert source.count(old) == 1, f"{old!r} stands {source.count(old)} times in {cell_id}"
        source = source.replace(old, new)
    capsys.readouterr()
    exec(compile(IMPORTS + source, cell_id, "exec"), {})
    return capsys.readouterr().out


ANSWERED = [
    (START, "exercise-floor", "16_777_216", "8_388_608"),
    (START, "exercise-longest", "12_272", "24_544"),
    (COLUMN, "exercise-stride", "1", "3"),
    (COLUMN, "exercise-four", "4", "2"),
]


@pytest.mark.parametrize(("name", "cell_id", "right", "wrong"), ANSWERED)
def test_numbers(name, cell_id, right, wrong, capsys):
    assert said(name, cell_id, {}, capsys) == "Not answered yet.\n"
    assert said(name, cell_id, {"answer = None": f"answer = {right}"}, capsys) == "Right.\n"
    assert said(name, cell_id, {"answer = None": f"answer = {wrong}"}, capsys).startswith("Not yet: ")


@pytest.mark.parametrize(
    ("index", "answer"),
    [
        ("i * 256 + threadIdx.x", "Right.\n"),
        ("threadIdx.x * 4 + i", "Not yet: 512. So many sectors"),
        ("i * 256 + (threadIdx.x ^ 5)", "Right.\n"),
        ("threadIdx.x * 4", "Wrong: element 1 is 0.0, and should be 1.0."),
        ("i * 256 + threadIdx.x / 2", "Wrong: element 128 is 0.0, and should be 128.0."),
    ],
)
def test_copy(index, answer, capsys):
    assert said(START, "exercise-copy", {"threadIdx.x * 4 + i": index}, capsys).startswith(answer)


@pytest.mark.parametrize(
    ("declaration", "answer"),
    [
        ("tile[32][33]", "Right.\n"),
        ("tile[32][35]", "Right.\n"),
        ("tile[32][34]", "Not yet: "),
        ("tile[33][32]", "Not yet: 992. So many bank conflicts"),
    ],
)
def test_transpose(declaration, answer, capsys):
    assert said(COLUMN, "exercise-transpose", {"tile[32][32]": declaration}, capsys).startswith(answer)
