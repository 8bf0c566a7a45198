"""When two states of a loop are the same."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.infinite_loop import _equal

FLOATS = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.complex64])
def test_nan_is_equal_to_nan_and_to_nothing_else(kind: type) -> None:
    a, b = np.meshgrid(np.array(FLOATS, kind), np.array(FLOATS, kind))
    wanted = [[one == other or (one != one and other != other) for one in FLOATS] for other in FLOATS]
    assert np.asarray(_equal(a, b), bool).tolist() == wanted
    assert all(bool(_equal(kind(one), kind(one))) for one in FLOATS)


@pytest.mark.parametrize("kind", [np.int32, np.uint64, np.bool_])
def test_whole_numbers_are_as_they_are(kind: type) -> None:
    a, b = np.meshgrid(np.arange(3).astype(kind), np.arange(3).astype(kind))
    assert np.asarray(_equal(a, b)).tolist() == (a == b).tolist()
