"""Thread-block clusters: distributed shared memory, and the barrier of a cluster.

The blocks of a cluster lie side by side in a batch. An address that ``mapa`` made says which block of the cluster it
means in the bits above the offset; an address that it did not make means the shared memory of the block that uses it,
also where another block of the cluster computed it and handed it over (a GPU would find the first block's memory).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from softlab.emulator.block_memory import SharedMemory
from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.linker import RANK_SHIFT, SHARED_WINDOW
from softlab.emulator.memory import Site, join_elements, last_writer, misaligned, split_elements

if TYPE_CHECKING:
    from softlab.emulator.effects import Place
    from softlab.emulator.machine import Batch
    from softlab.emulator.ptx import Instruction

_OFFSET_MASK = (1 << RANK_SHIFT) - 1
#: Ranks that an address can hold; those of no block of the cluster are found at the access.
_MOST_RANK = 254
#: Called as listener(site, lanes, owner, address, values): like that of shared memory, with the row of the batch that
#: each lane reaches into and the offset there.
ClusterListener = Callable[..., None]


def mapped_shared(address: Value, rank: Value) -> Value:
    """``mapa.shared::cluster``: the same place in the shared memory of the block of that rank."""
    kind = address.dtype.type
    tag = np.minimum(rank, np.uint32(_MOST_RANK)).astype(address.dtype) + kind(1)
    return (address & kind(_OFFSET_MASK)) | (tag << kind(RANK_SHIFT))


def mapped_generic(address: Value, rank: Value) -> Value:
    """``mapa`` of a generic address."""
    base = np.uint64(SHARED_WINDOW)
    return mapped_shared(address - base, rank) + base


class ClusterMemory:
    """The shared memory of all blocks of a cluster, at the addresses of ``shared::cluster``."""

    def __init__(self, batch: Batch, shared: SharedMemory, size: int) -> None:
        self._batch = batch
        self._shared = shared
        self._size = size
        self.listener: ClusterListener | None = None

    def rank_of(self, lanes: Lanes, place: Place, address: Value) -> Value:
        """``getctarank``: the rank of the block that an address of ``shared::cluster`` means."""
        if place.mode == "generic":
            address = address - np.uint64(SHARED_WINDOW)
        tag = (address >> address.dtype.type(RANK_SHIFT)).astype(np.int64)
        rank = np.where(tag == 0, lanes.row_index % self._size, tag - 1)
        return rank.astype(np.uint32)

    def is_own(self, lanes: Lanes, address: Value) -> Value:
        """Whether a generic address in shared memory is of the block that uses it."""
        tag = (address - np.uint64(SHARED_WINDOW)).astype(np.int64) >> RANK_SHIFT
        return (tag == 0) | (tag - 1 == lanes.row_index % self._size)

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
        rows = np.where(tag == 0, own, own - own % self._size + tag - 1)
        if (tag > self._size).any():
            raise self._batch.cluster_fault("no-block", lanes, site, tag > self._size, offset, rows)
        ended = self._batch.ended_rows()
        if ended is not None and (gone := ended[rows] & (rows != own)).any():
            raise self._batch.cluster_fault("ended", lanes, site, gone, offset, rows)
        beyond = offset > max(-1, self._shared.nbytes - site.width)
        if np.any(beyond):
            raise self._shared.fault("shared-out-of-bounds", lanes, site, beyond, offset)
        if misaligned(offset, site.width):
            raise self._shared.fault("misaligned", lanes, site, offset % kind(site.width) != 0, offset)
        return rows, offset

    def _place(self, lanes: Lanes, site: Site, address: Value, values: tuple[Value, ...] = ()) -> np.ndarray:
        """Index of each lane's item in the memory of all blocks."""
        rows, offset = self.locate(lanes, site, address)
        self._shared.writes += site.store and not site.operation
        if self.listener is not None:
            self.listener(site, lanes, rows, offset, values)
        index = (offset >> offset.dtype.type(site.shift)).astype(np.int64)
        return index + rows * self._shared.view(site.item).shape[1]

    def _own(self, site: Site, address: Value) -> bool:
        """Whether no lane's address has been mapped: then each block's own shared memory is meant."""
        highest = int(address.max()) + site.offset
        return highest <= _OFFSET_MASK

    def load(self, lanes: Lanes, site: Site, address: Value) -> Any:
        """The value(s) at each lane's address."""
        if self._own(site, address):
            return self._shared.load(lanes, site, address)
        flat = self._shared.view(site.item).reshape(-1)
        return split_elements(site, flat[self._place(lanes, site, address)])

    def store(self, lanes: Lanes, site: Site, address: Value, *values: Value) -> None:
        """Write each lane's value(s) to its address."""
        if self._own(site, address):
            self._shared.store(lanes, site, address, *values)
            return
        place = self._place(lanes, site, address, values)
        self._shared.view(site.item).reshape(-1)[place] = last_writer(join_elements(site, values), place)

    def cells(self, lanes: Lanes, site: Site, address: Value) -> Iterator[tuple[np.ndarray, np.ndarray, Any]]:
        """(memory as items, index of each lane's item, which lanes) in the order of the lanes: for atomics."""
        if self._own(site, address):
            yield from self._shared.cells(lanes, site, address)
            return
        place = self._place(lanes, site, address)
        yield self._shared.view(site.item).reshape(-1), lanes.full_extent(place), slice(None)


