"""Where lanes wait for each other: BSSY and BSYNC, WARPSYNC, the barriers of a block, and that of a cluster."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.sass.homes import fill
from softlab.sass.lanes import WARP, Lanes, Value, all_true, any_true, equal, first_lane, pack, unpack
from softlab.sass.meetings import EVERYONE, UNKNOWN, met
from softlab.sass.setup import Setup

_ONE = np.uint32(1)
#: Convergence barriers of a warp.
_BARRIERS = 16
_BIT = _ONE << np.arange(WARP, dtype=np.uint32)
#: A lane that waits: the instruction at which it does, the warp, and the lane.
Waiting = tuple[int, int, int]


class Host(Protocol):
    """What barriers ask of the machine. ``live``: (warps,) uint32, the lanes that have not ended."""

    live: np.ndarray
    setup: Setup

    def push(self, pc: int, lanes: Lanes) -> None:
        """These lanes go on at this instruction."""

    def lanes(self, warps: np.ndarray, masks: np.ndarray) -> Lanes:
        """A set of lanes; warps without a lane are left out."""

    def met(self, blocks: np.ndarray) -> None:
        """The warps of these blocks, (blocks,) bool, have met at a barrier."""


def _by_pc(machine: Host, warps: np.ndarray, masks: np.ndarray, pcs: np.ndarray) -> None:
    """Lanes go on behind the instruction at which each waits: lanes at one instruction together.

    ``pcs``: (k, 32), the instruction of each lane.
    """
    for at in np.unique(pcs[unpack(masks)]):
        here = pack(pcs == at) & masks
        machine.push(int(at) + 1, machine.lanes(warps, here))


def _set(of: np.ndarray, lanes: Lanes, value: Value) -> None:
    """Store a value of these lanes, (k, 32) or a scalar, in what all lanes of the machine have, (warps, 32)."""
    if lanes.count == lanes.total:
        np.copyto(of, value, casting="same_kind", where=lanes.active)
    else:
        of[lanes.warps] = np.where(lanes.active, value, of[lanes.warps])


def _wanted(lanes: Lanes, mask: Value) -> Value:
    """The lanes that those of each warp name, of all masks of its lanes: uint32, (k,) or a scalar."""
    if not isinstance(mask, np.ndarray):
        return mask
    if lanes.dense and mask.shape[1] == 1:
        return mask[:, 0]
    return np.bitwise_or.reduce(np.where(lanes.active, lanes.spread(mask), np.uint32(0)), axis=1)


def _first(masks: np.ndarray, pcs: np.ndarray) -> Waiting:
    """The first lane of these masks, (warps,), of which one is not 0. ``pcs``: (warps, 32), the instruction of each."""
    warp = int(np.flatnonzero(masks)[0])
    lane = int(first_lane(masks[warp : warp + 1])[0])
    return int(pcs[warp, lane]), warp, lane


def _first_of(pc: int, lanes: Lanes) -> Waiting:
    return pc, int(lanes.warps[0]), int(first_lane(lanes.masks[:1])[0])


class Convergence:
    """The convergence barriers B0 to B15: each lane knows the lanes that it will meet at BSYNC."""

    def __init__(self, machine: Host) -> None:
        self._machine = machine
        self._expected: dict[int, np.ndarray] = {}  # (warps, 32) uint32
        self._blocked: dict[int, np.ndarray] = {}  # (warps,) uint32: lanes that wait at BSYNC
        self._waiting_at: dict[int, np.ndarray] = {}  # (warps, 32): where each lane waits

    def _of(self, barrier: int) -> np.ndarray:
        if barrier not in self._expected:
            expected, blocked, waiting_at = self.stacked
            self._expected[barrier] = expected[barrier]
            self._blocked[barrier] = blocked[barrier]
            self._waiting_at[barrier] = waiting_at[barrier]
        return self._expected[barrier]

    @cached_property
    def stacked(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of all barriers, one behind the other: the lanes that each lane will meet, those that wait, and where."""
        warps = len(self._machine.live)
        lanes = _BARRIERS, warps, WARP
        return np.zeros(lanes, np.uint32), np.zeros(lanes[:2], np.uint32), np.zeros(lanes, np.int64)

    def use(self, barrier: int) -> None:
        """Lanes may meet at this barrier."""
        self._of(barrier)

    @property
    def waits(self) -> str:
        """What lanes wait for, "" where none does."""
        names = [f"BSYNC B{b}" for b, blocked in self._blocked.items() if blocked.any()]
        return ", ".join(names)

    @property
    def first(self) -> Waiting:
        """The first lane that waits, where one does."""
        number, blocked = next((b, blocked) for b, blocked in self._blocked.items() if blocked.any())
        return _first(blocked, self._waiting_at[number])

    def begin(self, barrier: int, lanes: Lanes) -> None:
        """BSSY: the executing lanes of each warp will meet."""
        expected, masks = self._of(barrier), lanes.masks[:, None]
        if lanes.whole:
            expected[lanes.warps] = masks
        else:
            fill(lanes, expected, lanes.collect(masks), compiled_blocks())

    def read(self, barrier: int, lanes: Lanes) -> Value:
        """The lanes that each lane will meet, uint32: what BMOV saves."""
        return lanes.take(self._of(barrier).copy())

    def write(self, barrier: int, lanes: Lanes, value: Value) -> None:
        """What BMOV brings back."""
        fill(lanes, self._of(barrier), value, compiled_blocks())

    def leave(self, barrier: int, lanes: Lanes) -> None:
        """BREAK: these lanes will not come to BSYNC."""
        expected = self._of(barrier)
        rows = expected[lanes.warps]
        team = rows[np.arange(lanes.count), first_lane(lanes.masks)]
        member = (team[:, None] & _BIT) != 0
        expected[lanes.warps] = np.where(member, rows & ~lanes.masks[:, None], rows)
        self.check(lanes.warps, barrier)

    def arrive(self, barrier: int, pc: int, lanes: Lanes) -> None:
        """BSYNC at ``pc``: wait for the others, or go on with them."""
        machine, teams = self._machine, self._of(barrier)
        found, released, sites = met(lanes, pc, teams, self._blocked[barrier], machine.live, self._waiting_at[barrier])
        if found == EVERYONE:
            machine.push(pc + 1, lanes)
        elif found > 0:
            self._go_on(lanes.warps, released, sites)
        if found != UNKNOWN:
            return
        expected = teams[lanes.warps, first_lane(lanes.masks)]
        live = machine.live[lanes.warps]
        if equal(lanes.masks, expected & live):
            machine.push(pc + 1, lanes)
            return
        outside = (lanes.masks & expected) == 0  # they left with BREAK, or BSSY never named them: nothing to wait for
        if any_true(outside):
            machine.push(pc + 1, machine.lanes(lanes.warps[outside], lanes.masks[outside]))
            if all_true(outside):
                return
            lanes = machine.lanes(lanes.warps[~outside], lanes.masks[~outside])
        self._blocked[barrier][lanes.warps] |= lanes.masks
        waiting_at = self._waiting_at[barrier]
        rows = waiting_at[lanes.warps]
        waiting_at[lanes.warps] = np.where(lanes.active, pc, rows)
        self.check(lanes.warps, barrier)

    def _go_on(self, warps: np.ndarray, masks: np.ndarray, sites: np.ndarray) -> None:
        """Lanes go on behind the instruction of their warp at which they waited."""
        machine, first = self._machine, int(sites[0])
        if all_true(sites == first):
            machine.push(first + 1, machine.lanes(warps, masks))
            return
        for pc in np.unique(sites):
            at = sites == pc
            machine.push(int(pc) + 1, machine.lanes(warps[at], masks[at]))

    def give_way(self) -> bool:
        """Let all lanes go on that wait at BSYNC, without the others; whether there are any.

        YIELD does so where the others wait for one of them: threads of a warp make progress independently (CUDA C++
        Programming Guide, "Independent Thread Scheduling").
        """
        found = False
        for barrier, blocked in self._blocked.items():
            warps = np.flatnonzero(blocked)
            if not len(warps):
                continue
            found, masks = True, blocked[warps]
            blocked[warps] = 0
            self._expected[barrier][warps] &= ~masks[:, None]
            _by_pc(self._machine, warps, masks, self._waiting_at[barrier][warps])
        return found

    def check(self, warps: np.ndarray, barrier: int | None = None) -> None:
        """Let lanes go on whose others have all come, left or ended."""
        for number in (barrier,) if barrier is not None else tuple(self._blocked):
            blocked = self._blocked[number]
            some = warps[blocked[warps] != 0]
            while len(some):  # several teams of one warp may wait
                team = self._expected[number][some, first_lane(blocked[some])]
                here = blocked[some] & team
                done = here == (team & self._machine.live[some])
                if not any_true(done):
                    # The first team of a warp waits: look at the others one by one.
                    self._check_others(number, some)
                    return
                gone, masks = some[done], here[done]
                blocked[gone] &= ~masks
                waiting_at = self._waiting_at[number][gone]
                self._go_on(gone, masks, waiting_at[np.arange(len(gone)), first_lane(masks)])
                rest = some[~done]
                some = np.concatenate([gone[blocked[gone] != 0], rest[:0]])
                self._check_others(number, rest)

    def _check_others(self, number: int, warps: np.ndarray) -> None:
        """Let teams go on whose lanes have all come, of warps whose first team waits."""
        blocked, expected = self._blocked[number], self._expected[number]
        here = blocked[warps]
        first = first_lane(here)
        others = here & ~expected[warps, first] & ~_BIT[first]
        for warp in warps[others != 0]:
            left = int(blocked[warp])
            while left:
                lane = (left & -left).bit_length() - 1
                team = int(expected[warp, lane])
                here = int(blocked[warp]) & team
                if here and here == team & int(self._machine.live[warp]):
                    blocked[warp] = np.uint32(int(blocked[warp]) & ~here)
                    site = int(self._waiting_at[number][warp, lane])
                    self._machine.push(site + 1, self._machine.lanes(np.array([warp]), np.array([here], np.uint32)))
                left &= ~(here | 1 << lane)


