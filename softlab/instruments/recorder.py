"""Keeps each warp's memory accesses and shuffles of some blocks, for pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from softlab.emulator.effects import Place
from softlab.emulator.faults import source_line
from softlab.emulator.lanes import WARP, Lanes, Value
from softlab.emulator.memory import Site
from softlab.emulator.observers import Observer
from softlab.traces import Accesses, Shuffles

#: Rows kept of each kind unless asked otherwise: about 6 MB of accesses.
DEFAULT_LIMIT = 20_000


class _Rows:
    """Columns of events, a piece for each event, up to a limit of rows."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._pieces: list[tuple[np.ndarray, ...]] = []

    @property
    def full(self) -> bool:
        return self._left <= 0

    def add(self, *columns: np.ndarray) -> None:
        """Keep as many of these rows as there is room for."""
        self._pieces.append(tuple(column[: self._left] for column in columns))
        self._left -= len(columns[0])

    def columns(self) -> list[np.ndarray]:
        return [np.concatenate(parts) for parts in zip(*self._pieces, strict=True)]


class Recorder(Observer):
    """Records the accesses and shuffles of the given blocks (linear indices), up to ``limit`` rows of each kind."""

    def __init__(self, file: str, blocks: Sequence[int] = (0,), limit: int = DEFAULT_LIMIT) -> None:
        self._file = file
        self._wanted = np.array(sorted(set(blocks)), np.int64)
        self._rows = np.zeros(0, np.int64)
        self._first = 0
        self._step = 0
        self._shared, self._global, self._shuffles = _Rows(limit), _Rows(limit), _Rows(limit)

    def batch(self, batch: Any) -> None:
        """Find out which rows of the batch are recorded."""
        self._first = batch.geometry.first
        rows = self._wanted - self._first
        self._rows = rows[(rows >= 0) & (rows < batch.blocks)]

    def shared_access(self, site: Site, lanes: Lanes, address: Value) -> None:
        """Record it."""
        self._access(self._shared, site, lanes, address)

    def global_access(self, site: Site, lanes: Lanes, address: Value) -> None:
        """Record it, but not constant memory."""
        if site.space != "const":
            self._access(self._global, site, lanes, address)

    def shuffle(
        self, place: Place, lanes: Lanes, source: np.ndarray, given: np.ndarray, received: np.ndarray, members: Value
    ) -> None:
        """Record it."""
        self._step += 1
        if not len(self._rows) or self._shuffles.full:
            return
        row, warp, active = self._warps(lanes)
        if not len(row):
            return
        at = self._local_row(lanes, row)

        def pick(values: np.ndarray) -> np.ndarray:
            return values[at if values.shape[0] > 1 else 0, warp]

        where = self._where(place.index, place.instruction.frames, row, warp)
        mode = np.full(len(row), place.mode, "U4")
        self._shuffles.add(
            *where, mode, pick(source).astype(np.int8), active, pick(given).copy(), pick(received).copy()
        )

    def _access(self, into: _Rows, site: Site, lanes: Lanes, address: Value) -> None:
        self._step += 1
        if not len(self._rows) or into.full:
            return
        row, warp, active = self._warps(lanes)
        if not len(row):
            return
        spread = lanes.spread(address if isinstance(address, np.ndarray) else np.full(lanes.extent, address))
        at = self._local_row(lanes, row)
        places = spread[at if spread.shape[0] > 1 else 0, warp].astype(np.uint64)
        line, instruction, block, warp, step = self._where(site.index, site.instruction.frames, row, warp)
        n = len(row)
        into.add(
            line,
            instruction,
            np.full(n, site.store),
            np.full(n, site.width, np.int32),
            block,
            warp,
            step,
            places,
            active,
        )

    def _warps(self, lanes: Lanes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(row in the batch, warp, active (n, 32)) of each warp of the recorded blocks with a lane in the set."""
        active = lanes.mask[self._rows].reshape(len(self._rows), -1, WARP)
        row, warp = np.nonzero(active.any(axis=2))
        return self._rows[row], warp, active[row, warp]

    @staticmethod
    def _local_row(lanes: Lanes, row: np.ndarray) -> np.ndarray:
        """Row among the rows that the set's spread values have."""
        if len(lanes.extent) == 1:
            return row
        return np.searchsorted(lanes.row_index[:, 0], row)

    def _where(self, index: int, frames: tuple, row: np.ndarray, warp: np.ndarray) -> tuple[np.ndarray, ...]:
        n = len(row)
        return (
            np.full(n, source_line(frames, self._file) or 0, np.int32),
            np.full(n, index, np.int32),
            self._first + row.astype(np.int64),
            warp.astype(np.int32),
            np.full(n, self._step, np.int64),
        )

    def shared(self) -> Accesses:
        """The accesses to shared memory."""
        return Accesses(*columns) if (columns := self._shared.columns()) else Accesses.empty()

    def global_(self) -> Accesses:
        """The accesses to global memory."""
        return Accesses(*columns) if (columns := self._global.columns()) else Accesses.empty()

    def shuffles(self) -> Shuffles:
        """The shuffles."""
        return Shuffles(*columns) if (columns := self._shuffles.columns()) else Shuffles.empty()
