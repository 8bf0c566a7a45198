"""Which lanes run next, and who waits for whom: divergence, barriers of the block, warp-synchronous instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.emulator.flow import Block
from softlab.emulator.lanes import WARP, Lanes, lanes_of

BarrierListener = Callable[[Lanes], Any] | None


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
    lowest goes first.
    """

    def __init__(self, everyone: Lanes, blocks: Sequence[Block]) -> None:
        self.live: Lanes | None = everyone
        self._warp_synchronous = [block.warp_synchronous for block in blocks] + [False]
        self._ready: dict[int, Lanes] = {0: everyone}
        self._stalled: dict[int, Lanes] = {}
        self._arrivals: list[_Arrival] = []

    def add(self, place: int, lanes: Lanes) -> None:
        """These lanes go on with this block."""
        if place in self._stalled:
            lanes = lanes.unite(self._stalled.pop(place))
        if place in self._ready:
            lanes = lanes.unite(self._ready[place])
        self._ready[place] = lanes

    def next(self, deadlock: Callable[[Lanes, int], Exception]) -> tuple[int, Lanes] | None:
        """(block, lanes) to run now; None where no lane is left.

        ``deadlock(lanes, instruction)`` makes the error for lanes that wait at a barrier for ever.
        """
        ready = self._ready
        while ready:
            place = next(iter(ready)) if len(ready) == 1 else min(ready)
            lanes = ready.pop(place)
            if not self._warp_synchronous[place] or self.live is None or lanes.count == self.live.count:
                return place, lanes
            together, early = self._whole_warps(lanes)
            if early is not None:
                self._stalled[place] = early
            if together is not None:
                return place, together
        if self._stalled:
            # Nobody else can come: run with those that are there.
            place = min(self._stalled)
            return place, self._stalled.pop(place)
        waiting = [a for a in self._arrivals if a.waits]
        if waiting:
            raise deadlock(waiting[0].lanes, waiting[0].place)
        return None

    def _whole_warps(self, lanes: Lanes) -> tuple[Lanes | None, Lanes | None]:
        """The lanes of warps of which every live lane is here, and the others."""
        assert self.live is not None
        shape = (lanes.blocks, lanes.threads // WARP, WARP)
        here, live = lanes.mask.reshape(shape), self.live.mask.reshape(shape)
        whole = (here | ~live).all(axis=2, keepdims=True)
        return tuple(  # type: ignore[return-value]
            lanes_of(part.reshape(lanes.mask.shape)) if part.any() else None for part in (here & whole, here & ~whole)
        )

    def exit(self, lanes: Lanes, listener: BarrierListener) -> None:
        """These lanes are done."""
        assert self.live is not None
        self.live = None if lanes.count == self.live.count else self.live.without(lanes)
        if self.live is None:
            return
        for barrier in {a.barrier for a in self._arrivals}:
            self._release(barrier, listener)
        for place in list(self._stalled):
            self.add(place, self._stalled.pop(place))

    def arrive(
        self,
        barrier: int,
        count: int | None,
        index: int,
        lanes: Lanes,
        listener: BarrierListener,
        *,
        waits: bool,
        place: int,
    ) -> None:
        """These lanes come to a barrier at the end of block ``index``; ``count`` is the number of threads it is for."""
        assert self.live is not None
        if waits and count is None and lanes.count == self.live.count:
            if listener is not None:
                listener(lanes)
            self._ready[index + 1] = lanes
            return
        for arrival in self._arrivals:
            if arrival.barrier == barrier and arrival.place == place:
                arrival.lanes = arrival.lanes.unite(lanes)
                break
        else:
            self._arrivals.append(_Arrival(barrier, count, index + 1, place, lanes, waits))
        if not waits:
            self.add(index + 1, lanes)
        self._release(barrier, listener)

    def _release(self, barrier: int, listener: BarrierListener) -> None:
        """Let the blocks go on of which all threads that the barrier is for have come."""
        assert self.live is not None
        here = [a for a in self._arrivals if a.barrier == barrier]
        if not here:
            return
        came = np.logical_or.reduce([a.lanes.mask for a in here])
        count = next((a.count for a in here if a.count is not None), None)
        if count is None:
            complete = (came | ~self.live.mask).all(axis=1) & came.any(axis=1)
        else:
            warps = came.reshape(len(came), -1, WARP).any(axis=2).sum(axis=1)
            complete = warps * WARP >= count
        if not complete.any():
            return
        if listener is not None:
            listener(lanes_of(came & complete[:, None]))
        for arrival in here:
            mask = arrival.lanes.mask
            go, stay = mask & complete[:, None], mask & ~complete[:, None]
            if go.any() and arrival.waits:
                self.add(arrival.after, lanes_of(go))
            if stay.any():
                arrival.lanes = lanes_of(stay)
            else:
                self._arrivals.remove(arrival)