class WarpSync:
    """WARPSYNC: the lanes that a mask names wait for each other, and those at one instruction go on together."""

    def __init__(self, machine: Host) -> None:
        self._machine = machine
        warps = len(machine.live)
        self._blocked = np.zeros(warps, np.uint32)
        self._mask = np.zeros((warps, WARP), np.uint32)
        self._waiting_at = np.zeros((warps, WARP), np.int32)
        #: The path from which each lane came to WARPSYNC.COLLECTIVE or .EXCLUSIVE.
        self._path = np.zeros((warps, WARP), np.int32)
        self._paths = 0
        #: The WARPSYNC behind which the lanes of each mask go on by themselves.
        self._apart: set[int] = set()

    @property
    def waits(self) -> str:
        """What lanes wait for, "" where none does."""
        return "WARPSYNC" if self._blocked.any() else ""

    @property
    def first(self) -> Waiting:
        """The first lane that waits, where one does."""
        return _first(self._blocked, self._waiting_at)

    def arrive(self, pc: int, lanes: Lanes, mask: Value, *, apart: bool = False) -> None:
        """WARPSYNC at ``pc``; ``mask``: uint32 of the set. Only one path of a warp arrives at a time.

        ``apart``: where lanes name different masks, those of each mask go on by themselves. On an H100 the
        instructions behind WARPSYNC.EXCLUSIVE ran once per mask, up to the next BSYNC. Behind WARPSYNC.COLLECTIVE the
        results ask for it: its REDUX is of the lanes of one mask.
        """
        if apart:
            self._apart.add(pc)
            self._paths += 1
            _set(self._path, lanes, self._paths)
        wanted = _wanted(lanes, mask)
        if not any_true(wanted & self._machine.live[lanes.warps] & ~lanes.masks):
            self._go_on(pc, lanes, mask)
            return
        self._blocked[lanes.warps] |= lanes.masks
        _set(self._mask, lanes, lanes.spread(mask))
        _set(self._waiting_at, lanes, pc)
        self.check(lanes.warps)

    def check(self, warps: np.ndarray) -> None:
        """Let lanes go on whose others have all come or ended."""
        some = warps[self._blocked[warps] != 0]
        if not len(some):
            return
        blocked = self._blocked[some]
        missing = self._machine.live[some] & ~blocked
        masks = blocked
        if any_true(missing):
            masks = pack((self._mask[some] & missing[:, None]) == 0) & blocked
        if any_true(masks):
            self._blocked[some] = blocked & ~masks
            self._released(some, masks)

    def _released(self, warps: np.ndarray, masks: np.ndarray) -> None:
        """Lanes go on that have waited, at whatever WARPSYNC that was."""
        waiting_at, active = self._waiting_at[warps], unpack(masks)
        pcs = waiting_at[active]
        alone = all_true(pcs == pcs[0])
        for pc in pcs[:1].tolist() if alone else np.unique(pcs).tolist():
            lanes = self._machine.lanes(warps, masks if alone else pack(active & (waiting_at == pc)))
            self._go_on(pc, lanes, lanes.collect(self._mask[lanes.warps]) if pc in self._apart else None)

    def _go_on(self, pc: int, lanes: Lanes, mask: Value) -> None:
        """Lanes go on behind the WARPSYNC at ``pc``, all at once or those of one mask after those of another."""
        if pc not in self._apart:
            self._machine.push(pc + 1, lanes)
            return
        left, masks = lanes.masks.copy(), lanes.spread(mask)
        while left.any():
            first = masks[np.arange(lanes.count), first_lane(np.where(left != 0, left, np.uint32(1)))]
            here = pack(masks == first[:, None]) & left
            self._machine.push(pc + 1, self._machine.lanes(lanes.warps, here))
            left &= ~here

    def end_collective(self, pc: int, lanes: Lanes) -> None:
        """ENDCOLLECTIVE: the lanes go on at ``pc`` in the paths from which they came."""
        paths = self._path[lanes.warps]
        first = paths[np.arange(lanes.count), first_lane(lanes.masks)]
        if ((paths == first[:, None]) | ~lanes.active).all():
            self._machine.push(pc, lanes)
            return
        for path in np.unique(paths[lanes.active]):
            masks = pack(paths == path) & lanes.masks
            self._machine.push(pc, self._machine.lanes(lanes.warps, masks))


