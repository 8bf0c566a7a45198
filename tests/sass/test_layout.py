"""The compiled layout of what warps executed, its source in Python, and NumPy's give the same."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.native import available, compiling
from softlab.sass.layout import by_numpy, lay_out, place


def _entries(count: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(count)
    warp, length = random.integers(0, 6, count), random.integers(1, 9, count)
    mask = random.integers(0, 1 << 32, count, dtype=np.uint64).astype(np.uint32)
    limits = np.concatenate(([0], np.cumsum(np.bincount(warp, length, 6).astype(np.int64))))
    return warp, mask, random.integers(0, 900, count), length, limits


@pytest.mark.parametrize("count", [0, 1, 300])
def test_all_forms_give_the_same_layout(count):
    warp, mask, start, length, limits = _entries(count)
    total = int(limits[-1])
    wanted = by_numpy(warp, mask, start, length, total)
    made = np.zeros(total, np.int32), np.zeros(total, np.uint32), np.zeros(count, np.int64)
    place(warp, mask, start, length, count, limits.copy(), made[2], made[0], made[1])
    forms = [made]
    for choice in ("none", "all") if available() else ("none",):
        with compiling(choice):
            forms.append(lay_out(warp, mask, start, length, limits))
    for found in forms:
        for one, other in zip(found, wanted, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


def test_a_warp_has_its_runs_in_their_order():
    warp, mask = np.array([1, 0, 1]), np.array([3, 1, 2], np.uint32)
    instruction, active, begins = lay_out(warp, mask, np.array([0, 0, 7]), np.array([2, 2, 1]), np.array([0, 2, 5]))
    assert instruction.tolist() == [0, 1, 0, 1, 7]
    assert active.tolist() == [1, 1, 3, 3, 2]
    assert begins.tolist() == [2, 0, 4]
