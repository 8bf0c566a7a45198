"""The faults that a batch reports: what is wrong, where, and how it is usually repaired."""

from __future__ import annotations

import numpy as np

from softlab.emulator.host import BadLanes
from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.machine.faults import Described, Geometry, OtherAccess, first_lane, kernel_fault
from softlab.emulator.machine.flow import is_cluster_barrier
from softlab.emulator.machine.launch import Launch
from softlab.emulator.machine.schedule import Shortage
from softlab.emulator.memory.allocations import Allocation
from softlab.emulator.ptx.linker import RANK_SHIFT
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site
from softlab.errors import STOP_KINDS, KernelFault

#: The header of cooperative groups, and its folder.
_GROUPS = "cooperative_groups"
#: What to do about a fault of each kind, as the end of its sentence.
HINTS = {
    "global-out-of-bounds": ". Test the index against the length before the access, and check the array's size and the "
    "grid",
    "local-out-of-bounds": ". Check the index against the size of the array",
    "shared-out-of-bounds": ". Check the index and the dynamic shared memory of the launch (smem=)",
    "misaligned": ", which is no multiple of {width}. A vector access needs an address that is a multiple of its size: "
    "load single elements where the row does not start there",
}
#: Of an array that begins at such an address itself.
_MISALIGNED_ARRAY = (
    ". The array itself begins at an address that is no multiple of {width}. Pass a copy of it, or a view that begins "
    "at a multiple"
)
#: Of a misaligned store to the result of a function. NVRTC 12.9 writes one, and ptxas drops the address's low bits: an
#: H100 had the value at the lower address.
_PACKED_RESULT = (
    ", which is no multiple of {width}. It is the result of a function, a packed struct without the fields that no "
    "caller reads: the compiler puts the rest at odd addresses, and a GPU then gives other values. Read all its fields "
    "behind the call, or return a struct that is not packed"
)

#: What a second instruction is that a fault of some kind names, where it is no barrier.
_OTHERS = {"wgmma-misuse": "the other instruction", "uninitialized-local": "the use"}


