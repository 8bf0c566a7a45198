"""Thread-block clusters: distributed shared memory, and the barrier of a cluster.

The blocks of a cluster are neighbours in a batch. In an address that ``mapa`` made, the bits above the offset name a
block of the cluster. Any other address means the shared memory of the block that uses it, even where another block of
the cluster computed it (a GPU would use the memory of that other block).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from softlab.emulator.host import Host
from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.memory.block_memory import SharedMemory
from softlab.emulator.memory.elements import Reach, join_elements, last_writer, misaligned, split_elements
from softlab.emulator.memory.partial import partial_cells, partial_load, partial_store
from softlab.emulator.ptx.linker import RANK_SHIFT, SHARED_WINDOW
from softlab.emulator.sites import InstructionSite, Site

_OFFSET_MASK = (1 << RANK_SHIFT) - 1
#: Ranks that an address can hold; those of no block of the cluster are found at the access.
_MOST_RANK = 254
#: Called as listener(site, lanes, owner, address, values): like that of shared memory, with the row of the batch that
#: each lane reaches into and the offset there.
ClusterListener = Callable[..., None]


def mapped_shared(address: Value, rank: Value) -> Value:
    """``mapa.shared::cluster``: the same offset in the shared memory of the block of that rank."""
    kind = address.dtype.type
    tag = np.minimum(rank, np.uint32(_MOST_RANK)).astype(address.dtype) + kind(1)
    return (address & kind(_OFFSET_MASK)) | (tag << kind(RANK_SHIFT))


def mapped_generic(address: Value, rank: Value) -> Value:
    """``mapa`` of a generic address."""
    base = np.uint64(SHARED_WINDOW)
    return mapped_shared(address - base, rank) + base


class ClusterMemory:
    """The shared memory of all blocks of a cluster, at the addresses of ``shared::cluster``."""

    def __init__(self, host: Host, shared: SharedMemory, size: int, listener: ClusterListener | None = None) -> None:
        self._host = host
        self._shared = shared
        self.size = size
        self._listener = listener

    def rank_of(self, lanes: Lanes, site: InstructionSite, address: Value) -> Value:
        """``getctarank``: the rank of the block that an address of ``shared::cluster`` means."""
        if site.mode == "generic":
            address = address - np.uint64(SHARED_WINDOW)
        tag = (address >> address.dtype.type(RANK_SHIFT)).astype(np.int64)
        rank = np.where(tag == 0, lanes.row_index % self.size, tag - 1)
        return rank.astype(np.uint32)

    def is_own(self, lanes: Lanes, address: Value) -> Value:
        """Whether a generic address in shared memory is of the block that uses it."""
        tag = (address - np.uint64(SHARED_WINDOW)).astype(np.int64) >> RANK_SHIFT
        return (tag == 0) | (tag - 1 == lanes.row_index % self.size)

    def locate(self, lanes: Lanes, site: Site, address: Value) -> tuple[np.ndarray, Value]:
        """(row of the batch, offset in its shared memory) that each lane reaches, checked; the site's offset is in it.

        Raises:
            KernelFault: no such block in the cluster, it has ended, or the access is out of its bounds or misaligned.
        """
        kind = address.dtype.type
        if site.offset:
            address = address + kind(site.offset & (256**address.dtype.itemsize - 1))
        tag, offset = (address >> kind(RANK_SHIFT)).astype(np.int64), address & kind(_OFFSET_MASK)
        own = lanes.row_index
        rows = np.where(tag == 0, own, own - own % self.size + tag - 1)
        if (tag > self.size).any():
            raise self._host.faults.cluster_fault("no-block", lanes, site, tag > self.size, offset, rows)
        ended = self._host.ended_rows()
        if ended is not None and (gone := ended[rows] & (rows != own)).any():
            raise self._host.faults.cluster_fault("ended", lanes, site, gone, offset, rows)
        beyond = offset > max(-1, self._shared.nbytes - site.width)
        if np.any(beyond):
            raise self._host.faults.memory_fault("shared-out-of-bounds", lanes, site, beyond, offset)
        if misaligned(offset, site.width):
            raise self._host.faults.memory_fault("misaligned", lanes, site, offset % kind(site.width) != 0, offset)
        return rows, offset

    def own_offset(self, site: Site, address: np.generic) -> int:
        """The offset in each lane's own block that one address of all lanes means; -1 for any that needs a look."""
        offset = int(address) + site.offset & 256**address.itemsize - 1
        inside = offset <= self._shared.nbytes - site.width <= _OFFSET_MASK
        return offset if inside and not offset & site.width - 1 else -1

    def _index(self, lanes: Lanes, site: Site, address: Value, values: tuple[Value, ...] = ()) -> np.ndarray:
        """Index of each lane's item in the memory of all blocks."""
        rows, offset = self.locate(lanes, site, address)
        self._shared.writes += site.store and not site.operation
        if self._listener is not None:
            self._listener(site, lanes, rows, offset, values)
        index = (offset >> offset.dtype.type(site.shift)).astype(np.int64)
        return index + rows * self._shared.view(site.item).shape[1]

    def _own(self, site: Site, address: Value) -> bool:
        """Whether no lane's address has been mapped: then each block's own shared memory is meant."""
        highest = int(address.max()) + site.offset
        return highest <= _OFFSET_MASK

    @partial_load
    def load(self, lanes: Lanes, site: Site, address: Value) -> Any:
        """The value(s) at each lane's address."""
        if self._own(site, address):
            return self._shared.load(lanes, site, address)
        flat = self._shared.view(site.item).reshape(-1)
        return split_elements(site, flat[self._index(lanes, site, address)])

    @partial_store
    def store(self, lanes: Lanes, site: Site, address: Value, *values: Value) -> None:
        """Write each lane's value(s) to its address."""
        if self._own(site, address):
            self._shared.store(lanes, site, address, *values)
            return
        index = self._index(lanes, site, address, values)
        self._shared.view(site.item).reshape(-1)[index] = last_writer(join_elements(site, values), index)

    @partial_cells
    def cells(self, lanes: Lanes, site: Site, address: Value) -> Iterator[tuple[np.ndarray, np.ndarray, Any]]:
        """(memory as items, index of each lane's item, which lanes) in the order of the lanes: for atomics."""
        if self._own(site, address):
            yield from self._shared.cells(lanes, site, address)
            return
        index = self._index(lanes, site, address)
        yield self._shared.view(site.item).reshape(-1), lanes.full_extent(index), slice(None)

    def reach(self, lanes: Lanes, site: Site, address: Value) -> Reach | None:
        """Where the lanes of an atomic reach, for compiled code."""
        return self._shared.reach(lanes, site, address) if self._own(site, address) else None


