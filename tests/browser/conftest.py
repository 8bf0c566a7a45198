"""One JupyterLab for all browser tests, one Chromium for each file, one page for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.pages import Notebook
from tests.browser.servers import VIEWPORT, Server, copy_of_the_course, launch, serving


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = copy_of_the_course(tmp_path_factory.mktemp("course"))
    with serving(folder, tmp_path_factory.mktemp("jupyter")) as running:
        yield running


# Not for the whole session: while Playwright runs, no other asyncio loop (nbclient's) can run in this thread.
@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = launch(playwright, chromium)
        yield running
        running.close()


@pytest.fixture
def notebook(browser: Browser) -> Iterator[Notebook]:
    context = browser.new_context(viewport=VIEWPORT)
    yield Notebook(context.new_page())
    context.close()
