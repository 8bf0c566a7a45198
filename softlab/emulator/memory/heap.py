"""The heap of device code: ``malloc``, ``free`` and what ``new`` and ``delete`` make of them."""

from __future__ import annotations

import numpy as np

from softlab.emulator.host import FaultReporter
from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.memory.allocations import Allocations
from softlab.emulator.memory.block_memory import LocalMemory
from softlab.emulator.sites import InstructionSite, Site

#: cudaLimitMallocHeapSize: bytes of the heap unless the host sets another limit (CUDA C++ Programming Guide, "Dynamic
#: Global Memory Allocation").
HEAP_BYTES = 8 << 20
#: Each piece takes whole units, and one more for the allocator. A figure of our own: the guide gives none.
_UNIT = 16
_NAME = "memory of malloc"


class Heap:
    """The heap of one launch. It is empty when the launch begins; on a GPU it lives as long as the program.

    ``malloc`` gives a null pointer where the heap is full, as on a GPU.
    """

    def __init__(self, allocations: Allocations, local: LocalMemory, faults: FaultReporter) -> None:
        self._allocations, self._local, self._faults = allocations, local, faults
        self.changes = 0

    def malloc(self, lanes: Lanes, site: InstructionSite, size: Value, result: Value) -> None:
        """Give each lane a piece. ``size`` and ``result`` are addresses on the stack: of the bytes, of the pointer."""
        load = Site(site.index, site.instruction, "local", np.dtype(np.uint64))
        sizes = lanes.full_extent(self._local.load(lanes, load, size))
        found = np.zeros(len(sizes), np.uint64)
        for lane, nbytes in enumerate(sizes):
            taken = -(-int(nbytes) // _UNIT) * _UNIT + _UNIT
            if nbytes and self._allocations.heap_bytes + taken <= HEAP_BYTES:
                self._allocations.heap_bytes += taken
                found[lane] = self._allocations.add(np.zeros(int(nbytes), np.uint8), name=_NAME)
        store = Site(site.index, site.instruction, "local", np.dtype(np.uint64), store=True)
        self._local.store(lanes, store, result, found.reshape(lanes.extent))
        self.changes += 1

    def free(self, lanes: Lanes, site: InstructionSite, pointer: Value) -> None:
        """Take each lane's piece back. A null pointer is nothing to free."""
        load = Site(site.index, site.instruction, "local", np.dtype(np.uint64))
        pointers = lanes.full_extent(self._local.load(lanes, load, pointer))
        for lane, address in enumerate(pointers):
            if not address:
                continue
            held = self._allocations.remove(int(address), _NAME)
            if held is None:
                bad = np.arange(len(pointers)).reshape(lanes.extent) == lane
                sentence = f"free gets {int(address):#x}, which malloc did not give or which is free already"
                raise self._faults.fault("global-out-of-bounds", sentence, site.instruction, lanes, bad)
            self._allocations.heap_bytes -= -(-held // _UNIT) * _UNIT + _UNIT
        self.changes += 1
