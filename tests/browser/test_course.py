"""Every notebook of the course, as a learner has it: opened, run, each control moved, each picture seen to change."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from tests.browser.servers import VIEWPORT
from tests.sampled import sampled
from tests.tools.notebooks import NOTEBOOK_METADATA, NOTEBOOKS

pytestmark = pytest.mark.browser

#: Prints each explorer that no longer shows what its cell displayed.
OTHER_STATES = """
import gc
from softlab.explorers import Prediction
from softlab.explorers.explorer import Explorer
for found in [o for o in gc.get_objects() if isinstance(o, Explorer) and not isinstance(o, Prediction)]:
    if found.displayed not in (None, found.state):
        print(found, "was displayed as", found.displayed)
"""


#: `.ci/run` leaves these out, because they take longest. Their cells are run by `make test-notebooks`, and
#: their explorers are moved in ``test_every_explorer``.
LONG = ("05", "09", "10", "12", "14")


@pytest.mark.parametrize(
    "name", sampled(sorted(path.name for path in NOTEBOOKS.glob("*.ipynb")), lambda name: not name.startswith(LONG))
)
def test_notebook(server, notebook, name):
    notebook.open(server, name)
    cells = notebook.run_all()
    assert notebook.computed(OTHER_STATES) == "", "a later cell changed the picture of an earlier one"
    moved = [notebook.move_everything(notebook.show(cell["index"])) for cell in cells if cell["widgets"]]
    assert sum(moved), f"{name} has no control that a learner can move"
    assert notebook.console == []
    assert notebook.strangers == []


#: Its module takes three seconds to load, as plotly's does on a slow computer.
SLOW_WIDGET = """\
import anywidget


class Slow(anywidget.AnyWidget):
    _esm = '''
    await new Promise(resolve => setTimeout(resolve, 3000));
    export default { render({ el }) { el.textContent = "here after all"; } };
    '''


