"""How long an explorer takes from a key on a control to the new picture, in a real browser.

    python -m tests.tools.latency [explorers] [--moves 60]      (make latency)

JupyterLab runs in Chromium, with every explorer that ``softlab.explorers`` offers; a control gets arrow keys, one after
the other. The clock runs in the page: from the key event until the frame with the new picture has been painted.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import sync_playwright

from softlab.cli import doctor
from softlab.explorers.gallery import catalogue
from tests.browser.pages import Notebook
from tests.browser.servers import VIEWPORT, launch, serving
from tests.tools.notebooks import NOTEBOOK_METADATA

MOVES = 60
WARM_UP = 5


@dataclass(frozen=True)
class Move:
    """What is moved.

    make: the explorer, where its example's control does not change the picture at each step; control, number: the CSS
    path of the control, and its index; keys: forward and back; turn: presses of one key before the other, few enough to
    stay in range; most: milliseconds allowed at the 95th percentile.
    """

    make: str = ""
    control: str = ".widget-slider .noUi-handle"
    number: int = 0
    keys: tuple[str, str] = ("ArrowRight", "ArrowLeft")
    turn: int = 10
    most: float = 100.0


#: A record of 100 000 steps, which the stepper goes through from its middle.
_LONG_RUN = """
import numpy, softlab
loop = softlab.Kernel('extern "C" __global__ void loop(float* y, int n) {'
    ' __shared__ float part[1024]; float v = y[0]; _Pragma("unroll 1")'
    ' for (int i = 0; i < n; ++i) { part[threadIdx.x] = v; v = v * 0.5f + __shfl_xor_sync(~0u, v, 1); }'
    ' y[threadIdx.x] = v + part[31 - threadIdx.x]; }', "loop")
StepperExplorer.of(loop, 1, 32, (numpy.ones(32, numpy.float32), 20_000), step=50_000, limit=100_000)"""

#: Explorers whose first slider is not the control to move, or that run their kernel again at each step.
MOVED = {
    "Bank": Move("BankExplorer(cols=4000, pack=2)", most=150.0),
    "Block size": Move("BlockSizeExplorer(cols=6150)"),
    "Dispatch": Move("DispatchExplorer(rows=4096, cols=1000)", number=1),
    "Fusing": Move(control=".widget-checkbox input", keys=("Space", "Space")),
    "Occupancy": Move("OccupancyExplorer(threads=250, registers=40, smem=8192)"),
    "Pack": Move("PackExplorer(cols=700, pack=2)", most=150.0),
    "Shuffle": Move(turn=4),
    "Stepper": Move(_LONG_RUN),
    "Source": Move(control=".softlab-code", keys=("ArrowUp", "ArrowDown"), turn=4),
}

#: Resolves with the milliseconds from the next key to the frame that shows another picture; with -1 if there is none.
_ARM = """area => {
    window.softlabLatency = new Promise(resolve => {
        let start = 0;
        area.addEventListener('keydown', () => { start = performance.now(); }, { capture: true, once: true });
        const seen = new MutationObserver(changes => {
            const drawn = changes.some(change => change.target.nodeType === 1 && change.target.closest(
                '.widget-html-content, [class*="softlab-"], .js-plotly-plot'));
            if (!start || !drawn) return;
            seen.disconnect();
            // A task queued within a frame's callback runs after that frame is painted.
            requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
        });
        seen.observe(area, { childList: true, subtree: true, attributes: true, characterData: true });
        setTimeout(() => resolve(-1), 3000);
    });
}"""


def measure(notebook: Notebook, index: int, move: Move, moves: int) -> list[float]:
    """Milliseconds of each move, warm-up left out; moves that change no picture (a slider at its end) do not count."""
    area = notebook.show(index)
    control = area.locator(move.control).nth(move.number)
    control.scroll_into_view_if_needed()
    control.focus()
    found: list[float] = []
    for number in range(WARM_UP + moves):
        area.evaluate(_ARM)
        control.press(move.keys[number // move.turn % 2])
        taken = notebook.page.evaluate("() => window.softlabLatency")
        if number >= WARM_UP and taken >= 0:
            found.append(taken)
        notebook.page.wait_for_timeout(60)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the named explorers, or all; 1 when one is too slow or there is no Chromium."""
    options, names = _options(arguments)
    chromium = doctor.chromium()
    if chromium is None:
        print("No Chromium found: apt-get install chromium, or playwright install chromium", file=sys.stderr)
        return 1
    explorers = catalogue()
    moved = {name: MOVED.get(name, Move()) for name in names}
    cells = [
        f"from softlab.explorers import *\n{move.make or explorers[name].__name__ + '.example()'}"
        for name, move in moved.items()
    ]
    slow = 0
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as scratch:
        written = new_notebook(cells=[new_code_cell(cell) for cell in cells], metadata=NOTEBOOK_METADATA)
        nbformat.write(written, Path(folder) / "latency.ipynb")
        with serving(Path(folder), Path(scratch)) as server, sync_playwright() as playwright:
            browser = launch(playwright, chromium)
            notebook = Notebook(browser.new_context(viewport=VIEWPORT).new_page())
            notebook.open(server, "latency.ipynb")
            notebook.run_all()
            print("explorer      moves  median  95th percentile  longest  (ms)")
            for index, (name, move) in enumerate(moved.items()):
                slow += _too_slow(name, move, measure(notebook, index, move, options.moves), options.moves)
            browser.close()
    return int(slow > 0)


def _too_slow(name: str, move: Move, taken: list[float], moves: int) -> bool:
    """Print the line of one explorer; whether it is too slow, or its picture did not change."""
    if len(taken) < moves / 2:
        print(f"{name:12}  only {len(taken)} of {moves} moves changed the picture")
        return True
    late = statistics.quantiles(taken, n=20)[-1]
    over = f"  more than {move.most:.0f}" if late > move.most else ""
    middle = statistics.median(taken)
    print(f"{name:12}  {len(taken):5}  {middle:6.0f}  {late:15.0f}  {max(taken):7.0f}{over}", flush=True)
    return late > move.most


def _options(arguments: Sequence[str] | None) -> tuple[argparse.Namespace, list[str]]:
    """The options, and the names of the explorers to measure."""
    explorers = catalogue()
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("explorers", nargs="*", help=f"of {', '.join(explorers)} (default: all)")
    parser.add_argument("--moves", type=int, default=MOVES)
    options = parser.parse_args(arguments)
    names = options.explorers or list(explorers)
    if unknown := set(names) - set(explorers):
        parser.error(f"no explorer {', '.join(sorted(unknown))}: there are {', '.join(explorers)}")
    return options, names


if __name__ == "__main__":
    sys.exit(main())
