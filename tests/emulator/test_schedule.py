"""Which lanes run next, beside slow answers: blocks and warps in order, masks, barriers for all and for a number."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import lanes_of
from softlab.emulator.machine.schedule import Listeners, Schedule, Shortage
from softlab.emulator.opcodes.block_votes import BlockVotes
from softlab.emulator.ptx.blocks import Block

ROWS, THREADS, WARPS = 2, 128, 4
ALL = np.ones((ROWS, THREADS), bool)


def block(index: int, **more: Any) -> Block:
    return replace(Block(index, 10 * index, 10 * index + 10, "fall", None, (), False, False, "", (), ()), **more)


def schedule(count: int = 6, listeners: Listeners | None = None, everyone: np.ndarray = ALL, **more: Any) -> Schedule:
    blocks = [block(index) for index in range(count)]
    made = Schedule(lanes_of(everyone), blocks, listeners or Listeners(), BlockVotes(ROWS, THREADS), **more)
    made._ready.clear()
    return made


def ready(made: Schedule) -> dict[int, np.ndarray]:
    return {index: lanes.mask for index, lanes in made._ready.items()}


class Deadlock(Exception):
    """Lanes that wait for ever: the index of the barrier and what is short."""


class Host:
    """A machine in which nothing happens."""

    def __init__(self) -> None:
        self.members, self.happened, self.occurred, self.without = np.uint32(0xFFFFFFFF), 0, False, []

    def named_lanes(self, block: Block, lanes: Any) -> Any:
        return self.members

    def event_occurred(self, block: Block, lanes: Any) -> Any:
        return np.bool_(self.occurred)

    def events(self) -> int:
        return self.happened

    def without_named_lanes(self, block: Block, lanes: Any) -> None:
        self.without.append((block.index, lanes.mask))

    def deadlock(self, instruction: int, lanes: Any, shortage: Shortage | None = None) -> Exception:
        return Deadlock(instruction, shortage)


# Order


def test_all_lanes_at_the_lowest_block_go_first() -> None:
    random = np.random.RandomState(1)
    for _ in range(30):
        made, at = schedule(), random.randint(0, 6, ALL.shape)
        for index in random.permutation(6).tolist():
            if (at == index).any():
                made.add(index, lanes_of(at == index))
        for index in sorted(set(at.reshape(-1).tolist())):
            found = made.next(Host())
            assert found is not None
            assert found[0] == index
            assert np.array_equal(found[1].mask, at == index)
        assert made.next(Host()) is None


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (2, 0, 3, 1)])
def test_a_warp_goes_as_far_as_it_can(order: tuple[int, ...]) -> None:
    """The first one in the order that is ready, in all blocks of threads, at its lowest block of the code."""
    random = np.random.RandomState(2)
    for _ in range(20):
        made, at = schedule(warp_order=order), random.randint(0, 4, ALL.shape)
        left = random.rand(*ALL.shape) < 0.4
        for index in range(4):
            if (left & (at == index)).any():
                made.add(index, lanes_of(left & (at == index)))
        while left.any():
            warp = next(w for w in order if left[:, 32 * w : 32 * w + 32].any())
            own = np.zeros_like(left)
            own[:, 32 * warp : 32 * warp + 32] = left[:, 32 * warp : 32 * warp + 32]
            lowest = int(at[own].min())
            found = made.next(Host())
            assert found is not None
            assert found[0] == lowest
            assert np.array_equal(found[1].mask, own & (at == lowest))
            left &= ~found[1].mask
        assert not made.in_lock_step


def test_a_random_order_takes_one_warp_of_one_block() -> None:
    taken = set()
    for seed in range(20):
        made = schedule(random=np.random.default_rng(seed))
        made.add(1, lanes_of(ALL))
        left = ALL.copy()
        while (found := made.next(Host())) is not None:
            where = np.argwhere(found[1].mask.reshape(ROWS, WARPS, 32).all(axis=2))
            assert len(where) == 1
            assert found[1].count == 32
            assert left[found[1].mask].all()
            left &= ~found[1].mask
            taken.add((seed, *where[0].tolist())) if left.sum() == ALL.sum() - 32 else None
        assert not left.any()
    assert len({one[1:] for one in taken}) > 4


# Warp-synchronous instructions


def test_lanes_whose_named_lanes_are_here_go_together() -> None:
    """All live lanes that a mask names have come with the same mask (PTX ISA, "bar.warp.sync")."""
    random = np.random.RandomState(3)
    for turn in range(60):
        live = random.rand(*ALL.shape) < 0.9 if turn % 2 else ALL.copy()
        here = live & (random.rand(*ALL.shape) < (0.5, 0.95, 1.0)[turn % 3])
        if not here.any():
            continue
        few = np.array([0xFFFFFFFF, 0x0000FFFF, 0xFFFF0000, 0x000000FF, 1], np.uint32)
        members = few[random.randint(0, 5, ALL.shape)] if turn % 4 else np.full(ALL.shape, few[turn // 4 % 5])
        members = members.astype(np.uint32)
        made, lanes = schedule(everyone=live), lanes_of(here)
        go, stay = made._together(lanes, lanes.take(members))
        expected = np.zeros_like(ALL)
        for row, column in np.argwhere(here).tolist():
            first = column // 32 * 32
            named = [first + k for k in range(32) if int(members[row, column]) >> k & 1]
            expected[row, column] = all(
                not live[row, other] or (here[row, other] and members[row, other] == members[row, column])
                for other in named
            )
        for found, right in ((go, expected), (stay, here & ~expected)):
            assert np.array_equal(found.mask if found is not None else np.zeros_like(ALL), right), turn


def test_an_answer_does_not_depend_on_those_before() -> None:
    """A schedule keeps the masks of the last agreement. One that has none says the same of each further question."""
    random = np.random.RandomState(4)
    lane = np.arange(THREADS) % 32
    halves, quarters = np.where(lane < 16, 0x0000FFFF, 0xFFFF0000), 0xFF << lane // 8 * 8
    alone = 1 << (lane + 1) % 32  # each names its neighbour alone, which names another one
    live, made = ALL.copy(), schedule()
    kept, agreements = np.tile(halves, (ROWS, 1)).astype(np.uint32), 0
    for _ in range(200):
        change = random.randint(0, 8)
        if change < 4:
            kept = np.tile((halves, quarters, alone, halves)[change], (ROWS, 1)).astype(np.uint32)
        elif change == 4:
            kept[0, random.randint(THREADS)] = 1 << random.randint(32)  # in place, as code may do
        elif change == 5 and live.sum() > ALL.size // 2:
            gone = live & (random.rand(*ALL.shape) < 0.02)
            if gone.any():
                made.exit(lanes_of(gone))
                live &= ~gone
        here = live & (random.rand(*ALL.shape) < 0.9) if random.rand() < 0.2 else live
        lanes = lanes_of(here)
        answers = [
            [part.mask if part is not None else np.zeros_like(ALL) for part in asked._together(lanes, lanes.take(kept))]
            for asked in (made, schedule(everyone=live))
        ]
        assert np.array_equal(*answers)
        agreements += not answers[0][1].any()
    assert 20 < agreements < 180


def test_lanes_wait_for_those_that_their_mask_names() -> None:
    stalls: list[tuple[int, int]] = []
    made = schedule(listeners=Listeners(stall=lambda block, lanes: stalls.append((block.index, lanes.count))))
    made._blocks = [replace(one, warp_synchronous=one.index == 1) for one in made._blocks]
    made._runs_at_once[1] = False
    half = np.arange(THREADS) < 16
    made.add(1, lanes_of(ALL & half))
    made.add(2, lanes_of(ALL & ~half))
    host = Host()
    found = made.next(host)
    assert found is not None
    assert found[0] == 2, "lanes 16 to 31 of warp 0 are not there yet"
    assert stalls == [(1, ROWS * 16)]
    made.add(1, lanes_of(found[1].mask))
    whole = made.next(host)
    assert whole is not None
    assert (whole[0], whole[1].count) == (1, ROWS * THREADS)
    made.add(1, lanes_of(ALL & half))
    alone = made.next(host)
    assert alone is not None
    assert (alone[0], alone[1].count, len(host.without)) == (1, ROWS * 16, 1), "nobody else can come"


# Barriers


def test_a_barrier_tells_of_the_instructions_of_those_that_pass() -> None:
    """The second block waits elsewhere, and goes on waiting."""
    heard: list[tuple[int, list[int]]] = []
    made = schedule(listeners=Listeners(barrier=lambda lanes, at, ahead: heard.append((lanes.count, sorted(at)))))
    first_row, low = np.arange(ROWS)[:, None] == 0, np.arange(THREADS) < 64
    made.arrive(1, THREADS, block(4, end="barrier"), lanes_of(ALL & ~first_row & low), waits=True)
    made.arrive(1, THREADS, block(2, end="barrier"), lanes_of(ALL & first_row & low), waits=True)
    made.arrive(1, THREADS, block(3, end="barrier"), lanes_of(ALL & first_row & ~low), waits=True)
    assert heard == [(THREADS, [29, 39])]


def test_a_barrier_for_all_threads() -> None:
    """Those of a block pass when all that have not ended have come."""
    random = np.random.RandomState(4)
    for turn in range(40):
        passed: list[np.ndarray] = []
        heard = Listeners(barrier=lambda lanes, instructions, ahead, passed=passed: passed.append(lanes.mask))
        made, at = schedule(listeners=heard), block(2, end="barrier")
        group = random.randint(0, 5, ALL.shape)
        ends = (random.rand(*ALL.shape) < 0.3) & (turn % 2 == 1)
        arrived, live = np.zeros_like(ALL), ALL.copy()
        for number in range(5):
            mask = (group == number) & ~ends
            made.arrive(0, None, at, lanes_of(mask), waits=True)
            arrived |= mask
            leaving = (group == number) & ends
            if leaving.any():
                live &= ~leaving
                made.exit(lanes_of(leaving))
            complete = (arrived | ~live).all(axis=1, keepdims=True) & ALL & live
            assert np.array_equal(ready(made).get(3, np.zeros_like(ALL)), complete)
        assert sum(mask.sum() for mask in passed) == live.sum()
        assert made._arrivals == []
        assert made.nobody_waits


@pytest.mark.parametrize("count", [32, 64, 96])
def test_a_barrier_for_a_number_of_threads(count: int) -> None:
    """Whole warps count, in the order in which they come; some pass, and the others begin the next turn."""
    random = np.random.RandomState(count)
    for _ in range(25):
        made, at = schedule(), block(2, end="barrier")
        waiting: list[list[int]] = [[], []]
        gone = np.zeros_like(ALL)
        steps = [(row, warp) for row, warp in product(range(ROWS), range(WARPS))]
        for number in random.permutation(len(steps)).tolist():
            row, warp = steps[number]
            mask = np.zeros_like(ALL)
            mask[row, 32 * warp : 32 * warp + 32] = True
            made.arrive(1, count, at, lanes_of(mask), waits=True)
            waiting[row].append(warp)
            if len(waiting[row]) == count // 32:
                for one in waiting[row]:
                    gone[row, 32 * one : 32 * one + 32] = True
                waiting[row] = []
            assert np.array_equal(ready(made).get(3, np.zeros_like(ALL)), gone)
        left = [row for row in range(ROWS) if waiting[row]]
        made._ready.clear()
        if left:
            with pytest.raises(Deadlock) as dead:
                made.next(Host())
            assert dead.value.args == (29, Shortage(1, count, 32 * len(waiting[left[0]])))


def test_a_part_of_a_warp_has_not_arrived() -> None:
    made, at, half = schedule(), block(2, end="barrier"), ALL & (np.arange(THREADS) % 32 < 16)
    made.arrive(1, 64, at, lanes_of(half), waits=True)
    assert ready(made) == {}
    made.exit(lanes_of(ALL & ~half & (np.arange(THREADS) < 32)))
    assert ready(made) == {}, "one whole warp: the rest of it has ended"
    made.exit(lanes_of(ALL & ~half & (np.arange(THREADS) // 32 == 1)))
    assert np.array_equal(ready(made)[3], half & (np.arange(THREADS) < 64))


def test_more_warps_at_once_than_a_barrier_is_for() -> None:
    made = schedule()
    made.arrive(1, 64, block(2, end="barrier"), lanes_of(ALL & (np.arange(THREADS) >= 96)), waits=True)
    made.arrive(1, 64, block(2, end="barrier"), lanes_of(ALL & (np.arange(THREADS) < 96)), waits=True)
    whole = (np.arange(THREADS) >= 96) | (np.arange(THREADS) < 32)
    assert np.array_equal(ready(made)[3], ALL), "two turns: warps 3 and 0, then 1 and 2"
    made = schedule()
    made.arrive(1, 64, block(2, end="barrier"), lanes_of(ALL & (np.arange(THREADS) >= 96)), waits=True)
    made.arrive(1, 64, block(2, end="barrier"), lanes_of(ALL & (np.arange(THREADS) < 64)), waits=True)
    assert np.array_equal(ready(made)[3], ALL & whole)


def test_lanes_that_only_arrive_go_on() -> None:
    heard: list[tuple] = []
    listeners = Listeners(
        ahead=lambda barrier, lanes, at: heard.append(("ahead", barrier, lanes.count, at and at.index)),
        arrive=lambda barrier, at, lanes, count: heard.append(("arrive", barrier, lanes.count, count)),
        barrier=lambda lanes, instructions, ahead: heard.append(("barrier", lanes.count, tuple(instructions),
                                                                 ahead and ahead.count)),
        meet=lambda barrier, places: heard.append(("meet", barrier, [(i, c, lanes.count) for i, c, lanes in places])),
        twice=lambda barrier, at, lanes: heard.append(("twice", barrier, at.index, lanes.count)),
    )  # fmt: skip
    made, low = schedule(listeners=listeners), ALL & (np.arange(THREADS) < 64)
    at = block(2, end="barrier")
    made.arrive(3, 128, at, lanes_of(low), waits=False)
    assert heard == [("ahead", 3, ROWS * 64, 2)]
    assert np.array_equal(ready(made)[3], low)
    made.arrive(3, 128, at, lanes_of(low & (np.arange(THREADS) < 32)), waits=False)
    assert heard[1] == ("twice", 3, 2, ROWS * 32)
    del heard[:]
    made.arrive(3, 128, block(4, end="barrier"), lanes_of(ALL & ~low), waits=True)
    assert heard == [
        ("arrive", 3, ROWS * 64, 128), ("meet", 3, [(29, 128, ROWS * 64), (49, 128, ROWS * 64)]),
        ("ahead", 3, ROWS * 64, None), ("barrier", ROWS * 128, (49,), ROWS * 64),
    ]  # fmt: skip
    assert np.array_equal(ready(made)[5], ALL & ~low)


# Waiting


def test_lanes_in_a_loop_let_others_run() -> None:
    low = ALL & (np.arange(THREADS) < 64)
    made = schedule()
    made.add(3, lanes_of(ALL & ~low))
    assert made.defer(1, lanes_of(low), 0, 0)
    found = made.next(Host())
    assert found is not None
    assert (found[0], found[1].count) == (3, ROWS * 64)
    assert made.runs_alone
    assert not made.nobody_waits
    assert not made.defer(3, lanes_of(ALL & ~low), 0, 0), "nothing was written: neither loop ends"
    assert made.defer(3, lanes_of(ALL & ~low), 1, 0)
    found = made.next(Host())
    assert found is not None
    assert (found[0], found[1].count) == (1, ROWS * 64), "those that looked before the write look again"
    made.look_again(1, found[1])
    assert {index: int(mask.sum()) for index, mask in ready(made).items()} == {1: ROWS * 64, 3: ROWS * 64}


@pytest.mark.parametrize("waits", ["blocks", "polls"])
def test_lanes_that_wait_for_an_event(waits: str) -> None:
    made, host = schedule(), Host()
    made._blocks = [replace(one, waits=waits if one.index == 1 else "") for one in made._blocks]
    made._runs_at_once[1] = False
    made.add(1, lanes_of(ALL))
    if waits == "polls":
        found = made.next(host)
        assert found is not None
        assert found[0] == 1, 'the answer is "not yet"'
        made.add(1, found[1])
    else:
        with pytest.raises(Deadlock) as dead:
            made.next(host)
        assert dead.value.args == (10, None)
    host.happened, host.occurred = 1, True
    found = made.next(host)
    assert found is not None
    assert (found[0], found[1].count) == (1, ROWS * THREADS)


def test_what_leaves_the_schedule() -> None:
    made = schedule()
    for index in (4, 1, 2):
        made.add(index, lanes_of(ALL & (np.arange(THREADS) % 5 == index)))
    assert len(made.others()) == 3
    assert list(made.take_ready(2)) == [1, 2]
    assert list(ready(made)) == [4]
    made.exit(lanes_of(ALL))
    assert made.live is None
