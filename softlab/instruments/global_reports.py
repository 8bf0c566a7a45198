"""Reports of races in global memory: which lines, threads and blocks, and the address as the source names it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from softlab.emulator.lanes import WARP
from softlab.emulator.machine.faults import OtherAccess, kernel_fault
from softlab.emulator.memory.allocations import Allocation, ArgumentView
from softlab.emulator.ptx.syntax import DTYPES, Instruction
from softlab.emulator.sites import Site
from softlab.errors import KernelFault
from softlab.findings import FaultSink
from softlab.instruments.events import Event, Events
from softlab.instruments.flights import READING, REDUCING, WRITING
from softlab.instruments.global_access import GlobalAccess
from softlab.instruments.global_shadow import IN_BLOCK, Clash, lane_of, time_of
from softlab.instruments.source_names import Parameter, variable_name
from softlab.instruments.strong_instructions import ATOMICS
from softlab.instruments.warp_syncs import NO_BARRIER

#: What a race is where data that are read as read-only were written in the same launch.
READ_ONLY = "read-only"
#: The same where they are written after they were read.
PROMISED = "promised"
#: The kind of both.
RESTRICT_ALIAS = "restrict-alias"
_AS_READ_ONLY = "as read-only data (__ldg(), or __restrict__)"
_IN_WARP = "another thread of its warp"
_WAIT_FOR_COPY = (
    "Wait for the copy first: cp.async.wait_group, the mbarrier that it is bound to, or of a copy to global memory "
    "cp.async.bulk.wait_group, without .read where a thread needs what the copy wrote"
)


class GlobalReports:
    """Gives the sink the races of one run. ``events`` knows the earlier accesses by their times."""

    def __init__(self, sink: FaultSink, parameters: Sequence[Parameter], events: Events) -> None:
        self._sink = sink
        self._parameters = parameters
        self._events = events
        self._batch: Any = None
        self._granule_shift = 0
        self._exchanged = np.zeros((0, 0), np.int64)

    def begin_batch(self, batch: Any, granule_shift: int, exchanged: np.ndarray) -> None:
        """The next accesses are those of this batch. A cell has ``1 << granule_shift`` bytes.

        ``exchanged`` (blocks, warps): when the lanes of each warp exchanged values last; it grows with the batch.
        """
        self._exchanged = exchanged
        self._batch = batch
        self._granule_shift = granule_shift

    def race(self, access: GlobalAccess, clash: Clash, what: str, *, own: bool = False) -> None:
        """Report accesses that clash with what other threads did; ``own``: with what their own thread alone did."""
        if not len(clash):
            return
        if own:
            self._report(access, clash, what, "warning")
            return
        if what == "wrote" and access.has_values:
            same = access.stores_what_is_there(clash.position)
            self._report(access, clash.where(same), what, "warning")
            clash = clash.where(~same)
        self._report(access, clash, what, "error")

    def two_lanes(self, access: GlobalAccess, lost: np.ndarray, winner: np.ndarray) -> None:
        """Several lanes write one cell in one instruction: a race, unless atomics or relaxed stores do."""
        lane = access.stamps.lane[lost]
        clash = Clash(lost, access.stamps.stamp[lost] - lane + winner)
        if access.site.operation or access.site.instruction.has("relaxed", "release", "mmio"):
            if access.stamps.flags & IN_BLOCK:
                apart = lane // self._batch.threads != winner // self._batch.threads
                self._report(access, clash.where(apart), "wrote", "error")
            return
        differs = access.differs_from(lost, winner) if access.has_values else np.ones(len(lost), bool)
        self._report(access, clash.where(differs), "wrote", "error")
        self._report(access, clash.where(~differs), "wrote", "warning")

    def _report(self, access: GlobalAccess, clash: Clash, what: str, severity: str) -> None:
        if not len(clash) or (severity == "warning" and what != PROMISED and not self._sink.collects):
            return
        sites = self._events.sites_of(time_of(clash.stamp))
        for index in np.unique(sites):
            one = clash.where(sites == index)
            self._sink.report(self._fault(access, one, what, severity), severity=severity, count=len(one))

    def _fault(self, access: GlobalAccess, clash: Clash, what: str, severity: str) -> KernelFault:
        position, stamp = int(clash.position[0]), clash.stamp[0]
        geometry, threads = self._batch.geometry, self._batch.threads
        other = self._events.event(int(time_of(stamp)))
        row, column = divmod(int(access.stamps.lane[position]), threads)
        other_row, other_column = divmod(int(lane_of(stamp)), threads)
        offset = (int(access.stamps.cell[position]) << self._granule_shift) - access.array.lead
        symbol, *same = self._symbols(access.array, access.site, offset)
        named = f"{symbol} (the same memory as {' and '.join(same)})" if same else symbol
        near = other.geometry is geometry and other_row == row
        who = "it" if near and other_column == column else _whose(near, other_column // WARP == column // WARP)
        if severity == "warning" and what != PROMISED:
            text = f"the thread writes {named}, to which {who} writes the same value, with nothing that orders the two"
        else:
            exchanged = time_of(stamp) < self._exchanged[row, column // WARP]
            text = self._text(access, other, what, who, named, exchanged)
        return kernel_fault(
            RESTRICT_ALIAS if what in (READ_ONLY, PROMISED) else "race",
            text,
            access.site.instruction,
            self._batch.file,
            thread=geometry.thread(column),
            block=geometry.block_index(row),
            address=offset,
            argument=access.array.index,
            symbol=symbol,
            other=OtherAccess(
                other.site.instruction, geometry.thread(other_column), other.geometry.block_index(other_row)
            ),
        )

    def _text(self, access: GlobalAccess, other: Event, what: str, who: str, named: str, exchanged: bool) -> str:
        """What is wrong, and what to do. who: whose the other access is; "it" for the thread's own.

        ``exchanged``: the warp's lanes have exchanged values since.
        """
        instruction, verb = access.site.instruction, "writes" if access.site.store else "reads"
        if what == READ_ONLY:
            return (
                f"the thread reads {named} {_AS_READ_ONLY}, and {who} wrote it in this launch: the cache of such loads "
                "may keep the old value. Read what the kernel writes by an ordinary load, through a pointer without "
                "__restrict__"
            )
        if what == PROMISED:
            return (
                f"the thread writes {named}, which {who} read {_AS_READ_ONLY} in this launch: the compiler may read it "
                "once where the source reads it twice, and move the load past a barrier. Pass different arrays, or "
                "leave __restrict__ and __ldg() out"
            )
        if what in (READING, WRITING, REDUCING):
            return f"the thread {verb} {named}, which an asynchronous copy may still be {what}. {_WAIT_FOR_COPY}"
        text = f"the thread {verb} {named}, which {who} {what}, with nothing that orders the two. "
        text += _advice(instruction, other.site.instruction, who, self._batch.threads)
        return f"{text}. {NO_BARRIER}" if what == "wrote" and who == _IN_WARP and exchanged else text

    def _symbols(self, array: Allocation, site: Site, offset: int) -> list[str]:
        """The names that an address has in the source: one for each argument that is this memory."""
        if array.index is None:
            name = variable_name(array.name.removeprefix("variable "))
            itemsize = site.dtype.itemsize
            return [name if array.nbytes == itemsize else f"{name}[{offset // itemsize}]"]
        views = [view for view in array.views if view.offset <= offset < view.offset + view.nbytes]
        if not views:  # between the arguments
            return [f"{array.name}[{offset // (array.itemsize or site.dtype.itemsize)}]"]
        return list(dict.fromkeys(self._element(view, offset) for view in views))

    def _element(self, view: ArgumentView, offset: int) -> str:
        """A byte of the memory as an element of one argument."""
        name, size = f"argument {view.index}", view.itemsize
        if view.index < len(self._parameters):
            parameter = self._parameters[view.index]
            name, size = parameter.name, parameter.itemsize or view.itemsize
        return f"{name}[{(offset - view.offset) // size}]"


def _whose(same_block: bool, same_warp: bool) -> str:
    if not same_block:
        return "a thread of another block"
    return _IN_WARP if same_warp else "another thread of its block"


def _advice(instruction: Instruction, other: Instruction, who: str, threads: int) -> str:
    """What keeps the two apart. threads: those of a block."""
    atomic = [i.opcode in ATOMICS for i in (instruction, other)]
    if any(atomic) and not all(atomic):
        return "One of the two is an atomic: make the other one an atomic, too, or put a barrier between them"
    both_strong = all(i.opcode in ATOMICS or i.has("relaxed", "acquire", "release") for i in (instruction, other))
    if both_strong and _width(instruction) != _width(other):
        return "They access words of different widths, so that they do not synchronise: give both the same width"
    if "warp" in who and threads > WARP:  # where two lanes of a warp meet, other warps may, too
        return (
            "Put __syncthreads() between the two (__syncwarp() where no other warp comes to these elements), or give "
            "each thread an element of its own"
        )
    if "warp" in who:
        return "Put __syncwarp() between the two, or give each thread an element of its own"
    if "its block" in who:
        return "Put __syncthreads() between the two, or give each thread an element of its own"
    return (
        "Blocks run in any order. Use an atomic, give each block elements of its own, publish by __threadfence() and a "
        "flag, or split the kernel in two"
    )


def _width(instruction: Instruction) -> int:
    """Bytes of one number of an atomic or another strong access."""
    if not instruction.types:  # b128
        return 16
    return DTYPES[instruction.types[-1]].itemsize // (2 if instruction.is_packed else 1)
