"""Records the memory accesses and shuffles of each warp of some blocks, for pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from softlab.emulator.lanes import WARP, Box, Lanes, Value
from softlab.emulator.machine.faults import source_line
from softlab.emulator.machine.loop_records import LoopCode, LoopRun, WantedRows
from softlab.emulator.machine.observers import Observer
from softlab.emulator.memory.known_addresses import KnownAddresses
from softlab.emulator.sites import InstructionSite, Site
from softlab.instruments.machine_code import MachineCode
from softlab.traces import Accesses, Shuffles

#: Rows kept of each kind unless asked otherwise: about 6 MB of accesses.
DEFAULT_LIMIT = 20_000
#: Sets of lanes of which it is remembered which of their warps are recorded.
_MOST_SEEN = 64


@dataclass(frozen=True)
class _RecordedWarps:
    """The warps of the recorded blocks that have a lane in a set: (n,) each, ``active`` (n, 32).

    ``at``: index of each warp's row among the rows of the set's spread values. ``rows``: these indices, each once.
    """

    block: np.ndarray
    warp: np.ndarray
    at: np.ndarray
    active: np.ndarray
    rows: np.ndarray

    def pick(self, spread: np.ndarray) -> np.ndarray:
        """A copy of these warps' rows of a value that is spread over whole warps, (n, 32)."""
        return spread[0, self.warp] if spread.shape[0] == 1 else spread[self.at, self.warp]

    def pick_of(self, lanes: Lanes, value: np.ndarray) -> np.ndarray:
        """The same of a value of the set, (rows, columns) or (lanes,), without spreading other blocks."""
        if isinstance(lanes, Box):
            spread = lanes.spread(value[self.rows])
        else:
            ends = np.searchsorted(lanes.row_index, (self.rows, self.rows + 1))
            spread = np.zeros((len(self.rows), lanes.threads), value.dtype)
            for row, first, end in zip(spread, *ends.tolist(), strict=True):
                row[lanes.column_index[first:end]] = value[first:end]
            spread = spread.reshape(len(spread), -1, WARP)
        return spread[np.searchsorted(self.rows, self.at), self.warp]


class _BroadcastAddresses(NamedTuple):
    """Addresses that all blocks share, (1, columns or 1), kept without a copy per warp."""

    lanes: Box
    address: np.ndarray

    @property
    def key(self) -> tuple:
        """Addresses with the same key can be spread together."""
        return id(self.lanes), self.address.shape, self.address.dtype

    def of(self, others: Sequence[_BroadcastAddresses], warps: _RecordedWarps) -> np.ndarray:
        """Of several with the same key, (len(others), warps, 32)."""
        rows = np.concatenate([other.address for other in others])
        rows = np.broadcast_to(rows, (len(rows), self.lanes.extent[1]))
        spread = self.lanes.spread(rows)
        return spread if np.array_equal(warps.warp, np.arange(spread.shape[1])) else spread[:, warps.warp]


class _OneAddress(NamedTuple):
    """The address of all lanes of an access; the others have 0."""

    address: np.generic

    @property
    def key(self) -> tuple:
        """Addresses with the same key can be spread together."""
        return ()

    def of(self, others: Sequence[_OneAddress], warps: _RecordedWarps) -> np.ndarray:
        """Of several with the same key, (len(others), warps, 32) uint64."""
        addresses = np.array([int(other.address) for other in others], np.uint64)
        return np.where(warps.active, addresses[:, None, None], np.uint64(0))


class _Event(NamedTuple):
    """One execution of an instruction by some warps.

    Of the accesses of a loop each row has a step of its own, and ``which`` of the sites it is.
    """

    sites: tuple[Site | InstructionSite, ...]
    step: int | np.ndarray
    warps: _RecordedWarps
    columns: tuple[np.ndarray | _BroadcastAddresses | _OneAddress, ...]
    which: int | np.ndarray = 0