_IDLE, _ARRIVED, _COMPLETE = range(3)


class ClusterBarrier:
    """``barrier.cluster``: what each thread of the batch has done of it since the last time round."""

    def __init__(self, batch: Batch, blocks: int, threads: int, size: int) -> None:
        self._batch = batch
        self._size = size
        self._state = np.zeros((blocks, threads), np.int8)
        self._released = np.zeros(blocks // size, bool)
        self.completions = 0
        self.on_complete: Callable[[np.ndarray, np.ndarray], Any] | None = None
        self.on_wait: Callable[[Place, Lanes], Any] | None = None

    def clear(self) -> None:
        """For the next batch."""
        self._state.fill(_IDLE)
        self._released.fill(False)

    def arrive(self, lanes: Lanes, place: Place) -> None:
        """``barrier.cluster.arrive``."""
        self._check_aligned(lanes, place)
        again = lanes.take(self._state) != _IDLE
        if again.any():
            what = "arrives at the barrier of its cluster twice without waiting between"
            raise self._batch.barrier_fault(what, place.instruction, lanes, again)
        mask = lanes.mask
        self._state[mask] = _ARRIVED
        if not place.instruction.has("relaxed"):
            self._released |= mask.reshape(len(self._released), -1).any(axis=1)
        self.settle()

    def _check_aligned(self, lanes: Lanes, place: Place) -> None:
        live = self._batch.live_mask()
        if place.instruction.has("aligned") and live is not None:
            self._batch.check_aligned(lanes, live, place.instruction)

    def settle(self) -> None:
        """Complete the barrier of the clusters of which all threads that have not ended have arrived."""
        live = self._batch.live_mask()
        if live is None:
            return
        state = self._state.reshape(len(self._released), -1)
        live = live.reshape(state.shape)
        complete = ((state == _ARRIVED) | ~live).all(axis=1) & ((state == _ARRIVED) & live).any(axis=1)
        if not complete.any():
            return
        state[complete[:, None] & (state == _ARRIVED)] = _COMPLETE
        self.completions += 1
        if self.on_complete is not None:
            self.on_complete(np.repeat(complete, self._size), np.repeat(self._released, self._size))
        self._released[complete] = False

    def awaited(self, lanes: Lanes, instruction: Instruction) -> Value:
        """For which lanes all of their cluster have arrived."""
        self.settle()
        state = lanes.take(self._state)
        never = state == _IDLE
        if never.any():
            what = "waits at the barrier of its cluster without having arrived at it"
            raise self._batch.barrier_fault(what, instruction, lanes, never)
        return state == _COMPLETE

    def wait(self, lanes: Lanes, place: Place) -> None:
        """``barrier.cluster.wait``, of lanes for which it is complete."""
        self._check_aligned(lanes, place)
        self._state[lanes.mask] = _IDLE
        if self.on_wait is not None:
            self.on_wait(place, lanes)
