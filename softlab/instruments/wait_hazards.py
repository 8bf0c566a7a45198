"""Finds threads that others wait for in vain: barriers in divergent code, shuffles from inactive lanes, masks that do
not name who comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from softlab.emulator.lanes import WARP, Lanes, Value
from softlab.emulator.machine.flow import Block, is_warp_synchronous
from softlab.emulator.machine.loop_records import LoopCode
from softlab.emulator.machine.observers import Observer
from softlab.emulator.sites import InstructionSite
from softlab.errors import KernelFault
from softlab.instruments.barrier_bypass import BarrierBypasses
from softlab.instruments.barrier_meetings import Meeting, is_aligned, meetings, second_arrival, uneven
from softlab.instruments.warp_syncs import names_all

_BYPASSED_BARRIER = (
    "the thread goes around a barrier at which others of its block wait. Move the barrier out of the branch or loop: "
    "all threads of the block must come to it"
)
_BYPASSED_PART = (
    "the thread goes around a barrier at which other threads of its warp wait. A warp comes to an aligned barrier "
    "(bar.sync) as a whole. Move the barrier out of the branch or loop"
)
_BYPASSED_ARRIVAL = (
    "the thread goes around a barrier at which other threads of its warp have arrived. A warp comes to an aligned "
    "barrier (bar.arrive) as a whole. Order its lanes by __syncwarp(), and let all of them arrive"
)
_BYPASSED_WARP_SYNC = (
    "the thread goes around a warp-synchronous instruction whose mask names it, and at which other lanes wait. Move "
    "the instruction out of the branch, or name only the lanes that come (__ballot_sync)"
)


class WaitHazards(Observer):
    """Raises a ``KernelFault`` at the first fault. One observer watches one run."""

    def __init__(self) -> None:
        self.watched: Any = None
        self._bypasses: BarrierBypasses
        #: Arrivals (``bar.arrive``) to which some lanes of a warp have come, and others not.
        self._torn_arrivals: set[int]
        #: The last that was only a warning.
        self._meeting: Meeting | None = None
        self._members: Value = np.uint32(0)

    def batch(self, batch: Any) -> None:
        """Start with nobody who waits."""
        self.watched = batch
        self._bypasses = BarrierBypasses(batch.program, in_turns=batch.in_turns)
        self._torn_arrivals = set()
        self._meeting = None

    def report(self, fault: KernelFault, bad: Any = True, severity: str = "error") -> None:
        """Raise the fault of the lanes for which ``bad`` holds, or keep it in a run that collects."""
        self.watched.faults.report(fault, severity=severity, count=int(np.count_nonzero(bad)))

    def resume(self, lanes: Lanes, *instructions: int) -> None:
        """Lanes that waited at these instructions continue."""
        self._bypasses.resume(lanes, *instructions)

    # Warps

    def warp_sync(self, site: InstructionSite, lanes: Lanes, members: Value) -> None:
        """Each lane's mask must name the lane."""
        self._members = members
        self._bypasses.resume(lanes, site.index)
        if not names_all(members):
            self._check_named(site, lanes, members)

    def _check_named(self, site: InstructionSite, lanes: Lanes, members: Value) -> None:
        lane = np.asarray(lanes.column_index % WARP, np.uint32)
        unnamed = (members >> lane & np.uint32(1)) == 0
        if unnamed.any():
            self.report(self.watched.faults.fault(
                "inactive-lane",
                "the thread executes a warp-synchronous instruction whose mask does not name it. Give the mask of the "
                "lanes that come here",
                site.instruction, lanes, unnamed, None,
            ), np.broadcast_to(unnamed, lanes.extent))  # fmt: skip

    def shuffle(
        self, site: InstructionSite, lanes: Lanes, source: np.ndarray, given: np.ndarray, received: np.ndarray
    ) -> None:
        """The source lane must take part, and the reader's mask must name it (``warp_sync`` was told the mask)."""
        if lanes.full and names_all(self._members):
            return
        active = np.broadcast_to(lanes.warp_mask, np.broadcast_shapes(lanes.warp_mask.shape, source.shape))
        source_active = np.take_along_axis(active, np.broadcast_to(source, active.shape).astype(np.int64), axis=2)
        named = lanes.spread(self._members) >> source.astype(np.uint32) & np.uint32(1) == 1
        missing = active & ~(source_active & named)
        if missing.any():
            readers = np.broadcast_to(lanes.collect(missing), lanes.extent)
            self.report(self.watched.faults.fault(
                "inactive-lane",
                "the thread reads the register of a lane that does not take part in the shuffle, which gives any "
                "value. Let all lanes of the mask come to it, and choose the width so that no other lane is read",
                site.instruction, lanes, readers, None,
            ), readers)  # fmt: skip

    # Who waits for whom

    def stall(self, block: Block, lanes: Lanes) -> None:
        """Lanes wait for others of their warp."""
        self._bypasses.wait(block.start, block.index, lanes, WARP)

    def arrive(self, barrier: int, block: Block, lanes: Lanes, count: int | None) -> None:
        """Lanes wait for others of their block; at a barrier for a part of it, for those of their warp."""
        if count is None or count >= lanes.threads:
            self._bypasses.wait(block.stop - 1, block.index + 1, lanes, lanes.threads, barrier)
        elif is_aligned(self.watched.program.image.instructions[block.stop - 1]) and self._torn(lanes):
            self._bypasses.wait(block.stop - 1, block.index + 1, lanes, WARP)

    def ahead(self, barrier: int, lanes: Lanes, block: Block | None) -> None:
        """Lanes that arrive at a barrier and go on do not bypass it. The others of their warps must come, too."""
        self._bypasses.arrive_ahead(barrier, lanes, block is None)
        if block is None:
            self._bypasses.resume(lanes, *self._torn_arrivals)
            self._torn_arrivals = {index for index in self._torn_arrivals if self._bypasses.within_warps(index)}
        elif is_aligned(self.watched.program.image.instructions[block.stop - 1]) and self._torn(lanes):
            self._bypasses.wait(block.stop - 1, block.index + 1, lanes, WARP)
            self._torn_arrivals.add(block.stop - 1)

    def _torn(self, lanes: Lanes) -> bool:
        """Whether threads of a warp are elsewhere while others of it are among these lanes."""
        live = self.watched.live_mask()
        here = lanes.mask.reshape(-1, WARP)
        return live is not None and bool((live.reshape(-1, WARP)[here.any(axis=1)] & ~here[here.any(axis=1)]).any())

    def twice(self, barrier: int, block: Block, lanes: Lanes) -> None:
        """Lanes come a second time to a barrier that is not complete."""
        self.report(second_arrival(self.watched, barrier, block.stop - 1, lanes))

    def meet(self, barrier: int, places: Sequence[tuple[int, int | None, Lanes]]) -> None:
        """Lanes pass a barrier from several places: the rules of PTX, and that of __syncthreads()."""
        for meeting in meetings(self.watched, barrier, places):
            self.watched.faults.report(meeting.fault, severity=meeting.severity, count=meeting.count)
            if meeting.severity == "warning":
                self._meeting = meeting

    def barrier(self, lanes: Lanes, instructions: Sequence[int], ahead: Lanes | None = None) -> None:
        """Lanes that waited at these instructions continue."""
        self._bypasses.resume(lanes, *instructions)

    def block(self, block: Block, lanes: Lanes) -> None:
        """Threads that run code behind an instruction at which others wait for them have bypassed it."""
        self._bypasses.run(block, lanes)

    def takes_loop(self, loop: LoopCode) -> bool:
        """Blocks matter while threads wait."""
        return not self._bypasses.waiting

    def exit(self, lanes: Lanes) -> None:
        """A thread that bypassed such an instruction and exits never comes to it."""
        found = self._bypasses.by_exiting(lanes)
        if found is not None:
            index, mask = found
            self.report(self._bypassed(index, lanes, mask))

    def _bypassed(self, index: int, lanes: Lanes, mask: np.ndarray) -> KernelFault:
        """The fault of the masked lanes, which bypassed the instruction with that index."""
        instruction = self.watched.program.image.instructions[index]
        if is_warp_synchronous(instruction):
            kind, sentence = "inactive-lane", _BYPASSED_WARP_SYNC
        elif self._meeting is not None and (lanes.mask & mask)[self._meeting.first[1].any(axis=1)].any():
            return uneven(self.watched, self._meeting)
        else:
            kind = "barrier-divergence"
            sentence = _BYPASSED_PART if self._bypasses.within_warps(index) else _BYPASSED_BARRIER
            if index in self._torn_arrivals:
                sentence = _BYPASSED_ARRIVAL
        return self.watched.faults.fault(kind, sentence, instruction, lanes, lanes.take(mask), None)
