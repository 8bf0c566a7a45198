"""The pictures of the README: each notebook in JupyterLab, run, at the cell with the most controls.

    python -m tests.tools.screenshots [notebooks]      (make screenshots: those that the README shows)

They are stored as ``notebooks/images/<notebook>.png``; look at them before they are committed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from softlab import doctor
from tests.browser.lab import VIEWPORT, Notebook, Server, copy_without_outputs, launch, serving
from tests.tools.notebooks import NOTEBOOKS

IMAGES = NOTEBOOKS / "images"
#: A README is read on slow lines, too, and git keeps every picture for ever.
MOST_BYTES = 300_000
#: Notebook -> the switch to set before the picture is taken, where the one that the notebook ends with shows less.
SWITCHES = {"04-column-major-shared-memory.ipynb": "row_scalar"}
#: Those that the README shows.
SHOWN = ("00-start-here.ipynb", "04-column-major-shared-memory.ipynb", "09-dispatch.ipynb")
#: The page settles: charts fade in, the menu closes.
SETTLE_MS = 1500


def take(browser: Browser, server: Server, name: str) -> Path | None:
    """Run one notebook and store its picture; None when it has no cell with controls."""
    context = browser.new_context(viewport=VIEWPORT)
    try:
        notebook = Notebook(context.new_page())
        notebook.open(server, name)
        cells = notebook.run_all()
        # The notebook alone: no file browser at its side.
        notebook.page.evaluate("() => jupyterapp.shell.collapseLeft()")
        counts = {cell["index"]: len(notebook.controls(cell["index"])) for cell in cells if cell["widgets"]}
        if not any(counts.values()):
            return None
        area = notebook.show(max(counts, key=lambda index: counts[index]))
        if name in SWITCHES:
            area.get_by_role("button", name=SWITCHES[name], exact=True).click()
        notebook.page.wait_for_timeout(SETTLE_MS)
        path = IMAGES / f"{Path(name).stem}.png"
        IMAGES.mkdir(exist_ok=True)
        notebook.page.locator(".jp-NotebookPanel").screenshot(path=path)
        return path
    finally:
        context.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Take the pictures; 1 when one is too big or there is no Chromium."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: those that the README shows")
    options = parser.parse_args(arguments)
    chromium = doctor.chromium()
    if chromium is None:
        print("No Chromium found: apt-get install chromium, or playwright install chromium", file=sys.stderr)
        return 1
    status = 0
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as scratch:
        paths = [
            copy_without_outputs(path, Path(folder))
            for path in options.notebooks or [NOTEBOOKS / name for name in SHOWN]
        ]
        with serving(Path(folder), Path(scratch)) as server, sync_playwright() as playwright:
            browser = launch(playwright, chromium)
            for path in paths:
                picture = take(browser, server, path.name)
                if picture is None:
                    print(f"{path.name}: no controls, no picture")
                    continue
                size = picture.stat().st_size
                print(f"{path.name}: {picture.name}, {size // 1000} kB")
                if size > MOST_BYTES:
                    print(f"{picture.name} has more than {MOST_BYTES // 1000} kB", file=sys.stderr)
                    status = 1
            browser.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
