"""Which lanes run next, and which wait for others: divergence, barriers of the block, warp-synchronous instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from softlab.emulator.lanes import WARP, Lanes, Value, lanes_of, lanes_with_same, one_mask, one_mask_per_warp, pack_bits
from softlab.emulator.machine.other_masks import MaskHost, OtherMasks
from softlab.emulator.opcodes.block_votes import BlockVotes
from softlab.emulator.ptx.blocks import Block


@dataclass(frozen=True)
class Listeners:
    """The listeners of barriers (``Observer`` says when each is called); None costs nothing."""

    arrive: Callable[[int, Block, Lanes, int | None], Any] | None = None
    stall: Callable[[Block, Lanes], Any] | None = None
    barrier: Callable[[Lanes, Sequence[int], Lanes | None], Any] | None = None
    meet: Callable[[int, Sequence[tuple[int, int | None, Lanes]]], Any] | None = None
    twice: Callable[[int, Block, Lanes], Any] | None = None
    exit: Callable[[Lanes], Any] | None = None
    ahead: Callable[[int, Lanes, Block | None], Any] | None = None


class ScheduleHost(MaskHost, Protocol):
    """What the schedule asks of the run that it is for."""

    def event_occurred(self, block: Block, lanes: Lanes) -> Value:
        """Lanes whose awaited event has occurred; the block's first instruction waits for it."""

    def events(self) -> int:
        """A number that grows with everything that lanes may be waiting for."""

    def without_named_lanes(self, block: Block, lanes: Lanes) -> None:
        """Told that lanes run a warp-synchronous instruction though lanes that it names can no longer arrive."""

    def deadlock(self, instruction: int, lanes: Lanes, shortage: Shortage | None = None) -> Exception:
        """The error for lanes that wait for ever at the barrier with this index in the image.

        ``shortage`` says how many came to a barrier for a number of threads.
        """


@dataclass(frozen=True)
class Shortage:
    """A barrier for ``count`` threads to which only ``arrived`` came, counted in whole warps."""

    barrier: int
    count: int
    arrived: int


@dataclass
class _Arrival:
    """Lanes at the barrier that ends a block. ``waits`` is false for ``bar.arrive``, ``votes`` true for ``bar.red``."""

    barrier: int
    count: int | None
    block: Block
    lanes: Lanes
    waits: bool
    votes: bool

    @property
    def instruction(self) -> int:
        """The index of the barrier in the image."""
        return self.block.stop - 1


_BlockSets = dict[int, Lanes]
#: How often lanes in loops may look before all others wait. It costs a turn of each loop.
_EARLY_LOOKS = 256
#: How often warps may go ahead of others that write in a loop. It costs steps that they would have had together.
_EARLY_STARTS = 8
#: How likely lanes in loops look again at each step after memory has changed, in a random order.
_LOOKS_AGAIN = 0.25


def _unite(sets: _BlockSets, index: int, lanes: Lanes) -> None:
    """Add lanes to the set of a block."""
    sets[index] = lanes.unite(sets[index]) if index in sets else lanes