class _Layout(NamedTuple):
    """The rows of some events: each one's ``site`` of ``sites``, its ``step``, and its ``warp`` of all ``warps``.

    ``starts``: the first row of each event, and how many rows there are.
    """

    events: int
    sites: list[Any]
    warps: list[_RecordedWarps]
    site: np.ndarray
    step: np.ndarray
    warp: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, events: Sequence[_Event]) -> _Layout:
        """The layout of the rows of these events."""
        counts = [len(event.warps.warp) for event in events]
        starts = np.cumsum([0, *counts])
        warps = {id(event.warps): event.warps for event in events}
        ends = np.cumsum([0, *(len(one.warp) for one in warps.values())]).tolist()
        place = dict(zip(warps, ends, strict=False))
        sites = {id(site): site for event in events for site in event.sites}
        number = {site: at for at, site in enumerate(sites)}
        first = [number[id(event.sites[0])] for event in events]
        site = np.repeat(first, counts)
        warp = np.repeat([place[id(event.warps)] for event in events] - starts[:-1], counts) + np.arange(starts[-1])
        of_one = [event.step if isinstance(event.step, int) else 0 for event in events]
        step = np.repeat(of_one, counts)
        for event, start, end in zip(events, starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            if not isinstance(event.step, int):
                site[start:end] = np.array([number[id(one)] for one in event.sites])[event.which]
                step[start:end] = event.step
        return cls(len(events), list(sites.values()), list(warps.values()), site, step, warp, starts)


class _Log:
    """Events up to a limit of rows. What all rows of an event share is repeated only at the end."""

    def __init__(self, limit: int, file: str, lines: dict[int, int]) -> None:
        """``lines``: what is known of the lines of instructions; what is found out is kept there."""
        self._left = limit
        self.full = limit <= 0
        self._file = file
        self._lines = lines
        self._events: list[_Event] = []
        self._laid_out: _Layout | None = None

    @property
    def left(self) -> int:
        """Rows that may still come."""
        return max(0, self._left)

    def add(self, event: _Event) -> None:
        """Keep the event, the one that passes the limit too."""
        self._events.append(event)
        self._left -= len(event.warps.warp)
        self.full = self._left <= 0

    def __len__(self) -> int:
        return len(self._events)

    def of_sites(self, value: Callable[[Any], Any], dtype: str) -> np.ndarray:
        """What follows from each row's site."""
        layout = self._layout()
        return np.array([value(site) for site in layout.sites], dtype)[layout.site]

    def _layout(self) -> _Layout:
        """What each row is, once for all columns."""
        if self._laid_out is None or self._laid_out.events != len(self._events):
            self._laid_out = _Layout.of(self._events)
        return self._laid_out

    def column(self, number: int) -> np.ndarray:
        """The rows of all events. Events of the same warps are spread together."""
        own: dict[int, np.ndarray] = {}
        alike: dict[tuple, list[int]] = {}
        for at, event in enumerate(self._events):
            column = event.columns[number]
            if isinstance(column, np.ndarray):
                own[at] = column
            else:
                alike.setdefault((type(column), id(event.warps), column.key), []).append(at)
        if not alike:
            return np.concatenate(list(own.values()))
        starts = self._layout().starts
        found = np.empty((starts[-1], WARP), np.uint64)  # only addresses are kept without a copy per warp
        for at, rows in own.items():
            found[starts[at] : starts[at + 1]] = rows
        for numbers in alike.values():
            columns: list[Any] = [self._events[at].columns[number] for at in numbers]
            warps = self._events[numbers[0]].warps
            found[starts[numbers][:, None] + np.arange(len(warps.warp))] = columns[0].of(columns, warps)
        return found

    def warps(self, name: str) -> np.ndarray:
        """Of the warp of each row."""
        layout = self._layout()
        return np.concatenate([getattr(warps, name) for warps in layout.warps])[layout.warp]

    def common(self) -> dict[str, np.ndarray]:
        """The columns that accesses and shuffles share."""
        lines = self._lines

        def line(site: Site | InstructionSite) -> int:
            found = lines.get(site.index)
            if found is None:
                found = lines[site.index] = source_line(site.instruction.frames, self._file) or 0
            return found

        return {
            "line": self.of_sites(line, "i4"),
            "instruction": self.of_sites(lambda site: site.index, "i4"),
            "block": self.warps("block"),
            "warp": self.warps("warp"),
            "step": self._layout().step,
            "active": self.warps("active"),
        }

    def accesses(self) -> Accesses:
        if not self._events:
            return Accesses.empty()
        return Accesses(
            **self.common(),
            store=self.of_sites(lambda site: site.store, "?"),
            width=self.of_sites(lambda site: site.width, "i4"),
            address=self.column(0),
        )

    def shuffles(self) -> Shuffles:
        if not self._events:
            return Shuffles.empty()
        return Shuffles(
            **self.common(),
            mode=self.of_sites(lambda site: site.mode, "U4"),
            source=self.column(0),
            given=self.column(1),
            received=self.column(2),
        )


class Recorder(Observer):
    """Records the accesses and shuffles of some blocks (linear indices), about ``limit`` rows of each kind at most.

    With ``machine`` it records the accesses of the machine code instead of those of the PTX.
    """

    def __init__(
        self,
        file: str,
        blocks: Sequence[int] = (0,),
        limit: int = DEFAULT_LIMIT,
        machine: MachineCode | None = None,
    ) -> None:
        self._machine = machine or MachineCode({})
        self._wanted = np.array(sorted(set(blocks)), np.int64)
        self._rows = np.zeros(0, np.int64)
        self._linear = np.zeros(0, np.int64)
        self._step = 0
        self._warps_per_block = 1
        #: The recorded warps of the sets that came last, which are kept alive.
        self._seen: dict[int, tuple[Lanes, _RecordedWarps | None]] = {}
        self._known: KnownAddresses
        self._shared, self._global, self._shuffles = (_Log(limit, file, self._machine.lines) for _ in range(3))

    def batch(self, batch: Any) -> None:
        """Find out which rows of the batch are recorded."""
        self._known = batch.shared.known
        self._linear = batch.geometry.linear(np.arange(batch.blocks))
        self._rows = self._wanted_rows()
        self._warps_per_block = batch.threads // WARP
        self._seen.clear()

    def _wanted_rows(self) -> np.ndarray:
        """The rows of the batch that are recorded."""
        wanted = self._wanted
        if not len(wanted):
            return np.zeros(0, np.int64)
        place = np.minimum(np.searchsorted(wanted, self._linear), len(wanted) - 1)
        return np.flatnonzero(wanted[place] == self._linear)

    def shared_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """Record an event of this kind."""
        if self._shared.full:
            self._pass_over(site)
        else:
            self._access(self._shared, site, lanes, address)

    def global_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """Record an access to global memory, not one to constant memory."""
        if site.space == "const":
            return
        if self._global.full:
            self._pass_over(site)
        else:
            self._access(self._global, site, lanes, address)

    def _pass_over(self, site: Site) -> None:
        """Of an access that is not recorded only its number counts, for what other logs record."""
        self._step += self._machine.has(site)

    def takes_loop(self, loop: LoopCode) -> bool:
        """Each access comes with its number."""
        return True

    def loop_rows(self) -> WantedRows:
        """Rows of the recorded blocks, until the log is full."""
        wanted = np.zeros(len(self._linear), bool)
        wanted[self._rows] = True
        return WantedRows(wanted, self._global.left)

    def loop_widths(self, loads: Sequence[Site]) -> Sequence[int]:
        """As the machine code has them."""
        return self._machine.widths(loads)

    def loop(self, run: LoopRun) -> None:
        """Record the loads of a loop, in the order in which they ran."""
        rows, per_block = run.rows.view(np.int64), self._warps_per_block
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        if len(rows) > self._global.left:  # the access that passes the limit is kept
            rows = rows[rows[:, 0] <= rows[self._global.left - 1, 0]] if self._global.left else rows[:0]
        if len(rows):
            block, warp = self._linear[rows[:, 2] // per_block], (rows[:, 2] % per_block).astype(np.int32)
            active = (rows[:, 3:4] >> np.arange(WARP) & 1).astype(bool)
            warps = _RecordedWarps(block, warp, np.zeros(len(rows), np.int64), active, np.zeros(1, np.int64))
            accesses = (self._machine.access(site, np.uint64(0)) for site in run.code.loads)
            sites = tuple(
                one[0] if one is not None else site for one, site in zip(accesses, run.code.loads, strict=True)
            )
            steps = rows[:, 0] + self._step + 1
            self._global.add(_Event(sites, steps, warps, (rows[:, 4:].astype(np.uint64),), rows[:, 1]))
        self._step += run.accesses

    def shuffle(
        self, site: InstructionSite, lanes: Lanes, source: np.ndarray, given: np.ndarray, received: np.ndarray
    ) -> None:
        """Record an event of this kind."""
        self._step += 1
        warps = self._warps(lanes, self._shuffles)
        if warps is not None:
            columns = (warps.pick(source).astype(np.int8), warps.pick(given), warps.pick(received))
            self._shuffles.add(_Event((site,), self._step, warps, columns))

    def _access(self, log: _Log, site: Site, lanes: Lanes, address: Value) -> None:
        found = self._machine.access(site, address, self._known)
        if found is None:
            return
        site, address = found
        self._step += 1
        warps = self._warps(lanes, log)
        if warps is None:
            return
        if isinstance(lanes, Box) and isinstance(address, np.ndarray) and len(address) == 1:
            # The array of a value never changes, so it can be spread over the warps at the end.
            log.add(_Event((site,), self._step, warps, (_BroadcastAddresses(lanes, address),)))
            return
        if not isinstance(address, np.ndarray):
            log.add(_Event((site,), self._step, warps, (_OneAddress(address),)))
            return
        whole = address if address.shape == lanes.extent else np.broadcast_to(address, lanes.extent)
        log.add(_Event((site,), self._step, warps, (warps.pick_of(lanes, whole).astype(np.uint64),)))

    def _warps(self, lanes: Lanes, log: _Log) -> _RecordedWarps | None:
        if not len(self._rows) or log.full:
            return None
        seen = self._seen.get(id(lanes))
        if seen is None:
            if len(self._seen) >= _MOST_SEEN:
                self._seen.clear()
            seen = self._seen[id(lanes)] = lanes, self._find(lanes)
        return seen[1]

    def _find(self, lanes: Lanes) -> _RecordedWarps | None:
        if isinstance(lanes, Box):
            return self._find_in_box(lanes)
        active = lanes.mask[self._rows].reshape(len(self._rows), -1, WARP)
        number, warp = np.nonzero(active.any(axis=2))
        if not len(number):
            return None
        row = self._rows[number]
        return _RecordedWarps(self._linear[row], warp.astype(np.int32), row, active[number, warp], np.unique(row))

    def _find_in_box(self, lanes: Box) -> _RecordedWarps | None:
        """The same where all blocks of a set have the same lanes."""
        rows = self._rows if lanes.rows is None else self._rows[lanes.rows[self._rows]]
        if not len(rows):
            return None
        active = lanes.warp_mask[0]
        warp = np.flatnonzero(active.any(axis=1)).astype(np.int32)
        at = rows if lanes.rows is None else np.searchsorted(lanes.row_index[:, 0], rows)
        number = np.repeat(np.arange(len(rows)), len(warp))
        warp = np.concatenate([warp] * len(rows))
        return _RecordedWarps(self._linear[rows[number]], warp, at[number], active[warp], at)

    def shared(self) -> Accesses:
        """The accesses to shared memory."""
        return self._shared.accesses()

    def global_(self) -> Accesses:
        """The accesses to global memory."""
        return self._global.accesses()

    def shuffles(self) -> Shuffles:
        """The shuffles."""
        return self._shuffles.shuffles()
