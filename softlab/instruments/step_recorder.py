"""Records what one warp does, instruction by instruction: the observer of :mod:`softlab.instruments.step_record`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.emulator.lanes import WARP, Lanes, Value
from softlab.emulator.machine.observers import Observer
from softlab.emulator.memory.copies import Copy
from softlab.emulator.sites import InstructionSite, Site

#: The state spaces of recorded accesses, by number.
SPACES = ("shared", "global", "local", "const")
#: Bytes written to memory that a record keeps at most.
MOST_BYTES = 64 << 20
_FULL = (1 << WARP) - 1


class RecordFull(Exception):
    """The record has all that it will have. ``reason`` says which limit was reached, "" where the block has ended."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Growing:
    """Rows of one dtype and shape, appended one or several at a time."""

    def __init__(self, dtype: Any, *shape: int) -> None:
        self._rows = np.zeros((1024, *shape), dtype)
        self.count = 0

    def room(self, more: int = 1) -> np.ndarray:
        """The next ``more`` rows, to be filled."""
        first, self.count = self.count, self.count + more
        while self.count > len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        return self._rows[first : self.count]

    def add(self, value: Any) -> None:
        """One row."""
        self.room()[0] = value

    def array(self) -> np.ndarray:
        """All rows."""
        return self._rows[: self.count].copy()


class Table:
    """Columns that grow together."""

    def __init__(self, **columns: Any) -> None:
        self.columns = {
            name: Growing(*(kind if isinstance(kind, tuple) else (kind,))) for name, kind in columns.items()
        }

    def add(self, **values: Any) -> None:
        """One row."""
        for name, column in self.columns.items():
            column.add(values[name])

    def extend(self, count: int, **values: Any) -> None:
        """``count`` rows; a value may stand for all of them."""
        for name, column in self.columns.items():
            column.room(count)[:] = values[name]

    def arrays(self) -> dict[str, np.ndarray]:
        """Name -> all rows."""
        return {name: column.array() for name, column in self.columns.items()}

    def __len__(self) -> int:
        return next(iter(self.columns.values())).count


@dataclass(frozen=True)
class _Place:
    """Where the recorded block and warp are in a set of lanes.

    ``row``: of the block among the set's rows. ``lanes``: those of the warp that are in the set. ``columns``: where
    their values stand in the set. ``bits``: the lanes as a mask, 0 where the warp is not in the set.
    """

    row: int
    lanes: np.ndarray | slice
    columns: np.ndarray | slice
    bits: int


@dataclass(frozen=True)
class _Write:
    """Bytes that some threads write: ``address`` and ``thread`` (n,), the same ``width`` for each."""

    space: int
    instruction: int
    address: np.ndarray
    thread: np.ndarray
    block: np.ndarray
    width: int
    atomic: bool


