"""Distinct numbers: marks, the compiled loops and NumPy's sort give the same."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.native import available, compiling
from softlab.timing.distinct import ascending, counted, distinct, distinct_neighbours

_CHOICES = ("none", "all") if available() else ("none",)


def _some(least: int, most: int, count: int) -> np.ndarray:
    return np.random.default_rng(count).integers(least, most, count)


@pytest.mark.parametrize("choice", _CHOICES)
@pytest.mark.parametrize(
    "values",
    [
        np.array([5, 3, 3, -1, 5, 9], np.int64), np.zeros(0, np.int64), _some(-40, 3000, 5000),
        _some(-5, 1 << 30, 5000), _some(1 << 43, (1 << 43) + (1 << 23), 6000), np.full(5000, 7),
        np.append(_some(0, 9, 5000), (-(1 << 63), (1 << 63) - 1)),
    ],
    ids=["few", "none", "close", "wide", "far", "one", "all that there are"],
)  # fmt: skip
def test_distinct_values_are_those_of_numpy(values: np.ndarray, choice: str) -> None:
    with compiling(choice):
        found, (each, counts), order = distinct(values), counted(values), ascending(values)
    wanted, wanted_counts = np.unique(values, return_counts=True)
    for one, expected in ((found, wanted), (each, wanted), (counts, wanted_counts), (order, np.sort(values))):
        assert one.dtype == np.int64
        np.testing.assert_array_equal(one, expected)


@pytest.mark.parametrize("choice", _CHOICES)
@pytest.mark.parametrize("count", [10, 5000])
def test_parts_are_looked_at_by_themselves(count: int, choice: str) -> None:
    parts = [np.sort(_some(0, 3 * count, count + k)) for k in range(3)]
    parts.insert(1, np.zeros(0, np.int64))
    # The first number of a part is a neighbour of the last one of the part before.
    parts[2][0] = parts[0][-1] | 1
    parts[2] = np.sort(parts[2])[-1:]
    ends = np.cumsum([len(part) for part in parts])
    with compiling(choice):
        found = distinct_neighbours(np.concatenate(parts), 1, ends)
        whole = distinct_neighbours(parts[0], 2)
    np.testing.assert_array_equal(found, np.concatenate([np.unique(part >> 1) for part in parts]))
    np.testing.assert_array_equal(whole, np.unique(parts[0] >> 2))
