"""How long an explorer takes from a key on a slider to the new picture, in a real browser.

    python -m tests.tools.latency [explorers] [--moves 60]

JupyterLab runs in Chromium; a slider's handle gets arrow keys, one after the other. The clock runs in the page: from
the key event until the frame with the new picture has been painted. Printed are the median and the 95th percentile.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import sync_playwright

from softlab import doctor
from tests.browser.lab import VIEWPORT, Notebook, launch, serving
from tests.tools.notebooks import NOTEBOOK_METADATA

#: Name -> what makes it; the slider to move, counted from 0, one whose every step changes the picture; the most
#: milliseconds at the 95th percentile (that of banks runs its kernel anew at each step).
EXPLORERS = {
    "occupancy": ("OccupancyExplorer(threads=250, registers=40, smem=8192)", 0, 100.0),
    "block size": ("BlockSizeExplorer(cols=6150)", 0, 100.0),
    "dispatch": ("DispatchExplorer(rows=4096, cols=1000)", 1, 100.0),
    "banks": ("BankExplorer(cols=4000, pack=2)", 0, 150.0),
}
MOVES = 60
WARM_UP = 5

#: Resolves with the milliseconds from the next key to the frame that shows another picture.
_ARM = """area => {
    window.softlabLatency = new Promise((resolve, reject) => {
        let start = 0;
        area.addEventListener('keydown', () => { start = performance.now(); }, { capture: true, once: true });
        const seen = new MutationObserver(changes => {
            const drawn = changes.some(change => change.target.nodeType === 1
                && change.target.closest('.widget-html-content, .softlab-diagram'));
            if (!start || !drawn) return;
            seen.disconnect();
            // A task queued within a frame's callback runs after that frame is painted.
            requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
        });
        seen.observe(area, { childList: true, subtree: true });
        setTimeout(() => reject(new Error('no new picture after 5 s')), 5000);
    });
}"""


def measure(notebook: Notebook, index: int, slider: int, moves: int) -> list[float]:
    """Milliseconds of each move, warm-up left out."""
    area = notebook.show(index)
    handle = area.locator(".widget-slider .noUi-handle").nth(slider)
    handle.scroll_into_view_if_needed()
    found = []
    for move in range(WARM_UP + moves):
        area.evaluate(_ARM)
        # Up and down in turns of ten: a few hundred columns each way would leave the picture's interesting part.
        handle.press("ArrowRight" if move // 10 % 2 == 0 else "ArrowLeft")
        taken = notebook.page.evaluate("() => window.softlabLatency")
        if move >= WARM_UP:
            found.append(taken)
        notebook.page.wait_for_timeout(60)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the named explorers, or all; 1 when one is too slow or there is no Chromium."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("explorers", nargs="*", help=f"of {', '.join(EXPLORERS)} (default: all)")
    parser.add_argument("--moves", type=int, default=MOVES)
    options = parser.parse_args(arguments)
    names = options.explorers or list(EXPLORERS)
    chromium = doctor.chromium()
    if chromium is None:
        print("No Chromium found: apt-get install chromium, or playwright install chromium", file=sys.stderr)
        return 1
    cells = [f"from softlab.explorers import *\nexplorer = {EXPLORERS[name][0]}\nexplorer" for name in names]
    slow = 0
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as scratch:
        written = new_notebook(cells=[new_code_cell(cell) for cell in cells], metadata=NOTEBOOK_METADATA)
        nbformat.write(written, Path(folder) / "latency.ipynb")
        with serving(Path(folder), Path(scratch)) as server, sync_playwright() as playwright:
            browser = launch(playwright, chromium)
            context = browser.new_context(viewport=VIEWPORT)
            notebook = Notebook(context.new_page())
            notebook.open(server, "latency.ipynb")
            notebook.run_all()
            for index, name in enumerate(names):
                taken = sorted(measure(notebook, index, EXPLORERS[name][1], options.moves))
                late = statistics.quantiles(taken, n=20)[-1]
                slow += late > EXPLORERS[name][2]
                print(
                    f"{name:12} {len(taken)} moves: median {statistics.median(taken):.0f} ms, 95th percentile "
                    f"{late:.0f} ms, longest {taken[-1]:.0f} ms",
                    flush=True,
                )
            browser.close()
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())
