"""Lanes that meet at one cell or one address take turns, as a loop over the lanes has them."""

import numpy as np
import pytest

from softlab.emulator.machine.native import available
from softlab.emulator.machine.native_turns import NativeTurns
from softlab.emulator.memory.atomics import atomic_function, atomic_table
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


@pytest.mark.skipif(not available(), reason="llvmlite is not installed")
@pytest.mark.parametrize("dtype", ["u4", "i4", "u8", "i8"])
@pytest.mark.parametrize("operation", ["add", "min", "max", "and", "or", "xor", "exch", "cas"])
@pytest.mark.parametrize("cells", [1, 5, 400])
def test_compiled_turns_are_those_of_numpy(operation: str, dtype: str, cells: int) -> None:
    random = np.random.default_rng(cells)
    least, most = (-3, 4) if operation == "cas" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    least = max(least, np.iinfo(dtype).min)
    memory = random.integers(least, most, cells, dtype=dtype)
    values = [random.integers(least, most, 300, dtype=dtype) for _ in range(1 + (operation == "cas"))]
    index, name = random.integers(0, cells, 300), f"{operation}.{'s' if dtype[0] == 'i' else 'u'}{int(dtype[1]) * 8}"
    compiled = NativeTurns(hot_only=False).find(name, np.dtype(dtype))
    assert compiled is not None
    expected, found = memory.copy(), memory.copy()
    old = take_turns(expected, index, values, atomic_function(name), atomic_table(name))
    before, changed = compiled(found, index, values)
    assert before.tolist() == old.tolist()
    assert found.tolist() == expected.tolist()
    assert changed == (found[index] != before).any()
    one_for_all, found = [value[:1] for value in values], memory.copy()
    expected = memory.copy()
    old = take_turns(
        expected, index, [np.repeat(v, 300) for v in one_for_all], atomic_function(name), atomic_table(name)
    )
    assert compiled(found, index, one_for_all)[0].tolist() == old.tolist()
    assert found.tolist() == expected.tolist()


@pytest.mark.skipif(not available(), reason="llvmlite is not installed")
def test_turns_are_compiled_when_they_are_hot() -> None:
    found = NativeTurns(hot_only=True)
    assert found.find("add.u32", np.dtype("u4")) is None
    calls = [found.find("add.u32", np.dtype("u4")) is not None for _ in range(3000)]
    assert calls[-1]
    assert sorted(calls) == calls
    every = NativeTurns(hot_only=False)
    assert every.find("add.f32", np.dtype("f4")) is None
    assert every.find("add.f16x2", np.dtype("u4")) is None
    assert every.find("inc.u32", np.dtype("u4")) is None