class BlockBarriers:
    """BAR: the barriers 0 to 15 of each block."""

    def __init__(self, machine: Host) -> None:
        self._machine = machine
        self._arrived: dict[int, np.ndarray] = {}
        self._count: dict[int, np.ndarray] = {}  # threads that complete it, 0: all of the block
        self._waiting: list[tuple[int, int, Lanes]] = []
        self._votes: dict[int, np.ndarray] = {}  # of barriers that lanes vote at
        warps = len(machine.live)
        #: (warps,): what BAR.RED of the last barrier gave each warp: how many lanes said yes, and whether all did.
        self.result = (np.zeros(warps, np.int64), np.zeros(warps, bool))

    @property
    def waits(self) -> str:
        """What lanes wait for, "" where none does."""
        return ", ".join(sorted({f"BAR {number}" for number, _, _ in self._waiting}))

    @property
    def first(self) -> Waiting:
        """The first lane that waits, where one does."""
        _, pc, lanes = self._waiting[0]
        return _first_of(pc, lanes)

    def arrive(
        self, number: int, pc: int, lanes: Lanes, *, threads: int = 0, wait: bool = True, vote: np.ndarray | None = None
    ) -> None:
        """These lanes arrive at ``pc``, and wait unless ``wait`` is False. ``threads``: how many complete it."""
        machine = self._machine
        warps = len(machine.live)
        if number not in self._arrived:
            self._arrived[number] = np.zeros(warps, np.uint32)
            self._count[number] = np.zeros(machine.setup.blocks, np.int64)
        self._arrived[number][lanes.warps] |= lanes.masks
        if vote is not None:
            self._votes.setdefault(number, np.zeros(warps, np.uint32))[lanes.warps] |= vote
        self._count[number][machine.setup.row_of_block[lanes.warps]] = threads
        if wait:
            self._waiting.append((number, pc, lanes))
        else:
            machine.push(pc + 1, lanes)
        self.check(number)

    def check(self, number: int | None = None) -> None:
        """Let the blocks go on all of whose threads have come or ended."""
        for barrier in (number,) if number is not None else tuple(self._arrived):
            if any(n == barrier for n, _, _ in self._waiting):
                self._check(barrier)

    def _check(self, barrier: int) -> None:
        machine = self._machine
        setup = machine.setup
        arrived = self._arrived[barrier].reshape(setup.blocks, -1)
        live = machine.live.reshape(setup.blocks, -1)
        count = self._count[barrier]
        done = ((arrived & live) == live).all(axis=1)
        if any_true(count):
            done = (done & (count == 0)) | ((count > 0) & (WARP * (arrived != 0).sum(axis=1) >= count))
        done &= arrived.any(axis=1)
        if not any_true(done):
            return
        if barrier in self._votes:
            self._tell(arrived, self._votes[barrier].reshape(setup.blocks, -1), done)
        machine.met(done)
        arrived[done] = 0
        everywhere, kept = all_true(done), []
        for entry in self._waiting:
            n, pc, lanes = entry
            if n != barrier:
                kept.append(entry)
                continue
            free = None if everywhere else done[setup.row_of_block[lanes.warps]]
            if free is None or all_true(free):
                machine.push(pc + 1, lanes)
            elif not any_true(free):
                kept.append(entry)
            else:
                machine.push(pc + 1, machine.lanes(lanes.warps[free], lanes.masks[free]))
                kept.append((n, pc, machine.lanes(lanes.warps[~free], lanes.masks[~free])))
        self._waiting = kept

    def _tell(self, arrived: np.ndarray, votes: np.ndarray, done: np.ndarray) -> None:
        """Give the warps of the blocks that are ``done`` the result of BAR.RED. All others: uint32 (blocks, warps)."""
        yes = np.bitwise_count(votes).sum(axis=1)
        every = (votes == arrived).all(axis=1)
        told = (arrived != 0) & done[:, None]
        self.result[0].reshape(told.shape)[told] = np.broadcast_to(yes[:, None], told.shape)[told]
        self.result[1].reshape(told.shape)[told] = np.broadcast_to(every[:, None], told.shape)[told]
        votes[done] = 0


