"""The host of a batch's memories and barriers: its faults, its live threads, its special registers.

It knows neither the batch nor the units, so that a batch is no circle of references: its memory is freed when it ends.
"""

from __future__ import annotations

import numpy as np

from softlab.emulator.lanes import WARP, Lanes, Value
from softlab.emulator.machine.clocks import CLOCKS, MORE_TURNS, WAITS, clock
from softlab.emulator.machine.faults import Geometry
from softlab.emulator.machine.launch import Launch
from softlab.emulator.machine.reports import FaultReports
from softlab.emulator.machine.schedule import Schedule
from softlab.emulator.machine.specials import special_registers
from softlab.emulator.ptx.syntax import Instruction


class BatchHost:
    """A :class:`softlab.emulator.host.Host`. ``steps`` counts the instructions that the batch has issued."""

    def __init__(self, launch: Launch, blocks: int, geometry: Geometry) -> None:
        self._launch = launch
        self._blocks = blocks
        self.faults = FaultReports(launch, blocks, geometry)
        self.steps = 0
        self._passed = 0
        self._schedule: Schedule
        self._specials: dict[str, Value] = {}

    def begin(self, geometry: Geometry, schedule: Schedule) -> None:
        """The next batch begins."""
        self.faults.geometry = geometry
        self.steps = 0
        self._passed = 0
        self._schedule = schedule
        self._specials = special_registers(self._launch, geometry, self._blocks)

    def special(self, lanes: Lanes, name: str) -> Value:
        """The value of a special register."""
        if name in CLOCKS:
            return clock(name, self.steps + self._passed)
        return lanes.take(self._specials[name])

    def pass_time(self, turn: int) -> bool:
        """Let the clock go on by a time that grows with each turn; False after the last one."""
        if turn <= len(WAITS):
            self._passed += WAITS[turn - 1]
        return turn <= len(WAITS) + MORE_TURNS

    def live_mask(self) -> np.ndarray | None:
        """(blocks, threads) bool: the lanes that have not ended; None where all have."""
        live = self._schedule.live
        return None if live is None else live.mask

    def ended_rows(self) -> np.ndarray | None:
        """(blocks,) bool: the blocks whose threads have all ended; None where there is none."""
        live = self._schedule.live
        if live is None or live.count == self._blocks * self._launch.threads:
            return None
        return np.asarray(~live.mask.any(axis=1))

    def check_aligned(self, lanes: Lanes, instruction: Instruction) -> None:
        """Check that whole warps execute an ``.aligned`` instruction.

        Raises:
            KernelFault: some lanes execute it without the other live lanes of their warp.
        """
        live = self.live_mask()
        if not self._launch.check or lanes.full or live is None:
            return
        here = lanes.mask.reshape(self._blocks, -1, WARP)
        split = here.any(axis=2) & (live.reshape(here.shape) & ~here).any(axis=2)
        if split.any():
            self.faults.report(self.faults.not_aligned(instruction, lanes, lanes.take(np.repeat(split, WARP, axis=1))))