class _RandomTurns:
    """Draws whose turn it is. How likely a warp keeps its turn is drawn once, so that turns are short or long."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self._keeps = random.random()
        self._last = -1

    def draw(self, able: np.ndarray) -> int:
        """The number of a warp of those that can go on, (blocks, warps) bool."""
        numbers = np.flatnonzero(able)
        if self._last not in numbers or self._random.random() >= self._keeps:
            self._last = int(self._random.choice(numbers))
        return self._last

    def looks_again(self) -> bool:
        """Whether lanes in loops look again now."""
        return self._random.random() < _LOOKS_AGAIN


class Schedule:
    """For each block of the code, the lanes that run it next or wait to do so.

    ``live`` are the lanes that have not exited, None at the end. Blocks are numbered in the order of the code, and the
    lowest goes first. With a ``warp_order`` a warp goes as far as it can before the next one in that order begins: one
    of the many orders in which a GPU may run them. With ``random`` the warps of all blocks take turns, which are drawn.
    """

    #: Masks that all live lanes named while all of them went on: the live lanes, the form of their set, the masks.
    _agreed: tuple[Lanes, type[Lanes], np.ndarray] | None = None

    def __init__(
        self,
        everyone: Lanes,
        blocks: Sequence[Block],
        listeners: Listeners,
        votes: BlockVotes,
        warp_order: Sequence[int] = (),
        *,
        random: np.random.Generator | None = None,
        waits_in_loops: bool = False,
    ) -> None:
        """``waits_in_loops``: whether the code has loops that only other lanes can end."""
        self.live: Lanes | None = everyone
        self._warp_order = tuple(warp_order)
        self._turns_at_random = _RandomTurns(random) if random is not None else None
        self._blocks = blocks
        self._listeners = listeners
        self._votes = votes
        # Blocks at which nothing is to be asked, and the end of the code.
        self._runs_at_once = [not (block.waits or block.warp_synchronous) for block in blocks] + [True]
        self._ready: _BlockSets = {0: everyone}
        #: At a warp-synchronous instruction, for other lanes that it names.
        self._stalled: _BlockSets = {}
        self._other_masks = OtherMasks(blocks)
        #: For an event (an mbarrier's phase, the barrier of a cluster).
        self._waiting: _BlockSets = {}
        self._events_when_asked = 0
        #: In a loop that only other lanes can end.
        self._spinning: _BlockSets = {}
        self._writes_when_deferred = -1
        #: Lanes that could run, while those in loops look again.
        self._held: _BlockSets = {}
        together = not warp_order and random is None
        self._looks_left = _EARLY_LOOKS if together else 0
        self._starts_left = _EARLY_STARTS if waits_in_loops and together else 0
        #: Block -> how many lanes came to it last, and after how many writes.
        self._turns: dict[int, tuple[int, int]] = {}
        #: Whether lanes at an mbarrier get the answer "not yet" before those that spin look again.
        self._not_yet = False
        self._arrivals: list[_Arrival] = []

    def others(self) -> tuple[Lanes, ...]:
        """All sets but the one that was chosen last; a set that has not moved is the same object."""
        at_barriers = (arrival.lanes for arrival in self._arrivals)
        groups = (self._ready, self._held, self._stalled, self._waiting, self._spinning)
        return (*(lanes for sets in groups for lanes in sets.values()), *at_barriers)

    def defer(self, index: int, lanes: Lanes, writes: int, events: int) -> bool:
        """These lanes wait in a loop for something that only others can change: let those run first.

        False where no other lane could: the loop never ends. ``writes`` grows with every change in memory, ``events``
        with everything that lanes may be waiting for.
        """
        if not self._ready and not self._go_on() and not self._ask_again(events):
            if self._spinning and writes != self._writes_when_deferred:
                self._ready, self._spinning = self._spinning, {}
            elif any(self._blocks[index].waits == "polls" for index in self._waiting):
                self._not_yet = True
            else:
                return False
        if not self._spinning:  # else the first of them has not seen what was written since it was put off
            self._writes_when_deferred = writes
        _unite(self._spinning, index, lanes)
        return True

    def look_early(self, index: int, lanes: Lanes, writes: int) -> bool:
        """Whether others run before these lanes, since memory has changed; they then go as far as they can.

        These are lanes in loops, which look again, and warps that have not come to such a loop yet, while these lanes
        write in a loop. So of two threads that hand something on, each runs when it may, and not only when the other
        one waits or has ended.
        """
        if self._held:
            return False
        if self._turns_at_random is not None:
            if self._spinning and writes != self._writes_when_deferred and self._turns_at_random.looks_again():
                for waiting, others in self._spinning.items():
                    self.add(waiting, others)
                self._spinning = {}
            return False
        if self._spinning and self._looks_left and writes != self._writes_when_deferred:
            self._looks_left -= 1
            self.add(index, lanes)
            self._held, self._ready, self._spinning = self._ready, self._spinning, {}
            return True
        if self._starts_left and self._ready:
            count, before = self._turns.get(index, (0, 0))
            self._turns[index] = lanes.count, writes
            return count == lanes.count and before != writes and self._start_other_warps(index, lanes)
        return False

    def _start_other_warps(self, index: int, lanes: Lanes) -> bool:
        """Let warps of which none of these lanes is go first; False where there are none."""
        busy = np.repeat(_by_warp(lanes).any(axis=2), WARP, axis=1)
        free = {other: ready.mask & ~busy for other, ready in self._ready.items()}
        if not any(mask.any() for mask in free.values()):
            return False
        self._starts_left -= 1
        self.add(index, lanes)
        for other, mask in free.items():
            if mask.any():
                rest = self._ready.pop(other).mask & ~mask
                if rest.any():
                    self._held[other] = lanes_of(rest)
        self._held |= self._ready
        self._ready = {other: lanes_of(mask) for other, mask in free.items() if mask.any()}
        return True

    def _go_on(self) -> bool:
        """Whether there are lanes that could run before others looked again; they are ready now."""
        self._ready, self._held = self._held, {}
        return bool(self._ready)

    def look_again(self, index: int, lanes: Lanes) -> None:
        """Time has passed, for which these lanes and all others in loops may wait: each runs its loop again."""
        _unite(self._spinning, index, lanes)
        self._ready, self._spinning = self._spinning, {}
        self._writes_when_deferred = -1

    @property
    def runs_alone(self) -> bool:
        """Whether no other lanes can run beside the set that was chosen last."""
        return not (self._ready or self._held)

    @property
    def in_lock_step(self) -> bool:
        """Whether all warps that are at one block of the code run it together."""
        return not self._warp_order and self._turns_at_random is None

    @property
    def nobody_waits(self) -> bool:
        """Whether all lanes that have not exited can run, in any order."""
        waiting = self._held or self._stalled or self._waiting or self._spinning or self._arrivals
        return not waiting and self.in_lock_step

    def take_ready(self, last: int) -> _BlockSets:
        """The lanes that are ready at blocks up to this one; they leave the schedule."""
        return {index: self._ready.pop(index) for index in sorted(self._ready) if index <= last}

    def add(self, index: int, lanes: Lanes) -> None:
        """These lanes go on with this block."""
        if index in self._stalled:
            lanes = lanes.unite(self._stalled.pop(index))
        if index in self._ready:
            lanes = lanes.unite(self._ready[index])
        self._ready[index] = lanes

    def next(self, host: ScheduleHost) -> tuple[int, Lanes] | None:
        """(index of a block, lanes) to run now; None where no lane is left."""
        while self._ready or self._held or self._spinning or self._waiting:
            if not self._ready and not self._go_on():
                found = self._wake(host)
                if found is not None:
                    return found
                continue
            index, lanes = self._lowest() if self.in_lock_step else self._lowest_of_a_warp()
            if self._runs_at_once[index]:
                return index, lanes
            able = self._able(index, lanes, host)
            if able is not None:
                return index, able
        if self._stalled:
            return self._run_stalled(host)
        waiting = [a for a in self._arrivals if a.waits]
        if waiting:
            raise host.deadlock(waiting[0].instruction, waiting[0].lanes, self._shortage(waiting[0]))
        return None

    def _able(self, index: int, lanes: Lanes, host: ScheduleHost) -> Lanes | None:
        """The lanes that can run the block's first instruction now; the others are put aside."""
        block = self._blocks[index]
        if block.waits:
            able, not_yet = lanes.split(host.event_occurred(block, lanes))
            if not_yet is not None:
                _unite(self._waiting, index, not_yet)
            return able
        if self.live is None:
            return lanes
        everyone = lanes.count == self.live.count
        watched = index in self._other_masks
        if everyone and block.one_mask and not watched:
            return lanes
        named = one_mask(host.named_lanes(block, lanes))
        if everyone and not isinstance(named, np.ndarray) and not watched:
            return lanes
        together, early = self._together(lanes, named)
        if early is not None:
            _unite(self._stalled, index, early)
            if self._listeners.stall is not None:
                self._listeners.stall(block, early)
        if together is not None:
            if watched:
                self._other_masks.check(block, together, self.live, host)
            if self._stalled:
                self._other_masks.note(block, together, self._stalled, host)
        return together

    def _lowest(self) -> tuple[int, Lanes]:
        """All lanes at the lowest block."""
        index = next(iter(self._ready)) if len(self._ready) == 1 else min(self._ready)
        return index, self._ready.pop(index)

    def _lowest_of_a_warp(self) -> tuple[int, Lanes]:
        """The lanes of one warp at their lowest block; all others stay.

        It is the first warp in the order that can go on, in all blocks of the batch, or one that is drawn in one block.
        """
        ready = {index: _by_warp(self._ready[index]).any(axis=2) for index in sorted(self._ready)}
        able = np.logical_or.reduce(list(ready.values()))
        chosen = np.zeros_like(able)
        if self._turns_at_random is not None:
            chosen.reshape(-1)[self._turns_at_random.draw(able)] = True
        else:
            chosen[:, next(warp for warp in self._warp_order if able[:, warp].any())] = True
        index = next(index for index, warps in ready.items() if (warps & chosen).any())
        mask = self._ready[index].mask
        own = mask & np.repeat(chosen, WARP, axis=1)
        rest = mask & ~own
        if rest.any():
            self._ready[index] = lanes_of(rest)
        else:
            del self._ready[index]
        return index, lanes_of(own)

    def _wake(self, host: ScheduleHost) -> tuple[int, Lanes] | None:
        """No lane is ready: ask again for the lanes that wait, where anything has happened since they were put aside.

        Else lanes at an mbarrier get the answer "not yet" and go on with that; the barrier of a cluster gives none.
        """
        if self._ask_again(host.events()):
            return None
        if self._spinning and not self._not_yet:
            self._ready, self._spinning = self._spinning, {}
            return None
        self._not_yet = False
        for index in sorted(self._waiting):
            if self._blocks[index].waits == "polls":
                return index, self._waiting.pop(index)
        if self._stalled:
            return self._run_stalled(host)
        index, lanes = next(iter(self._waiting.items()))
        raise host.deadlock(self._blocks[index].start, lanes)

    def _ask_again(self, events: int) -> bool:
        """Make the lanes that wait for an event ready, where any event has occurred since they were asked last."""
        if not self._waiting or events == self._events_when_asked:
            return False
        self._events_when_asked = events
        self._ready, self._waiting = self._waiting, {}
        return True

    def _run_stalled(self, host: ScheduleHost) -> tuple[int, Lanes]:
        """Lanes at a warp-synchronous instruction go on without those that cannot arrive."""
        index = min(self._stalled)
        lanes = self._stalled.pop(index)
        host.without_named_lanes(self._blocks[index], lanes)
        return index, lanes

    def _together(self, lanes: Lanes, members: Value) -> tuple[Lanes | None, Lanes | None]:
        """The lanes whose live members are all here with the same mask (PTX ISA, "bar.warp.sync"), and the others."""
        assert self.live is not None
        everyone = lanes.count == self.live.count and isinstance(members, np.ndarray)
        if everyone and self._agreed is not None:  # the shuffles of a sum, one behind the other, name the same lanes
            agreed, form, masks = self._agreed
            if agreed is self.live and form is type(lanes) and np.array_equal(masks, members):
                return lanes, None
        here, live = _warp_bits(lanes), _warp_bits(self.live)
        named = np.broadcast_to(lanes.put(members, members, True), (lanes.blocks, lanes.threads))
        named = named.reshape(lanes.blocks, -1, WARP)
        if isinstance(members, np.ndarray) and one_mask_per_warp(named, _by_warp(lanes)).shape[2] > 1:
            here = here & lanes_with_same(named)
        missing = named & (live & ~here)
        waits = (missing != 0).reshape(lanes.blocks, lanes.threads)
        mask = lanes.mask
        go, stay = (lanes_of(part) if part.any() else None for part in (mask & ~waits, mask & waits))
        if isinstance(members, np.ndarray) and everyone and stay is None:
            self._agreed = self.live, type(lanes), members.copy()
        return go, stay

    def exit(self, lanes: Lanes) -> None:
        """These lanes have ended."""
        assert self.live is not None
        self.live = None if lanes.count == self.live.count else self.live.without(lanes)
        if self.live is None:
            return
        if self._listeners.exit is not None:
            self._listeners.exit(lanes)
        for barrier in {a.barrier for a in self._arrivals}:
            self._release(barrier)
        for index in list(self._stalled):
            self.add(index, self._stalled.pop(index))

    def arrive(
        self,
        barrier: int,
        count: int | None,
        block: Block,
        lanes: Lanes,
        *,
        waits: bool,
        predicate: Value | None = None,
    ) -> None:
        """These lanes arrive at the barrier that ends ``block``; ``count`` is the number of threads it is for.

        ``predicate`` is what they vote at ``bar.red``, None at other barriers.
        """
        assert self.live is not None
        if predicate is not None:
            self._votes.arrive(lanes, predicate)
        if waits and count is None and lanes.count == self.live.count and not self._arrivals:
            if self._listeners.barrier is not None:
                self._listeners.barrier(lanes, (block.stop - 1,), None)
            if predicate is not None:
                self._votes.count(lanes.mask)
            self._ready[block.index + 1] = lanes
            return
        if self._listeners.twice is not None:
            self._tell_of_second_arrivals(barrier, block, lanes)
        for arrival in self._arrivals:
            if arrival.barrier == barrier and arrival.block is block and arrival.count == count:
                arrival.lanes = arrival.lanes.unite(lanes)
                break
        else:
            self._arrivals.append(_Arrival(barrier, count, block, lanes, waits, predicate is not None))
        if waits and self._listeners.arrive is not None:
            self._listeners.arrive(barrier, block, lanes, count)
        if not waits:
            if self._listeners.ahead is not None:
                self._listeners.ahead(barrier, lanes, block)
            self.add(block.index + 1, lanes)
        self._release(barrier, lanes)

    def _tell_of_second_arrivals(self, barrier: int, block: Block, lanes: Lanes) -> None:
        """Lanes arrive at a barrier at which they have arrived already, and which is not complete."""
        for arrival in self._arrivals:
            if arrival.barrier == barrier and (again := arrival.lanes.mask & lanes.mask).any():
                assert self._listeners.twice is not None
                self._listeners.twice(barrier, block, lanes_of(again))

    def _release(self, barrier: int, newest: Lanes | None = None) -> None:
        """Release the lanes for which the barrier is complete; ``newest`` arrived last."""
        while True:
            here = [a for a in self._arrivals if a.barrier == barrier]
            if not here:
                return
            passing = self._passing(here, newest)
            if not passing.any():
                return
            self._pass(barrier, here, passing)

    def _passing(self, here: list[_Arrival], newest: Lanes | None) -> np.ndarray:
        """(blocks, threads) bool: the lanes for which a barrier with these arrivals is complete."""
        assert self.live is not None
        arrived = np.logical_or.reduce([a.lanes.mask for a in here])
        count = next((a.count for a in here if a.count is not None), None)
        if count is None:
            complete = (arrived | ~self.live.mask).all(axis=1)
            return np.asarray(arrived & complete[:, None])
        # PTX ISA, "barrier": a warp has arrived when all its threads have that have not exited; the count is of warps.
        whole = _whole_warps(arrived, self.live.mask)
        needed = max(1, count // WARP)
        complete = whole.sum(axis=1) >= needed
        if (whole.sum(axis=1) > needed).any():  # some warps pass, and the others begin the next turn
            late = whole if newest is None else newest.mask.reshape(*whole.shape, WARP).any(axis=2)
            early = whole & ~late
            place = np.where(
                late, early.sum(axis=1, keepdims=True) + (whole & late).cumsum(axis=1), early.cumsum(axis=1)
            )
            whole = whole & (place <= needed)
        return np.repeat(whole & complete[:, None], WARP, axis=1) & arrived

    def _pass(self, barrier: int, here: list[_Arrival], passing: np.ndarray) -> None:
        """These lanes pass the barrier."""
        if self._listeners.meet is not None and len(here) > 1:
            places = [(a.instruction, a.count, a.lanes.mask & passing) for a in here]
            self._listeners.meet(barrier, [(i, count, lanes_of(mask)) for i, count, mask in places if mask.any()])
        early = [a.lanes.mask & passing for a in here if not a.waits]
        went_on = lanes_of(mask) if early and (mask := np.logical_or.reduce(early)).any() else None
        if self._listeners.ahead is not None and went_on is not None:
            self._listeners.ahead(barrier, went_on, None)
        if self._listeners.barrier is not None:
            instructions = [a.instruction for a in here if a.waits and (a.lanes.mask & passing).any()]
            self._listeners.barrier(lanes_of(passing), instructions, went_on)
        voters = [a.lanes.mask & passing for a in here if a.votes]
        if voters:
            self._votes.count(np.logical_or.reduce(voters))
        for arrival in here:
            mask = arrival.lanes.mask
            go, stay = mask & passing, mask & ~passing
            if go.any() and arrival.waits:
                self.add(arrival.block.index + 1, lanes_of(go))
            if stay.any():
                arrival.lanes = lanes_of(stay)
            else:
                self._arrivals.remove(arrival)

    def _shortage(self, waiting: _Arrival) -> Shortage | None:
        """How many came to a barrier for a number of threads, in the first block that waits there."""
        if waiting.count is None or self.live is None:
            return None
        row = int(waiting.lanes.mask.any(axis=1).argmax())
        arrived = np.logical_or.reduce([a.lanes.mask for a in self._arrivals if a.barrier == waiting.barrier])
        whole = _whole_warps(arrived, self.live.mask)
        return Shortage(waiting.barrier, waiting.count, int(whole[row].sum()) * WARP)


def _whole_warps(arrived: np.ndarray, live: np.ndarray) -> np.ndarray:
    """(blocks, warps) bool: the warps of which a lane has arrived, and no live one has not."""
    by_warp = arrived.reshape(len(arrived), -1, WARP)
    return np.asarray(by_warp.any(axis=2) & ~(live.reshape(by_warp.shape) & ~by_warp).any(axis=2))


def _warp_bits(lanes: Lanes) -> np.ndarray:
    """(blocks, warps, 1) uint32: the lanes of each warp that are in the set."""
    return pack_bits(_by_warp(lanes))


def _by_warp(lanes: Lanes) -> np.ndarray:
    """(blocks, warps, 32) bool: the lanes that are in the set."""
    return lanes.mask.reshape(lanes.blocks, -1, WARP)
