"""The diagrams in the page: the butterfly plays, values travel and arrive, a cell shows where it comes from; idle bytes
belong to no lane."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.tools.notebooks import NOTEBOOK_METADATA

pytestmark = pytest.mark.browser

BUTTERFLY = "from softlab.explorers import ShuffleExplorer\nexplorer = ShuffleExplorer(8)\nexplorer"
PACKS = "from softlab.explorers import PackExplorer\nexplorer = PackExplorer(cols=256, pack=1, offset=3)\nexplorer"


@pytest.fixture
def opened(server, notebook):
    """A function that runs one cell in JupyterLab and gives its output."""

    def open_(name: str, source: str):
        cells = [new_code_cell(source)]
        nbformat.write(new_notebook(cells=cells, metadata=NOTEBOOK_METADATA), server.folder / name)
        notebook.open(server, name)
        notebook.run_all()
        return notebook.show(0)

    yield open_
    assert (notebook.console, notebook.strangers) == ([], [])


def hidden_cells(area) -> int:
    return area.locator(".softlab-butterfly .softlab-cell.softlab-future").count()


def test_the_butterfly_plays_to_its_end(opened, notebook):
    area = opened("butterfly.ipynb", BUTTERFLY)
    area.locator(".softlab-butterfly svg").wait_for()
    assert hidden_cells(area) == 3 * 32, "only the first row is known"
    area.locator(".widget-play button").first.click()
    area.locator(".widget-play .fa-pause").wait_for()
    area.locator(".softlab-butterfly .softlab-flying").first.wait_for(state="attached")
    notebook.page.wait_for_function("document.querySelectorAll('.softlab-butterfly .softlab-future').length === 0")
    notebook.page.wait_for_function("document.querySelectorAll('.softlab-butterfly .softlab-flying').length === 0")
    texts = area.locator(".softlab-butterfly [data-level='3'] text").all_inner_texts()
    assert len(texts) == 32
    assert [len(set(texts[group : group + 8])) for group in range(0, 32, 8)] == [1, 1, 1, 1]
    # The clock runs for one more interval after the last step, and then tells the kernel that it has stopped.
    area.locator(".widget-play .fa-play").wait_for()


def test_a_cell_shows_where_it_comes_from(opened, notebook):
    area = opened("origins.ipynb", BUTTERFLY.replace("(8)\n", "(8)\nexplorer.step = 3\n"))
    area.locator(".softlab-butterfly [data-level='3'][data-lane='12']").click()
    marked = area.locator(".softlab-butterfly .softlab-cell.softlab-origin")
    notebook.page.wait_for_function("document.querySelectorAll('.softlab-cell.softlab-origin').length === 15")
    lanes = [
        int(marked.nth(k).get_attribute("data-lane"))
        for k in range(marked.count())
        if marked.nth(k).get_attribute("data-level") == "0"
    ]
    assert sorted(lanes) == list(range(8, 16)), "all of its group, none of another"
    assert "lane 12 holds" in area.locator(".softlab-butterfly .softlab-note").inner_text()
    area.locator(".softlab-butterfly [data-level='3'][data-lane='12']").click()
    notebook.page.wait_for_function("document.querySelectorAll('.softlab-cell.softlab-origin').length === 0")


def test_steps_back_and_forth_leave_nothing_in_the_air(opened, notebook):
    area = opened("steps.ipynb", BUTTERFLY)
    handle = area.locator(".widget-slider .noUi-handle").first
    handle.focus()
    # The last step is shown only once: to wait for it is to wait for every key.
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowRight", "ArrowRight"):
        handle.press(key)
    notebook.page.wait_for_function("document.querySelectorAll('.softlab-butterfly .softlab-future').length === 0")
    notebook.page.wait_for_function("document.querySelectorAll('.softlab-butterfly .softlab-flying').length === 0")
    now = area.locator(".softlab-butterfly .softlab-edge.softlab-now")
    assert {now.nth(k).get_attribute("data-step") for k in range(3)} == {"3"}


def test_idle_bytes_belong_to_no_lane(opened, notebook):
    area = opened("idle.ipynb", PACKS)
    idle = area.locator(".softlab-cell[data-role='idle']")
    idle.first.wait_for()
    assert idle.count() == 2
    idle.first.click()
    assert area.locator(".softlab-selected").count() == 0
    area.locator(".softlab-cell[data-lanes='5']").click()
    notebook.page.wait_for_function("document.querySelectorAll('.softlab-selected').length === 1")
    assert "lane 5 reads byte 32" in area.locator(".softlab-note").inner_text()
