"""The scrubbed row in the page: one slider moves the numbers, to and fro."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from tests.tools.notebooks import NOTEBOOK_METADATA

pytestmark = pytest.mark.browser


def test_the_row_is_scrubbed_by_one_slider(server, notebook):
    cells = [new_code_cell("from softlab.explorers import RowExplorer\nrow = RowExplorer(2)\nrow")]
    nbformat.write(new_notebook(cells=cells, metadata=NOTEBOOK_METADATA), server.folder / "row.ipynb")
    notebook.open(server, "row.ipynb")
    notebook.run_all()
    area = notebook.show(0)
    lanes = area.locator(".softlab-row-flow .softlab-got text")
    expect(area.locator(".softlab-note")).to_contain_text("each of the 32 lanes has one number")
    assert len(set(lanes.all_text_contents())) > 15
    handle = area.locator(".widget-slider .noUi-handle")
    handle.focus()
    for _ in range(5):
        handle.press("ArrowRight")
    flying = area.locator(".softlab-row-flow .softlab-flying[opacity='1.00']")
    expect(flying).to_have_count(32)
    for _ in range(45):
        handle.press("ArrowRight")
    expect(area.locator(".softlab-note")).to_contain_text("Shuffle 5 of 5")
    expect(flying).to_have_count(0)
    assert len(set(lanes.all_text_contents())) == 1, "all lanes know the largest number"
    expect(area.locator(".softlab-stage.softlab-now")).to_have_text("largest: 5 shuffles")
    handle.press("Home")
    expect(area.locator(".softlab-note")).to_contain_text("A row of 32 numbers lies in DRAM")
    assert (notebook.console, notebook.strangers) == ([], [])
