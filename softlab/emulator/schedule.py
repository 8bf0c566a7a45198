"""Which lanes run next, and who waits for whom: divergence, barriers of the block, warp-synchronous instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.emulator.flow import Block
from softlab.emulator.lanes import WARP, Lanes, Value, lanes_of


@dataclass(frozen=True)
class Listeners:
    """Who is told what happens at barriers (``Observer`` says when); None costs nothing."""

    arrive: Callable[[Block, Lanes], Any] | None = None
    stall: Callable[[Block, Lanes], Any] | None = None
    barrier: Callable[[Lanes, Sequence[int]], Any] | None = None
    exit: Callable[[Lanes], Any] | None = None


@dataclass
class _Arrival:
    """Lanes at a barrier. ``after`` is the block that they go on with; ``waits`` is false for ``bar.arrive``."""

    barrier: int
    count: int | None
    after: int
    place: int
    lanes: Lanes
    waits: bool


class Schedule:
    """The places where the lanes of a batch stand.

    ``live`` are the lanes that have not exited, None at the end. Blocks are numbered in the order of the code, and the
    lowest goes first. With a ``warp_order`` a warp goes as far as it can before the next one in that order begins: one
    of the many orders in which a GPU may run them.
    """

    def __init__(
        self, everyone: Lanes, blocks: Sequence[Block], listeners: Listeners, warp_order: Sequence[int] = ()
    ) -> None:
        self.live: Lanes | None = everyone
        self._warp_order = tuple(warp_order)
        self._blocks = blocks
        self._listeners = listeners
        self._warp_synchronous = [block.warp_synchronous for block in blocks] + [False]
        self._ready: dict[int, Lanes] = {0: everyone}
        self._stalled: dict[int, Lanes] = {}
        self._waits = [block.waits for block in blocks] + [""]
        self._parked: dict[int, Lanes] = {}
        self._seen = 0
        self._spinning: dict[int, Lanes] = {}
        self._writes_when_deferred = -1
        self._arrivals: list[_Arrival] = []

    def others(self) -> tuple[Lanes, ...]:
        """All sets but the one that was chosen last; a set that has not moved is the same object."""
        waiting = (arrival.lanes for arrival in self._arrivals)
        sets = (self._ready, self._stalled, self._parked, self._spinning)
        return (*(lanes for places in sets for lanes in places.values()), *waiting)

    def defer(self, place: int, lanes: Lanes, writes: int, events: int) -> bool:
        """These lanes wait in a loop for something that only others can change: let those run first.

        False where nobody is left who could: the loop is endless. ``writes`` grows with every change in memory,
        ``events`` with everything that lanes may be waiting for.
        """
        if not self._ready and not self._ask_again(events):
            if not self._spinning or writes == self._writes_when_deferred:
                return False
            self._ready, self._spinning = self._spinning, {}
        if not self._spinning:  # else the first of them has not seen what was written since it was put off
            self._writes_when_deferred = writes
        self._spinning[place] = lanes.unite(self._spinning[place]) if place in self._spinning else lanes
        return True

    def add(self, place: int, lanes: Lanes) -> None:
        """These lanes go on with this block."""
        if place in self._stalled:
            lanes = lanes.unite(self._stalled.pop(place))
        if place in self._ready:
            lanes = lanes.unite(self._ready[place])
        self._ready[place] = lanes

    def next(
        self,
        members: Callable[[int, Lanes], Value],
        alone: Callable[[int, Lanes], Any],
        deadlock: Callable[[int, Lanes], Exception],
        awaited: Callable[[int, Lanes], Value],
        events: Callable[[], int],
    ) -> tuple[int, Lanes] | None:
        """(block, lanes) to run now; None where no lane is left.

        Arguments:
            members: (block, lanes) -> the mask of lanes that the block's first instruction, a warp-synchronous one,
            names. alone: told of (block, lanes) that run such an instruction though lanes that it names cannot come any
            more. deadlock: (instruction, lanes) that wait at a barrier for ever -> the error. awaited: (block, lanes)
            -> for which of them has come what the block's first instruction waits for. events: a number that grows
            with everything that lanes may be waiting for.
        """
        while self._ready or self._spinning or self._parked:
            if not self._ready:
                found = self._wake(events, alone, deadlock)
                if found is not None:
                    return found
                continue
            place, lanes = self._lowest() if not self._warp_order else self._lowest_of_first_warp()
            if self._waits[place]:
                here, not_yet = lanes.split(awaited(place, lanes))
                if not_yet is not None:
                    self._park(place, not_yet)
                if here is not None:
                    return place, here
                continue
            if not self._warp_synchronous[place] or self.live is None or lanes.count == self.live.count:
                return place, lanes
            together, early = self._together(lanes, members(place, lanes))
            if early is not None:
                self._stalled[place] = early.unite(self._stalled[place]) if place in self._stalled else early
                if self._listeners.stall is not None:
                    self._listeners.stall(self._blocks[place], early)
            if together is not None:
                return place, together
        if self._stalled:
            return self._force(alone)
        waiting = [a for a in self._arrivals if a.waits]
        if waiting:
            raise deadlock(waiting[0].place, waiting[0].lanes)
        return None

    def _lowest(self) -> tuple[int, Lanes]:
        """All that stand at the lowest place."""
        place = next(iter(self._ready)) if len(self._ready) == 1 else min(self._ready)
        return place, self._ready.pop(place)

    def _lowest_of_first_warp(self) -> tuple[int, Lanes]:
        """Of the first warp in the order that can go on: its lanes at their lowest place. All others stay."""
        for warp in self._warp_order:
            for place in sorted(self._ready):
                mask = self._ready[place].mask
                own = np.zeros_like(mask)
                lanes = slice(warp * WARP, (warp + 1) * WARP)
                own[:, lanes] = mask[:, lanes]
                if own.any():
                    rest = mask & ~own
                    if rest.any():
                        self._ready[place] = lanes_of(rest)
                    else:
                        del self._ready[place]
                    return place, lanes_of(own)
        raise AssertionError("a warp order names every warp")

    def _park(self, place: int, lanes: Lanes) -> None:
        self._parked[place] = lanes.unite(self._parked[place]) if place in self._parked else lanes

    def _wake(
        self,
        events: Callable[[], int],
        alone: Callable[[int, Lanes], Any],
        deadlock: Callable[[int, Lanes], Exception],
    ) -> tuple[int, Lanes] | None:
        """Nothing is ready: look again at who waits, where anything has happened since they did.

        Else lanes at an mbarrier get the answer "not yet" and go on with that; the barrier of a cluster gives none.
        """
        if self._ask_again(events()):
            return None
        if self._spinning:
            self._ready, self._spinning = self._spinning, {}
            return None
        for place in sorted(self._parked):
            if self._waits[place] == "phase":
                return place, self._parked.pop(place)
        if self._stalled:
            return self._force(alone)
        place, lanes = next(iter(self._parked.items()))
        raise deadlock(self._blocks[place].start, lanes)

    def _ask_again(self, events: int) -> bool:
        """Let those who wait for something look again, where anything has happened since they did."""
        if not self._parked or events == self._seen:
            return False
        self._seen = events
        self._ready, self._parked = self._parked, {}
        return True

    def _force(self, alone: Callable[[int, Lanes], Any]) -> tuple[int, Lanes]:
        """Lanes at a warp-synchronous instruction go on without those that cannot come."""
        place = min(self._stalled)
        lanes = self._stalled.pop(place)
        alone(place, lanes)
        return place, lanes

    def _together(self, lanes: Lanes, members: Value) -> tuple[Lanes | None, Lanes | None]:
        """The lanes of which all live members are here, and the others."""
        assert self.live is not None
        here, live = _warp_bits(lanes), _warp_bits(self.live)
        named = np.broadcast_to(lanes.put(members, members, True), (lanes.blocks, lanes.threads))
        missing = named.reshape(lanes.blocks, -1, WARP) & (live & ~here)
        waits = (missing != 0).reshape(lanes.blocks, lanes.threads)
        mask = lanes.mask
        go, stay = (lanes_of(part) if part.any() else None for part in (mask & ~waits, mask & waits))
        return go, stay

    def exit(self, lanes: Lanes) -> None:
        """These lanes are done."""
        assert self.live is not None
        self.live = None if lanes.count == self.live.count else self.live.without(lanes)
        if self.live is None:
            return
        if self._listeners.exit is not None:
            self._listeners.exit(lanes)
        for barrier in {a.barrier for a in self._arrivals}:
            self._release(barrier)
        for place in list(self._stalled):
            self.add(place, self._stalled.pop(place))

    def arrive(self, barrier: int, count: int | None, block: Block, lanes: Lanes, *, waits: bool) -> None:
        """These lanes come to the barrier at the end of ``block``; ``count`` is the number of threads it is for."""
        assert self.live is not None
        after, place = block.index + 1, block.stop - 1
        if waits and count is None and lanes.count == self.live.count:
            if self._listeners.barrier is not None:
                self._listeners.barrier(lanes, (place,))
            self._ready[after] = lanes
            return
        for arrival in self._arrivals:
            if arrival.barrier == barrier and arrival.place == place:
                arrival.lanes = arrival.lanes.unite(lanes)
                break
        else:
            self._arrivals.append(_Arrival(barrier, count, after, place, lanes, waits))
        if waits and self._listeners.arrive is not None:
            self._listeners.arrive(block, lanes)
        if not waits:
            self.add(after, lanes)
        self._release(barrier)

    def _release(self, barrier: int) -> None:
        """Let the blocks go on of which all threads that the barrier is for have come."""
        assert self.live is not None
        here = [a for a in self._arrivals if a.barrier == barrier]
        came = np.logical_or.reduce([a.lanes.mask for a in here])
        count = next((a.count for a in here if a.count is not None), None)
        if count is None:
            complete = (came | ~self.live.mask).all(axis=1) & came.any(axis=1)
        else:
            warps = came.reshape(len(came), -1, WARP).any(axis=2).sum(axis=1)
            complete = warps * WARP >= count
        if not complete.any():
            return
        if self._listeners.barrier is not None:
            places = [a.place for a in here if a.waits and a.lanes.mask[complete].any()]
            self._listeners.barrier(lanes_of(came & complete[:, None]), places)
        for arrival in here:
            mask = arrival.lanes.mask
            go, stay = mask & complete[:, None], mask & ~complete[:, None]
            if go.any() and arrival.waits:
                self.add(arrival.after, lanes_of(go))
            if stay.any():
                arrival.lanes = lanes_of(stay)
            else:
                self._arrivals.remove(arrival)


def _warp_bits(lanes: Lanes) -> np.ndarray:
    """(blocks, warps, 1) uint32: the lanes of each warp that are in the set."""
    bits = np.packbits(lanes.mask.reshape(lanes.blocks, -1, WARP), axis=2, bitorder="little")
    return bits.view("<u4")
