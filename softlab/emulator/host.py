"""What the memories, barriers and copies of a batch may ask of the machine that runs it.

The machine implements these protocols. A component gets the smallest one that it needs as a constructor argument, so
that no component imports the machine.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site
from softlab.errors import KernelFault


class BadLanes(Exception):
    """Lanes of an access are at fault, and a run that collects its faults has kept theirs; ``bad``: of the set."""

    def __init__(self, bad: object) -> None:
        super().__init__()
        self.bad = np.asarray(bad, bool)

    def others(self, lanes: Lanes) -> Lanes | None:
        """The lanes of the set that are not at fault."""
        return lanes.split(~self.bad)[0]


class FaultReporter(Protocol):
    """Makes the error for what a lane does wrong, with its sentence, line, thread, block and address.

    ``bad`` is a value of the set ``lanes``. The fault is that of the first lane where it holds.
    """

    def fault(
        self,
        kind: str,
        sentence: str,
        instruction: Instruction | None,
        lanes: Lanes,
        bad: object,
        address: int | None = None,
        argument: int | None = None,
        other: tuple[Instruction, Lanes] | None = None,
    ) -> KernelFault:
        """The fault in the words of the caller. ``other``: another instruction that it meets, and the lanes there."""

    def report(self, fault: KernelFault, *, severity: str = "error", count: int = 1) -> None:
        """Raise a fault that was found ``count`` times, or keep it in a run that collects its faults."""

    def memory_fault(self, kind: str, lanes: Lanes, site: Site, bad: object, address: Value) -> Exception:
        """The fault of an access that is out of bounds or misaligned; in a run that collects, :class:`BadLanes`."""

    def cluster_fault(
        self, reason: str, lanes: Lanes, site: Site, bad: np.ndarray, offset: Value, rows: np.ndarray
    ) -> KernelFault:
        """The fault of an access to a block that is not in the cluster ("no-block"), or that has ended ("ended")."""

    def barrier_fault(self, what: str, instruction: Instruction, lanes: Lanes, bad: object) -> KernelFault:
        """The fault of a thread that uses the barrier of its cluster in another order than arrive, wait."""

    def located(self, address: int) -> tuple[int, int | None]:
        """(address as faults show it, index of the kernel argument that it belongs to or is nearest to)."""


class Host(Protocol):
    """Knows which threads of the batch still run, and makes their faults."""

    @property
    def faults(self) -> FaultReporter:
        """Makes the errors."""

    def live_mask(self) -> np.ndarray | None:
        """(blocks, threads) bool: the lanes that have not ended; None where all have."""

    def ended_rows(self) -> np.ndarray | None:
        """(blocks,) bool: the blocks whose threads have all ended; None where there is none."""

    def check_aligned(self, lanes: Lanes, instruction: Instruction) -> None:
        """Check that whole warps execute an ``.aligned`` instruction.

        Raises:
            KernelFault: some lanes execute it without the other live lanes of their warp.
        """
