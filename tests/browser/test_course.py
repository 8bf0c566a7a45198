"""Every notebook of the course, as a learner has it: opened, run, each control moved, each picture seen to change."""

from __future__ import annotations

import pytest

from tests.browser.conftest import COURSE

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", sorted(path.name for path in COURSE.glob("*.ipynb")))
def test_notebook(server, notebook, name):
    notebook.open(server, name)
    cells = notebook.run_all()
    assert cells, f"{name} has no code"
    for cell in cells:
        index = cell["index"]
        for position in range(len(notebook.controls(index))):
            # Looked up anew: a control may redraw its neighbours, or take its own place in the list.
            controls = notebook.controls(index)
            if position >= len(controls):
                break
            before = notebook.picture(index)
            notebook.operate(controls[position])
            notebook.await_other_picture(index, before)
    assert notebook.console == []
    assert notebook.strangers == []
