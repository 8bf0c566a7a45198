"""Every notebook of the course, as a learner has it: opened, run, each control moved, each picture seen to change."""

from __future__ import annotations

import pytest

from tests.browser.conftest import COURSE

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", sorted(path.name for path in COURSE.glob("*.ipynb")))
def test_notebook(server, notebook, name):
    notebook.open(server, name)
    cells = notebook.run_all()
    moved = [move_everything(notebook, cell["index"]) for cell in cells if cell["widgets"]]
    assert sum(moved), f"{name} has no control that a learner can move"
    assert notebook.console == []
    assert notebook.strangers == []


def move_everything(notebook, index) -> int:
    """Move each control in a cell's output, and see its picture change each time; how many there were."""
    moved = 0
    while True:
        # Looked up anew each time: a control may redraw its neighbours.
        controls = notebook.controls(index)
        if moved >= len(controls):
            return moved
        before = notebook.settled_picture(index)
        notebook.operate(controls[moved])
        notebook.await_other_picture(index, before)
        moved += 1
