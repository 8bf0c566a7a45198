"""What a test sees and does on a page: pictures, controls, errors, and what leaves the machine."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Locator
from playwright.sync_api import Page as BrowserPage

from tests.browser.servers import HOST, START_SECONDS, Server

#: A cell may compile kernels (3 s with CUB, the first time) on a machine that is busy.
RUN_SECONDS = 180
#: What is not there by then never comes. A busy machine may take ten times as long as a quiet one.
REDRAW_SECONDS = 60
SETTLED_SECONDS = 0.3

CONTROLS = (
    ".widget-slider .noUi-handle",
    ".widget-dropdown select:has(option:nth-child(2))",  # with one option it is a label
    ".widget-toggle-buttons .widget-toggle-button:not(.mod-active)",
    ".widget-radio-box input:not(:checked):not(:disabled)",
    ".widget-checkbox input",
    ".widget-toggle-button:not(.widget-toggle-buttons *)",
    ".widget-button",
    ".softlab-cell[tabindex='0']",  # the first cell of a diagram
    ".softlab-pane:first-child .softlab-code-row:first-child",  # a line of source
)

PICTURE = """area => {
  const shown = JSON.stringify([
    [...area.querySelectorAll('.js-plotly-plot')].map(plot => [plot.data, plot.layout]),
    [...area.querySelectorAll('svg')].filter(svg => !svg.closest('.js-plotly-plot')).map(svg => svg.outerHTML),
    [...area.querySelectorAll('canvas')].map(canvas => canvas.toDataURL()),
    [...area.querySelectorAll('img')].map(image => image.src),
    [...area.querySelectorAll('.widget-html, .jp-RenderedText, .widget-output, [class*=softlab-]')]
        .map(text => text.innerText),
  ]);
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let k = 0; k < shown.length; ++k) {
    high = Math.imul(high ^ shown.charCodeAt(k), 2654435761);
    low = Math.imul(low ^ shown.charCodeAt(k), 1597334677);
  }
  return `${high >>> 0} ${low >>> 0} ${shown.length}`;
}"""
#: Whether an area comes to rest: no change of its elements for a time, in which the page has nothing to compute.
AT_REST = """async (area, [quiet, limit]) => {
  const start = performance.now();
  let last = start;
  const observer = new MutationObserver(() => { last = performance.now(); });
  observer.observe(area, { subtree: true, childList: true, attributes: true, characterData: true });
  try {
    for (;;) {
      await new Promise(resolve => setTimeout(resolve, 50));
      if (!(%s)) last = performance.now();
      if (performance.now() - last >= quiet) return true;
      if (performance.now() - start > limit) return false;
    }
  } finally { observer.disconnect(); }
}"""
#: Seconds until an area shows another picture; null: it is the same after the limit. Looked at after each change.
OTHER_PICTURE = (
    "async (area, [before, limit]) => { const picture = "
    + PICTURE
    + """;
  const start = performance.now();
  while (picture(area) === before) {
    if (performance.now() - start > limit) return null;
    await new Promise(resolve => {
      const observer = new MutationObserver(done);
      const timer = setTimeout(done, 100);
      function done() { observer.disconnect(); clearTimeout(timer); resolve(); }
      observer.observe(area, { subtree: true, childList: true, attributes: true, characterData: true });
    });
  }
  return (performance.now() - start) / 1000;
}"""
)


@dataclass
class Page:
    """A page in the browser. ``console`` has what it reported as errors, ``strangers`` the addresses that it asked for
    outside of 127.0.0.1."""

    page: BrowserPage
    console: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._listeners: dict[str, Callable[[Any], None]] = {
            "console": lambda message: message.type == "error" and self.console.append(message.text),
            "pageerror": lambda error: self.console.append(str(error)),
            "request": lambda request: self._note(request.url),
            "websocket": lambda socket: self._note(socket.url),
        }
        for event, listener in self._listeners.items():
            self.page.on(event, listener)

    def leave(self) -> None:
        """Listen no longer: the page is another test's now."""
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)

    def _note(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob", "about") and parts.hostname != HOST:
            self.strangers.append(url)

    #: Whether nothing is being computed, as far as the page knows: JavaScript.
    IDLE = "true"

    def controls(self, area: Locator) -> list[Locator]:
        """The controls in an area at rest, in the order of the page: sliders' handles, lists, buttons, boxes."""
        return area.locator(", ".join(CONTROLS)).filter(visible=True).all()

    def picture(self, area: Locator) -> str:
        """What an area shows, as a digest: the data of its charts, its diagrams, its images, its text.

        Tests ask for it many times a second. It is up to a megabyte, so it stays in the page, which gives 64 bits of it
        and its length.
        """
        return area.evaluate(PICTURE)

    def settled_picture(self, area: Locator) -> str:
        """What an area shows once it has stopped changing: nothing of an earlier move comes late.

        Raises:
            AssertionError: it still changes, or the kernel is still busy, after ``REDRAW_SECONDS``.
        """
        at_rest = area.evaluate(AT_REST % self.IDLE, [SETTLED_SECONDS * 1000, REDRAW_SECONDS * 1000])
        assert at_rest, "the picture does not come to rest"
        return self.picture(area)

    def operate(self, control: Locator) -> None:
        """Give a control another value, as a person does: by key or click."""
        control.scroll_into_view_if_needed()
        name = control.evaluate("element => element.tagName.toLowerCase()")
        if name == "select":
            other = control.evaluate("element => (element.selectedIndex + 1) % element.options.length")
            control.select_option(index=other)
        elif control.evaluate("element => element.classList.contains('noUi-handle')"):
            control.focus()
            at_end = control.evaluate("handle => handle.ariaValueNow === handle.ariaValueMax")
            control.press("ArrowLeft" if at_end else "ArrowRight")
        else:
            control.click()

    def await_other_picture(self, area: Locator, before: str) -> float:
        """Wait until an area shows something else than before; how long that took, in seconds.

        Raises:
            AssertionError: it is the same after ``REDRAW_SECONDS``.
        """
        seconds = area.evaluate(OTHER_PICTURE, [before, REDRAW_SECONDS * 1000])
        assert seconds is not None, "the picture stays as it is"
        return seconds

    def move_everything(self, area: Locator) -> int:
        """Move each control in an area, and see the picture change each time; how many there were.

        Raises:
            AssertionError: a picture stays as it is, or does not come to rest; the message has the control.
        """
        moved = 0
        while True:
            before = self.settled_picture(area)
            # Looked up each time, because a control may redraw its neighbours.
            controls = self.controls(area)
            if moved >= len(controls):
                return moved
            control = controls[moved]
            name = control.evaluate("element => element.outerHTML.slice(0, 200)")
            self.operate(control)
            try:
                self.await_other_picture(area, before)
            except AssertionError as error:
                raise AssertionError(f"control {moved + 1} of {len(controls)}, {name}: {error}") from None
            moved += 1


class Notebook(Page):
    """A notebook in JupyterLab in a page; a cell's output is an area."""

    IDLE = "jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'"

    def open(self, server: Server, name: str) -> None:
        """Open the notebook as it is stored, and wait for its kernel. JupyterLab is loaded where it is not there."""
        if not self.page.url.startswith(f"{server.url}/lab"):
            self.page.goto(f"{server.url}/lab?reset&token={server.token}")
            self.page.wait_for_function("() => window.jupyterapp?.restored", timeout=START_SECONDS * 1000)
        # A promise that is never kept (a dialog asks for a kernel) would wait for ever: evaluate knows no time limit.
        ready = self.page.evaluate(
            """([name, limit]) => Promise.race([
                (async () => {
                    await jupyterapp.restored;
                    const panel = await jupyterapp.commands.execute('docmanager:open', { path: name });
                    await panel.context.ready;
                    await panel.sessionContext.ready;
                    await panel.sessionContext.session.kernel.info;
                    return jupyterapp.shell.currentWidget === panel;
                })(),
                new Promise(resolve => setTimeout(() => resolve(false), limit)),
            ])""",
            [name, START_SECONDS * 1000],
        )
        assert ready, f"the kernel of {name} is not ready after {START_SECONDS} s"

    def leave(self) -> None:
        """Leave JupyterLab as it was before the first notebook: no document, no kernel, no change that is not saved."""
        super().leave()
        self.page.evaluate(
            """async () => {
                for (const panel of [...jupyterapp.shell.widgets('main')]) {
                    await panel.context?.ready;
                    panel.context && (panel.context.model.dirty = false);
                    await panel.sessionContext?.shutdown();
                    panel.dispose();
                }
            }"""
        )

    def cells(self) -> list[dict[str, Any]]:
        """Every cell: index, type, source, count (executions; None before), errors (their names) and whether it shows
        widgets."""
        return self.page.evaluate(
            """() => jupyterapp.shell.currentWidget.content.widgets.map((cell, index) => {
                const outputs = cell.model.type === 'code' ? cell.model.outputs.toJSON() : [];
                return {
                    index,
                    type: cell.model.type,
                    source: cell.model.sharedModel.getSource(),
                    count: cell.model.executionCount ?? null,
                    errors: outputs.filter(output => output.output_type === 'error').map(output => output.ename),
                    widgets: outputs.some(output => 'application/vnd.jupyter.widget-view+json' in (output.data ?? {})),
                };
            })"""
        )

    def run_all(self) -> list[dict[str, Any]]:
        """Run all cells; the code cells, once each has an execution count (the idle mark alone tells nothing).

        Raises:
            AssertionError: a cell raised, or was not executed in ``RUN_SECONDS``.
        """
        self.page.evaluate("() => { void jupyterapp.commands.execute('notebook:run-all-cells'); }")
        limit = time.monotonic() + RUN_SECONDS
        while True:
            code = [cell for cell in self.cells() if cell["type"] == "code" and cell["source"].strip()]
            failed = [cell for cell in code if cell["errors"]]
            if failed or all(cell["count"] is not None for cell in code) or time.monotonic() > limit:
                break
            self.page.wait_for_timeout(200)
        assert not failed, f"cells that raised: {json.dumps(failed, indent=1)}"
        waiting = [cell for cell in code if cell["count"] is None]
        assert not waiting, f"cells not executed after {RUN_SECONDS} s: {json.dumps(waiting, indent=1)}"
        return code

    def computed(self, code: str) -> str:
        """What the notebook's kernel prints when it runs some code, which leaves no trace in the notebook."""
        return self.page.evaluate(
            """async code => {
                const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel;
                const future = kernel.requestExecute({ code, store_history: false });
                let text = '';
                future.onIOPub = message => { text += message.content.text ?? message.content.evalue ?? ''; };
                await future.done;
                return text;
            }""",
            code,
        )

    def show(self, index: int) -> Locator:
        """Scroll to a cell (JupyterLab draws only those in sight) and return its output area."""
        self.page.evaluate("index => jupyterapp.shell.currentWidget.content.scrollToItem(index, 'start')", index)
        area = self.page.locator(f".jp-Notebook .jp-Cell[data-windowed-list-index='{index}'] .jp-Cell-outputArea")
        area.first.wait_for(state="attached")
        return area.first
