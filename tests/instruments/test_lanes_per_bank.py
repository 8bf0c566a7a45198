"""How many lanes of an atomic meet in a bank: counted lane by lane."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from softlab.instruments.atomics import _lanes_per_bank


@pytest.mark.parametrize("width", [2, 4, 8])
def test_lanes_that_meet_in_a_bank_are_counted(width: int) -> None:
    """32 banks of 4 bytes serve the warp; atomics of 8 bytes take two banks each and go by half warps."""
    random = np.random.default_rng(width)
    address, active = random.integers(0, 2048, (50, 32)) * width, random.random((50, 32)) < 0.8
    size, groups = max(4, width), 2 if width == 8 else 1
    for row, lanes, found in zip(address, active, _lanes_per_bank(address, active, width), strict=True):
        for group, most in enumerate(found):
            of = range(group * 32 // groups, (group + 1) * 32 // groups)
            assert most == max(Counter(row[k] // size % (128 // size) for k in of if lanes[k]).values())
