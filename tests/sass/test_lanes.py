"""Sets of lanes: values with places for all lanes of the warps, and those of scattered lanes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from softlab.emulator.machine.native import available
from softlab.sass.form import fresh_registers
from softlab.sass.homes import bring, bring_per_warp
from softlab.sass.lanes import WARP, Lanes, unpack
from softlab.sass.machine import Machine

NEEDS_LLVM = pytest.mark.skipif(not available(), reason="needs llvmlite")
_WARPS = 5
#: The warps of a set, and the lanes of each.
SETS = {
    "all warps": ([0, 1, 2, 3, 4], [3, 1, 0xFFFFFFFF, 0x80000000, 0xF0F0]),
    "some warps": ([1, 4], [0xFFFF0000, 5]),
    "one lane": ([3], [1 << 17]),
}
SHAPES = [(), (1, WARP), (_WARPS, 1), (_WARPS, WARP)]


def _set(name: str, dense: bool) -> Lanes:
    warps, masks = SETS[name]
    lanes = Lanes(np.array(warps), np.array(masks, np.uint32), np.full(_WARPS, 0xFFFFFFFF, np.uint32))
    assert lanes.dense
    assert not lanes.whole
    lanes.dense = dense
    return lanes


def _value(shape: tuple[int, ...], seed: int) -> np.ndarray | np.generic:
    return np.random.default_rng(seed).integers(1, 1 << 32, shape, dtype=np.uint64).astype(np.uint32)[()]


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_taken(name: str, shape: tuple[int, ...], dense: bool) -> None:
    """Each lane of the set has its value."""
    lanes, value = _set(name, dense), _value(shape, 1)
    whole = np.broadcast_to(value, (_WARPS, WARP))
    taken = lanes.spread(lanes.take(value))
    active = unpack(lanes.masks)
    np.testing.assert_array_equal(taken[active], whole[lanes.warps][active])
    np.testing.assert_array_equal(lanes.spread(lanes.collect(taken))[active], taken[active])
    if shape == (_WARPS, WARP):
        assert lanes.state(value) == whole[lanes.warps][active].tobytes()


@pytest.mark.parametrize("choice", ["none", pytest.param("all", marks=NEEDS_LLVM)])
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(("shape", "old_shape"), list(product(SHAPES, repeat=2)))
def test_what_comes_home(name: str, dense: bool, shape: tuple[int, ...], old_shape: tuple[int, ...], choice: str):
    """Lanes of the set get the new value, and all others keep the old one, whoever else has the old array."""
    lanes = _set(name, dense)
    member = np.zeros((_WARPS, WARP), bool)
    member[lanes.warps] = lanes.active
    for truths in (False, True):
        value, old = (one % 2 == 0 if truths else one for one in (_value(shape, 1), _value(old_shape, 2)))
        expected = np.where(member, value, old)
        home = [None, old, old]
        bring(lanes, home, 1, lanes.take(value), choice)
        np.testing.assert_array_equal(np.broadcast_to(home[1], member.shape), expected)
        np.testing.assert_array_equal(home[2], old)
        first = home[1]
        view = first[1:] if isinstance(first, np.ndarray) else first
        before = np.array(view)
        bring(lanes, home, 1, lanes.take(np.roll(expected, 7)), choice)
        np.testing.assert_array_equal(view, before)
        np.testing.assert_array_equal(home[1], np.where(member, np.roll(expected, 7), expected))


def test_an_array_that_nobody_else_has_is_changed_in_place() -> None:
    lanes, home = _set("some warps", True), [np.zeros((_WARPS, WARP), np.uint32)]
    place = id(home[0])
    bring(lanes, home, 0, np.uint32(5), "none")
    assert id(home[0]) == place
    kept = home[0]
    bring(lanes, home, 0, np.uint32(6), "none")
    assert id(home[0]) != place
    assert sorted(set(kept.flat)) == [0, 5]
    home[0] = np.zeros((2 * _WARPS, WARP), np.uint32)[::2]
    other = home[0].base
    bring(lanes, home, 0, np.uint32(7), "none")
    assert not other.any()
    home[0] = np.zeros((WARP, _WARPS), np.uint32).T.copy("F")
    bring(lanes, home, 0, np.uint32(7), "none")
    assert np.count_nonzero(home[0]) == np.count_nonzero(lanes.active)


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("name", SETS)
def test_registers_of_warps(name: str, dense: bool) -> None:
    """Where lanes of a warp differ, the last one says what the warp has."""
    lanes, old = _set(name, dense), _value((_WARPS, 1), 3)
    rows = _value((_WARPS, WARP), 4)[: lanes.count]
    expected = np.array(old)
    for row, (warp, mask) in enumerate(zip(*SETS[name], strict=True)):
        expected[warp, 0] = rows[row, mask.bit_length() - 1]
    home = [old, np.uint32(3)]
    bring_per_warp(lanes, home, 0, lanes.collect(rows))
    np.testing.assert_array_equal(home[0], expected)
    same = _value((_WARPS, 1), 5)[: lanes.count]
    expected[lanes.warps] = same
    bring_per_warp(lanes, home, 0, lanes.collect(same))
    np.testing.assert_array_equal(home[0], expected)
    bring_per_warp(lanes, home, 1, np.uint32(3))
    assert home[1] == 3
    bring_per_warp(lanes, home, 1, np.uint32(4))
    assert home[1][:, 0].tolist() == [4 if warp in lanes.warps else 3 for warp in range(_WARPS)]


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("name", SETS)
def test_lanes_that_are_not_in_the_set(name: str, dense: bool) -> None:
    """Of a value only the set's lanes count."""
    lanes, value = _set(name, dense), _value((_WARPS, WARP), 6)
    active = unpack(lanes.masks)
    np.testing.assert_array_equal(lanes.members(lanes.take(value)), np.where(active, value[lanes.warps], 0))
    odd = lanes.take(value & np.uint32(1) != 0)
    assert lanes.truth(odd).tolist() == [
        sum(1 << lane for lane in range(WARP) if active[row, lane] and value[warp, lane] & 1)
        for row, warp in enumerate(lanes.warps)
    ]
    other = np.where(active, value[lanes.warps], np.uint32(9))
    changed = np.array(value)
    changed[lanes.warps] = other
    assert lanes.state(changed) == lanes.state(value)


