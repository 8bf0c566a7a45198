"""Sets of lanes: values with places for all lanes of the warps, and those of scattered lanes."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.sass.lanes import WARP, Lanes, unpack

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
def test_what_is_taken_and_put(name: str, shape: tuple[int, ...], dense: bool) -> None:
    """Lanes of the set get the new value, and all others keep the old one."""
    lanes, value = _set(name, dense), _value(shape, 1)
    whole = np.broadcast_to(value, (_WARPS, WARP))
    taken = lanes.spread(lanes.take(value))
    active = unpack(lanes.masks)
    np.testing.assert_array_equal(taken[active], whole[lanes.warps][active])
    np.testing.assert_array_equal(lanes.spread(lanes.collect(taken))[active], taken[active])
    if shape == (_WARPS, WARP):
        assert lanes.state(value) == whole[lanes.warps][active].tobytes()
    member = np.zeros((_WARPS, WARP), bool)
    member[lanes.warps] = active
    for old_shape in SHAPES:
        old = _value(old_shape, 2)
        put = np.broadcast_to(lanes.put(old, lanes.take(value)), (_WARPS, WARP))
        np.testing.assert_array_equal(put, np.where(member, whole, np.broadcast_to(old, (_WARPS, WARP))))


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("name", SETS)
def test_registers_of_warps(name: str, dense: bool) -> None:
    """Where lanes of a warp differ, the last one says what the warp has."""
    lanes, old = _set(name, dense), _value((_WARPS, 1), 3)
    rows = _value((_WARPS, WARP), 4)[: lanes.count]
    expected = np.array(old)
    for row, (warp, mask) in enumerate(zip(*SETS[name], strict=True)):
        expected[warp, 0] = rows[row, mask.bit_length() - 1]
    np.testing.assert_array_equal(lanes.put_per_warp(old, lanes.collect(rows)), expected)
    same = lanes.collect(_value((_WARPS, 1), 5)[: lanes.count])
    expected[lanes.warps] = _value((_WARPS, 1), 5)[: lanes.count]
    np.testing.assert_array_equal(lanes.put_per_warp(old, same), expected)
    assert lanes.put_per_warp(np.uint32(3), np.uint32(3)) == 3
    put = lanes.put_per_warp(np.uint32(3), np.uint32(4))
    assert put[:, 0].tolist() == [4 if warp in lanes.warps else 3 for warp in range(_WARPS)]


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
    """Its values have places for its lanes alone: 128 warps may have few lanes, more need eight each."""
    live = np.full(200, 0xFFFFFFFF, np.uint32)
    for warps, mask, dense in ((128, 1, True), (129, 1, False), (129, 0x7F, False), (129, 0xFF, True)):
        lanes = Lanes(np.arange(warps), np.full(warps, mask, np.uint32), live)
        assert (lanes.dense, lanes.whole) == (dense, False)
    assert Lanes(np.arange(200), live.copy(), live).dense
