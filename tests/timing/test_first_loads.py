"""The first loads of sectors: the compiled loop, its source in Python, and NumPy find the same."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.native import available, compiling
from softlab.timing.first_loads import by_numpy, find, first_loads


def _requests(seed: int, spread: int) -> tuple[np.ndarray, ...]:
    """Sectors, counts, owners and which requests are wanted."""
    random = np.random.default_rng(seed)
    counts = random.integers(0, 33, 300)
    owner = np.sort(random.integers(0, 7, 300))
    sectors = (1 << 37) + random.integers(0, 40, counts.sum()) * spread
    return sectors, counts, owner, random.random(300) < 0.7


@pytest.mark.parametrize("spread", [1, 4, 1 << 12, (1 << 30) + 1])
def test_all_forms_find_the_same_loads(spread):
    given = _requests(spread % 97, spread)
    wanted = by_numpy(*given)
    assert 0 < len(wanted) < 300
    out = np.empty(300, np.int64)
    found = find(*given, 300, np.zeros(4096, np.int64), np.full(4096, -1), 4095, out)
    np.testing.assert_array_equal(out[:found], wanted)
    if available():
        with compiling("all"):
            np.testing.assert_array_equal(first_loads(*given), wanted)


def test_a_warp_has_each_sector_once():
    sectors, counts = np.array([5, 6, 6, 7, 5, 5]), np.array([2, 1, 2, 1])
    found = first_loads(sectors, counts, np.array([0, 0, 0, 1]), np.array([True, True, True, True]))
    assert found.tolist() == [0, 2, 3]


def test_without_a_request_there_is_none():
    none = np.zeros(0, np.int64)
    for choice in ("none", "all") if available() else ("none",):
        with compiling(choice):
            assert len(first_loads(none, none, none, np.zeros(0, bool))) == 0
