"""Explorer of packs: one warp-wide load of a softmax kernel, lane by lane, over the sectors of global memory."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import ipywidgets as widgets
import numpy as np
from traitlets import Dict, Enum, Int, Unicode, observe, validate

from softlab.dtypes import element_type
from softlab.errors import Error, KernelFault
from softlab.explorers.banks import PACKS, WIDEST_PACK
from softlab.explorers.diagrams import GridDiagram
from softlab.explorers.estimates import launch, softmax_times
from softlab.explorers.explorer import Explorer, buttons, menu, named, side_by_side, slider, steady
from softlab.instruments.coalescing import SECTOR_BYTES
from softlab.instruments.requests import requests
from softlab.operators.executors import emulate
from softlab.plans import Plan, forced
from softlab.plans.oneflow import KERNELS
from softlab.traces import Buffer, Run
from softlab.views import tables
from softlab.views.diagrams import diagram
from softlab.views.sectors import sector_card

FEWEST_COLS, MOST_COLS = 32, 4096
#: Columns that the registers of a warp keep.
MOST_COLS_OF_WARP = 1024
#: Elements that the array begins after an aligned address, at most.
MOST_OFFSET = 32
#: Threads of the one block that works on the one row.
BLOCK_SIZE = 128
DEVICE = "H200"
#: Where the CUDA allocator puts an array: at a multiple of this many bytes (CUDA C++ Programming Guide, "Device Memory
#: Accesses").
ALLOCATION_BYTES = 256
OWNERS = {
    "warp": "one warp owns it and keeps it in registers",
    "block_smem": "one block of 4 warps owns it and keeps it in shared memory",
    "block_uncached": "one block of 4 warps owns it, keeps it nowhere, and reads it three times",
}
MAPPINGS = {
    "warp": "in load p, lane l begins at element {pack} x (32 p + l)",
    "block_smem": "in load k, thread t = 32 warp + lane begins at element {pack} x (128 k + t)",
    "block_uncached": "in load k, thread t = 32 warp + lane begins at element {pack} x (128 k + t)",
}


def one_row(cols: int, pack: int, dtype: str, kernel: str) -> Plan:
    """The plan of one row for one warp, or for one block."""
    block_size = None if kernel == "warp" else BLOCK_SIZE
    return forced(1, cols, dtype, kernel=kernel, pack_size=pack, block_size=block_size, device=DEVICE)


def shifted_run(plan: Plan, offset: int) -> tuple[Run, Buffer]:
    """Run the plan's kernel on an x that begins ``offset`` elements after an aligned address; y is aligned.

    Both are in one allocation, like a slice of a larger array on a GPU. Returns the run, and the buffer from which
    x's addresses are counted: the aligned address.

    Raises:
        KernelFault: packs do not fit that offset ("misaligned").
    """
    element = element_type(plan.dtype).numpy
    size = -(-plan.rows * plan.cols * element.itemsize // ALLOCATION_BYTES) * ALLOCATION_BYTES
    memory = np.zeros(2 * size // element.itemsize + MOST_OFFSET, element)
    # A launch of no rows does nothing, and tells where the array is mapped.
    empty = emulate(plan, (memory, memory, np.int64(0), np.int64(plan.cols)), record=True)
    aligned = empty.buffers[0].base + size
    x = np.uint64(aligned + offset * element.itemsize)
    run = emulate(plan, (x, memory, np.int64(plan.rows), np.int64(plan.cols)), record=True)
    return run, Buffer(0, aligned, memory.nbytes - size, plan.dtype)


class PackExplorer(Explorer):
    """A row of a softmax in packs of 1, 2, 4 or 8: which lane loads which bytes, and how many sectors that moves.

    >>> explorer = PackExplorer(cols=1024, pack=1)
    >>> explorer.summary["requests"], explorer.summary["sectors"]
    (32, 128)
    >>> explorer.pack = 4
    >>> explorer.summary["requests"], explorer.summary["sectors"]
    (8, 128)

    Each change runs the real kernel, compiled by NVRTC, on one row in the emulator, and draws one of its loads.

    Traits:
        cols, pack, dtype, kernel: the problem. A value that no kernel is built for becomes the nearest one that is
            (``note`` names it).
        offset: elements that the array begins after an aligned address, as a slice ``x[offset:]`` does.
        access: which of the loads of the row is drawn; lane: the highlighted lane, -1 for none.
        summary: of the whole row: ``requests`` (load instructions, one per warp), ``sectors``, ``least`` (sectors that
            would hold one reading of the row), ``instructions`` (of all kinds); of the drawn load: ``bytes`` (per
            lane), ``lanes``, ``load_sectors``, ``load_least``, ``ptx``; ``estimated``: pack -> microseconds of a
            full matrix by the model, where the table has one; ``fault``: "", or the kind of the fault that stopped the
            kernel (and nothing else).
        note: what was changed to make the problem possible; "" for nothing.

    ``run`` is the run that is drawn, None where the kernel was stopped.
    """

    lesson = "02"
    cols = Int(1024).tag(state=True)
    pack = Int(2).tag(state=True)
    dtype = Enum(tuple(WIDEST_PACK), "float32").tag(state=True)
    kernel = Enum(KERNELS, "warp").tag(state=True)
    offset = Int(0).tag(state=True)
    access = Int(0)
    lane = Int(-1)
    summary = Dict()
    note = Unicode()

    run: Run | None

    def __init__(
        self, cols: int = 1024, pack: int = 2, dtype: str = "float32", *, kernel: str = "warp", offset: int = 0
    ) -> None:
        self._ran = lru_cache(maxsize=64)(lambda offset, *problem: shifted_run(one_row(*problem), offset))
        super().__init__(dtype=dtype, kernel=kernel, offset=offset)
        self.pack = pack
        self.cols = cols
        self._build()
        self._run(None)

    def _build(self) -> None:
        self.cols_slider = slider(FEWEST_COLS, MOST_COLS, "cols")
        self.offset_slider = slider(0, MOST_OFFSET, "offset", "340px")
        self.dtype_menu = menu(list(WIDEST_PACK), "dtype")
        self.pack_buttons = buttons(PACKS, "elements that a lane loads at once")
        self.kernel_buttons = buttons(KERNELS, "which kernel reads the row")
        self.access_slider = slider(0, 1, "load", "340px")
        for trait, control in (
            ("cols", self.cols_slider),
            ("offset", self.offset_slider),
            ("dtype", self.dtype_menu),
            ("pack", self.pack_buttons),
            ("kernel", self.kernel_buttons),
            ("access", self.access_slider),
        ):
            self.bind(trait, control)
        self.message, self.text, self.times, self.diagram = *(widgets.HTML() for _ in range(3)), GridDiagram()
        self.diagram.observe(lambda change: self.set_trait("lane", change.new), "lane")
        self.widget = widgets.VBox(
            [
                side_by_side([self.cols_slider, self.dtype_menu]),
                side_by_side([named("pack", self.pack_buttons), named("kernel", self.kernel_buttons)]),
                side_by_side([self.access_slider, self.offset_slider]),
                steady(self.message, 5),
                self.diagram,
                self.text,
                steady(self.times, 11),
            ]
        )
        self.observe(self._run, ("cols", "pack", "dtype", "kernel", "offset"))
        self.observe(lambda change: self._draw(), ("access", "note"))
        self.observe(lambda change: self.diagram.set_trait("lane", change.new), "lane")

    @validate("pack")
    def _pack_that_exists(self, proposal: Any) -> int:
        asked, widest = int(proposal["value"]), WIDEST_PACK[self.dtype]
        self.note = ""
        if asked > widest:
            self.note = f"A pack of {asked} {self.dtype} is more than the 16 bytes that a thread can move at once."
        return max(pack for pack in PACKS if pack <= min(max(asked, 1), widest))

    @validate("cols")
    def _cols_in_whole_packs(self, proposal: Any) -> int:
        asked = int(proposal["value"])
        most = MOST_COLS_OF_WARP if self.kernel == "warp" else MOST_COLS
        cols = min(max(asked, FEWEST_COLS), most)
        cols -= cols % self.pack
        self.note = "" if cols == asked else f"A row of {asked} columns is not made of whole packs of {self.pack}."
        if asked > MOST_COLS_OF_WARP and self.kernel == "warp":
            self.note = f"The registers of a warp keep {MOST_COLS_OF_WARP} columns, not {asked}."
        elif not FEWEST_COLS <= asked <= MOST_COLS:
            self.note = f"This explorer shows rows of {FEWEST_COLS} to {MOST_COLS} columns."
        return cols

    @validate("offset", "access")
    def _within(self, proposal: Any) -> int:
        most = MOST_OFFSET if proposal["trait"].name == "offset" else max(len(self._loads) - 1, 0)
        return min(max(int(proposal["value"]), 0), most)

    @observe("dtype")
    def _pack_of_dtype(self, change: Any) -> None:
        self.note = ""
        if self.pack > WIDEST_PACK[self.dtype]:
            self.pack = self.pack

    @observe("pack", "kernel")
    def _cols_of_pack(self, change: Any) -> None:
        if self.cols % self.pack or (self.kernel == "warp" and self.cols > MOST_COLS_OF_WARP):
            self.cols = self.cols

    @property
    def _loads(self) -> list[int]:
        """The row's loads, as indices into the run's accesses, in the order they ran."""
        return np.flatnonzero(~self.run.global_.store).tolist() if self.run else []

    def _run(self, change: Any) -> None:
        problem = (self.offset, self.cols, self.pack, self.dtype, self.kernel)
        self.cols_slider.step = self.pack
        self.message.value = self.message.value or "Compiling and running the kernel ..."
        try:
            self.run, self._start = self._ran(*problem)
        except KernelFault as fault:
            self.run, self._fault = None, fault
            self._stopped(fault)
            return
        except Error as error:  # raised in a callback it would be seen in JupyterLab's log alone
            self.message.value = tables.code(str(error))
            raise
        self.access_slider.layout.visibility = "visible"
        self.access_slider.max = max(len(self._loads) - 1, 0)
        self.access = self.access
        about = "These times are for arrays that begin at an aligned address." if self.offset else ""
        self.times.value, self._estimated = softmax_times(self._packs(), f"packs of {self.pack}", self.cols, about)
        self._draw()

    def _packs(self) -> dict[str, Plan | None]:
        """The launches whose times are compared: aligned arrays, all packs that the columns are a multiple of."""
        block_size = None if self.kernel == "warp" else BLOCK_SIZE
        same = {"kernel": self.kernel, "block_size": block_size, "cols": self.cols, "dtype": self.dtype}
        packs = [pack for pack in PACKS if pack <= WIDEST_PACK[self.dtype] and not self.cols % pack]
        return {f"packs of {pack}": launch(**same, pack_size=pack) for pack in packs}

    def _stopped(self, fault: KernelFault) -> None:
        """Nothing to draw: the GPU would report a misaligned address, too."""
        self.summary = {"fault": fault.kind}
        self.times.value = ""
        self.diagram.data = diagram(f"Stopped at line {fault.line}: {fault.kind}", [])
        self.text.value = ""
        self.access_slider.layout.visibility = "hidden"  # there is no load to choose
        width = self.pack * element_type(self.dtype).itemsize
        start = self.offset * element_type(self.dtype).itemsize
        self.message.value = tables.lines(
            [
                *([self.note] if self.note else []),
                f"Packs of {self.pack} {self.dtype} are loads of {width} bytes per lane. The array begins at byte"
                f" {start}, and {start} is no multiple of {width}: such a load cannot be made there. A GPU stops, too:"
                f" misaligned address.",
                "softlab.softmax looks at the address before it launches, and takes packs of 1 for such an array.",
            ]
        )

    def _draw(self) -> None:
        if not self.run:
            self._stopped(self._fault)
            return
        index = self._loads[self.access]
        log, counters = self.run.global_, self.run.counters
        loads = {r.index: r for r in requests(self.run, warp=int(log.warp[index]))}
        shown, texts = loads[index], self.run.instructions.text if self.run.instructions else ()
        itemsize = element_type(self.dtype).itemsize
        self.summary = {
            "requests": counters["global_load_requests"],
            "sectors": counters["global_load_sectors"],
            "least": -(-self.cols * itemsize // SECTOR_BYTES),
            "instructions": counters["instructions"],
            "bytes": shown.width,
            "lanes": int(shown.active.sum()),
            "load_sectors": shown.sectors,
            "load_least": shown.least,
            "ptx": " ".join(texts[shown.instruction].split()) if texts else "",
            "estimated": {int(label.split()[-1]): time for label, time in self._estimated.items()},
            "fault": "",
        }
        self.message.value = tables.lines([*([self.note] if self.note else []), *self._sentences()])
        self.diagram.data = sector_card(log, index, (self._start,))
        line = self.run.source.splitlines()[shown.line - 1].strip()
        self.text.value = tables.code(
            f"{self.run.file}, line {shown.line}:  {line}\nPTX:  {self.summary['ptx']}",
            caption=f"From a run in the emulator, compiled for {self.run.arch}, counted by the {self.run.level}",
        )

    def _sentences(self) -> list[str]:
        found, itemsize = self.summary, element_type(self.dtype).itemsize
        past = self.offset * itemsize % SECTOR_BYTES
        begins = f" It begins {past} bytes after a sector's start." if past else ""
        wanted, moved = found["bytes"] * found["lanes"], found["load_sectors"] * SECTOR_BYTES
        return [
            f"One row of {self.cols} {self.dtype}: {OWNERS[self.kernel]}.{begins}",
            f"{MAPPINGS[self.kernel].format(pack=self.pack).capitalize()}.",
            f"This load ({self.access + 1} of {len(self._loads)}): {found['lanes']} lanes of {found['bytes']} bytes"
            f" want {wanted} bytes. {found['load_sectors']} sectors move: {moved} bytes.",
            f"The whole row: {tables.shown(found['requests'])} load instructions,"
            f" {tables.shown(found['sectors'])} sectors ({tables.shown(found['least'])} would hold it once).",
        ]
