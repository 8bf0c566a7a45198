"""What lanes of a warp and threads of a block tell each other, beside loops over the lanes (PTX ISA)."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import Lanes, lanes_of
from softlab.emulator.opcodes.block_votes import BlockVotes
from softlab.emulator.opcodes.warp_wide import WarpWide
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import InstructionSite

ROWS, THREADS = 3, 96
SHAPES = ((), (1, THREADS), (ROWS, 1), (ROWS, THREADS))


def site(mode: str) -> InstructionSite:
    return InstructionSite(0, Instruction("shfl", (), ()), mode)


def drawn(random: np.random.RandomState, turn: int) -> tuple[np.ndarray, Lanes]:
    """Some of the lanes."""
    mask = random.rand(ROWS, THREADS) < (1.0, 0.5, 0.9)[turn % 3]
    if turn % 4 == 1:
        mask = np.broadcast_to(mask[:1], mask.shape).copy()
    mask[0, 0] = True
    return mask, lanes_of(mask)


def value(random: np.random.RandomState, turn: int, choices: Any, dtype: Any) -> np.ndarray:
    """One for all lanes, one per block or per thread, or one per lane."""
    return np.asarray(random.choice(choices, SHAPES[turn % 4])).astype(dtype)


def whole(array: Any) -> np.ndarray:
    return np.broadcast_to(array, (ROWS, THREADS))


def taken(lanes: Lanes, array: np.ndarray) -> Any:
    return lanes.take(array) if array.ndim else array[()]


def back(lanes: Lanes, found: Any) -> np.ndarray:
    """A value of the set, for all lanes; what is not of the set means nothing."""
    found = np.asarray(found)
    return whole(lanes.put(np.zeros((1, 1), found.dtype), found if found.ndim else found[()], True))


def source_of(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """PTX ISA, "shfl.sync": the pseudocode."""
    b, clamp, segment = b & 31, c & 31, c >> 8 & 31
    most, least = (lane & segment) | (clamp & ~segment & 31), lane & segment
    other = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": least | (b & ~segment & 31)}[mode]
    valid = other >= most if mode == "up" else other <= most
    return (other if valid else lane), valid


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_shuffles(mode: str) -> None:
    random = np.random.RandomState(7)
    heard: list[tuple] = []
    unit = WarpWide(on_shuffle=lambda at, lanes, source, given, received: heard.append((source, given, received)))
    for turn in range(48):
        values = random.randint(0, 1000, (ROWS, THREADS)).astype(np.int32)
        step = value(random, turn, np.arange(40), np.uint32)
        clamp = value(random, turn // 4, [0x1F, 0, 0x181F, 0x1C03, 0x1E1F, 0x0010], np.uint32)
        if turn % 4 == 0 and turn // 4 % 4 == 0:
            step, clamp = np.uint32(random.randint(32)), np.uint32(0x181F)
        mask, lanes = np.ones((ROWS, THREADS), bool), lanes_of(np.ones((ROWS, THREADS), bool))
        found, valid = unit.shuffle(lanes, site(mode), values, taken(lanes, np.asarray(step)),
                                    taken(lanes, np.asarray(clamp)), np.uint32(0xFFFFFFFF))  # fmt: skip
        got, right = back(lanes, found), back(lanes, valid)
        for row, column in np.argwhere(mask).tolist():
            lane = column % 32
            source, inside = source_of(mode, lane, int(whole(step)[row, column]), int(whole(clamp)[row, column]))
            assert got[row, column] == values[row, column - lane + source], (turn, column)
            assert right[row, column] == inside
            assert heard[-1][0][min(row, len(heard[-1][0]) - 1), column // 32, lane] == source
        assert np.array_equal(heard[-1][1].reshape(-1, THREADS)[0], values[0])


def asked(mask: np.ndarray, members: np.ndarray, row: int, column: int) -> list[int]:
    """The columns of the lanes that are here and that the lane's mask names."""
    first = column // 32 * 32
    return [first + k for k in range(32) if int(members[row, column]) >> k & 1 and mask[row, first + k]]


MEMBERS = [0xFFFFFFFF, 0x0000FFFF, 0xF0F0F0F0, 1, 0x80000001]