def test_a_set_of_few_lanes_of_many_warps_is_scattered() -> None:
    """Its values have places for its lanes alone: 512 warps may have few lanes, more need eight each."""
    live = np.full(700, 0xFFFFFFFF, np.uint32)
    for warps, mask, dense in ((512, 1, True), (513, 1, False), (513, 0x7F, False), (513, 0xFF, True)):
        lanes = Lanes(np.arange(warps), np.full(warps, mask, np.uint32), live)
        assert (lanes.dense, lanes.whole) == (dense, False)
    assert Lanes(np.arange(700), live.copy(), live).dense


def test_a_state_is_what_registers_hold_and_not_whether_they_were_written():
    live = np.full(2, 0xFFFFFFFF, np.uint32)
    machine = Machine.__new__(Machine)
    lanes = Lanes(np.arange(2), live.copy(), live)

    def state(**values: object) -> int:
        machine._all = machine._own = fresh_registers()
        for name, value in values.items():
            machine._all[int(name[1:])] = value
        return machine.state_of([(7, lanes)])

    assert state() == state(r3=np.uint32(0))
    assert state() != state(r3=np.uint32(1))
    assert state(r3=np.uint32(1)) != state(r4=np.uint32(1))
    assert state(r3=np.zeros((2, 32), np.uint32)) != state(r3=np.ones((2, 32), np.uint32))
    assert state(r3=np.ones((2, 32), np.uint32)) == state(r3=np.ones((2, 32), np.uint32))
