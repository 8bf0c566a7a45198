"""The faults that a batch reports: what is wrong, where, and how it is usually mended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from softlab.emulator.block_memory import LocalMemory, SharedMemory
from softlab.emulator.faults import Geometry, first_lane, kernel_fault
from softlab.emulator.flow import is_cluster_barrier
from softlab.emulator.lanes import WARP, Lanes, Value
from softlab.emulator.linker import RANK_SHIFT
from softlab.emulator.memory import GlobalMemory, Site
from softlab.emulator.ptx import Instruction
from softlab.errors import KernelFault

if TYPE_CHECKING:
    from softlab.emulator.machine import Launch


class FaultReports:
    """What the batch knows of itself, said as faults."""

    launch: Launch
    blocks: int
    geometry: Geometry
    global_: GlobalMemory
    shared: SharedMemory
    local: LocalMemory

    def fault(
        self, kind: str, sentence: str, instruction: Instruction | None, lanes: Lanes, bad: object, address: int | None
    ) -> KernelFault:
        """The fault of the first lane where ``bad`` holds."""
        row, column = first_lane(lanes, bad)
        return kernel_fault(
            kind,
            sentence,
            instruction,
            self.launch.file,
            thread=self.geometry.thread(column),
            block=self.geometry.place(row),
            address=address,
        )

    def memory_fault(self, kind: str, lanes: Lanes, site: Site, bad: object, address: Value) -> KernelFault:
        """The fault of an access out of bounds or misaligned."""
        flat = np.broadcast_to(np.asarray(bad), lanes.extent).reshape(-1)
        target = int(np.broadcast_to(np.asarray(address), lanes.extent).reshape(-1)[int(flat.argmax())])
        verb = "writes" if site.store else "reads"
        shown, place = self._describe(site, target)
        sentences = {
            "global-out-of-bounds": f"the thread {verb} {site.width} bytes {place}. Test the index against the length "
            "before the access, and check the array's size and the grid",
            "shared-out-of-bounds": f"the thread {verb} {site.width} bytes {place}. Check the index and the dynamic "
            "shared memory of the launch (smem=)",
            "misaligned": f"the thread {verb} {site.width} bytes {place}, which is no multiple of {site.width}. A "
            "vector access needs an address that is a multiple of its size: load single elements where the row does "
            "not start there",
        }
        return self.fault(kind, sentences[kind], site.instruction, lanes, bad, shown)

    def shown_address(self, address: int) -> int:
        """An address as faults show it: from the start of its array, or in the block's shared memory."""
        near = self.global_.nearest(address)
        return address - near.base if near is not None else address & (1 << RANK_SHIFT) - 1

    def _describe(self, site: Site, address: int) -> tuple[int, str]:
        """(address to report, where it is in words)."""
        if site.space in ("shared", "cluster"):
            if self.geometry.blocks_per_cluster > 1 and 0 < address >> RANK_SHIFT <= self.geometry.blocks_per_cluster:
                return address, (
                    f"at the address of block {(address >> RANK_SHIFT) - 1} of the cluster, which only shared::cluster "
                    "and generic accesses reach"
                )
            signed = (
                address - (1 << 64) if address >= 1 << 63 else address - (1 << 32) if address >= 1 << 31 else address
            )
            return signed, f"at byte {signed} of the block's shared memory, which has {self.shared.nbytes} bytes"
        if site.space == "local":
            return address, f"at byte {address} of its local memory, which has {self.local.nbytes} bytes"
        near = self.global_.nearest(address)
        if near is None:
            return address, f"at address {address:#x}, where no array is"
        offset = address - near.base
        return offset, f"at byte {offset} of {near.name}, which has {near.nbytes} bytes"

    def endless(self, lanes: Lanes, instruction: Instruction) -> KernelFault:
        """The fault of a loop that is proven to have no end."""
        sentence = (
            "the thread runs a loop that cannot end: its registers and the memory are as they were some turns before. "
        )
        sentence += self._not_begun() or "Check what should end the loop"
        return self.fault(
            "infinite-loop",
            sentence,
            instruction,
            lanes,
            np.bool_(True),
            None,
        )

    def _not_begun(self) -> str:
        """A hint for who waits for a block that has not begun; "" where all have."""
        later = self.launch.blocks - self.geometry.first - self.blocks
        if not later:
            return ""
        return (
            f"If it waits for another block: of the {self.launch.blocks} blocks of the grid {self.blocks} run at a "
            f"time, in order, and {later} have not begun; a GPU does not run all of a large grid at once either. A "
            "block may wait only for blocks before it, or for its own cluster, unless the launch is cooperative "
            "(cooperative=True), which runs all blocks at once"
        )

    def over_budget(self, lanes: Lanes, instruction: Instruction) -> KernelFault:
        """The fault of a kernel that has not ended after all instructions that it may issue."""
        hint = self._not_begun()
        return self.fault(
            "infinite-loop",
            f"the kernel has issued {self.launch.budget} instructions and has not ended. Check what should end the "
            f"loop here; if it is only long, raise budget={'. ' if hint else ''}{hint}",
            instruction,
            lanes,
            np.bool_(True),
            None,
        )

    def alone(self, number: int, lanes: Lanes) -> None:
        """Lanes run a warp-synchronous instruction though others that it names are waiting elsewhere."""
        if not self.launch.check:
            return
        instruction = self.launch.program.image.instructions[self.launch.program.blocks[number].start]
        raise self.fault(
            "inactive-lane",
            "the thread exchanges values with lanes that its mask names and that wait elsewhere or take another "
            "branch. Move the instruction out of the branch, or name only the lanes that come (__ballot_sync)",
            instruction,
            lanes,
            np.bool_(True),
            None,
        )

    def deadlock(self, place: int, lanes: Lanes) -> KernelFault:
        """The fault of lanes that wait at a barrier for ever."""
        instruction = self.launch.program.image.instructions[place]
        whole = "cluster" if is_cluster_barrier(instruction) else "block"
        return self.fault(
            "barrier-divergence",
            f"the thread waits at a barrier that other threads of its {whole} never reach. Move the barrier out of the "
            "branch, so that all threads come to it",
            instruction,
            lanes,
            np.bool_(True),
            None,
        )

    # Clusters

    def cluster_fault(
        self, reason: str, lanes: Lanes, site: Site, bad: np.ndarray, offset: Value, rows: np.ndarray
    ) -> KernelFault:
        """The fault of an access to a block that is not in the cluster ("no-block"), or that has ended ("ended")."""
        row = int(np.broadcast_to(rows, lanes.extent).reshape(-1)[_first(bad, lanes)])
        verb = "writes" if site.store else "reads"
        size = self.geometry.blocks_per_cluster
        if reason == "no-block":
            start = first_lane(lanes, bad)[0] // size * size
            sentence = (
                f"the thread {verb} shared memory of the block of rank {row - start} of its cluster, which has {size} "
                f"blocks. Map a rank below %cluster_nctarank"
            )
        else:
            sentence = (
                f"the thread {verb} shared memory of block {self.geometry.place(row)}, which has ended. Let the blocks "
                "of the cluster wait for each other at a barrier of the cluster before they end"
            )
        target = int(np.broadcast_to(offset, lanes.extent).reshape(-1)[_first(bad, lanes)])
        return self.fault("shared-out-of-bounds", sentence, site.instruction, lanes, bad, target)

    def barrier_fault(self, what: str, instruction: Instruction, lanes: Lanes, bad: object) -> KernelFault:
        """The fault of a thread that uses the barrier of its cluster in another order than arrive, wait."""
        sentence = f"the thread {what}. Each thread arrives once, then waits once, and so on"
        return self.fault("barrier-divergence", sentence, instruction, lanes, bad, None)

    def check_aligned(self, lanes: Lanes, live: np.ndarray, instruction: Instruction) -> None:
        """An ``.aligned`` instruction is executed by all threads of a warp together.

        Raises:
            KernelFault: some come alone.
        """
        if not self.launch.check or lanes.full:
            return
        mask = lanes.mask
        here = mask.reshape(self.blocks, -1, WARP)
        split = here.any(axis=2) & (live.reshape(here.shape) & ~here).any(axis=2)
        if not split.any():
            return
        bad = lanes.take(np.repeat(split, WARP, axis=1))
        raise self.fault(
            "barrier-divergence",
            "the thread executes an .aligned barrier without the other threads of its warp. Move the barrier out of "
            "the branch, or leave .aligned out",
            instruction,
            lanes,
            bad,
            None,
        )


def _first(bad: object, lanes: Lanes) -> int:
    return int(np.broadcast_to(np.asarray(bad), lanes.extent).reshape(-1).argmax())