class StepRecorder(Observer):
    """Records the steps of warp ``warp`` of the block of linear index ``block``; ``limit`` steps at most.

    ``destinations``: for each instruction the numbers of the registers that it writes. :meth:`step` is the listener of
    a :class:`~softlab.emulator.machine.stepping.SteppedProgram`.
    """

    def __init__(
        self, destinations: Sequence[Sequence[int]], registers: int, block: int, warp: int, limit: int
    ) -> None:
        self._destinations = destinations
        self._block, self._warp, self._limit = block, warp, limit
        self._batch: Any = None
        self._row: int | None = None
        self._now = np.zeros((registers, WARP), np.uint64)
        self._known = [0] * registers
        self._ticks = 0
        self._pending: list[_Write] = []
        self._seen: tuple[Lanes | None, _Place | None] = (None, None)
        self.notes: dict[str, None] = {}
        self.steps = Table(instruction="i4", active="u4", executed="u4", tick="i8")
        self.writes = Table(step="i4", register="i4", lanes="u4", known="u4", values=("u8", WARP))
        self.accesses = Table(
            step="i4", space="i1", width="i4", itemsize="i4", store="?", lanes="u4", address=("u8", WARP)
        )
        self.stores = Table(
            at="i4", tick="i8", space="i1", instruction="i4", address="u8", width="i4", thread="i4", block="i8",
            atomic="?", start="i8",
        )  # fmt: skip
        self.shuffles = Table(step="i4", source=("i1", WARP))
        self.bytes = Growing("u1")

    def batch(self, batch: Any) -> None:
        """Find the block's row, if it is in this batch."""
        self._batch = batch
        found = np.flatnonzero(batch.geometry.linear(np.arange(batch.blocks)) == self._block)
        self._row = int(found[0]) if len(found) else None
        self._seen = (None, None)

    # Steps

    def step(self, index: int, lanes: Lanes, guard: Value | None, *values: Value) -> None:
        """Some lanes have executed an instruction."""
        if self._row is None:
            return
        place = self._place(lanes)
        if place is None:
            return
        self._ticks += 1
        number = len(self.steps)
        if self._pending:
            self._commit(number + 1 if place.bits else number)
        if not place.bits:
            return
        if number == self._limit:
            raise RecordFull(f"the record has {self._limit} steps, as many as were asked for, and the warp does more")
        executed = place.bits if guard is None else place.bits & _bits(self._pick(place, guard))
        for register, value in zip(self._destinations[index], values, strict=True):
            now = self._now[register]
            now[place.lanes] = self._pick(place, value)[place.lanes]
            self._known[register] |= executed
            self.writes.add(step=number, register=register, lanes=executed, known=self._known[register], values=now)
        self.steps.add(instruction=index, active=place.bits, executed=executed, tick=self._ticks)

    def _place(self, lanes: Lanes) -> _Place | None:
        """None where the block is not in the set."""
        if self._seen[0] is not lanes:
            self._seen = (lanes, self._find(lanes))
        return self._seen[1]

    def _find(self, lanes: Lanes) -> _Place | None:
        assert self._row is not None
        mask = lanes.mask[self._row]
        if not mask.any():
            return None
        mine = mask[self._warp * WARP : (self._warp + 1) * WARP]
        bits = _bits(mine)
        if len(lanes.extent) == 1:
            columns = np.flatnonzero((lanes.row_index == self._row) & (lanes.column_index // WARP == self._warp))
            return _Place(0, np.flatnonzero(mine), columns, bits)
        row = int(np.searchsorted(lanes.row_index[:, 0], self._row))
        columns = np.flatnonzero(lanes.column_index[0] // WARP == self._warp)
        if bits == _FULL:
            return _Place(row, slice(None), slice(int(columns[0]), int(columns[0]) + WARP), bits)
        return _Place(row, np.flatnonzero(mine), columns, bits)

    @staticmethod
    def _pick(place: _Place, value: Value) -> np.ndarray:
        """(32,) uint64: the bits of the warp's lanes, 0 for lanes outside of the set."""
        array = np.asarray(value)
        bits = array if array.dtype == bool else array.view(f"u{array.itemsize}")
        out = np.zeros(WARP, np.uint64)
        if bits.ndim == 2:
            line = bits[place.row if bits.shape[0] > 1 else 0]
            out[place.lanes] = line if len(line) == 1 else line[place.columns]
        else:
            out[place.lanes] = bits if bits.ndim == 0 else bits[place.columns]
        return out

    # Memory

    def shared_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """An access to shared memory."""
        self._access("shared", site, lanes, address)

    def global_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """An access to global or constant memory."""
        self._access("const" if site.space == "const" else "global", site, lanes, address)

    def local_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """An access to the stack of each thread."""
        self._access("local", site, lanes, address)

    def cluster_access(
        self, site: Site, lanes: Lanes, owner: np.ndarray, address: Value, values: tuple[Value, ...]
    ) -> None:
        """An access to the shared memory of some block of the cluster: what is written to the recorded one's counts."""
        if self._row is None or not (site.store or site.operation):
            return
        rows, columns = (np.broadcast_to(i, lanes.extent).reshape(-1) for i in (lanes.row_index, lanes.column_index))
        mine = lanes.full_extent(owner) == self._row
        if mine.any():
            self._writes_come("shared", site, lanes.full_extent(address)[mine], columns[mine], rows[mine])

    def copy_ends(self, copy: Copy) -> None:
        """Asynchronous copies have ended."""
        mine = copy.owner == self._row
        if self._row is None or not copy.writes or not mine.any():
            return
        rows, columns = np.divmod(copy.lane[mine], self._batch.threads)
        self._writes_come("shared", copy.site, copy.offset[mine], columns, rows, copy.nbytes)

    def mbarrier(
        self, site: Site, lanes: Lanes, owner: np.ndarray, offset: np.ndarray, action: str, phase: np.ndarray
    ) -> None:
        """Mbarriers are objects of the emulator, and not bytes of its memory."""
        if self._row is not None and (owner == self._row).any():
            self.notes["The state of mbarriers is not recorded: their words in shared memory stand as they were."] = (
                None
            )

    def shuffle(
        self, site: InstructionSite, lanes: Lanes, source: np.ndarray, given: np.ndarray, received: np.ndarray
    ) -> None:
        """The lane from which each lane of the warp reads."""
        place = self._place(lanes) if self._row is not None else None
        if place is not None and place.bits:
            self.shuffles.add(step=len(self.steps), source=source[self._row if len(source) > 1 else 0, self._warp])

    def _access(self, space: str, site: Site, lanes: Lanes, address: Value) -> None:
        if self._row is None or (found := self._of_block(lanes, address)) is None:
            return
        threads, addresses = found
        mine = threads // WARP == self._warp
        if mine.any():
            row, at = np.zeros(WARP, np.uint64), threads[mine] % WARP
            row[at] = addresses[mine]
            self.accesses.add(
                step=len(self.steps), space=SPACES.index(space), width=site.width, itemsize=site.dtype.itemsize,
                store=site.store, lanes=int((np.int64(1) << at).sum()), address=row,
            )  # fmt: skip
        if site.store or site.operation:
            self._writes_come(space, site, addresses, threads, np.full(len(threads), self._row))

    def _of_block(self, lanes: Lanes, address: Value) -> tuple[np.ndarray, np.ndarray] | None:
        """The threads of the recorded block in a set, and their addresses."""
        if len(lanes.extent) == 1:
            mine = lanes.row_index == self._row
            return (lanes.column_index[mine], lanes.full_extent(address)[mine]) if mine.any() else None
        at = np.flatnonzero(lanes.row_index[:, 0] == self._row)
        if not len(at):
            return None
        threads = lanes.column_index[0]
        if isinstance(address, np.ndarray):
            address = address[int(at[0]) if address.shape[0] > 1 else 0]
        return threads, np.broadcast_to(address, len(threads))

    def _writes_come(
        self, space: str, site: Any, address: np.ndarray, threads: np.ndarray, rows: np.ndarray, width: int = 0
    ) -> None:
        """Some threads are about to write, or have just done so. The bytes are read after the instruction."""
        blocks = self._batch.geometry.linear(rows)
        width, atomic = width or site.width, bool(site.operation)
        self._pending.append(_Write(SPACES.index(space), site.index, address, threads, blocks, width, atomic))

    def _commit(self, at: int) -> None:
        """Keep what was written, which the warp sees after ``at`` steps."""
        for write in self._pending:
            count, shared = len(write.address), write.space == SPACES.index("shared")
            start = self.bytes.count + np.arange(count) * (write.width if shared else 0)
            self.stores.extend(
                count, at=at, tick=self._ticks, space=write.space, instruction=write.instruction,
                address=write.address, width=write.width, thread=write.thread, block=write.block,
                atomic=write.atomic, start=start,
            )  # fmt: skip
            if shared:
                data = self._batch.shared.data[self._row]
                index = write.address.astype(np.int64)[:, None] + np.arange(write.width)
                self.bytes.room(count * write.width)[:] = data[index].reshape(-1)
        self._pending = []
        if self.bytes.count > MOST_BYTES or len(self.stores) * WARP > MOST_BYTES:
            raise RecordFull(f"the block has written more than the {MOST_BYTES >> 20} MiB that a record keeps")

    def done(self) -> None:
        """The batch has ended. With the recorded block the record is complete: no later batch is needed."""
        if self._row is not None:
            self.end()
            raise RecordFull("")

    def end(self) -> None:
        """The run is over: keep what was written last."""
        if self._pending:
            self._commit(len(self.steps))


def _bits(mask: np.ndarray) -> int:
    """(32,) of truth values -> the lanes as a mask, lane 0 the lowest bit."""
    return int(np.packbits(mask.astype(bool), bitorder="little").view("<u4")[0])
