"""When two states of a loop are the same, and after how many steps a loop is found."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import Lanes, lanes_of
from softlab.emulator.machine import infinite_loop
from softlab.emulator.machine.infinite_loop import LoopDetector, Repetition, _equal

FLOATS = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.complex64])
def test_nan_is_equal_to_nan_and_to_nothing_else(kind: type) -> None:
    a, b = np.meshgrid(np.array(FLOATS, kind), np.array(FLOATS, kind))
    wanted = [[one == other or (one != one and other != other) for one in FLOATS] for other in FLOATS]
    assert np.asarray(_equal(a, b), bool).tolist() == wanted
    assert all(bool(_equal(kind(one), kind(one))) for one in FLOATS)


@pytest.mark.parametrize("kind", [np.int32, np.uint64, np.bool_])
def test_whole_numbers_are_as_they_are(kind: type) -> None:
    a, b = np.meshgrid(np.arange(3).astype(kind), np.arange(3).astype(kind))
    assert np.asarray(_equal(a, b)).tolist() == (a == b).tolist()


def some(*columns: int) -> Lanes:
    mask = np.zeros((1, 32), bool)
    mask[0, list(columns)] = True
    return lanes_of(mask)


#: The number of the loop's first block.
FIRST = 1000


class Loop:
    """A loop of one block: register 0 decides, register 1 is an address, register 2 is nobody's business."""

    def __init__(self, *, reads: bool = False, polls: bool = False, patience: int = 30) -> None:
        facts: Any = SimpleNamespace(
            control=(0,), control_and_addresses=(0, 1), polls={FIRST: FIRST} if polls else {},
            reads={FIRST: reads, FIRST + 1: False, FIRST + 2: True},
        )  # fmt: skip
        self.registers: list[Any] = [np.int64(0), np.int64(0), np.int64(0)]
        self.detector = LoopDetector(self.registers, facts, patience)
        self.others: tuple[Any, ...] = ()

    def step(self, *values: Any, lanes: Lanes | None = None, writes: int = 0, index: int = 0) -> Repetition:
        self.registers[: len(values)] = values
        schedule: Any = SimpleNamespace(others=lambda: self.others)
        block = int(str(FIRST + index))  # equal numbers, and never the same object
        return self.detector.repeats(block, some(1, 2) if lanes is None else lanes, schedule, writes)

    def found(self, most: int, make: Any) -> list[tuple[int, Repetition]]:
        """The steps, from 1 on, in which a repetition is found; ``make`` gives what each step has."""
        answers = []
        for step in range(1, most + 1):
            values, more = make(step)
            if (answer := self.step(*values, **more)) is not Repetition.NONE:
                answers.append((step, answer))
        return answers


@pytest.fixture(autouse=True)
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(infinite_loop, "_FIRST_LOOK", 8)
    monkeypatch.setattr(infinite_loop, "_NEXT_LOOK", 4)
    monkeypatch.setattr(infinite_loop, "_LATE", 100)


@pytest.mark.parametrize("period", [1, 2, 5, 8])
def test_a_cycle_is_found_one_period_after_its_state_was_kept(period: int) -> None:
    """The state of step 8 is kept for 16 steps. After a loop was found the next one is kept 4 steps later, for 8."""
    found = Loop().found(60, lambda step: ((np.int64(step % period), np.int64(5), np.int64(step)), {}))
    steps = [8 + period]
    while steps[-1] + 4 + period <= 60:
        steps.append(steps[-1] + 4 + period)
    assert found == [(step, Repetition.CERTAIN) for step in steps]


def test_a_longer_cycle_is_found_when_a_state_is_kept_long_enough() -> None:
    """States are kept at the steps 8, 24 and 56, for 16, 32 and 64 steps."""
    assert Loop().found(200, lambda step: ((np.int64(step % 17),), {}))[0] == (24 + 17, Repetition.CERTAIN)
    assert Loop().found(200, lambda step: ((np.int64(step % 33),), {}))[0] == (56 + 33, Repetition.CERTAIN)


@pytest.mark.parametrize("register", [0, 1])
def test_what_counts_never_repeats_until_late(register: int) -> None:
    """Of a long loop the addresses may differ."""

    def made(step: int) -> Any:
        values = [np.int64(0)] * 3
        values[register] = np.int64(step)
        return values, {}

    found = Loop().found(400, made)
    assert bool(found) == (register == 1)
    if found:  # states are kept at 8, 24, 56, 120, ...: the first one after step 100
        assert found[0] == (121, Repetition.CERTAIN)


