"""Explorer of a kernel's source: CUDA, PTX and machine code in three panes; a line chosen in one is shown in all."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import anywidget
import ipywidgets as widgets
import numpy as np
from traitlets import Dict, Int, Unicode, validate

from softlab.cuda.compile import kernel_folder
from softlab.explorers.explorer import Explorer, menu
from softlab.instruments.listing import Listing, listing
from softlab.kernel import Kernel
from softlab.traces import Run
from softlab.views import still_diagrams, tables
from softlab.views.control_codes import control_words
from softlab.views.counters import MEANING
from softlab.views.source import source_data
from softlab.views.stills import Part

_STATIC = Path(__file__).parent / "static"


class SourcePanes(anywidget.AnyWidget):
    """``data`` as ``views.source.source_data`` makes it; ``counter`` is the heat; ``line`` stands out, 0 for none."""

    _esm = _STATIC / "source.js"
    _css = _STATIC / "source.css"

    data = Dict(
        {"counters": [], "lines": [], "ptx": [], "sass": [], "controls": False, "arch": "", "missing": "", "file": ""}
    ).tag(sync=True)
    counter = Unicode("instructions").tag(sync=True)
    line = Int(0).tag(sync=True)

    def still_parts(self) -> tuple[Part, ...]:
        """The panes as they stand, for :mod:`softlab.explorers.stills`."""
        return still_diagrams.source(self.data, self.counter, self.line)


class SourceExplorer(Explorer):
    """A kernel's CUDA, PTX and SASS side by side, with a counter of one of its runs as heat.

    >>> explorer = SourceExplorer(kernel, run)
    >>> explorer.line = 5
    >>> explorer.summary["ptx"], explorer.summary["sass"]  # the instructions of that line
    (('ld.global.f32 %f1, [%rd4];', ...), ('LDG.E R2, desc[UR4][R2.64]', ...))

    Traits: ``counter``: the heat, one that is not zero everywhere; ``line``: the source line shown in all three, 0 for
    none; ``summary``: line, code, count (of the counter), ptx, sass (texts), control (the control codes in words).
    """

    lesson = "13"
    counter = Unicode("instructions").tag(state=True)
    line = Int(0).tag(state=True)
    summary = Dict()

    def __init__(self, kernel: Kernel, run: Run, *, counter: str = "instructions", line: int = 0) -> None:
        self.listing: Listing = listing(kernel, run)
        self._totals = run.counters
        data = source_data(self.listing)
        self._titles = {entry["name"]: entry["title"] for entry in data["counters"]} or {"instructions": "instructions"}
        super().__init__(counter=counter, line=line)
        self.counter_menu = menu([(title, name) for name, title in self._titles.items()], "heat", "280px")
        self.panes = SourcePanes(data=data, counter=self.counter, line=self.line)
        self.message = widgets.HTML()
        self.bind("counter", self.counter_menu)
        self.panes.observe(lambda change: setattr(self, "line", change.new), "line")
        self.observe(self._show, ("counter", "line"))
        self.widget = widgets.VBox([self.counter_menu, self.panes, self.message])
        self._show(None)

    @classmethod
    def example(cls) -> Self:
        """The transpose of the gallery, its tile without padding: one line has all the bank conflicts."""
        source = (kernel_folder() / "gallery" / "transpose.cu").read_text()
        kernel = Kernel(source, "transpose<Tile::plain>", file="transpose.cu")
        x = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
        run = kernel.run((2, 2), (32, 8), (x, np.zeros_like(x), 64, 64))
        lines, counter = run.by_line(), "bank_conflicts"
        return cls(kernel, run, counter=counter, line=max(lines, key=lambda line: lines[line][counter]))

    @validate("counter")
    def _known_counter(self, proposal: Any) -> str:
        if proposal["value"] not in self._titles:
            raise ValueError(f"counter {proposal['value']!r}: this run counted {', '.join(self._titles)}")
        return proposal["value"]

    @validate("line")
    def _line_of_the_source(self, proposal: Any) -> int:
        return min(max(int(proposal["value"]), 0), len(self.listing.lines))

    def _show(self, change: Any) -> None:
        self.panes.counter, self.panes.line = self.counter, self.line
        title, heat = self._titles[self.counter], self.listing.heat(self.counter)
        total = self._totals.get(self.counter, 0)
        sentences = [f"{tables.shown(total)} {title} in all: {MEANING[self.counter]}."]
        if self.line:
            here = self.listing.lines[self.line - 1]
            ptx = tuple(self.listing.ptx[k].text for k in here.ptx)
            sass = tuple(self.listing.machine[k].instruction.text for k in here.machine)
            control = tuple(control_words(self.listing, k) for k in here.machine)
            code, count = here.text.strip(), heat[self.line - 1]
            sentences.append(
                f"Line {self.line}: {tables.shown(count)} of them, {_instructions(len(ptx), 'PTX')},"
                f" {_instructions(len(sass), 'SASS')}."
            )
        else:
            ptx, sass, control, code, count = (), (), (), "", total
            hottest = max(range(len(heat)), key=heat.__getitem__) + 1
            sentences.append(f"Line {hottest} has the most. Click a line to see what the compiler made of it.")
        self.summary = {"line": self.line, "code": code, "count": count, "ptx": ptx, "sass": sass, "control": control}
        self.message.value = tables.lines(sentences)


def _instructions(number: int, language: str) -> str:
    return f"{number} {language} instruction{'' if number == 1 else 's'}"
