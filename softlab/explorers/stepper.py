"""Explorer of one warp, instruction by instruction: its registers, shared memory, and where each value comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import prod
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as widgets
import numpy as np
from traitlets import Dict, Int, List, Unicode, observe, validate

from softlab.emulator.lanes import WARP
from softlab.errors import Error
from softlab.explorers.explorer import Explorer, menu, slider
from softlab.explorers.timeline import SUBJECTS as BLOCKS
from softlab.instruments.step_record import StepRecord
from softlab.instruments.value_origins import Origin, Source, memory_source, origin, register_source
from softlab.kernel import Kernel
from softlab.views import stepper as view
from softlab.views import tables
from softlab.views.diagrams import STATIC as SHARED
from softlab.views.stills import Part

_STATIC = Path(__file__).parent / "static"
#: Threads of the block of the kernels that the menu offers.
_BLOCK_SIZE = 128
#: Records that are kept, one per warp that was looked at.
_KEPT = 4
_NO_SHARED: dict[str, Any] = {"first": 0, "rows": 0, "of": 0, "cells": [], "labels": []}


@dataclass(frozen=True)
class Launched:
    """A launch to be gone through: its kernel, grid, block, arguments, and dynamic shared memory in bytes."""

    kernel: Kernel
    grid: Any
    block: Any
    args: tuple[Any, ...]
    smem: int = 0

    @property
    def warps(self) -> int:
        """Warps per block."""
        return -(-prod(_sizes(self.block)) // WARP)

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return prod(_sizes(self.grid))


def _sizes(size: int | Sequence[int]) -> tuple[int, ...]:
    return tuple(size) if isinstance(size, tuple | list) else (int(size),)  # type: ignore[arg-type]


def _one_block(name: str) -> Callable[[], Launched]:
    def launched() -> Launched:
        subject = BLOCKS[name](_BLOCK_SIZE)
        return Launched(subject.kernel, 1, subject.block, subject.args, subject.smem)

    return launched


#: What the menu offers: name -> the launch.
LAUNCHES: Mapping[str, Callable[[], Launched]] = {
    name: _one_block(name) for name in ("sum: shuffles", "sum: tree", "sum: thread 0 adds", "block_smem")
}


class StepperPanes(anywidget.AnyWidget):
    """``code`` as ``views.stepper.code_data`` makes it, ``state`` as ``step_data`` and a ``sentence``, ``shared`` as
    ``shared_data``, ``chain`` as ``origin_data``; ``chosen``: the value that was asked for, ["register", name, lane] or
    ["shared", address, lane].
    """

    _esm = "\n".join(path.read_text(encoding="utf-8") for path in (SHARED / "svg.js", _STATIC / "stepper.js"))
    _css = "".join(path.read_text(encoding="utf-8") for path in (SHARED / "grid.css", _STATIC / "stepper.css"))

    code = Dict({"file": "", "lines": [], "ptx": []}).tag(sync=True)
    state = Dict().tag(sync=True)
    shared = Dict(_NO_SHARED).tag(sync=True)
    chain: List[Any] = List().tag(sync=True)
    chosen: List[Any] = List(["", "", 0]).tag(sync=True)

    def still_parts(self) -> tuple[Part, ...]:
        """The step as it stands, for :mod:`softlab.explorers.stills`."""
        return view.still_parts(self.code, self.state)


class StepperExplorer(Explorer):
    """One warp of a run, instruction by instruction: its registers, shared memory, and where each value comes from.

    >>> explorer = StepperExplorer.of(kernel, grid=1, block=64, args=(x, y, 64))
    >>> explorer.step = 20
    >>> explorer.ask("%f6", lane=5)  # a click on the value
    >>> explorer.follow(0)  # a click on the first value that its step has read

    The emulator runs the kernel once and records each PTX instruction of the warp. Registers have their PTX names,
    and their source names where PTX shows them: parameters, ``threadIdx.x``, shared arrays. Optimised code keeps no
    names of local variables.

    Traits:
        kernel: the launch that is shown; block, warp: the linear index of the block, and of the warp in it.
        step: the instruction that has just been executed, from 0. The picture is what there is after it.
        shared_row: the first row of shared memory in sight, 32 words each. A step that accesses others shows those.
        summary: ``step``, ``steps``, ``line``, ``text`` (PTX), ``lanes`` (that executed it), ``writes`` (register ->
            values in all lanes, as shown), ``shared_row``, ``chain`` (of what was asked: value, step, note), and
            ``remarks``: what the record cannot show, or why it ends.

    ``record`` is the record that is shown.
    """

    lesson = "03"
    kernel = Unicode().tag(state=True)
    block = Int(0).tag(state=True)
    warp = Int(0).tag(state=True)
    step = Int(0).tag(state=True)
    shared_row = Int(0).tag(state=True)
    summary = Dict()

    def __init__(
        self,
        kernel: str = "sum: shuffles",
        step: int = 0,
        *,
        block: int = 0,
        warp: int = 0,
        limit: int | None = None,
        launches: Mapping[str, Callable[[], Launched]] = LAUNCHES,
    ) -> None:
        self._launches = dict(launches)
        self._limit = limit
        self._launch = lru_cache(maxsize=None)(lambda name: self._launches[name]())
        self._record = lru_cache(maxsize=_KEPT)(self._recorded)
        self._chain: list[Origin] = []
        self._shown: tuple[str, int, int] | None = None
        super().__init__(kernel=kernel)
        self.block, self.warp = block, warp
        self._build()
        self._show_run()
        self.step = step

    @classmethod
    def of(
        cls, kernel: Kernel, grid: int | Sequence[int], block: int | Sequence[int], args: Sequence[Any] = (),
        smem: int = 0, *, step: int = 0, of: int = 0, warp: int = 0, limit: int | None = None,
    ) -> StepperExplorer:  # fmt: skip
        """A launch of any kernel; the arrays stay as they are. Arguments and errors as of :meth:`softlab.Kernel.steps`.

        The arrays are copied: each warp that is looked at is recorded from the same beginning. So two that overlap are
        refused with a ValueError.
        """
        name = kernel.program.name
        launched = Launched(kernel, grid, block, _copied(args), smem)
        return cls(name, step, block=of, warp=warp, limit=limit, launches={name: lambda: launched})

    @classmethod
    def example(cls) -> StepperExplorer:
        """The sum of a block, at its first shuffle."""
        made = cls()
        shuffles = (step for step in range(len(made.record)) if made.record.text(step).startswith("shfl"))
        made.step = next(shuffles)
        return made

    @property
    def record(self) -> StepRecord:
        """The record that is shown."""
        return self._record(self.kernel, self.block, self.warp)

    def _recorded(self, name: str, block: int, warp: int) -> StepRecord:
        one = self._launch(name)
        return one.kernel.steps(one.grid, one.block, one.args, smem=one.smem, of=block, warp=warp, limit=self._limit)

    def _build(self) -> None:
        self.kernel_menu = menu(list(self._launches), "kernel", "300px")
        self.block_slider = slider(0, 1, "block", "260px")
        self.warp_slider = slider(0, 1, "warp", "260px")
        self.step_slider = slider(0, 1, "step", "560px")
        self.row_slider = slider(0, 1, "shared row", "260px")
        for trait, control in (
            ("kernel", self.kernel_menu),
            ("block", self.block_slider),
            ("warp", self.warp_slider),
            ("step", self.step_slider),
            ("shared_row", self.row_slider),
        ):
            self.bind(trait, control)
        self.panes, self.message = StepperPanes(), widgets.HTML()
        self.panes.on_msg(lambda widget, content, buffers: self._pressed(content))
        self.kernel_menu.layout.display = None if len(self._launches) > 1 else "none"
        self.widget = widgets.VBox(
            [
                self.kernel_menu,
                self.step_slider,
                widgets.HBox([self.warp_slider, self.block_slider, self.row_slider], layout={"flex_flow": "row wrap"}),
                self.panes,
                self.message,
            ]
        )

    @validate("kernel")
    def _known_kernel(self, proposal: Any) -> str:
        if proposal["value"] not in self._launches:
            raise ValueError(f"no kernel {proposal['value']!r}: there are {', '.join(map(repr, self._launches))}")
        return proposal["value"]

    @validate("block")
    def _block_of_the_grid(self, proposal: Any) -> int:
        return min(max(int(proposal["value"]), 0), self._launch(self.kernel).blocks - 1)

    @validate("warp")
    def _warp_of_the_block(self, proposal: Any) -> int:
        return min(max(int(proposal["value"]), 0), self._launch(self.kernel).warps - 1)

    @validate("step")
    def _step_of_the_record(self, proposal: Any) -> int:
        if not hasattr(self, "widget"):
            return int(proposal["value"])
        return min(max(int(proposal["value"]), 0), max(len(self.record) - 1, 0))

    @validate("shared_row")
    def _row_of_shared_memory(self, proposal: Any) -> int:
        if not hasattr(self, "widget"):
            return int(proposal["value"])
        return min(max(int(proposal["value"]), 0), self._most_row())

    def _most_row(self) -> int:
        return max(0, view.shared_rows(self.record) - view.SHARED_ROWS)

    @observe("kernel", "block", "warp")
    def _other_run(self, change: Any) -> None:
        if hasattr(self, "widget") and (self.kernel, self.block, self.warp) != self._shown:
            if change.name == "kernel":
                self.block, self.warp = 0, 0
            self._show_run()

    def _show_run(self) -> None:
        """Record the warp and show it."""
        self._shown = (self.kernel, self.block, self.warp)
        launched = self._launch(self.kernel)
        self.message.value = "Compiling and running the kernel ..."
        try:
            record = self.record
        except Error as error:  # raised in a callback it would be seen in JupyterLab's log alone
            self.message.value = tables.code(str(error))
            raise
        for control, most in (
            (self.warp_slider, launched.warps - 1),
            (self.block_slider, launched.blocks - 1),
            (self.step_slider, len(record) - 1),
            (self.row_slider, self._most_row()),
        ):
            control.max = max(most, 1)
            control.layout.display = None if most > 0 or control is self.step_slider else "none"
        self.panes.code = view.code_data(record)
        self.step, self.shared_row = min(self.step, max(len(record) - 1, 0)), min(self.shared_row, self._most_row())
        self._chain = []
        self._draw(None)

    @observe("step")
    def _other_step(self, change: Any) -> None:
        if not hasattr(self, "widget"):
            return
        row = view.touched_row(self.record, self.step) if len(self.record) else None
        if row is not None and not self.shared_row <= row < self.shared_row + view.SHARED_ROWS:
            before, self.shared_row = self.shared_row, row
            if self.shared_row != before:
                return  # it has drawn the step, too
        self._draw(change)

    @observe("shared_row")
    def _draw(self, change: Any) -> None:
        if not hasattr(self, "widget"):
            return
        record = self.record
        if not len(record):
            self.message.value = tables.lines([f"This warp made no step. {' '.join(view.remarks(record))}"])
            self.summary = {"steps": 0, "remarks": view.remarks(record)}
            return
        state = view.step_data(record, self.step)
        # What is as before is not sent again.
        with self.panes.hold_sync():
            self.panes.shared = (
                view.shared_data(record, self.step, self.shared_row) if record.shared_bytes else _NO_SHARED
            )
            self.panes.state = {**state, "sentence": view.step_sentence(record, self.step)}
        self.message.value = tables.lines(view.remarks(record))
        self._show_chain()

    def _show_chain(self) -> None:
        record, first = self.record, self._chain[0].source if self._chain else None
        self.panes.chain = view.origin_data(record, self._chain)
        where: Any = "" if first is None else first.name if first.kind == "register" else first.address
        self.panes.chosen = ["" if first is None else first.kind, where, 0 if first is None else first.lane]
        state = self.panes.state
        written = [row for group in state["groups"] if group["role"] == "writes" for row in group["rows"]]
        self.summary = {
            "step": self.step,
            "steps": len(record),
            "line": record.line(self.step),
            "text": record.text(self.step),
            "lanes": state["executed"],
            "writes": {row["register"]: row["texts"] for row in written},
            "shared_row": self.shared_row,
            "chain": [{name: link[name] for name in ("name", "value", "step", "note")} for link in self.panes.chain],
            "remarks": view.remarks(record),
        }

    # Questions

    def ask(self, register: str, lane: int = 0) -> None:
        """Where a register's value after this step comes from.

        Raises:
            ValueError: the kernel has no such register, or a warp no such lane.
        """
        self._ask(register_source(self.record, register, lane, self.step + 1))

    def ask_shared(self, address: int, width: int = 4) -> None:
        """Where ``width`` bytes of shared memory come from, as they are after this step."""
        self._ask(memory_source(self.record, "shared", address, width, 0, self.step + 1))

    def _ask(self, source: Source) -> None:
        self._chain = [origin(self.record, source)]
        self._show_chain()

    def follow(self, number: int, level: int | None = None) -> None:
        """Ask further: the ``number``-th value that was read for the last answer, or for that of ``level``.

        Raises:
            IndexError: there is no such value.
        """
        kept = self._chain if level is None else self._chain[: level + 1]
        self._chain = [*kept, origin(self.record, kept[-1].inputs[number])]
        self._show_chain()

    def visit(self, level: int = -1) -> None:
        """Go to the step of another warp that wrote the value of an answer."""
        link = self._chain[level]
        if link.thread is None or link.tick is None:
            raise ValueError("this value was not written by another warp of the block")
        self.warp = link.thread // WARP
        self.step = self.record.position_at(link.tick)

    def next_line(self, forward: bool = True) -> None:
        """Go to the next step of another source line, or to the first step of the line before."""
        lines = np.array(self.record.lines)[self.record.steps["instruction"]]
        changes = np.flatnonzero(np.diff(lines, prepend=lines[:1] - 1))  # the first step of each visit of a line
        found = changes[changes > self.step] if forward else changes[changes < self.step]
        if len(found):
            self.step = int(found[0] if forward else found[-1])

    def _pressed(self, message: Mapping[str, Any]) -> None:
        """What was clicked in the picture."""
        moves: dict[str, Callable[[], None]] = {
            "back": lambda: setattr(self, "step", self.step - 1),
            "forward": lambda: setattr(self, "step", self.step + 1),
            "line back": lambda: self.next_line(forward=False),
            "line forward": self.next_line,
        }
        if "move" in message:
            moves[message["move"]]()
        elif "go" in message:
            self.step = int(message["go"])
        elif "visit" in message:
            self.visit(int(message["visit"]))
        elif "follow" in message:
            level, number = message["follow"]
            self.follow(int(number), int(level))
        elif message.get("memory"):
            self.ask_shared(*map(int, message["memory"]))
        elif message.get("ask"):
            register, lane = message["ask"]
            self.ask(register, int(lane))
        else:
            self._chain = []
            self._show_chain()


def _copied(args: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments with their arrays copied; one that is given twice is still one."""
    arrays = {id(argument): argument for argument in args if isinstance(argument, np.ndarray)}
    if any(np.may_share_memory(a, b) for a, b in combinations(arrays.values(), 2)):
        raise ValueError(
            "two arguments share memory, and the stepper works on copies: Kernel.steps takes them as they are"
        )
    copies = {number: array.copy() for number, array in arrays.items()}
    return tuple(copies.get(id(argument), argument) for argument in args)