_IDLE, _ARRIVED, _COMPLETE = range(3)


class ClusterBarrier:
    """``barrier.cluster``: whether each thread of the batch has arrived, and whether the barrier is complete for it."""

    def __init__(
        self,
        host: Host,
        blocks: int,
        threads: int,
        size: int,
        *,
        on_complete: Callable[[np.ndarray, np.ndarray], Any] | None = None,
        on_wait: Callable[[InstructionSite, Lanes], Any] | None = None,
    ) -> None:
        self._host = host
        self._size = size
        self._on_complete = on_complete
        self._on_wait = on_wait
        self._state = np.zeros((blocks, threads), np.int8)
        self._released = np.zeros(blocks // size, bool)
        self.completions = 0

    def clear(self) -> None:
        """For the next batch."""
        self._state.fill(_IDLE)
        self._released.fill(False)

    def arrive(self, lanes: Lanes, site: InstructionSite) -> None:
        """``barrier.cluster.arrive``."""
        self._check_aligned(lanes, site)
        again = lanes.take(self._state) != _IDLE
        if again.any():
            what = "arrives at the barrier of its cluster twice without waiting between"
            raise self._host.faults.barrier_fault(what, site.instruction, lanes, again)
        mask = lanes.mask
        self._state[mask] = _ARRIVED
        if not site.instruction.has("relaxed"):
            self._released |= mask.reshape(len(self._released), -1).any(axis=1)
        self.settle()

    def _check_aligned(self, lanes: Lanes, site: InstructionSite) -> None:
        if site.instruction.has("aligned"):
            self._host.check_aligned(lanes, site.instruction)

    def settle(self) -> None:
        """Complete the barrier of each cluster in which all threads have arrived or ended."""
        live = self._host.live_mask()
        if live is None:
            return
        state = self._state.reshape(len(self._released), -1)
        live = live.reshape(state.shape)
        complete = ((state == _ARRIVED) | ~live).all(axis=1) & ((state == _ARRIVED) & live).any(axis=1)
        if not complete.any():
            return
        state[complete[:, None] & (state == _ARRIVED)] = _COMPLETE
        self.completions += 1
        if self._on_complete is not None:
            self._on_complete(np.repeat(complete, self._size), np.repeat(self._released, self._size))
        self._released[complete] = False

    def has_completed(self, lanes: Lanes, site: InstructionSite) -> Value:
        """Lanes for which all threads of their cluster have arrived."""
        self.settle()
        state = lanes.take(self._state)
        never = state == _IDLE
        if never.any():
            what = "waits at the barrier of its cluster without having arrived at it"
            raise self._host.faults.barrier_fault(what, site.instruction, lanes, never)
        return state == _COMPLETE

    def wait(self, lanes: Lanes, site: InstructionSite) -> None:
        """``barrier.cluster.wait``, of lanes for which it is complete."""
        self._check_aligned(lanes, site)
        self._state[lanes.mask] = _IDLE
        if self._on_wait is not None:
            self._on_wait(site, lanes)
