"""The first lane at each bank: the compiled loop finds what NumPy finds by sorting, and both what the words say."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.native import available, compiling
from softlab.sass.first_lanes import by_numpy, first_of_banks

_LANES = 32


def _expected(address: np.ndarray, active: np.ndarray, width: int) -> np.ndarray:
    found = np.zeros(address.shape, bool)
    for warp in range(len(address)):
        met = set()
        for lane in np.flatnonzero(active[warp]).tolist():
            # 8 bytes take two banks, so that half a warp is served at a time.
            bank = int(address[warp, lane]) // width % (128 // width), lane // 16 if width == 8 else 0
            found[warp, lane] = bank not in met
            met.add(bank)
    return found


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("span", [1, 5, 40, 1000])
def test_first_lanes_of_banks(width: int, span: int) -> None:
    random = np.random.default_rng(span)
    address = random.integers(-2, span, (7, _LANES)) * width
    active = random.random((7, _LANES)) < 0.7
    active[3] = False
    expected = _expected(address, active, width)
    np.testing.assert_array_equal(by_numpy(address, active, width), expected)
    for choice in ("none", "all") if available() else ("none",):
        with compiling(choice):
            found = first_of_banks(address, active, width)
        assert found.dtype == np.bool_
        np.testing.assert_array_equal(found, expected)
