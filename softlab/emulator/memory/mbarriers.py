"""mbarrier objects: counts of arrivals and of bytes, in phases (PTX ISA, "Parallel Synchronization: mbarrier").

An object has an address in shared memory, but its contents are kept here: programs may not read them. A phase is over
when no arrival is pending and no byte expected; the next one begins at once. Copies end when a thread asks an mbarrier
for them (:mod:`softlab.emulator.memory.copies`), never before. So a kernel that does not ask finds the old contents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.emulator.host import FaultReporter
from softlab.emulator.lanes import Box, Lanes, Value
from softlab.emulator.memory.clusters import ClusterMemory
from softlab.emulator.ptx.linker import SHARED_WINDOW
from softlab.emulator.sites import Site

#: Largest count of arrivals and of bytes (PTX ISA, "mbarrier: Contents of the mbarrier object").
MOST = (1 << 20) - 1
#: In a state that ``arrive`` gives: the pending count below, the phase above.
_PHASE_SHIFT = 20
_FIELDS = ("expected", "pending", "phase", "bytes")
#: Arrivals that do more than arrive.
_SPECIAL_ARRIVALS = ("arrive_drop", "noComplete", "expect_tx")
#: Sets of lanes whose objects are remembered.
_MOST_KEPT = 64
#: An mbarrier object of a batch: (row, column), the block and the number of the object.
Key = tuple[int, int]
#: Called as listener(site, lanes, owner, offset, action, phase): the block and the offset of each lane's object;
#: ``action`` is "init", "arrive", "expect", "wait" or "invalidate"; ``phase``: in which each arrives, or which is over.
MbarrierListener = Callable[[Site, Lanes, np.ndarray, np.ndarray, str, np.ndarray], Any]
_NO_PHASE = np.zeros((), np.int64)


def pending_count(state: Value) -> Value:
    """``mbarrier.pending_count`` of a state."""
    return (state & np.uint64(MOST)).astype(np.uint32)


@dataclass(frozen=True)
class _OneOfEach:
    """Lanes that all use the object at one offset of their own block.

    ``owners`` and ``offsets``, (lanes,) each, are what listeners hear: the same arrays each time.
    """

    lanes: Box
    rows: np.ndarray
    column: int
    owners: np.ndarray
    offsets: np.ndarray

    @property
    def key(self) -> tuple[np.ndarray, int]:
        """The objects in the arrays of counts."""
        return self.rows, self.column


class Mbarriers:
    """All mbarrier objects of a batch."""

    def __init__(
        self, faults: FaultReporter, cluster: ClusterMemory, blocks: int, listener: MbarrierListener | None = None
    ) -> None:
        self._faults = faults
        self._cluster = cluster
        self._blocks = blocks
        self._listener = listener
        self.clear()

    def clear(self) -> None:
        """For the next batch: there is none."""
        self._columns: dict[int, int] = {}
        self._alive = np.zeros((self._blocks, 0), bool)
        self._counts = {name: np.zeros((self._blocks, 0), np.int64) for name in _FIELDS}
        self._same: dict[tuple[int, int], _OneOfEach] = {}
        self.events = self.changes = 0
        self._asked: tuple[Key, int] | None = None

    # Instructions

    def init(self, lanes: Lanes, site: Site, address: Value, count: Value) -> None:
        """``mbarrier.init``."""
        rows, columns, offset = self._find(lanes, site, address, new=True)
        counts = lanes.full_extent(count).astype(np.int64)
        self._refuse(
            (counts < 1) | (counts > MOST),
            f"initialises an mbarrier for a count that is not 1 to {MOST}",
            lanes,
            site,
            offset,
        )
        self._refuse(
            self._alive[rows, columns],
            "initialises an mbarrier that is in use: mbarrier.inval ends its use",
            lanes,
            site,
            offset,
        )
        self.tell(site, lanes, rows, offset, "init")
        self._alive[rows, columns] = True
        for name, value in (("expected", counts), ("pending", counts), ("phase", 0), ("bytes", 0)):
            self._counts[name][rows, columns] = value

    def invalidate(self, lanes: Lanes, site: Site, address: Value) -> None:
        """``mbarrier.inval``."""
        rows, columns, offset = self._find(lanes, site, address)
        self.tell(site, lanes, rows, offset, "invalidate")
        self._alive[rows, columns] = False

    def expect(self, lanes: Lanes, site: Site, address: Value, nbytes: Value) -> None:
        """``mbarrier.expect_tx``."""
        rows, columns, offset = self._find(lanes, site, address)
        self.tell(site, lanes, rows, offset, "expect")
        self._add_bytes(lanes, site, rows, columns, offset, lanes.full_extent(nbytes).astype(np.int64))

    def complete(self, lanes: Lanes, site: Site, address: Value, nbytes: Value) -> None:
        """``mbarrier.complete_tx``."""
        rows, columns, offset = self._find(lanes, site, address)
        self.tell(site, lanes, rows, offset, "expect")
        self._add_bytes(lanes, site, rows, columns, offset, -lanes.full_extent(nbytes).astype(np.int64))
        self._settle(rows, columns)

    def arrive(self, lanes: Lanes, site: Site, address: Value, count: Value, nbytes: Value) -> Value:
        """``mbarrier.arrive``, with ``.expect_tx`` also bytes; the state before."""
        one = self._one_of_each(lanes, site, address)
        if one is not None and not isinstance(count, np.ndarray) and not site.instruction.has(*_SPECIAL_ARRIVALS):
            states = self._arrive_together(site, one, int(count))
            if states is not None:
                return states
        rows, columns, offset = self._find(lanes, site, address)
        counts = lanes.full_extent(count).astype(np.int64)
        self.tell(site, lanes, rows, offset, "arrive", self._phases(rows, columns, counts).reshape(lanes.extent))
        if site.instruction.has("expect_tx"):
            self._add_bytes(lanes, site, rows, columns, offset, lanes.full_extent(nbytes).astype(np.int64))
        if site.instruction.opcode == "mbarrier" and site.instruction.has("arrive_drop"):
            np.subtract.at(self._counts["expected"], (rows, columns), counts)
        before = self._counts["phase"][rows, columns]
        states = np.empty(len(rows), np.uint64)
        for part in _turns(rows, columns, counts, self._counts["pending"]):
            states[part] = self._arrive(lanes, site, part, rows, columns, offset, counts)
        if site.instruction.has("noComplete"):
            over = self._counts["phase"][rows, columns] != before
            self._refuse(over, "completes a phase with mbarrier.arrive.noComplete", lanes, site, offset)
        return states.reshape(lanes.extent)

    def _arrive_together(self, site: Site, one: _OneOfEach, count: int) -> Value | None:
        """All lanes arrive in one phase; None, and nothing is done, where they do not fit in one."""
        counts, key = self._counts, one.key
        left, phase, total = counts["pending"][key], counts["phase"][key], count * one.lanes.extent[1]
        if (left < total).any():
            return None
        self.tell(site, one.lanes, one.owners, one.offsets, "arrive", phase[:, None])
        counts["pending"][key] = left - total
        over = (left == total) & (counts["bytes"][key] == 0)
        if over.any():
            done = one.rows[over], one.column
            counts["phase"][done] += 1
            counts["pending"][done] = counts["expected"][done]
            self.events += 1
        states = (phase << _PHASE_SHIFT | left).astype(np.uint64)
        return states[0] if (states == states[0]).all() else states[:, None]

    def _arrive(
        self,
        lanes: Lanes,
        site: Site,
        part: np.ndarray,
        rows: np.ndarray,
        columns: np.ndarray,
        offset: np.ndarray,
        counts: np.ndarray,
    ) -> np.ndarray:
        """Some of the lanes arrive, no more of them than are pending."""
        pending = self._counts["pending"]
        key = rows[part], columns[part]
        over = np.zeros(len(rows), bool)
        over[part] = pending[key] < counts[part]
        self._refuse(over, "arrives at an mbarrier more often than the phase expects", lanes, site, offset)
        states = (self._counts["phase"][key] << _PHASE_SHIFT | pending[key]).astype(np.uint64)
        pending -= _totals(*key, counts[part], pending.shape)
        self._settle(*key)
        return states

    def test(self, lanes: Lanes, site: Site, address: Value, phase: Value) -> Value:
        """``mbarrier.test_wait`` and ``try_wait``: whether the phase, by its parity or by a state, is over."""
        one = self._one_of_each(lanes, site, address)
        if one is not None and self._all_over(site, one, phase):
            if self._listener is not None:
                over_now = self._phase_over(site, self._counts["phase"][one.key], int(phase))
                self._listener(site, lanes, one.owners, one.offsets, "wait", over_now[:, None])
            return np.True_
        rows, columns, offset = self._find(lanes, site, address)
        over = self._over(lanes, site, rows, columns, phase)
        if not over.all():
            first = int(over.argmin())
            self._asked = (int(rows[first]), int(columns[first])), int(offset[first])
        if self._listener is not None and over.any():
            passed, _ = lanes.split(over.reshape(lanes.extent))
            if passed is not None:
                current, asked = self._counts["phase"][rows, columns], lanes.full_extent(phase)
                over_now = self._phase_over(site, current, asked)[over].reshape(passed.extent)
                self._listener(site, passed, rows[over], offset[over], "wait", over_now)
        return over.reshape(lanes.extent)

    def has_completed(
        self, lanes: Lanes, site: Site, address: Value, phase: Value, *, finish: Callable[[Key], None]
    ) -> Value:
        """Lanes whose phase is over, before they ask. ``finish(key)`` ends the copies that are bound to an mbarrier."""
        one = self._one_of_each(lanes, site, address)
        if one is not None and self._all_over(site, one, phase):
            return np.True_
        rows, columns, _ = self._find(lanes, site, address)
        over = self._over(lanes, site, rows, columns, phase)
        if not over.all():
            asked = np.zeros(self._alive.shape, bool)
            asked[rows[~over], columns[~over]] = True
            for key in np.argwhere(asked).tolist():
                finish((key[0], key[1]))
            over = self._over(lanes, site, rows, columns, phase)
        return over.reshape(lanes.extent)

    def _over(self, lanes: Lanes, site: Site, rows: np.ndarray, columns: np.ndarray, phase: Value) -> np.ndarray:
        current = self._counts["phase"][rows, columns]
        asked = lanes.full_extent(phase).astype(np.int64)
        if site.instruction.has("parity"):
            return np.asarray(current & 1 != asked & 1)
        return np.asarray(current != asked >> _PHASE_SHIFT)

    @staticmethod
    def _phase_over(site: Site, current: np.ndarray, asked: np.ndarray | int) -> np.ndarray:
        """The phase that is over for who asks for it: a parity means the last one."""
        if site.instruction.has("parity"):
            return current - 1
        if isinstance(asked, int):
            return np.full(len(current), asked >> _PHASE_SHIFT)
        return asked.astype(np.int64) >> _PHASE_SHIFT

    def _phases(self, rows: np.ndarray, columns: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """The phases in which lanes will arrive, one after the other."""
        phase, pending, expected = (self._counts[name][rows, columns] for name in ("phase", "pending", "expected"))
        place = rows * self._alive.shape[1] + columns
        order = np.argsort(place, kind="stable")
        total = np.cumsum(counts[order]) - counts[order]
        first = np.flatnonzero(np.diff(place[order], prepend=-1))
        total -= np.repeat(total[first], np.diff(first, append=len(order)))
        before = np.empty_like(total)
        before[order] = total
        return np.where(before < pending, phase, phase + 1 + (before - pending) // np.maximum(expected, 1))

    def _all_over(self, site: Site, one: _OneOfEach, phase: Value) -> bool:
        """Whether the phase that all lanes ask for is over for all; False where they ask for several."""
        if isinstance(phase, np.ndarray):
            return False
        current, asked = self._counts["phase"][one.key], int(phase)
        parity = site.instruction.has("parity")
        return bool((current & 1 != asked & 1 if parity else current != asked >> _PHASE_SHIFT).all())

    def missing(self) -> str:
        """A sentence about the mbarrier that a thread was told "not yet" of last, "" where there is none."""
        if self._asked is None:
            return ""
        key, offset = self._asked
        pending, expected, nbytes = (int(self._counts[name][key]) for name in ("pending", "expected", "bytes"))
        missing = [f"{pending} of {expected} arrivals"] if pending else []
        if nbytes:
            missing.append(f"{nbytes} bytes of copies" if nbytes > 0 else f"an expect_tx of {-nbytes} bytes that came")
        if not missing:
            return ""
        return (
            f"It waits at the mbarrier at byte {offset} of shared memory, where {' and '.join(missing)} are missing. "
        )

    # What copies do

    def key(self, lanes: Lanes, site: Site, address: Value) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(rows, columns, offsets) of the objects at each lane's address."""
        return self._find(lanes, site, address)

    def column(self, offset: int) -> int:
        """The number of the object at an offset; -1 where there is none."""
        return self._columns.get(offset, -1)

    def columns(self, rows: np.ndarray, offsets: np.ndarray) -> np.ndarray | None:
        """The numbers of the objects at offsets in blocks, (lanes,) each; None where there is none for some lane."""
        different, which = np.unique(offsets, return_inverse=True)
        columns = np.array([self._columns.get(one, -1) for one in different.tolist()])[which]
        return columns if (columns >= 0).all() and self._alive[rows, columns].all() else None

    def phase(self, key: Key) -> int:
        """The phase of an object now."""
        return int(self._counts["phase"][key])

    def missing_bytes(self, key: Key) -> int:
        """The bytes that the phase of an object still waits for; negative where more have come."""
        return int(self._counts["bytes"][key])

    def phases(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The phases of objects now."""
        return self._counts["phase"][rows, columns]

    def is_alive(self, key: Key) -> bool:
        """Whether there is an object."""
        return key[1] >= 0 and bool(self._alive[key])

    def arrived_bytes(self, key: Key, nbytes: int) -> None:
        """A copy of ``nbytes`` bytes has ended."""
        self._counts["bytes"][key] -= nbytes
        if not self._counts["bytes"][key]:
            self._settle(np.array([key[0]]), np.array([key[1]]))

    def copies_until_over(self, key: Key, nbytes: int, copies: int) -> int:
        """After how many of these copies of ``nbytes`` the phase is over: all of them where it goes on until then."""
        if self._counts["pending"][key]:
            return copies
        number, rest = divmod(int(self._counts["bytes"][key]), nbytes)
        return number if not rest and 0 < number < copies else copies

    def more_pending(self, rows: np.ndarray, columns: np.ndarray) -> None:
        """One more arrival of this phase is pending, for each of these."""
        np.add.at(self._counts["pending"], (rows, columns), 1)

    def arrived(self, key: Key, count: int) -> bool:
        """The copies of ``count`` threads have ended and arrive for them; returns whether that many were pending."""
        if self._counts["pending"][key] < count:
            return False
        self._counts["pending"][key] -= count
        self._settle(np.array([key[0]]), np.array([key[1]]))
        return True

    # Inside

    def _settle(self, rows: np.ndarray, columns: np.ndarray) -> None:
        """Begin the next phase where this one is over."""
        counts = self._counts
        over = np.zeros(self._alive.shape, bool)
        over[rows, columns] = True
        over &= (counts["pending"] == 0) & (counts["bytes"] == 0)
        if over.any():
            counts["phase"][over] += 1
            counts["pending"][over] = counts["expected"][over]
            self.events += 1

    def _add_bytes(
        self, lanes: Lanes, site: Site, rows: np.ndarray, columns: np.ndarray, offset: np.ndarray, nbytes: np.ndarray
    ) -> None:
        expected = self._counts["bytes"]
        expected += _totals(rows, columns, nbytes, expected.shape)
        over = np.abs(expected[rows, columns]) > MOST
        self._refuse(over, f"lets an mbarrier expect more than {MOST} bytes", lanes, site, offset)

    def _find(
        self, lanes: Lanes, site: Site, address: Value, *, new: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(rows, columns, offsets), (lanes,) each, of the objects at each lane's address."""
        if site.space == "generic":
            address = address - np.uint64(SHARED_WINDOW)
        owner, offsets = self._cluster.locate(lanes, site, address)
        rows = lanes.full_extent(owner).astype(np.int64)
        offset = lanes.full_extent(offsets).astype(np.int64)
        if (offset == offset[0]).all():
            different, which = offset[:1], np.zeros(len(offset), np.int64)
        else:
            different, which = np.unique(offset, return_inverse=True)
        if new:
            for one in different.tolist():
                self._columns.setdefault(one, len(self._columns))
            self._grow(len(self._columns))
        numbers = np.array([self._columns.get(one, -1) for one in different.tolist()])
        columns = numbers[which]
        if not new:
            known = columns >= 0
            dead = ~known
            dead[known] = ~self._alive[rows[known], columns[known]]
            self._refuse(dead, "uses an mbarrier that is not initialised (mbarrier.init)", lanes, site, offset)
        return rows, columns, offset

    def _one_of_each(self, lanes: Lanes, site: Site, address: Value) -> _OneOfEach | None:
        """The objects of lanes that all give one address in their own blocks; None for any other lanes."""
        if isinstance(address, np.ndarray) or not isinstance(lanes, Box):
            return None
        if site.space == "generic":
            address = address - np.uint64(SHARED_WINDOW)
        offset = self._cluster.own_offset(site, address)
        found = self._same.get((id(lanes), offset))
        if found is None or found.lanes is not lanes:
            column = self._columns.get(offset, -1)
            if column < 0:
                return None
            if len(self._same) >= _MOST_KEPT:
                self._same.clear()
            rows, owners = lanes.row_index[:, 0], lanes.positions.rows
            found = _OneOfEach(lanes, rows, column, owners, np.full(lanes.count, offset, np.int64))
            self._same[id(lanes), offset] = found
        return found if self._alive[found.key].all() else None

    def _grow(self, columns: int) -> None:
        more = ((0, 0), (0, columns - self._alive.shape[1]))
        if more[1][1] > 0:
            self._alive = np.pad(self._alive, more)
            self._counts = {name: np.pad(values, more) for name, values in self._counts.items()}

    def _refuse(self, bad: np.ndarray, what: str, lanes: Lanes, site: Site, offset: np.ndarray) -> None:
        if bad.any():
            where = int(offset[int(bad.argmax())])
            raise self._faults.fault(
                "mbarrier-misuse", f"the thread {what}", site.instruction, lanes, bad.reshape(lanes.extent), where
            )

    def tell(
        self,
        site: Site,
        lanes: Lanes,
        rows: np.ndarray,
        offset: np.ndarray,
        action: str,
        phase: np.ndarray = _NO_PHASE,
    ) -> None:
        """Note a change, and tell the listener."""
        self.changes += 1
        if self._listener is not None:
            self._listener(site, lanes, rows, offset, action, phase)


def _turns(rows: np.ndarray, columns: np.ndarray, counts: np.ndarray, pending: np.ndarray) -> list[np.ndarray]:
    """Lanes (their indices) that arrive together: all, where no object gets more than is pending, else one by one."""
    total = _totals(rows, columns, counts, pending.shape)
    if (total <= pending)[rows, columns].all():
        return [np.arange(len(rows))]
    return [np.array([lane]) for lane in range(len(rows))]


def _totals(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The sum of the values of each object, (blocks, objects) int64. A double holds them: there are few lanes."""
    sums = np.bincount(rows * shape[1] + columns, values, shape[0] * shape[1])
    return sums.astype(np.int64).reshape(shape)
