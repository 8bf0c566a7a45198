"""One JupyterLab, one browser and one page for all browser tests of a process: JupyterLab is loaded once.

A test leaves JupyterLab without documents and kernels (``Notebook.leave``). Tests of the app open pages of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright
from playwright.sync_api import Page as BrowserPage

from tests.browser.pages import REDRAW_SECONDS, Notebook
from tests.browser.servers import VIEWPORT, Server, copy_of_the_course, launch, launch_firefox, serving

expect.set_options(timeout=REDRAW_SECONDS * 1000)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = copy_of_the_course(tmp_path_factory.mktemp("course"))
    with serving(folder, tmp_path_factory.mktemp("jupyter")) as running:
        yield running


# Not for the whole session: while Playwright runs, no other asyncio loop (nbclient's) can run in this thread.
@pytest.fixture(scope="package")
def browser(chromium: Path, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        if pytestconfig.getoption("--firefox"):
            running = launch_firefox(playwright, chromium, tmp_path_factory.mktemp("firefox"))
        else:
            running = launch(playwright, chromium)
        yield running
        running.close()


@pytest.fixture(scope="package")
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport=VIEWPORT)
    opened.set_default_timeout(REDRAW_SECONDS * 1000)
    yield opened
    opened.close()


@pytest.fixture(scope="package")
def jupyterlab(context: BrowserContext) -> BrowserPage:
    return context.new_page()


@pytest.fixture
def notebook(jupyterlab: BrowserPage) -> Iterator[Notebook]:
    opened = Notebook(jupyterlab)
    yield opened
    opened.leave()
