"""JupyterLab as a learner has it, for tests: a server of its own, and a notebook open in Chromium.

The server runs on a copy of the notebooks without their stored outputs, so that whatever is on the page was computed
there and then. Settings, runtime files and the token are its own. The browser can reach nothing but 127.0.0.1.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nbformat
from playwright.sync_api import Browser, Locator, Page, Playwright

from softlab.cli.course import lab_command

HOST = "127.0.0.1"
START_SECONDS = 60
#: A cell may compile kernels (3 s with CUB, the first time) on a machine that is busy.
RUN_SECONDS = 180
REDRAW_SECONDS = 20
SETTLED_SECONDS = 0.3
VIEWPORT = {"width": 1280, "height": 800}


@dataclass(frozen=True)
class Server:
    """A running JupyterLab: where it answers, and the folder of notebooks that it shows."""

    url: str
    token: str
    folder: Path

    def status(self, token: str | None) -> int:
        """The HTTP status of ``/api/status``, asked for with a token or without one."""
        headers = {"Authorization": f"token {token}"} if token else {}
        try:
            with urllib.request.urlopen(urllib.request.Request(f"{self.url}/api/status", headers=headers)) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code


@contextmanager
def serving(folder: Path, scratch: Path) -> Iterator[Server]:
    """JupyterLab on a folder, with an empty configuration kept in ``scratch``."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    server = Server(f"http://{HOST}:{port}", secrets.token_hex(24), folder)
    # The very command that `make lab` runs, and what a test needs besides.
    options = ["--no-browser", "--expose-app-in-browser", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    command = lab_command(folder, "", options)
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    environment = {**os.environ, **{place: str(scratch / place.lower()) for place in places}}
    environment["JUPYTER_TOKEN"] = server.token
    log = scratch / "jupyterlab.log"
    with log.open("w") as stream:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT
        )
        try:
            _await(server, process, log)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _await(server: Server, process: subprocess.Popen[Any], log: Path) -> None:
    limit = time.monotonic() + START_SECONDS
    while time.monotonic() < limit:
        if process.poll() is not None:
            break
        try:
            if server.status(server.token) == 200:
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"JupyterLab does not answer on {server.url}:\n{log.read_text()[-3000:]}")


def copy_without_outputs(path: Path, folder: Path) -> Path:
    """A copy of a notebook as if it had never been run."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    copy = folder / path.name
    nbformat.write(notebook, copy)
    return copy


def launch(playwright: Playwright, chromium: Path) -> Browser:
    """Chromium, headless, that finds no host but 127.0.0.1."""
    options = [f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {HOST}"]
    if os.name == "posix" and os.getuid() == 0:
        options.append("--no-sandbox")  # Chromium refuses to run its sandbox as root
    return playwright.chromium.launch(executable_path=chromium, args=options)


@dataclass
class Notebook:
    """A notebook in JupyterLab in a page. ``console`` has what the page reported as errors, ``strangers`` the
    addresses it asked for outside of 127.0.0.1."""

    page: Page
    console: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", lambda message: message.type == "error" and self.console.append(message.text))
        self.page.on("pageerror", lambda error: self.console.append(str(error)))
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("websocket", lambda socket: self._note(socket.url))

    def _note(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob", "about") and parts.hostname != HOST:
            self.strangers.append(url)

    def open(self, server: Server, name: str) -> None:
        """Open the notebook and wait for its kernel."""
        self.page.goto(f"{server.url}/lab/tree/{name}?reset&token={server.token}")
        self.page.wait_for_function(
            "name => window.jupyterapp?.shell?.currentWidget?.context?.path === name",
            arg=name,
            timeout=START_SECONDS * 1000,
        )
        # A promise that is never kept (a dialog asks for a kernel) would wait for ever: evaluate knows no time limit.
        ready = self.page.evaluate(
            """limit => Promise.race([
                (async () => {
                    await jupyterapp.restored;
                    const panel = jupyterapp.shell.currentWidget;
                    await panel.context.ready;
                    await panel.sessionContext.ready;
                    await panel.sessionContext.session.kernel.info;
                    return true;
                })(),
                new Promise(resolve => setTimeout(() => resolve(false), limit)),
            ])""",
            START_SECONDS * 1000,
        )
        assert ready, f"the kernel of {name} is not ready after {START_SECONDS} s"

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

    def show(self, index: int) -> Locator:
        """Scroll to a cell (JupyterLab draws only those in sight) and return its output area."""
        self.page.evaluate("index => jupyterapp.shell.currentWidget.content.scrollToItem(index, 'start')", index)
        area = self.page.locator(f".jp-Notebook .jp-Cell[data-windowed-list-index='{index}'] .jp-Cell-outputArea")
        area.first.wait_for(state="attached")
        return area.first

    def controls(self, index: int) -> list[Locator]:
        """The controls in a cell's output, in the order of the page: sliders' handles, lists, buttons and boxes."""
        area = self.show(index)
        area.page.wait_for_timeout(200)
        return area.locator(", ".join(CONTROLS)).filter(visible=True).all()

    def picture(self, index: int) -> str:
        """What a cell's output shows: the data of its charts, its diagrams, its images, its text."""
        return self.show(index).evaluate(
            """area => JSON.stringify([
                [...area.querySelectorAll('.js-plotly-plot')].map(plot => [plot.data, plot.layout]),
                [...area.querySelectorAll('svg')].filter(svg => !svg.closest('.js-plotly-plot'))
                    .map(svg => svg.outerHTML),
                [...area.querySelectorAll('canvas')].map(canvas => canvas.toDataURL()),
                [...area.querySelectorAll('img')].map(image => image.src),
                [...area.querySelectorAll('.widget-html, .jp-RenderedText, .widget-output')]
                    .map(text => text.innerText),
            ])"""
        )

    def settled_picture(self, index: int) -> str:
        """What a cell's output shows once it has stopped changing: nothing of an earlier move comes late."""
        limit = time.monotonic() + REDRAW_SECONDS
        shown, since = self.picture(index), time.monotonic()
        while time.monotonic() - since < SETTLED_SECONDS:
            assert time.monotonic() < limit, f"the output of cell {index} does not come to rest"
            self.page.wait_for_timeout(50)
            if (now := self.picture(index)) != shown or not self._idle():
                shown, since = now, time.monotonic()
        return shown

    def _idle(self) -> bool:
        return self.page.evaluate("jupyterapp.shell.currentWidget.sessionContext.session.kernel.status") == "idle"

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

    def await_other_picture(self, index: int, before: str) -> float:
        """Wait until a cell's output shows something else than before; how long that took, in seconds.

        Raises:
            AssertionError: it is the same after ``REDRAW_SECONDS``.
        """
        start = time.perf_counter()
        while self.picture(index) == before:
            assert time.perf_counter() - start < REDRAW_SECONDS, f"the output of cell {index} stays as it is"
            self.page.wait_for_timeout(20)
        return time.perf_counter() - start


CONTROLS = (
    ".widget-slider .noUi-handle",
    ".widget-dropdown select",
    ".widget-toggle-buttons .widget-toggle-button:not(.mod-active)",
    ".widget-radio-box input:not(:checked)",
    ".widget-checkbox input",
    ".widget-toggle-button:not(.widget-toggle-buttons *)",
    ".widget-button",
    ".softlab-cell[tabindex='0']",  # the first cell of a diagram
)