def test_lanes_others_and_blocks_are_part_of_the_state() -> None:
    loop = Loop()
    assert loop.found(40, lambda step: ((), {"lanes": some(1, 2 + step % 29)})) == []
    assert Loop().found(40, lambda step: ((), {"lanes": some(1, 2, *range(3, 3 + step % 28))})) == []
    assert Loop().found(20, lambda step: ((), {"index": step % 2}))[0][0] == 10
    loop = Loop()
    kept = [object(), object()]

    def others(step: int) -> Any:
        loop.others = {0: (kept[0],), 1: (kept[1],), 2: (kept[0], kept[1])}[step % 3] if step > 8 else tuple(kept[:1])
        return (), {}

    assert loop.found(14, others)[0] == (9, Repetition.CERTAIN)
    loop = Loop()
    loop.others = (kept[0],)
    assert not loop.found(8, lambda step: ((), {}))
    for changed in ((kept[1],), (kept[0], kept[1]), ()):
        loop.others = changed
        assert loop.step() is Repetition.NONE
    loop.others = (kept[0],)
    assert loop.step() is Repetition.CERTAIN


def test_a_loop_that_reads_what_it_writes_is_never_certain() -> None:
    """Early it is not told of; late it is uncertain; after some patience it has been so for long."""

    def writes(step: int) -> Any:
        return (np.int64(3),), {"writes": step}

    assert Loop().found(100, writes)[0] == (9, Repetition.CERTAIN), "it reads nothing"
    found = Loop(reads=True).found(400, writes)
    assert found[0] == (121, Repetition.UNCERTAIN)
    first = next(step for step, answer in found if answer is Repetition.UNCHANGED_FOR_LONG)
    assert all((answer is Repetition.UNCHANGED_FOR_LONG) == (step >= first) for step, answer in found)
    assert all((step - 121 > 30) == (step >= first) for step, _ in found)
    quiet = Loop(reads=True).found(20, lambda step: ((np.int64(3),), {"writes": 7}))
    assert quiet[0] == (9, Repetition.CERTAIN), "it reads, and nothing has changed"


@pytest.mark.parametrize("what", ["lanes", "index", "register"])
def test_patience_begins_anew_where_something_changes(what: str) -> None:
    def writes(step: int) -> Any:
        more = {"writes": step}
        if what == "lanes":
            more["lanes"] = some(1, 2) if step < 140 else some(1, 3)
        elif what == "index":
            more["index"] = 0 if step < 140 else 2
        return (np.int64(step >= 140 if what == "register" else 0),), more

    found = Loop(reads=True).found(400, writes)
    again = next(step for step, answer in found if step >= 140)
    first = next(step for step, answer in found if answer is Repetition.UNCHANGED_FOR_LONG)
    assert first == next(step for step, _ in found if step > again + 30)


def test_a_turn_of_a_loop_that_polls_is_compared_with_the_one_before() -> None:
    loop = Loop(polls=True)
    turn = [loop.step(np.int64(3), np.int64(4), np.int64(number)) for number in range(4)]
    assert turn == [Repetition.NONE, Repetition.CERTAIN] * 2, "after a match the lanes run a turn"
    for change in ({"writes": 1}, {"lanes": some(5), "writes": 1}):
        assert loop.step(np.int64(3), **change) is Repetition.NONE
    for values in ((np.int64(9), np.int64(4)), (np.int64(9), np.int64(5))):
        assert loop.step(*values, lanes=some(5), writes=1) is Repetition.NONE
    assert loop.step(np.int64(9), np.int64(5), lanes=some(5), writes=1) is Repetition.CERTAIN


def test_steps_that_were_run_at_once_count() -> None:
    loop = Loop()
    loop.detector.skip(7)
    assert [loop.step() for _ in range(2)] == [Repetition.NONE, Repetition.CERTAIN]


def test_only_the_lanes_of_the_loop_count() -> None:
    """A register may differ in others; its scalar is the same in all."""
    loop, value = Loop(), np.zeros((1, 32), np.int64)
    assert not loop.found(8, lambda step: ((value,), {}))
    other = value.copy()
    other[0, 2] = 1
    assert loop.step(other) is Repetition.NONE
    other[0, 2], other[0, 7] = 0, 1
    assert loop.step(other) is Repetition.CERTAIN