Slow()
"""


def test_a_widget_that_loads_slowly_is_shown(server, notebook):
    slow = new_notebook(cells=[new_code_cell(SLOW_WIDGET)], metadata=NOTEBOOK_METADATA)
    nbformat.write(slow, server.folder / "slow.ipynb")
    notebook.open(server, "slow.ipynb")
    notebook.run_all()
    expect(notebook.show(0)).to_contain_text("here after all")
    assert notebook.console == []


@pytest.mark.parametrize(
    ("name", "link", "words"),
    [
        ("00-start-here.ipynb", "kernels/README.md", "Special values"),
        ("04-column-major-shared-memory.ipynb", "kernels/softmax_block_smem.cuh", "__shared__"),
    ],
)
def test_a_link_to_the_kernels_opens_them(server, notebook, name, link, words):
    notebook.open(server, name)
    last = notebook.page.evaluate("jupyterapp.shell.currentWidget.content.widgets.length - 1")
    notebook.page.evaluate("index => jupyterapp.shell.currentWidget.content.scrollToItem(index, 'start')", last)
    notebook.page.locator(f".jp-RenderedMarkdown a[href*='{link.rpartition('/')[2]}']").last.click()
    panel = notebook.page.locator("#jp-main-dock-panel .lm-DockPanel-widget:visible").last
    expect(panel).to_contain_text(words)
    assert notebook.console == []
    assert notebook.strangers == []


def test_an_exercise_is_answered(server, notebook):
    """A learner types an answer, runs the cell, and sees the verdict with the progress."""
    notebook.open(server, "00-start-here.ipynb")
    cells = {cell["source"]: cell["index"] for cell in notebook.run_all()}
    (index,) = (index for source, index in cells.items() if "00-half-the-bytes" in source)
    area = notebook.show(index)
    expect(area.locator(".softlab-unanswered")).to_be_visible()
    for answer, state in ((16_777_216, "right"), (8_388_608, "wrong")):
        notebook.page.evaluate(
            """([index, answer]) => {
                const content = jupyterapp.shell.currentWidget.content;
                const source = content.widgets[index].model.sharedModel;
                source.setSource(source.getSource().replace(/answer = .*/, `answer = ${answer}`));
                content.deselectAll();
                content.activeCellIndex = index;
                void jupyterapp.commands.execute('notebook:run-cell');
            }""",
            [index, answer],
        )
        verdict = notebook.show(index).locator(f".softlab-{state}")
        expect(verdict).to_contain_text("in this notebook")
        expect(verdict).to_contain_text("in the course")
    assert notebook.console == []


def test_the_file_browser_shows_the_lessons_and_what_they_link_to(server, notebook):
    """No solutions, tests or files of git are within reach, and the names are shown whole."""
    notebook.open(server, "00-start-here.ipynb")
    cut = """() => [...document.querySelectorAll('.jp-DirListing-itemText')]
        .filter(name => name.scrollWidth > name.clientWidth).map(name => name.innerText)"""
    notebook.page.wait_for_function(f"() => ({cut})().length === 0")
    notebook.page.set_viewport_size({"width": 900, "height": 800})
    narrow = notebook.page.evaluate(cut)
    notebook.page.set_viewport_size(VIEWPORT)
    assert narrow == [], "where there is less room a name takes two lines"
    listed = notebook.page.evaluate(
        """async () => (await jupyterapp.serviceManager.contents.get('')).content.map(entry => entry.name)"""
    )
    others = set(listed) - {path.name for path in NOTEBOOKS.glob("*.ipynb")}
    assert {"00-start-here.ipynb", "13-write-your-own-kernel.ipynb"} <= set(listed)
    # Other tests of this session store small notebooks there.
    assert {name for name in others if not name.endswith(".ipynb")} == {"kernels", "sources"}


def test_nothing_is_answered_before_it_is_asked(server, notebook):
    """A lesson as it opens: no output stands below any cell."""
    notebook.open(server, "00-start-here.ipynb")
    assert [cell["index"] for cell in notebook.cells() if cell["widgets"] or cell["count"]] == []
    assert notebook.page.locator(".jp-Notebook .jp-OutputArea-child").count() == 0


def test_a_prediction_becomes_a_verdict_with_its_reason(server, notebook):
    notebook.open(server, "04-column-major-shared-memory.ipynb")
    code = {cell["source"]: cell["index"] for cell in notebook.cells() if cell["type"] == "code"}
    asked = next(index for source, index in code.items() if "course.prediction" in source)
    compared = next(index for source, index in code.items() if ".compare(" in source)

    def run_to(index):
        notebook.page.evaluate(
            """async ([first, last]) => {
                const content = jupyterapp.shell.currentWidget.content;
                for (let k = first; k <= last; ++k) {
                    content.deselectAll();
                    content.activeCellIndex = k;
                    await jupyterapp.commands.execute('notebook:run-cell');
                }
            }""",
            [0 if index == asked else asked + 1, index],
        )

    run_to(asked)
    question = notebook.show(asked)
    question.get_by_text("1 wavefront", exact=True).click()
    expect(question).to_contain_text("Noted: 1 wavefront")
    run_to(compared)
    for index in (asked, compared):
        verdict = notebook.show(index).locator(".softlab-verdict")
        expect(verdict).to_contain_text(
            "The experiment shows: 2 wavefronts. You predicted: 1 wavefront.", timeout=30_000
        )
        expect(verdict).to_contain_text("a bank serves one word per wavefront")
    assert notebook.console == []


COLOURS = """() => jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model.mimeType)"""


def test_cuda_cells_are_coloured_as_cplusplus(server, notebook):
    """Also a cell that becomes one while a learner types, and after the kernel has told its own language."""
    kernel = 'extern "C" __global__ void copy(const float* x, float* y) {\n  int k = 1;  // C\n}'
    source = [f"%%exercise 00-copy\n{kernel}", "x = 1  # Python", "int_ = 2"]
    nbformat.write(
        new_notebook(cells=[new_code_cell(text) for text in source], metadata=NOTEBOOK_METADATA),
        server.folder / "colours.ipynb",
    )
    notebook.open(server, "colours.ipynb")
    notebook.page.wait_for_function(f"({COLOURS})()[0] === 'text/x-c++src'")
    assert notebook.page.evaluate(COLOURS) == ["text/x-c++src", "text/x-ipython", "text/x-ipython"]
    editor = notebook.page.locator(".jp-Cell[data-windowed-list-index='0'] .cm-content")
    # In C++ `//` begins a comment, and has a colour of its own; in Python it divides.
    comment = editor.locator("span", has_text="// C")
    expect(comment).to_have_count(1)
    colour = "element => getComputedStyle(element).color"
    assert comment.evaluate(colour) != editor.evaluate(colour)
    for text, expected in (("%%cuda --block 32\nint", "text/x-c++src"), ("x = 2", "text/x-ipython")):
        notebook.page.evaluate(
            "text => jupyterapp.shell.currentWidget.content.widgets[2].model.sharedModel.setSource(text)", text
        )
        notebook.page.wait_for_function(f"expected => ({COLOURS})()[2] === expected", arg=expected)
    assert notebook.console == []


def test_a_word_is_explained_by_hovering_and_by_key(server, notebook):
    notebook.open(server, "0-first-kernel.ipynb")
    word = notebook.page.locator(".jp-RenderedMarkdown a.softlab-word", has_text="kernel").first
    expect(word).to_have_attribute("title", "A function that runs on the GPU, in many threads at once.")
    after = "element => getComputedStyle(element, '::after').content"
    assert word.evaluate(after) == "none"
    previous = notebook.page.locator(".jp-RenderedMarkdown a").first
    previous.focus()
    for _ in range(20):  # a key reaches it, without a mouse
        if word.evaluate("element => element === document.activeElement"):
            break
        notebook.page.keyboard.press("Tab")
    assert "runs on the GPU" in word.evaluate(after)
    word.click()
    page = notebook.page.locator(".jp-MarkdownViewer h2", has_text="The hardware")
    expect(page).to_be_visible(timeout=20_000)  # the glossary, as a page and not as its source
    assert notebook.console == []
