"""The stepper in the page: ``%%cuda --step``, a step by key and by button, a question by click, another warp."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from tests.tools.notebooks import NOTEBOOK_METADATA

pytestmark = pytest.mark.browser

NAMES = "%load_ext softlab\nimport numpy as np\nx, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)"
CELL = """%%cuda --block 64 --args x,y --step --no-estimate
extern "C" __global__ void pair(const float* x, float* y) {
  __shared__ float part[2];
  float v = x[threadIdx.x];
  v += __shfl_xor_sync(0xffffffff, v, 1);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  y[threadIdx.x] = v / part[1 - threadIdx.x / 32];
}"""


def test_a_cell_is_stepped_through(server, notebook):
    cells = [new_code_cell(source) for source in (NAMES, CELL)]
    nbformat.write(new_notebook(cells=cells, metadata=NOTEBOOK_METADATA), server.folder / "stepper.ipynb")
    notebook.open(server, "stepper.ipynb")
    notebook.run_all()
    area = notebook.show(1).locator(".softlab-stepper")
    area.wait_for()
    now, sentence = area.locator(".softlab-listing:first-child .softlab-now"), area.locator(".softlab-sentence")
    shuffle = area.locator(".softlab-listing .softlab-line", has_text="shfl.sync")
    grid = area.locator("svg.softlab-grid")
    size = grid.get_attribute("viewBox") or ""
    # By keys to the shuffle, by button one back and one on.
    handle = notebook.show(1).locator(".widget-slider .noUi-handle").first
    handle.focus()
    for _ in range(40):
        if "softlab-now" in (shuffle.get_attribute("class") or ""):
            break
        before = sentence.inner_text()
        handle.press("ArrowRight")
        expect(sentence).not_to_have_text(before)
    expect(now).to_contain_text("v += __shfl_xor_sync")
    expect(grid).to_have_attribute("viewBox", size)  # the height does not jump when there are more registers
    written = area.locator(".softlab-writes[data-lane='6']").first
    expect(written.locator("text")).to_have_text("7")
    area.locator(".softlab-button[title='One step back']").click()
    expect(shuffle).not_to_have_class("softlab-line softlab-now")
    area.locator(".softlab-button[title='One step on']").click()
    expect(shuffle).to_have_class("softlab-line softlab-now")
    # Where the value comes from: another lane, and in the end the array.
    written.click()
    chain = area.locator(".softlab-link")
    expect(chain.first).to_contain_text("Lane 6 took it from lane 7.")
    for link in range(1, 5):
        if "as it was before the launch" in chain.last.inner_text():
            break
        chain.last.locator(".softlab-inputs .softlab-button").first.click()
        expect(chain).to_have_count(link + 1)
    expect(chain.last).to_contain_text("x[7] = 7.0")
    # What another warp wrote, and its step there.
    area.get_by_text("line »").click()
    area.get_by_text("line »").click()
    area.get_by_text("line »").click()
    area.locator("[data-address='4']").click()
    chain.last.get_by_text("go to that step of warp 1").click()
    expect(area.locator(".softlab-listing:last-child .softlab-now")).to_contain_text("st.shared.f32")
    expect(area.locator("[data-address='4'] .softlab-who")).to_have_text("t32")
    assert (notebook.console, notebook.strangers) == ([], [])
