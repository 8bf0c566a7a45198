"""Grids that device code launches (dynamic parallelism): ``k<<<grid, block, shared>>>(...)`` in a kernel.

The compiler makes two calls of it. The first one asks for a buffer of the parameters, which the kernel fills; the
second one launches. Here each grid runs to its end at its launch. On a GPU it may run any time after that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from softlab.emulator.host import FaultReporter
from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.memory.allocations import Allocations
from softlab.emulator.memory.block_memory import LocalMemory
from softlab.emulator.sites import InstructionSite, Site
from softlab.errors import Error

Index3 = tuple[int, int, int]
#: The most bytes that the parameters of a kernel take (CUDA C++ Programming Guide, "Function Parameters").
_PARAMETER_BYTES = 4096
_NAME = "parameters of a launch by device code"
#: The handle of cudaStreamTailLaunch (cuda_device_runtime_api.h).
_TAIL_LAUNCH = 3


@dataclass(frozen=True)
class ChildGrid:
    """A launch: the ``function``'s address, ``grid`` and ``block``, dynamic ``shared`` memory in bytes, and the bytes
    of its ``parameters`` with what follows them in their buffer."""

    function: int
    grid: Index3
    block: Index3
    shared: int
    parameters: bytes


class ChildGrids:
    """The launches by one batch of blocks. ``start`` runs a grid, and gives the error code of its launch."""

    def __init__(
        self,
        allocations: Allocations,
        local: LocalMemory,
        faults: FaultReporter,
        start: Callable[[ChildGrid], int],
    ) -> None:
        self._allocations, self._local, self._faults, self._start = allocations, local, faults, start
        self._waiting: dict[int, tuple[ChildGrid, np.ndarray]] = {}
        self.changes = 0

    def buffer(
        self,
        lanes: Lanes,
        site: InstructionSite,
        function: Value,
        grid: Value,
        block: Value,
        shared: Value,
        result: Value,
    ) -> None:
        """Give each lane a buffer for the parameters of its launch. All operands are addresses on the stack."""
        functions = self._loaded(lanes, site, function, np.uint64)
        sizes = [self._loaded(lanes, site, at, np.uint32, 4 * k) for at in (grid, block) for k in range(3)]
        bytes_ = self._loaded(lanes, site, shared, np.uint32)
        found = np.zeros(len(functions), np.uint64)
        for lane, address in enumerate(functions):
            x, y, z, *threads = (int(size[lane]) for size in sizes)
            data = np.zeros(_PARAMETER_BYTES, np.uint8)
            child = ChildGrid(int(address), (x, y, z), (threads[0], threads[1], threads[2]), int(bytes_[lane]), b"")
            found[lane] = base = self._allocations.add(data, name=_NAME)
            self._waiting[base] = child, data
        self._store(lanes, site, result, found)

    def launch(self, lanes: Lanes, site: InstructionSite, buffer: Value, stream: Value, result: Value) -> None:
        """Run each lane's grid, one after the other. All operands are addresses on the stack.

        Raises:
            Error: a grid must not begin before its parent has ended.
        """
        if (self._loaded(lanes, site, stream, np.uint64) == _TAIL_LAUNCH).any():
            raise Error(
                "a launch on cudaStreamTailLaunch waits for the end of the grid that launches it, and the emulator "
                "runs each grid at its launch: launch the kernel from the host, after its parent"
            )
        buffers = self._loaded(lanes, site, buffer, np.uint64)
        codes = np.zeros(len(buffers), np.uint32)
        for lane, base in enumerate(buffers):
            if int(base) not in self._waiting:
                bad = np.arange(len(buffers)).reshape(lanes.extent) == lane
                sentence = f"a launch gets {int(base):#x} for its parameters, which is no buffer for them"
                raise self._faults.fault("global-out-of-bounds", sentence, site.instruction, lanes, bad)
            child, data = self._waiting.pop(int(base))
            self._allocations.remove(int(base), _NAME)
            given = ChildGrid(child.function, child.grid, child.block, child.shared, data.tobytes())
            codes[lane] = self._start(given)
        self._store(lanes, site, result, codes)

    def _loaded(self, lanes: Lanes, site: InstructionSite, at: Value, dtype: type, offset: int = 0) -> np.ndarray:
        load = Site(site.index, site.instruction, "local", np.dtype(dtype), offset=offset)
        return lanes.full_extent(self._local.load(lanes, load, at)).copy()

    def _store(self, lanes: Lanes, site: InstructionSite, at: Value, values: np.ndarray) -> None:
        store = Site(site.index, site.instruction, "local", values.dtype, store=True)
        self._local.store(lanes, store, at, values.reshape(lanes.extent))
        self.changes += 1
