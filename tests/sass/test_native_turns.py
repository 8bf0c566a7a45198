"""Lanes that meet at a cell: the compiled loop gives what NumPy gives by sorting, and both what Python gives."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.native import available, compiling
from softlab.sass.native_turns import take_turns

_TURN = {
    "add": lambda old, value, other: old + value,
    "exch": lambda old, value, other: value,
    "cas": lambda old, value, other: other if old == value else old,
}


@pytest.mark.parametrize("cells", [1, 3, 200])
@pytest.mark.parametrize("dtype", [np.uint32, np.int32, np.uint64, np.int64])
@pytest.mark.parametrize("name", sorted(_TURN))
def test_turns_of_lanes(name: str, dtype: type, cells: int) -> None:
    random = np.random.default_rng(cells)
    low, high = (0, 4) if name == "cas" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    memory = random.integers(low, high, cells, dtype=dtype)
    index = random.integers(0, cells, 100)
    values = [random.integers(low, high, 100, dtype=dtype) for _ in range(2 if name == "cas" else 1)]
    expected, after = [], memory.copy()
    with np.errstate(over="ignore"):
        for k, cell in enumerate(index.tolist()):
            expected.append(after[cell])
            after[cell] = _TURN[name](after[cell], values[0][k], values[-1][k])
    kind = f"{name}.{'s' if np.dtype(dtype).kind == 'i' else 'u'}{8 * np.dtype(dtype).itemsize}"
    for choice in ("none", "all") if available() else ("none",):
        here = memory.copy()
        with compiling(choice):
            old = take_turns(here, index, values, kind)
        assert old.dtype == dtype
        np.testing.assert_array_equal(old, expected)
        np.testing.assert_array_equal(here, after)


@pytest.mark.skipif(not available(), reason="needs llvmlite")
def test_floats_are_left_to_numpy() -> None:
    memory = np.zeros(2, np.float32)
    with compiling("all"):
        old = take_turns(memory, np.array([1, 1, 0]), [np.array([0.5, 1, 2], np.float32)], "add.f32")
    assert (old.tolist(), memory.tolist()) == ([0.0, 0.5, 0.0], [2.0, 1.5])
