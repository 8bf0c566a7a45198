"""Two executions of a notebook store the same bytes; the linter sees what would make them differ."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tests.sampled import each
from tests.tools import notebooks

CELLS = (
    "import ipywidgets, itertools\nslider = ipywidgets.IntSlider(value=3)\nslider",
    "# NBVAL_CHECK_OUTPUT\nfor part in 'abc':\n    print(part, end='', flush=True)",
    "slider.value = 5\nslider.value",
)


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> Path:
    """A small notebook with a widget, as a person leaves it in JupyterLab, then put through ``write``."""
    path = tmp_path_factory.mktemp("notebooks") / "small.ipynb"
    notebook = new_notebook(cells=[new_markdown_cell("# Small"), *map(new_code_cell, CELLS)])
    notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    nbformat.write(notebook, path)
    assert notebooks.write(path) == []
    return path


@pytest.mark.further
def test_a_second_execution_differs_in_nothing(stored):
    before = stored.read_bytes()
    assert notebooks.check(stored) == []
    assert notebooks.write(stored) == []
    assert stored.read_bytes() == before


def test_outputs_and_counts_are_stored(stored):
    cells = [cell for cell in nbformat.read(stored, as_version=4).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == [1, 2, 3]
    assert cells[0].outputs[0].data[notebooks.WIDGET_VIEW]["model_id"] == notebooks.MODEL_ID
    assert cells[1].outputs == [{"output_type": "stream", "name": "stdout", "text": "abc"}]
    assert cells[2].outputs[0].data["text/plain"] == "5"


def test_the_comment_of_a_compared_cell_becomes_a_tag(stored):
    cells = [cell for cell in nbformat.read(stored, as_version=4).cells if cell.cell_type == "code"]
    assert [cell.metadata.get("tags", []) for cell in cells] == [[], ["nbval-check-output"], []]
    assert cells[1].source.startswith("for part in 'abc':")


@pytest.mark.parametrize(("output", "status"), each(2, [('"abc"', 0), ('"abd"', 1)]))
def test_nbval_compares_the_cells_with_the_tag(stored, tmp_path, output, status):
    """As `make test-notebooks` runs it: one output changed, and it fails."""
    path = tmp_path / "tagged.ipynb"
    path.write_text(stored.read_text().replace('"abc"', output))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval-lax", "--nbval-current-env"]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == status, done.stdout
    assert ("Cell outputs differ" in done.stdout) == bool(status)


def test_check_shows_what_changed(stored, tmp_path):
    path = tmp_path / "changed.ipynb"
    path.write_text(stored.read_text().replace('"abc"', '"abd"'))
    shown = notebooks.check(path)
    assert any(line.startswith("-") and "abd" in line for line in shown)
    assert any(line.startswith("+") and "abc" in line for line in shown)


def test_a_cell_that_raises_leaves_the_file_alone(stored, tmp_path, capsys):
    path = tmp_path / "raises.ipynb"
    path.write_text(stored.read_text().replace("slider.value = 5", "slider.value = 1 / 0"))
    before = path.read_bytes()
    assert notebooks.main(["write", str(path)]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().out
    assert path.read_bytes() == before


def test_cells_keep_their_ids_and_get_one_where_missing():
    notebook = new_notebook(cells=[new_code_cell(str(k), id=f"own-{k}") for k in range(3)])
    notebook.cells[1]["id"] = "own-0"
    del notebook.cells[2]["id"]
    again = notebooks.normalised(notebooks.read(notebooks.text_of(notebook)))
    assert [cell.id for cell in again.cells] == ["own-0", "cell-01", "cell-02"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda nb: nb.metadata.update(widgets={}), "widget state"),
        (lambda nb: nb.cells[2].update(execution_count=None), "not executed once from top to bottom"),
        (lambda nb: nb.cells[2].metadata.update(tags=[]), "no cell is compared"),
        (lambda nb: nb.cells[1].update(source="# NBVAL_CHECK_OUTPUT\nslider"), "not in the stored form"),
        (lambda nb: nb.cells[2].update(outputs=[]), "has no output"),
        (
            lambda nb: nb.cells[2].outputs.append(new_output("stream", name="stderr", text="Careful")),
            "warning or an error",
        ),
        (lambda nb: nb.cells[2].outputs.append(new_output("stream", name="stdout", text="x" * 500_000)), "more than"),
        (lambda nb: nb.cells[2].update(id=nb.cells[1].id), "the id of another"),
        (lambda nb: nb.cells[2].metadata.update(scrolled=True), "not in the stored form"),
        (lambda nb: nb.metadata.language_info.update(version="3.11.7"), "not in the stored form"),
    ],
)
def test_lint_sees(stored, tmp_path, change, problem):
    notebook = nbformat.read(stored, as_version=4)
    change(notebook)
    path = tmp_path / "changed.ipynb"
    path.write_text(notebooks.text_of(notebook))
    found = notebooks.problems(path)
    assert any(problem in sentence for sentence in found), found


def test_lint_is_content_with_what_write_stores(stored, capsys):
    assert notebooks.main(["lint", str(stored)]) == 0
    assert capsys.readouterr().out.startswith("ok")


def test_an_estimated_time_is_not_stored():
    """The model's figures change; the report beside them stays."""
    outputs = [
        nbformat.v4.new_output("display_data", {"text/plain": "the report"}),
        nbformat.v4.new_output("display_data", {"text/plain": "Estimated 2 us"}, metadata={"softlab-estimate": True}),
    ]
    cell = nbformat.v4.new_code_cell("%%cuda", outputs=outputs)
    (left,) = notebooks.normalised(nbformat.v4.new_notebook(cells=[cell])).cells[0].outputs
    assert left.data["text/plain"] == "the report"