class ClusterBarrier:
    """UCGABAR: the barrier of all threads of a cluster, which arrive first and wait later."""

    def __init__(self, machine: Host) -> None:
        self._machine = machine
        warps = len(machine.live)
        self._arrived = np.zeros(warps, np.uint32)
        self._phase = np.zeros(max(1, machine.setup.clusters), np.int64)
        self._wanted = np.zeros(warps, np.int64)
        self._waiting: list[tuple[int, Lanes]] = []

    @property
    def waits(self) -> str:
        """What lanes wait for, "" where none does."""
        return "the barrier of the cluster" if self._waiting else ""

    @property
    def first(self) -> Waiting:
        """The first lane that waits, where one does."""
        return _first_of(*self._waiting[0])

    def arrive(self, lanes: Lanes) -> None:
        """UCGABAR_ARV."""
        cluster = self._machine.setup.cluster_of[lanes.warps]
        self._wanted[lanes.warps] = self._phase[cluster] + 1
        self._arrived[lanes.warps] |= lanes.masks
        self.check()

    def wait(self, pc: int, lanes: Lanes) -> None:
        """UCGABAR_WAIT."""
        self._waiting.append((pc, lanes))
        self.check()

    def check(self) -> None:
        """Let the clusters go on all of whose threads have come or ended."""
        machine = self._machine
        if self._arrived.any():
            missing = (machine.live & ~self._arrived) != 0
            open_ = np.zeros(len(self._phase), bool)
            open_[machine.setup.cluster_of[missing]] = True
            came = np.zeros(len(self._phase), bool)
            came[machine.setup.cluster_of[self._arrived != 0]] = True
            done = came & ~open_
            self._phase[done] += 1
            self._arrived[done[machine.setup.cluster_of]] = 0
        kept = []
        for pc, lanes in self._waiting:
            free = self._phase[machine.setup.cluster_of[lanes.warps]] >= self._wanted[lanes.warps]
            if free.any():
                machine.push(pc + 1, machine.lanes(lanes.warps[free], lanes.masks[free]))
            if not free.all():
                kept.append((pc, machine.lanes(lanes.warps[~free], lanes.masks[~free])))
        self._waiting = kept