class FaultReports:
    """Makes the faults of one batch. ``geometry`` says where its lanes are in the grid."""

    def __init__(self, launch: Launch, blocks: int, geometry: Geometry) -> None:
        self._launch = launch
        self._blocks = blocks
        self.geometry = geometry
        #: Of a run that collects: the first fault of each kind that an access had.
        self._first: dict[tuple[str, Site], KernelFault] = {}

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
        """The fault of the first lane where ``bad`` holds; ``other``: another instruction that it meets, and lanes."""
        row, column = first_lane(lanes, bad)
        if kind in STOP_KINDS and instruction is not None:
            sentence += self._of_grid_groups(instruction) or self._trap_hint(kind, instruction)
        return kernel_fault(
            kind,
            sentence,
            instruction,
            self._launch.file,
            thread=self.geometry.thread(column),
            block=self.geometry.block_index(row),
            address=address,
            argument=argument,
            other=self._other(kind, *other) if other is not None else None,
        )

    def _trap_hint(self, kind: str, instruction: Instruction) -> str:
        names = self._launch.names
        return names.trap_hint(instruction) if kind == "trap" and names is not None else ""

    def _of_grid_groups(self, instruction: Instruction) -> str:
        """A hint for a kernel that stops in cooperative groups' barrier of the grid; "" for others."""
        if self._launch.cooperative or not any(f.file.startswith(_GROUPS) for f in instruction.frames):
            return ""
        return (
            " in cooperative groups: the barrier of the grid (grid.sync()) does not work in a launch that is not "
            "cooperative. Launch with cooperative=True"
        )

    def _other(self, kind: str, instruction: Instruction, lanes: Lanes) -> OtherAccess:
        row, column = first_lane(lanes, np.bool_(True))
        where = self.geometry.thread(column), self.geometry.block_index(row)
        return OtherAccess(instruction, *where, what=_OTHERS.get(kind, "the other barrier"))

    def report(self, fault: KernelFault, *, severity: str = "error", count: int = 1) -> None:
        """Raise a fault that was found ``count`` times, or keep it in a run that collects its faults."""
        self._launch.sink.report(fault, severity=severity, count=count)

    def memory_fault(self, kind: str, lanes: Lanes, site: Site, bad: object, address: Value) -> Exception:
        """The fault of an access out of bounds or misaligned; in a run that collects, :class:`BadLanes`."""
        flat = np.broadcast_to(np.asarray(bad), lanes.extent).reshape(-1)
        if (kind, site) in self._first:  # a finding keeps the first fault, so no other needs its words
            self.report(self._first[kind, site], count=int(np.count_nonzero(flat)))
            return BadLanes(bad)
        target = int(np.broadcast_to(np.asarray(address), lanes.extent).reshape(-1)[int(flat.argmax())])
        verb = "writes" if site.store else "reads"
        shown, location, argument = self._describe(site, target)
        of_result = kind == "misaligned" and site.store and site.instruction.has("param")
        hint = (_PACKED_RESULT if of_result else HINTS[kind]).format(width=site.alignment)
        if kind == "misaligned" and argument is not None and shown % site.alignment == 0:
            hint = _MISALIGNED_ARRAY.format(width=site.alignment)
        named = None if kind == "misaligned" else self._named(site, target)
        if named is None:
            fault = self.fault(
                kind, f"the thread {verb} {site.width} bytes {location}{hint}", site.instruction, lanes, bad, shown,
                argument,
            )  # fmt: skip
            fault.symbol = self._element(argument, target) if site.space == "global" else None
        else:
            sentence = f"the thread {verb} {named.words}{named.hint or hint}"
            argument = argument if named.argument is None else named.argument
            fault = self.fault(kind, sentence, site.instruction, lanes, bad, shown, argument)
            fault.symbol = named.symbol
        if not self._launch.sink.collects:
            return fault
        self._first[kind, site] = fault
        self.report(fault, count=int(np.count_nonzero(flat)))
        return BadLanes(bad)

    def _named(self, site: Site, address: int) -> Described | None:
        """An address outside of its array, as the source names it."""
        launch = self._launch
        if launch.names is None or (site.space == "shared" and self._block_of_cluster(address) is not None):
            return None
        return launch.names.described(site, address, launch.parameters, launch.shared_bytes)

    def _element(self, argument: int | None, address: int) -> str | None:
        """An address in or near an array that an argument points to, as its element."""
        launch = self._launch
        near = launch.memory.nearest(address)
        if argument is None or near is None or launch.names is None:
            return None
        variable, offset = launch.program.image.params[argument]
        pointer = int.from_bytes(launch.parameters[offset : offset + 8], "little")
        if variable.size != 8 or not near.base <= pointer <= near.end:  # the pointer is in a structure or a table
            return None
        return launch.names.argument_element(argument, address - pointer)

    def located(self, address: int) -> tuple[int, int | None]:
        """An address as faults show it (from the start of its array, or in the block's shared memory), and the index
        of the argument that the array is.
        """
        near = self._launch.memory.nearest(address)
        if near is None:
            return address & (1 << RANK_SHIFT) - 1, None
        return address - near.base, near.index

    def _describe(self, site: Site, address: int) -> tuple[int, str, int | None]:
        """(address to report, its location in words, index of the argument that it is in or near)."""
        if site.space in ("shared", "cluster"):
            return *self._describe_shared(address), None
        if site.space == "local":
            nbytes = self._launch.program.image.local_bytes
            signed = address - (1 << 64) if address >= 1 << 63 else address
            return signed, f"at byte {signed} of its local memory, which has {nbytes} bytes", None
        near = self._launch.memory.nearest(address) or self._array_of(site)
        if near is None:
            return address, f"at address {address:#x}, where no array is", None
        offset = address - near.base
        offset -= 1 << 64 if offset >= 1 << 63 else 0
        others = {view.index for view in near.views if view.offset == 0 and view.nbytes == near.nbytes} - {near.index}
        also = "".join(f"is also argument {number} and " for number in sorted(others))
        return offset, f"at byte {offset} of {near.name}, which {also}has {near.nbytes} bytes", near.index

    def _array_of(self, site: Site) -> Allocation | None:
        """The array whose pointer is the only one that an access may use, wherever the address lies."""
        names = self._launch.names
        at = None if names is None else names.pointer_of(site)
        if at is None:
            return None
        return self._launch.memory.nearest(int.from_bytes(self._launch.parameters[at : at + 8], "little"))

    def _describe_shared(self, address: int) -> tuple[int, str]:
        block = self._block_of_cluster(address)
        if block is not None:
            return address, (
                f"at the address of block {block} of the cluster, which only shared::cluster and generic accesses reach"
            )
        signed = address - (1 << 64) if address >= 1 << 63 else address - (1 << 32) if address >= 1 << 31 else address
        return signed, f"at byte {signed} of the block's shared memory, which has {self._launch.shared_bytes} bytes"

    def _block_of_cluster(self, address: int) -> int | None:
        """The rank of the block whose shared memory the address maps; None where it is the own block's."""
        rank, size = address >> RANK_SHIFT, self.geometry.blocks_per_cluster
        return rank - 1 if size > 1 and 0 < rank <= size else None

    # Loops

    def infinite_loop(self, lanes: Lanes, instruction: Instruction, waits_for: str = "") -> KernelFault:
        """The fault of a loop that provably never ends; ``waits_for``: a sentence about what does not come."""
        sentence = (
            "the thread runs a loop that cannot end: what decides about its end is as it was some iterations before, "
            f"and nothing else can change it. {waits_for}"
        )
        sentence += self._not_begun() or "Check what should end the loop"
        return self.fault("infinite-loop", sentence, instruction, lanes, np.bool_(True))

    def over_budget(self, lanes: Lanes, instruction: Instruction) -> KernelFault:
        """The fault of a kernel that has not ended after all instructions that it may issue."""
        hint = self._not_begun()
        return self.fault(
            "infinite-loop",
            f"the kernel has issued {self._launch.budget} instructions and has not ended. Check what should end the "
            f"loop here; if it is only long, raise budget={'. ' if hint else ''}{hint}",
            instruction,
            lanes,
            np.bool_(True),
        )

    def unchanged_for_long(self, lanes: Lanes, instruction: Instruction, steps: int) -> KernelFault:
        """The fault of a loop that only what it writes itself could end, and has not for very long."""
        hint = self._not_begun()
        return self.fault(
            "infinite-loop",
            f"the kernel has issued {steps} instructions, and what decides about the end of its loop has not changed "
            "for a long time. Check what should end the loop here; if it is only slow, raise "
            f"budget={'. ' if hint else ''}{hint}",
            instruction,
            lanes,
            np.bool_(True),
        )

    def _not_begun(self) -> str:
        """A hint for a thread that waits for a block that has not begun; "" where all have."""
        later = self._launch.blocks - self.geometry.first - self._blocks
        if not later:
            return ""
        return (
            f"If it waits for another block: of the {self._launch.blocks} blocks of the grid {self._blocks} run at a "
            f"time, in order, and {later} have not begun; a GPU does not run all of a large grid at once either. A "
            "block may wait only for blocks before it, or for its own cluster, unless the launch is cooperative "
            "(cooperative=True), which runs all blocks at once"
        )

    # Barriers and warp-synchronous instructions

    def missing_lanes(self, instruction: Instruction, lanes: Lanes) -> KernelFault:
        """The fault of lanes that run a warp-synchronous instruction while lanes that it names wait elsewhere."""
        return self.fault(
            "inactive-lane",
            "the thread exchanges values with lanes that its mask names and that wait elsewhere or take another "
            "branch. Move the instruction out of the branch, or name only the lanes that come (__ballot_sync)",
            instruction,
            lanes,
            np.bool_(True),
        )

    def other_mask(self, instruction: Instruction, lanes: Lanes) -> KernelFault:
        """The fault of lanes that name lanes which executed the operation with another mask and have ended."""
        return self.fault(
            "inactive-lane",
            "the thread names lanes in its mask that came to this operation with another mask, and then ended. All "
            "lanes that a mask names must come with the same mask",
            instruction,
            lanes,
            np.bool_(True),
        )

    def deadlock(self, instruction: Instruction, lanes: Lanes, shortage: Shortage | None = None) -> KernelFault:
        """The fault of lanes that wait at a barrier for ever; ``shortage``: how many came to one for a number."""
        whole = "cluster" if is_cluster_barrier(instruction) else "block"
        sentence = (
            f"the thread waits at a barrier that other threads of its {whole} never reach. Move the barrier out of the "
            "branch, so that all threads come to it"
        )
        if shortage is not None:
            sentence = (
                f"the thread waits for ever at barrier {shortage.barrier}, which is for {shortage.count} threads: only "
                f"{shortage.arrived} have come, counted in whole warps. Make the count that of the warps that come here"
            )
        return self.fault(
            "barrier-divergence",
            sentence,
            instruction,
            lanes,
            np.bool_(True),
        )

    def not_aligned(self, instruction: Instruction, lanes: Lanes, bad: object) -> KernelFault:
        """The fault of lanes that execute an ``.aligned`` barrier without the other lanes of their warp."""
        return self.fault(
            "barrier-divergence",
            "the thread executes an .aligned barrier without the other threads of its warp. Move the barrier out of "
            "the branch, or leave .aligned out",
            instruction,
            lanes,
            bad,
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
                f"the thread {verb} shared memory of block {self.geometry.block_index(row)}, which has ended. Let the "
                "blocks of the cluster wait for each other at a barrier of the cluster before they end"
            )
        target = int(np.broadcast_to(offset, lanes.extent).reshape(-1)[_first(bad, lanes)])
        return self.fault("shared-out-of-bounds", sentence, site.instruction, lanes, bad, target)

    def barrier_fault(self, what: str, instruction: Instruction, lanes: Lanes, bad: object) -> KernelFault:
        """The fault of a thread that uses the barrier of its cluster in another order than arrive, wait."""
        sentence = f"the thread {what}. Each thread arrives once, then waits once, and so on"
        return self.fault("barrier-divergence", sentence, instruction, lanes, bad)


def _first(bad: object, lanes: Lanes) -> int:
    return int(np.broadcast_to(np.asarray(bad), lanes.extent).reshape(-1).argmax())
