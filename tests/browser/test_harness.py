"""The harness itself, on notebooks made here: it sees what runs, moves, fails, and what leaves the machine."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tests.tools.notebooks import NOTEBOOK_METADATA

pytestmark = pytest.mark.browser

SLIDER = """\
import ipywidgets
import plotly.graph_objects as go

slider = ipywidgets.IntSlider(value=2, min=1, max=3)
switch = ipywidgets.ToggleButtons(options=["row", "column"])
kind = ipywidgets.Dropdown(options=["float16", "float32"])
figure = go.FigureWidget(go.Figure(go.Bar(y=[2, 0, 0])))


def draw(change):
    figure.data[0].y = [slider.value, switch.index, kind.index]


for control in (slider, switch, kind):
    control.observe(draw, "value")
ipywidgets.VBox([slider, switch, kind, figure])
"""
IDLE_SLIDER = "ipywidgets.IntSlider(value=1)"


def store(server, name, *sources):
    cells = [new_markdown_cell("# Made by a test"), *map(new_code_cell, sources)]
    # Without a kernel named, JupyterLab would ask for one.
    nbformat.write(new_notebook(cells=cells, metadata=NOTEBOOK_METADATA), server.folder / name)


def test_the_server_wants_its_token(server):
    assert server.status("/api/status", server.token) == 200
    assert server.status("/api/status", None) == 403
    assert server.status("/api/status", "wrong") == 403


def test_controls_move_the_picture(server, notebook):
    store(server, "moves.ipynb", SLIDER, "print(figure.data[0].y)")
    notebook.open(server, "moves.ipynb")
    assert [cell["count"] for cell in notebook.run_all()] == [1, 2]
    notebook.settled_picture(notebook.show(1))
    controls = notebook.controls(notebook.show(1))
    assert len(controls) == 3
    for control, data in zip(controls, ("[3,0,0]", "[3,1,0]", "[3,1,1]"), strict=True):
        before = notebook.settled_picture(notebook.show(1))
        notebook.operate(control)
        notebook.await_other_picture(notebook.show(1), before)
        drawn = notebook.page.evaluate("JSON.stringify([...document.querySelector('.js-plotly-plot').data[0].y])")
        assert drawn == data
    assert (notebook.console, notebook.strangers) == ([], [])


def test_no_news_popup(server, notebook):
    store(server, "quiet.ipynb", "1")
    notebook.open(server, "quiet.ipynb")
    notebook.run_all()
    assert notebook.page.locator(".Toastify__toast, .jp-Notification-List .jp-Notification-Item").count() == 0


def test_a_slider_without_effect_is_found(server, notebook, monkeypatch):
    monkeypatch.setattr("tests.browser.pages.REDRAW_SECONDS", 1)
    store(server, "idle.ipynb", "import ipywidgets", IDLE_SLIDER)
    notebook.open(server, "idle.ipynb")
    notebook.run_all()
    before = notebook.settled_picture(notebook.show(2))
    (handle,) = notebook.controls(notebook.show(2))
    notebook.operate(handle)
    with pytest.raises(AssertionError, match="stays as it is"):
        notebook.await_other_picture(notebook.show(2), before)


def test_a_cell_that_raises_is_found(server, notebook):
    store(server, "raises.ipynb", "1 / 0", "2")
    notebook.open(server, "raises.ipynb")
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        notebook.run_all()


def test_a_request_to_another_host_is_found(server, notebook):
    store(server, "leaves.ipynb", "from IPython.display import HTML\nHTML('<img src=\"https://example.org/a.png\">')")
    notebook.open(server, "leaves.ipynb")
    notebook.run_all()
    notebook.show(1)
    notebook.page.wait_for_timeout(500)
    assert set(notebook.strangers) == {"https://example.org/a.png"}
    assert any("ERR_NAME_NOT_RESOLVED" in line for line in notebook.console)
