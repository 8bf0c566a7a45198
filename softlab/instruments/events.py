"""The accesses of a launch by number: which instruction made each, and in which batch."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from softlab.emulator.machine.faults import Geometry
from softlab.emulator.sites import Site


@dataclass(frozen=True)
class Event:
    """An access: its instruction, and where the batch's lanes are in the grid."""

    site: Site
    geometry: Geometry


class AccessLog:
    """Which instruction made the access of each time."""

    def __init__(self) -> None:
        self._instructions = np.full(1024, -1, np.int32)

    def record(self, time: int, instruction: int) -> None:
        """The instruction makes an access at this time."""
        if time >= len(self._instructions):  # barriers and fences take times, too, so a time may be far ahead
            more = max(len(self._instructions), time + 1 - len(self._instructions))
            self._instructions = np.concatenate((self._instructions, np.full(more, -1, np.int32)))
        self._instructions[time] = instruction

    def instruction(self, time: int) -> int | None:
        """The instruction of that time; None if it made no access."""
        found = int(self._instructions[time]) if time < len(self._instructions) else -1
        return found if found >= 0 else None

    def instructions(self, times: np.ndarray) -> np.ndarray:
        """The instruction of each time."""
        return np.asarray(self._instructions[times])


class Events:
    """Numbers the accesses of a launch from 1."""

    def __init__(self) -> None:
        self._sites: dict[int, Site] = {}
        self._log = AccessLog()
        self._starts: list[int] = []
        self._geometries: list[Geometry] = []
        self.now = 1
        self.batch_start = 1

    def begin_batch(self, geometry: Geometry) -> None:
        """Another batch begins."""
        self.batch_start = self.now
        self._starts.append(self.now)
        self._geometries.append(geometry)

    def access(self, site: Site) -> int:
        """The number of an access that happens now."""
        number, index = self.now, site.index
        self.now = number + 1
        self._log.record(number, index)
        self._sites[index] = site
        return number

    def sites_of(self, numbers: np.ndarray) -> np.ndarray:
        """The index of each access's instruction."""
        return self._log.instructions(numbers)

    def event(self, number: int) -> Event:
        """The access of that number."""
        batch = bisect_right(self._starts, number) - 1
        return Event(self._sites[int(self._log.instructions(np.array(number)))], self._geometries[batch])
