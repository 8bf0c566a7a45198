"""Pictures of what learners see, in JupyterLab.

    python -m tests.tools.screenshots readme       the README's: notebooks/images/<notebook>.png
    python -m tests.tools.screenshots explorers    every explorer, light and dark: build/explorers/<name>-<theme>.png
    python -m tests.tools.screenshots              both                                  (make screenshots)

Look at them before they are committed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, Locator, sync_playwright

from softlab.cli import doctor
from softlab.explorers.gallery import catalogue
from tests.browser.pages import Notebook
from tests.browser.servers import VIEWPORT, Server, copy_of_the_course, launch, serving
from tests.tools.notebooks import NOTEBOOK_METADATA, NOTEBOOKS

IMAGES = NOTEBOOKS / "images"
BUILT = NOTEBOOKS.parent / "build" / "explorers"
#: A README is read on slow lines, too, and git keeps every picture for ever.
MOST_BYTES = 300_000
#: Notebook that the README shows -> the switch to set before the picture is taken, where the one that the notebook ends
#: with shows less.
SHOWN = {
    "00-start-here.ipynb": "",
    "04-column-major-shared-memory.ipynb": "row_scalar",
    "09-dispatch.ipynb": "",
}
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
#: Explorers are taken whole.
TALL = {"width": 1280, "height": 1300}
#: The page settles: charts fade in, the menu closes.
SETTLE_MS = 1500


@contextmanager
def opened(browser: Browser, server: Server, name: str, viewport: Mapping[str, int] = VIEWPORT) -> Iterator[Notebook]:
    """A notebook that has been run, alone on the page: no file browser at its side."""
    context = browser.new_context(viewport=dict(viewport))
    notebook = Notebook(context.new_page())
    notebook.open(server, name)
    notebook.run_all()
    notebook.page.evaluate("() => jupyterapp.shell.collapseLeft()")
    yield notebook
    context.close()


def stored(area: Locator, path: Path) -> Path:
    """Take the picture once the page has settled."""
    area.page.wait_for_timeout(SETTLE_MS)
    path.parent.mkdir(parents=True, exist_ok=True)
    area.screenshot(path=path)
    return path


def of_the_readme(browser: Browser, server: Server) -> Iterator[Path]:
    """Each notebook that the README shows, at the cell with the most controls."""
    for name, switch in SHOWN.items():
        with opened(browser, server, name) as notebook:
            shown = [cell["index"] for cell in notebook.cells() if cell["widgets"]]
            for index in shown:
                notebook.settled_picture(notebook.show(index))
            counts = {index: len(notebook.controls(notebook.show(index))) for index in shown}
            area = notebook.show(max(counts, key=lambda index: counts[index]))
            if switch:
                area.get_by_role("button", name=switch, exact=True).click()
            yield stored(notebook.page.locator(".jp-NotebookPanel"), IMAGES / f"{Path(name).stem}.png")


def of_explorers(browser: Browser, server: Server) -> Iterator[Path]:
    """Every explorer as its example, in both themes."""
    explorers = catalogue()
    cells = [f"from softlab.explorers import *\n{cls.__name__}.example()" for cls in explorers.values()]
    written = new_notebook(cells=[new_code_cell(cell) for cell in cells], metadata=NOTEBOOK_METADATA)
    nbformat.write(written, server.folder / "explorers.ipynb")
    with opened(browser, server, "explorers.ipynb", TALL) as notebook:
        for theme, title in THEMES.items():
            notebook.page.evaluate("theme => jupyterapp.commands.execute('apputils:change-theme', { theme })", title)
            for index, name in enumerate(explorers):
                area = notebook.show(index)
                yield stored(area, BUILT / f"{name.lower().replace(' ', '-')}-{theme}.png")


KINDS = {"readme": of_the_readme, "explorers": of_explorers}


def main(arguments: Sequence[str] | None = None) -> int:
    """Take the pictures; 1 when one of the README's is too big or there is no Chromium."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kinds", nargs="*", help=f"{' or '.join(KINDS)} (default: both)")
    options = parser.parse_args(arguments)
    if unknown := set(options.kinds) - set(KINDS):
        parser.error(f"no kind {', '.join(unknown)}: there are {', '.join(KINDS)}")
    chromium = doctor.chromium()
    if chromium is None:
        print("No Chromium found: apt-get install chromium, or playwright install chromium", file=sys.stderr)
        return 1
    status = 0
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as scratch:
        copy_of_the_course(Path(folder))
        with serving(Path(folder), Path(scratch)) as server, sync_playwright() as playwright:
            browser = launch(playwright, chromium)
            for kind in options.kinds or KINDS:
                for picture in KINDS[kind](browser, server):
                    size = picture.stat().st_size
                    print(f"{picture.relative_to(NOTEBOOKS.parent)}: {size // 1000} kB", flush=True)
                    if picture.parent == IMAGES and size > MOST_BYTES:
                        print(f"{picture.name} has more than {MOST_BYTES // 1000} kB", file=sys.stderr)
                        status = 1
            browser.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
