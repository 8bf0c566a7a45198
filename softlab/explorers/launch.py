"""Explorer of a launch: the threads of a grid in warps and blocks, and the number that each of them works on."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import ipywidgets as widgets
import numpy as np
from traitlets import Dict, Enum, Int, observe, validate

from softlab.explorers.diagrams import GridDiagram
from softlab.explorers.explorer import Explorer, buttons, named, side_by_side, slider
from softlab.kernel import Kernel
from softlab.views import tables
from softlab.views.launch import launch_diagram

BLOCKS = (32, 64, 128)
MOST_NUMBERS = 256
#: Warps of the largest grid, for each size of a block.
MOST_WARPS = MOST_NUMBERS // 32
#: Every thread that has a number notes its own coordinates there.
SOURCE = """\
extern "C" __global__ void where(int* block, int* thread, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    block[i] = blockIdx.x;
    thread[i] = threadIdx.x;
  }
}
"""
LINE = "int i = blockIdx.x * blockDim.x + threadIdx.x;"


class LaunchExplorer(Explorer):
    """A launch for n numbers: how many blocks it takes, and which thread of which block gets number i.

    >>> explorer = LaunchExplorer(numbers=100, block=32, thread=40)
    >>> explorer.summary["grid"], explorer.summary["blockIdx"], explorer.summary["threadIdx"]
    (4, 1, 8)

    The coordinates are those that a kernel has written in the emulator.

    Traits: ``numbers``: n, one per thread; ``block``: threads per block; ``thread``: the highlighted one, counted over
    the grid. ``summary``: grid (blocks), threads (of the grid), warps, idle (threads without a number), and of the
    highlighted thread i, blockIdx, threadIdx, warp (of its block), lane, works (whether it has a number).
    """

    lesson = "0"
    numbers = Int(100).tag(state=True)
    block = Enum(BLOCKS, 32).tag(state=True)
    thread = Int(40).tag(state=True)
    summary = Dict()

    def __init__(self, numbers: int = 100, block: int = 32, thread: int = 40) -> None:
        self._kernel = Kernel(SOURCE, "where")
        self._ran = lru_cache(maxsize=64)(self._run)
        super().__init__(numbers=numbers, block=block, thread=thread)
        self.numbers_slider = slider(1, MOST_NUMBERS, "numbers")
        self.block_buttons = buttons(BLOCKS, "threads per block")
        self.thread_slider = slider(0, MOST_NUMBERS, "thread")
        self.message, self.diagram = widgets.HTML(), GridDiagram()
        for trait, control in (
            ("numbers", self.numbers_slider),
            ("block", self.block_buttons),
            ("thread", self.thread_slider),
        ):
            self.bind(trait, control)
        self.widget = widgets.VBox(
            [
                side_by_side([self.numbers_slider, named("block", self.block_buttons)]),
                self.thread_slider,
                self.message,
                self.diagram,
            ]
        )
        self.diagram.observe(self._clicked, "lane")
        self._draw()
        self.observe(lambda change: self._draw(), ("numbers", "block"))
        self.observe(lambda change: self._say(), "thread")

    @validate("numbers")
    def _numbers_in_range(self, proposal: Any) -> int:
        return min(max(int(proposal["value"]), 1), MOST_NUMBERS)

    @validate("thread")
    def _thread_of_the_grid(self, proposal: Any) -> int:
        return min(max(int(proposal["value"]), 0), self.grid * self.block - 1)

    @observe("numbers", "block")
    def _keep_the_thread(self, change: Any) -> None:
        self.thread = self.thread

    def _clicked(self, change: Any) -> None:
        if change.new >= 0:  # -1: the same cell again
            self.thread = change.new

    @property
    def grid(self) -> int:
        """Blocks: as many as the numbers need, the last one perhaps not full."""
        return -(-self.numbers // self.block)

    def _run(self, numbers: int, block: int, grid: int) -> tuple[np.ndarray, np.ndarray]:
        blocks, threads = (np.full(numbers, -1, np.int32) for _ in range(2))
        self._kernel.run(grid, block, (blocks, threads, np.int32(numbers)))
        return blocks, threads

    def _draw(self) -> None:
        self.found = self._ran(self.numbers, self.block, self.grid)
        self.thread_slider.max = self.grid * self.block - 1
        self.diagram.data = launch_diagram(*self.found, grid=self.grid, block=self.block, least_warps=MOST_WARPS)
        self._say()

    def _say(self) -> None:
        i, works = self.thread, self.thread < self.numbers
        blocks, threads = self.found
        # A thread without a number has written nothing: its position in the grid is all there is to say.
        block, thread = (int(blocks[i]), int(threads[i])) if works else divmod(i, self.block)
        self.summary = {
            "grid": self.grid,
            "threads": self.grid * self.block,
            "warps": self.grid * self.block // 32,
            "idle": self.grid * self.block - self.numbers,
            "i": i,
            "blockIdx": block,
            "threadIdx": thread,
            "warp": thread // 32,
            "lane": thread % 32,
            "works": works,
        }
        self.diagram.lane = i
        blocks_word = "block" if self.grid == 1 else "blocks"
        idle = self.summary["idle"]
        self.message.value = tables.lines(
            [
                f"{self.numbers} numbers, {self.block} threads per block: {self.grid} {blocks_word},"
                f" {self.grid * self.block} threads. {idle or 'No'} {'thread has' if idle == 1 else 'threads have'}"
                " no number.",
                f"Thread {thread} of block {block} is lane {thread % 32} of warp {thread // 32} in that block:"
                f" i = {block} * {self.block} + {thread} = {i}.",
                f"i is less than n = {self.numbers}, so it works on number {i}."
                if works
                else f"i is not less than n = {self.numbers}, so it has nothing to do and ends.",
            ]
        ) + tables.code(LINE)
