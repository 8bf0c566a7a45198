"""Which path goes on next, and whether any of them will ever get further.

The lowest instruction goes first, so that warps that left a loop wait for the others and go on with them, many at a
time. But it may wait for the others: for a lock that one of them holds. So these get a turn now and then, and more
often while the lowest one only looks: its registers have been the same before, and no memory has changed since.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from softlab.sass.lanes import Lanes

#: After this number of runs of the lowest instruction the others get a turn; while it only looks, after the fewest.
_TURNS, _FEWEST = 256, 16
Paths = Mapping[int, list[Lanes]]


class Host(Protocol):
    """What turns ask of the machine. ``changes``: how often a memory changed, or lanes ended."""

    changes: int

    def state_of(self, paths: Iterable[tuple[int, Lanes]]) -> int:
        """A hash of the instructions at which paths stand, and of what their registers hold."""


class Turns:
    """The choice of the next path."""

    def __init__(self, machine: Host) -> None:
        self._machine = machine
        self._count, self._every, self._most = 0, _TURNS, _TURNS
        self._given = -1  # the instruction that got the last turn
        self._changes = -1
        self._lowest: set[int] = set()
        self._all: dict[int, int] = {}  # the state of all paths -> when it was
        #: All paths have been where they are before, each has had a turn since, and nothing has changed.
        self.stuck = False

    def choose(self, paths: Paths) -> int:
        """The instruction whose lanes execute next."""
        self._count += 1
        lowest = min(paths)
        if self._count % self._every:
            return lowest
        self._look(lowest, paths)
        if len(paths) == 1:
            return lowest
        later = [pc for pc in paths if pc > self._given]
        self._given = min(later) if later else lowest
        return self._given

    @property
    def lowest(self) -> bool:
        """Whether the last choice took the lowest instruction because it was not the turn of others."""
        return self._count % self._every != 0

    @property
    def ahead(self) -> int:
        """How many choices more take the lowest instruction."""
        return self._every - 1 - self._count % self._every

    def chose(self, times: int) -> None:
        """The lowest instruction was chosen so often."""
        self._count += times

    def go_on(self) -> None:
        """All were stuck, and some may go on. That is likely to happen again."""
        self.stuck, self._most = False, _FEWEST

    def _look(self, lowest: int, paths: Paths) -> None:
        """Whether the lowest path only looks, and whether all do."""
        if self._is_new():
            self._every = min(self._most, 2 * self._every)
        state = self._machine.state_of((lowest, lanes) for lanes in paths[lowest])
        if state in self._lowest:
            self._every = _FEWEST
            self.note_all((pc, lanes) for pc in sorted(paths) for lanes in paths[pc])
        self._lowest.add(state)

    def _is_new(self) -> bool:
        """Whether something has changed. Then what was seen before says nothing any more."""
        if self._machine.changes == self._changes:
            return False
        self._changes = self._machine.changes
        self._lowest.clear()
        self._all.clear()
        return True

    def note_all(self, paths: Iterable[tuple[int, Lanes]]) -> None:
        """Look at all paths that may go on: whether they only look."""
        self._is_new()
        standing = list(paths)
        first = self._all.setdefault(self._machine.state_of(standing), self._count)
        self.stuck = self._count - first > (len(standing) + 1) * self._every
