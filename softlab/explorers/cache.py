"""Explorer of the cache: the rows that a GPU works on at once, beside its L2; and what it read from DRAM."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets
from traitlets import Dict, Enum, Int, validate

from softlab.bench import caches, recordings
from softlab.bench.caches import Reread
from softlab.bench.cases import rows_of
from softlab.bench.record.cache import BLOCK_SIZES, COLS, DTYPE, FEW_GRIDS
from softlab.explorers.explorer import Explorer, buttons, named, side_by_side, steady
from softlab.plans import Plan, forced
from softlab.views import tables
from softlab.views.caches import Point, cache_picture

#: Value of ``blocks`` for the grid that the dispatcher makes.
ALL = 0
RECORDING = "cache_h200"


class CacheExplorer(Explorer):
    """How much of the input the uncached kernel works on at a time, beside the L2; and what was recorded of it.

    >>> explorer = CacheExplorer(cols=16_384, block_size=1024)
    >>> explorer.summary["in_flight_mib"], explorer.summary["recorded"]["dram_read"]
    (16.5, 1.0)

    Traits: ``cols``, ``block_size``: the problem, 256 MiB of float32; a value that was not recorded
    becomes the nearest one that was. ``blocks``: how many blocks are launched, 0 for the dispatcher's number.
    ``summary``: rows (in flight), in_flight_mib, l2_mib, fits, recorded (None, or: dram_read and dram_written in
    inputs, microseconds, of_copy, dram_gb_per_second).
    """

    lesson = "06"
    cols = Int(16_384).tag(state=True)
    block_size = Enum(BLOCK_SIZES, 1024).tag(state=True)
    blocks = Int(ALL).tag(state=True)
    summary = Dict()

    def __init__(self, cols: int = 16_384, block_size: int = 1024, *, blocks: int = ALL) -> None:
        self._recording = recordings.load(RECORDING)
        self._points = caches.recorded(RECORDING)
        super().__init__(cols=cols, block_size=block_size, blocks=blocks)
        self._build()
        self._draw()

    def _build(self) -> None:
        self.cols_slider = self._slider([(tables.shown(cols), cols) for cols in COLS], "cols", "460px")
        self.size_buttons = buttons(BLOCK_SIZES, "threads per block")
        self.blocks_slider = self._slider([*((str(few), few) for few in FEW_GRIDS), ("all", ALL)], "blocks", "460px")
        for trait, control in (
            ("cols", self.cols_slider),
            ("block_size", self.size_buttons),
            ("blocks", self.blocks_slider),
        ):
            self.bind(trait, control)
        self.message, self.picture = widgets.HTML(), widgets.HTML()
        self.widget = widgets.VBox(
            [
                side_by_side([self.cols_slider, named("threads", self.size_buttons)]),
                self.blocks_slider,
                self.picture,
                steady(self.message, 2),
            ]
        )
        self.observe(lambda change: self._draw(), ("cols", "block_size", "blocks"))

    @staticmethod
    def _slider(options: list[tuple[str, int]], name: str, width: str) -> widgets.SelectionSlider:
        made = widgets.SelectionSlider(options=options, description=name, layout={"width": width, "flex": "0 0 auto"})
        made.style.description_width = "62px"
        return made

    @validate("cols")
    def _recorded_cols(self, proposal: Any) -> int:
        return min(COLS, key=lambda cols: abs(cols - int(proposal["value"])))

    @validate("blocks")
    def _recorded_blocks(self, proposal: Any) -> int:
        asked = int(proposal["value"])
        return ALL if asked <= 0 else min(FEW_GRIDS, key=lambda few: abs(few - asked))

    def _plan(self) -> Plan:
        rows, size = rows_of(self.cols, DTYPE), self.block_size
        return forced(rows, self.cols, DTYPE, kernel="block_uncached", block_size=size, device="H200")

    def _found(self, grid: int) -> Reread | None:
        asked = (self.block_size, self.cols, grid)
        return next((point for point in self._points if (point.block_size, point.cols, point.grid) == asked), None)

    def _draw(self) -> None:
        made = self._plan()
        grid = min(self.blocks or made.grid, made.grid)
        flight, found = caches.flight(made, grid), self._found(grid)
        l2 = (made.device.l2_bytes or 0) / 2**20
        self.summary = {
            "rows": flight.rows,
            "in_flight_mib": round(flight.mib, 1),
            "l2_mib": l2,
            "fits": flight.mib <= l2,
            "recorded": None
            if found is None
            else {
                "dram_read": round(found.dram_read, 2),
                "dram_written": round(found.dram_written, 2),
                "microseconds": round(found.microseconds, 1),
                "of_copy": round(found.of_copy, 3),
                "dram_gb_per_second": round(found.dram_gb_per_second),
            },
        }
        held, sms = made.occupancy.blocks_per_sm, made.device.sm_count
        source = f"{held} blocks on each of {sms} SMs" if flight.rows == held * sms else f"{flight.rows} blocks"
        sentence = f"{source}: {flight.rows} rows of {tables.shown(self.cols)} float32 at a time"
        by_size = sorted(self._points, key=lambda point: point.block_size)
        points = [self._point(point, here=point is found) for point in by_size]
        self.picture.value = cache_picture(flight.mib, l2, points, sentence=sentence, stamp=self._recording.stamp)
        self.message.value = tables.lines(self._sentences(found, grid))

    def _sentences(self, found: Reread | None, grid: int) -> list[str]:
        if found is None:
            return [f"{tables.shown(grid)} blocks of {self.block_size} were not recorded at this row length."]
        return [
            f"Recorded: {found.dram_read:.2f} inputs read from DRAM, {found.microseconds:.0f} microseconds,"
            f" {found.of_copy:.0%} of a device copy's speed.",
            f"DRAM moved {tables.shown(round(found.dram_gb_per_second))} GB/s meanwhile: reads, re-reads and results.",
        ]

    @staticmethod
    def _point(point: Reread, *, here: bool) -> Point:
        by_hand = f", {point.grid} blocks, fewer than planned" if point.by_hand else ""
        tip = (
            f"blocks of {point.block_size}, {point.cols} columns{by_hand}: {point.flight.mib:.1f} MiB in flight,"
            f" {point.dram_read:.2f} inputs read, {point.microseconds:.0f} microseconds"
        )
        return Point(point.flight.mib, point.dram_read, f"blocks of {point.block_size}", point.by_hand, here, tip)