def test_votes_and_elections() -> None:
    random = np.random.RandomState(8)
    told: list[Any] = []
    unit = WarpWide(on_sync=lambda at, lanes, members: told.append(members))
    for turn in range(40):
        mask, lanes = drawn(random, turn)
        holds, members = value(random, turn, [False, True, True], bool), value(random, turn // 4, MEMBERS, np.uint32)
        given = taken(lanes, members)
        votes = {mode: back(lanes, unit.vote(lanes, site(mode), taken(lanes, holds), given))
                 for mode in ("ballot", "all", "any", "uni")}  # fmt: skip
        lowest, leads = (back(lanes, one) for one in unit.elect(lanes, site(""), given))
        active = back(lanes, unit.active(lanes, site("")))
        assert len(told) == 5 * (turn + 1)
        for row, column in np.argwhere(mask).tolist():
            others = asked(mask, whole(members), row, column)
            said = [bool(whole(holds)[row, other]) for other in others]
            bits = sum(1 << other % 32 for other, one in zip(others, said, strict=True) if one)
            assert votes["ballot"][row, column] == bits
            assert votes["all"][row, column] == all(said)
            assert votes["any"][row, column] == any(said)
            assert votes["uni"][row, column] == (all(said) or not any(said))
            if others:
                assert lowest[row, column] == others[0] % 32
                assert leads[row, column] == (column == others[0])
            here = asked(mask, np.full((ROWS, THREADS), 0xFFFFFFFF), row, column)
            assert active[row, column] == sum(1 << other % 32 for other in here)


def test_lanes_with_the_same_value() -> None:
    random = np.random.RandomState(9)
    unit = WarpWide()
    for turn in range(32):
        mask, lanes = drawn(random, turn)
        values, members = value(random, turn, [3, 3, 3, 9], np.uint32), value(random, turn // 4, MEMBERS, np.uint32)
        given = taken(lanes, values), taken(lanes, members)
        any_of, always = unit.match(lanes, site("any"), *given)
        all_of, every = unit.match(lanes, site("all"), *given)
        assert bool(np.all(always))
        same, whole_mask, alike = back(lanes, any_of), back(lanes, all_of), back(lanes, every)
        for row, column in np.argwhere(mask).tolist():
            others = asked(mask, whole(members), row, column)
            own = int(whole(values)[row, column])
            equal = [other for other in others if int(whole(values)[row, other]) == own]
            assert same[row, column] == sum(1 << other % 32 for other in equal)
            assert alike[row, column] == (equal == others)
            assert whole_mask[row, column] == (sum(1 << other % 32 for other in others) if equal == others else 0)


@pytest.mark.parametrize("dtype", [np.uint32, np.int32])
def test_reductions(dtype: Any) -> None:
    random, unit = np.random.RandomState(10), WarpWide()
    functions: dict[str, Any] = {
        "add": lambda a, b: (a + b) & 0xFFFFFFFF, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
        "and": lambda a, b: a & b, "min": min, "max": max,
    }  # fmt: skip
    for turn in range(24):
        mask, lanes = drawn(random, turn)
        values = random.randint(0, 2**32, (ROWS, THREADS), np.uint32).view(dtype)
        members = value(random, turn // 4, MEMBERS, np.uint32)
        for mode, function in functions.items():
            found = back(lanes, unit.reduce(lanes, site(mode), taken(lanes, values), taken(lanes, members)))
            assert found.dtype == dtype
            for row, column in np.argwhere(mask).tolist():
                others = asked(mask, whole(members), row, column)
                if not others:
                    continue
                signed = mode in ("min", "max")
                given = [
                    int(values[row, other]) if signed else int(values.view(np.uint32)[row, other]) for other in others
                ]
                expected = reduce(function, given)
                got = found[row, column] if signed else found.view(np.uint32)[row, column]
                assert int(got) == expected, (turn, mode)


def test_votes_of_a_block() -> None:
    """Each block counts on its own, and threads of one block may be at several barriers."""
    random = np.random.RandomState(11)
    for turn in range(12):
        votes, holds = BlockVotes(ROWS, THREADS), random.rand(ROWS, THREADS) < (0.5, 1.0, 0.0)[turn % 3]
        group = random.randint(0, 2, (ROWS, THREADS))
        for number in (0, 1):
            lanes = lanes_of(group == number)
            votes.arrive(lanes, lanes.take(holds))
        for number in (0, 1):
            votes.count(group == number)
        for number in (0, 1):
            lanes = lanes_of(group == number)
            found = {mode: back(lanes, votes.result(lanes, site(mode))) for mode in ("popc", "and", "or")}
            for row, column in np.argwhere(group == number).tolist():
                said = holds[row, group[row] == number]
                assert found["popc"][row, column] == said.sum()
                assert found["and"][row, column] == said.all()
                assert found["or"][row, column] == said.any()
