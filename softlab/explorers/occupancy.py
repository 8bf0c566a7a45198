"""Explorer of occupancy: how many blocks an SM holds, and which resource stops it from holding more."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets
from traitlets import Dict, Enum, Int, validate

from softlab.explorers.estimates import copy_picture
from softlab.explorers.explorer import Explorer, menu, side_by_side, slider, steady
from softlab.hardware import devices, occupancies
from softlab.views import tables
from softlab.views.occupancy import block_size_bars, limiter_bars, occupancy_sentences, warp_slots

#: The GPU whose estimates and recording are shown.
DEVICE = "H200"
MOST_THREADS = 1024
MOST_REGISTERS = 255
#: A step of the slider for shared memory, in bytes.
SMEM_STEP = 256


class OccupancyExplorer(Explorer):
    """What an SM holds of a kernel with given threads, registers and bytes of shared memory.

    >>> explorer = OccupancyExplorer(threads=256, registers=40, smem=8192)
    >>> explorer.summary["blocks_per_sm"], explorer.summary["limiters"]
    (6, ['registers'])

    A real kernel can be put straight in: ``OccupancyExplorer.of(softlab.plan(4096, 8192))``, or of a ``Kernel`` with
    ``threads=``; the sliders then start from what the compiler made of it.

    Traits: ``device``, ``threads``, ``registers``, ``smem`` (static + dynamic, bytes per block): the kernel.
    ``summary``: blocks_per_sm, warps_per_sm, fraction, limiters, limits (None: no limit), best (block size; 0: none
    fits), reason.
    """

    lesson = "07"
    device = Enum(devices.names(), "H200").tag(state=True)
    threads = Int(256).tag(state=True)
    registers = Int(32).tag(state=True)
    smem = Int(0).tag(state=True)
    summary = Dict()

    def __init__(self, threads: int = 256, registers: int = 32, smem: int = 0, *, device: str = "H200") -> None:
        super().__init__(device=device, threads=threads, registers=registers, smem=smem)
        self._build()
        self._draw()

    @classmethod
    def of(cls, kernel: Any, *, threads: int | None = None, smem: int = 0) -> OccupancyExplorer:
        """Start from a compiled kernel: a ``Plan``, or a ``Kernel`` or ``Program`` with ``threads`` per block.

        ``smem`` is the dynamic shared memory of a ``Kernel`` or ``Program``. Errors as of ``softlab.occupancy``.
        """
        held = occupancies.occupancy(kernel, threads=threads, smem=smem)
        return cls(held.threads, held.registers, held.smem, device=held.device.name)

    def _build(self) -> None:
        self.device_menu = menu(devices.names(), "GPU")
        self.threads_slider = slider(1, MOST_THREADS, "threads")
        self.registers_slider = slider(1, MOST_REGISTERS, "registers")
        self.smem_slider = slider(0, 227 * 1024, "smem", step=SMEM_STEP)
        # Before the value: a slider shows the step that is nearest to it.
        self._fit_step()
        self.observe(lambda change: self._fit_step(), "smem")
        for trait, control in (
            ("device", self.device_menu),
            ("threads", self.threads_slider),
            ("registers", self.registers_slider),
            ("smem", self.smem_slider),
        ):
            self.bind(trait, control)
        self.message, self.picture = widgets.HTML(), widgets.HTML()
        self.widget = widgets.VBox(
            [
                side_by_side([self.threads_slider, self.device_menu]),
                side_by_side([self.registers_slider, self.smem_slider]),
                steady(self.message, 3),
                self.picture,
            ]
        )
        self.observe(lambda change: self._draw(), ("device", "threads", "registers", "smem"))

    def _fit_step(self) -> None:
        self.smem_slider.step = 1 if self.smem % SMEM_STEP else SMEM_STEP

    @validate("threads")
    def _threads_in_range(self, proposal: Any) -> int:
        return min(max(int(proposal["value"]), 1), MOST_THREADS)

    @validate("registers")
    def _registers_in_range(self, proposal: Any) -> int:
        return min(max(int(proposal["value"]), 0), MOST_REGISTERS)

    @validate("smem")
    def _smem_in_range(self, proposal: Any) -> int:
        return max(int(proposal["value"]), 0)

    def _draw(self) -> None:
        device = devices.Device.named(self.device)
        held = occupancies.occupancy(device, threads=self.threads, registers=self.registers, smem=self.smem)
        table = occupancies.table(device, registers=self.registers, smem=self.smem)
        best = occupancies.best_block_size(table)
        record = held.record()
        names = ("blocks_per_sm", "warps_per_sm", "fraction", "limiters", "limits", "reason")
        self.summary = {name: record[name] for name in names} | {"best": best}
        self.smem_slider.max = max(device.smem_per_block_optin, self.smem)
        better = f" Most threads on an SM: blocks of {best}." if best else ""
        first, *more = occupancy_sentences(held)
        self.message.value = tables.lines([first + better, *more])
        # The curve is that of an H200: on another GPU the same number of warps changes the time differently. It stays
        # there without the kernel's line, so that the height does not jump.
        worth = copy_picture(held.warps_per_sm if self.device == DEVICE else None)
        self.picture.value = limiter_bars(held) + warp_slots(held) + block_size_bars(table, held, best) + worth
