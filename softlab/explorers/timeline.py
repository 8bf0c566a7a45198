"""Explorer of a block over time: what each of its warps issues, where they meet, and how long they wait."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ipywidgets as widgets
import numpy as np
from traitlets import Dict, Enum, Int, Unicode, observe, validate
from typing_extensions import override

from softlab.cuda.compile import kernel_folder
from softlab.errors import Error
from softlab.explorers.explorer import Explorer, buttons, menu, named, side_by_side, slider, steady
from softlab.hardware.devices import with_article
from softlab.instruments.snapshots import IssueLog, barrier_waits
from softlab.instruments.timeline import Segment, Timeline, timeline
from softlab.kernel import Kernel
from softlab.operators.executors import program_of
from softlab.plans import forced
from softlab.timing.estimates import Estimate
from softlab.views import svg, tables
from softlab.views.sm_timeline import cycles_sentence, sm_timeline, states_at, states_table
from softlab.views.stills import Part, changing, parts_of
from softlab.views.warps import Window, step_table, waiting_sentence, warps_picture

AXES = ("order", "cycles")
BLOCK_SIZES = (128, 256, 512, 1024)
ZOOMS = (1, 2, 4, 8, 16, 32)
#: Numbers in the one row that the block works on.
COLS = 1024
DEVICE = "H200"
GALLERY_FILE = "block_sum.cu"


@dataclass(frozen=True)
class Subject:
    """A launch of one block to be watched: its kernel, threads, arguments, dynamic shared memory in bytes."""

    kernel: Kernel
    block: int
    args: tuple[Any, ...]
    smem: int = 0


@dataclass(frozen=True)
class _Watched:
    """What a run of a subject gave, ready to be drawn."""

    subject: Subject
    timeline: Timeline
    pieces: tuple[Segment, ...]
    issued: IssueLog

    @classmethod
    def of(cls, subject: Subject) -> _Watched:
        line = timeline(subject.kernel, 1, subject.block, subject.args, subject.smem)
        return cls(subject, line, line.segments(), IssueLog.of(line))


def _timed(subject: Subject) -> Estimate | str:
    """The estimate of a subject with its timeline, or why there is none."""
    try:
        return subject.kernel.estimate(1, subject.block, subject.args, smem=subject.smem, device=DEVICE, timeline=True)
    except (Error, ValueError) as error:
        return str(error).partition("\n")[0]


def _row() -> np.ndarray:
    return np.random.default_rng(0).random(COLS, dtype=np.float32)


def _sum(variant: str, block_size: int) -> Subject:
    """The block sum of the gallery, in one of its variants."""
    source = (kernel_folder() / "gallery" / GALLERY_FILE).read_text()
    kernel = Kernel(source, f"divide_by_sum<Way::{variant}, {block_size}>", file=GALLERY_FILE)
    return Subject(kernel, block_size, (_row(), np.zeros(COLS, np.float32), COLS))


def _softmax(kernel: str, block_size: int) -> Subject:
    """One row of a softmax kernel that gives a row to a block."""
    made = forced(1, COLS, kernel=kernel, block_size=block_size, device=DEVICE)
    args = (_row(), np.zeros(COLS, np.float32), 1, COLS)
    return Subject(Kernel.from_program(program_of(made)), made.block_size, args, made.smem_bytes)


#: What the menu offers: name -> the launch for a block size.
SUBJECTS: Mapping[str, Callable[[int], Subject]] = {
    "sum: thread 0 adds": lambda size: _sum("serial", size),
    "sum: tree": lambda size: _sum("tree", size),
    "sum: shuffles": lambda size: _sum("shuffles", size),
    "sum: block_all_reduce": lambda size: _sum("block_all_reduce", size),
    "block_smem": lambda size: _softmax("block_smem", size),
    "block_uncached": lambda size: _softmax("block_uncached", size),
}


class TimelineExplorer(Explorer):
    """The warps of one block over time: what each issues between barriers, and how long it waits.

    >>> explorer = TimelineExplorer("sum: tree", block_size=256)
    >>> explorer.summary["barriers"]
    9

    A kernel of your own, with the arguments of its launch: ``TimelineExplorer.of(kernel, 256, (x, y))``.

    Traits:
        kernel, block_size: what is run: one row of 1024 numbers, on one block, in the emulator.
        axis: "order", the instructions in the order in which the emulator ran them; or "cycles", the same block on an
            SM of an H200, as the timing model simulates it, coloured by what the warps wait for.
        step: a position, in instructions or cycles; zoom: how many times the picture is enlarged around it.
        summary: by order: ``issued`` (PTX instructions of all warps), ``waited`` (how many more they could have issued
            while they waited), ``share`` (waiting, of both), ``barriers``, ``length`` (steps), and at the step:
            ``waits``, ``done`` (warps), ``lines`` (source lines that are at work). By cycles: ``cycles`` (of the SM),
            ``stalls`` (state of warps -> share), and at the step ``states`` (state -> warps); or ``missing``: why there
            are none.

    ``timeline`` is the record that is drawn.
    """

    lesson = "05"
    kernel = Unicode().tag(state=True)
    block_size = Int(256).tag(state=True)
    axis = Enum(AXES, "order")
    step = Int(0).tag(state=True)
    zoom = Int(1).tag(state=True)
    summary = Dict()

    def __init__(
        self,
        kernel: str = "sum: thread 0 adds",
        block_size: int = 256,
        *,
        subjects: Mapping[str, Callable[[int], Subject]] = SUBJECTS,
        block_sizes: Sequence[int] = BLOCK_SIZES,
    ) -> None:
        self._subjects = dict(subjects)
        self._block_sizes = tuple(block_sizes)
        self._watch = lru_cache(maxsize=32)(lambda name, size: _Watched.of(self._subjects[name](size)))
        self._estimate = lru_cache(maxsize=32)(lambda name, size: _timed(self._subjects[name](size)))
        self._drawn: tuple[str, int] = ("", 0)
        super().__init__(kernel=kernel, block_size=block_size)
        self._build()
        self._run()

    @classmethod
    def of(cls, kernel: Kernel, block: int, args: Sequence[Any], smem: int = 0, *, name: str = "") -> TimelineExplorer:
        """One block of any kernel; the arrays stay as they are. Errors as of ``softlab.instruments.timeline``."""
        name = name or kernel.program.name
        subject = Subject(kernel, block, tuple(args), smem)
        return cls(name, block, subjects={name: lambda size: subject}, block_sizes=(block,))

    @property
    def timeline(self) -> Timeline:
        """The record that is drawn."""
        return self._watch(self.kernel, self.block_size).timeline

    def _build(self) -> None:
        self.kernel_menu = menu(list(self._subjects), "kernel", "300px")
        self.size_buttons = buttons(self._block_sizes, "threads of the block")
        self.axis_buttons = buttons(AXES, "the order of the emulator, or the cycles of the timing model")
        # Its track lies above the axis that it moves along.
        self.step_slider = slider(0, 1, "step", f"{svg.WIDTH}px")
        self.step_slider.style.description_width, self.step_slider.layout.max_width = "56px", "100%"
        self.zoom_slider = widgets.SelectionSlider(options=ZOOMS, description="zoom", layout={"width": "260px"})
        self.zoom_slider.style.description_width = "44px"
        for trait, control in (
            ("kernel", self.kernel_menu),
            ("block_size", self.size_buttons),
            ("axis", self.axis_buttons),
            ("step", self.step_slider),
            ("zoom", self.zoom_slider),
        ):
            self.bind(trait, control)
        self.message, self.picture, self.activities = (widgets.HTML() for _ in range(3))
        self.widget = widgets.VBox(
            [
                side_by_side([self.kernel_menu, named("threads", self.size_buttons)]),
                side_by_side([named("axis", self.axis_buttons), self.zoom_slider]),
                self.step_slider,
                self.message,
                self.picture,
                steady(self.activities, 5),
            ]
        )
        self.observe(lambda change: self._draw(), ("step", "zoom"))

    @validate("kernel")
    def _known_kernel(self, proposal: Any) -> str:
        if proposal["value"] not in self._subjects:
            raise ValueError(f"no kernel {proposal['value']!r}: there are {', '.join(map(repr, self._subjects))}")
        return proposal["value"]

    @validate("block_size")
    def _known_size(self, proposal: Any) -> int:
        if proposal["value"] not in self._block_sizes:
            raise ValueError(f"block_size = {proposal['value']}: there are {', '.join(map(str, self._block_sizes))}")
        return proposal["value"]

    @validate("step")
    def _step_in_the_run(self, proposal: Any) -> int:
        return min(max(int(proposal["value"]), 0), max(self._length() - 1, 0))

    @validate("zoom")
    def _zoom_that_there_is(self, proposal: Any) -> int:
        return max(zoom for zoom in ZOOMS if zoom <= max(int(proposal["value"]), 1))

    @observe("kernel", "block_size")
    def _other_run(self, change: Any) -> None:
        if hasattr(self, "widget") and (self.kernel, self.block_size) != self._drawn:
            self._run()

    @observe("axis")
    def _other_axis(self, change: Any) -> None:
        """The same position on the other axis."""
        if not hasattr(self, "widget"):
            return
        before, self.message.value = max(self._length(change.old), 1), "Estimating ..."
        part, length = self.step / before, self._length()
        self.step_slider.max = max(length - 1, self.step, 1)
        self.step = round(part * length)
        self.step_slider.max = max(length - 1, 1)
        self._draw()

    def _length(self, axis: str = "") -> int:
        """Steps of the axis: instructions, or cycles."""
        if (axis or self.axis) == "order":
            return self.timeline.length
        found = self._estimate(self.kernel, self.block_size)
        return 1 if isinstance(found, str) or found.timeline is None else math.ceil(found.timeline.cycles)

    def _run(self) -> None:
        """Run the kernel and draw it from its beginning."""
        self._drawn = (self.kernel, self.block_size)
        self.message.value = "Compiling and running the kernel ..."
        try:
            length = self._length()
        except Error as error:  # raised in a callback it would be seen in JupyterLab's log alone
            self.message.value = tables.code(str(error))
            raise
        self.step_slider.max = max(length - 1, 1)
        self.step = min(self.step, length - 1)
        self._draw()

    def _draw(self) -> None:
        if self.axis == "order":
            self._draw_order()
        else:
            self._draw_cycles()

    def _draw_cycles(self) -> None:
        found = self._estimate(self.kernel, self.block_size)
        if isinstance(found, str) or found.timeline is None:
            self.summary = {"missing": str(found)}
            self.message.value = tables.lines([f"No timeline in cycles: {found}"])
            self.picture.value = self.activities.value = ""
            return
        line = found.timeline
        doings = states_at(line, self.step)
        self.summary = {
            "cycles": round(line.cycles),
            "stalls": {name: round(share, 3) for name, share in found.stalls.items()},
            "states": {name: [one.warp for one in doings if one.state == name] for name in {d.state for d in doings}},
        }
        source = self._watch(self.kernel, self.block_size).subject.kernel.program.source
        title = (
            f"{self.kernel}: one block of {self.block_size} threads on an SM of {with_article(found.device)}, estimated"
        )
        window = Window.around(self.step, math.ceil(line.cycles), self.zoom)
        self.message.value = changing(tables.lines([cycles_sentence(found)]))
        self.picture.value = sm_timeline(line, window=window, clock=self.step, source=source, title=title)
        self.activities.value = changing(states_table(doings, self.step, source))

    def _draw_order(self) -> None:
        watched = self._watch(self.kernel, self.block_size)
        line, found = watched.timeline, barrier_waits(watched.timeline)
        doings = watched.issued.at(self.step)
        self.summary = {
            "issued": found.issued,
            "waited": found.waited,
            "share": round(found.share, 4),
            "barriers": found.passes,
            "length": found.length,
            "waits": [doing.warp for doing in doings if doing.state == "waits"],
            "done": [doing.warp for doing in doings if doing.state == "done"],
            "lines": sorted({doing.line for doing in doings if doing.state == "issues" and doing.line}),
        }
        self.message.value, self.picture.value = self._by_order(
            self.step, Window.around(self.step, line.length, self.zoom)
        )
        self.activities.value = step_table(doings, self.step, watched.subject.kernel.program.source)

    def _by_order(self, step: int, window: Window) -> tuple[str, str]:
        """The sentence and the picture of the emulator's order."""
        watched = self._watch(self.kernel, self.block_size)
        line, threads = watched.timeline, watched.subject.block
        title = f"{self.kernel}: one block of {threads} threads, {line.warps} warps, as the emulator ran it"
        picture = warps_picture(line, watched.pieces, window, step, title=title)
        return tables.lines([waiting_sentence(barrier_waits(line))]), picture

    @override
    def _further_parts(self) -> tuple[Part, ...]:
        if self.axis == "order":
            return ()
        step = self.step * self._length("order") // max(self._length(), 1)
        return parts_of("".join(self._by_order(step, Window.around(step, self._length("order"), 1))))
