"""Finds accesses that begin at one array of shared or local memory and end up in another one.

The hardware knows only the memory of the whole block, or the stack of the whole thread, and so does the check that
every access gets. This observer also knows which variable an address was computed from
(:mod:`softlab.emulator.machine.origins`), and where the variable ends.

It cannot see an access that stays inside one variable: another row of a matrix, another member of a structure, or
another part of one dynamic array that the kernel divides by hand. It says nothing where a pointer came from memory or
from the difference of two pointers. A local variable ends, as far as is known, where the next one begins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from softlab.emulator.host import BadLanes
from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.machine.faults import kernel_fault
from softlab.emulator.machine.observers import Batch, Observer
from softlab.emulator.memory.copies import Copy
from softlab.emulator.memory.known_addresses import KnownAddresses
from softlab.emulator.sites import Site
from softlab.instruments.address_names import AddressNames, Spans


class ObjectBounds(Observer):
    """Watches one run."""

    def __init__(self, names: AddressNames) -> None:
        self._names = names
        self._batch: Any = None
        self._known: KnownAddresses
        self._shared: dict[int, Spans] = {}
        self._local: dict[int, Spans] = {}

    def batch(self, batch: Batch) -> None:
        """The next accesses are those of this batch."""
        self._batch, self._known = batch, batch.shared.known
        self._shared, self._local = self._names.spans(batch.shared.nbytes)

    def shared_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """The access must stay in a variable that its address comes from."""
        spans = self._shared.get(site.index)
        if spans is not None:
            self._check(spans, site, lanes, address)

    def local_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """So must an access to the stack."""
        spans = self._local.get(site.index)
        if spans is not None:
            self._check(spans, site, lanes, address)

    def cluster_access(
        self, site: Site, lanes: Lanes, owner: np.ndarray, address: Value, values: tuple[Value, ...]
    ) -> None:
        """All blocks of a cluster have the same variables."""
        self.shared_access(site, lanes, address, values)

    def copy_begins(self, copy: Copy, lanes: Lanes) -> None:
        """A bulk copy must stay in one variable, too. A ``cp.async`` was told as an access.

        Of a copy inside shared memory, the variable of the end that it writes is known.
        """
        index = copy.site.index
        spans = self._shared.get(index)
        reads_inside = not copy.writes and copy.bound is not None
        if spans is None or reads_inside or not copy.site.instruction.has("bulk"):
            return
        for lane, offset in zip(copy.lane.tolist(), copy.offset.tolist(), strict=True):
            if any(start <= offset and offset + copy.nbytes <= end for start, end in spans):
                continue
            batch = self._batch
            row, column = divmod(lane, batch.threads)
            last = offset + copy.nbytes - 1
            shown = self._names.shared_element(index, last, 1, batch.shared.nbytes)
            assert shown is not None
            verb = "writes" if copy.writes else "reads"
            batch.faults.report(kernel_fault(
                "shared-out-of-bounds",
                f"the thread's copy {verb} {copy.nbytes} bytes from byte {offset} of shared memory on. Its last byte "
                f"is {shown.words}{shown.hint}",
                copy.site.instruction, batch.file, thread=batch.geometry.thread(column),
                block=batch.geometry.block_index(row), address=offset, symbol=shown.symbol,
            ))  # fmt: skip

    def _check(self, spans: Spans, site: Site, lanes: Lanes, address: Value) -> None:
        known = self._known.of(address)
        if known is not None:
            first, last = known.lowest, known.highest + site.width
        elif isinstance(address, np.ndarray):
            first, last = int(address.min()), int(address.max()) + site.width
        else:
            first, last = int(address), int(address) + site.width
        for start, end in spans:
            if start <= first and last <= end:
                return
        signed = np.asarray(address).astype(np.int64)
        bad = np.ones(signed.shape, bool)
        for start, end in spans:
            bad &= (signed < start) | (signed + site.width > end)
        if not bad.any():
            return
        kind = "local-out-of-bounds" if site.space == "local" else "shared-out-of-bounds"
        fault = self._batch.faults.memory_fault(kind, lanes, site, bad, address)
        assert isinstance(fault, BadLanes) or not self._batch.collects
        raise fault
