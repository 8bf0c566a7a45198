"""Lanes that meet at one cell or one address take turns, as a loop over the lanes has them."""

import numpy as np
import pytest

from softlab.emulator.memory.turns import accumulated, take_turns
from softlab.instruments.atomics import turns


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("cells", [1, 5, 40, 70_000])
def test_integers_that_are_added_at_a_few_cells_wrap_around_as_in_a_loop(dtype: str, cells: int) -> None:
    random = np.random.default_rng(cells)
    most = np.iinfo(dtype).max
    memory = random.integers(0, most, cells, dtype=dtype)
    index = random.integers(0, cells, 300)
    values = random.integers(0, most, 300, dtype=dtype)
    expected, old = memory.copy(), []
    with np.errstate(over="ignore"):
        for cell, value in zip(index, values, strict=True):
            old.append(expected[cell])
            expected[cell] += value
        found = take_turns(memory, index, [values], np.add, accumulated(np.add))
    assert found.tolist() == [int(value) for value in old]
    assert memory.tolist() == expected.tolist()


def test_the_turns_of_a_warp_are_those_of_a_loop_over_its_lanes() -> None:
    random = np.random.default_rng(0)
    address = random.integers(0, 9, (50, 32)).astype(np.uint64) * np.uint64(4) + np.uint64(0x6000_0000_0000)
    active = random.random((50, 32)) < 0.7
    expected = np.full((50, 32), -1)
    for warp in range(50):
        seen: dict[int, int] = {}
        for lane in np.flatnonzero(active[warp]):
            at = int(address[warp, lane])
            expected[warp, lane] = seen.get(at, 0)
            seen[at] = expected[warp, lane] + 1
    assert np.array_equal(turns(address, active), expected)
