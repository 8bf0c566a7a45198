"""Small records of accesses: their numbers, the values that they store, the threads of which a stamp tells."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import lanes_of
from softlab.emulator.machine.faults import Geometry
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site
from softlab.instruments.events import AccessLog, Events
from softlab.instruments.global_access import GlobalAccess
from softlab.instruments.known_accesses import KnownAccesses


def site(index: int, kind: str = "u4", elements: int = 1) -> Site:
    return Site(index, Instruction("st", (), ()), "global", np.dtype(kind), elements, store=True)


def test_each_access_has_the_next_number_and_belongs_to_its_batch() -> None:
    events, sites = Events(), {index: site(index) for index in (3, 9)}
    batches = [Geometry((8, 1, 1), (32, 1, 1), first) for first in (0, 4)]
    made = []
    for batch in batches:
        events.begin_batch(batch)
        assert events.batch_start == len(made) + 1
        for index in (3, 9, 3):
            made.append((index, batch))
            assert events.access(sites[index]) == len(made)
    assert events.now == 7
    for number, (index, batch) in enumerate(made, 1):
        assert events.event(number).site is sites[index]
        assert events.event(number).geometry is batch
    assert events.sites_of(np.array([[2, 1], [6, 5]])).tolist() == [[9, 3], [3, 9]]


def test_a_log_keeps_times_far_apart() -> None:
    log = AccessLog()
    times = [1, 1023, 1024, 2047, 2048, 9000, 9001]
    for place, time in enumerate(times):
        log.record(time, 10 + place)
    assert [log.instruction(time) for time in times] == [10, 11, 12, 13, 14, 15, 16]
    assert [log.instruction(time) for time in (0, 2, 1022, 1025, 8999, 9002, 10**9)] == [None] * 7
    assert log.instructions(np.array([9000, 1])).tolist() == [15, 10]
    log.record(5, 0)
    assert log.instruction(5) == 0, "the first instruction is one"


def access(kind: str, elements: int, part: np.ndarray | None, *values: Any) -> tuple[GlobalAccess, np.ndarray]:
    """Stores of six lanes, of which maybe a part is to this array; the array's bytes. Two cells per lane."""
    data = np.arange(96, dtype=np.uint8)
    array: Any = SimpleNamespace(origin=4096, view=lambda item: data.view(item))
    lanes = lanes_of(np.arange(32)[None] < np.array([[3], [3]]))
    where = site(1, kind, elements)
    here = np.ones(6, bool) if part is None else part
    address = 4096 + where.width * np.array([0, 2, 1, 3, 5, 4])[here]
    lane = np.array([9, 1, 5, 7, 3, 2])[here]
    stamps: Any = SimpleNamespace(lane=np.repeat(lane, 2))
    return GlobalAccess(array, where, lanes, address, stamps, values, part, 2), data


@pytest.mark.parametrize("part", [None, np.array([True, False, True, True, False, True])])
def test_values_that_are_there_already(part: np.ndarray | None) -> None:
    here = np.ones(6, bool) if part is None else part
    value = np.arange(96, dtype=np.uint8).view("u4")[[0, 2, 1, 3, 5, 4]].reshape(2, 3)
    value[0, 0] += 1
    value[1, 2] ^= 0x80000000
    one, _ = access("u4", 1, part, value)
    assert one.has_values
    position = np.arange(2 * here.sum())
    same = np.repeat(np.array([False, True, True, True, True, False])[here], 2)
    assert one.stores_what_is_there(position).tolist() == same.tolist()
    assert one.stores_what_is_there(position[::-3]).tolist() == same[::-3].tolist()
    expected = 4096 + 4 * np.array([0, 2, 1, 3, 5, 4])[here]
    assert one.addresses(position).tolist() == np.repeat(expected, 2).tolist()
    assert not access("u4", 1, part)[0].has_values


def test_values_of_several_elements_and_those_that_all_lanes_share() -> None:
    first, second = np.array([[0, 9, 8], [0, 0, 0]], "u4"), np.uint32(7)
    one, data = access("u4", 2, None, first, second)
    data.view("u4")[:] = 0
    data.view("u4")[1::2] = 7
    assert one.stores_what_is_there(np.arange(0, 12, 2)).tolist() == [True, False, False, True, True, True]
    data.view("u4")[[1, 7]] = 6, 8
    assert one.stores_what_is_there(np.arange(0, 12, 2)).tolist() == [False, False, False, False, True, True]


@pytest.mark.parametrize("part", [None, np.array([True, False, True, True, False, True])])
def test_values_that_differ_from_those_of_other_lanes(part: np.ndarray | None) -> None:
    """The lanes go 9, 1, 5, 7, 3, 2; lane 9 stores 4, as lanes 7 and 3 do."""
    here = np.ones(6, bool) if part is None else part
    stored = {9: 4, 1: 6, 5: 8, 7: 4, 3: 4, 2: 0}
    one, _ = access("u4", 1, part, np.array(list(stored.values()), "u4").reshape(2, 3))
    lanes = np.array(list(stored))[here]
    for winner in lanes:
        found = one.differs_from(np.arange(2 * len(lanes)), np.full(2 * len(lanes), winner))
        expected = np.repeat([stored[int(lane)] != stored[int(winner)] for lane in lanes], 2)
        assert found.tolist() == expected.tolist(), winner


@pytest.mark.parametrize("timed", [False, True])
def test_two_threads_of_a_word(timed: bool) -> None:
    known = KnownAccesses(2, 5)
    if timed:
        known.keep_times()
    known.note(np.array([0, 1, 1]), np.array([2, 2, 4]), np.array([7, -1, 3]), np.array([8, 9, -1]), 50,
               np.array([40, 41, 42]))  # fmt: skip
    known.note(np.array([1]), np.array([2]), np.array([5]), np.array([-1]), 60, 55)
    assert known.threads[:, 0, 2].tolist() == [7, 8]
    assert known.threads[:, 1, [2, 4, 0]].tolist() == [[5, 3, -1], [9, -1, -1]]
    times = {(0, 2): [(8, 50), (7, 40)], (1, 2): [(9, 50), (5, 55)], (1, 4): [(3, 42)], (0, 0): []}
    for (row, word), both in times.items():
        expected = both if timed else [(thread, 33) for thread, _ in both]
        assert known.latest_first(row, word, 33) == expected
    if timed:
        (first, then), (last, now) = known.of(np.array([0, 1]), np.array([2, 2]))
        assert (first.tolist(), then.tolist()) == ([7, 5], [40, 55])
        assert (last.tolist(), now.tolist()) == ([8, 9], [50, 50])


def test_each_block_gets_what_the_first_one_knew() -> None:
    for timed in (False, True):
        known = KnownAccesses(1, 3)
        if timed:
            known.keep_times()
        known.note(np.array([0]), np.array([1]), np.array([4]), np.array([6]), 20, 10)
        known.repeat(3)
        known.note(np.array([2]), np.array([1]), np.array([5]), np.array([7]), 21, 11)
        assert known.threads[:, :, 1].tolist() == [[4, 4, 5], [6, 6, 7]]
        assert known.latest_first(1, 1, 0) == [(6, 20 * timed), (4, 10 * timed)]
        assert known.latest_first(2, 1, 0) == [(7, 21 * timed), (5, 11 * timed)]
